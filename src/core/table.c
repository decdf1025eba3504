/*-------------------------------------------------------------------------
 *
 * table.c
 *	  A table in either representation: building it and reading it back.
 *
 *-------------------------------------------------------------------------
 */
#include "table.h"

/*
 * Reads the edited codes of a table for a build, as many at a time as a block or
 * some sections have.  All of them would need eight bytes each.
 */
typedef struct EditReader
{
	const CuckooTable *table;
	CuckooList	edit;			/* codes not yet added or removed */
	bool		remove;
	uint64_t	part;			/* number of the next block or section */
	CuckooList	codes;
} EditReader;

#define SECTIONS_READ	32

static bool
ReadEditedRun(void *state, CuckooList *run)
{
	EditReader *reader = state;
	const CuckooTable *table = reader->table;
	const CuckooShape *shape = &table->shape;
	bool		dense = table->representation == CUCKOO_DENSE;
	uint64_t	from = reader->part;
	uint64_t	to = from + 1;
	uint64_t	end;			/* the codes are below this */
	uint64_t	stored;
	uint64_t   *others;
	CuckooList	edit = {reader->edit.numbers, 0, 0};	/* those of this part */
	CuckooList *codes = &reader->codes;

	if (from == (dense ? shape->blocks : table->sparse.sections))
		return false;
	if (dense)
	{
		end = to * (shape->buckets / 2) << shape->bits;
		stored = (uint64_t) shape->buckets * CUCKOO_ENTRIES;
	}
	else
	{
		to = table->sparse.sections - from < SECTIONS_READ ? table->sparse.sections :
			from + SECTIONS_READ;
		end = CuckooSparseFirstCode(&table->sparse, to);
		stored = CuckooSparseStart(&table->sparse, to) - CuckooSparseStart(&table->sparse, from);
	}
	while (edit.count < reader->edit.count && edit.numbers[edit.count] < end)
		edit.count++;
	/* A block needs as much again to sort its codes.  Never ask for nothing. */
	codes->count = 0;
	CuckooListReserve(codes, edit.count + (dense ? 2 * stored : stored + 1));
	others = codes->numbers + edit.count;
	if (dense)
		stored = CuckooDenseCodes(&table->dense, (uint32_t) from, others, others + stored);
	else
		CuckooSparseCodes(&table->sparse, from, to, others);
	codes->count = stored;
	CuckooListEdit(codes, edit, reader->remove);
	*run = *codes;
	if (edit.count > 0)
		reader->edit.numbers += edit.count;
	reader->edit.count -= edit.count;
	reader->part = to;
	return true;
}

/* Fill a table with the codes of a source. */
static bool
Fill(CuckooTable *table, const CuckooSource *source, uint64_t seed)
{
	if (table->representation == CUCKOO_DENSE)
		return CuckooDenseBuild(&table->dense, source, seed);
	CuckooSparseBuild(&table->sparse, source);
	return true;
}

bool
CuckooTableBuild(CuckooTable *table, const CuckooPart *part, uint64_t seed)
{
	const CuckooTable *old = part->old;
	EditReader	reader = {.table = old, .remove = part->remove};
	CuckooSource edited = {.next = ReadEditedRun, .state = &reader};
	bool		built = true;

	if (old == NULL)
		return Fill(table, &part->source, seed);
	reader.edit = part->source.runs[0];
	if (table->representation == old->representation && reader.edit.count == 0)
		CuckooCopy(table->data, old->data, (size_t) CuckooTableStoredBytes(table));
	else if (table->representation == CUCKOO_SPARSE && old->representation == CUCKOO_SPARSE &&
			 table->sparse.low_bits == old->sparse.low_bits)
		CuckooSparseEdit(&table->sparse, &old->sparse, reader.edit, part->remove);
	else
		built = Fill(table, &edited, seed);
	CuckooListFree(&reader.codes);
	return built;
}

CuckooList
CuckooTableCodes(const CuckooTable *table)
{
	uint64_t	items = table->items;
	CuckooList	codes = {CuckooAllocate(items, sizeof(uint64_t)), items, items};
	uint64_t	count = 0;
	uint64_t   *scratch;

	if (table->representation == CUCKOO_SPARSE)
	{
		CuckooSparseCodes(&table->sparse, 0, table->sparse.sections, codes.numbers);
		return codes;
	}
	scratch = CuckooAllocate(table->shape.buckets, CUCKOO_ENTRIES * sizeof(uint64_t));
	for (uint32_t block = 0; block < table->shape.blocks; block++)
		count += CuckooDenseCodes(&table->dense, block, codes.numbers + count, scratch);
	pfree(scratch);
	return codes;
}
