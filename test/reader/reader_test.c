/*-------------------------------------------------------------------------
 *
 * reader_test.c
 *	  What test/t/023_reader.pl needs to have a TOAST value id used again, and
 *	  to look keys up from a call site that lives as long as the session.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "fmgr.h"
#include "nodes/primnodes.h"
#include "storage/lwlock.h"
#include "utils/memutils.h"

#if PG_VERSION_NUM >= 170000
#define COUNTERS TransamVariables
#else
#define COUNTERS ShmemVariableCache
#endif

PG_MODULE_MAGIC;

/*
 * next_oid(oid) -> void: the next OID that the server gives out, if it is free.
 * In production it takes four thousand million OIDs to come back to one.
 */
PG_FUNCTION_INFO_V1(next_oid);
Datum
next_oid(PG_FUNCTION_ARGS)
{
	LWLockAcquire(OidGenLock, LW_EXCLUSIVE);
	COUNTERS->nextOid = PG_GETARG_OID(0);
	COUNTERS->oidCount = 0;
	LWLockRelease(OidGenLock);
	PG_RETURN_VOID();
}

/*
 * lasting_contains(oid, f, key) -> boolean: calls the function with that OID, as
 * an extension might that keeps a function's state for the whole session
 */
PG_FUNCTION_INFO_V1(lasting_contains);
Datum
lasting_contains(PG_FUNCTION_ARGS)
{
	static FmgrInfo info;

	if (info.fn_oid != PG_GETARG_OID(0))
	{
		MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);
		/* Not copyObject, which needs C23 from 19 on. */
		FuncExpr   *expression = copyObjectImpl(fcinfo->flinfo->fn_expr);

		/* The types of its arguments are those of our second and third. */
		expression->args = list_delete_first(expression->args);

		fmgr_info_cxt(PG_GETARG_OID(0), &info, TopMemoryContext);
		fmgr_info_set_expr((Node *) expression, &info);
		MemoryContextSwitchTo(old);
	}
	return FunctionCall2(&info, PG_GETARG_DATUM(1), PG_GETARG_DATUM(2));
}
