/*-------------------------------------------------------------------------
 *
 * build_test.c
 *	  Building: sizes, sorting, and the same bytes for the same set.
 *
 *-------------------------------------------------------------------------
 */
#include "support.h"

static int
CompareHashes(const void *a, const void *b)
{
	uint64_t	left = *(const uint64_t *) a;
	uint64_t	right = *(const uint64_t *) b;

	return left < right ? -1 : left > right;
}

/* --------------------------------------------------------------- sorting */

typedef enum Distribution
{
	EVEN, ALL_EQUAL, TWO_VALUES, ASCENDING, DESCENDING, ONE_TOP_DIGIT, LOW_BITS_ONLY,
	POWERS_OF_TWO, FEW_VALUES, EXTREMES, NESTED, DISTRIBUTIONS
} Distribution;

static uint64_t
Draw(Distribution distribution, uint64_t i, size_t count, uint64_t *random)
{
	switch (distribution)
	{
		case ALL_EQUAL:
			return UINT64_C(0x123456789ABCDEF0);
		case TWO_VALUES:
			return NextRandom(random) >> 63 ? UINT64_MAX : UINT64_MAX - 1;
		case ASCENDING:
			return i << 40;
		case DESCENDING:
			return (count - i) << 20;
		case ONE_TOP_DIGIT:
			return UINT64_C(0xABC) << 52 | NextRandom(random) >> 12;
		case LOW_BITS_ONLY:
			return NextRandom(random) >> 48;
		case POWERS_OF_TWO:
			return UINT64_C(1) << RandomBelow(random, 64);
		case FEW_VALUES:
			return KeyHash(1, RandomBelow(random, 20));
		case EXTREMES:
			return NextRandom(random) >> 63 ? UINT64_MAX : 0;
		case NESTED:
			/* Every digit splits off one and leaves the rest together. */
			return UINT64_MAX >> (i % 64);
		default:
			return NextRandom(random);
	}
}

static void
sorting_agrees_with_qsort_whatever_the_distribution(void **state)
{
	/* Around the limit of insertion sort and the widths of digits. */
	static const size_t sizes[] = {
		0, 1, 2, 3, 15, 16, 17, 18, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256,
		257, 511, 512, 1023, 1024, 1025, 2047, 2048, 2049, 4095, 4096, 4097, 8191,
		8192, 8193, 16385, 100000
	};
	uint64_t	random = 1;

	(void) state;
	for (size_t i = 0; i < lengthof(sizes); i++)
	{
		size_t		count = sizes[i];

		for (int distribution = 0; distribution < DISTRIBUTIONS; distribution++)
		{
			uint64_t   *hashes = Allocate(count * sizeof(uint64_t));
			uint64_t   *scratch = Allocate(count * sizeof(uint64_t));
			uint64_t   *expected;

			for (size_t k = 0; k < count; k++)
				hashes[k] = Draw((Distribution) distribution, k, count, &random);
			expected = Duplicate(hashes, count * sizeof(uint64_t));
			qsort(expected, count, sizeof(uint64_t), CompareHashes);
			CuckooSortHashes(hashes, scratch, count, NULL);
			if (count > 0 && memcmp(hashes, expected, count * sizeof(uint64_t)) != 0)
				fail_msg("%zu hashes of distribution %d are not in order", count, distribution);
			free(hashes);
			free(scratch);
			free(expected);
		}
	}
}

static int	pauses;

static void
CountPause(void)
{
	pauses++;
}

/* A sort of many hashes takes seconds: it can be given up all along. */
static void
sorting_pauses_after_at_most_65536_hashes(void **state)
{
	const size_t count = 1000000;
	uint64_t   *hashes = SortedHashes(1, count);
	uint64_t   *scratch = Allocate(count * sizeof(uint64_t));

	(void) state;
	Shuffle(hashes, count, 1);
	pauses = 0;
	CuckooSortHashes(hashes, scratch, count, CountPause);
	/* Twice over all of them, then moving them, then sorting the parts */
	assert_true(pauses >= 4 * (int) (count / 65536));
	pauses = 0;
	assert_int_equal(CuckooUniqueHashes(hashes, count, CountPause), count);
	assert_true(pauses >= (int) (count / 65536));
	for (size_t i = 1; i < count; i++)
		assert_true(hashes[i - 1] < hashes[i]);
	free(hashes);
	free(scratch);
}

