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

	/*
	 * No logarithm: its last digit differs between platforms.  The cast drops
	 * what the x87 of 32-bit machines has beyond a double.
	 */
	while (bits < CUCKOO_MAX_BITS &&
		   compared > (double) (fpr * (ldexp(1.0, bits) - 1)))
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
		uint64_t	more = buckets < 200 ? 2 : buckets / 100;

		buckets += more << (attempt - 1);
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

/*
 * Up to this many are sorted in cache, two areas of 1 MB at most; more are
 * divided into parts of half as many first.
 */
#define CACHE_LIMIT			(128 * 1024)

/*
 * Digits of up to this many bits: more would miss the translation cache where
 * parts lie far apart, the first-level cache where they do not.
 */
#define MAX_FAR_DIGIT		10
#define MAX_NEAR_DIGIT		11

/* Loops over elements pause before every so many. */
#define PAUSE_ELEMENTS		65536

static inline void
PauseAt(size_t i, CuckooPause pause)
{
	if (i % PAUSE_ELEMENTS == 0 && pause != NULL)
		pause();
}

static void
CopyElements(uint64_t *target, const uint64_t *source, size_t count, CuckooPause pause)
{
	for (size_t i = 0; i < count; i += PAUSE_ELEMENTS)
	{
		size_t		left = count - i;

		PauseAt(i, pause);
		memcpy(target + i, source + i,
			   (left < PAUSE_ELEMENTS ? left : PAUSE_ELEMENTS) * sizeof(uint64_t));
	}
}

/*
 * Put the elements of source in order in result, which may be the same area:
 * cheap where few are out of place.  Gives up after too many steps; then
 * result, if it is the same area, holds the same elements in another order.
 */
static bool
InsertionSort(const uint64_t *source, uint64_t *result, size_t count, size_t steps)
{
	for (size_t i = 0; i < count; i++)
	{
		uint64_t	value = source[i];
		size_t		j = i;

		for (; j > 0 && result[j - 1] > value; j--)
			result[j] = result[j - 1];
		result[j] = value;
		if (i - j > steps)
			return false;
		steps -= i - j;
	}
	return true;
}

/*
 * Sort elements that fit in cache, by two digits, the low one first: from
 * source to target and back.  The two digits tell nearly all elements apart;
 * what they leave is put right one by one.  False, and the elements in another
 * order, where it is too much: elements made to be so.
 */
static bool
SortInCache(uint64_t *source, uint64_t *target, size_t count, int bits_left)
{
	uint32_t	low_ends[1 << MAX_NEAR_DIGIT];
	uint32_t	high_ends[1 << MAX_NEAR_DIGIT];
	int			digit_bits = 2;
	int			shift;
	uint32_t	mask;
	uint32_t	low_sum = 0;
	uint32_t	high_sum = 0;

	/* Sixteen times as many pairs of digits as elements, if that can be. */
	while (digit_bits < MAX_NEAR_DIGIT && count >> (2 * digit_bits - 4) > 0)
		digit_bits++;
	if (2 * digit_bits > bits_left)
		return false;
	shift = bits_left - 2 * digit_bits;
	mask = ((uint32_t) 1 << digit_bits) - 1;

	memset(low_ends, 0, ((size_t) mask + 1) * sizeof(uint32_t));
	memset(high_ends, 0, ((size_t) mask + 1) * sizeof(uint32_t));
	for (size_t i = 0; i < count; i++)
	{
		low_ends[source[i] >> shift & mask]++;
		high_ends[source[i] >> (shift + digit_bits) & mask]++;
	}
	for (uint32_t digit = 0; digit <= mask; digit++)
	{
		uint32_t	low_part = low_ends[digit];
		uint32_t	high_part = high_ends[digit];

		low_ends[digit] = low_sum;
		high_ends[digit] = high_sum;
		low_sum += low_part;
		high_sum += high_part;
	}
	for (size_t i = 0; i < count; i++)
		target[low_ends[source[i] >> shift & mask]++] = source[i];
	for (size_t i = 0; i < count; i++)
		source[high_ends[target[i] >> (shift + digit_bits) & mask]++] = target[i];
	return InsertionSort(source, source, count, 2 * count);
}

/*
 * Sort the count elements of source, which agree in all but their low
 * bits_left bits; the result goes to source itself or to target, a separate
 * area of the same size.
 *
 * Most significant digit first, until the parts fit in cache: one level for
 * ten million even hashes.  Elements go to and fro between the two areas.
 * However uneven they are, a level takes a digit off and the depth stays below
 * 64.
 */
