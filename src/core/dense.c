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
NextRandom(uint64_t *state)
{
	uint64_t	z = (*state += UINT64_C(0x9E3779B97F4A7C15));

	z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
	return z ^ (z >> 31);
}

/* Read the four entries of a bucket.  If unpacked, the unused are garbage. */
CUCKOO_INLINE void
BlockRead(const Block *block, uint32_t bucket, uint32_t entries[CUCKOO_ENTRIES], bool packed)
{
	if (packed)
		CuckooDecode(block->packing,
					 CuckooReadPacked(block->packing, block->data, block->base + bucket),
					 entries);
	else
		memcpy(entries, block->entries[bucket], sizeof(block->entries[bucket]));
}

CUCKOO_INLINE void
BlockReplace(const Block *block, uint32_t bucket, int slot, uint32_t fingerprint, bool packed)
{
	if (packed)
	{
		uint32_t	entries[CUCKOO_ENTRIES];

		BlockRead(block, bucket, entries, true);
		entries[slot] = fingerprint;
		CuckooWritePacked(block->packing, block->data, block->base + bucket,
						  CuckooEncode(block->packing, entries));
	}
	else
		block->entries[bucket][slot] = fingerprint;
}

CUCKOO_INLINE bool
BlockPut(const Block *block, uint32_t bucket, uint32_t fingerprint, bool packed)
{
	if (packed)
	{
		if (!CuckooHasEmpty(block->packing,
							CuckooReadPacked(block->packing, block->data, block->base + bucket)))
			return false;
		BlockReplace(block, bucket, 0, fingerprint, true);
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
		uint32_t	other = CuckooAlternateBucket(entries[slot], bucket, block->buckets);

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
 * To look ahead at each step makes relocation at a table's capacity about four
 * times shorter.
 *
 * If no room is found in a packed block, the block is restored.  kicks
 * then has room for CUCKOO_MAX_KICKS.  It records buckets and fingerprints
 * rather than slots, because entries are sorted again at each step.
 */
CUCKOO_INLINE bool
Relocate(const Block *block, uint32_t fingerprint, uint32_t i1, uint32_t i2,
		 uint64_t *random, Kick *kicks, bool packed)
{
	uint32_t	bucket = NextRandom(random) & 1 ? i1 : i2;
	uint32_t	entries[CUCKOO_ENTRIES];

	for (int kick = 0; kick < CUCKOO_MAX_KICKS; kick++)
	{
		int			slot = (int) (NextRandom(random) & (CUCKOO_ENTRIES - 1));
		uint32_t	out;

		BlockRead(block, bucket, entries, packed);
		out = entries[slot];
		BlockReplace(block, bucket, slot, fingerprint, packed);
		if (packed)
			kicks[kick] = (Kick) {bucket, fingerprint, out};

		/* The last look-ahead has shown that its other bucket is full. */
		fingerprint = out;
		bucket = CuckooAlternateBucket(fingerprint, bucket, block->buckets);
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

static int
CountIn(const CuckooPacking *packing, CuckooPacked packed, uint32_t fingerprint)
{
	uint32_t	entries[CUCKOO_ENTRIES];
	int			copies = 0;

	CuckooDecode(packing, packed, entries);
	for (int slot = 0; slot < CUCKOO_ENTRIES; slot++)
		copies += entries[slot] == fingerprint;
	return copies;
}

int
CuckooCountInPair(const CuckooPacking *packing, const uint8_t *even, const uint8_t *odd,
				  uint32_t fingerprint)
{
	return CountIn(packing, CuckooReadPackedAt(packing, even, 0), fingerprint) +
		CountIn(packing, CuckooReadPackedAt(packing, odd, packing->odd_shift), fingerprint);
}

int
CuckooDenseCount(const CuckooDense *dense, const CuckooPlace *place)
{
	const CuckooPacking *packing = &dense->packing;

	return CuckooCountInPair(packing, dense->data + CuckooBucketOffset(packing, place->even),
							 dense->data + CuckooBucketOffset(packing, place->base + place->i2),
							 place->fingerprint);
}

/*
 * The matches of two high parts of a wide bucket that starts shift bits after
 * p: of the first two (pair 0) or the last two (pair 1).
 */
static inline uint64_t
MatchPair(const CuckooPacking *packing, const uint8_t *p, int shift, int pair, uint32_t fingerprint)
{
	int			position = shift + CUCKOO_RANK_BITS + pair * 2 * packing->high_bits;

	return CuckooMatchHigh(packing, CuckooLoad64(p + (position >> 3)) >> (position & 7),
						   fingerprint);
}

/*
 * As for narrow buckets, most lookups end when the high parts are compared, and
 * a match is found without a branch.
 */
bool
CuckooContainsWide(const CuckooPacking *packing, const uint8_t *even, const uint8_t *odd,
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
		CuckooCountInPair(packing, even, odd, fingerprint) > 0;
}

int
CuckooBucketCount(const CuckooPacking *packing, uint64_t bucket, const uint8_t *span,
				  uint32_t fingerprint)
{
	return CountIn(packing,
				   CuckooReadPackedAt(packing, span, bucket & 1 ? packing->odd_shift : 0),
				   fingerprint);
}

/* The stored block that a place is in. */
static Block
PackedBlock(const CuckooDense *dense, const CuckooPlace *place)
{
	return (Block) {
		.packing = &dense->packing,
		.buckets = dense->shape.buckets,
		.base = place->base,
		.data = dense->data
	};
}

CuckooInsertion
CuckooDenseInsert(CuckooDense *dense, const CuckooPlace *place)
{
	Block		block = PackedBlock(dense, place);
	uint64_t	random = (place->base + place->i1) << 32 | place->fingerprint;
	Kick	   *kicks;
	bool		found;

	if (BlockPut(&block, place->i1, place->fingerprint, true) ||
		BlockPut(&block, place->i2, place->fingerprint, true))
		return CUCKOO_INSERTED;
	if (CuckooDenseCount(dense, place) == CUCKOO_MAX_COPIES)
		return CUCKOO_EIGHT_COPIES;
	if (LookAhead(&block, place->i1, place->fingerprint, true) ||
		LookAhead(&block, place->i2, place->fingerprint, true))
		return CUCKOO_INSERTED;
	kicks = palloc(CUCKOO_MAX_KICKS * sizeof(Kick));
	found = Relocate(&block, place->fingerprint, place->i1, place->i2, &random, kicks, true);
	pfree(kicks);
	return found ? CUCKOO_INSERTED : CUCKOO_NO_ROOM;
}

bool
CuckooDenseRemove(CuckooDense *dense, const CuckooPlace *place)
{
	Block		block = PackedBlock(dense, place);

	for (int i = 0; i < 2; i++)
	{
		uint32_t	bucket = i == 0 ? place->i1 : place->i2;
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
 * Put a fingerprint into an unpacked block.  The even bucket is preferred.
 * Codes come in the order of their even buckets, so only codes with the same
 * even bucket can still need it.
 */
static inline bool
PutUnpacked(const Block *block, uint32_t i1, uint32_t fingerprint, uint64_t *random)
{
	uint32_t	i2;

	if (BlockPut(block, i1, fingerprint, false))
		return true;
	i2 = CuckooAlternateBucket(fingerprint, i1, block->buckets);
	return BlockPut(block, i2, fingerprint, false) ||
		LookAhead(block, i1, fingerprint, false) ||
		LookAhead(block, i2, fingerprint, false) ||
		Relocate(block, fingerprint, i1, i2, random, NULL, false);
}

/*
 * The start of the random numbers for a block.  It depends on everything that
 * the content of the block may depend on, apart from the codes.
 */
static uint64_t
RandomStart(const CuckooShape *shape, uint32_t block, uint64_t seed)
{
	uint64_t	of_table = NextRandom(&seed) ^ ((uint64_t) shape->blocks << 32 | shape->buckets);
	uint64_t	of_block = NextRandom(&of_table) ^ ((uint64_t) block << 32 | shape->bits);

	return NextRandom(&of_block);
}

static void
PackBlock(CuckooDense *dense, uint32_t number, const Block *block)
{
	size_t		bytes = (size_t) block->buckets * dense->packing.nibbles / 2;
	uint8_t    *buckets = dense->data + number * bytes;

	memset(buckets, 0, bytes);
	for (uint32_t bucket = 0; bucket < block->buckets; bucket++)
	{
		uint32_t   *entries = block->entries[bucket];

		for (int slot = block->used[bucket]; slot < CUCKOO_ENTRIES; slot++)
			entries[slot] = 0;
		CuckooWritePacked(&dense->packing, buckets, bucket, CuckooEncode(&dense->packing, entries));
	}
}

bool
CuckooDenseBuild(CuckooDense *dense, const CuckooSource *source, uint64_t seed)
{
	const CuckooShape *shape = &dense->shape;
	size_t		entries_bytes = shape->buckets * sizeof(uint32_t[CUCKOO_ENTRIES]);
	uint64_t	codes[CUCKOO_READ_CODES];
	CuckooCursor cursor = {.source = source, .shape = *shape};
	bool		ok = true;
	Block		block = {.packing = &dense->packing, .buckets = shape->buckets};

	block.entries = palloc(entries_bytes + shape->buckets);
	block.used = (uint8_t *) block.entries + entries_bytes;

	for (uint32_t number = 0; ok && number < shape->blocks; number++)
	{
		uint64_t	first = (uint64_t) number * (shape->buckets / 2);
		uint64_t	end = (first + shape->buckets / 2) << shape->bits;
		uint64_t	random = RandomStart(shape, number, seed);
		size_t		count;

		CHECK_FOR_INTERRUPTS();
		memset(block.used, 0, shape->buckets);
		while (ok && (count = CuckooCursorRead(&cursor, end, codes, CUCKOO_READ_CODES)) > 0)
		{
			for (size_t i = 0; ok && i < count; i++)
				ok = PutUnpacked(&block, (uint32_t) (2 * ((codes[i] >> shape->bits) - first)),
								 (uint32_t) codes[i] & shape->fingerprints, &random);
		}
		if (ok)
			PackBlock(dense, number, &block);
	}
	pfree(block.entries);
	return ok;
}

uint64_t
CuckooDenseCodes(const CuckooDense *dense, uint32_t block, uint64_t *codes, uint64_t *scratch)
{
	uint32_t	buckets = dense->shape.buckets;
	uint64_t	base = (uint64_t) block * buckets;
	size_t		count = 0;

	CHECK_FOR_INTERRUPTS();
	for (uint32_t bucket = 0; bucket < buckets; bucket++)
	{
		uint32_t	entries[CUCKOO_ENTRIES];

		CuckooDecode(&dense->packing,
					 CuckooReadPacked(&dense->packing, dense->data, base + bucket), entries);
		for (int slot = 0; slot < CUCKOO_ENTRIES; slot++)
		{
			uint32_t	even = bucket & 1 ?
				CuckooAlternateBucket(entries[slot], bucket, buckets) : bucket;

			if (entries[slot] != 0)
				codes[count++] = (base + even) / 2 << dense->shape.bits | entries[slot];
		}
	}
	CuckooSort(codes, scratch, count);
	return count;
}

bool
CuckooDenseCheck(const CuckooDense *dense, uint64_t *items, uint64_t *bad)
{
	const CuckooPacking *packing = &dense->packing;
	uint64_t	buckets = CuckooShapeBuckets(&dense->shape);

	*items = 0;
	for (uint64_t number = 0; number < buckets; number++)
	{
		CuckooPacked packed = CuckooReadPacked(packing, dense->data, number);
		uint32_t	entries[CUCKOO_ENTRIES];
		bool		ordered = (packed.low & 0xFFF) < CUCKOO_MULTISETS;

		CuckooCheckInterruptsAt(CUCKOO_ENTRIES * number);
		CuckooDecode(packing, packed, entries);
		*items += entries[0] != 0;
		for (int slot = 1; slot < CUCKOO_ENTRIES; slot++)
		{
			ordered = ordered && CuckooSortKey(entries[slot - 1]) <= CuckooSortKey(entries[slot]);
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
