/*-------------------------------------------------------------------------
 *
 * bucket.c
 *	  A dense bucket; see bucket.h.
 *
 *-------------------------------------------------------------------------
 */
#include "bucket.h"

uint16_t	CuckooMultisets[4096];

void
CuckooInitMultisets(void)
{
	uint32_t	rank = 0;

	for (uint32_t d = 0; d < 16; d++)
		for (uint32_t c = 0; c <= d; c++)
			for (uint32_t b = 0; b <= c; b++)
				for (uint32_t a = 0; a <= b; a++)
					CuckooMultisets[rank++] = (uint16_t) (a | b << 4 | c << 8 | d << 12);
}
