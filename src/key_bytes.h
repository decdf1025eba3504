/*-------------------------------------------------------------------------
 *
 * key_bytes.h
 *	  What the files that make canonical bytes share: key.c for the scalar
 *	  key types, key_nested.c for those made of parts.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_KEY_BYTES_H
#define CUCKOO_KEY_BYTES_H

#include "postgres.h"

#include "mb/pg_wchar.h"

#include "key.h"

/*
 * Room for the bytes of a scalar that do not lie ready in the value: of any but
 * a numeric of more than 120 digits.
 */
#define SCRATCH_BYTES	Max(NAMEDATALEN, 64)

/* The canonical bytes of a scalar, wherever they are. */
typedef struct KeyBytes
{
	const void *data;
	size_t		length;
	void	   *copy;			/* allocated to hold them, to be freed; or NULL */
	unsigned char scratch[SCRATCH_BYTES];
} KeyBytes;

/*
 * Must text be converted to be UTF-8?  In SQL_ASCII nobody knows what the
 * bytes mean, so they are taken as they are.
 */
static inline bool
NeedsConversion(void)
{
	int			encoding = GetDatabaseEncoding();

	return encoding != PG_UTF8 && encoding != PG_SQL_ASCII;
}

/*
 * Free what getting a scalar's bytes has allocated.
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
