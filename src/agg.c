/*-------------------------------------------------------------------------
 *
 * agg.c
 *	  The aggregate cuckoo_agg: a filter over the distinct keys of its input.
 *
 * The state is the set of hashes seen so far.  It takes one of three forms,
 * all of them values of the type, because Citus and other planners that
 * split aggregates send states around by the type's own functions:
 *
 * flat		A hash set in a varlena (body "state"), changed in place.  Nothing
 *			is cheaper for the many small groups of a hash aggregation, where
 *			an expanded object a group would be quadratic in groups.
 *
 * large	From 1 MB on: an expanded object with chunks of hashes in the order
 *			they came.  A hash set of that size would cost a cache miss a row,
 *			and doubling it a copy.  Repetitions are dropped by sorting, when
 *			enough have come to make it worth while.
 *
 * partial	Sorted distinct hashes in portable bytes: what the other two become
 *			where a state leaves its process.
 *
 * Rules of the executor that this follows (nodeAgg.c, nodeWindowAgg.c): a new
 * flat state is returned in the current context, to be copied into the
 * aggregate's, and the old one is freed by the executor; an expanded one is
 * adopted if its context is a child of the aggregate's; final functions may be
 * called several times and change nothing.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/primnodes.h"
#include "utils/expandeddatum.h"
#include "utils/memutils.h"

#include "build.h"
#include "cuckoo.h"

/*
 * Distinct keys an aggregate takes at most: sorting them takes 16 bytes each
 * beside the state's own 8.
 */
#define MAX_KEYS			UINT64CONST(120000000)

/* Slots of a flat state: from 8 to 128 k, 1 MB. */
#define MIN_SLOTS			8
#define MAX_SLOTS			(128 * 1024)

/*
 * The longest search in a flat state: far more than happens by chance at
 * three quarters full.  Keys that were made to collide turn it into a large
 * one early, whose cost does not depend on the keys.
 */
#define MAX_PROBES			256

/* Hashes a chunk of a large state: 512 kB. */
#define CHUNK_HASHES		(64 * 1024)

/* What all rows of an aggregate must agree on. */
typedef struct Parameters
{
	double		fpr;
	uint64		capacity;
	uint8		kind;
	uint8		element_kind;
} Parameters;

/*
 * The flat form: a varlena like all values of the type, so that the executor
 * can copy it; its content follows the C compiler's rules, not the format's.
 */
typedef struct FlatState
{
	int32		vl_len_;
	uint8		version;
	uint8		body;			/* CUCKOO_STATE */
	bool		has_zero;		/* hash 0, which marks an empty slot */
	uint32		used;			/* slots filled */
	uint32		slots;			/* a power of two */
	Parameters	parameters;
	uint64		slot[FLEXIBLE_ARRAY_MEMBER];
} FlatState;

/* The large form. */
typedef struct LargeState
{
	ExpandedObjectHeader header;
	Parameters	parameters;
	uint64		used;			/* hashes in all chunks */
	uint64		limit;			/* drop repetitions when there are so many */
	bool		sorted;			/* the chunks in turn are sorted and distinct */
	uint64	  **chunks;			/* all full but the last */
	uint32		chunk_count;	/* those with memory */
	uint32		chunk_room;		/* size of the array */
} LargeState;

static Size LargeFlatSize(ExpandedObjectHeader *header);
static void LargeFlatten(ExpandedObjectHeader *header, void *result, Size size);

static const ExpandedObjectMethods large_methods = {
	LargeFlatSize,
	LargeFlatten
};

/*
 * The flat form
 */

static inline size_t
FlatBytes(uint32 slots)
{
	return offsetof(FlatState, slot) + slots * sizeof(uint64);
}

static FlatState *
FlatNew(const Parameters *parameters, uint32 slots)
{
	FlatState  *state = palloc0(FlatBytes(slots));

	SET_VARSIZE(state, FlatBytes(slots));
	state->version = CUCKOO_VERSION;
	state->body = CUCKOO_STATE;
	state->slots = slots;
	state->parameters = *parameters;
	return state;
}

