/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graphs.cu - checks graphs of the runtime: explicit nodes, kernels by their
 * stubs, copies to and from symbols, children, clones, changes of an instance,
 * its memory, objects.
 */
#include "runtime.h"

__device__ int shelf[4];

__global__ void add(int *to, int n)
{
	*to += n;
}

__global__ void times(int *to, int n)
{
	*to *= n;
}

static cudaKernelNodeParams kernel_params(void *stub, void **args)
{
	cudaKernelNodeParams p;

	memset(&p, 0, sizeof p);
	p.func = stub;
	p.gridDim = dim3(1);
	p.blockDim = dim3(1);
	p.kernelParams = args;
	return p;
}

static cudaGraphNode_t add_kernel(cudaGraph_t graph,
				  const cudaGraphNode_t *deps, size_t count,
				  void (*stub)(int *, int), int *to, int n)
{
	void *args[] = {&to, &n};
	cudaKernelNodeParams p = kernel_params((void *)stub, args);
	cudaGraphNode_t node;

	OK(cudaGraphAddKernelNode(&node, graph, deps, count, &p));
	return node;
}

static int value_at(const int *at)
{
	int value;

	OK(cudaMemcpy(&value, at, sizeof value, cudaMemcpyDeviceToHost));
	return value;
}

static void launch(cudaGraph_t graph)
{
	cudaGraphExec_t exec;

	OK(cudaGraphInstantiate(&exec, graph, 0));
	OK(cudaGraphLaunch(exec, 0));
	OK(cudaDeviceSynchronize());
	OK(cudaGraphExecDestroy(exec));
}

/* 5, then times 3 plus 4, in this order. */
static void order(int *at)
{
	cudaMemsetParams set;
	cudaGraph_t graph;
	cudaGraphNode_t node[4];
	int five = 5, result = 0;

	OK(cudaGraphCreate(&graph, 0));
	OK(cudaGraphAddMemcpyNode1D(&node[0], graph, NULL, 0, at, &five,
				    sizeof five, cudaMemcpyHostToDevice));
	node[1] = add_kernel(graph, &node[0], 1, times, at, 3);
	node[2] = add_kernel(graph, &node[1], 1, add, at, 4);
	OK(cudaGraphAddMemcpyNode1D(&node[3], graph, &node[2], 1, &result, at,
				    sizeof result, cudaMemcpyDeviceToHost));
	launch(graph);
	EQUAL(result, 19);
	memset(&set, 0, sizeof set);
	set.dst = at;
	set.elementSize = 1;
	set.width = sizeof(int);
	set.height = 1;
	OK(cudaGraphAddMemsetNode(&node[0], graph, &node[3], 1, &set));
	launch(graph);
	EQUAL(result, 19);
	EQUAL(value_at(at), 0);
	OK(cudaGraphDestroy(graph));
}

static void told_again(int *at)
{
	cudaKernelNodeParams p;
	cudaMemcpy3DParms copy;
	cudaGraphNode_t node, other;
	cudaGraphNodeType type;
	cudaGraph_t graph;
	size_t count = 0;

	OK(cudaGraphCreate(&graph, 0));
	node = add_kernel(graph, NULL, 0, times, at, 7);
	OK(cudaGraphKernelNodeGetParams(node, &p));
	REQUIRE(p.func == (void *)times);
	EQUAL(p.blockDim.x, 1);
	EQUAL(*(int *)p.kernelParams[1], 7);
	OK(cudaGraphAddMemcpyNode1D(&other, graph, &node, 1, at, at + 1, 4,
				    cudaMemcpyDeviceToDevice));
	OK(cudaGraphMemcpyNodeGetParams(other, &copy));
	REQUIRE(copy.dstPtr.ptr == at);
	REQUIRE(copy.srcPtr.ptr == at + 1);
	EQUAL(copy.extent.width, 4);
	EQUAL(copy.kind, cudaMemcpyDeviceToDevice);
	OK(cudaGraphNodeGetType(other, &type));
	EQUAL(type, cudaGraphNodeTypeMemcpy);
	OK(cudaGraphGetNodes(graph, NULL, &count));
	EQUAL(count, 2);
	count = 1;
	OK(cudaGraphGetRootNodes(graph, &other, &count));
	EQUAL(count, 1);
	REQUIRE(other == node);
	OK(cudaGraphDestroy(graph));
}

static void symbols(void)
{
	int in[2] = {11, 22}, out[2] = {0, 0};
	cudaGraphNode_t node;
	cudaGraph_t graph;

	OK(cudaGraphCreate(&graph, 0));
	OK(cudaGraphAddMemcpyNodeToSymbol(&node, graph, NULL, 0, shelf, in,
					  sizeof in, sizeof(int),
					  cudaMemcpyHostToDevice));
	OK(cudaGraphAddMemcpyNodeFromSymbol(&node, graph, &node, 1, out, shelf,
					    sizeof out, sizeof(int),
					    cudaMemcpyDeviceToHost));
	launch(graph);
	EQUAL(out[0], 11);
	EQUAL(out[1], 22);
	EXPECT(cudaGraphAddMemcpyNodeFromSymbol(&node, graph, NULL, 0, out,
						shelf, sizeof out,
						4 * sizeof(int),
						cudaMemcpyDeviceToHost),
	       cudaErrorInvalidValue);
	OK(cudaGraphDestroy(graph));
}

