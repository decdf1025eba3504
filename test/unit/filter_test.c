/*-------------------------------------------------------------------------
 *
 * filter_test.c
 *	  A filter: sizes and growth, representations, adding, removing.
 *
 *-------------------------------------------------------------------------
 */
#include "support.h"

/* An empty filter of integers. */
static Value
EmptyValue(double fpr, uint64_t capacity)
{
	return ValueOfHashes(NULL, 0, fpr, capacity);
}

static CuckooRepresentation
RepresentationOf(const Value *value, int table)
{
	CuckooFilter filter = Open(value);

	return (CuckooRepresentation) filter.tables[table].representation;
}

static uint64_t
ItemsOf(const Value *value)
{
	CuckooFilter filter = Open(value);

	return filter.items;
}

static int
TablesOf(const Value *value)
{
	CuckooFilter filter = Open(value);

	return filter.table_count;
}

static int
CountOf(const Value *value, uint64_t hash)
{
	CuckooFilter filter = Open(value);

	return CuckooFilterCount(&filter, hash);
}

static CuckooShape
ShapeFor(uint64_t keys, int bits)
{
	CuckooShape shape;

	assert_true(CuckooShapeFor(&shape, keys, bits));
	return shape;
}

static void
assert_shape(const Value *value, int table, CuckooShape expected)
{
	CuckooFilter filter = Open(value);
	const CuckooShape *shape = &filter.tables[table].shape;

	if (!CuckooSameShape(shape, &expected))
		fail_msg("table %d has %u blocks of %u buckets, f %d, instead of %u, %u, %d", table,
				 shape->blocks, shape->buckets, shape->bits, expected.blocks,
				 expected.buckets, expected.bits);
}

/* Codes of one pair of buckets, fingerprints 1 to count. */
static void
PairCodes(const CuckooShape *shape, uint64_t pair, uint64_t count, uint64_t *codes)
{
	for (uint64_t i = 0; i < count; i++)
		codes[i] = pair << shape->bits | (i + 1);
}

/* One filter of tables that have no codes, in the order given. */
static Value
ValueOfShapes(const CuckooShape *shapes, int count, double fpr)
{
	CuckooPart	parts[CUCKOO_MAX_TABLES];
	CuckooFilter filter;
	uint8_t    *bytes;

	memset(parts, 0, sizeof(parts));
	for (int i = 0; i < count; i++)
		parts[i].shape = shapes[i];
	CuckooFilterInit(&filter, fpr, 1000, 0);
	filter.key_type = CUCKOO_KEY_INTEGER;
	bytes = CuckooMakeFilter(&filter, parts, count);
	return Valid(bytes, &filter);
}

/* ------------------------------------------------------------------ sizes */

static void
an_empty_filter_is_a_table_without_items(void **state)
{
	Value		specified = EmptyValue(0.001, 1000);
	Value		unknown = EmptyValue(0.001, 0);

	(void) state;
	assert_int_equal(TablesOf(&specified), 1);
	assert_shape(&specified, 0, ShapeFor(1000, 13));
	assert_int_equal(TablesOf(&unknown), 1);
	assert_shape(&unknown, 0, ShapeFor(CUCKOO_FIRST_KEYS, 14));
	assert_int_equal(ItemsOf(&specified) + ItemsOf(&unknown), 0);
	assert_true(specified.length < 100 && unknown.length < 100);
	assert_int_equal(CountFound(&specified, 1, 0, 1000), 0);
	assert_int_equal(CountFound(&unknown, 1, 0, 1000), 0);
	FreeValue(&specified);
	FreeValue(&unknown);
}

static void
builds_of_up_to_1024_counted_keys_are_for_an_unknown_capacity(void **state)
{
	Value		small = ValueOfKeys(1, 0, 1024, 0.001, 0);
	Value		large = ValueOfKeys(1, 0, 1025, 0.001, 0);
	Value		both;

	(void) state;
	assert_shape(&small, 0, ShapeFor(CUCKOO_FIRST_KEYS, 14));
	assert_true(Open(&small).capacity == 0);
	assert_shape(&large, 0, ShapeFor(1025, 13));
	assert_true(Open(&large).capacity == 1025);

	/* Adding a 1,025th key to the first filter does not change its shape. */
	assert_int_equal(AddHash(&small, KeyHash(1, 1024)), CUCKOO_CHANGED);
	assert_int_equal(TablesOf(&small), 1);
	assert_shape(&small, 0, ShapeFor(CUCKOO_FIRST_KEYS, 14));
	assert_true(Open(&small).capacity == 0);

	both = CombineTwo(CUCKOO_UNION, &small, &large);
	assert_int_equal(TablesOf(&both), 2);
	assert_shape(&both, 0, ShapeFor(1025, 13));
	assert_shape(&both, 1, ShapeFor(CUCKOO_FIRST_KEYS, 14));
	assert_int_equal(CountFound(&both, 1, 0, 1025), 1025);
	FreeValue(&both);
	FreeValue(&small);
	FreeValue(&large);
}

static void
more_keys_than_the_capacity_specified_are_counted_also_up_to_1024(void **state)
{
	Value		within = ValueOfKeys(1, 0, 100, 0.001, 100);
	Value		beyond = ValueOfKeys(1, 0, 101, 0.001, 100);

	(void) state;
	assert_true(Open(&within).capacity == 100);
	assert_shape(&within, 0, ShapeFor(100, 13));
	assert_true(Open(&beyond).capacity == 101);
	assert_shape(&beyond, 0, ShapeFor(101, 13));
	FreeValue(&within);
	FreeValue(&beyond);
}

static void
a_capacity_whose_dense_table_passes_750_MiB_is_refused(void **state)
{
	/* 13 bits: 6 bytes per bucket of 3.86 keys */
	uint64_t	most = CUCKOO_MAX_BYTES / 6 * 386 / 100;
	CuckooFilter filter;
	CuckooRun	run = {NULL, 0};

	(void) state;
	assert_true(CuckooCapacityFits(0.001, 0));
	assert_true(CuckooCapacityFits(2e-8, 0));
	assert_true(CuckooCapacityFits(0.001, most - 100000));
	assert_false(CuckooCapacityFits(0.001, most + 100000));
	assert_false(CuckooCapacityFits(0.1, CUCKOO_MAX_CAPACITY + 1));
	assert_false(CuckooCapacityFits(0.1, UINT64_MAX));
	CuckooFilterInit(&filter, 0.001, most + 100000, 0);
	assert_null(CuckooMakeFromHashes(&filter, &run, 1));
}

