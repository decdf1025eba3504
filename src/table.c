/*-------------------------------------------------------------------------
 *
 * table.c
 *	  One cuckoo hash table of fingerprints; see table.h.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>

#include "place.h"
#include "table.h"

/*
 * The multisets of four nibbles a <= b <= c <= d as a + 16 b + 256 c + 4096 d,
 * in the order of their rank.  Counted out by macros: A_b gives the a's up to
 * b, B_c the b's up to c with all their a's, and so on.
 */
#define A_0(x) (x)
#define A_1(x) A_0(x), (x) + 1
#define A_2(x) A_1(x), (x) + 2
#define A_3(x) A_2(x), (x) + 3
#define A_4(x) A_3(x), (x) + 4
#define A_5(x) A_4(x), (x) + 5
#define A_6(x) A_5(x), (x) + 6
#define A_7(x) A_6(x), (x) + 7
#define A_8(x) A_7(x), (x) + 8
#define A_9(x) A_8(x), (x) + 9
#define A_10(x) A_9(x), (x) + 10
#define A_11(x) A_10(x), (x) + 11
#define A_12(x) A_11(x), (x) + 12
#define A_13(x) A_12(x), (x) + 13
#define A_14(x) A_13(x), (x) + 14
#define A_15(x) A_14(x), (x) + 15

#define B_0(x) A_0(x)
#define B_1(x) B_0(x), A_1((x) + 0x10)
#define B_2(x) B_1(x), A_2((x) + 0x20)
#define B_3(x) B_2(x), A_3((x) + 0x30)
#define B_4(x) B_3(x), A_4((x) + 0x40)
#define B_5(x) B_4(x), A_5((x) + 0x50)
#define B_6(x) B_5(x), A_6((x) + 0x60)
#define B_7(x) B_6(x), A_7((x) + 0x70)
#define B_8(x) B_7(x), A_8((x) + 0x80)
#define B_9(x) B_8(x), A_9((x) + 0x90)
#define B_10(x) B_9(x), A_10((x) + 0xA0)
#define B_11(x) B_10(x), A_11((x) + 0xB0)
#define B_12(x) B_11(x), A_12((x) + 0xC0)
#define B_13(x) B_12(x), A_13((x) + 0xD0)
#define B_14(x) B_13(x), A_14((x) + 0xE0)
#define B_15(x) B_14(x), A_15((x) + 0xF0)

#define C_0(x) B_0(x)
#define C_1(x) C_0(x), B_1((x) + 0x100)
#define C_2(x) C_1(x), B_2((x) + 0x200)
#define C_3(x) C_2(x), B_3((x) + 0x300)
#define C_4(x) C_3(x), B_4((x) + 0x400)
#define C_5(x) C_4(x), B_5((x) + 0x500)
#define C_6(x) C_5(x), B_6((x) + 0x600)
#define C_7(x) C_6(x), B_7((x) + 0x700)
#define C_8(x) C_7(x), B_8((x) + 0x800)
#define C_9(x) C_8(x), B_9((x) + 0x900)
#define C_10(x) C_9(x), B_10((x) + 0xA00)
#define C_11(x) C_10(x), B_11((x) + 0xB00)
#define C_12(x) C_11(x), B_12((x) + 0xC00)
#define C_13(x) C_12(x), B_13((x) + 0xD00)
#define C_14(x) C_13(x), B_14((x) + 0xE00)
#define C_15(x) C_14(x), B_15((x) + 0xF00)

const uint16_t CuckooMultisets[4096] = {
	C_0(0), C_1(0x1000), C_2(0x2000), C_3(0x3000),
	C_4(0x4000), C_5(0x5000), C_6(0x6000), C_7(0x7000),
	C_8(0x8000), C_9(0x9000), C_10(0xA000), C_11(0xB000),
	C_12(0xC000), C_13(0xD000), C_14(0xE000), C_15(0xF000)
};

/* The block that a place lies in, in its stored form. */
static CuckooBlock
PackedBlock(const CuckooTable *table, const CuckooPlace *place)
{
	CuckooBlock block;

	block.code = &table->code;
	block.buckets = table->shape.buckets;
	block.base = place->base;
	block.data = table->data;
	block.entries = NULL;
	block.used = NULL;
	return block;
}

