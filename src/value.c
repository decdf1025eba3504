/*-------------------------------------------------------------------------
 *
 * value.c
 *	  Values of the type: opening arguments, making and changing values.
 *
 * A stored filter is a varlena whose content is the portable bytes of
 * format.h.  It may be packed, compressed or toasted, and is never aligned.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "build.h"
#include "cuckoo.h"

/* A value for so many portable bytes, all zero. */
struct varlena *
CuckooNewValue(size_t bytes)
{
	struct varlena *value = palloc(VARHDRSZ + bytes);

	for (size_t done = 0; done < VARHDRSZ + bytes; done += CUCKOO_PAUSE_BYTES)
	{
		CHECK_FOR_INTERRUPTS();
		memset((char *) value + done, 0, Min(CUCKOO_PAUSE_BYTES, VARHDRSZ + bytes - done));
	}
	SET_VARSIZE(value, VARHDRSZ + bytes);
	return value;
}

/* A varlena with a copy of these bytes. */
struct varlena *
CuckooCopyBytes(const uint8 *bytes, size_t length)
{
	struct varlena *copy = palloc(VARHDRSZ + length);

	SET_VARSIZE(copy, VARHDRSZ + length);
	for (size_t done = 0; done < length; done += CUCKOO_PAUSE_BYTES)
	{
		CHECK_FOR_INTERRUPTS();
		memcpy(VARDATA(copy) + done, bytes + done, Min(CUCKOO_PAUSE_BYTES, length - done));
	}
	return copy;
}

/* What an aggregate gives over no rows: an empty filter without parameters. */
struct varlena *
CuckooUnsetValue(void)
{
	CuckooFilter filter = {0};
	CuckooDraft draft;

	filter.flags = CUCKOO_FLAG_UNSET;
	CuckooDraftInit(&draft, &filter);
	return CuckooDraftFinish(&draft);
}

/* The portable bytes of a detoasted value. */
uint8 *
CuckooValueBytes(struct varlena *value)
{
	return (uint8 *) VARDATA_ANY(value);
}

#ifdef CUCKOO_CHECK
/*
 * Stop the server where a value is not what the validator would let in: as an
 * assertion does, because what made it cannot be trusted any more.  A flat
 * value may have room to spare, as a list's has; its size says what counts.
 */
void
CuckooAssertValid(struct varlena *value)
{
	CuckooVerdict verdict = CuckooValidate(CuckooValueBytes(value), VARSIZE_ANY_EXHDR(value),
										   NULL);

	if (verdict.problem != CUCKOO_VALID)
		elog(PANIC, "cuckoofilter made is not valid: problem %d, expected %llu, found %llu",
			 verdict.problem, (unsigned long long) verdict.expected,
			 (unsigned long long) verdict.found);
}
#endif

/*
 * An aggregate's state can be seen where aggregation is split between
 * servers.  It is not a filter yet.
 */
void
CuckooRefuseState(const CuckooFilter *filter)
{
	if (filter->body == CUCKOO_PARTIAL || filter->body == CUCKOO_STATE)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cuckoofilter is the partial state of an aggregate"),
				 errhint("Only the aggregate's own functions take it.")));
}

/* Open a detoasted value, which is to be a filter, not a state. */
void
CuckooOpenFilter(CuckooFilter *filter, struct varlena *value)
{
	CuckooOpen(filter, CuckooValueBytes(value));
	CuckooRefuseState(filter);
}

/* A draft of a value that has the header, body and room of this filter. */
void
CuckooDraftInit(CuckooDraft *draft, const CuckooFilter *filter)
{
	size_t		bytes = CuckooBytes(filter);

	if (filter->body == CUCKOO_LIST)
		bytes = CUCKOO_HEADER_BYTES + 8 * CuckooListLimit(filter);
	draft->filter = *filter;
	draft->value = CuckooNewValue(bytes);
	CuckooLayOut(&draft->filter, CuckooValueBytes(draft->value));
}

/* A draft that starts as a copy of a value. */
void
CuckooDraftOpen(CuckooDraft *draft, Datum value)
{
	CuckooDraftFrom(draft, value, PG_DETOAST_DATUM_PACKED(value));
}

