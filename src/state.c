/*-------------------------------------------------------------------------
 *
 * state.c
 *	  The states of aggregates; see state.h.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "utils/memutils.h"

#include "state.h"

/* The context of the calling aggregate, in a window or outside (state.h) */
MemoryContext
CuckooFindAggContext(FunctionCallInfo fcinfo)
{
	MemoryContext aggcontext;

	if (!AggCheckCallContext(fcinfo, &aggcontext))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("aggregate function called in non-aggregate context")));
	return aggcontext;
}

static Size
LargeFlatSize(ExpandedObjectHeader *header)
{
	CuckooLarge *large = (CuckooLarge *) header;
	MemoryContext old = MemoryContextSwitchTo(header->eoh_context);

	if (large->made != NULL)
		pfree(large->made);
	large->made = NULL;
	large->made = large->make(large);
	MemoryContextSwitchTo(old);
	return VARSIZE(large->made);
}

static void
LargeFlatten(ExpandedObjectHeader *header, void *result, Size size)
{
	CuckooLarge *large = (CuckooLarge *) header;

	CuckooCopy(result, large->made, size);
	pfree(large->made);
	large->made = NULL;
}

const ExpandedObjectMethods CuckooLargeMethods = {LargeFlatSize, LargeFlatten};

CuckooLarge *
CuckooLargeNew(Size bytes, CuckooValue *(*make) (CuckooLarge *large),
			   MemoryContext aggcontext)
{
	MemoryContext context = AllocSetContextCreate(aggcontext, "cuckoofilter state",
												  ALLOCSET_SMALL_SIZES);
	CuckooLarge *large = MemoryContextAllocZero(context, bytes);

	EOH_init_header(&large->header, &CuckooLargeMethods, context);
	large->make = make;
	return large;
}

/* A capacity as it is written in SQL */
static char *
DescribeCapacity(uint64 capacity)
{
	return capacity == 0 ? "NULL" : psprintf("%llu", (unsigned long long) capacity);
}

void
CuckooMatchHeaders(CuckooHeader *a, const CuckooHeader *b)
{
	if (!CuckooSameKeyType(a->key_type, a->signature, b->key_type, b->signature))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("key types of one aggregate differ between rows"),
				 errdetail("One key is of type %s, another of type %s.",
						   CuckooKeyTypeDescribe((CuckooKeyType) a->key_type, a->signature),
						   CuckooKeyTypeDescribe((CuckooKeyType) b->key_type, b->signature))));
	if (a->fpr != b->fpr)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("false-positive rate of one aggregate differs between rows"),
				 errdetail("It is %g in one row and %g in another.", a->fpr, b->fpr)));
	if (a->capacity != b->capacity)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("capacity of one aggregate differs between rows"),
				 errdetail("It is %s in one row and %s in another.",
						   DescribeCapacity(a->capacity), DescribeCapacity(b->capacity))));
	if (a->seed != b->seed)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("seed of one aggregate differs between rows"),
				 errdetail("It is %lld in one row and %lld in another.",
						   (long long) a->seed, (long long) b->seed)));
	if (a->key_type == CUCKOO_KEY_NONE)
	{
		a->key_type = b->key_type;
		a->signature = b->signature;
	}
}

/*
 * States of cuckoo_agg
 */

CuckooFlat *
CuckooFlatNew(const CuckooHeader *header, uint32 room)
{
	size_t		bytes = offsetof(CuckooFlat, hashes) + room * sizeof(uint64);
	CuckooFlat *flat = palloc0(bytes);

	SET_VARSIZE(flat, bytes);
	flat->version = CUCKOO_FLAT_VERSION;
	flat->content = CUCKOO_LIST;
	flat->room = room;
	flat->header = *header;
	flat->header.items = 0;
	return flat;
}

CuckooHeader
CuckooStateHeader(CuckooValue *value)
{
	const CuckooFlat *flat = (CuckooFlat *) value;
	const CuckooHeader *header = &flat->header;
	CuckooFilter partial;

	if (CuckooContentOf(value) == CUCKOO_PARTIAL)
	{
		CuckooOpenHeader(&partial, CuckooValueBytes(value), VARSIZE_ANY_EXHDR(value));
		return partial.header;
	}
	/* A NaN fails both comparisons of the rate. */
	if (!CuckooFlatIsSafe(flat) ||
		!(header->fpr >= CUCKOO_MIN_FPR && header->fpr <= CUCKOO_MAX_FPR) ||
		header->capacity > CUCKOO_MAX_CAPACITY ||
		header->key_type > CUCKOO_KEY_LAST || header->flags != 0 || header->table_count != 0 ||
		CuckooKeyTypeIsNested((CuckooKeyType) header->key_type) != (header->signature != 0) ||
		/* The key type is unknown only if there are no keys. */
		(header->key_type == CUCKOO_KEY_NONE && header->items > 0))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cuckoofilter is not the state of this aggregate")));
	return *header;
}

