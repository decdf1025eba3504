/*-------------------------------------------------------------------------
 *
 * overlap.c
 *	  What two filters have in common; see overlap.h.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>

#include "overlap.h"

/* A table as its shape and its sorted codes */
typedef struct Codes
{
	CuckooShape shape;
	CuckooList	list;
} Codes;

static void
ReadCodes(const CuckooFilter *filter, Codes *codes)
{
	for (int i = 0; i < filter->header.table_count; i++)
		codes[i] = (Codes) {filter->tables[i].shape, CuckooTableCodes(&filter->tables[i])};
}

static void
FreeCodes(Codes *codes, int count)
{
	for (int i = 0; i < count; i++)
		pfree(codes[i].list.numbers);
}

/* Goes through the ranges of the items of tables, as codes of a shape. */
typedef struct Sweep
{
	const CuckooShape *shape;
	const Codes *tables;
	int			count;
	bool		same[2 * CUCKOO_MAX_TABLES];	/* which of them have the shape */
	uint64_t	at[2 * CUCKOO_MAX_TABLES];	/* the next item of each */
	uint64_t	first[2 * CUCKOO_MAX_TABLES];	/* its first code; UINT64_MAX: no more */
} Sweep;

static inline void
SetFirst(Sweep *sweep, int i)
{
	const Codes *table = &sweep->tables[i];
	uint64_t	at = sweep->at[i];

	sweep->first[i] = at == table->list.count ? UINT64_MAX :
		sweep->same[i] ? table->list.numbers[at] :
		CuckooCodeOf(sweep->shape, CuckooFirstHash(&table->shape, table->list.numbers[at]));
}

static Sweep
OpenSweep(const CuckooShape *shape, const Codes *tables, int count)
{
	Sweep		sweep = {shape, tables, count, .first = {UINT64_MAX}};

	for (int i = 0; i < count; i++)
	{
		sweep.same[i] = CuckooShapeOrder(&tables[i].shape, shape) == 0;
		SetFirst(&sweep, i);
	}
	return sweep;
}

/* The next range by first code, or false; it may overlap earlier ones. */
static inline bool
NextRange(Sweep *sweep, uint64_t *first, uint64_t *last)
{
	const Codes *table;
	uint64_t	next;
	int			i = 0;

	for (int j = 1; j < sweep->count; j++)
	{
		if (sweep->first[j] < sweep->first[i])
			i = j;
	}
	*first = *last = sweep->first[i];
	if (*first == UINT64_MAX)
		return false;
	CuckooCheckInterruptsAt(sweep->at[i]);
	table = &sweep->tables[i];
	next = table->list.numbers[sweep->at[i]++] + 1;
	if (!sweep->same[i])
		*last = CuckooCodeOf(sweep->shape, next < CuckooShapeCodes(&table->shape) ?
							 CuckooFirstHash(&table->shape, next) - 1 : UINT64_MAX);
	SetFirst(sweep, i);
	return true;
}

/* The items of a table that overlap those of others */
static CuckooList
CommonCodes(const CuckooTable *table, const Codes *others, int other_count)
{
	Sweep		sweep = OpenSweep(&table->shape, others, other_count);
	CuckooList	list = CuckooTableCodes(table);
	uint64_t   *codes = list.numbers;
	uint8_t    *found = CuckooAllocate(table->items, 1);	/* overlaps, up to 8 */
	uint64_t	from = 0;
	uint64_t	kept = 0;
	uint64_t	first;
	uint64_t	last;
	int			copies = 0;

	memset(found, 0, (size_t) table->items);
	while (NextRange(&sweep, &first, &last))
	{
		for (; from < table->items && codes[from] < first; from++)
			CuckooCheckInterruptsAt(from);
		for (uint64_t i = from; i < table->items && codes[i] <= last; i++)
			found[i] = (uint8_t) (found[i] + (found[i] < CUCKOO_MAX_COPIES));
	}
	for (uint64_t i = 0; i < table->items; i++)
	{
		CuckooCheckInterruptsAt(i);
		if (i == 0 || codes[i] != codes[i - 1])
			copies = found[i];
		codes[kept] = codes[i];
		kept += copies-- > 0;
	}
	pfree(found);
	list.count = kept;
	return list;
}

/* What the expected rate would be if the filter were removable */
static double
RemovableRate(const CuckooFilter *filter)
{
	CuckooFilter copy = *filter;

	copy.header.flags = 0;
	return CuckooFilterRate(&copy);
}

