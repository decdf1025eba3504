/*-------------------------------------------------------------------------
 *
 * build.c
 *	  Building a cuckoo index.
 *
 * The hashes and intervals of all rows are sorted, and those of each key joined
 * to as many as it will have.  If they do not fit in memory, they first go to
 * temporary files, each with a range of the hashes.  Then the number of base
 * pages is chosen, and they are filled one after the other.
 *
 * With PostgreSQL's tuplesort, which copies each entry twice, all this would
 * take twice as long.
 *
 *-------------------------------------------------------------------------
 */
#include "index.h"

#include <math.h>

#include "access/tableam.h"
#include "access/xloginsert.h"
#include "catalog/index.h"
#include "commands/progress.h"
#include "commands/tablespace.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "storage/buffile.h"
#include "utils/backend_progress.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

typedef struct BuildEntry
{
	uint64		hash;
	CuckooInterval interval;
} BuildEntry;

#define ST_SORT SortEntries
#define ST_ELEMENT_TYPE BuildEntry
#define ST_COMPARE(a, b) \
	((a)->hash != (b)->hash ? ((a)->hash > (b)->hash ? 1 : -1) : \
	 ((a)->interval > (b)->interval) - ((a)->interval < (b)->interval))
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * Hashes are divided into ranges by eight bits.  Entries of one range differ
 * only in the bits below these.
 */
#define RANGE_BITS	8
#define RANGES		(1 << RANGE_BITS)
#define SAMPLE_RANGES	16

typedef struct RangeFile
{
	BufFile    *file;			/* NULL: there are no entries */
	uint64		count;
	int			below;			/* bits in which the hashes differ */
} RangeFile;

typedef struct BuildState
{
	CuckooIndexKey key;
	CuckooIndexMeta meta;
	int			bits;			/* of fingerprints */
	Relation	index;
	BuildEntry *entries;		/* in memory */
	uint64		count;
	uint64		room;
	uint64		max_room;
	RangeFile  *files;			/* those of the lowest hashes last */
	int			file_count;		/* 0: all entries are in memory */
	uint64		written;		/* entries in pages */
	CuckooUniqueCheck *unique;		/* NULL if the index is not */
	Snapshot	snapshot;		/* that shows the rows which must be */
} BuildState;

static inline int
RangeOf(const BuildEntry *entry, int below)
{
	return (int) (entry->hash >> (below - RANGE_BITS) & (RANGES - 1));
}

/* Put entries in the order of their ranges, each of which has an end. */
static void
Divide(BuildEntry *entries, uint64 count, int below, uint64 *ends)
{
	uint64		next[RANGES];
	uint64		end = 0;

	memset(ends, 0, RANGES * sizeof(uint64));
	for (uint64 i = 0; i < count; i++)
		ends[RangeOf(&entries[i], below)]++;
	for (int range = 0; range < RANGES; range++)
	{
		next[range] = end;
		ends[range] = end += ends[range];
	}
	for (int range = 0; range < RANGES; range++)
	{
		CHECK_FOR_INTERRUPTS();
		while (next[range] < ends[range])
		{
			BuildEntry *here = &entries[next[range]];
			BuildEntry *there = &entries[next[RangeOf(here, below)]++];
			BuildEntry	entry = *there;

			*there = *here;
			*here = entry;
		}
	}
}

/* Few are left to compare in the end, because hashes are spread. */
static void
Order(BuildEntry *entries, uint64 count, int below)
{
	uint64		ends[RANGES];
	uint64		first = 0;

	if (count < RANGES || below == 0)
	{
		SortEntries(entries, count);
		return;
	}
	Divide(entries, count, below, ends);
	for (int range = 0; range < RANGES; range++)
	{
		Order(&entries[first], ends[range] - first, below - RANGE_BITS);
		first = ends[range];
	}
}

/*
 * Append an interval to sorted ones of its key.  Three in one page of the table
 * are one entry, if they are joined.
 */
