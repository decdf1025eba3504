/*-------------------------------------------------------------------------
 *
 * follow.c
 *	  A filter that follows a table.
 *
 * Each followed column has a filter table: an ordinary table with the columns
 *
 *		hash bigint, n bigint, delta integer, f cuckoofilter
 *
 * and the primary key (hash, n).  Row (0, 0) is the base: a filter, with delta 1
 * once it is built.  All others are the log: delta copies of hash were added,
 * or removed if it is negative.  n only makes rows different.
 *
 * Triggers write the log by SQL, before a statement ends and in its own
 * subtransaction.  A snapshot that shows a row of an earlier statement therefore
 * shows its addition, in the log or in the base.  These rules make that enough:
 *
 * 1. A lookup reads base and log in one snapshot.  Removals in the log do not
 *	  count for it.
 * 2. A removal in the log has its addition in the log or in the base, in every
 *	  snapshot, except within a transaction while a statement is not over.  Then
 *	  folds, rebuilds and TRUNCATE refuse to run: the table is in use.
 * 3. A fold takes its snapshot when it has locked the base.  It moves all of the
 *	  log that the snapshot shows, additions before removals, so that each of two
 *	  keys that look alike always has a copy of its own.
 * 4. A rebuild reads the table and deletes the log in one snapshot.  So does
 *	  TRUNCATE: other triggers may have filled the table again.
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
 * them, which DELETE FROM filter WHERE false queues behind them, in the statement
 * of the row, as the commands of referential integrity queue their triggers.
 * PostgreSQL fires it before the statement ends.  If the subtransaction aborts,
 * its memory goes, and what was collected with it.
 *
 * The update trigger, which is per column, says what is followed where:
 *
 *		CREATE CONSTRAINT TRIGGER ... AFTER UPDATE ON tbl FROM filter
 *			FOR EACH ROW WHEN (OLD.col IS DISTINCT FROM NEW.col) ...
 *
 * tgconstrrelid is the filter table, and the condition names the column.
 * PostgreSQL keeps both through renames and dumps, refuses to alter the column's
 * type, and drops the trigger with either table.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/relscan.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "commands/tablecmds.h"
#include "commands/trigger.h"
#include "common/pg_prng.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "parser/parse_func.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/rls.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "core/list.h"
#include "cuckoo.h"
#include "reader.h"

/* All followed tables hash with this seed. */
#define SEED				0

/* Columns of a filter table */
#define COLUMN_HASH			1
#define COLUMN_NUMBER		2
#define COLUMN_DELTA		3
#define COLUMN_FILTER		4

/*
 * A statement with more additions than this, and than 1 % of the items, adds
 * them to the base itself: a fold would take longer than rewriting the base.
 */
#define OWN_ADDITIONS		10000

/* Rows of the log that one INSERT writes, from arrays. */
#define LOG_ROWS			100000

/* Numbers collected for one filter table, even if memory is short. */
#define MIN_COLLECTED		1024

/* The percentage of keys that may have as many rows as a class has copies. */
#define REPEATED_PERCENT	1

/* Change a draft by hashes, which get sorted.  False if it has no room for them. */
static bool
Apply(CuckooDraft *draft, const CuckooList *list, bool remove)
{
	size_t		changed;
	CuckooChange change = CuckooDraftApply(draft, list->numbers, list->count,
										   remove ? CUCKOO_REMOVE : CUCKOO_ADD, &changed);

	return change != CUCKOO_FULL && change != CUCKOO_TOO_LARGE;
}

/* How often the number at a place of a sorted list is repeated there. */
static uint64
RunLength(const CuckooList *list, uint64 from)
{
	uint64		to = from + 1;

	while (to < list->count && list->numbers[to] == list->numbers[from])
		to++;
	return to - from;
}

/* Sort additions and removals, and drop those that cancel each other. */
static void
SortAndCancel(CuckooList *added, CuckooList *removed)
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

/* The base is not there, not built, or not what a build makes. */
static CUCKOO_NORETURN void
ReportBase(Oid filter, bool built)
{
	ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			built ? errmsg("the filter in \"%s\" was not built by cuckoo_follow_rebuild",
						   get_rel_name(filter)) :
			errmsg("the filter in \"%s\" has not been built", get_rel_name(filter)),
			errhint("Call cuckoo_follow_rebuild."));
}

/*
 * Whether a base is what a build makes for keys of a column.  Somebody may have
 * put another filter in its place.  Without a key type, or with another seed,
 * lookups would answer "no" to keys of the table.
 */
static bool
Fits(const CuckooFilter *base, const CuckooKey *key)
{
	return base->seed == SEED && base->key_type != CUCKOO_KEY_NONE &&
		(base->flags & (CUCKOO_FLAG_NOT_REMOVABLE | CUCKOO_FLAG_UNSET)) == 0 &&
		(key == NULL || (base->key_type == key->key_type && base->signature == key->signature));
}

/*
 * Refuse a table and a filter table with different owners.  The log is written
 * as the owner of both, so nobody's code runs with another owner's rights, and
 * nobody can write to another owner's filter table by a trigger.
 */
static void
CheckOwners(Oid table, Oid filter)
{
	Oid			table_owner = GetSysCacheOid1(RELOID, Anum_pg_class_relowner, ObjectIdGetDatum(table));
	Oid			filter_owner = GetSysCacheOid1(RELOID, Anum_pg_class_relowner, ObjectIdGetDatum(filter));

	if (table_owner != filter_owner)
		ereport(ERROR, errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				errmsg("table \"%s\" and its filter table \"%s\" have different owners",
						get_rel_name(table), get_rel_name(filter)),
				errdetail("They belong to \"%s\" and \"%s\".", GetUserNameFromId(table_owner, true),
						   GetUserNameFromId(filter_owner, true)),
				errhint("Use ALTER TABLE ... OWNER TO for the filter table."));
}

static char *
QualifiedName(Oid relid)
{
	char	   *name = get_rel_name(relid);

	if (name == NULL)
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_TABLE),
				errmsg("relation with OID %u does not exist", relid));
	return quote_qualified_identifier(get_namespace_name(get_rel_namespace(relid)), name);
}

/* Who called, and with which rights */
typedef struct Caller
{
	Oid			user;
	int			security;
} Caller;

/*
 * Become the owner of a table, like referential integrity, and connect to SPI:
 * who may write to the table needs no rights on the filter table, and whatever
 * runs then, such as a trigger of the filter table, has only its owner's rights.
 */
static Caller
BecomeOwner(Oid owner)
{
	Caller		caller;

	GetUserIdAndSecContext(&caller.user, &caller.security);
	SetUserIdAndSecContext(owner, caller.security | SECURITY_RESTRICTED_OPERATION |
						   SECURITY_LOCAL_USERID_CHANGE | SECURITY_NOFORCE_RLS);
	SPI_connect();
	return caller;
}

static void
BecomeCaller(Caller caller)
{
	SPI_finish();
	SetUserIdAndSecContext(caller.user, caller.security);
}

/*
 * Commands on a filter table.  Their operators and functions are those of
 * pg_catalog, whatever the search path of the user who changes the table is.
 */
typedef enum FilterCommand
{
	WRITE_ROW,					/* write one row of the log */
	WRITE_ROWS,					/* write arrays of them */
	QUEUE,						/* queue the trigger that writes the rest */
	SAVED_COMMANDS,				/* the plans of those above are kept */
	READ_BASE = SAVED_COMMANDS,
	LOCK_BASE,
	TRY_BASE,					/* lock it, unless another session has */
	UPDATE_BASE,
	INSERT_BASE,
	COUNT_LOG,
	DELETE_LOG
} FilterCommand;

/* What the triggers of a table write to: one for each update trigger */
typedef struct Target
{
	Oid			trigger;		/* the update trigger; key of the cache */
	char	   *condition;		/* of the update trigger */
	Oid			filter;
	AttrNumber	column;
	CuckooKey	key;
	TransactionId folding;		/* the last transaction that folded, or builds */
	SPIPlanPtr	plans[SAVED_COMMANDS];
} Target;

