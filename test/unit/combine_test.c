/*-------------------------------------------------------------------------
 *
 * combine_test.c
 *	  Union and merge: headers, lists, blocks that become one, tables held, and
 *	  random operations on several filters beside an exact model.
 *
 *-------------------------------------------------------------------------
 */
#include "support.h"

#include "combine.h"

/* --------------------------------------------------------------- helpers */

/* The filter as if it were an empty list where it holds nothing. */
static CuckooFilter
Side(const Owned *owned)
{
	CuckooFilter filter = owned->filter;

	if (filter.items == 0)
	{
		filter.body = CUCKOO_LIST;
		filter.table_count = 0;
	}
	return filter;
}

static Owned
CombineLists(CuckooOperation operation, const CuckooFilter *header,
			 const CuckooFilter *left, const CuckooFilter *right)
{
	uint64_t   *hashes = Allocate((size_t) (left->items + right->items) * 8);
	uint64_t	count = CuckooCombineLists(operation, left, right, hashes);
	void	   *workspace;
	Owned		result;

	if (count <= CuckooListLimit(header))
	{
		result = NewFilter(header->fpr, header->capacity, header->seed,
						   CuckooFilterLayout(header));
		for (uint64_t i = 0; i < count; i++)
			CuckooStore64(result.filter.list + 8 * i, hashes[i]);
		result.filter.items = count;
		free(hashes);
		return result;
	}
	Require(CuckooPlanHashes(header, count, &result.filter) == CUCKOO_GROWTH_PLANNED);
	result.room = CuckooBytes(&result.filter);
	result.bytes = Allocate(result.room);
	workspace = Allocate(CuckooWorkspaceBytes(&result.filter.tables[0].shape));
	if (!CuckooBuildHashes(&result.filter, result.bytes, hashes, count, workspace, NULL))
	{
		free(result.bytes);
		result = NewFilter(header->fpr, header->capacity, header->seed,
						   CuckooFilterLayout(header));
		for (uint64_t i = 0; i < count; i++)
			AddKey(&result, hashes[i]);
	}
	free(workspace);
	free(hashes);
	return result;
}

/* Union or merge, by the steps that a caller has to take; what conflicts. */
static CuckooConflict
TryCombine(CuckooOperation operation, const Owned *a, const Owned *b, Owned *result)
{
	CuckooFilter left = Side(a);
	CuckooFilter right = Side(b);
	CuckooFilter header;
	CuckooCombination combination;
	const CuckooFilter *list = left.body == CUCKOO_LIST ? &left : &right;
	void	   *workspace;
	CuckooConflict conflict = CuckooCombineHeaders(operation, &a->filter, &b->filter, &header);

	if (conflict != CUCKOO_NO_CONFLICT)
		return conflict;
	if (left.body == CUCKOO_LIST && right.body == CUCKOO_LIST)
	{
		*result = CombineLists(operation, &header, &left, &right);
		return CUCKOO_NO_CONFLICT;
	}

	workspace = Allocate(CuckooCombineWorkspaceBytes(&left, &right));
	CuckooCombineStart(&combination, operation, &header);
	for (;;)
	{
		conflict = CuckooPlanTables(&combination, &left, &right, workspace, NULL);
		if (conflict != CUCKOO_NO_CONFLICT)
		{
			free(workspace);
			return conflict;
		}
		result->room = CuckooBytes(&combination.result);
		result->bytes = Allocate(result->room);
		if (CuckooCombineTables(&combination, &left, &right, result->bytes, workspace, NULL))
			break;
		free(result->bytes);
	}
	free(workspace);
	result->filter = combination.result;
	if (list->body == CUCKOO_LIST)
	{
		uint64_t	position = 0;

		while (CuckooAddList(operation, &result->filter, list, &position) == CUCKOO_FULL)
			Require(GrowFilter(result) == CUCKOO_GROWTH_PLANNED);
		Require(position == list->items);
	}
	return CUCKOO_NO_CONFLICT;
}

static Owned
Combine(CuckooOperation operation, const Owned *a, const Owned *b)
{
	Owned		result;

	Require(TryCombine(operation, a, b, &result) == CUCKOO_NO_CONFLICT);
	return result;
}

/* An empty filter of one table with this shape. */
static Owned
TableOf(const CuckooShape *shape)
{
	return NewFilterOf(shape, 1, 0.01, 100);
}

/* So many blocks at most, twice so many buckets, so many bits from 5 on. */
static CuckooShape
RandomShape(uint64_t *random, uint32_t blocks, uint32_t buckets, uint32_t bits)
{
	CuckooShape shape;

	shape.blocks = 1 + RandomBelow(random, blocks);
	shape.buckets = 2 + 2 * RandomBelow(random, buckets);
	shape.bits = (uint8_t) (5 + RandomBelow(random, bits));
	shape.layout = (uint8_t) RandomBelow(random, 2);
	return shape;
}

static int
CopiesOf(const Owned *owned, uint64_t hash)
{
	return CuckooFilterCount(&owned->filter, hash);
}

/* --------------------------------------------------------------- headers */

static void
the_header_of_the_result_follows_from_both(void **state)
{
	CuckooShape shape = ShapeOf(1, 8, 8, CUCKOO_SEMISORTED);
	uint64_t	hash = KeyHash(1, 1);
	Owned		list = NewFilter(0.01, 0, 0, CUCKOO_SEMISORTED);
	Owned		other = NewFilter(0.001, 500, 0, CUCKOO_PLAIN);
	Owned		table = NewFilterOf(&shape, 1, 0.05, 70);
	CuckooFilter header;

	(void) state;
	AddKey(&list, hash);
	AddKey(&other, hash);
	AddKey(&table, hash);

	/* Lists are exact and can keep the smaller rate; tables cannot. */
	assert_int_equal(CuckooCombineHeaders(CUCKOO_MERGE, &list.filter, &other.filter, &header),
					 CUCKOO_NO_CONFLICT);
	assert_true(header.fpr == 0.001);
	assert_int_equal(header.capacity, 500);
	assert_int_equal(header.flags, CUCKOO_FLAG_PLAIN);
	assert_int_equal(header.kind, CUCKOO_KIND_TEXT);
	assert_int_equal(CuckooCombineHeaders(CUCKOO_MERGE, &list.filter, &table.filter, &header),
					 CUCKOO_NO_CONFLICT);
	assert_true(header.fpr == 0.05);
	assert_int_equal(header.capacity, 70);
	assert_int_equal(header.flags, 0);

	/* Two keys share an entry where fingerprints were compared. */
	assert_int_equal(CuckooCombineHeaders(CUCKOO_UNION, &list.filter, &table.filter, &header),
					 CUCKOO_NO_CONFLICT);
	assert_int_equal(header.flags, CUCKOO_FLAG_NOT_REMOVABLE);
	assert_int_equal(CuckooCombineHeaders(CUCKOO_UNION, &list.filter, &list.filter, &header),
					 CUCKOO_NO_CONFLICT);
	assert_int_equal(header.flags, 0);

	/* The mark is inherited. */
	table.filter.flags |= CUCKOO_FLAG_NOT_REMOVABLE;
	assert_int_equal(CuckooCombineHeaders(CUCKOO_MERGE, &list.filter, &table.filter, &header),
					 CUCKOO_NO_CONFLICT);
	assert_int_equal(header.flags, CUCKOO_FLAG_NOT_REMOVABLE);
	FreeFilter(&list);
	FreeFilter(&other);
	FreeFilter(&table);
}

