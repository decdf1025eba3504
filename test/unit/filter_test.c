/*-------------------------------------------------------------------------
 *
 * filter_test.c
 *	  A filter: sizes and growth, representations, limits, drafts and batches.
 *
 * model_test.c compares what a filter holds after any additions and removals,
 * and in which tables: copies, pinned classes, tables that are dropped.  Here
 * are the numbers that it takes from the core, and what it does not reach.
 *
 *-------------------------------------------------------------------------
 */
#include "support.h"

static CuckooShape
ShapeFor(uint64_t keys, int bits)
{
	CuckooShape shape;

	assert_true(CuckooShapeFor(&shape, keys, bits));
	return shape;
}

static void
CheckOneTable(const Value *value, CuckooShape shape, uint64_t items,
			  CuckooRepresentation representation)
{
	CuckooFilter filter = Open(value);
	const CuckooTable *table = &filter.tables[0];

	assert_int_equal(filter.header.table_count, 1);
	if (CuckooShapeOrder(&table->shape, &shape) != 0)
		fail_msg("%u blocks of %u buckets, f %d, instead of %u, %u, %d",
				 table->shape.blocks, table->shape.buckets, table->shape.bits,
				 shape.blocks, shape.buckets, shape.bits);
	assert_int_equal(table->items, items);
	assert_int_equal(table->representation, representation);
}

/* ------------------------------------------------------------------ sizes */

/* As the capacity is specified, unknown, or counted because there are more keys. */
TEST(a_build_is_for_the_capacity_specified_or_the_keys_counted)
{
	static const struct
	{
		uint64_t	keys;
		uint64_t	capacity;
		uint64_t	shape_keys;
		int			bits;
		uint64_t	counted;
	}			builds[] = {
		{0, 1000, 1000, 13, 1000}, {0, 0, CUCKOO_FIRST_KEYS, 14, 0},
		{1024, 0, CUCKOO_FIRST_KEYS, 14, 0}, {1025, 0, 1025, 13, 1025},
		{100, 100, 100, 13, 100}, {101, 100, 101, 13, 101}
	};

	for (size_t i = 0; i < lengthof(builds); i++)
	{
		CuckooShape shape = ShapeFor(builds[i].shape_keys, builds[i].bits);
		Value		value = ValueOfKeys(1, 0, builds[i].keys, 0.001, builds[i].capacity);

		CheckOneTable(&value, shape, builds[i].keys,
					  CuckooRepresentationFor(&shape, builds[i].keys));
		assert_int_equal(Open(&value).header.capacity, builds[i].counted);
		assert_int_equal(CountFound(&value, 1, 0, builds[i].keys), builds[i].keys);
		if (builds[i].keys == 0)
		{
			assert_true(value.length < 100);
			assert_int_equal(CountFound(&value, 1, 0, 1000), 0);
		}
		/* Adding a key past a count does not change the shape. */
		if (builds[i].keys == 1024)
		{
			assert_int_equal(AddHash(&value, KeyHash(1, 1024)), CUCKOO_CHANGED);
			CheckOneTable(&value, shape, 1025, CUCKOO_SPARSE);
			assert_int_equal(Open(&value).header.capacity, 0);
		}
	}
}

/* ----------------------------------------------------------------- growth */

/* The shape after one for so many keys and bits, in a filter of this rate. */
static void
CheckNext(double fpr, CuckooShape newest, CuckooShape expected)
{
	CuckooFilter filter;
	CuckooShape next;

	CuckooFilterInit(&filter, fpr, 1000, 0);
	filter.header.table_count = 1;
	filter.tables[0].shape = newest;
	assert_true(CuckooNextShape(&filter, &next));
	assert_int_equal(CuckooShapeOrder(&next, &expected), 0);
}

/*
 * A table with the blocks and buckets for 2^20 or 2^25 keys is followed as if
 * the capacity were unknown.
 */
