/*
 * front.c - entering the library: is the driver initialised, which context is
 * current, count the call. The stack of current contexts of each thread is
 * here: one word of thread-local storage leads to it.
 */
#include "base/err.h"
#include "fronts/cuda/capture.h"
#include "fronts/cuda/stack.h"
#include "fronts/cuda/stream.h"
#include "machine/store/gate.h"

#include <stdlib.h>

/*
 * Static storage of a thread is scarce in a library that is opened at run
 * time; a single word is always to be had, and reading it costs no call.
 */
static _Thread_local
    __attribute__((tls_model("initial-exec"))) struct stack *mine;

static _Thread_local __attribute__((tls_model("initial-exec"))) bool barred;

static pthread_key_t leaving;
static bool told_leaving;

/* The thread ends; its contexts live on. */
static void leave_thread(void *stack)
{
	mine = NULL;
	free(((struct stack *)stack)->top);
	free(stack);
}

__attribute__((constructor)) static void load(void)
{
	told_leaving = !pthread_key_create(&leaving, leave_thread);
}

static bool stack_has_room(struct stack *s)
{
	unsigned room = s->room ? 2 * s->room : 4;
	struct stack_entry *top;

	if (s->depth < s->room)
		return true;
	top = realloc(s->top, room * sizeof(*top));
	if (!top)
		return false;
	s->top = top;
	s->room = room;
	return true;
}

bool stack_push(CUcontext ctx)
{
	if (!mine) {
		mine = calloc(1, sizeof(*mine));
		if (mine && told_leaving)
			pthread_setspecific(leaving, mine);
	}
	if (!mine || !stack_has_room(mine))
		return false;
	mine->top[mine->depth++] = (struct stack_entry){ctx, handle_life(ctx)};
	return true;
}

CUcontext stack_pop(void)
{
	return mine && mine->depth ? mine->top[--mine->depth].ctx : NULL;
}

CUcontext ctx_current(void)
{
	return mine && mine->depth ? mine->top[mine->depth - 1].ctx : NULL;
}

/* Why nothing is entered. */
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

/* The current context, in whatever state. */
static inline CUresult take_current(CUcontext *ret_ctx)
{
	const struct stack *s = mine;
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

void ctx_stick(CUcontext ctx, CUresult result)
{
	int none = CUDA_SUCCESS;

	if (atomic_compare_exchange_strong(&ctx->sticky, &none, result) &&
	    result != CUDA_ERROR_ASSERT)
		atomic_store(&ctx->device->failed, result);
}

CUresult ctx_strike(CUcontext ctx)
{
	if (!atomic_load(&ctx->sticky))
		stream_fail(ctx, (int)(atomic_load(ctx->strike) & 0xffff));
	return (CUresult)atomic_load(&ctx->sticky);
}

CUresult front_refuse(enum cuda_row row)
{
	CUresult r = enter_row(row);

	if (r)
		return r;
	front_count_refusal(row);
	return CUDA_ERROR_NOT_SUPPORTED;
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