static void
hashes_in_pieces_build_the_same_filter(void **state)
{
	uint64_t   *hashes = SortedHashes(1, 5000);
	uint64_t	random = 1;
	Value		whole = ValueOfHashes(hashes, 5000, 0.001, 0);

	(void) state;
	for (int round = 0; round < 20; round++)
	{
		CuckooRun	runs[50];
		uint64_t	at = 0;
		CuckooFilter filter;
		uint8_t    *bytes;
		Value		pieces;

		/* Empty ones among them, too. */
		for (int i = 0; i < 50; i++)
		{
			uint64_t	most = 5000 - at;

			runs[i].numbers = hashes + at;
			runs[i].count = i == 49 ? most : i % 5 == 0 ? 0 :
				RandomBelow(&random, (uint32_t) (most < 200 ? most + 1 : 200));
			at += runs[i].count;
		}
		CuckooFilterInit(&filter, 0.001, 0, 0);
		filter.key_type = CUCKOO_KEY_INTEGER;
		bytes = CuckooMakeFromHashes(&filter, runs, 50);
		pieces = Valid(bytes, &filter);
		assert_true(SameBytes(&pieces, &whole));
		FreeValue(&pieces);
	}
	FreeValue(&whole);
	free(hashes);
}

/* Thousands of keys in few classes: eight of each are kept. */
static void
a_build_keeps_up_to_eight_copies_of_a_class(void **state)
{
	CuckooShape shape = ShapeFor(1000, 13);
	uint64_t	hashes[1000];
	Value		value;

	(void) state;
	for (uint64_t i = 0; i < 1000; i++)
		hashes[i] = HashOfCode(&shape, 5 << 13 | (i < 500 ? 7 : 8)) + i % 500;
	value = ValueOfHashes(hashes, 1000, 0.001, 1000);
	assert_int_equal(ItemsOf(&value), 16);
	assert_int_equal(CountOf(&value, hashes[0]), 8);
	assert_int_equal(CountOf(&value, hashes[999]), 8);
	FreeValue(&value);
}

/* ----------------------------------------------------------------- growth */

static void
the_next_table_follows_from_the_newest_and_the_rate(void **state)
{
	static const double rates[] = {0.1, 0.01, 0.001, 1e-5, 2e-8};

	(void) state;
	for (size_t i = 0; i < lengthof(rates); i++)
	{
		int			asked = CuckooBitsFor(rates[i]);
		CuckooFilter filter;
		CuckooShape next;
		CuckooShape expected;
		uint64_t	keys = 1000;
		int			bits = asked;

		/* With unknown capacity: f0 + 1, + 2 and + 3 */
		CuckooFilterInit(&filter, rates[i], 0, 0);
		filter.table_count = 1;
		assert_true(CuckooFirstShape(&filter, &filter.tables[0].shape));
		next = ShapeFor(CUCKOO_FIRST_KEYS, asked + 1);
		assert_true(CuckooSameShape(&filter.tables[0].shape, &next));
		for (int table = 1; table <= 2; table++)
		{
			expected = ShapeFor(table == 1 ? CUCKOO_SECOND_KEYS : CUCKOO_THIRD_KEYS,
								asked + 1 + table);
			assert_true(CuckooNextShape(&filter, &next));
			assert_true(CuckooSameShape(&next, &expected));
			filter.tables[0].shape = next;
		}

		/* With a capacity: f0 + 2, then one more each, 32 times as large */
		CuckooFilterInit(&filter, rates[i], keys, 0);
		filter.table_count = 1;
		assert_true(CuckooFirstShape(&filter, &filter.tables[0].shape));
		for (int table = 1; table < 5; table++)
		{
			uint64_t	capacity = 32 * CuckooShapeCapacity(&filter.tables[0].shape);

			bits = bits + 1 < asked + 2 ? asked + 2 : bits + 1;
			if (capacity > CUCKOO_MAX_CAPACITY)
				capacity = CUCKOO_MAX_CAPACITY;
			assert_true(CuckooNextShape(&filter, &next));
			assert_int_equal(next.bits, bits < 32 ? bits : 32);
			expected = ShapeFor(capacity, next.bits);
			assert_true(CuckooSameShape(&next, &expected));
			filter.tables[0].shape = next;
		}

		/* Never more than f0 + 8 or 32, never fewer than f0 + 2 */
		filter.tables[0].shape = ShapeFor(5000, 31);
		assert_true(CuckooNextShape(&filter, &next));
		assert_int_equal(next.bits, asked + 8 < 32 ? asked + 8 : 32);
		filter.tables[0].shape = ShapeFor(5000, 5);
		assert_true(CuckooNextShape(&filter, &next));
		assert_int_equal(next.bits, asked + 2);
	}
}

/*
 * A table with the blocks and buckets for 2^20 keys, whether or not a capacity
 * was specified.
 */
static void
after_a_table_for_2_to_the_20_or_25_keys_comes_the_one_of_unknown_capacity(void **state)
{
	CuckooFilter filter;
	CuckooShape next;
	CuckooShape expected;

	(void) state;
	CuckooFilterInit(&filter, 0.001, CUCKOO_FIRST_KEYS, 0);
	filter.table_count = 1;
	filter.tables[0].shape = ShapeFor(CUCKOO_FIRST_KEYS, 13);
	expected = ShapeFor(CUCKOO_SECOND_KEYS, 15);
	assert_true(CuckooNextShape(&filter, &next));
	assert_true(CuckooSameShape(&next, &expected));
	filter.tables[0].shape = ShapeFor(CUCKOO_SECOND_KEYS, 20);
	expected = ShapeFor(CUCKOO_THIRD_KEYS, 21);
	assert_true(CuckooNextShape(&filter, &next));
	assert_true(CuckooSameShape(&next, &expected));
}

static void
there_is_no_table_after_the_largest_or_the_sixteenth(void **state)
{
	CuckooFilter filter;
	CuckooShape next;

	(void) state;
	CuckooFilterInit(&filter, 0.001, 1000, 0);
	filter.table_count = 1;
	filter.tables[0].shape = ShapeFor(CUCKOO_MAX_CAPACITY, 21);
	assert_false(CuckooNextShape(&filter, &next));
	filter.table_count = 16;
	for (int i = 0; i < 16; i++)
		filter.tables[i].shape = ShapeOf(1, 2 + 2 * (uint32_t) i, 15);
	assert_false(CuckooNextShape(&filter, &next));
	filter.table_count = 15;
	assert_true(CuckooNextShape(&filter, &next));
}

static void
a_filter_grows_when_its_newest_table_is_at_its_capacity(void **state)
{
	static const double rates[] = {0.1, 0.001, 1e-6, 2e-8};

	(void) state;
	for (size_t i = 0; i < lengthof(rates); i++)
	{
		Value		value = EmptyValue(rates[i], 50);
		int			asked = CuckooBitsFor(rates[i]);
		CuckooShape first = ShapeFor(50, asked);
		CuckooShape second = ShapeFor(32 * CuckooShapeCapacity(&first), asked + 2);
		uint64_t	capacity = CuckooShapeCapacity(&first);
		uint64_t	key = 0;

		/* Keys that share a class count, until they are pinned. */
		for (; ItemsOf(&value) < capacity; key++)
			assert_int_equal(AddHash(&value, KeyHash(1, key)), CUCKOO_CHANGED);
		assert_int_equal(TablesOf(&value), 1);
		assert_int_equal(AddHash(&value, KeyHash(1, key++)), CUCKOO_CHANGED);
		assert_int_equal(TablesOf(&value), 2);
		assert_shape(&value, 0, first);
		assert_shape(&value, 1, second);
		assert_int_equal(ItemsOf(&value), capacity + 1);
		assert_int_equal(Open(&value).tables[0].items, capacity);
		assert_true(Open(&value).capacity == 50);

		for (; TablesOf(&value) == 2 && key < 10000; key += 100)
			AddKeys(&value, 1, key, key + 100);
		assert_int_equal(TablesOf(&value), 3);
		assert_int_equal(Open(&value).tables[1].items, CuckooShapeCapacity(&second));
		assert_int_equal(CountFound(&value, 1, 0, key), key);
		/* At most twice the target rate */
		{
			CuckooFilter filter = Open(&value);

			assert_true(CuckooFilterRate(&filter) <= 2 * rates[i]);
		}
		FreeValue(&value);
	}
}

