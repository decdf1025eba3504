/*-------------------------------------------------------------------------
 *
 * follow_table.c
 *	  A filter that follows a table: what a filter table is, what writes to it,
 *	  and whether a snapshot may trust it.
 *
 * Each followed column has a filter table with the columns
 *
 *		hash bigint, n bigint, delta integer, f cuckoofilter
 *
 * and the primary key (hash, n).  Row (0, 0) is the base: a filter, with delta 1
 * once it is built.  All others are the log: delta copies of hash were added,
 * or removed if it is negative.  n only makes rows different.
 *
 * A filter table is a private heap.  It is opened by its OID, and follow_log.c
 * reads and writes it below SQL: nothing but our own code runs when it is
 * written.  Whatever else is added to it, such as a trigger or a rule, is an
 * error at the next use.
 *
 * Triggers write the log before a statement ends, and in its own subtransaction.
 * A snapshot that shows a row of an earlier statement therefore shows its
 * addition, in the log or in the base.  These rules make that enough (3 to 5 are
 * in follow_log.c):
 *
 * 1. A lookup reads base and log in one snapshot, and finds what was removed
 *	  until a fold.  It is an error unless, in this snapshot, all triggers of one
 *	  table exist and fire always, or a subscription keeps the table in step.
 * 2. A removal in the log has its addition in the log or in the base, in every
 *	  snapshot, except within a transaction while a statement is not over.  Then
 *	  folds, rebuilds and TRUNCATE refuse to run: the table is in use.  Only one
 *	  table, with one trigger for each kind of change, or one subscription writes
 *	  to a log: changes that others made would be applied twice.
 *
 * Lookups only lock the filter table, and read in the catalogs what it follows.
 * What they have read stays known until an invalidation.  (Another transaction
 * that turns triggers off and changes rows is visible for some microseconds
 * before its invalidations arrive.)
 *
 * Each followed column has row triggers of its own, which say whose they are:
 *
 *		CREATE CONSTRAINT TRIGGER ... AFTER UPDATE ON tbl FROM filter
 *			FOR EACH ROW WHEN (OLD.col IS DISTINCT FROM NEW.col) ...
 *
 * and the same for INSERT and DELETE without a condition.  tgconstrrelid is the
 * filter table, and the condition names the column.  PostgreSQL keeps both
 * through renames and dumps, refuses to alter the column's type, and drops the
 * triggers with either table.  All columns share the trigger for TRUNCATE, which
 * cannot be a constraint.  Without it, keys that are gone are still found.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_subscription_rel.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "miscadmin.h"
#include "nodes/primnodes.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "cuckoo.h"
#include "follow_table.h"

/*
 * Whether ALTER TYPE can change the hashes of a type's values, at any depth: for
 * rows that exist then, no trigger fires.  Enum values are hashed by their label,
 * and composite values by the number and types of their attributes.
 */
/*
 * Enum values are hashed by their label, and composite values by the number and
 * types of their attributes.
 */
static bool
TypeCanBeAltered(Oid type)
{
	Oid			base = getBaseType(type);
	Oid			element = get_element_type(base);
	char		kind = get_typtype(base);

	check_stack_depth();
	if (OidIsValid(element))
		return TypeCanBeAltered(element);
	return kind == TYPTYPE_ENUM || kind == TYPTYPE_COMPOSITE ||
		(kind == TYPTYPE_RANGE && TypeCanBeAltered(get_range_subtype(base))) ||
		(kind == TYPTYPE_MULTIRANGE && TypeCanBeAltered(get_multirange_range(base)));
}

void
CuckooFollowInitKey(CuckooKey *key, Oid table, AttrNumber column, MemoryContext context)
{
	const char *name = get_attname(table, column, false);
	Oid			type;
	Oid			collation;
	int32		typmod;

	if (get_attgenerated(table, column) != '\0')
		ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("cannot follow generated column \"%s\" of table \"%s\"",
						name, get_rel_name(table)),
				errdetail("Its values can change without firing a trigger."),
				errhint("Have a BEFORE trigger compute an ordinary column."));
	get_atttypetypmodcoll(table, column, &type, &typmod, &collation);
	if (TypeCanBeAltered(type))
		ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("cannot follow column \"%s\" of table \"%s\", whose type is %s",
						name, get_rel_name(table), format_type_be(type)),
				errdetail("ALTER TYPE of an enum or composite type changes the hashes of its values."),
				errhint("Have a BEFORE trigger compute a column of another type, such as text."));
	CuckooKeyInit(key, type, collation, context);
}

