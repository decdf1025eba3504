/*-------------------------------------------------------------------------
 *
 * combine.h
 *	  Union and merge: two filters become one.
 *
 * Union is the union of sets: of each key the larger number of copies.  Merge
 * is the sum of multisets: the copies of both, up to eight.
 *
 * A table knows classes, not hashes, and classes mean something only within
 * their shape.  So:
 *
 * - Two tables of equal shape become one where the result is within its design
 *	 load: block by block, as a build does it, so that the bytes depend only on
 *	 the classes.
 *
 * - Other tables are held side by side.  Nothing is ever dropped for lack of
 *	 room.
 *
 * - A list has hashes, and goes into whatever there is.
 *
 * - Stashes combine with stashes alone, each class once.  Where tables that
 *	 become one have a stash, or do not fit without, their classes with eight
 *	 copies go there, see filter.h; and what a stash has leaves the table.
 *
 * Where tables take part in a union two keys may share an entry afterwards,
 * since only fingerprints were compared: the result is marked not removable.
 * A merge keeps a copy of each, and lists compare hashes.
 *
 * This file is part of the core and needs nothing of PostgreSQL.  Memory
 * comes from the caller.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_COMBINE_H
#define CUCKOO_COMBINE_H

#include "filter.h"

typedef enum CuckooOperation
{
	CUCKOO_UNION,
	CUCKOO_MERGE
} CuckooOperation;

/* Why two filters cannot be combined. */
typedef enum CuckooConflict
{
	CUCKOO_NO_CONFLICT,
	CUCKOO_OTHER_SEED,
	CUCKOO_OTHER_KIND,
	CUCKOO_TOO_MANY_TABLES,		/* more than sixteen to hold */
	CUCKOO_TOO_MANY_BYTES		/* more than CUCKOO_MAX_BYTES to hold */
} CuckooConflict;

/*
 * The header of the result, an empty list with it in *result:
 *
 * kind, seed	those of both; of one of them where the other is empty.
 * rate			of the tables, the larger where both have some; of two lists
 *				the smaller, because they are exact and can keep either.
 * capacity		the larger: filters meant to be combined state the capacity of
 *				the whole.
 * layout		plain where one is: that must have been asked for.
 *
 * An unset filter takes everything from the other.
 */
extern CuckooConflict CuckooCombineHeaders(CuckooOperation operation,
										   const CuckooFilter *left,
										   const CuckooFilter *right,
										   CuckooFilter *result);

/*
 * The hashes of two lists, sorted, into memory for both; returns how many.
 */
extern uint64_t CuckooCombineLists(CuckooOperation operation,
								   const CuckooFilter *left,
								   const CuckooFilter *right,
								   uint64_t *hashes);

/*
 * What a filter with this header becomes with so many hashes, more than a list
 * of it holds: one table.  As CuckooPlanGrowth.
 */
extern CuckooGrowth CuckooPlanHashes(const CuckooFilter *header, uint64_t count,
									 CuckooFilter *planned);

/*
 * Build the table planned from sorted hashes, block by block, as an aggregate
 * does it, in CuckooBytes(planned) zero bytes and with CuckooWorkspaceBytes of
 * its shape.  False where they found no room in one table: then they are to be
 * added one by one.
 */
extern bool CuckooBuildHashes(CuckooFilter *planned, uint8_t *bytes,
							  const uint64_t *hashes, uint64_t count,
							  void *workspace, CuckooPause pause);

/*
 * Put the hashes of a list from *position on into tables: all of them, or as
 * many copies as are missing in a union.  CUCKOO_FULL where the filter must
 * grow before hash *position can be added, else CUCKOO_INSERTED.  The header in
 * the filter's bytes is left to the caller.
 */
extern CuckooInsertResult CuckooAddList(CuckooOperation operation,
										CuckooFilter *filter,
										const CuckooFilter *list,
										uint64_t *position);

/*
 * Where a table of the result comes from: one side's, or both sides', or it is
 * a new stash.
 */
typedef struct CuckooSource
{
	CuckooShape shape;
	const CuckooTable *left;	/* NULL: none */
	const CuckooTable *right;
	uint64_t	items;			/* of both: at most */
	bool		stash;
	bool		relieved;		/* what sticks goes to the stash of the shape */
	CuckooOperation operation;	/* of its classes */
} CuckooSource;

/* Tables being combined. */
typedef struct CuckooCombination
{
	CuckooOperation operation;
	CuckooFilter result;		/* table_count tables of these shapes */
	CuckooSource sources[CUCKOO_MAX_TABLES];	/* of each of them */
	/* For each table of the left, those of the right that it did not fit with: */
	uint16_t	tight[CUCKOO_MAX_TABLES];	/* without a stash */
	uint16_t	refused[CUCKOO_MAX_TABLES]; /* in no way */
} CuckooCombination;

/* Begin to combine tables, with the header of the result. */
extern void CuckooCombineStart(CuckooCombination *combination,
							   CuckooOperation operation,
							   const CuckooFilter *header);

/* Working memory that the next two take. */
extern size_t CuckooCombineWorkspaceBytes(const CuckooFilter *left,
										  const CuckooFilter *right);

/*
 * Decide what tables the result has: pairs of equal shape where they fit, and
 * all others.  Of filters of one table each their order does not matter.  An
 * empty side may be given without its tables (table_count 0).
 */
extern CuckooConflict CuckooPlanTables(CuckooCombination *combination,
									   const CuckooFilter *left,
									   const CuckooFilter *right,
									   void *workspace, CuckooPause pause);

/*
 * Carry the plan out in CuckooBytes(&combination->result) zero bytes.  False
 * where a block found no room after all: plan again.
 */
extern bool CuckooCombineTables(CuckooCombination *combination,
								const CuckooFilter *left,
								const CuckooFilter *right, uint8_t *bytes,
								void *workspace, CuckooPause pause);

#endif							/* CUCKOO_COMBINE_H */
