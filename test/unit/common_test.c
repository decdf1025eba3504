/*-------------------------------------------------------------------------
 *
 * common_test.c
 *	  How many keys two filters have in common: the estimate and its error.
 *
 *-------------------------------------------------------------------------
 */
#include "support.h"

typedef struct Estimate
{
	double		keys;
	double		error;
} Estimate;

static Estimate
Common(const Value *left, const Value *right)
{
	CuckooFilter f = Open(left);
	CuckooFilter g = Open(right);
	Estimate	estimate = {-1, -1};

	assert_int_equal(CuckooCommon(&f, &g, &estimate.keys, &estimate.error), CUCKOO_NO_CONFLICT);
	return estimate;
}

/* Nearly the same numbers: some machines compute with more digits. */
static bool
AreClose(double a, double b)
{
	return fabs(a - b) <= 1e-6 * (1 + fabs(b));
}

/* -------------------------------------------------- counted one by one */

/* Mark the classes of a shape that a table covers. */
static void
Cover(const CuckooShape *shape, const CuckooTable *table, bool *covered)
{
	uint64_t   *codes = CuckooTableCodes(table).numbers;

	for (uint64_t i = 0; i < table->items; i++)
	{
		uint64_t	first = CuckooCodeOf(shape, HashOfCode(&table->shape, codes[i]));
		uint64_t	last = CuckooCodeOf(shape, LastHashOfCode(&table->shape, codes[i]));

		for (uint64_t code = first; code <= last; code++)
			covered[code] = (code & shape->fingerprints) != 0;
	}
	pfree(codes);
}

/* The same as CuckooCommon, with a mark for each class. */
static Estimate
CommonOneByOne(const CuckooFilter *counted, const CuckooFilter *other)
{
	Estimate	sum = {0, 0};

	for (int t = 0; t < counted->header.table_count; t++)
	{
		const CuckooTable *table = &counted->tables[t];
		uint64_t	codes = CuckooShapeCodes(&table->shape);
		bool	   *held = Allocate((size_t) codes);
		bool	   *covered = Allocate((size_t) codes);
		bool	   *before = Allocate((size_t) codes);
		double		m = (double) CuckooShapeClasses(&table->shape);
		double		n = 0, f = 0, own = 0, only = 0;
		double		a, c, d, left;

		Cover(&table->shape, table, held);
		for (int u = 0; u < t; u++)
			Cover(&table->shape, &counted->tables[u], before);
		for (int u = 0; u < other->header.table_count; u++)
			Cover(&table->shape, &other->tables[u], covered);
		for (uint64_t code = 0; code < codes; code++)
		{
			bool		class = (code & table->shape.fingerprints) != 0;

			n += class && !before[code];
			own += held[code] && !before[code];
			f += class && !before[code] && !covered[code];
			only += held[code] && !before[code] && !covered[code];
		}
		pfree(held);
		pfree(before);
		pfree(covered);
		a = m * log(f / (f - only));
		d = m * log(n / (n - own)) - a;
		c = d < 0 ? 0 : d;
		left = n * exp(-c / m);
		left = left < f ? f : left;
		sum.keys += d;
		d = (left - f) / f / 2;
		d += sqrt(d * d + m * (exp(a / m) - 1) * m * exp(c / m) / n * 2 * d);
		sum.error += d * d + m * (exp(c / m) - 1) * m / n - c;
	}
	if (counted->header.items < sum.keys && counted->header.flags == 0)
		sum.keys = (double) counted->header.items;
	if (other->header.items < sum.keys && other->header.flags == 0)
		sum.keys = (double) other->header.items;
	sum.keys = sum.keys < 0 ? 0 : sum.keys;
	sum.error = sqrt(sum.error);
	return sum;
}

static Value
SmallValue(void)
{
	Value		parts[4];
	int			count = 0;

	do
	{
		bool		crowded = Below(8) == 0;	/* perhaps of every class */
		CuckooShape shape = crowded ? CuckooShapeOf(1, 2, 5) :
			CuckooShapeOf(1 + Below(3), 2 * (1 + Below(12)), 5 + (int) Below(5));
		uint64_t	keys = Below(crowded ? 200 : (uint32_t) CuckooShapeEntries(&shape));
		uint64_t	first = Below(100);
		uint64_t   *codes = HashesOf(1, first, first + keys);

		for (uint64_t i = 0; i < keys; i++)
			codes[i] = CuckooCodeOf(&shape, codes[i]);
		SortNumbers(codes, keys);
		keys = CuckooUnique(codes, (size_t) keys);
		parts[count++] = ValueOfCodes(&shape, codes, keys, 0.1, 0);
	} while (count < 3 && Below(2) == 0);

	/* Sometimes with copies, sometimes not removable */
	parts[count] = parts[0];
	return Combine((CuckooOperation) Below(2), parts, count + (int) Below(2));
}

