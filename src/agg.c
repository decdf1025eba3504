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

#include "access/htup_details.h"
#include "nodes/nodeFuncs.h"
#include "nodes/primnodes.h"
#include "utils/typcache.h"

#include "aggstate.h"
#include "core/hash.h"

/* The context of the calling aggregate, in a window or outside (aggstate.h) */
MemoryContext
CuckooFindAggContext(FunctionCallInfo fcinfo)
{
	MemoryContext aggcontext;

	if (!AggCheckCallContext(fcinfo, &aggcontext))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("aggregate function called in non-aggregate context")));
	return aggcontext;
}

/*
 * What Citus passes to a transition function from an argument of
 * worker_partial_agg: how many arguments, and the type of the first.
 */
static int
ForeignArguments(Node *argument, Oid *type, Oid *collation)
{
	Node	   *first = argument;
	int			count = 1;

	*type = InvalidOid;
	*collation = InvalidOid;
	if (exprType(argument) == RECORDOID)
	{
		if (IsA(argument, Const) && !((Const *) argument)->constisnull)
		{
			/* The planner has made a row of constants one constant. */
			HeapTupleHeader row = DatumGetHeapTupleHeader(((Const *) argument)->constvalue);
			TupleDesc	members = lookup_rowtype_tupdesc(HeapTupleHeaderGetTypeId(row),
														 HeapTupleHeaderGetTypMod(row));

			count = members->natts;
			if (count > 0)
			{
				*type = TupleDescAttr(members, 0)->atttypid;
				*collation = TupleDescAttr(members, 0)->attcollation;
			}
			ReleaseTupleDesc(members);
			return count;
		}
		if (!IsA(argument, RowExpr) || ((RowExpr *) argument)->args == NIL)
			return 0;
		count = list_length(((RowExpr *) argument)->args);
		first = linitial(((RowExpr *) argument)->args);
	}
	*type = exprType(first);
	*collation = exprCollation(first);
	return count;
}

/*
 * How keys are hashed in a call without an expression.  Citus makes such calls:
 * it runs the aggregate worker_partial_agg(aggregate, key) or
 * worker_partial_agg(aggregate, ROW(key, ...)), which calls our transition
 * function with a new FmgrInfo for every row.  The key has the type that it has
 * in the call of worker_partial_agg.  Anybody may call that, in any form, so
 * every other form is refused.
 */
void
CuckooFindForeignKey(FunctionCallInfo fcinfo, CuckooKey *key)
{
	Aggref	   *aggref = AggGetAggref(fcinfo);
	Oid			type = InvalidOid;
	Oid			collation = InvalidOid;

	if (aggref != NULL && list_length(aggref->args) == 2 &&
		ForeignArguments((Node *) ((TargetEntry *) lsecond(aggref->args))->expr,
						 &type, &collation) != PG_NARGS() - 1)
		type = InvalidOid;
	CuckooKeyInit(key, type, collation, CurrentMemoryContext);
}

/*
 * Refuse a column that the parser has relabelled as one of our key types,
 * although its own type has another equality, as citext has.  This cannot be
 * seen in a window, nor on Citus, which makes it a cast that was written.
 */
void
CuckooCheckRelabelled(FunctionCallInfo fcinfo)
{
	Aggref	   *aggref = AggGetAggref(fcinfo);
	Node	   *argument;
	CuckooKey	key;

	if (fcinfo->flinfo->fn_expr == NULL || aggref == NULL || aggref->args == NIL)
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

/*
 * cuckoo_agg_transfn(state, key [, capacity [, fpr [, seed]]]): of all
 * aggregates, whatever their key type
 */
PG_FUNCTION_INFO_V1(cuckoo_agg_transfn);
Datum
cuckoo_agg_transfn(PG_FUNCTION_ARGS)
{
	MemoryContext aggcontext = CuckooAggContext(fcinfo);
	CuckooParameters parameters;
	uint64		hash;

	if (PG_ARGISNULL(1))
		return TransitionWithoutKey(fcinfo, aggcontext);
	parameters = CuckooArgumentParameters(fcinfo);
	hash = CuckooTransitionHash(fcinfo, &parameters);
	return Transition(fcinfo, aggcontext, &parameters, false, hash);
}

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
