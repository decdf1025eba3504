/*-------------------------------------------------------------------------
 *
 * follow_target.c
 *	  Which filter tables a table's triggers write to, and which table a filter
 *	  table follows.
 *
 * PostgreSQL's own catalogs have this information.  The condition of the
 * update trigger names the column and, as a constant, the filter table:
 *
 *	OLD.c IS DISTINCT FROM NEW.c AND 'filter'::regclass IS NOT NULL
 *
 * PostgreSQL therefore follows renames, refuses to drop or alter either
 * without CASCADE, and dumps the data before the trigger.  The triggers for
 * INSERT and DELETE have no condition, because one would cost microseconds per
 * row.  They serve the targets of all update triggers of the table.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/pg_class.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/primnodes.h"
#include "rewrite/prs2lock.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "follow.h"

/* Whether a function is one of the trigger functions in follow_log.c. */
static bool
IsTriggerFunction(Oid function, const char *symbol)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	bool		found = false;

	if (!HeapTupleIsValid(tuple))
		return false;
	/* Only superusers can create functions in C. */
	if (((Form_pg_proc) GETSTRUCT(tuple))->prolang == ClanguageId)
	{
		bool		isnull;
		Datum		source = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_prosrc, &isnull);

		found = !isnull && strcmp(TextDatumGetCString(source), symbol) == 0;
	}
	ReleaseSysCache(tuple);
	return found;
}

/* What the condition of an update trigger consists of. */
typedef struct Condition
{
	int			old_columns;
	int			new_columns;
	int			filters;
	int			others;
	AttrNumber	old_column;
	AttrNumber	new_column;
	Oid			filter;
} Condition;

static bool
ConditionWalker(Node *node, void *context)
{
	Condition  *condition = (Condition *) context;

	if (node == NULL)
		return false;
	if (IsA(node, Var))
	{
		Var		   *var = (Var *) node;

		if (var->varno == PRS2_OLD_VARNO)
		{
			condition->old_columns++;
			condition->old_column = var->varattno;
		}
		else
		{
			condition->new_columns++;
			condition->new_column = var->varattno;
		}
	}
	else if (IsA(node, Const))
	{
		Const	   *constant = (Const *) node;

		if (constant->consttype == REGCLASSOID && !constant->constisnull)
		{
			condition->filters++;
			condition->filter = DatumGetObjectId(constant->constvalue);
		}
		else
			condition->others++;
	}
	else if (!IsA(node, BoolExpr) && !IsA(node, DistinctExpr) && !IsA(node, NullTest) &&
			 !IsA(node, RelabelType) && !IsA(node, List))
		condition->others++;
	return expression_tree_walker(node, ConditionWalker, context);
}

/*
 * Column and filter table of an update trigger:
 *
 *	OLD.c IS DISTINCT FROM NEW.c AND 'filter'::regclass IS NOT NULL
 *
 * With any other condition, the trigger would miss rows.
 */
static void
ReadCondition(Relation table, Trigger *trigger, AttrNumber *column, Oid *filter)
{
	Condition	condition;
	Node	   *node = trigger->tgqual == NULL ? NULL : stringToNode(trigger->tgqual);

	memset(&condition, 0, sizeof(condition));
	/* Stored qualifications may be lists of one. */
	if (node != NULL && IsA(node, List) && list_length((List *) node) == 1)
		node = linitial((List *) node);
	if (node != NULL && IsA(node, BoolExpr) && ((BoolExpr *) node)->boolop == AND_EXPR &&
		list_length(((BoolExpr *) node)->args) == 2 &&
		IsA(linitial(((BoolExpr *) node)->args), DistinctExpr) &&
		IsA(lsecond(((BoolExpr *) node)->args), NullTest) &&
		((NullTest *) lsecond(((BoolExpr *) node)->args))->nulltesttype == IS_NOT_NULL)
		(void) ConditionWalker(node, &condition);
	if (condition.old_columns != 1 || condition.new_columns != 1 || condition.filters != 1 ||
		condition.others != 0 || condition.old_column != condition.new_column ||
		condition.old_column <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("trigger \"%s\" of table \"%s\" was not made by cuckoo_follow",
						trigger->tgname, RelationGetRelationName(table)),
				 errdetail("Its condition does not name one column and its filter table."),
				 errhint("Drop the trigger, and call cuckoo_follow.")));
	*column = condition.old_column;
	*filter = condition.filter;
}

