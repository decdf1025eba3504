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
#include "cuckoo.h"

extern struct varlena *CuckooCombine(CuckooOperation operation,
									 struct varlena *left_value,
									 struct varlena *right_value);
extern struct varlena *CuckooCombineState(CuckooOperation operation,
										  struct varlena *state,
										  struct varlena *value);

#endif							/* CUCKOO_SETOPS_H */
