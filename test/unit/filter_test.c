/*-------------------------------------------------------------------------
 *
 * filter_test.c
 *	  A filter of any body: lists, growth, copies, removal that loses no other
 *	  key, and the rate promised after all of it.
 *
 *-------------------------------------------------------------------------
 */
#include "support.h"

#define KEYS	1				/* streams of keys: those added, */
#define ABSENT	2				/* and those that never are */

/* Bits beyond those the rate asks for, by table: DESIGN.md, section 6. */
static const int unstated_bits[CUCKOO_MAX_TABLES] = {
	2, 3, 4, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5, 5, 5
};
static const int stated_bits[CUCKOO_MAX_TABLES] = {
	0, 2, 3, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5
};

/*
 * The smallest rate that growth can keep: 5 bits beyond it must fit in 32.
 * Below it the tables' rates add up.
 */
#define MIN_GROWING_FPR		6e-8

/* A full filter's rate may be off by what a table holds beyond 0.98. */
#define FULL_SLACK			1.01

/* ----------------------------------------------------------------- lists */

static void
a_new_filter_is_an_empty_list_that_finds_nothing(void **state)
{
	Owned		owned = NewFilter(0.001, 500, 77, CUCKOO_PLAIN);

	(void) state;
	assert_int_equal(owned.filter.body, CUCKOO_LIST);
	assert_int_equal(owned.filter.items, 0);
	assert_int_equal(owned.filter.capacity, 500);
	assert_int_equal(owned.filter.seed, 77);
	assert_int_equal(CuckooFilterLayout(&owned.filter), CUCKOO_PLAIN);
	assert_true(owned.filter.fpr == 0.001);
	assert_true(CuckooFilterRate(&owned.filter) == 0);
	assert_int_equal(CountFound(&owned.filter, ABSENT, 0, 1000), 0);
	assert_int_equal(CuckooFilterRemove(&owned.filter, 0), CUCKOO_ABSENT);
	assert_int_equal(ProblemOf(&owned), CUCKOO_VALID);
	FreeFilter(&owned);
}

static void
a_list_takes_1024_keys_where_no_capacity_is_stated_and_32_where_one_is(void **state)
{
	(void) state;
	for (int stated = 0; stated < 2; stated++)
	{
		Owned		owned = NewFilter(0.001, stated ? 100000 : 0, 0, CUCKOO_SEMISORTED);
		uint64_t	limit = stated ? 32 : 1024;
		uint8_t    *before;

		assert_int_equal(CuckooListLimit(&owned.filter), limit);
		for (uint64_t i = 0; i < limit; i++)
			assert_int_equal(CuckooFilterAdd(&owned.filter, KeyHash(KEYS, i)), CUCKOO_INSERTED);
		assert_int_equal(ProblemOf(&owned), CUCKOO_VALID);
		before = Duplicate(owned.bytes, owned.room);
		assert_int_equal(CuckooFilterAdd(&owned.filter, KeyHash(KEYS, limit)), CUCKOO_FULL);
		assert_int_equal(owned.filter.items, limit);
		assert_memory_equal(owned.bytes, before, owned.room);
		assert_int_equal(CountMissing(&owned.filter, KEYS, 0, limit), 0);
		free(before);
		FreeFilter(&owned);
	}
}

static void
a_list_is_exact(void **state)
{
	Owned		owned = NewFilter(0.1, 0, 0, CUCKOO_SEMISORTED);

	(void) state;
	AddKeys(&owned, KEYS, 0, 1000);
	assert_int_equal(CountFound(&owned.filter, ABSENT, 0, 100000), 0);
	assert_true(CuckooFilterRate(&owned.filter) == 1000 / 0x1p64);
	for (uint64_t i = 0; i < 1000; i++)
	{
		uint64_t	hash = KeyHash(KEYS, i);

		assert_int_equal(CuckooFilterCount(&owned.filter, hash), 1);
		assert_false(CuckooFilterContains(&owned.filter, hash + 1));
		assert_int_equal(CuckooFilterRemove(&owned.filter, hash - 1), CUCKOO_ABSENT);
	}
	FreeFilter(&owned);
}

static void
the_position_in_a_list_is_that_of_the_first_hash_not_less(void **state)
{
	Owned		owned = NewFilter(0.1, 0, 0, CUCKOO_SEMISORTED);
	static const uint64_t hashes[] = {5, 5, 5, 9, UINT64_MAX};

	(void) state;
	for (size_t i = 0; i < lengthof(hashes); i++)
		AddKey(&owned, hashes[lengthof(hashes) - 1 - i]);
	assert_int_equal(CuckooListFind(&owned.filter, 0), 0);
	assert_int_equal(CuckooListFind(&owned.filter, 5), 0);
	assert_int_equal(CuckooListFind(&owned.filter, 6), 3);
	assert_int_equal(CuckooListFind(&owned.filter, 9), 3);
	assert_int_equal(CuckooListFind(&owned.filter, 10), 4);
	assert_int_equal(CuckooListFind(&owned.filter, UINT64_MAX), 4);
	FreeFilter(&owned);
}

static void
the_order_of_adds_to_a_list_does_not_show_in_its_bytes(void **state)
{
	Owned		forth = NewFilter(0.1, 0, 0, CUCKOO_SEMISORTED);
	Owned		back = NewFilter(0.1, 0, 0, CUCKOO_SEMISORTED);

	(void) state;
	for (uint64_t i = 0; i < 500; i++)
	{
		AddKey(&forth, KeyHash(KEYS, i % 400));
		AddKey(&back, KeyHash(KEYS, (499 - i) % 400));
	}
	assert_true(SameBytes(&forth, &back));
	FreeFilter(&forth);
	FreeFilter(&back);
}

static void
the_eighth_copy_sticks_in_a_list_too(void **state)
{
	Owned		owned = NewFilter(0.001, 0, 0, CUCKOO_SEMISORTED);
	uint64_t	hash = KeyHash(KEYS, 0);

	(void) state;
	for (int copies = 1; copies <= CUCKOO_MAX_COPIES; copies++)
	{
		assert_int_equal(CuckooFilterAdd(&owned.filter, hash), CUCKOO_INSERTED);
		assert_int_equal(CuckooFilterCount(&owned.filter, hash), copies);
	}
	assert_int_equal(CuckooFilterAdd(&owned.filter, hash), CUCKOO_STUCK);
	assert_int_equal(CuckooFilterRemove(&owned.filter, hash), CUCKOO_KEPT);
	assert_int_equal(owned.filter.items, CUCKOO_MAX_COPIES);

	/* Also in the table that the list becomes, and for copies not yet there. */
	AddKeys(&owned, KEYS, 1, 2000);
	assert_int_equal(owned.filter.body, CUCKOO_TABLES);
	assert_int_equal(CuckooFilterRemove(&owned.filter, hash), CUCKOO_KEPT);
	assert_int_equal(CuckooFilterCount(&owned.filter, hash), CUCKOO_MAX_COPIES);
	FreeFilter(&owned);
}

static void
a_full_list_still_takes_a_copy_that_sticks(void **state)
{
	Owned		owned = NewFilter(0.001, 1000, 0, CUCKOO_SEMISORTED);

	(void) state;
	for (int i = 0; i < CUCKOO_MAX_COPIES; i++)
		AddKey(&owned, KeyHash(KEYS, 0));
	AddKeys(&owned, KEYS, 1, 1 + CUCKOO_SHORT_LIST - CUCKOO_MAX_COPIES);
	assert_int_equal(owned.filter.items, CUCKOO_SHORT_LIST);
	assert_int_equal(CuckooFilterAdd(&owned.filter, KeyHash(KEYS, 0)), CUCKOO_STUCK);
	assert_int_equal(CuckooFilterAdd(&owned.filter, KeyHash(KEYS, 1)), CUCKOO_FULL);
	FreeFilter(&owned);
}

