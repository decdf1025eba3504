/*-------------------------------------------------------------------------
 *
 * key_bytes.h
 *	  Shared by the files that make canonical bytes: key.c for the scalar key
 *	  types, key_nested.c for the nested ones.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_KEY_BYTES_H
#define CUCKOO_KEY_BYTES_H

#include "postgres.h"

#include "mb/pg_wchar.h"

#include "key.h"

/*
 * Room for the bytes of a scalar that are not part of the value already.  Bit
 * strings, converted text, and numerics of more than 30 digits of base 10000
 * get memory of their own instead.
 */
#define SCRATCH_BYTES	Max(NAMEDATALEN, 64)

/* The canonical bytes of a scalar. */
typedef struct KeyBytes
{
	const void *data;
	size_t		length;
	void	   *copy;			/* memory allocated for them, or NULL */
	unsigned char scratch[SCRATCH_BYTES];
} KeyBytes;

/*
 * Must text be converted to UTF-8?  In SQL_ASCII the encoding of the bytes is
 * unknown, so they are used as they are.
 */
static inline bool
NeedsConversion(void)
{
	int			encoding = GetDatabaseEncoding();

	return encoding != PG_UTF8 && encoding != PG_SQL_ASCII;
}

/*
 * Free the memory allocated for a scalar's bytes.
 */
static inline void
FreeBytes(KeyBytes *bytes)
{
	if (bytes->copy != NULL)
		pfree(bytes->copy);
}

/* in key.c */
extern bool CuckooScalarBytes(KeyBytes *bytes, const CuckooKey *key,
							  Datum value);
extern void CuckooNumericBytes(KeyBytes *bytes, Datum value);
extern const char *CuckooConvertText(const char *text, size_t length,
									 size_t *converted_length);

/* in key_nested.c */
extern void CuckooInitArray(CuckooKey *key, Oid element_type, Oid collation);
extern void CuckooInitRange(CuckooKey *key, CuckooKeyType key_type, Oid range_type);
extern uint64 CuckooHashNested(CuckooKey *key, Datum value, uint64 seed);

#endif							/* CUCKOO_KEY_BYTES_H */
