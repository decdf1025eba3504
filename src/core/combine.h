/*-------------------------------------------------------------------------
 *
 * combine.h
 *	  Union and union all of any number of filters.
 *
 * Tables of equal shape always become one, even beyond its capacity.  Of each
 * class, union takes the larger number of copies, and union all the sum, up to
 * eight.  Tables of different shapes are kept side by side.
 *
 * If only one of the tables of a shape has items, and a build would choose its
 * representation, the result has its bytes.  Otherwise it is built from the
 * sorted codes of all of them.  Its bytes depend on nothing else: neither on the
 * order of the filters nor on their grouping.
 *
 * The codes of each shape are kept in sorted runs.  A run less than twice as
 * large as the next is merged with it, so a code is merged only when the number
 * of codes doubles.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_COMBINE_H
#define CUCKOO_COMBINE_H

#include "filter.h"

typedef enum CuckooOperation
{
	CUCKOO_UNION,
	CUCKOO_UNION_ALL
} CuckooOperation;

typedef enum CuckooConflict
{
	CUCKOO_NO_CONFLICT,
	CUCKOO_OTHER_SEED,
	CUCKOO_OTHER_KEY_TYPE,
	CUCKOO_TOO_MANY_TABLES		/* of different shapes: more than sixteen */
} CuckooConflict;

/* Runs double, so this many would need 4 TB. */
#define CUCKOO_MAX_RUNS		40

/* The tables of one shape. */
typedef struct CuckooPool
{
	CuckooShape shape;
	CuckooTable only;			/* a copy of the only table, if it has data */
	int			run_count;
	CuckooList	runs[CUCKOO_MAX_RUNS];	/* of the codes of several tables; if
										 * there are none, the first is empty */
} CuckooPool;

typedef struct CuckooCombination
{
	CuckooOperation operation;
	CuckooHeader header;		/* of the result; its table_count is not set */
	int			pool_count;
	CuckooPool *pools[CUCKOO_MAX_TABLES];	/* in the order of shapes */
} CuckooCombination;

/*
 * The header fields of the result of two filters: the smaller target rate, the
 * larger capacity, and whether keys can be removed from it.  An unset filter
 * contributes nothing.
 */
extern CuckooConflict CuckooCombineHeaders(CuckooOperation operation,
										   const CuckooHeader *left,
										   const CuckooHeader *right,
										   CuckooHeader *header);

extern void CuckooCombinationInit(CuckooCombination *combination, CuckooOperation operation);

/* Add a filter.  A conflict leaves the combination as it was. */
extern CuckooConflict CuckooCombinationAdd(CuckooCombination *combination,
										   const CuckooFilter *filter);

/*
 * Merge the runs of each shape into one.  CuckooCombinationMake does this,
 * too; call it before if the merged runs and the new filter belong in
 * different memory.
 */
extern void CuckooCombinationCollapse(CuckooCombination *combination);

/* The filter of all that was added so far; NULL if it would be too large. */
extern uint8_t *CuckooCombinationMake(CuckooCombination *combination, CuckooFilter *filter);

extern void CuckooCombinationRelease(CuckooCombination *combination);

#endif							/* CUCKOO_COMBINE_H */
