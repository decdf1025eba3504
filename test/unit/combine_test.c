/*-------------------------------------------------------------------------
 *
 * combine_test.c
 *	  Union and union all: one result, whatever the order and grouping.
 *
 *-------------------------------------------------------------------------
 */
#include "support.h"

static uint64_t random_state = 1;

static Value
Copy(const Value *value)
{
	Value		copy;

	/* As the core would allocate it, so that it is freed the same way. */
	copy.bytes = (uint8_t *) palloc(VARHDRSZ + value->length) + VARHDRSZ;
	memcpy(copy.bytes, value->bytes, value->length);
	copy.length = value->length;
	return copy;
}

/* The same filters in a random order, combined in random groups. */
static Value
CombineSomehow(CuckooOperation operation, const Value *values, int count)
{
	Value	   *left = Allocate((size_t) count * sizeof(Value));
	Value		result;

	for (int i = 0; i < count; i++)
		left[i] = count == 1 ? Combine(operation, values, 1) : Copy(&values[i]);
	while (count > 1)
	{
		int			group = 2 + (int) RandomBelow(&random_state,
												  (uint32_t) (count < 5 ? count - 1 : 4));

		/* Combine some of them, chosen at random, into one. */
		for (int i = 0; i < group; i++)
		{
			int			j = i + (int) RandomBelow(&random_state, (uint32_t) (count - i));
			Value		swapped = left[i];

			left[i] = left[j];
			left[j] = swapped;
		}
		result = Combine(operation, left, group);
		for (int i = 0; i < group; i++)
			FreeValue(&left[i]);
		left[0] = result;
		memmove(left + 1, left + group, (size_t) (count - group) * sizeof(Value));
		count -= group - 1;
	}
	result = left[0];
	free(left);
	return result;
}

static void
FreeAll(Value *values, int count)
{
	for (int i = 0; i < count; i++)
		FreeValue(&values[i]);
}

/* ---------------------------------------------------------- same bytes */

static void
any_order_and_grouping_of_the_same_filters_gives_the_same_bytes(void **state)
{
	static const uint64_t capacities[] = {0, 40, 700, 3000};

	(void) state;
	for (int round = 0; round < 150; round++)
	{
		static const double rates[] = {0.1, 0.01, 0.001, 1e-6};
		Value		values[10];
		int			count = 1 + (int) RandomBelow(&random_state, 10);
		double		fpr = rates[RandomBelow(&random_state, 4)];

		for (int i = 0; i < count; i++)
		{
			uint64_t	first = RandomBelow(&random_state, 2000);
			uint64_t	keys = RandomBelow(&random_state, 1500);
			uint64_t	copies = RandomBelow(&random_state, 30);

			/*
			 * Sometimes another rate or capacity, and therefore other shapes
			 */
			values[i] = ValueOfKeys(1, first, first + keys,
									RandomBelow(&random_state, 5) == 0 ? rates[0] : fpr,
									capacities[RandomBelow(&random_state, 4)]);
			/* Copies up to pinned classes, and growth by adding */
			for (uint64_t k = 0; k < copies; k++)
			{
				CuckooChange change = AddHash(&values[i], KeyHash(1, first + k % 4));

				assert_true(change == CUCKOO_CHANGED || change == CUCKOO_PINNED);
			}
		}
		for (int operation = CUCKOO_UNION; operation <= CUCKOO_UNION_ALL; operation++)
		{
			Value		whole = Combine((CuckooOperation) operation, values, count);

			for (int again = 0; again < 3; again++)
			{
				Value		other = CombineSomehow((CuckooOperation) operation, values, count);

				if (!SameBytes(&whole, &other))
					fail_msg("round %d: %d filters, operation %d", round, count, operation);
				FreeValue(&other);
			}
			FreeValue(&whole);
		}
		FreeAll(values, count);
	}
}

