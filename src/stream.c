/*-------------------------------------------------------------------------
 *
 * stream.c
 *	  Aggregates in bounded memory: cuckoo_stream_agg and cuckoo_multiset_agg.
 *
 * cuckoo_agg keeps all hashes until the end.  These aggregates add them to a
 * filter of the capacity specified, one by one or in batches.
 *
 * cuckoo_stream_agg	adds a key if the filter does not contain it, as
 *						cuckoo_union does.  Keys with equal fingerprints are
 *						not told apart, so the result is not removable.
 *
 * cuckoo_multiset_agg	adds a copy of the key for every row, up to eight, as
 *						cuckoo_add does.  It is for columns with repeated keys
 *						whose rows will be removed one by one.  Copies count
 *						toward the capacity.
 *
 * The state is a value of the type in one of two forms:
 *
 * flat		A filter.  This keeps the states of many small groups small.
 *
 * large	From 4 kB on, an expanded object with a draft (filter.h) and a batch
 *			of hashes, which are sorted and added together.  To add 10 million
 *			keys one by one took four times as long.
 *
 * Partial states are filters.  They are combined as cuckoo_union and
 * cuckoo_union_all combine filters.
 *
 * The order of rows determines which keys are in a batch, and thus where the
 * entries of a dense table are.  Only the same rows in the same order give the
 * same bytes.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "utils/expandeddatum.h"
#include "utils/memutils.h"

#include "aggstate.h"
#include "core/hash.h"
#include "setops.h"

/* Each row copies a flat state; at this size that takes a microsecond. */
#define FLAT_BYTES	4096

/*
 * The large form
 */

typedef struct LargeState
{
	ExpandedObjectHeader header;
	CuckooDraft draft;
	bool		distinct;		/* add keys only if they are not contained */
	uint64	   *batch;
	size_t		count;			/* hashes in the batch */
	size_t		room;			/* hashes that the batch has room for */
} LargeState;

/* Add the batch to the draft. */
static void
LargeAddBatch(LargeState *state)
{
	CuckooApplyToDraft(&state->draft, state->batch, state->count,
					   state->distinct ? CUCKOO_ADD_NEW : CUCKOO_ADD);
	state->count = 0;
}

/* Make room in the batch, which is full or not allocated yet. */
static void
LargeMakeRoom(LargeState *state)
{
	MemoryContext old = MemoryContextSwitchTo(state->header.eoh_context);
	size_t		room;

	LargeAddBatch(state);
	room = CuckooDraftBatchKeys(&state->draft);
	if (room != state->room)
	{
		state->room = 0;
		if (state->batch != NULL)
			pfree(state->batch);
		state->batch = NULL;
		state->batch = CuckooAllocate(room, sizeof(uint64));
		state->room = room;
	}
	MemoryContextSwitchTo(old);
}

/* The filter as it is now, in memory of the state. */
static CuckooValue *
LargeFinish(LargeState *state)
{
	MemoryContext old = MemoryContextSwitchTo(state->header.eoh_context);
	CuckooValue *value;

	LargeAddBatch(state);
	value = CuckooFinishDraft(&state->draft);

	MemoryContextSwitchTo(old);
	return value;
}

static Size
LargeFlatSize(ExpandedObjectHeader *header)
{
	return VARSIZE(LargeFinish((LargeState *) header));
}

static void
LargeFlatten(ExpandedObjectHeader *header, void *result, Size size)
{
	/* Nothing has been added since its size was requested. */
	memcpy(result, ((LargeState *) header)->draft.bytes - VARHDRSZ, size);
}

static const ExpandedObjectMethods large_methods = {LargeFlatSize, LargeFlatten};

