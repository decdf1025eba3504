/*-------------------------------------------------------------------------
 *
 * filter.c
 *	  A filter: its tables together; see filter.h.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>

#include "filter.h"
#include "sort.h"

/*
 * Encoding a sparse table again costs about 10 ns per item in it.  It is done
 * when at least this many classes are pending, and at least an eighth of the
 * number of items.
 */
#define PENDING_SHARE	8
#define PENDING_CLASSES	1024

/*
 * A batch has a quarter as many keys as the filter has items, so that encoding
 * a sparse table again costs about 50 ns per key.  It has at most a 16th of the
 * capacity, and then needs a third of the memory of the table.  Batches half
 * as large cost 10 ns more per key.
 */
#define BATCH_SHARE			4
#define BATCH_LIMIT_SHARE	16
#define MIN_BATCH			512

/* Keys of a batch that are added together, at most. */
#define GROUP_KEYS			32

/* How many keys ahead of the one being looked up to prefetch. */
#define PREFETCH_KEYS		16

/* Making a sparse table dense for a batch costs about 50 ns per item it has. */
#define DENSE_SHARE			32

/*
 * A filter grows by a table with this many times the capacity of the one
 * before.  That keeps tables few, and empty space costs little because new
 * tables are sparse.
 */
#define GROWTH	32

void
CuckooFilterInit(CuckooFilter *filter, double fpr, uint64_t capacity, uint64_t seed)
{
	memset(filter, 0, offsetof(CuckooFilter, tables));
	filter->fpr = fpr;
	filter->capacity = capacity;
	filter->seed = seed;
}

void
CuckooFilterInitUnset(CuckooFilter *filter)
{
	CuckooFilterInit(filter, 0, 0, 0);
	filter->flags = CUCKOO_FLAG_UNSET;
}

/*
 * Looking up
 */

bool
CuckooFilterContains(const CuckooFilter *filter, uint64_t hash)
{
	/* Most filters have one table; the loop below would cost 2 ns. */
	if (filter->table_count == 1)
		return CuckooTableContains(&filter->tables[0], hash);

	/* The last tables are the largest. */
	for (int i = filter->table_count - 1; i >= 0; i--)
	{
		if (CuckooTableContains(&filter->tables[i], hash))
			return true;
	}
	return false;
}

void
CuckooFilterPrefetch(const CuckooFilter *filter, const uint64_t *hashes, size_t at,
					 size_t count)
{
	for (int i = 0; i < filter->table_count; i++)
	{
		const CuckooTable *table = &filter->tables[i];

		if (table->representation == CUCKOO_DENSE)
		{
			if (at + PREFETCH_KEYS < count)
				CuckooDensePrefetch(&table->dense, hashes[at + PREFETCH_KEYS]);
			continue;
		}
		if (at + 2 * PREFETCH_KEYS < count)
			CuckooSparsePrefetch(&table->sparse, hashes[at + 2 * PREFETCH_KEYS]);
		if (at + PREFETCH_KEYS < count)
			CuckooSparsePrefetchGroup(&table->sparse, hashes[at + PREFETCH_KEYS]);
	}
}

int
CuckooFilterCount(const CuckooFilter *filter, uint64_t hash)
{
	int			copies = 0;

	for (int i = 0; i < filter->table_count; i++)
		copies += CuckooTableCount(&filter->tables[i], hash);
	return copies < CUCKOO_MAX_COPIES ? copies : CUCKOO_MAX_COPIES;
}

double
CuckooFilterRate(const CuckooFilter *filter)
{
	double		none = 0;

	/* With one table, its rate is exact. */
	if (filter->table_count == 1)
		return CuckooShapeRate(&filter->tables[0].shape, filter->tables[0].items);
	/* By logarithms: 1 - (1 - rate) would lose digits of small rates. */
	for (int i = 0; i < filter->table_count; i++)
		none += log1p(-CuckooShapeRate(&filter->tables[i].shape, filter->tables[i].items));
	return none == 0 ? 0 : -expm1(none);	/* and not -0 */
}

