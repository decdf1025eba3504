/*-------------------------------------------------------------------------
 *
 * bucket_test.c
 *	  A dense bucket: reading and writing its bits, and no others.
 *
 *-------------------------------------------------------------------------
 */
#include "support.h"

/* All widths f of a fingerprint, each with its packing. */
#define for_each_width(f, packing) \
	for (int f = CUCKOO_MIN_BITS; \
		 f <= CUCKOO_MAX_BITS && (CuckooPackingInit(&(packing), f), true); f++)

/* Four random fingerprints: some empty, some equal, some with equal nibbles. */
static void
RandomEntries(uint64_t *random, int bits, uint32_t entries[CUCKOO_ENTRIES])
{
	uint32_t	most = (uint32_t) ((UINT64_C(1) << bits) - 1);

	for (int slot = 0; slot < CUCKOO_ENTRIES; slot++)
	{
		uint32_t	value = (uint32_t) NextRandom(random) & most;

		switch (RandomBelow(random, 8))
		{
			case 0:
				value = 0;
				break;
			case 1:
				value = slot > 0 ? entries[slot - 1] : most;
				break;
			case 2:
				value = slot > 0 ? (value & ~15u) | (entries[slot - 1] & 15) : 1;
				break;
			case 3:
				value = most;
				break;
			default:
				break;
		}
		entries[slot] = value;
	}
}

/* Entries in the order in which a bucket keeps them: see bucket.h. */
static void
SortEntries(uint32_t entries[CUCKOO_ENTRIES])
{
	for (int i = 1; i < CUCKOO_ENTRIES; i++)
	{
		for (int j = i; j > 0; j--)
		{
			uint32_t	a = entries[j - 1];
			uint32_t	b = entries[j];

			if ((a & 15) < (b & 15) || ((a & 15) == (b & 15) && a >> 4 <= b >> 4))
				break;
			entries[j - 1] = b;
			entries[j] = a;
		}
	}
}

static void
SetBits(uint8_t *bytes, uint64_t position, int width, uint32_t value)
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

static uint32_t
Choose(uint32_t n, uint32_t k)
{
	uint32_t	result = 1;

	for (uint32_t i = 0; i < k; i++)
		result = result * (n - i) / (i + 1);
	return result;
}

/* A bucket written bit by bit, as bucket.h describes it. */
static void
WriteByTheBook(uint8_t *buckets, int bits, uint64_t number,
			   const uint32_t given[CUCKOO_ENTRIES])
{
	uint32_t	entries[CUCKOO_ENTRIES];
	uint32_t	multiset = 0;
	uint64_t	position = number * 4 * (uint64_t) (bits - 1);

	memcpy(entries, given, sizeof(entries));
	SortEntries(entries);
	for (uint32_t i = 0; i < CUCKOO_ENTRIES; i++)
		multiset += Choose((entries[i] & 15) + i, i + 1);
	SetBits(buckets, position, 12, multiset);
	for (int i = 0; i < CUCKOO_ENTRIES; i++)
		SetBits(buckets, position + 12 + (uint64_t) (i * (bits - 4)), bits - 4,
				entries[i] >> 4);
}

static void
multisets_are_numbered_in_order_without_gaps(void **state)
{
	uint32_t	number = 0;

	(void) state;
	CuckooInitMultisets();
	for (uint32_t d = 0; d < 16; d++)
		for (uint32_t c = 0; c <= d; c++)
			for (uint32_t b = 0; b <= c; b++)
				for (uint32_t a = 0; a <= b; a++)
				{
					assert_int_equal(CuckooMultisetRank(a, b, c, d), number);
					assert_int_equal(CuckooMultisets[number],
									 a | b << 4 | c << 8 | d << 12);
					number++;
				}
	assert_int_equal(number, CUCKOO_MULTISETS);
}

static void
decoding_a_multiset_undoes_its_rank(void **state)
{
	(void) state;
	CuckooInitMultisets();
	for (uint32_t number = 0; number < CUCKOO_MULTISETS; number++)
	{
		uint32_t	m = CuckooMultisets[number];

		assert_int_equal(CuckooMultisetRank(m & 15, m >> 4 & 15, m >> 8 & 15, m >> 12),
						 number);
	}
	/* Lookups must also work in a bucket whose twelve bits are damaged. */
	for (uint32_t number = CUCKOO_MULTISETS; number < 4096; number++)
		assert_int_equal(CuckooMultisets[number], 0);
}

