/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_kinds.cu - checks device, pinned, registered, mapped and managed
 * memory: what each is.
 */
#include "runtime.h"

#define BYTES 65536

static cudaPointerAttributes of(const void *at)
{
	cudaPointerAttributes found;

	OK(cudaPointerGetAttributes(&found, at));
	return found;
}

static void device_memory(void)
{
	char *at;

	OK(cudaMalloc(&at, BYTES));
	EQUAL((size_t)at % 256, 0);
	EQUAL(of(at).type, cudaMemoryTypeDevice);
	EQUAL(of(at + 100).type, cudaMemoryTypeDevice);
	EQUAL(of(at + 100).devicePointer, at + 100);
	EQUAL(of(at).hostPointer, 0);
	EQUAL(of(at).device, 0);
	OK(cudaFree(at));
	EQUAL(of(at).type, cudaMemoryTypeUnregistered);
}

static void pinned_memory(void)
{
	char *at;
	unsigned flags;

	OK(cudaMallocHost(&at, BYTES));
	memset(at, 1, BYTES);
	EQUAL(of(at + 5).type, cudaMemoryTypeHost);
	EQUAL(of(at + 5).hostPointer, at + 5);
	OK(cudaHostGetFlags(&flags, at));
	OK(cudaFreeHost(at));
	EQUAL(of(at).type, cudaMemoryTypeUnregistered);
}

static void registered_memory(void)
{
	char *at = (char *)aligned_alloc(4096, BYTES), *seen;

	EXPECT(cudaHostUnregister(at), cudaErrorHostMemoryNotRegistered);
	OK(cudaHostRegister(at, BYTES, cudaHostRegisterMapped));
	EXPECT(cudaHostRegister(at, BYTES, 0),
	       cudaErrorHostMemoryAlreadyRegistered);
	EQUAL(of(at).type, cudaMemoryTypeHost);
	OK(cudaHostGetDevicePointer(&seen, at, 0));
	OK(cudaMemset(seen, 7, BYTES));
	OK(cudaDeviceSynchronize());
	EQUAL(at[BYTES - 1], 7);
	OK(cudaHostUnregister(at));
	EQUAL(of(at).type, cudaMemoryTypeUnregistered);
	free(at);
}

static void managed_memory(void)
{
	char *at;

	OK(cudaMallocManaged(&at, BYTES));
	EQUAL(of(at).type, cudaMemoryTypeManaged);
	EQUAL(of(at).hostPointer, at);
	EQUAL(of(at).devicePointer, at);
	memset(at, 3, BYTES);
	OK(cudaFree(at));
}

int main(void)
{
	int here = 0;

	EQUAL(of(&here).type, cudaMemoryTypeUnregistered);
	device_memory();
	pinned_memory();
	registered_memory();
	managed_memory();
	/* Each of the errors above is reported once. */
	cudaGetLastError();
	OK(cudaGetLastError());
	return 0;
}
