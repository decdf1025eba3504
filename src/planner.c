/*-------------------------------------------------------------------------
 *
 * planner.c
 *	  What the planner is told about lookups in a filter: how many rows pass,
 *	  and what a lookup costs.
 *
 * If the filter is a constant, the number of rows that pass is not a guess.
 * The column's most common values, whose frequencies are known, are looked up
 * in the filter.  The bounds of the histogram, which are a sample of all other
 * rows, are looked up, too.  PassingFraction describes how that sample and the
 * number of keys in the filter are combined into one estimate.
 *
 * A lookup may be an error (another key type, a type that cannot be a key, a
 * nondeterministic collation).  Nothing here raises it: only execution shows
 * whether the lookup takes place at all.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include <math.h>

#include "access/detoast.h"
#include "access/htup_details.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "nodes/supportnodes.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/selfuncs.h"

#include "cuckoo.h"
#include "core/hash.h"

/*
 * The rows that pass a filter which is not known at planning.
 *
 * A filter is meant to drop most rows, but the fraction that passes ranges
 * from one in a thousand to nearly all.  One in ten is within a factor of ten
 * of everything between 1 % and 100 %.  A smaller fraction, such as
 * PostgreSQL's defaults for "contains" (0.1 % to 1 %), would lead to nested
 * loops over a result that turns out large, which is the costlier mistake.
 */
#define UNKNOWN_FILTER_SEL	0.1

/*
 * The stored filters that hold one given key: WHERE f @> 42 over a table of
 * filters looks for the few that do.  This is PostgreSQL's default for
 * operators that look for a match.
 */
#define STORED_FILTER_SEL	DEFAULT_MATCHING_SEL

/*
 * What a lookup costs, in units of cpu_operator_cost.
 *
 * The unit is the 4.3 ns that one more "bigint < constant" adds to a row of a
 * scan.  A lookup in a filter in the processor's caches adds 36 ns for both
 * bigint and text.  Keys whose canonical bytes must be composed first (array,
 * jsonb, numeric) add another 70 to 140 ns.  A filter too large for the
 * processor's caches adds two cache misses.
 *
 * With keys of any type, this puts lookups after comparisons (1 unit), and
 * before functions in PL/pgSQL or SQL (100 units) and sub-selects.
 */
#define QUESTION_UNITS		8
#define COMPOSED_KEY_UNITS	20
#define CACHE_MISS_UNITS	20
#define CACHE_BYTES			(1024 * 1024)

/* Elements of an array of unknown length, as PostgreSQL assumes. */
#define UNKNOWN_ARRAY_LENGTH	10

/*
 * What the first lookup in a stored filter of any size costs, in units of
 * seq_page_cost: reader.c reads the header and two slices in 3.5 us, and if
 * cpu_operator_cost is 4.3 ns, a page is 1.7 us.
 *
 * If lookups go on, reader.c fetches the whole filter, at about one unit per
 * page.  That is not charged.  It happens only once, however often the scan is
 * repeated, but PostgreSQL charges start-up costs for each repetition, and a
 * thousand units would make the inner side of every nested loop look hopeless.
 * A constant of the plan needs no fetch.
 */
#define FETCH_PAGES			2

/* A TOAST pointer is 18 bytes in its row; every filter is larger. */
#define TOAST_POINTER_WIDTH	18

/* Integers are dense if their range is at most this times their number. */
#define DENSE				1.1

/* Up to 2^53, every integer is exact as a double. */
#define EXACT_INTEGERS		9007199254740992.0

/* How many of these are looked up, in about 20 us. */
#define SAMPLE_SIZE			1000
#define SAMPLE_SEED			1

PG_FUNCTION_INFO_V1(cuckoo_contains_support);
PG_FUNCTION_INFO_V1(cuckoo_contains_sel);
PG_FUNCTION_INFO_V1(cuckoo_contains_joinsel);

/* The result of looking up the values in one slot of a column's statistics. */
typedef struct Answers
{
	int			asked;
	int			contained;
	/* Frequencies, if these are the most common values: */
	double		asked_frequency;	/* of all values looked up */
	double		contained_frequency;	/* of those that the filter contains */
	double		least_frequency;	/* of the least common value */
} Answers;

