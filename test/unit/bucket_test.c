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
RandomEntries(int bits, uint32_t entries[CUCKOO_ENTRIES])
{
	uint32_t	most = (uint32_t) ((UINT64_C(1) << bits) - 1);

	for (int slot = 0; slot < CUCKOO_ENTRIES; slot++)
	{
		uint32_t	value = (uint32_t) NextRandom() & most;

		switch (Below(8))
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

/* Put entries in the order in which a bucket keeps them: see bucket.h. */
static void
SortEntries(uint32_t entries[CUCKOO_ENTRIES])
{
	uint64_t	keys[CUCKOO_ENTRIES];

	for (int i = 0; i < CUCKOO_ENTRIES; i++)
		keys[i] = (uint64_t) (entries[i] & 15) << 32 | entries[i];
	SortNumbers(keys, CUCKOO_ENTRIES);
	for (int i = 0; i < CUCKOO_ENTRIES; i++)
		entries[i] = (uint32_t) keys[i];
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
WriteByTheBook(uint8_t *buckets, int bits, uint64_t number, const uint32_t given[CUCKOO_ENTRIES])
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
		SetBits(buckets, position + 12 + (uint64_t) (i * (bits - 4)), bits - 4, entries[i] >> 4);
}

/*
 * Buckets with even numbers start at a byte, those with odd numbers in the
 * middle of one.  They have the bits described in bucket.h, in whatever order
 * the entries are given, and a write changes no others: neither those of its
 * neighbours nor those of the tail.  An empty bucket is all zero bits.
 */
TEST(a_write_changes_the_bits_of_its_bucket_and_no_others)
{
	CuckooPacking packing;

	for_each_width(f, packing)
	{
		CuckooShape shape = CuckooShapeOf(1, 14, f);
		size_t		length = (size_t) CuckooDenseBytes(&shape) + CUCKOO_TAIL_BYTES;
		uint8_t    *buckets = NewArea(length, 0xA5, true);
		uint8_t    *expected = NewArea(length, 0xA5, true);
		uint32_t	kept[14][CUCKOO_ENTRIES];

		for (int i = 0; i < 1000; i++)
		{
			uint32_t	number = i < 14 ? (uint32_t) i : Below(14);
			uint32_t	shuffled[CUCKOO_ENTRIES] = {0};

			RandomEntries(f, kept[number]);
			if (i % 50 == 0)
				memcpy(kept[number], shuffled, sizeof(shuffled));
			for (int slot = 0; slot < CUCKOO_ENTRIES; slot++)
				shuffled[slot] = kept[number][(slot + i) % CUCKOO_ENTRIES];
			CuckooWritePacked(&packing, buckets, number, CuckooEncode(&packing, shuffled));
			SortEntries(kept[number]);
			WriteByTheBook(expected, f, number, kept[number]);
			assert_memory_equal(buckets, expected, length);
		}
		for (uint32_t number = 0; number < 14; number++)
		{
			uint32_t	decoded[CUCKOO_ENTRIES];

			CuckooDecode(&packing, CuckooReadPacked(&packing, buckets, number), decoded);
			assert_memory_equal(decoded, kept[number], sizeof(decoded));
		}
		pfree(buckets);
		pfree(expected);
	}
}

/*
 * All searches agree with a loop over the entries of two buckets: among entries
 * with equal high parts or equal nibbles, between other buckets, and in damaged
 * buckets whose twelve bits are no multiset.
 */
TEST(a_search_of_two_buckets_agrees_with_a_loop)
{
	CuckooPacking packing;

	for_each_width(f, packing)
	{
		CuckooShape shape = CuckooShapeOf(1, 8, f);
		CuckooTable table = NewTable(&shape, CUCKOO_DENSE, 0);
		uint32_t	most = shape.fingerprints;
		uint8_t    *buckets = table.data;
		int			hits = 0;

		for (int i = 0; i < 20000; i++)
		{
			uint32_t	even = 2 * Below(4);
			uint32_t	odd = 2 * Below(4) + 1;
			const uint8_t *at_even = buckets + CuckooBucketOffset(&packing, even);
			const uint8_t *at_odd = buckets + CuckooBucketOffset(&packing, odd);
			uint32_t	entries[2 * CUCKOO_ENTRIES];
			CuckooPlace place;
			int			copies = 0;
			bool		found;

			if (i % 16 == 0)
			{
				for (size_t at = 0; at < CuckooDenseBytes(&shape); at++)
					buckets[at] = (uint8_t) NextRandom();
			}
			if (i % 16 > 1)
			{
				RandomEntries(f, entries);
				CuckooWritePacked(&packing, buckets, even, CuckooEncode(&packing, entries));
				RandomEntries(f, entries);
				CuckooWritePacked(&packing, buckets, odd, CuckooEncode(&packing, entries));
			}
			CuckooDecode(&packing, CuckooReadPackedAt(&packing, at_even, 0), entries);
			CuckooDecode(&packing, CuckooReadPackedAt(&packing, at_odd, packing.odd_shift),
						 entries + CUCKOO_ENTRIES);

			memset(&place, 0, sizeof(place));
			place.even = place.i1 = even;
			place.i2 = odd;
			place.fingerprint = entries[Below(2 * CUCKOO_ENTRIES)];
			if (i % 3 == 0)
				place.fingerprint = (place.fingerprint & ~15u) | Below(16);
			else if (i % 3 == 1)
				place.fingerprint ^= 16u << Below((uint32_t) packing.high_bits);
			place.fingerprint &= most;
			for (int slot = 0; slot < 2 * CUCKOO_ENTRIES; slot++)
				copies += entries[slot] == place.fingerprint;
			found = copies > 0;
			hits += found;

			assert_int_equal(CuckooCountInPair(&packing, at_even, at_odd, place.fingerprint), copies);
			if (!CuckooIsNarrow(&packing))
				assert_int_equal(CuckooContainsWide(&packing, at_even, at_odd, place.fingerprint),
								 found);
			/* No key has the fingerprint 0, which means an empty entry. */
			if (place.fingerprint == 0)
				continue;
			assert_int_equal(CuckooDenseContainsAt(&table.dense, place), found);
			assert_int_equal(CuckooDenseCount(&table.dense, &place), copies);
		}
		assert_true(hits > 5000 && hits < 19000);
		pfree(table.data);
	}
}
