/*-------------------------------------------------------------------------
 *
 * key_scalar.h
 *	  Canonical bytes of scalar keys; the key types of SQL types, and their
 *	  names.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_KEY_SCALAR_H
#define CUCKOO_KEY_SCALAR_H

#include "compat.h"

#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"

#include "core/format.h"

/*
 * Room for the bytes of a scalar that are not part of the value already.  Bit
 * strings, converted text, and numerics of more than 30 digits of base 10000
 * get memory of their own instead.
 */
#define CUCKOO_SCRATCH_BYTES	Max(NAMEDATALEN, 64)

/* The canonical bytes of a scalar. */
typedef struct CuckooScalar
{
	const void *data;
	size_t		length;
	void	   *copy;			/* memory allocated for them, or NULL */
	uint8		scratch[CUCKOO_SCRATCH_BYTES];
} CuckooScalar;

/*
 * The name of a key type, such as "integer".  If there is a type to cast keys
 * to, it has this name.
 */
extern const char *CuckooKeyTypeName(CuckooKeyType key_type);

/* The same with the signature, if it is not 0, palloc'd, for messages. */
extern char *CuckooKeyKindDescribe(CuckooKeyKind kind);

/*
 * The key type of a built-in scalar type, or CUCKOO_KEY_NONE.  jsonb and
 * anonymous records are included, because nothing has to be looked up for them
 * either.
 */
extern CuckooKeyType CuckooBuiltinKeyType(Oid type);

/* Whether this is the type cuckoofilter.  Its values are validated bytes. */
extern bool CuckooIsFilterType(Oid type);

/*
 * The canonical bytes of a value of a scalar type other than the integers, whose
 * bytes are CuckooIntegerValue.  False for types that are not scalar.  Call
 * CuckooFreeScalar when the bytes are no longer needed.
 */
extern bool CuckooOtherScalarBytes(CuckooScalar *bytes, CuckooKeyType key_type, Oid type,
								   Datum value);

/* The same for text that is not an SQL value. */
extern void CuckooTextBytes(CuckooScalar *bytes, const char *text, size_t length);

static inline void
CuckooFreeScalar(CuckooScalar *bytes)
{
	if (bytes->copy != NULL)
		pfree(bytes->copy);
}

/*
 * Must text be converted to UTF-8?  In SQL_ASCII the encoding of the bytes is
 * unknown, so they are used as they are.
 */
static inline bool
CuckooConvertsText(void)
{
	int			encoding = GetDatabaseEncoding();

	return encoding != PG_UTF8 && encoding != PG_SQL_ASCII;
}

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

#endif							/* CUCKOO_KEY_SCALAR_H */
