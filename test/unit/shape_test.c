/*-------------------------------------------------------------------------
 *
 * shape_test.c
 *	  Geometry: sizes and capacities, bits for a rate, classes and their codes.
 *
 *-------------------------------------------------------------------------
 */
#include "support.h"

/* The largest possible table, with the number of blocks that it needs. */
static const CuckooShape largest = {12000, 32768, 32};

/* ----------------------------------------------------------------- sizes */

static void
CheckShape(uint64_t keys, int bits)
{
	CuckooShape shape;
	uint64_t	buckets;
	uint64_t	entries;
	uint64_t	capacity;

	assert_true(CuckooShapeFor(&shape, keys, bits));
	buckets = CuckooShapeBuckets(&shape);
	entries = CuckooShapeEntries(&shape);
	capacity = CuckooShapeCapacity(&shape);
	if (shape.blocks < 1 || shape.buckets < CUCKOO_MIN_BUCKETS ||
		shape.buckets > CUCKOO_MAX_BUCKETS || shape.buckets % 2 != 0 ||
		buckets > CUCKOO_MAX_TABLE_BUCKETS || shape.bits != bits || entries != 4 * buckets ||
		capacity != (buckets >= 2592 ? 193 * entries / 200 : 383 * entries / 400) ||
		capacity < keys)
		fail_msg("%llu keys: %u blocks of %u buckets, capacity %llu",
				 (unsigned long long) keys, shape.blocks, shape.buckets,
				 (unsigned long long) capacity);
	/*
	 * A smaller one would not suffice, apart from a few extra buckets in small
	 * ones.
	 */
	if (keys >= 10000 && (buckets - 2 * (uint64_t) shape.blocks) * 772 / 200 >= keys)
		fail_msg("%llu keys: %llu buckets are more than needed",
				 (unsigned long long) keys, (unsigned long long) buckets);
}

static void
a_shape_holds_what_was_asked_for_and_hardly_more(void **state)
{
	uint64_t	random = 3;

	(void) state;
	for (uint64_t keys = 0; keys < 300000; keys++)
		CheckShape(keys, 13);
	for (int i = 0; i < 200000; i++)
	{
		uint64_t	keys = NextRandom(&random) >> (33 + RandomBelow(&random, 28));

		if (keys <= CUCKOO_MAX_CAPACITY)
			CheckShape(keys, CUCKOO_MIN_BITS + (int) RandomBelow(&random, 28));
	}
	CheckShape(CUCKOO_MAX_CAPACITY, 32);
}

static void
a_capacity_of_1_holds_22_keys(void **state)
{
	CuckooShape shape;

	(void) state;
	assert_true(CuckooShapeFor(&shape, 1, 13));
	assert_int_equal(CuckooShapeBuckets(&shape), 6);
	assert_int_equal(CuckooShapeCapacity(&shape), 22);
}

static void
tables_of_2592_buckets_and_more_are_filled_further(void **state)
{
	CuckooShape smaller = ShapeOf(1, 2590, 13);
	CuckooShape larger = ShapeOf(1, 2592, 13);
	CuckooShape blocks = ShapeOf(2, 1296, 13);
	CuckooShape shape;

	(void) state;
	assert_int_equal(CuckooShapeCapacity(&smaller), 9919);	/* 0.9575 of 10,360 */
	assert_int_equal(CuckooShapeCapacity(&larger), 10005);	/* 0.965 of 10,368 */
	assert_int_equal(CuckooShapeCapacity(&blocks), 10005);
	assert_true(CuckooShapeFor(&shape, 10000, 13));
	assert_int_equal(CuckooShapeBuckets(&shape), 2592);
}

static void
a_table_has_at_most_393216000_buckets(void **state)
{
	CuckooShape shape;

	(void) state;
	assert_true(CuckooShapeFor(&shape, CUCKOO_MAX_CAPACITY, 32));
	assert_true(CuckooSameShape(&shape, &largest));
	assert_int_equal(CuckooShapeCapacity(&shape), CUCKOO_MAX_CAPACITY);
	assert_false(CuckooShapeFor(&shape, CUCKOO_MAX_CAPACITY + 1, 32));
	assert_true(CuckooSameShape(&shape, &largest));
	assert_false(CuckooShapeFor(&shape, UINT64_MAX, 32));
	assert_true(CuckooSameShape(&shape, &largest));
	assert_true(CuckooShapeCodes(&largest) < UINT64_C(1) << 60);
}

