/*-------------------------------------------------------------------------
 *
 * key.c
 *	  The hash of a key, and the canonical bytes of the nested key types: array,
 *	  composite, range, multirange.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/htup_details.h"
#include "access/tupmacs.h"
#include "catalog/pg_collation.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/multirangetypes.h"
#include "utils/rangetypes.h"
#include "utils/typcache.h"

#include "key.h"

/* Written instead of a length if a nested value is NULL. */
#define NULL_LENGTH		UINT32_C(0xFFFFFFFF)

/* Described instead of the attributes of an anonymous record without a value. */
#define UNKNOWN_ATTRIBUTES	0xFFFF

/*
 * A buffer that has grown past this is not kept for the next value, so that one
 * huge array does not occupy memory for the rest of a long-running aggregate.
 */
#define BUFFER_KEEP_BYTES	(256 * 1024)

/* Bits of the flags byte of a range, part of the format, not PostgreSQL's. */
#define RANGE_BYTE_EMPTY			0x01
#define RANGE_BYTE_LOWER_INFINITE	0x02
#define RANGE_BYTE_LOWER_INCLUSIVE	0x04
#define RANGE_BYTE_UPPER_INFINITE	0x08
#define RANGE_BYTE_UPPER_INCLUSIVE	0x10

/* A row type, with what hashing its attributes needs. */
typedef struct RowType
{
	uint64		identifier;		/* of its tuple descriptor; 0: none yet */
	TypeCacheEntry *type;		/* NULL for a record; never freed */
	MemoryContext ctx;			/* memory of everything below */
	TupleDesc	desc;
	uint32		attributes;		/* not counting dropped ones */
	bool		has_rows;		/* whether the key of an attribute has */
	StringInfoData description; /* empty if has_rows */
	CuckooHasher *hashers;		/* these three also have dropped attributes */
	Datum	   *values;
	bool	   *nulls;
} RowType;

/* What a nested key type needs to be hashed. */
typedef struct CuckooNested
{
	StringInfoData buffer;		/* of the value that is being hashed */
	StringInfoData description;
	CuckooHasher part;			/* the elements of an array, bounds of a range */
	TypeCacheEntry *type;		/* of these elements, or the range; never freed */
	RowType		row;			/* of the composite hashed last */
} CuckooNested;

static void AppendValue(StringInfo buf, CuckooHasher *hasher, Datum value, StringInfo description);
static bool DescribeRow(StringInfo buf, RowType *row);

void
CuckooReportKeyType(const CuckooHeader *filter, const CuckooHasher *hasher)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("key type does not match cuckoofilter"),
			 errdetail("The key type of the filter is %s, that of the key is %s.",
					   CuckooKeyKindDescribe(filter->kind),
					   CuckooKeyKindDescribe(hasher->kind)),
			 filter->kind.type == CUCKOO_KEY_COMPOSITE && hasher->kind.type == CUCKOO_KEY_COMPOSITE ?
			 errhint("Rows must have columns of the same types in the same order.") :
			 hasher->kind.type == CUCKOO_KEY_ARRAY && filter->kind.type != CUCKOO_KEY_ARRAY ?
			 errhint("To look up the elements of an array, write f @> ANY (array) or f @> ALL (array).") :
			/* The usual cause is an untyped literal or parameter, which is text. */
			 errhint("Cast the key to the type that the filter was built from.")));
}

/*
 * A detail and a hint for a type that is refused.  As text, equal values of
 * json or citext would be different keys.
 */
static int
ExplainRefusal(Oid type, Oid refused_bound)
{
	char		category;
	bool		preferred;

	if (CuckooIsFilterType(type))
	{
		errdetail("Filters have no difference, and cannot be tested for a subset.");
		return errhint("To combine filters, use cuckoo_union, cuckoo_union_all or cuckoo_intersection.");
	}
	if (OidIsValid(refused_bound))
		errdetail("Its bounds are not compared by the default operator class of type %s.",
				  format_type_be(refused_bound));
	if (type == JSONOID)
		return errhint("Cast the key to jsonb.");
	get_type_category_preferred(type, &category, &preferred);
	if (category == TYPCATEGORY_STRING)
		return errhint("Add and look up text that is the same for all equal keys, for example lower(key).");
	return errhint("Cast the key to a supported type, for example to text.");
}

