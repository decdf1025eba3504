/*-------------------------------------------------------------------------
 *
 * call.h
 *	  What the SQL functions share: the handling of arguments.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_CALL_H
#define CUCKOO_CALL_H

#include "compat.h"

#include "utils/array.h"

#include "key.h"
#include "value.h"

/*
 * The parameters of a new filter, as given.  The capacity is float8, so that
 * users can write 1e6 and 1.1 * count(*).
 */
typedef struct CuckooParameters
{
	bool		has_capacity;
	double		capacity;
	double		fpr;
	uint64		seed;
} CuckooParameters;

/*
 * What a function keeps from call to call (in fn_extra): how its key argument
 * is hashed; and in aggregates, the parameters and key type of the last row.
 */
typedef struct CuckooCall
{
	bool		has_hasher;
	bool		has_row;
	bool		warned;			/* of the rate of a result */
	CuckooParameters parameters;	/* of the last row */
	CuckooHeader row;
	CuckooHasher hasher;
} CuckooCall;

extern CuckooCall *CuckooGetCall(FunctionCallInfo fcinfo);

/* How the values of a polymorphic argument, or the elements of an array, are hashed */
extern CuckooHasher *CuckooFindHasher(FunctionCallInfo fcinfo, int argument, bool elements);

/* The same for the values, with the usual case inline. */
static inline CuckooHasher *
CuckooGetHasher(FunctionCallInfo fcinfo, int argument)
{
	CuckooCall *call = (CuckooCall *) fcinfo->flinfo->fn_extra;

	return call != NULL && call->has_hasher ? &call->hasher :
		CuckooFindHasher(fcinfo, argument, false);
}

/*
 * Read count arguments: capacity, rate, seed.  One that is NULL or left out has
 * its default.
 */
static inline CuckooParameters
CuckooGetParameters(FunctionCallInfo fcinfo, int first, int count)
{
	CuckooParameters given = {.fpr = CUCKOO_DEFAULT_FPR};

	given.has_capacity = count > 0 && !PG_ARGISNULL(first);
	if (given.has_capacity)
		given.capacity = PG_GETARG_FLOAT8(first);
	if (count > 1 && !PG_ARGISNULL(first + 1))
		given.fpr = PG_GETARG_FLOAT8(first + 1);
	if (count > 2 && !PG_ARGISNULL(first + 2))
		given.seed = (uint64) PG_GETARG_INT64(first + 2);
	return given;
}

/* Check them: the header of a filter without key type and tables. */
extern CuckooHeader CuckooCheckParameters(const CuckooParameters *given);

/*
 * Hash the elements of an array argument, whose key type must be that of the
 * filter, and the same for all.  An array without any may be of another type:
 * drivers send an empty list as text[].  NULLs are left out, or if nulls is not
 * NULL, have the hash 0.
 */
extern CuckooList CuckooHashElements(FunctionCallInfo fcinfo, int argument, ArrayType *array,
									 const CuckooFilter *filter, bool **nulls);

/*
 * The hash of a key argument for a filter, whose key type must be the same.
 * The value is hashed first, because a record has its own key types.
 */
static inline uint64
CuckooArgumentHash(CuckooHasher *hasher, Datum value, const CuckooFilter *filter)
{
	uint64		hash = CuckooKeyHash(hasher, value, filter->header.seed);

	CuckooMatchKeyType(&filter->header, hasher);
	return hash;
}

/* Columns of a row, {value, is_null} each, and how many these are */
#define CUCKOO_COLUMNS(...) \
	(NullableDatum []) {__VA_ARGS__}, lengthof(((NullableDatum []) {__VA_ARGS__}))

/* A row of the type that the function returns; or one of the set that it returns */
extern Datum CuckooMakeRow(FunctionCallInfo fcinfo, const NullableDatum *columns, int count);
extern void CuckooPutRow(FunctionCallInfo fcinfo, const NullableDatum *columns, int count);

/* Define an SQL function that is one call of a C function. */
#define CUCKOO_FUNCTION(name, call) \
	PG_FUNCTION_INFO_V1(name); \
	Datum name(PG_FUNCTION_ARGS) { return call; } \
	extern Datum name(PG_FUNCTION_ARGS)

#endif							/* CUCKOO_CALL_H */
