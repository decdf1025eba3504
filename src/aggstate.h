/*-------------------------------------------------------------------------
 *
 * aggstate.h
 *	  The state of cuckoo_agg: the set of hashes seen so far.
 *
 * It has one of three forms.  All of them are values of the type, because
 * planners that split aggregates between servers send states with the type's
 * own functions:
 *
 * flat		A hash set in a varlena (content "state"), changed in place.  This
 *			is the cheapest form for the many small groups of a hash
 *			aggregation, in which an expanded object per group would take
 *			quadratic time.
 *
 * large	From 1 MB on: an expanded object with the hashes in the order they
 *			came, in 256 parts by their first byte.  A hash set of that size
 *			would cost a cache miss per row, and a copy whenever it doubles.
 *			Repetitions are dropped by sorting a part, which fits in the
 *			processor's cache, when it has enough hashes to make that
 *			worthwhile.
 *
 * partial	Sorted distinct hashes in portable bytes.  The other two become
 *			this when a state leaves its process.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_AGGSTATE_H
#define CUCKOO_AGGSTATE_H

#include "compat.h"

#include "nodes/execnodes.h"
#include "utils/expandeddatum.h"

#include "core/hash.h"
#include "cuckoo.h"

/* What all rows of an aggregate must agree on. */
typedef struct CuckooParameters
{
	double		fpr;
	uint64		capacity;		/* keys; 0: none specified */
	uint64		seed;
	uint32		signature;
	uint8		key_type;		/* CuckooKeyType; NONE: no key yet */
} CuckooParameters;

/*
 * The flat form: a varlena like all values of the type, so that the executor
 * can copy it.  Its second byte is the content, as in the format.  Everything
 * else is laid out by the C compiler.
 */
typedef struct CuckooFlatState
{
	int32		vl_len_;
	uint8		version;
	uint8		content;		/* CUCKOO_STATE */
	uint8		has_zero;		/* hash 0, which marks an empty slot */
	uint32		used;			/* slots filled */
	uint32		slots;			/* a power of two */
	CuckooParameters parameters;
	uint64		slot[FLEXIBLE_ARRAY_MEMBER];
} CuckooFlatState;

/*
 * Parts of a large state, by the first byte of the hash: few enough that the
 * ends being written to stay in the first-level cache, and enough that a part
 * of 10M keys (40,000 hashes) is sorted in the second-level cache.
 */
#define CUCKOO_PARTS		256
#define CUCKOO_PART_OF(hash) ((hash) >> 56)

/* The part of the large form that adding a hash needs most of the time. */
typedef struct CuckooLargeState
{
	ExpandedObjectHeader header;
	CuckooParameters parameters;
	uint64	   *next[CUCKOO_PARTS]; /* where the next hash of a part goes */
	uint64	   *end[CUCKOO_PARTS];	/* where the room of the part ends */
} CuckooLargeState;

/* A state in either working form. */
typedef struct CuckooState
{
	CuckooFlatState *flat;		/* one of the two, the other NULL */
	CuckooLargeState *large;
} CuckooState;

extern void CuckooStateInit(CuckooState *state, const CuckooParameters *parameters);
extern void CuckooStateUnpack(CuckooState *state, Datum value, MemoryContext aggcontext);
extern bool CuckooMatchParameters(const CuckooParameters *a, const CuckooParameters *b);
extern void CuckooStateAdd(CuckooState *state, uint64 hash, MemoryContext aggcontext);
extern void CuckooStateAddAll(CuckooState *state, CuckooValue *other,
							  MemoryContext aggcontext);
extern CuckooParameters CuckooValueParameters(CuckooValue *value);
extern CuckooValue *CuckooStateBuild(CuckooState *state);
extern CuckooValue *CuckooStateToPartial(CuckooValue *value);

/* Slots of a flat state: from 8 to 128 k, 1 MB. */
#define CUCKOO_MIN_SLOTS	8
#define CUCKOO_MAX_SLOTS	(128 * 1024)

/* The version of CuckooFlatState's layout in memory, not of the format. */
#define CUCKOO_FLAT_VERSION	1

/*
 * Whether a flat state is safe to read and to add to.  A user's own aggregate
 * can store one and pass it on later, perhaps under another release.  This is
 * checked for every row; compared with hashing its key, it costs nothing.
 */
static inline bool
CuckooFlatIsSafe(const CuckooFlatState *flat)
{
	return VARSIZE(flat) >= offsetof(CuckooFlatState, slot) &&
		flat->version == CUCKOO_FLAT_VERSION &&
		flat->slots >= CUCKOO_MIN_SLOTS && flat->slots <= CUCKOO_MAX_SLOTS &&
		(flat->slots & (flat->slots - 1)) == 0 &&
		VARSIZE(flat) == offsetof(CuckooFlatState, slot) + flat->slots * sizeof(uint64);
}

/*
 * The expanded object that an aggregate's function was given as its state.
 * NULL if the state is not expanded, or belongs to another aggregate.
 */
static inline ExpandedObjectHeader *
CuckooExpandedState(Datum state, const ExpandedObjectMethods *methods)
{
	ExpandedObjectHeader *header;

	if (!VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(state)))
		return NULL;
	header = DatumGetEOHP(state);
	return header->eoh_methods == methods ? header : NULL;
}

/* The methods of the large form, which identify it. */
extern const ExpandedObjectMethods CuckooLargeMethods;