CuckooConflict
CuckooIntersect(const CuckooFilter *left, const CuckooFilter *right,
				CuckooFilter *filter, uint8_t **bytes)
{
	/* In a register, the x87 keeps more digits, and equal rates would differ. */
	volatile double left_rate = RemovableRate(left);
	volatile double right_rate = RemovableRate(right);
	bool		keep_right = right_rate < left_rate;
	const CuckooFilter *kept = keep_right ? right : left;
	const CuckooFilter *other = keep_right ? left : right;
	Codes		others[CUCKOO_MAX_TABLES];
	CuckooList	runs[CUCKOO_MAX_TABLES];
	CuckooPart	parts[CUCKOO_MAX_TABLES];
	CuckooConflict conflict = CuckooCombineHeaders(CUCKOO_UNION_ALL, &left->header,
												   &right->header, &filter->header);

	if (conflict != CUCKOO_NO_CONFLICT)
		return conflict;
	if ((left->header.flags | right->header.flags) & CUCKOO_FLAG_UNSET)
	{
		filter->header = (CuckooHeader) {.flags = CUCKOO_FLAG_UNSET};
		*bytes = CuckooMakeFilter(filter, NULL, 0);
		return CUCKOO_NO_CONFLICT;
	}
	filter->header.fpr = kept->header.fpr;
	filter->header.capacity = kept->header.capacity;
	ReadCodes(other, others);
	for (int i = 0; i < kept->header.table_count; i++)
	{
		const CuckooTable *table = &kept->tables[i];

		runs[i] = CommonCodes(table, others, other->header.table_count);
		parts[i] = CuckooPartOf(&table->shape, &runs[i]);
	}
	FreeCodes(others, other->header.table_count);
	*bytes = CuckooMakeFilter(filter, parts, kept->header.table_count);
	for (int i = 0; i < kept->header.table_count; i++)
		pfree(runs[i].numbers);
	return CUCKOO_NO_CONFLICT;
}

/*
 * The classes of a table that no range of others overlaps, and how many items it
 * has in them, *held.  Classes are counted, not computed from the rate, which
 * would be up to 50 % off: the ranges of two shapes can have any ratio of widths.
 */
static uint64_t
FreeClasses(const Codes *table, const Codes *others, int count, uint64_t *held)
{
	const CuckooShape *shape = &table->shape;
	Sweep		sweep = OpenSweep(shape, others, count);
	uint64_t	left = CuckooShapeClasses(shape);
	uint64_t	next = 0;		/* codes below are counted */
	uint64_t	i = 0;
	uint64_t	first;
	uint64_t	last;

	*held = table->list.count;
	while (NextRange(&sweep, &first, &last))
	{
		if (last < next)
			continue;
		if (first < next)
			first = next;
		next = last + 1;

		/* No class has the fingerprint 0. */
		left -= next - first - ((last >> shape->bits) - ((first - 1) >> shape->bits));
		for (; i < table->list.count && table->list.numbers[i] <= last; i++)
		{
			CuckooCheckInterruptsAt(i);
			*held -= table->list.numbers[i] >= first;
		}
	}
	return left;
}

/*
 * Estimate how many keys of a table with distinct codes are not in others, by
 * the fraction that it uses of the classes that no range of others overlaps,
 * whose number is set.  Each key is in one at random, so n keys leave a class
 * unused with a probability of exp(-n / classes): linear counting, by Whang,
 * Vander-Zanden and Taylor, 1990.  If the others overlap 60 of 100 classes, and
 * the table uses 10 of the 40 left, it has 100 ln(40 / 30) = 29 keys.
 */
static double
OwnKeys(const Codes *table, const Codes *others, int count, double *classes)
{
	uint64_t	held;
	uint64_t	left = FreeClasses(table, others, count, &held);

	*classes = (double) left;
	return held == left ? INFINITY :
		(double) CuckooShapeClasses(&table->shape) * log1p((double) held / (double) (left - held));
}

/*
 * Estimate how many keys a table has in common with another filter, of which
 * codes has the first "others" tables.  Those after them, before number i,
 * which is the table, are of its own filter: what these have is not counted
 * again.
 *
 * Let a be the number of keys only in the table, and c that of common ones.  Of
 * all m classes, the tables before leave n free, and the other filter f of
 * these; the table leaves N of the n unused, and F of the f.  The estimate is
 *
 *		m ln(F / f) - m ln(N / n)
 *
 * In linear counting, classes are unused independently of each other, with a
 * probability of exp(-(a + c) / m), or exp(-a / m) among the f.  So N and F are
 * binomial, cov(F, N) = var(F) because F is a part of N, and the variance of
 * ln X is var(X) / X^2.  That of the estimate is therefore
 *
 *		m expm1(a / m) (m / f - exp(c / m) m / n)  +  m expm1(c / m) m / n
 *
 * less c, because there are exactly c common keys.  Nearly all of it is the
 * first part, keys * odds below: other keys that are in covered classes by
 * chance.  If the estimate is too high by the error, there are as many more of
 * these.  So the error solves error^2 = (keys + error) * odds, as in Wilson's
 * interval; it would be far too small otherwise if nearly all classes are
 * covered.
 */
