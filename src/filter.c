/*-------------------------------------------------------------------------
 *
 * filter.c
 *	  A filter of any body: asking, adding, removing, growing; see filter.h.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <string.h>

#include "build.h"
#include "filter.h"

/*
 * How long a walk may be in a table that is not the last: enough where there
 * is room, short where there is none.
 */
#define SHORT_WALK	16

/*
 * The tables of a grown filter have bits beyond those the rate asks for, so
 * that their rates add up to no more than the one asked where no capacity was
 * stated (1/4 + 1/8 + 6/16 + 8/32 = 1), and to no more than twice that where
 * one was, and its first table spends all of it.
 */
static const uint8_t unstated_bits[CUCKOO_MAX_TABLES] = {
	2, 3, 4, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5, 5, 5
};
static const uint8_t stated_bits[CUCKOO_MAX_TABLES] = {
	0, 2, 3, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5
};

/*
 * Each table holds three times all before while that is less than this many
 * keys: few tables.  Afterwards as much as all before: less idle room.
 */
#define FAST_GROWTH_KEYS	1000000

/*
 * A stash takes this share of the keys that its table is for, with fingerprints
 * of as many bits, and so, while keys are added, that share to the rate: no more than the table
 * that might stand in its stead, with two bits more at most.  Of as many
 * copies as the table is for, no more keys can have four and more.
 */
#define STASH_SHARE		4

/*
 * Once there, it helps out while its table holds less than this share: keys with
 * single copies all find room until then, so that none of them needs it.
 */
#define STASH_IN_USE	2

void
CuckooFilterInit(CuckooFilter *filter, double fpr, uint64_t capacity,
				 uint64_t seed, CuckooLayout layout)
{
	memset(filter, 0, sizeof(*filter));
	filter->body = CUCKOO_LIST;
	filter->flags = layout == CUCKOO_PLAIN ? CUCKOO_FLAG_PLAIN : 0;
	filter->fpr = fpr;
	filter->capacity = capacity;
	filter->seed = seed;
}

