/*-------------------------------------------------------------------------
 *
 * sparse_test.c
 *	  A sparse table: each multiset has one form, which is written, read,
 *	  changed and checked.
 *
 * NewTable() of support.h gives tables memory of exactly their bytes and eight
 * more that may be read.  These hold garbage, as the next table would.
 *
 *-------------------------------------------------------------------------
 */
#include "exercise.h"

/* -------------------------------------------------------------- multisets */

typedef enum Spread
{
	EVEN, ONE_GROUP, ONE_SECTION, ONE_HIGH_PART, FEW_CODES, BOTH_ENDS, LAST_GROUP, SPREADS
} Spread;

/*
 * Up to *count sorted codes of a shape, at most eight of them equal.  Sets
 * *count to their number.
 */
static uint64_t *
SomeCodes(const CuckooShape *shape, Spread spread, uint64_t *count)
{
	uint64_t	end = CuckooShapeCodes(shape);
	uint64_t   *codes = Allocate((size_t) *count * sizeof(uint64_t));
	uint64_t	group;
	uint64_t	from = 0;
	uint64_t	range = end;
	uint64_t	kept = 0;
	CuckooSparse sparse;

	CuckooSparseInit(&sparse, shape, *count);
	group = (uint64_t) CUCKOO_GROUP << sparse.low_bits;
	if (spread == ONE_GROUP)
		from = NextRandom() % sparse.groups * group;
	else if (spread == ONE_SECTION)
		from = NextRandom() % sparse.sections * CUCKOO_SECTION_GROUPS * group;
	else if (spread == ONE_HIGH_PART)
		from = NextRandom() % CuckooShapeCodes(&sparse.shape) & ~sparse.low_mask;
	else if (spread == LAST_GROUP)
		from = (sparse.groups - 1) * group;
	else if (spread == FEW_CODES)
		from = NextRandom() % end;
	if (spread == ONE_GROUP || spread == LAST_GROUP)
		range = group;
	else if (spread == ONE_SECTION)
		range = CUCKOO_SECTION_GROUPS * group;
	else if (spread == ONE_HIGH_PART)
		range = UINT64_C(1) << sparse.low_bits;
	else if (spread == FEW_CODES)
		range = 1 + *count / 3;
	/* It is 0 for all 2^64. */
	if (range == 0 || range > end - from)
		range = end - from;

	for (uint64_t i = 0; i < *count; i++)
	{
		codes[i] = from + NextRandom() % range;
		if (spread == BOTH_ENDS)
			codes[i] = i % 2 == 0 ? 1 + i / 16 : end - 1 - i / 16;
		if ((codes[i] & shape->fingerprints) == 0)
			codes[i]++;
		if (codes[i] >= end)
			codes[i] = end - 1;
	}
	SortNumbers(codes, *count);
	for (uint64_t i = 0; i < *count; i++)
	{
		if ((kept < CUCKOO_MAX_COPIES || codes[kept - CUCKOO_MAX_COPIES] != codes[i]) &&
			(codes[i] & shape->fingerprints) != 0)
			codes[kept++] = codes[i];
	}
	*count = kept;
	return codes;
}

/* ------------------------------------------------ the form, by the book */

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
			CuckooStore32(section, (uint32_t) at);
		for (uint64_t high = 16 * group; group < groups && high < 16 * group + 16; high++)
		{
			for (; at < n && codes[at] >> l == high; at++)
				SetBits(bits, position++, 1, 1);
			position++;
		}
		for (uint64_t i = first; i < at; i++, position += (uint64_t) l)
			SetBits(bits, position, l, codes[i]);
		section[4 + group % 8] = at - CuckooLoad32(section) > 255 ? 255 :
			(uint8_t) (at - CuckooLoad32(section));
	}
	assert_true(at == n && position == 16 * groups + n * (uint64_t) (1 + l));
	return table;
}

static CuckooTable
BuildSparse(const CuckooShape *shape, const uint64_t *codes, uint64_t count)
{
	return BuildTable(shape, CUCKOO_SPARSE, codes, count, 0);
}

