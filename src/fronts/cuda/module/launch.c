/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch.c - cuLaunch*: reads the arguments of launches and puts the launches
 * in streams.
 */
#include "fronts/cuda/graph/capture.h"
#include "fronts/cuda/module/launch.h"
#include "fronts/cuda/stream/stream.h"

#include <string.h>

/* Checks a launch and its stream, and puts it in the stream. */
static CUresult launch_start(CUcontext ctx, const struct launch *l)
{
	struct gkf_task *task;
	CUstream s;
	CUresult r;

	if (capture_finds(ctx, l->stream, l->per_thread, &s))
		return GRAPH_LOCKED(capture_kernel(s, l));
	r = stream_check(ctx, l->stream, l->per_thread);
	if (!r)
		r = launch_make(ctx, l, &task);
	if (r)
		return r;
	return cuda.launch_blocking
		   ? stream_run(ctx, l->stream, l->per_thread, task)
		   : stream_submit(ctx, l->stream, l->per_thread, task);
}

static CUresult enter_launch(enum cuda_row row, CUfunction f,
			     CUcontext *ret_ctx, CUfunction *ret_function)
{
	CUresult r = front_enter_context(row, ret_ctx);

	return r ? r : function_of(*ret_ctx, f, ret_function);
}

/*
 * A CUkernel runs in the context of its stream, even if another context is
 * current.
 */
static CUresult enter_with_stream(enum cuda_row row, CUfunction f,
				  struct launch *l, CUcontext *ret_ctx)
{
	CUresult r;

	if (__builtin_expect(!handle_is(f, HANDLE_KERNEL), 1))
		return enter_launch(row, f, ret_ctx, &l->function);
	r = stream_enter_context(row, l->stream, l->per_thread, ret_ctx);
	return r ? r : function_of(*ret_ctx, f, &l->function);
}

BOTH_STREAMS(cuLaunchKernel, _ptsz,
	     (CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
	      unsigned int gridDimZ, unsigned int blockDimX,
	      unsigned int blockDimY, unsigned int blockDimZ,
	      unsigned int sharedMemBytes, CUstream hStream,
	      void **kernelParams, void **extra),
	     (f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ,
	      sharedMemBytes, hStream, kernelParams, extra))
{
	READS_CODE;
	struct launch l = {.grid = {gridDimX, gridDimY, gridDimZ},
			   .block = {blockDimX, blockDimY, blockDimZ},
			   .dynamic_shared = sharedMemBytes,
			   .stream = hStream,
			   .per_thread = per_thread,
			   .params = kernelParams,
			   .extra = extra};
	CUcontext ctx;
	CUresult r = enter_with_stream(row, f, &l, &ctx);

	return r ? r : launch_start(ctx, &l);
}

BOTH_STREAMS(cuLaunchCooperativeKernel, _ptsz,
	     (CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
	      unsigned int gridDimZ, unsigned int blockDimX,
	      unsigned int blockDimY, unsigned int blockDimZ,
	      unsigned int sharedMemBytes, CUstream hStream,
	      void **kernelParams),
	     (f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ,
	      sharedMemBytes, hStream, kernelParams))
{
	READS_CODE;
	struct launch l = {.grid = {gridDimX, gridDimY, gridDimZ},
			   .block = {blockDimX, blockDimY, blockDimZ},
			   .dynamic_shared = sharedMemBytes,
			   .stream = hStream,
			   .per_thread = per_thread,
			   .cooperative = true,
			   .params = kernelParams};
	CUcontext ctx;
	CUresult r = enter_with_stream(row, f, &l, &ctx);

	return r ? r : launch_start(ctx, &l);
}

BOTH_STREAMS(cuLaunchKernelEx, _ptsz,
	     (const CUlaunchConfig *config, CUfunction f, void **kernelParams,
	      void **extra),
	     (config, f, kernelParams, extra))
{
	READS_CODE;
	struct launch l = {
	    .per_thread = per_thread, .params = kernelParams, .extra = extra};
	CUcontext ctx;
	CUresult r;

	l.stream = config ? config->hStream : NULL;
	r = enter_with_stream(row, f, &l, &ctx);
	if (r)
		return r;
	if (!config || (config->numAttrs && !config->attrs))
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(l.grid, &config->gridDimX, sizeof l.grid);
	memcpy(l.block, &config->blockDimX, sizeof l.block);
	l.dynamic_shared = config->sharedMemBytes;
	l.attributes = config->attrs;
	l.attribute_count = config->numAttrs;
	for (unsigned i = 0; !r && i < config->numAttrs; i++)
		r = launch_attribute(&config->attrs[i], &l);
	if (r == CUDA_ERROR_NOT_SUPPORTED)
		front_count_refusal(row);
	return r ? r : launch_start(ctx, &l);
}

