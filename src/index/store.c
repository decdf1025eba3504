/*-------------------------------------------------------------------------
 *
 * store.c
 *	  The pages of a cuckoo index: finding them, and looking up.
 *
 *-------------------------------------------------------------------------
 */
#include "index.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#define DETOURS_PER_COPY	256

/* pd_lower of every page: what is between it and pd_upper would not be logged. */
#define PAGE_LOWER			(MAXALIGN(SizeOfPageHeaderData) + sizeof(CuckooEntries))

void
CuckooInitPage(Page page, int depth, int bits)
{
	CuckooPageOpaque *opaque;

	PageInit(page, BLCKSZ, sizeof(CuckooPageOpaque));
	opaque = CuckooPageGetOpaque(page);
	opaque->next = InvalidBlockNumber;
	opaque->depth = (uint8) depth;
	opaque->bits = (uint8) bits;
	opaque->page_id = CUCKOO_PAGE_ID;
	((PageHeader) page)->pd_lower = (LocationIndex) PAGE_LOWER;
}

void
CuckooReportCorrupted(int level, Relation index, BlockNumber block)
{
	ereport(level,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("index \"%s\" contains corrupted page at block %u",
					RelationGetRelationName(index), block),
			 errhint("Please REINDEX it.")));
}

/*
 * Whether a page, which is locked, is neither zeros nor one of ours.  If it were
 * the next in its own list, whoever adds would wait for itself.
 */
bool
CuckooPageIsDamaged(Page page, BlockNumber block)
{
	const CuckooPageOpaque *opaque;

	if (PageIsNew(page))
		return false;
	if (PageGetSpecialSize(page) != MAXALIGN(sizeof(CuckooPageOpaque)) ||
		((PageHeader) page)->pd_lower != PAGE_LOWER)
		return true;
	opaque = CuckooPageGetOpaque(page);
	return opaque->page_id != CUCKOO_PAGE_ID || opaque->next == block ||
		opaque->depth > CUCKOO_MAX_DEPTH || opaque->bits > CUCKOO_MAX_FINGERPRINT_BITS;
}

/* Read and lock a page, which must be sound. */
Buffer
CuckooLockPage(Relation index, BlockNumber block, int lock_mode)
{
	Buffer		buffer = ReadBuffer(index, block);

	LockBuffer(buffer, lock_mode);
	if (CuckooPageIsDamaged(BufferGetPage(buffer), block))
		CuckooReportCorrupted(ERROR, index, block);
	return buffer;
}

/*
 * The same for an overflow page.  Those of a list are older and older, so a list
 * that is damaged has an end, too.
 */
Buffer
CuckooLockOverflowPage(Relation index, BlockNumber block, int lock_mode)
{
	Buffer		buffer = CuckooLockPage(index, block, lock_mode);
	Page		page = BufferGetPage(buffer);

	if (CuckooPageIsUnused(page) ||
		(CuckooPageGetOpaque(page)->next >= block &&
		 CuckooPageGetOpaque(page)->next != InvalidBlockNumber))
		CuckooReportCorrupted(ERROR, index, block);
	return buffer;
}

/*
 * Lock the metapage, which must be sound: not all zeros, for example.  With a level
 * below ERROR, damage is only reported, and InvalidBuffer returned.
 */
Buffer
CuckooLockMeta(Relation index, int lock_mode, int level)
{
	Buffer		buffer = ReadBuffer(index, 0);
	Page		page = BufferGetPage(buffer);
	const CuckooIndexMeta *meta = CuckooPageGetMeta(page);

	LockBuffer(buffer, lock_mode);
	if (!CuckooPageIsDamaged(page, 0) &&
		meta->magic == CUCKOO_INDEX_MAGIC && meta->version == CUCKOO_INDEX_VERSION &&
		meta->base_pages >= 1 && meta->base_pages <= CUCKOO_MAX_BASE_PAGES &&
		meta->home_pages <= (uint64) meta->base_pages << CUCKOO_MAX_DEPTH &&
		meta->end > meta->base_pages)
		return buffer;
	CuckooReportCorrupted(level, index, 0);
	UnlockReleaseBuffer(buffer);
	return InvalidBuffer;
}

