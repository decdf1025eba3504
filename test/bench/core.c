/*-------------------------------------------------------------------------
 *
 * core.c
 *	  Benchmarks of the core: speed, bits per key, false-positive rates.
 *
 *	core speed KEYS PASSES SLOW_PASSES
 *				nanoseconds per key to build a filter from unsorted hashes, to
 *				add and remove keys in batches, and to look them up.  This is
 *				measured for a dense filter, whose capacity is the number of
 *				keys, and for a sparse one with three times that.  For
 *				comparison, the nanoseconds of one read from memory of the
 *				filter's size, if each read waits for the one before
 *	core rates KEYS
 *				bits per key and measured rates, for target rates from 0.1 to
 *				1e-6
 *	core sizes MAX_KEYS
 *				the same for filters of 1,000 to 10 million keys, and the time
 *				to build them from sorted hashes
 *	core figures MAX_KEYS
 *				bytes and times of single cases: capacities much too large, an
 *				unknown capacity, copies, single adds, a union of 365 filters
 *
 * Prints tab-separated lines, from which run.sh makes tables and charts.
 * Times are processor times of this thread, so that other work of the machine
 * disturbs them less.
 *
 *-------------------------------------------------------------------------
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "combine.h"
#include "hash.h"
#include "list.h"

#define MAX_PASSES		9
#define QUERIES			10000000	/* lookups per pass */
#define READS			1000000		/* dependent reads per pass */
#define FIRST_ABSENT	(UINT64_C(1) << 40)	/* keys from here on are in no filter */
#define VARLENA_BYTES	4			/* header of a stored value */
#define SPARSE_ROOM		3			/* capacity of a sparse filter, per key */

/* CuckooRepresentation */
static const char *const representation_names[] = {"sparse", "dense"};

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

/* What port.h asks for. */
void *
palloc(size_t bytes)
{
	return Allocate(bytes);
}

void
pfree(void *memory)
{
	free(memory);
}

void
CheckForInterrupts(void)
{
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
	return CuckooHash(bytes, sizeof(bytes), 0, CUCKOO_KEY_INTEGER);
}

/* Hashes of consecutive keys.  They are not sorted. */
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
 * The filter over sorted distinct hashes.  Returns its bytes, to be freed;
 * *filter is opened in them.
 */
static uint8_t *
Build(CuckooFilter *filter, double fpr, uint64_t capacity, const uint64_t *hashes,
	  size_t count)
{
	CuckooRun	run;
	uint8_t    *bytes;

	run.numbers = hashes;
	run.count = count;
	CuckooFilterInit(filter, fpr, capacity, 0);
	filter->key_type = CUCKOO_KEY_INTEGER;
	bytes = CuckooMakeFromHashes(filter, &run, 1);
	if (bytes == NULL)
		Fail("the filter would be too large");
	return bytes;
}

/* Begin a draft of an empty filter. */
static void
DraftEmpty(CuckooDraft *draft, double fpr, uint64_t capacity)
{
	CuckooFilter filter;
	uint8_t    *bytes = Build(&filter, fpr, capacity, NULL, 0);

	CuckooDraftOpen(draft, bytes, CuckooBytes(&filter), true);
}

/*
 * Add keys or remove them, in batches of the best size, as cuckoo_stream_agg
 * and cuckoo_remove_all do.
 */
static void
ApplyKeys(CuckooDraft *draft, uint64_t first, uint64_t last, CuckooEdit edit)
{
	while (first < last)
	{
		size_t		count = CuckooDraftBatchKeys(draft);
		uint64_t   *hashes;
		size_t		changed;

		if (count > last - first)
			count = (size_t) (last - first);
		hashes = Allocate(count * sizeof(uint64_t));
		FillHashes(hashes, first, count);
		if (CuckooDraftApply(draft, hashes, count, edit, &changed) > CUCKOO_KEPT)
			Fail("a batch did not fit");
		free(hashes);
		first += count;
	}
}