/*
 * Sizing
 */

/*
 * If the capacity is unknown, the tables have 1, 2 and 3 bits more than the
 * target rate needs, so their rates add up to less than that.
 */
bool
CuckooFirstShape(const CuckooFilter *filter, CuckooShape *shape)
{
	int			bits = CuckooBitsFor(filter->fpr);

	if (filter->capacity == 0)
		return CuckooShapeFor(shape, CUCKOO_FIRST_KEYS, bits + 1);
	return CuckooShapeFor(shape, filter->capacity, bits);
}

bool
CuckooCapacityFits(double fpr, uint64_t capacity)
{
	CuckooShape shape;

	return capacity == 0 ||
		(CuckooShapeFor(&shape, capacity, CuckooBitsFor(fpr)) &&
		 CUCKOO_HEADER_BYTES + CUCKOO_DIRECTORY_BYTES + CuckooDenseBytes(&shape) +
		 CUCKOO_TAIL_BYTES <= CUCKOO_MAX_BYTES);
}

/* Whether a shape has the blocks and buckets of a table for so many keys. */
static bool
IsForKeys(const CuckooShape *shape, uint64_t keys)
{
	CuckooShape same;

	CuckooShapeFor(&same, keys, shape->bits);
	return CuckooSameShape(shape, &same);
}

/*
 * The tables that a filter grows by have more bits than the target rate needs,
 * so the expected rate at most doubles.  The next shape depends only on the
 * newest table and the target rate, so that filters with the same rate grow by
 * the same shapes and combine.
 */
bool
CuckooNextShape(const CuckooFilter *filter, CuckooShape *shape)
{
	const CuckooShape *newest = &filter->tables[filter->table_count - 1].shape;
	int			asked = CuckooBitsFor(filter->fpr);
	int			bits = newest->bits + 1;

	if (bits < asked + 2)
		bits = asked + 2;
	if (bits > asked + 8)
		bits = asked + 8;
	if (bits > CUCKOO_MAX_BITS)
		bits = CUCKOO_MAX_BITS;
	if (IsForKeys(newest, CUCKOO_FIRST_KEYS))
		CuckooShapeFor(shape, CUCKOO_SECOND_KEYS, bits);
	else if (IsForKeys(newest, CUCKOO_SECOND_KEYS))
		CuckooShapeFor(shape, CUCKOO_THIRD_KEYS, bits);
	else
		CuckooShapeFor(shape, GROWTH * CuckooShapeCapacity(newest), bits);
	return filter->table_count < CUCKOO_MAX_TABLES && CuckooShapeOrder(newest, shape) < 0;
}

/*
 * Making
 */

/* Fill table i from its part; false if it has to be sparse. */
static bool
FillTable(CuckooFilter *filter, int i, const CuckooPart *part, const CuckooHost *host)
{
	CuckooTable *table = &filter->tables[i];

	if (part->source != NULL && table->representation == CUCKOO_DENSE)
		return CuckooDenseBuild(&table->dense, part->source, filter->seed, host);
	if (part->source != NULL)
		CuckooSparseBuild(&table->sparse, part->source, host);
	else if (part->count > 0)
		CuckooSparseEdit(&table->sparse, &part->table->sparse, part->codes, part->count,
						 part->remove, host);
	else
		CuckooCopy(table->data, part->table->data, (size_t) CuckooTableStoredBytes(table),
				   host);
	return true;
}

/* Plan the tables; returns the bytes of the filter, 0 if they are too many. */
static size_t
PlanTables(CuckooFilter *filter, const CuckooPart *parts, int count)
{
	filter->content = CUCKOO_TABLES;
	filter->table_count = (uint8_t) count;
	filter->items = 0;
	for (int i = 0; i < count; i++)
	{
		CuckooTableInit(&filter->tables[i], &parts[i].shape, parts[i].representation,
						parts[i].items, NULL);
		filter->items += parts[i].items;
	}
	return CuckooBytes(filter);
}

