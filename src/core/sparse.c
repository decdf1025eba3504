/*-------------------------------------------------------------------------
 *
 * sparse.c
 *	  A sparse table; see sparse.h.
 *
 *-------------------------------------------------------------------------
 */
#include "sparse.h"

#define LOW_BYTES	UINT64_C(0x0101010101010101)
#define HIGH_BYTES	UINT64_C(0x8080808080808080)

/* Words of a group's upper part that a lookup reads at once. */
#define WORDS		3

/*
 * Geometry
 */

/* Bits of a number, without leading zeros. */
static inline int
BitLength(uint64_t number)
{
	int			bits = 0;

#ifdef CUCKOO_GNU
	if (number > 0)
		bits = 64 - __builtin_clzll(number);
#else
	while (number >> bits != 0)
		bits++;
#endif
	return bits;
}

/*
 * The number of low bits: the fewest that leave at most three high parts for
 * every two items.  A filter that is not toasted is opened for each lookup, so
 * the search does not start at 0: (last >> l) + 1 <= wanted requires
 * l >= BitLength(last) - BitLength(wanted).
 */
static int
LowBits(const CuckooShape *shape, uint64_t items)
{
	uint64_t	last = CuckooShapeCodes(shape) - 1;
	uint64_t	wanted = 3 * (items == 0 ? 1 : items) / 2;
	int			low_bits = BitLength(last) - BitLength(wanted);

	if (low_bits < 0)
		low_bits = 0;
	while ((last >> low_bits) + 1 > wanted)
		low_bits++;
	return low_bits;
}

void
CuckooSparseInit(CuckooSparse *sparse, const CuckooShape *shape, uint64_t items,
				 uint8_t *data)
{
	int			low_bits = LowBits(shape, items);

	memset(sparse, 0, sizeof(*sparse));
	sparse->shape = *shape;
	sparse->items = items;
	sparse->pairs = CuckooShapePairs(shape);
	sparse->fingerprints = CuckooShapeFingerprints(shape);
	sparse->low_bits = (uint8_t) low_bits;
	sparse->low_mask = (UINT64_C(1) << low_bits) - 1;
	sparse->highs = ((CuckooShapeCodes(shape) - 1) >> low_bits) + 1;
	sparse->groups = (sparse->highs + CUCKOO_GROUP - 1) / CUCKOO_GROUP;
	sparse->end = sparse->highs + items * (uint64_t) (1 + low_bits);

	/* A load of 8 bytes from any bit on has at least 57 of the bits wanted. */
	sparse->fields = low_bits == 0 ? 1 : (uint8_t) (57 / low_bits);
	for (int field = 0; field < sparse->fields; field++)
		sparse->ones |= UINT64_C(1) << (field * low_bits);
	sparse->tops = low_bits == 0 ? 0 : sparse->ones << (low_bits - 1);

	CuckooSparseSetData(sparse, data);
}

uint64_t
CuckooSparseBytes(const CuckooShape *shape, uint64_t items)
{
	CuckooSparse sparse;

	CuckooSparseInit(&sparse, shape, items, NULL);
	return CuckooSparseStoredBytes(&sparse);
}

static inline uint64_t
GroupStart(const CuckooSparse *sparse, uint64_t group)
{
	return CuckooLoad32(sparse->starts + 4 * group);
}

/* The first bit of a group; start is the number of codes before it. */
static inline uint64_t
GroupBit(const CuckooSparse *sparse, uint64_t group, uint64_t start)
{
	return group * CUCKOO_GROUP + start * (uint64_t) (1 + sparse->low_bits);
}

static inline uint64_t
GroupHighs(const CuckooSparse *sparse, uint64_t group)
{
	uint64_t	left = sparse->highs - group * CUCKOO_GROUP;

	return left < CUCKOO_GROUP ? left : CUCKOO_GROUP;
}

/*
 * Bits
 */

