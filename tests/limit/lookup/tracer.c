/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracer.c - is another preloaded library: it counts the calls of its own dlsym
 * and cuMemGetInfo_v2 and passes them on.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>

static int lookups, calls;

void *dlsym(void *handle, const char *name)
{
	static __typeof__(dlsym) *next;

	if (!next)
		*(void **)&next = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
	lookups++;
	return next(handle, name);
}

int cuMemGetInfo_v2(size_t *free, size_t *total);
int cuMemGetInfo_v2(size_t *free, size_t *total)
{
	int (*next)(size_t *, size_t *);

	*(void **)&next = dlsym(RTLD_NEXT, "cuMemGetInfo_v2");
	calls++;
	return next ? next(free, total) : -1;
}

__attribute__((destructor)) static void tell(void)
{
	printf("traced: %s lookups, %d calls\n", lookups ? "some" : "no",
	       calls);
	fflush(stdout);
}
