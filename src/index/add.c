/*-------------------------------------------------------------------------
 *
 * add.c
 *	  Adding to a cuckoo index, which grows by splits of pages and by overflow
 *	  pages.  README, "Adding" and "Locks", has the steps.
 *
 *-------------------------------------------------------------------------
 */
#include "index.h"

#include "access/generic_xlog.h"
#include "access/rmgr.h"
#include "access/xloginsert.h"
#ifdef CUCKOO_REFUSED_SPLITS
#include "common/pg_prng.h"
#endif
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "storage/lmgr.h"
#include "storage/smgr.h"
#include "utils/memutils.h"

#define MIN_SPLIT_BITS		6	/* of the fingerprints of a page that splits */
#define EXTENSION_STEP		1024	/* 8 MB, for which others that extend the file wait */
#define SMALL_EXTENSION		128 /* 1 MB, which costs less than to split a page again */

/* The bits of fingerprints, at most so many, with which the table can double */
int
CuckooBitsForTable(Relation heap, int bits)
{
	return CuckooBitsForPages(bits, 2 * (uint64) RelationGetNumberOfBlocks(heap));
}

/*
 * The same for a page whose table is likely to grow: for eight times its size,
 * so that the page is not narrowed each time the table doubles, unless this
 * leaves few bits.
 */
static int
BitsForGrowth(Relation heap, int bits)
{
	uint64		pages = RelationGetNumberOfBlocks(heap);
	int			twice = CuckooBitsForPages(bits, 2 * pages);
	int			eightfold = CuckooBitsForPages(bits, 8 * pages);

	return Min(twice, Max(eightfold, 16));
}

/*
 * Make the file at least so long, with zeros, for which the disk has room.
 * Others can extend it, too, after each step.  Whoever puts something into the
 * last page logs it, so that replay extends the file.
 */
void
CuckooExtendFile(Relation index, BlockNumber end)
{
	BlockNumber blocks;

	do
	{
		CHECK_FOR_INTERRUPTS();
		LockRelationForExtension(index, ExclusiveLock);
		blocks = RelationGetNumberOfBlocks(index);
		if (blocks < end)
			CuckooExtendByZeros(RelationGetSmgr(index), blocks, Min(end - blocks, EXTENSION_STEP));
		UnlockRelationForExtension(index, ExclusiveLock);
	} while (blocks < end && end - blocks > EXTENSION_STEP);
}

/* Append a piece of a generic WAL record: offset, length, bytes. */
static char *
PutPiece(char *to, const char *page, const void *bytes, uint16 length)
{
	uint16		offset = (uint16) ((const char *) bytes - page);

	memcpy(to, &offset, sizeof(offset));
	memcpy(to + sizeof(offset), &length, sizeof(length));
	memcpy(to + 2 * sizeof(offset), bytes, length);
	return to + 2 * sizeof(offset) + length;
}

/*
 * Log entries that have changed, each of which is in two places.  For
 * GenericXLogFinish to find them would take longer than all the rest.
 */
static void
LogEntries(Buffer buffer, bool whole_page, const CuckooTouched *touched)
{
	Page		page = BufferGetPage(buffer);
	char		pieces[CUCKOO_MAX_TOUCHED * (4 * sizeof(uint16) + sizeof(uint16) + sizeof(uint32))];
	char	   *end = pieces;
	XLogRecPtr	lsn;

	XLogBeginInsert();
	if (whole_page || touched->count > CUCKOO_MAX_TOUCHED)
		XLogRegisterBuffer(0, buffer, REGBUF_FORCE_IMAGE | REGBUF_STANDARD);
	else
	{
		XLogRegisterBuffer(0, buffer, REGBUF_STANDARD);
		for (int i = 0; i < touched->count; i++)
		{
			const CuckooIndexBucket *bucket =
				&CuckooPageGetEntries(page)->buckets[touched->slot[i] / CUCKOO_ENTRIES];
			int			slot = touched->slot[i] % CUCKOO_ENTRIES;

			end = PutPiece(end, page, &bucket->low[slot], sizeof(bucket->low[slot]));
			end = PutPiece(end, page, &bucket->high[slot], sizeof(bucket->high[slot]));
		}
		XLogRegisterBufData(0, pieces, (int) (end - pieces));
	}
	lsn = XLogInsert(RM_GENERIC_ID, 0);
	PageSetLSN(page, lsn);
}

