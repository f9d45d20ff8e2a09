/* launch.c - cuLaunch*: launches as programs ask for them. */
#include "fronts/cuda/generation.h"
#include "fronts/cuda/launch.h"
#include "fronts/cuda/stream.h"

#include <string.h>

static CUresult enter_launch(enum cuda_row row, CUfunction f,
			     CUcontext *ret_ctx, CUfunction *ret_function)
{
	CUresult r = front_enter_context(row, ret_ctx);

	return r ? r : function_of(*ret_ctx, f, ret_function);
}

/* A CUkernel runs in the context of its stream, whichever is current. */
static CUresult enter_with_stream(enum cuda_row row, CUfunction f,
				  struct launch *l, CUcontext *ret_ctx)
{
	CUresult r;

	if (__builtin_expect(!handle_is(f, HANDLE_KERNEL), 1))
		return enter_launch(row, f, ret_ctx, &l->function);
	r = stream_enter_context(row, l->stream, l->per_thread, ret_ctx);
	return r ? r : function_of(*ret_ctx, f, &l->function);
}

static CUresult cuLaunchKernel_on(
    enum cuda_row row, bool per_thread, CUfunction f, unsigned int gridDimX,
    unsigned int gridDimY, unsigned int gridDimZ, unsigned int blockDimX,
    unsigned int blockDimY, unsigned int blockDimZ, unsigned int sharedMemBytes,
    CUstream hStream, void **kernelParams, void **extra)
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

BOTH_STREAMS(cuLaunchKernel, _ptsz,
	     (CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
	      unsigned int gridDimZ, unsigned int blockDimX,
	      unsigned int blockDimY, unsigned int blockDimZ,
	      unsigned int sharedMemBytes, CUstream hStream,
	      void **kernelParams, void **extra),
	     (f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ,
	      sharedMemBytes, hStream, kernelParams, extra))

static CUresult cuLaunchCooperativeKernel_on(
    enum cuda_row row, bool per_thread, CUfunction f, unsigned int gridDimX,
    unsigned int gridDimY, unsigned int gridDimZ, unsigned int blockDimX,
    unsigned int blockDimY, unsigned int blockDimZ, unsigned int sharedMemBytes,
    CUstream hStream, void **kernelParams)
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

BOTH_STREAMS(cuLaunchCooperativeKernel, _ptsz,
	     (CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
	      unsigned int gridDimZ, unsigned int blockDimX,
	      unsigned int blockDimY, unsigned int blockDimZ,
	      unsigned int sharedMemBytes, CUstream hStream,
	      void **kernelParams),
	     (f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ,
	      sharedMemBytes, hStream, kernelParams))

/* A cluster of one block is what every launch is. */
static CUresult take_cluster(const CUlaunchAttributeValue *v)
{
	unsigned size = v->clusterDim.x * v->clusterDim.y * v->clusterDim.z;

	if (!size)
		return CUDA_ERROR_INVALID_VALUE;
	return size == 1 ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
}

/* Which sizes are portable matters to clusters, and to other GPUs. */
static bool is_later_hint(int id)
{
	return front_generation->cuda >= 13030 &&
	       (id == CU_LAUNCH_ATTRIBUTE_PORTABLE_CLUSTER_SIZE_MODE ||
		id == CU_LAUNCH_ATTRIBUTE_SHARED_MEMORY_MODE);
}

/* Hints are taken; what would change what happens is done or refused. */
CUresult launch_attribute(const CUlaunchAttribute *a, struct launch *l)
{
	switch (a->id) {
	case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
		l->cooperative = a->value.cooperative != 0;
		return CUDA_SUCCESS;
	case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
		return take_cluster(&a->value);
	case CU_LAUNCH_ATTRIBUTE_IGNORE:
	case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
	case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
	case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
	case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
	case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
	case CU_LAUNCH_ATTRIBUTE_PRIORITY:
	case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
	case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
	case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
	case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING:
		return CUDA_SUCCESS;
	case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
	case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
	case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
		return CUDA_ERROR_NOT_SUPPORTED;
	default:
		return is_later_hint((int)a->id) ? CUDA_SUCCESS
						 : CUDA_ERROR_INVALID_VALUE;
	}
}

static CUresult cuLaunchKernelEx_on(enum cuda_row row, bool per_thread,
				    const CUlaunchConfig *config, CUfunction f,
				    void **kernelParams, void **extra)
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

BOTH_STREAMS(cuLaunchKernelEx, _ptsz,
	     (const CUlaunchConfig *config, CUfunction f, void **kernelParams,
	      void **extra),
	     (config, f, kernelParams, extra))

/* ---- as CUDA 2 had it: a function keeps its shape and its parameters ---- */

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
