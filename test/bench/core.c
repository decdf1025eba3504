/*-------------------------------------------------------------------------
 *
 * core.c
 *	  Benchmarks of the core: speed, bits a key, false-positive rates.
 *
 *	core speed KEYS PASSES SLOW_PASSES
 *				nanoseconds a key to build from hashes in any order, and to
 *				insert, ask and remove them one by one, in both layouts; and of
 *				one read from memory of the filter's size, each waiting for the
 *				one before: what the machine allows
 *	core rates KEYS
 *				bits a key and measured rate, for rates asked from 0.1 to 1e-6
 *	core sizes MAX_KEYS
 *				the same for filters of 1,000 keys to 10 million, and the time
 *				to build them from sorted hashes
 *
 * Prints tab-separated lines; run.sh makes tables and charts of them.  Times
 * are processor times of this one thread, so that what else the machine does
 * disturbs them less.
 *
 *-------------------------------------------------------------------------
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "build.h"
#include "filter.h"

#define MAX_PASSES		9
#define QUERIES			10000000	/* lookups a pass */
#define READS			1000000		/* dependent reads a pass */
#define FIRST_ABSENT	(UINT64_C(1) << 40)	/* keys from here on are in no filter */
#define VARLENA_BYTES	4			/* before a stored value of this size */

static const char *const layout_names[] = {"semi-sorted", "plain"};

static void
Fail(const char *message)
{
	fprintf(stderr, "core: %s\n", message);
	exit(1);
}

static void *
Allocate(size_t bytes)
{
	void	   *memory = malloc(bytes);

	if (memory == NULL)
		Fail("out of memory");
	return memory;
}

/* Processor time in nanoseconds. */
static double
Now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double) now.tv_sec * 1e9 + (double) now.tv_nsec;
}

/* The hash of a bigint key, as the SQL functions make it. */
static inline uint64_t
KeyHash(uint64_t key)
{
	uint8_t		bytes[8];

	CuckooStore64(bytes, key);
	return CuckooHash(bytes, sizeof(bytes), 0, CUCKOO_KIND_INTEGER);
}

/* Hashes of consecutive keys, and so in any order. */
static void
FillHashes(uint64_t *hashes, uint64_t first_key, size_t count)
{
	for (size_t i = 0; i < count; i++)
		hashes[i] = KeyHash(first_key + i);
}

static int
CompareDoubles(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return (x > y) - (x < y);
}

/*
 * The filter over sorted distinct hashes, as CuckooBuildValue of value.c
 * builds it.  Returns its bytes, to be freed.
 */
static uint8_t *
Build(CuckooFilter *filter, double fpr, CuckooLayout layout,
	  const uint64_t *hashes, size_t count)
{
	int			bits = CuckooBitsFor(fpr, CUCKOO_DESIGN_LOAD, 0);

	CuckooFilterInit(filter, fpr, count, 0, layout);
	filter->body = CUCKOO_TABLES;
	filter->kind = CUCKOO_KIND_INTEGER;
	filter->table_count = 1;
	for (int attempt = 0; attempt < CUCKOO_MAX_ATTEMPTS; attempt++)
	{
		CuckooTable *table = &filter->tables[0];
		const uint64_t *next = hashes;
		size_t		left = count;
		bool		ok = true;
		uint8_t    *bytes;
		void	   *workspace;

		filter->items = 0;
		table->items = 0;
		if (!CuckooShapeFor(&table->shape, count, bits, layout, attempt))
			Fail("no shape");
		bytes = calloc(1, CuckooBytes(filter));
		if (bytes == NULL)
			Fail("out of memory");
		CuckooLayOut(filter, bytes);
		workspace = Allocate(CuckooWorkspaceBytes(&table->shape));
		for (uint32_t block = 0; ok && block < table->shape.blocks; block++)
		{
			size_t		taken = CuckooBuildBlock(table, block, next, left, workspace,
												 filter->seed, &ok);

			next += taken;
			left -= taken;
		}
		free(workspace);
		if (ok)
		{
			filter->items = table->items;
			CuckooWriteHeader(filter, bytes);
			return bytes;
		}
		free(bytes);
	}
	Fail("no attempt to build succeeded");
	return NULL;
}

