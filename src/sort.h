/*-------------------------------------------------------------------------
 *
 * sort.h
 *	  Sorting hashes and codes.
 *
 * This file is part of the core and needs nothing of PostgreSQL.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_SORT_H
#define CUCKOO_SORT_H

#include "port.h"

/*
 * Sort numbers in ascending order; scratch has room for as many.  This is a
 * radix sort, for hashes that are evenly spread; if they are not, it is still
 * linear.
 */
extern void CuckooSort(uint64_t *numbers, uint64_t *scratch, size_t count);

/* Drop repetitions from sorted numbers; returns how many are left. */
extern size_t CuckooUnique(uint64_t *numbers, size_t count);

#endif							/* CUCKOO_SORT_H */