/*
 * A batch that fills several tables puts keys from all over each of them, so
 * they can be placed.  (A table of the lowest hashes could not be dense.)
 */
static void
a_batch_fills_the_tables_that_it_opens_evenly(void **state)
{
	static const uint64_t first[] = {0, 10, 15};

	(void) state;
	for (size_t i = 0; i < lengthof(first); i++)
	{
		Value		value = ValueOfKeys(1, 0, first[i], 0.001, 20);

		AddKeys(&value, 1, first[i], 50000);
		assert_int_equal(TablesOf(&value), 4);
		for (int table = 0; table < 3; table++)
		{
			CuckooFilter filter = Open(&value);

			assert_int_equal(filter.tables[table].items,
							 CuckooShapeCapacity(&filter.tables[table].shape));
			assert_int_equal(RepresentationOf(&value, table), CUCKOO_DENSE);
		}
		assert_int_equal(ItemsOf(&value), 50000);
		assert_int_equal(CountFound(&value, 1, 0, 50000), 50000);
		FreeValue(&value);
	}
}

static void
an_unknown_capacity_grows_past_2_to_the_20_keys_and_keeps_the_rate(void **state)
{
	CuckooShape first = ShapeFor(CUCKOO_FIRST_KEYS, 8);
	uint64_t	capacity = CuckooShapeCapacity(&first);
	Value		value = EmptyValue(0.1, 0);
	CuckooFilter filter;

	(void) state;
	AddKeys(&value, 1, 0, capacity);
	assert_int_equal(TablesOf(&value), 1);
	assert_int_equal(RepresentationOf(&value, 0), CUCKOO_DENSE);
	AddKeys(&value, 1, capacity, capacity + 1);
	assert_int_equal(TablesOf(&value), 2);
	assert_shape(&value, 0, first);
	assert_shape(&value, 1, ShapeFor(CUCKOO_SECOND_KEYS, 9));
	filter = Open(&value);
	assert_true(CuckooFilterRate(&filter) < 0.1);
	assert_int_equal(CountFound(&value, 1, 0, capacity + 1), capacity + 1);
	FreeValue(&value);
}

/* The rate of several tables is that of finding a key in any of them. */
static void
the_rate_of_a_filter_is_that_of_its_tables_together(void **state)
{
	Value		value = EmptyValue(0.1, 50);
	CuckooFilter filter;
	double		none = 1;
	double		found;

	(void) state;
	AddKeys(&value, 1, 0, 1000);
	filter = Open(&value);
	assert_true(filter.table_count >= 2);
	for (int i = 0; i < filter.table_count; i++)
		none *= 1 - CuckooShapeRate(&filter.tables[i].shape, filter.tables[i].items);
	assert_true(fabs(CuckooFilterRate(&filter) - (1 - none)) < 1e-12);
	found = (double) CountFound(&value, 2, 0, 200000) / 200000;
	assert_true(fabs(found - (1 - none)) < 0.02);
	FreeValue(&value);
}

/* -------------------------------------------------------- representations */

static void
a_build_is_sparse_below_three_quarters_and_dense_from_there_on(void **state)
{
	CuckooShape shape = ShapeFor(1000, 13);
	uint64_t	entries = CuckooShapeEntries(&shape);
	uint64_t	from = entries * 3 / 4;
	Value		below;
	Value		at;

	(void) state;
	assert_int_equal(from * 4, entries * 3);
	below = ValueOfKeys(1, 0, from - 1, 0.001, 1000);
	at = ValueOfKeys(1, 0, from, 0.001, 1000);
	assert_int_equal(ItemsOf(&below), from - 1);
	assert_int_equal(RepresentationOf(&below, 0), CUCKOO_SPARSE);
	assert_int_equal(RepresentationOf(&at, 0), CUCKOO_DENSE);
	FreeValue(&below);
	FreeValue(&at);
}

static void
an_add_across_three_quarters_makes_a_table_dense(void **state)
{
	CuckooShape shape = ShapeFor(1000, 13);
	uint64_t	from = CuckooShapeEntries(&shape) * 3 / 4;
	Value		value = ValueOfKeys(1, 0, from - 2, 0.001, 1000);
	Value		dense;

	(void) state;
	assert_int_equal(AddHash(&value, KeyHash(1, from - 2)), CUCKOO_CHANGED);
	assert_int_equal(RepresentationOf(&value, 0), CUCKOO_SPARSE);
	assert_int_equal(AddHash(&value, KeyHash(1, from - 1)), CUCKOO_CHANGED);
	assert_int_equal(RepresentationOf(&value, 0), CUCKOO_DENSE);
	assert_int_equal(ItemsOf(&value), from);
	assert_int_equal(CountFound(&value, 1, 0, from), from);

	/* Made again, it is what a build makes. */
	dense = ValueOfKeys(1, 0, from, 0.001, 1000);
	assert_true(SameBytes(&value, &dense));
	FreeValue(&dense);
	FreeValue(&value);
}

static void
a_removal_below_one_half_makes_a_table_sparse(void **state)
{
	CuckooShape shape = ShapeFor(1000, 13);
	uint64_t	entries = CuckooShapeEntries(&shape);
	uint64_t	keys = entries * 3 / 4;
	Value		value = ValueOfKeys(1, 0, keys, 0.001, 1000);
	Value		sparse;

	(void) state;
	RemoveKeys(&value, 1, entries / 2, keys);
	assert_int_equal(ItemsOf(&value), entries / 2);
	assert_int_equal(RepresentationOf(&value, 0), CUCKOO_DENSE);
	assert_int_equal(RemoveHash(&value, KeyHash(1, entries / 2 - 1)), CUCKOO_CHANGED);
	assert_int_equal(RepresentationOf(&value, 0), CUCKOO_SPARSE);
	assert_int_equal(CountFound(&value, 1, 0, entries / 2 - 1), entries / 2 - 1);

	/* A sparse table has one form. */
	sparse = ValueOfKeys(1, 0, entries / 2 - 1, 0.001, 1000);
	assert_true(SameBytes(&value, &sparse));
	FreeValue(&sparse);

	/* And it stays sparse up to three quarters. */
	AddKeys(&value, 1, entries / 2 - 1, keys - 1);
	assert_int_equal(RepresentationOf(&value, 0), CUCKOO_SPARSE);
	AddKeys(&value, 1, keys - 1, keys);
	assert_int_equal(RepresentationOf(&value, 0), CUCKOO_DENSE);
	FreeValue(&value);
}

