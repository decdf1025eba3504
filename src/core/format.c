/*-------------------------------------------------------------------------
 *
 * format.c
 *	  The portable bytes of a filter; see format.h.
 *
 *-------------------------------------------------------------------------
 */
#include <stdio.h>

#include "format.h"

/* Note what is wrong, with the numbers of the message; returns false. */
static bool
Refuse(CuckooVerdict *verdict, const char *message, uint64_t first, uint64_t second)
{
	verdict->newer = false;
	snprintf(verdict->message, sizeof(verdict->message), message,
			 (unsigned long long) first, (unsigned long long) second);
	return false;
}

static bool
RefuseField(CuckooVerdict *verdict, uint64_t offset)
{
	return Refuse(verdict, "The header field at offset %llu is out of range.", offset, 0);
}

/*
 * The header fields.  Every other field of an unset filter is zero, so that it
 * has only one form.
 */
static bool
CheckHeader(const uint8_t *bytes, CuckooVerdict *verdict)
{
	uint8_t		content = bytes[1];
	uint8_t		key_type = bytes[2];
	uint8_t		flags = bytes[3];
	double		fpr = CuckooLoadDouble(bytes + 8);
	uint8_t		tables = bytes[32];

	if (content > CUCKOO_PARTIAL)
		return RefuseField(verdict, 1);
	if (key_type > CUCKOO_KEY_LAST)
		return RefuseField(verdict, 2);
	/* A partial state has no flags. */
	if ((flags & ~CUCKOO_FLAGS) != 0 || (content == CUCKOO_PARTIAL && flags != 0))
		return RefuseField(verdict, 3);
	for (uint64_t i = 33; i < CUCKOO_HEADER_BYTES; i++)
	{
		if (bytes[i] != 0)
			return RefuseField(verdict, i);
	}
	if (flags & CUCKOO_FLAG_UNSET)
	{
		if (flags != CUCKOO_FLAG_UNSET)
			return RefuseField(verdict, 3);
		for (uint64_t i = 1; i < CUCKOO_HEADER_BYTES; i++)
		{
			if (bytes[i] != 0 && i != 3)
				return RefuseField(verdict, i);
		}
		return true;
	}
	if (CuckooKeyTypeIsNested((CuckooKeyType) key_type) != (CuckooLoad32(bytes + 4) != 0))
		return RefuseField(verdict, 4);
	/* A NaN fails both comparisons. */
	if (!(fpr >= CUCKOO_MIN_FPR && fpr <= CUCKOO_MAX_FPR))
		return RefuseField(verdict, 8);
	if (CuckooLoad64(bytes + 16) > CUCKOO_MAX_CAPACITY)
		return RefuseField(verdict, 16);
	if (content == CUCKOO_PARTIAL ? tables != 0 : tables < 1 || tables > CUCKOO_MAX_TABLES)
		return RefuseField(verdict, 32);
	return true;
}

static CuckooShape
EntryShape(const uint8_t *entry)
{
	return CuckooShapeOf(CuckooLoad32(entry), CuckooLoad16(entry + 8), entry[10]);
}

/*
 * The directory, before any length is computed from it.  With fields in these
 * ranges, no sum of sixteen lengths can overflow.
 */
static bool
CheckDirectory(const uint8_t *bytes, CuckooVerdict *verdict)
{
	CuckooShape last = {0};

	for (int i = 0; i < bytes[32]; i++)
	{
		const uint8_t *entry = bytes + CUCKOO_HEADER_BYTES + i * CUCKOO_DIRECTORY_BYTES;
		uint64_t	items = CuckooLoad32(entry + 4);
		bool		has_bits = entry[10] >= CUCKOO_MIN_BITS && entry[10] <= CUCKOO_MAX_BITS;
		CuckooShape shape = has_bits ? EntryShape(entry) : last;

		if (!has_bits || shape.blocks < 1 || shape.buckets < CUCKOO_MIN_BUCKETS ||
			shape.buckets > CUCKOO_MAX_BUCKETS || shape.buckets % 2 != 0 ||
			CuckooShapeBuckets(&shape) > CUCKOO_MAX_TABLE_BUCKETS ||
			entry[11] > CUCKOO_DENSE ||
			(entry[11] == CUCKOO_DENSE && items > CuckooShapeEntries(&shape)) ||
			(items > 0 && bytes[2] == CUCKOO_KEY_NONE) ||
			(i > 0 && CuckooShapeOrder(&last, &shape) >= 0))
			return Refuse(verdict, "The directory entry of sub-filter %llu is out of range.",
						  (uint64_t) i + 1, 0);
		last = shape;
	}
	return true;
}

