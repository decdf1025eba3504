/*-------------------------------------------------------------------------
 *
 * format_test.c
 *	  The portable bytes: what is written can be read, and the validator
 *	  refuses everything malformed.
 *
 * The validator is always given memory of exactly the length that it is told,
 * so that AddressSanitizer notices if it reads further.  What it accepts is
 * then opened and used: see exercise.h.
 *
 *-------------------------------------------------------------------------
 */
#include "exercise.h"

#define FIXED			(CUCKOO_HEADER_BYTES + CUCKOO_TAIL_BYTES)

/* Valid filters of every sort, all small */
static Value samples[12];

static void
MakeSamples(void)
{
	/* Fingerprints of 32 bits, whose buckets need two words */
	static const uint64_t wide[] = {
		1, 2, 2, 77, UINT64_C(0xFFFFFFFF), UINT64_C(0x100000001), UINT64_C(0x1ABCDEF01),
		UINT64_C(0x1ABCDEF01), UINT64_C(0x1ABCDEF01), UINT64_C(0x1ABCDEF02),
		UINT64_C(0x1FFFFFFFE), UINT64_C(0x1FFFFFFFF)
	};
	CuckooShape shape = CuckooShapeOf(2, 2, 32);
	CuckooHeader partial = {.content = CUCKOO_PARTIAL, .fpr = 0.001, .capacity = 100};
	Value		parts[3] = {
		ValueOfHashes(NULL, 0, 0.1, 1), ValueOfKeys(1, 20, 60, 0.01, 300),
		ValueOfKeys(1, 60, 90, 0.001, 0)
	};

	AddKeys(&parts[0], 1, 0, 20);
	samples[0] = BareValue((CuckooHeader) {.flags = CUCKOO_FLAG_UNSET});
	samples[1] = BareValue(partial);
	partial.kind.type = CUCKOO_KEY_TEXT;
	partial.items = 20;
	samples[2] = BareValue(partial);
	partial.kind = (CuckooKeyKind) {CUCKOO_KEY_ARRAY, 99};
	partial.capacity = CUCKOO_MAX_CAPACITY;
	partial.seed = UINT64_MAX;
	samples[3] = BareValue(partial);
	samples[4] = ValueOfHashes(NULL, 0, 0.1, 1);
	samples[5] = ValueOfHashes(NULL, 0, 0.001, 0);
	samples[6] = ValueOfKeys(1, 0, 1, 0.001, 0);
	samples[7] = ValueOfKeys(1, 0, 50, 0.001, 200);
	samples[8] = ValueOfCodes(&shape, wide, 5, 1e-6, 7);	/* sparse */
	samples[9] = ValueOfCodes(&shape, wide, lengthof(wide), 1e-6, 7);	/* dense */
	samples[10] = parts[0];
	samples[11] = Combine(CUCKOO_UNION, parts, 3);
}

static size_t
HeaderBytes(const Value *value)
{
	return CUCKOO_HEADER_BYTES + Open(value).header.table_count * CUCKOO_DIRECTORY_BYTES;
}

/* Whether bytes are accepted, after which they are used. */
static bool
IsAccepted(const uint8_t *bytes, size_t length)
{
	static uint64_t count;
	uint8_t    *copy = Duplicate(bytes, length);
	CuckooVerdict verdict = {0};
	bool		valid = CuckooValidate(length > 0 ? copy : NULL, length, &verdict);

	assert_memory_equal(copy, bytes, length);
	assert_true(valid == (verdict.message[0] == '\0'));
	if (valid)
	{
		Value		value = {copy, length};

		/* Not all is done every time: walks in full tables take long. */
		if (++count % 16 == 0)
			Exercise(&value);
		else
			CheckValue(&value);
	}
	pfree(copy);
	return valid;
}

/* ----------------------------------------------------------- good bytes */

