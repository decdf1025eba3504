/*-------------------------------------------------------------------------
 *
 * list.c
 *	  Hashes and codes: growing lists, sorting, sources of a table.
 *
 *-------------------------------------------------------------------------
 */
#include "list.h"

/* Up to this many elements are sorted by insertion. */
#define INSERTION_LIMIT		16

/*
 * Up to this many elements, in two areas of at most 1 MB, are sorted in cache.
 * More are first divided into parts of half as many.
 */
#define CACHE_LIMIT			(128 * 1024)

/*
 * The most bits in a digit.  More would miss the translation cache if the
 * parts are far apart, and the first-level cache if they are not.
 */
#define MAX_FAR_DIGIT		10
#define MAX_NEAR_DIGIT		11

/*
 * Sort the elements of source into result, which may be the same area.  This
 * is cheap if few are out of place.  It gives up, and returns false, after too
 * many steps.  If result is the same area, it then holds the same elements in
 * another order.
 */
static bool
InsertionSort(const uint64_t *source, uint64_t *result, size_t count, size_t steps)
{
	for (size_t i = 0; i < count; i++)
	{
		uint64_t	value = source[i];
		size_t		j = i;

		for (; j > 0 && result[j - 1] > value; j--)
			result[j] = result[j - 1];
		result[j] = value;
		if (i - j > steps)
			return false;
		steps -= i - j;
	}
	return true;
}

/*
 * Turn the number of elements with each digit, from 0 to mask, into the
 * position of the first element with that digit.
 */
static inline void
CountsToStarts(uint32_t *counts, uint32_t mask)
{
	uint32_t	sum = 0;

	for (uint32_t digit = 0; digit <= mask; digit++)
	{
		uint32_t	count = counts[digit];

		counts[digit] = sum;
		sum += count;
	}
}

/*
 * Sort elements that fit in cache, by two digits, the low one first: from
 * source to target and back.  The two digits distinguish nearly all elements,
 * and insertion sort does the rest.  If it would take too long, as with
 * elements made for that, this returns false and leaves the elements in
 * another order.
 */
static bool
SortInCache(uint64_t *source, uint64_t *target, size_t count, int bits_left)
{
	uint32_t	low_ends[1 << MAX_NEAR_DIGIT];
	uint32_t	high_ends[1 << MAX_NEAR_DIGIT];
	int			digit_bits = 2;
	int			shift;
	uint32_t	mask;

	/* If possible, sixteen times as many pairs of digits as elements. */
	while (digit_bits < MAX_NEAR_DIGIT && count >> (2 * digit_bits - 4) > 0)
		digit_bits++;
	if (2 * digit_bits > bits_left)
		return false;
	shift = bits_left - 2 * digit_bits;
	mask = ((uint32_t) 1 << digit_bits) - 1;

	memset(low_ends, 0, ((size_t) mask + 1) * sizeof(uint32_t));
	memset(high_ends, 0, ((size_t) mask + 1) * sizeof(uint32_t));
	for (size_t i = 0; i < count; i++)
	{
		low_ends[source[i] >> shift & mask]++;
		high_ends[source[i] >> (shift + digit_bits) & mask]++;
	}
	CountsToStarts(low_ends, mask);
	CountsToStarts(high_ends, mask);
	for (size_t i = 0; i < count; i++)
		target[low_ends[source[i] >> shift & mask]++] = source[i];
	for (size_t i = 0; i < count; i++)
		source[high_ends[target[i] >> (shift + digit_bits) & mask]++] = target[i];
	return InsertionSort(source, source, count, 2 * count);
}

/*
 * Sort the count elements of source, which agree in all but their low
 * bits_left bits; the result goes to source itself or to target, a separate
 * area of the same size.
 *
 * Most significant digit first, until the parts fit in cache: one level for
 * ten million even hashes.  Elements go to and fro between the two areas.
 * Each level removes a digit, so the depth stays below 64, however uneven the
 * elements are.
 */
static void
RadixSort(uint64_t *source, uint64_t *target, size_t count, int bits_left, bool to_source)
{
	uint32_t	ends[1 << MAX_FAR_DIGIT];
	int			digit_bits = 1;
	int			shift;
	uint32_t	mask;
	uint32_t	start = 0;
	uint32_t	checked = 0;

	if (count <= INSERTION_LIMIT)
	{
		InsertionSort(source, to_source ? source : target, count, SIZE_MAX);
		return;
	}
	if (bits_left == 0 || (count <= CACHE_LIMIT && SortInCache(source, target, count, bits_left)))
	{
		if (!to_source)
			CuckooCopy(target, source, count * sizeof(uint64_t));
		return;
	}

	/* Parts that SortInCache could not sort are divided further. */
	while (digit_bits < MAX_FAR_DIGIT && digit_bits < bits_left &&
		   count >> digit_bits > (count <= CACHE_LIMIT ? 4 : CACHE_LIMIT / 2))
		digit_bits++;
	shift = bits_left - digit_bits;
	mask = ((uint32_t) 1 << digit_bits) - 1;

	memset(ends, 0, ((size_t) mask + 1) * sizeof(ends[0]));
	for (size_t i = 0; i < count; i++)
	{
		CuckooCheckInterruptsAt(i);
		ends[source[i] >> shift & mask]++;
	}
	CountsToStarts(ends, mask);
	for (size_t i = 0; i < count; i++)
	{
		CuckooCheckInterruptsAt(i);
		target[ends[source[i] >> shift & mask]++] = source[i];
	}

	for (uint32_t digit = 0; digit <= mask; digit++)
	{
		/* Parts that are sorted in cache do not check for interrupts. */
		if (ends[digit] - checked >= CUCKOO_INTERRUPT_STEP)
		{
			CHECK_FOR_INTERRUPTS();
			checked = ends[digit];
		}
		RadixSort(target + start, source + start, ends[digit] - start, shift, !to_source);
		start = ends[digit];
	}
}

