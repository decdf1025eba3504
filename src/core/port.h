/*-------------------------------------------------------------------------
 *
 * port.h
 *	  What the core needs of its surroundings: memory, interrupts, compilers,
 *	  and numbers in a filter's bytes.
 *
 * The core uses palloc, pfree, palloc_extended for more than 1 GB,
 * CHECK_FOR_INTERRUPTS and VARHDRSZ, and nothing else of PostgreSQL.  A program
 * that defines CUCKOO_STANDALONE, as the unit tests do, provides palloc, pfree and
 * CheckForInterrupts.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_PORT_H
#define CUCKOO_PORT_H

#ifndef CUCKOO_STANDALONE
#include "postgres.h"

#include "miscadmin.h"
#else
#include <stddef.h>

#define VARHDRSZ	4			/* room to leave before a filter's bytes */

extern void *palloc(size_t bytes);
extern void pfree(void *memory);
extern void CheckForInterrupts(void);
#define CHECK_FOR_INTERRUPTS()			CheckForInterrupts()
#define palloc_extended(bytes, flags)	palloc(bytes)
#endif

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/*
 * The core uses extensions of C11 only under one of two macros: CUCKOO_GNU, for
 * gcc and clang, and CUCKOO_INT128.  Without them, plain C11 gives the same
 * results.  Tests define CUCKOO_PORTABLE, which turns both off.
 */
#if defined(__GNUC__) && !defined(CUCKOO_PORTABLE)
#define CUCKOO_GNU
#endif

#if defined(__SIZEOF_INT128__) && !defined(CUCKOO_PORTABLE)
#define CUCKOO_INT128
#endif

/*
 * For functions of inner loops, which must be inlined into their callers; and
 * to begin to load memory that will be read soon.
 */
#ifdef CUCKOO_GNU
#define CUCKOO_INLINE static inline __attribute__((always_inline))
#define CUCKOO_PREFETCH(address) __builtin_prefetch(address)
#else
#define CUCKOO_INLINE static inline
#define CUCKOO_PREFETCH(address) ((void) (address))
#endif

static inline uint32_t
CuckooLoad16(const uint8_t *p)
{
	return (uint32_t) p[0] | (uint32_t) p[1] << 8;
}

static inline uint32_t
CuckooLoad32(const uint8_t *p)
{
	return (uint32_t) p[0] | (uint32_t) p[1] << 8 | (uint32_t) p[2] << 16 | (uint32_t) p[3] << 24;
}

static inline uint64_t
CuckooLoad64(const uint8_t *p)
{
	return CuckooLoad32(p) | (uint64_t) CuckooLoad32(p + 4) << 32;
}

/* A double by its IEEE 754 bits. */
static inline double
CuckooLoadDouble(const uint8_t *p)
{
	uint64_t	bits = CuckooLoad64(p);
	double		value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static inline void
CuckooStore16(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t) v;
	p[1] = (uint8_t) (v >> 8);
}

static inline void
CuckooStore32(uint8_t *p, uint32_t v)
{
	CuckooStore16(p, v);
	CuckooStore16(p + 2, v >> 16);
}

static inline void
CuckooStore64(uint8_t *p, uint64_t v)
{
#if defined(CUCKOO_GNU) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	/* gcc does not always see that the bytes below are one word. */
	memcpy(p, &v, sizeof(v));
#else
	CuckooStore32(p, (uint32_t) v);
	CuckooStore32(p + 4, (uint32_t) (v >> 32));
#endif
}

static inline void
CuckooStoreDouble(uint8_t *p, double value)
{
	uint64_t	bits;

	memcpy(&bits, &value, sizeof(bits));
	CuckooStore64(p, bits);
}

/* Position of the lowest bit that is set.  The word must not be 0. */
static inline int
CuckooLowestBit(uint64_t word)
{
#ifdef CUCKOO_GNU
	return __builtin_ctzll(word);
#else
	int			position = 0;

	while ((word >> position & 1) == 0)
		position++;
	return position;
#endif
}

/*
 * Allocate memory for count elements of a size, also more than 1 GB.  If the
 * total exceeds SIZE_MAX, ask for SIZE_MAX, which is refused.
 */
static inline void *
CuckooAllocate(uint64_t count, size_t size)
{
	return palloc_extended(count > SIZE_MAX / size ? SIZE_MAX : (size_t) count * size,
						   MCXT_ALLOC_HUGE);
}

/* Loops over numbers check for interrupts whenever this many have passed. */
#define CUCKOO_INTERRUPT_STEP	65536

static inline void
CuckooCheckInterruptsAt(uint64_t i)
{
	if (i % CUCKOO_INTERRUPT_STEP == 0)
		CHECK_FOR_INTERRUPTS();
}

/* Copying so many bytes takes a few milliseconds. */
#define CUCKOO_INTERRUPT_BYTES	((size_t) 16 * 1024 * 1024)

static inline void
CuckooCopy(void *target, const void *source, size_t bytes)
{
	for (size_t done = 0; done < bytes; done += CUCKOO_INTERRUPT_BYTES)
	{
		size_t		left = bytes - done;

		CHECK_FOR_INTERRUPTS();
		memcpy((uint8_t *) target + done, (const uint8_t *) source + done,
			   left < CUCKOO_INTERRUPT_BYTES ? left : CUCKOO_INTERRUPT_BYTES);
	}
}

#endif							/* CUCKOO_PORT_H */
