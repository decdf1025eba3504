/*-------------------------------------------------------------------------
 *
 * filter_fuzz.c
 *	  Fuzzing of the core with libFuzzer; test/fuzz/run.sh builds and runs it.
 *
 * The first byte of an input says what the rest is:
 *
 * raw			Bytes for the validator.  What it lets through goes to every
 *				operation of the core.
 *
 * sound		Bytes from which a sound filter is made: any content, also such
 *				as no key ever made, in canonical form.  The validator has to let
 *				it through.  Then as above.
 *
 * differential	A sequence of operations on two sets, each kept as a semi-sorted
 *				filter, as a plain one and as an exact model.
 *
 * After every operation the result must be valid, which CheckValid asks the
 * validator in memory of just that size, so that AddressSanitizer sees one byte
 * read too many.
 *
 *-------------------------------------------------------------------------
 */
#define SUPPORT_PORTABLE
#include "../unit/support.h"

#include "combine.h"

/* No filter here becomes larger: what is wrong is wrong with small ones. */
#define MAX_BYTES	(32 * 1024)

/* ----------------------------------------------------------------- inputs */

typedef struct Input
{
	const uint8_t *next;
	size_t		left;
} Input;

/* The next byte; zero behind the last one. */
static uint8_t
Byte(Input *input)
{
	if (input->left == 0)
		return 0;
	input->left--;
	return *input->next++;
}

static uint32_t
Below(Input *input, uint32_t bound)
{
	return Byte(input) % bound;
}

static uint64_t
Word(Input *input, int bytes)
{
	uint64_t	word = 0;

	while (bytes-- > 0)
		word = word << 8 | Byte(input);
	return word;
}

/* ----------------------------------------------------------------- checks */

/* The filter's bytes are valid, exactly as long as it says, and read back. */
static void
CheckValid(Owned *owned)
{
	size_t		length = StoredBytes(owned);
	uint8_t    *copy = Duplicate(owned->bytes, length);
	CuckooVerdict verdict = CuckooValidate(copy, length, NULL);
	CuckooFilter filter;

	if (verdict.problem != CUCKOO_VALID)
	{
		fprintf(stderr, "problem %d, expected %llu, found %llu\n", verdict.problem,
				(unsigned long long) verdict.expected, (unsigned long long) verdict.found);
		abort();
	}
	CuckooOpen(&filter, copy);
	Require(CuckooBytes(&filter) == length);
	CuckooWriteHeader(&filter, copy);
	Require(memcmp(copy, owned->bytes, length) == 0);
	free(copy);
}

/*
 * Copies of a key by another way: bucket by bucket, as reader.c reads them in
 * slices, and with nothing behind a slice.
 */
static int
CountInSlices(const CuckooFilter *filter, uint64_t hash)
{
	int			copies = 0;

	for (int i = 0; i < filter->table_count; i++)
	{
		const CuckooTable *table = &filter->tables[i];
		CuckooPlace place = CuckooLocate(&table->shape, hash);
		uint32_t	candidates[2] = {place.first, place.second};
		int			here = 0;

		Require(place.first != place.second);
		for (int k = 0; k < 2; k++)
		{
			uint8_t		span[CUCKOO_SPAN_BYTES] = {0};
			int			bytes;
			uint64_t	offset = CuckooBucketSpan(table, place.base + candidates[k], &bytes);

			Require(offset + (uint64_t) bytes <=
					CuckooShapeBytes(&table->shape) + CUCKOO_TAIL_BYTES);
			memcpy(span, table->data + offset, (size_t) bytes);
			here += CuckooBucketCount(table, place.base + candidates[k], span,
									  place.fingerprint);
		}
		copies += here > 0 && CuckooIsStash(filter, i) ? CUCKOO_MAX_COPIES : here;
	}
	return copies < CUCKOO_MAX_COPIES ? copies : CUCKOO_MAX_COPIES;
}

/* Copies of a key, all ways of asking agreeing. */
static int
Count(const CuckooFilter *filter, uint64_t hash)
{
	int			copies = CuckooFilterCount(filter, hash);

	CuckooFilterPrefetch(filter, hash);
	Require(copies >= 0 && copies <= CUCKOO_MAX_COPIES);
	Require(CuckooFilterContains(filter, hash) == (copies > 0));
	if (filter->body == CUCKOO_TABLES)
		Require(CountInSlices(filter, hash) == copies);
	return copies;
}

