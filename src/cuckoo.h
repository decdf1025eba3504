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

#define CUCKOO_DEFAULT_FPR	0.001

/*
 * What a function keeps from call to call (in fn_extra): how its key argument
 * is hashed.
 */
typedef struct CuckooCall
{
	bool		has_key;
	CuckooKey	key;
} CuckooCall;

/* A filter being changed: a copy, writable, with the room a list needs. */
typedef struct CuckooDraft
{
	struct varlena *value;
	CuckooFilter filter;
} CuckooDraft;

/* cuckoo.c: arguments and messages */
extern CuckooCall *CuckooGetCall(FunctionCallInfo fcinfo);
extern CuckooKey *CuckooGetKey(FunctionCallInfo fcinfo, int argument);
extern CuckooKey *CuckooGetElementKey(FunctionCallInfo fcinfo, int argument);
extern void CuckooMatchKind(const CuckooFilter *filter, const CuckooKey *key);
extern double CuckooCheckFpr(double fpr);
extern uint64 CuckooCheckCapacity(double capacity);
extern void CuckooReportTooLarge(uint64 keys, double fpr) pg_attribute_noreturn();
extern void CuckooPauseForInterrupts(void);
extern int	CuckooArrayHashes(FunctionCallInfo fcinfo, int argument,
							  uint64 seed, uint64 **hashes);

/* value.c: values of the type */
extern struct varlena *CuckooNewValue(size_t bytes);
extern struct varlena *CuckooUnsetValue(void);
extern uint8 *CuckooValueBytes(struct varlena *value);
extern struct varlena *CuckooOpenArgument(FunctionCallInfo fcinfo, int argument,
										  CuckooFilter *filter);
extern void CuckooDraftOpen(CuckooDraft *draft, Datum value);
extern void CuckooDraftInit(CuckooDraft *draft, const CuckooFilter *filter);
extern void CuckooDraftSet(CuckooDraft *draft, const CuckooKey *key);
extern CuckooInsertResult CuckooDraftAdd(CuckooDraft *draft, uint64 hash);
extern struct varlena *CuckooDraftFinish(CuckooDraft *draft);
extern struct varlena *CuckooBuildValue(const CuckooFilter *parameters,
										const uint64 *hashes, uint64 count);

/* agg.c: states of aggregates, for the output functions and cuckoo_info */
extern struct varlena *CuckooStateToPartial(struct varlena *value);

#endif							/* CUCKOO_H */