/*
 * Which argument of the function is the filter?  The one whose type is not
 * polymorphic.  *is_array tells whether the other one is an array of keys.
 */
static int
FilterArgument(Oid function, bool *is_array)
{
	Oid		   *types;
	int			count;
	int			argument;

	get_func_signature(function, &types, &count);
	if (count != 2)
	{
		*is_array = false;
		return 0;
	}
	argument = IsPolymorphicType(types[0]) ? 1 : 0;
	*is_array = types[1 - argument] == ANYCOMPATIBLEARRAYOID;
	return argument;
}

/*
 * Open a constant of the type for lookups.  Returns false if nothing can be
 * looked up in it.
 */
static bool
OpenConstant(CuckooFilter *filter, const Const *constant)
{
	CuckooValue *value;

	/*
	 * Anyone may create an operator with our estimator and operands of other
	 * types, and those have not been through the validator.
	 */
	if (!CuckooIsFilterType(constant->consttype))
		return false;

	/* PostgreSQL has fetched it already: no constant is a TOAST pointer. */
	value = DatumGetCuckooFilterP(constant->constvalue);
	if (CuckooValueBytes(value)[1] != CUCKOO_TABLES)
		return false;
	CuckooOpen(filter, CuckooValueBytes(value), VARSIZE_ANY_EXHDR(value));
	return true;
}

/*
 * Look up the values of one slot of the statistics, except for the given
 * number at either end.
 */
static Answers
AskSlot(const CuckooFilter *filter, CuckooKey *key, HeapTuple statistics,
		int slot_kind, int skip)
{
	Answers		answers = {0};
	AttStatsSlot slot;
	int			wanted = ATTSTATSSLOT_VALUES;

	/* A histogram has no frequencies, and to request them would be an error. */
	if (slot_kind == STATISTIC_KIND_MCV)
		wanted |= ATTSTATSSLOT_NUMBERS;
	if (!get_attstatsslot(&slot, statistics, slot_kind, InvalidOid, wanted))
		return answers;
	for (int i = skip; i < slot.nvalues - skip; i++)
	{
		double		frequency = i < slot.nnumbers ? slot.numbers[i] : 0;
		uint64		hash;

		if (!CuckooKeyTryHash(key, slot.values[i], filter->seed, &hash))
		{
			/* A sample that lacks values is not a sample. */
			if (slot_kind == STATISTIC_KIND_MCV)
				continue;
			memset(&answers, 0, sizeof(answers));
			break;
		}
		if (answers.asked == 0 || frequency < answers.least_frequency)
			answers.least_frequency = frequency;
		answers.asked++;
		answers.asked_frequency += frequency;
		if (CuckooFilterContains(filter, hash))
		{
			answers.contained++;
			answers.contained_frequency += frequency;
		}
	}
	free_attstatsslot(&slot);
	return answers;
}

/* An integer of one of the types whose key type is integer. */
static double
IntegerValue(Oid type, Datum value)
{
	switch (type)
	{
		case INT8OID:
			return (double) DatumGetInt64(value);
		case INT4OID:
			return DatumGetInt32(value);
		case INT2OID:
			return DatumGetInt16(value);
		default:
			return DatumGetObjectId(value);
	}
}

/*
 * A better sample than the histogram, if possible.  If nearly all integers
 * between the smallest and the largest occur, as in a serial column, any of
 * them can be looked up, and many more than a hundred.
 *
 * They are chosen by a hash, because anything regular can coincide with a
 * pattern in the keys.  The histogram can: if ANALYZE has read the whole
 * table, it has, for example, every 200th value, and a filter of every 100th
 * holds all or none of these.
 */
