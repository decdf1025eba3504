/*-------------------------------------------------------------------------
 *
 * follow_log.c
 *	  A filter that follows a table: the base, the log, what statements collect,
 *	  and the triggers that write it.
 *
 * follow_table.c says what a filter table is, and has rules 1 and 2.
 *
 * 3. A fold takes its snapshot when it has locked the base.  It moves all of the
 *	  log that the snapshot shows, additions before removals, so that each of two
 *	  keys that look alike always has a copy of its own.
 * 4. A rebuild reads the table and deletes the log in one snapshot, when it has
 *	  locked the base.  So does TRUNCATE: other triggers may have filled the table
 *	  again.
 * 5. A statement may add to the base itself, if it has locked it, because an
 *	  addition never harms.  It never removes.
 *
 * Locks are taken in this order: the followed table, the filter table, the base.
 * Nobody waits for the base without a lock on the followed table.
 *
 * Row triggers see the changes, because statement triggers do not fire for
 * partitions and children written through their parents, nor for changes that
 * logical replication applies.  The first row of a statement is written at once.
 * Further rows are collected.  A statement trigger of the filter table writes
 * them, which is queued behind them, in the statement of the row, as if rows of
 * the filter table were deleted.  PostgreSQL fires it before the statement ends.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/relscan.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "catalog/pg_trigger.h"
#include "commands/trigger.h"
#include "common/pg_prng.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "follow_log.h"

/*
 * A statement with more additions than this, and than 1 % of the items, adds
 * them to the base itself: a fold would take longer than rewriting the base.
 */
#define OWN_ADDITIONS		10000

/* Rows of the log that are written at once */
#define LOG_ROWS			256

/* Numbers collected for one filter table, even if memory is short */
#define MIN_COLLECTED		1024

/* The percentage of keys that may have as many rows as a class has copies */
#define REPEATED_PERCENT	1

PG_FUNCTION_INFO_V1(cuckoo_follow_change);

static void PendingRefuse(Oid filter);

/*
 * The base
 */

/*
 * Commands such as REPACK (CONCURRENTLY) hide the rows that they copy from older
 * snapshots.  Parallel queries cannot have the latest snapshot, only one that is
 * as good.
 */
void
CuckooBaseCheckShown(Relation rel)
{
	CuckooBase	base;

	PushActiveSnapshot(GetCatalogSnapshot(RelationGetRelid(rel)));
	base = CuckooBaseRead(rel);
	PopActiveSnapshot();
	if (base.built)
		CuckooFollowReportOlder(rel);
}

CUCKOO_NORETURN void
CuckooBaseReportUnbuilt(Relation rel)
{
	CuckooBaseCheckShown(rel);
	ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			errmsg("the filter in \"%s\" has not been built", RelationGetRelationName(rel)),
			errdetail("It does not have the keys of the table yet."),
			errhint("Call cuckoo_follow_rebuild."));
}

/*
 * Somebody may have put another filter in place of the base.  Without a key
 * type, or with another seed, lookups would answer "no" to keys of the table.
 */
static bool
BaseFits(const CuckooFilter *base, const CuckooKey *key)
{
	return base->seed == CUCKOO_FOLLOW_SEED && base->key_type != CUCKOO_KEY_NONE &&
		(base->flags & CUCKOO_FLAG_NOT_REMOVABLE) == 0 &&
		(key == NULL || (base->key_type == key->key_type && base->signature == key->signature));
}

void
CuckooBaseCheckFits(Relation rel, const CuckooFilter *base, const CuckooKey *key)
{
	if (!BaseFits(base, key))
		ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("the filter in \"%s\" was not built by cuckoo_follow_rebuild",
					   RelationGetRelationName(rel)),
				errdetail("Its key type or seed differs, or keys cannot be removed from it."),
				errhint("Call cuckoo_follow_rebuild."));
}