/* ------------------------------------------------------------- operations */

static Owned
Copy(Owned *owned)
{
	Owned		copy = *owned;

	copy.bytes = Duplicate(owned->bytes, owned->room);
	CuckooLayOut(&copy.filter, copy.bytes);
	return copy;
}

/* Whether two copies of a filter have the same list or tables. */
static bool
SameContent(const Owned *a, const Owned *b)
{
	size_t		header = CUCKOO_HEADER_BYTES +
		(size_t) a->filter.table_count * CUCKOO_DIRECTORY_BYTES;
	size_t		length = CuckooBytes(&a->filter);

	return length == CuckooBytes(&b->filter) &&
		memcmp(a->bytes + header, b->bytes + header, length - header) == 0;
}

/* As stored and opened for a change again. */
static Owned
Reopen(const uint8_t *bytes, size_t length)
{
	Owned		owned;

	owned.bytes = Duplicate(bytes, length);
	owned.room = length;
	CuckooOpen(&owned.filter, owned.bytes);
	if (owned.filter.body == CUCKOO_LIST)
	{
		owned.room = CUCKOO_HEADER_BYTES + 8 * (size_t) CuckooListLimit(&owned.filter);
		owned.bytes = realloc(owned.bytes, owned.room);
		Require(owned.bytes != NULL);
		CuckooOpen(&owned.filter, owned.bytes);
	}
	return owned;
}

static CuckooInsertResult Add(Owned *owned, uint64_t hash);

/* Let a filter grow, unless it would be too large for here. */
static bool
Grow(Owned *owned)
{
	Owned		smaller = *owned;
	CuckooFilter grown;

	if (CuckooPlanGrowth(&owned->filter, &grown) != CUCKOO_GROWTH_PLANNED ||
		CuckooBytes(&grown) > MAX_BYTES)
		return false;
	owned->filter = grown;
	owned->room = CuckooBytes(&grown);
	owned->bytes = Allocate(owned->room);
	CuckooGrow(&smaller.filter, &owned->filter, owned->bytes, NULL);
	for (uint64_t i = 0; smaller.filter.body == CUCKOO_LIST && i < smaller.filter.items; i++)
	{
		if (Add(owned, CuckooListGet(&smaller.filter, i)) == CUCKOO_FULL)
		{
			free(owned->bytes);
			*owned = smaller;
			return false;
		}
	}
	free(smaller.bytes);
	return true;
}

/* One copy more.  What is refused must not have changed a byte. */
static CuckooInsertResult
Add(Owned *owned, uint64_t hash)
{
	for (;;)
	{
		size_t		length = CuckooBytes(&owned->filter);
		uint64_t	items = owned->filter.items;
		int			copies = CuckooFilterCount(&owned->filter, hash);
		Owned		before = {.bytes = NULL};
		CuckooInsertResult result;

		/* Costly: not for every key of a large filter. */
		if (length < 4096)
			before = Copy(owned);
		result = CuckooFilterAdd(&owned->filter, hash);
		if (result == CUCKOO_INSERTED)
		{
			/* A class that goes to a stash leaves with all its copies. */
			Require(owned->filter.stashes == 0 ? owned->filter.items == items + 1 :
					owned->filter.items <= items + 1);
			Require(CuckooFilterCount(&owned->filter, hash) >=
					(copies < CUCKOO_MAX_COPIES ? copies + 1 : copies));
		}
		else if (before.bytes != NULL)
			Require(owned->filter.items == items && SameContent(owned, &before));
		if (result == CUCKOO_STUCK)
			Require(copies == CUCKOO_MAX_COPIES);
		free(before.bytes);
		if (result != CUCKOO_FULL || !Grow(owned))
			return result;
	}
}

/* One copy less; what is not taken out must leave every byte. */
static CuckooRemoveResult
Remove(Owned *owned, uint64_t hash)
{
	uint64_t	items = owned->filter.items;
	int			copies = CuckooFilterCount(&owned->filter, hash);
	Owned		before = Copy(owned);
	CuckooRemoveResult result = CuckooFilterRemove(&owned->filter, hash);

	if (result == CUCKOO_REMOVED)
		Require(owned->filter.items == items - 1 &&
				CuckooFilterCount(&owned->filter, hash) == copies - 1);
	else
		Require(owned->filter.items == items && SameContent(owned, &before));
	Require((result == CUCKOO_ABSENT) == (copies == 0));
	free(before.bytes);
	return result;
}