static void
the_sort_key_orders_empty_entries_first_then_by_low_nibble(void **state)
{
	uint64_t	random = 1;

	(void) state;
	assert_int_equal(CuckooSortKey(0), 0);
	for (int i = 0; i < 20000; i++)
	{
		uint32_t	a = (uint32_t) NextRandom(&random) >> RandomBelow(&random, 28);
		uint32_t	b = (uint32_t) NextRandom(&random) >> RandomBelow(&random, 28);
		bool		less = (a & 15) != (b & 15) ? (a & 15) < (b & 15) : a >> 4 < b >> 4;

		assert_int_equal(CuckooSortKey(a) < CuckooSortKey(b), less);
		assert_true(a == 0 || CuckooSortKey(a) > 0);
	}
}

static void
a_bucket_takes_four_bits_less_than_its_entries(void **state)
{
	CuckooPacking packing;

	(void) state;
	for_each_width(f, packing)
	{
		assert_int_equal(packing.nibbles * 4, 4 * f - 4);
		assert_int_equal(12 + 4 * packing.high_bits, 4 * packing.nibbles);
		assert_int_equal(CuckooIsNarrow(&packing), f <= 17);
	}
}

static void
what_is_encoded_is_decoded_in_canonical_order(void **state)
{
	CuckooPacking packing;
	uint64_t	random = 2;

	(void) state;
	for_each_width(f, packing)
	{
		for (int i = 0; i < 2000; i++)
		{
			uint32_t	entries[CUCKOO_ENTRIES];
			uint32_t	shuffled[CUCKOO_ENTRIES];
			uint32_t	decoded[CUCKOO_ENTRIES];
			CuckooBits	bits;
			CuckooBits	again;

			RandomEntries(&random, f, entries);
			bits = CuckooEncode(&packing, entries);
			CuckooDecode(&packing, bits, decoded);

			/* One representation, in whatever order the entries are given. */
			for (int slot = 0; slot < CUCKOO_ENTRIES; slot++)
				shuffled[slot] = entries[(slot + i) % CUCKOO_ENTRIES];
			again = CuckooEncode(&packing, shuffled);
			assert_true(bits.low == again.low && bits.high == again.high);

			SortEntries(entries);
			assert_memory_equal(decoded, entries, sizeof(entries));
		}
	}
}

static void
an_empty_bucket_is_all_zero_bits(void **state)
{
	CuckooPacking packing;
	const uint32_t nothing[CUCKOO_ENTRIES] = {0, 0, 0, 0};

	(void) state;
	for_each_width(f, packing)
	{
		CuckooBits	bits = CuckooEncode(&packing, nothing);
		CuckooBits	zero = {0, 0};
		uint32_t	decoded[CUCKOO_ENTRIES];

		assert_true(bits.low == 0 && bits.high == 0);
		CuckooDecode(&packing, zero, decoded);
		assert_memory_equal(decoded, nothing, sizeof(nothing));
	}
}

/*
 * Buckets with even numbers start at a byte, those with odd numbers in the
 * middle of one.  They have the bits described in bucket.h, and a write
 * changes no others: neither those of its neighbours nor those of the tail.
 */
