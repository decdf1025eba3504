/*-------------------------------------------------------------------------
 *
 * reader.c
 *	  Reading stored filters: first in slices, then whole.
 *
 * A filter that comes from a table through a sub-select, a join or a PL/pgSQL
 * variable is usually a TOAST pointer, and reading it whole for every row would
 * cost milliseconds.  A lookup needs only the header and a few bytes of each
 * table.  Values of the type are stored uncompressed, so these parts can be
 * read alone.  If keys are looked up in the same filter again and again, it is
 * read whole as soon as the slices read have cost about as much as that, if the
 * setting cuckoo.cache_size leaves room for it.
 *
 * The filters read last are kept to the end of the transaction, by their TOAST
 * pointers.  A stored value never changes, but PostgreSQL reuses a value id as
 * soon as no row has it, so a pointer can later name another value.  Before a
 * filter that was kept is used, we therefore look at the row of its first
 * chunk: if that is in its old place, from the same command of the same
 * transaction, then it is the same value.
 *
 * To look takes microseconds, so we do it once in a Moment: as long as our
 * command, our subtransaction and the active snapshot are the same.  Another
 * value cannot have come within it, because that needs new rows in place of the
 * old ones:
 *
 * - If our own transaction had inserted the new rows, its command would be a
 *	 later one.
 * - If another transaction had, it would have ended since we looked, and a
 *	 snapshot taken after that would differ.
 * - A snapshot taken before keeps the old rows.  Only rolling back our own
 *	 subtransaction that inserted them would remove them, and end the Moment.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include <limits.h>

#include "access/detoast.h"
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/toast_internals.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "reader.h"
#include "value.h"

/* The most filters that are kept in a session. */
#define KEPT_FILTERS		32

/* The setting cuckoo.cache_size: the most memory of whole copies, in kB. */
static int	cache_size;
#define CACHE_BYTES			((Size) cache_size * 1024)

/*
 * A lookup in slices takes about 3.5 us, as long as reading 8 kB of a filter
 * whole.  Values of only a few chunks are read whole at once.
 */
#define BYTES_PER_LOOKUP	8192
#define SMALL_BYTES			16384

/*
 * What tells moments apart.  Of snapshots with the same xmax, a later one has
 * smaller counts if a transaction has ended in between.  (Copies of snapshots
 * have no snapXactCompletionCount.)
 */
typedef struct Moment
{
	uint64		range;			/* xmin and xmax of the active snapshot */
	uint64		running;		/* its counts of transactions and subtransactions */
	uint64		own;			/* current command, which may be later than the
								 * snapshot's, and subtransaction */
} Moment;

typedef struct Kept
{
	char		value[TOAST_POINTER_SIZE];	/* unused: the first byte is 0 */
	struct varatt_external pointer; /* the same, aligned */
	HeapTupleFields first_row;	/* of its first chunk, and where that is */
	ItemPointerData first_place;
	Moment		checked;		/* when that was last so */
	MemoryContext whole;		/* of a whole copy; NULL: none */
	CuckooReader reader;
} Kept;

/* VARATT_EXTERNAL_IS_COMPRESSED compares a signed with an unsigned number. */
static inline bool
IsCompressed(const Kept *stored)
{
	return VARATT_EXTERNAL_GET_EXTSIZE(stored->pointer) <
		(uint32) (stored->pointer.va_rawsize - VARHDRSZ);
}

/* The most recently used one is the first. */
static Kept *kept[KEPT_FILTERS];
static Size kept_bytes;
static bool keeping = false;	/* in this transaction */

void
CuckooReaderInit(void)
{
	DefineCustomIntVariable("cuckoo.cache_size",
							"Sets the maximum memory for copies of stored cuckoo filters in a session.",
							"It applies to new copies. Uncompressed filters without a copy are read in slices.",
							&cache_size, 256 * 1024, 0, MAX_KILOBYTES,
							PGC_USERSET, GUC_UNIT_KB, NULL, NULL, NULL);
}

/*
 * What depends on the format: which slices a lookup reads
 */

/* Bytes of the stored filter from offset on, and zeros after its end. */
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
	uint8		span[CUCKOO_SPAN_BYTES];

	offset += CuckooBucketOffset(&dense->packing, bucket);
	ReadSlice(reader, offset, span, sizeof(span));
	return CuckooBucketCount(&dense->packing, bucket, span, fingerprint);
}

