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

#include "choices.h"

/* ---------------------------------------------- counted numbers, hashed */

/* A map from a number other than 0 to a count. */
typedef struct Counts
{
	uint64_t   *numbers;
	uint32_t   *counts;
	uint64_t	room;			/* a power of two */
	uint64_t	used;			/* numbers, also those with a count of 0 */
	uint64_t	total;
} Counts;

static void
CountsInit(Counts *counts, uint64_t room)
{
	counts->room = room;
	counts->used = 0;
	counts->total = 0;
	counts->numbers = Allocate((size_t) room * sizeof(uint64_t));
	counts->counts = Allocate((size_t) room * sizeof(uint32_t));
}

static uint64_t
CountsSlot(const Counts *counts, uint64_t number)
{
	uint64_t	h = number * UINT64_C(0xD6E8FEB86659FD93);
	uint64_t	at = (h >> 32) & (counts->room - 1);

	while (counts->numbers[at] != 0 && counts->numbers[at] != number)
		at = (at + 1) & (counts->room - 1);
	return at;
}

static uint32_t
CountsGet(const Counts *counts, uint64_t number)
{
	return counts->counts[CountsSlot(counts, number)];
}

static void
CountsSet(Counts *counts, uint64_t number, uint32_t count)
{
	uint64_t	at;

	if (2 * counts->used >= counts->room)
	{
		Counts		larger;

		CountsInit(&larger, 2 * counts->room);
		for (uint64_t i = 0; i < counts->room; i++)
		{
			if (counts->counts[i] > 0)
				CountsSet(&larger, counts->numbers[i], counts->counts[i]);
		}
		*counts = larger;
	}
	at = CountsSlot(counts, number);
	counts->used += counts->numbers[at] == 0;
	counts->numbers[at] = number;
	counts->total += count;
	counts->total -= counts->counts[at];
	counts->counts[at] = count;
}

/* ---------------------------------------------------------------- models */

typedef struct ModelTable
{
	CuckooShape shape;
	Counts		classes;		/* by code */
	bool		dense;
} ModelTable;

typedef struct Model
{
	double		fpr;
	uint64_t	capacity;
	uint64_t	universe;		/* keys 0 up to this one */
	uint64_t   *hashes;			/* of these */
	uint32_t   *copies;			/* of each, as its user counts */
	bool		removable;		/* a union may have taken two keys for one */
	int			changed;		/* the table changed last; -1: dropped */
	int			table_count;
	ModelTable	tables[CUCKOO_MAX_TABLES];
} Model;

static ModelTable *
OpenTable(Model *model, const CuckooShape *shape)
{
	ModelTable *table = &model->tables[model->table_count++];

	assert_true(model->table_count <= CUCKOO_MAX_TABLES);
	table->shape = *shape;
	table->dense = false;
	CountsInit(&table->classes, 16);
	return table;
}

static void
DropTable(Model *model, int i)
{
	model->table_count--;
	memmove(&model->tables[i], &model->tables[i + 1],
			(size_t) (model->table_count - i) * sizeof(ModelTable));
}

/*
 * The hashes of the keys: some are random, some share a class with another
 * key, or its pair of buckets, its block, or its group of high parts.
 */
static void
MakeHashes(Model *model, const CuckooShape *shape)
{
	int			related = Below(3) == 0 ? (int) Below(100) : 0;
	CuckooSparse sparse;
	Counts		taken;

	CountsInit(&taken, 16);
	CuckooSparseInit(&sparse, shape, model->universe / 2);
	for (uint64_t key = 0; key < model->universe; key++)
	{
		uint64_t	hash = NextRandom(&random_state);
		uint64_t	end = CuckooShapeCodes(shape);
		uint64_t	code;

		if (key > 0 && (int) Below(100) < related)
		{
			uint64_t	other = CuckooCodeOf(shape, model->hashes[Below((uint32_t) key)]);
			uint64_t	block = (uint64_t) (shape->buckets / 2) << shape->bits;
			uint64_t	group = (uint64_t) CUCKOO_GROUP << sparse.low_bits;

			switch (Below(4))
			{
				case 0:
					code = other;
					break;
				case 1:
					code = (other >> shape->bits << shape->bits) +
						NextRandom(&random_state) % CuckooShapeFingerprints(shape) + 1;
					break;
				case 2:
					code = other / block * block + NextRandom(&random_state) % block;
					break;
				default:
					code = other / group * group + NextRandom(&random_state) % group;
					break;
			}
			if (code < end && (code & CuckooShapeFingerprints(shape)) != 0)
				hash = HashOfCode(shape, code) + Below(50);
			/* The promise does not cover keys with equal hashes. */
			if (CountsGet(&taken, hash) > 0)
				hash = NextRandom(&random_state);
		}
		CountsSet(&taken, hash, 1);
		model->hashes[key] = hash;
	}
}

