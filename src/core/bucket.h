/*-------------------------------------------------------------------------
 *
 * bucket.h
 *	  A dense bucket: four fingerprints in 4 (f - 1) bits.
 *
 * This is the semi-sorting of section 5.2 of the cuckoo filter paper.  The
 * order of the entries in a bucket carries no information, so it need not be
 * stored.  The four low nibbles, sorted, are one of only 3,876 multisets,
 * whose number needs 12 bits instead of 16.  The high parts follow in the same
 * order.  This saves one bit per entry.
 *
 * An empty entry is 0, which is never a fingerprint.  Entries are kept in the
 * order of their sort key (see CuckooSortKey), so that the same fingerprints
 * always have the same bits.  The bits of an empty bucket are all zero.
 *
 * Buckets follow each other without gaps.  A bucket is a whole number of
 * nibbles, so it starts at a byte or in the middle of one.  It is read with
 * one 64-bit load if f is at most 17, and with two otherwise.  A load may read
 * up to CUCKOO_TAIL_BYTES past the last bucket of a table.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_BUCKET_H
#define CUCKOO_BUCKET_H

#include "shape.h"

#define CUCKOO_TAIL_BYTES	8	/* zero bytes that end every filter */

/* Number of multisets of four nibbles: C(16 + 4 - 1, 4). */
#define CUCKOO_MULTISETS	3876

/* Bits of the number of a multiset, and bits of each low nibble. */
#define CUCKOO_RANK_BITS	12
#define CUCKOO_LOW_BITS		4

/* How the buckets of a table are packed, computed from f once per table. */
typedef struct CuckooPacking
{
	uint8_t		high_bits;		/* bits of a high part: f - 4 */
	uint8_t		nibbles;		/* nibbles of a bucket: f - 1 */
	uint8_t		odd_shift;		/* bits before an odd bucket in its first byte */
	uint32_t	reciprocal;		/* the first number above 2^16 / high_bits */
	uint64_t	ones;			/* the lowest bit of each high part in a narrow
								 * bucket, or of two high parts */
	uint64_t	tops;			/* the highest bit of each */
} CuckooPacking;

/* Whether buckets are narrow: a bucket of up to 16 nibbles fits in one word. */
static inline bool
CuckooIsNarrow(const CuckooPacking *packing)
{
	return packing->nibbles <= 16;
}

/*
 * The inverse of CuckooMultisetRank: four nibbles, the smallest in the lowest
 * bits, by the number of the multiset.  There are 4,096 elements so that any 12
 * bits can be looked up.  Filled when the first dense table is opened.
 */
extern uint16_t CuckooMultisets[4096];
extern void CuckooInitMultisets(void);

static inline void
CuckooPackingInit(CuckooPacking *packing, int bits)
{
	int			high_bits = bits - CUCKOO_LOW_BITS;

	if (CuckooMultisets[1] == 0)
		CuckooInitMultisets();
	packing->high_bits = (uint8_t) high_bits;
	packing->nibbles = (uint8_t) (bits - 1);
	packing->odd_shift = (uint8_t) ((bits - 1) % 2 * 4);
	packing->reciprocal = (uint32_t) (65536 / high_bits + 1);
	packing->ones = 1 | UINT64_C(1) << high_bits;
	if (CuckooIsNarrow(packing))
		packing->ones = (packing->ones | packing->ones << (2 * high_bits)) << CUCKOO_RANK_BITS;
	packing->tops = packing->ones << (high_bits - 1);
}

/*
 * The number of a sorted multiset of nibbles a <= b <= c <= d in the
 * combinatorial number system: C(a,1) + C(b+1,2) + C(c+2,3) + C(d+3,4).
 * Multisets with a smaller d come first.
 */
static inline uint32_t
CuckooMultisetRank(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	static const uint16_t second[16] = {
		0, 1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 66, 78, 91, 105, 120
	};
	static const uint16_t third[16] = {
		0, 1, 4, 10, 20, 35, 56, 84, 120, 165, 220, 286, 364, 455, 560, 680
	};
	static const uint16_t fourth[16] = {
		0, 1, 5, 15, 35, 70, 126, 210, 330, 495, 715, 1001, 1365, 1820, 2380, 3060
	};

	return a + second[b] + third[c] + fourth[d];
}

