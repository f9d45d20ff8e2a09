/* SPDX-License-Identifier: Apache-2.0 */
/* capture_deps.h - the nodes that a captured stream's next node depends on. */
#ifndef GKF_CUDA_CAPTURE_DEPS_H
#define GKF_CUDA_CAPTURE_DEPS_H

#include "abi/cuda/cuda_abi.h"

struct capture;

/*
 * The nodes, and for each the data of its edge. Programs receive pointers to
 * both arrays.
 */
struct capture_deps {
	CUgraphNode *node;
	CUgraphEdgeData *data;
	unsigned count, room;
};

/*
 * The position of an event in a capture; `id` is 0 if the event was not
 * recorded in a capture.
 */
struct capture_point {
	_Atomic uint64_t id;
	struct capture_deps deps;
};

/* Frees the lists. */
void capture_deps_free(struct capture_deps *deps);

#endif