/* Read width bits, up to 60, at a position.  mask has width ones. */
static inline uint64_t
GetBits(const uint8_t *bits, uint64_t position, int width, uint64_t mask)
{
	const uint8_t *p = bits + (position >> 3);
	int			shift = (int) (position & 7);
	uint64_t	value = CuckooLoad64(p) >> shift;

	if (width > 57 && shift != 0)
		value |= (uint64_t) p[8] << (64 - shift);
	return value & mask;
}

/*
 * Byte i of the result is the number of ones in bytes 0 to i of a word.  A
 * multiplication adds up the numbers of the bytes.
 */
static inline uint64_t
ByteSums(uint64_t x)
{
	x = x - ((x >> 1) & UINT64_C(0x5555555555555555));
	x = (x & UINT64_C(0x3333333333333333)) + ((x >> 2) & UINT64_C(0x3333333333333333));
	return ((x + (x >> 4)) & UINT64_C(0x0F0F0F0F0F0F0F0F)) * LOW_BYTES;
}

/*
 * The position of the k-th one of a word, counting from 1.  sums are the byte
 * sums of the word, which has at least k ones.
 *
 * The first byte with a sum >= k contains it.  Each bit of that byte is spread
 * to a byte, and the same method finds the bit.  This needs no lookup table,
 * which would miss the cache, and no instruction that old machines lack.
 */
static inline int
SelectOne(uint64_t x, uint64_t sums, uint64_t k)
{
	uint64_t	reached = ((sums | HIGH_BYTES) - k * LOW_BYTES) & HIGH_BYTES;
	int			byte = CuckooLowestBit(reached) - 7;	/* its first bit */
	uint64_t	before = (sums << 8) >> byte & 255;
	uint64_t	spread = (x >> byte & 255) * LOW_BYTES & UINT64_C(0x8040201008040201);

	spread = ((spread + UINT64_C(0x7F7F7F7F7F7F7F7F)) >> 7 & LOW_BYTES) * LOW_BYTES;
	reached = ((spread | HIGH_BYTES) - (k - before) * LOW_BYTES) & HIGH_BYTES;
	return byte + (CuckooLowestBit(reached) >> 3);
}

/* Appends bits. */
typedef struct Writer
{
	uint8_t    *p;
	uint64_t	pending;		/* bits not yet stored */
	int			count;			/* number of these, below 64 */
} Writer;

/* Start to write at a position.  The bits before it stay as they are. */
static inline Writer
WriteAt(uint8_t *bits, uint64_t position)
{
	Writer		writer;

	writer.p = bits + (position >> 3);
	writer.count = (int) (position & 7);
	writer.pending = *writer.p & ((UINT64_C(1) << writer.count) - 1);
	return writer;
}

/* Append the lowest width bits, at most 63, of value.  Its other bits are zero. */
static inline void
Put(Writer *writer, uint64_t value, int width)
{
	writer->pending |= value << writer->count;
	writer->count += width;
	if (writer->count >= 64)
	{
		CuckooStore64(writer->p, writer->pending);
		writer->p += 8;
		writer->count -= 64;
		writer->pending = writer->count == 0 ? 0 : value >> (width - writer->count);
	}
}

/* Store the pending bits, in whole bytes. */
static inline void
Flush(Writer *writer)
{
	for (; writer->count > 0; writer->count -= 8)
	{
		*writer->p++ = (uint8_t) writer->pending;
		writer->pending >>= 8;
	}
}

/*
 * Copy count bits from one position to another.  The target's bits before its
 * position stay as they are; those after its end, in the last byte, may change.
 */
