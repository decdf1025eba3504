/*-------------------------------------------------------------------------
 *
 * sparse.h
 *	  A sparse table: its sorted codes in Elias-Fano form.
 *
 * A table is built sparse if it has fewer items than three quarters of its
 * entries, or if a dense table has no room for its classes.  A dense table
 * becomes sparse when it has fewer items than half its entries.  The size of a
 * sparse table depends mainly on its items, not on the capacity: about
 * log2(U / n) + 1.5 bits per code.
 *
 * P. Elias: "Efficient storage and retrieval by content and address of static
 * files", JACM 21 (1974); R. M. Fano: "On the number of bits required to
 * implement an associative memory", MIT 1971.
 *
 * A code is split into a low part of l bits, stored as it is, and a high part.
 * High parts ascend and are stored in unary: for each of the possible high
 * parts, a 1 per code that has it, then a 0.  With n codes below U, l is the
 * smallest number with 7 Z <= 8 max(n, 1), where Z = ((U - 1) >> l) + 1 is the
 * number of possible high parts.
 *
 * High parts come in groups of 16, so that one word holds the unary part of
 * nearly all groups, and eight groups make a section of the table.  (Groups
 * of 64 with 4 bytes each would save 0.2 to 0.29 bits per code, but a lookup
 * would take 1.25 times as long in cache, and 1.6 times in memory.)  There are
 * g = ceil(Z / 16) groups; the last one is filled up with high parts that no
 * code has.  The bytes are:
 *
 *	index			12 bytes for every section: the number of codes before it in 4
 *					bytes, then for each group a byte: the number of codes in the
 *					groups up to and with this one, but 255 at most.  A group
 *					that does not exist has no codes.
 *	bits			the lowest bit of a byte first.  The groups follow each other
 *					without gaps.  With k codes, a group has 16 + k bits for the
 *					high parts, then the k low parts.  Zero bits fill the last
 *					byte.
 *
 * Section j begins at bit 128 j + (codes before it) (1 + l).
 *
 * The same multiset of codes always has the same bytes.
 *
 * This file is part of the core and needs nothing of PostgreSQL.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_SPARSE_H
#define CUCKOO_SPARSE_H

#include "codes.h"

#define CUCKOO_GROUP		16	/* high parts per group */
#define CUCKOO_SECTION_GROUPS	8	/* groups per section */
#define CUCKOO_SECTION		(CUCKOO_GROUP * CUCKOO_SECTION_GROUPS)	/* high parts */
#define CUCKOO_SECTION_BYTES	(4 + CUCKOO_SECTION_GROUPS)	/* in the index */

typedef struct CuckooSparse
{
	CuckooShape shape;
	uint64_t	items;			/* n: codes, counting every copy */
	uint64_t	pairs;			/* from here on, computed from the two above */
	uint32_t	fingerprints;
	uint8_t		low_bits;		/* l */
	uint8_t		fields;			/* low parts compared at once; 0 if l is 0 */
	uint64_t	low_mask;
	uint64_t	highs;			/* Z */
	uint64_t	groups;			/* g */
	uint64_t	sections;		/* ceil(g / 8) */
	uint64_t	end;			/* number of bits without the fill bits */
	uint64_t	ones;			/* the lowest bit of each field */
	uint64_t	tops;			/* the highest bit of each field */
	uint8_t    *index;
	uint8_t    *bits;			/* followed by at least 8 bytes of readable
								 * memory */
} CuckooSparse;

/* The size in bytes of a table with this number of items. */
extern uint64_t CuckooSparseBytes(const CuckooShape *shape, uint64_t items);

/* The size in bytes of a table that has been initialized. */
static inline uint64_t
CuckooSparseStoredBytes(const CuckooSparse *sparse)
{
	return CUCKOO_SECTION_BYTES * sparse->sections + (sparse->end + 7) / 8;
}

/* Set where the bytes of a table are. */
static inline void
CuckooSparseSetData(CuckooSparse *sparse, uint8_t *data)
{
	sparse->index = data;
	sparse->bits = data == NULL ? NULL : data + CUCKOO_SECTION_BYTES * sparse->sections;
}

/* data may be NULL if nothing reads it. */
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

	CUCKOO_PREFETCH(sparse->index +
					(code >> sparse->low_bits) / CUCKOO_SECTION * CUCKOO_SECTION_BYTES);
}

/* Begin to load what it will read next, when that has been loaded. */
extern void CuckooSparsePrefetchGroup(const CuckooSparse *sparse, uint64_t hash);

/*
 * For lookups that read only parts of the table:
 *
 * - CuckooSparseSectionAt returns the offset in the table of what the index says
 *	 of the code's section.  CUCKOO_SECTION_BYTES + 4 bytes from there on, with
 *	 the start of the next section, are passed to the other two.
 *
 * - CuckooSparseGroupAt returns the offset in the table of the code's group, and
 *	 sets *bytes to the size of the group; or of the whole section, if the index
 *	 does not say where the group is.
 *
 * - CuckooSparseGroupCount also takes a copy of these bytes, followed by 8
 *	 readable ones.  It returns the copies of the code.
 */
extern uint64_t CuckooSparseSectionAt(const CuckooSparse *sparse, uint64_t code);
extern uint64_t CuckooSparseGroupAt(const CuckooSparse *sparse, uint64_t code,
									const uint8_t *section, uint64_t *bytes);
extern int	CuckooSparseGroupCount(const CuckooSparse *sparse, uint64_t code,
								   const uint8_t *section, const uint8_t *group);

/*
 * Encode the codes of a source.  The table has been initialized for exactly
 * this number of items, and its data has room for CuckooSparseBytes.
 */
extern void CuckooSparseBuild(CuckooSparse *sparse, CuckooSource *source,
							  const CuckooHost *host);

/*
 * Encode into target the table that results from adding or removing count
 * sorted codes.  target has been initialized for the resulting number of items.
 * No code may end up with more than eight copies, and each code removed must be
 * in the table.  What has no change is copied as it is, eight groups at a time.
 */
extern void CuckooSparseEdit(CuckooSparse *target, const CuckooSparse *sparse,
							 const uint64_t *codes, uint64_t count, bool remove,
							 const CuckooHost *host);

/* The codes of a sparse table. */
typedef struct CuckooSparseSource
{
	CuckooSource source;
	CuckooSparse sparse;
	uint64_t	item;			/* number of the next code */
	uint64_t	high;			/* its high part is at least this */
	uint64_t	upper;			/* bit from which to read its high part */
	uint64_t	lower;			/* bit at which its low part begins */
	uint64_t	group;			/* number of its group */
	uint64_t	left;			/* codes of the group that have not been read */
} CuckooSparseSource;

extern void CuckooSparseSourceInit(CuckooSparseSource *source, const CuckooSparse *sparse);

/*
 * Check a table from an untrusted source, which has CuckooSparseBytes, against
 * the rules of docs/format.md.  If it breaks one, *bad is the number of the
 * first group that does.
 */
extern bool CuckooSparseCheck(const CuckooSparse *sparse, uint64_t *bad,
							  const CuckooHost *host);

#endif							/* CUCKOO_SPARSE_H */