/* The same, where the value was detoasted already. */
void
CuckooDraftFrom(CuckooDraft *draft, Datum value, struct varlena *source)
{
	CuckooFilter filter;

	CuckooOpen(&filter, CuckooValueBytes(source));
	CuckooRefuseState(&filter);
	if (filter.body == CUCKOO_LIST)
	{
		CuckooDraftInit(draft, &filter);
		memcpy(draft->filter.list, filter.list, filter.items * 8);
		return;
	}
	/* What was detoasted is a copy already. */
	if ((Pointer) source == DatumGetPointer(value) || VARATT_IS_SHORT(source))
		source = PG_DETOAST_DATUM_COPY(PointerGetDatum(source));
	draft->value = source;
	CuckooOpen(&draft->filter, CuckooValueBytes(source));
}

/*
 * What an empty filter takes from its first key: the kind, and, where it is
 * what an aggregate gave over no rows, the default parameters.
 */
void
CuckooDraftSet(CuckooDraft *draft, const CuckooKey *key)
{
	if (draft->filter.flags & CUCKOO_FLAG_UNSET)
	{
		CuckooFilterInit(&draft->filter, CUCKOO_DEFAULT_FPR, 0, 0, CUCKOO_SEMISORTED);
		CuckooDraftInit(draft, &draft->filter);
	}
	CuckooMatchKind(&draft->filter, key);
	draft->filter.kind = (uint8) key->kind;
	draft->filter.element_kind = (uint8) key->element_kind;
}

/* Make a draft one table larger; a list, a table. */
void
CuckooDraftGrow(CuckooDraft *draft)
{
	CuckooDraft smaller = *draft;
	CuckooFilter grown;

	switch (CuckooPlanGrowth(&draft->filter, &grown))
	{
		case CUCKOO_GROWTH_PLANNED:
			break;
		case CUCKOO_GROWTH_NO_TABLE:
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("cuckoofilter is full"),
					 errdetail("It has grown to %d tables, the most there can be, and holds %llu items.",
							   CUCKOO_MAX_TABLES,
							   (unsigned long long) draft->filter.items),
					 errhint("Build it anew from its keys with cuckoo_agg, or add them to a filter made by cuckoo_new with a capacity for all of them and their copies.")));
			break;
		case CUCKOO_GROWTH_TOO_LARGE:
			CuckooReportTooLarge(Max(draft->filter.capacity, draft->filter.items + 1),
								 draft->filter.fpr);
			break;
		case CUCKOO_GROWTH_IN_VAIN:
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("keys of the cuckoofilter collide too often"),
					 errdetail("It has %d tables, the most there can be, and the last one is less than a third full: under seed %lld many keys have the same places.",
							   CUCKOO_MAX_TABLES, (long long) draft->filter.seed),
					 errhint("Where keys come from strangers, add them to a filter made by cuckoo_new with a secret seed.")));
			break;
	}

	draft->value = CuckooNewValue(CuckooBytes(&grown));
	draft->filter = grown;
	CuckooGrow(&smaller.filter, &draft->filter, CuckooValueBytes(draft->value), CuckooPauseForInterrupts);
	if (smaller.filter.body == CUCKOO_LIST)
	{
		for (uint64 i = 0; i < smaller.filter.items; i++)
			CuckooDraftAdd(draft, CuckooListGet(&smaller.filter, i));
	}
	pfree(smaller.value);
}

/* Add one copy of a key, growing where there is no room. */
CuckooInsertResult
CuckooDraftAdd(CuckooDraft *draft, uint64 hash)
{
	CuckooInsertResult result;

	while ((result = CuckooFilterAdd(&draft->filter, hash)) == CUCKOO_FULL)
		CuckooDraftGrow(draft);
	return result;
}

/* The finished value. */
struct varlena *
CuckooDraftFinish(CuckooDraft *draft)
{
	CuckooWriteHeader(&draft->filter, CuckooValueBytes(draft->value));
	SET_VARSIZE(draft->value, VARHDRSZ + CuckooBytes(&draft->filter));
	CuckooAssertValid(draft->value);
	return draft->value;
}

/*
 * Build the table of a draft, block by block, from hashes in runs.  False where
 * a block had no room.
 */
