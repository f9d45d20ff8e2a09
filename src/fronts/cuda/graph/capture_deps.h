/* capture_deps.h - nodes that the next one of a captured stream depends on. */
#ifndef GKF_CUDA_CAPTURE_DEPS_H
#define GKF_CUDA_CAPTURE_DEPS_H

#include "abi/cuda_abi.h"

struct capture;

/* Two lists of one length, as programs are shown them. */
struct capture_deps {
	CUgraphNode *node;
	CUgraphEdgeData *data;
	unsigned count, room;
};

/* An event that was recorded in a capture; id 0: it was not. */
struct capture_point {
	_Atomic uint64_t id;
	struct capture_deps deps;
};

/* Lets go of the memory. */
void capture_deps_free(struct capture_deps *deps);

#endif
