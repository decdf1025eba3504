/*-------------------------------------------------------------------------
 *
 * follow.c
 *	  SQL functions for a filter that follows a table: see follow.h.
 *
 * The promise is that a lookup finds the key of every row that its snapshot
 * shows, except rows of a statement that has not ended, and of COPY FREEZE.  It
 * rests on these rules:
 *
 * - Rows and their changes in the log are committed together.
 * - A fold takes its snapshot after it has locked the base, and moves all of
 *	 the log that this snapshot shows, netted by hash.  If a removal is
 *	 visible, its addition is, too, so nothing absent is removed from the base.
 * - A fold adds before it removes, so that each of two keys that look alike
 *	 always has a copy of its own.
 * - A rebuild reads the table and deletes the log in one snapshot.
 * - Lookups read base and log in one snapshot, and the changes that this
 *	 session has not written yet.
 *
 * Locks are taken in this order: the followed table, the filter table, the
 * base row.  TRUNCATE already has the first one.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include <math.h>

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "commands/tablecmds.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "parser/parse_func.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rls.h"
#include "utils/snapmgr.h"

#include "cuckoo.h"
#include "follow.h"

/* The percentage of keys that may have as many rows as a class has copies. */
#define REPEATED_PERCENT	1

/*
 * Checks before anything is changed
 */

static void
CheckChanging(const char *name)
{
	PreventCommandIfReadOnly(name);
	PreventCommandIfParallelMode(name);
	PreventCommandDuringRecovery(name);
	if (IsolationUsesXactSnapshot())
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("%s requires the isolation level READ COMMITTED", name),
				 errdetail("The isolation level of the transaction is %s.",
						   IsolationIsSerializable() ? "SERIALIZABLE" : "REPEATABLE READ"),
				 errhint("Call it in a transaction of its own.")));
}

static void
CheckOwnership(Oid relid)
{
	if (!CuckooOwnsTable(relid, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE, get_rel_name(relid));
}

/* The user and settings to return to. */
typedef struct Identity
{
	Oid			user;
	int			security;
	int			guc_level;
} Identity;

/*
 * Become the owner of the tables, with the settings that this code needs.  An
 * error also undoes this.
 */
static void
BecomeOwner(Identity *before, Relation rel)
{
	bool		temporary = rel->rd_rel->relpersistence == RELPERSISTENCE_TEMP;

	GetUserIdAndSecContext(&before->user, &before->security);
	/* A restricted operation may not create temporary tables. */
	SetUserIdAndSecContext(rel->rd_rel->relowner, before->security |
						   (temporary ? SECURITY_LOCAL_USERID_CHANGE :
							SECURITY_RESTRICTED_OPERATION));
	before->guc_level = NewGUCNestLevel();
	(void) set_config_option("search_path", "pg_catalog, pg_temp", PGC_USERSET,
							 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	(void) set_config_option("row_security", "off", PGC_USERSET,
							 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
}

static void
BecomeAgain(const Identity *before)
{
	AtEOXact_GUC(false, before->guc_level);
	SetUserIdAndSecContext(before->user, before->security);
}

/* The followed table of a filter table, opened. */
static Relation
OpenFollowed(Oid filter, LOCKMODE lockmode)
{
	Oid			relid = FollowFindTable(filter);
	Relation	table;

	if (!OidIsValid(relid))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("filter table \"%s\" follows no table", get_rel_name(filter)),
				 errdetail("There is no trigger that writes to it."),
				 errhint("On a subscriber, call this function on the publisher instead. Otherwise drop the filter table, and call cuckoo_follow.")));
	table = table_open(relid, lockmode);
	/* With another owner this raises an error. */
	if (FollowFindTarget(table, filter) == NULL)
		elog(ERROR, "filter table \"%s\" has changed concurrently", get_rel_name(filter));
	return table;
}

/*
 * Refuse to run if changes may be unknown or cannot be written.  Statements of
 * this session that use the table may have changed rows whose triggers have
 * not fired yet, and the changes of an outer subtransaction cannot be written
 * in this one.
 */
static void
CheckComplete(Relation table, Oid filter, const char *name, const char *action)
{
	CheckTableNotInUse(table, action);
	FollowFlush(filter);
	if (FollowOuterPending(filter))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("%s cannot be called in this subtransaction", name),
				 errdetail("An outer transaction or subtransaction has changed table \"%s\" and not written its changes to \"%s\" yet.",
						   RelationGetRelationName(table), get_rel_name(filter)),
				 errhint("Call it before the savepoint, or after the transaction.")));
	/* The log of now still has such rows, as copies that may not be removed. */
	if (FollowCursorMayMiss(filter))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("%s cannot be called in this transaction", name),
				 errdetail("It has removed rows of table \"%s\" that it had added, and a cursor may still show them.",
						   RelationGetRelationName(table)),
				 errhint("Call it in a transaction of its own.")));
}