/* Where a state adds a hash; false when it must become larger first. */
static inline bool
FlatAdd(FlatState *state, uint64 hash)
{
	uint32		mask = state->slots - 1;
	uint32		at = (uint32) (hash ^ hash >> 32) & mask;

	if (hash == 0)
	{
		state->has_zero = true;
		return true;
	}
	for (int probe = 0; probe < MAX_PROBES; probe++)
	{
		if (state->slot[at] == hash)
			return true;
		if (state->slot[at] == 0)
		{
			/* Three quarters full at most. */
			if (state->used >= state->slots - state->slots / 4)
				return false;
			state->slot[at] = hash;
			state->used++;
			return true;
		}
		at = (at + 1) & mask;
	}
	return false;
}

/* Copy the distinct hashes of a flat state out, in no order. */
static uint64
FlatHashes(const FlatState *state, uint64 *hashes)
{
	uint64		count = 0;

	if (state->has_zero)
		hashes[count++] = 0;
	for (uint32 i = 0; i < state->slots; i++)
	{
		if (state->slot[i] != 0)
			hashes[count++] = state->slot[i];
	}
	return count;
}

static inline uint64
FlatCount(const FlatState *state)
{
	return (uint64) state->used + (state->has_zero ? 1 : 0);
}

/*
 * The large form
 */

static LargeState *
LargeNew(const Parameters *parameters, MemoryContext aggcontext)
{
	MemoryContext context = AllocSetContextCreate(aggcontext, "cuckoo_agg state",
												  ALLOCSET_START_SMALL_SIZES);
	LargeState *state = MemoryContextAllocZero(context, sizeof(LargeState));

	EOH_init_header(&state->header, &large_methods, context);
	state->parameters = *parameters;
	state->limit = 4 * MAX_SLOTS;
	state->chunk_room = 64;
	state->chunks = MemoryContextAlloc(context, state->chunk_room * sizeof(uint64 *));
	return state;
}

/* Copy all hashes of a large state out; with repetitions unless sorted. */
static void
LargeHashes(const LargeState *state, uint64 *hashes)
{
	for (uint64 i = 0; i < state->used; i += CHUNK_HASHES)
		memcpy(hashes + i, state->chunks[i / CHUNK_HASHES],
			   Min(state->used - i, CHUNK_HASHES) * sizeof(uint64));
}

/* Memory for hashes, which may be more than 1 GB. */
static uint64 *
AllocHashes(uint64 count)
{
	return MemoryContextAllocHuge(CurrentMemoryContext, Max(count, 1) * sizeof(uint64));
}

/* Sort hashes and drop repetitions; returns how many are left. */
static uint64
SortUnique(uint64 *hashes, uint64 count)
{
	uint64	   *scratch = AllocHashes(count);

	CHECK_FOR_INTERRUPTS();
	CuckooSortHashes(hashes, scratch, count);
	CHECK_FOR_INTERRUPTS();
	pfree(scratch);
	return CuckooUniqueHashes(hashes, count);
}

static void
CheckKeys(uint64 distinct)
{
	if (distinct > MAX_KEYS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many distinct keys for cuckoo_agg"),
				 errdetail("It takes %llu distinct keys at most.",
						   (unsigned long long) MAX_KEYS),
				 errhint("Use cuckoo_stream_agg, or divide the keys among several filters with cuckoo_shard.")));
}

/*
 * Sort a large state and drop its repetitions.  If there were few, the next
 * time comes later: a column without repetitions should not be sorted at
 * every doubling.
 */
