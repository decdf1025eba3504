/*-------------------------------------------------------------------------
 *
 * support.h
 *	  What the unit tests of the core share: hashes, tables and filters that
 *	  own their memory, and a few checks.
 *
 * Memory is allocated to the byte, so that AddressSanitizer sees a read or
 * write past what the core may touch.  Programs that run without cmocka
 * define SUPPORT_PORTABLE first.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_TEST_SUPPORT_H
#define CUCKOO_TEST_SUPPORT_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef SUPPORT_PORTABLE
#define Require(condition) \
	do { \
		if (!(condition)) \
		{ \
			fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
			abort(); \
		} \
	} while (0)
#else
#include <cmocka.h>
#define Require(condition) assert_true(condition)
#endif

#include "build.h"
#include "filter.h"
#include "format.h"
#include "hash.h"
#include "table.h"

#define lengthof(array) (sizeof(array) / sizeof((array)[0]))

#ifdef SUPPORT_PORTABLE
/* What takes cmocka's place: checks are counted, those that fail printed. */
static int	passed;
static int	failed;

static inline void
Result(bool ok, const char *name, const char *problem)
{
	if (ok)
		passed++;
	else
	{
		failed++;
		printf("%s: %s\n", name, problem);
	}
}
#endif

/* Memory that ASan guards at both ends; a test has no use for failure. */
static inline void *
Allocate(size_t bytes)
{
	void	   *p = calloc(1, bytes > 0 ? bytes : 1);

	Require(p != NULL);
	return p;
}

static inline void *
Duplicate(const void *from, size_t bytes)
{
	void	   *p = malloc(bytes > 0 ? bytes : 1);

	Require(p != NULL);
	if (bytes > 0)
		memcpy(p, from, bytes);
	return p;
}

static inline bool
AllZero(const uint8_t *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
	{
		if (bytes[i] != 0)
			return false;
	}
	return true;
}

/* ---------------------------------------------------------------- chance */

/*
 * The tests' own generator (xorshift64*), so that they do not share one with
 * the code they test.
 */
static inline uint64_t
NextRandom(uint64_t *state)
{
	uint64_t	x = *state;

	if (x == 0)
		x = UINT64_C(0x243F6A8885A308D3);
	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return x * UINT64_C(0x2545F4914F6CDD1D);
}

/* Evenly from 0 up to, but not including, the bound. */
static inline uint32_t
RandomBelow(uint64_t *state, uint32_t bound)
{
	return (uint32_t) ((NextRandom(state) >> 32) * bound >> 32);
}

static inline void
Shuffle(uint64_t *hashes, size_t count, uint64_t seed)
{
	uint64_t	random = seed;

	for (size_t i = count; i > 1; i--)
	{
		size_t		j = RandomBelow(&random, (uint32_t) i);
		uint64_t	swapped = hashes[i - 1];

		hashes[i - 1] = hashes[j];
		hashes[j] = swapped;
	}
}

/* ---------------------------------------------------------------- hashes */

/* The hash of key number i of a stream of keys; no two are equal. */
static inline uint64_t
KeyHash(uint64_t stream, uint64_t i)
{
	uint8_t		bytes[8];

	CuckooStore64(bytes, i);
	return CuckooHash(bytes, sizeof(bytes), stream, CUCKOO_KIND_INTEGER);
}

/* The first count keys of a stream, ascending. */
static inline uint64_t *
SortedHashes(uint64_t stream, size_t count)
{
	uint64_t   *hashes = Allocate(count * sizeof(uint64_t));
	uint64_t   *scratch = Allocate(count * sizeof(uint64_t));

	for (size_t i = 0; i < count; i++)
		hashes[i] = KeyHash(stream, i);
	CuckooSortHashes(hashes, scratch, count, NULL);
	free(scratch);
	return hashes;
}

/* A hash with these high 32 bits, and this fingerprint where it has f bits. */
static inline uint64_t
HashWithFingerprint(uint32_t high, uint32_t fingerprint, int bits)
{
	uint64_t	fingerprints = (UINT64_C(1) << bits) - 1;
	uint64_t	scaled = (uint64_t) (fingerprint - 1) << 32;

	return (uint64_t) high << 32 | (scaled + fingerprints - 1) / fingerprints;
}

/* ---------------------------------------------------------------- tables */