uint8_t *
CuckooMakeFilter(CuckooFilter *filter, CuckooPart *parts, int count, const CuckooHost *host)
{
	for (;;)
	{
		size_t		bytes = PlanTables(filter, parts, count);
		int			sparse = -1;	/* a dense part that is to be sparse */
		uint8_t    *made;

		if (bytes > 0)
		{
			made = (uint8_t *) host->allocate(host->header_bytes + bytes) +
				host->header_bytes;
			CuckooLayOut(filter, made);
			for (int i = 0; i < count && sparse < 0; i++)
			{
				if (!FillTable(filter, i, &parts[i], host))
					sparse = i;
			}
			if (sparse < 0)
				return made;
			CuckooFreeFilter(made, host);
		}
		else
		{
			/* The last is the largest. */
			for (int i = 0; i < count; i++)
			{
				if (parts[i].source != NULL && parts[i].representation == CUCKOO_DENSE)
					sparse = i;
			}
			if (sparse < 0)
				return NULL;
		}
		parts[sparse].representation = CUCKOO_SPARSE;
	}
}

void
CuckooFreeFilter(uint8_t *bytes, const CuckooHost *host)
{
	host->release(bytes - host->header_bytes);
}

uint8_t *
CuckooMakeFromHashes(CuckooFilter *filter, const CuckooRun *runs, uint64_t run_count,
					 const CuckooHost *host)
{
	CuckooHashSource source;
	CuckooPart	part;
	uint64_t	keys = 0;

	memset(&part, 0, sizeof(part));
	for (uint64_t i = 0; i < run_count; i++)
		keys += runs[i].count;
	if (filter->capacity == 0 ? keys > CUCKOO_UNKNOWN_KEYS : keys > filter->capacity)
		filter->capacity = keys;
	if (!CuckooCapacityFits(filter->fpr, filter->capacity))
		return NULL;
	CuckooFirstShape(filter, &part.shape);
	CuckooHashSourceInit(&source, &part.shape, runs, run_count);
	part.source = &source.source;
	part.items = CuckooSourceCount(part.source, host);
	part.representation = CuckooRepresentationFor(&part.shape, part.items);
	return CuckooMakeFilter(filter, &part, 1, host);
}

/*
 * Pending classes
 */

/*
 * The slot of a code, or an empty one for it.  The hash is the finalizer of
 * MurmurHash3.  It is salted with the address of the slots, so that keys
 * cannot be chosen to collide.
 */
static inline uint64_t
PendingSlot(const CuckooPending *pending, uint64_t code)
{
	uint64_t	h = code ^ (uint64_t) (uintptr_t) pending->slots;
	uint64_t	at;

	h ^= h >> 33;
	h *= UINT64_C(0xFF51AFD7ED558CCD);
	h ^= h >> 33;
	h *= UINT64_C(0xC4CEB9FE1A85EC53);
	h ^= h >> 33;
	at = h & (pending->room - 1);

	while (pending->slots[at] != 0 && CuckooClassCode(pending->slots[at]) != code)
		at = (at + 1) & (pending->room - 1);
	return at;
}

/*
 * Copies of a hash's class that are pending for table i of a draft.  If a batch
 * is being added, the hash must not be less than those before.
 */
static inline int
PendingCopies(const CuckooDraft *draft, int i, uint64_t hash)
{
	const CuckooPending *pending = &draft->pending[i];
	CuckooClass class;
	uint64_t	code;

	if (pending->copies == 0)
		return 0;
	code = CuckooCodeOf(&draft->filter.tables[i].shape, hash);
	if (pending->codes != NULL)
	{
		uint64_t	copies = 0;

		while (copies < pending->copies &&
			   pending->codes[pending->copies - copies - 1] == code)
			copies++;
		return (int) copies;
	}
	class = pending->slots[PendingSlot(pending, code)];
	return class == 0 ? 0 : CuckooClassCopies(class);
}

