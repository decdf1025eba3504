/*-------------------------------------------------------------------------
 *
 * format_test.c
 *	  The portable bytes: what is written can be read, and the validator
 *	  refuses everything malformed.
 *
 * The validator is always given memory of exactly the length that it is told,
 * so that AddressSanitizer notices if it reads further.  What it accepts is
 * then opened and used: keys are looked up, added and removed, and filters
 * combined.
 *
 *-------------------------------------------------------------------------
 */
#include "support.h"

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
	uint8_t    *bytes;
	size_t		length;
} Sample;

#define MAX_SAMPLES 16
static Sample samples[MAX_SAMPLES];
static int	sample_count;

/* Copy the bytes of a filter, and free it. */
static void
Keep(const char *name, Value *value)
{
	Sample	   *sample = &samples[sample_count++];

	assert_true(sample_count <= MAX_SAMPLES);
	sample->name = name;
	sample->length = value->length;
	sample->bytes = Duplicate(value->bytes, value->length);
	FreeValue(value);
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
static void
KeepBare(const char *name, CuckooFilter *filter, uint64_t hashes)
{
	Value		value;
	size_t		length;

	filter->items = hashes;
	length = CuckooBytes(filter);
	value.bytes = (uint8_t *) palloc(VARHDRSZ + length) + VARHDRSZ;
	value.length = length;
	CuckooLayOut(filter, value.bytes);
	for (uint64_t i = 0; i < hashes; i++)
		CuckooStore64(filter->hashes + 8 * i, UINT64_C(1234567890123456) * (i + 1));
	assert_int_equal(ProblemOf(&value), CUCKOO_VALID);
	Keep(name, &value);
}

static int
MakeSamples(void **state)
{
	/* Fingerprints of 32 bits, whose buckets need two words */
	static const uint64_t wide[] = {
		1, 2, 2, 77, UINT64_C(0xFFFFFFFF), UINT64_C(0x100000001), UINT64_C(0x1ABCDEF01),
		UINT64_C(0x1ABCDEF01), UINT64_C(0x1ABCDEF01), UINT64_C(0x1ABCDEF02),
		UINT64_C(0x1FFFFFFFE), UINT64_C(0x1FFFFFFFF)
	};
	CuckooShape shape;
	CuckooFilter filter;
	Value		value;
	Value		parts[3];

	(void) state;
	CuckooFilterInitUnset(&filter);
	KeepBare("unset", &filter, 0);

	CuckooFilterInit(&filter, 0.001, 0, 7);
	filter.content = CUCKOO_PARTIAL;
	filter.key_type = CUCKOO_KEY_ARRAY;
	filter.signature = 99;
	KeepBare("partial", &filter, 20);
	CuckooFilterInit(&filter, 0.001, 100, 0);
	filter.content = CUCKOO_PARTIAL;
	KeepBare("empty partial", &filter, 0);
	filter.key_type = CUCKOO_KEY_TEXT;
	KeepBare("partial of texts", &filter, 20);

	value = ValueOfHashes(NULL, 0, 0.1, 1);
	Keep("empty", &value);
	value = ValueOfHashes(NULL, 0, 0.001, 0);
	Keep("empty of unknown capacity", &value);
	value = ValueOfKeys(1, 0, 1, 0.001, 0);
	Keep("one key", &value);
	value = ValueOfKeys(1, 0, 50, 0.001, 200);
	Keep("sparse", &value);
	value = ValueOfHashes(NULL, 0, 0.1, 1);
	AddKeys(&value, 1, 0, 20);
	assert_int_equal(Open(&value).tables[0].representation, CUCKOO_DENSE);
	Keep("dense", &value);

	shape = ShapeOf(2, 2, 32);
	value = ValueOfCodes(&shape, wide, 5, 1e-6, 7);
	Keep("wide sparse", &value);
	value = ValueOfCodes(&shape, wide, lengthof(wide), 1e-6, 7);
	assert_int_equal(Open(&value).tables[0].representation, CUCKOO_DENSE);
	Keep("wide dense", &value);

	parts[0] = ValueOfHashes(NULL, 0, 0.1, 1);
	AddKeys(&parts[0], 1, 0, 20);
	parts[1] = ValueOfKeys(1, 20, 60, 0.01, 300);
	parts[2] = ValueOfKeys(1, 60, 90, 0.001, 0);
	value = Combine(CUCKOO_UNION, parts, 3);
	assert_int_equal(Open(&value).table_count, 3);
	Keep("three tables", &value);
	for (int i = 0; i < 3; i++)
		FreeValue(&parts[i]);
	return 0;
}

static int
FreeSamples(void **state)
{
	(void) state;
	while (sample_count > 0)
		free(samples[--sample_count].bytes);
	assert_int_equal(areas_in_use, 0);
	return 0;
}

/* ---------------------------------------------------- use and judgement */

/* Everything that can be done with an accepted filter. */
static void
Exercise(const uint8_t *bytes, size_t length)
{
	static uint64_t stream = 1000;
	uint8_t    *copy = Duplicate(bytes, length);
	CuckooFilter filter;
	double		rate;

	stream++;
	CuckooOpen(&filter, copy, length);
	assert_int_equal(CuckooBytes(&filter), length);
	assert_in_range(filter.content, CUCKOO_TABLES, CUCKOO_PARTIAL);
	assert_in_range(filter.key_type, 0, CUCKOO_KEY_LAST);
	assert_in_range(filter.table_count, 0, CUCKOO_MAX_TABLES);
	rate = CuckooFilterRate(&filter);
	assert_true(rate >= 0 && rate <= 1);

	/* The header is the same when written back. */
	memset(copy, 0xFF, CUCKOO_HEADER_BYTES);
	CuckooWriteHeader(&filter, copy);
	assert_memory_equal(copy, bytes, length);

	for (uint64_t i = 0; i < 20; i++)
	{
		uint64_t	hash = KeyHash(i % 2 == 0 ? 1 : stream, i);
		int			copies = CuckooFilterCount(&filter, hash);

		assert_in_range(copies, 0, CUCKOO_MAX_COPIES);
		assert_int_equal(CuckooFilterContains(&filter, hash), copies > 0);
		for (int t = 0; t < filter.table_count; t++)
			assert_int_equal(SlicedCount(&filter.tables[t], hash, 0xFF),
							 CuckooTableCount(&filter.tables[t], hash));
	}

	/* Not every time: walks in full tables take long. */
	if (stream % 4 == 0 && filter.content == CUCKOO_TABLES &&
		!(filter.flags & CUCKOO_FLAG_UNSET))
	{
		CuckooDraft draft;
		Value		value;

		CuckooDraftOpen(&draft, copy, length, false);
		if (draft.filter.key_type == CUCKOO_KEY_NONE)
			draft.filter.key_type = CUCKOO_KEY_TEXT;
		for (uint64_t i = 0; i < 12; i++)
		{
			uint64_t	hash = KeyHash(i % 2 == 0 ? 1 : stream, i);
			CuckooChange change = ApplyHash(&draft, CUCKOO_ADD, hash);

			assert_in_range(change, CUCKOO_CHANGED, CUCKOO_TOO_LARGE);
			if (change == CUCKOO_FULL || change == CUCKOO_TOO_LARGE)
				break;
			assert_true(CuckooFilterContains(&draft.filter, hash));
			if (i % 3 == 0)
				ApplyHash(&draft, CUCKOO_REMOVE, hash);
		}
		value.bytes = CuckooDraftFinish(&draft);
		value = Valid(value.bytes, &draft.filter);
		if (Combinable(&value, &value))
		{
			Value		both = CombineTwo(CUCKOO_UNION_ALL, &value, &value);

			FreeValue(&both);
		}
		FreeValue(&value);
		assert_memory_equal(copy, bytes, length);
	}
	free(copy);
}

/* The verdict on these bytes.  If they are accepted, they are used. */
static CuckooVerdict
Judge(const uint8_t *bytes, size_t length)
{
	uint8_t    *copy = Duplicate(bytes, length);
	CuckooVerdict verdict = CuckooValidate(length > 0 ? copy : NULL, length);

	assert_in_range(verdict.problem, CUCKOO_VALID, CUCKOO_INVALID);
	if (length > 0)
		assert_memory_equal(copy, bytes, length);
	if (verdict.problem == CUCKOO_VALID)
		Exercise(bytes, length);
	free(copy);
	return verdict;
}

#define VALID		""
#define TOO_SHORT	"It has @ bytes, but must have at least #."
#define TOO_LONG	"It has @ bytes, but may have at most #."
#define BAD_LENGTH	"It has @ bytes, but its header describes #."
#define OTHER_VERSION "Its format version is @."
#define BAD_FIELD	"The header field at offset @ is out of range."
#define BAD_TABLE	"The directory entry of sub-filter @ is out of range."
#define BAD_BUCKET	"Bucket @ of a sub-filter is not in its canonical form."
#define BAD_GROUP	"Group @ of a sub-filter is not in its canonical form."
#define BAD_ITEMS	"It holds # items, but its header says @."
#define BAD_ORDER	"Hash @ of the partial state is out of order."
#define BAD_TAIL	"The byte at offset @ is not zero."

/* Whether a message is this one, with the number found for @, expected for #. */
static bool
IsMessage(const CuckooVerdict *verdict, const char *message, uint64_t expected, uint64_t found)
{
	char		text[200];
	size_t		at = 0;

	for (; *message != '\0'; message++)
	{
		if (*message == '@' || *message == '#')
			at += (size_t) sprintf(text + at, "%llu",
								   (unsigned long long) (*message == '@' ? found : expected));
		else
			text[at++] = *message;
	}
	text[at] = '\0';
	return (verdict->problem == CUCKOO_VALID) == (at == 0) && strcmp(verdict->message, text) == 0;
}

static void
assert_verdict(CuckooVerdict verdict, const char *message, uint64_t expected, uint64_t found)
{
	if (!IsMessage(&verdict, message, expected, found))
		fail_msg("verdict %d \"%s\" instead of \"%s\" with @ %llu, # %llu", verdict.problem,
				 verdict.message, message, (unsigned long long) found,
				 (unsigned long long) expected);
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
			assert_verdict(Judge(samples[i].bytes, samples[i].length), VALID, 0, 0);
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
		uint8_t    *next;

		memset(&filter, 0, sizeof(filter));
		filter.content = (uint8_t) RandomBelow(&random, 2);
		filter.key_type = (uint8_t) NextRandom(&random);
		filter.signature = (uint32_t) NextRandom(&random);
		filter.flags = (uint8_t) RandomBelow(&random, CUCKOO_FLAGS + 1);
		filter.fpr = 1 / (1 + (double) RandomBelow(&random, 1000000));
		filter.capacity = NextRandom(&random);
		filter.seed = NextRandom(&random);
		if (filter.content == CUCKOO_TABLES)
			filter.table_count = (uint8_t) RandomBelow(&random, CUCKOO_MAX_TABLES + 1);
		else
			filter.items = RandomBelow(&random, 100);
		for (int t = 0; t < filter.table_count; t++)
		{
			CuckooShape shape = ShapeOf(1 + RandomBelow(&random, 3),
										2 + 2 * RandomBelow(&random, 20),
										5 + (int) RandomBelow(&random, 28));

			CuckooTableInit(&filter.tables[t], &shape,
							(CuckooRepresentation) RandomBelow(&random, 2),
							RandomBelow(&random, 100), NULL);
			filter.items += filter.tables[t].items;
		}
		length = CuckooBytes(&filter);
		assert_true(length > 0);
		bytes = Allocate(length);
		memset(bytes, 0xFF, length);
		CuckooLayOut(&filter, bytes);
		CuckooOpen(&read, bytes, length);

		assert_int_equal(CuckooBytes(&read), length);
		assert_int_equal(read.content, filter.content);
		assert_int_equal(read.key_type, filter.key_type);
		assert_int_equal(read.signature, filter.signature);
		assert_int_equal(read.flags, filter.flags);
		assert_true(read.fpr == filter.fpr);
		assert_int_equal(read.capacity, filter.capacity);
		assert_int_equal(read.seed, filter.seed);
		assert_int_equal(read.items, filter.items);
		assert_int_equal(read.table_count, filter.table_count);
		assert_true(AllZero(bytes + length - CUCKOO_TAIL_BYTES, CUCKOO_TAIL_BYTES));
		next = bytes + CUCKOO_HEADER_BYTES + filter.table_count * CUCKOO_DIRECTORY_BYTES;
		for (int t = 0; t < filter.table_count; t++)
		{
			const CuckooTable *table = &read.tables[t];

			assert_true(CuckooSameShape(&table->shape, &filter.tables[t].shape));
			assert_int_equal(table->items, filter.tables[t].items);
			assert_int_equal(table->representation, filter.tables[t].representation);
			assert_ptr_equal(table->data, filter.tables[t].data);
			assert_ptr_equal(table->data, next);
			assert_int_equal(CuckooTableOffset(&read, t), next - bytes);
			next += CuckooTableStoredBytes(table);
		}
		assert_int_equal(CuckooTableOffset(&read, read.table_count), next - bytes);
		if (filter.content == CUCKOO_PARTIAL)
			assert_ptr_equal(read.hashes, bytes + CUCKOO_HEADER_BYTES);
		free(bytes);
	}
}