/* An empty table in memory of its own: buckets and tail, no byte more. */
static inline CuckooTable
NewTable(const CuckooShape *shape)
{
	CuckooTable table;

	CuckooTableInit(&table, shape, 0,
					Allocate((size_t) CuckooShapeBytes(shape) + CUCKOO_TAIL_BYTES));
	return table;
}

static inline CuckooShape
ShapeOf(uint32_t blocks, uint32_t buckets, int bits, CuckooLayout layout)
{
	CuckooShape shape;

	shape.blocks = blocks;
	shape.buckets = buckets;
	shape.bits = (uint8_t) bits;
	shape.layout = (uint8_t) layout;
	return shape;
}

static inline void
FreeTable(CuckooTable *table)
{
	free(table->data);
	table->data = NULL;
}

/* Build every block of an empty table; false where one found no room. */
static inline bool
BuildBlocks(CuckooTable *table, const uint64_t *hashes, size_t count,
			uint64_t seed)
{
	void	   *workspace = Allocate(CuckooWorkspaceBytes(&table->shape));
	size_t		taken = 0;
	bool		ok = true;

	for (uint32_t block = 0; ok && block < table->shape.blocks; block++)
		taken += CuckooBuildBlock(table, block, hashes + taken, count - taken,
								  workspace, seed, &ok);
	free(workspace);
	Require(!ok || taken == count);
	return ok;
}

/* A table of the size that these sorted, distinct hashes need. */
static inline CuckooTable
BuildTable(const uint64_t *hashes, size_t count, int bits, CuckooLayout layout,
		   uint64_t seed)
{
	for (int attempt = 0; attempt < CUCKOO_MAX_ATTEMPTS; attempt++)
	{
		CuckooShape shape;
		CuckooTable table;

		Require(CuckooShapeFor(&shape, count, bits, layout, attempt));
		table = NewTable(&shape);
		if (BuildBlocks(&table, hashes, count, seed))
			return table;
		FreeTable(&table);
	}
	Require(!"a table was built");
	abort();
}

/* Whether every bucket is in canonical order and items is their number. */
static inline bool
TableIsSound(const CuckooTable *table)
{
	uint64_t	items;
	uint64_t	bad;

	return CuckooTableCheck(table, &items, &bad, NULL) && items == table->items &&
		AllZero(table->data + CuckooShapeBytes(&table->shape), CUCKOO_TAIL_BYTES);
}

/*
 * The standard deviation of the share of absent keys that a table seems to
 * hold, over samples and over what happens to be in it: fingerprints that
 * fall together cover fewer of the places asked for.
 */
static inline double
RateSigma(const CuckooShape *shape, uint64_t items, double samples)
{
	double		rate = CuckooTableRate(shape, items);
	double		places = (double) CuckooShapeBuckets(shape) *
		(ldexp(1.0, shape->bits) - 1);
	double		together = 2.0 * (double) items * (double) items / places;

	return sqrt(rate * (1 - rate) / samples + 4 * together / (places * places));
}

/* --------------------------------------------------------------- filters */

/* A filter that owns its bytes. */
typedef struct Owned
{
	CuckooFilter filter;
	uint8_t    *bytes;
	size_t		room;			/* of bytes, allocated */
} Owned;

/* An empty filter of texts, with room for the longest list it may be. */
static inline Owned
NewFilter(double fpr, uint64_t capacity, uint64_t seed, CuckooLayout layout)
{
	Owned		owned;

	CuckooFilterInit(&owned.filter, fpr, capacity, seed, layout);
	owned.filter.kind = CUCKOO_KIND_TEXT;
	owned.room = CUCKOO_HEADER_BYTES + 8 * (size_t) CuckooListLimit(&owned.filter);
	owned.bytes = Allocate(owned.room);
	CuckooLayOut(&owned.filter, owned.bytes);
	return owned;
}

/* An empty filter with tables of hand-made shapes, of one layout. */
static inline Owned
NewFilterOf(const CuckooShape *shapes, int count, double fpr, uint64_t capacity)
{
	Owned		owned;

	CuckooFilterInit(&owned.filter, fpr, capacity, 0,
					 (CuckooLayout) shapes[0].layout);
	owned.filter.kind = CUCKOO_KIND_TEXT;
	owned.filter.body = CUCKOO_TABLES;
	owned.filter.table_count = (uint8_t) count;
	for (int i = 0; i < count; i++)
	{
		owned.filter.tables[i].shape = shapes[i];
		owned.filter.tables[i].items = 0;
	}
	owned.room = CuckooBytes(&owned.filter);
	Require(owned.room > 0);
	owned.bytes = Allocate(owned.room);
	CuckooLayOut(&owned.filter, owned.bytes);
	return owned;
}

