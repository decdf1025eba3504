/*-------------------------------------------------------------------------
 *
 * page.h
 *	  The entries of one page of a cuckoo index.
 *
 * README, "A page", draws chains, joined intervals and tombstones.  One of the two
 * buckets of a fingerprint is even and identifies the pair, as in shape.h.  To move
 * an entry to its other bucket does not change its pair, so chains stay what they
 * are.
 *
 * Nothing here allocates memory or raises an error: it is called in critical
 * sections.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_INDEX_PAGE_H
#define CUCKOO_INDEX_PAGE_H

#include "../core/shape.h"

#define CUCKOO_PAGE_BUCKETS		340
#define CUCKOO_PAGE_PAIRS		(CUCKOO_PAGE_BUCKETS / 2)	/* 170 = 2 * 5 * 17 */
#define CUCKOO_PAGE_ENTRIES		(CUCKOO_PAGE_BUCKETS * CUCKOO_ENTRIES)

#ifndef CUCKOO_MAX_LINKS
#define CUCKOO_MAX_LINKS		128
#endif

/* A position is the number of a page of the table, and an offset in that. */
#define CUCKOO_OFFSET_BITS		9
#define CUCKOO_PAGE_POSITIONS	(UINT64_C(1) << CUCKOO_OFFSET_BITS)

/*
 * Intervals are numbered as the nodes of a binary tree in order: position p is
 * the leaf 2p + 1, and 2^k aligned positions are an odd multiple of 2^k.  The
 * lowest set bit is therefore the number of positions.  Numbers do not depend
 * on how many positions there are.
 */
typedef uint64_t CuckooInterval;

/* In memory; in an entry it is the last position, which is none of a row. */
#define CUCKOO_TOMBSTONE		((CuckooInterval) 0)

static inline CuckooInterval
CuckooIntervalOf(uint32_t block, uint32_t offset)
{
	return 2 * (block * CUCKOO_PAGE_POSITIONS + offset) + 1;
}

/* The number of positions: one if it is exact, more if it is joined */
static inline uint64_t
CuckooIntervalSize(CuckooInterval interval)
{
	return interval & (0 - interval);
}

static inline uint64_t
CuckooIntervalFirst(CuckooInterval interval)
{
	return (interval - CuckooIntervalSize(interval)) / 2;
}

/* Whether an interval, no tombstone, covers another: this is below it. */
static inline bool
CuckooIntervalCovers(CuckooInterval interval, CuckooInterval other)
{
	uint64_t	size = CuckooIntervalSize(interval);

	return other - (interval - size) - 1 < 2 * size - 1;
}

/* The number of the table's pages in which an interval has positions */
static inline uint64_t
CuckooIntervalPages(CuckooInterval interval)
{
	uint64_t	pages = CuckooIntervalSize(interval) / CUCKOO_PAGE_POSITIONS;

	return pages == 0 ? 1 : pages;
}

/* Whether two intervals are in the same page of the table. */
static inline bool
CuckooIntervalsSharePage(CuckooInterval a, CuckooInterval b)
{
	uint64_t	nodes = 2 * CUCKOO_PAGE_POSITIONS;	/* of a page, with 0 for larger ones */

	return a / nodes == b / nodes && a % nodes != 0 && b % nodes != 0;
}

/* The smallest interval that covers both. */
extern CuckooInterval CuckooIntervalJoin(CuckooInterval a, CuckooInterval b);

/*
 * Join sorted intervals to at most so many: first those that have small ones in
 * common, which add the least.  Returns how many there are.
 */
extern int	CuckooJoinIntervals(CuckooInterval *sorted, int count, int most);

#ifndef CUCKOO_ENTRY_BITS
#define CUCKOO_ENTRY_BITS		48
#endif

/*
 * The bits of fingerprints, which are the same in one page: what intervals for
 * the table's pages leave.  With five, the largest table has room.
 */
#define CUCKOO_MIN_FINGERPRINT_BITS	5
#define CUCKOO_MAX_FINGERPRINT_BITS	(CUCKOO_ENTRY_BITS - 2 - CUCKOO_OFFSET_BITS - 6)

/* The number of the table's pages that entries can name */
static inline uint64_t
CuckooPageSpan(int bits)
{
	return UINT64_C(1) << (CUCKOO_ENTRY_BITS - 2 - CUCKOO_OFFSET_BITS - bits);
}

/* As many bits as possible, at most so many, for so many pages of the table */
static inline int
CuckooBitsForPages(int bits, uint64_t pages)
{
	while (bits > CUCKOO_MIN_FINGERPRINT_BITS && CuckooPageSpan(bits) < pages)
		bits--;
	return bits;
}

/* Four entries */
typedef struct CuckooIndexBucket
{
	uint16_t	low[CUCKOO_ENTRIES];
	uint32_t	high[CUCKOO_ENTRIES];
} CuckooIndexBucket;

typedef struct CuckooEntries
{
	CuckooIndexBucket buckets[CUCKOO_PAGE_BUCKETS];
} CuckooEntries;

/* The pair of buckets and the fingerprint, which few other keys have */
typedef struct CuckooIndexClass
{
	uint32_t	even;
	uint32_t	fingerprint;
	int			bits;			/* of fingerprints in this page */
} CuckooIndexClass;