static void
RadixSort(uint64_t *source, uint64_t *target, size_t count, int bits_left,
		  bool to_source, CuckooPause pause)
{
	uint32_t	ends[1 << MAX_FAR_DIGIT];
	int			digit_bits = 1;
	int			shift;
	uint32_t	mask;
	uint32_t	sum = 0;
	uint32_t	paused = 0;

	if (count <= INSERTION_LIMIT)
	{
		InsertionSort(source, to_source ? source : target, count, SIZE_MAX);
		return;
	}
	if (bits_left == 0 ||
		(count <= CACHE_LIMIT && SortInCache(source, target, count, bits_left)))
	{
		if (!to_source)
			CopyElements(target, source, count, pause);
		return;
	}

	/* What SortInCache could not do is divided further than it needs. */
	while (digit_bits < MAX_FAR_DIGIT && digit_bits < bits_left &&
		   count >> digit_bits > (count <= CACHE_LIMIT ? 4 : CACHE_LIMIT / 2))
		digit_bits++;
	shift = bits_left - digit_bits;
	mask = ((uint32_t) 1 << digit_bits) - 1;

	memset(ends, 0, ((size_t) mask + 1) * sizeof(ends[0]));
	for (size_t i = 0; i < count; i++)
	{
		PauseAt(i, pause);
		ends[source[i] >> shift & mask]++;
	}
	for (uint32_t digit = 0; digit <= mask; digit++)
	{
		uint32_t	part = ends[digit];

		ends[digit] = sum;
		sum += part;
	}
	for (size_t i = 0; i < count; i++)
	{
		PauseAt(i, pause);
		target[ends[source[i] >> shift & mask]++] = source[i];
	}

	sum = 0;
	for (uint32_t digit = 0; digit <= mask; digit++)
	{
		/* Parts that are sorted in cache do not pause themselves. */
		if (ends[digit] - paused >= PAUSE_ELEMENTS)
		{
			PauseAt(0, pause);
			paused = ends[digit];
		}
		RadixSort(target + sum, source + sum, ends[digit] - sum, shift, !to_source, pause);
		sum = ends[digit];
	}
}

void
CuckooSortHashes(uint64_t *hashes, uint64_t *scratch, size_t count, CuckooPause pause)
{
	uint64_t	differ = 0;
	int			bits = 0;

	/* What all have in common, as the hashes of a block have, is not sorted. */
	for (size_t i = 1; i < count; i++)
	{
		PauseAt(i, pause);
		differ |= hashes[0] ^ hashes[i];
	}
	while (bits < 64 && differ >> bits != 0)
		bits++;
	RadixSort(hashes, scratch, count, bits, true, pause);
}

size_t
CuckooUniqueHashes(uint64_t *hashes, size_t count, CuckooPause pause)
{
	size_t		kept = 0;

	for (size_t i = 0; i < count; i++)
	{
		PauseAt(i, pause);
		if (kept == 0 || hashes[kept - 1] != hashes[i])
			hashes[kept++] = hashes[i];
	}
	return kept;
}

/*
 * Classes
 */

void
CuckooClassesInit(CuckooClasses *classes, const CuckooShape *shape, void *workspace)
{
	classes->list = workspace;
	classes->scratch = classes->list + CuckooClassRoom(shape);
	classes->count = 0;
}

void
CuckooClassesSort(CuckooClasses *classes, const CuckooShape *shape)
{
	int			bits_left = CUCKOO_CLASS_FIRST_BIT;

	while ((shape->buckets - 1) >> (bits_left - CUCKOO_CLASS_FIRST_BIT) > 0)
		bits_left++;
	RadixSort(classes->list, classes->scratch, classes->count, bits_left, true, NULL);
}

/* Drop copies beyond the eighth from sorted classes. */
static void
DropCopies(CuckooClasses *classes)
{
	size_t		kept = 0;

	for (size_t i = 0; i < classes->count; i++)
	{
		if (kept < CUCKOO_MAX_COPIES ||
			!CuckooSameClass(classes->list[kept - CUCKOO_MAX_COPIES], classes->list[i]))
			classes->list[kept++] = classes->list[i];
	}
	classes->count = kept;
}

