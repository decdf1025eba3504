/*-------------------------------------------------------------------------
 *
 * union.c
 *	  SQL functions that combine filters: union, union all, their aggregates,
 *	  intersection, how many keys two filters have in common; and partial states
 *	  of cuckoo_stream_agg and cuckoo_multiset_agg, which are filters.
 *
 * The state of the aggregates has one of two forms.  Both are values of the
 * type, so the state can be sent anywhere as an ordinary filter:
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
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include <math.h>

#include "access/htup_details.h"
#include "funcapi.h"

#include "call.h"

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

/*
 * cuckoo_union(f, g) and cuckoo_union_all(f, g).  A NULL filter is an empty
 * one, so the result is the other, which may be NULL, too.
 */
static Datum
CombineArguments(FunctionCallInfo fcinfo, CuckooOperation operation)
{
	CuckooValue *left;
	CuckooValue *right;
	CuckooValue *result;

	if (PG_ARGISNULL(0) && PG_ARGISNULL(1))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
	{
		int			given = PG_ARGISNULL(0) ? 1 : 0;
		CuckooFilter filter;

		CuckooReadHeader(PG_GETARG_DATUM(given), &filter);
		CuckooRefuseState(&filter);
		PG_RETURN_DATUM(PG_GETARG_DATUM(given));
	}
	left = PG_GETARG_CUCKOOFILTER_P(0);
	right = PG_GETARG_CUCKOOFILTER_P(1);
	result = CuckooCombineValues(operation, left, right);

	/* If the result is an argument, a stored value need not be stored again. */
	if (result == left)
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	if (result == right)
		PG_RETURN_DATUM(PG_GETARG_DATUM(1));
	PG_RETURN_CUCKOOFILTER_P(result);
}

/* cuckoo_union(f, g), f | g */
PG_FUNCTION_INFO_V1(cuckoo_union);
Datum
cuckoo_union(PG_FUNCTION_ARGS)
{
	return CombineArguments(fcinfo, CUCKOO_UNION);
}

/* cuckoo_union_all(f, g) */
PG_FUNCTION_INFO_V1(cuckoo_union_all);
Datum
cuckoo_union_all(PG_FUNCTION_ARGS)
{
	return CombineArguments(fcinfo, CUCKOO_UNION_ALL);
}

/* cuckoo_intersection(f, g), f & g */
PG_FUNCTION_INFO_V1(cuckoo_intersection);
Datum
cuckoo_intersection(PG_FUNCTION_ARGS)
{
	CuckooFilter left;
	CuckooFilter right;
	CuckooFilter both;
	uint8	   *bytes = NULL;

	CuckooOpenFilter(&left, PG_GETARG_CUCKOOFILTER_P(0));
	CuckooOpenFilter(&right, PG_GETARG_CUCKOOFILTER_P(1));
	CuckooReportConflict(CuckooIntersect(&left, &right, &both, &bytes), &left.header, &right.header);
	if (bytes == NULL)
		CuckooReportTooLarge(both.items, both.fpr);
	PG_RETURN_CUCKOOFILTER_P(CuckooMadeValue(bytes, &both));
}

/* cuckoo_common(f, g) -> (keys, error): an estimate of the distinct keys of both */
PG_FUNCTION_INFO_V1(cuckoo_common);
Datum
cuckoo_common(PG_FUNCTION_ARGS)
{
	CuckooFilter left;
	CuckooFilter right;
	TupleDesc	row;
	double		keys;
	double		error;
	Datum		values[2];
	bool		nulls[2] = {false, false};

	CuckooOpenFilter(&left, PG_GETARG_CUCKOOFILTER_P(0));
	CuckooOpenFilter(&right, PG_GETARG_CUCKOOFILTER_P(1));
	CuckooReportConflict(CuckooCommon(&left, &right, &keys, &error), &left.header, &right.header);
	if (get_call_result_type(fcinfo, NULL, &row) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	values[0] = Int64GetDatum((int64) rint(keys));
	values[1] = Float8GetDatum(error);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(row), values, nulls)));
}

