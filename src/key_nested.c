/*-------------------------------------------------------------------------
 *
 * key_nested.c
 *	  Canonical bytes of the nested key types: array, composite, range,
 *	  multirange, jsonb.
 *
 * The parts of a value are written into a buffer one after the other, and the
 * buffer is hashed as a whole.  The key keeps the buffer for the next value.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat.h"

#include "access/htup_details.h"
#include "access/tupdesc.h"
#include "access/tupmacs.h"
#include "catalog/pg_am.h"
#include "catalog/pg_range.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/multirangetypes.h"
#include "utils/numeric.h"
#include "utils/rangetypes.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "core/hash.h"
#include "key_bytes.h"

/* Written instead of a length if a nested value is NULL. */
#define NULL_LENGTH		UINT32_C(0xFFFFFFFF)

/*
 * A buffer that has grown past this is not kept for the next value, so that one
 * huge array does not occupy memory for the rest of a long-running aggregate.
 */
#define BUFFER_KEEP_BYTES	(256 * 1024)

/*
 * Row types that a composite key remembers.  Anonymous records of several types
 * can alternate at one call site (CASE WHEN ... THEN ROW(1) ELSE ROW('a'::text)
 * END).  More than a few are not worth their memory.
 */
#define ROW_TYPES		4

/* Bits of the flags byte of a range, part of the format, not PostgreSQL's. */
#define RANGE_BYTE_EMPTY			0x01
#define RANGE_BYTE_LOWER_INFINITE	0x02
#define RANGE_BYTE_LOWER_INCLUSIVE	0x04
#define RANGE_BYTE_UPPER_INFINITE	0x08
#define RANGE_BYTE_UPPER_INCLUSIVE	0x10

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

/* The detail of an array. */
typedef struct ArrayDetail
{
	ArrayMetaState meta;		/* how the elements are stored */
	CuckooKey	element;
} ArrayDetail;

/* The detail of a range or multirange. */
typedef struct RangeDetail
{
	TypeCacheEntry *range;		/* type cache entries are never freed */
	CuckooKey	bound;
} RangeDetail;

/* One row type, with what hashing its attributes needs. */
typedef struct RowType
{
	uint64		identifier;		/* of its tuple descriptor; 0: element unused */
	TypeCacheEntry *type;		/* NULL for a record; never freed */
	MemoryContext ctx;			/* memory of everything below */
	TupleDesc	desc;
	uint32		attributes;		/* not counting dropped ones */
	bool		open;			/* whether the key of an attribute is */
	uint32		signature;		/* of the row; 0 if open */
	CuckooKey  *keys;			/* these three also have dropped attributes */
	Datum	   *values;
	bool	   *nulls;
} RowType;

/* The detail of a composite. */
typedef struct CompositeDetail
{
	RowType		rows[ROW_TYPES];
	int			next;			/* element to reuse next */
	RowType    *last;			/* element found last; NULL: none yet */
} CompositeDetail;

/*
 * Reads the children of a jsonb array or object one after the other, from the
 * form that jsonb.h describes.  PostgreSQL's own iterator would allocate memory
 * for each container.
 */
typedef struct JsonbChildren
{
	const JsonbContainer *container;
	const char *base;			/* start of the children's bytes */
	uint32		at;				/* number of the next child */
	uint32		offset;			/* of its bytes, from base */
} JsonbChildren;

/* A child of a jsonb array or object. */
typedef struct JsonbChild
{
	JEntry		entry;			/* its type */
	const char *data;
	uint32		length;			/* including padding at its start */
	uint32		offset;
} JsonbChild;

/* A pair of a jsonb object, to be sorted. */
typedef struct JsonbPairBytes
{
	const char *key;			/* in UTF-8 */
	size_t		length;
	JsonbChild	value;
} JsonbPairBytes;

static void AppendValue(StringInfo buf, CuckooKey *key, Datum value);
static void SetSignature(CuckooKey *key);
static void DescribeRow(StringInfo buf, const RowType *row);
static void AppendJsonb(StringInfo buf, const JsonbContainer *container);

/*
 * Look up how the elements of an array are stored and hashed.
 */