/* The column of the old or the new row that an expression is; 0: none */
static AttrNumber
ConditionColumn(Node *node, int varno)
{
	/* Without an equality of its own, a type is relabelled. */
	while (IsA(node, RelabelType))
		node = (Node *) ((RelabelType *) node)->arg;
	return IsA(node, Var) && ((Var *) node)->varno == varno ? Max(((Var *) node)->varattno, 0) : 0;
}

AttrNumber
CuckooFollowColumn(const char *condition)
{
	DistinctExpr *node = (DistinctExpr *) stringToNode(condition);
	AttrNumber	column;

	if (!IsA(node, DistinctExpr))
		return 0;
	column = ConditionColumn(linitial(node->args), PRS2_OLD_VARNO);
	return column == ConditionColumn(lsecond(node->args), PRS2_NEW_VARNO) ? column : 0;
}

bool
CuckooFollowIsOurs(Oid function)
{
	FmgrInfo	info;

	fmgr_info(function, &info);
	return info.fn_addr == cuckoo_follow_change;
}

Oid
CuckooFollowPrimaryKey(Relation rel)
{
	if (!rel->rd_indexvalid)
		list_free(RelationGetIndexList(rel));
	return rel->rd_pkindex;
}

/*
 * Whether an index is on (hash, n).  There are two such while another session
 * runs REINDEX CONCURRENTLY.
 */
static bool
FilterIndexFits(Oid indexid)
{
	Relation	index = index_open(indexid, AccessShareLock);
	Form_pg_index form = index->rd_index;
	bool		fits = form->indnatts == 2 && form->indimmediate && !form->indisexclusion &&
		form->indkey.values[0] == COLUMN_HASH && form->indkey.values[1] == COLUMN_NUMBER &&
		heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL);

	index_close(index, AccessShareLock);
	return fits;
}

/*
 * What a filter table has that cuckoo_follow did not make; NULL: nothing.  (To
 * read a catalog can free the triggers of an open table.)
 */
static const char *
FilterAddition(Relation rel)
{
	TupleDesc	desc = RelationGetDescr(rel);
	TriggerDesc *triggers = CopyTriggerDesc(rel->trigdesc);
	List	   *indexes = RelationGetIndexList(rel);

	for (int i = 0; triggers != NULL && i < triggers->numtriggers; i++)
	{
		Trigger    *trigger = &triggers->triggers[i];

		if (trigger->tgisinternal)
			return psprintf("constraint \"%s\"", get_constraint_name(trigger->tgconstraint));
		if (i > 0 || !CuckooFollowIsOurs(trigger->tgfoid) ||
			trigger->tgtype != TRIGGER_TYPE_DELETE || trigger->tgqual != NULL)
			return psprintf("trigger \"%s\"", trigger->tgname);
	}
	for (int i = COLUMN_FILTER; i < desc->natts; i++)
	{
		if (!TupleDescAttr(desc, i)->attisdropped)
			return psprintf("column \"%s\"", NameStr(TupleDescAttr(desc, i)->attname));
	}
	for (int i = 0; i < list_length(indexes); i++)
	{
		if (!FilterIndexFits(list_nth_oid(indexes, i)))
			return psprintf("index \"%s\"", get_rel_name(list_nth_oid(indexes, i)));
	}
	return rel->rd_rules != NULL ? "a rule" :
		rel->rd_rel->relrowsecurity ? "row-level security" :
		rel->rd_rel->relispartition ? "a partitioned table that it is part of" :
		desc->constr != NULL && desc->constr->num_check > 0 ?
		psprintf("constraint \"%s\"", desc->constr->check[0].ccname) :
		TupleDescAttr(desc, COLUMN_FILTER - 1)->attnotnull ? "a NOT NULL constraint on its filter" : NULL;
}

