/* SPDX-License-Identifier: Apache-2.0 */
/* memory.h - functions on memory that older C libraries lack. */
#ifndef GK_BASE_MEMORY_H
#define GK_BASE_MEMORY_H

#include <stdlib.h>
#include <string.h>

/* realloc() for `count` elements of `size` bytes; NULL also on overflow. */
static inline void *gk_resize(void *old, size_t count, size_t size)
{
	size_t bytes;

	return __builtin_mul_overflow(count, size, &bytes)
		   ? NULL
		   : realloc(old, bytes);
}

/* Overwrites a secret, even if nobody reads the memory afterwards. */
static inline void gk_wipe(void *secret, size_t size)
{
	memset(secret, 0, size);
	__asm__ volatile("" : : "r"(secret) : "memory");
}

#endif
