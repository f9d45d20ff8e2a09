/* SPDX-License-Identifier: Apache-2.0 */
/*
 * right_things.h - the objects of correct arguments, and what correct pointers
 * lead to; shared by the files of right.h.
 */
#ifndef TESTS_CUDA_RIGHT_THINGS_H
#define TESTS_CUDA_RIGHT_THINGS_H

#include "fronts/cuda/cuda_test.h"
#include "fronts/cuda/right.h"

#define RIGHT_PTX                                                              \
	".version 7.0\n.target sm_52\n.address_size 64\n"                      \
	".visible .global .align 4 .u32 thing;\n"                              \
	".visible .global .attribute(.managed) .align 4 .u32 shared;\n"        \
	".visible .entry every(.param .u64 p)\n{\n\tret;\n}\n"

/*
 * Correct arguments are made from these; nothing is NULL unless it could not be
 * made.
 */
struct right_things {
	CUcontext ctx, peer; /* of the second device */
	CUstream stream;
	CUevent event, primary_event, shared_event;
	CUdevResource sms;
	CUdevResourceDesc desc;
	CUgreenCtx green;
	CUasyncCallbackHandle notice;
	CUlogsCallbackHandle logs;
	CUdeviceptr memory;
	CUmodule module;
	CUfunction function;
	CUlibrary library;
	CUkernel kernel;
	CUarray array;
	CUmipmappedArray mipmap;
	CUmemoryPool pool, made_pool;
	CUlinkState link;
	char code[sizeof RIGHT_PTX];
	size_t code_size;
	CUdeviceptr managed;
	CUmemGenericAllocationHandle physical;
	CUdeviceptr reserved, mapped; /* of `step` bytes */
	size_t step;
	int descriptor, pool_descriptor;
	CUmemoryPool shared_pool;
	CUdeviceptr pooled;
	CUdevice second;
	int nothing, four, global, sync, shared_bytes, alone;
	const char *thing, *shared, *file;
	void *host, *registered;
	char bus[32], path[96];
};
extern struct right_things things;

extern const CUmemAllocationProp right_on_device;

uint64_t right_pointer(const struct arg *a);

#endif
