/*-------------------------------------------------------------------------
 *
 * follow_log.h
 *	  The rows of a filter table: its base and its log.
 *
 * Only follow_log.c reads and writes them.  Callers have opened the filter table
 * with CuckooFollowOpen, and locked the base, if there is one, to write it or to
 * delete the log.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_FOLLOW_LOG_H
#define CUCKOO_FOLLOW_LOG_H

#include "compat.h"

#include "access/htup.h"
#include "nodes/lockoptions.h"
#include "utils/relcache.h"

#include "core/list.h"
#include "follow_table.h"
#include "value.h"

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

/* Write the base: delta 1 means built. */
extern void CuckooBaseWrite(Relation rel, const CuckooBase *base, CuckooValue *value, int32 delta);

/*
 * Build the base from the followed table, and delete the log that this makes
 * obsolete.  A rate of 0 means the default one, a capacity of 0 one that suits
 * the table.
 */
extern void CuckooBaseBuild(Relation rel, Relation table, CuckooFollowed *followed,
							const CuckooBase *base, double fpr, uint64 capacity);

/* Report an error unless a base is what a build makes for a key, or for any if it is NULL. */
extern void CuckooBaseCheckFits(Relation rel, const CuckooFilter *base, const CuckooKey *key);

/* Refuse a snapshot that does not show the base, if there is one that is built. */
extern void CuckooBaseCheckShown(Relation rel);

/* Report a base that the active snapshot does not show, or not as built. */
extern CUCKOO_NORETURN void CuckooBaseReportUnbuilt(Relation rel);

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

#endif							/* CUCKOO_FOLLOW_LOG_H */
