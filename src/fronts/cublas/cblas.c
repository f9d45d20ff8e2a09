/* SPDX-License-Identifier: Apache-2.0 */
/* cblas.c - finds the functions of CBLAS and LAPACK in OpenBLAS. */
#include "fronts/cublas/cblas.h"

#include <pthread.h>

static const struct openblas_function functions[] = {
#define CBLAS(name, parameters)  {"cblas_" #name, offsetof(struct cblas, name)},
#define LAPACK(name, parameters) {#name "_", offsetof(struct cblas, name)},
#include "fronts/cublas/cblas.def"
#undef LAPACK
#undef CBLAS
};

static struct cblas found;
static bool works;

static void find_functions(void)
{
	works = openblas_load("cuBLAS", functions,
			      sizeof functions / sizeof *functions, &found);
}

const struct cblas *cblas(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, find_functions);
	return works ? &found : NULL;
}