/* The description in format.h, byte by byte. */
static void
the_header_is_laid_out_as_described(void **state)
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

	(void) state;
	CuckooFilterInit(&filter, 0.015625, UINT64_C(0x0102030405060708),
					 UINT64_C(0x1112131415161718));
	filter.key_type = CUCKOO_KEY_ARRAY;
	filter.signature = 0x11223344;
	filter.flags = CUCKOO_FLAG_NOT_REMOVABLE;
	filter.table_count = 2;
	CuckooTableInit(&filter.tables[0], &large, CUCKOO_DENSE, 0x32333435, NULL);
	CuckooTableInit(&filter.tables[1], &small, CUCKOO_SPARSE, 9, NULL);
	CuckooWriteHeader(&filter, bytes);
	assert_memory_equal(bytes, expected, sizeof(expected));
}

/* No release writes another version yet, but a later one will read this. */
static void
the_version_read_is_that_of_the_bytes(void **state)
{
	uint8_t    *bytes = Duplicate(SampleNamed("unset")->bytes, 44);
	CuckooFilter read;

	(void) state;
	CuckooOpenHeader(&read, bytes);
	assert_int_equal(read.version, CUCKOO_VERSION);
	bytes[AT_VERSION] = CUCKOO_VERSION + 1;
	CuckooOpenHeader(&read, bytes);
	assert_int_equal(read.version, CUCKOO_VERSION + 1);
	free(bytes);
}

