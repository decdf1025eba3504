/*-------------------------------------------------------------------------
 *
 * dense.c
 *	  A dense table; see dense.h.
 *
 * The same algorithm works on two forms of a block:
 *
 * packed	the stored form, for adding to a table that exists
 *
 * unpacked 32 bits per entry and a count per bucket, for building a block from
 *			codes.  To decode and encode buckets again and again would take
 *			three times as long as the rest of a build.
 *
 * Functions for both forms take the form as a constant, so that the compiler
 * makes one version of them for each.
 *
 *-------------------------------------------------------------------------
 */
#include "dense.h"
#include "sort.h"

/*
 * The multisets of four nibbles a <= b <= c <= d as a + 16 b + 256 c + 4096 d,
 * in the order of their rank.  Macros list them: A_b lists every a up to b, B_c
 * every b up to c with each of its a's, and C_d every c up to d likewise.
 */
#define A_0(x) (x)
#define A_1(x) A_0(x), (x) + 1
#define A_2(x) A_1(x), (x) + 2
#define A_3(x) A_2(x), (x) + 3
#define A_4(x) A_3(x), (x) + 4
#define A_5(x) A_4(x), (x) + 5
#define A_6(x) A_5(x), (x) + 6
#define A_7(x) A_6(x), (x) + 7
#define A_8(x) A_7(x), (x) + 8
#define A_9(x) A_8(x), (x) + 9
#define A_10(x) A_9(x), (x) + 10
#define A_11(x) A_10(x), (x) + 11
#define A_12(x) A_11(x), (x) + 12
#define A_13(x) A_12(x), (x) + 13
#define A_14(x) A_13(x), (x) + 14
#define A_15(x) A_14(x), (x) + 15

#define B_0(x) A_0(x)
#define B_1(x) B_0(x), A_1((x) + 0x10)
#define B_2(x) B_1(x), A_2((x) + 0x20)
#define B_3(x) B_2(x), A_3((x) + 0x30)
#define B_4(x) B_3(x), A_4((x) + 0x40)
#define B_5(x) B_4(x), A_5((x) + 0x50)
#define B_6(x) B_5(x), A_6((x) + 0x60)
#define B_7(x) B_6(x), A_7((x) + 0x70)
#define B_8(x) B_7(x), A_8((x) + 0x80)
#define B_9(x) B_8(x), A_9((x) + 0x90)
#define B_10(x) B_9(x), A_10((x) + 0xA0)
#define B_11(x) B_10(x), A_11((x) + 0xB0)
#define B_12(x) B_11(x), A_12((x) + 0xC0)
#define B_13(x) B_12(x), A_13((x) + 0xD0)
#define B_14(x) B_13(x), A_14((x) + 0xE0)
#define B_15(x) B_14(x), A_15((x) + 0xF0)

#define C_0(x) B_0(x)
#define C_1(x) C_0(x), B_1((x) + 0x100)
#define C_2(x) C_1(x), B_2((x) + 0x200)
#define C_3(x) C_2(x), B_3((x) + 0x300)
#define C_4(x) C_3(x), B_4((x) + 0x400)
#define C_5(x) C_4(x), B_5((x) + 0x500)
#define C_6(x) C_5(x), B_6((x) + 0x600)
#define C_7(x) C_6(x), B_7((x) + 0x700)
#define C_8(x) C_7(x), B_8((x) + 0x800)
#define C_9(x) C_8(x), B_9((x) + 0x900)
#define C_10(x) C_9(x), B_10((x) + 0xA00)
#define C_11(x) C_10(x), B_11((x) + 0xB00)
#define C_12(x) C_11(x), B_12((x) + 0xC00)
#define C_13(x) C_12(x), B_13((x) + 0xD00)
#define C_14(x) C_13(x), B_14((x) + 0xE00)
#define C_15(x) C_14(x), B_15((x) + 0xF00)