/* The filter as if it were an empty list where it holds nothing: as setops.c. */
static CuckooFilter
Side(const Owned *owned)
{
	CuckooFilter filter = owned->filter;

	if (filter.items == 0)
	{
		filter.body = CUCKOO_LIST;
		filter.table_count = 0;
	}
	return filter;
}

/* An empty list with that header, and room for the longest. */
static Owned
EmptyList(const CuckooFilter *header)
{
	Owned		owned;

	owned.filter = *header;
	owned.room = CUCKOO_HEADER_BYTES + 8 * (size_t) CuckooListLimit(header);
	owned.bytes = Allocate(owned.room);
	CuckooLayOut(&owned.filter, owned.bytes);
	return owned;
}

static bool
CombineTwoLists(CuckooOperation operation, const CuckooFilter *header,
				const CuckooFilter *left, const CuckooFilter *right, Owned *result)
{
	uint64_t   *hashes = Allocate((size_t) (left->items + right->items) * 8);
	uint64_t	count = CuckooCombineLists(operation, left, right, hashes);
	bool		built = count <= CuckooListLimit(header);

	if (built)
	{
		*result = EmptyList(header);
		for (uint64_t i = 0; i < count; i++)
			CuckooStore64(result->filter.list + 8 * i, hashes[i]);
		result->filter.items = count;
	}
	if (!built && CuckooPlanHashes(header, count, &result->filter) == CUCKOO_GROWTH_PLANNED &&
		CuckooBytes(&result->filter) <= MAX_BYTES)
	{
		void	   *workspace = Allocate(CuckooWorkspaceBytes(&result->filter.tables[0].shape));

		result->room = CuckooBytes(&result->filter);
		result->bytes = Allocate(result->room);
		built = CuckooBuildHashes(&result->filter, result->bytes, hashes, count, workspace, NULL);
		free(workspace);
		if (!built)
		{
			free(result->bytes);
			*result = EmptyList(header);
			built = true;
			for (uint64_t i = 0; built && i < count; i++)
				built = Add(result, hashes[i]) != CUCKOO_FULL;
			if (!built)
				free(result->bytes);
		}
	}
	free(hashes);
	return built;
}

/*
 * Union or merge by the steps that setops.c takes; false where it is refused,
 * or too large for here.
 */
static bool
Combine(CuckooOperation operation, const Owned *a, const Owned *b, Owned *result)
{
	CuckooFilter left = Side(a);
	CuckooFilter right = Side(b);
	const CuckooFilter *list = left.body == CUCKOO_LIST ? &left : &right;
	CuckooFilter header;
	CuckooCombination combination;
	void	   *workspace;

	if (CuckooCombineHeaders(operation, &a->filter, &b->filter, &header) != CUCKOO_NO_CONFLICT)
		return false;
	if (left.body == CUCKOO_LIST && right.body == CUCKOO_LIST)
		return CombineTwoLists(operation, &header, &left, &right, result);

	workspace = Allocate(CuckooCombineWorkspaceBytes(&left, &right));
	CuckooCombineStart(&combination, operation, &header);
	for (;;)
	{
		if (CuckooPlanTables(&combination, &left, &right, workspace, NULL) != CUCKOO_NO_CONFLICT ||
			CuckooBytes(&combination.result) > MAX_BYTES)
		{
			free(workspace);
			return false;
		}
		result->room = CuckooBytes(&combination.result);
		result->bytes = Allocate(result->room);
		if (CuckooCombineTables(&combination, &left, &right, result->bytes, workspace, NULL))
			break;
		free(result->bytes);
	}
	free(workspace);
	result->filter = combination.result;
	if (list->body == CUCKOO_LIST)
	{
		uint64_t	position = 0;

		while (CuckooAddList(operation, &result->filter, list, &position) == CUCKOO_FULL)
		{
			if (!Grow(result))
			{
				free(result->bytes);
				return false;
			}
		}
		Require(position == list->items);
	}
	return true;
}

/* ------------------------------------- every operation on a valid filter */

#define PROBES	12

