/*-------------------------------------------------------------------------
 *
 * follow.c
 *	  A filter that follows a table: the SQL functions.  follow_table.c and
 *	  follow_log.c say how it works.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "commands/tablecmds.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "parser/parse_func.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "call.h"
#include "follow_log.h"
#include "reader.h"

/*
 * Commands that make and drop tables and triggers
 */

/* Who called, and what commands need */
typedef struct CommandState
{
	Oid			user;
	int			security;
	int			guc_level;
	char	   *schema;			/* of the extension */
	Oid			function;		/* cuckoo_follow_change */
} CommandState;

/*
 * Become the owner of a table, like referential integrity, with settings of our
 * own, because commands can run the owner's event triggers.  An error also
 * undoes this.
 */
static CommandState
CommandsBegin(FunctionCallInfo fcinfo, Oid owner)
{
	CommandState state;

	GetUserIdAndSecContext(&state.user, &state.security);
	SetUserIdAndSecContext(owner, state.security | SECURITY_RESTRICTED_OPERATION |
						   SECURITY_LOCAL_USERID_CHANGE | SECURITY_NOFORCE_RLS);
	SPI_connect();
	state.guc_level = NewGUCNestLevel();
	(void) set_config_option("search_path", "pg_catalog, pg_temp", PGC_USERSET,
							 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	state.schema = get_namespace_name(get_func_namespace(fcinfo->flinfo->fn_oid));
	state.function = LookupFuncName(list_make2(makeString(state.schema),
												  makeString("cuckoo_follow_change")),
									   0, NULL, false);
	return state;
}

static void
CommandsEnd(const CommandState *state)
{
	AtEOXact_GUC(false, state->guc_level);
	SPI_finish();
	SetUserIdAndSecContext(state->user, state->security);
}

static void
RunCommand(const char *command)
{
	int			result = SPI_execute(command, false, 0);

	if (result < 0)
		elog(ERROR, "could not execute \"%s\": %s", command, SPI_result_code_string(result));
}

static char *
QualifiedName(Oid relid)
{
	char	   *name = get_rel_name(relid);

	if (name == NULL)
		CuckooFollowReportMissing(relid);
	return quote_qualified_identifier(get_namespace_name(get_rel_namespace(relid)), name);
}

/* The name of a trigger of ours, if there is one, or else one that is not in use */
static char *
TriggerName(const CommandState *state, const char *wanted, int type, Oid relid, Oid from,
			bool *exists)
{
	char	   *name = pstrdup(wanted);

	RunCommand(psprintf("SELECT tgname::text FROM pg_trigger WHERE tgfoid = %u AND tgrelid = %u AND tgtype = %d AND tgconstrrelid = %u",
						state->function, relid, type, from));
	*exists = SPI_processed > 0;
	if (*exists)
		return SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1);
	for (int i = 2; OidIsValid(get_trigger_oid(relid, name, true)) ||
		 ConstraintNameIsUsed(CONSTRAINT_RELATION, relid, name); i++)
		name = psprintf("%s%d", wanted, i);
	return name;
}

/* Make a trigger that does not exist, and let it fire always. */
static void
MakeTrigger(const CommandState *state, const char *wanted, int type, const char *events, Oid relid,
			Oid from, const char *more)
{
	bool		exists;
	char	   *name = TriggerName(state, wanted, type, relid, from, &exists);

	if (!exists)
		RunCommand(psprintf("CREATE %s %s AFTER %s ON %s %s %s EXECUTE FUNCTION %s()",
							OidIsValid(from) ? "CONSTRAINT TRIGGER" : "TRIGGER",
							quote_identifier(name), events, QualifiedName(relid), OidIsValid(from) ?
							psprintf("FROM %s FOR EACH ROW", QualifiedName(from)) : "", more,
							quote_qualified_identifier(state->schema, "cuckoo_follow_change")));
	RunCommand(psprintf("ALTER TABLE %s ENABLE ALWAYS TRIGGER %s", QualifiedName(relid),
						quote_identifier(name)));
}

