/* portable_page.c with short entries and few links, so that every limit is reached */
#define CUCKOO_ENTRY_BITS	32
#define CUCKOO_MAX_LINKS	4

#include "page.c"
#include "portable_page.c"
