/*-------------------------------------------------------------------------
 *
 * follow_table.c
 *	  The rows of a filter table.
 *
 * Rows are read and written here directly, not by SQL.  They are therefore not
 * affected by search_path, row-level security, or the rights of whoever
 * changes the followed table, and each row takes microseconds less.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/dependency.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "follow.h"
#include "core/list.h"

/*
 * Changes
 */

void
FollowPut(FollowHashes *list, uint64 hash)
{
	if (list->count == list->room)
	{
		list->room = list->room == 0 ? 32 : 2 * list->room;
		list->hashes = list->hashes == NULL ?
			MemoryContextAllocHuge(CurrentMemoryContext, list->room * sizeof(uint64)) :
			repalloc_huge(list->hashes, list->room * sizeof(uint64));
	}
	list->hashes[list->count++] = hash;
}

void
FollowPutDelta(FollowChanges *changes, uint64 hash, int delta)
{
	FollowHashes *list = delta > 0 ? &changes->added : &changes->removed;

	for (int i = abs(delta); i > 0; i--)
		FollowPut(list, hash);
}

void
FollowAppend(FollowChanges *changes, const FollowChanges *more)
{
	for (Size i = 0; i < more->added.count; i++)
		FollowPut(&changes->added, more->added.hashes[i]);
	for (Size i = 0; i < more->removed.count; i++)
		FollowPut(&changes->removed, more->removed.hashes[i]);
}

void
FollowSort(FollowHashes *list)
{
	uint64	   *scratch;

	if (list->count < 2)
		return;
	scratch = MemoryContextAllocHuge(CurrentMemoryContext, list->count * sizeof(uint64));
	CuckooSort(list->hashes, scratch, list->count);
	pfree(scratch);
}

void
FollowSortChanges(FollowChanges *changes)
{
	FollowSort(&changes->added);
	FollowSort(&changes->removed);
}

void
FollowFree(FollowChanges *changes)
{
	if (changes->added.hashes != NULL)
		pfree(changes->added.hashes);
	if (changes->removed.hashes != NULL)
		pfree(changes->removed.hashes);
	memset(changes, 0, sizeof(*changes));
}

bool
FollowNext(FollowWalk *walk, uint64 *hash, int64 *net)
{
	const FollowHashes *added = &walk->changes->added;
	const FollowHashes *removed = &walk->changes->removed;

	while (walk->added < added->count || walk->removed < removed->count)
	{
		uint64		next;
		int64		sum = 0;

		if (walk->added == added->count)
			next = removed->hashes[walk->removed];
		else if (walk->removed == removed->count)
			next = added->hashes[walk->added];
		else
			next = Min(added->hashes[walk->added], removed->hashes[walk->removed]);
		for (; walk->added < added->count && added->hashes[walk->added] == next; walk->added++)
			sum++;
		for (; walk->removed < removed->count && removed->hashes[walk->removed] == next; walk->removed++)
			sum--;
		if (sum != 0)
		{
			*hash = next;
			*net = sum;
			return true;
		}
	}
	return false;
}

/*
 * Opening a filter table
 */

/*
 * The type cuckoofilter, once it is known, because finding it takes longer
 * than a lookup.  Any change of a type makes us forget it.
 */
static Oid	filter_type = InvalidOid;

static void
ForgetType(Datum argument, int cache, uint32 hash)
{
	(void) argument;
	(void) cache;
	(void) hash;
	filter_type = InvalidOid;
}

static bool
IsFilterType(Oid type)
{
	static bool registered = false;

	if (type == filter_type && OidIsValid(type))
		return true;
	if (!registered)
	{
		CacheRegisterSyscacheCallback(TYPEOID, ForgetType, (Datum) 0);
		registered = true;
	}
	if (!CuckooIsFilterType(type))
		return false;
	filter_type = type;
	return true;
}

static bool
HasColumn(TupleDesc desc, AttrNumber number, Oid type)
{
	Form_pg_attribute attribute;

	if (desc->natts < number)
		return false;
	attribute = TupleDescAttr(desc, number - 1);
	return !attribute->attisdropped &&
		(OidIsValid(type) ? attribute->atttypid == type : IsFilterType(attribute->atttypid));
}

