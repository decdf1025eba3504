/*-------------------------------------------------------------------------
 *
 * agg_filters.c
 *	  The aggregates whose states are filters.
 *
 * cuckoo_union_agg		combine filters, as cuckoo_union and cuckoo_union_all do.
 * cuckoo_union_all_agg
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
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "state.h"

/*
 * cuckoo_union_agg and cuckoo_union_all_agg
 *
 * A state has one of two forms.  Both are values of the type, so the state
 * can be sent anywhere as an ordinary filter:
 *
 * flat		A filter: that of the only row, or the combination of several small
 *			ones.  This is the cheapest form for many groups of few filters.
 *
 * large	From 64 kB on, or from 16 kB on if far smaller filters are added:
 *			an expanded object with the sorted classes of all filters
 *			(combine.h).  A filter is made from them only when the state is
 *			read, so the cost of adding a filter depends only on that filter.
 *			Combined pairwise, 365 daily filters took 64 s instead of 0.4.
 *
 * Both give the same bytes, because a combination's tables depend only on
 * their classes.
 */

/*
 * The cost of combining flat states grows with the size of both filters.
 * Large states have a memory context each, and PostgreSQL visits all of them
 * for each new group of a hash aggregation (40,000 groups of 7 kB: 160 s).  A
 * state therefore becomes large only if it is so large that there cannot be
 * many of them, or if it is much larger than what is added.
 */
#define FLAT_BYTES			65536
#define FLAT_ANYWAY_BYTES	16384
#define FLAT_SHARE			16

typedef struct UnionState
{
	CuckooLarge large;
	CuckooCombination combination;
} UnionState;

/* The merged runs belong to the state, the new filter to the caller. */
static CuckooValue *
MakeUnion(CuckooLarge *large)
{
	UnionState *state = (UnionState *) large;
	MemoryContext old = MemoryContextSwitchTo(large->header.eoh_context);

	CuckooCombinationCollapse(&state->combination);
	MemoryContextSwitchTo(old);
	return CuckooCombinationMakeValue(&state->combination);
}

static void
AddToUnion(UnionState *state, CuckooValue *value)
{
	MemoryContext old = MemoryContextSwitchTo(state->large.header.eoh_context);

	CuckooCombinationAddValue(&state->combination, value);
	MemoryContextSwitchTo(old);
}

/*
 * Add a row, or another state, to the first argument: the state of an aggregate
 * that combines filters.  With match, parameters that differ are an error.
 */
static Datum
CombineState(FunctionCallInfo fcinfo, CuckooOperation operation, bool match)
{
	MemoryContext aggcontext = CuckooAggContext(fcinfo);
	CuckooValue *value;
	CuckooValue *flat = NULL;
	UnionState *state;
	CuckooFilter added;
	CuckooFilter filter;

	if (PG_ARGISNULL(1))
		return CuckooUnchanged(fcinfo);
	value = PG_GETARG_CUCKOOFILTER_P(1);
	CuckooOpenFilter(&added, value);
	if (PG_ARGISNULL(0))
		PG_RETURN_POINTER(value);
	/* An unset filter changes nothing, whatever form the state has. */
	if (added.header.flags & CUCKOO_FLAG_UNSET)
		return CuckooUnchanged(fcinfo);
	state = (UnionState *) CuckooGetLarge(PG_GETARG_DATUM(0), MakeUnion);
	if (state == NULL)
	{
		flat = PG_GETARG_CUCKOOFILTER_P(0);
		CuckooOpenFilter(&filter, flat);
		if (filter.header.flags & CUCKOO_FLAG_UNSET)
			PG_RETURN_POINTER(value);
	}
	if (match)
		CuckooMatchHeaders(state != NULL ? &state->combination.header : &filter.header,
						   &added.header);
	if (state == NULL)
	{
		Size		bytes = VARSIZE_ANY_EXHDR(flat);
		Size		more = VARSIZE_ANY_EXHDR(value);

		if (bytes + more <= FLAT_BYTES &&
			(bytes <= FLAT_ANYWAY_BYTES || more >= bytes / FLAT_SHARE))
			PG_RETURN_POINTER(CuckooCombineValues(operation, flat, value));
		state = (UnionState *) CuckooLargeNew(sizeof(UnionState), MakeUnion, aggcontext);
		CuckooCombinationInit(&state->combination, operation);
		AddToUnion(state, flat);
	}
	AddToUnion(state, value);
	return EOHPGetRWDatum(&state->large.header);
}

