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

	CuckooOpenFilter(&left, PG_GETARG_CUCKOOFILTER_P(0));
	CuckooOpenFilter(&right, PG_GETARG_CUCKOOFILTER_P(1));
	CuckooReportConflict(CuckooCommon(&left, &right, &keys, &error), &left.header, &right.header);
	return CuckooMakeRow(fcinfo, CUCKOO_COLUMNS(
		{Int64GetDatum((int64) rint(keys)), false},
		{Float8GetDatum(error), false}));
}