static void
CopyBits(uint8_t *target, uint64_t to, const uint8_t *source, uint64_t from, uint64_t count)
{
	uint64_t	head = (8 - (to & 7)) & 7;	/* up to a whole byte of the target */
	uint64_t	bytes;
	uint64_t	done = 0;
	int			shift;

	if (count == 0)
		return;
	if (head > 0)
	{
		uint8_t    *p = target + (to >> 3);

		*p = (uint8_t) ((*p & ((1 << (to & 7)) - 1)) |
						GetBits(source, from, 8, 255) << (to & 7));
		if (count <= head)
			return;
		to += head;
		from += head;
		count -= head;
	}
	target += to >> 3;
	source += from >> 3;
	shift = (int) (from & 7);
	bytes = (count + 7) / 8;
	if (shift == 0)
	{
		CuckooCopy(target, source, (size_t) bytes);
		return;
	}
	while (done < bytes)
	{
		uint64_t	stop = bytes - done < CUCKOO_PAUSE_BYTES ? bytes : done + CUCKOO_PAUSE_BYTES;

		CHECK_FOR_INTERRUPTS();
		for (; stop - done >= 8; done += 8)
			CuckooStore64(target + done, CuckooLoad64(source + done) >> shift |
						  (uint64_t) source[done + 8] << (64 - shift));
		for (; done < stop; done++)
			target[done] = (uint8_t) (source[done] >> shift | source[done + 1] << (8 - shift));
	}
}

/*
 * Lookups
 */

/*
 * Find the codes with high part number r, from 0, of the group that begins at a
 * position.  Returns their number, and sets *before to the number of codes in
 * the group before them.  The codes are the ones between zero number r, from 1,
 * and the next zero.
 */
static inline uint64_t
FindRun(const uint8_t *bits, uint64_t position, uint64_t r, uint64_t *before)
{
	uint64_t	at = position & ~UINT64_C(7);
	uint64_t	zeros = ~CuckooLoad64(bits + (at >> 3)) & (~UINT64_C(0) << (position & 7));
	uint64_t	run = position;

	if (r > 0)
	{
		uint64_t	left = r;
		uint64_t	sums;
		int			zero;

		for (;;)
		{
			sums = ByteSums(zeros);
			if (left <= sums >> 56)
				break;
			left -= sums >> 56;
			at += 64;
			zeros = ~CuckooLoad64(bits + (at >> 3));
		}
		zero = SelectOne(zeros, sums, left);
		run = at + (uint64_t) zero + 1;
		zeros = (zeros >> zero >> 1) << zero << 1;
	}
	while (zeros == 0)
	{
		at += 64;
		zeros = ~CuckooLoad64(bits + (at >> 3));
	}
	*before = run - position - r;
	return at + (uint64_t) CuckooLowestBit(zeros) - run;
}

/*
 * The same as FindRun, but faster if zero number r is in the first three words,
 * as it is for almost all groups.  A branch on which of the words contains it
 * would be mispredicted half the time, so this is computed without one.
 */
static inline uint64_t
FindRunQuickly(const uint8_t *bits, uint64_t position, uint64_t r, uint64_t *before)
{
	const uint8_t *p = bits + (position >> 3);
	uint64_t	zeros[WORDS];
	uint64_t	sums[WORDS];
	uint64_t	left = r;
	uint64_t	word = 0;
	uint64_t	sum = 0;
	uint64_t	at;
	uint64_t	run;
	uint64_t	rest;
	int			zero;

	for (int i = 0; i < WORDS; i++)
		zeros[i] = ~CuckooLoad64(p + 8 * i);
	zeros[0] &= ~UINT64_C(0) << (position & 7);
	for (int i = 0; i < WORDS; i++)
		sums[i] = ByteSums(zeros[i]);
	for (int i = 0; i < WORDS - 1; i++)
	{
		uint64_t	further;	/* 1 if the zero is in a later word */

		sum += sums[i] >> 56;
		further = (sum - r) >> 63;
		word += further;
		left -= (sums[i] >> 56) & (0 - further);
	}
	if (left > sums[word] >> 56)
		return FindRun(bits, position, r, before);

	zero = SelectOne(zeros[word], sums[word], left);
	at = (position & ~UINT64_C(7)) + 64 * word;
	run = at + (uint64_t) zero + 1;
	rest = (zeros[word] >> zero >> 1) << zero << 1;
	while (rest == 0)
	{
		at += 64;
		rest = ~CuckooLoad64(bits + (at >> 3));
	}
	*before = run - position - r;
	return at + (uint64_t) CuckooLowestBit(rest) - run;
}

