/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hook_context.c - hooks of contexts: the memory that they take, and the memory
 * that ends with them. The size of a context is unknown before the first one
 * exists: until then each new context reserves more than any context takes. If
 * less than that is left, contexts are made one at a time.
 */
#include "limit/preload/memory/hook.h"
#include "base/clock.h"
#include "limit/preload/report/refusal.h"
#include "limit/preload/time/throttle.h"

#define PATIENCE_NS (10 * GK_NS_PER_S)

/* Contexts of current GPUs take 100 to 800 MiB. */
#define MOST_BYTES (1ULL << 30)

/* ---- beginning ---- */

static uint64_t known_size(int device)
{
	struct gkl_device told;

	if (!gkl_ledger_device(limited()->ledger, (unsigned)device, &told))
		return 0;
	return told.context_bytes;
}

/*
 * Whether contexts do not count as memory, so that they are made however little
 * is left. The policy at the first call decides.
 */
static bool latch_rule(struct memory_state *s)
{
	if (!atomic_exchange(&s->latched, true))
		atomic_store(&s->contexts_free,
			     limited_policy()->contexts_free != 0);
	return atomic_load(&s->contexts_free);
}

/*
 * True if the reservation is enough for any context, or if it is all that is
 * left and no other load has a reservation.
 */
static bool has_enough(const struct memory_call *call)
{
	return call->pending == MOST_BYTES || !limited_memory(call->device) ||
	       (call->pending &&
		gkl_ledger_pending(limited()->ledger, (unsigned)call->device,
				   GKL_LOADING) <= call->pending);
}

/*
 * Reserves memory for a context of unknown size. False: the size has become
 * known.
 */
static bool begin_unknown(struct memory_call *call, int device, CUresult *ret)
{
	uint64_t end = gk_mono_ns() + PATIENCE_NS;

	for (;;) {
		*ret =
		    memory_begin_load(call, device, GKL_CONTEXT, 0, MOST_BYTES);
		if (*ret)
			return true;
		if (known_size(device)) {
			memory_end(call, 0);
			return false;
		}
		if (has_enough(call) || gk_mono_ns() > end)
			return true;
		memory_end(call, 0);
		gk_sleep_until(gk_mono_ns() + GK_NS_PER_MS);
	}
}

static CUresult begin_context(struct memory_call *call, CUdevice ordinal)
{
	int device = limited_device(ordinal);
	struct memory_state *s = memory_state();
	uint64_t size;
	CUresult r;

	if (device < 0 || !s || latch_rule(s))
		return memory_begin(call, device, GKL_CONTEXT, 0);
	size = known_size(device);
	if (!size && begin_unknown(call, device, &r))
		return r;
	size = known_size(device);
	r = memory_begin_load(call, device, GKL_CONTEXT, size, size);
	if (r == CUDA_ERROR_OUT_OF_MEMORY)
		refusal_no_context(device, size);
	return r;
}

/* False: the context must be destroyed again. */
static bool end_context(struct memory_call *call, CUresult r)
{
	if (call->device < 0)
		return true;
	if (r) {
		memory_end(call, 0);
		return true;
	}
	if (memory_end_measured(call, known_size(call->device)))
		return true;
	refusal_no_context(call->device, known_size(call->device));
	return false;
}

/* ---- contexts that programs make ---- */

static void note_context(CUcontext ctx, int device)
{
	struct memory_state *s = memory_state();
	struct table_row row = {
	    .key = (uintptr_t)ctx, .device = (uint16_t)device, .word = 1};

	if (device >= 0 && table_put(&s->contexts, &row))
		atomic_fetch_add(&s->context_count, 1);
}

/* A context that takes the group above its limit is destroyed again. */
#define CREATE(symbol, params, values)                                         \
	CUresult symbol params                                                 \
	{                                                                      \
		struct memory_call call;                                       \
		CUresult r;                                                    \
                                                                               \
		if (MISSING(symbol))                                           \
			return CUDA_ERROR_NO_DEVICE;                           \
		r = begin_context(&call, dev);                                 \
		if (r)                                                         \
			return r;                                              \
		r = REAL(symbol) values;                                       \
		if (!r)                                                        \
			note_context(*pctx, call.device);                      \
		if (end_context(&call, r))                                     \
			return r;                                              \
		cuCtxDestroy_v2(*pctx);                                        \
		return CUDA_ERROR_OUT_OF_MEMORY;                               \
	}