void
CuckooInitArray(CuckooKey *key, Oid element_type, Oid collation)
{
	ArrayDetail *detail = MemoryContextAllocZero(key->ctx, sizeof(ArrayDetail));

	CuckooKeyInit(&detail->element, element_type, collation, key->ctx);
	detail->meta.element_type = element_type;
	get_typlenbyvalalign(element_type, &detail->meta.typlen,
						 &detail->meta.typbyval, &detail->meta.typalign);
	key->key_type = CUCKOO_KEY_ARRAY;
	key->open = detail->element.open;
	key->detail = detail;
	SetSignature(key);
}

/*
 * Look up how the bounds of a range type are compared, stored and hashed.  If
 * the key is a multirange, key->type is not the range type.
 */
void
CuckooInitRange(CuckooKey *key, CuckooKeyType key_type, Oid range_type)
{
	RangeDetail *detail = MemoryContextAllocZero(key->ctx, sizeof(RangeDetail));
	HeapTuple	tuple;
	Form_pg_range range;
	Oid			subtype;
	Oid			operator_class;
	Oid			collation;

	tuple = SearchSysCache1(RANGETYPE, ObjectIdGetDatum(range_type));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for range type %u", range_type);
	range = (Form_pg_range) GETSTRUCT(tuple);
	subtype = range->rngsubtype;
	operator_class = range->rngsubopc;
	collation = range->rngcollation;
	ReleaseSysCache(tuple);

	/*
	 * The range's operator class defines which bounds are equal.  What is
	 * hashed agrees only with the default operator class of a type.
	 */
	if (operator_class != GetDefaultOpClass(subtype, BTREE_AM_OID))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("type %s is not supported as a key",
						format_type_be(key->type)),
				 errdetail("Its bounds are not compared by the default operator class of type %s.",
						   format_type_be(subtype)),
				 errhint("Cast the key to a supported type, for example to text.")));

	CuckooKeyInit(&detail->bound, subtype, collation, key->ctx);
	detail->range = lookup_type_cache(range_type, TYPECACHE_RANGE_INFO);
	key->key_type = key_type;
	key->detail = detail;
	SetSignature(key);
}

/*
 * Append to the buffer of a nested value.  A value can have many small parts.
 * To append them with PostgreSQL's own functions would take longer than
 * hashing.
 */
static inline uint8 *
AppendRoom(StringInfo buf, size_t length)
{
	uint8	   *room;

	if (unlikely((size_t) (buf->maxlen - buf->len) <= length))
		enlargeStringInfo(buf, (int) length);
	room = (uint8 *) buf->data + buf->len;
	buf->len += (int) length;
	return room;
}

static inline void
AppendByte(StringInfo buf, uint8 number)
{
	*AppendRoom(buf, 1) = number;
}

static inline void
AppendUint32(StringInfo buf, uint32 number)
{
	CuckooStore32(AppendRoom(buf, 4), number);
}

/* Append bytes, preceded by their length. */
static inline void
AppendCounted(StringInfo buf, const void *data, size_t length)
{
	uint8	   *room = AppendRoom(buf, 4 + length);

	CuckooStore32(room, (uint32) length);
	memcpy(room + 4, data, length);
}

/*
 * A nested value must have a long header to be read.  It is detoasted or, if
 * its header is short, copied to the stack, which costs almost nothing.
 */
typedef union LongCopy
{
	char		bytes[VARHDRSZ + VARATT_SHORT_MAX];
	int64		aligned;
	double		aligned_too;
} LongCopy;

static inline void *
GetLong(Datum value, LongCopy *copy)
{
	struct varlena *stored = (struct varlena *) DatumGetPointer(value);

	if (!VARATT_IS_EXTERNAL(stored) && VARATT_IS_SHORT(stored))
	{
		size_t		length = VARSIZE_SHORT(stored) - VARHDRSZ_SHORT;

		SET_VARSIZE(copy->bytes, VARHDRSZ + length);
		memcpy(VARDATA(copy->bytes), VARDATA_SHORT(stored), length);
		return copy->bytes;
	}
	return PG_DETOAST_DATUM(value);
}

static inline void
FreeLong(void *pointer, Datum value, LongCopy *copy)
{
	if (pointer != copy->bytes && pointer != DatumGetPointer(value))
		pfree(pointer);
}

/*
 * Append a value that is part of another: its length, then its bytes.
 */
