/*-------------------------------------------------------------------------
 *
 * follow_log.c
 *	  A filter that follows a table: the filter table, and the triggers that
 *	  write it.
 *
 * Each followed column has a filter table with the columns
 *
 *		hash bigint, n bigint, delta integer, f cuckoofilter
 *
 * and the primary key (hash, n).  Row (0, 0) is the base: a filter, with delta 1
 * once it is built.  All others are the log: delta copies of hash were added,
 * or removed if it is negative.  n only makes rows different.
 *
 * A filter table is a private heap.  It is opened by its OID, and read and
 * written here, below SQL: nothing but our own code runs when it is written.
 * Whatever else is added to it, such as a trigger or a rule, is an error at the
 * next use.
 *
 * Triggers write the log before a statement ends, and in its own subtransaction.
 * A snapshot that shows a row of an earlier statement therefore shows its
 * addition, in the log or in the base.  These rules make that enough:
 *
 * 1. A lookup reads base and log in one snapshot, and finds what was removed
 *	  until a fold.  It is an error unless, in this snapshot, all triggers of one
 *	  table exist and fire always, or a subscription keeps the table in step.
 * 2. A removal in the log has its addition in the log or in the base, in every
 *	  snapshot, except within a transaction while a statement is not over.  Then
 *	  folds, rebuilds and TRUNCATE refuse to run: the table is in use.  Only one
 *	  table, with one trigger for each kind of change, or one subscription writes
 *	  to a log: changes that others made would be applied twice.
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
 * Nobody waits for the base without a lock on the followed table.  Lookups only
 * lock the filter table, and read in the catalogs what it follows.  What they
 * have read stays known until an invalidation.  (Another transaction that turns
 * triggers off and changes rows is visible for some microseconds before its
 * invalidations arrive.)
 *
 * Row triggers see the changes, because statement triggers do not fire for
 * partitions and children written through their parents, nor for changes that
 * logical replication applies.  The first row of a statement is written at once.
 * Further rows are collected.  A statement trigger of the filter table writes
 * them, which is queued behind them, in the statement of the row, as if rows of
 * the filter table were deleted.  PostgreSQL fires it before the statement ends.
 * If the subtransaction aborts, its memory goes, and what was collected with it.
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
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/relscan.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_subscription_rel.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "common/pg_prng.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/primnodes.h"
#include "optimizer/optimizer.h"
#include "storage/bufmgr.h"
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
#include "follow.h"

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

/*
 * What a filter table is, and what it follows
 */

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
	if (CuckooKeyCanBeAltered(type))
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

/* The index of the primary key, which an invalidation makes an open table forget */
static Oid
FilterPrimaryKey(Relation rel)
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
		!OidIsValid(FilterPrimaryKey(rel)) || !FilterIndexFits(FilterPrimaryKey(rel)))
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

/* The filter tables that update triggers of a table name */
static List *
TableFilters(Relation table)
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

/*
 * What is known of the filter table that a trigger of a table names.  NULL if
 * there is nothing to log: DROP COLUMN ... CASCADE has dropped the update
 * trigger but not this one, or this statement has dropped the filter table.
 */
static CuckooFollowed *
FollowedByTable(Oid filter, Relation table)
{
	CuckooFollowed *followed = FollowedLookUp(filter);

	if (followed != NULL && followed->table == RelationGetRelid(table))
		return followed;
	if (!list_member_oid(TableFilters(table), filter))
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

/*
 * The base
 */

CUCKOO_NORETURN void
CuckooBaseReport(Relation rel, bool built)
{
	ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			built ? errmsg("the filter in \"%s\" was not built by cuckoo_follow_rebuild",
						   RelationGetRelationName(rel)) :
			errmsg("the filter in \"%s\" has not been built", RelationGetRelationName(rel)),
			built ? errdetail("Its key type or seed differs, or keys cannot be removed from it.") :
			errdetail("It does not have the keys of the table yet."),
			errhint("Call cuckoo_follow_rebuild."));
}

/*
 * Somebody may have put another filter in place of the base.  Without a key
 * type, or with another seed, lookups would answer "no" to keys of the table.
 */
bool
CuckooBaseFits(const CuckooFilter *base, const CuckooKey *key)
{
	return base->seed == CUCKOO_FOLLOW_SEED && base->key_type != CUCKOO_KEY_NONE &&
		(base->flags & CUCKOO_FLAG_NOT_REMOVABLE) == 0 &&
		(key == NULL || (base->key_type == key->key_type && base->signature == key->signature));
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
	scan = systable_beginscan(rel, FilterPrimaryKey(rel), true, GetActiveSnapshot(), 2, keys);
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
		CuckooListPut(list, CuckooKeyHash(&followed->key, key, CUCKOO_FOLLOW_SEED));
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
	filter.key_type = (uint8) followed->key.key_type;
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
	FollowedByTable(oid, table);
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
	CuckooOpenDraft(&draft, base.f, NULL);
	if (!CuckooBaseFits(&draft.filter, &followed->key) || !CuckooLogApply(&draft, hashes, false))
		return false;
	CuckooBaseWrite(rel, &base, CuckooFinishDraft(&draft), 1);
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
		if (delete)
			CatalogTupleDelete(rel, &tuple->t_self);
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
	scan = systable_beginscan(rel, FilterPrimaryKey(rel), true, GetActiveSnapshot(), 1, &key);
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
 * queued in a statement of the subtransaction: PendingGet sees to that.
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

static Pending *
PendingFind(Oid filter, HASHACTION action)
{
	HASHCTL		control = {.keysize = sizeof(uint64), .entrysize = sizeof(Pending)};
	uint64		key = (uint64) filter << 32 | GetCurrentSubTransactionId();

	if (all_pending == NULL)
		all_pending = hash_create("changes of followed tables", 16, &control,
								  HASH_ELEM | HASH_BLOBS);
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
		memset(&pending->added, 0, sizeof(CuckooList));
		memset(&pending->removed, 0, sizeof(CuckooList));
		pending->number = ++last_number;
		pending->context = context;
		pending->gone.func = PendingUnlink;
		pending->gone.arg = pending;
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
	else if (FollowedByTable(filter, data->tg_relation) != NULL)
		pending = PendingGet(filter, (uint64 *) info->fn_extra);
	/* That may have found it out anew. */
	followed = FollowedByTable(filter, data->tg_relation);
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

/*
 * The triggers of a followed table, for each row changed and after TRUNCATE, and
 * of its filter table, which writes what was collected.
 */
Datum
cuckoo_follow_change(PG_FUNCTION_ARGS)
{
	TriggerData *data = (TriggerData *) fcinfo->context;

	if (!CALLED_AS_TRIGGER(fcinfo) || !TRIGGER_FIRED_AFTER(data->tg_event) ||
		(TRIGGER_FIRED_FOR_ROW(data->tg_event) && !OidIsValid(data->tg_trigger->tgconstrrelid)))
		ereport(ERROR, errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				errmsg("cuckoo_follow_change must be called by a trigger that cuckoo_follow makes"));
	if (TRIGGER_FIRED_FOR_ROW(data->tg_event))
		RowChange(fcinfo->flinfo, data);
	else if (TRIGGER_FIRED_BY_TRUNCATE(data->tg_event))
	{
		List	   *filters = TableFilters(data->tg_relation);

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
