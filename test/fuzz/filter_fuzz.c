/*-------------------------------------------------------------------------
 *
 * filter_fuzz.c
 *	  Fuzzing of the core with libFuzzer; test/fuzz/run.sh builds and runs it.
 *
 * The first byte of an input tells what the rest is:
 *
 * raw			Bytes for the validator.  If it accepts them, they are used in
 *				every operation of the core.
 *
 * sound		Tables of chosen shapes and codes, including some that no keys
 *				would make: huge groups, pairs with too many classes.  The
 *				validator must accept them, and they must hold these codes.
 *				Then they are used as above.
 *
 * differential	A sequence of operations on two sets of few keys that share
 *				classes, pairs and groups.  Each set is kept as a filter and as
 *				an exact model.
 *
 * After every operation the result must be valid.  Valid() of support.h runs
 * the validator in memory of exactly that size, so that AddressSanitizer
 * notices a single byte read too many.  Sparse tables must have the only form
 * of their content, and slices must give the same answers as the whole table.
 *
 *-------------------------------------------------------------------------
 */
#define SUPPORT_PORTABLE
#include "../unit/support.h"

/* No filter here becomes larger: small ones show the same faults. */
#define MAX_BYTES	(64 * 1024)

/* ----------------------------------------------------------------- inputs */

typedef struct Input
{
	const uint8_t *next;
	size_t		left;
} Input;

/* The next byte; zero after the last one. */
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

/* Check that the whole table, its slices and its codes agree. */
static void
CheckTable(const CuckooTable *table, uint64_t random)
{
	uint64_t	count = table->items;
	uint64_t   *codes = CuckooTableCodes(table);

	for (uint64_t i = 0; i < count; i++)
	{
		Require(codes[i] < CuckooShapeCodes(&table->shape));
		Require((codes[i] & CuckooShapeFingerprints(&table->shape)) != 0);
		Require(i == 0 || codes[i - 1] <= codes[i]);
		Require(i < 8 || codes[i - 8] != codes[i]);
	}
	if (table->representation == CUCKOO_SPARSE)
		Require(IsEncoded(table, codes, count));
	for (int i = 0; i < 24; i++)
	{
		uint64_t	hash = NextRandom(&random);
		uint64_t	code;
		int			copies = 0;

		/* Present ones, near ones, any, and the ends */
		if (i % 3 != 0 && count > 0)
		{
			code = codes[hash % count];
			if (i % 3 == 2)
				code = (code + hash % 5) % CuckooShapeCodes(&table->shape);
			if ((code & CuckooShapeFingerprints(&table->shape)) != 0)
				hash = HashOfCode(&table->shape, code);
		}
		if (i < 2)
			hash = i == 0 ? 0 : UINT64_MAX;
		code = CuckooCodeOf(&table->shape, hash);
		for (uint64_t k = 0; k < count; k++)
			copies += codes[k] == code;
		Require(CuckooTableCount(table, hash) == copies);
		Require(CuckooTableContains(table, hash) == (copies > 0));
		Require(SlicedCount(table, hash, (uint8_t) hash) == copies);
	}
	pfree(codes);
}

static void
CheckValue(const Value *value, uint64_t random)
{
	CuckooFilter filter = Open(value);
	uint8_t    *header = Duplicate(value->bytes, value->length);
	double		rate = CuckooFilterRate(&filter);
	uint64_t	hashes[64];

	Require(CuckooBytes(&filter) == value->length);
	CuckooWriteHeader(&filter, header);
	Require(memcmp(header, value->bytes, value->length) == 0);
	free(header);
	Require(rate >= 0 && rate <= 1);
	for (int i = 0; i < filter.table_count; i++)
		CheckTable(&filter.tables[i], random + (uint64_t) i);
	for (size_t i = 0; i < lengthof(hashes); i++)
		hashes[i] = i < 2 ? 0 - (uint64_t) i : NextRandom(&random);
	for (size_t i = 0; i < lengthof(hashes); i++)
		CuckooFilterPrefetch(&filter, hashes, i, lengthof(hashes));
}

static Value
CopyValue(const uint8_t *bytes, size_t length)
{
	Value		copy;

	copy.bytes = (uint8_t *) palloc(VARHDRSZ + length) + VARHDRSZ;
	memcpy(copy.bytes, bytes, length);
	copy.length = length;
	return copy;
}

/* ------------------------------------------------- all that can be done */

