/*-------------------------------------------------------------------------
 *
 * sort_test.c
 *	  Sorting hashes and codes.
 *
 *-------------------------------------------------------------------------
 */
#include "support.h"

typedef enum Distribution
{
	EVEN, ALL_EQUAL, TWO_VALUES, ASCENDING, DESCENDING, ONE_TOP_DIGIT, LOW_BITS_ONLY,
	POWERS_OF_TWO, FEW_VALUES, EXTREMES, NESTED, DISTRIBUTIONS
} Distribution;

static uint64_t
Draw(Distribution distribution, uint64_t i, size_t count)
{
	switch (distribution)
	{
		case ALL_EQUAL:
			return UINT64_C(0x123456789ABCDEF0);
		case TWO_VALUES:
			return NextRandom() >> 63 ? UINT64_MAX : UINT64_MAX - 1;
		case ASCENDING:
			return i << 40;
		case DESCENDING:
			return (count - i) << 20;
		case ONE_TOP_DIGIT:
			return UINT64_C(0xABC) << 52 | NextRandom() >> 12;
		case LOW_BITS_ONLY:
			return NextRandom() >> 48;
		case POWERS_OF_TWO:
			return UINT64_C(1) << Below(64);
		case FEW_VALUES:
			return KeyHash(1, Below(20));
		case EXTREMES:
			return NextRandom() >> 63 ? UINT64_MAX : 0;
		case NESTED:
			/*
			 * Every digit separates one number and leaves the rest together.
			 */
			return UINT64_MAX >> (i % 64);
		default:
			return NextRandom();
	}
}

static void
CheckSort(size_t count, Distribution distribution)
{
	uint64_t   *hashes = Allocate(count * sizeof(uint64_t));
	uint64_t   *scratch = Allocate(count * sizeof(uint64_t));
	uint64_t   *expected;

	for (size_t k = 0; k < count; k++)
		hashes[k] = Draw(distribution, k, count);
	expected = Duplicate(hashes, count * sizeof(uint64_t));
	SortNumbers(expected, count);
	CuckooSort(hashes, scratch, count);
	if (memcmp(hashes, expected, count * sizeof(uint64_t)) != 0)
		fail_msg("%zu hashes of distribution %d are not in order", count, distribution);
	FreeAll();
}

TEST(sorting_agrees_with_qsort_whatever_the_distribution)
{
	/* Around the limit of insertion sort and the widths of digits. */
	static const size_t sizes[] = {
		0, 1, 2, 3, 15, 16, 17, 18, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256,
		257, 511, 512, 1023, 1024, 1025, 2047, 2048, 2049, 4095, 4096, 4097, 8191,
		8192, 8193, 16385, 100000
	};

	for (size_t i = 0; i < lengthof(sizes); i++)
	{
		for (Distribution distribution = EVEN; distribution < DISTRIBUTIONS; distribution++)
			CheckSort(sizes[i], distribution);
	}
}

/* A sort of many hashes takes seconds, and can be interrupted at any time. */
TEST(sorting_a_million_hashes_checks_for_interrupts_after_at_most_65536)
{

	interrupt_checks = 0;
	CheckSort(1000000, EVEN);
	assert_true(interrupt_checks >= 1000000 / 65536);
}

TEST(repetitions_are_dropped_from_sorted_hashes)
{
	uint64_t	some[] = {0, 0, 0, 1, 2, 2, 5, UINT64_MAX, UINT64_MAX};
	const uint64_t distinct[] = {0, 1, 2, 5, UINT64_MAX};
	uint64_t	equal[] = {7, 7, 7, 7};

	assert_int_equal(CuckooUnique(some, lengthof(some)), lengthof(distinct));
	assert_memory_equal(some, distinct, sizeof(distinct));
	assert_int_equal(CuckooUnique(some, lengthof(distinct)), lengthof(distinct));
	assert_memory_equal(some, distinct, sizeof(distinct));
	assert_int_equal(CuckooUnique(equal, 4), 1);
	assert_int_equal(equal[0], 7);
	assert_int_equal(CuckooUnique(equal, 1), 1);
	assert_int_equal(CuckooUnique(equal, 0), 0);
}
