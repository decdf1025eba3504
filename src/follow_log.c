/*-------------------------------------------------------------------------
 *
 * follow_log.c
 *	  From the rows of a followed table to the log of its filter table.
 *
 * Row triggers put hashes into a buffer, and the trigger at the end of the
 * statement writes the buffer to the log.  Only row triggers see every change:
 * statement triggers do not fire for a partition that is written through its
 * parent, nor when logical replication applies changes.
 *
 * There is a buffer for each filter, subtransaction and command:
 *
 * - Subtransaction, because an aborted one loses what it has written: an outer
 *	 one's changes must not be written in it.  When a subtransaction ends, its
 *	 buffers are written, or dropped if it is aborted.  If they were kept for
 *	 its parent, many savepoints would make a long list.
 *
 * - Command, because an addition and a removal of a hash cancel each other
 *	 only within one command.  An older cursor may still see a row that a later
 *	 command of the same transaction has removed.
 *
 * Where statement triggers do not fire, a buffer is written when a row of a
 * later command comes, before the transaction commits or is prepared, and
 * before the subtransaction ends.
 *
 * In a security-restricted operation, such as a function that ANALYZE runs as
 * its owner, a buffer is written after every row: nothing may be left to be
 * written later with other rights.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "commands/trigger.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "follow.h"

/*
 * A buffer with this many changes is written at once.  If the statement will
 * fold its changes itself, the limit is maintenance_work_mem instead.
 */
#define BUFFER_CHANGES		100000

/*
 * A statement folds its changes itself if they are more than this, and more
 * than 1 % of the items.
 */
#define OWN_FOLD_CHANGES	10000

typedef struct FollowBuffer
{
	Oid			filter;
	SubTransactionId subtransaction;
	CommandId	command;
	Size		limit;			/* changes at which it is written */
	SubTransactionId voided;	/* in which a TRUNCATE made it obsolete */
	FollowChanges changes;

	/* A hash table (open addressing) of the first hashes added, for lookups */
	Size		indexed;
	Size		slot_count;		/* a power of two */
	uint64	   *slots;

	struct FollowBuffer *next;
} FollowBuffer;

/* A lookup compares up to this many hashes one by one. */
#define FEW_HASHES			64

/*
 * All buffers, the newest first, so that those of inner subtransactions come
 * before those of outer ones.  They live in TopTransactionContext.
 */
static FollowBuffer *buffers = NULL;
static bool any_voided = false;
static bool has_written = false;

/* Filters whose tables have lost rows that this transaction had written */
static List *own_rows_removed = NIL;

/* Filters for which this transaction has logged changes of an earlier command */
static List *written_late = NIL;

/*
 * Writing and dropping
 */

/* Put a filter into a list, until the transaction ends. */
static void
Note(List **list, Oid filter)
{
	MemoryContext context = MemoryContextSwitchTo(TopTransactionContext);

	*list = list_append_unique_oid(*list, filter);
	MemoryContextSwitchTo(context);
}

static void
Unlink(FollowBuffer *buffer)
{
	FollowBuffer **link = &buffers;

	while (*link != buffer)
		link = &(*link)->next;
	*link = buffer->next;
}

static void
Free(FollowBuffer *buffer)
{
	FollowFree(&buffer->changes);
	if (buffer->slots != NULL)
		pfree(buffer->slots);
	pfree(buffer);
}

static void
Drop(FollowBuffer *buffer)
{
	Unlink(buffer);
	Free(buffer);
}

static void
Write(FollowBuffer *buffer)
{
	Relation	rel;

	/* First, so that nothing that happens meanwhile writes it again. */
	Unlink(buffer);

	if (buffer->command != GetCurrentCommandId(false))
		Note(&written_late, buffer->filter);

	/* If the filter table has been dropped, nobody needs the changes. */
	if (buffer->voided == InvalidSubTransactionId &&
		(rel = try_relation_open(buffer->filter, RowExclusiveLock)) != NULL)
	{
		FollowCheckTable(rel);
		FollowSortChanges(&buffer->changes);
		FollowWriteLog(rel, &buffer->changes);
		relation_close(rel, NoLock);
		has_written = true;
	}
	Free(buffer);
}

