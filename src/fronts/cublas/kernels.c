/* SPDX-License-Identifier: Apache-2.0 */
/* kernels.c - owns the table of libcublas' kernels. */
#include "fronts/cublas/kernels.h"

static struct native_kernel kernels[] = {
#define KERNEL(name, type) {"cublas_" #name, run_##name, sizeof(type), NULL},
#include "fronts/cublas/kernels.def"
#undef KERNEL
};

struct native_library blas_kernels = {kernels, KERNELS,
				      PTHREAD_MUTEX_INITIALIZER, NULL};