/* Whether a table passes the check, whatever follows it; if not, for which group. */
static bool
IsSound(const CuckooTable *table, uint64_t *bad)
{
	size_t		bytes = (size_t) CuckooTableStoredBytes(table);
	uint8_t    *copy = Allocate(bytes + CUCKOO_TAIL_BYTES);
	CuckooSparse other = table->sparse;
	uint64_t	other_bad;
	bool		sound = CuckooSparseCheck(&table->sparse, bad);

	memcpy(copy, table->data, bytes);
	CuckooSparseSetData(&other, copy);
	assert_int_equal(CuckooSparseCheck(&other, &other_bad), sound);
	assert_true(*bad <= other.groups);
	pfree(copy);
	return sound;
}

/* Everything that a table of these codes must do. */
static void
CheckSparse(const CuckooShape *shape, const uint64_t *codes, uint64_t n)
{
	CuckooTable table = BuildSparse(shape, codes, n);
	size_t		bytes;
	uint8_t    *book = EncodeByTheBook(shape, codes, n, &bytes);
	uint64_t	bad;

	assert_int_equal(SparseBytes(shape, n), bytes);
	if (memcmp(table.data, book, bytes) != 0)
		fail_msg("f %d, l %d, %llu items: other bytes than by the book", shape->bits,
				 table.sparse.low_bits, (unsigned long long) n);
	assert_true(IsSound(&table, &bad));
	CheckTable(&table, codes, n, 250);
	pfree(book);
	pfree(table.data);
}

TEST(every_width_size_and_spread_has_the_form_of_the_description)
{
	static const uint64_t sizes[] = {
		0, 1, 2, 3, 7, 8, 9, 31, 64, 65, 100, 127, 500, 511, 512, 513, 2000
	};

	for (int bits = CUCKOO_MIN_BITS; bits <= CUCKOO_MAX_BITS; bits++)
	{
		for (size_t i = 0; i < lengthof(sizes) * SPREADS; i++)
		{
			CuckooShape shape = CuckooShapeOf(1 + Below(5), 2 + 2 * Below(500), bits);
			uint64_t	n = sizes[i / SPREADS];
			uint64_t   *codes = SomeCodes(&shape, (Spread) (i % SPREADS), &n);

			CheckSparse(&shape, codes, n);
			pfree(codes);
		}
	}
}

/* From a table of the fewest classes, full of copies, to the largest, empty. */
TEST(low_parts_of_0_to_60_bits_are_kept)
{
	static const uint64_t sizes[] = {0, 1, 4, 9, 3000};
	bool		seen[64] = {false};

	for (int exponent = 0; exponent <= 28; exponent++)
	{
		uint32_t	blocks = exponent <= 14 ? 1 : (uint32_t) 1 << (exponent - 14);
		uint32_t	buckets = exponent <= 14 ? (uint32_t) 2 << exponent : 32768;

		for (int bits = CUCKOO_MIN_BITS; bits <= CUCKOO_MAX_BITS; bits += 3)
		{
			CuckooShape shape = CuckooShapeOf(blocks > 12000 ? 12000 : blocks, buckets, bits);

			for (size_t i = 0; i < lengthof(sizes); i++)
			{
				Spread		spread = (Spread) ((exponent + bits) % SPREADS);
				uint64_t	n = sizes[i];
				uint64_t   *codes = SomeCodes(&shape, spread, &n);
				CuckooSparse sparse;

				CuckooSparseInit(&sparse, &shape, n);
				CheckSparse(&shape, codes, n);
				seen[sparse.low_bits] = true;
				pfree(codes);
			}
		}
	}
	for (int low_bits = 0; low_bits <= 60; low_bits++)
	{
		if (!seen[low_bits])
			fail_msg("no table had low parts of %d bits", low_bits);
	}
}

TEST(reading_gives_way_also_among_groups_without_codes)
{
	CuckooShape shape = CuckooShapeOf(12000, 32768, 32);
	uint64_t	n = 4000000;
	uint64_t   *codes = Allocate((size_t) n * sizeof(uint64_t));
	uint64_t   *read;
	CuckooTable table;

	/* All are in the first group, of more than twice 65,536. */
	for (uint64_t i = 0; i < n; i++)
		codes[i] = 1 + i / 8;
	table = BuildTable(&shape, CUCKOO_SPARSE, codes, n, 0);
	assert_true(table.sparse.groups > 2 * 65536);
	interrupt_checks = 0;
	read = CuckooTableCodes(&table).numbers;
	assert_memory_equal(read, codes, n * sizeof(uint64_t));
	assert_true((uint64_t) interrupt_checks >= n / 65536 + 2);
	pfree(read);
}

