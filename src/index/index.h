/*-------------------------------------------------------------------------
 *
 * index.h
 *	  The index access method: what its files share.  README explains it all.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_INDEX_H
#define CUCKOO_INDEX_H

#include "../compat.h"

#include "access/amapi.h"
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/tableam.h"
#include "port/pg_bitutils.h"
#include "storage/bufmgr.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "page.h"
#include "../core/list.h"
#include "../key.h"

#define CUCKOO_INDEX_MAGIC		0x0C0C0F14
#define CUCKOO_INDEX_VERSION	1
#define CUCKOO_INDEX_SEED		0
#define CUCKOO_INDEX_FILLFACTOR	90
#define CUCKOO_MAX_BASE_PAGES	(UINT32_C(1) << 24) /* pairs are less than 2^32 */
#define CUCKOO_MAX_DEPTH		24
#define CUCKOO_PIECES			64
#define CUCKOO_MAX_HOME_PAGES	(UINT64_C(1) << 31)

/* The special space of every page */
typedef struct CuckooPageOpaque
{
	BlockNumber next;			/* overflow page; InvalidBlockNumber: none */
	uint8		depth;
	uint8		bits;			/* of fingerprints; 0: the page is not in use */
	uint16		page_id;		/* CUCKOO_PAGE_ID */
} CuckooPageOpaque;

#define CUCKOO_PAGE_ID			0xFC0C

#define CuckooPageGetOpaque(page)	((CuckooPageOpaque *) PageGetSpecialPointer(page))
#define CuckooPageGetEntries(page)	((CuckooEntries *) PageGetContents(page))

/* Entries and positions are for pages of this size; the handler refuses others. */
#define CUCKOO_INDEX_BLCKSZ		8192

StaticAssertDecl(BLCKSZ != CUCKOO_INDEX_BLCKSZ || MaxHeapTuplesPerPage < CUCKOO_PAGE_POSITIONS - 1,
				 "offsets do not fit in a position");
StaticAssertDecl(BLCKSZ != CUCKOO_INDEX_BLCKSZ ||
				 MAXALIGN(SizeOfPageHeaderData) + sizeof(CuckooEntries) +
				 MAXALIGN(sizeof(CuckooPageOpaque)) <= BLCKSZ, "entries do not fit in a page");

/* The interval of one row */
static inline CuckooInterval
CuckooRowInterval(ItemPointer tid)
{
	return CuckooIntervalOf(ItemPointerGetBlockNumber(tid), ItemPointerGetOffsetNumber(tid));
}

/* A page that has never had entries: see README, "Addresses" */
static inline bool
CuckooPageIsUnused(Page page)
{
	return PageIsNew(page) || CuckooPageGetOpaque(page)->bits == 0;
}

/*
 * Whether rows of a key in one page of the table are joined.  In a unique index they are
 * versions of one row, which are trimmed more easily if each has an entry.  A joined
 * interval also covers rows of other sessions before they are added.
 */
static inline bool
CuckooIndexJoinsInPage(Relation index)
{
	return !index->rd_index->indisunique;
}

/* RelationGetIndexPredicate would call functions in it. */
static inline bool
CuckooIndexIsPartial(Relation index)
{
	return !heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL);
}

/* The content of the metapage */
typedef struct CuckooIndexMeta
{
	uint32		magic;
	uint32		version;
	uint32		base_pages;		/* N */
	uint32		home_pages;		/* in use, with all base pages */
	uint32		overflow_pages;
	BlockNumber end;			/* of the file, but for what failed attempts to extend it left */
	/*
	 * How each column is hashed: as a key of this kind, or if its type is
	 * CUCKOO_KEY_NONE, by an operator family whose functions have this signature.
	 */
	CuckooKeyKind columns[INDEX_MAX_KEYS];	/* 0 behind the last column */
	BlockNumber pieces[CUCKOO_MAX_DEPTH][CUCKOO_PIECES];	/* their first blocks, of region 1 on;
															 * 0: not begun */
} CuckooIndexMeta;

StaticAssertDecl(sizeof(CuckooIndexMeta) <= sizeof(CuckooEntries), "pieces do not fit in the metapage");

#define CuckooPageGetMeta(page)		((CuckooIndexMeta *) PageGetContents(page))

/* A copy of the metapage, as every backend keeps one: it may be old. */
typedef struct CuckooMetaCopy
{
	CuckooIndexMeta meta;
	int			depth;			/* that most pages have */
	int			detours;		/* since the copy was made */
	uint32		long_lookups;	/* that found several intervals */
} CuckooMetaCopy;

