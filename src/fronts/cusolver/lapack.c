/* SPDX-License-Identifier: Apache-2.0 */
/* lapack.c - finds LAPACK's functions in OpenBLAS. */
#include "fronts/cusolver/lapack.h"

#include "fronts/common/openblas.h"

#include <pthread.h>

static const struct openblas_function functions[] = {
#define PLACE(field, type)                                                     \
	(offsetof(struct lapack, field) + (type) * sizeof(void (*)(void)))
#define LAPACK(name, real, complex, params)                                    \
	{"s" #real "_", PLACE(name, TYPE_S)},                                  \
	    {"d" #real "_", PLACE(name, TYPE_D)},                              \
	    {"c" #complex "_", PLACE(name, TYPE_C)},                           \
	    {"z" #complex "_", PLACE(name, TYPE_Z)},
#define LAPACK_REAL(name, params)                                              \
	{"s" #name "_", PLACE(real_##name, 0)},                                \
	    {"d" #name "_", PLACE(real_##name, 1)},
#define LAPACK_COMPLEX(name, params)                                           \
	{"c" #name "_", PLACE(complex_##name, 0)},                             \
	    {"z" #name "_", PLACE(complex_##name, 1)},
#include "fronts/cusolver/lapack.def"
#undef LAPACK
#undef LAPACK_REAL
#undef LAPACK_COMPLEX
};

static struct lapack found;
static bool works;

static void find_functions(void)
{
	works = openblas_load("cuSOLVER", functions,
			      sizeof functions / sizeof *functions, &found);
}

const struct lapack *lapack(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, find_functions);
	return works ? &found : NULL;
}
