/*-------------------------------------------------------------------------
 *
 * info.c
 *	  SQL functions that look into a cuckoo index: its filter, its numbers, a
 *	  check.
 *
 *-------------------------------------------------------------------------
 */
#include "index.h"

#include <math.h>

#include "access/table.h"
#include "access/tableam.h"
#include "access/transam.h"
#include "access/xlog.h"
#include "catalog/index.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "storage/predicate.h"
#include "utils/acl.h"
#include "utils/guc.h"
#include "utils/rls.h"
#include "utils/snapmgr.h"

#include "../call.h"

static void
ReportWrongIndex(Oid oid)
{
	const char *name = get_rel_name(oid);

	if (name == NULL)
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("index with OID %u does not exist", oid)));
	ereport(ERROR,
			(errcode(ERRCODE_WRONG_OBJECT_TYPE),
			 get_rel_relkind(oid) != RELKIND_PARTITIONED_INDEX ?
			 errmsg("\"%s\" is not a cuckoo index", name) :
			 errmsg("\"%s\" is a partitioned index, which has no keys itself", name),
			 get_rel_relkind(oid) != RELKIND_PARTITIONED_INDEX ? 0 :
			 errhint("Name the index of each partition: pg_partition_tree lists them.")));
}

/*
 * Anyone who may read the indexed columns may know their keys; the table, if one
 * is an expression or if there is a predicate.
 */
static void
CheckPrivileges(Relation index, Oid table)
{
	const int2vector *columns = &index->rd_index->indkey;
	AclResult	allowed = pg_class_aclcheck(table, GetUserId(), ACL_SELECT);
	bool		by_columns = allowed != ACLCHECK_OK && !CuckooIndexIsPartial(index);

	for (int i = 0; i < columns->dim1 && by_columns; i++)
	{
		allowed = columns->values[i] == InvalidAttrNumber ? ACLCHECK_NO_PRIV :
			pg_attribute_aclcheck(table, columns->values[i], GetUserId(), ACL_SELECT);
		by_columns = allowed == ACLCHECK_OK;
	}
	if (allowed != ACLCHECK_OK)
		aclcheck_error(allowed, OBJECT_TABLE, get_rel_name(table));
	if (check_enable_rls(table, InvalidOid, true) == RLS_ENABLED)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for index \"%s\"", RelationGetRelationName(index)),
				 errdetail("Row-level security of table \"%s\" hides rows from you that the index has.",
						   get_rel_name(table))));
}

/* Refuse an index that a plan would not use: see get_relation_info. */
static void
CheckUsable(Relation index)
{
	Form_pg_index form = index->rd_index;

	if (!form->indisvalid || !form->indisready || !form->indislive)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" is not valid", RelationGetRelationName(index)),
				 errhint("If nobody is building it, REINDEX it or drop it.")));
	if (form->indcheckxmin &&
		!TransactionIdPrecedes(HeapTupleHeaderGetXmin(index->rd_indextuple->t_data),
							   TransactionXmin))
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("index \"%s\" is too new for this transaction", RelationGetRelationName(index)),
				 errdetail("Older snapshots may see rows that it does not have."),
				 errhint("Try again when the transactions that began before it was built have ended.")));
	if (RELATION_IS_OTHER_TEMP(index))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot access temporary indexes of other sessions")));
	if (!RelationIsPermanent(index) && RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot access temporary or unlogged indexes during recovery")));
}

/*
 * Lock the table, then the index, as queries do.  Without the table's lock the
 * index could be dropped and its OID go to another table's: look again.
 */
static Relation
OpenIndex(Oid oid, Relation *heap)
{
	Oid			table = IndexGetRelation(oid, true);
	Relation	index;

	if (!OidIsValid(table))
		ReportWrongIndex(oid);
	*heap = table_open(table, AccessShareLock);
	index = index_open(oid, AccessShareLock);
	if (index->rd_rel->relkind != RELKIND_INDEX ||
		index->rd_indam->ambuild != cuckoobuild || table != IndexGetRelation(oid, false))
		ReportWrongIndex(oid);
	CheckPrivileges(index, table);
	CheckUsable(index);
	/* SERIALIZABLE transactions depend on what they read here, as in a scan. */
	PredicateLockRelation(index, GetActiveSnapshot());
	return index;
}

static void
CloseIndex(Relation index, Relation heap)
{
	index_close(index, AccessShareLock);
	table_close(heap, AccessShareLock);
}

