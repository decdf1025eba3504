/*-------------------------------------------------------------------------
 *
 * call.h
 *	  What the SQL functions share: the handling of arguments, and of the
 *	  states of aggregates.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_CALL_H
#define CUCKOO_CALL_H

#include "compat.h"

#include "nodes/execnodes.h"
#include "utils/array.h"
#include "utils/expandeddatum.h"

#include "core/hash.h"
#include "key.h"
#include "value.h"

/*
 * What a function keeps from call to call (in fn_extra): how its key argument
 * is hashed; and in aggregates, the parameters and key type of the last row.
 */
typedef struct CuckooCall
{
	bool		has_key;
	bool		has_row;
	bool		has_capacity;
	bool		warned;			/* of the rate of a result */
	double		capacity;		/* of the last row, as given */
	CuckooHeader row;
	CuckooKey	key;
} CuckooCall;

extern CuckooCall *CuckooGetCall(FunctionCallInfo fcinfo);

/* How the values of a polymorphic argument, or the elements of an array, are hashed */
extern CuckooKey *CuckooFindKey(FunctionCallInfo fcinfo, int argument, bool elements);

/* The same for the values, with the usual case inline. */
static inline CuckooKey *
CuckooGetKey(FunctionCallInfo fcinfo, int argument)
{
	CuckooCall *call = (CuckooCall *) fcinfo->flinfo->fn_extra;

	return call != NULL && call->has_key ? &call->key : CuckooFindKey(fcinfo, argument, false);
}

extern double CuckooCheckFpr(double fpr);

/*
 * The capacity in keys, rounded up, from an SQL argument that is not NULL.
 * That is float8, so that users can write 1e6 and 1.1 * count(*).  A capacity
 * below 1 is refused: somebody wrote the rate first.
 */
extern uint64 CuckooCheckCapacity(double capacity);

/* Refuse a capacity whose table would be too large. */
extern void CuckooCheckSize(double fpr, uint64 capacity);

typedef struct CuckooElements
{
	int			count;			/* NULLs among them */
	bool	   *nulls;
	uint64	   *hashes;			/* 0 for a NULL */
} CuckooElements;

/*
 * Hash the elements of an array argument, whose key type must be that of the
 * filter, and the same for all.  An array without any may be of another type:
 * drivers send an empty list as text[].  Returns how many are not NULL.
 */
extern int	CuckooGetElements(FunctionCallInfo fcinfo, int argument, ArrayType *array,
							  const CuckooFilter *filter, CuckooElements *elements);

extern void CuckooDropNulls(CuckooElements *elements);

/*
 * The hash of a key argument for a filter, whose key type must be the same.
 * The value is hashed first, because a record has its own key types.
 */
static inline uint64
CuckooArgumentHash(CuckooKey *key, Datum value, const CuckooFilter *filter)
{
	/* Integers, the most frequent keys, are hashed without a function call. */
	uint64		hash = key->key_type == CUCKOO_KEY_INTEGER ?
		CuckooHashInt64(CuckooIntegerValue(key->type, value), filter->seed) :
		CuckooKeyHash(key, value, filter->seed);

	CuckooMatchKeyType(filter->key_type, filter->signature, key);
	return hash;
}

/* The first argument as it is, a filter or state, which may be NULL. */
extern Datum CuckooUnchanged(FunctionCallInfo fcinfo);

/*
 * Aggregates
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
 */

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
 * The large state that a function was given; NULL if it is not of this make, or
 * with NULL, of any.
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

static inline Datum
CuckooLargeDatum(const CuckooLarge *large)
{
	return EOHPGetRWDatum(&large->header);
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

/*
 * Refuse a row or state b of an aggregate whose parameters or key type differ from
 * those of earlier ones, a.  The first key decides the key type; true if that
 * changes a.
 */
extern bool CuckooMatchHeaders(CuckooHeader *a, const CuckooHeader *b);

#endif							/* CUCKOO_CALL_H */