CuckooBase
CuckooBaseRead(Relation rel)
{
	CuckooBase	base = {NULL, false, (Datum) 0};
	TupleDesc	desc = RelationGetDescr(rel);
	ScanKeyData keys[2];
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		isnull;

	ScanKeyInit(&keys[0], COLUMN_HASH, BTEqualStrategyNumber, F_INT8EQ, Int64GetDatum(0));
	ScanKeyInit(&keys[1], COLUMN_NUMBER, BTEqualStrategyNumber, F_INT8EQ, Int64GetDatum(0));
	scan = systable_beginscan(rel, CuckooFollowPrimaryKey(rel), true, GetActiveSnapshot(), 2, keys);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
	{
		base.row = heap_copytuple(tuple);
		base.f = heap_getattr(base.row, COLUMN_FILTER, desc, &isnull);
		if (isnull)
			base.f = (Datum) 0;
		base.built = !isnull && DatumGetInt32(heap_getattr(base.row, COLUMN_DELTA, desc, &isnull)) == 1;
	}
	systable_endscan(scan);
	return base;
}

/*
 * A transaction that has one snapshot cannot lock a base that has changed since:
 * it would go on to read the older one.
 */
bool
CuckooBaseLock(Relation rel, LockWaitPolicy policy, CuckooBase *base)
{
	for (;;)
	{
		HeapTupleData tuple;
		TM_FailureData failure;
		TM_Result	result = TM_Invisible;
		Buffer		buffer;

		CHECK_FOR_INTERRUPTS();
		PushActiveSnapshot(IsolationUsesXactSnapshot() ? GetTransactionSnapshot() : GetLatestSnapshot());
		*base = CuckooBaseRead(rel);
		if (base->row != NULL)
		{
			tuple = *base->row;
			result = heap_lock_tuple(rel, &tuple, GetCurrentCommandId(true),
									 LockTupleNoKeyExclusive, policy, false, &buffer, &failure);
			ReleaseBuffer(buffer);
		}
		PopActiveSnapshot();
		if (base->row == NULL || result == TM_WouldBlock)
			return false;
		if (result == TM_Ok)
			return true;
		if (result != TM_Updated && result != TM_Deleted)
			ereport(ERROR, errcode(ERRCODE_OBJECT_IN_USE),
					errmsg("could not lock the filter in \"%s\"", RelationGetRelationName(rel)),
					errdetail("The same statement has changed it."),
					errhint("Call the function in a statement of its own."));
		if (IsolationUsesXactSnapshot())
			ereport(ERROR, errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
					errmsg("could not serialize access due to concurrent update"));
	}
}

void
CuckooBaseWrite(Relation rel, const CuckooBase *base, CuckooValue *value, int32 delta)
{
	int			natts = RelationGetDescr(rel)->natts;
	Datum	   *values = palloc0(natts * sizeof(Datum));
	bool	   *nulls = palloc(natts * sizeof(bool));
	HeapTuple	tuple;

	values[COLUMN_HASH - 1] = values[COLUMN_NUMBER - 1] = Int64GetDatum(0);
	values[COLUMN_DELTA - 1] = Int32GetDatum(delta);
	values[COLUMN_FILTER - 1] = PointerGetDatum(value);
	memset(nulls, true, natts);
	memset(nulls, false, COLUMN_FILTER);
	tuple = heap_form_tuple(RelationGetDescr(rel), values, nulls);
	if (base->row == NULL)
		CatalogTupleInsert(rel, tuple);
	else
	{
		CheckCmdReplicaIdentity(rel, CMD_UPDATE);
		CatalogTupleUpdate(rel, &base->row->t_self, tuple);
	}
}

/* Put the hash of a row's key into a list. */
static void
KeyPut(CuckooFollowed *followed, TupleTableSlot *row, CuckooList *list)
{
	bool		isnull;
	Datum		key = slot_getattr(row, followed->column, &isnull);

	if (!isnull)
		CuckooListPut(list, CuckooKeyHash(CuckooFollowKey(followed), key, CUCKOO_FOLLOW_SEED));
}

