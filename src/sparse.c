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
Start(const CuckooSparse *sparse, uint64_t group)
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
Select(uint64_t x, uint64_t sums, uint64_t k)
{
	uint64_t	reached = ((sums | HIGH_BYTES) - k * LOW_BYTES) & HIGH_BYTES;
	int			byte = CuckooLowestBit(reached) - 7;	/* its first bit */
	uint64_t	before = (sums << 8) >> byte & 255;
	uint64_t	spread = (x >> byte & 255) * LOW_BYTES & UINT64_C(0x8040201008040201);

	spread = ((spread + UINT64_C(0x7F7F7F7F7F7F7F7F)) >> 7 & LOW_BYTES) * LOW_BYTES;
	reached = ((spread | HIGH_BYTES) - (k - before) * LOW_BYTES) & HIGH_BYTES;
	return byte + (CuckooLowestBit(reached) >> 3);
}

/* Appends bits.  The unused bits of the last byte become zero. */
typedef struct Writer
{
	uint8_t    *p;
	uint64_t	pending;		/* bits not yet stored */
	int			count;			/* number of these, below 64 */
} Writer;

/* Start to write at a position.  The bits before it stay as they are. */
static inline void
WriterInit(Writer *writer, uint8_t *bits, uint64_t position)
{
	writer->p = bits + (position >> 3);
	writer->count = (int) (position & 7);
	writer->pending = writer->count == 0 ? 0 :
		(uint64_t) (*writer->p & ((1U << writer->count) - 1));
}

/* Append the lowest width bits, 1 to 63, of value.  Its other bits are zero. */
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

static inline void
PutZeros(Writer *writer, uint64_t count)
{
	for (; count > 32; count -= 32)
		Put(writer, 0, 32);
	if (count > 0)
		Put(writer, 0, (int) count);
}

/* Store the pending bits, in whole bytes. */
static inline void
WriterFlush(Writer *writer)
{
	for (; writer->count > 0; writer->count -= 8)
	{
		*writer->p++ = (uint8_t) writer->pending;
		writer->pending >>= 8;
	}
	writer->count = 0;
}

/*
 * Copy count bits from one position to another.  The target's bits before its
 * position stay as they are.
 */