static void
LargeNormalize(LargeState *state)
{
	uint64	   *hashes;
	uint64		before = state->used;

	if (state->sorted)
		return;
	hashes = AllocHashes(before);
	LargeHashes(state, hashes);
	state->used = SortUnique(hashes, before);
	for (uint64 i = 0; i < state->used; i += CHUNK_HASHES)
		memcpy(state->chunks[i / CHUNK_HASHES], hashes + i,
			   Min(state->used - i, CHUNK_HASHES) * sizeof(uint64));
	pfree(hashes);
	state->sorted = true;
	CheckKeys(state->used);
	state->limit = state->used * (state->used > before / 4 * 3 ? 8 : 2);
	state->limit = Max(state->limit, 4 * MAX_SLOTS);
	state->limit = Min(state->limit, state->used < MAX_KEYS / 2 ? MAX_KEYS : 2 * MAX_KEYS);
}

/* Memory for the next hash of a large state. */
static void
LargeMakeRoom(LargeState *state)
{
	MemoryContext context = state->header.eoh_context;

	CHECK_FOR_INTERRUPTS();
	if (state->used >= state->limit)
		LargeNormalize(state);
	if (state->used < (uint64) state->chunk_count * CHUNK_HASHES)
		return;
	if (state->chunk_count == state->chunk_room)
	{
		state->chunk_room *= 2;
		state->chunks = repalloc(state->chunks, state->chunk_room * sizeof(uint64 *));
	}
	state->chunks[state->chunk_count++] =
		MemoryContextAlloc(context, CHUNK_HASHES * sizeof(uint64));
}

static inline void
LargeAdd(LargeState *state, uint64 hash)
{
	uint64		at = state->used;

	/* Limits are met at the start of a chunk. */
	if (at % CHUNK_HASHES == 0)
	{
		LargeMakeRoom(state);
		at = state->used;
	}
	state->chunks[at / CHUNK_HASHES][at % CHUNK_HASHES] = hash;
	state->used++;
	state->sorted = false;
}

/*
 * The partial form: sorted distinct hashes in portable bytes.
 */

static size_t
PartialBytes(uint64 count)
{
	return CUCKOO_HEADER_BYTES + count * 8;
}

static void
CheckPartialBytes(uint64 count)
{
	if (PartialBytes(count) > CUCKOO_MAX_BYTES)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("state of cuckoo_agg is too large to be sent"),
				 errdetail("It holds %llu distinct keys.", (unsigned long long) count),
				 errhint("Use cuckoo_stream_agg, or aggregate without parallel workers.")));
}

/* Header fields of the filter, or partial state, that has these parameters. */
static void
ParametersToFilter(const Parameters *parameters, CuckooFilter *filter)
{
	CuckooFilterInit(filter, parameters->fpr, parameters->capacity, 0,
					 CUCKOO_SEMISORTED);
	filter->kind = parameters->kind;
	filter->element_kind = parameters->element_kind;
}

static void
PartialHeader(const Parameters *parameters, uint64 count, uint8 *bytes)
{
	CuckooFilter filter;

	ParametersToFilter(parameters, &filter);
	filter.body = CUCKOO_PARTIAL;
	filter.items = count;
	CuckooWriteHeader(&filter, bytes);
}

/* Whatever form a state has, as a partial one.  For what leaves the server. */
struct varlena *
CuckooStateToPartial(struct varlena *value)
{
	/* Through a tuple it may have lost its alignment. */
	FlatState  *state = (FlatState *) PG_DETOAST_DATUM_COPY(PointerGetDatum(value));
	uint64	   *hashes = AllocHashes(FlatCount(state));
	uint64		count = SortUnique(hashes, FlatHashes(state, hashes));
	struct varlena *partial = CuckooNewValue(PartialBytes(count));
	uint8	   *bytes = CuckooValueBytes(partial);

	PartialHeader(&state->parameters, count, bytes);
	for (uint64 i = 0; i < count; i++)
		CuckooStore64(bytes + CUCKOO_HEADER_BYTES + 8 * i, hashes[i]);
	pfree(hashes);
	return partial;
}