static void
AppendNested(StringInfo buf, CuckooKey *key, Datum value, bool isnull)
{
	KeyBytes	bytes;

	if (isnull)
		AppendUint32(buf, NULL_LENGTH);
	else if (key->key_type == CUCKOO_KEY_INTEGER)
	{
		uint8	   *room = AppendRoom(buf, 12);

		CuckooStore32(room, 8);
		CuckooStore64(room + 4, (uint64) CuckooIntegerValue(key->type, value));
	}
	else if (CuckooScalarBytes(&bytes, key, value))
	{
		AppendCounted(buf, bytes.data, bytes.length);
		FreeBytes(&bytes);
	}
	else
	{
		int			start = buf->len;

		AppendUint32(buf, 0);
		AppendValue(buf, key, value);
		CuckooStore32((uint8 *) buf->data + start, (uint32) (buf->len - start - 4));
	}
}

/*
 * Array: key type of the elements, number of dimensions, size and lower bound
 * of each, then the elements.  Lower bounds matter, as they do in array_eq.
 */
static void
AppendArray(StringInfo buf, CuckooKey *key, Datum value)
{
	ArrayDetail *detail = key->detail;
	LongCopy	copy;
	ArrayType  *array = GetLong(value, &copy);
	const uint8 *nulls;
	char	   *element;
	int			count;

	/* Should not happen, but memory would be read as values of another type. */
	if (ARR_ELEMTYPE(array) != detail->meta.element_type)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("array has elements of type %s, not %s",
						format_type_be(ARR_ELEMTYPE(array)),
						format_type_be(detail->meta.element_type))));

	AppendByte(buf, (uint8) detail->element.key_type);
	AppendUint32(buf, (uint32) ARR_NDIM(array));
	for (int i = 0; i < ARR_NDIM(array); i++)
	{
		AppendUint32(buf, (uint32) ARR_DIMS(array)[i]);
		AppendUint32(buf, (uint32) ARR_LBOUND(array)[i]);
	}

	count = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	nulls = ARR_NULLBITMAP(array);
	element = ARR_DATA_PTR(array);
	for (int i = 0; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (nulls != NULL && att_isnull(i, nulls))
		{
			AppendUint32(buf, NULL_LENGTH);
			continue;
		}
		AppendNested(buf, &detail->element,
					 fetch_att(element, detail->meta.typbyval, detail->meta.typlen), false);
		element = att_addlength_pointer(element, detail->meta.typlen, element);
		element = (char *) att_align_nominal(element, detail->meta.typalign);
	}
	FreeLong(array, value, &copy);
}

/*
 * The bounds of a range: flags, then the bounds that are not infinite.
 */
static void
AppendBounds(StringInfo buf, RangeDetail *detail, const RangeBound *lower,
			 const RangeBound *upper, bool empty)
{
	uint8		flags = 0;

	if (empty)
	{
		AppendByte(buf, RANGE_BYTE_EMPTY);
		return;
	}
	if (lower->infinite)
		flags |= RANGE_BYTE_LOWER_INFINITE;
	else if (lower->inclusive)
		flags |= RANGE_BYTE_LOWER_INCLUSIVE;
	if (upper->infinite)
		flags |= RANGE_BYTE_UPPER_INFINITE;
	else if (upper->inclusive)
		flags |= RANGE_BYTE_UPPER_INCLUSIVE;
	AppendByte(buf, flags);
	if (!lower->infinite)
		AppendNested(buf, &detail->bound, lower->val, false);
	if (!upper->infinite)
		AppendNested(buf, &detail->bound, upper->val, false);
}

/*
 * Range: key type of the bounds, then flags and bounds.
 */
static void
AppendRange(StringInfo buf, CuckooKey *key, Datum value)
{
	RangeDetail *detail = key->detail;
	RangeType  *range = DatumGetRangeTypeP(value);
	RangeBound	lower;
	RangeBound	upper;
	bool		empty;

	if (RangeTypeGetOid(range) != detail->range->type_id)
		elog(ERROR, "range types do not match");
	range_deserialize(detail->range, range, &lower, &upper, &empty);
	AppendByte(buf, (uint8) detail->bound.key_type);
	AppendBounds(buf, detail, &lower, &upper, empty);
	if ((Pointer) range != DatumGetPointer(value))
		pfree(range);
}

/*
 * Multirange: key type of the bounds, number of ranges, then flags and bounds
 * of each range.  PostgreSQL keeps the ranges sorted and merged.
 */