/*
 * Nine keys of one pair of buckets cannot be placed, however empty the other
 * buckets are.
 */
static void
what_cannot_be_placed_is_built_sparse(void **state)
{
	CuckooShape shape = ShapeOf(1, 2, 10);
	uint64_t	codes[9];
	Value		value;

	(void) state;
	PairCodes(&shape, 0, 9, codes);
	value = ValueOfCodes(&shape, codes, 6, 0.01, 7);
	assert_int_equal(RepresentationOf(&value, 0), CUCKOO_DENSE);
	FreeValue(&value);

	/* Three blocks of eight entries, nine of them in the first */
	shape = ShapeOf(3, 2, 10);
	{
		uint64_t	more[18];

		PairCodes(&shape, 0, 9, more);
		PairCodes(&shape, 1, 4, more + 9);
		PairCodes(&shape, 2, 5, more + 13);
		value = ValueOfCodes(&shape, more, 18, 0.01, 22);
		assert_int_equal(ItemsOf(&value), 18);
		assert_int_equal(RepresentationOf(&value, 0), CUCKOO_SPARSE);
		for (int i = 0; i < 18; i++)
			assert_int_equal(CountOf(&value, HashOfCode(&shape, more[i])), 1);
		FreeValue(&value);
	}
}

static void
an_add_that_finds_no_room_in_a_dense_table_makes_it_sparse(void **state)
{
	CuckooShape shape = ShapeOf(3, 2, 10);
	uint64_t	codes[20];
	Value		value;

	(void) state;
	PairCodes(&shape, 0, 8, codes);
	PairCodes(&shape, 1, 6, codes + 8);
	PairCodes(&shape, 2, 4, codes + 14);
	value = ValueOfCodes(&shape, codes, 18, 0.01, 22);
	assert_int_equal(RepresentationOf(&value, 0), CUCKOO_DENSE);
	/* The first block is full. */
	assert_int_equal(AddHash(&value, HashOfCode(&shape, 9)), CUCKOO_CHANGED);
	assert_int_equal(TablesOf(&value), 1);
	assert_int_equal(ItemsOf(&value), 19);
	assert_int_equal(RepresentationOf(&value, 0), CUCKOO_SPARSE);
	for (int i = 0; i < 18; i++)
		assert_int_equal(CountOf(&value, HashOfCode(&shape, codes[i])), 1);
	assert_int_equal(CountOf(&value, HashOfCode(&shape, 9)), 1);
	/* Others are added without another attempt. */
	assert_int_equal(AddHash(&value, HashOfCode(&shape, 2 << 10 | 99)), CUCKOO_CHANGED);
	assert_int_equal(RepresentationOf(&value, 0), CUCKOO_SPARSE);
	FreeValue(&value);
}

static void
an_add_across_three_quarters_that_cannot_be_placed_stays_sparse(void **state)
{
	CuckooShape shape = ShapeOf(3, 2, 10);
	uint64_t	codes[18];
	Value		value;

	(void) state;
	PairCodes(&shape, 0, 9, codes);
	PairCodes(&shape, 1, 8, codes + 9);
	value = ValueOfCodes(&shape, codes, 17, 0.01, 22);
	assert_int_equal(RepresentationOf(&value, 0), CUCKOO_SPARSE);
	assert_int_equal(AddHash(&value, HashOfCode(&shape, 2 << 10 | 1)), CUCKOO_CHANGED);
	assert_int_equal(ItemsOf(&value), 18);
	assert_int_equal(RepresentationOf(&value, 0), CUCKOO_SPARSE);

	/* One less and one more: it is tried again, and now succeeds. */
	assert_int_equal(RemoveHash(&value, HashOfCode(&shape, 9)), CUCKOO_CHANGED);
	assert_int_equal(RepresentationOf(&value, 0), CUCKOO_SPARSE);
	assert_int_equal(AddHash(&value, HashOfCode(&shape, 2 << 10 | 2)), CUCKOO_CHANGED);
	assert_int_equal(RepresentationOf(&value, 0), CUCKOO_DENSE);
	FreeValue(&value);
}

/* --------------------------------------------------- copies and removal */

static void
the_eighth_copy_is_pinned_and_never_removed(void **state)
{
	static const uint64_t capacities[] = {8, 1000};	/* dense, sparse */

	(void) state;
	for (size_t i = 0; i < lengthof(capacities); i++)
	{
		Value		value = EmptyValue(0.01, capacities[i]);
		uint64_t	hash = KeyHash(1, 1);
		Value		pinned;

		for (int copies = 1; copies <= 8; copies++)
		{
			assert_int_equal(AddHash(&value, hash), CUCKOO_CHANGED);
			assert_int_equal(CountOf(&value, hash), copies);
		}
		if (i == 0)
		{
			/* Make the small table dense, beside the pinned class. */
			for (uint64_t key = 10; RepresentationOf(&value, 0) == CUCKOO_SPARSE; key++)
				assert_int_equal(AddHash(&value, KeyHash(1, key)), CUCKOO_CHANGED);
		}
		pinned.length = value.length;
		pinned.bytes = Duplicate(value.bytes, value.length);
		for (int again = 0; again < 5; again++)
		{
			assert_int_equal(AddHash(&value, hash), CUCKOO_PINNED);
			assert_true(SameBytes(&value, &pinned));
			assert_int_equal(RemoveHash(&value, hash), CUCKOO_KEPT);
			assert_true(SameBytes(&value, &pinned));
		}
		free(pinned.bytes);
		FreeValue(&value);
	}
}

static void
seven_copies_go_one_by_one(void **state)
{
	Value		value = EmptyValue(0.01, 1000);
	Value		empty = EmptyValue(0.01, 1000);
	uint64_t	hash = KeyHash(1, 1);

	(void) state;
	for (int copies = 0; copies < 7; copies++)
		assert_int_equal(AddHash(&value, hash), CUCKOO_CHANGED);
	for (int copies = 6; copies >= 0; copies--)
	{
		assert_int_equal(RemoveHash(&value, hash), CUCKOO_CHANGED);
		assert_int_equal(CountOf(&value, hash), copies);
	}
	assert_true(SameBytes(&value, &empty));
	assert_int_equal(RemoveHash(&value, hash), CUCKOO_ABSENT);
	assert_true(SameBytes(&value, &empty));
	FreeValue(&value);
	FreeValue(&empty);
}

/* A filter of two tables: 20 keys from first in one of them, more in another. */
static Value
TwoTables(uint64_t first, uint64_t second)
{
	Value		small = ValueOfKeys(1, first, first + 20, 0.01, 50);
	Value		large = ValueOfKeys(1, second, second + 20, 0.01, 5000);
	Value		both = CombineTwo(CUCKOO_UNION_ALL, &small, &large);

	assert_int_equal(TablesOf(&both), 2);
	FreeValue(&small);
	FreeValue(&large);
	return both;
}