/* With the capacity specified: whole and parts, down to parts of one key. */
static void
union_all_of_disjoint_parts_gives_the_bytes_of_the_whole(void **state)
{
	static const uint64_t sizes[] = {0, 1, 2, 20, 500, 749, 760, 1000, 5000};
	static const double rates[] = {0.1, 0.001, 2e-8};

	(void) state;
	for (size_t s = 0; s < lengthof(sizes); s++)
	{
		for (size_t r = 0; r < lengthof(rates); r++)
		{
			uint64_t	capacity = sizes[s] < 1000 ? 1000 : sizes[s];
			Value		whole = ValueOfKeys(1, 0, sizes[s], rates[r], capacity);

			for (int round = 0; round < 4; round++)
			{
				Value		parts[40];
				Value		both;
				int			count = 0;
				uint64_t	at = 0;

				for (; count < 39; count++)
				{
					uint64_t	left = sizes[s] - at;
					uint64_t	keys = RandomBelow(&random_state,
												   (uint32_t) (left < 300 ? left + 1 : 300));

					parts[count] = ValueOfKeys(1, at, at + keys, rates[r], capacity);
					at += keys;
				}
				parts[count++] = ValueOfKeys(1, at, sizes[s], rates[r], capacity);
				both = CombineSomehow(CUCKOO_UNION_ALL, parts, count);
				assert_true(SameBytes(&both, &whole));
				FreeValue(&both);
				FreeAll(parts, count);
			}
			FreeValue(&whole);
		}
	}
}

static void
union_all_of_parts_of_one_key_gives_the_bytes_of_the_whole(void **state)
{
	const int	count = 900;
	Value	   *parts = Allocate((size_t) count * sizeof(Value));
	Value		whole = ValueOfKeys(1, 0, (uint64_t) count, 0.001, 1000);
	Value		both;

	(void) state;
	for (int i = 0; i < count; i++)
		parts[i] = ValueOfKeys(1, (uint64_t) i, (uint64_t) i + 1, 0.001, 1000);
	both = CombineSomehow(CUCKOO_UNION_ALL, parts, count);
	assert_true(SameBytes(&both, &whole));
	FreeValue(&both);
	both = Combine(CUCKOO_UNION_ALL, parts, count);
	assert_true(SameBytes(&both, &whole));
	FreeValue(&both);
	FreeAll(parts, count);
	FreeValue(&whole);
	free(parts);
}

/*
 * Single additions leave a dense table not canonical.  A combination with
 * nothing has its bytes, and one with more items is canonical.
 */
static void
a_combination_with_empty_filters_has_the_bytes_of_the_one_that_is_not(void **state)
{
	Value		added = ValueOfHashes(NULL, 0, 0.001, 1000);
	Value		empty = ValueOfHashes(NULL, 0, 0.001, 1000);
	Value		built = ValueOfKeys(1, 0, 900, 0.001, 1000);
	Value		rest = ValueOfKeys(1, 900, 910, 0.001, 1000);
	Value		whole = ValueOfKeys(1, 0, 910, 0.001, 1000);
	Value		values[3];
	Value		both;

	(void) state;
	AddKeys(&added, 1, 0, 800);
	AddKeys(&added, 1, 800, 900);
	assert_false(SameBytes(&added, &built));
	values[0] = empty;
	values[1] = added;
	values[2] = empty;
	for (int operation = CUCKOO_UNION; operation <= CUCKOO_UNION_ALL; operation++)
	{
		both = Combine((CuckooOperation) operation, values + 1, 1);
		assert_true(SameBytes(&both, &added));
		FreeValue(&both);
		both = Combine((CuckooOperation) operation, values, 3);
		assert_true(SameBytes(&both, &added));
		FreeValue(&both);
	}
	both = CombineTwo(CUCKOO_UNION_ALL, &added, &rest);
	assert_true(SameBytes(&both, &whole));
	FreeValue(&both);
	FreeValue(&added);
	FreeValue(&empty);
	FreeValue(&built);
	FreeValue(&rest);
	FreeValue(&whole);
}

/* A dense table of less than three quarters is what removals have left. */
static void
a_combination_is_sparse_below_three_quarters_also_with_nothing(void **state)
{
	Value		value = ValueOfKeys(1, 0, 900, 0.001, 1000);
	Value		sparse = ValueOfKeys(1, 0, 600, 0.001, 1000);
	Value		again;

	(void) state;
	RemoveKeys(&value, 1, 600, 900);
	assert_int_equal(Open(&value).tables[0].representation, CUCKOO_DENSE);
	again = Combine(CUCKOO_UNION, &value, 1);
	assert_true(SameBytes(&again, &sparse));
	FreeValue(&again);
	FreeValue(&value);
	FreeValue(&sparse);
}

