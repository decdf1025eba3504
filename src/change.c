/*-------------------------------------------------------------------------
 *
 * change.c
 *	  SQL functions that make and change a filter: new, from_array, add,
 *	  remove.
 *
 * A NULL key leaves the filter as it is: "f + NULL" must not erase a stored
 * filter.  So these functions are not STRICT.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "miscadmin.h"
#include "utils/builtins.h"

#include "build.h"
#include "cuckoo.h"

/* The layout of that name. */
static CuckooLayout
ParseLayout(const char *name)
{
	if (strcmp(name, "semisorted") == 0)
		return CUCKOO_SEMISORTED;
	if (strcmp(name, "plain") == 0)
		return CUCKOO_PLAIN;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unknown layout \"%s\"", name),
			 errhint("The layouts are \"semisorted\" and \"plain\".")));
	return CUCKOO_SEMISORTED;
}

/* cuckoo_new(fpr, capacity, seed, layout): NULL means the default */
PG_FUNCTION_INFO_V1(cuckoo_new);
Datum
cuckoo_new(PG_FUNCTION_ARGS)
{
	double		fpr = PG_ARGISNULL(0) ? CUCKOO_DEFAULT_FPR : PG_GETARG_FLOAT8(0);
	double		capacity = PG_ARGISNULL(1) ? 0 : PG_GETARG_FLOAT8(1);
	int64		seed = PG_ARGISNULL(2) ? 0 : PG_GETARG_INT64(2);
	CuckooLayout layout = PG_ARGISNULL(3) ? CUCKOO_SEMISORTED :
		ParseLayout(text_to_cstring(PG_GETARG_TEXT_PP(3)));
	CuckooFilter filter;
	CuckooDraft draft;

	CuckooFilterInit(&filter, CuckooCheckFpr(fpr), CuckooCheckCapacity(capacity),
					 (uint64) seed, layout);
	CuckooCheckSize(filter.fpr, filter.capacity, layout);
	CuckooDraftInit(&draft, &filter);
	PG_RETURN_POINTER(CuckooDraftFinish(&draft));
}

/* cuckoo_from_array(array [, fpr]): as cuckoo_agg over the elements */
PG_FUNCTION_INFO_V1(cuckoo_from_array);
Datum
cuckoo_from_array(PG_FUNCTION_ARGS)
{
	CuckooKey  *key;
	CuckooFilter parameters;
	uint64	   *hashes;
	uint64	   *scratch;
	uint64		count;
	CuckooRun	run;
	CuckooRuns	runs;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	CuckooFilterInit(&parameters,
					 PG_NARGS() < 2 || PG_ARGISNULL(1) ? CUCKOO_DEFAULT_FPR :
					 CuckooCheckFpr(PG_GETARG_FLOAT8(1)),
					 0, 0, CUCKOO_SEMISORTED);
	key = CuckooGetElementKey(fcinfo, 0);
	count = CuckooArrayHashes(fcinfo, 0, parameters.seed, &hashes);
	if (count == 0)
		PG_RETURN_POINTER(CuckooUnsetValue());
	parameters.kind = (uint8) key->kind;
	parameters.element_kind = (uint8) key->element_kind;
	scratch = palloc(count * sizeof(uint64));
	CuckooSortHashes(hashes, scratch, count, CuckooPauseForInterrupts);
	pfree(scratch);
	run.hashes = hashes;
	run.count = CuckooUniqueHashes(hashes, count, CuckooPauseForInterrupts);
	runs.runs = &run;
	runs.count = 1;
	runs.total = run.count;
	PG_RETURN_POINTER(CuckooBuildValue(&parameters, &runs));
}

/* cuckoo_add(f, value), f + value: one copy more */
PG_FUNCTION_INFO_V1(cuckoo_add);
Datum
cuckoo_add(PG_FUNCTION_ARGS)
{
	CuckooKey  *key;
	CuckooDraft draft;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(1))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	key = CuckooGetKey(fcinfo, 1);
	CuckooDraftOpen(&draft, PG_GETARG_DATUM(0));
	CuckooDraftSet(&draft, key);
	CuckooDraftAdd(&draft, CuckooKeyHash(key, PG_GETARG_DATUM(1), draft.filter.seed));
	PG_RETURN_POINTER(CuckooDraftFinish(&draft));
}

/*
 * cuckoo_add_new(f, value): one copy, where f does not contain the key.  Exact
 * in a list.  In tables another key's fingerprint may be found instead, and
 * two keys then share an entry: the filter is marked not removable, whether or
 * not that has happened.
 */
