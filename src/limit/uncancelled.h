/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uncancelled.h - for code that holds a lock and opens or reads files: a thread
 * cancelled there would never release the lock.
 */
#ifndef GKL_UNCANCELLED_H
#define GKL_UNCANCELLED_H

#include <pthread.h>

/* Returns the argument for gkl_uncancelled_end(). */
static inline int gkl_uncancelled_begin(void)
{
	int before = PTHREAD_CANCEL_ENABLE;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	return before;
}

static inline void gkl_uncancelled_end(int before)
{
	pthread_setcancelstate(before, NULL);
}

#endif
