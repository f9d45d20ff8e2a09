/* SPDX-License-Identifier: Apache-2.0 */
// nvcc: -rdc=true
/*
 * conditions.cu - checks conditional nodes: kernels decide which graph runs,
 * and how often.
 */
#include "runtime.h"

__global__ void count_down(cudaGraphConditionalHandle loop, int *left,
			   int *rounds)
{
	++*rounds;
	cudaGraphSetConditional(loop, --*left > 0);
}

__global__ void choose(cudaGraphConditionalHandle handle, unsigned value)
{
	cudaGraphSetConditional(handle, value);
}

__global__ void store(int *at, int value)
{
	*at = value;
}

static cudaGraphNode_t add_kernel(cudaGraph_t graph, void *stub, void **args)
{
	cudaKernelNodeParams p;
	cudaGraphNode_t node;

	memset(&p, 0, sizeof p);
	p.func = stub;
	p.gridDim = p.blockDim = dim3(1);
	p.kernelParams = args;
	OK(cudaGraphAddKernelNode(&node, graph, NULL, 0, &p));
	return node;
}

static void add_condition(cudaGraph_t graph, const cudaGraphNode_t *after,
			  cudaGraphConditionalHandle handle,
			  cudaGraphConditionalNodeType type, unsigned size,
			  cudaGraph_t *bodies)
{
	cudaGraphNodeParams p = {cudaGraphNodeTypeConditional};
	cudaGraphNode_t node;

	p.type = cudaGraphNodeTypeConditional;
	p.conditional.handle = handle;
	p.conditional.type = type;
	p.conditional.size = size;
	OK(cudaGraphAddNode(&node, graph, after, NULL, after ? 1 : 0, &p));
	memcpy(bodies, p.conditional.phGraph_out, size * sizeof *bodies);
}

static int value_at(const int *at)
{
	int value;

	OK(cudaMemcpy(&value, at, sizeof value, cudaMemcpyDeviceToHost));
	return value;
}

static void loop(int *at)
{
	cudaGraphConditionalHandle handle;
	cudaGraph_t graph, body;
	cudaGraphExec_t exec;
	int *rounds = at + 1, left = 12;
	void *args[] = {&handle, &at, &rounds};

	OK(cudaGraphCreate(&graph, 0));
	OK(cudaGraphConditionalHandleCreate(&handle, graph, 1,
					    cudaGraphCondAssignDefault));
	add_condition(graph, NULL, handle, cudaGraphCondTypeWhile, 1, &body);
	add_kernel(body, (void *)count_down, args);
	OK(cudaGraphInstantiate(&exec, graph, 0));
	OK(cudaMemset(at, 0, 2 * sizeof *at));
	for (int launch = 1; launch <= 2; launch++) {
		OK(cudaMemcpy(at, &left, sizeof left, cudaMemcpyHostToDevice));
		OK(cudaGraphLaunch(exec, 0));
		OK(cudaDeviceSynchronize());
		EQUAL(value_at(rounds), 12 * launch);
	}
	OK(cudaGraphExecDestroy(exec));
	OK(cudaGraphDestroy(graph));
}

static int taken(int *at, cudaGraphConditionalNodeType type, unsigned size,
		 unsigned value)
{
	cudaGraphConditionalHandle handle;
	cudaGraph_t graph, bodies[4];
	cudaGraphNode_t node;
	cudaGraphExec_t exec;
	void *args[] = {&handle, &value};

	OK(cudaMemset(at, 0, sizeof *at));
	OK(cudaGraphCreate(&graph, 0));
	OK(cudaGraphConditionalHandleCreate(&handle, graph, 0, 0));
	node = add_kernel(graph, (void *)choose, args);
	add_condition(graph, &node, handle, type, size, bodies);
	for (unsigned i = 0; i < size; i++) {
		int mark = 100 + (int)i;
		void *stored[] = {&at, &mark};

		add_kernel(bodies[i], (void *)store, stored);
	}
	OK(cudaGraphInstantiate(&exec, graph, 0));
	OK(cudaGraphLaunch(exec, 0));
	OK(cudaDeviceSynchronize());
	OK(cudaGraphExecDestroy(exec));
	OK(cudaGraphDestroy(graph));
	return value_at(at);
}

int main(void)
{
	int *at;

	OK(cudaMalloc(&at, 2 * sizeof *at));
	loop(at);
	EQUAL(taken(at, cudaGraphCondTypeIf, 1, 1), 100);
	EQUAL(taken(at, cudaGraphCondTypeIf, 1, 0), 0);
	EQUAL(taken(at, cudaGraphCondTypeIf, 2, 0), 101);
	EQUAL(taken(at, cudaGraphCondTypeSwitch, 4, 3), 103);
	EQUAL(taken(at, cudaGraphCondTypeSwitch, 4, 4), 0);
	return 0;
}