static void
a_drained_list_is_as_it_was_when_new(void **state)
{
	Owned		owned = NewFilter(0.001, 0, 0, CUCKOO_SEMISORTED);
	Owned		fresh = NewFilter(0.001, 0, 0, CUCKOO_SEMISORTED);

	(void) state;
	AddKeys(&owned, KEYS, 0, 1000);
	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(CuckooFilterRemove(&owned.filter, KeyHash(KEYS, i)), CUCKOO_REMOVED);
	assert_true(SameBytes(&owned, &fresh));
	FreeFilter(&owned);
	FreeFilter(&fresh);
}

/* ---------------------------------------------------------------- growth */

static void
a_list_becomes_the_table_of_the_capacity_stated(void **state)
{
	/* Four times the list at least: 128 keys, and 4,096 where none is stated. */
	static const struct
	{
		uint64_t	capacity;
		uint64_t	keys;
	}			cases[] = {
		{0, 4096}, {1, 128}, {32, 128}, {128, 128}, {129, 129}, {10000, 10000},
		{1000000, 1000000}
	};

	(void) state;
	for (size_t i = 0; i < lengthof(cases); i++)
	{
		for (int layout = CUCKOO_SEMISORTED; layout <= CUCKOO_PLAIN; layout++)
		{
			Owned		owned = NewFilter(0.001, cases[i].capacity, 5, (CuckooLayout) layout);
			uint64_t	limit = CuckooListLimit(&owned.filter);
			CuckooShape expected;
			int			extra = cases[i].capacity == 0 ? unstated_bits[0] : stated_bits[0];

			AddKeys(&owned, KEYS, 0, limit + 1);
			assert_true(CuckooShapeFor(&expected, cases[i].keys,
									   CuckooBitsFor(0.001, CUCKOO_FULL_LOAD, extra),
									   (CuckooLayout) layout, 0));
			assert_int_equal(owned.filter.body, CUCKOO_TABLES);
			assert_int_equal(owned.filter.table_count, 1);
			assert_true(CuckooShapeEqual(&owned.filter.tables[0].shape, &expected));
			assert_int_equal(owned.filter.items, limit + 1);
			assert_int_equal(owned.filter.capacity, cases[i].capacity);
			assert_int_equal(owned.filter.seed, 5);
			assert_int_equal(CountMissing(&owned.filter, KEYS, 0, limit + 1), 0);
			assert_int_equal(ProblemOf(&owned), CUCKOO_VALID);
			FreeFilter(&owned);
		}
	}
}

/*
 * Sizes and bits of all tables that may follow, planned without filling them:
 * three times all before while that is under a million keys, then as much.
 */
static void
tables_grow_by_the_sizes_and_bits_of_the_design(void **state)
{
	(void) state;
	for (int stated = 0; stated < 2; stated++)
	{
		const int  *extra = stated ? stated_bits : unstated_bits;
		Owned		owned = NewFilter(0.1, stated ? 100 : 0, 0, CUCKOO_SEMISORTED);
		CuckooFilter filter;
		int			table;

		AddKeys(&owned, KEYS, 0, 1025);
		owned.filter.table_count = 1;
		filter = owned.filter;
		for (table = 1; table < CUCKOO_MAX_TABLES; table++)
		{
			CuckooFilter grown;
			CuckooGrowth growth;
			CuckooShape expected;
			uint64_t	keys = 0;

			filter.items = 0;
			for (int i = 0; i < table; i++)
			{
				filter.tables[i].items = CuckooShapeCapacity(&filter.tables[i].shape);
				filter.items += filter.tables[i].items;
			}
			growth = CuckooPlanGrowth(&filter, &grown);
			if (growth != CUCKOO_GROWTH_PLANNED)
			{
				assert_int_equal(growth, CUCKOO_GROWTH_TOO_LARGE);
				break;
			}
			for (int i = 0; i < table; i++)
				keys += CuckooShapeCapacity(&filter.tables[i].shape);
			if (3 * keys < 1000000)
				keys *= 3;
			assert_true(CuckooShapeFor(&expected, keys,
									   CuckooBitsFor(0.1, CUCKOO_FULL_LOAD, extra[table]),
									   CUCKOO_SEMISORTED, 0));
			assert_int_equal(grown.table_count, table + 1);
			assert_true(CuckooShapeEqual(&grown.tables[table].shape, &expected));
			assert_int_equal(grown.tables[table].items, 0);
			assert_int_equal(grown.items, filter.items);
			for (int i = 0; i < table; i++)
				assert_true(CuckooShapeEqual(&grown.tables[i].shape, &filter.tables[i].shape));
			filter = grown;
		}
		/* Sixteen tables hold more keys than a value of 1 GB. */
		assert_in_range(table, 13, CUCKOO_MAX_TABLES);
		FreeFilter(&owned);
	}
}

/*
 * Keys all added eight times meet in buckets long before a table is full, and
 * in any larger table, too.  They go to a stash, once.
 */
static void
many_keys_of_many_copies_each_are_held_in_few_tables(void **state)
{
	static const struct
	{
		uint64_t	keys;
		int			copies;
		uint64_t	capacity;
		uint64_t	most;		/* entries a key, of all tables */
	}			cases[] = {
		{5000, 8, 0, 60}, {1000, 100, 100000, 210}, {1000, 100, 0, 140}, {10000, 100, 1000000, 210},
		{10000, 100, 10000, 130}, {20000, 5, 100000, 45}, {20000, 6, 0, 75},
		{8000, 12, 100000, 30}
	};

	(void) state;
	for (size_t c = 0; c < lengthof(cases); c++)
	{
		for (int order = 0; order < 2; order++)
		{
			Owned		owned = NewFilter(0.001, cases[c].capacity, 0, CUCKOO_SEMISORTED);
			uint64_t	keys = cases[c].keys;
			uint64_t	rows = keys * (uint64_t) cases[c].copies;
			uint64_t	entries = 0;
			int			wanted = cases[c].copies < CUCKOO_MAX_COPIES ?
				cases[c].copies : CUCKOO_MAX_COPIES;

			/* Key after key, or in turn. */
			for (uint64_t i = 0; i < rows; i++)
				AddKey(&owned, KeyHash(KEYS, order ? i % keys : i / (uint64_t) cases[c].copies));
			for (uint64_t i = 0; i < keys; i++)
				assert_true(CuckooFilterCount(&owned.filter, KeyHash(KEYS, i)) >= wanted);
			for (int i = 0; i < owned.filter.table_count; i++)
				entries += CuckooShapeEntries(&owned.filter.tables[i].shape);
			if (owned.filter.table_count > 9 || entries > cases[c].most * keys)
				fail_msg("%llu keys of %d copies, order %d: %d tables of %g entries a key",
						 (unsigned long long) keys, cases[c].copies, order,
						 owned.filter.table_count, (double) entries / (double) keys);
			assert_true(CuckooFilterRate(&owned.filter) <= (cases[c].capacity > 0 ? 0.002 : 0.001));
			assert_int_equal(ProblemOf(&owned), CUCKOO_VALID);
			FreeFilter(&owned);
		}
	}
}

/* They find room by growth, and can be taken out again. */
static void
keys_of_up_to_four_copies_need_no_stash(void **state)
{
	(void) state;
	for (int copies = 1; copies <= CUCKOO_ENTRIES; copies++)
	{
		for (int stated = 0; stated < 2; stated++)
		{
			const uint64_t keys = 30000;
			Owned		owned = NewFilter(0.01, stated ? keys * (uint64_t) copies : 0, 0,
										  CUCKOO_SEMISORTED);

			for (uint64_t i = 0; i < keys * (uint64_t) copies; i++)
				AddKey(&owned, KeyHash(KEYS, i / (uint64_t) copies));
			assert_int_equal(owned.filter.stashes, 0);
			FreeFilter(&owned);
		}
	}
}

