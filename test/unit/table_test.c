/*-------------------------------------------------------------------------
 *
 * table_test.c
 *	  One table: geometry, nothing lost, the rate, removal, failed inserts.
 *
 * Every f from 5 to 32 and both layouts at sizes up to 131,073; at 1,000,003
 * only f 5, 10, 13, 17, 18 and 32.
 *
 *-------------------------------------------------------------------------
 */
#include "support.h"

#define LARGEST		1000003
#define QUESTIONS	400000

#define KEYS		1			/* streams of keys: in the tables, */
#define ABSENT		2			/* and in none of them */

/* A value of chi-square beyond this is no chance: five sigma and a little. */
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
the_second_bucket_differs_and_leads_back(void **state)
{
	uint64_t	random = 1;

	(void) state;
	for (uint32_t buckets = CUCKOO_MIN_BUCKETS; buckets <= 40; buckets += 2)
	{
		for (uint32_t fingerprint = 1; fingerprint < 512; fingerprint++)
		{
			for (uint32_t bucket = 0; bucket < buckets; bucket++)
			{
				uint32_t	other = CuckooOtherBucket(fingerprint, bucket, buckets);

				assert_in_range(other, 0, buckets - 1);
				assert_int_not_equal(other, bucket);
				assert_int_equal(CuckooOtherBucket(fingerprint, other, buckets), bucket);
			}
		}
	}
	for (int i = 0; i < 1000000; i++)
	{
		uint32_t	buckets = 2 + 2 * RandomBelow(&random, CUCKOO_MAX_BUCKETS / 2);
		uint32_t	bucket = RandomBelow(&random, buckets);
		uint32_t	fingerprint = (uint32_t) NextRandom(&random);
		uint32_t	other = CuckooOtherBucket(fingerprint, bucket, buckets);

		if (other >= buckets || other == bucket ||
			CuckooOtherBucket(fingerprint, other, buckets) != bucket)
			fail_msg("bucket %u of %u, fingerprint %u", bucket, buckets, fingerprint);
	}
}

static void
the_sum_of_a_class_is_odd_and_within_the_block(void **state)
{
	uint64_t	random = 2;

	(void) state;
	for (int i = 0; i < 1000000; i++)
	{
		uint32_t	buckets = 2 + 2 * RandomBelow(&random, CUCKOO_MAX_BUCKETS / 2);
		uint32_t	sum = CuckooBucketSum((uint32_t) NextRandom(&random), buckets);

		if (sum % 2 != 1 || sum >= buckets)
			fail_msg("sum %u in %u buckets", sum, buckets);
	}
}

/* The extremes of a hash, and shapes up to the largest there can be. */
static void
a_place_lies_in_its_block_and_its_fingerprint_in_range(void **state)
{
	static const uint32_t blocks[] = {1, 2, 3, 7, 1000, UINT32_MAX};
	static const uint32_t buckets[] = {2, 4, 6, 30, 1000, CUCKOO_MAX_BUCKETS};
	uint64_t	random = 3;

	(void) state;
	for (int bits = CUCKOO_MIN_BITS; bits <= CUCKOO_MAX_BITS; bits++)
	{
		uint64_t	most = (UINT64_C(1) << bits) - 1;
		CuckooShape shape = ShapeOf(1, 2, bits, CUCKOO_SEMISORTED);

		assert_int_equal(CuckooLocate(&shape, 0).fingerprint, 1);
		assert_int_equal(CuckooLocate(&shape, UINT64_MAX).fingerprint, most);
		for (size_t i = 0; i < lengthof(blocks); i++)
		{
			for (size_t j = 0; j < lengthof(buckets); j++)
			{
				shape = ShapeOf(blocks[i], buckets[j], bits, CUCKOO_SEMISORTED);
				for (int k = 0; k < 200; k++)
				{
					uint64_t	hash = k == 0 ? 0 : k == 1 ? UINT64_MAX :
						k == 2 ? UINT32_MAX : NextRandom(&random);
					CuckooPlace place = CuckooLocate(&shape, hash);

					assert_true(place.base == (uint64_t) CuckooBlockOf(&shape, hash) *
								shape.buckets);
					assert_true(place.base + shape.buckets <= CuckooShapeBuckets(&shape));
					assert_true(place.first < shape.buckets);
					assert_true(place.second < shape.buckets);
					assert_true(place.first != place.second);
					assert_true(place.fingerprint >= 1 && place.fingerprint <= most);
				}
			}
		}
	}
}