static int
AppendInterval(CuckooInterval *intervals, int count, CuckooInterval interval, bool joins)
{
	if (joins && count > 0 && CuckooIntervalsSharePage(intervals[count - 1], interval))
	{
		CuckooInterval joined = CuckooIntervalJoin(intervals[count - 1], interval);

		if (count > 1 && CuckooIntervalsSharePage(intervals[count - 2], interval))
		{
			intervals[count - 2] = CuckooIntervalJoin(intervals[count - 2], joined);
			return count - 1;
		}
		if (CuckooIntervalSize(intervals[count - 1]) > 1)
		{
			intervals[count - 1] = joined;
			return count;
		}
	}
	intervals[count] = interval;
	return count + 1;
}

/* Sort entries, join those of each key, and return how many there are then. */
static uint64
SortAndJoin(BuildEntry *entries, uint64 count, int below, bool joins)
{
	CuckooInterval intervals[8 * CUCKOO_MAX_LINKS];
	uint64		kept = 0;

	Order(entries, count, below);
	for (uint64 i = 0; i < count;)
	{
		uint64		hash = entries[i].hash;
		int			links = 0;

		CHECK_FOR_INTERRUPTS();
		for (; i < count && entries[i].hash == hash; i++)
		{
			if (links == lengthof(intervals))
				links = CuckooJoinIntervals(intervals, links, CUCKOO_MAX_LINKS);
			links = AppendInterval(intervals, links, entries[i].interval, joins);
		}
		links = CuckooJoinIntervals(intervals, links, CUCKOO_MAX_LINKS);
		for (int k = 0; k < links; k++)
			entries[kept++] = (BuildEntry) {hash, intervals[k]};
	}
	return kept;
}

static void
GrowTo(BuildState *state, uint64 room)
{
	if (room <= state->room)
		return;
	state->room = room;
	state->entries = repalloc_huge(state->entries, room * sizeof(BuildEntry));
}

/*
 * Move the entries from this one on to the files of their ranges, those of the
 * lowest hashes last.
 */
static void
WriteFiles(BuildState *state, uint64 from, RangeFile *files, int below)
{
	BuildEntry *entries = &state->entries[from];
	uint64		ends[RANGES];
	uint64		first = 0;

	Divide(entries, state->count - from, below, ends);
	state->count = from;
	for (int range = 0; range < RANGES; range++)
	{
		RangeFile  *file = &files[RANGES - 1 - range];

		if (ends[range] == first)
			continue;
		if (file->file == NULL)
			file->file = BufFileCreateTemp(false);
		BufFileWrite(file->file, &entries[first], (ends[range] - first) * sizeof(BuildEntry));
		file->count += ends[range] - first;
		file->below = below - RANGE_BITS;
		first = ends[range];
	}
}

/* Make place for the files of the ranges of one. */
static RangeFile *
AppendFiles(BuildState *state)
{
	RangeFile  *files;

	state->files = state->files == NULL ? palloc(RANGES * sizeof(RangeFile)) :
		repalloc(state->files, (state->file_count + RANGES) * sizeof(RangeFile));
	files = &state->files[state->file_count];
	memset(files, 0, RANGES * sizeof(RangeFile));
	state->file_count += RANGES;
	return files;
}

/* Read up to max_room entries of a file, after some, behind those in memory. */
static uint64
ReadChunk(BuildState *state, const RangeFile *file, uint64 done)
{
	uint64		count = Min(file->count - done, state->max_room);
	size_t		bytes = count * sizeof(BuildEntry);

	GrowTo(state, state->count + count);
	if ((done == 0 && BufFileSeek(file->file, 0, 0, SEEK_SET) != 0) ||
		BufFileRead(file->file, &state->entries[state->count], bytes) != bytes)
		ereport(ERROR,
				(errcode_for_file_access(), errmsg("could not read from temporary file: %m")));
	return count;
}

/*
 * Read a file behind the entries in memory, sorted and joined.  If there is no
 * room for all of it, false, and its entries are in files of smaller ranges;
 * but the entries of one hash are few when they are joined.
 */
