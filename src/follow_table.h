/*-------------------------------------------------------------------------
 *
 * follow_table.h
 *	  What a filter table is, what writes to it, and when to trust it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_FOLLOW_TABLE_H
#define CUCKOO_FOLLOW_TABLE_H

#include "compat.h"

#include "nodes/pg_list.h"
#include "storage/lockdefs.h"
#include "utils/relcache.h"

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

/* Types of the triggers of a filter table: one writes what was collected, one refuses SQL */
#define WRITE_TRIGGER		TRIGGER_TYPE_DELETE
#define REFUSE_TRIGGER		(TRIGGER_TYPE_BEFORE | TRIGGER_TYPE_INSERT | TRIGGER_TYPE_UPDATE | \
							 TRIGGER_TYPE_DELETE | TRIGGER_TYPE_TRUNCATE)

/* What writes to a filter table.  Lookups trust CUCKOO_FOLLOWS and CUCKOO_RECEIVED. */
typedef enum CuckooFollowState
{
	CUCKOO_FOLLOWS,				/* triggers of one table, which are all in order */
	CUCKOO_FOLLOWS_RENAMED,		/* the same; table or column was renamed */
	CUCKOO_FOLLOWS_RESTORED,	/* the same; not built since a dump was restored */
	CUCKOO_FOLLOWS_PARTLY,		/* triggers of one table; changes may be missing */
	CUCKOO_RECEIVED,			/* a subscription whose tables are all in step */
	CUCKOO_RECEIVED_PARTLY,		/* a subscription that has not copied all tables */
	CUCKOO_FOLLOWS_NOTHING,
	CUCKOO_FOLLOWS_SEVERAL		/* changes may be logged twice */
} CuckooFollowState;

/* A transaction that altered triggers or a subscription, or built what was restored */
typedef struct FollowSince
{
	TransactionId xid;
	CommandId	command;		/* with which, if it is the own transaction */
} FollowSince;

/* What is known of a filter table, until the next CuckooFollowOpen of any */
typedef struct CuckooFollowed
{
	Oid			filter;			/* key of the cache */
	bool		known;			/* neither table was altered since */
	bool		queues;			/* it has the trigger that writes what was collected */
	CuckooFollowState state;
	Oid			table;			/* the followed table; InvalidOid: not exactly one */
	AttrNumber	column;
	char	   *names[3];		/* schema, table and column as they were followed */
	FollowSince *since;			/* snapshots must show all of these */
	int			since_count;
	CuckooKey	key;			/* see CuckooFollowKey */
	MemoryContext context;		/* of what the pointers point to */
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
 * Let an open filter table go with the followed table, like an index.  Dumps do
 * not keep this, which tells that it was restored.
 */
extern void CuckooFollowDepend(Relation rel, CuckooFollowed *followed);

/*
 * Report an error unless the active snapshot may trust an open filter table:
 * ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE if changes may be missing,
 * ERRCODE_T_R_SERIALIZATION_FAILURE if the snapshot is older than a repair.
 */
extern void CuckooFollowCheckTrust(Relation rel, CuckooFollowed **followed);

/* Report the latter. */
extern CUCKOO_NORETURN void CuckooFollowReportOlder(Relation rel);

/* Report an error if something else has the names of what is followed. */
extern void CuckooFollowCheckNames(const CuckooFollowed *followed);

/* Report that a table does not exist. */
extern CUCKOO_NORETURN void CuckooFollowReportMissing(Oid table);

/* Report the state of a filter table, which is not what the caller needs. */
extern CUCKOO_NORETURN void CuckooFollowReport(const CuckooFollowed *followed);

/* Whether this is the function of our triggers */
extern bool CuckooFollowIsOurs(Oid function);

/*
 * Prepare to hash a column.  An error if its hashes can change without a
 * trigger: ERRCODE_FEATURE_NOT_SUPPORTED.
 */
extern void CuckooFollowInitKey(CuckooKey *key, Oid table, AttrNumber column,
								MemoryContext context);

/* The key of the followed column.  The followed table must be locked. */
extern CuckooKey *CuckooFollowKey(CuckooFollowed *followed);

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
