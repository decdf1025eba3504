/*-------------------------------------------------------------------------
 *
 * change.c
 *	  SQL functions that make and change a filter: new, from_array, add,
 *	  remove.
 *
 * These functions are not STRICT.  A NULL key leaves the filter as it is,
 * because "f + NULL" must not erase a stored filter.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "miscadmin.h"

#include "cuckoo.h"
#include "sort.h"

/* A function's parameters, from the given argument on; NULL: the default. */
static void
GetParameters(FunctionCallInfo fcinfo, int argument, CuckooFilter *filter)
{
	double		fpr = CUCKOO_DEFAULT_FPR;
	uint64		capacity = 0;
	uint64		seed = 0;

	if (!PG_ARGISNULL(argument))
		fpr = CuckooCheckFpr(PG_GETARG_FLOAT8(argument));
	if (!PG_ARGISNULL(argument + 1))
		capacity = CuckooCheckCapacity(PG_GETARG_FLOAT8(argument + 1));
	if (!PG_ARGISNULL(argument + 2))
		seed = (uint64) PG_GETARG_INT64(argument + 2);
	CuckooCheckSize(fpr, capacity);
	CuckooFilterInit(filter, fpr, capacity, seed);
}

/* cuckoo_new(fpr, capacity, seed): NULL means the default */
PG_FUNCTION_INFO_V1(cuckoo_new);
Datum
cuckoo_new(PG_FUNCTION_ARGS)
{
	CuckooFilter filter;

	GetParameters(fcinfo, 0, &filter);
	PG_RETURN_CUCKOOFILTER_P(CuckooEmptyValue(&filter));
}

/* cuckoo_from_array(array, fpr, capacity, seed): as cuckoo_agg over the elements */
PG_FUNCTION_INFO_V1(cuckoo_from_array);
Datum
cuckoo_from_array(PG_FUNCTION_ARGS)
{
	CuckooKey  *key;
	CuckooFilter filter;
	CuckooElements elements;
	uint64	   *scratch;
	CuckooRun	run;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	GetParameters(fcinfo, 1, &filter);
	key = CuckooGetElementKey(fcinfo, 0);
	run.count = (uint64) CuckooGetElements(fcinfo, 0, PG_GETARG_ARRAYTYPE_P(0), &filter,
										  &elements);
	if (run.count > 0)
	{
		filter.key_type = (uint8) key->key_type;
		filter.signature = key->signature;
	}
	CuckooDropNulls(&elements);
	scratch = CuckooAllocate(&CuckooServer, run.count, sizeof(uint64));
	CuckooSort(elements.hashes, scratch, run.count, CuckooServer.pause);
	pfree(scratch);
	run.count = CuckooUnique(elements.hashes, run.count, CuckooServer.pause);
	run.hashes = elements.hashes;
	PG_RETURN_CUCKOOFILTER_P(CuckooBuildValue(&filter, &run, 1));
}

/* cuckoo_add(f, key), f + key: one more copy */
PG_FUNCTION_INFO_V1(cuckoo_add);
Datum
cuckoo_add(PG_FUNCTION_ARGS)
{
	CuckooKey  *key;
	CuckooDraft draft;
	uint64		hash;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(1))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	key = CuckooGetKey(fcinfo, 1);
	CuckooOpenDraft(&draft, PG_GETARG_DATUM(0), NULL);
	hash = CuckooArgumentHash(key, PG_GETARG_DATUM(1), &draft.filter);
	CuckooDraftSetKeyType(&draft, key);
	if (!CuckooAddToDraft(&draft, hash))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	PG_RETURN_CUCKOOFILTER_P(CuckooFinishDraft(&draft));
}

/*
 * cuckoo_add_new(f, key): one copy, if f does not contain the key.  Another
 * key's fingerprint may be found instead, and two keys then share an item: the
 * filter is marked not removable, whether or not that has happened.
 */