/* Refuse what is no filter table, and what cuckoo_follow did not make of one. */
static void
FilterCheck(Relation rel)
{
	static const Oid types[] = {INT8OID, INT8OID, INT4OID};
	TupleDesc	desc = RelationGetDescr(rel);
	bool		fits = rel->rd_rel->relkind == RELKIND_RELATION &&
		rel->rd_rel->relam == HEAP_TABLE_AM_OID && desc->natts >= COLUMN_FILTER;
	const char *addition;

	/* A dropped column has no type. */
	for (int i = 0; fits && i < (int) lengthof(types); i++)
		fits = TupleDescAttr(desc, i)->atttypid == types[i];
	if (!fits || !CuckooIsFilterType(TupleDescAttr(desc, COLUMN_FILTER - 1)->atttypid) ||
		!OidIsValid(CuckooFollowPrimaryKey(rel)) || !FilterIndexFits(CuckooFollowPrimaryKey(rel)))
		ereport(ERROR, errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("\"%s\" is not a filter table", RelationGetRelationName(rel)),
				errdetail("A filter table has the columns hash bigint, n bigint, delta integer and f cuckoofilter, and the primary key (hash, n)."),
				errhint("cuckoo_follow makes such a table."));
	addition = FilterAddition(rel);
	if (addition != NULL)
		ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("filter table \"%s\" was altered", RelationGetRelationName(rel)),
				errdetail("It has %s, which cuckoo_follow did not make.", addition),
				errhint("Remove that from the filter table."));
}

/* Scan a catalog for rows whose columns have these values. */
static SysScanDesc
CatalogScan(Relation rel, Oid index, int count, AttrNumber first, Oid value,
			AttrNumber second, Oid other)
{
	ScanKeyData keys[2];

	ScanKeyInit(&keys[0], first, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(value));
	ScanKeyInit(&keys[1], second, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(other));
	return systable_beginscan(rel, index, true, NULL, count, keys);
}

/* Remember when a row of a catalog was made, to compare it with snapshots. */
static void
FollowedSetSince(CuckooFollowed *followed, int place, HeapTuple tuple)
{
	TransactionId xid = HeapTupleHeaderGetXmin(tuple->t_data);

	followed->since[place] = xid;
	followed->since_command[place] = TransactionIdIsCurrentTransactionId(xid) ?
		HeapTupleHeaderGetCmin(tuple->t_data) : FirstCommandId;
}

bool
CuckooFollowShown(const CuckooFollowed *followed, Snapshot snapshot)
{
	bool		shown = true;

	for (int i = 0; i < (int) lengthof(followed->since); i++)
		shown &= !XidInMVCCSnapshot(followed->since[i], snapshot) ||
			(TransactionIdIsCurrentTransactionId(followed->since[i]) &&
			 followed->since_command[i] < snapshot->curcid);
	return shown;
}

/* Whether a subscription writes a table, and has copied it */
static bool
FollowedIsReceived(CuckooFollowed *followed)
{
	Relation	rel = table_open(SubscriptionRelRelationId, AccessShareLock);
	SysScanDesc scan = CatalogScan(rel, SubscriptionRelSrrelidSrsubidIndexId, 1,
								   Anum_pg_subscription_rel_srrelid, followed->filter, 0, 0);
	HeapTuple	tuple;
	bool		received = false;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		char		state = ((Form_pg_subscription_rel) GETSTRUCT(tuple))->srsubstate;

		if (state != SUBREL_STATE_READY && state != SUBREL_STATE_SYNCDONE)
			continue;
		received = true;
		FollowedSetSince(followed, 0, tuple);
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return received;
}

/*
 * Find what a filter table follows, by the triggers that name it.  Anybody who
 * has the privilege TRIGGER on the filter table can create one on a table of
 * their own, which does not count.
 */
