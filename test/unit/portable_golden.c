/*-------------------------------------------------------------------------
 *
 * portable_golden.c
 *	  Golden values, which are the same on every platform within a version of
 *	  the format, from the hash of a key to the bytes of a filter.
 *
 *	portable_golden [--print]
 *
 * test/golden/core.tsv has what the core computes: a name and a value in each
 * line, where "bytes/digest" stands for bytes, or text, too long to write down,
 * by their number and their XXH3.  After a change that is meant to change them,
 * write it with "test/run.sh golden", which calls --print, and review the
 * difference.  Within a version of the format, hashes, sums, codes, places, sparse
 * tables and the reading of golden bytes never change.  Where a dense table places
 * a key, and therefore its bytes, may change.
 *
 * filters.tsv has filters that a server wrote, and hashes of present and absent
 * keys, with the number of copies that each filter has of them.  Every filter must
 * be valid, have the header that would be written for it, and give these numbers.
 *
 *-------------------------------------------------------------------------
 */
#define SUPPORT_PORTABLE
#include "exercise.h"

static bool printing;
static int	passed;

/* ----------------------------------------------------------------- files */

/* The content of a golden file, as one string. */
static char *
ReadGolden(const char *name)
{
	char		path[4096];
	FILE	   *file;
	size_t		length;
	char	   *text = Allocate(1 << 20);

	assert_true((size_t) snprintf(path, sizeof(path), "%s/%s", GOLDEN_FOLDER, name) < sizeof(path));
	file = fopen(path, "rb");
	if (file == NULL)
		fail_msg("cannot open %s", path);
	length = fread(text, 1, 1 << 20, file);
	assert_true(length > 0 && length < 1 << 20);
	fclose(file);
	return text;
}

/*
 * Cut a text at the next separator.  Returns what is before it, or NULL at the
 * end.
 */
static char *
NextPart(char **rest, char separator)
{
	char	   *part = *rest;
	char	   *end;

	if (part == NULL || *part == '\0')
		return NULL;
	end = strchr(part, separator);
	*rest = end == NULL ? NULL : end + 1;
	if (end != NULL)
		*end = '\0';
	return part;
}

/* Bytes from base64, in memory of exactly their number. */
static uint8_t *
Decode(const char *text, size_t *length)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint8_t    *bytes;
	uint32_t	bits = 0;
	size_t		at = 0;

	*length = strcspn(text, "=") * 3 / 4;
	bytes = Allocate(*length);
	for (size_t i = 0; text[i] != '\0' && text[i] != '='; i++)
	{
		const char *digit = strchr(digits, text[i]);

		assert_true(digit != NULL);
		bits = bits << 6 | (uint32_t) (digit - digits);
		if (i % 4 != 0)
			bytes[at++] = (uint8_t) (bits >> (6 - 2 * (i % 4)));
	}
	assert_int_equal(at, *length);
	return bytes;
}

/* --------------------------------------------------- values of core.tsv */

static char value[1 << 20];
static size_t value_length;
static char *golden_lines;

/* Append to the value that is compared next. */
static void __attribute__((format(printf, 1, 2)))
Put(const char *format, ...)
{
	va_list		arguments;

	if (value_length > 0)
		value[value_length++] = ' ';
	va_start(arguments, format);
	value_length += (size_t) vsnprintf(value + value_length, sizeof(value) - value_length,
									   format, arguments);
	va_end(arguments);
	assert_true(value_length < sizeof(value) - 1);
}

static void
PutDigest(const void *bytes, size_t count)
{
	uint64_t	digest = XXH3_64bits(bytes, count);

	Put("%llu/%016llx", (unsigned long long) count, (unsigned long long) digest);
}