/*
 * Whether ALTER TYPE can change the hashes of a type's values.  Enum values
 * are hashed by their label, and composite values by the number and types of
 * their attributes.  After ALTER TYPE, existing rows have other hashes, but no
 * trigger has fired.
 */
static bool
CanBeAltered(Oid type)
{
	Oid			base = getBaseType(type);
	Oid			element = get_element_type(base);
	char		kind = get_typtype(base);

	check_stack_depth();
	if (OidIsValid(element))
		return CanBeAltered(element);
	return kind == TYPTYPE_ENUM || kind == TYPTYPE_COMPOSITE ||
		(kind == TYPTYPE_RANGE && CanBeAltered(get_range_subtype(base))) ||
		(kind == TYPTYPE_MULTIRANGE && CanBeAltered(get_multirange_range(base)));
}

/* Prepare to hash a column. */
static void
InitKey(CuckooKey *key, Relation table, AttrNumber column, MemoryContext context)
{
	Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(table), column - 1);

	if (CanBeAltered(attribute->atttypid))
		ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("cannot follow column \"%s\" of table \"%s\", whose type is %s",
						NameStr(attribute->attname), RelationGetRelationName(table),
						format_type_be(attribute->atttypid)),
				errdetail("ALTER TYPE of an enum or composite type changes the hashes of its values."),
				errhint("Have a BEFORE trigger compute a column of another type, such as text."));
	CuckooKeyInit(key, attribute->atttypid, attribute->attcollation, context);
}

#define UPDATE_TRIGGER	(TRIGGER_TYPE_ROW | TRIGGER_TYPE_UPDATE)

static bool
IsUpdateTrigger(const Trigger *trigger, Oid function)
{
	return trigger->tgfoid == function && trigger->tgtype == UPDATE_TRIGGER &&
		OidIsValid(trigger->tgconstrrelid) && trigger->tgqual != NULL;
}

/* The column of which an update trigger compares the old and the new value. */
static AttrNumber
ReadCondition(Relation table, const char *name, const char *condition)
{
	Bitmapset  *old_columns = NULL;
	Bitmapset  *new_columns = NULL;
	Node	   *node = stringToNode(condition);
	int			column = 0;

	pull_varattnos(node, PRS2_OLD_VARNO, &old_columns);
	pull_varattnos(node, PRS2_NEW_VARNO, &new_columns);
	if (bms_membership(old_columns) == BMS_SINGLETON && bms_equal(old_columns, new_columns))
		column = bms_singleton_member(old_columns) + FirstLowInvalidHeapAttributeNumber;
	if (column <= 0)
		ereport(ERROR, errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				errmsg("trigger \"%s\" of table \"%s\" was not made by cuckoo_follow",
						name, RelationGetRelationName(table)),
				errdetail("Its condition does not compare the old and new values of one column."),
				errhint("Drop the trigger, and call cuckoo_follow."));
	return (AttrNumber) column;
}

/*
 * The target of an update trigger.  A trigger's condition and filter table never
 * change, so an entry of the cache is only replaced if the number of a trigger
 * that is gone is used again.
 */
static Target *
GetTarget(Relation table, const Trigger *trigger)
{
	static HTAB *cache = NULL;
	HASHCTL		control = {.keysize = sizeof(Oid), .entrysize = sizeof(Target)};
	Target	   *target;
	Target		made = {.trigger = trigger->tgoid, .filter = trigger->tgconstrrelid};
	MemoryContext context;
	char	   *name;

	if (cache == NULL)
		cache = hash_create("followed columns", 16, &control, HASH_ELEM | HASH_BLOBS);
	target = hash_search(cache, &made.trigger, HASH_FIND, NULL);
	/* The condition has the number, type and collation of the column. */
	if (target != NULL && target->filter == made.filter &&
		strcmp(target->condition, trigger->tgqual) == 0)
		return target;

	/* Reading the catalogs can invalidate the table, which frees the trigger. */
	context = AllocSetContextCreate(CurrentMemoryContext, "followed column",
									ALLOCSET_SMALL_SIZES);
	name = pstrdup(trigger->tgname);
	made.condition = MemoryContextStrdup(context, trigger->tgqual);
	made.column = ReadCondition(table, name, made.condition);
	InitKey(&made.key, table, made.column, context);
	MemoryContextSetParent(context, TopMemoryContext);
	target = hash_search(cache, &made.trigger, HASH_ENTER, NULL);
	*target = made;
	return target;
}

#define WHERE_BASE	"WHERE hash OPERATOR(pg_catalog.=) 0 AND n OPERATOR(pg_catalog.=) 0"
#define READ_TEXT	"SELECT f, delta OPERATOR(pg_catalog.=) 1 AND f IS NOT NULL FROM %s " WHERE_BASE

/* The texts of commands, with %s for the filter table, and their arguments. */
static const struct
{
	const char *text;
	int			arguments;
	Oid			types[3];		/* InvalidOid: cuckoofilter */
}			commands[] = {
	[WRITE_ROW] = {"INSERT INTO %s (hash, n, delta) VALUES ($1, $2, $3)", 3,
	{INT8OID, INT8OID, INT4OID}},
	[WRITE_ROWS] = {"INSERT INTO %s (hash, n, delta) SELECT h, $1 OPERATOR(pg_catalog.+) i, d "
		"FROM ROWS FROM (pg_catalog.unnest($2), pg_catalog.unnest($3)) WITH ORDINALITY AS u (h, d, i)", 3,
	{INT8OID, INT8ARRAYOID, INT4ARRAYOID}},
	[QUEUE] = {.text = "DELETE FROM %s WHERE false"},
	[READ_BASE] = {.text = READ_TEXT},
	[LOCK_BASE] = {.text = READ_TEXT " FOR NO KEY UPDATE"},
	[TRY_BASE] = {.text = READ_TEXT " FOR NO KEY UPDATE SKIP LOCKED"},
	[UPDATE_BASE] = {"UPDATE %s SET f = $1, delta = $2 " WHERE_BASE, 2, {InvalidOid, INT4OID}},
	[INSERT_BASE] = {"INSERT INTO %s (hash, n, delta, f) VALUES (0, 0, $2, $1)", 2, {InvalidOid, INT4OID}},
	[COUNT_LOG] = {.text = "SELECT pg_catalog.count(*) FROM %s WHERE n OPERATOR(pg_catalog.<>) 0"},
	[DELETE_LOG] = {.text = "DELETE FROM %s WHERE n OPERATOR(pg_catalog.<>) 0"},
};

static void
FreePlan(void *plan)
{
	(void) SPI_freeplan((SPIPlanPtr) plan);
}

/*
 * Prepare a command again the next time.  Its plan may be running: then one of
 * its triggers has got here.
 */
static void
ForgetPlan(SPIPlanPtr *plan)
{
	MemoryContextCallback *end;

	if (*plan == NULL)
		return;
	end = MemoryContextAlloc(TopTransactionContext, sizeof(*end));
	end->func = FreePlan;
	end->arg = *plan;
	MemoryContextRegisterResetCallback(TopTransactionContext, end);
	*plan = NULL;
}

/*
 * Execute a command.  A saved plan is prepared again if something that it uses
 * has changed.
 */
static void
Execute(Target *target, FilterCommand command, Datum *values, Snapshot snapshot)
{
	SPIPlanPtr	unsaved = NULL;
	SPIPlanPtr *plan = command < SAVED_COMMANDS ? &target->plans[command] : &unsaved;
	int			result;

	if (*plan != NULL && !SPI_plan_is_valid(*plan))
		ForgetPlan(plan);
	if (*plan == NULL)
	{
		Oid			types[lengthof(commands[0].types)];
		SPIPlanPtr	made;

		for (int i = 0; i < commands[command].arguments; i++)
			types[i] = OidIsValid(commands[command].types[i]) ? commands[command].types[i] :
				get_atttype(target->filter, COLUMN_FILTER);
		made = SPI_prepare(psprintf(commands[command].text, QualifiedName(target->filter)),
						   commands[command].arguments, types);
		if (made == NULL || (command < SAVED_COMMANDS && SPI_keepplan(made) != 0))
			elog(ERROR, "could not prepare a command on a filter table");
		*plan = made;
	}
	result = SPI_execute_snapshot(*plan, values, NULL, snapshot, InvalidSnapshot, false,
								  command != QUEUE, 0);
	if (result < 0)
		elog(ERROR, "could not change a filter table: %s", SPI_result_code_string(result));
}