/* Make the triggers that are missing.  The followed table must be locked but not open. */
static void
MakeTriggers(const CommandState *state, Oid table, Oid filter, const char *column)
{
	const char *name = quote_identifier(column);
	bool		exists;

	MakeTrigger(state, "cuckoo_follow_insert", INSERT_TRIGGER, "INSERT", table, filter, "");
	MakeTrigger(state, "cuckoo_follow_delete", DELETE_TRIGGER, "DELETE", table, filter, "");
	MakeTrigger(state, "cuckoo_follow_update", UPDATE_TRIGGER, "UPDATE", table, filter,
				psprintf("WHEN (OLD.%s IS DISTINCT FROM NEW.%s)", name, name));
	MakeTrigger(state, "cuckoo_follow_truncate", TRIGGER_TYPE_TRUNCATE, "TRUNCATE", table,
				InvalidOid, "");
	MakeTrigger(state, "cuckoo_follow_write", WRITE_TRIGGER, "DELETE", filter, InvalidOid, "");

	/* This one fires only for SQL, and gets the new names even if it exists. */
	name = TriggerName(state, "cuckoo_follow_refuse", REFUSE_TRIGGER, filter, InvalidOid, &exists);
	RunCommand(psprintf("CREATE OR REPLACE TRIGGER %s BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON %s EXECUTE FUNCTION %s(%s, %s, %s)",
						quote_identifier(name), QualifiedName(filter),
						quote_qualified_identifier(state->schema, "cuckoo_follow_change"),
						quote_literal_cstr(get_namespace_name(get_rel_namespace(table))),
						quote_literal_cstr(get_rel_name(table)), quote_literal_cstr(column)));
}

/*
 * Opening a table and its filter table
 */

/* Before it is locked: nobody may wait for a table of another role. */
static void
CheckOwner(Oid table)
{
	char	   *name = get_rel_name(table);

	if (name == NULL)
		CuckooFollowReportMissing(table);
	if (!CuckooOwnsTable(table, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE, name);
}

static void
CheckChanging(const char *name)
{
	PreventCommandIfReadOnly(name);
	if (IsolationUsesXactSnapshot())
		ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("%s requires the isolation level READ COMMITTED", name),
				errdetail("The isolation level of the transaction is %s.",
						   IsolationIsSerializable() ? "SERIALIZABLE" : "REPEATABLE READ"),
				errhint("Call it in a READ COMMITTED transaction of its own."));
}

/* A filter table and the followed table, open so that others refuse to run */
typedef struct FollowPair
{
	CuckooFollowed *followed;
	Relation	table;
	Relation	rel;			/* the filter table */
} FollowPair;

/*
 * Open both, which the caller must own.  what is something that must not happen
 * while a statement changes the table (the log may have a removal whose addition
 * is not written yet); NULL: nothing such.
 */
static FollowPair
OpenBoth(Oid filter, LOCKMODE table_mode, LOCKMODE mode, const char *what)
{
	FollowPair	pair;
	Oid			table;

	CheckOwner(filter);
	pair.rel = CuckooFollowOpen(filter, AccessShareLock, &pair.followed);
	table = pair.followed->table;
	if (!OidIsValid(table))
		CuckooFollowReport(pair.followed);
	/* Lock it again after the followed table.  Meanwhile, all can change. */
	table_close(pair.rel, AccessShareLock);
	LockRelationOid(table, table_mode);
	pair.rel = CuckooFollowOpen(filter, mode, &pair.followed);
	if (pair.followed->table != table)
		CuckooFollowReport(pair.followed);
	CheckOwner(filter);
	pair.table = table_open(table, NoLock);
	if (what != NULL)
	{
		CheckTableNotInUse(pair.table, what);
		if (pair.followed->state > CUCKOO_FOLLOWS_RESTORED)
			CuckooFollowReport(pair.followed);
	}
	return pair;
}

static void
CloseBoth(FollowPair *pair)
{
	CuckooFollowClose(pair->rel);
	table_close(pair->table, NoLock);
}

