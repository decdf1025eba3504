/*-------------------------------------------------------------------------
 *
 * list.h
 *	  Hashes and codes: growing lists, sorting, sources of a table.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_LIST_H
#define CUCKOO_LIST_H

#include "shape.h"

/*
 * Sort numbers in ascending order; scratch has room for as many.  This is a
 * radix sort, for hashes that are evenly spread; if they are not, it is still
 * linear.
 */
extern void CuckooSort(uint64_t *numbers, uint64_t *scratch, size_t count);

/* Drop repetitions from sorted numbers; returns how many are left. */
extern size_t CuckooUnique(uint64_t *numbers, size_t count);

/*
 * A list of numbers, which may grow.  All zero is an empty one.  A run is a list
 * of sorted numbers; it need not say what room it has.
 */
typedef struct CuckooList
{
	uint64_t   *numbers;
	uint64_t	count;
	uint64_t	room;
} CuckooList;

/* Make room for so many numbers, and at least double it. */
extern void CuckooListReserve(CuckooList *list, uint64_t room);

static inline void
CuckooListPut(CuckooList *list, uint64_t number)
{
	if (list->count == list->room)
		CuckooListReserve(list, list->count + 16);
	list->numbers[list->count++] = number;
}

/* Sort them, and drop repetitions. */
extern void CuckooListUnique(CuckooList *list);

/*
 * Merge the numbers of a run, edit, into those of a sorted list, or remove them,
 * which must all be there.  The list's count numbers must be at numbers + edit.count,
 * behind room for as many as edit has; afterwards they are at its beginning.
 */
extern void CuckooListEdit(CuckooList *list, CuckooList edit, bool remove);

/* Free its memory, which leaves an empty list. */
extern void CuckooListFree(CuckooList *list);

/*
 * What a table is built from: sorted codes, or sorted hashes.  They may be
 * split into several runs, each of which continues the one before.  Runs are in
 * an array, or made one by one.
 */
typedef struct CuckooSource
{
	const CuckooList *runs;
	uint64_t	run_count;
	bool		hashes;
	bool		(*next) (void *state, CuckooList *run);	/* if not NULL: makes the
														 * next run; false if
														 * there is none, however
														 * often it is asked */
	void	   *state;
} CuckooSource;

/*
 * Reads the codes of a source, at most eight copies of each.  To begin, set source
 * and shape, and the other fields to zero.
 */
typedef struct CuckooCursor
{
	const CuckooSource *source;
	CuckooShape shape;			/* whose codes are wanted */
	CuckooList	current;		/* the run of the next number */
	uint64_t	run;			/* number of the run after it */
	uint64_t	at;				/* position of the next number in its run */
	uint64_t	last;			/* the code read last; 0: none */
	int			copies;			/* how often it has been read */
} CuckooCursor;

/* Codes to read at once: few enough to stay in the first-level cache. */
#define CUCKOO_READ_CODES	512

/*
 * Store the next codes below end in an array, at most as many as it has room
 * for.  Returns their number, which is 0 only if there are none.
 */
extern size_t CuckooCursorRead(CuckooCursor *cursor, uint64_t end, uint64_t *codes, size_t room);

/* The number of codes that a table of this shape gets from a source. */
extern uint64_t CuckooSourceCount(const CuckooSource *source, const CuckooShape *shape);

#endif							/* CUCKOO_LIST_H */