static void
a_write_changes_the_bits_of_its_bucket_and_no_others(void **state)
{
	CuckooPacking packing;
	uint64_t	random = 3;

	(void) state;
	for_each_width(f, packing)
	{
		CuckooShape shape = ShapeOf(1, 14, f);
		size_t		length = (size_t) CuckooDenseBytes(&shape) + CUCKOO_TAIL_BYTES;
		uint8_t    *buckets = Allocate(length);
		uint8_t    *expected = Allocate(length);
		uint32_t	kept[14][CUCKOO_ENTRIES];

		/* In a filter the tail is zero.  Here it would show a write to it. */
		memset(buckets, 0xA5, length);
		memset(expected, 0xA5, length);
		for (int i = 0; i < 400; i++)
		{
			uint32_t	number = i < 14 ? (uint32_t) i : RandomBelow(&random, 14);

			RandomEntries(&random, f, kept[number]);
			CuckooWriteBits(&packing, buckets, number, CuckooEncode(&packing, kept[number]));
			WriteByTheBook(expected, f, number, kept[number]);
			assert_memory_equal(buckets, expected, length);
		}
		for (uint32_t number = 0; number < 14; number++)
		{
			CuckooBits	bits = CuckooReadBits(&packing, buckets, number);
			uint32_t	decoded[CUCKOO_ENTRIES];

			CuckooDecode(&packing, bits, decoded);
			SortEntries(kept[number]);
			assert_memory_equal(decoded, kept[number], sizeof(decoded));

			/* Lookups find its start in their own way. */
			bits = number % 2 == 0 ?
				CuckooReadBitsAt(&packing, CuckooBucketAt(&packing, buckets, number), 0) :
				CuckooReadBitsAt(&packing, CuckooBucketAt(&packing, buckets, number),
								 packing.odd_shift);
			CuckooDecode(&packing, bits, decoded);
			assert_memory_equal(decoded, kept[number], sizeof(decoded));
		}
		free(buckets);
		free(expected);
	}
}

/*
 * The comparison of the high parts in one word, all four of a narrow bucket or
 * two of a wide one, gives the same as a loop over them: with parts equal to,
 * next to, and far from the one looked for, in every place, and with other bits
 * above and below.
 */
static void
matching_high_parts_in_a_word_agrees_with_a_loop(void **state)
{
	CuckooPacking packing;
	uint64_t	random = 4;

	(void) state;
	for_each_width(f, packing)
	{
		uint32_t	most = (uint32_t) ((UINT64_C(1) << f) - 1);
		int			width = packing.high_bits;
		uint64_t	mask = (UINT64_C(1) << width) - 1;
		bool		narrow = CuckooIsNarrow(&packing);

		for (int i = 0; i < 20000; i++)
		{
			uint32_t	fingerprint = (uint32_t) NextRandom(&random) & most;
			uint64_t	wanted = fingerprint >> CUCKOO_LOW_BITS;
			uint64_t	word = NextRandom(&random);
			bool		found = false;

			if (i % 4 == 1)
				wanted = i % 8 == 1 ? 0 : mask;
			if (i % 4 == 1)
				fingerprint = (uint32_t) (wanted << CUCKOO_LOW_BITS) |
					(fingerprint & ((1u << CUCKOO_LOW_BITS) - 1));
			for (int slot = 0; slot < (narrow ? CUCKOO_ENTRIES : 2); slot++)
			{
				int			position = (narrow ? CUCKOO_RANK_BITS : 0) + slot * width;
				uint64_t	part = word >> position & mask;

				switch (RandomBelow(&random, 5))
				{
					case 0:
						if (RandomBelow(&random, 4) == 0)
							part = wanted;
						break;
					case 1:
						part = wanted + 1;
						break;
					case 2:
						part = wanted - 1;
						break;
					case 3:
						part = wanted ^ UINT64_C(1) << RandomBelow(&random, (uint32_t) width);
						break;
					default:
						break;
				}
				part &= mask;
				word = (word & ~(mask << position)) | part << position;
				found |= part == wanted;
			}
			assert_int_equal(CuckooMatchHigh(&packing, word, fingerprint) != 0, found);
		}
	}
}

/* The lowest match of a high part finds the low nibble of that entry. */
static void
the_entry_behind_the_lowest_match_is_told_by_its_low_nibble(void **state)
{
	CuckooPacking packing;
	uint64_t	random = 5;

	(void) state;
	for_each_width(f, packing)
	{
		if (!CuckooIsNarrow(&packing))
			continue;
		for (int i = 0; i < 4000; i++)
		{
			uint32_t	entries[CUCKOO_ENTRIES];
			int			slot = (int) RandomBelow(&random, CUCKOO_ENTRIES);
			uint32_t	fingerprint;
			uint64_t	word;
			uint64_t	matches;
			int			lowest = 0;

			RandomEntries(&random, f, entries);
			SortEntries(entries);
			word = CuckooEncode(&packing, entries).low;
			if (packing.nibbles < 16)
				word |= NextRandom(&random) << (4 * packing.nibbles);
			fingerprint = i % 2 == 0 ? entries[slot] :
				(entries[slot] & ~15u) | RandomBelow(&random, 16);
			matches = CuckooMatchHigh(&packing, word, fingerprint);
			assert_true(matches != 0);
			while (entries[lowest] >> 4 != fingerprint >> 4)
				lowest++;
			assert_int_equal(CuckooMatchLow(&packing, word, matches, fingerprint),
							 entries[lowest] == fingerprint);
		}
	}
}