/* Copies of a class in a sparse table: reads its place in the index, then a group. */
static int
CountInSparse(CuckooReader *reader, const CuckooSparse *sparse, uint64 offset, uint64 code)
{
	uint8		section[CUCKOO_SECTION_BYTES + 4];
	uint8	   *group;
	uint64		at;
	uint64		bytes;
	int			copies;

	ReadSlice(reader, offset + CuckooSparseSectionAt(sparse, code), section, sizeof(section));
	at = CuckooSparseGroupAt(sparse, code, section, &bytes);
	/* A group may have been made large.  Its size counts as further lookups. */
	reader->lookups += bytes / BYTES_PER_LOOKUP;
	group = palloc0(bytes + CUCKOO_TAIL_BYTES);
	ReadSlice(reader, offset + at, group, (int) bytes);
	copies = CuckooSparseGroupCount(sparse, code, section, group);
	pfree(group);
	return copies;
}

/* Copies of a key, up to a limit, reading up to two slices of each table. */
static int
CountSliced(CuckooReader *reader, uint64 hash, int limit)
{
	int			copies = 0;

	for (int i = 0; i < reader->filter.header.table_count && copies < limit; i++)
	{
		const CuckooTable *table = &reader->filter.tables[i];
		uint64		offset = CuckooTableOffset(&reader->filter, i);

		if (table->representation == CUCKOO_DENSE)
		{
			CuckooPlace place = CuckooPlaceOf(&table->shape, hash);

			copies += CountInBucket(reader, &table->dense, offset, place.base + place.i1,
									place.fingerprint);
			if (copies < limit)
				copies += CountInBucket(reader, &table->dense, offset, place.base + place.i2,
										place.fingerprint);
		}
		else
			copies += CountInSparse(reader, &table->sparse, offset,
									CuckooCodeOf(&table->shape, hash));
	}
	return Min(copies, limit);
}

int
CuckooReaderCount(CuckooReader *reader, uint64 hash)
{
	return reader->slices != NULL ? CountSliced(reader, hash, CUCKOO_MAX_COPIES) :
		CuckooFilterCount(&reader->filter, hash);
}

bool
CuckooReaderContainsAny(CuckooReader *reader, uint64 hash)
{
	return reader->slices != NULL ? CountSliced(reader, hash, 1) > 0 :
		CuckooFilterContains(&reader->filter, hash);
}

/* False if no snapshot can tell: then nothing can be kept. */
static inline bool
GetMoment(Moment *now)
{
	Snapshot	snapshot = ActiveSnapshotSet() ? GetActiveSnapshot() : NULL;

	if (snapshot == NULL || snapshot->snapshot_type != SNAPSHOT_MVCC)
		return false;
	now->range = (uint64) snapshot->xmin << 32 | snapshot->xmax;
	now->running = (uint64) snapshot->xcnt << 32 | (uint32) snapshot->subxcnt;
	now->own = (uint64) GetCurrentCommandId(false) << 32 | GetCurrentSubTransactionId();
	return true;
}

/*
 * Find the row of the first chunk, and open the header in it unless the filter
 * is compressed.  False if there is no row like those of heap, or it is not of
 * this filter.
 */
static bool
FindFirstRow(Kept *stored)
{
	Relation	table = table_open(stored->pointer.va_toastrelid, AccessShareLock);
	Relation   *indexes;
	int			index_count;
	int			valid = toast_open_indexes(table, AccessShareLock, &indexes, &index_count);
	ScanKeyData key[2];
	SysScanDesc scan;
	HeapTuple	row;
	Datum		chunk;
	bool		found;
	bool		null;

	ScanKeyInit(&key[0], 1, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(stored->pointer.va_valueid));
	ScanKeyInit(&key[1], 2, BTEqualStrategyNumber, F_INT4EQ, Int32GetDatum(0));

	/*
	 * A value id has only one such row, visible or not.  (On a standby, one of a
	 * value that is gone may stand beside it, if the server has given out all
	 * other value ids since its transaction began.  Such a row can have anything.)
	 */
	scan = systable_beginscan_ordered(table, indexes[valid], SnapshotAny, 2, key);
	row = systable_getnext_ordered(scan, ForwardScanDirection);
	found = row != NULL && ItemPointerIsValid(&row->t_self);
	if (found)
	{
		stored->first_row = row->t_data->t_choice.t_heap;
		stored->first_place = row->t_self;
		if (!IsCompressed(stored))
		{
			chunk = fastgetattr(row, 3, RelationGetDescr(table), &null);
			found = CuckooOpenFirst(&stored->reader.filter,
									(uint8 *) VARDATA_ANY(DatumGetPointer(chunk)),
									VARSIZE_ANY_EXHDR(DatumGetPointer(chunk)),
									(size_t) stored->pointer.va_rawsize - VARHDRSZ);
			if (found)
				CuckooRequireFilter(stored->reader.filter.header.content);
		}
	}
	systable_endscan_ordered(scan);
	toast_close_indexes(indexes, index_count, AccessShareLock);
	table_close(table, AccessShareLock);
	return found;
}

/* The transaction ends, and with it the memory of whole copies. */
static void
StopKeeping(void *arg)
{
	(void) arg;
	keeping = false;
}

