/* SPDX-License-Identifier: Apache-2.0 */
/* context.h - creates and ends contexts, both ordinary and primary ones. */
#ifndef GKF_CUDA_CONTEXT_H
#define GKF_CUDA_CONTEXT_H

#include "fronts/cuda/context/front.h"

/* Whether cuCtxCreate() accepts these flags. */
bool ctx_flags_ok(unsigned flags);

/*
 * Creates a context that is alive but current in no thread. In the machine
 * file, attaches the process to the device and charges it for the context's
 * memory.
 */
CUresult ctx_new(struct cuda_device *d, unsigned flags, CUcontext *ret_ctx);

/*
 * Like ctx_new(), for an existing context object that is not alive: the primary
 * context of a device. Two threads must not call it at the same time for the
 * same device.
 */
CUresult ctx_begin(CUcontext ctx, struct cuda_device *d, unsigned flags);

/*
 * Ends a context: waits for its work and frees everything in it. The caller
 * frees the handle. Returns false if the context has ended already.
 */
bool ctx_end(CUcontext ctx);

/*
 * device_hold() keeps the process attached to a device even without contexts,
 * for memory that belongs to no context; it fails with the same errors as
 * ctx_new(). device_let_go() undoes it.
 */
CUresult device_hold(struct cuda_device *d);
void device_let_go(struct cuda_device *d);

/* Gives a context a new id, for cuCtxGetId(). Ids are never reused. */
void ctx_number(CUcontext ctx);

/*
 * Retain and release the primary context of a device, like
 * cuDevicePrimaryCtxRetain() and cuDevicePrimaryCtxRelease().
 */
CUresult ctx_retain_primary(CUdevice device, CUcontext *ret_ctx);
CUresult ctx_release_primary(CUdevice device);

/* Sets the limits of a new context to their defaults. */
void ctx_limits_init(CUcontext ctx);

#endif