static void
sorting_a_million_even_hashes_agrees_with_qsort(void **state)
{
	const size_t count = 1000000;
	uint64_t   *hashes = SortedHashes(1, count);
	uint64_t   *expected = Allocate(count * sizeof(uint64_t));

	(void) state;
	for (size_t i = 0; i < count; i++)
		expected[i] = KeyHash(1, i);
	qsort(expected, count, sizeof(uint64_t), CompareHashes);
	assert_memory_equal(hashes, expected, count * sizeof(uint64_t));
	free(hashes);
	free(expected);
}

static void
repetitions_are_dropped_from_sorted_hashes(void **state)
{
	uint64_t	some[] = {0, 0, 0, 1, 2, 2, 5, UINT64_MAX, UINT64_MAX};
	const uint64_t distinct[] = {0, 1, 2, 5, UINT64_MAX};
	uint64_t	equal[] = {7, 7, 7, 7};

	(void) state;
	assert_int_equal(CuckooUniqueHashes(some, lengthof(some), NULL), lengthof(distinct));
	assert_memory_equal(some, distinct, sizeof(distinct));
	assert_int_equal(CuckooUniqueHashes(some, lengthof(distinct), NULL), lengthof(distinct));
	assert_memory_equal(some, distinct, sizeof(distinct));
	assert_int_equal(CuckooUniqueHashes(equal, 4, NULL), 1);
	assert_int_equal(equal[0], 7);
	assert_int_equal(CuckooUniqueHashes(equal, 1, NULL), 1);
	assert_int_equal(CuckooUniqueHashes(equal, 0, NULL), 0);
}

/* ---------------------------------------------------------------- shapes */

static void
bits_are_the_fewest_that_keep_the_rate(void **state)
{
	static const double loads[] = {CUCKOO_DESIGN_LOAD, CUCKOO_FULL_LOAD, 0.5, 1};
	uint64_t	random = 2;

	(void) state;
	for (size_t i = 0; i < lengthof(loads); i++)
	{
		for (int k = 0; k < 20000; k++)
		{
			double		exponent = ldexp((double) (NextRandom(&random) >> 11), -53);
			double		fpr = CUCKOO_MIN_FPR * pow(CUCKOO_MAX_FPR / CUCKOO_MIN_FPR, exponent);
			int			bits = CuckooBitsFor(fpr, loads[i], 0);

			assert_in_range(bits, CUCKOO_MIN_BITS, CUCKOO_MAX_BITS);
			if (bits < CUCKOO_MAX_BITS)
				assert_true(8 * loads[i] / (ldexp(1, bits) - 1) <= fpr * (1 + 1e-15));
			if (bits > CUCKOO_MIN_BITS)
				assert_true(8 * loads[i] / (ldexp(1, bits - 1) - 1) > fpr * (1 - 1e-15));
		}
	}
}

static void
every_rate_that_may_be_asked_is_within_32_bits(void **state)
{
	(void) state;
	assert_true(8 * CUCKOO_FULL_LOAD / (ldexp(1, CUCKOO_MAX_BITS) - 1) <= CUCKOO_MIN_FPR);
	assert_int_equal(CuckooBitsFor(CUCKOO_MIN_FPR, CUCKOO_FULL_LOAD, 0), 32);
	assert_int_equal(CuckooBitsFor(0.001, CUCKOO_FULL_LOAD, 0), 13);
	assert_int_equal(CuckooBitsFor(0.001, CUCKOO_DESIGN_LOAD, 0), 13);
	assert_int_equal(CuckooBitsFor(1, 0.1, 0), CUCKOO_MIN_BITS);
}