/*
 * Unlock the metapage, and keep a copy of what it is now.  Lookups begin at the
 * depth that most pages have.  Where fewer than half have split, it is that of
 * the others.
 */
void
CuckooUnlockMeta(Relation index, Buffer buffer)
{
	const CuckooIndexMeta *meta = CuckooPageGetMeta(BufferGetPage(buffer));
	uint64		pages = meta->base_pages;
	CuckooMetaCopy *copy;

	if (index->rd_amcache == NULL)
		index->rd_amcache = MemoryContextAllocZero(index->rd_indexcxt, sizeof(CuckooMetaCopy));
	copy = index->rd_amcache;
	copy->meta = *meta;
	copy->detours = 0;
	for (copy->depth = 0; 2 * pages <= meta->home_pages; pages *= 2)
		copy->depth++;
	if (2 * (uint64) meta->home_pages > 3 * pages)
		copy->depth++;
	UnlockReleaseBuffer(buffer);
}

const CuckooIndexMeta *
CuckooRefreshMeta(Relation index)
{
	CuckooUnlockMeta(index, CuckooLockMeta(index, BUFFER_LOCK_SHARE, ERROR));
	return &((CuckooMetaCopy *) index->rd_amcache)->meta;
}

/* The metapage, or a copy of it that may be old */
const CuckooIndexMeta *
CuckooCachedMeta(Relation index)
{
	return index->rd_amcache == NULL ? CuckooRefreshMeta(index) :
		&((CuckooMetaCopy *) index->rd_amcache)->meta;
}

/*
 * The pages that each piece of a region has.  Regions with no more pages than
 * pieces have pieces of one page.
 */
uint32
CuckooPiecePages(const CuckooIndexMeta *meta, int region)
{
	uint32		prefixes = meta->base_pages;
	int			depth = 0;

	while (2 * prefixes <= CUCKOO_PIECES)
	{
		prefixes *= 2;
		depth++;
	}
	return region <= depth ? 1 :
		(prefixes + CUCKOO_PIECES - 1) / CUCKOO_PIECES << (region - 1 - depth);
}

/*
 * The page of a prefix.  The left halves of a page that splits stay in it, so
 * it is the page that the last split to a right half has made.
 * InvalidBlockNumber if its piece has not been begun.
 */
BlockNumber
CuckooBlockOf(const CuckooIndexMeta *meta, uint64 prefix, int depth)
{
	int			zeros;
	uint64		number;
	uint32		pages;
	BlockNumber first;

	if ((prefix & ((UINT64CONST(1) << depth) - 1)) == 0)
		return 1 + (BlockNumber) (prefix >> depth);
	zeros = pg_rightmost_one_pos64(prefix);
	number = prefix >> (zeros + 1);
	pages = CuckooPiecePages(meta, depth - zeros);
	first = meta->pieces[depth - zeros - 1][number / pages];
	return first == 0 ? InvalidBlockNumber : first + (BlockNumber) (number % pages);
}

/*
 * The depth of the page from which the page of an address would split.  At the
 * depths between them the page is the same.
 */
static int
DepthBefore(const CuckooIndexAddress *address)
{
	return address->depth - pg_rightmost_one_pos64(address->prefix) - 1;
}

/*
 * Find the home page of a hash, and return it locked.  *address is that of the
 * hash at its depth.
 *
 * Where too large a depth leads to a page in use, this is the right one,
 * because it would have split otherwise.  Too small a depth leads to a page
 * that has split at least up to its own depth, which is tried next, and is too
 * large at most.
 */