/* The codes in all runs of a combination. */
static uint64_t
CodesKept(const CuckooCombination *combination)
{
	uint64_t	codes = 0;

	for (int i = 0; i < combination->pool_count; i++)
	{
		for (int run = 0; run < combination->pools[i]->run_count; run++)
			codes += combination->pools[i]->runs[run].count;
	}
	return codes;
}

static void
a_combination_may_be_made_and_go_on(void **state)
{
	CuckooCombination combination;
	Value		parts[20];

	(void) state;
	CuckooCombinationInit(&combination, CUCKOO_UNION_ALL);
	for (int i = 0; i < 20; i++)
	{
		CuckooFilter part;
		CuckooFilter filter;
		uint8_t    *bytes;
		Value		made;
		Value		expected;

		parts[i] = ValueOfKeys(1, (uint64_t) i * 50, (uint64_t) i * 50 + 50, 0.001, 1000);
		part = Open(&parts[i]);
		assert_int_equal(CuckooCombinationAdd(&combination, &part), CUCKOO_NO_CONFLICT);
		bytes = CuckooCombinationMake(&combination, &filter);
		made = Valid(bytes, &filter);
		expected = ValueOfKeys(1, 0, (uint64_t) i * 50 + 50, 0.001, 1000);
		assert_true(SameBytes(&made, &expected));
		FreeValue(&made);
		FreeValue(&expected);
	}
	/* It keeps distinct classes, not everything that was added. */
	assert_in_range(CodesKept(&combination), 990, 1000);
	CuckooCombinationRelease(&combination);
	FreeAll(parts, 20);
}

/* --------------------------------------------------------------- counts */

static int
CopiesOf(const Value *value, uint64_t key)
{
	CuckooFilter filter = Open(value);

	return CuckooFilterCount(&filter, KeyHash(1, key));
}

/* Key i has i copies, up to eight. */
static Value
ValueOfCopies(uint64_t most)
{
	Value		value = ValueOfHashes(NULL, 0, 1e-6, 1000);

	for (uint64_t key = 1; key <= 8; key++)
	{
		for (uint64_t copy = 0; copy < (key < most ? key : most); copy++)
			assert_int_equal(AddHash(&value, KeyHash(1, key)), CUCKOO_CHANGED);
	}
	return value;
}

static void
a_union_takes_the_larger_count_and_union_all_the_sum_up_to_eight(void **state)
{
	Value		some = ValueOfCopies(8);
	Value		few = ValueOfCopies(3);
	Value		united = CombineTwo(CUCKOO_UNION, &some, &few);
	Value		both = CombineTwo(CUCKOO_UNION_ALL, &some, &few);
	uint64_t	items = 0;

	(void) state;
	for (uint64_t key = 1; key <= 8; key++)
	{
		uint64_t	sum = key + (key < 3 ? key : 3);

		assert_int_equal(CopiesOf(&united, key), key);
		assert_int_equal(CopiesOf(&both, key), sum < 8 ? sum : 8);
		items += sum < 8 ? sum : 8;
	}
	assert_int_equal(Open(&united).items, 36);
	assert_int_equal(Open(&both).items, items);
	FreeValue(&some);
	FreeValue(&few);
	FreeValue(&united);
	FreeValue(&both);
}

static void
a_union_with_itself_changes_no_count_and_union_all_doubles_them(void **state)
{
	Value		value = ValueOfKeys(1, 0, 1000, 1e-6, 1000);
	Value		united = CombineTwo(CUCKOO_UNION, &value, &value);
	Value		both = CombineTwo(CUCKOO_UNION_ALL, &value, &value);

	(void) state;
	assert_int_equal(Open(&united).items, 1000);
	assert_int_equal(Open(&both).items, 2000);
	for (uint64_t key = 0; key < 1000; key++)
	{
		assert_int_equal(CopiesOf(&united, key), 1);
		assert_int_equal(CopiesOf(&both, key), 2);
	}
	FreeValue(&value);
	FreeValue(&united);
	FreeValue(&both);
}