static void
extra_bits_are_added_up_to_32(void **state)
{
	(void) state;
	for (int extra = 0; extra <= 5; extra++)
	{
		assert_int_equal(CuckooBitsFor(0.001, CUCKOO_FULL_LOAD, extra), 13 + extra);
		assert_int_equal(CuckooBitsFor(CUCKOO_MIN_FPR, CUCKOO_FULL_LOAD, extra), 32);
	}
}

static void
CheckShapes(uint64_t keys, int bits, CuckooLayout layout)
{
	uint64_t	last = 0;

	for (int attempt = 0; attempt < CUCKOO_MAX_ATTEMPTS; attempt++)
	{
		CuckooShape shape;
		uint64_t	buckets;

		assert_true(CuckooShapeFor(&shape, keys, bits, layout, attempt));
		buckets = CuckooShapeBuckets(&shape);
		if (shape.blocks < 1 || shape.buckets < CUCKOO_MIN_BUCKETS ||
			shape.buckets > CUCKOO_MAX_BUCKETS || shape.buckets % 2 != 0 ||
			shape.bits != bits || shape.layout != layout ||
			CuckooShapeCapacity(&shape) < keys || buckets <= last)
			fail_msg("%llu keys, attempt %d: %u blocks of %u buckets",
					 (unsigned long long) keys, attempt, shape.blocks, shape.buckets);
		last = buckets;
	}
}

static void
shapes_are_valid_hold_their_keys_and_grow_by_attempts(void **state)
{
	uint64_t	random = 3;

	(void) state;
	for (uint64_t keys = 0; keys < 300000; keys++)
		CheckShapes(keys, 13, CUCKOO_SEMISORTED);
	for (int i = 0; i < 100000; i++)
		CheckShapes(NextRandom(&random) >> (23 + RandomBelow(&random, 38)),
					CUCKOO_MIN_BITS + (int) RandomBelow(&random, 28),
					(CuckooLayout) RandomBelow(&random, 2));
	CheckShapes(CUCKOO_MAX_CAPACITY, 32, CUCKOO_PLAIN);
}

static void
the_last_attempt_is_much_larger(void **state)
{
	(void) state;
	for (uint64_t keys = 0; keys < 1000000; keys += 1 + keys / 10)
	{
		CuckooShape first;
		CuckooShape last;

		assert_true(CuckooShapeFor(&first, keys, 13, CUCKOO_SEMISORTED, 0));
		assert_true(CuckooShapeFor(&last, keys, 13, CUCKOO_SEMISORTED,
								   CUCKOO_MAX_ATTEMPTS - 1));
		assert_true(CuckooShapeBuckets(&last) * 100 >= CuckooShapeBuckets(&first) * 140);
	}
}

static void
a_shape_of_too_many_blocks_is_refused(void **state)
{
	CuckooShape shape;

	(void) state;
	assert_false(CuckooShapeFor(&shape, UINT64_MAX, 13, CUCKOO_SEMISORTED, 0));
	assert_false(CuckooShapeFor(&shape, UINT64_MAX / 400, 13, CUCKOO_SEMISORTED, 0));
	assert_false(CuckooShapeFor(&shape, UINT64_C(1) << 50, 13, CUCKOO_SEMISORTED, 0));
	assert_true(CuckooShapeFor(&shape, UINT64_C(1) << 48, 13, CUCKOO_SEMISORTED, 0));
}

/* 68: the value's header, a directory entry, the tail and a varlena header. */
static void
from_10000_keys_a_filter_takes_at_most_12_6_bits_a_key(void **state)
{
	(void) state;
	for (uint64_t keys = 10000; keys < 100000000; keys += keys < 300000 ? 1 : keys / 1000)
	{
		CuckooShape shape;

		assert_true(CuckooShapeFor(&shape, keys, 13, CUCKOO_SEMISORTED, 0));
		if ((double) (CuckooShapeBytes(&shape) + 68) * 8 > 12.6 * (double) keys)
			fail_msg("%llu keys: %llu bytes", (unsigned long long) keys,
					 (unsigned long long) CuckooShapeBytes(&shape));
	}
}