static void
other_kinds_and_seeds_conflict_unless_one_side_is_empty(void **state)
{
	Owned		a = NewFilter(0.01, 0, 0, CUCKOO_SEMISORTED);
	Owned		b = NewFilter(0.01, 0, 7, CUCKOO_SEMISORTED);
	CuckooFilter header;

	(void) state;
	AddKey(&a, 1);
	for (int swapped = 0; swapped < 2; swapped++)
	{
		const CuckooFilter *left = swapped ? &b.filter : &a.filter;
		const CuckooFilter *right = swapped ? &a.filter : &b.filter;

		assert_int_equal(CuckooCombineHeaders(CUCKOO_UNION, left, right, &header),
						 CUCKOO_NO_CONFLICT);
		assert_int_equal(header.seed, 0);
		b.filter.kind = CUCKOO_KIND_INTEGER;
		assert_int_equal(CuckooCombineHeaders(CUCKOO_UNION, left, right, &header),
						 CUCKOO_NO_CONFLICT);
		assert_int_equal(header.kind, CUCKOO_KIND_TEXT);
		b.filter.kind = CUCKOO_KIND_TEXT;
	}
	AddKey(&b, 1);
	assert_int_equal(CuckooCombineHeaders(CUCKOO_UNION, &a.filter, &b.filter, &header),
					 CUCKOO_OTHER_SEED);
	assert_int_equal(CuckooCombineHeaders(CUCKOO_MERGE, &b.filter, &a.filter, &header),
					 CUCKOO_OTHER_SEED);
	b.filter.seed = 0;
	b.filter.kind = CUCKOO_KIND_INTEGER;
	assert_int_equal(CuckooCombineHeaders(CUCKOO_UNION, &a.filter, &b.filter, &header),
					 CUCKOO_OTHER_KIND);

	/* Of two that are empty nobody knows which. */
	a.filter.items = b.filter.items = 0;
	assert_int_equal(CuckooCombineHeaders(CUCKOO_UNION, &a.filter, &b.filter, &header),
					 CUCKOO_OTHER_KIND);
	b.filter.kind = CUCKOO_KIND_NONE;
	assert_int_equal(CuckooCombineHeaders(CUCKOO_UNION, &a.filter, &b.filter, &header),
					 CUCKOO_NO_CONFLICT);
	assert_int_equal(header.kind, CUCKOO_KIND_TEXT);
	assert_int_equal(CuckooCombineHeaders(CUCKOO_UNION, &b.filter, &a.filter, &header),
					 CUCKOO_NO_CONFLICT);
	assert_int_equal(header.kind, CUCKOO_KIND_TEXT);
	FreeFilter(&a);
	FreeFilter(&b);
}

static void
an_unset_filter_takes_everything_from_the_other(void **state)
{
	Owned		a = NewFilter(0.003, 77, 5, CUCKOO_PLAIN);
	CuckooFilter unset = {0};
	CuckooFilter header;

	(void) state;
	unset.flags = CUCKOO_FLAG_UNSET;
	for (int swapped = 0; swapped < 2; swapped++)
	{
		assert_int_equal(CuckooCombineHeaders(CUCKOO_UNION, swapped ? &unset : &a.filter,
											  swapped ? &a.filter : &unset, &header),
						 CUCKOO_NO_CONFLICT);
		assert_true(header.fpr == 0.003);
		assert_int_equal(header.capacity, 77);
		assert_int_equal(header.seed, 5);
		assert_int_equal(header.flags, CUCKOO_FLAG_PLAIN);
	}
	assert_int_equal(CuckooCombineHeaders(CUCKOO_UNION, &unset, &unset, &header),
					 CUCKOO_NO_CONFLICT);
	assert_int_equal(header.flags, CUCKOO_FLAG_UNSET);
	FreeFilter(&a);
}

/* ----------------------------------------------------------------- lists */

static void
lists_are_combined_by_their_hashes(void **state)
{
	Owned		a = NewFilter(0.01, 0, 0, CUCKOO_SEMISORTED);
	Owned		b = NewFilter(0.01, 0, 0, CUCKOO_SEMISORTED);
	Owned		merged;
	Owned		united;

	(void) state;
	for (int i = 0; i < 5; i++)
		AddKey(&a, 10);
	AddKey(&a, 30);
	for (int i = 0; i < 4; i++)
		AddKey(&b, 10);
	AddKey(&b, 20);
	AddKey(&b, 20);

	merged = Combine(CUCKOO_MERGE, &a, &b);
	united = Combine(CUCKOO_UNION, &b, &a);
	assert_int_equal(merged.filter.body, CUCKOO_LIST);
	assert_int_equal(merged.filter.items, 8 + 2 + 1);
	assert_int_equal(united.filter.items, 5 + 2 + 1);
	assert_int_equal(ProblemOf(&merged), CUCKOO_VALID);
	assert_int_equal(ProblemOf(&united), CUCKOO_VALID);
	FreeFilter(&a);
	FreeFilter(&b);
	FreeFilter(&merged);
	FreeFilter(&united);
}

/* As the aggregate over the whole would have it: same shape, same bytes. */
static void
lists_that_become_too_long_become_the_table_built_from_all_their_hashes(void **state)
{
	const uint64_t count = 60;
	Owned		a = NewFilter(0.001, 5000, 0, CUCKOO_SEMISORTED);
	Owned		b = NewFilter(0.001, 5000, 0, CUCKOO_SEMISORTED);
	uint64_t   *hashes = SortedHashes(3, count);
	Owned		merged;
	CuckooTable built;

	(void) state;
	for (uint64_t i = 0; i < count; i++)
		AddKey(i % 2 ? &a : &b, hashes[i]);
	merged = Combine(CUCKOO_MERGE, &a, &b);
	assert_int_equal(merged.filter.body, CUCKOO_TABLES);
	assert_int_equal(merged.filter.items, count);
	assert_int_equal(merged.filter.flags, 0);
	assert_int_equal(ProblemOf(&merged), CUCKOO_VALID);

	built = NewTable(&merged.filter.tables[0].shape);
	assert_true(BuildBlocks(&built, hashes, count, 0));
	assert_memory_equal(built.data, merged.filter.tables[0].data,
						(size_t) CuckooShapeBytes(&built.shape));
	FreeTable(&built);
	FreeFilter(&a);
	FreeFilter(&b);
	FreeFilter(&merged);
	free(hashes);
}

/* A long list of one side may be more than what the other side stated. */
static void
lists_longer_than_the_capacity_stated_find_room(void **state)
{
	Owned		a = NewFilter(0.001, 0, 0, CUCKOO_SEMISORTED);
	Owned		b = NewFilter(0.001, 10, 0, CUCKOO_SEMISORTED);
	Owned		merged;

	(void) state;
	AddKeys(&a, 1, 0, CUCKOO_LONG_LIST);
	AddKeys(&b, 2, 0, CUCKOO_SHORT_LIST);
	assert_int_equal(a.filter.body, CUCKOO_LIST);
	merged = Combine(CUCKOO_MERGE, &a, &b);
	assert_int_equal(merged.filter.table_count, 1);
	assert_int_equal(merged.filter.capacity, 10);
	assert_int_equal(CountMissing(&merged.filter, 1, 0, CUCKOO_LONG_LIST), 0);
	assert_int_equal(CountMissing(&merged.filter, 2, 0, CUCKOO_SHORT_LIST), 0);
	assert_int_equal(ProblemOf(&merged), CUCKOO_VALID);
	FreeFilter(&a);
	FreeFilter(&b);
	FreeFilter(&merged);
}

/*
 * Two keys with eight copies each cannot share a bucket.  What one table does
 * not take goes to a stash.
 */
static void
lists_of_many_copies_of_each_key_find_room(void **state)
{
	Owned		a = NewFilter(0.001, 0, 0, CUCKOO_SEMISORTED);
	Owned		b = NewFilter(0.001, 0, 0, CUCKOO_SEMISORTED);
	Owned		merged;

	(void) state;
	for (int copy = 0; copy < CUCKOO_MAX_COPIES; copy++)
	{
		AddKeys(&a, 1, 0, CUCKOO_LONG_LIST / CUCKOO_MAX_COPIES);
		AddKeys(&b, 2, 0, CUCKOO_LONG_LIST / CUCKOO_MAX_COPIES);
	}
	assert_int_equal(a.filter.body, CUCKOO_LIST);
	merged = Combine(CUCKOO_MERGE, &a, &b);
	assert_true(merged.filter.table_count > 1);
	assert_true(merged.filter.stashes != 0);
	AddKey(&a, KeyHash(2, 0));
	assert_int_equal(a.filter.body, CUCKOO_TABLES);
	for (uint64_t i = 0; i < CUCKOO_LONG_LIST / CUCKOO_MAX_COPIES; i++)
	{
		assert_int_equal(CopiesOf(&a, KeyHash(1, i)), CUCKOO_MAX_COPIES);
		assert_int_equal(CopiesOf(&merged, KeyHash(1, i)), CUCKOO_MAX_COPIES);
		assert_int_equal(CopiesOf(&merged, KeyHash(2, i)), CUCKOO_MAX_COPIES);
	}
	FreeFilter(&a);
	FreeFilter(&b);
	FreeFilter(&merged);
}