static void
a_copy_is_removed_only_where_exactly_one_table_holds_the_class(void **state)
{
	Value		value = TwoTables(0, 15);
	Value		before;

	(void) state;
	before.length = value.length;
	before.bytes = Duplicate(value.bytes, value.length);
	for (uint64_t key = 15; key < 20; key++)
	{
		assert_int_equal(CountOf(&value, KeyHash(1, key)), 2);
		assert_int_equal(RemoveHash(&value, KeyHash(1, key)), CUCKOO_KEPT);
		assert_true(SameBytes(&value, &before));
	}
	free(before.bytes);
	for (uint64_t key = 0; key < 15; key++)
		assert_int_equal(RemoveHash(&value, KeyHash(1, key)), CUCKOO_CHANGED);
	for (uint64_t key = 20; key < 35; key++)
		assert_int_equal(RemoveHash(&value, KeyHash(1, key)), CUCKOO_CHANGED);
	assert_int_equal(ItemsOf(&value), 10);
	assert_int_equal(CountFound(&value, 1, 15, 20), 5);
	assert_int_equal(RemoveHash(&value, KeyHash(1, 100)), CUCKOO_ABSENT);
	FreeValue(&value);
}

static void
a_key_is_added_to_the_newest_table_that_holds_its_class_and_has_room(void **state)
{
	Value		value = TwoTables(0, 100);
	CuckooFilter filter;

	(void) state;
	/* Only the first holds it: added there, although the second is newer. */
	assert_int_equal(AddHash(&value, KeyHash(1, 3)), CUCKOO_CHANGED);
	filter = Open(&value);
	assert_int_equal(filter.tables[0].items, 21);
	assert_int_equal(CuckooTableCount(&filter.tables[0], KeyHash(1, 3)), 2);
	/* None holds it: added to the newest. */
	assert_int_equal(AddHash(&value, KeyHash(1, 500)), CUCKOO_CHANGED);
	filter = Open(&value);
	assert_int_equal(filter.tables[1].items, 21);
	FreeValue(&value);

	/* Both hold it: added to the newest. */
	value = TwoTables(0, 0);
	assert_int_equal(AddHash(&value, KeyHash(1, 3)), CUCKOO_CHANGED);
	filter = Open(&value);
	assert_int_equal(filter.tables[1].items, 21);

	/*
	 * The first is full: a key that it holds is added to the newest with room.
	 */
	FreeValue(&value);
	value = EmptyValue(0.01, 50);
	for (uint64_t key = 0; TablesOf(&value) == 1; key++)
		assert_int_equal(AddHash(&value, KeyHash(1, key)), CUCKOO_CHANGED);
	filter = Open(&value);
	assert_int_equal(filter.tables[1].items, 1);
	assert_int_equal(AddHash(&value, KeyHash(1, 0)), CUCKOO_CHANGED);
	filter = Open(&value);
	assert_int_equal(filter.tables[1].items, 2);
	FreeValue(&value);
}

/* If a class is pinned in one table, no copy is added to another. */
static void
a_class_pinned_in_any_table_takes_no_more(void **state)
{
	Value		small = EmptyValue(0.01, 50);
	Value		large = EmptyValue(0.01, 5000);
	Value		both;
	uint64_t	hash = KeyHash(1, 1);

	(void) state;
	for (int copies = 0; copies < 8; copies++)
		AddHash(&small, hash);
	AddHash(&large, hash);
	both = CombineTwo(CUCKOO_UNION_ALL, &small, &large);
	assert_int_equal(TablesOf(&both), 2);
	assert_int_equal(CountOf(&both, hash), 8);
	assert_int_equal(AddHash(&both, hash), CUCKOO_PINNED);
	assert_int_equal(RemoveHash(&both, hash), CUCKOO_KEPT);
	assert_int_equal(ItemsOf(&both), 9);
	FreeValue(&small);
	FreeValue(&large);
	FreeValue(&both);
}

static void
a_removal_that_empties_a_table_drops_it_unless_it_is_the_only_one(void **state)
{
	Value		value = TwoTables(0, 100);
	CuckooShape large = ShapeFor(5000, 10);

	(void) state;
	RemoveKeys(&value, 1, 0, 19);
	assert_int_equal(TablesOf(&value), 2);
	assert_int_equal(RemoveHash(&value, KeyHash(1, 19)), CUCKOO_CHANGED);
	assert_int_equal(TablesOf(&value), 1);
	assert_shape(&value, 0, large);
	assert_int_equal(CountFound(&value, 1, 100, 120), 20);

	RemoveKeys(&value, 1, 100, 120);
	assert_int_equal(TablesOf(&value), 1);
	assert_shape(&value, 0, large);
	assert_int_equal(ItemsOf(&value), 0);
	FreeValue(&value);

	/* The last one as well as the first */
	value = TwoTables(0, 100);
	RemoveKeys(&value, 1, 100, 120);
	assert_int_equal(TablesOf(&value), 1);
	assert_shape(&value, 0, ShapeFor(50, 10));
	FreeValue(&value);
}

/* One batch removes the keys of one table, and some of the other. */
static void
a_batch_changes_one_table_while_it_drops_another(void **state)
{
	Value		value = TwoTables(0, 100);
	uint64_t   *hashes = Allocate(35 * sizeof(uint64_t));
	CuckooDraft draft;
	size_t		changed;
	uint8_t    *bytes;

	(void) state;
	for (uint64_t i = 0; i < 35; i++)
		hashes[i] = KeyHash(1, i < 20 ? i : 80 + i);
	CuckooDraftOpen(&draft, value.bytes, value.length, true);
	CuckooDraftApply(&draft, hashes, 35, CUCKOO_REMOVE, &changed);
	assert_int_equal(changed, 35);
	assert_int_equal(draft.filter.table_count, 1);
	bytes = CuckooDraftFinish(&draft);
	value = Valid(bytes, &draft.filter);
	AddKeys(&value, 1, 0, 20);
	assert_int_equal(ItemsOf(&value), 25);
	assert_int_equal(CountFound(&value, 1, 0, 20), 20);
	assert_int_equal(CountFound(&value, 1, 115, 120), 5);
	FreeValue(&value);

	/* If it empties both, one stays. */
	value = TwoTables(0, 100);
	for (uint64_t i = 0; i < 35; i++)
		hashes[i] = KeyHash(1, i < 15 ? 5 + i : 85 + i);
	RemoveKeys(&value, 1, 0, 5);
	CuckooDraftOpen(&draft, value.bytes, value.length, true);
	CuckooDraftApply(&draft, hashes, 35, CUCKOO_REMOVE, &changed);
	assert_int_equal(changed, 35);
	bytes = CuckooDraftFinish(&draft);
	value = Valid(bytes, &draft.filter);
	assert_int_equal(TablesOf(&value), 1);
	assert_int_equal(ItemsOf(&value), 0);
	FreeValue(&value);
	free(hashes);
}

