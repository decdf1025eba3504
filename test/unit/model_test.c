/*-------------------------------------------------------------------------
 *
 * model_test.c
 *	  Random operations on a filter, beside an exact multiset of what is in it.
 *
 * What must hold at every step, for every key: with n copies added and not
 * removed, the filter counts at least min(n, 8).  For each copy put its own
 * entry in, and what takes an entry out of a class takes it from the only
 * table that holds the class, where the key's own copy is too; unless a table
 * holds eight of the class, which count for eight for good.
 *
 * Only keys in the model are removed: that is the promise's condition.  A
 * removal refused (CUCKOO_KEPT) leaves an entry that no key owns; the model
 * counts the key as removed and never relies on that entry again.
 *
 *-------------------------------------------------------------------------
 */
#include "support.h"

/* A universe of keys and how many copies of each are in. */
typedef struct Model
{
	uint32_t	keys;
	uint64_t   *hashes;
	uint32_t   *copies;
	uint32_t   *present;		/* numbers of the keys that are in, */
	uint32_t   *position;		/* and where a key stands there */
	uint32_t	present_count;
} Model;

static Model
NewModel(uint32_t keys, uint64_t stream)
{
	Model		model;

	model.keys = keys;
	model.hashes = Allocate(keys * sizeof(uint64_t));
	model.copies = Allocate(keys * sizeof(uint32_t));
	model.present = Allocate(keys * sizeof(uint32_t));
	model.position = Allocate(keys * sizeof(uint32_t));
	model.present_count = 0;
	for (uint32_t i = 0; i < keys; i++)
		model.hashes[i] = KeyHash(stream, i);
	return model;
}

static void
FreeModel(Model *model)
{
	free(model->hashes);
	free(model->copies);
	free(model->present);
	free(model->position);
}

static void
ModelAdd(Model *model, uint32_t key)
{
	if (model->copies[key]++ == 0)
	{
		model->position[key] = model->present_count;
		model->present[model->present_count++] = key;
	}
}

static void
ModelRemove(Model *model, uint32_t key)
{
	if (--model->copies[key] == 0)
	{
		uint32_t	last = model->present[--model->present_count];

		model->present[model->position[key]] = last;
		model->position[last] = model->position[key];
	}
}

static bool
KeyIsThere(const Model *model, const CuckooFilter *filter, uint32_t key)
{
	int			count = CuckooFilterCount(filter, model->hashes[key]);
	uint32_t	wanted = model->copies[key] < CUCKOO_MAX_COPIES ?
		model->copies[key] : CUCKOO_MAX_COPIES;

	return (uint32_t) count >= wanted &&
		CuckooFilterContains(filter, model->hashes[key]) == (count > 0);
}

/* Keys of the model that the filter has lost. */
static uint32_t
LostKeys(const Model *model, const CuckooFilter *filter)
{
	uint32_t	lost = 0;

	for (uint32_t i = 0; i < model->present_count; i++)
		lost += !KeyIsThere(model, filter, model->present[i]);
	return lost;
}

/*
 * What removal of a key must say, from the tables one by one: eight copies in
 * a table, a stash, or two tables that hold the class, and only they, keep it.
 */
static CuckooRemoveResult
RightRemoval(const CuckooFilter *filter, uint64_t hash)
{
	int			holders = 0;
	int			copies = 0;

	if (filter->body == CUCKOO_LIST)
	{
		copies = CuckooFilterCount(filter, hash);
		holders = copies > 0;
	}
	for (int i = 0; i < filter->table_count; i++)
	{
		int			here = CuckooTableCount(&filter->tables[i], hash);

		holders += here > 0;
		if (here > 0 && CuckooIsStash(filter, i))
			here = CUCKOO_MAX_COPIES;
		if (here > copies)
			copies = here;
	}
	return holders == 0 ? CUCKOO_ABSENT :
		holders > 1 || copies == CUCKOO_MAX_COPIES ? CUCKOO_KEPT : CUCKOO_REMOVED;
}

/* Every table sound, and the sums as the header says. */
static bool
FilterIsSound(const CuckooFilter *filter)
{
	uint64_t	items = 0;

	if (filter->body != CUCKOO_TABLES)
		return true;
	for (int i = 0; i < filter->table_count; i++)
	{
		uint64_t	counted;
		uint64_t	bad;

		if (!CuckooTableCheck(&filter->tables[i], &counted, &bad, NULL) ||
			counted != filter->tables[i].items)
			return false;
		items += counted;
	}
	return items == filter->items;
}

