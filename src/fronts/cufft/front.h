/* SPDX-License-Identifier: Apache-2.0 */
/*
 * front.h - plans and how to run them, shared by the files of libcufft.
 *
 * A plan is a checked description of a transform (transform.h). Each launch
 * copies it into a kernel's parameters, 160 bytes, and the kernel's body runs
 * FFTW. FFTW's own plans are made when a transform is launched, because they
 * depend on the alignment of the data; they are cached (fftw.c).
 */
#ifndef GKF_CUFFT_FRONT_H
#define GKF_CUFFT_FRONT_H

#include "fronts/common/native.h"
#include "fronts/cufft/transform.h"

#define EXPORT __attribute__((visibility("default")))

#define PROPERTIES 2

struct plan {
	bool made;
	struct transform transform; /* valid if `made` is set */
	CUstream stream;
	long long properties[PROPERTIES];
};

/* Handles are never reused. Any thread may use any plan. */
cufftResult plan_new(cufftHandle *ret);
struct plan *plan_find(cufftHandle handle); /* NULL: no such plan */
cufftResult plan_free(cufftHandle handle);

/* Counts a refused call. */
cufftResult front_refuse(const char *symbol);

/* The parameters of the kernel that runs a transform. */
struct transform_run {
	struct transform transform;
	CUdeviceptr in, out;
};

/*
 * Opens FFTW for a precision (fftw.c). If it is missing, logs that and returns
 * false.
 */
bool fftw_ready(bool is_double);
/*
 * Makes FFTW's plan for a transform of these addresses, and sets t->aligned.
 * Call it only after fftw_ready() has returned true. Returns false if FFTW does
 * not support the transform.
 */
bool fftw_prepare(struct transform *t, CUdeviceptr in, CUdeviceptr out);
CUresult fftw_run(struct gpukit_run *run);

#endif
