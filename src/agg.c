/*-------------------------------------------------------------------------
 *
 * agg.c
 *	  The aggregates over keys: cuckoo_agg, cuckoo_stream_agg and
 *	  cuckoo_multiset_agg.
 *
 * cuckoo_agg			keeps the hashes of all distinct keys until the end.
 *
 * cuckoo_stream_agg	adds a key to a filter of the capacity specified if the
 *						filter does not contain it, as cuckoo_union does.  Keys
 *						with equal fingerprints are not told apart, so the
 *						result is not removable.
 *
 * cuckoo_multiset_agg	adds a copy of the key for every row, up to eight, as
 *						cuckoo_add does.  It is for columns with repeated keys
 *						whose rows will be removed one by one.  Copies count
 *						toward the capacity.
 *
 * States are flat or large (state.h).
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/htup_details.h"
#include "nodes/nodeFuncs.h"
#include "nodes/primnodes.h"
#include "utils/typcache.h"

#include "call.h"
#include "state.h"

/*
 * Rows: their parameters and their keys
 */

/*
 * What Citus passes to a transition function from an argument of
 * worker_partial_agg: how many arguments, and the type of the first.
 */
static int
WorkerArguments(Node *argument, Oid *type, Oid *collation)
{
	Node	   *first = argument;
	int			count = 1;

	*type = InvalidOid;
	*collation = InvalidOid;
	if (exprType(argument) == RECORDOID)
	{
		if (IsA(argument, Const) && !((Const *) argument)->constisnull)
		{
			/* The planner has made a row of constants one constant. */
			HeapTupleHeader row = DatumGetHeapTupleHeader(((Const *) argument)->constvalue);
			TupleDesc	members = lookup_rowtype_tupdesc(HeapTupleHeaderGetTypeId(row),
														 HeapTupleHeaderGetTypMod(row));

			count = members->natts;
			if (count > 0)
			{
				*type = TupleDescAttr(members, 0)->atttypid;
				*collation = TupleDescAttr(members, 0)->attcollation;
			}
			ReleaseTupleDesc(members);
			return count;
		}
		if (!IsA(argument, RowExpr) || ((RowExpr *) argument)->args == NIL)
			return 0;
		count = list_length(((RowExpr *) argument)->args);
		first = linitial(((RowExpr *) argument)->args);
	}
	*type = exprType(first);
	*collation = exprCollation(first);
	return count;
}

/*
 * How keys are hashed in a call without an expression.  Citus makes such calls:
 * it runs the aggregate worker_partial_agg(aggregate, key) or
 * worker_partial_agg(aggregate, ROW(key, ...)), which calls our transition
 * function with a new FmgrInfo for every row.  The key has the type that it has
 * in the call of worker_partial_agg.  Anybody may call that, in any form, so
 * every other form is refused.
 */
static void
FindWorkerKey(FunctionCallInfo fcinfo, CuckooKey *key)
{
	Aggref	   *aggref = AggGetAggref(fcinfo);
	Oid			type = InvalidOid;
	Oid			collation = InvalidOid;

	if (aggref != NULL && list_length(aggref->args) == 2 &&
		WorkerArguments((Node *) ((TargetEntry *) lsecond(aggref->args))->expr,
						 &type, &collation) != PG_NARGS() - 1)
		type = InvalidOid;
	CuckooKeyInit(key, type, collation, CurrentMemoryContext);
}

/*
 * Refuse a column that the parser has relabelled as one of our key types,
 * although its own type has another equality, as citext has.  This cannot be
 * seen in a window, nor on Citus, which makes it a cast that was written.
 */
