/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch_task.c - checks launches and makes their tasks; runs the tasks and
 * frees what they hold.
 */
#include "fronts/cuda/graph/graph.h"
#include "fronts/cuda/context/green.h"
#include "fronts/cuda/module/launch.h"
#include "fronts/cuda/memory/memory.h"
#include "fronts/cuda/stream/stream.h"
#include "machine/file/board.h"
#include "machine/file/fault_kinds.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/model/link.h"
#include "machine/store/process/busy.h"
#include "machine/store/coverage.h"
#include "machine/store/gate.h"
#include "machine/store/process/total.h"
#include "machine/trouble/cuda_fault.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct kernel_task {
	struct gkf_task task;
	struct gkf_ptx_launch launch;
	struct module_image *image;
	CUcontext ctx;
	gpukit_body native; /* NULL: the kernel is PTX */
	const char *name;   /* name of the kernel; belongs to the image */
	_Alignas(16) unsigned char params[];
};

/* Finds memory that kernels of the context may access. */
static bool find_kernel_memory(void *context, uint64_t address,
			       struct gkf_ptx_window *ret_window)
{
	CUcontext ctx = context;
	struct gkf_extent e;

	if (!gkf_space_find(address, &e) || !memory_reaches(ctx, &e))
		return false;
	*ret_window = (struct gkf_ptx_window){
	    e.base, e.size, e.view, .read_only = !memory_writes(ctx, &e)};
	return true;
}

static const struct {
	CUresult result;
	const char *text;
} ends[] = {
    [GKF_PTX_DONE] = {CUDA_SUCCESS, ""},
    [GKF_PTX_REFUSED] = {CUDA_ERROR_NOT_SUPPORTED, "is not executed"},
    [GKF_PTX_NO_MEMORY] = {CUDA_ERROR_OUT_OF_MEMORY,
			   "needs more memory than the host has"},
    [GKF_PTX_STOPPED] = {CUDA_ERROR_DEINITIALIZED, "was stopped"},
    [GKF_PTX_ILLEGAL_ADDRESS] = {CUDA_ERROR_ILLEGAL_ADDRESS,
				 "accessed an address without memory"},
    [GKF_PTX_MISALIGNED] = {CUDA_ERROR_MISALIGNED_ADDRESS,
			    "accessed a misaligned address"},
    [GKF_PTX_TRAPPED] = {CUDA_ERROR_LAUNCH_FAILED, "executed a trap"},
    [GKF_PTX_ASSERTED] = {CUDA_ERROR_ASSERT, "failed an assertion"},
    [GKF_PTX_STACK_OVERFLOW] = {CUDA_ERROR_HARDWARE_STACK_ERROR,
				"overflowed its stack"},
    [GKF_PTX_DEADLOCK] = {CUDA_ERROR_LAUNCH_TIMEOUT,
			  "waits at a barrier for threads that never arrive"},
};

/* The `memory` function of struct gpukit_run. */
static void *find_native_memory(struct gpukit_run *run,
				enum gpukit_access access, uint64_t address,
				size_t size)
{
	bool writes = access == GPUKIT_WRITES;
	static char nothing[64];
	struct gkf_extent e;

	if (!size)
		return nothing;
	if (gkf_space_find_all(address, size, &e) &&
	    memory_reaches(run->context, &e) &&
	    (!writes || memory_writes(run->context, &e)))
		return (char *)e.view + (address - e.base);
	front_log(
	    GK_LOG_ERROR,
	    "a library's kernel %s %zu bytes at %#llx, which it may not access",
	    writes ? "wrote" : "read", size, (unsigned long long)address);
	run->fault = CUDA_ERROR_ILLEGAL_ADDRESS;
	return NULL;
}

/* Returns the error of an injected fault; 0: none. */
static int injected_end(const struct kernel_task *t)
{
	const struct cuda_device *d = t->ctx->device;

	if (__builtin_expect(
		!(gkf_gate_word(cuda.gate->device[d->index].faults) &
		  GKF_FAULT_BIT(GKF_FAULT_LAUNCH)),
		1))
		return 0;
	return (int)gkf_cuda_fault_launch(cuda.machine, d->index, t->name);
}

/* Reports a kernel's fault to NVML before the program can learn of it. */
static int end_kernel(const struct kernel_task *t, int result)
{
	if (result)
		gkf_cuda_fault_tell(cuda.machine, t->ctx->device->index,
				    t->ctx->device->instance, (unsigned)result);
	return result;
}

/*
 * Counts traffic with other devices, as NVLink traffic if links are up, else as
 * PCIe traffic.
 */
static void count_links(const struct cuda_device *d,
			const struct gpukit_run *run)
{
	bool links = gkf_links_up(cuda.machine, d->index) != 0;

	if (run->link_in)
		gkf_busy_moved(cuda.machine, d->slot,
			       links ? GKF_LINK_IN : GKF_IN, run->link_in);
	if (run->link_out)
		gkf_busy_moved(cuda.machine, d->slot,
			       links ? GKF_LINK_OUT : GKF_OUT, run->link_out);
}