/* Where to count, as it is documented */
static bool
RightIsCounted(const CuckooFilter *left, const CuckooFilter *right)
{
	uint64_t	codes[2] = {CuckooShapeCodes(&left->tables[0].shape),
	CuckooShapeCodes(&right->tables[0].shape)};

	if (codes[0] != codes[1])
		return codes[1] > codes[0];
	return left->header.table_count != right->header.table_count ?
		right->header.table_count < left->header.table_count :
		right->header.items < left->header.items;
}

TEST(the_estimate_is_that_of_classes_counted_one_by_one)
{
	int			unknown = 0;

	for (int round = 0; round < 1000; round++)
	{
		Value		values[2] = {SmallValue(), SmallValue()};
		CuckooFilter f = Open(&values[0]);
		CuckooFilter g = Open(&values[1]);
		Estimate	found = Common(&values[0], &values[1]);
		Estimate	wanted = RightIsCounted(&f, &g) ? CommonOneByOne(&g, &f) :
			CommonOneByOne(&f, &g);

		if (f.header.items == 0 || g.header.items == 0)
			wanted = (Estimate) {0, 0};
		/* A few filters cover everything: then nothing is known. */
		unknown += isinf(found.error);
		if (!isfinite(wanted.keys + wanted.error) ? !isfinite(found.keys) || !isinf(found.error) :
			!AreClose(found.keys, wanted.keys) || !AreClose(found.error, wanted.error))
			fail_msg("round %d: %g +- %g, not %g +- %g", round, found.keys, found.error,
					 wanted.keys, wanted.error);
		FreeAll();
	}
	assert_true(unknown > 10);
}

/* The same as CuckooDistinctItems */
static double
DistinctOneByOne(const CuckooFilter *filter)
{
	double		sum = 0;

	for (int t = 0; t < filter->header.table_count; t++)
	{
		const CuckooTable *table = &filter->tables[t];
		uint64_t	codes = CuckooShapeCodes(&table->shape);
		uint64_t   *items = CuckooTableCodes(table).numbers;
		bool	   *covered = Allocate((size_t) codes);
		double		free = 0, held = 0;

		for (int u = t + 1; u < filter->header.table_count; u++)
			Cover(&table->shape, &filter->tables[u], covered);
		for (uint64_t code = 0; code < codes; code++)
			free += (code & table->shape.fingerprints) != 0 && !covered[code];
		for (uint64_t i = 0; i < table->items; i++)
			held += !covered[items[i]];
		held *= (double) CuckooShapeClasses(&table->shape) / free;
		/* If no class is free, nothing is known, and all items count. */
		sum += free == 0 || held > (double) table->items ? (double) table->items : held;
		pfree(covered);
		pfree(items);
	}
	return sum;
}

TEST(distinct_items_are_those_of_free_classes_counted_one_by_one)
{
	int			estimates = 0;

	for (int round = 0; round < 1000; round++)
	{
		Value		value = SmallValue();
		CuckooFilter filter = Open(&value);
		double		found = (double) CuckooDistinctItems(&filter);
		bool		estimate = filter.header.table_count > 1 && filter.header.flags != 0;
		double		wanted = estimate ? DistinctOneByOne(&filter) : (double) filter.header.items;

		/* Half an item more or less rounds either way. */
		if (fabs(found - wanted) > 0.5 + 1e-6)
			fail_msg("round %d: %g, not %g", round, found, wanted);
		estimates += estimate && wanted < (double) filter.header.items;
		FreeAll();
	}
	assert_true(estimates > 100);
}

/* -------------------------------------------------------- sets of keys */

/* How a filter got its keys. */
typedef enum Making
{
	BUILT,
	GROWN,						/* from a tenth of its size */
	MULTISET,					/* some keys up to five times */
	UNITED,						/* in a table for a tenth of them */
	ROOMY,						/* in a table for ten times as many */
	MAKINGS
} Making;

