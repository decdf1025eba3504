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

/* Offsets in the header; see format.h. */
#define AT_VERSION		0
#define AT_CONTENT		1
#define AT_KEY_TYPE		2
#define AT_FLAGS		3
#define AT_SIGNATURE	4
#define AT_FPR			8
#define AT_CAPACITY		16
#define AT_SEED			24
#define AT_TABLES		32
#define AT_ZERO			33
#define AT_DIRECTORY	CUCKOO_HEADER_BYTES

/* The fields of a table's entry in the directory. */
#define OF_BLOCKS		0
#define OF_ITEMS		4
#define OF_BUCKETS		8
#define OF_BITS			10
#define OF_REPRESENTATION 11

#define FIXED			(CUCKOO_HEADER_BYTES + CUCKOO_TAIL_BYTES)

/* -------------------------------------------------------- valid filters */

typedef struct Sample
{
	const char *name;
	size_t		length;
	uint8_t		bytes[1000];
} Sample;

static Sample samples[12];
static int	sample_count;

static void
Keep(const char *name, Value value)
{
	Sample	   *sample = &samples[sample_count++];

	assert_true(sample_count <= (int) lengthof(samples) && value.length <= sizeof(sample->bytes));
	sample->name = name;
	sample->length = value.length;
	memcpy(sample->bytes, value.bytes, value.length);
}

static const Sample *
SampleNamed(const char *name)
{
	for (int i = 0; i < sample_count; i++)
	{
		if (strcmp(samples[i].name, name) == 0)
			return &samples[i];
	}
	fail_msg("no sample is named %s", name);
	return NULL;
}

/* A filter without tables. */
static Value
BareValue(CuckooHeader header)
{
	CuckooFilter filter = {.header = header};
	Value		value;

	value.length = CuckooBytes(&filter);
	value.bytes = Allocate(value.length);
	CuckooLayOut(&filter, value.bytes);
	for (uint64_t i = 0; i < filter.header.items; i++)
		CuckooStore64(filter.hashes + 8 * i, UINT64_C(12345678901234) * (i + 1));
	assert_true(IsValid(&value));
	return value;
}

/* The first test, because the others use the samples. */
TEST(the_samples_are_valid)
{
	/* Fingerprints of 32 bits, whose buckets need two words */
	static const uint64_t wide[] = {
		1, 2, 2, 77, UINT64_C(0xFFFFFFFF), UINT64_C(0x100000001), UINT64_C(0x1ABCDEF01),
		UINT64_C(0x1ABCDEF01), UINT64_C(0x1ABCDEF01), UINT64_C(0x1ABCDEF02),
		UINT64_C(0x1FFFFFFFE), UINT64_C(0x1FFFFFFFF)
	};
	CuckooShape shape = ShapeOf(2, 2, 32);
	CuckooHeader partial = {.content = CUCKOO_PARTIAL, .fpr = 0.001, .capacity = 100};
	Value		parts[3];

	Keep("unset", BareValue((CuckooHeader) {.flags = CUCKOO_FLAG_UNSET}));
	Keep("empty partial", BareValue(partial));
	partial.kind.type = CUCKOO_KEY_TEXT;
	partial.items = 20;
	Keep("partial of texts", BareValue(partial));
	partial.kind.type = CUCKOO_KEY_ARRAY;
	partial.kind.signature = 99;
	partial.seed = 7;
	Keep("partial", BareValue(partial));
	Keep("empty", ValueOfHashes(NULL, 0, 0.1, 1));
	Keep("empty of unknown capacity", ValueOfHashes(NULL, 0, 0.001, 0));
	Keep("one key", ValueOfKeys(1, 0, 1, 0.001, 0));
	Keep("sparse", ValueOfKeys(1, 0, 50, 0.001, 200));
	Keep("wide sparse", ValueOfCodes(&shape, wide, 5, 1e-6, 7));
	Keep("wide dense", ValueOfCodes(&shape, wide, lengthof(wide), 1e-6, 7));

	parts[0] = ValueOfHashes(NULL, 0, 0.1, 1);
	AddKeys(&parts[0], 1, 0, 20);
	Keep("dense", parts[0]);
	parts[1] = ValueOfKeys(1, 20, 60, 0.01, 300);
	parts[2] = ValueOfKeys(1, 60, 90, 0.001, 0);
	Keep("three tables", Combine(CUCKOO_UNION, parts, 3));
}