/* Insert one by one into a filter of stated capacity, from the empty one on. */
static uint8_t *
Insert(CuckooFilter *filter, double fpr, CuckooLayout layout,
	   const uint64_t *hashes, size_t count)
{
	uint8_t    *bytes = calloc(1, CUCKOO_HEADER_BYTES + 8 * CUCKOO_LONG_LIST);

	if (bytes == NULL)
		Fail("out of memory");
	CuckooFilterInit(filter, fpr, count, 0, layout);
	CuckooLayOut(filter, bytes);
	for (size_t i = 0; i < count; i++)
	{
		while (CuckooFilterAdd(filter, hashes[i]) == CUCKOO_FULL)
		{
			CuckooFilter grown;
			uint8_t    *larger;

			if (CuckooPlanGrowth(filter, &grown) != CUCKOO_GROWTH_PLANNED)
				Fail("no growth planned");
			larger = calloc(1, CuckooBytes(&grown));
			if (larger == NULL)
				Fail("out of memory");
			CuckooGrow(filter, &grown, larger, NULL);
			for (uint64_t j = 0; filter->body == CUCKOO_LIST && j < filter->items; j++)
			{
				if (CuckooFilterAdd(&grown, CuckooListGet(filter, j)) == CUCKOO_FULL)
					Fail("a list of hashes did not fit");
			}
			free(bytes);
			bytes = larger;
			*filter = grown;
		}
	}
	CuckooWriteHeader(filter, bytes);
	return bytes;
}

/* Positive answers. */
static size_t
Ask(const CuckooFilter *filter, const uint64_t *hashes, size_t count)
{
	size_t		found = 0;

	for (size_t i = 0; i < count; i++)
		found += CuckooFilterContains(filter, hashes[i]);
	return found;
}

/* The measured rate, from so many keys that are not in the filter. */
static double
MeasureRate(const CuckooFilter *filter, size_t questions)
{
	uint64_t	hashes[1024];
	size_t		found = 0;

	for (size_t asked = 0; asked < questions; asked += 1024)
	{
		FillHashes(hashes, FIRST_ABSENT + asked, 1024);
		found += Ask(filter, hashes, 1024);
	}
	return (double) found / (double) questions;
}

/* Whole bits a key of a stored value. */
static double
BitsPerKey(const CuckooFilter *filter, size_t keys)
{
	return (double) (CuckooBytes(filter) + VARLENA_BYTES) * 8 / (double) keys;
}

/*
 * speed
 */

typedef enum Part
{
	PART_SORT,
	PART_UNIQUE,
	PART_BLOCKS,
	PART_BUILD,					/* the three together */
	PART_NEGATIVE,
	PART_POSITIVE,
	PART_INSERT,
	PART_REMOVE,
	PART_READ,					/* one dependent read of the filter's bytes */
	PARTS
} Part;

static const char *const part_names[PARTS] = {
	"sort", "unique", "blocks", "build", "negative", "positive", "insert", "remove", "read"
};

/* Where reads end, so that the compiler leaves them in. */
static volatile size_t read_sink;

static double times[2][PARTS][MAX_PASSES];
static int	pass_counts[2][PARTS];

static void
Note(CuckooLayout layout, Part part, double nanoseconds, size_t count)
{
	times[layout][part][pass_counts[layout][part]++] = nanoseconds / (double) count;
}

