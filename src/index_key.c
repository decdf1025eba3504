/*-------------------------------------------------------------------------
 *
 * index_key.c
 *	  The keys of a cuckoo index: what can be indexed, and its hashes.
 *
 *-------------------------------------------------------------------------
 */
#include "index.h"

#include "catalog/pg_am.h"
#include "commands/defrem.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

/*
 * Prepare to hash keys of a type; InvalidOid is that of the operator class, as
 * which the keys of the index are hashed.  (ALTER TYPE from varchar to text
 * keeps an index, whose column has then another type.)  What is polymorphic has
 * the type of the indexed column.
 */
void
CuckooIndexKeyInit(CuckooIndexKey *key, Relation index, Oid type, MemoryContext ctx)
{
	Oid			class_type = index->rd_opcintype[0];
	Oid			function;

	if (!OidIsValid(type))
		type = class_type;
	memset(key, 0, sizeof(CuckooIndexKey));
	key->collation = index->rd_indcollation[0];
	key->scratch = AllocSetContextCreate(ctx, "cuckoo index key", ALLOCSET_SMALL_SIZES);
	function = type == class_type ? index_getprocid(index, 1, CUCKOO_HASH_PROC) :
		get_opfamily_proc(index->rd_opfamily[0], type, type, CUCKOO_HASH_PROC);
	if (OidIsValid(function))
		fmgr_info_cxt(function, &key->hash, ctx);
	else
	{
		if (IsPolymorphicType(type))
			type = TupleDescAttr(RelationGetDescr(index), 0)->atttypid;
		CuckooKeyInit(&key->key, type, key->collation, ctx);
	}
}

uint64
CuckooIndexHash(CuckooIndexKey *key, Datum value)
{
	MemoryContext old;
	uint64		hash;

	if (key->key.key_type == CUCKOO_KEY_INTEGER)
		return CuckooKeyHash(&key->key, value, CUCKOO_INDEX_SEED);
	old = MemoryContextSwitchTo(key->scratch);
	if (OidIsValid(key->hash.fn_oid))
		hash = DatumGetUInt64(FunctionCall2Coll(&key->hash, key->collation, value,
												Int64GetDatum(CUCKOO_INDEX_SEED)));
	else
		hash = CuckooKeyHash(&key->key, value, CUCKOO_INDEX_SEED);
	MemoryContextSwitchTo(old);
	MemoryContextReset(key->scratch);
	return hash;
}

/*
 * Whether equality of the operator class is that of the column's type.  It is not
 * for citext, which is taken for text, and for text with bpchar_ops.
 */
bool
CuckooIndexComparesColumn(Relation index)
{
	Oid			class_type = index->rd_opcintype[0];
	Oid			type = TupleDescAttr(RelationGetDescr(index), 0)->atttypid;

	return IsPolymorphicType(class_type) ||
		lookup_type_cache(type, TYPECACHE_EQ_OPR)->eq_opr ==
		lookup_type_cache(class_type, TYPECACHE_EQ_OPR)->eq_opr;
}

/*
 * Refuse what would make an index wrong, when it is built: tables that are not
 * PostgreSQL's own, and types that ALTER TYPE changes without building it anew.
 */
void
CuckooCheckIndexed(Relation heap, Relation index)
{
	Oid			class_type = index->rd_opcintype[0];
	Oid			type = getBaseType(TupleDescAttr(RelationGetDescr(index), 0)->atttypid);
	Oid			collation = index->rd_indcollation[0];

	if (heap->rd_rel->relam != HEAP_TABLE_AM_OID)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("index access method \"cuckoo\" supports only tables of access method \"heap\""),
				 errdetail("Table \"%s\" has access method \"%s\".", RelationGetRelationName(heap),
						   get_am_name(heap->rd_rel->relam))));
	if (OidIsValid(index_getprocid(index, 1, CUCKOO_HASH_PROC)))
		return;
	if (CuckooTypeCanBeAltered(type))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("index access method \"cuckoo\" does not support type %s", format_type_be(type)),
				 errdetail("ALTER TYPE of an enum or composite type changes how its values are hashed, and does not rebuild indexes."),
				 errhint("Index an expression of another type, or columns of the composite.")));
	if (OidIsValid(collation) && !get_collation_isdeterministic(collation))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("index access method \"cuckoo\" does not support nondeterministic collations"),
				 errdetail("Text that is equal under collation \"%s\" can have different bytes.",
						   get_collation_name(collation)),
				 errhint("Index an expression that is the same for all equal text, such as lower(column COLLATE \"C\"), and use it in queries.")));

	/*
	 * An error would make TRUNCATE, REINDEX or a restore fail after ALTER TYPE
	 * of an indexed column.
	 */
	if (!CuckooIndexComparesColumn(index))
		ereport(WARNING,
				(errmsg("index \"%s\" cannot be used to compare values of type %s",
						RelationGetRelationName(index), format_type_be(type)),
				 errdetail("Its operator class compares them as type %s.", format_type_be(class_type)),
				 errhint("Index an expression of type %s, or create an operator class for type %s.",
						 format_type_be(class_type), format_type_be(type))));
}
