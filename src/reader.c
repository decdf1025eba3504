/*-------------------------------------------------------------------------
 *
 * reader.c
 *	  Reading stored filters: first in slices, then whole and shared.
 *
 * A filter that comes from a table through a sub-select, a join or a PL/pgSQL
 * variable is usually a TOAST pointer, and reading it whole for every row
 * would cost milliseconds.  A lookup needs only the header and a few bytes of
 * each table.  Values of the type are stored uncompressed, so these parts can
 * be read alone, in a few microseconds for a filter of any size.
 *
 * If keys are looked up in the same filter again and again, it pays to read it
 * whole.  It is fetched and kept as soon as the slices read have cost about as
 * much as that.  A filter that is not toasted needs none of this.
 *
 * Sharing
 * -------
 * All call sites of a backend share one CuckooStored, with at most one whole
 * copy, for each stored filter in use.  A scan of a partitioned table, for
 * example, has a call site for each partition.  With a copy of a 16 MB filter
 * for each of 60 partitions, a scan took 20 times as long as that of one table
 * with the same rows.
 *
 * A call site holds the filters that it has used last, and a filter that no
 * site holds any more is freed.  Sites live in fn_extra, in the memory of a
 * query.  That memory is freed in many ways: a query ends, fails or is
 * cancelled, or its cursor is closed or ends with a savepoint.  In each case,
 * a reset callback on that memory releases what the site holds.
 *
 * Which value is it?
 * ------------------
 * The key of a CuckooStored is the TOAST pointer.  A stored value never changes
 * while its pointer is valid, but the same pointer can later name another
 * value: value ids come from a 32-bit counter, and PostgreSQL reuses one as
 * soon as no row of the TOAST table has it, not even a dead one.  A new filter
 * of the same size could then be mistaken for an old one, and its keys would
 * not be found.
 *
 * Within one query this cannot happen: its snapshot keeps the rows that it can
 * see.  But call sites can live longer.  Those of PL/pgSQL's simple
 * expressions ("v @> k") live as long as the transaction, and one in an
 * extension's own memory may live as long as the session.  Between two
 * statements of a READ COMMITTED transaction no snapshot keeps the rows that
 * they have read.  A CuckooStored is therefore valid only until one of the
 * following happens.  These are all the ways in which rows leave a TOAST
 * table:
 *
 * - VACUUM, or pruning, removes rows that a transaction has deleted.  It does
 *	 so when that transaction's id is below the xmin of every session, and
 *	 below the id of every running transaction.  Each lookup compares our xmin
 *	 with the one at the time when the value was read.  If it is the same, then
 *	 either a snapshot of ours has held it ever since, or it was computed anew.
 *	 In the latter case it is the id of the oldest running transaction, which
 *	 has then been running all the time, or the next id to be assigned, and
 *	 then no transaction has ended.  In none of these cases could the rows be
 *	 removed.  Our xmin does not change within a statement.
 *
 * - A subtransaction is aborted.  No snapshot keeps the rows it has inserted.
 *	 Everything read within it is forgotten.
 *
 * - TRUNCATE in our own transaction gives the table a new file.  This
 *	 invalidates the relcache entry of the TOAST table, and we forget what came
 *	 from it.  DROP does the same.  TRUNCATE in another transaction waits for
 *	 our lock on the table.  (Relcache invalidation is not enough for VACUUM:
 *	 invalidations by other sessions reach us only when we take a lock.)
 *
 * - Our transaction ends.  Everything is forgotten, because VACUUM ignores
 *	 xmin in the session's temporary tables, and because locks are released.
 *
 * Only the end of a transaction or subtransaction frees memory at once.  The
 * other events can happen while a key is being looked up, because hashing it
 * may read catalogs.  A CuckooStored is then marked as stale, and freed by its
 * users.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/detoast.h"
#include "access/xact.h"
#include "utils/inval.h"
#include "utils/memutils.h"

#include "reader.h"
#include "value.h"

/* The memory that whole copies may use in a backend.  Tests make it smaller. */
#ifndef CUCKOO_KEPT_BYTES
#define CUCKOO_KEPT_BYTES	((Size) 256 * 1024 * 1024)
#endif

/*
 * A lookup in slices needs two searches of the TOAST table's index and takes
 * about 3.5 us.  Reading a megabyte whole takes about 500 us, so 8 kB cost
 * about as much as a lookup.  Values of only a few chunks are read whole at
 * once.
 */
