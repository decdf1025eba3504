/*-------------------------------------------------------------------------
 *
 * agg_keys.c
 *	  The aggregate cuckoo_agg, which keeps the hashes of all distinct keys until
 *	  the end.
 *
 * The state is a list of the hashes seen, which is sorted whenever it is full to
 * drop repetitions.  Flat, it is in a varlena, changed in place (FlatKeys).  From
 * 1 MB on it is large, and many lists.  If a state leaves its process it becomes a
 * partial state, the sorted hashes.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "state.h"

/* The most distinct keys that are accepted: a gigabyte of hashes. */
#define MAX_KEYS			UINT64CONST(120000000)

/*
 * A list of hashes in a varlena, so that the executor can copy it.  Its second
 * byte is the content, as in the format.  Everything else is laid out by the C
 * compiler.
 */
typedef struct FlatKeys
{
	int32		vl_len_;
	uint8		version;
	uint8		content;		/* CUCKOO_LIST */
	uint32		room;			/* for hashes */
	CuckooHeader header;		/* items: hashes, perhaps repeated */
	uint64		hashes[FLEXIBLE_ARRAY_MEMBER];
} FlatKeys;

/* From 8 to 128 k hashes, 1 MB */
#define FLAT_MIN_ROOM	8
#define FLAT_MAX_ROOM	(128 * 1024)

/* The version of the layout in memory, not of the format */
#define FLAT_VERSION	1

/*
 * Whether a list is safe to read and to add to.  A user's own aggregate can
 * store one and pass it on later, perhaps under another release.  This is
 * checked for every row; compared with hashing its key, it costs nothing.
 */
static inline bool
IsSafe(const FlatKeys *flat)
{
	return flat->content == CUCKOO_LIST &&
		VARSIZE(flat) >= offsetof(FlatKeys, hashes) &&
		flat->version == FLAT_VERSION &&
		flat->room >= FLAT_MIN_ROOM && flat->room <= FLAT_MAX_ROOM &&
		flat->header.items <= flat->room &&
		VARSIZE(flat) == offsetof(FlatKeys, hashes) + flat->room * sizeof(uint64);
}

/* An empty list with the parameters of a header */
static FlatKeys *
NewFlat(const CuckooHeader *header, uint32 room)
{
	size_t		bytes = offsetof(FlatKeys, hashes) + room * sizeof(uint64);
	FlatKeys   *flat = palloc0(bytes);

	SET_VARSIZE(flat, bytes);
	flat->version = FLAT_VERSION;
	flat->content = CUCKOO_LIST;
	flat->room = room;
	flat->header = *header;
	flat->header.items = 0;
	return flat;
}

/*
 * Check a state of cuckoo_agg completely, and return its parameters.  A list
 * must be aligned.
 */
static CuckooHeader
CheckedHeader(CuckooValue *value)
{
	const FlatKeys *flat = (FlatKeys *) value;
	const CuckooHeader *header = &flat->header;
	CuckooFilter partial;

	if (CuckooContentOf(value) == CUCKOO_PARTIAL)
	{
		CuckooOpenHeader(&partial, CuckooValueBytes(value), VARSIZE_ANY_EXHDR(value));
		return partial.header;
	}
	/* A NaN fails both comparisons of the rate. */
	if (!IsSafe(flat) ||
		!(header->fpr >= CUCKOO_MIN_FPR && header->fpr <= CUCKOO_MAX_FPR) ||
		header->capacity > CUCKOO_MAX_CAPACITY ||
		header->kind.type > CUCKOO_KEY_LAST || header->flags != 0 || header->table_count != 0 ||
		CuckooKeyTypeIsNested(header->kind.type) != (header->kind.signature != 0) ||
		/* The key type is unknown only if there are no keys. */
		(header->kind.type == CUCKOO_KEY_NONE && header->items > 0))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cuckoofilter is not the state of this aggregate")));
	return *header;
}

/* The distinct hashes of a list, sorted and palloc'd. */
static CuckooList
SortedFlat(const FlatKeys *flat)
{
	CuckooList	list = {0};

	CuckooListReserve(&list, flat->header.items);
	list.count = flat->header.items;
	if (list.count > 0)
		memcpy(list.numbers, flat->hashes, list.count * sizeof(uint64));
	CuckooListUnique(&list);
	return list;
}

