/*-------------------------------------------------------------------------
 *
 * model.h
 *	  Random operations on filters, compared with an exact model of their
 *	  content.
 *
 * There are two models at once.
 *
 * The first knows what the filter promises its user: which keys it contains,
 * and how often.  If n copies of a key were added and not removed, the filter
 * counts at least min(n, 8).  The condition of this promise is that only keys
 * that were added are removed.
 *
 * The second knows what the tables must hold, class by class: a multiset for
 * each shape, changed only by the rules of filter.h.  After each batch, every
 * table must hold exactly its multiset, sparse tables must have their only
 * form, and the rules must allow the representation.  The model opens and
 * drops tables itself, and knows when a table turns sparse or dense, except
 * that the core decides whether a walk in a dense table finds room.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_TEST_MODEL_H
#define CUCKOO_TEST_MODEL_H

#include "support.h"

/* ---------------------------------------------------------------- models */

typedef struct ModelTable
{
	CuckooShape shape;
	uint64_t   *codes;			/* sorted, with copies */
	uint64_t	count;
	uint64_t	room;			/* for codes */
	uint64_t	before;			/* their count before a batch */
	bool		dense;
} ModelTable;

typedef struct Model
{
	double		fpr;
	uint64_t	capacity;
	uint64_t	universe;		/* keys 0 up to this one */
	uint64_t   *hashes;			/* of these, sorted */
	uint32_t   *copies;			/* of each, as its user counts */
	bool		removable;		/* a union may have taken two keys for one */
	int			table_count;
	ModelTable	tables[CUCKOO_MAX_TABLES];
} Model;

/* How many keys were added, removed or combined so far. */
static uint64_t operations;

static ModelTable *
OpenTable(Model *model, const CuckooShape *shape)
{
	ModelTable *table = &model->tables[model->table_count++];

	assert_true(model->table_count <= CUCKOO_MAX_TABLES);
	table->shape = *shape;
	table->room = 16;
	table->codes = Allocate(16 * sizeof(uint64_t));
	table->count = 0;
	table->before = 0;
	table->dense = false;
	return table;
}

static void
DropTable(Model *model, int i)
{
	model->table_count--;
	memmove(&model->tables[i], &model->tables[i + 1],
			(size_t) (model->table_count - i) * sizeof(ModelTable));
}

static int
CopiesOf(const ModelTable *table, uint64_t hash)
{
	return CountIn(table->codes, table->count, CuckooCodeOf(&table->shape, hash));
}

static void
InsertCode(ModelTable *table, uint64_t code)
{
	uint64_t	at = LowerBound(table->codes, table->count, code);

	if (table->count == table->room)
	{
		uint64_t   *old = table->codes;

		table->room *= 2;
		table->codes = Allocate((size_t) table->room * sizeof(uint64_t));
		memcpy(table->codes, old, (size_t) table->count * sizeof(uint64_t));
		pfree(old);
	}
	memmove(&table->codes[at + 1], &table->codes[at],
			(size_t) (table->count - at) * sizeof(uint64_t));
	table->codes[at] = code;
	table->count++;
}

static void
DeleteCode(ModelTable *table, uint64_t code)
{
	uint64_t	at = LowerBound(table->codes, table->count, code);

	table->count--;
	memmove(&table->codes[at], &table->codes[at + 1],
			(size_t) (table->count - at) * sizeof(uint64_t));
}

/*
 * The hashes of the keys: some are random, some share a class of the first
 * table with another key, or its pair of buckets, its block, or its group of
 * high parts.
 */
