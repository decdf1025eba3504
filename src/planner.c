/*-------------------------------------------------------------------------
 *
 * planner.c
 *	  Selectivity of @> and <@: the fraction of rows that pass a filter.
 *
 * A filter mostly stands beside the exact condition: the fact table of a star
 * schema is joined to a dimension, and its scan has a filter of the keys that
 * are left of the dimension.  Both drop the same rows, but the planner
 * multiplies their selectivities as if they were independent.  If one row in
 * ten were said to pass, four filters would make the estimate 10,000 times too
 * low; the nested loops planned for it took five times as long as the plan
 * without them.  A filter beside such a join is therefore said to pass every
 * row.  The estimate of the join and the plan are then as without it.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/htup_details.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/pathnodes.h"
#include "optimizer/paths.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "key.h"
#include "value.h"

/*
 * The rows that pass a filter that is not known at planning and has no exact
 * condition beside it.  They can be one in a thousand or nearly all.  A guess
 * too high leads to the plan without the filter, and one too low to nested
 * loops for many rows.  A higher guess would be one too low inside NOT.
 */
#define UNKNOWN_FILTER_SEL	0.5

PG_FUNCTION_INFO_V1(cuckoo_contains_sel);
PG_FUNCTION_INFO_V1(cuckoo_contains_joinsel);

/* Is the condition with these arguments one of a list? */
static bool
IsAmong(const List *args, const List *conditions)
{
	ListCell   *lc;

	foreach(lc, conditions)
	{
		OpExpr	   *clause = (OpExpr *) lfirst_node(RestrictInfo, lc)->clause;

		if (IsA(clause, OpExpr) && clause->args == args)
			return true;
	}
	return false;
}

/*
 * Is the key of a condition also joined by equality to another relation?  With
 * restricted, only a relation counts that has conditions of its own.  Inside
 * NOT, where "every row passes" would mean that none is left, this is false.
 */
static bool
IsBesideJoin(PlannerInfo *root, const VariableStatData *key, const List *args, bool restricted)
{
	RelOptInfo *rel = key->rel;
	int			i = -1;

	if (rel == NULL || (!IsAmong(args, rel->baserestrictinfo) && !IsAmong(args, rel->joininfo)))
		return false;
	while ((i = bms_next_member(rel->eclass_indexes, i)) >= 0)
	{
		EquivalenceClass *ec = list_nth_node(EquivalenceClass, root->eq_classes, i);
		int			other = -1;

		if (!ec->ec_has_const &&
			find_ec_member_matching_expr(ec, (Expr *) key->var, rel->relids) != NULL)
			while ((other = bms_next_member(ec->ec_relids, other)) >= 0)
			{
				RelOptInfo *joined = root->simple_rel_array[other];

				/* An equivalence class has the parent, not its partitions. */
				if (joined != NULL && joined != rel &&
					!bms_is_member(other, rel->top_parent_relids) &&
					(!restricted || joined->baserestrictinfo != NIL))
					return true;
			}
	}
	return false;
}

/*
 * The fraction of a column's rows that pass a known filter.  The most common
 * values are looked up.  Of the others, as many pass as the filter has keys for
 * the column's distinct values.  Returns false if nothing is known about the
 * column, or if keys of its type are an error, which execution reports.
 */
static bool
KnownSelectivity(VariableStatData *column, const Const *constant, Oid operator,
				 Oid collation, List *args, bool column_on_left,
				 Selectivity *selectivity)
{
	CuckooFilter filter;
	CuckooHasher hasher;
	FmgrInfo	contains;
	double		common;
	double		common_rows = 0;
	double		others = 1;
	bool		is_default;
	double		distinct = get_variable_numdistinct(column, &is_default);

	/* PostgreSQL has fetched it already: no constant is a TOAST pointer. */
	CuckooOpenFilter(&filter, DatumGetCuckooFilterP(constant->constvalue));
	CuckooHasherInit(&hasher, column->vartype, collation, CurrentMemoryContext);
	if (is_default || !CuckooSameKeyKind(filter.header.kind, hasher.kind))
		return false;

	/* The function is polymorphic: it finds the type in the expression. */
	fmgr_info(get_opcode(operator), &contains);
	fmgr_info_set_expr((Node *) make_opclause(operator, BOOLOID, false, linitial(args),
											  lsecond(args), InvalidOid, collation),
					   &contains);
	common = mcv_selectivity(column, &contains, collation, constant->constvalue, column_on_left,
							 &common_rows);
	if (HeapTupleIsValid(column->statsTuple))
		others -= common_rows + ((Form_pg_statistic) GETSTRUCT(column->statsTuple))->stanullfrac;

	/*
	 * A union may count a key in several sub-filters.  An estimate without that
	 * would read all of the filter each time a query is planned.
	 */
	*selectivity = common +
		others * Max(CuckooFilterRate(&filter), Min((double) filter.header.items / distinct, 1));
	return true;
}

/*
 * cuckoo_contains_sel(internal, oid, internal, integer) -> float8: RESTRICT
 * estimator of @> and <@.  The types are checked because others can create an
 * operator with it and operands of other types: before 15.20 anyone.
 */
Datum
cuckoo_contains_sel(PG_FUNCTION_ARGS)
{
	PlannerInfo *root = (PlannerInfo *) PG_GETARG_POINTER(0);
	List	   *args = (List *) PG_GETARG_POINTER(2);
	VariableStatData column;
	Node	   *other;
	bool		on_left;
	bool		known = false;
	Selectivity selectivity = UNKNOWN_FILTER_SEL;

	if (!get_restriction_variable(root, args, PG_GETARG_INT32(3), &column, &other, &on_left))
		PG_RETURN_FLOAT8(selectivity);

	if (IsA(other, Const) && ((Const *) other)->constisnull)
		selectivity = 0;
	else if (CuckooIsFilterType(column.vartype))
		selectivity = DEFAULT_MATCHING_SEL; /* few filters hold a given key */
	else
	{
		if (IsA(other, Const) && CuckooIsFilterType(((Const *) other)->consttype))
			known = KnownSelectivity(&column, (Const *) other, PG_GETARG_OID(1),
									 PG_GET_COLLATION(), args, on_left, &selectivity);
		if (IsBesideJoin(root, &column, args, known))
			selectivity = 1;
	}
	ReleaseVariableStats(column);

	CLAMP_PROBABILITY(selectivity);
	PG_RETURN_FLOAT8(selectivity);
}

/*
 * cuckoo_contains_joinsel(internal, oid, internal, smallint, internal) ->
 * float8: JOIN estimator of @> and <@.  The filters are in one relation and the
 * keys in another, so each filter is unknown.
 */
Datum
cuckoo_contains_joinsel(PG_FUNCTION_ARGS)
{
	PlannerInfo *root = (PlannerInfo *) PG_GETARG_POINTER(0);
	List	   *args = (List *) PG_GETARG_POINTER(2);
	VariableStatData left;
	VariableStatData right;
	bool		reversed;
	bool		beside;

	get_join_variables(root, args, (SpecialJoinInfo *) PG_GETARG_POINTER(4),
					   &left, &right, &reversed);
	beside = IsBesideJoin(root, CuckooIsFilterType(left.vartype) ? &right : &left, args, false);
	ReleaseVariableStats(left);
	ReleaseVariableStats(right);
	PG_RETURN_FLOAT8(beside ? 1 : UNKNOWN_FILTER_SEL);
}
