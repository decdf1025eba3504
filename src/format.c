/*-------------------------------------------------------------------------
 *
 * format.c
 *	  The portable bytes of a filter; see format.h.
 *
 *-------------------------------------------------------------------------
 */
#include "format.h"

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
 * The header fields.  Every other field of an unset filter is zero, so that it
 * has only one form.
 */
static CuckooVerdict
CheckHeader(const uint8_t *bytes)
{
	uint8_t		content = bytes[1];
	uint8_t		key_type = bytes[2];
	uint8_t		flags = bytes[3];
	double		fpr = CuckooLoadDouble(bytes + 8);
	uint8_t		tables = bytes[32];

	if (content > CUCKOO_PARTIAL)
		return Verdict(CUCKOO_BAD_FIELD, 0, 1);
	if (key_type > CUCKOO_KEY_LAST)
		return Verdict(CUCKOO_BAD_FIELD, 0, 2);
	/* A partial state has no flags. */
	if ((flags & ~CUCKOO_FLAGS) != 0 || (content == CUCKOO_PARTIAL && flags != 0))
		return Verdict(CUCKOO_BAD_FIELD, 0, 3);
	for (uint64_t i = 33; i < CUCKOO_HEADER_BYTES; i++)
	{
		if (bytes[i] != 0)
			return Verdict(CUCKOO_BAD_FIELD, 0, i);
	}
	if (flags & CUCKOO_FLAG_UNSET)
	{
		if (flags != CUCKOO_FLAG_UNSET)
			return Verdict(CUCKOO_BAD_FIELD, 0, 3);
		for (uint64_t i = 1; i < CUCKOO_HEADER_BYTES; i++)
		{
			if (bytes[i] != 0 && i != 3)
				return Verdict(CUCKOO_BAD_FIELD, 0, i);
		}
		return Verdict(CUCKOO_VALID, 0, 0);
	}
	if (CuckooKeyTypeIsNested((CuckooKeyType) key_type) != (CuckooLoad32(bytes + 4) != 0))
		return Verdict(CUCKOO_BAD_FIELD, 0, 4);
	/* A NaN fails both comparisons. */
	if (!(fpr >= CUCKOO_MIN_FPR && fpr <= CUCKOO_MAX_FPR))
		return Verdict(CUCKOO_BAD_FIELD, 0, 8);
	if (CuckooLoad64(bytes + 16) > CUCKOO_MAX_CAPACITY)
		return Verdict(CUCKOO_BAD_FIELD, 0, 16);
	if (content == CUCKOO_PARTIAL ? tables != 0 : tables < 1 || tables > CUCKOO_MAX_TABLES)
		return Verdict(CUCKOO_BAD_FIELD, 0, 32);
	return Verdict(CUCKOO_VALID, 0, 0);
}

/*
 * The directory, before any length is computed from it.  With fields in these
 * ranges, no sum of sixteen lengths can overflow.
 */
static CuckooVerdict
CheckDirectory(const uint8_t *bytes)
{
	CuckooShape last = {0};

	for (int i = 0; i < bytes[32]; i++)
	{
		const uint8_t *entry = bytes + CUCKOO_HEADER_BYTES + i * CUCKOO_DIRECTORY_BYTES;
		uint64_t	items = CuckooLoad32(entry + 4);
		CuckooShape shape;

		shape.blocks = CuckooLoad32(entry);
		shape.buckets = CuckooLoad16(entry + 8);
		shape.bits = entry[10];
		if (shape.blocks < 1 || shape.buckets < CUCKOO_MIN_BUCKETS ||
			shape.buckets > CUCKOO_MAX_BUCKETS || shape.buckets % 2 != 0 ||
			CuckooShapeBuckets(&shape) > CUCKOO_MAX_TABLE_BUCKETS ||
			shape.bits < CUCKOO_MIN_BITS || shape.bits > CUCKOO_MAX_BITS ||
			entry[11] > CUCKOO_DENSE ||
			(entry[11] == CUCKOO_DENSE && items > CuckooShapeEntries(&shape)) ||
			(items > 0 && bytes[2] == CUCKOO_KEY_NONE) ||
			(i > 0 && CuckooShapeOrder(&last, &shape) >= 0))
			return Verdict(CUCKOO_BAD_TABLE, 0, (uint64_t) i + 1);
		last = shape;
	}
	return Verdict(CUCKOO_VALID, 0, 0);
}

