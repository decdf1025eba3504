/*-------------------------------------------------------------------------
 *
 * unique.c
 *	  Unique indexes, which PostgreSQL lets access methods other than btree have
 *	  from 18 on.  README, "Uniqueness", says why no two sessions can add the same
 *	  key, and who waits for whom.
 *
 *-------------------------------------------------------------------------
 */
#include "index.h"

#include "catalog/index.h"
#include "mb/pg_wchar.h"
#include "nodes/execnodes.h"
#include "storage/lmgr.h"
#include "storage/predicate.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

/* What the additions of a statement need */
struct CuckooUniqueCheck
{
	Relation	index;
	Relation	heap;
	CuckooRowReader *reader;
	CuckooRowReader *others;	/* of rows that are compared in a build, else NULL */
	ScanKeyData key[INDEX_MAX_KEYS];	/* that is added, or looked for in a build */
	CuckooList	found;			/* intervals that may name others of it */
	CuckooRows	rows;			/* that these name */
};

/* Another row of a key, which is there or may be in the end */
typedef struct CuckooRival
{
	TransactionId xid;			/* to wait for; InvalidTransactionId: it is there */
	uint32		token;			/* of its speculative insertion, or 0 */
} CuckooRival;

/* Prepare to add, or to check a build, until CuckooUniqueEnd. */
CuckooUniqueCheck *
CuckooUniqueBegin(Relation index, Relation heap, MemoryContext ctx)
{
	CuckooUniqueCheck *unique = MemoryContextAllocZero(ctx, sizeof(CuckooUniqueCheck));
	MemoryContext old = MemoryContextSwitchTo(ctx);

	unique->index = index;
	unique->heap = heap;
	unique->reader = CuckooRowReaderBegin(index, heap, ctx);
	for (int i = 0; i < IndexRelationGetNumberOfKeyAttributes(index); i++)
	{
		Oid			type = index->rd_opcintype[i];

		ScanKeyEntryInitialize(&unique->key[i], 0, (AttrNumber) (i + 1), 1, InvalidOid,
							   index->rd_indcollation[i],
							   get_opcode(get_opfamily_member(index->rd_opfamily[i], type, type, 1)),
							   0);
	}
	CuckooListReserve(&unique->found, CUCKOO_MAX_LINKS);
	MemoryContextSwitchTo(old);
	return unique;
}

void
CuckooUniqueEnd(CuckooUniqueCheck *unique)
{
	CuckooRowReaderEnd(unique->reader);
	if (unique->others != NULL)
		CuckooRowReaderEnd(unique->others);
}

/*
 * What an error says of a key; NULL if the user may not know it.  Other methods
 * refuse keys longer than a third of a page, so their messages are short.
 */
#define MAX_DESCRIPTION		2700

static char *
DescribeKey(Relation index, Datum *values, bool *isnull)
{
	char	   *key = BuildIndexValueDescription(index, values, isnull);
	int			length = key == NULL ? 0 : (int) strlen(key);

	if (length > MAX_DESCRIPTION)
		strcpy(key + pg_mbcliplen(key, length, MAX_DESCRIPTION - 3), "...");
	return key;
}

static void
ReportDuplicates(CuckooUniqueCheck *unique)
{
	const char *name = RelationGetRelationName(unique->index);
	char	   *key = DescribeKey(unique->index, unique->reader->values, unique->reader->isnull);

	ereport(ERROR,
			(errcode(ERRCODE_UNIQUE_VIOLATION),
			 errmsg("could not create unique index \"%s\"", name),
			 key ? errdetail("Key %s is duplicated.", key) : errdetail("Duplicate keys exist."),
			 errtableconstraint(unique->heap, name)));
}

/*
 * Check the rows of one hash when an index is built: of those that a snapshot
 * shows, no two may have one key.
 */
void
CuckooCheckUnique(CuckooUniqueCheck *unique, CuckooIndexKey *key, uint64 hash,
				  const CuckooList *intervals, Snapshot snapshot)
{
	CuckooRowReader *reader = unique->reader;
	ItemPointerData tid;
	uint64		row_hash;

	if (unique->others == NULL)
		unique->others = CuckooRowReaderBegin(unique->index, unique->heap, CurrentMemoryContext);
	CuckooBeginRows(&unique->rows, unique->index, NULL, intervals->numbers, intervals->count);
	while (CuckooNextRow(&unique->rows, &tid))
	{
		CuckooRows	rest = unique->rows;

		if (!CuckooReadRow(reader, &tid, snapshot) ||
			!CuckooIndexHash(key, reader->values, reader->isnull, &row_hash) || row_hash != hash)
			continue;
		for (int i = 0; i < key->columns; i++)
			unique->key[i].sk_argument = reader->values[i];
		while (CuckooNextRow(&rest, &tid))
		{
			if (CuckooReadRow(unique->others, &tid, snapshot) &&
				CuckooKeyMatches(unique->others, unique->key, key->columns))
				ReportDuplicates(unique);
		}
	}
	CuckooReleaseRow(reader);
	CuckooReleaseRow(unique->others);
}

/*
 * Whether a row that is being inserted waits to be added, as WaitFor says.
 */
