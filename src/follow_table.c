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
 * written.  A trigger refuses SQL that writes to it, except ALTER TABLE and what a
 * subscription or a superuser writes as for a replica.  (A subscriber's filter
 * table need not have it.)  Whatever else it has, such as a trigger, a rule or a
 * parent, is an error at the next use, but not when that is gone again.
 *
 * Triggers write the log before a statement ends, and in its own subtransaction.
 * A snapshot that shows a row of an earlier statement therefore shows its
 * addition, in the log or in the base.  (COPY FREEZE, and an ALTER TABLE of the
 * own transaction that rewrites the table, show rows that are newer than the
 * snapshot.)  These rules make that enough (3 to 5 are in follow_log.c):
 *
 * 1. A lookup reads base and log in one snapshot, and finds what was removed
 *	  until a fold.  It is an error unless, in this snapshot, all triggers of one
 *	  table and of the filter table are as cuckoo_follow makes them, or all tables
 *	  of the subscription that writes to the filter table are in step.  (Whether
 *	  it has missed changes, the subscriber cannot know: see docs/guide.md.)
 * 2. A removal in the log has its addition in the log or in the base, in every
 *	  snapshot, except within a transaction while a statement is not over.  Then
 *	  folds, rebuilds and TRUNCATE refuse to run: the table is in use.  Only one
 *	  table, with one trigger for each kind of change, or one subscription writes to
 *	  a log: changes that others made would be applied twice.
 *
 * Lookups only lock the filter table, and read in the catalogs what it follows.
 * What they have read stays known until an invalidation.  COMMIT sends it some
 * microseconds after other sessions see the rows of the transaction, COMMIT
 * PREPARED only after deleting the files of tables that it drops.  Until then,
 * others do not know that the transaction has turned triggers off.
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
 * People replace tables and columns by renaming two of them.  Therefore the
 * trigger that refuses SQL has the names of schema, table and column as
 * arguments, as they were when the column was followed or its triggers were last
 * repaired.  While they differ, changes are logged, but lookups are errors.  A
 * rebuild takes the new names only if nothing else has the old ones.
 *
 * A dump does not keep that the filter table depends on the followed one.  Without
 * that, lookups are errors until a rebuild: a restore can distribute rows among
 * partitions otherwise (by the hash of an enum), change their encoding, or make the
 * triggers long after others have begun to write.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_subscription.h"
#include "catalog/pg_subscription_rel.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "miscadmin.h"
#include "nodes/primnodes.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "follow_table.h"

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
	if (CuckooTypeCanBeAltered(type))
		ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("cannot follow column \"%s\" of table \"%s\", whose type is %s",
						name, get_rel_name(table), format_type_be(type)),
				errdetail("ALTER TYPE of an enum or composite type changes the hashes of its values."),
				errhint("Have a BEFORE trigger compute a column of another type, such as text."));
	CuckooKeyInit(key, type, collation, context);
}

/* The variable of the old or the new row that an expression is; NULL: none */
static Var *
ConditionVar(Node *node, int varno)
{
	/* Without an equality of its own, a type is relabelled. */
	while (IsA(node, RelabelType))
		node = (Node *) ((RelabelType *) node)->arg;
	return IsA(node, Var) && ((Var *) node)->varno == varno && ((Var *) node)->varattno > 0 ?
		(Var *) node : NULL;
}

AttrNumber
CuckooFollowColumn(const char *condition)
{
	DistinctExpr *node = (DistinctExpr *) stringToNode(condition);
	Var		   *old;
	Var		   *new;

	if (!IsA(node, DistinctExpr))
		return 0;
	old = ConditionVar(linitial(node->args), PRS2_OLD_VARNO);
	new = ConditionVar(lsecond(node->args), PRS2_NEW_VARNO);
	return old != NULL && new != NULL && old->varattno == new->varattno &&
		node->opno == lookup_type_cache(old->vartype, TYPECACHE_EQ_OPR)->eq_opr ? old->varattno : 0;
}