#define BYTES_PER_LOOKUP	8192
#define SMALL_BYTES			16384

/* A stored filter in use. */
typedef struct CuckooStored
{
	dlist_node	node;			/* in stored_filters, unless it is stale */
	struct varatt_external pointer;
	char		value[TOAST_POINTER_SIZE];	/* the same, as a value */
	int			users;			/* call sites' slots that hold it */
	bool		stale;			/* the pointer may name another value now */
	TransactionId xmin;			/* ours when it was first read */
	SubTransactionId subtransaction;	/* in which it was first read */
	Size		lookups;		/* since then, or since its copy was dropped */
	struct varlena *whole;		/* a copy in a memory context of its own, or
								 * NULL */
	CuckooReader reader;
} CuckooStored;

/* The stored filter of a reader that reads slices. */
static inline CuckooStored *
StoredOf(const CuckooReader *reader)
{
	return (CuckooStored *) ((char *) reader - offsetof(CuckooStored, reader));
}

static dlist_head stored_filters = DLIST_STATIC_INIT(stored_filters);
static dlist_head sites = DLIST_STATIC_INIT(sites);

/* Holds every CuckooStored and, in child contexts, the whole copies */
static MemoryContext stored_context = NULL;
static Size kept_bytes = 0;

static Size
WholeBytes(const CuckooStored *stored)
{
	return (Size) stored->pointer.va_rawsize;
}

/*-------------------------------------------------------------------------
 * What depends on the format: which slices a lookup reads
 *-------------------------------------------------------------------------
 */

/*
 * Whether lookups can read slices of this filter.  A slice of a compressed
 * value would require decompressing everything before it.
 */
static bool
CanSlice(const CuckooStored *stored)
{
	Size		content = WholeBytes(stored) - VARHDRSZ;

	return VARATT_EXTERNAL_GET_EXTSIZE(stored->pointer) == content;
}

/*
 * Bytes of the stored filter from offset on, filled up with zeros after its
 * end.
 */
static void
ReadSlice(const CuckooReader *reader, uint64 offset, uint8 *bytes, int length)
{
	struct varlena *slice = detoast_attr_slice(reader->slices, (int32) offset, length);
	int			found = (int) VARSIZE_ANY_EXHDR(slice);

	memcpy(bytes, VARDATA_ANY(slice), found);
	memset(bytes + found, 0, length - found);
	pfree(slice);
}

/* Copies of a class in one bucket of a dense table that starts at offset. */
static int
CountInBucket(const CuckooReader *reader, const CuckooDense *dense, uint64 offset,
			  uint64 bucket, uint32 fingerprint)
{
	uint8		span[CUCKOO_SPAN_BYTES] = {0};
	int			bytes;
	uint64		start = offset + CuckooBucketSpan(dense, bucket, &bytes);

	ReadSlice(reader, start, span, bytes);
	return CuckooBucketCount(dense, bucket, span, fingerprint);
}

static int
CountInDense(const CuckooReader *reader, const CuckooTable *table, uint64 offset,
			 uint64 hash, bool any)
{
	CuckooPlace place = CuckooPlaceOf(&table->shape, hash);
	int			copies = CountInBucket(reader, &table->dense, offset,
									   place.base + place.first, place.fingerprint);

	if (copies == 0 || !any)
		copies += CountInBucket(reader, &table->dense, offset, place.base + place.second,
								place.fingerprint);
	return copies;
}

/* Copies of a class in a sparse table: reads its place in the index, then a group. */
static int
CountInSparse(const CuckooReader *reader, const CuckooTable *table, uint64 offset,
			  uint64 hash)
{
	const CuckooSparse *sparse = &table->sparse;
	uint64		code = CuckooCodeOf(&table->shape, hash);
	uint8		section[CUCKOO_SECTION_BYTES + 4];
	uint64		bytes;
	uint64		at;
	uint8	   *group;
	int			copies;

	ReadSlice(reader, offset + CuckooSparseSectionAt(sparse, code), section, sizeof(section));
	at = CuckooSparseGroupAt(sparse, code, section, &bytes);
	/* A group may have been made large.  Its size counts as further lookups. */
	StoredOf(reader)->lookups += bytes / BYTES_PER_LOOKUP;
	group = palloc0(bytes + CUCKOO_TAIL_BYTES);
	ReadSlice(reader, offset + at, group, (int) bytes);
	copies = CuckooSparseGroupCount(sparse, code, section, group);
	pfree(group);
	return copies;
}

