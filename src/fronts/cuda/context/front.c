/* SPDX-License-Identifier: Apache-2.0 */
/*
 * front.c - begins the entry points: checks that the driver is initialised,
 * counts the call, finds the current context.
 */
#include "base/err.h"
#include "fronts/cuda/graph/capture.h"
#include "fronts/cuda/context/stack.h"
#include "machine/store/gate.h"

struct cuda_process cuda;

static _Thread_local __attribute__((tls_model("initial-exec"))) bool barred;

/* Returns the result of calls made while the driver is not ready. */
static CUresult not_ready(int ready)
{
	return ready == CUDA_ENDED ? CUDA_ERROR_DEINITIALIZED
				   : CUDA_ERROR_NOT_INITIALIZED;
}

static inline CUresult enter_row(enum cuda_row row)
{
	int ready = atomic_load_explicit(&cuda.ready, memory_order_acquire);

	if (__builtin_expect(ready != CUDA_READY, 0))
		return not_ready(ready);
	if (__builtin_expect(barred, 0))
		return CUDA_ERROR_NOT_PERMITTED;
	gkf_gate_count_cuda(cuda.gate, row);
	if (!gkf_gate_whole(cuda.machine, cuda.gate))
		return CUDA_ERROR_DEVICE_UNAVAILABLE;
	return capture_is_open() ? capture_permit_call(row) : CUDA_SUCCESS;
}

/* Finds the current context. Also fails if the context has a sticky error. */
static inline CUresult take_current(CUcontext *ret_ctx)
{
	const struct stack *s = stack_mine;
	const struct stack_entry *e;

	if (__builtin_expect(!s || !s->depth, 0))
		return CUDA_ERROR_INVALID_CONTEXT;
	e = &s->top[s->depth - 1];
	if (__builtin_expect(
		handle_life(e->ctx) != e->life ||
		    !atomic_load_explicit(&e->ctx->alive, memory_order_acquire),
		0))
		return CUDA_ERROR_CONTEXT_IS_DESTROYED;
	*ret_ctx = e->ctx;
	return ctx_error(e->ctx);
}

void front_bar(bool is_barred)
{
	barred = is_barred;
}

CUresult front_enter(enum cuda_row row)
{
	return enter_row(row);
}

CUresult front_enter_context(enum cuda_row row, CUcontext *ret_ctx)
{
	CUresult r = enter_row(row);

	if (__builtin_expect(r != CUDA_SUCCESS, 0))
		return r;
	gkf_gate_look(cuda.machine, cuda.gate);
	return take_current(ret_ctx);
}

CUresult ctx_of(CUcontext given, CUcontext *ret_ctx)
{
	if (!given)
		return take_current(ret_ctx);
	if (!handle_is(given, HANDLE_CONTEXT) || !atomic_load(&given->alive))
		return CUDA_ERROR_INVALID_CONTEXT;
	*ret_ctx = given;
	return ctx_error(given);
}

static const struct {
	int error;
	CUresult cuda;
} errors[] = {
    {0, CUDA_SUCCESS},
    {GK_ERR_INVALID, CUDA_ERROR_INVALID_VALUE},
    {GK_ERR_RANGE, CUDA_ERROR_INVALID_VALUE},
    {GK_ERR_NOMEM, CUDA_ERROR_OUT_OF_MEMORY},
    {GK_ERR_NO_SPACE, CUDA_ERROR_OUT_OF_MEMORY},
    {GK_ERR_TOO_MANY, CUDA_ERROR_OUT_OF_MEMORY},
    {GK_ERR_NOT_FOUND, CUDA_ERROR_NOT_FOUND},
    {GK_ERR_NOT_SUPPORTED, CUDA_ERROR_NOT_SUPPORTED},
    {GK_ERR_PERMISSION, CUDA_ERROR_NOT_PERMITTED},
    {GK_ERR_VERSION, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH},
    {GK_ERR_TIMEOUT, CUDA_ERROR_TIMEOUT},
    {GK_ERR_IO, CUDA_ERROR_OPERATING_SYSTEM},
    {GK_ERR_LOST, CUDA_ERROR_DEVICE_UNAVAILABLE},
    {GK_ERR_IN_USE, CUDA_ERROR_DEVICE_UNAVAILABLE},
};

CUresult front_error(int gk_err)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++)
		if (errors[i].error == gk_err)
			return errors[i].cuda;
	return CUDA_ERROR_UNKNOWN;
}
