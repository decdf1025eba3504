/*-------------------------------------------------------------------------
 *
 * combine.c
 *	  Union and merge; see combine.h.
 *
 *-------------------------------------------------------------------------
 */
#include <string.h>

#include "build.h"
#include "combine.h"

/*
 * Headers
 */

/* The larger rate of tables, the smaller of what is exact. */
static double
CombinedRate(const CuckooFilter *left, const CuckooFilter *right)
{
	bool		left_exact = left->body != CUCKOO_TABLES || left->items == 0;
	bool		right_exact = right->body != CUCKOO_TABLES || right->items == 0;

	if (left_exact != right_exact)
		return left_exact ? right->fpr : left->fpr;
	if (left_exact)
		return left->fpr < right->fpr ? left->fpr : right->fpr;
	return left->fpr > right->fpr ? left->fpr : right->fpr;
}

CuckooConflict
CuckooCombineHeaders(CuckooOperation operation, const CuckooFilter *left,
					 const CuckooFilter *right, CuckooFilter *result)
{
	bool		left_first = left->items > 0 || right->items == 0;
	bool		both = (left->items > 0) == (right->items > 0);
	bool		same_kind = left->kind == right->kind &&
		left->element_kind == right->element_kind;
	const CuckooFilter *first;
	const CuckooFilter *second;

	if (left->flags & CUCKOO_FLAG_UNSET)
		left_first = false;
	else if (right->flags & CUCKOO_FLAG_UNSET)
		left_first = true;
	else if (both)
	{
		/* Of two empty filters one may have had no key yet. */
		if (left->kind == CUCKOO_KIND_NONE)
			left_first = false;
		else if (right->kind != CUCKOO_KIND_NONE && !same_kind)
			return CUCKOO_OTHER_KIND;
		if (left->seed != right->seed)
			return CUCKOO_OTHER_SEED;
	}
	first = left_first ? left : right;
	second = left_first ? right : left;

	*result = *first;
	result->body = CUCKOO_LIST;
	result->table_count = 0;
	result->stashes = 0;
	result->items = 0;
	if (second->flags & CUCKOO_FLAG_UNSET)
	{
		if (first->items == 0)
			result->flags &= (uint8_t) ~CUCKOO_FLAG_NOT_REMOVABLE;
		return CUCKOO_NO_CONFLICT;
	}
	result->flags = (left->flags | right->flags) & CUCKOO_FLAG_PLAIN;

	if (result->kind == CUCKOO_KIND_NONE)
	{
		result->kind = second->kind;
		result->element_kind = second->element_kind;
	}
	result->fpr = CombinedRate(left, right);
	if (result->capacity < second->capacity)
		result->capacity = second->capacity;
	if (operation == CUCKOO_UNION && left->items > 0 && right->items > 0 &&
		(left->body == CUCKOO_TABLES || right->body == CUCKOO_TABLES))
		result->flags |= CUCKOO_FLAG_NOT_REMOVABLE;
	if (left->items > 0)
		result->flags |= left->flags & CUCKOO_FLAG_NOT_REMOVABLE;
	if (right->items > 0)
		result->flags |= right->flags & CUCKOO_FLAG_NOT_REMOVABLE;
	return CUCKOO_NO_CONFLICT;
}

/*
 * Lists
 */

/* How many of the hashes from number at on are equal to the first of them. */
static uint64_t
RunLength(const CuckooFilter *list, uint64_t at)
{
	uint64_t	length = 1;

	while (at + length < list->items &&
		   CuckooListGet(list, at + length) == CuckooListGet(list, at))
		length++;
	return length;
}

/* Copies in the result of a key or class with so many on either side. */
static uint64_t
CombinedCopies(CuckooOperation operation, uint64_t left, uint64_t right)
{
	uint64_t	copies = operation == CUCKOO_MERGE ? left + right :
		left > right ? left : right;

	return copies < CUCKOO_MAX_COPIES ? copies : CUCKOO_MAX_COPIES;
}