static void
MakeHashes(Model *model)
{
	int			related = Below(3) == 0 ? (int) Below(100) : 0;
	uint64_t	end;
	uint64_t	fingerprints;
	uint64_t	block;
	uint64_t	group;
	CuckooFilter filter;
	CuckooShape shape;
	CuckooSparse sparse;

	CuckooFilterInit(&filter, model->fpr, model->capacity, 0);
	assert_true(CuckooFirstShape(&filter, &shape));
	CuckooSparseInit(&sparse, &shape, model->universe / 2);
	end = CuckooShapeCodes(&shape);
	fingerprints = shape.fingerprints;
	block = (uint64_t) (shape.buckets / 2) << shape.bits;
	group = (uint64_t) CUCKOO_GROUP << sparse.low_bits;
	model->hashes = Allocate((size_t) model->universe * sizeof(uint64_t));
	for (uint64_t key = 0; key < model->universe; key++)
	{
		uint64_t	other;
		uint64_t	code;

		model->hashes[key] = NextRandom();
		if (key == 0 || (int) Below(100) >= related)
			continue;
		other = CuckooCodeOf(&shape, model->hashes[Below((uint32_t) key)]);
		switch (Below(4))
		{
			case 0:
				code = other;
				break;
			case 1:
				code = (other >> shape.bits << shape.bits) + 1 + NextRandom() % fingerprints;
				break;
			case 2:
				code = other / block * block + NextRandom() % block;
				break;
			default:
				code = other / group * group + NextRandom() % group;
				break;
		}
		/* The promise does not cover keys with equal hashes. */
		if (code < end && (code & fingerprints) != 0)
			model->hashes[key] = HashOfCode(&shape, code) + key;
	}
	SortNumbers(model->hashes, model->universe);
}

/* An empty one over the same keys */
static Model
OtherModel(const Model *model)
{
	Model		other = *model;

	other.table_count = 0;
	other.removable = true;
	other.copies = Allocate((size_t) model->universe * sizeof(uint32_t));
	return other;
}

/* The shape of the next table, which filter_test.c tests */
static bool
NextShape(const Model *model, CuckooShape *shape)
{
	CuckooFilter filter;

	CuckooFilterInit(&filter, model->fpr, model->capacity, 0);
	filter.header.table_count = (uint8_t) model->table_count;
	filter.tables[model->table_count - 1].shape =
		model->tables[model->table_count - 1].shape;
	return CuckooNextShape(&filter, shape);
}

static CuckooOutcome
ModelAdd(Model *model, uint64_t key)
{
	uint64_t	hash = model->hashes[key];
	ModelTable *holder = NULL;
	ModelTable *newest = NULL;

	for (int i = 0; i < model->table_count; i++)
	{
		ModelTable *table = &model->tables[i];
		int			copies = CopiesOf(table, hash);

		if (copies == 8)
			return CUCKOO_UNCHANGED;
		if (table->count < CuckooShapeCapacity(&table->shape))
		{
			newest = table;
			if (copies > 0)
				holder = table;
		}
	}
	if (newest == NULL)
	{
		CuckooShape shape;

		if (!NextShape(model, &shape))
			return CUCKOO_FULL;
		newest = OpenTable(model, &shape);
	}
	if (holder == NULL)
		holder = newest;
	InsertCode(holder, CuckooCodeOf(&holder->shape, hash));
	return CUCKOO_CHANGED;
}

static CuckooOutcome
ModelRemove(Model *model, uint64_t key)
{
	uint64_t	hash = model->hashes[key];
	int			holder = -1;
	ModelTable *table;

	for (int i = 0; i < model->table_count; i++)
	{
		if (CopiesOf(&model->tables[i], hash) == 0)
			continue;
		if (holder >= 0)
			return CUCKOO_UNCHANGED;
		holder = i;
	}
	if (holder < 0)
		return CUCKOO_UNCHANGED;
	table = &model->tables[holder];
	if (CopiesOf(table, hash) == 8)
		return CUCKOO_UNCHANGED;
	DeleteCode(table, CuckooCodeOf(&table->shape, hash));
	if (table->count == 0 && model->table_count > 1)
		DropTable(model, holder);
	return CUCKOO_CHANGED;
}

/* --------------------------------------------------------------- checking */