void
CuckooSort(uint64_t *numbers, uint64_t *scratch, size_t count)
{
	uint64_t	differ = 0;
	int			bits = 0;

	/* Skip the high bits that all have in common, as codes of a block do. */
	for (size_t i = 1; i < count; i++)
	{
		CuckooCheckInterruptsAt(i);
		differ |= numbers[0] ^ numbers[i];
	}
	while (bits < 64 && differ >> bits != 0)
		bits++;
	RadixSort(numbers, scratch, count, bits, true);
}

size_t
CuckooUnique(uint64_t *numbers, size_t count)
{
	size_t		kept = 0;

	for (size_t i = 0; i < count; i++)
	{
		CuckooCheckInterruptsAt(i);
		if (kept == 0 || numbers[kept - 1] != numbers[i])
			numbers[kept++] = numbers[i];
	}
	return kept;
}

void
CuckooListReserve(CuckooList *list, uint64_t room)
{
	uint64_t   *numbers;

	if (room <= list->room)
		return;
	if (room < 2 * list->room)
		room = 2 * list->room;
	numbers = CuckooAllocate(room, sizeof(uint64_t));
	if (list->numbers != NULL)
	{
		CuckooCopy(numbers, list->numbers, (size_t) list->count * sizeof(uint64_t));
		pfree(list->numbers);
	}
	list->numbers = numbers;
	list->room = room;
}

void
CuckooListUnique(CuckooList *list)
{
	uint64_t   *scratch = CuckooAllocate(list->count, sizeof(uint64_t));

	CuckooSort(list->numbers, scratch, (size_t) list->count);
	pfree(scratch);
	list->count = CuckooUnique(list->numbers, (size_t) list->count);
}

void
CuckooListEdit(CuckooList *list, CuckooList edit, bool remove)
{
	/* Copies, because a list would be read again after each number stored */
	uint64_t   *numbers = list->numbers;
	const uint64_t *others = numbers + edit.count;
	const uint64_t *edits = edit.numbers;
	uint64_t	stored = list->count;
	uint64_t	count = edit.count;
	uint64_t	at = 0;
	uint64_t	kept = 0;

	for (uint64_t i = 0; i < stored; i++)
	{
		CuckooCheckInterruptsAt(i);
		while (!remove && at < count && edits[at] < others[i])
			numbers[kept++] = edits[at++];
		if (remove && at < count && edits[at] == others[i])
			at++;
		else
			numbers[kept++] = others[i];
	}
	while (!remove && at < count)
		numbers[kept++] = edits[at++];
	list->count = kept;
}

void
CuckooListFree(CuckooList *list)
{
	if (list->numbers != NULL)
		pfree(list->numbers);
	memset(list, 0, sizeof(*list));
}

/* Go to the next run; false if there is none. */
static bool
NextRun(CuckooCursor *cursor)
{
	const CuckooSource *source = cursor->source;

	CHECK_FOR_INTERRUPTS();
	cursor->at = 0;
	cursor->current.count = 0;
	if (source->next != NULL)
		return source->next(source->state, &cursor->current);
	if (cursor->run == source->run_count)
		return false;
	cursor->current = source->runs[cursor->run++];
	return true;
}

size_t
CuckooCursorRead(CuckooCursor *cursor, uint64_t end, uint64_t *codes, size_t room)
{
	CuckooShape shape = cursor->shape;
	bool		hashes = cursor->source->hashes;
	uint64_t	last = cursor->last;
	int			copies = cursor->copies;
	size_t		count = 0;
	bool		more = true;

	while (more && count < room)
	{
		const uint64_t *numbers = cursor->current.numbers;
		uint64_t	left = cursor->current.count - cursor->at;
		uint64_t	at = cursor->at;
		uint64_t	stop = at + (left < CUCKOO_INTERRUPT_STEP ? left : CUCKOO_INTERRUPT_STEP);

		if (left == 0)
		{
			more = NextRun(cursor);
			continue;
		}
		/* Any number of copies may have to be left out. */
		CHECK_FOR_INTERRUPTS();
		for (; at < stop && count < room; at++)
		{
			uint64_t	code = hashes ? CuckooCodeOf(&shape, numbers[at]) : numbers[at];

			more = code < end;
			if (!more)
				break;
			copies = code == last ? copies + (copies <= CUCKOO_MAX_COPIES) : 1;
			last = code;
			codes[count] = code;
			count += copies <= CUCKOO_MAX_COPIES;
		}
		cursor->at = at;
	}
	cursor->last = last;
	cursor->copies = copies;
	return count;
}

uint64_t
CuckooSourceCount(const CuckooSource *source, const CuckooShape *shape)
{
	uint64_t	codes[CUCKOO_READ_CODES];
	CuckooCursor cursor = {.source = source, .shape = *shape};
	uint64_t	count = 0;
	size_t		read;

	while ((read = CuckooCursorRead(&cursor, UINT64_MAX, codes, CUCKOO_READ_CODES)) > 0)
		count += read;
	return count;
}
