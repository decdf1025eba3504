/*-------------------------------------------------------------------------
 *
 * reader_test.c
 *	  What test/t/023_reader.pl needs to have a TOAST value id used again.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "fmgr.h"
#include "storage/lwlock.h"

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
