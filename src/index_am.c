/*-------------------------------------------------------------------------
 *
 * index_am.c
 *	  The index access method cuckoo: what PostgreSQL calls.
 *
 *-------------------------------------------------------------------------
 */
#include "index.h"

#include "access/reloptions.h"
#include "access/relscan.h"
#include "access/table.h"
#include "commands/progress.h"
#include "commands/vacuum.h"
#include "nodes/execnodes.h"
#include "nodes/tidbitmap.h"
#include "pgstat.h"
#include "utils/memutils.h"

PGDLLEXPORT Datum cuckoo_index_handler(PG_FUNCTION_ARGS);

static relopt_kind option_kind;

void
CuckooIndexInit(void)
{
	option_kind = add_reloption_kind();
	add_int_reloption(option_kind, "fillfactor", "Load in percent with which the index is built",
					  CUCKOO_INDEX_FILLFACTOR, 10, 100, ShareUpdateExclusiveLock);
	add_real_reloption(option_kind, "capacity", "Rows for which the index is built at least",
					   0, 0, 1e10, ShareUpdateExclusiveLock);
}

static bytea *
Options(Datum options, bool validate)
{
	static const relopt_parse_elt elements[] = {
		{.optname = "fillfactor", .opttype = RELOPT_TYPE_INT,
		.offset = offsetof(CuckooIndexOptions, fillfactor)},
		{.optname = "capacity", .opttype = RELOPT_TYPE_REAL,
		.offset = offsetof(CuckooIndexOptions, capacity)}
	};

	return (bytea *) build_reloptions(options, validate, option_kind, sizeof(CuckooIndexOptions),
									  elements, lengthof(elements));
}

static char *
BuildPhaseName(int64 phase)
{
	static char *const names[] = {
		[PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE] = "initializing",
		[CUCKOO_PHASE_SCAN] = "scanning table",
		[CUCKOO_PHASE_SORT] = "sorting keys",
		[CUCKOO_PHASE_WRITE] = "writing pages"
	};

	return phase < (int64) lengthof(names) ? names[phase] : NULL;
}

static bool
Insert(Relation index, Datum *values, bool *isnull, ItemPointer tid, Relation heap,
	   IndexUniqueCheck check pg_attribute_unused(), bool unchanged pg_attribute_unused(),
	   struct IndexInfo *info)
{
	CuckooIndexKey *key = info->ii_AmCache;

	if (isnull[0])
		return false;
	if (key == NULL)
	{
		key = MemoryContextAlloc(info->ii_Context, sizeof(CuckooIndexKey));
		CuckooIndexKeyInit(key, index, InvalidOid, info->ii_Context);
		info->ii_AmCache = key;
	}
	CuckooIndexAdd(index, heap, CuckooIndexHash(key, values[0]), CuckooRowInterval(tid));
	return false;
}

/* If nothing was dead, the index need not be read. */
static IndexBulkDeleteResult *
VacuumCleanup(IndexVacuumInfo *info pg_attribute_unused(), IndexBulkDeleteResult *stats)
{
	return stats;
}

/*
 * Scans
 */

typedef struct CuckooScan
{
	CuckooIndexKey key;			/* of the type that the scan key has */
	CuckooList	found;			/* intervals */
} CuckooScan;

static IndexScanDesc
BeginScan(Relation index, int keys, int orderbys)
{
	IndexScanDesc scan = RelationGetIndexScan(index, keys, orderbys);

	scan->opaque = palloc0(sizeof(CuckooScan));
	return scan;
}

static void
Rescan(IndexScanDesc scan, ScanKey keys, int key_count pg_attribute_unused(),
	   ScanKey orderbys pg_attribute_unused(), int orderby_count pg_attribute_unused())
{
	if (keys != NULL && scan->numberOfKeys > 0)
		memmove(scan->keyData, keys, scan->numberOfKeys * sizeof(ScanKeyData));
}

static void
EndScan(IndexScanDesc scan)
{
	CuckooScan *state = scan->opaque;

	CuckooListFree(&state->found);
	if (state->key.scratch != NULL)
		MemoryContextDelete(state->key.scratch);
	pfree(state);
}