/* ------------------------------------------------------------- judgement */

/* The verdict on these bytes.  If they are accepted, it is empty, and they are used. */
static CuckooVerdict
Judge(const uint8_t *bytes, size_t length)
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
	return verdict;
}

#define VALID		""
#define TOO_SHORT	"It has %llu bytes, but must have at least %llu."
#define TOO_LONG	"It has %llu bytes, but may have at most %llu."
#define BAD_LENGTH	"It has %llu bytes, but its header describes %llu."
#define OTHER_VERSION "Its format version is %llu."
#define BAD_FIELD	"The header field at offset %llu is out of range."
#define BAD_TABLE	"The directory entry of sub-filter %llu is out of range."
#define BAD_BUCKET	"Bucket %llu of a sub-filter is not in its canonical form."
#define BAD_GROUP	"Group %llu of a sub-filter is not in its canonical form."
#define BAD_ITEMS	"It holds %llu items, but its header says %llu."
#define BAD_ORDER	"Hash %llu of the partial state is out of order."
#define BAD_TAIL	"The byte at offset %llu is not zero."

/* Check that a verdict has this message, with the number found first. */
static void
CheckVerdict(CuckooVerdict verdict, const char *message, uint64_t expected, uint64_t found)
{
	char		text[200];

	snprintf(text, sizeof(text), message, (unsigned long long) found,
			 (unsigned long long) expected);
	if (strcmp(verdict.message, text) != 0)
		fail_msg("verdict \"%s\" instead of \"%s\"", verdict.message, text);
}

/* The verdict on a sample with one byte, or more, written over. */
static CuckooVerdict
JudgeChanged(const Sample *sample, size_t offset, int bytes, uint64_t value)
{
	uint8_t    *changed = Duplicate(sample->bytes, sample->length);
	CuckooVerdict verdict;

	for (int i = 0; i < bytes; i++)
		changed[offset + (size_t) i] = (uint8_t) (value >> (8 * i));
	verdict = Judge(changed, sample->length);
	pfree(changed);
	return verdict;
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
	CuckooShape large = ShapeOf(0x00010203, 0x0406, 17);
	CuckooShape small = ShapeOf(1, 2, 5);

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
	uint8_t    *bytes = Duplicate(SampleNamed("unset")->bytes, 44);
	CuckooFilter read;

	for (uint8_t version = CUCKOO_VERSION; version <= CUCKOO_VERSION + 1; version++)
	{
		bytes[AT_VERSION] = version;
		CuckooOpenHeader(&read, bytes, 44);
		assert_int_equal(read.version, version);
	}
}

