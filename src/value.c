/*-------------------------------------------------------------------------
 *
 * value.c
 *	  Values of the type; see value.h.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/detoast.h"

#include "key_scalar.h"
#include "value.h"

CuckooValue *
CuckooAllocateValue(size_t bytes)
{
	CuckooValue *value = palloc(VARHDRSZ + bytes);

	SET_VARSIZE(value, VARHDRSZ + bytes);
	return value;
}

CuckooValue *
CuckooCopyBytes(const uint8 *bytes, size_t length)
{
	CuckooValue *copy = CuckooAllocateValue(length);

	CuckooCopy((uint8 *) VARDATA(copy), bytes, length);
	return copy;
}

CuckooValue *
CuckooCopyValue(CuckooValue *value)
{
	return CuckooCopyBytes(CuckooValueBytes(value), VARSIZE_ANY_EXHDR(value));
}

CuckooValue *
CuckooMakeValue(uint8 *bytes, const CuckooFilter *filter)
{
	CuckooValue *value;

	if (bytes == NULL)
		CuckooReportTooLarge(filter->header.items, filter->header.fpr);
	value = (CuckooValue *) (bytes - VARHDRSZ);
	SET_VARSIZE(value, VARHDRSZ + CuckooBytes(filter));
	CuckooAssertValid(value);
	return value;
}

CuckooValue *
CuckooMakeUnsetValue(void)
{
	CuckooFilter filter;

	filter.header = (CuckooHeader) {.flags = CUCKOO_FLAG_UNSET};
	return CuckooMakeValue(CuckooMakeFilter(&filter, NULL, 0), &filter);
}

CuckooValue *
CuckooMakeValueFromHashes(CuckooFilter *parameters, const CuckooList *runs, uint64 run_count)
{
	uint8	   *bytes = CuckooMakeFromHashes(parameters, runs, run_count);

	if (bytes == NULL)
		CuckooReportTooLarge(parameters->header.capacity, parameters->header.fpr);
	return CuckooMakeValue(bytes, parameters);
}

#ifdef CUCKOO_CHECK
/*
 * Stop the server, as an assertion does, if the validator would refuse a value
 * that we have made: the code that made it cannot be trusted any more.
 */
void
CuckooAssertValid(CuckooValue *value)
{
	CuckooVerdict verdict;

	if (!CuckooValidate(CuckooValueBytes(value), VARSIZE_ANY_EXHDR(value), &verdict))
		elog(PANIC, "cuckoofilter made is not valid: %s", verdict.message);
}
#endif

/*
 * Refuse an aggregate's state, which is visible if aggregation is split
 * between servers.  It is not a filter yet.
 */
void
CuckooRequireFilter(uint8 content)
{
	if (content != CUCKOO_TABLES)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cuckoofilter is the partial state of an aggregate"),
				 errdetail("Only the aggregate's own functions accept it.")));
}

void
CuckooOpenFilter(CuckooFilter *filter, CuckooValue *value)
{
	CuckooRequireFilter(CuckooContentOf(value));
	CuckooOpen(filter, CuckooValueBytes(value), VARSIZE_ANY_EXHDR(value));
}

void
CuckooReadHeader(Datum value, CuckooFilter *filter)
{
	struct varlena *header = PG_DETOAST_DATUM_SLICE(value, 0, CUCKOO_MAX_HEADER_BYTES);

	CuckooRequireFilter(CuckooContentOf(header));
	CuckooOpenHeader(filter, CuckooValueBytes(header), toast_raw_datum_size(value) - VARHDRSZ);
}

Datum
CuckooUnchanged(FunctionCallInfo fcinfo)
{
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	PG_RETURN_DATUM(PG_GETARG_DATUM(0));
}

void
CuckooDraftOpenValue(CuckooDraft *draft, CuckooValue *copy)
{
	CuckooRequireFilter(CuckooContentOf(copy));
	CuckooDraftOpen(draft, CuckooValueBytes(copy), VARSIZE(copy) - VARHDRSZ);
	if (draft->filter.header.flags & CUCKOO_FLAG_UNSET)
	{
		/* A draft needs a table. */
		CuckooFilterInit(&draft->filter, CUCKOO_DEFAULT_FPR, 0, 0);
		copy = CuckooMakeValueFromHashes(&draft->filter, NULL, 0);
		CuckooDraftOpen(draft, CuckooValueBytes(copy), VARSIZE(copy) - VARHDRSZ);
	}
}

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
}

bool
CuckooDraftApplyOrFail(CuckooDraft *draft, uint64 *hashes, size_t count, CuckooAction action)
{
	const CuckooFilter *filter = &draft->filter;
	size_t		changed;
	CuckooOutcome outcome = CuckooDraftApply(draft, hashes, count, action, &changed);

	if (outcome == CUCKOO_TOO_LARGE)
		CuckooReportTooLarge(filter->header.items, filter->header.fpr);
	if (outcome == CUCKOO_FULL)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("cuckoofilter is full"),
				 errdetail("It holds %llu items in %d sub-filters and cannot grow any more.",
						   (unsigned long long) filter->header.items, filter->header.table_count),
				 errhint("Build it again from its keys with cuckoo_agg(key, %llu, %g).",
						 2 * (unsigned long long) filter->header.items, filter->header.fpr)));
	return changed > 0;
}

void
CuckooReportConflict(CuckooConflict conflict, const CuckooHeader *left, const CuckooHeader *right)
{
	if (conflict == CUCKOO_OTHER_SEED)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cuckoofilters with different seeds cannot be combined"),
				 errdetail("The seed of one is %lld, that of the other %lld.",
						   (long long) left->seed, (long long) right->seed)));
	if (conflict == CUCKOO_OTHER_KEY_TYPE)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("cuckoofilters with different key types cannot be combined"),
				 errdetail("One has keys of type %s, the other of type %s.",
						   CuckooKeyKindDescribe(left->kind),
						   CuckooKeyKindDescribe(right->kind))));
	if (conflict == CUCKOO_TOO_MANY_TABLES)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("combined cuckoofilter would have too many sub-filters"),
				 errdetail("Sub-filters of more than %d shapes cannot be kept side by side; the filters have %d and %d.",
						   CUCKOO_MAX_TABLES, left->table_count, right->table_count),
				 errhint("Build all filters with the same rate, and the number of keys of the result as the capacity: cuckoo_agg(key, capacity, fpr), or cuckoo_index_filter(index, capacity, fpr).")));
}

void
CuckooCombinationAddValue(CuckooCombination *combination, CuckooValue *value)
{
	CuckooFilter filter;
	CuckooConflict conflict;

	CuckooOpenFilter(&filter, value);
	conflict = CuckooCombinationAdd(combination, &filter);
	combination->header.table_count = (uint8) combination->pool_count;
	CuckooReportConflict(conflict, &combination->header, &filter.header);
}

CuckooValue *
CuckooCombinationMakeValue(CuckooCombination *combination)
{
	CuckooFilter made;

	return CuckooMakeValue(CuckooCombinationMake(combination, &made), &made);
}

CuckooValue *
CuckooCombineValues(CuckooOperation operation, CuckooValue *left, CuckooValue *right)
{
	CuckooCombination combination;
	CuckooValue *value;

	CuckooCombinationInit(&combination, operation);
	CuckooCombinationAddValue(&combination, left);
	CuckooCombinationAddValue(&combination, right);
	value = CuckooCombinationMakeValue(&combination);
	CuckooCombinationRelease(&combination);
	return value;
}