/*
 * What has eight copies goes to the stash, and so a key with one finds room
 * behind many of them, and can be taken out again.
 */
static void
keys_behind_many_of_eight_copies_stay_removable(void **state)
{
	static const struct
	{
		uint64_t	capacity;
		uint64_t	hot;
		uint64_t	keys;
		uint64_t	kept;		/* more than one table holds some */
	}			cases[] = {
		{100000, 2800, 5000, 1}, {100000, 9000, 5000, 1}, {10000, 2800, 5000, 5}, {0, 3000, 5000, 5}
	};

	(void) state;
	for (size_t c = 0; c < lengthof(cases); c++)
	{
		Owned		owned = NewFilter(0.001, cases[c].capacity, 0, CUCKOO_SEMISORTED);
		uint64_t	kept = 0;

		for (uint64_t i = 0; i < CUCKOO_MAX_COPIES * cases[c].hot; i++)
			AddKey(&owned, KeyHash(1, i / CUCKOO_MAX_COPIES));
		assert_true(owned.filter.stashes != 0);
		AddKeys(&owned, 2, 0, cases[c].keys);
		for (uint64_t i = 0; i < cases[c].keys; i++)
		{
			assert_true(CuckooFilterContains(&owned.filter, KeyHash(2, i)));
			kept += CuckooFilterRemove(&owned.filter, KeyHash(2, i)) != CUCKOO_REMOVED;
		}
		if (kept > cases[c].kept)
			fail_msg("%llu of %llu keys stay behind %llu", (unsigned long long) kept,
					 (unsigned long long) cases[c].keys, (unsigned long long) cases[c].hot);
		for (uint64_t i = 0; i < cases[c].hot; i++)
			assert_int_equal(CuckooFilterCount(&owned.filter, KeyHash(1, i)), CUCKOO_MAX_COPIES);
		FreeFilter(&owned);
	}
}

/*
 * A new stash takes the classes with eight copies from its table, and no others;
 * one for another table, or one that is not new, none.
 */
static void
growth_by_a_stash_moves_what_sticks(void **state)
{
	CuckooShape shape = ShapeOf(2, 400, 20, CUCKOO_SEMISORTED);
	Owned		owned = NewFilterOf(&shape, 1, 1e-5, 3000);

	(void) state;
	for (uint64_t i = 0; i < 8; i++)
	{
		for (uint64_t copy = 0; copy <= i; copy++)
			assert_int_equal(CuckooFilterAdd(&owned.filter, KeyHash(1, i)), CUCKOO_INSERTED);
	}
	for (int copy = 0; copy < 10; copy++)
		CuckooFilterAdd(&owned.filter, KeyHash(2, 0));
	assert_int_equal(owned.filter.items, 36 + 8);
	assert_int_equal(GrowFilter(&owned), CUCKOO_GROWTH_PLANNED);
	assert_int_equal(owned.filter.stashes, 2);
	assert_int_equal(owned.filter.tables[0].items, 28);
	assert_int_equal(owned.filter.tables[1].items, 2);
	assert_int_equal(ProblemOf(&owned), CUCKOO_VALID);
	for (int i = 0; i < 8; i++)
		assert_int_equal(CuckooFilterCount(&owned.filter, KeyHash(1, (uint64_t) i)), i + 1);
	assert_int_equal(CuckooFilterRemove(&owned.filter, KeyHash(1, 6)), CUCKOO_REMOVED);
	assert_int_equal(CuckooFilterRemove(&owned.filter, KeyHash(1, 7)), CUCKOO_KEPT);
	assert_int_equal(CuckooFilterRemove(&owned.filter, KeyHash(2, 0)), CUCKOO_KEPT);
	FreeFilter(&owned);
}

/* A table of 4,096 buckets and its stash. */
static Owned
TableWithStash(void)
{
	CuckooShape shapes[2];
	Owned		owned;

	shapes[0] = shapes[1] = ShapeOf(1, 4096, 20, CUCKOO_SEMISORTED);
	owned = NewFilterOf(shapes, 2, 1e-5, 10000);
	MakeStashes(&owned, 2);
	return owned;
}

/* The eighth copy takes a class to the stash, where its table has one. */
static void
the_eighth_copy_goes_to_the_stash(void **state)
{
	Owned		owned = TableWithStash();
	CuckooShape other = ShapeOf(1, 4098, 20, CUCKOO_SEMISORTED);
	Owned		without;

	(void) state;
	for (int i = 1; i < CUCKOO_MAX_COPIES; i++)
	{
		assert_int_equal(CuckooFilterAdd(&owned.filter, KeyHash(1, 1)), CUCKOO_INSERTED);
		assert_int_equal(CuckooFilterCount(&owned.filter, KeyHash(1, 1)), i);
	}
	assert_int_equal(owned.filter.tables[1].items, 0);
	assert_int_equal(CuckooFilterAdd(&owned.filter, KeyHash(1, 1)), CUCKOO_INSERTED);
	assert_int_equal(owned.filter.tables[0].items, 0);
	assert_int_equal(owned.filter.tables[1].items, 1);
	assert_int_equal(owned.filter.items, 1);
	assert_int_equal(CuckooFilterCount(&owned.filter, KeyHash(1, 1)), CUCKOO_MAX_COPIES);
	assert_int_equal(CuckooFilterAdd(&owned.filter, KeyHash(1, 1)), CUCKOO_STUCK);
	assert_int_equal(CuckooFilterRemove(&owned.filter, KeyHash(1, 1)), CUCKOO_KEPT);
	assert_int_equal(ProblemOf(&owned), CUCKOO_VALID);

	/* Not where the stash is another table's, or has all that it takes. */
	without = TableWithStash();
	without.filter.tables[1].items = CuckooTableCapacity(&without.filter, 1);
	for (int i = 0; i < 10; i++)
		CuckooFilterAdd(&without.filter, KeyHash(1, 1));
	assert_int_equal(without.filter.tables[0].items, CUCKOO_MAX_COPIES);
	FreeFilter(&without);

	without = TableWithStash();
	without.filter.tables[1].shape.buckets = other.buckets;
	for (int i = 0; i < 10; i++)
		CuckooFilterAdd(&without.filter, KeyHash(1, 1));
	assert_int_equal(without.filter.tables[0].items, CUCKOO_MAX_COPIES);
	FreeFilter(&without);
	FreeFilter(&owned);
}

/* One entry stands for all copies, those to come as well. */
static void
what_a_stash_holds_sticks(void **state)
{
	static const CuckooShape shapes[] = {
		{1, 12, 16, CUCKOO_SEMISORTED}, {1, 12, 16, CUCKOO_SEMISORTED}, {1, 8, 12, CUCKOO_SEMISORTED}
	};

	(void) state;
	for (int stash = 1; stash < 3; stash++)
	{
		Owned		owned = NewFilterOf(shapes, 3, 0.1, 1);
		uint64_t	hash = KeyHash(KEYS, 1);
		uint8_t    *before;

		/* A copy elsewhere stays where it is. */
		for (int i = 0; i < 3; i++)
			assert_int_equal(CuckooFilterAdd(&owned.filter, hash), CUCKOO_INSERTED);
		MakeStashes(&owned, (uint16_t) (1 << stash));
		if (owned.filter.tables[stash].items == 0)
			assert_true(PutInStash(&owned, stash, hash));
		CuckooWriteHeader(&owned.filter, owned.bytes);
		before = Duplicate(owned.bytes, owned.room);
		assert_int_equal(CuckooFilterCount(&owned.filter, hash), CUCKOO_MAX_COPIES);
		assert_true(CuckooFilterContains(&owned.filter, hash));
		assert_int_equal(CuckooFilterAdd(&owned.filter, hash), CUCKOO_STUCK);
		assert_int_equal(CuckooFilterRemove(&owned.filter, hash), CUCKOO_KEPT);
		CuckooWriteHeader(&owned.filter, owned.bytes);
		assert_memory_equal(owned.bytes, before, owned.room);
		assert_int_equal(ProblemOf(&owned), CUCKOO_VALID);
		free(before);
		FreeFilter(&owned);
	}
}