static void
StartKeeping(void)
{
	static Kept filters[KEPT_FILTERS];
	static MemoryContextCallback at_end = {.func = StopKeeping};

	for (int i = 0; i < KEPT_FILTERS; i++)
	{
		kept[i] = &filters[i];
		kept[i]->value[0] = 0;
		kept[i]->whole = NULL;
	}
	kept_bytes = 0;
	MemoryContextRegisterResetCallback(TopTransactionContext, &at_end);
	keeping = true;
}

static void
ForgetStored(Kept *stored)
{
	if (stored->whole != NULL)
	{
		kept_bytes -= (Size) stored->pointer.va_rawsize;
		MemoryContextDelete(stored->whole);
		stored->whole = NULL;
	}
	stored->value[0] = 0;
}

static inline bool
IsKept(int place, const struct varlena *value)
{
	return memcmp(kept[place]->value, value, TOAST_POINTER_SIZE) == 0;
}

/*
 * Find what is kept of a stored filter, or start to keep it, as the first.
 * False if that is not possible.
 */
static bool
KeepStored(const struct varlena *value, const Moment *now)
{
	Kept	   *stored;
	bool		known;
	int			place = 0;

	if (!keeping)
		StartKeeping();
	/* If it is not known, the last one makes room. */
	while (place < KEPT_FILTERS - 1 && !IsKept(place, value))
		place++;
	stored = kept[place];
	known = IsKept(place, value);
	if (!known || memcmp(&stored->checked, now, sizeof(*now)) != 0)
	{
		Kept		found = {.checked = *now};

		memcpy(found.value, value, TOAST_POINTER_SIZE);
		VARATT_EXTERNAL_GET_POINTER(found.pointer, value);
		if (!FindFirstRow(&found))
			return false;
		if (known &&
			memcmp(&stored->first_row, &found.first_row, sizeof(found.first_row)) == 0 &&
			memcmp(&stored->first_place, &found.first_place, sizeof(found.first_place)) == 0)
			stored->checked = *now;
		else
		{
			ForgetStored(stored);
			*stored = found;
			stored->reader.slices = (struct varlena *) stored->value;
		}
	}
	memmove(&kept[1], &kept[0], place * sizeof(kept[0]));
	kept[0] = stored;
	return true;
}

/*
 * Read a filter whole, in place of those used least recently.  Until this has
 * succeeded, its memory is a child of the caller's context, so nothing is left
 * behind if it fails or is cancelled.
 */
static void
ReadWhole(Kept *stored)
{
	Size		bytes = (Size) stored->pointer.va_rawsize;
	MemoryContext context,
				old;
	struct varlena *whole;

	for (int i = KEPT_FILTERS - 1; kept_bytes + bytes > CACHE_BYTES; i--)
	{
		if (kept[i]->whole != NULL)
			ForgetStored(kept[i]);
	}
	context = AllocSetContextCreate(CurrentMemoryContext, "stored cuckoofilter",
									ALLOCSET_START_SMALL_SIZES);
	old = MemoryContextSwitchTo(context);
	whole = detoast_attr((struct varlena *) stored->value);
	MemoryContextSwitchTo(old);
	CuckooOpenFilter(&stored->reader.filter, whole);
	MemoryContextSetParent(context, TopTransactionContext);
	stored->reader.slices = NULL;
	stored->whole = context;
	kept_bytes += bytes;
}

CuckooReader *
CuckooRead(Datum filter, Size lookups)
{
	static CuckooReader own;	/* of a filter that is not kept */
	struct varlena *value = (struct varlena *) DatumGetPointer(filter);
	struct varlena *whole;
	Moment		now;

	/* PostgreSQL does not check between the elements of f @> ANY (array). */
	CHECK_FOR_INTERRUPTS();
	if (VARATT_IS_EXTERNAL_ONDISK(value) && GetMoment(&now) &&
		((keeping && IsKept(0, value) && memcmp(&kept[0]->checked, &now, sizeof(now)) == 0) ||
		 KeepStored(value, &now)))
	{
		Kept	   *stored = kept[0];
		Size		bytes = (Size) stored->pointer.va_rawsize;
		/* A slice of a compressed value needs all of it decompressed. */
		bool		compressed = IsCompressed(stored);

		stored->reader.lookups += lookups;
		if (stored->whole == NULL && bytes <= CACHE_BYTES &&
			(bytes <= SMALL_BYTES || compressed ||
			 stored->reader.lookups > bytes / BYTES_PER_LOOKUP))
			ReadWhole(stored);
		if (stored->whole != NULL || !compressed)
			return &stored->reader;
	}

	/* Read it for these lookups alone. */
	whole = pg_detoast_datum_packed(value);
	CuckooOpenFilter(&own.filter, whole);
	own.copy = whole != value ? whole : NULL;
	return &own;
}
