/*-------------------------------------------------------------------------
 *
 * filter.c
 *	  A filter: its tables together; see filter.h.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>

#include "filter.h"

/*
 * A batch has a quarter as many keys as the filter has items, so that encoding
 * a sparse table again costs about 50 ns per key.  It has at most a tenth of the
 * capacity, and then needs half the memory of the table, and as much again to be
 * sorted.  With a 16th, filling a filter for 1M keys takes 25 ns more per key.
 */
#define BATCH_SHARE			4
#define BATCH_LIMIT_SHARE	10
#define MIN_BATCH			512

/* Keys of a batch that are added together, at most. */
#define GROUP_KEYS			32

/* How many keys ahead of the one being looked up to prefetch. */
#define PREFETCH_KEYS		16

/*
 * A filter grows by a table with this many times the capacity of the one
 * before.  That keeps tables few, and empty space costs little because new
 * tables are sparse.
 */
#define GROWTH	32

void
CuckooFilterInit(CuckooFilter *filter, double fpr, uint64_t capacity, uint64_t seed)
{
	filter->header = (CuckooHeader) {.fpr = fpr, .capacity = capacity, .seed = seed};
}

bool
CuckooFilterContains(const CuckooFilter *filter, uint64_t hash)
{
	/* Most filters have one table; the loop below would cost 2 ns. */
	if (filter->header.table_count == 1)
		return CuckooTableContains(&filter->tables[0], hash);

	/* The last tables are the largest. */
	for (int i = filter->header.table_count - 1; i >= 0; i--)
	{
		if (CuckooTableContains(&filter->tables[i], hash))
			return true;
	}
	return false;
}

void
CuckooFilterPrefetch(const CuckooFilter *filter, const uint64_t *hashes, size_t at, size_t count)
{
	for (int i = 0; i < filter->header.table_count; i++)
	{
		const CuckooTable *table = &filter->tables[i];

		/* A draft's new table has no data. */
		if (table->data == NULL)
			continue;
		if (table->representation == CUCKOO_DENSE)
		{
			CuckooPlace place;

			if (at + PREFETCH_KEYS >= count)
				continue;
			place = CuckooPlaceOf(&table->shape, hashes[at + PREFETCH_KEYS]);
			CuckooDensePrefetch(&table->dense, &place);
			continue;
		}
		if (at + 2 * PREFETCH_KEYS < count)
			CuckooSparsePrefetch(&table->sparse, hashes[at + 2 * PREFETCH_KEYS]);
		if (at + PREFETCH_KEYS < count)
			CuckooSparsePrefetchGroup(&table->sparse, hashes[at + PREFETCH_KEYS]);
	}
}

int
CuckooFilterCount(const CuckooFilter *filter, uint64_t hash)
{
	int			copies = 0;

	for (int i = 0; i < filter->header.table_count; i++)
		copies += CuckooTableCount(&filter->tables[i], hash);
	return copies < CUCKOO_MAX_COPIES ? copies : CUCKOO_MAX_COPIES;
}

uint64_t
CuckooFilterPinned(const CuckooFilter *filter)
{
	uint64_t	pinned = 0;

	for (int i = 0; i < filter->header.table_count; i++)
	{
		CuckooList	codes = CuckooTableCodes(&filter->tables[i]);

		/* A class has no more copies than this, and they are neighbours. */
		for (uint64_t k = CUCKOO_MAX_COPIES - 1; k < codes.count; k++)
		{
			CuckooCheckInterruptsAt(k);
			pinned += codes.numbers[k] == codes.numbers[k - (CUCKOO_MAX_COPIES - 1)];
		}
		pfree(codes.numbers);
	}
	return pinned;
}

double
CuckooFilterTableRate(const CuckooFilter *filter, int i)
{
	const CuckooTable *table = &filter->tables[i];

	return filter->header.flags & CUCKOO_FLAG_NOT_REMOVABLE ?
		fmin(1, (double) table->items / (double) CuckooShapeClasses(&table->shape)) :
		CuckooShapeRate(&table->shape, table->items);
}

double
CuckooFilterRate(const CuckooFilter *filter)
{
	double		sum = 0;
	double		none = 0;

	for (int i = 0; i < filter->header.table_count; i++)
	{
		double		rate = CuckooFilterTableRate(filter, i);

		sum += rate;
		none += log1p(-rate);
	}
	if (filter->header.table_count <= 1 || filter->header.flags & CUCKOO_FLAG_NOT_REMOVABLE)
		return fmin(1, sum);
	/* By logarithms: 1 - (1 - rate) would lose digits of small rates. */
	return none == 0 ? 0 : -expm1(none);	/* and not -0 */
}