/* Where the last table has come to a fair load, what it needs is another. */
static void
a_stash_takes_nothing_while_the_last_table_is_not_crowded(void **state)
{
	static const CuckooShape shapes[] = {
		{1, 100, 16, CUCKOO_SEMISORTED}, {1, 100, 16, CUCKOO_SEMISORTED}
	};
	Owned		owned = NewFilterOf(shapes, 2, 0.1, 1);
	CuckooFilter grown;
	uint64_t	keys = 0;

	(void) state;
	MakeStashes(&owned, 2);
	while (CuckooFilterAdd(&owned.filter, KeyHash(KEYS, keys)) != CUCKOO_FULL)
		keys++;
	assert_int_equal(owned.filter.tables[1].items, 0);
	assert_int_equal(CuckooPlanGrowth(&owned.filter, &grown), CUCKOO_GROWTH_PLANNED);
	assert_int_equal(grown.table_count, 3);
	assert_int_equal(grown.stashes, 2);

	/* Sizes follow from the tables of the kind. */
	assert_in_range(CuckooShapeCapacity(&grown.tables[2].shape),
					3 * CuckooShapeCapacity(&shapes[0]), 4 * CuckooShapeCapacity(&shapes[0]));
	FreeFilter(&owned);
}

/* Growing carries the tables over as they are. */
static void
growth_changes_no_answer(void **state)
{
	static const CuckooShape shapes[] = {
		{1, 12, 6, CUCKOO_SEMISORTED}, {2, 8, 9, CUCKOO_SEMISORTED}, {1, 30, 18, CUCKOO_SEMISORTED}
	};
	Owned		owned = NewFilterOf(shapes, 3, 0.1, 1);
	size_t		before_bytes = owned.room;
	uint8_t    *before;
	int			answers[2000];

	(void) state;
	for (uint64_t i = 0; i < 150; i++)
		CuckooFilterAdd(&owned.filter, KeyHash(KEYS, i));
	for (uint64_t i = 0; i < 2000; i++)
		answers[i] = CuckooFilterCount(&owned.filter, KeyHash(KEYS, i));
	before = Duplicate(owned.bytes, before_bytes);
	assert_int_equal(GrowFilter(&owned), CUCKOO_GROWTH_PLANNED);
	assert_int_equal(owned.filter.table_count, 4);
	assert_int_equal(owned.filter.tables[3].items, 0);
	assert_int_equal(ProblemOf(&owned), CUCKOO_VALID);
	for (uint64_t i = 0; i < 2000; i++)
		assert_int_equal(CuckooFilterCount(&owned.filter, KeyHash(KEYS, i)), answers[i]);
	assert_memory_equal(owned.bytes + CUCKOO_HEADER_BYTES + 4 * CUCKOO_DIRECTORY_BYTES,
						before + CUCKOO_HEADER_BYTES + 3 * CUCKOO_DIRECTORY_BYTES,
						before_bytes - CUCKOO_HEADER_BYTES - 3 * CUCKOO_DIRECTORY_BYTES);
	free(before);
	FreeFilter(&owned);
}

static void
a_filter_of_sixteen_full_tables_cannot_grow_and_stays_as_it_is(void **state)
{
	CuckooShape shapes[CUCKOO_MAX_TABLES];
	Owned		owned;
	CuckooFilter grown;
	uint8_t    *before;
	uint64_t	added[16 * 8];
	size_t		count = 0;
	int			full = 0;

	(void) state;
	for (int i = 0; i < CUCKOO_MAX_TABLES; i++)
		shapes[i] = ShapeOf(1, 2, 12, CUCKOO_SEMISORTED);
	owned = NewFilterOf(shapes, CUCKOO_MAX_TABLES, 0.1, 1);
	for (uint64_t i = 0; full < 20; i++)
	{
		before = Duplicate(owned.bytes, owned.room);
		if (CuckooFilterAdd(&owned.filter, KeyHash(KEYS, i)) == CUCKOO_INSERTED)
			added[count++] = KeyHash(KEYS, i);
		else
		{
			full++;
			assert_memory_equal(owned.bytes, before, owned.room);
		}
		free(before);
	}
	assert_int_equal(owned.filter.items, count);
	before = Duplicate(owned.bytes, owned.room);
	assert_int_equal(CuckooPlanGrowth(&owned.filter, &grown), CUCKOO_GROWTH_NO_TABLE);
	assert_memory_equal(owned.bytes, before, owned.room);
	for (size_t i = 0; i < count; i++)
		assert_true(CuckooFilterContains(&owned.filter, added[i]));
	free(before);
	FreeFilter(&owned);
}

static void
growth_beyond_the_largest_value_is_refused(void **state)
{
	Owned		owned = NewFilter(0.001, CUCKOO_MAX_CAPACITY, 0, CUCKOO_SEMISORTED);
	CuckooFilter grown;

	(void) state;
	assert_int_equal(CuckooPlanGrowth(&owned.filter, &grown), CUCKOO_GROWTH_TOO_LARGE);
	owned.filter.capacity = 400000000;
	assert_int_equal(CuckooPlanGrowth(&owned.filter, &grown), CUCKOO_GROWTH_PLANNED);
	FreeFilter(&owned);
}

/* Hashes whose buckets are 0 and 1 in any table of up to 4,096 buckets. */
static uint64_t
MadeToCollide(int number, int bits)
{
	for (uint32_t fingerprint = 1; fingerprint < 1u << bits; fingerprint++)
	{
		if (CuckooBucketSum(fingerprint, 4096) == 1 && number-- == 0)
			return HashWithFingerprint(0, fingerprint, bits);
	}
	Require(!"there are as many fingerprints");
	return 0;
}

/*
 * Eight keys fill two buckets.  No larger table helps the ninth, but a stash,
 * where it has another fingerprint, and so another second bucket.
 */
static void
a_list_of_hashes_made_to_collide_gets_a_stash(void **state)
{
	Owned		owned = NewFilter(1e-5, 100, 0, CUCKOO_SEMISORTED);
	int			bits = CuckooBitsFor(1e-5, CUCKOO_FULL_LOAD, 0);

	(void) state;
	for (int i = 0; i < 12; i++)
		AddKey(&owned, MadeToCollide(i, bits));
	assert_int_equal(GrowFilter(&owned), CUCKOO_GROWTH_PLANNED);
	assert_int_equal(owned.filter.table_count, 2);
	assert_int_equal(owned.filter.stashes, 2);
	assert_int_equal(owned.filter.items, 12);
	for (int i = 0; i < 12; i++)
		assert_true(CuckooFilterContains(&owned.filter, MadeToCollide(i, bits)));
	assert_int_equal(ProblemOf(&owned), CUCKOO_VALID);
	FreeFilter(&owned);
}

/*
 * Of keys that share two buckets, these many copies each, which one leaves them
 * when another comes: its own class if it is there, one with more than four
 * copies, or its own.
 */
