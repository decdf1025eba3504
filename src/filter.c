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
	/* The last table is the largest of a filter that has grown. */
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
		copies += CuckooTableCount(&filter->tables[i], hash);
	return copies < CUCKOO_MAX_COPIES ? copies : CUCKOO_MAX_COPIES;
}

double
CuckooFilterRate(const CuckooFilter *filter)
{
	double		none = 1;

	if (filter->body != CUCKOO_TABLES)
		return ldexp((double) filter->items, -64);
	/* One table's rate as it is: 1 - (1 - rate) would lose its last digits. */
	if (filter->table_count == 1)
		return CuckooTableRate(&filter->tables[0].shape, filter->tables[0].items);
	for (int i = 0; i < filter->table_count; i++)
		none *= 1 - CuckooTableRate(&filter->tables[i].shape,
									filter->tables[i].items);
	return 1 - none;
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

static CuckooInsertResult
AddToTable(CuckooFilter *filter, int i, uint64_t hash, int max_kicks)
{
	CuckooInsertResult result = CuckooTableInsert(&filter->tables[i], hash, max_kicks);

	if (result == CUCKOO_INSERTED)
		filter->items++;
	return result;
}

/*
 * First to a table that holds the class already, because a class in two
 * tables cannot be removed; then to the last table; then to older ones that
 * removals have made room in, newest first.  Without the last of these a
 * filter that is filled and drained again and again would creep to twice its
 * size.  Long walks come at the end: before every addition to an older table
 * they would make refilling 300 times slower.
 */
CuckooInsertResult
CuckooFilterAdd(CuckooFilter *filter, uint64_t hash)
{
	int			last = filter->table_count - 1;
	uint32_t	holders = 0;
	CuckooInsertResult result;

	if (filter->body == CUCKOO_LIST)
		return ListAdd(filter, hash);

	for (int i = 0; last > 0 && i <= last; i++)
	{
		int			copies = CuckooTableCount(&filter->tables[i], hash);

		if (copies == CUCKOO_MAX_COPIES)
			return CUCKOO_STUCK;
		if (copies > 0)
			holders |= UINT32_C(1) << i;
	}
	for (int i = last - 1; i >= 0; i--)
	{
		if ((holders >> i & 1) != 0 &&
			AddToTable(filter, i, hash, SHORT_WALK) == CUCKOO_INSERTED)
			return CUCKOO_INSERTED;
	}

	result = AddToTable(filter, last, hash, last > 0 ? SHORT_WALK : CUCKOO_MAX_KICKS);
	if (result != CUCKOO_FULL || last == 0)
		return result;

	for (int i = last - 1; i >= 0; i--)
	{
		const CuckooTable *table = &filter->tables[i];

		if (table->items < CuckooShapeCapacity(&table->shape) &&
			AddToTable(filter, i, hash, SHORT_WALK) == CUCKOO_INSERTED)
			return CUCKOO_INSERTED;
	}
	return AddToTable(filter, last, hash, CUCKOO_MAX_KICKS);
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
			if (holder >= 0)
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
 * Add one more table to the plan.  The first after a list is for four lists at
 * least, or for the capacity stated.
 */
static CuckooGrowth
PlanTable(CuckooFilter *grown)
{
	int			next = grown->table_count;
	uint64_t	keys = 0;
	int			bits;

	if (next == CUCKOO_MAX_TABLES)
		return CUCKOO_GROWTH_NO_TABLE;
	if (next == 0)
	{
		keys = 4 * CuckooListLimit(grown);
		if (keys < grown->capacity)
			keys = grown->capacity;
	}
	else
	{
		for (int i = 0; i < next; i++)
			keys += CuckooShapeCapacity(&grown->tables[i].shape);
		if (3 * keys < FAST_GROWTH_KEYS)
			keys *= 3;
	}

	bits = CuckooBitsFor(grown->fpr, CUCKOO_FULL_LOAD,
						 (grown->capacity == 0 ? unstated_bits : stated_bits)[next]);
	grown->body = CUCKOO_TABLES;
	grown->table_count = (uint8_t) (next + 1);
	if (!CuckooShapeFor(&grown->tables[next].shape, keys, bits,
						CuckooFilterLayout(grown), 0) ||
		CuckooBytes(grown) == 0)
		return CUCKOO_GROWTH_TOO_LARGE;
	grown->tables[next].items = 0;
	return CUCKOO_GROWTH_PLANNED;
}

/*
 * A list of many copies of each key may need more than one table at once, since
 * two keys with eight copies each cannot share a bucket.
 */
CuckooGrowth
CuckooPlanGrowth(const CuckooFilter *filter, CuckooFilter *grown, int attempt)
{
	CuckooGrowth growth;

	*grown = *filter;
	if (attempt >= CUCKOO_MAX_ATTEMPTS)
		return CUCKOO_GROWTH_NO_ATTEMPT;
	do
		growth = PlanTable(grown);
	while (growth == CUCKOO_GROWTH_PLANNED && attempt-- > 0);
	return growth;
}

bool
CuckooGrow(const CuckooFilter *filter, CuckooFilter *grown, uint8_t *bytes)
{
	CuckooLayOut(grown, bytes);
	if (filter->body == CUCKOO_TABLES)
	{
		for (int i = 0; i < filter->table_count; i++)
			memcpy(grown->tables[i].data, filter->tables[i].data,
				   (size_t) CuckooShapeBytes(&filter->tables[i].shape));
		return true;
	}

	grown->items = 0;
	for (uint64_t i = 0; i < filter->items; i++)
	{
		if (CuckooFilterAdd(grown, CuckooListGet(filter, i)) == CUCKOO_FULL)
			return false;
	}
	CuckooWriteHeader(grown, bytes);
	return true;
}
