/*-------------------------------------------------------------------------
 *
 * peers.cpp
 *	  What core.c measures, of cuckoo filters by others.
 *
 *	peers KEYS
 *				nanoseconds per key to build a filter, and to look up absent and
 *				present keys; bits per key; the false-positive rate in percent
 *
 * Compiled against the code of the paper's authors, or with -DSTABLE against
 * that of FastFilter.  Its keys are the numbers that core.c takes for hashes,
 * and it hashes them again, which takes about 1 ns.  Prints tab-separated lines.
 *
 *-------------------------------------------------------------------------
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "cuckoofilter.h"
#ifdef STABLE
#include "cuckoofilter_stable.h"
#define FILTER(bits, table) cuckoofilter::CuckooFilterStable<uint64_t, bits, table>
#else
#define FILTER(bits, table) cuckoofilter::CuckooFilter<uint64_t, bits, table>
#endif

static const size_t queries = 10000000;

/* Processor time in nanoseconds */
static double
Now()
{
	timespec	t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double) t.tv_sec * 1e9 + (double) t.tv_nsec;
}

/* The finalizer of SplitMix64 */
static uint64_t
Key(uint64_t i)
{
	i += 0x9E3779B97F4A7C15;
	i = (i ^ i >> 30) * 0xBF58476D1CE4E5B9;
	i = (i ^ i >> 27) * 0x94D049BB133111EB;
	return i ^ i >> 31;
}

template <typename Filter>
static size_t
LookUp(const Filter &filter, const std::vector<uint64_t> &keys)
{
	size_t		found = 0;

	for (uint64_t key : keys)
		found += filter.Contain(key) == cuckoofilter::Ok;
	return found;
}

template <typename Filter>
static void
Measure(const char *name, size_t count)
{
	std::vector<uint64_t> keys(count), present(queries), absent(queries);
	Filter		filter(count);
	size_t		added = 0;
	size_t		wrong;
	double		start;

	for (size_t i = 0; i < count; i++)
		keys[i] = Key(i);
	for (size_t i = 0; i < queries; i++)
	{
		present[i] = keys[i % count];
		absent[i] = Key((UINT64_C(1) << 40) + i);
	}
	start = Now();
	for (uint64_t key : keys)
		added += filter.Add(key) == cuckoofilter::Ok;
	printf("%zu\t%s: build\t%.1f\n", count, name, (Now() - start) / (double) count);
	start = Now();
	wrong = LookUp(filter, absent);
	printf("%zu\t%s: absent\t%.1f\n", count, name, (Now() - start) / (double) queries);
	start = Now();
	if (added != count || LookUp(filter, present) != queries)
		fprintf(stderr, "%s: not all of %zu keys are found\n", name, count);
	printf("%zu\t%s: present\t%.1f\n", count, name, (Now() - start) / (double) queries);
	printf("%zu\t%s: bits\t%.2f\n", count, name, 8.0 * (double) filter.SizeInBytes() / (double) count);
	printf("%zu\t%s: rate\t%.4f\n", count, name, 100.0 * (double) wrong / (double) queries);
}

int
main(int argc, char **argv)
{
	size_t		count = argc == 2 ? strtoull(argv[1], nullptr, 10) : 0;

	if (count == 0)
		return 1;
#ifdef STABLE
	Measure<FILTER(12, cuckoofilter::SingleTable)>("FastFilter, 12 bits", count);
	Measure<FILTER(13, cuckoofilter::PackedTable)>("FastFilter, 13 bits, semi-sorted", count);
#else
	Measure<FILTER(12, cuckoofilter::SingleTable)>("authors, 12 bits", count);
	Measure<FILTER(13, cuckoofilter::PackedTable)>("authors, 13 bits, semi-sorted", count);
#endif
	return 0;
}
