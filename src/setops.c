/*-------------------------------------------------------------------------
 *
 * setops.c
 *	  SQL functions that combine filters: union, union all, intersection, how many
 *	  keys two filters have in common.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include <math.h>

#include "call.h"
#include "core/overlap.h"

/* Whether an argument, which must be a filter, is NULL or unset. */
static bool
AddsNothing(FunctionCallInfo fcinfo, int argument)
{
	CuckooFilter filter;

	if (PG_ARGISNULL(argument))
		return true;
	CuckooReadHeader(PG_GETARG_DATUM(argument), &filter);
	return (filter.header.flags & CUCKOO_FLAG_UNSET) != 0;
}

/*
 * cuckoo_union(f, g) and cuckoo_union_all(f, g).  If one filter adds nothing, the
 * result is the other as it is: a stored value need not be stored again.
 */
static Datum
CombineArguments(FunctionCallInfo fcinfo, CuckooOperation operation)
{
	bool		left_adds = !AddsNothing(fcinfo, 0);
	bool		right_adds = !AddsNothing(fcinfo, 1);

	if (left_adds && right_adds)
		PG_RETURN_POINTER(CuckooCombineValues(operation, PG_GETARG_CUCKOOFILTER_P(0),
											  PG_GETARG_CUCKOOFILTER_P(1)));
	if (!left_adds && !PG_ARGISNULL(1))
		PG_RETURN_DATUM(PG_GETARG_DATUM(1));
	return CuckooUnchanged(fcinfo);
}

/* cuckoo_union(f, g), f | g */
CUCKOO_FUNCTION(cuckoo_union, CombineArguments(fcinfo, CUCKOO_UNION));

/* cuckoo_union_all(f, g) */
CUCKOO_FUNCTION(cuckoo_union_all, CombineArguments(fcinfo, CUCKOO_UNION_ALL));

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
	CuckooReportConflict(CuckooIntersect(&left, &right, &both, &bytes), &left.header,
						 &right.header);
	PG_RETURN_POINTER(CuckooMakeValue(bytes, &both));
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

	CuckooOpenFilter(&left, PG_GETARG_CUCKOOFILTER_P(0));
	CuckooOpenFilter(&right, PG_GETARG_CUCKOOFILTER_P(1));
	CuckooReportConflict(CuckooCommon(&left, &right, &keys, &error), &left.header, &right.header);
	return CuckooMakeRow(fcinfo, CUCKOO_COLUMNS(
		{Int64GetDatum((int64) rint(keys)), false},
		{Float8GetDatum(error), false}));
}
