/*-------------------------------------------------------------------------
 *
 * combine_test.c
 *	  Union and union all: one result, whatever the order and grouping.
 *	  Intersection: the borders of classes.
 *
 * model_test.c compares what combinations and intersections hold, table by
 * table, and which of them have which shape.
 *
 *-------------------------------------------------------------------------
 */
#include "support.h"

#define for_each_operation(operation) \
	for (CuckooOperation operation = CUCKOO_UNION; operation <= CUCKOO_UNION_ALL; operation++)

/* The same filters in a random order, combined in random groups. */
static Value
CombineSomehow(CuckooOperation operation, const Value *values, int count)
{
	Value	   *left = Duplicate(values, (size_t) count * sizeof(Value));
	Value		result;

	while (count > 1)
	{
		int			group = 2 + (int) Below((uint32_t) (count < 5 ? count - 1 : 4));

		/* Combine some of them, chosen at random, into one. */
		for (int i = 0; i < group; i++)
		{
			int			j = i + (int) Below((uint32_t) (count - i));
			Value		swapped = left[i];

			left[i] = left[j];
			left[j] = swapped;
		}
		left[0] = Combine(operation, left, group);
		memmove(left + 1, left + group, (size_t) (count - group) * sizeof(Value));
		count -= group - 1;
	}
	result = left[0];
	pfree(left);
	return result;
}

/* ---------------------------------------------------------- same bytes */

TEST(any_order_and_grouping_of_the_same_filters_gives_the_same_bytes)
{
	static const uint64_t capacities[] = {0, 40, 700, 3000};
	static const double rates[] = {0.1, 0.01, 0.001, 1e-6};

	for (int round = 0; round < 150; round++)
	{
		Value		values[10];
		int			count = 1 + (int) Below(10);
		double		fpr = rates[Below(4)];

		for (int i = 0; i < count; i++)
		{
			uint64_t	first = Below(2000);
			uint64_t	keys = Below(1500);
			uint64_t	copies = Below(30);

			/*
			 * Sometimes another rate or capacity, and therefore other shapes
			 */
			values[i] = ValueOfKeys(1, first, first + keys, Below(5) == 0 ? rates[0] : fpr,
									capacities[Below(4)]);
			/* Copies up to pinned classes, and growth by adding */
			for (uint64_t k = 0; k < copies; k++)
				assert_true(AddHash(&values[i], KeyHash(1, first + k % 4)) <= CUCKOO_UNCHANGED);
		}
		for_each_operation(operation)
		{
			Value		whole = Combine(operation, values, count);

			for (int again = 0; again < 3; again++)
			{
				Value		other = count == 1 ? Combine(operation, values, 1) :
					CombineSomehow(operation, values, count);

				if (!SameBytes(&whole, &other))
					fail_msg("round %d: %d filters, operation %d", round, count, operation);
			}
		}
		FreeAll();
	}
}

/* With the capacity specified: whole and parts, down to parts of one key. */
TEST(union_all_of_disjoint_parts_gives_the_bytes_of_the_whole)
{
	static const uint64_t sizes[] = {0, 1, 2, 20, 500, 749, 760, 900, 1000, 5000};
	static const double rates[] = {0.1, 0.001, 2e-8};

	for (size_t s = 0; s < lengthof(sizes); s++)
	{
		for (size_t r = 0; r < lengthof(rates); r++)
		{
			uint64_t	capacity = sizes[s] < 1000 ? 1000 : sizes[s];
			bool		single = sizes[s] == 900;

			for (int round = 0; round < 4; round++)
			{
				Value		whole = ValueOfKeys(1, 0, sizes[s], rates[r], capacity);
				Value		parts[900];
				Value		both;
				int			count = 0;
				uint64_t	at = 0;

				while (count < (single ? 899 : 39))
				{
					uint64_t	left = sizes[s] - at;
					uint64_t	keys = single ? 1 : Below(left < 300 ? (uint32_t) left + 1 : 300);

					parts[count++] = ValueOfKeys(1, at, at + keys, rates[r], capacity);
					at += keys;
				}
				parts[count++] = ValueOfKeys(1, at, sizes[s], rates[r], capacity);
				both = Combine(CUCKOO_UNION_ALL, parts, count);
				assert_true(SameBytes(&both, &whole));
				both = CombineSomehow(CUCKOO_UNION_ALL, parts, count);
				assert_true(SameBytes(&both, &whole));
				FreeAll();
			}
		}
	}
}