bool
CuckooSparseContains(const CuckooSparse *sparse, uint64_t hash)
{
	uint64_t	code = CuckooScaledCode(sparse->pairs, sparse->fingerprints,
										sparse->shape.bits, hash);
	uint64_t	high = code >> sparse->low_bits;
	uint64_t	low = code & sparse->low_mask;
	uint64_t	group = high / CUCKOO_GROUP;
	uint64_t	r = high % CUCKOO_GROUP;
	uint64_t	start = GroupStart(sparse, group);
	uint64_t	codes = GroupStart(sparse, group + 1) - start;
	uint64_t	position = GroupBit(sparse, group, start);
	int			low_bits = sparse->low_bits;
	uint64_t	before;
	uint64_t	length;

	/* Only 8 readable bytes follow the last bits, too few for three words. */
	if (r == 0 || position + 64 * WORDS > sparse->end)
		length = FindRun(sparse->bits, position, r, &before);
	else
		length = FindRunQuickly(sparse->bits, position, r, &before);

	if (low_bits == 0)
		return length > 0;
	position += GroupHighs(sparse, group) + codes + before * (uint64_t) low_bits;
	if (length <= sparse->fields)
	{
		/* Compare all at once by the zero-byte trick, for any field width. */
		uint64_t	x = CuckooLoad64(sparse->bits + (position >> 3)) >> (position & 7);

		x ^= low * sparse->ones;
		return ((x - sparse->ones) & ~x & sparse->tops &
				((UINT64_C(1) << (length * (uint64_t) low_bits)) - 1)) != 0;
	}
	/* Many codes with the same high part are rare, unless made on purpose. */
	while (length > 0)
	{
		uint64_t	half = length / 2;
		uint64_t	middle = GetBits(sparse->bits, position + half * (uint64_t) low_bits,
									 low_bits, sparse->low_mask);

		if (middle == low)
			return true;
		if (middle < low)
		{
			position += (half + 1) * (uint64_t) low_bits;
			length -= half + 1;
		}
		else
			length = half;
	}
	return false;
}

/*
 * Copies of a code in the group that begins at a position in bits, which are
 * those of the table or a copy of the group.
 */
static int
CountInGroup(const CuckooSparse *sparse, const uint8_t *bits, uint64_t position,
			 uint64_t code, uint64_t codes)
{
	uint64_t	high = code >> sparse->low_bits;
	uint64_t	low = code & sparse->low_mask;
	int			low_bits = sparse->low_bits;
	uint64_t	before;
	uint64_t	length = FindRun(bits, position, high % CUCKOO_GROUP, &before);
	uint64_t	lows = position + GroupHighs(sparse, high / CUCKOO_GROUP) + codes +
		before * (uint64_t) low_bits;
	uint64_t	from = 0;
	uint64_t	to = length;
	int			copies = 0;

	/* Find the first low part that is not less. */
	while (from < to)
	{
		uint64_t	middle = from + (to - from) / 2;

		if (GetBits(bits, lows + middle * (uint64_t) low_bits, low_bits,
					sparse->low_mask) < low)
			from = middle + 1;
		else
			to = middle;
	}
	while (copies < CUCKOO_MAX_COPIES && from < length &&
		   GetBits(bits, lows + from * (uint64_t) low_bits, low_bits,
				   sparse->low_mask) == low)
	{
		copies++;
		from++;
	}
	return copies;
}

int
CuckooSparseCount(const CuckooSparse *sparse, uint64_t code)
{
	uint64_t	group = (code >> sparse->low_bits) / CUCKOO_GROUP;
	uint64_t	start = GroupStart(sparse, group);

	return CountInGroup(sparse, sparse->bits, GroupBit(sparse, group, start), code,
						GroupStart(sparse, group + 1) - start);
}