static void
a_filter_of_sixteen_full_tables_is_full_and_stays_as_it_was(void **state)
{
	CuckooShape shapes[16];
	Value		value;
	Value		before;
	CuckooDraft draft;
	uint64_t	key = 0;

	(void) state;
	for (int i = 0; i < 16; i++)
		shapes[i] = ShapeOf(1, 2 + 2 * (uint32_t) i, 20);
	value = ValueOfShapes(shapes, 16, 0.001);
	for (;;)
	{
		CuckooFilter filter = Open(&value);
		uint64_t	room = 0;

		for (int i = 0; i < 16; i++)
			room += CuckooShapeCapacity(&shapes[i]) - filter.tables[i].items;
		if (room == 0)
			break;
		assert_int_equal(AddHash(&value, KeyHash(1, key++)), CUCKOO_CHANGED);
	}
	before.length = value.length;
	before.bytes = Duplicate(value.bytes, value.length);
	CuckooDraftOpen(&draft, value.bytes, value.length, false);
	assert_int_equal(ApplyHash(&draft, CUCKOO_ADD, KeyHash(1, key)), CUCKOO_FULL);
	assert_true(SameBytes(&value, &before));
	assert_int_equal(CountFound(&value, 1, 0, key), key);
	/* After a removal there is room again. */
	assert_int_equal(RemoveHash(&value, KeyHash(1, 0)), CUCKOO_CHANGED);
	assert_int_equal(AddHash(&value, KeyHash(1, key)), CUCKOO_CHANGED);
	free(before.bytes);
	FreeValue(&value);
}

/* The sparse form of the largest table, up to the last item that fits. */
static void
a_filter_of_more_than_750_MiB_is_not_made(void **state)
{
	CuckooFilter filter;
	CuckooPart	parts[2];
	CuckooSparse sparse;
	uint64_t	items = 0;

	(void) state;
	memset(parts, 0, sizeof(parts));
	parts[0].shape = ShapeOf(12000, 32768, 32);
	/*
	 * The largest table can hold 366 million items at 13.5 bits if it is
	 * sparse.
	 */
	for (uint64_t step = UINT64_C(1) << 31; step > 0; step >>= 1)
	{
		if (CuckooSparseBytes(&parts[0].shape, items + step) + 56 <= CUCKOO_MAX_BYTES)
			items += step;
	}
	CuckooSparseInit(&sparse, &parts[0].shape, items + 1, NULL);
	parts[0].items = items + 1;
	CuckooFilterInit(&filter, 0.001, 1000, 0);
	assert_null(CuckooMakeFilter(&filter, parts, 1));
	parts[0].representation = CUCKOO_DENSE;
	assert_null(CuckooMakeFilter(&filter, parts, 1));
	CuckooTableInit(&filter.tables[0], &parts[0].shape, CUCKOO_SPARSE, items, NULL);
	assert_int_equal(CuckooBytes(&filter), CuckooSparseBytes(&parts[0].shape, items) + 56);
}

/*
 * Two full tables with exactly 750 MiB together, so there is no table to grow
 * by.  Their buckets are zero, in memory that is never touched.
 */
static void
a_filter_that_would_grow_past_750_MiB_is_too_large_and_stays_as_it_was(void **state)
{
	static const CuckooShape shapes[] = {{1, 23966, 5}, {12000, 32766, 5}};
	uint8_t    *bytes = Allocate(CUCKOO_MAX_BYTES);
	CuckooFilter filter;
	CuckooDraft draft;

	(void) state;
	CuckooFilterInit(&filter, 0.1, 1000, 0);
	filter.key_type = CUCKOO_KEY_INTEGER;
	filter.table_count = 2;
	for (int i = 0; i < 2; i++)
		CuckooTableInit(&filter.tables[i], &shapes[i], CUCKOO_DENSE,
						CuckooShapeCapacity(&shapes[i]), NULL);
	assert_int_equal(CuckooBytes(&filter), CUCKOO_MAX_BYTES);
	CuckooLayOut(&filter, bytes);

	CuckooDraftOpen(&draft, bytes, CUCKOO_MAX_BYTES, false);
	assert_int_equal(ApplyHash(&draft, CUCKOO_ADD, KeyHash(1, 1)), CUCKOO_TOO_LARGE);
	assert_ptr_equal(draft.bytes, bytes);
	free(bytes);
}

/* ----------------------------------------------------------------- drafts */

/* One by one, so that each change makes a new value, or in one draft. */
static void
changes_one_by_one_give_the_sparse_bytes_of_changes_together(void **state)
{
	Value		single = EmptyValue(0.001, 1000);
	Value		together = EmptyValue(0.001, 1000);
	Value		built = ValueOfKeys(1, 10, 500, 0.001, 1000);

	(void) state;
	for (uint64_t key = 0; key < 500; key++)
		assert_int_equal(AddHash(&single, KeyHash(1, key)), CUCKOO_CHANGED);
	for (uint64_t key = 0; key < 10; key++)
		assert_int_equal(RemoveHash(&single, KeyHash(1, key)), CUCKOO_CHANGED);
	AddKeys(&together, 1, 0, 500);
	RemoveKeys(&together, 1, 0, 10);
	assert_true(SameBytes(&single, &together));
	assert_true(SameBytes(&single, &built));
	FreeValue(&single);
	FreeValue(&together);
	FreeValue(&built);
}

static void
a_draft_contains_what_was_added_and_not_what_was_removed(void **state)
{
	Value		value = ValueOfKeys(1, 0, 100, 1e-6, 1000);
	CuckooDraft draft;
	uint8_t    *bytes;

	(void) state;
	CuckooDraftOpen(&draft, value.bytes, value.length, true);
	assert_int_equal(ApplyHash(&draft, CUCKOO_ADD, KeyHash(1, 200)), CUCKOO_CHANGED);
	assert_true(CuckooFilterContains(&draft.filter, KeyHash(1, 200)));
	assert_true(CuckooFilterContains(&draft.filter, KeyHash(1, 5)));
	assert_false(CuckooFilterContains(&draft.filter, KeyHash(1, 201)));
	assert_int_equal(ApplyHash(&draft, CUCKOO_ADD, KeyHash(1, 7)), CUCKOO_CHANGED);
	assert_int_equal(ApplyHash(&draft, CUCKOO_REMOVE, KeyHash(1, 5)), CUCKOO_CHANGED);
	assert_false(CuckooFilterContains(&draft.filter, KeyHash(1, 5)));
	assert_int_equal(ApplyHash(&draft, CUCKOO_REMOVE, KeyHash(1, 5)), CUCKOO_ABSENT);
	assert_int_equal(ApplyHash(&draft, CUCKOO_REMOVE, KeyHash(1, 7)), CUCKOO_CHANGED);
	assert_true(CuckooFilterContains(&draft.filter, KeyHash(1, 7)));
	assert_int_equal(ApplyHash(&draft, CUCKOO_ADD, KeyHash(1, 5)), CUCKOO_CHANGED);
	assert_true(CuckooFilterContains(&draft.filter, KeyHash(1, 5)));
	assert_int_equal(draft.filter.items, 101);
	bytes = CuckooDraftFinish(&draft);
	value = Valid(bytes, &draft.filter);
	assert_int_equal(CountFound(&value, 1, 0, 100), 100);
	FreeValue(&value);
}

