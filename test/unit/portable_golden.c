/*-------------------------------------------------------------------------
 *
 * portable_golden.c
 *	  Golden vectors: what every platform and every version of the format must
 *	  agree on, from the hash of a key to the bytes of a filter.
 *
 * Needs no cmocka, so that it runs for other architectures too.  The values
 * are in portable_golden.h.  After a change that is meant to change them:
 *
 *		portable_golden --print > test/unit/portable_golden.h
 *
 * and look at the difference.  Within a version of the format hashes, sums,
 * places and the reading of golden bytes never change; where a key is placed,
 * and with it the bytes of a built table, may.
 *
 *-------------------------------------------------------------------------
 */
#define SUPPORT_PORTABLE
#include "support.h"

typedef struct Golden
{
	const char *name;
	const char *value;
} Golden;

#include "portable_golden.h"

static const size_t golden_count = lengthof(goldens);

static bool printing;
static size_t next_golden;

/* Compare a value with the next golden one, or print it. */
static void
Compare(const char *name, const char *value)
{
	if (printing)
	{
		printf("\t{\"%s\",\n", name);
		for (size_t at = 0; at == 0 || at < strlen(value); at += 64)
			printf("\t\t\"%.64s\"%s\n", value + at, at + 64 < strlen(value) ? "" : "},");
	}
	else if (next_golden >= golden_count)
		Result(false, name, "there is no golden value for it");
	else
	{
		const Golden *golden = &goldens[next_golden++];

		Result(strcmp(golden->name, name) == 0 && strcmp(golden->value, value) == 0,
			   name, value);
	}
}

static void
CompareHex(const char *name, const uint8_t *bytes, size_t count)
{
	char	   *text = Allocate(2 * count + 1);

	for (size_t i = 0; i < count; i++)
		sprintf(text + 2 * i, "%02x", bytes[i]);
	Compare(name, text);
	free(text);
}

/* Of bytes too many to write down: how many, and their XXH3. */
static void
CompareDigest(const char *name, const uint8_t *bytes, size_t count)
{
	char		text[64];

	snprintf(text, sizeof(text), "%llu bytes, %016llx", (unsigned long long) count,
			 (unsigned long long) XXH3_64bits(bytes, count));
	Compare(name, text);
}

/* ------------------------------------------------------- constants of it */

/* Each way that XXH3 goes by the length of its input, and its limits. */
static void
GoldenHashes(void)
{
	static const int lengths[] = {
		0, 1, 2, 3, 4, 5, 8, 9, 16, 17, 32, 33, 64, 65, 96, 97, 128, 129, 200, 240, 241, 256,
		1023, 1024, 1025, 4000
	};
	static const uint64_t seeds[] = {0, UINT64_C(0x0123456789ABCDEF)};
	uint8_t		bytes[4000];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t) (i * 131 + (i >> 8) * 17 + 7);
	for (size_t i = 0; i < lengthof(lengths); i++)
	{
		for (size_t j = 0; j < lengthof(seeds); j++)
		{
			char		name[64];
			char		value[64];

			snprintf(name, sizeof(name), "hash of %d bytes, seed %llx", lengths[i],
					 (unsigned long long) seeds[j]);
			snprintf(value, sizeof(value), "none %016llx text %016llx",
					 (unsigned long long) CuckooHash(bytes, (size_t) lengths[i], seeds[j],
													 CUCKOO_KIND_NONE),
					 (unsigned long long) CuckooHash(bytes, (size_t) lengths[i], seeds[j],
													 CUCKOO_KIND_TEXT));
			Compare(name, value);
		}
	}
	for (int kind = 0; kind <= CUCKOO_KIND_LAST; kind++)
	{
		char		name[64];
		char		value[64];

		snprintf(name, sizeof(name), "hash of 8 bytes as kind %d", kind);
		snprintf(value, sizeof(value), "%016llx",
				 (unsigned long long) CuckooHash(bytes, 8, 0, (CuckooKind) kind));
		Compare(name, value);
	}
}

static void
GoldenSums(void)
{
	static const uint32_t fingerprints[] = {
		1, 2, 3, 31, 100, 4095, 8191, 65537, 0x12345678, UINT32_MAX
	};
	static const uint32_t buckets[] = {2, 4, 6, 30, 1000, 32766, 32768};

	for (size_t i = 0; i < lengthof(fingerprints); i++)
	{
		char		name[64];
		char		value[200];
		int			length = 0;

		snprintf(name, sizeof(name), "sums of fingerprint %u", fingerprints[i]);
		for (size_t j = 0; j < lengthof(buckets); j++)
			length += snprintf(value + length, sizeof(value) - (size_t) length, "%s%u",
							   j == 0 ? "" : " ", CuckooBucketSum(fingerprints[i], buckets[j]));
		Compare(name, value);
	}
}

