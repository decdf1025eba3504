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
 * filters, or from what it was before a change.
 *
 * This file is part of the core and needs nothing of PostgreSQL.
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
extern void CuckooFilterInit(CuckooFilter *filter, double fpr, uint64_t capacity,
							 uint64_t seed);

/* An unset filter: what an aggregate returns over no rows. */
extern void CuckooFilterInitUnset(CuckooFilter *filter);

/*
 * Whether the filter may contain a key; never false for a key that it does
 * contain.
 */
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

/*
 * The expected rate of the filter as it is now: 1 minus the product, over its
 * tables, of 1 - CuckooShapeRate.
 */
extern double CuckooFilterRate(const CuckooFilter *filter);

/*
 * The shape of the first table of a filter, for its capacity, or for an
 * unknown one.  False if no table can be so large.
 */
extern bool CuckooFirstShape(const CuckooFilter *filter, CuckooShape *shape);

/*
 * Whether a capacity can be specified or counted at this rate: the dense table
 * for it, with its header, is at most CUCKOO_MAX_BYTES.
 */
extern bool CuckooCapacityFits(double fpr, uint64_t capacity);

/*
 * The shape of the table that a full filter grows by; false if there is none,
 * because the newest is the largest or there are sixteen.
 */
extern bool CuckooNextShape(const CuckooFilter *filter, CuckooShape *shape);

/* What one table of a filter is made from. */
typedef struct CuckooPart
{
	CuckooShape shape;
	uint64_t	items;			/* that it will have */
	CuckooRepresentation representation;	/* wanted: dense becomes sparse if
											 * its items find no room or the
											 * filter would be too large */
	CuckooSource *source;		/* of exactly these items; NULL: */
	const CuckooTable *table;	/* copy this table, and if it is sparse */
	const uint64_t *codes;		/* add or remove these sorted codes */
	uint64_t	count;			/* number of codes */
	bool		remove;			/* remove them */
} CuckooPart;

/*
 * Make a filter from these parts, in the order of shapes, and from the header
 * fields of *filter, whose tables this sets.  Returns its bytes,
 * CuckooBytes(filter) of them; NULL if they would be more than
 * CUCKOO_MAX_BYTES.
 */
extern uint8_t *CuckooMakeFilter(CuckooFilter *filter, CuckooPart *parts, int count,
								 const CuckooHost *host);

/* Free what CuckooMakeFilter returned. */
extern void CuckooFreeFilter(uint8_t *bytes, const CuckooHost *host);

/*
 * The filter over sorted distinct hashes, as an aggregate or array counts
 * them.  It is sized for them, or for the capacity specified if that is
 * larger.  NULL if it would be too large.
 */
extern uint8_t *CuckooMakeFromHashes(CuckooFilter *filter, const CuckooRun *runs,
									 uint64_t run_count, const CuckooHost *host);

/* The outcome of adding or removing a key. */
typedef enum CuckooChange
{
	CUCKOO_CHANGED,
	CUCKOO_PINNED,				/* eight copies: the filter stays as it is */
	CUCKOO_PRESENT,				/* contained already: it stays as it is */
	CUCKOO_ABSENT,				/* nothing to remove: it stays as it is */
	CUCKOO_KEPT,				/* cannot be removed safely: it stays as it is */
	CUCKOO_FULL,				/* it cannot grow any more */
	CUCKOO_TOO_LARGE			/* it would exceed CUCKOO_MAX_BYTES */
} CuckooChange;

/*
 * Classes added to or removed from a sparse table and not yet encoded there.
 * They are a hash set of counted classes, or the sorted codes of a batch.
 */
typedef struct CuckooPending
{
	CuckooClass *slots;			/* of the hash set; 0: empty */
	uint64_t	room;			/* number of slots, a power of two, or 0 */
	uint64_t	classes;		/* slots in use */
	uint64_t	copies;			/* number of codes, counting every copy */
	uint64_t   *codes;			/* codes of a batch; NULL: a hash set */
} CuckooPending;

/*
 * A filter being changed.  Dense tables are changed in place.  Additions to
 * and removals from sparse tables are pending until it is worth encoding the
 * table again, or the draft is finished.  The fields of the filter may be
 * changed, too.
 */
typedef struct CuckooDraft
{
	CuckooFilter filter;		/* its items include what is pending */
	uint8_t    *bytes;
	bool		writable;		/* the bytes are the draft's, to change and free */
	bool		removing;		/* what is pending is to be removed */
	bool		batched;		/* batches may have made a table dense early */
	bool		stay_sparse;	/* the newest table could not be made dense */
	size_t		to_come;		/* keys of a batch not yet added */
	CuckooPending pending[CUCKOO_MAX_TABLES];
} CuckooDraft;

/*
 * Begin a draft of a filter that is valid and not unset.  Writable bytes,
 * which the host allocated with its header before them, become the draft's.
 */
extern void CuckooDraftOpen(CuckooDraft *draft, uint8_t *bytes, size_t length,
							bool writable);

/* Like CuckooFilterContains, including what is pending. */
extern bool CuckooDraftContains(const CuckooDraft *draft, uint64_t hash);

/*
 * Add one copy of a key.  After CUCKOO_FULL or CUCKOO_TOO_LARGE, discard the
 * draft.
 */
extern CuckooChange CuckooDraftAdd(CuckooDraft *draft, uint64_t hash,
								   const CuckooHost *host);

/*
 * Add one copy of a key if the draft does not contain it; otherwise as above.
 */
extern CuckooChange CuckooDraftAddNew(CuckooDraft *draft, uint64_t hash,
									  const CuckooHost *host);

/* Remove one copy of a key, if that is safe; otherwise as above. */
extern CuckooChange CuckooDraftRemove(CuckooDraft *draft, uint64_t hash,
									  const CuckooHost *host);

/*
 * Add a batch of keys, by their sorted hashes.  If distinct, keys are added as
 * by CuckooDraftAddNew, otherwise one copy of each as by CuckooDraftAdd.
 * Returns CUCKOO_CHANGED, also if all keys were contained or pinned,
 * CUCKOO_FULL or CUCKOO_TOO_LARGE.
 *
 * A sorted batch goes through the filter from its first block to its last.
 * Each block fits in cache, while keys in any order would wait for memory.  A
 * table to which batches are added is made dense in the draft from an eighth
 * of its entries on, because adding to it is then faster.  CuckooDraftFinish
 * makes it sparse again if its items are below three quarters of its entries.
 */
extern CuckooChange CuckooDraftAddBatch(CuckooDraft *draft, const uint64_t *hashes,
										size_t count, bool distinct,
										const CuckooHost *host);

/* The best number of keys for the next batch. */
extern size_t CuckooDraftBatchKeys(const CuckooDraft *draft);

/*
 * The bytes of the filter as it is now, CuckooBytes(&draft->filter) of them;
 * NULL if it would be too large.  They belong to the draft, which may go on.
 */
extern uint8_t *CuckooDraftFinish(CuckooDraft *draft, const CuckooHost *host);

#endif							/* CUCKOO_FILTER_H */