/* Five copies stored, and more in one batch: the eighth pins the class. */
static void
copies_of_a_batch_count_toward_the_pin(void **state)
{
	Value		value = EmptyValue(0.001, 1000);
	uint64_t	hash = KeyHash(1, 1);
	uint64_t	copies[6] = {hash, hash, hash, hash, hash, hash};
	CuckooDraft draft;
	size_t		changed;
	uint8_t    *bytes;

	(void) state;
	for (int i = 0; i < 5; i++)
		AddHash(&value, hash);
	CuckooDraftOpen(&draft, value.bytes, value.length, true);
	assert_int_equal(CuckooDraftApply(&draft, copies, 6, CUCKOO_ADD, &changed), CUCKOO_PINNED);
	assert_int_equal(changed, 3);
	assert_int_equal(CuckooDraftApply(&draft, copies, 6, CUCKOO_REMOVE, &changed), CUCKOO_KEPT);
	assert_int_equal(changed, 0);
	bytes = CuckooDraftFinish(&draft);
	value = Valid(bytes, &draft.filter);
	assert_int_equal(CountOf(&value, hash), 8);
	assert_int_equal(ItemsOf(&value), 8);
	FreeValue(&value);
}

/* Three of five copies are removed in one batch, and then more than are left. */
static void
copies_of_a_batch_are_removed_one_by_one(void **state)
{
	Value		value = EmptyValue(0.001, 1000);
	uint64_t	hash = KeyHash(1, 1);
	uint64_t	copies[3] = {hash, hash, hash};
	CuckooDraft draft;
	size_t		changed;
	uint8_t    *bytes;

	(void) state;
	for (int i = 0; i < 5; i++)
		AddHash(&value, hash);
	CuckooDraftOpen(&draft, value.bytes, value.length, true);
	assert_int_equal(CuckooDraftApply(&draft, copies, 3, CUCKOO_REMOVE, &changed), CUCKOO_CHANGED);
	assert_int_equal(changed, 3);
	assert_int_equal(CuckooDraftApply(&draft, copies, 3, CUCKOO_REMOVE, &changed), CUCKOO_ABSENT);
	assert_int_equal(changed, 2);
	bytes = CuckooDraftFinish(&draft);
	value = Valid(bytes, &draft.filter);
	assert_int_equal(ItemsOf(&value), 0);
	FreeValue(&value);
}

static void
a_draft_may_be_finished_and_go_on(void **state)
{
	Value		value = EmptyValue(0.001, 3000);
	CuckooDraft draft;
	uint64_t	key = 0;

	(void) state;
	CuckooDraftOpen(&draft, value.bytes, value.length, true);
	for (int round = 0; round < 40; round++)
	{
		uint8_t    *bytes;

		for (int i = 0; i < 100; i++)
			assert_int_equal(ApplyHash(&draft, CUCKOO_ADD, KeyHash(1, key++)), CUCKOO_CHANGED);
		bytes = CuckooDraftFinish(&draft);
		value = Valid(bytes, &draft.filter);
		assert_int_equal(CountFound(&value, 1, 0, key), key);
	}
	assert_int_equal(TablesOf(&value), 2);
	FreeValue(&value);
}

static void
fields_changed_in_a_draft_are_written(void **state)
{
	Value		value = ValueOfKeys(1, 0, 10, 0.001, 100);
	CuckooDraft draft;
	Value		after;
	CuckooFilter filter;

	(void) state;
	CuckooDraftOpen(&draft, value.bytes, value.length, false);
	draft.filter.flags |= CUCKOO_FLAG_NOT_REMOVABLE;
	after.bytes = CuckooDraftFinish(&draft);
	after = Valid(after.bytes, &draft.filter);
	filter = Open(&after);
	assert_int_equal(filter.flags, CUCKOO_FLAG_NOT_REMOVABLE);
	filter = Open(&value);
	assert_int_equal(filter.flags, 0);
	FreeValue(&after);
	FreeValue(&value);
}

/* ---------------------------------------------------------------- batches */

/* Add so many copies of each key, key after key, in batches as they are best. */
static bool
AddBatches(CuckooDraft *draft, uint64_t first, uint64_t keys, uint64_t copies, bool distinct)
{
	bool		early = false;
	uint64_t	at = 0;

	while (at < keys * copies)
	{
		size_t		count = CuckooDraftBatchKeys(draft);
		uint64_t   *hashes;
		const CuckooTable *table;
		size_t		changed;

		if (count > keys * copies - at)
			count = (size_t) (keys * copies - at);
		hashes = malloc(count * sizeof(uint64_t));
		for (size_t i = 0; i < count; i++)
			hashes[i] = KeyHash(1, first + at++ / copies);
		assert_in_range(CuckooDraftApply(draft, hashes, count,
										 distinct ? CUCKOO_ADD_NEW : CUCKOO_ADD, &changed),
						CUCKOO_CHANGED, CUCKOO_PRESENT);
		free(hashes);
		table = &draft->filter.tables[draft->filter.table_count - 1];
		early |= table->representation == CUCKOO_DENSE &&
			table->items < CuckooDenseFrom(&table->shape);
	}
	return early;
}

static void
batches_give_the_sparse_bytes_of_keys_one_by_one(void **state)
{
	(void) state;
	for (int distinct = 0; distinct <= 1; distinct++)
	{
		Value		value = EmptyValue(0.01, 20000);
		Value		single = EmptyValue(0.01, 20000);
		CuckooDraft draft;

		CuckooDraftOpen(&draft, single.bytes, single.length, true);
		for (uint64_t key = 0; key < 14000; key++)
		{
			if (distinct)
				ApplyHash(&draft, CUCKOO_ADD_NEW, KeyHash(1, key));
			else
				ApplyHash(&draft, CUCKOO_ADD, KeyHash(1, key));
		}
		single = Valid(CuckooDraftFinish(&draft), &draft.filter);

		CuckooDraftOpen(&draft, value.bytes, value.length, true);
		draft.streaming = true;
		for (uint64_t key = 0; key < 10; key++)
			assert_int_equal(ApplyHash(&draft, CUCKOO_ADD, KeyHash(1, key)), CUCKOO_CHANGED);
		/* dense in the meantime, and sparse again when finished */
		assert_true(AddBatches(&draft, 10, 13990, 1, distinct));
		value = Valid(CuckooDraftFinish(&draft), &draft.filter);
		assert_true(SameBytes(&value, &single));
		FreeValue(&single);

		/* the same keys again: none, or a copy of each */
		CuckooDraftOpen(&draft, value.bytes, value.length, true);
		draft.streaming = true;
		AddBatches(&draft, 0, 14000, 1, distinct);
		value = Valid(CuckooDraftFinish(&draft), &draft.filter);
		assert_int_equal(CountFound(&value, 1, 0, 14000), 14000);
		assert_int_equal(TablesOf(&value), distinct ? 1 : 2);
		assert_true(distinct ? ItemsOf(&value) < 14000 : ItemsOf(&value) == 28000);
		FreeValue(&value);
	}
}

