/*
 * profiler.c - marks for a profiler. None can be attached, so they do what
 * they do in a process that nobody profiles: nothing.
 */
#include "fronts/cuda/front.h"

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
