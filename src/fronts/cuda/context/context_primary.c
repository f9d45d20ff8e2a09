/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context_primary.c - owns the primary context of each device. All callers that
 * retain it share it, and it is alive until the last one releases it. When it
 * is created again, it has the same handle.
 */
#include "base/assert.h"
#include "fronts/cuda/context/context.h"

#include <pthread.h>

/*
 * Returns the object of the primary context, alive or not; NULL: out of memory.
 * The caller holds d->lock.
 */
static CUcontext object_of(struct cuda_device *d)
{
	CUcontext ctx = d->primary;

	GK_ASSERT(gk_lock_held(&d->lock));
	if (!ctx) {
		ctx = handle_new(HANDLE_CONTEXT, sizeof(*ctx));
		if (ctx)
			ctx->primary = true;
		d->primary = ctx;
	}
	return ctx;
}

static bool is_active(const struct cuda_device *d)
{
	return d->primary && atomic_load(&d->primary->alive);
}

static CUresult retain_primary(struct cuda_device *d, CUcontext *ret_ctx)
{
	CUcontext ctx = object_of(d);
	CUresult r = CUDA_SUCCESS;

	if (!ctx)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (!is_active(d))
		r = ctx_begin(ctx, d, atomic_load(&d->primary_flags));
	if (r)
		return r;
	d->primary_retained++;
	*ret_ctx = ctx;
	return CUDA_SUCCESS;
}

CUresult ctx_retain_primary(CUdevice device, CUcontext *ret_ctx)
{
	struct cuda_device *d = front_device(device);
	CUresult r;

	if (!d)
		return CUDA_ERROR_INVALID_DEVICE;
	pthread_mutex_lock(&d->lock);
	r = retain_primary(d, ret_ctx);
	pthread_mutex_unlock(&d->lock);
	return r;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev)
{
	ENTER(cuDevicePrimaryCtxRetain);
	return pctx ? ctx_retain_primary(dev, pctx) : CUDA_ERROR_INVALID_VALUE;
}

/*
 * The last release ends the context. It stays on the context stacks of threads.
 */
CUresult ctx_release_primary(CUdevice dev)
{
	struct cuda_device *d = front_device(dev);
	CUresult r = CUDA_SUCCESS;

	if (!d)
		return CUDA_ERROR_INVALID_DEVICE;
	pthread_mutex_lock(&d->lock);
	if (!d->primary_retained)
		r = CUDA_ERROR_INVALID_CONTEXT;
	else if (!--d->primary_retained)
		ctx_end(d->primary);
	pthread_mutex_unlock(&d->lock);
	return r;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice dev)
{
	ENTER(cuDevicePrimaryCtxRelease);
	return ctx_release_primary(dev);
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev)
{
	ENTER(cuDevicePrimaryCtxRelease_v2);
	return ctx_release_primary(dev);
}

/*
 * Ends the context although it is retained; its users still have to release it.
 */
static CUresult reset_primary(CUdevice dev)
{
	struct cuda_device *d = front_device(dev);

	if (!d)
		return CUDA_ERROR_INVALID_DEVICE;
	pthread_mutex_lock(&d->lock);
	if (d->primary)
		ctx_end(d->primary);
	pthread_mutex_unlock(&d->lock);
	return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxReset(CUdevice dev)
{
	ENTER(cuDevicePrimaryCtxReset);
	return reset_primary(dev);
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice dev)
{
	ENTER(cuDevicePrimaryCtxReset_v2);
	return reset_primary(dev);
}

/* Before CUDA 11, flags could not be changed while the context was active. */
static CUresult set_primary_flags(CUdevice dev, unsigned flags,
				  bool while_active)
{
	struct cuda_device *d = front_device(dev);
	CUresult r = CUDA_SUCCESS;

	if (!d)
		return CUDA_ERROR_INVALID_DEVICE;
	if (!ctx_flags_ok(flags))
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&d->lock);
	if (is_active(d) && !while_active)
		r = CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE;
	if (!r)
		atomic_store(&d->primary_flags, flags);
	if (!r && is_active(d))
		atomic_store(&d->primary->flags, flags);
	pthread_mutex_unlock(&d->lock);
	return r;
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice dev, unsigned int flags)
{
	ENTER(cuDevicePrimaryCtxSetFlags);
	return set_primary_flags(dev, flags, false);
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned int flags)
{
	ENTER(cuDevicePrimaryCtxSetFlags_v2);
	return set_primary_flags(dev, flags, true);
}

CUresult cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int *flags,
				    int *active)
{
	struct cuda_device *d;

	ENTER(cuDevicePrimaryCtxGetState);
	d = front_device(dev);
	if (!flags || !active)
		return CUDA_ERROR_INVALID_VALUE;
	if (!d)
		return CUDA_ERROR_INVALID_DEVICE;
	pthread_mutex_lock(&d->lock);
	*flags = atomic_load(&d->primary_flags);
	*active = is_active(d);
	pthread_mutex_unlock(&d->lock);
	return CUDA_SUCCESS;
}
