/*-------------------------------------------------------------------------
 *
 * support.h
 *	  Shared by the unit tests of the core: hashes, tables and filters that own
 *	  their memory, and a few checks.
 *
 * Memory is allocated with its exact size, so that AddressSanitizer notices a
 * read or write outside of it.  Programs that run without cmocka define
 * SUPPORT_PORTABLE first.
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

#include "combine.h"
#include "filter.h"
#include "format.h"
#include "hash.h"
#include "list.h"
#include "table.h"

#define lengthof(array) (sizeof(array) / sizeof((array)[0]))

#ifdef SUPPORT_PORTABLE
/* Replacements for cmocka: checks are counted, and failures printed. */
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

/* Memory that ASan guards at both ends.  Tests cannot go on without it. */
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
 * The tests' own generator (xorshift64*), which is independent of the code
 * they test.
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
	return CuckooHash(bytes, sizeof(bytes), stream, CUCKOO_KEY_INTEGER);
}

/* The first count keys of a stream, ascending. */
static inline uint64_t *
SortedHashes(uint64_t stream, size_t count)
{
	uint64_t   *hashes = Allocate(count * sizeof(uint64_t));
	uint64_t   *scratch = Allocate(count * sizeof(uint64_t));

	for (size_t i = 0; i < count; i++)
		hashes[i] = KeyHash(stream, i);
	CuckooSort(hashes, scratch, count);
	free(scratch);
	return hashes;
}

/* A hash of the class with that code. */
static inline uint64_t
HashOfCode(const CuckooShape *shape, uint64_t code)
{
	uint64_t	pairs = CuckooShapePairs(shape);
	uint64_t	fingerprints = CuckooShapeFingerprints(shape);
	uint64_t	fingerprint = code & fingerprints;
	uint64_t	scaled = (code >> shape->bits) << 32 |
		(((fingerprint - 1) << 32) + fingerprints - 1) / fingerprints;

	return (scaled / pairs << 32) + ((scaled % pairs << 32) + pairs - 1) / pairs;
}

/* ------------------------------------------------- what port.h asks for */

/*
 * The number of areas of memory that the core has not freed, and of its checks
 * for interrupts.
 */
static int	areas_in_use;
static int	pauses;

/* How many areas of at least so many bytes were allocated. */
static size_t large_area = SIZE_MAX;
static int	large_areas;

/* Memory is garbage at first: the core must not rely on zeros. */
void *
palloc(size_t bytes)
{
	void	   *p = malloc(bytes > 0 ? bytes : 1);

	Require(p != NULL);
	memset(p, 0xA5, bytes);
	areas_in_use++;
	large_areas += bytes >= large_area;
	return p;
}

void
pfree(void *memory)
{
	free(memory);
	areas_in_use--;
}

void
CheckForInterrupts(void)
{
	pauses++;
}

/* ---------------------------------------------------------------- tables */

static inline CuckooShape
ShapeOf(uint32_t blocks, uint32_t buckets, int bits)
{
	CuckooShape shape;

	shape.blocks = blocks;
	shape.buckets = buckets;
	shape.bits = (uint8_t) bits;
	return shape;
}

/*
 * An empty dense table in memory of its own: exactly the buckets and the tail.
 */
static inline CuckooDense
NewDense(const CuckooShape *shape)
{
	CuckooDense dense;

	CuckooDenseInit(&dense, shape,
					Allocate((size_t) CuckooDenseBytes(shape) + CUCKOO_TAIL_BYTES));
	return dense;
}

/* The size in bytes of a sparse table with this number of items. */
static inline uint64_t
CuckooSparseBytes(const CuckooShape *shape, uint64_t items)
{
	CuckooSparse sparse;

	CuckooSparseInit(&sparse, shape, items, NULL);
	return CuckooSparseStoredBytes(&sparse);
}

/* Whether a sparse table has the bytes that encoding its codes again gives. */
static inline bool
IsEncoded(const CuckooTable *table, const uint64_t *codes, uint64_t count)
{
	size_t		bytes = (size_t) CuckooSparseBytes(&table->shape, count);
	uint8_t    *form = Allocate(bytes + CUCKOO_TAIL_BYTES);
	CuckooRun	run = {codes, count};
	CuckooSource source = {&run, 1, false, NULL, NULL};
	CuckooSparse sparse;
	bool		same;

	CuckooSparseInit(&sparse, &table->shape, count, form);
	CuckooSparseBuild(&sparse, &source);
	same = memcmp(form, table->data, bytes) == 0;
	free(form);
	return same;
}

/*
 * The standard deviation of the fraction of absent keys reported as present,
 * over samples and over the keys in the table: fingerprints that coincide
 * cover fewer of the possible ones.
 */
static inline double
RateSigma(const CuckooShape *shape, uint64_t items, double samples)
{
	double		rate = CuckooShapeRate(shape, items);
	double		places = (double) CuckooShapeBuckets(shape) *
		(ldexp(1.0, shape->bits) - 1);
	double		together = 2.0 * (double) items * (double) items / places;

	return sqrt(rate * (1 - rate) / samples + 4 * together / (places * places));
}