/* The buffer of this subtransaction for a filter, if any. */
static FollowBuffer *
FindOwn(Oid filter)
{
	SubTransactionId now = GetCurrentSubTransactionId();

	for (FollowBuffer *buffer = buffers; buffer != NULL && buffer->subtransaction == now;
		 buffer = buffer->next)
	{
		if (buffer->filter == filter && buffer->voided == InvalidSubTransactionId)
			return buffer;
	}
	return NULL;
}

void
FollowFlush(Oid filter)
{
	FollowBuffer	   *buffer;

	while ((buffer = FindOwn(filter)) != NULL)
		Write(buffer);
}

bool
FollowOuterPending(Oid filter)
{
	for (FollowBuffer *buffer = buffers; buffer != NULL; buffer = buffer->next)
	{
		if (buffer->filter == filter && buffer->subtransaction != GetCurrentSubTransactionId())
			return true;
	}
	return false;
}

/*
 * The slot of a hash, or a free one for it.  0 marks a free slot, so callers
 * replace hash 0 by 1.
 */
static uint64 *
FindSlot(FollowBuffer *buffer, uint64 hash)
{
	Size		i = (Size) hash & (buffer->slot_count - 1);

	while (buffer->slots[i] != 0 && buffer->slots[i] != hash)
		i = (i + 1) & (buffer->slot_count - 1);
	return &buffer->slots[i];
}

/*
 * A trigger may look a key up for each row that a statement adds.  Comparing
 * all of them each time would take quadratic time.
 */
static bool
ContainsAdded(FollowBuffer *buffer, uint64 hash)
{
	const FollowHashes *added = &buffer->changes.added;

	if (added->count <= FEW_HASHES)
	{
		for (Size i = 0; i < added->count; i++)
		{
			if (added->hashes[i] == hash)
				return true;
		}
		return false;
	}
	if (buffer->slot_count < 2 * added->count)
	{
		Size		count = (Size) pg_nextpower2_64(2 * added->count);

		if (buffer->slots != NULL)
			pfree(buffer->slots);
		buffer->slots = NULL;
		buffer->slot_count = 0;	/* should there be no memory */
		buffer->slots = MemoryContextAllocExtended(TopTransactionContext,
												   count * sizeof(uint64),
												   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
		buffer->slot_count = count;
		buffer->indexed = 0;
	}
	for (; buffer->indexed < added->count; buffer->indexed++)
	{
		uint64		key = Max(added->hashes[buffer->indexed], 1);

		*FindSlot(buffer, key) = key;
	}
	return *FindSlot(buffer, Max(hash, 1)) != 0;
}

bool
FollowBufferContains(Oid filter, uint64 hash)
{
	for (FollowBuffer *buffer = buffers; buffer != NULL; buffer = buffer->next)
	{
		if (buffer->filter == filter && ContainsAdded(buffer, hash))
			return true;
	}
	return false;
}

void
FollowBufferAdded(Oid filter, FollowChanges *changes)
{
	for (FollowBuffer *buffer = buffers; buffer != NULL; buffer = buffer->next)
	{
		if (buffer->filter != filter)
			continue;
		for (Size i = 0; i < buffer->changes.added.count; i++)
			FollowPut(&changes->added, buffer->changes.added.hashes[i]);
	}
}

bool
FollowHasWritten(void)
{
	return has_written;
}

bool
FollowCursorMayMiss(Oid filter)
{
	return list_member_oid(own_rows_removed, filter) && list_member_oid(written_late, filter);
}

/*
 * The ends of transactions and subtransactions
 */

/* Write the buffers of this (sub)transaction, for all filters. */
static void
WriteOwn(void)
{
	SubTransactionId now = GetCurrentSubTransactionId();

	if (buffers == NULL || buffers->subtransaction != now)
		return;
	PushActiveSnapshot(GetTransactionSnapshot());
	while (buffers != NULL && buffers->subtransaction == now)
		Write(buffers);
	PopActiveSnapshot();
}

static void
AtTransactionEvent(XactEvent event, void *argument)
{
	(void) argument;
	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
		case XACT_EVENT_PRE_PREPARE:
			WriteOwn();
			Assert(buffers == NULL);
			break;
		case XACT_EVENT_ABORT:
		case XACT_EVENT_COMMIT:
		case XACT_EVENT_PREPARE:
			/* It may have failed because a number was taken. */
			if (event == XACT_EVENT_ABORT)
				FollowForgetNumber();
			/* Their memory is freed with the transaction. */
			buffers = NULL;
			any_voided = false;
			has_written = false;
			own_rows_removed = NIL;
			written_late = NIL;
			break;
		default:
			break;
	}
}

