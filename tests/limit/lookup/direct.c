/* SPDX-License-Identifier: Apache-2.0 */
/*
 * direct.c - calls the driver's functions as a program linked with the driver
 * does, where there is none. Prints their results, and what a probe finds.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>

int cuInit(unsigned int flags);
int cuMemGetInfo_v2(size_t *free, size_t *total);
int nvmlInit_v2(void);
int nvmlDeviceGetMemoryInfo(void *device, void *memory);

int main(void)
{
	size_t free = 1, total = 2;

	dlerror();
	printf("%d ", cuInit(0));
	printf("%d ", cuMemGetInfo_v2(&free, &total));
	printf("%d ", nvmlInit_v2());
	printf("%d\n", nvmlDeviceGetMemoryInfo(NULL, NULL));
	printf("%zu %zu %s\n", free, total, dlerror() ? "an error" : "clean");
	printf("%p\n", dlsym(RTLD_DEFAULT, "cuInit"));
	printf("%s\n", dlerror());
	return 0;
}