CREATE(cuCtxCreate, (CUcontext * pctx, unsigned int flags, CUdevice dev),
       (pctx, flags, dev))
CREATE(cuCtxCreate_v2, (CUcontext * pctx, unsigned int flags, CUdevice dev),
       (pctx, flags, dev))
CREATE(cuCtxCreate_v3,
       (CUcontext * pctx, CUexecAffinityParam *paramsArray, int numParams,
	unsigned int flags, CUdevice dev),
       (pctx, paramsArray, numParams, flags, dev))
CREATE(cuCtxCreate_v4,
       (CUcontext * pctx, CUctxCreateParams *ctxCreateParams,
	unsigned int flags, CUdevice dev),
       (pctx, ctxCreateParams, flags, dev))

static CUresult destroy_context(CUcontext ctx, CUresult (*end)(CUcontext ctx))
{
	struct memory_state *s = limited() ? memory_state() : NULL;
	struct piece_list list;
	struct table_row row;
	CUresult r;

	throttle_forget(ctx);
	if (!s || !table_take(&s->contexts, (uintptr_t)ctx, &row))
		return end(ctx);
	piece_end_begin(&list, row.device, row.key);
	r = end(ctx);
	if (r)
		table_put(&s->contexts, &row);
	else
		atomic_fetch_sub(&s->context_count, 1);
	piece_end_done(&list, !r);
	return r;
}

CUresult cuCtxDestroy(CUcontext ctx)
{
	return MISSING(cuCtxDestroy) ? CUDA_ERROR_NO_DEVICE
				     : destroy_context(ctx, REAL(cuCtxDestroy));
}

CUresult cuCtxDestroy_v2(CUcontext ctx)
{
	return MISSING(cuCtxDestroy_v2)
		   ? CUDA_ERROR_NO_DEVICE
		   : destroy_context(ctx, REAL(cuCtxDestroy_v2));
}

/* Attached contexts count their users: the last detach destroys them. */
static bool change_users(CUcontext ctx, int change)
{
	struct memory_state *s = limited() ? memory_state() : NULL;
	struct table_row row;

	if (!s || !table_find(&s->contexts, (uintptr_t)ctx, &row))
		return false;
	row.word += (uint32_t)change;
	table_put(&s->contexts, &row);
	return !row.word;
}

CUresult cuCtxAttach(CUcontext *pctx, unsigned int flags)
{
	CUresult r;

	if (MISSING(cuCtxAttach))
		return CUDA_ERROR_NO_DEVICE;
	r = REAL(cuCtxAttach)(pctx, flags);
	if (!r)
		change_users(*pctx, 1);
	return r;
}

CUresult cuCtxDetach(CUcontext ctx)
{
	CUresult r;

	if (MISSING(cuCtxDetach))
		return CUDA_ERROR_NO_DEVICE;
	r = change_users(ctx, -1) ? destroy_context(ctx, REAL(cuCtxDetach))
				  : REAL(cuCtxDetach)(ctx);
	if (r)
		change_users(ctx, 1);
	return r;
}

/* ---- primary contexts, and green ones, which hold them ---- */

static bool is_active(CUdevice device)
{
	unsigned flags;
	int active;

	return !REAL(cuDevicePrimaryCtxGetState)(device, &flags, &active) &&
	       active;
}

/*
 * Primary contexts of a device begin and end one at a time, so that pieces of
 * an ended context are not mistaken for pieces of the next one. NULL: nothing
 * is limited.
 */
static struct memory_state *lock_primary(CUdevice ordinal)
{
	struct memory_state *s = limited() ? memory_state() : NULL;

	if (s)
		pthread_mutex_lock(&s->primary[(unsigned)ordinal % PRIMARIES]);
	return s;
}