Buffer
CuckooFindPage(Relation index, uint64 hash, int lock_mode, CuckooIndexAddress *address)
{
	/* These stay where they are when the copy is refreshed. */
	const CuckooIndexMeta *meta = CuckooCachedMeta(index);
	CuckooMetaCopy *copy = index->rd_amcache;
	int			depth = copy->depth;
	BlockNumber last = InvalidBlockNumber;

	for (int steps = 0; steps < 8 * CUCKOO_MAX_DEPTH; steps++)
	{
		BlockNumber block;
		Buffer		buffer;
		Page		page;

		*address = CuckooIndexAddressOf(meta->base_pages, hash, depth);
		block = CuckooBlockOf(meta, address->prefix, depth);
		if (block == InvalidBlockNumber)
		{
			depth = DepthBefore(address);
			continue;
		}
		buffer = CuckooLockPage(index, block, lock_mode);
		page = BufferGetPage(buffer);
		if (CuckooPageIsUnused(page) && block > meta->base_pages)
			depth = DepthBefore(address);
		else
		{
			depth = CuckooPageIsUnused(page) ? 0 : CuckooPageGetOpaque(page)->depth;
			if ((uint64) meta->base_pages << depth > CUCKOO_MAX_HOME_PAGES)
				CuckooReportCorrupted(ERROR, index, block);
			*address = CuckooIndexAddressOf(meta->base_pages, hash, depth);
			if (CuckooBlockOf(meta, address->prefix, depth) == block)
				return buffer;
			/* The same page again?  The copy lacks the piece of the right one. */
			if (block == last)
				copy->detours = DETOURS_PER_COPY;
			last = block;
		}
		UnlockReleaseBuffer(buffer);
		if (++copy->detours > DETOURS_PER_COPY)
			CuckooRefreshMeta(index);
		CHECK_FOR_INTERRUPTS();
	}
	/* The metapage names pieces that lead nowhere. */
	CuckooReportCorrupted(ERROR, index, 0);
	pg_unreachable();
}

/*
 * A snapshot that the server takes for too old is an error: the entries of rows
 * that it shows may be gone.
 */
void
CuckooVisitPages(Relation index, Snapshot snapshot, uint64 hash, CuckooVisitor visit, void *arg)
{
	CuckooIndexAddress address;
	Buffer		buffer = CuckooFindPage(index, hash, BUFFER_LOCK_SHARE, &address);
	BlockNumber next = InvalidBlockNumber;

	for (;;)
	{
		Page		page = BufferGetPage(buffer);

		CuckooTestForOldSnapshot(snapshot, index, page);
		if (!CuckooPageIsUnused(page))
		{
			address = CuckooIndexAddressOf(CuckooCachedMeta(index)->base_pages, hash,
										   CuckooPageGetOpaque(page)->depth);
			visit(page, &address, arg);
			next = CuckooPageGetOpaque(page)->next;
		}
		UnlockReleaseBuffer(buffer);
		if (next == InvalidBlockNumber)
			return;
		CHECK_FOR_INTERRUPTS();
		buffer = CuckooLockOverflowPage(index, next, BUFFER_LOCK_SHARE);
	}
}

static void
AppendIntervals(Page page, const CuckooIndexAddress *address, void *arg)
{
	int			bits = CuckooPageGetOpaque(page)->bits;
	CuckooChain chain = CuckooChainBegin(CuckooPageGetEntries(page),
										 CuckooIndexAddressClass(address, bits));
	CuckooInterval interval;

	while (CuckooChainNext(&chain, &interval))
	{
		if (interval != CUCKOO_TOMBSTONE)
			CuckooListPut(arg, interval);
	}
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

/* Find the intervals of a key's rows, sorted.  None covers another. */
void
CuckooIndexLookUp(Relation index, Snapshot snapshot, uint64 hash, CuckooList *intervals)
{
	intervals->count = 0;
	CuckooVisitPages(index, snapshot, hash, AppendIntervals, intervals);
	if (intervals->count > 1)
		DropCovered(intervals);
}