/* One removal, held against what is right; then the model follows. */
static void
RemoveAndCompare(Model *model, CuckooFilter *filter, uint32_t key)
{
	uint64_t	hash = model->hashes[key];
	uint64_t	items = filter->items;
	CuckooRemoveResult right = RightRemoval(filter, hash);
	CuckooRemoveResult result = CuckooFilterRemove(filter, hash);

	assert_int_not_equal(result, CUCKOO_ABSENT);
	assert_int_equal(result, right);
	assert_int_equal(filter->items, items - (result == CUCKOO_REMOVED));
	ModelRemove(model, key);
}

/*
 * A key to add: mostly any, at times one that is in already, so that copies
 * meet; one key of them all is hot.
 */
static uint32_t
ChooseKey(const Model *model, uint64_t *random)
{
	uint32_t	dice = RandomBelow(random, 16);

	if (dice == 0)
		return 0;
	if (dice < 4 && model->present_count > 0)
		return model->present[RandomBelow(random, model->present_count)];
	return RandomBelow(random, model->keys);
}

/* ------------------------------------------- filters as they really grow */

/*
 * Operations in waves, more adds than removals and the other way round, so
 * that tables fill and empty; from a list to several tables.
 */
static void
RunGrowing(double fpr, uint64_t capacity, CuckooLayout layout, uint32_t keys,
		   int operations)
{
	Owned		owned = NewFilter(fpr, capacity, 1, layout);
	Model		model = NewModel(keys, 50 + capacity);
	uint64_t	random = 99 + capacity;

	for (int i = 0; i < operations; i++)
	{
		uint32_t	adds = i / (operations / 5) % 2 == 0 ? 12 : 5;	/* of 16 */
		uint32_t	key;

		if (model.present_count == 0 || RandomBelow(&random, 16) < adds)
		{
			key = ChooseKey(&model, &random);
			AddKey(&owned, model.hashes[key]);
			ModelAdd(&model, key);
		}
		else
		{
			key = model.present[RandomBelow(&random, model.present_count)];
			RemoveAndCompare(&model, &owned.filter, key);
		}

		assert_true(KeyIsThere(&model, &owned.filter, key));
		for (int k = 0; k < 4 && model.present_count > 0; k++)
		{
			key = model.present[RandomBelow(&random, model.present_count)];
			assert_true(KeyIsThere(&model, &owned.filter, key));
		}
		if (i % 2000 == 0)
		{
			assert_int_equal(LostKeys(&model, &owned.filter), 0);
			assert_true(FilterIsSound(&owned.filter));
		}
	}
	assert_int_equal(LostKeys(&model, &owned.filter), 0);
	assert_true(owned.filter.table_count > 1);

	/* Drain: each removal may be the one that loses another key. */
	while (model.present_count > 0)
	{
		RemoveAndCompare(&model, &owned.filter,
						 model.present[RandomBelow(&random, model.present_count)]);
		if (model.present_count % 500 == 0)
			assert_int_equal(LostKeys(&model, &owned.filter), 0);
	}
	assert_int_equal(ProblemOf(&owned), CUCKOO_VALID);
	FreeModel(&model);
	FreeFilter(&owned);
}

/*
 * Keys that crowd their tables, each with as many copies as it is chosen for:
 * the filter keeps them by few tables, of which some are stashes.
 */
