/*-------------------------------------------------------------------------
 *
 * ask.c
 *	  SQL functions that ask a filter: contains, count, cardinality.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "cuckoo.h"

/* cuckoo_contains(f, value), f @> value */
PG_FUNCTION_INFO_V1(cuckoo_contains);
Datum
cuckoo_contains(PG_FUNCTION_ARGS)
{
	CuckooKey  *key = CuckooGetKey(fcinfo, 1);
	CuckooFilter filter;
	struct varlena *value = CuckooOpenArgument(fcinfo, 0, &filter);
	bool		result;

	CuckooMatchKind(&filter, key);
	result = CuckooFilterContains(&filter,
								  CuckooKeyHash(key, PG_GETARG_DATUM(1), filter.seed));
	PG_FREE_IF_COPY(value, 0);
	PG_RETURN_BOOL(result);
}

/* value <@ f */
PG_FUNCTION_INFO_V1(cuckoo_contained);
Datum
cuckoo_contained(PG_FUNCTION_ARGS)
{
	CuckooKey  *key = CuckooGetKey(fcinfo, 0);
	CuckooFilter filter;
	struct varlena *value = CuckooOpenArgument(fcinfo, 1, &filter);
	bool		result;

	CuckooMatchKind(&filter, key);
	result = CuckooFilterContains(&filter,
								  CuckooKeyHash(key, PG_GETARG_DATUM(0), filter.seed));
	PG_FREE_IF_COPY(value, 1);
	PG_RETURN_BOOL(result);
}

/* cuckoo_count(f, value) -> integer: copies, 0 to 8 */
PG_FUNCTION_INFO_V1(cuckoo_count);
Datum
cuckoo_count(PG_FUNCTION_ARGS)
{
	CuckooKey  *key = CuckooGetKey(fcinfo, 1);
	CuckooFilter filter;
	struct varlena *value = CuckooOpenArgument(fcinfo, 0, &filter);
	int			result;

	CuckooMatchKind(&filter, key);
	result = CuckooFilterCount(&filter,
							   CuckooKeyHash(key, PG_GETARG_DATUM(1), filter.seed));
	PG_FREE_IF_COPY(value, 0);
	PG_RETURN_INT32(result);
}

/* cuckoo_cardinality(f) -> bigint: copies stored in all */
PG_FUNCTION_INFO_V1(cuckoo_cardinality);
Datum
cuckoo_cardinality(PG_FUNCTION_ARGS)
{
	CuckooFilter filter;

	CuckooOpenArgument(fcinfo, 0, &filter);
	PG_RETURN_INT64((int64) filter.items);
}
