/*-------------------------------------------------------------------------
 *
 * table.c
 *	  A table in either representation: building it and reading it back.
 *
 *-------------------------------------------------------------------------
 */
#include "table.h"

bool
CuckooTableBuild(CuckooTable *table, const CuckooSource *source, uint64_t seed)
{
	if (table->representation == CUCKOO_DENSE)
		return CuckooDenseBuild(&table->dense, source, seed);
	CuckooSparseBuild(&table->sparse, source);
	return true;
}

uint64_t *
CuckooTableCodes(const CuckooTable *table, const uint64_t *codes, uint64_t count, bool remove)
{
	uint64_t	stored = remove ? table->items + count : table->items - count;
	uint64_t	room = remove ? stored : table->items;
	uint64_t   *result = CuckooAllocate(room, sizeof(uint64_t));
	uint64_t   *base = result + (room - stored);

	if (stored > 0 && table->representation == CUCKOO_DENSE)
		CuckooDenseCodes(&table->dense, base);
	else if (stored > 0)
		CuckooSparseCodes(&table->sparse, base);
	CuckooEditCodes(result, stored, codes, count, remove);
	return result;
}