static void
GoldenPlaces(void)
{
	static const CuckooShape shapes[] = {
		{1, 2, 5, 0}, {1, 30, 8, 0}, {3, 30, 13, 1}, {7, 1000, 17, 0}, {100, 32768, 18, 0},
		{UINT32_MAX, 32768, 32, 0}
	};
	const uint64_t hashes[] = {
		0, 1, UINT32_MAX, UINT64_C(1) << 32, UINT64_C(0x8000000080000000), UINT64_MAX,
		KeyHash(0, 1), KeyHash(0, 2)
	};

	for (size_t i = 0; i < lengthof(shapes); i++)
	{
		for (size_t j = 0; j < lengthof(hashes); j++)
		{
			CuckooPlace place = CuckooLocate(&shapes[i], hashes[j]);
			char		name[100];
			char		value[100];

			snprintf(name, sizeof(name), "place of %016llx in %u blocks of %u buckets, f %d",
					 (unsigned long long) hashes[j], shapes[i].blocks, shapes[i].buckets,
					 shapes[i].bits);
			snprintf(value, sizeof(value), "block %u at %llu, buckets %u and %u, fingerprint %u",
					 CuckooBlockOf(&shapes[i], hashes[j]), (unsigned long long) place.base,
					 place.first, place.second, place.fingerprint);
			Compare(name, value);
		}
	}
}

/* Also at the very limits of f bits, where a digit more would tip it over. */
static void
GoldenSizes(void)
{
	static const uint64_t keys[] = {
		0, 1, 33, 100, 4999, 5000, 10000, 125500, 125501, 131073, 1000003, UINT64_C(100000000)
	};
	char		name[100];
	char		value[200];

	for (int bits = CUCKOO_MIN_BITS; bits <= CUCKOO_MAX_BITS; bits++)
	{
		volatile double load = CUCKOO_FULL_LOAD;
		volatile double compared = 8 * load;
		volatile double limit = compared / (ldexp(1, bits) - 1);

		snprintf(name, sizeof(name), "bits for the least rate of %d bits", bits);
		snprintf(value, sizeof(value), "%d below %d above %d",
				 CuckooBitsFor(limit, CUCKOO_FULL_LOAD, 0),
				 CuckooBitsFor(nextafter(limit, 0), CUCKOO_FULL_LOAD, 0),
				 CuckooBitsFor(nextafter(limit, 1), CUCKOO_FULL_LOAD, 0));
		Compare(name, value);
	}
	for (size_t i = 0; i < lengthof(keys); i++)
	{
		int			length = 0;

		snprintf(name, sizeof(name), "shapes for %llu keys", (unsigned long long) keys[i]);
		for (int attempt = 0; attempt < CUCKOO_MAX_ATTEMPTS; attempt++)
		{
			CuckooShape shape;

			Require(CuckooShapeFor(&shape, keys[i], 13, CUCKOO_SEMISORTED, attempt));
			length += snprintf(value + length, sizeof(value) - (size_t) length, "%s%ux%u",
							   attempt == 0 ? "" : " ", shape.blocks, shape.buckets);
		}
		Compare(name, value);
	}
}

static void
GoldenMultisets(void)
{
	uint8_t		bytes[2 * 4096];

	for (int i = 0; i < 4096; i++)
		CuckooStore16(bytes + 2 * i, CuckooMultisets[i]);
	CompareDigest("multisets", bytes, sizeof(bytes));
}

/* ---------------------------------------------------------------- tables */

static const char *const layout_names[] = {"semi-sorted", "plain"};
static const int golden_bits[] = {5, 6, 13, 16, 17, 18, 25, 32};