static bool
WaitsToBeAdded(Relation index, ItemPointer tid)
{
	if (!CuckooConditionalLockTuple(index, tid, ShareLock))
		return true;
	UnlockTuple(index, tid, ShareLock);
	return false;
}

/* Find another row of the key among those that were found. */
static bool
FindRival(CuckooUniqueCheck *unique, ItemPointer own, CuckooRival *rival)
{
	SnapshotData snapshot;
	ItemPointerData tid;
	bool		found = false;

	InitDirtySnapshot(snapshot);
	CuckooBeginRows(&unique->rows, unique->index, NULL, unique->found.numbers,
					unique->found.count);
	while (!found && CuckooNextRow(&unique->rows, &tid))
	{
		bool		is_inserted;	/* by a transaction in progress */

		/* A joined interval may cover the row itself, whose entry it then is. */
		if (ItemPointerEquals(&tid, own) || !CuckooReadRow(unique->reader, &tid, &snapshot))
			continue;
		is_inserted = TransactionIdIsValid(snapshot.xmin);
		rival->xid = is_inserted ? snapshot.xmin : snapshot.xmax;
		rival->token = is_inserted ? snapshot.speculativeToken : 0;
		found = CuckooKeyMatches(unique->reader, unique->key,
								 IndexRelationGetNumberOfKeyAttributes(unique->index)) &&
			!(is_inserted && WaitsToBeAdded(unique->index, &tid));
	}
	CuckooReleaseRow(unique->reader);
	return found;
}

static void
ReportDuplicate(CuckooUniqueCheck *unique, Datum *values, bool *isnull)
{
	const char *name = RelationGetRelationName(unique->index);
	char	   *key = DescribeKey(unique->index, values, isnull);

	/* After a serialization failure the transaction can be tried again: it goes first. */
	CheckForSerializableConflictIn(unique->index, NULL, InvalidBlockNumber);
	ereport(ERROR,
			(errcode(ERRCODE_UNIQUE_VIOLATION),
			 errmsg("duplicate key value violates unique constraint \"%s\"", name),
			 key ? errdetail("Key %s already exists.", key) : 0,
			 errtableconstraint(unique->heap, name)));
}

/*
 * Whether a row is still there.  CREATE INDEX CONCURRENTLY adds rows that may have
 * been deleted since: these have no key that another could not have.
 */
static bool
IsAlive(CuckooUniqueCheck *unique, ItemPointer tid)
{
	ItemPointerData copy = *tid;

	return table_index_fetch_tuple_check(unique->heap, &copy, SnapshotSelf, NULL);
}

/*
 * Wait for another row's transaction, without the hash's lock.
 *
 * A joined interval covers rows before they are added, so the other transaction, or
 * a third one, may meet our row and wait for us.  While we wait, we hold a lock on
 * its address, which says that it is none to wait for: ours will find theirs.
 */
static void
WaitFor(Relation index, const CuckooRival *rival, ItemPointer hash_lock, ItemPointer tid)
{
	LockTuple(index, tid, ExclusiveLock);
	UnlockTuple(index, hash_lock, ExclusiveLock);
	if (rival->token != 0)
		SpeculativeInsertionWait(rival->xid, rival->token);
	else
		XactLockTableWait(rival->xid, index, tid, XLTW_InsertIndex);
	LockTuple(index, hash_lock, ExclusiveLock);
	UnlockTuple(index, tid, ExclusiveLock);
}

/*
 * Add a row if no other has its key.  With UNIQUE_CHECK_PARTIAL, which is used for
 * speculative insertions, add it in any case, and return whether no other has.
 *
 * (PostgreSQL wants btree for deferrable constraints, so it does not ask to check
 * a row that is there.  That would be right, too: to add it again changes nothing.)
 */
bool
CuckooIndexAddUnique(CuckooUniqueCheck *unique, uint64 hash, Datum *values, bool *isnull,
					 ItemPointer tid, IndexUniqueCheck check)
{
	Relation	index = unique->index;
	CuckooInterval interval = CuckooRowInterval(tid);
	ItemPointerData lock;
	bool		is_unique = true;

	/* A lock on 47 bits of the hash, as if they were an address, but none of a row */
	ItemPointerSet(&lock, (BlockNumber) (hash >> 32), (OffsetNumber) (0x8000 | hash >> 16));
	for (int i = 0; i < IndexRelationGetNumberOfKeyAttributes(index); i++)
		unique->key[i].sk_argument = values[i];
	LockTuple(index, &lock, ExclusiveLock);
	while (!CuckooIndexAddFirst(index, unique->heap, hash, interval))
	{
		CuckooRival rival;

		CuckooIndexFindRows(index, SnapshotAny, hash, &unique->found);
		is_unique = !FindRival(unique, tid, &rival);
		if (is_unique || check == UNIQUE_CHECK_PARTIAL ||
			(!TransactionIdIsValid(rival.xid) && !IsAlive(unique, tid)))
		{
			CuckooIndexAdd(index, unique->heap, hash, interval);
			break;
		}
		if (!TransactionIdIsValid(rival.xid))
			ReportDuplicate(unique, values, isnull);
		WaitFor(index, &rival, &lock, tid);
	}
	UnlockTuple(index, &lock, ExclusiveLock);
	return is_unique;
}