/* The followed table may have any access method; systable_beginscan is for heap. */
CuckooList
CuckooFollowHashes(Relation table, CuckooFollowed *followed)
{
	TableScanDesc scan = CuckooBeginScan(table, GetActiveSnapshot());
	TupleTableSlot *slot = table_slot_create(table, NULL);
	CuckooList	hashes = {NULL, 0, 0};

	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		CHECK_FOR_INTERRUPTS();
		KeyPut(followed, slot, &hashes);
	}
	ExecDropSingleTupleTableSlot(slot);
	table_endscan(scan);
	return hashes;
}

/* How often the number at a place of a sorted list is repeated there. */
static uint64
LogRunLength(const CuckooList *list, uint64 from)
{
	uint64		to = from + 1;

	while (to < list->count && list->numbers[to] == list->numbers[from])
		to++;
	return to - from;
}

/*
 * Keys with as many rows as a class can have copies stay in the filter when
 * their rows are deleted.  With many such keys, it fills up with deleted ones.
 */
static void
BaseCheckRepeated(Relation table, CuckooFollowed *followed, const CuckooList *hashes, bool first)
{
	uint64		keys = 0;
	uint64		repeated = 0;

	for (uint64 i = 0, run; i < hashes->count; i += run, keys++)
	{
		run = LogRunLength(hashes, i);
		repeated += run >= CUCKOO_MAX_COPIES;
	}
	if (repeated * 100 > keys * REPEATED_PERCENT)
		ereport(first ? ERROR : WARNING, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("column \"%s\" of table \"%s\" has too many duplicate values to be followed",
						get_attname(RelationGetRelid(table), followed->column, false),
						RelationGetRelationName(table)),
				errdetail("Of %llu keys, %llu have %d rows or more, which is more than %d %%.",
						   (unsigned long long) keys, (unsigned long long) repeated,
						   CUCKOO_MAX_COPIES, REPEATED_PERCENT),
				errhint("Build a filter with cuckoo_agg from time to time."));
}

void
CuckooBaseBuild(Relation rel, Relation table, CuckooFollowed *followed, const CuckooBase *base,
				double fpr, uint64 capacity)
{
	CuckooList	hashes;
	CuckooFilter filter;

	/* They would be applied again. */
	PendingRefuse(RelationGetRelid(rel));

	/* One snapshot for table and log, now that the base is locked. */
	CommandCounterIncrement();
	PushActiveSnapshot(GetLatestSnapshot());
	hashes = CuckooFollowHashes(table, followed);
	CuckooLogRead(rel, NULL, NULL, true);
	PopActiveSnapshot();

	CuckooListSort(&hashes);
	BaseCheckRepeated(table, followed, &hashes, !base->built);
	if (capacity == 0)
	{
		capacity = hashes.count + (hashes.count + 1) / 2;
		if (capacity <= CUCKOO_UNKNOWN_KEYS)
			capacity = 0;
	}
	CuckooFilterInit(&filter, fpr > 0 ? fpr : CUCKOO_DEFAULT_FPR, capacity, CUCKOO_FOLLOW_SEED);
	filter.key_type = (uint8) CuckooFollowKey(followed)->key_type;
	filter.signature = followed->key.signature;
	CuckooCheckSize(filter.fpr, capacity);
	CuckooBaseWrite(rel, base, CuckooBuildValue(&filter, &(CuckooRun) {hashes.numbers, hashes.count}, 1),
					1);
}

/* After TRUNCATE.  A base that is not built needs a rebuild anyway. */
static void
BaseTruncate(Relation table, Oid oid)
{
	CuckooFollowed *followed;
	Relation	rel;
	CuckooBase	base;
	CuckooFilter filter;

	/* An error if something else writes to the filter table, too */
	CuckooFollowByTable(oid, table);
	rel = CuckooFollowOpen(oid, RowExclusiveLock, &followed);
	if (CuckooBaseLock(rel, LockWaitBlock, &base) && base.built)
	{
		CuckooReadHeader(base.f, &filter);
		CuckooBaseBuild(rel, table, followed, &base, filter.fpr, filter.capacity);
	}
	CuckooFollowClose(rel);
}

