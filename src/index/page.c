/*-------------------------------------------------------------------------
 *
 * page.c
 *	  The entries of one page of a cuckoo index; see page.h.
 *
 * An entry of 48 bits is, from the lowest bit on: the fingerprint, the flag that
 * a chain begins in this pair, and the interval.  0 is no entry.
 *
 *-------------------------------------------------------------------------
 */
#include "page.h"

/* The number of an entry's bucket, times four, and of its place in it */
typedef uint32_t Slot;

static inline uint64_t
GetSlot(const CuckooEntries *entries, Slot slot)
{
	const CuckooIndexBucket *bucket = &entries->buckets[slot / CUCKOO_ENTRIES];

	return (uint64_t) bucket->high[slot % CUCKOO_ENTRIES] << 16 |
		bucket->low[slot % CUCKOO_ENTRIES];
}

static inline void
SetSlot(CuckooEntries *entries, Slot slot, uint64_t entry)
{
	CuckooIndexBucket *bucket = &entries->buckets[slot / CUCKOO_ENTRIES];

	bucket->low[slot % CUCKOO_ENTRIES] = (uint16_t) entry;
	bucket->high[slot % CUCKOO_ENTRIES] = (uint32_t) (entry >> 16);
}

static inline uint64_t
FingerprintMask(int bits)
{
	return (UINT64_C(1) << bits) - 1;
}

static inline uint64_t
BeginFlag(int bits)
{
	return UINT64_C(1) << bits;
}

static inline CuckooInterval
StoredTombstone(int bits)
{
	return (UINT64_C(1) << (CUCKOO_ENTRY_BITS - bits - 1)) - 1;
}

static inline CuckooInterval
EntryInterval(uint64_t entry, int bits)
{
	CuckooInterval interval = entry >> (bits + 1);

	return interval == StoredTombstone(bits) ? CUCKOO_TOMBSTONE : interval;
}

static inline uint64_t
MakeEntry(uint32_t fingerprint, CuckooInterval interval, int bits)
{
	return (interval == CUCKOO_TOMBSTONE ? StoredTombstone(bits) : interval) << (bits + 1) |
		fingerprint;
}

/* Change the interval of an entry. */
static inline void
SetInterval(CuckooEntries *entries, Slot slot, CuckooInterval interval, int bits)
{
	uint64_t	rest = GetSlot(entries, slot) & (FingerprintMask(bits) | BeginFlag(bits));

	SetSlot(entries, slot, MakeEntry(0, interval, bits) | rest);
}

CuckooInterval
CuckooIntervalJoin(CuckooInterval a, CuckooInterval b)
{
	uint64_t	a_size = CuckooIntervalSize(a);
	uint64_t	b_size = CuckooIntervalSize(b);
	uint64_t	size = a_size > b_size ? a_size : b_size;

	/* The node of this size above a, and above b */
	while (((a ^ b) & (0 - 2 * size)) != 0)
		size *= 2;
	return (a & (0 - 2 * size)) | size;
}

/* Neighbours that an interval of a size covers are joined before it doubles. */
int
CuckooJoinIntervals(CuckooInterval *sorted, int count, int most)
{
	for (uint64_t size = 2; count > most; size *= 2)
	{
		int			last = 0;	/* of those that there will be */

		for (int i = 1; i < count; i++)
		{
			bool		are_near = ((sorted[last] ^ sorted[i]) & (0 - 2 * size)) == 0;

			if (are_near && last + 1 + count - i > most)
				sorted[last] = CuckooIntervalJoin(sorted[last], sorted[i]);
			else
				sorted[++last] = sorted[i];
		}
		count = last + 1;
	}
	return count;
}

static inline void
Touch(Slot slot, CuckooTouched *touched)
{
	for (int i = 0; i < touched->count && i < CUCKOO_MAX_TOUCHED; i++)
	{
		if (touched->slot[i] == slot)
			return;
	}
	if (touched->count < CUCKOO_MAX_TOUCHED)
		touched->slot[touched->count] = (uint16_t) slot;
	touched->count++;
}

static inline uint32_t
OtherBucket(uint32_t fingerprint, uint32_t bucket)
{
	return CuckooAlternateBucket(fingerprint, bucket, CUCKOO_PAGE_BUCKETS);
}

