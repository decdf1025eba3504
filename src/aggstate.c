/*-------------------------------------------------------------------------
 *
 * aggstate.c
 *	  The state of cuckoo_agg; see aggstate.h.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "aggstate.h"
#include "core/list.h"

/* The most distinct keys that an aggregate accepts: a gigabyte of hashes. */
#define MAX_KEYS			UINT64CONST(120000000)

/*
 * The longest search in a flat state, far longer than happens by chance in one
 * that is three quarters full.  Keys that were made to collide turn it into a
 * large state early, whose cost does not depend on the keys.
 */
#define MAX_PROBES			256

/*
 * Hashes in a chunk of a large state.  A chunk has 16 kB, so half-full chunks
 * waste 2 MB in all.
 */
#define CHUNK_HASHES		2047

/*
 * A part with this many hashes is worth sorting to drop repetitions: sorting
 * costs about as much per row as a probe into a hash set would.
 */
#define PART_LIMIT			(4 * CHUNK_HASHES)

typedef struct Chunk
{
	struct Chunk *next;			/* the next one of its part, perhaps unused */
	uint64		hashes[CHUNK_HASHES];
} Chunk;

typedef struct Part
{
	Chunk	   *first;			/* NULL: no memory yet */
	Chunk	   *last;			/* the one being filled */
	uint64		full;			/* hashes in the chunks before it */
	uint64		limit;			/* drop repetitions from here on */
	uint64		sorted;			/* as long as there are exactly this many, the
								 * hashes are ascending and distinct */
} Part;

/* A whole large state; aggstate.h shows its first part. */
typedef struct LargeState
{
	CuckooLargeState shown;
	Part		parts[CUCKOO_PARTS];
	uint64		full;			/* hashes in all full chunks */
	uint64		limit;			/* drop repetitions from here on */
	uint64	   *work;			/* for sorting a part: twice work_room */
	uint64		work_room;
} LargeState;

static Size LargeFlatSize(ExpandedObjectHeader *header);
static void LargeFlatten(ExpandedObjectHeader *header, void *result, Size size);

const ExpandedObjectMethods CuckooLargeMethods = {
	LargeFlatSize,
	LargeFlatten
};

/* Memory for hashes, which may be more than 1 GB. */
static uint64 *
AllocHashes(MemoryContext context, uint64 count)
{
	if (count > MaxAllocHugeSize / sizeof(uint64))
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory"),
				 errdetail("Failed on %llu hashes.", (unsigned long long) count)));
	return MemoryContextAllocHuge(context, (Size) (Max(count, 1) * sizeof(uint64)));
}

/* Refuse more distinct keys than can be sorted in reasonable memory. */
static void
CheckKeys(uint64 distinct)
{
	if (distinct > MAX_KEYS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many distinct keys for cuckoo_agg"),
				 errdetail("It accepts at most %llu distinct keys.",
						   (unsigned long long) MAX_KEYS),
				 errhint("Use cuckoo_stream_agg, or divide the keys among several filters with cuckoo_shard.")));
}

/* Refuse a value that is not a state of this aggregate. */
static void
ReportNoState(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("cuckoofilter is not the state of this aggregate")));
}

/*
 * The flat form
 */

/*
 * Check a flat state completely: one that may have been stored, or that a
 * value is to be made of.
 */
static const CuckooFlatState *
CheckFlat(const CuckooFlatState *state)
{
	const CuckooParameters *parameters = &state->parameters;

	if (!CuckooFlatIsSafe(state))
		ReportNoState();
	/* A NaN fails both comparisons. */
	if (!(parameters->fpr >= CUCKOO_MIN_FPR && parameters->fpr <= CUCKOO_MAX_FPR) ||
		parameters->capacity > CUCKOO_MAX_CAPACITY ||
		parameters->key_type > CUCKOO_KEY_LAST ||
		CuckooKeyTypeIsNested((CuckooKeyType) parameters->key_type) !=
		(parameters->signature != 0))
		ReportNoState();
	/* The key type is unknown only if there are no keys. */
	for (uint32 i = 0; parameters->key_type == CUCKOO_KEY_NONE && i < state->slots; i++)
	{
		if (state->has_zero || state->slot[i] != 0)
			ReportNoState();
	}
	return state;
}