static void
what_is_in_the_way_leaves_for_the_stash(void **state)
{
	static const struct
	{
		int			copies[8];	/* of keys 0, 1, ..., which fill two buckets */
		int			comes;
		int			leaves;
	}			cases[] = {
		{{1, 7}, 0, 0}, {{7, 1}, 0, 0}, {{1, 7}, 8, 1}, {{3, 5}, 8, 1}, {{5, 3}, 8, 0},
		{{2, 6}, 8, 1}, {{4, 4}, 8, 8}, {{4, 4}, 1, 1}, {{1, 1, 1, 1, 1, 1, 1, 1}, 8, 8},
		{{1, 1, 1, 1, 1, 1, 1, 1}, 3, 3}
	};

	(void) state;
	for (size_t c = 0; c < lengthof(cases); c++)
	{
		Owned		owned = TableWithStash();
		uint64_t	comes = MadeToCollide(cases[c].comes, 20);

		for (int key = 0; key < 8; key++)
		{
			for (int i = 0; i < cases[c].copies[key]; i++)
				assert_int_equal(CuckooFilterAdd(&owned.filter, MadeToCollide(key, 20)),
								 CUCKOO_INSERTED);
		}
		assert_int_equal(owned.filter.items, 8);
		assert_int_equal(CuckooFilterAdd(&owned.filter, comes), CUCKOO_INSERTED);
		assert_int_equal(owned.filter.tables[1].items, 1);
		for (int key = 0; key < 9; key++)
		{
			uint64_t	hash = MadeToCollide(key, 20);
			int			copies = key < 8 ? cases[c].copies[key] : 0;

			if (key == cases[c].comes)
				copies++;
			if (key == cases[c].leaves)
			{
				assert_int_equal(CuckooTableCount(&owned.filter.tables[0], hash), 0);
				assert_int_equal(CuckooTableCount(&owned.filter.tables[1], hash), 1);
				copies = CUCKOO_MAX_COPIES;
			}
			assert_int_equal(CuckooFilterCount(&owned.filter, hash), copies);
		}
		assert_int_equal(owned.filter.items,
						 owned.filter.tables[0].items + owned.filter.tables[1].items);
		assert_int_equal(ProblemOf(&owned), CUCKOO_VALID);
		FreeFilter(&owned);
	}
}

/* Made to collide in every table: a sixteenth is the end. */
static void
growth_for_hashes_made_to_collide_ends_in_vain(void **state)
{
	CuckooShape shapes[CUCKOO_MAX_TABLES];
	CuckooFilter grown;

	(void) state;
	for (int tables = 2; tables <= CUCKOO_MAX_TABLES; tables++)
	{
		Owned		owned;
		uint64_t	added[64];
		size_t		count = 0;
		CuckooInsertResult result = CUCKOO_INSERTED;

		for (int i = 0; i < tables; i++)
			shapes[i] = ShapeOf(1, 100, 20, CUCKOO_SEMISORTED);
		owned = NewFilterOf(shapes, tables, 1e-5, 1000);
		MakeStashes(&owned, 2);
		for (uint64_t hash = 0; result != CUCKOO_FULL; hash += 4096)
		{
			if (CuckooLocate(&shapes[0], hash).second != 1)
				continue;
			result = CuckooFilterAdd(&owned.filter, hash);
			if (result == CUCKOO_INSERTED && count < lengthof(added))
				added[count++] = hash;
		}

		/* Another stash would be in vain; a larger table may take them. */
		if (tables < CUCKOO_MAX_TABLES)
		{
			assert_int_equal(CuckooPlanGrowth(&owned.filter, &grown), CUCKOO_GROWTH_PLANNED);
			assert_int_equal(grown.stashes, 2);
		}
		else
		{
			CuckooFilter honest = owned.filter;

			assert_int_equal(CuckooPlanGrowth(&honest, &grown), CUCKOO_GROWTH_IN_VAIN);
			honest.tables[1].items = CuckooTableCapacity(&honest, 1);
			assert_int_equal(CuckooPlanGrowth(&honest, &grown), CUCKOO_GROWTH_NO_TABLE);
			honest.stashes = 0;
			assert_int_equal(CuckooPlanGrowth(&honest, &grown), CUCKOO_GROWTH_NO_TABLE);
		}
		assert_int_equal(owned.filter.items, 8 * tables);
		for (size_t i = 0; i < count; i++)
			assert_true(CuckooFilterContains(&owned.filter, added[i]));
		FreeFilter(&owned);
	}
}

/* ------------------------------------------------------------- the rate */

/*
 * All tables as full as they get, at every number of them, without stashes, with
 * one for each table, or for every other.
 */
static void
full_tables_together_keep_the_rate_or_twice_it(void **state)
{
	static const double rates[] = {0.1, 0.03, 0.01, 0.001, 1e-5, MIN_GROWING_FPR};

	(void) state;
	for (size_t r = 0; r < lengthof(rates); r++)
	{
		for (int variant = 0; variant < 6; variant++)
		{
			bool		stated = variant % 2 != 0;
			int			stashes = variant / 2;	/* one for every so many tables */
			CuckooFilter filter;

			CuckooFilterInit(&filter, rates[r], stated ? 33 : 0, 0, CUCKOO_SEMISORTED);
			for (int table = 0;; table++)
			{
				CuckooFilter grown;
				CuckooTable *last;

				if (CuckooPlanGrowth(&filter, &grown) != CUCKOO_GROWTH_PLANNED)
					break;
				filter = grown;
				last = &filter.tables[filter.table_count - 1];
				if (stashes > 0 && table % stashes == 0 && CuckooPlanGrowth(&filter, &grown) ==
					CUCKOO_GROWTH_PLANNED)
				{
					int			stash = filter.table_count;

					assert_true(CuckooIsStash(&grown, stash));
					filter = grown;
					last = &filter.tables[stash - 1];
					filter.tables[stash].items = CuckooTableCapacity(&filter, stash);
				}
				last->items = (uint64_t) (CUCKOO_FULL_LOAD *
										  (double) CuckooShapeEntries(&last->shape));
				if (CuckooFilterRate(&filter) > rates[r] * (stated ? 2 : 1))
					fail_msg("rate %g of %g asked, %d tables", CuckooFilterRate(&filter),
							 rates[r], filter.table_count);
			}
			assert_true(filter.table_count >= 10);
		}
	}
}

static void
a_filter_that_grows_key_by_key_keeps_its_rate_all_the_way(void **state)
{
	static const struct
	{
		double		fpr;
		uint64_t	capacity;
	}			cases[] = {
		{0.1, 0}, {0.01, 0}, {0.001, 0}, {1e-6, 0},
		{0.1, 1}, {0.1, 300}, {0.01, 1000}, {0.001, 64}
	};
	const int	questions = 100000;

	(void) state;
	for (size_t c = 0; c < lengthof(cases); c++)
	{
		Owned		owned = NewFilter(cases[c].fpr, cases[c].capacity, 0, CUCKOO_SEMISORTED);
		double		allowed = cases[c].fpr * (cases[c].capacity > 0 ? 2 : 1);
		double		expected;
		double		found;

		for (uint64_t i = 0; i < 60000; i++)
		{
			int			tables = owned.filter.table_count;
			double		rate = CuckooFilterRate(&owned.filter);

			AddKey(&owned, KeyHash(KEYS, i));
			/* Fullest just before it grew. */
			if (owned.filter.table_count != tables)
				assert_true(rate <= allowed * FULL_SLACK);
			if (owned.filter.body == CUCKOO_TABLES && i < cases[c].capacity)
				assert_true(rate <= cases[c].fpr);
		}
		expected = CuckooFilterRate(&owned.filter);
		assert_true(expected <= allowed);
		assert_int_equal(CountMissing(&owned.filter, KEYS, 0, 60000), 0);
		assert_int_equal(ProblemOf(&owned), CUCKOO_VALID);
		found = (double) CountFound(&owned.filter, ABSENT, 0, (uint64_t) questions);
		if (fabs(found - expected * questions) > 5 * sqrt(expected * questions) + 1)
			fail_msg("fpr %g: %g of %d absent keys found, expected %g", cases[c].fpr, found,
					 questions, expected * questions);
		FreeFilter(&owned);
	}
}