/*
 * Add many hashes to the base, if it is free.  False if they have to be written
 * to the log.  The transaction must have a snapshot for each statement: with an
 * older one, updating the base could fail.
 */
static bool
BaseAdd(Relation rel, CuckooFollowed *followed, const CuckooList *hashes)
{
	CuckooFilter header;
	CuckooDraft draft;
	CuckooBase	base;

	if (hashes->count <= OWN_ADDITIONS || IsolationUsesXactSnapshot())
		return false;
	PushActiveSnapshot(GetLatestSnapshot());
	base = CuckooBaseRead(rel);
	PopActiveSnapshot();
	if (!base.built)
		return false;
	CuckooReadHeader(base.f, &header);
	if (hashes->count <= header.items / 100 || !CuckooBaseLock(rel, LockWaitSkip, &base) || !base.built)
		return false;
	CuckooDraftOpenValue(&draft, DatumGetCuckooFilterPCopy(base.f));
	if (!BaseFits(&draft.filter, CuckooFollowKey(followed)) || !CuckooLogApply(&draft, hashes, false))
		return false;
	CuckooBaseWrite(rel, &base, CuckooDraftFinishValue(&draft), 1);
	return true;
}

/*
 * The log
 */

bool
CuckooLogApply(CuckooDraft *draft, const CuckooList *list, bool remove)
{
	size_t		changed;
	CuckooChange change = CuckooDraftApply(draft, list->numbers, list->count,
										   remove ? CUCKOO_REMOVE : CUCKOO_ADD, &changed);

	return change != CUCKOO_FULL && change != CUCKOO_TOO_LARGE;
}

void
CuckooLogSort(CuckooList *added, CuckooList *removed)
{
	uint64		kept_added = 0;
	uint64		kept_removed = 0;

	CuckooListSort(added);
	CuckooListSort(removed);
	for (uint64 a = 0, r = 0; a < added->count || r < removed->count;)
	{
		if (r == removed->count || (a < added->count && added->numbers[a] < removed->numbers[r]))
			added->numbers[kept_added++] = added->numbers[a++];
		else if (a == added->count || removed->numbers[r] < added->numbers[a])
			removed->numbers[kept_removed++] = removed->numbers[r++];
		else
			a++, r++;
	}
	added->count = kept_added;
	removed->count = kept_removed;
}

int64
CuckooLogRead(Relation rel, CuckooList *added, CuckooList *removed, bool delete)
{
	SysScanDesc scan = systable_beginscan(rel, InvalidOid, false, GetActiveSnapshot(), 0, NULL);
	HeapTuple	tuple;
	TM_FailureData failure;
	int64		rows = 0;
	bool		isnull;

	if (delete)
		CheckCmdReplicaIdentity(rel, CMD_DELETE);
	while ((tuple = systable_getnext(scan)) != NULL)
	{
		uint64		hash = (uint64) DatumGetInt64(slot_getattr(scan->slot, COLUMN_HASH, &isnull));
		int32		delta = DatumGetInt32(slot_getattr(scan->slot, COLUMN_DELTA, &isnull));

		CHECK_FOR_INTERRUPTS();
		if (DatumGetInt64(slot_getattr(scan->slot, COLUMN_NUMBER, &isnull)) == 0)
			continue;
		rows++;
		for (; delta > 0 && added != NULL; delta--)
			CuckooListPut(added, hash);
		for (; delta < 0 && removed != NULL; delta++)
			CuckooListPut(removed, hash);
		if (delete && CuckooHeapDelete(rel, &tuple->t_self, &failure) != TM_Ok)
			ereport(ERROR, errcode(ERRCODE_OBJECT_IN_USE),
					errmsg("could not delete the log in \"%s\"", RelationGetRelationName(rel)),
					errdetail("Another transaction or the same statement has deleted rows of it."),
					errhint("Call the function again, in a statement of its own."));
	}
	systable_endscan(scan);
	return rows;
}

/*
 * A removal has its addition in the base, or here.  (The hash of the base's row
 * is that of one key in 2^64.)
 */
