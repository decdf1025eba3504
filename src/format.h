/*-------------------------------------------------------------------------
 *
 * format.h
 *	  The portable bytes of a filter, and the one validator before them.
 *
 * These bytes are what the bytea and binary forms carry, what the text form
 * is base64 of, and what is stored on disk behind the varlena header.  All
 * numbers are little-endian and read with explicit loads, since stored values
 * are not aligned.  docs/format.md describes every byte.
 *
 *	offset	bytes
 *	  0		1		format version: 1
 *	  1		1		body (CuckooBody)
 *	  2		1		key kind (CuckooKind)
 *	  3		1		kind of the elements of an array, range or multirange; or 0
 *	  4		1		flags (CUCKOO_FLAG_...)
 *	  5		1		number of tables
 *	  6		1		version of a partial body; else 0
 *	  7		1		0
 *	  8		8		false-positive rate asked for, IEEE 754
 *	 16		8		capacity stated, in keys; 0: none
 *	 24		8		seed
 *	 32		8		items: hashes in a list, entries filled in all tables
 *	 40				list, partial: 8 bytes a hash, ascending
 *					tables: 16 bytes each (blocks 4, buckets a block 2,
 *					fingerprint bits 1, stash 0 or 1, items 8), then the
 *					buckets of each, then 8 zero bytes
 *
 * This file is part of the core and needs nothing of PostgreSQL.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_FORMAT_H
#define CUCKOO_FORMAT_H

#include "hash.h"
#include "table.h"

#define CUCKOO_VERSION			1
#define CUCKOO_LAST_VERSION		15	/* beyond it is no version but garbage */
#define CUCKOO_PARTIAL_VERSION	1

#define CUCKOO_HEADER_BYTES		40
#define CUCKOO_DIRECTORY_BYTES	16	/* a table */
#define CUCKOO_MAX_TABLES		16
#define CUCKOO_MAX_HEADER_BYTES \
	(CUCKOO_HEADER_BYTES + CUCKOO_MAX_TABLES * CUCKOO_DIRECTORY_BYTES)

/*
 * Hashes a list holds at most: 1,024 where no capacity was stated, else 32.
 * A list takes 64 bits a key, but is exact and merges into any shape.
 */
#define CUCKOO_LONG_LIST		1024
#define CUCKOO_SHORT_LIST		32

/*
 * The largest filter: its text form takes a third more, and a row with it
 * must stay under PostgreSQL's 1 GB.
 */
#define CUCKOO_MAX_BYTES		UINT64_C(786432000)

/*
 * Rates that fingerprints of at most 32 bits can keep.  The casts drop what
 * constants have beyond a double on machines that compute with more.
 */
#define CUCKOO_MIN_FPR			((double) 2e-9)
#define CUCKOO_MAX_FPR			((double) 0.1)

/* Keys that may be stated; far more than fit in CUCKOO_MAX_BYTES. */
#define CUCKOO_MAX_CAPACITY		(UINT64_C(1) << 40)

typedef enum CuckooBody
{
	CUCKOO_LIST = 0,			/* sorted hashes, up to eight copies of each */
	CUCKOO_TABLES = 1,			/* one to sixteen tables */
	CUCKOO_PARTIAL = 2,			/* an aggregate's state: sorted distinct hashes */
	CUCKOO_STATE = 3			/* the same while it is worked on; only ever in
								 * a server's memory, never valid outside */
} CuckooBody;

#define CUCKOO_FLAG_PLAIN			0x01	/* layout of the tables; else
											 * semi-sorted */
#define CUCKOO_FLAG_NOT_REMOVABLE	0x02	/* two keys may share an entry */
#define CUCKOO_FLAG_UNSET			0x04	/* no parameters yet: all zero */
#define CUCKOO_FLAGS				0x07

