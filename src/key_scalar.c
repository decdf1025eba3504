/*-------------------------------------------------------------------------
 *
 * key_scalar.c
 *	  Canonical bytes of scalar keys, and of jsonb.
 *
 * A filter outlives the server that made it: it is dumped, replicated, moved to
 * other machines, and read by other versions.  A value is therefore hashed over
 * canonical bytes.  These are little-endian and in UTF-8.  They contain nothing
 * that belongs to one server (no OID, no alignment, no TOAST compression) and
 * nothing that the equality of the type ignores (display scale, padding, the
 * sign of zero).  docs/format.md describes the bytes of every key type.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include <math.h>
#include <sys/socket.h>

#include "access/htup_details.h"
#include "catalog/pg_conversion.h"
#include "catalog/pg_enum.h"
#include "catalog/pg_language.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/inet.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "key_scalar.h"

/*
 * The first 16 bits of a stored numeric.  PostgreSQL defines them in numeric.c
 * and does not export them.  The two highest bits tell the form.  NaN and the
 * infinities consist only of these 16 bits, of which the highest four are used.
 */
#define NUMERIC_KIND			0xC000
#define NUMERIC_NEGATIVE		0x4000
#define NUMERIC_SHORT			0x8000
#define NUMERIC_SPECIAL			0xC000
#define NUMERIC_SPECIAL_KIND	0xF000
#define NUMERIC_SHORT_NEGATIVE	0x2000	/* in the short form */
#define NUMERIC_SHORT_WEIGHT	0x007F	/* with its sign, 0x0040 */

/* The name of every key type, and the types that have a fixed OID. */
static const struct
{
	const char *name;
	Oid			types[5];
}			key_types[] =
{
	[CUCKOO_KEY_NONE] = {.name = "none"},
	[CUCKOO_KEY_INTEGER] = {"integer", {INT4OID, INT8OID, INT2OID, OIDOID}},
	[CUCKOO_KEY_BOOLEAN] = {"boolean", {BOOLOID}},
	[CUCKOO_KEY_CHAR] = {"\"char\"", {CHAROID}},
	/* An untyped literal can be an attribute: ROW(1, 'x') */
	[CUCKOO_KEY_TEXT] = {"text", {TEXTOID, VARCHAROID, BPCHAROID, NAMEOID, UNKNOWNOID}},
	[CUCKOO_KEY_BYTEA] = {"bytea", {BYTEAOID}},
	[CUCKOO_KEY_BIT] = {"bit", {BITOID, VARBITOID}},
	[CUCKOO_KEY_FLOAT] = {"double precision", {FLOAT8OID, FLOAT4OID}},
	[CUCKOO_KEY_NUMERIC] = {"numeric", {NUMERICOID}},
	[CUCKOO_KEY_MONEY] = {"money", {MONEYOID}},
	[CUCKOO_KEY_UUID] = {"uuid", {UUIDOID}},
	[CUCKOO_KEY_DATE] = {"date", {DATEOID}},
	[CUCKOO_KEY_TIME] = {"time", {TIMEOID}},
	[CUCKOO_KEY_TIMETZ] = {"timetz", {TIMETZOID}},
	[CUCKOO_KEY_TIMESTAMP] = {"timestamp", {TIMESTAMPOID}},
	[CUCKOO_KEY_TIMESTAMPTZ] = {"timestamptz", {TIMESTAMPTZOID}},
	[CUCKOO_KEY_INTERVAL] = {"interval", {INTERVALOID}},
	[CUCKOO_KEY_INET] = {"inet", {INETOID, CIDROID}},
	[CUCKOO_KEY_MACADDR] = {"macaddr", {MACADDROID}},
	[CUCKOO_KEY_MACADDR8] = {"macaddr8", {MACADDR8OID}},
	[CUCKOO_KEY_PG_LSN] = {"pg_lsn", {PG_LSNOID}},
	[CUCKOO_KEY_XID8] = {"xid8", {XID8OID}},
	[CUCKOO_KEY_ENUM] = {.name = "enum"},
	[CUCKOO_KEY_JSONB] = {"jsonb", {JSONBOID}},
	[CUCKOO_KEY_ARRAY] = {.name = "array"},
	[CUCKOO_KEY_COMPOSITE] = {"composite", {RECORDOID}},
	[CUCKOO_KEY_RANGE] = {.name = "range"},
	[CUCKOO_KEY_MULTIRANGE] = {.name = "multirange"}
};

