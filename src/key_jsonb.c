/*-------------------------------------------------------------------------
 *
 * key_jsonb.c
 *	  Canonical bytes of jsonb.
 *
 * Each value is a tag, then the content that the tag requires.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "miscadmin.h"
#include "utils/jsonb.h"

#include "key_scalar.h"

/* First byte of every value inside a jsonb; part of the format. */
typedef enum JsonbTag
{
	JSONB_TAG_NULL = 0,
	JSONB_TAG_FALSE = 1,
	JSONB_TAG_TRUE = 2,
	JSONB_TAG_NUMBER = 3,
	JSONB_TAG_STRING = 4,
	JSONB_TAG_ARRAY = 5,
	JSONB_TAG_OBJECT = 6
} JsonbTag;

/* A pair of a jsonb object, in the canonical bytes. */
typedef struct ObjectPair
{
	int			start;
	int			length;
} ObjectPair;

/*
 * The content of a string, a number, or an object's key.  Not inlined: AppendJsonb,
 * which is recursive, has no stack for this.
 */
static pg_noinline void
AppendJsonbContent(StringInfo buf, const JsonbValue *value)
{
	CuckooScalar bytes;

	if (value->type == jbvString)
		CuckooTextBytes(&bytes, value->val.string.val, (size_t) value->val.string.len);
	else
		(void) CuckooOtherScalarBytes(&bytes, CUCKOO_KEY_NUMERIC, NUMERICOID,
									  NumericGetDatum(value->val.numeric));
	CuckooAppendScalar(buf, &bytes);
}

/* A value that is not an array or object */
static void
AppendJsonbScalar(StringInfo buf, const JsonbValue *value)
{
	switch (value->type)
	{
		case jbvNull:
			CuckooAppendNumber(buf, JSONB_TAG_NULL, 1);
			break;
		case jbvBool:
			CuckooAppendNumber(buf, value->val.boolean ? JSONB_TAG_TRUE : JSONB_TAG_FALSE, 1);
			break;
		case jbvNumeric:
		case jbvString:
			CuckooAppendNumber(buf, value->type == jbvString ? JSONB_TAG_STRING : JSONB_TAG_NUMBER,
							   1);
			AppendJsonbContent(buf, value);
			break;
		default:
			elog(ERROR, "unexpected jsonb value of type %d", (int) value->type);
	}
}

/* As PostgreSQL does: by the length of the key, then by its bytes */
static int
ComparePairs(const void *a, const void *b, void *bytes)
{
	const uint8 *left = (const uint8 *) bytes + ((const ObjectPair *) a)->start;
	const uint8 *right = (const uint8 *) bytes + ((const ObjectPair *) b)->start;
	uint32		length = CuckooLoad32(left);

	if (length != CuckooLoad32(right))
		return length < CuckooLoad32(right) ? -1 : 1;
	return memcmp(left + 4, right + 4, length);
}

/*
 * Sort the pairs of an object whose keys had to be converted to UTF-8.  They
 * are stored in the order of the lengths and bytes of keys in the database
 * encoding.  In UTF-8 the order can be another one.
 */
static void
SortPairs(StringInfo buf, ObjectPair *pairs, uint32 count)
{
	int			start = pairs[0].start;
	char	   *copy = palloc((Size) (buf->len - start) + 1);

	memcpy(copy, buf->data + start, (size_t) (buf->len - start));
	for (uint32 i = 0; i < count; i++)
	{
		pairs[i].length = pairs[i + 1].start - pairs[i].start;
		pairs[i].start -= start;
	}
	qsort_arg(pairs, count, sizeof(ObjectPair), ComparePairs, copy);
	buf->len = start;
	for (uint32 i = 0; i < count; i++)
		CuckooAppendBytes(buf, copy + pairs[i].start, (size_t) pairs[i].length);
	pfree(copy);
}

/*
 * Append an array or object of a jsonb that the iterator has just entered.  A jsonb
 * that is a scalar is stored as an array of one element that is marked as a scalar.
 */
static void
AppendJsonb(StringInfo buf, JsonbIterator **iterator, const JsonbValue *container)
{
	ObjectPair *pairs = NULL;
	uint32		count = 0;
	JsonbIteratorToken token;
	JsonbValue	child;

	check_stack_depth();
	if (container->type == jbvObject)
	{
		CuckooAppendNumber(buf, JSONB_TAG_OBJECT, 1);
		CuckooAppendNumber(buf, (uint32) container->val.object.nPairs, 4);
		if (CuckooConvertsText())
			pairs = palloc_extended(((Size) container->val.object.nPairs + 1) * sizeof(ObjectPair),
									MCXT_ALLOC_HUGE);
	}
	else if (!container->val.array.rawScalar)
	{
		CuckooAppendNumber(buf, JSONB_TAG_ARRAY, 1);
		CuckooAppendNumber(buf, (uint32) container->val.array.nElems, 4);
	}

	while ((token = JsonbIteratorNext(iterator, &child, false)) != WJB_END_ARRAY &&
		   token != WJB_END_OBJECT)
	{
		CHECK_FOR_INTERRUPTS();
		if (token == WJB_KEY)
		{
			if (pairs != NULL)
				pairs[count++].start = buf->len;
			AppendJsonbContent(buf, &child);
			continue;
		}
		if (child.type == jbvArray || child.type == jbvObject)
			AppendJsonb(buf, iterator, &child);
		else
			AppendJsonbScalar(buf, &child);
	}
	if (pairs != NULL)
	{
		pairs[count].start = buf->len;
		SortPairs(buf, pairs, count);
		pfree(pairs);
	}
}

void
CuckooAppendJsonb(StringInfo buf, struct varlena *jsonb)
{
	JsonbIterator *iterator = JsonbIteratorInit(&((Jsonb *) jsonb)->root);
	JsonbValue	root;

	(void) JsonbIteratorNext(&iterator, &root, false);
	AppendJsonb(buf, &iterator, &root);
}
