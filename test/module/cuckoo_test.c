/*-------------------------------------------------------------------------
 *
 * cuckoo_test.c
 *	  Functions for test/t that SQL cannot have: an aggregate that runs another
 *	  one up to its state, as Citus does; the next OID of the server; a stored
 *	  filter with another size; a VACUUM of an index that stops in its midst; a
 *	  snapshot that is too old; a page that is lost.
 *
 * On Citus, a worker does not run SELECT cuckoo_agg(key) but
 * SELECT worker_partial_agg('cuckoo_agg(text)'::regprocedure, key).  Such a call
 * of the transition function differs from one by PostgreSQL's executor (Citus,
 * src/backend/distributed/utils/aggregate_utils.c):
 *
 * - It has a new FmgrInfo, without an expression and with an empty fn_extra.
 * - Its context is that of the outer aggregate, whose Aggref has other
 *   arguments.
 * - Several arguments come from a record, so they may be packed and unaligned.
 * - A state is sent to the coordinator by the type's output function.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "storage/bufmgr.h"
#include "storage/lwlock.h"
#include "utils/array.h"
#include "utils/datum.h"
#include "utils/expandeddatum.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/typcache.h"
#include "utils/xid8.h"

/* 17 renamed the counters. */
#if PG_VERSION_NUM < 170000
#define TransamVariables ShmemVariableCache
#endif

PG_MODULE_MAGIC;