/*
 * Whether all triggers exist and fire always, also the one for TRUNCATE, which
 * nothing but a rebuild and cuckoo_follow_check cares for.
 */
static bool
HasAllTriggers(const CuckooFollowed *followed, Relation table)
{
	bool		truncate = false;

	for (int i = 0; table->trigdesc != NULL && i < table->trigdesc->numtriggers; i++)
	{
		Trigger    *trigger = &table->trigdesc->triggers[i];

		truncate |= trigger->tgtype == TRIGGER_TYPE_TRUNCATE &&
			trigger->tgenabled == TRIGGER_FIRES_ALWAYS && CuckooFollowIsOurs(trigger->tgfoid);
	}
	return truncate &&
		(followed->state == CUCKOO_FOLLOWS || followed->state == CUCKOO_FOLLOWS_RESTORED);
}

/*
 * The functions that change a filter table
 */

/* cuckoo_follow_fold(filter_table) -> bigint: rows of the log; NULL if another session folds */
PG_FUNCTION_INFO_V1(cuckoo_follow_fold);
Datum
cuckoo_follow_fold(PG_FUNCTION_ARGS)
{
	FollowPair	pair;
	CuckooBase	base;
	CuckooList	added = {NULL, 0, 0};
	CuckooList	removed = {NULL, 0, 0};
	CuckooDraft draft;
	int64		rows;

	CheckChanging("cuckoo_follow_fold");
	pair = OpenBoth(PG_GETARG_OID(0), AccessShareLock, RowExclusiveLock, "fold the changes of");
	if (!CuckooBaseLock(pair.rel, LockWaitSkip, &base) && base.row != NULL)
	{
		CloseBoth(&pair);
		PG_RETURN_NULL();
	}
	if (!base.built)
		CuckooBaseReportUnbuilt(pair.rel);
	CuckooDraftOpenValue(&draft, DatumGetCuckooFilterPCopy(base.f));
	CuckooBaseCheckFits(pair.rel, &draft.filter, CuckooFollowKey(pair.followed));

	/* Take a snapshot only now, when the base is locked. */
	PushActiveSnapshot(GetLatestSnapshot());
	rows = CuckooLogRead(pair.rel, &added, &removed, true);
	PopActiveSnapshot();
	CuckooLogSort(&added, &removed);
	if (added.count + removed.count > 0)
	{
		if (!CuckooLogApply(&draft, &added, false) || !CuckooLogApply(&draft, &removed, true))
			ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					errmsg("the filter in \"%s\" is full", RelationGetRelationName(pair.rel)),
					errdetail("It cannot grow by the additions of the log."),
					errhint("Call cuckoo_follow_rebuild."));
		CuckooBaseWrite(pair.rel, &base, CuckooDraftFinishValue(&draft), 1);
	}
	CloseBoth(&pair);
	PG_RETURN_INT64(rows);
}

/*
 * Repair the triggers of a followed table if some are missing or disabled, as
 * after a restore without triggers.  This locks out writers until the
 * transaction ends, so that the build misses no change.
 */
static void
RepairTriggers(FunctionCallInfo fcinfo, Oid filter)
{
	FollowPair	pair = OpenBoth(filter, AccessShareLock, AccessShareLock, NULL);
	Oid			table = pair.followed->table;
	const char *column = get_attname(table, pair.followed->column, false);
	Oid			owner = pair.table->rd_rel->relowner;
	bool		repair = !HasAllTriggers(pair.followed, pair.table);

	CuckooFollowCheckNames(pair.followed);
	/* Lock it again after the followed table. */
	table_close(pair.rel, AccessShareLock);
	if (repair)
		LockRelationOid(table, ShareRowExclusiveLock);
	CheckTableNotInUse(pair.table, "rebuild the filter of");
	table_close(pair.table, NoLock);
	if (repair)
	{
		CommandState state = CommandsBegin(fcinfo, owner);

		MakeTriggers(&state, table, filter, column);
		CommandsEnd(&state);
	}
}