const uint16_t CuckooMultisets[4096] = {
	C_0(0), C_1(0x1000), C_2(0x2000), C_3(0x3000),
	C_4(0x4000), C_5(0x5000), C_6(0x6000), C_7(0x7000),
	C_8(0x8000), C_9(0x9000), C_10(0xA000), C_11(0xB000),
	C_12(0xC000), C_13(0xD000), C_14(0xE000), C_15(0xF000)
};

/* A block in either form. */
typedef struct Block
{
	const CuckooPacking *packing;
	uint32_t	buckets;
	uint64_t	base;			/* packed: number of the first bucket */
	uint8_t    *data;			/* packed: the table's buckets */
	uint32_t	(*entries)[CUCKOO_ENTRIES]; /* unpacked, in order of arrival */
	uint8_t    *used;			/* unpacked: entries filled, per bucket */
} Block;

/* One fingerprint in a bucket replaced by another. */
typedef struct Kick
{
	uint32_t	bucket;
	uint32_t	in;
	uint32_t	out;
} Kick;

/*
 * splitmix64 (Steele, Lea, Flood 2014): the state may start anywhere, also
 * at 0.
 */
static inline uint64_t
Random(uint64_t *state)
{
	uint64_t	z = (*state += UINT64_C(0x9E3779B97F4A7C15));

	z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
	return z ^ (z >> 31);
}

/* Read the four entries of a bucket.  If unpacked, the unused are garbage. */
CUCKOO_INLINE void
BlockRead(const Block *block, uint32_t bucket, uint32_t entries[CUCKOO_ENTRIES],
		  bool packed)
{
	if (packed)
		CuckooDecode(block->packing,
					 CuckooReadBits(block->packing, block->data, block->base + bucket),
					 entries);
	else
		memcpy(entries, block->entries[bucket], sizeof(block->entries[bucket]));
}

/* Add a fingerprint to a bucket if it has room. */
CUCKOO_INLINE bool
BlockPut(const Block *block, uint32_t bucket, uint32_t fingerprint, bool packed)
{
	if (packed)
	{
		uint32_t	entries[CUCKOO_ENTRIES];
		CuckooBits	bits = CuckooReadBits(block->packing, block->data, block->base + bucket);

		if (!CuckooHasEmpty(block->packing, bits))
			return false;
		if (CuckooIsNarrow(block->packing))
		{
			CuckooWriteNarrow(block->packing, block->data, block->base + bucket,
							  CuckooAddNarrow(block->packing, bits.low, fingerprint));
			return true;
		}
		CuckooDecode(block->packing, bits, entries);
		entries[0] = fingerprint;
		CuckooWriteBits(block->packing, block->data, block->base + bucket,
						CuckooEncode(block->packing, entries));
		return true;
	}
	else
	{
		uint8_t		used = block->used[bucket];

		if (used == CUCKOO_ENTRIES)
			return false;
		block->entries[bucket][used] = fingerprint;
		block->used[bucket] = (uint8_t) (used + 1);
		return true;
	}
}

/* Replace the fingerprint in a slot of a bucket. */
CUCKOO_INLINE void
BlockReplace(const Block *block, uint32_t bucket, int slot, uint32_t fingerprint,
			 bool packed)
{
	if (packed)
	{
		uint32_t	entries[CUCKOO_ENTRIES];

		BlockRead(block, bucket, entries, true);
		entries[slot] = fingerprint;
		CuckooWriteBits(block->packing, block->data, block->base + bucket,
						CuckooEncode(block->packing, entries));
	}
	else
		block->entries[bucket][slot] = fingerprint;
}

/*
 * If the other bucket of an entry of this full bucket has room, move the entry
 * there and put the fingerprint in its place.
 */