static const char *
ColumnName(Relation table, AttrNumber column)
{
	return NameStr(TupleDescAttr(RelationGetDescr(table), column - 1)->attname);
}

/*
 * Building
 */

/* The hashes of all rows of a table in a snapshot. */
static void
HashTable(Relation table, FollowTarget *target, Snapshot snapshot, FollowHashes *hashes)
{
	TableScanDesc scan = CuckooBeginScan(table, snapshot);
	TupleTableSlot *slot = table_slot_create(table, NULL);

	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		bool		isnull;
		Datum		value = slot_getattr(slot, target->column, &isnull);

		CHECK_FOR_INTERRUPTS();
		if (!isnull)
			FollowPut(hashes, CuckooKeyHash(&target->key, value, FOLLOW_SEED));
	}
	ExecDropSingleTupleTableSlot(slot);
	table_endscan(scan);
}

/*
 * Keys with as many rows as a class can have copies stay in the filter when
 * their rows are deleted.  With many such keys, it fills up with deleted ones.
 */
static void
CheckRepeated(Relation table, FollowTarget *target, const FollowHashes *hashes, bool first)
{
	uint64		keys = 0;
	uint64		repeated = 0;
	Size		next;

	for (Size i = 0; i < hashes->count; i = next)
	{
		for (next = i + 1; next < hashes->count && hashes->hashes[next] == hashes->hashes[i];)
			next++;
		keys++;
		repeated += next - i >= CUCKOO_MAX_COPIES;
	}
	if (repeated * 100 > keys * REPEATED_PERCENT)
		ereport(first ? ERROR : WARNING,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("column \"%s\" of table \"%s\" has too many duplicate values to be followed",
						ColumnName(table, target->column),
						RelationGetRelationName(table)),
				 errdetail("Of %llu keys, %llu have %d rows or more, which is more than %d %%.",
						   (unsigned long long) keys, (unsigned long long) repeated,
						   CUCKOO_MAX_COPIES, REPEATED_PERCENT),
				 errhint("Build a filter with cuckoo_agg from time to time.")));
}

/*
 * Build the base from the table, and delete the log that this makes obsolete.
 * Parameters below 0 mean the previous ones.
 */
