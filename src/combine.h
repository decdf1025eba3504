/*-------------------------------------------------------------------------
 *
 * combine.h
 *	  Union and merge of any number of filters.
 *
 * Tables of equal shape always become one, also past its capacity: union takes
 * the larger count of each class, merge the sum, up to eight.  Tables of
 * different shapes are kept side by side.  Every table of the result is built
 * from its sorted classes, so its bytes depend on nothing else: neither on the
 * order of the filters nor on their grouping.
 *
 * The classes of each shape are kept in sorted runs.  A run of twice the size
 * of the next is left alone, others are merged, so that each class is merged
 * as often as the number of classes has doubled.
 *
 * This file is part of the core and needs nothing of PostgreSQL.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_COMBINE_H
#define CUCKOO_COMBINE_H

#include "filter.h"

typedef enum CuckooOperation
{
	CUCKOO_UNION,
	CUCKOO_MERGE
} CuckooOperation;

/* Why filters cannot be combined. */
typedef enum CuckooConflict
{
	CUCKOO_NO_CONFLICT,
	CUCKOO_OTHER_SEED,
	CUCKOO_OTHER_KEY_TYPE,
	CUCKOO_TOO_MANY_TABLES,		/* of different shapes: more than sixteen */
	CUCKOO_TOO_MANY_ITEMS		/* for one filter */
} CuckooConflict;

/*
 * Runs have at least doubling sizes, and all together fewer than 2^37 classes,
 * what sixteen tables have.
 */
#define CUCKOO_MAX_RUNS		40

typedef struct CuckooClassRun
{
	CuckooClass *classes;		/* sorted, each code once */
	uint64_t	count;
} CuckooClassRun;

/* The classes of one shape. */
typedef struct CuckooPool
{
	CuckooShape shape;
	int			run_count;
	CuckooClassRun runs[CUCKOO_MAX_RUNS];
} CuckooPool;

typedef struct CuckooCombination
{
	CuckooOperation operation;
	CuckooFilter header;		/* of the result; its tables mean nothing */
	uint64_t	classes;		/* kept in all runs: 8 bytes each */
	int			pool_count;
	CuckooPool *pools[CUCKOO_MAX_TABLES];	/* in the order of shapes */
} CuckooCombination;

/*
 * The header fields of the result of two filters: the smaller target rate, the
 * larger capacity, and whether keys can be removed from it.  An unset one has
 * no say.
 */
extern CuckooConflict CuckooCombineHeaders(CuckooOperation operation,
										   const CuckooFilter *left,
										   const CuckooFilter *right,
										   CuckooFilter *header);

/*
 * Whether two filters can be combined, as far as their headers tell: false,
 * too, if the items of both together might not fit.
 */
extern bool CuckooMergeable(const CuckooFilter *left, const CuckooFilter *right);

extern void CuckooCombinationInit(CuckooCombination *combination,
								  CuckooOperation operation);

/* Add a filter.  After a conflict the combination is as it was. */
extern CuckooConflict CuckooCombinationAdd(CuckooCombination *combination,
										   const CuckooFilter *filter,
										   const CuckooHost *host);

/*
 * Merge the runs of each shape into one.  CuckooCombinationMake does it, too:
 * this is for hosts with several kinds of memory.
 */
extern void CuckooCombinationCollapse(CuckooCombination *combination,
									  const CuckooHost *host);

/*
 * Make the filter of all that was added; NULL if it were too large.  More may
 * be added afterwards.
 */
extern uint8_t *CuckooCombinationMake(CuckooCombination *combination,
									  CuckooFilter *filter, const CuckooHost *host);

extern void CuckooCombinationRelease(CuckooCombination *combination,
									 const CuckooHost *host);

#endif							/* CUCKOO_COMBINE_H */
