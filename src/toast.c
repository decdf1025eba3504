/*-------------------------------------------------------------------------
 *
 * toast.c
 *	  Reading a stored filter: in slices first, then from a cache.
 *
 * A filter that comes from a table through a sub-select, a join or a PL/pgSQL
 * variable is mostly a TOAST pointer, and reading it whole for every row
 * would cost milliseconds.  A question needs only the header and two buckets
 * a table; since values of the type are stored uncompressed, these can be
 * read alone, for some microseconds whatever the filter's size.
 *
 * When the same filter is asked again and again it pays to read it whole:
 * as soon as the slices read have cost about as much as that would, it is
 * fetched into a cache that belongs to the call site (fn_extra) and is gone
 * with it.  A stored value never changes under its TOAST pointer, so that
 * pointer is the cache's key.  A value that is not toasted needs none.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/detoast.h"
#include "utils/memutils.h"

#include "cuckoo.h"

/*
 * Filters a call site remembers, and the bytes of those that all call sites of
 * a session keep whole: a scan of a partitioned table has a call site for each
 * partition.
 */
#define CACHE_ENTRIES		4
#define CACHE_LIMIT_BYTES	((Size) 256 * 1024 * 1024)

static Size kept_bytes = 0;

/*
 * A question in slices takes two look-ups in the TOAST table's index, about
 * 3.5 us, and reading a megabyte whole some 500 us: a question for every
 * 8 kB.  Smaller values than a few chunks are read whole at once.
 */
#define BYTES_PER_QUESTION	8192
#define SMALL_BYTES			16384

/* A filter seen by a call site. */
typedef struct CacheEntry
{
	Oid			relation;		/* of the TOAST table; InvalidOid: unused */
	Oid			value;			/* within it */
	Size		bytes;
	Size		questions;		/* answered in slices */
	uint64		last_use;
	struct varlena *whole;		/* NULL while it is read in slices */
	CuckooReader reader;
} CacheEntry;

struct CuckooCache
{
	uint64		clock;
	MemoryContextCallback gone; /* when the memory it lives in goes */
	CacheEntry	entries[CACHE_ENTRIES];
};

/* Release what an entry keeps. */
static void
Forget(CacheEntry *entry)
{
	if (entry->whole != NULL)
	{
		pfree(entry->whole);
		kept_bytes -= entry->bytes;
	}
	memset(entry, 0, sizeof(*entry));
}

/* The memory of a call site goes, and with it what it kept. */
static void
CacheGone(void *argument)
{
	struct CuckooCache *cache = argument;

	for (int i = 0; i < CACHE_ENTRIES; i++)
	{
		if (cache->entries[i].whole != NULL)
			kept_bytes -= cache->entries[i].bytes;
	}
}

/* The entry of that value: found, or the one used longest ago, made new. */
static CacheEntry *
FindEntry(struct CuckooCache *cache, const struct varatt_external *pointer,
		  struct varlena *value)
{
	CacheEntry *entry = &cache->entries[0];
	struct varlena *header;

	for (int i = 0; i < CACHE_ENTRIES; i++)
	{
		CacheEntry *candidate = &cache->entries[i];

		if (candidate->value == pointer->va_valueid &&
			candidate->relation == pointer->va_toastrelid &&
			candidate->bytes == (Size) pointer->va_rawsize)
			return candidate;
		if (candidate->last_use < entry->last_use)
			entry = candidate;
	}

	Forget(entry);
	header = detoast_attr_slice(value, 0, CUCKOO_MAX_HEADER_BYTES);
	CuckooOpenHeader(&entry->reader.filter, CuckooValueBytes(header));
	CuckooRefuseState(&entry->reader.filter);
	pfree(header);
	entry->relation = pointer->va_toastrelid;
	entry->value = pointer->va_valueid;
	entry->bytes = (Size) pointer->va_rawsize;
	return entry;
}

/* Keep an entry's filter whole, if the cache has room for it. */
static bool
FetchWhole(struct CuckooCache *cache, CacheEntry *entry, struct varlena *value,
		   MemoryContext context)
{
	MemoryContext old;

	/* Our others make room, the one used longest ago first. */
	while (kept_bytes + entry->bytes > CACHE_LIMIT_BYTES)
	{
		CacheEntry *oldest = NULL;

		for (int i = 0; i < CACHE_ENTRIES; i++)
		{
			CacheEntry *candidate = &cache->entries[i];

			if (candidate->whole != NULL &&
				(oldest == NULL || candidate->last_use < oldest->last_use))
				oldest = candidate;
		}
		if (oldest == NULL)
			return false;
		Forget(oldest);
	}

	old = MemoryContextSwitchTo(context);
	entry->whole = detoast_attr(value);
	MemoryContextSwitchTo(old);
	kept_bytes += entry->bytes;
	CuckooOpen(&entry->reader.filter, CuckooValueBytes(entry->whole));
	entry->reader.slices = NULL;
	return true;
}