/* Double the slots, or make the first ones. */
static void
PendingEnlarge(CuckooPending *pending, const CuckooHost *host)
{
	CuckooPending larger = *pending;

	larger.room = pending->room == 0 ? 8 : 2 * pending->room;
	larger.slots = CuckooAllocate(host, larger.room, sizeof(CuckooClass));
	memset(larger.slots, 0, (size_t) larger.room * sizeof(CuckooClass));
	for (uint64_t i = 0; i < pending->room; i++)
	{
		CuckooClass class = pending->slots[i];

		if (class != 0)
			larger.slots[PendingSlot(&larger, CuckooClassCode(class))] = class;
	}
	if (pending->room > 0)
		host->release(pending->slots);
	*pending = larger;
}

/* Add a copy of a code, which has at most seven pending. */
static void
PendingAdd(CuckooPending *pending, uint64_t code, const CuckooHost *host)
{
	uint64_t	at;

	if (2 * pending->classes >= pending->room)
		PendingEnlarge(pending, host);
	at = PendingSlot(pending, code);
	if (pending->slots[at] == 0)
	{
		pending->slots[at] = CuckooMakeClass(code, 1);
		pending->classes++;
	}
	else
		pending->slots[at]++;
	pending->copies++;
}

/*
 * Append a code of a batch.  Codes come in ascending order.  to_come is the
 * number of keys not yet added, and determines the room allocated.
 */
static void
PendingAppend(CuckooPending *pending, uint64_t code, size_t to_come, const CuckooHost *host)
{
	if (pending->codes == NULL)
		pending->codes = CuckooAllocate(host, to_come, sizeof(uint64_t));
	pending->codes[pending->copies++] = code;
}

/* Make sorted codes from a hash set, each as often as it has copies. */
static void
PendingSort(CuckooPending *pending, const CuckooHost *host)
{
	uint64_t   *codes;
	size_t		count = 0;

	if (pending->codes != NULL)
		return;
	pending->codes = codes = CuckooAllocate(host, 2 * pending->copies, sizeof(uint64_t));
	for (uint64_t i = 0; i < pending->room; i++)
	{
		CuckooClass class = pending->slots[i];

		for (int copy = 0; class != 0 && copy < CuckooClassCopies(class); copy++)
			codes[count++] = CuckooClassCode(class);
	}
	CuckooSort(codes, codes + count, count, host->pause);
}

static void
PendingClear(CuckooPending *pending, const CuckooHost *host)
{
	if (pending->room > 0)
		host->release(pending->slots);
	if (pending->codes != NULL)
		host->release(pending->codes);
	memset(pending, 0, sizeof(*pending));
}

/*
 * Drafts
 */

void
CuckooDraftOpen(CuckooDraft *draft, uint8_t *bytes, size_t length, bool writable)
{
	CuckooOpen(&draft->filter, bytes, length);
	draft->bytes = bytes;
	draft->writable = writable;
	draft->removing = false;
	draft->batched = false;
	draft->stay_sparse = false;
	draft->to_come = 0;
	memset(draft->pending, 0, sizeof(draft->pending));
}

/* How a draft is rewritten.  In each case what is pending is encoded, too. */
typedef enum Rewrite
{
	ENCODE,						/* nothing else */
	MAKE_SPARSE,				/* make one table sparse */
	MAKE_DENSE,					/* make one table dense if there is room */
	DROP,						/* drop one table */
	GROW						/* add an empty table */
} Rewrite;

/*
 * Rewrite a draft.  The items of its tables include what is pending, but the
 * bytes of the tables do not.  Returns false if it would be too large.
 */
