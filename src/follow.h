/*-------------------------------------------------------------------------
 *
 * follow.h
 *	  A filter that follows a table.
 *
 * Each followed column has a filter table: an ordinary table with the columns
 *
 *		hash bigint, n bigint, delta smallint, f cuckoofilter
 *
 * and the primary key (hash, n).  One of its rows, (0, 0), is the base: a
 * filter.  All others are the log: how many copies of a hash were added (a
 * positive delta) or removed (a negative one) since.  In every snapshot, base
 * and log together agree with the rows of the followed table.
 *
 * n distinguishes rows with the same hash.  Each session counts up from a
 * random number, because a sequence would change what lastval() returns to the
 * user who writes.  Without a primary key, a publication FOR ALL TABLES would
 * make every fold fail, and REPLICA IDENTITY FULL would log the whole base at
 * every fold.
 *
 * follow.c			the SQL functions
 * follow_log.c		the triggers, and the buffer between them and the log
 * follow_table.c	the rows of a filter table
 * follow_target.c	which triggers write to which filter table
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_FOLLOW_H
#define CUCKOO_FOLLOW_H

#include "compat.h"

#include "access/genam.h"
#include "access/xact.h"
#include "commands/trigger.h"
#include "executor/tuptable.h"
#include "nodes/execnodes.h"
#include "utils/rel.h"
#include "utils/snapshot.h"

#include "key.h"
#include "value.h"

/* Columns of a filter table */
#define FOLLOW_HASH		1
#define FOLLOW_NUMBER	2
#define FOLLOW_DELTA	3
#define FOLLOW_FILTER	4
#define FOLLOW_COLUMNS	4

/* In the base row, delta tells whether the filter has been built. */
#define FOLLOW_NOT_BUILT	0
#define FOLLOW_BUILT		1

/* All followed tables hash with this seed. */
#define FOLLOW_SEED		0

/*
 * Changes: the hashes added and removed, in memory
 */

typedef struct FollowHashes
{
	uint64	   *hashes;
	Size		count;
	Size		room;
} FollowHashes;

typedef struct FollowChanges
{
	FollowHashes added;			/* a copy each */
	FollowHashes removed;
} FollowChanges;

extern void FollowPut(FollowHashes *list, uint64 hash);
extern void FollowPutDelta(FollowChanges *changes, uint64 hash, int delta);
extern void FollowAppend(FollowChanges *changes, const FollowChanges *more);
extern void FollowSort(FollowHashes *list);
extern void FollowSortChanges(FollowChanges *changes);
extern void FollowFree(FollowChanges *changes);

static inline Size
FollowCount(const FollowChanges *changes)
{
	return changes->added.count + changes->removed.count;
}

/* Walks through sorted changes by hash. */
typedef struct FollowWalk
{
	const FollowChanges *changes;
	Size		added;
	Size		removed;
} FollowWalk;

/*
 * The next hash with a different number of copies added and removed, and the
 * difference.
 */
extern bool FollowNext(FollowWalk *walk, uint64 *hash, int64 *net);

/*
 * The filter table
 */

/* What is needed to write rows of a filter table. */
typedef struct FollowWriter
{
	Relation	rel;
	EState	   *estate;
	ResultRelInfo *result;
	TupleTableSlot *slot;
	Oid			user;			/* who we were before */
	int			security;
} FollowWriter;

/* Whether a relation has the columns of a filter table. */
extern bool FollowIsTable(Relation rel);

/* Refuse a relation that is not a filter table. */
extern void FollowCheckTable(Relation rel);

/* Open a filter table by its Oid. */
extern Relation FollowOpenTable(Oid relid, LOCKMODE lockmode);

extern void FollowBeginWriting(FollowWriter *writer, Relation rel);
extern void FollowEndWriting(FollowWriter *writer);

/* Write sorted changes to the log, netted by hash. */
extern void FollowWriteLog(Relation rel, const FollowChanges *changes);

/* Number the following rows of the log from another random number on. */
extern void FollowForgetNumber(void);

/* Insert the base row, or update it. */
extern void FollowInsertBase(Relation rel, CuckooValue *value, int delta);
extern void FollowUpdateBase(Relation rel, ItemPointer tid, CuckooValue *value, int delta);