static void
the_rate_of_several_tables_is_that_any_of_them_errs(void **state)
{
	static const CuckooShape shapes[] = {
		{1, 20, 5, CUCKOO_SEMISORTED}, {1, 60, 7, CUCKOO_SEMISORTED}
	};
	Owned		owned = NewFilterOf(shapes, 2, 0.1, 1);
	double		first;
	double		second;

	(void) state;
	owned.filter.tables[0].items = 70;
	owned.filter.tables[1].items = 200;
	first = CuckooTableRate(&shapes[0], 70);
	second = CuckooTableRate(&shapes[1], 200);
	assert_true(fabs(CuckooFilterRate(&owned.filter) - (first + second - first * second)) < 1e-15);
	FreeFilter(&owned);
}

static void
a_capacity_stated_is_held_by_one_table_at_the_rate_asked(void **state)
{
	static const uint64_t capacities[] = {33, 64, 100, 128, 200, 1000, 4096, 10000, 131073, 300000};

	(void) state;
	for (size_t i = 0; i < lengthof(capacities); i++)
	{
		Owned		owned = NewFilter(0.001, capacities[i], 0, CUCKOO_SEMISORTED);

		AddKeys(&owned, KEYS, 0, capacities[i]);
		assert_int_equal(owned.filter.table_count, 1);
		assert_true(CuckooFilterRate(&owned.filter) <= 0.001);
		FreeFilter(&owned);
	}
}

/* ---------------------------------------------------------------- copies */

/* What users of RedisBloom know; each body that a filter may have. */
static Owned
FilterWithBody(int which)
{
	Owned		owned = NewFilter(0.001, which == 1 ? 5000 : 0, 0, CUCKOO_SEMISORTED);

	/* a list, one table, several tables */
	if (which > 0)
		AddKeys(&owned, KEYS, 0, which == 1 ? 3000 : 20000);
	assert_int_equal(owned.filter.table_count, which == 2 ? 3 : which);
	return owned;
}

static void
adding_twice_counts_two_and_deleting_counts_down_to_none(void **state)
{
	uint64_t	hash = KeyHash(ABSENT, 1);

	(void) state;
	for (int body = 0; body < 3; body++)
	{
		Owned		owned = FilterWithBody(body);
		uint64_t	items = owned.filter.items;
		uint8_t    *before;

		assert_int_equal(CuckooFilterCount(&owned.filter, hash), 0);
		assert_int_equal(AddKey(&owned, hash), CUCKOO_INSERTED);
		assert_int_equal(AddKey(&owned, hash), CUCKOO_INSERTED);
		assert_int_equal(CuckooFilterCount(&owned.filter, hash), 2);
		assert_int_equal(owned.filter.items, items + 2);
		assert_int_equal(CuckooFilterRemove(&owned.filter, hash), CUCKOO_REMOVED);
		assert_int_equal(CuckooFilterCount(&owned.filter, hash), 1);
		assert_int_equal(CuckooFilterRemove(&owned.filter, hash), CUCKOO_REMOVED);
		assert_int_equal(CuckooFilterCount(&owned.filter, hash), 0);
		assert_false(CuckooFilterContains(&owned.filter, hash));
		assert_int_equal(owned.filter.items, items);

		before = Duplicate(owned.bytes, owned.room);
		assert_int_equal(CuckooFilterRemove(&owned.filter, hash), CUCKOO_ABSENT);
		assert_memory_equal(owned.bytes, before, owned.room);
		assert_int_equal(owned.filter.items, items);
		free(before);
		FreeFilter(&owned);
	}
}

static void
ten_copies_count_eight_and_stay(void **state)
{
	uint64_t	hash = KeyHash(ABSENT, 1);

	(void) state;
	for (int body = 0; body < 3; body++)
	{
		Owned		owned = FilterWithBody(body);

		for (int i = 1; i <= 10; i++)
		{
			AddKey(&owned, hash);
			assert_int_equal(CuckooFilterCount(&owned.filter, hash), i < 8 ? i : 8);
		}
		for (int i = 0; i < 10; i++)
			assert_int_equal(CuckooFilterRemove(&owned.filter, hash), CUCKOO_KEPT);
		assert_int_equal(CuckooFilterCount(&owned.filter, hash), 8);
		FreeFilter(&owned);
	}
}

static void
one_key_140000_times_leaves_the_tables_and_other_answers_as_they_are(void **state)
{
	uint64_t	hash = KeyHash(ABSENT, 1);

	(void) state;
	for (int body = 0; body < 3; body++)
	{
		Owned		owned = FilterWithBody(body);
		Owned		once = FilterWithBody(body);
		int			tables = owned.filter.table_count;
		uint64_t	items = owned.filter.items;

		for (int i = 0; i < 140000; i++)
			AddKey(&owned, hash);
		assert_int_equal(owned.filter.table_count, tables);
		assert_int_equal(owned.filter.items, items + CUCKOO_MAX_COPIES);
		assert_int_equal(CuckooFilterCount(&owned.filter, hash), CUCKOO_MAX_COPIES);
		assert_int_equal(CountMissing(&owned.filter, KEYS, 0, items), 0);
		for (uint64_t i = 2; i < 20000; i++)
			assert_int_equal(CuckooFilterContains(&owned.filter, KeyHash(ABSENT, i)),
							 CuckooFilterContains(&once.filter, KeyHash(ABSENT, i)));
		FreeFilter(&owned);
		FreeFilter(&once);
	}
}

/* Also from an empty filter of a stated capacity: a list, never a table. */
static void
one_key_140000_times_alone_leaves_a_list_of_eight(void **state)
{
	Owned		owned = NewFilter(0.001, 1000, 0, CUCKOO_SEMISORTED);

	(void) state;
	for (int i = 0; i < 140000; i++)
		AddKey(&owned, 12345);
	assert_int_equal(owned.filter.body, CUCKOO_LIST);
	assert_int_equal(owned.filter.items, CUCKOO_MAX_COPIES);
	FreeFilter(&owned);
}

static void
a_thousand_keys_into_a_filter_made_for_64_are_found_in_few_tables(void **state)
{
	Owned		owned = NewFilter(0.001, 64, 0, CUCKOO_SEMISORTED);

	(void) state;
	AddKeys(&owned, KEYS, 0, 1000);
	assert_int_equal(CountMissing(&owned.filter, KEYS, 0, 1000), 0);
	assert_in_range(owned.filter.table_count, 1, 3);
	assert_true(CuckooFilterRate(&owned.filter) <= 0.002);
	assert_int_equal(owned.filter.items, 1000);
	FreeFilter(&owned);
}

/* --------------------------------------------------------------- removal */

static void
ten_thousand_keys_each_deleted_once_leave_one_table_all_zero(void **state)
{
	(void) state;
	for (int layout = CUCKOO_SEMISORTED; layout <= CUCKOO_PLAIN; layout++)
	{
		Owned		owned = NewFilter(0.001, 10000, 0, (CuckooLayout) layout);

		AddKeys(&owned, KEYS, 0, 10000);
		assert_int_equal(owned.filter.table_count, 1);
		assert_int_equal(owned.filter.items, 10000);
		for (uint64_t i = 0; i < 10000; i++)
		{
			assert_int_equal(CuckooFilterRemove(&owned.filter, KeyHash(KEYS, i)),
							 CUCKOO_REMOVED);
			if (i % 100 == 0)
				assert_int_equal(CountMissing(&owned.filter, KEYS, i + 1, 10000), 0);
		}
		assert_int_equal(owned.filter.items, 0);
		assert_int_equal(owned.filter.tables[0].items, 0);
		assert_true(AllZero(owned.filter.tables[0].data,
							(size_t) CuckooShapeBytes(&owned.filter.tables[0].shape)));
		assert_int_equal(ProblemOf(&owned), CUCKOO_VALID);
		FreeFilter(&owned);
	}
}