bool
FollowIsTable(Relation rel)
{
	TupleDesc	desc = RelationGetDescr(rel);

	/* The log has nothing to put into another column. */
	for (int i = FOLLOW_COLUMNS; i < desc->natts; i++)
	{
		if (!TupleDescAttr(desc, i)->attisdropped)
			return false;
	}
	return rel->rd_rel->relkind == RELKIND_RELATION &&
		HasColumn(desc, FOLLOW_HASH, INT8OID) &&
		HasColumn(desc, FOLLOW_NUMBER, INT8OID) &&
		HasColumn(desc, FOLLOW_DELTA, INT2OID) &&
		HasColumn(desc, FOLLOW_FILTER, InvalidOid);
}

void
FollowCheckTable(Relation rel)
{
	if (!FollowIsTable(rel))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a filter table", RelationGetRelationName(rel)),
				 errdetail("A filter table has the columns hash bigint, n bigint, delta smallint and f cuckoofilter, and no others."),
				 errhint("cuckoo_follow makes such a table.")));
}

/* The primary key of a filter table, with which rows are found. */
static Oid
PrimaryKey(Relation rel)
{
	HeapTuple	tuple = NULL;
	bool		found = false;

	if (!rel->rd_indexvalid)
		list_free(RelationGetIndexList(rel));
	if (OidIsValid(rel->rd_pkindex))
		tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(rel->rd_pkindex));
	if (HeapTupleIsValid(tuple))
	{
		Form_pg_index index = (Form_pg_index) GETSTRUCT(tuple);

		found = index->indnkeyatts == 2 && index->indkey.values[0] == FOLLOW_HASH &&
			index->indkey.values[1] == FOLLOW_NUMBER;
		ReleaseSysCache(tuple);
	}
	if (!found)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("filter table \"%s\" has no primary key on (hash, n)",
						RelationGetRelationName(rel)),
				 errhint("Restore the primary key that cuckoo_follow has made.")));
	return rel->rd_pkindex;
}

Relation
FollowOpenTable(Oid relid, LOCKMODE lockmode)
{
	Relation	rel = relation_open(relid, lockmode);

	FollowCheckTable(rel);
	return rel;
}

/*
 * Writing
 */

static TupleTableSlot *
MakeSlot(Relation rel)
{
	return MakeSingleTupleTableSlot(RelationGetDescr(rel), table_slot_callbacks(rel));
}

/*
 * The log is written by whoever changes the followed table, or commits, perhaps
 * a superuser or autovacuum.  Writing must not run functions of the filter
 * table's owner, who could also change the followed table in them.  The catalog
 * is asked, since PostgreSQL computes constant parts of an expression as soon as
 * it opens the index for writing.
 */
static void
CheckWritable(Relation rel)
{
	TupleConstr *constraints = RelationGetDescr(rel)->constr;
	List	   *indexes;
	ListCell   *cell;

	if (constraints != NULL && constraints->num_check > 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("filter table \"%s\" has a check constraint", RelationGetRelationName(rel)),
				 errdetail("The log is written without checking constraints."),
				 errhint("Drop the constraint.")));
	indexes = RelationGetIndexList(rel);
	foreach(cell, indexes)
	{
		HeapTuple	tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(lfirst_oid(cell)));
		bool		runs_code;

		if (!HeapTupleIsValid(tuple))
			elog(ERROR, "cache lookup failed for index %u", lfirst_oid(cell));
		runs_code = !heap_attisnull(tuple, Anum_pg_index_indexprs, NULL) ||
			!heap_attisnull(tuple, Anum_pg_index_indpred, NULL);
		ReleaseSysCache(tuple);
		if (runs_code)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("index \"%s\" of filter table \"%s\" has an expression or a condition",
							get_rel_name(lfirst_oid(cell)),
							RelationGetRelationName(rel)),
					 errdetail("Its functions would run with the privileges of users who change the followed table."),
					 errhint("Drop the index. Only the primary key is used.")));
	}
	list_free(indexes);
}