static void
Build(Relation table, Relation rel, FollowTarget *target, double fpr, double capacity)
{
	FollowHashes hashes;
	FollowBase	base;
	CuckooFilter filter;
	CuckooValue *value;
	CuckooRun	run;

	memset(&hashes, 0, sizeof(hashes));
	CommandCounterIncrement();
	FollowLockBase(rel, true, &base);
	if (DatumGetPointer(base.f) != NULL)
	{
		Size		bytes;

		CuckooReadHeader(base.f, &filter, &bytes);
		if (fpr < 0)
			fpr = filter.fpr;
		/* The empty base has the one given to cuckoo_follow. */
		if (capacity < 0 && !base.built && filter.capacity > 0)
			capacity = (double) filter.capacity;
	}
	if (fpr < 0)
		fpr = CUCKOO_DEFAULT_FPR;

	/* After locking, as for a fold; one snapshot for table and log. */
	PushActiveSnapshot(GetLatestSnapshot());
	HashTable(table, target, GetActiveSnapshot(), &hashes);
	FollowReadLog(rel, GetActiveSnapshot(), true, true, NULL);

	FollowSort(&hashes);
	CheckRepeated(table, target, &hashes, !base.built);
	if (capacity < 0)
	{
		capacity = ceil(1.5 * (double) hashes.count);
		if (capacity <= CUCKOO_UNKNOWN_KEYS)
			capacity = 0;
	}
	CuckooFilterInit(&filter, fpr, capacity > 0 ? CuckooCheckCapacity(capacity) : 0, FOLLOW_SEED);
	CuckooCheckSize(fpr, filter.capacity);
	filter.key_type = (uint8) target->key.key_type;
	filter.signature = target->key.signature;
	run.numbers = hashes.hashes;
	run.count = hashes.count;
	value = CuckooBuildValue(&filter, &run, 1);
	if (base.found)
		FollowUpdateBase(rel, &base.tid, value, FOLLOW_BUILT);
	else
		FollowInsertBase(rel, value, FOLLOW_BUILT);
	PopActiveSnapshot();
	if (hashes.hashes != NULL)
		pfree(hashes.hashes);
}

/*
 * Triggers and tables
 */

static void
Execute(const char *command)
{
	int			result = SPI_execute(command, false, 0);

	if (result < 0)
		elog(ERROR, "could not execute \"%s\": %s", command, SPI_result_code_string(result));
}

/* "schema"."name" */
static char *
QualifiedName(Relation rel)
{
	return quote_qualified_identifier(get_namespace_name(RelationGetNamespace(rel)),
									  RelationGetRelationName(rel));
}

/*
 * The type cuckoofilter, which may be in another schema than the functions that
 * follow a table: one of these returns it.
 */
static Oid
FilterType(const char *schema)
{
	List	   *name = list_make2(makeString(pstrdup(schema)), makeString("cuckoo_current"));
	Oid			argument = REGCLASSOID;

	return get_func_rettype(LookupFuncName(name, 1, &argument, false));
}

/* A trigger name that the table does not have yet. */
static char *
TriggerName(Relation table, const char *wanted)
{
	char	   *name = pstrdup(wanted);

	for (int number = 2;; number++)
	{
		bool		taken = false;

		for (int i = 0; table->trigdesc != NULL && i < table->trigdesc->numtriggers; i++)
			taken |= strcmp(table->trigdesc->triggers[i].tgname, name) == 0;
		if (!taken)
			return name;
		name = psprintf("%s%d", wanted, number);
	}
}

/* A trigger to be created. */
static List *
AddTrigger(List *commands, Relation table, const char *wanted, const char *events,
		   const char *level, const char *condition, const char *function, const char *schema)
{
	return lappend(commands,
				   psprintf("CREATE TRIGGER %s AFTER %s ON %s FOR EACH %s %s EXECUTE FUNCTION %s()",
							quote_identifier(TriggerName(table, wanted)), events,
							QualifiedName(table), level, condition,
							quote_qualified_identifier(schema, function)));
}

static void
ExecuteAll(List *commands)
{
	ListCell   *cell;

	foreach(cell, commands)
		Execute((const char *) lfirst(cell));
	CommandCounterIncrement();
}

/* Make our triggers fire always, whatever session_replication_role is. */
static void
EnableTriggers(Oid table_oid, Oid filter)
{
	Relation	table = table_open(table_oid, NoLock);
	List	   *commands = NIL;
	List	   *disabled = NIL;
	ListCell   *cell;

	(void) FollowTriggersInOrder(table, filter, &disabled);
	foreach(cell, disabled)
		commands = lappend(commands,
						   psprintf("ALTER TABLE %s ENABLE ALWAYS TRIGGER %s",
									QualifiedName(table),
									quote_identifier((const char *) lfirst(cell))));
	table_close(table, NoLock);
	ExecuteAll(commands);
}