StaticAssertDecl(lengthof(key_types) == CUCKOO_KEY_LAST + 1, "every key type needs a name");

const char *
CuckooKeyTypeName(CuckooKeyType key_type)
{
	if ((unsigned int) key_type >= lengthof(key_types))
		return "unknown";
	return key_types[key_type].name;
}

char *
CuckooKeyKindDescribe(CuckooKeyKind kind)
{
	if (kind.signature == 0)
		return pstrdup(CuckooKeyTypeName(kind.type));
	return psprintf("%s (signature %08x)", CuckooKeyTypeName(kind.type), kind.signature);
}

/*
 * The extension can be installed in any schema, and anyone can create a type
 * named cuckoofilter.  The type is therefore recognized by the C symbol of its
 * input function.
 */
bool
CuckooIsFilterType(Oid type)
{
	Oid			input;
	Oid			io_param;
	HeapTuple	tuple;
	bool		found = false;

	if (!get_typisdefined(type))
		return false;
	getTypeInputInfo(type, &input, &io_param);
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(input));
	if (!HeapTupleIsValid(tuple))
		return false;
	if (((Form_pg_proc) GETSTRUCT(tuple))->prolang == ClanguageId)
	{
		bool		isnull;
		Datum		symbol = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_prosrc, &isnull);

		found = !isnull && strcmp(TextDatumGetCString(symbol), "cuckoofilter_in") == 0;
	}
	ReleaseSysCache(tuple);
	return found;
}

CuckooKeyType
CuckooBuiltinKeyType(Oid type)
{
	for (int i = 0; i < (int) lengthof(key_types); i++)
	{
		const Oid  *types = key_types[i].types;

		for (int j = 0; j < (int) lengthof(key_types[i].types) && OidIsValid(types[j]); j++)
			if (types[j] == type)
				return (CuckooKeyType) i;
	}
	return CUCKOO_KEY_NONE;
}

/* Append a part of a scalar's bytes to its scratch room. */
static inline void
PutBytes(CuckooScalar *bytes, const void *part, size_t length)
{
	Assert(bytes->length + length <= CUCKOO_SCRATCH_BYTES);
	memcpy(bytes->scratch + bytes->length, part, length);
	bytes->length += length;
}

/* Append the lowest bytes of a number. */
static inline void
PutNumber(CuckooScalar *bytes, uint64 number, size_t length)
{
	uint8		stored[8];

	CuckooStore64(stored, number);
	PutBytes(bytes, stored, length);
}

/* Set a scalar's bytes to memory that already has them. */
static inline void
PointBytes(CuckooScalar *bytes, const void *data, size_t length)
{
	bytes->data = data;
	bytes->length = length;
}

/* Set a scalar's bytes to a changed copy of them. */
static void
ReplaceBytes(CuckooScalar *bytes, void *copy, size_t length)
{
	CuckooFreeScalar(bytes);
	bytes->copy = copy;
	PointBytes(bytes, copy, length);
}

/*
 * Set a scalar's bytes to the content of a varlena.  A value with a short
 * header is read in place.  A compressed or toasted value is fetched.
 */
static inline void
PointVarlena(CuckooScalar *bytes, Datum value)
{
	bytea	   *stored = DatumGetByteaPP(value);

	if ((Pointer) stored != DatumGetPointer(value))
		bytes->copy = stored;
	PointBytes(bytes, VARDATA_ANY(stored), VARSIZE_ANY_EXHDR(stored));
}