/*
 * Writing is done as the owner of the filter table, like index builds.  An index
 * made by CREATE INDEX CONCURRENTLY after the check would otherwise run its
 * functions with the rights of whoever writes.  An error restores them.
 */
void
FollowBeginWriting(FollowWriter *writer, Relation rel)
{
	writer->rel = rel;
	GetUserIdAndSecContext(&writer->user, &writer->security);
	SetUserIdAndSecContext(rel->rd_rel->relowner,
						   writer->security | SECURITY_RESTRICTED_OPERATION);
	CheckWritable(rel);
	writer->estate = CreateExecutorState();
	writer->result = makeNode(ResultRelInfo);
	InitResultRelInfo(writer->result, rel, 1, NULL, 0);
	ExecOpenIndices(writer->result, false);
	writer->slot = MakeSlot(rel);
}

void
FollowEndWriting(FollowWriter *writer)
{
	ExecDropSingleTupleTableSlot(writer->slot);
	ExecCloseIndices(writer->result);
	FreeExecutorState(writer->estate);
	SetUserIdAndSecContext(writer->user, writer->security);
}

static void
FillSlot(TupleTableSlot *slot, uint64 hash, int64 n, int16 delta, CuckooValue *value)
{
	ExecClearTuple(slot);
	memset(slot->tts_isnull, true, slot->tts_tupleDescriptor->natts * sizeof(bool));
	slot->tts_values[FOLLOW_HASH - 1] = Int64GetDatum((int64) hash);
	slot->tts_values[FOLLOW_NUMBER - 1] = Int64GetDatum(n);
	slot->tts_values[FOLLOW_DELTA - 1] = Int16GetDatum(delta);
	for (int i = 0; i < FOLLOW_FILTER - 1; i++)
		slot->tts_isnull[i] = false;
	if (value != NULL)
	{
		slot->tts_values[FOLLOW_FILTER - 1] = PointerGetDatum(value);
		slot->tts_isnull[FOLLOW_FILTER - 1] = false;
	}
	ExecStoreVirtualTuple(slot);
}

static void
InsertIndexEntries(FollowWriter *writer, TupleTableSlot *slot, CuckooIndexUpdate update)
{
	CuckooInsertIndexTuples(writer->result, slot, writer->estate, update);
	ResetPerTupleExprContext(writer->estate);
}

/* The last number given to a row of a log; 0 if there is none. */
static uint64 number = 0;

void
FollowForgetNumber(void)
{
	number = 0;
}

/*
 * With 2^63 numbers, two sessions hardly ever use the same, and it matters
 * only for rows with the same hash.  Then there is an error, and we begin at
 * another number.
 */