/*
 * Create missing triggers, and make all of them fire always.  The table must
 * be locked but not open, because an open table cannot be altered.
 */
static void
MendTriggers(Oid table_oid, Oid filter, const char *column, const char *schema)
{
	Relation	table;
	Relation	rel;
	List	   *commands = NIL;
	int			parts;

	EnableTriggers(table_oid, filter);
	table = table_open(table_oid, NoLock);
	rel = table_open(filter, AccessShareLock);
	parts = FollowTriggersInOrder(table, filter, NULL);
	if (!(parts & FOLLOW_TRIGGER_INSERT))
		commands = AddTrigger(commands, table, "cuckoo_follow_insert", "INSERT", "ROW", "",
							  "cuckoo_follow_row", schema);
	if (!(parts & FOLLOW_TRIGGER_DELETE))
		commands = AddTrigger(commands, table, "cuckoo_follow_delete", "DELETE", "ROW", "",
							  "cuckoo_follow_row", schema);
	if (!(parts & FOLLOW_TRIGGER_END))
		commands = AddTrigger(commands, table, "cuckoo_follow_end",
							  "INSERT OR UPDATE OR DELETE", "STATEMENT", "",
							  "cuckoo_follow_end", schema);
	if (!(parts & FOLLOW_TRIGGER_TRUNCATE))
		commands = AddTrigger(commands, table, "cuckoo_follow_truncate", "TRUNCATE",
							  "STATEMENT", "", "cuckoo_follow_truncate", schema);
	if (!(parts & FOLLOW_TRIGGER_UPDATE))
		commands = AddTrigger(commands, table, "cuckoo_follow_update", "UPDATE", "ROW",
							  psprintf("WHEN (OLD.%s IS DISTINCT FROM NEW.%s AND %s::pg_catalog.regclass IS NOT NULL)",
									   quote_identifier(column), quote_identifier(column),
									   quote_literal_cstr(QualifiedName(rel))),
							  "cuckoo_follow_row", schema);
	table_close(rel, NoLock);
	table_close(table, NoLock);
	ExecuteAll(commands);
	EnableTriggers(table_oid, filter);
}

/* Refuse what cannot be followed. */
static void
CheckFollowable(Relation table, AttrNumber column)
{
	Form_pg_attribute attribute;
	CuckooKey	key;

	if (table->rd_rel->relkind == RELKIND_PARTITIONED_TABLE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot follow partitioned table \"%s\"", RelationGetRelationName(table)),
				 errdetail("Rows are written to its partitions."),
				 errhint("Follow each partition.")));
	if (table->rd_rel->relkind != RELKIND_RELATION)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("cannot follow \"%s\"", RelationGetRelationName(table)),
				 errdetail("It is not an ordinary table."),
				 errhint("Follow the table that its rows come from.")));
	if (RELATION_IS_OTHER_TEMP(table))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot follow a temporary table of another session"),
				 errhint("Call cuckoo_follow in that session.")));
	if (FollowIsTable(table))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot follow filter table \"%s\"", RelationGetRelationName(table)),
				 errdetail("Its log is written without triggers."),
				 errhint("Follow the table that it follows.")));
	attribute = TupleDescAttr(RelationGetDescr(table), column - 1);
	if (CuckooGeneratedIsRefused(attribute->attgenerated))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot follow generated column \"%s\" of table \"%s\"",
						NameStr(attribute->attname), RelationGetRelationName(table)),
				 errdetail("Its values can change without firing a trigger."),
				 errhint("Have a BEFORE trigger compute an ordinary column.")));
	FollowInitKey(&key, table, column, CurrentMemoryContext);
}

/*
 * cuckoo_follow(table_name regclass, column_name name, capacity float8, fpr float8, build bool)
 * -> regclass: the filter table
 */
