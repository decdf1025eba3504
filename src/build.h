/*-------------------------------------------------------------------------
 *
 * build.h
 *	  Building a table from a list of hashes: its size, sorting, the blocks.
 *
 * A build goes block by block: the classes of a block are sorted and placed
 * in an unpacked copy of the block that fits in the processor's cache, and
 * every bucket is encoded once at the end.
 *
 * What a block becomes depends on the multiset of its classes and on nothing
 * else, neither on the hashes behind them nor on their order.  Union and merge
 * (combine.h) know only the classes, and go the same way: so, while the result
 * is one table within its design load, they are commutative and associative,
 * and the merge of disjoint parts is the filter built from the whole, byte for
 * byte.
 *
 * This file is part of the core and needs nothing of PostgreSQL.  Memory
 * comes from the caller.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_BUILD_H
#define CUCKOO_BUILD_H

#include "table.h"

/*
 * Load a table is designed for, entries filled / entries: 3.83 keys a bucket.
 * Of 3,000 builds of 5,000 to 20,000 keys, and of 500 of 65,536 at 0.965,
 * none failed; what fails is built a little larger.  The second is the load a
 * table may reach when it is filled by adding one key at a time.
 */
#define CUCKOO_DESIGN_LOAD	0.9575
#define CUCKOO_FULL_LOAD	0.98

/* Keys a table holds at its design load. */
static inline uint64_t
CuckooShapeCapacity(const CuckooShape *shape)
{
	return CuckooShapeEntries(shape) * 383 / 400;
}

/*
 * Bits of a fingerprint for a false-positive rate at a load: the fewest with
 * 8 load / (2^f - 1) <= fpr, and extra_bits more; 5 to 32.  A rate that 32
 * bits cannot give gets 32.
 */
extern int	CuckooBitsFor(double fpr, double load, int extra_bits);

/*
 * The shape that holds so many keys at the design load, on the given attempt:
 * 0 for the size expected to do, each further one larger, for a build that
 * found no room.  False where the shape would have more than 2^32 - 1 blocks.
 */
extern bool CuckooShapeFor(CuckooShape *shape, uint64_t keys, int bits,
						   CuckooLayout layout, int attempt);

/*
 * Attempts worth making.  The second table is 1 % larger, the last more than
 * twice as large: hashes that do not fit there were made to collide.
 */
#define CUCKOO_MAX_ATTEMPTS 8

/*
 * Sort hashes in ascending order; scratch has room for as many.  Radix sort:
 * hashes are evenly spread, and when they are not it is still linear.  Of many
 * hashes pause, if not NULL, is called before every 65,536 of each pass.
 */
extern void CuckooSortHashes(uint64_t *hashes, uint64_t *scratch, size_t count,
							 CuckooPause pause);

/*
 * Drop repetitions from sorted hashes; returns how many are left.  Pauses as
 * sorting does.
 */
extern size_t CuckooUniqueHashes(uint64_t *hashes, size_t count, CuckooPause pause);

/*
 * Bytes of working memory that building or combining one block takes, 8-byte
 * aligned: room for twice as many classes as a block holds, twice, and the
 * unpacked block.
 */
static inline size_t
CuckooWorkspaceBytes(const CuckooShape *shape)
{
	return (size_t) shape->buckets *
		(4 * CUCKOO_ENTRIES * sizeof(uint64_t) + sizeof(uint32_t[CUCKOO_ENTRIES]) + 1);
}

/*
 * Build one block of a table from the sorted hashes that fall into it, which
 * are the first ones of those given; a hash given twice gets two copies.
 * Blocks are built in ascending order, each once.  Adds to table->items;
 * returns how many hashes were taken, and in *ok whether all found room.  If
 * not, the table is to be thrown away.
 *
 * Same classes, shape and seed: same bytes.
 */
extern size_t CuckooBuildBlock(CuckooTable *table, uint32_t block,
							   const uint64_t *hashes, size_t count,
							   void *workspace, uint64_t seed, bool *ok);

/*
 * For combine.c: the classes of one block as they are sorted and placed.
 *
 * A class is a number that ascends by its lower bucket, then its fingerprint;
 * the other bucket follows from these two, but is carried along, because it
 * is needed again.  The lowest bit is free for who gathers classes.
 */
typedef struct CuckooClasses
{
	uint64_t   *list;			/* room for CuckooClassRoom */
	uint64_t   *scratch;		/* as large */
	size_t		count;
} CuckooClasses;

#define CUCKOO_CLASS_FIRST_BIT	48	/* of the lower bucket */

static inline uint64_t
CuckooMakeClass(const CuckooShape *shape, uint32_t bucket, uint32_t other,
				uint32_t fingerprint)
{
	uint64_t	low = bucket < other ? bucket : other;
	uint64_t	high = bucket < other ? other : bucket;

	return low << CUCKOO_CLASS_FIRST_BIT |
		(uint64_t) fingerprint << (48 - shape->bits) | high << 1;
}

/* Where a class of that block stands. */
static inline CuckooPlace
CuckooClassPlace(const CuckooShape *shape, uint32_t block, uint64_t class)
{
	CuckooPlace place;

	place.base = (uint64_t) block * shape->buckets;
	place.first = (uint32_t) (class >> CUCKOO_CLASS_FIRST_BIT);
	place.second = (uint32_t) (class >> 1) & (CUCKOO_MAX_BUCKETS - 1);
	place.fingerprint = (uint32_t) (class >> (48 - shape->bits)) &
		(uint32_t) ((UINT64_C(1) << shape->bits) - 1);
	return place;
}

static inline bool
CuckooSameClass(uint64_t a, uint64_t b)
{
	return (a ^ b) >> 1 == 0;
}

/* Classes that the workspace has room for. */
static inline size_t
CuckooClassRoom(const CuckooShape *shape)
{
	return (size_t) shape->buckets * 2 * CUCKOO_ENTRIES;
}

/* No classes yet, in that workspace. */
extern void CuckooClassesInit(CuckooClasses *classes, const CuckooShape *shape,
							  void *workspace);

extern void CuckooClassesSort(CuckooClasses *classes, const CuckooShape *shape);

/*
 * A table or block that finds no room while it holds less than this share of
 * the keys it is for is crowded by keys with many copies (the key that finds
 * none may have just one): up to four of each, in whatever order, take a third
 * of a table's entries at least; eight of each, key after key, 1 %.  A larger
 * one would soon be crowded, too.
 */
#define CUCKOO_CROWDED_SHARE	3

/*
 * Make sorted classes a block of the table, in place of what stood there.
 * Beyond eight copies of a class there is no room for more, nor need.  Returns
 * false, and the block as it was, where not all find room; else *items is the
 * number of entries filled.
 *
 * Where there are leavers (else NULL), classes with eight copies are added to
 * them instead of the block, and where the others crowd it, classes that stand
 * in the way: they are to go to a stash.  They have room for
 * CuckooLeaverRoom; classes changes.
 */
extern bool CuckooPlaceClasses(const CuckooTable *table, uint32_t block,
							   CuckooClasses *classes, CuckooClasses *leavers,
							   uint64_t seed, uint64_t *items);

/*
 * A class with eight copies leaves once: at most one for each bucket, of the
 * eight classes a bucket that the workspace has room for.  Of a crowded block
 * each key that finds no room makes one class leave: fewer than
 * 4 / CUCKOO_CROWDED_SHARE for each bucket.
 */
static inline size_t
CuckooLeaverRoom(const CuckooShape *shape)
{
	return (size_t) shape->buckets * 3;
}

#endif							/* CUCKOO_BUILD_H */