static void
an_unset_filter_is_44_bytes_of_which_two_are_not_zero(void **state)
{
	const Sample *sample = SampleNamed("unset");

	(void) state;
	assert_int_equal(sample->length, 44);
	assert_int_equal(sample->bytes[AT_VERSION], 1);
	assert_int_equal(sample->bytes[AT_FLAGS], CUCKOO_FLAG_UNSET);
	assert_true(AllZero(sample->bytes + 1, 2) && AllZero(sample->bytes + 4, 40));
}

/* As a reader of slices sees it: without the bytes of the tables. */
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
		CuckooOpen(&filter, whole, sample->length);
		assert_int_equal(read.content, filter.content);
		assert_int_equal(read.flags, filter.flags);
		assert_int_equal(read.table_count, filter.table_count);
		if (filter.content == CUCKOO_TABLES)
		{
			assert_int_equal(CuckooBytes(&read), sample->length);
			assert_int_equal(read.items, filter.items);
		}
		for (int t = 0; t < filter.table_count; t++)
		{
			assert_true(CuckooSameShape(&read.tables[t].shape, &filter.tables[t].shape));
			assert_null(read.tables[t].data);
			assert_int_equal(CuckooTableOffset(&read, t), filter.tables[t].data - whole);
		}
		free(header);
		free(whole);
	}
}