/* The state, with that of the aggregate to be split. */
typedef struct Box
{
	FormData_pg_aggregate aggregate;
	NullableDatum state;
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

/* Call a function in the context of this call, without an expression. */
static NullableDatum
Call(FunctionCallInfo fcinfo, Oid function, const NullableDatum *args, int nargs)
{
	LOCAL_FCINFO(inner, FUNC_MAX_ARGS);
	FmgrInfo	info;
	NullableDatum result = {.isnull = true};

	fmgr_info(function, &info);
	for (int i = 0; i < nargs; i++)
	{
		if (info.fn_strict && args[i].isnull)
			return result;
	}
	InitFunctionCallInfoData(*inner, &info, nargs, fcinfo->fncollation,
							 fcinfo->context, fcinfo->resultinfo);
	memcpy(inner->args, args, nargs * sizeof(NullableDatum));
	result.value = FunctionCallInvoke(inner);
	result.isnull = inner->isnull;
	return result;
}

/*
 * Keep a new state, as nodeAgg.c does in advance_transition_function(): one that
 * is not in the aggregate's context yet is copied into it.
 */
static void
Keep(NullableDatum *state, NullableDatum value, MemoryContext context)
{
	MemoryContext caller = MemoryContextSwitchTo(context);

	if (DatumGetPointer(value.value) == DatumGetPointer(state->value))
		value = *state;
	else
	{
		if (!value.isnull &&
			!(DatumIsReadWriteExpandedObject(value.value, false, -1) &&
			  MemoryContextGetParent(DatumGetEOHP(value.value)->eoh_context) == context))
			value.value = datumCopy(value.value, false, -1);
		if (!state->isnull && DatumIsReadWriteExpandedObject(state->value, false, -1))
			DeleteExpandedObject(state->value);
		else if (!state->isnull)
			pfree(DatumGetPointer(state->value));
	}
	*state = value;
	MemoryContextSwitchTo(caller);
}

/* worker_partial_sfunc(internal, aggregate oid, argument anyelement) -> internal */
PG_FUNCTION_INFO_V1(worker_partial_sfunc);
Datum
worker_partial_sfunc(PG_FUNCTION_ARGS)
{
	Box		   *box = PG_ARGISNULL(0) ? NULL : (Box *) PG_GETARG_POINTER(0);
	NullableDatum args[FUNC_MAX_ARGS] = {[1] = fcinfo->args[2]};
	int			nargs = 2;

	if (box == NULL)
	{
		HeapTuple	tuple = SearchSysCache1(AGGFNOID, fcinfo->args[1].value);

		box = MemoryContextAllocZero(AggContext(fcinfo), sizeof(Box));
		memcpy(&box->aggregate, GETSTRUCT(tuple), sizeof(FormData_pg_aggregate));
		box->state.isnull = true;
		ReleaseSysCache(tuple);
	}
	args[0] = box->state;
	if (get_fn_expr_argtype(fcinfo->flinfo, 2) == RECORDOID)
	{
		HeapTupleHeader header = PG_GETARG_HEAPTUPLEHEADER(2);
		TupleDesc	desc = lookup_rowtype_tupdesc(HeapTupleHeaderGetTypeId(header),
												  HeapTupleHeaderGetTypMod(header));
		HeapTupleData tuple = {.t_len = HeapTupleHeaderGetDatumLength(header), .t_data = header};

		nargs = 1 + desc->natts;
		for (int i = 1; i < nargs; i++)
			args[i].value = heap_getattr(&tuple, i, desc, &args[i].isnull);
		ReleaseTupleDesc(desc);
	}
	/* The first value is the state of a strict function. */
	if (box->state.isnull && func_strict(box->aggregate.aggtransfn))
		Keep(&box->state, args[1], AggContext(fcinfo));
	else
		Keep(&box->state, Call(fcinfo, box->aggregate.aggtransfn, args, nargs), AggContext(fcinfo));
	PG_RETURN_POINTER(box);
}

/* worker_partial_ffunc(internal) -> cstring: the state in its text form */
PG_FUNCTION_INFO_V1(worker_partial_ffunc);
Datum
worker_partial_ffunc(PG_FUNCTION_ARGS)
{
	Box		   *box = (Box *) PG_GETARG_POINTER(0);
	NullableDatum text = {.isnull = true};
	Oid			function;
	bool		is_varlena;

	memory = MemoryContextMemAllocated(AggContext(fcinfo), true);
	if (!PG_ARGISNULL(0) && !box->state.isnull)
	{
		getTypeOutputInfo(box->aggregate.aggtranstype, &function, &is_varlena);
		text = Call(fcinfo, function, &box->state, 1);
	}
	fcinfo->isnull = text.isnull;
	return text.value;
}

/* aggregate_memory() -> bigint */
PG_FUNCTION_INFO_V1(aggregate_memory);
Datum
aggregate_memory(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64((int64) memory);
}

/*
 * next_xid(xid8) -> xid8: the next transaction id of the server.  Returns what it
 * was.
 */
PG_FUNCTION_INFO_V1(next_xid);
Datum
next_xid(PG_FUNCTION_ARGS)
{
	FullTransactionId next;

	LWLockAcquire(XidGenLock, LW_EXCLUSIVE);
	next = TransamVariables->nextXid;
	TransamVariables->nextXid = PG_GETARG_FULLTRANSACTIONID(0);
	LWLockRelease(XidGenLock);
	PG_RETURN_FULLTRANSACTIONID(next);
}

/*
 * next_oid(oid) -> void: the next OID that the server gives out, if it is free.
 * In production it takes four thousand million OIDs to come back to one.
 */
PG_FUNCTION_INFO_V1(next_oid);
Datum
next_oid(PG_FUNCTION_ARGS)
{
	LWLockAcquire(OidGenLock, LW_EXCLUSIVE);
	TransamVariables->nextOid = PG_GETARG_OID(0);
	TransamVariables->oidCount = 0;
	LWLockRelease(OidGenLock);
	PG_RETURN_VOID();
}

/*
 * one_byte_less(cuckoofilter) -> cuckoofilter: the same TOAST pointer, but with a
 * size that its first chunk does not describe.
 */
PG_FUNCTION_INFO_V1(one_byte_less);
Datum
one_byte_less(PG_FUNCTION_ARGS)
{
	char	   *copy = palloc(TOAST_POINTER_SIZE);
	struct varatt_external pointer;

	memcpy(copy, PG_GETARG_POINTER(0), TOAST_POINTER_SIZE);
	VARATT_EXTERNAL_GET_POINTER(pointer, copy);
	pointer.va_rawsize--;
	memcpy(VARDATA_EXTERNAL(copy), &pointer, sizeof(pointer));
	PG_RETURN_POINTER(copy);
}

/* Rows to remove from an index, and those after which to stop */
typedef struct DeadRows
{
	Datum	   *rows;
	int			count;
	Datum	   *stops;
	int			stop_count;		/* that have not been asked about yet */
} DeadRows;

static int
FindRow(const Datum *rows, int count, ItemPointer tid)
{
	int			i = 0;

	while (i < count && !ItemPointerEquals(tid, (ItemPointer) DatumGetPointer(rows[i])))
		i++;
	return i;
}

static bool
IsDead(ItemPointer tid, void *arg)
{
	DeadRows   *dead = arg;
	int			i = FindRow(dead->stops, dead->stop_count, tid);

	if (i < dead->stop_count)
	{
		dead->stops[i] = dead->stops[--dead->stop_count];
		if (dead->stop_count == 0)
			(void) DirectFunctionCall1(pg_advisory_lock_int8, Int64GetDatum(1));
	}
	return FindRow(dead->rows, dead->count, tid) < dead->count;
}

/*
 * bulk_delete(index regclass, dead tid[], stops tid[]) -> bigint: removes rows from
 * an index, as VACUUM does, but waits for the advisory lock 1 when it has been asked
 * about all rows of another list.  Returns how many entries were removed.
 */
PG_FUNCTION_INFO_V1(bulk_delete);
Datum
bulk_delete(PG_FUNCTION_ARGS)
{
	DeadRows	dead;
	IndexVacuumInfo info = {
		.index = index_open(PG_GETARG_OID(0), RowExclusiveLock),
		.message_level = DEBUG1,
		.strategy = GetAccessStrategy(BAS_VACUUM)
	};
	IndexBulkDeleteResult *result;

	deconstruct_array(PG_GETARG_ARRAYTYPE_P(1), TIDOID, sizeof(ItemPointerData), false, TYPALIGN_SHORT,
					  &dead.rows, NULL, &dead.count);
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(2), TIDOID, sizeof(ItemPointerData), false, TYPALIGN_SHORT,
					  &dead.stops, NULL, &dead.stop_count);
	result = index_bulk_delete(&info, NULL, IsDead, &dead);
	index_close(info.index, RowExclusiveLock);
	PG_RETURN_INT64((int64) result->tuples_removed);
}

/* age_snapshot() -> true: make the statement's snapshot too old for all pages. */
PG_FUNCTION_INFO_V1(age_snapshot);
Datum
age_snapshot(PG_FUNCTION_ARGS)
{
#if PG_VERSION_NUM < 170000
	GetActiveSnapshot()->lsn = 1;
	GetActiveSnapshot()->whenTaken = -1;
#endif
	PG_RETURN_BOOL(true);
}

/* lose_page(index regclass, block bigint) -> true: make zeros of a page, as a disk can. */
PG_FUNCTION_INFO_V1(lose_page);
Datum
lose_page(PG_FUNCTION_ARGS)
{
	Relation	index = index_open(PG_GETARG_OID(0), RowExclusiveLock);
	Buffer		buffer = ReadBuffer(index, (BlockNumber) PG_GETARG_INT64(1));

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	memset(BufferGetPage(buffer), 0, BLCKSZ);
	MarkBufferDirty(buffer);
	UnlockReleaseBuffer(buffer);
	index_close(index, RowExclusiveLock);
	PG_RETURN_BOOL(true);
}