/*
 * Both searches agree with a loop over the entries of two buckets: among entries
 * with equal high parts or equal nibbles, between other buckets, and in damaged
 * buckets whose twelve bits are no multiset.
 */
static void
a_search_of_two_buckets_agrees_with_a_loop(void **state)
{
	CuckooPacking packing;
	uint64_t	random = 6;

	(void) state;
	for_each_width(f, packing)
	{
		CuckooShape shape = ShapeOf(1, 8, f);
		size_t		length = (size_t) CuckooDenseBytes(&shape) + CUCKOO_TAIL_BYTES;
		uint32_t	most = CuckooShapeFingerprints(&shape);
		uint8_t    *buckets = Allocate(length);
		int			hits = 0;

		for (int i = 0; i < 20000; i++)
		{
			uint32_t	even = 2 * RandomBelow(&random, 4);
			uint32_t	odd = 2 * RandomBelow(&random, 4) + 1;
			uint32_t	entries[2 * CUCKOO_ENTRIES];
			uint32_t	fingerprint;
			bool		found = false;

			if (i % 16 == 0)
			{
				for (size_t at = 0; at < length; at++)
					buckets[at] = (uint8_t) NextRandom(&random);
			}
			if (i % 16 > 1)
			{
				RandomEntries(&random, f, entries);
				CuckooWriteBits(&packing, buckets, even, CuckooEncode(&packing, entries));
				RandomEntries(&random, f, entries);
				CuckooWriteBits(&packing, buckets, odd, CuckooEncode(&packing, entries));
			}
			CuckooDecode(&packing, CuckooReadBits(&packing, buckets, even), entries);
			CuckooDecode(&packing, CuckooReadBits(&packing, buckets, odd),
						 entries + CUCKOO_ENTRIES);
			fingerprint = entries[RandomBelow(&random, 2 * CUCKOO_ENTRIES)];
			if (i % 3 == 0)
				fingerprint = (fingerprint & ~15u) | RandomBelow(&random, 16);
			else if (i % 3 == 1)
				fingerprint ^= 16u << RandomBelow(&random, (uint32_t) packing.high_bits);
			fingerprint &= most;
			for (int slot = 0; slot < 2 * CUCKOO_ENTRIES; slot++)
				found |= entries[slot] == fingerprint;
			hits += found;

			assert_int_equal(CuckooSearch(&packing,
										  CuckooBucketAt(&packing, buckets, even),
										  CuckooBucketAt(&packing, buckets, odd),
										  fingerprint), found);
			if (!CuckooIsNarrow(&packing))
				assert_int_equal(CuckooSearchWide(&packing,
												  CuckooBucketAt(&packing, buckets, even),
												  CuckooBucketAt(&packing, buckets, odd),
												  fingerprint), found);
		}
		assert_true(hits > 5000 && hits < 19000);
		free(buckets);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(multisets_are_numbered_in_order_without_gaps),
		cmocka_unit_test(decoding_a_multiset_undoes_its_rank),
		cmocka_unit_test(the_sort_key_orders_empty_entries_first_then_by_low_nibble),
		cmocka_unit_test(a_bucket_takes_four_bits_less_than_its_entries),
		cmocka_unit_test(what_is_encoded_is_decoded_in_canonical_order),
		cmocka_unit_test(an_empty_bucket_is_all_zero_bits),
		cmocka_unit_test(a_write_changes_the_bits_of_its_bucket_and_no_others),
		cmocka_unit_test(matching_high_parts_in_a_word_agrees_with_a_loop),
		cmocka_unit_test(the_entry_behind_the_lowest_match_is_told_by_its_low_nibble),
		cmocka_unit_test(a_search_of_two_buckets_agrees_with_a_loop),
	};

	return cmocka_run_group_tests_name("bucket", tests, NULL, NULL);
}