/* A column of the row that the last query returned; 0 if it is NULL or there is none. */
static Datum
ResultDatum(int column)
{
	bool		isnull;

	return SPI_processed == 0 ? (Datum) 0 :
		SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, column, &isnull);
}

/* Refuse to go on if the last command has not written as many rows of the log. */
static void
CheckWritten(Target *target, int64 rows)
{
	if (SPI_processed == (uint64) rows)
		return;
	/* A plan that a rule made empty is valid even when the rule is dropped. */
	ForgetPlan(&target->plans[WRITE_ROW]);
	ForgetPlan(&target->plans[WRITE_ROWS]);
	ereport(ERROR, errcode(ERRCODE_TRIGGERED_ACTION_EXCEPTION),
			errmsg("a trigger or a rule of \"%s\" suppressed changes of the log",
				   get_rel_name(target->filter)),
			errhint("Drop it."));
}

/*
 * Write sorted hashes to the log, added (sign 1) or removed (sign -1).  With
 * 2^62 numbers, two rows of a hash hardly ever get the same.
 */
static void
WriteLog(Target *target, const CuckooList *hashes, int sign)
{
	int64		number = (int64) (pg_prng_uint64(&pg_global_prng_state) >> 2) + 1;
	int			room = (int) Min(hashes->count, LOG_ROWS);
	int			count = 0;
	Datum	   *rows;
	Datum	   *deltas;
	Datum		values[3];

	if (hashes->count == 1)
	{
		values[0] = Int64GetDatum((int64) hashes->numbers[0]);
		values[1] = Int64GetDatum(number);
		values[2] = Int32GetDatum(sign);
		Execute(target, WRITE_ROW, values, InvalidSnapshot);
		CheckWritten(target, 1);
		return;
	}
	rows = palloc(room * sizeof(Datum));
	deltas = palloc(room * sizeof(Datum));
	for (uint64 i = 0, run; i < hashes->count; i += run)
	{
		run = Min(RunLength(hashes, i), PG_INT32_MAX);
		rows[count] = Int64GetDatum((int64) hashes->numbers[i]);
		deltas[count++] = Int32GetDatum(sign * (int32) run);
		if (count < room && i + run < hashes->count)
			continue;
		values[0] = Int64GetDatum(number);
		values[1] = PointerGetDatum(construct_array(rows, count, INT8OID, 8, FLOAT8PASSBYVAL,
													TYPALIGN_DOUBLE));
		values[2] = PointerGetDatum(construct_array(deltas, count, INT4OID, 4, true, TYPALIGN_INT));
		Execute(target, WRITE_ROWS, values, InvalidSnapshot);
		CheckWritten(target, count);
		pfree(DatumGetPointer(values[1]));
		pfree(DatumGetPointer(values[2]));
		number += count;
		count = 0;
	}
}

/* A base in memory. */
typedef struct Base
{
	bool		built;			/* implies that there is a filter */
	Datum		f;				/* perhaps toasted; a null pointer if there is none */
} Base;

/*
 * Read the base, and perhaps lock it.  False if there is none, or if the
 * command is TRY_BASE and another transaction has locked it.
 */
static bool
ReadBase(Target *target, FilterCommand command, Base *base)
{
	Execute(target, command, NULL, InvalidSnapshot);
	if (!CuckooIsFilterType(SPI_gettypeid(SPI_tuptable->tupdesc, 1)))
		ReportBase(target->filter, true);
	base->f = ResultDatum(1);
	base->built = DatumGetBool(ResultDatum(2));
	return SPI_processed > 0;
}

/* Write the base, whose row is locked if there is one: delta 1 means built. */
static void
WriteBase(Target *target, CuckooValue *value, int32 delta)
{
	Datum		values[] = {PointerGetDatum(value), Int32GetDatum(delta)};

	Execute(target, UPDATE_BASE, values, InvalidSnapshot);
	if (SPI_processed == 0)
		Execute(target, INSERT_BASE, values, InvalidSnapshot);
}

/*
 * Add many hashes to the base, if it is free.  False if they have to be written
 * to the log.  The transaction must have a snapshot for each statement: with an
 * older one, updating the base could fail.  It must not have begun a fold, which
 * may have read the base already, and got here by a trigger of the filter table.
 */
static bool
AddToBase(Target *target, const CuckooList *hashes)
{
	CuckooFilter header;
	CuckooDraft draft;
	Base		base;
	Size		size;
	uint8	   *bytes;

	if (hashes->count <= OWN_ADDITIONS || IsolationUsesXactSnapshot() ||
		target->folding == GetTopTransactionId() ||
		!ReadBase(target, READ_BASE, &base) || !base.built)
		return false;
	CuckooReadHeader(base.f, &header, &size);
	if (hashes->count <= header.items / 100 || !ReadBase(target, TRY_BASE, &base) || !base.built)
		return false;
	CuckooOpenDraft(&draft, base.f, NULL);
	if (!Fits(&draft.filter, &target->key) || !Apply(&draft, hashes, false))
		return false;
	bytes = CuckooDraftFinish(&draft);
	if (bytes == NULL)
		return false;
	WriteBase(target, CuckooMadeValue(bytes, &draft.filter), 1);
	return true;
}

/* The log that the active snapshot shows.  Returns the number of its rows. */
static int64
ReadLog(Relation rel, CuckooList *added, CuckooList *removed)
{
	SysScanDesc scan = systable_beginscan(rel, InvalidOid, false, GetActiveSnapshot(), 0, NULL);
	int64		rows = 0;
	bool		isnull;

	while (systable_getnext(scan) != NULL)
	{
		uint64		hash = (uint64) DatumGetInt64(slot_getattr(scan->slot, COLUMN_HASH, &isnull));
		int32		delta = DatumGetInt32(slot_getattr(scan->slot, COLUMN_DELTA, &isnull));

		CHECK_FOR_INTERRUPTS();
		if (DatumGetInt64(slot_getattr(scan->slot, COLUMN_NUMBER, &isnull)) == 0)
			continue;
		rows++;
		for (; delta > 0; delta--)
			CuckooListPut(added, hash);
		for (; delta < 0 && removed != NULL; delta++)
			CuckooListPut(removed, hash);
	}
	systable_endscan(scan);
	return rows;
}

/* Put the hash of a row's key into a list. */
static void
PutKey(Target *target, TupleTableSlot *row, CuckooList *list)
{
	bool		isnull;
	Datum		key = slot_getattr(row, target->column, &isnull);

	if (!isnull)
		CuckooListPut(list, CuckooKeyHash(&target->key, key, SEED));
}

/*
 * Delete the log that the active snapshot shows.  A removal that is left over
 * would later remove the copy of another key.
 */
static void
DeleteLog(Target *target, int64 rows)
{
	Execute(target, DELETE_LOG, NULL, GetActiveSnapshot());
	CheckWritten(target, rows);
}

/*
 * The hashes of all rows of the followed table that the active snapshot shows.
 * It may have any access method; systable_beginscan is for heap.
 */
static CuckooList
HashTable(Relation table, Target *target)
{
	TableScanDesc scan = CuckooBeginScan(table, GetActiveSnapshot());
	TupleTableSlot *slot = table_slot_create(table, NULL);
	CuckooList	hashes = {NULL, 0, 0};

	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		CHECK_FOR_INTERRUPTS();
		PutKey(target, slot, &hashes);
	}
	ExecDropSingleTupleTableSlot(slot);
	table_endscan(scan);
	return hashes;
}

/*
 * Keys with as many rows as a class can have copies stay in the filter when
 * their rows are deleted.  With many such keys, it fills up with deleted ones.
 */
