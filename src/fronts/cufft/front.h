/* front.h - what the files of libcufft share: plans and running them. */
#ifndef GKF_CUFFT_FRONT_H
#define GKF_CUFFT_FRONT_H

#include "fronts/common/native.h"
#include "fronts/cufft/transform.h"

#define EXPORT __attribute__((visibility("default")))

#define PROPERTIES 2

struct plan {
	bool made;
	struct transform transform; /* of a made one */
	CUstream stream;
	long long properties[PROPERTIES];
};

/* Handles are never used again. Any thread may ask for any plan. */
cufftResult plan_new(cufftHandle *ret);
struct plan *plan_find(cufftHandle handle); /* NULL: there is none */
cufftResult plan_free(cufftHandle handle);

/* Counts a refused call. */
cufftResult front_refuse(const char *symbol);

/* The parameters of the kernel that runs a transform. */
struct transform_run {
	struct transform transform;
	CUdeviceptr in, out;
};

/* fftw.c: whether the library that it needs can be had; logged if not. */
bool fftw_ready(bool is_double);
/*
 * Makes what a transform of these addresses needs; false: it cannot be done.
 * Sets t->aligned.
 */
bool fftw_prepare(struct transform *t, CUdeviceptr in, CUdeviceptr out);
CUresult fftw_run(struct gpukit_run *run);

#endif
