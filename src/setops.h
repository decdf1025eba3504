/*-------------------------------------------------------------------------
 *
 * setops.h
 *	  Combining values, for the aggregates that do so with their states.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_SETOPS_H
#define CUCKOO_SETOPS_H

#include "combine.h"
#include "value.h"

/*
 * The union or merge of two filters; one of them itself if the other is unset.
 */
extern CuckooValue *CuckooCombineValues(CuckooOperation operation, CuckooValue *left,
										CuckooValue *right);

/*
 * Warn, once per call site, of the result of an aggregate whose expected rate
 * is more than ten times the target rate.
 */
extern void CuckooWarnOfRate(FunctionCallInfo fcinfo, CuckooValue *value);

#endif							/* CUCKOO_SETOPS_H */
