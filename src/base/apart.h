/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apart.h - memory laid out by cache line. A member that one processor writes
 * while others read its neighbours begins a cache line of its own, because
 * processors exchange whole lines.
 */
#ifndef GK_BASE_APART_H
#define GK_BASE_APART_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define GK_APART_SIZE 64

/* Put before a struct member: aligns it to a cache line. */
#define GK_APART _Alignas(GK_APART_SIZE)

/*
 * calloc() for structs with GK_APART members; NULL: out of memory. Free the
 * result with free().
 */
static inline void *gk_apart_calloc(size_t count, size_t size)
{
	void *p = count <= SIZE_MAX / size
		      ? aligned_alloc(GK_APART_SIZE, count * size)
		      : NULL;

	return p ? memset(p, 0, count * size) : NULL;
}

#endif