TEST(lengths_are_those_of_the_parts_and_0_beyond_the_largest_filter)
{
	CuckooShape small = ShapeOf(2, 4, 13);
	CuckooShape empty = ShapeOf(1, 2, 5);
	CuckooShape largest = ShapeOf(12000, 32768, 32);
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
	for (int i = 0; i < sample_count; i++)
	{
		const Sample *sample = &samples[i];
		size_t		fixed = FIXED + (size_t) sample->bytes[AT_TABLES] * CUCKOO_DIRECTORY_BYTES;
		bool		partial = sample->bytes[AT_CONTENT] == CUCKOO_PARTIAL;
		uint8_t    *longer = Allocate(sample->length + 100);

		memcpy(longer, sample->bytes, sample->length);
		for (size_t length = 0; length <= sample->length + 100; length++)
		{
			CuckooVerdict verdict = Judge(longer, length);

			if (length < FIXED)
				CheckVerdict(verdict, TOO_SHORT, FIXED, length);
			else if (length < fixed)
				CheckVerdict(verdict, TOO_SHORT, fixed, length);
			else if (length == sample->length)
				CheckVerdict(verdict, VALID, 0, 0);
			else if (!partial)
				CheckVerdict(verdict, BAD_LENGTH, sample->length, length);
			else if ((length - fixed) % 8 != 0)
				CheckVerdict(verdict, BAD_LENGTH, length - (length - fixed) % 8, length);
			/* There is a hash in the place of the tail, or zero in that of a hash. */
			else if (length < sample->length)
				assert_memory_equal(verdict.message, BAD_TAIL, strcspn(BAD_TAIL, "%"));
			else if (sample->length > FIXED || length > FIXED + 8)
				assert_true(verdict.message[0] != '\0');
		}
	}
}

/* If it is longer than any filter, only the version is read. */
TEST(more_bytes_than_any_filter_has_are_refused_before_they_are_read)
{
	const Sample *sample = SampleNamed("sparse");

	CuckooVerdict verdict;

	assert_false(CuckooValidate(sample->bytes, CUCKOO_MAX_BYTES + 1, &verdict));
	CheckVerdict(verdict, TOO_LONG, CUCKOO_MAX_BYTES, CUCKOO_MAX_BYTES + 1);
}

/* A possible later version, and one that can only be garbage. */
TEST(another_version_is_refused_whatever_follows)
{
	for (int version = 0; version < 256; version++)
	{
		uint8_t		byte = (uint8_t) version;
		bool		newer = version > CUCKOO_VERSION && version <= CUCKOO_LAST_VERSION;

		if (version == CUCKOO_VERSION)
			continue;
		CheckVerdict(Judge(&byte, 1), OTHER_VERSION, 0, (uint64_t) version);
		assert_int_equal(Judge(&byte, 1).newer, newer);
		for (int i = 0; i < sample_count; i++)
			CheckVerdict(JudgeChanged(&samples[i], AT_VERSION, 1, (uint64_t) version),
						 OTHER_VERSION, 0, (uint64_t) version);
	}
}

/*
 * Each byte changed to every value gives a verdict that names a problem, or a
 * filter that can be used.
 */
TEST(any_byte_of_any_value_is_refused_or_safe)
{
	for (int i = 0; i < sample_count; i++)
	{
		const Sample *sample = &samples[i];
		size_t		fixed = CUCKOO_HEADER_BYTES +
			(size_t) sample->bytes[AT_TABLES] * CUCKOO_DIRECTORY_BYTES;

		for (size_t offset = 0; offset < sample->length; offset++)
		{
			if (offset < fixed)
			{
				for (int value = 0; value < 256; value++)
					JudgeChanged(sample, offset, 1, (uint64_t) value);
			}
			else
			{
				for (int bit = 0; bit < 8; bit++)
					JudgeChanged(sample, offset, 1, sample->bytes[offset] ^ (1U << bit));
			}
		}
	}
}

/*
 * The first bytes of a value, in memory of exactly their size, are opened only
 * for the value's length, and whatever else they are, they are safe.
 */