/*
 * The sort key of a fingerprint within its bucket: its low nibble first (for
 * semi-sorting), then its high part.
 */
static inline uint32_t
CuckooSortKey(uint32_t fingerprint)
{
	return fingerprint >> CUCKOO_LOW_BITS | fingerprint << (32 - CUCKOO_LOW_BITS);
}

/* The bits of a bucket, right-aligned.  high is 0 if the bucket is narrow. */
typedef struct CuckooPacked
{
	uint64_t	low;
	uint64_t	high;
} CuckooPacked;

/* Where a bucket starts: an even one there, an odd one odd_shift bits later. */
static inline uint64_t
CuckooBucketOffset(const CuckooPacking *packing, uint64_t number)
{
	return number * packing->nibbles >> 1;
}

/*
 * Which of the high parts of a narrow bucket, or of two high parts of a wide
 * one, equal that of the fingerprint: the highest bit of each is set in the
 * result.  This is the zero-byte trick, with fields of any width.  The result
 * is zero only if none is equal.  The lowest bit set is right; those above it
 * may be wrong.
 */
static inline uint64_t
CuckooMatchHigh(const CuckooPacking *packing, uint64_t word, uint32_t fingerprint)
{
	uint64_t	high = fingerprint >> CUCKOO_LOW_BITS;
	uint64_t	x = word ^ (high * packing->ones);

	return (x - packing->ones) & ~x & packing->tops;
}

/*
 * Whether the entry of the lowest match of CuckooMatchHigh in a narrow bucket
 * also has the low nibble of the fingerprint.
 */
static inline bool
CuckooMatchLow(const CuckooPacking *packing, uint64_t word, uint64_t matches, uint32_t fingerprint)
{
	uint32_t	field = (uint32_t) (CuckooLowestBit(matches) + 1 - CUCKOO_RANK_BITS -
									packing->high_bits);
	uint32_t	slot = field * packing->reciprocal >> 16;

	return ((CuckooMultisets[word & 0xFFF] >> (4 * slot) ^ fingerprint) & 15) == 0;
}

/* A word with its lowest bits set; 64 of them if there are to be more. */
static inline uint64_t
CuckooOnes(int count)
{
	return count < 64 ? (UINT64_C(1) << count) - 1 : ~UINT64_C(0);
}

/*
 * Read a bucket of any width that starts at p (shift 0) or in the middle of the
 * byte there (shift 4).  The bits of the next bucket are cut off.
 */
static inline CuckooPacked
CuckooReadPackedAt(const CuckooPacking *packing, const uint8_t *p, int shift)
{
	int			length = packing->nibbles * 4;
	CuckooPacked packed;

	packed.low = CuckooLoad64(p) >> shift;
	packed.high = 0;
	if (length > 64)
	{
		uint64_t	next = CuckooLoad64(p + 8);

		if (shift != 0)
			packed.low |= next << (64 - shift);
		packed.high = next >> shift & CuckooOnes(length - 64);
	}
	else
		packed.low &= CuckooOnes(length);
	return packed;
}

static inline CuckooPacked
CuckooReadPacked(const CuckooPacking *packing, const uint8_t *buckets, uint64_t number)
{
	uint64_t	nibble = number * packing->nibbles;

	return CuckooReadPackedAt(packing, buckets + (nibble >> 1), (int) (nibble & 1) * 4);
}

static inline void
CuckooMergeWord(uint8_t *p, uint64_t word, uint64_t mask)
{
	CuckooStore64(p, (CuckooLoad64(p) & ~mask) | word);
}