/* ----------------------------------------------------------------- tables */

static void
tables_of_one_shape_become_one_also_past_its_entries(void **state)
{
	Value		values[10];
	Value		united;
	CuckooFilter filter;

	(void) state;
	for (uint64_t i = 0; i < 10; i++)
		values[i] = ValueOfKeys(1, 100 * i, 100 * i + 100, 0.001, 100);
	united = Combine(CUCKOO_UNION, values, 10);
	filter = Open(&united);
	assert_int_equal(filter.table_count, 1);
	assert_true(filter.items > 950 && filter.items > CuckooShapeEntries(&filter.tables[0].shape));
	assert_int_equal(filter.tables[0].representation, CUCKOO_SPARSE);
	assert_int_equal(filter.capacity, 100);
	assert_int_equal(CountFound(&united, 1, 0, 1000), 1000);

	/* An ordinary table: keys cannot be added to it, but removed from it. */
	assert_int_equal(AddHash(&united, KeyHash(1, 5000)), CUCKOO_CHANGED);
	assert_int_equal(Open(&united).table_count, 2);
	FreeValue(&united);

	united = Combine(CUCKOO_UNION_ALL, values, 10);
	RemoveKeys(&united, 1, 0, 900);
	assert_int_equal(CountFound(&united, 1, 900, 1000), 100);
	FreeValue(&united);
	FreeAll(values, 10);
}

static void
a_combination_is_dense_from_three_quarters_on(void **state)
{
	CuckooShape shape;
	uint64_t	from;

	(void) state;
	assert_true(CuckooShapeFor(&shape, 1000, 20));
	from = CuckooShapeEntries(&shape) * 3 / 4;
	for (int operation = CUCKOO_UNION; operation <= CUCKOO_UNION_ALL; operation++)
	{
		for (uint64_t keys = from - 1; keys <= from; keys++)
		{
			Value		left = ValueOfKeys(1, 0, 400, 1e-5, 1000);
			Value		right = ValueOfKeys(1, 400, keys, 1e-5, 1000);
			Value		both = CombineTwo((CuckooOperation) operation, &left, &right);

			assert_int_equal(Open(&both).items, keys);
			assert_int_equal(Open(&both).tables[0].representation,
							 keys < from ? CUCKOO_SPARSE : CUCKOO_DENSE);
			FreeValue(&left);
			FreeValue(&right);
			FreeValue(&both);
		}
	}
}

static void
tables_of_different_shapes_stand_side_by_side_in_their_order(void **state)
{
	static const uint64_t capacities[] = {3000, 50, 0, 700};
	Value		values[4];
	Value		united;
	CuckooFilter filter;

	(void) state;
	for (uint64_t i = 0; i < 4; i++)
		values[i] = ValueOfKeys(1, 100 * i, 100 * i + 40, 0.001, capacities[i]);
	united = Combine(CUCKOO_UNION, values, 4);
	filter = Open(&united);
	assert_int_equal(filter.table_count, 4);
	for (int i = 1; i < 4; i++)
		assert_true(CuckooShapeOrder(&filter.tables[i - 1].shape, &filter.tables[i].shape) < 0);
	for (uint64_t i = 0; i < 4; i++)
		assert_int_equal(CountFound(&united, 1, 100 * i, 100 * i + 40), 40);
	FreeValue(&united);
	FreeAll(values, 4);
}

static void
empty_tables_are_kept(void **state)
{
	Value		empty = ValueOfHashes(NULL, 0, 0.001, 50);
	Value		some = ValueOfKeys(1, 0, 40, 0.001, 5000);

	(void) state;
	for (int operation = CUCKOO_UNION; operation <= CUCKOO_UNION_ALL; operation++)
	{
		Value		both = CombineTwo((CuckooOperation) operation, &some, &empty);
		CuckooFilter filter = Open(&both);

		assert_int_equal(filter.table_count, 2);
		assert_int_equal(filter.tables[0].items, 0);
		assert_int_equal(filter.tables[1].items, 40);
		FreeValue(&both);
	}
	FreeValue(&empty);
	FreeValue(&some);
}

