/*-------------------------------------------------------------------------
 *
 * page_model.h
 *	  Random operations on the pages of a cuckoo index, compared with a model.
 *
 * The pages are driven as src/index/add.c does: home pages by prefix, which
 * split or get overflow pages, and get shorter fingerprints when the table
 * grows.  The model is the list of rows, each of a key at a position.  What has
 * to hold then is said at CheckPage, CheckKey and AddTo.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_TEST_PAGE_MODEL_H
#define CUCKOO_TEST_PAGE_MODEL_H

#include "support.h"
#include "page.h"

#define MODEL_KEYS		2048
#define MODEL_ROWS		8192
#define MODEL_PAGES		16
#define MODEL_DEPTH		4
#define MODEL_TRIMMED	16		/* pages of an interval that is trimmed, at most */
#define MODEL_TABLE		UINT64_C(0x1000000) /* pages of the table, at most */

typedef struct ModelPage
{
	CuckooEntries *entries;
	uint64_t	prefix;
	int			depth;
	int			bits;
	bool		is_home;
	struct ModelPage *next;		/* overflow page */
} ModelPage;

static ModelPage pages[MODEL_PAGES];
static int	page_count;
static int	home_count;
static uint32_t base_pages;
static uint64_t table_pages;

static struct
{
	uint64_t	hash;
	int			last;			/* the newest row, -1: none */
}			keys[MODEL_KEYS];
static int	key_count;

static struct
{
	uint64_t	position;
	int			previous;		/* of the key */
	bool		is_dead;
}			rows[MODEL_ROWS];
static int	row_count;
static bool trims;				/* keys one by one: addresses are used again before VACUUM */
static bool joins;				/* rows in one page of the table */

/* Numbers, to be sorted */
typedef struct Numbers
{
	uint64_t	numbers[MODEL_ROWS];
	uint64_t	count;
} Numbers;

/* Whether any of them is from one up to, not with, another */
static bool
AnyBetween(const Numbers *sorted, uint64_t from, uint64_t to)
{
	uint64_t	at = LowerBound(sorted->numbers, sorted->count, from);

	return at < sorted->count && sorted->numbers[at] < to;
}

/* ---------------------------------------------------------------- checks */

/* A row in a page, by the fingerprint that its key has there */
static uint64_t
RowOf(uint32_t fingerprint, uint64_t position)
{
	return (uint64_t) fingerprint << 33 | position;
}

typedef struct PageSums
{
	int			intervals;
	int			large;			/* intervals that no removal looks at */
	int			tombstones;
	int			copies;			/* intervals, as often as lookups find them */
} PageSums;

/*
 * Each interval is a row of a key that has this fingerprint here (chains of two keys may have
 * joined before a split), or the smallest that covers two that there have been.  A tombstone
 * has an interval behind it.  Chains begin only where those of keys do that there have been.
 */
static PageSums
CheckPage(const ModelPage *page)
{
	static Numbers begun;
	static Numbers alive;
	static Numbers ever;
	PageSums	sums = {0};

	begun.count = alive.count = ever.count = 0;
	for (int k = 0; k < key_count; k++)
	{
		CuckooIndexAddress address = CuckooIndexAddressOf(base_pages, keys[k].hash, page->depth);
		CuckooIndexClass class = CuckooIndexAddressClass(&address, page->bits);

		if (address.prefix == page->prefix && keys[k].last >= 0)
			begun.numbers[begun.count++] = CuckooIndexClassCode(page->prefix, class);
		for (int r = keys[k].last; r >= 0; r = rows[r].previous)
		{
			ever.numbers[ever.count++] = RowOf(class.fingerprint, rows[r].position);
			if (!rows[r].is_dead)
				alive.numbers[alive.count++] = RowOf(class.fingerprint, rows[r].position);
		}
	}
	SortNumbers(begun.numbers, begun.count);
	SortNumbers(alive.numbers, alive.count);
	SortNumbers(ever.numbers, ever.count);
	for (int e = 0; e < CUCKOO_PAGE_ENTRIES; e++)
	{
		CuckooEntry entry;
		CuckooInterval next;
		CuckooChain chain;
		uint64_t	first;
		uint64_t	half;

		if (!CuckooGetEntry(page->entries, (uint32_t) e, page->bits, &entry))
			continue;
		sums.intervals += entry.interval != CUCKOO_TOMBSTONE;
		sums.large += CuckooIntervalPages(entry.interval) > MODEL_TRIMMED;
		sums.tombstones += entry.interval == CUCKOO_TOMBSTONE;
		first = RowOf(entry.class.fingerprint, CuckooIntervalFirst(entry.interval));
		half = CuckooIntervalSize(entry.interval) / 2;
		if (entry.interval != CUCKOO_TOMBSTONE)
			assert_true(half == 0 ? AnyBetween(trims ? &ever : &alive, first, first + 1) :
						AnyBetween(&ever, first, first + half) &&
						AnyBetween(&ever, first + half, first + 2 * half));

		chain = CuckooChainBegin(page->entries, entry.class);
		assert_true(CuckooChainNext(&chain, &next) == entry.is_begin && next == entry.interval);
		if (entry.is_begin)
		{
			uint64_t	code = CuckooIndexClassCode(page->prefix, entry.class);

			assert_true(AnyBetween(&begun, code, code + 1));
			do
				sums.copies += next != CUCKOO_TOMBSTONE;
			while (CuckooChainNext(&chain, &next));
		}
		chain = CuckooChainBegin(page->entries, entry.class);
		for ((void) CuckooChainNext(&chain, &next); next == CUCKOO_TOMBSTONE;)
			assert_true(CuckooChainNext(&chain, &next));
	}
	assert_int_equal(CuckooEntriesCount(page->entries), sums.intervals + sums.tombstones);
	return sums;
}

