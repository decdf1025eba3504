/*-------------------------------------------------------------------------
 *
 * lookup.c
 *	  SQL functions that look keys up in a filter (contains, count), and those
 *	  that hash a key (hash, shard).
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"

#include "call.h"
#include "reader.h"

static inline bool
LookupContains(FunctionCallInfo fcinfo, int filter_argument, int key_argument)
{
	CuckooHasher *hasher = CuckooGetHasher(fcinfo, key_argument);
	CuckooReader *reader = CuckooRead(PG_GETARG_DATUM(filter_argument), 1);
	uint64		hash = CuckooArgumentHash(hasher, PG_GETARG_DATUM(key_argument), &reader->filter);
	bool		found = CuckooReaderContains(reader, hash);

	/* All elements of f @> ANY (array) are looked up in one memory context. */
	if (reader->copy != NULL)
		pfree(reader->copy);
	return found;
}

/* cuckoo_contains(f, key), f @> key */
CUCKOO_FUNCTION(cuckoo_contains, BoolGetDatum(LookupContains(fcinfo, 0, 1)));

/* cuckoo_contained(key, f), key <@ f */
CUCKOO_FUNCTION(cuckoo_contained, BoolGetDatum(LookupContains(fcinfo, 1, 0)));

/* cuckoo_count(f, key) -> integer: copies, 0 to 8 */
PG_FUNCTION_INFO_V1(cuckoo_count);
Datum
cuckoo_count(PG_FUNCTION_ARGS)
{
	CuckooHasher *hasher = CuckooGetHasher(fcinfo, 1);
	CuckooReader *reader = CuckooRead(PG_GETARG_DATUM(0), 1);

	PG_RETURN_INT32(CuckooReaderCount(reader, CuckooArgumentHash(hasher, PG_GETARG_DATUM(1),
																 &reader->filter)));
}

/* cuckoo_hash(key, seed) -> bigint: the hash in filters with this seed */
PG_FUNCTION_INFO_V1(cuckoo_hash);
Datum
cuckoo_hash(PG_FUNCTION_ARGS)
{
	CuckooHasher *hasher = CuckooGetHasher(fcinfo, 0);

	PG_RETURN_INT64((int64) CuckooKeyHash(hasher, PG_GETARG_DATUM(0), (uint64) PG_GETARG_INT64(1)));
}

/* cuckoo_shard(key, shards) -> integer: its shard, 0 to shards - 1 */
PG_FUNCTION_INFO_V1(cuckoo_shard);
Datum
cuckoo_shard(PG_FUNCTION_ARGS)
{
	CuckooHasher *hasher = CuckooGetHasher(fcinfo, 0);
	int32		shards = PG_GETARG_INT32(1);
	uint64		hash;

	if (shards < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of shards must be at least 1, not %d",
						shards)));
	hash = CuckooKeyHash(hasher, PG_GETARG_DATUM(0), CUCKOO_SHARD_SEED);
	PG_RETURN_INT32((int32) (((hash >> 32) * (uint64) shards) >> 32));
}

/* cuckoo_contains_each(f, keys) -> boolean[] with the dimensions of keys */
PG_FUNCTION_INFO_V1(cuckoo_contains_each);
Datum
cuckoo_contains_each(PG_FUNCTION_ARGS)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(1);
	CuckooReader *reader;
	CuckooList	hashes;
	bool	   *nulls;
	Datum	   *answers;

	reader = CuckooRead(PG_GETARG_DATUM(0), ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)));
	hashes = CuckooHashElements(fcinfo, 1, array, &reader->filter, &nulls);
	answers = palloc0(hashes.count * sizeof(Datum));
	for (uint64 i = 0; i < hashes.count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (reader->slices == NULL)
			CuckooFilterPrefetch(&reader->filter, hashes.numbers, i, hashes.count);
		if (!nulls[i])
			answers[i] = BoolGetDatum(CuckooReaderContains(reader, hashes.numbers[i]));
	}
	PG_RETURN_ARRAYTYPE_P(construct_md_array(answers, nulls,
											 ARR_NDIM(array), ARR_DIMS(array),
											 ARR_LBOUND(array),
											 BOOLOID, 1, true, TYPALIGN_CHAR));
}