/* A class in two tables: either copy may be another key's. */
static void
a_key_whose_class_stands_in_two_tables_is_kept(void **state)
{
	static const CuckooShape shapes[] = {
		{1, 10, 5, CUCKOO_SEMISORTED}, {1, 14, 6, CUCKOO_SEMISORTED}
	};
	Owned		owned = NewFilterOf(shapes, 2, 0.1, 1);
	CuckooFilter *filter = &owned.filter;
	uint64_t	hash = KeyHash(KEYS, 0);
	uint8_t    *before;

	(void) state;
	assert_int_equal(CuckooTableInsert(&filter->tables[0], hash, 0), CUCKOO_INSERTED);
	assert_int_equal(CuckooTableInsert(&filter->tables[1], hash, 0), CUCKOO_INSERTED);
	filter->items = 2;
	before = Duplicate(owned.bytes, owned.room);
	assert_int_equal(CuckooFilterRemove(filter, hash), CUCKOO_KEPT);
	assert_int_equal(filter->items, 2);
	assert_memory_equal(owned.bytes, before, owned.room);

	/* With one holder left, whichever, it can go. */
	for (int other = 0; other < 2; other++)
	{
		assert_int_equal(CuckooTableRemove(&filter->tables[other], hash), CUCKOO_REMOVED);
		filter->items--;
		assert_int_equal(CuckooFilterRemove(filter, hash), CUCKOO_REMOVED);
		assert_int_equal(CuckooFilterRemove(filter, hash), CUCKOO_ABSENT);
		for (int i = 0; i < 2; i++)
			CuckooTableInsert(&filter->tables[i], hash, 0);
		filter->items = 2;
	}
	free(before);
	FreeFilter(&owned);
}

/* Copies of the class elsewhere do not make a table's own stick. */
static void
sticking_goes_by_the_table_and_not_by_the_sum(void **state)
{
	static const CuckooShape shapes[] = {
		{1, 10, 5, CUCKOO_SEMISORTED}, {1, 14, 6, CUCKOO_SEMISORTED}
	};
	Owned		owned = NewFilterOf(shapes, 2, 0.1, 1);
	CuckooFilter *filter = &owned.filter;
	uint64_t	hash = KeyHash(KEYS, 0);

	(void) state;
	for (int i = 0; i < 4; i++)
	{
		CuckooTableInsert(&filter->tables[0], hash, 0);
		CuckooTableInsert(&filter->tables[1], hash, 0);
	}
	filter->items = 8;
	assert_int_equal(CuckooFilterCount(filter, hash), 8);
	assert_int_equal(CuckooFilterAdd(filter, hash), CUCKOO_INSERTED);
	assert_int_equal(filter->items, 9);
	assert_int_equal(CuckooFilterCount(filter, hash), 8);
	FreeFilter(&owned);
}

/* Eight in any of the tables: nothing more goes in, nothing comes out. */
static void
eight_copies_in_any_table_stick_for_the_filter(void **state)
{
	(void) state;
	for (int stuck = 0; stuck < 3; stuck++)
	{
		static const CuckooShape shapes[] = {
			{1, 10, 5, CUCKOO_PLAIN}, {1, 14, 6, CUCKOO_PLAIN}, {2, 4, 9, CUCKOO_PLAIN}
		};
		Owned		owned = NewFilterOf(shapes, 3, 0.1, 1);
		uint64_t	hash = KeyHash(KEYS, 0);

		for (int i = 0; i < CUCKOO_MAX_COPIES; i++)
			CuckooTableInsert(&owned.filter.tables[stuck], hash, 0);
		owned.filter.items = CUCKOO_MAX_COPIES;
		assert_int_equal(CuckooFilterAdd(&owned.filter, hash), CUCKOO_STUCK);
		assert_int_equal(CuckooFilterRemove(&owned.filter, hash), CUCKOO_KEPT);
		assert_int_equal(owned.filter.items, CUCKOO_MAX_COPIES);
		assert_int_equal(ProblemOf(&owned), CUCKOO_VALID);
		FreeFilter(&owned);
	}
}

/* So that a class seldom stands in two tables, and can be removed. */
static void
an_add_goes_to_the_table_that_holds_the_class(void **state)
{
	static const CuckooShape shapes[] = {
		{1, 10, 12, CUCKOO_SEMISORTED}, {1, 14, 13, CUCKOO_SEMISORTED}, {2, 4, 14, CUCKOO_SEMISORTED}
	};

	(void) state;
	for (int holder = 0; holder < 3; holder++)
	{
		Owned		owned = NewFilterOf(shapes, 3, 0.1, 1);
		uint64_t	hash = KeyHash(KEYS, (uint64_t) holder);

		CuckooTableInsert(&owned.filter.tables[holder], hash, 0);
		owned.filter.items = 1;
		assert_int_equal(CuckooFilterAdd(&owned.filter, hash), CUCKOO_INSERTED);
		assert_int_equal(owned.filter.tables[holder].items, 2);
		assert_int_equal(CuckooFilterRemove(&owned.filter, hash), CUCKOO_REMOVED);
		assert_int_equal(CuckooFilterRemove(&owned.filter, hash), CUCKOO_REMOVED);
		FreeFilter(&owned);
	}
}

static void
a_new_key_goes_to_the_last_table_and_to_older_ones_when_that_is_full(void **state)
{
	static const CuckooShape shapes[] = {
		{1, 40, 16, CUCKOO_SEMISORTED}, {1, 40, 16, CUCKOO_SEMISORTED}, {1, 40, 16, CUCKOO_SEMISORTED}
	};
	Owned		owned = NewFilterOf(shapes, 3, 0.1, 1);
	uint64_t	i = 0;

	(void) state;
	while (owned.filter.tables[1].items == 0)
	{
		assert_int_equal(owned.filter.tables[0].items, 0);
		assert_int_equal(CuckooFilterAdd(&owned.filter, KeyHash(KEYS, i++)), CUCKOO_INSERTED);
	}
	assert_true(owned.filter.tables[2].items > 150);
	while (owned.filter.tables[0].items == 0)
		assert_int_equal(CuckooFilterAdd(&owned.filter, KeyHash(KEYS, i++)), CUCKOO_INSERTED);
	assert_true(owned.filter.tables[1].items > 120);
	while (CuckooFilterAdd(&owned.filter, KeyHash(KEYS, i)) == CUCKOO_INSERTED)
		i++;

	/* Older tables are not filled beyond their design load. */
	assert_true(owned.filter.tables[0].items <= CuckooShapeCapacity(&shapes[0]));
	assert_true(owned.filter.tables[1].items <= CuckooShapeCapacity(&shapes[1]));
	assert_int_equal(CountMissing(&owned.filter, KEYS, 0, i), 0);
	FreeFilter(&owned);
}

typedef enum Order
{
	SAME, REVERSE, SHUFFLED
} Order;

