/*-------------------------------------------------------------------------
 *
 * cuckoo.c
 *	  The module, and what all its SQL functions do with their arguments.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/float.h"
#include "utils/lsyscache.h"

#include "cuckoo.h"

CUCKOO_MODULE_MAGIC("cuckoo", "1.0.0");

/* What this call site keeps from call to call. */
CuckooCall *
CuckooGetCall(FunctionCallInfo fcinfo)
{
	if (fcinfo->flinfo->fn_extra == NULL)
		fcinfo->flinfo->fn_extra = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt,
														  sizeof(CuckooCall));
	return (CuckooCall *) fcinfo->flinfo->fn_extra;
}

/* How the values of a polymorphic argument are hashed: found out once. */
CuckooKey *
CuckooFindKey(FunctionCallInfo fcinfo, int argument)
{
	CuckooCall *call = CuckooGetCall(fcinfo);

	CuckooKeyInit(&call->key, get_fn_expr_argtype(fcinfo->flinfo, argument),
				  PG_GET_COLLATION(), fcinfo->flinfo->fn_mcxt);
	call->has_key = true;
	return &call->key;
}

/* How the elements of a polymorphic array argument are hashed. */
CuckooKey *
CuckooGetElementKey(FunctionCallInfo fcinfo, int argument)
{
	CuckooCall *call = CuckooGetCall(fcinfo);

	if (!call->has_key)
	{
		Oid			type = get_fn_expr_argtype(fcinfo->flinfo, argument);

		if (OidIsValid(type))
			type = get_base_element_type(type);
		CuckooKeyInit(&call->key, type, PG_GET_COLLATION(), fcinfo->flinfo->fn_mcxt);
		call->has_key = true;
	}
	return &call->key;
}

/*
 * The message for a key of another kind than the filter's.  What mostly stands
 * behind it is an untyped literal or parameter, which is text.
 */
void
CuckooReportKind(const CuckooFilter *filter, const CuckooKey *key)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("key is of another kind than those of the cuckoofilter"),
			 errdetail("The filter holds keys of kind %s, the key is of kind %s.",
					   CuckooKindDescribe(filter->kind, filter->element_kind),
					   CuckooKindDescribe(key->kind, key->element_kind)),
			 errhint("Cast the key to the type that the filter was built from.")));
}

/* Refuse a false-positive rate that no filter keeps. */
double
CuckooCheckFpr(double fpr)
{
	if (!(fpr >= CUCKOO_MIN_FPR && fpr <= CUCKOO_MAX_FPR))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("false-positive rate must be between %g and %g",
						CUCKOO_MIN_FPR, CUCKOO_MAX_FPR),
				 errdetail("The rate given is %s.", float8out_internal(fpr)),
				 fpr >= 1 ? errhint("The capacity is the argument after the rate.") : 0));
	return fpr;
}

/*
 * From a capacity as SQL has it, float8 so that 1e6 can be written.  People
 * compute it (1.1 * count(*)): a fraction is rounded up.
 */
uint64
CuckooCheckCapacity(double capacity)
{
	if (!(capacity >= 0) || isinf(capacity))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("capacity must be a number of keys, or 0 for none specified"),
				 errdetail("The capacity given is %g.", capacity)));
	capacity = ceil(capacity);
	if (capacity > (double) CUCKOO_MAX_CAPACITY)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("capacity is too large for a cuckoofilter"),
				 errdetail("The capacity given is %.0f keys.", capacity),
				 errhint("Keep several filters, with the keys divided among them by cuckoo_shard.")));
	return (uint64) capacity;
}

/* Whether the first table for such a capacity fits in a value. */
bool
CuckooSizeFits(double fpr, uint64 capacity, CuckooLayout layout)
{
	CuckooFilter filter;
	CuckooFilter first;

	if (capacity == 0)
		return true;
	CuckooFilterInit(&filter, fpr, capacity, 0, layout);
	return CuckooPlanGrowth(&filter, &first) == CUCKOO_GROWTH_PLANNED;
}

/*
 * Refuse a capacity whose table would not: better now than when the list before
 * it is full.
 */
void
CuckooCheckSize(double fpr, uint64 capacity, CuckooLayout layout)
{
	if (!CuckooSizeFits(fpr, capacity, layout))
		CuckooReportTooLarge(capacity, fpr);
}

/* The message for it. */
void
CuckooReportTooLarge(uint64 keys, double fpr)
{
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("cuckoofilter would be too large"),
			 errdetail("A filter for %llu keys at a false-positive rate of %g exceeds %llu bytes.",
					   (unsigned long long) keys, fpr,
					   (unsigned long long) CUCKOO_MAX_BYTES),
			 errhint("Keep several filters, with the keys divided among them by cuckoo_shard.")));
	pg_unreachable();
}

/* The pause of the core's long loops. */
void
CuckooPauseForInterrupts(void)
{
	CHECK_FOR_INTERRUPTS();
}

/*
 * The hashes of an array argument's elements, NULLs left out.  Returns how
 * many; *hashes is palloc'd.
 */
int
CuckooArrayHashes(FunctionCallInfo fcinfo, int argument, uint64 seed,
				  uint64 **hashes)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(argument);
	CuckooKey  *key = CuckooGetElementKey(fcinfo, argument);
	ArrayIterator iterator = array_create_iterator(array, 0, NULL);
	int			count = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	Datum		element;
	bool		is_null;
	int			kept = 0;

	*hashes = palloc(sizeof(uint64) * Max(count, 1));
	while (array_iterate(iterator, &element, &is_null))
	{
		CHECK_FOR_INTERRUPTS();
		if (!is_null)
			(*hashes)[kept++] = CuckooKeyHash(key, element, seed);
	}
	array_free_iterator(iterator);
	return kept;
}
