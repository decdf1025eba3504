/*-------------------------------------------------------------------------
 *
 * scan.c
 *	  Bitmap scans and plain scans of a cuckoo index.
 *
 *-------------------------------------------------------------------------
 */
#include "index.h"

#include "access/relscan.h"
#include "access/table.h"
#include "access/tableam.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/tidbitmap.h"
#include "pgstat.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

typedef struct CuckooScan
{
	MemoryContext ctx;			/* of all this: each row checked for a constraint has a scan */
	CuckooIndexKey key;			/* of the types that the scan keys have */
	CuckooList	found;			/* intervals, sorted; none covers another */
	BlockNumber heap_blocks;	/* of the table, at least */

	/* of plain scans */
	bool		has_begun;
	uint64		next;			/* which interval is next */
	uint64		position;		/* that is next, of this interval */
	uint64		end;			/* of this interval */
	bool		check_predicate;
	EState	   *executor;		/* NULL if the index is not partial */
	ExprState  *predicate;
	TupleTableSlot *slot;
} CuckooScan;

/* All positions that a table can have, and more */
#define EVERYWHERE	(UINT64_C(1) << (32 + CUCKOO_OFFSET_BITS))

IndexScanDesc
cuckoobeginscan(Relation index, int keys, int orderbys)
{
	IndexScanDesc scan = RelationGetIndexScan(index, keys, orderbys);
	MemoryContext ctx = AllocSetContextCreate(CurrentMemoryContext, "cuckoo index scan",
											  ALLOCSET_SMALL_SIZES);
	CuckooScan *state = MemoryContextAllocZero(ctx, sizeof(CuckooScan));

	state->ctx = ctx;
	scan->opaque = state;
	return scan;
}

void
cuckoorescan(IndexScanDesc scan, ScanKey keys, int key_count pg_attribute_unused(),
			 ScanKey orderbys pg_attribute_unused(), int orderby_count pg_attribute_unused())
{
	CuckooScan *state = scan->opaque;

	if (keys != NULL && scan->numberOfKeys > 0)
		memmove(scan->keyData, keys, scan->numberOfKeys * sizeof(ScanKeyData));
	state->has_begun = false;
}

void
cuckooendscan(IndexScanDesc scan)
{
	CuckooScan *state = scan->opaque;

	if (state->executor != NULL)
	{
		ExecDropSingleTupleTableSlot(state->slot);
		FreeExecutorState(state->executor);
	}
	MemoryContextDelete(state->ctx);
}

/* Intervals that share positions are nested: drop those that another covers. */
static void
DropCovered(CuckooList *intervals)
{
	uint64		kept = 0;

	CuckooListUnique(intervals);
	for (uint64 i = 0; i < intervals->count; i++)
	{
		CuckooInterval interval = intervals->numbers[i];

		while (kept > 0 && CuckooIntervalCovers(interval, intervals->numbers[kept - 1]))
			kept--;
		if (kept == 0 || !CuckooIntervalCovers(intervals->numbers[kept - 1], interval))
			intervals->numbers[kept++] = interval;
	}
	intervals->count = kept;
}

/*
 * Find where rows with the scan's keys may be.  Of several conditions for a
 * column one is looked up; the others are checked again.  Without one for each
 * column, rows may be anywhere.
 */