static void
a_list_goes_into_tables_by_its_hashes(void **state)
{
	CuckooShape shape = ShapeOf(1, 100, 16, CUCKOO_SEMISORTED);
	Owned		table = NewFilterOf(&shape, 1, 0.001, 300);
	Owned		list = NewFilter(0.001, 300, 0, CUCKOO_SEMISORTED);
	Owned		united;
	Owned		merged;

	(void) state;
	AddKeys(&table, 1, 0, 50);
	AddKey(&table, KeyHash(1, 49));
	AddKeys(&list, 1, 45, 60);
	for (int i = 0; i < 3; i++)
		AddKey(&list, KeyHash(1, 49));

	united = Combine(CUCKOO_UNION, &list, &table);
	merged = Combine(CUCKOO_MERGE, &table, &list);
	for (uint64_t i = 0; i < 60; i++)
	{
		int			in_table = i == 49 ? 2 : i < 50;
		int			in_list = i == 49 ? 4 : i >= 45;

		assert_int_equal(CopiesOf(&merged, KeyHash(1, i)), in_table + in_list);
		assert_int_equal(CopiesOf(&united, KeyHash(1, i)),
						 in_table > in_list ? in_table : in_list);
	}
	assert_int_equal(united.filter.flags, CUCKOO_FLAG_NOT_REMOVABLE);
	assert_int_equal(merged.filter.flags, 0);
	assert_int_equal(ProblemOf(&united), CUCKOO_VALID);
	assert_int_equal(ProblemOf(&merged), CUCKOO_VALID);
	FreeFilter(&table);
	FreeFilter(&list);
	FreeFilter(&united);
	FreeFilter(&merged);
}

/* ---------------------------------------------------------------- tables */

static void
merging_disjoint_parts_equals_the_build_of_the_whole_byte_for_byte(void **state)
{
	static const size_t sizes[] = {40, 1000, 125000, 300000};
	static const int bits[] = {5, 13, 18, 32};
	static const int parts[] = {2, 3, 5};

	(void) state;
	for (size_t s = 0; s < lengthof(sizes); s++)
	{
		for (size_t k = 0; k < lengthof(bits) * lengthof(parts); k++)
		{
			size_t		count = sizes[s];
			int			part_count = parts[k % lengthof(parts)];
			CuckooLayout layout = (CuckooLayout) (k % 2);
			uint64_t   *hashes = SortedHashes(s + 1, count);
			uint64_t   *of_part = Allocate(count * sizeof(uint64_t));
			CuckooTable whole = BuildTable(hashes, count, bits[k / lengthof(parts)], layout, 0);
			Owned		merged;

			for (int part = 0; part < part_count; part++)
			{
				Owned		next = NewFilterOf(&whole.shape, 1, 0.01, count);
				size_t		taken = 0;
				Owned		sum;

				for (size_t i = 0; i < count; i++)
				{
					if ((int) (hashes[i] % (unsigned) part_count) == part)
						of_part[taken++] = hashes[i];
				}
				Require(BuildBlocks(&next.filter.tables[0], of_part, taken, 0));
				next.filter.items = next.filter.tables[0].items;
				if (part == 0)
				{
					merged = next;
					continue;
				}
				sum = part % 2 ? Combine(CUCKOO_MERGE, &next, &merged) :
					Combine(CUCKOO_MERGE, &merged, &next);
				FreeFilter(&merged);
				FreeFilter(&next);
				merged = sum;
			}
			assert_int_equal(merged.filter.table_count, 1);
			assert_int_equal(merged.filter.items, whole.items);
			assert_memory_equal(merged.filter.tables[0].data, whole.data,
								(size_t) CuckooShapeBytes(&whole.shape));
			assert_int_equal(ProblemOf(&merged), CUCKOO_VALID);
			FreeFilter(&merged);
			FreeTable(&whole);
			free(hashes);
			free(of_part);
		}
	}
}

/* Any content, also copies, put in in any order. */
static void
tables_that_fit_combine_commutatively_and_associatively_in_bytes(void **state)
{
	uint64_t	random = 1;
	int			compared = 0;

	(void) state;
	for (int round = 0; round < 3000; round++)
	{
		CuckooShape shape = RandomShape(&random, 3, 8, 15);
		uint64_t	room = CuckooShapeCapacity(&shape);
		CuckooOperation operation = (CuckooOperation) (round % 2);
		Owned		side[3];
		Owned		left_first;
		Owned		right_first;
		Owned		pairs[3];

		for (int i = 0; i < 3; i++)
		{
			uint32_t	keys = 1 + RandomBelow(&random, (uint32_t) (room / 4) + 1);

			side[i] = TableOf(&shape);
			for (uint32_t k = 0; k < keys; k++)
				CuckooFilterAdd(&side[i].filter, KeyHash((uint64_t) round,
														 RandomBelow(&random, 2 * (uint32_t) room)));
		}
		pairs[0] = Combine(operation, &side[0], &side[1]);
		pairs[1] = Combine(operation, &side[1], &side[0]);
		pairs[2] = Combine(operation, &side[1], &side[2]);
		left_first = Combine(operation, &pairs[0], &side[2]);
		right_first = Combine(operation, &side[0], &pairs[2]);
		if (left_first.filter.table_count == 1 && right_first.filter.table_count == 1 &&
			pairs[0].filter.table_count == 1 && pairs[2].filter.table_count == 1)
		{
			assert_true(SameBytes(&pairs[0], &pairs[1]));
			assert_true(SameBytes(&left_first, &right_first));
			compared++;
		}
		for (int i = 0; i < 3; i++)
		{
			FreeFilter(&side[i]);
			FreeFilter(&pairs[i]);
		}
		FreeFilter(&left_first);
		FreeFilter(&right_first);
	}
	assert_true(compared > 2000);
}

static void
a_class_has_the_larger_count_in_a_union_and_the_sum_up_to_eight_in_a_merge(void **state)
{
	CuckooShape shape = ShapeOf(1, 10, 12, CUCKOO_SEMISORTED);
	uint64_t	hash = KeyHash(1, 1);

	(void) state;
	for (int i = 1; i <= 8; i++)
	{
		for (int j = 1; j <= 8; j++)
		{
			Owned		a = TableOf(&shape);
			Owned		b = TableOf(&shape);
			Owned		united;
			Owned		merged;

			for (int k = 0; k < i; k++)
				AddKey(&a, hash);
			for (int k = 0; k < j; k++)
				AddKey(&b, hash);
			united = Combine(CUCKOO_UNION, &a, &b);
			merged = Combine(CUCKOO_MERGE, &a, &b);
			assert_int_equal(CopiesOf(&united, hash), i > j ? i : j);
			assert_int_equal(united.filter.items, i > j ? i : j);
			assert_int_equal(CopiesOf(&merged, hash), i + j < 8 ? i + j : 8);
			assert_int_equal(merged.filter.items, i + j < 8 ? i + j : 8);
			assert_int_equal(merged.filter.table_count, 1);
			FreeFilter(&a);
			FreeFilter(&b);
			FreeFilter(&united);
			FreeFilter(&merged);
		}
	}
}

static void
tables_beyond_the_design_load_are_held_side_by_side(void **state)
{
	CuckooShape shape = ShapeOf(1, 200, 12, CUCKOO_SEMISORTED);
	uint64_t	most = CuckooShapeCapacity(&shape);
	Owned		a = TableOf(&shape);
	Owned		b = TableOf(&shape);
	Owned		fits;
	Owned		held;

	(void) state;
	AddKeys(&a, 1, 0, most / 2);
	AddKeys(&b, 1, most / 2, most);
	fits = Combine(CUCKOO_MERGE, &a, &b);
	assert_int_equal(fits.filter.table_count, 1);
	assert_int_equal(fits.filter.items, most);

	AddKeys(&b, 1, most, most + 1);
	held = Combine(CUCKOO_MERGE, &a, &b);
	assert_int_equal(held.filter.table_count, 2);
	assert_int_equal(held.filter.items, most + 1);
	assert_int_equal(CountMissing(&held.filter, 1, 0, most + 1), 0);
	assert_int_equal(ProblemOf(&held), CUCKOO_VALID);
	assert_true(CuckooFilterRate(&held.filter) > CuckooTableRate(&shape, most / 2));
	FreeFilter(&a);
	FreeFilter(&b);
	FreeFilter(&fits);
	FreeFilter(&held);
}

