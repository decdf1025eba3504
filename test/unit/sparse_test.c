/*-------------------------------------------------------------------------
 *
 * sparse_test.c
 *	  A sparse table: each multiset has one form, which is written, read,
 *	  changed and checked.
 *
 * Tables have memory of exactly their bytes and eight more that may be read.
 * These hold garbage, as the next table would.
 *
 *-------------------------------------------------------------------------
 */
#include "support.h"

/* -------------------------------------------------------------- multisets */

typedef enum Spread
{
	EVEN, ONE_GROUP, ONE_SECTION, ONE_HIGH_PART, FEW_CODES, BOTH_ENDS, LAST_GROUP, SPREADS
} Spread;

static int
CompareCodes(const void *a, const void *b)
{
	uint64_t	left = *(const uint64_t *) a;
	uint64_t	right = *(const uint64_t *) b;

	return left < right ? -1 : left > right;
}

/* Nearly evenly distributed below a bound of up to 64 bits. */
static uint64_t
Below(uint64_t *random, uint64_t bound)
{
	return bound <= UINT32_MAX ? RandomBelow(random, (uint32_t) bound) :
		NextRandom(random) % bound;
}

/*
 * Up to *count sorted codes of a shape, at most eight of them equal.  Sets
 * *count to their number.
 */
static uint64_t *
SomeCodes(uint64_t *random, const CuckooShape *shape, Spread spread, uint64_t *count)
{
	uint64_t	end = CuckooShapeCodes(shape);
	uint64_t   *codes = Allocate((size_t) *count * sizeof(uint64_t));
	uint64_t	group;
	uint64_t	from = 0;
	uint64_t	range = end;
	uint64_t	kept = 0;
	CuckooSparse sparse;

	CuckooSparseInit(&sparse, shape, *count, NULL);
	group = (uint64_t) CUCKOO_GROUP << sparse.low_bits;
	if (spread == ONE_GROUP)
		from = Below(random, sparse.groups) * group;
	else if (spread == ONE_SECTION)
		from = Below(random, sparse.sections) * CUCKOO_SECTION_GROUPS * group;
	else if (spread == ONE_HIGH_PART)
		from = Below(random, sparse.highs) << sparse.low_bits;
	else if (spread == LAST_GROUP)
		from = (sparse.groups - 1) * group;
	else if (spread == FEW_CODES)
		from = Below(random, end);
	if (spread == ONE_GROUP || spread == LAST_GROUP)
		range = group;
	else if (spread == ONE_SECTION)
		range = CUCKOO_SECTION_GROUPS * group;
	else if (spread == ONE_HIGH_PART)
		range = UINT64_C(1) << sparse.low_bits;
	else if (spread == FEW_CODES)
		range = 1 + *count / 3;
	if (range > end - from)
		range = end - from;

	for (uint64_t i = 0; i < *count; i++)
	{
		codes[i] = from + Below(random, range);
		if (spread == BOTH_ENDS)
			codes[i] = i % 2 == 0 ? 1 + i / 16 : end - 1 - i / 16;
		if ((codes[i] & CuckooShapeFingerprints(shape)) == 0)
			codes[i]++;
		if (codes[i] >= end)
			codes[i] = end - 1;
	}
	if (*count > 0)
		qsort(codes, (size_t) *count, sizeof(uint64_t), CompareCodes);
	for (uint64_t i = 0; i < *count; i++)
	{
		if ((kept < CUCKOO_MAX_COPIES || codes[kept - CUCKOO_MAX_COPIES] != codes[i]) &&
			(codes[i] & CuckooShapeFingerprints(shape)) != 0)
			codes[kept++] = codes[i];
	}
	*count = kept;
	return codes;
}

static int
CountIn(const uint64_t *codes, uint64_t count, uint64_t code)
{
	uint64_t	from = 0;
	uint64_t	to = count;
	int			copies = 0;

	while (from < to)
	{
		uint64_t	middle = from + (to - from) / 2;

		if (codes[middle] < code)
			from = middle + 1;
		else
			to = middle;
	}
	for (; from < count && codes[from] == code; from++)
		copies++;
	return copies;
}

/* ----------------------------------------------------------------- tables */

