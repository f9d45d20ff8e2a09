/* SPDX-License-Identifier: Apache-2.0 */
/*
 * many_threads.c - a CUDA program of many threads, each of which makes random
 * calls: memory of all kinds, launches, graphs, code, contexts. Some may be
 * refused for lack of memory; nothing else may fail, and what was free at the
 * beginning is free at the end. Sanitizers watch it.
 */
#include "abi/cuda/cuda_abi.h"
#include "base/array.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 8, ROUNDS = 1000, KEPT = 8 };

#define BLOCK ((size_t)2 << 20)

static const char text[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
			   ".visible .global .align 4 .b8 room[3000000];\n"
			   ".visible .entry nothing() { ret; }\n";

static CUdevice device;
static CUcontext primary;
static CUfunction nothing;

struct own {
	pthread_t thread;
	uint64_t seed;
	CUstream stream;
	CUdeviceptr kept[KEPT];
};

static void fail(const char *what, CUresult r)
{
	fprintf(stderr, "threads: %s: error %d\n", what, (int)r);
	exit(1);
}

static void need(const char *what, CUresult r)
{
	if (r)
		fail(what, r);
}

/* False: there is no memory left. */
static bool have(const char *what, CUresult r)
{
	if (r && r != CUDA_ERROR_OUT_OF_MEMORY)
		fail(what, r);
	return !r;
}

static uint64_t choose(struct own *o, uint64_t count)
{
	o->seed ^= o->seed << 13;
	o->seed ^= o->seed >> 7;
	o->seed ^= o->seed << 17;
	return o->seed % count;
}

static size_t choose_size(struct own *o)
{
	return 1 + choose(o, choose(o, 4) ? 100000 : 60000000);
}

/* ---- what threads do ---- */

static void keep_or_free(struct own *o)
{
	CUdeviceptr *at = &o->kept[choose(o, KEPT)];

	if (*at)
		need("cuMemFree", cuMemFree_v2(*at));
	if (*at || !have("cuMemAlloc", cuMemAlloc_v2(at, choose_size(o))))
		*at = 0;
}

static void use_managed(struct own *o)
{
	CUdeviceptr at;

	if (have("cuMemAllocManaged",
		 cuMemAllocManaged(&at, choose_size(o), CU_MEM_ATTACH_GLOBAL)))
		need("cuMemFree", cuMemFree_v2(at));
}

static void use_stream_order(struct own *o)
{
	CUdeviceptr at;

	if (have("cuMemAllocAsync",
		 cuMemAllocAsync(&at, choose_size(o), o->stream)))
		need("cuMemFreeAsync", cuMemFreeAsync(at, o->stream));
	if (choose(o, 2))
		need("cuStreamSynchronize", cuStreamSynchronize(o->stream));
}

static void use_pool(struct own *o)
{
	CUmemPoolProps props = {
	    .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
	    .location = {CU_MEM_LOCATION_TYPE_DEVICE, device}};
	CUmemoryPool pool;
	CUdeviceptr at;

	need("cuMemPoolCreate", cuMemPoolCreate(&pool, &props));
	if (have("cuMemAllocFromPoolAsync",
		 cuMemAllocFromPoolAsync(&at, choose_size(o), pool, o->stream)))
		need("cuMemFreeAsync", cuMemFreeAsync(at, o->stream));
	need("cuMemPoolTrimTo", cuMemPoolTrimTo(pool, 0));
	need("cuMemPoolDestroy", cuMemPoolDestroy(pool));
}

static void map_memory(struct own *o)
{
	CUmemAllocationProp prop = {
	    .type = CU_MEM_ALLOCATION_TYPE_PINNED,
	    .location = {CU_MEM_LOCATION_TYPE_DEVICE, device}};
	size_t size = (1 + choose(o, 8)) * BLOCK;
	CUmemGenericAllocationHandle handle;
	CUdeviceptr at;

	if (!have("cuMemCreate", cuMemCreate(&handle, size, &prop, 0)))
		return;
	need("cuMemAddressReserve", cuMemAddressReserve(&at, size, 0, 0, 0));
	need("cuMemMap", cuMemMap(at, size, 0, handle, 0));
	need("cuMemRelease", cuMemRelease(handle));
	need("cuMemUnmap", cuMemUnmap(at, size));
	need("cuMemAddressFree", cuMemAddressFree(at, size));
}

static void use_array(struct own *o)
{
	CUDA_ARRAY3D_DESCRIPTOR d = {.Width = 1000,
				     .Height = choose_size(o) / 4000 + 1,
				     .Format = CU_AD_FORMAT_FLOAT,
				     .NumChannels = 1};
	CUarray array;

	if (have("cuArray3DCreate", cuArray3DCreate_v2(&array, &d)))
		need("cuArrayDestroy", cuArrayDestroy(array));
}

static void launch_some(struct own *o)
{
	for (uint64_t left = 1 + choose(o, 20); left; left--)
		need("cuLaunchKernel",
		     cuLaunchKernel(
			 nothing, 1 + (unsigned)choose(o, 4), 1, 1, 32, 1, 1, 0,
			 choose(o, 2) ? o->stream : NULL, NULL, NULL));
	if (!choose(o, 4))
		need("cuStreamSynchronize", cuStreamSynchronize(o->stream));
}

/* Captures an allocation and a launch. */
static void launch_graph(struct own *o)
{
	CUgraph graph;
	CUgraphExec exec;
	CUdeviceptr at;
	bool room;

	need(
	    "cuStreamBeginCapture",
	    cuStreamBeginCapture_v2(o->stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	room = have("cuMemAllocAsync",
		    cuMemAllocAsync(&at, choose_size(o), o->stream));
	need("cuLaunchKernel", cuLaunchKernel(nothing, 1, 1, 1, 1, 1, 1, 0,
					      o->stream, NULL, NULL));
	if (room)
		need("cuMemFreeAsync", cuMemFreeAsync(at, o->stream));
	need("cuStreamEndCapture", cuStreamEndCapture(o->stream, &graph));
	if (have("cuGraphInstantiate",
		 cuGraphInstantiateWithFlags(&exec, graph, 0))) {
		for (int i = 0; i < 3; i++)
			have("cuGraphLaunch", cuGraphLaunch(exec, o->stream));
		need("cuStreamSynchronize", cuStreamSynchronize(o->stream));
		need("cuGraphExecDestroy", cuGraphExecDestroy(exec));
	}
	need("cuGraphDestroy", cuGraphDestroy(graph));
}

static void load_code(struct own *o)
{
	CUmodule module;

	(void)o;
	if (have("cuModuleLoadData", cuModuleLoadData(&module, text)))
		need("cuModuleUnload", cuModuleUnload(module));
}

static void use_context(struct own *o)
{
	CUcontext ctx;
	CUdeviceptr at;

	if (choose(o, 8) ||
	    !have("cuCtxCreate", cuCtxCreate_v4(&ctx, NULL, 0, device)))
		return;
	have("cuMemAlloc", cuMemAlloc_v2(&at, choose_size(o)));
	need("cuCtxDestroy", cuCtxDestroy_v2(ctx));
	need("cuCtxSetCurrent", cuCtxSetCurrent(primary));
}

static void ask(struct own *o)
{
	size_t room, total;

	(void)o;
	need("cuMemGetInfo", cuMemGetInfo_v2(&room, &total));
	if (room > total)
		fail("free is more than total", 0);
}

/* Finds the driver's functions as runtimes do. */
static void look_up(struct own *o)
{
	CUdriverProcAddressQueryResult found;
	void *address = NULL;

	need("cuGetProcAddress",
	     cuGetProcAddress_v2("cuMemAlloc", &address, 13000, choose(o, 2),
				 &found));
	if (!address || address != dlsym(RTLD_DEFAULT, "cuMemAlloc_v2"))
		fail("cuMemAlloc has two addresses", 0);
}

static void (*const deeds[])(struct own *o) = {
    keep_or_free, use_managed, use_stream_order, use_pool,  map_memory,
    use_array,    launch_some, launch_graph,     load_code, use_context,
    ask,          look_up,
};

/* ---- the threads ---- */

static void *live(void *arg)
{
	struct own *o = arg;

	need("cuCtxSetCurrent", cuCtxSetCurrent(primary));
	need("cuStreamCreate",
	     cuStreamCreate(&o->stream, CU_STREAM_NON_BLOCKING));
	for (int i = 0; i < ROUNDS; i++)
		deeds[choose(o, COUNT(deeds))](o);
	for (int i = 0; i < KEPT; i++)
		if (o->kept[i])
			need("cuMemFree", cuMemFree_v2(o->kept[i]));
	need("cuStreamSynchronize", cuStreamSynchronize(o->stream));
	need("cuStreamDestroy", cuStreamDestroy_v2(o->stream));
	return NULL;
}

/* The free memory when nothing is kept in reserve. */
static size_t find_free(void)
{
	CUmemoryPool pool;
	size_t room, total;

	need("cuCtxSynchronize", cuCtxSynchronize());
	need("cuDeviceGetDefaultMemPool",
	     cuDeviceGetDefaultMemPool(&pool, device));
	need("cuMemPoolTrimTo", cuMemPoolTrimTo(pool, 0));
	need("cuDeviceGraphMemTrim", cuDeviceGraphMemTrim(device));
	need("cuMemGetInfo", cuMemGetInfo_v2(&room, &total));
	return room;
}

int main(void)
{
	static struct own own[THREADS];
	CUmodule module;
	size_t before, after;

	need("cuInit", cuInit(0));
	need("a context", cuDevicePrimaryCtxRetain(&primary, device));
	need("cuCtxSetCurrent", cuCtxSetCurrent(primary));
	need("cuModuleLoadData", cuModuleLoadData(&module, text));
	need("cuModuleGetFunction",
	     cuModuleGetFunction(&nothing, module, "nothing"));
	before = find_free();
	for (unsigned i = 0; i < THREADS; i++) {
		own[i].seed = i + 1;
		pthread_create(&own[i].thread, NULL, live, &own[i]);
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(own[i].thread, NULL);
	after = find_free();
	if (after != before)
		fprintf(stderr, "threads: %zu bytes free, then %zu\n", before,
			after);
	return after != before;
}