static void
AddKeys(CuckooDraft *draft, uint64_t first, uint64_t last)
{
	ApplyKeys(draft, first, last, CUCKOO_ADD);
}

/* Finish a draft and return the size of the filter in bytes. */
static size_t
DraftBytes(CuckooDraft *draft)
{
	if (CuckooDraftFinish(draft) == NULL)
		Fail("the filter would be too large");
	return CuckooBytes(&draft->filter);
}

/* The number of lookups with a positive answer. */
static size_t
LookUp(const CuckooFilter *filter, const uint64_t *hashes, size_t count)
{
	size_t		found = 0;

	for (size_t i = 0; i < count; i++)
		found += CuckooFilterContains(filter, hashes[i]);
	return found;
}

/* Measure the false-positive rate with this number of absent keys. */
static double
MeasureRate(const CuckooFilter *filter, size_t lookups)
{
	uint64_t	hashes[1024];
	size_t		found = 0;

	for (size_t looked_up = 0; looked_up < lookups; looked_up += 1024)
	{
		FillHashes(hashes, FIRST_ABSENT + looked_up, 1024);
		found += LookUp(filter, hashes, 1024);
	}
	return (double) found / (double) lookups;
}

/* Bits per key of a whole stored value. */
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
	PART_TABLE,
	PART_BUILD,					/* the three together */
	PART_NEGATIVE,
	PART_POSITIVE,
	PART_INSERT,
	PART_REMOVE,
	PART_READ,					/* one dependent read of the filter's bytes */
	PARTS
} Part;

static const char *const part_names[PARTS] = {
	"sort", "unique", "table", "build", "negative", "positive", "insert", "remove", "read"
};

/* The result of reads is stored here, so that the compiler keeps them. */
static volatile size_t read_sink;

static double times[2][PARTS][MAX_PASSES];
static int	pass_counts[2][PARTS];

static void
Note(int representation, Part part, double nanoseconds, size_t count)
{
	times[representation][part][pass_counts[representation][part]++] =
		nanoseconds / (double) count;
}

static uint64_t
CapacityFor(int representation, size_t keys)
{
	return representation == CUCKOO_DENSE ? keys : SPARSE_ROOM * keys;
}

static void
BuildAndLookUpPass(int representation, uint64_t *hashes, uint64_t *scratch,
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
	CuckooSort(hashes, scratch, keys);
	laps[1] = Now();
	distinct = CuckooUnique(hashes, keys);
	laps[2] = Now();
	bytes = Build(&filter, 0.001, CapacityFor(representation, keys), hashes, distinct);
	laps[3] = Now();
	if (filter.tables[0].representation != representation)
		Fail("built in the other representation");
	Note(representation, PART_SORT, laps[1] - laps[0], keys);
	Note(representation, PART_UNIQUE, laps[2] - laps[1], keys);
	Note(representation, PART_TABLE, laps[3] - laps[2], keys);
	Note(representation, PART_BUILD, laps[3] - laps[0], keys);
	if (validate &&
		CuckooValidate(bytes, CuckooBytes(&filter)).problem != CUCKOO_VALID)
		Fail("built bytes are not valid");

	start = Now();
	found = LookUp(&filter, absent, QUERIES);
	Note(representation, PART_NEGATIVE, Now() - start, QUERIES);
	if (found == 0 || (double) found > 0.0012 * QUERIES)
		Fail("the false-positive rate is not kept");

	start = Now();
	found = LookUp(&filter, present, QUERIES);
	Note(representation, PART_POSITIVE, Now() - start, QUERIES);
	if (found != QUERIES)
		Fail("a key is missing");

	start = Now();
	found = 0;
	for (size_t i = 0; i < READS; i++)
	{
		uint32_t	random = (uint32_t) (absent[i] + found);

		found = bytes[random * (uint64_t) CuckooBytes(&filter) >> 32];
	}
	Note(representation, PART_READ, Now() - start, READS);
	read_sink = found;
	CuckooFreeFilter(bytes);
}

