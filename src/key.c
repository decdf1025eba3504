/*-------------------------------------------------------------------------
 *
 * key.c
 *	  Canonical bytes of an SQL value, and its 64-bit hash.
 *
 * A filter outlives the server that made it: it is dumped, replicated, moved to
 * other machines, and read by other versions.  A value is therefore hashed over
 * canonical bytes.  These are little-endian and in UTF-8.  They contain nothing
 * that belongs to one server (no OID, no alignment, no TOAST compression) and
 * nothing that the equality of the type ignores (display scale, padding, the
 * sign of zero).  docs/format.md describes the bytes of every key type.
 *
 * There are two sorts of types.  The bytes of a *scalar* type are either part
 * of the value already or fit into a few words.  CuckooScalarBytes returns
 * where they are, and they are hashed there.  The bytes of a *nested* key type
 * (array, composite, range, multirange, jsonb) are written part by part in
 * key_nested.c.
 *
 * Values of a key type that are not equal must have different bytes.  The bytes
 * of every key type can therefore be read back in only one way, and each nested
 * part is preceded by its length.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat.h"

#include <math.h>
#include <sys/socket.h>

#include "access/htup_details.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_conversion.h"
#include "catalog/pg_enum.h"
#include "catalog/pg_language.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/cash.h"
#include "utils/date.h"
#include "utils/inet.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/numeric.h"
#include "utils/pg_lsn.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"
#include "utils/xid8.h"

#include "core/hash.h"
#include "key_bytes.h"

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

static const char *const key_type_names[] = {
	[CUCKOO_KEY_NONE] = "none",
	[CUCKOO_KEY_INTEGER] = "integer",
	[CUCKOO_KEY_BOOLEAN] = "boolean",
	[CUCKOO_KEY_CHAR] = "\"char\"",
	[CUCKOO_KEY_TEXT] = "text",
	[CUCKOO_KEY_BYTEA] = "bytea",
	[CUCKOO_KEY_BIT] = "bit",
	[CUCKOO_KEY_FLOAT] = "double precision",
	[CUCKOO_KEY_NUMERIC] = "numeric",
	[CUCKOO_KEY_MONEY] = "money",
	[CUCKOO_KEY_UUID] = "uuid",
	[CUCKOO_KEY_DATE] = "date",
	[CUCKOO_KEY_TIME] = "time",
	[CUCKOO_KEY_TIMETZ] = "timetz",
	[CUCKOO_KEY_TIMESTAMP] = "timestamp",
	[CUCKOO_KEY_TIMESTAMPTZ] = "timestamptz",
	[CUCKOO_KEY_INTERVAL] = "interval",
	[CUCKOO_KEY_INET] = "inet",
	[CUCKOO_KEY_MACADDR] = "macaddr",
	[CUCKOO_KEY_MACADDR8] = "macaddr8",
	[CUCKOO_KEY_PG_LSN] = "pg_lsn",
	[CUCKOO_KEY_XID8] = "xid8",
	[CUCKOO_KEY_ENUM] = "enum",
	[CUCKOO_KEY_JSONB] = "jsonb",
	[CUCKOO_KEY_ARRAY] = "array",
	[CUCKOO_KEY_COMPOSITE] = "composite",
	[CUCKOO_KEY_RANGE] = "range",
	[CUCKOO_KEY_MULTIRANGE] = "multirange"
};

StaticAssertDecl(lengthof(key_type_names) == CUCKOO_KEY_LAST + 1,
				 "every key type needs a name");

/*
 * The name of a key type.  If there is a type to cast keys to, it has this
 * name.
 */
const char *
CuckooKeyTypeName(CuckooKeyType key_type)
{
	if ((unsigned int) key_type >= lengthof(key_type_names))
		return "unknown";
	return key_type_names[key_type];
}

/*
 * The name of a key type with its signature (key.h).
 */
char *
CuckooKeyTypeDescribe(CuckooKeyType key_type, uint32 signature)
{
	if (signature == 0)
		return pstrdup(CuckooKeyTypeName(key_type));
	return psprintf("%s (signature %08x)", CuckooKeyTypeName(key_type), signature);
}

/*
 * Report that the key type of keys is not that of the filter.  The usual cause
 * is an untyped literal or parameter, which is text.
 */
void
CuckooReportKeyType(uint8 key_type, uint32 signature, const CuckooKey *key)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("key type does not match cuckoofilter"),
			 errdetail("The key type of the filter is %s, that of the key is %s.",
					   CuckooKeyTypeDescribe(key_type, signature),
					   CuckooKeyTypeDescribe(key->key_type, key->signature)),
			 key_type == key->key_type ?
			 errhint("The types inside differ: cast the key to the type that the filter was built from.") :
			 errhint("Cast the key to the type that the filter was built from.")));
}