/* The bytes of the index do not say more, but the starts do. */
TEST(many_codes_are_counted_as_255)
{
	CuckooShape shape = CuckooShapeOf(1, 1000, 16);
	uint64_t	codes[254 * 3 + 1];
	uint64_t	n = lengthof(codes);
	CuckooSparse sparse;

	CuckooSparseInit(&sparse, &shape, n);
	for (uint64_t more = 0; more < 3; more++)
	{
		/* 253, 254 or 255 codes in group 1, one in group 2, the others in section 1. */
		for (uint64_t i = 0; i < n; i++)
		{
			uint64_t	high = i < 253 + more ? 16 : i == 253 + more ? 33 : 130;

			codes[i] = (high << sparse.low_bits) + 1 + i / 2;
		}
		for (int again = 0; again < 10; again++)
			CheckSparse(&shape, codes, n);
	}
}

/* --------------------------------------------------------------- editing */

/* As after a batch: sections with changes are edited, or all are built again. */
static void
CheckEdit(const CuckooTable *old, const CuckooTable *wanted, const uint64_t *codes,
		  uint64_t count, bool remove)
{
	CuckooTable table = NewTable(&old->shape, CUCKOO_SPARSE, wanted->items);
	CuckooList	run = {.numbers = (uint64_t *) codes, .count = count};
	CuckooPart	part = {.source = {.runs = &run, .run_count = 1}, .old = old, .remove = remove};

	CuckooTableBuild(&table, &part, 0);
	assert_true(TailIsKept(&table) && SameTable(&table, wanted));
	pfree(table.data);
}

/* Some of sorted codes, of which those marked are added and removed. */
static void
CheckChanges(const CuckooShape *shape, const uint64_t *codes, uint64_t n, const bool *marked)
{
	uint64_t   *kept = Allocate((size_t) n * sizeof(uint64_t));
	uint64_t   *changed = Allocate((size_t) n * sizeof(uint64_t));
	uint64_t	count = 0;
	CuckooTable whole = BuildSparse(shape, codes, n);
	CuckooTable part;

	for (uint64_t i = 0; i < n; i++)
	{
		if (marked[i])
			changed[count++] = codes[i];
		else
			kept[i - count] = codes[i];
	}
	part = BuildSparse(shape, kept, n - count);
	CheckEdit(&part, &whole, changed, count, false);
	CheckEdit(&whole, &part, changed, count, true);
	pfree(part.data);
	pfree(whole.data);
	pfree(changed);
	pfree(kept);
}

/* The next codes in memory after those of the run are in the table, too. */
TEST(editing_a_dense_table_ends_with_the_run)
{
	CuckooShape shape = CuckooShapeOf(4, 16, 12);
	uint64_t	codes[80];
	uint64_t	n = lengthof(codes);
	uint64_t	first = n / 4;	/* those of the first block */
	CuckooTable whole_dense;
	CuckooTable part_dense;
	CuckooTable whole;
	CuckooTable part;

	for (uint64_t i = 0; i < n; i++)
		codes[i] = (i * shape.pairs / n << shape.bits) + 1 + i;
	whole_dense = BuildTable(&shape, CUCKOO_DENSE, codes, n, 0);
	part_dense = BuildTable(&shape, CUCKOO_DENSE, codes + first, n - first, 0);
	whole = BuildSparse(&shape, codes, n);
	part = BuildSparse(&shape, codes + first, n - first);
	CheckEdit(&part_dense, &whole, codes, first, false);
	CheckEdit(&whole_dense, &part, codes, first, true);
}

/* They are asked for codes, of which the table has no more. */
TEST(the_last_sections_that_are_left_of_a_dense_table_are_empty)
{
	CuckooShape shape = CuckooShapeOf(2, 400, 5);
	uint64_t	codes[1600];
	uint64_t	n = lengthof(codes);
	CuckooTable dense;
	CuckooTable few;

	for (uint64_t i = 0; i < n; i++)
		codes[i] = (i / 4 << shape.bits) + 1 + i % 4;
	dense = BuildTable(&shape, CUCKOO_DENSE, codes, n, 0);
	few = BuildSparse(&shape, codes, 1000);
	assert_true(few.sparse.sections > 4);
	CheckEdit(&dense, &few, codes + 1000, n - 1000, true);
}