static bool
RewriteDraft(CuckooDraft *draft, Rewrite rewrite, int table, const CuckooShape *grown,
			 const CuckooHost *host)
{
	CuckooFilter *old = &draft->filter;
	CuckooFilter made;
	CuckooPart	parts[CUCKOO_MAX_TABLES];
	CuckooClassSource none;
	CuckooTableSource base;
	CuckooEditSource edited;
	int			count = 0;
	uint8_t    *bytes;

	memset(parts, 0, sizeof(parts));
	for (int i = 0; i < old->table_count; i++)
	{
		CuckooPart *part = &parts[count];

		if (rewrite == DROP && i == table)
			continue;
		count++;
		part->shape = old->tables[i].shape;
		part->items = old->tables[i].items;
		part->representation = (CuckooRepresentation) old->tables[i].representation;
		part->table = &old->tables[i];
		part->remove = draft->removing;
		part->count = draft->pending[i].copies;
		if (part->count > 0)
			PendingSort(&draft->pending[i], host);
		part->codes = draft->pending[i].codes;
		if (i == table && (rewrite == MAKE_SPARSE || rewrite == MAKE_DENSE))
		{
			part->representation = rewrite == MAKE_DENSE ? CUCKOO_DENSE : CUCKOO_SPARSE;
			CuckooEditSourceInit(&edited, CuckooTableSourceInit(&base, part->table, host),
								 part->codes, part->count, part->remove);
			part->source = &edited.source;
		}
	}
	if (rewrite == GROW)
	{
		CuckooClassSourceInit(&none, NULL, 0);
		parts[count].shape = *grown;
		parts[count++].source = &none.source;
	}

	memcpy(&made, old, offsetof(CuckooFilter, tables));
	bytes = CuckooMakeFilter(&made, parts, count, host);
	if (rewrite == MAKE_SPARSE || rewrite == MAKE_DENSE)
		CuckooTableSourceRelease(&base);
	if (bytes == NULL)
		return false;
	for (int i = 0; i < old->table_count; i++)
		PendingClear(&draft->pending[i], host);
	if (draft->writable)
		CuckooFreeFilter(draft->bytes, host);
	draft->bytes = bytes;
	draft->writable = true;
	memcpy(old, &made, offsetof(CuckooFilter, tables) + (size_t) count * sizeof(CuckooTable));
	return true;
}

/* Whether anything is pending. */
static bool
IsPending(const CuckooDraft *draft)
{
	for (int i = 0; i < draft->filter.table_count; i++)
	{
		if (draft->pending[i].copies > 0)
			return true;
	}
	return false;
}

/* Copy the bytes unless the draft owns them. */
static void
MakeWritable(CuckooDraft *draft, const CuckooHost *host)
{
	size_t		bytes;
	uint8_t    *copy;

	if (draft->writable)
		return;
	bytes = (size_t) CuckooTableOffset(&draft->filter, draft->filter.table_count) +
		CUCKOO_TAIL_BYTES;
	copy = (uint8_t *) host->allocate(host->header_bytes + bytes) + host->header_bytes;
	CuckooCopy(copy, draft->bytes, bytes, host);
	for (int i = 0; i < draft->filter.table_count; i++)
	{
		CuckooTable *table = &draft->filter.tables[i];

		CuckooTableSetData(table, copy + (table->data - draft->bytes));
	}
	draft->bytes = copy;
	draft->writable = true;
}

/*
 * Begin to add or remove.  What is pending is encoded first if it is of the
 * other sort.  Returns false if the filter would be too large.
 */
static bool
Switch(CuckooDraft *draft, bool removing, const CuckooHost *host)
{
	if (draft->removing != removing && IsPending(draft) &&
		!RewriteDraft(draft, ENCODE, -1, NULL, host))
		return false;
	draft->removing = removing;
	return true;
}

static bool
EncodeIfMany(CuckooDraft *draft, int i, const CuckooHost *host)
{
	const CuckooTable *table = &draft->filter.tables[i];
	const CuckooPending *pending = &draft->pending[i];

	if (pending->classes < PENDING_CLASSES ||
		pending->classes < table->items / PENDING_SHARE)
		return true;
	return RewriteDraft(draft, ENCODE, -1, NULL, host);
}