bool
CuckooGetEntry(const CuckooEntries *entries, uint32_t slot, int bits, CuckooEntry *entry)
{
	uint64_t	stored = GetSlot(entries, slot);
	uint32_t	bucket = slot / CUCKOO_ENTRIES;
	uint32_t	fingerprint = (uint32_t) (stored & FingerprintMask(bits));

	entry->class = (CuckooIndexClass) {
		bucket % 2 == 0 ? bucket : OtherBucket(fingerprint, bucket), fingerprint, bits};
	entry->interval = EntryInterval(stored, bits);
	entry->is_begin = (stored & BeginFlag(bits)) != 0;
	return stored != 0;
}

/*
 * The distance from a pair to the next in a chain: less than the number of
 * pairs, and without a common factor, so a chain can reach all of them.
 */
static uint32_t
ChainStep(uint32_t fingerprint)
{
	uint32_t	step = 1 + 2 * (fingerprint * UINT32_C(0x9E3779B1) >> 26);

	while (step % 5 == 0 || step % 17 == 0)
		step += 2;
	return 2 * step;
}

CuckooChain
CuckooChainBegin(CuckooEntries *entries, CuckooIndexClass class)
{
	return (CuckooChain) {entries, class, ChainStep(class.fingerprint),
		CuckooBucketSum(class.fingerprint, CUCKOO_PAGE_BUCKETS), 0};
}

/*
 * Mark the slots of a bucket whose entries have the low bits of a fingerprint:
 * one bit for each, and perhaps for others above one.  Chains of many links are
 * walked at each addition, so all four are compared at once.
 */
static inline uint64_t
MarkLow(const CuckooIndexBucket *bucket, uint32_t fingerprint, int bits)
{
	const uint64_t ones = UINT64_C(0x0001000100010001);
	uint64_t	low = (uint64_t) bucket->low[0] | (uint64_t) bucket->low[1] << 16 |
		(uint64_t) bucket->low[2] << 32 | (uint64_t) bucket->low[3] << 48;
	uint64_t	differ = (low ^ (fingerprint & 0xFFFF) * ones) &
		(FingerprintMask(bits) & 0xFFFF) * ones;

	return (differ - ones) & ~differ & 0x8000 * ones;
}

/*
 * The entry of a class in its pair of buckets, whose numbers have this sum; 0
 * if there is none.  Which of the two has it cannot be predicted, so both are
 * read.
 */
CUCKOO_INLINE uint64_t
FindInPair(const CuckooEntries *entries, const CuckooIndexClass *class, uint32_t sum, Slot *slot)
{
	uint32_t	even = class->even;
	uint32_t	odd = CuckooOtherBucket(sum, even, CUCKOO_PAGE_BUCKETS);
	uint64_t	in_even = MarkLow(&entries->buckets[even], class->fingerprint, class->bits);
	uint64_t	in_odd = MarkLow(&entries->buckets[odd], class->fingerprint, class->bits);

	while ((in_even | in_odd) != 0)
	{
		bool		is_even = in_even != 0;
		uint64_t	marks = is_even ? in_even : in_odd;
		uint64_t	entry;

		*slot = (is_even ? even : odd) * CUCKOO_ENTRIES + (uint32_t) CuckooLowestBit(marks) / 16;
		entry = GetSlot(entries, *slot);
		if (((entry ^ class->fingerprint) & FingerprintMask(class->bits)) == 0 && entry != 0)
			return entry;
		if (is_even)
			in_even &= in_even - 1;
		else
			in_odd &= in_odd - 1;
	}
	return 0;
}

/* The entry of the next pair in a chain; 0 if the chain ends there. */
CUCKOO_INLINE uint64_t
NextEntry(CuckooChain *chain, Slot *slot)
{
	CuckooIndexClass *next = &chain->next;
	uint64_t	entry = chain->links == CUCKOO_PAGE_PAIRS ? 0 :
		FindInPair(chain->entries, next, chain->sum, slot);

	if (entry == 0)
		return 0;
	chain->links++;
	next->even += chain->step;
	if (next->even >= CUCKOO_PAGE_BUCKETS)
		next->even -= CUCKOO_PAGE_BUCKETS;
	return entry;
}