static int run_native_task(struct gkf_task *task)
{
	struct kernel_task *t = (struct kernel_task *)task;
	int injected = injected_end(t);
	struct gpukit_run run = {.params = t->params,
				 .memory = find_native_memory,
				 .stopped = gkf_task_stopped,
				 .context = t->ctx};
	CUresult r = injected ? (CUresult)injected : t->native(&run);

	if (run.operations)
		gkf_total_operations(cuda.machine, t->ctx->device->slot,
				     run.operations);
	count_links(t->ctx->device, &run);
	return end_kernel(t, run.fault ? run.fault : (int)r);
}

static int run_kernel_task(struct gkf_task *task)
{
	struct kernel_task *t = (struct kernel_task *)task;
	struct gkf_ptx_report at = {0};
	int injected = injected_end(t);
	enum gkf_ptx_end end;

	if (injected)
		return end_kernel(t, injected);
	end = gkf_ptx_run(&t->launch, &at);
	if (end != GKF_PTX_DONE && end != GKF_PTX_STOPPED)
		front_log(GK_LOG_ERROR,
			  "kernel %s %s: line %u, block (%u,%u,%u), thread "
			  "(%u,%u,%u), address %#llx",
			  at.function ? at.function : "", ends[end].text,
			  at.line, at.block[0], at.block[1], at.block[2],
			  at.thread[0], at.thread[1], at.thread[2],
			  (unsigned long long)at.address);
	return end_kernel(t, (int)ends[end].result);
}

static void drop_kernel_task(struct gkf_task *task)
{
	module_image_drop(((struct kernel_task *)task)->image);
}

/* Copies the parameters given as one buffer in `extra`. */
static CUresult take_extra(const struct launch *l, size_t wanted,
			   unsigned char *params)
{
	const void *buffer = NULL;
	size_t size = SIZE_MAX;

	for (void **e = l->extra; *e != CU_LAUNCH_PARAM_END; e += 2) {
		if (*e == CU_LAUNCH_PARAM_BUFFER_POINTER)
			buffer = e[1];
		else if (*e == CU_LAUNCH_PARAM_BUFFER_SIZE && e[1])
			size = *(const size_t *)e[1];
		else
			return CUDA_ERROR_INVALID_VALUE;
	}
	if ((!buffer && wanted) || size == SIZE_MAX || size < wanted)
		return CUDA_ERROR_INVALID_VALUE;
	if (wanted)
		memcpy(params, buffer, wanted);
	return CUDA_SUCCESS;
}

static CUresult take_params(const struct launch *l, unsigned char *params)
{
	const struct gkf_ptx_function *f = l->function->ptx;
	const struct gkf_ptx_module *m = l->function->image->source->ptx;

	if (l->params && l->extra)
		return CUDA_ERROR_INVALID_VALUE;
	if (l->extra)
		return take_extra(l, f->param_size, params);
	if (l->buffer)
		memcpy(params, l->buffer, f->param_size);
	else if (f->param_count && !l->params)
		return CUDA_ERROR_INVALID_VALUE;
	for (uint32_t i = 0; !l->buffer && i < f->param_count; i++) {
		const struct gkf_ptx_variable *v = &m->variables[f->params[i]];

		if (!l->params[i])
			return CUDA_ERROR_INVALID_VALUE;
		memcpy(params + v->offset, l->params[i], v->size);
	}
	return CUDA_SUCCESS;
}

/*
 * Counts the refusal under the instruction and the kernel. Logs it unless the
 * last refusal logged was of the same kernel.
 */
static CUresult refuse_launch(const struct launch *l,
			      const struct gkf_ptx_refusal *r)
{
	static const void *_Atomic told;
	const char *operand = r->operand ? r->operand : "";
	const char *blank = r->operand ? " " : "";
	char name[GKF_REFUSED_MAX];

	snprintf(name, sizeof name, "ptx: %s%s%s in %s", r->instruction, blank,
		 operand, l->function->ptx->name);
	gkf_refuse_named(cuda.machine, GKF_NAMED_KERNEL, name);
	if (atomic_exchange(&told, l->function->ptx) != l->function->ptx)
		front_log(GK_LOG_WARN,
			  "kernel %s is refused: %s%s%s, line %u of %s, is not "
			  "executed",
			  l->function->ptx->name, r->instruction, blank,
			  operand, r->line, r->function);
	return CUDA_ERROR_NOT_SUPPORTED;
}

static bool is_within_device(const struct cuda_device *d,
			     const unsigned dims[3], CUdevice_attribute first)
{
	for (unsigned i = 0; i < 3; i++)
		if (!dims[i] ||
		    dims[i] > (unsigned)function_limit(
				  d, (CUdevice_attribute)(first + i)))
			return false;
	return true;
}