CuckooRun
CuckooFlatSorted(const CuckooFlat *flat)
{
	CuckooList	list = {0};

	CuckooListReserve(&list, flat->header.items);
	list.count = flat->header.items;
	if (list.count > 0)
		memcpy(list.numbers, flat->hashes, list.count * sizeof(uint64));
	CuckooListUnique(&list);
	return (CuckooRun) {list.numbers, list.count};
}

CuckooValue *
CuckooPartialValue(const CuckooHeader *header, const CuckooRun *runs, uint64 run_count,
				   uint64 count)
{
	CuckooFilter partial;
	CuckooValue *value;
	uint64		at = 0;

	partial.header = *header;
	partial.content = CUCKOO_PARTIAL;
	partial.items = count;
	if (CuckooBytes(&partial) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("state of cuckoo_agg is too large to be sent"),
				 errdetail("It holds %llu distinct keys.", (unsigned long long) count),
				 errhint("Use cuckoo_stream_agg, or aggregate without parallel workers.")));
	value = CuckooNewValue(CuckooBytes(&partial));
	CuckooLayOut(&partial, CuckooValueBytes(value));
	for (uint64 run = 0; run < run_count; run++)
	{
		CHECK_FOR_INTERRUPTS();
		for (uint64 i = 0; i < runs[run].count; i++)
			CuckooStore64(partial.hashes + 8 * at++, runs[run].numbers[i]);
	}
	CuckooAssertValid(value);
	return value;
}

CuckooValue *
CuckooSendableValue(CuckooValue *value)
{
	CuckooHeader header;
	CuckooRun	sorted;

	if (CuckooContentOf(value) != CUCKOO_LIST)
		return value;
	/* In a tuple it may have lost its alignment. */
	value = (CuckooValue *) PG_DETOAST_DATUM_COPY(PointerGetDatum(value));
	header = CuckooStateHeader(value);
	sorted = CuckooFlatSorted((CuckooFlat *) value);
	return CuckooPartialValue(&header, &sorted, 1, sorted.count);
}

/*
 * States that are filters
 *
 * Such a state has one of two forms.  Both are values of the type, so the state
 * can be sent anywhere as an ordinary filter:
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
 */

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

typedef struct UnionState
{
	CuckooLarge large;
	CuckooCombination combination;
} UnionState;

/* The merged runs belong to the state, the new filter to the caller. */
static CuckooValue *
MakeUnion(CuckooLarge *large)
{
	UnionState *state = (UnionState *) large;
	MemoryContext old = MemoryContextSwitchTo(large->header.eoh_context);

	CuckooCombinationCollapse(&state->combination);
	MemoryContextSwitchTo(old);
	return CuckooCombinationMakeValue(&state->combination);
}

static void
AddToUnion(UnionState *state, CuckooValue *value)
{
	MemoryContext old = MemoryContextSwitchTo(state->large.header.eoh_context);

	CuckooCombinationAddValue(&state->combination, value);
	MemoryContextSwitchTo(old);
}

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

Datum
CuckooCombineState(FunctionCallInfo fcinfo, CuckooOperation operation, bool match)
{
	MemoryContext aggcontext = CuckooAggContext(fcinfo);
	CuckooValue *value;
	CuckooValue *flat = NULL;
	UnionState *state = NULL;
	CuckooFilter added;
	CuckooFilter filter;

	if (PG_ARGISNULL(1))
		return CuckooUnchanged(fcinfo);
	value = PG_GETARG_CUCKOOFILTER_P(1);
	CuckooOpenFilter(&added, value);
	/* An unset filter changes nothing, whatever form the state has. */
	if (added.flags & CUCKOO_FLAG_UNSET && !PG_ARGISNULL(0))
		return CuckooUnchanged(fcinfo);
	if (!PG_ARGISNULL(0))
		state = (UnionState *) CuckooGetLarge(PG_GETARG_DATUM(0), MakeUnion);
	if (!PG_ARGISNULL(0) && state == NULL)
	{
		flat = PG_GETARG_CUCKOOFILTER_P(0);
		CuckooOpenFilter(&filter, flat);
	}
	if (state == NULL && (flat == NULL || filter.flags & CUCKOO_FLAG_UNSET))
		PG_RETURN_CUCKOOFILTER_P(value);
	if (match)
		CuckooMatchHeaders(state != NULL ? &state->combination.header : &filter.header,
						   &added.header);
	if (state == NULL)
	{
		if (StaysFlat(VARSIZE_ANY_EXHDR(flat), VARSIZE_ANY_EXHDR(value)))
			PG_RETURN_CUCKOOFILTER_P(CuckooCombineValues(operation, flat, value));
		state = (UnionState *) CuckooLargeNew(sizeof(UnionState), MakeUnion, aggcontext);
		CuckooCombinationInit(&state->combination, operation);
		AddToUnion(state, flat);
	}
	AddToUnion(state, value);
	return CuckooLargeDatum(&state->large);
}
