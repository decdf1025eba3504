/*-------------------------------------------------------------------------
 *
 * overlap.h
 *	  What two filters have in common: their intersection, and how many keys are
 *	  in both.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_OVERLAP_H
#define CUCKOO_OVERLAP_H

#include "combine.h"

/*
 * The filter of the keys that two filters have in common, whatever their
 * shapes.  Sets *bytes to its bytes, NULL if they would be too large.
 *
 * A class stands for the keys of a range of hashes, in every shape.  Items
 * are kept if their range overlaps that of an item of the other filter.  They
 * are those of the filter with the smaller expected rate, as if both were
 * removable (the first, if they are equal), with its shapes and parameters.  In
 * tables of one shape, these are the items of equal classes.  No key of both
 * filters is lost: its hash is in both ranges.  A class keeps as many copies
 * as overlap it, and not more than it has.
 */
extern CuckooConflict CuckooIntersect(const CuckooFilter *left, const CuckooFilter *right,
									  CuckooFilter *filter, uint8_t **bytes);

/*
 * Estimate how many distinct keys two filters have in common, whatever their
 * shapes, and the standard error of that.  Unlike CuckooIntersect, this leaves
 * out what the rates let expect by chance.  It cannot do so for the false
 * positives in a result of CuckooIntersect, which count as keys.  A key counts
 * once, however many copies and tables it is in.  The error is INFINITY if the
 * filters are so full that nothing is known.
 */
extern CuckooConflict CuckooCommon(const CuckooFilter *left, const CuckooFilter *right,
								   double *keys, double *error);

/*
 * Whether several tables of a filter can have items of the same key, as those of a
 * union of filters of different shapes have.
 */
static inline bool
CuckooItemsMayRepeat(const CuckooFilter *filter)
{
	return filter->header.table_count > 1 && (filter->header.flags & CUCKOO_FLAG_NOT_REMOVABLE);
}

/*
 * The number of items; if they may repeat, an estimate in which the items of a key
 * count in one table only.  In random unions its relative error was at most the
 * expected rate.
 */
extern uint64_t CuckooDistinctItems(const CuckooFilter *filter);

#endif							/* CUCKOO_OVERLAP_H */