/* Compare the value, or its digest, with the next golden one, or print it. */
static void
Compare(const char *name)
{
	size_t		length = value_length;

	value_length = 0;
	if (length > 500)
		PutDigest(value, length);
	if (printing)
		printf("%s\t%s\n", name, value);
	else
	{
		char	   *line = NextPart(&golden_lines, '\n');
		const char *golden_name = NextPart(&line, '\t');

		assert_true(golden_name != NULL && line != NULL);
		if (strcmp(golden_name, name) != 0 || strcmp(line, value) != 0)
			fail_msg("core.tsv has %s: %s\nbut now, %s: %s", golden_name, line, name, value);
		passed++;
	}
	value_length = 0;
}

static void
PutHash(uint64_t hash)
{
	Put("%016llx", (unsigned long long) hash);
}

/* Lengths for each branch of XXH3, and the limits between them */
static void
GoldenHashes(void)
{
	uint8_t		bytes[1100];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t) (i * 131 + (i >> 8) * 17 + 7);
	for (size_t length = 0; length <= sizeof(bytes); length++)
	{
		PutHash(CuckooHash(bytes, length, 0, CUCKOO_KEY_NONE));
		PutHash(CuckooHash(bytes, length, UINT64_C(0x0123456789ABCDEF), CUCKOO_KEY_TEXT));
	}
	Compare("hashes of 0 to 1100 bytes");
	for (int key_type = 0; key_type <= CUCKOO_KEY_MULTIRANGE; key_type++)
		PutHash(CuckooHash(bytes, 8, 0, (CuckooKeyType) key_type));
	Compare("hashes of 8 bytes by key type");
	PutHash(CuckooHashInt64(-2, 5));
	Compare("hash of -2, seed 5");
	Put("%08x", CuckooSignature(bytes, 8));
	Compare("signature of 8 bytes");
}

static void
GoldenPlaces(void)
{
	static const uint32_t fingerprints[] = {
		1, 2, 3, 31, 100, 4095, 8191, 65537, 0x12345678, UINT32_MAX
	};
	static const uint32_t buckets[] = {2, 4, 6, 30, 1000, 32766, 32768};
	const CuckooShape shapes[] = {
		CuckooShapeOf(1, 2, 5), CuckooShapeOf(1, 30, 8), CuckooShapeOf(3, 30, 13),
		CuckooShapeOf(7, 1000, 17),
		CuckooShapeOf(100, 32768, 18), CuckooShapeOf(12000, 32768, 32)
	};
	const uint64_t hashes[] = {
		0, 1, UINT32_MAX, UINT64_C(1) << 32, UINT64_C(0x8000000080000000), UINT64_MAX,
		KeyHash(0, 1), KeyHash(0, 2)
	};

	for (size_t i = 0; i < lengthof(fingerprints); i++)
	{
		for (size_t j = 0; j < lengthof(buckets); j++)
			Put("%u", CuckooBucketSum(fingerprints[i], buckets[j]));
	}
	Compare("sums of ten fingerprints");
	for (size_t i = 0; i < lengthof(shapes); i++)
	{
		for (size_t j = 0; j < lengthof(hashes); j++)
		{
			CuckooPlace place = CuckooPlaceOf(&shapes[i], hashes[j]);

			PutHash(CuckooCodeOf(&shapes[i], hashes[j]));
			Put("%llu:%u:%u/%u", (unsigned long long) place.base, place.i1, place.i2,
				place.fingerprint);
		}
	}
	Compare("codes and places of eight hashes in six shapes");
}

/*
 * Also at the exact limits of f bits, at which one more digit would change the
 * result.
 */
