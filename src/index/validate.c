/*-------------------------------------------------------------------------
 *
 * validate.c
 *	  What is wrong with an operator class of a cuckoo index: amvalidate.
 *
 *-------------------------------------------------------------------------
 */
#include "index.h"

#include "access/amvalidate.h"
#include "access/stratnum.h"
#include "catalog/pg_am.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_amproc.h"
#include "catalog/pg_proc.h"
#include "commands/defrem.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"

/* A text in pg_proc, or "" if it is NULL */
char *
CuckooFunctionText(Oid function, AttrNumber attribute)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	bool		isnull;
	Datum		value;
	char	   *result;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", function);
	value = SysCacheGetAttr(PROCOID, tuple, attribute, &isnull);
	result = isnull ? "" : TextDatumGetCString(value);
	ReleaseSysCache(tuple);
	return result;
}

/* Whether an operator is the equality of its left type's default class. */
static bool
IsEquality(Form_pg_amop member, Oid method, StrategyNumber equal)
{
	Oid			class = GetDefaultOpClass(member->amoplefttype, method);

	return OidIsValid(class) &&
		get_op_opfamily_strategy(member->amopopr, get_opclass_family(class)) == equal;
}

/*
 * Whether values that an operator finds equal have the same hash: those of one
 * type, or of two that the family has functions for, or of one key type.  A
 * type with a function and one without are hashed in different ways.
 */
static bool
HashAlike(Oid family, Oid left, Oid right)
{
	bool		left_has_function = OidIsValid(CuckooHashFunction(family, left));
	bool		right_has_function = OidIsValid(CuckooHashFunction(family, right));
	CuckooKeyType key_type = CuckooBuiltinKeyType(left);

	if (left == right)
		return true;
	if (left_has_function || right_has_function)
		return left_has_function && right_has_function;
	return key_type != CUCKOO_KEY_NONE && key_type == CuckooBuiltinKeyType(right);
}

/* Whether keys of a type can be hashed, perhaps as those of filters. */
static bool
HasHash(Oid family, Oid type)
{
	return OidIsValid(CuckooHashFunction(family, type)) ||
		CuckooBuiltinKeyType(type) != CUCKOO_KEY_NONE || IsPolymorphicType(type) ||
		OidIsValid(get_element_type(type)) || type_is_range(type) || type_is_multirange(type);
}

/* The hint is for TRUNCATE and REINDEX, too, after somebody altered a function. */
static bool
Report(int level, const char *member, const char *fault, const char *hint)
{
	ereport(level,
			(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
			 errmsg("%s of access method \"cuckoo\" %s", member, fault), errhint("%s", hint)));
	return false;
}

static bool
CheckOperator(Form_pg_amop member, int level)
{
	const char *fault;

	if (member->amopstrategy != 1 || member->amoppurpose != AMOP_SEARCH)
		fault = "has another purpose than strategy 1";
	else if (!IsEquality(member, BTREE_AM_OID, BTEqualStrategyNumber) &&
			 !IsEquality(member, HASH_AM_OID, HTEqualStrategyNumber))
		fault = "is not the equality of its types";
	else if (!HashAlike(member->amopfamily, member->amoplefttype, member->amoprighttype))
		fault = "compares types that are hashed differently";
	else
		return true;
	return Report(level, psprintf("operator %s", format_operator(member->amopopr)), fault,
				  "Drop it from its operator family.");
}

static bool
CheckFunction(Form_pg_amproc member, int level)
{
	const char *fault;

	if (member->amproclefttype != member->amprocrighttype)
		fault = "is for two types";
	else if (func_volatile(member->amproc) != PROVOLATILE_IMMUTABLE)
		fault = "is not immutable";
	else if (!func_strict(member->amproc))
		fault = "is not strict";
	else if (CuckooFunctionText(member->amproc, Anum_pg_proc_prosqlbody)[0] != '\0')
		fault = "has a body that is not a string";
	else if (member->amprocnum != CUCKOO_HASH_PROC ||
			 !check_amproc_signature(member->amproc, INT8OID, false, 2, 2, member->amproclefttype,
									 INT8OID))
		fault = "is not a hash function: (type, bigint) returning bigint";
	else
		return true;
	return Report(level, psprintf("function %s", format_procedure(member->amproc)), fault,
				  "Correct it with ALTER FUNCTION or CREATE OR REPLACE FUNCTION, or drop it from its operator family.");
}

/*
 * Report the faults of an operator family and of its class for a type: INFO for
 * all, as amvalidate does for the whole family of a class, or ERROR for the first.
 */
bool
CuckooCheckOperatorFamily(Oid family, Oid type, int level)
{
	CatCList   *members = SearchSysCacheList1(AMOPSTRATEGY, ObjectIdGetDatum(family));
	bool		valid = true;

	for (int i = 0; i < members->n_members; i++)
		valid &= CheckOperator((Form_pg_amop) GETSTRUCT(&members->members[i]->tuple), level);
	ReleaseCatCacheList(members);

	members = SearchSysCacheList1(AMPROCNUM, ObjectIdGetDatum(family));
	for (int i = 0; i < members->n_members; i++)
		valid &= CheckFunction((Form_pg_amproc) GETSTRUCT(&members->members[i]->tuple), level);
	ReleaseCatCacheList(members);

	if (!OidIsValid(get_opfamily_member(family, type, type, 1)))
		valid = Report(level, psprintf("operator class for type %s", format_type_be(type)),
					   "has no equality operator for this type", "Add one to its operator family.");
	if (!HasHash(family, type))
		valid = Report(level, psprintf("operator class for type %s", format_type_be(type)),
					   "has no hash function", "Add one to its operator family.");
	return valid;
}

bool
cuckoovalidate(Oid opclass)
{
	return CuckooCheckOperatorFamily(get_opclass_family(opclass), get_opclass_input_type(opclass),
									 INFO);
}