PG_FUNCTION_INFO_V1(cuckoo_follow);
Datum
cuckoo_follow(PG_FUNCTION_ARGS)
{
	Oid			relid;
	char	   *column;
	double		fpr = CUCKOO_DEFAULT_FPR;
	double		capacity = -1;
	bool		build = PG_ARGISNULL(4) || PG_GETARG_BOOL(4);
	char	   *schema = get_namespace_name(get_func_namespace(fcinfo->flinfo->fn_oid));
	char	   *name;
	char	   *space;
	const char *persistence = "";
	AttrNumber	number;
	Relation	table;
	Relation	rel;
	Identity	before;
	FollowTargets *targets;
	CuckooFilter filter;
	Oid			filter_table;
	Oid			space_oid;

	for (int i = 0; i < 2; i++)
	{
		if (PG_ARGISNULL(i))
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("table and column to follow must not be null")));
	}
	relid = PG_GETARG_OID(0);
	column = pstrdup(NameStr(*PG_GETARG_NAME(1)));
	if (!PG_ARGISNULL(2))
		capacity = (double) CuckooCheckCapacity(PG_GETARG_FLOAT8(2));
	if (!PG_ARGISNULL(3))
		fpr = CuckooCheckFpr(PG_GETARG_FLOAT8(3));
	CuckooCheckSize(fpr, capacity > 0 ? (uint64) capacity : 0);
	CheckChanging("cuckoo_follow");

	/* Readers go on; writers wait until the triggers exist. */
	table = relation_open(relid, AccessShareLock);
	CheckOwnership(relid);
	LockRelationOid(relid, ShareRowExclusiveLock);
	number = get_attnum(relid, column);
	if (number == InvalidAttrNumber)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist", column,
						RelationGetRelationName(table))));
	if (number < 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot follow system column \"%s\"", column),
				 errhint("Follow an ordinary column of the table.")));
	CheckFollowable(table, number);
	CheckTableNotInUse(table, "follow");
	targets = FollowFindTargets(table);
	for (int i = 0; i < targets->count; i++)
	{
		if (targets->list[i].column == number)
			ereport(ERROR,
					(errcode(ERRCODE_DUPLICATE_OBJECT),
					 errmsg("column \"%s\" of table \"%s\" is followed already", column,
							RelationGetRelationName(table)),
					 errdetail("Its filter table is \"%s\".", get_rel_name(targets->list[i].filter)),
					 errhint("Call cuckoo_rebuild to build the filter again.")));
	}

	BecomeOwner(&before, table);
	name = ChooseRelationName(RelationGetRelationName(table), column, "filter",
							  RelationGetNamespace(table), false);
	if (table->rd_rel->relpersistence == RELPERSISTENCE_TEMP)
		persistence = "TEMPORARY";
	else if (table->rd_rel->relpersistence == RELPERSISTENCE_UNLOGGED)
		persistence = "UNLOGGED";
	space = get_namespace_name(RelationGetNamespace(table));
	space_oid = RelationGetNamespace(table);
	relation_close(table, NoLock);
	if (SPI_connect() < 0)
		elog(ERROR, "SPI_connect failed");
	Execute(psprintf("CREATE %s TABLE %s (hash bigint, "
					 "n bigint, delta smallint NOT NULL, f %s, PRIMARY KEY (hash, n)) USING heap",
					 persistence, quote_qualified_identifier(space, name),
					 format_type_be_qualified(FilterType(schema))));
	filter_table = get_relname_relid(name, space_oid);
	MendTriggers(relid, filter_table, column, schema);
	SPI_finish();
	table = table_open(relid, NoLock);
	rel = FollowOpenTable(filter_table, RowExclusiveLock);

	/* Until it is built, the base keeps the parameters. */
	CuckooFilterInit(&filter, fpr, capacity > 0 ? (uint64) capacity : 0, FOLLOW_SEED);
	FollowInsertBase(rel, CuckooEmptyValue(&filter), FOLLOW_NOT_BUILT);
	if (FollowFindTarget(table, filter_table) == NULL ||
		FollowTriggersInOrder(table, filter_table, NULL) != FOLLOW_TRIGGERS)
		elog(ERROR, "triggers of table \"%s\" could not be made", RelationGetRelationName(table));
	if (build)
		Build(table, rel, FollowFindTarget(table, filter_table), fpr, capacity);
	CommandCounterIncrement();
	BecomeAgain(&before);
	table_close(rel, NoLock);
	relation_close(table, NoLock);
	PG_RETURN_OID(filter_table);
}