static void
FollowedFind(CuckooFollowed *followed, Oid owner)
{
	Relation	pg_depend = table_open(DependRelationId, AccessShareLock);
	Relation	pg_trigger = table_open(TriggerRelationId, AccessShareLock);
	SysScanDesc scan = CatalogScan(pg_depend, DependReferenceIndexId, 2, Anum_pg_depend_refclassid,
								   RelationRelationId, Anum_pg_depend_refobjid, followed->filter);
	HeapTuple	tuple;
	Oid			table = InvalidOid;
	int			types = 0;
	int			count = 0;
	bool		always = followed->queues;
	bool		foreign = false;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_depend depend = (Form_pg_depend) GETSTRUCT(tuple);
		Form_pg_trigger trigger;
		SysScanDesc found;

		if (depend->classid != TriggerRelationId)
			continue;
		found = CatalogScan(pg_trigger, TriggerOidIndexId, 1, Anum_pg_trigger_oid, depend->objid, 0, 0);
		tuple = systable_getnext(found);
		trigger = HeapTupleIsValid(tuple) ? (Form_pg_trigger) GETSTRUCT(tuple) : NULL;
		if (trigger != NULL && trigger->tgconstrrelid == followed->filter &&
			CuckooFollowIsOurs(trigger->tgfoid) &&
			GetSysCacheOid1(RELOID, Anum_pg_class_relowner, ObjectIdGetDatum(trigger->tgrelid)) == owner)
		{
			bool		no_condition;
			Datum		condition = heap_getattr(tuple, Anum_pg_trigger_tgqual,
												 RelationGetDescr(pg_trigger), &no_condition);

			foreign |= (types & trigger->tgtype & TRIGGER_TYPE_EVENT_MASK) != 0 ||
				(OidIsValid(table) && table != trigger->tgrelid) ||
				get_rel_relkind(trigger->tgrelid) != RELKIND_RELATION ||
				trigger->tgdeferrable || trigger->tgattr.dim1 > 0;
			table = trigger->tgrelid;
			types |= trigger->tgtype;
			always &= trigger->tgenabled == TRIGGER_FIRES_ALWAYS;
			if (!foreign)
				FollowedSetSince(followed, count++, tuple);
			if (!no_condition)
			{
				followed->column = CuckooFollowColumn(TextDatumGetCString(condition));
				foreign |= followed->column == 0;
			}
		}
		systable_endscan(found);
	}
	systable_endscan(scan);
	table_close(pg_trigger, AccessShareLock);
	table_close(pg_depend, AccessShareLock);
	followed->state = foreign ? CUCKOO_FOLLOWS_SEVERAL : followed->column == 0 ? CUCKOO_FOLLOWS_NOTHING :
		always && types == ROW_TRIGGERS ? CUCKOO_FOLLOWS : CUCKOO_FOLLOWS_PARTLY;
	followed->table = table;
}

/* Filter tables of which something is known, and how often something was forgotten */
static HTAB *all_followed = NULL;
static CuckooFollowed *last_followed = NULL;
static uint64 forgotten = 0;

static void
FollowedForget(Datum argument, Oid relid)
{
	HASH_SEQ_STATUS scan;
	CuckooFollowed *followed;

	(void) argument;
	forgotten++;
	hash_seq_init(&scan, all_followed);
	while ((followed = hash_seq_search(&scan)) != NULL)
		followed->known &= OidIsValid(relid) && followed->filter != relid && followed->table != relid;
}

/* Subscriptions do not invalidate the tables that they write to. */
static void
FollowedForgetReceived(Datum argument, int cache, uint32 hash)
{
	(void) cache;
	(void) hash;
	FollowedForget(argument, InvalidOid);
}

/* Free what was forgotten, such as that of a dropped table. */
static void
FollowedSweep(void)
{
	HASH_SEQ_STATUS scan;
	CuckooFollowed *followed;

	last_followed = NULL;
	hash_seq_init(&scan, all_followed);
	while ((followed = hash_seq_search(&scan)) != NULL)
	{
		if (followed->known)
			continue;
		MemoryContextDelete(followed->context);
		(void) hash_search(all_followed, &followed->filter, HASH_REMOVE, NULL);
	}
}

/* What is known of a filter table; NULL: nothing */
static CuckooFollowed *
FollowedLookUp(Oid filter)
{
	if (all_followed == NULL)
		return NULL;
	if (last_followed == NULL || last_followed->filter != filter)
		last_followed = hash_search(all_followed, &filter, HASH_FIND, NULL);
	return last_followed != NULL && last_followed->known ? last_followed : NULL;
}

/*
 * Find out what writes to a filter table.  It stays known only if nothing was
 * altered meanwhile, and if altering one of the two tables is what would change
 * it: dropping a second trigger elsewhere, for example, is not noticed.
 */
static CuckooFollowed *
FollowedExamine(Relation rel)
{
	HASHCTL		control = {.keysize = sizeof(Oid), .entrysize = sizeof(CuckooFollowed)};
	CuckooFollowed made = {.filter = RelationGetRelid(rel)};
	CuckooFollowed *followed;
	uint64		before;

	if (all_followed == NULL)
	{
		all_followed = hash_create("followed columns", 16, &control, HASH_ELEM | HASH_BLOBS);
		CacheRegisterRelcacheCallback(FollowedForget, (Datum) 0);
		CacheRegisterSyscacheCallback(SUBSCRIPTIONRELMAP, FollowedForgetReceived, (Datum) 0);
	}
	before = forgotten;
	FilterCheck(rel);
	made.queues = rel->trigdesc != NULL && rel->trigdesc->triggers[0].tgenabled == TRIGGER_FIRES_ALWAYS;
	FollowedFind(&made, rel->rd_rel->relowner);
	if (FollowedIsReceived(&made))
		made.state = made.state == CUCKOO_FOLLOWS_NOTHING ? CUCKOO_RECEIVED : CUCKOO_FOLLOWS_SEVERAL;
	made.context = AllocSetContextCreate(CurrentMemoryContext, "followed column", ALLOCSET_SMALL_SIZES);
	if (made.state == CUCKOO_FOLLOWS || made.state == CUCKOO_FOLLOWS_PARTLY)
		CuckooFollowInitKey(&made.key, made.table, made.column, made.context);
	else
		made.table = InvalidOid;

	FollowedSweep();
	followed = hash_search(all_followed, &made.filter, HASH_ENTER, NULL);
	made.known = before == forgotten && (OidIsValid(made.table) || made.state == CUCKOO_RECEIVED);
	*followed = made;
	MemoryContextSetParent(made.context, TopMemoryContext);
	return followed;
}