/* The table has room, but all that comes falls into one of its blocks. */
static void
tables_are_held_where_a_single_block_has_no_room(void **state)
{
	CuckooShape shape = ShapeOf(2, 4, 12, CUCKOO_SEMISORTED);
	Owned		a = TableOf(&shape);
	Owned		b = TableOf(&shape);
	uint64_t	key = 0;

	(void) state;
	while (a.filter.items < 9 || b.filter.items < 9)
	{
		uint64_t	hash = KeyHash(1, key++);

		if (CuckooBlockOf(&shape, hash) == 0)
			AddKey(a.filter.items < 9 ? &a : &b, hash);
	}
	for (int operation = CUCKOO_UNION; operation <= CUCKOO_MERGE; operation++)
	{
		Owned		held = Combine((CuckooOperation) operation, &a, &b);

		assert_int_equal(held.filter.table_count, 2);
		assert_int_equal(held.filter.items, 18);
		for (uint64_t i = 0; i < key; i++)
			assert_true(CopiesOf(&held, KeyHash(1, i)) >=
						(CuckooBlockOf(&shape, KeyHash(1, i)) == 0));
		FreeFilter(&held);
	}
	FreeFilter(&a);
	FreeFilter(&b);
}

/* Also where it is too full to be built anew, with keys of eight copies. */
static void
a_union_with_what_is_in_it_already_adds_no_table(void **state)
{
	CuckooShape shape = ShapeOf(1, 50, 16, CUCKOO_SEMISORTED);
	Owned		full = TableOf(&shape);
	Owned		part = TableOf(&shape);
	uint64_t	keys = 0;

	(void) state;
	for (int copy = 0; copy < CUCKOO_MAX_COPIES; copy++)
	{
		assert_int_equal(CuckooFilterAdd(&full.filter, KeyHash(2, 1)), CUCKOO_INSERTED);
		assert_int_equal(CuckooFilterAdd(&full.filter, KeyHash(2, 2)), CUCKOO_INSERTED);
	}
	while (CuckooFilterAdd(&full.filter, KeyHash(1, keys)) != CUCKOO_FULL)
		keys++;
	while (full.filter.items <= CuckooShapeCapacity(&shape))
		CuckooFilterAdd(&full.filter, KeyHash(1, keys++));
	AddKeys(&part, 1, 0, keys / 2);
	for (int i = 0; i < 3; i++)
	{
		Owned		united = Combine(CUCKOO_UNION, i == 2 ? &part : &full,
									 i == 1 ? &part : &full);

		assert_int_equal(united.filter.table_count, 1);
		assert_int_equal(united.filter.items, full.filter.items);
		assert_memory_equal(united.filter.tables[0].data, full.filter.tables[0].data,
							(size_t) CuckooShapeBytes(&shape));
		FreeFilter(&united);
	}
	FreeFilter(&full);
	FreeFilter(&part);
}

/* The same classes placed in other ways: the result does not hang on the sides. */
static void
a_union_of_equal_full_tables_is_the_same_either_way_round(void **state)
{
	CuckooShape shape = ShapeOf(1, 50, 16, CUCKOO_SEMISORTED);
	Owned		a = TableOf(&shape);
	Owned		b = TableOf(&shape);
	Owned		forth;
	Owned		back;
	uint64_t	keys = 0;

	(void) state;
	while (CuckooFilterAdd(&a.filter, KeyHash(1, keys)) != CUCKOO_FULL)
		keys++;
	for (uint64_t i = keys; i-- > 0;)
		assert_int_equal(CuckooFilterAdd(&b.filter, KeyHash(1, i)), CUCKOO_INSERTED);
	assert_true(a.filter.items > CuckooShapeCapacity(&shape));
	assert_false(SameBytes(&a, &b));
	forth = Combine(CUCKOO_UNION, &a, &b);
	back = Combine(CUCKOO_UNION, &b, &a);
	assert_int_equal(forth.filter.table_count, 1);
	assert_true(SameBytes(&forth, &back));
	FreeFilter(&a);
	FreeFilter(&b);
	FreeFilter(&forth);
	FreeFilter(&back);
}

/* And where it is kept, its layout is its own. */
static void
a_full_table_kept_of_another_layout_is_ordered_by_its_own_bytes(void **state)
{
	CuckooShape shapes[2];
	CuckooShape semisorted = ShapeOf(1, 50, 16, CUCKOO_SEMISORTED);
	Owned		a;
	Owned		b = TableOf(&semisorted);
	uint64_t	keys = 0;

	(void) state;
	shapes[0] = shapes[1] = ShapeOf(1, 50, 16, CUCKOO_PLAIN);
	a = NewFilterOf(shapes, 2, 0.01, 100);
	for (; b.filter.items <= CuckooShapeCapacity(&semisorted); keys++)
	{
		if (CuckooFilterAdd(&b.filter, KeyHash(1, keys)) == CUCKOO_INSERTED)
			Require(CuckooTableInsert(&a.filter.tables[0], KeyHash(1, keys), CUCKOO_MAX_KICKS) ==
					CUCKOO_INSERTED);
	}
	for (uint64_t i = 0; a.filter.tables[1].items < b.filter.items; i++)
		CuckooTableInsert(&a.filter.tables[1], KeyHash(2, i), CUCKOO_MAX_KICKS);
	a.filter.items = 2 * b.filter.items;
	for (int side = 0; side < 2; side++)
	{
		Owned		united = Combine(CUCKOO_UNION, side == 0 ? &a : &b, side == 0 ? &b : &a);

		assert_int_equal(united.filter.table_count, 2);
		assert_int_equal(united.filter.items, a.filter.items);
		assert_int_equal(CountMissing(&united.filter, 1, 0, keys), 0);
		assert_int_equal(ProblemOf(&united), CUCKOO_VALID);
		FreeFilter(&united);
	}
	FreeFilter(&a);
	FreeFilter(&b);
}

static void
other_shapes_are_held_smaller_first(void **state)
{
	CuckooShape small = ShapeOf(1, 20, 12, CUCKOO_SEMISORTED);
	CuckooShape large = ShapeOf(1, 40, 12, CUCKOO_SEMISORTED);
	Owned		a = TableOf(&large);
	Owned		b = TableOf(&small);
	Owned		held;
	Owned		swapped;

	(void) state;
	AddKeys(&a, 1, 0, 100);
	AddKeys(&b, 1, 100, 160);
	held = Combine(CUCKOO_MERGE, &a, &b);
	swapped = Combine(CUCKOO_MERGE, &b, &a);
	assert_int_equal(held.filter.table_count, 2);
	assert_int_equal(held.filter.tables[0].shape.buckets, 20);
	assert_int_equal(CountMissing(&held.filter, 1, 0, 160), 0);
	assert_true(SameBytes(&held, &swapped));
	FreeFilter(&a);
	FreeFilter(&b);
	FreeFilter(&held);
	FreeFilter(&swapped);
}

/* The classes of a table are the same in either layout. */
static void
a_semisorted_table_is_written_anew_where_the_other_is_plain(void **state)
{
	CuckooShape semisorted = ShapeOf(2, 20, 12, CUCKOO_SEMISORTED);
	CuckooShape plain = ShapeOf(2, 20, 12, CUCKOO_PLAIN);
	CuckooShape other = ShapeOf(1, 20, 12, CUCKOO_PLAIN);
	Owned		a = TableOf(&semisorted);
	Owned		b = TableOf(&plain);
	Owned		c = TableOf(&other);
	Owned		one;
	Owned		two;

	(void) state;
	AddKeys(&a, 1, 0, 60);
	AddKeys(&b, 1, 60, 120);
	AddKeys(&c, 1, 60, 100);
	one = Combine(CUCKOO_MERGE, &a, &b);
	two = Combine(CUCKOO_MERGE, &a, &c);
	assert_int_equal(one.filter.table_count, 1);
	assert_int_equal(one.filter.flags, CUCKOO_FLAG_PLAIN);
	assert_int_equal(CountMissing(&one.filter, 1, 0, 120), 0);
	assert_int_equal(two.filter.table_count, 2);
	assert_int_equal(CountMissing(&two.filter, 1, 0, 100), 0);
	assert_int_equal(ProblemOf(&one), CUCKOO_VALID);
	assert_int_equal(ProblemOf(&two), CUCKOO_VALID);
	FreeFilter(&a);
	FreeFilter(&b);
	FreeFilter(&c);
	FreeFilter(&one);
	FreeFilter(&two);
}