bool
CuckooFollowIsOurs(Oid function)
{
	return CuckooIsFunction(function, "cuckoo_follow_change");
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
 * A sentence on what a filter table has that cuckoo_follow did not make; NULL:
 * nothing.  (To read a catalog can free the triggers of an open table.)
 */
static const char *
FilterAlteration(Relation rel)
{
	TupleDesc	desc = RelationGetDescr(rel);
	TriggerDesc *triggers = CopyTriggerDesc(rel->trigdesc);
	List	   *indexes = RelationGetIndexList(rel);

	for (int i = 0; triggers != NULL && i < triggers->numtriggers; i++)
	{
		Trigger    *trigger = &triggers->triggers[i];

		if (OidIsValid(trigger->tgconstraint))
			return psprintf(_("It has constraint \"%s\", which cuckoo_follow did not make."),
							get_constraint_name(trigger->tgconstraint));
		if (!CuckooFollowIsOurs(trigger->tgfoid) || trigger->tgqual != NULL || trigger->tgnattr > 0 ||
			(trigger->tgtype != WRITE_TRIGGER && trigger->tgtype != REFUSE_TRIGGER) || i > 1)
			return psprintf(_("It has trigger \"%s\", which cuckoo_follow did not make."),
							trigger->tgname);
	}
	for (int i = COLUMN_FILTER; i < desc->natts; i++)
	{
		if (!TupleDescAttr(desc, i)->attisdropped)
			return psprintf(_("It has column \"%s\", which cuckoo_follow did not make."),
							NameStr(TupleDescAttr(desc, i)->attname));
	}
	for (int i = 0; i < list_length(indexes); i++)
	{
		if (!FilterIndexFits(list_nth_oid(indexes, i)))
			return psprintf(_("It has index \"%s\", which cuckoo_follow did not make."),
							get_rel_name(list_nth_oid(indexes, i)));
	}
	if (desc->constr != NULL && desc->constr->num_check > 0)
		return psprintf(_("It has constraint \"%s\", which cuckoo_follow did not make."),
						desc->constr->check[0].ccname);
	return rel->rd_rules != NULL ? _("It has a rule, which cuckoo_follow did not make.") :
		rel->rd_rel->relrowsecurity ? _("It has row-level security, which cuckoo_follow did not enable.") :
		has_superclass(RelationGetRelid(rel)) ? _("It inherits from a table, through which SQL can write to it.") :
		TupleDescAttr(desc, COLUMN_FILTER - 1)->attnotnull ?
		_("Its filter has a NOT NULL constraint, which cuckoo_follow did not make.") : NULL;
}

/* Refuse what is no filter table, and what cuckoo_follow did not make of one. */
static void
FilterCheck(Relation rel)
{
	static const Oid types[] = {INT8OID, INT8OID, INT4OID};
	TupleDesc	desc = RelationGetDescr(rel);
	bool		fits = rel->rd_rel->relkind == RELKIND_RELATION &&
		rel->rd_rel->relam == HEAP_TABLE_AM_OID && desc->natts >= COLUMN_FILTER;
	const char *alteration;

	/* A dropped column has no type. */
	for (int i = 0; fits && i < (int) lengthof(types); i++)
		fits = TupleDescAttr(desc, i)->atttypid == types[i];
	if (!fits || !CuckooIsFilterType(TupleDescAttr(desc, COLUMN_FILTER - 1)->atttypid) ||
		!OidIsValid(CuckooFollowPrimaryKey(rel)) || !FilterIndexFits(CuckooFollowPrimaryKey(rel)))
		ereport(ERROR, errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("\"%s\" is not a filter table", RelationGetRelationName(rel)),
				errdetail("A filter table has the columns hash bigint, n bigint, delta integer and f cuckoofilter, and the primary key (hash, n)."),
				errhint("cuckoo_follow makes such a table."));
	alteration = FilterAlteration(rel);
	if (alteration != NULL)
		ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("filter table \"%s\" was altered", RelationGetRelationName(rel)),
				errdetail_internal("%s", alteration),
				errhint("Restore the filter table as cuckoo_follow made it."));
}

