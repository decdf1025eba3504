/*-------------------------------------------------------------------------
 *
 * format.h
 *	  The portable bytes of a filter, and their validator.
 *
 * The bytea and binary forms have these bytes, the text form has them in
 * base64, and on disk they follow the varlena header.  All numbers are
 * little-endian and read with explicit loads, because stored values are not
 * aligned.  docs/format.md describes every byte.
 *
 *	offset	bytes
 *	  0		1		format version: 1
 *	  1		1		content (CuckooContent)
 *	  2		1		key type (CuckooKeyType); 0: no key yet
 *	  3		1		flags (CUCKOO_FLAG_...)
 *	  4		4		signature of the key types inside an array, range,
 *					multirange or composite; else 0
 *	  8		8		target rate, IEEE 754
 *	 16		8		capacity specified or counted, in keys; 0: unknown
 *	 24		8		seed
 *	 32		1		number of tables; 0 if partial or unset
 *	 33		3		0
 *	 36				tables: 12 bytes each (blocks 4, items 4, buckets per block
 *					2, fingerprint bits 1, representation 1), in the order of
 *					shapes, then the bytes of each
 *					partial: 8 bytes per hash, ascending
 *	 end	8		0, so that a word can be read anywhere before
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_FORMAT_H
#define CUCKOO_FORMAT_H

#include "table.h"

#define CUCKOO_VERSION			1
#define CUCKOO_LAST_VERSION		15	/* a larger number is not a version */

#define CUCKOO_HEADER_BYTES		36
#define CUCKOO_DIRECTORY_BYTES	12	/* per table */
#define CUCKOO_MAX_TABLES		16
#define CUCKOO_MAX_HEADER_BYTES \
	(CUCKOO_HEADER_BYTES + CUCKOO_MAX_TABLES * CUCKOO_DIRECTORY_BYTES)

/*
 * The largest filter, 750 MiB.  Its text form is larger by a third, and a row
 * with it must stay below PostgreSQL's limit of 1 GB.
 */
#define CUCKOO_MAX_BYTES		UINT64_C(786432000)

typedef enum CuckooContent
{
	CUCKOO_TABLES = 0,			/* one to sixteen tables; none if unset */
	CUCKOO_PARTIAL = 1			/* an aggregate's state: sorted distinct hashes */
} CuckooContent;

/*
 * The type of a key as far as equality goes.  The numbers are stored in
 * filters and are part of the seeds of stored hashes: they never change, and
 * new ones are added at the end.
 */
typedef enum CuckooKeyType
{
	CUCKOO_KEY_NONE = 0,		/* an empty filter that has seen no key */
	CUCKOO_KEY_INTEGER = 1,		/* smallint, integer, bigint, oid */
	CUCKOO_KEY_BOOLEAN = 2,
	CUCKOO_KEY_CHAR = 3,		/* "char" */
	CUCKOO_KEY_TEXT = 4,		/* text, varchar, name, char(n) */
	CUCKOO_KEY_BYTEA = 5,
	CUCKOO_KEY_BIT = 6,		/* bit, varbit */
	CUCKOO_KEY_FLOAT = 7,		/* real, double precision */
	CUCKOO_KEY_NUMERIC = 8,
	CUCKOO_KEY_MONEY = 9,
	CUCKOO_KEY_UUID = 10,
	CUCKOO_KEY_DATE = 11,
	CUCKOO_KEY_TIME = 12,
	CUCKOO_KEY_TIMETZ = 13,
	CUCKOO_KEY_TIMESTAMP = 14,
	CUCKOO_KEY_TIMESTAMPTZ = 15,
	CUCKOO_KEY_INTERVAL = 16,
	CUCKOO_KEY_INET = 17,		/* inet, cidr */
	CUCKOO_KEY_MACADDR = 18,
	CUCKOO_KEY_MACADDR8 = 19,
	CUCKOO_KEY_PG_LSN = 20,
	CUCKOO_KEY_XID8 = 21,
	CUCKOO_KEY_ENUM = 22,
	CUCKOO_KEY_JSONB = 23,
	CUCKOO_KEY_ARRAY = 24,
	CUCKOO_KEY_COMPOSITE = 25,
	CUCKOO_KEY_RANGE = 26,
	CUCKOO_KEY_MULTIRANGE = 27
} CuckooKeyType;

