/*-------------------------------------------------------------------------
 *
 * format.c
 *	  The portable bytes of a filter; see format.h.
 *
 *-------------------------------------------------------------------------
 */
#include <string.h>

#include "format.h"

/* A double by its IEEE 754 bits, on any byte order. */
static double
LoadDouble(const uint8_t *p)
{
	uint64_t	bits = CuckooLoad64(p);
	double		value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static void
StoreDouble(uint8_t *p, double value)
{
	uint64_t	bits;

	memcpy(&bits, &value, sizeof(bits));
	CuckooStore64(p, bits);
}

static CuckooVerdict
Verdict(CuckooProblem problem, uint64_t expected, uint64_t found)
{
	CuckooVerdict verdict;

	verdict.problem = problem;
	verdict.expected = expected;
	verdict.found = found;
	return verdict;
}

/*
 * The header fields that do not depend on what follows them.  Every field of
 * an unset filter is zero, so that there is one of it for each layout.
 */
static CuckooVerdict
CheckHeader(const uint8_t *bytes)
{
	uint8_t		body = bytes[1];
	uint8_t		kind = bytes[2];
	uint8_t		element_kind = bytes[3];
	uint8_t		flags = bytes[4];
	uint8_t		table_count = bytes[5];
	double		fpr = LoadDouble(bytes + 8);
	uint64_t	capacity = CuckooLoad64(bytes + 16);
	uint64_t	items = CuckooLoad64(bytes + 32);

	if (body > CUCKOO_PARTIAL)
		return Verdict(CUCKOO_BAD_FIELD, 0, 1);
	if (kind > CUCKOO_KIND_LAST || (kind == CUCKOO_KIND_NONE && items > 0))
		return Verdict(CUCKOO_BAD_FIELD, 0, 2);
	if (element_kind > CUCKOO_KIND_LAST ||
		CuckooKindHasElements(kind) != (element_kind != CUCKOO_KIND_NONE))
		return Verdict(CUCKOO_BAD_FIELD, 0, 3);
	if (flags & ~CUCKOO_FLAGS)
		return Verdict(CUCKOO_BAD_FIELD, 0, 4);
	/* A list has hashes, of which any one may be taken out. */
	if (body != CUCKOO_TABLES && (flags & CUCKOO_FLAG_NOT_REMOVABLE))
		return Verdict(CUCKOO_BAD_FIELD, 0, 4);
	/* An aggregate's state has neither layout nor seed. */
	if (body == CUCKOO_PARTIAL && flags != 0)
		return Verdict(CUCKOO_BAD_FIELD, 0, 4);
	if (body == CUCKOO_PARTIAL && CuckooLoad64(bytes + 24) != 0)
		return Verdict(CUCKOO_BAD_FIELD, 0, 24);
	if (body == CUCKOO_TABLES ?
		table_count < 1 || table_count > CUCKOO_MAX_TABLES : table_count != 0)
		return Verdict(CUCKOO_BAD_FIELD, 0, 5);
	if (body == CUCKOO_PARTIAL && bytes[6] != CUCKOO_PARTIAL_VERSION)
		return Verdict(CUCKOO_BAD_PARTIAL_VERSION, CUCKOO_PARTIAL_VERSION, bytes[6]);
	if (body != CUCKOO_PARTIAL && bytes[6] != 0)
		return Verdict(CUCKOO_BAD_FIELD, 0, 6);
	if (bytes[7] != 0)
		return Verdict(CUCKOO_BAD_FIELD, 0, 7);
	if (flags & CUCKOO_FLAG_UNSET)
	{
		if (body != CUCKOO_LIST || flags != CUCKOO_FLAG_UNSET)
			return Verdict(CUCKOO_BAD_FIELD, 0, 4);
		for (int i = 0; i < CUCKOO_HEADER_BYTES; i++)
		{
			if (bytes[i] != 0 && i != 0 && i != 4)
				return Verdict(CUCKOO_BAD_FIELD, 0, (uint64_t) i);
		}
		return Verdict(CUCKOO_VALID, 0, 0);
	}
	/* A NaN fails both comparisons. */
	if (!(fpr >= CUCKOO_MIN_FPR && fpr <= CUCKOO_MAX_FPR))
		return Verdict(CUCKOO_BAD_FIELD, 0, 8);
	if (capacity > CUCKOO_MAX_CAPACITY)
		return Verdict(CUCKOO_BAD_FIELD, 0, 16);
	if (items > CUCKOO_MAX_BYTES)
		return Verdict(CUCKOO_BAD_FIELD, 0, 32);
	if (body == CUCKOO_LIST &&
		items > (capacity == 0 ? CUCKOO_LONG_LIST : CUCKOO_SHORT_LIST))
		return Verdict(CUCKOO_BAD_FIELD, 0, 32);
	return Verdict(CUCKOO_VALID, 0, 0);
}

/*
 * A sorted list: a hash stands at most eight times in a filter, once in an
 * aggregate's state.
 */
static CuckooVerdict
CheckList(const CuckooFilter *filter)
{
	uint64_t	most = filter->body == CUCKOO_PARTIAL ? 1 : CUCKOO_MAX_COPIES;
	uint64_t	copies = 0;

	for (uint64_t i = 0; i < filter->items; i++)
	{
		uint64_t	hash = CuckooListGet(filter, i);

		if (i > 0 && hash < CuckooListGet(filter, i - 1))
			return Verdict(CUCKOO_BAD_ORDER, 0, i);
		copies = i > 0 && hash == CuckooListGet(filter, i - 1) ? copies + 1 : 1;
		if (copies > most)
			return Verdict(CUCKOO_BAD_ORDER, 0, i);
	}
	return Verdict(CUCKOO_VALID, 0, 0);
}

/*
 * The shapes in the directory, before any length is worked out from them.
 * They are bounded so that no sum of sixteen can wrap.
 */
static CuckooVerdict
CheckDirectory(const uint8_t *bytes)
{
	uint64_t	sum = 0;

	for (int i = 0; i < bytes[5]; i++)
	{
		const uint8_t *entry = bytes + CUCKOO_HEADER_BYTES + i * CUCKOO_DIRECTORY_BYTES;
		uint64_t	blocks = CuckooLoad32(entry);
		uint64_t	buckets = CuckooLoad16(entry + 4);
		uint64_t	items = CuckooLoad64(entry + 8);

		/* At least two bytes a bucket; the first table is no stash. */
		if (blocks < 1 || blocks > CUCKOO_MAX_BYTES / (2 * CUCKOO_MIN_BUCKETS) ||
			buckets < CUCKOO_MIN_BUCKETS || buckets > CUCKOO_MAX_BUCKETS ||
			buckets % 2 != 0 || blocks * buckets > CUCKOO_MAX_BYTES / 2 ||
			entry[6] < CUCKOO_MIN_BITS || entry[6] > CUCKOO_MAX_BITS ||
			entry[7] > (i > 0) || items > blocks * buckets * CUCKOO_ENTRIES)
			return Verdict(CUCKOO_BAD_TABLE, 0, (uint64_t) i + 1);
		sum += items;
	}
	if (sum != CuckooLoad64(bytes + 32))
		return Verdict(CUCKOO_BAD_ITEMS, sum, CuckooLoad64(bytes + 32));
	return Verdict(CUCKOO_VALID, 0, 0);
}

void
CuckooOpenHeader(CuckooFilter *filter, const uint8_t *bytes)
{
	filter->body = bytes[1];
	if (filter->body == CUCKOO_STATE)
	{
		/* Nothing else of it is as in the format. */
		memset(filter, 0, sizeof(*filter));
		filter->body = CUCKOO_STATE;
		return;
	}
	filter->kind = bytes[2];
	filter->element_kind = bytes[3];
	filter->flags = bytes[4];
	filter->table_count = bytes[5];
	filter->stashes = 0;
	filter->fpr = LoadDouble(bytes + 8);
	filter->capacity = CuckooLoad64(bytes + 16);
	filter->seed = CuckooLoad64(bytes + 24);
	filter->items = CuckooLoad64(bytes + 32);
	for (int i = 0; i < filter->table_count; i++)
	{
		const uint8_t *entry = bytes + CUCKOO_HEADER_BYTES + i * CUCKOO_DIRECTORY_BYTES;
		CuckooTable *table = &filter->tables[i];

		table->shape.blocks = CuckooLoad32(entry);
		table->shape.buckets = CuckooLoad16(entry + 4);
		table->shape.bits = entry[6];
		table->shape.layout = (uint8_t) CuckooFilterLayout(filter);
		table->items = CuckooLoad64(entry + 8);
		CuckooTableInit(table, &table->shape, table->items, NULL);
		filter->stashes |= (uint16_t) (entry[7] << i);
	}
	filter->list = NULL;
}

/* Point the filter at its list or tables in bytes, which must be that long. */
static void
PointInto(CuckooFilter *filter, uint8_t *bytes)
{
	uint8_t    *p = bytes + CUCKOO_HEADER_BYTES;

	filter->list = p;
	p += filter->table_count * CUCKOO_DIRECTORY_BYTES;
	for (int i = 0; i < filter->table_count; i++)
	{
		CuckooTable *table = &filter->tables[i];

		CuckooTableInit(table, &table->shape, table->items, p);
		p += CuckooShapeBytes(&table->shape);
	}
}

CuckooVerdict
CuckooValidate(const uint8_t *bytes, size_t length, CuckooPause pause)
{
	CuckooVerdict verdict;
	CuckooFilter filter;
	uint64_t	fixed = CUCKOO_HEADER_BYTES;
	uint64_t	expected;

	/* The version first: everything else depends on it. */
	if (length < 1)
		return Verdict(CUCKOO_TOO_SHORT, fixed, length);
	if (bytes[0] > CUCKOO_VERSION && bytes[0] <= CUCKOO_LAST_VERSION)
		return Verdict(CUCKOO_NEWER_VERSION, CUCKOO_VERSION, bytes[0]);
	if (bytes[0] != CUCKOO_VERSION)
		return Verdict(CUCKOO_BAD_VERSION, CUCKOO_VERSION, bytes[0]);
	if (length < fixed)
		return Verdict(CUCKOO_TOO_SHORT, fixed, length);
	if (length > CUCKOO_MAX_BYTES)
		return Verdict(CUCKOO_TOO_LONG, CUCKOO_MAX_BYTES, length);

	verdict = CheckHeader(bytes);
	if (verdict.problem != CUCKOO_VALID)
		return verdict;
	if (bytes[1] == CUCKOO_TABLES)
	{
		fixed += (uint64_t) bytes[5] * CUCKOO_DIRECTORY_BYTES;
		if (length < fixed)
			return Verdict(CUCKOO_TOO_SHORT, fixed, length);
		verdict = CheckDirectory(bytes);
		if (verdict.problem != CUCKOO_VALID)
			return verdict;
	}

	CuckooOpenHeader(&filter, bytes);
	expected = CuckooBytes(&filter);
	if (expected != length)
		return Verdict(CUCKOO_BAD_LENGTH, expected, length);

	/* The filter is only read here; those that change one share the type. */
	PointInto(&filter, (uint8_t *) bytes);
	if (filter.body != CUCKOO_TABLES)
		return CheckList(&filter);

	for (int i = 0; i < filter.table_count; i++)
	{
		CuckooTable *table = &filter.tables[i];
		uint64_t	items;
		uint64_t	bad;

		if (!CuckooTableCheck(table, &items, &bad, pause))
			return Verdict(CUCKOO_BAD_BUCKET, 0, bad);
		if (items != table->items)
			return Verdict(CUCKOO_BAD_ITEMS, items, table->items);
	}
	for (size_t i = length - CUCKOO_TAIL_BYTES; i < length; i++)
	{
		if (bytes[i] != 0)
			return Verdict(CUCKOO_BAD_TAIL, 0, i);
	}
	return Verdict(CUCKOO_VALID, 0, 0);
}

void
CuckooOpen(CuckooFilter *filter, uint8_t *bytes)
{
	CuckooOpenHeader(filter, bytes);
	PointInto(filter, bytes);
}

size_t
CuckooBytes(const CuckooFilter *filter)
{
	uint64_t	bytes = CUCKOO_HEADER_BYTES;

	if (filter->body != CUCKOO_TABLES)
	{
		if (filter->items > CUCKOO_MAX_BYTES / 8)
			return 0;
		bytes += filter->items * 8;
	}
	else
	{
		bytes += filter->table_count * CUCKOO_DIRECTORY_BYTES + CUCKOO_TAIL_BYTES;
		for (int i = 0; i < filter->table_count; i++)
		{
			/* 2^32 blocks of 2^15 buckets of 16 bytes do not wrap */
			bytes += CuckooShapeBytes(&filter->tables[i].shape);
			if (bytes > CUCKOO_MAX_BYTES)
				return 0;
		}
	}
	return bytes > CUCKOO_MAX_BYTES ? 0 : (size_t) bytes;
}

void
CuckooWriteHeader(const CuckooFilter *filter, uint8_t *bytes)
{
	bytes[0] = CUCKOO_VERSION;
	bytes[1] = filter->body;
	bytes[2] = filter->kind;
	bytes[3] = filter->element_kind;
	bytes[4] = filter->flags;
	bytes[5] = filter->table_count;
	bytes[6] = filter->body == CUCKOO_PARTIAL ? CUCKOO_PARTIAL_VERSION : 0;
	bytes[7] = 0;
	StoreDouble(bytes + 8, filter->fpr);
	CuckooStore64(bytes + 16, filter->capacity);
	CuckooStore64(bytes + 24, filter->seed);
	CuckooStore64(bytes + 32, filter->items);
	for (int i = 0; i < filter->table_count; i++)
	{
		const CuckooTable *table = &filter->tables[i];
		uint8_t    *entry = bytes + CUCKOO_HEADER_BYTES + i * CUCKOO_DIRECTORY_BYTES;

		CuckooStore32(entry, table->shape.blocks);
		CuckooStore16(entry + 4, table->shape.buckets);
		entry[6] = table->shape.bits;
		entry[7] = CuckooIsStash(filter, i);
		CuckooStore64(entry + 8, table->items);
	}
}

void
CuckooLayOut(CuckooFilter *filter, uint8_t *bytes)
{
	CuckooWriteHeader(filter, bytes);
	PointInto(filter, bytes);
}
