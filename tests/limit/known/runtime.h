/* SPDX-License-Identifier: Apache-2.0 */
/* runtime.h - the CUDA runtime for the programs of known.h. */
#ifndef LIMIT_KNOWN_RUNTIME_H
#define LIMIT_KNOWN_RUNTIME_H

#include "abi/cudart/cudart_abi.h"
#include "limit/known/known.h"

#define EXPECT(call, expected)                                                 \
	do {                                                                   \
		cudaError_t found_ = (call);                                   \
                                                                               \
		if (found_ != (expected))                                      \
			WRONG("%s: %s, not %s", #call,                         \
			      cudaGetErrorName(found_),                        \
			      cudaGetErrorName(expected));                     \
	} while (0)

#define OK(call) EXPECT(call, cudaSuccess)

/* 1: it succeeded, 0: out of memory; any other answer is wrong. */
#define FITS(call) fits(call, #call, __FILE__, __LINE__)

static inline int fits(cudaError_t result, const char *call, const char *file,
		       int line)
{
	if (result != cudaSuccess && result != cudaErrorMemoryAllocation)
		wrong(file, line, "%s: %s", call, cudaGetErrorName(result));
	if (result != cudaSuccess)
		EXPECT(cudaGetLastError(), cudaErrorMemoryAllocation);
	return result == cudaSuccess;
}

/* Makes the context of the first GPU. */
static inline void start(void)
{
	int count = 0;
	cudaError_t result = cudaGetDeviceCount(&count);

	if (result == cudaErrorNoDevice ||
	    result == cudaErrorInsufficientDriver)
		skip("no GPU here");
	OK(result);
	REQUIRE(count > 0);
	OK(cudaFree(NULL));
}

static inline void runtime_room(size_t *ret_free, size_t *ret_total)
{
	OK(cudaMemGetInfo(ret_free, ret_total));
}

/* Writes its first and last words and checks that they are read back. */
static inline void check_device_memory(void *thing, size_t bytes)
{
	const unsigned wrote[2] = {0x600dbeef, 0x0ddba11u};
	unsigned first = 0, last = 0;
	char *at = thing;

	OK(cudaMemset(at, 0x5e, bytes));
	OK(cudaMemcpy(&last, at + bytes - 4, 4, cudaMemcpyDeviceToHost));
	EQUAL(last, 0x5e5e5e5e);
	OK(cudaMemcpy(at, &wrote[0], 4, cudaMemcpyHostToDevice));
	OK(cudaMemcpy(at + bytes - 4, &wrote[1], 4, cudaMemcpyHostToDevice));
	OK(cudaMemcpy(&first, at, 4, cudaMemcpyDeviceToHost));
	OK(cudaMemcpy(&last, at + bytes - 4, 4, cudaMemcpyDeviceToHost));
	EQUAL(first, wrote[0]);
	EQUAL(last, wrote[1]);
}

static inline void free_device(void *thing)
{
	OK(cudaFree(thing));
}

/* Page-locked memory is the host's: the GPU has as much free as before. */
static inline void check_host_memory(unsigned char *at, size_t bytes)
{
	void *device;

	OK(cudaMalloc(&device, bytes));
	memset(at, 0xa5, bytes);
	at[bytes - 1] = 7;
	OK(cudaMemcpy(device, at, bytes, cudaMemcpyHostToDevice));
	memset(at, 0, bytes);
	OK(cudaMemcpy(at, device, bytes, cudaMemcpyDeviceToHost));
	EQUAL(at[0], 0xa5);
	EQUAL(at[bytes - 1], 7);
	OK(cudaFree(device));
}

/* Checks that no more of the GPU's memory is held than before. */
static inline void room_is(size_t before)
{
	size_t room, total;

	runtime_room(&room, &total);
	EQUAL(room, before);
}

/* The free bytes, after a check that the GPU seems as big as the limit. */
static inline size_t room_under(size_t limit)
{
	size_t room, total;

	runtime_room(&room, &total);
	if (limit)
		EQUAL(total, limit);
	return room;
}

#endif
