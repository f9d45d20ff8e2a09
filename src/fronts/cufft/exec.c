/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec.c - runs transforms, each as a kernel whose parameters contain
 * everything it needs. So a plan may be destroyed while its transforms wait in
 * a stream or belong to a graph.
 */
#include "fronts/cufft/front.h"

static struct native_kernel kernels[] = {
    {"cufft_transform", fftw_run, sizeof(struct transform_run), NULL},
};
static struct native_library library = {kernels, 1, PTHREAD_MUTEX_INITIALIZER,
					NULL};

static cufftResult run_plan(const struct plan *p, const void *in,
			    const void *out, int direction)
{
	struct transform_run run = {.transform = p->transform,
				    .in = (CUdeviceptr)(uintptr_t)in,
				    .out = (CUdeviceptr)(uintptr_t)out};
	size_t alignment = transform_alignment(&run.transform);

	if (!in || !out || run.in % alignment || run.out % alignment)
		return CUFFT_INVALID_VALUE;
	run.transform.direction = direction;
	transform_lay_out(&run.transform, in == out);
	if (!fftw_prepare(&run.transform, run.in, run.out))
		return CUFFT_EXEC_FAILED;
	return native_launch(&library, 0, p->stream, &run) ? CUFFT_EXEC_FAILED
							   : CUFFT_SUCCESS;
}

static cufftResult run_handle(cufftHandle handle, int kind, int is_double,
			      const void *in, const void *out, int direction)
{
	const struct plan *p = plan_find(handle);

	if (!p || !p->made || p->transform.kind != kind ||
	    p->transform.is_double != is_double)
		return CUFFT_INVALID_PLAN;
	return run_plan(p, in, out, direction);
}

static bool is_direction(int direction)
{
	return direction == CUFFT_FORWARD || direction == CUFFT_INVERSE;
}

#define COMPLEX_TO_COMPLEX(symbol, is_double)                                  \
	EXPORT cufftResult symbol(cufftHandle plan, void *idata, void *odata,  \
				  int direction)                               \
	{                                                                      \
		if (!is_direction(direction))                                  \
			return CUFFT_INVALID_VALUE;                            \
		return run_handle(plan, COMPLEX, is_double, idata, odata,      \
				  direction);                                  \
	}
#define ONE_WAY(symbol, kind, is_double, direction)                            \
	EXPORT cufftResult symbol(cufftHandle plan, void *idata, void *odata)  \
	{                                                                      \
		return run_handle(plan, kind, is_double, idata, odata,         \
				  direction);                                  \
	}

COMPLEX_TO_COMPLEX(cufftExecC2C, 0)
COMPLEX_TO_COMPLEX(cufftExecZ2Z, 1)
ONE_WAY(cufftExecR2C, FROM_REAL, 0, CUFFT_FORWARD)
ONE_WAY(cufftExecD2Z, FROM_REAL, 1, CUFFT_FORWARD)
ONE_WAY(cufftExecC2R, TO_REAL, 0, CUFFT_INVERSE)
ONE_WAY(cufftExecZ2D, TO_REAL, 1, CUFFT_INVERSE)

/* Only complex-to-complex transforms use the direction. */
EXPORT cufftResult cufftXtExec(cufftHandle plan, void *input, void *output,
			       int direction)
{
	const struct plan *p = plan_find(plan);

	if (!p || !p->made)
		return CUFFT_INVALID_PLAN;
	if (p->transform.kind == FROM_REAL)
		direction = CUFFT_FORWARD;
	else if (p->transform.kind == TO_REAL)
		direction = CUFFT_INVERSE;
	else if (!is_direction(direction))
		return CUFFT_INVALID_VALUE;
	return run_plan(p, input, output, direction);
}
