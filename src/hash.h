/*-------------------------------------------------------------------------
 *
 * hash.h
 *	  Key kinds, and the 64-bit hash of a key's canonical bytes.
 *
 * A key is hashed by XXH3 over bytes that are the same on every platform, in
 * every database encoding and in every version (key.c makes them, and
 * docs/format.md writes them down).  PostgreSQL's own hash functions would
 * not do: they differ by byte order and have changed in minor releases.
 *
 * This file is part of the core and needs nothing of PostgreSQL.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_HASH_H
#define CUCKOO_HASH_H

#include <stddef.h>
#include <stdint.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#if XXH_VERSION_NUMBER < 800
#error "cuckoo needs xxHash 0.8 or later: before that XXH3 gave other hashes"
#endif

/*
 * What a key is.  The numbers stand in stored filters and in the seeds of
 * stored hashes: they never change, new ones are added at the end.
 */
typedef enum CuckooKind
{
	CUCKOO_KIND_NONE = 0,		/* an empty filter that has seen no key */
	CUCKOO_KIND_INTEGER = 1,	/* smallint, integer, bigint, oid */
	CUCKOO_KIND_BOOLEAN = 2,
	CUCKOO_KIND_CHAR = 3,		/* "char" */
	CUCKOO_KIND_TEXT = 4,		/* text, varchar, name, char(n) */
	CUCKOO_KIND_BYTEA = 5,
	CUCKOO_KIND_BIT = 6,		/* bit, varbit */
	CUCKOO_KIND_FLOAT = 7,		/* real, double precision */
	CUCKOO_KIND_NUMERIC = 8,
	CUCKOO_KIND_MONEY = 9,
	CUCKOO_KIND_UUID = 10,
	CUCKOO_KIND_DATE = 11,
	CUCKOO_KIND_TIME = 12,
	CUCKOO_KIND_TIMETZ = 13,
	CUCKOO_KIND_TIMESTAMP = 14,
	CUCKOO_KIND_TIMESTAMPTZ = 15,
	CUCKOO_KIND_INTERVAL = 16,
	CUCKOO_KIND_INET = 17,		/* inet, cidr */
	CUCKOO_KIND_MACADDR = 18,
	CUCKOO_KIND_MACADDR8 = 19,
	CUCKOO_KIND_PG_LSN = 20,
	CUCKOO_KIND_XID8 = 21,
	CUCKOO_KIND_ENUM = 22,
	CUCKOO_KIND_JSONB = 23,
	CUCKOO_KIND_ARRAY = 24,
	CUCKOO_KIND_COMPOSITE = 25,
	CUCKOO_KIND_RANGE = 26,
	CUCKOO_KIND_MULTIRANGE = 27
} CuckooKind;

#define CUCKOO_KIND_LAST	CUCKOO_KIND_MULTIRANGE

/* Whether a kind goes together with that of its elements or bounds. */
static inline int
CuckooKindHasElements(CuckooKind kind)
{
	return kind == CUCKOO_KIND_ARRAY || kind == CUCKOO_KIND_RANGE ||
		kind == CUCKOO_KIND_MULTIRANGE;
}

/*
 * The kind goes into the seed, so that the same bytes under two kinds (text
 * '5' and bytea '5') hash apart without anything being copied before
 * hashing.  The factor is 2^64 divided by the golden ratio, odd.
 */
static inline uint64_t
CuckooHash(const void *bytes, size_t length, uint64_t seed, CuckooKind kind)
{
	return XXH3_64bits_withSeed(bytes, length,
								seed + (uint64_t) kind * UINT64_C(0x9E3779B97F4A7C15));
}

#endif							/* CUCKOO_HASH_H */