static void
a_drained_filter_keeps_no_more_than_its_rate_explains_in_whatever_order(void **state)
{
	static const double rates[] = {0.1, 0.01, 0.001};
	const size_t keys = 50000;

	(void) state;
	for (size_t r = 0; r < lengthof(rates); r++)
	{
		for (int order = SAME; order <= SHUFFLED; order++)
		{
			Owned		owned = NewFilter(rates[r], 0, 0, CUCKOO_SEMISORTED);
			uint64_t   *hashes = Allocate(keys * sizeof(uint64_t));
			double		expected;
			uint64_t	kept = 0;

			for (size_t i = 0; i < keys; i++)
			{
				hashes[order == REVERSE ? keys - 1 - i : i] = KeyHash(KEYS, i);
				AddKey(&owned, KeyHash(KEYS, i));
			}
			if (order == SHUFFLED)
				Shuffle(hashes, keys, 1);
			assert_in_range(owned.filter.table_count, 3, 4);
			expected = (double) keys * CuckooFilterRate(&owned.filter);
			for (size_t i = 0; i < keys; i++)
			{
				CuckooRemoveResult result = CuckooFilterRemove(&owned.filter, hashes[i]);

				assert_int_not_equal(result, CUCKOO_ABSENT);
				kept += result == CUCKOO_KEPT;
				if (i % 10000 == 0)
				{
					for (size_t k = i + 1; k < keys; k++)
						assert_true(CuckooFilterContains(&owned.filter, hashes[k]));
				}
			}
			assert_int_equal(owned.filter.items, kept);
			if ((double) kept > expected + 5 * sqrt(expected))
				fail_msg("%llu of %zu keys kept, at most %g expected",
						 (unsigned long long) kept, keys, expected);
			free(hashes);
			FreeFilter(&owned);
		}
	}
}

static void
filling_and_draining_ten_times_loses_nothing_and_does_not_creep(void **state)
{
	/* The first needs the older table too from the second round on. */
	static const uint64_t sizes[] = {13500, 40000};

	(void) state;
	for (size_t s = 0; s < lengthof(sizes); s++)
	{
		Owned		owned = NewFilter(0.001, 0, 0, CUCKOO_SEMISORTED);
		uint64_t	keys = sizes[s];
		size_t		size = 0;

		for (uint64_t round = 0; round < 10; round++)
		{
			uint64_t	items = owned.filter.items;

			AddKeys(&owned, KEYS, round * keys, (round + 1) * keys);
			assert_int_equal(CountMissing(&owned.filter, KEYS, round * keys, (round + 1) * keys), 0);
			assert_int_equal(owned.filter.items, items + keys);
			if (round == 0)
				size = StoredBytes(&owned);
			assert_int_equal(StoredBytes(&owned), size);
			for (uint64_t i = round * keys; i < (round + 1) * keys; i++)
				assert_int_not_equal(CuckooFilterRemove(&owned.filter, KeyHash(KEYS, i)),
									 CUCKOO_ABSENT);
		}
		assert_true((double) owned.filter.items <= 10 * (0.001 * (double) keys + 5 * sqrt(0.001 * (double) keys)));
		assert_int_equal(ProblemOf(&owned), CUCKOO_VALID);
		FreeFilter(&owned);
	}
}

static void
a_stored_filter_opened_again_is_the_same(void **state)
{
	(void) state;
	for (int body = 0; body < 3; body++)
	{
		Owned		owned = FilterWithBody(body);
		size_t		length;
		uint8_t    *copy;
		CuckooFilter again;

		AddKey(&owned, KeyHash(KEYS, 7));
		CuckooFilterRemove(&owned.filter, KeyHash(KEYS, 8));
		length = StoredBytes(&owned);
		copy = Duplicate(owned.bytes, length);
		assert_int_equal(CuckooValidate(copy, length, NULL).problem, CUCKOO_VALID);
		CuckooOpen(&again, copy);
		assert_int_equal(again.items, owned.filter.items);
		assert_int_equal(again.table_count, owned.filter.table_count);
		assert_true(CuckooFilterRate(&again) == CuckooFilterRate(&owned.filter));
		for (uint64_t i = 0; i < 3000; i++)
			assert_int_equal(CuckooFilterCount(&again, KeyHash(KEYS, i)),
							 CuckooFilterCount(&owned.filter, KeyHash(KEYS, i)));
		free(copy);
		FreeFilter(&owned);
	}
}

static void
the_same_adds_give_the_same_bytes(void **state)
{
	(void) state;
	for (int body = 0; body < 3; body++)
	{
		Owned		a = FilterWithBody(body);
		Owned		b = FilterWithBody(body);

		assert_true(SameBytes(&a, &b));
		FreeFilter(&a);
		FreeFilter(&b);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_filter_is_an_empty_list_that_finds_nothing),
		cmocka_unit_test(a_list_takes_1024_keys_where_no_capacity_is_stated_and_32_where_one_is),
		cmocka_unit_test(a_list_is_exact),
		cmocka_unit_test(the_position_in_a_list_is_that_of_the_first_hash_not_less),
		cmocka_unit_test(the_order_of_adds_to_a_list_does_not_show_in_its_bytes),
		cmocka_unit_test(the_eighth_copy_sticks_in_a_list_too),
		cmocka_unit_test(a_full_list_still_takes_a_copy_that_sticks),
		cmocka_unit_test(a_drained_list_is_as_it_was_when_new),
		cmocka_unit_test(a_list_becomes_the_table_of_the_capacity_stated),
		cmocka_unit_test(tables_grow_by_the_sizes_and_bits_of_the_design),
		cmocka_unit_test(many_keys_of_many_copies_each_are_held_in_few_tables),
		cmocka_unit_test(keys_of_up_to_four_copies_need_no_stash),
		cmocka_unit_test(keys_behind_many_of_eight_copies_stay_removable),
		cmocka_unit_test(growth_by_a_stash_moves_what_sticks),
		cmocka_unit_test(the_eighth_copy_goes_to_the_stash),
		cmocka_unit_test(what_a_stash_holds_sticks),
		cmocka_unit_test(a_stash_takes_nothing_while_the_last_table_is_not_crowded),
		cmocka_unit_test(growth_changes_no_answer),
		cmocka_unit_test(a_filter_of_sixteen_full_tables_cannot_grow_and_stays_as_it_is),
		cmocka_unit_test(growth_beyond_the_largest_value_is_refused),
		cmocka_unit_test(a_list_of_hashes_made_to_collide_gets_a_stash),
		cmocka_unit_test(what_is_in_the_way_leaves_for_the_stash),
		cmocka_unit_test(growth_for_hashes_made_to_collide_ends_in_vain),
		cmocka_unit_test(full_tables_together_keep_the_rate_or_twice_it),
		cmocka_unit_test(a_filter_that_grows_key_by_key_keeps_its_rate_all_the_way),
		cmocka_unit_test(the_rate_of_several_tables_is_that_any_of_them_errs),
		cmocka_unit_test(a_capacity_stated_is_held_by_one_table_at_the_rate_asked),
		cmocka_unit_test(adding_twice_counts_two_and_deleting_counts_down_to_none),
		cmocka_unit_test(ten_copies_count_eight_and_stay),
		cmocka_unit_test(one_key_140000_times_leaves_the_tables_and_other_answers_as_they_are),
		cmocka_unit_test(one_key_140000_times_alone_leaves_a_list_of_eight),
		cmocka_unit_test(a_thousand_keys_into_a_filter_made_for_64_are_found_in_few_tables),
		cmocka_unit_test(ten_thousand_keys_each_deleted_once_leave_one_table_all_zero),
		cmocka_unit_test(a_key_whose_class_stands_in_two_tables_is_kept),
		cmocka_unit_test(sticking_goes_by_the_table_and_not_by_the_sum),
		cmocka_unit_test(eight_copies_in_any_table_stick_for_the_filter),
		cmocka_unit_test(an_add_goes_to_the_table_that_holds_the_class),
		cmocka_unit_test(a_new_key_goes_to_the_last_table_and_to_older_ones_when_that_is_full),
		cmocka_unit_test(a_drained_filter_keeps_no_more_than_its_rate_explains_in_whatever_order),
		cmocka_unit_test(filling_and_draining_ten_times_loses_nothing_and_does_not_creep),
		cmocka_unit_test(a_stored_filter_opened_again_is_the_same),
		cmocka_unit_test(the_same_adds_give_the_same_bytes),
	};

	return cmocka_run_group_tests_name("filter", tests, NULL, NULL);
}