/* Size of a large state as a partial one; sorts it, so that this is exact. */
static Size
LargeFlatSize(ExpandedObjectHeader *header)
{
	LargeState *state = (LargeState *) header;

	LargeNormalize(state);
	CheckPartialBytes(state->used);
	return VARHDRSZ + PartialBytes(state->used);
}

/* A large state as a partial one, in memory of the size just given. */
static void
LargeFlatten(ExpandedObjectHeader *header, void *result, Size size)
{
	LargeState *state = (LargeState *) header;
	uint8	   *bytes = (uint8 *) VARDATA(result);

	Assert(size == VARHDRSZ + PartialBytes(state->used));
	SET_VARSIZE(result, size);
	PartialHeader(&state->parameters, state->used, bytes);
	for (uint64 i = 0; i < state->used; i++)
		CuckooStore64(bytes + CUCKOO_HEADER_BYTES + 8 * i,
					  state->chunks[i / CHUNK_HASHES][i % CHUNK_HASHES]);
}

/*
 * States of any form
 */

/* What a state is, behind one pointer. */
typedef struct State
{
	FlatState  *flat;			/* one of the two, or neither */
	LargeState *large;
} State;

/* The same rows must come with the same parameters. */
static void
MatchParameters(const Parameters *a, const Parameters *b)
{
	if (a->kind != b->kind || a->element_kind != b->element_kind)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("keys of one aggregate are of different kinds"),
				 errdetail("One is of kind %s, another of kind %s.",
						   CuckooKindDescribe(a->kind, a->element_kind),
						   CuckooKindDescribe(b->kind, b->element_kind))));
	if (a->fpr != b->fpr)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("false-positive rate of one aggregate differs between rows"),
				 errdetail("It is %g in one row and %g in another.", a->fpr, b->fpr)));
	if (a->capacity != b->capacity)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("capacity of one aggregate differs between rows"),
				 errdetail("It is %llu in one row and %llu in another.",
						   (unsigned long long) a->capacity,
						   (unsigned long long) b->capacity)));
}

static const Parameters *
StateParameters(const State *state)
{
	return state->large != NULL ? &state->large->parameters : &state->flat->parameters;
}

/* Add a hash, turning the state into a larger one where needed. */
static void
StateAdd(State *state, uint64 hash, MemoryContext aggcontext)
{
	if (state->large != NULL)
	{
		LargeAdd(state->large, hash);
		return;
	}
	while (!FlatAdd(state->flat, hash))
	{
		FlatState  *flat = state->flat;
		FlatState  *larger = NULL;

		/* Nothing is freed: the executor does that with the old state. */
		if (flat->slots < MAX_SLOTS && flat->used >= flat->slots / 2)
			larger = FlatNew(&flat->parameters, flat->slots * 2);
		for (uint32 i = 0; larger != NULL && i < flat->slots; i++)
		{
			if (flat->slot[i] != 0 && !FlatAdd(larger, flat->slot[i]))
				larger = NULL;
		}
		if (larger != NULL)
		{
			larger->has_zero = flat->has_zero;
			state->flat = larger;
			continue;
		}

		state->large = LargeNew(&flat->parameters, aggcontext);
		state->flat = NULL;
		if (flat->has_zero)
			LargeAdd(state->large, 0);
		for (uint32 i = 0; i < flat->slots; i++)
		{
			if (flat->slot[i] != 0)
				LargeAdd(state->large, flat->slot[i]);
		}
		LargeAdd(state->large, hash);
		return;
	}
}

static Datum
StateDatum(const State *state)
{
	if (state->large != NULL)
		return EOHPGetRWDatum(&state->large->header);
	return PointerGetDatum(state->flat);
}

/* Refuse a value that is no state of this aggregate. */
static void
ReportNoState(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("cuckoofilter is not the state of this aggregate")));
}