static void
GoldenSizes(void)
{
	static const uint64_t keys[] = {
		0, 1, 33, 100, 4999, 5000, 9999, 10000, 126484, 126485, 131073, 1000003, 1 << 20,
		1 << 25, UINT64_C(100000000), 1 << 30, CUCKOO_MAX_CAPACITY
	};

	for (int bits = 7; bits <= 29; bits++)
	{
		volatile double compared = 7.72;
		volatile double limit = compared / (ldexp(1, bits) - 1);

		Put("%d %d %d", CuckooBitsFor(limit), CuckooBitsFor(nextafter(limit, 0)),
			CuckooBitsFor(nextafter(limit, 1)));
	}
	Compare("bits for the least rate of 7 to 29 bits, for less, for more");
	for (size_t i = 0; i < lengthof(keys); i++)
	{
		CuckooShape shape;

		assert_true(CuckooShapeFor(&shape, keys[i], 13));
		/* Further digits may depend on the platform's logarithm. */
		Put("%u blocks of %u, capacity %llu, rate at it %.9e", shape.blocks, shape.buckets,
			(unsigned long long) CuckooShapeCapacity(&shape),
			CuckooShapeRate(&shape, CuckooShapeCapacity(&shape)));
	}
	Compare("shapes for 0 to the most keys");
}

/* Entries whose bits show where each bit is stored. */
static void
GoldenBuckets(void)
{
	static const int widths[] = {5, 6, 13, 16, 17, 18, 25, 32};
	uint8_t		multisets[2 * 4096];

	CuckooInitMultisets();
	for (int i = 0; i < 4096; i++)
		CuckooStore16(multisets + 2 * i, CuckooMultisets[i]);
	PutDigest(multisets, sizeof(multisets));
	Compare("multisets");
	for (size_t w = 0; w < lengthof(widths); w++)
	{
		uint32_t	most = (uint32_t) ((UINT64_C(1) << widths[w]) - 1);
		const uint32_t entries[2][CUCKOO_ENTRIES] = {
			{0x12345679 & most, 0x9ABCDEF0 & most, 0, 0x0F1E2D3C & most},
			{most, 1, most / 3, 2}
		};
		CuckooPacking packing;
		uint8_t		buckets[2 * 16 + CUCKOO_TAIL_BYTES] = {0};

		CuckooPackingInit(&packing, widths[w]);
		for (uint64_t number = 0; number < 2; number++)
			CuckooWritePacked(&packing, buckets, number, CuckooEncode(&packing, entries[number]));
		for (int i = 0; i < widths[w] - 1; i++)
			Put("%02x", buckets[i]);
	}
	Compare("two buckets of eight widths");
}

/* Rates that give a first table of each of these widths. */
static void
GoldenBuilds(void)
{
	static const size_t sizes[] = {0, 1, 20, 1000, 10000, 131073};
	static const uint64_t room[] = {1, 2, 30};

	for (size_t s = 0; s < lengthof(sizes); s++)
	{
		uint64_t   *hashes = SortedHashes(3, sizes[s]);

		for (int bits = 7; bits <= 29; bits += bits == 17 ? 1 : 5)
		{
			for (size_t r = 0; r < lengthof(room); r++)
			{
				Value		built = ValueOfHashes(hashes, sizes[s],
												  7.72 / (ldexp(1, bits) - 1) * 1.01,
												  room[r] * sizes[s]);

				PutDigest(built.bytes, built.length);
				CuckooFreeFilter(built.bytes);
			}
		}
		pfree(hashes);
	}
	Compare("builds of 0 to 131,073 keys for 1, 2 and 30 times as many");
}

/* Low parts of every width from the smallest to the largest. */
static void
GoldenSparseTables(void)
{
	for (int bits = CUCKOO_MIN_BITS; bits <= CUCKOO_MAX_BITS; bits++)
	{
		CuckooShape shape = CuckooShapeOf(bits == 32 ? 12000 : 1, bits == 32 ? 32768 : 2, bits);
		uint64_t	codes[40];
		uint64_t	end = CuckooShapeCodes(&shape);
		Value		built;

		for (uint64_t i = 0; i < 40; i++)
		{
			codes[i] = i < 30 ? 1 + i / 3 * ((end - 1) / 14) : end - 1 - (39 - i) / 5;
			codes[i] += (codes[i] & shape.fingerprints) == 0;
		}
		built = ValueOfCodes(&shape, codes, 40, 0.001, 100);
		PutDigest(built.bytes, built.length);
	}
	Compare("sparse tables of 40 codes");
}