/* Make tables of it stashes, by bit mask. */
static inline void
MakeStashes(Owned *owned, uint16_t stashes)
{
	owned->filter.stashes = stashes;
	CuckooWriteHeader(&owned->filter, owned->bytes);
}

/* Put a key into a stash, as adding it to a crowded filter does; false: full. */
static inline bool
PutInStash(Owned *owned, int table, uint64_t hash)
{
	CuckooTable *stash = &owned->filter.tables[table];

	Require(CuckooIsStash(&owned->filter, table));
	if (CuckooTableContains(stash, hash))
		return true;
	if (CuckooTableInsert(stash, hash, CUCKOO_MAX_KICKS) != CUCKOO_INSERTED)
		return false;
	owned->filter.items++;
	return true;
}

static inline void
FreeFilter(Owned *owned)
{
	free(owned->bytes);
	owned->bytes = NULL;
}

static inline CuckooInsertResult AddKey(Owned *owned, uint64_t hash);

/* Let a filter grow by a table; a list, into one. */
static inline CuckooGrowth
GrowFilter(Owned *owned)
{
	Owned		smaller = *owned;
	CuckooFilter grown;
	CuckooGrowth growth = CuckooPlanGrowth(&owned->filter, &grown);

	if (growth != CUCKOO_GROWTH_PLANNED)
		return growth;
	owned->filter = grown;
	owned->room = CuckooBytes(&grown);
	owned->bytes = Allocate(owned->room);
	CuckooGrow(&smaller.filter, &owned->filter, owned->bytes, NULL);
	if (smaller.filter.body == CUCKOO_LIST)
	{
		for (uint64_t i = 0; i < smaller.filter.items; i++)
			AddKey(owned, CuckooListGet(&smaller.filter, i));
	}
	free(smaller.bytes);
	return growth;
}

/* Add one copy of a key, growing where that takes it. */
static inline CuckooInsertResult
AddKey(Owned *owned, uint64_t hash)
{
	CuckooInsertResult result = CuckooFilterAdd(&owned->filter, hash);

	while (result == CUCKOO_FULL)
	{
		Require(GrowFilter(owned) == CUCKOO_GROWTH_PLANNED);
		result = CuckooFilterAdd(&owned->filter, hash);
	}
	return result;
}

/* Add keys first up to, but not including, last of a stream. */
static inline void
AddKeys(Owned *owned, uint64_t stream, uint64_t first, uint64_t last)
{
	for (uint64_t i = first; i < last; i++)
		AddKey(owned, KeyHash(stream, i));
}

/* The bytes as they would be stored now. */
static inline size_t
StoredBytes(Owned *owned)
{
	CuckooWriteHeader(&owned->filter, owned->bytes);
	return CuckooBytes(&owned->filter);
}

/* What the validator says of a filter's bytes, in a copy of just that size. */
static inline CuckooProblem
ProblemOf(Owned *owned)
{
	size_t		length = StoredBytes(owned);
	uint8_t    *copy = Duplicate(owned->bytes, length);
	CuckooVerdict verdict = CuckooValidate(copy, length, NULL);

	free(copy);
	return verdict.problem;
}

static inline bool
SameBytes(Owned *a, Owned *b)
{
	size_t		length = StoredBytes(a);

	return length == StoredBytes(b) && memcmp(a->bytes, b->bytes, length) == 0;
}

/* Keys of a stream, from first up to last, that a filter does not find. */
static inline uint64_t
CountMissing(const CuckooFilter *filter, uint64_t stream, uint64_t first,
			 uint64_t last)
{
	uint64_t	missing = 0;

	for (uint64_t i = first; i < last; i++)
		missing += !CuckooFilterContains(filter, KeyHash(stream, i));
	return missing;
}

static inline uint64_t
CountFound(const CuckooFilter *filter, uint64_t stream, uint64_t first,
		   uint64_t last)
{
	return last - first - CountMissing(filter, stream, first, last);
}

#endif							/* CUCKOO_TEST_SUPPORT_H */