static CuckooFlatState *
FlatNew(const CuckooParameters *parameters, uint32 slots)
{
	size_t		bytes = offsetof(CuckooFlatState, slot) + slots * sizeof(uint64);
	CuckooFlatState *state = palloc0(bytes);

	SET_VARSIZE(state, bytes);
	state->version = CUCKOO_FLAT_VERSION;
	state->content = CUCKOO_STATE;
	state->slots = slots;
	/* One by one: copying the struct would copy its padding, too. */
	state->parameters.fpr = parameters->fpr;
	state->parameters.capacity = parameters->capacity;
	state->parameters.seed = parameters->seed;
	state->parameters.signature = parameters->signature;
	state->parameters.key_type = parameters->key_type;
	return state;
}

/* Add a hash to the set; false if the set must become larger first. */
static inline bool
FlatAdd(CuckooFlatState *state, uint64 hash)
{
	uint32		mask = state->slots - 1;
	uint32		at = CuckooFlatSlot(state, hash);

	if (hash == 0)
	{
		state->has_zero = 1;
		return true;
	}
	for (int probe = 0; probe < MAX_PROBES; probe++)
	{
		if (state->slot[at] == hash)
			return true;
		if (state->slot[at] == 0)
		{
			/* Three quarters full at most. */
			if (state->used >= state->slots - state->slots / 4)
				return false;
			state->slot[at] = hash;
			state->used++;
			return true;
		}
		at = (at + 1) & mask;
	}
	return false;
}

/*
 * The hashes of the set, sorted; palloc'd.  The state may have been stored and
 * damaged, so its count is not trusted, and repetitions are dropped.
 */
static uint64 *
FlatSorted(const CuckooFlatState *state, uint64 *count)
{
	uint64		room = 1;
	uint64	   *hashes;

	for (uint32 i = 0; i < state->slots; i++)
		room += state->slot[i] != 0;
	hashes = AllocHashes(CurrentMemoryContext, 2 * room);

	*count = 0;
	if (state->has_zero)
		hashes[(*count)++] = 0;
	for (uint32 i = 0; i < state->slots; i++)
	{
		if (state->slot[i] != 0)
			hashes[(*count)++] = state->slot[i];
	}
	CuckooSort(hashes, hashes + room, *count);
	*count = CuckooUnique(hashes, *count);
	return hashes;
}

/*
 * The large form
 */

static LargeState *
LargeNew(const CuckooParameters *parameters, MemoryContext aggcontext)
{
	MemoryContext context = AllocSetContextCreate(aggcontext, "cuckoo_agg state",
												  ALLOCSET_DEFAULT_SIZES);
	LargeState *state = MemoryContextAllocZero(context, sizeof(LargeState));

	EOH_init_header(&state->shown.header, &CuckooLargeMethods, context);
	state->shown.parameters = *parameters;
	state->limit = 2 * MAX_KEYS;
	for (int i = 0; i < CUCKOO_PARTS; i++)
		state->parts[i].limit = PART_LIMIT;
	return state;
}

/* Hashes in a part, with repetitions unless it is sorted. */
static inline uint64
PartCount(const LargeState *state, int part)
{
	if (state->parts[part].first == NULL)
		return 0;
	return state->parts[part].full +
		(uint64) (state->shown.next[part] - state->parts[part].last->hashes);
}

/* Copy the hashes of a part out, or in. */
static void
PartGet(const LargeState *state, int part, uint64 *hashes)
{
	uint64		left = PartCount(state, part);

	for (Chunk *chunk = state->parts[part].first; left > 0; chunk = chunk->next)
	{
		uint64		count = Min(left, CHUNK_HASHES);

		memcpy(hashes, chunk->hashes, count * sizeof(uint64));
		hashes += count;
		left -= count;
	}
}

static void
PartSet(LargeState *state, int part, const uint64 *hashes, uint64 count)
{
	Part	   *p = &state->parts[part];

	state->full -= p->full;
	p->full = 0;
	p->last = p->first;
	while (count > CHUNK_HASHES)
	{
		memcpy(p->last->hashes, hashes, sizeof(p->last->hashes));
		hashes += CHUNK_HASHES;
		count -= CHUNK_HASHES;
		p->full += CHUNK_HASHES;
		p->last = p->last->next;
	}
	memcpy(p->last->hashes, hashes, count * sizeof(uint64));
	state->full += p->full;
	state->shown.next[part] = p->last->hashes + count;
	state->shown.end[part] = p->last->hashes + CHUNK_HASHES;
}