TEST(sixteen_shapes_combine_and_a_seventeenth_does_not)
{
	CuckooCombination combination;

	CuckooCombinationInit(&combination, CUCKOO_UNION);
	for (uint64_t i = 0; i < 17; i++)
	{
		Value		value = ValueOfKeys(1, i, i + 1, 0.001, 100 + 50 * i);
		CuckooFilter filter = Open(&value);

		assert_int_equal(CuckooCombinationAdd(&combination, &filter),
						 i < 16 ? CUCKOO_NO_CONFLICT : CUCKOO_TOO_MANY_TABLES);
	}
	CuckooCombinationRelease(&combination);
}

/* ----------------------------------------------------------- intersection */

static Value
Intersect(const Value *left, const Value *right)
{
	CuckooFilter f = Open(left);
	CuckooFilter g = Open(right);
	CuckooFilter both;
	uint8_t    *bytes;

	assert_int_equal(CuckooIntersect(&f, &g, &both, &bytes), CUCKOO_NO_CONFLICT);
	return Valid(bytes, &both);
}

/*
 * A pair of buckets of one shape is two of the other, so their last classes end
 * with the same hash, and their first begin with the same.  Each of the two is
 * kept once, because that with more bits has the smaller rate.
 */
TEST(classes_that_only_touch_have_no_hash_in_common)
{
	for (int bits = 8; bits <= 12; bits += 4)
	{
		CuckooShape shape = CuckooShapeOf(1, 8, 10);
		CuckooShape halves = CuckooShapeOf(1, 16, bits);
		uint64_t	most = halves.fingerprints;
		const uint64_t codes[] = {1 << 10 | 1023, 2 << 10 | 1};
		const uint64_t half_codes[] = {UINT64_C(3) << bits | most, UINT64_C(4) << bits | 1};

		for (int i = 0; i < 4; i++)
		{
			Value		value = ValueOfCodes(&shape, &codes[i & 1], 1, 0.01, 20);
			Value		half = ValueOfCodes(&halves, &half_codes[i >> 1], 1, 0.01, 20);
			Value		both = Intersect(&value, &half);

			assert_int_equal(Open(&both).tables[0].shape.bits, bits < 10 ? 10 : bits);
			assert_int_equal(Open(&both).header.items, (i & 1) == i >> 1);
		}
	}
}

/* Overlaps are counted in a byte, up to eight. */
TEST(a_class_that_256_items_overlap_is_kept)
{
	CuckooShape shape = CuckooShapeOf(1, 8, 10);
	CuckooShape finer = CuckooShapeOf(1, 8, 16);
	const uint64_t code = 1 << 10 | 512;
	uint64_t	codes[256];
	Value		value = ValueOfCodes(&shape, &code, 1, 0.01, 20);
	Value		many;
	Value		both;

	for (uint64_t i = 0; i < lengthof(codes); i++)
		codes[i] = 1 << 16 | (32740 + i / CUCKOO_MAX_COPIES);
	many = ValueOfCodes(&finer, codes, lengthof(codes), 0.01, 20);
	both = Intersect(&value, &many);
	assert_int_equal(Open(&both).tables[0].shape.bits, 10);
	assert_int_equal(Open(&both).header.items, 1);
}

/* ---------------------------------------------------------------- headers */