/* cuckoo_union_agg_transfn(state, f): also the combine function */
CUCKOO_FUNCTION(cuckoo_union_agg_transfn, CombineState(fcinfo, CUCKOO_UNION, false));

/* cuckoo_union_all_agg_transfn(state, f): also the combine function */
CUCKOO_FUNCTION(cuckoo_union_all_agg_transfn, CombineState(fcinfo, CUCKOO_UNION_ALL, false));

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
	CuckooAction action;		/* CUCKOO_ADD_NEW or CUCKOO_ADD */
	CuckooList	batch;
} Stream;

/* Add the batch to the draft, and make room for the next. */
static void
AddBatch(Stream *stream)
{
	MemoryContext old = MemoryContextSwitchTo(stream->large.header.eoh_context);
	size_t		room;

	CuckooDraftApplyOrFail(&stream->draft, stream->batch.numbers, (size_t) stream->batch.count,
						   stream->action);
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

	AddBatch(stream);
	return CuckooCopyValue(CuckooMakeValue(CuckooDraftMake(&stream->draft),
										   &stream->draft.filter));
}

static Stream *
NewStream(CuckooValue *flat, CuckooAction action, MemoryContext aggcontext)
{
	Stream	   *stream = (Stream *) CuckooLargeNew(sizeof(Stream), MakeStream, aggcontext);
	MemoryContext old = MemoryContextSwitchTo(stream->large.header.eoh_context);

	CuckooDraftOpenValue(&stream->draft, CuckooCopyValue(flat));
	stream->action = action;
	MemoryContextSwitchTo(old);
	return stream;
}

/* Refuse a row that does not match.  Returns whether its flags were changed. */
static inline bool
MatchRow(CuckooDraft *draft, const CuckooHeader *row, CuckooAction action)
{
	CuckooHeader *header = &draft->filter.header;

	CuckooMatchHeaders(header, row);
	/* A new state, or one that a user's aggregate began with, lacks the flag. */
	if (action != CUCKOO_ADD_NEW || header->flags & CUCKOO_FLAG_NOT_REMOVABLE)
		return false;
	header->flags |= CUCKOO_FLAG_NOT_REMOVABLE;
	return true;
}

/* A row for a flat state, which is not changed: the executor frees it. */
static Datum
AddToFlat(FunctionCallInfo fcinfo, CuckooValue *flat, const CuckooHeader *row, uint64 hash,
		  CuckooAction action)
{
	bool		changed = PG_ARGISNULL(0);
	CuckooDraft draft;

	CuckooDraftOpenValue(&draft, PG_ARGISNULL(0) ? flat : CuckooCopyValue(flat));
	changed |= MatchRow(&draft, row, action);
	if (!PG_ARGISNULL(1))
		changed |= CuckooDraftApplyOrFail(&draft, &hash, 1, action);
	if (!changed)
		return CuckooUnchanged(fcinfo);
	PG_RETURN_POINTER(CuckooMakeValue(CuckooDraftMake(&draft), &draft.filter));
}

