/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profiler.c - cuProfilerStart and cuProfilerStop, which do nothing, because no
 * profiler can be attached.
 */
#include "fronts/cuda/context/front.h"

CUresult cuProfilerStart(void)
{
	ENTER_CONTEXT(cuProfilerStart, ctx);
	(void)ctx;
	return CUDA_SUCCESS;
}

CUresult cuProfilerStop(void)
{
	ENTER_CONTEXT(cuProfilerStop, ctx);
	(void)ctx;
	return CUDA_SUCCESS;
}