static CUresult tell_shape(const struct launch *l)
{
	front_log(
	    GK_LOG_WARN,
	    "kernel %s: a grid of (%u,%u,%u) blocks of (%u,%u,%u) threads "
	    "exceeds the device's limits",
	    l->function->ptx->name, l->grid[0], l->grid[1], l->grid[2],
	    l->block[0], l->block[1], l->block[2]);
	return CUDA_ERROR_INVALID_VALUE;
}

static CUresult check_shape(const struct cuda_device *d, const struct launch *l,
			    const struct gkf_ptx_kernel *k)
{
	const struct gkf_ptx_function *f = l->function->ptx;
	uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
	int dynamic;

	if (!is_within_device(d, l->grid, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X) ||
	    !is_within_device(d, l->block,
			      CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X) ||
	    threads > (uint64_t)function_limit(
			  d, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK))
		return tell_shape(l);
	if (f->reqntid[0] && memcmp(f->reqntid, l->block, sizeof l->block))
		return CUDA_ERROR_INVALID_VALUE;
	if (threads > (uint64_t)function_threads(d, f, k))
		return f->maxntid[0] ? CUDA_ERROR_INVALID_VALUE
				     : CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
	function_attribute(
	    d, l->function->image->source->ptx, f, k, &l->function->set,
	    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, &dynamic);
	if (l->dynamic_shared > (unsigned)dynamic)
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

/* All blocks of a cooperative launch must fit on the SMs at once. */
static CUresult check_cooperative(CUcontext ctx, const struct launch *l,
				  const struct gkf_ptx_kernel *k)
{
	uint64_t blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
	int each = occupancy_blocks(
	    ctx->device, k, (int)(l->block[0] * l->block[1] * l->block[2]),
	    l->dynamic_shared);
	int sms = green_sms(stream_context(ctx, l->stream));

	return blocks > (uint64_t)each * (uint64_t)sms
		   ? CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE
		   : CUDA_SUCCESS;
}

static CUresult check_launch(CUcontext ctx, const struct launch *l,
			     const struct gkf_ptx_kernel *k)
{
	struct gkf_ptx_refusal refusal;
	CUresult r = check_shape(ctx->device, l, k);

	if (!r && l->cooperative)
		r = check_cooperative(ctx, l, k);
	if (!r && __builtin_expect(gkf_ptx_kernel_refused(k, &refusal), 0))
		r = refuse_launch(l, &refusal);
	return r;
}

static void fill_kernel_task(struct kernel_task *t, CUcontext ctx,
			     const struct launch *l,
			     const struct gkf_ptx_kernel *k)
{
	const struct gkf_profile *p = &ctx->device->board->profile;
	CUcontext on = stream_context(ctx, l->stream);

	t->launch = (struct gkf_ptx_launch){
	    .kernel = k,
	    .grid = {l->grid[0], l->grid[1], l->grid[2]},
	    .block = {l->block[0], l->block[1], l->block[2]},
	    .dynamic_shared = l->dynamic_shared,
	    .params = t->params,
	    .param_size = l->function->ptx->param_size,
	    .find = find_kernel_memory,
	    .stopped = gkf_task_stopped,
	    .set_condition = condition_set,
	    .context = ctx,
	    .clock_khz = (uint32_t)device_clock_mhz(p) * 1000,
	    .device_sms = (uint32_t)green_sms_of_device(ctx->device),
	    .sm_count = (uint32_t)green_sms(on),
	    .sms = on->green ? on->green->sm : NULL,
	};
	t->native = l->function->kernel
			? atomic_load(&l->function->kernel->native)
			: NULL;
	t->task.run = t->native ? run_native_task : run_kernel_task;
	t->task.drop = drop_kernel_task;
	t->task.work = GKF_WORK_KERNEL;
	t->ctx = ctx;
	t->name = l->function->ptx->name;
	t->image = l->function->image;
	atomic_fetch_add_explicit(&t->image->references, 1,
				  memory_order_relaxed);
}

CUresult launch_read(CUcontext ctx, const struct launch *l, void *ret_params)
{
	const struct gkf_ptx_kernel *k;
	CUresult r = module_kernel(l->function->image, l->function->ptx, &k);

	if (!r)
		r = check_launch(ctx, l, k);
	return r ? r : take_params(l, ret_params);
}

CUresult launch_make(CUcontext ctx, const struct launch *l,
		     struct gkf_task **ret_task)
{
	const struct gkf_ptx_function *f = l->function->ptx;
	const struct gkf_ptx_kernel *k;
	struct kernel_task *t;
	CUresult r = module_kernel(l->function->image, f, &k);

	if (!r)
		r = check_launch(ctx, l, k);
	if (r)
		return r;
	t = gkf_task_new(sizeof *t + f->param_size);
	if (!t)
		return CUDA_ERROR_OUT_OF_MEMORY;
	r = take_params(l, t->params);
	if (r) {
		gkf_task_free(t);
		return r;
	}
	fill_kernel_task(t, ctx, l, k);
	*ret_task = &t->task;
	return CUDA_SUCCESS;
}
