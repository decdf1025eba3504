/*-------------------------------------------------------------------------
 *
 * agg.c
 *	  The SQL functions of the aggregate cuckoo_agg: a filter over the distinct
 *	  keys of its input.
 *
 * This follows the rules of the executor (nodeAgg.c, nodeWindowAgg.c).  A new
 * flat state is returned in the current context.  The executor copies it into
 * the aggregate's context and frees the old one.  It adopts an expanded state
 * if the state's context is a child of the aggregate's.  If the same pointer
 * is returned, it does nothing.  Final functions may be called several times.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "nodes/nodeFuncs.h"
#include "nodes/primnodes.h"

#include "aggstate.h"
#include "core/hash.h"

/* The context of the calling aggregate; an error outside of an aggregate. */
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
 * Refuse a column that the parser has relabelled as one of our key types,
 * although its own type has another equality, as citext has.  This can be seen
 * only if there is an expression: not in a window, nor on Citus.
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

/* The state as it was, for rows that change nothing. */
Datum
CuckooSameState(FunctionCallInfo fcinfo)
{
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	PG_RETURN_DATUM(PG_GETARG_DATUM(0));
}

/*
 * One row of the aggregate.  A row with a NULL key counts only for its
 * parameters.
 */
static inline Datum
Transition(FunctionCallInfo fcinfo, MemoryContext aggcontext,
		   CuckooParameters *parameters, bool key_is_null, uint64 hash)
{
	CuckooState state;

	if (PG_ARGISNULL(0))
	{
		if (!key_is_null)
			CuckooCheckRelabelled(fcinfo);
		CuckooCheckSize(parameters->fpr, parameters->capacity);
		CuckooStateInit(&state, parameters);
	}
	else
	{
		CuckooStateOpen(&state, PG_GETARG_DATUM(0), aggcontext);
		if (unlikely(!CuckooSameParameters(CuckooStateParameters(&state), parameters)) &&
			CuckooMatchParameters(CuckooStateParameters(&state), parameters))
		{
			CuckooCheckRelabelled(fcinfo);
			CuckooStateSetKeyType(&state, parameters);
		}
		if (!key_is_null && CuckooStateAddQuickly(&state, hash))
			return CuckooStateDatum(&state);
	}
	if (!key_is_null)
		CuckooStateAdd(&state, hash, aggcontext);
	return CuckooStateDatum(&state);
}

/* A row whose key is NULL, which matters only if it has parameters. */
static Datum
TransitionWithoutKey(FunctionCallInfo fcinfo, MemoryContext aggcontext)
{
	CuckooParameters parameters;

	if (PG_NARGS() <= 2)
		return CuckooSameState(fcinfo);
	parameters = CuckooArgumentParameters(fcinfo);
	return Transition(fcinfo, aggcontext, &parameters, true, 0);
}

/* A row with a key of a known type. */
static inline Datum
TransitionWithKey(FunctionCallInfo fcinfo, MemoryContext aggcontext, CuckooKey *key)
{
	CuckooParameters parameters = CuckooArgumentParameters(fcinfo);
	uint64		hash = CuckooKeyHash(key, PG_GETARG_DATUM(1), parameters.seed);

	parameters.key_type = (uint8) key->key_type;
	parameters.signature = key->signature;
	return Transition(fcinfo, aggcontext, &parameters, false, hash);
}

/*
 * cuckoo_agg_transfn(state, key [, fpr [, capacity [, seed]]]) for keys of any
 * type
 */
PG_FUNCTION_INFO_V1(cuckoo_agg_transfn);
Datum
cuckoo_agg_transfn(PG_FUNCTION_ARGS)
{
	MemoryContext aggcontext = CuckooAggContext(fcinfo);

	if (PG_ARGISNULL(1))
		return TransitionWithoutKey(fcinfo, aggcontext);
	return TransitionWithKey(fcinfo, aggcontext, CuckooGetKey(fcinfo, 1));
}

/* The same for the built-in scalar types. */
#define INTEGER_TRANSITION(suffix, type) \
PG_FUNCTION_INFO_V1(cuckoo_agg_transfn_##suffix); \
Datum \
cuckoo_agg_transfn_##suffix(PG_FUNCTION_ARGS) \
{ \
	MemoryContext aggcontext = CuckooAggContext(fcinfo); \
	CuckooParameters parameters; \
	\
	if (PG_ARGISNULL(1)) \
		return TransitionWithoutKey(fcinfo, aggcontext); \
	parameters = CuckooArgumentParameters(fcinfo); \
	parameters.key_type = CUCKOO_KEY_INTEGER; \
	return Transition(fcinfo, aggcontext, &parameters, false, \
					  CuckooHashInt64(CuckooIntegerValue(type, PG_GETARG_DATUM(1)), \
									  parameters.seed)); \
}

#define TYPED_TRANSITION(suffix, type) \
PG_FUNCTION_INFO_V1(cuckoo_agg_transfn_##suffix); \
Datum \
cuckoo_agg_transfn_##suffix(PG_FUNCTION_ARGS) \
{ \
	MemoryContext aggcontext = CuckooAggContext(fcinfo); \
	CuckooKey	key; \
	\
	if (PG_ARGISNULL(1)) \
		return TransitionWithoutKey(fcinfo, aggcontext); \
	CuckooKeyInit(&key, type, CuckooTypedCollation(fcinfo), CurrentMemoryContext); \
	return TransitionWithKey(fcinfo, aggcontext, &key); \
}

CUCKOO_INTEGER_TYPES(INTEGER_TRANSITION)
CUCKOO_OTHER_TYPES(TYPED_TRANSITION)

/* cuckoo_agg_combine(state, state): the hashes of both */
PG_FUNCTION_INFO_V1(cuckoo_agg_combine);
Datum
cuckoo_agg_combine(PG_FUNCTION_ARGS)
{
	MemoryContext aggcontext = CuckooAggContext(fcinfo);
	CuckooParameters parameters;
	CuckooValue *other;
	CuckooState state;

	if (PG_ARGISNULL(1))
		return CuckooSameState(fcinfo);

	/*
	 * A large state is flattened, and one from a tuple is aligned.  Neither is
	 * ever returned, because the caller's memory may be freed before the
	 * aggregate ends.
	 */
	other = (CuckooValue *) PG_GETARG_VARLENA_P(1);
	parameters = CuckooValueParameters(other);
	if (PG_ARGISNULL(0))
		CuckooStateInit(&state, &parameters);
	else
	{
		CuckooStateOpen(&state, PG_GETARG_DATUM(0), aggcontext);
		if (CuckooMatchParameters(CuckooStateParameters(&state), &parameters))
			CuckooStateSetKeyType(&state, &parameters);
	}
	CuckooStateAddAll(&state, other, aggcontext);
	return CuckooStateDatum(&state);
}

/* cuckoo_agg_final(state): the filter, which is unset if there were no rows. */
PG_FUNCTION_INFO_V1(cuckoo_agg_final);
Datum
cuckoo_agg_final(PG_FUNCTION_ARGS)
{
	MemoryContext aggcontext = CuckooAggContext(fcinfo);
	CuckooState state;

	if (PG_ARGISNULL(0))
		PG_RETURN_CUCKOOFILTER_P(CuckooUnsetValue());
	CuckooStateOpen(&state, PG_GETARG_DATUM(0), aggcontext);
	PG_RETURN_CUCKOOFILTER_P(CuckooStateBuild(&state));
}
