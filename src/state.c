/*-------------------------------------------------------------------------
 *
 * state.c
 *	  What the aggregates share: their rows and their states; see state.h.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/htup_details.h"
#include "nodes/nodeFuncs.h"
#include "nodes/primnodes.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "state.h"

/* The context of the calling aggregate, in a window or outside (state.h) */
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

static Size
LargeFlatSize(ExpandedObjectHeader *header)
{
	CuckooLarge *large = (CuckooLarge *) header;
	MemoryContext old = MemoryContextSwitchTo(header->eoh_context);

	if (large->made != NULL)
		pfree(large->made);
	large->made = NULL;
	large->made = large->make(large);
	MemoryContextSwitchTo(old);
	return VARSIZE(large->made);
}

static void
LargeFlatten(ExpandedObjectHeader *header, void *result, Size size)
{
	CuckooLarge *large = (CuckooLarge *) header;

	CuckooCopy(result, large->made, size);
	pfree(large->made);
	large->made = NULL;
}

const ExpandedObjectMethods CuckooLargeMethods = {LargeFlatSize, LargeFlatten};

CuckooLarge *
CuckooLargeNew(Size bytes, CuckooValue *(*make) (CuckooLarge *large), MemoryContext aggcontext)
{
	MemoryContext context = AllocSetContextCreate(aggcontext, "cuckoofilter state",
												  ALLOCSET_SMALL_SIZES);
	CuckooLarge *large = MemoryContextAllocZero(context, bytes);

	EOH_init_header(&large->header, &CuckooLargeMethods, context);
	large->make = make;
	return large;
}

/* A capacity as it is written in SQL */
static char *
DescribeCapacity(uint64 capacity)
{
	return capacity == 0 ? "NULL" : psprintf("%llu", (unsigned long long) capacity);
}

void
CuckooMatchDifferent(CuckooHeader *a, const CuckooHeader *b)
{
	if (!CuckooSameKeyKind(a->kind, b->kind))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("key types of one aggregate differ between rows"),
				 errdetail("One key is of type %s, another of type %s.",
						   CuckooKeyKindDescribe(a->kind),
						   CuckooKeyKindDescribe(b->kind))));
	if (a->fpr != b->fpr)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("false-positive rate of one aggregate differs between rows"),
				 errdetail("It is %g in one row and %g in another.", a->fpr, b->fpr)));
	if (a->capacity != b->capacity)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("capacity of one aggregate differs between rows"),
				 errdetail("It is %s in one row and %s in another.",
						   DescribeCapacity(a->capacity), DescribeCapacity(b->capacity))));
	if (a->seed != b->seed)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("seed of one aggregate differs between rows"),
				 errdetail("It is %lld in one row and %lld in another.",
						   (long long) a->seed, (long long) b->seed)));
	if (a->kind.type == CUCKOO_KEY_NONE)
		a->kind = b->kind;
}

/*
 * What Citus passes to a transition function from an argument of
 * worker_partial_agg: how many arguments, and the type of the first.
 */
static int
WorkerArguments(Node *argument, Oid *type, Oid *collation)
{
	Node	   *first = argument;
	int			count = 1;

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
static void
FindWorkerHasher(FunctionCallInfo fcinfo, CuckooHasher *hasher)
{
	Aggref	   *aggref = AggGetAggref(fcinfo);
	Oid			type = InvalidOid;
	Oid			collation = InvalidOid;

	if (aggref != NULL && list_length(aggref->args) == 2 &&
		WorkerArguments((Node *) ((TargetEntry *) lsecond(aggref->args))->expr,
						 &type, &collation) != PG_NARGS() - 1)
		type = InvalidOid;
	CuckooHasherInit(hasher, type, collation, CurrentMemoryContext);
}

/*
 * Refuse a column that the parser has relabelled as one of our key types,
 * although its own type has another equality, as citext has.  This cannot be
 * seen in a window, nor on Citus, which makes it a cast that was written.
 */
static void
CheckRelabelled(FunctionCallInfo fcinfo)
{
	Aggref	   *aggref = AggGetAggref(fcinfo);
	Node	   *argument;
	CuckooHasher hasher;

	if (fcinfo->flinfo->fn_expr == NULL || aggref == NULL || aggref->args == NIL)
		return;
	argument = (Node *) ((TargetEntry *) linitial(aggref->args))->expr;
	/* A cast that was written means what it says. */
	while (argument != NULL && IsA(argument, RelabelType) &&
		   ((RelabelType *) argument)->relabelformat == COERCE_IMPLICIT_CAST)
	{
		argument = (Node *) ((RelabelType *) argument)->arg;
		CuckooHasherInit(&hasher, exprType(argument), PG_GET_COLLATION(), CurrentMemoryContext);
	}
}

CuckooHasher *
CuckooFindRowHasher(FunctionCallInfo fcinfo, CuckooCall *call)
{
	if (fcinfo->flinfo->fn_expr == NULL)
	{
		FindWorkerHasher(fcinfo, &call->hasher);
		return &call->hasher;
	}
	CheckRelabelled(fcinfo);
	return CuckooFindHasher(fcinfo, 1, false);
}
