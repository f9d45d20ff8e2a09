/* SPDX-License-Identifier: Apache-2.0 */
/* kernels.c - owns the table of libcusparse's kernels. */
#include "fronts/cusparse/params.h"

static struct native_kernel kernels[SPARSE_KERNELS] = {
#define KERNEL(id, body, params)                                               \
	[KERNEL_##id] = {"cusparse_" #id, body, sizeof(struct params), NULL},
#include "fronts/cusparse/kernels.def"
#undef KERNEL
};

struct native_library sparse_kernels = {kernels, SPARSE_KERNELS,
					PTHREAD_MUTEX_INITIALIZER, NULL};
