/*-------------------------------------------------------------------------
 *
 * setops.c
 *	  SQL functions that combine filters: union, merge, their aggregates.
 *
 * The state of the aggregates is a filter like any other, so that it can be
 * sent anywhere.  They follow the rules of the executor as agg.c states them:
 * hashes of a list go into the tables of a state in place, everything else
 * makes a new state.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "aggstate.h"
#include "build.h"
#include "setops.h"

/* A filter's kind, seed and shapes, for a message. */
static void
DescribeFilter(StringInfo text, const CuckooFilter *filter)
{
	appendStringInfo(text, "keys of kind %s, seed %lld, ",
					 CuckooKindDescribe(filter->kind, filter->element_kind),
					 (long long) filter->seed);
	if (filter->body != CUCKOO_TABLES)
	{
		appendStringInfo(text, "a list of %llu", (unsigned long long) filter->items);
		return;
	}
	appendStringInfo(text, "%s tables (blocks x buckets x bits of a fingerprint):",
					 CuckooFilterLayout(filter) == CUCKOO_PLAIN ? "plain" : "semisorted");
	for (int i = 0; i < filter->table_count; i++)
		appendStringInfo(text, "%s %u x %u x %d%s", i > 0 ? "," : "",
						 filter->tables[i].shape.blocks, filter->tables[i].shape.buckets,
						 filter->tables[i].shape.bits,
						 CuckooIsStash(filter, i) ? " (stash)" : "");
}