static void
CheckRelabelled(FunctionCallInfo fcinfo)
{
	Aggref	   *aggref = AggGetAggref(fcinfo);
	Node	   *argument;
	CuckooKey	key;

	if (fcinfo->flinfo->fn_expr == NULL || aggref == NULL || aggref->args == NIL)
		return;
	argument = (Node *) ((TargetEntry *) linitial(aggref->args))->expr;
	/* A cast that was written means what it says. */
	while (argument != NULL && IsA(argument, RelabelType) &&
		   ((RelabelType *) argument)->relabelformat == COERCE_IMPLICIT_CAST)
	{
		argument = (Node *) ((RelabelType *) argument)->arg;
		CuckooKeyInit(&key, exprType(argument), PG_GET_COLLATION(),
					  CurrentMemoryContext);
	}
}

/* How keys are hashed, if the call does not know it yet. */
static CuckooKey *
FindKey(FunctionCallInfo fcinfo, CuckooCall *call)
{
	if (fcinfo->flinfo->fn_expr == NULL)
	{
		FindWorkerKey(fcinfo, &call->key);
		return &call->key;
	}
	CheckRelabelled(fcinfo);
	return CuckooFindKey(fcinfo, 1, false);
}

/* Check the arguments after the key if they are not those of the last row. */
static inline void
ReadParameters(FunctionCallInfo fcinfo, CuckooCall *call)
{
	CuckooParameters given = CuckooGetParameters(fcinfo, 2, PG_NARGS() - 2);
	const CuckooParameters *last = &call->parameters;

	if (likely(call->has_row && last->has_capacity == given.has_capacity &&
			   last->capacity == given.capacity && last->fpr == given.fpr &&
			   last->seed == given.seed))
		return;
	call->row = CuckooCheckParameters(&given);
	call->parameters = given;
	call->has_row = true;
}

/* Read a row: its parameters, key type (NONE if its key is NULL), and hash. */
static inline const CuckooHeader *
ReadRow(FunctionCallInfo fcinfo, uint64 *hash)
{
	CuckooCall *call = (CuckooCall *) fcinfo->flinfo->fn_extra;
	CuckooKey  *key;

	if (unlikely(call == NULL))
		call = CuckooGetCall(fcinfo);
	if (PG_NARGS() > 2 || unlikely(!call->has_row))
		ReadParameters(fcinfo, call);
	if (PG_ARGISNULL(1))
	{
		call->row.key_type = CUCKOO_KEY_NONE;
		call->row.signature = 0;
		return &call->row;
	}
	key = likely(call->has_key) ? &call->key : FindKey(fcinfo, call);
	*hash = CuckooKeyHash(key, PG_GETARG_DATUM(1), call->row.seed);
	call->row.key_type = (uint8) key->key_type;
	call->row.signature = key->signature;
	return &call->row;
}

/* Whether rows agree in what all rows of an aggregate must agree on. */
static inline bool
SameHeader(const CuckooHeader *a, const CuckooHeader *b)
{
	return a->key_type == b->key_type && a->signature == b->signature &&
		a->fpr == b->fpr && a->capacity == b->capacity && a->seed == b->seed;
}

/*
 * cuckoo_agg
 *
 * The state is a list of the hashes seen, which is sorted whenever it is full to
 * drop repetitions.  Flat, it is in a varlena, changed in place (CuckooFlat).  From
 * 1 MB on it is large, and many lists.  If a state leaves its process it becomes a
 * partial state, the sorted hashes.
 */

/* The most distinct keys that are accepted: a gigabyte of hashes. */
#define MAX_KEYS			UINT64CONST(120000000)

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

/* A state in either working form. */
typedef struct KeysState
{
	CuckooFlat *flat;			/* one of the two, the other NULL */
	LargeKeys  *large;
} KeysState;

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

