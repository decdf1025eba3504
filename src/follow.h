/*-------------------------------------------------------------------------
 *
 * follow.h
 *	  A filter that follows a table.
 *
 * For each followed column there is a filter table: an ordinary table with the
 * columns
 *
 *		hash bigint, n bigint, delta smallint, f cuckoofilter
 *
 * and the primary key (hash, n).  One of its rows, (0, 0), is the base: a
 * filter.  All others are the log: copies of a key, by its hash, that were
 * added (delta > 0) or removed (delta < 0) since.  Base and log together say
 * what the rows of the followed table say, in every snapshot.
 *
 * n makes rows of one hash distinct.  Each session counts from a random number:
 * a sequence would change what lastval() says to whoever writes.
 * Without a primary key a publication FOR ALL TABLES would make every fold
 * fail, and REPLICA IDENTITY FULL would log the whole base at each.
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

/* delta of the base row: whether the filter has been built. */
#define FOLLOW_NOT_BUILT	0
#define FOLLOW_BUILT		1

/* All followed tables hash with this seed. */
#define FOLLOW_SEED		0

/*
 * Changes: hashes added and removed, in memory
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

/* The next hash whose copies added and removed differ in number, and by how many. */
extern bool FollowNext(FollowWalk *walk, uint64 *hash, int64 *net);

/*
 * The filter table
 */

/* What one row of a filter table is to be written with. */
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

/* Refuse whatever is not a filter table. */
extern void FollowCheckTable(Relation rel);

/* Open a filter table by its Oid. */
extern Relation FollowOpenTable(Oid relid, LOCKMODE lockmode);

extern void FollowBeginWriting(FollowWriter *writer, Relation rel);
extern void FollowEndWriting(FollowWriter *writer);

/* Write sorted changes to the log, netted by hash. */
extern void FollowWriteLog(Relation rel, const FollowChanges *changes);

/* Number the rows of the log from another random number on. */
extern void FollowForgetNumber(void);

/* The first base row, or its next version. */
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
 * transaction has it and we are not to wait.
 */
extern bool FollowLockBase(Relation rel, bool wait, FollowBase *base);

/*
 * Whether copies of a hash in the log, in a snapshot, are more than none.  What
 * this transaction has removed itself does not count: see follow_table.c.
 */
extern bool FollowLogContains(Relation rel, Snapshot snapshot, uint64 hash);

/* Read the log in a snapshot, and delete what was read if so asked; rows read. */
extern int64 FollowReadLog(Relation rel, Snapshot snapshot, bool remove, bool own_removals,
						   FollowChanges *changes);

/*
 * The followed table
 */

/* What a table's triggers write to: one for each followed column. */
typedef struct FollowTarget
{
	Oid			trigger;		/* the update trigger, which tells the rest */
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

/* Prepare to hash a column, and refuse one of which DDL can change the hashes. */
extern void FollowInitKey(CuckooKey *key, Relation table, AttrNumber column, MemoryContext context);

/* What follows a table; good until the next call. */
extern FollowTargets *FollowFindTargets(Relation table);

/* The target of one filter; NULL if there is none. */
extern FollowTarget *FollowFindTarget(Relation table, Oid filter);

/* The table that a filter table follows; InvalidOid if there is none. */
extern Oid	FollowFindTable(Oid filter);

/* Triggers of a followed table that must be there. */
#define FOLLOW_TRIGGER_INSERT	0x01
#define FOLLOW_TRIGGER_DELETE	0x02
#define FOLLOW_TRIGGER_END		0x04
#define FOLLOW_TRIGGER_TRUNCATE	0x08
#define FOLLOW_TRIGGER_UPDATE	0x10
#define FOLLOW_TRIGGERS			0x1F

/*
 * Which of them are there and fire always.  The names of others that are there
 * are put into *disabled, if it is not NULL.
 */
extern int	FollowTriggersInOrder(Relation table, Oid filter, List **disabled);

/*
 * The buffer
 */

/* Write what this (sub)transaction has in its buffer to the log. */
extern void FollowFlush(Oid filter);

/* Whether an outer subtransaction has something in its buffer. */
extern bool FollowOuterPending(Oid filter);

/* Whether something in the buffer was added. */
extern bool FollowBufferContains(Oid filter, uint64 hash);

/* Add what is in the buffer and was added. */
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
 * Fold the log and some changes more into the base.  False if another session
 * has the base; an error if it was not built, or for keys of another type.
 */
extern bool FollowFold(Relation rel, const CuckooKey *key, FollowChanges *more, int64 *folded);

extern void FollowReportNotBuilt(Relation rel);

/* For a base that somebody else has put there */
extern void FollowReportForeign(void);

/* The filter with changes applied: first added, then removed. */
extern CuckooValue *FollowApply(Datum f, FollowChanges *changes);

#endif							/* CUCKOO_FOLLOW_H */
