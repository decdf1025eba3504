/*-------------------------------------------------------------------------
 *
 * key.c
 *	  The keys of a cuckoo index: what can be indexed, and its hashes.
 *
 *-------------------------------------------------------------------------
 */
#include "index.h"

#include "catalog/pg_am.h"
#include "catalog/pg_amproc.h"
#include "catalog/pg_proc.h"
#include "commands/defrem.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

/*
 * The signature of all functions of an operator family, in any order, because a
 * search for a value of another type uses the one for that.  A function is known by
 * its type, and by its source or its symbol and library without the path.  These
 * stay when it is dumped, renamed or moved, and pg_upgrade keeps the OIDs of types.
 * What it calls cannot be known.  A library that an upgrade renames needs a REINDEX
 * in vain, but if other libraries' symbols were the same, searches could miss rows.
 */
static uint32
FamilySignature(Oid family)
{
	CatCList   *members = SearchSysCacheList1(AMPROCNUM, ObjectIdGetDatum(family));
	uint32		signature = 0;

	for (int i = 0; i < members->n_members; i++)
	{
		Form_pg_amproc member = (Form_pg_amproc) GETSTRUCT(&members->members[i]->tuple);
		char	   *body = CuckooFunctionText(member->amproc, Anum_pg_proc_prosrc);
		char	   *path = CuckooFunctionText(member->amproc, Anum_pg_proc_probin);
		char	   *name = last_dir_separator(path);
		uint64		hash = CuckooHash(body, strlen(body), member->amproclefttype, CUCKOO_KEY_TEXT);

		path = name == NULL ? path : name + 1;
		signature ^= (uint32) CuckooHash(path, strlen(path), hash, CUCKOO_KEY_TEXT);
	}
	ReleaseCatCacheList(members);
	return signature;
}

/*
 * Prepare to hash values of a type.  What is polymorphic has the type of the
 * indexed column.
 */
static void
InitColumn(CuckooIndexColumn *column, Relation index, int number, Oid type, MemoryContext ctx)
{
	Oid			function = CuckooHashFunction(index->rd_opfamily[number], type);

	memset(column, 0, sizeof(CuckooIndexColumn));
	column->collation = index->rd_indcollation[number];
	if (OidIsValid(function))
	{
		MemoryContext old = MemoryContextSwitchTo(ctx);

		fmgr_info(function, &column->hash);
		column->key.kind.signature = FamilySignature(index->rd_opfamily[number]);
		MemoryContextSwitchTo(old);
	}
	else
	{
		if (IsPolymorphicType(type))
			type = TupleDescAttr(RelationGetDescr(index), number)->atttypid;
		CuckooHasherInit(&column->key, type, column->collation, ctx);
	}
}

/*
 * Prepare to hash keys as those of an index that is built, of the types of its
 * operator classes.  (ALTER TYPE from varchar to text keeps an index, whose
 * column has then another type.)
 */
void
CuckooIndexKeyForBuild(CuckooIndexKey *key, Relation index, CuckooKeyKind *kinds,
					   MemoryContext ctx)
{
	key->columns = IndexRelationGetNumberOfKeyAttributes(index);
	key->column = MemoryContextAllocZero(ctx, (Size) key->columns * sizeof(CuckooIndexColumn));
	key->scratch = AllocSetContextCreate(ctx, "cuckoo index key", ALLOCSET_SMALL_SIZES);
	for (int i = 0; i < key->columns; i++)
	{
		InitColumn(&key->column[i], index, i, index->rd_opcintype[i], ctx);
		kinds[i] = key->column[i].key.kind;
	}
}

/*
 * Prepare to hash values of another type than the operator class's.  They have
 * the same hashes if both types have a function, or one key type.
 */
static void
InitOther(CuckooIndexColumn *column, Relation index, int number, Oid type, MemoryContext ctx)
{
	CuckooKeyKind indexed = column->key.kind;
	CuckooKeyKind other;

	InitColumn(column, index, number, type, ctx);
	other = column->key.kind;
	if (other.type != indexed.type ||
		(other.type != CUCKOO_KEY_NONE && other.signature != indexed.signature))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("index \"%s\" cannot be searched for values of type %s",
						RelationGetRelationName(index), format_type_be(type)),
				 errdetail("Its operator family hashes them in another way than values of type %s.",
						   format_type_be(index->rd_opcintype[number]))));
}

/*
 * Prepare to hash keys of an index.  Its columns have some types, of which
 * InvalidOid, or NULL for all, is that of the operator class.
 */
void
CuckooIndexKeyInit(CuckooIndexKey *key, Relation index, const Oid *types, MemoryContext ctx)
{
	CuckooKeyKind kinds[INDEX_MAX_KEYS];

	CuckooIndexKeyForBuild(key, index, kinds, ctx);
	for (int i = 0; i < key->columns; i++)
	{
		/* Each look into the catalogs may free the copy of the metapage. */
		if (memcmp(&kinds[i], &CuckooCachedMeta(index)->columns[i], sizeof(CuckooKeyKind)) != 0)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("index \"%s\" was built with another hash function",
							RelationGetRelationName(index)),
					 errdetail("Its operator family for type %s has other hash functions now.",
							   format_type_be(index->rd_opcintype[i])),
					 errhint("REINDEX it.")));
		if (types != NULL && OidIsValid(types[i]) && types[i] != index->rd_opcintype[i])
			InitOther(&key->column[i], index, i, types[i], ctx);
	}
}

/*
 * The hash function of a class may give few different numbers, such as those of
 * 32 bits: ours makes a fraction of 2^64 of them.
 */
static inline uint64
HashColumn(CuckooIndexColumn *column, Datum value, uint64 seed)
{
	if (OidIsValid(column->hash.fn_oid))
		return CuckooHashInt64(DatumGetInt64(FunctionCall2Coll(&column->hash, column->collation,
															   value, Int64GetDatum(0))), seed);
	return CuckooKeyHash(&column->key, value, seed);
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
	*hash = CUCKOO_INDEX_SEED;
	/* Integers, the most frequent keys, need no memory. */
	if (key->columns == 1 && key->column[0].key.kind.type == CUCKOO_KEY_INTEGER)
	{
		*hash = CuckooKeyHash(&key->column[0].key, values[0], *hash);
		return true;
	}
	old = MemoryContextSwitchTo(key->scratch);
	for (int i = 0; i < key->columns; i++)
		*hash = HashColumn(&key->column[i], values[i], *hash);
	MemoryContextSwitchTo(old);
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
	bool		own_hash = OidIsValid(CuckooHashFunction(index->rd_opfamily[number], class_type));

	if (CuckooTypeCanBeAltered(type, !own_hash))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("index access method \"cuckoo\" does not support type %s", format_type_be(type)),
				 errdetail("ALTER TYPE of an enum or composite type changes how its values are hashed, and does not rebuild indexes."),
				 errhint("Index an expression of another type, or columns of the composite.")));
	if (own_hash)
		return;
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
	{
		CuckooCheckOperatorFamily(index->rd_opfamily[i], index->rd_opcintype[i], ERROR);
		CheckColumn(index, i);
	}
}