static CuckooSparse
NewSparse(const CuckooShape *shape, uint64_t items, uint8_t garbage)
{
	size_t		bytes = (size_t) CuckooSparseBytes(shape, items);
	CuckooSparse sparse;
	uint8_t    *data = Allocate(bytes + CUCKOO_TAIL_BYTES);

	memset(data, 0xC3, bytes);
	memset(data + bytes, garbage, CUCKOO_TAIL_BYTES);
	CuckooSparseInit(&sparse, shape, items, data);
	return sparse;
}

static CuckooSparse
BuildSparse(const CuckooShape *shape, const uint64_t *codes, uint64_t count,
			uint8_t garbage)
{
	CuckooSparse sparse = NewSparse(shape, count, garbage);
	CuckooRun	run = {codes, count};
	CuckooSource source = {&run, 1, false, NULL, NULL};
	size_t		bytes = (size_t) CuckooSparseBytes(shape, count);

	CuckooSparseBuild(&sparse, &source);
	/* Nothing is written after the table. */
	for (size_t i = 0; i < CUCKOO_TAIL_BYTES; i++)
		assert_int_equal(sparse.index[bytes + i], garbage);
	return sparse;
}

static void
FreeSparse(CuckooSparse *sparse)
{
	free(sparse->index);
}

static bool
SameTable(const CuckooSparse *a, const CuckooSparse *b)
{
	return a->items == b->items &&
		memcmp(a->index, b->index, (size_t) CuckooSparseBytes(&a->shape, a->items)) == 0;
}

static bool
IsSound(const CuckooSparse *sparse)
{
	size_t		bytes = (size_t) CuckooSparseBytes(&sparse->shape, sparse->items);
	uint8_t    *copy = Allocate(bytes + CUCKOO_TAIL_BYTES);
	CuckooSparse read;
	uint64_t	bad;
	bool		sound;

	memcpy(copy, sparse->index, bytes);
	memset(copy + bytes, 0xFF, CUCKOO_TAIL_BYTES);
	CuckooSparseInit(&read, &sparse->shape, sparse->items, copy);
	sound = CuckooSparseCheck(&read, &bad);
	assert_true(bad <= read.groups);
	free(copy);
	return sound;
}

/* ------------------------------------------------ the form, by the book */

static void
PutBit(uint8_t *bits, uint64_t position, uint64_t bit)
{
	if (bit & 1)
		bits[position >> 3] |= (uint8_t) (1 << (position & 7));
}

/* A table written bit by bit, as docs/format.md and sparse.h describe it. */
static uint8_t *
EncodeByTheBook(const CuckooShape *shape, const uint64_t *codes, uint64_t n, size_t *bytes)
{
	uint64_t	end = ((uint64_t) shape->blocks * shape->buckets / 2) << shape->bits;
	uint64_t	highs = end;
	int			l = 0;
	uint64_t	groups;
	size_t		index;
	uint8_t    *table;
	uint8_t    *bits;
	uint64_t	position = 0;
	uint64_t	at = 0;

	while (7 * highs > 8 * (n > 0 ? n : 1))
		highs = ((end - 1) >> ++l) + 1;
	groups = (highs + 15) / 16;
	index = (size_t) (12 * ((groups + 7) / 8));
	*bytes = index + (size_t) ((16 * groups + n * (uint64_t) (1 + l) + 7) / 8);
	table = Allocate(*bytes);
	bits = table + index;
	for (uint64_t group = 0; group < (groups + 7) / 8 * 8; group++)
	{
		uint8_t    *section = table + 12 * (group / 8);
		uint64_t	first = at;

		if (group % 8 == 0)
		{
			assert_true(group >= groups || position == 16 * group + at * (uint64_t) (1 + l));
			CuckooStore32(section, (uint32_t) at);
		}
		for (uint64_t high = 16 * group; group < groups && high < 16 * group + 16; high++)
		{
			for (; at < n && codes[at] >> l == high; at++)
				PutBit(bits, position++, 1);
			position++;
		}
		for (uint64_t i = first; i < at; i++)
		{
			for (int bit = 0; bit < l; bit++)
				PutBit(bits, position++, codes[i] >> bit);
		}
		section[4 + group % 8] = at - CuckooLoad32(section) > 255 ? 255 :
			(uint8_t) (at - CuckooLoad32(section));
	}
	assert_true(at == n && position == 16 * groups + n * (uint64_t) (1 + l));
	return table;
}

