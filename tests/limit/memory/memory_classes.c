/* SPDX-License-Identifier: Apache-2.0 */
/* memory_classes.c - allocates device memory in each way that CUDA has. */
#include "limit/memory/memory_classes.h"
#include "base/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

CUdevice device;
CUmemoryPool pool;

static CUstream stream;

static CUresult take_plain(struct piece *p, size_t bytes)
{
	return cuMemAlloc_v2(&p->at, bytes);
}

static CUresult give_plain(struct piece *p)
{
	return cuMemFree_v2(p->at);
}

static CUresult take_pitch(struct piece *p, size_t bytes)
{
	size_t pitch;

	return cuMemAllocPitch_v2(&p->at, &pitch, 1000, bytes / 1000 + 1, 4);
}

static CUresult take_managed(struct piece *p, size_t bytes)
{
	return cuMemAllocManaged(&p->at, bytes, CU_MEM_ATTACH_GLOBAL);
}

static CUresult take_array(struct piece *p, size_t bytes)
{
	CUDA_ARRAY3D_DESCRIPTOR d = {.Width = 1000,
				     .Height = bytes / 4000 + 1,
				     .Format = CU_AD_FORMAT_FLOAT,
				     .NumChannels = 1};

	return cuArray3DCreate_v2((CUarray *)&p->handle, &d);
}

static CUresult give_array(struct piece *p)
{
	return cuArrayDestroy(p->handle);
}

static CUresult take_mipmap(struct piece *p, size_t bytes)
{
	CUDA_ARRAY3D_DESCRIPTOR d = {.Width = 1000,
				     .Height = bytes / 5400 + 1,
				     .Format = CU_AD_FORMAT_FLOAT,
				     .NumChannels = 1};

	return cuMipmappedArrayCreate((CUmipmappedArray *)&p->handle, &d, 4);
}

static CUresult give_mipmap(struct piece *p)
{
	return cuMipmappedArrayDestroy(p->handle);
}

static CUresult take_virtual(struct piece *p, size_t bytes)
{
	CUmemAllocationProp prop = {
	    .type = CU_MEM_ALLOCATION_TYPE_PINNED,
	    .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
	    .location = {CU_MEM_LOCATION_TYPE_DEVICE, device}};
	CUmemGenericAllocationHandle handle;
	CUresult r = cuMemCreate(&handle, (bytes + (2 << 20) - 1) & -(2 << 20),
				 &prop, 0);

	p->at = handle;
	return r;
}

CUresult give_virtual(struct piece *p)
{
	return cuMemRelease(p->at);
}

/* The handle is released at once: the mapping keeps the memory. */
static CUresult take_mapped(struct piece *p, size_t bytes)
{
	size_t size = (bytes + (2 << 20) - 1) & -(2 << 20);
	CUresult r = take_virtual(p, bytes);
	CUmemGenericAllocationHandle handle = p->at;

	if (r)
		return r;
	p->handle = (void *)size;
	r = cuMemAddressReserve(&p->at, size, 0, 0, 0);
	if (!r)
		r = cuMemMap(p->at, size, 0, handle, 0);
	cuMemRelease(handle);
	return r;
}

static CUresult give_mapped(struct piece *p)
{
	CUresult r = cuMemUnmap(p->at, (size_t)p->handle);

	return r ? r : cuMemAddressFree(p->at, (size_t)p->handle);
}

static CUresult take_async(struct piece *p, size_t bytes)
{
	return cuMemAllocAsync(&p->at, bytes, NULL);
}

static CUresult give_async(struct piece *p)
{
	CUresult r = cuMemFreeAsync(p->at, NULL);

	return r ? r : cuStreamSynchronize(NULL);
}

static CUresult take_pool(struct piece *p, size_t bytes)
{
	CUmemPoolProps props = {
	    .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
	    .location = {CU_MEM_LOCATION_TYPE_DEVICE, device}};
	CUresult r = pool ? CUDA_SUCCESS : cuMemPoolCreate(&pool, &props);

	return r ? r : cuMemAllocFromPoolAsync(&p->at, bytes, pool, NULL);
}

/* Allocates from a pool that can be shared with other processes. */
static CUresult take_shared_pool(struct piece *p, size_t bytes)
{
	CUmemPoolProps props = {
	    .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
	    .handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
	    .location = {CU_MEM_LOCATION_TYPE_DEVICE, device}};
	CUresult r = pool ? CUDA_SUCCESS : cuMemPoolCreate(&pool, &props);

	if (!r)
		r = cuMemAllocFromPoolAsync(&p->at, bytes, pool, NULL);
	return r ? r : cuStreamSynchronize(NULL);
}

