/*-------------------------------------------------------------------------
 *
 * compat.h
 *	  What differs between the supported versions of PostgreSQL (15 to 18,
 *	  ready for 19), in one place.
 *
 * Every file that is not of the core includes this directly after
 * postgres.h, and tests PG_VERSION_NUM nowhere itself.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_COMPAT_H
#define CUCKOO_COMPAT_H

#include "postgres.h"

#include "fmgr.h"

/* The varlena macros moved out of postgres.h in 16. */
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

/* Soft errors came with 16; before that an input function just raises. */
#if PG_VERSION_NUM >= 160000
#include "nodes/miscnodes.h"
#else
#define ereturn(escontext, dummy_value, ...) \
	do { \
		(void) (escontext); \
		ereport(ERROR, __VA_ARGS__); \
		return dummy_value; \
	} while (0)
#endif

/* From 18 on a module can tell its name and version. */
#ifdef PG_MODULE_MAGIC_EXT
#define CUCKOO_MODULE_MAGIC(module, release) \
	PG_MODULE_MAGIC_EXT(.name = module, .version = release)
#else
#define CUCKOO_MODULE_MAGIC(module, release) \
	PG_MODULE_MAGIC
#endif

/* "Does not return" became a keyword before the function in 18. */
#ifdef pg_noreturn
#define CUCKOO_NORETURN pg_noreturn
#else
#define CUCKOO_NORETURN
#endif

#endif							/* CUCKOO_COMPAT_H */