static void
sixteen_shapes_combine_and_a_seventeenth_is_refused(void **state)
{
	CuckooCombination combination;
	CuckooFilter filter;
	uint8_t    *bytes;
	Value		made;
	Value		same;

	(void) state;
	CuckooCombinationInit(&combination, CUCKOO_UNION);
	for (uint64_t i = 0; i < 17; i++)
	{
		Value		value = ValueOfKeys(1, 10 * i, 10 * i + 10, 0.001, 100 + 50 * i);
		CuckooFilter part = Open(&value);

		assert_int_equal(CuckooCombinationAdd(&combination, &part),
						 i < 16 ? CUCKOO_NO_CONFLICT : CUCKOO_TOO_MANY_TABLES);
		FreeValue(&value);
	}
	/* The combination is as it was: without the last, and its capacity. */
	bytes = CuckooCombinationMake(&combination, &filter);
	made = Valid(bytes, &filter);
	assert_int_equal(filter.table_count, 16);
	assert_int_equal(filter.capacity, 850);
	assert_int_equal(CountFound(&made, 1, 0, 160), 160);

	/* Shapes that it has already can still be combined. */
	same = ValueOfKeys(1, 1000, 1010, 0.001, 100);
	{
		CuckooFilter part = Open(&same);

		assert_int_equal(CuckooCombinationAdd(&combination, &part), CUCKOO_NO_CONFLICT);
	}
	FreeValue(&same);
	FreeValue(&made);
	CuckooCombinationRelease(&combination);
}

/* ---------------------------------------------------------------- headers */

static CuckooHeader
Header(double fpr, uint64_t capacity, uint64_t seed, CuckooKeyType key_type, uint64_t items)
{
	CuckooHeader filter;

	memset(&filter, 0, sizeof(filter));
	filter.fpr = fpr;
	filter.capacity = capacity;
	filter.seed = seed;
	filter.key_type = (uint8_t) key_type;
	filter.signature = key_type == CUCKOO_KEY_ARRAY ? 77 : 0;
	filter.items = items;
	return filter;
}

static void
the_result_has_the_smaller_rate_and_the_larger_capacity(void **state)
{
	CuckooHeader a = Header(0.01, 500, 3, CUCKOO_KEY_TEXT, 1);
	CuckooHeader b = Header(0.001, 100, 3, CUCKOO_KEY_TEXT, 1);
	CuckooHeader c = Header(0.1, 0, 3, CUCKOO_KEY_TEXT, 1);
	CuckooHeader r;

	(void) state;
	for (int operation = CUCKOO_UNION; operation <= CUCKOO_UNION_ALL; operation++)
	{
		for (int order = 0; order < 2; order++)
		{
			assert_int_equal(CuckooCombineHeaders((CuckooOperation) operation, order ? &a : &b,
												  order ? &b : &a, &r), CUCKOO_NO_CONFLICT);
			assert_true(r.fpr == 0.001 && r.capacity == 500 && r.seed == 3);
			assert_int_equal(r.key_type, CUCKOO_KEY_TEXT);
			assert_int_equal(CuckooCombineHeaders((CuckooOperation) operation, order ? &a : &c,
												  order ? &c : &a, &r), CUCKOO_NO_CONFLICT);
			assert_true(r.fpr == 0.01 && r.capacity == 500);
		}
	}
}

static void
an_unset_filter_has_no_say(void **state)
{
	CuckooHeader set = Header(0.01, 500, 3, CUCKOO_KEY_ARRAY, 9);
	CuckooHeader unset;
	CuckooHeader r;

	(void) state;
	memset(&unset, 0, sizeof(unset));
	unset.flags = CUCKOO_FLAG_UNSET;
	for (int operation = CUCKOO_UNION; operation <= CUCKOO_UNION_ALL; operation++)
	{
		for (int order = 0; order < 2; order++)
		{
			assert_int_equal(CuckooCombineHeaders((CuckooOperation) operation,
												  order ? &set : &unset,
												  order ? &unset : &set, &r),
							 CUCKOO_NO_CONFLICT);
			assert_true(r.fpr == 0.01 && r.capacity == 500 && r.seed == 3);
			assert_int_equal(r.key_type, CUCKOO_KEY_ARRAY);
			assert_int_equal(r.signature, 77);
			assert_int_equal(r.flags, 0);
		}
		assert_int_equal(CuckooCombineHeaders((CuckooOperation) operation, &unset, &unset, &r),
						 CUCKOO_NO_CONFLICT);
		assert_int_equal(r.flags, CUCKOO_FLAG_UNSET);
	}
}

