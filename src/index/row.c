/*-------------------------------------------------------------------------
 *
 * row.c
 *	  From entries of a cuckoo index to rows of its table: the addresses that
 *	  intervals name, and the keys of the rows there.
 *
 *-------------------------------------------------------------------------
 */
#include "index.h"

#include "access/table.h"
#include "catalog/index.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"

/*
 * Where an interval ends in the table, which may have become shorter.  Under
 * SERIALIZABLE a bitmap scan would read what is behind it, and fail, as a plain
 * scan would.  The query has locked the table, so VACUUM does not shorten it.
 *
 * A constraint looks up each row, and asking the file system each time took a
 * third of the time.  The length that this process has last seen will do if the
 * interval is within it: whoever shortens a file makes the others forget it before
 * they can lock the table.
 */
static uint64
EndInTable(CuckooRows *rows, CuckooInterval interval)
{
	uint64		end = CuckooIntervalFirst(interval) + CuckooIntervalSize(interval);
	Relation	heap;

	if ((end - 1) / CUCKOO_PAGE_POSITIONS >= rows->heap_blocks)
	{
		heap = table_open(rows->index->rd_index->indrelid, NoLock);
		rows->heap_blocks = RelationGetSmgr(heap)->smgr_cached_nblocks[MAIN_FORKNUM];
		if (rows->heap_blocks == InvalidBlockNumber ||
			(end - 1) / CUCKOO_PAGE_POSITIONS >= rows->heap_blocks)
			rows->heap_blocks = RelationGetNumberOfBlocks(heap);
		table_close(heap, NoLock);
	}
	return Min(end, rows->heap_blocks * CUCKOO_PAGE_POSITIONS);
}

/* Go to the next page of the table that has addresses; false if there is none. */
bool
CuckooNextPage(CuckooRows *rows)
{
	uint64		first;
	uint64		end;

	while (rows->position >= rows->end)
	{
		if (rows->next == rows->count)
			return false;
		rows->position = CuckooIntervalFirst(rows->intervals[rows->next]);
		rows->end = EndInTable(rows, rows->intervals[rows->next++]);
	}
	CHECK_FOR_INTERRUPTS();
	rows->block = (BlockNumber) (rows->position / CUCKOO_PAGE_POSITIONS);
	first = rows->position % CUCKOO_PAGE_POSITIONS;
	end = Min(rows->end - rows->position + first, CUCKOO_PAGE_POSITIONS);
	rows->position += end - first;
	rows->is_whole = end - first == CUCKOO_PAGE_POSITIONS;
	rows->offset = (OffsetNumber) Max(first, FirstOffsetNumber);
	rows->end_offset = (OffsetNumber) Min(end, MaxHeapTuplesPerPage + 1);
	return true;
}

/*
 * The offset of the first version that is left, after pruning, of a row that begins
 * at an offset; InvalidOffsetNumber if none does.  Only these rows have entries.
 */
OffsetNumber
CuckooFirstVersion(Page page, OffsetNumber offset)
{
	ItemId		id = PageGetItemId(page, offset);

	if (ItemIdIsRedirected(id))
		return (OffsetNumber) ItemIdGetRedirect(id);
	return ItemIdIsNormal(id) &&
		!HeapTupleHeaderIsHeapOnly((HeapTupleHeader) PageGetItem(page, id)) ? offset :
		InvalidOffsetNumber;
}

/*
 * List the offsets of a page at which rows begin, or may: an exact one is not
 * looked at, but of many that an interval covers, most can be passed over at once.
 * (A row that comes after this is none that the caller has to find.)
 */
void
CuckooListOffsets(CuckooRows *rows)
{
	Relation	heap;
	Buffer		buffer;
	Page		page;
	OffsetNumber end;

	rows->listed = rows->returned = 0;
	if (rows->end_offset - rows->offset <= 1)
	{
		if (rows->offset < rows->end_offset)
			rows->offsets[rows->listed++] = rows->offset;
		return;
	}
	heap = table_open(rows->index->rd_index->indrelid, NoLock);
	buffer = ReadBuffer(heap, rows->block);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	page = BufferGetPage(buffer);
	CuckooTestForOldSnapshot(rows->snapshot, heap, page);
	end = Min(rows->end_offset, PageGetMaxOffsetNumber(page) + 1);
	for (OffsetNumber offset = rows->offset; offset < end; offset++)
	{
		if (CuckooFirstVersion(page, offset) != InvalidOffsetNumber)
			rows->offsets[rows->listed++] = offset;
	}
	UnlockReleaseBuffer(buffer);
	table_close(heap, NoLock);
}