/* The partial state with the hashes of sorted runs, count in all */
static CuckooValue *
PartialValue(const CuckooHeader *header, const CuckooList *runs, uint64 run_count, uint64 count)
{
	CuckooFilter partial;
	CuckooValue *value;
	uint64		at = 0;

	partial.header = *header;
	partial.header.content = CUCKOO_PARTIAL;
	partial.header.items = count;
	if (CuckooBytes(&partial) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("state of cuckoo_agg is too large to be sent"),
				 errdetail("It holds %llu distinct keys.", (unsigned long long) count),
				 errhint("Use cuckoo_stream_agg, or aggregate without parallel workers.")));
	value = CuckooAllocateValue(CuckooBytes(&partial));
	CuckooLayOut(&partial, CuckooValueBytes(value));
	for (uint64 run = 0; run < run_count; run++)
	{
		CHECK_FOR_INTERRUPTS();
		for (uint64 i = 0; i < runs[run].count; i++)
			CuckooStore64(partial.hashes + 8 * at++, runs[run].numbers[i]);
	}
	CuckooAssertValid(value);
	return value;
}

CuckooValue *
CuckooSendableValue(CuckooValue *value)
{
	CuckooHeader header;
	CuckooList	sorted;

	if (CuckooContentOf(value) != CUCKOO_LIST)
		return value;
	/* In a tuple it may have lost its alignment. */
	value = (CuckooValue *) PG_DETOAST_DATUM_COPY(PointerGetDatum(value));
	header = CheckedHeader(value);
	sorted = SortedFlat((FlatKeys *) value);
	return PartialValue(&header, &sorted, 1, sorted.count);
}

/*
 * Lists of a large state, by the first byte of the hash: few enough that the
 * ends being written to stay in the first-level cache, and enough that a list
 * of 10M keys (40,000 hashes) is sorted in the second-level cache.
 */
#define LISTS				256

/*
 * Lists begin with room for so many hashes, and double it when they are full.
 * Twice LIST_DISTINCT are worth sorting to drop repetitions: sorting costs about
 * as much per row as a probe into a hash table would.
 */
#define LIST_ROOM			32
#define LIST_DISTINCT		192

typedef struct LargeKeys
{
	CuckooLarge large;
	CuckooHeader header;
	CuckooList	lists[LISTS];
	uint64		sorted[LISTS];	/* as long as there are exactly this many, the
								 * hashes are ascending and distinct */
	int			sample;			/* the list that is always sorted when full */
	bool		repeated;		/* then it lost a quarter; sort others as early */
	uint64		room;			/* hashes that all lists have room for */
} LargeKeys;

/* Sort a list and drop its repetitions. */
static void
SortList(LargeKeys *large, int i)
{
	CuckooList *list = &large->lists[i];
	uint64		before = list->count;

	if (large->sorted[i] == before)
		return;
	CHECK_FOR_INTERRUPTS();
	CuckooListUnique(list);
	large->sorted[i] = list->count;
	if (i == large->sample)
		large->repeated = list->count <= before / 4 * 3;
}

/* Sort all lists, which then are runs; returns how many keys there are. */
static uint64
SortLists(LargeKeys *large)
{
	uint64		count = 0;

	for (int i = 0; i < LISTS; i++)
	{
		SortList(large, i);
		count += large->lists[i].count;
	}
	/* Refuse more than can be sorted in reasonable memory. */
	if (count > MAX_KEYS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many distinct keys for cuckoo_agg"),
				 errdetail("It accepts at most %llu distinct keys.", (unsigned long long) MAX_KEYS),
				 errhint("Use cuckoo_stream_agg, or divide the keys among several filters with cuckoo_shard.")));
	return count;
}

/*
 * Make room in a full list: sort it, which drops repetitions, if it has grown
 * by a factor since it was sorted last, or else double its room.
 *
 *	factor	lists								at most per distinct hash
 *	  2		all, if the sample lost a quarter			 32 bytes
 *	  2		half as long again as the sample:
 *			they have a few frequent keys				 64 bytes
 *	 16		others, which may have repetitions of
 *			keys that somebody chose by their hashes	256 bytes
 *
 * Distinct hashes are spread evenly, so one list is a sample for all, and a
 * column without repetitions is not sorted at every doubling.  The sample has a
 * quarter less room, so it is sorted before the others are full.
 */