/*
 * Sort a part and drop its repetitions.  If there were few, it is sorted again
 * only after more rows: a column without repetitions should not be sorted at
 * every doubling.
 */
static void
PartNormalize(LargeState *state, int part)
{
	Part	   *p = &state->parts[part];
	uint64		before = PartCount(state, part);
	uint64		after;

	if (p->sorted == before)
		return;
	CHECK_FOR_INTERRUPTS();
	if (state->work_room < before)
	{
		uint64		room = before + before / 4;

		if (state->work != NULL)
			pfree(state->work);
		state->work = NULL;
		state->work_room = 0;
		state->work = AllocHashes(state->shown.header.eoh_context, 2 * room);
		state->work_room = room;
	}
	PartGet(state, part, state->work);
	CuckooSort(state->work, state->work + state->work_room, before);
	after = CuckooUnique(state->work, before);
	PartSet(state, part, state->work, after);
	p->sorted = after;
	p->limit = Max(after * (after > before / 4 * 3 ? 8 : 2), PART_LIMIT);
}

/* Sort all parts; returns how many distinct hashes there are. */
static uint64
LargeNormalize(LargeState *state)
{
	uint64		count = 0;

	for (int part = 0; part < CUCKOO_PARTS; part++)
	{
		PartNormalize(state, part);
		count += PartCount(state, part);
	}
	CheckKeys(count);
	return count;
}

/* Go on to a part's next chunk. */
static void
PartMakeRoom(LargeState *state, int part)
{
	Part	   *p = &state->parts[part];
	Chunk	   *chunk;

	if (state->full >= state->limit)
	{
		/* There are many repetitions, or too many keys, which is an error. */
		LargeNormalize(state);
		if (state->shown.next[part] != state->shown.end[part])
			return;
	}
	if (PartCount(state, part) >= p->limit)
	{
		PartNormalize(state, part);
		if (state->shown.next[part] != state->shown.end[part])
			return;
	}

	chunk = p->first == NULL ? NULL : p->last->next;
	if (chunk == NULL)
	{
		chunk = MemoryContextAlloc(state->shown.header.eoh_context, sizeof(Chunk));
		chunk->next = NULL;
		if (p->first == NULL)
			p->first = chunk;
		else
			p->last->next = chunk;
	}
	if (p->last != NULL)
	{
		p->full += CHUNK_HASHES;
		state->full += CHUNK_HASHES;
	}
	p->last = chunk;
	state->shown.next[part] = chunk->hashes;
	state->shown.end[part] = chunk->hashes + CHUNK_HASHES;
}

static inline void
LargeAdd(LargeState *state, uint64 hash)
{
	int			part = (int) CUCKOO_PART_OF(hash);

	if (unlikely(state->shown.next[part] == state->shown.end[part]))
		PartMakeRoom(state, part);
	*state->shown.next[part]++ = hash;
}

/*
 * The partial form
 */

static size_t
PartialBytes(uint64 count)
{
	size_t		bytes = CUCKOO_HEADER_BYTES + count * sizeof(uint64) + CUCKOO_TAIL_BYTES;

	if (bytes > CUCKOO_MAX_BYTES)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("state of cuckoo_agg is too large to be sent"),
				 errdetail("It holds %llu distinct keys.", (unsigned long long) count),
				 errhint("Use cuckoo_stream_agg, or aggregate without parallel workers.")));
	return bytes;
}

/* Lay out a partial state.  The hashes are to be stored where it points. */
static void
PartialLayOut(CuckooFilter *partial, const CuckooParameters *parameters, uint64 count,
			  uint8 *bytes)
{
	CuckooParametersHeader(parameters, partial);
	partial->content = CUCKOO_PARTIAL;
	partial->items = count;
	CuckooLayOut(partial, bytes);
}

/* A flat state as a partial one, which can leave the server. */
CuckooValue *
CuckooStateToPartial(CuckooValue *value)
{
	/* In a tuple it may have lost its alignment. */
	CuckooFlatState *state = (CuckooFlatState *) PG_DETOAST_DATUM_COPY(PointerGetDatum(value));
	uint64		count;
	uint64	   *hashes = FlatSorted(CheckFlat(state), &count);
	CuckooValue *made = CuckooNewValue(PartialBytes(count));
	CuckooFilter partial;

	PartialLayOut(&partial, &state->parameters, count, CuckooValueBytes(made));
	for (uint64 i = 0; i < count; i++)
		CuckooStore64(partial.hashes + 8 * i, hashes[i]);
	pfree(hashes);
	CuckooAssertValid(made);
	return made;
}