static void
the_tables_of_unknown_capacity_are_for_2_to_the_20_25_and_30_keys(void **state)
{
	static const uint64_t keys[] = {CUCKOO_FIRST_KEYS, CUCKOO_SECOND_KEYS, CUCKOO_THIRD_KEYS};

	(void) state;
	assert_int_equal(CUCKOO_FIRST_KEYS, 1 << 20);
	assert_int_equal(CUCKOO_SECOND_KEYS, 1 << 25);
	assert_int_equal(CUCKOO_THIRD_KEYS, 1 << 30);
	for (size_t i = 0; i < lengthof(keys); i++)
	{
		CuckooShape shape;

		assert_true(CuckooShapeFor(&shape, keys[i], 14));
		assert_true(CuckooShapeCapacity(&shape) >= keys[i]);
	}
}

static void
shapes_are_ordered_by_size_then_bits_then_blocks(void **state)
{
	static const CuckooShape ascending[] = {
		{1, 2, 32}, {1, 4, 5}, {2, 2, 5}, {1, 4, 6}, {2, 2, 6}, {1, 6, 5}, {3, 2, 5},
		{1000, 100, 5}, {100, 1000, 32}, {12000, 32768, 5}, {12000, 32768, 32}
	};

	(void) state;
	for (size_t i = 0; i < lengthof(ascending); i++)
	{
		for (size_t j = 0; j < lengthof(ascending); j++)
		{
			int			order = CuckooShapeOrder(&ascending[i], &ascending[j]);

			assert_int_equal((order > 0) - (order < 0), (i > j) - (i < j));
			assert_int_equal(CuckooSameShape(&ascending[i], &ascending[j]), i == j);
		}
	}
}

/* ------------------------------------------------------------------ rates */

static void
bits_are_the_fewest_that_keep_the_rate_at_the_capacity(void **state)
{
	uint64_t	random = 2;

	(void) state;
	for (int k = 0; k < 100000; k++)
	{
		double		exponent = ldexp((double) (NextRandom(&random) >> 11), -53);
		double		fpr = CUCKOO_MIN_FPR * pow(CUCKOO_MAX_FPR / CUCKOO_MIN_FPR, exponent);
		int			bits = CuckooBitsFor(fpr);

		assert_in_range(bits, 7, 29);
		assert_true(7.72 / (ldexp(1, bits) - 1) <= fpr * (1 + 1e-15));
		assert_true(7.72 / (ldexp(1, bits - 1) - 1) > fpr * (1 - 1e-15));
	}
}

static void
rates_from_0_1_to_2e_8_take_7_to_29_bits(void **state)
{
	(void) state;
	assert_int_equal(CuckooBitsFor(0.1), 7);
	assert_int_equal(CuckooBitsFor(0.05), 8);
	assert_int_equal(CuckooBitsFor(0.01), 10);
	assert_int_equal(CuckooBitsFor(0.001), 13);
	assert_int_equal(CuckooBitsFor(1e-6), 23);
	assert_int_equal(CuckooBitsFor(2e-8), 29);
}

static void
the_expected_rate_is_that_of_eight_comparisons_at_full_load(void **state)
{
	CuckooShape shape = ShapeOf(1, 1000, 13);
	double		one = 1.0 / 8191;

	(void) state;
	assert_true(CuckooShapeRate(&shape, 0) == 0);
	assert_true(fabs(CuckooShapeRate(&shape, 4000) - (1 - pow(1 - one, 8))) < 1e-15);
	assert_true(fabs(CuckooShapeRate(&shape, 500) - one) < 1e-15);
	/* With more items than entries a table is an ordinary table. */
	assert_true(fabs(CuckooShapeRate(&shape, 16000) - (1 - pow(1 - one, 32))) < 1e-15);
	assert_true(CuckooShapeRate(&largest, CUCKOO_MAX_CAPACITY) <= 2e-8);
}

/* ---------------------------------------------------------------- classes */

/* A larger chi-square is not chance: slightly more than five sigma. */
static double
ChiSquareLimit(double degrees)
{
	return degrees + 5 * sqrt(2 * degrees) + 20;
}

static double
ChiSquare(const uint32_t *counts, uint32_t cells, double samples)
{
	double		expected = samples / cells;
	double		sum = 0;

	for (uint32_t i = 0; i < cells; i++)
		sum += (counts[i] - expected) * (counts[i] - expected) / expected;
	return sum;
}

