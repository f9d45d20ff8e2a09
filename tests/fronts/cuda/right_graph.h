/* SPDX-License-Identifier: Apache-2.0 */
/* right_graph.h - correct arguments for functions of graphs; see right.h. */
#ifndef TESTS_CUDA_RIGHT_GRAPH_H
#define TESTS_CUDA_RIGHT_GRAPH_H

#include "abi/cuda/cuda_abi.h"
#include "fronts/cuda/right.h"

/* Makes them from existing objects, all of one context. */
void right_graph_make(void *library, CUcontext in, CUstream s, CUevent e,
		      CUfunction f, CUdeviceptr at);

void right_graph_before(const char *symbol);

/* False: it is not an argument of these functions. */
bool right_graph_value(const char *symbol, const struct arg *a,
		       uint64_t *ret_value);
bool right_graph_fill(const struct arg *a, void *at);

#endif