/* Add rows of one page of the table, whose conditions are checked again. */
static int64
AddRows(TIDBitmap *bitmap, BlockNumber block, CuckooInterval interval)
{
	ItemPointerData tids[MaxHeapTuplesPerPage];
	uint64		first = CuckooIntervalFirst(interval) % CUCKOO_PAGE_POSITIONS;
	uint64		end = Min(first + CuckooIntervalSize(interval), MaxHeapTuplesPerPage + 1);
	int			count = 0;

	/* ItemPointerSet is a macro up to 15, which uses its argument three times. */
	for (uint64 offset = Max(first, FirstOffsetNumber); offset < end; offset++, count++)
		ItemPointerSet(&tids[count], block, (OffsetNumber) offset);
	tbm_add_tuples(bitmap, tids, count, true);
	return count;
}

/*
 * An entry may outlive its row, and the page of the table that had it.  Under
 * SERIALIZABLE the scan would read such a page, and fail.  The query's lock
 * keeps VACUUM from shortening the table.
 */
static int64
GetBitmap(IndexScanDesc scan, TIDBitmap *bitmap)
{
	Relation	index = scan->indexRelation;
	CuckooScan *state = scan->opaque;
	ScanKey		skey = scan->keyData;	/* what others say is checked again */
	Relation	heap;
	BlockNumber heap_blocks;
	int64		added = 0;

	pgstat_count_index_scan(index);
	CuckooCountSearch(scan);
	if (skey->sk_flags & SK_ISNULL)
		return 0;
	if (state->key.scratch == NULL)
		CuckooIndexKeyInit(&state->key, index, skey->sk_subtype, CurrentMemoryContext);
	CuckooIndexLookUp(index, scan->xs_snapshot, CuckooIndexHash(&state->key, skey->sk_argument),
					  &state->found);
	if (state->found.count == 0)
		return 0;
	heap = table_open(index->rd_index->indrelid, AccessShareLock);
	heap_blocks = RelationGetNumberOfBlocks(heap);
	table_close(heap, AccessShareLock);
	for (uint64 i = 0; i < state->found.count; i++)
	{
		CuckooInterval interval = state->found.numbers[i];
		uint64		block = CuckooIntervalFirst(interval) / CUCKOO_PAGE_POSITIONS;
		uint64		end = block + CuckooIntervalSize(interval) / CUCKOO_PAGE_POSITIONS;

		if (end == block && block < heap_blocks)
			added += AddRows(bitmap, (BlockNumber) block, interval);
		for (; block < Min(end, heap_blocks); block++, added++)
		{
			CHECK_FOR_INTERRUPTS();
			tbm_add_page(bitmap, (BlockNumber) block);
		}
	}
	return added;
}

PG_FUNCTION_INFO_V1(cuckoo_index_handler);
Datum
cuckoo_index_handler(PG_FUNCTION_ARGS)
{
	/*
	 * Not amsummarizing: HOT updates that change the key would leave chains
	 * whose older rows an index built anew does not have.
	 */
	static const IndexAmRoutine routine = {
		.type = T_IndexAmRoutine,
		.amstrategies = 1,
		.amsupport = 1,
		.amparallelvacuumoptions = VACUUM_OPTION_PARALLEL_BULKDEL,
		.ambuild = CuckooIndexBuild,
		.ambuildempty = CuckooIndexBuildEmpty,
		.aminsert = Insert,
		.ambulkdelete = CuckooIndexBulkDelete,
		.amvacuumcleanup = VacuumCleanup,
		.amcostestimate = CuckooIndexCost,
		.amoptions = Options,
		.ambuildphasename = BuildPhaseName,
		.amvalidate = CuckooIndexValidate,
		.ambeginscan = BeginScan,
		.amrescan = Rescan,
		.amgetbitmap = GetBitmap,
		.amendscan = EndScan
	};

	(void) fcinfo;
	CUCKOO_RETURN_AM(routine);
}
