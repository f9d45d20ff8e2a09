/*
 * own.h - memory of this process alone: a forked child finds it zeroed, as its
 * parent's GPU memory is none of its.
 */
#ifndef GKL_PRELOAD_OWN_H
#define GKL_PRELOAD_OWN_H

#include <stddef.h>

/*
 * Zeroed whole pages; NULL: there is no memory. Locks in it are born unlocked,
 * in a child too. Never given back.
 */
void *own_map(size_t bytes);

#endif