CUCKOO_INLINE bool
LookAhead(const Block *block, uint32_t bucket, uint32_t fingerprint, bool packed)
{
	uint32_t	entries[CUCKOO_ENTRIES];

	BlockRead(block, bucket, entries, packed);
	for (int slot = 0; slot < CUCKOO_ENTRIES; slot++)
	{
		uint32_t	other = CuckooOtherBucket(entries[slot], bucket, block->buckets);

		if (BlockPut(block, other, entries[slot], packed))
		{
			BlockReplace(block, bucket, slot, fingerprint, packed);
			return true;
		}
	}
	return false;
}

/*
 * Find room for a fingerprint whose two buckets are full, if LookAhead has
 * found none for it.  A random entry of one bucket is evicted, the fingerprint
 * takes its place, and room is sought for the evicted entry in the same way.
 * To look ahead at each step makes a walk at a table's capacity about four
 * times shorter.
 *
 * If the walk finds no room in a packed block, the block is restored.  kicks
 * then has room for CUCKOO_MAX_KICKS.  It records buckets and fingerprints
 * rather than slots, because entries are sorted again at each step.
 */
CUCKOO_INLINE bool
Walk(const Block *block, uint32_t fingerprint, uint32_t first, uint32_t second,
	 uint64_t *random, Kick *kicks, bool packed)
{
	uint32_t	bucket = Random(random) & 1 ? first : second;
	uint32_t	entries[CUCKOO_ENTRIES];

	for (int kick = 0; kick < CUCKOO_MAX_KICKS; kick++)
	{
		int			slot = (int) (Random(random) & (CUCKOO_ENTRIES - 1));
		uint32_t	out;

		BlockRead(block, bucket, entries, packed);
		out = entries[slot];
		BlockReplace(block, bucket, slot, fingerprint, packed);
		if (packed)
		{
			kicks[kick].bucket = bucket;
			kicks[kick].in = fingerprint;
			kicks[kick].out = out;
		}

		/* The last look-ahead has shown that its other bucket is full. */
		fingerprint = out;
		bucket = CuckooOtherBucket(fingerprint, bucket, block->buckets);
		if (LookAhead(block, bucket, fingerprint, packed))
			return true;
	}

	for (int kick = CUCKOO_MAX_KICKS - 1; packed && kick >= 0; kick--)
	{
		int			slot = 0;

		BlockRead(block, kicks[kick].bucket, entries, true);
		while (entries[slot] != kicks[kick].in)
			slot++;
		BlockReplace(block, kicks[kick].bucket, slot, kicks[kick].out, true);
	}
	return false;
}

/* The number of entries of a bucket that have this fingerprint. */
static int
CountIn(const CuckooPacking *packing, CuckooBits bits, uint32_t fingerprint)
{
	uint32_t	entries[CUCKOO_ENTRIES];
	int			copies = 0;

	CuckooDecode(packing, bits, entries);
	for (int slot = 0; slot < CUCKOO_ENTRIES; slot++)
		copies += entries[slot] == fingerprint;
	return copies;
}

int
CuckooDenseCount(const CuckooDense *dense, const CuckooPlace *place)
{
	const CuckooPacking *packing = &dense->packing;

	return CountIn(packing, CuckooReadBits(packing, dense->data, place->base + place->first),
				   place->fingerprint) +
		CountIn(packing, CuckooReadBits(packing, dense->data, place->base + place->second),
				place->fingerprint);
}

bool
CuckooSearch(const CuckooPacking *packing, const uint8_t *even, const uint8_t *odd,
			 uint32_t fingerprint)
{
	return CountIn(packing, CuckooReadBitsAt(packing, even, 0), fingerprint) > 0 ||
		CountIn(packing, CuckooReadBitsAt(packing, odd, packing->odd_shift), fingerprint) > 0;
}

/* The matches of two high parts: see CuckooReadPair. */
static inline uint64_t
MatchPair(const CuckooPacking *packing, const uint8_t *bucket, int shift, int pair,
		  uint32_t fingerprint)
{
	return CuckooMatchHigh(packing, CuckooReadPair(packing, bucket, shift, pair), fingerprint);
}

