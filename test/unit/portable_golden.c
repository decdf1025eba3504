/*-------------------------------------------------------------------------
 *
 * portable_golden.c
 *	  Golden values, which are the same on every platform within a version of
 *	  the format, from the hash of a key to the bytes of a filter.
 *
 * Needs no cmocka, so that it runs for other architectures too.  The values
 * are in portable_golden.h.  After a change that is meant to change them:
 *
 *		portable_golden --print > test/unit/portable_golden.h
 *
 * and review the difference.  Within a version of the format, hashes, sums,
 * codes, places, sparse tables and the reading of golden bytes never change.
 * Where a dense table places a key, and therefore its bytes, may change.
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

/* For bytes too many to write down: their number and their XXH3. */
static void
CompareDigest(const char *name, const uint8_t *bytes, size_t count)
{
	char		text[64];

	snprintf(text, sizeof(text), "%llu bytes, %016llx", (unsigned long long) count,
			 (unsigned long long) XXH3_64bits(bytes, count));
	Compare(name, text);
}

/* ------------------------------------------------------- constants of it */

/*
 * Each branch of XXH3 by the length of its input, and the limits between them.
 */
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
													 CUCKOO_KEY_NONE),
					 (unsigned long long) CuckooHash(bytes, (size_t) lengths[i], seeds[j],
													 CUCKOO_KEY_TEXT));
			Compare(name, value);
		}
	}
	for (int key_type = 0; key_type <= CUCKOO_KEY_LAST; key_type++)
	{
		char		name[64];
		char		value[64];

		snprintf(name, sizeof(name), "hash of 8 bytes as key type %d", key_type);
		snprintf(value, sizeof(value), "%016llx",
				 (unsigned long long) CuckooHash(bytes, 8, 0, (CuckooKeyType) key_type));
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
		{1, 2, 5}, {1, 30, 8}, {3, 30, 13}, {7, 1000, 17}, {100, 32768, 18}, {12000, 32768, 32}
	};
	const uint64_t hashes[] = {
		0, 1, UINT32_MAX, UINT64_C(1) << 32, UINT64_C(0x8000000080000000), UINT64_MAX,
		KeyHash(0, 1), KeyHash(0, 2)
	};

	for (size_t i = 0; i < lengthof(shapes); i++)
	{
		for (size_t j = 0; j < lengthof(hashes); j++)
		{
			CuckooPlace place = CuckooPlaceOf(&shapes[i], hashes[j]);
			char		name[100];
			char		value[100];

			snprintf(name, sizeof(name), "place of %016llx in %u blocks of %u buckets, f %d",
					 (unsigned long long) hashes[j], shapes[i].blocks, shapes[i].buckets,
					 shapes[i].bits);
			snprintf(value, sizeof(value),
					 "code %016llx, block at %llu, buckets %u and %u, fingerprint %u",
					 (unsigned long long) CuckooCodeOf(&shapes[i], hashes[j]),
					 (unsigned long long) place.base, place.i1, place.i2,
					 place.fingerprint);
			Compare(name, value);
		}
	}
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
	char		name[100];
	char		value[200];

	for (int bits = 7; bits <= 29; bits++)
	{
		volatile double compared = 7.72;
		volatile double limit = compared / (ldexp(1, bits) - 1);

		snprintf(name, sizeof(name), "bits for the least rate of %d bits", bits);
		snprintf(value, sizeof(value), "%d below %d above %d", CuckooBitsFor(limit),
				 CuckooBitsFor(nextafter(limit, 0)), CuckooBitsFor(nextafter(limit, 1)));
		Compare(name, value);
	}
	for (size_t i = 0; i < lengthof(keys); i++)
	{
		CuckooShape shape;

		snprintf(name, sizeof(name), "shape for %llu keys", (unsigned long long) keys[i]);
		Require(CuckooShapeFor(&shape, keys[i], 13));
		/* Further digits may depend on the platform's logarithm. */
		snprintf(value, sizeof(value), "%u blocks of %u, capacity %llu, rate at it %.9e",
				 shape.blocks, shape.buckets,
				 (unsigned long long) CuckooShapeCapacity(&shape),
				 CuckooShapeRate(&shape, CuckooShapeCapacity(&shape)));
		Compare(name, value);
	}
}

static void
GoldenMultisets(void)
{
	uint8_t		bytes[2 * 4096];

	CuckooInitMultisets();
	for (int i = 0; i < 4096; i++)
		CuckooStore16(bytes + 2 * i, CuckooMultisets[i]);
	CompareDigest("multisets", bytes, sizeof(bytes));
}

/* ---------------------------------------------------------------- tables */

static const int golden_bits[] = {5, 6, 13, 16, 17, 18, 25, 32};

