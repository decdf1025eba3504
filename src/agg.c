/*-------------------------------------------------------------------------
 *
 * agg.c
 *	  The SQL functions of the aggregate cuckoo_agg: a filter over the distinct
 *	  keys of its input.
 *
 * Rules of the executor that this follows (nodeAgg.c, nodeWindowAgg.c): a new
 * flat state is returned in the current context, to be copied into the
 * aggregate's, and the old one is freed by the executor; an expanded one is
 * adopted if its context is a child of the aggregate's; the same pointer
 * returned means that nothing is to be done; final functions may be called
 * several times.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "nodes/primnodes.h"

#include "aggstate.h"

/* The context of the aggregate that calls; an error outside of one. */
MemoryContext
CuckooAggContext(FunctionCallInfo fcinfo)
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
void
CuckooCheckRelabelled(FunctionCallInfo fcinfo)
{
	Aggref	   *aggref = AggGetAggref(fcinfo);
	Node	   *argument;
	CuckooKey	key;

	if (aggref == NULL || aggref->args == NIL)
		return;
	argument = (Node *) ((TargetEntry *) linitial(aggref->args))->expr;
	/* A cast that was written means what it says. */
	while (argument != NULL && IsA(argument, RelabelType) &&
		   ((RelabelType *) argument)->relabelformat == COERCE_IMPLICIT_CAST)
	{
		argument = (Node *) ((RelabelType *) argument)->arg;
		CuckooKeyInit(&key, exprType(argument), PG_GET_COLLATION(),
					  CurrentMemoryContext);
	}
}

/* The state as it came: for rows without a key. */
Datum
CuckooSameState(FunctionCallInfo fcinfo)
{
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	PG_RETURN_DATUM(PG_GETARG_DATUM(0));
}

/* One row of the aggregate. */
static inline Datum
Transition(FunctionCallInfo fcinfo, MemoryContext aggcontext, uint64 hash,
		   CuckooKeyType kind, CuckooKeyType element_kind)
{
	CuckooParameters parameters;
	CuckooState state;

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
		CuckooCheckRelabelled(fcinfo);
		CuckooCheckSize(parameters.fpr, parameters.capacity, CUCKOO_SEMISORTED);
		CuckooStateInit(&state, &parameters);
	}
	else
	{
		CuckooStateOpen(&state, PG_GETARG_DATUM(0), aggcontext);
		if (unlikely(!CuckooSameParameters(CuckooStateParameters(&state), &parameters)))
			CuckooMatchParameters(CuckooStateParameters(&state), &parameters);
		if (CuckooStateAddQuickly(&state, hash))
			return CuckooStateDatum(&state);
	}
	CuckooStateAdd(&state, hash, aggcontext);
	return CuckooStateDatum(&state);
}

/*
 * cuckoo_agg_transfn(state, key [, fpr [, capacity]]) for keys of any type
 */
PG_FUNCTION_INFO_V1(cuckoo_agg_transfn);
Datum
cuckoo_agg_transfn(PG_FUNCTION_ARGS)
{
	MemoryContext aggcontext = CuckooAggContext(fcinfo);
	CuckooKey  *key;
	uint64		hash;

	if (PG_ARGISNULL(1))
		return CuckooSameState(fcinfo);
	key = CuckooGetKey(fcinfo, 1);
	hash = CuckooKeyHash(key, PG_GETARG_DATUM(1), 0);
	return Transition(fcinfo, aggcontext, hash, key->key_type, key->element_kind);
}

/* The same for integers, whose hashing is inlined. */
#define INTEGER_TRANSITION(name, GETARG) \
PG_FUNCTION_INFO_V1(name); \
Datum \
name(PG_FUNCTION_ARGS) \
{ \
	MemoryContext aggcontext = CuckooAggContext(fcinfo); \
	\
	if (PG_ARGISNULL(1)) \
		return CuckooSameState(fcinfo); \
	return Transition(fcinfo, aggcontext, CuckooHashInt64(GETARG(1), 0), \
					  CUCKOO_KEY_INTEGER, CUCKOO_KEY_NONE); \
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
	MemoryContext aggcontext = CuckooAggContext(fcinfo); \
	CuckooKey	key; \
	uint64		hash; \
	\
	if (PG_ARGISNULL(1)) \
		return CuckooSameState(fcinfo); \
	CuckooKeyInit(&key, type, CuckooTypedCollation(fcinfo), CurrentMemoryContext); \
	hash = CuckooKeyHash(&key, PG_GETARG_DATUM(1), 0); \
	return Transition(fcinfo, aggcontext, hash, key.key_type, key.element_kind); \
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
	MemoryContext aggcontext = CuckooAggContext(fcinfo);
	CuckooParameters parameters;
	struct varlena *other;
	CuckooState state;

	if (PG_ARGISNULL(1))
		return CuckooSameState(fcinfo);

	/*
	 * A large state is flattened, one from a tuple aligned.  Neither is ever
	 * returned: the caller's memory may go before the aggregate does.
	 */
	other = PG_GETARG_VARLENA_P(1);
	parameters = CuckooValueParameters(other);
	if (PG_ARGISNULL(0))
		CuckooStateInit(&state, &parameters);
	else
	{
		CuckooStateOpen(&state, PG_GETARG_DATUM(0), aggcontext);
		CuckooMatchParameters(CuckooStateParameters(&state), &parameters);
	}
	CuckooStateAddAll(&state, other, aggcontext);
	return CuckooStateDatum(&state);
}

/*
 * cuckoo_agg_final(state): the filter.  Over no rows an empty one without
 * parameters.
 */
PG_FUNCTION_INFO_V1(cuckoo_agg_final);
Datum
cuckoo_agg_final(PG_FUNCTION_ARGS)
{
	MemoryContext aggcontext = CuckooAggContext(fcinfo);
	CuckooState state;

	if (PG_ARGISNULL(0))
		PG_RETURN_POINTER(CuckooUnsetValue());
	CuckooStateOpen(&state, PG_GETARG_DATUM(0), aggcontext);
	PG_RETURN_POINTER(CuckooStateBuild(&state));
}