/*
 * Copies of a key, reading two slices for each table.  If any is true, it
 * stops at the first copy found.
 */
static int
CountSliced(const CuckooReader *reader, uint64 hash, bool any)
{
	const CuckooFilter *filter = &reader->filter;
	int			copies = 0;

	for (int i = 0; i < filter->table_count && !(any && copies > 0); i++)
	{
		const CuckooTable *table = &filter->tables[i];
		uint64		offset = CuckooTableOffset(filter, i);

		copies += table->representation == CUCKOO_DENSE ?
			CountInDense(reader, table, offset, hash, any) :
			CountInSparse(reader, table, offset, hash);
	}
	return Min(copies, CUCKOO_MAX_COPIES);
}

int
CuckooReaderCount(const CuckooReader *reader, uint64 hash)
{
	if (reader->slices == NULL)
		return CuckooFilterCount(&reader->filter, hash);
	return CountSliced(reader, hash, false);
}

bool
CuckooReaderContainsAny(const CuckooReader *reader, uint64 hash)
{
	if (reader->slices == NULL)
		return CuckooFilterContains(&reader->filter, hash);
	return CountSliced(reader, hash, true) > 0;
}

/* Open the header of a value.  States are refused. */
static void
OpenStoredHeader(CuckooFilter *filter, struct varlena *value)
{
	struct varlena *header = detoast_attr_slice(value, 0, CUCKOO_MAX_HEADER_BYTES);

	CuckooOpenHeader(filter, CuckooValueBytes(header));
	CuckooRefuseState(filter);
	pfree(header);
}

/* Open a value that is not toasted. */
static void
OpenWhole(CuckooReader *reader, struct varlena *value)
{
	CuckooOpenFilter(&reader->filter, value);
	reader->slices = NULL;
}

void
CuckooReadHeader(Datum value, CuckooFilter *filter, Size *bytes)
{
	struct varlena *header = PG_DETOAST_DATUM_SLICE(value, 0, CUCKOO_MAX_HEADER_BYTES);

	CuckooOpenHeader(filter, CuckooValueBytes(header));
	*bytes = toast_raw_datum_size(value);
}

/*-------------------------------------------------------------------------
 * Stored filters and their users
 *-------------------------------------------------------------------------
 */

/*
 * Drop a whole copy.  Lookups then read slices again, and are counted from 0.
 */
static void
DropWhole(CuckooStored *stored)
{
	if (stored->whole == NULL)
		return;
	CuckooOpenHeader(&stored->reader.filter, CuckooValueBytes(stored->whole));
	stored->reader.slices = (struct varlena *) stored->value;
	stored->lookups = 0;
	MemoryContextDelete(GetMemoryChunkContext(stored->whole));
	stored->whole = NULL;
	kept_bytes -= WholeBytes(stored);
}

static void
FreeStored(CuckooStored *stored)
{
	DropWhole(stored);
	if (!stored->stale)
		dlist_delete(&stored->node);
	pfree(stored);
}

/* Release what a site holds in a slot. */
static void
ReleaseSlot(CuckooSite *site, int slot)
{
	CuckooStored *stored = site->slots[slot].stored;

	if (stored == NULL)
		return;
	if (site->recent == &stored->reader)
		site->recent = NULL;
	site->slots[slot].stored = NULL;
	site->slots[slot].last_use = 0;
	if (--stored->users == 0)
		FreeStored(stored);
}

/* The memory of a call site is being freed. */
static void
SiteGone(void *argument)
{
	CuckooSite *site = argument;

	for (int i = 0; i < CUCKOO_SITE_FILTERS; i++)
		ReleaseSlot(site, i);
	dlist_delete(&site->node);
}

/*
 * Make sure that a stored filter is not found again.  A lookup in it may be
 * under way, so it is freed only when its users look up the next key, or are
 * gone.
 */
static void
MakeStale(CuckooStored *stored)
{
	dlist_iter	iter;

	if (stored->stale)
		return;
	dlist_delete(&stored->node);
	stored->stale = true;
	dlist_foreach(iter, &sites)
	{
		CuckooSite *site = dlist_container(CuckooSite, node, iter.cur);

		if (site->recent == &stored->reader)
			site->recent = NULL;
	}
}

/*
 * Free all that was read in this subtransaction or later ones, from every site
 * that holds it.  No lookup in these is under way: it would have been aborted.
 */
