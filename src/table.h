/*-------------------------------------------------------------------------
 *
 * table.h
 *	  One cuckoo hash table of fingerprints: geometry, lookup, insert, remove.
 *
 * B. Fan, D. G. Andersen, M. Kaminsky, M. D. Mitzenmacher: "Cuckoo Filter:
 * Practically Better Than Bloom", CoNEXT 2014.
 *
 * A table is an array of blocks of equal size, a block an even number of
 * buckets, a bucket four entries.  A key's two candidate buckets lie in one
 * block, so that a build works in cache.  All that a table knows of a key is
 * its class: the pair of candidate buckets and the fingerprint.
 *
 * This file is part of the core and needs nothing of PostgreSQL.  Nothing
 * here allocates: the buckets belong to the caller.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_TABLE_H
#define CUCKOO_TABLE_H

#include <stddef.h>

#include "bucket.h"

/* Buckets a block: two at least, and about 200 kB at most. */
#define CUCKOO_MIN_BUCKETS	2
#define CUCKOO_MAX_BUCKETS	32768

/*
 * Copies of one class a table holds at most: the entries of its two buckets.
 * The eighth sticks there.
 */
#define CUCKOO_MAX_COPIES	(2 * CUCKOO_ENTRIES)

/*
 * Entries moved by one insertion at most.  With one step of look-ahead that
 * is ample at the design load; see CuckooShapeFor in build.h.
 */
#define CUCKOO_MAX_KICKS	2000

/*
 * Called from time to time in what takes long, so that the caller can give
 * way or give up (by a longjmp); may be NULL.
 */
typedef void (*CuckooPause) (void);

/* What is copied or zeroed without a pause: a large value takes up to a second. */
#define CUCKOO_PAUSE_BYTES	((size_t) 16 * 1024 * 1024)

/* What two tables must share for their classes to be the same. */
typedef struct CuckooShape
{
	uint32_t	blocks;			/* at least 1 */
	uint32_t	buckets;		/* a block: even, 2 to 32,768 */
	uint8_t		bits;			/* of a fingerprint: 5 to 32 */
	uint8_t		layout;			/* CuckooLayout */
} CuckooShape;

typedef struct CuckooTable
{
	CuckooShape shape;
	CuckooCode	code;			/* follows from the shape */
	uint64_t	items;			/* entries filled */
	uint8_t    *data;			/* CuckooShapeBytes of buckets, then at least
								 * CUCKOO_TAIL_BYTES more of readable memory */
} CuckooTable;

/* Where a table keeps a key. */
typedef struct CuckooPlace
{
	uint64_t	base;			/* number of the block's first bucket */
	uint32_t	first;			/* candidate buckets within the block, never */
	uint32_t	second;			/* the same one */
	uint32_t	fingerprint;	/* 1 to 2^f - 1 */
} CuckooPlace;

typedef enum CuckooInsertResult
{
	CUCKOO_INSERTED,
	CUCKOO_STUCK,				/* the class had eight copies: it is in */
	CUCKOO_FULL					/* no room found; the table is as it was */
} CuckooInsertResult;

typedef enum CuckooRemoveResult
{
	CUCKOO_REMOVED,
	CUCKOO_ABSENT,				/* nothing to remove; the table is as it was */
	CUCKOO_KEPT					/* present, but not removable with safety; as
								 * it was */
} CuckooRemoveResult;

/* Buckets, entries and bytes of a shape (which must be valid). */
static inline uint64_t
CuckooShapeBuckets(const CuckooShape *shape)
{
	return (uint64_t) shape->blocks * shape->buckets;
}

static inline uint64_t
CuckooShapeEntries(const CuckooShape *shape)
{
	return CuckooShapeBuckets(shape) * CUCKOO_ENTRIES;
}

/* A block is even in buckets and so a whole number of bytes. */
static inline uint64_t
CuckooShapeBytes(const CuckooShape *shape)
{
	return CuckooShapeBuckets(shape) *
		(shape->bits - (shape->layout == CUCKOO_SEMISORTED)) / 2;
}