uint64_t
CuckooCombineLists(CuckooOperation operation, const CuckooFilter *left,
				   const CuckooFilter *right, uint64_t *hashes)
{
	uint64_t	count = 0;
	uint64_t	i = 0;
	uint64_t	j = 0;

	while (i < left->items || j < right->items)
	{
		uint64_t	hash;
		uint64_t	of_left = 0;
		uint64_t	of_right = 0;
		uint64_t	copies;

		if (j == right->items ||
			(i < left->items && CuckooListGet(left, i) <= CuckooListGet(right, j)))
			hash = CuckooListGet(left, i);
		else
			hash = CuckooListGet(right, j);
		if (i < left->items && CuckooListGet(left, i) == hash)
			of_left = RunLength(left, i);
		if (j < right->items && CuckooListGet(right, j) == hash)
			of_right = RunLength(right, j);
		i += of_left;
		j += of_right;
		copies = CombinedCopies(operation, of_left, of_right);
		for (uint64_t k = 0; k < copies; k++)
			hashes[count++] = hash;
	}
	return count;
}

CuckooGrowth
CuckooPlanHashes(const CuckooFilter *header, uint64_t count, CuckooFilter *planned)
{
	CuckooFilter list = *header;
	CuckooGrowth growth;

	/* What one side stated may be less than what a long list brings. */
	list.body = CUCKOO_LIST;
	if (list.capacity > 0 && list.capacity < count)
		list.capacity = count;
	growth = CuckooPlanGrowth(&list, planned);
	planned->capacity = header->capacity;
	return growth;
}

bool
CuckooBuildHashes(CuckooFilter *planned, uint8_t *bytes, const uint64_t *hashes,
				  uint64_t count, void *workspace, CuckooPause pause)
{
	CuckooTable *table = &planned->tables[0];
	uint64_t	taken = 0;

	CuckooLayOut(planned, bytes);
	for (uint32_t block = 0; block < table->shape.blocks; block++)
	{
		bool		ok;

		if (pause != NULL)
			pause();
		taken += CuckooBuildBlock(table, block, hashes + taken, (size_t) (count - taken),
								  workspace, planned->seed, &ok);
		if (!ok)
			return false;
	}
	planned->items = table->items;
	CuckooWriteHeader(planned, bytes);
	return true;
}

CuckooInsertResult
CuckooAddList(CuckooOperation operation, CuckooFilter *filter,
			  const CuckooFilter *list, uint64_t *position)
{
	int			copies = 0;

	for (; *position < list->items; (*position)++)
	{
		uint64_t	hash = CuckooListGet(list, *position);

		/* Called again, it may be in the middle of a key's copies. */
		copies = 1;
		while (copies <= (int) *position &&
			   CuckooListGet(list, *position - (uint64_t) copies) == hash)
			copies++;

		/* The n-th copy is missing where there are less than n. */
		if (operation == CUCKOO_UNION && CuckooFilterCount(filter, hash) >= copies)
			continue;
		if (CuckooFilterAdd(filter, hash) == CUCKOO_FULL)
			return CUCKOO_FULL;
	}
	return CUCKOO_INSERTED;
}

/*
 * Tables
 */

/*
 * Whether tables of two filters have the same classes, and the same rules for
 * them; the layout may differ.
 */
static bool
CanBeOne(const CuckooFilter *left, int i, const CuckooFilter *right, int j)
{
	return CuckooSameClasses(&left->tables[i].shape, &right->tables[j].shape) &&
		CuckooIsStash(left, i) == CuckooIsStash(right, j);
}

/* Whether a filter has a stash for the classes of a shape. */
static bool
HasStash(const CuckooFilter *filter, const CuckooShape *shape)
{
	for (int i = 0; i < filter->table_count; i++)
	{
		if (CuckooIsStash(filter, i) &&
			CuckooSameClasses(&filter->tables[i].shape, shape))
			return true;
	}
	return false;
}

/* Add the classes of a table's block, marked with the side they are of. */
static void
Gather(CuckooClasses *classes, const CuckooTable *table, uint32_t number, uint64_t side)
{
	uint32_t	buckets = table->shape.buckets;
	uint64_t	base = (uint64_t) number * buckets;
	uint64_t   *list = classes->list;
	size_t		count = classes->count;

	for (uint32_t bucket = 0; bucket < buckets; bucket++)
	{
		uint32_t	entries[CUCKOO_ENTRIES];

		CuckooDecode(&table->code,
					 CuckooReadBits(&table->code, table->data, base + bucket), entries);
		for (int slot = 0; slot < CUCKOO_ENTRIES; slot++)
		{
			uint32_t	other = CuckooOtherBucket(entries[slot], bucket, buckets);

			list[count] = CuckooMakeClass(&table->shape, bucket, other, entries[slot]) | side;
			count += entries[slot] != 0;
		}
	}
	classes->count = count;
}