/*
 * Convert a scalar's bytes from the database encoding to UTF-8.  ASCII is the
 * same in every server encoding.  In EUC_JP and EUC_TW some characters have
 * several forms, which text tells apart: as keys they are one.
 *
 * Text that has no form in UTF-8 stays as it is: an index must not refuse a row
 * that its table takes.
 */
static void
ConvertText(CuckooScalar *bytes)
{
	static FmgrInfo conversion;
	int			encoding = GetDatabaseEncoding();
	const char *text = bytes->data;
	size_t		i = 0;
	char	   *converted;
	Datum		done;			/* number of bytes converted */

	while (i < bytes->length && !IS_HIGHBIT_SET(text[i]))
		i++;
	if (i == bytes->length)
		return;

	/*
	 * pg_server_to_any would search for the conversion along the search path,
	 * where pg_catalog need not come first.  A hash must not depend on that.
	 */
	if (!OidIsValid(conversion.fn_oid))
	{
		Oid			function = FindDefaultConversion(PG_CATALOG_NAMESPACE, encoding, PG_UTF8);

		if (!OidIsValid(function))
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_FUNCTION),
					 errmsg("default conversion function for encoding \"%s\" to \"%s\" does not exist",
							pg_encoding_to_char(encoding), pg_encoding_to_char(PG_UTF8))));
		fmgr_info_cxt(function, &conversion, TopMemoryContext);
	}

	/* The text is below 1 GB, but the room for the result can exceed it. */
	converted = palloc_extended(bytes->length * MAX_CONVERSION_GROWTH + 1, MCXT_ALLOC_HUGE);
	done = FunctionCall6(&conversion,
						 Int32GetDatum(encoding), Int32GetDatum(PG_UTF8),
						 CStringGetDatum(text), CStringGetDatum(converted),
						 Int32GetDatum((int32) bytes->length), BoolGetDatum(true));
	if (DatumGetInt32(done) < (int32) bytes->length)
	{
		pfree(converted);
		return;
	}
	ReplaceBytes(bytes, converted, strlen(converted));
}

void
CuckooTextBytes(CuckooScalar *bytes, const char *text, size_t length)
{
	bytes->copy = NULL;
	PointBytes(bytes, text, length);
	if (CuckooConvertsText())
		ConvertText(bytes);
}

/*
 * text, varchar, name and char(n).  The equality of char(n) ignores blanks at
 * the end, so these are left out.
 */
static inline void
TextBytes(CuckooScalar *bytes, Oid type, Datum value)
{
	/* A name has the form of an untyped literal. */
	if (type == NAMEOID || type == UNKNOWNOID)
		PointBytes(bytes, DatumGetCString(value), strlen(DatumGetCString(value)));
	else
		PointVarlena(bytes, value);
	if (type == BPCHAROID)
	{
		const char *text = bytes->data;

		while (bytes->length > 0 && text[bytes->length - 1] == ' ')
			bytes->length--;
	}
	if (CuckooConvertsText())
		ConvertText(bytes);
}

/*
 * The label of an enum value.  Its OID would be shorter, but differs between
 * databases.
 */
static void
EnumBytes(CuckooScalar *bytes, Oid value)
{
	HeapTuple	tuple = SearchSysCache1(ENUMOID, ObjectIdGetDatum(value));
	const char *label;

	if (!HeapTupleIsValid(tuple))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid internal value for enum: %u", value)));
	label = NameStr(((Form_pg_enum) GETSTRUCT(tuple))->enumlabel);
	PutBytes(bytes, label, strlen(label));
	ReleaseSysCache(tuple);
	if (CuckooConvertsText())
		ConvertText(bytes);
}

/*
 * A floating-point number as a double, so that equal values of real and double
 * precision have the same bytes.  As for equality, zero has no sign and there
 * is only one NaN.
 */