/* An image of a page, to be filled by moving entries */
static CuckooEntries *
InitImage(PGAlignedBlock *image, int depth, int bits, BlockNumber next)
{
	CuckooInitPage((Page) image->data, depth, bits);
	CuckooPageGetOpaque((Page) image->data)->next = next;
	return CuckooPageGetEntries((Page) image->data);
}

static void
LogImage(GenericXLogState *state, Buffer buffer, const PGAlignedBlock *image)
{
	memcpy(GenericXLogRegisterBuffer(state, buffer, GENERIC_XLOG_FULL_IMAGE), image->data, BLCKSZ);
}

/*
 * Shorten the fingerprints of a page so that it can name the pages that the
 * table has, and twice as many.  Leave a page that is nearly full: it would not
 * find room for all entries.
 */
static bool
Narrow(Relation index, Relation heap, Buffer buffer)
{
	Page		page = BufferGetPage(buffer);
	CuckooPageOpaque *opaque = CuckooPageGetOpaque(page);
	CuckooEntries *entries = CuckooPageGetEntries(page);
	int			bits = BitsForGrowth(heap, opaque->bits);
	PGAlignedBlock image;
	GenericXLogState *state;

	if (CuckooEntriesCount(entries) > CUCKOO_PAGE_ENTRIES / 16 * 15 ||
		!CuckooEntriesMove(entries, opaque->bits,
						   InitImage(&image, opaque->depth, bits, opaque->next), NULL, bits,
						   CuckooIndexJoinsInPage(index)))
		return false;
	state = GenericXLogStart(index);
	LogImage(state, buffer, &image);
	GenericXLogFinish(state);
	return true;
}

/* Add to a page; false if it has no room.  *links: of the key's chain before that */
static bool
AddToPage(Relation index, Relation heap, Buffer buffer, const CuckooIndexAddress *address,
		  CuckooInterval interval, int *links)
{
	Page		page = BufferGetPage(buffer);
	bool		is_unused = CuckooPageIsUnused(page);	/* a base page */
	int			bits = is_unused ? BitsForGrowth(heap, CUCKOO_MAX_FINGERPRINT_BITS) :
		CuckooPageGetOpaque(page)->bits;
	CuckooTouched touched;
	bool		added;

	if (CuckooIntervalFirst(interval) / CUCKOO_PAGE_POSITIONS >= CuckooPageSpan(bits))
	{
		if (!Narrow(index, heap, buffer))
			return false;
		bits = CuckooPageGetOpaque(page)->bits;
	}
	START_CRIT_SECTION();
	if (is_unused)
		CuckooInitPage(page, 0, bits);
	added = CuckooEntriesAdd(CuckooPageGetEntries(page), CuckooIndexAddressClass(address, bits),
							 interval, CuckooIndexJoinsInPage(index), &touched);
	if (added && touched.count > 0)
	{
		MarkBufferDirty(buffer);
		if (RelationNeedsWAL(index))
			LogEntries(buffer, is_unused, &touched);
	}
	END_CRIT_SECTION();
	*links = touched.links;
	return added;
}

/*
 * Whether a page may split.  Splits of a page much deeper than most would make
 * pieces in which few pages are in use.
 */
