/*-------------------------------------------------------------------------
 *
 * citus_like.c
 *	  An aggregate that runs another one up to its state, as Citus does.
 *
 * On Citus, a worker does not run SELECT cuckoo_agg(key) but
 * SELECT worker_partial_agg('cuckoo_agg(text)'::regprocedure, key), which calls
 * the transition function of cuckoo_agg.  Such a call differs from one by
 * PostgreSQL's executor.  This file reproduces the differences (Citus,
 * src/backend/distributed/utils/aggregate_utils.c):
 *
 * - Every call has a new FmgrInfo, without an expression and with an empty
 *   fn_extra.
 * - The context of the call is that of the outer aggregate, whose Aggref has
 *   other arguments.
 * - Several arguments come from a record, so they may be packed and unaligned.
 * - A state is sent to the coordinator by the type's output function.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "utils/datum.h"
#include "utils/expandeddatum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

/* The varlena macros moved out of postgres.h in 16. */
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

PG_MODULE_MAGIC;

/* The state, with that of the aggregate to be split. */
typedef struct Box
{
	FormData_pg_aggregate aggregate;
	Datum		value;
	bool		isnull;
} Box;

/* The size in bytes of the context of the last aggregate, at its end. */
static Size memory;

static MemoryContext
AggContext(FunctionCallInfo fcinfo)
{
	MemoryContext context;

	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "called in non-aggregate context");
	return context;
}

/* Get the box.  The first call makes it. */
static Box *
GetBox(FunctionCallInfo fcinfo)
{
	Box		   *box;
	HeapTuple	tuple;

	if (!PG_ARGISNULL(0))
		return (Box *) PG_GETARG_POINTER(0);

	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(PG_GETARG_OID(1)));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "no aggregate has the OID %u", PG_GETARG_OID(1));
	box = MemoryContextAllocZero(AggContext(fcinfo), sizeof(Box));
	memcpy(&box->aggregate, GETSTRUCT(tuple), sizeof(FormData_pg_aggregate));
	box->isnull = true;
	ReleaseSysCache(tuple);
	return box;
}

/* Call a function in the context of this call, without an expression. */
static Datum
Call(FunctionCallInfo fcinfo, Oid function, NullableDatum *args, int nargs,
	 bool *isnull)
{
	LOCAL_FCINFO(inner, FUNC_MAX_ARGS);
	FmgrInfo	info;
	Datum		result;

	fmgr_info(function, &info);
	*isnull = true;
	for (int i = 0; i < nargs; i++)
	{
		if (info.fn_strict && args[i].isnull)
			return (Datum) 0;
	}
	InitFunctionCallInfoData(*inner, &info, nargs, fcinfo->fncollation,
							 fcinfo->context, fcinfo->resultinfo);
	memcpy(inner->args, args, nargs * sizeof(NullableDatum));
	result = FunctionCallInvoke(inner);
	*isnull = inner->isnull;
	return result;
}

/*
 * Call a transition function and keep the new state, as nodeAgg.c does in
 * advance_transition_function().  A state that is not in the aggregate's
 * context yet is copied into it.
 */
static void
Advance(FunctionCallInfo fcinfo, Box *box, Oid function, NullableDatum *args,
		int nargs)
{
	bool		isnull;
	Datum		value;

	args[0].value = box->value;
	args[0].isnull = box->isnull;
	value = Call(fcinfo, function, args, nargs, &isnull);

	if (DatumGetPointer(value) != DatumGetPointer(box->value))
	{
		if (!isnull)
		{
			MemoryContext context = AggContext(fcinfo);
			MemoryContext caller = MemoryContextSwitchTo(context);

			if (!DatumIsReadWriteExpandedObject(value, false, -1) ||
				MemoryContextGetParent(DatumGetEOHP(value)->eoh_context) != context)
				value = datumCopy(value, false, -1);
			MemoryContextSwitchTo(caller);
		}
		if (!box->isnull)
		{
			if (DatumIsReadWriteExpandedObject(box->value, false, -1))
				DeleteExpandedObject(box->value);
			else
				pfree(DatumGetPointer(box->value));
		}
	}
	box->value = value;
	box->isnull = isnull;
}

/*
 * worker_partial_sfunc(internal, aggregate oid, argument anyelement) ->
 * internal
 */
PG_FUNCTION_INFO_V1(worker_partial_sfunc);
Datum
worker_partial_sfunc(PG_FUNCTION_ARGS)
{
	Box		   *box = GetBox(fcinfo);
	NullableDatum args[FUNC_MAX_ARGS];
	int			nargs = 2;

	args[1].value = PG_ARGISNULL(2) ? (Datum) 0 : PG_GETARG_DATUM(2);
	args[1].isnull = PG_ARGISNULL(2);
	if (get_fn_expr_argtype(fcinfo->flinfo, 2) == RECORDOID)
	{
		HeapTupleHeader header = PG_GETARG_HEAPTUPLEHEADER(2);
		TupleDesc	desc = lookup_rowtype_tupdesc(HeapTupleHeaderGetTypeId(header),
												  HeapTupleHeaderGetTypMod(header));
		HeapTupleData tuple = {.t_data = header};
		Datum		values[FUNC_MAX_ARGS];
		bool		nulls[FUNC_MAX_ARGS];

		tuple.t_len = HeapTupleHeaderGetDatumLength(header);
		ItemPointerSetInvalid(&tuple.t_self);
		heap_deform_tuple(&tuple, desc, values, nulls);
		nargs = 1 + desc->natts;
		for (int i = 1; i < nargs; i++)
		{
			args[i].value = values[i - 1];
			args[i].isnull = nulls[i - 1];
		}
		ReleaseTupleDesc(desc);
	}
	Advance(fcinfo, box, box->aggregate.aggtransfn, args, nargs);
	PG_RETURN_POINTER(box);
}

/* worker_partial_ffunc(internal) -> cstring: the state in its text form */
PG_FUNCTION_INFO_V1(worker_partial_ffunc);
Datum
worker_partial_ffunc(PG_FUNCTION_ARGS)
{
	Box		   *box;
	NullableDatum arg;
	Oid			function;
	bool		is_varlena;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	box = (Box *) PG_GETARG_POINTER(0);
	memory = MemoryContextMemAllocated(AggContext(fcinfo), true);
	if (box->isnull)
		PG_RETURN_NULL();
	getTypeOutputInfo(box->aggregate.aggtranstype, &function, &is_varlena);
	arg.value = box->value;
	arg.isnull = false;
	return Call(fcinfo, function, &arg, 1, &fcinfo->isnull);
}

/* aggregate_memory() -> bigint */
PG_FUNCTION_INFO_V1(aggregate_memory);
Datum
aggregate_memory(PG_FUNCTION_ARGS)
{
	(void) fcinfo;
	PG_RETURN_INT64((int64) memory);
}
