/*-------------------------------------------------------------------------
 *
 * sort_test.c
 *	  Sorting hashes and codes.
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
			/*
			 * Every digit separates one number and leaves the rest together.
			 */
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
			CuckooSort(hashes, scratch, count);
			if (count > 0 && memcmp(hashes, expected, count * sizeof(uint64_t)) != 0)
				fail_msg("%zu hashes of distribution %d are not in order", count, distribution);
			free(hashes);
			free(scratch);
			free(expected);
		}
	}
}

/* A sort of many hashes takes seconds, and can be interrupted at any time. */
static void
sorting_pauses_after_at_most_65536_hashes(void **state)
{
	const size_t count = 1000000;
	uint64_t   *hashes = SortedHashes(1, count);
	uint64_t   *scratch = Allocate(count * sizeof(uint64_t));

	(void) state;
	Shuffle(hashes, count, 1);
	pauses = 0;
	CuckooSort(hashes, scratch, count);
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
	assert_int_equal(CuckooUnique(some, lengthof(some)), lengthof(distinct));
	assert_memory_equal(some, distinct, sizeof(distinct));
	assert_int_equal(CuckooUnique(some, lengthof(distinct)), lengthof(distinct));
	assert_memory_equal(some, distinct, sizeof(distinct));
	assert_int_equal(CuckooUnique(equal, 4), 1);
	assert_int_equal(equal[0], 7);
	assert_int_equal(CuckooUnique(equal, 1), 1);
	assert_int_equal(CuckooUnique(equal, 0), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sorting_agrees_with_qsort_whatever_the_distribution),
		cmocka_unit_test(sorting_pauses_after_at_most_65536_hashes),
		cmocka_unit_test(sorting_a_million_even_hashes_agrees_with_qsort),
		cmocka_unit_test(repetitions_are_dropped_from_sorted_hashes),
	};

	return cmocka_run_group_tests_name("sort", tests, NULL, NULL);
}
