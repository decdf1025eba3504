/*-------------------------------------------------------------------------
 *
 * portable_filters.c
 *	  The golden filters of test/golden, written by a server and read by the
 *	  core alone.
 *
 * filters.tsv has the filters.  hashes.tsv has hashes of present and absent
 * keys, with the number of copies that a filter has of each.  Every filter
 * must be valid, have the header that would be written for it, and give these
 * numbers.  If it is cut off or has more bytes, it must be refused.
 *
 * Needs no cmocka, so that it runs for other architectures too.
 *
 *-------------------------------------------------------------------------
 */
#define SUPPORT_PORTABLE
#include "support.h"

/* The content of a file in the folder, as one string. */
static char *
ReadGolden(const char *folder, const char *name)
{
	char		path[4096];
	FILE	   *file;
	long		length;
	char	   *text;

	Require((size_t) snprintf(path, sizeof(path), "%s/%s", folder, name) < sizeof(path));
	file = fopen(path, "rb");
	if (file == NULL)
	{
		perror(path);
		exit(1);
	}
	Require(fseek(file, 0, SEEK_END) == 0);
	length = ftell(file);
	Require(length > 0);
	rewind(file);
	text = Allocate((size_t) length + 1);
	Require(fread(text, 1, (size_t) length, file) == (size_t) length);
	fclose(file);
	return text;
}

/*
 * Cut a text at the next separator.  Returns what is before it, or NULL at the
 * end.
 */
static char *
NextPart(char **rest, char separator)
{
	char	   *part = *rest;
	char	   *end;

	if (part == NULL || *part == '\0')
		return NULL;
	end = strchr(part, separator);
	*rest = end == NULL ? NULL : end + 1;
	if (end != NULL)
		*end = '\0';
	return part;
}

/* Bytes from base64, in memory of exactly their number. */
static uint8_t *
Decode(const char *text, size_t *length)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint8_t    *bytes;
	uint32_t	bits = 0;
	size_t		at = 0;

	*length = strcspn(text, "=") * 3 / 4;
	bytes = Allocate(*length);
	for (size_t i = 0; text[i] != '\0' && text[i] != '='; i++)
	{
		const char *digit = strchr(digits, text[i]);

		Require(digit != NULL);
		bits = bits << 6 | (uint32_t) (digit - digits);
		if (i % 4 != 0)
			bytes[at++] = (uint8_t) (bits >> (6 - 2 * (i % 4)));
	}
	Require(at == *length);
	return bytes;
}

static bool
IsValid(const uint8_t *bytes, size_t length)
{
	uint8_t    *copy = Duplicate(bytes, length);
	bool		valid = CuckooValidate(copy, length).problem == CUCKOO_VALID;

	free(copy);
	return valid;
}

/* Look up every hash of a line in a filter. */
static void
CheckAnswers(const CuckooFilter *filter, const char *name, char *hashes)
{
	char	   *answer;
	int			asked = 0;
	int			wrong = 0;

	while ((answer = NextPart(&hashes, ' ')) != NULL)
	{
		unsigned long long hash;
		int			copies;

		Require(sscanf(answer, "%16llx*%d", &hash, &copies) == 2);
		asked++;
		if (CuckooFilterCount(filter, hash) != copies ||
			CuckooFilterContains(filter, hash) != (copies > 0))
		{
			wrong++;
			printf("%s: hash %016llx has %d copies instead of %d, and is%s contained\n",
				   name, hash, CuckooFilterCount(filter, hash), copies,
				   CuckooFilterContains(filter, hash) ? "" : " not");
		}
	}
	Result(asked >= 10 && wrong == 0, name, "does not answer as it did");
}

static void
CheckFilter(const char *name, const char *base64, char *hashes)
{
	size_t		length;
	uint8_t    *bytes = Decode(base64, &length);
	uint8_t    *longer = Allocate(length + 1);
	uint8_t    *written;
	CuckooVerdict verdict = CuckooValidate(bytes, length);
	CuckooFilter filter;

	if (verdict.problem != CUCKOO_VALID)
	{
		printf("%s: %s\n", name, verdict.message);
		Result(false, name, "is not valid");
		free(longer);
		free(bytes);
		return;
	}
	memcpy(longer, bytes, length);
	Result(!IsValid(bytes, length - 1) && !IsValid(longer, length + 1), name,
		   "is valid with a byte less or more");

	CuckooOpen(&filter, bytes, length);
	CheckAnswers(&filter, name, hashes);

	written = Duplicate(bytes, length);
	memset(written, 0xFF, CUCKOO_HEADER_BYTES + filter.table_count * CUCKOO_DIRECTORY_BYTES);
	CuckooWriteHeader(&filter, written);
	Result(CuckooBytes(&filter) == length && memcmp(written, bytes, length) == 0, name,
		   "would get another header");

	free(written);
	free(longer);
	free(bytes);
}

/* portable_filters [FOLDER] */
int
main(int argc, char **argv)
{
	const char *folder = argc > 1 ? argv[1] : GOLDEN_FOLDER;
	char	   *filters = ReadGolden(folder, "filters.tsv");
	char	   *hashes = ReadGolden(folder, "hashes.tsv");
	char	   *filter_lines = filters;
	char	   *hash_lines = hashes;
	char	   *line;

	/* The names of the columns */
	Require(NextPart(&filter_lines, '\n') != NULL && NextPart(&hash_lines, '\n') != NULL);
	while ((line = NextPart(&filter_lines, '\n')) != NULL)
	{
		char	   *hash_line = NextPart(&hash_lines, '\n');
		const char *name = NextPart(&line, '\t');
		const char *base64 = line;

		/* The last of the columns */
		while (line != NULL)
			base64 = NextPart(&line, '\t');
		if (hash_line == NULL || strcmp(NextPart(&hash_line, '\t'), name) != 0)
		{
			Result(false, name, "has no line in its place in hashes.tsv: make that anew");
			break;
		}
		CheckFilter(name, base64, hash_line);
	}
	Result(failed > 0 || NextPart(&hash_lines, '\n') == NULL, "hashes.tsv", "has more lines than filters.tsv");

	printf("%d passed, %d failed\n", passed, failed);
	free(hashes);
	free(filters);
	return failed > 0;
}