/*
 * If the capacity is unknown, the tables have 1, 2 and 3 bits more than the
 * target rate needs, so their rates add up to less than that.
 */
bool
CuckooFirstShape(const CuckooFilter *filter, CuckooShape *shape)
{
	bool		known = filter->header.capacity > 0;
	int			bits = CuckooBitsFor(filter->header.fpr) + !known;

	return CuckooShapeFor(shape, known ? filter->header.capacity : CUCKOO_FIRST_KEYS, bits) &&
		CUCKOO_HEADER_BYTES + CUCKOO_DIRECTORY_BYTES + CuckooDenseBytes(shape) +
		CUCKOO_TAIL_BYTES <= CUCKOO_MAX_BYTES;
}

/* Whether a shape has the blocks and buckets of a table for so many keys. */
static bool
IsForKeys(const CuckooShape *shape, uint64_t keys)
{
	CuckooShape same;

	CuckooShapeFor(&same, keys, shape->bits);
	return CuckooShapeOrder(shape, &same) == 0;
}

/*
 * The tables that a filter grows by have more bits than the target rate needs,
 * so the expected rate at most doubles.  The next shape depends only on the
 * newest table and the target rate, so that filters with the same rate grow by
 * the same shapes and combine.
 */
bool
CuckooNextShape(const CuckooFilter *filter, CuckooShape *shape)
{
	const CuckooShape *newest = &filter->tables[filter->header.table_count - 1].shape;
	int			asked = CuckooBitsFor(filter->header.fpr);
	int			bits = newest->bits + 1;

	if (bits < asked + 2)
		bits = asked + 2;
	if (bits > asked + 8)
		bits = asked + 8;
	if (bits > CUCKOO_MAX_BITS)
		bits = CUCKOO_MAX_BITS;
	CuckooShapeFor(shape, IsForKeys(newest, CUCKOO_FIRST_KEYS) ? CUCKOO_SECOND_KEYS :
				   IsForKeys(newest, CUCKOO_SECOND_KEYS) ? CUCKOO_THIRD_KEYS :
				   GROWTH * CuckooShapeCapacity(newest), bits);
	return filter->header.table_count < CUCKOO_MAX_TABLES && CuckooShapeOrder(newest, shape) < 0;
}

/* Initialize the tables of a filter for its parts; returns CuckooBytes. */
static size_t
InitTables(CuckooFilter *filter, const CuckooPart *parts, int count)
{
	filter->header.items = 0;
	for (int i = 0; i < count; i++)
	{
		CuckooTableInit(&filter->tables[i], &parts[i].shape, parts[i].representation,
						parts[i].items);
		filter->header.items += parts[i].items;
	}
	return CuckooBytes(filter);
}

uint8_t *
CuckooMakeFilter(CuckooFilter *filter, CuckooPart *parts, int count)
{
	uint8_t    *made;
	int			i;

	filter->header.content = CUCKOO_TABLES;
	filter->header.table_count = (uint8_t) count;
	for (;;)
	{
		i = count;
		/* If it is too large, the last dense part, the largest, becomes sparse. */
		while (InitTables(filter, parts, count) == 0)
		{
			if (--i < 0)
				return NULL;
			parts[i].representation = CUCKOO_SPARSE;
		}
		made = (uint8_t *) palloc(VARHDRSZ + CuckooBytes(filter)) + VARHDRSZ;
		CuckooLayOut(filter, made);
		for (i = 0; i < count; i++)
		{
			if (!CuckooTableBuild(&filter->tables[i], &parts[i], filter->header.seed))
				break;
		}
		if (i == count)
			return made;
		/* A dense part that finds no room becomes sparse, too. */
		CuckooFreeFilter(made);
		parts[i].representation = CUCKOO_SPARSE;
	}
}

void
CuckooFreeFilter(uint8_t *bytes)
{
	pfree(bytes - VARHDRSZ);
}

uint8_t *
CuckooMakeFromHashes(CuckooFilter *filter, const CuckooList *runs, uint64_t run_count)
{
	CuckooPart	part = {.source = {.runs = runs, .run_count = run_count, .hashes = true}};
	uint64_t	keys = 0;

	for (uint64_t i = 0; i < run_count; i++)
		keys += runs[i].count;
	if (filter->header.capacity == 0 ? keys > CUCKOO_UNKNOWN_KEYS : keys > filter->header.capacity)
		filter->header.capacity = keys;
	if (!CuckooFirstShape(filter, &part.shape))
		return NULL;
	part.items = CuckooSourceCount(&part.source, &part.shape);
	part.representation = CuckooRepresentationFor(&part.shape, part.items);
	return CuckooMakeFilter(filter, &part, 1);
}