bool
CuckooLogContains(Relation rel, uint64 hash)
{
	ScanKeyData key;
	SysScanDesc scan;
	bool		found;

	ScanKeyInit(&key, COLUMN_HASH, BTEqualStrategyNumber, F_INT8EQ, Int64GetDatum((int64) hash));
	scan = systable_beginscan(rel, CuckooFollowPrimaryKey(rel), true, GetActiveSnapshot(), 1, &key);
	found = HeapTupleIsValid(systable_getnext(scan));
	systable_endscan(scan);
	return found;
}

/*
 * Insert rows of the log, which are in slots.  CatalogTuplesMultiInsertWithInfo
 * does the same, and takes half as long again, because it makes a slot for each
 * index entry.
 */
static void
LogInsert(Relation rel, TupleTableSlot **slots, int count, CatalogIndexState indexes)
{
	heap_multi_insert(rel, slots, count, GetCurrentCommandId(true), 0, NULL);
	for (int i = 0; i < indexes->ri_NumIndices; i++)
	{
		IndexInfo  *info = indexes->ri_IndexRelationInfo[i];
		Relation	index = indexes->ri_IndexRelationDescs[i];

		for (int j = 0; j < count && info->ii_ReadyForInserts; j++)
			index_insert(index, slots[j]->tts_values, slots[j]->tts_isnull, &slots[j]->tts_tid, rel,
						 index->rd_index->indisunique ? UNIQUE_CHECK_YES : UNIQUE_CHECK_NO, false, info);
	}
}

/*
 * Write sorted hashes to the log, added (sign 1) or removed (sign -1).  With
 * 2^62 numbers, two rows of a hash hardly ever get the same.
 */
static void
LogWrite(Relation rel, const CuckooList *hashes, int sign)
{
	int64		number = (int64) (pg_prng_uint64(&pg_global_prng_state) >> 2) + 1;
	CatalogIndexState indexes = CatalogOpenIndexes(rel);
	int			room = (int) Min(hashes->count, LOG_ROWS);
	TupleTableSlot **slots = palloc(room * sizeof(TupleTableSlot *));
	int			count = 0;

	for (int i = 0; i < room; i++)
		slots[i] = MakeSingleTupleTableSlot(RelationGetDescr(rel), &TTSOpsHeapTuple);
	for (uint64 i = 0, run; i < hashes->count; i += run)
	{
		TupleTableSlot *slot = ExecClearTuple(slots[count++]);

		run = Min(LogRunLength(hashes, i), PG_INT32_MAX);
		memset(slot->tts_isnull, true, RelationGetDescr(rel)->natts);
		memset(slot->tts_isnull, false, COLUMN_DELTA);
		slot->tts_values[COLUMN_HASH - 1] = Int64GetDatum((int64) hashes->numbers[i]);
		slot->tts_values[COLUMN_NUMBER - 1] = Int64GetDatum(number++);
		slot->tts_values[COLUMN_DELTA - 1] = Int32GetDatum(sign * (int32) run);
		ExecStoreVirtualTuple(slot);
		if (count == room || i + run == hashes->count)
		{
			CHECK_FOR_INTERRUPTS();
			LogInsert(rel, slots, count, indexes);
			count = 0;
		}
	}
	for (int i = 0; i < room; i++)
		ExecDropSingleTupleTableSlot(slots[i]);
	CatalogCloseIndexes(indexes);
}

/* Write changes to the log, or many additions to the base. */
static void
LogChanges(Oid filter, CuckooList *added, CuckooList *removed)
{
	CuckooFollowed *followed;
	Relation	rel = CuckooFollowOpen(filter, RowExclusiveLock, &followed);

	CuckooLogSort(added, removed);
	if (added->count > 0 && !BaseAdd(rel, followed, added))
		LogWrite(rel, added, 1);
	if (removed->count > 0)
		LogWrite(rel, removed, -1);
	CuckooFollowClose(rel);
}

/*
 * What statements have collected and not written yet, for each filter table and
 * subtransaction.  While there is such an entry, a trigger that writes it is
 * queued in a statement of the subtransaction, unless it was dropped after
 * PendingGet has queued it.
 */