/* Filters with these fields, combined in both orders */
TEST(headers_combine_to_the_smaller_rate_the_larger_capacity_and_all_flags)
{
#define OTHER_SEED		.fpr = 0.01, .capacity = 500, .seed = 4
#define SET				.fpr = 0.01, .capacity = 500, .seed = 3
#define NOT_REMOVABLE	.flags = CUCKOO_FLAG_NOT_REMOVABLE, SET
#define UNSET			.flags = CUCKOO_FLAG_UNSET
#define TEXT			.kind = {CUCKOO_KEY_TEXT, 0}
#define BYTEA			.kind = {CUCKOO_KEY_BYTEA, 0}
#define ARRAY			.kind = {CUCKOO_KEY_ARRAY, 77}
#define OTHER_ARRAY		.kind = {CUCKOO_KEY_ARRAY, 78}
#define ITEMS			.items = 5
#define OK				CUCKOO_NO_CONFLICT
#define BOTH			(1 << CUCKOO_UNION | 1 << CUCKOO_UNION_ALL)
	static const struct
	{
		int			operations;
		CuckooHeader a;
		CuckooHeader b;
		CuckooConflict conflict;
		CuckooHeader result;	/* without the items */
	}			cases[] = {
		{BOTH, {SET, TEXT}, {.fpr = 0.001, .capacity = 100, .seed = 3, TEXT, ITEMS}, OK,
		{.fpr = 0.001, .capacity = 500, .seed = 3, TEXT}},
		{BOTH, {SET, TEXT}, {.fpr = 0.1, .seed = 3, TEXT, ITEMS}, OK, {SET, TEXT}},
		/* An unset filter has no say. */
		{BOTH, {SET, ARRAY, ITEMS}, {UNSET}, OK, {SET, ARRAY}},
		{BOTH, {UNSET}, {UNSET}, OK, {UNSET}},
		/* One without keys takes the key type of the other, but not its seed. */
		{BOTH, {SET}, {SET, ARRAY, ITEMS}, OK, {SET, ARRAY}},
		{BOTH, {OTHER_SEED}, {SET, ARRAY, ITEMS}, CUCKOO_OTHER_SEED, {0}},
		{BOTH, {SET, TEXT, ITEMS}, {OTHER_SEED, TEXT, ITEMS}, CUCKOO_OTHER_SEED, {0}},
		{BOTH, {SET, TEXT, ITEMS}, {SET, BYTEA, ITEMS}, CUCKOO_OTHER_KEY_TYPE, {0}},
		{BOTH, {SET, ARRAY, ITEMS}, {SET, OTHER_ARRAY, ITEMS}, CUCKOO_OTHER_KEY_TYPE, {0}},
		{BOTH, {SET, TEXT, ITEMS}, {OTHER_SEED, BYTEA, ITEMS}, CUCKOO_OTHER_KEY_TYPE, {0}},
		/* After a union of two with items, two keys may share a copy. */
		{1 << CUCKOO_UNION, {SET, TEXT, ITEMS}, {SET, TEXT, ITEMS}, OK, {NOT_REMOVABLE, TEXT}},
		{1 << CUCKOO_UNION_ALL, {SET, TEXT, ITEMS}, {SET, TEXT, ITEMS}, OK, {SET, TEXT}},
		{BOTH, {SET, TEXT, ITEMS}, {SET, TEXT}, OK, {SET, TEXT}},
		{BOTH, {NOT_REMOVABLE, TEXT}, {SET, TEXT}, OK, {NOT_REMOVABLE, TEXT}},
		{BOTH, {NOT_REMOVABLE, TEXT}, {SET, TEXT, ITEMS}, OK, {NOT_REMOVABLE, TEXT}},
	};

	for (size_t i = 0; i < lengthof(cases); i++)
	{
		for (int way = 0; way < 4; way++)
		{
			CuckooOperation operation = (CuckooOperation) (way >> 1);
			const CuckooHeader *wanted = &cases[i].result;
			CuckooHeader result;
			CuckooConflict conflict;

			if (!(cases[i].operations >> operation & 1))
				continue;
			conflict = CuckooCombineHeaders(operation,
											way & 1 ? &cases[i].b : &cases[i].a,
											way & 1 ? &cases[i].a : &cases[i].b, &result);
			if (conflict != cases[i].conflict)
				fail_msg("case %zu: conflict %d", i, conflict);
			if (conflict == CUCKOO_NO_CONFLICT &&
				(result.flags != wanted->flags || result.fpr != wanted->fpr ||
				 result.capacity != wanted->capacity || result.seed != wanted->seed ||
				 result.kind.type != wanted->kind.type ||
				 result.kind.signature != wanted->kind.signature))
				fail_msg("case %zu, operation %d: other fields than expected", i, operation);
		}
	}
}
