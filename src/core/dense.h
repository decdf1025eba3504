/*-------------------------------------------------------------------------
 *
 * dense.h
 *	  A dense table: buckets filled by cuckoo hashing.
 *
 * A lookup reads two buckets.  Insertion follows the paper: a fingerprint is
 * stored in the first of its buckets with room.  If both are full, entries move
 * to their other buckets to make room.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_DENSE_H
#define CUCKOO_DENSE_H

#include "bucket.h"
#include "list.h"

/*
 * Entries that one insertion moves, at most: the MaxNumKicks of the paper.  A
 * fingerprint that has found no room by then would not find any soon.
 */
#define CUCKOO_MAX_KICKS	2000

typedef struct CuckooDense
{
	CuckooShape shape;
	CuckooPacking packing;		/* depends on the shape alone */
	uint8_t    *data;			/* CuckooDenseBytes of buckets, followed by at
								 * least CUCKOO_TAIL_BYTES of readable memory */
} CuckooDense;

/*
 * The size in bytes of the buckets.  A block has an even number of buckets and
 * therefore a whole number of bytes.
 */
static inline uint64_t
CuckooDenseBytes(const CuckooShape *shape)
{
	return CuckooShapeBuckets(shape) * (uint64_t) (shape->bits - 1) / 2;
}

static inline void
CuckooDenseInit(CuckooDense *dense, const CuckooShape *shape)
{
	dense->shape = *shape;
	CuckooPackingInit(&dense->packing, shape->bits);
}

/* Copies of a class: 0 to 8. */
extern int	CuckooDenseCount(const CuckooDense *dense, const CuckooPlace *place);

/*
 * Copies of a fingerprint in an even and an odd bucket, which start at these
 * addresses; and for wide buckets, without decoding them, whether there is one.
 */
extern int	CuckooCountInPair(const CuckooPacking *packing, const uint8_t *even,
							  const uint8_t *odd, uint32_t fingerprint);
extern bool CuckooContainsWide(const CuckooPacking *packing, const uint8_t *even,
							   const uint8_t *odd, uint32_t fingerprint);

/*
 * Whether the table contains the class of a place.  The place is passed by
 * value, and no function is given its address, so that it stays in registers.
 */
CUCKOO_INLINE bool
CuckooDenseContainsAt(const CuckooDense *dense, CuckooPlace place)
{
	const CuckooPacking *packing = &dense->packing;
	const uint8_t *even = dense->data + CuckooBucketOffset(packing, place.even);
	const uint8_t *odd = dense->data + CuckooBucketOffset(packing, place.base + place.i2);
	uint64_t	word;
	uint64_t	second;
	uint64_t	matches;
	uint64_t	in_second;
	uint64_t	only_second;

	if (!CuckooIsNarrow(packing))
		return CuckooContainsWide(packing, even, odd, place.fingerprint);

	/*
	 * The answer to most lookups is "no", and the high parts alone mostly show
	 * it.  Both buckets are read before either is tested, so that the loads
	 * overlap, and a "yes" takes the same time for either bucket.
	 */
	word = CuckooLoad64(even);
	second = CuckooLoad64(odd) >> packing->odd_shift;
	matches = CuckooMatchHigh(packing, word, place.fingerprint);
	in_second = CuckooMatchHigh(packing, second, place.fingerprint);
	if ((matches | in_second) == 0)
		return false;

	/* Select the bucket with the match, without a branch. */
	only_second = -(uint64_t) (matches == 0);
	word ^= (word ^ second) & only_second;
	matches ^= (matches ^ in_second) & only_second;
	return CuckooMatchLow(packing, word, matches, place.fingerprint) ||
		CuckooCountInPair(packing, even, odd, place.fingerprint) > 0;
}

/* Begin to load what a lookup of the place will read. */
static inline void
CuckooDensePrefetch(const CuckooDense *dense, const CuckooPlace *place)
{
	CUCKOO_PREFETCH(dense->data + CuckooBucketOffset(&dense->packing, place->even));
	CUCKOO_PREFETCH(dense->data + CuckooBucketOffset(&dense->packing, place->base + place->i2));
}

/*
 * For lookups that read only parts of the table: the copies of a fingerprint in
 * a bucket, from a copy of CUCKOO_SPAN_BYTES from CuckooBucketOffset on.
 */
#define CUCKOO_SPAN_BYTES	16
extern int	CuckooBucketCount(const CuckooPacking *packing, uint64_t bucket,
							  const uint8_t *span, uint32_t fingerprint);

typedef enum CuckooInsertion
{
	CUCKOO_INSERTED,
	CUCKOO_EIGHT_COPIES,		/* the class fills both of its buckets */
	CUCKOO_NO_ROOM				/* no room was found */
} CuckooInsertion;

/* Add one copy of a class.  If this fails, the table is left as it was. */
extern CuckooInsertion CuckooDenseInsert(CuckooDense *dense, const CuckooPlace *place);

/* Remove one copy of a class; false if there is none. */
extern bool CuckooDenseRemove(CuckooDense *dense, const CuckooPlace *place);

/*
 * Fill the table with the codes of a source.  Its memory need not be
 * initialized.  Returns false if the codes find no room; the buckets are then
 * garbage.  The same codes, shape and seed give the same bytes.
 */
extern bool CuckooDenseBuild(CuckooDense *dense, const CuckooSource *source, uint64_t seed);

/*
 * Store the codes of a block, sorted; returns their number.  Both arrays have
 * room for them.
 */
extern uint64_t CuckooDenseCodes(const CuckooDense *dense, uint32_t block, uint64_t *codes,
								 uint64_t *scratch);

/*
 * Check buckets from an untrusted source: the entries of each must be in
 * canonical order.  Sets *items to the number of entries in use.  Returns false
 * at the first bad bucket and sets *bad to its number.
 */
extern bool CuckooDenseCheck(const CuckooDense *dense, uint64_t *items, uint64_t *bad);

#endif							/* CUCKOO_DENSE_H */