static void
CheckRepeated(Relation table, Target *target, const CuckooList *hashes, bool first)
{
	uint64		keys = 0;
	uint64		repeated = 0;

	for (uint64 i = 0, run; i < hashes->count; i += run, keys++)
	{
		run = RunLength(hashes, i);
		repeated += run >= CUCKOO_MAX_COPIES;
	}
	if (repeated * 100 > keys * REPEATED_PERCENT)
		ereport(first ? ERROR : WARNING, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("column \"%s\" of table \"%s\" has too many duplicate values to be followed",
						get_attname(RelationGetRelid(table), target->column, false),
						RelationGetRelationName(table)),
				errdetail("Of %llu keys, %llu have %d rows or more, which is more than %d %%.",
						   (unsigned long long) keys, (unsigned long long) repeated,
						   CUCKOO_MAX_COPIES, REPEATED_PERCENT),
				errhint("Build a filter with cuckoo_agg from time to time."));
}

/*
 * Build the base, which is locked if there is one, from the table, and delete
 * the log that this makes obsolete.  A rate of 0 means the default one, a
 * capacity of 0 one that suits the table.
 */
static void
Build(Relation table, Target *target, bool first, double fpr, uint64 capacity)
{
	CuckooList	hashes;
	CuckooFilter filter;
	CuckooRun	run;

	target->folding = GetTopTransactionId();
	/* One snapshot for table and log, now that the base is locked. */
	CommandCounterIncrement();
	PushActiveSnapshot(GetLatestSnapshot());
	hashes = HashTable(table, target);
	Execute(target, COUNT_LOG, NULL, GetActiveSnapshot());
	DeleteLog(target, DatumGetInt64(ResultDatum(1)));
	PopActiveSnapshot();

	CuckooListSort(&hashes);
	CheckRepeated(table, target, &hashes, first);
	if (capacity == 0)
	{
		capacity = hashes.count + (hashes.count + 1) / 2;
		if (capacity <= CUCKOO_UNKNOWN_KEYS)
			capacity = 0;
	}
	CuckooFilterInit(&filter, fpr > 0 ? fpr : CUCKOO_DEFAULT_FPR, capacity, SEED);
	filter.key_type = (uint8) target->key.key_type;
	filter.signature = target->key.signature;
	CuckooCheckSize(filter.fpr, capacity);
	run.numbers = hashes.numbers;
	run.count = hashes.count;
	WriteBase(target, CuckooBuildValue(&filter, &run, 1), 1);
	/* A transaction may load many rows after TRUNCATE. */
	target->folding = InvalidTransactionId;
}

/*
 * After TRUNCATE, which has locked out everybody else.  If the transaction has
 * one snapshot, locking the base fails if it has changed since.  A base that is
 * not built needs a rebuild anyway.
 */
static void
Truncate(Relation table, Target *target)
{
	Caller		caller = BecomeOwner(table->rd_rel->relowner);
	Base		base;
	CuckooFilter filter;
	Size		bytes;

	if (ReadBase(target, LOCK_BASE, &base) && base.built)
	{
		CuckooReadHeader(base.f, &filter, &bytes);
		Build(table, target, false, filter.fpr, filter.capacity);
	}
	BecomeCaller(caller);
}

/*
 * What statements have collected and not written yet, for each filter table and
 * subtransaction
 */
typedef struct Pending
{
	uint64		key;			/* of all_pending: see PendingKey */
	uint64		number;			/* no two have the same */
	Target	   *target;
	CuckooList	added;
	CuckooList	removed;
	MemoryContext context;
	MemoryContextCallback gone;
} Pending;

typedef struct PendingEntry
{
	uint64		key;
	Pending    *pending;
} PendingEntry;

static HTAB *all_pending = NULL;

static uint64
PendingKey(Oid filter)
{
	return (uint64) filter << 32 | GetCurrentSubTransactionId();
}

static Pending *
FindPending(Oid filter)
{
	HASHCTL		control = {.keysize = sizeof(uint64), .entrysize = sizeof(PendingEntry)};
	uint64		key = PendingKey(filter);
	PendingEntry *entry;

	if (all_pending == NULL)
		all_pending = hash_create("changes of followed tables", 16, &control,
								  HASH_ELEM | HASH_BLOBS);
	entry = hash_search(all_pending, &key, HASH_FIND, NULL);
	return entry == NULL ? NULL : entry->pending;
}

/* It will be written, or its memory goes because its subtransaction aborts. */
static void
Unlink(void *argument)
{
	Pending    *pending = (Pending *) argument;
	PendingEntry *entry = hash_search(all_pending, &pending->key, HASH_FIND, NULL);

	/* A nested statement may have begun another one. */
	if (entry != NULL && entry->pending == pending)
		(void) hash_search(all_pending, &pending->key, HASH_REMOVE, NULL);
}

/* Whether this is the time to write, before the statement ends. */
static bool
IsFull(const Pending *pending)
{
	uint64		count = pending->added.count + pending->removed.count;
	/* Sorting needs as much memory again. */
	uint64		most = (uint64) maintenance_work_mem * 1024 / (2 * sizeof(uint64));

	/* A row adds at most two. */
	return count % MIN_COLLECTED < 2 &&
		count >= Max(most / (uint64) hash_get_num_entries(all_pending), MIN_COLLECTED);
}

static void
Write(Target *target, Oid owner, CuckooList *added, CuckooList *removed)
{
	Caller		caller = BecomeOwner(owner);

	SortAndCancel(added, removed);
	if (added->count > 0 && !AddToBase(target, added))
		WriteLog(target, added, 1);
	if (removed->count > 0)
		WriteLog(target, removed, -1);
	BecomeCaller(caller);
}

/* Writing can run triggers of the filter table, which begin a new one. */
static void
WritePending(Pending *pending, Oid owner)
{
	Unlink(pending);
	Write(pending->target, owner, &pending->added, &pending->removed);
	MemoryContextDelete(pending->context);
}

/*
 * Queue the trigger that writes what is pending behind the rows of this
 * statement.  False if the filter table does not have it, or if something else
 * would come of the command that queues it: a rule could replace it, and other
 * triggers would run in the user's statement, with the user's rights.
 */
static bool
Queue(Target *target, Oid owner, Oid function)
{
	Relation	rel = table_open(target->filter, RowExclusiveLock);
	TriggerDesc *triggers = rel->trigdesc;
	bool		found = false;
	bool		others = rel->rd_rules != NULL;

	for (int i = 0; triggers != NULL && i < triggers->numtriggers; i++)
	{
		Trigger    *trigger = &triggers->triggers[i];

		if (trigger->tgfoid == function && trigger->tgtype == TRIGGER_TYPE_DELETE &&
			trigger->tgqual == NULL && trigger->tgenabled == TRIGGER_FIRES_ALWAYS)
			found = true;
		else if (TRIGGER_FOR_DELETE(trigger->tgtype) && !TRIGGER_FOR_ROW(trigger->tgtype))
			others = true;
	}
	found &= !others;
	table_close(rel, NoLock);
	if (found)
	{
		Caller		caller = BecomeOwner(owner);

		Execute(target, QUEUE, NULL, InvalidSnapshot);
		BecomeCaller(caller);
	}
	return found;
}

/*
 * Where further rows of a statement are collected, when the trigger that writes
 * them is queued; NULL if it cannot be.  *queued is the number of what the
 * statement has queued it for.
 */
static Pending *
GetPending(Target *target, uint64 *queued, Oid owner, Oid function)
{
	static uint64 last_number = 0;
	Pending    *pending = FindPending(target->filter);
	MemoryContext context;
	PendingEntry *entry;

	if (pending != NULL && *queued == pending->number)
		return pending;
	if (!Queue(target, owner, function))
		return NULL;
	/* That may have run triggers of the filter table. */
	pending = FindPending(target->filter);
	if (pending == NULL)
	{
		context = AllocSetContextCreate(CurTransactionContext, "changes of a followed table",
										ALLOCSET_SMALL_SIZES);
		pending = MemoryContextAllocZero(context, sizeof(Pending));
		pending->key = PendingKey(target->filter);
		pending->number = ++last_number;
		pending->target = target;
		pending->context = context;
		pending->gone.func = Unlink;
		pending->gone.arg = pending;
		entry = hash_search(all_pending, &pending->key, HASH_ENTER, NULL);
		entry->pending = pending;
		MemoryContextRegisterResetCallback(context, &pending->gone);
	}
	*queued = pending->number;
	return pending;
}