bool
CuckooChainNext(CuckooChain *chain, CuckooInterval *interval)
{
	bool		first = chain->links == 0;
	Slot		slot;
	uint64_t	entry = NextEntry(chain, &slot);

	*interval = EntryInterval(entry, chain->next.bits);
	return entry != 0 && (!first || (entry & BeginFlag(chain->next.bits)) != 0);
}

/* The slot of a bucket that is empty; -1 if none is. */
static inline int
FindEmpty(const CuckooEntries *entries, uint32_t bucket)
{
	for (uint32_t i = 0; i < CUCKOO_ENTRIES; i++)
	{
		if (GetSlot(entries, bucket * CUCKOO_ENTRIES + i) == 0)
			return (int) i;
	}
	return -1;
}

/*
 * Put an entry into one of its buckets.  The entries that have to move are
 * found breadth first, so as few move as possible: the bucket of each is a
 * piece of the WAL record.  A page is so small that the search may visit all of
 * it.
 */
static bool
Place(CuckooEntries *entries, CuckooIndexClass class, uint64_t entry, CuckooTouched *touched)
{
	uint16_t	queue[CUCKOO_PAGE_BUCKETS];
	uint16_t	parent[CUCKOO_PAGE_BUCKETS];	/* by place in the queue */
	Slot		moved[CUCKOO_PAGE_BUCKETS]; /* whose entry would move here */
	bool		seen[CUCKOO_PAGE_BUCKETS] = {false};
	int			tail = 2;

	queue[0] = (uint16_t) class.even;
	queue[1] = (uint16_t) OtherBucket(class.fingerprint, class.even);
	seen[queue[0]] = seen[queue[1]] = true;
	for (int head = 0; head < tail; head++)
	{
		uint32_t	bucket = queue[head];
		int			empty = FindEmpty(entries, bucket);

		if (empty >= 0)
		{
			Slot		slot = bucket * CUCKOO_ENTRIES + (uint32_t) empty;

			for (int at = head; at > 1; at = parent[at])
			{
				SetSlot(entries, slot, GetSlot(entries, moved[at]));
				Touch(slot, touched);
				slot = moved[at];
			}
			SetSlot(entries, slot, entry);
			Touch(slot, touched);
			return true;
		}
		for (uint32_t i = 0; i < CUCKOO_ENTRIES; i++)
		{
			Slot		slot = bucket * CUCKOO_ENTRIES + i;
			uint32_t	fingerprint =
				(uint32_t) (GetSlot(entries, slot) & FingerprintMask(class.bits));
			uint32_t	other = OtherBucket(fingerprint, bucket);

			if (seen[other])
				continue;
			seen[other] = true;
			queue[tail] = (uint16_t) other;
			parent[tail] = (uint16_t) head;
			moved[tail++] = slot;
		}
	}
	return false;
}

/* What a new interval meets on its way along a chain */
typedef struct Links
{
	Slot		slots[CUCKOO_PAGE_PAIRS];
	CuckooInterval intervals[CUCKOO_PAGE_PAIRS];
	int			count;
	int			tombstone;		/* the first; -1: none */
	int			in_page;		/* links that are in the same page of the table */
	bool		covered;		/* the last covers the new interval */
} Links;

/*
 * Walk all of a short chain.  In a long one tombstones are used again from the
 * first to the last, so intervals that were added not long ago, which are those
 * that may have to be joined, are before the first tombstone, mostly.  An
 * interval that is added twice does no harm.
 */
static CuckooIndexClass
WalkChain(CuckooEntries *entries, CuckooIndexClass class, CuckooInterval interval, Links *links)
{
	CuckooChain chain = CuckooChainBegin(entries, class);
	uint64_t	entry;
	int			link = 0;

	links->tombstone = -1;
	links->in_page = 0;
	links->covered = false;
	while (!links->covered && (links->tombstone < 0 || link < CUCKOO_MAX_LINKS / 4) &&
		   (entry = NextEntry(&chain, &links->slots[link])) != 0)
	{
		CuckooInterval has = EntryInterval(entry, class.bits);

		links->intervals[link] = has;
		if (has == CUCKOO_TOMBSTONE)
			links->tombstone = links->tombstone < 0 ? link : links->tombstone;
		else
		{
			links->in_page += CuckooIntervalsSharePage(has, interval);
			links->covered = CuckooIntervalCovers(has, interval);
		}
		link++;
	}
	links->count = link;
	return chain.next;
}