/* Scan a catalog, by an index if there is one, for rows whose columns have these values. */
static SysScanDesc
CatalogScan(Relation rel, Oid index, int count, AttrNumber first, Oid value,
			AttrNumber second, Oid other)
{
	ScanKeyData keys[2];

	ScanKeyInit(&keys[0], first, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(value));
	ScanKeyInit(&keys[1], second, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(other));
	return systable_beginscan(rel, index, OidIsValid(index), NULL, count, keys);
}

/* Remember who made a row of a catalog, to compare it with snapshots. */
static void
FollowedAddSince(CuckooFollowed *followed, HeapTuple tuple)
{
	TransactionId xid = HeapTupleHeaderGetXmin(tuple->t_data);
	CommandId	command = TransactionIdIsCurrentTransactionId(xid) ?
		HeapTupleHeaderGetCmin(tuple->t_data) : FirstCommandId;

	for (int i = 0; i < followed->since_count; i++)
	{
		if (followed->since[i].xid == xid)
		{
			followed->since[i].command = Max(followed->since[i].command, command);
			return;
		}
	}
	followed->since = followed->since == NULL ?
		MemoryContextAlloc(followed->context, sizeof(FollowSince)) :
		repalloc(followed->since, (followed->since_count + 1) * sizeof(FollowSince));
	followed->since[followed->since_count++] = (FollowSince) {xid, command};
}

/*
 * Whether the triggers or the subscription are already as they are now in a
 * snapshot.  Nothing older counts: they may have been off, and repaired since.
 * (XidInMVCCSnapshot never says that the own transaction is running.)
 */
static bool
FollowedIsShown(const CuckooFollowed *followed, Snapshot snapshot)
{
	for (int i = 0; i < followed->since_count; i++)
	{
		const FollowSince *since = &followed->since[i];

		if (TransactionIdIsCurrentTransactionId(since->xid) ? since->command >= snapshot->curcid :
			XidInMVCCSnapshot(since->xid, snapshot))
			return false;
	}
	return true;
}

/*
 * Find the subscription that writes to a filter table.  A table that has just
 * been copied is ahead of the others, and the followed table can be any table of
 * the subscription: all have to be ready.
 */
static void
FollowedFindSubscription(CuckooFollowed *followed)
{
	Relation	rel = table_open(SubscriptionRelRelationId, AccessShareLock);
	SysScanDesc scan = CatalogScan(rel, SubscriptionRelSrrelidSrsubidIndexId, 1,
								   Anum_pg_subscription_rel_srrelid, followed->filter, 0, 0);
	HeapTuple	tuple;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Oid			subscription = ((Form_pg_subscription_rel) GETSTRUCT(tuple))->srsubid;
		SysScanDesc others;
		bool		ready = true;

		/* A copy of a database has such rows of its template's subscriptions. */
		if (GetSysCacheOid1(SUBSCRIPTIONOID, Anum_pg_subscription_subdbid,
							ObjectIdGetDatum(subscription)) != MyDatabaseId)
			continue;
		others = CatalogScan(rel, InvalidOid, 1, Anum_pg_subscription_rel_srsubid,
							 subscription, 0, 0);
		while (HeapTupleIsValid(tuple = systable_getnext(others)))
		{
			ready &= ((Form_pg_subscription_rel) GETSTRUCT(tuple))->srsubstate == SUBREL_STATE_READY;
			FollowedAddSince(followed, tuple);
		}
		systable_endscan(others);
		followed->state = followed->state != CUCKOO_FOLLOWS_NOTHING ? CUCKOO_FOLLOWS_SEVERAL :
			ready ? CUCKOO_RECEIVED : CUCKOO_RECEIVED_PARTLY;
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
}

/*
 * Read the triggers of the filter table itself, which FilterCheck has seen.
 * Returns whether both exist and fire as they should.
 */
