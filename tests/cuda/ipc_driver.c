/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ipc_driver.c - runs two processes on one buffer: the first starts itself
 * again with handles of its memory, and each sees what the other writes.
 */
#include "driver.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT 300000u

static CUdevice device;

static void text_of(const void *handle, char *text)
{
	for (int i = 0; i < CU_IPC_HANDLE_SIZE; i++)
		sprintf(text + 2 * i, "%02x",
			((const unsigned char *)handle)[i]);
}

static void handle_of(const char *text, void *handle)
{
	for (int i = 0; i < CU_IPC_HANDLE_SIZE; i++) {
		unsigned byte;

		REQUIRE(sscanf(text + 2 * i, "%2x", &byte) == 1);
		((unsigned char *)handle)[i] = (unsigned char)byte;
	}
}

static void run_kernel(const char *name, CUdeviceptr at, int value)
{
	unsigned n = COUNT;
	void *with_value[] = {&at, &value, &n}, *without[] = {&at, &n};

	OK(cuLaunchKernel(kernel(kernels(), name), (COUNT + 255) / 256, 1, 1,
			  256, 1, 1, 0, NULL,
			  strcmp(name, "fill") ? without : with_value, NULL));
	OK(cuCtxSynchronize());
}

static void check_all(CUdeviceptr at, int expected)
{
	int *host = (int *)malloc(COUNT * sizeof(int));

	OK(cuMemcpyDtoH(host, at, COUNT * sizeof(int)));
	for (unsigned i = 0; i < COUNT; i++)
		if (host[i] != expected)
			WRONG("%u: %d, not %d", i, host[i], expected);
	free(host);
}

/* The other process: it finds 7 everywhere, and writes 8. */
static int other(const char *text, const char *gone)
{
	CUipcMemHandle handle;
	CUdeviceptr a, b, base;
	size_t size;

	handle_of(gone, &handle);
	REQUIRE(
	    cuIpcOpenMemHandle(&a, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
	handle_of(text, &handle);
	OK(cuIpcOpenMemHandle(&a, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
	OK(cuIpcOpenMemHandle(&b, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
	EQUAL(a, b);
	OK(cuMemGetAddressRange(&base, &size, a));
	EQUAL(base, a);
	REQUIRE(size >= COUNT * sizeof(int));
	check_all(a, 7);
	run_kernel("increment", a, 0);
	OK(cuIpcCloseMemHandle(a));
	check_all(b, 8);
	OK(cuIpcCloseMemHandle(b));
	EXPECT(cuIpcCloseMemHandle(b), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemcpyDtoD(b, b, 4), CUDA_ERROR_INVALID_VALUE);
	return 0;
}

static int start_other(const char *self, const char *text, const char *gone)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		execl(self, self, text, gone, (char *)NULL);
		_exit(126);
	}
	REQUIRE(pid > 0 && waitpid(pid, &status, 0) == pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 125;
}

int main(int argc, char **argv)
{
	char text[2 * CU_IPC_HANDLE_SIZE + 1], gone[sizeof text];
	CUipcMemHandle handle, again;
	CUdeviceptr at, freed, opened;

	device = start();
	if (argc > 2)
		return other(argv[1], argv[2]);
	OK(cuMemAlloc(&freed, 4096));
	OK(cuIpcGetMemHandle(&handle, freed));
	text_of(&handle, gone);
	OK(cuMemFree(freed));
	OK(cuMemAlloc(&at, COUNT * sizeof(int)));
	OK(cuIpcGetMemHandle(&handle, at));
	OK(cuIpcGetMemHandle(&again, at));
	REQUIRE(!memcmp(&handle, &again, sizeof handle));
	text_of(&handle, text);
	/* Not allowed in the process that owns it. */
	EXPECT(cuIpcOpenMemHandle(&opened, handle,
				  CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
	       CUDA_ERROR_INVALID_CONTEXT);
	EXPECT(cuIpcCloseMemHandle(at), CUDA_ERROR_INVALID_VALUE);
	run_kernel("fill", at, 7);
	EQUAL(start_other(argv[0], text, gone), 0);
	check_all(at, 8);
	OK(cuMemFree(at));
	return 0;
}