static void
AtSubTransactionEvent(SubXactEvent event, SubTransactionId self, SubTransactionId parent,
					  void *argument)
{
	(void) argument;
	if (event == SUBXACT_EVENT_PRE_COMMIT_SUB)
		WriteOwn();
	if (event != SUBXACT_EVENT_COMMIT_SUB && event != SUBXACT_EVENT_ABORT_SUB)
		return;
	if (event == SUBXACT_EVENT_ABORT_SUB)
	{
		FollowForgetNumber();
		while (buffers != NULL && buffers->subtransaction == self)
			Drop(buffers);
	}
	for (FollowBuffer *buffer = buffers; any_voided && buffer != NULL; buffer = buffer->next)
	{
		if (buffer->voided == self)
			buffer->voided = event == SUBXACT_EVENT_COMMIT_SUB ? parent : InvalidSubTransactionId;
	}
}

/*
 * The triggers
 */

static TriggerData *
GetTriggerData(FunctionCallInfo fcinfo, const char *name, bool row, bool truncate)
{
	TriggerData *data = (TriggerData *) fcinfo->context;

	if (!CALLED_AS_TRIGGER(fcinfo) || !TRIGGER_FIRED_AFTER(data->tg_event) ||
		!TRIGGER_FIRED_FOR_ROW(data->tg_event) != !row ||
		(!row && !TRIGGER_FIRED_BY_TRUNCATE(data->tg_event) != !truncate))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("%s must be called by the trigger that cuckoo_follow makes", name)));
	return data;
}

/*
 * Remember it if this transaction removes a row that it has written itself.
 *
 * A statement inside another one (in a trigger, for example) may remove a row
 * before the outer one's trigger has reported that it was added.  A fold would
 * then remove from the base what is not there.  After such a row, statements
 * of this transaction therefore do not fold their changes themselves.
 * cuckoo_fold and cuckoo_rebuild refuse to run inside a statement on the
 * table, so they are not affected.
 */
static void
NoteOwnRow(Oid filter, TupleTableSlot *row)
{
	bool		isnull;

	/* Slots of other kinds do not tell who wrote the row: assume it was us. */
	if (row->tts_ops == &TTSOpsBufferHeapTuple || row->tts_ops == &TTSOpsHeapTuple)
	{
		Datum		xmin = slot_getsysattr(row, MinTransactionIdAttributeNumber, &isnull);

		if (!TransactionIdIsCurrentTransactionId(DatumGetTransactionId(xmin)))
			return;
	}
	Note(&own_rows_removed, filter);
}

/* Whether a statement may fold its changes itself. */
static bool
MayFold(Oid filter)
{
	return !IsolationUsesXactSnapshot() && !FollowOuterPending(filter) &&
		!list_member_oid(own_rows_removed, filter);
}

/* The buffer for the current change. */
static FollowBuffer *
GetBuffer(const FollowTarget *target)
{
	static bool registered = false;
	SubTransactionId subtransaction = GetCurrentSubTransactionId();
	CommandId	command = GetCurrentCommandId(false);
	FollowBuffer	   *buffer = buffers;

	/* The usual case */
	if (buffer != NULL && buffer->filter == target->filter &&
		buffer->subtransaction == subtransaction && buffer->command == command &&
		buffer->voided == InvalidSubTransactionId)
		return buffer;

	if (!registered)
	{
		RegisterXactCallback(AtTransactionEvent, NULL);
		RegisterSubXactCallback(AtSubTransactionEvent, NULL);
		registered = true;
	}
	buffer = FindOwn(target->filter);
	if (buffer != NULL && buffer->command == command)
		return buffer;
	/* This is a row of a later command. */
	if (buffer != NULL)
		FollowFlush(target->filter);

	buffer = MemoryContextAllocZero(TopTransactionContext, sizeof(FollowBuffer));
	buffer->filter = target->filter;
	buffer->subtransaction = subtransaction;
	buffer->command = command;
	buffer->voided = InvalidSubTransactionId;
	buffer->limit = BUFFER_CHANGES;
	buffer->next = buffers;
	buffers = buffer;
	return buffer;
}