/*
 * Size of a large state as a partial one.  It is sorted first, so that the
 * size is exact.
 */
static Size
LargeFlatSize(ExpandedObjectHeader *header)
{
	return VARHDRSZ + PartialBytes(LargeNormalize((LargeState *) header));
}

/* A large state as a partial one, in memory of the size just given. */
static void
LargeFlatten(ExpandedObjectHeader *header, void *result, Size size)
{
	LargeState *state = (LargeState *) header;
	CuckooFilter partial;
	uint8	   *p;

	SET_VARSIZE(result, size);
	PartialLayOut(&partial, &state->shown.parameters,
				  (size - VARHDRSZ - PartialBytes(0)) / sizeof(uint64),
				  (uint8 *) VARDATA(result));
	p = partial.hashes;
	for (int part = 0; part < CUCKOO_PARTS; part++)
	{
		uint64		left = PartCount(state, part);

		for (Chunk *chunk = state->parts[part].first; left > 0; chunk = chunk->next)
		{
			uint64		count = Min(left, CHUNK_HASHES);

			CHECK_FOR_INTERRUPTS();
			for (uint64 i = 0; i < count; i++, p += 8)
				CuckooStore64(p, chunk->hashes[i]);
			left -= count;
		}
	}
	Assert(p == (uint8 *) result + size - CUCKOO_TAIL_BYTES);
}

/*
 * States of either form
 */

/* An empty state, in the current context. */
void
CuckooStateInit(CuckooState *state, const CuckooParameters *parameters)
{
	state->flat = FlatNew(parameters, CUCKOO_MIN_SLOTS);
	state->large = NULL;
}

/*
 * Refuse a row or state whose parameters differ from earlier ones.  True if it
 * has the first key, and thus decides the key type.
 */
bool
CuckooMatchParameters(const CuckooParameters *a, const CuckooParameters *b)
{
	bool		types_differ = a->key_type != b->key_type || a->signature != b->signature;

	if (types_differ && a->key_type != CUCKOO_KEY_NONE && b->key_type != CUCKOO_KEY_NONE)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("key types of one aggregate differ between rows"),
				 errdetail("One key is of type %s, another of type %s.",
						   CuckooKeyTypeDescribe((CuckooKeyType) a->key_type, a->signature),
						   CuckooKeyTypeDescribe((CuckooKeyType) b->key_type, b->signature))));
	if (a->fpr != b->fpr)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("false-positive rate of one aggregate differs between rows"),
				 errdetail("It is %g in one row and %g in another.", a->fpr, b->fpr)));
	if (a->capacity != b->capacity)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("capacity of one aggregate differs between rows"),
				 errdetail("It is %llu in one row and %llu in another.",
						   (unsigned long long) a->capacity,
						   (unsigned long long) b->capacity)));
	if (a->seed != b->seed)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("seed of one aggregate differs between rows"),
				 errdetail("It is %lld in one row and %lld in another.",
						   (long long) a->seed, (long long) b->seed)));
	return types_differ && a->key_type == CUCKOO_KEY_NONE;
}

/* Add a hash, turning the state into a larger one if needed. */
void
CuckooStateAdd(CuckooState *state, uint64 hash, MemoryContext aggcontext)
{
	LargeState *large = (LargeState *) state->large;

	if (large != NULL)
	{
		LargeAdd(large, hash);
		return;
	}
	while (!FlatAdd(state->flat, hash))
	{
		CuckooFlatState *flat = state->flat;
		CuckooFlatState *larger = NULL;

		/* The old one is not freed: the executor does that if necessary. */
		if (flat->slots < CUCKOO_MAX_SLOTS && flat->used >= flat->slots / 2)
		{
			larger = FlatNew(&flat->parameters, flat->slots * 2);
			larger->has_zero = flat->has_zero;
		}
		for (uint32 i = 0; larger != NULL && i < flat->slots; i++)
		{
			if (flat->slot[i] != 0 && !FlatAdd(larger, flat->slot[i]))
				larger = NULL;
		}
		if (larger != NULL)
		{
			state->flat = larger;
			continue;
		}

		large = LargeNew(&flat->parameters, aggcontext);
		state->large = &large->shown;
		state->flat = NULL;
		if (flat->has_zero)
			LargeAdd(large, 0);
		for (uint32 i = 0; i < flat->slots; i++)
		{
			if (flat->slot[i] != 0)
				LargeAdd(large, flat->slot[i]);
		}
		LargeAdd(large, hash);
		return;
	}
}