/*
 * As for narrow buckets, most lookups end when the high parts are compared, and
 * a match is found without a branch.
 */
bool
CuckooSearchWide(const CuckooPacking *packing, const uint8_t *even, const uint8_t *odd,
				 uint32_t fingerprint)
{
	int			shift = packing->odd_shift;
	uint64_t	a = MatchPair(packing, even, 0, 0, fingerprint);
	uint64_t	b = MatchPair(packing, even, 0, 1, fingerprint);
	uint64_t	c = MatchPair(packing, odd, shift, 0, fingerprint);
	uint64_t	d = MatchPair(packing, odd, shift, 1, fingerprint);
	uint32_t	pair;
	uint32_t	second;			/* 1 for the second high part of the pair */
	uint32_t	rank;

	if ((a | b | c | d) == 0)
		return false;

	/*
	 * Shifted by the number of its pair, no match covers another, as a high
	 * part has 14 bits or more.
	 */
	pair = (uint32_t) CuckooLowestBit(a | b << 1 | c << 2 | d << 3) + 1 - packing->high_bits;
	second = pair >= packing->high_bits;
	pair -= second * packing->high_bits;
	rank = CuckooLoad16(even + (odd - even) * (pair >> 1)) >> (pair >> 1) * shift & 0xFFF;
	return ((CuckooMultisets[rank] >> (pair % 2 * 8 + second * 4) ^ fingerprint) & 15) == 0 ||
		CuckooSearch(packing, even, odd, fingerprint);
}

uint64_t
CuckooBucketSpan(const CuckooDense *dense, uint64_t bucket, int *bytes)
{
	uint64_t	nibble = bucket * dense->packing.nibbles;

	*bytes = (int) ((nibble + dense->packing.nibbles + 1) / 2 - nibble / 2);
	return nibble / 2;
}

int
CuckooBucketCount(const CuckooDense *dense, uint64_t bucket, const uint8_t *span,
				  uint32_t fingerprint)
{
	uint64_t	nibble = bucket * dense->packing.nibbles;

	return CountIn(&dense->packing,
				   CuckooReadBitsAt(&dense->packing, span, (int) (nibble & 1) * 4),
				   fingerprint);
}

/* The stored block that a place is in. */
static Block
PackedBlock(const CuckooDense *dense, const CuckooPlace *place)
{
	Block		block;

	block.packing = &dense->packing;
	block.buckets = dense->shape.buckets;
	block.base = place->base;
	block.data = dense->data;
	block.entries = NULL;
	block.used = NULL;
	return block;
}

CuckooInsertion
CuckooDenseInsert(CuckooDense *dense, const CuckooPlace *place, const CuckooHost *host)
{
	Block		block = PackedBlock(dense, place);
	uint64_t	random = (place->base + place->first) << 32 | place->fingerprint;
	Kick	   *kicks;
	bool		found;

	if (BlockPut(&block, place->first, place->fingerprint, true) ||
		BlockPut(&block, place->second, place->fingerprint, true))
		return CUCKOO_INSERTED;
	if (CuckooDenseCount(dense, place) == CUCKOO_MAX_COPIES)
		return CUCKOO_EIGHT_COPIES;
	if (LookAhead(&block, place->first, place->fingerprint, true) ||
		LookAhead(&block, place->second, place->fingerprint, true))
		return CUCKOO_INSERTED;
	kicks = host->allocate(CUCKOO_MAX_KICKS * sizeof(Kick));
	found = Walk(&block, place->fingerprint, place->first, place->second, &random,
				 kicks, true);
	host->release(kicks);
	return found ? CUCKOO_INSERTED : CUCKOO_NO_ROOM;
}