/* Refuse a type that cannot be a key, perhaps because of a range's bounds. */
static CUCKOO_NORETURN void
RefuseType(Oid type, Oid refused_bound)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("type %s is not supported as a key", format_type_be(type)),
			 ExplainRefusal(type, refused_bound)));
}

/*
 * Accept a text type only under a collation whose equality is that of bytes.
 *
 * Under a nondeterministic collation, equal strings can have different bytes.
 * PostgreSQL hashes their sort keys instead, but these change with the version
 * of the collation library.
 */
static void
CheckCollation(Oid type, Oid collation)
{
	if (collation == DEFAULT_COLLATION_OID || collation == C_COLLATION_OID || type == UNKNOWNOID)
		return;
	if (!OidIsValid(collation))
		ereport(ERROR,
				(errcode(ERRCODE_INDETERMINATE_COLLATION),
				 errmsg("could not determine which collation to use for string hashing"),
				 errhint("Use the COLLATE clause to set the collation explicitly.")));
	if (!get_collation_isdeterministic(collation))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("type %s with nondeterministic collation \"%s\" is not supported as a key",
						format_type_be(type), get_collation_name(collation)),
				 errhint("Add and look up text that is the same for all equal keys, for example lower(key) COLLATE \"C\".")));
}

static CuckooNested *
GetNested(CuckooHasher *hasher)
{
	if (hasher->nested == NULL)
		hasher->nested = MemoryContextAllocZero(hasher->ctx, sizeof(CuckooNested));
	return hasher->nested;
}

/* Says in an error in which column of a row it is. */
static void
DescribeColumn(void *attribute)
{
	errcontext("column \"%s\" of a composite key",
			   NameStr(((Form_pg_attribute) attribute)->attname));
}

/*
 * The row type of a tuple.
 *
 * Only the tuple tells its row type: values of type record can be of any row
 * type, and a named row type may have been altered since the last value.  The
 * identifier of a tuple descriptor changes whenever the descriptor does.
 */
static RowType *
FindRowType(CuckooHasher *hasher, Oid type, int32 typmod)
{
	RowType    *row = &GetNested(hasher)->row;
	TupleDesc	desc;
	uint64		identifier;
	MemoryContext old;

	/* If it is the same named row type as last time, it is not looked up. */
	if (row->type != NULL && row->type->type_id == type &&
		row->type->tupDesc_identifier == row->identifier)
		return row;
	if (row->identifier == assign_record_type_identifier(type, typmod))
		return row;

	/* There is none until it is complete, so that an error leaves no half. */
	row->identifier = 0;
	row->type = NULL;
	if (row->ctx == NULL)
		row->ctx = AllocSetContextCreate(hasher->ctx, "cuckoo row type", ALLOCSET_SMALL_SIZES);
	else
		MemoryContextReset(row->ctx);
	old = MemoryContextSwitchTo(row->ctx);

	/*
	 * Copy its constraints, too.  They have the default of a column that was
	 * added later.  A trigger can see rows that were stored before that.
	 */
	desc = lookup_rowtype_tupdesc(type, typmod);
	/* Any catalog access below may bring in an alteration by another session. */
	identifier = assign_record_type_identifier(type, typmod);
	row->desc = CreateTupleDescCopyConstr(desc);
	ReleaseTupleDesc(desc);

	row->attributes = 0;
	row->has_rows = false;
	row->hashers = palloc0((size_t) row->desc->natts * sizeof(CuckooHasher));
	row->values = palloc0((size_t) row->desc->natts * sizeof(Datum));
	row->nulls = palloc0((size_t) row->desc->natts * sizeof(bool));
	for (int i = 0; i < row->desc->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(row->desc, i);
		ErrorContextCallback context = {error_context_stack, DescribeColumn, attribute};

		if (attribute->attisdropped)
			continue;
		error_context_stack = &context;
		CuckooHasherInit(&row->hashers[i], attribute->atttypid, attribute->attcollation, row->ctx);
		error_context_stack = context.previous;
		row->attributes++;
		row->has_rows |= row->hashers[i].has_rows;
	}
	initStringInfo(&row->description);
	if (!row->has_rows)
		DescribeRow(&row->description, row);
	MemoryContextSwitchTo(old);

	row->identifier = identifier;
	if (type != RECORDOID)
		row->type = lookup_type_cache(type, TYPECACHE_TUPDESC);
	return row;
}