TEST(the_next_table_follows_from_the_newest_and_the_rate)
{
	static const double rates[] = {0.1, 0.01, 0.001, 1e-5, 2e-8};

	for (size_t i = 0; i < lengthof(rates); i++)
	{
		int			asked = CuckooBitsFor(rates[i]);
		int			most = asked + 8 < 32 ? asked + 8 : 32;
		CuckooFilter filter;
		CuckooShape shape;
		uint64_t	keys = 1000;

		CuckooFilterInit(&filter, rates[i], 0, 0);
		assert_true(CuckooFirstShape(&filter, &shape));
		CheckNext(rates[i], shape, ShapeFor(CUCKOO_SECOND_KEYS, asked + 2));
		CheckNext(rates[i], ShapeFor(CUCKOO_FIRST_KEYS, asked),
				  ShapeFor(CUCKOO_SECOND_KEYS, asked + 2));
		CheckNext(rates[i], ShapeFor(CUCKOO_SECOND_KEYS, asked + 2),
				  ShapeFor(CUCKOO_THIRD_KEYS, asked + 3));

		/* With a capacity: f0 + 2, then one more each, 32 times as large */
		shape = ShapeFor(keys, asked);
		for (int bits = asked + 2; keys < CUCKOO_MAX_CAPACITY; bits++)
		{
			CuckooShape next;

			keys = 32 * CuckooShapeCapacity(&shape);
			if (keys > CUCKOO_MAX_CAPACITY)
				keys = CUCKOO_MAX_CAPACITY;
			next = ShapeFor(keys, bits < 32 ? bits : 32);
			CheckNext(rates[i], shape, next);
			shape = next;
		}

		/* Never more than f0 + 8 or 32, never fewer than f0 + 2 */
		shape = ShapeFor(5000, 31);
		keys = 32 * CuckooShapeCapacity(&shape);
		CheckNext(rates[i], shape, ShapeFor(keys, most));
		CheckNext(rates[i], ShapeFor(5000, 5), ShapeFor(keys, asked + 2));
	}
}

TEST(there_is_no_table_after_the_largest_or_the_sixteenth)
{
	CuckooFilter filter;
	CuckooShape next;

	CuckooFilterInit(&filter, 0.001, 1000, 0);
	filter.header.table_count = 1;
	filter.tables[0].shape = ShapeFor(CUCKOO_MAX_CAPACITY, 21);
	assert_true(!CuckooNextShape(&filter, &next));
	filter.header.table_count = 16;
	for (int i = 0; i < 16; i++)
		filter.tables[i].shape = CuckooShapeOf(1, 2 + 2 * (uint32_t) i, 15);
	assert_true(!CuckooNextShape(&filter, &next));
	filter.header.table_count = 15;
	assert_true(CuckooNextShape(&filter, &next));
}

/*
 * A batch that fills several tables puts keys from all over each of them, so
 * they can be placed.  (A table of the lowest hashes could not be dense.)  Each
 * is filled to its capacity, and together they keep twice the rate.
 */
TEST(a_batch_fills_the_tables_that_it_opens_evenly)
{
	static const uint64_t first[] = {0, 10, 15};

	for (size_t i = 0; i < lengthof(first); i++)
	{
		Value		value = ValueOfKeys(1, 0, first[i], 0.001, 20);
		CuckooFilter filter;
		double		none = 1;

		AddKeys(&value, 1, first[i], 50000);
		filter = Open(&value);
		assert_int_equal(filter.header.table_count, 4);
		for (int table = 0; table < 4; table++)
		{
			const CuckooShape *shape = &filter.tables[table].shape;

			none *= 1 - CuckooShapeRate(shape, filter.tables[table].items);
			if (table == 3)
				continue;
			assert_int_equal(filter.tables[table].items, CuckooShapeCapacity(shape));
			assert_int_equal(filter.tables[table].representation, CUCKOO_DENSE);
		}
		assert_int_equal(filter.header.items, 50000);
		assert_int_equal(filter.header.capacity, 20);
		assert_int_equal(CountFound(&value, 1, 0, 50000), 50000);
		assert_true(CuckooFilterRate(&filter) <= 2 * 0.001);
		/* The rate is that of finding a key in any of the tables. */
		assert_true(fabs(CuckooFilterRate(&filter) - (1 - none)) < 1e-12);
	}
}