#define CUCKOO_KEY_LAST		CUCKOO_KEY_MULTIRANGE

/* Whether keys of a type contain other keys.  If so, it has a signature. */
static inline bool
CuckooKeyTypeIsNested(CuckooKeyType key_type)
{
	return key_type == CUCKOO_KEY_ARRAY || key_type == CUCKOO_KEY_COMPOSITE ||
		key_type == CUCKOO_KEY_RANGE || key_type == CUCKOO_KEY_MULTIRANGE;
}

/*
 * What the keys of a filter are: their type and, if they are nested, a signature
 * of the types inside, which is 0 for others and before the first key is seen.
 */
typedef struct CuckooKeyKind
{
	CuckooKeyType type;			/* NONE: no key yet */
	uint32_t	signature;
} CuckooKeyKind;

/* Whether keys of both kinds can be in one filter, as far as they are known */
static inline bool
CuckooSameKeyKind(CuckooKeyKind a, CuckooKeyKind b)
{
	return (a.type == b.type &&
			(a.signature == b.signature || a.signature == 0 || b.signature == 0)) ||
		a.type == CUCKOO_KEY_NONE || b.type == CUCKOO_KEY_NONE;
}

#define CUCKOO_FLAG_NOT_REMOVABLE	0x01	/* two keys may share an item */
#define CUCKOO_FLAG_UNSET			0x02	/* no parameters yet: all else zero */
#define CUCKOO_FLAGS				0x03

typedef struct CuckooHeader
{
	uint8_t		content;		/* CuckooContent */
	uint8_t		flags;
	uint8_t		table_count;
	CuckooKeyKind kind;
	double		fpr;			/* target rate */
	uint64_t	capacity;		/* specified or counted; 0: unknown */
	uint64_t	seed;
	uint64_t	items;			/* in all tables; hashes of a partial state */
} CuckooHeader;

/* A filter whose header has been read.  The bytes stay where they are. */
typedef struct CuckooFilter
{
	uint8_t		version;		/* of the bytes read, if any were */
	CuckooHeader header;
	uint8_t    *hashes;			/* of a partial state */
	CuckooTable tables[CUCKOO_MAX_TABLES];	/* the first table_count */
} CuckooFilter;

/* Why bytes are not valid */
typedef struct CuckooVerdict
{
	bool		newer;			/* they have a format version of a later release */
	char		message[100];	/* a sentence */
} CuckooVerdict;

/*
 * Check bytes from outside; if they are not valid, set *verdict and return false.
 * Every other function may be given them after that, but not before.  Reads no
 * more than length bytes.
 */
extern bool CuckooValidate(const uint8_t *bytes, size_t length, CuckooVerdict *verdict);

/* Read the header of valid bytes.  The filter points into them. */
extern void CuckooOpen(CuckooFilter *filter, uint8_t *bytes, size_t length);

/*
 * The same with the first CUCKOO_MAX_HEADER_BYTES at most of a value of this
 * length: the tables have no data, and a partial state no hashes.
 */
extern void CuckooOpenHeader(CuckooFilter *filter, const uint8_t *bytes, size_t length);

/*
 * The same with the first bytes of what should be a value of this length, but may
 * be anything: they are checked as far as they go.  False if they are not a header
 * and directory for this length, or too few.
 */
extern bool CuckooOpenFirst(CuckooFilter *filter, const uint8_t *first, size_t bytes,
							size_t length);

/* Where the bytes of table i begin; for the number after the last: the tail. */
extern uint64_t CuckooTableOffset(const CuckooFilter *filter, int i);

/*
 * Bytes of a filter with these header fields and tables or hashes; 0 if that
 * is more than CUCKOO_MAX_BYTES.
 */
extern size_t CuckooBytes(const CuckooFilter *filter);

/*
 * Write the header, directory and tail of a filter into memory of CuckooBytes,
 * and point its tables or hashes to their places, which stay as they are.
 */
extern void CuckooLayOut(CuckooFilter *filter, uint8_t *bytes);

/* Write the header and directory again, after fields or items changed. */
extern void CuckooWriteHeader(const CuckooFilter *filter, uint8_t *bytes);

static inline uint64_t
CuckooPartialHash(const CuckooFilter *filter, uint64_t i)
{
	return CuckooLoad64(filter->hashes + 8 * i);
}

#endif							/* CUCKOO_FORMAT_H */