/* Add all hashes of a partial state in portable bytes. */
static void
AddPartial(State *state, const CuckooFilter *partial, MemoryContext aggcontext)
{
	for (uint64 i = 0; i < partial->items; i++)
		StateAdd(state, CuckooListGet(partial, i), aggcontext);
}

/*
 * Parameters of a partial state.
 */
static Parameters
PartialParameters(const CuckooFilter *partial)
{
	Parameters	parameters;

	parameters.fpr = partial->fpr;
	parameters.capacity = partial->capacity;
	parameters.kind = partial->kind;
	parameters.element_kind = partial->element_kind;
	return parameters;
}

/*
 * The first argument of a transition or combine function, the state it may
 * change.  What is not in working form (a partial state, as a user's own
 * aggregate may begin with) is copied into it.
 */
static void
GetState(Datum value, State *state, MemoryContext aggcontext)
{
	struct varlena *pointer = (struct varlena *) DatumGetPointer(value);
	CuckooFilter partial;
	Parameters	parameters;

	state->flat = NULL;
	state->large = NULL;
	/* Final functions get a read-only pointer, and only read. */
	if (VARATT_IS_EXTERNAL_EXPANDED(pointer))
	{
		state->large = (LargeState *) DatumGetEOHP(value);
		if (state->large->header.eoh_methods != &large_methods)
			ReportNoState();
		return;
	}
	if (!VARATT_IS_EXTENDED(pointer) &&
		((FlatState *) pointer)->body == CUCKOO_STATE)
	{
		state->flat = (FlatState *) pointer;
		return;
	}

	pointer = PG_DETOAST_DATUM_COPY(value);
	if (CuckooValueBytes(pointer)[1] == CUCKOO_STATE)
	{
		state->flat = (FlatState *) pointer;
		return;
	}
	if (CuckooValueBytes(pointer)[1] != CUCKOO_PARTIAL)
		ReportNoState();
	CuckooOpen(&partial, CuckooValueBytes(pointer));
	parameters = PartialParameters(&partial);
	state->flat = FlatNew(&parameters, MIN_SLOTS);
	AddPartial(state, &partial, aggcontext);
}

/* The context of the aggregate that calls; an error outside of one. */
static MemoryContext
AggContext(FunctionCallInfo fcinfo)
{
	MemoryContext aggcontext;

	if (!AggCheckCallContext(fcinfo, &aggcontext))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("aggregate function called in non-aggregate context")));
	return aggcontext;
}

/*
 * Refuse a column that the parser has relabelled as one of our key types, as
 * it does with citext, though its own equality is another.  Can be seen only
 * where there is an expression: not in a window, nor on Citus.
 */
static void
CheckRelabelled(FunctionCallInfo fcinfo)
{
	Aggref	   *aggref = AggGetAggref(fcinfo);
	Node	   *argument;
	CuckooKey	key;

	if (aggref == NULL || aggref->args == NIL)
		return;
	argument = (Node *) ((TargetEntry *) linitial(aggref->args))->expr;
	while (argument != NULL && IsA(argument, RelabelType))
	{
		argument = (Node *) ((RelabelType *) argument)->arg;
		if (OidIsValid(exprType(argument)) && exprType(argument) != UNKNOWNOID)
			CuckooKeyInit(&key, exprType(argument),
						  OidIsValid(exprCollation(argument)) ? exprCollation(argument) :
						  PG_GET_COLLATION(), CurrentMemoryContext);
	}
}