/* Go to the next address of a row; false if there is none. */
bool
CuckooNextRow(CuckooRows *rows, ItemPointer tid)
{
	while (rows->returned >= rows->listed)
	{
		if (!CuckooNextPage(rows))
			return false;
		CuckooListOffsets(rows);
	}
	ItemPointerSet(tid, rows->block, rows->offsets[rows->returned]);
	rows->returned++;
	return true;
}

/*
 * Prepare to read keys of rows, until CuckooRowReaderEnd.  Some scans do for each row
 * that a statement inserts, so expressions are prepared only if there are some.
 */
CuckooRowReader *
CuckooRowReaderBegin(Relation index, Relation heap, MemoryContext ctx)
{
	MemoryContext old = MemoryContextSwitchTo(ctx);
	CuckooRowReader *reader = palloc0(sizeof(CuckooRowReader));

	reader->info = BuildIndexInfo(index);
	reader->slot = table_slot_create(heap, NULL);
	reader->fetch = CuckooBeginFetch(heap);
	if (reader->info->ii_Expressions != NIL || reader->info->ii_Predicate != NIL)
	{
		reader->executor = CreateExecutorState();
		reader->predicate = ExecPrepareQual(reader->info->ii_Predicate, reader->executor);
		GetPerTupleExprContext(reader->executor)->ecxt_scantuple = reader->slot;
		reader->row_ctx = GetPerTupleMemoryContext(reader->executor);
	}
	else
		reader->row_ctx = AllocSetContextCreate(ctx, "cuckoo index row", ALLOCSET_SMALL_SIZES);
	MemoryContextSwitchTo(old);
	return reader;
}

void
CuckooRowReaderEnd(CuckooRowReader *reader)
{
	table_index_fetch_end(reader->fetch);
	ExecDropSingleTupleTableSlot(reader->slot);
	if (reader->executor != NULL)
		FreeExecutorState(reader->executor);
}

/*
 * Compute the key of the row in the slot, which stays until the next one.  False if
 * the index's predicate leaves the row out: then an expression might raise an error.
 */
bool
CuckooFormKey(CuckooRowReader *reader)
{
	MemoryContextReset(reader->row_ctx);
	if (reader->predicate != NULL &&
		!ExecQual(reader->predicate, GetPerTupleExprContext(reader->executor)))
		return false;
	FormIndexDatum(reader->info, reader->slot, reader->executor, reader->values, reader->isnull);
	return true;
}

/*
 * Read the row that a snapshot shows at an address, and compute its key.  False if
 * there is none, or none that the index has: a joined interval covers others, and
 * the address of an exact one may have got another row since.
 */
bool
CuckooReadRow(CuckooRowReader *reader, ItemPointer tid, Snapshot snapshot)
{
	ItemPointerData address = *tid;
	bool		call_again = false;

	return table_index_fetch_tuple(reader->fetch, &address, snapshot, reader->slot, &call_again,
								   NULL) && CuckooFormKey(reader);
}

/* Forget the row, so that no page stays pinned. */
void
CuckooReleaseRow(CuckooRowReader *reader)
{
	ExecClearTuple(reader->slot);
	table_index_fetch_reset(reader->fetch);
}

/*
 * Whether the key that was read satisfies conditions.  Logical replication, but
 * no query, asks for NULLs, too.
 */
bool
CuckooKeyMatches(const CuckooRowReader *reader, ScanKey conditions, int count)
{
	MemoryContext old = MemoryContextSwitchTo(reader->row_ctx);
	bool		matches = true;

	for (int i = 0; i < count && matches; i++)
	{
		ScanKey		condition = &conditions[i];
		int			column = condition->sk_attno - 1;

		if ((condition->sk_flags & SK_ISNULL) || reader->isnull[column])
			matches = reader->isnull[column] && (condition->sk_flags & SK_SEARCHNULL);
		else
			matches = DatumGetBool(FunctionCall2Coll(&condition->sk_func, condition->sk_collation,
													 reader->values[column],
													 condition->sk_argument));
	}
	MemoryContextSwitchTo(old);
	return matches;
}