static void
AppendMultirange(StringInfo buf, CuckooKey *key, Datum value)
{
	RangeDetail *detail = key->detail;
	MultirangeType *multirange = DatumGetMultirangeTypeP(value);
	uint32		i;

	if (MultirangeTypeGetOid(multirange) != key->type)
		elog(ERROR, "multirange types do not match");
	AppendByte(buf, (uint8) detail->bound.key_type);
	AppendUint32(buf, multirange->rangeCount);
	for (i = 0; i < multirange->rangeCount; i++)
	{
		RangeBound	lower;
		RangeBound	upper;

		CHECK_FOR_INTERRUPTS();
		multirange_get_bounds(detail->range, multirange, i, &lower, &upper);
		AppendBounds(buf, detail, &lower, &upper, false);
	}
	if ((Pointer) multirange != DatumGetPointer(value))
		pfree(multirange);
}

/*
 * Find the row type of a tuple among those that the key remembers, or add it.
 *
 * Only the tuple tells its row type: values of type record can be of any row
 * type, and a named row type may have been altered since the last value.  The
 * identifier of a tuple descriptor changes whenever the descriptor does.
 */
static RowType *
FindRowType(CuckooKey *key, Oid type, int32 typmod)
{
	CompositeDetail *detail = key->detail;
	uint64		identifier;
	RowType    *row;
	TupleDesc	desc;
	MemoryContext old;
	int			i;

	/* If it is the same named row type as last time, it is not looked up. */
	if (detail != NULL && type != RECORDOID)
	{
		row = detail->last;
		if (row != NULL && row->identifier != 0 && row->type != NULL &&
			row->type->type_id == type && row->type->tupDesc_identifier == row->identifier)
			return row;
	}

	identifier = assign_record_type_identifier(type, typmod);
	if (detail == NULL)
		detail = key->detail = MemoryContextAllocZero(key->ctx,
													  sizeof(CompositeDetail));
	for (i = 0; i < ROW_TYPES; i++)
		if (detail->rows[i].identifier == identifier)
			return detail->last = &detail->rows[i];

	row = &detail->rows[detail->next];
	detail->next = (detail->next + 1) % ROW_TYPES;

	/* Unused until it is complete, so that an error leaves no half of it. */
	row->identifier = 0;
	if (row->ctx == NULL)
		row->ctx = AllocSetContextCreate(key->ctx, "cuckoo row type",
										 ALLOCSET_SMALL_SIZES);
	else
		MemoryContextReset(row->ctx);

	old = MemoryContextSwitchTo(row->ctx);

	/*
	 * Copy its constraints, too.  They have the default of a column that was
	 * added later.  A trigger can see rows that were stored before that.
	 */
	desc = lookup_rowtype_tupdesc(type, typmod);
	row->desc = CreateTupleDescCopyConstr(desc);
	ReleaseTupleDesc(desc);

	row->attributes = 0;
	row->open = false;
	row->signature = 0;
	row->keys = palloc0((size_t) row->desc->natts * sizeof(CuckooKey));
	row->values = palloc0((size_t) row->desc->natts * sizeof(Datum));
	row->nulls = palloc0((size_t) row->desc->natts * sizeof(bool));
	for (i = 0; i < row->desc->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(row->desc, i);

		if (attribute->attisdropped)
			continue;
		CuckooKeyInit(&row->keys[i], attribute->atttypid,
					  attribute->attcollation, row->ctx);
		row->attributes++;
		row->open |= row->keys[i].open;
	}
	if (!row->open)
	{
		StringInfoData description;

		initStringInfo(&description);
		DescribeRow(&description, row);
		row->signature = CuckooSignature(description.data, (size_t) description.len);
	}
	MemoryContextSwitchTo(old);

	/* The lookup of the descriptor may have assigned the identifier. */
	row->identifier = assign_record_type_identifier(type, typmod);
	row->type = type == RECORDOID ? NULL : lookup_type_cache(type, TYPECACHE_TUPDESC);
	return detail->last = row;
}

/*
 * Composite: number of attributes, then key type and value of each.  As in
 * record_eq, names and dropped attributes do not matter, and NULLs are equal.
 */