static bool
FollowedReadOwnTriggers(CuckooFollowed *followed, const TriggerDesc *triggers)
{
	bool		refuses = false;

	for (int i = 0; triggers != NULL && i < triggers->numtriggers; i++)
	{
		const Trigger *trigger = &triggers->triggers[i];

		if (trigger->tgtype == WRITE_TRIGGER)
			followed->queues = trigger->tgenabled == TRIGGER_FIRES_ALWAYS;
		else if (trigger->tgnargs == (int) lengthof(followed->names))
		{
			refuses = trigger->tgenabled == TRIGGER_FIRES_ON_ORIGIN;
			for (int k = 0; k < trigger->tgnargs; k++)
				followed->names[k] = MemoryContextStrdup(followed->context, trigger->tgargs[k]);
		}
	}
	return refuses && followed->queues;
}

/* Whether a filter table goes with the followed table.  Dumps do not keep that. */
static bool
FollowedDepends(CuckooFollowed *followed, Relation pg_depend)
{
	SysScanDesc scan = CatalogScan(pg_depend, DependDependerIndexId, 2, Anum_pg_depend_classid,
								   RelationRelationId, Anum_pg_depend_objid, followed->filter);
	HeapTuple	tuple;
	bool		found = false;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_depend depend = (Form_pg_depend) GETSTRUCT(tuple);

		if (depend->refclassid == RelationRelationId && depend->refobjid == followed->table)
		{
			FollowedAddSince(followed, tuple);
			found = true;
		}
	}
	systable_endscan(scan);
	return found;
}

void
CuckooFollowDepend(Relation rel, CuckooFollowed *followed)
{
	ObjectAddress filter = {RelationRelationId, followed->filter, 0};
	ObjectAddress table = {RelationRelationId, followed->table, 0};
	Relation	pg_depend = table_open(DependRelationId, RowExclusiveLock);

	if (!FollowedDepends(followed, pg_depend))
	{
		recordDependencyOn(&filter, &table, DEPENDENCY_AUTO);
		CacheInvalidateRelcache(rel);
	}
	table_close(pg_depend, RowExclusiveLock);
}

/*
 * Find what a filter table follows, by the triggers that name it.  Anybody who
 * has the privilege TRIGGER on the filter table can create one on a table of
 * their own, which does not count.
 */
static void
FollowedFindTriggers(CuckooFollowed *followed, Relation rel)
{
	Relation	pg_depend = table_open(DependRelationId, AccessShareLock);
	Relation	pg_trigger = table_open(TriggerRelationId, AccessShareLock);
	SysScanDesc scan = CatalogScan(pg_depend, DependReferenceIndexId, 2, Anum_pg_depend_refclassid,
								   RelationRelationId, Anum_pg_depend_refobjid, followed->filter);
	HeapTuple	tuple;
	int			types = 0;
	bool		always = FollowedReadOwnTriggers(followed, rel->trigdesc);
	bool		unexpected = false;

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
		if (trigger != NULL && trigger->tgrelid == followed->filter)
			FollowedAddSince(followed, tuple);
		else if (trigger != NULL && trigger->tgconstrrelid == followed->filter &&
				 CuckooFollowIsOurs(trigger->tgfoid) &&
				 GetSysCacheOid1(RELOID, Anum_pg_class_relowner, ObjectIdGetDatum(trigger->tgrelid)) ==
				 rel->rd_rel->relowner)
		{
			bool		no_condition;
			Datum		condition = heap_getattr(tuple, Anum_pg_trigger_tgqual,
												 RelationGetDescr(pg_trigger), &no_condition);

			FollowedAddSince(followed, tuple);
			unexpected |= (types & trigger->tgtype & TRIGGER_TYPE_EVENT_MASK) != 0 ||
				(OidIsValid(followed->table) && followed->table != trigger->tgrelid) ||
				get_rel_relkind(trigger->tgrelid) != RELKIND_RELATION ||
				trigger->tgdeferrable || trigger->tgattr.dim1 > 0;
			followed->table = trigger->tgrelid;
			types |= trigger->tgtype;
			always &= trigger->tgenabled == TRIGGER_FIRES_ALWAYS;
			if (!no_condition)
			{
				followed->column = CuckooFollowColumn(TextDatumGetCString(condition));
				unexpected |= followed->column == 0;
			}
		}
		systable_endscan(found);
	}
	systable_endscan(scan);
	if (unexpected)
		followed->state = CUCKOO_FOLLOWS_SEVERAL;
	else if (followed->column == 0)
		followed->state = CUCKOO_FOLLOWS_NOTHING;
	else if (!always || types != ROW_TRIGGERS)
		followed->state = CUCKOO_FOLLOWS_PARTLY;
	else if (!FollowedDepends(followed, pg_depend))
		followed->state = CUCKOO_FOLLOWS_RESTORED;
	else
		followed->state = CUCKOO_FOLLOWS;
	table_close(pg_trigger, AccessShareLock);
	table_close(pg_depend, AccessShareLock);
}