static inline void
FloatBytes(CuckooScalar *bytes, double number)
{
	if (isnan(number))
		CuckooStore64(bytes->scratch, UINT64CONST(0x7FF8000000000000));
	else
		CuckooStoreDouble(bytes->scratch, number == 0 ? 0 : number);
	bytes->length = 8;
}

/*
 * Read a 16-bit number of a stored numeric.  If the numeric has a short header,
 * the number can have any alignment.
 */
static inline uint16
ReadNative16(const char *from)
{
	uint16		number;

	memcpy(&number, from, sizeof(number));
	return number;
}

/*
 * numeric: sign, weight and digits of base 10000, without display scale and
 * without zero digits at either end.
 *
 * They are read from the stored form, which pg_upgrade relies on not to change
 * between versions.  numeric_send would return the same numbers, but takes four
 * times as long as the rest.  The regression tests compare the two.
 */
static void
NumericBytes(CuckooScalar *bytes, Datum value)
{
	struct varlena *number = PG_DETOAST_DATUM_PACKED(value);
	const char *stored = VARDATA_ANY(number);
	const char *end = stored + VARSIZE_ANY_EXHDR(number);
	uint16		header = ReadNative16(stored);
	uint16		sign;
	int			weight = 0;
	size_t		length;
	uint8	   *data = bytes->scratch;

	stored += sizeof(header);
	if ((header & NUMERIC_KIND) == NUMERIC_SPECIAL)
	{
		sign = header & NUMERIC_SPECIAL_KIND;
		end = stored;
	}
	else if ((header & NUMERIC_KIND) == NUMERIC_SHORT)
	{
		sign = header & NUMERIC_SHORT_NEGATIVE ? NUMERIC_NEGATIVE : 0;
		weight = ((header & NUMERIC_SHORT_WEIGHT) ^ 0x0040) - 0x0040;
	}
	else
	{
		sign = header & NUMERIC_KIND;
		weight = (int16) ReadNative16(stored);
		stored += sizeof(header);
	}
	/* PostgreSQL stores no such zeros, but nor does it rely on that. */
	while (stored < end && ReadNative16(stored) == 0)
	{
		stored += 2;
		weight--;
	}
	while (stored < end && ReadNative16(end - 2) == 0)
		end -= 2;
	length = (size_t) (end - stored);
	if (length == 0)
	{
		/* Zero has no sign.  NaN and the infinities have no digits either. */
		weight = 0;
		if (sign == NUMERIC_NEGATIVE)
			sign = 0;
	}

	if (4 + length > CUCKOO_SCRATCH_BYTES)
		data = bytes->copy = palloc(4 + length);
	CuckooStore16(data, sign);
	CuckooStore16(data + 2, (uint16) weight);
	for (size_t i = 0; i < length; i += 2)
		CuckooStore16(data + 4 + i, ReadNative16(stored + i));
	PointBytes(bytes, data, 4 + length);
	if ((Pointer) number != DatumGetPointer(value))
		pfree(number);
}

/*
 * interval: a number of days, and the microseconds of a day, which are not
 * negative.
 *
 * Equality compares months * 30 days + days + time as one 128-bit number of
 * microseconds.  Its quotient and remainder by a day need no 128-bit type.  No
 * other interval is equal to the infinities of PostgreSQL 17, whose fields have
 * the smallest or the largest values.
 */
static void
IntervalBytes(CuckooScalar *bytes, const Interval *interval)
{
	int64		days = interval->month * INT64CONST(30) + interval->day;
	int64		microseconds = interval->time % USECS_PER_DAY;

	days += interval->time / USECS_PER_DAY;
	if (microseconds < 0)
	{
		microseconds += USECS_PER_DAY;
		days--;
	}
	PutNumber(bytes, (uint64) days, 8);
	PutNumber(bytes, (uint64) microseconds, 8);
}

/*
 * bit and varbit: the number of bits, then the bits.  A value with a short
 * header can have any alignment, which PostgreSQL's macros do not expect.
 */