/*
 * Is this the type of filters (key.h)?
 *
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
	Form_pg_proc proc;
	bool		found = false;

	if (!get_typisdefined(type))
		return false;
	getTypeInputInfo(type, &input, &io_param);
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(input));
	if (!HeapTupleIsValid(tuple))
		return false;
	proc = (Form_pg_proc) GETSTRUCT(tuple);
	if (proc->prolang == ClanguageId)
	{
		bool		isnull;
		Datum		symbol = SysCacheGetAttr(PROCOID, tuple,
											 Anum_pg_proc_prosrc, &isnull);

		found = !isnull &&
			strcmp(TextDatumGetCString(symbol), "cuckoofilter_in") == 0;
	}
	ReleaseSysCache(tuple);
	return found;
}

/*
 * Refuse a type that cannot be a key.
 */
static CUCKOO_NORETURN void
RefuseType(Oid type)
{
	if (CuckooIsFilterType(type))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("type %s is not supported as a key",
						format_type_be(type)),
				 errdetail("A filter cannot be tested for a subset."),
				 errhint("To combine filters, use cuckoo_union or cuckoo_union_all.")));
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("type %s is not supported as a key",
					format_type_be(type)),
			 errhint("Cast the key to a supported type, for example to text.")));
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
	if (collation == DEFAULT_COLLATION_OID || collation == C_COLLATION_OID ||
		type == UNKNOWNOID)
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
				 errhint("Use a deterministic collation, for example by a cast to text COLLATE \"C\".")));
}

/*
 * The key type of a built-in scalar type, or CUCKOO_KEY_NONE.  jsonb and
 * anonymous records are included, because nothing has to be looked up for them
 * either.
 */
static CuckooKeyType
BuiltinKeyType(Oid type)
{
	switch (type)
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case OIDOID:
			return CUCKOO_KEY_INTEGER;
		case TEXTOID:
		case VARCHAROID:
		case BPCHAROID:
		case NAMEOID:
			/* An untyped literal can be an attribute: ROW(1, 'x') */
		case UNKNOWNOID:
			return CUCKOO_KEY_TEXT;
		case BOOLOID:
			return CUCKOO_KEY_BOOLEAN;
		case CHAROID:
			return CUCKOO_KEY_CHAR;
		case BYTEAOID:
			return CUCKOO_KEY_BYTEA;
		case BITOID:
		case VARBITOID:
			return CUCKOO_KEY_BIT;
		case FLOAT4OID:
		case FLOAT8OID:
			return CUCKOO_KEY_FLOAT;
		case NUMERICOID:
			return CUCKOO_KEY_NUMERIC;
		case MONEYOID:
			return CUCKOO_KEY_MONEY;
		case UUIDOID:
			return CUCKOO_KEY_UUID;
		case DATEOID:
			return CUCKOO_KEY_DATE;
		case TIMEOID:
			return CUCKOO_KEY_TIME;
		case TIMETZOID:
			return CUCKOO_KEY_TIMETZ;
		case TIMESTAMPOID:
			return CUCKOO_KEY_TIMESTAMP;
		case TIMESTAMPTZOID:
			return CUCKOO_KEY_TIMESTAMPTZ;
		case INTERVALOID:
			return CUCKOO_KEY_INTERVAL;
		case INETOID:
		case CIDROID:
			return CUCKOO_KEY_INET;
		case MACADDROID:
			return CUCKOO_KEY_MACADDR;
		case MACADDR8OID:
			return CUCKOO_KEY_MACADDR8;
		case PG_LSNOID:
			return CUCKOO_KEY_PG_LSN;
		case XID8OID:
			return CUCKOO_KEY_XID8;
		case JSONBOID:
			return CUCKOO_KEY_JSONB;
		case RECORDOID:
			return CUCKOO_KEY_COMPOSITE;
		default:
			return CUCKOO_KEY_NONE;
	}
}

/*
 * Prepare to hash values of a type (key.h).
 */
