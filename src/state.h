/*-------------------------------------------------------------------------
 *
 * state.h
 *	  The states of aggregates.
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

#include "value.h"

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
 * Refuse a row or state b of an aggregate whose parameters or key type differ
 * from those of earlier ones, a.  The first key decides the key type.
 */
extern void CuckooMatchHeaders(CuckooHeader *a, const CuckooHeader *b);

/*
 * The flat state of cuckoo_agg: a list of hashes in a varlena, so that the
 * executor can copy it.  Its second byte is the content, as in the format.
 * Everything else is laid out by the C compiler.
 */
typedef struct CuckooFlat
{
	int32		vl_len_;
	uint8		version;
	uint8		content;		/* CUCKOO_LIST */
	uint32		room;			/* for hashes */
	CuckooHeader header;		/* items: hashes, perhaps repeated */
	uint64		hashes[FLEXIBLE_ARRAY_MEMBER];
} CuckooFlat;

/* From 8 to 128 k hashes, 1 MB */
#define CUCKOO_FLAT_MIN_ROOM	8
#define CUCKOO_FLAT_MAX_ROOM	(128 * 1024)

/* The version of the layout in memory, not of the format */
#define CUCKOO_FLAT_VERSION	1

/*
 * Whether a list is safe to read and to add to.  A user's own aggregate can
 * store one and pass it on later, perhaps under another release.  This is
 * checked for every row; compared with hashing its key, it costs nothing.
 */
static inline bool
CuckooFlatIsSafe(const CuckooFlat *flat)
{
	return flat->content == CUCKOO_LIST &&
		VARSIZE(flat) >= offsetof(CuckooFlat, hashes) &&
		flat->version == CUCKOO_FLAT_VERSION &&
		flat->room >= CUCKOO_FLAT_MIN_ROOM && flat->room <= CUCKOO_FLAT_MAX_ROOM &&
		flat->header.items <= flat->room &&
		VARSIZE(flat) == offsetof(CuckooFlat, hashes) + flat->room * sizeof(uint64);
}

/* An empty list with the parameters of a header */
extern CuckooFlat *CuckooFlatNew(const CuckooHeader *header, uint32 room);

/* The distinct hashes of a list, sorted and palloc'd. */
extern CuckooRun CuckooFlatSorted(const CuckooFlat *flat);

/*
 * Check a state of cuckoo_agg completely, and return its parameters.  A list
 * must be aligned.
 */
extern CuckooHeader CuckooStateHeader(CuckooValue *value);

/* The partial state with the hashes of sorted runs, count in all */
extern CuckooValue *CuckooPartialValue(const CuckooHeader *header, const CuckooRun *runs,
									   uint64 run_count, uint64 count);

/*
 * A value as it can leave the server: a list becomes a partial state, anything
 * else stays what it is.
 */
extern CuckooValue *CuckooSendableValue(CuckooValue *value);

/*
 * Add a row, or another state, to the first argument: the state of an aggregate
 * that combines filters.  With match, parameters that differ are an error.
 */
extern Datum CuckooCombineState(FunctionCallInfo fcinfo, CuckooOperation operation, bool match);

#endif							/* CUCKOO_STATE_H */