static void
nothing_and_unset_filters_combine_to_an_unset_one(void **state)
{
	CuckooFilter unset;
	uint8_t		bytes[CUCKOO_HEADER_BYTES + CUCKOO_TAIL_BYTES];
	Value		values[2];
	Value		none = Combine(CUCKOO_UNION, NULL, 0);
	Value		two;

	(void) state;
	CuckooFilterInitUnset(&unset);
	CuckooLayOut(&unset, bytes);
	values[0].bytes = values[1].bytes = bytes;
	values[0].length = values[1].length = sizeof(bytes);
	two = Combine(CUCKOO_UNION_ALL, values, 2);
	assert_true(SameBytes(&none, &values[0]));
	assert_true(SameBytes(&two, &values[0]));
	FreeValue(&none);
	FreeValue(&two);
}

static void
another_seed_or_key_type_or_signature_is_a_conflict(void **state)
{
	CuckooHeader a = Header(0.01, 500, 3, CUCKOO_KEY_TEXT, 1);
	CuckooHeader seed = Header(0.01, 500, 4, CUCKOO_KEY_TEXT, 1);
	CuckooHeader type = Header(0.01, 500, 3, CUCKOO_KEY_BYTEA, 1);
	CuckooHeader array = Header(0.01, 500, 3, CUCKOO_KEY_ARRAY, 1);
	CuckooHeader other = Header(0.01, 500, 3, CUCKOO_KEY_ARRAY, 1);
	CuckooHeader both = Header(0.01, 500, 4, CUCKOO_KEY_BYTEA, 1);
	CuckooHeader r;

	(void) state;
	other.signature = 78;
	for (int operation = CUCKOO_UNION; operation <= CUCKOO_UNION_ALL; operation++)
	{
		CuckooOperation op = (CuckooOperation) operation;

		assert_int_equal(CuckooCombineHeaders(op, &a, &seed, &r), CUCKOO_OTHER_SEED);
		assert_int_equal(CuckooCombineHeaders(op, &a, &type, &r), CUCKOO_OTHER_KEY_TYPE);
		assert_int_equal(CuckooCombineHeaders(op, &array, &other, &r), CUCKOO_OTHER_KEY_TYPE);
		assert_int_equal(CuckooCombineHeaders(op, &a, &both, &r), CUCKOO_OTHER_KEY_TYPE);
	}
}

static void
a_filter_without_keys_takes_the_key_type_of_the_other(void **state)
{
	CuckooHeader none = Header(0.01, 500, 3, CUCKOO_KEY_NONE, 0);
	CuckooHeader array = Header(0.01, 500, 3, CUCKOO_KEY_ARRAY, 1);
	CuckooHeader r;

	(void) state;
	for (int order = 0; order < 2; order++)
	{
		assert_int_equal(CuckooCombineHeaders(CUCKOO_UNION, order ? &none : &array,
											  order ? &array : &none, &r), CUCKOO_NO_CONFLICT);
		assert_int_equal(r.key_type, CUCKOO_KEY_ARRAY);
		assert_int_equal(r.signature, 77);
	}
	/* But not its seed. */
	none.seed = 4;
	assert_int_equal(CuckooCombineHeaders(CUCKOO_UNION, &none, &array, &r), CUCKOO_OTHER_SEED);
}

