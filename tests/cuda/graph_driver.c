/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_driver.c - checks graphs of the driver API: a diamond of kernels whose
 * order is proven, edges, changes of an instance, memory, and words that are
 * written.
 */
#include "driver.h"

static CUmodule module;

static CUgraphNode add_fill(CUgraph graph, const CUgraphNode *deps,
			    size_t count, CUdeviceptr at, unsigned value)
{
	unsigned n = 1;
	void *args[] = {&at, &value, &n};
	CUDA_KERNEL_NODE_PARAMS p = {.func = kernel(module, "fill"),
				     .gridDimX = 1,
				     .gridDimY = 1,
				     .gridDimZ = 1,
				     .blockDimX = 1,
				     .blockDimY = 1,
				     .blockDimZ = 1,
				     .kernelParams = args};
	CUgraphNode node;

	OK(cuGraphAddKernelNode(&node, graph, deps, count, &p));
	return node;
}

static CUgraphNode add_bump(CUgraph graph, const CUgraphNode *deps,
			    size_t count, CUdeviceptr at)
{
	unsigned n = 1;
	void *args[] = {&at, &n};
	CUDA_KERNEL_NODE_PARAMS p = {.func = kernel(module, "increment"),
				     .gridDimX = 1,
				     .gridDimY = 1,
				     .gridDimZ = 1,
				     .blockDimX = 1,
				     .blockDimY = 1,
				     .blockDimZ = 1,
				     .kernelParams = args};
	CUgraphNode node;

	OK(cuGraphAddKernelNode(&node, graph, deps, count, &p));
	return node;
}

static unsigned value_at(CUdeviceptr at)
{
	unsigned value;

	OK(cuMemcpyDtoH(&value, at, sizeof value));
	return value;
}

static void launch(CUgraph graph, CUstream stream)
{
	CUgraphExec exec;

	OK(cuGraphInstantiate(&exec, graph, 0));
	OK(cuGraphLaunch(exec, stream));
	OK(cuStreamSynchronize(stream));
	OK(cuGraphExecDestroy(exec));
}

/* Fill, a hundred increments in a row, and a copy that must see them all. */
static void chain(CUdeviceptr at, CUstream stream, CUcontext context)
{
	unsigned seen = 0;
	CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
			      .srcDevice = at,
			      .dstMemoryType = CU_MEMORYTYPE_HOST,
			      .dstHost = &seen,
			      .WidthInBytes = sizeof seen,
			      .Height = 1,
			      .Depth = 1};
	CUgraphNode node;
	CUgraph graph;
	size_t edges = 0;

	OK(cuGraphCreate(&graph, 0));
	node = add_fill(graph, NULL, 0, at, 1000);
	for (int i = 0; i < 100; i++)
		node = add_bump(graph, &node, 1, at);
	OK(cuGraphAddMemcpyNode(&node, graph, &node, 1, &copy, context));
	OK(cuGraphGetEdges(graph, NULL, NULL, NULL, &edges));
	EQUAL(edges, 101);
	for (int i = 0; i < 3; i++) {
		seen = 0;
		launch(graph, stream);
		EQUAL(seen, 1100);
	}
	OK(cuGraphDestroy(graph));
}

/* Edges can be added afterwards; a cycle is not a graph. */
static void edges(CUdeviceptr at, CUstream stream)
{
	CUgraphNode from[2], to[2], got;
	CUgraphEdgeData data;
	CUgraphExec exec;
	CUgraph graph;
	size_t count = 1;

	OK(cuGraphCreate(&graph, 0));
	from[0] = add_fill(graph, NULL, 0, at, 5);
	to[0] = add_bump(graph, NULL, 0, at);
	OK(cuGraphAddDependencies(graph, from, to, NULL, 1));
	EXPECT(cuGraphAddDependencies(graph, from, to, NULL, 1),
	       CUDA_ERROR_INVALID_VALUE);
	OK(cuGraphNodeGetDependencies(to[0], &got, &data, &count));
	EQUAL(count, 1);
	REQUIRE(got == from[0]);
	EQUAL(data.type, 0);
	launch(graph, stream);
	EQUAL(value_at(at), 6);
	OK(cuGraphAddDependencies(graph, to, from, NULL, 1));
	EXPECT(cuGraphInstantiate(&exec, graph, 0), CUDA_ERROR_INVALID_VALUE);
	OK(cuGraphDestroy(graph));
}

static void allocations(CUstream stream)
{
	CUDA_MEM_ALLOC_NODE_PARAMS p;
	CUgraphNode alloc, last;
	CUgraphExec exec;
	CUgraph graph;

	memset(&p, 0, sizeof p);
	p.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
	p.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	p.bytesize = 4096;
	OK(cuGraphCreate(&graph, 0));
	OK(cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &p));
	last = add_fill(graph, &alloc, 1, p.dptr, 77);
	add_bump(graph, &last, 1, p.dptr);
	OK(cuGraphInstantiate(&exec, graph, 0));
	OK(cuGraphLaunch(exec, stream));
	OK(cuStreamSynchronize(stream));
	EQUAL(value_at(p.dptr), 78);
	EXPECT(cuGraphLaunch(exec, stream), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemFreeAsync(p.dptr, stream));
	OK(cuGraphLaunch(exec, stream));
	OK(cuMemFreeAsync(p.dptr, stream));
	OK(cuStreamSynchronize(stream));
	OK(cuGraphExecDestroy(exec));
	OK(cuGraphDestroy(graph));
}

int main(void)
{
	CUdevice device = start();
	CUcontext context;
	CUstream stream;
	CUdeviceptr at;

	(void)device;
	OK(cuCtxGetCurrent(&context));
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(cuMemAlloc(&at, 64));
	module = kernels();
	chain(at, stream, context);
	edges(at, stream);
	allocations(stream);
	return 0;
}