/*
 * Changing
 *
 * A filter is changed by a batch of keys at a time, in the order of their
 * hashes.  Dense tables are changed in place.  The codes to add to a sparse
 * table or to remove from it ascend with the hashes.  They are pending until
 * the end of the batch, when every table that needs it is made again, once.
 */

void
CuckooDraftOpen(CuckooDraft *draft, uint8_t *bytes, size_t length)
{
	CuckooOpen(&draft->filter, bytes, length);
	draft->bytes = bytes;
	memset(draft->pending, 0, sizeof(draft->pending));
}

static void
ClearPending(CuckooDraft *draft)
{
	for (int i = 0; i < draft->filter.header.table_count; i++)
		CuckooListFree(&draft->pending[i].codes);
	memset(draft->pending, 0, sizeof(draft->pending));
}

/* Copies of a key's class in table i, with what is pending. */
static inline int
CountCopies(const CuckooDraft *draft, int i, uint64_t hash)
{
	const CuckooTable *table = &draft->filter.tables[i];
	const CuckooList *codes = &draft->pending[i].codes;
	uint64_t	code = codes->count > 0 ? CuckooCodeOf(&table->shape, hash) : 0;
	int			copies = 0;

	/*
	 * Most keys are in no table or in one, and counting is slower.  A filter that
	 * was empty has nothing stored yet: sparse.items is without what is pending.
	 */
	if (table->data != NULL &&
		(table->representation == CUCKOO_DENSE || table->sparse.items > 0) &&
		CuckooTableContains(table, hash))
		copies = CuckooTableCount(table, hash);
	/* Codes ascend, so its own are the last. */
	for (uint64_t at = codes->count; at > 0 && codes->numbers[at - 1] == code; at--)
		copies += draft->removing ? -1 : 1;
	return copies;
}

static inline bool
HasRoom(const CuckooTable *table)
{
	return table->items < CuckooShapeCapacity(&table->shape);
}

/*
 * Which table takes a key: the newest that holds the class and has room, because
 * a class in two tables cannot be removed; otherwise the newest with room; if
 * there is none, the next table.  Sets *target if the outcome is CUCKOO_CHANGED.
 */
static CuckooOutcome
FindTarget(const CuckooDraft *draft, uint64_t hash, CuckooAction action, int *target)
{
	const CuckooFilter *filter = &draft->filter;
	bool		held = false;

	*target = filter->header.table_count;
	for (int i = filter->header.table_count - 1; i >= 0; i--)
	{
		int			copies = CountCopies(draft, i, hash);

		if (copies >= CUCKOO_MAX_COPIES || (copies > 0 && action == CUCKOO_ADD_NEW))
			return CUCKOO_UNCHANGED;
		if (!held && (copies > 0 || *target == filter->header.table_count) &&
			HasRoom(&filter->tables[i]))
		{
			*target = i;
			held = copies > 0;
		}
	}
	return CUCKOO_CHANGED;
}

static CuckooOutcome
AddKey(CuckooDraft *draft, uint64_t hash, CuckooAction action)
{
	CuckooFilter *filter = &draft->filter;
	CuckooTable *table;
	int			target;
	CuckooOutcome outcome = FindTarget(draft, hash, action, &target);

	if (outcome != CUCKOO_CHANGED)
		return outcome;
	if (target == filter->header.table_count)
	{
		CuckooShape shape;

		if (!CuckooNextShape(filter, &shape))
			return CUCKOO_FULL;
		CuckooTableInit(&filter->tables[filter->header.table_count++], &shape, CUCKOO_SPARSE, 0);
	}
	table = &filter->tables[target];
	if (table->representation == CUCKOO_DENSE && !draft->pending[target].no_room)
	{
		CuckooPlace place = CuckooPlaceOf(&table->shape, hash);

		draft->pending[target].no_room = CuckooDenseInsert(&table->dense, &place) == CUCKOO_NO_ROOM;
	}
	/* A sparse table has room for any class. */
	if (table->representation == CUCKOO_SPARSE || draft->pending[target].no_room)
		CuckooListPut(&draft->pending[target].codes, CuckooCodeOf(&table->shape, hash));
	table->items++;
	filter->header.items++;
	return CUCKOO_CHANGED;
}