TEST(first_bytes_are_opened_only_for_the_length_that_they_describe)
{
	for (int i = 0; i < sample_count; i++)
	{
		const Sample *sample = &samples[i];
		size_t		bytes = sample->length < CUCKOO_MAX_HEADER_BYTES ? sample->length :
			CUCKOO_MAX_HEADER_BYTES;
		uint8_t    *first = Duplicate(sample->bytes, bytes);
		uint8_t		written[CUCKOO_MAX_HEADER_BYTES];
		CuckooFilter filter;
		CuckooFilter whole;

		assert_true(CuckooOpenFirst(&filter, first, bytes, sample->length));
		CuckooOpen(&whole, (uint8_t *) sample->bytes, sample->length);
		assert_int_equal(filter.header.items, whole.header.items);
		CuckooWriteHeader(&filter, written);
		assert_memory_equal(written, sample->bytes, CUCKOO_HEADER_BYTES +
							(size_t) whole.header.table_count * CUCKOO_DIRECTORY_BYTES);
		assert_int_equal(CuckooBytes(&filter), sample->length);
		assert_true(!CuckooOpenFirst(&filter, first, bytes, sample->length - 1));
		assert_true(!CuckooOpenFirst(&filter, first, bytes, sample->length + 1));
		assert_true(!CuckooOpenFirst(&filter, first, bytes - 1, sample->length));
		for (size_t offset = 0; offset < bytes; offset++)
		{
			for (int value = 0; value < 256; value++)
			{
				first[offset] = (uint8_t) value;
				if (CuckooOpenFirst(&filter, first, bytes, sample->length))
					assert_int_equal(CuckooBytes(&filter), sample->length);
			}
			first[offset] = sample->bytes[offset];
		}
		pfree(first);
	}
}

/*
 * Each field with values out of its range, and some that are just in it.  If
 * several rules are broken, the verdict names the first.
 */
