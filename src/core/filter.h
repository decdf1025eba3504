/*-------------------------------------------------------------------------
 *
 * filter.h
 *	  A filter: its tables together.  Looking up, making, adding, removing.
 *
 * The rules across several tables are kept here:
 *
 * - A class has at most eight copies in one table, and the eighth is pinned:
 *	 it may stand for more, so the class is never removed there.  This is
 *	 decided per table: deciding by the sum over the tables would lose keys.
 *
 * - A copy is removed only if exactly one table holds the class.  If two do,
 *	 one of them may hold another key's equal fingerprint, and removing that
 *	 one would lose the other key.
 *
 * - Keys are added to a table up to its capacity; then the filter grows by
 *	 another table.  Only combinations fill a table further.
 *
 * Every filter's bytes come from CuckooMakeFilter: from hashes, from other
 * filters, or from what it was before a change.  A filter has these forms:
 *
 *	CuckooValue		a varlena with the bytes of a filter
 *		|  CuckooOpen
 *		v
 *	CuckooFilter	its header, and its tables, which point into the bytes
 *		|	 \____ CuckooReader	one that is stored: whole, or read in slices
 *		|  CuckooDraftOpen
 *		v
 *	CuckooDraft		one that is changed, and what is pending for its tables
 *		|
 *		v			(or hashes of an aggregate, or codes of a CuckooCombination)
 *	CuckooPart		what one table of the next filter is made from
 *		|  CuckooMakeFilter
 *		v
 *	CuckooValue
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_FILTER_H
#define CUCKOO_FILTER_H

#include "format.h"

/*
 * A counted build of at most this many keys is for an unknown capacity, so
 * that small filters with the same rate always combine.
 */
#define CUCKOO_UNKNOWN_KEYS	1024

/* The header of a filter with these parameters and no tables. */
extern void CuckooFilterInit(CuckooFilter *filter, double fpr, uint64_t capacity, uint64_t seed);

/* Whether the filter may contain a key; never false for one that it contains. */
extern bool CuckooFilterContains(const CuckooFilter *filter, uint64_t hash);

/*
 * Start loading the memory that lookups of the keys after hashes[at] will read.
 * Called for each key of a batch, it makes a lookup in a large filter two to
 * three times as fast.
 */
extern void CuckooFilterPrefetch(const CuckooFilter *filter, const uint64_t *hashes,
								 size_t at, size_t count);

/* Copies of a key: the sum over the tables, but 8 at most. */
extern int	CuckooFilterCount(const CuckooFilter *filter, uint64_t hash);

/* The number of classes with eight copies.  Reads all tables. */
extern uint64_t CuckooFilterPinned(const CuckooFilter *filter);

/*
 * The expected rate of table i: CuckooShapeRate of its items; in a filter that
 * is not removable, where a union or adding a new key stores each class once,
 * items divided by classes.  If classes have several copies, it is an upper
 * bound.
 */
extern double CuckooFilterTableRate(const CuckooFilter *filter, int i);

/*
 * The expected rate: 1 minus the product, over the tables, of 1 - rate, which is
 * an upper bound if tables have the same keys.  If the filter is not removable,
 * it is the sum, at most 1, because keys that one table seems to contain are not
 * added to another.  That is an upper bound for all other filters.
 */
extern double CuckooFilterRate(const CuckooFilter *filter);

/* The shape of the first table; false if it would be too large when dense. */
extern bool CuckooFirstShape(const CuckooFilter *filter, CuckooShape *shape);

/*
 * The shape of the table that a full filter grows by; false if there is none,
 * because the newest is the largest or there are sixteen.
 */
extern bool CuckooNextShape(const CuckooFilter *filter, CuckooShape *shape);

/*
 * Make a filter from parts in the order of shapes, and from the header fields
 * of *filter, whose tables this sets.  Returns its CuckooBytes(filter) bytes,
 * for CuckooFreeFilter; NULL if they would be more than CUCKOO_MAX_BYTES.
 */
extern uint8_t *CuckooMakeFilter(CuckooFilter *filter, CuckooPart *parts, int count);
extern void CuckooFreeFilter(uint8_t *bytes);

/*
 * The filter over sorted distinct hashes, sized for them, or for the capacity
 * specified if that is larger.  NULL if it would be too large.
 */
extern uint8_t *CuckooMakeFromHashes(CuckooFilter *filter, const CuckooList *runs,
									 uint64_t run_count);

typedef enum CuckooAction
{
	CUCKOO_ADD,					/* one copy of each key */
	CUCKOO_ADD_NEW,				/* the same for keys that are not contained */
	CUCKOO_REMOVE				/* one copy of each key, if that is safe */
} CuckooAction;

typedef enum CuckooOutcome
{
	CUCKOO_CHANGED,
	CUCKOO_UNCHANGED,			/* eight copies, contained already, nothing to
								 * remove, or not safely */
	CUCKOO_FULL,				/* the filter cannot grow any more */
	CUCKOO_TOO_LARGE			/* it would exceed CUCKOO_MAX_BYTES */
} CuckooOutcome;

/* A filter being changed.  The fields of its header may be changed, too. */
typedef struct CuckooDraft
{
	CuckooFilter filter;		/* with what is pending */
	uint8_t    *bytes;			/* the draft's own, to change and free */
	bool		removing;		/* what is pending is to be removed */
	struct
	{
		CuckooList	codes;		/* of a batch, not yet in the table's bytes */
		bool		no_room;	/* for one of them in the dense table */
		bool		dropped;	/* the table has been emptied */
	}			pending[CUCKOO_MAX_TABLES];
} CuckooDraft;

/*
 * Begin a draft of a filter that is valid and not unset.  Its bytes, allocated
 * with VARHDRSZ before them, become the draft's.
 */
extern void CuckooDraftOpen(CuckooDraft *draft, uint8_t *bytes, size_t length);

/*
 * Add or remove keys by their hashes, which may be repeated and are sorted in
 * place: a sorted batch goes through the filter block by block, in cache.  Sets
 * *changed to the number of keys that changed the filter, and returns the
 * outcome of the last one.  After CUCKOO_FULL or CUCKOO_TOO_LARGE, discard the
 * draft.
 */
extern CuckooOutcome CuckooDraftApply(CuckooDraft *draft, uint64_t *hashes, size_t count,
									  CuckooAction action, size_t *changed);

/* The best number of keys for the next of many batches. */
extern size_t CuckooDraftBatchKeys(const CuckooDraft *draft);

/*
 * The bytes of the filter as it is now, CuckooBytes(&draft->filter) of them.
 * They belong to the draft, which may go on.
 */
extern uint8_t *CuckooDraftMake(CuckooDraft *draft);

#endif							/* CUCKOO_FILTER_H */
