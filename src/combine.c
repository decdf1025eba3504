/*-------------------------------------------------------------------------
 *
 * combine.c
 *	  Union and union all of any number of filters; see combine.h.
 *
 *-------------------------------------------------------------------------
 */
#include "combine.h"

/*
 * Headers
 */

CuckooConflict
CuckooCombineHeaders(CuckooOperation operation, const CuckooHeader *left,
					 const CuckooHeader *right, CuckooHeader *header)
{
	const CuckooHeader *first = left->flags & CUCKOO_FLAG_UNSET ? right : left;
	const CuckooHeader *second = first == left ? right : left;
	CuckooHeader result = *first;

	if (!(second->flags & CUCKOO_FLAG_UNSET))
	{
		if (left->key_type != CUCKOO_KEY_NONE && right->key_type != CUCKOO_KEY_NONE &&
			(left->key_type != right->key_type || left->signature != right->signature))
			return CUCKOO_OTHER_KEY_TYPE;
		if (left->seed != right->seed)
			return CUCKOO_OTHER_SEED;
		if (first->key_type == CUCKOO_KEY_NONE)
		{
			result.key_type = second->key_type;
			result.signature = second->signature;
		}
		if (second->fpr < result.fpr)
			result.fpr = second->fpr;
		if (second->capacity > result.capacity)
			result.capacity = second->capacity;
		result.flags |= second->flags;
		if (operation == CUCKOO_UNION && left->items > 0 && right->items > 0)
			result.flags |= CUCKOO_FLAG_NOT_REMOVABLE;
		result.items += second->items;
	}
	*header = result;
	return CUCKOO_NO_CONFLICT;
}

/*
 * Runs
 */

static void
AddRun(CuckooPool *pool, CuckooClass *classes, uint64_t count)
{
	pool->runs[pool->run_count].classes = classes;
	pool->runs[pool->run_count].count = count;
	pool->run_count++;
}

/* Copies in the result of a class that both sides have. */
static int
CombinedCopies(CuckooOperation operation, CuckooClass left, CuckooClass right)
{
	int			a = CuckooClassCopies(left);
	int			b = CuckooClassCopies(right);
	int			copies = operation == CUCKOO_UNION_ALL ? a + b : a > b ? a : b;

	return copies < CUCKOO_MAX_COPIES ? copies : CUCKOO_MAX_COPIES;
}

/* Merge the two last runs of a pool into one. */
static void
MergeRuns(CuckooCombination *combination, CuckooPool *pool)
{
	CuckooClassRun left = pool->runs[pool->run_count - 2];
	CuckooClassRun right = pool->runs[pool->run_count - 1];
	CuckooClass *result = CuckooAllocate(left.count + right.count,
										  sizeof(CuckooClass));
	uint64_t	i = 0;
	uint64_t	j = 0;
	uint64_t	count = 0;

	while (i < left.count && j < right.count)
	{
		CuckooClass a = left.classes[i];
		CuckooClass b = right.classes[j];

		if (count % 65536 == 0)
			CHECK_FOR_INTERRUPTS();
		if (CuckooClassCode(a) == CuckooClassCode(b))
		{
			result[count++] = CuckooMakeClass(CuckooClassCode(a),
											  CombinedCopies(combination->operation, a, b));
			i++;
			j++;
		}
		else
		{
			bool		first = a < b;

			result[count++] = first ? a : b;
			i += first;
			j += !first;
		}
	}
	CuckooCopy((uint8_t *) (result + count), (const uint8_t *) (left.classes + i),
			   (size_t) (left.count - i) * sizeof(CuckooClass));
	count += left.count - i;
	CuckooCopy((uint8_t *) (result + count), (const uint8_t *) (right.classes + j),
			   (size_t) (right.count - j) * sizeof(CuckooClass));
	count += right.count - j;

	combination->classes -= left.count + right.count - count;
	pfree(left.classes);
	pfree(right.classes);
	pool->run_count -= 2;
	AddRun(pool, result, count);
}

/* Add the classes of a table to the pool of its shape. */
static void
AddTable(CuckooCombination *combination, CuckooPool *pool, const CuckooTable *table)
{
	CuckooClass *classes;
	uint64_t	codes[CUCKOO_READ_CODES];
	CuckooTableSource base;
	CuckooSource *source;
	uint64_t	count = 0;
	size_t		read;

	if (table->items == 0)
		return;
	classes = CuckooAllocate(table->items, sizeof(CuckooClass));
	source = CuckooTableSourceInit(&base, table);
	while ((read = source->read(source, codes, CUCKOO_READ_CODES)) > 0)
	{
		if (count % 65536 < read)
			CHECK_FOR_INTERRUPTS();
		for (size_t i = 0; i < read; i++)
		{
			if (count > 0 && CuckooClassCode(classes[count - 1]) == codes[i])
				classes[count - 1]++;
			else
				classes[count++] = CuckooMakeClass(codes[i], 1);
		}
	}
	CuckooTableSourceRelease(&base);
	AddRun(pool, classes, count);
	combination->classes += count;
	while (pool->run_count > 1 &&
		   pool->runs[pool->run_count - 2].count < 2 * pool->runs[pool->run_count - 1].count)
		MergeRuns(combination, pool);
}