uint64_t
CuckooSparseStartsAt(const CuckooSparse *sparse, uint64_t code)
{
	return (code >> sparse->low_bits) / CUCKOO_GROUP * 4;
}

uint64_t
CuckooSparseGroupAt(const CuckooSparse *sparse, uint64_t code, const uint8_t *starts,
					uint64_t *bytes)
{
	uint64_t	group = (code >> sparse->low_bits) / CUCKOO_GROUP;
	uint64_t	start = CuckooLoad32(starts);
	uint64_t	codes = CuckooLoad32(starts + 4) - start;
	uint64_t	first = GroupBit(sparse, group, start);
	uint64_t	end = first + GroupHighs(sparse, group) +
		codes * (uint64_t) (1 + sparse->low_bits);

	*bytes = (end + 7) / 8 - first / 8;
	return 4 * (sparse->groups + 1) + first / 8;
}

int
CuckooSparseGroupCount(const CuckooSparse *sparse, uint64_t code, const uint8_t *starts,
					   const uint8_t *group)
{
	uint64_t	number = (code >> sparse->low_bits) / CUCKOO_GROUP;
	uint64_t	start = CuckooLoad32(starts);

	return CountInGroup(sparse, group, GroupBit(sparse, number, start) & 7, code,
						CuckooLoad32(starts + 4) - start);
}

/*
 * Reading all
 */

/* Where the next code of a group is. */
typedef struct Reader
{
	const CuckooSparse *sparse;
	uint64_t	left;			/* codes of the group from here on */
	uint64_t	high;			/* the high part is at least this */
	uint64_t	upper;			/* bit from which to read its high part */
	uint64_t	lower;			/* bit at which its low part begins */
} Reader;

/* The codes of a group. */
static inline Reader
ReadGroup(const CuckooSparse *sparse, uint64_t group)
{
	uint64_t	start = GroupStart(sparse, group);
	Reader		reader;

	reader.sparse = sparse;
	reader.left = GroupStart(sparse, group + 1) - start;
	reader.high = group * CUCKOO_GROUP;
	reader.upper = GroupBit(sparse, group, start);
	reader.lower = reader.upper + GroupHighs(sparse, group) + reader.left;
	return reader;
}

/* Store the next codes of a group; returns their number. */
static inline uint64_t
ReadCodes(Reader *reader, uint64_t *codes, uint64_t room)
{
	const uint8_t *bits = reader->sparse->bits;
	int			low_bits = reader->sparse->low_bits;
	uint64_t	low_mask = reader->sparse->low_mask;
	uint64_t	high = reader->high;
	uint64_t	upper = reader->upper;
	uint64_t	lower = reader->lower;
	uint64_t	count = reader->left < room ? reader->left : room;
	uint64_t	done = 0;

	while (done < count)
	{
		uint64_t	ones = CuckooLoad64(bits + (upper >> 3)) >> (upper & 7);
		int			left = 64 - (int) (upper & 7);

		while (ones != 0 && done < count)
		{
			int			zeros = CuckooLowestBit(ones);

			high += (uint64_t) zeros;
			left -= zeros + 1;
			ones = ones >> zeros >> 1;
			codes[done++] = high << low_bits | GetBits(bits, lower, low_bits, low_mask);
			lower += (uint64_t) low_bits;
		}
		upper = (upper & ~UINT64_C(7)) + 64;
		if (done < count)
			high += (uint64_t) left;
		else
			upper -= (uint64_t) left;
	}
	reader->left -= count;
	reader->high = high;
	reader->upper = upper;
	reader->lower = lower;
	return count;
}

uint64_t
CuckooSparseCountIn(const CuckooSparse *sparse, uint64_t from, uint64_t to)
{
	return GroupStart(sparse, to) - GroupStart(sparse, from);
}