static Value
MakeValue(Making making, uint64_t stream, uint64_t first, uint64_t last, double fpr)
{
	uint64_t	count = last - first;
	uint64_t	tenth = 1 + count / 10;
	uint64_t	capacity = making == BUILT ? 0 : making == MULTISET ? count :
		making == ROOMY ? 10 * count : tenth;
	Value		value = ValueOfKeys(stream, first, making == GROWN || making == UNITED ? first : last,
									fpr, capacity);

	if (making == GROWN)
		AddKeys(&value, stream, first, last);
	for (uint64_t part = 1; making == MULTISET && part <= 8; part += part)
	{
		Value		more = ValueOfKeys(stream, first, first + count / part, fpr, count);

		value = CombineTwo(CUCKOO_UNION_ALL, &value, &more);
	}
	for (uint64_t at = first; making == UNITED && at < last; at += tenth)
	{
		Value		more = ValueOfKeys(stream, at, at + tenth < last ? at + tenth : last, fpr, tenth);

		value = CombineTwo(CUCKOO_UNION, &value, &more);
	}
	return value;
}

/* From 10 to 10,000, as many of one size as of another */
static uint64_t
RandomSize(void)
{
	return (uint64_t) (10 * pow(1000, Below(1000) / 1000.0));
}

typedef struct Score
{
	int			trials;
	int			outside;		/* of two errors */
	double		off;			/* sum, in errors */
	double		squares;
} Score;

static void
AddToScore(Score *score, Estimate estimate, double truth)
{
	/* An error of less than half a key is lost by rounding. */
	double		off = (estimate.keys - truth) / fmax(estimate.error, 0.5);

	score->trials++;
	score->outside += fabs(rint(estimate.keys) - truth) > 2 * estimate.error + 0.5;
	score->off += off;
	score->squares += off * off;
}

/*
 * Sets of 10 to 10,000 keys with any of four rates.  The error is not larger than
 * it has to be.  Because the estimate is never negative, that of disjoint sets
 * is 0.4 errors too high on average.
 */
TEST(the_estimate_is_within_two_errors)
{
	static const double rates[] = {0.1, 0.01, 0.001, 1e-6};
	Score		scores[MAKINGS + 4] = {{0, 0, 0, 0}};

	for (int round = 0; round < 1500; round++)
	{
		uint64_t	stream = 100 + (uint64_t) round;
		Making		making = (Making) Below(MAKINGS);
		Making		other = (Making) Below(MAKINGS);
		uint64_t	left = RandomSize();
		uint64_t	right = RandomSize();
		uint64_t	less = left < right ? left : right;
		uint64_t	overlaps[] = {0, less / 100, less / 2, less};
		uint32_t	overlap = Below(4);
		uint64_t	common = overlaps[overlap];
		Value		f = MakeValue(making, stream, 0, left, rates[Below(4)]);
		Value		g = MakeValue(other, stream, left - common, left - common + right, rates[Below(4)]);
		Estimate	estimate = Common(&f, &g);
		Estimate	swapped = Common(&g, &f);

		/* The order of the filters does not matter. */
		assert_true(estimate.keys == swapped.keys && estimate.error == swapped.error);
		AddToScore(&scores[making], estimate, (double) common);
		AddToScore(&scores[MAKINGS + overlap], estimate, (double) common);
		FreeAll();
	}
	for (size_t i = 0; i < lengthof(scores); i++)
	{
		double		n = scores[i].trials;
		double		off = scores[i].off / n;
		double		deviation = sqrt(scores[i].squares / n);

		if (scores[i].outside > 0.05 * n || fabs(off) > 0.45 || deviation < 0.5 || deviation > 1)
			fail_msg("%zu: of %g, %d outside, %g errors off, deviation %g errors", i, n,
					 scores[i].outside, off, deviation);
	}
}

/*
 * Unions of 2 to 16 filters of 20 to 20,000 keys, of sizes that differ by up to a
 * tenth or by any factor.  Each filter begins somewhere after the one before, from
 * at the same key to behind its last one.  Counting each item would be up to 16
 * times too many.
 */