/* A server's working state.  Only its second byte is as in the format. */
static void
a_state_in_memory_opens_as_nothing_and_never_passes(void **state)
{
	uint8_t		bytes[FIXED];
	CuckooFilter filter;

	(void) state;
	memset(bytes, 0xFF, sizeof(bytes));
	bytes[AT_VERSION] = CUCKOO_VERSION;
	bytes[AT_CONTENT] = CUCKOO_STATE;
	CuckooOpenHeader(&filter, bytes);
	assert_int_equal(filter.content, CUCKOO_STATE);
	assert_int_equal(filter.table_count, 0);
	assert_int_equal(filter.items, 0);
	assert_verdict(Judge(bytes, sizeof(bytes)), BAD_FIELD, 0, AT_CONTENT);
}

static void
lengths_are_those_of_the_parts_and_0_beyond_the_largest_filter(void **state)
{
	CuckooShape small = ShapeOf(2, 4, 13);
	CuckooShape empty = ShapeOf(1, 2, 5);
	CuckooShape largest = ShapeOf(12000, 32768, 32);
	CuckooFilter filter;

	(void) state;
	CuckooFilterInit(&filter, 0.001, 0, 0);
	filter.content = CUCKOO_PARTIAL;
	assert_int_equal(CuckooBytes(&filter), 44);
	filter.items = 100;
	assert_int_equal(CuckooBytes(&filter), 844);
	filter.items = (CUCKOO_MAX_BYTES - 44) / 8;
	assert_int_equal(CuckooBytes(&filter), CUCKOO_MAX_BYTES - 4);
	filter.items++;
	assert_int_equal(CuckooBytes(&filter), 0);

	CuckooFilterInit(&filter, 0.001, 0, 0);
	filter.table_count = 2;
	CuckooTableInit(&filter.tables[0], &small, CUCKOO_DENSE, 1, NULL);
	CuckooTableInit(&filter.tables[1], &empty, CUCKOO_SPARSE, 0, NULL);
	/* 8 buckets of 6 bytes; one section of the index and 16 bits */
	assert_int_equal(CuckooBytes(&filter), 44 + 2 * 12 + 8 * 6 + 12 + 2);
	filter.table_count = CUCKOO_MAX_TABLES;
	for (int i = 0; i < CUCKOO_MAX_TABLES; i++)
		CuckooTableInit(&filter.tables[i], &largest, (CuckooRepresentation) (i % 2),
						UINT32_MAX, NULL);
	assert_int_equal(CuckooBytes(&filter), 0);
}

static void
the_validator_gives_way_while_it_reads_a_large_table(void **state)
{
	static const uint64_t capacities[] = {500000, 5000000};	/* dense, sparse */

	(void) state;
	for (size_t i = 0; i < lengthof(capacities); i++)
	{
		Value		value = ValueOfKeys(1, 0, 500000, 0.1, capacities[i]);

		pauses = 0;
		assert_int_equal(CuckooValidate(value.bytes, value.length).problem, CUCKOO_VALID);
		assert_true(pauses >= 4);
		FreeValue(&value);
	}
}

/* ------------------------------------------------------------ bad bytes */

