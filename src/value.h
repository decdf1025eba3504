/*-------------------------------------------------------------------------
 *
 * value.h
 *	  Values of the type: opening arguments, making and changing values.
 *
 * A stored filter is a varlena whose content is the portable bytes of
 * format.h.  It may be packed, compressed or toasted, and is never aligned.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_VALUE_H
#define CUCKOO_VALUE_H

#include "compat.h"

#include "core/combine.h"

#define CUCKOO_DEFAULT_FPR	0.001

typedef struct varlena CuckooValue;

/* Not toasted, but perhaps with a short header. */
#define DatumGetCuckooFilterP(datum)	((CuckooValue *) PG_DETOAST_DATUM_PACKED(datum))
#define PG_GETARG_CUCKOOFILTER_P(n)		DatumGetCuckooFilterP(PG_GETARG_DATUM(n))

/* A copy, with a long header. */
#define PG_GETARG_CUCKOOFILTER_P_COPY(n) \
	((CuckooValue *) PG_DETOAST_DATUM_COPY(PG_GETARG_DATUM(n)))

/* The portable bytes of a value that is not toasted. */
static inline uint8 *
CuckooValueBytes(CuckooValue *value)
{
	return (uint8 *) VARDATA_ANY(value);
}

/* Memory for a value of this number of portable bytes, which are not initialized. */
extern CuckooValue *CuckooAllocateValue(size_t bytes);

/* A value with a copy of these bytes. */
extern CuckooValue *CuckooCopyBytes(const uint8 *bytes, size_t length);

/* A copy in the current context, of a value that may have a short header. */
extern CuckooValue *CuckooCopyValue(CuckooValue *value);

/* The value in which the core has made a filter, or NULL: it is too large. */
extern CuckooValue *CuckooMakeValue(uint8 *bytes, const CuckooFilter *filter);

/* An unset filter, which an aggregate returns over no rows. */
extern CuckooValue *CuckooMakeUnsetValue(void);

/*
 * The filter over sorted distinct hashes, perhaps none, with the header fields
 * of *parameters, whose capacity and items are set.
 */
extern CuckooValue *CuckooMakeValueFromHashes(CuckooFilter *parameters, const CuckooList *runs,
											  uint64 run_count);

/* The first argument as it is, a filter or state, which may be NULL. */
extern Datum CuckooUnchanged(FunctionCallInfo fcinfo);

/*
 * What a value is: a filter (CUCKOO_TABLES), an aggregate's partial state, or
 * its list of hashes, of which this byte is all that is as in the format.
 */
#define CUCKOO_LIST		(CUCKOO_PARTIAL + 1)

static inline uint8
CuckooContentOf(CuckooValue *value)
{
	return CuckooValueBytes(value)[1];
}

/* Refuse a content that is not a filter. */
extern void CuckooRequireFilter(uint8 content);

/* Open a value that must be a filter, or read only its header. */
extern void CuckooOpenFilter(CuckooFilter *filter, CuckooValue *value);
extern void CuckooReadHeader(Datum value, CuckooFilter *filter);

/*
 * Begin to change a filter, a copy that becomes the draft's.  An unset filter
 * gets the default parameters.
 */
extern void CuckooDraftOpenValue(CuckooDraft *draft, CuckooValue *copy);

/*
 * Add or remove keys by their hashes, which may be in any order and are sorted.
 * An error if the filter cannot grow.  Returns whether anything changed.
 */
extern bool CuckooDraftApplyOrFail(CuckooDraft *draft, uint64 *hashes, size_t count,
								   CuckooAction action);

/* Combine filters: one by one in a combination, or two, of which none is unset. */
extern void CuckooCombinationAddValue(CuckooCombination *combination, CuckooValue *value);
extern CuckooValue *CuckooCombinationMakeValue(CuckooCombination *combination);
extern CuckooValue *CuckooCombineValues(CuckooOperation operation, CuckooValue *left,
										CuckooValue *right);

/* Report why two filters cannot be combined, if there is a reason. */
extern void CuckooReportConflict(CuckooConflict conflict, const CuckooHeader *left,
								 const CuckooHeader *right);

extern CUCKOO_NORETURN void CuckooReportTooLarge(uint64 keys, double fpr);

/*
 * If assertions are enabled, or with -DCUCKOO_CHECK, every value that is made
 * or changed is validated.
 */
#if defined(USE_ASSERT_CHECKING) && !defined(CUCKOO_CHECK)
#define CUCKOO_CHECK
#endif
#ifdef CUCKOO_CHECK
extern void CuckooAssertValid(CuckooValue *value);
#else
#define CuckooAssertValid(value) ((void) 0)
#endif

#endif							/* CUCKOO_VALUE_H */
