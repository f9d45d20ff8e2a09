/* capture_private.h - what the files of captures share; capture.h. */
#ifndef GKF_CUDA_CAPTURE_PRIVATE_H
#define GKF_CUDA_CAPTURE_PRIVATE_H

#include "fronts/cuda/capture.h"

extern struct capture *captures; /* all that are open */

/* Adds nodes that are not in the list yet; data may be NULL. */
CUresult deps_add(struct capture_deps *deps, const CUgraphNode *node,
		  const CUgraphEdgeData *data, size_t count);

/* A stream is in the capture from now on, and depends on nothing of it. */
void capture_enter(struct capture *c, CUstream s);

/* Its streams are free again, and it is no more; the graph stays. */
void capture_end(struct capture *c);

/* It is invalid from now on: answers why, or that it was before. */
CUresult capture_invalidate(struct capture *c, CUresult why);

/* The calling thread: a number, and what it is prohibited. */
uint64_t capture_thread(void);
CUstreamCaptureMode *capture_mode(void);

#endif