/* The description in format.h, byte by byte. */
TEST(the_header_is_laid_out_as_described)
{
	static const uint8_t expected[] = {
		1, 0, 24, 1, 0x44, 0x33, 0x22, 0x11,
		0, 0, 0, 0, 0, 0, 0x90, 0x3F,	/* 2^-6 */
		8, 7, 6, 5, 4, 3, 2, 1,
		0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11,
		2, 0, 0, 0,
		3, 2, 1, 0, 0x35, 0x34, 0x33, 0x32, 6, 4, 17, 1,
		1, 0, 0, 0, 9, 0, 0, 0, 2, 0, 5, 0
	};
	uint8_t		bytes[sizeof(expected)];
	CuckooFilter filter;
	CuckooShape large = CuckooShapeOf(0x00010203, 0x0406, 17);
	CuckooShape small = CuckooShapeOf(1, 2, 5);

	CuckooFilterInit(&filter, 0.015625, UINT64_C(0x0102030405060708), UINT64_C(0x1112131415161718));
	filter.header.kind.type = CUCKOO_KEY_ARRAY;
	filter.header.kind.signature = 0x11223344;
	filter.header.flags = CUCKOO_FLAG_NOT_REMOVABLE;
	filter.header.table_count = 2;
	CuckooTableInit(&filter.tables[0], &large, CUCKOO_DENSE, 0x32333435);
	CuckooTableInit(&filter.tables[1], &small, CUCKOO_SPARSE, 9);
	CuckooWriteHeader(&filter, bytes);
	assert_memory_equal(bytes, expected, sizeof(expected));
}

/* No release writes another version yet, but a later one will read this. */
TEST(the_version_read_is_that_of_the_bytes)
{
	uint8_t		bytes[FIXED] = {0};
	CuckooFilter read;

	for (uint8_t version = CUCKOO_VERSION; version <= CUCKOO_VERSION + 1; version++)
	{
		bytes[0] = version;
		CuckooOpenHeader(&read, bytes, FIXED);
		assert_int_equal(read.version, version);
	}
}

TEST(lengths_are_those_of_the_parts_and_0_beyond_the_largest_filter)
{
	CuckooShape small = CuckooShapeOf(2, 4, 13);
	CuckooShape empty = CuckooShapeOf(1, 2, 5);
	CuckooShape largest = CuckooShapeOf(12000, 32768, 32);
	CuckooFilter filter;

	CuckooFilterInit(&filter, 0.001, 0, 0);
	filter.header.content = CUCKOO_PARTIAL;
	assert_int_equal(CuckooBytes(&filter), 44);
	filter.header.items = 100;
	assert_int_equal(CuckooBytes(&filter), 844);
	filter.header.items = (CUCKOO_MAX_BYTES - 44) / 8;
	assert_int_equal(CuckooBytes(&filter), CUCKOO_MAX_BYTES - 4);
	filter.header.items++;
	assert_int_equal(CuckooBytes(&filter), 0);

	CuckooFilterInit(&filter, 0.001, 0, 0);
	filter.header.table_count = 2;
	CuckooTableInit(&filter.tables[0], &small, CUCKOO_DENSE, 1);
	CuckooTableInit(&filter.tables[1], &empty, CUCKOO_SPARSE, 0);
	/* 8 buckets of 6 bytes; one section of the index and 16 bits */
	assert_int_equal(CuckooBytes(&filter), 44 + 2 * 12 + 8 * 6 + 12 + 2);
	filter.header.table_count = CUCKOO_MAX_TABLES;
	for (int i = 0; i < CUCKOO_MAX_TABLES; i++)
		CuckooTableInit(&filter.tables[i], &largest, (CuckooRepresentation) (i % 2), UINT32_MAX);
	assert_int_equal(CuckooBytes(&filter), 0);
}

TEST(the_validator_gives_way_while_it_reads_a_large_value)
{
	const Value values[] = {
		ValueOfKeys(1, 0, 500000, 0.1, 500000), /* dense */
		ValueOfKeys(1, 0, 500000, 0.1, 5000000),	/* sparse */
		BareValue((CuckooHeader) {.content = CUCKOO_PARTIAL, .kind.type = CUCKOO_KEY_TEXT,
								  .fpr = 0.001, .items = 500000})
	};

	for (size_t i = 0; i < lengthof(values); i++)
	{
		interrupt_checks = 0;
		assert_true(IsValid(&values[i]));
		assert_true(interrupt_checks >= 4);
	}
}

