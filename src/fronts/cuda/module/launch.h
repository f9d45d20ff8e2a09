/* SPDX-License-Identifier: Apache-2.0 */
/* launch.h - checks kernel launches and makes their tasks. */
#ifndef GKF_CUDA_LAUNCH_H
#define GKF_CUDA_LAUNCH_H

#include "fronts/cuda/module/module.h"

/* A kernel launch as the program requested it. */
struct launch {
	CUfunction function;
	/* size of the grid in blocks, of a block in threads */
	unsigned grid[3], block[3];
	unsigned dynamic_shared; /* bytes */
	CUstream stream;
	bool per_thread, cooperative;
	void **params, **extra; /* the arguments of cuLaunchKernel */
	/* if not NULL: all parameters, laid out as in kernel memory */
	const void *buffer;
	/*
	 * The attributes given to cuLaunchKernelEx. They have been applied to
	 * the launch already.
	 */
	const CUlaunchAttribute *attributes;
	unsigned attribute_count;
};

/*
 * Checks a launch, except for its stream, and makes its task, which the caller
 * pushes.
 */
CUresult launch_make(CUcontext ctx, const struct launch *l,
		     struct gkf_task **ret_task);

/* Applies an attribute to a launch (launch_attribute.c). */
CUresult launch_attribute(const CUlaunchAttribute *a, struct launch *l);

/* Checks a launch and copies its parameters, laid out as in kernel memory. */
CUresult launch_read(CUcontext ctx, const struct launch *l, void *ret_params);

/*
 * Returns how many blocks of `threads` threads fit on an SM at once; 0: not
 * even one. Defined in occupancy.c.
 */
int occupancy_blocks(const struct cuda_device *d,
		     const struct gkf_ptx_kernel *k, int threads,
		     size_t dynamic_shared);

#endif