uint64_t
CuckooListFind(const CuckooFilter *filter, uint64_t hash)
{
	uint64_t	low = 0;
	uint64_t	high = filter->items;

	while (low < high)
	{
		uint64_t	middle = low + (high - low) / 2;

		if (CuckooListGet(filter, middle) < hash)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Copies of a hash in a list, which stand from position at on. */
static int
ListCount(const CuckooFilter *filter, uint64_t at, uint64_t hash)
{
	int			copies = 0;

	while (at < filter->items && CuckooListGet(filter, at) == hash)
	{
		copies++;
		at++;
	}
	return copies;
}

bool
CuckooFilterContains(const CuckooFilter *filter, uint64_t hash)
{
	/* What most are. */
	if (filter->table_count == 1)
		return CuckooTableContains(&filter->tables[0], hash);
	if (filter->body != CUCKOO_TABLES)
	{
		uint64_t	at = CuckooListFind(filter, hash);

		return at < filter->items && CuckooListGet(filter, at) == hash;
	}
	/* The last tables are the largest of a filter that has grown. */
	for (int i = filter->table_count - 1; i >= 0; i--)
	{
		if (CuckooTableContains(&filter->tables[i], hash))
			return true;
	}
	return false;
}

void
CuckooFilterPrefetch(const CuckooFilter *filter, uint64_t hash)
{
	for (int i = 0; i < filter->table_count; i++)
		CuckooTablePrefetch(&filter->tables[i], hash);
}

int
CuckooFilterCount(const CuckooFilter *filter, uint64_t hash)
{
	int			copies = 0;

	if (filter->body != CUCKOO_TABLES)
		return ListCount(filter, CuckooListFind(filter, hash), hash);
	for (int i = 0; i < filter->table_count; i++)
	{
		int			here = CuckooTableCount(&filter->tables[i], hash);

		copies += here > 0 && CuckooIsStash(filter, i) ? CUCKOO_MAX_COPIES : here;
	}
	return copies < CUCKOO_MAX_COPIES ? copies : CUCKOO_MAX_COPIES;
}

double
CuckooFilterRate(const CuckooFilter *filter)
{
	double		none = 0;

	if (filter->body != CUCKOO_TABLES)
		return ldexp((double) filter->items, -64);
	/* One table's rate as it is. */
	if (filter->table_count == 1)
		return CuckooTableRate(&filter->tables[0].shape, filter->tables[0].items);
	/* By logarithms: 1 - (1 - rate) would lose the last digits of small ones. */
	for (int i = 0; i < filter->table_count; i++)
		none += log1p(-CuckooTableRate(&filter->tables[i].shape,
									   filter->tables[i].items));
	return -expm1(none);
}

static CuckooInsertResult
ListAdd(CuckooFilter *filter, uint64_t hash)
{
	uint64_t	at = CuckooListFind(filter, hash);
	uint8_t    *p = filter->list + 8 * at;

	if (ListCount(filter, at, hash) == CUCKOO_MAX_COPIES)
		return CUCKOO_STUCK;
	if (filter->items >= CuckooListLimit(filter))
		return CUCKOO_FULL;
	memmove(p + 8, p, (size_t) (8 * (filter->items - at)));
	CuckooStore64(p, hash);
	filter->items++;
	return CUCKOO_INSERTED;
}

static CuckooRemoveResult
ListRemove(CuckooFilter *filter, uint64_t hash)
{
	uint64_t	at = CuckooListFind(filter, hash);
	uint8_t    *p = filter->list + 8 * at;
	int			copies = ListCount(filter, at, hash);

	if (copies == 0)
		return CUCKOO_ABSENT;
	if (copies == CUCKOO_MAX_COPIES)
		return CUCKOO_KEPT;
	memmove(p, p + 8, (size_t) (8 * (filter->items - at - 1)));
	filter->items--;
	return CUCKOO_REMOVED;
}

/* The number of the newest table that is no stash; -1: none. */
static int
NewestTable(const CuckooFilter *filter)
{
	int			i = filter->table_count - 1;

	while (i >= 0 && CuckooIsStash(filter, i))
		i--;
	return i;
}

/* The number of the stash for a table's classes; -1: none. */
static int
StashOf(const CuckooFilter *filter, int table)
{
	int			i = filter->table_count - 1;

	while (i >= 0 && !(CuckooIsStash(filter, i) &&
					   CuckooSameClasses(&filter->tables[i].shape,
										 &filter->tables[table].shape)))
		i--;
	return i;
}

/* Keys that a table is for.  More in a stash would cost the rate. */
uint64_t
CuckooTableCapacity(const CuckooFilter *filter, int i)
{
	uint64_t	capacity = CuckooShapeCapacity(&filter->tables[i].shape);

	return CuckooIsStash(filter, i) ? capacity / STASH_SHARE : capacity;
}

/* Whether a table that found no room holds far fewer keys than it is for. */
static bool
IsCrowded(const CuckooTable *table)
{
	return table->items < CuckooShapeCapacity(&table->shape) / CUCKOO_CROWDED_SHARE;
}

static CuckooInsertResult
AddToTable(CuckooFilter *filter, int i, uint64_t hash, int max_kicks)
{
	CuckooInsertResult result = CuckooTableInsert(&filter->tables[i], hash, max_kicks);

	if (result == CUCKOO_INSERTED)
		filter->items++;
	return result;
}

/*
 * Move a class from a table to the stash for it, all copies as one.  False,
 * and nothing changed, where there is none or it is full.
 */
static bool
MoveToStash(CuckooFilter *filter, int table, const CuckooPlace *place)
{
	int			i = StashOf(filter, table);
	CuckooTable *stash;
	CuckooInsertResult result;

	if (i < 0)
		return false;
	stash = &filter->tables[i];
	if (stash->items >= CuckooTableCapacity(filter, i))
		return false;
	result = CuckooTableInsertAt(stash, place);
	if (result == CUCKOO_FULL)
		return false;
	filter->items += result == CUCKOO_INSERTED;
	filter->items -= (uint64_t) CuckooTableTakeClass(&filter->tables[table], place);
	return true;
}

/* Let the class that is in a key's way leave a crowded table, or itself. */
static CuckooInsertResult
AddToCrowded(CuckooFilter *filter, int table, uint64_t hash)
{
	CuckooPlace leaving = CuckooTableLeaving(&filter->tables[table], hash);
	CuckooPlace place = CuckooLocate(&filter->tables[table].shape, hash);

	if (!MoveToStash(filter, table, &leaving))
		return CUCKOO_FULL;
	if (leaving.fingerprint == place.fingerprint)
		return CUCKOO_INSERTED;
	return AddToTable(filter, table, hash, 0);
}

/*
 * First to a table that holds the class already, because a class in two
 * tables cannot be removed; then to the last table; then to older ones that
 * removals have made room in, newest first.  Without the last of these a
 * filter that is filled and drained again and again would creep to twice its
 * size.  Long walks come at the end: before every addition to an older table
 * they would make refilling 300 times slower.  At the very end, where the last
 * table is far from full, its stash.
 *
 * Where a table has a stash, the eighth copy takes a class there.
 */
CuckooInsertResult
CuckooFilterAdd(CuckooFilter *filter, uint64_t hash)
{
	int			last;
	int			almost_stuck = -1;
	uint32_t	holders = 0;
	CuckooInsertResult result;

	if (filter->body == CUCKOO_LIST)
		return ListAdd(filter, hash);
	if (filter->table_count == 1)
		return AddToTable(filter, 0, hash, CUCKOO_MAX_KICKS);

	for (int i = 0; i < filter->table_count; i++)
	{
		int			copies = CuckooTableCount(&filter->tables[i], hash);

		if (copies == CUCKOO_MAX_COPIES || (copies > 0 && CuckooIsStash(filter, i)))
			return CUCKOO_STUCK;
		if (copies > 0)
			holders |= UINT32_C(1) << i;
		if (copies == CUCKOO_MAX_COPIES - 1)
			almost_stuck = i;
	}
	if (almost_stuck >= 0)
	{
		CuckooPlace place = CuckooLocate(&filter->tables[almost_stuck].shape, hash);

		if (MoveToStash(filter, almost_stuck, &place))
			return CUCKOO_INSERTED;
	}
	last = NewestTable(filter);
	for (int i = last - 1; i >= 0; i--)
	{
		if ((holders >> i & 1) != 0 &&
			AddToTable(filter, i, hash, SHORT_WALK) == CUCKOO_INSERTED)
			return CUCKOO_INSERTED;
	}

	if (AddToTable(filter, last, hash, SHORT_WALK) == CUCKOO_INSERTED)
		return CUCKOO_INSERTED;
	for (int i = last - 1; i >= 0; i--)
	{
		const CuckooTable *table = &filter->tables[i];

		if (!CuckooIsStash(filter, i) &&
			table->items < CuckooShapeCapacity(&table->shape) &&
			AddToTable(filter, i, hash, SHORT_WALK) == CUCKOO_INSERTED)
			return CUCKOO_INSERTED;
	}
	result = AddToTable(filter, last, hash, CUCKOO_MAX_KICKS);
	if (result == CUCKOO_FULL && filter->tables[last].items <
		CuckooShapeCapacity(&filter->tables[last].shape) / STASH_IN_USE)
		result = AddToCrowded(filter, last, hash);
	return result;
}

CuckooRemoveResult
CuckooFilterRemove(CuckooFilter *filter, uint64_t hash)
{
	int			holder = -1;
	CuckooRemoveResult result;

	if (filter->body == CUCKOO_LIST)
		return ListRemove(filter, hash);

	for (int i = 0; i < filter->table_count; i++)
	{
		if (CuckooTableContains(&filter->tables[i], hash))
		{
			if (holder >= 0 || CuckooIsStash(filter, i))
				return CUCKOO_KEPT;
			holder = i;
		}
	}
	if (holder < 0)
		return CUCKOO_ABSENT;
	result = CuckooTableRemove(&filter->tables[holder], hash);
	if (result == CUCKOO_REMOVED)
		filter->items--;
	return result;
}

/*
 * The table that a filter of tables grows by, if it is not a stash, or its
 * first one: for three times or once the keys of all before, or for four lists
 * at least, or for the capacity stated.  False where no shape is so large.
 */
static bool
PlanTable(const CuckooFilter *filter, CuckooShape *shape)
{
	int			next = filter->table_count;
	uint64_t	keys = 0;
	int			bits;

	for (int i = 0; i < next; i++)
	{
		if (!CuckooIsStash(filter, i))
			keys += CuckooTableCapacity(filter, i);
	}
	if (keys > 0)
		keys *= 3 * keys < FAST_GROWTH_KEYS ? 3 : 1;
	else
	{
		keys = 4 * CuckooListLimit(filter);
		if (keys < filter->capacity)
			keys = filter->capacity;
	}
	bits = CuckooBitsFor(filter->fpr, CUCKOO_FULL_LOAD,
						 (filter->capacity == 0 ? unstated_bits : stated_bits)[next]);
	return CuckooShapeFor(shape, keys, bits, CuckooFilterLayout(filter), 0);
}

CuckooGrowth
CuckooPlanGrowth(const CuckooFilter *filter, CuckooFilter *grown)
{
	int			next = filter->table_count;
	int			last = NewestTable(filter);
	bool		crowded = last >= 0 && IsCrowded(&filter->tables[last]);
	int			stash = crowded ? StashOf(filter, last) : -1;

	*grown = *filter;
	if (next == CUCKOO_MAX_TABLES)
	{
		/*
		 * One entry a key does not crowd a stash by chance: such hashes were
		 * made to collide.
		 */
		return stash >= 0 && filter->tables[stash].items < CuckooTableCapacity(filter, stash) ?
			CUCKOO_GROWTH_IN_VAIN : CUCKOO_GROWTH_NO_TABLE;
	}

	grown->body = CUCKOO_TABLES;
	grown->table_count = (uint8_t) (next + 1);
	grown->tables[next].items = 0;
	if (next == 0)
		grown->items = 0;
	if (crowded && stash < 0)
	{
		grown->stashes |= (uint16_t) (1 << next);
		grown->tables[next].shape = filter->tables[last].shape;
	}
	else if (!PlanTable(filter, &grown->tables[next].shape))
		return CUCKOO_GROWTH_TOO_LARGE;
	return CuckooBytes(grown) == 0 ? CUCKOO_GROWTH_TOO_LARGE : CUCKOO_GROWTH_PLANNED;
}

void
CuckooGrow(const CuckooFilter *filter, CuckooFilter *grown, uint8_t *bytes,
		   CuckooPause pause)
{
	CuckooLayOut(grown, bytes);
	for (int i = 0; i < filter->table_count; i++)
		CuckooTableCopy(&grown->tables[i], &filter->tables[i], pause);
	if (CuckooIsStash(grown, filter->table_count))
	{
		int			last = NewestTable(grown);
		uint64_t	bucket = 0;
		CuckooPlace place;

		while (CuckooTableNextStuck(&grown->tables[last], &bucket, &place, pause))
			MoveToStash(grown, last, &place);
		CuckooWriteHeader(grown, bytes);
	}
}
