/*-------------------------------------------------------------------------
 *
 * build.c
 *	  Building a table from a list of hashes; see build.h.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <string.h>

#include "build.h"
#include "place.h"

int
CuckooBitsFor(double fpr, double load, int extra_bits)
{
	double		compared = 2 * CUCKOO_ENTRIES * load;
	int			bits = CUCKOO_MIN_BITS;

	/* No logarithm: its last digit differs between platforms. */
	while (bits < CUCKOO_MAX_BITS && compared > fpr * (ldexp(1.0, bits) - 1))
		bits++;
	bits += extra_bits;
	return bits < CUCKOO_MAX_BITS ? bits : CUCKOO_MAX_BITS;
}

/*
 * A few buckets more than the load asks leave small tables the room they
 * need: a walk has nowhere to go in them.  (Without, one build of 20,000 of
 * 33 keys fails.)
 */
bool
CuckooShapeFor(CuckooShape *shape, uint64_t keys, int bits,
			   CuckooLayout layout, int attempt)
{
	uint64_t	buckets;
	uint64_t	blocks;

	if (keys > UINT64_MAX / 400)
		return false;
	buckets = keys * 100 / 383 + (keys < 5000 ? 5 : 1);
	if (attempt > 0)
	{
		uint64_t	more = (buckets / 100) << (attempt - 1);

		buckets += more > 2 ? more : (uint64_t) 2 << (attempt - 1);
	}

	blocks = (buckets + CUCKOO_MAX_BUCKETS - 1) / CUCKOO_MAX_BUCKETS;
	if (blocks > UINT32_MAX)
		return false;
	buckets = (buckets + blocks - 1) / blocks;

	shape->blocks = (uint32_t) blocks;
	shape->buckets = (uint32_t) (buckets + (buckets & 1));
	shape->bits = (uint8_t) bits;
	shape->layout = (uint8_t) layout;
	return true;
}

/* Up to this many elements are put in order one by one. */
#define INSERTION_LIMIT		16

/* Digits of up to this many bits: more would miss the translation cache. */
#define MAX_DIGIT_BITS		10

/*
 * Sort the count elements of source, which agree in all but their low
 * bits_left bits; the result goes to source itself or to target, a separate
 * area of the same size.
 *
 * Most significant digit first, and a digit as wide as leaves a few elements
 * a part: the hashes being even, two or three levels do.  Elements go to and
 * fro between the two areas.  However uneven they are, a level takes a digit
 * off and the depth stays below 64 / 3.
 */
static void
RadixSort(uint64_t *source, uint64_t *target, size_t count, int bits_left,
		  bool to_source)
{
	uint32_t	ends[1 << MAX_DIGIT_BITS];
	int			digit_bits = 1;
	int			shift;
	uint32_t	mask;
	uint32_t	sum = 0;

	if (count <= INSERTION_LIMIT)
	{
		uint64_t   *result = to_source ? source : target;

		for (size_t i = 0; i < count; i++)
		{
			uint64_t	value = source[i];
			size_t		j = i;

			for (; j > 0 && result[j - 1] > value; j--)
				result[j] = result[j - 1];
			result[j] = value;
		}
		return;
	}
	if (bits_left == 0)
	{
		if (!to_source)
			memcpy(target, source, count * sizeof(uint64_t));
		return;
	}

	while (digit_bits < MAX_DIGIT_BITS && digit_bits < bits_left &&
		   count >> (digit_bits + 2) > 0)
		digit_bits++;
	shift = bits_left - digit_bits;
	mask = ((uint32_t) 1 << digit_bits) - 1;

	memset(ends, 0, ((size_t) mask + 1) * sizeof(ends[0]));
	for (size_t i = 0; i < count; i++)
		ends[source[i] >> shift & mask]++;
	for (uint32_t digit = 0; digit <= mask; digit++)
	{
		uint32_t	part = ends[digit];

		ends[digit] = sum;
		sum += part;
	}
	for (size_t i = 0; i < count; i++)
		target[ends[source[i] >> shift & mask]++] = source[i];

	sum = 0;
	for (uint32_t digit = 0; digit <= mask; digit++)
	{
		RadixSort(target + sum, source + sum, ends[digit] - sum, shift, !to_source);
		sum = ends[digit];
	}
}