/* Add and remove keys that the filter has or may not have. */
static void
Change(Value *value, uint64_t random)
{
	CuckooDraft draft;
	uint8_t    *bytes;
	Value		before = CopyValue(value->bytes, value->length);
	bool		writable = random & 1;

	CuckooDraftOpen(&draft, value->bytes, value->length, writable);
	if (draft.filter.key_type == CUCKOO_KEY_NONE)
		draft.filter.key_type = CUCKOO_KEY_TEXT;
	for (int i = 0; i < 40; i++)
	{
		uint64_t	hash = NextRandom(&random);
		uint64_t	items = draft.filter.items;
		CuckooChange change;

		/* Few keys, so that some are repeated. */
		if (i % 2 == 0)
			hash = KeyHash(1, hash % 8);
		if (hash % 5 < 3)
		{
			change = ApplyHash(&draft, CUCKOO_ADD, hash);
			Require(change == CUCKOO_CHANGED || change == CUCKOO_PINNED ||
					change == CUCKOO_FULL || change == CUCKOO_TOO_LARGE);
			if (change == CUCKOO_FULL || change == CUCKOO_TOO_LARGE)
				break;
			Require(CuckooFilterContains(&draft.filter, hash));
			Require(draft.filter.items == items + (change == CUCKOO_CHANGED));
		}
		else
		{
			bool		contained = CuckooFilterContains(&draft.filter, hash);

			change = ApplyHash(&draft, CUCKOO_REMOVE, hash);
			Require(contained == (change != CUCKOO_ABSENT));
			Require(draft.filter.items == items - (change == CUCKOO_CHANGED));
		}
	}
	bytes = CuckooDraftFinish(&draft);
	Require(bytes != NULL);
	if (!writable)
	{
		Require(SameBytes(value, &before));
		FreeValue(value);
	}
	FreeValue(&before);
	*value = Valid(bytes, &draft.filter);
	CheckValue(value, random);
}

/* With itself, with an empty one, and with what it has become. */
static void
CombineAll(const Value *value, const Value *changed, uint64_t random)
{
	for (int operation = CUCKOO_UNION; operation <= CUCKOO_UNION_ALL; operation++)
	{
		Value		both;
		Value		reversed;
		Value		alone;

		if (!Combinable(value, changed))
			continue;
		both = CombineTwo((CuckooOperation) operation, value, changed);
		reversed = CombineTwo((CuckooOperation) operation, changed, value);
		Require(SameBytes(&both, &reversed));
		CheckValue(&both, random);
		/* A canonical filter does not change. */
		alone = Combine((CuckooOperation) operation, &both, 1);
		Require(SameBytes(&both, &alone));
		FreeValue(&both);
		FreeValue(&reversed);
		FreeValue(&alone);
	}
}

static void
Exercise(const Value *value, uint64_t random)
{
	CuckooFilter filter = Open(value);
	Value		changed;

	CheckValue(value, random);
	if (filter.content != CUCKOO_TABLES || (filter.flags & CUCKOO_FLAG_UNSET))
		return;
	changed = CopyValue(value->bytes, value->length);
	Change(&changed, random);
	CombineAll(value, &changed, random);
	FreeValue(&changed);
}

/* -------------------------------------------------------------------- raw */

static void
FuzzRaw(const uint8_t *bytes, size_t length)
{
	uint8_t    *copy = Duplicate(bytes, length);
	CuckooVerdict verdict = CuckooValidate(copy, length);

	Require(memcmp(copy, bytes, length) == 0);
	free(copy);
	if (verdict.problem == CUCKOO_VALID)
	{
		Value		value = CopyValue(bytes, length);

		Exercise(&value, XXH3_64bits(bytes, length));
		FreeValue(&value);
	}
}

/* ------------------------------------------------------------------ sound */

static int
CompareCodes(const void *a, const void *b)
{
	uint64_t	left = *(const uint64_t *) a;
	uint64_t	right = *(const uint64_t *) b;

	return left < right ? -1 : left > right;
}

/* Up to 600 sorted codes, at most eight of them equal. */
static uint64_t
SoundCodes(Input *input, const CuckooShape *shape, uint64_t codes[600])
{
	uint64_t	end = CuckooShapeCodes(shape);
	uint64_t	code = Word(input, 4) * (end >> 32) + (end & UINT32_MAX) / 2;
	uint64_t	count = 0;
	uint64_t	kept = 0;
	int			runs = 1 + (int) Below(input, 12);

	for (int run = 0; run < runs; run++)
	{
		int			length = (int) Below(input, 64);
		uint64_t	step = Word(input, 1 + (int) Below(input, 7)) % end;

		for (int i = 0; i < length && count < 600; i++)
		{
			codes[count++] = code % end;
			code = (code + step) % end;
		}
	}
	if (count > 0)
		qsort(codes, (size_t) count, sizeof(uint64_t), CompareCodes);
	for (uint64_t i = 0; i < count; i++)
	{
		if ((codes[i] & CuckooShapeFingerprints(shape)) != 0 &&
			(kept < 8 || codes[kept - 8] != codes[i]))
			codes[kept++] = codes[i];
	}
	return kept;
}

