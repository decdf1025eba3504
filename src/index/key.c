/*-------------------------------------------------------------------------
 *
 * key.c
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

static void
InitColumn(CuckooIndexColumn *column, Relation index, int number, Oid type, MemoryContext ctx)
{
	Oid			class_type = index->rd_opcintype[number];
	Oid			function;

	if (!OidIsValid(type))
		type = class_type;
	column->collation = index->rd_indcollation[number];
	function = type == class_type ? index_getprocid(index, (AttrNumber) (number + 1), CUCKOO_HASH_PROC) :
		get_opfamily_proc(index->rd_opfamily[number], type, type, CUCKOO_HASH_PROC);
	if (OidIsValid(function))
		fmgr_info_cxt(function, &column->hash, ctx);
	else
	{
		if (IsPolymorphicType(type))
			type = TupleDescAttr(RelationGetDescr(index), number)->atttypid;
		CuckooKeyInit(&column->key, type, column->collation, ctx);
	}
}

/*
 * Prepare to hash keys whose columns have some types; InvalidOid, or NULL for
 * all, is that of the operator class, as which the keys of the index are hashed.
 * (ALTER TYPE from varchar to text keeps an index, whose column has then another
 * type.)  What is polymorphic has the type of the indexed column.
 */
void
CuckooIndexKeyInit(CuckooIndexKey *key, Relation index, const Oid *types, MemoryContext ctx)
{
	key->columns = IndexRelationGetNumberOfKeyAttributes(index);
	key->column = MemoryContextAllocZero(ctx, (Size) key->columns * sizeof(CuckooIndexColumn));
	key->scratch = AllocSetContextCreate(ctx, "cuckoo index key", ALLOCSET_SMALL_SIZES);
	for (int i = 0; i < key->columns; i++)
		InitColumn(&key->column[i], index, i, types == NULL ? InvalidOid : types[i], ctx);
}

static uint64
HashColumn(CuckooIndexColumn *column, Datum value)
{
	if (OidIsValid(column->hash.fn_oid))
		return DatumGetUInt64(FunctionCall2Coll(&column->hash, column->collation, value,
												Int64GetDatum(CUCKOO_INDEX_SEED)));
	return CuckooKeyHash(&column->key, value, CUCKOO_INDEX_SEED);
}

/*
 * Hash a key: the hash of its first column is the seed for that of the second,
 * and so on.  False if one is NULL: such rows are not in the index.
 */
bool
CuckooIndexHash(CuckooIndexKey *key, const Datum *values, const bool *isnull, uint64 *hash)
{
	MemoryContext old;

	for (int i = 0; i < key->columns; i++)
	{
		if (isnull[i])
			return false;
	}
	old = MemoryContextSwitchTo(key->scratch);
	*hash = HashColumn(&key->column[0], values[0]);
	for (int i = 1; i < key->columns; i++)
		*hash = CuckooHashInt64((int64) HashColumn(&key->column[i], values[i]), *hash);
	MemoryContextSwitchTo(old);
	if (key->columns > 1 || key->column[0].key.key_type != CUCKOO_KEY_INTEGER)
		MemoryContextReset(key->scratch);
	return true;
}

/*
 * Whether equality of the operator class is that of the column's type.  It is not
 * for citext, which is taken for text, and for text with bpchar_ops.
 */
bool
CuckooIndexHasColumnEquality(Relation index, int number)
{
	Oid			class_type = index->rd_opcintype[number];
	Oid			type = TupleDescAttr(RelationGetDescr(index), number)->atttypid;

	return IsPolymorphicType(class_type) ||
		lookup_type_cache(type, TYPECACHE_EQ_OPR)->eq_opr ==
		lookup_type_cache(class_type, TYPECACHE_EQ_OPR)->eq_opr;
}

static void
CheckColumn(Relation index, int number)
{
	Oid			class_type = index->rd_opcintype[number];
	Oid			type = getBaseType(TupleDescAttr(RelationGetDescr(index), number)->atttypid);
	Oid			collation = index->rd_indcollation[number];

	if (OidIsValid(index_getprocid(index, (AttrNumber) (number + 1), CUCKOO_HASH_PROC)))
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
	if (!CuckooIndexHasColumnEquality(index, number))
		ereport(WARNING,
				(errmsg("index \"%s\" cannot be used to compare values of type %s",
						RelationGetRelationName(index), format_type_be(type)),
				 errdetail("Its operator class compares them as type %s.", format_type_be(class_type)),
				 errhint("Index an expression of type %s, or create an operator class for type %s.",
						 format_type_be(class_type), format_type_be(type))));
}

/*
 * Refuse what would make an index wrong, when it is built: tables that are not
 * PostgreSQL's own, and types that ALTER TYPE changes without building it anew.
 */
void
CuckooCheckIndexed(Relation heap, Relation index)
{
	if (heap->rd_rel->relam != HEAP_TABLE_AM_OID)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("index access method \"cuckoo\" supports only tables of access method \"heap\""),
				 errdetail("Table \"%s\" has access method \"%s\".", RelationGetRelationName(heap),
						   get_am_name(heap->rd_rel->relam))));
	for (int i = 0; i < IndexRelationGetNumberOfKeyAttributes(index); i++)
		CheckColumn(index, i);
}