static void
RunCrowded(double fpr, uint64_t capacity, uint32_t keys, int copies, bool in_order)
{
	Owned		owned = NewFilter(fpr, capacity, 3, CUCKOO_SEMISORTED);
	Model		model = NewModel(keys, 70 + capacity);
	uint64_t	random = 7;
	uint64_t	entries = 0;

	for (int i = 0; i < (int) keys * copies; i++)
	{
		uint32_t	key = in_order ? (uint32_t) (i / copies) : RandomBelow(&random, keys);
		CuckooInsertResult result = AddKey(&owned, model.hashes[key]);

		ModelAdd(&model, key);
		assert_true(result != CUCKOO_STUCK ||
					CuckooFilterCount(&owned.filter, model.hashes[key]) == CUCKOO_MAX_COPIES);
		assert_true(KeyIsThere(&model, &owned.filter, key));
		if (RandomBelow(&random, 8) == 0)
			RemoveAndCompare(&model, &owned.filter, key);
		if (i % 5000 == 0)
			assert_int_equal(LostKeys(&model, &owned.filter), 0);
	}
	assert_int_equal(LostKeys(&model, &owned.filter), 0);
	assert_true(FilterIsSound(&owned.filter));
	assert_true(owned.filter.stashes != 0);
	for (int i = 0; i < owned.filter.table_count; i++)
		entries += CuckooShapeEntries(&owned.filter.tables[i].shape);
	if (entries > 150 * keys && entries > 5 * capacity / 2)
		fail_msg("%u keys take %llu entries", keys, (unsigned long long) entries);

	while (model.present_count > 0)
	{
		RemoveAndCompare(&model, &owned.filter,
						 model.present[RandomBelow(&random, model.present_count)]);
		if (model.present_count % 500 == 0)
			assert_int_equal(LostKeys(&model, &owned.filter), 0);
	}
	assert_int_equal(ProblemOf(&owned), CUCKOO_VALID);
	FreeModel(&model);
	FreeFilter(&owned);
}

static void
a_crowded_filter_never_loses_a_key(void **state)
{
	(void) state;
	RunCrowded(0.1, 0, 1500, 12, true);
	RunCrowded(0.1, 0, 1500, 20, false);
	RunCrowded(0.1, 15000, 1500, 10, true);
	RunCrowded(0.03, 15000, 1500, 40, false);
	RunCrowded(0.03, 60000, 300, 100, false);
}

static void
RunGrowingOf(CuckooLayout layout)
{
	RunGrowing(0.1, 0, layout, 20000, 60000);
	RunGrowing(0.1, 40, layout, 3000, 40000);
	RunGrowing(0.03, 2000, layout, 20000, 40000);
}

static void
a_growing_semisorted_filter_never_loses_a_key(void **state)
{
	(void) state;
	RunGrowingOf(CUCKOO_SEMISORTED);
}

static void
a_growing_plain_filter_never_loses_a_key(void **state)
{
	(void) state;
	RunGrowingOf(CUCKOO_PLAIN);
}

static void
a_list_agrees_with_the_multiset_exactly(void **state)
{
	Owned		owned = NewFilter(0.1, 0, 0, CUCKOO_SEMISORTED);
	Model		model = NewModel(150, 60);
	uint64_t	random = 5;

	(void) state;
	for (int i = 0; i < 100000; i++)
	{
		uint32_t	key = RandomBelow(&random, model.keys);
		uint32_t	most = owned.filter.items < 900 ? 9 : 0;

		if (RandomBelow(&random, 16) < most)
		{
			/* A copy that sticks changes nothing, so this model knows eight. */
			if (model.copies[key] < CUCKOO_MAX_COPIES)
			{
				assert_int_equal(CuckooFilterAdd(&owned.filter, model.hashes[key]),
								 CUCKOO_INSERTED);
				ModelAdd(&model, key);
			}
			else
				assert_int_equal(CuckooFilterAdd(&owned.filter, model.hashes[key]),
								 CUCKOO_STUCK);
		}
		else if (model.copies[key] == CUCKOO_MAX_COPIES)
			assert_int_equal(CuckooFilterRemove(&owned.filter, model.hashes[key]), CUCKOO_KEPT);
		else if (model.copies[key] == 0)
			assert_int_equal(CuckooFilterRemove(&owned.filter, model.hashes[key]), CUCKOO_ABSENT);
		else
		{
			assert_int_equal(CuckooFilterRemove(&owned.filter, model.hashes[key]), CUCKOO_REMOVED);
			ModelRemove(&model, key);
		}
		key = RandomBelow(&random, model.keys);
		assert_int_equal(CuckooFilterCount(&owned.filter, model.hashes[key]), model.copies[key]);
	}
	assert_int_equal(ProblemOf(&owned), CUCKOO_VALID);
	FreeModel(&model);
	FreeFilter(&owned);
}

/* ---------------------------------------------------------- tiny shapes */

#define SEEDS			100
#define TINY_OPERATIONS	10000	/* a seed */
#define MAX_FULL		4		/* failed adds in a life */