static CuckooOutcome
RemoveKey(CuckooDraft *draft, uint64_t hash)
{
	CuckooFilter *filter = &draft->filter;
	CuckooTable *table;
	int			holder = -1;
	int			others = -1;

	for (int i = 0; i < filter->header.table_count; i++)
	{
		int			copies = CountCopies(draft, i, hash);

		others += !draft->pending[i].dropped;
		if (copies == CUCKOO_MAX_COPIES || (copies > 0 && holder >= 0))
			return CUCKOO_UNCHANGED;
		if (copies > 0)
			holder = i;
	}
	if (holder < 0)
		return CUCKOO_UNCHANGED;
	table = &filter->tables[holder];
	if (table->representation == CUCKOO_DENSE)
	{
		CuckooPlace place = CuckooPlaceOf(&table->shape, hash);

		CuckooDenseRemove(&table->dense, &place);
	}
	else
		CuckooListPut(&draft->pending[holder].codes, CuckooCodeOf(&table->shape, hash));
	table->items--;
	filter->header.items--;
	draft->pending[holder].dropped = table->items == 0 && others > 0;
	return CUCKOO_CHANGED;
}

/*
 * Add up to GROUP_KEYS keys of a batch in the simplest case, which is also the
 * usual one for large batches: the draft has one table, which is dense.
 * Returns the number of keys that need no further work.  It is less than asked
 * for if the next key does not fit into the table in this way.
 *
 * The places of all keys are computed, and their buckets prefetched, before the
 * first key is added.  The branches of adding a key are hard to predict, which
 * would keep the processor from starting with the next key.
 */
static size_t
AddGroup(CuckooDraft *draft, const uint64_t *hashes, size_t count, CuckooAction action,
		 CuckooOutcome *outcome, size_t *changed)
{
	CuckooFilter *filter = &draft->filter;
	CuckooTable *table = &filter->tables[0];
	CuckooPlace places[GROUP_KEYS];
	size_t		at = 0;

	if (filter->header.table_count > 1 || table->representation != CUCKOO_DENSE ||
		draft->pending[0].no_room || action == CUCKOO_REMOVE)
		return 0;
	if (count > GROUP_KEYS)
		count = GROUP_KEYS;
	for (size_t i = 0; i < count; i++)
	{
		places[i] = CuckooPlaceOf(&table->shape, hashes[i]);
		CuckooDensePrefetch(&table->dense, &places[i]);
	}
	for (; at < count && HasRoom(table); at++)
	{
		CuckooInsertion insertion;

		*outcome = CUCKOO_UNCHANGED;
		if (action == CUCKOO_ADD_NEW && CuckooDenseContainsAt(&table->dense, places[at]))
			continue;
		insertion = CuckooDenseInsert(&table->dense, &places[at]);
		if (insertion == CUCKOO_NO_ROOM)
			break;
		if (insertion == CUCKOO_EIGHT_COPIES)
			continue;
		*outcome = CUCKOO_CHANGED;
		(*changed)++;
		table->items++;
		filter->header.items++;
	}
	return at;
}

/*
 * How table i is to be stored after a batch.  A sparse table is made dense only
 * once, when it comes to have enough items.  A dense one becomes sparse when
 * removing leaves it less than half full.
 */
static CuckooRepresentation
RepresentationAfter(const CuckooDraft *draft, int i)
{
	const CuckooTable *table = &draft->filter.tables[i];

	if (table->representation == CUCKOO_DENSE)
		return draft->pending[i].no_room ||
			(draft->removing && table->items < CuckooShapeEntries(&table->shape) / 2) ?
			CUCKOO_SPARSE : CUCKOO_DENSE;
	return table->sparse.items >= CuckooDenseFrom(&table->shape) ?
		CUCKOO_SPARSE : CuckooRepresentationFor(&table->shape, table->items);
}

/* Make again what a batch has left; false if the filter would be too large. */
static bool
RewriteDraft(CuckooDraft *draft)
{
	CuckooFilter *old = &draft->filter;
	CuckooFilter made;
	CuckooPart	parts[CUCKOO_MAX_TABLES];
	int			kept = 0;
	bool		needed = false;
	uint8_t    *bytes;

	for (int i = 0; i < old->header.table_count; i++)
	{
		const CuckooTable *table = &old->tables[i];

		parts[kept] = (CuckooPart) {
			.shape = table->shape,
			.items = table->items,
			.representation = RepresentationAfter(draft, i),
			.source = {.runs = &draft->pending[i].codes, .run_count = 1},
			/* A new table has only what is pending. */
			.old = table->data != NULL ? table : NULL,
			.remove = draft->removing
		};
		needed |= draft->pending[i].codes.count > 0 ||
			parts[kept].representation != table->representation;
		kept += !draft->pending[i].dropped;
	}
	if (!needed)
		return true;
	made.header = old->header;
	bytes = CuckooMakeFilter(&made, parts, kept);
	ClearPending(draft);
	if (bytes == NULL)
		return false;
	CuckooFreeFilter(draft->bytes);
	draft->bytes = bytes;
	old->header = made.header;
	memcpy(old->tables, made.tables, (size_t) kept * sizeof(CuckooTable));
	return true;
}