static void unlock_primary(struct memory_state *s, CUdevice ordinal)
{
	if (s)
		pthread_mutex_unlock(
		    &s->primary[(unsigned)ordinal % PRIMARIES]);
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev)
{
	struct memory_state *s;
	struct memory_call call;
	CUresult r;

	if (MISSING(cuDevicePrimaryCtxRetain))
		return CUDA_ERROR_NO_DEVICE;
	s = lock_primary(dev);
	if (!limited_broken() && is_active(dev)) {
		r = REAL(cuDevicePrimaryCtxRetain)(pctx, dev);
		unlock_primary(s, dev);
		return r;
	}
	unlock_primary(s, dev);
	r = begin_context(&call, dev);
	if (r)
		return r;
	s = lock_primary(dev);
	r = REAL(cuDevicePrimaryCtxRetain)(pctx, dev);
	unlock_primary(s, dev);
	if (end_context(&call, r))
		return r;
	cuDevicePrimaryCtxRelease_v2(dev);
	return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuGreenCtxCreate(CUgreenCtx *phCtx, CUdevResourceDesc desc,
			  CUdevice dev, unsigned int flags)
{
	struct memory_state *s;
	struct memory_call call;
	CUresult r;

	if (MISSING(cuGreenCtxCreate))
		return CUDA_ERROR_NO_DEVICE;
	s = lock_primary(dev);
	if (!limited_broken() && is_active(dev)) {
		r = REAL(cuGreenCtxCreate)(phCtx, desc, dev, flags);
		unlock_primary(s, dev);
		return r;
	}
	unlock_primary(s, dev);
	r = begin_context(&call, dev);
	if (r)
		return r;
	s = lock_primary(dev);
	r = REAL(cuGreenCtxCreate)(phCtx, desc, dev, flags);
	unlock_primary(s, dev);
	if (end_context(&call, r))
		return r;
	cuGreenCtxDestroy(*phCtx);
	return CUDA_ERROR_OUT_OF_MEMORY;
}

/*
 * Called after a call that may have ended a primary context; releases the lock
 * of lock_primary(). If the context ended, its pieces are looked up only now,
 * because other threads could free pieces until then.
 */
static void end_primary(struct memory_state *s, CUdevice ordinal)
{
	bool ended = s && !is_active(ordinal);
	struct piece_list list;

	if (ended)
		piece_end_begin(&list, limited_device(ordinal), 0);
	unlock_primary(s, ordinal);
	if (ended)
		piece_end_done(&list, true);
}

#define END(symbol)                                                            \
	CUresult symbol(CUdevice dev)                                          \
	{                                                                      \
		struct memory_state *s;                                        \
		CUresult r;                                                    \
                                                                               \
		if (MISSING(symbol))                                           \
			return CUDA_ERROR_NO_DEVICE;                           \
		throttle_forget_device(dev);                                   \
		s = lock_primary(dev);                                         \
		r = REAL(symbol)(dev);                                         \
		end_primary(s, dev);                                           \
		return r;                                                      \
	}

END(cuDevicePrimaryCtxRelease)
END(cuDevicePrimaryCtxRelease_v2)
END(cuDevicePrimaryCtxReset)
END(cuDevicePrimaryCtxReset_v2)

/* Finds the device of a green context. */
static bool device_of_green(CUgreenCtx green, CUdevice *ret_device)
{
	CUcontext ctx, old;
	bool ok;

	if (!REAL(cuCtxFromGreenCtx) || REAL(cuCtxFromGreenCtx)(&ctx, green) ||
	    REAL(cuCtxPushCurrent_v2)(ctx))
		return false;
	ok = !REAL(cuCtxGetDevice)(ret_device);
	REAL(cuCtxPopCurrent_v2)(&old);
	return ok;
}

CUresult cuGreenCtxDestroy(CUgreenCtx hCtx)
{
	struct memory_state *s = NULL;
	CUdevice device = 0;
	CUresult r;

	if (MISSING(cuGreenCtxDestroy))
		return CUDA_ERROR_NO_DEVICE;
	if (limited() && device_of_green(hCtx, &device)) {
		throttle_forget_device(device);
		s = lock_primary(device);
	}
	r = REAL(cuGreenCtxDestroy)(hCtx);
	end_primary(s, device);
	return r;
}