/* What both sides know of the probes, the combination must know. */
static void
CheckCombined(CuckooOperation operation, const Owned *a, const Owned *b,
			  Owned *result, const uint64_t *probes)
{
	CheckValid(result);
	for (int i = 0; i < PROBES; i++)
	{
		int			left = CuckooFilterCount(&a->filter, probes[i]);
		int			right = CuckooFilterCount(&b->filter, probes[i]);
		int			wanted = operation == CUCKOO_MERGE ? left + right :
			left > right ? left : right;

		Require(Count(&result->filter, probes[i]) >=
				(wanted < CUCKOO_MAX_COPIES ? wanted : CUCKOO_MAX_COPIES));
	}
}

/*
 * Union and merge both ways round.  Tables of one shape that become one have
 * the same bytes either way; the rest has the same answers.
 */
static void
CombineBothWays(Owned *a, Owned *b, const uint64_t *probes)
{
	for (int operation = CUCKOO_UNION; operation <= CUCKOO_MERGE; operation++)
	{
		Owned		ab;
		Owned		ba;
		bool		combined = Combine((CuckooOperation) operation, a, b, &ab);

		if (!combined)
		{
			if (a->filter.table_count <= 1 && b->filter.table_count <= 1 &&
				Combine((CuckooOperation) operation, b, a, &ba))
				abort();
			continue;
		}
		CheckCombined((CuckooOperation) operation, a, b, &ab, probes);
		if (Combine((CuckooOperation) operation, b, a, &ba))
		{
			CheckCombined((CuckooOperation) operation, b, a, &ba, probes);
			if (a->filter.body == CUCKOO_LIST && b->filter.body == CUCKOO_LIST)
				Require(SameBytes(&ab, &ba));
			if (a->filter.table_count == 1 && b->filter.table_count == 1)
			{
				Require(ab.filter.table_count == ba.filter.table_count);
				Require(ab.filter.items == ba.filter.items);
				if (ab.filter.table_count == 1 && a->filter.items > 0 && b->filter.items > 0 &&
					ab.filter.items <= CuckooShapeCapacity(&ab.filter.tables[0].shape))
					Require(SameBytes(&ab, &ba));
			}
			free(ba.bytes);
		}
		free(ab.bytes);
	}
}

/* Fingerprints of a sound filter put in order again after a change. */
static void
MakeCanonical(Owned *owned)
{
	owned->filter.items = 0;
	for (int i = 0; i < owned->filter.table_count; i++)
	{
		CuckooTable *table = &owned->filter.tables[i];
		uint64_t	bad;

		for (uint64_t bucket = 0; bucket < CuckooShapeBuckets(&table->shape); bucket++)
		{
			uint32_t	entries[CUCKOO_ENTRIES];

			CuckooDecode(&table->code, CuckooReadBits(&table->code, table->data, bucket), entries);
			CuckooWriteBits(&table->code, table->data, bucket,
							CuckooEncode(&table->code, entries));
		}
		Require(CuckooTableCheck(table, &table->items, &bad, NULL));
		owned->filter.items += table->items;
	}
}