/* Check that the table holds exactly the multiset. */
static void
CheckModelTable(const ModelTable *expected, const CuckooTable *table)
{
	assert_int_equal(CuckooShapeOrder(&expected->shape, &table->shape), 0);
	CheckTable(table, expected->codes, expected->count, 20);
	assert_true(table->representation == CUCKOO_SPARSE ||
				2 * expected->count >= CuckooShapeEntries(&table->shape));
}

static void
CheckModel(const Model *model, const Value *value)
{
	CuckooFilter filter = Open(value);

	assert_true(IsValid(value));
	assert_int_equal(filter.header.table_count, model->table_count);
	for (int i = 0; i < model->table_count; i++)
		CheckModelTable(&model->tables[i], &filter.tables[i]);
	for (uint64_t key = 0; key < model->universe; key++)
	{
		uint32_t	copies = model->copies[key] < 8 ? model->copies[key] : 8;

		if (copies == 0)
			continue;
		if (!CuckooFilterContains(&filter, model->hashes[key]) ||
			(model->removable &&
			 (uint32_t) CuckooFilterCount(&filter, model->hashes[key]) < copies))
			fail_msg("key %llu of %llu has lost copies: %d of %u",
					 (unsigned long long) key, (unsigned long long) model->universe,
					 CuckooFilterCount(&filter, model->hashes[key]), copies);
	}
}

/* Check the result of a build or combination. */
static void
CheckMade(Model *model, const Value *value)
{
	CuckooFilter filter = Open(value);

	CheckModel(model, value);
	for (int i = 0; i < filter.header.table_count; i++)
	{
		const CuckooTable *table = &filter.tables[i];
		uint64_t	entries = CuckooShapeEntries(&table->shape);

		/* Or it is sparse because it cannot be placed. */
		model->tables[i].dense = table->representation == CUCKOO_DENSE;
		if (4 * table->items < 3 * entries || table->items > entries)
			assert_true(!model->tables[i].dense);
	}
}

/* After a batch, check the representation of a table. */
static void
CheckRepresentation(ModelTable *expected, const CuckooTable *table, CuckooAction action)
{
	uint64_t	entries = CuckooShapeEntries(&table->shape);
	bool		dense = table->representation == CUCKOO_DENSE;

	assert_int_equal(table->items, expected->count);
	if (action == CUCKOO_REMOVE)
		assert_int_equal(dense, expected->dense && 2 * table->items >= entries);
	else if (!expected->dense && (4 * table->items < 3 * entries ||
								  4 * expected->before >= 3 * entries))
		assert_true(!dense);
	/* Or the core has found no room.  dense_test.c tests that it is right. */
	expected->dense = dense;
}

/* ------------------------------------------------------------------ lives */

/* Build a filter of about share percent of the keys, with one copy of each. */
static Value
BuildSome(Model *model, uint32_t share)
{
	uint64_t   *hashes = Allocate((size_t) model->universe * sizeof(uint64_t));
	uint64_t	count = 0;
	CuckooFilter filter;
	ModelTable *table;
	Value		value;

	for (uint64_t key = 0; key < model->universe; key++)
	{
		if (Below(100) < share)
		{
			hashes[count++] = model->hashes[key];
			model->copies[key] = 1;
		}
	}
	value = ValueOfHashes(hashes, count, model->fpr, model->capacity);
	filter = Open(&value);
	model->capacity = filter.header.capacity;
	table = OpenTable(model, &filter.tables[0].shape);
	for (uint64_t i = 0; i < count; i++)
	{
		if (CopiesOf(table, hashes[i]) < 8)
			InsertCode(table, CuckooCodeOf(&table->shape, hashes[i]));
	}
	CheckMade(model, &value);
	return value;
}

/*
 * Add or remove one key, or some, which may be repeated, in one batch, for
 * which the newest table with room is large enough.  The model does it key by
 * key in the order of hashes.  Returns false if the filter is full.
 */