TEST(adding_and_removing_codes_gives_the_bytes_of_a_build)
{
	static const uint32_t shares[] = {1, 3, 30, 300, 700, 1000};

	for (int round = 0; round < 3000; round++)
	{
		CuckooShape shape = CuckooShapeOf(1 + Below(3), 2 + 2 * Below(400), 5 + (int) Below(28));
		uint64_t	n = Below(round % 3 == 0 ? 50 : 3000);
		uint64_t   *codes = SomeCodes(&shape, (Spread) (round % SPREADS), &n);
		uint32_t	share = shares[Below(lengthof(shares))];
		bool		marked[3000];

		for (uint64_t i = 0; i < n; i++)
			marked[i] = Below(1000) < share;
		CheckChanges(&shape, codes, n, marked);
		pfree(codes);
	}
}

/* All are encoded again, from 32 sections at a time. */
TEST(a_code_where_the_next_sections_are_read_can_be_removed)
{
	static uint64_t codes[8000];
	static bool marked[8000];
	CuckooShape shape = CuckooShapeOf(1, 2, 32);
	CuckooSparse sparse;

	CuckooSparseInit(&sparse, &shape, lengthof(codes));
	assert_int_equal(sparse.sections, 64);
	for (uint64_t i = 0; i < lengthof(codes); i++)
	{
		codes[i] = (i + 1) << sparse.low_bits;
		marked[i] = i % 2 == 1;
	}
	CheckChanges(&shape, codes, lengthof(codes), marked);
}

/* One code added or removed, also at the very ends and in the last group. */
TEST(each_single_code_can_be_added_and_removed)
{
	CuckooShape shape = CuckooShapeOf(1, 120, 9);
	CuckooShape largest = CuckooShapeOf(12000, 32768, 32);
	const uint64_t few[] = {1, CuckooShapeCodes(&largest) / 2 + 1, CuckooShapeCodes(&largest) - 1};
	bool		marked[400] = {false};

	for (int spread = 0; spread < SPREADS; spread++)
	{
		uint64_t	n = 400;
		uint64_t   *codes = SomeCodes(&shape, (Spread) spread, &n);

		for (uint64_t i = 0; i < n; i++)
		{
			marked[i] = true;
			CheckChanges(&shape, codes, n, marked);
			marked[i] = false;
		}
	}
	/* With low parts of 60 bits, the end of a section has more than 64. */
	for (uint64_t n = 1; n <= lengthof(few); n++)
	{
		marked[n - 1] = true;
		CheckChanges(&largest, few, n, marked);
		marked[n - 1] = false;
	}
}

/* -------------------------------------------------------------- checking */

/*
 * A table with a flipped bit either is refused or is the form of another
 * multiset.  test/sql/malformed.sql has a table that breaks each rule.
 */
TEST(what_passes_the_check_is_the_one_form_of_its_codes)
{
	int			sound = 0;
	int			refused = 0;

	for (int round = 0; round < 60; round++)
	{
		CuckooShape shape = CuckooShapeOf(1, 2 + 2 * Below(200), 5 + (int) Below(12));
		uint64_t	n = Below(300);
		uint64_t   *codes = SomeCodes(&shape, (Spread) (round % SPREADS), &n);
		CuckooTable table = BuildSparse(&shape, codes, n);

		for (size_t bit = 0; bit < 8 * (size_t) CuckooTableStoredBytes(&table); bit++)
		{
			uint64_t	bad;

			table.data[bit / 8] ^= (uint8_t) (1 << bit % 8);
			if (IsSound(&table, &bad))
			{
				CheckSound(&table);
				sound++;
			}
			else
				refused++;
			table.data[bit / 8] ^= (uint8_t) (1 << bit % 8);
		}
		pfree(table.data);
		pfree(codes);
	}
	assert_true(sound > 1000 && refused > 1000);
}

/* A source is read in pieces of 512 codes, so copies may be in two pieces. */
TEST(nine_copies_of_a_code_are_refused_and_eight_are_not)
{
	CuckooShape shape = CuckooShapeOf(1, 4000, 10);

	for (uint64_t n = 8; n <= 9; n++)
	{
		uint64_t	codes[600];
		CuckooTable table;
		uint64_t	bad;

		for (uint64_t i = 0; i < 600; i++)
			codes[i] = i >= 508 && i < 508 + n ? 3 * 508 + 2 : 3 * i + 1 + (3 * i + 1 >= 1024);
		table = BuildSparse(&shape, codes, 600);
		assert_int_equal(IsSound(&table, &bad), n == 8);
	}
}
