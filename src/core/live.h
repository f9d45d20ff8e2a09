/*
 * live.h - one device asked at once, by whoever wants to know, without the
 * worker of its GPU.
 */
#ifndef GK_CORE_LIVE_H
#define GK_CORE_LIVE_H

#include "core/device.h"

#include <pthread.h>
#include <stdatomic.h>

/* What asking a GPU needs to remember. Zeroed: nothing yet. */
struct gk_live {
	_Atomic(nvmlDevice_t) handle; /* NULL: to be opened */
	pthread_mutex_t lock;         /* of what lists of processes need */
	bool made;                    /* gpu was initialised */
	struct gk_gpu gpu;
};

/* Those of count GPUs; NULL: no memory. NULL may be freed. */
struct gk_live *gk_live_new(unsigned count);
void gk_live_free(struct gk_live *live, unsigned count);

#endif