static bool
ChangeTogether(Model *model, CuckooDraft *draft, CuckooAction action, uint32_t tries, uint32_t most)
{
	uint64_t	keys[200];
	uint64_t	hashes[200];
	uint64_t	room = 1;		/* in a new table, which may not be possible */
	uint64_t	items = 0;
	size_t		count = 0;
	size_t		expected = 0;
	size_t		changed;
	CuckooOutcome outcome = CUCKOO_UNCHANGED;

	for (int i = 0; i < model->table_count; i++)
	{
		ModelTable *table = &model->tables[i];
		uint64_t	capacity = CuckooShapeCapacity(&table->shape);

		table->before = table->count;
		if (table->count < capacity)
			room = capacity - table->count;
	}
	for (; tries > 0; tries--)
	{
		uint64_t	key = Below((uint32_t) model->universe);
		uint32_t   *copies = &model->copies[key];

		if (action == CUCKOO_REMOVE ? *copies == 0 : *copies >= most || count == room)
			continue;
		keys[count++] = key;
		if (action == CUCKOO_REMOVE)
			(*copies)--;
		else if (action == CUCKOO_ADD || *copies == 0)
			(*copies)++;
	}
	SortNumbers(keys, count);
	for (size_t i = 0; i < count; i++)
	{
		bool		contained = false;

		hashes[i] = model->hashes[keys[i]];
		for (int t = 0; t < model->table_count && action == CUCKOO_ADD_NEW; t++)
			contained |= CopiesOf(&model->tables[t], hashes[i]) > 0;
		outcome = contained ? CUCKOO_UNCHANGED :
			action == CUCKOO_REMOVE ? ModelRemove(model, keys[i]) : ModelAdd(model, keys[i]);
		expected += outcome == CUCKOO_CHANGED;
	}
	assert_int_equal(CuckooDraftApply(draft, hashes, count, action, &changed), outcome);
	assert_int_equal(changed, expected);
	operations += count;
	if (outcome == CUCKOO_FULL)
	{
		model->copies[keys[0]]--;
		return false;
	}
	assert_int_equal(draft->filter.header.table_count, model->table_count);
	for (int i = 0; i < model->table_count; i++)
	{
		CheckRepresentation(&model->tables[i], &draft->filter.tables[i], action);
		items += model->tables[i].count;
	}
	assert_int_equal(draft->filter.header.items, items);
	for (size_t i = 0; i < count && action != CUCKOO_REMOVE; i++)
		assert_true(CuckooFilterContains(&draft->filter, hashes[i]));
	return true;
}

/* Add and remove at random. */
static void
LiveOn(Model *model, Value *value, uint64_t steps)
{
	CuckooDraft draft;
	uint32_t	most = Below(4) == 0 ? 20 : Below(3) == 0 ? 3 : 1;
	uint32_t	adding = 50;

	CuckooDraftOpen(&draft, value->bytes, value->length);
	for (uint64_t step = 0; step < steps && (choices == NULL || choices_left > 0); step++)
	{
		uint32_t	tries = Below(20) > 0 ? 1 : 1 + Below(Below(4) == 0 ? 200 : 10);
		CuckooAction action;

		/*
		 * In some runs more is added, in others more is removed.  A few only
		 * add or only remove, long enough to fill and to empty tables.
		 */
		if (step % (4 * model->universe + 20) == 0)
			adding = Below(3) == 0 ? (Below(2) ? 100 : 0) : Below(101);
		action = Below(100) < adding ? CUCKOO_ADD : CUCKOO_REMOVE;
		if (tries > 1 && action == CUCKOO_ADD && Below(50) == 0)
		{
			action = CUCKOO_ADD_NEW;
			model->removable = false;
		}
		if (action == CUCKOO_REMOVE && !model->removable)
			continue;
		if (!ChangeTogether(model, &draft, action, tries, most))
			break;
	}
	*value = Finish(&draft);
}