/*
 * The aggregates
 */

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
	return CuckooCombinedValue(&state->combination);
}

static void
AddToUnion(UnionState *state, CuckooValue *value)
{
	MemoryContext old = MemoryContextSwitchTo(state->large.header.eoh_context);

	CuckooAddToCombination(&state->combination, value);
	MemoryContextSwitchTo(old);
}

/*
 * Whether a flat state stays flat when a value is added.  Both are sizes in
 * bytes.
 */
static bool
StaysFlat(Size state, Size value)
{
	return state + value <= FLAT_BYTES &&
		(state <= FLAT_ANYWAY_BYTES || value >= state / FLAT_SHARE);
}

/*
 * Add a row, or another state, to the state of an aggregate that combines
 * filters.  With match, parameters that differ are an error.
 */
static Datum
CombineTransition(FunctionCallInfo fcinfo, CuckooOperation operation, bool match)
{
	MemoryContext aggcontext = CuckooAggContext(fcinfo);
	CuckooValue *value;
	CuckooValue *flat = NULL;
	UnionState *state = NULL;
	CuckooFilter added;
	CuckooFilter filter;

	if (PG_ARGISNULL(1))
		return CuckooUnchanged(fcinfo);
	value = PG_GETARG_CUCKOOFILTER_P(1);
	CuckooOpenFilter(&added, value);
	/* An unset filter changes nothing, whatever form the state has. */
	if (added.flags & CUCKOO_FLAG_UNSET && !PG_ARGISNULL(0))
		return CuckooUnchanged(fcinfo);
	if (!PG_ARGISNULL(0))
		state = (UnionState *) CuckooGetLarge(PG_GETARG_DATUM(0), MakeUnion);
	if (!PG_ARGISNULL(0) && state == NULL)
	{
		flat = PG_GETARG_CUCKOOFILTER_P(0);
		CuckooOpenFilter(&filter, flat);
	}
	if (state == NULL && (flat == NULL || filter.flags & CUCKOO_FLAG_UNSET))
		PG_RETURN_CUCKOOFILTER_P(value);
	if (match)
		CuckooMatchHeaders(state != NULL ? &state->combination.header : &filter.header,
						   &added.header);
	if (state == NULL)
	{
		if (StaysFlat(VARSIZE_ANY_EXHDR(flat), VARSIZE_ANY_EXHDR(value)))
			PG_RETURN_CUCKOOFILTER_P(CuckooCombineValues(operation, flat, value));
		state = (UnionState *) CuckooLargeNew(sizeof(UnionState), MakeUnion, aggcontext);
		CuckooCombinationInit(&state->combination, operation);
		AddToUnion(state, flat);
	}
	AddToUnion(state, value);
	return CuckooLargeDatum(&state->large);
}

/* cuckoo_union_agg_transfn(state, f): also the combine function */
PG_FUNCTION_INFO_V1(cuckoo_union_agg_transfn);
Datum
cuckoo_union_agg_transfn(PG_FUNCTION_ARGS)
{
	return CombineTransition(fcinfo, CUCKOO_UNION, false);
}

/* cuckoo_union_all_agg_transfn(state, f): also the combine function */
PG_FUNCTION_INFO_V1(cuckoo_union_all_agg_transfn);
Datum
cuckoo_union_all_agg_transfn(PG_FUNCTION_ARGS)
{
	return CombineTransition(fcinfo, CUCKOO_UNION_ALL, false);
}

/* cuckoo_stream_agg_combine(state, state) */
PG_FUNCTION_INFO_V1(cuckoo_stream_agg_combine);
Datum
cuckoo_stream_agg_combine(PG_FUNCTION_ARGS)
{
	return CombineTransition(fcinfo, CUCKOO_UNION, true);
}

/* cuckoo_multiset_agg_combine(state, state) */
PG_FUNCTION_INFO_V1(cuckoo_multiset_agg_combine);
Datum
cuckoo_multiset_agg_combine(PG_FUNCTION_ARGS)
{
	return CombineTransition(fcinfo, CUCKOO_UNION_ALL, true);
}
