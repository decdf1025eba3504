/*-------------------------------------------------------------------------
 *
 * key_buffer.h
 *	  The buffer for the canonical bytes of a value with parts.
 *
 * The parts are written one after the other, each preceded by its length, and the
 * buffer is hashed as a whole.  Values of a key type that are not equal must have
 * different bytes.  The bytes can therefore be read back in only one way.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_KEY_BUFFER_H
#define CUCKOO_KEY_BUFFER_H

#include "compat.h"

#include "lib/stringinfo.h"
#include "utils/jsonb.h"

#include "key_scalar.h"

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

/* Append a jsonb; see key_jsonb.c. */
extern void CuckooAppendJsonb(StringInfo buf, Jsonb *jsonb);

#endif							/* CUCKOO_KEY_BUFFER_H */
