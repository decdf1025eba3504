/*-------------------------------------------------------------------------
 *
 * call.c
 *	  What the SQL functions share: the handling of arguments; see call.h.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include <math.h>

#include "access/htup_details.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/float.h"
#include "utils/lsyscache.h"
#include "utils/tuplestore.h"

#include "call.h"

CuckooCall *
CuckooGetCall(FunctionCallInfo fcinfo)
{
	if (fcinfo->flinfo->fn_extra == NULL)
		fcinfo->flinfo->fn_extra = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt,
														  sizeof(CuckooCall));
	return (CuckooCall *) fcinfo->flinfo->fn_extra;
}

CuckooHasher *
CuckooFindHasher(FunctionCallInfo fcinfo, int argument, bool elements)
{
	CuckooCall *call = CuckooGetCall(fcinfo);
	Oid			type;

	if (call->has_hasher)
		return &call->hasher;
	type = get_fn_expr_argtype(fcinfo->flinfo, argument);
	if (elements && OidIsValid(type))
		type = get_base_element_type(type);
	CuckooHasherInit(&call->hasher, type, PG_GET_COLLATION(), fcinfo->flinfo->fn_mcxt);
	call->has_hasher = true;
	return &call->hasher;
}

CuckooHeader
CuckooCheckParameters(const CuckooParameters *given)
{
	double		capacity = given->capacity;
	double		fpr = given->fpr;
	CuckooFilter filter;
	CuckooShape shape;

	/* A NaN fails the comparison.  Below 1, somebody wrote the rate first. */
	if (given->has_capacity && !(capacity >= 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("capacity must be at least 1 key"),
				 errdetail("The capacity given is %g.", capacity),
				 errhint("The capacity comes before the false-positive rate. Write NULL if it is unknown.")));
	if (capacity > (double) CUCKOO_MAX_CAPACITY)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("capacity is too large for a cuckoofilter"),
				 errdetail("The capacity given is %.16g keys.", capacity),
				 errhint("Keep several filters, with the keys divided among them by cuckoo_shard.")));
	if (!(fpr >= CUCKOO_MIN_FPR && fpr <= CUCKOO_MAX_FPR))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("false-positive rate must be between %g and %g",
						CUCKOO_MIN_FPR, CUCKOO_MAX_FPR),
				 errdetail("The rate given is %s.", float8out_internal(fpr)),
				 fpr >= 1 ? errhint("The capacity comes before the rate.") : 0));
	CuckooFilterInit(&filter, fpr, (uint64) ceil(capacity), given->seed);
	/* Refuse it now rather than when the filter has grown dense. */
	if (!CuckooFirstShape(&filter, &shape))
		CuckooReportTooLarge(filter.header.capacity, fpr);
	return filter.header;
}

CuckooList
CuckooHashElements(FunctionCallInfo fcinfo, int argument, ArrayType *array,
				   const CuckooFilter *filter, bool **nulls)
{
	CuckooHasher *hasher = CuckooFindHasher(fcinfo, argument, true);
	int			room = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	CuckooList	hashes = {NULL, 0, 0};
	CuckooKeyKind kind = {CUCKOO_KEY_NONE, 0};	/* of the first element */
	ArrayIterator iterator;
	Datum		value;
	bool		is_null;

	CuckooListReserve(&hashes, (uint64) room);
	if (nulls != NULL)
		*nulls = palloc(room * sizeof(bool));
	iterator = array_create_iterator(array, 0, NULL);
	while (array_iterate(iterator, &value, &is_null))
	{
		CHECK_FOR_INTERRUPTS();
		if (nulls != NULL)
			(*nulls)[hashes.count] = is_null;
		else if (is_null)
			continue;
		hashes.numbers[hashes.count++] = is_null ? 0 : CuckooArgumentHash(hasher, value, filter);
		if (is_null)
			continue;
		/* The filter may have no key type yet. */
		if (kind.type == CUCKOO_KEY_NONE)
			kind = hasher->kind;
		else if (hasher->kind.signature != kind.signature)
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("key types of one array differ between elements"),
					 errdetail("One key is of type %s, another of type %s.",
							   CuckooKeyKindDescribe(kind),
							   CuckooKeyKindDescribe(hasher->kind))));
	}
	array_free_iterator(iterator);
	return hashes;
}

static HeapTuple
FormRow(TupleDesc type, const NullableDatum *columns, int count)
{
	Datum	   *values = palloc(count * sizeof(Datum));
	bool	   *nulls = palloc(count * sizeof(bool));

	if (type->natts != count)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("function is declared with %d result columns, but returns %d",
						type->natts, count),
				 errdetail("Its declaration and the library are of different versions."),
				 errhint("Run ALTER EXTENSION ... UPDATE, and reconnect.")));
	for (int i = 0; i < count; i++)
	{
		values[i] = columns[i].value;
		nulls[i] = columns[i].isnull;
	}
	return heap_form_tuple(type, values, nulls);
}

Datum
CuckooMakeRow(FunctionCallInfo fcinfo, const NullableDatum *columns, int count)
{
	TupleDesc	type;

	if (get_call_result_type(fcinfo, NULL, &type) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	return HeapTupleGetDatum(FormRow(BlessTupleDesc(type), columns, count));
}

void
CuckooPutRow(FunctionCallInfo fcinfo, const NullableDatum *columns, int count)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;

	tuplestore_puttuple(result->setResult, FormRow(result->setDesc, columns, count));
}