/* Reading all home pages, with overflow pages, in the order of hashes */
typedef struct ReadState
{
	uint32		base_pages;
	bool		at_home;		/* the next page is a home page */
	uint64		begin;			/* of the hashes of this home page */
	uint64		end;			/* 0: 2^64 */
	bool		collects;		/* codes for a filter; otherwise it counts */

	/* counted */
	uint64		home_pages;
	int			depth;
	int			min_bits;
	int			max_bits;
	uint64		entries;
	uint64		joined;			/* that stand for more than one row */
	uint64		wide;			/* that are never trimmed */
	double		table_pages;	/* that entries name */
	uint64		tombstones;
	uint64		classes;
	double		rate;

	/* collected */
	CuckooShape shape;
	CuckooList	codes;
} ReadState;

static void
CountEntry(ReadState *state, uint64 first, uint64 last, const CuckooEntry *entry)
{
	state->entries += entry->interval != CUCKOO_TOMBSTONE;
	state->tombstones += entry->interval == CUCKOO_TOMBSTONE;
	state->joined += CuckooIntervalSize(entry->interval) > 1;
	state->wide += CuckooIntervalPages(entry->interval) > CUCKOO_MAX_TRIMMED_PAGES;
	if (entry->interval != CUCKOO_TOMBSTONE)
		state->table_pages += (double) CuckooIntervalPages(entry->interval);
	if (entry->is_begin)
	{
		state->classes++;
		/* The part of all hashes that a lookup would take for this class */
		state->rate += ldexp((double) (last - first) + 1, -64);
	}
}

/*
 * Of a key that has been added, the index knows a piece of its hash.  The
 * hashes with this piece are mostly of one code of the filter, and else of
 * neighbours.
 */
static void
CollectCodes(ReadState *state, uint64 first, uint64 last)
{
	uint64		end = CuckooCodeOf(&state->shape, last);

	for (uint64 code = CuckooCodeOf(&state->shape, first); code <= end; code++)
	{
		if ((code & state->shape.fingerprints) != 0)
			CuckooListPut(&state->codes, code);
	}
}

/*
 * Visit the entries of a page, each with the first and the last hash that its
 * class may have.  Several home pages may have the same overflow page: each
 * visits its own part.
 */
static void
ReadPage(Page page, const CuckooIndexAddress *address, void *arg)
{
	ReadState  *state = arg;
	const CuckooPageOpaque *opaque = CuckooPageGetOpaque(page);
	int			shift = opaque->depth + opaque->bits;

	if (state->at_home)
	{
		state->end = CuckooIndexFirstHash(state->base_pages,
										  (address->prefix + 1) * CUCKOO_PAGE_PAIRS,
										  address->depth);
		state->home_pages++;
		state->depth = Max(state->depth, opaque->depth);
	}
	state->at_home = false;
	state->min_bits = Min(state->min_bits, opaque->bits);
	state->max_bits = Max(state->max_bits, opaque->bits);
	for (uint32 slot = 0; slot < CUCKOO_PAGE_ENTRIES; slot++)
	{
		CuckooEntry entry;
		uint64		code;
		uint64		first;
		uint64		last;

		if (!CuckooGetEntry(CuckooPageGetEntries(page), slot, opaque->bits, &entry))
			continue;
		code = CuckooIndexClassCode(address->prefix, entry.class);
		first = CuckooIndexFirstHash(state->base_pages, code, shift);
		last = CuckooIndexFirstHash(state->base_pages, code + 1, shift) - 1;
		if (first - state->begin > state->end - 1 - state->begin)	/* modulo 2^64 */
			continue;
		if (!state->collects)
			CountEntry(state, first, last, &entry);
		else if (entry.is_begin)
			CollectCodes(state, first, last);
	}
}

/* Whatever splits meanwhile, no entry is missed. */
static void
ReadIndex(Relation index, ReadState *state)
{
	state->end = 0;
	state->base_pages = CuckooRefreshMeta(index)->base_pages;
	do
	{
		CuckooIndexAddress base = CuckooIndexAddressOf(state->base_pages, state->end, 0);

		CHECK_FOR_INTERRUPTS();
		state->begin = state->end;
		/* The home page knows better, unless it is not in use. */
		state->end = CuckooIndexFirstHash(state->base_pages,
										  (base.prefix + 1) * CUCKOO_PAGE_PAIRS, 0);
		state->at_home = true;
		CuckooVisitPages(index, GetActiveSnapshot(), state->begin, ReadPage, state);
	} while (state->end != 0);
}

