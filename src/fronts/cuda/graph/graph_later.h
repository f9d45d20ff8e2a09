/* SPDX-License-Identifier: Apache-2.0 */
/* graph_later.h - calls a function when a ticket is done (graph_object.c). */
#ifndef GKF_CUDA_GRAPH_LATER_H
#define GKF_CUDA_GRAPH_LATER_H

#include "device/queue.h"

/*
 * Calls function(data) on an executor thread once the ticket is done. The calls
 * run in the order in which they were requested. The caller holds graph_mutex.
 */
void graph_later_call(struct gkf_ticket after, void (*function)(void *data),
		      void *data);

#endif