/*
 * The targets of the tables that this session has changed.  Invalidations make
 * us forget them.
 */
static HTAB *known_tables = NULL;

static void
ForgetTargets(Datum argument, Oid relid)
{
	HASH_SEQ_STATUS status;
	FollowTargets *targets;

	(void) argument;
	hash_seq_init(&status, known_tables);
	while ((targets = hash_seq_search(&status)) != NULL)
	{
		if (!OidIsValid(relid) || targets->table == relid)
			targets->valid = false;
		for (int i = 0; i < targets->count && targets->valid; i++)
		{
			if (targets->list[i].filter == relid)
				targets->valid = false;
		}
	}
}

/* Refuse a table and a filter table with different owners. */
static void
CheckOwner(Relation table, Relation filter)
{
	if (table->rd_rel->relowner != filter->rd_rel->relowner)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("table \"%s\" and its filter table \"%s\" have different owners",
						RelationGetRelationName(table), RelationGetRelationName(filter)),
				 errdetail("They belong to \"%s\" and \"%s\".",
						   GetUserNameFromId(table->rd_rel->relowner, true),
						   GetUserNameFromId(filter->rd_rel->relowner, true)),
				 errhint("Use ALTER TABLE ... OWNER TO for the filter table.")));
}

/*
 * Whether ALTER TYPE can change the hashes of a type's values.  Enum values
 * are hashed by their label, and composite values by the number and types of
 * their attributes.  After ALTER TYPE, existing rows have other hashes, but no
 * trigger has fired.
 */
static bool
CanBeAltered(Oid type)
{
	Oid			element = get_element_type(type);

	check_stack_depth();
	if (OidIsValid(element))
		return CanBeAltered(element);
	switch (get_typtype(type))
	{
		case TYPTYPE_DOMAIN:
			return CanBeAltered(getBaseType(type));
		case TYPTYPE_ENUM:
		case TYPTYPE_COMPOSITE:
			return true;
		case TYPTYPE_RANGE:
			return CanBeAltered(get_range_subtype(type));
		case TYPTYPE_MULTIRANGE:
			return CanBeAltered(get_multirange_range(type));
		default:
			return false;
	}
}

void
FollowInitKey(CuckooKey *key, Relation table, AttrNumber column, MemoryContext context)
{
	Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(table), column - 1);

	if (CanBeAltered(attribute->atttypid))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot follow column \"%s\" of table \"%s\", whose type is %s",
						NameStr(attribute->attname), RelationGetRelationName(table),
						format_type_be(attribute->atttypid)),
				 errdetail("ALTER TYPE of an enum or composite type changes the hashes of its values."),
				 errhint("Have a BEFORE trigger compute a column of another type, such as text.")));
	CuckooKeyInit(key, attribute->atttypid, attribute->attcollation, context);
}

static const char *
TriggerName(TriggerDesc *triggers, Oid trigger)
{
	for (int i = 0; i < triggers->numtriggers; i++)
	{
		if (triggers->triggers[i].tgoid == trigger)
			return triggers->triggers[i].tgname;
	}
	return "";
}

static CUCKOO_NORETURN void
ReportTwice(Relation table, const char *trigger, const char *other)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("triggers \"%s\" and \"%s\" of table \"%s\" would log changes twice",
					other, trigger, RelationGetRelationName(table)),
			 errhint("Drop the one that cuckoo_follow did not make.")));
}

