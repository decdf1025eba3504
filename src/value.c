/*-------------------------------------------------------------------------
 *
 * value.c
 *	  Values of the type; see value.h.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/detoast.h"
#include "value.h"

/*
 * Making values
 */

CuckooValue *
CuckooNewValue(size_t bytes)
{
	CuckooValue *value = palloc(VARHDRSZ + bytes);

	SET_VARSIZE(value, VARHDRSZ + bytes);
	return value;
}

CuckooValue *
CuckooCopyBytes(const uint8 *bytes, size_t length)
{
	CuckooValue *copy = CuckooNewValue(length);

	CuckooCopy((uint8 *) VARDATA(copy), bytes, length);
	return copy;
}

CuckooValue *
CuckooMadeValue(uint8 *bytes, const CuckooFilter *filter)
{
	CuckooValue *value = (CuckooValue *) (bytes - VARHDRSZ);

	SET_VARSIZE(value, VARHDRSZ + CuckooBytes(filter));
	CuckooAssertValid(value);
	return value;
}

CuckooValue *
CuckooUnsetValue(void)
{
	CuckooFilter filter;

	CuckooFilterInitUnset(&filter);
	return CuckooMadeValue(CuckooMakeFilter(&filter, NULL, 0), &filter);
}

CuckooValue *
CuckooEmptyValue(CuckooFilter *parameters)
{
	return CuckooBuildValue(parameters, NULL, 0);
}

CuckooValue *
CuckooBuildValue(CuckooFilter *parameters, const CuckooRun *runs, uint64 run_count)
{
	uint8	   *bytes = CuckooMakeFromHashes(parameters, runs, run_count);

	if (bytes == NULL)
		CuckooReportTooLarge(parameters->capacity, parameters->fpr);
	return CuckooMadeValue(bytes, parameters);
}

#ifdef CUCKOO_CHECK
/*
 * Stop the server, as an assertion does, if the validator would refuse a value
 * that we have made: the code that made it cannot be trusted any more.
 */
void
CuckooAssertValid(CuckooValue *value)
{
	CuckooVerdict verdict = CuckooValidate(CuckooValueBytes(value), VARSIZE_ANY_EXHDR(value));

	if (verdict.problem != CUCKOO_VALID)
		elog(PANIC, "cuckoofilter made is not valid: %s", verdict.message);
}
#endif

/*
 * Opening values
 */

/*
 * Refuse an aggregate's state, which is visible if aggregation is split
 * between servers.  It is not a filter yet.
 */
void
CuckooRefuseState(const CuckooFilter *filter)
{
	if (filter->content != CUCKOO_TABLES)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cuckoofilter is the partial state of an aggregate"),
				 errhint("Only the aggregate's own functions accept it.")));
}

void
CuckooOpenFilter(CuckooFilter *filter, CuckooValue *value)
{
	/* A state does not have a filter's contents: read only its header. */
	if (CuckooValueBytes(value)[1] == CUCKOO_TABLES)
		CuckooOpen(filter, CuckooValueBytes(value), VARSIZE_ANY_EXHDR(value));
	else
		CuckooOpenHeader(filter, CuckooValueBytes(value));
	CuckooRefuseState(filter);
}

void
CuckooReadHeader(Datum value, CuckooFilter *filter, Size *bytes)
{
	struct varlena *header = PG_DETOAST_DATUM_SLICE(value, 0, CUCKOO_MAX_HEADER_BYTES);

	CuckooOpenHeader(filter, CuckooValueBytes(header));
	*bytes = toast_raw_datum_size(value);
}

/*
 * Changing values
 */

void
CuckooOpenDraft(CuckooDraft *draft, Datum datum, CuckooValue *value)
{
	CuckooFilter filter;
	bool		writable;

	if (value == NULL)
		value = DatumGetCuckooFilterP(datum);
	CuckooOpenFilter(&filter, value);
	/* A detoasted value is a copy already. */
	writable = (Pointer) value != DatumGetPointer(datum) && !VARATT_IS_SHORT(value);
	if (filter.flags & CUCKOO_FLAG_UNSET)
	{
		/* A draft needs a table. */
		CuckooFilterInit(&filter, CUCKOO_DEFAULT_FPR, 0, 0);
		value = CuckooEmptyValue(&filter);
		writable = true;
	}
	CuckooDraftOpen(draft, CuckooValueBytes(value), VARSIZE_ANY_EXHDR(value), writable);
	Assert(draft->filter.table_count > 0);
}

void
CuckooDraftSetKeyType(CuckooDraft *draft, const CuckooKey *key)
{
	CuckooFilter *filter = &draft->filter;

	CuckooMatchKeyType(filter->key_type, filter->signature, key);
	filter->key_type = (uint8) key->key_type;
	filter->signature = key->signature;
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
CuckooApplyToDraft(CuckooDraft *draft, uint64 *hashes, size_t count, CuckooEdit edit)
{
	const CuckooFilter *filter = &draft->filter;
	size_t		changed;
	CuckooChange change = CuckooDraftApply(draft, hashes, count, edit, &changed);

	if (change == CUCKOO_TOO_LARGE)
		CuckooReportTooLarge(filter->items, filter->fpr);
	if (change == CUCKOO_FULL)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("cuckoofilter is full"),
				 errdetail("It holds %llu items in %d sub-filters and cannot grow any more.",
						   (unsigned long long) filter->items, filter->table_count),
				 errhint("Build it again from its keys with cuckoo_agg(key, %llu, %g).",
						 2 * (unsigned long long) filter->items, filter->fpr)));
	return changed > 0;
}

CuckooValue *
CuckooFinishDraft(CuckooDraft *draft)
{
	uint8	   *bytes = CuckooDraftFinish(draft);

	if (bytes == NULL)
		CuckooReportTooLarge(draft->filter.items, draft->filter.fpr);
	return CuckooMadeValue(bytes, &draft->filter);
}