static void
EveryOperation(const uint8_t *bytes, size_t length, Input *input)
{
	Owned		owned = Reopen(bytes, length);
	Owned		changed;
	uint64_t	probes[PROBES];
	double		rate = CuckooFilterRate(&owned.filter);

	Require(rate >= 0 && rate <= 1);
	for (int i = 0; i < PROBES; i++)
	{
		probes[i] = KeyHash(owned.filter.seed, (uint64_t) i);
		if (i % 2 == 1)
			probes[i] = Word(input, 8);
		if (owned.filter.body != CUCKOO_TABLES && owned.filter.items > 0 && i % 3 == 0)
			probes[i] = CuckooListGet(&owned.filter, (uint64_t) i % owned.filter.items);
		Count(&owned.filter, probes[i]);
	}
	/* Only aggregates take their partial states. */
	if (owned.filter.body == CUCKOO_PARTIAL)
	{
		free(owned.bytes);
		return;
	}
	CheckValid(&owned);

	changed = Copy(&owned);
	CombineBothWays(&owned, &changed, probes);
	if (owned.filter.flags & CUCKOO_FLAG_UNSET)
	{
		FreeFilter(&changed);
		changed = NewFilter(0.01, 0, 0, CUCKOO_SEMISORTED);
	}
	if (changed.filter.kind == CUCKOO_KIND_NONE)
		changed.filter.kind = CUCKOO_KIND_INTEGER;

	for (int i = 0; i < PROBES; i++)
	{
		int			was = CuckooFilterCount(&changed.filter, probes[i]);
		CuckooInsertResult result = Add(&changed, probes[i]);

		CheckValid(&changed);
		/* No other key is lost, and those of other classes do not change. */
		for (int k = 0; k < i; k++)
			Require(Count(&changed.filter, probes[k]) > 0 || result == CUCKOO_FULL);
		if (result == CUCKOO_FULL)
		{
			Require(CuckooFilterCount(&changed.filter, probes[i]) == was);
			break;
		}
	}
	CombineBothWays(&owned, &changed, probes);
	for (int i = 0; i < PROBES; i++)
	{
		Remove(&changed, probes[i]);
		CheckValid(&changed);
	}

	/* A mutated copy: some bits of the content turned over. */
	if (changed.filter.body == CUCKOO_TABLES)
	{
		const CuckooTable *table = &changed.filter.tables[0];

		for (int i = 0; i < 8; i++)
			table->data[Word(input, 4) % CuckooShapeBytes(&table->shape)] ^= Byte(input);
		MakeCanonical(&changed);
		CheckValid(&changed);
		CombineBothWays(&owned, &changed, probes);
		CombineBothWays(&changed, &changed, probes);
		changed.filter.flags ^= CUCKOO_FLAG_NOT_REMOVABLE;
		changed.filter.capacity = Byte(input);
		CombineBothWays(&changed, &owned, probes);
	}
	FreeFilter(&changed);
	FreeFilter(&owned);
}

static void
FuzzRaw(Input *input)
{
	size_t		length = input->left;
	uint8_t    *bytes = Duplicate(input->next, length);
	Input		tail;

	if (CuckooValidate(bytes, length, NULL).problem == CUCKOO_VALID)
	{
		/* The last bytes, mostly buckets, serve as probes too. */
		tail.left = length < 256 ? length : 256;
		tail.next = bytes + length - tail.left;
		EveryOperation(bytes, length, &tail);
	}
	free(bytes);
}

static const double rates[] = {0.1, 0.05, 0.01, 0.001, 1e-5, 2e-9};
static const uint64_t capacities[] = {0, 0, 1, 33, 100, 1000};

static void
FuzzSound(Input *input)
{
	CuckooFilter filter;
	Owned		owned;
	uint32_t	body = Below(input, 8);
	uint32_t	count = 1 + Below(input, body == 7 ? CUCKOO_MAX_TABLES : 3);
	uint64_t	random;

	CuckooFilterInit(&filter, rates[Below(input, lengthof(rates))],
					 capacities[Below(input, lengthof(capacities))],
					 Word(input, 2), (CuckooLayout) Below(input, 2));
	filter.kind = 1 + (uint8_t) Below(input, CUCKOO_KIND_COMPOSITE);
	if (filter.kind == CUCKOO_KIND_ARRAY)
		filter.element_kind = CUCKOO_KIND_TEXT;
	random = Word(input, 2);
	if (body < 2)
	{
		uint64_t	hash = Word(input, 1) << 56;

		filter.body = body == 0 ? CUCKOO_LIST : CUCKOO_PARTIAL;
		if (filter.body == CUCKOO_PARTIAL)
		{
			filter.flags = 0;
			filter.seed = 0;
		}
		owned.filter = filter;
		owned.room = CUCKOO_HEADER_BYTES + 8 * CUCKOO_LONG_LIST;
		owned.bytes = Allocate(owned.room);
		CuckooLayOut(&owned.filter, owned.bytes);
		while (input->left > 0 &&
			   owned.filter.items < (body == 0 ? CuckooListLimit(&filter) : CUCKOO_LONG_LIST))
		{
			uint64_t	more = Byte(input);

			/* At times the same once more, or a large step. */
			if (more == 0 && body != 0)
				more = 1;
			if (more > 128)
				more <<= more % 56;
			if (hash + more < hash || (more == 0 &&
									   CuckooFilterCount(&owned.filter, hash) == CUCKOO_MAX_COPIES))
				break;
			hash += more;
			CuckooStore64(owned.filter.list + 8 * owned.filter.items++, hash);
		}
	}
	else
	{
		filter.flags |= Below(input, 2) ? CUCKOO_FLAG_NOT_REMOVABLE : 0;
		filter.body = CUCKOO_TABLES;
		filter.table_count = (uint8_t) count;
		for (uint32_t i = 0; i < count; i++)
		{
			CuckooShape *shape = &filter.tables[i].shape;

			shape->blocks = 1 + Below(input, 3);
			shape->buckets = 2 + 2 * Below(input, 16);
			shape->bits = (uint8_t) (CUCKOO_MIN_BITS + Below(input, 28));
			shape->layout = (uint8_t) CuckooFilterLayout(&filter);
			if (i > 0 && shape->bits % 3 == 0)
				*shape = filter.tables[i - 1].shape;
			filter.tables[i].items = 0;
		}
		owned.filter = filter;
		owned.room = CuckooBytes(&filter);
		owned.bytes = Allocate(owned.room);
		CuckooLayOut(&owned.filter, owned.bytes);
		for (uint32_t i = 0; i < count; i++)
		{
			uint8_t    *data = owned.filter.tables[i].data;
			bool		chance = random % 2 == 1;

			/* What the input does not say is chance, or nothing. */
			for (uint64_t k = 0; k < CuckooShapeBytes(&filter.tables[i].shape); k++)
				data[k] = input->left > 0 ? Byte(input) :
					chance ? (uint8_t) (NextRandom(&random) >> 56) : 0;
		}
		MakeCanonical(&owned);
	}
	CheckValid(&owned);
	EveryOperation(owned.bytes, CuckooBytes(&owned.filter), input);
	FreeFilter(&owned);
}