/* One entry alone, whose bits show where each of them goes. */
static void
GoldenBuckets(void)
{
	for (size_t i = 0; i < lengthof(golden_bits); i++)
	{
		for (int layout = CUCKOO_SEMISORTED; layout <= CUCKOO_PLAIN; layout++)
		{
			uint32_t	most = (uint32_t) ((UINT64_C(1) << golden_bits[i]) - 1);
			const uint32_t entries[2][CUCKOO_ENTRIES] = {
				{0x12345679 & most, 0x9ABCDEF0 & most, 0, 0x0F1E2D3C & most},
				{most, 1, most / 3, 2}
			};
			CuckooShape shape = ShapeOf(1, 2, golden_bits[i], (CuckooLayout) layout);
			CuckooTable table = NewTable(&shape);
			char		name[100];

			for (uint64_t number = 0; number < 2; number++)
				CuckooWriteBits(&table.code, table.data, number,
								CuckooEncode(&table.code, entries[number]));
			snprintf(name, sizeof(name), "two buckets, f %d, %s", golden_bits[i],
					 layout_names[layout]);
			CompareHex(name, table.data, (size_t) CuckooShapeBytes(&shape) + CUCKOO_TAIL_BYTES);
			FreeTable(&table);
		}
	}
}

static void
GoldenBuiltTables(void)
{
	static const size_t sizes[] = {20, 1000, 10000, 131073};

	for (size_t s = 0; s < lengthof(sizes); s++)
	{
		uint64_t   *hashes = SortedHashes(3, sizes[s]);

		for (size_t i = 0; i < lengthof(golden_bits); i++)
		{
			for (int layout = CUCKOO_SEMISORTED; layout <= CUCKOO_PLAIN; layout++)
			{
				CuckooTable table = BuildTable(hashes, sizes[s], golden_bits[i],
											   (CuckooLayout) layout, 12345);
				char		name[100];

				snprintf(name, sizeof(name), "table of %d keys, f %d, %s", (int) sizes[s],
						 golden_bits[i], layout_names[layout]);
				(sizes[s] < 100 ? CompareHex : CompareDigest)
					(name, table.data, (size_t) CuckooShapeBytes(&table.shape));
				FreeTable(&table);
			}
		}
		free(hashes);
	}
}

/* --------------------------------------------------------------- filters */

/* Keys of stream 4 by adding; each seventh out again. */
static Owned
LivedFilter(double fpr, uint64_t capacity, CuckooLayout layout, uint64_t keys)
{
	Owned		owned = NewFilter(fpr, capacity, UINT64_C(0xFEDCBA9876543210), layout);

	AddKeys(&owned, 4, 0, keys);
	for (uint64_t i = 0; i < keys; i += 7)
		CuckooFilterRemove(&owned.filter, KeyHash(4, i));
	AddKey(&owned, KeyHash(4, 1));
	return owned;
}

static void
GoldenFilters(void)
{
	static const struct
	{
		double		fpr;
		uint64_t	capacity;
		uint64_t	keys;
	}			cases[] = {
		{0.001, 0, 0}, {0.1, 0, 5}, {0.03, 40, 50}, {0.001, 64, 1000}, {0.001, 10000, 10000},
		{0.001, 0, 1100}, {1e-6, 0, 30000}, {0.01, 0, 200000}
	};

	for (size_t i = 0; i < lengthof(cases); i++)
	{
		for (int layout = CUCKOO_SEMISORTED; layout <= CUCKOO_PLAIN; layout++)
		{
			Owned		owned = LivedFilter(cases[i].fpr, cases[i].capacity,
											(CuckooLayout) layout, cases[i].keys);
			size_t		length = StoredBytes(&owned);
			char		name[100];
			char		value[100];

			snprintf(name, sizeof(name), "filter of %llu keys, fpr %g, capacity %llu, %s",
					 (unsigned long long) cases[i].keys, cases[i].fpr,
					 (unsigned long long) cases[i].capacity, layout_names[layout]);
			(length < 1000 ? CompareHex : CompareDigest) (name, owned.bytes, length);

			/* Digits beyond these may differ by the platform's logarithm. */
			snprintf(value, sizeof(value), "%d tables, %llu items, rate %.9e",
					 owned.filter.table_count, (unsigned long long) owned.filter.items,
					 CuckooFilterRate(&owned.filter));
			Compare(name, value);
			Result(printing || ProblemOf(&owned) == CUCKOO_VALID, name, "is not valid");
			Result(printing || CountMissing(&owned.filter, 4, 1, cases[i].keys < 7 ? 1 : 7) == 0,
				   name, "has lost a key");
			FreeFilter(&owned);
		}
	}
}

/* ---------------------------------------------------- reading golden bytes */

