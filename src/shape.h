/*-------------------------------------------------------------------------
 *
 * shape.h
 *	  The geometry of a table: from a hash to a class and its buckets.
 *
 * B. Fan, D. G. Andersen, M. Kaminsky, M. D. Mitzenmacher: "Cuckoo Filter:
 * Practically Better Than Bloom", CoNEXT 2014.
 *
 * A table has N blocks of B buckets of four entries, B even.  Of a key it
 * knows the fingerprint and the pair of candidate buckets, which lie in one
 * block so that a build works in cache.  Pair and fingerprint together are
 * the key's class.
 *
 * One bucket of each pair is even and one odd, so the even one names the
 * pair: its number among the P = N B / 2 even buckets is q.  The hash, taken
 * as a fraction of 2^64 and multiplied by P, gives q as its whole part and the
 * fingerprint as the first bits of the rest.  The code of a class is q 2^f +
 * fingerprint.  Codes ascend with hashes, and blocks with codes: hashes are
 * sorted once, and that order serves everything.
 *
 * This file is part of the core and needs nothing of PostgreSQL.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_SHAPE_H
#define CUCKOO_SHAPE_H

#include "bytes.h"

#define CUCKOO_ENTRIES		4	/* per bucket */

#define CUCKOO_MIN_BITS		5	/* of a fingerprint */
#define CUCKOO_MAX_BITS		32

/* Buckets per block: two at least, and about 200 kB at most. */
#define CUCKOO_MIN_BUCKETS	2
#define CUCKOO_MAX_BUCKETS	32768

/*
 * Buckets per table: so many that codes stay below 2^60, with room for a count
 * of copies above them.
 */
#define CUCKOO_MAX_TABLE_BUCKETS	UINT64_C(393216000)

/*
 * Copies of a class that a table holds at most: the entries of its two
 * buckets.  The eighth stands for all further ones and is never removed.
 */
#define CUCKOO_MAX_COPIES	(2 * CUCKOO_ENTRIES)

/* Items per table: they are counted in 32 bits. */
#define CUCKOO_MAX_ITEMS	UINT64_C(0xFFFFFFFF)

/*
 * Rates that fingerprints of at most 32 bits can keep: at 2e-8 the third table
 * of a growing filter has 32.  The casts drop what constants have beyond a
 * double on machines that compute with more.
 */
#define CUCKOO_MIN_FPR		((double) 2e-8)
#define CUCKOO_MAX_FPR		((double) 0.1)

/* The three tables of a filter of unknown capacity, by keys. */
#define CUCKOO_FIRST_KEYS	(UINT64_C(1) << 20)
#define CUCKOO_SECOND_KEYS	(UINT64_C(1) << 25)
#define CUCKOO_THIRD_KEYS	(UINT64_C(1) << 30)

/* Tables of one shape have the same classes. */
typedef struct CuckooShape
{
	uint32_t	blocks;			/* N, at least 1 */
	uint32_t	buckets;		/* B, per block: even, 2 to 32,768 */
	uint8_t		bits;			/* f, of a fingerprint: 5 to 32 */
} CuckooShape;

/* Where a dense table keeps a class. */
typedef struct CuckooPlace
{
	uint64_t	even;			/* number of the even bucket in the table */
	uint64_t	base;			/* number of the block's first bucket */
	uint32_t	first;			/* the even bucket, within the block */
	uint32_t	second;			/* the odd one */
	uint32_t	fingerprint;	/* 1 to 2^f - 1 */
} CuckooPlace;

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

/* P, the number of even buckets. */
static inline uint64_t
CuckooShapePairs(const CuckooShape *shape)
{
	return (uint64_t) shape->blocks * (shape->buckets / 2);
}

/* The largest fingerprint, 2^f - 1, which is also their number. */
static inline uint32_t
CuckooShapeFingerprints(const CuckooShape *shape)
{
	return (uint32_t) ((UINT64_C(1) << shape->bits) - 1);
}

/* All codes are below this, U = P 2^f < 2^60. */
static inline uint64_t
CuckooShapeCodes(const CuckooShape *shape)
{
	return CuckooShapePairs(shape) << shape->bits;
}

/*
 * Keys that a table of this shape is for.  A load of 0.965 from 10,000 keys
 * on: no build of 117 up to 60M keys failed there; at 0.97 one in 15 of 10M
 * did.  Smaller tables vary more, and have 0.9575.
 */
static inline uint64_t
CuckooShapeCapacity(const CuckooShape *shape)
{
	uint64_t	entries = CuckooShapeEntries(shape);

	return CuckooShapeBuckets(shape) >= 2592 ? entries * 193 / 200 : entries * 383 / 400;
}

/* Whether tables of these shapes have the same classes. */
static inline bool
CuckooSameShape(const CuckooShape *a, const CuckooShape *b)
{
	return a->blocks == b->blocks && a->buckets == b->buckets && a->bits == b->bits;
}