static ReadState
CountEntries(Relation index)
{
	ReadState	state = {.min_bits = CUCKOO_MAX_FINGERPRINT_BITS};

	ReadIndex(index, &state);
	return state;
}

/*
 * A filter has at least so many times the rate of the index: then few keys have
 * more than one code.  Where codes would be as many as keys, there is no
 * filter.
 */
#define FILTER_RATE		16
#define MAX_INDEX_RATE	(1.0 / 32)

/* The rate to give, or an error that says which the index can give */
static double
CheckRate(Relation index, const ReadState *state, bool given, double fpr)
{
	double		lowest = Min(Max(FILTER_RATE * state->rate, CUCKOO_MIN_FPR), CUCKOO_MAX_FPR);

	if (state->rate > MAX_INDEX_RATE)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" has too short fingerprints for a filter",
						RelationGetRelationName(index)),
				 errhint("REINDEX makes them longer.")));
	if (!given)
		return Max(CUCKOO_DEFAULT_FPR, lowest);
	if (!(fpr >= lowest && fpr <= CUCKOO_MAX_FPR))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("index \"%s\" cannot give a filter with a false-positive rate of %g",
						RelationGetRelationName(index), fpr),
				 /* With two digits it can be 5 % less than it is. */
				 errhint("Use a rate of %.2g to %g.", Min(lowest * 1.06, CUCKOO_MAX_FPR),
						 CUCKOO_MAX_FPR)));
	return fpr;
}

/* Refuse indexes whose keys are not those of a filter. */
static void
CheckHasFilter(Relation index, bool partial)
{
	CuckooIndexKey key;
	bool		own_hash;

	if (CuckooIndexIsPartial(index) && !partial)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" has the keys of only some rows", RelationGetRelationName(index)),
				 errhint("For a filter of these, call cuckoo_index_filter(index, partial => true).")));
	if (IndexRelationGetNumberOfKeyAttributes(index) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("index \"%s\" has keys of several columns", RelationGetRelationName(index)),
				 errdetail("A filter has keys of one type.")));
	CuckooIndexKeyInit(&key, index, NULL, CurrentMemoryContext);
	own_hash = CuckooCachedMeta(index)->columns[0].type == CUCKOO_KEY_NONE;
	if (own_hash || !CuckooIndexHasColumnEquality(index, 0))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("index \"%s\" has keys that filters do not support",
						RelationGetRelationName(index)),
				 own_hash ? errdetail("Its operator class has a hash function of its own.") :
				 errdetail("Its operator class is for another type than that of its column.")));
}

/*
 * Collect the codes of a filter of some rate that has room for them: if it can,
 * one of a capacity; 0 is none.
 */
static void
CollectFilter(Relation index, ReadState *state, double fpr, uint64 capacity, CuckooFilter *filter)
{
	uint64		keys = Max(state->classes, 1);

	state->collects = true;
	do
	{
		/*
		 * Unless there is room, some keys have several codes, and others have
		 * been added since.
		 */
		keys = capacity >= keys && state->codes.count == 0 ? capacity :
			Max(keys + keys / FILTER_RATE, state->codes.count);
		CuckooFilterInit(filter, fpr, keys, CUCKOO_INDEX_SEED);
		if (!CuckooFirstShape(filter, &state->shape))
			CuckooReportTooLarge(keys, fpr);
		state->codes.count = 0;
		ReadIndex(index, state);
		CuckooListUnique(&state->codes);
	} while (state->codes.count > CuckooShapeCapacity(&state->shape));
	filter->header.kind = CuckooCachedMeta(index)->columns[0];
	filter->header.flags = CUCKOO_FLAG_NOT_REMOVABLE;
}

/*
 * cuckoo_index_filter(index, capacity, fpr, partial) -> cuckoofilter
 *
 * With the same capacity and rate, the filters of several indexes have the same
 * shape, and their union is one table.
 */