/* Where a hash is at some depth: see README, "Addresses" */
typedef struct CuckooIndexAddress
{
	uint64_t	prefix;
	uint32_t	pair;			/* of its page */
	uint64_t	rest;			/* begins with the fingerprint */
	int			depth;
} CuckooIndexAddress;

static inline CuckooIndexAddress
CuckooIndexAddressOf(uint32_t base_pages, uint64_t hash, int depth)
{
	uint64_t	base_pairs = (uint64_t) base_pages * CUCKOO_PAGE_PAIRS;
	uint64_t	fraction = hash * base_pairs;	/* modulo 2^64 */
	uint32_t	unused;
	uint64_t	pair = CuckooScale(base_pairs, hash, &unused);

	if (depth > 0)
		pair = pair << depth | fraction >> (64 - depth);
	return (CuckooIndexAddress) {pair / CUCKOO_PAGE_PAIRS, (uint32_t) (pair % CUCKOO_PAGE_PAIRS),
		fraction << depth, depth};
}

static inline CuckooIndexClass
CuckooIndexAddressClass(const CuckooIndexAddress *address, int bits)
{
	return (CuckooIndexClass) {2 * address->pair, (uint32_t) (address->rest >> (64 - bits)), bits};
}

/*
 * The code of a class in the whole index, which is below
 * N * 170 * 2^(depth + bits).  As depth and bits are 32 at most together, it is
 * less than 2^64.
 */
static inline uint64_t
CuckooIndexClassCode(uint64_t prefix, CuckooIndexClass class)
{
	return (prefix * CUCKOO_PAGE_PAIRS + class.even / 2) << class.bits | class.fingerprint;
}

/*
 * The first hash whose code, of so many bits for depth and fingerprint, is this
 * or a larger one; 0 if there is none.
 */
static inline uint64_t
CuckooIndexFirstHash(uint32_t base_pages, uint64_t code, int code_bits)
{
	uint64_t	base_pairs = (uint64_t) base_pages * CUCKOO_PAGE_PAIRS;
	uint64_t	whole = code >> code_bits;
	uint64_t	fraction = code_bits == 0 ? 0 : code << (64 - code_bits);
	uint64_t	upper = whole << 32 | fraction >> 32;
	uint64_t	lower = (upper % base_pairs) << 32 | (fraction & UINT32_MAX);

	/* Times 2^64 and divided by the pairs, in two steps below 2^64 */
	return whole >= base_pairs ? 0 :
		(upper / base_pairs << 32) + lower / base_pairs + (lower % base_pairs != 0);
}

/* The intervals of a class, one after another, and with tombstones */
typedef struct CuckooChain
{
	CuckooEntries *entries;
	CuckooIndexClass next;
	uint32_t	step;			/* in buckets */
	uint32_t	sum;			/* of the numbers of each pair's buckets */
	int			links;			/* pairs seen so far */
} CuckooChain;

extern CuckooChain CuckooChainBegin(CuckooEntries *entries, CuckooIndexClass class);
extern bool CuckooChainNext(CuckooChain *chain, CuckooInterval *interval);

typedef struct CuckooEntry
{
	CuckooIndexClass class;
	CuckooInterval interval;
	bool		is_begin;		/* the class is that of a key */
} CuckooEntry;

/* The entry in a slot, four for each bucket; false if there is none. */
extern bool CuckooGetEntry(const CuckooEntries *entries, uint32_t slot, int bits,
						   CuckooEntry *entry);

/* The slots that an addition has changed */
#define CUCKOO_MAX_TOUCHED		32

typedef struct CuckooTouched
{
	int			count;			/* perhaps more than are listed */
	int			links;			/* that the chain had; 0 if one was a tombstone */
	uint16_t	slot[CUCKOO_MAX_TOUCHED];
} CuckooTouched;

/*
 * Add an interval to a class, and list what changes, which may be nothing.  If
 * there is no room, false, and the page is left as it was.  Three in one page of the
 * table are joined only if that is allowed.
 */
extern bool CuckooEntriesAdd(CuckooEntries *entries, CuckooIndexClass class,
							 CuckooInterval interval, bool joins_in_page,
							 CuckooTouched *touched);

/* The number of entries, with tombstones */
extern int	CuckooEntriesCount(const CuckooEntries *entries);

/*
 * Add what lookups of each class find to other pages: to one with shorter
 * fingerprints, or if right is not NULL, to the halves of a page that splits.
 * Their pairs are those of half as many hashes: the first bit of a fingerprint
 * becomes the last bit of the pair's number.
 *
 * An interval is added several times where chains have joined: false if that
 * makes so many that there is no room.
 */
extern bool CuckooEntriesMove(CuckooEntries *from, int bits, CuckooEntries *left,
							  CuckooEntries *right, int new_bits, bool joins_in_page);

/*
 * What an entry's interval becomes: itself, a smaller one that it covers, or
 * CUCKOO_TOMBSTONE, if it has no rows.
 */
typedef CuckooInterval (*CuckooNewInterval) (const CuckooEntry *entry, void *arg);

typedef struct CuckooEntriesCounts
{
	int			entries;		/* that remain, without tombstones */
	int			removed;
	int			changed;		/* and removed */
} CuckooEntriesCounts;

/* Replace intervals, and remove tombstones that are no longer needed. */
extern CuckooEntriesCounts CuckooEntriesReplace(CuckooEntries *entries, int bits,
												CuckooNewInterval new_interval, void *arg);

#endif							/* CUCKOO_INDEX_PAGE_H */
