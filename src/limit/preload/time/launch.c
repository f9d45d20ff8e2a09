/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch.c - hooks of all calls that make a device work: kernels, cooperative
 * kernels, graphs. A kernel is identified by its function and number of
 * threads, a graph by its handle.
 */
#include "limit/preload/entry/driver.h"
#include "limit/preload/memory/memory.h"
#include "limit/preload/time/throttle.h"

enum { MULTI_DEVICES = 64 };

/*
 * Most launches were charged to an advance, and throttle_end() has nothing to
 * do.
 */
static inline void end_launch(struct throttle_launch *launch, CUresult result)
{
	if (__builtin_expect(launch->device >= 0, 0))
		throttle_end(launch, result);
}

/*
 * Defines the hook of a symbol, and of its variant for per-thread default
 * streams. `what`, `size` and `in`: the work, its size, and its stream. A hook
 * is entered only if the driver has its function (hooks.def).
 */
#define LAUNCH(symbol, per_thread, what, size, in, params, names)              \
	CUresult symbol params                                                 \
	{                                                                      \
		struct throttle_launch launch;                                 \
		CUresult result;                                               \
                                                                               \
		result = throttle_begin(&launch, in, per_thread, what, size);  \
		if (result)                                                    \
			return result;                                         \
		result = REAL(symbol) names;                                   \
		end_launch(&launch, result);                                   \
		return result;                                                 \
	}

#define LAUNCHES(symbol, what, size, in, params, names)                        \
	LAUNCH(symbol, false, what, size, in, params, names)                   \
	LAUNCH(symbol##_ptsz, true, what, size, in, params, names)

/* Multiplies in pairs, which a processor does in parallel. */
static inline uint64_t count_threads(uint64_t blocks_x, uint64_t blocks_y,
				     uint64_t blocks_z, uint64_t x, uint64_t y,
				     uint64_t z)
{
	return (blocks_x * blocks_y) * (blocks_z * x) * (y * z);
}

#define THREADS                                                                \
	count_threads(gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY,      \
		      blockDimZ)

LAUNCHES(cuLaunchKernel, f, THREADS, hStream,
	 (CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
	  unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,
	  unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream,
	  void **kernelParams, void **extra),
	 (f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ,
	  sharedMemBytes, hStream, kernelParams, extra))

LAUNCHES(cuLaunchCooperativeKernel, f, THREADS, hStream,
	 (CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
	  unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,
	  unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream,
	  void **kernelParams),
	 (f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ,
	  sharedMemBytes, hStream, kernelParams))

/*
 * Used instead of a NULL configuration, for which the driver will return an
 * error.
 */
static const CUlaunchConfig no_config;

static inline const CUlaunchConfig *config_of(const CUlaunchConfig *config)
{
	return config ? config : &no_config;
}

static inline uint64_t count_config(const CUlaunchConfig *config)
{
	const CUlaunchConfig *c = config_of(config);

	return count_threads(c->gridDimX, c->gridDimY, c->gridDimZ,
			     c->blockDimX, c->blockDimY, c->blockDimZ);
}

LAUNCHES(cuLaunchKernelEx, f, count_config(config), config_of(config)->hStream,
	 (const CUlaunchConfig *config, CUfunction f, void **kernelParams,
	  void **extra),
	 (config, f, kernelParams, extra))

LAUNCH(cuLaunch, false, f, 1, NULL, (CUfunction f), (f))

static inline uint64_t count_grid(int width, int height)
{
	return (uint64_t)width * (uint64_t)height;
}

LAUNCH(cuLaunchGrid, false, f, count_grid(grid_width, grid_height), NULL,
       (CUfunction f, int grid_width, int grid_height),
       (f, grid_width, grid_height))
LAUNCH(cuLaunchGridAsync, false, f, count_grid(grid_width, grid_height),
       hStream,
       (CUfunction f, int grid_width, int grid_height, CUstream hStream),
       (f, grid_width, grid_height, hStream))

/*
 * Launches a graph. It may allocate, too: after its turn has come, memory is
 * reserved for that.
 */
static CUresult launch_graph(CUgraphExec exec, CUstream stream, bool per_thread,
			     CUresult (*call)(CUgraphExec exec,
					      CUstream stream))
{
	struct throttle_launch launch;
	struct memory_graph memory;
	CUresult result = throttle_begin(&launch, stream, per_thread, exec, 0);

	if (result)
		return result;
	result = memory_graph_begin(exec, &memory);
	if (!result) {
		result = call(exec, stream);
		memory_graph_end(&memory);
	}
	end_launch(&launch, result);
	return result;
}

CUresult cuGraphLaunch(CUgraphExec hGraph, CUstream hStream)
{
	return launch_graph(hGraph, hStream, false, REAL(cuGraphLaunch));
}

CUresult cuGraphLaunch_ptsz(CUgraphExec hGraphExec, CUstream hStream)
{
	return launch_graph(hGraphExec, hStream, true,
			    REAL(cuGraphLaunch_ptsz));
}

/* ---- one kernel on several devices ---- */

/* Each launch belongs to its stream's context. */
static CUresult begin_one(struct throttle_launch *launch,
			  const CUDA_LAUNCH_PARAMS *params)
{
	CUcontext ctx, popped;
	CUresult result;

	launch->device = -1;
	if (!REAL(cuStreamGetCtx) ||
	    REAL(cuStreamGetCtx)(params->hStream, &ctx) ||
	    REAL(cuCtxPushCurrent_v2)(ctx))
		return CUDA_SUCCESS; /* the driver will return the error */
	result =
	    throttle_begin(launch, params->hStream, false, params->function,
			   count_threads(params->gridDimX, params->gridDimY,
					 params->gridDimZ, params->blockDimX,
					 params->blockDimY, params->blockDimZ));
	REAL(cuCtxPopCurrent_v2)(&popped);
	return result;
}

static void end_all(struct throttle_launch *launch, unsigned int count,
		    CUresult result)
{
	for (unsigned int i = 0; i < count; i++)
		end_launch(&launch[i], result);
}

CUresult
cuLaunchCooperativeKernelMultiDevice(CUDA_LAUNCH_PARAMS *launchParamsList,
				     unsigned int numDevices,
				     unsigned int flags)
{
	struct throttle_launch launch[MULTI_DEVICES];
	unsigned int count = launchParamsList ? numDevices : 0;
	CUresult result = CUDA_SUCCESS;

	if (count > MULTI_DEVICES)
		count = 0; /* more devices than can exist */
	for (unsigned int i = 0; i < count; i++) {
		result = begin_one(&launch[i], &launchParamsList[i]);
		if (result) {
			end_all(launch, i, result);
			return result;
		}
	}
	result = REAL(cuLaunchCooperativeKernelMultiDevice)(launchParamsList,
							    numDevices, flags);
	end_all(launch, count, result);
	return result;
}
