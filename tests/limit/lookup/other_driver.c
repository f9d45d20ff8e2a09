/* SPDX-License-Identifier: Apache-2.0 */
/*
 * other_driver.c - is a driver that exports some functions at addresses other
 * than those that cuGetProcAddress returns, as a driver may.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

int cuMemAlloc_v2(uint64_t *at, size_t size);
int cuMemFree_v2(uint64_t at);
int cuGetProcAddress(const char *symbol, void **pfn, int version,
		     uint64_t flags);
int cuGetProcAddress_v2(const char *symbol, void **pfn, int version,
			uint64_t flags, int *status);

static int allocate(uint64_t *at, size_t size)
{
	*at = size;
	return 0;
}

static int release(uint64_t at)
{
	return at ? 0 : 1;
}

int cuMemAlloc_v2(uint64_t *at, size_t size)
{
	return allocate(at, size);
}

int cuMemFree_v2(uint64_t at)
{
	return release(at);
}

int cuGetProcAddress(const char *symbol, void **pfn, int version,
		     uint64_t flags)
{
	int status;

	return cuGetProcAddress_v2(symbol, pfn, version, flags, &status);
}

int cuGetProcAddress_v2(const char *symbol, void **pfn, int version,
			uint64_t flags, int *status)
{
	(void)version, (void)flags;
	*pfn = !strcmp(symbol, "cuMemAlloc")  ? (void *)allocate
	       : !strcmp(symbol, "cuMemFree") ? (void *)release
	       : !strcmp(symbol, "cuNothing") ? (void *)strcmp
					      : NULL;
	*status = *pfn ? 0 : 1;
	return *pfn ? 0 : 500;
}