static void
BitBytes(CuckooScalar *bytes, Datum value)
{
	uint32		bits;
	uint8	   *copy;

	PointVarlena(bytes, value);
	memcpy(&bits, bytes->data, sizeof(bits));
	copy = palloc(bytes->length);
	memcpy(copy, bytes->data, bytes->length);
	CuckooStore32(copy, bits);
	ReplaceBytes(bytes, copy, bytes->length);
}

/* inet and cidr: the IP version, the number of network bits, the address. */
static void
InetBytes(CuckooScalar *bytes, Datum value)
{
	inet	   *address = DatumGetInetPP(value);

	PutNumber(bytes, ip_family(address) == PGSQL_AF_INET ? 4 : 6, 1);
	PutNumber(bytes, ip_bits(address), 1);
	PutBytes(bytes, ip_addr(address), (size_t) ip_addrsize(address));
	if ((Pointer) address != DatumGetPointer(value))
		pfree(address);
}

bool
CuckooOtherScalarBytes(CuckooScalar *bytes, CuckooKeyType key_type, Oid type, Datum value)
{
	bytes->data = bytes->scratch;
	bytes->length = 0;
	bytes->copy = NULL;

	switch (key_type)
	{
		case CUCKOO_KEY_TEXT:
			TextBytes(bytes, type, value);
			return true;
		case CUCKOO_KEY_BYTEA:
			PointVarlena(bytes, value);
			return true;
		case CUCKOO_KEY_BIT:
			BitBytes(bytes, value);
			return true;
		case CUCKOO_KEY_FLOAT:
			FloatBytes(bytes, type == FLOAT4OID ?
					   (double) DatumGetFloat4(value) : DatumGetFloat8(value));
			return true;
		case CUCKOO_KEY_NUMERIC:
			NumericBytes(bytes, value);
			return true;
		case CUCKOO_KEY_BOOLEAN:
			PutNumber(bytes, DatumGetBool(value) ? 1 : 0, 1);
			return true;
		case CUCKOO_KEY_CHAR:
			PutNumber(bytes, (uint8) DatumGetChar(value), 1);
			return true;
		case CUCKOO_KEY_DATE:
			PutNumber(bytes, (uint32) DatumGetDateADT(value), 4);
			return true;
		case CUCKOO_KEY_MONEY:
		case CUCKOO_KEY_TIME:
		case CUCKOO_KEY_TIMESTAMP:
		case CUCKOO_KEY_TIMESTAMPTZ:
		case CUCKOO_KEY_PG_LSN:
		case CUCKOO_KEY_XID8:
			/* PostgreSQL stores them as 64-bit numbers. */
			PutNumber(bytes, (uint64) DatumGetInt64(value), 8);
			return true;
		case CUCKOO_KEY_TIMETZ:
			PutNumber(bytes, (uint64) DatumGetTimeTzADTP(value)->time, 8);
			PutNumber(bytes, (uint32) DatumGetTimeTzADTP(value)->zone, 4);
			return true;
		case CUCKOO_KEY_INTERVAL:
			IntervalBytes(bytes, DatumGetIntervalP(value));
			return true;
		case CUCKOO_KEY_INET:
			InetBytes(bytes, value);
			return true;
		case CUCKOO_KEY_UUID:
			PointBytes(bytes, DatumGetPointer(value), UUID_LEN);
			return true;
		case CUCKOO_KEY_MACADDR:
			PointBytes(bytes, DatumGetPointer(value), sizeof(macaddr));
			return true;
		case CUCKOO_KEY_MACADDR8:
			PointBytes(bytes, DatumGetPointer(value), sizeof(macaddr8));
			return true;
		case CUCKOO_KEY_ENUM:
			EnumBytes(bytes, DatumGetObjectId(value));
			return true;
		default:
			return false;
	}
}

/*
 * jsonb: each value is a tag, then the content that the tag requires.  The tags
 * are part of the format.
 */
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