/* Golden bytes as they stand in the source, whatever the code makes today. */
static uint8_t *
GoldenBytes(const char *name, size_t *length)
{
	for (size_t i = 0; i < golden_count; i++)
	{
		if (strcmp(goldens[i].name, name) == 0)
		{
			const char *text = goldens[i].value;
			uint8_t    *bytes;

			*length = strlen(text) / 2;
			bytes = Allocate(*length);
			for (size_t k = 0; k < *length; k++)
			{
				unsigned int byte;

				Require(sscanf(text + 2 * k, "%2x", &byte) == 1);
				bytes[k] = (uint8_t) byte;
			}
			return bytes;
		}
	}
	return NULL;
}

static void
ReadGoldenFilters(void)
{
	static const struct
	{
		const char *name;
		uint64_t	keys;
	}			cases[] = {
		{"filter of 0 keys, fpr 0.001, capacity 0, semi-sorted", 0},
		{"filter of 0 keys, fpr 0.001, capacity 0, plain", 0},
		{"filter of 5 keys, fpr 0.1, capacity 0, semi-sorted", 5},
		{"filter of 5 keys, fpr 0.1, capacity 0, plain", 5},
		{"filter of 50 keys, fpr 0.03, capacity 40, semi-sorted", 50},
		{"filter of 50 keys, fpr 0.03, capacity 40, plain", 50}
	};

	for (size_t i = 0; i < lengthof(cases); i++)
	{
		size_t		length;
		uint8_t    *bytes = GoldenBytes(cases[i].name, &length);
		CuckooFilter filter;
		int			missing = 0;
		int			accepted = 0;

		if (bytes == NULL || CuckooValidate(bytes, length, NULL).problem != CUCKOO_VALID)
		{
			Result(false, cases[i].name, "golden bytes are not valid");
			free(bytes);
			continue;
		}
		CuckooOpen(&filter, bytes);
		for (uint64_t key = 0; key < cases[i].keys; key++)
			missing += key % 7 != 0 && !CuckooFilterContains(&filter, KeyHash(4, key));
		Result(missing == 0, cases[i].name, "golden bytes have lost a key");
		Result(CuckooFilterCount(&filter, KeyHash(4, 1)) == (cases[i].keys > 1 ? 2 : 1),
			   cases[i].name, "golden bytes count another number of copies");
		Result(filter.seed == UINT64_C(0xFEDCBA9876543210), cases[i].name,
			   "golden bytes have another seed");

		/* Cut off anywhere they are refused; so is a changed version. */
		for (size_t cut = 0; cut < length; cut++)
		{
			uint8_t    *part = Duplicate(bytes, cut);

			accepted += CuckooValidate(part, cut, NULL).problem == CUCKOO_VALID;
			free(part);
		}
		bytes[0]++;
		accepted += CuckooValidate(bytes, length, NULL).problem == CUCKOO_VALID;
		Result(accepted == 0, cases[i].name, "malformed bytes are let through");
		free(bytes);
	}
}

/* What the validator says of each byte changed, as one digest. */
static void
GoldenVerdicts(void)
{
	Owned		owned = LivedFilter(0.03, 40, CUCKOO_SEMISORTED, 50);
	size_t		length = StoredBytes(&owned);
	uint8_t    *verdicts = Allocate(length * 8 * 17);

	for (size_t i = 0; i < length * 8; i++)
	{
		uint8_t    *changed = Duplicate(owned.bytes, length);
		CuckooVerdict verdict;

		changed[i / 8] ^= (uint8_t) (1 << i % 8);
		verdict = CuckooValidate(changed, length, NULL);
		verdicts[17 * i] = (uint8_t) verdict.problem;
		CuckooStore64(verdicts + 17 * i + 1, verdict.expected);
		CuckooStore64(verdicts + 17 * i + 9, verdict.found);
		free(changed);
	}
	CompareDigest("verdicts on a filter with each bit changed", verdicts, length * 8 * 17);
	free(verdicts);
	FreeFilter(&owned);
}

int
main(int argc, char **argv)
{
	printing = argc > 1 && strcmp(argv[1], "--print") == 0;
	if (printing)
		printf("/*\n"
			   " * Golden values, made by portable_golden --print: see portable_golden.c.\n"
			   " */\n"
			   "static const Golden goldens[] = {\n");

	GoldenHashes();
	GoldenSums();
	GoldenPlaces();
	GoldenSizes();
	GoldenMultisets();
	GoldenBuckets();
	GoldenBuiltTables();
	GoldenFilters();
	GoldenVerdicts();
	if (printing)
	{
		printf("};\n");
		return 0;
	}

	Result(next_golden == golden_count, "golden values", "there are more than are compared");
	ReadGoldenFilters();
	printf("%d passed, %d failed\n", passed, failed);
	return failed > 0;
}
