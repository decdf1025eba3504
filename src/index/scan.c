/*-------------------------------------------------------------------------
 *
 * scan.c
 *	  Bitmap scans and plain scans of a cuckoo index.
 *
 *-------------------------------------------------------------------------
 */
#include "index.h"

#include "access/relscan.h"
#include "nodes/tidbitmap.h"
#include "pgstat.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

typedef struct CuckooScan
{
	MemoryContext ctx;			/* of all this: each row checked for a constraint has a scan */
	CuckooIndexKey key;			/* of the types that the scan keys have */
	CuckooList	found;			/* intervals */
	bool		has_begun;
	CuckooRows	rows;			/* that these name */
	CuckooRowReader *reader;	/* NULL: PostgreSQL checks what is returned */
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

	if (state->reader != NULL)
		CuckooRowReaderEnd(state->reader);
	MemoryContextDelete(state->ctx);
}

/*
 * Find where rows with the scan's keys may be.  Of several conditions for a
 * column one is looked up; the others are checked again.  Without one for each
 * column, or if rows with NULLs are wanted, they may be anywhere.
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

		if (skey->sk_flags & SK_SEARCHNULL)
			continue;
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
	CuckooIndexFindRows(index, scan->xs_snapshot, hash, &state->found);
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
	CuckooBeginRows(&state->rows, scan->indexRelation, scan->xs_snapshot, state->found.numbers,
					state->found.count);
	MemoryContextSwitchTo(old);
}

int64
cuckoogetbitmap(IndexScanDesc scan, TIDBitmap *bitmap)
{
	CuckooScan *state = scan->opaque;
	CuckooRows *rows = &state->rows;
	int64		added = 0;

	LookUp(scan);
	while (CuckooNextPage(rows))
	{
		ItemPointerData tids[MaxHeapTuplesPerPage];

		if (rows->is_whole)
		{
			tbm_add_page(bitmap, rows->block);
			added++;
			continue;
		}
		CuckooListOffsets(rows);
		for (int i = 0; i < rows->listed; i++)
			ItemPointerSet(&tids[i], rows->block, rows->offsets[i]);
		tbm_add_tuples(bitmap, tids, rows->listed, true);
		added += rows->listed;
	}
	return added;
}

/*
 * Whether PostgreSQL relies on what a scan returns.  A constraint does on its
 * predicate, which a query's conditions imply, and logical replication on the key
 * of a replica identity: for them the recheck is ours.
 */
static bool
MustBeExact(IndexScanDesc scan)
{
	return !IsMVCCSnapshot(scan->xs_snapshot) &&
		(scan->indexRelation->rd_index->indisunique || CuckooIndexIsPartial(scan->indexRelation));
}

/* Whether the row at the scan's address, if there is one, is one of its key. */
static bool
IsWanted(IndexScanDesc scan)
{
	CuckooScan *state = scan->opaque;
	bool		wanted;

	if (state->reader == NULL)
		state->reader = CuckooRowReaderBegin(scan->indexRelation, scan->heapRelation, state->ctx);
	wanted = CuckooReadRow(state->reader, &scan->xs_heaptid, scan->xs_snapshot) &&
		CuckooKeyMatches(state->reader, scan->keyData, scan->numberOfKeys);
	CuckooReleaseRow(state->reader);
	return wanted;
}

/*
 * Return one address after another, none twice.  What is not a row there, or one
 * of another key, the caller skips.
 */
bool
cuckoogettuple(IndexScanDesc scan, ScanDirection direction pg_attribute_unused())
{
	CuckooScan *state = scan->opaque;
	bool		must_be_exact = MustBeExact(scan);

	if (!state->has_begun)
	{
		LookUp(scan);
		state->has_begun = true;
	}
	scan->xs_recheck = true;
	while (CuckooNextRow(&state->rows, &scan->xs_heaptid))
	{
		if (!must_be_exact || IsWanted(scan))
			return true;
	}
	return false;
}
