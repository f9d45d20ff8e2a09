/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_fixture.h - kernels that record when they ran, and short ways to make
 * nodes, for tests of graphs.
 */
#ifndef TESTS_CUDA_GRAPH_H
#define TESTS_CUDA_GRAPH_H

#include "fronts/cuda/stream_fixture.h"

/*
 * stamp(at, slot): at[1 + slot] gets the number of earlier stamps, at[0] counts
 * them. bump(at, by): *at += by. countdown(handle, at): decrements *at and sets
 * the condition to that value. choose(handle, value).
 */
static const char graph_ptx[] =
    ".version 7.0\n.target sm_50\n.address_size 64\n"
    ".extern .func cudaGraphSetConditional(.param .b64 h, .param .b32 v);\n"
    ".visible .entry stamp(.param .u64 at, .param .u32 slot)\n{\n"
    ".reg .u64 %rd<4>;\n.reg .u32 %r<3>;\n"
    "ld.param.u64 %rd1, [at];\nld.param.u32 %r1, [slot];\n"
    "atom.global.add.u32 %r2, [%rd1], 1;\n"
    "mul.wide.u32 %rd2, %r1, 4;\nadd.u64 %rd3, %rd1, %rd2;\n"
    "st.global.u32 [%rd3+4], %r2;\nret;\n}\n"
    ".visible .entry bump(.param .u64 at, .param .u32 by)\n{\n"
    ".reg .u64 %rd<2>;\n.reg .u32 %r<4>;\n"
    "ld.param.u64 %rd1, [at];\nld.param.u32 %r1, [by];\n"
    "ld.global.u32 %r2, [%rd1];\nadd.u32 %r3, %r2, %r1;\n"
    "st.global.u32 [%rd1], %r3;\nret;\n}\n"
    ".visible .entry countdown(.param .u64 handle, .param .u64 at)\n{\n"
    ".reg .u64 %rd<3>;\n.reg .u32 %r<3>;\n"
    "ld.param.u64 %rd1, [handle];\nld.param.u64 %rd2, [at];\n"
    "ld.global.u32 %r1, [%rd2];\nsub.u32 %r2, %r1, 1;\n"
    "st.global.u32 [%rd2], %r2;\n"
    "{\n.param .b64 p0;\nst.param.b64 [p0], %rd1;\n"
    ".param .b32 p1;\nst.param.b32 [p1], %r2;\n"
    "call cudaGraphSetConditional, (p0, p1);\n}\nret;\n}\n"
    ".visible .entry choose(.param .u64 handle, .param .u32 value)\n{\n"
    ".reg .u64 %rd<2>;\n.reg .u32 %r<2>;\n"
    "ld.param.u64 %rd1, [handle];\nld.param.u32 %r1, [value];\n"
    "{\n.param .b64 p0;\nst.param.b64 [p0], %rd1;\n"
    ".param .b32 p1;\nst.param.b32 [p1], %r1;\n"
    "call cudaGraphSetConditional, (p0, p1);\n}\nret;\n}\n";

static CUmodule graph_module;

static inline CUfunction graph_kernel(const char *name)
{
	CUfunction f = NULL;

	assert_cuda(CU(cuModuleGetFunction)(&f, graph_module, name), SUCCESS);
	return f;
}

static inline int graph_setup(void **state)
{
	if (ctx_setup(state))
		return -1;
	return CU(cuModuleLoadData)(&graph_module, graph_ptx);
}

#define IN_GRAPH(test)                                                         \
	cmocka_unit_test_setup_teardown(test, graph_setup, ctx_teardown)

/* Device memory of `words` words, all 0. */
static inline CUdeviceptr words_made(size_t words)
{
	CUdeviceptr at = 0;

	assert_cuda(CU(cuMemAlloc_v2)(&at, 4 * words), SUCCESS);
	assert_cuda(CU(cuMemsetD32_v2)(at, 0, words), SUCCESS);
	all_done(); /* whichever stream uses them next */
	return at;
}

static inline uint32_t word_at(CUdeviceptr at)
{
	uint32_t word = 0;

	assert_cuda(CU(cuMemcpyDtoH_v2)(&word, at, sizeof word), SUCCESS);
	return word;
}

static inline CUgraph graph_made(void)
{
	CUgraph graph = NULL;

	assert_cuda(CU(cuGraphCreate)(&graph, 0), SUCCESS);
	return graph;
}

/* A kernel with an address and a word, in one thread. */
static inline CUDA_KERNEL_NODE_PARAMS kernel_params(const char *name,
						    void **params)
{
	return (CUDA_KERNEL_NODE_PARAMS){.func = graph_kernel(name),
					 .gridDimX = 1,
					 .gridDimY = 1,
					 .gridDimZ = 1,
					 .blockDimX = 1,
					 .blockDimY = 1,
					 .blockDimZ = 1,
					 .kernelParams = params};
}

static inline CUgraphNode kernel_added(CUgraph graph, const CUgraphNode *deps,
				       size_t count, const char *name,
				       CUdeviceptr at, uint32_t word)
{
	void *params[] = {&at, &word};
	CUDA_KERNEL_NODE_PARAMS p = kernel_params(name, params);
	CUgraphNode node = NULL;

	assert_cuda(CU(cuGraphAddKernelNode_v2)(&node, graph, deps, count, &p),
		    SUCCESS);
	return node;
}

static inline CUgraphNode host_added(CUgraph graph, const CUgraphNode *deps,
				     size_t count, CUhostFn fn, void *data)
{
	CUDA_HOST_NODE_PARAMS p = {fn, data};
	CUgraphNode node = NULL;

	assert_cuda(CU(cuGraphAddHostNode)(&node, graph, deps, count, &p),
		    SUCCESS);
	return node;
}

static inline CUgraphNode empty_added(CUgraph graph, const CUgraphNode *deps,
				      size_t count)
{
	CUgraphNode node = NULL;

	assert_cuda(CU(cuGraphAddEmptyNode)(&node, graph, deps, count),
		    SUCCESS);
	return node;
}

static inline CUgraphExec exec_made(CUgraph graph)
{
	CUgraphExec exec = NULL;

	assert_cuda(CU(cuGraphInstantiateWithFlags)(&exec, graph, 0), SUCCESS);
	return exec;
}

static inline void launch_and_wait(CUgraphExec exec, CUstream stream)
{
	assert_cuda(CU(cuGraphLaunch)(exec, stream), SUCCESS);
	assert_cuda(CU(cuStreamSynchronize)(stream), SUCCESS);
}

static inline size_t node_count(CUgraph graph)
{
	size_t n = 0;

	assert_cuda(CU(cuGraphGetNodes)(graph, NULL, &n), SUCCESS);
	return n;
}

/* Instantiates a graph, launches it once, waits, and destroys both. */
static inline void run_once(CUgraph graph)
{
	CUgraphExec exec = exec_made(graph);
	CUstream s = stream_made(CU_STREAM_NON_BLOCKING);

	launch_and_wait(exec, s);
	assert_cuda(CU(cuGraphExecDestroy)(exec), SUCCESS);
	assert_cuda(CU(cuStreamDestroy_v2)(s), SUCCESS);
	assert_cuda(CU(cuGraphDestroy)(graph), SUCCESS);
}

#endif