/*
 * The classes of a block of both tables, combined: each as often as the result
 * has it.  Returns how many have eight copies.
 */
static uint64_t
CombineBlock(CuckooOperation operation, const CuckooTable *left,
			 const CuckooTable *right, uint32_t number, CuckooClasses *classes)
{
	uint64_t	stuck = 0;
	uint64_t   *list = classes->list;
	size_t		kept = 0;
	size_t		i = 0;

	classes->count = 0;
	Gather(classes, left, number, 0);
	Gather(classes, right, number, 1);
	CuckooClassesSort(classes, &left->shape);
	while (i < classes->count)
	{
		uint64_t	class = list[i];
		uint64_t	copies[2] = {0, 0};
		uint64_t	combined;

		do
			copies[list[i++] & 1]++;
		while (i < classes->count && CuckooSameClass(class, list[i]));
		combined = CombinedCopies(operation, copies[0], copies[1]);
		stuck += combined == CUCKOO_MAX_COPIES;
		for (uint64_t k = 0; k < combined; k++)
			list[kept++] = class;
	}
	classes->count = kept;
	return stuck;
}

/*
 * Which of two tables to keep, of which one holds all classes that both have
 * together.  Where both do, the choice must not hang on their sides.
 */
static bool
KeepsLeft(const CuckooTable *left, const CuckooTable *right, uint64_t items)
{
	if (left->items != items || right->items != items)
		return left->items == items;
	if (left->shape.layout != right->shape.layout)
		return left->shape.layout < right->shape.layout;
	return memcmp(left->data, right->data, (size_t) CuckooShapeBytes(&left->shape)) <= 0;
}

/*
 * Whether the source's two tables, of the same classes, can be one: combined, or
 * without the classes that stick (relieved), or as that of them which holds all
 * that the other does; then the other is set to NULL.  Its items are an upper
 * bound.
 */
static bool
FitTogether(CuckooSource *source, void *workspace, CuckooPause pause)
{
	const CuckooTable *left = source->left;
	const CuckooTable *right = source->right;
	uint64_t	capacity = CuckooShapeCapacity(&left->shape);
	uint64_t	items = 0;
	uint64_t	stuck = 0;

	source->items = left->items + right->items;
	if (source->items <= capacity)
		return true;

	for (uint32_t block = 0; block < left->shape.blocks; block++)
	{
		CuckooClasses classes;

		if (pause != NULL)
			pause();
		CuckooClassesInit(&classes, &left->shape, workspace);
		stuck += CombineBlock(source->operation, left, right, block, &classes);
		items += classes.count;
	}
	source->items = items;
	if (items <= capacity)
		return true;

	/* Where one holds all that the other does, it is the result as it is. */
	if (items == left->items || items == right->items)
	{
		if (KeepsLeft(left, right, items))
			source->right = NULL;
		else
			source->left = NULL;
		source->shape = (source->left != NULL ? left : right)->shape;
		return true;
	}
	source->relieved = true;
	return !source->stash && items - CUCKOO_MAX_COPIES * stuck <= capacity;
}

void
CuckooCombineStart(CuckooCombination *combination, CuckooOperation operation,
				   const CuckooFilter *header)
{
	memset(combination, 0, sizeof(*combination));
	combination->operation = operation;
	combination->result = *header;
	combination->result.body = CUCKOO_TABLES;
}

size_t
CuckooCombineWorkspaceBytes(const CuckooFilter *left, const CuckooFilter *right)
{
	size_t		most = 0;

	for (int i = 0; i < left->table_count; i++)
	{
		for (int j = 0; j < right->table_count; j++)
		{
			const CuckooShape *shape = &left->tables[i].shape;
			size_t		bytes = CuckooWorkspaceBytes(shape) +
				(CuckooLeaverRoom(shape) + 1) * sizeof(uint64_t);

			if (bytes > most && CanBeOne(left, i, right, j))
				most = bytes;
		}
	}
	return most;
}

static const CuckooTable *
SourceTable(const CuckooSource *source)
{
	return source->left != NULL ? source->left : source->right;
}

/*
 * The order of tables in a filter: smaller first, as growth has it, and of equal
 * ones the fuller first, since the last is where keys are added; then by their
 * bytes, so that for tables held as they are it does not hang on their sides.
 * Stashes last.
 */