typedef struct Pending
{
	uint64		key;			/* the filter table and the subtransaction */
	uint64		number;			/* no two have the same */
	CuckooList	added;
	CuckooList	removed;
	MemoryContext context;		/* of the lists */
	MemoryContextCallback gone;
} Pending;

static HTAB *all_pending = NULL;

/*
 * Refuse to go on while changes are collected, for one filter table or for any
 * (InvalidOid) that has not been dropped: the trigger that writes them was not
 * fired, because it was dropped meanwhile.
 */
static void
PendingRefuse(Oid filter)
{
	HASH_SEQ_STATUS scan;
	Pending    *pending;

	if (all_pending == NULL)
		return;
	hash_seq_init(&scan, all_pending);
	while ((pending = hash_seq_search(&scan)) != NULL)
	{
		Oid			collected = (Oid) (pending->key >> 32);
		char	   *name = get_rel_name(collected);

		if (name == NULL || (OidIsValid(filter) && collected != filter))
			continue;
		ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("changes were not written to filter table \"%s\"", name),
				errdetail("Its trigger was dropped or disabled within the statement that made them."),
				errhint("Roll back, and change triggers in a statement of its own."));
	}
}

static void
PendingAtCommit(XactEvent event, void *argument)
{
	(void) argument;
	if (event == XACT_EVENT_PRE_COMMIT || event == XACT_EVENT_PRE_PREPARE)
		PendingRefuse(InvalidOid);
}

static Pending *
PendingFind(Oid filter, HASHACTION action)
{
	HASHCTL		control = {.keysize = sizeof(uint64), .entrysize = sizeof(Pending)};
	uint64		key = (uint64) filter << 32 | GetCurrentSubTransactionId();

	if (all_pending == NULL)
	{
		all_pending = hash_create("changes of followed tables", 16, &control,
								  HASH_ELEM | HASH_BLOBS);
		RegisterXactCallback(PendingAtCommit, NULL);
	}
	return hash_search(all_pending, &key, action, NULL);
}

/* It has been written, or its memory goes because its subtransaction aborts. */
static void
PendingUnlink(void *argument)
{
	(void) hash_search(all_pending, &((Pending *) argument)->key, HASH_REMOVE, NULL);
}

/* Whether this is the time to write, before the statement ends. */
static bool
PendingIsFull(const Pending *pending)
{
	uint64		count = pending->added.count + pending->removed.count;
	/* Sorting needs as much memory again. */
	uint64		most = (uint64) maintenance_work_mem * 1024 / (2 * sizeof(uint64));

	/* A row adds at most two. */
	return count % MIN_COLLECTED < 2 &&
		count >= Max(most / (uint64) hash_get_num_entries(all_pending), MIN_COLLECTED);
}

static void
PendingWrite(Pending *pending)
{
	LogChanges((Oid) (pending->key >> 32), &pending->added, &pending->removed);
	MemoryContextDelete(pending->context);
}

/*
 * Queue the trigger that writes what is pending behind the rows of this
 * statement.  False if the filter table does not have it.
 */
static bool
PendingQueue(Oid filter)
{
	CuckooFollowed *followed;
	Relation	rel = CuckooFollowOpen(filter, RowExclusiveLock, &followed);
	bool		queues = followed->queues;

	if (queues)
	{
		EState	   *estate = CreateExecutorState();
		ResultRelInfo *info = makeNode(ResultRelInfo);

		InitResultRelInfo(info, rel, 1, NULL, 0);
		ExecASDeleteTriggers(estate, info, NULL);
		FreeExecutorState(estate);
	}
	table_close(rel, NoLock);
	return queues;
}

/*
 * Where further rows of a statement are collected, when the trigger that writes
 * them is queued; NULL if it cannot be.  *queued is the number of what the
 * statement has queued it for.
 */