static int64
NextNumber(void)
{
	if (number == 0 && !pg_strong_random(&number, sizeof(number)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate a random number")));
	/* 0 is the base. */
	number = Max((number + 1) & (uint64) PG_INT64_MAX, 1);
	return (int64) number;
}

/* Rows that are inserted at once: as many as a few pages hold. */
#define BATCH_ROWS	500

void
FollowWriteLog(Relation rel, const FollowChanges *changes)
{
	FollowWalk	walk = {changes, 0, 0};
	FollowWriter writer;
	TupleTableSlot **slots;
	BulkInsertState bulk = NULL;
	CommandId	command;
	uint64		hash = 0;
	int64		net = 0;
	int			room = (int) Min(FollowCount(changes), BATCH_ROWS);
	int			count = 0;

	if (!FollowNext(&walk, &hash, &net))
		return;
	command = GetCurrentCommandId(true);
	FollowBeginWriting(&writer, rel);
	slots = palloc(room * sizeof(TupleTableSlot *));
	slots[0] = writer.slot;
	for (int i = 1; i < room; i++)
		slots[i] = MakeSlot(rel);
	for (bool more = true; more;)
	{
		int16		delta = (int16) Max(Min(net, PG_INT16_MAX), PG_INT16_MIN);

		FillSlot(slots[count++], hash, NextNumber(), delta, NULL);
		net -= delta;
		more = net != 0 || FollowNext(&walk, &hash, &net);
		if (count < room && more)
			continue;
		if (count == 1)
			table_tuple_insert(rel, slots[0], command, 0, NULL);
		else
		{
			if (bulk == NULL)
				bulk = GetBulkInsertState();
			table_multi_insert(rel, slots, count, command, 0, bulk);
		}
		for (int i = 0; i < count; i++)
			InsertIndexEntries(&writer, slots[i], CUCKOO_NEW_TUPLE);
		count = 0;
		CHECK_FOR_INTERRUPTS();
	}
	if (bulk != NULL)
		FreeBulkInsertState(bulk);
	for (int i = 1; i < room; i++)
		ExecDropSingleTupleTableSlot(slots[i]);
	pfree(slots);
	FollowEndWriting(&writer);
}

void
FollowInsertBase(Relation rel, CuckooValue *value, int delta)
{
	FollowWriter writer;

	FollowBeginWriting(&writer, rel);
	FillSlot(writer.slot, 0, 0, (int16) delta, value);
	table_tuple_insert(rel, writer.slot, GetCurrentCommandId(true), 0, NULL);
	InsertIndexEntries(&writer, writer.slot, CUCKOO_NEW_TUPLE);
	FollowEndWriting(&writer);
}

void
FollowUpdateBase(Relation rel, ItemPointer tid, CuckooValue *value, int delta)
{
	FollowWriter writer;
	CuckooIndexUpdate update;

	FollowBeginWriting(&writer, rel);
	FillSlot(writer.slot, 0, 0, (int16) delta, value);
	simple_table_tuple_update(rel, tid, writer.slot, GetActiveSnapshot(), &update);
	if (update)
		InsertIndexEntries(&writer, writer.slot, update);
	FollowEndWriting(&writer);
}

/*
 * Reading
 */

static SysScanDesc
BeginScan(Relation rel, Snapshot snapshot, uint64 hash, bool base)
{
	ScanKeyData keys[2];

	ScanKeyInit(&keys[0], FOLLOW_HASH, BTEqualStrategyNumber, F_INT8EQ,
				Int64GetDatum((int64) hash));
	ScanKeyInit(&keys[1], FOLLOW_NUMBER, BTEqualStrategyNumber, F_INT8EQ, Int64GetDatum(0));
	return systable_beginscan(rel, PrimaryKey(rel), true, snapshot, base ? 2 : 1, keys);
}

/* What a base row says.  Without a filter it is not built. */
static void
FillBase(FollowBase *base, ItemPointer tid, Datum delta, bool no_delta, Datum f, bool no_filter)
{
	struct varlena *value = (struct varlena *) DatumGetPointer(f);

	base->found = true;
	base->tid = *tid;
	base->built = !no_filter && !no_delta && DatumGetInt16(delta) == FOLLOW_BUILT;
	base->f = no_filter ? PointerGetDatum(NULL) :
		PointerGetDatum(memcpy(palloc(VARSIZE_ANY(value)), value, VARSIZE_ANY(value)));
}

void
FollowReadBase(Relation rel, Snapshot snapshot, FollowBase *base)
{
	SysScanDesc scan = BeginScan(rel, snapshot, 0, true);
	HeapTuple	tuple = systable_getnext(scan);

	memset(base, 0, sizeof(*base));
	if (HeapTupleIsValid(tuple))
	{
		TupleDesc	desc = RelationGetDescr(rel);
		bool		no_delta;
		bool		no_filter;
		Datum		delta = heap_getattr(tuple, FOLLOW_DELTA, desc, &no_delta);
		Datum		f = heap_getattr(tuple, FOLLOW_FILTER, desc, &no_filter);

		FillBase(base, &tuple->t_self, delta, no_delta, f, no_filter);
	}
	systable_endscan(scan);
}

/* Whether a row is the base: its owner may have changed what was the base. */
static bool
IsBase(TupleTableSlot *slot)
{
	bool		isnull;

	return DatumGetInt64(slot_getattr(slot, FOLLOW_HASH, &isnull)) == 0 &&
		DatumGetInt64(slot_getattr(slot, FOLLOW_NUMBER, &isnull)) == 0;
}

bool
FollowLockBase(Relation rel, bool wait, FollowBase *base)
{
	for (;;)
	{
		Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
		TupleTableSlot *slot;
		TM_FailureData failure;
		TM_Result	result;

		FollowReadBase(rel, snapshot, base);
		if (!base->found)
		{
			UnregisterSnapshot(snapshot);
			return true;
		}
		slot = MakeSlot(rel);
		result = table_tuple_lock(rel, &base->tid, snapshot, slot, GetCurrentCommandId(true),
								  LockTupleNoKeyExclusive,
								  wait ? LockWaitBlock : LockWaitSkip,
								  TUPLE_LOCK_FLAG_FIND_LAST_VERSION, &failure);
		if (result == TM_Ok && !IsBase(slot))
			result = TM_Deleted;
		if (result == TM_Ok)
		{
			bool		no_delta;
			bool		no_filter;
			Datum		delta = slot_getattr(slot, FOLLOW_DELTA, &no_delta);
			Datum		f = slot_getattr(slot, FOLLOW_FILTER, &no_filter);

			FillBase(base, &slot->tts_tid, delta, no_delta, f, no_filter);
		}
		ExecDropSingleTupleTableSlot(slot);
		UnregisterSnapshot(snapshot);
		if (result == TM_Ok)
			return true;
		if (result == TM_WouldBlock)
			return false;
		/* It was deleted meanwhile.  Look for another one. */
		if (result != TM_Deleted)
			elog(ERROR, "could not lock the base row of \"%s\": %d",
				 RelationGetRelationName(rel), (int) result);
		CHECK_FOR_INTERRUPTS();
	}
}

/* Whether this transaction has written a row. */
static inline bool
IsOwn(HeapTuple tuple)
{
	return TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(tuple->t_data));
}

/*
 * Our own removals are not counted.  A statement that runs inside another one
 * (in a trigger, for example) can remove a row that the outer one has inserted
 * and not yet reported.  To count that removal against another row with the
 * same key would lose the key.  A key that this transaction removes may
 * therefore be found until the transaction ends, as it may if it is in the
 * base.
 */
bool
FollowLogContains(Relation rel, Snapshot snapshot, uint64 hash)
{
	SysScanDesc scan = BeginScan(rel, snapshot, hash, false);
	HeapTuple	tuple;
	int64		sum = 0;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		TupleDesc	desc = RelationGetDescr(rel);
		bool		isnull;
		int			delta;

		/* The base */
		if (DatumGetInt64(heap_getattr(tuple, FOLLOW_NUMBER, desc, &isnull)) == 0)
			continue;
		delta = DatumGetInt16(heap_getattr(tuple, FOLLOW_DELTA, desc, &isnull));
		if (isnull || (delta < 0 && IsOwn(tuple)))
			continue;
		sum += delta;
	}
	systable_endscan(scan);
	return sum > 0;
}