static bool
ReadFile(BuildState *state, RangeFile file)
{
	bool		fits = file.count <= state->max_room || file.below == 0;
	RangeFile  *files = fits ? NULL : AppendFiles(state);
	uint64		left = state->count;

	for (uint64 done = 0, count; done < file.count; done += count)
	{
		count = ReadChunk(state, &file, done);
		state->count = left + SortAndJoin(&state->entries[left], state->count + count - left,
										  file.below, CuckooIndexJoinsInPage(state->index));
		if (!fits)
			WriteFiles(state, left, files, file.below);
	}
	return fits;
}

/*
 * Read the next entries, if there are any, behind those from this one on, which
 * become the first.
 */
static void
ReadNext(BuildState *state, uint64 first)
{
	bool		done = false;

	state->count -= first;
	memmove(state->entries, &state->entries[first], state->count * sizeof(BuildEntry));
	while (!done && state->file_count > 0)
	{
		RangeFile	file = state->files[--state->file_count];

		if (file.file == NULL)
			continue;
		done = ReadFile(state, file);
		BufFileClose(file.file);
	}
}

/*
 * How many entries there will be when they are joined, and none is in memory:
 * in all ranges as in some.
 */
static double
JoinedCount(BuildState *state)
{
	uint64		joined = 0;

	for (int range = 0; range < SAMPLE_RANGES; range++)
	{
		const RangeFile *file = &state->files[RANGES - 1 - range];

		for (uint64 done = 0, count; done < file->count; done += count)
		{
			count = ReadChunk(state, file, done);
			joined += SortAndJoin(state->entries, count, file->below,
								  CuckooIndexJoinsInPage(state->index));
		}
	}
	return (double) joined * RANGES / SAMPLE_RANGES;
}

static void
MakeRoom(BuildState *state)
{
	if (state->room < state->max_room)
		GrowTo(state, Min(4 * state->room, state->max_room));
	else
	{
		if (state->file_count == 0)
			(void) AppendFiles(state);
		WriteFiles(state, 0, state->files, 64);
	}
}

static void
AddRow(Relation index pg_attribute_unused(), ItemPointer tid, Datum *values, bool *isnull,
	   bool alive pg_attribute_unused(), void *arg)
{
	BuildState *state = arg;
	uint64		hash;

	if (!CuckooIndexHash(&state->key, values, isnull, &hash))
		return;
	if (state->count == state->room)
		MakeRoom(state);
	state->entries[state->count++] = (BuildEntry) {hash, CuckooRowInterval(tid)};
}

/* Make a page of entries while they find room.  Returns how many have. */
static uint64
FillPage(const BuildState *state, Page page, const BuildEntry *entries, uint64 count)
{
	CuckooInitPage(page, 0, state->bits);
	for (uint64 i = 0; i < count; i++)
	{
		CuckooIndexAddress address =
			CuckooIndexAddressOf(state->meta.base_pages, entries[i].hash, 0);
		CuckooTouched touched;

		if (!CuckooEntriesAdd(CuckooPageGetEntries(page),
							  CuckooIndexAddressClass(&address, state->bits),
							  entries[i].interval, CuckooIndexJoinsInPage(state->index), &touched))
			return i;
	}
	return count;
}

static void
WritePage(Relation index, BlockNumber block, const PGAlignedBlock *image)
{
	Buffer		buffer = CuckooLockPage(index, block, BUFFER_LOCK_EXCLUSIVE);

	memcpy(BufferGetPage(buffer), image->data, BLCKSZ);
	MarkBufferDirty(buffer);
	UnlockReleaseBuffer(buffer);
}

/* Build a base page, with overflow pages for what finds no room in it. */
static void
BuildPage(BuildState *state, const BuildEntry *entries, uint64 count, BlockNumber block)
{
	PGAlignedBlock home;
	PGAlignedBlock overflow;
	uint64		done = FillPage(state, (Page) home.data, entries, count);
	BlockNumber next = InvalidBlockNumber;	/* the first in the list */

	while (done < count)
	{
		CHECK_FOR_INTERRUPTS();
		done += FillPage(state, (Page) overflow.data, entries + done, count - done);
		CuckooPageGetOpaque((Page) overflow.data)->next = next;
		next = state->meta.end++;
		state->meta.overflow_pages++;
		CuckooExtendFile(state->index, state->meta.end);
		WritePage(state->index, next, &overflow);
	}
	CuckooPageGetOpaque((Page) home.data)->next = next;
	WritePage(state->index, block, &home);
}