/*
 * A lock that the transaction has already does not take in invalidations, but
 * its newest snapshot may show what another transaction has done since.
 */
Relation
CuckooFollowOpen(Oid filter, LOCKMODE mode, CuckooFollowed **followed)
{
	Relation	rel = try_relation_open(filter, mode);

	if (rel == NULL)
		ereport(ERROR, errcode(ERRCODE_UNDEFINED_TABLE),
				errmsg("relation with OID %u does not exist", filter));
	AcceptInvalidationMessages();
	*followed = FollowedLookUp(filter);
	if (*followed == NULL)
		*followed = FollowedExamine(rel);
	return rel;
}

void
CuckooFollowClose(Relation rel)
{
	table_close(rel, NoLock);
	CommandCounterIncrement();
}

CUCKOO_NORETURN void
CuckooFollowReport(const CuckooFollowed *followed)
{
	static const struct
	{
		const char *message;
		const char *detail;
		const char *hint;
	}			reports[] = {
		[CUCKOO_RECEIVED] = {"follows no table", "A subscription writes to it.",
		"Call this function on the publisher."},
		[CUCKOO_FOLLOWS_NOTHING] = {"follows no table", "No table of its owner has the update trigger that names it.",
		"Give both tables the same owner. If the table, its column or the trigger is gone, drop the filter table, and call cuckoo_follow. On a subscriber, wait until the subscription has copied it."},
		[CUCKOO_FOLLOWS_SEVERAL] = {"does not follow one table", "Triggers that cuckoo_follow did not make, or a subscription and triggers, write to it.",
		"Drop the triggers that cuckoo_follow did not make. A subscriber follows its own table or subscribes to the filter table, not both."},
	};
	const char *name = get_rel_name(followed->filter);

	if (OidIsValid(followed->table))
		ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("triggers of table \"%s\" are missing or disabled", get_rel_name(followed->table)),
				errdetail("Changes may be missing in filter table \"%s\".", name),
				errhint("Call cuckoo_follow_rebuild, which also repairs the triggers."));
	ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			errmsg("filter table \"%s\" %s", name, reports[followed->state].message),
			errdetail("%s", reports[followed->state].detail),
			errhint("%s", reports[followed->state].hint));
}

List *
CuckooFollowFilters(Relation table)
{
	TriggerDesc *triggers = CopyTriggerDesc(table->trigdesc);
	List	   *filters = NIL;

	for (int i = 0; triggers != NULL && i < triggers->numtriggers; i++)
	{
		Trigger    *trigger = &triggers->triggers[i];

		if (trigger->tgtype == UPDATE_TRIGGER && OidIsValid(trigger->tgconstrrelid) &&
			CuckooFollowIsOurs(trigger->tgfoid))
			filters = lappend_oid(filters, trigger->tgconstrrelid);
	}
	return filters;
}

CuckooFollowed *
CuckooFollowByTable(Oid filter, Relation table)
{
	CuckooFollowed *followed = FollowedLookUp(filter);

	if (followed != NULL && followed->table == RelationGetRelid(table))
		return followed;
	if (!list_member_oid(CuckooFollowFilters(table), filter))
		return NULL;
	if (followed == NULL)
		table_close(CuckooFollowOpen(filter, RowExclusiveLock, &followed), NoLock);
	else
	{
		/* That another table has got such triggers was not noticed. */
		followed->known = false;
		followed->table = InvalidOid;
		followed->state = CUCKOO_FOLLOWS_SEVERAL;
	}
	if (followed->table != RelationGetRelid(table))
		CuckooFollowReport(followed);
	return followed;
}