static void
CopyBits(uint8_t *target, uint64_t target_bit, const uint8_t *source,
		 uint64_t source_bit, uint64_t count, const CuckooHost *host)
{
	Writer		writer;
	const uint8_t *s;
	uint64_t	align = (8 - (target_bit & 7)) & 7;
	int			shift;

	if (align > count)
		align = count;
	WriterInit(&writer, target, target_bit);
	if (align > 0)
		Put(&writer, GetBits(source, source_bit, 8, (UINT64_C(1) << align) - 1), (int) align);
	WriterFlush(&writer);
	source_bit += align;
	count -= align;
	if (count == 0)
		return;

	/* The rest of the target begins at a whole byte. */
	target += (target_bit + align) >> 3;
	s = source + (source_bit >> 3);
	shift = (int) (source_bit & 7);
	while (count >= 64)
	{
		uint64_t	words = count / 64;

		if (words > CUCKOO_PAUSE_BYTES / 8)
			words = CUCKOO_PAUSE_BYTES / 8;
		host->pause();
		if (shift == 0)
			memcpy(target, s, words * 8);
		else
		{
			for (uint64_t i = 0; i < words; i++)
				CuckooStore64(target + 8 * i, CuckooLoad64(s + 8 * i) >> shift |
							  (uint64_t) s[8 * i + 8] << (64 - shift));
		}
		target += 8 * words;
		s += 8 * words;
		count -= 64 * words;
	}
	for (int done = 0; done < (int) count; done += 8)
	{
		int			left = (int) count - done < 8 ? (int) count - done : 8;

		*target++ = (uint8_t) GetBits(s, (uint64_t) (shift + done), left,
									  (UINT64_C(1) << left) - 1);
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
		zero = Select(zeros, sums, left);
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

	zero = Select(zeros[word], sums[word], left);
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

void
CuckooSparsePrefetchGroup(const CuckooSparse *sparse, uint64_t hash)
{
	uint64_t	code = CuckooScaledCode(sparse->pairs, sparse->fingerprints,
										sparse->shape.bits, hash);
	uint64_t	high = code >> sparse->low_bits;
	uint64_t	start = Start(sparse, high / CUCKOO_GROUP);
	uint64_t	codes = Start(sparse, high / CUCKOO_GROUP + 1) - start;
	uint64_t	position = GroupBit(sparse, high / CUCKOO_GROUP, start);
	uint64_t	before = codes * (high % CUCKOO_GROUP) / CUCKOO_GROUP;

	CUCKOO_PREFETCH(sparse->bits + (position >> 3));
	position += CUCKOO_GROUP + codes + before * sparse->low_bits;
	CUCKOO_PREFETCH(sparse->bits + (position >> 3));
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
	uint64_t	start = Start(sparse, group);
	uint64_t	codes = Start(sparse, group + 1) - start;
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
	uint64_t	start = Start(sparse, group);

	return CountInGroup(sparse, sparse->bits, GroupBit(sparse, group, start), code,
						Start(sparse, group + 1) - start);
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

/* Go to the first code of a group. */
static inline void
EnterGroup(CuckooSparseSource *source, uint64_t group)
{
	const CuckooSparse *sparse = &source->sparse;
	uint64_t	start = Start(sparse, group);

	source->group = group;
	source->item = start;
	source->group_end = Start(sparse, group + 1);
	source->high = group * CUCKOO_GROUP;
	source->upper = GroupBit(sparse, group, start);
	source->lower = source->upper + GroupHighs(sparse, group) + source->group_end - start;
}

/* The next codes of the current group. */
static inline size_t
ReadGroup(CuckooSparseSource *source, uint64_t *codes, size_t room)
{
	const CuckooSparse *sparse = &source->sparse;
	const uint8_t *bits = sparse->bits;
	int			low_bits = sparse->low_bits;
	uint64_t	low_mask = sparse->low_mask;
	uint64_t	high = source->high;
	uint64_t	upper = source->upper;
	uint64_t	lower = source->lower;
	size_t		count = source->group_end - source->item < room ?
		(size_t) (source->group_end - source->item) : room;
	size_t		done = 0;

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
	source->item += count;
	source->high = high;
	source->upper = upper;
	source->lower = lower;
	return count;
}

static void
SparseRewind(CuckooSource *source)
{
	EnterGroup((CuckooSparseSource *) source, 0);
}

static size_t
SparseRead(CuckooSource *source, uint64_t *codes, size_t room)
{
	CuckooSparseSource *sparse = (CuckooSparseSource *) source;
	size_t		count = 0;

	while (count < room && sparse->item < sparse->sparse.items)
	{
		while (sparse->item == sparse->group_end)
			EnterGroup(sparse, sparse->group + 1);
		count += ReadGroup(sparse, codes + count, room - count);
	}
	return count;
}

void
CuckooSparseSourceInit(CuckooSparseSource *source, const CuckooSparse *sparse)
{
	source->source.rewind = SparseRewind;
	source->source.read = SparseRead;
	source->sparse = *sparse;
	EnterGroup(source, 0);
}

/*
 * Building
 */

/* The low parts of a group, kept until all its high parts are written. */
typedef struct Lows
{
	uint64_t   *parts;
	uint64_t	count;
	uint64_t	room;
	uint64_t	some[CUCKOO_READ_CODES];
	const CuckooHost *host;
} Lows;

static void
LowsInit(Lows *lows, const CuckooHost *host)
{
	lows->parts = lows->some;
	lows->count = 0;
	lows->room = CUCKOO_READ_CODES;
	lows->host = host;
}

static void
LowsRelease(Lows *lows)
{
	if (lows->parts != lows->some)
		lows->host->release(lows->parts);
}

/*
 * Double the memory.  By chance a group does not have so many codes, but it can
 * have them if there are many copies or if the keys were chosen on purpose.
 */
static void
LowsEnlarge(Lows *lows)
{
	uint64_t   *parts = CuckooAllocate(lows->host, 2 * lows->room, sizeof(uint64_t));

	CuckooCopy((uint8_t *) parts, (const uint8_t *) lows->parts,
			   (size_t) lows->count * sizeof(uint64_t), lows->host);
	LowsRelease(lows);
	lows->parts = parts;
	lows->room *= 2;
}

/* A group can have millions of codes, so pause at every 65,536th. */
static inline void
PauseAt(const Lows *lows, uint64_t i)
{
	if (i % 65536 == 65535)
		lows->host->pause();
}

/*
 * Writes groups code by code: the high part of each code at once, the low parts
 * at the end of the group.
 */
typedef struct Encoder
{
	Writer		writer;
	int			low_bits;
	uint64_t	high;			/* high parts below this are complete */
	Lows		lows;
} Encoder;

static inline void
EncodeCode(Encoder *encoder, uint64_t code)
{
	uint64_t	high = code >> encoder->low_bits;
	uint64_t	zeros = high - encoder->high;

	if (zeros < 56)
		Put(&encoder->writer, UINT64_C(1) << zeros, (int) zeros + 1);
	else
	{
		PutZeros(&encoder->writer, zeros);
		Put(&encoder->writer, 1, 1);
	}
	encoder->high = high;
	if (encoder->lows.count == encoder->lows.room)
		LowsEnlarge(&encoder->lows);
	PauseAt(&encoder->lows, encoder->lows.count);
	encoder->lows.parts[encoder->lows.count++] =
		code & ((UINT64_C(1) << encoder->low_bits) - 1);
}

/* End a group, whose high parts are below end. */
static inline void
EncodeEnd(Encoder *encoder, uint64_t end)
{
	PutZeros(&encoder->writer, end - encoder->high);
	encoder->high = end;
	if (encoder->low_bits > 0)
	{
		for (uint64_t i = 0; i < encoder->lows.count; i++)
		{
			PauseAt(&encoder->lows, i);
			Put(&encoder->writer, encoder->lows.parts[i], encoder->low_bits);
		}
	}
	encoder->lows.count = 0;
}

void
CuckooSparseBuild(CuckooSparse *sparse, CuckooSource *source, const CuckooHost *host)
{
	uint64_t	codes[CUCKOO_READ_CODES];
	size_t		count = 0;
	size_t		at = 0;
	uint64_t	items = 0;
	Encoder		encoder;

	WriterInit(&encoder.writer, sparse->bits, 0);
	encoder.low_bits = sparse->low_bits;
	encoder.high = 0;
	LowsInit(&encoder.lows, host);
	CuckooStore32(sparse->starts, 0);
	source->rewind(source);
	for (uint64_t group = 0; group < sparse->groups; group++)
	{
		uint64_t	end = group * CUCKOO_GROUP + GroupHighs(sparse, group);

		if (group % 4096 == 0)
			host->pause();
		for (;;)
		{
			if (at == count)
			{
				count = source->read(source, codes, CUCKOO_READ_CODES);
				at = 0;
				if (count == 0)
					break;
			}
			if (codes[at] >> sparse->low_bits >= end)
				break;
			EncodeCode(&encoder, codes[at]);
			at++;
		}
		items += encoder.lows.count;
		EncodeEnd(&encoder, end);
		CuckooStore32(sparse->starts + 4 * (group + 1), (uint32_t) items);
	}
	WriterFlush(&encoder.writer);
	LowsRelease(&encoder.lows);
}

/*
 * Editing
 */

/* Write one group again, with the codes added to it or removed from it. */
static void
EditGroup(CuckooSparse *target, CuckooSparseSource *old, uint64_t group,
		  uint64_t position, const uint64_t *codes, uint64_t count, bool remove,
		  Encoder *encoder)
{
	uint64_t	some[CUCKOO_GROUP];
	uint64_t	at = 0;
	size_t		read;

	WriterInit(&encoder->writer, target->bits, position);
	encoder->high = group * CUCKOO_GROUP;
	EnterGroup(old, group);
	while ((read = ReadGroup(old, some, CUCKOO_GROUP)) > 0)
	{
		for (size_t i = 0; i < read; i++)
		{
			while (!remove && at < count && codes[at] < some[i])
				EncodeCode(encoder, codes[at++]);
			if (remove && at < count && codes[at] == some[i])
				at++;
			else
				EncodeCode(encoder, some[i]);
		}
	}
	while (!remove && at < count)
		EncodeCode(encoder, codes[at++]);
	EncodeEnd(encoder, group * CUCKOO_GROUP + GroupHighs(target, group));
	WriterFlush(&encoder->writer);
}

void
CuckooSparseEdit(CuckooSparse *target, const CuckooSparse *sparse, const uint64_t *codes,
				 uint64_t count, bool remove, const CuckooHost *host)
{
	int			low_bits = sparse->low_bits;
	CuckooSparseSource old;
	Encoder		encoder;
	uint64_t	at = 0;			/* codes done */
	uint64_t	from = 0;		/* groups done */

	CuckooSparseSourceInit(&old, sparse);
	if (target->low_bits != low_bits)
	{
		CuckooEditSource edit;

		CuckooEditSourceInit(&edit, &old.source, codes, count, remove);
		CuckooSparseBuild(target, &edit.source, host);
		return;
	}

	encoder.low_bits = low_bits;
	LowsInit(&encoder.lows, host);
	while (from < sparse->groups)
	{
		uint64_t	group = at < count ?
			(codes[at] >> low_bits) / CUCKOO_GROUP : sparse->groups;
		uint64_t	change = remove ? 0 - at : at;
		uint64_t	first = GroupBit(sparse, from, Start(sparse, from));
		uint64_t	end = at < count ? GroupBit(sparse, group, Start(sparse, group)) :
			sparse->end;
		uint64_t	position;
		uint64_t	next = at;

		/* Move the groups without a change before it. */
		host->pause();
		for (uint64_t i = from; i < group; i++)
			CuckooStore32(target->starts + 4 * i, (uint32_t) (Start(sparse, i) + change));
		position = first + change * (uint64_t) (1 + low_bits);
		CopyBits(target->bits, position, sparse->bits, first, end - first, host);
		from = group;
		if (at == count)
			break;

		while (next < count && (codes[next] >> low_bits) / CUCKOO_GROUP == group)
			next++;
		position = end + change * (uint64_t) (1 + low_bits);
		EditGroup(target, &old, group, position, codes + at, next - at, remove, &encoder);
		CuckooStore32(target->starts + 4 * group, (uint32_t) (Start(sparse, group) + change));
		at = next;
		from = group + 1;
	}
	CuckooStore32(target->starts + 4 * target->groups, (uint32_t) target->items);
	LowsRelease(&encoder.lows);
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
CheckGroups(const CuckooSparse *sparse, uint64_t *bad, const CuckooHost *host)
{
	for (uint64_t group = 0; group < sparse->groups; group++)
	{
		uint64_t	start = Start(sparse, group);
		uint64_t	next = Start(sparse, group + 1);
		uint64_t	position = GroupBit(sparse, group, start);
		uint64_t	left;
		uint64_t	ones = 0;

		*bad = group;
		if (group % 65536 == 0)
			host->pause();
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
	return Start(sparse, sparse->groups) == sparse->items;
}

bool
CuckooSparseCheck(const CuckooSparse *sparse, uint64_t *bad, const CuckooHost *host)
{
	uint64_t	codes[CUCKOO_READ_CODES];
	CuckooSparseSource source;
	uint64_t	last = 0;		/* no code is 0 */
	int			copies = 0;
	size_t		count;

	if (!CheckGroups(sparse, bad, host))
		return false;
	CuckooSparseSourceInit(&source, sparse);
	while ((count = SparseRead(&source.source, codes, CUCKOO_READ_CODES)) > 0)
	{
		if (source.item >> 16 != (source.item - count) >> 16)
			host->pause();
		for (size_t i = 0; i < count; i++)
		{
			copies = codes[i] == last ? copies + 1 : 1;
			if (codes[i] < last || copies > CUCKOO_MAX_COPIES ||
				codes[i] >= CuckooShapeCodes(&sparse->shape) ||
				(codes[i] & sparse->fingerprints) == 0)
			{
				*bad = (codes[i] >> sparse->low_bits) / CUCKOO_GROUP;
				return false;
			}
			last = codes[i];
		}
	}
	*bad = sparse->groups;
	return (sparse->end & 7) == 0 ||
		sparse->bits[sparse->end >> 3] >> (sparse->end & 7) == 0;
}
