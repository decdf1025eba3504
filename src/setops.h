/*-------------------------------------------------------------------------
 *
 * setops.h
 *	  Combining values, for aggregates that combine their states.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_SETOPS_H
#define CUCKOO_SETOPS_H

#include "core/combine.h"
#include "value.h"

/*
 * The union, or union all, of two filters.  If one is unset, this is the other
 * itself.
 */
extern CuckooValue *CuckooCombineValues(CuckooOperation operation, CuckooValue *left,
										CuckooValue *right);

/*
 * Warn, once per call site, if the expected rate of an aggregate's result is
 * more than ten times the target rate.
 */
extern void CuckooWarnOfRate(FunctionCallInfo fcinfo, CuckooValue *value);

#endif							/* CUCKOO_SETOPS_H */