static bool
ComesAfter(const CuckooSource *a, const CuckooSource *b)
{
	const CuckooTable *table = SourceTable(a);
	const CuckooTable *other = SourceTable(b);
	const CuckooShape *shape = &a->shape;

	if (a->stash != b->stash)
		return a->stash;
	if (CuckooShapeBuckets(shape) != CuckooShapeBuckets(&b->shape))
		return CuckooShapeBuckets(shape) > CuckooShapeBuckets(&b->shape);
	if (shape->bits != b->shape.bits)
		return shape->bits > b->shape.bits;
	if (shape->blocks != b->shape.blocks)
		return shape->blocks > b->shape.blocks;
	if (a->items != b->items)
		return a->items < b->items;
	/* A new stash has no equal: there is one only where there was none. */
	if (shape->layout != b->shape.layout || table == NULL || other == NULL)
		return shape->layout > b->shape.layout;
	return memcmp(table->data, other->data, (size_t) CuckooShapeBytes(shape)) > 0;
}

/* One table of either side, as a source of the result's. */
static CuckooSource
SourceOf(const CuckooCombination *combination, const CuckooFilter *side, int i)
{
	CuckooSource source = {0};

	source.shape = side->tables[i].shape;
	source.items = side->tables[i].items;
	source.stash = CuckooIsStash(side, i);
	/* One entry is all that a stash needs of a class. */
	source.operation = source.stash ? CUCKOO_UNION : combination->operation;
	return source;
}

CuckooConflict
CuckooPlanTables(CuckooCombination *combination, const CuckooFilter *left,
				 const CuckooFilter *right, void *workspace, CuckooPause pause)
{
	CuckooFilter *result = &combination->result;
	CuckooSource sources[3 * CUCKOO_MAX_TABLES];
	bool		paired[CUCKOO_MAX_TABLES] = {false};
	int			count = left->table_count;
	int			tables;

	for (int i = 0; i < left->table_count; i++)
	{
		sources[i] = SourceOf(combination, left, i);
		sources[i].left = &left->tables[i];
	}
	for (int j = 0; j < right->table_count; j++)
	{
		bool		found = false;

		for (int i = 0; !found && i < left->table_count; i++)
		{
			CuckooSource pair = sources[i];

			pair.right = &right->tables[j];
			pair.relieved = !pair.stash &&
				((combination->tight[i] >> j & 1) != 0 ||
				 HasStash(left, &pair.shape) || HasStash(right, &pair.shape));
			found = !paired[i] && (combination->refused[i] >> j & 1) == 0 &&
				CanBeOne(left, i, right, j) && FitTogether(&pair, workspace, pause);
			if (found)
			{
				sources[i] = pair;
				paired[i] = true;
			}
		}
		if (!found)
		{
			sources[count] = SourceOf(combination, right, j);
			sources[count++].right = &right->tables[j];
		}
	}

	/* A stash for what is to have one, and has none. */
	tables = count;
	for (int i = 0; i < tables; i++)
	{
		bool		found = !sources[i].relieved;

		for (int j = 0; !found && j < count; j++)
			found = sources[j].stash &&
				CuckooSameClasses(&sources[j].shape, &sources[i].shape);
		if (!found)
		{
			CuckooSource stash = {0};

			stash.shape = sources[i].shape;
			stash.stash = true;
			sources[count++] = stash;
		}
	}
	if (count > CUCKOO_MAX_TABLES)
		return CUCKOO_TOO_MANY_TABLES;

	for (int i = 1; i < count; i++)
	{
		CuckooSource source = sources[i];
		int			j = i;

		for (; j > 0 && ComesAfter(&sources[j - 1], &source); j--)
			sources[j] = sources[j - 1];
		sources[j] = source;
	}
	result->table_count = (uint8_t) count;
	result->stashes = 0;
	for (int i = 0; i < count; i++)
	{
		combination->sources[i] = sources[i];
		result->stashes |= (uint16_t) (sources[i].stash << i);
		result->tables[i].shape = sources[i].shape;
		result->tables[i].shape.layout = (uint8_t) CuckooFilterLayout(result);
		result->tables[i].items = 0;
	}
	return CuckooBytes(result) == 0 ? CUCKOO_TOO_MANY_BYTES : CUCKOO_NO_CONFLICT;
}

