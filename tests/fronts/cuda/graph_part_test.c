/* An instance of a part whose nodes ask what the graph around it has. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
	    IN_GRAPH(a_condition_that_is_gone_is_a_fault),
	};

	return cmocka_run_group_tests(tests, cuda_setup_init, cuda_teardown);
}