static CUresult take_graph(struct piece *p, size_t bytes)
{
	CUDA_MEM_ALLOC_NODE_PARAMS node = {
	    .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
			  .location = {CU_MEM_LOCATION_TYPE_DEVICE, device}},
	    .bytesize = bytes};
	CUgraphNode made;
	CUresult r = cuGraphCreate((CUgraph *)&p->handle, 0);

	if (!r)
		r = cuGraphAddMemAllocNode(&made, p->handle, NULL, 0, &node);
	if (r)
		cuGraphDestroy(p->handle);
	return r;
}

static CUresult give_graph(struct piece *p)
{
	CUresult r = cuGraphDestroy(p->handle);

	return r ? r : cuCtxSynchronize();
}

/* An allocation in a stream that is being captured. */
static CUresult take_captured(struct piece *p, size_t bytes)
{
	CUresult r;

	if (!stream && (r = cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING)))
		return r;
	r = cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
	if (r)
		return r;
	r = cuMemAllocAsync(&p->at, bytes, stream);
	cuStreamEndCapture(stream, (CUgraph *)&p->handle);
	if (r && p->handle)
		cuGraphDestroy(p->handle);
	return r;
}

/* Captured and launched: the memory outlives the graph's run. */
static CUresult take_launched(struct piece *p, size_t bytes)
{
	CUresult r = take_captured(p, bytes);

	if (r)
		return r;
	r = cuGraphInstantiateWithFlags((CUgraphExec *)&p->more, p->handle, 0);
	if (!r)
		r = cuGraphLaunch((CUgraphExec)p->more, stream);
	if (!r)
		r = cuStreamSynchronize(stream);
	cuGraphDestroy(p->handle);
	if (r && p->more)
		cuGraphExecDestroy((CUgraphExec)p->more);
	return r;
}

static CUresult give_launched(struct piece *p)
{
	CUresult r = cuMemFreeAsync(p->at, stream);

	if (!r)
		r = cuStreamSynchronize(stream);
	return r ? r : cuGraphExecDestroy((CUgraphExec)p->more);
}

static CUresult take_green(struct piece *p, size_t bytes)
{
	CUdevResource resource;
	CUdevResourceDesc desc;
	CUresult r =
	    cuDeviceGetDevResource(device, &resource, CU_DEV_RESOURCE_TYPE_SM);

	(void)bytes;
	if (!r)
		r = cuDevResourceGenerateDesc(&desc, &resource, 1);
	return r ? r
		 : cuGreenCtxCreate((CUgreenCtx *)&p->handle, desc, device,
				    CU_GREEN_CTX_DEFAULT_STREAM);
}

static CUresult give_green(struct piece *p)
{
	return cuGreenCtxDestroy(p->handle);
}

static CUresult take_context(struct piece *p, size_t bytes)
{
	CUcontext old;
	CUresult r = cuCtxCreate_v4((CUcontext *)&p->handle, NULL, 0, device);

	(void)bytes;
	if (!r)
		r = cuCtxPopCurrent_v2(&old);
	return r;
}

static CUresult give_context(struct piece *p)
{
	return cuCtxDestroy_v2(p->handle);
}

/* Variables of a module with this many bytes. */
static CUresult take_module(struct piece *p, size_t bytes)
{
	char text[256];

	snprintf(text, sizeof text,
		 ".version 7.0\n.target sm_70\n.address_size 64\n"
		 ".visible .global .align 4 .b8 room[%zu];\n",
		 bytes);
	return cuModuleLoadData((CUmodule *)&p->handle, text);
}

static CUresult give_module(struct piece *p)
{
	return cuModuleUnload(p->handle);
}

const struct class memory_classes[] = {
    {"plain", take_plain, give_plain},
    {"pitch", take_pitch, give_plain},
    {"managed", take_managed, give_plain},
    {"array", take_array, give_array},
    {"mipmap", take_mipmap, give_mipmap},
    {"virtual", take_virtual, give_virtual},
    {"mapped", take_mapped, give_mapped},
    {"async", take_async, give_async},
    {"freed-async", take_plain, give_async},
    {"freed-sync", take_async, give_plain},
    {"pool", take_pool, give_async},
    {"shared-pool", take_shared_pool, give_async},
    {"graph", take_graph, give_graph},
    {"captured", take_captured, give_graph},
    {"launched", take_launched, give_launched},
    {"green", take_green, give_green},
    {"context", take_context, give_context},
    {"module", take_module, give_module},
};

const unsigned memory_class_count = COUNT(memory_classes);

const struct class *find_class(const char *name)
{
	for (unsigned i = 0; i < memory_class_count; i++)
		if (!strcmp(memory_classes[i].name, name))
			return &memory_classes[i];
	fprintf(stderr, "no class %s\n", name);
	exit(2);
}
