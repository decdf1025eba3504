/*-------------------------------------------------------------------------
 *
 * shape_test.c
 *	  Geometry: sizes and capacities, bits for a rate, classes and their codes.
 *
 *-------------------------------------------------------------------------
 */
#include "support.h"

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

TEST(a_shape_holds_what_was_asked_for_and_hardly_more)
{

	for (uint64_t keys = 0; keys < 300000; keys++)
		CheckShape(keys, 13);
	for (int i = 0; i < 200000; i++)
	{
		uint64_t	keys = NextRandom() >> (33 + Below(28));

		if (keys <= CUCKOO_MAX_CAPACITY)
			CheckShape(keys, CUCKOO_MIN_BITS + (int) Below(28));
	}
	CheckShape(CUCKOO_MAX_CAPACITY, 32);
}

/* Tables of 2,592 buckets and more are filled further. */
TEST(a_table_has_2_to_393216000_buckets)
{
	const struct
	{
		CuckooShape shape;
		uint64_t	capacity;
	}			cases[] = {
		{CuckooShapeOf(1, 2, 13), 7}, {CuckooShapeOf(1, 6, 13), 22},
		{CuckooShapeOf(1, 2590, 13), 9919},	/* 0.9575 of 10,360 */
		{CuckooShapeOf(1, 2592, 13), 10005},	/* 0.965 of 10,368 */
		{CuckooShapeOf(2, 1296, 13), 10005}, {CuckooShapeOf(12000, 32768, 32), CUCKOO_MAX_CAPACITY}
	};
	/* The largest possible table, with the number of blocks that it needs */
	const CuckooShape *largest = &cases[5].shape;
	CuckooShape shape;

	for (size_t i = 0; i < lengthof(cases); i++)
		assert_int_equal(CuckooShapeCapacity(&cases[i].shape), cases[i].capacity);
	assert_true(CuckooShapeFor(&shape, 1, 13));
	assert_int_equal(CuckooShapeOrder(&shape, &cases[1].shape), 0);
	assert_true(CuckooShapeFor(&shape, 10000, 13));
	assert_int_equal(CuckooShapeOrder(&shape, &cases[3].shape), 0);
	assert_true(CuckooShapeFor(&shape, CUCKOO_MAX_CAPACITY, 32));
	assert_int_equal(CuckooShapeOrder(&shape, largest), 0);
	assert_true(!CuckooShapeFor(&shape, CUCKOO_MAX_CAPACITY + 1, 32));
	assert_true(!CuckooShapeFor(&shape, UINT64_MAX, 32));
	assert_int_equal(CuckooShapeOrder(&shape, largest), 0);
	assert_true(CuckooShapeCodes(largest) < UINT64_C(1) << 60);
}

TEST(shapes_are_ordered_by_size_then_bits_then_blocks)
{
	const CuckooShape ascending[] = {
		CuckooShapeOf(1, 2, 32), CuckooShapeOf(1, 4, 5), CuckooShapeOf(2, 2, 5), CuckooShapeOf(1, 4, 6),
		CuckooShapeOf(2, 2, 6), CuckooShapeOf(1, 6, 5), CuckooShapeOf(3, 2, 5),
		CuckooShapeOf(1000, 100, 5),
		CuckooShapeOf(100, 1000, 32), CuckooShapeOf(12000, 32768, 5), CuckooShapeOf(12000, 32768, 32)
	};

	for (size_t i = 0; i < lengthof(ascending); i++)
	{
		for (size_t j = 0; j < lengthof(ascending); j++)
		{
			int			order = CuckooShapeOrder(&ascending[i], &ascending[j]);

			assert_int_equal((order > 0) - (order < 0), (i > j) - (i < j));
		}
	}
}

/* ------------------------------------------------------------------ rates */

TEST(the_expected_rate_is_that_of_eight_comparisons_at_full_load)
{
	CuckooShape shape = CuckooShapeOf(1, 1000, 13);
	CuckooShape largest = CuckooShapeOf(12000, 32768, 32);
	double		one = 1.0 / 8191;

	assert_true(CuckooShapeRate(&shape, 0) == 0);
	assert_true(fabs(CuckooShapeRate(&shape, 4000) - (1 - pow(1 - one, 8))) < 1e-15);
	assert_true(fabs(CuckooShapeRate(&shape, 500) - one) < 1e-15);
	/* With more items than entries a table is an ordinary table. */
	assert_true(fabs(CuckooShapeRate(&shape, 16000) - (1 - pow(1 - one, 32))) < 1e-15);
	assert_true(CuckooShapeRate(&largest, CUCKOO_MAX_CAPACITY) <= 2e-8);
}

