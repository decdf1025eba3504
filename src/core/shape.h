/*-------------------------------------------------------------------------
 *
 * shape.h
 *	  The geometry of a table: from a hash to a class and its buckets.
 *
 * B. Fan, D. G. Andersen, M. Kaminsky, M. D. Mitzenmacher: "Cuckoo Filter:
 * Practically Better Than Bloom", CoNEXT 2014.
 *
 * A table has N blocks of B buckets of four entries; B is even.  It stores only
 * the class of a key: its fingerprint and its pair of candidate buckets.  Both
 * buckets are in one block, so that a build works in cache.
 *
 * One bucket of each pair is even and the other is odd, so the even one
 * identifies the pair.  Its number among the P = N B / 2 even buckets is q.
 * The hash is taken as a fraction of 2^64 and multiplied by P.  The whole part
 * of the product is q, and the first bits of the rest are scaled to the
 * fingerprint.  The code of a class is q 2^f + fingerprint.
 *
 * Codes ascend with hashes, and blocks ascend with codes.  Hashes therefore
 * need to be sorted only once.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_SHAPE_H
#define CUCKOO_SHAPE_H

#include "port.h"

#define CUCKOO_ENTRIES		4	/* per bucket */

#define CUCKOO_MIN_BITS		5	/* of a fingerprint */
#define CUCKOO_MAX_BITS		32

/* Buckets per block.  A block with 13-bit fingerprints is at most 192 kB. */
#define CUCKOO_MIN_BUCKETS	2
#define CUCKOO_MAX_BUCKETS	32768

/*
 * Buckets per table, at most: with more, no dense table would fit in a value,
 * even with the shortest fingerprints.  This keeps codes below 2^60.
 */
#define CUCKOO_MAX_TABLE_BUCKETS	UINT64_C(393216000)

/* The capacity of the largest table: far more keys than fit in a value. */
#define CUCKOO_MAX_CAPACITY		(CUCKOO_MAX_TABLE_BUCKETS * 193 / 50)

/*
 * Copies of a class in one table, at most: the entries of its two buckets.
 * Further copies are not counted, so a class with eight is never removed.
 */
#define CUCKOO_MAX_COPIES	(2 * CUCKOO_ENTRIES)

/* Items per table: they are counted in 32 bits. */
#define CUCKOO_MAX_ITEMS	UINT64_C(0xFFFFFFFF)

/*
 * The target rates that fingerprints of at most 32 bits can keep.  At 2e-8 the
 * third table of a filter of unknown capacity has 32 bits.  Some machines
 * compute constants with more precision than a double has; the casts drop the
 * excess.
 */
#define CUCKOO_MIN_FPR		((double) 2e-8)
#define CUCKOO_MAX_FPR		((double) 0.1)

/* The three tables of a filter of unknown capacity: the keys each is for. */
#define CUCKOO_FIRST_KEYS	(UINT64_C(1) << 20)
#define CUCKOO_SECOND_KEYS	(UINT64_C(1) << 25)
#define CUCKOO_THIRD_KEYS	(UINT64_C(1) << 30)

/* Tables of one shape have the same classes. */
typedef struct CuckooShape
{
	uint32_t	blocks;			/* N, at least 1 */
	uint32_t	buckets;		/* B, per block: even, 2 to 32,768 */
	uint8_t		bits;			/* f, of a fingerprint: 5 to 32 */
	uint32_t	fingerprints;	/* how many, and the largest: 2^f - 1 */
	uint64_t	pairs;			/* P, the number of even buckets */
} CuckooShape;

static inline CuckooShape
CuckooShapeOf(uint32_t blocks, uint32_t buckets, int bits)
{
	return (CuckooShape) {
		.blocks = blocks,
		.buckets = buckets,
		.bits = (uint8_t) bits,
		.fingerprints = (uint32_t) ((UINT64_C(1) << bits) - 1),
		.pairs = (uint64_t) blocks * (buckets / 2)
	};
}