/* Add and remove keys in batches. */
static void
AddAndRemovePass(int representation, size_t keys)
{
	CuckooDraft draft;
	double		start = Now();

	DraftEmpty(&draft, 0.001, CapacityFor(representation, keys));
	draft.streaming = true;
	AddKeys(&draft, 0, keys);
	DraftBytes(&draft);
	Note(representation, PART_INSERT, Now() - start, keys);

	start = Now();
	draft.streaming = false;
	ApplyKeys(&draft, 0, keys, CUCKOO_REMOVE);
	DraftBytes(&draft);
	Note(representation, PART_REMOVE, Now() - start, keys);
	if (draft.filter.items != 0)
		Fail("an item is left");
	CuckooFreeFilter(draft.bytes);
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
		for (int representation = CUCKOO_DENSE; representation >= CUCKOO_SPARSE; representation--)
		{
			BuildAndLookUpPass(representation, hashes, scratch, present, absent, keys,
							   pass == 0);
			if (pass < slow_passes)
				AddAndRemovePass(representation, keys);
		}
	}

	for (int representation = CUCKOO_DENSE; representation >= CUCKOO_SPARSE; representation--)
	{
		for (int part = 0; part < PARTS; part++)
		{
			double	   *t = times[representation][part];
			int			count = pass_counts[representation][part];

			if (count == 0)
				continue;
			qsort(t, (size_t) count, sizeof(*t), CompareDoubles);
			printf("%zu\t%s\t%s\t%d\t%.2f\t%.2f\t%.2f\n", keys,
				   representation_names[representation], part_names[part], count, t[count / 2],
				   t[0], t[count - 1]);
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
	CuckooSort(hashes, scratch, keys);
	if (CuckooUnique(hashes, keys) != keys)
		Fail("two keys have the same hash");
	free(scratch);
	return hashes;
}

/* Prints: rate asked, representation, f, bits per key, measured rate, expected rate. */
static void
Rates(size_t keys)
{
	static const double asked[] = {
		0.1, 0.03, 0.01, 0.003, 0.001, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6, 1e-6
	};
	uint64_t   *hashes = SortedHashes(keys);

	for (int representation = CUCKOO_DENSE; representation >= CUCKOO_SPARSE; representation--)
	{
		for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++)
		{
			CuckooFilter filter;
			uint8_t    *bytes = Build(&filter, asked[i], CapacityFor(representation, keys),
									  hashes, keys);
			/* Enough for 100 positive answers. */
			double		lookups = asked[i] < 1e-5 ? 100 / asked[i] : 1e7;

			printf("%g\t%s\t%d\t%.3f\t%.3g\t%.3g\n", asked[i],
				   representation_names[representation], filter.tables[0].shape.bits,
				   BitsPerKey(&filter, keys), MeasureRate(&filter, (size_t) lookups),
				   CuckooFilterRate(&filter));
			CuckooFreeFilter(bytes);
		}
	}
	free(hashes);
}

/*
 * Prints: keys, rate asked, f, bits per key, measured rate, nanoseconds per key
 * to build from sorted hashes (median of five).
 */
static void
Sizes(size_t max_keys)
{
	static const size_t sizes[] = {
		1000, 10000, 20000, 100000, 131073, 1000000, 10000000
	};
	static const double asked[] = {0.01, 0.001, 0.0001};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]) && sizes[i] <= max_keys; i++)
	{
		size_t		keys = sizes[i];
		uint64_t   *hashes = SortedHashes(keys);
		/* Small builds are repeated, as the clock is too coarse for one. */
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
					if (bytes != NULL)
						CuckooFreeFilter(bytes);
					bytes = Build(&filter, asked[j], 0, hashes, keys);
				}
				t[pass] = (Now() - start) / repeats / (double) keys;
			}
			qsort(t, 5, sizeof(*t), CompareDoubles);
			printf("%zu\t%g\t%d\t%.3f\t%.3g\t%.1f\n", keys, asked[j],
				   filter.tables[0].shape.bits, BitsPerKey(&filter, keys),
				   MeasureRate(&filter, 10000000), t[2]);
			CuckooFreeFilter(bytes);
		}
		free(hashes);
	}
}