/* ---------------------------------------------------------------- builds */

/* Sort and build, as an aggregate does with rows in any order. */
static CuckooTable
BuildFromRows(const uint64_t *rows, size_t count, int bits, CuckooLayout layout,
			  uint64_t seed)
{
	uint64_t   *hashes = Duplicate(rows, count * sizeof(uint64_t));
	uint64_t   *scratch = Allocate(count * sizeof(uint64_t));
	CuckooTable table;

	CuckooSortHashes(hashes, scratch, count, NULL);
	table = BuildTable(hashes, CuckooUniqueHashes(hashes, count, NULL), bits, layout, seed);
	free(hashes);
	free(scratch);
	return table;
}

static void
the_same_set_has_the_same_bytes_in_any_order_with_any_repetitions(void **state)
{
	static const size_t sizes[] = {1, 2, 33, 100, 5000, 131073, 300000};
	static const int bits[] = {5, 13, 17, 18, 32};

	(void) state;
	for (size_t i = 0; i < lengthof(sizes); i++)
	{
		for (size_t j = 0; j < lengthof(bits); j++)
		{
			for (int layout = CUCKOO_SEMISORTED; layout <= CUCKOO_PLAIN; layout++)
			{
				size_t		count = sizes[i];
				uint64_t   *rows = Allocate(2 * count * sizeof(uint64_t));
				CuckooTable once;
				CuckooTable again;

				for (size_t k = 0; k < 2 * count; k++)
					rows[k] = KeyHash(1, k % count);
				once = BuildFromRows(rows, count, bits[j], (CuckooLayout) layout, 9);
				Shuffle(rows, 2 * count, i + 1);
				again = BuildFromRows(rows, 2 * count, bits[j], (CuckooLayout) layout, 9);

				assert_true(CuckooShapeEqual(&once.shape, &again.shape));
				assert_int_equal(once.items, again.items);
				assert_int_equal(once.items, count);
				assert_memory_equal(once.data, again.data,
									(size_t) CuckooShapeBytes(&once.shape));
				FreeTable(&once);
				FreeTable(&again);
				free(rows);
			}
		}
	}
}

static void
a_built_filter_keeps_the_rate_at_every_size(void **state)
{
	static const double rates[] = {0.1, 0.05, 0.01, 0.003, 0.001, 1e-4, 1e-6, 1e-8, 2e-9};

	(void) state;
	for (uint64_t keys = CUCKOO_SHORT_LIST + 1; keys < 100000000; keys += 1 + keys / 50)
	{
		for (size_t i = 0; i < lengthof(rates); i++)
		{
			int			bits = CuckooBitsFor(rates[i], CUCKOO_DESIGN_LOAD, 0);
			CuckooShape shape;

			assert_true(CuckooShapeFor(&shape, keys, bits, CUCKOO_SEMISORTED, 0));
			assert_true(CuckooTableRate(&shape, keys) <= rates[i]);
		}
	}
}

/* Hundreds of small builds, where room is scarcest. */
static void
builds_of_every_small_size_succeed(void **state)
{
	(void) state;
	for (size_t count = 0; count < 600; count++)
	{
		uint64_t   *hashes = SortedHashes(count, count);
		CuckooTable table = BuildTable(hashes, count, 13, CUCKOO_SEMISORTED, 0);

		assert_int_equal(table.items, count);
		assert_true(TableIsSound(&table));
		for (size_t i = 0; i < count; i++)
			assert_true(CuckooTableContains(&table, hashes[i]));
		FreeTable(&table);
		free(hashes);
	}
}