/* The hashes of a partial state: ascending, and therefore distinct. */
static bool
CheckHashes(const CuckooFilter *filter, CuckooVerdict *verdict)
{
	for (uint64_t i = 1; i < filter->header.items; i++)
	{
		CuckooCheckInterruptsAt(i);
		if (CuckooPartialHash(filter, i) <= CuckooPartialHash(filter, i - 1))
			return Refuse(verdict, "Hash %llu of the partial state is out of order.", i, 0);
	}
	return true;
}

static bool
CheckTable(const CuckooTable *table, CuckooVerdict *verdict)
{
	uint64_t	items;
	uint64_t	bad;

	if (table->representation == CUCKOO_SPARSE)
		return CuckooSparseCheck(&table->sparse, &bad) ||
			Refuse(verdict, "Group %llu of a sub-filter is not in its canonical form.", bad, 0);
	if (!CuckooDenseCheck(&table->dense, &items, &bad))
		return Refuse(verdict, "Bucket %llu of a sub-filter is not in its canonical form.", bad, 0);
	return items == table->items ||
		Refuse(verdict, "It holds %llu items, but its header says %llu.", items, table->items);
}

void
CuckooOpenHeader(CuckooFilter *filter, const uint8_t *bytes, size_t length)
{
	CuckooHeader *header = &filter->header;

	filter->version = bytes[0];
	header->content = bytes[1];
	header->kind.type = bytes[2];
	header->flags = bytes[3];
	header->kind.signature = CuckooLoad32(bytes + 4);
	header->fpr = CuckooLoadDouble(bytes + 8);
	header->capacity = CuckooLoad64(bytes + 16);
	header->seed = CuckooLoad64(bytes + 24);
	header->table_count = bytes[32];
	header->items = header->content == CUCKOO_PARTIAL ?
		(length - CUCKOO_HEADER_BYTES - CUCKOO_TAIL_BYTES) / 8 : 0;
	filter->hashes = NULL;
	for (int i = 0; i < header->table_count; i++)
	{
		const uint8_t *entry = bytes + CUCKOO_HEADER_BYTES + i * CUCKOO_DIRECTORY_BYTES;
		CuckooShape shape = EntryShape(entry);

		CuckooTableInit(&filter->tables[i], &shape, entry[11], CuckooLoad32(entry + 4));
		header->items += filter->tables[i].items;
	}
}

uint64_t
CuckooTableOffset(const CuckooFilter *filter, int i)
{
	uint64_t	offset = CUCKOO_HEADER_BYTES +
		(uint64_t) filter->header.table_count * CUCKOO_DIRECTORY_BYTES;

	if (filter->header.content == CUCKOO_PARTIAL)
		offset += 8 * filter->header.items;
	while (--i >= 0)
		offset += CuckooTableStoredBytes(&filter->tables[i]);
	return offset;
}

/* Point the filter to its tables or hashes in bytes, which are long enough. */
static void
PointInto(CuckooFilter *filter, uint8_t *bytes)
{
	uint8_t    *p = bytes + CUCKOO_HEADER_BYTES;

	filter->hashes = p;
	p += filter->header.table_count * CUCKOO_DIRECTORY_BYTES;
	for (int i = 0; i < filter->header.table_count; i++)
	{
		CuckooTableSetData(&filter->tables[i], p);
		p += CuckooTableStoredBytes(&filter->tables[i]);
	}
}

/*
 * The header and directory, which must describe a value of this length.  Opens
 * them; reads no more than CUCKOO_MAX_HEADER_BYTES.
 */
