/*-------------------------------------------------------------------------
 *
 * sparse.h
 *	  A sparse table: its sorted codes in Elias-Fano form (P. Elias, JACM 21,
 *	  1974; R. M. Fano, MIT 1971).
 *
 * The high bits of sorted numbers ascend, so it is enough to store how many
 * numbers have each value of them.  A code is split into a high part and a low
 * part of l bits.  The upper part of a group has, for each possible high part,
 * a 1 per code that has it, then a 0; the low parts follow.  With l = 4, the
 * codes 1, 9, 9, 40, 41, 63, 70 and 95 are
 *
 *		high part	0			1	2		3	4	5	6 to 15
 *		upper part	1 1 1 0		0	1 1 0	1 0	1 0	1 0	0 ... 0
 *		low parts	1 9 9			8 9		15	6	15
 *
 * To find 41, that is 2 and 9, a lookup skips two 0s and on the way counts
 * three 1s.  So it compares 9 with the low parts after the third, as many as
 * there are 1s before the next 0.
 *
 * A group has 16 high parts, and l is the smallest number for which there are
 * at most eight high parts for every seven codes: then nearly all upper parts
 * fit into one word.  To find a group, the index has 12 bytes for each section
 * of eight: how many codes are before it (4), and in it up to the end of each
 * group (a byte each, 255 at most).  All this takes about log2(U / n) + 2.8
 * bits per code, whatever the capacity.  (Groups of 64 with 4 bytes each would
 * save 0.2 to 0.29 bits, but a lookup would take 1.25 times as long in cache,
 * and 1.6 times in memory.)
 *
 * The same multiset of codes always has the same bytes; docs/format.md
 * describes every bit.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_SPARSE_H
#define CUCKOO_SPARSE_H

#include "list.h"

#define CUCKOO_GROUP		16	/* high parts per group */
#define CUCKOO_SECTION_GROUPS	8	/* groups per section */
#define CUCKOO_SECTION		(CUCKOO_GROUP * CUCKOO_SECTION_GROUPS)	/* high parts */
#define CUCKOO_SECTION_BYTES	(4 + CUCKOO_SECTION_GROUPS)	/* in the index */

typedef struct CuckooSparse
{
	CuckooShape shape;
	uint64_t	items;			/* n: codes, counting every copy */
	uint8_t		low_bits;		/* l; from here on, computed from the two above */
	uint8_t		fields;			/* low parts compared at once; 0 if l is 0 */
	uint64_t	low_mask;
	uint64_t	groups;			/* g */
	uint64_t	sections;		/* ceil(g / 8) */
	uint64_t	bit_count;		/* without the fill bits */
	uint64_t	ones;			/* the lowest bit of each field */
	uint64_t	tops;			/* the highest bit of each field */
	uint8_t    *index;
	uint8_t    *stream;			/* the groups, one after the other, then at
								 * least 8 bytes of readable memory */
} CuckooSparse;

/* The size in bytes of a table that has been initialized. */
static inline uint64_t
CuckooSparseStoredBytes(const CuckooSparse *sparse)
{
	return CUCKOO_SECTION_BYTES * sparse->sections + (sparse->bit_count + 7) / 8;
}

static inline void
CuckooSparseSetData(CuckooSparse *sparse, uint8_t *data)
{
	sparse->index = data;
	sparse->stream = data + CUCKOO_SECTION_BYTES * sparse->sections;
}

/* A table without data: see CuckooSparseSetData. */
extern void CuckooSparseInit(CuckooSparse *sparse, const CuckooShape *shape, uint64_t items);

extern bool CuckooSparseContains(const CuckooSparse *sparse, uint64_t hash);

/* Copies of a code: 0 to 8. */
extern int	CuckooSparseCount(const CuckooSparse *sparse, uint64_t code);

/* The offset in the table of what the index says of a code's section */
static inline uint64_t
CuckooSparseSectionAt(const CuckooSparse *sparse, uint64_t code)
{
	return (code >> sparse->low_bits) / CUCKOO_SECTION * CUCKOO_SECTION_BYTES;
}

/* Begin to load what a lookup of the hash will read first. */
static inline void
CuckooSparsePrefetch(const CuckooSparse *sparse, uint64_t hash)
{
	CUCKOO_PREFETCH(sparse->index +
					CuckooSparseSectionAt(sparse, CuckooCodeOf(&sparse->shape, hash)));
}

/* Begin to load what it will read next, when that has been loaded. */
extern void CuckooSparsePrefetchGroup(const CuckooSparse *sparse, uint64_t hash);

/*
 * For lookups that read only parts of the table.  Both are passed
 * CUCKOO_SECTION_BYTES + 4 bytes from CuckooSparseSectionAt on, with the start of
 * the next section.
 *
 * - CuckooSparseGroupAt returns the offset in the table of the code's group, and
 *	 sets *bytes to the size of the group; or of the whole section, if the index
 *	 does not say where the group is.
 *
 * - CuckooSparseGroupCount also takes a copy of these bytes, followed by 8
 *	 readable ones.  It returns the copies of the code.
 */
extern uint64_t CuckooSparseGroupAt(const CuckooSparse *sparse, uint64_t code,
									const uint8_t *section, uint64_t *bytes);
extern int	CuckooSparseGroupCount(const CuckooSparse *sparse, uint64_t code,
								   const uint8_t *section, const uint8_t *group);

/*
 * Encode the codes of a source.  The table has been initialized for exactly
 * this number of items, and its data has room for CuckooSparseStoredBytes.
 */
extern void CuckooSparseBuild(CuckooSparse *sparse, const CuckooSource *source);

/*
 * Encode into target the table that results from adding or removing the codes of
 * a run.  target has been initialized for the resulting number of items,
 * and has low parts as wide as the table's.  No code may end up with more than
 * eight copies, and each code removed must be in the table.  Sections without a
 * change are copied as they are.
 */
extern void CuckooSparseEdit(CuckooSparse *target, const CuckooSparse *sparse,
							 CuckooList edit, bool remove);

/*
 * The first code that a section can have.  (The section that ends a table may
 * end above 2^64.)
 */
static inline uint64_t
CuckooSparseFirstCode(const CuckooSparse *sparse, uint64_t section)
{
	return section == sparse->sections ? UINT64_MAX :
		section * CUCKOO_SECTION << sparse->low_bits;
}

/* The number of codes before a section, which may be the end of the table. */
static inline uint64_t
CuckooSparseStart(const CuckooSparse *sparse, uint64_t section)
{
	return section == sparse->sections ? sparse->items :
		CuckooLoad32(sparse->index + section * CUCKOO_SECTION_BYTES);
}

/* Store the codes of the sections from one up to another, sorted. */
extern void CuckooSparseCodes(const CuckooSparse *sparse, uint64_t from, uint64_t to,
							  uint64_t *codes);

/*
 * Check a table from an untrusted source, which has CuckooSparseStoredBytes, against
 * the rules of docs/format.md.  If it breaks one, *bad is the number of the
 * first group that does.
 */
extern bool CuckooSparseCheck(const CuckooSparse *sparse, uint64_t *bad);

#endif							/* CUCKOO_SPARSE_H */