/* Make a large state from a flat one. */
static LargeState *
LargeNew(CuckooValue *flat, bool distinct, MemoryContext aggcontext)
{
	MemoryContext context = AllocSetContextCreate(aggcontext, "cuckoofilter draft",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	LargeState *state = palloc0(sizeof(LargeState));
	CuckooValue *copy = CuckooCopyBytes(CuckooValueBytes(flat), VARSIZE_ANY_EXHDR(flat));

	EOH_init_header(&state->header, &large_methods, context);
	CuckooOpenDraft(&state->draft, (Datum) 0, copy);
	state->draft.streaming = true;
	state->distinct = distinct;
	MemoryContextSwitchTo(old);
	return state;
}

/*
 * Transitions
 */

/* A state without keys. */
static CuckooValue *
EmptyState(bool distinct, const CuckooParameters *parameters)
{
	CuckooFilter filter;

	CuckooParametersHeader(parameters, &filter);
	if (distinct)
		filter.flags |= CUCKOO_FLAG_NOT_REMOVABLE;
	return CuckooEmptyValue(&filter);
}

/* The state that an aggregate's function was given if it is large, or NULL. */
static LargeState *
GetLarge(Datum state)
{
	return (LargeState *) CuckooExpandedState(state, &large_methods);
}

/* Process one row.  If its key is NULL, only its parameters matter. */
static Datum
Transition(FunctionCallInfo fcinfo, bool distinct, const CuckooParameters *parameters,
		   bool key_is_null, uint64 hash)
{
	MemoryContext aggcontext = CuckooAggContext(fcinfo);
	LargeState *large = PG_ARGISNULL(0) ? NULL : GetLarge(PG_GETARG_DATUM(0));
	CuckooDraft small;
	CuckooDraft *draft = &small;
	CuckooParameters begun;
	bool		changed = PG_ARGISNULL(0);

	if (parameters->capacity == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("capacity must be specified for %s",
						distinct ? "cuckoo_stream_agg" : "cuckoo_multiset_agg"),
				 errhint("Specify how many keys there may be, or use cuckoo_agg, which counts them.")));

	if (large == NULL)
	{
		CuckooValue *flat;

		if (PG_ARGISNULL(0))
		{
			if (!key_is_null)
				CuckooCheckRelabelled(fcinfo);
			flat = EmptyState(distinct, parameters);
		}
		else
			flat = PG_GETARG_CUCKOOFILTER_P(0);
		if (VARSIZE_ANY_EXHDR(flat) > FLAT_BYTES)
			large = LargeNew(flat, distinct, aggcontext);
		else
			/* Do not change it in place: the executor frees the old state. */
			CuckooOpenDraft(&small, PointerGetDatum(flat), flat);
	}
	if (large != NULL)
		draft = &large->draft;

	begun = CuckooHeaderParameters(&draft->filter);
	if (!CuckooSameParameters(&begun, parameters) &&
		CuckooMatchParameters(&begun, parameters))
	{
		CuckooCheckRelabelled(fcinfo);
		draft->filter.key_type = parameters->key_type;
		draft->filter.signature = parameters->signature;
		changed = true;
	}
	/* A user-defined aggregate may start with a filter without this flag. */
	if (distinct && !(draft->filter.flags & CUCKOO_FLAG_NOT_REMOVABLE))
	{
		draft->filter.flags |= CUCKOO_FLAG_NOT_REMOVABLE;
		changed = true;
	}
	if (large != NULL)
	{
		if (!key_is_null)
		{
			if (large->count == large->room)
				LargeMakeRoom(large);
			large->batch[large->count++] = hash;
		}
		PG_RETURN_DATUM(EOHPGetRWDatum(&large->header));
	}
	if (!key_is_null)
		changed |= CuckooApplyToDraft(draft, &hash, 1, distinct ? CUCKOO_ADD_NEW : CUCKOO_ADD);
	if (!changed)
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	PG_RETURN_CUCKOOFILTER_P(CuckooFinishDraft(&small));
}

/* One row; inlined for each of the two aggregates. */
static inline Datum
TransitionOfRow(FunctionCallInfo fcinfo, bool distinct)
{
	CuckooParameters parameters = CuckooArgumentParameters(fcinfo);
	bool		key_is_null = PG_ARGISNULL(1);
	uint64		hash = key_is_null ? 0 : CuckooTransitionHash(fcinfo, &parameters);

	return Transition(fcinfo, distinct, &parameters, key_is_null, hash);
}