/*
 * The state of a filter table that follows one, by the names of that now.  It is
 * not locked, and can have been dropped meanwhile.
 */
static CuckooFollowState
FollowedCompareNames(const CuckooFollowed *followed)
{
	const char *schema = get_namespace_name(get_rel_namespace(followed->table));
	const char *table = get_rel_name(followed->table);
	const char *column = get_attname(followed->table, followed->column, true);

	if (schema == NULL || table == NULL || column == NULL)
		return CUCKOO_FOLLOWS_NOTHING;
	return strcmp(followed->names[0], schema) == 0 && strcmp(followed->names[1], table) == 0 &&
		strcmp(followed->names[2], column) == 0 ? followed->state : CUCKOO_FOLLOWS_RENAMED;
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

/* Neither subscriptions nor the names of schemas invalidate the tables in them. */
static void
FollowedForgetAll(Datum argument, int cache, uint32 hash)
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
		CacheRegisterSyscacheCallback(SUBSCRIPTIONRELMAP, FollowedForgetAll, (Datum) 0);
		CacheRegisterSyscacheCallback(NAMESPACEOID, FollowedForgetAll, (Datum) 0);
	}
	before = forgotten;
	FilterCheck(rel);
	made.context = AllocSetContextCreate(CurrentMemoryContext, "followed column", ALLOCSET_SMALL_SIZES);
	FollowedFindTriggers(&made, rel);
	FollowedFindSubscription(&made);
	if (made.state <= CUCKOO_FOLLOWS_RESTORED)
		made.state = FollowedCompareNames(&made);
	if (made.state > CUCKOO_FOLLOWS_PARTLY)
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
		CuckooFollowReportMissing(filter);
	/* PostgreSQL's planner would say so if SQL read the table. */
	if (RecoveryInProgress() && rel->rd_rel->relpersistence == RELPERSISTENCE_UNLOGGED)
		ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("cannot access temporary or unlogged relations during recovery"));
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

/* The message on a table or column that was renamed */
static int
RenamedMessage(const CuckooFollowed *followed)
{
	return errmsg("filter table \"%s\" follows \"%s.%s.%s\", which was called \"%s.%s.%s\"",
				  get_rel_name(followed->filter),
				  get_namespace_name(get_rel_namespace(followed->table)), get_rel_name(followed->table),
				  get_attname(followed->table, followed->column, true),
				  followed->names[0], followed->names[1], followed->names[2]);
}

void
CuckooFollowCheckNames(const CuckooFollowed *followed)
{
	Oid			table;
	AttrNumber	column;

	if (followed->names[0] == NULL)
		return;
	table = get_relname_relid(followed->names[1], get_namespace_oid(followed->names[0], true));
	column = get_attnum(followed->table, followed->names[2]);
	if ((OidIsValid(table) && table != followed->table) ||
		(column != InvalidAttrNumber && column != followed->column))
		ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), RenamedMessage(followed),
				errdetail("Another table or column has that name now."),
				errhint("Call cuckoo_unfollow, and cuckoo_follow for the other one."));
}

CUCKOO_NORETURN void
CuckooFollowReportMissing(Oid table)
{
	ereport(ERROR, errcode(ERRCODE_UNDEFINED_TABLE),
			errmsg("relation with OID %u does not exist", table));
}