/* ------------------------------------------------------------ bad bytes */

TEST(bytes_cut_off_anywhere_or_too_many_are_refused)
{
	MakeSamples();
	for (size_t i = 0; i < lengthof(samples); i++)
	{
		uint8_t    *longer = Allocate(samples[i].length + 100);

		memcpy(longer, samples[i].bytes, samples[i].length);
		for (size_t length = 0; length <= samples[i].length + 100; length++)
			assert_int_equal(IsAccepted(longer, length), length == samples[i].length);
	}
}

/* If it is longer than any filter, only the version is read. */
TEST(more_bytes_than_any_filter_has_are_refused_before_they_are_read)
{
	const uint8_t version = CUCKOO_VERSION;
	CuckooVerdict verdict;

	assert_true(!CuckooValidate(&version, CUCKOO_MAX_BYTES + 1, &verdict));
	assert_string_equal(verdict.message, "It has 786432001 bytes, but may have at most 786432000.");
}

/* A possible later version, and one that can only be garbage */
TEST(another_version_is_refused_whatever_follows)
{
	for (int version = 0; version < 256; version++)
	{
		const uint8_t byte = (uint8_t) version;
		CuckooVerdict verdict;

		assert_true(!CuckooValidate(&byte, 1, &verdict));
		assert_int_equal(verdict.newer, version > CUCKOO_VERSION && version <= CUCKOO_LAST_VERSION);
	}
}

/*
 * Each byte changed gives a verdict that names a problem, or a filter that can
 * be used.  test/sql/malformed.sql has the verdicts.
 */
TEST(any_byte_of_any_value_is_refused_or_safe)
{
	MakeSamples();
	for (size_t i = 0; i < lengthof(samples); i++)
	{
		uint8_t    *bytes = samples[i].bytes;
		size_t		fixed = HeaderBytes(&samples[i]);

		for (size_t offset = 0; offset < samples[i].length; offset++)
		{
			uint8_t		kept = bytes[offset];

			/* In a table only each bit */
			for (int value = 1; value < 256; value += offset < fixed ? 1 : value)
			{
				bytes[offset] = kept ^ (uint8_t) value;
				(void) IsAccepted(bytes, samples[i].length);
			}
			bytes[offset] = kept;
		}
	}
}

/*
 * The first bytes of a value, in memory of exactly their size, are opened only
 * for the value's length, and whatever else they are, they are safe.
 */
TEST(first_bytes_are_opened_only_for_the_length_that_they_describe)
{
	MakeSamples();
	for (size_t i = 0; i < lengthof(samples); i++)
	{
		size_t		length = samples[i].length;
		size_t		bytes = length < CUCKOO_MAX_HEADER_BYTES ? length : CUCKOO_MAX_HEADER_BYTES;
		uint8_t    *first = Duplicate(samples[i].bytes, bytes);
		uint8_t		written[CUCKOO_MAX_HEADER_BYTES];
		CuckooFilter filter;

		assert_true(CuckooOpenFirst(&filter, first, bytes, length));
		assert_int_equal(filter.header.items, Open(&samples[i]).header.items);
		CuckooWriteHeader(&filter, written);
		assert_memory_equal(written, first, HeaderBytes(&samples[i]));
		assert_int_equal(CuckooBytes(&filter), length);
		assert_true(!CuckooOpenFirst(&filter, first, bytes, length - 1));
		assert_true(!CuckooOpenFirst(&filter, first, bytes, length + 1));
		assert_true(!CuckooOpenFirst(&filter, first, bytes - 1, length));
		for (size_t offset = 0; offset < bytes; offset++)
		{
			for (int value = 0; value < 256; value++)
			{
				first[offset] = (uint8_t) value;
				if (CuckooOpenFirst(&filter, first, bytes, length))
					assert_int_equal(CuckooBytes(&filter), length);
			}
			first[offset] = samples[i].bytes[offset];
		}
		pfree(first);
	}
}
