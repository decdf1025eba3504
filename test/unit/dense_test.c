/*-------------------------------------------------------------------------
 *
 * dense_test.c
 *	  A dense table: no key lost, the rate, removal, walks that find no place,
 *	  builds.
 *
 *-------------------------------------------------------------------------
 */
#include "support.h"

#define KEYS		1			/* streams of keys: in the tables, */
#define ABSENT		2			/* and in none of them */

static CuckooDense
CopyDense(const CuckooDense *dense)
{
	CuckooDense copy = NewDense(&dense->shape);

	memcpy(copy.data, dense->data, (size_t) CuckooDenseBytes(&dense->shape));
	return copy;
}

static void
FreeDense(CuckooDense *dense)
{
	free(dense->data);
}

/* The number of items of a table; checks that every bucket is in order. */
static uint64_t
ItemsOf(const CuckooDense *dense)
{
	uint64_t	items;
	uint64_t	bad;

	assert_true(CuckooDenseCheck(dense, &items, &bad));
	assert_true(AllZero(dense->data + CuckooDenseBytes(&dense->shape), CUCKOO_TAIL_BYTES));
	return items;
}

static bool
Insert(CuckooDense *dense, uint64_t hash)
{
	CuckooPlace place = CuckooPlaceOf(&dense->shape, hash);

	return CuckooDenseInsert(dense, &place) == CUCKOO_INSERTED;
}

static bool
Remove(CuckooDense *dense, uint64_t hash)
{
	CuckooPlace place = CuckooPlaceOf(&dense->shape, hash);

	return CuckooDenseRemove(dense, &place);
}

static int
Count(const CuckooDense *dense, uint64_t hash)
{
	CuckooPlace place = CuckooPlaceOf(&dense->shape, hash);

	return CuckooDenseCount(dense, &place);
}

/* The codes of the first keys of a stream, sorted, with repetitions. */
static uint64_t *
CodesOf(const CuckooShape *shape, uint64_t stream, size_t count)
{
	uint64_t   *codes = SortedHashes(stream, count);

	for (size_t i = 0; i < count; i++)
		codes[i] = CuckooCodeOf(shape, codes[i]);
	return codes;
}

/* A table built from codes in garbage memory; NULL data if that fails. */
static CuckooDense
BuildDense(const CuckooShape *shape, const uint64_t *codes, size_t count, uint64_t seed)
{
	CuckooDense dense = NewDense(shape);
	CuckooRun	run = {codes, count};
	CuckooSource source = {&run, 1, false, NULL, NULL};

	memset(dense.data, 0x5A, (size_t) CuckooDenseBytes(shape));
	if (!CuckooDenseBuild(&dense, &source, seed))
	{
		FreeDense(&dense);
		dense.data = NULL;
	}
	return dense;
}

/*
 * Every key is found, absent keys at the expected rate, and all can be
 * removed.
 */
static void
CheckLife(CuckooDense *dense, size_t keys, int lookups)
{
	double		rate = CuckooShapeRate(&dense->shape, keys);
	double		slack = 5 * lookups * RateSigma(&dense->shape, keys, lookups) + 1;
	double		hits = 0;

	assert_int_equal(ItemsOf(dense), keys);
	for (size_t i = 0; i < keys; i++)
	{
		if (!CuckooDenseContainsAt(dense, CuckooPlaceOf(&dense->shape, KeyHash(KEYS, i))))
			fail_msg("f %d: key %zu of %zu is lost", dense->shape.bits, i, keys);
	}
	for (int i = 0; i < lookups; i++)
	{
		uint64_t	hash = KeyHash(ABSENT, (uint64_t) i);
		bool		found = CuckooDenseContainsAt(dense, CuckooPlaceOf(&dense->shape, hash));

		hits += found;
		if (i < 2000)
			assert_int_equal(Count(dense, hash) > 0, found);
	}
	if (fabs(hits - rate * lookups) > slack)
		fail_msg("f %d, %zu keys: %g of %d absent keys found, expected %g +- %g",
				 dense->shape.bits, keys, hits, lookups, rate * lookups, slack);
	for (size_t i = 0; i < keys; i++)
	{
		if (!Remove(dense, KeyHash(KEYS, i)))
			fail_msg("f %d: key %zu of %zu cannot be removed", dense->shape.bits, i, keys);
	}
	assert_true(AllZero(dense->data, (size_t) CuckooDenseBytes(&dense->shape) +
						CUCKOO_TAIL_BYTES));
}