/* Sort all lists, which then are these runs; returns how many keys there are. */
static uint64
SortLists(LargeKeys *large, CuckooRun *runs)
{
	uint64		count = 0;

	for (int i = 0; i < LISTS; i++)
	{
		SortList(large, i);
		runs[i] = (CuckooRun) {large->lists[i].numbers, large->lists[i].count};
		count += runs[i].count;
	}
	/* Refuse more than can be sorted in reasonable memory. */
	if (count > MAX_KEYS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many distinct keys for cuckoo_agg"),
				 errdetail("It accepts at most %llu distinct keys.",
						   (unsigned long long) MAX_KEYS),
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
	CuckooRun	runs[LISTS];

	/* With so much room in all, there are repetitions or too many keys. */
	if (large->room >= 2 * MAX_KEYS)
		SortLists(large, runs);
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
	CuckooRun	runs[LISTS];
	uint64		count = SortLists(large, runs);

	return CuckooPartialValue(&large->header, runs, LISTS, count);
}

/* Turn a flat state into a large one, whose sample will be the list of a hash. */
static void
BecomeLarge(KeysState *state, uint64 hash, MemoryContext aggcontext)
{
	const CuckooFlat *flat = state->flat;

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
	CuckooFlat *flat = state->flat;
	CuckooList	list = {flat->hashes, flat->header.items, flat->room};

	CuckooListUnique(&list);
	flat->header.items = list.count;
	if (list.count <= flat->room / 4)
		return;
	if (flat->room > CUCKOO_FLAT_MAX_ROOM / 2)
	{
		BecomeLarge(state, flat->hashes[list.count / 2], aggcontext);
		return;
	}
	state->flat = CuckooFlatNew(&flat->header, flat->room * 2);
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
		const CuckooFlat *flat = (CuckooFlat *) other;

		for (uint64 i = 0; i < flat->header.items; i++)
			AggAdd(state, flat->hashes[i], aggcontext);
		return;
	}
	CuckooOpen(&partial, CuckooValueBytes(other), VARSIZE_ANY_EXHDR(other));
	if (state->flat != NULL && partial.items > CUCKOO_FLAT_MAX_ROOM / 2)
		BecomeLarge(state, CuckooPartialHash(&partial, partial.items / 2), aggcontext);
	for (uint64 i = 0; i < partial.items; i++)
	{
		CuckooCheckInterruptsAt(i);
		AggAdd(state, CuckooPartialHash(&partial, i), aggcontext);
	}
}

static void
NewKeysState(KeysState *state, const CuckooHeader *header)
{
	state->flat = CuckooFlatNew(header, CUCKOO_FLAT_MIN_ROOM);
	state->large = NULL;
}

static inline void
OpenKeysState(KeysState *state, Datum value, MemoryContext aggcontext)
{
	CuckooValue *pointer = (CuckooValue *) DatumGetPointer(value);
	CuckooHeader header;

	state->flat = (CuckooFlat *) pointer;
	state->large = (LargeKeys *) CuckooGetLarge(value, MakePartial);
	if (state->large != NULL)
		state->flat = NULL;
	else if (VARATT_IS_EXTENDED(pointer) || !CuckooFlatIsSafe(state->flat))
	{
		/* A user's own aggregate may begin with any stored state. */
		pointer = (CuckooValue *) PG_DETOAST_DATUM(value);
		state->flat = (CuckooFlat *) pointer;
		header = CuckooStateHeader(pointer);
		if (CuckooContentOf(pointer) == CUCKOO_LIST)
			return;
		NewKeysState(state, &header);
		AggAddAll(state, pointer, aggcontext);
	}
}

