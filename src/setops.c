/*-------------------------------------------------------------------------
 *
 * setops.c
 *	  SQL functions that combine filters: union, union all, their aggregates,
 *	  intersection.
 *
 * The state of the aggregates has one of two forms.  Both are values of the
 * type, so the state can be sent anywhere as an ordinary filter:
 *
 * flat		A filter: that of the only row, or the combination of several small
 *			ones.  This is the cheapest form for many groups of few filters.
 *
 * large	From 64 kB on, or from 16 kB on if far smaller filters are added:
 *			an expanded object with the sorted classes of all filters
 *			(combine.h).  A filter is made from them only when the state is
 *			read, so the cost of adding a filter depends only on that filter.
 *			Combined pairwise, 365 daily filters took 64 s instead of 0.4.
 *
 * Both give the same bytes, because a combination's tables depend only on
 * their classes.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "lib/stringinfo.h"
#include "utils/expandeddatum.h"
#include "utils/memutils.h"

#include "aggstate.h"
#include "setops.h"

/*
 * The cost of combining flat states grows with the size of both filters.
 * Large states have a memory context each, and PostgreSQL visits all of them
 * for each new group of a hash aggregation (40,000 groups of 7 kB: 160 s).  A
 * state therefore becomes large only if it is so large that there cannot be
 * many of them, or if it is much larger than what is added.
 */
#define FLAT_BYTES			65536
#define FLAT_ANYWAY_BYTES	16384
#define FLAT_SHARE			16

/* A filter's key type, seed and shapes, for a message. */
static void
DescribeFilter(StringInfo text, const CuckooHeader *filter)
{
	appendStringInfo(text, "keys of type %s, seed %lld",
					 CuckooKeyTypeDescribe(filter->key_type, filter->signature),
					 (long long) filter->seed);
	if (filter->table_count > 0)
		appendStringInfo(text, " and %d %s with %llu %s", filter->table_count,
						 filter->table_count == 1 ? "sub-filter" : "sub-filters",
						 (unsigned long long) filter->items,
						 filter->items == 1 ? "item" : "items");
}

/* Report why two filters cannot be combined. */
static void
ReportConflict(CuckooConflict conflict, const CuckooHeader *left,
			   const CuckooHeader *right)
{
	StringInfoData detail;
	int			code = ERRCODE_PROGRAM_LIMIT_EXCEEDED;
	const char *message = NULL;
	const char *hint = NULL;
	unsigned long long items = (unsigned long long) (left->items + right->items);

	switch (conflict)
	{
		case CUCKOO_NO_CONFLICT:
			return;
		case CUCKOO_OTHER_SEED:
			code = ERRCODE_INVALID_PARAMETER_VALUE;
			message = "cuckoofilters with different seeds cannot be combined";
			hint = "Build both with the same seed.";
			break;
		case CUCKOO_OTHER_KEY_TYPE:
			code = ERRCODE_DATATYPE_MISMATCH;
			message = "cuckoofilters with different key types cannot be combined";
			hint = "Cast the keys of one to the type of the other when building it.";
			break;
		case CUCKOO_TOO_MANY_TABLES:
			message = "combined cuckoofilter would have too many sub-filters";
			hint = psprintf("Build all filters with the same rate and the final capacity: cuckoo_agg(key, %llu, %g).",
							items, Min(left->fpr, right->fpr));
			break;
		case CUCKOO_TOO_MANY_ITEMS:
			message = "combined cuckoofilter would be too large";
			hint = "Keep several filters, with the keys divided among them by cuckoo_shard.";
			break;
	}
	initStringInfo(&detail);
	appendStringInfoString(&detail, "One has ");
	DescribeFilter(&detail, left);
	appendStringInfoString(&detail, "; the other has ");
	DescribeFilter(&detail, right);
	appendStringInfoChar(&detail, '.');
	ereport(ERROR,
			(errcode(code),
			 errmsg("%s", message),
			 errdetail("%s", detail.data),
			 errhint("%s", hint)));
}

/* Add a filter to a combination. */
static void
AddValue(CuckooCombination *combination, CuckooValue *value)
{
	CuckooFilter filter;
	CuckooConflict conflict;

	CuckooOpenFilter(&filter, value);
	conflict = CuckooCombinationAdd(combination, &filter);
	if (conflict != CUCKOO_NO_CONFLICT)
	{
		combination->header.table_count = combination->pool_count;
		ReportConflict(conflict, &combination->header, &filter.header);
	}
}

/* The filter of a combination. */
static CuckooValue *
MakeValue(CuckooCombination *combination)
{
	CuckooFilter made;
	uint8	   *bytes = CuckooCombinationMake(combination, &made);

	if (bytes == NULL)
		CuckooReportTooLarge(made.items, made.fpr);
	return CuckooMadeValue(bytes, &made);
}

/* Whether a value is what an aggregate returns over no rows. */
static bool
IsUnset(CuckooValue *value)
{
	CuckooFilter filter;

	CuckooOpenFilter(&filter, value);
	return (filter.flags & CUCKOO_FLAG_UNSET) != 0;
}