static void
CheckBuilt(size_t keys, int bits, int lookups)
{
	CuckooShape shape;
	uint64_t   *codes;
	CuckooDense dense;

	assert_true(CuckooShapeFor(&shape, keys, bits));
	codes = CodesOf(&shape, KEYS, keys);
	dense = BuildDense(&shape, codes, keys, 0);
	assert_non_null(dense.data);
	CheckLife(&dense, keys, lookups);
	FreeDense(&dense);
	free(codes);
}

static void
small_built_tables_lose_nothing_keep_the_rate_and_empty_to_zero(void **state)
{
	static const size_t sizes[] = {0, 1, 22, 33, 100, 1000};

	(void) state;
	for (size_t i = 0; i < lengthof(sizes); i++)
		for (int bits = 6; bits <= CUCKOO_MAX_BITS; bits++)
			CheckBuilt(sizes[i], bits, 20000);
}

static void
built_tables_at_capacity_lose_nothing_keep_the_rate_and_empty_to_zero(void **state)
{
	(void) state;
	for (int bits = CUCKOO_MIN_BITS + 1; bits <= CUCKOO_MAX_BITS; bits += 1 + (bits > 18) * 3)
	{
		CuckooShape shape;

		assert_true(CuckooShapeFor(&shape, 10000, bits));
		CheckBuilt((size_t) CuckooShapeCapacity(&shape), bits, 200000);
	}
	/* Two blocks, and eight */
	CheckBuilt(131073, 13, 200000);
	CheckBuilt(1000003, 13, 200000);
}

static void
tables_filled_by_inserts_lose_nothing_keep_the_rate_and_empty_to_zero(void **state)
{
	static const size_t sizes[] = {1, 22, 33, 100, 10000};

	(void) state;
	for (size_t i = 0; i < lengthof(sizes); i++)
	{
		for (int bits = 6; bits <= CUCKOO_MAX_BITS; bits++)
		{
			CuckooShape shape;
			CuckooDense dense;

			assert_true(CuckooShapeFor(&shape, sizes[i], bits));
			dense = NewDense(&shape);
			for (size_t k = 0; k < sizes[i]; k++)
				assert_true(Insert(&dense, KeyHash(KEYS, k)));
			CheckLife(&dense, sizes[i], 20000);
			FreeDense(&dense);
		}
	}
}

static void
a_class_has_up_to_eight_copies_which_go_one_by_one(void **state)
{
	(void) state;
	for (int bits = CUCKOO_MIN_BITS; bits <= CUCKOO_MAX_BITS; bits++)
	{
		CuckooShape shape = ShapeOf(2, 10, bits);
		CuckooDense dense = NewDense(&shape);
		uint64_t	hash = KeyHash(KEYS, 3);

		for (int copies = 1; copies <= 8; copies++)
		{
			assert_true(Insert(&dense, hash));
			assert_int_equal(Count(&dense, hash), copies);
			assert_int_equal(ItemsOf(&dense), copies);
		}
		for (int copies = 7; copies >= 0; copies--)
		{
			assert_true(Remove(&dense, hash));
			assert_int_equal(Count(&dense, hash), copies);
			assert_int_equal(CuckooDenseContainsAt(&dense, CuckooPlaceOf(&dense.shape, hash)), copies > 0);
		}
		assert_false(Remove(&dense, hash));
		assert_true(AllZero(dense.data, (size_t) CuckooDenseBytes(&shape)));
		FreeDense(&dense);
	}
}

static void
an_insert_that_finds_no_room_leaves_the_table_as_it_was(void **state)
{
	static const CuckooShape shapes[] = {
		{1, 2, 5}, {1, 4, 8}, {1, 20, 13}, {3, 10, 17}, {2, 40, 18}, {1, 100, 32}
	};

	(void) state;
	for (size_t i = 0; i < lengthof(shapes); i++)
	{
		CuckooDense dense = NewDense(&shapes[i]);
		CuckooDense before;
		uint64_t	items = 0;
		int			refused = 0;

		for (uint64_t k = 0; refused < 30; k++)
		{
			uint64_t	hash = KeyHash(KEYS, k);

			if (Count(&dense, hash) == CUCKOO_MAX_COPIES)
				continue;
			before = CopyDense(&dense);
			if (Insert(&dense, hash))
				items++;
			else
			{
				refused++;
				assert_memory_equal(dense.data, before.data,
									(size_t) CuckooDenseBytes(&shapes[i]));
			}
			assert_int_equal(ItemsOf(&dense), items);
			FreeDense(&before);
		}
		assert_true(items * 10 >= CuckooShapeEntries(&shapes[i]) * 8);
		FreeDense(&dense);
	}
}

