/*-------------------------------------------------------------------------
 *
 * hash.h
 *	  The 64-bit hash of a key's canonical bytes.
 *
 * A key is hashed by XXH3 over canonical bytes (docs/format.md), which are the
 * same on every platform, in every database encoding and in every version.
 * PostgreSQL's own hash functions depend on the byte order and have changed in
 * minor releases.  Including this compiles all of XXH3, and key.h does, because
 * integers are hashed inline.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_HASH_H
#define CUCKOO_HASH_H

#include "format.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#if XXH_VERSION_NUMBER < 800
#error "cuckoo needs xxHash 0.8 or later: before that XXH3 gave other hashes"
#endif

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

static inline uint64_t
CuckooHashInt64(int64_t value, uint64_t seed)
{
	uint8_t		bytes[8];

	CuckooStore64(bytes, (uint64_t) value);
	return CuckooHash(bytes, sizeof(bytes), seed, CUCKOO_KEY_INTEGER);
}

#endif							/* CUCKOO_HASH_H */