/* Check the hashes of which several rows may be: all others are unique. */
static void
CheckUnique(BuildState *state, const BuildEntry *entries, uint64 count)
{
	CuckooList	intervals = {0};

	for (uint64 i = 0; i < count;)
	{
		uint64		hash = entries[i].hash;

		intervals.count = 0;
		for (; i < count && entries[i].hash == hash; i++)
			CuckooListPut(&intervals, entries[i].interval);
		if (intervals.count > 1 || CuckooIntervalSize(intervals.numbers[0]) > 1)
			CuckooCheckUnique(state->unique, &state->key, hash, &intervals, state->snapshot);
	}
	CuckooListFree(&intervals);
}

/* Build the base pages that have entries, of which there are about so many. */
static void
BuildPages(BuildState *state, double entries)
{
	uint32		base_pages = state->meta.base_pages;
	uint64		first = 0;

	for (;;)
	{
		uint64		end = first;
		uint64		prefix = 0;
		uint64		next_hash = 0;	/* of the next base page; 0: there is none */

		if (first < state->count)
		{
			prefix = CuckooIndexAddressOf(base_pages, state->entries[first].hash, 0).prefix;
			next_hash = CuckooIndexFirstHash(base_pages, (prefix + 1) * CUCKOO_PAGE_PAIRS, 0);
		}
		while (end < state->count && state->entries[end].hash <= next_hash - 1)
			end++;
		if (end == state->count && state->file_count > 0)
		{
			ReadNext(state, first);
			first = 0;
			if (state->file_count == 0 || (double) (state->written + state->count) > entries)
				entries = (double) (state->written + state->count);
			pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_TOTAL, (int64) entries);
			continue;
		}
		if (end == first)
			return;
		if (state->unique != NULL)
			CheckUnique(state, &state->entries[first], end - first);
		BuildPage(state, &state->entries[first], end - first, 1 + (BlockNumber) prefix);
		state->written += end - first;
		pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE, (int64) state->written);
		first = end;
	}
}

static void
InitMeta(CuckooIndexMeta *meta, uint32 base_pages)
{
	meta->magic = CUCKOO_INDEX_MAGIC;
	meta->version = CUCKOO_INDEX_VERSION;
	meta->base_pages = meta->home_pages = base_pages;
	meta->end = 1 + base_pages;
}

static void
PutMeta(Page page, const CuckooIndexMeta *meta)
{
	CuckooInitPage(page, 0, 0);
	memcpy(PageGetContents(page), meta, sizeof(CuckooIndexMeta));
}

/* In percent: with fuller pages, many would have overflow pages. */
#define MAX_LOAD	92

/*
 * The number of base pages for so many entries.  Each split takes a bit of the
 * fingerprints, and intervals for a large table leave few.  If there are few
 * entries now, but later one for each row, bits would run out without more base
 * pages.
 */
static uint32
BasePages(Relation index, double entries, double table_pages)
{
	const CuckooIndexOptions *options = (CuckooIndexOptions *) index->rd_options;
	int			load = Min(options == NULL ? CUCKOO_INDEX_FILLFACTOR : options->fillfactor,
						   MAX_LOAD);
	double		rows = entries;
	double		pages;

	/*
	 * Indexes of a temporary table with ON COMMIT DELETE ROWS are built anew at
	 * each commit, even if nothing was in the table: not for the capacity.
	 */
	if (options != NULL &&
		!(RelationUsesLocalBuffers(index) && entries == 0 &&
		  index->rd_createSubid == InvalidSubTransactionId))
		rows = Max(rows, options->capacity);
	pages = Max(ceil(rows / (CUCKOO_PAGE_ENTRIES * (load / 100.0))),
				table_pages / 256 * Min(table_pages / (1 << 24), 1));
	return (uint32) Min(Max(pages, 1), CUCKOO_MAX_BASE_PAGES);
}