static void
most_builds_succeed_at_the_first_attempt(void **state)
{
	int			failures = 0;

	(void) state;
	for (uint64_t stream = 0; stream < 300; stream++)
	{
		size_t		count = 5000 + 10 * stream;
		uint64_t   *hashes = SortedHashes(1000 + stream, count);
		CuckooShape shape;
		CuckooTable table;

		assert_true(CuckooShapeFor(&shape, count, 13, CUCKOO_SEMISORTED, 0));
		table = NewTable(&shape);
		failures += !BuildBlocks(&table, hashes, count, 0);
		FreeTable(&table);
		free(hashes);
	}
	assert_in_range(failures, 0, 2);
}

/* Each attempt is another shape, and each of them holds the same keys. */
static void
every_attempt_builds_a_sound_table(void **state)
{
	const size_t count = 140000;
	uint64_t   *hashes = SortedHashes(1, count);

	(void) state;
	for (int attempt = 0; attempt < CUCKOO_MAX_ATTEMPTS; attempt++)
	{
		CuckooShape shape;
		CuckooTable table;

		assert_true(CuckooShapeFor(&shape, count, 12, CUCKOO_SEMISORTED, attempt));
		assert_true(shape.blocks > 1);
		table = NewTable(&shape);
		assert_true(BuildBlocks(&table, hashes, count, 0));
		assert_int_equal(table.items, count);
		assert_true(TableIsSound(&table));
		for (size_t i = 0; i < count; i++)
			assert_true(CuckooTableContains(&table, hashes[i]));
		FreeTable(&table);
	}
	free(hashes);
}

static CuckooTable
BuildAs(const CuckooShape *shape, const uint64_t *hashes, size_t count,
		uint64_t seed)
{
	CuckooTable table = NewTable(shape);

	assert_true(BuildBlocks(&table, hashes, count, seed));
	return table;
}

static void
the_bytes_depend_on_the_classes_the_shape_and_the_seed_alone(void **state)
{
	const size_t count = 20000;
	uint64_t   *hashes = SortedHashes(1, count);
	uint64_t   *others = Allocate(count * sizeof(uint64_t));
	CuckooShape shape;
	CuckooTable base;
	CuckooTable same;
	CuckooTable other_seed;
	size_t		length;

	(void) state;
	assert_true(CuckooShapeFor(&shape, count, 12, CUCKOO_SEMISORTED, 0));
	assert_int_equal(shape.blocks, 1);
	length = (size_t) CuckooShapeBytes(&shape);

	/* Other hashes of the same classes: half of them by the second bucket. */
	for (size_t i = 0; i < count; i++)
	{
		CuckooPlace place = CuckooLocate(&shape, hashes[i]);
		uint64_t	high = (((uint64_t) place.second << 32) + shape.buckets - 1) / shape.buckets;

		others[i] = i % 2 == 0 ? hashes[i] :
			HashWithFingerprint((uint32_t) high, place.fingerprint, 12);
		assert_int_equal(CuckooLocate(&shape, others[i]).fingerprint, place.fingerprint);
		assert_int_equal(CuckooLocate(&shape, others[i]).first,
						 i % 2 == 0 ? place.first : place.second);
	}
	qsort(others, count, sizeof(uint64_t), CompareHashes);
	base = BuildAs(&shape, hashes, count, 1);
	same = BuildAs(&shape, others, count, 1);
	other_seed = BuildAs(&shape, hashes, count, 2);
	assert_memory_equal(base.data, same.data, length);
	assert_memory_not_equal(base.data, other_seed.data, length);
	FreeTable(&base);
	FreeTable(&same);
	FreeTable(&other_seed);
	free(hashes);
	free(others);
}

/* What stands in the workspace or in the table before does not matter. */
static void
a_block_is_built_over_whatever_the_memory_held(void **state)
{
	const size_t count = 3000;
	uint64_t   *hashes = SortedHashes(1, count);
	CuckooShape shape = ShapeOf(1, 800, 12, CUCKOO_SEMISORTED);
	CuckooTable clean = BuildAs(&shape, hashes, count, 0);
	CuckooTable dirty = NewTable(&shape);
	uint8_t    *workspace = Allocate(CuckooWorkspaceBytes(&shape));
	bool		ok;

	(void) state;
	memset(workspace, 0xEE, CuckooWorkspaceBytes(&shape));
	memset(dirty.data, 0xEE, (size_t) CuckooShapeBytes(&shape));
	assert_int_equal(CuckooBuildBlock(&dirty, 0, hashes, count, workspace, 0, &ok), count);
	assert_true(ok);
	assert_memory_equal(clean.data, dirty.data,
						(size_t) CuckooShapeBytes(&shape) + CUCKOO_TAIL_BYTES);
	free(workspace);
	FreeTable(&clean);
	FreeTable(&dirty);
	free(hashes);
}