static Pending *
PendingGet(Oid filter, uint64 *queued)
{
	static uint64 last_number = 0;
	Pending    *pending = PendingFind(filter, HASH_FIND);

	if (pending != NULL && *queued == pending->number)
		return pending;
	if (!PendingQueue(filter))
		return NULL;
	if (pending == NULL)
	{
		MemoryContext context = AllocSetContextCreate(CurTransactionContext,
													  "changes of a followed table",
													  ALLOCSET_SMALL_SIZES);

		pending = PendingFind(filter, HASH_ENTER);
		*pending = (Pending) {.key = pending->key, .number = ++last_number, .context = context,
			.gone = {.func = PendingUnlink, .arg = pending}};
		MemoryContextRegisterResetCallback(context, &pending->gone);
	}
	*queued = pending->number;
	return pending;
}

/*
 * The triggers
 */

/*
 * The row triggers of a followed column: the old key is removed, the new one
 * added.  fn_extra keeps, for the rows of one statement, the number of what it
 * has queued a trigger for.
 */
static void
RowChange(FmgrInfo *info, const TriggerData *data)
{
	Oid			filter = data->tg_trigger->tgconstrrelid;
	CuckooList	added = {NULL, 0, 0};
	CuckooList	removed = {NULL, 0, 0};
	Pending    *pending = NULL;
	CuckooFollowed *followed;
	MemoryContext before;

	if (info->fn_extra == NULL)
		info->fn_extra = MemoryContextAllocZero(info->fn_mcxt, sizeof(uint64));
	else if (CuckooFollowByTable(filter, data->tg_relation) != NULL)
		pending = PendingGet(filter, (uint64 *) info->fn_extra);
	/* That may have found it out anew. */
	followed = CuckooFollowByTable(filter, data->tg_relation);
	if (followed == NULL)
		return;
	before = MemoryContextSwitchTo(pending != NULL ? pending->context : CurrentMemoryContext);
	if (!TRIGGER_FIRED_BY_INSERT(data->tg_event))
		KeyPut(followed, data->tg_trigslot, pending != NULL ? &pending->removed : &removed);
	if (!TRIGGER_FIRED_BY_DELETE(data->tg_event))
		KeyPut(followed, TRIGGER_FIRED_BY_UPDATE(data->tg_event) ? data->tg_newslot :
			   data->tg_trigslot, pending != NULL ? &pending->added : &added);
	MemoryContextSwitchTo(before);
	if (added.count + removed.count > 0)
		LogChanges(filter, &added, &removed);
	else if (pending != NULL && PendingIsFull(pending))
		PendingWrite(pending);
}

/* The triggers of a followed table and of its filter table */
Datum
cuckoo_follow_change(PG_FUNCTION_ARGS)
{
	TriggerData *data = (TriggerData *) fcinfo->context;

	if (CALLED_AS_TRIGGER(fcinfo) && data->tg_trigger->tgtype == REFUSE_TRIGGER)
		ereport(ERROR, errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("cannot change filter table \"%s\"", RelationGetRelationName(data->tg_relation)),
				errdetail("Only cuckoo_follow writes to it."),
				errhint("Call cuckoo_follow_rebuild to build its filter again."));
	if (!CALLED_AS_TRIGGER(fcinfo) || !TRIGGER_FIRED_AFTER(data->tg_event) ||
		(TRIGGER_FIRED_FOR_ROW(data->tg_event) && !OidIsValid(data->tg_trigger->tgconstrrelid)))
		ereport(ERROR, errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				errmsg("cuckoo_follow_change must be called by a trigger that cuckoo_follow makes"));
	if (TRIGGER_FIRED_FOR_ROW(data->tg_event))
		RowChange(fcinfo->flinfo, data);
	else if (TRIGGER_FIRED_BY_TRUNCATE(data->tg_event))
	{
		List	   *filters = CuckooFollowFilters(data->tg_relation);

		for (int i = 0; i < list_length(filters); i++)
			BaseTruncate(data->tg_relation, list_nth_oid(filters, i));
	}
	else
	{
		Pending    *pending = PendingFind(RelationGetRelid(data->tg_relation), HASH_FIND);

		if (pending != NULL)
			PendingWrite(pending);
	}
	return PointerGetDatum(NULL);
}