/* The model of a combination, whose keys are those of the first. */
static void
ModelCombine(CuckooOperation operation, Model *model, const Model *other)
{
	bool		all = operation == CUCKOO_UNION_ALL;

	for (int i = 0; i < other->table_count; i++)
	{
		const ModelTable *from = &other->tables[i];
		int			at = 0;
		int			copy = 0;

		while (at < model->table_count &&
			   CuckooShapeOrder(&model->tables[at].shape, &from->shape) < 0)
			at++;
		if (at == model->table_count ||
			CuckooShapeOrder(&model->tables[at].shape, &from->shape) != 0)
		{
			ModelTable	opened = *OpenTable(model, &from->shape);

			memmove(&model->tables[at + 1], &model->tables[at],
					(size_t) (model->table_count - 1 - at) * sizeof(ModelTable));
			model->tables[at] = opened;
		}
		for (uint64_t k = 0; k < from->count; k++)
		{
			ModelTable *to = &model->tables[at];
			uint64_t	code = from->codes[k];

			copy = k > 0 && from->codes[k - 1] == code ? copy + 1 : 1;
			if (CountIn(to->codes, to->count, code) < (all ? 8 : copy))
				InsertCode(to, code);
		}
	}
	if (other->capacity > model->capacity)
		model->capacity = other->capacity;
	if (other->fpr < model->fpr)
		model->fpr = other->fpr;
	/* Keys share items after a union, and where only new ones were added. */
	if (!all || !other->removable)
		model->removable = false;
	for (uint64_t key = 0; key < model->universe; key++)
	{
		uint32_t	here = model->copies[key];
		uint32_t	there = other->copies[key];

		model->copies[key] = all ? here + there : here > there ? here : there;
	}
}

/* Up to nine other filters over the same keys, combined with the first. */
static void
CombineOthers(Model *model, Value *value)
{
	CuckooOperation operation = Below(2) ? CUCKOO_UNION_ALL : CUCKOO_UNION;
	int			count = 1 + (int) Below(9);
	Value		values[10];
	int			tables = model->table_count;

	values[0] = *value;
	for (int i = 1; i <= count; i++)
	{
		Model		other = OtherModel(model);

		if (Below(4) == 0 && tables < 12)
			other.capacity = Below(2) ? 0 : 1 + Below(2000);
		values[i] = BuildSome(&other, Below(10) == 0 ? 0 : Below(30));
		LiveOn(&other, &values[i], Below(300));
		CheckModel(&other, &values[i]);
		tables += other.table_count;
		if (tables > CUCKOO_MAX_TABLES - 4)
			count = i;
		ModelCombine(operation, model, &other);
	}
	*value = Combine(operation, values, count + 1);
	CheckMade(model, value);
	operations += (uint64_t) count;
}

/* How many items of a model's tables have a hash of this class in theirs. */
static uint64_t
Overlaps(const Model *model, const CuckooShape *shape, uint64_t code)
{
	uint64_t	overlaps = 0;

	for (int i = 0; i < model->table_count; i++)
	{
		const ModelTable *table = &model->tables[i];
		uint64_t	first = CuckooCodeOf(&table->shape, HashOfCode(shape, code));
		uint64_t	last = CuckooCodeOf(&table->shape, LastHashOfCode(shape, code));

		overlaps += LowerBound(table->codes, table->count, last + 1) -
			LowerBound(table->codes, table->count, first);
	}
	return overlaps;
}

/*
 * Intersect the filter with another one over the same keys, of any capacity and
 * rate.  No key of both is missing, and each table holds the classes whose
 * hashes include a hash of a class of the other filter.
 */