static void
MakeRoom(LargeKeys *large, int i)
{
	CuckooList *list = &large->lists[i];
	const CuckooList *sample = &large->lists[large->sample];
	uint64		growth = large->repeated || i == large->sample ||
		list->count > sample->count / 2 * 3 ? 2 : 16;
	MemoryContext old = MemoryContextSwitchTo(large->large.header.eoh_context);

	/* With so much room in all, there are repetitions or too many keys. */
	if (large->room >= 2 * MAX_KEYS)
		SortLists(large);
	if (list->count >= growth * Max(large->sorted[i], LIST_DISTINCT))
		SortList(large, i);
	large->room -= list->room;
	CuckooListReserve(list, list->count + (i == large->sample ? LIST_ROOM / 4 * 3 : LIST_ROOM));
	large->room += list->room;
	MemoryContextSwitchTo(old);
}

static inline void
LargeAdd(LargeKeys *large, uint64 hash)
{
	int			i = (int) (hash >> 56);
	CuckooList *list = &large->lists[i];

	if (unlikely(list->count == list->room))
		MakeRoom(large, i);
	list->numbers[list->count++] = hash;
}

/* A large state as a partial one. */
static CuckooValue *
MakePartial(CuckooLarge *state)
{
	LargeKeys  *large = (LargeKeys *) state;
	uint64		count = SortLists(large);

	return PartialValue(&large->header, large->lists, LISTS, count);
}

/* A state in either working form. */
typedef struct KeysState
{
	FlatKeys   *flat;			/* one of the two, the other NULL */
	LargeKeys  *large;
} KeysState;

/* Turn a flat state into a large one, whose sample will be the list of a hash. */
static void
BecomeLarge(KeysState *state, uint64 hash, MemoryContext aggcontext)
{
	const FlatKeys *flat = state->flat;

	state->flat = NULL;
	state->large = (LargeKeys *) CuckooLargeNew(sizeof(LargeKeys), MakePartial, aggcontext);
	state->large->header = flat->header;
	state->large->sample = (int) (hash >> 56);
	for (uint64 i = 0; i < flat->header.items; i++)
		LargeAdd(state->large, flat->hashes[i]);
}

/*
 * Make room in a flat state by dropping repetitions.  If that leaves more than a
 * quarter, make one twice as large, or a large state.  (With one half, a column of
 * few distinct keys takes 6 % longer.)  The old one is not freed: the executor does
 * that if necessary.
 */
static void
MakeFlatRoom(KeysState *state, MemoryContext aggcontext)
{
	FlatKeys   *flat = state->flat;
	CuckooList	list = {flat->hashes, flat->header.items, flat->room};

	CuckooListUnique(&list);
	flat->header.items = list.count;
	if (list.count <= flat->room / 4)
		return;
	if (flat->room > FLAT_MAX_ROOM / 2)
	{
		BecomeLarge(state, flat->hashes[list.count / 2], aggcontext);
		return;
	}
	state->flat = NewFlat(&flat->header, flat->room * 2);
	state->flat->header.items = list.count;
	memcpy(state->flat->hashes, flat->hashes, list.count * sizeof(uint64));
}

static inline void
AggAdd(KeysState *state, uint64 hash, MemoryContext aggcontext)
{
	if (state->flat != NULL && state->flat->header.items == state->flat->room)
		MakeFlatRoom(state, aggcontext);
	if (state->flat != NULL)
		state->flat->hashes[state->flat->header.items++] = hash;
	else
		LargeAdd(state->large, hash);
}

/* Add all hashes of a state as a value, which must be aligned. */
static void
AggAddAll(KeysState *state, CuckooValue *other, MemoryContext aggcontext)
{
	CuckooFilter partial;

	if (CuckooContentOf(other) == CUCKOO_LIST)
	{
		const FlatKeys *flat = (FlatKeys *) other;

		for (uint64 i = 0; i < flat->header.items; i++)
			AggAdd(state, flat->hashes[i], aggcontext);
		return;
	}
	CuckooOpen(&partial, CuckooValueBytes(other), VARSIZE_ANY_EXHDR(other));
	if (state->flat != NULL && partial.header.items > FLAT_MAX_ROOM / 2)
		BecomeLarge(state, CuckooPartialHash(&partial, partial.header.items / 2), aggcontext);
	for (uint64 i = 0; i < partial.header.items; i++)
	{
		CuckooCheckInterruptsAt(i);
		AggAdd(state, CuckooPartialHash(&partial, i), aggcontext);
	}
}