static void
FindIntervals(IndexScanDesc scan)
{
	Relation	index = scan->indexRelation;
	CuckooScan *state = scan->opaque;
	Datum		values[INDEX_MAX_KEYS];
	Oid			types[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	int			columns = 0;	/* that have a condition */
	uint64		hash;

	memset(isnull, true, sizeof(isnull));
	for (int i = 0; i < scan->numberOfKeys; i++)
	{
		ScanKey		skey = &scan->keyData[i];

		if (skey->sk_flags & SK_ISNULL)
			return;
		if (!isnull[skey->sk_attno - 1])
			continue;
		values[skey->sk_attno - 1] = skey->sk_argument;
		types[skey->sk_attno - 1] = skey->sk_subtype;
		isnull[skey->sk_attno - 1] = false;
		columns++;
	}
	if (columns < IndexRelationGetNumberOfKeyAttributes(index))
	{
		CuckooListPut(&state->found, EVERYWHERE);
		return;
	}
	if (state->key.scratch == NULL)
		CuckooIndexKeyInit(&state->key, index, types, state->ctx);
	(void) CuckooIndexHash(&state->key, values, isnull, &hash);
	CuckooIndexLookUp(index, scan->xs_snapshot, hash, &state->found);
	if (state->found.count > 1)
		DropCovered(&state->found);
}

static void
LookUp(IndexScanDesc scan)
{
	CuckooScan *state = scan->opaque;
	MemoryContext old = MemoryContextSwitchTo(state->ctx);

	pgstat_count_index_scan(scan->indexRelation);
	CuckooCountSearch(scan);
	state->found.count = 0;
	FindIntervals(scan);
	MemoryContextSwitchTo(old);
}

/*
 * Where an interval ends in the table, which may have become shorter.  Under
 * SERIALIZABLE a bitmap scan would read what is behind it, and fail, as a plain
 * scan would.  The query has locked the table, so VACUUM does not shorten it.
 *
 * A constraint has a scan for each row, and asking the file system each time took
 * a third of the time.  The length that this process has last seen will do if the
 * interval is within it: whoever shortens a file makes the others forget it before
 * they can lock the table.
 */
static uint64
EndInTable(IndexScanDesc scan, CuckooInterval interval)
{
	CuckooScan *state = scan->opaque;
	uint64		end = CuckooIntervalFirst(interval) + CuckooIntervalSize(interval);
	Relation	heap;

	if ((end - 1) / CUCKOO_PAGE_POSITIONS >= state->heap_blocks)
	{
		heap = table_open(scan->indexRelation->rd_index->indrelid, NoLock);
		state->heap_blocks = RelationGetSmgr(heap)->smgr_cached_nblocks[MAIN_FORKNUM];
		if (state->heap_blocks == InvalidBlockNumber ||
			(end - 1) / CUCKOO_PAGE_POSITIONS >= state->heap_blocks)
			state->heap_blocks = RelationGetNumberOfBlocks(heap);
		table_close(heap, NoLock);
	}
	return Min(end, state->heap_blocks * CUCKOO_PAGE_POSITIONS);
}

/* Add rows of one page of the table, whose conditions are checked again. */
static int64
AddRows(TIDBitmap *bitmap, uint64 first, uint64 end)
{
	ItemPointerData tids[MaxHeapTuplesPerPage];
	BlockNumber block = (BlockNumber) (first / CUCKOO_PAGE_POSITIONS);
	int			count = 0;

	end = Min(end - first + first % CUCKOO_PAGE_POSITIONS, MaxHeapTuplesPerPage + 1);
	/* ItemPointerSet is a macro up to 15, which uses its argument three times. */
	for (uint64 offset = Max(first % CUCKOO_PAGE_POSITIONS, FirstOffsetNumber); offset < end;
		 offset++, count++)
		ItemPointerSet(&tids[count], block, (OffsetNumber) offset);
	tbm_add_tuples(bitmap, tids, count, true);
	return count;
}

int64
cuckoogetbitmap(IndexScanDesc scan, TIDBitmap *bitmap)
{
	CuckooScan *state = scan->opaque;
	int64		added = 0;

	LookUp(scan);
	for (uint64 i = 0; i < state->found.count; i++)
	{
		CuckooInterval interval = state->found.numbers[i];
		uint64		position = CuckooIntervalFirst(interval);
		uint64		end = EndInTable(scan, interval);

		if (CuckooIntervalSize(interval) < CUCKOO_PAGE_POSITIONS)
		{
			if (position < end)
				added += AddRows(bitmap, position, end);
			continue;
		}
		for (; position < end; position += CUCKOO_PAGE_POSITIONS, added++)
		{
			CHECK_FOR_INTERRUPTS();
			tbm_add_page(bitmap, (BlockNumber) (position / CUCKOO_PAGE_POSITIONS));
		}
	}
	return added;
}

/*
 * Whether the row at the scan's address, if there is one, satisfies the index's
 * predicate.  A joined interval covers rows that do not, and the address of an
 * exact one may have got another row since.
 */
static bool
SatisfiesPredicate(IndexScanDesc scan)
{
	CuckooScan *state = scan->opaque;
	ItemPointerData tid = scan->xs_heaptid;
	bool		call_again = false;
	ExprContext *context;
	bool		satisfies;

	if (state->executor == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(state->ctx);

		state->executor = CreateExecutorState();
		state->slot = table_slot_create(scan->heapRelation, NULL);
		state->predicate = ExecPrepareQual(RelationGetIndexPredicate(scan->indexRelation),
										   state->executor);
		MemoryContextSwitchTo(old);
	}
	context = GetPerTupleExprContext(state->executor);
	context->ecxt_scantuple = state->slot;
	satisfies = table_index_fetch_tuple(scan->xs_heapfetch, &tid, scan->xs_snapshot, state->slot,
										&call_again, NULL) &&
		ExecQual(state->predicate, context);
	ExecClearTuple(state->slot);
	ResetPerTupleExprContext(state->executor);
	return satisfies;
}

/*
 * Return one address after another, none twice.  What is not a row there, or one
 * of another key, the caller skips.
 */
bool
cuckoogettuple(IndexScanDesc scan, ScanDirection direction pg_attribute_unused())
{
	CuckooScan *state = scan->opaque;
	CuckooInterval interval;

	if (!state->has_begun)
	{
		LookUp(scan);
		state->has_begun = true;
		state->next = state->position = state->end = 0;
		/* A query's conditions imply the predicate; a constraint's do not. */
		state->check_predicate = !IsMVCCSnapshot(scan->xs_snapshot) &&
			CuckooIndexIsPartial(scan->indexRelation);
	}
	scan->xs_recheck = true;
	for (;;)
	{
		for (; state->position < state->end; state->position++)
		{
			uint64		offset = state->position % CUCKOO_PAGE_POSITIONS;

			if (offset < FirstOffsetNumber || offset > MaxHeapTuplesPerPage)
				continue;
			CHECK_FOR_INTERRUPTS();
			ItemPointerSet(&scan->xs_heaptid,
						   (BlockNumber) (state->position / CUCKOO_PAGE_POSITIONS),
						   (OffsetNumber) offset);
			if (state->check_predicate && !SatisfiesPredicate(scan))
				continue;
			state->position++;
			return true;
		}
		if (state->next == state->found.count)
			return false;
		interval = state->found.numbers[state->next++];
		state->position = CuckooIntervalFirst(interval);
		state->end = EndInTable(scan, interval);
	}
}