/*
 * Put one row's change into the buffer: its old key is removed, its new one
 * added.
 */
static void
Change(FollowTarget *target, TupleTableSlot *old_row, TupleTableSlot *new_row)
{
	bool		old_null = true;
	bool		new_null = true;
	uint64		old_hash = 0;
	uint64		new_hash = 0;
	Datum		value;
	FollowBuffer	   *buffer;
	MemoryContext context;

	if (old_row != NULL)
	{
		value = slot_getattr(old_row, target->column, &old_null);
		if (!old_null)
			old_hash = CuckooKeyHash(&target->key, value, FOLLOW_SEED);
	}
	if (new_row != NULL)
	{
		value = slot_getattr(new_row, target->column, &new_null);
		if (!new_null)
			new_hash = CuckooKeyHash(&target->key, value, FOLLOW_SEED);
	}
	if ((old_null && new_null) || (!old_null && !new_null && old_hash == new_hash))
		return;

	buffer = GetBuffer(target);
	if (!old_null)
		NoteOwnRow(target->filter, old_row);
	context = MemoryContextSwitchTo(TopTransactionContext);
	if (!new_null)
		FollowPut(&buffer->changes.added, new_hash);
	if (!old_null)
		FollowPut(&buffer->changes.removed, old_hash);
	MemoryContextSwitchTo(context);
	if (FollowCount(&buffer->changes) >= buffer->limit && buffer->limit == BUFFER_CHANGES &&
		MayFold(buffer->filter))
		buffer->limit = Max(buffer->limit, (Size) maintenance_work_mem * 1024 / sizeof(uint64) / 2);
	if (FollowCount(&buffer->changes) >= buffer->limit || InSecurityRestrictedOperation())
		Write(buffer);
}

/* cuckoo_follow_row(): after each row that was inserted, updated or deleted */
PG_FUNCTION_INFO_V1(cuckoo_follow_row);
Datum
cuckoo_follow_row(PG_FUNCTION_ARGS)
{
	TriggerData *data = GetTriggerData(fcinfo, "cuckoo_follow_row", true, false);
	bool		updated = TRIGGER_FIRED_BY_UPDATE(data->tg_event);
	FollowTargets *targets;

	/* Find them each time, because writing may have replaced the list. */
	for (int i = 0; i < (targets = FollowFindTargets(data->tg_relation))->count; i++)
	{
		FollowTarget *target = &targets->list[i];

		/* An update trigger serves its own target, the others serve all. */
		if (updated && target->trigger == data->tg_trigger->tgoid)
			Change(target, data->tg_trigslot, data->tg_newslot);
		else if (TRIGGER_FIRED_BY_INSERT(data->tg_event))
			Change(target, NULL, data->tg_trigslot);
		else if (TRIGGER_FIRED_BY_DELETE(data->tg_event))
			Change(target, data->tg_trigslot, NULL);
	}
	return PointerGetDatum(NULL);
}

/*
 * Fold the buffer and the log, without writing the buffer to the log.  A
 * filter that does not match the column is not touched: cuckoo_fold reports
 * that.
 */
static bool
FoldBuffer(FollowBuffer *buffer, const CuckooKey *key)
{
	Relation	rel = FollowOpenTable(buffer->filter, RowExclusiveLock);
	FollowBase	base;
	CuckooFilter header;
	Size		bytes;
	int64		folded;
	bool		done = false;

	FollowReadBase(rel, GetActiveSnapshot(), &base);
	if (base.built)
	{
		CuckooReadHeader(base.f, &header, &bytes);
		if (FollowCount(&buffer->changes) > header.items / 100 &&
			header.key_type == key->key_type && header.signature == key->signature)
		{
			Unlink(buffer);
			done = FollowFold(rel, key, &buffer->changes, &folded);
			if (done)
			{
				has_written = true;
				Free(buffer);
			}
			else
			{
				buffer->next = buffers;
				buffers = buffer;
			}
		}
	}
	table_close(rel, NoLock);
	return done;
}