static void
bytes_cut_off_anywhere_are_refused(void **state)
{
	(void) state;
	for (int i = 0; i < sample_count; i++)
	{
		const Sample *sample = &samples[i];
		size_t		fixed = FIXED + (size_t) sample->bytes[AT_TABLES] * CUCKOO_DIRECTORY_BYTES;
		bool		partial = sample->bytes[AT_CONTENT] == CUCKOO_PARTIAL;

		for (size_t length = 0; length < sample->length; length++)
		{
			CuckooVerdict verdict = Judge(sample->bytes, length);

			if (length < FIXED)
				assert_verdict(verdict, TOO_SHORT, FIXED, length);
			else if (length < fixed)
				assert_verdict(verdict, TOO_SHORT, fixed, length);
			else if (!partial)
				assert_verdict(verdict, BAD_LENGTH, sample->length, length);
			else if ((length - fixed) % 8 != 0)
				assert_verdict(verdict, BAD_LENGTH, length - (length - fixed) % 8, length);
			else
				/* There is a hash in the place of the tail. */
				assert_int_equal(strncmp(verdict.message, BAD_TAIL, strcspn(BAD_TAIL, "@")), 0);
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
		{
			CuckooVerdict verdict = Judge(longer, sample->length + more);

			if (sample->bytes[AT_CONTENT] != CUCKOO_PARTIAL)
				assert_verdict(verdict, BAD_LENGTH, sample->length, sample->length + more);
			else if (sample->length > FIXED || more > 8)
				assert_int_not_equal(verdict.problem, CUCKOO_VALID);
		}
		free(longer);
	}
}

/* If it is longer than any filter, only the version is read. */
static void
more_bytes_than_any_filter_has_are_refused_before_they_are_read(void **state)
{
	const Sample *sample = SampleNamed("sparse");

	(void) state;
	assert_verdict(CuckooValidate(sample->bytes, CUCKOO_MAX_BYTES + 1),
				   TOO_LONG, CUCKOO_MAX_BYTES, CUCKOO_MAX_BYTES + 1);
}

/* A possible later version, and one that can only be garbage. */
static void
another_version_is_refused_whatever_follows(void **state)
{
	(void) state;
	for (int version = 0; version < 256; version++)
	{
		uint8_t		byte = (uint8_t) version;
		CuckooProblem problem = version > CUCKOO_VERSION && version <= CUCKOO_LAST_VERSION ?
			CUCKOO_NEWER : CUCKOO_INVALID;

		if (version == CUCKOO_VERSION)
			continue;
		assert_verdict(Judge(&byte, 1), OTHER_VERSION, 0, (uint64_t) version);
		assert_int_equal(Judge(&byte, 1).problem, problem);
		for (int i = 0; i < sample_count; i++)
			assert_verdict(JudgeChanged(&samples[i], AT_VERSION, 1, (uint64_t) version),
						   OTHER_VERSION, 0, (uint64_t) version);
	}
}

/*
 * Each byte changed to every value gives a verdict that names a problem, or a
 * filter that can be used.
 */
static void
any_byte_of_any_value_is_refused_or_safe(void **state)
{
	(void) state;
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

static void
a_field_out_of_range_is_refused_by_its_offset(void **state)
{
	static const struct
	{
		const char *sample;
		size_t		offset;
		int			bytes;
		uint64_t	value;
		uint64_t	found;
	}			cases[] = {
		{"sparse", AT_CONTENT, 1, CUCKOO_STATE, AT_CONTENT},
		{"sparse", AT_CONTENT, 1, 3, AT_CONTENT},
		{"sparse", AT_CONTENT, 1, 255, AT_CONTENT},
		{"empty", AT_KEY_TYPE, 1, CUCKOO_KEY_LAST + 1, AT_KEY_TYPE},
		{"dense", AT_KEY_TYPE, 1, 255, AT_KEY_TYPE},
		{"partial", AT_KEY_TYPE, 1, CUCKOO_KEY_NONE, AT_SIGNATURE},
		{"partial of texts", AT_KEY_TYPE, 1, CUCKOO_KEY_NONE, AT_KEY_TYPE},
		{"dense", AT_FLAGS, 1, 0x04, AT_FLAGS},
		{"dense", AT_FLAGS, 1, 0x80, AT_FLAGS},
		{"partial", AT_FLAGS, 1, CUCKOO_FLAG_NOT_REMOVABLE, AT_FLAGS},
		{"partial", AT_FLAGS, 1, CUCKOO_FLAG_UNSET, AT_FLAGS},
		{"unset", AT_FLAGS, 1, CUCKOO_FLAG_UNSET | CUCKOO_FLAG_NOT_REMOVABLE, AT_FLAGS},
		/* Unset, but with fields that are set: the verdict names the first */
		{"dense", AT_FLAGS, 1, CUCKOO_FLAG_UNSET, AT_KEY_TYPE},
		/*
		 * A signature for a key type without one, and none for a key type with
		 * one
		 */
		{"dense", AT_SIGNATURE, 4, 1, AT_SIGNATURE},
		{"dense", AT_SIGNATURE, 4, UINT32_C(0x80000000), AT_SIGNATURE},
		{"partial", AT_SIGNATURE, 4, 0, AT_SIGNATURE},
		{"partial", AT_KEY_TYPE, 1, CUCKOO_KEY_TEXT, AT_SIGNATURE},
		{"dense", AT_KEY_TYPE, 1, CUCKOO_KEY_ARRAY, AT_SIGNATURE},
		{"dense", AT_KEY_TYPE, 1, CUCKOO_KEY_COMPOSITE, AT_SIGNATURE},
		{"dense", AT_KEY_TYPE, 1, CUCKOO_KEY_RANGE, AT_SIGNATURE},
		{"dense", AT_KEY_TYPE, 1, CUCKOO_KEY_MULTIRANGE, AT_SIGNATURE},
		{"dense", AT_CAPACITY, 8, CUCKOO_MAX_CAPACITY + 1, AT_CAPACITY},
		{"partial", AT_CAPACITY, 8, UINT64_MAX, AT_CAPACITY},
		{"dense", AT_TABLES, 1, 0, AT_TABLES},
		{"dense", AT_TABLES, 1, CUCKOO_MAX_TABLES + 1, AT_TABLES},
		{"dense", AT_TABLES, 1, 255, AT_TABLES},
		{"partial", AT_TABLES, 1, 1, AT_TABLES},
		{"dense", AT_ZERO, 1, 1, AT_ZERO},
		{"dense", AT_ZERO + 1, 1, 0x80, AT_ZERO + 1},
		{"partial", AT_ZERO + 2, 1, 1, AT_ZERO + 2},
		{"unset", AT_CONTENT, 1, CUCKOO_PARTIAL, AT_FLAGS},
		{"unset", AT_KEY_TYPE, 1, CUCKOO_KEY_TEXT, AT_KEY_TYPE},
		{"unset", AT_SIGNATURE + 3, 1, 1, AT_SIGNATURE + 3},
		{"unset", AT_FPR, 1, 1, AT_FPR},
		{"unset", AT_CAPACITY + 3, 1, 1, AT_CAPACITY + 3},
		{"unset", AT_SEED + 7, 1, 1, AT_SEED + 7},
		{"unset", AT_TABLES, 1, 1, AT_TABLES},
	};

	(void) state;
	for (size_t i = 0; i < lengthof(cases); i++)
	{
		CuckooVerdict verdict = JudgeChanged(SampleNamed(cases[i].sample), cases[i].offset,
											 cases[i].bytes, cases[i].value);

		if (!IsMessage(&verdict, BAD_FIELD, 0, cases[i].found))
			fail_msg("%s, offset %zu set to %llu: %s", cases[i].sample, cases[i].offset,
					 (unsigned long long) cases[i].value, verdict.message);
	}
	/* The largest possible capacity, and any seed, are valid. */
	assert_verdict(JudgeChanged(SampleNamed("dense"), AT_CAPACITY, 8, CUCKOO_MAX_CAPACITY),
				   VALID, 0, 0);
	assert_verdict(JudgeChanged(SampleNamed("dense"), AT_SEED, 8, UINT64_MAX),
				   VALID, 0, 0);
	assert_verdict(JudgeChanged(SampleNamed("empty"), AT_KEY_TYPE, 1, CUCKOO_KEY_NONE),
				   VALID, 0, 0);
}

static void
a_rate_that_cannot_be_kept_is_refused(void **state)
{
	static const double bad[] = {
		0, -0.0, -0.001, 1e-9, 1.9999999e-8, 0.1000001, 1, 1e300, 5e-324, INFINITY, -INFINITY,
		NAN
	};
	static const double good[] = {2e-8, 1e-6, 0.001, 0.1};
	const Sample *sample = SampleNamed("dense");

	(void) state;
	for (size_t i = 0; i < lengthof(bad); i++)
	{
		assert_verdict(JudgeChanged(sample, AT_FPR, 8, DoubleBits(bad[i])),
					   BAD_FIELD, 0, AT_FPR);
		assert_verdict(JudgeChanged(SampleNamed("partial"), AT_FPR, 8, DoubleBits(bad[i])),
					   BAD_FIELD, 0, AT_FPR);
	}
	for (size_t i = 0; i < lengthof(good); i++)
		assert_verdict(JudgeChanged(sample, AT_FPR, 8, DoubleBits(good[i])), VALID, 0, 0);
}

/* Also if products overflow. */
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
		{OF_BLOCKS, 4, CUCKOO_MAX_TABLE_BUCKETS},
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
		{OF_REPRESENTATION, 1, 2},
		{OF_REPRESENTATION, 1, 255},
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

			if (!IsMessage(&verdict, BAD_TABLE, 0, table + 1))
				fail_msg("field at %zu set to %llu: %s", cases[i].field,
						 (unsigned long long) cases[i].value, verdict.message);
		}
	}
}