/* Walks depend on the class and the table, not on earlier walks. */
static void
the_same_inserts_give_the_same_bytes(void **state)
{
	CuckooShape shape = ShapeOf(2, 500, 13);
	CuckooDense a = NewDense(&shape);
	CuckooDense b = NewDense(&shape);

	(void) state;
	for (uint64_t i = 0; i < 3860; i++)
		assert_int_equal(Insert(&a, KeyHash(KEYS, i)), Insert(&b, KeyHash(KEYS, i)));
	assert_memory_equal(a.data, b.data, (size_t) CuckooDenseBytes(&shape));
	FreeDense(&a);
	FreeDense(&b);
}

static void
the_codes_of_a_table_are_read_back_in_order(void **state)
{
	static const CuckooShape shapes[] = {
		{1, 6, 5}, {3, 2, 8}, {7, 100, 13}, {2, 1500, 17}, {5, 64, 18}, {2, 32768, 32}
	};

	(void) state;
	for (size_t i = 0; i < lengthof(shapes); i++)
	{
		size_t		keys = (size_t) CuckooShapeEntries(&shapes[i]) * 8 / 10;
		uint64_t   *codes = CodesOf(&shapes[i], KEYS, keys);
		CuckooDense dense = BuildDense(&shapes[i], codes, keys, 5);
		CuckooTable table;
		uint64_t	count;
		uint64_t   *read;

		if (dense.data == NULL)
		{
			/* Too small for arbitrary keys; then as many as fit one by one. */
			dense = NewDense(&shapes[i]);
			count = 0;
			for (uint64_t k = 0; k < keys; k++)
			{
				uint64_t	hash = HashOfCode(&shapes[i], codes[k]);

				if (Count(&dense, hash) < 8 && Insert(&dense, hash))
					codes[count++] = codes[k];
			}
			keys = (size_t) count;
		}
		assert_int_equal(ItemsOf(&dense), keys);
		CuckooTableInit(&table, &shapes[i], CUCKOO_DENSE, keys, dense.data);
		read = CuckooTableCodes(&table);
		assert_memory_equal(read, codes, keys * sizeof(uint64_t));
		pfree(read);
		FreeDense(&dense);
		free(codes);
	}
}

static void
the_same_codes_shape_and_seed_give_the_same_bytes_and_another_seed_others(void **state)
{
	CuckooShape shape;
	uint64_t   *codes;
	CuckooDense a;
	CuckooDense b;
	CuckooDense c;

	(void) state;
	assert_true(CuckooShapeFor(&shape, 20000, 13));
	codes = CodesOf(&shape, KEYS, 20000);
	a = BuildDense(&shape, codes, 20000, 1);
	b = BuildDense(&shape, codes, 20000, 1);
	c = BuildDense(&shape, codes, 20000, 2);
	assert_memory_equal(a.data, b.data, (size_t) CuckooDenseBytes(&shape));
	assert_memory_not_equal(a.data, c.data, (size_t) CuckooDenseBytes(&shape));
	FreeDense(&a);
	FreeDense(&b);
	FreeDense(&c);
	free(codes);
}

/* Codes that share both buckets: eight of them fit, nine do not. */
static void
a_build_whose_codes_find_no_room_fails(void **state)
{
	CuckooShape shape = ShapeOf(1, 2, 8);
	const uint64_t fit[] = {1, 2, 3, 3, 4, 5, 6, 7};
	const uint64_t too_many[] = {1, 2, 3, 3, 4, 5, 6, 7, 8};
	CuckooDense dense = BuildDense(&shape, fit, lengthof(fit), 0);

	(void) state;
	assert_non_null(dense.data);
	assert_int_equal(ItemsOf(&dense), 8);
	FreeDense(&dense);
	dense = BuildDense(&shape, too_many, lengthof(too_many), 0);
	assert_null(dense.data);
}

/* only the last block is too full, after those before it have been built. */
static void
a_build_fails_for_an_overfull_last_block_too(void **state)
{
	CuckooShape shape = ShapeOf(3, 2, 8);
	uint64_t	codes[] = {
		1, 2, 300, 2 * 256 + 1, 2 * 256 + 2, 2 * 256 + 3, 2 * 256 + 4, 2 * 256 + 5,
		2 * 256 + 6, 2 * 256 + 7, 2 * 256 + 8, 2 * 256 + 9
	};
	CuckooDense dense = BuildDense(&shape, codes, lengthof(codes) - 1, 0);

	(void) state;
	assert_non_null(dense.data);
	FreeDense(&dense);
	dense = BuildDense(&shape, codes, lengthof(codes), 0);
	assert_null(dense.data);
}