static bool
MaySplit(const CuckooIndexMeta *meta, int depth, int bits)
{
	uint64		pages = (uint64) meta->base_pages << (depth + 1);

#ifdef CUCKOO_REFUSED_SPLITS			/* for tests: so many of 8 */
	if (pg_prng_uint32(&pg_global_prng_state) % 8 < CUCKOO_REFUSED_SPLITS)
		return false;
#endif
	return bits >= MIN_SPLIT_BITS && depth < CUCKOO_MAX_DEPTH && pages <= CUCKOO_MAX_HOME_PAGES &&
		pages <= 4 * (uint64) meta->home_pages;
}

/* Lock a page that must not be in use. */
static Buffer
LockUnusedPage(Relation index, BlockNumber block)
{
	Buffer		buffer = CuckooLockPage(index, block, BUFFER_LOCK_EXCLUSIVE);

	if (!CuckooPageIsUnused(BufferGetPage(buffer)))
		CuckooReportCorrupted(ERROR, index, block);
	return buffer;
}

/*
 * Begin the piece of a region that has a page, for which the file has room.  Its
 * last page is logged first, so that nobody waits for the metapage while replay
 * extends the file.
 */
static void
BeginPiece(Relation index, Buffer meta_buffer, uint64 number, int region)
{
	CuckooIndexMeta *meta = CuckooPageGetMeta(BufferGetPage(meta_buffer));
	uint32		pages = CuckooPiecePages(meta, region);
	GenericXLogState *state;
	Buffer		last;

	last = LockUnusedPage(index, meta->end + pages - 1);
	state = GenericXLogStart(index);
	CuckooInitPage(GenericXLogRegisterBuffer(state, last, GENERIC_XLOG_FULL_IMAGE), 0, 0);
	GenericXLogFinish(state);
	UnlockReleaseBuffer(last);

	state = GenericXLogStart(index);
	meta = CuckooPageGetMeta(GenericXLogRegisterBuffer(state, meta_buffer, 0));
	meta->pieces[region - 1][number / pages] = meta->end;
	meta->end += pages;
	GenericXLogFinish(state);
}

/*
 * Reserve room in the file for so many pages behind those in use.  If that takes
 * more than a small extension, return the length that the file needs instead.
 */
static BlockNumber
ReservePages(Relation index, const CuckooIndexMeta *meta, uint32 pages)
{
	BlockNumber blocks = RelationGetNumberOfBlocks(index);
	BlockNumber end = meta->end + pages;

	/* A file that somebody has cut must not be filled with pages of zeros. */
	if (meta->end > blocks)
		CuckooReportCorrupted(ERROR, index, blocks);
	if (end <= blocks)
		return 0;
	if (end - blocks > SMALL_EXTENSION)
		return end;
	CuckooExtendFile(index, end);
	return 0;
}

/*
 * Replace a home page by its halves, whose images these are.  If the file needs
 * another length before that, return it, else 0.
 */
static BlockNumber
PutHalves(Relation index, Buffer meta_buffer, Buffer home, uint64 prefix,
		  const PGAlignedBlock *halves)
{
	int			depth = CuckooPageGetOpaque(BufferGetPage(home))->depth + 1;
	CuckooIndexMeta *meta = CuckooPageGetMeta(BufferGetPage(meta_buffer));
	GenericXLogState *state;
	Buffer		right;

	if (CuckooBlockOf(meta, 2 * prefix + 1, depth) == InvalidBlockNumber)
	{
		BlockNumber missing = ReservePages(index, meta, CuckooPiecePages(meta, depth));

		if (missing > 0)
			return missing;
		BeginPiece(index, meta_buffer, prefix, depth);
	}
	right = LockUnusedPage(index, CuckooBlockOf(meta, 2 * prefix + 1, depth));

	state = GenericXLogStart(index);
	LogImage(state, home, &halves[0]);
	LogImage(state, right, &halves[1]);
	CuckooPageGetMeta(GenericXLogRegisterBuffer(state, meta_buffer, 0))->home_pages++;
	GenericXLogFinish(state);
	UnlockReleaseBuffer(right);
	return 0;
}