/* Say why two filters cannot be combined. */
static void
ReportConflict(CuckooConflict conflict, const CuckooFilter *left,
			   const CuckooFilter *right)
{
	StringInfoData detail;
	int			code = ERRCODE_PROGRAM_LIMIT_EXCEEDED;
	const char *message = NULL;
	const char *hint = NULL;

	switch (conflict)
	{
		case CUCKOO_NO_CONFLICT:
			return;
		case CUCKOO_OTHER_SEED:
			code = ERRCODE_INVALID_PARAMETER_VALUE;
			message = "cuckoofilters of different seeds cannot be combined";
			hint = "Make both with the same seed; cuckoo_agg and cuckoo_from_array use 0.";
			break;
		case CUCKOO_OTHER_KIND:
			code = ERRCODE_DATATYPE_MISMATCH;
			message = "cuckoofilters over different kinds of keys cannot be combined";
			hint = "Cast the keys of one to the type of the other when building it.";
			break;
		case CUCKOO_TOO_MANY_TABLES:
			message = "combined cuckoofilter would have too many tables";
			hint = "Build filters that are to be combined with the same false-positive rate and with a capacity for all keys and copies together, so that their tables have equal shapes and room for each other.";
			break;
		case CUCKOO_TOO_MANY_BYTES:
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

/* Hashes that are too many for a list, as a table. */
static struct varlena *
BuildFromHashes(const CuckooFilter *header, const uint64 *hashes, uint64 count)
{
	CuckooFilter planned;
	struct varlena *value;
	void	   *workspace;
	CuckooRun	run;
	CuckooRuns	runs;
	bool		built;

	if (CuckooPlanHashes(header, count, &planned) != CUCKOO_GROWTH_PLANNED)
		CuckooReportTooLarge(Max(header->capacity, count), header->fpr);
	value = CuckooNewValue(CuckooBytes(&planned));
	workspace = palloc(CuckooWorkspaceBytes(&planned.tables[0].shape));
	built = CuckooBuildHashes(&planned, CuckooValueBytes(value), hashes, count,
							  workspace, CuckooPauseForInterrupts);
	pfree(workspace);
	if (built)
		return value;

	/* Many copies of many keys. */
	pfree(value);
	run.hashes = hashes;
	run.count = count;
	runs.runs = &run;
	runs.count = 1;
	runs.total = count;
	return CuckooBuildByAdding(header, &runs);
}

/* Two lists: a list, or a table where it would be too long. */
static struct varlena *
CombineLists(CuckooOperation operation, const CuckooFilter *header,
			 const CuckooFilter *left, const CuckooFilter *right)
{
	CuckooFilter list = *header;
	uint64	   *hashes = palloc((left->items + right->items + 1) * sizeof(uint64));
	struct varlena *value;

	list.items = CuckooCombineLists(operation, left, right, hashes);
	if (list.items > CuckooListLimit(&list))
		value = BuildFromHashes(header, hashes, list.items);
	else
	{
		value = CuckooNewValue(CuckooBytes(&list));
		CuckooLayOut(&list, CuckooValueBytes(value));
		for (uint64 i = 0; i < list.items; i++)
			CuckooStore64(list.list + 8 * i, hashes[i]);
	}
	pfree(hashes);
	CuckooAssertValid(value);
	return value;
}

/*
 * Two filters, of which one or both have tables; lists are given as filters
 * without tables, and left as they are.  The value goes to *value.
 */
static CuckooConflict
CombineTables(CuckooOperation operation, const CuckooFilter *header,
			  const CuckooFilter *left, const CuckooFilter *right,
			  CuckooFilter *result, struct varlena **value)
{
	CuckooCombination combination;
	Size		bytes = CuckooCombineWorkspaceBytes(left, right);
	void	   *workspace = bytes == 0 ? NULL : palloc(bytes);
	CuckooConflict conflict;

	CuckooCombineStart(&combination, operation, header);
	for (;;)
	{
		conflict = CuckooPlanTables(&combination, left, right, workspace,
									CuckooPauseForInterrupts);
		if (conflict != CUCKOO_NO_CONFLICT)
			break;
		*value = CuckooNewValue(CuckooBytes(&combination.result));
		if (CuckooCombineTables(&combination, left, right, CuckooValueBytes(*value),
								workspace, CuckooPauseForInterrupts))
		{
			CuckooAssertValid(*value);
			break;
		}
		pfree(*value);
	}
	if (workspace != NULL)
		pfree(workspace);
	*result = combination.result;
	return conflict;
}

/* The same header, so that a filter with it need not be written anew. */
static bool
SameHeader(const CuckooFilter *filter, const CuckooFilter *header)
{
	return filter->kind == header->kind &&
		filter->element_kind == header->element_kind &&
		filter->flags == header->flags && filter->fpr == header->fpr &&
		filter->capacity == header->capacity && filter->seed == header->seed;
}

/* Whether one filter is the result as it is, since the other is empty. */
static bool
IsResult(const CuckooFilter *filter, const CuckooFilter *other,
		 const CuckooFilter *header)
{
	return other->items == 0 && SameHeader(filter, header) &&
		(filter->items > 0 || filter->body == CUCKOO_LIST);
}

/* What holds nothing counts as an empty list, whatever it was. */
static void
ListIfEmpty(CuckooFilter *filter)
{
	if (filter->items == 0)
	{
		filter->body = CUCKOO_LIST;
		filter->table_count = 0;
		filter->stashes = 0;
	}
}

/*
 * Put the hashes of a list into a filter of tables, from number position on.
 * The filter's value is a copy of ours.
 */
static struct varlena *
AddList(CuckooOperation operation, CuckooDraft *draft, const CuckooFilter *list,
		uint64 position)
{
	while (CuckooAddList(operation, &draft->filter, list, &position) == CUCKOO_FULL)
	{
		CuckooDraftAdd(draft, CuckooListGet(list, position));
		position++;
	}
	return CuckooDraftFinish(draft);
}

/*
 * Union or merge of two values.  Returns one of them, where that is the result
 * as it is, or a new value.
 */
struct varlena *
CuckooCombine(CuckooOperation operation, struct varlena *left_value,
			  struct varlena *right_value)
{
	CuckooFilter left;
	CuckooFilter right;
	CuckooFilter header;
	CuckooDraft draft;

	CuckooOpenFilter(&left, left_value);
	CuckooOpenFilter(&right, right_value);
	ReportConflict(CuckooCombineHeaders(operation, &left, &right, &header), &left, &right);

	if (IsResult(&left, &right, &header))
		return left_value;
	if (IsResult(&right, &left, &header))
		return right_value;

	ListIfEmpty(&left);
	ListIfEmpty(&right);
	if (left.body == CUCKOO_LIST && right.body == CUCKOO_LIST)
	{
		/* The smaller rate and the larger capacity may be too much together. */
		CuckooCheckSize(header.fpr, header.capacity, CuckooFilterLayout(&header));
		return CombineLists(operation, &header, &left, &right);
	}

	ReportConflict(CombineTables(operation, &header, &left, &right, &draft.filter,
								 &draft.value),
				   &left, &right);
	if (left.body == CUCKOO_LIST)
		return AddList(operation, &draft, &left, 0);
	if (right.body == CUCKOO_LIST)
		return AddList(operation, &draft, &right, 0);
	return draft.value;
}

/*
 * Union or merge with a state of an aggregate, which is changed in place where
 * a list comes to tables; else as above, but never the second value itself.
 */
struct varlena *
CuckooCombineState(CuckooOperation operation, struct varlena *state,
				   struct varlena *value)
{
	CuckooFilter left;
	CuckooFilter right;
	CuckooFilter header;
	struct varlena *result;

	CuckooOpenFilter(&left, state);
	CuckooOpenFilter(&right, value);
	if (left.body == CUCKOO_TABLES && left.items > 0 &&
		right.body == CUCKOO_LIST && right.items > 0)
	{
		ReportConflict(CuckooCombineHeaders(operation, &left, &right, &header),
					   &left, &right);
		if (CuckooFilterLayout(&header) == CuckooFilterLayout(&left))
		{
			uint64		position = 0;
			CuckooInsertResult inserted;
			CuckooDraft draft;

			left.fpr = header.fpr;
			left.capacity = header.capacity;
			left.flags = header.flags;
			inserted = CuckooAddList(operation, &left, &right, &position);
			CuckooWriteHeader(&left, CuckooValueBytes(state));
			CuckooAssertValid(state);
			if (inserted != CUCKOO_FULL)
				return state;
			CuckooDraftOpen(&draft, PointerGetDatum(state));
			return AddList(operation, &draft, &right, position);
		}
	}

	result = CuckooCombine(operation, state, value);
	if (result == value)
		result = (struct varlena *) PG_DETOAST_DATUM_COPY(PointerGetDatum(value));
	return result;
}

/*
 * cuckoo_union(f, g) and cuckoo_merge(f, g).  A NULL second filter leaves the
 * first as it is, as a NULL key does; a NULL first gives NULL.
 */
static Datum
CombineArguments(FunctionCallInfo fcinfo, CuckooOperation operation)
{
	struct varlena *left;
	struct varlena *right;
	struct varlena *result;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(1))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	left = PG_GETARG_VARLENA_PP(0);
	right = PG_GETARG_VARLENA_PP(1);
	result = CuckooCombine(operation, left, right);

	/* A stored value need not be stored again. */
	if (result == left)
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	if (result == right)
		PG_RETURN_DATUM(PG_GETARG_DATUM(1));
	PG_RETURN_POINTER(result);
}

/* cuckoo_union(f, g), f | g */
PG_FUNCTION_INFO_V1(cuckoo_union);
Datum
cuckoo_union(PG_FUNCTION_ARGS)
{
	return CombineArguments(fcinfo, CUCKOO_UNION);
}

/* cuckoo_merge(f, g), f || g */
PG_FUNCTION_INFO_V1(cuckoo_merge);
Datum
cuckoo_merge(PG_FUNCTION_ARGS)
{
	return CombineArguments(fcinfo, CUCKOO_MERGE);
}

/*
 * A row or another state of an aggregate that combines filters.  The first is
 * copied out: it may be packed or toasted, and it is changed in place later.
 */
static Datum
CombineTransition(FunctionCallInfo fcinfo, CuckooOperation operation)
{
	struct varlena *state;
	struct varlena *result;

	CuckooAggContext(fcinfo);
	if (PG_ARGISNULL(1))
		return CuckooSameState(fcinfo);
	if (PG_ARGISNULL(0))
	{
		struct varlena *first = PG_GETARG_VARLENA_PP(1);
		CuckooFilter filter;

		CuckooOpenFilter(&filter, first);
		PG_RETURN_POINTER(CuckooCopyBytes(CuckooValueBytes(first), VARSIZE_ANY_EXHDR(first)));
	}
	state = (struct varlena *) PG_DETOAST_DATUM(PG_GETARG_DATUM(0));
	result = CuckooCombineState(operation, state, PG_GETARG_VARLENA_PP(1));
	PG_RETURN_POINTER(result);
}

/* cuckoo_union_agg_transfn(state, f): the state's combine function, too */
PG_FUNCTION_INFO_V1(cuckoo_union_agg_transfn);
Datum
cuckoo_union_agg_transfn(PG_FUNCTION_ARGS)
{
	return CombineTransition(fcinfo, CUCKOO_UNION);
}

/* cuckoo_merge_agg_transfn(state, f): the state's combine function, too */
PG_FUNCTION_INFO_V1(cuckoo_merge_agg_transfn);
Datum
cuckoo_merge_agg_transfn(PG_FUNCTION_ARGS)
{
	return CombineTransition(fcinfo, CUCKOO_MERGE);
}

/*
 * cuckoo_combine_final(state): for all aggregates whose state is a filter.  A
 * copy, because the state may go on changing: a window calls this for every
 * row.  Over no rows an empty filter without parameters.
 */
PG_FUNCTION_INFO_V1(cuckoo_combine_final);
Datum
cuckoo_combine_final(PG_FUNCTION_ARGS)
{
	struct varlena *state;
	CuckooFilter filter;

	CuckooAggContext(fcinfo);
	if (PG_ARGISNULL(0))
		PG_RETURN_POINTER(CuckooUnsetValue());
	state = PG_GETARG_VARLENA_PP(0);
	CuckooOpenFilter(&filter, state);
	PG_RETURN_POINTER(CuckooCopyBytes(CuckooValueBytes(state), VARSIZE_ANY_EXHDR(state)));
}

/* Whether two filters can be combined: by doing so, with no error raised. */
static bool
CanCombine(CuckooOperation operation, const CuckooFilter *header,
		   const CuckooFilter *left, const CuckooFilter *right)
{
	const CuckooFilter *list = left->body == CUCKOO_LIST ? left : right;
	CuckooDraft draft;
	bool		possible;

	if (CombineTables(operation, header, left, right, &draft.filter, &draft.value) !=
		CUCKOO_NO_CONFLICT)
		return false;
	possible = true;
	if (list->body == CUCKOO_LIST)
	{
		CuckooFilter grown;
		uint64		position = 0;

		while (possible &&
			   CuckooAddList(operation, &draft.filter, list, &position) == CUCKOO_FULL)
		{
			possible = CuckooPlanGrowth(&draft.filter, &grown) == CUCKOO_GROWTH_PLANNED;
			if (possible)
				CuckooDraftGrow(&draft);
		}
	}
	pfree(draft.value);
	return possible;
}

/*
 * cuckoo_mergeable(f, g): whether union and merge of the two raise no error.
 * From the headers alone, unless an upper bound for both together exceeds what
 * one filter holds: then it hangs on whether some tables fit together.  (An
 * exception: a list of hashes that were made to collide may find no room.)
 */
PG_FUNCTION_INFO_V1(cuckoo_mergeable);
Datum
cuckoo_mergeable(PG_FUNCTION_ARGS)
{
	CuckooFilter left;
	CuckooFilter right;
	CuckooFilter header;
	Size		left_bytes;
	Size		right_bytes;
	int			tables;
	uint64		bytes;

	CuckooReadHeader(PG_GETARG_DATUM(0), &left, &left_bytes);
	CuckooReadHeader(PG_GETARG_DATUM(1), &right, &right_bytes);
	CuckooRefuseState(&left);
	CuckooRefuseState(&right);
	if (CuckooCombineHeaders(CUCKOO_MERGE, &left, &right, &header) != CUCKOO_NO_CONFLICT)
		PG_RETURN_BOOL(false);
	if (IsResult(&left, &right, &header) || IsResult(&right, &left, &header))
		PG_RETURN_BOOL(true);
	ListIfEmpty(&left);
	ListIfEmpty(&right);
	if (left.body == CUCKOO_LIST && right.body == CUCKOO_LIST)
		PG_RETURN_BOOL(CuckooSizeFits(header.fpr, header.capacity,
									  CuckooFilterLayout(&header)));

	/*
	 * A plain table is at most twice as large as a semi-sorted one.  The hashes
	 * of a list may need a stash for the last table, a further table, and a stash
	 * for that: 1 + 24 + 24 times the bytes at most.
	 */
	tables = left.table_count + right.table_count;
	bytes = 2 * ((uint64) left_bytes + right_bytes);
	if (left.items > 0 && right.items > 0 &&
		(left.body == CUCKOO_LIST || right.body == CUCKOO_LIST))
	{
		tables += 3;
		bytes *= 64;
	}
	if (tables <= CUCKOO_MAX_TABLES && bytes <= CUCKOO_MAX_BYTES)
		PG_RETURN_BOOL(true);

	CuckooOpenFilter(&left, PG_GETARG_VARLENA_PP(0));
	CuckooOpenFilter(&right, PG_GETARG_VARLENA_PP(1));
	ListIfEmpty(&left);
	ListIfEmpty(&right);
	PG_RETURN_BOOL(CanCombine(CUCKOO_UNION, &header, &left, &right) &&
				   CanCombine(CUCKOO_MERGE, &header, &left, &right));
}
