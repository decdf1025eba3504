/*-------------------------------------------------------------------------
 *
 * place.h
 *	  Finding room for a fingerprint in a block: cuckoo hashing itself.
 *
 * One algorithm over two representations of a block.  Packed is the stored
 * form, for adding to a filter that exists; unpacked keeps 32 bits an entry
 * and a count a bucket, for building a block from nothing, where decoding
 * and encoding buckets again and again would cost three times the rest.
 * Every function takes the representation as a constant, so that the
 * compiler makes one version of each.
 *
 * Private to the core.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_PLACE_H
#define CUCKOO_PLACE_H

#include <string.h>

#include "table.h"

#if defined(__GNUC__) || defined(__clang__)
#define CUCKOO_INLINE static inline __attribute__((always_inline))
#else
#define CUCKOO_INLINE static inline
#endif

/* A block in either representation. */
typedef struct CuckooBlock
{
	const CuckooCode *code;
	uint32_t	buckets;
	uint64_t	base;			/* packed: number of the first bucket */
	uint8_t    *data;			/* packed: the table's buckets */
	uint32_t	(*entries)[CUCKOO_ENTRIES]; /* unpacked, in order of arrival */
	uint8_t    *used;			/* unpacked: entries filled, a bucket */
} CuckooBlock;

/* One entry taken out of a bucket to make room for another. */
typedef struct CuckooKick
{
	uint32_t	bucket;
	uint32_t	in;
	uint32_t	out;
} CuckooKick;

/* A fingerprint that has no entry, with the two buckets it may stand in. */
typedef struct CuckooHomeless
{
	uint32_t	fingerprint;
	uint32_t	first;
	uint32_t	second;
} CuckooHomeless;

/*
 * splitmix64 (Steele, Lea, Flood 2014): the state may start anywhere, also
 * at 0.
 */
static inline uint64_t
CuckooRandom(uint64_t *state)
{
	uint64_t	z = (*state += UINT64_C(0x9E3779B97F4A7C15));

	z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
	return z ^ (z >> 31);
}

/* The four entries of a bucket; unpacked, those past used[] are garbage. */
CUCKOO_INLINE void
CuckooBlockRead(const CuckooBlock *block, uint32_t bucket,
				uint32_t entries[CUCKOO_ENTRIES], bool packed)
{
	if (packed)
		CuckooDecode(block->code,
					 CuckooReadBits(block->code, block->data, block->base + bucket),
					 entries);
	else
		memcpy(entries, block->entries[bucket], sizeof(block->entries[bucket]));
}

/* Add a fingerprint to a bucket if it has room. */
CUCKOO_INLINE bool
CuckooBlockPut(const CuckooBlock *block, uint32_t bucket, uint32_t fingerprint,
			   bool packed)
{
	if (packed)
	{
		uint32_t	entries[CUCKOO_ENTRIES];

		/* Empty entries come first in both layouts. */
		CuckooBlockRead(block, bucket, entries, true);
		if (entries[0] != 0)
			return false;
		entries[0] = fingerprint;
		CuckooWriteBits(block->code, block->data, block->base + bucket,
						CuckooEncode(block->code, entries));
		return true;
	}
	else
	{
		uint8_t		used = block->used[bucket];

		if (used == CUCKOO_ENTRIES)
			return false;
		block->entries[bucket][used] = fingerprint;
		block->used[bucket] = (uint8_t) (used + 1);
		return true;
	}
}

/* Put a fingerprint in the place of the one in that slot. */
CUCKOO_INLINE void
CuckooBlockReplace(const CuckooBlock *block, uint32_t bucket, int slot,
				   uint32_t fingerprint, bool packed)
{
	if (packed)
	{
		uint32_t	entries[CUCKOO_ENTRIES];

		CuckooBlockRead(block, bucket, entries, true);
		entries[slot] = fingerprint;
		CuckooWriteBits(block->code, block->data, block->base + bucket,
						CuckooEncode(block->code, entries));
	}
	else
		block->entries[bucket][slot] = fingerprint;
}

/*
 * If an entry of this full bucket has room in its other bucket, move it there
 * and put the fingerprint in its place.
 */
CUCKOO_INLINE bool
CuckooLookAhead(const CuckooBlock *block, uint32_t bucket, uint32_t fingerprint,
				bool packed)
{
	uint32_t	entries[CUCKOO_ENTRIES];

	CuckooBlockRead(block, bucket, entries, packed);
	for (int slot = 0; slot < CUCKOO_ENTRIES; slot++)
	{
		uint32_t	other = CuckooOtherBucket(entries[slot], bucket, block->buckets);

		if (CuckooBlockPut(block, other, entries[slot], packed))
		{
			CuckooBlockReplace(block, bucket, slot, fingerprint, packed);
			return true;
		}
	}
	return false;
}

/* How many entries of a bucket are that fingerprint. */
CUCKOO_INLINE int
CuckooBlockCount(const CuckooBlock *block, uint32_t bucket, uint32_t fingerprint,
				 bool packed)
{
	uint32_t	entries[CUCKOO_ENTRIES];
	int			used = packed ? CUCKOO_ENTRIES : block->used[bucket];
	int			copies = 0;

	CuckooBlockRead(block, bucket, entries, packed);
	for (int slot = 0; slot < used; slot++)
		copies += entries[slot] == fingerprint;
	return copies;
}

