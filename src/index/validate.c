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
#include "catalog/pg_opclass.h"
#include "catalog/pg_proc.h"
#include "commands/defrem.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"

/* Whether an operator is the equality of a type's default operator class. */
static bool
IsEqualityOf(Oid operator, Oid type, Oid method, StrategyNumber equal)
{
	Oid			class = GetDefaultOpClass(type, method);

	return OidIsValid(class) &&
		get_op_opfamily_strategy(operator, get_opclass_family(class)) == equal;
}

/*
 * Whether values that an operator finds equal have the same hash: those of one
 * type, or of two that the family has functions for, or of one key type.  A
 * type with a function and one without are hashed in different ways.
 */
static bool
HashAlike(Oid family, Oid left, Oid right)
{
	bool		left_has_function = OidIsValid(get_opfamily_proc(family, left, left,
																 CUCKOO_HASH_PROC));
	bool		right_has_function = OidIsValid(get_opfamily_proc(family, right, right,
																  CUCKOO_HASH_PROC));
	CuckooKeyType key_type = CuckooBuiltinKeyType(left);

	if (left == right)
		return true;
	if (left_has_function || right_has_function)
		return left_has_function && right_has_function;
	return key_type != CUCKOO_KEY_NONE && key_type == CuckooBuiltinKeyType(right);
}

static const char *
OperatorFault(Form_pg_amop member)
{
	if (member->amopstrategy != 1 || member->amoppurpose != AMOP_SEARCH)
		return "has another purpose than strategy 1";
	if (!IsEqualityOf(member->amopopr, member->amoplefttype, BTREE_AM_OID, BTEqualStrategyNumber) &&
		!IsEqualityOf(member->amopopr, member->amoplefttype, HASH_AM_OID, HTEqualStrategyNumber))
		return "is not the equality of its types";
	if (!HashAlike(member->amopfamily, member->amoplefttype, member->amoprighttype))
		return "compares types that are hashed differently";
	return NULL;
}

static const char *
FunctionFault(Form_pg_amproc member)
{
	if (member->amproclefttype != member->amprocrighttype)
		return "is for two types";
	if (func_volatile(member->amproc) != PROVOLATILE_IMMUTABLE)
		return "is not immutable";
	if (!func_strict(member->amproc))
		return "is not strict";
	if (member->amprocnum != CUCKOO_HASH_PROC ||
		!check_amproc_signature(member->amproc, INT8OID, false, 2, 2, member->amproclefttype,
								INT8OID))
		return "is not a hash function: (type, bigint) returning bigint";
	return NULL;
}

/* Whether keys of a type can be hashed, perhaps as those of filters. */
static bool
HasHash(Oid family, Oid type)
{
	return OidIsValid(get_opfamily_proc(family, type, type, CUCKOO_HASH_PROC)) ||
		CuckooBuiltinKeyType(type) != CUCKOO_KEY_NONE || IsPolymorphicType(type) ||
		OidIsValid(get_element_type(type)) || type_is_range(type) || type_is_multirange(type);
}

static bool
Report(int level, const char *member, const char *fault)
{
	ereport(level,
			(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
			 errmsg("%s of access method \"cuckoo\" %s", member, fault)));
	return false;
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
	{
		Form_pg_amop member = (Form_pg_amop) GETSTRUCT(&members->members[i]->tuple);
		const char *fault = OperatorFault(member);

		if (fault != NULL)
			valid = Report(level, psprintf("operator %s", format_operator(member->amopopr)), fault);
	}
	ReleaseCatCacheList(members);

	members = SearchSysCacheList1(AMPROCNUM, ObjectIdGetDatum(family));
	for (int i = 0; i < members->n_members; i++)
	{
		Form_pg_amproc member = (Form_pg_amproc) GETSTRUCT(&members->members[i]->tuple);
		const char *fault = FunctionFault(member);

		if (fault != NULL)
			valid = Report(level, psprintf("function %s", format_procedure(member->amproc)), fault);
	}
	ReleaseCatCacheList(members);

	if (!OidIsValid(get_opfamily_member(family, type, type, 1)))
		valid = Report(level, psprintf("operator class for type %s", format_type_be(type)),
					   "has no equality operator for this type");
	if (!HasHash(family, type))
		valid = Report(level, psprintf("operator class for type %s", format_type_be(type)),
					   "has no hash function");
	return valid;
}

bool
cuckoovalidate(Oid opclass)
{
	HeapTuple	tuple = SearchSysCache1(CLAOID, ObjectIdGetDatum(opclass));
	Form_pg_opclass class;
	bool		valid;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for operator class %u", opclass);
	class = (Form_pg_opclass) GETSTRUCT(tuple);
	valid = CuckooCheckOperatorFamily(class->opcfamily, class->opcintype, INFO);
	ReleaseSysCache(tuple);
	return valid;
}