void
CuckooSparseCodes(const CuckooSparse *sparse, uint64_t from, uint64_t to, uint64_t *codes)
{
	for (uint64_t group = from; group < to; group++)
	{
		Reader		reader = ReadGroup(sparse, group);

		do
		{
			CHECK_FOR_INTERRUPTS();
			codes += ReadCodes(&reader, codes, CUCKOO_PAUSE);
		} while (reader.left > 0);
	}
}

/*
 * Building
 */

/* A group can have millions of codes, so pause at every 65,536th. */
static inline void
PauseAt(uint64_t i)
{
	if (i % CUCKOO_PAUSE == CUCKOO_PAUSE - 1)
		CHECK_FOR_INTERRUPTS();
}

/*
 * Write a group with these codes: the high parts in unary, then the low parts.
 * start is the number of codes before it.
 */
static void
PutGroup(const CuckooSparse *sparse, uint64_t group, uint64_t start, const CuckooList *codes)
{
	uint64_t	highs = GroupHighs(sparse, group);
	int			low_bits = sparse->low_bits;
	uint64_t	high = group * CUCKOO_GROUP;
	Writer		writer = WriteAt(sparse->bits, GroupBit(sparse, group, start));

	CuckooStore32(sparse->starts + 4 * group, (uint32_t) start);
	for (uint64_t i = 0; i < codes->count; i++)
	{
		uint64_t	next = codes->numbers[i] >> low_bits;

		PauseAt(i);
		if (next - high > 32)
		{
			Put(&writer, 0, 32);
			high += 32;
		}
		Put(&writer, UINT64_C(1) << (next - high), (int) (next - high) + 1);
		high = next;
	}
	high = group * CUCKOO_GROUP + highs - high;	/* zeros left */
	Put(&writer, 0, (int) high / 2);
	Put(&writer, 0, (int) (high + 1) / 2);
	for (uint64_t i = 0; i < codes->count && low_bits > 0; i++)
	{
		PauseAt(i);
		Put(&writer, codes->numbers[i] & sparse->low_mask, low_bits);
	}
	Flush(&writer);
}

void
CuckooSparseBuild(CuckooSparse *sparse, const CuckooSource *source)
{
	CuckooCursor cursor;
	CuckooList	codes = {NULL, 0, 0};	/* of a group */
	uint64_t	start = 0;

	CuckooCursorInit(&cursor, source, &sparse->shape);
	CuckooListReserve(&codes, CUCKOO_READ_CODES);
	for (uint64_t group = 0; group < sparse->groups; group++)
	{
		uint64_t	end = (group * CUCKOO_GROUP + GroupHighs(sparse, group)) << sparse->low_bits;

		codes.count = CuckooCursorRead(&cursor, end, codes.numbers, (size_t) codes.room);
		while (codes.count == codes.room)
		{
			CuckooListReserve(&codes, 2 * codes.room);
			codes.count += CuckooCursorRead(&cursor, end, codes.numbers + codes.count,
											(size_t) (codes.room - codes.count));
		}
		PutGroup(sparse, group, start, &codes);
		start += codes.count;
	}
	CuckooStore32(sparse->starts + 4 * sparse->groups, (uint32_t) start);
	CuckooListFree(&codes);
}

