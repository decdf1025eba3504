/*-------------------------------------------------------------------------
 *
 * reader.h
 *	  Looking keys up in stored filters.
 *
 * A call site (an operator or function in a plan) has a CuckooSite, initially
 * zero, in memory that lives as long as the call site.  For each call it turns
 * its filter argument into a reader, and looks keys up in that.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_READER_H
#define CUCKOO_READER_H

#include "compat.h"

#include "lib/ilist.h"
#include "storage/proc.h"

#include "core/filter.h"

/* A filter to look keys up in. */
typedef struct CuckooReader
{
	CuckooFilter filter;		/* its tables have no data if slices is set */
	struct varlena *slices;		/* the TOAST pointer through which each lookup
								 * reads slices; NULL: the filter is whole */
} CuckooReader;

/* Stored filters that a call site remembers. */
#define CUCKOO_SITE_FILTERS	4

/* Known to reader.c alone. */
struct CuckooStored;

typedef struct CuckooSite
{
	CuckooReader own;			/* of a filter that is not shared */
	struct
	{
		struct CuckooStored *stored;	/* NULL: unused */
		uint64		last_use;
	}			slots[CUCKOO_SITE_FILTERS];
	uint64		clock;

	/* The stored filter read last, if there is a whole copy of it */
	const CuckooReader *recent;
	struct varatt_external recent_pointer;
	TransactionId recent_xmin;

	/* For finding this site, and for releasing what it holds when it is gone */
	bool		registered;
	dlist_node	node;
	MemoryContextCallback gone;
} CuckooSite;

/*
 * A reader of a filter, for the given number of lookups.  It is valid until
 * the site's next reader.  The context is the one that the site is in.
 */
extern const CuckooReader *CuckooReadAny(CuckooSite *site, MemoryContext context,
										 struct varlena *value, Size lookups);

/* Copies of a key in the filter read: 0 to 8. */
extern int	CuckooReaderCount(const CuckooReader *reader, uint64 hash);

/* Whether the filter read, of any form, may hold a key. */
extern bool CuckooReaderContainsAny(const CuckooReader *reader, uint64 hash);

/*
 * Read only the header of a value; *bytes is set to the size of the whole
 * value.  Accepts an aggregate's state as well as a filter.
 */
extern void CuckooReadHeader(Datum value, CuckooFilter *filter, Size *bytes);

/*
 * The same as CuckooReadAny, but faster for a scan, which looks a key up in
 * the same filter for every row: the TOAST pointer is compared with the last
 * one first.  reader.c explains why xmin is compared, too.
 */
static inline const CuckooReader *
CuckooRead(CuckooSite *site, MemoryContext context, struct varlena *value,
		   Size lookups)
{
	if (site->recent != NULL && VARATT_IS_EXTERNAL_ONDISK(value) &&
		memcmp(VARDATA_EXTERNAL(value), &site->recent_pointer,
			   sizeof(site->recent_pointer)) == 0 &&
		MyProc->xmin == site->recent_xmin)
		return site->recent;
	return CuckooReadAny(site, context, value, lookups);
}

/* Whether the filter read may hold a key. */
static inline bool
CuckooReaderContains(const CuckooReader *reader, uint64 hash)
{
	const CuckooFilter *filter = &reader->filter;

	/* The usual case, without a function call. */
	if (reader->slices == NULL && filter->table_count == 1)
		return CuckooTableContains(&filter->tables[0], hash);
	return CuckooReaderContainsAny(reader, hash);
}

#endif							/* CUCKOO_READER_H */