static Answers
AskBetweenEnds(const CuckooFilter *filter, const CuckooKey *key,
			   HeapTuple statistics, double distinct)
{
	Answers		answers = {0};
	AttStatsSlot slot;
	double		first;
	double		numbers;

	if (key->key_type != CUCKOO_KEY_INTEGER ||
		!get_attstatsslot(&slot, statistics, STATISTIC_KIND_HISTOGRAM,
						  InvalidOid, ATTSTATSSLOT_VALUES))
		return answers;
	first = IntegerValue(key->type, slot.values[0]);
	numbers = IntegerValue(key->type, slot.values[slot.nvalues - 1]) - first + 1;
	free_attstatsslot(&slot);
	if (numbers > distinct * DENSE || fabs(first) + numbers > EXACT_INTEGERS)
		return answers;

	answers.asked = SAMPLE_SIZE;
	for (int i = 0; i < answers.asked; i++)
	{
		uint32		random = (uint32) (CuckooHashInt64(i, SAMPLE_SEED) >> 32);
		double		number = first + floor(ldexp(random, -32) * numbers);

		answers.contained +=
			CuckooFilterContains(filter, CuckooHashInt64((int64) number,
														 filter->seed));
	}
	return answers;
}

/*
 * The fraction that passes of the rows whose value is not among the most
 * common ones.
 *
 * There are two sources.  The first is the number of keys in the filter,
 * divided by the number of distinct values.  It is exact if every key occurs
 * in the column and rows are spread evenly over values, and too high if there
 * are keys that do not occur.  The second is the sample, about a hundred rows.
 * It has neither fault, but says little about small fractions.  The first is
 * therefore used, but at most one hit more than the sample has.  Only if the
 * sample has far more hits than that number of keys explains (by two standard
 * deviations), the sample is used instead, up to an upper bound: none of these
 * values is more common than the least common of the most common ones.
 *
 * Simulated with samples of 99: at least 95 % of the estimates are within a
 * factor of two of the truth if all keys occur, and also if more than 10 % of
 * the rows pass.  If most keys do not occur, a sample of a hundred cannot show
 * how far below 1 % the truth lies; the estimate is then 1 %.  Combining the
 * two by Bayes' rule would push the estimate towards 0 for every sample
 * without a hit, and if 1 % pass, 37 of 100 samples have none.
 */
static double
PassingFraction(double by_keys, double at_most, const Answers *sample)
{
	double		hits = sample->contained;

	if (sample->asked == 0)
		return by_keys;
	if (hits - 2 * sqrt(hits) > by_keys * sample->asked)
		return Max(by_keys, Min(at_most, hits / sample->asked));
	return Min(by_keys, (hits + 1) / sample->asked);
}

/* The fraction of a column's rows that are NULL, none of which pass. */
static double
NullFraction(const VariableStatData *column)
{
	if (!HeapTupleIsValid(column->statsTuple))
		return 0;
	return ((Form_pg_statistic) GETSTRUCT(column->statsTuple))->stanullfrac;
}

/* The fraction of a column's rows that pass a known filter. */
static Selectivity
KnownFilterSelectivity(VariableStatData *column, const CuckooFilter *filter,
					   Oid function, Oid collation)
{
	Answers		common = {0};
	Answers		sample = {0};
	double		rate = CuckooFilterRate(filter);
	double		others;			/* rows not among the most common values */
	double		distinct;
	double		by_keys = UNKNOWN_FILTER_SEL;
	double		at_most = 1;
	bool		is_default;

	if (filter->items == 0)
		return 0;

	distinct = get_variable_numdistinct(column, &is_default);
	if (HeapTupleIsValid(column->statsTuple))
	{
		CuckooKey	key;

		if (statistic_proc_security_check(column, function) &&
			CuckooKeyTryInit(&key, column->vartype, collation, CurrentMemoryContext) &&
			CuckooSameKeyType(filter->key_type, filter->signature, &key))
		{
			common = AskSlot(filter, &key, column->statsTuple,
							 STATISTIC_KIND_MCV, 0);

			/*
			 * Without most common values, all values are about equally common.
			 */
			if (common.asked == 0 && !is_default)
				sample = AskBetweenEnds(filter, &key, column->statsTuple, distinct);

			/* The smallest and largest values are the least typical. */
			if (sample.asked == 0)
				sample = AskSlot(filter, &key, column->statsTuple,
								 STATISTIC_KIND_HISTOGRAM, 1);
		}
	}

	others = Max(1 - NullFraction(column) - common.asked_frequency, 0);
	if (!is_default)
	{
		double		keys = Max((double) filter->items - common.contained, 0);

		by_keys = Min(keys / Max(distinct - common.asked, 1), 1);
		at_most = by_keys;
		if (common.asked > 0 && others > 0)
			at_most = Min(keys * common.least_frequency / others, 1);
		by_keys += (1 - by_keys) * rate;
	}
	return common.contained_frequency +
		others * Max(PassingFraction(by_keys, at_most, &sample), rate);
}