void
CuckooKeyInit(CuckooKey *key, Oid type, Oid collation, MemoryContext ctx)
{
	Oid			element_type;

	if (!OidIsValid(type))
		ereport(ERROR,
				(errcode(ERRCODE_INDETERMINATE_DATATYPE),
				 errmsg("could not determine key type")));

	key->key_type = BuiltinKeyType(type);
	key->signature = 0;
	key->open = type == RECORDOID;
	key->type = type;
	key->ctx = ctx;
	key->detail = NULL;
	key->buffer = NULL;

	if (key->key_type == CUCKOO_KEY_TEXT)
		CheckCollation(type, collation);
	if (key->key_type != CUCKOO_KEY_NONE)
		return;

	/* Arrays of arrays are possible by way of domains. */
	check_stack_depth();

	element_type = get_element_type(type);
	if (OidIsValid(element_type))
	{
		CuckooInitArray(key, element_type, collation);
		return;
	}

	switch (get_typtype(type))
	{
		case TYPTYPE_DOMAIN:
			CuckooKeyInit(key, getBaseType(type), collation, ctx);
			break;
		case TYPTYPE_ENUM:
			key->key_type = CUCKOO_KEY_ENUM;
			break;
		case TYPTYPE_COMPOSITE:
			key->key_type = CUCKOO_KEY_COMPOSITE;
			break;
		case TYPTYPE_RANGE:
			CuckooInitRange(key, CUCKOO_KEY_RANGE, type);
			break;
		case TYPTYPE_MULTIRANGE:
			CuckooInitRange(key, CUCKOO_KEY_MULTIRANGE, get_multirange_range(type));
			break;
		default:
			RefuseType(type);
	}
}

/*
 * Append a part of a scalar's bytes to its scratch room.
 */
static inline void
PutBytes(KeyBytes *bytes, const void *part, size_t length)
{
	Assert(bytes->length + length <= SCRATCH_BYTES);
	memcpy(bytes->scratch + bytes->length, part, length);
	bytes->data = bytes->scratch;
	bytes->length += length;
}

static inline void
PutByte(KeyBytes *bytes, uint8 number)
{
	PutBytes(bytes, &number, sizeof(number));
}

static inline void
PutUint32(KeyBytes *bytes, uint32 number)
{
	uint8		stored[4];

	CuckooStore32(stored, number);
	PutBytes(bytes, stored, sizeof(stored));
}

static inline void
PutUint64(KeyBytes *bytes, uint64 number)
{
	uint8		stored[8];

	CuckooStore64(stored, number);
	PutBytes(bytes, stored, sizeof(stored));
}

/*
 * Set a scalar's bytes to memory that already has them.
 */
static inline void
PointBytes(KeyBytes *bytes, const void *data, size_t length)
{
	bytes->data = data;
	bytes->length = length;
}

/*
 * Set a scalar's bytes to the content of a varlena.  A value with a short
 * header is read in place.  A compressed or toasted value is fetched.
 */
static inline void
PointVarlena(KeyBytes *bytes, Datum value)
{
	bytea	   *stored = DatumGetByteaPP(value);

	if ((Pointer) stored != DatumGetPointer(value))
		bytes->copy = stored;
	PointBytes(bytes, VARDATA_ANY(stored), VARSIZE_ANY_EXHDR(stored));
}

/*
 * Convert text from the database encoding to UTF-8.  If it is ASCII, which is
 * the same in every server encoding, this returns text itself.  Otherwise the
 * result is palloc'd.
 */
const char *
CuckooConvertText(const char *text, size_t length, size_t *converted_length)
{
	static FmgrInfo conversion;
	int			encoding = GetDatabaseEncoding();
	size_t		i;
	char	   *converted;

	for (i = 0; i < length; i++)
		if (IS_HIGHBIT_SET(text[i]))
			break;
	if (i == length)
	{
		*converted_length = length;
		return text;
	}

	/*
	 * pg_do_encoding_conversion would search for the conversion along the
	 * search path, but a hash must not depend on that.
	 */
	if (!OidIsValid(conversion.fn_oid))
	{
		Oid			function = FindDefaultConversion(PG_CATALOG_NAMESPACE, encoding,
													 PG_UTF8);

		if (!OidIsValid(function))
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_FUNCTION),
					 errmsg("default conversion function for encoding \"%s\" to \"%s\" does not exist",
							pg_encoding_to_char(encoding),
							pg_encoding_to_char(PG_UTF8))));
		fmgr_info_cxt(function, &conversion, TopMemoryContext);
	}

	/* length is below 1 GB, but the room for the result can exceed it */
	converted = MemoryContextAllocHuge(CurrentMemoryContext,
									   (Size) length * MAX_CONVERSION_GROWTH + 1);
	(void) FunctionCall6(&conversion,
						 Int32GetDatum(encoding),
						 Int32GetDatum(PG_UTF8),
						 CStringGetDatum(text),
						 CStringGetDatum(converted),
						 Int32GetDatum((int32) length),
						 BoolGetDatum(false));
	*converted_length = strlen(converted);
	return converted;
}

