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
 * differential	What model.h does to filters of few keys that share classes,
 *				pairs and groups, with these choices instead of chance.  It
 *				compares each filter with an exact model.
 *
 * pages		What page_model.h does to the pages of an index, with these choices.
 *				They are of few links, so that short inputs reach all code.
 *
 * exercise.h has the operations of the core, and what must hold after each.
 * Valid() of support.h runs the validator in memory of exactly that size, so
 * that AddressSanitizer notices a single byte read too many.
 *
 *-------------------------------------------------------------------------
 */
#define SUPPORT_PORTABLE
#include "../unit/exercise.h"
#include "../unit/model.h"
#include "../unit/page_model.h"

/* No filter here becomes larger: small ones show the same faults. */
#define MAX_BYTES	(64 * 1024)

/* -------------------------------------------------------------------- raw */

static void
FuzzRaw(const uint8_t *bytes, size_t length)
{
	uint8_t    *copy = Duplicate(bytes, length);
	CuckooVerdict verdict;
	bool		valid = CuckooValidate(copy, length, &verdict);

	assert_true(memcmp(copy, bytes, length) == 0);
	pfree(copy);
	if (valid)
	{
		Value		value = CopyValue(bytes, length);

		Exercise(&value);
		CuckooFreeFilter(value.bytes);
	}
}

/* ------------------------------------------------------------------ sound */

/* Up to 600 sorted codes, at most eight of them equal. */
static uint64_t
SoundCodes(const CuckooShape *shape, uint64_t codes[600])
{
	uint64_t	end = CuckooShapeCodes(shape);
	uint64_t	code = Below(UINT32_MAX) * (end >> 32) + (end & UINT32_MAX) / 2;
	uint64_t	count = 0;
	uint64_t	kept = 0;
	int			runs = 1 + (int) Below(12);

	for (int run = 0; run < runs; run++)
	{
		int			length = (int) Below(64);
		uint64_t	step = ((uint64_t) Below(1 << 24) << 32 | Below(UINT32_MAX)) >> Below(56);

		for (int i = 0; i < length && count < 600; i++)
		{
			codes[count++] = code % end;
			code = (code + step % end) % end;
		}
	}
	SortNumbers(codes, count);
	for (uint64_t i = 0; i < count; i++)
	{
		if ((codes[i] & shape->fingerprints) != 0 &&
			(kept < 8 || codes[kept - 8] != codes[i]))
			codes[kept++] = codes[i];
	}
	return kept;
}

static void
FuzzSound(void)
{
	static const double rates[] = {0.1, 0.01, 0.001, 2e-8};
	static uint64_t codes[4][600];
	CuckooList	runs[4];
	CuckooPart	parts[4];
	CuckooFilter filter;
	int			count = 0;
	int			wanted = 1 + (int) Below(4);
	Value		value;

	memset(parts, 0, sizeof(parts));
	CuckooFilterInit(&filter, rates[Below(4)], Below(1 << 16), Below(256));
	filter.header.kind.type = CUCKOO_KEY_UUID;
	for (int i = 0; i < wanted; i++)
	{
		int			bits = CUCKOO_MIN_BITS + (int) Below(28);
		uint32_t	buckets = 2 + 2 * Below(Below(4) == 0 ? CUCKOO_MAX_BUCKETS / 2 : 40);
		CuckooShape shape = CuckooShapeOf(1 + Below(256), buckets, bits);
		CuckooPart *part = &parts[count];

		if (count > 0 && CuckooShapeOrder(&parts[count - 1].shape, &shape) >= 0)
			continue;
		part->shape = shape;
		part->items = SoundCodes(&shape, codes[count]);
		part->representation = CuckooRepresentationFor(&shape, part->items);
		/* Dense, if possible, at loads at which no build is dense */
		if (Below(2) == 0 && part->items <= CuckooShapeEntries(&shape) &&
			CuckooDenseBytes(&shape) < MAX_BYTES / 4)
			part->representation = CUCKOO_DENSE;
		runs[count].numbers = codes[count];
		runs[count].count = part->items;
		part->source.runs = &runs[count];
		part->source.run_count = 1;
		count++;
	}
	value = Valid(CuckooMakeFilter(&filter, parts, count), &filter);
	for (int i = 0; i < count; i++)
		CheckTable(&filter.tables[i], codes[i], parts[i].items, 0);
	if (value.length <= MAX_BYTES)
		Exercise(&value);
	CuckooFreeFilter(value.bytes);
}

extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	random_state = data[0] % 4 < 2 ? XXH3_64bits(data, size) : 1;
	choices = data + 1;
	choices_left = size - 1;
	switch (data[0] % 4)
	{
		case 0:
			FuzzRaw(data + 1, size - 1);
			break;
		case 1:
			FuzzSound();
			break;
		case 2:
			while (choices_left > 0)
				Live(300);
			break;
		default:
			(void) LivePages();
	}
	FreeAll();
	return 0;
}
