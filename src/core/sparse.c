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

/* A byte of the index with this value stands for at least so many codes. */
#define MANY		255

/*
 * The most codes of a group whose upper part is in one word, and its end with
 * it, whatever the bit at which it begins.
 */
#define WORD_CODES	(57 - CUCKOO_GROUP)

void
CuckooSparseInit(CuckooSparse *sparse, const CuckooShape *shape, uint64_t items)
{
	uint64_t	last = CuckooShapeCodes(shape) - 1;
	uint64_t	wanted = 8 * (items == 0 ? 1 : items) / 7;
	int			low_bits = 0;

	/*
	 * The fewest that leave at most eight high parts for every seven items.  A
	 * filter that is not toasted is opened for each lookup, so the search
	 * halves its steps.
	 */
	for (int step = 32; step > 0; step /= 2)
	{
		if (last >> (low_bits + step - 1) >= wanted)
			low_bits += step;
	}

	memset(sparse, 0, sizeof(*sparse));
	sparse->shape = *shape;
	sparse->items = items;
	sparse->low_bits = (uint8_t) low_bits;
	sparse->low_mask = (UINT64_C(1) << low_bits) - 1;
	sparse->groups = (last >> low_bits) / CUCKOO_GROUP + 1;
	sparse->sections = (sparse->groups + CUCKOO_SECTION_GROUPS - 1) / CUCKOO_SECTION_GROUPS;
	sparse->bit_count = sparse->groups * CUCKOO_GROUP + items * (uint64_t) (1 + low_bits);

	/* A load of 8 bytes from any bit on has at least 57 of the bits wanted. */
	sparse->fields = low_bits == 0 ? 0 : (uint8_t) (57 / low_bits);
	for (int field = 0; field < sparse->fields; field++)
		sparse->ones |= UINT64_C(1) << (field * low_bits);
	sparse->tops = sparse->fields == 0 ? 0 : sparse->ones << (low_bits - 1);
}

static inline uint64_t
SectionBit(const CuckooSparse *sparse, uint64_t section)
{
	return section == sparse->sections ? sparse->bit_count :
		section * CUCKOO_SECTION +
		CuckooSparseStart(sparse, section) * (uint64_t) (1 + sparse->low_bits);
}

/*
 * Put a group, with its codes and the number of codes before it, into what the
 * index says of its section, and into the bytes for the groups after it.
 */
static inline void
PutIndex(uint8_t *section, uint64_t group, uint64_t before, uint64_t codes)
{
	uint64_t	number = group % CUCKOO_SECTION_GROUPS;

	if (number == 0)
		CuckooStore32(section, (uint32_t) before);
	codes += before - CuckooLoad32(section);
	memset(section + 4 + number, codes < MANY ? (int) codes : MANY, CUCKOO_SECTION_GROUPS - number);
}