/* What to return: the pointer that was passed, if the state has not moved. */
static inline Datum
StateDatum(const KeysState *state)
{
	return state->large != NULL ? CuckooLargeDatum(&state->large->large) :
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
	row = ReadRow(fcinfo, &hash);
	if (PG_ARGISNULL(0))
		NewKeysState(&state, row);
	else
	{
		OpenKeysState(&state, PG_GETARG_DATUM(0), aggcontext);
		if (unlikely(!SameHeader(StateHeader(&state), row)))
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
	header = CuckooStateHeader(other);
	if (PG_ARGISNULL(0))
		NewKeysState(&state, &header);
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
	CuckooRun	runs[LISTS];
	uint64		run_count = LISTS;
	KeysState	state;

	if (PG_ARGISNULL(0))
		PG_RETURN_CUCKOOFILTER_P(CuckooUnsetValue());
	OpenKeysState(&state, PG_GETARG_DATUM(0), aggcontext);
	if (state.large != NULL)
		SortLists(state.large, runs);
	else
	{
		CuckooStateHeader((CuckooValue *) state.flat);
		runs[0] = CuckooFlatSorted(state.flat);
		run_count = 1;
	}
	filter.header = *StateHeader(&state);
	PG_RETURN_CUCKOOFILTER_P(CuckooBuildValue(&filter, runs, run_count));
}

/*
 * cuckoo_stream_agg and cuckoo_multiset_agg
 *
 * The state is a filter.  A large one is a draft (filter.h) with a list of
 * hashes, which are sorted and added together: to add 10 million keys one by
 * one took four times as long.  Partial states are filters, combined as
 * cuckoo_union_agg and cuckoo_union_all_agg combine filters.
 *
 * The order of rows determines which keys are in a batch, and thus where the
 * entries of a dense table are.  Only the same rows in the same order give the
 * same bytes.
 */

/* Each row copies a flat state; at this size that takes a microsecond. */
#define STREAM_FLAT_BYTES	4096

typedef struct Stream
{
	CuckooLarge large;
	CuckooDraft draft;
	CuckooEdit	edit;			/* CUCKOO_ADD_NEW or CUCKOO_ADD */
	CuckooList	batch;
} Stream;

/* Add the batch to the draft, and make room for the next. */
static void
AddBatch(Stream *stream)
{
	MemoryContext old = MemoryContextSwitchTo(stream->large.header.eoh_context);
	size_t		room;

	CuckooDraftApplyOrFail(&stream->draft, stream->batch.numbers, (size_t) stream->batch.count,
						   stream->edit);
	stream->batch.count = 0;
	room = CuckooDraftBatchKeys(&stream->draft);
	if (room != stream->batch.room)
	{
		CuckooListFree(&stream->batch);
		CuckooListReserve(&stream->batch, room);
	}
	MemoryContextSwitchTo(old);
}

/* The filter as it is now. */
static CuckooValue *
MakeStream(CuckooLarge *large)
{
	Stream	   *stream = (Stream *) large;
	MemoryContext old;
	CuckooValue *value;

	AddBatch(stream);
	old = MemoryContextSwitchTo(large->header.eoh_context);
	value = CuckooDraftFinishValue(&stream->draft);
	MemoryContextSwitchTo(old);
	return CuckooCopyValue(value);
}

static Stream *
NewStream(CuckooValue *flat, CuckooEdit edit, MemoryContext aggcontext)
{
	Stream	   *stream = (Stream *) CuckooLargeNew(sizeof(Stream), MakeStream, aggcontext);
	MemoryContext old = MemoryContextSwitchTo(stream->large.header.eoh_context);

	CuckooDraftOpenValue(&stream->draft, CuckooCopyValue(flat));
	stream->edit = edit;
	MemoryContextSwitchTo(old);
	return stream;
}

/* Refuse a row that does not match.  Returns whether its flags were changed. */
static inline bool
MatchRow(CuckooDraft *draft, const CuckooHeader *row, CuckooEdit edit)
{
	CuckooHeader *header = &draft->filter.header;

	if (unlikely(!SameHeader(header, row)))
		CuckooMatchHeaders(header, row);
	/* A new state, or one that a user's aggregate began with, lacks the flag. */
	if (edit != CUCKOO_ADD_NEW || header->flags & CUCKOO_FLAG_NOT_REMOVABLE)
		return false;
	header->flags |= CUCKOO_FLAG_NOT_REMOVABLE;
	return true;
}

/* A row for a flat state, which is not changed: the executor frees it. */
static Datum
AddToFlat(FunctionCallInfo fcinfo, CuckooValue *flat, const CuckooHeader *row, uint64 hash,
		  CuckooEdit edit)
{
	bool		changed = PG_ARGISNULL(0);
	CuckooDraft draft;

	CuckooDraftOpenValue(&draft, PG_ARGISNULL(0) ? flat : CuckooCopyValue(flat));
	changed |= MatchRow(&draft, row, edit);
	if (!PG_ARGISNULL(1))
		changed |= CuckooDraftApplyOrFail(&draft, &hash, 1, edit);
	if (!changed)
		return CuckooUnchanged(fcinfo);
	PG_RETURN_CUCKOOFILTER_P(CuckooDraftFinishValue(&draft));
}

/* One row; inlined for each of the two aggregates. */
static inline Datum
StreamRow(FunctionCallInfo fcinfo, CuckooEdit edit)
{
	MemoryContext aggcontext = CuckooAggContext(fcinfo);
	uint64		hash = 0;
	const CuckooHeader *row = ReadRow(fcinfo, &hash);
	Stream	   *stream = NULL;

	if (row->capacity == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("capacity must be specified for %s",
						edit == CUCKOO_ADD_NEW ? "cuckoo_stream_agg" : "cuckoo_multiset_agg"),
				 edit == CUCKOO_ADD_NEW ?
				 errhint("Specify how many keys there may be, or use cuckoo_agg, which counts them.") :
				 errhint("Specify how many copies there may be, at most eight of each key.")));

	if (!PG_ARGISNULL(0))
		stream = (Stream *) CuckooGetLarge(PG_GETARG_DATUM(0), MakeStream);
	if (stream == NULL)
	{
		CuckooFilter empty;
		CuckooValue *flat;

		empty.header = *row;
		flat = PG_ARGISNULL(0) ? CuckooBuildValue(&empty, NULL, 0) : PG_GETARG_CUCKOOFILTER_P(0);
		if (VARSIZE_ANY_EXHDR(flat) <= STREAM_FLAT_BYTES)
			return AddToFlat(fcinfo, flat, row, hash, edit);
		stream = NewStream(flat, edit, aggcontext);
	}
	MatchRow(&stream->draft, row, edit);
	if (!PG_ARGISNULL(1))
	{
		if (stream->batch.count == stream->batch.room)
			AddBatch(stream);
		stream->batch.numbers[stream->batch.count++] = hash;
	}
	return CuckooLargeDatum(&stream->large);
}