/*
 * Signatures
 *
 * A signature is the hash of a description (docs/format.md, "Signature").  The
 * two functions here describe a type, and return whether it has no anonymous
 * records inside.  If there are row types inside, AppendNested makes the
 * description of each value.
 */

static bool
DescribeKey(StringInfo buf, CuckooHasher *hasher)
{
	check_stack_depth();
	CuckooAppendNumber(buf, hasher->kind.type, 1);
	switch (hasher->kind.type)
	{
		case CUCKOO_KEY_ARRAY:
		case CUCKOO_KEY_RANGE:
		case CUCKOO_KEY_MULTIRANGE:
			return DescribeKey(buf, &hasher->nested->part);
		case CUCKOO_KEY_COMPOSITE:
			if (hasher->type != RECORDOID)
				return DescribeRow(buf, FindRowType(hasher, hasher->type, -1));
			CuckooAppendNumber(buf, UNKNOWN_ATTRIBUTES, 2);
			return false;
		default:
			return true;
	}
}

/* All of it but the key type */
static bool
DescribeRow(StringInfo buf, RowType *row)
{
	bool		known = true;

	if (row->description.len > 0)
		CuckooAppendBytes(buf, row->description.data, (size_t) row->description.len);
	else
	{
		CuckooAppendNumber(buf, row->attributes, 2);
		for (int i = 0; i < row->desc->natts; i++)
			if (!TupleDescAttr(row->desc, i)->attisdropped)
				known &= DescribeKey(buf, &row->hashers[i]);
	}
	return known;
}

/* Prepare to hash the elements of an array, or the bounds of a range type. */
static void
InitPart(CuckooHasher *hasher, CuckooKeyType key_type, TypeCacheEntry *type, Oid part_type,
		 Oid collation)
{
	CuckooNested *nested = GetNested(hasher);
	StringInfoData description;

	CuckooHasherInit(&nested->part, part_type, collation, hasher->ctx);
	nested->type = type;
	hasher->kind.type = key_type;
	hasher->has_rows = nested->part.has_rows;

	initStringInfo(&description);
	if (DescribeKey(&description, hasher))
		hasher->kind.signature = CuckooSignature(description.data, (size_t) description.len);
	pfree(description.data);
}

/*
 * Prepare to hash the bounds of a range type.  If the key is a multirange,
 * hasher->type is not the range type.
 */
static void
InitRange(CuckooHasher *hasher, CuckooKeyType key_type, Oid range_type)
{
	TypeCacheEntry *range = lookup_type_cache(range_type, TYPECACHE_RANGE_INFO);
	Oid			subtype = range->rngelemtype->type_id;

	/*
	 * The range's operator class defines which bounds are equal.  What is
	 * hashed agrees only with the default operator class of a type.
	 */
	if (range->rng_cmp_proc_finfo.fn_oid !=
		lookup_type_cache(subtype, TYPECACHE_CMP_PROC)->cmp_proc)
		RefuseType(hasher->type, subtype);
	InitPart(hasher, key_type, range, subtype, range->rng_collation);
}

bool
CuckooTypeCanBeAltered(Oid type, bool by_label)
{
	Oid			base = getBaseType(type);
	Oid			element = get_element_type(base);
	char		kind = get_typtype(base);

	check_stack_depth();
	if (OidIsValid(element))
		return CuckooTypeCanBeAltered(element, by_label);
	if (kind == TYPTYPE_RANGE)
		return CuckooTypeCanBeAltered(get_range_subtype(base), by_label);
	if (kind == TYPTYPE_MULTIRANGE)
		return CuckooTypeCanBeAltered(get_multirange_range(base), by_label);
	return kind == TYPTYPE_COMPOSITE || (kind == TYPTYPE_ENUM && by_label);
}