/* ----------------------------------------------- against an exact model */

#define KEYS		1536
#define MAX_WORK	6000		/* keys added or removed by one input */

/* A set: a filter of each layout, and how many copies of each key are in. */
typedef struct Set
{
	Owned		filters[2];
	uint32_t	copies[KEYS];
	bool		same;			/* neither layout found room where the other did
								 * not: the same classes in the same tables */
} Set;

/* How the keys of an input are hashed. */
typedef struct Hashing
{
	uint32_t	step;			/* 0: evenly */
	uint32_t	places;
} Hashing;

/*
 * The hash of a key: no two are equal.  Either an even one, or one of a few
 * places with fingerprints close to each other, so that many keys share their
 * class.
 */
static uint64_t
HashOf(const Hashing *hashing, uint32_t key)
{
	uint32_t	place;

	if (hashing->step == 0)
		return KeyHash(0, key);
	place = key % hashing->places;
	return (uint64_t) (place * (UINT32_MAX / hashing->places)) << 32 |
		(uint32_t) (key / hashing->places * hashing->step);
}

/* The same tables with as many items, from which follows the same classes. */
static bool
SameTables(const CuckooFilter *a, const CuckooFilter *b)
{
	if (a->body != b->body || a->table_count != b->table_count || a->items != b->items)
		return false;
	for (int i = 0; i < a->table_count; i++)
	{
		const CuckooShape *shape = &a->tables[i].shape;
		const CuckooShape *other = &b->tables[i].shape;

		if (shape->blocks != other->blocks || shape->buckets != other->buckets ||
			shape->bits != other->bits || a->tables[i].items != b->tables[i].items ||
			CuckooIsStash(a, i) != CuckooIsStash(b, i))
			return false;
	}
	return true;
}

static void
CheckKey(Set *set, const Hashing *hashing, uint32_t key)
{
	uint64_t	hash = HashOf(hashing, key);
	uint32_t	wanted = set->copies[key] < CUCKOO_MAX_COPIES ?
		set->copies[key] : CUCKOO_MAX_COPIES;
	int			count[2];

	for (int layout = 0; layout < 2; layout++)
	{
		count[layout] = Count(&set->filters[layout].filter, hash);
		if ((uint32_t) count[layout] < wanted)
		{
			fprintf(stderr, "key %u, layout %d: %d copies, not %u\n", key, layout,
					count[layout], wanted);
			abort();
		}
	}

	/*
	 * The order inside buckets, and with it a walk, depends on the layout: of
	 * several tables a key may go to one here and to another there.
	 */
	if (set->same && set->filters[0].filter.table_count <= 1)
		Require(count[0] == count[1]);
}