/* Sums over all runs of the shares of absent keys found, and expected. */
typedef struct Rates
{
	double		runs;
	double		difference;		/* found - expected */
	double		squares;
} Rates;

/*
 * The share of absent keys that a filter seems to hold.  That of one tiny
 * filter depends on what happens to be in it, and is held against the rate
 * only on average; but it is never above that of entries which all differ.
 */
static void
MeasureRate(const CuckooFilter *filter, uint64_t stream, Rates *rates)
{
	const double questions = 2000;
	double		found = (double) CountFound(filter, stream, 0, (uint64_t) questions) / questions;
	double		expected = CuckooFilterRate(filter);
	double		none = 1;
	double		most;

	for (int i = 0; i < filter->table_count; i++)
	{
		const CuckooTable *table = &filter->tables[i];
		double		covered = 2.0 * (double) table->items /
			((double) CuckooShapeBuckets(&table->shape) * (ldexp(1, table->shape.bits) - 1));

		none -= covered;
	}
	most = none < 0 ? 1 : 1 - none;
	/* Ten more, because few hits are not spread as many are. */
	assert_true(found <= most + (5 * sqrt(most * (1 - most) * questions) + 10) / questions);
	rates->runs++;
	rates->difference += found - expected;
	rates->squares += (found - expected) * (found - expected);
}

/* What the removals of all runs came to. */
typedef struct Removals
{
	uint64_t	all;
	uint64_t	kept;
} Removals;

/* Is a filter in memory what it was?  By members: between them lies anything. */
static bool
IsUnchanged(const CuckooFilter *filter, const CuckooFilter *was)
{
	for (int i = 0; i < was->table_count; i++)
	{
		if (filter->tables[i].items != was->tables[i].items ||
			filter->tables[i].data != was->tables[i].data ||
			!CuckooShapeEqual(&filter->tables[i].shape, &was->tables[i].shape))
			return false;
	}
	return filter->body == was->body && filter->kind == was->kind &&
		filter->element_kind == was->element_kind && filter->flags == was->flags &&
		filter->table_count == was->table_count && filter->fpr == was->fpr &&
		filter->capacity == was->capacity && filter->seed == was->seed &&
		filter->items == was->items && filter->list == was->list;
}

/*
 * The life of one filter with tables of 2 to 12 buckets and fingerprints from
 * 5 bits, up to eight tables: nearly every operation strikes a full bucket, a
 * class of several keys, a class in several tables or one that sticks.  Waves
 * of adds, of both, and of removals, until it has been full several times:
 * entries that no key owns any more leave ever less room.  Returns how many
 * operations that were.
 */