static void
ascending_hashes_have_ascending_blocks(void **state)
{
	CuckooShape shape = ShapeOf(7, 30, 13, CUCKOO_SEMISORTED);
	uint64_t   *hashes = SortedHashes(KEYS, 100000);

	(void) state;
	assert_int_equal(CuckooBlockOf(&shape, 0), 0);
	assert_int_equal(CuckooBlockOf(&shape, UINT64_MAX), 6);
	for (int i = 1; i < 100000; i++)
		assert_true(CuckooBlockOf(&shape, hashes[i - 1]) <= CuckooBlockOf(&shape, hashes[i]));
	free(hashes);
}

static void
blocks_buckets_and_fingerprints_are_evenly_spread(void **state)
{
	static const CuckooShape shapes[] = {
		{1, 2, 5, CUCKOO_SEMISORTED}, {1, 6, 8, CUCKOO_SEMISORTED},
		{3, 30, 5, CUCKOO_SEMISORTED}, {7, 100, 8, CUCKOO_SEMISORTED},
		{5, 1022, 10, CUCKOO_SEMISORTED}, {1, 32768, 13, CUCKOO_SEMISORTED}
	};
	const int	samples = 2000000;

	(void) state;
	for (size_t i = 0; i < lengthof(shapes); i++)
	{
		const CuckooShape *shape = &shapes[i];
		uint32_t	cells = (uint32_t) CuckooShapeBuckets(shape);
		uint32_t	fingerprints = (1u << shape->bits) - 1;
		uint32_t   *first = Allocate(cells * sizeof(uint32_t));
		uint32_t   *second = Allocate(cells * sizeof(uint32_t));
		uint32_t   *fingerprint = Allocate(fingerprints * sizeof(uint32_t));

		for (int k = 0; k < samples; k++)
		{
			CuckooPlace place = CuckooLocate(shape, KeyHash(ABSENT, (uint64_t) k));

			first[place.base + place.first]++;
			second[place.base + place.second]++;
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

typedef struct Pool
{
	uint64_t   *keys;
	uint64_t   *absent;
} Pool;

static int
MakePool(void **state)
{
	static Pool pool;

	pool.keys = Allocate(LARGEST * sizeof(uint64_t));
	pool.absent = Allocate(QUESTIONS * sizeof(uint64_t));
	for (uint64_t i = 0; i < LARGEST; i++)
		pool.keys[i] = KeyHash(KEYS, i);
	for (uint64_t i = 0; i < QUESTIONS; i++)
		pool.absent[i] = KeyHash(ABSENT, i);
	*state = &pool;
	return 0;
}

static int
FreePool(void **state)
{
	Pool	   *pool = *state;

	free(pool->keys);
	free(pool->absent);
	return 0;
}

/* Ask for every key, ask for absent ones, take every key out again. */
static void
CheckLife(const Pool *pool, CuckooTable *table, size_t count, int questions)
{
	double		rate = CuckooTableRate(&table->shape, table->items);
	double		slack = 5 * questions * RateSigma(&table->shape, table->items, questions) + 1;
	double		hits = 0;

	assert_int_equal(table->items, count);
	assert_true(TableIsSound(table));
	for (size_t i = 0; i < count; i++)
	{
		if (!CuckooTableContains(table, pool->keys[i]))
			fail_msg("f %d, layout %d: key %zu of %zu is lost",
					 table->shape.bits, table->shape.layout, i, count);
	}
	for (int i = 0; i < questions; i++)
	{
		bool		found = CuckooTableContains(table, pool->absent[i]);

		hits += found;
		if (i < 2000)
			assert_int_equal(CuckooTableCount(table, pool->absent[i]) > 0, found);
	}
	if (fabs(hits - rate * questions) > slack)
		fail_msg("f %d, layout %d, %zu keys: %g of %d absent keys found, expected %g +- %g",
				 table->shape.bits, table->shape.layout, count, hits, questions,
				 rate * questions, slack);

	for (size_t i = 0; i < count; i++)
	{
		if (CuckooTableRemove(table, pool->keys[i]) != CUCKOO_REMOVED)
			fail_msg("f %d, layout %d: key %zu of %zu cannot be removed",
					 table->shape.bits, table->shape.layout, i, count);
	}
	assert_int_equal(table->items, 0);
	assert_true(AllZero(table->data,
						(size_t) CuckooShapeBytes(&table->shape) + CUCKOO_TAIL_BYTES));
}

static void
CheckLifeOfBuiltTables(const Pool *pool, size_t count, int bits, int questions)
{
	uint64_t   *sorted = Duplicate(pool->keys, count * sizeof(uint64_t));
	uint64_t   *scratch = Allocate(count * sizeof(uint64_t));

	CuckooSortHashes(sorted, scratch, count, NULL);
	free(scratch);
	for (int layout = CUCKOO_SEMISORTED; layout <= CUCKOO_PLAIN; layout++)
	{
		CuckooTable table = BuildTable(sorted, count, bits, (CuckooLayout) layout, 0);

		CheckLife(pool, &table, count, questions);
		FreeTable(&table);
	}
	free(sorted);
}

static void
small_built_tables_lose_nothing_keep_the_rate_and_empty_to_zero(void **state)
{
	static const size_t sizes[] = {0, 1, 31, 32, 33, 34, 100};

	for (size_t i = 0; i < lengthof(sizes); i++)
		for (int bits = CUCKOO_MIN_BITS; bits <= CUCKOO_MAX_BITS; bits++)
			CheckLifeOfBuiltTables(*state, sizes[i], bits, 20000);
}

static void
built_tables_of_10000_keys_lose_nothing_keep_the_rate_and_empty_to_zero(void **state)
{
	for (int bits = CUCKOO_MIN_BITS; bits <= CUCKOO_MAX_BITS; bits++)
		CheckLifeOfBuiltTables(*state, 10000, bits, QUESTIONS);
}

static void
built_tables_of_two_blocks_lose_nothing_keep_the_rate_and_empty_to_zero(void **state)
{
	for (int bits = CUCKOO_MIN_BITS; bits <= CUCKOO_MAX_BITS; bits++)
	{
		CheckLifeOfBuiltTables(*state, 131072, bits, 100000);
		CheckLifeOfBuiltTables(*state, 131073, bits, 100000);
	}
}

static void
built_tables_of_1000003_keys_lose_nothing_keep_the_rate_and_empty_to_zero(void **state)
{
	static const int chosen_bits[] = {5, 10, 13, 17, 18, 32};

	for (size_t i = 0; i < lengthof(chosen_bits); i++)
		CheckLifeOfBuiltTables(*state, LARGEST, chosen_bits[i], QUESTIONS);
}

/* As a reader of slices asks: with two buckets at hand and nothing else. */
static void
two_buckets_out_of_their_table_answer_as_the_table_does(void **state)
{
	const Pool *pool = *state;

	for (int bits = CUCKOO_MIN_BITS; bits <= CUCKOO_MAX_BITS; bits++)
	{
		for (int layout = CUCKOO_SEMISORTED; layout <= CUCKOO_PLAIN; layout++)
		{
			CuckooShape shape = ShapeOf(2, 20, bits, (CuckooLayout) layout);
			CuckooTable table = NewTable(&shape);
			CuckooTable nowhere = table;

			nowhere.data = NULL;
			for (int i = 0; i < 120; i++)
				CuckooTableInsert(&table, pool->keys[i], CUCKOO_MAX_KICKS);
			for (int i = 0; i < 240; i++)
			{
				uint64_t	hash = i % 2 == 0 ? pool->keys[i] : pool->absent[i];
				CuckooPlace place = CuckooLocate(&shape, hash);
				uint64_t	numbers[2];
				int			copies = 0;

				numbers[0] = place.base + place.first;
				numbers[1] = place.base + place.second;
				for (int k = 0; k < 2; k++)
				{
					uint8_t		span[CUCKOO_SPAN_BYTES];
					int			bytes;
					uint64_t	offset = CuckooBucketSpan(&nowhere, numbers[k], &bytes);

					assert_in_range(bytes, 1, CUCKOO_SPAN_BYTES);
					assert_true(offset + (uint64_t) bytes <= CuckooShapeBytes(&shape));
					memset(span, 0x5A, sizeof(span));
					memcpy(span, table.data + offset, (size_t) bytes);
					copies += CuckooBucketCount(&nowhere, numbers[k], span, place.fingerprint);
				}
				assert_int_equal(copies, CuckooTableCount(&table, hash));
			}
			FreeTable(&table);
		}
	}
}

/* Key by key instead of built, also to the load that adds may reach. */
static void
tables_filled_by_inserts_lose_nothing_keep_the_rate_and_empty_to_zero(void **state)
{
	static const size_t sizes[] = {1, 33, 100, 10000};
	const Pool *pool = *state;

	for (size_t i = 0; i < lengthof(sizes); i++)
	{
		for (int bits = CUCKOO_MIN_BITS; bits <= CUCKOO_MAX_BITS; bits++)
		{
			for (int layout = CUCKOO_SEMISORTED; layout <= CUCKOO_PLAIN; layout++)
			{
				CuckooShape shape;
				CuckooTable table;

				assert_true(CuckooShapeFor(&shape, sizes[i], bits,
										   (CuckooLayout) layout, 0));
				table = NewTable(&shape);
				for (size_t k = 0; k < sizes[i]; k++)
					assert_int_equal(CuckooTableInsert(&table, pool->keys[k],
													   CUCKOO_MAX_KICKS),
									 CUCKOO_INSERTED);
				CheckLife(pool, &table, sizes[i], 20000);
				FreeTable(&table);
			}
		}
	}
}

/* Each bit of a fingerprint is stored, and asked for. */
static void
fingerprints_that_differ_in_one_bit_are_told_apart(void **state)
{
	uint64_t	random = 5;

	(void) state;
	for (int bits = CUCKOO_MIN_BITS; bits <= CUCKOO_MAX_BITS; bits++)
	{
		for (int layout = CUCKOO_SEMISORTED; layout <= CUCKOO_PLAIN; layout++)
		{
			CuckooShape shape = ShapeOf(1, 30, bits, (CuckooLayout) layout);
			CuckooTable table = NewTable(&shape);
			uint64_t	most = (UINT64_C(1) << bits) - 1;

			for (int i = 0; i < 200; i++)
			{
				uint64_t	hash = NextRandom(&random);
				uint32_t	fingerprint = CuckooLocate(&shape, hash).fingerprint;

				assert_int_equal(CuckooTableInsert(&table, hash, 0), CUCKOO_INSERTED);
				assert_true(CuckooTableContains(&table, hash));
				for (int bit = 0; bit < bits; bit++)
				{
					uint32_t	other = fingerprint ^ (uint32_t) (UINT64_C(1) << bit);
					uint64_t	near;

					if (other == 0 || other > most)
						continue;
					near = HashWithFingerprint((uint32_t) (hash >> 32), other, bits);
					assert_int_equal(CuckooLocate(&shape, near).fingerprint, other);
					assert_false(CuckooTableContains(&table, near));
					assert_int_equal(CuckooTableRemove(&table, near), CUCKOO_ABSENT);
				}
				assert_int_equal(CuckooTableRemove(&table, hash), CUCKOO_REMOVED);
			}
			FreeTable(&table);
		}
	}
}

/* Short walks and long ones, from one step to more than there may be. */
static void
an_insert_that_fails_leaves_every_byte_as_it_was(void **state)
{
	static const int walks[] = {0, 1, 2, 16, 500, CUCKOO_MAX_KICKS, 100 * CUCKOO_MAX_KICKS};
	static const uint32_t sizes[] = {2, 4, 6, 30};
	uint64_t	stream = 100;

	(void) state;
	for (int bits = CUCKOO_MIN_BITS; bits <= CUCKOO_MAX_BITS; bits++)
		for (int layout = CUCKOO_SEMISORTED; layout <= CUCKOO_PLAIN; layout++)
			for (size_t i = 0; i < lengthof(sizes); i++)
				for (size_t j = 0; j < lengthof(walks); j++)
				{
					CuckooShape shape = ShapeOf(2, sizes[i], bits, (CuckooLayout) layout);
					CuckooTable table = NewTable(&shape);
					size_t		length = (size_t) CuckooShapeBytes(&shape) + CUCKOO_TAIL_BYTES;
					uint8_t    *before = Allocate(length);
					uint64_t	added[2 * 30 * CUCKOO_ENTRIES];
					size_t		count = 0;
					int			failures = 0;

					stream++;
					for (uint64_t key = 0; failures < 5; key++)
					{
						uint64_t	hash = KeyHash(stream, key);
						uint64_t	items = table.items;
						CuckooInsertResult result;

						memcpy(before, table.data, length);
						result = CuckooTableInsert(&table, hash, walks[j]);
						if (result == CUCKOO_INSERTED)
						{
							assert_int_equal(table.items, items + 1);
							added[count++] = hash;
							continue;
						}
						failures += result == CUCKOO_FULL;
						assert_int_equal(table.items, items);
						assert_memory_equal(table.data, before, length);

						/* Nothing more goes in once all entries are filled. */
						if (table.items == CuckooShapeEntries(&shape))
							failures++;
					}
					assert_true(TableIsSound(&table));
					for (size_t k = 0; k < count; k++)
						assert_true(CuckooTableContains(&table, added[k]));
					free(before);
					FreeTable(&table);
				}
}

static void
inserts_reach_the_load_a_table_may_be_filled_to(void **state)
{
	CuckooShape shape = ShapeOf(1, 3000, 13, CUCKOO_SEMISORTED);
	CuckooTable table = NewTable(&shape);

	(void) state;
	for (uint64_t i = 0; i < 12000 * CUCKOO_DESIGN_LOAD; i++)
		assert_int_equal(CuckooTableInsert(&table, KeyHash(3, i), CUCKOO_MAX_KICKS),
						 CUCKOO_INSERTED);
	FreeTable(&table);
}

static void
inserts_are_deterministic(void **state)
{
	CuckooShape shape = ShapeOf(1, 30, 9, CUCKOO_SEMISORTED);
	CuckooTable a = NewTable(&shape);
	CuckooTable b = NewTable(&shape);

	(void) state;
	for (uint64_t i = 0; i < 140; i++)
	{
		CuckooInsertResult result = CuckooTableInsert(&a, KeyHash(4, i), CUCKOO_MAX_KICKS);

		assert_int_equal(CuckooTableInsert(&b, KeyHash(4, i), CUCKOO_MAX_KICKS), result);
	}
	assert_memory_equal(a.data, b.data, (size_t) CuckooShapeBytes(&shape));
	FreeTable(&a);
	FreeTable(&b);
}

static void
copies_are_counted_up_and_down_to_seven(void **state)
{
	(void) state;
	for (int bits = CUCKOO_MIN_BITS; bits <= CUCKOO_MAX_BITS; bits++)
	{
		for (int layout = CUCKOO_SEMISORTED; layout <= CUCKOO_PLAIN; layout++)
		{
			CuckooShape shape = ShapeOf(1, 10, bits, (CuckooLayout) layout);
			CuckooTable table = NewTable(&shape);
			uint64_t	hash = KeyHash(5, (uint64_t) bits);

			for (int copies = 1; copies < CUCKOO_MAX_COPIES; copies++)
			{
				assert_int_equal(CuckooTableInsert(&table, hash, 0), CUCKOO_INSERTED);
				assert_int_equal(CuckooTableCount(&table, hash), copies);
				assert_int_equal(table.items, copies);
			}
			for (int copies = CUCKOO_MAX_COPIES - 2; copies >= 0; copies--)
			{
				assert_int_equal(CuckooTableRemove(&table, hash), CUCKOO_REMOVED);
				assert_int_equal(CuckooTableCount(&table, hash), copies);
			}
			assert_int_equal(CuckooTableRemove(&table, hash), CUCKOO_ABSENT);
			assert_true(AllZero(table.data, (size_t) CuckooShapeBytes(&shape)));
			FreeTable(&table);
		}
	}
}

static void
the_eighth_copy_sticks(void **state)
{
	(void) state;
	for (int bits = CUCKOO_MIN_BITS; bits <= CUCKOO_MAX_BITS; bits++)
	{
		for (int layout = CUCKOO_SEMISORTED; layout <= CUCKOO_PLAIN; layout++)
		{
			CuckooShape shape = ShapeOf(1, 10, bits, (CuckooLayout) layout);
			CuckooTable table = NewTable(&shape);
			size_t		length = (size_t) CuckooShapeBytes(&shape) + CUCKOO_TAIL_BYTES;
			uint64_t	hash = KeyHash(5, (uint64_t) bits);
			uint8_t    *before;

			for (int copies = 1; copies <= CUCKOO_MAX_COPIES; copies++)
				assert_int_equal(CuckooTableInsert(&table, hash, CUCKOO_MAX_KICKS),
								 CUCKOO_INSERTED);
			before = Duplicate(table.data, length);
			for (int i = 0; i < 20; i++)
			{
				assert_int_equal(CuckooTableInsert(&table, hash, CUCKOO_MAX_KICKS),
								 CUCKOO_STUCK);
				assert_int_equal(CuckooTableRemove(&table, hash), CUCKOO_KEPT);
			}
			assert_int_equal(table.items, CUCKOO_MAX_COPIES);
			assert_int_equal(CuckooTableCount(&table, hash), CUCKOO_MAX_COPIES);
			assert_memory_equal(table.data, before, length);
			free(before);
			FreeTable(&table);
		}
	}
}

/* Two keys of one class share its copies, from either of its buckets. */
static void
keys_of_one_class_stick_together(void **state)
{
	CuckooShape shape = ShapeOf(1, 2, 5, CUCKOO_SEMISORTED);
	CuckooTable table = NewTable(&shape);
	uint64_t	one = HashWithFingerprint(0, 9, 5);
	uint64_t	other = HashWithFingerprint(UINT32_MAX, 9, 5);

	(void) state;
	assert_int_not_equal(CuckooLocate(&shape, one).first, CuckooLocate(&shape, other).first);
	for (int i = 0; i < 5; i++)
		assert_int_equal(CuckooTableInsert(&table, one, 0), CUCKOO_INSERTED);
	assert_int_equal(CuckooTableCount(&table, other), 5);
	for (int i = 0; i < 3; i++)
		assert_int_equal(CuckooTableInsert(&table, other, 0), CUCKOO_INSERTED);
	assert_int_equal(CuckooTableInsert(&table, other, 0), CUCKOO_STUCK);
	assert_int_equal(CuckooTableRemove(&table, one), CUCKOO_KEPT);
	FreeTable(&table);
}

static void
removing_what_is_not_there_changes_nothing(void **state)
{
	CuckooShape shape = ShapeOf(1, 30, 20, CUCKOO_SEMISORTED);
	CuckooTable table = NewTable(&shape);
	uint8_t    *before;

	(void) state;
	for (uint64_t i = 0; i < 100; i++)
		CuckooTableInsert(&table, KeyHash(6, i), CUCKOO_MAX_KICKS);
	before = Duplicate(table.data, (size_t) CuckooShapeBytes(&shape));
	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(CuckooTableRemove(&table, KeyHash(7, i)), CUCKOO_ABSENT);
	assert_memory_equal(table.data, before, (size_t) CuckooShapeBytes(&shape));
	assert_int_equal(table.items, 100);
	free(before);
	FreeTable(&table);
}

/* By powers, which an approximation would not survive at small f. */
static void
the_rate_is_that_of_all_entries_compared(void **state)
{
	(void) state;
	for (int bits = CUCKOO_MIN_BITS; bits <= 24; bits++)
	{
		CuckooShape shape = ShapeOf(1, 100, bits, CUCKOO_SEMISORTED);
		double		differs = 1 - 1 / (ldexp(1, bits) - 1);

		assert_true(CuckooTableRate(&shape, 0) == 0);
		for (uint64_t items = 50; items <= 400; items += 50)
		{
			double		expected = 1 - pow(differs, 8.0 * (double) items / 400);

			assert_true(fabs(CuckooTableRate(&shape, items) - expected) < 1e-9 * expected + 1e-14);
		}
	}
}

static int	pauses;

static void
CountPause(void)
{
	pauses++;
}

static void
pause_is_called_once_a_block_of_what_is_checked(void **state)
{
	CuckooShape shape = ShapeOf(3, CUCKOO_MAX_BUCKETS, 5, CUCKOO_SEMISORTED);
	CuckooTable table = NewTable(&shape);
	uint64_t	items;
	uint64_t	bad;

	(void) state;
	pauses = 0;
	assert_true(CuckooTableCheck(&table, &items, &bad, CountPause));
	assert_int_equal(pauses, 3);
	FreeTable(&table);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_second_bucket_differs_and_leads_back),
		cmocka_unit_test(the_sum_of_a_class_is_odd_and_within_the_block),
		cmocka_unit_test(a_place_lies_in_its_block_and_its_fingerprint_in_range),
		cmocka_unit_test(ascending_hashes_have_ascending_blocks),
		cmocka_unit_test(blocks_buckets_and_fingerprints_are_evenly_spread),
		cmocka_unit_test(neighbouring_fingerprints_have_unrelated_sums),
		cmocka_unit_test(small_built_tables_lose_nothing_keep_the_rate_and_empty_to_zero),
		cmocka_unit_test(built_tables_of_10000_keys_lose_nothing_keep_the_rate_and_empty_to_zero),
		cmocka_unit_test(built_tables_of_two_blocks_lose_nothing_keep_the_rate_and_empty_to_zero),
		cmocka_unit_test(built_tables_of_1000003_keys_lose_nothing_keep_the_rate_and_empty_to_zero),
		cmocka_unit_test(tables_filled_by_inserts_lose_nothing_keep_the_rate_and_empty_to_zero),
		cmocka_unit_test(two_buckets_out_of_their_table_answer_as_the_table_does),
		cmocka_unit_test(fingerprints_that_differ_in_one_bit_are_told_apart),
		cmocka_unit_test(an_insert_that_fails_leaves_every_byte_as_it_was),
		cmocka_unit_test(inserts_reach_the_load_a_table_may_be_filled_to),
		cmocka_unit_test(inserts_are_deterministic),
		cmocka_unit_test(copies_are_counted_up_and_down_to_seven),
		cmocka_unit_test(the_eighth_copy_sticks),
		cmocka_unit_test(keys_of_one_class_stick_together),
		cmocka_unit_test(removing_what_is_not_there_changes_nothing),
		cmocka_unit_test(the_rate_is_that_of_all_entries_compared),
		cmocka_unit_test(pause_is_called_once_a_block_of_what_is_checked),
	};

	return cmocka_run_group_tests_name("table", tests, MakePool, FreePool);
}