/* A base row in memory. */
typedef struct FollowBase
{
	bool		found;
	bool		built;			/* implies that there is a filter */
	ItemPointerData tid;
	Datum		f;				/* perhaps toasted; a null pointer if there is none */
} FollowBase;

/* Read the base row in a snapshot. */
extern void FollowReadBase(Relation rel, Snapshot snapshot, FollowBase *base);

/*
 * Lock the latest version of the base row, and read it.  False if another
 * transaction has locked it and we do not wait.
 */
extern bool FollowLockBase(Relation rel, bool wait, FollowBase *base);

/*
 * Whether the log, in a snapshot, adds more copies of a hash than it removes.
 * Removals by this transaction itself do not count: see follow_table.c.
 */
extern bool FollowLogContains(Relation rel, Snapshot snapshot, uint64 hash);

/*
 * Read the log in a snapshot, and delete its rows if remove is true.  Returns
 * the number of rows.  changes may be NULL.
 */
extern int64 FollowReadLog(Relation rel, Snapshot snapshot, bool remove, bool own_removals,
						   FollowChanges *changes);

/*
 * The followed table
 */

/* What a table's triggers write to: one target for each followed column. */
typedef struct FollowTarget
{
	Oid			trigger;		/* the update trigger, which gives the rest */
	Oid			filter;
	AttrNumber	column;
	CuckooKey	key;
} FollowTarget;

typedef struct FollowTargets
{
	Oid			table;			/* hash key */
	bool		valid;
	MemoryContext context;
	int			count;
	FollowTarget *list;
} FollowTargets;

/* Prepare to hash a column.  Refuses a type whose hashes DDL can change. */
extern void FollowInitKey(CuckooKey *key, Relation table, AttrNumber column, MemoryContext context);

/* The targets of a table; valid until the next call. */
extern FollowTargets *FollowFindTargets(Relation table);

/* The target of one filter; NULL if there is none. */
extern FollowTarget *FollowFindTarget(Relation table, Oid filter);

/* The table that a filter table follows; InvalidOid if there is none. */
extern Oid	FollowFindTable(Oid filter);

/* The triggers that a followed table must have. */
#define FOLLOW_TRIGGER_INSERT	0x01
#define FOLLOW_TRIGGER_DELETE	0x02
#define FOLLOW_TRIGGER_END		0x04
#define FOLLOW_TRIGGER_TRUNCATE	0x08
#define FOLLOW_TRIGGER_UPDATE	0x10
#define FOLLOW_TRIGGERS			0x1F

/*
 * Which of them exist and fire always.  The names of those that exist but do
 * not fire always are added to *disabled, if it is not NULL.
 */
extern int	FollowTriggersInOrder(Relation table, Oid filter, List **disabled);

/*
 * The buffer
 */

/* Write what this (sub)transaction has in its buffer to the log. */
extern void FollowFlush(Oid filter);

/* Whether an outer (sub)transaction has something in its buffer. */
extern bool FollowOuterPending(Oid filter);

/* Whether a hash is in the buffer as added. */
extern bool FollowBufferContains(Oid filter, uint64 hash);

/* Get the hashes that are in the buffer as added. */
extern void FollowBufferAdded(Oid filter, FollowChanges *changes);

/* Whether this transaction has written to a log. */
extern bool FollowHasWritten(void);

/*
 * Whether a cursor may show rows of this transaction that neither its own
 * snapshot's log has nor the newest: they were logged after the cursor was
 * opened, and are removed again.
 */
extern bool FollowCursorMayMiss(Oid filter);

/*
 * Fold the log, and more changes if not NULL, into the base.  False if another
 * session has locked the base; an error if it has not been built, or has
 * another key type.
 */
extern bool FollowFold(Relation rel, const CuckooKey *key, FollowChanges *more, int64 *folded);

extern CUCKOO_NORETURN void FollowReportNotBuilt(Relation rel);

/* For a base that somebody else has put there */
extern CUCKOO_NORETURN void FollowReportForeign(void);

/* The filter with changes applied: first additions, then removals. */
extern CuckooValue *FollowApply(Datum f, FollowChanges *changes);

#endif							/* CUCKOO_FOLLOW_H */
