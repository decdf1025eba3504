/*-------------------------------------------------------------------------
 *
 * support.h
 *	  Shared by the unit tests of the core: memory, hashes, tables and filters,
 *	  and a few checks.
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
/* What is used of cmocka.  A failure ends the program. */
#define fail_msg(...) \
	do { \
		printf("%s:%d: ", __FILE__, __LINE__); \
		printf(__VA_ARGS__); \
		printf("\n"); \
		fflush(stdout); \
		abort(); \
	} while (0)
#define assert_true(condition) \
	do { \
		if (!(condition)) \
			fail_msg("%s does not hold", #condition); \
	} while (0)
#define assert_int_equal(found, wanted) assert_true((found) == (wanted))
#define assert_memory_equal(found, wanted, bytes) \
	assert_true(memcmp(found, wanted, (size_t) (bytes)) == 0)
#else
#include <cmocka.h>
#endif

#include "combine.h"
#include "filter.h"
#include "format.h"
#include "hash.h"
#include "list.h"
#include "overlap.h"
#include "table.h"

#define lengthof(array) (sizeof(array) / sizeof((array)[0]))

/* ---------------------------------------------------------------- memory */

/* Areas that are not free; those of a test itself are freed when it ends. */
static struct Area
{
	void	   *memory;
	bool		kept;
}		   *areas;
static size_t area_count;
static size_t area_room;

/* How many areas of at least so many bytes the core allocated. */
static size_t large_area = SIZE_MAX;
static int	large_areas;

/* How often it checked for interrupts. */
static int	interrupt_checks;

static inline void *
NewArea(size_t bytes, int content, bool kept)
{
	void	   *p = content == 0 ? calloc(1, bytes + (bytes == 0)) : malloc(bytes + (bytes == 0));

	if (area_count == area_room)
	{
		area_room = 2 * area_room + 64;
		areas = realloc(areas, area_room * sizeof(*areas));
	}
	assert_true(p != NULL && areas != NULL);
	if (content != 0)
		memset(p, content, bytes);
	areas[area_count].memory = p;
	areas[area_count++].kept = kept;
	return p;
}

static inline struct Area *
AreaOf(const void *memory)
{
	size_t		i = area_count;

	do
		assert_true(i > 0);		/* otherwise it was not allocated */
	while (areas[--i].memory != memory);
	return &areas[i];
}

/* What port.h asks for.  The core must not rely on zeros. */
void *
palloc(size_t bytes)
{
	large_areas += bytes >= large_area;
	return NewArea(bytes, 0xA5, false);
}

void
pfree(void *memory)
{
	*AreaOf(memory) = areas[area_count - 1];
	area_count--;
	free(memory);
}

void
CheckForInterrupts(void)
{
	interrupt_checks++;
}

/* Memory of a test, all zero, which pfree() may free before the test ends. */
static inline void *
Allocate(size_t bytes)
{
	return NewArea(bytes, 0, true);
}

static inline void *
Duplicate(const void *from, size_t bytes)
{
	void	   *p = Allocate(bytes);

	if (bytes > 0)
		memcpy(p, from, bytes);
	return p;
}

/* Free all memory of the test.  The core must have freed its own. */
static inline void
FreeAll(void)
{
	bool		leaked = false;

	while (area_count > 0)
	{
		leaked |= !areas[--area_count].kept;
		free(areas[area_count].memory);
	}
	assert_true(!leaked);
}

#ifndef SUPPORT_PORTABLE
/* Free what a test that failed left. */
static int
FreeRest(void **state)
{
	(void) state;
	for (; area_count > 0; area_count--)
		free(areas[area_count - 1].memory);
	return 0;
}

/* The tests of a program, in their order; cmocka skips the entries left over. */
static struct CMUnitTest tests[64];
static int	test_count;

/*
 * A test has its own random numbers.  It frees what it allocated when it ends,
 * and must not leak.
 */
#define TEST(name) \
	static void name##_body(void); \
	static void \
	name(void **state) \
	{ \
		(void) state; \
		random_state = 1; \
		name##_body(); \
		FreeAll(); \
	} \
	__attribute__((constructor)) static void \
	name##_entry(void) \
	{ \
		tests[test_count++] = (struct CMUnitTest) cmocka_unit_test_teardown(name, FreeRest); \
	} \
	static void name##_body(void)

int
main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif

static inline bool
AllAre(const uint8_t *bytes, size_t count, uint8_t value)
{
	for (size_t i = 0; i < count; i++)
	{
		if (bytes[i] != value)
			return false;
	}
	return true;
}

/* Write a number of so many bits, the lowest first. */
static inline void
SetBits(uint8_t *bytes, uint64_t position, int width, uint64_t value)
{
	for (int i = 0; i < width; i++, position++)
	{
		uint8_t		bit = (uint8_t) (1 << (position & 7));

		if (value >> i & 1)
			bytes[position >> 3] |= bit;
		else
			bytes[position >> 3] &= (uint8_t) ~bit;
	}
}

/* ---------------------------------------------------------------- chance */

/* Chance decides what is done, or a fuzzer, until its bytes are used up. */
static uint64_t random_state = 1;
static const uint8_t *choices;
static size_t choices_left;

/*
 * The tests' own generator (xorshift64*), which is independent of the code
 * they test.
 */
static inline uint64_t
NextRandom(void)
{
	if (random_state == 0)
		random_state = 1;
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return random_state * UINT64_C(0x2545F4914F6CDD1D);
}

/* Evenly from 0 up to, but not including, the bound. */
static inline uint32_t
Below(uint32_t bound)
{
	uint32_t	number = 0;

	if (choices == NULL)
		return (uint32_t) ((NextRandom() >> 32) * bound >> 32);
	for (uint32_t most = bound - 1; most > 0 && choices_left > 0; most >>= 8)
	{
		number = number << 8 | *choices++;
		choices_left--;
	}
	return number % bound;
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

/* Sort numbers as the C library does. */
static inline int
CompareNumbers(const void *a, const void *b)
{
	uint64_t	left = *(const uint64_t *) a;
	uint64_t	right = *(const uint64_t *) b;

	return left < right ? -1 : left > right;
}

static inline void
SortNumbers(uint64_t *numbers, uint64_t count)
{
	if (count > 0)
		qsort(numbers, (size_t) count, sizeof(uint64_t), CompareNumbers);
}

/* The place of the first of sorted numbers that is not less than this one. */
static inline uint64_t
LowerBound(const uint64_t *sorted, uint64_t count, uint64_t number)
{
	uint64_t	from = 0;

	while (from < count)
	{
		uint64_t	middle = from + (count - from) / 2;

		if (sorted[middle] < number)
			from = middle + 1;
		else
			count = middle;
	}
	return from;
}

/* How many of these sorted codes are that one. */
static inline int
CountIn(const uint64_t *codes, uint64_t count, uint64_t code)
{
	return (int) (LowerBound(codes, count, code + 1) - LowerBound(codes, count, code));
}

/* The whole part of count * hash / 2^(64 - bits), for up to 32 bits */
static inline uint64_t
ScaledHash(uint64_t count, uint64_t hash, int bits)
{
	return ((hash >> 32) * count + ((hash & UINT32_MAX) * count >> 32)) >> (32 - bits);
}

/* Keys first up to, but not including, last of a stream. */
static inline uint64_t *
HashesOf(uint64_t stream, uint64_t first, uint64_t last)
{
	uint64_t   *hashes = Allocate((size_t) (last - first) * sizeof(uint64_t));

	for (uint64_t i = first; i < last; i++)
		hashes[i - first] = KeyHash(stream, i);
	return hashes;
}

/* The first count keys of a stream, ascending. */
static inline uint64_t *
SortedHashes(uint64_t stream, size_t count)
{
	uint64_t   *hashes = HashesOf(stream, 0, count);

	SortNumbers(hashes, count);
	return hashes;
}

/* The first hash of the class with that code. */
static inline uint64_t
HashOfCode(const CuckooShape *shape, uint64_t code)
{
	uint64_t	pairs = shape->pairs;
	uint64_t	fingerprints = shape->fingerprints;
	uint64_t	fingerprint = code & fingerprints;
	uint64_t	scaled = (code >> shape->bits) << 32 |
		(((fingerprint - 1) << 32) + fingerprints - 1) / fingerprints;

	return (scaled / pairs << 32) + ((scaled % pairs << 32) + pairs - 1) / pairs;
}

/* The last hash of the class with that code. */
static inline uint64_t
LastHashOfCode(const CuckooShape *shape, uint64_t code)
{
	code += 1 + (((code + 1) & shape->fingerprints) == 0);
	return HashOfCode(shape, code) - 1;
}

/* ---------------------------------------------------------------- tables */

/* The size in bytes of a sparse table with this number of items. */
static inline uint64_t
SparseBytes(const CuckooShape *shape, uint64_t items)
{
	CuckooSparse sparse;

	CuckooSparseInit(&sparse, shape, items);
	return CuckooSparseStoredBytes(&sparse);
}

/*
 * A table in memory of exactly its size, with garbage in it and after it, as
 * the next table would be.
 */
static inline CuckooTable
NewTable(const CuckooShape *shape, CuckooRepresentation representation, uint64_t items)
{
	CuckooTable table;
	size_t		bytes;

	CuckooTableInit(&table, shape, representation, items);
	bytes = (size_t) CuckooTableStoredBytes(&table) + CUCKOO_TAIL_BYTES;
	CuckooTableSetData(&table, NewArea(bytes, 0xC3, true));
	return table;
}

/* Whether nothing was written after it. */
static inline bool
TailIsKept(const CuckooTable *table)
{
	return AllAre(table->data + CuckooTableStoredBytes(table), CUCKOO_TAIL_BYTES, 0xC3);
}

/* A table built from sorted codes; NULL data if they find no room in it. */
static inline CuckooTable
BuildTable(const CuckooShape *shape, CuckooRepresentation representation, const uint64_t *codes,
		   uint64_t count, uint64_t seed)
{
	CuckooTable table = NewTable(shape, representation, count);
	CuckooList	run = {.numbers = (uint64_t *) codes, .count = count};
	CuckooPart	part = CuckooPartOf(shape, &run);
	bool		built = CuckooTableBuild(&table, &part, seed);

	assert_true(TailIsKept(&table));
	if (!built)
	{
		pfree(table.data);
		CuckooTableSetData(&table, NULL);
	}
	return table;
}

static inline bool
SameTable(const CuckooTable *a, const CuckooTable *b)
{
	return CuckooTableStoredBytes(a) == CuckooTableStoredBytes(b) &&
		memcmp(a->data, b->data, (size_t) CuckooTableStoredBytes(a)) == 0;
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

/* The bytes of a filter, as CuckooMakeFilter returned them; kept, if valid. */
typedef struct Value
{
	uint8_t    *bytes;
	size_t		length;
} Value;

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

/* Whether the validator accepts a value, in a copy of exactly its size. */
static inline bool
IsValid(const Value *value)
{
	uint8_t    *copy = Duplicate(value->bytes, value->length);
	CuckooVerdict verdict;
	bool		valid = CuckooValidate(copy, value->length, &verdict);

	pfree(copy);
	return valid;
}

static inline Value
Valid(uint8_t *bytes, const CuckooFilter *filter)
{
	Value		value;

	assert_true(bytes != NULL);
	value.bytes = bytes;
	value.length = CuckooBytes(filter);
	assert_true(IsValid(&value));
	assert_int_equal(filter->header.items, Open(&value).header.items);
	AreaOf(bytes - VARHDRSZ)->kept = true;
	return value;
}

static inline Value
CopyValue(const uint8_t *bytes, size_t length)
{
	Value		copy;

	/* As the core would allocate it, so that it is freed the same way. */
	copy.bytes = (uint8_t *) Allocate(VARHDRSZ + length) + VARHDRSZ;
	copy.length = length;
	memcpy(copy.bytes, bytes, length);
	return copy;
}

/* The filter over sorted distinct hashes, as an aggregate makes it. */
static inline Value
ValueOfHashes(const uint64_t *hashes, uint64_t count, double fpr, uint64_t capacity)
{
	CuckooList	run = {.numbers = (uint64_t *) hashes, .count = count};
	CuckooFilter filter;

	CuckooFilterInit(&filter, fpr, capacity, 0);
	filter.header.kind.type = CUCKOO_KEY_INTEGER;
	return Valid(CuckooMakeFromHashes(&filter, &run, 1), &filter);
}

/* The filter over keys first up to, but not including, last of a stream. */
static inline Value
ValueOfKeys(uint64_t stream, uint64_t first, uint64_t last, double fpr, uint64_t capacity)
{
	uint64_t   *hashes = HashesOf(stream, first, last);
	Value		value;

	SortNumbers(hashes, last - first);
	value = ValueOfHashes(hashes, last - first, fpr, capacity);
	pfree(hashes);
	return value;
}

/* A filter of one table with these sorted codes. */
static inline Value
ValueOfCodes(const CuckooShape *shape, const uint64_t *codes, uint64_t count, double fpr,
			 uint64_t capacity)
{
	CuckooList	run = {.numbers = (uint64_t *) codes, .count = count};
	CuckooFilter filter;
	CuckooPart	part = CuckooPartOf(shape, &run);

	CuckooFilterInit(&filter, fpr, capacity, 0);
	filter.header.kind.type = CUCKOO_KEY_INTEGER;
	return Valid(CuckooMakeFilter(&filter, &part, 1), &filter);
}

/* The value of a draft. */
static inline Value
Finish(CuckooDraft *draft)
{
	return Valid(CuckooDraftMake(draft), &draft->filter);
}

/* Add or remove one key in a draft. */
static inline CuckooOutcome
ApplyHash(CuckooDraft *draft, CuckooAction action, uint64_t hash)
{
	size_t		changed;
	CuckooOutcome outcome = CuckooDraftApply(draft, &hash, 1, action, &changed);

	assert_true(changed == (outcome == CUCKOO_CHANGED) || outcome == CUCKOO_TOO_LARGE);
	return outcome;
}

/* Add or remove one key, as a function on a stored value does. */
static inline CuckooOutcome
ChangeValue(Value *value, CuckooAction action, uint64_t hash)
{
	CuckooDraft draft;
	CuckooOutcome outcome;

	CuckooDraftOpen(&draft, value->bytes, value->length);
	outcome = ApplyHash(&draft, action, hash);
	*value = Finish(&draft);
	return outcome;
}

#define AddHash(value, hash) ChangeValue(value, CUCKOO_ADD, hash)
#define RemoveHash(value, hash) ChangeValue(value, CUCKOO_REMOVE, hash)

/* Add keys first up to last of a stream, or remove them, together. */
static inline void
ChangeKeys(Value *value, CuckooAction action, uint64_t stream, uint64_t first, uint64_t last)
{
	size_t		count = (size_t) (last - first);
	uint64_t   *hashes = HashesOf(stream, first, last);
	size_t		changed;
	CuckooDraft draft;

	CuckooDraftOpen(&draft, value->bytes, value->length);
	CuckooDraftApply(&draft, hashes, count, action, &changed);
	assert_true(changed == count);
	*value = Finish(&draft);
	pfree(hashes);
}

#define AddKeys(value, stream, first, last) \
	ChangeKeys(value, CUCKOO_ADD, stream, first, last)
#define RemoveKeys(value, stream, first, last) \
	ChangeKeys(value, CUCKOO_REMOVE, stream, first, last)

/* The union, or union all, of filters that can be combined. */
static inline Value
Combine(CuckooOperation operation, const Value *values, int count)
{
	CuckooCombination combination;
	CuckooFilter filter;
	Value		value;

	CuckooCombinationInit(&combination, operation);
	for (int i = 0; i < count; i++)
	{
		CuckooFilter part = Open(&values[i]);

		assert_true(CuckooCombinationAdd(&combination, &part) == CUCKOO_NO_CONFLICT);
	}
	value = Valid(CuckooCombinationMake(&combination, &filter), &filter);
	CuckooCombinationRelease(&combination);
	return value;
}

static inline Value
CombineTwo(CuckooOperation operation, const Value *left, const Value *right)
{
	Value		two[2] = {*left, *right};

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
					table->items);
	if (table->representation == CUCKOO_SPARSE)
	{
		uint64_t	code = CuckooCodeOf(&table->shape, hash);
		uint64_t	section_at = CuckooSparseSectionAt(&nowhere.sparse, code);
		uint8_t    *section = Duplicate(table->data + section_at, CUCKOO_SECTION_BYTES + 4);
		uint64_t	bytes;
		uint64_t	at = CuckooSparseGroupAt(&nowhere.sparse, code, section, &bytes);
		uint8_t    *group = Allocate((size_t) bytes + 8);
		int			copies;

		assert_true(at + bytes <= SparseBytes(&table->shape, table->items));
		memcpy(group, table->data + at, (size_t) bytes);
		memset(group + bytes, garbage, 8);
		copies = CuckooSparseGroupCount(&nowhere.sparse, code, section, group);
		pfree(group);
		pfree(section);
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
			uint64_t	at = CuckooBucketOffset(&nowhere.dense.packing, bucket);
			uint64_t	left = CuckooDenseBytes(&table->shape) - at;

			memset(span, garbage, CUCKOO_SPAN_BYTES);
			memcpy(span, table->data + at,
				   (size_t) (left < CUCKOO_SPAN_BYTES ? left : CUCKOO_SPAN_BYTES));
			copies += CuckooBucketCount(&nowhere.dense.packing, bucket, span, place.fingerprint);
			pfree(span);
		}
		return copies;
	}
}

/* Lookups, counts and slices of a hash agree. */
static inline void
CheckLookup(const CuckooTable *table, uint64_t hash, int copies)
{
	int			counted = CuckooTableCount(table, hash);
	bool		contained = CuckooTableContains(table, hash);
	int			sliced = SlicedCount(table, hash, 0xFF);
	int			again = SlicedCount(table, hash, 0);

	if (counted != copies || contained != (copies > 0) || sliced != copies || again != copies)
		fail_msg("f %d, %llu items, hash %016llx: %d copies, contained %d, sliced %d, %d, not %d",
				 table->shape.bits, (unsigned long long) table->items, (unsigned long long) hash,
				 counted, contained, sliced, again, copies);
}

/*
 * Check that a table holds exactly these sorted codes, has their only form if
 * it is sparse, and finds by so many lookups what it holds: of all codes, of
 * those near its own, and near the end, where a read has the fewest bytes left.
 */
static inline void
CheckTable(const CuckooTable *table, const uint64_t *codes, uint64_t count, int lookups)
{
	uint64_t	end = CuckooShapeCodes(&table->shape);
	uint64_t   *read = CuckooTableCodes(table).numbers;

	assert_int_equal(table->items, count);
	assert_memory_equal(read, codes, count * sizeof(uint64_t));
	if (table->representation == CUCKOO_SPARSE)
	{
		CuckooTable again = BuildTable(&table->shape, CUCKOO_SPARSE, codes, count, 0);

		assert_true(SameTable(table, &again));
		pfree(again.data);
	}
	pfree(read);
	for (int i = 0; i < lookups; i++)
	{
		uint64_t	code = i % 5 == 0 || count == 0 ? NextRandom() % end :
			codes[NextRandom() % count] + (uint64_t) (i % 5) - 2;

		if (i % 5 == 4)
			code = end - 1 - (NextRandom() % end >> Below(64));
		if (code < end && (code & table->shape.fingerprints) != 0)
			CheckLookup(table, i % 2 == 0 ? HashOfCode(&table->shape, code) :
						LastHashOfCode(&table->shape, code), CountIn(codes, count, code));
	}
}

#endif							/* CUCKOO_TEST_SUPPORT_H */