/* Combine two filters, neither of which is unset. */
static CuckooValue *
CombineSetValues(CuckooOperation operation, CuckooValue *left, CuckooValue *right)
{
	CuckooCombination combination;
	CuckooValue *value;

	CuckooCombinationInit(&combination, operation);
	AddValue(&combination, left);
	AddValue(&combination, right);
	value = MakeValue(&combination);
	CuckooCombinationRelease(&combination);
	return value;
}

CuckooValue *
CuckooCombineValues(CuckooOperation operation, CuckooValue *left, CuckooValue *right)
{
	CuckooFilter filter;

	if (IsUnset(left))
	{
		CuckooOpenFilter(&filter, right);
		return right;
	}
	if (IsUnset(right))
		return left;
	return CombineSetValues(operation, left, right);
}

/*
 * cuckoo_union(f, g) and cuckoo_union_all(f, g).  A NULL filter is an empty
 * one, so the result is the other, which may be NULL, too.
 */
static Datum
CombineArguments(FunctionCallInfo fcinfo, CuckooOperation operation)
{
	CuckooValue *left;
	CuckooValue *right;
	CuckooValue *result;

	if (PG_ARGISNULL(0) && PG_ARGISNULL(1))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
	{
		int			given = PG_ARGISNULL(0) ? 1 : 0;
		CuckooFilter filter;
		Size		bytes;

		CuckooReadHeader(PG_GETARG_DATUM(given), &filter, &bytes);
		CuckooRefuseState(&filter);
		PG_RETURN_DATUM(PG_GETARG_DATUM(given));
	}
	left = PG_GETARG_CUCKOOFILTER_P(0);
	right = PG_GETARG_CUCKOOFILTER_P(1);
	result = CuckooCombineValues(operation, left, right);

	/* If the result is an argument, a stored value need not be stored again. */
	if (result == left)
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	if (result == right)
		PG_RETURN_DATUM(PG_GETARG_DATUM(1));
	PG_RETURN_CUCKOOFILTER_P(result);
}

/* cuckoo_union(f, g), f | g */
PG_FUNCTION_INFO_V1(cuckoo_union);
Datum
cuckoo_union(PG_FUNCTION_ARGS)
{
	return CombineArguments(fcinfo, CUCKOO_UNION);
}

/* cuckoo_union_all(f, g) */
PG_FUNCTION_INFO_V1(cuckoo_union_all);
Datum
cuckoo_union_all(PG_FUNCTION_ARGS)
{
	return CombineArguments(fcinfo, CUCKOO_UNION_ALL);
}

/* cuckoo_intersection(f, g), f & g */
PG_FUNCTION_INFO_V1(cuckoo_intersection);
Datum
cuckoo_intersection(PG_FUNCTION_ARGS)
{
	CuckooFilter left;
	CuckooFilter right;
	CuckooFilter both;
	uint8	   *bytes = NULL;

	CuckooOpenFilter(&left, PG_GETARG_CUCKOOFILTER_P(0));
	CuckooOpenFilter(&right, PG_GETARG_CUCKOOFILTER_P(1));
	ReportConflict(CuckooIntersect(&left, &right, &both, &bytes), &left.header, &right.header);
	if (bytes == NULL)
		CuckooReportTooLarge(both.items, both.fpr);
	PG_RETURN_CUCKOOFILTER_P(CuckooMadeValue(bytes, &both));
}

/*
 * The large form
 */

typedef struct LargeState
{
	ExpandedObjectHeader header;
	CuckooCombination combination;
	CuckooValue *flat;			/* set between the two calls that flatten it */
} LargeState;

static CuckooValue *
LargeMake(LargeState *state)
{
	MemoryContext old = MemoryContextSwitchTo(state->header.eoh_context);

	/* The merged runs belong to the state, the new filter to the caller. */
	CuckooCombinationCollapse(&state->combination);
	MemoryContextSwitchTo(old);
	return MakeValue(&state->combination);
}

static Size
LargeFlatSize(ExpandedObjectHeader *header)
{
	LargeState *state = (LargeState *) header;

	if (state->flat == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(header->eoh_context);

		state->flat = MakeValue(&state->combination);
		MemoryContextSwitchTo(old);
	}
	return VARSIZE(state->flat);
}

static void
LargeFlatten(ExpandedObjectHeader *header, void *result, Size size)
{
	LargeState *state = (LargeState *) header;

	memcpy(result, state->flat, size);
	pfree(state->flat);
	state->flat = NULL;
}

static const ExpandedObjectMethods large_methods = {LargeFlatSize, LargeFlatten};

static LargeState *
LargeNew(CuckooOperation operation, MemoryContext aggcontext)
{
	MemoryContext context = AllocSetContextCreate(aggcontext, "cuckoofilter combination",
												  ALLOCSET_SMALL_SIZES);
	LargeState *state = MemoryContextAllocZero(context, sizeof(LargeState));

	EOH_init_header(&state->header, &large_methods, context);
	CuckooCombinationInit(&state->combination, operation);
	return state;
}

static void
LargeAdd(LargeState *state, CuckooValue *value)
{
	MemoryContext old = MemoryContextSwitchTo(state->header.eoh_context);

	if (state->flat != NULL)
		pfree(state->flat);
	state->flat = NULL;
	AddValue(&state->combination, value);
	MemoryContextSwitchTo(old);
}