/* Add so many copies of each key, key after key, in batches as they are best. */
static void
StreamKeys(Value *value, uint64_t first, uint64_t keys, uint64_t copies, CuckooAction action)
{
	CuckooDraft draft;
	uint64_t	at = 0;

	CuckooDraftOpen(&draft, value->bytes, value->length);
	while (at < keys * copies)
	{
		size_t		count = CuckooDraftBatchKeys(&draft);
		uint64_t   *hashes;
		size_t		changed;

		if (count > keys * copies - at)
			count = (size_t) (keys * copies - at);
		hashes = Allocate(count * sizeof(uint64_t));
		for (size_t i = 0; i < count; i++)
			hashes[i] = KeyHash(1, first + at++ / copies);
		assert_true(CuckooDraftApply(&draft, hashes, count, action, &changed) < CUCKOO_FULL);
		pfree(hashes);
	}
	*value = Finish(&draft);
}

/* How a filter that is asked for its rate got its keys */
typedef enum Origin
{
	COUNTED,					/* built for them */
	ADDED,						/* one by one */
	STREAMED,					/* one by one if they are new */
	UNITED,						/* from filters for a tenth of the capacity each */
	SUMMED,						/* from such filters, by union all */
	REPEATED,					/* the same, each filter twice */
	MULTISHAPE,					/* from filters of five capacities, by union */
	ORIGINS
} Origin;

static Value
ValueOfOrigin(Origin origin, double fpr, uint64_t capacity, uint64_t keys)
{
	uint64_t	tenth = capacity / 10;
	CuckooOperation operation = origin == UNITED || origin == MULTISHAPE ?
		CUCKOO_UNION : CUCKOO_UNION_ALL;
	Value		value = ValueOfKeys(1, 0, origin == COUNTED ? keys : 0, fpr, capacity);

	if (origin == ADDED)
		AddKeys(&value, 1, 0, keys);
	else if (origin == STREAMED)
	{
		value.bytes[3] = CUCKOO_FLAG_NOT_REMOVABLE;
		StreamKeys(&value, 0, keys, 1, CUCKOO_ADD_NEW);
	}
	else if (origin != COUNTED)
	{
		int			count = (int) (keys / tenth);
		Value	   *parts = Allocate(2 * (size_t) count * sizeof(Value));

		for (int i = 0; i < count; i++)
		{
			uint64_t	times = origin == MULTISHAPE ? 1 + (uint64_t) i % 5 : 1;

			parts[i] = parts[count + i] =
				ValueOfKeys(1, (uint64_t) i * tenth, ((uint64_t) i + 1) * tenth, fpr, capacity * times);
		}
		value = Combine(operation, parts, origin == REPEATED ? 2 * count : count);
	}
	return value;
}

/*
 * Of absent keys, no more are found than the expected rate says, but for chance.
 * As many are found, if no class has copies: an upper bound counts these, and
 * keys that seem to be in several tables of a filter that is not removable.
 */
TEST(the_expected_rate_is_that_of_absent_keys_found_or_an_upper_bound)
{
	static const double rates[] = {0.1, 0.01, 0.001};
	static const uint64_t keys[] = {2000, 10000, 80000, 600000};

	for (int n = 0; n < ORIGINS * 3 * 4; n++)
	{
		Origin		origin = (Origin) (n / 12);
		/* To see that 1 minus the product would be up to 2 % too low */
		uint64_t	absent = origin == STREAMED && n % 3 == 0 ? 3000000 : 200000;
		Value		value = ValueOfOrigin(origin, rates[n % 3], 10000, keys[n / 3 % 4]);
		CuckooFilter filter = Open(&value);
		double		said = CuckooFilterRate(&filter);
		double		found = (double) CountFound(&value, 2, 0, absent) / (double) absent;
		/* Keys of one class make the rate of a removable filter a little uncertain. */
		double		sigma = sqrt(said * (1 - said) / (double) absent +
								 (filter.header.flags == 0 ? said * said * 4e-6 : 0));
		/* Keys in one class have a copy each before a union. */
		double		most = origin == REPEATED ? 2 : origin == MULTISHAPE ? 1 + 3 * said :
			origin == UNITED ? 1.05 : 1.03;

		if (found > said + 4 * sigma || said > most * found + 4 * sigma)
			fail_msg("origin %d, target rate %g, %llu keys: %g said, %g found", origin,
					 filter.header.fpr, (unsigned long long) keys[n / 3 % 4], said, found);
		FreeAll();
	}
}