typedef struct CuckooIndexOptions
{
	int32		vl_len_;
	int			fillfactor;
	double		capacity;
} CuckooIndexOptions;

/* How values of a column are hashed: by their key type, or by a function */
typedef struct CuckooIndexColumn
{
	CuckooHasher key;
	FmgrInfo	hash;			/* fn_oid is InvalidOid if there is none */
	Oid			collation;
} CuckooIndexColumn;

/* How keys, of one column or several, are hashed */
typedef struct CuckooIndexKey
{
	int			columns;
	CuckooIndexColumn *column;
	MemoryContext scratch;		/* for one key: detoasted, converted */
} CuckooIndexKey;

/* The operator class's function: hash_extended(type, seed bigint) -> bigint; the seed is 0 */
#define CUCKOO_HASH_PROC		1

/* InvalidOid if values of a type are hashed as keys of filters */
static inline Oid
CuckooHashFunction(Oid family, Oid type)
{
	return get_opfamily_proc(family, type, type, CUCKOO_HASH_PROC);
}

/* am.c */
extern void CuckooIndexInit(void);

/* key.c */
extern void CuckooIndexKeyForBuild(CuckooIndexKey *key, Relation index,
								   CuckooKeyKind *kinds, MemoryContext ctx);
extern void CuckooIndexKeyInit(CuckooIndexKey *key, Relation index, const Oid *types,
							   MemoryContext ctx);
extern bool CuckooIndexHash(CuckooIndexKey *key, const Datum *values, const bool *isnull,
							uint64 *hash);
extern bool CuckooIndexHasColumnEquality(Relation index, int number);
extern void CuckooCheckIndexed(Relation heap, Relation index);

/* row.c */

/* Addresses of rows that intervals name, in order, none beyond the table's end */
typedef struct CuckooRows
{
	Relation	index;
	Snapshot	snapshot;		/* or NULL */
	const CuckooInterval *intervals;
	uint64		count;
	uint64		next;			/* of the intervals */
	uint64		position;		/* that is next, of the interval before */
	uint64		end;			/* of that, in the table */
	BlockNumber heap_blocks;	/* of the table, at least */

	/* of one page of the table */
	BlockNumber block;
	bool		is_whole;
	OffsetNumber offset;		/* the first, and the end */
	OffsetNumber end_offset;

	/* at which rows begin */
	int			listed;
	int			returned;
	OffsetNumber offsets[MaxHeapTuplesPerPage];
} CuckooRows;

/*
 * Begin with the first interval; a snapshot may be too old for pages of the table.
 * What is known of the table's length, 0 at first, stays for the next key.
 */
static inline void
CuckooBeginRows(CuckooRows *rows, Relation index, Snapshot snapshot,
				const CuckooInterval *intervals, uint64 count)
{
	rows->index = index;
	rows->snapshot = snapshot;
	rows->intervals = intervals;
	rows->count = count;
	rows->next = rows->position = rows->end = 0;
	rows->listed = rows->returned = 0;
}

extern bool CuckooNextPage(CuckooRows *rows);
extern OffsetNumber CuckooFirstVersion(Page page, OffsetNumber offset);
extern void CuckooListOffsets(CuckooRows *rows);
extern bool CuckooNextRow(CuckooRows *rows, ItemPointer tid);

/* Reads rows at these addresses */
typedef struct CuckooRowReader
{
	struct IndexInfo *info;
	struct EState *executor;	/* NULL if all are columns */
	struct ExprState *predicate;
	TupleTableSlot *slot;
	IndexFetchTableData *fetch;
	MemoryContext row_ctx;		/* of what the last row read needs */

	/* the key of the last row read */
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
} CuckooRowReader;

extern CuckooRowReader *CuckooRowReaderBegin(Relation index, Relation heap, MemoryContext ctx);
extern void CuckooRowReaderEnd(CuckooRowReader *reader);
extern bool CuckooFormKey(CuckooRowReader *reader);
extern bool CuckooReadRow(CuckooRowReader *reader, ItemPointer tid, Snapshot snapshot);
extern void CuckooReleaseRow(CuckooRowReader *reader);
extern bool CuckooKeyMatches(const CuckooRowReader *reader, ScanKey conditions, int count);

/* scan.c */
extern IndexScanDesc cuckoobeginscan(Relation index, int keys, int orderbys);
extern void cuckoorescan(IndexScanDesc scan, ScanKey keys, int key_count, ScanKey orderbys,
						 int orderby_count);