static void
ModelInit(Model *model, double fpr, uint64_t capacity, uint64_t universe)
{
	CuckooFilter filter;
	CuckooShape shape;

	model->fpr = fpr;
	model->capacity = capacity;
	model->universe = universe;
	model->hashes = Allocate((size_t) universe * sizeof(uint64_t));
	model->copies = Allocate((size_t) universe * sizeof(uint32_t));
	model->removable = true;
	model->table_count = 0;
	CuckooFilterInit(&filter, fpr, capacity, 0);
	assert_true(CuckooFirstShape(&filter, &shape));
	MakeHashes(model, &shape);
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

/* The rules for the next table, written independently of the core. */
static CuckooShape
NextTable(const Model *model)
{
	const CuckooShape *newest = &model->tables[model->table_count - 1].shape;
	int			asked = CuckooBitsFor(model->fpr);
	int			bits = newest->bits + 1 > asked + 2 ? newest->bits + 1 : asked + 2;
	uint64_t	keys = 32 * CuckooShapeCapacity(newest);
	CuckooShape shape;

	bits = bits < asked + 8 ? bits : asked + 8;
	bits = bits < 32 ? bits : 32;
	for (int i = 20; i <= 25; i += 5)
	{
		CuckooShapeFor(&shape, UINT64_C(1) << i, newest->bits);
		if (CuckooShapeOrder(&shape, newest) == 0)
			keys = UINT64_C(1) << (i + 5);
	}
	CuckooShapeFor(&shape, keys, bits);
	return shape;
}

static CuckooChange
ModelAdd(Model *model, uint64_t key)
{
	uint64_t	hash = model->hashes[key];
	int			holder = -1;
	int			newest = -1;
	ModelTable *table;
	uint64_t	code;

	for (int i = 0; i < model->table_count; i++)
	{
		uint64_t	items = model->tables[i].classes.total;
		uint32_t	copies = CountsGet(&model->tables[i].classes,
									   CuckooCodeOf(&model->tables[i].shape, hash));

		if (copies == 8)
			return CUCKOO_UNCHANGED;
		if (items < CuckooShapeCapacity(&model->tables[i].shape))
		{
			newest = i;
			if (copies > 0)
				holder = i;
		}
	}
	if (newest < 0)
	{
		CuckooShape shape = NextTable(model);

		if (model->table_count == CUCKOO_MAX_TABLES)
			return CUCKOO_FULL;
		OpenTable(model, &shape);
		newest = model->table_count - 1;
	}
	model->changed = holder >= 0 ? holder : newest;
	table = &model->tables[model->changed];
	code = CuckooCodeOf(&table->shape, hash);
	CountsSet(&table->classes, code, CountsGet(&table->classes, code) + 1);
	return CUCKOO_CHANGED;
}

static CuckooChange
ModelRemove(Model *model, uint64_t key)
{
	uint64_t	hash = model->hashes[key];
	int			holder = -1;
	uint64_t	code;
	Counts	   *classes;

	for (int i = 0; i < model->table_count; i++)
	{
		code = CuckooCodeOf(&model->tables[i].shape, hash);
		if (CountsGet(&model->tables[i].classes, code) == 0)
			continue;
		if (holder >= 0)
			return CUCKOO_UNCHANGED;
		holder = i;
	}
	if (holder < 0)
		return CUCKOO_UNCHANGED;
	classes = &model->tables[holder].classes;
	code = CuckooCodeOf(&model->tables[holder].shape, hash);
	if (CountsGet(classes, code) == 8)
		return CUCKOO_UNCHANGED;
	CountsSet(classes, code, CountsGet(classes, code) - 1);
	model->changed = holder;
	if (classes->total == 0 && model->table_count > 1)
	{
		model->changed = -1;
		DropTable(model, holder);
	}
	return CUCKOO_CHANGED;
}

/* --------------------------------------------------------------- checking */

/* The sorted codes of a table of the model. */
static uint64_t *
ModelCodes(const ModelTable *table)
{
	uint64_t   *codes = Allocate((size_t) table->classes.total * sizeof(uint64_t));
	size_t		count = 0;

	for (uint64_t i = 0; i < table->classes.room; i++)
	{
		for (uint32_t copy = 0; copy < table->classes.counts[i]; copy++)
			codes[count++] = table->classes.numbers[i];
	}
	assert_true(count == table->classes.total);
	SortNumbers(codes, count);
	return codes;
}

/* Check that the table holds exactly the multiset. */
static void
CheckModelTable(const ModelTable *expected, const CuckooTable *table)
{
	uint64_t   *codes = ModelCodes(expected);
	uint64_t	n = expected->classes.total;

	assert_int_equal(CuckooShapeOrder(&expected->shape, &table->shape), 0);
	CheckCodes(table, codes, n);
	assert_true(table->representation == CUCKOO_SPARSE ||
				2 * n >= CuckooShapeEntries(&table->shape));
	for (int i = 0; i < 20 && n > 0; i++)
	{
		uint64_t	hash = i % 2 == 0 ? HashOfCode(&table->shape, codes[Below((uint32_t) n)]) :
			NextRandom(&random_state);

		CheckLookup(table, hash, (int) CountsGet(&expected->classes,
												 CuckooCodeOf(&table->shape, hash)));
	}
}

static void
CheckModel(const Model *model, const Value *value)
{
	CuckooFilter filter = Open(value);

	assert_int_equal(ProblemOf(value), CUCKOO_VALID);
	assert_int_equal(filter.table_count, model->table_count);
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
	for (int i = 0; i < filter.table_count; i++)
	{
		const CuckooTable *table = &filter.tables[i];
		uint64_t	entries = CuckooShapeEntries(&table->shape);

		/* Or it is sparse because it cannot be placed. */
		model->tables[i].dense = table->representation == CUCKOO_DENSE;
		if (4 * table->items < 3 * entries || table->items > entries)
			assert_true(!model->tables[i].dense);
	}
}

/* After a change of one key, check the representation of its table. */
static void
CheckRepresentation(Model *model, const CuckooDraft *draft, bool add)
{
	ModelTable *expected = &model->tables[model->changed];
	const CuckooTable *table = &draft->filter.tables[model->changed];
	uint64_t	entries = CuckooShapeEntries(&table->shape);
	bool		dense = table->representation == CUCKOO_DENSE;

	if (!add)
		assert_int_equal(dense, expected->dense && 2 * table->items >= entries);
	else if (!expected->dense && 4 * table->items != 3 * entries)
		assert_true(!dense);
	/* Or the core has found no room.  dense_test.c tests that it is right. */
	expected->dense = dense;
}

/* ------------------------------------------------------------------ lives */

/* Build a filter of about share percent of the keys, with one copy of each. */
static Value
BuildSome(Model *model, uint32_t share)
{
	uint64_t   *hashes = Allocate(2 * (size_t) model->universe * sizeof(uint64_t));
	size_t		count = 0;
	CuckooFilter filter;
	CuckooShape shape;
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
	CuckooSort(hashes, hashes + model->universe, count);
	count = CuckooUnique(hashes, count);
	value = ValueOfHashes(hashes, count, model->fpr, model->capacity);
	filter = Open(&value);
	model->capacity = filter.capacity;
	shape = filter.tables[0].shape;
	table = OpenTable(model, &shape);
	for (size_t i = 0; i < count; i++)
	{
		uint64_t	code = CuckooCodeOf(&shape, hashes[i]);
		uint32_t	copies = CountsGet(&table->classes, code);

		CountsSet(&table->classes, code, copies < 8 ? copies + 1 : 8);
	}
	CheckMade(model, &value);
	return value;
}

/*
 * Add or remove some keys, which may be repeated, in one batch, for which the
 * newest table with room is large enough.  The model does it key by key in the
 * order of hashes.  Returns the number of operations.
 */
static uint64_t
ChangeTogether(Model *model, CuckooDraft *draft, CuckooEdit edit, uint32_t most)
{
	uint64_t	keys[200];
	uint64_t	hashes[200];
	size_t		count = 0;
	size_t		expected = 0;
	uint64_t	expected_items = 0;
	size_t		changed;
	size_t		done;
	CuckooChange change = CUCKOO_UNCHANGED;
	uint64_t	room = UINT64_MAX;

	for (int i = model->table_count - 1; i >= 0 && edit != CUCKOO_REMOVE; i--)
	{
		room = CuckooShapeCapacity(&model->tables[i].shape) - model->tables[i].classes.total;
		if (CuckooShapeCapacity(&model->tables[i].shape) > model->tables[i].classes.total)
			break;
		room = 1;
	}
	for (uint32_t left = 1 + Below(Below(4) == 0 ? 200 : 10); left > 0; left--)
	{
		uint64_t	key = Below((uint32_t) model->universe);
		size_t		at = count;

		if (count >= room ||
			(edit == CUCKOO_REMOVE ? model->copies[key] == 0 : model->copies[key] >= most))
			continue;
		for (; at > 0 && hashes[at - 1] > model->hashes[key]; at--)
		{
			keys[at] = keys[at - 1];
			hashes[at] = hashes[at - 1];
		}
		keys[at] = key;
		hashes[at] = model->hashes[key];
		count++;
		if (edit == CUCKOO_REMOVE)
			model->copies[key]--;
		else if (edit == CUCKOO_ADD || model->copies[key] == 0)
			model->copies[key]++;
	}
	for (done = 0; done < count && change != CUCKOO_FULL; done++)
	{
		bool		contained = false;
		uint64_t	key = keys[done];

		for (int t = 0; t < model->table_count && edit == CUCKOO_ADD_NEW; t++)
			contained |= CountsGet(&model->tables[t].classes,
								   CuckooCodeOf(&model->tables[t].shape, hashes[done])) > 0;
		change = contained ? CUCKOO_UNCHANGED :
			edit == CUCKOO_REMOVE ? ModelRemove(model, key) : ModelAdd(model, key);
		expected += change == CUCKOO_CHANGED;
	}
	/* A full filter took neither the last key nor those after it. */
	for (done -= change == CUCKOO_FULL; done < count; done++)
		model->copies[keys[done]]--;
	assert_int_equal(CuckooDraftApply(draft, hashes, count, edit, &changed), change);
	assert_int_equal(changed, expected);
	if (change == CUCKOO_FULL)
		return 0;
	assert_int_equal(draft->filter.table_count, model->table_count);
	for (int i = 0; i < model->table_count; i++)
		expected_items += model->tables[i].classes.total;
	assert_int_equal(draft->filter.items, expected_items);
	for (model->changed = 0; model->changed < model->table_count; model->changed++)
	{
		const CuckooTable *table = &draft->filter.tables[model->changed];

		if (edit == CUCKOO_REMOVE || 4 * table->items < 3 * CuckooShapeEntries(&table->shape))
			CheckRepresentation(model, draft, edit != CUCKOO_REMOVE);
		model->tables[model->changed].dense = table->representation == CUCKOO_DENSE;
	}
	return count + 1;
}

/* Add and remove at random; returns the number of operations. */
static uint64_t
LiveOn(Model *model, Value *value, uint64_t steps)
{
	CuckooDraft draft;
	uint32_t	most = Below(4) == 0 ? 20 : Below(3) == 0 ? 3 : 1;
	uint32_t	adding = 50;
	uint64_t	operations = 0;

	CuckooDraftOpen(&draft, value->bytes, value->length);
	for (uint64_t step = 0; step < steps && (choices == NULL || choices_left > 0); step++)
	{
		uint64_t	key = Below((uint32_t) model->universe);
		uint64_t	hash = model->hashes[key];
		CuckooChange change;

		/*
		 * In some runs more is added, in others more is removed.  A few only
		 * add or only remove, long enough to fill and to empty tables.
		 */
		if (step % (4 * model->universe + 20) == 0)
			adding = Below(3) == 0 ? (Below(2) ? 100 : 0) : Below(101);
		if (Below(20) == 0)
		{
			CuckooEdit	edit = Below(100) < adding ? CUCKOO_ADD : CUCKOO_REMOVE;
			uint64_t	done;

			if (edit == CUCKOO_ADD && Below(50) == 0)
			{
				edit = CUCKOO_ADD_NEW;
				model->removable = false;
			}
			if (edit == CUCKOO_REMOVE && !model->removable)
				continue;
			done = ChangeTogether(model, &draft, edit, most);
			operations += done;
			if (done == 0)
				break;
			continue;
		}
		if (Below(100) < adding)
		{
			if (model->copies[key] >= most)
				continue;
			change = ModelAdd(model, key);
			assert_int_equal(ApplyHash(&draft, CUCKOO_ADD, hash), change);
			operations++;
			if (change == CUCKOO_FULL)
				break;
			if (change == CUCKOO_CHANGED)
				CheckRepresentation(model, &draft, true);
			model->copies[key]++;
			assert_true(CuckooFilterContains(&draft.filter, hash));
		}
		else if (model->copies[key] > 0 && model->removable)
		{
			change = ModelRemove(model, key);
			assert_int_equal(ApplyHash(&draft, CUCKOO_REMOVE, hash), change);
			operations++;
			if (change == CUCKOO_CHANGED && model->changed >= 0)
				CheckRepresentation(model, &draft, false);
			model->copies[key]--;
		}
	}
	*value = Finish(&draft);
	return operations;
}

/* The model of a combination, whose keys are those of the first. */
static void
ModelCombine(CuckooOperation operation, Model *model, const Model *other, bool same_keys)
{
	for (int i = 0; i < other->table_count; i++)
	{
		const ModelTable *from = &other->tables[i];
		int			at = 0;
		Counts	   *classes;

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
		classes = &model->tables[at].classes;
		for (uint64_t k = 0; k < from->classes.room; k++)
		{
			uint32_t	there = from->classes.counts[k];
			uint64_t	code = from->classes.numbers[k];
			uint32_t	here = code == 0 ? 0 : CountsGet(classes, code);
			uint32_t	both = operation == CUCKOO_UNION_ALL ? here + there :
				here > there ? here : there;

			if (there > 0)
				CountsSet(classes, code, both < 8 ? both : 8);
		}
	}
	if (other->capacity > model->capacity)
		model->capacity = other->capacity;
	if (other->fpr < model->fpr)
		model->fpr = other->fpr;
	/* Keys share items after a union, and where only new ones were added. */
	if (operation == CUCKOO_UNION || !other->removable)
		model->removable = false;
	for (uint64_t key = 0; same_keys && key < model->universe; key++)
	{
		uint32_t	here = model->copies[key];
		uint32_t	there = other->copies[key];

		model->copies[key] = operation == CUCKOO_UNION_ALL ? here + there :
			here > there ? here : there;
	}
}

/* Up to nine other filters over the same keys, combined with the first. */
static uint64_t
CombineOthers(Model *model, Value *value)
{
	CuckooOperation operation = Below(2) ? CUCKOO_UNION_ALL : CUCKOO_UNION;
	int			count = 1 + (int) Below(9);
	Value		values[10];
	uint64_t	operations = 0;
	int			tables = model->table_count;

	values[0] = *value;
	for (int i = 1; i <= count; i++)
	{
		Model		other = OtherModel(model);

		if (Below(4) == 0 && tables < 12)
			other.capacity = Below(2) ? 0 : 1 + Below(2000);
		values[i] = BuildSome(&other, Below(10) == 0 ? 0 : Below(30));
		operations += LiveOn(&other, &values[i], Below(300));
		CheckModel(&other, &values[i]);
		tables += other.table_count;
		if (tables > CUCKOO_MAX_TABLES - 4)
			count = i;
		ModelCombine(operation, model, &other, true);
	}
	*value = Combine(operation, values, count + 1);
	CheckMade(model, value);
	return operations + (uint64_t) count;
}

/* The smallest hash whose code is at least this one, found by trying. */
static uint64_t
FirstHash(const CuckooShape *shape, uint64_t code)
{
	uint64_t	first = 0;
	uint64_t	last = UINT64_MAX;

	while (first < last)
	{
		uint64_t	middle = first + (last - first) / 2;

		if (CuckooCodeOf(shape, middle) >= code)
			last = middle;
		else
			first = middle + 1;
	}
	return first;
}

/* The hashes of the classes of a model's tables, from first to last. */
typedef struct Interval
{
	uint64_t	first;
	uint64_t	last;
	uint32_t	copies;
} Interval;

static int
IntervalsOf(const Model *model, Interval *intervals)
{
	int			count = 0;

	for (int i = 0; i < model->table_count; i++)
	{
		const ModelTable *table = &model->tables[i];

		for (uint64_t k = 0; k < table->classes.room; k++)
		{
			uint64_t	code = table->classes.numbers[k];
			Interval   *interval = &intervals[count];

			if (table->classes.counts[k] == 0)
				continue;
			interval->first = FirstHash(&table->shape, code);
			interval->last = FirstHash(&table->shape, code + 1);
			if (CuckooCodeOf(&table->shape, interval->last) > code)
				interval->last--;
			interval->copies = table->classes.counts[k];
			count++;
		}
	}
	return count;
}

/*
 * Intersect the filter with another one over the same keys, of any capacity and
 * rate.  No key of both is missing, and each table holds the classes whose
 * hashes include a hash of a class of the other filter.
 */
static uint64_t
IntersectOther(Model *model, Value *value)
{
	static const double rates[] = {0.1, 0.01, 0.001, 1e-5, 2e-8};
	Model		other = OtherModel(model);
	Value		other_value;
	Value		both;
	CuckooFilter filters[2];
	CuckooFilter filter;
	CuckooConflict conflict;
	Interval   *intervals;
	const Model *kept;
	double		keys;
	double		error;
	int			swap = (int) Below(2);
	int			count;
	uint64_t	operations;

	if (Below(3) > 0)
	{
		other.capacity = Below(3) ? 1 + Below(3000) : 0;
		other.fpr = rates[Below(lengthof(rates))];
	}
	other_value = BuildSome(&other, Below(101));
	operations = LiveOn(&other, &other_value, Below(300));

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
	filters[0].flags = filters[1].flags = 0;
	kept = (CuckooFilterRate(&filters[1]) < CuckooFilterRate(&filters[0])) == (swap == 0) ?
		&other : model;
	assert_true(filter.fpr == kept->fpr && filter.capacity == kept->capacity);
	assert_int_equal(filter.table_count, kept->table_count);
	intervals = Allocate(((size_t) model->universe * 16 + 1) * sizeof(Interval));
	count = IntervalsOf(kept == model ? &other : model, intervals);
	for (int i = 0; i < kept->table_count; i++)
	{
		ModelTable	expected = kept->tables[i];
		const Counts *classes = &kept->tables[i].classes;

		CountsInit(&expected.classes, 16);
		for (uint64_t k = 0; k < classes->room; k++)
		{
			uint64_t	code = classes->numbers[k];
			uint32_t	overlaps = 0;

			if (classes->counts[k] == 0)
				continue;
			for (int n = 0; n < count; n++)
			{
				if (CuckooCodeOf(&expected.shape, intervals[n].first) <= code &&
					CuckooCodeOf(&expected.shape, intervals[n].last) >= code)
					overlaps += intervals[n].copies;
			}
			if (overlaps > 0)
				CountsSet(&expected.classes, code,
						  overlaps < classes->counts[k] ? overlaps : classes->counts[k]);
		}
		expected.dense = filter.tables[i].representation == CUCKOO_DENSE;
		CheckModelTable(&expected, &filter.tables[i]);
	}
	return operations + 1;
}

/*
 * The life of one filter over at most so many keys; returns the number of
 * operations.
 */
static uint64_t
Live(uint32_t most_keys)
{
	static const double rates[] = {0.1, 0.05, 0.01, 0.001, 1e-5, 1e-6, 2e-8};
	static const uint32_t universes[] = {1, 3, 10, 30, 100, 300, 1000, 1000, 5000, 20000};
	uint32_t	universe = 1 + Below(universes[Below(lengthof(universes))]);
	uint64_t	capacity = Below(4) == 0 ? 0 : 1 + Below(Below(3) == 0 ? 30 : 2 * universe);
	uint64_t	operations;
	Model		model;
	Value		value;
	int			batches = 1 + (int) Below(6);

	/* Rarely 100,000, because that takes long. */
	if (Below(600) == 0)
		universe = 60000 + Below(60000);
	if (universe > most_keys)
		universe = universe % most_keys + 1;
	ModelInit(&model, rates[Below(lengthof(rates))], capacity, universe);
	value = BuildSome(&model, Below(3) == 0 ? 0 : Below(101));
	operations = universe;
	for (int batch = 0; batch < batches; batch++)
	{
		operations += LiveOn(&model, &value, Below(2) ? Below(300) :
							 Below((universe <= 1000 ? 16 : 2) * universe + 500));
		CheckModel(&model, &value);
		if (Below(2) == 0 && model.table_count < 8 && universe <= 5000)
			operations += CombineOthers(&model, &value);
		if (Below(2) == 0 && universe <= 300)
			operations += IntersectOther(&model, &value);
	}
	return operations;
}

#endif							/* CUCKOO_TEST_MODEL_H */
