/*-------------------------------------------------------------------------
 *
 * codes.h
 *	  Ascending codes of classes, from wherever they are kept.
 *
 * Whatever a table is built from (sorted hashes, the classes of other tables
 * combined, a table in its other representation) reaches the builder through
 * a source: codes in ascending order, at most eight copies of each.
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
	 * Put the next codes into an array with so much room, as many as there
	 * are or fit; returns how many, 0 only at the end.
	 */
	size_t		(*read) (CuckooSource *source, uint64_t *codes, size_t room);
};

/* Codes read at once: what fits in the first-level cache beside the rest. */
#define CUCKOO_READ_CODES	512

/* The number of codes in a source, which is read to its end and rewound. */
extern uint64_t CuckooSourceCount(CuckooSource *source, const CuckooHost *host);

/*
 * Sorted hashes, in pieces that follow each other.  A hash may be repeated.
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
	uint64_t	run;			/* the next hash: its run, */
	uint64_t	at;				/* and its position there */
	uint64_t	last;			/* the code before it; 0: none, */
	int			copies;			/* and how often it has been read */
} CuckooHashSource;

extern void CuckooHashSourceInit(CuckooHashSource *source, const CuckooShape *shape,
								 const CuckooRun *runs, uint64_t run_count);

/*
 * Counted classes: the code times eight, plus the copies less one, ascending,
 * each code once.
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
	uint64_t	at;				/* the next one, */
	int			copies;			/* of which so many copies have been read */
} CuckooClassSource;

extern void CuckooClassSourceInit(CuckooClassSource *source, const CuckooClass *classes,
								  uint64_t count);

/*
 * Another source with some codes more, or less.  Each code removed must be
 * there; those added must leave at most eight copies.
 */
typedef struct CuckooEditSource
{
	CuckooSource source;
	CuckooSource *base;
	const uint64_t *codes;		/* sorted */
	uint64_t	count;
	bool		remove;
	uint64_t	at;				/* those of them done */
	uint64_t	ahead[CUCKOO_READ_CODES];	/* read from the base */
	size_t		ahead_count;
	size_t		ahead_at;
} CuckooEditSource;

extern void CuckooEditSourceInit(CuckooEditSource *source, CuckooSource *base,
								 const uint64_t *codes, uint64_t count, bool remove);

#endif							/* CUCKOO_CODES_H */
