/* graph_memory.h - memory of graphs, as those see it who free memory. */
#ifndef GKF_CUDA_GRAPH_MEMORY_H
#define GKF_CUDA_GRAPH_MEMORY_H

#include "fronts/cuda/front.h"

/*
 * Frees what a graph has allocated: its bytes stay with the graph. `after`: in
 * the order of a stream. False: it is no memory of a graph's. Without the lock
 * of graphs.
 */
bool graph_memory_free(CUdeviceptr at, struct gkf_ticket after,
		       CUresult *ret_result);

#endif