/* The hashes of a partial state: ascending, and therefore distinct. */
static CuckooVerdict
CheckHashes(const CuckooFilter *filter)
{
	for (uint64_t i = 1; i < filter->items; i++)
	{
		if (CuckooPartialHash(filter, i) <= CuckooPartialHash(filter, i - 1))
			return Verdict(CUCKOO_BAD_ORDER, 0, i);
	}
	return Verdict(CUCKOO_VALID, 0, 0);
}

static CuckooVerdict
CheckTable(const CuckooTable *table)
{
	uint64_t	items;
	uint64_t	bad;

	if (table->representation == CUCKOO_SPARSE)
	{
		if (!CuckooSparseCheck(&table->sparse, &bad))
			return Verdict(CUCKOO_BAD_GROUP, 0, bad);
		return Verdict(CUCKOO_VALID, 0, 0);
	}
	if (!CuckooDenseCheck(&table->dense, &items, &bad))
		return Verdict(CUCKOO_BAD_BUCKET, 0, bad);
	if (items != table->items)
		return Verdict(CUCKOO_BAD_ITEMS, items, table->items);
	return Verdict(CUCKOO_VALID, 0, 0);
}

void
CuckooOpenHeader(CuckooFilter *filter, const uint8_t *bytes)
{
	filter->content = bytes[1];
	if (filter->content == CUCKOO_STATE)
	{
		/* The rest does not have the form that the format describes. */
		memset(&filter->header, 0, sizeof(CuckooHeader));
		filter->content = CUCKOO_STATE;
		return;
	}
	filter->key_type = bytes[2];
	filter->flags = bytes[3];
	filter->table_count = bytes[32];
	filter->signature = CuckooLoad32(bytes + 4);
	filter->fpr = CuckooLoadDouble(bytes + 8);
	filter->capacity = CuckooLoad64(bytes + 16);
	filter->seed = CuckooLoad64(bytes + 24);
	filter->items = 0;
	filter->hashes = NULL;
	for (int i = 0; i < filter->table_count; i++)
	{
		const uint8_t *entry = bytes + CUCKOO_HEADER_BYTES + i * CUCKOO_DIRECTORY_BYTES;
		CuckooShape shape;

		shape.blocks = CuckooLoad32(entry);
		shape.buckets = CuckooLoad16(entry + 8);
		shape.bits = entry[10];
		CuckooTableInit(&filter->tables[i], &shape, (CuckooRepresentation) entry[11],
						CuckooLoad32(entry + 4), NULL);
		filter->items += filter->tables[i].items;
	}
}

uint64_t
CuckooTableOffset(const CuckooFilter *filter, int i)
{
	uint64_t	offset = CUCKOO_HEADER_BYTES +
		(uint64_t) filter->table_count * CUCKOO_DIRECTORY_BYTES;

	while (--i >= 0)
		offset += CuckooTableStoredBytes(&filter->tables[i]);
	return offset;
}

/*
 * Point the filter to its tables or hashes in bytes, which must be long
 * enough.
 */
static void
PointInto(CuckooFilter *filter, uint8_t *bytes)
{
	uint8_t    *p = bytes + CUCKOO_HEADER_BYTES;

	filter->hashes = p;
	p += filter->table_count * CUCKOO_DIRECTORY_BYTES;
	for (int i = 0; i < filter->table_count; i++)
	{
		CuckooTableSetData(&filter->tables[i], p);
		p += CuckooTableStoredBytes(&filter->tables[i]);
	}
}