TEST(a_field_out_of_range_is_refused_by_its_offset)
{
	static const struct
	{
		const char *sample;
		size_t		offset;
		int			bytes;
		uint64_t	value;
		const char *message;
		uint64_t	found;
		uint64_t	expected;
	}			cases[] = {
		{"sparse", AT_CONTENT, 1, 2, BAD_FIELD, AT_CONTENT, 0},
		{"sparse", AT_CONTENT, 1, 3, BAD_FIELD, AT_CONTENT, 0},
		{"sparse", AT_CONTENT, 1, 255, BAD_FIELD, AT_CONTENT, 0},
		{"empty", AT_KEY_TYPE, 1, CUCKOO_KEY_NONE, VALID, 0, 0},
		{"empty", AT_KEY_TYPE, 1, CUCKOO_KEY_LAST + 1, BAD_FIELD, AT_KEY_TYPE, 0},
		{"dense", AT_KEY_TYPE, 1, 255, BAD_FIELD, AT_KEY_TYPE, 0},
		{"partial", AT_KEY_TYPE, 1, CUCKOO_KEY_NONE, BAD_FIELD, AT_SIGNATURE, 0},
		{"partial of texts", AT_KEY_TYPE, 1, CUCKOO_KEY_NONE, BAD_FIELD, AT_KEY_TYPE, 0},
		{"dense", AT_FLAGS, 1, 0x04, BAD_FIELD, AT_FLAGS, 0},
		{"dense", AT_FLAGS, 1, 0x80, BAD_FIELD, AT_FLAGS, 0},
		{"partial", AT_FLAGS, 1, CUCKOO_FLAG_NOT_REMOVABLE, BAD_FIELD, AT_FLAGS, 0},
		{"partial", AT_FLAGS, 1, CUCKOO_FLAG_UNSET, BAD_FIELD, AT_FLAGS, 0},
		{"unset", AT_FLAGS, 1, CUCKOO_FLAG_UNSET | CUCKOO_FLAG_NOT_REMOVABLE, BAD_FIELD, AT_FLAGS,
		 0},
		/* A signature for a key type without one, and none for one with */
		{"dense", AT_SIGNATURE, 4, 1, BAD_FIELD, AT_SIGNATURE, 0},
		{"dense", AT_SIGNATURE, 4, UINT32_C(0x80000000), BAD_FIELD, AT_SIGNATURE, 0},
		{"partial", AT_SIGNATURE, 4, 0, BAD_FIELD, AT_SIGNATURE, 0},
		{"partial", AT_KEY_TYPE, 1, CUCKOO_KEY_TEXT, BAD_FIELD, AT_SIGNATURE, 0},
		{"dense", AT_KEY_TYPE, 1, CUCKOO_KEY_ARRAY, BAD_FIELD, AT_SIGNATURE, 0},
		{"dense", AT_KEY_TYPE, 1, CUCKOO_KEY_COMPOSITE, BAD_FIELD, AT_SIGNATURE, 0},
		{"dense", AT_KEY_TYPE, 1, CUCKOO_KEY_RANGE, BAD_FIELD, AT_SIGNATURE, 0},
		{"dense", AT_KEY_TYPE, 1, CUCKOO_KEY_MULTIRANGE, BAD_FIELD, AT_SIGNATURE, 0},
		{"dense", AT_CAPACITY, 8, CUCKOO_MAX_CAPACITY, VALID, 0, 0},
		{"dense", AT_CAPACITY, 8, CUCKOO_MAX_CAPACITY + 1, BAD_FIELD, AT_CAPACITY, 0},
		{"partial", AT_CAPACITY, 8, UINT64_MAX, BAD_FIELD, AT_CAPACITY, 0},
		{"dense", AT_SEED, 8, UINT64_MAX, VALID, 0, 0},
		{"dense", AT_TABLES, 1, 0, BAD_FIELD, AT_TABLES, 0},
		{"dense", AT_TABLES, 1, CUCKOO_MAX_TABLES + 1, BAD_FIELD, AT_TABLES, 0},
		{"dense", AT_TABLES, 1, 255, BAD_FIELD, AT_TABLES, 0},
		{"partial", AT_TABLES, 1, 1, BAD_FIELD, AT_TABLES, 0},
		{"dense", AT_ZERO, 1, 1, BAD_FIELD, AT_ZERO, 0},
		{"dense", AT_ZERO + 1, 1, 0x80, BAD_FIELD, AT_ZERO + 1, 0},
		{"partial", AT_ZERO + 2, 1, 1, BAD_FIELD, AT_ZERO + 2, 0},
		/* Unset, but with fields that are set */
		{"dense", AT_FLAGS, 1, CUCKOO_FLAG_UNSET, BAD_FIELD, AT_KEY_TYPE, 0},
		{"unset", AT_CONTENT, 1, CUCKOO_PARTIAL, BAD_FIELD, AT_FLAGS, 0},
		{"unset", AT_KEY_TYPE, 1, CUCKOO_KEY_TEXT, BAD_FIELD, AT_KEY_TYPE, 0},
		{"unset", AT_SIGNATURE + 3, 1, 1, BAD_FIELD, AT_SIGNATURE + 3, 0},
		{"unset", AT_FPR, 1, 1, BAD_FIELD, AT_FPR, 0},
		{"unset", AT_CAPACITY + 3, 1, 1, BAD_FIELD, AT_CAPACITY + 3, 0},
		{"unset", AT_SEED + 7, 1, 1, BAD_FIELD, AT_SEED + 7, 0},
		{"unset", AT_TABLES, 1, 1, BAD_FIELD, AT_TABLES, 0},
		/* Items without a key type; more of them than a dense table has */
		{"dense", AT_KEY_TYPE, 1, CUCKOO_KEY_NONE, BAD_TABLE, 1, 0},
		{"sparse", AT_KEY_TYPE, 1, CUCKOO_KEY_NONE, BAD_TABLE, 1, 0},
		{"three tables", AT_KEY_TYPE, 1, CUCKOO_KEY_NONE, BAD_TABLE, 1, 0},
		{"dense", AT_DIRECTORY + OF_ITEMS, 4, 25, BAD_TABLE, 1, 0},
		{"dense", AT_DIRECTORY + OF_ITEMS, 4, UINT32_MAX, BAD_TABLE, 1, 0},
		{"dense", AT_DIRECTORY + OF_ITEMS, 4, 19, BAD_ITEMS, 20, 19},
		{"dense", AT_DIRECTORY + OF_ITEMS, 4, 21, BAD_ITEMS, 20, 21},
		/* The eleventh hash of a partial state */
		{"partial", AT_DIRECTORY + 80, 8, UINT64_C(123456789012340), BAD_ORDER, 10, 0},
		{"partial", AT_DIRECTORY + 80, 8, 1, BAD_ORDER, 10, 0},
		{"partial", AT_DIRECTORY + 80, 8, UINT64_MAX, BAD_ORDER, 11, 0},
	};

	for (size_t i = 0; i < lengthof(cases); i++)
		CheckVerdict(JudgeChanged(SampleNamed(cases[i].sample), cases[i].offset,
								  cases[i].bytes, cases[i].value),
					 cases[i].message, cases[i].expected, cases[i].found);
}