void
CuckooHasherInit(CuckooHasher *hasher, Oid type, Oid collation, MemoryContext ctx)
{
	Oid			element_type;

	if (!OidIsValid(type))
		ereport(ERROR,
				(errcode(ERRCODE_INDETERMINATE_DATATYPE),
				 errmsg("could not determine key type")));

	hasher->kind.type = CuckooBuiltinKeyType(type);
	hasher->kind.signature = 0;
	hasher->has_rows = hasher->kind.type == CUCKOO_KEY_COMPOSITE;
	hasher->type = type;
	hasher->ctx = ctx;
	hasher->nested = NULL;

	if (hasher->kind.type == CUCKOO_KEY_TEXT)
		CheckCollation(type, collation);
	if (hasher->kind.type != CUCKOO_KEY_NONE)
		return;

	/* Arrays of arrays are possible by way of domains. */
	check_stack_depth();

	element_type = get_element_type(type);
	if (OidIsValid(element_type))
	{
		InitPart(hasher, CUCKOO_KEY_ARRAY, lookup_type_cache(element_type, 0), element_type,
				 collation);
		return;
	}

	switch (get_typtype(type))
	{
		case TYPTYPE_DOMAIN:
			CuckooHasherInit(hasher, getBaseType(type), collation, ctx);
			break;
		case TYPTYPE_ENUM:
			hasher->kind.type = CUCKOO_KEY_ENUM;
			break;
		case TYPTYPE_COMPOSITE:
			hasher->kind.type = CUCKOO_KEY_COMPOSITE;
			hasher->has_rows = true;
			break;
		case TYPTYPE_RANGE:
			InitRange(hasher, CUCKOO_KEY_RANGE, type);
			break;
		case TYPTYPE_MULTIRANGE:
			InitRange(hasher, CUCKOO_KEY_MULTIRANGE, get_multirange_range(type));
			break;
		default:
			RefuseType(type, InvalidOid);
	}
}

/*
 * One walk through a value writes its canonical bytes and, where types inside are
 * known only from the value, the description that its signature is the hash of.
 * ROW(1, ROW('a')) is an example: an anonymous record is in a record.
 *
 *		bytes			2 attributes; integer, 8 bytes, 1; composite, 10 bytes,
 *						(1 attribute; text, 1 byte, 'a')
 *		description		composite of 2; integer; composite of 1; text
 *
 * Once the rest of a description is known from the type, DescribeKey appends it,
 * and further down it is NULL, which also says that none is wanted.
 */

/* Append a value that is part of another: its length, then its bytes. */
static void
AppendNested(StringInfo buf, CuckooHasher *hasher, Datum value, bool isnull,
			 StringInfo description)
{
	CuckooScalar bytes;

	if (description != NULL && (isnull || !hasher->has_rows))
		DescribeKey(description, hasher);

	if (isnull)
		CuckooAppendNumber(buf, NULL_LENGTH, 4);
	else if (hasher->kind.type == CUCKOO_KEY_INTEGER)
	{
		/* A row or array often has many of them. */
		CuckooAppendNumber(buf, sizeof(int64), 4);
		CuckooStore64(CuckooAppendRoom(buf, 8), (uint64) CuckooIntegerValue(hasher->type, value));
	}
	else if (CuckooOtherScalarBytes(&bytes, hasher->kind.type, hasher->type, value))
		CuckooAppendScalar(buf, &bytes);
	else
	{
		int			start = buf->len;

		CuckooAppendNumber(buf, 0, 4);
		AppendValue(buf, hasher, value, hasher->has_rows ? description : NULL);
		CuckooStore32((uint8 *) buf->data + start, (uint32) (buf->len - start - 4));
	}
}

/*
 * Array: key type of the elements, number of dimensions, size and lower bound
 * of each, then the elements.  Lower bounds matter, as they do in array_eq.
 */