static bool
BuildTable(CuckooDraft *draft, const CuckooRuns *runs)
{
	CuckooTable *table = &draft->filter.tables[0];
	const CuckooShape *shape = &table->shape;
	void	   *workspace = palloc(CuckooWorkspaceBytes(shape));
	uint64		room = 0;
	uint64	   *buffer = NULL;	/* the hashes of a block, in one piece, */
	uint64		start = 0;		/* from here on */
	uint64		buffered = 0;
	uint64		run = 0;
	bool		ok = true;

	for (uint32 block = 0; ok && block < shape->blocks; block++)
	{
		size_t		taken;

		CHECK_FOR_INTERRUPTS();

		/* All up to the first hash of the next block, or some more. */
		while (run < runs->count &&
			   (buffered == 0 || CuckooBlockOf(shape, buffer[start + buffered - 1]) == block))
		{
			const CuckooRun *next = &runs->runs[run++];

			if (start > 0)
				memmove(buffer, buffer + start, buffered * sizeof(uint64));
			start = 0;
			if (buffered + next->count > room)
			{
				room = Max(2 * room, buffered + next->count);
				buffer = buffer == NULL ?
					MemoryContextAllocHuge(CurrentMemoryContext, room * sizeof(uint64)) :
					repalloc_huge(buffer, room * sizeof(uint64));
			}
			memcpy(buffer + buffered, next->hashes, next->count * sizeof(uint64));
			buffered += next->count;
		}
		taken = CuckooBuildBlock(table, block, buffer + start, buffered, workspace,
								 draft->filter.seed, &ok);
		start += taken;
		buffered -= taken;
	}
	if (buffer != NULL)
		pfree(buffer);
	pfree(workspace);
	draft->filter.items = table->items;
	return ok;
}

/*
 * The filter of sorted hashes that no size of one table takes: because of many
 * copies, or made so that eight of them fill the two buckets of a ninth.  Slow,
 * but it grows for them.
 */
struct varlena *
CuckooBuildByAdding(const CuckooFilter *parameters, const CuckooRuns *runs)
{
	CuckooFilter filter = *parameters;
	CuckooDraft draft;

	filter.body = CUCKOO_LIST;
	filter.table_count = 0;
	filter.stashes = 0;
	filter.items = 0;
	CuckooDraftInit(&draft, &filter);
	for (uint64 run = 0; run < runs->count; run++)
	{
		CHECK_FOR_INTERRUPTS();
		for (uint64 i = 0; i < runs->runs[run].count; i++)
			CuckooDraftAdd(&draft, runs->runs[run].hashes[i]);
	}
	return CuckooDraftFinish(&draft);
}

/*
 * The filter over sorted distinct hashes, sized for them or for the capacity
 * stated, if that is larger: a list, or one table.
 */
struct varlena *
CuckooBuildValue(const CuckooFilter *parameters, const CuckooRuns *runs)
{
	CuckooFilter filter = *parameters;
	double		load = parameters->capacity == 0 ? CUCKOO_DESIGN_LOAD : CUCKOO_FULL_LOAD;
	int			bits = CuckooBitsFor(parameters->fpr, load, 0);
	CuckooDraft draft;

	filter.items = runs->total;
	filter.capacity = Max(parameters->capacity, runs->total);
	if (runs->total <= CUCKOO_SHORT_LIST)
	{
		uint64		at = 0;

		CuckooDraftInit(&draft, &filter);
		for (uint64 run = 0; run < runs->count; run++)
		{
			for (uint64 i = 0; i < runs->runs[run].count; i++)
				CuckooStore64(draft.filter.list + 8 * at++, runs->runs[run].hashes[i]);
		}
		return CuckooDraftFinish(&draft);
	}

	filter.body = CUCKOO_TABLES;
	filter.table_count = 1;
	filter.tables[0].items = 0;
	for (int attempt = 0; attempt < CUCKOO_MAX_ATTEMPTS; attempt++)
	{
		if (!CuckooShapeFor(&filter.tables[0].shape, filter.capacity, bits,
							CuckooFilterLayout(&filter), attempt) ||
			CuckooBytes(&filter) == 0)
			CuckooReportTooLarge(filter.capacity, filter.fpr);
		CuckooDraftInit(&draft, &filter);
		if (BuildTable(&draft, runs))
			return CuckooDraftFinish(&draft);
		pfree(draft.value);
	}
	return CuckooBuildByAdding(&filter, runs);
}