/* Put the change of one row into lists: the old key removed, the new one added. */
static void
PutChange(Target *target, const TriggerData *data, CuckooList *added, CuckooList *removed)
{
	if (!TRIGGER_FIRED_BY_INSERT(data->tg_event))
		PutKey(target, data->tg_trigslot, removed);
	if (!TRIGGER_FIRED_BY_DELETE(data->tg_event))
		PutKey(target, TRIGGER_FIRED_BY_UPDATE(data->tg_event) ? data->tg_newslot :
			   data->tg_trigslot, added);
}

/* What a trigger keeps for the rows of one statement (in fn_extra). */
typedef struct Statement
{
	int			count;
	struct
	{
		Target	   *target;
		uint64		queued;		/* number of what a queued trigger will write */
	}			list[FLEXIBLE_ARRAY_MEMBER];
} Statement;

/*
 * Begin with the first row of a statement.  No other session changes the
 * triggers of the table meanwhile, but their list may move whenever a catalog is
 * read.  Another trigger may have called cuckoo_unfollow: then there is no list.
 */
static Statement *
BeginStatement(const TriggerData *data, MemoryContext context)
{
	Relation	table = data->tg_relation;
	const Trigger *ours = data->tg_trigger;
	int			count = table->trigdesc == NULL ? 0 : table->trigdesc->numtriggers;
	Statement  *statement = MemoryContextAllocZero(context, offsetof(Statement, list) +
												   count * sizeof(statement->list[0]));

	for (int i = 0; i < count; i++)
	{
		Trigger    *trigger = &table->trigdesc->triggers[i];

		if (trigger->tgfoid != ours->tgfoid)
			continue;
		/* Two update triggers would also give the others a target twice. */
		for (int j = 0; j < i; j++)
		{
			Trigger    *other = &table->trigdesc->triggers[j];

			if (other->tgfoid == ours->tgfoid && other->tgconstrrelid == trigger->tgconstrrelid &&
				TRIGGER_FOR_ROW(other->tgtype & trigger->tgtype) &&
				(other->tgtype & trigger->tgtype & TRIGGER_TYPE_EVENT_MASK) != 0)
				ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						errmsg("triggers \"%s\" and \"%s\" of table \"%s\" would log changes twice",
								trigger->tgname, other->tgname, RelationGetRelationName(table)),
						errhint("Drop the one that cuckoo_follow did not make."));
		}
		/* An update trigger serves its own target, the others serve all. */
		if (IsUpdateTrigger(trigger, ours->tgfoid) &&
			(!TRIGGER_FIRED_BY_UPDATE(data->tg_event) || trigger->tgoid == ours->tgoid))
		{
			Target	   *target = GetTarget(table, trigger);

			CheckOwners(RelationGetRelid(table), target->filter);
			statement->list[statement->count++].target = target;
		}
	}
	return statement;
}

/*
 * The trigger of a followed table, for each row changed and after TRUNCATE, and
 * of its filter table, which writes what was collected.
 */
PG_FUNCTION_INFO_V1(cuckoo_follow_change);
Datum
cuckoo_follow_change(PG_FUNCTION_ARGS)
{
	TriggerData *data = (TriggerData *) fcinfo->context;
	Statement  *statement = (Statement *) fcinfo->flinfo->fn_extra;
	bool		first = statement == NULL;
	Oid			owner;

	if (!CALLED_AS_TRIGGER(fcinfo) || !TRIGGER_FIRED_AFTER(data->tg_event))
		ereport(ERROR, errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				errmsg("cuckoo_follow_change must be called by a trigger that cuckoo_follow makes"));
	owner = data->tg_relation->rd_rel->relowner;
	if (TRIGGER_FIRED_FOR_STATEMENT(data->tg_event) && !TRIGGER_FIRED_BY_TRUNCATE(data->tg_event))
	{
		Pending    *pending = FindPending(RelationGetRelid(data->tg_relation));

		if (pending != NULL)
			WritePending(pending, owner);
		return PointerGetDatum(NULL);
	}

	if (first)
		fcinfo->flinfo->fn_extra = statement = BeginStatement(data, fcinfo->flinfo->fn_mcxt);
	for (int i = 0; i < statement->count; i++)
	{
		Target	   *target = statement->list[i].target;
		Pending    *pending = NULL;
		CuckooList	added = {NULL, 0, 0};
		CuckooList	removed = {NULL, 0, 0};

		if (TRIGGER_FIRED_BY_TRUNCATE(data->tg_event))
		{
			Truncate(data->tg_relation, target);
			continue;
		}
		if (!first)
			pending = GetPending(target, &statement->list[i].queued, owner,
								 data->tg_trigger->tgfoid);
		if (pending != NULL)
		{
			MemoryContext before = MemoryContextSwitchTo(pending->context);

			PutChange(target, data, &pending->added, &pending->removed);
			MemoryContextSwitchTo(before);
			if (IsFull(pending))
				WritePending(pending, owner);
			continue;
		}
		PutChange(target, data, &added, &removed);
		if (added.count + removed.count > 0)
			Write(target, owner, &added, &removed);
	}
	return PointerGetDatum(NULL);
}

/* Filter tables that were checked, each in one place, and not altered since. */
static Oid	checked[64];

static void
ForgetChecked(Datum argument, Oid relid)
{
	(void) argument;
	if (!OidIsValid(relid) || checked[relid % lengthof(checked)] == relid)
		memset(checked, 0, sizeof(checked));
}

/* The index of a primary key, which an invalidation makes an open table forget. */
static Oid
PrimaryKey(Relation rel)
{
	if (!rel->rd_indexvalid)
		list_free(RelationGetIndexList(rel));
	return rel->rd_pkindex;
}

/* Whether a table has the columns and the primary key of a filter table. */
static bool
IsFilterTable(Relation rel)
{
	static const Oid types[] = {INT8OID, INT8OID, INT4OID};
	TupleDesc	desc = RelationGetDescr(rel);
	Relation	index;
	Oid			key = PrimaryKey(rel);
	bool		fits = rel->rd_rel->relkind == RELKIND_RELATION && OidIsValid(key) &&
		desc->natts >= COLUMN_FILTER;

	/* A dropped column has no type. */
	for (int i = 0; fits && i < (int) lengthof(types); i++)
		fits = TupleDescAttr(desc, i)->atttypid == types[i];
	if (!fits || !CuckooIsFilterType(TupleDescAttr(desc, COLUMN_FILTER - 1)->atttypid))
		return false;
	index = index_open(key, AccessShareLock);
	fits = index->rd_index->indnkeyatts == 2 &&
		index->rd_index->indkey.values[0] == COLUMN_HASH &&
		index->rd_index->indkey.values[1] == COLUMN_NUMBER;
	index_close(index, AccessShareLock);
	return fits;
}

/* Open a filter table that the caller may read. */
static Relation
OpenForReading(Oid filter)
{
	static bool registered = false;
	Relation	rel = relation_open(filter, AccessShareLock);
	AclResult	result = pg_class_aclcheck(filter, GetUserId(), ACL_SELECT);

	if (result != ACLCHECK_OK)
		aclcheck_error(result, OBJECT_TABLE, RelationGetRelationName(rel));
	if (!registered)
		CacheRegisterRelcacheCallback(ForgetChecked, (Datum) 0);
	registered = true;
	if (checked[filter % lengthof(checked)] != filter && !IsFilterTable(rel))
		ereport(ERROR, errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("\"%s\" is not a filter table", RelationGetRelationName(rel)),
				errdetail("A filter table has the columns hash bigint, n bigint, delta integer and f cuckoofilter, and the primary key (hash, n)."),
				errhint("cuckoo_follow makes such a table."));
	checked[filter % lengthof(checked)] = filter;
	if (rel->rd_rel->relrowsecurity && check_enable_rls(filter, InvalidOid, true) == RLS_ENABLED)
		ereport(ERROR, errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				errmsg("row-level security hides rows of filter table \"%s\"",
						RelationGetRelationName(rel)),
				errhint("Grant SELECT on it to roles that may look keys up, and disable row-level security."));
	return rel;
}

