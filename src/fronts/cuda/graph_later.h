/* graph_later.h - what is done when something else is over; graph_object.c. */
#ifndef GKF_CUDA_GRAPH_LATER_H
#define GKF_CUDA_GRAPH_LATER_H

#include "device/queue.h"

/*
 * Calls a function on an executor thread once a ticket is done, in the order
 * of these calls. With the lock of graphs.
 */
void later_call(struct gkf_ticket after, void (*function)(void *data),
		void *data);

#endif