/* How many entries of a bucket are that fingerprint. */
static int
CountIn(const CuckooCode *code, CuckooBits bits, uint32_t fingerprint)
{
	uint32_t	entries[CUCKOO_ENTRIES];
	int			copies = 0;

	CuckooDecode(code, bits, entries);
	for (int slot = 0; slot < CUCKOO_ENTRIES; slot++)
		copies += entries[slot] == fingerprint;
	return copies;
}

int
CuckooTableCountAt(const CuckooTable *table, const CuckooPlace *place)
{
	const CuckooCode *code = &table->code;

	return CountIn(code, CuckooReadBits(code, table->data, place->base + place->first),
				   place->fingerprint) +
		CountIn(code, CuckooReadBits(code, table->data, place->base + place->second),
				place->fingerprint);
}

uint64_t
CuckooBucketSpan(const CuckooTable *table, uint64_t number, int *bytes)
{
	uint64_t	nibble = number * table->code.nibbles;

	*bytes = (int) ((nibble + table->code.nibbles + 1) / 2 - nibble / 2);
	return nibble / 2;
}

int
CuckooBucketCount(const CuckooTable *table, uint64_t number,
				  const uint8_t *span, uint32_t fingerprint)
{
	uint64_t	nibble = number * table->code.nibbles;

	return CountIn(&table->code,
				   CuckooReadBitsAt(&table->code, span, (int) (nibble & 1) * 4),
				   fingerprint);
}

int
CuckooTableCount(const CuckooTable *table, uint64_t hash)
{
	CuckooPlace place = CuckooLocate(&table->shape, hash);

	return CuckooTableCountAt(table, &place);
}

static CuckooInsertResult
Insert(CuckooTable *table, const CuckooPlace *place, uint64_t random, int max_kicks)
{
	CuckooBlock block = PackedBlock(table, place);
	CuckooKick	kicks[CUCKOO_MAX_KICKS];
	CuckooHomeless key = {place->fingerprint, place->first, place->second};
	CuckooInsertResult result;

	if (max_kicks > CUCKOO_MAX_KICKS)
		max_kicks = CUCKOO_MAX_KICKS;
	result = CuckooFindRoom(&block, &key, &random, kicks, max_kicks, true);
	if (result == CUCKOO_INSERTED)
		table->items++;
	return result;
}

CuckooInsertResult
CuckooTableInsert(CuckooTable *table, uint64_t hash, int max_kicks)
{
	CuckooPlace place = CuckooLocate(&table->shape, hash);

	return Insert(table, &place, hash, max_kicks);
}

CuckooInsertResult
CuckooTableInsertAt(CuckooTable *table, const CuckooPlace *place)
{
	return Insert(table, place, (place->base + place->first) << 32 | place->fingerprint,
				  CUCKOO_MAX_KICKS);
}

CuckooRemoveResult
CuckooTableRemove(CuckooTable *table, uint64_t hash)
{
	CuckooPlace place = CuckooLocate(&table->shape, hash);
	CuckooBlock block = PackedBlock(table, &place);
	int			copies = CuckooTableCountAt(table, &place);
	uint32_t	candidates[2];

	if (copies == 0)
		return CUCKOO_ABSENT;
	if (copies == CUCKOO_MAX_COPIES)
		return CUCKOO_KEPT;

	candidates[0] = place.first;
	candidates[1] = place.second;
	for (int i = 0; i < 2; i++)
	{
		uint32_t	entries[CUCKOO_ENTRIES];

		CuckooBlockRead(&block, candidates[i], entries, true);
		for (int slot = 0; slot < CUCKOO_ENTRIES; slot++)
		{
			if (entries[slot] == place.fingerprint)
			{
				CuckooBlockReplace(&block, candidates[i], slot, 0, true);
				table->items--;
				return CUCKOO_REMOVED;
			}
		}
	}
	return CUCKOO_ABSENT;		/* not reached */
}

int
CuckooTableTakeClass(CuckooTable *table, const CuckooPlace *place)
{
	CuckooBlock block = PackedBlock(table, place);
	int			taken = CuckooTakeOut(&block, place->first, place->fingerprint, true) +
		CuckooTakeOut(&block, place->second, place->fingerprint, true);

	table->items -= (uint64_t) taken;
	return taken;
}