/*
 * Split a home page, if it may and its entries find room; both halves have its
 * overflow pages.  If the file first has to be extended, which may take long, the
 * page stays whole, and *missing is the length that it needs.
 */
static bool
Split(Relation index, Relation heap, Buffer home, uint64 prefix, BlockNumber *missing)
{
	Page		page = BufferGetPage(home);
	const CuckooPageOpaque *opaque = CuckooPageGetOpaque(page);
	int			depth = opaque->depth + 1;
	int			bits;
	PGAlignedBlock halves[2];
	Buffer		meta_buffer;

	/* The copy of the metapage may be from when the index was smaller. */
	if (!MaySplit(CuckooCachedMeta(index), opaque->depth, opaque->bits) &&
		!MaySplit(CuckooRefreshMeta(index), opaque->depth, opaque->bits))
		return false;
	bits = CuckooBitsForTable(heap, opaque->bits - 1);
	if (!CuckooEntriesMove(CuckooPageGetEntries(page), opaque->bits,
						   InitImage(&halves[0], depth, bits, opaque->next),
						   InitImage(&halves[1], depth, bits, opaque->next), bits,
						   CuckooIndexJoinsInPage(index)))
		return false;
	meta_buffer = CuckooLockMeta(index, BUFFER_LOCK_EXCLUSIVE, ERROR);
	*missing = PutHalves(index, meta_buffer, home, prefix, halves);
	CuckooUnlockMeta(index, meta_buffer);
	return true;
}

/* Give a home page an overflow page, the first in its list, with one entry. */
static void
AddOverflowPage(Relation index, Relation heap, Buffer home, const CuckooIndexAddress *address,
				CuckooInterval interval)
{
	int			bits = CuckooBitsForTable(heap, CUCKOO_MAX_FINGERPRINT_BITS - address->depth);
	Buffer		meta_buffer = CuckooLockMeta(index, BUFFER_LOCK_EXCLUSIVE, ERROR);
	CuckooIndexMeta *meta = CuckooPageGetMeta(BufferGetPage(meta_buffer));
	Buffer		buffer;
	GenericXLogState *state;
	CuckooPageOpaque *opaque;
	Page		page;
	CuckooTouched touched;

	(void) ReservePages(index, meta, 1);
	buffer = LockUnusedPage(index, meta->end);
	state = GenericXLogStart(index);
	opaque = CuckooPageGetOpaque(GenericXLogRegisterBuffer(state, home, 0));
	meta = CuckooPageGetMeta(GenericXLogRegisterBuffer(state, meta_buffer, 0));
	page = GenericXLogRegisterBuffer(state, buffer, GENERIC_XLOG_FULL_IMAGE);
	CuckooInitPage(page, address->depth, bits);
	CuckooPageGetOpaque(page)->next = opaque->next;
	opaque->next = meta->end++;
	meta->overflow_pages++;
	CuckooEntriesAdd(CuckooPageGetEntries(page), CuckooIndexAddressClass(address, bits), interval,
					 CuckooIndexJoinsInPage(index), &touched);
	GenericXLogFinish(state);
	UnlockReleaseBuffer(buffer);
	CuckooUnlockMeta(index, meta_buffer);
}

/* Add to the newest overflow page, unless another home page has it, too. */
static bool
AddToOverflowPage(Relation index, Relation heap, Buffer home, const CuckooIndexAddress *address,
				  CuckooInterval interval, int *links)
{
	BlockNumber next = CuckooPageGetOpaque(BufferGetPage(home))->next;
	Buffer		buffer;
	bool		added;

	if (next == InvalidBlockNumber)
		return false;
	buffer = CuckooLockOverflowPage(index, next, BUFFER_LOCK_EXCLUSIVE);
	added = CuckooPageGetOpaque(BufferGetPage(buffer))->depth == address->depth &&
		AddToPage(index, heap, buffer, address, interval, links);
	UnlockReleaseBuffer(buffer);
	return added;
}