PG_FUNCTION_INFO_V1(cuckoo_index_filter);
Datum
cuckoo_index_filter(PG_FUNCTION_ARGS)
{
	Relation	heap;
	Relation	index;
	ReadState	state;
	CuckooFilter filter;
	CuckooPart	part;
	CuckooParameters given;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	index = OpenIndex(PG_GETARG_OID(0), &heap);
	CheckHasFilter(index, !PG_ARGISNULL(3) && PG_GETARG_BOOL(3));
	state = CountEntries(index);
	given = CuckooGetParameters(fcinfo, 1, 2);
	given.fpr = CheckRate(index, &state, !PG_ARGISNULL(2), given.fpr);
	CollectFilter(index, &state, given.fpr, CuckooCheckParameters(&given).capacity, &filter);
	CloseIndex(index, heap);

	part = CuckooPartOf(&state.shape, &state.codes);
	PG_RETURN_POINTER(CuckooMakeValue(CuckooMakeFilter(&filter, &part, 1), &filter));
}

/* cuckoo_index_info(index) -> record */
PG_FUNCTION_INFO_V1(cuckoo_index_info);
Datum
cuckoo_index_info(PG_FUNCTION_ARGS)
{
	Relation	heap;
	Relation	index = OpenIndex(PG_GETARG_OID(0), &heap);
	ReadState	state = CountEntries(index);
	uint64		overflow_pages = CuckooCachedMeta(index)->overflow_pages;
	uint64		pages = state.home_pages + overflow_pages;
	BlockNumber blocks = RelationGetNumberOfBlocks(index);
	double		used = (double) (state.entries + state.tombstones);

	CloseIndex(index, heap);
	return CuckooMakeRow(fcinfo, CUCKOO_COLUMNS(
		{Int64GetDatum((int64) blocks), false},
		{Int64GetDatum((int64) pages), false},
		{Int64GetDatum((int64) overflow_pages), false},
		{Int32GetDatum(state.depth), false},
		{Int64GetDatum((int64) state.entries), false},
		{Int64GetDatum((int64) state.joined), false},
		{Int64GetDatum((int64) state.wide), false},
		{Float8GetDatum(state.table_pages / Max(state.classes, 1)), false},
		{Int64GetDatum((int64) state.tombstones), false},
		{Float8GetDatum(pages == 0 ? 0 : used / ((double) pages * CUCKOO_PAGE_ENTRIES)), false},
		{Int32GetDatum(Min(state.min_bits, state.max_bits)), false},
		{Int32GetDatum(state.max_bits), false},
		{Float8GetDatum(state.rate * state.entries / Max(state.classes, 1)), false}));
}

typedef struct CheckState
{
	CuckooIndexKey key;
	CuckooList	found;			/* intervals */
	int64		missing;
} CheckState;

static void
CheckRow(Relation index, ItemPointer tid, Datum *values, bool *isnull,
		 bool alive pg_attribute_unused(), void *arg)
{
	CheckState *state = arg;
	uint64		hash;

	if (!CuckooIndexHash(&state->key, values, isnull, &hash))
		return;
	CuckooIndexLookUp(index, GetActiveSnapshot(), hash, &state->found);
	for (uint64 i = 0; i < state->found.count; i++)
	{
		if (CuckooIntervalCovers(state->found.numbers[i], CuckooRowInterval(tid)))
			return;
	}
	state->missing++;
}

/* cuckoo_index_check(index) -> bigint */
PG_FUNCTION_INFO_V1(cuckoo_index_check);
Datum
cuckoo_index_check(PG_FUNCTION_ARGS)
{
	Relation	heap;
	Relation	index = OpenIndex(PG_GETARG_OID(0), &heap);
	IndexInfo  *info;
	CheckState	state = {.missing = 0};
	Oid			user;
	int			context;
	int			nest_level;

	/*
	 * The table's owner has chosen the functions of expressions and predicates,
	 * so they run as the owner.  What they call may depend on the search_path,
	 * even on one that the session had before: the relation cache keeps
	 * expressions with their functions inlined.  So others may not call them.
	 */
	if (!has_privs_of_role(GetUserId(), heap->rd_rel->relowner))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_INDEX, RelationGetRelationName(index));
	CuckooIndexKeyInit(&state.key, index, NULL, CurrentMemoryContext);
	GetUserIdAndSecContext(&user, &context);
	SetUserIdAndSecContext(heap->rd_rel->relowner, context | SECURITY_RESTRICTED_OPERATION);
	nest_level = NewGUCNestLevel();
	info = BuildIndexInfo(index);
	/* Check what a snapshot shows, so that others can write. */
	info->ii_Concurrent = true;
	table_index_build_scan(heap, index, info, true, false, CheckRow, &state, NULL);
	AtEOXact_GUC(false, nest_level);
	SetUserIdAndSecContext(user, context);
	CloseIndex(index, heap);
	PG_RETURN_INT64(state.missing);
}