static void
AppendComposite(StringInfo buf, CuckooKey *key, Datum value)
{
	HeapTupleHeader header = DatumGetHeapTupleHeader(value);
	RowType    *row = FindRowType(key, HeapTupleHeaderGetTypeId(header),
								  HeapTupleHeaderGetTypMod(header));
	HeapTupleData tuple;
	int			i;

	tuple.t_len = HeapTupleHeaderGetDatumLength(header);
	ItemPointerSetInvalid(&tuple.t_self);
	tuple.t_tableOid = InvalidOid;
	tuple.t_data = header;
	heap_deform_tuple(&tuple, row->desc, row->values, row->nulls);

	key->signature = row->signature;
	AppendUint32(buf, row->attributes);
	for (i = 0; i < row->desc->natts; i++)
	{
		if (TupleDescAttr(row->desc, i)->attisdropped)
			continue;
		AppendByte(buf, (uint8) row->keys[i].key_type);
		AppendNested(buf, &row->keys[i], row->values[i], row->nulls[i]);
	}
	if ((Pointer) header != DatumGetPointer(value))
		pfree(header);
}

/*
 * Append a string of a jsonb: its length, then its bytes in UTF-8.
 */
static void
AppendJsonbString(StringInfo buf, const char *string, size_t length)
{
	const char *converted = string;

	if (NeedsConversion())
		converted = CuckooConvertText(string, length, &length);
	AppendCounted(buf, converted, length);
	if (converted != string)
		pfree(unconstify(char *, converted));
}

/* Start to read the children of a container, which has total of them. */
static inline void
OpenChildren(JsonbChildren *children, const JsonbContainer *container, uint32 total,
			 uint32 first)
{
	children->container = container;
	children->base = (const char *) &container->children[total];
	children->at = first;
	children->offset = first == 0 ? 0 : getJsonbOffset(container, (int) first);
}

static inline JsonbChild
NextChild(JsonbChildren *children)
{
	JsonbChild	child;
	uint32		end = children->offset;

	child.entry = children->container->children[children->at++];
	JBE_ADVANCE_OFFSET(end, child.entry);
	child.data = children->base + children->offset;
	child.offset = children->offset;
	child.length = end - children->offset;
	children->offset = end;
	return child;
}

/*
 * Append a value inside a jsonb: a tag, then the content that the tag requires.
 */
static void
AppendJsonbValue(StringInfo buf, const JsonbChild *child)
{
	/* numbers, arrays and objects are aligned within their container */
	const char *aligned = child->data + (INTALIGN(child->offset) - child->offset);

	if (JBE_ISSTRING(child->entry))
	{
		AppendByte(buf, JSONB_TAG_STRING);
		AppendJsonbString(buf, child->data, child->length);
	}
	else if (JBE_ISNUMERIC(child->entry))
	{
		KeyBytes	bytes;

		bytes.copy = NULL;
		AppendByte(buf, JSONB_TAG_NUMBER);
		CuckooNumericBytes(&bytes, PointerGetDatum(aligned));
		AppendCounted(buf, bytes.data, bytes.length);
		FreeBytes(&bytes);
	}
	else if (JBE_ISBOOL_TRUE(child->entry))
		AppendByte(buf, JSONB_TAG_TRUE);
	else if (JBE_ISBOOL_FALSE(child->entry))
		AppendByte(buf, JSONB_TAG_FALSE);
	else if (JBE_ISNULL(child->entry))
		AppendByte(buf, JSONB_TAG_NULL);
	else if (JBE_ISCONTAINER(child->entry))
		AppendJsonb(buf, (const JsonbContainer *) aligned);
	else
		elog(ERROR, "unexpected jsonb value of type %08x", child->entry & JENTRY_TYPEMASK);
}

/*
 * Order the pairs of an object as PostgreSQL does: by the length of the key,
 * then by its bytes.
 */
static int
ComparePairs(const void *a, const void *b)
{
	const JsonbPairBytes *left = a;
	const JsonbPairBytes *right = b;

	if (left->length != right->length)
		return left->length < right->length ? -1 : 1;
	return memcmp(left->key, right->key, left->length);
}

/*
 * Append the pairs of an object whose keys must be converted to UTF-8.  They
 * are stored in the order of the lengths and bytes of keys in the database
 * encoding.  In UTF-8 the order can be another one.
 */
