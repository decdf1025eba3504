/*-------------------------------------------------------------------------
 *
 * aggstate.h
 *	  The state of cuckoo_agg: the set of hashes seen so far.
 *
 * It takes one of three forms, all of them values of the type, because
 * planners that split aggregates between servers send states around by the
 * type's own functions:
 *
 * flat		A hash set in a varlena (body "state"), changed in place.  Nothing
 *			is cheaper for the many small groups of a hash aggregation, where
 *			an expanded object a group would be quadratic in groups.
 *
 * large	From 1 MB on: an expanded object, hashes in the order they came, in
 *			256 parts by their first byte.  A hash set of that size would cost
 *			a cache miss a row, and doubling it a copy.  Repetitions are
 *			dropped by sorting a part, which fits in the processor's cache,
 *			when enough have come to make it worth while.
 *
 * partial	Sorted distinct hashes in portable bytes: what the other two become
 *			where a state leaves its process.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_AGGSTATE_H
#define CUCKOO_AGGSTATE_H

#include "compat.h"

#include "utils/expandeddatum.h"

#include "cuckoo.h"

/* What all rows of an aggregate must agree on. */
typedef struct CuckooParameters
{
	double		fpr;
	uint64		capacity;		/* keys; 0: none stated */
	uint8		kind;			/* CuckooKind */
	uint8		element_kind;
} CuckooParameters;

/*
 * The flat form: a varlena like all values of the type, so that the executor
 * can copy it.  Its second byte is where the format has the body; all else
 * follows the C compiler's rules.
 */
typedef struct CuckooFlatState
{
	int32		vl_len_;
	uint8		version;
	uint8		body;			/* CUCKOO_STATE */
	bool		has_zero;		/* hash 0, which marks an empty slot */
	uint32		used;			/* slots filled */
	uint32		slots;			/* a power of two */
	CuckooParameters parameters;
	uint64		slot[FLEXIBLE_ARRAY_MEMBER];
} CuckooFlatState;

typedef struct CuckooLargeState CuckooLargeState;

/* A state in either working form. */
typedef struct CuckooState
{
	CuckooFlatState *flat;		/* one of the two, the other NULL */
	CuckooLargeState *large;
} CuckooState;

extern void CuckooStateInit(CuckooState *state, const CuckooParameters *parameters);
extern void CuckooStateOpen(CuckooState *state, Datum value, MemoryContext aggcontext);
extern const CuckooParameters *CuckooStateParameters(const CuckooState *state);
extern void CuckooMatchParameters(const CuckooParameters *a, const CuckooParameters *b);
extern void CuckooStateAdd(CuckooState *state, uint64 hash, MemoryContext aggcontext);
extern void CuckooStateAddAll(CuckooState *state, struct varlena *other,
							  MemoryContext aggcontext);
extern CuckooParameters CuckooValueParameters(struct varlena *value);
extern Datum CuckooStateDatum(const CuckooState *state);
extern struct varlena *CuckooStateBuild(CuckooState *state);

#endif							/* CUCKOO_AGGSTATE_H */
