/*
 * uncancelled.h - for stretches that hold a lock and open or read files: a
 * thread that is cancelled there would never give it back.
 */
#ifndef GKL_UNCANCELLED_H
#define GKL_UNCANCELLED_H

#include <pthread.h>

/* What end() is to be told. */
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