/* A single entry, whose bits show where each bit is stored. */
static void
GoldenBuckets(void)
{
	for (size_t i = 0; i < lengthof(golden_bits); i++)
	{
		uint32_t	most = (uint32_t) ((UINT64_C(1) << golden_bits[i]) - 1);
		const uint32_t entries[2][CUCKOO_ENTRIES] = {
			{0x12345679 & most, 0x9ABCDEF0 & most, 0, 0x0F1E2D3C & most},
			{most, 1, most / 3, 2}
		};
		CuckooShape shape = ShapeOf(1, 2, golden_bits[i]);
		CuckooDense dense = NewDense(&shape);
		char		name[100];

		for (uint64_t number = 0; number < 2; number++)
			CuckooWriteBits(&dense.packing, dense.data, number,
							CuckooEncode(&dense.packing, entries[number]));
		snprintf(name, sizeof(name), "two buckets, f %d", golden_bits[i]);
		CompareHex(name, dense.data, (size_t) CuckooDenseBytes(&shape) + CUCKOO_TAIL_BYTES);
		free(dense.data);
	}
}

/* Rates that give a first table of each of these widths, from 7 bits on. */
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
			double		fpr = 7.72 / (ldexp(1, bits) - 1) * 1.01;

			for (size_t r = 0; r < lengthof(room); r++)
			{
				Value		value = ValueOfHashes(hashes, sizes[s], fpr, room[r] * sizes[s]);
				CuckooFilter filter = Open(&value);
				char		name[100];

				snprintf(name, sizeof(name), "%s of %d keys, f %d, capacity %llu",
						 filter.tables[0].representation == CUCKOO_DENSE ? "dense" : "sparse",
						 (int) sizes[s], filter.tables[0].shape.bits,
						 (unsigned long long) filter.capacity);
				(sizes[s] < 100 ? CompareHex : CompareDigest) (name, value.bytes, value.length);
				FreeValue(&value);
			}
		}
		free(hashes);
	}
}

/* Low parts of every width from the smallest to the largest. */
static void
GoldenSparseTables(void)
{
	for (int bits = CUCKOO_MIN_BITS; bits <= CUCKOO_MAX_BITS; bits++)
	{
		CuckooShape shape = ShapeOf(bits == 32 ? 12000 : 1, bits == 32 ? 32768 : 2, bits);
		uint64_t	codes[40];
		uint64_t	end = CuckooShapeCodes(&shape);
		char		name[100];
		Value		value;

		for (uint64_t i = 0; i < 40; i++)
			codes[i] = 1 + i / 3 * ((end - 1) / 14);
		for (uint64_t i = 30; i < 40; i++)
			codes[i] = end - 1 - (39 - i) / 5;
		for (uint64_t i = 0; i < 40; i++)
			codes[i] += (codes[i] & CuckooShapeFingerprints(&shape)) == 0;
		value = ValueOfCodes(&shape, codes, 40, 0.001, 100);
		snprintf(name, sizeof(name), "sparse table of 40 codes, f %d", bits);
		CompareHex(name, value.bytes, value.length);
		FreeValue(&value);
	}
}

/* --------------------------------------------------------------- filters */

static Value
WithCopies(Value value)
{
	for (uint64_t i = 0; i < 9; i++)
		AddHash(&value, KeyHash(4, 1));
	for (uint64_t i = 0; i < 3; i++)
		AddHash(&value, KeyHash(4, 2));
	return value;
}

/*
 * Keys of stream 4 are added, every seventh is removed again, and two have
 * copies.
 */
static Value
LivedFilter(double fpr, uint64_t capacity, uint64_t keys)
{
	Value		value = ValueOfHashes(NULL, 0, fpr, capacity);
	uint64_t   *hashes = Allocate((size_t) keys * sizeof(uint64_t));
	size_t		together = capacity == 0 && keys > 0 ? (size_t) keys : 1;
	size_t		changed;
	CuckooDraft draft;
	uint8_t    *bytes;

	/*
	 * One by one, because the order matters to dense tables.  A large sparse
	 * one, to which it does not matter, would be copied for each key.
	 */
	CuckooDraftOpen(&draft, value.bytes, value.length, true);
	for (uint64_t i = 0; i < keys; i++)
		hashes[i] = KeyHash(4, i);
	for (uint64_t i = 0; i < keys; i += together)
		CuckooDraftApply(&draft, hashes + i, together, CUCKOO_ADD, &changed);
	for (uint64_t i = 0; i < keys; i += 7)
		hashes[i / 7] = KeyHash(4, i);
	for (uint64_t i = 0; i < (keys + 6) / 7; i += together)
		CuckooDraftApply(&draft, hashes + i, together == 1 ? 1 : (keys + 6) / 7, CUCKOO_REMOVE,
						 &changed);
	free(hashes);
	bytes = CuckooDraftFinish(&draft);
	return WithCopies(Valid(bytes, &draft.filter));
}

static const struct
{
	double		fpr;
	uint64_t	capacity;
	uint64_t	keys;
}			lives[] = {
	{0.001, 0, 0}, {0.1, 0, 5}, {0.1, 1, 22}, {0.03, 40, 50}, {0.001, 64, 1000},
	{0.001, 10000, 10000}, {1e-6, 0, 30000}, {2e-8, 100, 9000}, {0.01, 0, 200000}
};

