/*-------------------------------------------------------------------------
 *
 * reader.h
 *	  Looking keys up in filters that may be stored in a TOAST table.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_READER_H
#define CUCKOO_READER_H

#include "compat.h"

#include "core/filter.h"

typedef struct CuckooReader
{
	CuckooFilter filter;		/* its tables have no data if slices is set */
	struct varlena *slices;		/* the TOAST pointer through which each lookup
								 * reads slices; NULL: the filter is whole */
	Size		lookups;		/* through slices, or what has cost as much */
	struct varlena *copy;		/* made for these lookups alone; NULL: none */
} CuckooReader;

/* Define the setting cuckoo.cache_size, when the module is loaded. */
extern void CuckooReaderInit(void);

/*
 * A reader of a filter, for the given number of lookups.  It is valid until
 * the next call, by any function, so look the keys up at once.
 */
extern CuckooReader *CuckooRead(Datum filter, Size lookups);

/* Copies of a key in the filter read (0 to 8), and whether there may be any. */
extern int	CuckooReaderCount(CuckooReader *reader, uint64 hash);
extern bool CuckooReaderContainsAny(CuckooReader *reader, uint64 hash);

/* The same, with the usual case inline. */
static inline bool
CuckooReaderContains(CuckooReader *reader, uint64 hash)
{
	if (reader->slices == NULL && reader->filter.header.table_count == 1)
		return CuckooTableContains(&reader->filter.tables[0], hash);
	return CuckooReaderContainsAny(reader, hash);
}

#endif							/* CUCKOO_READER_H */