static void
AppendArray(StringInfo buf, CuckooHasher *hasher, ArrayType *array, StringInfo description)
{
	CuckooHasher *part = &hasher->nested->part;
	const TypeCacheEntry *type = hasher->nested->type;
	const uint8 *nulls = ARR_NULLBITMAP(array);
	char	   *element = ARR_DATA_PTR(array);
	int			count = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));

	/* Should not happen, but memory would be read as values of another type. */
	if (ARR_ELEMTYPE(array) != type->type_id)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("array has elements of type %s, not %s",
						format_type_be(ARR_ELEMTYPE(array)),
						format_type_be(type->type_id))));

	CuckooAppendNumber(buf, part->kind.type, 1);
	CuckooAppendNumber(buf, (uint32) ARR_NDIM(array), 4);
	for (int i = 0; i < ARR_NDIM(array); i++)
	{
		CuckooAppendNumber(buf, (uint32) ARR_DIMS(array)[i], 4);
		CuckooAppendNumber(buf, (uint32) ARR_LBOUND(array)[i], 4);
	}

	if (description != NULL)
		CuckooAppendNumber(description, CUCKOO_KEY_ARRAY, 1);
	for (int i = 0; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (nulls != NULL && att_isnull(i, nulls))
		{
			CuckooAppendNumber(buf, NULL_LENGTH, 4);
			continue;
		}
		AppendNested(buf, part, fetch_att(element, type->typbyval, type->typlen), false,
					 description);
		/* The first one describes all: other records cannot be compared. */
		description = NULL;
		element = att_addlength_pointer(element, type->typlen, element);
		element = (char *) att_align_nominal(element, type->typalign);
	}
	if (description != NULL)
		DescribeKey(description, part);
}

/* The bounds of a range: flags, then the bounds that are not infinite. */
static void
AppendBounds(StringInfo buf, CuckooHasher *part, const RangeBound *lower,
			 const RangeBound *upper, bool empty)
{
	uint32		of_lower = lower->infinite ? RANGE_BYTE_LOWER_INFINITE :
		lower->inclusive ? RANGE_BYTE_LOWER_INCLUSIVE : 0;
	uint32		of_upper = upper->infinite ? RANGE_BYTE_UPPER_INFINITE :
		upper->inclusive ? RANGE_BYTE_UPPER_INCLUSIVE : 0;

	CuckooAppendNumber(buf, empty ? RANGE_BYTE_EMPTY : of_lower | of_upper, 1);
	if (!empty && !lower->infinite)
		AppendNested(buf, part, lower->val, false, NULL);
	if (!empty && !upper->infinite)
		AppendNested(buf, part, upper->val, false, NULL);
}

/*
 * Range: key type of the bounds, then flags and bounds.  Multirange: key type
 * of the bounds, number of ranges, then flags and bounds of each range, which
 * PostgreSQL keeps sorted and merged.
 */
static void
AppendRanges(StringInfo buf, CuckooHasher *hasher, void *stored)
{
	CuckooHasher *part = &hasher->nested->part;
	TypeCacheEntry *type = hasher->nested->type;
	RangeBound	lower;
	RangeBound	upper;
	bool		empty;

	/* As for arrays.  Both begin with the OID of their type. */
	if (((RangeType *) stored)->rangetypid != hasher->type)
		elog(ERROR, "range types do not match");

	CuckooAppendNumber(buf, part->kind.type, 1);
	if (hasher->kind.type == CUCKOO_KEY_RANGE)
	{
		range_deserialize(type, (RangeType *) stored, &lower, &upper, &empty);
		AppendBounds(buf, part, &lower, &upper, empty);
	}
	else
	{
		MultirangeType *multirange = (MultirangeType *) stored;

		CuckooAppendNumber(buf, multirange->rangeCount, 4);
		for (uint32 i = 0; i < multirange->rangeCount; i++)
		{
			CHECK_FOR_INTERRUPTS();
			multirange_get_bounds(type, multirange, i, &lower, &upper);
			AppendBounds(buf, part, &lower, &upper, false);
		}
	}
}

/*
 * Composite: number of attributes, then key type and value of each.  As in
 * record_eq, names and dropped attributes do not matter, and NULLs are equal.
 */