static void
BuildAndAskPass(CuckooLayout layout, uint64_t *hashes, uint64_t *scratch,
				const uint64_t *present, const uint64_t *absent, size_t keys,
				bool validate)
{
	CuckooFilter filter;
	size_t		distinct;
	size_t		found;
	uint8_t    *bytes;
	double		laps[4];
	double		start;

	FillHashes(hashes, 0, keys);
	laps[0] = Now();
	CuckooSortHashes(hashes, scratch, keys, NULL);
	laps[1] = Now();
	distinct = CuckooUniqueHashes(hashes, keys, NULL);
	laps[2] = Now();
	bytes = Build(&filter, 0.001, layout, hashes, distinct);
	laps[3] = Now();
	Note(layout, PART_SORT, laps[1] - laps[0], keys);
	Note(layout, PART_UNIQUE, laps[2] - laps[1], keys);
	Note(layout, PART_BLOCKS, laps[3] - laps[2], keys);
	Note(layout, PART_BUILD, laps[3] - laps[0], keys);
	if (validate &&
		CuckooValidate(bytes, CuckooBytes(&filter), NULL).problem != CUCKOO_VALID)
		Fail("built bytes are not valid");

	start = Now();
	found = Ask(&filter, absent, QUERIES);
	Note(layout, PART_NEGATIVE, Now() - start, QUERIES);
	if (found == 0 || (double) found > 0.0012 * QUERIES)
		Fail("the false-positive rate is not kept");

	start = Now();
	found = Ask(&filter, present, QUERIES);
	Note(layout, PART_POSITIVE, Now() - start, QUERIES);
	if (found != QUERIES)
		Fail("a key is missing");

	start = Now();
	found = 0;
	for (size_t i = 0; i < READS; i++)
	{
		uint32_t	random = (uint32_t) (absent[i] + found);

		found = bytes[random * (uint64_t) CuckooBytes(&filter) >> 32];
	}
	Note(layout, PART_READ, Now() - start, READS);
	read_sink = found;
	free(bytes);
}

static void
InsertAndRemovePass(CuckooLayout layout, uint64_t *hashes, size_t keys)
{
	CuckooFilter filter;
	uint8_t    *bytes;
	size_t		removed = 0;
	double		start;

	FillHashes(hashes, 0, keys);
	start = Now();
	bytes = Insert(&filter, 0.001, layout, hashes, keys);
	Note(layout, PART_INSERT, Now() - start, keys);

	start = Now();
	for (size_t i = 0; i < keys; i++)
		removed += CuckooFilterRemove(&filter, hashes[i]) == CUCKOO_REMOVED;
	Note(layout, PART_REMOVE, Now() - start, keys);
	if (removed != keys || filter.items != 0)
		Fail("a key was not removed");
	free(bytes);
}

static void
Speed(size_t keys, int passes, int slow_passes)
{
	uint64_t   *hashes = Allocate(keys * sizeof(uint64_t));
	uint64_t   *scratch = Allocate(keys * sizeof(uint64_t));
	uint64_t   *present = Allocate(QUERIES * sizeof(uint64_t));
	uint64_t   *absent = Allocate(QUERIES * sizeof(uint64_t));

	for (size_t i = 0; i < QUERIES; i++)
		present[i] = KeyHash(i % keys);
	FillHashes(absent, FIRST_ABSENT, QUERIES);
	memset(scratch, 0, keys * sizeof(uint64_t));

	for (int pass = 0; pass < passes; pass++)
	{
		for (int layout = 0; layout < 2; layout++)
		{
			BuildAndAskPass(layout, hashes, scratch, present, absent, keys, pass == 0);
			if (pass < slow_passes)
				InsertAndRemovePass(layout, hashes, keys);
		}
	}

	for (int layout = 0; layout < 2; layout++)
	{
		for (int part = 0; part < PARTS; part++)
		{
			double	   *t = times[layout][part];
			int			count = pass_counts[layout][part];

			if (count == 0)
				continue;
			qsort(t, (size_t) count, sizeof(*t), CompareDoubles);
			printf("%zu\t%s\t%s\t%d\t%.2f\t%.2f\t%.2f\n", keys, layout_names[layout],
				   part_names[part], count, t[count / 2], t[0], t[count - 1]);
		}
	}
	free(absent);
	free(present);
	free(scratch);
	free(hashes);
}

