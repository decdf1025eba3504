/*-------------------------------------------------------------------------
 *
 * model_test.c
 *	  Random operations on filters, compared with an exact model of their
 *	  content: see model.h.
 *
 * The environment variables CUCKOO_MODEL_OPERATIONS and CUCKOO_MODEL_SEED set
 * the number of operations, by default ten million, and the seed.  A sanitized
 * build runs a tenth of that.
 *
 *-------------------------------------------------------------------------
 */
#include "model.h"

#if defined(__SANITIZE_ADDRESS__)
#define OPERATIONS	UINT64_C(1000000)
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define OPERATIONS	UINT64_C(1000000)
#endif
#endif
#ifndef OPERATIONS
#define OPERATIONS	UINT64_C(10000000)
#endif

TEST(filters_hold_what_their_models_hold_whatever_is_done_to_them)
{
	const char *wanted = getenv("CUCKOO_MODEL_OPERATIONS");
	const char *seed = getenv("CUCKOO_MODEL_SEED");
	uint64_t	most = wanted == NULL ? OPERATIONS : strtoull(wanted, NULL, 10);
	uint64_t	lives = 0;

	if (seed != NULL)
		random_state = strtoull(seed, NULL, 10);
	for (; operations < most; lives++)
	{
		Live(UINT32_MAX);
		FreeAll();
	}
	printf("%llu operations on %llu filters\n", (unsigned long long) operations,
		   (unsigned long long) lives);
}