/* Take a fingerprint's entries out of a bucket; returns how many there were. */
CUCKOO_INLINE int
CuckooTakeOut(const CuckooBlock *block, uint32_t bucket, uint32_t fingerprint,
			  bool packed)
{
	int			copies = 0;

	if (packed)
	{
		uint32_t	entries[CUCKOO_ENTRIES];

		CuckooBlockRead(block, bucket, entries, true);
		for (int slot = 0; slot < CUCKOO_ENTRIES; slot++)
		{
			if (entries[slot] == fingerprint)
			{
				entries[slot] = 0;
				copies++;
			}
		}
		CuckooWriteBits(block->code, block->data, block->base + bucket,
						CuckooEncode(block->code, entries));
	}
	else
	{
		uint32_t   *entries = block->entries[bucket];
		int			used = 0;

		for (int slot = 0; slot < block->used[bucket]; slot++)
		{
			if (entries[slot] != fingerprint)
				entries[used++] = entries[slot];
		}
		copies = block->used[bucket] - used;
		block->used[bucket] = (uint8_t) used;
	}
	return copies;
}

/*
 * The class that is to leave a block for a stash, so that a key that found no
 * room in its two full buckets has some: its own where it has copies there,
 * since those to come would stand in another table and none could be taken out
 * any more; else the one with the most copies there, more than four, for it is
 * such that crowd a block; else its own.
 */
CUCKOO_INLINE CuckooHomeless
CuckooLeaving(const CuckooBlock *block, const CuckooHomeless *key, bool packed)
{
	CuckooHomeless leaving = *key;
	int			most = CUCKOO_ENTRIES;

	for (int i = 0; i < 2; i++)
	{
		uint32_t	bucket = i == 0 ? key->first : key->second;
		uint32_t	entries[CUCKOO_ENTRIES];

		CuckooBlockRead(block, bucket, entries, packed);
		for (int slot = 0; slot < CUCKOO_ENTRIES; slot++)
		{
			uint32_t	other = CuckooOtherBucket(entries[slot], bucket, block->buckets);
			int			copies;

			if (entries[slot] == key->fingerprint)
				return *key;
			copies = CuckooBlockCount(block, bucket, entries[slot], packed) +
				CuckooBlockCount(block, other, entries[slot], packed);
			if (copies > most)
			{
				most = copies;
				leaving.fingerprint = entries[slot];
				leaving.first = bucket;
				leaving.second = other;
			}
		}
	}
	return leaving;
}

/*
 * Find room for a fingerprint in one of its two buckets.
 *
 * Where both are full and no entry can move at once, an entry of one is taken
 * out at random to make room, and room is sought for it in the same manner.
 * Each step is looked at before it is taken, which at the design load
 * shortens the walk by about four.  kicks has room for max_kicks steps; a
 * packed block is put back as it was when they do not lead to room.  (By
 * bucket and fingerprint, not by slot: sorting moves slots.)  An unpacked one
 * is not: then *key is the entry that was taken out last.
 */
CUCKOO_INLINE CuckooInsertResult
CuckooFindRoom(const CuckooBlock *block, CuckooHomeless *key, uint64_t *random,
			   CuckooKick *kicks, int max_kicks, bool packed)
{
	uint32_t	fingerprint = key->fingerprint;
	uint32_t	first = key->first;
	uint32_t	second = key->second;
	uint32_t	entries[CUCKOO_ENTRIES];
	uint32_t	others[CUCKOO_ENTRIES];
	uint32_t	bucket;
	int			copies = 0;

	if (CuckooBlockPut(block, first, fingerprint, packed) ||
		CuckooBlockPut(block, second, fingerprint, packed))
		return CUCKOO_INSERTED;

	/* Both are full; of eight copies the eighth stands for all further. */
	CuckooBlockRead(block, first, entries, packed);
	CuckooBlockRead(block, second, others, packed);
	for (int slot = 0; slot < CUCKOO_ENTRIES; slot++)
		copies += (entries[slot] == fingerprint) + (others[slot] == fingerprint);
	if (copies == CUCKOO_MAX_COPIES)
		return CUCKOO_STUCK;

	if (CuckooLookAhead(block, first, fingerprint, packed) ||
		CuckooLookAhead(block, second, fingerprint, packed))
		return CUCKOO_INSERTED;

	bucket = CuckooRandom(random) & 1 ? first : second;
	for (int kick = 0; kick < max_kicks; kick++)
	{
		int			slot = (int) (CuckooRandom(random) & (CUCKOO_ENTRIES - 1));
		uint32_t	out;

		CuckooBlockRead(block, bucket, entries, packed);
		out = entries[slot];
		CuckooBlockReplace(block, bucket, slot, fingerprint, packed);
		if (packed)
		{
			kicks[kick].bucket = bucket;
			kicks[kick].in = fingerprint;
			kicks[kick].out = out;
		}

		/* Its other bucket is full, as looking ahead has shown. */
		fingerprint = out;
		bucket = CuckooOtherBucket(fingerprint, bucket, block->buckets);
		if (CuckooLookAhead(block, bucket, fingerprint, packed))
			return CUCKOO_INSERTED;
	}

	if (packed)
	{
		for (int kick = max_kicks - 1; kick >= 0; kick--)
		{
			int			slot = 0;

			CuckooBlockRead(block, kicks[kick].bucket, entries, true);
			while (entries[slot] != kicks[kick].in)
				slot++;
			CuckooBlockReplace(block, kicks[kick].bucket, slot, kicks[kick].out, true);
		}
	}
	else
	{
		key->fingerprint = fingerprint;
		key->first = bucket;
		key->second = CuckooOtherBucket(fingerprint, bucket, block->buckets);
	}
	return CUCKOO_FULL;
}

#endif							/* CUCKOO_PLACE_H */