static void
more_items_than_entries_are_refused_of_a_dense_table_only(void **state)
{
	const Sample *dense = SampleNamed("dense");	/* 6 buckets */
	Value		parts[9];
	Value		past;

	(void) state;
	assert_verdict(JudgeChanged(dense, AT_DIRECTORY + OF_ITEMS, 4, 25), BAD_TABLE, 0, 1);
	assert_verdict(JudgeChanged(dense, AT_DIRECTORY + OF_ITEMS, 4, UINT32_MAX),
				   BAD_TABLE, 0, 1);
	for (uint64_t i = 0; i < 9; i++)
		parts[i] = ValueOfKeys(1, 20 * i, 20 * i + 20, 0.01, 1);
	past = Combine(CUCKOO_UNION, parts, 9);
	{
		CuckooFilter filter = Open(&past);

		assert_true(filter.items > CuckooShapeEntries(&filter.tables[0].shape));
	}
	assert_verdict(Judge(past.bytes, past.length), VALID, 0, 0);
	FreeValue(&past);
	for (int i = 0; i < 9; i++)
		FreeValue(&parts[i]);
}

static void
items_without_a_key_type_are_refused(void **state)
{
	(void) state;
	assert_verdict(JudgeChanged(SampleNamed("dense"), AT_KEY_TYPE, 1, CUCKOO_KEY_NONE),
				   BAD_TABLE, 0, 1);
	assert_verdict(JudgeChanged(SampleNamed("sparse"), AT_KEY_TYPE, 1, CUCKOO_KEY_NONE),
				   BAD_TABLE, 0, 1);
	assert_verdict(JudgeChanged(SampleNamed("three tables"), AT_KEY_TYPE, 1, CUCKOO_KEY_NONE),
				   BAD_TABLE, 0, 1);
}