/*
 * Combinations
 */

void
CuckooCombinationInit(CuckooCombination *combination, CuckooOperation operation)
{
	combination->operation = operation;
	combination->classes = 0;
	combination->pool_count = 0;
	memset(&combination->header, 0, sizeof(CuckooHeader));
	combination->header.flags = CUCKOO_FLAG_UNSET;
}

/* The position of a shape among the pools, whether it is there or not. */
static int
PoolPosition(const CuckooCombination *combination, const CuckooShape *shape)
{
	int			i = 0;

	while (i < combination->pool_count &&
		   CuckooShapeOrder(&combination->pools[i]->shape, shape) < 0)
		i++;
	return i;
}

/* The pool of a shape, made if necessary.  There must be room for it. */
static CuckooPool *
GetPool(CuckooCombination *combination, const CuckooShape *shape)
{
	int			i = PoolPosition(combination, shape);
	CuckooPool *pool;

	if (i < combination->pool_count &&
		CuckooSameShape(&combination->pools[i]->shape, shape))
		return combination->pools[i];
	pool = palloc(sizeof(CuckooPool));
	pool->shape = *shape;
	pool->run_count = 0;
	memmove(&combination->pools[i + 1], &combination->pools[i],
			(size_t) (combination->pool_count - i) * sizeof(CuckooPool *));
	combination->pools[i] = pool;
	combination->pool_count++;
	return pool;
}

CuckooConflict
CuckooCombinationAdd(CuckooCombination *combination, const CuckooFilter *filter)
{
	int			pools = combination->pool_count;
	CuckooHeader header;
	CuckooConflict conflict;

	for (int i = 0; i < filter->table_count; i++)
	{
		const CuckooShape *shape = &filter->tables[i].shape;
		int			at = PoolPosition(combination, shape);

		pools += at == combination->pool_count ||
			!CuckooSameShape(&combination->pools[at]->shape, shape);
	}
	conflict = CuckooCombineHeaders(combination->operation, &combination->header,
									&filter->header,
									&header);
	if (conflict != CUCKOO_NO_CONFLICT)
		return conflict;
	if (pools > CUCKOO_MAX_TABLES)
		return CUCKOO_TOO_MANY_TABLES;
	combination->header = header;
	for (int i = 0; i < filter->table_count; i++)
		AddTable(combination, GetPool(combination, &filter->tables[i].shape),
				 &filter->tables[i]);
	return CUCKOO_NO_CONFLICT;
}

void
CuckooCombinationCollapse(CuckooCombination *combination)
{
	for (int i = 0; i < combination->pool_count; i++)
	{
		while (combination->pools[i]->run_count > 1)
			MergeRuns(combination, combination->pools[i]);
	}
}

uint8_t *
CuckooCombinationMake(CuckooCombination *combination, CuckooFilter *filter)
{
	CuckooClassSource sources[CUCKOO_MAX_TABLES];
	CuckooPart	parts[CUCKOO_MAX_TABLES];

	CuckooCombinationCollapse(combination);
	memset(parts, 0, sizeof(parts));
	filter->header = combination->header;
	for (int i = 0; i < combination->pool_count; i++)
	{
		CuckooPool *pool = combination->pools[i];
		const CuckooClassRun *run;

		run = pool->run_count == 0 ? NULL : &pool->runs[0];
		CuckooClassSourceInit(&sources[i], run == NULL ? NULL : run->classes,
							  run == NULL ? 0 : run->count);
		parts[i].shape = pool->shape;
		parts[i].source = &sources[i].source;
		parts[i].items = CuckooSourceCount(parts[i].source);
		if (parts[i].items > CUCKOO_MAX_ITEMS)
			return NULL;
		parts[i].representation = CuckooRepresentationFor(&pool->shape, parts[i].items);
	}
	return CuckooMakeFilter(filter, parts, combination->pool_count);
}

void
CuckooCombinationRelease(CuckooCombination *combination)
{
	for (int i = 0; i < combination->pool_count; i++)
	{
		CuckooPool *pool = combination->pools[i];

		for (int run = 0; run < pool->run_count; run++)
			pfree(pool->runs[run].classes);
		pfree(pool);
	}
	combination->pool_count = 0;
}