/* cuckoo_follow_end(): at the end of a statement */
PG_FUNCTION_INFO_V1(cuckoo_follow_end);
Datum
cuckoo_follow_end(PG_FUNCTION_ARGS)
{
	TriggerData *data = GetTriggerData(fcinfo, "cuckoo_follow_end", false, false);
	FollowTargets *targets = buffers == NULL ? NULL : FollowFindTargets(data->tg_relation);

	for (int i = 0; targets != NULL && i < targets->count; i++)
	{
		Oid			filter = targets->list[i].filter;
		FollowBuffer	   *buffer = FindOwn(filter);

		if (buffer != NULL && FollowCount(&buffer->changes) > OWN_FOLD_CHANGES &&
			MayFold(filter))
			(void) FoldBuffer(buffer, &targets->list[i].key);
		FollowFlush(filter);
		/* Writing may have replaced the list. */
		targets = FollowFindTargets(data->tg_relation);
	}
	return PointerGetDatum(NULL);
}

/*
 * After TRUNCATE: the table is empty, and so is the filter.  The log's rows
 * are deleted, because TRUNCATE would need a lock that blocks lookups: a
 * transaction that looks a key up and then reads the table would deadlock with
 * us.
 */
static void
Truncate(Oid filter)
{
	Relation	rel = FollowOpenTable(filter, RowExclusiveLock);
	FollowBuffer	   *buffer;
	FollowBase	base;

	/* What this transaction has not written yet is obsolete. */
	while ((buffer = FindOwn(filter)) != NULL)
		Drop(buffer);
	for (buffer = buffers; buffer != NULL; buffer = buffer->next)
	{
		if (buffer->filter == filter && buffer->voided == InvalidSubTransactionId)
			buffer->voided = GetCurrentSubTransactionId();
		any_voided = true;
	}

	CommandCounterIncrement();
	FollowLockBase(rel, true, &base);
	if (IsolationUsesXactSnapshot())
	{
		FollowBase	seen;

		/*
		 * A base that others have written since would go on to be seen as it
		 * was, with removals in the log that count against what we add.
		 */
		FollowReadBase(rel, GetTransactionSnapshot(), &seen);
		if (seen.found != base.found ||
			(base.found && !ItemPointerEquals(&seen.tid, &base.tid)))
			ereport(ERROR,
					(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
					 errmsg("could not serialize access due to concurrent update"),
					 errdetail("The filter in \"%s\" was changed concurrently.",
							   RelationGetRelationName(rel)),
					 errhint("The transaction might succeed if retried.")));
	}
	/* Nobody else can be writing: the table is locked. */
	PushActiveSnapshot(GetLatestSnapshot());
	FollowReadLog(rel, GetActiveSnapshot(), true, true, NULL);
	if (base.built)
	{
		CuckooFilter header;
		CuckooFilter empty;
		Size		bytes;

		CuckooReadHeader(base.f, &header, &bytes);
		CuckooFilterInit(&empty, header.fpr, header.capacity, header.seed);
		empty.key_type = header.key_type;
		empty.signature = header.signature;
		FollowUpdateBase(rel, &base.tid, CuckooEmptyValue(&empty), FOLLOW_BUILT);
	}
	PopActiveSnapshot();
	has_written = true;
	table_close(rel, NoLock);
}

PG_FUNCTION_INFO_V1(cuckoo_follow_truncate);
Datum
cuckoo_follow_truncate(PG_FUNCTION_ARGS)
{
	TriggerData *data = GetTriggerData(fcinfo, "cuckoo_follow_truncate", false, true);
	FollowTargets *targets = FollowFindTargets(data->tg_relation);

	for (int i = 0; i < targets->count; i++)
	{
		Truncate(targets->list[i].filter);
		targets = FollowFindTargets(data->tg_relation);
	}
	return PointerGetDatum(NULL);
}
