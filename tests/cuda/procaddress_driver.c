/* SPDX-License-Identifier: Apache-2.0 */
/*
 * procaddress_driver.c - checks cuGetProcAddress: by name, version and stream;
 * what it does not find.
 */
#include "driver.h"

static void *find(const char *name, int version, cuuint64_t flags,
		  CUresult expected, CUdriverProcAddressQueryResult status)
{
	CUdriverProcAddressQueryResult found =
	    (CUdriverProcAddressQueryResult)77;
	void *at = &found;
	CUresult r = cuGetProcAddress(name, &at, version, flags, &found);

	if (r != expected || found != status)
		WRONG("%s %d: %s, status %d", name, version, name_of(r),
		      (int)found);
	return at;
}

int main(void)
{
	void *old, *young, *plain, *per_thread;

	OK(cuInit(0));
	old = find("cuMemAlloc", 2000, 0, CUDA_SUCCESS,
		   CU_GET_PROC_ADDRESS_SUCCESS);
	young = find("cuMemAlloc", CUDA_VERSION, 0, CUDA_SUCCESS,
		     CU_GET_PROC_ADDRESS_SUCCESS);
	REQUIRE(old && young && old != young);
	EQUAL(young, &cuMemAlloc);

	plain = find("cuMemcpyHtoDAsync", CUDA_VERSION,
		     CU_GET_PROC_ADDRESS_LEGACY_STREAM, CUDA_SUCCESS,
		     CU_GET_PROC_ADDRESS_SUCCESS);
	per_thread = find("cuMemcpyHtoDAsync", CUDA_VERSION,
			  CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM,
			  CUDA_SUCCESS, CU_GET_PROC_ADDRESS_SUCCESS);
	REQUIRE(plain && per_thread && plain != per_thread);

	EQUAL(find("cuNoSuchFunction", CUDA_VERSION, 0, CUDA_ERROR_NOT_FOUND,
		   CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND),
	      0);
	EQUAL(find("cuMemAllocAsync", 2000, 0, CUDA_ERROR_NOT_FOUND,
		   CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT),
	      0);
	EXPECT(cuGetProcAddress(NULL, &old, CUDA_VERSION, 0, NULL),
	       CUDA_ERROR_INVALID_VALUE);
	return 0;
}