static void
ForgetSince(SubTransactionId subtransaction)
{
	dlist_iter	iter;

	dlist_foreach(iter, &sites)
	{
		CuckooSite *site = dlist_container(CuckooSite, node, iter.cur);

		for (int i = 0; i < CUCKOO_SITE_FILTERS; i++)
		{
			if (site->slots[i].stored != NULL &&
				site->slots[i].stored->subtransaction >= subtransaction)
				ReleaseSlot(site, i);
		}
	}
}

/* The transaction ends. */
static void
AtTransaction(XactEvent event, void *arg)
{
	(void) arg;
	switch (event)
	{
		case XACT_EVENT_COMMIT:
		case XACT_EVENT_PARALLEL_COMMIT:
		case XACT_EVENT_ABORT:
		case XACT_EVENT_PARALLEL_ABORT:
		case XACT_EVENT_PREPARE:
			ForgetSince(TopSubTransactionId);
			break;
		default:
			break;
	}
}

/*
 * A subtransaction is aborted.  Those within it have ended already, and have
 * larger numbers.  No others have, because it is the innermost one.
 */
static void
AtSubtransaction(SubXactEvent event, SubTransactionId subtransaction,
				 SubTransactionId parent, void *arg)
{
	(void) parent;
	(void) arg;
	if (event == SUBXACT_EVENT_ABORT_SUB)
		ForgetSince(subtransaction);
}

/* Something has happened to a table; perhaps to any, if it is InvalidOid. */
static void
AtInvalidation(Datum arg, Oid relation)
{
	dlist_mutable_iter iter;

	(void) arg;
	dlist_foreach_modify(iter, &stored_filters)
	{
		CuckooStored *stored = dlist_container(CuckooStored, node, iter.cur);

		if (!OidIsValid(relation) || stored->pointer.va_toastrelid == relation)
			MakeStale(stored);
	}
}

/*
 * Register a site, so that it is found, and called back when its memory is
 * freed.
 */
static void
RegisterSite(CuckooSite *site, MemoryContext context)
{
	if (stored_context == NULL)
	{
		CacheRegisterRelcacheCallback(AtInvalidation, (Datum) 0);
		RegisterXactCallback(AtTransaction, NULL);
		RegisterSubXactCallback(AtSubtransaction, NULL);
		stored_context = AllocSetContextCreate(TopMemoryContext, "stored cuckoofilters",
											   ALLOCSET_SMALL_SIZES);
	}
	dlist_push_head(&sites, &site->node);
	site->gone.func = SiteGone;
	site->gone.arg = site;
	MemoryContextRegisterResetCallback(context, &site->gone);
	site->registered = true;
}

static bool
IsCurrent(const CuckooStored *stored, const struct varatt_external *pointer)
{
	return memcmp(&stored->pointer, pointer, sizeof(*pointer)) == 0 &&
		stored->xmin == MyProc->xmin && !stored->stale;
}

/*
 * The stored filter that a TOAST pointer names now, found among those that
 * other sites use, or a new one.  A new one has no user yet, so nothing may
 * fail before it gets one.
 */
static CuckooStored *
FindStored(struct varlena *value, const struct varatt_external *pointer)
{
	CuckooStored *stored;
	CuckooFilter filter;
	TransactionId xmin = MyProc->xmin;
	dlist_mutable_iter iter;

	dlist_foreach_modify(iter, &stored_filters)
	{
		stored = dlist_container(CuckooStored, node, iter.cur);
		if (memcmp(&stored->pointer, pointer, sizeof(*pointer)) != 0)
			continue;
		if (!IsCurrent(stored, pointer))
		{
			MakeStale(stored);
			continue;
		}
		/* To the head: the next partition needs the same one. */
		dlist_move_head(&stored_filters, &stored->node);
		return stored;
	}

	OpenStoredHeader(&filter, value);
	stored = MemoryContextAllocZero(stored_context, sizeof(*stored));
	stored->pointer = *pointer;
	memcpy(stored->value, value, TOAST_POINTER_SIZE);
	stored->xmin = xmin;
	stored->subtransaction = GetCurrentSubTransactionId();
	stored->reader.filter = filter;
	stored->reader.slices = (struct varlena *) stored->value;
	dlist_push_head(&stored_filters, &stored->node);
	return stored;
}