/* Find the targets of a table, in the current memory context. */
static void
ReadTargets(Relation table, FollowTargets *targets)
{
	/* Each lock taken below can invalidate the table, which frees its own list. */
	TriggerDesc *triggers = CopyTriggerDesc(table->trigdesc);
	const char *inserts = NULL;
	const char *deletes = NULL;

	targets->count = 0;
	targets->list = palloc0(Max(triggers == NULL ? 0 : triggers->numtriggers, 1) * sizeof(FollowTarget));
	for (int i = 0; triggers != NULL && i < triggers->numtriggers; i++)
	{
		Trigger    *trigger = &triggers->triggers[i];
		FollowTarget *target = &targets->list[targets->count];
		Relation	filter;

		if (!TRIGGER_FOR_ROW(trigger->tgtype) ||
			!IsTriggerFunction(trigger->tgfoid, "cuckoo_follow_row"))
			continue;
		/* Disabled ones count as well: cuckoo_rebuild would enable them. */
		if (TRIGGER_FOR_INSERT(trigger->tgtype))
		{
			if (inserts != NULL)
				ReportTwice(table, trigger->tgname, inserts);
			inserts = trigger->tgname;
		}
		if (TRIGGER_FOR_DELETE(trigger->tgtype))
		{
			if (deletes != NULL)
				ReportTwice(table, trigger->tgname, deletes);
			deletes = trigger->tgname;
		}
		if (!TRIGGER_FOR_UPDATE(trigger->tgtype))
			continue;
		ReadCondition(table, trigger, &target->column, &target->filter);
		for (int j = 0; j < targets->count; j++)
		{
			if (targets->list[j].filter == target->filter)
				ReportTwice(table, trigger->tgname,
							TriggerName(triggers, targets->list[j].trigger));
		}
		target->trigger = trigger->tgoid;
		filter = FollowOpenTable(target->filter, AccessShareLock);
		CheckOwner(table, filter);
		table_close(filter, NoLock);
		FollowInitKey(&target->key, table, target->column, CurrentMemoryContext);
		targets->count++;
	}
	FreeTriggerDesc(triggers);
}

FollowTargets *
FollowFindTargets(Relation table)
{
	Oid			relid = RelationGetRelid(table);
	FollowTargets *targets;
	bool		found;

	if (known_tables == NULL)
	{
		HASHCTL		control;

		memset(&control, 0, sizeof(control));
		control.keysize = sizeof(Oid);
		control.entrysize = sizeof(FollowTargets);
		control.hcxt = CacheMemoryContext;
		known_tables = hash_create("followed tables", 16, &control,
								   HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
		CacheRegisterRelcacheCallback(ForgetTargets, (Datum) 0);
	}
	targets = hash_search(known_tables, &relid, HASH_FIND, NULL);
	if (targets != NULL && targets->valid)
		return targets;

	targets = hash_search(known_tables, &relid, HASH_ENTER, &found);
	if (found && targets->context != NULL)
		MemoryContextDelete(targets->context);
	targets->context = NULL;
	targets->count = 0;
	targets->list = NULL;
	do
	{
		FollowTargets fresh;
		MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "followed table",
													  ALLOCSET_SMALL_SIZES);
		MemoryContext old = MemoryContextSwitchTo(context);

		/* An invalidation while we read sets it to false again. */
		targets->valid = true;
		PG_TRY();
		{
			ReadTargets(table, &fresh);
		}
		PG_CATCH();
		{
			targets->valid = false;
			PG_RE_THROW();
		}
		PG_END_TRY();
		MemoryContextSwitchTo(old);
		if (!targets->valid)
		{
			MemoryContextDelete(context);
			continue;
		}
		MemoryContextSetParent(context, CacheMemoryContext);
		targets->context = context;
		targets->count = fresh.count;
		targets->list = fresh.list;
	} while (!targets->valid);
	return targets;
}

FollowTarget *
FollowFindTarget(Relation table, Oid filter)
{
	FollowTargets *targets = FollowFindTargets(table);

	for (int i = 0; i < targets->count; i++)
	{
		if (targets->list[i].filter == filter)
			return &targets->list[i];
	}
	return NULL;
}

static Oid
TableOwner(Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Oid			owner = InvalidOid;

	if (HeapTupleIsValid(tuple))
	{
		owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
		ReleaseSysCache(tuple);
	}
	return owner;
}

/*
 * Find the table by the update trigger's dependency on the filter table.
 * Anybody can create such a trigger on their own table, so other owners'
 * tables are ignored if there is one of the filter table's owner.  Otherwise
 * one is returned, so that the caller raises the error about different owners.
 */
