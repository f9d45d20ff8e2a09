/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_driver.c - checks streams and events: not ready, order, waits, time,
 * host functions.
 */
#include "driver.h"

static int calls;

static void CUDA_CB note(void *number)
{
	calls = calls * 10 + (int)(size_t)number;
}

static void launch(CUfunction spin, CUdeviceptr to, unsigned rounds,
		   CUstream stream)
{
	void *params[] = {&to, &rounds};

	OK(cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
}

int main(void)
{
	CUevent begin, end;
	CUstream a, b;
	CUfunction spin;
	CUdeviceptr to;
	CUcontext context, now;
	unsigned rounds, flags, result = 0;
	float ms = -1;

	start();
	spin = kernel(kernels(), "spin");
	OK(cuMemAlloc(&to, sizeof(int)));
	rounds = spin_rounds(spin, to);
	OK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
	OK(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
	OK(cuEventCreate(&begin, CU_EVENT_DEFAULT));
	OK(cuEventCreate(&end, CU_EVENT_BLOCKING_SYNC));
	OK(cuStreamGetFlags(a, &flags));
	EQUAL(flags, CU_STREAM_NON_BLOCKING);
	OK(cuStreamGetCtx(a, &context));
	OK(cuCtxGetCurrent(&now));
	EQUAL(context, now);

	OK(cuStreamQuery(a));
	OK(cuEventRecord(begin, a));
	launch(spin, to, rounds, a);
	OK(cuLaunchHostFunc(a, note, (void *)1));
	OK(cuEventRecord(end, a));
	OK(cuStreamWaitEvent(b, end, 0));
	OK(cuLaunchHostFunc(b, note, (void *)2));
	EXPECT(cuStreamQuery(a), CUDA_ERROR_NOT_READY);
	EXPECT(cuStreamQuery(b), CUDA_ERROR_NOT_READY);
	EXPECT(cuEventQuery(end), CUDA_ERROR_NOT_READY);
	EXPECT(cuEventElapsedTime(&ms, begin, end), CUDA_ERROR_NOT_READY);
	EQUAL(calls, 0);
	OK(cuStreamSynchronize(b));
	EQUAL(calls, 12);
	OK(cuEventQuery(end));
	OK(cuEventElapsedTime(&ms, begin, end));
	REQUIRE(ms > 2);

	/* Copies keep the order too. */
	OK(cuMemsetD32Async(to, 7, 1, a));
	launch(spin, to, 0, a);
	OK(cuMemcpyDtoHAsync(&result, to, sizeof result, a));
	OK(cuStreamSynchronize(a));
	EQUAL(result, 1);

	/* A stream that is destroyed while it works finishes its work. */
	launch(spin, to, rounds, a);
	OK(cuStreamDestroy(a));
	OK(cuCtxSynchronize());
	OK(cuMemcpyDtoH(&result, to, sizeof result));
	REQUIRE(result != 1);
	OK(cuStreamDestroy(b));
	OK(cuEventDestroy(begin));
	OK(cuEventDestroy(end));
	OK(cuMemFree(to));
	return 0;
}