/* One row of the aggregate. */
static inline Datum
Transition(FunctionCallInfo fcinfo, MemoryContext aggcontext, uint64 hash,
		   CuckooKind kind, CuckooKind element_kind)
{
	Parameters	parameters;
	State		state;

	parameters.kind = (uint8) kind;
	parameters.element_kind = (uint8) element_kind;
	parameters.fpr = CUCKOO_DEFAULT_FPR;
	parameters.capacity = 0;
	if (PG_NARGS() > 2 && !PG_ARGISNULL(2))
		parameters.fpr = CuckooCheckFpr(PG_GETARG_FLOAT8(2));
	if (PG_NARGS() > 3 && !PG_ARGISNULL(3))
		parameters.capacity = CuckooCheckCapacity(PG_GETARG_FLOAT8(3));

	if (PG_ARGISNULL(0))
	{
		CheckRelabelled(fcinfo);
		state.large = NULL;
		state.flat = FlatNew(&parameters, MIN_SLOTS);
	}
	else
	{
		GetState(PG_GETARG_DATUM(0), &state, aggcontext);
		MatchParameters(StateParameters(&state), &parameters);
	}
	StateAdd(&state, hash, aggcontext);
	if (state.large != NULL && !PG_ARGISNULL(0) &&
		VARATT_IS_EXTERNAL_EXPANDED_RW(DatumGetPointer(PG_GETARG_DATUM(0))))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	return StateDatum(&state);
}

/* The state as it came: for rows without a key. */
#define RETURN_STATE_UNCHANGED() \
	do { \
		if (PG_ARGISNULL(0)) \
			PG_RETURN_NULL(); \
		PG_RETURN_DATUM(PG_GETARG_DATUM(0)); \
	} while (0)

/*
 * cuckoo_agg_transfn(state, value [, fpr [, capacity]]) for keys of any type
 */
PG_FUNCTION_INFO_V1(cuckoo_agg_transfn);
Datum
cuckoo_agg_transfn(PG_FUNCTION_ARGS)
{
	MemoryContext aggcontext = AggContext(fcinfo);
	CuckooKey  *key;
	uint64		hash;

	if (PG_ARGISNULL(1))
		RETURN_STATE_UNCHANGED();
	key = CuckooGetKey(fcinfo, 1);
	hash = CuckooKeyHash(key, PG_GETARG_DATUM(1), 0);
	return Transition(fcinfo, aggcontext, hash, key->kind, key->element_kind);
}

/* The same for integers, whose hashing is inlined. */
#define INTEGER_TRANSITION(name, GETARG) \
PG_FUNCTION_INFO_V1(name); \
Datum \
name(PG_FUNCTION_ARGS) \
{ \
	MemoryContext aggcontext = AggContext(fcinfo); \
	\
	if (PG_ARGISNULL(1)) \
		RETURN_STATE_UNCHANGED(); \
	return Transition(fcinfo, aggcontext, CuckooHashInt64(GETARG(1), 0), \
					  CUCKOO_KIND_INTEGER, CUCKOO_KIND_NONE); \
}

INTEGER_TRANSITION(cuckoo_agg_transfn_int2, PG_GETARG_INT16)
INTEGER_TRANSITION(cuckoo_agg_transfn_int4, PG_GETARG_INT32)
INTEGER_TRANSITION(cuckoo_agg_transfn_int8, PG_GETARG_INT64)

/*
 * The same for other types known when the function is written.  Citus calls
 * these without an expression to take the type from, and with nothing kept
 * from row to row.
 */
#define TYPED_TRANSITION(name, type) \
PG_FUNCTION_INFO_V1(name); \
Datum \
name(PG_FUNCTION_ARGS) \
{ \
	MemoryContext aggcontext = AggContext(fcinfo); \
	CuckooKey	key; \
	uint64		hash; \
	\
	if (PG_ARGISNULL(1)) \
		RETURN_STATE_UNCHANGED(); \
	CuckooKeyInit(&key, type, PG_GET_COLLATION(), CurrentMemoryContext); \
	hash = CuckooKeyHash(&key, PG_GETARG_DATUM(1), 0); \
	return Transition(fcinfo, aggcontext, hash, key.kind, key.element_kind); \
}