TEST(the_expected_rate_is_the_fraction_of_classes_if_each_is_stored_once)
{
	CuckooShape shape = CuckooShapeOf(1, 2, 5);
	uint64_t	codes[31];
	Value		value;
	CuckooFilter filter;

	for (uint64_t i = 0; i < 31; i++)
		codes[i] = i + 1;
	value = ValueOfCodes(&shape, codes, 31, 0.1, 7);
	filter = Open(&value);
	assert_true(CuckooFilterRate(&filter) < 0.64);
	filter.header.flags = CUCKOO_FLAG_NOT_REMOVABLE;
	assert_true(CuckooFilterRate(&filter) == 1);
	filter.tables[0].items = 10;
	assert_true(CuckooFilterRate(&filter) == 10.0 / 31);
	assert_true(CuckooFilterTableRate(&filter, 0) == 10.0 / 31);
	/* Copies, or a second table with much the same keys, are not told apart. */
	filter.tables[0].items = 32;
	assert_true(CuckooFilterTableRate(&filter, 0) == 1);
	filter.tables[0].items = 20;
	filter.tables[1] = filter.tables[0];
	filter.header.table_count = 2;
	assert_true(CuckooFilterRate(&filter) == 1);
	filter.tables[1].items = 5;
	assert_true(fabs(CuckooFilterRate(&filter) - 25.0 / 31) < 1e-15);
}

/* -------------------------------------------------------- representations */

TEST(a_table_is_dense_from_three_quarters_on_and_sparse_below_one_half)
{
	CuckooShape shape = ShapeFor(1000, 13);
	uint64_t	entries = CuckooShapeEntries(&shape);
	uint64_t	from = entries * 3 / 4;
	uint64_t	half = entries / 2;
	Value		value = ValueOfKeys(1, 0, from - 2, 0.001, 1000);
	Value		built = ValueOfKeys(1, 0, from, 0.001, 1000);

	assert_int_equal(from * 4, entries * 3);
	AddHash(&value, KeyHash(1, from - 2));
	CheckOneTable(&value, shape, from - 1, CUCKOO_SPARSE);
	AddHash(&value, KeyHash(1, from - 1));
	CheckOneTable(&value, shape, from, CUCKOO_DENSE);
	/* Made again, it is what a build makes. */
	assert_true(SameBytes(&value, &built));

	RemoveKeys(&value, 1, half, from);
	CheckOneTable(&value, shape, half, CUCKOO_DENSE);
	RemoveHash(&value, KeyHash(1, half - 1));
	CheckOneTable(&value, shape, half - 1, CUCKOO_SPARSE);
	built = ValueOfKeys(1, 0, half - 1, 0.001, 1000);
	assert_true(SameBytes(&value, &built));
}

/* A filter of three blocks of eight entries, with so many classes in each. */
static Value
ThreeBlocks(int first, int second, int third)
{
	CuckooShape shape = CuckooShapeOf(3, 2, 10);
	int			counts[3] = {first, second, third};
	uint64_t	codes[24];
	uint64_t	count = 0;

	for (uint64_t pair = 0; pair < 3; pair++)
	{
		for (int i = 1; i <= counts[pair]; i++)
			codes[count++] = pair << 10 | (uint64_t) i;
	}
	return ValueOfCodes(&shape, codes, count, 0.01, 22);
}

/*
 * Nine keys of one pair of buckets cannot be placed, however empty the other
 * buckets are.
 */
