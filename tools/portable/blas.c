/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blas.c - the part of libgpukit-blas.so that is ours: the number of threads,
 * the one function of Fortran's library that LAPACK calls, and those that are
 * called for wrong arguments. LAPACK has reported these in `info`, and BLAS
 * does nothing then.
 */
#include "device/cpus.h"

#include <blis.h>
#include <stdlib.h>
#include <string.h>

/* Joins two texts of Fortran, which are padded with spaces. */
void _gfortran_concat_string(size_t size, char *to, size_t first_size,
			     const char *first, size_t second_size,
			     const char *second);
void _gfortran_concat_string(size_t size, char *to, size_t first_size,
			     const char *first, size_t second_size,
			     const char *second)
{
	if (first_size > size)
		first_size = size;
	if (second_size > size - first_size)
		second_size = size - first_size;
	memcpy(to, first, first_size);
	memcpy(to + first_size, second, second_size);
	memset(to + first_size + second_size, ' ',
	       size - first_size - second_size);
}

int xerbla_(const bla_character *function, const bla_integer *place,
	    ftnlen length)
{
	(void)function, (void)place, (void)length;
	return 0;
}

void cblas_xerbla(f77_int place, const char *function, const char *format, ...)
{
	(void)function, (void)place, (void)format;
}

static int count_processors(void)
{
	const char *chosen = getenv("OPENBLAS_NUM_THREADS");

	if (chosen && atoi(chosen) > 0)
		return atoi(chosen);
	return gk_cpu_count();
}

/*
 * As with OpenBLAS, all processors compute, or as many as its variable says.
 * BLIS starts its threads in each call and ends them again.
 */
__attribute__((constructor)) static void use_processors(void)
{
	bli_thread_set_num_threads(count_processors());
}