/* Which of two tables of one shape comes first does not hang on their sides. */
static void
tables_held_have_one_order_whatever_their_sides(void **state)
{
	static const struct
	{
		CuckooLayout layouts[2];
		uint64_t	items[2];
	}			cases[] = {
		{{CUCKOO_SEMISORTED, CUCKOO_SEMISORTED}, {50, 50}},
		{{CUCKOO_SEMISORTED, CUCKOO_SEMISORTED}, {50, 60}},
		{{CUCKOO_PLAIN, CUCKOO_PLAIN}, {50, 50}},
		{{CUCKOO_PLAIN, CUCKOO_SEMISORTED}, {50, 50}},
		{{CUCKOO_SEMISORTED, CUCKOO_PLAIN}, {60, 50}}
	};

	(void) state;
	for (size_t c = 0; c < lengthof(cases); c++)
	{
		for (int operation = CUCKOO_UNION; operation <= CUCKOO_MERGE; operation++)
		{
			CuckooShape shapes[2];
			Owned		sides[2];
			Owned		forth;
			Owned		back;

			for (int i = 0; i < 2; i++)
			{
				shapes[i] = ShapeOf(1, 20, 12, cases[c].layouts[i]);
				sides[i] = TableOf(&shapes[i]);
				AddKeys(&sides[i], 1 + (uint64_t) i, 0, cases[c].items[i]);
			}
			forth = Combine((CuckooOperation) operation, &sides[0], &sides[1]);
			back = Combine((CuckooOperation) operation, &sides[1], &sides[0]);
			assert_int_equal(forth.filter.table_count, 2);
			assert_true(SameBytes(&forth, &back));
			for (int i = 0; i < 2; i++)
				FreeFilter(&sides[i]);
			FreeFilter(&forth);
			FreeFilter(&back);
		}
	}
}

/* A stash goes with a stash, and holds a class once; it goes with nothing else. */
static void
stashes_combine_with_stashes_only(void **state)
{
	CuckooShape shapes[2];
	Owned		a;
	Owned		b;
	Owned		c;
	Owned		merged;
	Owned		held;

	(void) state;
	shapes[0] = shapes[1] = ShapeOf(1, 50, 16, CUCKOO_SEMISORTED);
	a = NewFilterOf(shapes, 2, 0.01, 100);
	b = NewFilterOf(shapes, 2, 0.01, 100);
	c = NewFilterOf(shapes, 1, 0.01, 100);
	MakeStashes(&a, 2);
	MakeStashes(&b, 2);
	for (uint64_t i = 0; i < 20; i++)
	{
		assert_true(PutInStash(&a, 1, KeyHash(1, i)));
		assert_true(PutInStash(&b, 1, KeyHash(1, i + 10)));
		assert_int_equal(CuckooFilterAdd(&a.filter, KeyHash(2, i)), CUCKOO_INSERTED);
		assert_int_equal(CuckooFilterAdd(&b.filter, KeyHash(2, i + 10)), CUCKOO_INSERTED);
		AddKey(&c, KeyHash(1, i));
	}
	merged = Combine(CUCKOO_MERGE, &a, &b);
	assert_int_equal(merged.filter.table_count, 2);
	assert_int_equal(merged.filter.stashes, 2);
	assert_int_equal(merged.filter.tables[0].items, 40);
	assert_int_equal(merged.filter.tables[1].items, 30);
	for (uint64_t i = 0; i < 30; i++)
	{
		assert_int_equal(CopiesOf(&merged, KeyHash(1, i)), CUCKOO_MAX_COPIES);
		assert_int_equal(CuckooFilterRemove(&merged.filter, KeyHash(1, i)), CUCKOO_KEPT);
		assert_int_equal(CopiesOf(&merged, KeyHash(2, i)), i < 10 || i >= 20 ? 1 : 2);
		assert_int_equal(CuckooFilterRemove(&merged.filter, KeyHash(2, i)), CUCKOO_REMOVED);
	}
	FreeFilter(&merged);

	/* With one table, which goes with the other, but for what the stash has. */
	for (int operation = CUCKOO_UNION; operation <= CUCKOO_MERGE; operation++)
	{
		held = Combine((CuckooOperation) operation, &c, &a);
		assert_int_equal(held.filter.table_count, 2);
		assert_int_equal(held.filter.stashes, 2);
		assert_int_equal(held.filter.tables[0].items, 20);
		assert_int_equal(held.filter.tables[1].items, 20);
		for (uint64_t i = 0; i < 20; i++)
		{
			assert_int_equal(CopiesOf(&held, KeyHash(1, i)), CUCKOO_MAX_COPIES);
			assert_int_equal(CopiesOf(&held, KeyHash(2, i)), 1);
		}
		assert_int_equal(ProblemOf(&held), CUCKOO_VALID);
		FreeFilter(&held);
	}

	/* Where they do not fit together they stand behind all others. */
	for (uint64_t i = 20; a.filter.tables[1].items < 150; i++)
		assert_true(PutInStash(&a, 1, KeyHash(1, i)));
	for (uint64_t i = 30; b.filter.tables[1].items < 150; i++)
		assert_true(PutInStash(&b, 1, KeyHash(3, i)));
	held = Combine(CUCKOO_MERGE, &a, &b);
	assert_int_equal(held.filter.table_count, 3);
	assert_int_equal(held.filter.stashes, 6);
	assert_int_equal(ProblemOf(&held), CUCKOO_VALID);
	FreeFilter(&held);
	FreeFilter(&a);
	FreeFilter(&b);
	FreeFilter(&c);
}

/* A filter for 100,000 with keys from first on, so many copies of each in turn. */
static Owned
ManyCopies(uint64_t stream, uint64_t keys, int copies)
{
	Owned		owned = NewFilter(0.001, 100000, 0, CUCKOO_SEMISORTED);

	for (int copy = 0; copy < copies; copy++)
		AddKeys(&owned, stream, 0, keys);
	return owned;
}

/*
 * Parts with many keys of many copies, other keys or the same, stay one table
 * and its stash, and what has few copies can be taken out.
 */
static void
crowded_filters_become_one(void **state)
{
	static const struct
	{
		uint64_t	keys;
		int			copies;
		bool		same;
	}			cases[] = {{400, 8, false}, {400, 20, true}, {400, 3, true}, {20, 7, false}};
	const int	parts = 20;

	(void) state;
	for (size_t c = 0; c < lengthof(cases); c++)
	{
		uint64_t	keys = cases[c].keys;
		int			copies = cases[c].copies * (cases[c].same ? parts : 1);
		Owned		merged = ManyCopies(0, keys, cases[c].copies);
		uint64_t	kept = 0;

		AddKeys(&merged, 100, 0, 1000);
		for (int part = 1; part < parts; part++)
		{
			Owned		next = ManyCopies(cases[c].same ? 0 : (uint64_t) part, keys, cases[c].copies);
			Owned		forth;
			Owned		back;

			AddKeys(&next, 100 + (uint64_t) part, 0, 1000);
			forth = Combine(CUCKOO_MERGE, &merged, &next);
			back = Combine(CUCKOO_MERGE, &next, &merged);
			assert_true(SameBytes(&forth, &back));
			assert_int_equal(ProblemOf(&forth), CUCKOO_VALID);
			FreeFilter(&back);
			FreeFilter(&next);
			FreeFilter(&merged);
			merged = forth;
		}
		assert_int_equal(merged.filter.table_count, 2);
		assert_int_equal(merged.filter.stashes, 2);
		assert_true(CuckooFilterRate(&merged.filter) <= 0.001);
		for (int part = 0; part < parts; part++)
		{
			for (uint64_t i = 0; i < keys; i++)
				assert_true(CopiesOf(&merged, KeyHash(cases[c].same ? 0 : (uint64_t) part, i)) >=
							(copies < CUCKOO_MAX_COPIES ? copies : CUCKOO_MAX_COPIES));
			for (uint64_t i = 0; i < 1000; i++)
				kept += CuckooFilterRemove(&merged.filter, KeyHash(100 + (uint64_t) part, i)) !=
					CUCKOO_REMOVED;
		}
		if (kept > 5)
			fail_msg("%d copies: %llu keys stay", cases[c].copies, (unsigned long long) kept);
		FreeFilter(&merged);
	}
}