/*
 * Lookups, counts and slices of a code, and of a hash with this code, agree.
 */
static void
CheckCode(const CuckooSparse *sparse, uint64_t code, int copies)
{
	uint64_t	hash = HashOfCode(&sparse->shape, code);
	CuckooTable table;

	CuckooTableInit(&table, &sparse->shape, CUCKOO_SPARSE, sparse->items, sparse->index);
	assert_true(CuckooCodeOf(&sparse->shape, hash) == code);
	if (CuckooSparseCount(sparse, code) != copies ||
		CuckooSparseContains(sparse, hash) != (copies > 0) ||
		SlicedCount(&table, hash, 0xFF) != copies || SlicedCount(&table, hash, 0) != copies)
		fail_msg("f %d, l %d, %llu items, code %llx: %d copies, contained %d, "
				 "sliced %d and %d, not %d", sparse->shape.bits, sparse->low_bits,
				 (unsigned long long) sparse->items, (unsigned long long) code,
				 CuckooSparseCount(sparse, code), CuckooSparseContains(sparse, hash),
				 SlicedCount(&table, hash, 0xFF), SlicedCount(&table, hash, 0), copies);
}

/* Everything that a table of these codes must do. */
static void
CheckTable(uint64_t *random, const CuckooShape *shape, const uint64_t *codes, uint64_t n)
{
	CuckooSparse sparse = BuildSparse(shape, codes, n, (uint8_t) NextRandom(random));
	size_t		bytes;
	uint8_t    *book = EncodeByTheBook(shape, codes, n, &bytes);
	uint64_t   *again = Allocate((size_t) n * sizeof(uint64_t));
	uint64_t	end = CuckooShapeCodes(shape);

	assert_true(bytes == CuckooSparseBytes(shape, n));
	if (memcmp(sparse.index, book, bytes) != 0)
		fail_msg("f %d, l %d, %llu items: other bytes than by the book", shape->bits,
				 sparse.low_bits, (unsigned long long) n);
	assert_true(IsSound(&sparse));

	CuckooSparseCodes(&sparse, 0, sparse.sections, again);
	assert_memory_equal(again, codes, (size_t) n * sizeof(uint64_t));

	for (int i = 0; i < 200; i++)
	{
		/* Present ones, their neighbours, absent ones, and the last of all. */
		uint64_t	code = i % 4 == 0 || n == 0 ? Below(random, end) :
			codes[Below(random, n)] + (uint64_t) (i % 4) - 2;

		if (i < 4)
			code = end - 1 - (uint64_t) i;
		if (i == 4 && n > 0)
			code = codes[n - 1];
		if (code < end && (code & CuckooShapeFingerprints(shape)) != 0)
			CheckCode(&sparse, code, CountIn(codes, n, code));
	}
	free(again);
	free(book);
	FreeSparse(&sparse);
}

static void
every_width_size_and_spread_has_the_form_of_the_description(void **state)
{
	static const uint64_t sizes[] = {
		0, 1, 2, 3, 7, 8, 9, 31, 64, 65, 100, 127, 500, 511, 512, 513, 2000
	};
	uint64_t	random = 1;

	(void) state;
	for (int bits = CUCKOO_MIN_BITS; bits <= CUCKOO_MAX_BITS; bits++)
	{
		for (size_t i = 0; i < lengthof(sizes); i++)
		{
			for (int spread = 0; spread < SPREADS; spread++)
			{
				CuckooShape shape = ShapeOf(1 + RandomBelow(&random, 5),
											2 + 2 * RandomBelow(&random, 500), bits);
				uint64_t	n = sizes[i];
				uint64_t   *codes = SomeCodes(&random, &shape, (Spread) spread, &n);

				CheckTable(&random, &shape, codes, n);
				free(codes);
			}
		}
	}
}

