/*-------------------------------------------------------------------------
 *
 * sparse.h
 *	  A sparse table: its sorted codes in Elias-Fano form.
 *
 * The form of a table below three quarters of its entries, and of any
 * multiset of classes that a dense table cannot place.  It costs what it
 * holds: about log2(U / n) + 1.5 bits per code, whatever room is free.
 *
 * P. Elias: "Efficient storage and retrieval by content and address of static
 * files", JACM 21 (1974); R. M. Fano: "On the number of bits required to
 * implement an associative memory", MIT 1971.  A code is split into l low
 * bits, stored as they are, and a high part.  High parts ascend, so each is
 * told in unary: a 1 per code, then a 0.  With n codes below U, l is the least
 * number with 2 Z <= 3 max(n, 1), where Z = ((U - 1) >> l) + 1 is the number
 * of high parts.
 *
 * High parts come in groups of 64, so that a lookup reads two numbers and one
 * group of 110 to 263 bytes.  (Groups of 128 would save 0.26 bits per code and
 * cost 6 ns; a directory of fixed width is faster, 7 to 12 ns, and 11 to 25 %
 * larger.)  With g = ceil(Z / 64):
 *
 *	start[0 .. g]	4 bytes each: the number of codes with high part < 64 j
 *	bits			lowest bit of a byte first.  Group j begins at bit
 *					64 j + start[j] (1 + l): z = min(64, Z - 64 j) high parts of
 *					k = start[j + 1] - start[j] codes in z + k bits, then the k
 *					low parts.  Filled up to a byte with zeros.
 *
 * One multiset has one form.
 *
 * This file is part of the core and needs nothing of PostgreSQL.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_SPARSE_H
#define CUCKOO_SPARSE_H

#include "codes.h"

#define CUCKOO_GROUP		64	/* high parts per group */

typedef struct CuckooSparse
{
	CuckooShape shape;
	uint64_t	items;			/* n, the codes with their copies */
	uint64_t	pairs;			/* all that follows depends on the two */
	uint32_t	fingerprints;
	uint8_t		low_bits;		/* l */
	uint8_t		fields;			/* low parts compared at once */
	uint64_t	low_mask;
	uint64_t	highs;			/* Z */
	uint64_t	groups;			/* g */
	uint64_t	end;			/* bits, without those that fill up */
	uint64_t	ones;			/* 1 in each field, */
	uint64_t	tops;			/* and the top bit of each */
	uint8_t    *starts;
	uint8_t    *bits;			/* followed by at least 8 bytes of readable
								 * memory */
} CuckooSparse;

/* Bytes of a table with so many items. */
extern uint64_t CuckooSparseBytes(const CuckooShape *shape, uint64_t items);

/* The same of a table that has been initialized. */
static inline uint64_t
CuckooSparseStoredBytes(const CuckooSparse *sparse)
{
	return 4 * (sparse->groups + 1) + (sparse->end + 7) / 8;
}

/* Say where a table is. */
static inline void
CuckooSparseSetData(CuckooSparse *sparse, uint8_t *data)
{
	sparse->starts = data;
	sparse->bits = data == NULL ? NULL : data + 4 * (sparse->groups + 1);
}

/* data may be NULL where it is not read. */
extern void CuckooSparseInit(CuckooSparse *sparse, const CuckooShape *shape,
							 uint64_t items, uint8_t *data);

/* Whether the table contains the class of a hash. */
extern bool CuckooSparseContains(const CuckooSparse *sparse, uint64_t hash);

/* Copies of a code: 0 to 8. */
extern int	CuckooSparseCount(const CuckooSparse *sparse, uint64_t code);

/* Begin to load what a lookup of the hash will read first. */
static inline void
CuckooSparsePrefetch(const CuckooSparse *sparse, uint64_t hash)
{
	uint64_t	code = CuckooScaledCode(sparse->pairs, sparse->fingerprints,
										sparse->shape.bits, hash);

	CUCKOO_PREFETCH(sparse->starts + (code >> sparse->low_bits) / CUCKOO_GROUP * 4);
}

/*
 * For lookups that have only parts of the table at hand.  First the two
 * starts: 8 bytes at CuckooSparseStartsAt.  With these the bytes of the group,
 * at the offset returned (from the start of the table), so many; and with a
 * copy of those, and 8 readable bytes more, the copies of the code.
 */
extern uint64_t CuckooSparseStartsAt(const CuckooSparse *sparse, uint64_t code);
extern uint64_t CuckooSparseGroupAt(const CuckooSparse *sparse, uint64_t code,
									const uint8_t *starts, uint64_t *bytes);
extern int	CuckooSparseGroupCount(const CuckooSparse *sparse, uint64_t code,
								   const uint8_t *starts, const uint8_t *group);

/*
 * Encode the codes of a source, exactly items of them, into
 * CuckooSparseBytes of memory.
 */
extern void CuckooSparseBuild(CuckooSparse *sparse, CuckooSource *source,
							  const CuckooHost *host);

/*
 * Encode into target what a table becomes by adding or removing count sorted
 * codes, all of which it has room for or holds: target is initialized for
 * the items it will have.  Groups without a change are copied as they are.
 */
extern void CuckooSparseEdit(CuckooSparse *target, const CuckooSparse *sparse,
							 const uint64_t *codes, uint64_t count, bool remove,
							 const CuckooHost *host);

/* The codes of a sparse table. */
typedef struct CuckooSparseSource
{
	CuckooSource source;
	CuckooSparse sparse;
	uint64_t	item;			/* the next code: its number, */
	uint64_t	high;			/* its high part at least, */
	uint64_t	upper;			/* where that is told, */
	uint64_t	lower;			/* and where its low part is */
	uint64_t	group;			/* its group, */
	uint64_t	group_end;		/* and the first code behind that */
} CuckooSparseSource;

extern void CuckooSparseSourceInit(CuckooSparseSource *source, const CuckooSparse *sparse);

/*
 * Check a table that comes from outside, of CuckooSparseBytes: see
 * docs/format.md.  *bad is the number of the first bad group.
 */
extern bool CuckooSparseCheck(const CuckooSparse *sparse, uint64_t *bad,
							  const CuckooHost *host);

#endif							/* CUCKOO_SPARSE_H */