/* Where a dense table keeps a class. */
typedef struct CuckooPlace
{
	uint64_t	even;			/* number of the even bucket in the table */
	uint64_t	base;			/* number of the block's first bucket */
	uint32_t	i1;				/* number of the even bucket in the block */
	uint32_t	i2;				/* number of the odd one, its alternate */
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

/* The number of classes, P (2^f - 1). */
static inline uint64_t
CuckooShapeClasses(const CuckooShape *shape)
{
	return shape->pairs * shape->fingerprints;
}

/* U = P 2^f < 2^60: all codes are below this. */
static inline uint64_t
CuckooShapeCodes(const CuckooShape *shape)
{
	return shape->pairs << shape->bits;
}

/*
 * The number of keys that a table of this shape is for.  The load is 0.965 from
 * 10,000 keys on.  At this load none of 117 builds of up to 60 million keys
 * failed; at 0.97 one in 15 builds of 10 million keys did.  Smaller tables vary
 * more, and have a load of 0.9575.
 */
static inline uint64_t
CuckooShapeCapacity(const CuckooShape *shape)
{
	uint64_t	entries = CuckooShapeEntries(shape);

	return CuckooShapeBuckets(shape) >= 2592 ? entries * 193 / 200 : entries * 383 / 400;
}

/*
 * The order in which a filter keeps its tables: by size, then bits.  The result
 * is negative, zero or positive.  It is zero only if the shapes are the same.
 */
extern int	CuckooShapeOrder(const CuckooShape *a, const CuckooShape *b);

/*
 * The bits that a fingerprint needs so that a table at its capacity keeps the
 * target rate fpr, 2e-8 to 0.1.  This is the smallest f with
 * 8 * 0.965 / (2^f - 1) <= fpr, 7 to 29.
 */
extern int	CuckooBitsFor(double fpr);

/*
 * The shape of a table for a number of keys.  Returns false if no table can be
 * so large; *shape is then the largest one.
 */
extern bool CuckooShapeFor(CuckooShape *shape, uint64_t keys, int bits);

/*
 * The fraction of absent keys that a table with this number of items reports as
 * present: 1 - (1 - 1/(2^f - 1))^(8 items/entries).  This is the formula of the
 * paper's section 5.1 for fingerprints that cannot be 0.
 */
extern double CuckooShapeRate(const CuckooShape *shape, uint64_t items);

/*
 * The sum, modulo B, of the numbers of a class's two buckets.  It is odd, so
 * one bucket is even and the other is odd.
 *
 * The fingerprint is mixed by the finalizer of MurmurHash3.  With a
 * multiplication alone, neighbouring fingerprints have related buckets: 79 of
 * 10 million keys then found no room, with the finalizer none.
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

/* The other bucket of a pair, modulo B, given the sum of both. */
static inline uint32_t
CuckooOtherBucket(uint32_t sum, uint32_t bucket, uint32_t buckets)
{
	uint32_t	other = sum - bucket;

	/* Avoid a branch, which would be mispredicted half the time. */
	return other + (buckets & (0 - (other >> 31)));
}

/* The alternate bucket of a fingerprint, within the block. */
static inline uint32_t
CuckooAlternateBucket(uint32_t fingerprint, uint32_t bucket, uint32_t buckets)
{
	return CuckooOtherBucket(CuckooBucketSum(fingerprint, buckets), bucket, buckets);
}

/*
 * Scale a hash to 0 .. count - 1: the result is the whole part of
 * count * hash / 2^64.  Sets *rest to the first 32 bits of the fraction.  count
 * is below 2^32.
 */
static inline uint64_t
CuckooScale(uint64_t count, uint64_t hash, uint32_t *rest)
{
#ifdef CUCKOO_INT128
	__extension__ typedef unsigned __int128 Wide;
	Wide		product = (Wide) hash * count;

	*rest = (uint32_t) ((uint64_t) product >> 32);
	return (uint64_t) (product >> 64);
#else
	uint64_t	scaled = (hash >> 32) * count + ((hash & UINT32_C(0xFFFFFFFF)) * count >> 32);

	*rest = (uint32_t) scaled;
	return scaled >> 32;
#endif
}

/*
 * The fingerprint, from the rest that CuckooScale leaves.  All values from 1 to
 * 2^f - 1 are equally likely.  (To take the lowest f bits, and 1 instead of 0,
 * would make the fingerprint 1 twice as likely and raise the rate.  A
 * fingerprint from the low 32 bits of the hash would not ascend with the hash.)
 */
static inline uint32_t
CuckooScaledFingerprint(const CuckooShape *shape, uint32_t rest)
{
	return 1 + (uint32_t) ((uint64_t) rest * shape->fingerprints >> 32);
}

/* The code of a hash's class. */
static inline uint64_t
CuckooCodeOf(const CuckooShape *shape, uint64_t hash)
{
	uint32_t	rest;
	uint64_t	pair = CuckooScale(shape->pairs, hash, &rest);

	return pair << shape->bits | CuckooScaledFingerprint(shape, rest);
}

/*
 * The smallest hash with this code or a larger one; 2^64 - 1 if there is none.
 * The code after a pair's last fingerprint is the next pair's 0.
 */
extern uint64_t CuckooFirstHash(const CuckooShape *shape, uint64_t code);

/*
 * The place of a hash.  The block is the hash scaled to N, which is the same as
 * the pair divided by B / 2 and needs no division.
 */
CUCKOO_INLINE CuckooPlace
CuckooPlaceOf(const CuckooShape *shape, uint64_t hash)
{
	CuckooPlace place;
	uint32_t	rest;
	uint32_t	unused;

	place.even = 2 * CuckooScale(shape->pairs, hash, &rest);
	place.base = CuckooScale(shape->blocks, hash, &unused) * shape->buckets;
	place.i1 = (uint32_t) (place.even - place.base);
	place.fingerprint = CuckooScaledFingerprint(shape, rest);
	place.i2 = CuckooAlternateBucket(place.fingerprint, place.i1, shape->buckets);
	return place;
}

#endif							/* CUCKOO_SHAPE_H */