static Value
WithCopies(Value filter)
{
	for (uint64_t i = 0; i < 12; i++)
		AddHash(&filter, KeyHash(4, i < 9 ? 1 : 2));
	return filter;
}

static void
ApplyInSteps(CuckooDraft *draft, CuckooAction action, uint64_t *hashes, size_t count, size_t step)
{
	size_t		changed;

	for (size_t i = 0; i < count; i += step)
		CuckooDraftApply(draft, hashes + i, step, action, &changed);
}

/*
 * Keys of stream 4 are added, every seventh is removed again, and two have
 * copies.  This is done one by one, because the order matters to dense tables.
 * It does not matter to large sparse ones, which would be copied for each key.
 */
static Value
LivedFilter(double fpr, uint64_t capacity, uint64_t keys)
{
	Value		empty = ValueOfHashes(NULL, 0, fpr, capacity);
	uint64_t   *hashes = HashesOf(4, 0, keys);
	size_t		count = (size_t) keys;
	size_t		some = (count + 6) / 7;
	uint64_t   *removed = Allocate(some * sizeof(uint64_t));
	CuckooDraft draft;

	for (size_t i = 0; i < count; i += 7)
		removed[i / 7] = hashes[i];
	CuckooDraftOpen(&draft, empty.bytes, empty.length);
	ApplyInSteps(&draft, CUCKOO_ADD, hashes, count, capacity == 0 ? count : 1);
	ApplyInSteps(&draft, CUCKOO_REMOVE, removed, some, capacity == 0 ? some : 1);
	return WithCopies(Finish(&draft));
}

static void
PutFilter(Value made)
{
	CuckooFilter filter = Open(&made);

	PutDigest(made.bytes, made.length);
	/* The rate as if it were removable, which decides on an intersection */
	filter.header.flags = 0;
	Put("%d tables, %llu items, rate %.9e", filter.header.table_count,
		(unsigned long long) filter.header.items, CuckooFilterRate(&filter));
}

/* The verdicts on a filter, with each bit changed */
static void
PutVerdicts(Value made)
{
	for (size_t i = 0; i < made.length * 8; i++)
	{
		CuckooVerdict verdict = {0};

		made.bytes[i / 8] ^= (uint8_t) (1 << i % 8);
		CuckooValidate(made.bytes, made.length, &verdict);
		Put("%s", verdict.message);
		made.bytes[i / 8] ^= (uint8_t) (1 << i % 8);
	}
}

static void
GoldenFilters(void)
{
	static const struct
	{
		const char *name;
		double		fpr;
		uint64_t	capacity;
		uint64_t	keys;
	}			lives[] = {
		{"filter of no key", 0.001, 0, 0}, {"filter of 5 keys", 0.1, 0, 5},
		{"filter of 22 keys", 0.1, 1, 22}, {"filter of 50 keys", 0.03, 40, 50},
		{"filter of 1000 keys", 0.001, 64, 1000}, {"filter of 10000 keys", 0.001, 10000, 10000},
		{"filter of 30000 keys", 1e-6, 0, 30000}, {"filter of 9000 keys", 2e-8, 100, 9000},
		{"filter of 200000 keys", 0.01, 0, 200000}
	};
	static const uint64_t capacities[] = {0, 700, 3000};
	Value		values[9];
	CuckooFilter filters[3];

	for (size_t i = 0; i < lengthof(lives); i++)
	{
		PutFilter(LivedFilter(lives[i].fpr, lives[i].capacity, lives[i].keys));
		Compare(lives[i].name);
	}
	for (uint64_t i = 0; i < 9; i++)
		values[i] = WithCopies(ValueOfKeys(4, 100 * i, 100 * i + 250, i < 6 ? 0.001 : 1e-6,
										   capacities[i % 3]));
	PutFilter(Combine(CUCKOO_UNION, values, 9));
	Compare("union of nine filters");
	PutFilter(Combine(CUCKOO_UNION_ALL, values, 9));
	Compare("union all of nine filters");

	/* Of equal rates, the first one's parameters are kept, on the x87, too. */
	values[0] = ValueOfKeys(4, 0, 250, 0.001, 700);
	values[1] = ValueOfKeys(4, 100, 350, 0.001, 701);
	filters[0] = Open(&values[0]);
	filters[1] = Open(&values[1]);
	assert_int_equal(CuckooIntersect(&filters[0], &filters[1], &filters[2], &values[0].bytes),
					 CUCKOO_NO_CONFLICT);
	PutFilter(Valid(values[0].bytes, &filters[2]));
	Compare("intersection of two filters of the same rate");

	PutVerdicts(BareValue((CuckooHeader) {.flags = CUCKOO_FLAG_UNSET}));
	PutVerdicts(BareValue((CuckooHeader) {.content = CUCKOO_PARTIAL, .kind = {CUCKOO_KEY_ARRAY, 7},
										  .fpr = 0.001, .items = 3}));
	PutVerdicts(LivedFilter(0.03, 40, 60));
	PutVerdicts(LivedFilter(0.1, 1, 22));
	PutVerdicts(ValueOfKeys(4, 0, 22, 2e-8, 22));
	Compare("verdicts on five filters with each bit changed");
}