/* The home page of a hash, which is the only one of its prefix. */
static ModelPage *
HomeOf(uint64_t hash)
{
	ModelPage  *home = NULL;

	for (int i = 0; i < page_count; i++)
	{
		if (pages[i].is_home &&
			CuckooIndexAddressOf(base_pages, hash, pages[i].depth).prefix == pages[i].prefix)
		{
			assert_true(home == NULL);
			home = &pages[i];
		}
	}
	assert_true(home != NULL);
	return home;
}

/* A lookup of a key finds all of its rows. */
static void
CheckKey(int k)
{
	static CuckooInterval found[MODEL_PAGES * CUCKOO_PAGE_PAIRS + 1];
	int			count = 0;

	for (ModelPage *page = HomeOf(keys[k].hash); page != NULL; page = page->next)
	{
		CuckooIndexAddress address = CuckooIndexAddressOf(base_pages, keys[k].hash, page->depth);
		CuckooChain chain = CuckooChainBegin(page->entries, CuckooIndexAddressClass(&address, page->bits));

		while (CuckooChainNext(&chain, &found[count]))
			count++;
		assert_true(chain.links <= CUCKOO_PAGE_PAIRS);
	}
	for (int r = keys[k].last; r >= 0; r = rows[r].previous)
	{
		int			i = 0;

		while (i < count && !CuckooIntervalCovers(found[i], 2 * rows[r].position + 1))
			i++;
		assert_true(i < count || rows[r].is_dead);
	}
}

/* -------------------------------------------------------------- additions */

static ModelPage *
NewPage(CuckooEntries *entries, uint64_t prefix, int depth, int bits, ModelPage *next)
{
	assert_true(page_count < MODEL_PAGES);
	pages[page_count] = (ModelPage) {entries, prefix, depth, bits, false, next};
	return &pages[page_count++];
}

static int
BitsForTable(int bits)
{
	return CuckooBitsForPages(bits, 2 * table_pages);
}

/*
 * A page is moved to one with shorter fingerprints, or to two halves.  It may fail if there are
 * many copies, or if one of the new pages is nearly full.
 */
static bool
Move(ModelPage *page, bool split)
{
	CuckooEntries *new[2] = {Allocate(sizeof(CuckooEntries)), Allocate(sizeof(CuckooEntries))};
	int			bits = BitsForTable(page->bits - split);
	CuckooEntries before = *page->entries;
	bool		too_many = CheckPage(page).copies > CUCKOO_PAGE_ENTRIES / 2 * 3;
	bool		done = CuckooEntriesMove(page->entries, page->bits, new[0], split ? new[1] : NULL, bits, joins);
	bool		full = CuckooEntriesCount(new[0]) > CUCKOO_PAGE_ENTRIES / 8 * 7 ||
		CuckooEntriesCount(new[1]) > CUCKOO_PAGE_ENTRIES / 8 * 7;

	assert_memory_equal(&before, page->entries, sizeof(before));
	assert_true(too_many ? !done : done || full);
	if (!done)
		return false;
	*page = (ModelPage) {new[0], page->prefix << split, page->depth + split, bits,
		page->is_home, page->next};
	if (split)
	{
		ModelPage  *right = NewPage(new[1], page->prefix + 1, page->depth, page->bits, page->next);

		right->is_home = true;
		home_count++;
		(void) CheckPage(right);
	}
	(void) CheckPage(page);
	return true;
}