void
CuckooSparseEdit(CuckooSparse *target, const CuckooSparse *sparse, const uint64_t *codes,
				 uint64_t count, bool remove)
{
	int			low_bits = sparse->low_bits;
	CuckooList	edited = {NULL, 0, 0};
	uint64_t	at = 0;			/* codes done */
	uint64_t	from = 0;		/* groups done */

	while (from < sparse->groups)
	{
		uint64_t	group = at < count ?
			(codes[at] >> low_bits) / CUCKOO_GROUP : sparse->groups;
		uint64_t	change = remove ? 0 - at : at;
		uint64_t	first = GroupBit(sparse, from, GroupStart(sparse, from));
		uint64_t	end = at < count ? GroupBit(sparse, group, GroupStart(sparse, group)) :
			sparse->end;
		uint64_t	next = at;
		uint64_t	stored;

		/* Move the groups without a change before it. */
		CHECK_FOR_INTERRUPTS();
		for (uint64_t i = from; i < group; i++)
			CuckooStore32(target->starts + 4 * i, (uint32_t) (GroupStart(sparse, i) + change));
		CopyBits(target->bits, first + change * (uint64_t) (1 + low_bits), sparse->bits, first,
				 end - first);
		from = group;
		if (at == count)
			break;

		while (next < count && (codes[next] >> low_bits) / CUCKOO_GROUP == group)
			next++;
		edited.count = 0;
		stored = CuckooSparseCountIn(sparse, group, group + 1);
		CuckooListReserve(&edited, stored + next - at);
		CuckooSparseCodes(sparse, group, group + 1,
						  edited.numbers + (remove ? 0 : next - at));
		edited.count = CuckooEditCodes(edited.numbers, stored, codes + at, next - at, remove);
		PutGroup(target, group, GroupStart(sparse, group) + change, &edited);
		at = next;
		from = group + 1;
	}
	CuckooStore32(target->starts + 4 * target->groups, (uint32_t) target->items);
	/* Copying may have left bits after the end. */
	if ((target->end & 7) != 0)
		target->bits[target->end >> 3] &= (uint8_t) ((1 << (target->end & 7)) - 1);
	CuckooListFree(&edited);
}

/*
 * Checking
 */

/*
 * Check what makes the table safe to read: the starts ascend from 0 to the
 * number of items, and the high parts of each group have a one per code and end
 * with a zero.
 */
static bool
CheckGroups(const CuckooSparse *sparse, uint64_t *bad)
{
	for (uint64_t group = 0; group < sparse->groups; group++)
	{
		uint64_t	start = GroupStart(sparse, group);
		uint64_t	next = GroupStart(sparse, group + 1);
		uint64_t	position = GroupBit(sparse, group, start);
		uint64_t	left;
		uint64_t	ones = 0;

		*bad = group;
		if (group % 65536 == 0)
			CHECK_FOR_INTERRUPTS();
		if (next < start || next > sparse->items || (group == 0 && start != 0))
			return false;
		left = GroupHighs(sparse, group) + next - start;
		if (GetBits(sparse->bits, position + left - 1, 1, 1) != 0)
			return false;
		while (left > 0)
		{
			int			width = left < 56 ? (int) left : 56;

			ones += ByteSums(GetBits(sparse->bits, position, width,
									 (UINT64_C(1) << width) - 1)) >> 56;
			position += (uint64_t) width;
			left -= (uint64_t) width;
		}
		if (ones != next - start)
			return false;
	}
	*bad = sparse->groups;
	return GroupStart(sparse, sparse->groups) == sparse->items;
}

bool
CuckooSparseCheck(const CuckooSparse *sparse, uint64_t *bad)
{
	uint64_t	codes[CUCKOO_READ_CODES];
	uint64_t	last = 0;		/* no code is 0 */
	int			copies = 0;

	if (!CheckGroups(sparse, bad))
		return false;
	for (uint64_t group = 0; group < sparse->groups; group++)
	{
		Reader		reader = ReadGroup(sparse, group);
		uint64_t	count;

		*bad = group;
		while ((count = ReadCodes(&reader, codes, CUCKOO_READ_CODES)) > 0)
		{
			CHECK_FOR_INTERRUPTS();
			for (uint64_t i = 0; i < count; i++)
			{
				copies = codes[i] == last ? copies + 1 : 1;
				if (codes[i] < last || copies > CUCKOO_MAX_COPIES ||
					codes[i] >= CuckooShapeCodes(&sparse->shape) ||
					(codes[i] & sparse->fingerprints) == 0)
					return false;
				last = codes[i];
			}
		}
	}
	*bad = sparse->groups;
	return (sparse->end & 7) == 0 ||
		sparse->bits[sparse->end >> 3] >> (sparse->end & 7) == 0;
}