static void
IntersectOther(Model *model, Value *value)
{
	static const double rates[] = {0.1, 0.01, 0.001, 1e-5, 2e-8};
	Model		other = OtherModel(model);
	Value		other_value;
	Value		both;
	CuckooFilter filters[2];
	CuckooFilter filter;
	CuckooConflict conflict;
	const Model *kept;
	double		keys;
	double		error;
	int			swap = (int) Below(2);

	if (Below(3) > 0)
	{
		other.capacity = Below(3) ? 1 + Below(3000) : 0;
		other.fpr = rates[Below(lengthof(rates))];
	}
	other_value = BuildSome(&other, Below(101));
	LiveOn(&other, &other_value, Below(300));

	filters[swap] = Open(value);
	filters[1 - swap] = Open(&other_value);
	conflict = CuckooIntersect(&filters[0], &filters[1], &filter, &both.bytes);
	assert_int_equal(conflict, CUCKOO_NO_CONFLICT);
	both = Valid(both.bytes, &filter);
	for (uint64_t key = 0; key < model->universe; key++)
	{
		uint32_t	copies = model->copies[key] < other.copies[key] ?
			model->copies[key] : other.copies[key];

		if (copies > 0)
			assert_true(CuckooFilterContains(&filter, model->hashes[key]));
		if (model->removable && other.removable)
			assert_true((uint32_t) CuckooFilterCount(&filter, model->hashes[key]) >=
						(copies < 8 ? copies : 8));
	}

	/* common_test.c tests the estimate.  It must be a number for all filters. */
	conflict = CuckooCommon(&filters[0], &filters[1], &keys, &error);
	assert_int_equal(conflict, CUCKOO_NO_CONFLICT);
	assert_true(keys >= 0 && error >= 0);

	/* The rates are compared as if both were removable. */
	filters[0].header.flags = filters[1].header.flags = 0;
	kept = (CuckooFilterRate(&filters[1]) < CuckooFilterRate(&filters[0])) == (swap == 0) ?
		&other : model;
	assert_true(filter.header.fpr == kept->fpr && filter.header.capacity == kept->capacity);
	assert_int_equal(filter.header.table_count, kept->table_count);
	for (int i = 0; i < kept->table_count; i++)
	{
		const ModelTable *from = &kept->tables[i];
		ModelTable	expected = *from;
		uint64_t	copy = 0;

		expected.codes = Allocate((size_t) from->count * sizeof(uint64_t));
		expected.count = 0;
		for (uint64_t k = 0; k < from->count; k++)
		{
			copy = k > 0 && from->codes[k - 1] == from->codes[k] ? copy + 1 : 1;
			if (Overlaps(kept == model ? &other : model, &from->shape, from->codes[k]) >= copy)
				expected.codes[expected.count++] = from->codes[k];
		}
		CheckModelTable(&expected, &filter.tables[i]);
	}
	operations++;
}

/* The life of one filter over at most so many keys */
static void
Live(uint32_t most_keys)
{
	static const double rates[] = {0.1, 0.05, 0.01, 0.001, 1e-5, 1e-6, 2e-8};
	static const uint32_t universes[] = {1, 3, 10, 30, 100, 300, 1000, 1000, 5000, 20000};
	uint32_t	universe = 1 + Below(universes[Below(lengthof(universes))]);
	uint64_t	capacity = Below(4) == 0 ? 0 : 1 + Below(Below(3) == 0 ? 30 : 2 * universe);
	Model		model = {.removable = true};
	Value		value;
	int			batches = 1 + (int) Below(6);

	/* Rarely 100,000, because that takes long. */
	if (Below(600) == 0)
		universe = 60000 + Below(60000);
	if (universe > most_keys)
		universe = universe % most_keys + 1;
	model.fpr = rates[Below(lengthof(rates))];
	model.capacity = capacity;
	model.universe = universe;
	model.copies = Allocate(universe * sizeof(uint32_t));
	MakeHashes(&model);
	value = BuildSome(&model, Below(3) == 0 ? 0 : Below(101));
	operations += universe;
	for (int batch = 0; batch < batches; batch++)
	{
		LiveOn(&model, &value, Below(2) ? Below(300) :
			   Below((universe <= 1000 ? 16 : 2) * universe + 500));
		CheckModel(&model, &value);
		if (Below(2) == 0 && model.table_count < 8 && universe <= 5000)
			CombineOthers(&model, &value);
		if (Below(2) == 0 && universe <= 300)
			IntersectOther(&model, &value);
	}
}

#endif							/* CUCKOO_TEST_MODEL_H */
