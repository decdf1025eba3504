/*-------------------------------------------------------------------------
 *
 * stream.c
 *	  Aggregates in bounded memory: cuckoo_stream_agg and cuckoo_multiset_agg.
 *
 * Where cuckoo_agg keeps all hashes until the end, these write each key into a
 * filter of the capacity stated, at once.  The state is that filter: a list
 * while it is short, so that many small groups stay small, then a table
 * allocated once and changed in place.  Partial states have the same shape and
 * are combined in place.
 *
 * cuckoo_stream_agg	adds a key where the filter does not contain it, as
 *						cuckoo_add_new does.  Fingerprints are compared, not
 *						keys: the result is not removable.
 *
 * cuckoo_multiset_agg	adds a copy for every row, as cuckoo_add does, up to
 *						eight: for columns with repetitions, whose rows are
 *						removed one by one.
 *
 *						The copies of a key share its two buckets, which makes
 *						them far harder to place than other keys: with two
 *						copies of each key a table takes 88 % of its entries,
 *						with three 68 %, with four about 40 %.  What does not fit
 *						goes to a further table, and a key in two tables is not
 *						taken out again.  So state two to four times the copies
 *						expected.  Keys with more crowd their table, which then
 *						gets a stash for them, see filter.h.
 *
 * The order of rows decides where entries stand, so that only the same rows in
 * the same order give the same bytes.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/pg_type.h"

#include "aggstate.h"
#include "setops.h"

/* The parameters of the aggregate from its arguments. */
static CuckooParameters
GetParameters(FunctionCallInfo fcinfo, CuckooKind kind, CuckooKind element_kind)
{
	CuckooParameters parameters;

	parameters.kind = (uint8) kind;
	parameters.element_kind = (uint8) element_kind;
	parameters.fpr = PG_ARGISNULL(2) ? CUCKOO_DEFAULT_FPR :
		CuckooCheckFpr(PG_GETARG_FLOAT8(2));
	parameters.capacity = PG_ARGISNULL(3) ? 0 : CuckooCheckCapacity(PG_GETARG_FLOAT8(3));
	if (parameters.capacity == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("this aggregate needs a capacity"),
				 errhint("State how many keys there may be, or use cuckoo_agg, which counts them.")));
	return parameters;
}

/* A state without keys: a list, with room for them. */
static void
StartDraft(CuckooDraft *draft, const CuckooParameters *parameters)
{
	CuckooFilter filter;

	/* Better now than after many rows. */
	CuckooCheckSize(parameters->fpr, parameters->capacity, CUCKOO_SEMISORTED);
	CuckooParametersHeader(parameters, &filter);
	CuckooDraftInit(draft, &filter);
}

/*
 * Open the state as the first argument has it.  One of our own is a plain
 * varlena and is changed in place; what else may come (through a user's own
 * aggregate) is copied.
 */
static struct varlena *
OpenState(FunctionCallInfo fcinfo, CuckooFilter *filter)
{
	struct varlena *state = (struct varlena *) PG_DETOAST_DATUM(PG_GETARG_DATUM(0));

	CuckooOpenFilter(filter, state);
	return state;
}

/*
 * One row.  The state is returned as it is, changed in place, or as a new value
 * where it had to grow or is a list.
 */
static Datum
Transition(FunctionCallInfo fcinfo, bool distinct, uint64 hash,
		   CuckooKind kind, CuckooKind element_kind)
{
	CuckooParameters parameters = GetParameters(fcinfo, kind, element_kind);
	CuckooParameters begun;
	CuckooDraft draft;

	if (PG_ARGISNULL(0))
	{
		CuckooCheckRelabelled(fcinfo);
		StartDraft(&draft, &parameters);
	}
	else
	{
		struct varlena *state = OpenState(fcinfo, &draft.filter);

		begun = CuckooHeaderParameters(&draft.filter);
		CuckooMatchParameters(&begun, &parameters);
		if (draft.filter.body == CUCKOO_TABLES)
		{
			bool		marked = (draft.filter.flags & CUCKOO_FLAG_NOT_REMOVABLE) != 0;

			if (distinct)
				draft.filter.flags |= CUCKOO_FLAG_NOT_REMOVABLE;
			if (distinct && CuckooFilterContains(&draft.filter, hash))
			{
				if (!marked)
					CuckooWriteHeader(&draft.filter, CuckooValueBytes(state));
				PG_RETURN_POINTER(state);
			}
			if (CuckooFilterAdd(&draft.filter, hash) != CUCKOO_FULL)
			{
				CuckooWriteHeader(&draft.filter, CuckooValueBytes(state));
				if (draft.filter.items % 256 == 0)	/* not each time: it takes long */
					CuckooAssertValid(state);
				PG_RETURN_POINTER(state);
			}
			CuckooWriteHeader(&draft.filter, CuckooValueBytes(state));
		}
		else if (distinct && CuckooFilterContains(&draft.filter, hash))
			PG_RETURN_POINTER(state);
		CuckooDraftOpen(&draft, PointerGetDatum(state));
	}
	CuckooDraftAdd(&draft, hash);
	PG_RETURN_POINTER(CuckooDraftFinish(&draft));
}