/* A block takes the hashes that fall into it, and no other. */
static void
a_block_takes_its_own_hashes_only(void **state)
{
	const uint64_t hashes[] = {
		0, 1, UINT64_C(0x4000000000000000), UINT64_C(0xC000000000000000), UINT64_MAX
	};
	CuckooShape shape = ShapeOf(4, 10, 12, CUCKOO_SEMISORTED);
	CuckooTable table = NewTable(&shape);
	void	   *workspace = Allocate(CuckooWorkspaceBytes(&shape));
	const size_t taken[] = {2, 1, 0, 2};
	size_t		at = 0;
	bool		ok;

	(void) state;
	for (uint32_t block = 0; block < 4; block++)
	{
		assert_int_equal(CuckooBuildBlock(&table, block, hashes + at, lengthof(hashes) - at,
										  workspace, 0, &ok), taken[block]);
		assert_true(ok);
		at += taken[block];
	}
	assert_int_equal(table.items, 5);
	for (size_t i = 0; i < lengthof(hashes); i++)
		assert_true(CuckooTableContains(&table, hashes[i]));
	free(workspace);
	FreeTable(&table);
}

/*
 * Hashes that were made to collide: one first bucket, and fingerprints whose
 * sums are 1 in a block of any size.  Two buckets for them all.
 */
static size_t
CollidingHashes(uint64_t *hashes, size_t most, int bits)
{
	size_t		count = 0;

	for (uint32_t fingerprint = 1; fingerprint < (1u << bits) && count < most; fingerprint++)
	{
		if (CuckooBucketSum(fingerprint, 4096) == 1)
			hashes[count++] = HashWithFingerprint(0, fingerprint, bits);
	}
	qsort(hashes, count, sizeof(uint64_t), CompareHashes);
	return count;
}

static void
a_build_of_hashes_made_to_collide_fails_at_every_attempt_and_says_so(void **state)
{
	uint64_t	hashes[40];
	size_t		count = CollidingHashes(hashes, lengthof(hashes), 18);

	(void) state;
	assert_true(count >= 9);
	for (size_t tried = 8; tried <= count; tried++)
	{
		for (int attempt = 0; attempt < CUCKOO_MAX_ATTEMPTS; attempt++)
		{
			CuckooShape shape;
			CuckooTable table;

			assert_true(CuckooShapeFor(&shape, tried, 18, CUCKOO_SEMISORTED, attempt));
			table = NewTable(&shape);
			assert_int_equal(BuildBlocks(&table, hashes, tried, 0), tried <= 8);
			FreeTable(&table);
		}
	}
}

/* Copies of one class count up to eight; further ones are in without room. */
static void
a_build_counts_at_most_eight_copies_of_a_class(void **state)
{
	uint64_t	hashes[20];
	CuckooShape shape = ShapeOf(1, 10, 5, CUCKOO_SEMISORTED);
	CuckooTable table;

	(void) state;
	for (size_t i = 0; i < lengthof(hashes); i++)
		hashes[i] = i;
	table = BuildAs(&shape, hashes, lengthof(hashes), 0);
	assert_int_equal(table.items, CUCKOO_MAX_COPIES);
	assert_int_equal(CuckooTableCount(&table, 0), CUCKOO_MAX_COPIES);
	assert_int_equal(CuckooTableRemove(&table, 0), CUCKOO_KEPT);
	assert_true(TableIsSound(&table));
	FreeTable(&table);
}