/* Overwrite a bucket, leaving its neighbours alone. */
static inline void
CuckooWritePacked(const CuckooPacking *packing, uint8_t *buckets, uint64_t number,
				  CuckooPacked packed)
{
	uint64_t	nibble = number * packing->nibbles;
	uint8_t    *p = buckets + (nibble >> 1);
	int			shift = (int) (nibble & 1) * 4;
	int			length = packing->nibbles * 4 + shift;

	/* If shifted, the low nibble of the byte belongs to the bucket before. */
	CuckooMergeWord(p, packed.low << shift, CuckooOnes(length) - CuckooOnes(shift));
	if (length > 64)
		CuckooMergeWord(p + 8, packed.high << shift | (shift != 0 ? packed.low >> (64 - shift) : 0),
						CuckooOnes(length - 64));
}

/* Whether a bucket has an empty entry.  If so, its first entry is empty. */
static inline bool
CuckooHasEmpty(const CuckooPacking *packing, CuckooPacked packed)
{
	/* Avoid a second branch, which could also be mispredicted. */
	return ((CuckooMultisets[packed.low & 0xFFF] & 15) |
			(packed.low >> CUCKOO_RANK_BITS & CuckooOnes(packing->high_bits))) == 0;
}

/* The four fingerprints of a bucket in their order.  Empty entries are 0. */
static inline void
CuckooDecode(const CuckooPacking *packing, CuckooPacked packed, uint32_t entries[CUCKOO_ENTRIES])
{
	int			width = packing->high_bits;
	uint32_t	nibbles = CuckooMultisets[packed.low & 0xFFF];
	int			second = CUCKOO_RANK_BITS + 2 * width;	/* where its pair begins */
	uint64_t	mask = CuckooOnes(width);
	uint64_t	pairs[2];

	pairs[0] = packed.low >> CUCKOO_RANK_BITS | packed.high << (64 - CUCKOO_RANK_BITS);
	pairs[1] = second < 64 ? packed.low >> second | packed.high << (64 - second) :
		packed.high >> (second - 64);
	for (int i = 0; i < CUCKOO_ENTRIES; i++)
		entries[i] = (uint32_t) (pairs[i / 2] >> (i % 2 * width) & mask) << CUCKOO_LOW_BITS |
			(nibbles >> (i * CUCKOO_LOW_BITS) & 15);
}

/* Exchange two sort keys that are in the wrong order. */
static inline void
CuckooSortTwo(uint32_t *a, uint32_t *b)
{
	uint32_t	low = *a < *b ? *a : *b;
	uint32_t	high = *a < *b ? *b : *a;

	*a = low;
	*b = high;
}

/* The bits of a bucket with these fingerprints, which may be in any order. */
static inline CuckooPacked
CuckooEncode(const CuckooPacking *packing, const uint32_t entries[CUCKOO_ENTRIES])
{
	uint32_t	key[CUCKOO_ENTRIES];
	uint32_t	mask = (uint32_t) CuckooOnes(packing->high_bits);
	int			width = packing->high_bits;
	int			second = CUCKOO_RANK_BITS + 2 * width;	/* where its pair begins */
	uint64_t	pairs[2];
	CuckooPacked packed;

	for (int i = 0; i < CUCKOO_ENTRIES; i++)
		key[i] = CuckooSortKey(entries[i]);

	/* a sorting network for four */
	CuckooSortTwo(&key[0], &key[1]);
	CuckooSortTwo(&key[2], &key[3]);
	CuckooSortTwo(&key[0], &key[2]);
	CuckooSortTwo(&key[1], &key[3]);
	CuckooSortTwo(&key[1], &key[2]);

	for (int i = 0; i < 2; i++)
		pairs[i] = (key[2 * i] & mask) | (uint64_t) (key[2 * i + 1] & mask) << width;
	packed.low = CuckooMultisetRank(key[0] >> 28, key[1] >> 28, key[2] >> 28, key[3] >> 28) |
		pairs[0] << CUCKOO_RANK_BITS;
	packed.high = pairs[0] >> (64 - CUCKOO_RANK_BITS);
	if (second < 64)
	{
		packed.low |= pairs[1] << second;
		packed.high |= pairs[1] >> (64 - second);
	}
	else
		packed.high |= pairs[1] << (second - 64);
	return packed;
}

#endif							/* CUCKOO_BUCKET_H */