TEST(a_rate_that_cannot_be_kept_is_refused)
{
	static const double rates[] = {
		2e-8, 1e-6, 0.001, 0.1,
		0, -0.0, -0.001, 1e-9, 1.9999999e-8, 0.1000001, 1, 1e300, 5e-324, INFINITY, -INFINITY,
		NAN
	};

	for (size_t i = 0; i < lengthof(rates); i++)
	{
		uint64_t	bits;

		memcpy(&bits, &rates[i], sizeof(bits));
		CheckVerdict(JudgeChanged(SampleNamed("dense"), AT_FPR, 8, bits),
					 i < 4 ? VALID : BAD_FIELD, 0, AT_FPR);
		CheckVerdict(JudgeChanged(SampleNamed("partial"), AT_FPR, 8, bits),
					 i < 4 ? VALID : BAD_FIELD, 0, AT_FPR);
	}
}

/* Also if products overflow. */
TEST(an_impossible_shape_is_refused_by_the_number_of_its_table)
{
	static const struct
	{
		size_t		field;
		int			bytes;
		uint64_t	values[6];
	}			cases[] = {
		{OF_BLOCKS, 4, {0, UINT32_MAX, UINT64_C(1) << 31, CUCKOO_MAX_TABLE_BUCKETS}},
		{OF_BUCKETS, 2, {0, 1, 3, CUCKOO_MAX_BUCKETS - 1, CUCKOO_MAX_BUCKETS + 2, 65534}},
		{OF_BITS, 1, {0, CUCKOO_MIN_BITS - 1, CUCKOO_MAX_BITS + 1, 255}},
		{OF_REPRESENTATION, 1, {2, 2, 255}},
	};

	for (size_t i = 0; i < lengthof(cases); i++)
	{
		for (int v = 0; v < 6 && (v == 0 || cases[i].values[v] != 0); v++)
			for (size_t table = 0; table < 3; table++)
				CheckVerdict(JudgeChanged(SampleNamed("three tables"), AT_DIRECTORY +
										  table * CUCKOO_DIRECTORY_BYTES + cases[i].field,
										  cases[i].bytes, cases[i].values[v]),
							 BAD_TABLE, 0, table + 1);
	}
}

TEST(tables_that_do_not_ascend_are_refused)
{
	const Sample *sample = SampleNamed("three tables");
	uint8_t    *bytes = Duplicate(sample->bytes, sample->length);
	uint8_t    *second = bytes + AT_DIRECTORY + CUCKOO_DIRECTORY_BYTES;

	/* The second equal to the first, and equal to the third */
	memcpy(second, bytes + AT_DIRECTORY, CUCKOO_DIRECTORY_BYTES);
	CheckVerdict(Judge(bytes, sample->length), BAD_TABLE, 0, 2);
	memcpy(second, bytes + AT_DIRECTORY + 2 * CUCKOO_DIRECTORY_BYTES, CUCKOO_DIRECTORY_BYTES);
	CheckVerdict(Judge(bytes, sample->length), BAD_TABLE, 0, 3);
}