/* A fold, a rebuild and so on, as the owner of both tables */
typedef struct Session
{
	Caller		caller;
	int			guc_level;
	char	   *schema;			/* of the extension */
	Oid			function;		/* cuckoo_follow_change */
	Oid			filter;
	Oid			relid;			/* the followed table */
	Relation	table;			/* the same, open, so that others refuse to run */
	Target	   *target;			/* what its update trigger says */
	bool		enabled;		/* it has all triggers, each once, and all fire always */
} Session;

static void
CheckChanging(const char *name)
{
	PreventCommandIfReadOnly(name);
	if (IsolationUsesXactSnapshot())
		ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("%s requires the isolation level READ COMMITTED", name),
				errdetail("The isolation level of the transaction is %s.",
						   IsolationIsSerializable() ? "SERIALIZABLE" : "REPEATABLE READ"),
				errhint("Call it in a transaction of its own."));
}

/*
 * Become the owner of a table, which the caller must own, with settings of our
 * own.  An error also undoes this.
 */
static void
Enter(Session *session, FunctionCallInfo fcinfo, Oid relid)
{
	Relation	rel = relation_open(relid, AccessShareLock);

	if (!CuckooOwnsTable(relid, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE, RelationGetRelationName(rel));
	memset(session, 0, sizeof(*session));
	session->caller = BecomeOwner(rel->rd_rel->relowner);
	session->guc_level = NewGUCNestLevel();
	(void) set_config_option("search_path", "pg_catalog, pg_temp", PGC_USERSET,
							 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	session->schema = get_namespace_name(get_func_namespace(fcinfo->flinfo->fn_oid));
	session->function = LookupFuncName(list_make2(makeString(session->schema),
												  makeString("cuckoo_follow_change")),
									   0, NULL, false);
	relation_close(rel, NoLock);
}

static void
Leave(Session *session)
{
	if (session->table != NULL)
		table_close(session->table, NoLock);
	AtEOXact_GUC(false, session->guc_level);
	BecomeCaller(session->caller);
}

static void
Command(const char *command)
{
	int			result = SPI_execute(command, false, 0);

	if (result < 0)
		elog(ERROR, "could not execute \"%s\": %s", command, SPI_result_code_string(result));
}

/*
 * Find the table that a filter table follows.  Anybody who has the privilege
 * TRIGGER on the filter table can create such a trigger on a table of their
 * own: tables of the same owner come first.
 */
static void
EnterFollowed(Session *session, FunctionCallInfo fcinfo, Oid filter)
{
	Enter(session, fcinfo, filter);
	session->filter = filter;
	Command(psprintf("SELECT tgrelid, count(*) OVER (PARTITION BY relowner) "
					 "FROM pg_depend AS d JOIN pg_trigger AS t ON t.oid = objid JOIN pg_class AS c ON c.oid = tgrelid "
					 "WHERE refclassid = 'pg_class'::regclass AND refobjid = %u AND classid = 'pg_trigger'::regclass AND tgconstrrelid = %u AND tgfoid = %u "
					 "GROUP BY tgrelid, relowner ORDER BY relowner = %u DESC, tgrelid",
					 filter, filter, session->function, GetUserId()));
	session->relid = DatumGetObjectId(ResultDatum(1));
	if (!OidIsValid(session->relid))
		ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("filter table \"%s\" follows no table", get_rel_name(filter)),
				errdetail("There is no trigger that writes to it."),
				errhint("On a subscriber, call this function on the publisher instead. Otherwise drop the filter table, and call cuckoo_follow."));
	CheckOwners(session->relid, filter);
	if (DatumGetInt64(ResultDatum(2)) > 1)
		ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("filter table \"%s\" follows more than one table", get_rel_name(filter)),
				errhint("Drop the triggers that cuckoo_follow did not make."));

	session->table = table_open(session->relid, AccessShareLock);
	for (int i = 0; session->table->trigdesc != NULL && i < session->table->trigdesc->numtriggers; i++)
	{
		Trigger    *trigger = &session->table->trigdesc->triggers[i];

		if (IsUpdateTrigger(trigger, session->function) && trigger->tgconstrrelid == filter)
			session->target = GetTarget(session->table, trigger);
	}
	if (session->target == NULL || session->table->rd_rel->relkind != RELKIND_RELATION)
		ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("triggers of table \"%s\" are not those that cuckoo_follow makes",
						RelationGetRelationName(session->table)));
	Command(psprintf("SELECT string_agg(concat(tgtype, tgenabled, CASE WHEN (tgqual IS NULL) = (tgtype = 17) OR tgdeferrable OR tgattr <> '' THEN '!' END), ' ' ORDER BY tgtype, tgenabled) "
					 "= '5A 8A 9A 17A 32A' FROM pg_trigger "
					 "WHERE tgfoid = %u AND (tgrelid = %u AND tgconstrrelid IN (0, %u) OR tgrelid = %u)",
					 session->function, session->relid, filter, filter));
	session->enabled = DatumGetBool(ResultDatum(1));
}

/* Make a trigger that does not exist, and let it fire always. */
static void
MakeTrigger(Session *session, const char *wanted, int type, const char *events, Oid relid,
			const char *more)
{
	char	   *name = pstrdup(wanted);

	Command(psprintf("SELECT tgname FROM pg_trigger WHERE tgfoid = %u AND tgrelid = %u AND tgtype = %d AND tgconstrrelid = %u",
					 session->function, relid, type,
					 type == UPDATE_TRIGGER ? session->filter : InvalidOid));
	if (SPI_processed > 0)
		name = NameStr(*DatumGetName(ResultDatum(1)));
	else
	{
		for (int i = 2; OidIsValid(get_trigger_oid(relid, name, true)) ||
			 ConstraintNameIsUsed(CONSTRAINT_RELATION, relid, name); i++)
			name = psprintf("%s%d", wanted, i);
		Command(psprintf("CREATE %s %s AFTER %s ON %s %s EXECUTE FUNCTION %s()",
						 type == UPDATE_TRIGGER ? "CONSTRAINT TRIGGER" : "TRIGGER",
						 quote_identifier(name), events, QualifiedName(relid), more,
						 quote_qualified_identifier(session->schema, "cuckoo_follow_change")));
	}
	Command(psprintf("ALTER TABLE %s ENABLE ALWAYS TRIGGER %s", QualifiedName(relid),
					 quote_identifier(name)));
}

/* Make the triggers that are missing.  The followed table must be locked but not open. */
static void
MendTriggers(Session *session, FunctionCallInfo fcinfo, const char *column)
{
	const char *name = quote_identifier(column);
	Oid			relid = session->relid;
	Oid			filter = session->filter;

	MakeTrigger(session, "cuckoo_follow_insert", TRIGGER_TYPE_ROW | TRIGGER_TYPE_INSERT, "INSERT",
				relid, "FOR EACH ROW");
	MakeTrigger(session, "cuckoo_follow_delete", TRIGGER_TYPE_ROW | TRIGGER_TYPE_DELETE, "DELETE",
				relid, "FOR EACH ROW");
	MakeTrigger(session, "cuckoo_follow_update", UPDATE_TRIGGER, "UPDATE", relid,
				psprintf("FROM %s FOR EACH ROW WHEN (OLD.%s IS DISTINCT FROM NEW.%s)",
						 QualifiedName(filter), name, name));
	MakeTrigger(session, "cuckoo_follow_truncate", TRIGGER_TYPE_TRUNCATE, "TRUNCATE", relid, "");
	MakeTrigger(session, "cuckoo_follow_write", TRIGGER_TYPE_DELETE, "DELETE", filter, "");
	Leave(session);
	EnterFollowed(session, fcinfo, filter);
	if (!session->enabled)
		ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("triggers of table \"%s\" are not those that cuckoo_follow makes",
						get_rel_name(relid)),
				errhint("Drop those that call cuckoo_follow_change, and call cuckoo_follow_rebuild or cuckoo_follow."));
}