/* An empty unpacked block in the workspace, behind the classes. */
static CuckooBlock
UnpackedBlock(const CuckooTable *table, const CuckooClasses *classes)
{
	CuckooBlock block;

	block.code = &table->code;
	block.buckets = table->shape.buckets;
	block.base = 0;
	block.data = NULL;
	block.entries = (uint32_t (*)[CUCKOO_ENTRIES]) (classes->scratch +
													CuckooClassRoom(&table->shape));
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
RandomStart(const CuckooShape *shape, uint32_t block, uint64_t seed)
{
	uint64_t	state = seed;
	uint64_t	random;

	random = CuckooRandom(&state);
	state = random ^ ((uint64_t) shape->blocks << 32 | shape->buckets);
	random = CuckooRandom(&state);
	state = random ^ ((uint64_t) block << 32 | (uint32_t) shape->bits << 8 |
					  shape->layout);
	return CuckooRandom(&state);
}

/*
 * Move the classes with eight copies from sorted ones to those that leave.
 * Returns whether a block with the others is crowded.
 */
static bool
TakeStuck(CuckooClasses *classes, CuckooClasses *leavers, const CuckooShape *shape)
{
	uint64_t   *list = classes->list;
	size_t		kept = 0;
	size_t		last = CUCKOO_MAX_COPIES - 1;

	for (size_t i = 0; i < classes->count; i++)
	{
		if (i + last < classes->count && CuckooSameClass(list[i], list[i + last]))
		{
			leavers->list[leavers->count++] = list[i];
			i += last;
		}
		else
			list[kept++] = list[i];
	}
	classes->count = kept;
	return kept < CuckooShapeCapacity(shape) / shape->blocks / CUCKOO_CROWDED_SHARE;
}

/*
 * Make room in an unpacked block for a key that found none: a class leaves,
 * which is returned, and where it is not the key's own, the key comes in.
 */
static uint64_t
MakeRoom(const CuckooBlock *block, const CuckooShape *shape, const CuckooHomeless *key,
		 uint64_t *items)
{
	CuckooHomeless leaving = CuckooLeaving(block, key, false);

	*items -= (uint64_t) CuckooTakeOut(block, leaving.first, leaving.fingerprint, false);
	*items -= (uint64_t) CuckooTakeOut(block, leaving.second, leaving.fingerprint, false);
	if (leaving.fingerprint != key->fingerprint &&
		(CuckooBlockPut(block, key->first, key->fingerprint, false) ||
		 CuckooBlockPut(block, key->second, key->fingerprint, false)))
		*items += 1;
	return CuckooMakeClass(shape, leaving.first, leaving.second, leaving.fingerprint);
}

/*
 * Each class goes to its lower bucket while there is room, else to the other;
 * only where both are full entries are moved.  In ascending order no class to
 * come wants a lower bucket, so that room left there would be lost: 6 % of
 * keys meet two full buckets, and 10 % where a mixed bit chooses the first.
 */
bool
CuckooPlaceClasses(const CuckooTable *table, uint32_t number, CuckooClasses *classes,
				   CuckooClasses *leavers, uint64_t seed, uint64_t *items)
{
	bool		crowded = leavers != NULL && TakeStuck(classes, leavers, &table->shape);
	CuckooBlock block = UnpackedBlock(table, classes);
	uint64_t	random = RandomStart(&table->shape, number, seed);

	*items = 0;
	if (classes->count == 0)
	{
		/* A block is even in buckets and so a whole number of bytes. */
		size_t		bytes = (size_t) block.buckets * table->code.nibbles / 2;

		memset(table->data + number * bytes, 0, bytes);
		return true;
	}
	for (size_t i = 0; i < classes->count; i++)
	{
		CuckooPlace place = CuckooClassPlace(&table->shape, number, classes->list[i]);
		CuckooHomeless key = {place.fingerprint, place.first, place.second};
		CuckooInsertResult result;

		result = CuckooFindRoom(&block, &key, &random, NULL, CUCKOO_MAX_KICKS, false);
		if (result == CUCKOO_FULL)
		{
			uint64_t	leaver;

			if (!crowded)
				return false;
			leaver = MakeRoom(&block, &table->shape, &key, items);
			leavers->list[leavers->count++] = leaver;
			while (i + 1 < classes->count && CuckooSameClass(classes->list[i + 1], leaver))
				i++;
		}
		*items += result == CUCKOO_INSERTED;
	}
	PackBlock(table, number, &block);
	return true;
}

size_t
CuckooBuildBlock(CuckooTable *table, uint32_t number,
				 const uint64_t *hashes, size_t count,
				 void *workspace, uint64_t seed, bool *ok)
{
	CuckooShape shape = table->shape;
	CuckooClasses classes;
	uint64_t	items;
	size_t		taken;

	CuckooClassesInit(&classes, &shape, workspace);
	for (taken = 0; taken < count; taken++)
	{
		CuckooPlace place;

		if (CuckooBlockOf(&shape, hashes[taken]) != number)
			break;
		/* More than a block holds: only copies beyond the eighth may be. */
		if (classes.count == CuckooClassRoom(&shape))
		{
			CuckooClassesSort(&classes, &shape);
			DropCopies(&classes);
			if (classes.count > CuckooClassRoom(&shape) / 2)
			{
				*ok = false;
				return taken;
			}
		}
		place = CuckooLocate(&shape, hashes[taken]);
		classes.list[classes.count++] = CuckooMakeClass(&shape, place.first, place.second,
														 place.fingerprint);
	}
	CuckooClassesSort(&classes, &shape);
	*ok = CuckooPlaceClasses(table, number, &classes, NULL, seed, &items);
	if (*ok)
		table->items += items;
	return taken;
}