/*
 * Add a key's row.  Only the home page and its first overflow page are looked
 * at: whoever chose keys for one page could make all others be searched for
 * each key.
 */
void
CuckooIndexAdd(Relation index, Relation heap, uint64 hash, CuckooInterval interval)
{
	bool		added = false;
	int			links = 0;

	while (!added)
	{
		CuckooIndexAddress address;
		Buffer		home = CuckooFindPage(index, hash, BUFFER_LOCK_EXCLUSIVE, &address);
		BlockNumber missing = 0;

		added = AddToPage(index, heap, home, &address, interval, &links) ||
			AddToOverflowPage(index, heap, home, &address, interval, &links);
		if (!added && !Split(index, heap, home, address.prefix, &missing))
		{
			AddOverflowPage(index, heap, home, &address, interval);
			added = true;
		}
		UnlockReleaseBuffer(home);
		if (missing > 0)
			CuckooExtendFile(index, missing);
	}
	/* The next addition would join intervals: those of dead rows go before. */
	if (links == CUCKOO_MAX_LINKS - 1)
		(void) CuckooIndexTrim(index, hash);
}

/*
 * Add a key's row if the index has no entry that may be of another one.  False if
 * it may, or if that takes more than one page to say or to change.
 */
bool
CuckooIndexAddFirst(Relation index, Relation heap, uint64 hash, CuckooInterval interval)
{
	CuckooIndexAddress address;
	Buffer		home = CuckooFindPage(index, hash, BUFFER_LOCK_EXCLUSIVE, &address);
	Page		page = BufferGetPage(home);
	bool		is_first = true;
	int			links;

	if (!CuckooPageIsUnused(page))
	{
		CuckooChain chain =
			CuckooChainBegin(CuckooPageGetEntries(page),
							 CuckooIndexAddressClass(&address, CuckooPageGetOpaque(page)->bits));
		CuckooInterval other;

		is_first = CuckooPageGetOpaque(page)->next == InvalidBlockNumber &&
			!CuckooChainNext(&chain, &other);
	}
	is_first = is_first && AddToPage(index, heap, home, &address, interval, &links);
	UnlockReleaseBuffer(home);
	return is_first;
}

/* What the additions of a statement need */
typedef struct InsertCache
{
	CuckooIndexKey key;
	CuckooUniqueCheck *unique;		/* NULL if the index is not */
} InsertCache;

bool
cuckooinsert(Relation index, Datum *values, bool *isnull, ItemPointer tid, Relation heap,
			 IndexUniqueCheck check, bool unchanged pg_attribute_unused(), struct IndexInfo *info)
{
	InsertCache *cache = info->ii_AmCache;
	uint64		hash;

	if (cache == NULL)
	{
		cache = MemoryContextAllocZero(info->ii_Context, sizeof(InsertCache));
		CuckooIndexKeyInit(&cache->key, index, NULL, info->ii_Context);
		if (check != UNIQUE_CHECK_NO)
			cache->unique = CuckooUniqueBegin(index, heap, info->ii_Context);
		info->ii_AmCache = cache;
	}
	if (!CuckooIndexHash(&cache->key, values, isnull, &hash))
		return true;			/* NULL is not equal to anything */
	if (check != UNIQUE_CHECK_NO)
		return CuckooIndexAddUnique(cache->unique, hash, values, isnull, tid, check);
	CuckooIndexAdd(index, heap, hash, CuckooRowInterval(tid));
	return true;
}

void
cuckooinsertcleanup(Relation index pg_attribute_unused(), struct IndexInfo *info)
{
	InsertCache *cache = info->ii_AmCache;

	if (cache != NULL && cache->unique != NULL)
		CuckooUniqueEnd(cache->unique);
	info->ii_AmCache = NULL;
}
