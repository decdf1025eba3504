/*-------------------------------------------------------------------------
 *
 * portable_page.c
 *	  The pages of a cuckoo index: addresses, intervals, chains, and a model.
 *
 *	portable_page [rows [seed]]
 *
 * portable_small_page.c is the same with small limits.
 *
 *-------------------------------------------------------------------------
 */
#define SUPPORT_PORTABLE
#include "page_model.h"

/*
 * Prefix, pair and fingerprint are parts of the scaled hash.  Therefore the prefixes of a hash
 * are nested, and codes ascend with hashes.
 */
static void
AddressesAreTheScaledHash(void)
{
	for (int i = 0; i < 200000; i++)
	{
		uint32_t	n = i % 8 == 0 ? UINT32_C(1) << 24 : 1 + Below(UINT32_C(1) << (1 + Below(24)));
		uint64_t	pairs = (uint64_t) n * CUCKOO_PAGE_PAIRS;
		uint64_t	hash = i % 16 == 0 ? UINT64_MAX : NextRandom();
		int			depth = (int) Below(25);
		int			bits = 1 + (int) Below(32 - (uint32_t) depth);
		int			code_bits = (int) Below(33);
		uint64_t	code = ScaledHash(pairs, hash, code_bits) + Below(3);
		uint64_t	first = CuckooIndexFirstHash(n, code, code_bits);
		CuckooIndexAddress address = CuckooIndexAddressOf(n, hash, depth);

		assert_true(address.prefix == ScaledHash(n, hash, depth) && address.depth == depth &&
					address.pair == ScaledHash(pairs, hash, depth) % CUCKOO_PAGE_PAIRS);
		assert_true(CuckooIndexClassCode(address.prefix, CuckooIndexAddressClass(&address, bits)) ==
					ScaledHash(pairs, hash, depth + bits));
		assert_true(code == 0 || code >= pairs << code_bits ? first == 0 :
					ScaledHash(pairs, first, code_bits) >= code &&
					ScaledHash(pairs, first - 1, code_bits) < code);
	}
}

/* With one bit more, an entry could not name so many pages of the table. */
static void
FingerprintsAreAsLongAsTheTableAllows(void)
{
	for (int most = CUCKOO_MIN_FINGERPRINT_BITS; most <= CUCKOO_MAX_FINGERPRINT_BITS; most++)
	{
		for (uint64_t span = 1; span < CuckooPageSpan(CUCKOO_MIN_FINGERPRINT_BITS); span *= 2)
		{
			for (uint64_t count = span; count <= span + 1; count++)
			{
				int			bits = CuckooBitsForPages(most, count);
				uint64_t	room = UINT64_C(1) << (CUCKOO_ENTRY_BITS - 1 - bits);

				assert_true(2 * count * CUCKOO_PAGE_POSITIONS <= room);
				assert_true(bits == most || 2 * count * CUCKOO_PAGE_POSITIONS > room / 2);
			}
		}
	}
}

#define NODES	(8 * CUCKOO_PAGE_POSITIONS) /* of four pages of the table */

/* Walk down the tree from its root to a node. */
static void
FindNode(CuckooInterval node, uint64_t *first, uint64_t *size)
{
	*first = 0;
	*size = NODES / 2;
	for (uint64_t at = NODES / 2; at != node; at += node > at ? *size : 0 - *size)
	{
		*size /= 2;
		*first += node > at ? *size : 0;
	}
}

static bool
CoversBoth(CuckooInterval interval, CuckooInterval a, CuckooInterval b)
{
	return CuckooIntervalCovers(interval, a) && CuckooIntervalCovers(interval, b);
}

static void
IntervalsAreNodesOfATree(void)
{
	for (int i = 0; i < 200000; i++)
	{
		CuckooInterval a = 1 + Below(NODES - 1);
		CuckooInterval b = 1 + (i % 2 == 0 ? a + Below(16) : Below(NODES)) % (NODES - 1);
		CuckooInterval joined = CuckooIntervalJoin(a, b);
		uint64_t	half = CuckooIntervalSize(joined) / 2;
		uint64_t	first[2];
		uint64_t	size[2];

		FindNode(a, &first[0], &size[0]);
		FindNode(b, &first[1], &size[1]);
		assert_true(CuckooIntervalFirst(a) == first[0] && CuckooIntervalSize(a) == size[0]);
		assert_true(CuckooIntervalCovers(a, b) ==
					(first[0] <= first[1] && first[1] + size[1] <= first[0] + size[0]));
		assert_true(CuckooIntervalsSharePage(a, b) ==
					(size[0] <= CUCKOO_PAGE_POSITIONS && size[1] <= CUCKOO_PAGE_POSITIONS &&
					 first[0] / CUCKOO_PAGE_POSITIONS == first[1] / CUCKOO_PAGE_POSITIONS));
		assert_true(!CuckooIntervalsSharePage(CUCKOO_TOMBSTONE, a));

		/* Neither child of the smallest that covers both does. */
		assert_true(CoversBoth(joined, a, b) &&
					(half == 0 || (!CoversBoth(joined - half, a, b) && !CoversBoth(joined + half, a, b))));
	}
}