/* The slot in which a site holds the filter that a TOAST pointer names now. */
static int
FindSlot(CuckooSite *site, struct varlena *value,
		 const struct varatt_external *pointer)
{
	int			slot = 0;

	for (int i = 0; i < CUCKOO_SITE_FILTERS; i++)
	{
		CuckooStored *stored = site->slots[i].stored;

		if (stored != NULL && IsCurrent(stored, pointer))
			return i;
		if (stored != NULL && (stored->stale || stored->xmin != MyProc->xmin))
			ReleaseSlot(site, i);
		/* A free slot was last used at time zero. */
		if (site->slots[i].last_use < site->slots[slot].last_use)
			slot = i;
	}

	/* Release first, so that the new one can use its memory. */
	ReleaseSlot(site, slot);
	site->slots[slot].stored = FindStored(value, pointer);
	site->slots[slot].stored->users++;
	return slot;
}

/*
 * Make room for a whole copy, if possible.  Whole copies that only this site
 * uses are dropped, the least recently used one first.  This happens only if
 * there have been enough lookups in the wanted filter to pay for reading all
 * of them again, so two filters that do not fit together cannot evict each
 * other on every row.
 */
static bool
MakeRoom(CuckooSite *site, const CuckooStored *wanted)
{
	CuckooStored *victims[CUCKOO_SITE_FILTERS];
	int			count = 0;
	Size		bytes = WholeBytes(wanted);
	Size		freed = 0;
	uint64		since = 0;

	if (bytes > CUCKOO_KEPT_BYTES)
		return false;
	while (kept_bytes - freed + bytes > CUCKOO_KEPT_BYTES)
	{
		int			oldest = -1;

		for (int i = 0; i < CUCKOO_SITE_FILTERS; i++)
		{
			const CuckooStored *stored = site->slots[i].stored;

			if (stored != NULL && stored != wanted && stored->whole != NULL &&
				stored->users == 1 && site->slots[i].last_use > since &&
				(oldest < 0 || site->slots[i].last_use < site->slots[oldest].last_use))
				oldest = i;
		}
		if (oldest < 0)
			return false;
		since = site->slots[oldest].last_use;
		victims[count++] = site->slots[oldest].stored;
		freed += WholeBytes(site->slots[oldest].stored);
	}
	if (count > 0 && wanted->lookups <= (bytes + freed) / BYTES_PER_LOOKUP)
		return false;

	for (int i = 0; i < count; i++)
		DropWhole(victims[i]);
	return true;
}

/*
 * Read a filter whole.  Until this has succeeded, its memory is a child of the
 * caller's context, so nothing is left behind if it fails or is cancelled.
 */
static void
FetchWhole(CuckooStored *stored)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "stored cuckoofilter",
												  ALLOCSET_START_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	struct varlena *whole = detoast_attr((struct varlena *) stored->value);

	MemoryContextSwitchTo(old);
	MemoryContextSetParent(context, stored_context);
	stored->whole = whole;
	kept_bytes += WholeBytes(stored);
	OpenWhole(&stored->reader, whole);
}

const CuckooReader *
CuckooReadAny(CuckooSite *site, MemoryContext context, struct varlena *value,
			  Size lookups)
{
	struct varatt_external pointer;
	CuckooStored *stored;
	int			slot;

	site->recent = NULL;
	if (!VARATT_IS_EXTERNAL_ONDISK(value))
	{
		OpenWhole(&site->own, pg_detoast_datum_packed(value));
		return &site->own;
	}

	if (!site->registered)
		RegisterSite(site, context);
	VARATT_EXTERNAL_GET_POINTER(pointer, value);
	slot = FindSlot(site, value, &pointer);
	site->slots[slot].last_use = ++site->clock;
	stored = site->slots[slot].stored;
	if (stored->whole == NULL)
	{
		stored->lookups += lookups;
		if ((WholeBytes(stored) <= SMALL_BYTES || !CanSlice(stored) ||
			 stored->lookups > WholeBytes(stored) / BYTES_PER_LOOKUP) &&
			MakeRoom(site, stored))
			FetchWhole(stored);
	}

	if (stored->whole != NULL)
	{
		/* While it was read, we may have been told that its table changed. */
		site->recent = stored->stale ? NULL : &stored->reader;
		site->recent_pointer = pointer;
		site->recent_xmin = stored->xmin;
		return &stored->reader;
	}
	if (CanSlice(stored))
		return &stored->reader;

	/*
	 * There is no room to keep it, and it cannot be sliced: read it for this
	 * lookup.
	 */
	OpenWhole(&site->own, detoast_attr(value));
	return &site->own;
}