/*
 * Convert a scalar's bytes, which are text, to UTF-8.
 */
static inline void
ConvertBytes(KeyBytes *bytes)
{
	const char *text = bytes->data;
	const char *converted;
	size_t		length;

	if (!NeedsConversion())
		return;
	converted = CuckooConvertText(text, bytes->length, &length);
	if (converted == text)
		return;
	FreeBytes(bytes);
	bytes->copy = unconstify(char *, converted);
	PointBytes(bytes, converted, length);
}

/*
 * text, varchar, name and char(n).  The equality of char(n) ignores blanks at
 * the end, so these are left out.
 */
static inline void
TextBytes(KeyBytes *bytes, Oid type, Datum value)
{
	if (type == NAMEOID)
	{
		const char *name = NameStr(*DatumGetName(value));

		PointBytes(bytes, name, strlen(name));
	}
	else if (type == UNKNOWNOID)
		PointBytes(bytes, DatumGetCString(value), strlen(DatumGetCString(value)));
	else
		PointVarlena(bytes, value);
	if (type == BPCHAROID)
	{
		const char *text = bytes->data;

		while (bytes->length > 0 && text[bytes->length - 1] == ' ')
			bytes->length--;
	}
	ConvertBytes(bytes);
}

/*
 * The label of an enum value.  Its OID would be shorter, but differs between
 * databases.
 */
static void
EnumBytes(KeyBytes *bytes, Oid value)
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
	ConvertBytes(bytes);
}

/*
 * A floating-point number as a double, so that equal values of real and double
 * precision have the same bytes.  As for equality, zero has no sign and there
 * is only one NaN.
 */
