/*-------------------------------------------------------------------------
 *
 * key.h
 *	  From an SQL value to its 64-bit hash.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_KEY_H
#define CUCKOO_KEY_H

#include "postgres.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"

#include "bytes.h"
#include "hash.h"

/*
 * How the values of one SQL type are hashed; made once a call site by
 * CuckooKeyInit and used for every value.
 *
 * key_type and signature are what a filter's header keeps.  The signature of a
 * composite is known only from a value: it is that of the one hashed last, 0
 * before the first.  So is that of whatever has anonymous records inside.
 */
typedef struct CuckooKey
{
	CuckooKeyType key_type;
	uint32		signature;
	bool		open;			/* has anonymous records inside, or is one */
	Oid			type;			/* base type: domains are looked through */

	/* private to key.c */
	MemoryContext ctx;			/* where the two below live */
	void	   *detail;			/* what hashing the parts of an array, range,
								 * multirange or composite needs */
	StringInfo	buffer;			/* canonical bytes of a value being hashed */
} CuckooKey;

/*
 * The seed under which cuckoo_shard hashes: the first 64 bits of the
 * fraction of pi.  It is not the seed of filters, so that the keys of one
 * shard are still spread over all the blocks of their filter.
 */
#define CUCKOO_SHARD_SEED	UINT64CONST(0x243F6A8885A308D3)

/*
 * Prepare to hash values of a type, compared under a collation (the call's
 * input collation).  What is looked up lives in ctx.  For the built-in scalar
 * types this touches no catalog and allocates nothing, so it may be done for
 * every row; a text type under another collation than the default one or "C"
 * costs a look into the catalog cache.
 *
 * Errors: ERRCODE_FEATURE_NOT_SUPPORTED for a type that cannot be a key or a
 * nondeterministic collation, ERRCODE_INDETERMINATE_COLLATION where a text
 * type has no collation, ERRCODE_INDETERMINATE_DATATYPE for InvalidOid.  The
 * attributes of a composite type are looked at when the first value comes.
 */
extern void CuckooKeyInit(CuckooKey *key, Oid type, Oid collation,
						  MemoryContext ctx);

/*
 * The hash of one value, not NULL, of the type given to CuckooKeyInit.
 *
 * Errors: those of CuckooKeyInit for the attributes of a composite value;
 * those of converting text to UTF-8; and PostgreSQL's own where the canonical
 * bytes of one array, composite, multirange or jsonb exceed 1 GB.
 */
extern uint64 CuckooKeyHash(CuckooKey *key, Datum value, uint64 seed);

/*
 * The same for the planner, which must not fail over a lookup that may never
 * take place: false if one of the errors above could occur.  That is more than
 * the types refused: composite types and ranges as well, and in server
 * encodings that must be converted every text that is not ASCII.
 */
extern bool CuckooKeyTryInit(CuckooKey *key, Oid type, Oid collation,
							 MemoryContext ctx);
extern bool CuckooKeyTryHash(CuckooKey *key, Datum value, uint64 seed,
							 uint64 *hash);

/* Whether this is the type of filters, which are validated bytes. */
extern bool CuckooIsFilterType(Oid type);

/* A value of one of the integer types. */
static inline int64
CuckooIntegerValue(Oid type, Datum value)
{
	switch (type)
	{
		case INT8OID:
			return DatumGetInt64(value);
		case INT4OID:
			return DatumGetInt32(value);
		case INT2OID:
			return DatumGetInt16(value);
		default:
			Assert(type == OIDOID);
			return (int64) DatumGetObjectId(value);
	}
}

/* The hash of a smallint, integer, bigint or oid: what CuckooKeyHash gives. */
static inline uint64
CuckooHashInt64(int64 value, uint64 seed)
{
	uint8		bytes[8];

	CuckooStore64(bytes, (uint64) value);
	return CuckooHash(bytes, sizeof(bytes), seed, CUCKOO_KEY_INTEGER);
}

/*
 * Whether keys have the key type of a filter, as far as both know it.  If not,
 * the answer would be "no" whatever the filter holds.
 */
static inline bool
CuckooSameKeyType(uint8 key_type, uint32 signature, const CuckooKey *key)
{
	return key_type == CUCKOO_KEY_NONE ||
		(key_type == key->key_type &&
		 (signature == key->signature || key->signature == 0));
}

extern void CuckooReportKeyType(uint8 key_type, uint32 signature, const CuckooKey *key);

/* Refuse keys of another type. */
static inline void
CuckooMatchKeyType(uint8 key_type, uint32 signature, const CuckooKey *key)
{
	if (!CuckooSameKeyType(key_type, signature, key))
		CuckooReportKeyType(key_type, signature, key);
}

/* "integer", "text", "array", ...: for messages and cuckoo_info. */
extern const char *CuckooKeyTypeName(CuckooKeyType key_type);

/* The same with the signature, if there is one; palloc'd, for messages. */
extern char *CuckooKeyTypeDescribe(CuckooKeyType key_type, uint32 signature);

#endif							/* CUCKOO_KEY_H */