int64
FollowReadLog(Relation rel, Snapshot snapshot, bool remove, bool own_removals,
			  FollowChanges *changes)
{
	TableScanDesc scan = CuckooBeginScan(rel, snapshot);
	TupleTableSlot *slot = MakeSlot(rel);
	int64		rows = 0;

	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		bool		isnull;
		int			delta;
		bool		skip = false;

		CHECK_FOR_INTERRUPTS();
		if (DatumGetInt64(slot_getattr(slot, FOLLOW_NUMBER, &isnull)) == 0)
			continue;
		delta = DatumGetInt16(slot_getattr(slot, FOLLOW_DELTA, &isnull));
		if (delta < 0 && !own_removals)
		{
			Datum		xmin = slot_getsysattr(slot, MinTransactionIdAttributeNumber, &isnull);

			skip = TransactionIdIsCurrentTransactionId(DatumGetTransactionId(xmin));
		}
		if (changes != NULL && !skip)
			FollowPutDelta(changes, (uint64) DatumGetInt64(slot_getattr(slot, FOLLOW_HASH, &isnull)),
						   delta);
		if (remove)
			simple_table_tuple_delete(rel, &slot->tts_tid, snapshot);
		rows++;
	}
	ExecDropSingleTupleTableSlot(slot);
	table_endscan(scan);
	return rows;
}

