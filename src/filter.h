/*-------------------------------------------------------------------------
 *
 * filter.h
 *	  A filter of any body: asking, adding, removing, growing.
 *
 * What must hold across several tables lives here:
 *
 * - A class has at most eight copies in one table, and the eighth sticks: it
 *	 may stand for more, so it is never taken out.  By table, not by the sum:
 *	 deciding by the sum loses keys.
 *
 * - A copy is taken out only where exactly one table holds the class.  With
 *	 two, one of them may hold another key's equal fingerprint, and taking that
 *	 one out would lose the other key.
 *
 * - What a stash seems to hold counts as stuck: it is neither added again nor
 *	 taken out.
 *
 * All copies of a key stand in the two buckets of its class, so keys with five
 * and more crowd a table long before it is full, and further tables as well.
 * Such a table gets a stash: a table of the same shape, and so of the same
 * classes, in which one entry says what eight copies say in the other.  Classes
 * with eight copies move there, and nothing is lost by it; where those with five
 * to seven still leave a key no room, one of them does, or the key itself, and
 * then sticks as well.  (The stash of A. Kirsch, M. D. Mitzenmacher, U. Wieder:
 * "More Robust Hashing: Cuckoo Hashing with a Stash", ESA 2008, as a table.)
 *
 * This file is part of the core and needs nothing of PostgreSQL.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_FILTER_H
#define CUCKOO_FILTER_H

#include "format.h"

typedef enum CuckooGrowth
{
	CUCKOO_GROWTH_PLANNED,
	CUCKOO_GROWTH_NO_TABLE,		/* there are sixteen already */
	CUCKOO_GROWTH_TOO_LARGE,	/* more than CUCKOO_MAX_BYTES */
	CUCKOO_GROWTH_IN_VAIN		/* the same, but the last and its stash hold
								 * little: the hashes were made to collide */
} CuckooGrowth;

/* An empty filter, a list, with these parameters. */
extern void CuckooFilterInit(CuckooFilter *filter, double fpr, uint64_t capacity,
							 uint64_t seed, CuckooLayout layout);

/* Whether the filter may hold the key; never false for one it does. */
extern bool CuckooFilterContains(const CuckooFilter *filter, uint64_t hash);

/*
 * Begin to load what a question about the key will read, or an addition: for
 * keys that come in batches.
 */
extern void CuckooFilterPrefetch(const CuckooFilter *filter, uint64_t hash);

/* Keys ahead of the one being asked for that are worth loading. */
#define CUCKOO_PREFETCH_KEYS	16

/* Keys that a table is for: a stash for fewer than another of its shape. */
extern uint64_t CuckooTableCapacity(const CuckooFilter *filter, int i);

/*
 * Copies of the key: the sum over the tables, but 8 at most; 8 where it is in a
 * stash.
 */
extern int	CuckooFilterCount(const CuckooFilter *filter, uint64_t hash);

/*
 * The probability that the filter seems to hold a key that it does not, as it
 * is filled now: 1 - the product over its tables of 1 - CuckooTableRate; for a
 * list, items / 2^64.
 */
extern double CuckooFilterRate(const CuckooFilter *filter);

/*
 * Add one copy of a key.  CUCKOO_FULL, and nothing changed, where the filter
 * has to grow first.  A list must have memory for CuckooListLimit hashes.
 * Fields of the filter change, not the header in its bytes: see
 * CuckooWriteHeader.
 */
extern CuckooInsertResult CuckooFilterAdd(CuckooFilter *filter, uint64_t hash);

/* Take one copy of a key out, where that is safe.  As for adding. */
extern CuckooRemoveResult CuckooFilterRemove(CuckooFilter *filter, uint64_t hash);

/*
 * What the filter becomes when it grows: a list an empty table; tables one more,
 * which is a stash where the last one is crowded.  *grown gets the header fields
 * and the shapes.
 */
extern CuckooGrowth CuckooPlanGrowth(const CuckooFilter *filter,
									 CuckooFilter *grown);

/*
 * Carry tables over into what was planned, and what sticks in the last one into
 * its stash, if that is new; bytes are CuckooBytes(grown) zero bytes.  The
 * hashes of a list are left to be added, since they may make the filter grow
 * further: CuckooFilterAdd, from the first to the last.
 */
extern void CuckooGrow(const CuckooFilter *filter, CuckooFilter *grown,
					   uint8_t *bytes, CuckooPause pause);

/* The position of the first hash of a list that is not less than this one. */
extern uint64_t CuckooListFind(const CuckooFilter *filter, uint64_t hash);

#endif							/* CUCKOO_FILTER_H */
