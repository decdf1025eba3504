/*-------------------------------------------------------------------------
 *
 * compat.h
 *	  All differences between the supported versions of PostgreSQL (15 to 19),
 *	  in one place.
 *
 * Every file outside the core includes this first, and does not test
 * PG_VERSION_NUM itself.
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

/* Soft errors came with 16; before that an input function raises an error. */
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

/* From 18 on a module can state its name and version. */
#ifdef PG_MODULE_MAGIC_EXT
#define CUCKOO_MODULE_MAGIC(module, release) \
	PG_MODULE_MAGIC_EXT(.name = module, .version = release)
#else
#define CUCKOO_MODULE_MAGIC(module, release) \
	PG_MODULE_MAGIC
#endif

/* A function that does not return.  Since 18 this has another name. */
#ifdef pg_noreturn
#define CUCKOO_NORETURN pg_noreturn
#else
#define CUCKOO_NORETURN pg_attribute_noreturn()
#endif

/* Whether a role owns a table */
#if PG_VERSION_NUM >= 160000
#define CuckooOwnsTable(relid, role) object_ownercheck(RelationRelationId, relid, role)
#else
#define CuckooOwnsTable(relid, role) pg_class_ownercheck(relid, role)
#endif

/*
 * Generated columns that a filter cannot follow: virtual ones, which came with
 * 18, and stored ones since 17, because SET EXPRESSION rewrites them without
 * firing a trigger.
 */
#if PG_VERSION_NUM >= 170000
#define CuckooGeneratedIsRefused(generated) ((generated) != '\0')
#else
#define CuckooGeneratedIsRefused(generated) ((void) (generated), false)
#endif

/* A scan of a whole table has flags since 19. */
#if PG_VERSION_NUM >= 190000
#define CuckooBeginScan(rel, snapshot) table_beginscan(rel, snapshot, 0, NULL, SO_NONE)
#else
#define CuckooBeginScan(rel, snapshot) table_beginscan(rel, snapshot, 0, NULL)
#endif

#endif							/* CUCKOO_COMPAT_H */