/* From a table of the fewest classes, full of copies, to the largest, empty. */
static void
low_parts_of_0_to_60_bits_are_kept(void **state)
{
	bool		seen[64] = {false};
	uint64_t	random = 2;

	(void) state;
	for (int exponent = 0; exponent <= 28; exponent++)
	{
		for (int bits = CUCKOO_MIN_BITS; bits <= CUCKOO_MAX_BITS; bits++)
		{
			uint32_t	blocks = exponent <= 14 ? 1 : (uint32_t) 1 << (exponent - 14);
			CuckooShape shape = ShapeOf(blocks > 12000 ? 12000 : blocks,
										exponent <= 14 ? (uint32_t) 2 << exponent : 32768, bits);

			for (int size = 0; size < 5; size++)
			{
				uint64_t	n = size == 4 ? 3000 : (uint64_t) size * (uint64_t) size;
				uint64_t   *codes = SomeCodes(&random, &shape,
											  size == 4 ? EVEN : (Spread) (size % SPREADS), &n);
				CuckooSparse sparse;

				CuckooSparseInit(&sparse, &shape, n, NULL);
				if (!seen[sparse.low_bits] || bits % 9 == 0)
					CheckTable(&random, &shape, codes, n);
				seen[sparse.low_bits] = true;
				free(codes);
			}
		}
	}
	for (int low_bits = 0; low_bits <= 60; low_bits++)
	{
		if (!seen[low_bits])
			fail_msg("no table had low parts of %d bits", low_bits);
	}
}

/* A table of the fewest classes, every one eight times. */
static void
a_table_may_hold_eight_copies_of_every_class(void **state)
{
	uint64_t	random = 3;

	(void) state;
	for (uint32_t buckets = 2; buckets <= 40; buckets += 2)
	{
		CuckooShape shape = ShapeOf(1, buckets, 5);
		uint64_t   *codes = Allocate(buckets / 2 * 31 * 8 * sizeof(uint64_t));
		uint64_t	n = 0;

		for (uint64_t code = 1; code < CuckooShapeCodes(&shape); code++)
		{
			for (int copy = 0; copy < 8 && code % 32 != 0; copy++)
				codes[n++] = code;
		}
		CheckTable(&random, &shape, codes, n);
		free(codes);
	}
}

static void
hostile_codes_that_share_a_group_are_found(void **state)
{
	static const CuckooShape shapes[] = {{1, 20000, 13}, {30, 32768, 18}, {12000, 32768, 32}};
	uint64_t	random = 4;

	(void) state;
	for (size_t i = 0; i < lengthof(shapes); i++)
	{
		for (int spread = ONE_GROUP; spread < SPREADS; spread++)
		{
			uint64_t	n = 60000;
			uint64_t   *codes = SomeCodes(&random, &shapes[i], (Spread) spread, &n);

			CheckTable(&random, &shapes[i], codes, n);
			free(codes);
		}
	}
}

/* The last bits of the table, with fewer bytes left than a word. */
static void
every_high_part_of_the_last_groups_is_read_within_the_table(void **state)
{
	uint64_t	random = 5;

	(void) state;
	for (int round = 0; round < 300; round++)
	{
		CuckooShape shape = ShapeOf(1, 2 + 2 * RandomBelow(&random, 60),
									5 + (int) RandomBelow(&random, 28));
		uint64_t	n = RandomBelow(&random, 300);
		uint64_t   *codes = SomeCodes(&random, &shape, (Spread) (round % SPREADS), &n);
		CuckooSparse sparse = BuildSparse(&shape, codes, n, 0xFF);
		uint64_t	high = sparse.highs > 130 ? sparse.highs - 130 : 0;

		for (; high < sparse.highs; high++)
		{
			uint64_t	code = high << sparse.low_bits | (sparse.low_mask & NextRandom(&random));

			code |= sparse.low_bits > 0;
			if (code < CuckooShapeCodes(&shape) && (code & CuckooShapeFingerprints(&shape)) != 0)
				CheckCode(&sparse, code, CountIn(codes, n, code));
		}
		FreeSparse(&sparse);
		free(codes);
	}
}

/* --------------------------------------------------------------- editing */

/* Split sorted codes at random into present ones and changes. */
static void
Split(uint64_t *random, const uint64_t *codes, uint64_t n, uint32_t share,
	  uint64_t *kept, uint64_t *kept_count, uint64_t *changed, uint64_t *changed_count)
{
	*kept_count = 0;
	*changed_count = 0;
	for (uint64_t i = 0; i < n; i++)
	{
		if (RandomBelow(random, 1000) < share)
			changed[(*changed_count)++] = codes[i];
		else
			kept[(*kept_count)++] = codes[i];
	}
}

