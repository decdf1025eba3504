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

static CuckooTable
EmptyTable(const CuckooShape *shape)
{
	CuckooTable table = NewTable(shape, CUCKOO_DENSE, 0);

	memset(table.data, 0, (size_t) CuckooDenseBytes(shape));
	return table;
}

/* Check that every bucket is in order, and that a table has so many items. */
static void
CheckItems(const CuckooTable *table, uint64_t items)
{
	uint64_t	found;
	uint64_t	bad;

	assert_true(CuckooDenseCheck(&table->dense, &found, &bad));
	assert_int_equal(found, items);
	assert_int_equal(table->items, items);
	assert_true(TailIsKept(table));
	assert_true(items > 0 || AllAre(table->data, (size_t) CuckooDenseBytes(&table->shape), 0));
}

static bool
Insert(CuckooTable *table, uint64_t hash)
{
	CuckooPlace place = CuckooPlaceOf(&table->shape, hash);
	bool		inserted = CuckooDenseInsert(&table->dense, &place) == CUCKOO_INSERTED;

	table->items += inserted;
	return inserted;
}

static bool
Remove(CuckooTable *table, uint64_t hash)
{
	CuckooPlace place = CuckooPlaceOf(&table->shape, hash);
	bool		removed = CuckooDenseRemove(&table->dense, &place);

	table->items -= removed;
	return removed;
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

/*
 * Every key is found, absent keys at the expected rate, a class can have up to
 * eight copies, and all can be removed.
 */
static void
CheckLife(CuckooTable *table, size_t keys, int lookups)
{
	double		rate = CuckooShapeRate(&table->shape, keys);
	double		slack = 5 * lookups * RateSigma(&table->shape, keys, lookups) + 1;
	double		hits = 0;
	uint64_t   *codes = CodesOf(&table->shape, KEYS, keys);
	CuckooPlace place;

	CheckItems(table, keys);
	CheckTable(table, codes, keys, 300);
	for (size_t i = 0; i < keys; i++)
	{
		if (!CuckooTableContains(table, KeyHash(KEYS, i)))
			fail_msg("f %d: key %zu of %zu is lost", table->shape.bits, i, keys);
	}
	for (int i = 0; i < lookups; i++)
		hits += CuckooTableContains(table, KeyHash(ABSENT, (uint64_t) i));
	if (fabs(hits - rate * lookups) > slack)
		fail_msg("f %d, %zu keys: %g of %d absent keys found, expected %g +- %g",
				 table->shape.bits, keys, hits, lookups, rate * lookups, slack);
	for (size_t i = 0; i < keys; i++)
	{
		if (!Remove(table, KeyHash(KEYS, i)))
			fail_msg("f %d: key %zu of %zu cannot be removed", table->shape.bits, i, keys);
	}
	CheckItems(table, 0);

	for (int copies = 1; copies <= 8; copies++)
	{
		assert_true(Insert(table, KeyHash(KEYS, 3)));
		CheckLookup(table, KeyHash(KEYS, 3), copies);
		CheckItems(table, (uint64_t) copies);
	}
	place = CuckooPlaceOf(&table->shape, KeyHash(KEYS, 3));
	assert_int_equal(CuckooDenseInsert(&table->dense, &place), CUCKOO_EIGHT_COPIES);
	for (int copies = 7; copies >= 0; copies--)
	{
		assert_true(Remove(table, KeyHash(KEYS, 3)));
		CheckLookup(table, KeyHash(KEYS, 3), copies);
	}
	assert_true(!Remove(table, KeyHash(KEYS, 3)));
	CheckItems(table, 0);
	pfree(table->data);
	pfree(codes);
}

/* A table for so many keys, built or filled by inserts */
static void
CheckKeys(size_t keys, int bits, bool built, int lookups)
{
	CuckooShape shape;
	CuckooTable table;

	assert_true(CuckooShapeFor(&shape, keys, bits));
	if (built)
	{
		uint64_t   *codes = CodesOf(&shape, KEYS, keys);

		table = BuildTable(&shape, CUCKOO_DENSE, codes, keys, 0);
		assert_true(table.data != NULL);
		pfree(codes);
	}
	else
	{
		table = EmptyTable(&shape);
		for (size_t i = 0; i < keys; i++)
			assert_true(Insert(&table, KeyHash(KEYS, i)));
	}
	CheckLife(&table, keys, lookups);
}

TEST(tables_lose_nothing_keep_the_rate_and_empty_to_zero)
{
	static const size_t sizes[] = {0, 1, 22, 33, 100, 1000, 10000};

	for (size_t i = 0; i < lengthof(sizes); i++)
	{
		for (int bits = CUCKOO_MIN_BITS + 1; bits <= CUCKOO_MAX_BITS; bits++)
		{
			if (sizes[i] <= 1000)
				CheckKeys(sizes[i], bits, true, 20000);
			CheckKeys(sizes[i], bits, false, 20000);
		}
	}
}

TEST(built_tables_at_capacity_lose_nothing_keep_the_rate_and_empty_to_zero)
{
	for (int bits = CUCKOO_MIN_BITS + 1; bits <= CUCKOO_MAX_BITS; bits += 1 + (bits > 18) * 3)
	{
		CuckooShape shape;

		assert_true(CuckooShapeFor(&shape, 10000, bits));
		CheckKeys((size_t) CuckooShapeCapacity(&shape), bits, true, 200000);
	}
	/* Two blocks, and eight */
	CheckKeys(131073, 13, true, 200000);
	CheckKeys(1000003, 13, true, 200000);
}

/* Walks depend on the class and the table, not on earlier walks. */
TEST(an_insert_that_finds_no_room_leaves_the_table_as_it_was)
{
	const CuckooShape shapes[] = {
		CuckooShapeOf(1, 2, 5), CuckooShapeOf(1, 4, 8), CuckooShapeOf(1, 20, 13),
		CuckooShapeOf(3, 10, 17),
		CuckooShapeOf(2, 40, 18), CuckooShapeOf(1, 100, 32)
	};

	for (size_t i = 0; i < lengthof(shapes); i++)
	{
		CuckooTable table = EmptyTable(&shapes[i]);
		CuckooTable twin = EmptyTable(&shapes[i]);
		uint64_t	codes[400];
		int			refused = 0;

		for (uint64_t k = 0; refused < 30; k++)
		{
			uint64_t	hash = KeyHash(KEYS, k);

			if (CuckooTableCount(&table, hash) == CUCKOO_MAX_COPIES)
				continue;
			if (Insert(&table, hash))
			{
				codes[table.items - 1] = CuckooCodeOf(&shapes[i], hash);
				assert_true(Insert(&twin, hash));
			}
			else
				refused++;
			assert_true(SameTable(&table, &twin));
			CheckItems(&table, table.items);
		}
		assert_true(table.items * 10 >= CuckooShapeEntries(&shapes[i]) * 8);
		SortNumbers(codes, table.items);
		CheckTable(&table, codes, table.items, 0);
	}
}

/*
 * Codes that share both buckets: eight of them fit, nine do not, also not in
 * the last block, after those before it have been built.
 */
TEST(a_build_whose_codes_find_no_room_fails)
{
	CuckooShape shape = CuckooShapeOf(3, 2, 8);
	const uint64_t codes[] = {1, 2, 3, 3, 4, 5, 6, 7, 8};
	uint64_t	later[lengthof(codes) + 3] = {1, 2, 300};

	for (size_t i = 0; i < lengthof(codes); i++)
		later[3 + i] = 2 * 256 + codes[i];
	for (uint64_t n = 8; n <= 9; n++)
	{
		CuckooTable first = BuildTable(&shape, CUCKOO_DENSE, codes, n, 0);
		CuckooTable last = BuildTable(&shape, CUCKOO_DENSE, later, n + 3, 0);

		assert_int_equal(first.data != NULL, n == 8);
		assert_int_equal(last.data != NULL, n == 8);
		if (n == 8)
			CheckItems(&first, 8);
	}
}

/*
 * A table with a flipped bit either is refused or has every bucket in the form
 * in which it would be written.
 */
TEST(what_passes_the_check_is_written_back_the_same)
{
	static const int widths[] = {5, 6, 13, 16, 17, 18, 25, 32};
	int			sound = 0;
	int			refused = 0;

	for (size_t i = 0; i < lengthof(widths); i++)
	{
		CuckooShape shape = CuckooShapeOf(1, 12, widths[i]);
		CuckooTable table = EmptyTable(&shape);
		const CuckooPacking *packing = &table.dense.packing;

		for (uint64_t k = 0; k < 36; k++)
		{
			if (CuckooTableCount(&table, KeyHash(KEYS, k)) < 8)
				Insert(&table, KeyHash(KEYS, k));
		}
		for (uint64_t bit = 0; bit < 8 * CuckooDenseBytes(&shape); bit++)
		{
			uint64_t	items;
			uint64_t	bad;

			table.data[bit / 8] ^= (uint8_t) (1 << bit % 8);
			if (CuckooDenseCheck(&table.dense, &items, &bad))
			{
				CuckooTable again = EmptyTable(&shape);
				uint64_t	counted = 0;

				for (uint64_t number = 0; number < 12; number++)
				{
					uint32_t	entries[CUCKOO_ENTRIES];

					CuckooDecode(packing, CuckooReadPacked(packing, table.data, number), entries);
					for (int slot = 0; slot < CUCKOO_ENTRIES; slot++)
						counted += entries[slot] != 0;
					CuckooWritePacked(packing, again.data, number, CuckooEncode(packing, entries));
				}
				assert_true(SameTable(&again, &table));
				assert_int_equal(counted, items);
				sound++;
			}
			else
			{
				assert_int_equal(bad, bit / (4 * (uint64_t) (widths[i] - 1)));
				refused++;
			}
			table.data[bit / 8] ^= (uint8_t) (1 << bit % 8);
		}
	}
	assert_true(sound > 100 && refused > 100);
}