/* A filter taken apart.  The bytes stay where they are. */
typedef struct CuckooFilter
{
	uint8_t		body;			/* CuckooBody */
	uint8_t		kind;			/* CuckooKind */
	uint8_t		element_kind;	/* CuckooKind */
	uint8_t		flags;
	uint8_t		table_count;
	uint16_t	stashes;		/* bit i: table i is a stash; never the first */
	double		fpr;			/* asked for */
	uint64_t	capacity;		/* stated, or 0 */
	uint64_t	seed;
	uint64_t	items;
	uint8_t    *list;			/* list and partial bodies: the hashes */
	CuckooTable tables[CUCKOO_MAX_TABLES];	/* the first table_count */
} CuckooFilter;

/* What the validator found, and the numbers to say so with. */
typedef enum CuckooProblem
{
	CUCKOO_VALID,
	CUCKOO_TOO_SHORT,			/* expected: bytes at least; found: bytes */
	CUCKOO_TOO_LONG,			/* expected: bytes at most; found: bytes */
	CUCKOO_BAD_LENGTH,			/* expected, found: bytes */
	CUCKOO_NEWER_VERSION,		/* expected: ours; found: the value's */
	CUCKOO_BAD_VERSION,			/* as above */
	CUCKOO_BAD_PARTIAL_VERSION,
	CUCKOO_BAD_FIELD,			/* found: offset of the header byte */
	CUCKOO_BAD_TABLE,			/* found: number of the table, from 1 */
	CUCKOO_BAD_BUCKET,			/* found: number of the bucket, from 0 */
	CUCKOO_BAD_ITEMS,			/* expected: as counted; found: as stated */
	CUCKOO_BAD_ORDER,			/* found: number of the hash, from 0 */
	CUCKOO_BAD_TAIL				/* found: offset of the byte */
} CuckooProblem;

typedef struct CuckooVerdict
{
	CuckooProblem problem;
	uint64_t	expected;
	uint64_t	found;
} CuckooVerdict;

/*
 * Check bytes from outside.  After CUCKOO_VALID every other function may be
 * given them; before it none.  Reads only the length bytes given.
 */
extern CuckooVerdict CuckooValidate(const uint8_t *bytes, size_t length,
									CuckooPause pause);

/* Take valid bytes apart.  The filter points into them. */
extern void CuckooOpen(CuckooFilter *filter, uint8_t *bytes);

/*
 * The same where only the header and directory are at hand, the first
 * CUCKOO_MAX_HEADER_BYTES: the list and the tables have no memory.
 */
extern void CuckooOpenHeader(CuckooFilter *filter, const uint8_t *bytes);

/*
 * Bytes of a filter with these header fields and tables (a list's from its
 * items); 0 where that is more than CUCKOO_MAX_BYTES.
 */
extern size_t CuckooBytes(const CuckooFilter *filter);

/*
 * Write the header and directory of a filter into bytes, and point its list
 * or tables to where they belong.  Does not touch what stands there.
 */
extern void CuckooLayOut(CuckooFilter *filter, uint8_t *bytes);

/*
 * Write the header and directory where the bytes have them, after fields or
 * items changed.
 */
extern void CuckooWriteHeader(const CuckooFilter *filter, uint8_t *bytes);

/* Hash number i of a list or partial body. */
static inline uint64_t
CuckooListGet(const CuckooFilter *filter, uint64_t i)
{
	return CuckooLoad64(filter->list + 8 * i);
}

/*
 * Whether table number i is a stash: what it seems to hold is never taken out
 * of the filter, see filter.h.
 */
static inline bool
CuckooIsStash(const CuckooFilter *filter, int i)
{
	return (filter->stashes >> i & 1) != 0;
}

static inline CuckooLayout
CuckooFilterLayout(const CuckooFilter *filter)
{
	return filter->flags & CUCKOO_FLAG_PLAIN ? CUCKOO_PLAIN : CUCKOO_SEMISORTED;
}

/* Hashes a list of this filter holds at most. */
static inline uint64_t
CuckooListLimit(const CuckooFilter *filter)
{
	return filter->capacity == 0 ? CUCKOO_LONG_LIST : CUCKOO_SHORT_LIST;
}

#endif							/* CUCKOO_FORMAT_H */