/* Whether tables of these shapes have the same classes; the layout may differ. */
static inline bool
CuckooSameClasses(const CuckooShape *a, const CuckooShape *b)
{
	return a->blocks == b->blocks && a->buckets == b->buckets && a->bits == b->bits;
}

static inline bool
CuckooShapeEqual(const CuckooShape *a, const CuckooShape *b)
{
	return CuckooSameClasses(a, b) && a->layout == b->layout;
}

static inline void
CuckooTableInit(CuckooTable *table, const CuckooShape *shape, uint64_t items,
				uint8_t *data)
{
	table->shape = *shape;
	CuckooCodeInit(&table->code, shape->bits, (CuckooLayout) shape->layout);
	table->items = items;
	table->data = data;
}

/*
 * The sum modulo B of a class's two buckets: odd, so that in a block of an
 * even number of buckets they are never the same one.
 *
 * The fingerprint goes through the finalizer of MurmurHash3, because a bare
 * multiplication sends neighbouring fingerprints to related buckets: 79 of
 * 10M keys then found no place, with this none.
 */
static inline uint32_t
CuckooBucketSum(uint32_t fingerprint, uint32_t buckets)
{
	uint32_t	h = fingerprint;

	h ^= h >> 16;
	h *= UINT32_C(0x85EBCA6B);
	h ^= h >> 13;
	h *= UINT32_C(0xC2B2AE35);
	h ^= h >> 16;
	return (uint32_t) ((uint64_t) h * buckets >> 32) | 1;
}

/* The other candidate bucket of a fingerprint that may stand in this one. */
static inline uint32_t
CuckooOtherBucket(uint32_t fingerprint, uint32_t bucket, uint32_t buckets)
{
	uint32_t	sum = CuckooBucketSum(fingerprint, buckets);

	return sum >= bucket ? sum - bucket : sum + buckets - bucket;
}

/* The block of a hash: ascending hashes have ascending blocks. */
static inline uint32_t
CuckooBlockOf(const CuckooShape *shape, uint64_t hash)
{
	return (uint32_t) ((hash >> 32) * shape->blocks >> 32);
}

/*
 * From a hash to its place.  The high 32 bits choose the block by
 * multiply-shift, and what that leaves the first bucket; the low 32 the
 * fingerprint, evenly over 1 .. 2^f - 1.  ("Low bits, and 1 instead of 0"
 * would make one fingerprint twice as likely and raise the rate.)
 */
static inline CuckooPlace
CuckooLocate(const CuckooShape *shape, uint64_t hash)
{
	uint64_t	scaled = (hash >> 32) * shape->blocks;
	uint64_t	low = hash & UINT32_C(0xFFFFFFFF);
	CuckooPlace place;

	place.base = (scaled >> 32) * shape->buckets;
	place.first = (uint32_t) ((scaled & UINT32_C(0xFFFFFFFF)) * shape->buckets >> 32);
	place.fingerprint = 1 + (uint32_t) (low * ((UINT64_C(1) << shape->bits) - 1) >> 32);
	place.second = CuckooOtherBucket(place.fingerprint, place.first, shape->buckets);
	return place;
}

/* Copies of the key's class: 0 to 8. */
extern int	CuckooTableCount(const CuckooTable *table, uint64_t hash);
extern int	CuckooTableCountAt(const CuckooTable *table, const CuckooPlace *place);

/*
 * Whether the table may hold the key.  Never false for a key added and not
 * removed; true for another with the probability of CuckooTableRate.
 */
