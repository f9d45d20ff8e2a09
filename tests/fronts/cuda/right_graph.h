/* right_graph.h - right arguments for functions of graphs; see right.h. */
#ifndef TESTS_CUDA_RIGHT_GRAPH_H
#define TESTS_CUDA_RIGHT_GRAPH_H

#include "abi/cuda_abi.h"
#include "fronts/cuda/right.h"

/* Of those that there are; all of one context. */
void right_graph_make(void *library, CUcontext in, CUstream s, CUevent e,
		      CUfunction f, CUdeviceptr at);

void right_graph_before(const char *symbol);

/* False: it is no argument of theirs. */
bool right_graph_value(const char *symbol, const struct arg *a,
		       uint64_t *ret_value);
bool right_graph_fill(const struct arg *a, void *at);

#endif