TYPED_TRANSITION(cuckoo_agg_transfn_text, TEXTOID)
TYPED_TRANSITION(cuckoo_agg_transfn_char, CHAROID)
TYPED_TRANSITION(cuckoo_agg_transfn_uuid, UUIDOID)
TYPED_TRANSITION(cuckoo_agg_transfn_bytea, BYTEAOID)
TYPED_TRANSITION(cuckoo_agg_transfn_numeric, NUMERICOID)
TYPED_TRANSITION(cuckoo_agg_transfn_float4, FLOAT4OID)
TYPED_TRANSITION(cuckoo_agg_transfn_float8, FLOAT8OID)
TYPED_TRANSITION(cuckoo_agg_transfn_date, DATEOID)
TYPED_TRANSITION(cuckoo_agg_transfn_timestamp, TIMESTAMPOID)
TYPED_TRANSITION(cuckoo_agg_transfn_timestamptz, TIMESTAMPTZOID)

/* cuckoo_agg_combine(state, state): the hashes of both */
PG_FUNCTION_INFO_V1(cuckoo_agg_combine);
Datum
cuckoo_agg_combine(PG_FUNCTION_ARGS)
{
	MemoryContext aggcontext = AggContext(fcinfo);
	struct varlena *other;
	CuckooFilter partial;
	Parameters	parameters;
	State		state;
	State		source;

	if (PG_ARGISNULL(1))
		RETURN_STATE_UNCHANGED();

	/* Flattens a large state; copied only where it was packed or toasted. */
	other = PG_GETARG_VARLENA_P(1);
	source.flat = NULL;
	if (CuckooValueBytes(other)[1] == CUCKOO_STATE)
	{
		source.flat = (FlatState *) other;
		parameters = source.flat->parameters;
	}
	else if (CuckooValueBytes(other)[1] == CUCKOO_PARTIAL)
	{
		CuckooOpen(&partial, CuckooValueBytes(other));
		parameters = PartialParameters(&partial);
	}
	else
		ReportNoState();

	if (PG_ARGISNULL(0))
	{
		state.large = NULL;
		state.flat = FlatNew(&parameters, MIN_SLOTS);
	}
	else
	{
		GetState(PG_GETARG_DATUM(0), &state, aggcontext);
		MatchParameters(StateParameters(&state), &parameters);
	}

	if (source.flat == NULL)
		AddPartial(&state, &partial, aggcontext);
	else
	{
		if (source.flat->has_zero)
			StateAdd(&state, 0, aggcontext);
		for (uint32 i = 0; i < source.flat->slots; i++)
		{
			if (source.flat->slot[i] != 0)
				StateAdd(&state, source.flat->slot[i], aggcontext);
		}
	}
	if (state.large != NULL && !PG_ARGISNULL(0) &&
		VARATT_IS_EXTERNAL_EXPANDED_RW(DatumGetPointer(PG_GETARG_DATUM(0))))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	return StateDatum(&state);
}

/*
 * cuckoo_agg_final(state): the filter.  Over no rows an empty one without
 * parameters.
 */
PG_FUNCTION_INFO_V1(cuckoo_agg_final);
Datum
cuckoo_agg_final(PG_FUNCTION_ARGS)
{
	MemoryContext aggcontext = AggContext(fcinfo);
	CuckooFilter filter;
	State		state;
	struct varlena *value;
	uint64	   *hashes;
	uint64		count;

	if (PG_ARGISNULL(0))
		PG_RETURN_POINTER(CuckooUnsetValue());
	GetState(PG_GETARG_DATUM(0), &state, aggcontext);
	if (state.large != NULL)
	{
		count = state.large->used;
		hashes = AllocHashes(count);
		LargeHashes(state.large, hashes);
	}
	else
	{
		hashes = AllocHashes(FlatCount(state.flat));
		count = FlatHashes(state.flat, hashes);
	}
	if (state.large == NULL || !state.large->sorted)
		count = SortUnique(hashes, count);
	CheckKeys(count);

	ParametersToFilter(StateParameters(&state), &filter);
	value = CuckooBuildValue(&filter, hashes, count);
	pfree(hashes);
	PG_RETURN_POINTER(value);
}