TEST(a_union_of_many_shapes_counts_a_key_once)
{
	static const double rates[] = {0.01, 0.001, 1e-6};
	int			outside = 0;
	double		off = 0;

	for (int round = 0; round < 600; round++)
	{
		uint64_t	least = (uint64_t) (20 * pow(1000, Below(1000) / 1000.0));
		uint64_t	step = least * Below(5) / 3;
		uint32_t	spread = (uint32_t) (Below(2) == 0 ? least / 10 : 3 * least);
		int			count = 2 + (int) Below(15);
		double		fpr = rates[Below(lengthof(rates))];
		uint64_t	end = 0;	/* the first key that is in none */
		uint64_t	keys = 0;
		Value		parts[16];
		Value		value;
		CuckooFilter filter;
		double		difference;

		for (int i = 0; i < count; i++)
		{
			uint64_t	first = step * (uint64_t) i;
			uint64_t	last = first + least + Below(spread + 1);

			parts[i] = ValueOfKeys(3000 + (uint64_t) round, first, last, fpr, last - first);
			if (last > end)
			{
				keys += last - (first > end ? first : end);
				end = last;
			}
		}
		value = Combine(CUCKOO_UNION, parts, count);
		filter = Open(&value);
		difference = (double) CuckooDistinctItems(&filter) - (double) keys;
		outside += fabs(difference) > (double) keys * CuckooFilterRate(&filter) + 2;
		off += difference / (double) keys;
		FreeAll();
	}
	if (outside > 6 || fabs(off / 600) > 0.002)
		fail_msg("%d outside, %g off", outside, off / 600);
}

/* Of others, and of one that grew without a key twice, all items count. */
TEST(items_of_removable_and_of_grown_filters_are_not_estimated)
{
	uint64_t	grown_to = 5000;
	uint64_t   *hashes = HashesOf(1, 0, grown_to);
	Value		grown = ValueOfKeys(1, 0, 0, 0.01, 100);
	Value		parts[2] = {ValueOfKeys(1, 0, 1000, 0.01, 1000), ValueOfKeys(1, 0, 1000, 0.01, 2000)};
	Value		summed = Combine(CUCKOO_UNION_ALL, parts, 2);
	CuckooFilter filter = Open(&summed);
	CuckooDraft draft;
	size_t		changed;

	assert_int_equal(filter.header.table_count, 2);
	assert_int_equal(CuckooDistinctItems(&filter), 2000);

	CuckooDraftOpen(&draft, grown.bytes, grown.length);
	draft.filter.header.flags = CUCKOO_FLAG_NOT_REMOVABLE;
	CuckooDraftApply(&draft, hashes, grown_to, CUCKOO_ADD_NEW, &changed);
	grown = Finish(&draft);
	filter = Open(&grown);
	assert_true(filter.header.table_count > 1);
	assert_true(changed > 0.99 * grown_to && changed == filter.header.items);
	assert_int_equal(CuckooDistinctItems(&filter), changed);
}

/* ------------------------------------------------------------------ limits */

/* Of one key and itself, the second part of the variance may round to less than 0. */
TEST(the_error_of_a_key_and_itself_is_a_number)
{
	for (uint64_t i = 0; i < 2000; i++)
	{
		Value		value = ValueOfKeys(1, i, i + 1, 2e-8, 1 + 100000 * i);
		Estimate	estimate = Common(&value, &value);

		assert_true(rint(estimate.keys) == 1 && estimate.error >= 0 && estimate.error < 1);
		FreeAll();
	}
}

/* Eight copies may stand for more keys: 80 filters of 1,000 keys by union all. */
TEST(the_estimate_is_not_limited_by_items_of_eight_copies)
{
	Value		parts[80];
	Value		value;
	Estimate	estimate;

	for (uint64_t i = 0; i < lengthof(parts); i++)
		parts[i] = ValueOfKeys(1, 1000 * i, 1000 * i + 1000, 0.1, 1000);
	value = Combine(CUCKOO_UNION_ALL, parts, lengthof(parts));
	estimate = Common(&value, &value);
	assert_true(fabs(estimate.keys - 80000) <= 2 * estimate.error);
	assert_true(estimate.keys > (double) Open(&value).header.items);
}

TEST(counting_checks_for_interrupts)
{
	for (uint64_t more = 0; more <= 100; more += 100)
	{
		Value		f = ValueOfKeys(1, 0, 300000, 0.01, 300000);
		Value		g = ValueOfKeys(1, 200000, 500000, 0.01, 300000 + more);
		CuckooFilter filters[2] = {Open(&f), Open(&g)};
		uint64_t   *codes;
		int			reading;

		/* Both tables are read, and their codes then gone through. */
		interrupt_checks = 0;
		codes = CuckooTableCodes(&filters[0].tables[0]).numbers;
		CuckooUnique(codes, 300000);
		pfree(codes);
		pfree(CuckooTableCodes(&filters[1].tables[0]).numbers);
		reading = interrupt_checks;
		interrupt_checks = 0;
		Common(&f, &g);
		assert_true(interrupt_checks >= reading + 2 * (300000 / CUCKOO_INTERRUPT_STEP));
		FreeAll();
	}
}