/* As after a batch: sections with changes are edited, or all are built again. */
static void
Edit(CuckooSparse *target, const CuckooSparse *sparse, const uint64_t *codes, uint64_t count,
	 bool remove)
{
	CuckooRun	run = {codes, count};
	CuckooSource source = {&run, 1, false, NULL, NULL};
	CuckooTable table;
	CuckooTable old;

	CuckooTableInit(&old, &sparse->shape, CUCKOO_SPARSE, sparse->items, sparse->index);
	CuckooTableInit(&table, &target->shape, CUCKOO_SPARSE, target->items, target->index);
	CuckooTableEdit(&table, &old, &source, remove, 0);
}

static void
adding_and_removing_codes_gives_the_bytes_of_a_build(void **state)
{
	static const uint32_t shares[] = {1, 3, 30, 300, 700, 1000};
	uint64_t	random = 6;
	int			rebuilt = 0;
	int			copied = 0;

	(void) state;
	for (int round = 0; round < 3000; round++)
	{
		CuckooShape shape = ShapeOf(1 + RandomBelow(&random, 3), 2 + 2 * RandomBelow(&random, 400),
									5 + (int) RandomBelow(&random, 28));
		uint64_t	n = RandomBelow(&random, round % 3 == 0 ? 50 : 3000);
		uint64_t   *codes = SomeCodes(&random, &shape, (Spread) (round % SPREADS), &n);
		uint64_t   *kept = Allocate((size_t) n * sizeof(uint64_t));
		uint64_t   *changed = Allocate((size_t) n * sizeof(uint64_t));
		uint64_t	kept_count;
		uint64_t	changed_count;
		CuckooSparse whole = BuildSparse(&shape, codes, n, 1);
		CuckooSparse part;
		CuckooSparse target;

		Split(&random, codes, n, shares[RandomBelow(&random, lengthof(shares))],
			  kept, &kept_count, changed, &changed_count);
		part = BuildSparse(&shape, kept, kept_count, 2);
		if (changed_count > 0)
		{
			rebuilt += part.low_bits != whole.low_bits;
			copied += part.low_bits == whole.low_bits;
		}

		target = NewSparse(&shape, n, 3);
		Edit(&target, &part, changed, changed_count, false);
		assert_true(SameTable(&target, &whole));
		FreeSparse(&target);

		target = NewSparse(&shape, kept_count, 4);
		Edit(&target, &whole, changed, changed_count, true);
		assert_true(SameTable(&target, &part));
		FreeSparse(&target);

		FreeSparse(&part);
		FreeSparse(&whole);
		free(changed);
		free(kept);
		free(codes);
	}
	/* Both branches were taken. */
	assert_true(rebuilt > 300 && copied > 300);
}

/* One code added or removed, also at the very ends and in the last group. */
static void
each_single_code_can_be_added_and_removed(void **state)
{
	uint64_t	random = 7;

	(void) state;
	for (int spread = 0; spread < SPREADS; spread++)
	{
		CuckooShape shape = ShapeOf(1, 120, 9);
		uint64_t	n = 400;
		uint64_t   *codes = SomeCodes(&random, &shape, (Spread) spread, &n);
		uint64_t   *others = Allocate((size_t) n * sizeof(uint64_t));
		CuckooSparse whole = BuildSparse(&shape, codes, n, 1);

		for (uint64_t i = 0; i < n; i++)
		{
			CuckooSparse part;
			CuckooSparse target;

			memcpy(others, codes, (size_t) i * sizeof(uint64_t));
			memcpy(others + i, codes + i + 1, (size_t) (n - 1 - i) * sizeof(uint64_t));
			part = BuildSparse(&shape, others, n - 1, 2);
			target = NewSparse(&shape, n, 3);
			Edit(&target, &part, &codes[i], 1, false);
			assert_true(SameTable(&target, &whole));
			FreeSparse(&target);
			target = NewSparse(&shape, n - 1, 3);
			Edit(&target, &whole, &codes[i], 1, true);
			assert_true(SameTable(&target, &part));
			FreeSparse(&target);
			FreeSparse(&part);
		}
		FreeSparse(&whole);
		free(others);
		free(codes);
	}
}