PG_FUNCTION_INFO_V1(cuckoo_add_new);
Datum
cuckoo_add_new(PG_FUNCTION_ARGS)
{
	CuckooKey  *key;
	struct varlena *value;
	CuckooFilter filter;
	CuckooDraft draft;
	uint64		hash;
	bool		contained;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(1))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	key = CuckooGetKey(fcinfo, 1);
	value = PG_GETARG_VARLENA_PP(0);
	CuckooOpen(&filter, CuckooValueBytes(value));
	CuckooRefuseState(&filter);
	CuckooMatchKind(&filter, key);
	hash = CuckooKeyHash(key, PG_GETARG_DATUM(1), filter.seed);
	contained = CuckooFilterContains(&filter, hash);
	if (contained && (filter.body == CUCKOO_LIST ||
					  (filter.flags & CUCKOO_FLAG_NOT_REMOVABLE) != 0))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));

	/* Reading it a second time would take as long as all the rest. */
	CuckooDraftFrom(&draft, PG_GETARG_DATUM(0), value);
	CuckooDraftSet(&draft, key);
	if (draft.filter.body == CUCKOO_TABLES)
		draft.filter.flags |= CUCKOO_FLAG_NOT_REMOVABLE;
	if (!contained)
		CuckooDraftAdd(&draft, hash);
	PG_RETURN_POINTER(CuckooDraftFinish(&draft));
}

/* cuckoo_add_all(f, array): one copy more of each element */
PG_FUNCTION_INFO_V1(cuckoo_add_all);
Datum
cuckoo_add_all(PG_FUNCTION_ARGS)
{
	CuckooDraft draft;
	uint64	   *hashes;
	int			count;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(1))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	CuckooDraftOpen(&draft, PG_GETARG_DATUM(0));
	count = CuckooArrayHashes(fcinfo, 1, draft.filter.seed, &hashes);
	if (count == 0)
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	CuckooDraftSet(&draft, CuckooGetElementKey(fcinfo, 1));
	for (int i = 0; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (i + CUCKOO_PREFETCH_KEYS < count)
			CuckooFilterPrefetch(&draft.filter, hashes[i + CUCKOO_PREFETCH_KEYS]);
		CuckooDraftAdd(&draft, hashes[i]);
	}
	PG_RETURN_POINTER(CuckooDraftFinish(&draft));
}

/*
 * Where two keys may share an entry, taking one out could lose the other.
 */
static void
CheckRemovable(const CuckooFilter *filter)
{
	if (filter->flags & CUCKOO_FLAG_NOT_REMOVABLE)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("keys cannot be removed from this cuckoofilter"),
				 errdetail("It was made by an operation that lets two keys share an entry: cuckoo_add_new, cuckoo_union or cuckoo_stream_agg."),
				 errhint("Use cuckoo_add and cuckoo_merge, or build the filter with cuckoo_agg.")));
}

/* cuckoo_remove(f, value), f - value: one copy less; absent: f unchanged */
PG_FUNCTION_INFO_V1(cuckoo_remove);
Datum
cuckoo_remove(PG_FUNCTION_ARGS)
{
	CuckooKey  *key;
	CuckooDraft draft;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(1))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	key = CuckooGetKey(fcinfo, 1);
	CuckooDraftOpen(&draft, PG_GETARG_DATUM(0));
	CuckooMatchKind(&draft.filter, key);
	CheckRemovable(&draft.filter);
	if (CuckooFilterRemove(&draft.filter,
						   CuckooKeyHash(key, PG_GETARG_DATUM(1), draft.filter.seed)) !=
		CUCKOO_REMOVED)
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	PG_RETURN_POINTER(CuckooDraftFinish(&draft));
}

/* cuckoo_remove_all(f, array): one copy less of each element */
PG_FUNCTION_INFO_V1(cuckoo_remove_all);
Datum
cuckoo_remove_all(PG_FUNCTION_ARGS)
{
	CuckooDraft draft;
	uint64	   *hashes;
	int			count;
	bool		changed = false;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(1))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	CuckooDraftOpen(&draft, PG_GETARG_DATUM(0));
	count = CuckooArrayHashes(fcinfo, 1, draft.filter.seed, &hashes);
	if (count > 0)
		CuckooMatchKind(&draft.filter, CuckooGetElementKey(fcinfo, 1));
	CheckRemovable(&draft.filter);
	for (int i = 0; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (i + CUCKOO_PREFETCH_KEYS < count)
			CuckooFilterPrefetch(&draft.filter, hashes[i + CUCKOO_PREFETCH_KEYS]);
		changed |= CuckooFilterRemove(&draft.filter, hashes[i]) == CUCKOO_REMOVED;
	}
	if (!changed)
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	PG_RETURN_POINTER(CuckooDraftFinish(&draft));
}