extern void cuckooendscan(IndexScanDesc scan);
extern int64 cuckoogetbitmap(IndexScanDesc scan, TIDBitmap *bitmap);
extern bool cuckoogettuple(IndexScanDesc scan, ScanDirection direction);

/* validate.c */
extern char *CuckooFunctionText(Oid function, AttrNumber attribute);
extern bool cuckoovalidate(Oid opclass);
extern bool CuckooCheckOperatorFamily(Oid family, Oid type, int level);

/* cost.c */
extern void cuckoocostestimate(struct PlannerInfo *root, struct IndexPath *path, double loop_count,
							   double *startup_cost, double *total_cost, double *selectivity,
							   double *correlation, double *pages);

/* store.c */
extern void CuckooInitPage(Page page, int depth, int bits);
extern bool CuckooPageIsDamaged(Page page, BlockNumber block);
extern void CuckooReportCorrupted(int level, Relation index, BlockNumber block);
extern Buffer CuckooLockPage(Relation index, BlockNumber block, int lock_mode);
extern Buffer CuckooLockOverflowPage(Relation index, BlockNumber block, int lock_mode);
extern Buffer CuckooLockMeta(Relation index, int lock_mode, int level);
extern void CuckooUnlockMeta(Relation index, Buffer buffer);
extern const CuckooIndexMeta *CuckooRefreshMeta(Relation index);
extern const CuckooIndexMeta *CuckooCachedMeta(Relation index);
extern uint32 CuckooPiecePages(const CuckooIndexMeta *meta, int region);
extern BlockNumber CuckooBlockOf(const CuckooIndexMeta *meta, uint64 prefix, int depth);
extern Buffer CuckooFindPage(Relation index, uint64 hash, int lock_mode,
							 CuckooIndexAddress *address);
extern void CuckooIndexLookUp(Relation index, Snapshot snapshot, uint64 hash,
							  CuckooList *intervals);

/* Called with the home page of a hash, locked, and then its overflow pages */
typedef void (*CuckooVisitor) (Page page, const CuckooIndexAddress *address, void *arg);
extern void CuckooVisitPages(Relation index, Snapshot snapshot, uint64 hash, CuckooVisitor visit,
							 void *arg);

/* add.c */
extern void CuckooExtendFile(Relation index, BlockNumber end);
extern int	CuckooBitsForTable(Relation heap, int bits);
extern void CuckooIndexAdd(Relation index, Relation heap, uint64 hash, CuckooInterval interval);
extern bool CuckooIndexAddFirst(Relation index, Relation heap, uint64 hash,
								CuckooInterval interval);
extern bool cuckooinsert(Relation index, Datum *values, bool *isnull, ItemPointer tid,
						 Relation heap, IndexUniqueCheck check, bool unchanged,
						 struct IndexInfo *info);
extern void cuckooinsertcleanup(Relation index, struct IndexInfo *info);

/* unique.c */
typedef struct CuckooUniqueCheck CuckooUniqueCheck;
extern CuckooUniqueCheck *CuckooUniqueBegin(Relation index, Relation heap, MemoryContext ctx);
extern void CuckooUniqueEnd(CuckooUniqueCheck *unique);
extern void CuckooCheckUnique(CuckooUniqueCheck *unique, CuckooIndexKey *key, uint64 hash,
							  const CuckooList *intervals, Snapshot snapshot);
extern bool CuckooIndexAddUnique(CuckooUniqueCheck *unique, uint64 hash, Datum *values,
								 bool *isnull, ItemPointer tid, IndexUniqueCheck check);

/* build.c; phases, after PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE */
#define CUCKOO_PHASE_SCAN		2
#define CUCKOO_PHASE_SORT		3
#define CUCKOO_PHASE_WRITE		4

extern IndexBuildResult *cuckoobuild(Relation heap, Relation index, struct IndexInfo *info);
extern void cuckoobuildempty(Relation index);

/* vacuum.c */

/* Intervals of more pages of the table stay as they are: REINDEX. */
#define CUCKOO_MAX_TRIMMED_PAGES	16

extern bool CuckooIndexTrim(Relation index, uint64 hash);
extern void CuckooIndexFindRows(Relation index, Snapshot snapshot, uint64 hash,
								CuckooList *intervals);
extern IndexBulkDeleteResult *cuckoobulkdelete(IndexVacuumInfo *info, IndexBulkDeleteResult *stats,
											   IndexBulkDeleteCallback callback,
											   void *callback_state);
extern IndexBulkDeleteResult *cuckoovacuumcleanup(IndexVacuumInfo *info,
												  IndexBulkDeleteResult *stats);

#endif							/* CUCKOO_INDEX_H */
