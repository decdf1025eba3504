/*-------------------------------------------------------------------------
 *
 * state.h
 *	  What the aggregates share: their rows and their states.
 *
 * A state is a value of the type, because planners that split aggregates
 * between servers send states with the type's own functions.  It is flat, an
 * ordinary varlena, as long as it is small: with an expanded object per group,
 * hash aggregation would take quadratic time.  A large state is an expanded
 * object.
 *
 * This follows the rules of the executor (nodeAgg.c, nodeWindowAgg.c).  A new
 * flat state is returned in the current context.  The executor copies it into
 * the aggregate's context and frees the old one.  It adopts an expanded state
 * if the state's context is a child of the aggregate's.  If the same pointer
 * is returned, it does nothing.  Final functions may be called several times.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_STATE_H
#define CUCKOO_STATE_H

#include "compat.h"

#include "nodes/execnodes.h"
#include "utils/expandeddatum.h"

#include "call.h"

/* What large states begin with. */
typedef struct CuckooLarge
{
	ExpandedObjectHeader header;
	/* Makes the state's flat form, in the current context. */
	CuckooValue *(*make) (struct CuckooLarge *large);
	CuckooValue *made;			/* set between the two calls that flatten it */
} CuckooLarge;

/* A large state of this many bytes, zero after its beginning. */
extern CuckooLarge *CuckooLargeNew(Size bytes, CuckooValue *(*make) (CuckooLarge *large),
								   MemoryContext aggcontext);

extern const ExpandedObjectMethods CuckooLargeMethods;

/*
 * The large state that a function was given; NULL if the state is not large, or
 * was made by another function than make (NULL: any).
 */
static inline CuckooLarge *
CuckooGetLarge(Datum state, CuckooValue *(*make) (CuckooLarge *large))
{
	CuckooLarge *large;

	if (!VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(state)))
		return NULL;
	large = (CuckooLarge *) DatumGetEOHP(state);
	return large->header.eoh_methods == &CuckooLargeMethods &&
		(make == NULL || large->make == make) ? large : NULL;
}

extern MemoryContext CuckooFindAggContext(FunctionCallInfo fcinfo);

/*
 * The context of the calling aggregate; an error outside of an aggregate.  For
 * every row, the call of AggCheckCallContext would cost as much as the hash.
 */
static inline MemoryContext
CuckooAggContext(FunctionCallInfo fcinfo)
{
	if (likely(fcinfo->context != NULL && IsA(fcinfo->context, AggState)))
		return castNode(AggState, fcinfo->context)->curaggcontext->ecxt_per_tuple_memory;
	return CuckooFindAggContext(fcinfo);
}

/* What CuckooMatchHeaders calls for headers that differ */
extern void CuckooMatchDifferent(CuckooHeader *a, const CuckooHeader *b);

/*
 * Refuse a row or state b of an aggregate whose parameters or key type differ
 * from those of earlier ones, a.  The first key decides the key type.
 */
static inline void
CuckooMatchHeaders(CuckooHeader *a, const CuckooHeader *b)
{
	if (unlikely(a->kind.type != b->kind.type || a->kind.signature != b->kind.signature ||
				 a->fpr != b->fpr || a->capacity != b->capacity || a->seed != b->seed))
		CuckooMatchDifferent(a, b);
}

/* How keys are hashed, if the call does not know it yet */
extern CuckooHasher *CuckooFindRowHasher(FunctionCallInfo fcinfo, CuckooCall *call);

/* Check the arguments after the key if they are not those of the last row. */
static inline void
CuckooReadParameters(FunctionCallInfo fcinfo, CuckooCall *call)
{
	CuckooParameters given = CuckooGetParameters(fcinfo, 2, PG_NARGS() - 2);
	const CuckooParameters *last = &call->parameters;

	if (likely(call->has_row && last->has_capacity == given.has_capacity &&
			   last->capacity == given.capacity && last->fpr == given.fpr &&
			   last->seed == given.seed))
		return;
	call->row = CuckooCheckParameters(&given);
	call->parameters = given;
	call->has_row = true;
}

/*
 * Read a row (state, key [, capacity [, fpr [, seed]]]): its parameters, key type
 * (NONE if its key is NULL), and hash.  Inline: with a call, cuckoo_agg takes 9 %
 * more instructions per row.
 */
static inline const CuckooHeader *
CuckooReadRow(FunctionCallInfo fcinfo, uint64 *hash)
{
	CuckooCall *call = (CuckooCall *) fcinfo->flinfo->fn_extra;
	CuckooHasher *hasher;

	if (unlikely(call == NULL))
		call = CuckooGetCall(fcinfo);
	if (PG_NARGS() > 2 || unlikely(!call->has_row))
		CuckooReadParameters(fcinfo, call);
	if (PG_ARGISNULL(1))
	{
		call->row.kind = (CuckooKeyKind) {CUCKOO_KEY_NONE, 0};
		return &call->row;
	}
	hasher = likely(call->has_hasher) ? &call->hasher : CuckooFindRowHasher(fcinfo, call);
	*hash = CuckooKeyHash(hasher, PG_GETARG_DATUM(1), call->row.seed);
	call->row.kind = hasher->kind;
	return &call->row;
}

/*
 * A value as it can leave the server: a list of cuckoo_agg becomes a partial
 * state, anything else stays what it is (agg_keys.c).
 */
extern CuckooValue *CuckooSendableValue(CuckooValue *value);

#endif							/* CUCKOO_STATE_H */
