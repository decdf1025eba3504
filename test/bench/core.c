/*-------------------------------------------------------------------------
 *
 * core.c
 *	  Benchmark of the core.
 *
 *	core KEYS PASSES SLOW_PASSES
 *				nanoseconds per key to build a filter from unsorted hashes, to
 *				add and remove keys in batches, and to look them up.  This is
 *				measured for a dense filter, whose capacity is the number of
 *				keys, and for a sparse one with three times that.  For
 *				comparison, the nanoseconds of one read from memory of the
 *				filter's size, if each read waits for the one before
 *
 * Prints tab-separated lines.  Times are processor times of this thread, so that
 * other work of the machine disturbs them less.
 *
 *-------------------------------------------------------------------------
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "filter.h"
#include "hash.h"
#include "list.h"

#define QUERIES			10000000	/* lookups per pass */
#define READS			1000000		/* dependent reads per pass */
#define FIRST_ABSENT	(UINT64_C(1) << 40)	/* keys from here on are in no filter */
#define SPARSE_ROOM		3			/* capacity of a sparse filter, per key */

/* CuckooRepresentation */
static const char *const representation_names[] = {"sparse", "dense"};

static void
Fail(const char *message)
{
	fprintf(stderr, "core: %s\n", message);
	exit(1);
}

/* What port.h asks for. */
void *
palloc(size_t bytes)
{
	void	   *memory = malloc(bytes);

	if (memory == NULL)
		Fail("out of memory");
	return memory;
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

/*
 * The filter over sorted distinct hashes.  Returns its bytes, to be freed;
 * *filter is opened in them.
 */
static uint8_t *
Build(CuckooFilter *filter, uint64_t capacity, uint64_t *hashes, size_t count)
{
	CuckooList	run;
	uint8_t    *bytes;

	run.numbers = hashes;
	run.count = count;
	CuckooFilterInit(filter, 0.001, capacity, 0);
	filter->header.kind.type = CUCKOO_KEY_INTEGER;
	bytes = CuckooMakeFromHashes(filter, &run, 1);
	if (bytes == NULL)
		Fail("the filter would be too large");
	return bytes;
}

/*
 * Add keys or remove them, in batches of the best size, as cuckoo_stream_agg
 * and cuckoo_remove_all do.
 */
static void
ApplyKeys(CuckooDraft *draft, uint64_t first, uint64_t last, CuckooAction action)
{
	while (first < last)
	{
		size_t		count = CuckooDraftBatchKeys(draft);
		uint64_t   *hashes;
		size_t		changed;

		if (count > last - first)
			count = (size_t) (last - first);
		hashes = palloc(count * sizeof(uint64_t));
		FillHashes(hashes, first, count);
		if (CuckooDraftApply(draft, hashes, count, action, &changed) > CUCKOO_UNCHANGED)
			Fail("a batch did not fit");
		free(hashes);
		first += count;
	}
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

/* The result of reads is stored here, so that the compiler keeps them. */
static volatile size_t read_sink;

static void
Note(int representation, const char *part, double nanoseconds, size_t keys, size_t count)
{
	printf("%zu\t%s: %s\t%.2f\n", keys, representation_names[representation], part,
		   nanoseconds / (double) count);
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
	CuckooVerdict verdict;
	size_t		distinct;
	size_t		found;
	uint8_t    *bytes;
	double		start;

	FillHashes(hashes, 0, keys);
	start = Now();
	CuckooSort(hashes, scratch, keys);
	distinct = CuckooUnique(hashes, keys);
	bytes = Build(&filter, CapacityFor(representation, keys), hashes, distinct);
	Note(representation, "build", Now() - start, keys, keys);
	if (filter.tables[0].representation != (CuckooRepresentation) representation)
		Fail("built in the other representation");
	if (validate && !CuckooValidate(bytes, CuckooBytes(&filter), &verdict))
		Fail("built bytes are not valid");

	start = Now();
	found = LookUp(&filter, absent, QUERIES);
	Note(representation, "absent", Now() - start, keys, QUERIES);
	if (found == 0 || (double) found > 0.0012 * QUERIES)
		Fail("the false-positive rate is not kept");

	start = Now();
	found = LookUp(&filter, present, QUERIES);
	Note(representation, "present", Now() - start, keys, QUERIES);
	if (found != QUERIES)
		Fail("a key is missing");

	start = Now();
	found = 0;
	for (size_t i = 0; i < READS; i++)
	{
		uint32_t	random = (uint32_t) (absent[i] + found);

		found = bytes[random * (uint64_t) CuckooBytes(&filter) >> 32];
	}
	Note(representation, "read", Now() - start, keys, READS);
	read_sink = found;
	CuckooFreeFilter(bytes);
}

/* Add and remove keys in batches. */
static void
AddAndRemovePass(int representation, size_t keys)
{
	CuckooDraft draft;
	CuckooFilter filter;
	uint8_t    *bytes = Build(&filter, CapacityFor(representation, keys), NULL, 0);
	double		start = Now();

	CuckooDraftOpen(&draft, bytes, CuckooBytes(&filter));
	ApplyKeys(&draft, 0, keys, CUCKOO_ADD);
	CuckooDraftMake(&draft);
	Note(representation, "add", Now() - start, keys, keys);

	start = Now();
	ApplyKeys(&draft, 0, keys, CUCKOO_REMOVE);
	CuckooDraftMake(&draft);
	Note(representation, "remove", Now() - start, keys, keys);
	if (draft.filter.header.items != 0)
		Fail("an item is left");
	CuckooFreeFilter(draft.bytes);
}

int
main(int argc, char **argv)
{
	size_t		keys = argc == 4 ? strtoull(argv[1], NULL, 10) : 0;
	uint64_t   *hashes = palloc(keys * sizeof(uint64_t));
	uint64_t   *scratch = palloc(keys * sizeof(uint64_t));
	uint64_t   *present = palloc(QUERIES * sizeof(uint64_t));
	uint64_t   *absent = palloc(QUERIES * sizeof(uint64_t));

	if (keys == 0)
		Fail("usage: core KEYS PASSES SLOW_PASSES");
	for (size_t i = 0; i < QUERIES; i++)
		present[i] = KeyHash(i % keys);
	FillHashes(absent, FIRST_ABSENT, QUERIES);
	memset(scratch, 0, keys * sizeof(uint64_t));

	for (int pass = 0; pass < atoi(argv[2]); pass++)
	{
		for (int representation = CUCKOO_DENSE; representation >= CUCKOO_SPARSE; representation--)
		{
			BuildAndLookUpPass(representation, hashes, scratch, present, absent, keys, pass == 0);
			if (pass < atoi(argv[3]))
				AddAndRemovePass(representation, keys);
		}
	}
	return 0;
}
