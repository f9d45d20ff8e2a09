/* SPDX-License-Identifier: Apache-2.0 */
/*
 * where.c - prints which object contains the functions that the driver returns
 * for names.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);
	int (*get)(const char *, void **, int, uint64_t, int *);

	if (!driver)
		return 1;
	*(void **)&get = dlsym(driver, "cuGetProcAddress_v2");
	for (int i = 1; i < argc; i++) {
		void *found = NULL;
		int status;
		Dl_info info;

		if (get(argv[i], &found, 12000, 0, &status) ||
		    !dladdr(found, &info))
			printf("%s nowhere\n", argv[i]);
		else
			printf("%s %s\n", argv[i],
			       strrchr(info.dli_fname, '/') + 1);
	}
	return 0;
}