CUCKOO_NORETURN void
CuckooFollowReport(const CuckooFollowed *followed)
{
	const char *filter = get_rel_name(followed->filter);
	const char *table = get_rel_name(followed->table);

	switch (followed->state)
	{
		case CUCKOO_RECEIVED:
			ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					errmsg("filter table \"%s\" follows no table", filter),
					errdetail("A subscription writes to it."),
					errhint("Call this function on the publisher."));
		case CUCKOO_RECEIVED_PARTLY:
			ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					errmsg("filter table \"%s\" is not in step with its subscription", filter),
					errdetail("Not all tables of the subscription have been copied and caught up."),
					errhint("Wait until they have the state \"r\" in pg_subscription_rel."));
		case CUCKOO_FOLLOWS_RENAMED:
			CuckooFollowCheckNames(followed);
			ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), RenamedMessage(followed),
					errdetail("Nothing has that name now."),
					errhint("Call cuckoo_follow_rebuild."));
		case CUCKOO_FOLLOWS_RESTORED:
			ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					errmsg("filter table \"%s\" has to be rebuilt", filter),
					errdetail("It comes from a dump or pg_upgrade, and may lack keys of table \"%s\".", table),
					errhint("Call cuckoo_follow_rebuild."));
		case CUCKOO_FOLLOWS:
		case CUCKOO_FOLLOWS_PARTLY:
			ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					errmsg("triggers of table \"%s\" are missing or disabled", table),
					errdetail("Not all that it and filter table \"%s\" should have exist and fire.", filter),
					errhint("Call cuckoo_follow_rebuild, which also repairs the triggers."));
		case CUCKOO_FOLLOWS_NOTHING:
			ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					errmsg("filter table \"%s\" follows no table", filter),
					errdetail("No table of its owner has the update trigger that names it."),
					errhint("Give both tables the same owner. If the table, its column or the trigger is gone, drop the filter table, and call cuckoo_follow."));
		case CUCKOO_FOLLOWS_SEVERAL:
			break;
	}
	ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			errmsg("filter table \"%s\" does not follow one table", filter),
			errdetail("Triggers that cuckoo_follow did not make, several subscriptions, or a subscription and triggers write to it."),
			errhint("Drop the triggers that cuckoo_follow did not make. A subscriber follows its own table or subscribes to the filter table once, not both. Then call cuckoo_follow_rebuild."));
}

CUCKOO_NORETURN void
CuckooFollowReportOlder(Relation rel)
{
	ereport(ERROR, errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
			errmsg("filter table \"%s\" was built or repaired after the snapshot was taken",
				   RelationGetRelationName(rel)),
			errdetail("It may lack changes that the snapshot shows."),
			errhint("Run the query or the transaction again."));
}

/*
 * A transaction that was remembered can be so long ago that its number counts
 * as that of a later one.  So if it is not shown, the catalogs are read again:
 * VACUUM has frozen their rows by then.
 */
void
CuckooFollowCheckTrust(Relation rel, CuckooFollowed **followed)
{
	if (IsolationUsesXactSnapshot() && CuckooIsRewritten(rel))
		ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("filter table \"%s\" was rewritten in this transaction",
					   RelationGetRelationName(rel)),
				errdetail("Its newest rows, which are the transaction's own now, may lack keys that the snapshot shows."),
				errhint("Rewrite it in a transaction of its own."));
	for (bool again = false;; again = true)
	{
		if ((*followed)->state != CUCKOO_FOLLOWS && (*followed)->state != CUCKOO_RECEIVED)
			CuckooFollowReport(*followed);
		if (FollowedIsShown(*followed, GetActiveSnapshot()))
			return;
		if (again)
			CuckooFollowReportOlder(rel);
		(*followed)->known = false;
		*followed = FollowedExamine(rel);
	}
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

CuckooKey *
CuckooFollowKey(CuckooFollowed *followed)
{
	CuckooKey	key;

	/* An error leaves it as it was. */
	if (unlikely(followed->key.key_type == CUCKOO_KEY_NONE))
	{
		CuckooFollowInitKey(&key, followed->table, followed->column, followed->context);
		followed->key = key;
	}
	return &followed->key;
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