/*
 * Add to one page.  If there is no room, nothing has changed, and else all slots
 * that have are listed.  The row is then present: if its chain is short, to
 * another addition, too.
 */
static bool
AddTo(ModelPage *page, uint64_t hash, uint64_t position)
{
	CuckooInterval interval = 2 * position + 1;
	CuckooIndexAddress address = CuckooIndexAddressOf(base_pages, hash, page->depth);
	CuckooTouched touched = {.count = -1};
	bool		listed[CUCKOO_PAGE_ENTRIES] = {false};
	CuckooChain chain;
	CuckooInterval link;
	CuckooEntries before;
	bool		added;

	if (position / CUCKOO_PAGE_POSITIONS >= CuckooPageSpan(page->bits) &&
		(CuckooEntriesCount(page->entries) > CUCKOO_PAGE_ENTRIES / 16 * 15 || !Move(page, false)))
		return false;
	before = *page->entries;
	added = CuckooEntriesAdd(page->entries, CuckooIndexAddressClass(&address, page->bits), interval, joins, &touched);
	assert_true(added || touched.count == 0);
	for (int i = 0; i < touched.count && i < CUCKOO_MAX_TOUCHED; i++)
		listed[touched.slot[i]] = true;
	for (int e = 0; e < CUCKOO_PAGE_ENTRIES; e++)
	{
		const CuckooIndexBucket *old = &before.buckets[e / CUCKOO_ENTRIES];
		const CuckooIndexBucket *new = &page->entries->buckets[e / CUCKOO_ENTRIES];
		int			i = e % CUCKOO_ENTRIES;
		bool		differs = old->low[i] != new->low[i] || old->high[i] != new->high[i];

		/* When all links are joined, some remain as they are. */
		assert_true(differs ? listed[e] || touched.count > CUCKOO_MAX_TOUCHED :
					!listed[e] || touched.count >= CUCKOO_MAX_LINKS);
	}
	if (!added)
		return false;
	chain = CuckooChainBegin(page->entries, CuckooIndexAddressClass(&address, page->bits));
	while (CuckooChainNext(&chain, &link))
		;
	assert_true(position % 4 > 0 || chain.links > CUCKOO_MAX_LINKS / 4 ||
				(CuckooEntriesAdd(page->entries, CuckooIndexAddressClass(&address, page->bits), interval,
								joins, &touched) && touched.count == 0));
	return true;
}

static bool
Split(ModelPage *home)
{
	return home->bits > CUCKOO_MIN_FINGERPRINT_BITS && home->depth < MODEL_DEPTH &&
		(int) base_pages << (home->depth + 1) <= 4 * home_count && page_count <= MODEL_PAGES - 3 &&
		Move(home, true);
}

/* Add a key's row as an index does; false if there are no more pages. */
static bool
AddToPages(uint64_t hash, uint64_t position)
{
	for (;;)
	{
		ModelPage  *home = HomeOf(hash);

		if (AddTo(home, hash, position) || (home->next != NULL && home->next->depth == home->depth &&
											AddTo(home->next, hash, position)))
			return true;
		if (Below(8) > 0 && Split(home))
			continue;
		if (page_count == MODEL_PAGES)
			return false;
		home->next = NewPage(Allocate(sizeof(CuckooEntries)), home->prefix, home->depth,
							 BitsForTable(CUCKOO_MAX_FINGERPRINT_BITS - home->depth), home->next);
	}
}

/* --------------------------------------------------------------- removals */

static Numbers survivors;		/* at which positions rows are */
static Numbers survivors_of;	/* rows, by their fingerprints in a page */
static CuckooEntriesCounts expected_counts;