/*
 * A transition function for keys of any type, and those for types known when
 * the function is written: planners that distribute aggregates call these
 * without an expression to take the type from, and with nothing kept from row
 * to row.
 */
#define POLYMORPHIC_TRANSITION(name, distinct) \
PG_FUNCTION_INFO_V1(name); \
Datum \
name(PG_FUNCTION_ARGS) \
{ \
	CuckooKey  *key; \
	\
	CuckooAggContext(fcinfo); \
	if (PG_ARGISNULL(1)) \
		return CuckooSameState(fcinfo); \
	key = CuckooGetKey(fcinfo, 1); \
	return Transition(fcinfo, distinct, CuckooKeyHash(key, PG_GETARG_DATUM(1), 0), \
					  key->kind, key->element_kind); \
}

#define TYPED_TRANSITION(name, distinct, type) \
PG_FUNCTION_INFO_V1(name); \
Datum \
name(PG_FUNCTION_ARGS) \
{ \
	CuckooKey	key; \
	\
	CuckooAggContext(fcinfo); \
	if (PG_ARGISNULL(1)) \
		return CuckooSameState(fcinfo); \
	CuckooKeyInit(&key, type, CuckooTypedCollation(fcinfo), CurrentMemoryContext); \
	return Transition(fcinfo, distinct, CuckooKeyHash(&key, PG_GETARG_DATUM(1), 0), \
					  key.kind, key.element_kind); \
}

#define TRANSITIONS(name, distinct) \
POLYMORPHIC_TRANSITION(name, distinct) \
TYPED_TRANSITION(name##_text, distinct, TEXTOID) \
TYPED_TRANSITION(name##_char, distinct, CHAROID) \
TYPED_TRANSITION(name##_int2, distinct, INT2OID) \
TYPED_TRANSITION(name##_int4, distinct, INT4OID) \
TYPED_TRANSITION(name##_int8, distinct, INT8OID) \
TYPED_TRANSITION(name##_uuid, distinct, UUIDOID) \
TYPED_TRANSITION(name##_bytea, distinct, BYTEAOID) \
TYPED_TRANSITION(name##_numeric, distinct, NUMERICOID) \
TYPED_TRANSITION(name##_float4, distinct, FLOAT4OID) \
TYPED_TRANSITION(name##_float8, distinct, FLOAT8OID) \
TYPED_TRANSITION(name##_date, distinct, DATEOID) \
TYPED_TRANSITION(name##_timestamp, distinct, TIMESTAMPOID) \
TYPED_TRANSITION(name##_timestamptz, distinct, TIMESTAMPTZOID)

/* cuckoo_stream_agg_transfn(state, key, fpr, capacity) */
TRANSITIONS(cuckoo_stream_agg_transfn, true)

/* cuckoo_multiset_agg_transfn(state, key, fpr, capacity) */
TRANSITIONS(cuckoo_multiset_agg_transfn, false)

/* Two partial states of the same parameters: the union or the merge of both. */
static Datum
Combine(FunctionCallInfo fcinfo, CuckooOperation operation)
{
	struct varlena *state;
	struct varlena *other;
	CuckooFilter filter;
	CuckooParameters left;
	CuckooParameters right;

	CuckooAggContext(fcinfo);
	if (PG_ARGISNULL(1))
		return CuckooSameState(fcinfo);
	other = PG_GETARG_VARLENA_PP(1);
	CuckooOpenFilter(&filter, other);
	if (PG_ARGISNULL(0))
		PG_RETURN_POINTER(CuckooCopyBytes(CuckooValueBytes(other), VARSIZE_ANY_EXHDR(other)));
	right = CuckooHeaderParameters(&filter);
	state = OpenState(fcinfo, &filter);
	left = CuckooHeaderParameters(&filter);
	CuckooMatchParameters(&left, &right);
	PG_RETURN_POINTER(CuckooCombineState(operation, state, other));
}

/* cuckoo_stream_agg_combine(state, state) */
PG_FUNCTION_INFO_V1(cuckoo_stream_agg_combine);
Datum
cuckoo_stream_agg_combine(PG_FUNCTION_ARGS)
{
	return Combine(fcinfo, CUCKOO_UNION);
}

/* cuckoo_multiset_agg_combine(state, state) */
PG_FUNCTION_INFO_V1(cuckoo_multiset_agg_combine);
Datum
cuckoo_multiset_agg_combine(PG_FUNCTION_ARGS)
{
	return Combine(fcinfo, CUCKOO_MERGE);
}
