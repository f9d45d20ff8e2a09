/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own.h - memory private to this process: a forked child finds it zeroed,
 * because its parent's GPU memory is not its own.
 */
#ifndef GKL_PRELOAD_OWN_H
#define GKL_PRELOAD_OWN_H

#include <stddef.h>

/*
 * Returns whole zeroed pages; NULL: out of memory. Locks in them are unlocked,
 * in a child too. Never freed.
 */
void *own_map(size_t bytes);

#endif