/* --------------------------------------------------------------- filters */

/* The bytes of a filter, as CuckooMakeFilter returned them. */
typedef struct Value
{
	uint8_t    *bytes;
	size_t		length;
} Value;

static inline void
FreeValue(Value *value)
{
	CuckooFreeFilter(value->bytes);
	value->bytes = NULL;
}

static inline CuckooFilter
Open(const Value *value)
{
	CuckooFilter filter;

	CuckooOpen(&filter, value->bytes, value->length);
	return filter;
}

static inline bool
SameBytes(const Value *a, const Value *b)
{
	return a->length == b->length && memcmp(a->bytes, b->bytes, a->length) == 0;
}

/* The validator's verdict on a value, in a copy of exactly its size. */
static inline CuckooProblem
ProblemOf(const Value *value)
{
	uint8_t    *copy = Duplicate(value->bytes, value->length);
	CuckooVerdict verdict = CuckooValidate(copy, value->length);

	free(copy);
	return verdict.problem;
}

static inline Value
Valid(uint8_t *bytes, const CuckooFilter *filter)
{
	Value		value;

	Require(bytes != NULL);
	value.bytes = bytes;
	value.length = CuckooBytes(filter);
	Require(ProblemOf(&value) == CUCKOO_VALID);
	return value;
}

/* The filter over sorted distinct hashes, as an aggregate makes it. */
static inline Value
ValueOfHashes(const uint64_t *hashes, uint64_t count, double fpr, uint64_t capacity)
{
	CuckooFilter filter;
	CuckooRun	run;
	uint8_t    *bytes;

	run.numbers = hashes;
	run.count = count;
	CuckooFilterInit(&filter, fpr, capacity, 0);
	filter.key_type = CUCKOO_KEY_INTEGER;
	bytes = CuckooMakeFromHashes(&filter, &run, 1);
	return Valid(bytes, &filter);
}

/* The filter over keys first up to, but not including, last of a stream. */
static inline Value
ValueOfKeys(uint64_t stream, uint64_t first, uint64_t last, double fpr, uint64_t capacity)
{
	size_t		count = (size_t) (last - first);
	uint64_t   *hashes = Allocate(2 * count * sizeof(uint64_t));
	Value		value;

	for (size_t i = 0; i < count; i++)
		hashes[i] = KeyHash(stream, first + i);
	CuckooSort(hashes, hashes + count, count);
	value = ValueOfHashes(hashes, count, fpr, capacity);
	free(hashes);
	return value;
}

/* A filter of one table with these sorted codes. */
static inline Value
ValueOfCodes(const CuckooShape *shape, const uint64_t *codes, uint64_t count, double fpr,
			 uint64_t capacity)
{
	CuckooRun	run = {codes, count};
	CuckooFilter filter;
	CuckooPart	part;
	uint8_t    *bytes;

	memset(&part, 0, sizeof(part));
	part.shape = *shape;
	part.items = count;
	part.representation = CuckooRepresentationFor(shape, count);
	part.source.runs = &run;
	part.source.run_count = 1;
	CuckooFilterInit(&filter, fpr, capacity, 0);
	filter.key_type = CUCKOO_KEY_INTEGER;
	bytes = CuckooMakeFilter(&filter, &part, 1);
	return Valid(bytes, &filter);
}

/* Add or remove one key in a draft. */
static inline CuckooChange
ApplyHash(CuckooDraft *draft, CuckooEdit edit, uint64_t hash)
{
	size_t		changed;
	CuckooChange change = CuckooDraftApply(draft, &hash, 1, edit, &changed);

	Require(changed == (change == CUCKOO_CHANGED) || change == CUCKOO_TOO_LARGE);
	return change;
}

/* Add or remove one key, as a function on a stored value does. */
static inline CuckooChange
ChangeValue(Value *value, bool remove, uint64_t hash)
{
	uint8_t    *before = Duplicate(value->bytes, value->length);
	CuckooDraft draft;
	CuckooChange change;
	Value		after;

	CuckooDraftOpen(&draft, value->bytes, value->length, false);
	change = ApplyHash(&draft, remove ? CUCKOO_REMOVE : CUCKOO_ADD, hash);
	after.bytes = CuckooDraftFinish(&draft);
	after = Valid(after.bytes, &draft.filter);
	Require(memcmp(before, value->bytes, value->length) == 0);
	free(before);
	FreeValue(value);
	*value = after;
	return change;
}

static inline CuckooChange
AddHash(Value *value, uint64_t hash)
{
	return ChangeValue(value, false, hash);
}

static inline CuckooChange
RemoveHash(Value *value, uint64_t hash)
{
	return ChangeValue(value, true, hash);
}

