/*
 * context.h - contexts come and go; created ones and primary ones alike.
 */
#ifndef GKF_CUDA_CONTEXT_H
#define GKF_CUDA_CONTEXT_H

#include "fronts/cuda/front.h"

/* May cuCtxCreate be given these flags? */
bool ctx_flags_ok(unsigned flags);

/*
 * A new context that lives, current nowhere. The machine is told that this
 * process computes there, and what the context costs.
 */
CUresult ctx_new(struct cuda_device *d, unsigned flags, CUcontext *ret_ctx);

/*
 * The same in an object that did not live: a primary context. One thread at a
 * time.
 */
CUresult ctx_begin(CUcontext ctx, struct cuda_device *d, unsigned flags);

/*
 * Ends a context: waits for its work, and takes all that it has. False:
 * somebody else has ended it. The handle is the caller's to free.
 */
bool ctx_end(CUcontext ctx);

/*
 * The process stays on a device, whose memory can be used, whether or not it
 * has contexts there: for memory that belongs to none. Errors as of ctx_new().
 */
CUresult device_hold(struct cuda_device *d);
void device_let_go(struct cuda_device *d);

/* Gives it a number for cuCtxGetId that was never used. */
void ctx_number(CUcontext ctx);

/* Hold and let go of the primary context, as programs do. */
CUresult ctx_retain_primary(CUdevice device, CUcontext *ret_ctx);
CUresult ctx_release_primary(CUdevice device);

/* Sets the limits of a new context, before cuCtxSetLimit. */
void ctx_limits_init(CUcontext ctx);

#endif