static void
the_second_bucket_is_odd_if_the_first_is_even_and_leads_back(void **state)
{
	uint64_t	random = 1;

	(void) state;
	for (uint32_t buckets = CUCKOO_MIN_BUCKETS; buckets <= 40; buckets += 2)
	{
		for (uint32_t fingerprint = 1; fingerprint < 512; fingerprint++)
		{
			for (uint32_t bucket = 0; bucket < buckets; bucket++)
			{
				uint32_t	other = CuckooAlternateBucket(fingerprint, bucket, buckets);

				assert_in_range(other, 0, buckets - 1);
				assert_int_not_equal(other % 2, bucket % 2);
				assert_int_equal(CuckooAlternateBucket(fingerprint, other, buckets), bucket);
			}
		}
	}
	for (int i = 0; i < 1000000; i++)
	{
		uint32_t	buckets = 2 + 2 * RandomBelow(&random, CUCKOO_MAX_BUCKETS / 2);
		uint32_t	bucket = RandomBelow(&random, buckets);
		uint32_t	fingerprint = (uint32_t) NextRandom(&random);
		uint32_t	other = CuckooAlternateBucket(fingerprint, bucket, buckets);
		uint32_t	sum = CuckooBucketSum(fingerprint, buckets);

		if (other >= buckets || other % 2 == bucket % 2 || sum % 2 != 1 || sum >= buckets ||
			CuckooAlternateBucket(fingerprint, other, buckets) != bucket)
			fail_msg("bucket %u of %u, fingerprint %u", bucket, buckets, fingerprint);
	}
}

/* floor(hash * count / 2^64) and the 32 bits after it, in 32-bit digits. */
static void
ScaleByTheBook(uint64_t hash, uint64_t count, uint64_t *whole, uint32_t *rest)
{
	uint64_t	low = (hash & UINT32_MAX) * count;
	uint64_t	high = (hash >> 32) * count + (low >> 32);

	*whole = high >> 32;
	*rest = (uint32_t) high;
}

static const CuckooShape various[] = {
	{1, 2, 5}, {2, 2, 5}, {1, 4, 6}, {1, 6, 13}, {3, 30, 5}, {7, 100, 8}, {7, 1000, 17},
	{1, 32768, 18}, {9, 30364, 14}, {100, 32766, 31}, {12000, 32768, 32}, {12000, 32768, 5}
};

static void
a_hash_has_the_pair_and_fingerprint_that_scaling_gives(void **state)
{
	uint64_t	random = 4;

	(void) state;
	for (size_t i = 0; i < lengthof(various); i++)
	{
		const CuckooShape *shape = &various[i];
		uint32_t	fingerprints = CuckooShapeFingerprints(shape);

		for (int k = 0; k < 100000; k++)
		{
			uint64_t	hash = k == 0 ? 0 : k == 1 ? UINT64_MAX : k == 2 ? UINT32_MAX :
				NextRandom(&random);
			uint64_t	q;
			uint32_t	rest;
			uint64_t	code;

			ScaleByTheBook(hash, CuckooShapePairs(shape), &q, &rest);
			code = CuckooCodeOf(shape, hash);
			assert_true(code >> shape->bits == q);
			assert_true((code & fingerprints) ==
						1 + ((uint64_t) rest * fingerprints >> 32));
			assert_true(code < CuckooShapeCodes(shape));
		}
	}
}

static void
the_place_of_a_hash_is_the_place_of_its_code(void **state)
{
	uint64_t	random = 5;

	(void) state;
	for (size_t i = 0; i < lengthof(various); i++)
	{
		const CuckooShape *shape = &various[i];

		for (int k = 0; k < 100000; k++)
		{
			uint64_t	hash = k == 0 ? 0 : k == 1 ? UINT64_MAX : NextRandom(&random);
			uint64_t	code = CuckooCodeOf(shape, hash);
			CuckooPlace a = CuckooPlaceOf(shape, hash);
			uint64_t	even = 2 * (code >> shape->bits);

			assert_true(a.even == even && a.even == a.base + a.i1);
			assert_true(a.base == even / shape->buckets * shape->buckets);
			assert_true(a.fingerprint == (code & CuckooShapeFingerprints(shape)));
			assert_true(a.i2 ==
						CuckooAlternateBucket(a.fingerprint, a.i1, shape->buckets));
			assert_true(a.base + shape->buckets <= CuckooShapeBuckets(shape));
			assert_true(a.i1 < shape->buckets && a.i2 < shape->buckets);
			assert_true(a.i1 % 2 == 0 && a.i2 % 2 == 1);
			assert_true(a.fingerprint >= 1 && a.fingerprint <= CuckooShapeFingerprints(shape));
			assert_true((a.base + a.i1) / 2 << shape->bits == code - a.fingerprint);
		}
	}
}

/* Hashes, codes and blocks have the same sorted order. */
static void
codes_ascend_with_hashes(void **state)
{
	uint64_t	random = 6;

	(void) state;
	for (size_t i = 0; i < lengthof(various); i++)
	{
		for (int k = 0; k < 200000; k++)
		{
			uint64_t	a = NextRandom(&random);
			uint64_t	b = k % 2 == 0 ? NextRandom(&random) :
				a + (NextRandom(&random) >> RandomBelow(&random, 64));

			if (b < a)
			{
				uint64_t	c = a;

				a = b;
				b = c;
			}
			assert_true(CuckooCodeOf(&various[i], a) <= CuckooCodeOf(&various[i], b));
		}
	}
}