/* ---------------------------------------------------------------- classes */

TEST(the_second_bucket_is_odd_if_the_first_is_even_and_leads_back)
{

	for (int i = 0; i < 1000000; i++)
	{
		uint32_t	most = i % 2 == 0 ? 40 : CUCKOO_MAX_BUCKETS;
		uint32_t	buckets = 2 + 2 * Below(most / 2);
		uint32_t	bucket = Below(buckets);
		uint32_t	fingerprint = (uint32_t) NextRandom() >> Below(32);
		uint32_t	other = CuckooAlternateBucket(fingerprint, bucket, buckets);
		uint32_t	sum = CuckooBucketSum(fingerprint, buckets);

		if (other >= buckets || other % 2 == bucket % 2 || sum % 2 != 1 || sum >= buckets ||
			CuckooAlternateBucket(fingerprint, other, buckets) != bucket)
			fail_msg("bucket %u of %u, fingerprint %u", bucket, buckets, fingerprint);
	}
}

/*
 * The pair and fingerprint that scaling gives; the place of its code; and the
 * same sorted order as codes and blocks.
 */
TEST(a_hash_has_one_class_and_a_class_has_a_hash)
{
	const CuckooShape various[] = {
		CuckooShapeOf(1, 2, 5), CuckooShapeOf(2, 2, 5), CuckooShapeOf(1, 4, 6), CuckooShapeOf(1, 6, 13),
		CuckooShapeOf(3, 30, 5), CuckooShapeOf(7, 100, 8), CuckooShapeOf(7, 1000, 17),
		CuckooShapeOf(1, 32768, 18),
		CuckooShapeOf(9, 30364, 14), CuckooShapeOf(100, 32766, 31), CuckooShapeOf(12000, 32768, 32),
		CuckooShapeOf(12000, 32768, 5)
	};

	for (size_t i = 0; i < lengthof(various); i++)
	{
		const CuckooShape *shape = &various[i];
		uint64_t	fingerprints = shape->fingerprints;

		assert_true(CuckooFirstHash(shape, CuckooShapeCodes(shape)) == UINT64_MAX);
		for (int k = 0; k < 200000; k++)
		{
			uint64_t	hash = k == 0 ? 0 : k == 1 ? UINT64_MAX : k == 2 ? UINT32_MAX :
				NextRandom();
			uint64_t	code = CuckooCodeOf(shape, hash);
			CuckooPlace place = CuckooPlaceOf(shape, hash);
			uint64_t	pair = ScaledHash(shape->pairs, hash, 0);
			uint32_t	rest = (uint32_t) ScaledHash(shape->pairs, hash, 32);

			assert_true(code >> shape->bits == pair);
			assert_true((code & fingerprints) == 1 + ((uint64_t) rest * fingerprints >> 32));
			assert_true(code < CuckooShapeCodes(shape));

			assert_true(place.even == 2 * pair && place.even == place.base + place.i1);
			assert_true(place.base % shape->buckets == 0);
			assert_true(place.i1 < shape->buckets && place.i2 < shape->buckets);
			assert_true(place.fingerprint == (code & fingerprints));
			assert_int_equal(place.i2, CuckooAlternateBucket(place.fingerprint, place.i1,
															 shape->buckets));

			/* A hash shortly before it, and any class */
			assert_true(CuckooCodeOf(shape, hash - hash % (UINT64_C(1) << k % 64)) <= code);
			code = k == 0 ? 1 : k == 1 ? CuckooShapeCodes(shape) - 1 :
				((NextRandom() >> 32) * shape->pairs >> 32) << shape->bits |
				(1 + ((NextRandom() >> 32) * fingerprints >> 32));
			assert_true(CuckooCodeOf(shape, HashOfCode(shape, code)) == code);
			assert_true(CuckooFirstHash(shape, code) == HashOfCode(shape, code));
			assert_true(CuckooCodeOf(shape, hash) == code ||
						(CuckooCodeOf(shape, hash) < code) == (hash < HashOfCode(shape, code)));
		}
	}
}
