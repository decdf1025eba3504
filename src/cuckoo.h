/*-------------------------------------------------------------------------
 *
 * cuckoo.h
 *	  What the SQL-facing files share: arguments, values, messages.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_H
#define CUCKOO_H

#include "compat.h"

#include "filter.h"
#include "key.h"
#include "reader.h"

#define CUCKOO_DEFAULT_FPR	0.001

/*
 * What a function keeps from call to call (in fn_extra): how its key argument
 * is hashed, and the stored filters it looks keys up in.
 */
typedef struct CuckooCall
{
	bool		has_key;
	CuckooKey	key;
	CuckooSite	site;
} CuckooCall;

/* A filter being changed: a copy, writable, with the room a list needs. */
typedef struct CuckooDraft
{
	struct varlena *value;
	CuckooFilter filter;
} CuckooDraft;

/*
 * Sorted distinct hashes, in pieces that follow each other: what a filter is
 * built from.
 */
typedef struct CuckooRun
{
	const uint64 *hashes;
	uint64		count;
} CuckooRun;

typedef struct CuckooRuns
{
	CuckooRun  *runs;
	uint64		count;			/* of runs */
	uint64		total;			/* of hashes in them */
} CuckooRuns;

/* cuckoo.c: arguments and messages */
extern CuckooCall *CuckooGetCall(FunctionCallInfo fcinfo);
extern CuckooKey *CuckooFindKey(FunctionCallInfo fcinfo, int argument);
extern CuckooKey *CuckooGetElementKey(FunctionCallInfo fcinfo, int argument);
extern void CuckooReportKind(const CuckooFilter *filter, const CuckooKey *key);
extern double CuckooCheckFpr(double fpr);
extern uint64 CuckooCheckCapacity(double capacity);
extern bool CuckooSizeFits(double fpr, uint64 capacity, CuckooLayout layout);
extern void CuckooCheckSize(double fpr, uint64 capacity, CuckooLayout layout);
extern CUCKOO_NORETURN void CuckooReportTooLarge(uint64 keys, double fpr);
extern void CuckooPauseForInterrupts(void);
extern int	CuckooArrayHashes(FunctionCallInfo fcinfo, int argument,
							  uint64 seed, uint64 **hashes);

/* How the values of a polymorphic argument are hashed. */
static inline CuckooKey *
CuckooGetKey(FunctionCallInfo fcinfo, int argument)
{
	CuckooCall *call = (CuckooCall *) fcinfo->flinfo->fn_extra;

	return call != NULL && call->has_key ? &call->key : CuckooFindKey(fcinfo, argument);
}

/*
 * Refuse a key of another kind than the filter's: the answer would be "no"
 * whatever the filter holds.
 */
static inline void
CuckooMatchKind(const CuckooFilter *filter, const CuckooKey *key)
{
	if (filter->kind != CUCKOO_KIND_NONE &&
		(filter->kind != key->kind || filter->element_kind != key->element_kind))
		CuckooReportKind(filter, key);
}

/* value.c: values of the type */
extern struct varlena *CuckooNewValue(size_t bytes);
extern struct varlena *CuckooCopyBytes(const uint8 *bytes, size_t length);
extern struct varlena *CuckooUnsetValue(void);
extern uint8 *CuckooValueBytes(struct varlena *value);
extern void CuckooRefuseState(const CuckooFilter *filter);
extern void CuckooOpenFilter(CuckooFilter *filter, struct varlena *value);
extern void CuckooDraftOpen(CuckooDraft *draft, Datum value);
extern void CuckooDraftFrom(CuckooDraft *draft, Datum value,
							struct varlena *source);
extern void CuckooDraftInit(CuckooDraft *draft, const CuckooFilter *filter);
extern void CuckooDraftSet(CuckooDraft *draft, const CuckooKey *key);
extern void CuckooDraftGrow(CuckooDraft *draft);
extern CuckooInsertResult CuckooDraftAdd(CuckooDraft *draft, uint64 hash);
extern struct varlena *CuckooDraftFinish(CuckooDraft *draft);
extern struct varlena *CuckooBuildByAdding(const CuckooFilter *parameters,
										   const CuckooRuns *runs);
extern struct varlena *CuckooBuildValue(const CuckooFilter *parameters,
										const CuckooRuns *runs);

/*
 * Where assertions are on, or with -DCUCKOO_CHECK, every value made or changed
 * is checked whole.
 */
#if defined(USE_ASSERT_CHECKING) && !defined(CUCKOO_CHECK)
#define CUCKOO_CHECK
#endif
#ifdef CUCKOO_CHECK
extern void CuckooAssertValid(struct varlena *value);
#else
#define CuckooAssertValid(value) ((void) 0)
#endif

/* A reader of a filter argument, for so many lookups: see reader.h. */
static inline const CuckooReader *
CuckooReadArgument(FunctionCallInfo fcinfo, int argument, Size lookups)
{
	CuckooCall *call = (CuckooCall *) fcinfo->flinfo->fn_extra;

	if (call == NULL)
		call = CuckooGetCall(fcinfo);
	return CuckooRead(&call->site, fcinfo->flinfo->fn_mcxt,
					  (struct varlena *) PG_GETARG_POINTER(argument), lookups);
}

/* aggstate.c: for the output functions and cuckoo_info */
extern struct varlena *CuckooStateToPartial(struct varlena *value);

#endif							/* CUCKOO_H */