/* Drop classes of a block that its stash has: one entry there says eight copies. */
static void
DropStashed(CuckooClasses *classes, const CuckooTable *stash, uint32_t block)
{
	size_t		kept = 0;
	bool		stashed = false;

	for (size_t i = 0; i < classes->count; i++)
	{
		uint64_t	class = classes->list[i];

		if (i == 0 || !CuckooSameClass(classes->list[i - 1], class))
		{
			CuckooPlace place = CuckooClassPlace(&stash->shape, block, class);

			stashed = CuckooTableCountAt(stash, &place) > 0;
		}
		if (!stashed)
			classes->list[kept++] = class;
	}
	classes->count = kept;
}

/*
 * Combine a block of two tables.  What leaves it for the stash, if there is one,
 * goes to the leavers.
 */
static bool
CombineInto(CuckooTable *table, const CuckooSource *source, uint32_t block,
			const CuckooTable *stash, CuckooClasses *leavers, uint64_t seed,
			void *workspace)
{
	CuckooClasses classes;
	uint64_t	items;

	CuckooClassesInit(&classes, &table->shape, workspace);
	CombineBlock(source->operation, source->left, source->right, block, &classes);
	if (stash != NULL)
		DropStashed(&classes, stash, block);
	else
		leavers = NULL;
	if (!CuckooPlaceClasses(table, block, &classes, leavers, seed, &items))
		return false;
	table->items += items;
	return true;
}

/* Add classes to a block of a stash, each once. */
static bool
AddLeavers(CuckooTable *stash, uint32_t block, const CuckooClasses *leavers,
		   uint64_t seed, void *workspace)
{
	CuckooClasses classes;
	size_t		before;
	size_t		kept = 0;
	uint64_t	items;

	if (leavers->count == 0)
		return true;
	CuckooClassesInit(&classes, &stash->shape, workspace);
	Gather(&classes, stash, block, 0);
	before = classes.count;
	memcpy(classes.list + classes.count, leavers->list, leavers->count * sizeof(uint64_t));
	classes.count += leavers->count;
	CuckooClassesSort(&classes, &stash->shape);
	for (size_t i = 0; i < classes.count; i++)
	{
		if (kept == 0 || !CuckooSameClass(classes.list[kept - 1], classes.list[i]))
			classes.list[kept++] = classes.list[i];
	}
	classes.count = kept;
	if (!CuckooPlaceClasses(stash, block, &classes, NULL, seed, &items))
		return false;
	stash->items += items - before;
	return true;
}

/* The first stash of the result for the classes of a shape. */
static CuckooTable *
ResultStash(CuckooFilter *result, const CuckooShape *shape)
{
	int			i = 0;

	while (!(CuckooIsStash(result, i) && CuckooSameClasses(&result->tables[i].shape, shape)))
		i++;
	return &result->tables[i];
}

bool
CuckooCombineTables(CuckooCombination *combination, const CuckooFilter *left,
					const CuckooFilter *right, uint8_t *bytes,
					void *workspace, CuckooPause pause)
{
	CuckooFilter *result = &combination->result;

	CuckooLayOut(result, bytes);
	result->items = 0;
	for (int i = 0; i < result->table_count; i++)
		result->tables[i].items = 0;

	/* From the last to the first: what leaves a table comes to a stash. */
	for (int i = result->table_count - 1; i >= 0; i--)
	{
		const CuckooSource *source = &combination->sources[i];
		CuckooTable *table = &result->tables[i];
		CuckooTable *stash = source->relieved ? ResultStash(result, &table->shape) : NULL;
		bool		placed = true;

		if (source->left == NULL || source->right == NULL)
		{
			if (SourceTable(source) != NULL)
				CuckooTableCopy(table, SourceTable(source), pause);
			continue;
		}
		for (uint32_t block = 0; placed && block < table->shape.blocks; block++)
		{
			CuckooClasses leavers = {0};

			if (pause != NULL)
				pause();
			leavers.list = (uint64_t *) workspace +
				CuckooWorkspaceBytes(&table->shape) / sizeof(uint64_t) + 1;
			placed = CombineInto(table, source, block, stash, &leavers,
								 result->seed, workspace) &&
				AddLeavers(stash, block, &leavers, result->seed, workspace);
		}
		if (!placed)
		{
			uint16_t   *refused = stash != NULL || source->stash ?
				combination->refused : combination->tight;

			refused[source->left - left->tables] |=
				(uint16_t) (1 << (source->right - right->tables));
			return false;
		}
	}
	for (int i = 0; i < result->table_count; i++)
		result->items += result->tables[i].items;
	CuckooWriteHeader(result, bytes);
	return true;
}