/* ---- launches of CUDA 2: shape and parameters are set beforehand ---- */

CUresult cuFuncSetBlockShape(CUfunction hfunc, int x, int y, int z)
{
	READS_CODE;
	CUfunction f;
	CUcontext ctx;
	CUresult r = enter_launch(ROW_cuFuncSetBlockShape, hfunc, &ctx, &f);

	if (r)
		return r;
	if (x <= 0 || y <= 0 || z <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	f->block[0] = (unsigned)x;
	f->block[1] = (unsigned)y;
	f->block[2] = (unsigned)z;
	return CUDA_SUCCESS;
}

CUresult cuFuncSetSharedSize(CUfunction hfunc, unsigned int bytes)
{
	READS_CODE;
	CUfunction f;
	CUcontext ctx;
	CUresult r = enter_launch(ROW_cuFuncSetSharedSize, hfunc, &ctx, &f);

	if (!r)
		f->shared_bytes = bytes;
	return r;
}

CUresult cuParamSetSize(CUfunction hfunc, unsigned int numbytes)
{
	READS_CODE;
	CUfunction f;
	CUcontext ctx;
	CUresult r = enter_launch(ROW_cuParamSetSize, hfunc, &ctx, &f);

	if (r)
		return r;
	if (numbytes > sizeof f->params)
		return CUDA_ERROR_INVALID_VALUE;
	f->param_bytes = numbytes;
	return CUDA_SUCCESS;
}

static CUresult put_parameter(enum cuda_row row, CUfunction hfunc, int offset,
			      const void *from, unsigned bytes)
{
	READS_CODE;
	CUfunction f;
	CUcontext ctx;
	CUresult r = enter_launch(row, hfunc, &ctx, &f);

	if (r)
		return r;
	if (!from || offset < 0 || bytes > sizeof f->params ||
	    (unsigned)offset > sizeof f->params - bytes)
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(f->params + offset, from, bytes);
	return CUDA_SUCCESS;
}

CUresult cuParamSeti(CUfunction hfunc, int offset, unsigned int value)
{
	return put_parameter(ROW_cuParamSeti, hfunc, offset, &value,
			     sizeof value);
}

CUresult cuParamSetf(CUfunction hfunc, int offset, float value)
{
	return put_parameter(ROW_cuParamSetf, hfunc, offset, &value,
			     sizeof value);
}

CUresult cuParamSetv(CUfunction hfunc, int offset, void *ptr,
		     unsigned int numbytes)
{
	return put_parameter(ROW_cuParamSetv, hfunc, offset, ptr, numbytes);
}

static CUresult launch_kept(enum cuda_row row, CUfunction hfunc, int width,
			    int height, CUstream stream)
{
	READS_CODE;
	struct launch l = {.grid = {(unsigned)width, (unsigned)height, 1},
			   .stream = stream};
	CUcontext ctx;
	CUresult r = enter_launch(row, hfunc, &ctx, &l.function);

	if (r)
		return r;
	if (width <= 0 || height <= 0 ||
	    l.function->param_bytes < l.function->ptx->param_size)
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(l.block, l.function->block, sizeof l.block);
	l.dynamic_shared = l.function->shared_bytes;
	l.buffer = l.function->params;
	return launch_start(ctx, &l);
}

CUresult cuLaunch(CUfunction f)
{
	return launch_kept(ROW_cuLaunch, f, 1, 1, NULL);
}

CUresult cuLaunchGrid(CUfunction f, int grid_width, int grid_height)
{
	return launch_kept(ROW_cuLaunchGrid, f, grid_width, grid_height, NULL);
}

CUresult cuLaunchGridAsync(CUfunction f, int grid_width, int grid_height,
			   CUstream hStream)
{
	return launch_kept(ROW_cuLaunchGridAsync, f, grid_width, grid_height,
			   hStream);
}