static void parts(int *at)
{
	cudaGraph_t graph, child, clone;
	cudaGraphNode_t inner, part, copy;

	OK(cudaMemset(at, 0, sizeof *at));
	OK(cudaGraphCreate(&child, 0));
	OK(cudaGraphCreate(&graph, 0));
	inner = add_kernel(child, NULL, 0, add, at, 6);
	OK(cudaGraphAddChildGraphNode(&part, graph, NULL, 0, child));
	add_kernel(graph, &part, 1, times, at, 2);
	OK(cudaGraphClone(&clone, child));
	OK(cudaGraphNodeFindInClone(&copy, inner, clone));
	REQUIRE(copy != inner);
	OK(cudaGraphDestroy(child));
	launch(graph);
	EQUAL(value_at(at), 12);
	launch(clone);
	EQUAL(value_at(at), 18);
	OK(cudaGraphDestroy(graph));
	OK(cudaGraphDestroy(clone));
}

static void changes(int *at)
{
	cudaGraphExecUpdateResultInfo info;
	cudaGraph_t graph, other;
	cudaGraphNode_t node;
	cudaGraphExec_t exec;
	unsigned on;
	int n = 50;
	void *args[] = {&at, &n};
	cudaKernelNodeParams p = kernel_params((void *)add, args);

	OK(cudaMemset(at, 0, sizeof *at));
	OK(cudaGraphCreate(&graph, 0));
	node = add_kernel(graph, NULL, 0, add, at, 1);
	OK(cudaGraphInstantiate(&exec, graph, 0));
	OK(cudaGraphExecKernelNodeSetParams(exec, node, &p));
	OK(cudaGraphLaunch(exec, 0));
	OK(cudaGraphNodeSetEnabled(exec, node, 0));
	OK(cudaGraphNodeGetEnabled(exec, node, &on));
	EQUAL(on, 0);
	OK(cudaGraphLaunch(exec, 0));
	OK(cudaGraphNodeSetEnabled(exec, node, 1));
	OK(cudaGraphCreate(&other, 0));
	add_kernel(other, NULL, 0, times, at, 3);
	OK(cudaGraphExecUpdate(exec, other, &info));
	EQUAL(info.result, cudaGraphExecUpdateSuccess);
	OK(cudaGraphLaunch(exec, 0));
	OK(cudaDeviceSynchronize());
	EQUAL(value_at(at), 150);
	add_kernel(other, NULL, 0, times, at, 3);
	EXPECT(cudaGraphExecUpdate(exec, other, &info),
	       cudaErrorGraphExecUpdateFailure);
	EQUAL(info.result, cudaGraphExecUpdateErrorTopologyChanged);
	OK(cudaGraphExecDestroy(exec));
	OK(cudaGraphDestroy(graph));
	OK(cudaGraphDestroy(other));
}

/* Memory that the graph allocates, uses and frees. */
static void memory(void)
{
	cudaMemAllocNodeParams p;
	cudaGraph_t graph;
	cudaGraphNode_t alloc, set, sum, copy, last;
	cudaMemsetParams zero;
	cudaGraphExec_t exec;
	int result = 0;

	memset(&p, 0, sizeof p);
	p.poolProps.allocType = cudaMemAllocationTypePinned;
	p.poolProps.location.type = cudaMemLocationTypeDevice;
	p.bytesize = sizeof(int);
	OK(cudaGraphCreate(&graph, 0));
	OK(cudaGraphAddMemAllocNode(&alloc, graph, NULL, 0, &p));
	memset(&zero, 0, sizeof zero);
	zero.dst = p.dptr;
	zero.elementSize = 4;
	zero.width = zero.height = 1;
	OK(cudaGraphAddMemsetNode(&set, graph, &alloc, 1, &zero));
	sum = add_kernel(graph, &set, 1, add, (int *)p.dptr, 33);
	OK(cudaGraphAddMemcpyNode1D(&copy, graph, &sum, 1, &result, p.dptr,
				    sizeof result, cudaMemcpyDeviceToHost));
	OK(cudaGraphAddMemFreeNode(&last, graph, &copy, 1, p.dptr));
	OK(cudaGraphInstantiate(&exec, graph, 0));
	for (int i = 0; i < 3; i++) {
		result = 0;
		OK(cudaGraphLaunch(exec, 0));
		OK(cudaDeviceSynchronize());
		EQUAL(result, 33);
	}
	OK(cudaGraphExecDestroy(exec));
	OK(cudaGraphDestroy(graph));
	OK(cudaDeviceGraphMemTrim(0));
}

static void mark(void *word)
{
	__atomic_store_n((int *)word, 1, __ATOMIC_SEQ_CST);
}

static void objects(void)
{
	static int gone;
	cudaHostNodeParams host = {mark, NULL};
	static int called;
	cudaUserObject_t object;
	cudaGraphNode_t node;
	cudaGraph_t graph;
	double until = now() + 20;

	host.userData = &called;
	OK(cudaUserObjectCreate(&object, &gone, mark, 1,
				cudaUserObjectNoDestructorSync));
	OK(cudaGraphCreate(&graph, 0));
	OK(cudaGraphAddHostNode(&node, graph, NULL, 0, &host));
	OK(cudaGraphRetainUserObject(graph, object, 1,
				     cudaGraphUserObjectMove));
	launch(graph);
	EQUAL(called, 1);
	EQUAL(__atomic_load_n(&gone, __ATOMIC_SEQ_CST), 0);
	OK(cudaGraphDestroy(graph));
	while (!__atomic_load_n(&gone, __ATOMIC_SEQ_CST) && now() < until)
		rest(0.001);
	EQUAL(gone, 1);
}

int main(void)
{
	int *at;

	OK(cudaMalloc(&at, 2 * sizeof *at));
	order(at);
	told_again(at);
	symbols();
	parts(at);
	changes(at);
	memory();
	objects();
	OK(cudaFree(at));
	return 0;
}
