/*-------------------------------------------------------------------------
 *
 * index_page.c
 *	  The entries of one page of a cuckoo index; see index_page.h.
 *
 * An entry of 48 bits is, from the lowest bit on: the fingerprint, the flag that
 * a chain begins in this pair, and the interval.  0 is no entry.
 *
 *-------------------------------------------------------------------------
 */
#include "index_page.h"

/* An entry's place in a page */
typedef struct Slot
{
	CuckooBucket *bucket;
	int			number;
} Slot;

static inline uint64_t
GetSlot(Slot slot)
{
	return (uint64_t) slot.bucket->high[slot.number] << 16 | slot.bucket->low[slot.number];
}

static inline void
SetSlot(Slot slot, uint64_t entry)
{
	slot.bucket->low[slot.number] = (uint16_t) entry;
	slot.bucket->high[slot.number] = (uint32_t) (entry >> 16);
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
SlotInterval(Slot slot, int bits)
{
	CuckooInterval interval = GetSlot(slot) >> (bits + 1);

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
SetInterval(Slot slot, CuckooInterval interval, int bits)
{
	uint64_t	rest = GetSlot(slot) & (FingerprintMask(bits) | BeginFlag(bits));

	SetSlot(slot, MakeEntry(0, interval, bits) | rest);
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

/* Neighbours that one interval of some size covers are joined before that size is doubled. */
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

/*
 * Entries
 */

static inline void
ListChange(const CuckooEntries *entries, Slot slot, CuckooChanges *changes)
{
	if (changes->count < CUCKOO_MAX_CHANGES)
		changes->bucket[changes->count] = (uint16_t) (slot.bucket - entries->buckets);
	changes->count++;
}

/*
 * The slot of a fingerprint; -1 if there is none.  The low bits of all four are compared at
 * once.  Chains of many links are walked at each addition.
 */
static inline int
FindInBucket(const CuckooBucket *bucket, uint32_t fingerprint, int bits)
{
	const uint64_t ones = UINT64_C(0x0001000100010001);
	uint64_t	low = (uint64_t) bucket->low[0] | (uint64_t) bucket->low[1] << 16 |
		(uint64_t) bucket->low[2] << 32 | (uint64_t) bucket->low[3] << 48;
	uint64_t	differ = (low ^ (fingerprint & 0xFFFF) * ones) & (FingerprintMask(bits) & 0xFFFF) * ones;
	uint64_t	same = (differ - ones) & ~differ & 0x8000 * ones;	/* and perhaps others above one */

	for (; same != 0; same &= same - 1)
	{
		int			i = CuckooLowestBit(same) / 16;
		uint64_t	entry = GetSlot((Slot) {(CuckooBucket *) bucket, i});

		if (((entry ^ fingerprint) & FingerprintMask(bits)) == 0 && entry != 0)
			return i;
	}
	return -1;
}

static inline int
FindEmpty(const CuckooBucket *bucket)
{
	for (int i = 0; i < CUCKOO_ENTRIES; i++)
	{
		if (GetSlot((Slot) {(CuckooBucket *) bucket, i}) == 0)
			return i;
	}
	return -1;
}

static inline uint32_t
OtherBucket(uint32_t fingerprint, uint32_t bucket)
{
	return CuckooAlternateBucket(fingerprint, bucket, CUCKOO_PAGE_BUCKETS);
}

bool
CuckooGetEntry(const CuckooEntries *entries, uint32_t bucket, int slot, int bits,
			   CuckooClass *class, CuckooInterval *interval, bool *is_begin)
{
	Slot		from = {(CuckooBucket *) &entries->buckets[bucket], slot};
	uint64_t	entry = GetSlot(from);

	class->bits = bits;
	class->fingerprint = (uint32_t) (entry & FingerprintMask(bits));
	class->even = bucket % 2 == 0 ? bucket : OtherBucket(class->fingerprint, bucket);
	*interval = SlotInterval(from, bits);
	*is_begin = (entry & BeginFlag(bits)) != 0;
	return entry != 0;
}

/*
 * Chains
 */

/*
 * The distance from a pair to the next in a chain: less than the number of pairs,
 * and without a common factor, so a chain can reach all of them.
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
CuckooChainBegin(CuckooEntries *entries, CuckooClass class)
{
	return (CuckooChain) {entries, class, ChainStep(class.fingerprint), 0};
}

static bool
FindInPair(CuckooEntries *entries, CuckooClass class, Slot *slot)
{
	slot->bucket = &entries->buckets[class.even];
	slot->number = FindInBucket(slot->bucket, class.fingerprint, class.bits);
	if (slot->number < 0)
	{
		slot->bucket = &entries->buckets[OtherBucket(class.fingerprint, class.even)];
		slot->number = FindInBucket(slot->bucket, class.fingerprint, class.bits);
	}
	return slot->number >= 0;
}

static bool
NextSlot(CuckooChain *chain, Slot *slot)
{
	CuckooClass *next = &chain->next;

	if (chain->links == CUCKOO_PAGE_PAIRS || !FindInPair(chain->entries, *next, slot))
		return false;
	chain->links++;
	next->even += chain->step;
	if (next->even >= CUCKOO_PAGE_BUCKETS)
		next->even -= CUCKOO_PAGE_BUCKETS;
	return true;
}

bool
CuckooChainNext(CuckooChain *chain, CuckooInterval *interval)
{
	bool		first = chain->links == 0;
	Slot		slot;

	if (!NextSlot(chain, &slot))
		return false;
	*interval = SlotInterval(slot, chain->next.bits);
	return !first || (GetSlot(slot) & BeginFlag(chain->next.bits)) != 0;
}

/*
 * Adding
 */

/*
 * Put an entry into one of its buckets.  The entries that have to move are found
 * breadth first, so as few move as possible: the bucket of each is a piece of the
 * WAL record.  A page is so small that the search may visit all of it.
 */
static bool
Place(CuckooEntries *entries, CuckooClass class, uint64_t entry, CuckooChanges *changes)
{
	CuckooBucket *buckets = entries->buckets;
	uint16_t	queue[CUCKOO_PAGE_BUCKETS];
	uint16_t	parent[CUCKOO_PAGE_BUCKETS];	/* by place in the queue */
	uint8_t		moved[CUCKOO_PAGE_BUCKETS]; /* the slot whose entry would move here */
	bool		seen[CUCKOO_PAGE_BUCKETS] = {false};
	int			tail = 2;

	queue[0] = (uint16_t) class.even;
	queue[1] = (uint16_t) OtherBucket(class.fingerprint, class.even);
	seen[queue[0]] = seen[queue[1]] = true;
	for (int head = 0; head < tail; head++)
	{
		Slot		slot = {&buckets[queue[head]], FindEmpty(&buckets[queue[head]])};

		if (slot.number >= 0)
		{
			for (int at = head; at > 1; at = parent[at])
			{
				Slot		from = {&buckets[queue[parent[at]]], moved[at]};

				SetSlot(slot, GetSlot(from));
				ListChange(entries, slot, changes);
				slot = from;
			}
			SetSlot(slot, entry);
			ListChange(entries, slot, changes);
			return true;
		}
		for (int i = 0; i < CUCKOO_ENTRIES; i++)
		{
			uint64_t	has = GetSlot((Slot) {slot.bucket, i});
			uint32_t	other = OtherBucket((uint32_t) (has & FingerprintMask(class.bits)), queue[head]);

			if (seen[other])
				continue;
			seen[other] = true;
			queue[tail] = (uint16_t) other;
			parent[tail] = (uint16_t) head;
			moved[tail++] = (uint8_t) i;
		}
	}
	return false;
}

/* What a new interval meets on its way along a chain */
typedef struct Links
{
	Slot		slots[CUCKOO_PAGE_PAIRS];
	int			count;
	int			tombstone;		/* the first; -1: none */
	int			in_page;		/* links that are in the same page of the table */
	bool		covered;		/* one covers the new interval */
} Links;

static CuckooClass
WalkChain(CuckooEntries *entries, CuckooClass class, CuckooInterval interval, Links *links)
{
	CuckooChain chain = CuckooChainBegin(entries, class);

	links->tombstone = -1;
	links->in_page = 0;
	links->covered = false;
	while (!links->covered && NextSlot(&chain, &links->slots[chain.links]))
	{
		int			link = chain.links - 1;
		CuckooInterval has = SlotInterval(links->slots[link], class.bits);

		if (has == CUCKOO_TOMBSTONE)
			links->tombstone = links->tombstone < 0 ? link : links->tombstone;
		else
		{
			links->in_page += CuckooIntervalsSharePage(has, interval);
			links->covered = CuckooIntervalCovers(has, interval);
		}
	}
	links->count = chain.links;
	return chain.next;
}

static void
SetLink(CuckooEntries *entries, CuckooClass class, const Links *links, int link,
		CuckooInterval interval, CuckooChanges *changes)
{
	SetInterval(links->slots[link], interval, class.bits);
	ListChange(entries, links->slots[link], changes);
}

/* Make one entry of an interval and all that are in its page of the table. */
static void
JoinInPage(CuckooEntries *entries, CuckooClass class, const Links *links, CuckooInterval interval,
		   CuckooChanges *changes)
{
	bool		latest = true;
	CuckooInterval joined = interval;

	for (int i = 0; i < links->count; i++)
	{
		CuckooInterval has = SlotInterval(links->slots[i], class.bits);

		if (CuckooIntervalsSharePage(has, interval))
			joined = CuckooIntervalJoin(joined, has);
	}
	for (int i = links->count - 1; i >= 0; i--)
	{
		if (!CuckooIntervalsSharePage(SlotInterval(links->slots[i], class.bits), interval))
			continue;
		SetLink(entries, class, links, i, latest ? joined : CUCKOO_TOMBSTONE, changes);
		latest = false;
	}
}

/*
 * Join intervals of a chain, so that a quarter of its links is free, and return one of these.
 * To sort all of them for each addition would take longer than all the rest, and with half of
 * them free, they would cover three times as much of the table that has no row of the key.
 */
static int
JoinLinks(CuckooEntries *entries, CuckooClass class, const Links *links, CuckooChanges *changes)
{
	CuckooInterval joined[CUCKOO_PAGE_PAIRS];
	bool		placed[CUCKOO_PAGE_PAIRS] = {false};
	int			free_link = -1;

	for (int i = 0; i < links->count; i++)
	{
		CuckooInterval has = SlotInterval(links->slots[i], class.bits);
		int			k = i;

		for (; k > 0 && joined[k - 1] > has; k--)
			joined[k] = joined[k - 1];
		joined[k] = has;
	}
	CuckooJoinIntervals(joined, links->count, links->count / 4 * 3);
	for (int i = links->count - 1; i >= 0; i--)
	{
		int			k = 0;

		while (!CuckooIntervalCovers(joined[k], SlotInterval(links->slots[i], class.bits)))
			k++;
		SetLink(entries, class, links, i, placed[k] ? CUCKOO_TOMBSTONE : joined[k], changes);
		if (placed[k])
			free_link = i;
		placed[k] = true;
	}
	return free_link;
}

/* Say that a chain begins in a class's pair, which has an entry; false if it did. */
static bool
SetBegin(CuckooEntries *entries, CuckooClass class, CuckooChanges *changes)
{
	Slot		slot;

	if (!FindInPair(entries, class, &slot) || (GetSlot(slot) & BeginFlag(class.bits)) != 0)
		return false;
	SetSlot(slot, GetSlot(slot) | BeginFlag(class.bits));
	ListChange(entries, slot, changes);
	return true;
}

CuckooPageResult
CuckooPageAdd(CuckooEntries *entries, CuckooClass class, CuckooInterval interval,
			  CuckooChanges *changes)
{
	Links		links;
	CuckooClass end = WalkChain(entries, class, interval, &links);

	changes->count = 0;
	if (links.covered)
		return SetBegin(entries, class, changes) ? CUCKOO_PAGE_ADDED : CUCKOO_PAGE_PRESENT;
	if (links.in_page >= 2)
	{
		JoinInPage(entries, class, &links, interval, changes);
		SetBegin(entries, class, changes);
		return CUCKOO_PAGE_ADDED;
	}
	if (links.tombstone < 0 && links.count >= CUCKOO_MAX_LINKS)
		links.tombstone = JoinLinks(entries, class, &links, changes);
	if (links.tombstone >= 0)
		SetLink(entries, class, &links, links.tombstone, interval, changes);
	else if (!Place(entries, end, MakeEntry(class.fingerprint, interval, class.bits), changes))
		return CUCKOO_PAGE_FULL;
	SetBegin(entries, class, changes);
	return CUCKOO_PAGE_ADDED;
}

/*
 * Removing
 */

/* Whether no interval comes after a class's tombstone, up to the end of the chain. */
static bool
IsAtEnd(CuckooEntries *entries, CuckooClass class)
{
	CuckooChain chain = CuckooChainBegin(entries, class);
	Slot		slot;

	while (NextSlot(&chain, &slot))
	{
		if (SlotInterval(slot, class.bits) != CUCKOO_TOMBSTONE)
			return false;
	}
	return true;
}

static bool
ClearEnds(CuckooEntries *entries, int bits)
{
	bool		cleared = false;

	for (uint32_t b = 0; b < CUCKOO_PAGE_BUCKETS; b++)
	{
		for (int i = 0; i < CUCKOO_ENTRIES; i++)
		{
			CuckooClass class;
			CuckooInterval interval;
			bool		is_begin;

			if (CuckooGetEntry(entries, b, i, bits, &class, &interval, &is_begin) &&
				interval == CUCKOO_TOMBSTONE && IsAtEnd(entries, class))
			{
				SetSlot((Slot) {&entries->buckets[b], i}, 0);
				cleared = true;
			}
		}
	}
	return cleared;
}

CuckooPageCounts
CuckooPageRemove(CuckooEntries *entries, int bits, CuckooIsDead is_dead, void *arg)
{
	CuckooPageCounts counts = {0};
	bool		tombstones = false;

	for (uint32_t b = 0; b < CUCKOO_PAGE_BUCKETS; b++)
	{
		for (int i = 0; i < CUCKOO_ENTRIES; i++)
		{
			CuckooClass class;
			CuckooInterval interval;
			bool		is_begin;

			if (!CuckooGetEntry(entries, b, i, bits, &class, &interval, &is_begin))
				continue;
			if (interval != CUCKOO_TOMBSTONE && CuckooIntervalIsInPage(interval) &&
				is_dead(interval, arg))
			{
				interval = CUCKOO_TOMBSTONE;
				SetInterval((Slot) {&entries->buckets[b], i}, interval, bits);
				counts.removed++;
			}
			counts.entries += interval != CUCKOO_TOMBSTONE;
			tombstones = tombstones || interval == CUCKOO_TOMBSTONE;
		}
	}
	counts.changed = tombstones && ClearEnds(entries, bits);
	counts.changed = counts.changed || counts.removed > 0;
	return counts;
}

/*
 * Moving
 */

int
CuckooPageCount(const CuckooEntries *entries)
{
	int			count = 0;

	for (uint32_t b = 0; b < CUCKOO_PAGE_BUCKETS; b++)
	{
		for (int i = 0; i < CUCKOO_ENTRIES; i++)
			count += (entries->buckets[b].low[i] | entries->buckets[b].high[i]) != 0;
	}
	return count;
}

/*
 * Add an interval to the class with this code: the pair's number in the half, and the
 * fingerprint.
 */
static bool
MoveInterval(CuckooMove *move, int half, uint64_t code, CuckooInterval interval)
{
	CuckooClass class = {2 * (uint32_t) (code >> move->bits),
		(uint32_t) (code & ((UINT64_C(1) << move->bits) - 1)), move->bits};
	CuckooChanges changes;

	if (CuckooPageAdd(move->halves[half], class, interval, &changes) != CUCKOO_PAGE_FULL)
		return true;
	if (move->overflow == NULL || move->overflow_half == 1 - half)
		return false;
	move->overflow_half = half;
	return CuckooPageAdd(move->overflow, class, interval, &changes) != CUCKOO_PAGE_FULL;
}

bool
CuckooPageMove(CuckooEntries *from, int bits, CuckooMove *move)
{
	int			split = move->halves[1] != NULL;
	uint64_t	half_codes = (uint64_t) CUCKOO_PAGE_PAIRS << bits >> split;
	int			moved = 0;

	for (uint32_t b = 0; b < CUCKOO_PAGE_BUCKETS; b++)
	{
		for (int i = 0; i < CUCKOO_ENTRIES; i++)
		{
			CuckooClass class;
			CuckooInterval interval;
			CuckooChain chain;
			bool		is_begin;
			uint64_t	code;
			int			half;

			if (!CuckooGetEntry(from, b, i, bits, &class, &interval, &is_begin) || !is_begin)
				continue;
			code = (uint64_t) (class.even / 2) << bits | class.fingerprint;
			half = code >= half_codes;
			code = (code - half * half_codes) >> (bits - split - move->bits);
			chain = CuckooChainBegin(from, class);
			while (CuckooChainNext(&chain, &interval))
			{
				if (interval == CUCKOO_TOMBSTONE)
					continue;
				if (++moved > CUCKOO_PAGE_ENTRIES / 2 * 3 || !MoveInterval(move, half, code, interval))
					return false;
			}
		}
	}
	return true;
}
