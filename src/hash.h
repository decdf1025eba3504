/*-------------------------------------------------------------------------
 *
 * hash.h
 *	  Key types, and the 64-bit hash of a key's canonical bytes.
 *
 * A key is hashed by XXH3 over canonical bytes, which are the same on every
 * platform, in every database encoding and in every version.  key.c makes them,
 * and docs/format.md describes them.  PostgreSQL's own hash functions cannot be
 * used, because they depend on the byte order and have changed in minor
 * releases.
 *
 * This file is part of the core and needs nothing of PostgreSQL.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_HASH_H
#define CUCKOO_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#if XXH_VERSION_NUMBER < 800
#error "cuckoo needs xxHash 0.8 or later: before that XXH3 gave other hashes"
#endif

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
 * The signature of a nested key type, never 0: a hash of the description of the
 * key types inside it (docs/format.md).
 */
static inline uint32_t
CuckooSignature(const void *description, size_t length)
{
	uint32_t	signature = (uint32_t) XXH3_64bits(description, length);

	return signature == 0 ? 1 : signature;
}

/*
 * Hash canonical bytes.  The key type is mixed into the seed, so that the same
 * bytes of two key types (text '5' and bytea '5') have different hashes, and
 * nothing needs to be copied before hashing.  The factor is an odd number close
 * to 2^64 divided by the golden ratio.
 */
static inline uint64_t
CuckooHash(const void *bytes, size_t length, uint64_t seed, CuckooKeyType key_type)
{
	return XXH3_64bits_withSeed(bytes, length,
								seed + (uint64_t) key_type * UINT64_C(0x9E3779B97F4A7C15));
}

#endif							/* CUCKOO_HASH_H */