static void
AppendConvertedPairs(StringInfo buf, JsonbChildren *keys, JsonbChildren *values,
					 uint32 count)
{
	JsonbPairBytes *pairs;
	uint32		i;

	pairs = MemoryContextAllocHuge(CurrentMemoryContext,
								   ((Size) count + 1) * sizeof(JsonbPairBytes));
	for (i = 0; i < count; i++)
	{
		JsonbChild	key = NextChild(keys);

		pairs[i].value = NextChild(values);
		pairs[i].key = CuckooConvertText(key.data, key.length, &pairs[i].length);
		/* Copy keys that were not converted, so that all can be freed. */
		if (pairs[i].key == key.data)
			pairs[i].key = pnstrdup(key.data, pairs[i].length);
	}
	qsort(pairs, (size_t) count, sizeof(JsonbPairBytes), ComparePairs);
	for (i = 0; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		AppendCounted(buf, pairs[i].key, pairs[i].length);
		AppendJsonbValue(buf, &pairs[i].value);
		pfree(unconstify(char *, pairs[i].key));
	}
	pfree(pairs);
}

/*
 * Append an array or object of a jsonb, or the scalar that a jsonb consists
 * of.  Such a scalar is stored as an array of one element that is marked as a
 * scalar.
 */
static void
AppendJsonb(StringInfo buf, const JsonbContainer *container)
{
	uint32		count = JsonContainerSize(container);
	bool		object = JsonContainerIsObject(container);
	JsonbChildren keys;
	JsonbChildren values;

	check_stack_depth();

	/* An object has all keys first, then all values. */
	OpenChildren(&keys, container, object ? 2 * count : count, 0);
	values = keys;
	if (object)
	{
		AppendByte(buf, JSONB_TAG_OBJECT);
		AppendUint32(buf, count);
		OpenChildren(&values, container, 2 * count, count);
		if (NeedsConversion())
		{
			AppendConvertedPairs(buf, &keys, &values, count);
			return;
		}
	}
	else if (!JsonContainerIsScalar(container))
	{
		AppendByte(buf, JSONB_TAG_ARRAY);
		AppendUint32(buf, count);
	}

	for (uint32 i = 0; i < count; i++)
	{
		JsonbChild	child;

		CHECK_FOR_INTERRUPTS();
		if (object)
		{
			child = NextChild(&keys);
			AppendCounted(buf, child.data, child.length);
		}
		child = NextChild(&values);
		AppendJsonbValue(buf, &child);
	}
}

/*
 * Append the canonical bytes of a value of one of the nested key types.
 */
static void
AppendValue(StringInfo buf, CuckooKey *key, Datum value)
{
	check_stack_depth();

	switch (key->key_type)
	{
		case CUCKOO_KEY_ARRAY:
			AppendArray(buf, key, value);
			break;
		case CUCKOO_KEY_COMPOSITE:
			AppendComposite(buf, key, value);
			break;
		case CUCKOO_KEY_RANGE:
			AppendRange(buf, key, value);
			break;
		case CUCKOO_KEY_MULTIRANGE:
			AppendMultirange(buf, key, value);
			break;
		case CUCKOO_KEY_JSONB:
			{
				LongCopy	copy;
				Jsonb	   *jsonb = GetLong(value, &copy);

				AppendJsonb(buf, &jsonb->root);
				FreeLong(jsonb, value, &copy);
				break;
			}
		default:
			elog(ERROR, "unexpected key type %d", (int) key->key_type);
	}
}

/*
 * Signatures
 *
 * A signature is the hash of a description.  The description of a key type
 * begins with the number of the key type in one byte.  For an array, range or
 * multirange, the description of the elements or bounds follows.  For a
 * composite, the number of attributes in two bytes and the description of each
 * attribute follow.  The attributes of an anonymous record are known only from
 * its value; without one, their number is 65535 and no description follows.
 */

#define UNKNOWN_ATTRIBUTES	0xFFFF

static void
AppendUint16(StringInfo buf, uint32 number)
{
	AppendByte(buf, (uint8) number);
	AppendByte(buf, (uint8) (number >> 8));
}

