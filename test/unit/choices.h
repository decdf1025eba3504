/*-------------------------------------------------------------------------
 *
 * choices.h
 *	  What the models do is decided by chance, or by a fuzzer.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_TEST_CHOICES_H
#define CUCKOO_TEST_CHOICES_H

#include "support.h"

/* Chance decides what is done, or a fuzzer, until its bytes are used up. */
static uint64_t random_state = 1;
static const uint8_t *choices;
static size_t choices_left;

static uint32_t
Below(uint32_t bound)
{
	uint32_t	number = 0;

	if (choices == NULL)
		return RandomBelow(&random_state, bound);
	for (uint32_t most = bound - 1; most > 0 && choices_left > 0; most >>= 8)
	{
		number = number << 8 | *choices++;
		choices_left--;
	}
	return number % bound;
}

#endif							/* CUCKOO_TEST_CHOICES_H */
