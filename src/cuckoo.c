/*-------------------------------------------------------------------------
 *
 * cuckoo.c
 *	  The module: what PostgreSQL reads and runs when it loads the library.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "utils/guc.h"

#include "index/index.h"
#include "reader.h"

CUCKOO_MODULE_MAGIC("cuckoo", "1.0.0");

PGDLLEXPORT void _PG_init(void);

void
_PG_init(void)
{
	CuckooReaderInit();
	CuckooIndexInit();
	MarkGUCPrefixReserved("cuckoo");
}