/* --------------------------------------------- filters that a server wrote */

/* Look up every hash of a line in a filter, whole and in slices. */
static void
CheckAnswers(const CuckooFilter *filter, const char *name, char *hashes)
{
	char	   *answer;

	while ((answer = NextPart(&hashes, ' ')) != NULL)
	{
		unsigned long long hash;
		int			copies;
		int			sliced = 0;

		assert_true(sscanf(answer, "%16llx*%d", &hash, &copies) == 2);
		for (int t = 0; t < filter->header.table_count; t++)
			sliced += SlicedCount(&filter->tables[t], hash, 0xFF);
		if (CuckooFilterCount(filter, hash) != copies || (sliced < 8 ? sliced : 8) != copies ||
			CuckooFilterContains(filter, hash) != (copies > 0))
			fail_msg("%s: hash %016llx has %d copies, %d in slices, not %d, and is%s contained",
					 name, hash, CuckooFilterCount(filter, hash), sliced, copies,
					 CuckooFilterContains(filter, hash) ? "" : " not");
	}
}

static void
CheckFilter(const char *name, const char *base64, char *hashes)
{
	Value		filter_value;
	CuckooVerdict verdict;
	CuckooFilter filter;

	filter_value.bytes = Decode(base64, &filter_value.length);
	if (!CuckooValidate(filter_value.bytes, filter_value.length, &verdict))
		fail_msg("%s: %s", name, verdict.message);
	filter = Open(&filter_value);
	CheckAnswers(&filter, name, hashes);
	CheckHeader(&filter_value);
	passed++;
}

static void
CheckFilters(void)
{
	char	   *lines = ReadGolden("filters.tsv");
	char	   *line = NextPart(&lines, '\n');	/* the names of the columns */

	while ((line = NextPart(&lines, '\n')) != NULL)
	{
		char	   *columns[6];

		for (size_t i = 0; i < lengthof(columns); i++)
			columns[i] = NextPart(&line, '\t');
		assert_true(columns[5] != NULL);
		CheckFilter(columns[0], columns[4], columns[5]);
	}
}

int
main(int argc, char **argv)
{
	printing = argc > 1 && strcmp(argv[1], "--print") == 0;
	if (!printing)
		golden_lines = ReadGolden("core.tsv");
	GoldenHashes();
	GoldenPlaces();
	GoldenSizes();
	GoldenBuckets();
	GoldenBuilds();
	GoldenSparseTables();
	GoldenFilters();
	if (printing)
		return 0;
	assert_true(NextPart(&golden_lines, '\n') == NULL);
	CheckFilters();
	FreeAll();
	printf("%d passed, 0 failed\n", passed);
	return 0;
}