/*
 * How many keys, from the first on, to add together: those that fill the newest
 * table with room, or the next table.  If sorted hashes went on after a table is
 * full, it would have the lowest of them, which crowd its first blocks.
 */
static size_t
KeysToAdd(const CuckooDraft *draft, const uint64_t *hashes, size_t count, CuckooAction action)
{
	const CuckooFilter *filter = &draft->filter;
	uint64_t	rooms[CUCKOO_MAX_TABLES + 1] = {0};
	int			newest = filter->header.table_count;
	size_t		keys = 0;
	CuckooShape next;

	for (int i = 0; i < filter->header.table_count; i++)
	{
		const CuckooTable *table = &filter->tables[i];

		if (HasRoom(table))
		{
			newest = i;
			rooms[i] = CuckooShapeCapacity(&table->shape) - table->items;
		}
	}
	if (newest == filter->header.table_count && CuckooNextShape(filter, &next))
		rooms[newest] = CuckooShapeCapacity(&next);
	if (count <= rooms[newest])
		return count;
	while (keys < count && rooms[newest] > 0)
	{
		int			target;

		CuckooCheckInterruptsAt(keys);
		/* Keys that older tables hold go there as long as these have room. */
		if (FindTarget(draft, hashes[keys++], action, &target) == CUCKOO_CHANGED)
			rooms[rooms[target] > 0 ? target : newest]--;
	}
	return keys > 0 ? keys : 1;
}

static CuckooOutcome
ApplySorted(CuckooDraft *draft, const uint64_t *hashes, size_t count, CuckooAction action,
			size_t *changed)
{
	CuckooOutcome outcome = CUCKOO_UNCHANGED;
	size_t		before = *changed;
	size_t		at = 0;

	while (at < count && outcome != CUCKOO_FULL)
	{
		CHECK_FOR_INTERRUPTS();
		at += AddGroup(draft, hashes + at, count - at, action, &outcome, changed);
		if (at == count)
			break;
		CuckooFilterPrefetch(&draft->filter, hashes, at, count);
		if (action == CUCKOO_REMOVE)
			outcome = RemoveKey(draft, hashes[at]);
		else
			outcome = AddKey(draft, hashes[at], action);
		*changed += outcome == CUCKOO_CHANGED;
		at++;
	}
	if (outcome == CUCKOO_FULL)
		ClearPending(draft);
	else if (*changed > before && !RewriteDraft(draft))
		outcome = CUCKOO_TOO_LARGE;
	return outcome;
}

CuckooOutcome
CuckooDraftApply(CuckooDraft *draft, uint64_t *hashes, size_t count, CuckooAction action,
				 size_t *changed)
{
	uint64_t   *scratch = count > 1 ? CuckooAllocate(count, sizeof(uint64_t)) : NULL;
	CuckooOutcome outcome = CUCKOO_UNCHANGED;

	draft->removing = action == CUCKOO_REMOVE;
	*changed = 0;
	while (count > 0 && outcome != CUCKOO_FULL && outcome != CUCKOO_TOO_LARGE)
	{
		size_t		keys = action == CUCKOO_REMOVE ? count :
			KeysToAdd(draft, hashes, count, action);

		if (keys > 1)
			CuckooSort(hashes, scratch, keys);
		outcome = ApplySorted(draft, hashes, keys, action, changed);
		hashes += keys;
		count -= keys;
	}
	if (scratch != NULL)
		pfree(scratch);
	return outcome;
}

size_t
CuckooDraftBatchKeys(const CuckooDraft *draft)
{
	const CuckooFilter *filter = &draft->filter;
	uint64_t	keys = filter->header.items / BATCH_SHARE;
	uint64_t	limit = CuckooShapeCapacity(&filter->tables[filter->header.table_count - 1].shape) /
		BATCH_LIMIT_SHARE;

	if (keys > limit)
		keys = limit;
	return (size_t) (keys < MIN_BATCH ? MIN_BATCH : keys);
}

uint8_t *
CuckooDraftMake(CuckooDraft *draft)
{
	CuckooWriteHeader(&draft->filter, draft->bytes);
	return draft->bytes;
}