static void
FuzzSound(Input *input, uint64_t random)
{
	static const double rates[] = {0.1, 0.01, 0.001, 2e-8};
	static uint64_t codes[4][600];
	CuckooRun	runs[4];
	CuckooPart	parts[4];
	CuckooFilter filter;
	int			count = 0;
	int			wanted = 1 + (int) Below(input, 4);
	uint8_t    *bytes;
	Value		value;

	memset(parts, 0, sizeof(parts));
	CuckooFilterInit(&filter, rates[Below(input, 4)], Word(input, 2), Word(input, 1));
	filter.key_type = CUCKOO_KEY_UUID;
	for (int i = 0; i < wanted; i++)
	{
		int			bits = CUCKOO_MIN_BITS + (int) Below(input, 28);
		uint32_t	buckets = 2 + 2 * (uint32_t) (Word(input, 2) % (CUCKOO_MAX_BUCKETS / 2));
		CuckooShape shape = ShapeOf(1 + Byte(input), Byte(input) % 4 == 0 ? buckets :
									2 + 2 * (buckets % 40), bits);
		CuckooPart *part = &parts[count];

		if (count > 0 && CuckooShapeOrder(&parts[count - 1].shape, &shape) >= 0)
			continue;
		part->shape = shape;
		part->items = SoundCodes(input, &shape, codes[count]);
		part->representation = CuckooRepresentationFor(&shape, part->items);
		/* Dense, if possible, at loads at which no build is dense */
		if (Byte(input) % 2 == 0 && part->items <= CuckooShapeEntries(&shape) &&
			CuckooDenseBytes(&shape) < MAX_BYTES / 4)
			part->representation = CUCKOO_DENSE;
		runs[count].numbers = codes[count];
		runs[count].count = part->items;
		part->source.runs = &runs[count];
		part->source.run_count = 1;
		count++;
	}
	bytes = CuckooMakeFilter(&filter, parts, count);
	value = Valid(bytes, &filter);
	for (int i = 0; i < count; i++)
	{
		uint64_t   *again = CuckooTableCodes(&filter.tables[i]);

		Require(filter.tables[i].items == parts[i].items);
		Require(memcmp(again, codes[i], (size_t) parts[i].items * sizeof(uint64_t)) == 0);
		pfree(again);
	}
	if (value.length <= MAX_BYTES)
		Exercise(&value, random);
	FreeValue(&value);
}

/* ----------------------------------------------------------- differential */

#define MODEL_KEYS 256

typedef struct Set
{
	Value		value;
	CuckooDraft draft;
	uint32_t	copies[MODEL_KEYS];
	bool		removable;
} Set;

static void
Finish(Set *set)
{
	uint8_t    *bytes = CuckooDraftFinish(&set->draft);

	Require(bytes != NULL);
	set->value = Valid(bytes, &set->draft.filter);
	CuckooDraftOpen(&set->draft, set->value.bytes, set->value.length, true);
}

static void
CheckSet(Set *set, const uint64_t hashes[MODEL_KEYS])
{
	CuckooFilter filter;

	Finish(set);
	filter = Open(&set->value);
	for (int key = 0; key < MODEL_KEYS; key++)
	{
		uint32_t	copies = set->copies[key] < 8 ? set->copies[key] : 8;

		Require(copies == 0 || CuckooFilterContains(&filter, hashes[key]));
		Require(!set->removable || (uint32_t) CuckooFilterCount(&filter, hashes[key]) >= copies);
	}
	CheckValue(&set->value, filter.items);
}