/*
 * rates and sizes
 */

static uint64_t *
SortedHashes(size_t keys)
{
	uint64_t   *hashes = Allocate(keys * sizeof(uint64_t));
	uint64_t   *scratch = Allocate(keys * sizeof(uint64_t));

	FillHashes(hashes, 0, keys);
	CuckooSortHashes(hashes, scratch, keys, NULL);
	if (CuckooUniqueHashes(hashes, keys, NULL) != keys)
		Fail("two keys have the same hash");
	free(scratch);
	return hashes;
}

/* Prints: rate asked, layout, f, bits a key, measured rate, expected rate. */
static void
Rates(size_t keys)
{
	static const double asked[] = {
		0.1, 0.03, 0.01, 0.003, 0.001, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6, 1e-6
	};
	uint64_t   *hashes = SortedHashes(keys);

	for (int layout = 0; layout < 2; layout++)
	{
		for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++)
		{
			CuckooFilter filter;
			uint8_t    *bytes = Build(&filter, asked[i], layout, hashes, keys);
			/* enough for 100 positive answers */
			double		questions = asked[i] < 1e-5 ? 100 / asked[i] : 1e7;

			printf("%g\t%s\t%d\t%.3f\t%.3g\t%.3g\n", asked[i], layout_names[layout],
				   filter.tables[0].shape.bits, BitsPerKey(&filter, keys),
				   MeasureRate(&filter, (size_t) questions), CuckooFilterRate(&filter));
			free(bytes);
		}
	}
	free(hashes);
}

/*
 * Prints: keys, rate asked, f, bits a key, measured rate, nanoseconds a key
 * to build from sorted hashes (median of five).
 */
static void
Sizes(size_t max_keys)
{
	static const size_t sizes[] = {1000, 10000, 100000, 131073, 1000000, 10000000};
	static const double asked[] = {0.01, 0.001, 0.0001};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]) && sizes[i] <= max_keys; i++)
	{
		size_t		keys = sizes[i];
		uint64_t   *hashes = SortedHashes(keys);
		/* small builds many times over, for the clock's sake */
		int			repeats = keys < 1000000 ? (int) (1000000 / keys) : 1;

		for (size_t j = 0; j < sizeof(asked) / sizeof(asked[0]); j++)
		{
			CuckooFilter filter;
			uint8_t    *bytes = NULL;
			double		t[5];

			for (int pass = 0; pass < 5; pass++)
			{
				double		start = Now();

				for (int repeat = 0; repeat < repeats; repeat++)
				{
					free(bytes);
					bytes = Build(&filter, asked[j], CUCKOO_SEMISORTED, hashes, keys);
				}
				t[pass] = (Now() - start) / repeats / (double) keys;
			}
			qsort(t, 5, sizeof(*t), CompareDoubles);
			printf("%zu\t%g\t%d\t%.3f\t%.3g\t%.1f\n", keys, asked[j],
				   filter.tables[0].shape.bits, BitsPerKey(&filter, keys),
				   MeasureRate(&filter, 10000000), t[2]);
			free(bytes);
		}
		free(hashes);
	}
}

int
main(int argc, char **argv)
{
	size_t		keys = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;

	if (argc == 5 && strcmp(argv[1], "speed") == 0 && keys > 0 &&
		atoi(argv[3]) >= 1 && atoi(argv[3]) <= MAX_PASSES)
		Speed(keys, atoi(argv[3]), atoi(argv[4]));
	else if (argc == 3 && strcmp(argv[1], "rates") == 0 && keys > 0)
		Rates(keys);
	else if (argc == 3 && strcmp(argv[1], "sizes") == 0)
		Sizes(keys);
	else
		Fail("usage: core speed KEYS PASSES SLOW_PASSES | core rates KEYS | core sizes MAX_KEYS");
	return 0;
}