/* cuckoo_rebuild(filter regclass, capacity float8, fpr float8) */
PG_FUNCTION_INFO_V1(cuckoo_rebuild);
Datum
cuckoo_rebuild(PG_FUNCTION_ARGS)
{
	Oid			filter;
	double		fpr = -1;
	double		capacity = -1;
	char	   *schema = get_namespace_name(get_func_namespace(fcinfo->flinfo->fn_oid));
	Relation	table;
	Relation	rel;
	Identity	before;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	filter = PG_GETARG_OID(0);
	if (!PG_ARGISNULL(1))
		capacity = (double) CuckooCheckCapacity(PG_GETARG_FLOAT8(1));
	if (!PG_ARGISNULL(2))
		fpr = CuckooCheckFpr(PG_GETARG_FLOAT8(2));
	CheckChanging("cuckoo_rebuild");
	rel = FollowOpenTable(filter, AccessShareLock);
	CheckOwnership(filter);
	table_close(rel, AccessShareLock);
	table = OpenFollowed(filter, AccessShareLock);
	rel = FollowOpenTable(filter, RowExclusiveLock);
	CheckComplete(table, filter, "cuckoo_rebuild", "rebuild the filter of");

	BecomeOwner(&before, rel);
	if (FollowTriggersInOrder(table, filter, NULL) != FOLLOW_TRIGGERS)
	{
		/*
		 * For example, after a restore without triggers.  Lock out writers, so
		 * that no change is missed.
		 */
		Oid			relid = RelationGetRelid(table);
		char	   *column = pstrdup(ColumnName(table, FollowFindTarget(table, filter)->column));

		LockRelationOid(relid, ShareRowExclusiveLock);
		table_close(table, NoLock);
		if (SPI_connect() < 0)
			elog(ERROR, "SPI_connect failed");
		MendTriggers(relid, filter, column, schema);
		SPI_finish();
		table = table_open(relid, NoLock);
	}
	Build(table, rel, FollowFindTarget(table, filter), fpr, capacity);
	BecomeAgain(&before);
	table_close(rel, NoLock);
	table_close(table, NoLock);
	PG_RETURN_VOID();
}

/* cuckoo_fold(filter regclass) -> bigint: rows of the log; NULL if another session folds */
PG_FUNCTION_INFO_V1(cuckoo_fold);
Datum
cuckoo_fold(PG_FUNCTION_ARGS)
{
	Oid			filter = PG_GETARG_OID(0);
	Relation	rel;
	Relation	table;
	Identity	before;
	int64		folded;
	bool		done;

	CheckChanging("cuckoo_fold");
	rel = FollowOpenTable(filter, AccessShareLock);
	CheckOwnership(filter);
	table_close(rel, AccessShareLock);
	table = OpenFollowed(filter, AccessShareLock);
	rel = FollowOpenTable(filter, RowExclusiveLock);
	CheckComplete(table, filter, "cuckoo_fold", "fold the changes of");
	if (FollowTriggersInOrder(table, filter, NULL) != FOLLOW_TRIGGERS)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("triggers of table \"%s\" are missing or disabled", RelationGetRelationName(table)),
				 errdetail("Some triggers are missing or not enabled ALWAYS, so changes may be missing in \"%s\".",
						   RelationGetRelationName(rel)),
				 errhint("Call cuckoo_rebuild to repair them.")));
	BecomeOwner(&before, rel);
	done = FollowFold(rel, &FollowFindTarget(table, filter)->key, NULL, &folded);
	BecomeAgain(&before);
	table_close(rel, NoLock);
	table_close(table, NoLock);
	if (!done)
		PG_RETURN_NULL();
	PG_RETURN_INT64(folded);
}

