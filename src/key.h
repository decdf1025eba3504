/*-------------------------------------------------------------------------
 *
 * key.h
 *	  From an SQL value to its 64-bit hash.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_KEY_H
#define CUCKOO_KEY_H

#include "core/hash.h"
#include "key_scalar.h"

/*
 * How the values of one SQL type are hashed.  Each call site makes one with
 * CuckooHasherInit and uses it for every value.  A CuckooKeyType tells which types
 * are equal as keys; a CuckooKeyKind, as in a filter's header, also tells those
 * inside, by their signature.
 *
 * The signature of a composite, or of a type with anonymous records inside, is
 * known only from a value: it is 0 before the first.  If there are row types inside,
 * which can be altered, it is that of the value hashed last.
 */
typedef struct CuckooHasher
{
	CuckooKeyKind kind;
	bool		has_rows;		/* is a composite, or has some inside */
	Oid			type;			/* of a domain, the base type */
	MemoryContext ctx;
	struct CuckooNested *nested;	/* private to key.c */
} CuckooHasher;

/*
 * The seed that cuckoo_shard hashes with: the first 64 bits of the fraction of
 * pi.  It differs from the seed of a filter, so that the keys of one shard are
 * spread over all blocks of the shard's filter.
 */
#define CUCKOO_SHARD_SEED	UINT64CONST(0x243F6A8885A308D3)

/*
 * Prepare to hash values of a type, compared under a collation (the call's
 * input collation).  What this allocates is in ctx.  For the built-in scalar
 * types it reads no catalog and allocates nothing, so it may be called for
 * every row.  For a text type under a collation other than the default one or
 * "C", it looks into the catalog cache.
 *
 * Errors: ERRCODE_FEATURE_NOT_SUPPORTED for a type that cannot be a key or a
 * nondeterministic collation, ERRCODE_INDETERMINATE_COLLATION if a text type
 * has no collation, ERRCODE_INDETERMINATE_DATATYPE for InvalidOid.  The
 * attributes of a composite type are checked when the first value is hashed.
 */
extern void CuckooHasherInit(CuckooHasher *hasher, Oid type, Oid collation, MemoryContext ctx);

/*
 * Whether ALTER TYPE can change the hashes of a type's values, at any depth: for
 * rows that exist then, no trigger fires and no index is built anew.  Composite
 * values are hashed by all their attributes, and enum values by their label, but
 * by PostgreSQL's functions by their OID, which stays.
 */
extern bool CuckooTypeCanBeAltered(Oid type, bool by_label);

/* What CuckooKeyHash calls for keys that are not integers */
extern uint64 CuckooHashOther(CuckooHasher *hasher, Datum value, uint64 seed);

/*
 * The hash of one value, not NULL, of the type given to CuckooHasherInit.
 *
 * Errors: those of CuckooHasherInit for the attributes of a composite value, those
 * of converting text to UTF-8, and PostgreSQL's own if the canonical bytes of
 * one array, composite, multirange or jsonb exceed 1 GB.
 */
static inline uint64
CuckooKeyHash(CuckooHasher *hasher, Datum value, uint64 seed)
{
	/* Integers, the most frequent keys, are hashed without a function call. */
	if (hasher->kind.type == CUCKOO_KEY_INTEGER)
		return CuckooHashInt64(CuckooIntegerValue(hasher->type, value), seed);
	return CuckooHashOther(hasher, value, seed);
}

/* Report that the key type of keys is not that of the filter. */
extern CUCKOO_NORETURN void CuckooReportKeyType(const CuckooHeader *filter,
												const CuckooHasher *hasher);

/* Keys of another key type have other hashes: no lookup would find them. */
static inline void
CuckooMatchKeyType(const CuckooHeader *filter, const CuckooHasher *hasher)
{
	if (!CuckooSameKeyKind(filter->kind, hasher->kind))
		CuckooReportKeyType(filter, hasher);
}

#endif							/* CUCKOO_KEY_H */