/* The tests make hashes of chosen classes; every class has one. */
static void
every_class_has_a_hash(void **state)
{
	uint64_t	random = 7;

	(void) state;
	for (size_t i = 0; i < lengthof(various); i++)
	{
		const CuckooShape *shape = &various[i];

		for (int k = 0; k < 100000; k++)
		{
			uint64_t	q = (NextRandom(&random) >> 32) * CuckooShapePairs(shape) >> 32;
			uint64_t	fp = 1 + ((NextRandom(&random) >> 32) *
								  CuckooShapeFingerprints(shape) >> 32);
			uint64_t	code = k == 0 ? 1 : k == 1 ? CuckooShapeCodes(shape) - 1 :
				q << shape->bits | fp;

			assert_true(CuckooCodeOf(shape, HashOfCode(shape, code)) == code);
		}
	}
}

static void
buckets_and_fingerprints_are_evenly_spread(void **state)
{
	static const CuckooShape shapes[] = {
		{1, 2, 5}, {1, 6, 8}, {3, 30, 5}, {7, 100, 8}, {5, 1022, 10}, {1, 32768, 13}
	};
	const int	samples = 2000000;

	(void) state;
	for (size_t i = 0; i < lengthof(shapes); i++)
	{
		const CuckooShape *shape = &shapes[i];
		uint32_t	cells = (uint32_t) CuckooShapePairs(shape);
		uint32_t	fingerprints = CuckooShapeFingerprints(shape);
		uint32_t   *first = Allocate(cells * sizeof(uint32_t));
		uint32_t   *second = Allocate(cells * sizeof(uint32_t));
		uint32_t   *fingerprint = Allocate(fingerprints * sizeof(uint32_t));

		for (int k = 0; k < samples; k++)
		{
			CuckooPlace place = CuckooPlaceOf(shape, KeyHash(2, (uint64_t) k));

			first[(place.base + place.i1) / 2]++;
			second[(place.base + place.i2) / 2]++;
			fingerprint[place.fingerprint - 1]++;
		}
		assert_true(ChiSquare(first, cells, samples) < ChiSquareLimit(cells));
		assert_true(ChiSquare(second, cells, samples) < ChiSquareLimit(cells));
		assert_true(ChiSquare(fingerprint, fingerprints, samples) <
					ChiSquareLimit(fingerprints));
		free(first);
		free(second);
		free(fingerprint);
	}
}

/* Neighbouring fingerprints must not send entries to related buckets. */
static void
neighbouring_fingerprints_have_unrelated_sums(void **state)
{
	const uint32_t buckets = 1024;
	uint32_t	differences[1024] = {0};

	(void) state;
	for (uint32_t fingerprint = 1; fingerprint <= 200000; fingerprint++)
	{
		uint32_t	a = CuckooBucketSum(fingerprint, buckets);
		uint32_t	b = CuckooBucketSum(fingerprint + 1, buckets);

		differences[(b - a) & (buckets - 1)]++;
	}
	/* Two odd numbers differ by an even one. */
	for (uint32_t i = 0; i < buckets / 2; i++)
	{
		assert_int_equal(differences[2 * i + 1], 0);
		differences[i] = differences[2 * i];
	}
	assert_true(ChiSquare(differences, buckets / 2, 200000) < ChiSquareLimit(buckets / 2));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_shape_holds_what_was_asked_for_and_hardly_more),
		cmocka_unit_test(a_capacity_of_1_holds_22_keys),
		cmocka_unit_test(tables_of_2592_buckets_and_more_are_filled_further),
		cmocka_unit_test(a_table_has_at_most_393216000_buckets),
		cmocka_unit_test(the_tables_of_unknown_capacity_are_for_2_to_the_20_25_and_30_keys),
		cmocka_unit_test(shapes_are_ordered_by_size_then_bits_then_blocks),
		cmocka_unit_test(bits_are_the_fewest_that_keep_the_rate_at_the_capacity),
		cmocka_unit_test(rates_from_0_1_to_2e_8_take_7_to_29_bits),
		cmocka_unit_test(the_expected_rate_is_that_of_eight_comparisons_at_full_load),
		cmocka_unit_test(the_second_bucket_is_odd_if_the_first_is_even_and_leads_back),
		cmocka_unit_test(a_hash_has_the_pair_and_fingerprint_that_scaling_gives),
		cmocka_unit_test(the_place_of_a_hash_is_the_place_of_its_code),
		cmocka_unit_test(codes_ascend_with_hashes),
		cmocka_unit_test(every_class_has_a_hash),
		cmocka_unit_test(buckets_and_fingerprints_are_evenly_spread),
		cmocka_unit_test(neighbouring_fingerprints_have_unrelated_sums),
	};

	return cmocka_run_group_tests_name("shape", tests, NULL, NULL);
}