static void
tables_that_do_not_ascend_are_refused(void **state)
{
	const Sample *sample = SampleNamed("three tables");
	uint8_t    *bytes = Duplicate(sample->bytes, sample->length);
	uint8_t    *second = bytes + AT_DIRECTORY + CUCKOO_DIRECTORY_BYTES;

	(void) state;
	/* The second equal to the first, and equal to the third */
	memcpy(second, bytes + AT_DIRECTORY, CUCKOO_DIRECTORY_BYTES);
	assert_verdict(Judge(bytes, sample->length), BAD_TABLE, 0, 2);
	memcpy(second, bytes + AT_DIRECTORY + 2 * CUCKOO_DIRECTORY_BYTES, CUCKOO_DIRECTORY_BYTES);
	assert_verdict(Judge(bytes, sample->length), BAD_TABLE, 0, 3);
	free(bytes);
}

/* A short value must not make its reader use much memory or time. */
static void
a_huge_shape_in_few_bytes_is_refused_by_its_length(void **state)
{
	const Sample *sample = SampleNamed("empty");
	uint8_t    *bytes = Duplicate(sample->bytes, sample->length);
	CuckooShape largest = ShapeOf(12000, 32768, 32);

	(void) state;
	CuckooStore32(bytes + AT_DIRECTORY + OF_BLOCKS, largest.blocks);
	CuckooStore16(bytes + AT_DIRECTORY + OF_BUCKETS, largest.buckets);
	bytes[AT_DIRECTORY + OF_BITS] = largest.bits;
	bytes[AT_DIRECTORY + OF_REPRESENTATION] = CUCKOO_DENSE;
	assert_verdict(Judge(bytes, sample->length), BAD_LENGTH,
				   56 + CuckooDenseBytes(&largest), sample->length);
	bytes[AT_DIRECTORY + OF_REPRESENTATION] = CUCKOO_SPARSE;
	CuckooStore32(bytes + AT_DIRECTORY + OF_ITEMS, UINT32_MAX);
	bytes[AT_KEY_TYPE] = CUCKOO_KEY_TEXT;
	assert_verdict(Judge(bytes, sample->length), BAD_LENGTH,
				   56 + CuckooSparseBytes(&largest, UINT32_MAX), sample->length);
	free(bytes);
}

static void
every_byte_of_the_tail_is_zero(void **state)
{
	(void) state;
	for (int i = 0; i < sample_count; i++)
	{
		for (size_t k = 1; k <= CUCKOO_TAIL_BYTES; k++)
			assert_verdict(JudgeChanged(&samples[i], samples[i].length - k, 1, 0x80),
						   BAD_TAIL, 0, samples[i].length - k);
	}
}

static void
hashes_that_do_not_ascend_are_refused(void **state)
{
	const Sample *sample = SampleNamed("partial");
	size_t		tenth = CUCKOO_HEADER_BYTES + 8 * 10;

	(void) state;
	assert_verdict(JudgeChanged(sample, tenth, 8, CuckooLoad64(sample->bytes + tenth - 8)),
				   BAD_ORDER, 0, 10);
	assert_verdict(JudgeChanged(sample, tenth, 8, 1), BAD_ORDER, 0, 10);
	assert_verdict(JudgeChanged(sample, tenth, 8, UINT64_MAX), BAD_ORDER, 0, 11);
}

