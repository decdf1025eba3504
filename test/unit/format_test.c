/*-------------------------------------------------------------------------
 *
 * format_test.c
 *	  The portable bytes: what is written is read, and what is malformed never
 *	  gets past the validator.
 *
 * The validator is always given memory of just the length it is told, so that
 * AddressSanitizer sees it read further.  What it lets through is then opened
 * and put to use: asked, added to, removed from, grown.
 *
 *-------------------------------------------------------------------------
 */
#include "support.h"

/* Offsets in the header; see format.h. */
#define AT_VERSION		0
#define AT_BODY			1
#define AT_KIND			2
#define AT_ELEMENT_KIND	3
#define AT_FLAGS		4
#define AT_TABLES		5
#define AT_PARTIAL		6
#define AT_ZERO			7
#define AT_FPR			8
#define AT_CAPACITY		16
#define AT_SEED			24
#define AT_ITEMS		32
#define AT_DIRECTORY	CUCKOO_HEADER_BYTES

/* What a table's entry in the directory holds. */
#define OF_BLOCKS		0
#define OF_BUCKETS		4
#define OF_BITS			6
#define OF_STASH			7
#define OF_ITEMS		8

/* -------------------------------------------------------- valid filters */

typedef struct Sample
{
	const char *name;
	uint8_t    *bytes;
	size_t		length;
} Sample;

#define MAX_SAMPLES 16
static Sample samples[MAX_SAMPLES];
static int	sample_count;