static inline void
OpenKeysState(KeysState *state, Datum value, MemoryContext aggcontext)
{
	CuckooValue *pointer = (CuckooValue *) DatumGetPointer(value);
	CuckooHeader header;

	state->flat = (FlatKeys *) pointer;
	state->large = (LargeKeys *) CuckooGetLarge(value, MakePartial);
	if (state->large != NULL)
		state->flat = NULL;
	else if (VARATT_IS_EXTENDED(pointer) || !IsSafe(state->flat))
	{
		/* A user's own aggregate may begin with any stored state. */
		pointer = (CuckooValue *) PG_DETOAST_DATUM(value);
		state->flat = (FlatKeys *) pointer;
		header = CheckedHeader(pointer);
		if (CuckooContentOf(pointer) == CUCKOO_LIST)
			return;
		*state = (KeysState) {.flat = NewFlat(&header, FLAT_MIN_ROOM)};
		AggAddAll(state, pointer, aggcontext);
	}
}

/* What to return: the pointer that was passed, if the state has not moved. */
static inline Datum
StateDatum(const KeysState *state)
{
	return state->large != NULL ? EOHPGetRWDatum(&state->large->large.header) :
		PointerGetDatum(state->flat);
}

static inline CuckooHeader *
StateHeader(const KeysState *state)
{
	return state->large != NULL ? &state->large->header : &state->flat->header;
}

/* cuckoo_agg_transfn(state, key [, capacity [, fpr [, seed]]]) */
PG_FUNCTION_INFO_V1(cuckoo_agg_transfn);
Datum
cuckoo_agg_transfn(PG_FUNCTION_ARGS)
{
	MemoryContext aggcontext = CuckooAggContext(fcinfo);
	const CuckooHeader *row;
	uint64		hash = 0;
	KeysState	state;

	/* A row without a key matters only if it has parameters. */
	if (PG_ARGISNULL(1) && PG_NARGS() <= 2)
		return CuckooUnchanged(fcinfo);
	row = CuckooReadRow(fcinfo, &hash);
	if (PG_ARGISNULL(0))
		state = (KeysState) {.flat = NewFlat(row, FLAT_MIN_ROOM)};
	else
	{
		OpenKeysState(&state, PG_GETARG_DATUM(0), aggcontext);
		CuckooMatchHeaders(StateHeader(&state), row);
	}
	if (!PG_ARGISNULL(1))
		AggAdd(&state, hash, aggcontext);
	return StateDatum(&state);
}

/* cuckoo_agg_combine(state, state): the hashes of both */
PG_FUNCTION_INFO_V1(cuckoo_agg_combine);
Datum
cuckoo_agg_combine(PG_FUNCTION_ARGS)
{
	MemoryContext aggcontext = CuckooAggContext(fcinfo);
	CuckooHeader header;
	CuckooValue *other;
	KeysState	state;

	if (PG_ARGISNULL(1))
		return CuckooUnchanged(fcinfo);

	/*
	 * A large state is flattened, and one from a tuple is aligned.  Neither is
	 * ever returned, because the caller's memory may be freed before the
	 * aggregate ends.
	 */
	other = (CuckooValue *) PG_GETARG_VARLENA_P(1);
	header = CheckedHeader(other);
	if (PG_ARGISNULL(0))
		state = (KeysState) {.flat = NewFlat(&header, FLAT_MIN_ROOM)};
	else
	{
		OpenKeysState(&state, PG_GETARG_DATUM(0), aggcontext);
		CuckooMatchHeaders(StateHeader(&state), &header);
	}
	AggAddAll(&state, other, aggcontext);
	return StateDatum(&state);
}

/*
 * cuckoo_agg_final(state): the filter, which is unset if there were no rows.
 * A large state is sorted in place, which does not change its meaning.
 */
PG_FUNCTION_INFO_V1(cuckoo_agg_final);
Datum
cuckoo_agg_final(PG_FUNCTION_ARGS)
{
	MemoryContext aggcontext = CuckooAggContext(fcinfo);
	CuckooFilter filter;
	CuckooList	sorted;
	KeysState	state;

	if (PG_ARGISNULL(0))
		PG_RETURN_POINTER(CuckooMakeUnsetValue());
	OpenKeysState(&state, PG_GETARG_DATUM(0), aggcontext);
	filter.header = *StateHeader(&state);
	if (state.large != NULL)
	{
		SortLists(state.large);
		PG_RETURN_POINTER(CuckooMakeValueFromHashes(&filter, state.large->lists, LISTS));
	}
	CheckedHeader((CuckooValue *) state.flat);
	sorted = SortedFlat(state.flat);
	PG_RETURN_POINTER(CuckooMakeValueFromHashes(&filter, &sorted, 1));
}