static bool
CheckLength(CuckooFilter *filter, const uint8_t *bytes, size_t length, CuckooVerdict *verdict)
{
	static const char too_short[] = "It has %llu bytes, but must have at least %llu.";
	uint64_t	fixed = CUCKOO_HEADER_BYTES + CUCKOO_TAIL_BYTES;
	uint64_t	expected;

	/* The version first: everything else depends on it. */
	if (length < 1)
		return Refuse(verdict, too_short, length, fixed);
	if (bytes[0] != CUCKOO_VERSION)
	{
		Refuse(verdict, "Its format version is %llu.", bytes[0], 0);
		verdict->newer = bytes[0] > CUCKOO_VERSION && bytes[0] <= CUCKOO_LAST_VERSION;
		return false;
	}
	if (length < fixed)
		return Refuse(verdict, too_short, length, fixed);
	if (length > CUCKOO_MAX_BYTES)
		return Refuse(verdict, "It has %llu bytes, but may have at most %llu.", length,
					  CUCKOO_MAX_BYTES);

	if (!CheckHeader(bytes, verdict))
		return false;
	fixed += (uint64_t) bytes[32] * CUCKOO_DIRECTORY_BYTES;
	if (length < fixed)
		return Refuse(verdict, too_short, length, fixed);
	if (!CheckDirectory(bytes, verdict))
		return false;

	CuckooOpenHeader(filter, bytes, length);
	expected = CuckooTableOffset(filter, filter->header.table_count) + CUCKOO_TAIL_BYTES;
	if (expected != length)
		return Refuse(verdict, "It has %llu bytes, but its header describes %llu.", length,
					  expected);
	return filter->header.items == 0 || filter->header.kind.type != CUCKOO_KEY_NONE ||
		RefuseField(verdict, 2);
}

bool
CuckooValidate(const uint8_t *bytes, size_t length, CuckooVerdict *verdict)
{
	CuckooFilter filter;

	if (!CheckLength(&filter, bytes, length, verdict))
		return false;
	for (size_t i = length - CUCKOO_TAIL_BYTES; i < length; i++)
	{
		if (bytes[i] != 0)
			return Refuse(verdict, "The byte at offset %llu is not zero.", i, 0);
	}

	/* The filter is only read here, but its type is not const. */
	PointInto(&filter, (uint8_t *) bytes);
	if (filter.header.content == CUCKOO_PARTIAL)
		return CheckHashes(&filter, verdict);
	for (int i = 0; i < filter.header.table_count; i++)
	{
		if (!CheckTable(&filter.tables[i], verdict))
			return false;
	}
	return true;
}

bool
CuckooOpenFirst(CuckooFilter *filter, const uint8_t *first, size_t bytes, size_t length)
{
	CuckooVerdict verdict;

	return (bytes >= CUCKOO_MAX_HEADER_BYTES || bytes == length) &&
		CheckLength(filter, first, length, &verdict);
}

void
CuckooOpen(CuckooFilter *filter, uint8_t *bytes, size_t length)
{
	CuckooOpenHeader(filter, bytes, length);
	PointInto(filter, bytes);
}

size_t
CuckooBytes(const CuckooFilter *filter)
{
	uint64_t	bytes = CuckooTableOffset(filter, filter->header.table_count) + CUCKOO_TAIL_BYTES;

	return bytes > CUCKOO_MAX_BYTES ? 0 : (size_t) bytes;
}

void
CuckooWriteHeader(const CuckooFilter *filter, uint8_t *bytes)
{
	const CuckooHeader *header = &filter->header;

	memset(bytes, 0, CUCKOO_HEADER_BYTES);
	bytes[0] = CUCKOO_VERSION;
	bytes[1] = header->content;
	bytes[2] = header->kind.type;
	bytes[3] = header->flags;
	CuckooStore32(bytes + 4, header->kind.signature);
	CuckooStoreDouble(bytes + 8, header->fpr);
	CuckooStore64(bytes + 16, header->capacity);
	CuckooStore64(bytes + 24, header->seed);
	bytes[32] = header->table_count;
	for (int i = 0; i < header->table_count; i++)
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