/* Open the state that an aggregate's function was given. */
static inline void
CuckooStateOpen(CuckooState *state, Datum value, MemoryContext aggcontext)
{
	struct varlena *pointer = (struct varlena *) DatumGetPointer(value);

	state->flat = NULL;
	state->large = (CuckooLargeState *) CuckooExpandedState(value, &CuckooLargeMethods);
	if (state->large != NULL)
		return;
	if (!VARATT_IS_EXTENDED(pointer) &&
		((CuckooFlatState *) pointer)->content == CUCKOO_STATE &&
		likely(CuckooFlatIsSafe((CuckooFlatState *) pointer)))
		state->flat = (CuckooFlatState *) pointer;
	else
		CuckooStateUnpack(state, value, aggcontext);
}

/*
 * What to return to the executor: the pointer that it passed, if the state has
 * not moved.
 */
static inline Datum
CuckooStateDatum(const CuckooState *state)
{
	if (state->large != NULL)
		return EOHPGetRWDatum(&state->large->header);
	return PointerGetDatum(state->flat);
}

static inline const CuckooParameters *
CuckooStateParameters(const CuckooState *state)
{
	return state->large != NULL ? &state->large->parameters : &state->flat->parameters;
}

/* Give a state without keys the key type of its first key. */
static inline void
CuckooStateSetKeyType(CuckooState *state, const CuckooParameters *parameters)
{
	CuckooParameters *own = state->large != NULL ?
		&state->large->parameters : &state->flat->parameters;

	own->key_type = parameters->key_type;
	own->signature = parameters->signature;
}

/* The parameters in a filter's header, and a header with given parameters. */
static inline CuckooParameters
CuckooHeaderParameters(const CuckooFilter *filter)
{
	CuckooParameters parameters;

	parameters.fpr = filter->fpr;
	parameters.capacity = filter->capacity;
	parameters.seed = filter->seed;
	parameters.signature = filter->signature;
	parameters.key_type = filter->key_type;
	return parameters;
}

static inline void
CuckooParametersHeader(const CuckooParameters *parameters, CuckooFilter *filter)
{
	CuckooFilterInit(filter, parameters->fpr, parameters->capacity, parameters->seed);
	filter->signature = parameters->signature;
	filter->key_type = parameters->key_type;
}

/*
 * The parameters of an aggregate's row, the arguments after its key: (capacity
 * [, fpr [, seed]]).  One that is NULL or left out has its default.
 */
static inline CuckooParameters
CuckooArgumentParameters(FunctionCallInfo fcinfo)
{
	CuckooParameters parameters;

	parameters.fpr = CUCKOO_DEFAULT_FPR;
	parameters.capacity = 0;
	parameters.seed = 0;
	parameters.signature = 0;
	parameters.key_type = CUCKOO_KEY_NONE;
	if (PG_NARGS() > 2 && !PG_ARGISNULL(2))
		parameters.capacity = CuckooCheckCapacity(PG_GETARG_FLOAT8(2));
	if (PG_NARGS() > 3 && !PG_ARGISNULL(3))
		parameters.fpr = CuckooCheckFpr(PG_GETARG_FLOAT8(3));
	if (PG_NARGS() > 4 && !PG_ARGISNULL(4))
		parameters.seed = (uint64) PG_GETARG_INT64(4);
	return parameters;
}

static inline bool
CuckooSameParameters(const CuckooParameters *a, const CuckooParameters *b)
{
	return a->key_type == b->key_type && a->signature == b->signature &&
		a->fpr == b->fpr && a->capacity == b->capacity && a->seed == b->seed;
}

/* Where the search for a hash in a flat state begins. */
static inline uint32
CuckooFlatSlot(const CuckooFlatState *flat, uint64 hash)
{
	return (uint32) (hash ^ hash >> 32) & (flat->slots - 1);
}

/*
 * Add a hash the quick way, which suffices for most rows: a flat state has the
 * hash in the first slot that is tried, or a large state has room for it.  If
 * this returns false, use CuckooStateAdd.
 */
static inline bool
CuckooStateAddQuickly(const CuckooState *state, uint64 hash)
{
	if (state->large != NULL)
	{
		int			part = (int) CUCKOO_PART_OF(hash);
		uint64	   *next = state->large->next[part];

		if (next == state->large->end[part])
			return false;
		*next = hash;
		state->large->next[part] = next + 1;
		return true;
	}
	return hash != 0 && state->flat->slot[CuckooFlatSlot(state->flat, hash)] == hash;
}

/* agg.c: what all aggregates do with their arguments */
extern MemoryContext CuckooFindAggContext(FunctionCallInfo fcinfo);
extern void CuckooFindForeignKey(FunctionCallInfo fcinfo, CuckooKey *key);
extern void CuckooCheckRelabelled(FunctionCallInfo fcinfo);
extern Datum CuckooSameState(FunctionCallInfo fcinfo);

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
 * The hash of a row's key, which is not NULL.  Its key type is added to the
 * row's parameters.
 */
static inline uint64
CuckooTransitionHash(FunctionCallInfo fcinfo, CuckooParameters *parameters)
{
	Datum		value = PG_GETARG_DATUM(1);
	CuckooKey	foreign;
	CuckooKey  *key = &foreign;
	uint64		hash;

	if (likely(fcinfo->flinfo->fn_expr != NULL))
		key = CuckooGetKey(fcinfo, 1);
	else
		CuckooFindForeignKey(fcinfo, &foreign);

	/* The hash of an integer costs less than the calls. */
	if (key->key_type == CUCKOO_KEY_INTEGER)
	{
		parameters->key_type = CUCKOO_KEY_INTEGER;
		return CuckooHashInt64(CuckooIntegerValue(key->type, value), parameters->seed);
	}
	hash = CuckooKeyHash(key, value, parameters->seed);
	parameters->key_type = (uint8) key->key_type;
	parameters->signature = key->signature;
	return hash;
}

#endif							/* CUCKOO_AGGSTATE_H */