/*
 * A filter argument, to be asked so many questions.  The reader lives until
 * the call site's next one.
 */
const CuckooReader *
CuckooRead(FunctionCallInfo fcinfo, int argument, Size questions)
{
	struct varlena *value = (struct varlena *) PG_GETARG_POINTER(argument);
	CuckooCall *call = CuckooGetCall(fcinfo);
	struct varatt_external pointer;
	CacheEntry *entry;

	if (!VARATT_IS_EXTERNAL_ONDISK(value))
	{
		value = PG_DETOAST_DATUM_PACKED(PointerGetDatum(value));
		CuckooOpen(&call->reader.filter, CuckooValueBytes(value));
		CuckooRefuseState(&call->reader.filter);
		call->reader.slices = NULL;
		return &call->reader;
	}

	if (call->cache == NULL)
	{
		call->cache = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt,
											 sizeof(struct CuckooCache));
		call->cache->gone.func = CacheGone;
		call->cache->gone.arg = call->cache;
		MemoryContextRegisterResetCallback(fcinfo->flinfo->fn_mcxt, &call->cache->gone);
	}
	VARATT_EXTERNAL_GET_POINTER(pointer, value);
	call->recent = NULL;
	entry = FindEntry(call->cache, &pointer, value);
	entry->last_use = ++call->cache->clock;
	if (entry->whole != NULL)
	{
		call->recent_pointer = pointer;
		call->recent = &entry->reader;
		return &entry->reader;
	}

	/* Slices of a compressed value would decompress all before them. */
	entry->questions += questions;
	if ((entry->bytes <= SMALL_BYTES ||
		 entry->questions > entry->bytes / BYTES_PER_QUESTION ||
		 entry->reader.filter.body != CUCKOO_TABLES ||
		 VARATT_EXTERNAL_IS_COMPRESSED(pointer)) &&
		FetchWhole(call->cache, entry, value, fcinfo->flinfo->fn_mcxt))
		return &entry->reader;
	entry->reader.slices = value;
	return &entry->reader;
}

/* Copies of a fingerprint in one bucket of a table that starts at offset. */
static int
CountInSlice(const CuckooReader *reader, const CuckooTable *table, uint64 offset,
			 uint64 number, uint32 fingerprint)
{
	uint8		span[CUCKOO_SPAN_BYTES] = {0};
	int			bytes;
	uint64		start = offset + CuckooBucketSpan(table, number, &bytes);
	struct varlena *slice = detoast_attr_slice(reader->slices, (int32) start, bytes);

	memcpy(span, VARDATA_ANY(slice), Min((Size) bytes, VARSIZE_ANY_EXHDR(slice)));
	pfree(slice);
	return CuckooBucketCount(table, number, span, fingerprint);
}

/* Copies of a key, reading two buckets a table; or, if so asked, at least one. */
static int
CountSliced(const CuckooReader *reader, uint64 hash, bool any)
{
	const CuckooFilter *filter = &reader->filter;
	uint64		offset = CUCKOO_HEADER_BYTES +
		(uint64) filter->table_count * CUCKOO_DIRECTORY_BYTES;
	int			copies = 0;

	for (int i = 0; i < filter->table_count; i++)
	{
		const CuckooTable *table = &filter->tables[i];
		CuckooPlace place = CuckooLocate(&table->shape, hash);
		int			here = CountInSlice(reader, table, offset, place.base + place.first,
										place.fingerprint);

		if (here == 0 || !any)
			here += CountInSlice(reader, table, offset, place.base + place.second,
								 place.fingerprint);
		copies += here > 0 && CuckooIsStash(filter, i) ? CUCKOO_MAX_COPIES : here;
		if (any && copies > 0)
			break;
		offset += CuckooShapeBytes(&table->shape);
	}
	return Min(copies, CUCKOO_MAX_COPIES);
}

/* Copies of a key in the filter read: 0 to 8. */
int
CuckooReaderCount(const CuckooReader *reader, uint64 hash)
{
	if (reader->slices == NULL)
		return CuckooFilterCount(&reader->filter, hash);
	return CountSliced(reader, hash, false);
}

/* Whether the filter read, of any form, may hold a key. */
bool
CuckooReaderContainsAny(const CuckooReader *reader, uint64 hash)
{
	if (reader->slices == NULL)
		return CuckooFilterContains(&reader->filter, hash);
	return CountSliced(reader, hash, true) > 0;
}

/*
 * Only the header of a filter argument; *bytes gets the size of the whole
 * value.  Takes an aggregate's partial state as well as a filter.
 */
void
CuckooReadHeader(FunctionCallInfo fcinfo, int argument, CuckooFilter *filter,
				 Size *bytes)
{
	Datum		value = PG_GETARG_DATUM(argument);
	struct varlena *header = PG_DETOAST_DATUM_SLICE(value, 0, CUCKOO_MAX_HEADER_BYTES);

	CuckooOpenHeader(filter, CuckooValueBytes(header));
	*bytes = toast_raw_datum_size(value);
}
