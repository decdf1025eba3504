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

#include "core/filter.h"
#include "key.h"

#define CUCKOO_DEFAULT_FPR	0.001

/* A value of type cuckoofilter. */
typedef struct varlena CuckooValue;

/* Not toasted, but perhaps with a short header. */
#define DatumGetCuckooFilterP(datum)	((CuckooValue *) PG_DETOAST_DATUM_PACKED(datum))
#define PG_GETARG_CUCKOOFILTER_P(n)		DatumGetCuckooFilterP(PG_GETARG_DATUM(n))
#define PG_RETURN_CUCKOOFILTER_P(value) PG_RETURN_POINTER(value)

/* The portable bytes of a value that is not toasted. */
static inline uint8 *
CuckooValueBytes(CuckooValue *value)
{
	return (uint8 *) VARDATA_ANY(value);
}

/* A new value for this number of portable bytes, which are not initialized. */
extern CuckooValue *CuckooNewValue(size_t bytes);

/* A value with a copy of these bytes. */
extern CuckooValue *CuckooCopyBytes(const uint8 *bytes, size_t length);

/* The value in which the core has made a filter. */
extern CuckooValue *CuckooMadeValue(uint8 *bytes, const CuckooFilter *filter);

/* An unset filter, which an aggregate returns over no rows. */
extern CuckooValue *CuckooUnsetValue(void);

/* An empty filter with these parameters. */
extern CuckooValue *CuckooEmptyValue(CuckooFilter *parameters);

/*
 * The filter over sorted distinct hashes, with the key type and parameters of
 * a header, which this changes.
 */
extern CuckooValue *CuckooBuildValue(CuckooFilter *parameters, const CuckooRun *runs,
									 uint64 run_count);

/* Open a value that must be a filter: states of aggregates are refused. */
extern void CuckooOpenFilter(CuckooFilter *filter, CuckooValue *value);
extern void CuckooRefuseState(const CuckooFilter *filter);

/*
 * Read only the header of a value; *bytes is set to the size of the whole
 * value.  Accepts an aggregate's state as well as a filter.
 */
extern void CuckooReadHeader(Datum value, CuckooFilter *filter, Size *bytes);

/*
 * Begin to change a filter.  If value is not NULL, it is the detoasted datum.
 * An unset filter gets the default parameters.
 */
extern void CuckooOpenDraft(CuckooDraft *draft, Datum datum, CuckooValue *value);

/* Set the key type to that of the first key. */
extern void CuckooDraftSetKeyType(CuckooDraft *draft, const CuckooKey *key);

/*
 * Add or remove keys by their hashes, which may be in any order and are sorted.
 * An error if the filter cannot grow.  Returns whether anything changed.
 */
extern bool CuckooApplyToDraft(CuckooDraft *draft, uint64 *hashes, size_t count,
							   CuckooEdit edit);

/* The changed filter. */
extern CuckooValue *CuckooFinishDraft(CuckooDraft *draft);

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
