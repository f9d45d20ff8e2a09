/* launch.h - starting kernels. */
#ifndef GKF_CUDA_LAUNCH_H
#define GKF_CUDA_LAUNCH_H

#include "fronts/cuda/module.h"

/* How a kernel is to be run. */
struct launch {
	CUfunction function;
	unsigned grid[3], block[3]; /* blocks, threads */
	unsigned dynamic_shared;    /* bytes */
	CUstream stream;
	bool per_thread, cooperative;
	void **params, **extra; /* as cuLaunchKernel is given them */
	const void *buffer;     /* instead: all parameters as they lie */
	/* As cuLaunchKernelEx is given them, and taken already. */
	const CUlaunchAttribute *attributes;
	unsigned attribute_count;
};

/* Checks a launch and its stream, and puts it into the stream. */
CUresult launch_start(CUcontext ctx, const struct launch *l);

/* Checks a launch, its stream not, and makes its task: the caller's to push. */
CUresult launch_make(CUcontext ctx, const struct launch *l,
		     struct gkf_task **ret_task);

/* What an attribute makes of a launch; launch.c. */
CUresult launch_attribute(const CUlaunchAttribute *a, struct launch *l);

/* Checks a launch's shape and reads its parameters, as they lie. */
CUresult launch_read(CUcontext ctx, const struct launch *l, void *ret_params);

/*
 * Blocks of `threads` that fit on an SM beside each other; -1: none can be.
 * occupancy.c.
 */
int occupancy_blocks(const struct cuda_device *d,
		     const struct gkf_ptx_kernel *k, int threads,
		     size_t dynamic_shared);

#endif
