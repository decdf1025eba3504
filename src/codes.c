/*-------------------------------------------------------------------------
 *
 * codes.c
 *	  Sources: readers of the codes that a table is built from; see codes.h.
 *
 *-------------------------------------------------------------------------
 */
#include "codes.h"

uint64_t
CuckooSourceCount(CuckooSource *source)
{
	uint64_t	codes[CUCKOO_READ_CODES];
	uint64_t	count = 0;
	size_t		read;

	source->rewind(source);
	while ((read = source->read(source, codes, CUCKOO_READ_CODES)) > 0)
	{
		if (count >> 16 != (count + read) >> 16)
			CHECK_FOR_INTERRUPTS();
		count += read;
	}
	source->rewind(source);
	return count;
}

static void
HashRewind(CuckooSource *source)
{
	CuckooHashSource *hashes = (CuckooHashSource *) source;

	hashes->run = 0;
	hashes->at = 0;
	hashes->last = 0;
	hashes->copies = 0;
}

/* This leaves out copies beyond the eighth. */
static size_t
HashRead(CuckooSource *source, uint64_t *codes, size_t room)
{
	CuckooHashSource *hashes = (CuckooHashSource *) source;
	uint64_t	pairs = CuckooShapePairs(&hashes->shape);
	uint32_t	fingerprints = CuckooShapeFingerprints(&hashes->shape);
	int			bits = hashes->shape.bits;
	uint64_t	last = hashes->last;
	int			copies = hashes->copies;
	size_t		count = 0;

	while (count < room && hashes->run < hashes->run_count)
	{
		const CuckooRun *run = &hashes->runs[hashes->run];
		uint64_t	at = hashes->at;

		for (; count < room && at < run->count; at++)
		{
			uint64_t	code = CuckooScaledCode(pairs, fingerprints, bits, run->hashes[at]);

			copies = code == last ? copies + (copies <= CUCKOO_MAX_COPIES) : 1;
			last = code;
			codes[count] = code;
			count += copies <= CUCKOO_MAX_COPIES;
		}
		hashes->at = at;
		if (at == run->count)
		{
			hashes->run++;
			hashes->at = 0;
		}
	}
	hashes->last = last;
	hashes->copies = copies;
	return count;
}

void
CuckooHashSourceInit(CuckooHashSource *source, const CuckooShape *shape,
					 const CuckooRun *runs, uint64_t run_count)
{
	source->source.rewind = HashRewind;
	source->source.read = HashRead;
	source->shape = *shape;
	source->runs = runs;
	source->run_count = run_count;
	HashRewind(&source->source);
}

static void
ClassRewind(CuckooSource *source)
{
	CuckooClassSource *classes = (CuckooClassSource *) source;

	classes->at = 0;
	classes->copies = 0;
}

static size_t
ClassRead(CuckooSource *source, uint64_t *codes, size_t room)
{
	CuckooClassSource *classes = (CuckooClassSource *) source;
	size_t		count = 0;

	while (count < room && classes->at < classes->count)
	{
		CuckooClass class = classes->classes[classes->at];

		codes[count++] = CuckooClassCode(class);
		if (++classes->copies == CuckooClassCopies(class))
		{
			classes->at++;
			classes->copies = 0;
		}
	}
	return count;
}

void
CuckooClassSourceInit(CuckooClassSource *source, const CuckooClass *classes, uint64_t count)
{
	source->source.rewind = ClassRewind;
	source->source.read = ClassRead;
	source->classes = classes;
	source->count = count;
	ClassRewind(&source->source);
}

static void
EditRewind(CuckooSource *source)
{
	CuckooEditSource *edit = (CuckooEditSource *) source;

	edit->base->rewind(edit->base);
	edit->at = 0;
	edit->ahead_count = 0;
	edit->ahead_at = 0;
}

static size_t
EditRead(CuckooSource *source, uint64_t *codes, size_t room)
{
	CuckooEditSource *edit = (CuckooEditSource *) source;
	size_t		count = 0;

	while (count < room)
	{
		bool		more = edit->at < edit->count;
		uint64_t	next;

		if (edit->ahead_at == edit->ahead_count)
		{
			edit->ahead_count = edit->base->read(edit->base, edit->ahead,
												 CUCKOO_READ_CODES);
			edit->ahead_at = 0;
			if (edit->ahead_count == 0)
			{
				if (!more || edit->remove)
					return count;
				codes[count++] = edit->codes[edit->at++];
				continue;
			}
		}
		next = edit->ahead[edit->ahead_at];
		if (more && edit->remove && edit->codes[edit->at] == next)
		{
			edit->at++;
			edit->ahead_at++;
		}
		else if (more && !edit->remove && edit->codes[edit->at] < next)
			codes[count++] = edit->codes[edit->at++];
		else
		{
			codes[count++] = next;
			edit->ahead_at++;
		}
	}
	return count;
}

void
CuckooEditSourceInit(CuckooEditSource *source, CuckooSource *base,
					 const uint64_t *codes, uint64_t count, bool remove)
{
	source->source.rewind = EditRewind;
	source->source.read = EditRead;
	source->base = base;
	source->codes = codes;
	source->count = count;
	source->remove = remove;
	EditRewind(&source->source);
}