/* The large state of these aggregates; NULL if the state is anything else. */
static LargeState *
GetLarge(Datum state)
{
	return (LargeState *) CuckooExpandedState(state, &large_methods);
}

/*
 * The aggregates
 */

/*
 * Whether a flat state stays flat when a value is added.  Both are sizes in
 * bytes.
 */
static bool
StaysFlat(Size state, Size value)
{
	return state + value <= FLAT_BYTES &&
		(state <= FLAT_ANYWAY_BYTES || value >= state / FLAT_SHARE);
}

/*
 * Add a row, or another state, to the state of an aggregate that combines
 * filters.  The first one is copied, because it may be packed or toasted.
 */
static Datum
CombineTransition(FunctionCallInfo fcinfo, CuckooOperation operation)
{
	MemoryContext aggcontext = CuckooAggContext(fcinfo);
	CuckooValue *value;
	CuckooValue *flat;
	LargeState *state;

	if (PG_ARGISNULL(1))
		return CuckooSameState(fcinfo);
	value = PG_GETARG_CUCKOOFILTER_P(1);
	if (PG_ARGISNULL(0))
	{
		CuckooFilter filter;

		CuckooOpenFilter(&filter, value);
		PG_RETURN_CUCKOOFILTER_P(CuckooCopyBytes(CuckooValueBytes(value),
												 VARSIZE_ANY_EXHDR(value)));
	}

	/* An unset filter changes nothing, whatever form the state has. */
	if (IsUnset(value))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	state = GetLarge(PG_GETARG_DATUM(0));
	if (state == NULL)
	{
		flat = PG_GETARG_CUCKOOFILTER_P(0);
		if (IsUnset(flat))
			PG_RETURN_CUCKOOFILTER_P(CuckooCopyBytes(CuckooValueBytes(value),
													 VARSIZE_ANY_EXHDR(value)));
		if (StaysFlat(VARSIZE_ANY_EXHDR(flat), VARSIZE_ANY_EXHDR(value)))
			PG_RETURN_CUCKOOFILTER_P(CombineSetValues(operation, flat, value));
		state = LargeNew(operation, aggcontext);
		LargeAdd(state, flat);
	}
	LargeAdd(state, value);
	PG_RETURN_DATUM(EOHPGetRWDatum(&state->header));
}

/* cuckoo_union_agg_transfn(state, f): also the combine function */
PG_FUNCTION_INFO_V1(cuckoo_union_agg_transfn);
Datum
cuckoo_union_agg_transfn(PG_FUNCTION_ARGS)
{
	return CombineTransition(fcinfo, CUCKOO_UNION);
}

/* cuckoo_union_all_agg_transfn(state, f): also the combine function */
PG_FUNCTION_INFO_V1(cuckoo_union_all_agg_transfn);
Datum
cuckoo_union_all_agg_transfn(PG_FUNCTION_ARGS)
{
	return CombineTransition(fcinfo, CUCKOO_UNION_ALL);
}

void
CuckooWarnOfRate(FunctionCallInfo fcinfo, CuckooValue *value)
{
	CuckooFilter filter;
	double		rate;

	if (fcinfo->flinfo->fn_extra != NULL)
		return;
	CuckooOpenFilter(&filter, value);
	rate = CuckooFilterRate(&filter);
	if (filter.flags & CUCKOO_FLAG_UNSET || rate <= 10 * filter.fpr)
		return;
	fcinfo->flinfo->fn_extra = MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, 1);
	ereport(WARNING,
			(errmsg("expected false-positive rate of cuckoofilter is more than ten times the target rate"),
			 errdetail("It holds %llu items at an expected rate of %g; the target rate is %g.",
					   (unsigned long long) filter.items, rate, filter.fpr),
			 errhint("Specify the final capacity when building the filters: cuckoo_agg(key, %llu, %g).",
					 (unsigned long long) filter.items, filter.fpr)));
}

/*
 * cuckoo_combine_final(state): the filter, which is unset if there were no
 * rows.  It is a copy, because the state may change later: a window calls this
 * for every row.
 */
PG_FUNCTION_INFO_V1(cuckoo_combine_final);
Datum
cuckoo_combine_final(PG_FUNCTION_ARGS)
{
	LargeState *state;
	CuckooValue *value;
	CuckooFilter filter;

	CuckooAggContext(fcinfo);
	if (PG_ARGISNULL(0))
		PG_RETURN_CUCKOOFILTER_P(CuckooUnsetValue());
	state = GetLarge(PG_GETARG_DATUM(0));
	if (state != NULL)
		value = LargeMake(state);
	else
	{
		CuckooValue *flat = PG_GETARG_CUCKOOFILTER_P(0);

		CuckooOpenFilter(&filter, flat);
		value = CuckooCopyBytes(CuckooValueBytes(flat), VARSIZE_ANY_EXHDR(flat));
	}
	CuckooWarnOfRate(fcinfo, value);
	PG_RETURN_CUCKOOFILTER_P(value);
}
