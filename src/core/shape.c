/*-------------------------------------------------------------------------
 *
 * shape.c
 *	  The geometry of a table; see shape.h.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>

#include "shape.h"

int
CuckooShapeOrder(const CuckooShape *a, const CuckooShape *b)
{
	uint64_t	a_buckets = CuckooShapeBuckets(a);
	uint64_t	b_buckets = CuckooShapeBuckets(b);

	if (a_buckets != b_buckets)
		return a_buckets < b_buckets ? -1 : 1;
	if (a->bits != b->bits)
		return a->bits < b->bits ? -1 : 1;
	return (a->blocks > b->blocks) - (a->blocks < b->blocks);
}

int
CuckooBitsFor(double fpr)
{
	int			bits = CUCKOO_MIN_BITS;

	/*
	 * A logarithm is avoided because its last digit differs between platforms.
	 * The x87 of 32-bit machines computes with more precision than a double
	 * has, also in constants.  The casts drop the excess.
	 */
	while (bits < CUCKOO_MAX_BITS && (double) (fpr * (ldexp(1.0, bits) - 1)) < (double) 7.72)
		bits++;
	return bits;
}

/*
 * Small tables get a few more buckets than their load needs, because they
 * soon run out of buckets to relocate entries to.  (Without them, one in 20,000
 * builds of 33 keys fails.)
 */
bool
CuckooShapeFor(CuckooShape *shape, uint64_t keys, int bits)
{
	uint64_t	buckets;
	uint64_t	blocks;
	bool		possible = keys <= CUCKOO_MAX_CAPACITY;

	if (!possible)
		buckets = CUCKOO_MAX_TABLE_BUCKETS;
	else if (keys >= 10000)
		buckets = (keys * 50 + 192) / 193;
	else
		buckets = keys * 100 / 383 + (keys < 5000 ? 5 : 1);
	blocks = (buckets + CUCKOO_MAX_BUCKETS - 1) / CUCKOO_MAX_BUCKETS;
	buckets = (buckets + blocks - 1) / blocks;
	*shape = CuckooShapeOf((uint32_t) blocks, (uint32_t) (buckets + (buckets & 1)), bits);
	return possible;
}

double
CuckooShapeRate(const CuckooShape *shape, uint64_t items)
{
	double		compared = 2.0 * CUCKOO_ENTRIES * (double) items /
		(double) CuckooShapeEntries(shape);

	return -expm1(compared * log1p(-1 / (double) shape->fingerprints));
}

uint64_t
CuckooFirstHash(const CuckooShape *shape, uint64_t code)
{
	uint64_t	fingerprints = shape->fingerprints;
	uint64_t	pairs = shape->pairs;
	uint64_t	fingerprint = code & fingerprints;
	uint64_t	rest = fingerprint > 1 ? (((fingerprint - 1) << 32) - 1) / fingerprints + 1 : 0;
	uint64_t	scaled = ((code >> shape->bits) << 32) + rest;

	/* Times 2^32 and divided by the pairs, in two steps below 2^64 */
	return code >= CuckooShapeCodes(shape) ? UINT64_MAX :
		(scaled / pairs << 32) + ((scaled % pairs << 32) + pairs - 1) / pairs;
}
