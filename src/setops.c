/*-------------------------------------------------------------------------
 *
 * setops.c
 *	  SQL functions that combine filters: union, union all, their aggregates,
 *	  intersection, how many keys two filters have in common.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include <math.h>

#include "call.h"
#include "core/overlap.h"
#include "state.h"

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
	PG_RETURN_CUCKOOFILTER_P(CuckooMadeValue(bytes, &both));
}

/* cuckoo_common(f, g) -> (keys, error): an estimate of the distinct keys of both */
PG_FUNCTION_INFO_V1(cuckoo_common);
Datum
cuckoo_common(PG_FUNCTION_ARGS)
{
	CuckooFilter left;
	CuckooFilter right;
	double		keys;
	double		error;
	Datum		values[2];
	bool		nulls[2] = {0};

	CuckooOpenFilter(&left, PG_GETARG_CUCKOOFILTER_P(0));
	CuckooOpenFilter(&right, PG_GETARG_CUCKOOFILTER_P(1));
	CuckooReportConflict(CuckooCommon(&left, &right, &keys, &error), &left.header, &right.header);
	values[0] = Int64GetDatum((int64) rint(keys));
	values[1] = Float8GetDatum(error);
	PG_RETURN_DATUM(CuckooMakeRow(fcinfo, values, nulls, lengthof(values)));
}

/*
 * The aggregates
 */

/* cuckoo_union_agg_transfn(state, f): also the combine function */
PG_FUNCTION_INFO_V1(cuckoo_union_agg_transfn);
Datum
cuckoo_union_agg_transfn(PG_FUNCTION_ARGS)
{
	return CuckooCombineState(fcinfo, CUCKOO_UNION, false);
}

/* cuckoo_union_all_agg_transfn(state, f): also the combine function */
PG_FUNCTION_INFO_V1(cuckoo_union_all_agg_transfn);
Datum
cuckoo_union_all_agg_transfn(PG_FUNCTION_ARGS)
{
	return CuckooCombineState(fcinfo, CUCKOO_UNION_ALL, false);
}

/* Warn, once per call site, of a rate more than ten times the target rate. */
static void
WarnOfRate(FunctionCallInfo fcinfo, const CuckooFilter *filter)
{
	CuckooCall *call = CuckooGetCall(fcinfo);
	double		rate = CuckooFilterRate(filter);

	if (call->warned || rate <= 10 * filter->fpr)
		return;
	call->warned = true;
	ereport(WARNING,
			(errmsg("expected false-positive rate of cuckoofilter is more than ten times the target rate"),
			 errdetail("It holds %llu items at an expected rate of up to %g; the target rate is %g.",
					   (unsigned long long) filter->items, rate, filter->fpr),
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
		PG_RETURN_CUCKOOFILTER_P(CuckooUnsetValue());
	large = CuckooGetLarge(PG_GETARG_DATUM(0), NULL);
	value = large != NULL ? large->make(large) : PG_GETARG_CUCKOOFILTER_P(0);
	CuckooOpenFilter(&filter, value);
	WarnOfRate(fcinfo, &filter);
	if (large == NULL)
		value = CuckooCopyValue(value);
	PG_RETURN_CUCKOOFILTER_P(value);
}