bool
CuckooDraftContains(const CuckooDraft *draft, uint64_t hash)
{
	for (int i = draft->filter.table_count - 1; i >= 0; i--)
	{
		const CuckooTable *table = &draft->filter.tables[i];
		int			pending = PendingCopies(draft, i, hash);

		if (pending > 0 ? !draft->removing || CuckooTableCount(table, hash) > pending :
			CuckooTableContains(table, hash))
			return true;
	}
	return false;
}

/* Copies of a key in table i of a draft. */
static int
DraftCount(const CuckooDraft *draft, int i, uint64_t hash)
{
	const CuckooTable *table = &draft->filter.tables[i];
	int			pending = PendingCopies(draft, i, hash);

	return CuckooTableCount(table, hash) + (draft->removing ? -pending : pending);
}

/* Whether table i of a draft is below its capacity. */
static inline bool
HasRoom(const CuckooDraft *draft, int i)
{
	const CuckooTable *table = &draft->filter.tables[i];

	return table->items < CuckooShapeCapacity(&table->shape);
}

/* The number of the newest table with room; -1 if there is none. */
static inline int
NewestWithRoom(const CuckooDraft *draft)
{
	int			i = draft->filter.table_count - 1;

	while (i >= 0 && !HasRoom(draft, i))
		i--;
	return i;
}

/* Add one copy of a key to table i, or to a new one if i is -1. */
static CuckooChange
AddTo(CuckooDraft *draft, int i, uint64_t hash, const CuckooHost *host)
{
	CuckooFilter *filter = &draft->filter;
	CuckooTable *table;

	if (i == -1)
	{
		CuckooShape shape;

		if (!CuckooNextShape(filter, &shape))
			return CUCKOO_FULL;
		if (!RewriteDraft(draft, GROW, -1, &shape, host))
			return CUCKOO_TOO_LARGE;
		draft->stay_sparse = false;
		i = filter->table_count - 1;
	}

	table = &filter->tables[i];
	if (table->representation == CUCKOO_DENSE)
	{
		CuckooPlace place = CuckooPlaceOf(&table->shape, hash);

		MakeWritable(draft, host);
		switch (CuckooDenseInsert(&table->dense, &place, host))
		{
			case CUCKOO_INSERTED:
				table->items++;
				filter->items++;
				return CUCKOO_CHANGED;
			case CUCKOO_EIGHT_COPIES:
				return CUCKOO_PINNED;
			case CUCKOO_NO_ROOM:
				/* A sparse table has room for any class. */
				if (!RewriteDraft(draft, MAKE_SPARSE, i, NULL, host))
					return CUCKOO_TOO_LARGE;
				draft->stay_sparse = i == filter->table_count - 1;
				table = &filter->tables[i];
				break;
		}
	}

	table->items++;
	filter->items++;
	if (draft->to_come > 0)
	{
		PendingAppend(&draft->pending[i], CuckooCodeOf(&table->shape, hash),
					  draft->to_come, host);
		return CUCKOO_CHANGED;
	}
	PendingAdd(&draft->pending[i], CuckooCodeOf(&table->shape, hash), host);
	/* Try to make it dense only at exactly this number of items. */
	if (table->items == CuckooDenseFrom(&table->shape))
		return RewriteDraft(draft, MAKE_DENSE, i, NULL, host) ?
			CUCKOO_CHANGED : CUCKOO_TOO_LARGE;
	return EncodeIfMany(draft, i, host) ? CUCKOO_CHANGED : CUCKOO_TOO_LARGE;
}

/*
 * Add to the newest table that holds the class and has room, because a class
 * in two tables cannot be removed; otherwise to the newest with room.
 */