/* What the rows that are left make of an interval, of one key's fingerprint or of all */
static CuckooInterval
NewInterval(const CuckooEntry *entry, void *only)
{
	uint64_t	first = CuckooIntervalFirst(entry->interval);
	uint64_t	size = CuckooIntervalSize(entry->interval);
	uint64_t	at;
	CuckooInterval result = CUCKOO_TOMBSTONE;

	assert_true(entry->interval != CUCKOO_TOMBSTONE);
	if (CuckooIntervalPages(entry->interval) > MODEL_TRIMMED ||
		(only != NULL && *(uint32_t *) only != entry->class.fingerprint) ||
		(size == 1 && AnyBetween(&survivors, first, first + 1)))
		result = entry->interval;
	else if (size > 1)
	{
		at = LowerBound(survivors_of.numbers, survivors_of.count,
						RowOf(entry->class.fingerprint, first));
		for (; at < survivors_of.count &&
			 survivors_of.numbers[at] < RowOf(entry->class.fingerprint, first + size); at++)
		{
			CuckooInterval row = 2 * (survivors_of.numbers[at] & (RowOf(1, 0) - 1)) + 1;

			result = result == CUCKOO_TOMBSTONE ? row : CuckooIntervalJoin(result, row);
		}
	}
	expected_counts.entries += result != CUCKOO_TOMBSTONE;
	expected_counts.removed += result == CUCKOO_TOMBSTONE;
	expected_counts.changed += result != entry->interval;
	return result;
}

/* Remove dead rows from a page, of one key's class or of all. */
static PageSums
RemoveFrom(ModelPage *page, const uint64_t *hash)
{
	CuckooEntries before = *page->entries;
	CuckooEntriesCounts counts;
	uint32_t	only = 0;

	survivors_of.count = 0;
	for (int k = 0; k < key_count; k++)
	{
		CuckooIndexAddress address = CuckooIndexAddressOf(base_pages, keys[k].hash, page->depth);

		for (int r = keys[k].last; r >= 0; r = rows[r].previous)
		{
			if (!rows[r].is_dead)
				survivors_of.numbers[survivors_of.count++] =
					RowOf(CuckooIndexAddressClass(&address, page->bits).fingerprint, rows[r].position);
		}
	}
	SortNumbers(survivors_of.numbers, survivors_of.count);
	if (hash != NULL)
	{
		CuckooIndexAddress address = CuckooIndexAddressOf(base_pages, *hash, page->depth);

		only = CuckooIndexAddressClass(&address, page->bits).fingerprint;
	}
	memset(&expected_counts, 0, sizeof(expected_counts));
	counts = CuckooEntriesReplace(page->entries, page->bits, NewInterval, hash == NULL ? NULL : &only);
	assert_true(memcmp(&counts, &expected_counts, sizeof(counts)) == 0);
	assert_true((counts.changed > 0) == (memcmp(&before, page->entries, sizeof(before)) != 0));
	return CheckPage(page);
}

/*
 * Rows at some positions are dead, whatever keys they have.  VACUUM removes them all;
 * or else one key's are removed, and VACUUM comes later.
 */
static void
Vacuum(uint32_t eighths, bool only_key)
{
	uint64_t	seed = NextRandom();
	uint64_t	together = Below(2) == 0 ? 1 : CUCKOO_PAGE_POSITIONS;

	survivors.count = 0;
	for (int r = 0; r < row_count; r++)
	{
		rows[r].is_dead |= KeyHash(seed, rows[r].position / together) >> 61 < eighths;
		if (!rows[r].is_dead)
			survivors.numbers[survivors.count++] = rows[r].position;
	}
	SortNumbers(survivors.numbers, survivors.count);
	if (only_key)
	{
		uint64_t	hash = keys[Below((uint32_t) key_count)].hash;

		for (ModelPage *page = HomeOf(hash); page != NULL; page = page->next)
			(void) RemoveFrom(page, &hash);
	}
	for (int i = 0; i < page_count && !only_key; i++)
	{
		PageSums	sums = RemoveFrom(&pages[i], NULL);

		assert_true(eighths < 8 || sums.intervals == sums.large);
	}
	for (int k = 0; k < key_count; k++)
		CheckKey(k);
}

/* ------------------------------------------------------------------ lives */

/*
 * Keys whose hashes are chance, and families of keys that have one fingerprint, and chains that
 * begin so close that they touch and join.  Some lives have all families in one half of one
 * page, which then cannot split.
 */