/* cuckoo_follow_rebuild(filter_table, capacity, fpr) */
PG_FUNCTION_INFO_V1(cuckoo_follow_rebuild);
Datum
cuckoo_follow_rebuild(PG_FUNCTION_ARGS)
{
	uint64		capacity = 0;
	double		fpr = 0;
	FollowPair	pair;
	CuckooBase	base;
	CuckooFilter filter;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (!PG_ARGISNULL(1))
		capacity = CuckooCheckCapacity(PG_GETARG_FLOAT8(1));
	if (!PG_ARGISNULL(2))
		fpr = CuckooCheckFpr(PG_GETARG_FLOAT8(2));
	CheckChanging("cuckoo_follow_rebuild");
	RepairTriggers(fcinfo, PG_GETARG_OID(0));
	pair = OpenBoth(PG_GETARG_OID(0), AccessShareLock, RowExclusiveLock, "rebuild the filter of");
	CuckooBaseLock(pair.rel, LockWaitBlock, &base);
	if (DatumGetPointer(base.f) != NULL)
	{
		CuckooReadHeader(base.f, &filter);
		if (fpr == 0)
			fpr = filter.fpr;
		/* The empty base has the one given to cuckoo_follow. */
		if (capacity == 0 && !base.built)
			capacity = filter.capacity;
	}
	CuckooBaseBuild(pair.rel, pair.table, pair.followed, &base, fpr, capacity);
	CuckooFollowDepend(pair.rel, pair.followed);
	CloseBoth(&pair);
	PG_RETURN_VOID();
}

/* Refuse what cannot be followed. */
static void
CheckFollowable(Relation table, const char *column, AttrNumber number)
{
	const char *name = RelationGetRelationName(table);
	TriggerDesc *triggers = CopyTriggerDesc(table->trigdesc);
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
				errdetail("Only that session can read its rows."),
				errhint("Call cuckoo_follow in that session."));
	if (number == InvalidAttrNumber)
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_COLUMN),
				errmsg("column \"%s\" of relation \"%s\" does not exist", column, name));
	if (number < 0)
		ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("cannot follow system column \"%s\"", column),
				errdetail("It changes without firing a trigger."),
				errhint("Follow an ordinary column of the table."));
	CuckooFollowInitKey(&key, RelationGetRelid(table), number, CurrentMemoryContext);
	for (int i = 0; triggers != NULL && i < triggers->numtriggers; i++)
	{
		Trigger    *trigger = &triggers->triggers[i];
		Oid			filter = trigger->tgconstrrelid;

		if (!CuckooFollowIsOurs(trigger->tgfoid))
			continue;
		if (trigger->tgtype == WRITE_TRIGGER)
			ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					errmsg("cannot follow filter table \"%s\"", name),
					errdetail("It is written without firing triggers."),
					errhint("Follow the table that it follows."));
		if (OidIsValid(filter) && trigger->tgqual != NULL && CuckooFollowColumn(trigger->tgqual) == number)
			ereport(ERROR, errcode(ERRCODE_DUPLICATE_OBJECT),
					errmsg("column \"%s\" of table \"%s\" is followed already", column, name),
					errdetail("Its filter table is \"%s\".", get_rel_name(filter)),
					errhint("Call cuckoo_follow_rebuild to build the filter again."));
	}
}

