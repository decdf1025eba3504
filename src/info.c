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

#include "call.h"
#include "core/overlap.h"
#include "state.h"

static const char *const representation_names[] = {"sparse", "dense"};

/* How the tables of a filter are stored, or "partial". */
static const char *
RepresentationName(const CuckooFilter *filter)
{
	if (filter->header.content == CUCKOO_PARTIAL)
		return "partial";
	for (int i = 1; i < filter->header.table_count; i++)
	{
		if (filter->tables[i].representation != filter->tables[0].representation)
			return "mixed";
	}
	return filter->header.table_count == 0 ? "" :
		representation_names[filter->tables[0].representation];
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
	const CuckooHeader *header = &filter.header;
	double		items;
	double		entries = 0;
	int64		blocks = 0;
	bool		empty;
	bool		unset;

	if (CuckooContentOf((CuckooValue *) PG_DETOAST_DATUM_SLICE(value, 0, 2)) == CUCKOO_TABLES)
		CuckooReadHeader(value, &filter);
	else
	{
		CuckooValue *partial = CuckooSendableValue(DatumGetCuckooFilterP(value));

		CuckooOpenHeader(&filter, CuckooValueBytes(partial), VARSIZE_ANY_EXHDR(partial));
		bytes = VARSIZE_ANY_EXHDR(partial) + VARHDRSZ;
	}
	items = (double) header->items;
	empty = header->table_count == 0;
	unset = (header->flags & CUCKOO_FLAG_UNSET) != 0;
	for (int i = 0; i < header->table_count; i++)
	{
		entries += (double) CuckooShapeEntries(&filter.tables[i].shape);
		blocks += filter.tables[i].shape.blocks;
	}
	return CuckooMakeRow(fcinfo, CUCKOO_COLUMNS(
		{Int32GetDatum(filter.version), false},
		{CStringGetTextDatum(RepresentationName(&filter)), unset},
		{CStringGetTextDatum(CuckooKeyTypeName(header->kind.type)),
			header->kind.type == CUCKOO_KEY_NONE},
		{Int64GetDatum((int64) header->items), false},
		{Int64GetDatum((int64) header->capacity), header->capacity == 0},
		{Float8GetDatum(empty ? 0 : items / entries), empty},
		{Float8GetDatum(header->fpr), unset},
		{Float8GetDatum(CuckooFilterRate(&filter)), false},
		{Int32GetDatum(empty ? 0 : filter.tables[0].shape.bits), empty},
		{Int32GetDatum(header->table_count), false},
		{Int64GetDatum(blocks), false},
		{Int64GetDatum((int64) header->seed), unset},
		{BoolGetDatum((header->flags & CUCKOO_FLAG_NOT_REMOVABLE) == 0), false},
		{Int64GetDatum((int64) bytes), false},
		{Float8GetDatum(items == 0 ? 0 : 8.0 * (double) bytes / items), items == 0}));
}

/* cuckoo_subfilters(f) -> setof record: one row per sub-filter, in their order */
PG_FUNCTION_INFO_V1(cuckoo_subfilters);
Datum
cuckoo_subfilters(PG_FUNCTION_ARGS)
{
	CuckooFilter filter;

	InitMaterializedSRF(fcinfo, 0);
	CuckooReadHeader(PG_GETARG_DATUM(0), &filter);
	for (int i = 0; i < filter.header.table_count; i++)
	{
		const CuckooTable *table = &filter.tables[i];
		const CuckooShape *shape = &table->shape;

		CuckooPutRow(fcinfo, CUCKOO_COLUMNS(
			{Int32GetDatum(i + 1), false},
			{Int64GetDatum((int64) table->items), false},
			{Int64GetDatum((int64) CuckooShapeCapacity(shape)), false},
			{Float8GetDatum((double) table->items / (double) CuckooShapeEntries(shape)), false},
			{Float8GetDatum(CuckooFilterTableRate(&filter, i)), false},
			{Int32GetDatum(shape->bits), false},
			{Int64GetDatum(shape->blocks), false},
			{Int32GetDatum((int32) shape->buckets), false},
			{Int64GetDatum((int64) CuckooTableStoredBytes(table)), false},
			{CStringGetTextDatum(representation_names[table->representation]), false}));
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

/*
 * cuckoo_cardinality(f) -> bigint: the number of items.  The header tells it unless
 * several sub-filters of a union can have the same keys.
 */
PG_FUNCTION_INFO_V1(cuckoo_cardinality);
Datum
cuckoo_cardinality(PG_FUNCTION_ARGS)
{
	CuckooFilter filter;

	CuckooReadHeader(PG_GETARG_DATUM(0), &filter);
	if (CuckooItemsMayRepeat(&filter))
		CuckooOpenFilter(&filter, PG_GETARG_CUCKOOFILTER_P(0));
	PG_RETURN_INT64((int64) CuckooDistinctItems(&filter));
}
