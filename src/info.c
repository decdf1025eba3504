/*-------------------------------------------------------------------------
 *
 * info.c
 *	  SQL functions that look inside a filter.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/detoast.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "call.h"
#include "state.h"

/* One column of a result row. */
static void
InfoPut(Datum *values, bool *nulls, int column, Datum value, bool is_null)
{
	values[column] = value;
	nulls[column] = is_null;
}

static const char *const representation_names[] = {"sparse", "dense"};

/* How the tables of a filter are stored, or "partial". */
static const char *
RepresentationName(const CuckooFilter *filter)
{
	if (filter->content == CUCKOO_PARTIAL)
		return "partial";
	for (int i = 1; i < filter->table_count; i++)
	{
		if (filter->tables[i].representation != filter->tables[0].representation)
			return "mixed";
	}
	return filter->table_count == 0 ? "" : representation_names[filter->tables[0].representation];
}

/*
 * cuckoo_info(f) -> record.  Unlike the other functions in this file, it
 * accepts an aggregate's partial state.
 */
PG_FUNCTION_INFO_V1(cuckoo_info);
Datum
cuckoo_info(PG_FUNCTION_ARGS)
{
	Datum		value = PG_GETARG_DATUM(0);
	Size		bytes = toast_raw_datum_size(value);
	CuckooFilter filter;
	Datum		values[15];
	bool		nulls[15];
	uint64		entries = 0;
	uint64		blocks = 0;
	bool		has_tables;
	bool		unset;
	int			n = 0;

	if (CuckooContentOf((CuckooValue *) PG_DETOAST_DATUM_SLICE(value, 0, 2)) == CUCKOO_TABLES)
		CuckooReadHeader(value, &filter);
	else
	{
		CuckooValue *partial = CuckooSendableValue(DatumGetCuckooFilterP(value));

		CuckooOpenHeader(&filter, CuckooValueBytes(partial), VARSIZE_ANY_EXHDR(partial));
		bytes = VARSIZE_ANY_EXHDR(partial) + VARHDRSZ;
	}
	has_tables = filter.table_count > 0;
	unset = (filter.flags & CUCKOO_FLAG_UNSET) != 0;
	for (int i = 0; i < filter.table_count; i++)
	{
		entries += CuckooShapeEntries(&filter.tables[i].shape);
		blocks += filter.tables[i].shape.blocks;
	}

	InfoPut(values, nulls, n++, Int32GetDatum(filter.version), false);
	InfoPut(values, nulls, n++, CStringGetTextDatum(RepresentationName(&filter)), unset);
	InfoPut(values, nulls, n++,
			CStringGetTextDatum(CuckooKeyTypeName((CuckooKeyType) filter.key_type)),
			filter.key_type == CUCKOO_KEY_NONE);
	InfoPut(values, nulls, n++, Int64GetDatum((int64) filter.items), false);
	InfoPut(values, nulls, n++, Int64GetDatum((int64) filter.capacity), filter.capacity == 0);
	InfoPut(values, nulls, n++,
			Float8GetDatum(has_tables ? (double) filter.items / (double) entries : 0), !has_tables);
	InfoPut(values, nulls, n++, Float8GetDatum(filter.fpr), unset);
	InfoPut(values, nulls, n++, Float8GetDatum(CuckooFilterRate(&filter)), false);
	InfoPut(values, nulls, n++,
			Int32GetDatum(has_tables ? filter.tables[0].shape.bits : 0), !has_tables);
	InfoPut(values, nulls, n++, Int32GetDatum(filter.table_count), false);
	InfoPut(values, nulls, n++, Int64GetDatum((int64) blocks), false);
	InfoPut(values, nulls, n++, Int64GetDatum((int64) filter.seed), unset);
	InfoPut(values, nulls, n++, BoolGetDatum((filter.flags & CUCKOO_FLAG_NOT_REMOVABLE) == 0),
			false);
	InfoPut(values, nulls, n++, Int64GetDatum((int64) bytes), false);
	InfoPut(values, nulls, n++,
			Float8GetDatum(filter.items == 0 ? 0 : 8.0 * (double) bytes / (double) filter.items),
			filter.items == 0);
	Assert(n == lengthof(values));
	PG_RETURN_DATUM(CuckooMakeRow(fcinfo, values, nulls, n));
}

/* cuckoo_subfilters(f) -> setof record: one row per sub-filter, in their order */
PG_FUNCTION_INFO_V1(cuckoo_subfilters);
Datum
cuckoo_subfilters(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	CuckooFilter filter;

	InitMaterializedSRF(fcinfo, 0);
	CuckooReadHeader(PG_GETARG_DATUM(0), &filter);
	for (int i = 0; i < filter.table_count; i++)
	{
		const CuckooTable *table = &filter.tables[i];
		const CuckooShape *shape = &table->shape;
		Datum		values[] = {
			Int32GetDatum(i + 1),
			Int64GetDatum((int64) table->items),
			Int64GetDatum((int64) CuckooShapeCapacity(shape)),
			Float8GetDatum((double) table->items / (double) CuckooShapeEntries(shape)),
			Float8GetDatum(CuckooFilterTableRate(&filter, i)),
			Int32GetDatum(shape->bits),
			Int64GetDatum(shape->blocks),
			Int32GetDatum((int32) shape->buckets),
			Int64GetDatum((int64) CuckooTableStoredBytes(table)),
			CStringGetTextDatum(representation_names[table->representation])
		};
		bool		nulls[lengthof(values)] = {0};

		Assert(lengthof(values) == result->setDesc->natts);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	return (Datum) 0;
}

/* cuckoo_fpr(f) -> float8: the expected false-positive rate as it is now */
PG_FUNCTION_INFO_V1(cuckoo_fpr);
Datum
cuckoo_fpr(PG_FUNCTION_ARGS)
{
	CuckooFilter filter;

	CuckooReadHeader(PG_GETARG_DATUM(0), &filter);
	PG_RETURN_FLOAT8(CuckooFilterRate(&filter));
}

/* cuckoo_cardinality(f) -> bigint: the number of items */
PG_FUNCTION_INFO_V1(cuckoo_cardinality);
Datum
cuckoo_cardinality(PG_FUNCTION_ARGS)
{
	CuckooFilter filter;

	CuckooReadHeader(PG_GETARG_DATUM(0), &filter);
	PG_RETURN_INT64((int64) filter.items);
}