static void
SetLink(CuckooEntries *entries, CuckooIndexClass class, const Links *links, int link,
		CuckooInterval interval, CuckooTouched *touched)
{
	SetInterval(entries, links->slots[link], interval, class.bits);
	Touch(links->slots[link], touched);
}

/* Make one entry of an interval and all that are in its page of the table. */
static void
JoinInPage(CuckooEntries *entries, CuckooIndexClass class, const Links *links,
		   CuckooInterval interval, CuckooTouched *touched)
{
	bool		latest = true;
	CuckooInterval joined = interval;

	for (int i = 0; i < links->count; i++)
	{
		if (CuckooIntervalsSharePage(links->intervals[i], interval))
			joined = CuckooIntervalJoin(joined, links->intervals[i]);
	}
	for (int i = links->count - 1; i >= 0; i--)
	{
		if (!CuckooIntervalsSharePage(links->intervals[i], interval))
			continue;
		SetLink(entries, class, links, i, latest ? joined : CUCKOO_TOMBSTONE, touched);
		latest = false;
	}
}

/*
 * Join intervals of a chain, so that a quarter of its links is free, and return
 * one of these.  To sort all of them for each addition would take longer than
 * all the rest, and with half of them free, they would cover three times as
 * much of the table that has no row of the key.
 */
static int
JoinLinks(CuckooEntries *entries, CuckooIndexClass class, const Links *links,
		  CuckooTouched *touched)
{
	CuckooInterval joined[CUCKOO_PAGE_PAIRS];
	bool		placed[CUCKOO_PAGE_PAIRS] = {false};
	int			free_link = -1;

	for (int i = 0; i < links->count; i++)
	{
		int			k = i;

		for (; k > 0 && joined[k - 1] > links->intervals[i]; k--)
			joined[k] = joined[k - 1];
		joined[k] = links->intervals[i];
	}
	CuckooJoinIntervals(joined, links->count, links->count / 4 * 3);
	for (int i = links->count - 1; i >= 0; i--)
	{
		int			k = 0;

		while (!CuckooIntervalCovers(joined[k], links->intervals[i]))
			k++;
		SetLink(entries, class, links, i, placed[k] ? CUCKOO_TOMBSTONE : joined[k], touched);
		if (placed[k])
			free_link = i;
		placed[k] = true;
	}
	return free_link;
}

/* Say that a chain begins in a pair, if that has an entry which does not. */
static void
SetBegin(CuckooEntries *entries, CuckooIndexClass class, CuckooTouched *touched)
{
	uint32_t	sum = CuckooBucketSum(class.fingerprint, CUCKOO_PAGE_BUCKETS);
	Slot		slot;
	uint64_t	entry = FindInPair(entries, &class, sum, &slot);

	if (entry == 0 || (entry & BeginFlag(class.bits)) != 0)
		return;
	SetSlot(entries, slot, entry | BeginFlag(class.bits));
	Touch(slot, touched);
}

bool
CuckooEntriesAdd(CuckooEntries *entries, CuckooIndexClass class, CuckooInterval interval,
				 bool joins_in_page, CuckooTouched *touched)
{
	Links		links;
	CuckooIndexClass end = WalkChain(entries, class, interval, &links);

	touched->count = 0;
	touched->links = links.tombstone < 0 ? links.count : 0;
	if (!links.covered)
	{
		if (links.in_page >= 2 && joins_in_page)
			JoinInPage(entries, class, &links, interval, touched);
		else if (links.tombstone >= 0)
			SetLink(entries, class, &links, links.tombstone, interval, touched);
		else if (links.count >= CUCKOO_MAX_LINKS)
			SetLink(entries, class, &links, JoinLinks(entries, class, &links, touched), interval,
					touched);
		else
		{
			uint64_t	begin = links.count == 0 ? BeginFlag(class.bits) : 0;
			uint64_t	entry = MakeEntry(class.fingerprint, interval, class.bits) | begin;

			if (!Place(entries, end, entry, touched))
				return false;
			if (begin != 0)
				return true;
		}
	}
	SetBegin(entries, class, touched);
	return true;
}