/* cuckoo_stream_agg_transfn(state, key, capacity [, fpr [, seed]]) */
PG_FUNCTION_INFO_V1(cuckoo_stream_agg_transfn);
Datum
cuckoo_stream_agg_transfn(PG_FUNCTION_ARGS)
{
	return StreamRow(fcinfo, CUCKOO_ADD_NEW);
}

/* cuckoo_stream_agg_combine(state, state) */
PG_FUNCTION_INFO_V1(cuckoo_stream_agg_combine);
Datum
cuckoo_stream_agg_combine(PG_FUNCTION_ARGS)
{
	return CuckooCombineState(fcinfo, CUCKOO_UNION, true);
}

/* cuckoo_multiset_agg_transfn(state, key, capacity [, fpr [, seed]]) */
PG_FUNCTION_INFO_V1(cuckoo_multiset_agg_transfn);
Datum
cuckoo_multiset_agg_transfn(PG_FUNCTION_ARGS)
{
	return StreamRow(fcinfo, CUCKOO_ADD);
}

/* cuckoo_multiset_agg_combine(state, state) */
PG_FUNCTION_INFO_V1(cuckoo_multiset_agg_combine);
Datum
cuckoo_multiset_agg_combine(PG_FUNCTION_ARGS)
{
	return CuckooCombineState(fcinfo, CUCKOO_UNION_ALL, true);
}