/* cuckoo_follow(table_name, column_name, capacity, fpr, build) -> regclass: the filter table */
PG_FUNCTION_INFO_V1(cuckoo_follow);
Datum
cuckoo_follow(PG_FUNCTION_ARGS)
{
	CuckooParameters given = CuckooGetParameters(fcinfo, 2, 2);
	Oid			relid;
	Oid			space;
	Oid			filter_table;
	char	   *column;
	char	   *name;
	Relation	table;
	CommandState state;
	FollowPair	pair;
	CuckooBase	base = {NULL, false, (Datum) 0};
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
	filter.header = CuckooCheckParameters(&given);
	CheckChanging("cuckoo_follow");

	/* Readers go on; writers wait until the triggers exist. */
	CheckOwner(relid);
	table = relation_open(relid, ShareRowExclusiveLock);
	CheckFollowable(table, column, get_attnum(relid, column));
	CheckTableNotInUse(table, "follow");
	space = RelationGetNamespace(table);
	name = ChooseRelationName(RelationGetRelationName(table), column, "filter", space, false);

	/* The type may be in another schema than our functions. */
	state = CommandsBegin(fcinfo, table->rd_rel->relowner);
	type = get_func_rettype(LookupFuncName(list_make2(makeString(state.schema),
													  makeString("cuckoo_follow_filter")),
										   1, &argument, false));
	/* A restricted operation may not create temporary tables. */
	GetUserIdAndSecContext(&owner, &security);
	SetUserIdAndSecContext(owner, state.security | SECURITY_LOCAL_USERID_CHANGE);
	RunCommand(psprintf("CREATE %s TABLE %s (hash bigint, n bigint, delta integer NOT NULL, f %s, PRIMARY KEY (hash, n)) USING heap",
						table->rd_rel->relpersistence == RELPERSISTENCE_UNLOGGED ? "UNLOGGED" : "",
						quote_qualified_identifier(get_namespace_name(space), name),
						format_type_be_qualified(type)));
	SetUserIdAndSecContext(owner, security);
	relation_close(table, NoLock);
	filter_table = get_relname_relid(name, space);
	MakeTriggers(&state, relid, filter_table, column);
	CommandsEnd(&state);

	/* Until it is built, the base keeps the parameters. */
	pair = OpenBoth(filter_table, AccessShareLock, RowExclusiveLock, "follow");
	if (PG_ARGISNULL(4) || PG_GETARG_BOOL(4))
		CuckooBaseBuild(pair.rel, pair.table, pair.followed, &base, filter.fpr, filter.capacity);
	else
		CuckooBaseWrite(pair.rel, &base, CuckooBuildValue(&filter, NULL, 0), 0);
	CuckooFollowDepend(pair.rel, pair.followed);
	CloseBoth(&pair);
	PG_RETURN_OID(filter_table);
}

/* cuckoo_unfollow(filter_table) */
PG_FUNCTION_INFO_V1(cuckoo_unfollow);
Datum
cuckoo_unfollow(PG_FUNCTION_ARGS)
{
	Oid			filter = PG_GETARG_OID(0);
	Oid			table;
	FollowPair	pair;
	CommandState state;

	/* An older snapshot might not show that another column is followed. */
	CheckChanging("cuckoo_unfollow");
	pair = OpenBoth(filter, AccessExclusiveLock, AccessExclusiveLock, NULL);
	table = RelationGetRelid(pair.table);
	CheckTableNotInUse(pair.table, "stop following");
	state = CommandsBegin(fcinfo, pair.table->rd_rel->relowner);
	CloseBoth(&pair);
	RunCommand(psprintf("DROP TABLE %s", QualifiedName(filter)));

	/* All followed columns of the table share the trigger for TRUNCATE. */
	RunCommand(psprintf("SELECT string_agg(format('DROP TRIGGER %%I ON %%s', tgname, tgrelid::regclass), '; ') FROM pg_trigger "
						"WHERE tgrelid = %u AND tgfoid = %u HAVING bool_and(tgconstrrelid = 0)",
						table, state.function));
	if (SPI_processed > 0)
		RunCommand(SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1));
	CommandsEnd(&state);
	PG_RETURN_VOID();
}

/*
 * Lookups
 */

/*
 * Open a filter table that the caller may read, if nothing can be missing in it.
 * What is known of its triggers holds now, and must have held for the snapshot.
 */
static Relation
OpenForReading(Oid filter)
{
	CuckooFollowed *followed;
	Relation	rel;
	AclResult	result = pg_class_aclcheck(filter, GetUserId(), ACL_SELECT);

	if (result != ACLCHECK_OK)
		aclcheck_error(result, OBJECT_TABLE, get_rel_name(filter));
	rel = CuckooFollowOpen(filter, AccessShareLock, &followed);
	CuckooFollowCheckTrust(rel, &followed);
	return rel;
}