/*
 * figures
 */

static void
Figure(const char *name, double value, const char *unit)
{
	printf("%s\t%.4g\t%s\n", name, value, unit);
}

/* A filter of consecutive keys. */
static uint8_t *
BuildKeys(CuckooFilter *filter, uint64_t capacity, uint64_t first_key, size_t keys,
		  uint64_t *hashes, uint64_t *scratch)
{
	FillHashes(hashes, first_key, keys);
	CuckooSort(hashes, scratch, keys);
	return Build(filter, 0.001, capacity, hashes, keys);
}

static void
Room(size_t max_keys, uint64_t *hashes, uint64_t *scratch)
{
	static const size_t sizes[] = {1000, 30000, 1000000};
	static const int times_room[] = {1, 2, 10, 100};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]) && sizes[i] <= max_keys; i++)
	{
		for (size_t j = 0; j < sizeof(times_room) / sizeof(times_room[0]); j++)
		{
			CuckooFilter filter;
			uint8_t    *bytes = BuildKeys(&filter, sizes[i] * (uint64_t) times_room[j], 0,
										  sizes[i], hashes, scratch);
			char		name[100];

			snprintf(name, sizeof(name), "%zu keys, capacity %d times", sizes[i],
					 times_room[j]);
			Figure(name, BitsPerKey(&filter, sizes[i]), "bits per key");
			CuckooFreeFilter(bytes);
		}
	}
}

/* Add key by key to an empty filter, also measuring the worst case. */
static void
UnknownCapacity(size_t max_keys)
{
	CuckooDraft draft;
	double		worst = 0;
	double		start = Now();
	char		name[100];

	DraftEmpty(&draft, 0.001, 0);
	for (uint64_t keys = 1, done = 0; keys <= max_keys; done = keys, keys += 1 + keys / 8)
	{
		double		bits;

		AddKeys(&draft, done, keys);
		bits = (double) DraftBytes(&draft) * 8 / (double) keys;
		if (keys > 2000 && bits > worst)
			worst = bits;
		if (keys + keys / 8 + 1 > max_keys)
		{
			AddKeys(&draft, keys, max_keys);
			bits = (double) DraftBytes(&draft) * 8 / (double) max_keys;
		}
		else if (done >= 2000 || keys < 2000)
			continue;
		snprintf(name, sizeof(name), "unknown capacity, %llu items",
				 (unsigned long long) draft.filter.items);
		Figure(name, bits, "bits per key");
	}
	Figure("unknown capacity, worst above 2000 keys", worst, "bits per key");
	snprintf(name, sizeof(name), "unknown capacity, %zu keys", max_keys);
	Figure(name, draft.filter.table_count, "tables");
	Figure(name, CuckooFilterRate(&draft.filter), "expected rate");
	Figure(name, (Now() - start) / (double) max_keys, "ns per key");
	CuckooFreeFilter(draft.bytes);
}

/* A filter with a copy of each key for each of its rows, and room for all. */
static void
Copies(size_t keys, int copies)
{
	CuckooDraft draft;
	double		start = Now();
	char		name[100];

	DraftEmpty(&draft, 0.001, keys * (uint64_t) copies);
	for (int copy = 0; copy < copies; copy++)
		AddKeys(&draft, 0, keys);
	snprintf(name, sizeof(name), "%zu keys of %d copies each", keys, copies);
	Figure(name, (double) DraftBytes(&draft), "bytes");
	Figure(name, (Now() - start) / (double) keys / copies, "ns per copy");
	CuckooFreeFilter(draft.bytes);
}