static void
two_buckets_out_of_their_table_answer_as_the_table_does(void **state)
{
	(void) state;
	for (int bits = CUCKOO_MIN_BITS; bits <= CUCKOO_MAX_BITS; bits++)
	{
		CuckooShape shape = ShapeOf(2, 20, bits);
		CuckooDense dense = NewDense(&shape);
		CuckooTable table;
		uint64_t	items = 0;

		for (uint64_t i = 0; i < 120; i++)
		{
			if (Count(&dense, KeyHash(KEYS, i)) < 8)
				items += Insert(&dense, KeyHash(KEYS, i));
		}
		CuckooTableInit(&table, &shape, CUCKOO_DENSE, items, dense.data);
		for (uint64_t i = 0; i < 240; i++)
		{
			uint64_t	hash = KeyHash(i % 2 == 0 ? KEYS : ABSENT, i / 2);
			int			copies = CuckooTableCount(&table, hash);

			assert_int_equal(SlicedCount(&table, hash, 0xFF), copies);
			assert_int_equal(SlicedCount(&table, hash, 0), copies);
			assert_int_equal(CuckooTableContains(&table, hash), copies > 0);
		}
		FreeDense(&dense);
	}
}

/*
 * A table with a flipped bit either is refused or has every bucket in the form
 * in which it would be written.
 */
static void
what_passes_the_check_is_written_back_the_same(void **state)
{
	static const int widths[] = {5, 6, 13, 16, 17, 18, 25, 32};
	int			passed = 0;
	int			refused = 0;

	(void) state;
	for (size_t i = 0; i < lengthof(widths); i++)
	{
		CuckooShape shape = ShapeOf(1, 12, widths[i]);
		CuckooDense dense = NewDense(&shape);

		for (uint64_t k = 0; k < 36; k++)
		{
			if (Count(&dense, KeyHash(KEYS, k)) < 8)
				Insert(&dense, KeyHash(KEYS, k));
		}
		for (uint64_t bit = 0; bit < 8 * CuckooDenseBytes(&shape); bit++)
		{
			uint64_t	items;
			uint64_t	bad;

			dense.data[bit / 8] ^= (uint8_t) (1 << bit % 8);
			if (CuckooDenseCheck(&dense, &items, &bad))
			{
				CuckooDense again = CopyDense(&dense);
				uint64_t	counted = 0;

				for (uint64_t number = 0; number < 12; number++)
				{
					uint32_t	entries[CUCKOO_ENTRIES];

					CuckooDecode(&dense.packing,
								 CuckooReadBits(&dense.packing, dense.data, number), entries);
					for (int slot = 0; slot < CUCKOO_ENTRIES; slot++)
						counted += entries[slot] != 0;
					CuckooWriteBits(&again.packing, again.data, number,
									CuckooEncode(&again.packing, entries));
				}
				assert_memory_equal(again.data, dense.data, (size_t) CuckooDenseBytes(&shape));
				assert_int_equal(counted, items);
				FreeDense(&again);
				passed++;
			}
			else
			{
				assert_int_equal(bad, bit / (4 * (uint64_t) (widths[i] - 1)));
				refused++;
			}
			dense.data[bit / 8] ^= (uint8_t) (1 << bit % 8);
		}
		FreeDense(&dense);
	}
	assert_true(passed > 100 && refused > 100);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_built_tables_lose_nothing_keep_the_rate_and_empty_to_zero),
		cmocka_unit_test(built_tables_at_capacity_lose_nothing_keep_the_rate_and_empty_to_zero),
		cmocka_unit_test(tables_filled_by_inserts_lose_nothing_keep_the_rate_and_empty_to_zero),
		cmocka_unit_test(a_class_has_up_to_eight_copies_which_go_one_by_one),
		cmocka_unit_test(an_insert_that_finds_no_room_leaves_the_table_as_it_was),
		cmocka_unit_test(the_same_inserts_give_the_same_bytes),
		cmocka_unit_test(the_codes_of_a_table_are_read_back_in_order),
		cmocka_unit_test(the_same_codes_shape_and_seed_give_the_same_bytes_and_another_seed_others),
		cmocka_unit_test(a_build_whose_codes_find_no_room_fails),
		cmocka_unit_test(a_build_fails_for_an_overfull_last_block_too),
		cmocka_unit_test(two_buckets_out_of_their_table_answer_as_the_table_does),
		cmocka_unit_test(what_passes_the_check_is_written_back_the_same),
	};

	return cmocka_run_group_tests_name("dense", tests, NULL, NULL);
}