/* With low parts of 60 bits, the end of a section has more than 64. */
static void
the_largest_table_can_be_changed(void **state)
{
	CuckooShape shape = ShapeOf(12000, 32768, 32);
	uint64_t	codes[] = {1, CuckooShapeCodes(&shape) / 2 + 1, CuckooShapeCodes(&shape) - 1};

	(void) state;
	for (uint64_t n = 0; n < lengthof(codes); n++)
	{
		CuckooSparse part = BuildSparse(&shape, codes, n, 1);
		CuckooSparse whole = BuildSparse(&shape, codes, n + 1, 2);
		CuckooSparse target = NewSparse(&shape, n + 1, 3);

		Edit(&target, &part, &codes[n], 1, false);
		assert_true(SameTable(&target, &whole));
		FreeSparse(&target);
		target = NewSparse(&shape, n, 3);
		Edit(&target, &whole, &codes[n], 1, true);
		assert_true(SameTable(&target, &part));
		FreeSparse(&target);
		FreeSparse(&whole);
		FreeSparse(&part);
	}
}

/* -------------------------------------------------------------- checking */

/*
 * A table with a flipped bit either is refused or is the form of another
 * multiset.
 */
static void
what_passes_the_check_is_the_one_form_of_its_codes(void **state)
{
	uint64_t	random = 8;
	int			passed = 0;
	int			refused = 0;

	(void) state;
	for (int round = 0; round < 60; round++)
	{
		CuckooShape shape = ShapeOf(1, 2 + 2 * RandomBelow(&random, 60),
									5 + (int) RandomBelow(&random, 12));
		uint64_t	n = RandomBelow(&random, 120);
		uint64_t   *codes = SomeCodes(&random, &shape, (Spread) (round % SPREADS), &n);
		CuckooSparse sparse = BuildSparse(&shape, codes, n, 0);
		size_t		bits = 8 * (size_t) CuckooSparseBytes(&shape, n);

		for (size_t bit = 0; bit < bits; bit++)
		{
			uint64_t	bad;

			sparse.index[bit / 8] ^= (uint8_t) (1 << bit % 8);
			assert_int_equal(CuckooSparseCheck(&sparse, &bad), IsSound(&sparse));
			if (CuckooSparseCheck(&sparse, &bad))
			{
				uint64_t   *read = Allocate((size_t) n * sizeof(uint64_t));
				CuckooSparse again;

				CuckooSparseCodes(&sparse, 0, sparse.sections, read);
				again = BuildSparse(&shape, read, n, 0);
				assert_true(SameTable(&again, &sparse));
				FreeSparse(&again);
				free(read);
				passed++;
			}
			else
				refused++;
			sparse.index[bit / 8] ^= (uint8_t) (1 << bit % 8);
		}
		FreeSparse(&sparse);
		free(codes);
	}
	assert_true(passed > 1000 && refused > 1000);
}

/* The number of the bad group for which a table of these codes is refused. */
static uint64_t
BadGroup(const CuckooShape *shape, const uint64_t *codes, uint64_t n)
{
	CuckooSparse sparse = BuildSparse(shape, codes, n, 0);
	uint64_t	bad;

	assert_false(IsSound(&sparse));
	assert_false(CuckooSparseCheck(&sparse, &bad));
	FreeSparse(&sparse);
	return bad;
}

static void
codes_without_fingerprint_or_past_the_end_are_refused(void **state)
{
	CuckooShape shape = ShapeOf(1, 50, 8);
	uint64_t	zero[] = {1, 300, 512, 700};
	uint64_t	past[] = {1, 300, CuckooShapeCodes(&shape) + 1};
	uint64_t	last[] = {1, 300, CuckooShapeCodes(&shape) - 1};
	CuckooSparse sparse;

	(void) state;
	assert_int_equal(BadGroup(&shape, zero, lengthof(zero)), 0);

	/* The last high part also covers numbers beyond the largest code. */
	CuckooSparseInit(&sparse, &shape, lengthof(past), NULL);
	assert_true(past[2] >> sparse.low_bits < sparse.highs);
	assert_int_equal(BadGroup(&shape, past, lengthof(past)), 0);

	sparse = BuildSparse(&shape, last, lengthof(last), 0);
	assert_true(IsSound(&sparse));
	FreeSparse(&sparse);
}