bool
CuckooDenseRemove(CuckooDense *dense, const CuckooPlace *place)
{
	Block		block = PackedBlock(dense, place);

	for (int i = 0; i < 2; i++)
	{
		uint32_t	bucket = i == 0 ? place->first : place->second;
		uint32_t	entries[CUCKOO_ENTRIES];

		BlockRead(&block, bucket, entries, true);
		for (int slot = 0; slot < CUCKOO_ENTRIES; slot++)
		{
			if (entries[slot] == place->fingerprint)
			{
				BlockReplace(&block, bucket, slot, 0, true);
				return true;
			}
		}
	}
	return false;
}

/*
 * Building
 */

/*
 * Put a fingerprint into an unpacked block.  The even bucket is preferred.
 * Codes come in the order of their even buckets, so only codes with the same
 * even bucket can still need it.
 */
static inline bool
PutUnpacked(const Block *block, uint32_t first, uint32_t fingerprint, uint64_t *random)
{
	uint32_t	second;

	if (BlockPut(block, first, fingerprint, false))
		return true;
	second = CuckooOtherBucket(fingerprint, first, block->buckets);
	return BlockPut(block, second, fingerprint, false) ||
		LookAhead(block, first, fingerprint, false) ||
		LookAhead(block, second, fingerprint, false) ||
		Walk(block, fingerprint, first, second, random, NULL, false);
}

/*
 * The start of the random numbers for a block.  It depends on everything that
 * the content of the block may depend on, apart from the codes.
 */
static uint64_t
RandomStart(const CuckooShape *shape, uint32_t block, uint64_t seed)
{
	uint64_t	state = seed;
	uint64_t	random;

	random = Random(&state);
	state = random ^ ((uint64_t) shape->blocks << 32 | shape->buckets);
	random = Random(&state);
	state = random ^ ((uint64_t) block << 32 | shape->bits);
	return Random(&state);
}

/* Encode all buckets of an unpacked block into the table. */
static void
PackBlock(CuckooDense *dense, uint32_t number, const Block *block)
{
	uint64_t	base = (uint64_t) number * block->buckets;
	size_t		bytes = (size_t) block->buckets * dense->packing.nibbles / 2;

	memset(dense->data + number * bytes, 0, bytes);
	for (uint32_t bucket = 0; bucket < block->buckets; bucket++)
	{
		uint32_t   *entries = block->entries[bucket];

		for (int slot = block->used[bucket]; slot < CUCKOO_ENTRIES; slot++)
			entries[slot] = 0;
		CuckooWriteBits(&dense->packing, dense->data, base + bucket,
						CuckooEncode(&dense->packing, entries));
	}
}

bool
CuckooDenseBuild(CuckooDense *dense, CuckooSource *source, uint64_t seed,
				 const CuckooHost *host)
{
	const CuckooShape *shape = &dense->shape;
	uint32_t	fingerprints = CuckooShapeFingerprints(shape);
	size_t		entries_bytes = shape->buckets * sizeof(uint32_t[CUCKOO_ENTRIES]);
	uint64_t	codes[CUCKOO_READ_CODES];
	size_t		count = 0;
	size_t		at = 0;
	bool		ok = true;
	Block		block;

	block.packing = &dense->packing;
	block.buckets = shape->buckets;
	block.base = 0;
	block.data = NULL;
	block.entries = host->allocate(entries_bytes + shape->buckets);
	block.used = (uint8_t *) block.entries + entries_bytes;

	source->rewind(source);
	for (uint32_t number = 0; ok && number < shape->blocks; number++)
	{
		uint64_t	first = (uint64_t) number * (shape->buckets / 2);
		uint64_t	end = (first + shape->buckets / 2) << shape->bits;
		uint64_t	random = RandomStart(shape, number, seed);

		host->pause();
		memset(block.used, 0, shape->buckets);
		while (ok)
		{
			if (at == count)
			{
				count = source->read(source, codes, CUCKOO_READ_CODES);
				at = 0;
				if (count == 0)
					break;
			}
			if (codes[at] >= end)
				break;
			ok = PutUnpacked(&block, (uint32_t) (2 * ((codes[at] >> shape->bits) - first)),
							 (uint32_t) codes[at] & fingerprints, &random);
			at++;
		}
		if (ok)
			PackBlock(dense, number, &block);
	}
	host->release(block.entries);
	return ok;
}