static void
FuzzDifferential(Input *input)
{
	static const double rates[] = {0.1, 0.01, 0.001, 2e-8};
	double		fpr = rates[Below(input, 4)];
	uint64_t	capacity = Below(input, 200);
	uint64_t	hashes[MODEL_KEYS];
	CuckooFilter filter;
	CuckooShape shape;
	Set			sets[2];

	CuckooFilterInit(&filter, fpr, capacity, 0);
	Require(CuckooFirstShape(&filter, &shape));
	/* Keys in fours with one class, in tens with one pair, or random. */
	for (uint64_t key = 0; key < MODEL_KEYS; key++)
	{
		uint64_t	pair = key / 40 % CuckooShapePairs(&shape);
		uint64_t	code = pair << shape.bits | (1 + key % 40 / 4);

		hashes[key] = key < 200 ? HashOfCode(&shape, code) + key % 4 : KeyHash(1, key);
	}
	for (int i = 0; i < 2; i++)
	{
		uint64_t	other = i == 1 && Below(input, 3) == 0 ? Below(input, 200) : capacity;

		memset(&sets[i], 0, sizeof(Set));
		sets[i].removable = true;
		sets[i].value = ValueOfHashes(NULL, 0, fpr, other);
		CuckooDraftOpen(&sets[i].draft, sets[i].value.bytes, sets[i].value.length, true);
	}

	for (int steps = 0; input->left > 0 && steps < 1500; steps++)
	{
		uint8_t		what = Byte(input);
		Set		   *set = &sets[what & 1];
		Set		   *other = &sets[~what & 1];

		switch (what >> 1 & 15)
		{
			case 0:
				CheckSet(set, hashes);
				break;
			case 1:
				{
					CuckooOperation operation = what & 32 ? CUCKOO_UNION_ALL : CUCKOO_UNION;
					Value		both;

					Finish(set);
					Finish(other);
					both = CombineTwo(operation, &set->value, &other->value);
					FreeValue(&set->value);
					set->value = both;
					CuckooDraftOpen(&set->draft, both.bytes, both.length, true);
					set->removable = set->removable && other->removable &&
						operation == CUCKOO_UNION_ALL;
					for (int key = 0; key < MODEL_KEYS; key++)
					{
						uint32_t	here = set->copies[key];
						uint32_t	there = other->copies[key];

						if (operation == CUCKOO_UNION_ALL)
							set->copies[key] = here + there < 1000 ? here + there : 1000;
						else
							set->copies[key] = here > there ? here : there;
					}
					CheckSet(set, hashes);
					break;
				}
			case 2:
			case 3:
			case 4:
			case 5:
				{
					/* Several keys in a row removed */
					uint32_t	from = Byte(input);
					uint32_t	count = 1 + (what >> 5);

					for (uint32_t key = from; key < from + count && key < MODEL_KEYS; key++)
					{
						if (set->copies[key] == 0 || !set->removable)
							continue;
						Require(ApplyHash(&set->draft, CUCKOO_REMOVE, hashes[key]) !=
								CUCKOO_ABSENT);
						set->copies[key]--;
					}
					break;
				}
			case 6:
			case 7:
				{
					/* The same keys added or removed in one batch */
					uint64_t	batch[32];
					uint32_t	from = Byte(input);
					uint32_t	count = 1 + Byte(input) % 32;
					bool		remove = what & 32;
					size_t		size = 0;
					size_t		changed;

					for (uint32_t i = 0; i < count; i++)
					{
						uint32_t	key = (from + i % 20) % MODEL_KEYS;

						if (remove && (set->copies[key] == 0 || !set->removable))
							continue;
						batch[size++] = hashes[key];
						set->copies[key] = remove ? set->copies[key] - 1 : set->copies[key] + 1;
					}
					Require(CuckooDraftApply(&set->draft, batch, size,
											 remove ? CUCKOO_REMOVE : CUCKOO_ADD,
											 &changed) < CUCKOO_FULL);
					Require(changed <= size);
					break;
				}
			default:
				{
					uint32_t	from = Byte(input);
					uint32_t	count = 1 + (what >> 5);

					for (uint32_t key = from; key < from + count && key < MODEL_KEYS; key++)
					{
						CuckooChange change = ApplyHash(&set->draft, CUCKOO_ADD, hashes[key]);

						Require(change == CUCKOO_CHANGED || change == CUCKOO_PINNED);
						Require(CuckooFilterContains(&set->draft.filter, hashes[key]));
						set->copies[key]++;
					}
					break;
				}
		}
	}
	for (int i = 0; i < 2; i++)
	{
		CheckSet(&sets[i], hashes);
		FreeValue(&sets[i].value);
	}
}

extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Input		input;

	if (size == 0)
		return 0;
	input.next = data + 1;
	input.left = size - 1;
	switch (data[0] % 3)
	{
		case 0:
			FuzzRaw(data + 1, size - 1);
			break;
		case 1:
			FuzzSound(&input, XXH3_64bits(data, size));
			break;
		default:
			FuzzDifferential(&input);
	}
	Require(areas_in_use == 0);
	return 0;
}
