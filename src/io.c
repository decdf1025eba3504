/*-------------------------------------------------------------------------
 *
 * io.c
 *	  Text, binary and bytea forms of a filter.
 *
 * All three forms have the portable bytes of format.h, the text form in
 * base64.  All input is validated.  Comparison and hash functions are
 * PostgreSQL's own for bytea.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "common/base64.h"
#include "libpq/pqformat.h"
#include "miscadmin.h"

#include "state.h"

/*
 * Check portable bytes that come from outside.  If there is an escontext, an
 * error goes there, and false is returned.
 */
static bool
CheckOutside(const uint8 *bytes, size_t length, int sqlstate, Node *escontext)
{
	CuckooVerdict verdict;

	if (CuckooValidate(bytes, length, &verdict))
		return true;
	if (verdict.newer)
		ereturn(escontext, false,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cuckoofilter has a newer format"),
				 errdetail("Its format version is %llu; this release of the extension reads versions up to %d.",
						   (unsigned long long) bytes[0], CUCKOO_VERSION)));
	ereturn(escontext, false,
			(errcode(sqlstate),
			 errmsg("invalid cuckoofilter value"),
			 errdetail_internal("%s", verdict.message)));
}

/* A value with a copy of portable bytes that come from outside. */
static CuckooValue *
ValueFromOutside(const uint8 *bytes, size_t length)
{
	CheckOutside(bytes, length, ERRCODE_INVALID_BINARY_REPRESENTATION, NULL);
	return CuckooCopyBytes(bytes, length);
}

/*
 * PostgreSQL's own functions for base64 are given pieces of this many bytes, a
 * multiple of 3, so that work on a large value can be interrupted.
 */
#define BASE64_PIECE	(3 * 1024 * 1024)

/* Bytes from base64; -1 if the text is not base64. */
static int64
DecodeBase64(const char *text, size_t length, uint8 *bytes)
{
	size_t		piece = BASE64_PIECE / 3 * 4;
	int64		decoded = 0;
	int			rest;

	while (length > piece)
	{
		CHECK_FOR_INTERRUPTS();
		/* Padding ends a text: in its middle, it makes a piece too short. */
		if (pg_b64_decode(text, (int) piece, (void *) (bytes + decoded),
						  BASE64_PIECE) != BASE64_PIECE)
			return -1;
		text += piece;
		length -= piece;
		decoded += BASE64_PIECE;
	}
	rest = pg_b64_decode(text, (int) length, (void *) (bytes + decoded),
						 (int) (length / 4 * 3 + 3));
	return rest < 0 ? -1 : decoded + rest;
}

/* Base64 of bytes, with a terminating zero. */
static void
EncodeBase64(const uint8 *bytes, size_t length, char *text)
{
	while (length > 0)
	{
		int			piece = (int) Min(length, BASE64_PIECE);
		int			room = (piece + 2) / 3 * 4;

		CHECK_FOR_INTERRUPTS();
		if (pg_b64_encode((const void *) bytes, piece, text, room) != room)
			elog(ERROR, "could not encode cuckoofilter in base64");
		bytes += piece;
		length -= piece;
		text += room;
	}
	*text = '\0';
}

/* cuckoofilter_in(cstring): decodes directly into the value */
PG_FUNCTION_INFO_V1(cuckoofilter_in);
Datum
cuckoofilter_in(PG_FUNCTION_ARGS)
{
	char	   *text = PG_GETARG_CSTRING(0);
	size_t		length = strlen(text);
	CuckooValue *value = palloc(VARHDRSZ + length / 4 * 3 + 3);
	uint8	   *bytes = (uint8 *) VARDATA(value);
	int64		decoded = DecodeBase64(text, length, bytes);

	if (decoded < 0)
		ereturn(fcinfo->context, (Datum) 0,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("invalid input syntax for type %s", "cuckoofilter"),
				 errdetail("The text form of a filter is base64 without line breaks.")));
	if (!CheckOutside(bytes, (size_t) decoded, ERRCODE_INVALID_TEXT_REPRESENTATION,
					  fcinfo->context))
		PG_RETURN_NULL();
	SET_VARSIZE(value, VARHDRSZ + decoded);
	PG_RETURN_POINTER(value);
}

/*
 * cuckoofilter_out(cuckoofilter) -> cstring.  An aggregate's working state
 * becomes a partial state, which another server can read.
 */
PG_FUNCTION_INFO_V1(cuckoofilter_out);
Datum
cuckoofilter_out(PG_FUNCTION_ARGS)
{
	CuckooValue *value = CuckooSendableValue(PG_GETARG_CUCKOOFILTER_P(0));
	size_t		length = VARSIZE_ANY_EXHDR(value);
	char	   *text = palloc((length + 2) / 3 * 4 + 1);

	EncodeBase64((const uint8 *) VARDATA_ANY(value), length, text);
	PG_RETURN_CSTRING(text);
}

/*
 * cuckoofilter_send(cuckoofilter) -> bytea: also the cast to bytea.  It makes a
 * partial state as above, and a copy of a filter, which callers free.
 */
PG_FUNCTION_INFO_V1(cuckoofilter_send);
Datum
cuckoofilter_send(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(CuckooSendableValue(PG_GETARG_CUCKOOFILTER_P_COPY(0)));
}

/* cuckoofilter_recv(internal) */
PG_FUNCTION_INFO_V1(cuckoofilter_recv);
Datum
cuckoofilter_recv(PG_FUNCTION_ARGS)
{
	StringInfo	buffer = (StringInfo) PG_GETARG_POINTER(0);
	int			length = buffer->len - buffer->cursor;
	const uint8 *bytes = (const uint8 *) pq_getmsgbytes(buffer, length);

	PG_RETURN_POINTER(ValueFromOutside(bytes, length));
}

/* cuckoofilter_from_bytea(bytea): the cast from bytea */
PG_FUNCTION_INFO_V1(cuckoofilter_from_bytea);
Datum
cuckoofilter_from_bytea(PG_FUNCTION_ARGS)
{
	bytea	   *bytes = PG_GETARG_BYTEA_PP(0);

	PG_RETURN_POINTER(ValueFromOutside((const uint8 *) VARDATA_ANY(bytes),
									   VARSIZE_ANY_EXHDR(bytes)));
}