/* cuckoo_follow_fold(filter_table) -> bigint: rows of the log; NULL if another session folds */
PG_FUNCTION_INFO_V1(cuckoo_follow_fold);
Datum
cuckoo_follow_fold(PG_FUNCTION_ARGS)
{
	Oid			filter = PG_GETARG_OID(0);
	Session		session;
	Base		base;
	CuckooList	added = {NULL, 0, 0};
	CuckooList	removed = {NULL, 0, 0};
	CuckooDraft draft;
	Relation	rel;
	int64		rows;

	CheckChanging("cuckoo_follow_fold");
	EnterFollowed(&session, fcinfo, filter);
	CheckTableNotInUse(session.table, "fold the changes of");
	if (!session.enabled)
		ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("triggers of table \"%s\" are missing or disabled",
						RelationGetRelationName(session.table)),
				errdetail("Some triggers are missing or not enabled ALWAYS, so changes may be missing in \"%s\".",
						   get_rel_name(filter)),
				errhint("Call cuckoo_follow_rebuild to repair them."));
	session.target->folding = GetTopTransactionId();
	if (!ReadBase(session.target, TRY_BASE, &base) && ReadBase(session.target, READ_BASE, &base))
	{
		Leave(&session);
		PG_RETURN_NULL();
	}
	if (!base.built)
		ReportBase(filter, false);
	CuckooOpenDraft(&draft, base.f, NULL);
	if (!Fits(&draft.filter, &session.target->key))
		ReportBase(filter, true);

	/* Take a snapshot only now, when the base is locked. */
	PushActiveSnapshot(GetLatestSnapshot());
	rel = OpenForReading(filter);
	rows = ReadLog(rel, &added, &removed);
	table_close(rel, NoLock);
	DeleteLog(session.target, rows);
	PopActiveSnapshot();
	SortAndCancel(&added, &removed);
	if (added.count + removed.count > 0)
	{
		if (!Apply(&draft, &added, false) || !Apply(&draft, &removed, true))
			ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					errmsg("the filter in \"%s\" is full", get_rel_name(filter)),
					errhint("Call cuckoo_follow_rebuild."));
		WriteBase(session.target, CuckooFinishDraft(&draft), 1);
	}
	Leave(&session);
	PG_RETURN_INT64(rows);
}

/* cuckoo_follow_rebuild(filter_table, capacity, fpr) */
PG_FUNCTION_INFO_V1(cuckoo_follow_rebuild);
Datum
cuckoo_follow_rebuild(PG_FUNCTION_ARGS)
{
	uint64		capacity = 0;
	double		fpr = 0;
	Session		session;
	Base		base;
	CuckooFilter filter;
	Size		bytes;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (!PG_ARGISNULL(1))
		capacity = CuckooCheckCapacity(PG_GETARG_FLOAT8(1));
	if (!PG_ARGISNULL(2))
		fpr = CuckooCheckFpr(PG_GETARG_FLOAT8(2));
	CheckChanging("cuckoo_follow_rebuild");
	EnterFollowed(&session, fcinfo, PG_GETARG_OID(0));
	CheckTableNotInUse(session.table, "rebuild the filter of");
	if (!session.enabled)
	{
		/*
		 * For example, after a restore without triggers.  Lock out writers, so
		 * that no change is missed.
		 */
		LockRelationOid(session.relid, ShareRowExclusiveLock);
		table_close(session.table, NoLock);
		session.table = NULL;
		MendTriggers(&session, fcinfo,
					 get_attname(session.relid, session.target->column, false));
	}
	ReadBase(session.target, LOCK_BASE, &base);
	if (DatumGetPointer(base.f) != NULL)
	{
		CuckooReadHeader(base.f, &filter, &bytes);
		if (fpr == 0)
			fpr = filter.fpr;
		/* The empty base has the one given to cuckoo_follow. */
		if (capacity == 0 && !base.built)
			capacity = filter.capacity;
	}
	Build(session.table, session.target, !base.built, fpr, capacity);
	Leave(&session);
	PG_RETURN_VOID();
}

/* Refuse what cannot be followed. */
static void
CheckFollowable(Session *session, Relation table, const char *column, AttrNumber number)
{
	const char *name = RelationGetRelationName(table);
	CuckooKey	key;

	if (table->rd_rel->relkind == RELKIND_PARTITIONED_TABLE)
		ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("cannot follow partitioned table \"%s\"", name),
				errdetail("Rows are written to its partitions."),
				errhint("Follow each partition."));
	if (table->rd_rel->relkind != RELKIND_RELATION)
		ereport(ERROR, errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("cannot follow \"%s\"", name),
				errdetail("It is not an ordinary table."),
				errhint("Follow the table that its rows come from."));
	if (RELATION_IS_OTHER_TEMP(table))
		ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("cannot follow a temporary table of another session"),
				errhint("Call cuckoo_follow in that session."));
	if (number == InvalidAttrNumber)
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_COLUMN),
				errmsg("column \"%s\" of relation \"%s\" does not exist", column, name));
	if (number < 0)
		ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("cannot follow system column \"%s\"", column),
				errhint("Follow an ordinary column of the table."));
	if (CuckooGeneratedIsRefused(TupleDescAttr(RelationGetDescr(table), number - 1)->attgenerated))
		ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("cannot follow generated column \"%s\" of table \"%s\"", column, name),
				errdetail("Its values can change without firing a trigger."),
				errhint("Have a BEFORE trigger compute an ordinary column."));
	InitKey(&key, table, number, CurrentMemoryContext);
	for (int i = 0; table->trigdesc != NULL && i < table->trigdesc->numtriggers; i++)
	{
		Trigger    *trigger = &table->trigdesc->triggers[i];

		if (trigger->tgfoid == session->function && trigger->tgtype == TRIGGER_TYPE_DELETE)
			ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					errmsg("cannot follow filter table \"%s\"", name),
					errhint("Follow the table that it follows."));
		if (IsUpdateTrigger(trigger, session->function))
		{
			Target	   *target = GetTarget(table, trigger);

			if (target->column == number)
				ereport(ERROR, errcode(ERRCODE_DUPLICATE_OBJECT),
						errmsg("column \"%s\" of table \"%s\" is followed already", column, name),
						errdetail("Its filter table is \"%s\".", get_rel_name(target->filter)),
						errhint("Call cuckoo_follow_rebuild to build the filter again."));
		}
	}
}

/* cuckoo_follow(table_name, column_name, capacity, fpr, build) -> regclass: the filter table */
PG_FUNCTION_INFO_V1(cuckoo_follow);
Datum
cuckoo_follow(PG_FUNCTION_ARGS)
{
	double		fpr = CUCKOO_DEFAULT_FPR;
	uint64		capacity = 0;
	Oid			relid;
	Oid			space;
	char	   *column;
	char	   *name;
	Relation	table;
	Session		session;
	CuckooFilter filter;
	Oid			argument = REGCLASSOID;
	Oid			type;
	Oid			owner;
	int			security;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		ereport(ERROR, errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				errmsg("table and column to follow must not be null"));
	relid = PG_GETARG_OID(0);
	column = pstrdup(NameStr(*PG_GETARG_NAME(1)));
	if (!PG_ARGISNULL(2))
		capacity = CuckooCheckCapacity(PG_GETARG_FLOAT8(2));
	if (!PG_ARGISNULL(3))
		fpr = CuckooCheckFpr(PG_GETARG_FLOAT8(3));
	CuckooCheckSize(fpr, capacity);
	CheckChanging("cuckoo_follow");
	Enter(&session, fcinfo, relid);

	/* Readers go on; writers wait until the triggers exist. */
	table = relation_open(relid, ShareRowExclusiveLock);
	CheckFollowable(&session, table, column, get_attnum(relid, column));
	CheckTableNotInUse(table, "follow");
	space = RelationGetNamespace(table);
	name = ChooseRelationName(RelationGetRelationName(table), column, "filter", space, false);

	/* The type may be in another schema than our functions. */
	type = get_func_rettype(LookupFuncName(list_make2(makeString(session.schema),
													  makeString("cuckoo_follow_filter")),
										   1, &argument, false));
	/* A restricted operation may not create temporary tables. */
	GetUserIdAndSecContext(&owner, &security);
	SetUserIdAndSecContext(owner, session.caller.security | SECURITY_LOCAL_USERID_CHANGE);
	Command(psprintf("CREATE %s TABLE %s (hash bigint, n bigint, delta integer NOT NULL, f %s, PRIMARY KEY (hash, n)) USING heap",
					 table->rd_rel->relpersistence == RELPERSISTENCE_UNLOGGED ? "UNLOGGED" : "",
					 quote_qualified_identifier(get_namespace_name(space), name),
					 format_type_be_qualified(type)));
	SetUserIdAndSecContext(owner, security);
	relation_close(table, NoLock);
	session.relid = relid;
	session.filter = get_relname_relid(name, space);
	MendTriggers(&session, fcinfo, column);

	/* Until it is built, the base keeps the parameters. */
	CuckooFilterInit(&filter, fpr, capacity, SEED);
	WriteBase(session.target, CuckooEmptyValue(&filter), 0);
	if (PG_ARGISNULL(4) || PG_GETARG_BOOL(4))
		Build(session.table, session.target, true, fpr, capacity);
	Leave(&session);
	PG_RETURN_OID(session.filter);
}

