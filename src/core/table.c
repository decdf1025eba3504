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
	CuckooList	codes;			/* of the run read last */
} EditReader;

#define SECTIONS_READ	32

/*
 * Take the edits of codes below end, and make room for them and so many numbers.
 * Returns where the stored codes belong: behind the room for these edits.
 */
static uint64_t *
TakeEdits(EditReader *reader, uint64_t end, uint64_t numbers, CuckooList *edit)
{
	*edit = (CuckooList) {reader->edit.numbers, 0, 0};
	while (edit->count < reader->edit.count && edit->numbers[edit->count] < end)
		edit->count++;
	if (edit->count > 0)
		reader->edit.numbers += edit->count;
	reader->edit.count -= edit->count;
	reader->codes.count = 0;
	CuckooListReserve(&reader->codes, edit->count + numbers);
	return reader->codes.numbers + edit->count;
}

static bool
ReadBlock(void *state, CuckooList *run)
{
	EditReader *reader = state;
	const CuckooShape *shape = &reader->table->shape;
	uint64_t	entries = (uint64_t) shape->buckets * CUCKOO_ENTRIES;
	uint64_t	block = reader->part;
	uint64_t   *stored;
	CuckooList	edit;

	/* After the end it may be asked again. */
	if (block == shape->blocks)
		return false;
	reader->part++;
	/* It needs as much again to sort its codes. */
	stored = TakeEdits(reader, (block + 1) * (shape->buckets / 2) << shape->bits, 2 * entries,
					   &edit);
	reader->codes.count = CuckooDenseCodes(&reader->table->dense, (uint32_t) block, stored,
										   stored + entries);
	CuckooListEdit(&reader->codes, edit, reader->remove);
	*run = reader->codes;
	return true;
}

static bool
ReadSections(void *state, CuckooList *run)
{
	EditReader *reader = state;
	const CuckooSparse *sparse = &reader->table->sparse;
	uint64_t	from = reader->part;
	uint64_t	to = sparse->sections - from < SECTIONS_READ ? sparse->sections :
		from + SECTIONS_READ;
	uint64_t	count = CuckooSparseStart(sparse, to) - CuckooSparseStart(sparse, from);
	uint64_t   *stored;
	CuckooList	edit;

	if (from == sparse->sections)
		return false;
	/* Never ask for nothing. */
	stored = TakeEdits(reader, CuckooSparseFirstCode(sparse, to), count + 1, &edit);
	CuckooSparseCodes(sparse, from, to, stored);
	reader->codes.count = count;
	CuckooListEdit(&reader->codes, edit, reader->remove);
	*run = reader->codes;
	reader->part = to;
	return true;
}

bool
CuckooTableBuild(CuckooTable *table, const CuckooPart *part, uint64_t seed)
{
	const CuckooTable *old = part->old;
	bool		same = old != NULL && old->representation == table->representation;
	EditReader	reader = {.table = old, .remove = part->remove};
	CuckooSource source = part->source;
	bool		built = true;

	if (old != NULL)
	{
		reader.edit = source.runs[0];
		source.next = old->representation == CUCKOO_DENSE ? ReadBlock : ReadSections;
		source.state = &reader;
	}
	if (same && reader.edit.count == 0)
		CuckooCopy(table->data, old->data, (size_t) CuckooTableStoredBytes(table));
	else if (table->representation == CUCKOO_DENSE)
		built = CuckooDenseBuild(&table->dense, &source, seed);
	else if (same && table->sparse.low_bits == old->sparse.low_bits)
		CuckooSparseEdit(&table->sparse, &old->sparse, reader.edit, part->remove);
	else
		CuckooSparseBuild(&table->sparse, &source);
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