/* One row; inlined for each of the two aggregates. */
static inline Datum
StreamRow(FunctionCallInfo fcinfo, CuckooAction action)
{
	MemoryContext aggcontext = CuckooAggContext(fcinfo);
	uint64		hash = 0;
	const CuckooHeader *row = CuckooReadRow(fcinfo, &hash);
	Stream	   *stream = NULL;

	if (row->capacity == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("capacity must be specified for %s",
						action == CUCKOO_ADD_NEW ? "cuckoo_stream_agg" : "cuckoo_multiset_agg"),
				 action == CUCKOO_ADD_NEW ?
				 errhint("Specify how many keys there may be, or use cuckoo_agg, which counts them.") :
				 errhint("Specify how many copies there may be, at most eight of each key.")));

	if (!PG_ARGISNULL(0))
		stream = (Stream *) CuckooGetLarge(PG_GETARG_DATUM(0), MakeStream);
	if (stream == NULL)
	{
		CuckooFilter empty;
		CuckooValue *flat;

		empty.header = *row;
		flat = PG_ARGISNULL(0) ? CuckooMakeValueFromHashes(&empty, NULL, 0) :
			PG_GETARG_CUCKOOFILTER_P(0);
		if (VARSIZE_ANY_EXHDR(flat) <= STREAM_FLAT_BYTES)
			return AddToFlat(fcinfo, flat, row, hash, action);
		stream = NewStream(flat, action, aggcontext);
	}
	MatchRow(&stream->draft, row, action);
	if (!PG_ARGISNULL(1))
	{
		if (stream->batch.count == stream->batch.room)
			AddBatch(stream);
		stream->batch.numbers[stream->batch.count++] = hash;
	}
	return EOHPGetRWDatum(&stream->large.header);
}

/* cuckoo_stream_agg_transfn(state, key, capacity [, fpr [, seed]]) */
CUCKOO_FUNCTION(cuckoo_stream_agg_transfn, StreamRow(fcinfo, CUCKOO_ADD_NEW));

/* cuckoo_stream_agg_combine(state, state) */
CUCKOO_FUNCTION(cuckoo_stream_agg_combine, CombineState(fcinfo, CUCKOO_UNION, true));

/* cuckoo_multiset_agg_transfn(state, key, capacity [, fpr [, seed]]) */
CUCKOO_FUNCTION(cuckoo_multiset_agg_transfn, StreamRow(fcinfo, CUCKOO_ADD));

/* cuckoo_multiset_agg_combine(state, state) */
CUCKOO_FUNCTION(cuckoo_multiset_agg_combine, CombineState(fcinfo, CUCKOO_UNION_ALL, true));

/* Warn, once per call site, of a rate more than ten times the target rate. */
static void
WarnOfRate(FunctionCallInfo fcinfo, const CuckooFilter *filter)
{
	CuckooCall *call = CuckooGetCall(fcinfo);
	double		rate = CuckooFilterRate(filter);

	if (call->warned || rate <= 10 * filter->header.fpr)
		return;
	call->warned = true;
	ereport(WARNING,
			(errmsg("expected false-positive rate of cuckoofilter is more than ten times the target rate"),
			 errdetail("It holds %llu items at an expected rate of up to %g; the target rate is %g.",
					   (unsigned long long) filter->header.items, rate, filter->header.fpr),
			 errhint("Specify the number of keys of the result as the capacity of all filters.")));
}

/*
 * cuckoo_combine_final(state): of all aggregates whose states are filters.  The
 * result is unset if there were no rows.  It is a copy, because the state may change
 * later: a window calls this for every row.
 */
PG_FUNCTION_INFO_V1(cuckoo_combine_final);
Datum
cuckoo_combine_final(PG_FUNCTION_ARGS)
{
	CuckooLarge *large;
	CuckooValue *value;
	CuckooFilter filter;

	CuckooAggContext(fcinfo);
	if (PG_ARGISNULL(0))
		PG_RETURN_POINTER(CuckooMakeUnsetValue());
	large = CuckooGetLarge(PG_GETARG_DATUM(0), NULL);
	value = large != NULL ? large->make(large) : PG_GETARG_CUCKOOFILTER_P(0);
	CuckooOpenFilter(&filter, value);
	WarnOfRate(fcinfo, &filter);
	if (large == NULL)
		value = CuckooCopyValue(value);
	PG_RETURN_POINTER(value);
}