CuckooValue *
FollowApply(Datum f, FollowChanges *changes)
{
	CuckooDraft draft;
	FollowWalk	walk = {changes, 0, 0};
	CuckooList	added = {NULL, 0, 0};
	CuckooList	removed = {NULL, 0, 0};
	uint64		hash;
	int64		net;

	FollowSortChanges(changes);
	CuckooOpenDraft(&draft, f, NULL);
	/* An unset or empty filter has no key type; ours have that of the column. */
	if (draft.filter.key_type == CUCKOO_KEY_NONE || draft.filter.seed != FOLLOW_SEED ||
		(draft.filter.flags & CUCKOO_FLAG_NOT_REMOVABLE) != 0)
		FollowReportForeign();
	while (FollowNext(&walk, &hash, &net))
	{
		CHECK_FOR_INTERRUPTS();
		for (int64 i = Min(net, CUCKOO_MAX_COPIES); i > 0; i--)
			CuckooListPut(&added, hash);
		for (int64 i = Max(net, -CUCKOO_MAX_COPIES); i < 0; i++)
			CuckooListPut(&removed, hash);
	}
	CuckooApplyToDraft(&draft, added.numbers, added.count, CUCKOO_ADD);
	CuckooApplyToDraft(&draft, removed.numbers, removed.count, CUCKOO_REMOVE);
	CuckooListFree(&added);
	CuckooListFree(&removed);
	return CuckooFinishDraft(&draft);
}

bool
FollowFold(Relation rel, const CuckooKey *key, FollowChanges *more, int64 *folded)
{
	uint8		key_type = key->key_type;
	uint32		signature = key->signature;
	CuckooFilter header;
	Size		bytes;
	FollowChanges changes;
	FollowBase	base;
	Snapshot	snapshot;

	memset(&changes, 0, sizeof(changes));
	*folded = 0;

	/* Make what this transaction has written visible to the snapshot. */
	CommandCounterIncrement();
	if (!FollowLockBase(rel, false, &base))
		return false;
	if (!base.built)
		FollowReportNotBuilt(rel);
	CuckooReadHeader(base.f, &header, &bytes);
	if (header.key_type != key_type || header.signature != signature)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("key type of the filter in \"%s\" does not match the followed column",
						RelationGetRelationName(rel)),
				 errdetail("The key type of the filter is %s, that of the column is %s.",
						   CuckooKeyTypeDescribe(header.key_type, header.signature),
						   CuckooKeyTypeDescribe(key_type, signature)),
				 errhint("Call cuckoo_rebuild.")));

	/*
	 * Take the snapshot only now.  One from before the lock could show log
	 * rows that another fold has already put into the base that we have
	 * locked.
	 */
	snapshot = GetLatestSnapshot();
	PushActiveSnapshot(snapshot);
	*folded = FollowReadLog(rel, GetActiveSnapshot(), true, true, &changes);
	if (more != NULL)
	{
		*folded += (int64) FollowCount(more);
		FollowAppend(&changes, more);
	}
	if (FollowCount(&changes) > 0)
		FollowUpdateBase(rel, &base.tid, FollowApply(base.f, &changes), FOLLOW_BUILT);
	PopActiveSnapshot();
	FollowFree(&changes);
	return true;
}

void
FollowReportForeign(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("the filter in the filter table was not built by cuckoo_rebuild"),
			 errhint("Call cuckoo_rebuild.")));
}

void
FollowReportNotBuilt(Relation rel)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("the filter in \"%s\" has not been built", RelationGetRelationName(rel)),
			 errhint("Call cuckoo_rebuild.")));
}