/*
 * Reading all
 */

/* Decode and sort the next block. */
static void
ReadBlock(CuckooDenseSource *source)
{
	const CuckooDense *dense = &source->dense;
	uint32_t	buckets = dense->shape.buckets;
	uint64_t	base = (uint64_t) source->block * buckets;
	uint64_t   *codes = source->codes;
	size_t		count = 0;

	source->host->pause();
	for (uint32_t bucket = 0; bucket < buckets; bucket++)
	{
		uint32_t	entries[CUCKOO_ENTRIES];

		CuckooDecode(&dense->packing,
					 CuckooReadBits(&dense->packing, dense->data, base + bucket), entries);
		for (int slot = 0; slot < CUCKOO_ENTRIES; slot++)
		{
			uint32_t	even = bucket & 1 ?
				CuckooOtherBucket(entries[slot], bucket, buckets) : bucket;

			codes[count] = (base + even) / 2 << dense->shape.bits | entries[slot];
			count += entries[slot] != 0;
		}
	}
	CuckooSort(codes, codes + (size_t) buckets * CUCKOO_ENTRIES, count, NULL);
	source->count = count;
	source->at = 0;
	source->block++;
}

static void
DenseRewind(CuckooSource *source)
{
	CuckooDenseSource *dense = (CuckooDenseSource *) source;

	dense->block = 0;
	dense->count = 0;
	dense->at = 0;
}

static size_t
DenseRead(CuckooSource *source, uint64_t *codes, size_t room)
{
	CuckooDenseSource *dense = (CuckooDenseSource *) source;
	size_t		count;

	while (dense->at == dense->count)
	{
		if (dense->block == dense->dense.shape.blocks)
			return 0;
		ReadBlock(dense);
	}
	count = dense->count - dense->at < room ? dense->count - dense->at : room;
	memcpy(codes, dense->codes + dense->at, count * sizeof(uint64_t));
	dense->at += count;
	return count;
}

void
CuckooDenseSourceInit(CuckooDenseSource *source, const CuckooDense *dense,
					  const CuckooHost *host)
{
	source->source.rewind = DenseRewind;
	source->source.read = DenseRead;
	source->dense = *dense;
	source->host = host;
	/* The codes of a block, and as much scratch to sort them. */
	source->codes = host->allocate((2 * (size_t) dense->shape.buckets * CUCKOO_ENTRIES + 1) *
								   sizeof(uint64_t));
	DenseRewind(&source->source);
}

void
CuckooDenseSourceRelease(CuckooDenseSource *source)
{
	source->host->release(source->codes);
}

bool
CuckooDenseCheck(const CuckooDense *dense, uint64_t *items, uint64_t *bad,
				 const CuckooHost *host)
{
	const CuckooPacking *packing = &dense->packing;
	uint64_t	buckets = CuckooShapeBuckets(&dense->shape);

	*items = 0;
	for (uint64_t number = 0; number < buckets; number++)
	{
		CuckooBits	bits = CuckooReadBits(packing, dense->data, number);
		uint32_t	entries[CUCKOO_ENTRIES];
		bool		ordered = (bits.low & 0xFFF) < CUCKOO_MULTISETS;

		if (number % CUCKOO_MAX_BUCKETS == 0)
			host->pause();
		CuckooDecode(packing, bits, entries);
		*items += entries[0] != 0;
		for (int slot = 1; slot < CUCKOO_ENTRIES; slot++)
		{
			ordered = ordered &&
				CuckooSortKey(entries[slot - 1]) <= CuckooSortKey(entries[slot]);
			*items += entries[slot] != 0;
		}
		if (!ordered)
		{
			*bad = number;
			return false;
		}
	}
	return true;
}