/* Add keys first up to last of a stream, or remove them, together. */
static inline void
ChangeKeys(Value *value, bool remove, uint64_t stream, uint64_t first, uint64_t last)
{
	size_t		count = (size_t) (last - first);
	uint64_t   *hashes = Allocate(count * sizeof(uint64_t));
	size_t		changed;
	CuckooDraft draft;
	uint8_t    *bytes;

	for (size_t i = 0; i < count; i++)
		hashes[i] = KeyHash(stream, first + i);
	CuckooDraftOpen(&draft, value->bytes, value->length, true);
	CuckooDraftApply(&draft, hashes, count, remove ? CUCKOO_REMOVE : CUCKOO_ADD, &changed);
	Require(changed == count);
	bytes = CuckooDraftFinish(&draft);
	*value = Valid(bytes, &draft.filter);
	free(hashes);
}

static inline void
AddKeys(Value *value, uint64_t stream, uint64_t first, uint64_t last)
{
	ChangeKeys(value, false, stream, first, last);
}

static inline void
RemoveKeys(Value *value, uint64_t stream, uint64_t first, uint64_t last)
{
	ChangeKeys(value, true, stream, first, last);
}

/* Whether two filters can be combined: of one seed and key type, few shapes. */
static inline bool
Combinable(const Value *left, const Value *right)
{
	CuckooCombination combination;
	CuckooFilter filters[2];
	bool		combinable;

	filters[0] = Open(left);
	filters[1] = Open(right);
	CuckooCombinationInit(&combination, CUCKOO_UNION);
	combinable = CuckooCombinationAdd(&combination, &filters[0]) == CUCKOO_NO_CONFLICT &&
		CuckooCombinationAdd(&combination, &filters[1]) == CUCKOO_NO_CONFLICT;
	CuckooCombinationRelease(&combination);
	return combinable;
}

/* The union, or union all, of filters that can be combined. */
static inline Value
Combine(CuckooOperation operation, const Value *values, int count)
{
	CuckooCombination combination;
	CuckooFilter filter;
	uint8_t    *bytes;

	CuckooCombinationInit(&combination, operation);
	for (int i = 0; i < count; i++)
	{
		CuckooFilter part = Open(&values[i]);

		Require(CuckooCombinationAdd(&combination, &part) == CUCKOO_NO_CONFLICT);
	}
	bytes = CuckooCombinationMake(&combination, &filter);
	CuckooCombinationRelease(&combination);
	return Valid(bytes, &filter);
}

static inline Value
CombineTwo(CuckooOperation operation, const Value *left, const Value *right)
{
	Value		two[2];

	two[0] = *left;
	two[1] = *right;
	return Combine(operation, two, 2);
}

/* Keys of a stream, from first up to last, that a filter finds. */
static inline uint64_t
CountFound(const Value *value, uint64_t stream, uint64_t first, uint64_t last)
{
	CuckooFilter filter = Open(value);
	uint64_t	found = 0;

	for (uint64_t i = first; i < last; i++)
		found += CuckooFilterContains(&filter, KeyHash(stream, i));
	return found;
}

/*
 * The copies of a hash in a table, from two slices of it, as a reader of
 * stored filters takes them.  The slices have memory of exactly their size,
 * with garbage in the place of the value's next bytes.
 */
static inline int
SlicedCount(const CuckooTable *table, uint64_t hash, uint8_t garbage)
{
	CuckooTable nowhere;

	/* Only the directory's entry is known. */
	CuckooTableInit(&nowhere, &table->shape, (CuckooRepresentation) table->representation,
					table->items, NULL);
	if (table->representation == CUCKOO_SPARSE)
	{
		uint64_t	code = CuckooCodeOf(&table->shape, hash);
		uint64_t	section_at = CuckooSparseSectionAt(&nowhere.sparse, code);
		uint8_t    *section = Duplicate(table->data + section_at, CUCKOO_SECTION_BYTES + 4);
		uint64_t	bytes;
		uint64_t	at = CuckooSparseGroupAt(&nowhere.sparse, code, section, &bytes);
		uint8_t    *group = Allocate((size_t) bytes + 8);
		int			copies;

		Require(at + bytes <= CuckooSparseBytes(&table->shape, table->items));
		memcpy(group, table->data + at, (size_t) bytes);
		memset(group + bytes, garbage, 8);
		copies = CuckooSparseGroupCount(&nowhere.sparse, code, section, group);
		free(group);
		free(section);
		return copies;
	}
	else
	{
		CuckooPlace place = CuckooPlaceOf(&table->shape, hash);
		int			copies = 0;

		for (int i = 0; i < 2; i++)
		{
			uint64_t	bucket = place.base + (i == 0 ? place.i1 : place.i2);
			uint8_t    *span = Allocate(CUCKOO_SPAN_BYTES);
			int			bytes;
			uint64_t	at = CuckooBucketSpan(&nowhere.dense, bucket, &bytes);

			Require(bytes >= 1 && bytes <= CUCKOO_SPAN_BYTES &&
					at + (uint64_t) bytes <= CuckooDenseBytes(&table->shape));
			memset(span, garbage, CUCKOO_SPAN_BYTES);
			memcpy(span, table->data + at, (size_t) bytes);
			copies += CuckooBucketCount(&nowhere.dense, bucket, span, place.fingerprint);
			free(span);
		}
		return copies;
	}
}

#endif							/* CUCKOO_TEST_SUPPORT_H */