/*
 * The order in which a filter keeps its tables: by size, then bits.  Negative,
 * zero or positive, zero only for the same shape.
 */
extern int	CuckooShapeOrder(const CuckooShape *a, const CuckooShape *b);

/*
 * Bits of a fingerprint that keep a false-positive rate of fpr (2e-8 to 0.1)
 * in a table at its capacity: the fewest with 8 * 0.965 / (2^f - 1) <= fpr, 7
 * to 29.
 */
extern int	CuckooBitsFor(double fpr);

/*
 * The shape for so many keys.  False if no table can be so large; then *shape
 * is the largest one.
 */
extern bool CuckooShapeFor(CuckooShape *shape, uint64_t keys, int bits);

/*
 * The probability that a table with so many items reports a key that was never
 * added: 1 - (1 - 1/(2^f - 1))^(8 items/entries).  (The paper's section 5.1,
 * with the fingerprints that can occur.)
 */
extern double CuckooShapeRate(const CuckooShape *shape, uint64_t items);

/*
 * The sum modulo B of a class's two buckets: odd, so one is even, one odd.
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

/* The other candidate bucket of a fingerprint, within the block. */
static inline uint32_t
CuckooOtherBucket(uint32_t fingerprint, uint32_t bucket, uint32_t buckets)
{
	uint32_t	other = CuckooBucketSum(fingerprint, buckets) - bucket;

	/* Without a branch, which would be mispredicted half the time. */
	return other + (buckets & (0 - (other >> 31)));
}

/*
 * A hash scaled down to 0 .. count - 1, by multiply-shift, in the high 32
 * bits, and the first 32 bits of the remainder in the low ones: count * hash
 * / 2^32.  count is below 2^32.
 */
static inline uint64_t
CuckooScale(uint64_t count, uint64_t hash)
{
#ifdef CUCKOO_INT128
	__extension__ typedef unsigned __int128 Wide;

	return (uint64_t) ((Wide) hash * count >> 32);
#else
	return (hash >> 32) * count + ((hash & UINT32_C(0xFFFFFFFF)) * count >> 32);
#endif
}

/*
 * The fingerprint from what scaling has left of a hash, evenly over 1 .. 2^f -
 * 1.  ("Low bits, and 1 instead of 0" would make one fingerprint twice as
 * likely and raise the rate.  The low 32 bits of the hash itself would not
 * ascend with it.)
 */
static inline uint32_t
CuckooScaledFingerprint(uint32_t fingerprints, uint64_t scaled)
{
	return 1 + (uint32_t) ((scaled & UINT32_C(0xFFFFFFFF)) * fingerprints >> 32);
}

/* The code of a hash's class, from what follows from the shape. */
static inline uint64_t
CuckooScaledCode(uint64_t pairs, uint32_t fingerprints, int bits, uint64_t hash)
{
	uint64_t	scaled = CuckooScale(pairs, hash);

	return (scaled >> 32) << bits | CuckooScaledFingerprint(fingerprints, scaled);
}

static inline uint64_t
CuckooCodeOf(const CuckooShape *shape, uint64_t hash)
{
	return CuckooScaledCode(CuckooShapePairs(shape), CuckooShapeFingerprints(shape),
							shape->bits, hash);
}

/*
 * The place of a hash.  The block could be had by dividing the pair by B / 2,
 * but is the hash scaled to N as well.
 */
static inline CuckooPlace
CuckooScaledPlace(const CuckooShape *shape, uint64_t pairs, uint32_t fingerprints,
				  uint64_t hash)
{
	uint64_t	scaled = CuckooScale(pairs, hash);
	CuckooPlace place;

	place.even = 2 * (scaled >> 32);
	place.base = (CuckooScale(shape->blocks, hash) >> 32) * shape->buckets;
	place.first = (uint32_t) (place.even - place.base);
	place.fingerprint = CuckooScaledFingerprint(fingerprints, scaled);
	place.second = CuckooOtherBucket(place.fingerprint, place.first, shape->buckets);
	return place;
}

static inline CuckooPlace
CuckooPlaceOf(const CuckooShape *shape, uint64_t hash)
{
	return CuckooScaledPlace(shape, CuckooShapePairs(shape), CuckooShapeFingerprints(shape),
							 hash);
}

/* The place of a class. */
static inline CuckooPlace
CuckooPlaceOfCode(const CuckooShape *shape, uint64_t code)
{
	CuckooPlace place;

	place.even = 2 * (code >> shape->bits);
	place.base = place.even / shape->buckets * shape->buckets;
	place.first = (uint32_t) (place.even - place.base);
	place.fingerprint = (uint32_t) code & CuckooShapeFingerprints(shape);
	place.second = CuckooOtherBucket(place.fingerprint, place.first, shape->buckets);
	return place;
}

#endif							/* CUCKOO_SHAPE_H */