static void
batches_across_three_quarters_make_a_table_dense_and_beyond_its_capacity_grow(void **state)
{
	Value		value = EmptyValue(1e-6, 20000);
	CuckooDraft draft;

	(void) state;
	CuckooDraftOpen(&draft, value.bytes, value.length, true);
	draft.streaming = true;
	AddBatches(&draft, 0, 19000, 1, true);
	value = Valid(CuckooDraftFinish(&draft), &draft.filter);
	assert_int_equal(TablesOf(&value), 1);
	assert_int_equal(draft.filter.tables[0].representation, CUCKOO_DENSE);
	assert_int_equal(CountFound(&value, 1, 0, 19000), 19000);

	CuckooDraftOpen(&draft, value.bytes, value.length, true);
	draft.streaming = true;
	AddBatches(&draft, 19000, 200000, 1, false);
	value = Valid(CuckooDraftFinish(&draft), &draft.filter);
	assert_int_equal(TablesOf(&value), 2);
	assert_int_equal(ItemsOf(&value), 219000);
	assert_int_equal(CountFound(&value, 1, 0, 219000), 219000);
	FreeValue(&value);
}

/* Eight copies of each key, key after key, find no room in a dense table. */
static void
a_table_whose_batches_find_no_room_stays_sparse(void **state)
{
	Value		value = EmptyValue(1e-5, 20000);
	CuckooDraft draft;
	CuckooFilter filter;

	(void) state;
	CuckooDraftOpen(&draft, value.bytes, value.length, true);
	draft.streaming = true;
	AddBatches(&draft, 0, 2500, 10, false);
	assert_true(draft.stay_sparse);
	value = Valid(CuckooDraftFinish(&draft), &draft.filter);
	filter = Open(&value);
	assert_int_equal(filter.table_count, 1);
	assert_int_equal(filter.items, 20000);
	assert_int_equal(filter.tables[0].representation, CUCKOO_SPARSE);
	for (uint64_t key = 0; key < 2500; key++)
		assert_int_equal(CuckooFilterCount(&filter, KeyHash(1, key)), 8);
	FreeValue(&value);
}

/* A full filter grows by a small table, whose keys need no copies of it all. */
static void
keys_beyond_the_capacity_copy_the_filter_twice(void **state)
{
	CuckooShape shape = ShapeFor(1000000, 13);
	uint64_t	full = CuckooShapeCapacity(&shape);
	Value		value = ValueOfKeys(1, 0, 1000000, 0.001, 1000000);

	(void) state;
	AddKeys(&value, 1, 1000000, full);
	assert_int_equal(TablesOf(&value), 1);
	large_area = value.length;
	large_areas = 0;
	AddKeys(&value, 1, full, full + 10000);
	assert_in_range(large_areas, 1, 2);
	large_area = SIZE_MAX;
	assert_int_equal(TablesOf(&value), 2);
	assert_int_equal(CountFound(&value, 1, 0, full + 10000), full + 10000);
	FreeValue(&value);
}

static int
CountAreas(void **state)
{
	(void) state;
	assert_int_equal(areas_in_use, 0);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_filter_is_a_table_without_items),
		cmocka_unit_test(builds_of_up_to_1024_counted_keys_are_for_an_unknown_capacity),
		cmocka_unit_test(more_keys_than_the_capacity_specified_are_counted_also_up_to_1024),
		cmocka_unit_test(a_capacity_whose_dense_table_passes_750_MiB_is_refused),
		cmocka_unit_test(hashes_in_pieces_build_the_same_filter),
		cmocka_unit_test(a_build_keeps_up_to_eight_copies_of_a_class),
		cmocka_unit_test(the_next_table_follows_from_the_newest_and_the_rate),
		cmocka_unit_test(after_a_table_for_2_to_the_20_or_25_keys_comes_the_one_of_unknown_capacity),
		cmocka_unit_test(there_is_no_table_after_the_largest_or_the_sixteenth),
		cmocka_unit_test(a_filter_grows_when_its_newest_table_is_at_its_capacity),
		cmocka_unit_test(a_batch_fills_the_tables_that_it_opens_evenly),
		cmocka_unit_test(an_unknown_capacity_grows_past_2_to_the_20_keys_and_keeps_the_rate),
		cmocka_unit_test(the_rate_of_a_filter_is_that_of_its_tables_together),
		cmocka_unit_test(a_build_is_sparse_below_three_quarters_and_dense_from_there_on),
		cmocka_unit_test(an_add_across_three_quarters_makes_a_table_dense),
		cmocka_unit_test(a_removal_below_one_half_makes_a_table_sparse),
		cmocka_unit_test(what_cannot_be_placed_is_built_sparse),
		cmocka_unit_test(an_add_that_finds_no_room_in_a_dense_table_makes_it_sparse),
		cmocka_unit_test(an_add_across_three_quarters_that_cannot_be_placed_stays_sparse),
		cmocka_unit_test(the_eighth_copy_is_pinned_and_never_removed),
		cmocka_unit_test(seven_copies_go_one_by_one),
		cmocka_unit_test(a_copy_is_removed_only_where_exactly_one_table_holds_the_class),
		cmocka_unit_test(a_key_is_added_to_the_newest_table_that_holds_its_class_and_has_room),
		cmocka_unit_test(a_class_pinned_in_any_table_takes_no_more),
		cmocka_unit_test(a_removal_that_empties_a_table_drops_it_unless_it_is_the_only_one),
		cmocka_unit_test(a_batch_changes_one_table_while_it_drops_another),
		cmocka_unit_test(a_filter_of_sixteen_full_tables_is_full_and_stays_as_it_was),
		cmocka_unit_test(a_filter_of_more_than_750_MiB_is_not_made),
		cmocka_unit_test(a_filter_that_would_grow_past_750_MiB_is_too_large_and_stays_as_it_was),
		cmocka_unit_test(changes_one_by_one_give_the_sparse_bytes_of_changes_together),
		cmocka_unit_test(a_draft_contains_what_was_added_and_not_what_was_removed),
		cmocka_unit_test(copies_of_a_batch_count_toward_the_pin),
		cmocka_unit_test(copies_of_a_batch_are_removed_one_by_one),
		cmocka_unit_test(a_draft_may_be_finished_and_go_on),
		cmocka_unit_test(fields_changed_in_a_draft_are_written),
		cmocka_unit_test(batches_give_the_sparse_bytes_of_keys_one_by_one),
		cmocka_unit_test(batches_across_three_quarters_make_a_table_dense_and_beyond_its_capacity_grow),
		cmocka_unit_test(a_table_whose_batches_find_no_room_stays_sparse),
		cmocka_unit_test(keys_beyond_the_capacity_copy_the_filter_twice),
	};

	return cmocka_run_group_tests_name("filter", tests, NULL, CountAreas);
}