/* More items than a dense table has, although there is room. */
static void
a_dense_table_with_other_items_than_it_says_is_refused(void **state)
{
	const Sample *sample = SampleNamed("dense");

	(void) state;
	assert_verdict(JudgeChanged(sample, AT_DIRECTORY + OF_ITEMS, 4, 19), BAD_ITEMS, 20, 19);
	assert_verdict(JudgeChanged(sample, AT_DIRECTORY + OF_ITEMS, 4, 21), BAD_ITEMS, 20, 21);
}

/*
 * A bucket that no encoder writes: a number that is not a multiset's, or
 * entries in another order.
 */
static void
a_bucket_out_of_order_is_refused_by_its_number(void **state)
{
	CuckooShape shape = ShapeOf(1, 6, 17);
	uint64_t	codes[18];
	Value		value;
	uint8_t    *third;

	(void) state;
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
		assert_verdict(Judge(value.bytes, value.length), BAD_BUCKET, 0, 2);
		memcpy(third, kept, 8);
	}
	assert_verdict(Judge(value.bytes, value.length), VALID, 0, 0);
	FreeValue(&value);
}

/*
 * sparse_test.c tests the rules of a group.  Here: that they reach the
 * verdict.
 */
static void
a_bad_group_is_refused_by_its_number_in_any_table(void **state)
{
	const Sample *sample = SampleNamed("three tables");
	uint8_t    *copy = Duplicate(sample->bytes, sample->length);
	CuckooFilter filter;
	int			unused = 0;

	(void) state;
	CuckooOpen(&filter, copy, sample->length);
	for (int i = 1; i < 3; i++)
	{
		const CuckooSparse *sparse = &filter.tables[i].sparse;
		size_t		at = (size_t) (filter.tables[i].data - copy);
		CuckooVerdict verdict;

		assert_int_equal(filter.tables[i].representation, CUCKOO_SPARSE);
		/* The first section of the index, which is checked with its last group */
		verdict = JudgeChanged(sample, at, 1, 1);
		assert_verdict(verdict, BAD_GROUP, 0,
					   sparse->groups < CUCKOO_SECTION_GROUPS ? sparse->groups - 1 :
					   CUCKOO_SECTION_GROUPS - 1);
		/* An unused bit of the last byte, if it has some */
		if (sparse->end % 8 == 0)
			continue;
		unused++;
		at = (size_t) (sparse->bits + sparse->end / 8 - copy);
		assert_verdict(JudgeChanged(sample, at, 1, sample->bytes[at] | 0x80),
					   BAD_GROUP, 0, sparse->groups);
	}
	assert_true(unused > 0);
	free(copy);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(valid_filters_pass_and_can_be_used),
		cmocka_unit_test(every_header_field_is_read_as_it_was_written),
		cmocka_unit_test(the_header_is_laid_out_as_described),
		cmocka_unit_test(the_version_read_is_that_of_the_bytes),
		cmocka_unit_test(an_unset_filter_is_44_bytes_of_which_two_are_not_zero),
		cmocka_unit_test(a_header_can_be_opened_without_what_follows),
		cmocka_unit_test(a_state_in_memory_opens_as_nothing_and_never_passes),
		cmocka_unit_test(lengths_are_those_of_the_parts_and_0_beyond_the_largest_filter),
		cmocka_unit_test(the_validator_gives_way_while_it_reads_a_large_table),
		cmocka_unit_test(bytes_cut_off_anywhere_are_refused),
		cmocka_unit_test(bytes_too_many_are_refused),
		cmocka_unit_test(more_bytes_than_any_filter_has_are_refused_before_they_are_read),
		cmocka_unit_test(another_version_is_refused_whatever_follows),
		cmocka_unit_test(any_byte_of_any_value_is_refused_or_safe),
		cmocka_unit_test(a_field_out_of_range_is_refused_by_its_offset),
		cmocka_unit_test(a_rate_that_cannot_be_kept_is_refused),
		cmocka_unit_test(an_impossible_shape_is_refused_by_the_number_of_its_table),
		cmocka_unit_test(more_items_than_entries_are_refused_of_a_dense_table_only),
		cmocka_unit_test(items_without_a_key_type_are_refused),
		cmocka_unit_test(tables_that_do_not_ascend_are_refused),
		cmocka_unit_test(a_huge_shape_in_few_bytes_is_refused_by_its_length),
		cmocka_unit_test(every_byte_of_the_tail_is_zero),
		cmocka_unit_test(hashes_that_do_not_ascend_are_refused),
		cmocka_unit_test(a_dense_table_with_other_items_than_it_says_is_refused),
		cmocka_unit_test(a_bucket_out_of_order_is_refused_by_its_number),
		cmocka_unit_test(a_bad_group_is_refused_by_its_number_in_any_table),
	};

	return cmocka_run_group_tests_name("format", tests, MakeSamples, FreeSamples);
}