static inline bool
CuckooTableContains(const CuckooTable *table, uint64_t hash)
{
	const CuckooCode *code = &table->code;
	CuckooPlace place = CuckooLocate(&table->shape, hash);
	uint64_t	bits;
	uint64_t	second;
	uint64_t	matches;
	uint64_t	in_second;
	uint64_t	only_second;

	if (!CuckooIsNarrow(code))
		return CuckooTableCount(table, hash) > 0;

	/*
	 * Most questions to a filter are answered "no", and most of those by the
	 * high parts alone.  Both buckets are read before either is judged: the
	 * two loads overlap, and a "yes" does not hang on which of them it is.
	 */
	bits = CuckooReadNarrow(code, table->data, place.base + place.first);
	second = CuckooReadNarrow(code, table->data, place.base + place.second);
	matches = CuckooMatchHigh(code, bits, place.fingerprint);
	in_second = CuckooMatchHigh(code, second, place.fingerprint);
	if ((matches | in_second) == 0)
		return false;
	if (code->low_bits == 0)
		return true;

	/* The bucket with the match, without asking which. */
	only_second = -(uint64_t) (matches == 0);
	bits ^= (bits ^ second) & only_second;
	matches ^= (matches ^ in_second) & only_second;
	return CuckooMatchLow(code, bits, matches, place.fingerprint) ||
		CuckooTableCount(table, hash) > 0;
}

/* Begin to load what a question about the key will read. */
static inline void
CuckooTablePrefetch(const CuckooTable *table, uint64_t hash)
{
#if defined(__GNUC__) || defined(__clang__)
	CuckooPlace place = CuckooLocate(&table->shape, hash);
	uint64_t	nibbles = table->code.nibbles;

	__builtin_prefetch(table->data + ((place.base + place.first) * nibbles >> 1));
	__builtin_prefetch(table->data + ((place.base + place.second) * nibbles >> 1));
#else
	(void) table;
	(void) hash;
#endif
}

/*
 * Where a bucket lies in its table's bytes, and how many bytes it touches;
 * and the copies of a fingerprint in it when only those bytes are at hand, with
 * CUCKOO_SPAN_BYTES readable from there.
 */
#define CUCKOO_SPAN_BYTES	24
extern uint64_t CuckooBucketSpan(const CuckooTable *table, uint64_t number,
								 int *bytes);
extern int	CuckooBucketCount(const CuckooTable *table, uint64_t number,
							  const uint8_t *span, uint32_t fingerprint);

/*
 * Add one copy of a key: to its first bucket, its second, or by moving other
 * entries to their other buckets, max_kicks of them at most (0: only where one
 * step makes room).  Deterministic: the walk follows from the hash.
 */
extern CuckooInsertResult CuckooTableInsert(CuckooTable *table, uint64_t hash,
											int max_kicks);

/* The same for a class whose hash is not known, from a table of that shape. */
extern CuckooInsertResult CuckooTableInsertAt(CuckooTable *table,
											  const CuckooPlace *place);

/*
 * Take one copy of a key's class out.  Safe only for a key that was added;
 * CUCKOO_KEPT where the class has eight copies, of which some may stand for
 * more.
 */
extern CuckooRemoveResult CuckooTableRemove(CuckooTable *table, uint64_t hash);

/* Take all copies of a class out; returns how many there were. */
extern int	CuckooTableTakeClass(CuckooTable *table, const CuckooPlace *place);

/*
 * A class with eight copies among the buckets from number *bucket on, which
 * moves behind it; false: there is none.
 */
extern bool CuckooTableNextStuck(const CuckooTable *table, uint64_t *bucket,
								 CuckooPlace *place, CuckooPause pause);

/* Copy a table of the same classes, into the target's layout. */
extern void CuckooTableCopy(CuckooTable *target, const CuckooTable *source,
							CuckooPause pause);

/*
 * The class that should leave the table, so that a key that finds no room has
 * some; see CuckooLeaving.
 */
extern CuckooPlace CuckooTableLeaving(const CuckooTable *table, uint64_t hash);

/*
 * The probability, at the present load, that the table seems to hold a key it
 * does not: 1 - (1 - 1/(2^f - 1))^(8 items/entries).  (The paper's section
 * 5.1 with the fingerprints that can occur.)
 */
extern double CuckooTableRate(const CuckooShape *shape, uint64_t items);

/*
 * Check the buckets of a table that comes from outside: every one in its
 * canonical order.  Counts the entries filled into *items; returns false at
 * the first bad bucket, its number in *bad.
 */
extern bool CuckooTableCheck(const CuckooTable *table, uint64_t *items,
							 uint64_t *bad, CuckooPause pause);

#endif							/* CUCKOO_TABLE_H */