/* Read up to 64 bits at a position, as many as mask has ones. */
static inline uint64_t
GetBits(const uint8_t *stream, uint64_t position, int width, uint64_t mask)
{
	const uint8_t *p = stream + (position >> 3);
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

typedef struct BitWriter
{
	uint8_t    *p;
	uint64_t	pending;		/* bits not yet stored */
	int			count;			/* number of these, below 64 */
} BitWriter;

/* Start to write at a position.  The bits before it stay as they are. */
static inline BitWriter
WriteBitsAt(uint8_t *stream, uint64_t position)
{
	BitWriter	writer;

	writer.p = stream + (position >> 3);
	writer.count = (int) (position & 7);
	writer.pending = *writer.p & ((UINT64_C(1) << writer.count) - 1);
	return writer;
}

/* Append the lowest width bits of value.  Its other bits are zero. */
static inline void
PutBits(BitWriter *writer, uint64_t value, int width)
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
FlushBits(BitWriter *writer)
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
 * position stay as they are; those after the end, in the last byte, become 0.
 */
static void
CopyBits(uint8_t *target, uint64_t to, const uint8_t *source, uint64_t from, uint64_t count)
{
	BitWriter	writer = WriteBitsAt(target, to);
	uint64_t	head = (0 - to) & 7;	/* up to a whole byte of the target */
	uint64_t	bytes;
	int			shift;

	if (head > count)
		head = count;
	PutBits(&writer, GetBits(source, from, (int) head, (1 << head) - 1), (int) head);
	FlushBits(&writer);
	from += head;
	count -= head;
	source += from >> 3;
	shift = (int) (from & 7);
	bytes = count / 64 * 8;
	if (shift == 0)
		CuckooCopy(writer.p, source, (size_t) bytes);
	for (uint64_t i = 0, stop; shift != 0 && i < bytes;)
	{
		CHECK_FOR_INTERRUPTS();
		stop = bytes - i < CUCKOO_INTERRUPT_BYTES ? bytes : i + CUCKOO_INTERRUPT_BYTES;
		for (; i < stop; i += 8)
			CuckooStore64(writer.p + i, CuckooLoad64(source + i) >> shift |
						  (uint64_t) source[i + 8] << (64 - shift));
	}
	writer.p += bytes;
	count %= 64;
	PutBits(&writer, GetBits(source, 8 * bytes + (uint64_t) shift, (int) count,
							 (UINT64_C(1) << count) - 1), (int) count);
	FlushBits(&writer);
}

/*
 * The position after zero number k, from 1, of the bits from a position on; the
 * position itself if k is 0.  If bits up to end do not have so many zeros, it
 * is larger than end.
 */
static inline uint64_t
AfterZero(const uint8_t *stream, uint64_t position, uint64_t k, uint64_t end)
{
	uint64_t	at = position & ~UINT64_C(7);
	uint64_t	zeros = ~CuckooLoad64(stream + (at >> 3)) & (~UINT64_C(0) << (position & 7));
	uint64_t	sums = ByteSums(zeros);

	if (k == 0)
		return position;
	while (sums >> 56 < k)
	{
		k -= sums >> 56;
		/* Words without a zero are frequent in groups with many codes. */
		do
		{
			at += 64;
			if (at > end)
				return UINT64_MAX;
			zeros = ~CuckooLoad64(stream + (at >> 3));
		} while (zeros == 0);
		sums = ByteSums(zeros);
	}
	return at + (uint64_t) SelectOne(zeros, sums, k) + 1;
}

/* Codes of a group whose upper part begins at a position. */
static inline uint64_t
GroupCodes(const uint8_t *stream, uint64_t position)
{
	return AfterZero(stream, position, CUCKOO_GROUP, UINT64_MAX) - position - CUCKOO_GROUP;
}

/* Where a group is. */
typedef struct Group
{
	uint64_t	codes;			/* their number; or UNKNOWN: it is found by walking
								 * there from the beginning of its section */
	uint64_t	bit;			/* its first bit, if that is known */
	uint64_t	section_bit;	/* the first bit of its section */
} Group;

#define UNKNOWN		UINT64_MAX

/* The group of a code, by what the index says of its section. */
static inline Group
FindGroup(const CuckooSparse *sparse, const uint8_t *section, uint64_t code)
{
	uint64_t	high = code >> sparse->low_bits;
	uint64_t	start = CuckooLoad32(section);
	uint64_t	counts = CuckooLoad64(section + 4);
	int			shift = (int) (high / CUCKOO_GROUP % CUCKOO_SECTION_GROUPS) * 8;
	uint64_t	before = counts << 8 >> shift & 255;
	uint64_t	codes = (counts >> shift & 255) - before;

	return (Group) {
		.codes = before + codes < MANY ? codes : UNKNOWN,
		.bit = high / CUCKOO_GROUP * CUCKOO_GROUP +
			(start + before) * (uint64_t) (1 + sparse->low_bits),
		.section_bit = high / CUCKOO_SECTION * CUCKOO_SECTION +
			start * (uint64_t) (1 + sparse->low_bits)
	};
}

/* The first bit to be read. */
static inline uint64_t
GroupStart(Group group)
{
	return group.codes == UNKNOWN ? group.section_bit : group.bit;
}

/* The end of a group whose number of codes is known. */
static inline uint64_t
GroupEnd(const CuckooSparse *sparse, Group group)
{
	return group.bit + CUCKOO_GROUP + group.codes * (uint64_t) (1 + sparse->low_bits);
}

/* Where the group of a code begins, if its section does not say it */
static uint64_t
WalkToGroup(const CuckooSparse *sparse, const uint8_t *stream, Group group, uint64_t code)
{
	uint64_t	number = (code >> sparse->low_bits) / CUCKOO_GROUP;
	uint64_t	bit = group.section_bit;

	for (uint64_t left = number % CUCKOO_SECTION_GROUPS; left > 0; left--)
		bit += CUCKOO_GROUP + GroupCodes(stream, bit) * (uint64_t) (1 + sparse->low_bits);
	return bit;
}

/*
 * Copies of a code in its group.  The stream is that of the table or a copy of
 * some of it.
 */
static int
CountInGroup(const CuckooSparse *sparse, const uint8_t *stream, Group group, uint64_t code)
{
	uint64_t	r = (code >> sparse->low_bits) % CUCKOO_GROUP;
	uint64_t	low = code & sparse->low_mask;
	int			low_bits = sparse->low_bits;
	uint64_t	run;
	uint64_t	next;
	uint64_t	lows;
	uint64_t	length;
	uint64_t	from = 0;
	uint64_t	to;
	int			copies = 0;

	if (group.codes == UNKNOWN)
		group.bit = WalkToGroup(sparse, stream, group, code);

	/* The codes with its high part are the ones between two zeros. */
	run = AfterZero(stream, group.bit, r, UINT64_MAX);
	next = AfterZero(stream, run, 1, UINT64_MAX);
	length = next - 1 - run;
	lows = group.codes == UNKNOWN ?
		AfterZero(stream, next, CUCKOO_GROUP - 1 - r, UINT64_MAX) :
		group.bit + CUCKOO_GROUP + group.codes;
	lows += (run - group.bit - r) * (uint64_t) low_bits;

	/* Find the first low part that is not less. */
	to = length;
	while (from < to)
	{
		uint64_t	middle = from + (to - from) / 2;

		if (GetBits(stream, lows + middle * (uint64_t) low_bits, low_bits, sparse->low_mask) < low)
			from = middle + 1;
		else
			to = middle;
	}
	while (copies < CUCKOO_MAX_COPIES && from < length &&
		   GetBits(stream, lows + from++ * (uint64_t) low_bits, low_bits,
				   sparse->low_mask) == low)
		copies++;
	return copies;
}

void
CuckooSparsePrefetchGroup(const CuckooSparse *sparse, uint64_t hash)
{
	uint64_t	code = CuckooCodeOf(&sparse->shape, hash);
	const uint8_t *section = sparse->index + CuckooSparseSectionAt(sparse, code);
	Group		group = FindGroup(sparse, section, code);

	CUCKOO_PREFETCH(sparse->stream + (GroupStart(group) >> 3));
	if (group.codes != UNKNOWN)
		CUCKOO_PREFETCH(sparse->stream + (GroupEnd(sparse, group) >> 3));
}

bool
CuckooSparseContains(const CuckooSparse *sparse, uint64_t hash)
{
	uint64_t	code = CuckooCodeOf(&sparse->shape, hash);
	const uint8_t *section = sparse->index + CuckooSparseSectionAt(sparse, code);
	uint64_t	r = (code >> sparse->low_bits) % CUCKOO_GROUP;
	int			low_bits = sparse->low_bits;
	Group		group = FindGroup(sparse, section, code);
	uint64_t	word;
	uint64_t	zeros;
	uint64_t	run;
	uint64_t	length;
	uint64_t	position;
	uint64_t	x;

	/* Many codes in one group are rare, unless made on purpose. */
	if (group.codes > WORD_CODES)
		return CountInGroup(sparse, sparse->stream, group, code) > 0;

	/* With a zero put before it, the codes follow zero number r + 1. */
	word = CuckooLoad64(sparse->stream + (group.bit >> 3)) >> (group.bit & 7);
	zeros = ~word << 1 | 1;
	run = (uint64_t) SelectOne(zeros, ByteSums(zeros), r + 1);
	length = (uint64_t) CuckooLowestBit(~word >> run);
	if (length > sparse->fields)
		return CountInGroup(sparse, sparse->stream, group, code) > 0;

	/* Compare all at once by the zero-byte trick, for any field width. */
	position = group.bit + CUCKOO_GROUP + group.codes + (run - r) * (uint64_t) low_bits;
	x = CuckooLoad64(sparse->stream + (position >> 3)) >> (position & 7);
	x ^= (code & sparse->low_mask) * sparse->ones;
	return ((x - sparse->ones) & ~x & sparse->tops &
			((UINT64_C(1) << (length * (uint64_t) low_bits)) - 1)) != 0;
}

int
CuckooSparseCount(const CuckooSparse *sparse, uint64_t code)
{
	const uint8_t *section = sparse->index + CuckooSparseSectionAt(sparse, code);

	return CountInGroup(sparse, sparse->stream, FindGroup(sparse, section, code), code);
}

uint64_t
CuckooSparseGroupAt(const CuckooSparse *sparse, uint64_t code, const uint8_t *section,
					uint64_t *bytes)
{
	Group		group = FindGroup(sparse, section, code);
	uint64_t	end = GroupEnd(sparse, group);

	if (group.codes == UNKNOWN)
	{
		uint64_t	next = (code >> sparse->low_bits) / CUCKOO_SECTION + 1;

		end = next == sparse->sections ? sparse->bit_count : next * CUCKOO_SECTION +
			CuckooLoad32(section + CUCKOO_SECTION_BYTES) * (uint64_t) (1 + sparse->low_bits);
	}
	*bytes = (end + 7) / 8 - GroupStart(group) / 8;
	return CUCKOO_SECTION_BYTES * sparse->sections + GroupStart(group) / 8;
}

int
CuckooSparseGroupCount(const CuckooSparse *sparse, uint64_t code, const uint8_t *section,
					   const uint8_t *group)
{
	Group		copied = FindGroup(sparse, section, code);

	copied.bit &= 7;
	copied.section_bit &= 7;
	return CountInGroup(sparse, group, copied, code);
}

/* The next code of a group. */
typedef struct SparseReader
{
	uint64_t	ones;			/* bits of its upper part, from this position on, */
	uint64_t	at;				/* without those of codes read */
	uint64_t	offset;			/* the code's high part minus its bit's position */
	uint64_t	lower;			/* where its low part begins; after the last
								 * code, where the next group does */
} SparseReader;

/* Begin to read a group, which begins at a position, with its low parts at lower. */
static inline SparseReader
ReadGroup(const CuckooSparse *sparse, uint64_t group, uint64_t position, uint64_t lower)
{
	return (SparseReader) {
		.at = position & ~UINT64_C(7),
		.ones = CuckooLoad64(sparse->stream + (position >> 3)) & ~UINT64_C(0) << (position & 7),
		.offset = group * CUCKOO_GROUP - position,
		.lower = lower
	};
}

/* Read the next code; there must be one. */
static inline uint64_t
ReadCode(const CuckooSparse *sparse, SparseReader *reader)
{
	uint64_t	high;
	uint64_t	low = GetBits(sparse->stream, reader->lower, sparse->low_bits, sparse->low_mask);

	while (reader->ones == 0)
	{
		reader->at += 64;
		reader->ones = CuckooLoad64(sparse->stream + (reader->at >> 3));
	}
	/* Each code before it has a bit, too. */
	high = reader->offset-- + reader->at + (uint64_t) CuckooLowestBit(reader->ones);
	reader->ones &= reader->ones - 1;
	reader->lower += sparse->low_bits;
	return high << sparse->low_bits | low;
}

void
CuckooSparseCodes(const CuckooSparse *sparse, uint64_t from, uint64_t to, uint64_t *codes)
{
	uint64_t	position = SectionBit(sparse, from);
	uint64_t	group = from * CUCKOO_SECTION_GROUPS;

	for (; group < to * CUCKOO_SECTION_GROUPS && group < sparse->groups; group++)
	{
		uint64_t	count = GroupCodes(sparse->stream, position);
		SparseReader reader = ReadGroup(sparse, group, position, position + CUCKOO_GROUP + count);

		CuckooCheckInterruptsAt(group);
		for (uint64_t i = 0; i < count; i++)
		{
			CuckooCheckInterruptsAt(i + 1);
			*codes++ = ReadCode(sparse, &reader);
		}
		position = reader.lower;
	}
}

/*
 * Write a section with these codes: of each group the upper part, then the low
 * parts.  start is the number of codes before the section.
 */
static void
PutSection(const CuckooSparse *sparse, uint64_t section, uint64_t start, const CuckooList *codes)
{
	const uint64_t *numbers = codes->numbers;
	int			low_bits = sparse->low_bits;
	uint64_t	high = section * CUCKOO_SECTION;
	uint64_t	group = section * CUCKOO_SECTION_GROUPS;
	uint64_t	end = group + CUCKOO_SECTION_GROUPS;
	uint64_t	from = 0;		/* codes written */
	BitWriter	writer = WriteBitsAt(sparse->stream, high + start * (uint64_t) (1 + low_bits));

	for (; group < end && group < sparse->groups; group++)
	{
		uint64_t	to = from;

		for (; to < codes->count && numbers[to] >> low_bits < (group + 1) * CUCKOO_GROUP; to++)
		{
			int			zeros = (int) ((numbers[to] >> low_bits) - high);

			CuckooCheckInterruptsAt(to + 1);
			PutBits(&writer, UINT64_C(1) << zeros, zeros + 1);
			high += (uint64_t) zeros;
		}
		PutBits(&writer, 0, (int) ((group + 1) * CUCKOO_GROUP - high));
		high = (group + 1) * CUCKOO_GROUP;
		PutIndex(sparse->index + section * CUCKOO_SECTION_BYTES, group, start + from, to - from);
		for (; from < to; from++)
		{
			CuckooCheckInterruptsAt(from + 1);
			PutBits(&writer, numbers[from] & sparse->low_mask, low_bits);
		}
	}
	FlushBits(&writer);
}

void
CuckooSparseBuild(CuckooSparse *sparse, const CuckooSource *source)
{
	CuckooCursor cursor = {.source = source, .shape = sparse->shape};
	CuckooList	codes = {NULL, 0, 0};	/* of a section */
	uint64_t	start = 0;

	for (uint64_t section = 0; section < sparse->sections; section++)
	{
		uint64_t	end = CuckooSparseFirstCode(sparse, section + 1);

		codes.count = 0;
		do
		{
			CuckooListReserve(&codes, codes.count + CUCKOO_READ_CODES);
			codes.count += CuckooCursorRead(&cursor, end, codes.numbers + codes.count,
											(size_t) (codes.room - codes.count));
		} while (codes.count == codes.room);
		PutSection(sparse, section, start, &codes);
		start += codes.count;
	}
	CuckooListFree(&codes);
}

void
CuckooSparseEdit(CuckooSparse *target, const CuckooSparse *sparse, CuckooList edit, bool remove)
{
	int			low_bits = sparse->low_bits;
	CuckooList	codes = {NULL, 0, 0};	/* of a section */
	uint64_t	at = 0;			/* codes of edit done */
	uint64_t	from = 0;		/* sections done */

	while (from < sparse->sections)
	{
		uint64_t	section = at < edit.count ?
			(edit.numbers[at] >> low_bits) / CUCKOO_SECTION : sparse->sections;
		uint64_t	last = section < from + CUCKOO_INTERRUPT_STEP ? section :
			from + CUCKOO_INTERRUPT_STEP;
		uint64_t	change = remove ? 0 - at : at;
		uint64_t	first = SectionBit(sparse, from);
		uint64_t	stored;
		uint64_t	end;
		CuckooList	now;			/* to be added to the section, or removed */

		/* Move the sections without a change before it. */
		CHECK_FOR_INTERRUPTS();
		for (uint64_t i = from; i < last; i++)
		{
			uint8_t    *moved = target->index + i * CUCKOO_SECTION_BYTES;

			memcpy(moved, sparse->index + i * CUCKOO_SECTION_BYTES, CUCKOO_SECTION_BYTES);
			CuckooStore32(moved, (uint32_t) (CuckooSparseStart(sparse, i) + change));
		}
		CopyBits(target->stream, first + change * (uint64_t) (1 + low_bits), sparse->stream, first,
				 SectionBit(sparse, last) - first);
		from = last;
		if (last < section || at == edit.count)
			continue;

		now = (CuckooList) {edit.numbers + at, 0, 0};
		end = CuckooSparseFirstCode(sparse, section + 1);
		while (at + now.count < edit.count && now.numbers[now.count] < end)
			now.count++;
		stored = CuckooSparseStart(sparse, section + 1) - CuckooSparseStart(sparse, section);
		codes.count = 0;
		CuckooListReserve(&codes, stored + now.count);
		CuckooSparseCodes(sparse, section, section + 1, codes.numbers + now.count);
		codes.count = stored;
		CuckooListEdit(&codes, now, remove);
		PutSection(target, section, CuckooSparseStart(sparse, section) + change, &codes);
		at += now.count;
		from = section + 1;
	}
	CuckooListFree(&codes);
}

bool
CuckooSparseCheck(const CuckooSparse *sparse, uint64_t *bad)
{
	uint8_t		section[CUCKOO_SECTION_BYTES];
	uint64_t	position = 0;
	uint64_t	items = 0;
	uint64_t	last = 0;		/* no code is 0 */
	int			copies = 0;

	for (uint64_t group = 0; group < sparse->groups; group++)
	{
		uint64_t	lows = AfterZero(sparse->stream, position, CUCKOO_GROUP, sparse->bit_count);
		uint64_t	count = lows - position - CUCKOO_GROUP;
		SparseReader reader;

		*bad = group;
		CuckooCheckInterruptsAt(group);
		/* A group that has its zeros, and not too many codes, is safe to read. */
		if (lows > sparse->bit_count || count > sparse->items - items)
			return false;
		PutIndex(section, group, items, count);
		if ((group % CUCKOO_SECTION_GROUPS == CUCKOO_SECTION_GROUPS - 1 ||
			 group == sparse->groups - 1) &&
			memcmp(section, sparse->index + group / CUCKOO_SECTION_GROUPS * CUCKOO_SECTION_BYTES,
				   sizeof(section)) != 0)
			return false;
		reader = ReadGroup(sparse, group, position, lows);
		for (uint64_t i = 0; i < count; i++)
		{
			uint64_t	code = ReadCode(sparse, &reader);

			CuckooCheckInterruptsAt(items + i);
			copies = code == last ? copies + 1 : 1;
			if (code < last || copies > CUCKOO_MAX_COPIES ||
				code >= CuckooShapeCodes(&sparse->shape) ||
				(code & sparse->shape.fingerprints) == 0)
				return false;
			last = code;
		}
		items += count;
		position = reader.lower;
	}
	*bad = sparse->groups;
	return items == sparse->items &&
		((sparse->bit_count & 7) == 0 ||
		 sparse->stream[sparse->bit_count >> 3] >> (sparse->bit_count & 7) == 0);
}