/* How many nodes of a size have any of these intervals, which are smaller */
static int
CountNodes(const CuckooInterval *sorted, int count, uint64_t size)
{
	int			nodes = 0;

	for (int i = 0; i < count; i++)
		nodes += i == 0 || sorted[i] / (2 * size) != sorted[i - 1] / (2 * size);
	return nodes;
}

/* No more is joined than has to be, and all that a smaller size covers. */
static void
TheNearestIntervalsAreJoined(void)
{
	for (int i = 0; i < 20000; i++)
	{
		CuckooInterval before[CUCKOO_PAGE_PAIRS];
		CuckooInterval after[CUCKOO_PAGE_PAIRS];
		int			count = 1 + (int) Below(CUCKOO_PAGE_PAIRS);
		int			most = 1 + (int) Below((uint32_t) count);
		uint32_t	step = UINT32_C(1) << Below(12);
		uint64_t	size = 1;
		int			next = 0;

		for (int k = 0; k < count; k++)
			before[k] = (k == 0 ? 1 : before[k - 1]) + 2 + 2 * (uint64_t) Below(step);
		memcpy(after, before, sizeof(after));
		assert_int_equal(CuckooJoinIntervals(after, count, most), most);
		while (CountNodes(before, count, size) > most)
			size *= 2;
		assert_true(size == 1 || CountNodes(after, most, size / 2) == most);
		for (int k = 0; k < most; k++)
		{
			CuckooInterval joined = before[next];

			for (; next < count && CuckooIntervalCovers(after[k], before[next]); next++)
				joined = CuckooIntervalJoin(joined, before[next]);
			assert_true(after[k] == joined && CuckooIntervalSize(joined) <= size);
		}
		assert_int_equal(next, count);
	}
}

/* The third row of a key in a page of the table, and beyond the most links a quarter of them */
static void
RowsAreJoinedOnlyIfThereAreMany(void)
{
	for (int most = 2; most <= CUCKOO_MAX_LINKS; most += CUCKOO_MAX_LINKS - 2)
	{
		CuckooEntries entries = {0};
		CuckooIndexClass class = {10, 21, CUCKOO_MIN_FINGERPRINT_BITS};
		CuckooTouched touched;

		for (int i = 0; i <= most; i++)
		{
			CuckooChain chain = CuckooChainBegin(&entries, class);
			CuckooInterval interval = CuckooIntervalOf(most == 2 ? 7 : (uint32_t) i, (uint32_t) i);
			int			tombstones = 0;

			assert_true(CuckooEntriesAdd(&entries, class, interval, true, &touched) && touched.count > 0);
			while (CuckooChainNext(&chain, &interval))
				tombstones += interval == CUCKOO_TOMBSTONE;
			assert_int_equal(chain.links, i < most ? i + 1 : most);
			assert_int_equal(tombstones, i < most ? 0 : most == 2 ? 1 : most / 4 - 1);
		}
	}
}

/* Fingerprints are compared to their last bit. */
static void
OtherClassesAreNotFound(void)
{
	for (int bits = CUCKOO_MIN_FINGERPRINT_BITS; bits <= CUCKOO_MAX_FINGERPRINT_BITS; bits++)
	{
		CuckooEntries entries = {0};
		CuckooIndexClass class = {20, 1, bits};
		CuckooInterval interval;
		CuckooTouched touched;
		CuckooChain chain;

		assert_true(CuckooEntriesAdd(&entries, class, CuckooIntervalOf(0, 1), true, &touched));
		chain = CuckooChainBegin(&entries, class);
		assert_true(CuckooChainNext(&chain, &interval) && interval == CuckooIntervalOf(0, 1));
		for (int bit = 0; bit < bits; bit++)
		{
			CuckooIndexClass other = {20, class.fingerprint ^ UINT32_C(1) << bit, bits};

			chain = CuckooChainBegin(&entries, other);
			assert_true(!CuckooChainNext(&chain, &interval));
		}
	}
}

int
main(int argc, char **argv)
{
	long		rows_left = argc > 1 ? atol(argv[1]) : 150000;

	if (argc > 2)
		random_state = strtoull(argv[2], NULL, 10);
	AddressesAreTheScaledHash();
	FingerprintsAreAsLongAsTheTableAllows();
	IntervalsAreNodesOfATree();
	TheNearestIntervalsAreJoined();
	RowsAreJoinedOnlyIfThereAreMany();
	OtherClassesAreNotFound();
	for (; rows_left > 0; rows_left -= LivePages())
		FreeAll();
	FreeAll();
	printf("7 passed, 0 failed\n");
	return 0;
}