/* cuckoo_unfollow(filter_table) */
PG_FUNCTION_INFO_V1(cuckoo_unfollow);
Datum
cuckoo_unfollow(PG_FUNCTION_ARGS)
{
	Session		session;

	/* An older snapshot might not show that another column is followed. */
	CheckChanging("cuckoo_unfollow");
	EnterFollowed(&session, fcinfo, PG_GETARG_OID(0));
	LockRelationOid(session.relid, AccessExclusiveLock);
	table_close(session.table, NoLock);
	session.table = NULL;
	Command(psprintf("DROP TABLE %s", QualifiedName(session.filter)));

	/* The other triggers serve all followed columns of the table. */
	Command(psprintf("SELECT string_agg(format('DROP TRIGGER %%I ON %%s', tgname, tgrelid::regclass), '; ') FROM pg_trigger "
					 "WHERE tgrelid = %u AND tgfoid = %u HAVING bool_and(tgconstrrelid = 0)",
					 session.relid, session.function));
	if (SPI_processed > 0)
		Command(TextDatumGetCString(ResultDatum(1)));
	Leave(&session);
	PG_RETURN_VOID();
}

/* Find rows by their hash, or the base. */
static SysScanDesc
BeginScan(Relation rel, uint64 hash, bool base)
{
	ScanKeyData keys[2];

	ScanKeyInit(&keys[0], COLUMN_HASH, BTEqualStrategyNumber, F_INT8EQ,
				Int64GetDatum((int64) hash));
	ScanKeyInit(&keys[1], COLUMN_NUMBER, BTEqualStrategyNumber, F_INT8EQ, Int64GetDatum(0));
	return systable_beginscan(rel, PrimaryKey(rel), true, GetActiveSnapshot(), base ? 2 : 1, keys);
}

/* The base, perhaps toasted; NULL if it is not built. */
static struct varlena *
GetBase(Relation rel)
{
	SysScanDesc scan = BeginScan(rel, 0, true);
	HeapTuple	tuple = systable_getnext(scan);
	struct varlena *value = NULL;
	bool		isnull;

	if (HeapTupleIsValid(tuple) &&
		DatumGetInt32(heap_getattr(tuple, COLUMN_DELTA, RelationGetDescr(rel), &isnull)) == 1)
	{
		Datum		f = heap_getattr(tuple, COLUMN_FILTER, RelationGetDescr(rel), &isnull);

		if (!isnull)
			value = (struct varlena *) DatumGetPointer(datumCopy(f, false, -1));
	}
	systable_endscan(scan);
	return value;
}

/* cuckoo_follow_contains(filter_table, key) -> boolean */
PG_FUNCTION_INFO_V1(cuckoo_follow_contains);
Datum
cuckoo_follow_contains(PG_FUNCTION_ARGS)
{
	Relation	rel = OpenForReading(PG_GETARG_OID(0));
	CuckooKey  *key = CuckooGetKey(fcinfo, 1);
	struct varlena *base = GetBase(rel);
	const CuckooReader *reader;
	uint64		hash;
	bool		found;

	if (base == NULL)
		ReportBase(RelationGetRelid(rel), false);
	reader = CuckooRead(base, 1);
	if (!Fits(&reader->filter, NULL))
		ReportBase(RelationGetRelid(rel), true);
	hash = CuckooArgumentHash(key, PG_GETARG_DATUM(1), &reader->filter);
	found = CuckooReaderContains(reader, hash);
	if (!found)
	{
		SysScanDesc scan = BeginScan(rel, hash, false);
		HeapTuple	tuple;
		bool		isnull;

		while (!found && HeapTupleIsValid(tuple = systable_getnext(scan)))
			found = DatumGetInt64(heap_getattr(tuple, COLUMN_NUMBER, RelationGetDescr(rel), &isnull)) != 0 &&
				DatumGetInt32(heap_getattr(tuple, COLUMN_DELTA, RelationGetDescr(rel), &isnull)) > 0;
		systable_endscan(scan);
	}
	table_close(rel, NoLock);
	PG_RETURN_BOOL(found);
}

/*
 * The base with the additions of the log, as a lookup sees them; NULL if it is
 * not built.
 */
static CuckooValue *
ReadFilter(Relation rel, struct varlena *base, int64 *log_rows)
{
	CuckooList	added = {NULL, 0, 0};
	CuckooDraft draft;

	*log_rows = ReadLog(rel, &added, NULL);
	if (base == NULL)
		return NULL;
	CuckooOpenDraft(&draft, PointerGetDatum(base), NULL);
	if (!Fits(&draft.filter, NULL))
		ReportBase(RelationGetRelid(rel), true);
	if (!Apply(&draft, &added, false))
		CuckooReportTooLarge(draft.filter.items, draft.filter.fpr);
	return CuckooFinishDraft(&draft);
}

/* cuckoo_follow_filter(filter_table) -> cuckoofilter: the base with the additions of the log */
PG_FUNCTION_INFO_V1(cuckoo_follow_filter);
Datum
cuckoo_follow_filter(PG_FUNCTION_ARGS)
{
	Relation	rel = OpenForReading(PG_GETARG_OID(0));
	int64		log_rows;
	CuckooValue *value = ReadFilter(rel, GetBase(rel), &log_rows);

	if (value == NULL)
		ReportBase(RelationGetRelid(rel), false);
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

		/* A class has no more copies than this, and they are neighbours. */
		for (uint64 k = CUCKOO_MAX_COPIES - 1; k < filter->tables[i].items; k++)
		{
			CuckooPauseAt(k);
			pinned += codes[k] == codes[k - (CUCKOO_MAX_COPIES - 1)];
		}
		pfree(codes);
	}
	return pinned;
}

/* cuckoo_follow_check(filter_table) -> missing, log_rows, pinned, expected_fpr, triggers_enabled */
PG_FUNCTION_INFO_V1(cuckoo_follow_check);
Datum
cuckoo_follow_check(PG_FUNCTION_ARGS)
{
	Session		session;
	Relation	rel;
	CuckooFilter filter;
	struct varlena *base;
	CuckooValue *value;
	TupleDesc	desc;
	Datum		values[5];
	bool		nulls[5] = {false};
	int64		missing = 0;
	int64		log_rows;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	EnterFollowed(&session, fcinfo, PG_GETARG_OID(0));
	rel = OpenForReading(session.filter);
	base = GetBase(rel);
	value = ReadFilter(rel, base, &log_rows);
	values[1] = Int64GetDatum(log_rows);
	if (value != NULL)
	{
		CuckooList	hashes = HashTable(session.table, session.target);

		CuckooOpenFilter(&filter, DatumGetCuckooFilterP(PointerGetDatum(base)));
		values[2] = Int64GetDatum(CountPinned(&filter));
		values[3] = Float8GetDatum(CuckooFilterRate(&filter));
		CuckooOpenFilter(&filter, value);
		for (uint64 i = 0; i < hashes.count; i++)
		{
			CHECK_FOR_INTERRUPTS();
			missing += !CuckooFilterContains(&filter, hashes.numbers[i]);
		}
		values[0] = Int64GetDatum(missing);
	}
	else
		nulls[0] = nulls[2] = nulls[3] = true;
	values[4] = BoolGetDatum(session.enabled);
	table_close(rel, NoLock);
	Leave(&session);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls)));
}