/* The parameters of a flat or partial state.  A flat one must be aligned. */
CuckooParameters
CuckooValueParameters(CuckooValue *value)
{
	CuckooFilter partial;

	if (CuckooValueBytes(value)[1] == CUCKOO_STATE)
		return CheckFlat((CuckooFlatState *) value)->parameters;
	if (CuckooValueBytes(value)[1] != CUCKOO_PARTIAL)
		ReportNoState();
	CuckooOpenHeader(&partial, CuckooValueBytes(value));
	return CuckooHeaderParameters(&partial);
}

/* Add all hashes of a flat or partial state.  A flat one must be aligned. */
void
CuckooStateAddAll(CuckooState *state, CuckooValue *other, MemoryContext aggcontext)
{
	CuckooFilter partial;

	if (CuckooValueBytes(other)[1] == CUCKOO_STATE)
	{
		const CuckooFlatState *flat = (CuckooFlatState *) other;

		if (flat->has_zero)
			CuckooStateAdd(state, 0, aggcontext);
		for (uint32 i = 0; i < flat->slots; i++)
		{
			if (flat->slot[i] != 0)
				CuckooStateAdd(state, flat->slot[i], aggcontext);
		}
		return;
	}
	CuckooOpen(&partial, CuckooValueBytes(other), VARSIZE_ANY_EXHDR(other));
	for (uint64 i = 0; i < partial.items; i++)
	{
		CHECK_FOR_INTERRUPTS();
		CuckooStateAdd(state, CuckooPartialHash(&partial, i), aggcontext);
	}
}

/*
 * Open a state that is not in a working form in memory: unpack it, or make it
 * from a partial one, with which a user's own aggregate may begin.
 */
void
CuckooStateUnpack(CuckooState *state, Datum value, MemoryContext aggcontext)
{
	CuckooValue *pointer = (CuckooValue *) PG_DETOAST_DATUM(value);
	CuckooParameters parameters;

	state->flat = NULL;
	state->large = NULL;
	if (CuckooValueBytes(pointer)[1] == CUCKOO_STATE)
	{
		state->flat = (CuckooFlatState *) pointer;
		CheckFlat(state->flat);
		return;
	}
	parameters = CuckooValueParameters(pointer);
	CuckooStateInit(state, &parameters);
	CuckooStateAddAll(state, pointer, aggcontext);
}

/* The chunks of a large state, as runs for a build; returns how many. */
static uint64
LargeRuns(LargeState *state, CuckooRun **runs)
{
	uint64		total = LargeNormalize(state);
	uint64		run_count = 0;

	*runs = palloc((CUCKOO_PARTS + total / CHUNK_HASHES) * sizeof(CuckooRun));
	for (int part = 0; part < CUCKOO_PARTS; part++)
	{
		uint64		left = PartCount(state, part);

		for (Chunk *chunk = state->parts[part].first; left > 0; chunk = chunk->next)
		{
			CuckooRun  *run = &(*runs)[run_count++];

			run->numbers = chunk->hashes;
			run->count = Min(left, CHUNK_HASHES);
			left -= run->count;
		}
	}
	return run_count;
}

/*
 * The filter over the hashes of a state.  A large state is sorted in place,
 * which does not change its meaning.
 */
CuckooValue *
CuckooStateBuild(CuckooState *state)
{
	CuckooFilter filter;
	CuckooRun	flat;
	CuckooRun  *runs = &flat;
	uint64		run_count = 1;

	CuckooParametersHeader(CuckooStateParameters(state), &filter);
	if (state->large != NULL)
		run_count = LargeRuns((LargeState *) state->large, &runs);
	else
		flat.numbers = FlatSorted(CheckFlat(state->flat), &flat.count);
	return CuckooBuildValue(&filter, runs, run_count);
}
