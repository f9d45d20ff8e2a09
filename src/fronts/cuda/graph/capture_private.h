/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture_private.h - shared by the files that implement captures; see
 * capture.h.
 */
#ifndef GKF_CUDA_CAPTURE_PRIVATE_H
#define GKF_CUDA_CAPTURE_PRIVATE_H

#include "fronts/cuda/graph/capture.h"

extern struct capture *captures; /* the list of open captures */

/* ---- the caller holds graph_mutex ---- */

/* Adds to a list the nodes that it does not contain yet; data may be NULL. */
CUresult capture_deps_add(struct capture_deps *deps, const CUgraphNode *node,
			  const CUgraphEdgeData *data, size_t count);

/* Adds a stream, without dependencies, to a capture. */
void capture_enter(struct capture *c, CUstream s);

/* Releases a capture's streams and frees the capture, but not its graph. */
void capture_end(struct capture *c);

/*
 * Makes a capture invalid and returns `why`; if it was invalid already, returns
 * CUDA_ERROR_STREAM_CAPTURE_INVALIDATED.
 */
CUresult capture_invalidate(struct capture *c, CUresult why);

/* ---- threads ---- */

/*
 * Return the calling thread's number and its capture mode. The mode says which
 * calls are prohibited during captures.
 */
uint64_t capture_thread(void);
CUstreamCaptureMode *capture_mode(void);

#endif