CuckooChange
CuckooDraftAdd(CuckooDraft *draft, uint64_t hash, const CuckooHost *host)
{
	const CuckooFilter *filter = &draft->filter;
	int			holder = -1;

	if (!Switch(draft, false, host))
		return CUCKOO_TOO_LARGE;
	/* The usual case.  Inserting tells whether the class is pinned. */
	if (filter->table_count == 1 && filter->tables[0].representation == CUCKOO_DENSE &&
		HasRoom(draft, 0))
		return AddTo(draft, 0, hash, host);

	for (int i = filter->table_count - 1; i >= 0; i--)
	{
		int			copies = DraftCount(draft, i, hash);

		if (copies >= CUCKOO_MAX_COPIES)
			return CUCKOO_PINNED;
		if (copies > 0 && holder < 0 && HasRoom(draft, i))
			holder = i;
	}
	return AddTo(draft, holder >= 0 ? holder : NewestWithRoom(draft), hash, host);
}

CuckooChange
CuckooDraftAddNew(CuckooDraft *draft, uint64_t hash, const CuckooHost *host)
{
	if (CuckooDraftContains(draft, hash))
		return CUCKOO_PRESENT;
	if (!Switch(draft, false, host))
		return CUCKOO_TOO_LARGE;
	return AddTo(draft, NewestWithRoom(draft), hash, host);
}

CuckooChange
CuckooDraftRemove(CuckooDraft *draft, uint64_t hash, const CuckooHost *host)
{
	CuckooFilter *filter = &draft->filter;
	CuckooTable *table;
	int			holder = -1;

	if (!Switch(draft, true, host))
		return CUCKOO_TOO_LARGE;
	for (int i = 0; i < filter->table_count; i++)
	{
		if (DraftCount(draft, i, hash) > 0)
		{
			if (holder >= 0)
				return CUCKOO_KEPT;
			holder = i;
		}
	}
	if (holder < 0)
		return CUCKOO_ABSENT;
	table = &filter->tables[holder];
	if (CuckooTableCount(table, hash) == CUCKOO_MAX_COPIES)
		return CUCKOO_KEPT;

	if (table->representation == CUCKOO_DENSE)
	{
		CuckooPlace place = CuckooPlaceOf(&table->shape, hash);

		MakeWritable(draft, host);
		CuckooDenseRemove(&table->dense, &place);
	}
	else
		PendingAdd(&draft->pending[holder], CuckooCodeOf(&table->shape, hash), host);
	table->items--;
	filter->items--;
	if (table->items == 0 && filter->table_count > 1)
		return RewriteDraft(draft, DROP, holder, NULL, host) ?
			CUCKOO_CHANGED : CUCKOO_TOO_LARGE;
	if (table->representation == CUCKOO_DENSE)
	{
		if (table->items < CuckooSparseBelow(&table->shape) &&
			!RewriteDraft(draft, MAKE_SPARSE, holder, NULL, host))
			return CUCKOO_TOO_LARGE;
		return CUCKOO_CHANGED;
	}
	return EncodeIfMany(draft, holder, host) ? CUCKOO_CHANGED : CUCKOO_TOO_LARGE;
}

size_t
CuckooDraftBatchKeys(const CuckooDraft *draft)
{
	const CuckooFilter *filter = &draft->filter;
	uint64_t	keys = filter->items / BATCH_SHARE;
	uint64_t	limit = CuckooShapeCapacity(&filter->tables[filter->table_count - 1].shape) /
		BATCH_LIMIT_SHARE;

	if (keys > limit)
		keys = limit;
	return (size_t) (keys < MIN_BATCH ? MIN_BATCH : keys);
}

/*
 * The number of the table to be made dense after a batch of count keys, or -1.
 * From three quarters of its entries on, a table is to be dense anyway.  Before
 * that, it is made dense if the batch is large enough to expect more batches,
 * which are faster to add to a dense table.
 */
static int
TableToMakeDense(const CuckooDraft *draft, size_t count)
{
	int			i = draft->filter.table_count - 1;
	const CuckooTable *table = &draft->filter.tables[i];

	/* Older tables are dense already or cannot be made dense. */
	if (table->representation == CUCKOO_DENSE || draft->stay_sparse)
		return -1;
	if (table->items >= CuckooDenseFrom(&table->shape) ||
		(table->items >= CuckooShapeBuckets(&table->shape) / 2 &&
		 count >= table->items / DENSE_SHARE))
		return i;
	return -1;
}