static void
GoldenFilter(const char *name, const Value *value)
{
	CuckooFilter filter = Open(value);
	char		text[100];

	(value->length < 1000 ? CompareHex : CompareDigest) (name, value->bytes, value->length);
	snprintf(text, sizeof(text), "%d tables, %llu items, rate %.9e", filter.table_count,
			 (unsigned long long) filter.items, CuckooFilterRate(&filter));
	Compare(name, text);
}

static void
GoldenFilters(void)
{
	for (size_t i = 0; i < lengthof(lives); i++)
	{
		Value		value = LivedFilter(lives[i].fpr, lives[i].capacity, lives[i].keys);
		char		name[100];

		snprintf(name, sizeof(name), "filter of %llu keys, fpr %g, capacity %llu",
				 (unsigned long long) lives[i].keys, lives[i].fpr,
				 (unsigned long long) lives[i].capacity);
		GoldenFilter(name, &value);
		Result(printing || CountFound(&value, 4, 1, lives[i].keys < 7 ? 1 : 7) ==
			   (lives[i].keys < 7 ? 0 : 6), name, "has lost a key");
		FreeValue(&value);
	}
}

static void
GoldenCombinations(void)
{
	static const uint64_t capacities[] = {0, 700, 3000};
	Value		values[9];

	for (uint64_t i = 0; i < 9; i++)
		values[i] = WithCopies(ValueOfKeys(4, 100 * i, 100 * i + 250, i < 6 ? 0.001 : 1e-6,
										   capacities[i % 3]));
	for (int operation = CUCKOO_UNION; operation <= CUCKOO_UNION_ALL; operation++)
	{
		Value		all = Combine((CuckooOperation) operation, values, 9);

		GoldenFilter(operation == CUCKOO_UNION ? "union of nine filters" :
					 "union all of nine filters", &all);
		FreeValue(&all);
	}
	for (int i = 0; i < 9; i++)
		FreeValue(&values[i]);
}

/* ---------------------------------------------------- reading golden bytes */

/* Golden bytes as written in the source, whatever the code makes today. */
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

/* A small sparse filter, a dense one, one of several tables. */
static void
ReadGoldenFilters(void)
{
	for (size_t i = 0; i < 4; i++)
	{
		char		name[100];
		size_t		length;
		uint8_t    *bytes;
		CuckooFilter filter;
		int			missing = 0;
		int			accepted = 0;
		int			wrong = 0;

		snprintf(name, sizeof(name), "filter of %llu keys, fpr %g, capacity %llu",
				 (unsigned long long) lives[i].keys, lives[i].fpr,
				 (unsigned long long) lives[i].capacity);
		bytes = GoldenBytes(name, &length);
		if (bytes == NULL || CuckooValidate(bytes, length).problem != CUCKOO_VALID)
		{
			Result(false, name, "golden bytes are not valid");
			free(bytes);
			continue;
		}
		CuckooOpen(&filter, bytes, length);
		for (uint64_t key = 0; key < lives[i].keys + 100; key++)
		{
			uint64_t	hash = KeyHash(4, key);

			missing += key < lives[i].keys && key % 7 != 0 &&
				!CuckooFilterContains(&filter, hash);
			for (int t = 0; t < filter.table_count; t++)
				wrong += SlicedCount(&filter.tables[t], hash, 0xFF) !=
					CuckooTableCount(&filter.tables[t], hash);
		}
		Result(missing == 0, name, "golden bytes have lost a key");
		Result(wrong == 0, name, "slices of golden bytes answer otherwise");
		Result(CuckooFilterCount(&filter, KeyHash(4, 1)) == 8, name,
			   "golden bytes count another number of copies");

		/*
		 * Cut off anywhere they are refused, and with a changed version, too.
		 */
		for (size_t cut = 0; cut < length; cut++)
		{
			uint8_t    *part = Duplicate(bytes, cut);

			accepted += CuckooValidate(part, cut).problem == CUCKOO_VALID;
			free(part);
		}
		bytes[0]++;
		accepted += CuckooValidate(bytes, length).problem == CUCKOO_VALID;
		Result(accepted == 0, name, "malformed bytes are let through");
		free(bytes);
	}
}

/* The validator's verdicts with each bit changed, as one digest. */
static void
GoldenVerdicts(void)
{
	Value		value = LivedFilter(0.03, 40, 60);
	size_t		bytes = value.length * 8 * sizeof(((CuckooVerdict *) NULL)->message);
	uint8_t    *verdicts = Allocate(bytes);

	for (size_t i = 0; i < value.length * 8; i++)
	{
		uint8_t    *changed = Duplicate(value.bytes, value.length);
		CuckooVerdict verdict;

		changed[i / 8] ^= (uint8_t) (1 << i % 8);
		verdict = CuckooValidate(changed, value.length);
		strcpy((char *) verdicts + i * sizeof(verdict.message), verdict.message);
		free(changed);
	}
	CompareDigest("verdicts on a filter with each bit changed", verdicts, bytes);
	free(verdicts);
	FreeValue(&value);
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
	GoldenBuilds();
	GoldenSparseTables();
	GoldenFilters();
	GoldenCombinations();
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