static void
MakeKeys(bool crowded, uint32_t most_together)
{
	int			bits = BitsForTable(CUCKOO_MAX_FINGERPRINT_BITS);
	uint32_t	families = crowded ? 512 / most_together : UINT32_C(1) << Below(11);
	uint32_t	distance = crowded ? most_together / 4 * 3 + 1 : 1 + Below(2 * most_together);
	uint32_t	chance = crowded ? 16 : 1 + Below(16);
	uint64_t	stream = NextRandom();

	key_count = crowded ? 2 * (int) families : 1 + (int) Below(64 << Below(6));
	for (int k = 0; k < key_count; k++)
	{
		uint64_t	family = KeyHash(stream, MODEL_KEYS + (uint32_t) k % families);
		uint32_t	member = (uint32_t) k / families;
		CuckooIndexClass class = {0, (uint32_t) (family & ((UINT64_C(1) << bits) - 1)), bits};
		uint32_t	step = CuckooChainBegin(pages[0].entries, class).step;

		keys[k].last = -1;
		keys[k].hash = KeyHash(stream, (uint64_t) k);
		if ((keys[k].hash >> 32) % chance == 0)
			continue;
		do
			class.even = (2 * (uint32_t) (family >> 40) + member++ * distance * step) %
				CUCKOO_PAGE_BUCKETS;
		while (crowded && class.even >= CUCKOO_PAGE_BUCKETS / 2);
		keys[k].hash = (keys[k].hash & 0xFFFFF) +
			CuckooIndexFirstHash(base_pages, CuckooIndexClassCode(family % base_pages, class), bits);
	}
}

/* Add rows of one key: at random, side by side, one per page of the table, or in few pages. */
static bool
AddRows(int k, uint32_t count)
{
	uint32_t	pattern = Below(4);
	uint64_t	block = NextRandom();
	uint32_t	offset = Below(CUCKOO_PAGE_POSITIONS - 1);	/* the last one is a tombstone's */

	for (; count > 0 && row_count < MODEL_ROWS; count--)
	{
		uint64_t	position = block % table_pages * CUCKOO_PAGE_POSITIONS + offset;

		if (!AddToPages(keys[k].hash, position))
			return false;
		rows[row_count].position = position;
		rows[row_count].previous = keys[k].last;
		rows[row_count].is_dead = false;
		keys[k].last = row_count++;
		block = pattern == 1 ? block : pattern == 2 ? block + 1 :
			NextRandom() % (pattern == 0 ? UINT32_MAX : 8);
		offset = (pattern == 1 ? offset + 1 : offset * 3 + 1) % (CUCKOO_PAGE_POSITIONS - 1);
	}
	return true;
}

/* The life of an index, in which everything is removed in the end.  Returns its rows. */
static int
LivePages(void)
{
	int			most_rows = 512 << Below(5);
	bool		crowded = Below(4) == 0;
	uint32_t	most_together = crowded ? (CUCKOO_MAX_LINKS + 8) / 16 + 1 : UINT32_C(1) << Below(9);
	uint32_t	one_in = 32 << 2 * Below(4);	/* changes is not an addition, of each kind */

	base_pages = crowded ? 1 : 1 + Below(3);
	table_pages = UINT64_C(1) << (crowded ? 8 : Below(8));
	row_count = page_count = 0;
	trims = Below(2) == 0;
	joins = Below(4) > 0;
	home_count = (int) base_pages;
	for (uint32_t i = 0; i < base_pages; i++)
		NewPage(Allocate(sizeof(CuckooEntries)), i, 0, BitsForTable(CUCKOO_MAX_FINGERPRINT_BITS),
				NULL)->is_home = true;
	MakeKeys(crowded, most_together);
	while (row_count < most_rows && (choices == NULL || choices_left > 0))
	{
		uint32_t	what = Below(one_in);
		int			k = (int) Below((uint32_t) key_count);

		if (what == 0)
			Vacuum(Below(9), trims && Below(2) == 0);
		else if (what == 1 && 2 * table_pages <= MODEL_TABLE &&
				 4 * table_pages <= CuckooPageSpan(CUCKOO_MIN_FINGERPRINT_BITS))
			table_pages *= 2;
		else if (what == 2 && !crowded)
			(void) Split(HomeOf(keys[k].hash));
		else if (!AddRows(k, 1 + Below(most_together)))
			break;
		CheckKey(k);
	}
	Vacuum(0, false);
	Vacuum(8, false);
	return row_count;
}

#endif							/* CUCKOO_TEST_PAGE_MODEL_H */