/* A short value must not make its reader use much memory or time. */
TEST(a_huge_shape_in_few_bytes_is_refused_by_its_length)
{
	const Sample *sample = SampleNamed("empty");
	uint8_t    *bytes = Duplicate(sample->bytes, sample->length);
	CuckooShape largest = ShapeOf(12000, 32768, 32);

	CuckooStore32(bytes + AT_DIRECTORY + OF_BLOCKS, largest.blocks);
	CuckooStore16(bytes + AT_DIRECTORY + OF_BUCKETS, largest.buckets);
	bytes[AT_DIRECTORY + OF_BITS] = largest.bits;
	bytes[AT_DIRECTORY + OF_REPRESENTATION] = CUCKOO_DENSE;
	CheckVerdict(Judge(bytes, sample->length), BAD_LENGTH,
				 56 + CuckooDenseBytes(&largest), sample->length);
	bytes[AT_DIRECTORY + OF_REPRESENTATION] = CUCKOO_SPARSE;
	CuckooStore32(bytes + AT_DIRECTORY + OF_ITEMS, UINT32_MAX);
	bytes[AT_KEY_TYPE] = CUCKOO_KEY_TEXT;
	CheckVerdict(Judge(bytes, sample->length), BAD_LENGTH,
				 56 + SparseBytes(&largest, UINT32_MAX), sample->length);
}

TEST(every_byte_of_the_tail_is_zero)
{
	for (int i = 0; i < sample_count; i++)
	{
		for (size_t k = 1; k <= CUCKOO_TAIL_BYTES; k++)
			CheckVerdict(JudgeChanged(&samples[i], samples[i].length - k, 1, 0x80),
						 BAD_TAIL, 0, samples[i].length - k);
	}
}

/*
 * A bucket that no encoder writes: a number that is not a multiset's, or
 * entries in another order.
 */
TEST(a_bucket_out_of_order_is_refused_by_its_number)
{
	CuckooShape shape = ShapeOf(1, 6, 17);
	uint64_t	codes[18];
	Value		value;
	uint8_t    *third;

	for (uint64_t i = 0; i < 18; i++)
		codes[i] = i / 6 << 17 | (16 * (i % 6) + 33);
	value = ValueOfCodes(&shape, codes, 18, 0.001, 22);
	assert_int_equal(Open(&value).tables[0].representation, CUCKOO_DENSE);
	third = value.bytes + 48 + 2 * 8;

	/* The same low nibble in all, and high parts that descend */
	for (int from = 0; from < 2; from++)
	{
		uint8_t		kept[8];

		memcpy(kept, third, 8);
		if (from == 0)
			CuckooStore64(third, CUCKOO_MULTISETS);
		else
			CuckooStore64(third, CuckooMultisetRank(1, 1, 1, 1) | UINT64_C(9) << 12 |
						  UINT64_C(8) << 25 | UINT64_C(10) << 38 | UINT64_C(11) << 51);
		CheckVerdict(Judge(value.bytes, value.length), BAD_BUCKET, 0, 2);
		memcpy(third, kept, 8);
	}
	CheckVerdict(Judge(value.bytes, value.length), VALID, 0, 0);
}

/*
 * sparse_test.c tests the rules of a group.  Here: that they reach the
 * verdict.
 */
TEST(a_bad_group_is_refused_by_its_number_in_any_table)
{
	const Sample *sample = SampleNamed("three tables");
	uint8_t    *copy = Duplicate(sample->bytes, sample->length);
	CuckooFilter filter;

	CuckooOpen(&filter, copy, sample->length);
	for (int i = 1; i < 3; i++)
	{
		uint64_t	groups = filter.tables[i].sparse.groups;

		assert_int_equal(filter.tables[i].representation, CUCKOO_SPARSE);
		/* The first section of the index, which is checked with its last group */
		CheckVerdict(JudgeChanged(sample, (size_t) (filter.tables[i].data - copy), 1, 1),
					 BAD_GROUP, 0,
					 (groups < CUCKOO_SECTION_GROUPS ? groups : CUCKOO_SECTION_GROUPS) - 1);
	}
}