static void
CheckSet(Set *set, const Hashing *hashing)
{
	for (int layout = 0; layout < 2; layout++)
		CheckValid(&set->filters[layout]);
	set->same = set->same && SameTables(&set->filters[0].filter, &set->filters[1].filter);
	for (uint32_t key = 0; key < KEYS; key++)
	{
		if (set->copies[key] > 0 || key % 16 == 0)
			CheckKey(set, hashing, key);
	}
}

static void
StartSet(Set *set, Input *input)
{
	uint32_t	tables = Below(input, 8);
	double		fpr = rates[Below(input, lengthof(rates))];
	uint64_t	capacity = capacities[Below(input, lengthof(capacities))];
	uint16_t	stashes = (uint16_t) (Below(input, 16) & ~1u);
	CuckooShape shapes[4];

	memset(set, 0, sizeof(*set));
	set->same = true;
	if (tables > 4)
		tables = 0;
	for (uint32_t i = 0; i < tables; i++)
	{
		/* A stash is mostly that of the table before. */
		if ((stashes >> i & 1) != 0 && Below(input, 4) > 0)
			shapes[i] = shapes[i - 1];
		else
			shapes[i] = ShapeOf(1 + Below(input, 2), 2 + 2 * Below(input, 8),
								CUCKOO_MIN_BITS + (int) Below(input, 28), CUCKOO_SEMISORTED);
	}
	for (int layout = 0; layout < 2; layout++)
	{
		for (uint32_t i = 0; i < tables; i++)
			shapes[i].layout = (uint8_t) layout;
		if (tables > 0)
		{
			set->filters[layout] = NewFilterOf(shapes, (int) tables, fpr, capacity);
			MakeStashes(&set->filters[layout], stashes & (uint16_t) ((1 << tables) - 1));
		}
		else
			set->filters[layout] = NewFilter(fpr, capacity, 0, (CuckooLayout) layout);
	}
}

static void
EndSet(Set *set)
{
	FreeFilter(&set->filters[0]);
	FreeFilter(&set->filters[1]);
}

/* False where a filter would become too large for here: the end. */
static bool
AddToSet(Set *set, const Hashing *hashing, uint32_t key, bool only_new)
{
	uint64_t	hash = HashOf(hashing, key);
	bool		was_in = set->copies[key] > 0;

	for (int layout = 0; layout < 2; layout++)
	{
		Owned	   *owned = &set->filters[layout];

		if (only_new)
		{
			/* As cuckoo_add_new. */
			bool		contained = CuckooFilterContains(&owned->filter, hash);

			Require(contained || !was_in);
			if (owned->filter.body == CUCKOO_TABLES)
				owned->filter.flags |= CUCKOO_FLAG_NOT_REMOVABLE;
			if (contained)
				continue;
		}
		if (Add(owned, hash) == CUCKOO_FULL)
			return false;
	}
	set->same = set->same && SameTables(&set->filters[0].filter, &set->filters[1].filter);
	if (!only_new || !was_in)
		set->copies[key]++;
	CheckKey(set, hashing, key);
	return true;
}

/* Only keys that are in, and only where it is allowed. */
static void
RemoveFromSet(Set *set, const Hashing *hashing, uint32_t key)
{
	CuckooRemoveResult results[2];

	if (set->copies[key] == 0 ||
		((set->filters[0].filter.flags | set->filters[1].filter.flags) &
		 CUCKOO_FLAG_NOT_REMOVABLE) != 0)
		return;
	for (int layout = 0; layout < 2; layout++)
	{
		results[layout] = Remove(&set->filters[layout], HashOf(hashing, key));
		Require(results[layout] != CUCKOO_ABSENT);
	}
	/* Which class leaves for a stash depends on the walk, and so on the layout. */
	if (set->same && set->filters[0].filter.stashes == 0)
		Require(results[0] == results[1]);
	set->copies[key]--;
	CheckKey(set, hashing, key);
}