TEST(what_cannot_be_placed_is_sparse)
{
	CuckooShape shape = CuckooShapeOf(3, 2, 10);
	Value		value = ThreeBlocks(9, 4, 5);
	Value		built = ThreeBlocks(9, 6, 4);

	/* Built */
	CheckOneTable(&value, shape, 18, CUCKOO_SPARSE);

	/* Added to a dense table whose first block is full */
	value = ThreeBlocks(8, 6, 4);
	CheckOneTable(&value, shape, 18, CUCKOO_DENSE);
	assert_int_equal(AddHash(&value, HashOfCode(&shape, 9)), CUCKOO_CHANGED);
	CheckOneTable(&value, shape, 19, CUCKOO_SPARSE);
	assert_true(SameBytes(&value, &built));

	/* Across three quarters */
	value = ThreeBlocks(9, 8, 0);
	assert_int_equal(AddHash(&value, HashOfCode(&shape, 2 << 10 | 1)), CUCKOO_CHANGED);
	CheckOneTable(&value, shape, 18, CUCKOO_SPARSE);
	/* One less and one more: it is tried again, and now succeeds. */
	assert_int_equal(RemoveHash(&value, HashOfCode(&shape, 9)), CUCKOO_CHANGED);
	CheckOneTable(&value, shape, 17, CUCKOO_SPARSE);
	assert_int_equal(AddHash(&value, HashOfCode(&shape, 2 << 10 | 2)), CUCKOO_CHANGED);
	CheckOneTable(&value, shape, 18, CUCKOO_DENSE);
}

/* ----------------------------------------------------------------- limits */

TEST(a_filter_of_sixteen_full_tables_is_full_and_stays_as_it_was)
{
	CuckooPart	parts[16] = {0};
	CuckooFilter filter;
	CuckooDraft draft;
	Value		value;
	Value		before;
	uint64_t	room = 0;
	uint64_t	key = 0;

	for (uint32_t i = 0; i < 16; i++)
	{
		parts[i].shape = CuckooShapeOf(1, 2 + 2 * i, 20);
		room += CuckooShapeCapacity(&parts[i].shape);
	}
	CuckooFilterInit(&filter, 0.001, 1000, 0);
	filter.header.kind.type = CUCKOO_KEY_INTEGER;
	value = Valid(CuckooMakeFilter(&filter, parts, 16), &filter);
	while (Open(&value).header.items < room)
		assert_int_equal(AddHash(&value, KeyHash(1, key++)), CUCKOO_CHANGED);
	before = CopyValue(value.bytes, value.length);
	CuckooDraftOpen(&draft, value.bytes, value.length);
	assert_int_equal(ApplyHash(&draft, CUCKOO_ADD, KeyHash(1, key)), CUCKOO_FULL);
	assert_true(SameBytes(&value, &before));
	assert_int_equal(CountFound(&value, 1, 0, key), key);
	/* After a removal there is room again. */
	assert_int_equal(RemoveHash(&value, KeyHash(1, 0)), CUCKOO_CHANGED);
	assert_int_equal(AddHash(&value, KeyHash(1, key)), CUCKOO_CHANGED);
}

/* The sparse form of the largest table, up to the last item that fits. */
TEST(a_filter_of_more_than_750_MiB_is_not_made)
{
	CuckooPart	part = {.shape = CuckooShapeOf(12000, 32768, 32)};
	CuckooFilter filter;
	uint64_t	items = 0;

	/* It can hold 366 million items at 13.5 bits if it is sparse. */
	for (uint64_t step = UINT64_C(1) << 31; step > 0; step >>= 1)
	{
		if (SparseBytes(&part.shape, items + step) + 56 <= CUCKOO_MAX_BYTES)
			items += step;
	}
	part.items = items + 1;
	CuckooFilterInit(&filter, 0.001, 1000, 0);
	assert_true(CuckooMakeFilter(&filter, &part, 1) == NULL);
	part.representation = CUCKOO_DENSE;
	assert_true(CuckooMakeFilter(&filter, &part, 1) == NULL);
	CuckooTableInit(&filter.tables[0], &part.shape, CUCKOO_SPARSE, items);
	assert_int_equal(CuckooBytes(&filter), SparseBytes(&part.shape, items) + 56);
}