Oid
FollowFindTable(Oid filter)
{
	Oid			owner = TableOwner(filter);
	Oid			foreign = InvalidOid;
	Relation	depends = table_open(DependRelationId, AccessShareLock);
	Relation	triggers = table_open(TriggerRelationId, AccessShareLock);
	Oid			found = InvalidOid;
	ScanKeyData keys[2];
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&keys[0], Anum_pg_depend_refclassid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(RelationRelationId));
	ScanKeyInit(&keys[1], Anum_pg_depend_refobjid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(filter));
	scan = systable_beginscan(depends, DependReferenceIndexId, true, NULL, 2, keys);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_depend depend = (Form_pg_depend) GETSTRUCT(tuple);
		ScanKeyData key;
		SysScanDesc trigger_scan;
		HeapTuple	trigger;

		if (depend->classid != TriggerRelationId)
			continue;
		ScanKeyInit(&key, Anum_pg_trigger_oid, BTEqualStrategyNumber, F_OIDEQ,
					ObjectIdGetDatum(depend->objid));
		trigger_scan = systable_beginscan(triggers, TriggerOidIndexId, true, NULL, 1, &key);
		trigger = systable_getnext(trigger_scan);
		if (HeapTupleIsValid(trigger))
		{
			Form_pg_trigger form = (Form_pg_trigger) GETSTRUCT(trigger);

			if (form->tgrelid != filter && TRIGGER_FOR_UPDATE(form->tgtype) &&
				IsTriggerFunction(form->tgfoid, "cuckoo_follow_row"))
			{
				if (TableOwner(form->tgrelid) != owner)
					foreign = form->tgrelid;
				else if (OidIsValid(found) && found != form->tgrelid)
					ereport(ERROR,
							(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
							 errmsg("filter table \"%s\" follows more than one table",
									get_rel_name(filter)),
							 errdetail("Triggers of \"%s\" and \"%s\" write to it.",
									   get_rel_name(Min(found, form->tgrelid)),
									   get_rel_name(Max(found, form->tgrelid))),
							 errhint("Drop the triggers that cuckoo_follow did not make.")));
				else
					found = form->tgrelid;
			}
		}
		systable_endscan(trigger_scan);
	}
	systable_endscan(scan);
	table_close(triggers, AccessShareLock);
	table_close(depends, AccessShareLock);
	return OidIsValid(found) ? found : foreign;
}

/* Which of a followed table's triggers this is; 0 if it is not like ours. */
static int
TriggerPart(Relation table, Trigger *trigger, Oid filter)
{
	const uint16 events = trigger->tgtype & TRIGGER_TYPE_EVENT_MASK;

	if (trigger->tgdeferrable || trigger->tgnattr != 0 || !TRIGGER_FOR_AFTER(trigger->tgtype))
		return 0;
	if (IsTriggerFunction(trigger->tgfoid, "cuckoo_follow_row") && TRIGGER_FOR_ROW(trigger->tgtype))
	{
		if (events == TRIGGER_TYPE_UPDATE)
		{
			AttrNumber	column;
			Oid			other;

			ReadCondition(table, trigger, &column, &other);
			return other == filter ? FOLLOW_TRIGGER_UPDATE : 0;
		}
		if (trigger->tgqual != NULL)
			return 0;
		if (events == TRIGGER_TYPE_INSERT)
			return FOLLOW_TRIGGER_INSERT;
		if (events == TRIGGER_TYPE_DELETE)
			return FOLLOW_TRIGGER_DELETE;
	}
	if (trigger->tgqual != NULL || TRIGGER_FOR_ROW(trigger->tgtype))
		return 0;
	if (IsTriggerFunction(trigger->tgfoid, "cuckoo_follow_end") &&
		events == (TRIGGER_TYPE_INSERT | TRIGGER_TYPE_UPDATE | TRIGGER_TYPE_DELETE))
		return FOLLOW_TRIGGER_END;
	if (IsTriggerFunction(trigger->tgfoid, "cuckoo_follow_truncate") &&
		events == TRIGGER_TYPE_TRUNCATE)
		return FOLLOW_TRIGGER_TRUNCATE;
	return 0;
}

int
FollowTriggersInOrder(Relation table, Oid filter, List **disabled)
{
	TriggerDesc *triggers = CopyTriggerDesc(table->trigdesc);	/* as above */
	int			parts = 0;

	for (int i = 0; triggers != NULL && i < triggers->numtriggers; i++)
	{
		Trigger    *trigger = &triggers->triggers[i];
		int			part = TriggerPart(table, trigger, filter);

		if (part != 0 && trigger->tgenabled != TRIGGER_FIRES_ALWAYS)
		{
			if (disabled != NULL)
				*disabled = lappend(*disabled, pstrdup(trigger->tgname));
		}
		else
			parts |= part;
	}
	FreeTriggerDesc(triggers);
	return parts;
}
