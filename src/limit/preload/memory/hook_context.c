/*
 * hook_context.c - contexts: what they take by themselves, and what goes with
 * them. How large one is, nobody knows before the first: that one has all that
 * is left while it is made, and the others wait for it.
 */
#include "limit/preload/hook.h"
#include "base/clock.h"
#include "limit/preload/throttle.h"

#define PATIENCE_NS (10 * GK_NS_PER_S)

/* ---- beginning ---- */

static uint64_t known_size(int device)
{
	struct gkl_device told;

	if (!gkl_ledger_device(limited()->ledger, (unsigned)device, &told))
		return 0;
	return told.context_bytes;
}

/* Contexts that do not count are made whatever is left. */
static bool latch_rule(struct memory_state *s)
{
	if (!atomic_exchange(&s->latched, true))
		atomic_store(&s->contexts_free,
			     limited_policy()->contexts_free != 0);
	return atomic_load(&s->contexts_free);
}

/* Has all that is left while nobody knows the size; false: somebody does. */
static bool begin_unknown(struct memory_call *call, int device, CUresult *ret)
{
	uint64_t end = gk_mono_ns() + PATIENCE_NS;

	for (;;) {
		*ret = memory_begin(call, device, GKL_CONTEXT, MEMORY_ALL_LEFT);
		if (*ret)
			return true;
		if (known_size(device)) {
			memory_end(call, 0);
			return false;
		}
		if (call->pending || !limited_memory(device) ||
		    gk_mono_ns() > end)
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

	if (device < 0 || !s)
		return memory_begin(call, device, GKL_CONTEXT, 0);
	if (latch_rule(s))
		return memory_begin(call, device, GKL_CONTEXT, 0);
	size = known_size(device);
	if (!size && begin_unknown(call, device, &r))
		return r;
	return memory_begin(call, device, GKL_CONTEXT, known_size(device));
}

/* False: the context is to be ended again. */
static bool end_context(struct memory_call *call, CUresult r)
{
	if (call->device < 0)
		return true;
	if (r) {
		memory_end(call, 0);
		return true;
	}
	return memory_end_measured(call, known_size(call->device));
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

/* A context by which the group is above its limit is none. */
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

static CUresult destroy(CUcontext ctx, CUresult (*end)(CUcontext ctx))
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
				     : destroy(ctx, REAL(cuCtxDestroy));
}

CUresult cuCtxDestroy_v2(CUcontext ctx)
{
	return MISSING(cuCtxDestroy_v2) ? CUDA_ERROR_NO_DEVICE
					: destroy(ctx, REAL(cuCtxDestroy_v2));
}

/* Attached contexts count their users: the last who detaches destroys them. */
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
	r = change_users(ctx, -1) ? destroy(ctx, REAL(cuCtxDetach))
				  : REAL(cuCtxDetach)(ctx);
	if (r)
		change_users(ctx, 1);
	return r;
}

/* ---- the primary one, and green ones, which hold it ---- */

static bool is_active(CUdevice device)
{
	unsigned flags;
	int active;

	return !REAL(cuDevicePrimaryCtxGetState)(device, &flags, &active) &&
	       active;
}

/*
 * Those of a device begin and end one at a time: so what belonged to one that
 * has ended is told from what belongs to the next. NULL: nothing is limited.
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
 * After a call that may have ended one; unlocks it. What belonged to it is
 * looked for now: as long as it lives, other threads free theirs.
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

/* Its device is told by its context. */
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