/*
 * Two full tables with exactly 750 MiB together, so there is no table to grow
 * by.  Their buckets are zero, in memory that is never touched.
 */
TEST(a_filter_that_would_grow_past_750_MiB_is_too_large_and_stays_as_it_was)
{
	const CuckooShape shapes[] = {CuckooShapeOf(1, 23966, 5), CuckooShapeOf(12000, 32766, 5)};
	uint8_t    *bytes = Allocate(CUCKOO_MAX_BYTES);
	CuckooFilter filter;
	CuckooDraft draft;

	CuckooFilterInit(&filter, 0.1, 1000, 0);
	filter.header.kind.type = CUCKOO_KEY_INTEGER;
	filter.header.table_count = 2;
	for (int i = 0; i < 2; i++)
		CuckooTableInit(&filter.tables[i], &shapes[i], CUCKOO_DENSE,
						CuckooShapeCapacity(&shapes[i]));
	assert_int_equal(CuckooBytes(&filter), CUCKOO_MAX_BYTES);
	CuckooLayOut(&filter, bytes);

	CuckooDraftOpen(&draft, bytes, CUCKOO_MAX_BYTES);
	assert_int_equal(ApplyHash(&draft, CUCKOO_ADD, KeyHash(1, 1)), CUCKOO_TOO_LARGE);
	assert_true(draft.bytes == bytes);
}

/* ------------------------------------------------------ drafts and batches */

/*
 * Eight copies of a class fill its buckets, so another class of these buckets
 * finds no place.  The table is made again once: sparse, not dense.
 */
TEST(a_dense_table_without_a_place_is_not_built_dense_again)
{
	CuckooShape shape = ShapeFor(10000, 13);
	Value		value = ValueOfKeys(1, 0, 9000, 0.001, 10000);
	uint32_t	other = 2;
	uint64_t	hashes[9];
	CuckooDraft draft;
	size_t		changed;

	assert_int_equal(Open(&value).tables[0].representation, CUCKOO_DENSE);
	while (CuckooBucketSum(other, shape.buckets) != CuckooBucketSum(1, shape.buckets))
		other++;
	for (uint64_t i = 0; i < 9; i++)
		hashes[i] = HashOfCode(&shape, UINT64_C(100) << 13 | (i < 8 ? 1 : other));
	CuckooDraftOpen(&draft, value.bytes, value.length);
	large_area = value.length / 2;
	large_areas = 0;
	assert_int_equal(CuckooDraftApply(&draft, hashes, 9, CUCKOO_ADD, &changed), CUCKOO_CHANGED);
	assert_int_equal(large_areas, 11);
	assert_int_equal(changed, 9);
	value = Finish(&draft);
	CheckOneTable(&value, shape, 9009, CUCKOO_SPARSE);
}

/* Eight copies of each key, key after key, find no room in a dense table. */
TEST(a_table_whose_batches_find_no_room_stays_sparse)
{
	Value		value = ValueOfHashes(NULL, 0, 1e-5, 20000);
	CuckooFilter filter;

	StreamKeys(&value, 0, 2500, 10, CUCKOO_ADD);
	CheckOneTable(&value, ShapeFor(20000, CuckooBitsFor(1e-5)), 20000, CUCKOO_SPARSE);
	filter = Open(&value);
	for (uint64_t key = 0; key < 2500; key++)
		assert_int_equal(CuckooFilterCount(&filter, KeyHash(1, key)), 8);
	assert_int_equal(CuckooFilterPinned(&filter), 2500);

	/* Nor is it tried again when there is a newer table. */
	StreamKeys(&value, 2500, 2000, 1, CUCKOO_ADD);
	large_area = value.length / 2;
	large_areas = 0;
	StreamKeys(&value, 4500, 500, 1, CUCKOO_ADD);
	assert_int_equal(large_areas, 1);
	filter = Open(&value);
	assert_int_equal(filter.header.table_count, 2);
	assert_int_equal(filter.tables[0].representation, CUCKOO_SPARSE);
	assert_int_equal(CountFound(&value, 1, 0, 5000), 5000);
}