PG_FUNCTION_INFO_V1(cuckoo_add_new);
Datum
cuckoo_add_new(PG_FUNCTION_ARGS)
{
	CuckooKey  *key;
	CuckooValue *value;
	CuckooFilter filter;
	CuckooDraft draft;
	uint64		hash;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(1))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	key = CuckooGetKey(fcinfo, 1);
	value = PG_GETARG_CUCKOOFILTER_P(0);
	CuckooOpenFilter(&filter, value);
	hash = CuckooArgumentHash(key, PG_GETARG_DATUM(1), &filter);
	if ((filter.flags & CUCKOO_FLAG_NOT_REMOVABLE) != 0 &&
		CuckooFilterContains(&filter, hash))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));

	/* Reading the value a second time would double the cost. */
	CuckooOpenDraft(&draft, PG_GETARG_DATUM(0), value);
	CuckooDraftSetKeyType(&draft, key);
	draft.filter.flags |= CUCKOO_FLAG_NOT_REMOVABLE;
	CuckooAddNewToDraft(&draft, hash);
	PG_RETURN_CUCKOOFILTER_P(CuckooFinishDraft(&draft));
}

/*
 * Add or remove one copy of each element of an array.  Returns whether
 * anything changed.
 */
static bool
ChangeAll(FunctionCallInfo fcinfo, CuckooDraft *draft, bool remove)
{
	CuckooElements elements;
	bool		changed = false;

	if (CuckooGetElements(fcinfo, 1, PG_GETARG_ARRAYTYPE_P(1), &draft->filter, &elements) == 0)
		return false;
	CuckooDropNulls(&elements);
	if (!remove)
		CuckooDraftSetKeyType(draft, CuckooGetElementKey(fcinfo, 1));
	for (int i = 0; i < elements.count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		CuckooFilterPrefetch(&draft->filter, elements.hashes, i, elements.count);
		changed |= remove ? CuckooRemoveFromDraft(draft, elements.hashes[i]) :
			CuckooAddToDraft(draft, elements.hashes[i]);
	}
	return changed;
}

/* cuckoo_add_all(f, array): one more copy of each element */
PG_FUNCTION_INFO_V1(cuckoo_add_all);
Datum
cuckoo_add_all(PG_FUNCTION_ARGS)
{
	CuckooDraft draft;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(1))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	CuckooOpenDraft(&draft, PG_GETARG_DATUM(0), NULL);
	if (!ChangeAll(fcinfo, &draft, false))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	PG_RETURN_CUCKOOFILTER_P(CuckooFinishDraft(&draft));
}

/*
 * Refuse a filter in which two keys may share an item: removing one could lose
 * the other.
 */
static void
CheckRemovable(const CuckooFilter *filter)
{
	if (filter->flags & CUCKOO_FLAG_NOT_REMOVABLE)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("keys cannot be removed from this cuckoofilter"),
				 errdetail("It was made by an operation that lets two keys share an item: cuckoo_add_new, cuckoo_union or cuckoo_stream_agg."),
				 errhint("Use cuckoo_add and cuckoo_union_all, or build the filter with cuckoo_agg.")));
}

/* cuckoo_remove(f, key), f - key: one copy less; f itself if there is none */
PG_FUNCTION_INFO_V1(cuckoo_remove);
Datum
cuckoo_remove(PG_FUNCTION_ARGS)
{
	CuckooKey  *key;
	CuckooDraft draft;
	uint64		hash;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(1))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	key = CuckooGetKey(fcinfo, 1);
	CuckooOpenDraft(&draft, PG_GETARG_DATUM(0), NULL);
	hash = CuckooArgumentHash(key, PG_GETARG_DATUM(1), &draft.filter);
	CheckRemovable(&draft.filter);
	if (!CuckooRemoveFromDraft(&draft, hash))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	PG_RETURN_CUCKOOFILTER_P(CuckooFinishDraft(&draft));
}

/* cuckoo_remove_all(f, array): one copy less of each element */
PG_FUNCTION_INFO_V1(cuckoo_remove_all);
Datum
cuckoo_remove_all(PG_FUNCTION_ARGS)
{
	CuckooDraft draft;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(1))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	CuckooOpenDraft(&draft, PG_GETARG_DATUM(0), NULL);
	CheckRemovable(&draft.filter);
	if (!ChangeAll(fcinfo, &draft, true))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	PG_RETURN_CUCKOOFILTER_P(CuckooFinishDraft(&draft));
}