/*
 * Reading
 */

/* Open a filter table that the caller may read. */
static Relation
OpenForReading(Oid filter)
{
	Relation	rel = FollowOpenTable(filter, AccessShareLock);
	AclResult	result = pg_class_aclcheck(filter, GetUserId(), ACL_SELECT);

	if (result != ACLCHECK_OK)
		aclcheck_error(result, OBJECT_TABLE, RelationGetRelationName(rel));
	if (rel->rd_rel->relrowsecurity && check_enable_rls(filter, InvalidOid, true) == RLS_ENABLED)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("row-level security hides rows of filter table \"%s\"",
						RelationGetRelationName(rel)),
				 errhint("Grant SELECT on it to roles that may look keys up, and disable row-level security.")));
	return rel;
}

/*
 * Whether this transaction may have written to a log since a snapshot was taken,
 * as it has for a cursor that is older.  Changes of a command can be written
 * after the command, so such a cursor may show rows whose log it does not.  Then
 * *now becomes a snapshot that shows what this transaction has done until now,
 * and of others what the given one shows.
 */
static bool
HasWrittenSince(Snapshot snapshot, SnapshotData *now)
{
	if (!FollowHasWritten() || snapshot->curcid >= GetCurrentCommandId(false))
		return false;
	*now = *snapshot;
	now->curcid = GetCurrentCommandId(false);
	return true;
}

/* Whether base or log contain a key in a snapshot. */
static bool
LookUp(FunctionCallInfo fcinfo, Relation rel, Snapshot snapshot, uint64 *hash)
{
	CuckooKey  *key = CuckooGetKey(fcinfo, 1);
	const CuckooReader *reader;
	FollowBase	base;

	FollowReadBase(rel, snapshot, &base);
	if (!base.built)
		FollowReportNotBuilt(rel);
	reader = CuckooRead((struct varlena *) DatumGetPointer(base.f), 1);
	if (reader->filter.seed != FOLLOW_SEED)
		FollowReportForeign();
	*hash = CuckooArgumentHash(key, PG_GETARG_DATUM(1), &reader->filter);
	return CuckooReaderContains(reader, *hash) || FollowLogContains(rel, snapshot, *hash);
}

/* cuckoo_followed(filter regclass, key) -> boolean */
PG_FUNCTION_INFO_V1(cuckoo_followed);
Datum
cuckoo_followed(PG_FUNCTION_ARGS)
{
	Oid			filter = PG_GETARG_OID(0);
	Relation	rel = OpenForReading(filter);
	Snapshot	snapshot = GetActiveSnapshot();
	SnapshotData now;
	uint64		hash;
	bool		found = LookUp(fcinfo, rel, snapshot, &hash);

	if (!found)
		found = FollowBufferContains(filter, hash);
	if (!found && HasWrittenSince(snapshot, &now))
		found = LookUp(fcinfo, rel, &now, &hash);
	table_close(rel, NoLock);
	PG_RETURN_BOOL(found);
}

/*
 * Base and log in a snapshot as one filter, with what is not written yet; NULL
 * if the base is not built.
 */
static CuckooValue *
ReadFilter(Relation rel, Snapshot snapshot, FollowBase *base, int64 *log_rows)
{
	FollowChanges changes;

	memset(&changes, 0, sizeof(changes));
	FollowReadBase(rel, snapshot, base);
	*log_rows = FollowReadLog(rel, snapshot, false, false, &changes);
	if (!base->built)
		return NULL;
	FollowBufferAdded(RelationGetRelid(rel), &changes);
	return FollowApply(base->f, &changes);
}

/*
 * The filter as a lookup sees it.  For a cursor that is older than what this
 * transaction has written it is a union, from which no keys can be removed.
 */