/* Add one key to a stored value, which is not changed, as f + key does. */
static void
SingleAdds(size_t keys, uint64_t capacity, int adds, uint64_t *hashes, uint64_t *scratch)
{
	CuckooFilter filter;
	uint8_t    *bytes = BuildKeys(&filter, capacity, 0, keys, hashes, scratch);
	double		start = Now();
	char		name[100];

	for (int i = 0; i < adds; i++)
	{
		CuckooDraft draft;

		CuckooDraftOpen(&draft, bytes, CuckooBytes(&filter), false);
		AddKeys(&draft, FIRST_ABSENT + (uint64_t) i, FIRST_ABSENT + (uint64_t) i + 1);
		DraftBytes(&draft);
		CuckooFreeFilter(draft.bytes);
	}
	snprintf(name, sizeof(name), "single add to %zu keys of %llu", keys,
			 (unsigned long long) capacity);
	Figure(name, (Now() - start) / adds / 1000, "us");
	CuckooFreeFilter(bytes);
}

/* Unite daily filters with the capacity of the year; build from all keys. */
static void
Year(size_t daily, uint64_t *hashes, uint64_t *scratch)
{
	const size_t days = 365;
	size_t		all = days * daily;
	uint8_t    *parts[365];
	size_t		lengths[365];
	double		total = 0;
	double		start;
	double		united;
	double		built;
	CuckooCombination combination;
	CuckooFilter filter;
	uint8_t    *bytes;

	for (size_t day = 0; day < days; day++)
	{
		parts[day] = BuildKeys(&filter, all, day * daily, daily, hashes, scratch);
		lengths[day] = CuckooBytes(&filter);
		total += (double) lengths[day];
	}
	Figure("365 daily filters", total / 1e6, "MB");

	start = Now();
	CuckooCombinationInit(&combination, CUCKOO_UNION);
	for (size_t day = 0; day < days; day++)
	{
		CuckooOpen(&filter, parts[day], lengths[day]);
		if (CuckooCombinationAdd(&combination, &filter) != CUCKOO_NO_CONFLICT)
			Fail("filters do not combine");
	}
	bytes = CuckooCombinationMake(&combination, &filter);
	united = Now() - start;
	CuckooCombinationRelease(&combination);
	if (bytes == NULL || LookUp(&filter, hashes, daily) != daily)
		Fail("a key is missing");
	CuckooFreeFilter(bytes);
	for (size_t day = 0; day < days; day++)
		CuckooFreeFilter(parts[day]);

	FillHashes(hashes, 0, all);
	start = Now();
	CuckooSort(hashes, scratch, all);
	bytes = Build(&filter, 0.001, all, hashes, all);
	built = Now() - start;
	CuckooFreeFilter(bytes);
	Figure("union of 365 daily filters", united / 1e9, "s");
	Figure("build from the hashes of all their keys", built / 1e9, "s");
	Figure("union, in terms of the build", united / built, "times");
}

static void
Figures(size_t max_keys)
{
	size_t		daily = max_keys >= 10000000 ? 30000 : max_keys / 365;
	size_t		room = 365 * daily > 1000000 ? 365 * daily : 1000000;
	uint64_t   *hashes = Allocate(room * sizeof(uint64_t));
	uint64_t   *scratch = Allocate(room * sizeof(uint64_t));

	Room(max_keys, hashes, scratch);
	UnknownCapacity(max_keys);
	Copies(1000, 100);
	Copies(10000, 100);
	if (max_keys >= 1000000)
		Copies(1000000, 6);
	SingleAdds(30000, 1000000, 2000, hashes, scratch);
	SingleAdds(500000, 1100000, 500, hashes, scratch);
	Year(daily, hashes, scratch);
	free(scratch);
	free(hashes);
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
	else if (argc == 3 && strcmp(argv[1], "figures") == 0 && keys >= 100000)
		Figures(keys);
	else
		Fail("usage: core speed KEYS PASSES SLOW_PASSES | core rates KEYS | core sizes MAX_KEYS | "
			 "core figures MAX_KEYS");
	return 0;
}