void
CuckooSortHashes(uint64_t *hashes, uint64_t *scratch, size_t count)
{
	uint64_t	differ = 0;
	int			bits = 0;

	/* What all have in common, as the hashes of a block have, is not sorted. */
	for (size_t i = 1; i < count; i++)
		differ |= hashes[0] ^ hashes[i];
	while (bits < 64 && differ >> bits != 0)
		bits++;
	RadixSort(hashes, scratch, count, bits, true);
}

size_t
CuckooUniqueHashes(uint64_t *hashes, size_t count)
{
	size_t		kept = 0;

	for (size_t i = 0; i < count; i++)
	{
		if (kept == 0 || hashes[kept - 1] != hashes[i])
			hashes[kept++] = hashes[i];
	}
	return kept;
}

/* An empty unpacked block in the caller's memory. */
static CuckooBlock
UnpackedBlock(const CuckooTable *table, void *workspace)
{
	CuckooBlock block;

	block.code = &table->code;
	block.buckets = table->shape.buckets;
	block.base = 0;
	block.data = NULL;
	block.entries = workspace;
	block.used = (uint8_t *) (block.entries + block.buckets);
	memset(block.used, 0, block.buckets);
	return block;
}

/* Encode every bucket of an unpacked block into its place in the table. */
static void
PackBlock(const CuckooTable *table, uint32_t number, const CuckooBlock *block)
{
	uint64_t	base = (uint64_t) number * block->buckets;

	for (uint32_t bucket = 0; bucket < block->buckets; bucket++)
	{
		uint32_t   *entries = block->entries[bucket];

		for (int slot = block->used[bucket]; slot < CUCKOO_ENTRIES; slot++)
			entries[slot] = 0;
		CuckooWriteBits(&table->code, table->data, base + bucket,
						CuckooEncode(&table->code, entries));
	}
}

/*
 * The generator starts anew for every block from all that its content may
 * depend on.
 */
static uint64_t
RandomStart(const CuckooShape *shape, uint32_t block, uint64_t seed, int attempt)
{
	uint64_t	state = seed;
	uint64_t	random;

	random = CuckooRandom(&state);
	state = random ^ ((uint64_t) shape->blocks << 32 | shape->buckets);
	random = CuckooRandom(&state);
	state = random ^ ((uint64_t) block << 32 | (uint32_t) attempt << 16 |
					  (uint32_t) shape->bits << 8 | shape->layout);
	return CuckooRandom(&state);
}

size_t
CuckooBuildBlock(CuckooTable *table, uint32_t number,
				 const uint64_t *hashes, size_t count,
				 void *workspace, uint64_t seed, int attempt, bool *ok)
{
	CuckooBlock block = UnpackedBlock(table, workspace);
	uint64_t	random = RandomStart(&table->shape, number, seed, attempt);
	uint64_t	items = 0;
	size_t		taken;

	*ok = true;
	for (taken = 0; taken < count; taken++)
	{
		CuckooPlace place;
		CuckooInsertResult result;

		if (CuckooBlockOf(&table->shape, hashes[taken]) != number)
			break;
		place = CuckooLocate(&table->shape, hashes[taken]);
		result = CuckooFindRoom(&block, place.fingerprint, place.first, place.second,
								&random, NULL, CUCKOO_MAX_KICKS, false);
		if (result == CUCKOO_FULL)
		{
			*ok = false;
			return taken;
		}
		items += result == CUCKOO_INSERTED;
	}
	PackBlock(table, number, &block);
	table->items += items;
	return taken;
}