static CuckooValue *
CurrentFilter(Relation rel, FollowBase *base, int64 *log_rows)
{
	Snapshot	snapshot = GetActiveSnapshot();
	SnapshotData now;
	CuckooValue *value = ReadFilter(rel, snapshot, base, log_rows);

	if (value != NULL && HasWrittenSince(snapshot, &now))
	{
		FollowBase	base_now;
		int64		log_rows_now;
		CuckooValue *value_now = ReadFilter(rel, &now, &base_now, &log_rows_now);

		if (value_now != NULL)
			value = CuckooCombineValues(CUCKOO_UNION, value, value_now);
	}
	return value;
}

/* cuckoo_current(filter regclass) -> cuckoofilter: base and log together */
PG_FUNCTION_INFO_V1(cuckoo_current);
Datum
cuckoo_current(PG_FUNCTION_ARGS)
{
	Relation	rel = OpenForReading(PG_GETARG_OID(0));
	FollowBase	base;
	int64		log_rows;
	CuckooValue *value = CurrentFilter(rel, &base, &log_rows);

	if (value == NULL)
		FollowReportNotBuilt(rel);
	table_close(rel, NoLock);
	PG_RETURN_CUCKOOFILTER_P(value);
}

/* The number of classes with the largest number of copies. */
static int64
CountPinned(const CuckooFilter *filter)
{
	int64		pinned = 0;

	for (int i = 0; i < filter->table_count; i++)
	{
		uint64	   *codes = CuckooTableCodes(&filter->tables[i]);
		uint64		last = 0;
		int			copies = 0;

		for (uint64 j = 0; j < filter->tables[i].items; j++)
		{
			if (j % CUCKOO_PAUSE == 0)
				CHECK_FOR_INTERRUPTS();
			copies = codes[j] == last ? copies + 1 : 1;
			last = codes[j];
			pinned += copies == CUCKOO_MAX_COPIES;
		}
		pfree(codes);
	}
	return pinned;
}

/*
 * cuckoo_follow_check(filter regclass) -> missing, log_rows, pinned,
 * expected_fpr, triggers_in_order
 */
PG_FUNCTION_INFO_V1(cuckoo_follow_check);
Datum
cuckoo_follow_check(PG_FUNCTION_ARGS)
{
	Oid			filter_table = PG_GETARG_OID(0);
	Relation	table;
	Relation	rel;
	Identity	before;
	FollowTarget *target;
	FollowHashes hashes;
	FollowBase	base;
	CuckooFilter filter;
	CuckooValue *value;
	int64		log_rows;
	TupleDesc	desc;
	Datum		values[5];
	bool		nulls[5] = {false};
	int64		missing = 0;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	rel = FollowOpenTable(filter_table, AccessShareLock);
	CheckOwnership(filter_table);
	table_close(rel, AccessShareLock);
	table = OpenFollowed(filter_table, AccessShareLock);
	rel = FollowOpenTable(filter_table, AccessShareLock);
	target = FollowFindTarget(table, filter_table);

	BecomeOwner(&before, rel);
	memset(&hashes, 0, sizeof(hashes));
	value = CurrentFilter(rel, &base, &log_rows);
	values[1] = Int64GetDatum(log_rows);
	if (value != NULL)
	{
		CuckooOpenFilter(&filter, DatumGetCuckooFilterP(base.f));
		values[2] = Int64GetDatum(CountPinned(&filter));
		values[3] = Float8GetDatum(CuckooFilterRate(&filter));
		CuckooOpenFilter(&filter, value);
		HashTable(table, target, GetActiveSnapshot(), &hashes);
		for (Size i = 0; i < hashes.count; i++)
		{
			CHECK_FOR_INTERRUPTS();
			missing += !CuckooFilterContains(&filter, hashes.hashes[i]);
		}
		values[0] = Int64GetDatum(missing);
	}
	else
		nulls[0] = nulls[2] = nulls[3] = true;
	values[4] = BoolGetDatum(FollowTriggersInOrder(table, filter_table, NULL) == FOLLOW_TRIGGERS);
	BecomeAgain(&before);
	table_close(rel, NoLock);
	table_close(table, NoLock);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls)));
}
