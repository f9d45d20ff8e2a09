/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context.c - creates and ends contexts: their memory, streams and modules, and
 * the memory that the machine file charges to this process's slot.
 */
#include "fronts/cuda/context/context.h"
#include "base/assert.h"
#include "base/err.h"
#include "device/space.h"
#include "fronts/cuda/context/green.h"
#include "fronts/cuda/stream/stream.h"
#include "machine/file/numbers.h"
#include "machine/store/process/books.h"
#include "machine/store/gate.h"
#include "machine/store/process/ledger.h"

#include <pthread.h>

/* Guards which devices are attached, and how many contexts they have. */
static pthread_mutex_t joining = PTHREAD_MUTEX_INITIALIZER;

static const struct cuda_part_row *const parts[PART_COUNT] = {
    [PART_MEMORY] = &memory_part,
    [PART_STREAM] = &stream_part,
    [PART_MODULE] = &module_part,
};

bool ctx_flags_ok(unsigned flags)
{
	switch (flags & CU_CTX_SCHED_MASK) {
	case CU_CTX_SCHED_AUTO:
	case CU_CTX_SCHED_SPIN:
	case CU_CTX_SCHED_YIELD:
	case CU_CTX_SCHED_BLOCKING_SYNC:
		return !(flags & ~(unsigned)CU_CTX_FLAGS_MASK);
	default:
		return false;
	}
}

/*
 * The driver returns the same error if the compute mode forbids the context, if
 * the GPU is draining and if its MIG device was removed.
 */
static CUresult attach_error(int error)
{
	switch (error) {
	case GK_ERR_PERMISSION:
	case GK_ERR_IN_USE:
	case GK_ERR_NOT_FOUND:
	case GK_ERR_NOT_SUPPORTED:
		return CUDA_ERROR_DEVICE_UNAVAILABLE;
	default:
		return front_error(error);
	}
}

static bool is_used(const struct cuda_device *d)
{
	return d->contexts || d->held;
}

/*
 * Gives up this process's slot in the machine file for a device on which it has
 * no contexts. Returns 0 or an error.
 */
static int detach_device(struct cuda_device *d)
{
	int error = gkf_detach(cuda.machine, d->slot);

	if (error && error != GK_ERR_NOT_FOUND)
		return error;
	d->attached = false;
	return 0;
}

/*
 * Tries again to detach devices that could not be detached because a stopped
 * process held the locks.
 */
static void detach_idle(void)
{
	for (unsigned i = 0; i < cuda.device_count; i++)
		if (cuda.device[i].attached && !is_used(&cuda.device[i]))
			detach_device(&cuda.device[i]);
}

static int attach_process(struct cuda_device *d)
{
	unsigned slot;
	int error = d->attached ? detach_device(d) : 0;

	if (!error)
		error = gkf_books_attach(cuda.machine, d->index, d->instance,
					 &slot);
	if (error)
		return error;
	d->slot = slot;
	d->attached = true;
	return 0;
}

/*
 * Charges for one more context; for the first one, attaches the process to the
 * device.
 */
static CUresult join_locked(struct cuda_device *d)
{
	int error = is_used(d) ? 0 : attach_process(d);
	uint64_t cost;

	if (error)
		return attach_error(error);
	cost = gkf_books_context(cuda.machine, d->index, d->contexts);
	error = gkf_books_charge(cuda.machine, d->slot, cost);
	if (!error) {
		error = gkf_space_open(cuda.machine, d->index, d->slot);
		if (error && is_used(d))
			gkf_space_repay(d->index, cost);
	}
	if (!error)
		d->contexts++;
	detach_idle();
	return error ? front_error(error) : CUDA_SUCCESS;
}

static CUresult join_device(struct cuda_device *d)
{
	CUresult r;

	gkf_space_prepare();
	gkf_gate_look(cuda.machine, cuda.gate);
	if (device_is_gone(d))
		return CUDA_ERROR_DEVICE_UNAVAILABLE;
	pthread_mutex_lock(&joining);
	r = join_locked(d);
	pthread_mutex_unlock(&joining);
	if (r)
		front_log(GK_LOG_WARN, "no context on GPU %u: CUDA error %d",
			  d->index, (int)r);
	return r;
}

