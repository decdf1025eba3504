/*-------------------------------------------------------------------------
 *
 * follow_table.h
 *	  What a filter table is, what writes to it, and whether a snapshot may trust
 *	  it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_FOLLOW_TABLE_H
#define CUCKOO_FOLLOW_TABLE_H

#include "compat.h"

#include "fmgr.h"
#include "nodes/pg_list.h"
#include "storage/lockdefs.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

#include "key.h"

/* All followed tables hash with this seed. */
#define CUCKOO_FOLLOW_SEED	0

/* Columns of a filter table */
#define COLUMN_HASH			1
#define COLUMN_NUMBER		2
#define COLUMN_DELTA		3
#define COLUMN_FILTER		4

/* Types of the triggers of a followed column; the update trigger names the column */
#define INSERT_TRIGGER		(TRIGGER_TYPE_ROW | TRIGGER_TYPE_INSERT)
#define DELETE_TRIGGER		(TRIGGER_TYPE_ROW | TRIGGER_TYPE_DELETE)
#define UPDATE_TRIGGER		(TRIGGER_TYPE_ROW | TRIGGER_TYPE_UPDATE)
#define ROW_TRIGGERS		(INSERT_TRIGGER | DELETE_TRIGGER | UPDATE_TRIGGER)

/* What writes to a filter table.  Lookups trust the first two. */
typedef enum CuckooFollowState
{
	CUCKOO_FOLLOWS,				/* the triggers of one table, which all fire always */
	CUCKOO_RECEIVED,			/* a subscription, which has copied the table */
	CUCKOO_FOLLOWS_PARTLY,		/* triggers of one table; changes may be missing */
	CUCKOO_FOLLOWS_NOTHING,
	CUCKOO_FOLLOWS_SEVERAL		/* changes may be logged twice */
} CuckooFollowState;

/* What is known of a filter table, until the next CuckooFollowOpen of any */
typedef struct CuckooFollowed
{
	Oid			filter;			/* key of the cache */
	bool		known;			/* neither table was altered since */
	bool		queues;			/* it has the trigger that writes what was collected */
	CuckooFollowState state;
	Oid			table;			/* the followed table; InvalidOid: not exactly one */
	AttrNumber	column;
	TransactionId since[3];		/* who last altered its triggers, or the subscription */
	CommandId	since_command[3];	/* with which command, if that was this transaction */
	CuckooKey	key;
	MemoryContext context;		/* of the key */
} CuckooFollowed;

/*
 * Open a filter table.  Errors: ERRCODE_WRONG_OBJECT_TYPE if it is not one,
 * ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE if it has more than cuckoo_follow
 * made.  CuckooFollowClose also lets later commands see what was written.
 */
extern Relation CuckooFollowOpen(Oid filter, LOCKMODE mode, CuckooFollowed **followed);
extern void CuckooFollowClose(Relation rel);

/* The index of the primary key, which an invalidation makes an open table forget */
extern Oid CuckooFollowPrimaryKey(Relation rel);

/*
 * Whether the triggers or the subscription are already as they are now in a
 * snapshot.  Nothing older counts: they may have been off, and repaired since.
 */
extern bool CuckooFollowShown(const CuckooFollowed *followed, Snapshot snapshot);

/* Report that a filter table does not follow a table, or that changes may be missing. */
extern CUCKOO_NORETURN void CuckooFollowReport(const CuckooFollowed *followed);

/* The function of our triggers, which follow_log.c defines */
extern PGDLLEXPORT Datum cuckoo_follow_change(PG_FUNCTION_ARGS);

/* Whether this is that function */
extern bool CuckooFollowIsOurs(Oid function);

/*
 * Prepare to hash a column.  An error if its hashes can change without a
 * trigger: ERRCODE_FEATURE_NOT_SUPPORTED.
 */
extern void CuckooFollowInitKey(CuckooKey *key, Oid table, AttrNumber column,
								MemoryContext context);

/* The column of which an update trigger compares the old and the new value; 0: none */
extern AttrNumber CuckooFollowColumn(const char *condition);

/* The filter tables that update triggers of a table name */
extern List *CuckooFollowFilters(Relation table);

/*
 * What is known of the filter table that a trigger of a table names.  NULL if
 * there is nothing to log: DROP COLUMN ... CASCADE has dropped the update
 * trigger but not this one, or this statement has dropped the filter table.
 */
extern CuckooFollowed *CuckooFollowByTable(Oid filter, Relation table);

#endif							/* CUCKOO_FOLLOW_TABLE_H */