static void
a_hash_given_again_gets_another_copy(void **state)
{
	const uint64_t hashes[] = {5, 5, 5, UINT64_MAX, UINT64_MAX};
	CuckooShape shape = ShapeOf(1, 10, 13, CUCKOO_SEMISORTED);
	CuckooTable table = BuildAs(&shape, hashes, lengthof(hashes), 0);

	(void) state;
	assert_int_equal(table.items, 5);
	assert_int_equal(CuckooTableCount(&table, 5), 3);
	assert_int_equal(CuckooTableCount(&table, UINT64_MAX), 2);
	FreeTable(&table);
}

/* Far more hashes than the workspace has room for, of few classes or of many. */
static void
a_block_takes_any_number_of_copies_but_not_of_classes(void **state)
{
	const size_t count = 10000;
	uint64_t   *hashes = Allocate(count * sizeof(uint64_t));
	CuckooShape shape = ShapeOf(1, 300, 13, CUCKOO_SEMISORTED);
	CuckooTable table = NewTable(&shape);

	(void) state;
	for (size_t i = 0; i < count; i++)
		hashes[i] = KeyHash(1, i * 4 / count);
	qsort(hashes, count, sizeof(uint64_t), CompareHashes);
	assert_true(BuildBlocks(&table, hashes, count, 0));
	assert_int_equal(table.items, 4 * CUCKOO_MAX_COPIES);
	for (uint64_t key = 0; key < 4; key++)
		assert_int_equal(CuckooTableCount(&table, KeyHash(1, key)), CUCKOO_MAX_COPIES);
	FreeTable(&table);

	table = NewTable(&shape);
	for (size_t i = 0; i < count; i++)
		hashes[i] = KeyHash(1, i);
	qsort(hashes, count, sizeof(uint64_t), CompareHashes);
	assert_false(BuildBlocks(&table, hashes, count, 0));
	FreeTable(&table);
	free(hashes);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sorting_agrees_with_qsort_whatever_the_distribution),
		cmocka_unit_test(sorting_a_million_even_hashes_agrees_with_qsort),
		cmocka_unit_test(sorting_pauses_after_at_most_65536_hashes),
		cmocka_unit_test(repetitions_are_dropped_from_sorted_hashes),
		cmocka_unit_test(bits_are_the_fewest_that_keep_the_rate),
		cmocka_unit_test(every_rate_that_may_be_asked_is_within_32_bits),
		cmocka_unit_test(extra_bits_are_added_up_to_32),
		cmocka_unit_test(shapes_are_valid_hold_their_keys_and_grow_by_attempts),
		cmocka_unit_test(the_last_attempt_is_much_larger),
		cmocka_unit_test(a_shape_of_too_many_blocks_is_refused),
		cmocka_unit_test(from_10000_keys_a_filter_takes_at_most_12_6_bits_a_key),
		cmocka_unit_test(the_same_set_has_the_same_bytes_in_any_order_with_any_repetitions),
		cmocka_unit_test(a_built_filter_keeps_the_rate_at_every_size),
		cmocka_unit_test(builds_of_every_small_size_succeed),
		cmocka_unit_test(most_builds_succeed_at_the_first_attempt),
		cmocka_unit_test(every_attempt_builds_a_sound_table),
		cmocka_unit_test(the_bytes_depend_on_the_classes_the_shape_and_the_seed_alone),
		cmocka_unit_test(a_block_is_built_over_whatever_the_memory_held),
		cmocka_unit_test(a_block_takes_its_own_hashes_only),
		cmocka_unit_test(a_build_of_hashes_made_to_collide_fails_at_every_attempt_and_says_so),
		cmocka_unit_test(a_hash_given_again_gets_another_copy),
		cmocka_unit_test(a_block_takes_any_number_of_copies_but_not_of_classes),
		cmocka_unit_test(a_build_counts_at_most_eight_copies_of_a_class),
	};

	return cmocka_run_group_tests_name("build", tests, NULL, NULL);
}