/* As many hashes as asked for that share both buckets of such a block. */
static void
SharingBuckets(uint64_t *hashes, size_t count, const CuckooShape *shape)
{
	size_t		found = 0;
	CuckooPlace want = {0};

	for (uint64_t i = 0; found < count; i++)
	{
		uint64_t	hash = HashWithFingerprint(0, 1 + (uint32_t) i, shape->bits);
		CuckooPlace place = CuckooLocate(shape, hash);

		if (found == 0)
			want = place;
		if (place.second == want.second)
			hashes[found++] = hash;
	}
}

/*
 * Of nine entries for two buckets, those of one class go to a stash, which the
 * result has to get; where the block is not crowded, only what has eight copies.
 */
static void
what_two_blocks_have_no_room_for_goes_to_a_stash(void **state)
{
	static const struct
	{
		int			left;		/* copies of one key there */
		int			right;		/* and of another here */
		int			shared;		/* of a third in both */
		int			leaves;		/* 0: the first; 1: the second; 2: the third;
								 * -1: one of them */
	}			cases[] = {{8, 1, 0, 0}, {1, 8, 0, 1}, {6, 3, 0, -1}, {2, 7, 0, -1}, {1, 0, 4, 2}, {1, 1, 8, 2}};
	CuckooShape shape = ShapeOf(1, 100, 16, CUCKOO_SEMISORTED);
	uint64_t	hashes[3];

	(void) state;
	SharingBuckets(hashes, 3, &shape);
	for (size_t c = 0; c < lengthof(cases); c++)
	{
		for (int full = 0; full < 2; full++)
		{
			Owned		sides[2];
			Owned		merged;
			int			leaves = cases[c].leaves;
			bool		sticks = cases[c].left == 8 || cases[c].right == 8 || cases[c].shared > 0;

			for (int side = 0; side < 2; side++)
			{
				sides[side] = TableOf(&shape);
				for (int i = 0; i < (side == 0 ? cases[c].left : cases[c].right); i++)
					assert_int_equal(CuckooFilterAdd(&sides[side].filter, hashes[side]), CUCKOO_INSERTED);
				for (int i = 0; i < cases[c].shared && sides[side].filter.items < 8; i++)
					assert_int_equal(CuckooFilterAdd(&sides[side].filter, hashes[2]), CUCKOO_INSERTED);
				if (full)
					AddKeys(&sides[side], 1 + (uint64_t) side, 0, 60);
			}
			merged = Combine(CUCKOO_MERGE, &sides[0], &sides[1]);
			assert_int_equal(merged.filter.table_count, 2);
			assert_int_equal(merged.filter.stashes, full && !sticks ? 0 : 2);
			if (merged.filter.stashes != 0)
			{
				assert_int_equal(merged.filter.tables[1].items, 1);
				while (leaves < 0 || CuckooTableCount(&merged.filter.tables[1], hashes[leaves]) == 0)
					assert_true(cases[c].leaves < 0 && ++leaves < 2);
				assert_int_equal(CuckooTableCount(&merged.filter.tables[0], hashes[leaves]), 0);
			}
			for (int side = 0; side < 2; side++)
			{
				if (side != leaves)
					assert_int_equal(CopiesOf(&merged, hashes[side]),
									 side == 0 ? cases[c].left : cases[c].right);
				if (full)
					assert_int_equal(CountMissing(&merged.filter, 1 + (uint64_t) side, 0, 60), 0);
				FreeFilter(&sides[side]);
			}
			assert_int_equal(ProblemOf(&merged), CUCKOO_VALID);
			FreeFilter(&merged);
		}
	}
}

/*
 * Where one side has a stash, what has eight copies in the result goes there,
 * whichever side it is of, and stands there once.
 */
static void
what_sticks_goes_to_the_stash_of_either_side(void **state)
{
	CuckooShape shapes[2];

	(void) state;
	shapes[0] = shapes[1] = ShapeOf(2, 200, 16, CUCKOO_SEMISORTED);
	for (int with = 0; with < 2; with++)
	{
		Owned		sides[2];
		Owned		merged;

		for (int side = 0; side < 2; side++)
			sides[side] = NewFilterOf(shapes, side == with ? 2 : 1, 0.01, 100);
		MakeStashes(&sides[with], 2);
		for (uint64_t i = 0; i < 6; i++)
		{
			/* Keys 0 and 1 stick on both sides, 2 and 3 together, 4 and 5 not. */
			for (int copy = 0; copy < (i < 2 ? 8 : i < 4 ? 4 : 3); copy++)
			{
				CuckooFilterAdd(&sides[0].filter, KeyHash(1, i));
				CuckooFilterAdd(&sides[1].filter, KeyHash(1, i));
			}
		}
		/* Key 6 sticks here, and is no more for the copies that it has there. */
		for (int copy = 0; copy < 8; copy++)
			CuckooFilterAdd(&sides[with].filter, KeyHash(1, 6));
		for (int copy = 0; copy < 3; copy++)
			CuckooFilterAdd(&sides[!with].filter, KeyHash(1, 6));
		assert_int_equal(sides[with].filter.tables[1].items, 3);
		assert_int_equal(sides[!with].filter.tables[0].items, 16 + 8 + 6 + 3);
		merged = Combine(CUCKOO_MERGE, &sides[0], &sides[1]);
		assert_int_equal(merged.filter.table_count, 2);
		assert_int_equal(merged.filter.stashes, 2);
		assert_int_equal(merged.filter.tables[0].items, 12);
		assert_int_equal(merged.filter.tables[1].items, 5);
		for (uint64_t i = 0; i < 7; i++)
			assert_int_equal(CopiesOf(&merged, KeyHash(1, i)), i == 4 || i == 5 ? 6 : 8);
		assert_int_equal(ProblemOf(&merged), CUCKOO_VALID);
		for (int side = 0; side < 2; side++)
			FreeFilter(&sides[side]);
		FreeFilter(&merged);
	}
}

/* Many classes that share a bucket, with a few copies on either side. */
static void
crowded_blocks_lose_no_class(void **state)
{
	uint64_t	random = 4;
	int			with_stash = 0;

	(void) state;
	for (uint64_t run = 0; run < 1500; run++)
	{
		CuckooShape shape = ShapeOf(1 + RandomBelow(&random, 2), 20 + 2 * RandomBelow(&random, 80),
									8 + (int) RandomBelow(&random, 6), CUCKOO_SEMISORTED);
		uint32_t	keys = 4 + RandomBelow(&random, 40);
		uint32_t	places = 1 + RandomBelow(&random, 4);
		uint64_t	hashes[44];
		int			copies[44] = {0};
		Owned		sides[2];
		Owned		forth;
		Owned		back;

		for (int side = 0; side < 2; side++)
		{
			sides[side] = TableOf(&shape);
			for (uint32_t key = 0; key < keys; key++)
			{
				hashes[key] = KeyHash(run, 1000 + key % places) >> 32 << 32 |
					(uint32_t) KeyHash(run, key);
				for (uint32_t i = RandomBelow(&random, 5); i > 0; i--)
					copies[key] += CuckooFilterAdd(&sides[side].filter, hashes[key]) != CUCKOO_FULL;
			}
			assert_int_equal(sides[side].filter.table_count, 1);
		}
		forth = Combine(CUCKOO_MERGE, &sides[0], &sides[1]);
		back = Combine(CUCKOO_MERGE, &sides[1], &sides[0]);
		assert_true(SameBytes(&forth, &back));
		assert_int_equal(ProblemOf(&forth), CUCKOO_VALID);
		with_stash += forth.filter.stashes != 0;
		for (uint32_t key = 0; key < keys; key++)
		{
			int			wanted = copies[key] < CUCKOO_MAX_COPIES ? copies[key] : CUCKOO_MAX_COPIES;

			assert_true(CopiesOf(&forth, hashes[key]) >= wanted);

			/* What a stash has of a class is all that there is. */
			if (forth.filter.stashes != 0 &&
				CuckooTableContains(&forth.filter.tables[1], hashes[key]))
			{
				assert_int_equal(CuckooTableCount(&forth.filter.tables[1], hashes[key]), 1);
				assert_int_equal(CuckooTableCount(&forth.filter.tables[0], hashes[key]), 0);
			}
		}
		FreeFilter(&sides[0]);
		FreeFilter(&sides[1]);
		FreeFilter(&forth);
		FreeFilter(&back);
	}
	assert_true(with_stash > 300);
}