/* Both layouts, or one with the other's: target becomes its combination. */
static bool
CombineSets(CuckooOperation operation, Set *target, Set *other, bool crossed)
{
	Owned		results[2];

	for (int layout = 0; layout < 2; layout++)
	{
		if (!Combine(operation, &target->filters[layout],
					 &other->filters[crossed ? 1 - layout : layout], &results[layout]))
		{
			if (layout == 1)
				FreeFilter(&results[0]);
			return false;
		}
	}
	for (int layout = 0; layout < 2; layout++)
	{
		FreeFilter(&target->filters[layout]);
		target->filters[layout] = results[layout];
	}
	/* Two plain ones by now, where both were of tables. */
	target->same = target->same && other->same &&
		SameTables(&results[0].filter, &results[1].filter);
	for (uint32_t key = 0; key < KEYS; key++)
	{
		uint32_t	of_other = other->copies[key];

		if (operation == CUCKOO_MERGE)
			target->copies[key] += of_other;
		else if (target->copies[key] < of_other)
			target->copies[key] = of_other;
	}
	return true;
}

static void
FuzzDifferential(Input *input)
{
	static Set	sets[2];
	Hashing		hashing;
	uint32_t	work = 0;
	uint32_t	operations = 0;

	hashing.step = Below(input, 3) == 0 ? 1 + (uint32_t) Word(input, 3) : 0;
	hashing.places = 1 + Below(input, 8);
	/* Hashes must differ: low words up to 2^32. */
	while (hashing.step != 0 && (uint64_t) hashing.step * KEYS > UINT32_MAX)
		hashing.step /= 2;
	StartSet(&sets[0], input);
	StartSet(&sets[1], input);
	while (input->left > 0 && work < MAX_WORK && operations++ < 300)
	{
		uint8_t		operation = Byte(input);
		Set		   *set = &sets[operation >> 7];
		Set		   *other = &sets[1 - (operation >> 7)];
		uint32_t	key = (uint32_t) Word(input, 2) % KEYS;
		uint32_t	count = 1;
		bool		go_on = true;

		switch (operation & 15)
		{
			case 0:
			case 1:
			case 2:
				go_on = AddToSet(set, &hashing, key, false);
				break;
			case 3:
			case 4:
				count = 1 + Byte(input);
				for (uint32_t i = 0; go_on && i < count; i++)
					go_on = AddToSet(set, &hashing, (key + i) % KEYS, false);
				CheckSet(set, &hashing);
				break;
			case 5:				/* copies of a few */
				count = 1 + Below(input, 24);
				for (uint32_t i = 0; go_on && i < count; i++)
					go_on = AddToSet(set, &hashing, (key + i % 3) % KEYS, false);
				break;
			case 6:
			case 7:
				RemoveFromSet(set, &hashing, key);
				break;
			case 8:
			case 9:
				count = 1 + Byte(input);
				for (uint32_t i = 0; i < count; i++)
					RemoveFromSet(set, &hashing, (key + i) % KEYS);
				CheckSet(set, &hashing);
				break;
			case 10:
				go_on = AddToSet(set, &hashing, key, true);
				break;
			case 11:
				count = 20;
				go_on = CombineSets(CUCKOO_UNION, set, other, key % 8 == 0);
				CheckSet(set, &hashing);
				break;
			case 12:
				count = 20;
				go_on = CombineSets(CUCKOO_MERGE, set, other, key % 8 == 0);
				CheckSet(set, &hashing);
				break;
			case 13:
				count = 20;
				go_on = CombineSets(key % 2 ? CUCKOO_UNION : CUCKOO_MERGE, set, set, false);
				CheckSet(set, &hashing);
				break;
			case 14:			/* stored and read again */
				for (int layout = 0; layout < 2; layout++)
				{
					Owned	   *owned = &set->filters[layout];
					size_t		length = StoredBytes(owned);
					Owned		again = Reopen(owned->bytes, length);

					FreeFilter(owned);
					*owned = again;
				}
				CheckSet(set, &hashing);
				break;
			case 15:			/* start over */
				EndSet(set);
				StartSet(set, input);
				break;
		}
		work += count;
		if (!go_on)
			break;
	}
	for (int i = 0; i < 2; i++)
	{
		CheckSet(&sets[i], &hashing);
		EndSet(&sets[i]);
	}
}

int			LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Input		input = {data, size};

	switch (Byte(&input) % 4)
	{
		case 0:
			FuzzRaw(&input);
			break;
		case 1:
			FuzzSound(&input);
			break;
		default:
			FuzzDifferential(&input);
			break;
	}
	return 0;
}
