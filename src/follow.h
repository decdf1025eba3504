/*-------------------------------------------------------------------------
 *
 * follow.h
 *	  Filter tables: what the triggers (follow_log.c) and the SQL functions
 *	  (follow.c) share.
 *
 * Only follow_log.c reads and writes rows of a filter table.  follow.c opens one
 * with CuckooFollowOpen, holds its lock until the transaction ends, and calls
 * the rest with it.  Who writes the base or deletes the log has locked the base.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_FOLLOW_H
#define CUCKOO_FOLLOW_H

#include "compat.h"

#include "access/htup.h"
#include "nodes/lockoptions.h"
#include "storage/lockdefs.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

#include "core/list.h"
#include "key.h"
#include "value.h"

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

/*
 * Whether the triggers or the subscription are already as they are now in a
 * snapshot.  Nothing older counts: they may have been off, and repaired since.
 */
extern bool CuckooFollowShown(const CuckooFollowed *followed, Snapshot snapshot);

/* Report that a filter table does not follow a table, or that changes may be missing. */
extern CUCKOO_NORETURN void CuckooFollowReport(const CuckooFollowed *followed);

/* Whether this is the function of our triggers */
extern bool CuckooFollowIsOurs(Oid function);

/*
 * Prepare to hash a column.  An error if its hashes can change without a
 * trigger: ERRCODE_FEATURE_NOT_SUPPORTED.
 */
extern void CuckooFollowInitKey(CuckooKey *key, Oid table, AttrNumber column,
								MemoryContext context);

/* The column of which an update trigger compares the old and the new value; 0: none */
extern AttrNumber CuckooFollowColumn(const char *condition);

/* The hashes of all rows of the followed table that the active snapshot shows */
extern CuckooList CuckooFollowHashes(Relation table, CuckooFollowed *followed);

/* The base: a copy of its row, if there is one */
typedef struct CuckooBase
{
	HeapTuple	row;
	bool		built;			/* implies that there is a filter */
	Datum		f;				/* perhaps toasted; a null pointer if there is none */
} CuckooBase;

/* Read the base that the active snapshot shows. */
extern CuckooBase CuckooBaseRead(Relation rel);

/* Lock and read the newest base.  False if there is none, or it is not to be had without waiting. */
extern bool CuckooBaseLock(Relation rel, LockWaitPolicy policy, CuckooBase *base);

/* Write the base, which is locked if there is one: delta 1 means built. */
extern void CuckooBaseWrite(Relation rel, const CuckooBase *base, CuckooValue *value, int32 delta);

/*
 * Build the base, which is locked if there is one, from the followed table, and
 * delete the log that this makes obsolete.  A rate of 0 means the default one, a
 * capacity of 0 one that suits the table.
 */
extern void CuckooBaseBuild(Relation rel, Relation table, CuckooFollowed *followed,
							const CuckooBase *base, double fpr, uint64 capacity);

/* Whether a base is what a build makes for a key, or for any if it is NULL */
extern bool CuckooBaseFits(const CuckooFilter *base, const CuckooKey *key);

/* Refuse a base that is not there, not built, or not what a build makes. */
extern CUCKOO_NORETURN void CuckooBaseReport(Relation rel, bool built);

/* Whether the log that the active snapshot shows has this hash */
extern bool CuckooLogContains(Relation rel, uint64 hash);

/*
 * Read the log that the active snapshot shows, into the lists that are not NULL,
 * and delete it if wanted.  Returns the number of its rows.
 */
extern int64 CuckooLogRead(Relation rel, CuckooList *added, CuckooList *removed, bool delete);

/* Sort additions and removals, and drop those that cancel each other. */
extern void CuckooLogSort(CuckooList *added, CuckooList *removed);

/* Change a draft by hashes, which get sorted.  False if it has no room for them. */
extern bool CuckooLogApply(CuckooDraft *draft, const CuckooList *list, bool remove);

#endif							/* CUCKOO_FOLLOW_H */