/* cuckoo_stream_agg_transfn(state, key, capacity [, fpr [, seed]]) */
PG_FUNCTION_INFO_V1(cuckoo_stream_agg_transfn);
Datum
cuckoo_stream_agg_transfn(PG_FUNCTION_ARGS)
{
	return TransitionOfRow(fcinfo, true);
}

/* cuckoo_multiset_agg_transfn(state, key, capacity [, fpr [, seed]]) */
PG_FUNCTION_INFO_V1(cuckoo_multiset_agg_transfn);
Datum
cuckoo_multiset_agg_transfn(PG_FUNCTION_ARGS)
{
	return TransitionOfRow(fcinfo, false);
}

/* The union or merge of two partial states, whose parameters must match. */
static Datum
Combine(FunctionCallInfo fcinfo, CuckooOperation operation)
{
	CuckooValue *state;
	CuckooValue *other;
	CuckooValue *result;
	CuckooFilter filter;
	CuckooParameters left;
	CuckooParameters right;

	CuckooAggContext(fcinfo);
	if (PG_ARGISNULL(1))
		return CuckooSameState(fcinfo);
	other = PG_GETARG_CUCKOOFILTER_P(1);
	CuckooOpenFilter(&filter, other);
	if (PG_ARGISNULL(0))
		PG_RETURN_CUCKOOFILTER_P(CuckooCopyBytes(CuckooValueBytes(other),
												 VARSIZE_ANY_EXHDR(other)));
	right = CuckooHeaderParameters(&filter);
	state = PG_GETARG_CUCKOOFILTER_P(0);
	CuckooOpenFilter(&filter, state);
	left = CuckooHeaderParameters(&filter);
	CuckooMatchParameters(&left, &right);
	result = CuckooCombineValues(operation, state, other);
	/* The caller may free its memory before the aggregate ends, so copy it. */
	if (result == other)
		result = CuckooCopyBytes(CuckooValueBytes(other), VARSIZE_ANY_EXHDR(other));
	if (result == state)
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	PG_RETURN_CUCKOOFILTER_P(result);
}

/* cuckoo_stream_agg_combine(state, state) */
PG_FUNCTION_INFO_V1(cuckoo_stream_agg_combine);
Datum
cuckoo_stream_agg_combine(PG_FUNCTION_ARGS)
{
	return Combine(fcinfo, CUCKOO_UNION);
}

/* cuckoo_multiset_agg_combine(state, state) */
PG_FUNCTION_INFO_V1(cuckoo_multiset_agg_combine);
Datum
cuckoo_multiset_agg_combine(PG_FUNCTION_ARGS)
{
	return Combine(fcinfo, CUCKOO_UNION_ALL);
}

/*
 * cuckoo_stream_agg_final(state): the result of cuckoo_stream_agg and
 * cuckoo_multiset_agg.  It is a copy, because the state may change again: as a
 * window function, the aggregate calls this for every row.  The result over no
 * rows is an unset filter.
 */
PG_FUNCTION_INFO_V1(cuckoo_stream_agg_final);
Datum
cuckoo_stream_agg_final(PG_FUNCTION_ARGS)
{
	LargeState *large;
	CuckooValue *state;
	CuckooValue *value;
	CuckooFilter filter;

	CuckooAggContext(fcinfo);
	if (PG_ARGISNULL(0))
		PG_RETURN_CUCKOOFILTER_P(CuckooUnsetValue());
	large = GetLarge(PG_GETARG_DATUM(0));
	state = large != NULL ? LargeFinish(large) : PG_GETARG_CUCKOOFILTER_P(0);
	CuckooOpenFilter(&filter, state);
	value = CuckooCopyBytes(CuckooValueBytes(state), VARSIZE_ANY_EXHDR(state));
	CuckooWarnOfRate(fcinfo, value);
	PG_RETURN_CUCKOOFILTER_P(value);
}