/*
 * Add up to GROUP_KEYS keys of a batch in the simplest case, which is also the
 * usual one for large batches: the draft has one table, which is dense and
 * writable.  Returns the number of keys that need no further work.  It is less
 * than asked for if the next key does not fit into the table in this way.
 *
 * The places of all keys are computed, and their buckets prefetched, before the
 * first key is added.  The branches of adding a key are hard to predict, which
 * would keep the processor from starting with the next key.
 */
static size_t
AddGroup(CuckooDraft *draft, const uint64_t *hashes, size_t count, bool distinct,
		 const CuckooHost *host)
{
	CuckooFilter *filter = &draft->filter;
	CuckooTable *table = &filter->tables[0];
	CuckooPlace places[GROUP_KEYS];
	size_t		at = 0;

	if (filter->table_count > 1 || table->representation != CUCKOO_DENSE || !draft->writable)
		return 0;
	if (count > GROUP_KEYS)
		count = GROUP_KEYS;
	for (size_t i = 0; i < count; i++)
	{
		places[i] = CuckooDensePlace(&table->dense, hashes[i]);
		CuckooDensePrefetchAt(&table->dense, &places[i]);
	}
	while (at < count && HasRoom(draft, 0))
	{
		const CuckooPlace *place = &places[at];

		if (!distinct || !CuckooDenseContainsAt(&table->dense, *place))
		{
			CuckooInsertion insertion = CuckooDenseInsert(&table->dense, place, host);

			if (insertion == CUCKOO_NO_ROOM)
				break;
			table->items += insertion == CUCKOO_INSERTED;
			filter->items += insertion == CUCKOO_INSERTED;
		}
		at++;
	}
	return at;
}

CuckooChange
CuckooDraftAddBatch(CuckooDraft *draft, const uint64_t *hashes, size_t count,
					bool distinct, const CuckooHost *host)
{
	int			dense;

	/* The codes of single keys are pending in a hash set, not in order. */
	if (IsPending(draft) && !RewriteDraft(draft, ENCODE, -1, NULL, host))
		return CUCKOO_TOO_LARGE;
	draft->removing = false;
	draft->batched = true;
	for (size_t at = 0; at < count; at++)
	{
		CuckooChange change;

		host->pause();
		at += AddGroup(draft, hashes + at, count - at, distinct, host);
		if (at == count)
			break;
		draft->to_come = count - at;
		change = distinct ? CuckooDraftAddNew(draft, hashes[at], host) :
			CuckooDraftAdd(draft, hashes[at], host);
		if (change == CUCKOO_FULL || change == CUCKOO_TOO_LARGE)
			return change;
	}
	draft->to_come = 0;

	dense = TableToMakeDense(draft, count);
	if (dense >= 0)
	{
		if (!RewriteDraft(draft, MAKE_DENSE, dense, NULL, host))
			return CUCKOO_TOO_LARGE;
		draft->stay_sparse = draft->filter.tables[dense].representation == CUCKOO_SPARSE;
	}
	else if (IsPending(draft) && !RewriteDraft(draft, ENCODE, -1, NULL, host))
		return CUCKOO_TOO_LARGE;
	return CUCKOO_CHANGED;
}

uint8_t *
CuckooDraftFinish(CuckooDraft *draft, const CuckooHost *host)
{
	for (int i = 0; draft->batched && i < draft->filter.table_count; i++)
	{
		const CuckooTable *table = &draft->filter.tables[i];

		if (table->representation == CUCKOO_DENSE &&
			table->items < CuckooDenseFrom(&table->shape) &&
			!RewriteDraft(draft, MAKE_SPARSE, i, NULL, host))
			return NULL;
	}
	if (IsPending(draft))
		return RewriteDraft(draft, ENCODE, -1, NULL, host) ? draft->bytes : NULL;
	MakeWritable(draft, host);
	CuckooWriteHeader(&draft->filter, draft->bytes);
	return draft->bytes;
}