CuckooVerdict
CuckooValidate(const uint8_t *bytes, size_t length)
{
	CuckooVerdict verdict;
	CuckooFilter filter;
	uint64_t	fixed = CUCKOO_HEADER_BYTES + CUCKOO_TAIL_BYTES;
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
	fixed += (uint64_t) bytes[32] * CUCKOO_DIRECTORY_BYTES;
	if (length < fixed)
		return Verdict(CUCKOO_TOO_SHORT, fixed, length);
	verdict = CheckDirectory(bytes);
	if (verdict.problem != CUCKOO_VALID)
		return verdict;

	CuckooOpenHeader(&filter, bytes);
	if (filter.content == CUCKOO_PARTIAL)
		filter.items = (length - fixed) / 8;
	expected = CuckooTableOffset(&filter, filter.table_count) + CUCKOO_TAIL_BYTES;
	if (filter.content == CUCKOO_PARTIAL)
		expected += 8 * filter.items;
	if (expected == length && filter.items > 0 && filter.key_type == CUCKOO_KEY_NONE)
		return Verdict(CUCKOO_BAD_FIELD, 0, 2);
	if (expected != length)
		return Verdict(CUCKOO_BAD_LENGTH, expected, length);
	for (size_t i = length - CUCKOO_TAIL_BYTES; i < length; i++)
	{
		if (bytes[i] != 0)
			return Verdict(CUCKOO_BAD_TAIL, 0, i);
	}

	/* The filter is only read here, but its type is not const. */
	PointInto(&filter, (uint8_t *) bytes);
	if (filter.content == CUCKOO_PARTIAL)
		return CheckHashes(&filter);
	for (int i = 0; i < filter.table_count; i++)
	{
		verdict = CheckTable(&filter.tables[i]);
		if (verdict.problem != CUCKOO_VALID)
			return verdict;
	}
	return verdict;
}

void
CuckooOpen(CuckooFilter *filter, uint8_t *bytes, size_t length)
{
	CuckooOpenHeader(filter, bytes);
	if (filter->content == CUCKOO_PARTIAL)
		filter->items = (length - CUCKOO_HEADER_BYTES - CUCKOO_TAIL_BYTES) / 8;
	PointInto(filter, bytes);
}

size_t
CuckooBytes(const CuckooFilter *filter)
{
	uint64_t	bytes = CuckooTableOffset(filter, filter->table_count) + CUCKOO_TAIL_BYTES;

	if (filter->content == CUCKOO_PARTIAL)
		bytes += 8 * filter->items;
	return bytes > CUCKOO_MAX_BYTES ? 0 : (size_t) bytes;
}

void
CuckooWriteHeader(const CuckooFilter *filter, uint8_t *bytes)
{
	memset(bytes, 0, CUCKOO_HEADER_BYTES);
	bytes[0] = CUCKOO_VERSION;
	bytes[1] = filter->content;
	bytes[2] = filter->key_type;
	bytes[3] = filter->flags;
	CuckooStore32(bytes + 4, filter->signature);
	CuckooStoreDouble(bytes + 8, filter->fpr);
	CuckooStore64(bytes + 16, filter->capacity);
	CuckooStore64(bytes + 24, filter->seed);
	bytes[32] = filter->table_count;
	for (int i = 0; i < filter->table_count; i++)
	{
		const CuckooTable *table = &filter->tables[i];
		uint8_t    *entry = bytes + CUCKOO_HEADER_BYTES + i * CUCKOO_DIRECTORY_BYTES;

		CuckooStore32(entry, table->shape.blocks);
		CuckooStore32(entry + 4, (uint32_t) table->items);
		CuckooStore16(entry + 8, table->shape.buckets);
		entry[10] = table->shape.bits;
		entry[11] = table->representation;
	}
}

void
CuckooLayOut(CuckooFilter *filter, uint8_t *bytes)
{
	CuckooWriteHeader(filter, bytes);
	PointInto(filter, bytes);
	memset(bytes + CuckooBytes(filter) - CUCKOO_TAIL_BYTES, 0, CUCKOO_TAIL_BYTES);
}
