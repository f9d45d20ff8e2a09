/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_part_test.c - checks graphs with a part that does not work: its GPU has
 * failed, or its nodes need what only the outer graph has.
 */
#include "fronts/cuda/graph_fixture.h"

static CUgraph if_added(CUgraph graph, CUgraphConditionalHandle handle)
{
	CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL,
			       .conditional = {.handle = handle,
					       .type = CU_GRAPH_COND_TYPE_IF,
					       .size = 1,
					       .ctx = test_ctx}};
	CUgraphNode node;

	assert_cuda(CU(cuGraphAddNode_v2)(&node, graph, NULL, NULL, 0, &p),
		    SUCCESS);
	return p.conditional.phGraph_out[0];
}

static void a_condition_that_is_gone_is_a_fault(void **state)
{
	CUgraph graph = graph_made(), body;
	CUgraphConditionalHandle outer, inner;
	CUgraphExec exec;

	(void)state;
	assert_cuda(
	    CU(cuGraphConditionalHandleCreate)(&outer, graph, test_ctx, 0, 0),
	    SUCCESS);
	assert_cuda(
	    CU(cuGraphConditionalHandleCreate)(&inner, graph, test_ctx, 0, 0),
	    SUCCESS);
	body = if_added(graph, outer);
	if_added(body, inner);
	exec = exec_made(body);
	assert_cuda(CU(cuGraphDestroy)(graph), SUCCESS);
	assert_cuda(CU(cuGraphLaunch)(exec, NULL), SUCCESS);
	assert_cuda(CU(cuCtxSynchronize)(), ERROR_ILLEGAL_ADDRESS);
	assert_cuda(CU(cuGraphExecDestroy)(exec), SUCCESS);
}

/* The first node's GPU works, the second one's has failed. */
static void a_node_on_a_gpu_that_failed_is_told(void **state)
{
	CUDA_MEMSET_NODE_PARAMS set = {
	    .value = 5, .elementSize = 4, .width = 1, .height = 1};
	CUdeviceptr at = words_made(1);
	CUgraph graph = graph_made();
	CUcontext other;
	CUfunction f;
	CUmodule m;
	CUgraphNode node;
	CUgraphExec exec;
	uint64_t nowhere = 4096;
	uint32_t by = 1;
	void *params[] = {&nowhere, &by};

	(void)state;
	set.dst = at;
	assert_cuda(
	    CU(cuGraphAddMemsetNode)(&node, graph, NULL, 0, &set, test_ctx),
	    SUCCESS);
	assert_cuda(CU(cuCtxCreate_v2)(&other, 0, 1), SUCCESS);
	assert_cuda(CU(cuMemAlloc_v2)(&set.dst, 4), SUCCESS);
	assert_cuda(
	    CU(cuGraphAddMemsetNode)(&node, graph, NULL, 0, &set, other),
	    SUCCESS);
	exec = exec_made(graph);
	assert_cuda(CU(cuModuleLoadData)(&m, graph_ptx), SUCCESS);
	assert_cuda(CU(cuModuleGetFunction)(&f, m, "bump"), SUCCESS);
	assert_cuda(
	    CU(cuLaunchKernel)(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL),
	    SUCCESS);
	assert_cuda(CU(cuCtxSynchronize)(), ERROR_ILLEGAL_ADDRESS);
	assert_cuda(CU(cuCtxSetCurrent)(test_ctx), SUCCESS);
	assert_cuda(CU(cuGraphLaunch)(exec, NULL), ERROR_ILLEGAL_ADDRESS);
	assert_int_equal(word_at(at), 0);
	assert_cuda(CU(cuGraphExecDestroy)(exec), SUCCESS);
	assert_cuda(CU(cuGraphDestroy)(graph), SUCCESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    IN_GRAPH(a_node_on_a_gpu_that_failed_is_told),
	    IN_GRAPH(a_condition_that_is_gone_is_a_fault),
	};

	return cmocka_run_group_tests(tests, cuda_setup_init, cuda_teardown);
}