static void
nine_copies_of_a_code_are_refused_and_eight_are_not(void **state)
{
	CuckooShape shape = ShapeOf(1, 4000, 10);

	(void) state;
	for (uint64_t n = 8; n <= 9; n++)
	{
		uint64_t	codes[600];
		CuckooSparse sparse;
		uint64_t	bad;

		/*
		 * A source is read in pieces of 512 codes, so copies may be in two
		 * pieces.
		 */
		for (uint64_t i = 0; i < 600; i++)
			codes[i] = 3 * i + 1 + (3 * i + 1 >= 1024);
		for (uint64_t i = 0; i < n; i++)
			codes[508 + i] = codes[508];
		sparse = BuildSparse(&shape, codes, 600, 0);
		assert_int_equal(CuckooSparseCheck(&sparse, &bad), n == 8);
		FreeSparse(&sparse);
	}
}

/* Codes that share a high part must have their low parts in order. */
static void
descending_codes_are_refused(void **state)
{
	CuckooShape shape = ShapeOf(1, 1000, 16);
	uint64_t	codes[] = {1, 2, 70000, 70002, 70001, 900000};

	(void) state;
	assert_int_equal(BadGroup(&shape, codes, lengthof(codes)), 0);
}

typedef struct Damage
{
	CuckooSparse sparse;
	uint64_t   *codes;
	uint64_t	n;
} Damage;

/* A valid table of several groups, with unused bits in the last byte. */
static Damage
NewDamage(void)
{
	CuckooShape shape = ShapeOf(1, 1102, 11);
	uint64_t	random = 9;
	Damage		damage;

	damage.n = 301;
	damage.codes = SomeCodes(&random, &shape, EVEN, &damage.n);
	damage.sparse = BuildSparse(&shape, damage.codes, damage.n, 0);
	assert_true(IsSound(&damage.sparse));
	assert_true(damage.sparse.groups >= 18 && damage.sparse.groups % 8 != 0 &&
				damage.sparse.end % 8 != 0);
	return damage;
}

/* Check that it is refused for one of these groups, and free it. */
static void
CheckRefused(Damage *damage, uint64_t first, uint64_t last)
{
	uint64_t	bad;

	assert_false(CuckooSparseCheck(&damage->sparse, &bad));
	assert_in_range(bad, first, last);
	assert_false(IsSound(&damage->sparse));
	free(damage->codes);
	FreeSparse(&damage->sparse);
}

/* Every byte of it, also those for groups that the last section does not have. */
static void
an_index_that_is_not_that_of_the_groups_is_refused(void **state)
{
	Damage		damage = NewDamage();
	uint64_t	groups = damage.sparse.groups;
	size_t		bytes = (size_t) damage.sparse.sections * 12;

	(void) state;
	free(damage.codes);
	FreeSparse(&damage.sparse);
	for (size_t at = 0; at < bytes; at++)
	{
		for (int value = 1; value < 256; value += 1 + value / 2)
		{
			uint64_t	last = at / 12 * 8 + 7 < groups ? at / 12 * 8 + 7 : groups - 1;

			damage = NewDamage();
			damage.sparse.index[at] = (uint8_t) (damage.sparse.index[at] + value);
			CheckRefused(&damage, last, last);
		}
	}
}

/* The bytes of the index do not say more, but the starts do. */
static void
many_codes_are_counted_as_255(void **state)
{
	CuckooShape shape = ShapeOf(1, 1000, 16);
	uint64_t	n = 254 * 3 + 1;
	uint64_t   *codes = Allocate((size_t) (n + 2) * sizeof(uint64_t));
	CuckooSparse sparse;

	(void) state;
	CuckooSparseInit(&sparse, &shape, n, NULL);
	for (uint64_t more = 0; more < 3; more++)
	{
		/* 253, 254 or 255 codes in group 1, one in group 2, the others in section 1. */
		for (uint64_t i = 0; i < n; i++)
		{
			uint64_t	high = i < 253 + more ? 16 : i == 253 + more ? 33 : 130;

			codes[i] = (high << sparse.low_bits) + 1 + i / 2;
		}
		sparse = BuildSparse(&shape, codes, n, 0);
		assert_int_equal(sparse.index[4], 0);
		assert_int_equal(sparse.index[5], 253 + more);
		assert_int_equal(sparse.index[6], more == 0 ? 254 : 255);
		assert_int_equal(sparse.index[11], more == 0 ? 254 : 255);
		assert_int_equal(CuckooLoad32(sparse.index + 12), 254 + more);
		for (uint64_t i = 0; i < n; i++)
			CheckCode(&sparse, codes[i], CountIn(codes, n, codes[i]));
		FreeSparse(&sparse);
	}
	free(codes);
}