/* Read the table, sort, and say how many entries there will be. */
static double
ReadTable(BuildState *state, Relation heap, IndexInfo *info, IndexBuildResult *result)
{
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, CUCKOO_PHASE_SCAN);
	result->heap_tuples = table_index_build_scan(heap, state->index, info, true, true, AddRow,
												 state, NULL);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, CUCKOO_PHASE_SORT);
	if (state->file_count == 0)
		return state->count = SortAndJoin(state->entries, state->count, 64,
										  CuckooIndexJoinsInPage(state->index));
	WriteFiles(state, 0, state->files, 64);
	return JoinedCount(state);
}

IndexBuildResult *
cuckoobuild(Relation heap, Relation index, IndexInfo *info)
{
	BuildState	state = {.index = index, .room = 4096};
	IndexBuildResult *result = palloc0(sizeof(IndexBuildResult));
	PGAlignedBlock page;
	double		entries;

	if (RelationGetNumberOfBlocks(index) != 0)
		elog(ERROR, "index \"%s\" already contains data", RelationGetRelationName(index));
	CuckooCheckIndexed(heap, index);
	if (info->ii_NullsNotDistinct)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("index access method \"cuckoo\" does not support NULLS NOT DISTINCT"),
				 errdetail("Rows with NULLs are not in the index."),
				 errhint("Index an expression that is not NULL, such as coalesce(column, '').")));
	CuckooIndexKeyForBuild(&state.key, index, state.meta.columns, CurrentMemoryContext);
	PrepareTempTablespaces();
	state.max_room = Max((uint64) maintenance_work_mem * 1024 / sizeof(BuildEntry), state.room);
	state.entries = palloc(state.room * sizeof(BuildEntry));
	entries = ReadTable(&state, heap, info, result);

	/* Others may have added to the table until it was read, but not since. */
	state.bits = CuckooBitsForTable(heap, CUCKOO_MAX_FINGERPRINT_BITS);
	InitMeta(&state.meta, BasePages(index, entries, RelationGetNumberOfBlocks(heap)));
	pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_TOTAL, (int64) entries);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, CUCKOO_PHASE_WRITE);
	CuckooExtendFile(index, state.meta.end);
	CuckooInitPage((Page) page.data, 0, 0);
	WritePage(index, state.meta.end - 1, &page);
	if (info->ii_Unique)
	{
		/* Others may have been committed since the transaction began. */
		state.snapshot = RegisterSnapshot(GetLatestSnapshot());
		state.unique = CuckooUniqueBegin(index, heap, CurrentMemoryContext);
	}
	BuildPages(&state, entries);
	if (info->ii_Unique)
	{
		CuckooUniqueEnd(state.unique);
		UnregisterSnapshot(state.snapshot);
	}
	PutMeta((Page) page.data, &state.meta);
	WritePage(index, 0, &page);
	/* A copy may be of the index before TRUNCATE. */
	(void) CuckooRefreshMeta(index);
	if (RelationNeedsWAL(index))
		log_newpage_range(index, MAIN_FORKNUM, 0, RelationGetNumberOfBlocks(index), true);
	result->index_tuples = (double) state.written;
	pfree(state.entries);
	return result;
}

/* An unlogged index after a crash: a metapage and one page */
void
cuckoobuildempty(Relation index)
{
	CuckooIndexKey key;
	CuckooIndexMeta meta = {0};

	CuckooIndexKeyForBuild(&key, index, meta.columns, CurrentMemoryContext);
	InitMeta(&meta, 1);
	for (int i = 0; i < 2; i++)
	{
		Buffer		buffer = ReadBufferExtended(index, INIT_FORKNUM, P_NEW, RBM_ZERO_AND_LOCK,
												NULL);

		START_CRIT_SECTION();
		if (i == 0)
			PutMeta(BufferGetPage(buffer), &meta);
		else
			CuckooInitPage(BufferGetPage(buffer), 0, CUCKOO_MAX_FINGERPRINT_BITS);
		MarkBufferDirty(buffer);
		log_newpage_buffer(buffer, true);
		END_CRIT_SECTION();
		UnlockReleaseBuffer(buffer);
	}
}
