/*-------------------------------------------------------------------------
 *
 * codes.h
 *	  Sources: readers of the codes that a table is built from.
 *
 * A table is built from sorted hashes, from the combined classes of other
 * tables, or from a table in the other representation.  In each case the
 * builder reads a source, which returns the codes in ascending order, with at
 * most eight copies of each.
 *
 * This file is part of the core and needs nothing of PostgreSQL.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_CODES_H
#define CUCKOO_CODES_H

#include "shape.h"

typedef struct CuckooSource CuckooSource;

struct CuckooSource
{
	/* Start over. */
	void		(*rewind) (CuckooSource *source);

	/*
	 * Store the next codes in an array, at most as many as it has room for.
	 * Returns their number, which is 0 only at the end.
	 */
	size_t		(*read) (CuckooSource *source, uint64_t *codes, size_t room);
};

/* Codes read at once: few enough to stay in the first-level cache. */
#define CUCKOO_READ_CODES	512

/*
 * Count the codes of a source.  This reads the source to its end and rewinds
 * it.
 */
extern uint64_t CuckooSourceCount(CuckooSource *source);

/*
 * Sorted hashes.  They may be split into several runs, each of which continues
 * the one before.  A hash may be repeated.
 */
typedef struct CuckooRun
{
	const uint64_t *hashes;
	uint64_t	count;
} CuckooRun;

typedef struct CuckooHashSource
{
	CuckooSource source;
	CuckooShape shape;			/* whose codes are wanted */
	const CuckooRun *runs;
	uint64_t	run_count;
	uint64_t	run;			/* number of the run of the next hash */
	uint64_t	at;				/* position of the next hash in its run */
	uint64_t	last;			/* code of the last hash read; 0: none */
	int			copies;			/* how often that code has been read */
} CuckooHashSource;

extern void CuckooHashSourceInit(CuckooHashSource *source, const CuckooShape *shape,
								 const CuckooRun *runs, uint64_t run_count);

/*
 * A counted class: its code times eight, plus the number of copies less one.
 * An array of them is sorted and has each code once.
 */
typedef uint64_t CuckooClass;

static inline CuckooClass
CuckooMakeClass(uint64_t code, int copies)
{
	return code << 3 | (uint64_t) (copies - 1);
}

static inline uint64_t
CuckooClassCode(CuckooClass class)
{
	return class >> 3;
}

static inline int
CuckooClassCopies(CuckooClass class)
{
	return (int) (class & 7) + 1;
}

typedef struct CuckooClassSource
{
	CuckooSource source;
	const CuckooClass *classes;
	uint64_t	count;
	uint64_t	at;				/* number of the next class */
	int			copies;			/* copies of it that have been read */
} CuckooClassSource;

extern void CuckooClassSourceInit(CuckooClassSource *source, const CuckooClass *classes,
								  uint64_t count);

/*
 * Another source with some codes added or removed.  Each code removed must be
 * in the other source.  No code may end up with more than eight copies.
 */
typedef struct CuckooEditSource
{
	CuckooSource source;
	CuckooSource *base;
	const uint64_t *codes;		/* sorted */
	uint64_t	count;
	bool		remove;
	uint64_t	at;				/* codes already added or removed */
	uint64_t	ahead[CUCKOO_READ_CODES];	/* codes read from the base */
	size_t		ahead_count;
	size_t		ahead_at;		/* codes of these already done */
} CuckooEditSource;

extern void CuckooEditSourceInit(CuckooEditSource *source, CuckooSource *base,
								 const uint64_t *codes, uint64_t count, bool remove);

#endif							/* CUCKOO_CODES_H */