static int
RunTiny(uint64_t *random, uint64_t life, Rates *rates, Removals *removals)
{
	CuckooShape shapes[8];
	int			count = 1 + (int) RandomBelow(random, 8);
	CuckooLayout layout = (CuckooLayout) RandomBelow(random, 2);
	uint32_t	widths = RandomBelow(random, 4) == 0 ? 14 : 4;
	uint32_t	entries = 0;
	uint32_t	rest = 0;
	uint16_t	stashes = 0;
	int			full = 0;
	int			operations;
	int			i;
	Owned		owned;
	Model		model;
	uint8_t    *before;

	for (int i = 0; i < count; i++)
	{
		shapes[i] = ShapeOf(1 + RandomBelow(random, 2), 2 + 2 * RandomBelow(random, 6),
							5 + (int) RandomBelow(random, widths), layout);
		entries += (uint32_t) CuckooShapeEntries(&shapes[i]);
	}
	operations = 6 * (int) entries;

	/* In every fourth life some tables are stashes, mostly of the one before. */
	if (life % 4 == 0)
		stashes = (uint16_t) (RandomBelow(random, 1u << count) & ~1u);
	for (i = 1; i < count; i++)
	{
		if ((stashes >> i & 1) != 0 && RandomBelow(random, 4) > 0)
			shapes[i] = shapes[i - 1];
	}
	owned = NewFilterOf(shapes, count, 0.1, 1);
	MakeStashes(&owned, stashes);
	model = NewModel(entries + entries / 2 + 4, 1000 + life);
	before = Allocate(owned.room);

	for (i = 1; i < count; i++)
	{
		uint64_t	keys = CuckooIsStash(&owned.filter, i) ?
			RandomBelow(random, (uint32_t) CuckooShapeEntries(&shapes[i]) / 2) : 0;

		for (; keys > 0; keys--)
		{
			uint32_t	key = RandomBelow(random, model.keys);

			if (PutInStash(&owned, i, model.hashes[key]))
				ModelAdd(&model, key);
		}
	}

	for (i = 0; i < operations && full < MAX_FULL; i++)
	{
		int			wave = i / (int) entries % 3;
		uint32_t	adds = wave == 0 ? 15 : wave == 1 ? 8 : 3;	/* of 16 */
		bool		was_full = full > 0;
		uint32_t	key;

		if (model.present_count == 0 || (rest == 0 && RandomBelow(random, 16) < adds))
		{
			CuckooFilter was = owned.filter;
			CuckooInsertResult result;

			key = ChooseKey(&model, random);
			memcpy(before, owned.bytes, owned.room);
			result = CuckooFilterAdd(&owned.filter, model.hashes[key]);
			if (result == CUCKOO_INSERTED)
			{
				/* A class that goes to a stash leaves with all its copies. */
				if (owned.filter.stashes == 0)
					assert_int_equal(owned.filter.items, was.items + 1);
				assert_true(FilterIsSound(&owned.filter));
			}
			else
			{
				assert_memory_equal(owned.bytes, before, owned.room);
				assert_true(IsUnchanged(&owned.filter, &was));
			}
			if (result != CUCKOO_FULL)
				ModelAdd(&model, key);
			else				/* make room: vain walks are long */
			{
				rest = model.present_count / 2;
				full++;
			}
		}
		else
		{
			rest -= rest > 0;
			key = model.present[RandomBelow(random, model.present_count)];
			removals->all++;
			removals->kept += RightRemoval(&owned.filter, model.hashes[key]) == CUCKOO_KEPT;
			RemoveAndCompare(&model, &owned.filter, key);
		}
		assert_true(KeyIsThere(&model, &owned.filter, key));
		if (i % 16 == 0 && LostKeys(&model, &owned.filter) > 0)
			fail_msg("life %llu: after operation %d %u of %u keys are lost",
					 (unsigned long long) life, i, LostKeys(&model, &owned.filter),
					 model.present_count);
		if (i % 128 == 0)
			assert_true(FilterIsSound(&owned.filter));
		/* About half full, and at its fullest. */
		if (i == (int) entries / 2 || (full == 1 && !was_full))
			MeasureRate(&owned.filter, 1000000 + 2 * life + (full > 0), rates);
	}
	operations = i;

	/* Drain: each removal may be the one that loses another key. */
	for (i = 0; model.present_count > 0; i++)
	{
		RemoveAndCompare(&model, &owned.filter,
						 model.present[RandomBelow(random, model.present_count)]);
		if (i % 4 == 0)
			assert_int_equal(LostKeys(&model, &owned.filter), 0);
	}
	assert_int_equal(ProblemOf(&owned), CUCKOO_VALID);
	free(before);
	FreeModel(&model);
	FreeFilter(&owned);
	return operations;
}

static void
tiny_filters_never_lose_a_key_in_a_million_operations(void **state)
{
	Rates		rates = {0, 0, 0};
	Removals	removals = {0, 0};
	uint64_t	life = 0;
	double		mean;
	double		sigma;

	(void) state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++)
	{
		uint64_t	random = seed * UINT64_C(0x9E3779B97F4A7C15);

		for (int operations = 0; operations < TINY_OPERATIONS;)
			operations += RunTiny(&random, life++, &rates, &removals);
	}

	/* The rules were struck: many removals were refused, many were not. */
	assert_true(removals.kept > removals.all / 20);
	assert_true(removals.kept < removals.all / 2);

	mean = rates.difference / rates.runs;
	sigma = sqrt((rates.squares / rates.runs - mean * mean) / rates.runs);
	if (mean > 5 * sigma)
		fail_msg("the rate is %g above the one expected, sigma %g", mean, sigma);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_agrees_with_the_multiset_exactly),
		cmocka_unit_test(a_growing_semisorted_filter_never_loses_a_key),
		cmocka_unit_test(a_growing_plain_filter_never_loses_a_key),
		cmocka_unit_test(a_crowded_filter_never_loses_a_key),
		cmocka_unit_test(tiny_filters_never_lose_a_key_in_a_million_operations),
	};

	return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}