/*
 * Fill a class's tombstone with the last interval after it, whose entry is then
 * cleared, unless a chain begins between them, which would lose the interval.
 * If there is none, the tombstone itself is cleared.
 */
static void
FillTombstone(CuckooEntries *entries, CuckooIndexClass class, Slot tombstone)
{
	CuckooChain chain = CuckooChainBegin(entries, class);
	Slot		last = tombstone;
	Slot		slot;
	bool		begins = false; /* between the tombstone and here */
	bool		begins_before_last = false;
	uint64_t	entry = NextEntry(&chain, &slot);

	while ((entry = NextEntry(&chain, &slot)) != 0)
	{
		begins |= (entry & BeginFlag(class.bits)) != 0;
		if (EntryInterval(entry, class.bits) == CUCKOO_TOMBSTONE)
			continue;
		last = slot;
		begins_before_last = begins;
	}
	if (begins_before_last)
		return;
	SetInterval(entries, tombstone, EntryInterval(GetSlot(entries, last), class.bits), class.bits);
	SetSlot(entries, last, 0);
}

CuckooEntriesCounts
CuckooEntriesReplace(CuckooEntries *entries, int bits, CuckooNewInterval new_interval, void *arg)
{
	CuckooEntriesCounts counts = {0};
	CuckooEntry entry;

	for (Slot slot = 0; slot < CUCKOO_PAGE_ENTRIES; slot++)
	{
		CuckooInterval interval;

		if (!CuckooGetEntry(entries, slot, bits, &entry) || entry.interval == CUCKOO_TOMBSTONE)
			continue;
		interval = new_interval(&entry, arg);
		counts.entries += interval != CUCKOO_TOMBSTONE;
		counts.removed += interval == CUCKOO_TOMBSTONE;
		counts.changed += interval != entry.interval;
		SetInterval(entries, slot, interval, bits);
	}
	for (Slot slot = 0; counts.removed > 0 && slot < CUCKOO_PAGE_ENTRIES; slot++)
	{
		if (CuckooGetEntry(entries, slot, bits, &entry) && entry.interval == CUCKOO_TOMBSTONE)
			FillTombstone(entries, entry.class, slot);
	}
	return counts;
}

int
CuckooEntriesCount(const CuckooEntries *entries)
{
	int			count = 0;

	for (Slot slot = 0; slot < CUCKOO_PAGE_ENTRIES; slot++)
		count += GetSlot(entries, slot) != 0;
	return count;
}

bool
CuckooEntriesMove(CuckooEntries *from, int bits, CuckooEntries *left, CuckooEntries *right,
				  int new_bits, bool joins_in_page)
{
	int			split = right != NULL;
	uint64_t	half_codes = (uint64_t) CUCKOO_PAGE_PAIRS << bits >> split;
	int			moved = 0;

	for (Slot slot = 0; slot < CUCKOO_PAGE_ENTRIES; slot++)
	{
		CuckooEntry entry;
		CuckooChain chain;
		CuckooIndexClass class; /* in the new page */
		CuckooTouched touched;
		uint64_t	code;		/* in the half */
		bool		is_right;

		if (!CuckooGetEntry(from, slot, bits, &entry) || !entry.is_begin)
			continue;
		code = CuckooIndexClassCode(0, entry.class);
		is_right = code >= half_codes;
		code = (code - is_right * half_codes) >> (bits - split - new_bits);
		class = (CuckooIndexClass) {2 * (uint32_t) (code >> new_bits),
			(uint32_t) (code & FingerprintMask(new_bits)), new_bits};
		chain = CuckooChainBegin(from, entry.class);
		while (CuckooChainNext(&chain, &entry.interval))
		{
			if (entry.interval == CUCKOO_TOMBSTONE)
				continue;
			if (++moved > CUCKOO_PAGE_ENTRIES / 2 * 3 ||
				!CuckooEntriesAdd(is_right ? right : left, class, entry.interval, joins_in_page,
								  &touched))
				return false;
		}
	}
	return true;
}