static inline void
FloatBytes(KeyBytes *bytes, double number)
{
	uint64		bits;

	StaticAssertStmt(sizeof(bits) == sizeof(number),
					 "a double has 64 bits");
	if (isnan(number))
		bits = UINT64CONST(0x7FF8000000000000);
	else if (number == 0)
		bits = 0;
	else
		memcpy(&bits, &number, sizeof(bits));
	PutUint64(bytes, bits);
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
void
CuckooNumericBytes(KeyBytes *bytes, Datum value)
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
	switch (header & NUMERIC_KIND)
	{
		case NUMERIC_SPECIAL:
			sign = header & NUMERIC_SPECIAL_KIND;
			end = stored;
			break;
		case NUMERIC_SHORT:
			sign = header & NUMERIC_SHORT_NEGATIVE ? NUMERIC_NEGATIVE : 0;
			weight = (header & NUMERIC_SHORT_WEIGHT) ^ 0x0040;
			weight -= 0x0040;
			break;
		default:
			sign = header & NUMERIC_KIND;
			weight = (int16) ReadNative16(stored);
			stored += sizeof(header);
			break;
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

	if (4 + length > SCRATCH_BYTES)
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
 * microseconds.  The quotient and the remainder of that number by a day are
 * equivalent and need no 128-bit type.  The infinities of PostgreSQL 17 have
 * the smallest or the largest value in each field.  No other interval has the
 * same quotient.
 */
static void
IntervalBytes(KeyBytes *bytes, const Interval *interval)
{
	int64		days = interval->month * INT64CONST(30) + interval->day;
	int64		microseconds = interval->time % USECS_PER_DAY;

	days += interval->time / USECS_PER_DAY;
	if (microseconds < 0)
	{
		microseconds += USECS_PER_DAY;
		days--;
	}
	PutUint64(bytes, (uint64) days);
	PutUint64(bytes, (uint64) microseconds);
}

/*
 * bit and varbit: the number of bits, then the bits.  A value with a short
 * header can have any alignment, which PostgreSQL's macros do not expect.
 */
static void
BitBytes(KeyBytes *bytes, Datum value)
{
	int32		bits;
	size_t		length;
	const char *data;
	char	   *copy;

	PointVarlena(bytes, value);
	data = bytes->data;
	length = bytes->length - sizeof(bits);
	memcpy(&bits, data, sizeof(bits));

	copy = palloc(sizeof(bits) + length);
	CuckooStore32((uint8 *) copy, (uint32) bits);
	memcpy(copy + sizeof(bits), data + sizeof(bits), length);
	FreeBytes(bytes);
	bytes->copy = copy;
	PointBytes(bytes, copy, sizeof(bits) + length);
}

/*
 * inet and cidr: the IP version, the number of network bits, the address.
 */
static void
InetBytes(KeyBytes *bytes, Datum value)
{
	inet	   *address = DatumGetInetPP(value);

	PutByte(bytes, ip_family(address) == PGSQL_AF_INET ? 4 : 6);
	PutByte(bytes, ip_bits(address));
	PutBytes(bytes, ip_addr(address), (size_t) ip_addrsize(address));
	if ((Pointer) address != DatumGetPointer(value))
		pfree(address);
}

/*
 * The canonical bytes of a scalar.  For a nested key type this does nothing and
 * returns false.  Call FreeBytes when the bytes are no longer needed.
 */
bool
CuckooScalarBytes(KeyBytes *bytes, const CuckooKey *key, Datum value)
{
	bytes->data = bytes->scratch;
	bytes->length = 0;
	bytes->copy = NULL;

	switch (key->key_type)
	{
		case CUCKOO_KEY_INTEGER:
			PutUint64(bytes, (uint64) CuckooIntegerValue(key->type, value));
			return true;
		case CUCKOO_KEY_TEXT:
			TextBytes(bytes, key->type, value);
			return true;
		case CUCKOO_KEY_BYTEA:
			PointVarlena(bytes, value);
			return true;
		case CUCKOO_KEY_UUID:
			PointBytes(bytes, DatumGetUUIDP(value)->data, UUID_LEN);
			return true;
		case CUCKOO_KEY_BOOLEAN:
			PutByte(bytes, DatumGetBool(value) ? 1 : 0);
			return true;
		case CUCKOO_KEY_CHAR:
			PutByte(bytes, (uint8) DatumGetChar(value));
			return true;
		case CUCKOO_KEY_BIT:
			BitBytes(bytes, value);
			return true;
		case CUCKOO_KEY_FLOAT:
			FloatBytes(bytes, key->type == FLOAT4OID ?
					   (double) DatumGetFloat4(value) : DatumGetFloat8(value));
			return true;
		case CUCKOO_KEY_NUMERIC:
			CuckooNumericBytes(bytes, value);
			return true;
		case CUCKOO_KEY_MONEY:
			PutUint64(bytes, (uint64) DatumGetCash(value));
			return true;
		case CUCKOO_KEY_DATE:
			PutUint32(bytes, (uint32) DatumGetDateADT(value));
			return true;
		case CUCKOO_KEY_TIME:
			PutUint64(bytes, (uint64) DatumGetTimeADT(value));
			return true;
		case CUCKOO_KEY_TIMETZ:
			PutUint64(bytes, (uint64) DatumGetTimeTzADTP(value)->time);
			PutUint32(bytes, (uint32) DatumGetTimeTzADTP(value)->zone);
			return true;
		case CUCKOO_KEY_TIMESTAMP:
			PutUint64(bytes, (uint64) DatumGetTimestamp(value));
			return true;
		case CUCKOO_KEY_TIMESTAMPTZ:
			PutUint64(bytes, (uint64) DatumGetTimestampTz(value));
			return true;
		case CUCKOO_KEY_INTERVAL:
			IntervalBytes(bytes, DatumGetIntervalP(value));
			return true;
		case CUCKOO_KEY_INET:
			InetBytes(bytes, value);
			return true;
		case CUCKOO_KEY_MACADDR:
			PointBytes(bytes, DatumGetMacaddrP(value), 6);
			return true;
		case CUCKOO_KEY_MACADDR8:
			PointBytes(bytes, DatumGetMacaddr8P(value), 8);
			return true;
		case CUCKOO_KEY_PG_LSN:
			PutUint64(bytes, (uint64) DatumGetLSN(value));
			return true;
		case CUCKOO_KEY_XID8:
			PutUint64(bytes, U64FromFullTransactionId(DatumGetFullTransactionId(value)));
			return true;
		case CUCKOO_KEY_ENUM:
			EnumBytes(bytes, DatumGetObjectId(value));
			return true;
		case CUCKOO_KEY_JSONB:
		case CUCKOO_KEY_ARRAY:
		case CUCKOO_KEY_COMPOSITE:
		case CUCKOO_KEY_RANGE:
		case CUCKOO_KEY_MULTIRANGE:
		case CUCKOO_KEY_NONE:
			break;
	}
	return false;
}

/*
 * The hash of one value (key.h).
 */
uint64
CuckooKeyHash(CuckooKey *key, Datum value, uint64 seed)
{
	KeyBytes	bytes;
	uint64		hash;

	if (key->key_type == CUCKOO_KEY_INTEGER)
		return CuckooHashInt64(CuckooIntegerValue(key->type, value), seed);
	if (!CuckooScalarBytes(&bytes, key, value))
		return CuckooHashNested(key, value, seed);
	hash = CuckooHash(bytes.data, bytes.length, seed, key->key_type);
	FreeBytes(&bytes);
	return hash;
}