static double
CommonKeys(const Codes *codes, int others, int i, double *variance)
{
	double		m = (double) CuckooShapeClasses(&codes[i].shape);
	double		n;
	double		f;
	double		own = OwnKeys(&codes[i], codes + others, i - others, &n);
	double		a = OwnKeys(&codes[i], codes, i, &f);
	double		c = fmax(0, own - a);
	double		odds;
	double		keys;
	double		error;

	/* If no class is left free, nothing is known. */
	if (isinf(a))
	{
		*variance = INFINITY;
		return 0;
	}
	odds = fmax(0, (n - f + n * expm1(-c / m)) / f);
	keys = m * expm1(a / m) * exp(c / m) * m / n;
	error = odds / 2 + sqrt(odds * odds / 4 + keys * odds);
	/* The last part is not negative, but may become so by rounding. */
	*variance += error * error + fmax(0, m * expm1(c / m) * m / n - c);
	return own - a;
}

/*
 * An estimate that is not larger than the distinct keys that a filter can have.
 * In one that is not removable, keys may share an item, and eight copies may
 * stand for more.
 */
static double
AtMostKeys(const CuckooFilter *filter, double keys)
{
	double		items = (double) filter->header.items;

	return keys > items && !(filter->header.flags & CUCKOO_FLAG_NOT_REMOVABLE) &&
		CuckooFilterPinned(filter) == 0 ? items : keys;
}

/*
 * Whether to count the keys of this filter that are in the other one, rather
 * than the reverse.  The finer the classes of its first table are, which are
 * its coarsest, the less likely it is that the other filter covers them all.
 * If both are alike in that, the order of the filters matters for nothing but
 * rounding, unless they have several tables and as many items.
 */
static bool
CountsBetter(const CuckooFilter *filter, const CuckooFilter *other)
{
	uint64_t	codes = CuckooShapeCodes(&filter->tables[0].shape);
	uint64_t	other_codes = CuckooShapeCodes(&other->tables[0].shape);

	if (codes != other_codes)
		return codes > other_codes;
	if (filter->header.table_count != other->header.table_count)
		return filter->header.table_count < other->header.table_count;
	return filter->header.items < other->header.items;
}

CuckooConflict
CuckooCommon(const CuckooFilter *left, const CuckooFilter *right, double *keys, double *error)
{
	CuckooHeader unused;
	CuckooConflict conflict = CuckooCombineHeaders(CUCKOO_UNION_ALL, &left->header,
												   &right->header, &unused);
	const CuckooFilter *counted;
	const CuckooFilter *other;
	Codes		codes[2 * CUCKOO_MAX_TABLES];
	double		sum = 0;
	double		variance = 0;
	int			count;

	*keys = 0;
	*error = 0;
	if (conflict != CUCKOO_NO_CONFLICT || left->header.items == 0 || right->header.items == 0)
		return conflict;
	counted = CountsBetter(right, left) ? right : left;
	other = counted == left ? right : left;
	ReadCodes(other, codes);
	ReadCodes(counted, codes + other->header.table_count);
	count = other->header.table_count + counted->header.table_count;
	for (int i = other->header.table_count; i < count; i++)
	{
		codes[i].list.count = CuckooUnique(codes[i].list.numbers, (size_t) codes[i].list.count);
		sum += CommonKeys(codes, other->header.table_count, i, &variance);
	}
	FreeCodes(codes, count);
	*keys = fmax(0, AtMostKeys(right, AtMostKeys(left, sum)));
	*error = sqrt(variance);
	return CUCKOO_NO_CONFLICT;
}

/*
 * The last table, usually the largest, counts in full.  Each before it has, of the
 * items whose keys are in no later one, as many as its free classes show: if the
 * later ones overlap 60 of 100 classes, and it has 10 items in the 40 left, these
 * are 25 items.
 */
uint64_t
CuckooDistinctItems(const CuckooFilter *filter)
{
	int			count = filter->header.table_count;
	Codes		codes[CUCKOO_MAX_TABLES];
	double		items = 0;

	if (!CuckooItemsMayRepeat(filter))
		return filter->header.items;
	ReadCodes(filter, codes);
	for (int i = 0; i < count; i++)
	{
		uint64_t	held;
		uint64_t	left = FreeClasses(&codes[i], codes + i + 1, count - i - 1, &held);
		double		all = (double) codes[i].list.count;

		items += left == 0 ? all :
			fmin(all, (double) held * (double) CuckooShapeClasses(&codes[i].shape) / (double) left);
	}
	FreeCodes(codes, count);
	return (uint64_t) rint(items);
}
