/*-------------------------------------------------------------------------
 *
 * exercise.h
 *	  Everything that can be done with a filter that the validator accepted,
 *	  wherever it is from.
 *
 * After every operation the result must be valid, sparse tables must have the
 * only form of their content, and slices must give the same answers as the
 * whole table.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_TEST_EXERCISE_H
#define CUCKOO_TEST_EXERCISE_H

#include "support.h"

/* A filter without tables */
static inline Value
BareValue(CuckooHeader header)
{
	CuckooFilter filter = {.header = header};
	Value		value;

	value.length = CuckooBytes(&filter);
	value.bytes = Allocate(value.length);
	CuckooLayOut(&filter, value.bytes);
	for (uint64_t i = 0; i < filter.header.items; i++)
		CuckooStore64(filter.hashes + 8 * i, UINT64_C(12345678901234) * (i + 1));
	assert_true(IsValid(&value));
	return value;
}

/* Check that the whole table, its slices and its codes agree. */
static inline void
CheckSound(const CuckooTable *table)
{
	CuckooList	list = CuckooTableCodes(table);
	const uint64_t *codes = list.numbers;

	for (uint64_t i = 0; i < list.count; i++)
	{
		assert_true(codes[i] < CuckooShapeCodes(&table->shape));
		assert_true((codes[i] & table->shape.fingerprints) != 0);
		assert_true(i == 0 || codes[i - 1] <= codes[i]);
		assert_true(i < 8 || codes[i - 8] != codes[i]);
	}
	CheckTable(table, codes, list.count, 24);
	CheckLookup(table, 0, CountIn(codes, list.count, 1));
	CheckLookup(table, UINT64_MAX, CountIn(codes, list.count, CuckooShapeCodes(&table->shape) - 1));
	pfree(list.numbers);
}

/*
 * The header is the one that would be written, and can be read without what
 * follows it, as a reader of slices does.
 */
static inline void
CheckHeader(const Value *value)
{
	CuckooFilter filter = Open(value);
	CuckooFilter opened;
	size_t		at = CUCKOO_HEADER_BYTES + filter.header.table_count * CUCKOO_DIRECTORY_BYTES;
	uint8_t    *start = Allocate(CUCKOO_MAX_HEADER_BYTES);
	uint8_t    *written = Allocate(value->length);

	memcpy(start, value->bytes, at);
	CuckooOpenHeader(&opened, start, value->length);
	for (int t = 0; t < opened.header.table_count; t++)
		assert_true(opened.tables[t].data == NULL);
	memset(written, 0xFF, value->length);
	CuckooLayOut(&opened, written);
	assert_memory_equal(written, value->bytes, at);
	assert_true(AllAre(written + CuckooBytes(&opened) - CUCKOO_TAIL_BYTES, CUCKOO_TAIL_BYTES, 0));
	CuckooWriteHeader(&filter, written);
	assert_memory_equal(written, value->bytes, at);
	assert_int_equal(CuckooBytes(&filter), value->length);
	assert_true(opened.header.items == filter.header.items);
	assert_true(filter.header.content == CUCKOO_TABLES || filter.hashes == value->bytes + at);
	for (int t = 0; t < filter.header.table_count; t++)
	{
		assert_true(filter.tables[t].data == value->bytes + at);
		assert_int_equal(CuckooTableOffset(&filter, t), at);
		assert_int_equal(CuckooTableOffset(&opened, t), at);
		at += (size_t) CuckooTableStoredBytes(&filter.tables[t]);
	}
	if (filter.header.content == CUCKOO_PARTIAL)
		at += 8 * (size_t) filter.header.items;
	assert_int_equal(CuckooTableOffset(&filter, filter.header.table_count), at);
	pfree(start);
	pfree(written);
}

static inline void
CheckValue(const Value *value)
{
	CuckooFilter filter = Open(value);
	double		rate = CuckooFilterRate(&filter);
	uint64_t	hashes[64];

	CheckHeader(value);
	assert_true(rate >= 0 && rate <= 1);
	for (int i = 0; i < filter.header.table_count; i++)
		CheckSound(&filter.tables[i]);
	for (size_t i = 0; i < lengthof(hashes); i++)
		hashes[i] = i < 2 ? 0 - (uint64_t) i : NextRandom();
	for (size_t i = 0; i < lengthof(hashes); i++)
		CuckooFilterPrefetch(&filter, hashes, i, lengthof(hashes));
}

/* Add and remove keys that the filter has or may not have. */
static inline void
Change(Value *value)
{
	CuckooDraft draft;

	CuckooDraftOpen(&draft, value->bytes, value->length);
	if (draft.filter.header.kind.type == CUCKOO_KEY_NONE)
		draft.filter.header.kind.type = CUCKOO_KEY_TEXT;
	for (int i = 0; i < 40; i++)
	{
		uint64_t	hash = NextRandom();
		uint64_t	items = draft.filter.header.items;
		bool		contained;
		CuckooOutcome outcome;

		/* Few keys, so that some are repeated. */
		if (i % 2 == 0)
			hash = KeyHash(1, hash % 8);
		contained = CuckooFilterContains(&draft.filter, hash);
		if (hash % 5 < 3)
		{
			outcome = ApplyHash(&draft, CUCKOO_ADD, hash);
			if (outcome == CUCKOO_FULL || outcome == CUCKOO_TOO_LARGE)
				break;
			assert_true(CuckooFilterContains(&draft.filter, hash));
			assert_int_equal(draft.filter.header.items, items + (outcome == CUCKOO_CHANGED));
		}
		else
		{
			outcome = ApplyHash(&draft, CUCKOO_REMOVE, hash);
			assert_true(contained || outcome == CUCKOO_UNCHANGED);
			assert_int_equal(draft.filter.header.items, items - (outcome == CUCKOO_CHANGED));
		}
	}
	*value = Finish(&draft);
	CheckValue(value);
}

/* With what it has become, in both orders. */
static inline void
CombineBoth(const Value *value, const Value *changed)
{
	for (CuckooOperation operation = CUCKOO_UNION; operation <= CUCKOO_UNION_ALL; operation++)
	{
		Value		both = CombineTwo(operation, value, changed);
		Value		reversed = CombineTwo(operation, changed, value);
		Value		alone = Combine(operation, &both, 1);

		assert_true(SameBytes(&both, &reversed));
		CheckValue(&both);
		/* A canonical filter does not change. */
		assert_true(SameBytes(&both, &alone));
		CuckooFreeFilter(both.bytes);
		CuckooFreeFilter(reversed.bytes);
		CuckooFreeFilter(alone.bytes);
	}
}

static inline void
Exercise(const Value *value)
{
	CuckooFilter filter = Open(value);

	CheckValue(value);
	if (filter.header.content == CUCKOO_TABLES && !(filter.header.flags & CUCKOO_FLAG_UNSET))
	{
		Value		changed = CopyValue(value->bytes, value->length);

		Change(&changed);
		/* With more, there may be too many shapes. */
		if (filter.header.table_count <= CUCKOO_MAX_TABLES / 2)
			CombineBoth(value, &changed);
		CuckooFreeFilter(changed.bytes);
	}
}

#endif							/* CUCKOO_TEST_EXERCISE_H */
