/*-------------------------------------------------------------------------
 *
 * key_scalar.h
 *	  Canonical bytes of scalar keys, also as parts of others; the key types of
 *	  SQL types, and their names.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_KEY_SCALAR_H
#define CUCKOO_KEY_SCALAR_H

#include "compat.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
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

/*
 * The parts of a value are written to a buffer, one after the other, each
 * preceded by its length, and the buffer is hashed as a whole.  Values of a key
 * type that are not equal must have different bytes.  The bytes can therefore
 * be read back in only one way.
 */

/*
 * Append to the buffer of a nested value.  A value can have many small parts.
 * To append them with PostgreSQL's own functions would take longer than
 * hashing.
 */
static inline uint8 *
CuckooAppendRoom(StringInfo buf, size_t length)
{
	uint8	   *room;

	if (unlikely((size_t) (buf->maxlen - buf->len) <= length))
		enlargeStringInfo(buf, (int) length);
	room = (uint8 *) buf->data + buf->len;
	buf->len += (int) length;
	return room;
}

static inline void
CuckooAppendBytes(StringInfo buf, const void *bytes, size_t length)
{
	memcpy(CuckooAppendRoom(buf, length), bytes, length);
}

/* Append a number of 1, 2 or 4 bytes. */
static inline void
CuckooAppendNumber(StringInfo buf, uint32 number, size_t length)
{
	uint8		stored[4];

	CuckooStore32(stored, number);
	CuckooAppendBytes(buf, stored, length);
}

/* Append bytes, preceded by their length, and free them. */
static inline void
CuckooAppendScalar(StringInfo buf, CuckooScalar *bytes)
{
	uint8	   *room = CuckooAppendRoom(buf, 4 + bytes->length);

	CuckooStore32(room, (uint32) bytes->length);
	memcpy(room + 4, bytes->data, bytes->length);
	CuckooFreeScalar(bytes);
}

/* Append a jsonb, detoasted. */
extern void CuckooAppendJsonb(StringInfo buf, struct varlena *jsonb);

#endif							/* CUCKOO_KEY_SCALAR_H */