/*
 * The fraction of rows for which a filter contains a key, as a restriction on
 * one relation.
 */
static Selectivity
RestrictionSelectivity(PlannerInfo *root, Oid function, Oid collation,
					   List *args, int varRelid)
{
	VariableStatData column;
	Node	   *other;
	bool		column_on_left;
	bool		is_array;
	int			filter_argument = FilterArgument(function, &is_array);
	Selectivity selectivity;

	/* Two columns, or none. */
	if (!get_restriction_variable(root, args, varRelid, &column, &other,
								  &column_on_left))
		return UNKNOWN_FILTER_SEL;

	if (IsA(other, Const) && ((Const *) other)->constisnull)
		selectivity = 0;
	else if (column_on_left == (filter_argument == 0))
		selectivity = (contain_var_clause(other) ? UNKNOWN_FILTER_SEL : STORED_FILTER_SEL) *
			(1 - NullFraction(&column));
	else
	{
		selectivity = UNKNOWN_FILTER_SEL * (1 - NullFraction(&column));
		if (IsA(other, Const))
		{
			MemoryContext ctx = AllocSetContextCreate(CurrentMemoryContext,
													  "cuckoo selectivity",
													  ALLOCSET_DEFAULT_SIZES);
			MemoryContext old = MemoryContextSwitchTo(ctx);
			CuckooFilter filter;

			if (OpenConstant(&filter, (Const *) other))
				selectivity = KnownFilterSelectivity(&column, &filter,
													 function, collation);
			MemoryContextSwitchTo(old);
			MemoryContextDelete(ctx);
		}
	}
	ReleaseVariableStats(column);

	CLAMP_PROBABILITY(selectivity);
	return selectivity;
}

/*
 * cuckoo_contains_sel(internal, oid, internal, integer) -> float8: RESTRICT
 * estimator of @> and <@.
 */
Datum
cuckoo_contains_sel(PG_FUNCTION_ARGS)
{
	PlannerInfo *root = (PlannerInfo *) PG_GETARG_POINTER(0);
	Oid			operator = PG_GETARG_OID(1);
	List	   *args = (List *) PG_GETARG_POINTER(2);
	int			varRelid = PG_GETARG_INT32(3);

	PG_RETURN_FLOAT8(RestrictionSelectivity(root, get_opcode(operator),
											PG_GET_COLLATION(), args, varRelid));
}

/*
 * cuckoo_contains_joinsel(internal, oid, internal, smallint, internal) ->
 * float8: JOIN estimator of @> and <@.
 *
 * The filters are in one table and the keys in another, so each filter is
 * unknown.
 */
Datum
cuckoo_contains_joinsel(PG_FUNCTION_ARGS)
{
	(void) fcinfo;
	PG_RETURN_FLOAT8(UNKNOWN_FILTER_SEL);
}

/* Must the canonical bytes of this type's values be composed? */
static bool
IsComposed(Oid type)
{
	type = getBaseType(type);
	switch (type)
	{
		case NUMERICOID:
		case BITOID:
		case VARBITOID:
		case JSONBOID:
		case RECORDOID:
			return true;
		default:
			return OidIsValid(get_element_type(type)) ||
				get_typtype(type) != TYPTYPE_BASE;
	}
}

/* The number of keys in an array, if it can be determined. */
static double
ArrayLength(Node *array)
{
	if (IsA(array, Const))
	{
		ArrayType  *value;

		if (((Const *) array)->constisnull)
			return 0;
		value = DatumGetArrayTypeP(((Const *) array)->constvalue);
		return ArrayGetNItems(ARR_NDIM(value), ARR_DIMS(value));
	}
	if (IsA(array, ArrayExpr) && !((ArrayExpr *) array)->multidims)
		return list_length(((ArrayExpr *) array)->elements);
	return UNKNOWN_ARRAY_LENGTH;
}