bool
CuckooTableNextStuck(const CuckooTable *table, uint64_t *bucket, CuckooPlace *place,
					 CuckooPause pause)
{
	const CuckooCode *code = &table->code;
	uint64_t	buckets = CuckooShapeBuckets(&table->shape);

	for (; *bucket < buckets; (*bucket)++)
	{
		uint32_t	entries[CUCKOO_ENTRIES];

		if (pause != NULL && *bucket % CUCKOO_MAX_BUCKETS == 0)
			pause();

		/* In canonical order the first and the last agree only if all do. */
		CuckooDecode(code, CuckooReadBits(code, table->data, *bucket), entries);
		if (entries[0] == 0 || entries[0] != entries[CUCKOO_ENTRIES - 1])
			continue;
		place->fingerprint = entries[0];
		place->first = (uint32_t) (*bucket % table->shape.buckets);
		place->second = CuckooOtherBucket(entries[0], place->first, table->shape.buckets);
		place->base = *bucket - place->first;
		if (CuckooTableCountAt(table, place) == CUCKOO_MAX_COPIES)
		{
			(*bucket)++;
			return true;
		}
	}
	return false;
}

void
CuckooTableCopy(CuckooTable *target, const CuckooTable *source, CuckooPause pause)
{
	uint64_t	buckets = CuckooShapeBuckets(&source->shape);
	size_t		bytes = (size_t) CuckooShapeBytes(&source->shape);

	target->items = source->items;
	if (target->shape.layout == source->shape.layout)
	{
		for (size_t done = 0; done < bytes; done += CUCKOO_PAUSE_BYTES)
		{
			size_t		left = bytes - done;

			if (pause != NULL)
				pause();
			memcpy(target->data + done, source->data + done,
				   left < CUCKOO_PAUSE_BYTES ? left : CUCKOO_PAUSE_BYTES);
		}
		return;
	}
	for (uint64_t bucket = 0; bucket < buckets; bucket++)
	{
		uint32_t	entries[CUCKOO_ENTRIES];

		if (pause != NULL && bucket % CUCKOO_MAX_BUCKETS == 0)
			pause();
		CuckooDecode(&source->code,
					 CuckooReadBits(&source->code, source->data, bucket), entries);
		CuckooWriteBits(&target->code, target->data, bucket,
						CuckooEncode(&target->code, entries));
	}
}

CuckooPlace
CuckooTableLeaving(const CuckooTable *table, uint64_t hash)
{
	CuckooPlace place = CuckooLocate(&table->shape, hash);
	CuckooBlock block = PackedBlock(table, &place);
	CuckooHomeless key = {place.fingerprint, place.first, place.second};
	CuckooHomeless leaving = CuckooLeaving(&block, &key, true);

	place.fingerprint = leaving.fingerprint;
	place.first = leaving.first;
	place.second = leaving.second;
	return place;
}

double
CuckooTableRate(const CuckooShape *shape, uint64_t items)
{
	double		fingerprints = ldexp(1.0, shape->bits) - 1;
	double		compared = 2.0 * CUCKOO_ENTRIES * (double) items /
		(double) CuckooShapeEntries(shape);

	return -expm1(compared * log1p(-1 / fingerprints));
}

bool
CuckooTableCheck(const CuckooTable *table, uint64_t *items, uint64_t *bad,
				 CuckooPause pause)
{
	const CuckooCode *code = &table->code;
	uint64_t	buckets = CuckooShapeBuckets(&table->shape);

	*items = 0;
	for (uint64_t number = 0; number < buckets; number++)
	{
		CuckooBits	bits = CuckooReadBits(code, table->data, number);
		uint32_t	entries[CUCKOO_ENTRIES];

		if (pause != NULL && number % CUCKOO_MAX_BUCKETS == 0)
			pause();
		if (code->low_bits != 0 && (bits.low & 0xFFF) >= CUCKOO_MULTISETS)
		{
			*bad = number;
			return false;
		}
		CuckooDecode(code, bits, entries);
		*items += entries[0] != 0;
		for (int slot = 1; slot < CUCKOO_ENTRIES; slot++)
		{
			if (CuckooSortKey(code, entries[slot - 1]) >
				CuckooSortKey(code, entries[slot]))
			{
				*bad = number;
				return false;
			}
			*items += entries[slot] != 0;
		}
	}
	return true;
}