/* A stash without room takes nothing more: then the tables are held. */
static void
tables_are_held_where_the_stash_has_no_room(void **state)
{
	CuckooShape shapes[2];
	Owned		a;
	Owned		b;
	Owned		merged;

	(void) state;
	shapes[0] = shapes[1] = ShapeOf(1, 4, 16, CUCKOO_SEMISORTED);
	a = NewFilterOf(shapes, 2, 0.01, 100);
	b = NewFilterOf(shapes, 1, 0.01, 100);
	MakeStashes(&a, 2);
	for (uint64_t i = 0; a.filter.tables[1].items < CuckooShapeEntries(&shapes[1]); i++)
		PutInStash(&a, 1, KeyHash(1, i));
	assert_int_equal(CuckooFilterAdd(&a.filter, KeyHash(2, 0)), CUCKOO_INSERTED);
	for (int i = 0; i < CUCKOO_MAX_COPIES; i++)
		assert_int_equal(CuckooFilterAdd(&b.filter, KeyHash(2, 1)), CUCKOO_INSERTED);
	merged = Combine(CUCKOO_MERGE, &a, &b);
	assert_int_equal(merged.filter.table_count, 3);
	assert_int_equal(merged.filter.stashes, 4);
	assert_int_equal(CopiesOf(&merged, KeyHash(2, 1)), CUCKOO_MAX_COPIES);
	assert_int_equal(merged.filter.items, a.filter.items + b.filter.items);
	assert_int_equal(ProblemOf(&merged), CUCKOO_VALID);
	FreeFilter(&a);
	FreeFilter(&b);
	FreeFilter(&merged);
}

/* Full tables with keys of eight copies fit together without these. */
static void
tables_too_full_together_fit_without_what_sticks(void **state)
{
	CuckooShape shape = ShapeOf(1, 1000, 16, CUCKOO_SEMISORTED);
	Owned		sides[2];
	Owned		merged;

	(void) state;
	for (int side = 0; side < 2; side++)
	{
		sides[side] = TableOf(&shape);
		for (uint64_t i = 0; i < 20; i++)
		{
			for (int copy = 0; copy < CUCKOO_MAX_COPIES; copy++)
				assert_int_equal(CuckooFilterAdd(&sides[side].filter, KeyHash((uint64_t) side, i)),
								 CUCKOO_INSERTED);
		}
		/* Few find no room. */
		for (uint64_t i = 0; i < 1900; i++)
			CuckooFilterAdd(&sides[side].filter, KeyHash(2 + (uint64_t) side, i));
		assert_in_range(sides[side].filter.items, 160 + 1890, 160 + 1900);
	}
	for (int operation = CUCKOO_UNION; operation <= CUCKOO_MERGE; operation++)
	{
		merged = Combine((CuckooOperation) operation, &sides[0], &sides[1]);
		assert_int_equal(merged.filter.table_count, 2);
		assert_int_equal(merged.filter.stashes, 2);
		assert_int_equal(merged.filter.tables[1].items, 40);
		for (int side = 0; side < 2; side++)
		{
			for (uint64_t i = 0; i < 20; i++)
				assert_int_equal(CopiesOf(&merged, KeyHash((uint64_t) side, i)), CUCKOO_MAX_COPIES);
			for (uint64_t i = 0; i < 1900; i++)
				assert_true(CuckooFilterContains(&merged.filter, KeyHash(2 + (uint64_t) side, i)) ||
							!CuckooFilterContains(&sides[side].filter, KeyHash(2 + (uint64_t) side, i)));
		}
		assert_int_equal(ProblemOf(&merged), CUCKOO_VALID);
		FreeFilter(&merged);
	}
	FreeFilter(&sides[0]);
	FreeFilter(&sides[1]);
}

static void
more_than_sixteen_tables_conflict_unless_pairs_of_them_fit(void **state)
{
	CuckooShape shapes[9];
	Owned		a;
	Owned		b;
	Owned		merged;

	(void) state;
	for (int i = 0; i < 9; i++)
		shapes[i] = ShapeOf(1, (uint32_t) (20 + 2 * i), 12, CUCKOO_SEMISORTED);
	a = NewFilterOf(shapes, 9, 0.01, 100);
	b = NewFilterOf(shapes, 9, 0.01, 100);
	AddKeys(&a, 1, 0, 100);
	AddKeys(&b, 1, 100, 200);
	merged = Combine(CUCKOO_MERGE, &a, &b);
	assert_true(merged.filter.table_count <= CUCKOO_MAX_TABLES);
	assert_int_equal(CountMissing(&merged.filter, 1, 0, 200), 0);
	FreeFilter(&merged);

	for (uint64_t i = 0; CuckooFilterAdd(&a.filter, KeyHash(2, i)) != CUCKOO_FULL; i++)
		;
	for (uint64_t i = 0; CuckooFilterAdd(&b.filter, KeyHash(3, i)) != CUCKOO_FULL; i++)
		;
	assert_int_equal(TryCombine(CUCKOO_MERGE, &a, &b, &merged), CUCKOO_TOO_MANY_TABLES);
	assert_int_equal(TryCombine(CUCKOO_UNION, &a, &b, &merged), CUCKOO_TOO_MANY_TABLES);
	FreeFilter(&a);
	FreeFilter(&b);
}

static void
an_empty_side_adds_nothing_whatever_its_tables(void **state)
{
	CuckooShape shape = ShapeOf(1, 20, 12, CUCKOO_SEMISORTED);
	CuckooShape other = ShapeOf(1, 60, 12, CUCKOO_SEMISORTED);
	Owned		a = TableOf(&shape);
	Owned		empty = TableOf(&other);

	(void) state;
	AddKeys(&a, 1, 0, 30);
	for (int i = 0; i < 4; i++)
	{
		Owned		result = Combine((CuckooOperation) (i / 2), i % 2 ? &a : &empty,
									 i % 2 ? &empty : &a);

		assert_true(SameBytes(&result, &a));
		FreeFilter(&result);
	}
	FreeFilter(&a);
	FreeFilter(&empty);
}

/* Where both spent the whole rate the result shows what that means. */
static void
the_rate_of_a_combined_filter_is_what_it_says(void **state)
{
	const uint64_t keys = 20000;
	const uint64_t asked = 2000000;

	(void) state;
	for (int held = 0; held < 2; held++)
	{
		CuckooShape shape;
		Owned		a;
		Owned		b;
		Owned		merged;
		double		rate;
		double		sigma = 0;

		Require(CuckooShapeFor(&shape, held ? keys : 2 * keys, 10, CUCKOO_SEMISORTED, 0));
		a = TableOf(&shape);
		b = TableOf(&shape);
		AddKeys(&a, 1, 0, keys);
		AddKeys(&b, 1, keys, 2 * keys);
		merged = Combine(CUCKOO_MERGE, &a, &b);
		assert_int_equal(merged.filter.table_count, 1 + held);
		for (int i = 0; i < merged.filter.table_count; i++)
			sigma += RateSigma(&shape, merged.filter.tables[i].items, (double) asked);
		rate = (double) CountFound(&merged.filter, 2, 0, asked) / (double) asked;
		assert_true(fabs(rate - CuckooFilterRate(&merged.filter)) < 5 * sigma);
		FreeFilter(&a);
		FreeFilter(&b);
		FreeFilter(&merged);
	}
}