static void
a_union_of_two_filters_with_items_is_not_removable(void **state)
{
	CuckooHeader some = Header(0.01, 500, 3, CUCKOO_KEY_TEXT, 5);
	CuckooHeader empty = Header(0.01, 500, 3, CUCKOO_KEY_TEXT, 0);
	CuckooHeader marked = Header(0.01, 500, 3, CUCKOO_KEY_TEXT, 0);
	CuckooHeader r;

	(void) state;
	marked.flags = CUCKOO_FLAG_NOT_REMOVABLE;
	CuckooCombineHeaders(CUCKOO_UNION, &some, &some, &r);
	assert_int_equal(r.flags, CUCKOO_FLAG_NOT_REMOVABLE);
	CuckooCombineHeaders(CUCKOO_UNION, &some, &empty, &r);
	assert_int_equal(r.flags, 0);
	CuckooCombineHeaders(CUCKOO_UNION, &empty, &some, &r);
	assert_int_equal(r.flags, 0);
	CuckooCombineHeaders(CUCKOO_UNION_ALL, &some, &some, &r);
	assert_int_equal(r.flags, 0);
	for (int operation = CUCKOO_UNION; operation <= CUCKOO_UNION_ALL; operation++)
	{
		CuckooCombineHeaders((CuckooOperation) operation, &marked, &empty, &r);
		assert_int_equal(r.flags, CUCKOO_FLAG_NOT_REMOVABLE);
		CuckooCombineHeaders((CuckooOperation) operation, &some, &marked, &r);
		assert_int_equal(r.flags, CUCKOO_FLAG_NOT_REMOVABLE);
	}
}

static void
a_conflict_leaves_the_combination_as_it_was(void **state)
{
	Value		value = ValueOfKeys(1, 0, 500, 0.001, 1000);
	CuckooFilter part = Open(&value);
	CuckooFilter other = part;
	CuckooCombination combination;
	CuckooFilter filter;
	uint8_t    *bytes;
	Value		made;

	(void) state;
	CuckooCombinationInit(&combination, CUCKOO_UNION_ALL);
	assert_int_equal(CuckooCombinationAdd(&combination, &part), CUCKOO_NO_CONFLICT);
	other.seed = 1;
	other.capacity = 5000;
	assert_int_equal(CuckooCombinationAdd(&combination, &other), CUCKOO_OTHER_SEED);
	other.seed = 0;
	other.key_type = CUCKOO_KEY_TEXT;
	assert_int_equal(CuckooCombinationAdd(&combination, &other), CUCKOO_OTHER_KEY_TYPE);
	bytes = CuckooCombinationMake(&combination, &filter);
	made = Valid(bytes, &filter);
	assert_true(SameBytes(&made, &value));
	FreeValue(&made);
	CuckooCombinationRelease(&combination);
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
		cmocka_unit_test(any_order_and_grouping_of_the_same_filters_gives_the_same_bytes),
		cmocka_unit_test(union_all_of_disjoint_parts_gives_the_bytes_of_the_whole),
		cmocka_unit_test(union_all_of_parts_of_one_key_gives_the_bytes_of_the_whole),
		cmocka_unit_test(a_combination_with_empty_filters_has_the_bytes_of_the_one_that_is_not),
		cmocka_unit_test(a_combination_is_sparse_below_three_quarters_also_with_nothing),
		cmocka_unit_test(a_combination_may_be_made_and_go_on),
		cmocka_unit_test(a_union_takes_the_larger_count_and_union_all_the_sum_up_to_eight),
		cmocka_unit_test(a_union_with_itself_changes_no_count_and_union_all_doubles_them),
		cmocka_unit_test(tables_of_one_shape_become_one_also_past_its_entries),
		cmocka_unit_test(a_combination_is_dense_from_three_quarters_on),
		cmocka_unit_test(tables_of_different_shapes_stand_side_by_side_in_their_order),
		cmocka_unit_test(empty_tables_are_kept),
		cmocka_unit_test(sixteen_shapes_combine_and_a_seventeenth_is_refused),
		cmocka_unit_test(the_result_has_the_smaller_rate_and_the_larger_capacity),
		cmocka_unit_test(an_unset_filter_has_no_say),
		cmocka_unit_test(nothing_and_unset_filters_combine_to_an_unset_one),
		cmocka_unit_test(another_seed_or_key_type_or_signature_is_a_conflict),
		cmocka_unit_test(a_filter_without_keys_takes_the_key_type_of_the_other),
		cmocka_unit_test(a_union_of_two_filters_with_items_is_not_removable),
		cmocka_unit_test(a_conflict_leaves_the_combination_as_it_was),
	};

	return cmocka_run_group_tests_name("combine", tests, NULL, CountAreas);
}
