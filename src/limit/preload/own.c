/* SPDX-License-Identifier: Apache-2.0 */
/* own.c - maps memory that is zero in a forked child. */
#include "limit/preload/own.h"

#include <sys/mman.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

/*
 * Kernels before 4.14 lack MADV_WIPEONFORK, so a child keeps a copy of its
 * parent's data. If the child then frees memory that only its parent has, the
 * driver refuses that, as it refuses all calls after fork().
 */
void *own_map(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	madvise(p, bytes, MADV_WIPEONFORK);
	return p;
}