static void
AppendComposite(StringInfo buf, CuckooHasher *hasher, HeapTupleHeader header,
				StringInfo description)
{
	RowType    *row = FindRowType(hasher, HeapTupleHeaderGetTypeId(header),
								  HeapTupleHeaderGetTypMod(header));
	HeapTupleData tuple = {.t_len = HeapTupleHeaderGetDatumLength(header), .t_data = header};

	heap_deform_tuple(&tuple, row->desc, row->values, row->nulls);

	if (description != NULL)
	{
		CuckooAppendNumber(description, CUCKOO_KEY_COMPOSITE, 1);
		if (row->has_rows)
			CuckooAppendNumber(description, row->attributes, 2);
		else
		{
			DescribeRow(description, row);
			description = NULL;
		}
	}
	CuckooAppendNumber(buf, row->attributes, 4);
	for (int i = 0; i < row->desc->natts; i++)
	{
		if (TupleDescAttr(row->desc, i)->attisdropped)
			continue;
		CuckooAppendNumber(buf, row->hashers[i].kind.type, 1);
		AppendNested(buf, &row->hashers[i], row->values[i], row->nulls[i], description);
	}
}

/*
 * Append the canonical bytes of a value of one of the nested key types, and its
 * description if that is not NULL.
 */
static void
AppendValue(StringInfo buf, CuckooHasher *hasher, Datum value, StringInfo description)
{
	struct varlena *stored = (struct varlena *) DatumGetPointer(value);
	union
	{
		char		bytes[VARHDRSZ + VARATT_SHORT_MAX];
		int64		aligned;
	}			copy;

	check_stack_depth();

	/*
	 * A value must have a long header to be read.  One with a short header is
	 * copied to the stack, which costs almost nothing.
	 */
	if (!VARATT_IS_EXTERNAL(stored) && VARATT_IS_SHORT(stored))
	{
		size_t		length = VARSIZE_SHORT(stored) - VARHDRSZ_SHORT;

		memcpy(VARDATA(copy.bytes), VARDATA_SHORT(stored), length);
		SET_VARSIZE(copy.bytes, VARHDRSZ + length);
		stored = (struct varlena *) copy.bytes;
	}
	else
		stored = PG_DETOAST_DATUM(value);

	switch (hasher->kind.type)
	{
		case CUCKOO_KEY_ARRAY:
			AppendArray(buf, hasher, (ArrayType *) stored, description);
			break;
		case CUCKOO_KEY_COMPOSITE:
			{
				/*
				 * Since 15.20 this marks a row that an older release has
				 * stored, so that deforming checks the version of its type.
				 */
				HeapTupleHeader header = DatumGetHeapTupleHeader(PointerGetDatum(stored));

				AppendComposite(buf, hasher, header, description);
				if ((Pointer) header != (Pointer) stored)
					pfree(header);
				break;
			}
		case CUCKOO_KEY_JSONB:
			CuckooAppendJsonb(buf, stored);
			break;
		default:
			AppendRanges(buf, hasher, stored);
			if (description != NULL)
				DescribeKey(description, hasher);
			break;
	}
	if ((Pointer) stored != copy.bytes && (Pointer) stored != DatumGetPointer(value))
		pfree(stored);
}

static uint64
HashNested(CuckooHasher *hasher, Datum value, uint64 seed)
{
	CuckooNested *nested = GetNested(hasher);
	StringInfo	buf = &nested->buffer;
	StringInfo	description = &nested->description;
	uint64		hash;

	if (buf->data == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(hasher->ctx);

		initStringInfo(description);
		initStringInfo(buf);
		MemoryContextSwitchTo(old);
	}
	resetStringInfo(buf);
	resetStringInfo(description);
	AppendValue(buf, hasher, value, hasher->has_rows ? description : NULL);
	if (hasher->has_rows)
		hasher->kind.signature = CuckooSignature(description->data, (size_t) description->len);
	hash = CuckooHash(buf->data, (size_t) buf->len, seed, hasher->kind.type);
	if (buf->maxlen > BUFFER_KEEP_BYTES)
	{
		pfree(description->data);
		pfree(buf->data);
		buf->data = NULL;
	}
	return hash;
}

uint64
CuckooHashOther(CuckooHasher *hasher, Datum value, uint64 seed)
{
	CuckooScalar bytes;
	uint64		hash;

	if (!CuckooOtherScalarBytes(&bytes, hasher->kind.type, hasher->type, value))
		return HashNested(hasher, value, seed);
	hash = CuckooHash(bytes.data, bytes.length, seed, hasher->kind.type);
	CuckooFreeScalar(&bytes);
	return hash;
}