/* More codes than the table has, or fewer zeros than its groups need. */
static void
groups_that_exceed_the_table_are_refused(void **state)
{
	CuckooShape shape = ShapeOf(1, 1000, 16);
	CuckooSparse sparse = NewSparse(&shape, 200, 0xFF);
	uint64_t	bad;

	(void) state;
	memset(sparse.index, 0xFF, (size_t) CuckooSparseBytes(&shape, 200));
	assert_false(CuckooSparseCheck(&sparse, &bad));
	assert_int_equal(bad, 0);
	memset(sparse.index, 0, (size_t) CuckooSparseBytes(&shape, 200));
	assert_false(CuckooSparseCheck(&sparse, &bad));
	assert_int_equal(bad, sparse.groups);
	FreeSparse(&sparse);
}

/* Any bit of the upper part of the tenth group with the other value. */
static void
a_group_with_more_or_fewer_codes_than_the_index_says_is_refused(void **state)
{
	Damage		damage = NewDamage();
	uint64_t	first = 128 + CuckooLoad32(damage.sparse.index + 12) *
		(uint64_t) (1 + damage.sparse.low_bits);
	uint64_t	codes;

	(void) state;
	first += CUCKOO_GROUP + damage.sparse.index[16] * (uint64_t) (1 + damage.sparse.low_bits);
	codes = (uint64_t) damage.sparse.index[17] - damage.sparse.index[16];
	assert_true(codes > 0);
	for (uint64_t at = first; at < first + CUCKOO_GROUP + codes; at++)
	{
		free(damage.codes);
		FreeSparse(&damage.sparse);
		damage = NewDamage();
		damage.sparse.bits[at >> 3] ^= (uint8_t) (1 << (at & 7));
		CheckRefused(&damage, 9, 15);
		damage = NewDamage();
	}
	free(damage.codes);
	FreeSparse(&damage.sparse);
}

static void
bits_that_fill_up_the_last_byte_are_zero(void **state)
{
	Damage		damage = NewDamage();
	uint64_t	end = damage.sparse.end;

	(void) state;
	free(damage.codes);
	FreeSparse(&damage.sparse);
	for (; end % 8 != 0; end++)
	{
		damage = NewDamage();
		damage.sparse.bits[end >> 3] |= (uint8_t) (1 << (end & 7));
		CheckRefused(&damage, damage.sparse.groups, damage.sparse.groups);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_width_size_and_spread_has_the_form_of_the_description),
		cmocka_unit_test(low_parts_of_0_to_60_bits_are_kept),
		cmocka_unit_test(a_table_may_hold_eight_copies_of_every_class),
		cmocka_unit_test(hostile_codes_that_share_a_group_are_found),
		cmocka_unit_test(every_high_part_of_the_last_groups_is_read_within_the_table),
		cmocka_unit_test(adding_and_removing_codes_gives_the_bytes_of_a_build),
		cmocka_unit_test(each_single_code_can_be_added_and_removed),
		cmocka_unit_test(the_largest_table_can_be_changed),
		cmocka_unit_test(what_passes_the_check_is_the_one_form_of_its_codes),
		cmocka_unit_test(codes_without_fingerprint_or_past_the_end_are_refused),
		cmocka_unit_test(nine_copies_of_a_code_are_refused_and_eight_are_not),
		cmocka_unit_test(descending_codes_are_refused),
		cmocka_unit_test(an_index_that_is_not_that_of_the_groups_is_refused),
		cmocka_unit_test(many_codes_are_counted_as_255),
		cmocka_unit_test(groups_that_exceed_the_table_are_refused),
		cmocka_unit_test(a_group_with_more_or_fewer_codes_than_the_index_says_is_refused),
		cmocka_unit_test(bits_that_fill_up_the_last_byte_are_zero),
	};

	return cmocka_run_group_tests_name("sparse", tests, NULL, NULL);
}
