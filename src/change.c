/*-------------------------------------------------------------------------
 *
 * change.c
 *	  SQL functions that make and change a filter: new, from_array, add,
 *	  remove.
 *
 * Like array_append, these functions are not STRICT.  A NULL key leaves the
 * filter as it is, because "f + NULL" must not erase a stored filter.  A key
 * added to a NULL filter makes one, because "f + key" must not lose the key.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "call.h"

/* An empty filter with the parameters in three arguments. */
static void
InitFromArguments(FunctionCallInfo fcinfo, int first, CuckooFilter *filter)
{
	CuckooParameters given = CuckooGetParameters(fcinfo, first, 3);

	filter->header = CuckooCheckParameters(&given);
}

/* cuckoo_new(capacity, fpr, seed, removable): NULL means the default */
PG_FUNCTION_INFO_V1(cuckoo_new);
Datum
cuckoo_new(PG_FUNCTION_ARGS)
{
	CuckooFilter filter;

	InitFromArguments(fcinfo, 0, &filter);
	if (!PG_ARGISNULL(3) && !PG_GETARG_BOOL(3))
		filter.header.flags |= CUCKOO_FLAG_NOT_REMOVABLE;
	PG_RETURN_POINTER(CuckooMakeValueFromHashes(&filter, NULL, 0));
}

/* cuckoo_from_array(keys, ...): as cuckoo_agg over the keys; without any, as cuckoo_new */
PG_FUNCTION_INFO_V1(cuckoo_from_array);
Datum
cuckoo_from_array(PG_FUNCTION_ARGS)
{
	CuckooFilter filter;
	CuckooList	hashes;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	InitFromArguments(fcinfo, 1, &filter);
	hashes = CuckooHashElements(fcinfo, 0, PG_GETARG_ARRAYTYPE_P(0), &filter, NULL);
	if (hashes.count > 0)
		filter.header.kind = CuckooFindHasher(fcinfo, 0, true)->kind;
	CuckooListUnique(&hashes);
	PG_RETURN_POINTER(CuckooMakeValueFromHashes(&filter, &hashes, 1));
}

/* Refuse a filter in which removing a key could lose another. */
static void
CheckRemovable(const CuckooFilter *filter)
{
	if (filter->header.flags & CUCKOO_FLAG_NOT_REMOVABLE)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot remove keys from this cuckoofilter"),
				 errdetail("It was made by an operation that lets two keys share an item: cuckoo_union, cuckoo_stream_agg, cuckoo_index_filter, or cuckoo_new(removable => false)."),
				 errhint("Use cuckoo_add and cuckoo_union_all, or build the filter with cuckoo_agg.")));
}

/* Add one copy of the key in the second argument, or of all, or remove it. */
static Datum
Change(FunctionCallInfo fcinfo, CuckooAction action, bool all)
{
	CuckooHasher *hasher;
	CuckooDraft draft;
	uint64		hash;
	CuckooList	hashes = {&hash, 1, 1};

	if (PG_ARGISNULL(1) || (PG_ARGISNULL(0) && action == CUCKOO_REMOVE))
		return CuckooUnchanged(fcinfo);
	hasher = CuckooFindHasher(fcinfo, 1, all);
	CuckooDraftOpenValue(&draft, PG_ARGISNULL(0) ? CuckooMakeUnsetValue() :
						 PG_GETARG_CUCKOOFILTER_P_COPY(0));
	if (all)
		hashes = CuckooHashElements(fcinfo, 1, PG_GETARG_ARRAYTYPE_P(1), &draft.filter, NULL);
	else
		hash = CuckooArgumentHash(hasher, PG_GETARG_DATUM(1), &draft.filter);
	if (hashes.count == 0)
		return CuckooUnchanged(fcinfo);
	if (action == CUCKOO_REMOVE)
		CheckRemovable(&draft.filter);
	else
		draft.filter.header.kind = hasher->kind;
	if (!CuckooDraftApplyOrFail(&draft, hashes.numbers, (size_t) hashes.count, action))
		return CuckooUnchanged(fcinfo);
	PG_RETURN_POINTER(CuckooMakeValue(CuckooDraftMake(&draft), &draft.filter));
}

/* cuckoo_add(f, key), f + key: one more copy */
CUCKOO_FUNCTION(cuckoo_add, Change(fcinfo, CUCKOO_ADD, false));

/* cuckoo_add_all(f, keys): one more copy of each */
CUCKOO_FUNCTION(cuckoo_add_all, Change(fcinfo, CUCKOO_ADD, true));

/* cuckoo_remove(f, key), f - key: one copy less; f itself if there is none */
CUCKOO_FUNCTION(cuckoo_remove, Change(fcinfo, CUCKOO_REMOVE, false));

/* cuckoo_remove_all(f, keys): one copy less of each */
CUCKOO_FUNCTION(cuckoo_remove_all, Change(fcinfo, CUCKOO_REMOVE, true));
