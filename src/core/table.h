/*-------------------------------------------------------------------------
 *
 * table.h
 *	  A table in either representation.
 *
 * A table is a multiset of classes with up to eight copies of each.  It gives
 * the same answers whether it is stored sparse, as sorted codes, or dense, in
 * buckets.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_TABLE_H
#define CUCKOO_TABLE_H

#include "dense.h"
#include "sparse.h"

typedef enum CuckooRepresentation
{
	CUCKOO_SPARSE = 0,
	CUCKOO_DENSE = 1
} CuckooRepresentation;

typedef struct CuckooTable
{
	CuckooShape shape;
	CuckooRepresentation representation;
	uint64_t	items;			/* classes with their copies; sparse.items is
								 * without what a draft has pending */
	uint8_t    *data;			/* CuckooTableStoredBytes, then at least
								 * CUCKOO_TAIL_BYTES more of readable memory */
	union
	{
		CuckooSparse sparse;
		CuckooDense dense;
	};
} CuckooTable;

/*
 * The number of items from which on a table is built dense, if they find room:
 * three quarters of its entries.  There, the dense table is 1.21 times as large
 * as the sparse one; at one half it would be 1.74 times.
 */
static inline uint64_t
CuckooDenseFrom(const CuckooShape *shape)
{
	return CuckooShapeBuckets(shape) * 3;
}

/* How a table with this number of items is built. */
static inline CuckooRepresentation
CuckooRepresentationFor(const CuckooShape *shape, uint64_t items)
{
	return items >= CuckooDenseFrom(shape) && items <= CuckooShapeEntries(shape) ?
		CUCKOO_DENSE : CUCKOO_SPARSE;
}

/* A table without data: see CuckooTableSetData. */
static inline void
CuckooTableInit(CuckooTable *table, const CuckooShape *shape,
				CuckooRepresentation representation, uint64_t items)
{
	table->shape = *shape;
	table->representation = representation;
	table->items = items;
	table->data = NULL;
	if (representation == CUCKOO_DENSE)
		CuckooDenseInit(&table->dense, shape);
	else
		CuckooSparseInit(&table->sparse, shape, items);
}

/* The size in bytes of a table as it is stored: without what a draft has pending. */
static inline uint64_t
CuckooTableStoredBytes(const CuckooTable *table)
{
	return table->representation == CUCKOO_DENSE ? CuckooDenseBytes(&table->shape) :
		CuckooSparseStoredBytes(&table->sparse);
}

static inline void
CuckooTableSetData(CuckooTable *table, uint8_t *data)
{
	table->data = data;
	if (table->representation == CUCKOO_DENSE)
		table->dense.data = data;
	else
		CuckooSparseSetData(&table->sparse, data);
}

/*
 * Whether the table may contain the key of a hash.  Never false for a key
 * added and not removed; true for another with the probability of
 * CuckooShapeRate.
 */
static inline bool
CuckooTableContains(const CuckooTable *table, uint64_t hash)
{
	return table->representation == CUCKOO_DENSE ?
		CuckooDenseContainsAt(&table->dense, CuckooPlaceOf(&table->shape, hash)) :
		CuckooSparseContains(&table->sparse, hash);
}

/* Copies of the hash's class: 0 to 8. */
static inline int
CuckooTableCount(const CuckooTable *table, uint64_t hash)
{
	if (table->representation == CUCKOO_DENSE)
	{
		CuckooPlace place = CuckooPlaceOf(&table->shape, hash);

		return CuckooDenseCount(&table->dense, &place);
	}
	return CuckooSparseCount(&table->sparse, CuckooCodeOf(&table->shape, hash));
}

/* What one table of a filter is made from. */
typedef struct CuckooPart
{
	CuckooShape shape;
	uint64_t	items;			/* that it will have */
	CuckooRepresentation representation;	/* wanted: what has to be built dense
											 * becomes sparse if it finds no
											 * room or the filter would be too
											 * large */
	CuckooSource source;		/* of its codes */
	const CuckooTable *old;		/* NULL: none; else the source has one run of
								 * codes, to be added to this one's, */
	bool		remove;			/* or removed from them */
} CuckooPart;

/* A part that is built from sorted codes */
static inline CuckooPart
CuckooPartOf(const CuckooShape *shape, const CuckooList *codes)
{
	return (CuckooPart) {
		.shape = *shape,
		.items = codes->count,
		.representation = CuckooRepresentationFor(shape, codes->count),
		.source = {.runs = codes, .run_count = 1}
	};
}

/*
 * Fill a table, which has been initialized for a part, perhaps in the other
 * representation.  Each code to remove must be in the old table.  Returns false if
 * the table is dense and the codes find no room; its bytes are then garbage.
 */
extern bool CuckooTableBuild(CuckooTable *table, const CuckooPart *part, uint64_t seed);

/* The sorted codes of a table, to be freed. */
extern CuckooList CuckooTableCodes(const CuckooTable *table);

#endif							/* CUCKOO_TABLE_H */