/* cuckoo_follow_contains(filter_table, key) -> boolean */
PG_FUNCTION_INFO_V1(cuckoo_follow_contains);
Datum
cuckoo_follow_contains(PG_FUNCTION_ARGS)
{
	Relation	rel = OpenForReading(PG_GETARG_OID(0));
	CuckooKey  *key = CuckooGetKey(fcinfo, 1);
	CuckooBase	base = CuckooBaseRead(rel);
	const CuckooReader *reader;
	uint64		hash;
	bool		found;

	if (!base.built)
		CuckooBaseReportUnbuilt(rel);
	reader = CuckooRead(base.f, 1);
	CuckooBaseCheckFits(rel, &reader->filter, NULL);
	hash = CuckooArgumentHash(key, PG_GETARG_DATUM(1), &reader->filter);
	found = CuckooReaderContains(reader, hash) || CuckooLogContains(rel, hash);
	table_close(rel, NoLock);
	PG_RETURN_BOOL(found);
}

/*
 * The base with the additions of the log, as a lookup sees them; NULL if it is
 * not built.
 */
static CuckooValue *
ReadFilter(Relation rel, const CuckooBase *base, int64 *log_rows)
{
	CuckooList	added = {NULL, 0, 0};
	CuckooDraft draft;

	*log_rows = CuckooLogRead(rel, &added, NULL, false);
	if (!base->built)
		return NULL;
	CuckooDraftOpenValue(&draft, DatumGetCuckooFilterPCopy(base->f));
	CuckooBaseCheckFits(rel, &draft.filter, NULL);
	if (!CuckooLogApply(&draft, &added, false))
		CuckooReportTooLarge(draft.filter.items, draft.filter.fpr);
	return CuckooDraftFinishValue(&draft);
}

/* cuckoo_follow_filter(filter_table) -> cuckoofilter: the base with the additions of the log */
PG_FUNCTION_INFO_V1(cuckoo_follow_filter);
Datum
cuckoo_follow_filter(PG_FUNCTION_ARGS)
{
	Relation	rel = OpenForReading(PG_GETARG_OID(0));
	int64		log_rows;
	CuckooBase	base = CuckooBaseRead(rel);
	CuckooValue *value = ReadFilter(rel, &base, &log_rows);

	if (value == NULL)
		CuckooBaseReportUnbuilt(rel);
	table_close(rel, NoLock);
	PG_RETURN_CUCKOOFILTER_P(value);
}

/* cuckoo_follow_check(filter_table) -> missing, log_rows, pinned, expected_fpr, triggers_enabled */
PG_FUNCTION_INFO_V1(cuckoo_follow_check);
Datum
cuckoo_follow_check(PG_FUNCTION_ARGS)
{
	FollowPair	pair = OpenBoth(PG_GETARG_OID(0), AccessShareLock, AccessShareLock, NULL);
	CuckooFilter filter;
	CuckooBase	base;
	CuckooValue *value;
	TupleDesc	desc;
	Datum		values[5];
	bool		nulls[5] = {false};
	int64		missing = 0;
	int64		log_rows;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	if (pair.followed->state == CUCKOO_FOLLOWS || pair.followed->state == CUCKOO_FOLLOWS_RENAMED)
		CuckooFollowCheckTrust(pair.rel, &pair.followed);
	base = CuckooBaseRead(pair.rel);
	if (!base.built)
		CuckooBaseCheckShown(pair.rel);
	value = ReadFilter(pair.rel, &base, &log_rows);
	values[1] = Int64GetDatum(log_rows);
	if (value != NULL)
	{
		CuckooList	hashes = CuckooFollowHashes(pair.table, pair.followed);

		CuckooOpenFilter(&filter, DatumGetCuckooFilterP(base.f));
		values[2] = Int64GetDatum((int64) CuckooFilterPinned(&filter));
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
	values[4] = BoolGetDatum(pair.followed->state == CUCKOO_FOLLOWS &&
							 HasAllTriggers(pair.followed, pair.table));
	table_close(pair.rel, NoLock);
	table_close(pair.table, NoLock);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls)));
}
