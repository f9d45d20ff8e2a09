/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limit_driver.h - calls of the driver for the loads of bench/limit_share.py:
 * each finds its function by its name, and ends the program when it fails.
 */
#ifndef BENCH_LIMIT_DRIVER_H
#define BENCH_LIMIT_DRIVER_H

#include "abi/cuda/cuda_abi.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static void *find(const char *name)
{
	static void *driver;
	void *found;

	if (!driver)
		driver = dlopen("libcuda.so.1", RTLD_NOW);
	found = driver ? dlsym(driver, name) : NULL;
	if (!found) {
		fprintf(stderr, "limit: no %s\n", name);
		exit(1);
	}
	return found;
}

#define CALL(function, ...)                                                    \
	do {                                                                   \
		CUresult r_ =                                                  \
		    ((__typeof__(function) *)find(#function))(__VA_ARGS__);    \
                                                                               \
		if (r_) {                                                      \
			fprintf(stderr, "limit: %s: %d\n", #function,          \
				(int)r_);                                      \
			exit(1);                                               \
		}                                                              \
	} while (0)

#endif