/* Keep the bytes of a filter as they are stored, and free it. */
static void
Keep(const char *name, Owned *owned)
{
	Sample	   *sample = &samples[sample_count++];

	assert_true(sample_count <= MAX_SAMPLES);
	sample->name = name;
	sample->length = StoredBytes(owned);
	sample->bytes = Duplicate(owned->bytes, sample->length);
	FreeFilter(owned);
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

/* A filter with one table or more, filled by adding. */
static void
KeepTables(const char *name, const CuckooShape *shapes, int count, uint64_t keys)
{
	Owned		owned = NewFilterOf(shapes, count, 0.1, 50);

	for (uint64_t i = 0; i < keys; i++)
		CuckooFilterAdd(&owned.filter, KeyHash(1, i));
	Keep(name, &owned);
}

static int
MakeSamples(void **state)
{
	static const CuckooShape narrow[] = {{1, 4, 5, CUCKOO_SEMISORTED}};
	static const CuckooShape wide[] = {{2, 2, 32, CUCKOO_SEMISORTED}};
	static const CuckooShape plain[] = {{1, 6, 13, CUCKOO_PLAIN}};
	static const CuckooShape three[] = {
		{1, 2, 6, CUCKOO_SEMISORTED}, {2, 4, 9, CUCKOO_SEMISORTED}, {1, 10, 18, CUCKOO_SEMISORTED}
	};
	Owned		owned;

	(void) state;
	owned = NewFilter(0.001, 0, 0, CUCKOO_SEMISORTED);
	memset(owned.bytes, 0, CUCKOO_HEADER_BYTES);
	memset(&owned.filter, 0, sizeof(owned.filter));
	owned.filter.flags = CUCKOO_FLAG_UNSET;
	Keep("unset", &owned);

	owned = NewFilter(0.001, 0, 0, CUCKOO_SEMISORTED);
	Keep("empty list", &owned);

	owned = NewFilter(0.01, 0, 42, CUCKOO_PLAIN);
	AddKeys(&owned, 1, 0, 5);
	for (int i = 0; i < 9; i++)
		AddKey(&owned, KeyHash(1, 2));
	owned.filter.kind = CUCKOO_KIND_ARRAY;
	owned.filter.element_kind = CUCKOO_KIND_UUID;
	Keep("list", &owned);

	owned = NewFilter(0.001, 1000, 7, CUCKOO_SEMISORTED);
	AddKeys(&owned, 1, 0, CUCKOO_SHORT_LIST);
	Keep("full list", &owned);

	owned = NewFilter(0.001, 0, 0, CUCKOO_SEMISORTED);
	AddKeys(&owned, 1, 0, 20);
	owned.filter.body = CUCKOO_PARTIAL;
	Keep("partial", &owned);

	KeepTables("empty table", narrow, 1, 0);
	KeepTables("narrow", narrow, 1, 12);
	KeepTables("wide", wide, 1, 10);
	KeepTables("plain", plain, 1, 22);
	KeepTables("three tables", three, 3, 60);

	owned = NewFilter(0.05, 40, 0, CUCKOO_SEMISORTED);
	AddKeys(&owned, 1, 0, 300);
	owned.filter.flags |= CUCKOO_FLAG_NOT_REMOVABLE;
	Keep("grown", &owned);
	return 0;
}

static int
FreeSamples(void **state)
{
	(void) state;
	while (sample_count > 0)
		free(samples[--sample_count].bytes);
	return 0;
}

/* ---------------------------------------------------- use and judgement */

/* All that may be done with a filter that has been let through. */
static void
Exercise(const uint8_t *bytes, size_t length)
{
	static uint64_t stream = 1000;
	CuckooFilter filter;
	CuckooFilter grown;
	Owned		owned;
	double		rate;
	CuckooGrowth growth;

	stream++;
	owned.room = length + 8 * CUCKOO_LONG_LIST;
	if (bytes[AT_BODY] == CUCKOO_TABLES)
		owned.room = length;
	owned.bytes = Allocate(owned.room);
	memcpy(owned.bytes, bytes, length);
	CuckooOpen(&filter, owned.bytes);

	assert_int_equal(CuckooBytes(&filter), length);
	assert_in_range(filter.body, CUCKOO_LIST, CUCKOO_PARTIAL);
	assert_in_range(filter.kind, 0, CUCKOO_KIND_LAST);
	assert_in_range(filter.element_kind, 0, CUCKOO_KIND_LAST);
	assert_in_range(filter.table_count, filter.body == CUCKOO_TABLES,
					filter.body == CUCKOO_TABLES ? CUCKOO_MAX_TABLES : 0);
	rate = CuckooFilterRate(&filter);
	assert_true(rate >= 0 && rate <= 1);

	/* Written back, the header is the same. */
	memset(owned.bytes, 0xFF, CUCKOO_HEADER_BYTES);
	CuckooWriteHeader(&filter, owned.bytes);
	assert_memory_equal(owned.bytes, bytes, length);

	for (uint64_t i = 0; i < 20; i++)
	{
		uint64_t	hash = KeyHash(i % 2 == 0 ? 1 : stream, i);
		int			copies = CuckooFilterCount(&filter, hash);

		assert_in_range(copies, 0, CUCKOO_MAX_COPIES);
		assert_int_equal(CuckooFilterContains(&filter, hash), copies > 0);
	}
	assert_memory_equal(owned.bytes, bytes, length);

	/* Not every time: walks in full tables take long. */
	if (stream % 4 == 0 && filter.body != CUCKOO_PARTIAL &&
		!(filter.flags & CUCKOO_FLAG_UNSET))
	{
		if (filter.kind == CUCKOO_KIND_NONE)
			filter.kind = CUCKOO_KIND_TEXT;
		owned.filter = filter;
		for (uint64_t i = 0; i < (stream % 32 == 0 ? 12 : 2); i++)
		{
			uint64_t	hash = KeyHash(i % 2 == 0 ? 1 : stream, i);

			/* A vain walk is long, and one of them is enough. */
			if (CuckooFilterAdd(&owned.filter, hash) == CUCKOO_FULL)
				break;
			assert_true(CuckooFilterContains(&owned.filter, hash));
			if (i % 3 == 0)
				CuckooFilterRemove(&owned.filter, hash);
		}
		assert_int_equal(ProblemOf(&owned), CUCKOO_VALID);

		growth = CuckooPlanGrowth(&owned.filter, &grown);
		if (growth == CUCKOO_GROWTH_PLANNED && CuckooBytes(&grown) < 10000 &&
			GrowFilter(&owned) == CUCKOO_GROWTH_PLANNED)
			assert_int_equal(ProblemOf(&owned), CUCKOO_VALID);
	}
	free(owned.bytes);
}

/* The verdict on these bytes; those that are let through are put to use. */
static CuckooVerdict
Judge(const uint8_t *bytes, size_t length)
{
	uint8_t    *copy = Duplicate(bytes, length);
	CuckooVerdict verdict = CuckooValidate(length > 0 ? copy : NULL, length, NULL);

	assert_in_range(verdict.problem, CUCKOO_VALID, CUCKOO_BAD_TAIL);
	if (length > 0)
		assert_memory_equal(copy, bytes, length);
	if (verdict.problem == CUCKOO_VALID)
		Exercise(bytes, length);
	free(copy);
	return verdict;
}

#define assert_verdict(verdict, wanted_problem, wanted_expected, wanted_found) \
	do { \
		CuckooVerdict verdict_ = (verdict); \
		assert_int_equal(verdict_.problem, (wanted_problem)); \
		assert_int_equal(verdict_.expected, (wanted_expected)); \
		assert_int_equal(verdict_.found, (wanted_found)); \
	} while (0)

/* The verdict on a sample with one byte, or more, written over. */
static CuckooVerdict
JudgeChanged(const Sample *sample, size_t offset, int bytes, uint64_t value)
{
	uint8_t    *changed = Duplicate(sample->bytes, sample->length);
	CuckooVerdict verdict;

	for (int i = 0; i < bytes; i++)
		changed[offset + (size_t) i] = (uint8_t) (value >> (8 * i));
	verdict = Judge(changed, sample->length);
	free(changed);
	return verdict;
}

static uint64_t
DoubleBits(double value)
{
	uint64_t	bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

/* ----------------------------------------------------------- good bytes */

static void
valid_filters_pass_and_can_be_used(void **state)
{
	(void) state;
	for (int round = 0; round < 64; round++)
		for (int i = 0; i < sample_count; i++)
			assert_verdict(Judge(samples[i].bytes, samples[i].length), CUCKOO_VALID, 0, 0);
}

static void
every_header_field_is_read_as_it_was_written(void **state)
{
	uint64_t	random = 1;

	(void) state;
	for (int i = 0; i < 20000; i++)
	{
		CuckooFilter filter;
		CuckooFilter read;
		size_t		length;
		uint8_t    *bytes;

		memset(&filter, 0, sizeof(filter));
		filter.body = (uint8_t) RandomBelow(&random, 3);
		filter.kind = (uint8_t) NextRandom(&random);
		filter.element_kind = (uint8_t) NextRandom(&random);
		filter.flags = (uint8_t) RandomBelow(&random, CUCKOO_FLAGS + 1);
		filter.fpr = 1 / (1 + (double) RandomBelow(&random, 1000000));
		filter.capacity = NextRandom(&random);
		filter.seed = NextRandom(&random);
		filter.items = filter.body == CUCKOO_TABLES ? NextRandom(&random) :
			RandomBelow(&random, 100);
		filter.table_count = filter.body == CUCKOO_TABLES ?
			(uint8_t) (1 + RandomBelow(&random, CUCKOO_MAX_TABLES)) : 0;
		for (int t = 0; t < filter.table_count; t++)
		{
			filter.tables[t].shape =
				ShapeOf(1 + RandomBelow(&random, 3), 2 + 2 * RandomBelow(&random, 20),
						5 + (int) RandomBelow(&random, 28), CuckooFilterLayout(&filter));
			filter.tables[t].items = NextRandom(&random);
		}
		length = CuckooBytes(&filter);
		assert_true(length > 0);
		bytes = Allocate(length);
		CuckooLayOut(&filter, bytes);
		CuckooOpen(&read, bytes);

		assert_int_equal(CuckooBytes(&read), length);
		assert_int_equal(read.body, filter.body);
		assert_int_equal(read.kind, filter.kind);
		assert_int_equal(read.element_kind, filter.element_kind);
		assert_int_equal(read.flags, filter.flags);
		assert_true(read.fpr == filter.fpr);
		assert_int_equal(read.capacity, filter.capacity);
		assert_int_equal(read.seed, filter.seed);
		assert_int_equal(read.items, filter.items);
		assert_int_equal(read.table_count, filter.table_count);
		assert_ptr_equal(read.list, filter.list);
		for (int t = 0; t < filter.table_count; t++)
		{
			assert_true(CuckooShapeEqual(&read.tables[t].shape, &filter.tables[t].shape));
			assert_int_equal(read.tables[t].items, filter.tables[t].items);
			assert_ptr_equal(read.tables[t].data, filter.tables[t].data);
			assert_ptr_equal(read.tables[t].data, t == 0 ?
							 bytes + AT_DIRECTORY + filter.table_count * CUCKOO_DIRECTORY_BYTES :
							 read.tables[t - 1].data +
							 CuckooShapeBytes(&read.tables[t - 1].shape));
		}
		free(bytes);
	}
}

/* The description in format.h, byte by byte. */
static void
the_header_is_laid_out_as_described(void **state)
{
	static const CuckooShape shapes[] = {
		{0x00010203, 0x0406, 17, CUCKOO_PLAIN}, {1, 2, 5, CUCKOO_PLAIN}
	};
	static const uint8_t expected[] = {
		1, 1, 24, 9, 3, 2, 0, 0,
		0, 0, 0, 0, 0, 0, 0x90, 0x3F,	/* 2^-6 */
		8, 7, 6, 5, 4, 3, 2, 1,
		0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11,
		0x28, 0x27, 0x26, 0x25, 0x24, 0x23, 0x22, 0x21,
		3, 2, 1, 0, 6, 4, 17, 0, 0x38, 0x37, 0x36, 0x35, 0x34, 0x33, 0x32, 0x31,
		1, 0, 0, 0, 2, 0, 5, 0, 9, 0, 0, 0, 0, 0, 0, 0
	};
	uint8_t		bytes[sizeof(expected)];
	CuckooFilter filter;

	(void) state;
	CuckooFilterInit(&filter, 0.015625, UINT64_C(0x0102030405060708),
					 UINT64_C(0x1112131415161718), CUCKOO_PLAIN);
	filter.body = CUCKOO_TABLES;
	filter.kind = CUCKOO_KIND_ARRAY;
	filter.element_kind = CUCKOO_KIND_MONEY;
	filter.flags |= CUCKOO_FLAG_NOT_REMOVABLE;
	filter.table_count = 2;
	filter.items = UINT64_C(0x2122232425262728);
	filter.tables[0].shape = shapes[0];
	filter.tables[0].items = UINT64_C(0x3132333435363738);
	filter.tables[1].shape = shapes[1];
	filter.tables[1].items = 9;
	CuckooWriteHeader(&filter, bytes);
	assert_memory_equal(bytes, expected, sizeof(expected));
}

/* As a reader of slices sees it: no byte of a list or table at hand. */
static void
a_header_can_be_opened_without_what_follows(void **state)
{
	(void) state;
	for (int i = 0; i < sample_count; i++)
	{
		const Sample *sample = &samples[i];
		uint8_t    *header = Allocate(CUCKOO_MAX_HEADER_BYTES);
		uint8_t    *whole = Duplicate(sample->bytes, sample->length);
		CuckooFilter filter;
		CuckooFilter read;

		memcpy(header, sample->bytes, sample->length < CUCKOO_MAX_HEADER_BYTES ?
			   sample->length : CUCKOO_MAX_HEADER_BYTES);
		CuckooOpenHeader(&read, header);
		CuckooOpen(&filter, whole);
		assert_int_equal(CuckooBytes(&read), sample->length);
		assert_int_equal(read.items, filter.items);
		assert_int_equal(read.flags, filter.flags);
		assert_int_equal(read.table_count, filter.table_count);
		for (int t = 0; t < filter.table_count; t++)
			assert_true(CuckooShapeEqual(&read.tables[t].shape, &filter.tables[t].shape));
		free(header);
		free(whole);
	}
}

static void
lengths_are_those_of_the_parts_and_0_beyond_the_largest_filter(void **state)
{
	CuckooFilter filter;

	(void) state;
	CuckooFilterInit(&filter, 0.001, 0, 0, CUCKOO_SEMISORTED);
	assert_int_equal(CuckooBytes(&filter), 40);
	filter.items = 100;
	assert_int_equal(CuckooBytes(&filter), 840);
	filter.items = (CUCKOO_MAX_BYTES - 40) / 8;
	assert_int_equal(CuckooBytes(&filter), CUCKOO_MAX_BYTES);
	filter.items++;
	assert_int_equal(CuckooBytes(&filter), 0);
	filter.items = UINT64_MAX;
	assert_int_equal(CuckooBytes(&filter), 0);

	filter.body = CUCKOO_TABLES;
	filter.table_count = 2;
	filter.tables[0].shape = ShapeOf(2, 4, 13, CUCKOO_SEMISORTED);
	filter.tables[1].shape = ShapeOf(3, 10, 5, CUCKOO_PLAIN);
	assert_int_equal(CuckooBytes(&filter), 40 + 2 * 16 + 8 * 6 + 30 * 5 / 2 + 8);
	filter.tables[1].shape = ShapeOf(UINT32_MAX, CUCKOO_MAX_BUCKETS, 32, CUCKOO_PLAIN);
	assert_int_equal(CuckooBytes(&filter), 0);
	filter.table_count = CUCKOO_MAX_TABLES;
	for (int i = 0; i < CUCKOO_MAX_TABLES; i++)
		filter.tables[i].shape = ShapeOf(UINT32_MAX, CUCKOO_MAX_BUCKETS, 32, CUCKOO_PLAIN);
	assert_int_equal(CuckooBytes(&filter), 0);
}

static int	pauses;

static void
CountPause(void)
{
	pauses++;
}

static void
the_validator_gives_way_while_it_reads_a_large_table(void **state)
{
	CuckooShape shape = ShapeOf(4, CUCKOO_MAX_BUCKETS, 5, CUCKOO_SEMISORTED);
	Owned		owned = NewFilterOf(&shape, 1, 0.1, 1);

	(void) state;
	pauses = 0;
	assert_int_equal(CuckooValidate(owned.bytes, owned.room, CountPause).problem, CUCKOO_VALID);
	assert_true(pauses >= 4);
	FreeFilter(&owned);
}

/* ------------------------------------------------------------ bad bytes */

static void
bytes_cut_off_anywhere_are_refused(void **state)
{
	(void) state;
	for (int i = 0; i < sample_count; i++)
	{
		const Sample *sample = &samples[i];
		size_t		fixed = CUCKOO_HEADER_BYTES +
			(size_t) sample->bytes[AT_TABLES] * CUCKOO_DIRECTORY_BYTES;

		for (size_t length = 0; length < sample->length; length++)
		{
			if (length < CUCKOO_HEADER_BYTES)
				assert_verdict(Judge(sample->bytes, length), CUCKOO_TOO_SHORT,
							   CUCKOO_HEADER_BYTES, length);
			else if (length < fixed)
				assert_verdict(Judge(sample->bytes, length), CUCKOO_TOO_SHORT, fixed, length);
			else
				assert_verdict(Judge(sample->bytes, length), CUCKOO_BAD_LENGTH,
							   sample->length, length);
		}
	}
}

static void
bytes_too_many_are_refused(void **state)
{
	(void) state;
	for (int i = 0; i < sample_count; i++)
	{
		const Sample *sample = &samples[i];
		uint8_t    *longer = Allocate(sample->length + 100);

		memcpy(longer, sample->bytes, sample->length);
		for (size_t more = 1; more <= 100; more++)
			assert_verdict(Judge(longer, sample->length + more), CUCKOO_BAD_LENGTH,
						   sample->length, sample->length + more);
		free(longer);
	}
}

/* Only the version is read of what is longer than any filter. */
static void
more_bytes_than_any_filter_has_are_refused_before_they_are_read(void **state)
{
	const Sample *sample = SampleNamed("list");

	(void) state;
	assert_verdict(CuckooValidate(sample->bytes, CUCKOO_MAX_BYTES + 1, NULL),
				   CUCKOO_TOO_LONG, CUCKOO_MAX_BYTES, CUCKOO_MAX_BYTES + 1);
}

/* A version that may come one day, and what can only be garbage. */
static void
another_version_is_refused_whatever_follows(void **state)
{
	(void) state;
	for (int version = 0; version < 256; version++)
	{
		uint8_t		byte = (uint8_t) version;
		CuckooProblem problem = version > CUCKOO_VERSION && version <= CUCKOO_LAST_VERSION ?
			CUCKOO_NEWER_VERSION : CUCKOO_BAD_VERSION;

		if (version == CUCKOO_VERSION)
			continue;
		assert_verdict(Judge(&byte, 1), problem, CUCKOO_VERSION, version);
		for (int i = 0; i < sample_count; i++)
			assert_verdict(JudgeChanged(&samples[i], AT_VERSION, 1, (uint64_t) version),
						   problem, CUCKOO_VERSION, version);
	}
}

/*
 * Whatever any one byte of header and directory is changed to: a verdict that
 * names a problem, or a filter that can be used.
 */
static void
any_header_byte_of_any_value_is_refused_or_safe(void **state)
{
	(void) state;
	for (int i = 0; i < sample_count; i++)
	{
		const Sample *sample = &samples[i];
		size_t		fixed = CUCKOO_HEADER_BYTES +
			(size_t) sample->bytes[AT_TABLES] * CUCKOO_DIRECTORY_BYTES;

		for (size_t offset = 0; offset < fixed; offset++)
			for (int value = 0; value < 256; value++)
				JudgeChanged(sample, offset, 1, (uint64_t) value);
	}
}

static void
a_field_out_of_range_is_refused_by_its_offset(void **state)
{
	static const struct
	{
		const char *sample;
		size_t		offset;
		int			bytes;
		uint64_t	value;
	}			cases[] = {
		{"list", AT_BODY, 1, 3},
		{"list", AT_BODY, 1, 255},
		{"empty list", AT_KIND, 1, CUCKOO_KIND_LAST + 1},
		{"narrow", AT_KIND, 1, 255},
		{"narrow", AT_KIND, 1, CUCKOO_KIND_NONE},
		{"full list", AT_KIND, 1, CUCKOO_KIND_NONE},
		{"list", AT_ELEMENT_KIND, 1, CUCKOO_KIND_LAST + 1},
		{"list", AT_ELEMENT_KIND, 1, CUCKOO_KIND_NONE},
		{"narrow", AT_ELEMENT_KIND, 1, CUCKOO_KIND_TEXT},
		{"narrow", AT_FLAGS, 1, 0x08},
		{"narrow", AT_FLAGS, 1, 0x80},
		{"narrow", AT_FLAGS, 1, CUCKOO_FLAG_UNSET},
		{"list", AT_FLAGS, 1, CUCKOO_FLAG_NOT_REMOVABLE},
		{"partial", AT_FLAGS, 1, CUCKOO_FLAG_NOT_REMOVABLE},
		{"partial", AT_FLAGS, 1, CUCKOO_FLAG_UNSET},
		{"unset", AT_FLAGS, 1, CUCKOO_FLAG_UNSET | CUCKOO_FLAG_PLAIN},
		{"narrow", AT_TABLES, 1, 0},
		{"narrow", AT_TABLES, 1, CUCKOO_MAX_TABLES + 1},
		{"list", AT_TABLES, 1, 1},
		{"partial", AT_TABLES, 1, 1},
		{"list", AT_PARTIAL, 1, 1},
		{"narrow", AT_PARTIAL, 1, 1},
		{"list", AT_ZERO, 1, 1},
		{"narrow", AT_ZERO, 1, 0x80},
		{"partial", AT_ZERO, 1, 1},
		{"list", AT_CAPACITY, 8, CUCKOO_MAX_CAPACITY + 1},
		{"list", AT_CAPACITY, 8, UINT64_MAX},
		{"list", AT_ITEMS, 8, CUCKOO_LONG_LIST + 1},
		{"full list", AT_ITEMS, 8, CUCKOO_SHORT_LIST + 1},
		{"partial", AT_ITEMS, 8, CUCKOO_MAX_BYTES + 1},
		{"list", AT_ITEMS, 8, UINT64_MAX},
		/* 8 bytes an item wrap to the length there is */
		{"list", AT_ITEMS, 8, (UINT64_C(1) << 61) + 12},
		{"partial", AT_ITEMS, 8, (UINT64_C(1) << 61) + 20},
		{"unset", AT_KIND, 1, CUCKOO_KIND_TEXT},
		{"unset", AT_SEED, 1, 1},
		{"unset", AT_CAPACITY + 3, 1, 1},
	};

	(void) state;
	for (size_t i = 0; i < lengthof(cases); i++)
	{
		CuckooVerdict verdict = JudgeChanged(SampleNamed(cases[i].sample), cases[i].offset,
											 cases[i].bytes, cases[i].value);
		size_t		field = cases[i].offset;

		/* The unset filter is checked byte by byte. */
		if (verdict.problem != CUCKOO_BAD_FIELD || verdict.found != field)
			fail_msg("%s, offset %zu set to %llu: problem %d, found %llu",
					 cases[i].sample, cases[i].offset, (unsigned long long) cases[i].value,
					 verdict.problem, (unsigned long long) verdict.found);
	}
}

static void
a_rate_that_cannot_be_kept_is_refused(void **state)
{
	static const double bad[] = {
		0, -0.0, -0.001, 1e-9, 1.9999e-9, 0.1000001, 1, 1e300, 5e-324, INFINITY, -INFINITY, NAN
	};
	static const double good[] = {CUCKOO_MIN_FPR, 1e-6, 0.001, CUCKOO_MAX_FPR};
	const Sample *sample = SampleNamed("narrow");

	(void) state;
	for (size_t i = 0; i < lengthof(bad); i++)
		assert_verdict(JudgeChanged(sample, AT_FPR, 8, DoubleBits(bad[i])),
					   CUCKOO_BAD_FIELD, 0, AT_FPR);
	for (size_t i = 0; i < lengthof(good); i++)
		assert_verdict(JudgeChanged(sample, AT_FPR, 8, DoubleBits(good[i])), CUCKOO_VALID, 0, 0);
}

static void
a_partial_body_of_another_version_is_refused(void **state)
{
	(void) state;
	for (int version = 0; version < 256; version++)
	{
		if (version != CUCKOO_PARTIAL_VERSION)
			assert_verdict(JudgeChanged(SampleNamed("partial"), AT_PARTIAL, 1, (uint64_t) version),
						   CUCKOO_BAD_PARTIAL_VERSION, CUCKOO_PARTIAL_VERSION, version);
	}
}

/* Also where products wrap to the length there is. */
static void
an_impossible_shape_is_refused_by_the_number_of_its_table(void **state)
{
	static const struct
	{
		size_t		field;
		int			bytes;
		uint64_t	value;
	}			cases[] = {
		{OF_BLOCKS, 4, 0},
		{OF_BLOCKS, 4, UINT32_MAX},
		{OF_BLOCKS, 4, UINT64_C(1) << 31},
		{OF_BLOCKS, 4, CUCKOO_MAX_BYTES},
		{OF_BUCKETS, 2, 0},
		{OF_BUCKETS, 2, 1},
		{OF_BUCKETS, 2, 3},
		{OF_BUCKETS, 2, CUCKOO_MAX_BUCKETS - 1},
		{OF_BUCKETS, 2, CUCKOO_MAX_BUCKETS + 2},
		{OF_BUCKETS, 2, 65534},
		{OF_BITS, 1, 0},
		{OF_BITS, 1, CUCKOO_MIN_BITS - 1},
		{OF_BITS, 1, CUCKOO_MAX_BITS + 1},
		{OF_BITS, 1, 255},
		{OF_STASH, 1, 2},
		{OF_STASH, 1, 255},
		{OF_ITEMS, 8, 10000},
		{OF_ITEMS, 8, UINT64_MAX},
		{OF_ITEMS, 8, UINT64_C(1) << 63},
	};
	const Sample *sample = SampleNamed("three tables");

	(void) state;
	for (size_t i = 0; i < lengthof(cases); i++)
	{
		for (size_t table = 0; table < 3; table++)
		{
			CuckooVerdict verdict =
				JudgeChanged(sample, AT_DIRECTORY + table * CUCKOO_DIRECTORY_BYTES + cases[i].field,
							 cases[i].bytes, cases[i].value);

			if (verdict.problem != CUCKOO_BAD_TABLE || verdict.found != table + 1)
				fail_msg("field at %zu set to %llu: problem %d, found %llu", cases[i].field,
						 (unsigned long long) cases[i].value, verdict.problem,
						 (unsigned long long) verdict.found);
		}
	}
}

/* A short value must not make its reader take much memory or time. */
static void
a_huge_shape_in_few_bytes_is_refused_by_its_length(void **state)
{
	uint8_t    *bytes = Duplicate(SampleNamed("empty table")->bytes,
								  SampleNamed("empty table")->length);
	CuckooVerdict verdict;

	(void) state;
	CuckooStore32(bytes + AT_DIRECTORY + OF_BLOCKS, 1000);
	CuckooStore16(bytes + AT_DIRECTORY + OF_BUCKETS, CUCKOO_MAX_BUCKETS);
	verdict = Judge(bytes, SampleNamed("empty table")->length);
	assert_int_equal(verdict.problem, CUCKOO_BAD_LENGTH);
	assert_int_equal(verdict.expected, 40 + 16 + UINT64_C(32768000) * 2 + 8);

	/* As many buckets as the directory may state: more than may be stored. */
	CuckooStore32(bytes + AT_DIRECTORY + OF_BLOCKS,
				  (uint32_t) (CUCKOO_MAX_BYTES / 2 / CUCKOO_MAX_BUCKETS));
	bytes[AT_DIRECTORY + OF_BITS] = 32;
	assert_int_equal(Judge(bytes, SampleNamed("empty table")->length).problem,
					 CUCKOO_BAD_LENGTH);
	free(bytes);
}

static void
items_that_do_not_add_up_are_refused(void **state)
{
	const Sample *sample = SampleNamed("three tables");
	CuckooFilter filter;
	uint8_t    *bytes = Duplicate(sample->bytes, sample->length);

	(void) state;
	CuckooOpen(&filter, bytes);

	/* The header against the directory, */
	CuckooStore64(bytes + AT_ITEMS, filter.items + 1);
	assert_verdict(Judge(bytes, sample->length), CUCKOO_BAD_ITEMS, filter.items,
				   filter.items + 1);

	/* the directory against the buckets: one too many, one too few. */
	CuckooStore64(bytes + AT_DIRECTORY + 16 + OF_ITEMS, filter.tables[1].items + 1);
	assert_verdict(Judge(bytes, sample->length), CUCKOO_BAD_ITEMS, filter.tables[1].items,
				   filter.tables[1].items + 1);
	CuckooStore64(bytes + AT_ITEMS, filter.items - 1);
	CuckooStore64(bytes + AT_DIRECTORY + 16 + OF_ITEMS, filter.tables[1].items - 1);
	assert_verdict(Judge(bytes, sample->length), CUCKOO_BAD_ITEMS, filter.tables[1].items,
				   filter.tables[1].items - 1);

	/* One table's missing item in another's place. */
	CuckooStore64(bytes + AT_ITEMS, filter.items);
	CuckooStore64(bytes + AT_DIRECTORY + OF_ITEMS, filter.tables[0].items + 1);
	assert_verdict(Judge(bytes, sample->length), CUCKOO_BAD_ITEMS, filter.tables[0].items,
				   filter.tables[0].items + 1);
	free(bytes);
}

/* Exchange two entries of each bucket, for both layouts and all widths. */
static void
buckets_out_of_canonical_order_are_refused(void **state)
{
	(void) state;
	for (int bits = CUCKOO_MIN_BITS; bits <= CUCKOO_MAX_BITS; bits++)
	{
		for (int layout = CUCKOO_SEMISORTED; layout <= CUCKOO_PLAIN; layout++)
		{
			CuckooShape shape = ShapeOf(2, 4, bits, (CuckooLayout) layout);
			Owned		owned = NewFilterOf(&shape, 1, 0.1, 1);
			CuckooTable *table = &owned.filter.tables[0];
			int			width = table->code.high_bits;
			int			refused = 0;

			for (uint64_t i = 0; i < 28; i++)
				CuckooFilterAdd(&owned.filter, KeyHash(1, i));
			for (uint64_t number = 0; number < 8; number++)
			{
				CuckooBits	was = CuckooReadBits(&table->code, table->data, number);
				uint32_t	entries[CUCKOO_ENTRIES];

				CuckooDecode(&table->code, was, entries);
				for (int slot = 1; slot < CUCKOO_ENTRIES; slot++)
				{
					CuckooBits	bad = was;
					uint32_t	swapped[2];

					/* Semi-sorted, only equal nibbles can stand in a wrong order. */
					if (entries[slot - 1] == entries[slot] ||
						(layout == CUCKOO_SEMISORTED &&
						 (entries[slot - 1] & 15) != (entries[slot] & 15)))
						continue;
					swapped[0] = entries[slot] >> table->code.low_bits;
					swapped[1] = entries[slot - 1] >> table->code.low_bits;
					for (int k = 0; k < 2; k++)
					{
						for (int bit = 0; bit < width; bit++)
						{
							int			position = table->code.code_bits +
								(slot - 1 + k) * width + bit;
							uint64_t   *word = position < 64 ? &bad.low : &bad.high;
							uint64_t	mask = UINT64_C(1) << (position % 64);

							*word = swapped[k] >> bit & 1 ? *word | mask : *word & ~mask;
						}
					}
					CuckooWriteBits(&table->code, table->data, number, bad);
					CuckooWriteHeader(&owned.filter, owned.bytes);
					assert_verdict(Judge(owned.bytes, owned.room), CUCKOO_BAD_BUCKET, 0, number);
					refused++;
				}
				CuckooWriteBits(&table->code, table->data, number, was);
			}
			assert_true(layout == CUCKOO_SEMISORTED || refused > 0);
			assert_int_equal(ProblemOf(&owned), CUCKOO_VALID);
			FreeFilter(&owned);
		}
	}
}

/*
 * Semi-sorted entries whose nibbles are equal stand by their high parts, and
 * an empty entry before one whose nibble is 0: 1 / (16 f) of buckets, so made
 * by hand.
 */
static void
equal_nibbles_out_of_order_are_refused(void **state)
{
	(void) state;
	for (int bits = CUCKOO_MIN_BITS; bits <= CUCKOO_MAX_BITS; bits++)
	{
		CuckooShape shape = ShapeOf(1, 2, bits, CUCKOO_SEMISORTED);
		Owned		owned = NewFilterOf(&shape, 1, 0.1, 1);
		CuckooTable *table = &owned.filter.tables[0];
		CuckooBits	order = {0, 0};
		int			width = table->code.high_bits;

		/* One entry of nibble 0 and high part 1: last, so at the fourth place. */
		table->items = owned.filter.items = 1;
		for (int slot = 0; slot < CUCKOO_ENTRIES; slot++)
		{
			int			position = 12 + slot * width;

			order.low = position < 64 ? UINT64_C(1) << position : 0;
			order.high = position < 64 ? 0 : UINT64_C(1) << (position - 64);
			CuckooWriteBits(&table->code, table->data, 1, order);
			if (slot == CUCKOO_ENTRIES - 1)
				assert_int_equal(ProblemOf(&owned), CUCKOO_VALID);
			else
			{
				CuckooWriteHeader(&owned.filter, owned.bytes);
				assert_verdict(Judge(owned.bytes, owned.room), CUCKOO_BAD_BUCKET, 0, 1);
			}
		}
		FreeFilter(&owned);
	}
}

static void
multisets_that_do_not_exist_are_refused(void **state)
{
	(void) state;
	for (int bits = CUCKOO_MIN_BITS; bits <= CUCKOO_MAX_BITS; bits++)
	{
		CuckooShape shape = ShapeOf(1, 4, bits, CUCKOO_SEMISORTED);
		Owned		owned = NewFilterOf(&shape, 1, 0.1, 1);

		for (uint64_t number = 0; number < 4; number++)
		{
			for (uint64_t multiset = CUCKOO_MULTISETS; multiset < 4096; multiset++)
			{
				CuckooBits	wrong = {multiset, 0};

				CuckooWriteBits(&owned.filter.tables[0].code, owned.filter.tables[0].data,
								number, wrong);
				assert_verdict(Judge(owned.bytes, owned.room), CUCKOO_BAD_BUCKET, 0, number);
			}
			{
				CuckooBits	zero = {0, 0};

				CuckooWriteBits(&owned.filter.tables[0].code, owned.filter.tables[0].data,
								number, zero);
			}
		}
		assert_int_equal(ProblemOf(&owned), CUCKOO_VALID);
		FreeFilter(&owned);
	}
}

static void
a_tail_that_is_not_zero_is_refused(void **state)
{
	(void) state;
	for (int i = 0; i < sample_count; i++)
	{
		const Sample *sample = &samples[i];

		if (sample->bytes[AT_BODY] != CUCKOO_TABLES)
			continue;
		for (size_t offset = sample->length - CUCKOO_TAIL_BYTES; offset < sample->length; offset++)
			for (int bit = 0; bit < 8; bit++)
				assert_verdict(JudgeChanged(sample, offset, 1, UINT64_C(1) << bit),
							   CUCKOO_BAD_TAIL, 0, offset);
	}
}

/* A list of these hashes as bytes, judged. */
static CuckooVerdict
JudgeList(CuckooBody body, const uint64_t *hashes, size_t count)
{
	Owned		owned = NewFilter(0.001, 0, 0, CUCKOO_SEMISORTED);
	CuckooVerdict verdict;

	owned.filter.body = body;
	owned.filter.items = count;
	for (size_t i = 0; i < count; i++)
		CuckooStore64(owned.bytes + CUCKOO_HEADER_BYTES + 8 * i, hashes[i]);
	verdict = Judge(owned.bytes, StoredBytes(&owned));
	FreeFilter(&owned);
	return verdict;
}

static void
a_list_out_of_order_is_refused_by_the_number_of_the_hash(void **state)
{
	static const uint64_t first[] = {2, 1, 3, 4};
	static const uint64_t last[] = {1, 2, UINT64_MAX, 4};
	static const uint64_t good[] = {0, 1, 1, UINT64_MAX};

	(void) state;
	assert_verdict(JudgeList(CUCKOO_LIST, first, 4), CUCKOO_BAD_ORDER, 0, 1);
	assert_verdict(JudgeList(CUCKOO_LIST, last, 4), CUCKOO_BAD_ORDER, 0, 3);
	assert_verdict(JudgeList(CUCKOO_PARTIAL, last, 4), CUCKOO_BAD_ORDER, 0, 3);
	assert_verdict(JudgeList(CUCKOO_LIST, good, 4), CUCKOO_VALID, 0, 0);
}

static void
more_copies_than_a_list_may_hold_are_refused(void **state)
{
	static const uint64_t nine[] = {1, 5, 5, 5, 5, 5, 5, 5, 5, 5, 6};
	static const uint64_t eights[] = {
		0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1
	};
	static const uint64_t twice[] = {1, 2, 2};

	(void) state;
	assert_verdict(JudgeList(CUCKOO_LIST, nine, lengthof(nine)), CUCKOO_BAD_ORDER, 0, 9);
	assert_verdict(JudgeList(CUCKOO_LIST, eights, lengthof(eights)), CUCKOO_VALID, 0, 0);
	assert_verdict(JudgeList(CUCKOO_PARTIAL, twice, 3), CUCKOO_BAD_ORDER, 0, 2);
	assert_verdict(JudgeList(CUCKOO_PARTIAL, twice, 2), CUCKOO_VALID, 0, 0);
}

/* --------------------------------------------------------------- chance */

/* Half of them with the beginning that gets past the first checks. */
static void
random_bytes_are_refused_or_safe(void **state)
{
	uint64_t	random = 7;
	uint8_t		bytes[200];

	(void) state;
	for (int i = 0; i < 100000; i++)
	{
		size_t		length = RandomBelow(&random, sizeof(bytes) + 1);

		for (size_t k = 0; k < sizeof(bytes); k++)
			bytes[k] = (uint8_t) (NextRandom(&random) >> 56);
		if (i % 2 == 0)
		{
			const Sample *sample = &samples[RandomBelow(&random, (uint32_t) sample_count)];
			size_t		kept = RandomBelow(&random, CUCKOO_HEADER_BYTES + 1);

			memcpy(bytes, sample->bytes, kept);
		}
		Judge(bytes, length);
	}
}

/* Changed in a few bits, bytes or numbers, cut, lengthened, and put together. */
static void
mutated_filters_are_refused_or_safe(void **state)
{
	static const uint64_t edges[] = {
		0, 1, 2, 3, 4, 7, 8, 16, 17, 31, 32, 33, 255, 256, 1024, 1025, 32767, 32768, 65535,
		0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, UINT64_MAX, UINT64_C(1) << 61, UINT64_C(1) << 63
	};
	uint64_t	random = 8;
	int			accepted = 0;

	(void) state;
	for (int i = 0; i < 100000; i++)
	{
		const Sample *sample = &samples[RandomBelow(&random, (uint32_t) sample_count)];
		size_t		length = sample->length;
		uint8_t    *bytes = Allocate(length + 64);

		memcpy(bytes, sample->bytes, length);
		for (int changes = 1 + (int) RandomBelow(&random, 3); changes > 0; changes--)
		{
			size_t		offset = RandomBelow(&random, (uint32_t) length);

			switch (RandomBelow(&random, 6))
			{
				case 0:
				case 1:
					bytes[offset] ^= (uint8_t) (1 << RandomBelow(&random, 8));
					break;
				case 2:
					bytes[offset] = (uint8_t) NextRandom(&random);
					break;
				case 3:
					CuckooStore64(bytes + (offset & ~(size_t) 7),
								  edges[RandomBelow(&random, lengthof(edges))]);
					break;
				case 4:
					{
						const Sample *other = &samples[RandomBelow(&random, (uint32_t) sample_count)];

						if (offset < other->length)
							bytes[offset] = other->bytes[offset];
						break;
					}
				default:
					if (RandomBelow(&random, 8) == 0)
						length = RandomBelow(&random, (uint32_t) sample->length + 56) + 1;
					break;
			}
		}
		accepted += Judge(bytes, length).problem == CUCKOO_VALID;
		free(bytes);
	}
	/* Enough of them get through for the test to mean something. */
	assert_in_range(accepted, 5000, 95000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(valid_filters_pass_and_can_be_used),
		cmocka_unit_test(every_header_field_is_read_as_it_was_written),
		cmocka_unit_test(the_header_is_laid_out_as_described),
		cmocka_unit_test(a_header_can_be_opened_without_what_follows),
		cmocka_unit_test(lengths_are_those_of_the_parts_and_0_beyond_the_largest_filter),
		cmocka_unit_test(the_validator_gives_way_while_it_reads_a_large_table),
		cmocka_unit_test(bytes_cut_off_anywhere_are_refused),
		cmocka_unit_test(bytes_too_many_are_refused),
		cmocka_unit_test(more_bytes_than_any_filter_has_are_refused_before_they_are_read),
		cmocka_unit_test(another_version_is_refused_whatever_follows),
		cmocka_unit_test(any_header_byte_of_any_value_is_refused_or_safe),
		cmocka_unit_test(a_field_out_of_range_is_refused_by_its_offset),
		cmocka_unit_test(a_rate_that_cannot_be_kept_is_refused),
		cmocka_unit_test(a_partial_body_of_another_version_is_refused),
		cmocka_unit_test(an_impossible_shape_is_refused_by_the_number_of_its_table),
		cmocka_unit_test(a_huge_shape_in_few_bytes_is_refused_by_its_length),
		cmocka_unit_test(items_that_do_not_add_up_are_refused),
		cmocka_unit_test(buckets_out_of_canonical_order_are_refused),
		cmocka_unit_test(equal_nibbles_out_of_order_are_refused),
		cmocka_unit_test(multisets_that_do_not_exist_are_refused),
		cmocka_unit_test(a_tail_that_is_not_zero_is_refused),
		cmocka_unit_test(a_list_out_of_order_is_refused_by_the_number_of_the_hash),
		cmocka_unit_test(more_copies_than_a_list_may_hold_are_refused),
		cmocka_unit_test(random_bytes_are_refused_or_safe),
		cmocka_unit_test(mutated_filters_are_refused_or_safe),
	};

	return cmocka_run_group_tests_name("format", tests, MakeSamples, FreeSamples);
}
