/*-------------------------------------------------------------------------
 *
 * dense.h
 *	  A dense table: buckets filled by cuckoo hashing.
 *
 * The form of a table from three quarters of its entries on.  A lookup reads
 * two buckets.  Insertion is the paper's: to the first bucket with room, or by
 * moving other entries to their other buckets.
 *
 * This file is part of the core and needs nothing of PostgreSQL.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_DENSE_H
#define CUCKOO_DENSE_H

#include "bucket.h"
#include "codes.h"

/*
 * Entries moved by one insertion at most.  With one step of look-ahead that
 * is ample at a table's capacity, and what finds no room by then would not
 * find any soon.
 */
#define CUCKOO_MAX_KICKS	2000

typedef struct CuckooDense
{
	CuckooShape shape;
	CuckooPacking packing;		/* these three follow from the shape */
	uint64_t	pairs;
	uint32_t	fingerprints;
	uint8_t    *data;			/* CuckooDenseBytes of buckets, then at least
								 * CUCKOO_TAIL_BYTES more of readable memory */
} CuckooDense;

/* Bytes of the buckets.  A block is even in buckets, so whole in bytes. */
static inline uint64_t
CuckooDenseBytes(const CuckooShape *shape)
{
	return CuckooShapeBuckets(shape) * (uint64_t) (shape->bits - 1) / 2;
}

static inline void
CuckooDenseInit(CuckooDense *dense, const CuckooShape *shape, uint8_t *data)
{
	dense->shape = *shape;
	CuckooPackingInit(&dense->packing, shape->bits);
	dense->pairs = CuckooShapePairs(shape);
	dense->fingerprints = CuckooShapeFingerprints(shape);
	dense->data = data;
}

/* Copies of a class: 0 to 8. */
extern int	CuckooDenseCount(const CuckooDense *dense, const CuckooPlace *place);

/* The place of a hash. */
static inline CuckooPlace
CuckooDensePlace(const CuckooDense *dense, uint64_t hash)
{
	return CuckooScaledPlace(&dense->shape, dense->pairs, dense->fingerprints, hash);
}

/* Whether the table contains the class of a place. */
static inline bool
CuckooDenseContainsAt(const CuckooDense *dense, const CuckooPlace *place)
{
	const CuckooPacking *packing = &dense->packing;
	uint64_t	bits;
	uint64_t	second;
	uint64_t	matches;
	uint64_t	in_second;
	uint64_t	only_second;

	if (!CuckooIsNarrow(packing))
		return CuckooDenseCount(dense, place) > 0;

	/*
	 * Most lookups are answered "no", and most of those by the high parts
	 * alone.  Both buckets are read before either is judged: the two loads
	 * overlap, and a "yes" does not depend on which of them it is.
	 */
	bits = CuckooReadNarrow(packing, dense->data, place->even);
	second = CuckooReadNarrow(packing, dense->data, place->base + place->second);
	matches = CuckooMatchHigh(packing, bits, place->fingerprint);
	in_second = CuckooMatchHigh(packing, second, place->fingerprint);
	if ((matches | in_second) == 0)
		return false;

	/* The bucket with the match, without a branch. */
	only_second = -(uint64_t) (matches == 0);
	bits ^= (bits ^ second) & only_second;
	matches ^= (matches ^ in_second) & only_second;
	return CuckooMatchLow(packing, bits, matches, place->fingerprint) ||
		CuckooDenseCount(dense, place) > 0;
}

/* Whether the table contains the class of a hash. */
static inline bool
CuckooDenseContains(const CuckooDense *dense, uint64_t hash)
{
	CuckooPlace place = CuckooDensePlace(dense, hash);

	return CuckooDenseContainsAt(dense, &place);
}

/* Begin to load what a lookup of the place will read. */
static inline void
CuckooDensePrefetchAt(const CuckooDense *dense, const CuckooPlace *place)
{
	uint64_t	nibbles = dense->packing.nibbles;

	CUCKOO_PREFETCH(dense->data + ((place->base + place->first) * nibbles >> 1));
	CUCKOO_PREFETCH(dense->data + ((place->base + place->second) * nibbles >> 1));
}

/* Begin to load what a lookup of the hash will read. */
static inline void
CuckooDensePrefetch(const CuckooDense *dense, uint64_t hash)
{
	CuckooPlace place = CuckooDensePlace(dense, hash);

	CuckooDensePrefetchAt(dense, &place);
}

/*
 * For lookups that have only parts of the table at hand: where a bucket is in
 * the table's bytes, and how many bytes it touches; and the copies of a
 * fingerprint in it, with CUCKOO_SPAN_BYTES readable from there.
 */
#define CUCKOO_SPAN_BYTES	24
extern uint64_t CuckooBucketSpan(const CuckooDense *dense, uint64_t bucket, int *bytes);
extern int	CuckooBucketCount(const CuckooDense *dense, uint64_t bucket,
							  const uint8_t *span, uint32_t fingerprint);

typedef enum CuckooInsertion
{
	CUCKOO_INSERTED,
	CUCKOO_EIGHT_COPIES,		/* the class fills both of its buckets */
	CUCKOO_NO_ROOM				/* none was found */
} CuckooInsertion;

/*
 * Add one copy of a class; or leave the table as it was.  Deterministic: the
 * walk follows from the class and what the table holds.
 */
extern CuckooInsertion CuckooDenseInsert(CuckooDense *dense, const CuckooPlace *place,
										 const CuckooHost *host);

/* Remove one copy of a class; false if there is none. */
extern bool CuckooDenseRemove(CuckooDense *dense, const CuckooPlace *place);

/*
 * Fill the table, whatever its memory holds, with the codes of a source.
 * Returns false if they find no room; then the buckets are garbage.  The
 * same codes, shape and seed give the same bytes.
 */
extern bool CuckooDenseBuild(CuckooDense *dense, CuckooSource *source, uint64_t seed,
							 const CuckooHost *host);

/* The codes of a dense table, sorted block by block. */
typedef struct CuckooDenseSource
{
	CuckooSource source;
	CuckooDense dense;
	const CuckooHost *host;
	uint64_t   *codes;			/* of the current block, and as much scratch */
	size_t		count;			/* codes of the block, */
	size_t		at;				/* those of them read, */
	uint32_t	block;			/* and the number of the next block */
} CuckooDenseSource;

extern void CuckooDenseSourceInit(CuckooDenseSource *source, const CuckooDense *dense,
								  const CuckooHost *host);
extern void CuckooDenseSourceRelease(CuckooDenseSource *source);

/*
 * Check buckets that come from outside: each one in its canonical order.
 * Counts the entries filled into *items; false at the first bad bucket, its
 * number in *bad.
 */
extern bool CuckooDenseCheck(const CuckooDense *dense, uint64_t *items, uint64_t *bad,
							 const CuckooHost *host);

#endif							/* CUCKOO_DENSE_H */