static void
DescribeKey(StringInfo buf, CuckooKey *key)
{
	check_stack_depth();
	AppendByte(buf, (uint8) key->key_type);
	switch (key->key_type)
	{
		case CUCKOO_KEY_ARRAY:
			DescribeKey(buf, &((ArrayDetail *) key->detail)->element);
			break;
		case CUCKOO_KEY_RANGE:
		case CUCKOO_KEY_MULTIRANGE:
			DescribeKey(buf, &((RangeDetail *) key->detail)->bound);
			break;
		case CUCKOO_KEY_COMPOSITE:
			if (key->open)
				AppendUint16(buf, UNKNOWN_ATTRIBUTES);
			else
			{
				/* DescribeRow appends the byte of the key type itself. */
				buf->len--;
				DescribeRow(buf, FindRowType(key, key->type, -1));
			}
			break;
		default:
			break;
	}
}

static void
DescribeRow(StringInfo buf, const RowType *row)
{
	AppendByte(buf, CUCKOO_KEY_COMPOSITE);
	AppendUint16(buf, row->attributes);
	for (int i = 0; i < row->desc->natts; i++)
	{
		if (!TupleDescAttr(row->desc, i)->attisdropped)
			DescribeKey(buf, &row->keys[i]);
	}
}

/* Describe a key type with anonymous records inside, from a value. */
static void
DescribeOpen(StringInfo buf, CuckooKey *key, Datum value)
{
	check_stack_depth();
	if (key->key_type == CUCKOO_KEY_ARRAY)
	{
		ArrayDetail *detail = key->detail;
		ArrayIterator iterator = array_create_iterator(DatumGetArrayTypeP(value), 0,
													   &detail->meta);
		Datum		element;
		bool		is_null = true;

		/*
		 * The first element that is not NULL decides.  Records of several row
		 * types in one array cannot be compared anyway.
		 */
		AppendByte(buf, CUCKOO_KEY_ARRAY);
		while (is_null && array_iterate(iterator, &element, &is_null))
			;
		if (is_null)
			DescribeKey(buf, &detail->element);
		else
			DescribeOpen(buf, &detail->element, element);
		array_free_iterator(iterator);
	}
	else
	{
		HeapTupleHeader header = DatumGetHeapTupleHeader(value);
		RowType    *row = FindRowType(key, HeapTupleHeaderGetTypeId(header),
									  HeapTupleHeaderGetTypMod(header));
		HeapTupleData tuple;

		tuple.t_len = HeapTupleHeaderGetDatumLength(header);
		ItemPointerSetInvalid(&tuple.t_self);
		tuple.t_tableOid = InvalidOid;
		tuple.t_data = header;
		AppendByte(buf, CUCKOO_KEY_COMPOSITE);
		AppendUint16(buf, row->attributes);
		for (int i = 0; i < row->desc->natts; i++)
		{
			Datum		attribute;
			bool		is_null;

			if (TupleDescAttr(row->desc, i)->attisdropped)
				continue;
			attribute = heap_getattr(&tuple, i + 1, row->desc, &is_null);
			if (row->keys[i].open && !is_null)
				DescribeOpen(buf, &row->keys[i], attribute);
			else
				DescribeKey(buf, &row->keys[i]);
		}
	}
}

/*
 * Set the signature of an array, range or multirange, if the type determines
 * it.
 */
static void
SetSignature(CuckooKey *key)
{
	StringInfoData description;

	if (key->open)
		return;
	initStringInfo(&description);
	DescribeKey(&description, key);
	key->signature = CuckooSignature(description.data, (size_t) description.len);
	pfree(description.data);
}

/*
 * The hash of a value of one of the nested key types.
 */
uint64
CuckooHashNested(CuckooKey *key, Datum value, uint64 seed)
{
	StringInfo	buf = key->buffer;
	uint64		hash;

	if (buf == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(key->ctx);

		buf = makeStringInfo();
		MemoryContextSwitchTo(old);
		key->buffer = buf;
	}
	resetStringInfo(buf);
	if (key->open)
		key->signature = 0;
	AppendValue(buf, key, value);
	hash = CuckooHash(buf->data, (size_t) buf->len, seed, key->key_type);
	if (key->open && key->signature == 0)
	{
		resetStringInfo(buf);
		DescribeOpen(buf, key, value);
		key->signature = CuckooSignature(buf->data, (size_t) buf->len);
	}
	if (buf->maxlen > BUFFER_KEEP_BYTES)
	{
		key->buffer = NULL;
		pfree(buf->data);
		pfree(buf);
	}
	return hash;
}

