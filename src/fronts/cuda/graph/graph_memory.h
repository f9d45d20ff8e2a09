/* SPDX-License-Identifier: Apache-2.0 */
/* graph_memory.h - frees memory of graphs for calls such as cuMemFree(). */
#ifndef GKF_CUDA_GRAPH_MEMORY_H
#define GKF_CUDA_GRAPH_MEMORY_H

#include "fronts/cuda/context/front.h"

/*
 * Marks memory of a graph as free when the ticket `after` is done; the graph
 * keeps the memory for its next launch. Returns false if the address is not
 * memory of a graph. Takes graph_mutex.
 */
bool graph_memory_free(CUdeviceptr at, struct gkf_ticket after,
		       CUresult *ret_result);

#endif