/*
 * Are the filters of this column stored in their rows?  Only ANALYZE's average
 * width of a plain column shows this: otherwise it would be the width of TOAST
 * pointers.
 */
static bool
IsStoredInline(PlannerInfo *root, Node *filter)
{
	Var		   *var = (Var *) filter;
	RangeTblEntry *rte;

	if (!IsA(filter, Var) || var->varlevelsup != 0 ||
		(int) var->varno <= 0 || (int) var->varno >= root->simple_rel_array_size ||
		root->simple_rte_array == NULL)
		return false;
	rte = root->simple_rte_array[var->varno];
	return rte != NULL && rte->rtekind == RTE_RELATION &&
		get_attavgwidth(rte->relid, var->varattno) > TOAST_POINTER_WIDTH;
}

/*
 * Is each row's key looked up in a filter of that row?  Not if the keys come
 * from another relation: then many keys are looked up in each filter.
 */
static bool
IsFilterByRow(PlannerInfo *root, Node *filter, Node *key)
{
	Relids		filters;

	if (root == NULL)
		return false;
	filters = pull_varnos(root, filter);
	return !bms_is_empty(filters) && bms_is_subset(pull_varnos(root, key), filters);
}

/* What a lookup costs: see the constants above. */
static void
EstimateCost(SupportRequestCost *request)
{
	bool		is_array;
	int			filter_argument = FilterArgument(request->funcid, &is_array);
	List	   *args = NIL;
	double		units = QUESTION_UNITS;

	request->startup = 0;
	request->per_tuple = 0;
	if (request->node != NULL && IsA(request->node, FuncExpr))
		args = ((FuncExpr *) request->node)->args;
	else if (request->node != NULL && IsA(request->node, OpExpr))
		args = ((OpExpr *) request->node)->args;

	if (list_length(args) == 2)
	{
		Node	   *filter = list_nth(args, filter_argument);
		Node	   *key = list_nth(args, 1 - filter_argument);
		Oid			key_type = exprType(key);
		Cost		fetch = FETCH_PAGES * seq_page_cost;

		while (IsA(filter, RelabelType))
			filter = (Node *) ((RelabelType *) filter)->arg;
		if (IsA(filter, Const))
		{
			Const	   *constant = (Const *) filter;

			fetch = 0;
			if (!constant->constisnull &&
				toast_raw_datum_size(constant->constvalue) > CACHE_BYTES)
				units += CACHE_MISS_UNITS;
		}
		if (is_array)
		{
			Oid			element_type = get_base_element_type(key_type);

			if (OidIsValid(element_type))
				key_type = element_type;
		}
		if (IsComposed(key_type))
			units += COMPOSED_KEY_UNITS;
		if (is_array)
			units *= ArrayLength(key);
		if (!IsFilterByRow(request->root, filter, key))
			request->startup = fetch;
		else if (!IsStoredInline(request->root, filter))
			request->per_tuple = fetch;
	}
	request->per_tuple += units * cpu_operator_cost;
}

/*
 * cuckoo_contains_support(internal) -> internal: planner support of the
 * functions that look keys up.  The rows that pass are estimated here only if
 * the function is called by name; operators have estimators of their own.
 */
Datum
cuckoo_contains_support(PG_FUNCTION_ARGS)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);

	if (IsA(request, SupportRequestSelectivity))
	{
		SupportRequestSelectivity *selectivity = (SupportRequestSelectivity *) request;
		bool		is_array;

		/*
		 * Estimates for single keys say nothing about any or all of many keys.
		 */
		(void) FilterArgument(selectivity->funcid, &is_array);
		if (is_array)
			PG_RETURN_POINTER(NULL);
		if (selectivity->is_join)
			selectivity->selectivity = UNKNOWN_FILTER_SEL;
		else
			selectivity->selectivity =
				RestrictionSelectivity(selectivity->root, selectivity->funcid,
									   selectivity->inputcollid,
									   selectivity->args, selectivity->varRelid);
		PG_RETURN_POINTER(request);
	}
	if (IsA(request, SupportRequestCost))
	{
		EstimateCost((SupportRequestCost *) request);
		PG_RETURN_POINTER(request);
	}
	PG_RETURN_POINTER(NULL);
}