/* ----------------------------------------------------------------- model */

/*
 * Several filters, each beside the copies of every key that must be in it.
 * With n copies a filter counts at least min(n, 8), whatever was done.
 */
#define FILTERS		4
#define MAX_KEYS	160

typedef struct Modelled
{
	Owned		owned;
	int			copies[MAX_KEYS];
} Modelled;

static bool
NothingIsLost(const Modelled *modelled, const uint64_t *hashes, uint32_t keys)
{
	for (uint32_t key = 0; key < keys; key++)
	{
		int			count = CopiesOf(&modelled->owned, hashes[key]);
		int			wanted = modelled->copies[key];

		if (count < (wanted < CUCKOO_MAX_COPIES ? wanted : CUCKOO_MAX_COPIES) ||
			CuckooFilterContains(&modelled->owned.filter, hashes[key]) != (count > 0))
			return false;
	}
	return true;
}

/*
 * An empty filter: a list, or tables of the shapes that all of a run share, of
 * which the second, if there is one, is a stash and holds a few keys: that of
 * the first, in every other run.
 */
static void
StartAnew(Modelled *modelled, const CuckooShape shapes[2], double fpr, uint64_t capacity,
		  int tables, const uint64_t *hashes, uint64_t *random)
{
	memset(modelled->copies, 0, sizeof(modelled->copies));
	modelled->owned = tables == 0 ? NewFilter(fpr, capacity, 0, (CuckooLayout) shapes->layout) :
		NewFilterOf(shapes, tables, fpr, capacity);
	modelled->owned.filter.kind = CUCKOO_KIND_TEXT;
	if (tables == 2)
	{
		MakeStashes(&modelled->owned, 2);
		for (int i = 0; i < 3; i++)
		{
			uint32_t	key = RandomBelow(random, 20);

			if (PutInStash(&modelled->owned, 1, hashes[key]))
				modelled->copies[key]++;
		}
	}
}

static void
RunModel(uint64_t seed, int operations)
{
	uint64_t	random = seed * 7919 + 1;
	uint32_t	keys = 20 + RandomBelow(&random, MAX_KEYS - 20);
	CuckooShape shapes[2] = {RandomShape(&random, 2, 6, 4), RandomShape(&random, 2, 6, 4)};
	double		fpr = RandomBelow(&random, 2) ? 0.1 : 0.02;
	uint64_t	capacity = RandomBelow(&random, 2) ? 0 : 40;
	uint64_t   *hashes = Allocate(keys * sizeof(uint64_t));
	Modelled	filters[FILTERS];

	shapes[1].layout = shapes[0].layout;
	if (seed % 2 == 0)
		shapes[1] = shapes[0];
	for (uint32_t key = 0; key < keys; key++)
		hashes[key] = KeyHash(seed, key);
	for (int i = 0; i < FILTERS; i++)
		StartAnew(&filters[i], shapes, fpr, capacity, i > 2 ? 1 : i, hashes, &random);

	for (int step = 0; step < operations; step++)
	{
		Modelled   *modelled = &filters[RandomBelow(&random, FILTERS)];
		uint32_t	key = RandomBelow(&random, keys);
		uint32_t	action = RandomBelow(&random, 1000);
		CuckooFilter *filter = &modelled->owned.filter;

		if (action < 500)
		{
			AddKey(&modelled->owned, hashes[key]);
			modelled->copies[key]++;
		}
		else if (action < 960)
		{
			if (modelled->copies[key] > 0 && !(filter->flags & CUCKOO_FLAG_NOT_REMOVABLE))
			{
				CuckooFilterRemove(filter, hashes[key]);
				modelled->copies[key]--;
			}
		}
		else if (action < 988)
		{
			const Modelled *other = &filters[RandomBelow(&random, FILTERS)];
			CuckooOperation operation = action < 968 ? CUCKOO_UNION : CUCKOO_MERGE;
			Owned		result;

			assert_int_equal(TryCombine(operation, &modelled->owned, &other->owned, &result),
							 CUCKOO_NO_CONFLICT);
			assert_int_equal(ProblemOf(&result), CUCKOO_VALID);
			for (uint32_t i = 0; i < keys; i++)
			{
				if (operation == CUCKOO_MERGE)
				{
					/* Merged with itself again and again it would overflow. */
					modelled->copies[i] += other->copies[i];
					if (modelled->copies[i] > 1000000)
						modelled->copies[i] = 1000000;
				}
				else if (modelled->copies[i] < other->copies[i])
					modelled->copies[i] = other->copies[i];
			}
			FreeFilter(&modelled->owned);
			modelled->owned = result;
		}
		else
			filter->table_count = CUCKOO_MAX_TABLES;	/* given up below */

		/* Up to eight tables; two of those still make one filter. */
		if (filter->table_count > 8)
		{
			filter->table_count = 0;
			FreeFilter(&modelled->owned);
			StartAnew(modelled, shapes, fpr, capacity, (int) RandomBelow(&random, 3), hashes, &random);
		}
		if (!NothingIsLost(modelled, hashes, action < 960 && step % 16 ? 1 : keys))
			fail_msg("seed %llu: a key is lost at step %d", (unsigned long long) seed, step);
	}
	for (int i = 0; i < FILTERS; i++)
		FreeFilter(&filters[i].owned);
	free(hashes);
}

static void
a_million_random_operations_on_several_filters_lose_nothing(void **state)
{
	(void) state;
	for (uint64_t seed = 0; seed < 100; seed++)
		RunModel(seed, 10000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_header_of_the_result_follows_from_both),
		cmocka_unit_test(other_kinds_and_seeds_conflict_unless_one_side_is_empty),
		cmocka_unit_test(an_unset_filter_takes_everything_from_the_other),
		cmocka_unit_test(lists_are_combined_by_their_hashes),
		cmocka_unit_test(lists_that_become_too_long_become_the_table_built_from_all_their_hashes),
		cmocka_unit_test(lists_longer_than_the_capacity_stated_find_room),
		cmocka_unit_test(lists_of_many_copies_of_each_key_find_room),
		cmocka_unit_test(a_list_goes_into_tables_by_its_hashes),
		cmocka_unit_test(merging_disjoint_parts_equals_the_build_of_the_whole_byte_for_byte),
		cmocka_unit_test(tables_that_fit_combine_commutatively_and_associatively_in_bytes),
		cmocka_unit_test(a_class_has_the_larger_count_in_a_union_and_the_sum_up_to_eight_in_a_merge),
		cmocka_unit_test(tables_beyond_the_design_load_are_held_side_by_side),
		cmocka_unit_test(tables_are_held_where_a_single_block_has_no_room),
		cmocka_unit_test(a_union_with_what_is_in_it_already_adds_no_table),
		cmocka_unit_test(a_union_of_equal_full_tables_is_the_same_either_way_round),
		cmocka_unit_test(a_full_table_kept_of_another_layout_is_ordered_by_its_own_bytes),
		cmocka_unit_test(other_shapes_are_held_smaller_first),
		cmocka_unit_test(a_semisorted_table_is_written_anew_where_the_other_is_plain),
		cmocka_unit_test(tables_held_have_one_order_whatever_their_sides),
		cmocka_unit_test(stashes_combine_with_stashes_only),
		cmocka_unit_test(crowded_filters_become_one),
		cmocka_unit_test(what_two_blocks_have_no_room_for_goes_to_a_stash),
		cmocka_unit_test(what_sticks_goes_to_the_stash_of_either_side),
		cmocka_unit_test(crowded_blocks_lose_no_class),
		cmocka_unit_test(tables_are_held_where_the_stash_has_no_room),
		cmocka_unit_test(tables_too_full_together_fit_without_what_sticks),
		cmocka_unit_test(more_than_sixteen_tables_conflict_unless_pairs_of_them_fit),
		cmocka_unit_test(an_empty_side_adds_nothing_whatever_its_tables),
		cmocka_unit_test(the_rate_of_a_combined_filter_is_what_it_says),
		cmocka_unit_test(a_million_random_operations_on_several_filters_lose_nothing),
	};

	return cmocka_run_group_tests_name("combine", tests, NULL, NULL);
}