static void quit_device(struct cuda_device *d)
{
	pthread_mutex_lock(&joining);
	gkf_space_close(d->index);
	d->contexts--;
	if (is_used(d))
		gkf_space_repay(
		    d->index,
		    gkf_books_context(cuda.machine, d->index, d->contexts));
	detach_idle();
	pthread_mutex_unlock(&joining);
}

CUresult device_hold(struct cuda_device *d)
{
	int error;

	gkf_gate_look(cuda.machine, cuda.gate);
	if (device_is_gone(d))
		return CUDA_ERROR_DEVICE_UNAVAILABLE;
	pthread_mutex_lock(&joining);
	error = is_used(d) ? 0 : attach_process(d);
	if (!error)
		error = gkf_space_open(cuda.machine, d->index, d->slot);
	if (!error)
		d->held++;
	detach_idle();
	pthread_mutex_unlock(&joining);
	return error ? attach_error(error) : CUDA_SUCCESS;
}

void device_let_go(struct cuda_device *d)
{
	pthread_mutex_lock(&joining);
	GK_ASSERT(d->held > 0);
	gkf_space_close(d->index);
	d->held--;
	detach_idle();
	pthread_mutex_unlock(&joining);
}

static void close_parts(CUcontext ctx, unsigned opened)
{
	while (opened--)
		if (parts[opened]->close)
			parts[opened]->close(ctx);
}

static CUresult open_parts(CUcontext ctx)
{
	CUresult r = CUDA_SUCCESS;
	unsigned i;

	for (i = 0; i < PART_COUNT; i++) {
		ctx->part[i] = NULL;
		r = parts[i]->open ? parts[i]->open(ctx) : CUDA_SUCCESS;
		if (r)
			break;
	}
	if (r)
		close_parts(ctx, i);
	return r;
}

void ctx_number(CUcontext ctx)
{
	static _Atomic uint64_t last_id;

	atomic_store(&ctx->id, atomic_fetch_add(&last_id, 1) + 1);
}

CUresult ctx_begin(CUcontext ctx, struct cuda_device *d, unsigned flags)
{
	CUresult r = (CUresult)atomic_load(&d->failed);

	GK_ASSERT(!atomic_load(&ctx->alive));
	/*
	 * Reads the device's failure counter before checking the device, so
	 * that a later failure is noticed.
	 */
	ctx->strike = cuda.gate->device[d->index].strike;
	ctx->strike_seen = atomic_load(ctx->strike);
	if (!r)
		r = join_device(d);
	if (r)
		return r;
	ctx->device = d;
	ctx->base = ctx;
	ctx->api = 3020;
	ctx_number(ctx);
	atomic_store(&ctx->sticky, CUDA_SUCCESS);
	atomic_store(&ctx->flags, flags);
	atomic_store(&ctx->attached, 1);
	atomic_store(&ctx->cache_config, CU_FUNC_CACHE_PREFER_NONE);
	ctx_limits_init(ctx);
	for (unsigned i = 0; i < GKF_DEVICES_MAX; i++)
		atomic_store(&ctx->peer[i].ctx, NULL);
	r = open_parts(ctx);
	if (r)
		quit_device(d);
	else
		atomic_store(&ctx->alive, true);
	return r;
}

CUresult ctx_new(struct cuda_device *d, unsigned flags, CUcontext *ret_ctx)
{
	CUcontext ctx = handle_new(HANDLE_CONTEXT, sizeof(*ctx));
	CUresult r;

	if (!ctx)
		return CUDA_ERROR_OUT_OF_MEMORY;
	r = ctx_begin(ctx, d, flags);
	if (r)
		handle_free(ctx);
	else
		*ret_ctx = ctx;
	return r;
}

/*
 * Waits for the work of the context first, because that work may use anything
 * that is freed here.
 */
bool ctx_end(CUcontext ctx)
{
	if (!atomic_exchange(&ctx->alive, false))
		return false;
	green_end_all(ctx);
	stream_drain(ctx);
	close_parts(ctx, PART_COUNT);
	quit_device(ctx->device);
	return true;
}