/*
 * Three keys of a block that is full, then one of another: what is left of a
 * batch is not put where there was no room for one.  Only a walk takes so many
 * bytes; the second one is for the same key, added alone.
 */
TEST(a_batch_that_finds_no_room_walks_no_more)
{
	CuckooShape shape = CuckooShapeOf(3, 2, 10);
	Value		value = ThreeBlocks(8, 6, 4);
	Value		built = ThreeBlocks(11, 6, 5);
	uint64_t	hashes[4];
	CuckooDraft draft;
	size_t		changed;

	for (uint64_t i = 0; i < 4; i++)
		hashes[i] = HashOfCode(&shape, i < 3 ? 9 + i : 2 << 10 | 5);
	CuckooDraftOpen(&draft, value.bytes, value.length);
	large_area = CUCKOO_MAX_KICKS * sizeof(uint64_t);
	large_areas = 0;
	assert_int_equal(CuckooDraftApply(&draft, hashes, 4, CUCKOO_ADD, &changed), CUCKOO_CHANGED);
	assert_int_equal(large_areas, 2);
	assert_int_equal(changed, 4);
	value = Finish(&draft);
	assert_true(SameBytes(&value, &built));
}

/* A full filter grows by a small table, whose keys need no copies of it all. */
TEST(keys_beyond_the_capacity_copy_the_filter_twice)
{
	CuckooShape shape = ShapeFor(1000000, 13);
	uint64_t	full = CuckooShapeCapacity(&shape);
	Value		value = ValueOfKeys(1, 0, 1000000, 0.001, 1000000);

	AddKeys(&value, 1, 1000000, full);
	assert_int_equal(Open(&value).header.table_count, 1);
	large_area = value.length;
	large_areas = 0;
	AddKeys(&value, 1, full, full + 10000);
	assert_true(large_areas >= 1 && large_areas <= 2);
	assert_int_equal(Open(&value).header.table_count, 2);
	assert_int_equal(CountFound(&value, 1, 0, full + 10000), full + 10000);
}

/*
 * Copies of keys that an older table holds go there if it has room.  They do
 * not fill the newest table, so they are added together, too.
 */
TEST(copies_for_an_older_table_copy_the_filter_once)
{
	Value		value = ValueOfKeys(1, 0, 2000, 0.001, 2000);
	uint64_t	items[2];
	CuckooFilter filter;

	AddKeys(&value, 1, 2000, 3000);
	filter = Open(&value);
	assert_int_equal(filter.header.table_count, 2);
	items[0] = filter.tables[0].items;
	items[1] = CuckooShapeCapacity(&filter.tables[1].shape) - 5;
	AddKeys(&value, 1, 3000, items[0] + items[1]);
	RemoveKeys(&value, 1, 500, 1950);
	filter = Open(&value);
	assert_int_equal(filter.tables[0].items, items[0] - 1450);
	assert_int_equal(filter.tables[1].items, items[1]);

	large_area = value.length;
	large_areas = 0;
	AddKeys(&value, 1, 0, 500);
	assert_int_equal(large_areas, 1);
	filter = Open(&value);
	assert_int_equal(filter.tables[0].items, items[0] - 950);
	assert_int_equal(filter.tables[1].items, items[1]);

	/*
	 * When it is full, the next 5 keys fill the newest.  The others open a third
	 * table, which has the last 45, not those with the highest hashes.
	 */
	AddKeys(&value, 1, 0, 500);
	AddKeys(&value, 1, 0, 500);
	filter = Open(&value);
	assert_int_equal(filter.header.table_count, 3);
	assert_int_equal(filter.tables[0].items, items[0]);
	assert_int_equal(filter.tables[1].items, items[1] + 5);
	assert_int_equal(filter.tables[2].items, 45);
	for (uint64_t key = 0; key < 500; key++)
	{
		assert_int_equal(CuckooFilterCount(&filter, KeyHash(1, key)), 4);
		if (key >= 455)
			assert_true(CuckooTableContains(&filter.tables[2], KeyHash(1, key)));
	}
}
