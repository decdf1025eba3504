/*-------------------------------------------------------------------------
 *
 * combine.c
 *	  Combining filters; see combine.h.
 *
 *-------------------------------------------------------------------------
 */
#include "combine.h"

CuckooConflict
CuckooCombineHeaders(CuckooOperation operation, const CuckooHeader *left,
					 const CuckooHeader *right, CuckooHeader *header)
{
	const CuckooHeader *first = left->flags & CUCKOO_FLAG_UNSET ? right : left;
	const CuckooHeader *second = first == left ? right : left;
	CuckooHeader result = *first;

	if (!(second->flags & CUCKOO_FLAG_UNSET))
	{
		if (!CuckooSameKeyKind(left->kind, right->kind))
			return CUCKOO_OTHER_KEY_TYPE;
		if (left->seed != right->seed)
			return CUCKOO_OTHER_SEED;
		if (first->kind.type == CUCKOO_KEY_NONE)
			result.kind = second->kind;
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

/* Append a code to sorted ones unless it is there eight times already. */
static inline uint64_t
AppendCode(uint64_t *codes, uint64_t count, uint64_t code)
{
	codes[count] = code;
	return count + (count < CUCKOO_MAX_COPIES || codes[count - CUCKOO_MAX_COPIES] != code);
}

/*
 * Merge the two last runs of a pool into one.  If both sides have a class, a
 * union pairs off their copies, which leaves the larger number of them.
 */
static void
MergeRuns(CuckooOperation operation, CuckooPool *pool)
{
	CuckooList	left = pool->runs[pool->run_count - 2];
	CuckooList	right = pool->runs[pool->run_count - 1];
	uint64_t   *result = CuckooAllocate(left.count + right.count, sizeof(uint64_t));
	uint64_t	i = 0;
	uint64_t	j = 0;
	uint64_t	count = 0;
	CuckooList	rest;

	while (i < left.count && j < right.count)
	{
		uint64_t	a = left.numbers[i];
		uint64_t	b = right.numbers[j];

		CuckooCheckInterruptsAt(count);
		i += a <= b;
		if (operation == CUCKOO_UNION)
		{
			/* The larger number of copies is not too large. */
			j += b <= a;
			result[count++] = a <= b ? a : b;
		}
		else
		{
			j += b < a;
			count = AppendCode(result, count, a <= b ? a : b);
		}
	}
	rest = i < left.count ? left : right;
	for (uint64_t at = i < left.count ? i : j; at < rest.count; at++)
	{
		CuckooCheckInterruptsAt(at);
		count = AppendCode(result, count, rest.numbers[at]);
	}
	pfree(left.numbers);
	pfree(right.numbers);
	pool->run_count -= 2;
	pool->runs[pool->run_count++] = (CuckooList) {result, count, count};
}

static void
AddTable(CuckooOperation operation, CuckooPool *pool, const CuckooTable *table)
{
	if (table->items == 0)
		return;
	if (pool->only.data == NULL && pool->run_count == 0 &&
		table->representation == CuckooRepresentationFor(&table->shape, table->items))
	{
		size_t		bytes = (size_t) CuckooTableStoredBytes(table);
		uint8_t    *data = palloc(bytes + CUCKOO_TAIL_BYTES);

		CuckooCopy(data, table->data, bytes);
		memset(data + bytes, 0, CUCKOO_TAIL_BYTES);
		pool->only = *table;
		CuckooTableSetData(&pool->only, data);
		return;
	}
	if (pool->only.data != NULL)
	{
		pool->runs[pool->run_count++] = CuckooTableCodes(&pool->only);
		pfree(pool->only.data);
		pool->only.data = NULL;
	}
	pool->runs[pool->run_count++] = CuckooTableCodes(table);
	while (pool->run_count > 1 &&
		   pool->runs[pool->run_count - 2].count < 2 * pool->runs[pool->run_count - 1].count)
		MergeRuns(operation, pool);
}

void
CuckooCombinationInit(CuckooCombination *combination, CuckooOperation operation)
{
	*combination = (CuckooCombination) {.operation = operation, .header.flags = CUCKOO_FLAG_UNSET};
}

/* Whether a shape has a pool; sets *i to its position, or where it would be. */
static bool
FindPool(const CuckooCombination *combination, const CuckooShape *shape, int *i)
{
	int			order = -1;

	for (*i = 0; *i < combination->pool_count; (*i)++)
	{
		order = CuckooShapeOrder(&combination->pools[*i]->shape, shape);
		if (order >= 0)
			break;
	}
	return order == 0;
}

CuckooConflict
CuckooCombinationAdd(CuckooCombination *combination, const CuckooFilter *filter)
{
	CuckooPool **pools = combination->pools;
	int			pool_count = combination->pool_count;
	CuckooHeader header;
	CuckooConflict conflict;

	for (int i = 0, at; i < filter->header.table_count; i++)
		pool_count += !FindPool(combination, &filter->tables[i].shape, &at);
	conflict = CuckooCombineHeaders(combination->operation, &combination->header,
									&filter->header, &header);
	if (conflict != CUCKOO_NO_CONFLICT)
		return conflict;
	if (pool_count > CUCKOO_MAX_TABLES)
		return CUCKOO_TOO_MANY_TABLES;
	combination->header = header;
	for (int i = 0, at; i < filter->header.table_count; i++)
	{
		const CuckooTable *table = &filter->tables[i];

		if (!FindPool(combination, &table->shape, &at))
		{
			memmove(&pools[at + 1], &pools[at],
					(size_t) (combination->pool_count++ - at) * sizeof(CuckooPool *));
			pools[at] = palloc(sizeof(CuckooPool));
			*pools[at] = (CuckooPool) {.shape = table->shape};
		}
		AddTable(combination->operation, pools[at], table);
	}
	return CUCKOO_NO_CONFLICT;
}

void
CuckooCombinationCollapse(CuckooCombination *combination)
{
	for (int i = 0; i < combination->pool_count; i++)
	{
		while (combination->pools[i]->run_count > 1)
			MergeRuns(combination->operation, combination->pools[i]);
	}
}

uint8_t *
CuckooCombinationMake(CuckooCombination *combination, CuckooFilter *filter)
{
	CuckooPart	parts[CUCKOO_MAX_TABLES];

	CuckooCombinationCollapse(combination);
	filter->header = combination->header;
	for (int i = 0; i < combination->pool_count; i++)
	{
		const CuckooPool *pool = combination->pools[i];

		parts[i] = CuckooPartOf(&pool->shape, pool->runs);
		if (pool->only.data != NULL)
		{
			parts[i].old = &pool->only;
			parts[i].items = pool->only.items;
			parts[i].representation = pool->only.representation;
		}
		if (parts[i].items > CUCKOO_MAX_ITEMS)
			return NULL;
	}
	return CuckooMakeFilter(filter, parts, combination->pool_count);
}

void
CuckooCombinationRelease(CuckooCombination *combination)
{
	for (int i = 0; i < combination->pool_count; i++)
	{
		CuckooPool *pool = combination->pools[i];

		if (pool->only.data != NULL)
			pfree(pool->only.data);
		for (int run = 0; run < pool->run_count; run++)
			pfree(pool->runs[run].numbers);
		pfree(pool);
	}
	combination->pool_count = 0;
}
