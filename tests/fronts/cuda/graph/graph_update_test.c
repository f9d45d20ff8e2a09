/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_update_test.c - checks changes of instances: node by node, and by
 * graphs of the same form.
 */
#include "fronts/cuda/graph_fixture.h"

static CUDA_KERNEL_NODE_PARAMS bump_by(CUdeviceptr *at, uint32_t *by)
{
	static void *params[2];

	params[0] = at;
	params[1] = by;
	return kernel_params("bump", params);
}

static void a_node_of_an_instance_takes_other_parameters(void **state)
{
	CUdeviceptr at = words_made(2), other = at + 4;
	CUgraph graph = graph_made();
	CUgraphNode node = kernel_added(graph, NULL, 0, "bump", at, 1);
	CUgraphExec exec = exec_made(graph);
	CUDA_KERNEL_NODE_PARAMS p, kept;
	uint32_t by = 9;

	(void)state;
	p = bump_by(&other, &by);
	assert_cuda(CU(cuGraphExecKernelNodeSetParams_v2)(exec, node, &p),
		    SUCCESS);
	launch_and_wait(exec, NULL);
	assert_int_equal(word_at(at), 0);
	assert_int_equal(word_at(other), 9);
	/* The graph's own node is unchanged. */
	assert_cuda(CU(cuGraphKernelNodeGetParams_v2)(node, &kept), SUCCESS);
	assert_int_equal(*(uint32_t *)kept.kernelParams[1], 1);
	assert_cuda(CU(cuGraphExecDestroy)(exec), SUCCESS);
	assert_cuda(CU(cuGraphDestroy)(graph), SUCCESS);
}

/* Launches in progress keep what they were launched with. */
static void a_change_is_for_later_launches_only(void **state)
{
	CUstream s = stream_made(CU_STREAM_NON_BLOCKING);
	CUdeviceptr at = words_made(1);
	CUgraph graph = graph_made();
	CUgraphNode node = kernel_added(graph, NULL, 0, "bump", at, 1);
	CUgraphExec exec = exec_made(graph);
	CUDA_KERNEL_NODE_PARAMS p;
	uint32_t by = 100;
	struct gate gate;

	(void)state;
	p = bump_by(&at, &by);
	gate_enter(&gate, s);
	assert_cuda(CU(cuGraphLaunch)(exec, s), SUCCESS);
	assert_cuda(CU(cuGraphExecKernelNodeSetParams_v2)(exec, node, &p),
		    SUCCESS);
	gate_open(&gate);
	assert_cuda(CU(cuStreamSynchronize)(s), SUCCESS);
	assert_int_equal(word_at(at), 1);
	launch_and_wait(exec, s);
	assert_int_equal(word_at(at), 101);
	assert_cuda(CU(cuGraphExecDestroy)(exec), SUCCESS);
	assert_cuda(CU(cuGraphDestroy)(graph), SUCCESS);
}

static void nodes_are_switched_off_and_on(void **state)
{
	CUdeviceptr at = words_made(1);
	CUgraph graph = graph_made();
	CUgraphNode a = kernel_added(graph, NULL, 0, "bump", at, 1),
		    b = kernel_added(graph, &a, 1, "bump", at, 10),
		    e = empty_added(graph, NULL, 0);
	CUgraphExec exec = exec_made(graph);
	unsigned on = 7;

	(void)state;
	assert_cuda(CU(cuGraphNodeSetEnabled)(exec, a, 0), SUCCESS);
	assert_cuda(CU(cuGraphNodeGetEnabled)(exec, a, &on), SUCCESS);
	assert_int_equal(on, 0);
	assert_cuda(CU(cuGraphNodeGetEnabled)(exec, b, &on), SUCCESS);
	assert_int_equal(on, 1);
	assert_cuda(CU(cuGraphNodeSetEnabled)(exec, e, 0), ERROR_INVALID_VALUE);
	launch_and_wait(exec, NULL);
	assert_int_equal(word_at(at), 10);
	assert_cuda(CU(cuGraphNodeSetEnabled)(exec, a, 1), SUCCESS);
	launch_and_wait(exec, NULL);
	assert_int_equal(word_at(at), 21);
	assert_cuda(CU(cuGraphExecDestroy)(exec), SUCCESS);
	assert_cuda(CU(cuGraphDestroy)(graph), SUCCESS);
}

static void copies_and_sets_change_within_bounds(void **state)
{
	CUdeviceptr at = words_made(32);
	CUDA_MEMSET_NODE_PARAMS row = {.dst = at,
				       .value = 1,
				       .elementSize = 4,
				       .width = 2,
				       .height = 1},
				rows = {.dst = at + 64,
					.pitch = 8,
					.value = 2,
					.elementSize = 4,
					.width = 1,
					.height = 3};
	CUgraph graph = graph_made();
	CUgraphNode one, two;
	CUgraphExec exec;

	(void)state;
	assert_cuda(
	    CU(cuGraphAddMemsetNode)(&one, graph, NULL, 0, &row, test_ctx),
	    SUCCESS);
	assert_cuda(
	    CU(cuGraphAddMemsetNode)(&two, graph, NULL, 0, &rows, test_ctx),
	    SUCCESS);
	exec = exec_made(graph);
	row.width = 3;
	row.value = 5;
	assert_cuda(
	    CU(cuGraphExecMemsetNodeSetParams)(exec, one, &row, test_ctx),
	    SUCCESS);
	rows.height = 2;
	assert_cuda(
	    CU(cuGraphExecMemsetNodeSetParams)(exec, two, &rows, test_ctx),
	    ERROR_INVALID_VALUE);
	rows.height = 3;
	rows.value = 8;
	assert_cuda(
	    CU(cuGraphExecMemsetNodeSetParams)(exec, two, &rows, test_ctx),
	    SUCCESS);
	assert_cuda(
	    CU(cuGraphExecMemsetNodeSetParams)(exec, two, NULL, test_ctx),
	    ERROR_INVALID_VALUE);
	launch_and_wait(exec, NULL);
	assert_int_equal(word_at(at + 8), 5);
	assert_int_equal(word_at(at + 12), 0);
	assert_int_equal(word_at(at + 80), 8);
	assert_cuda(CU(cuGraphExecDestroy)(exec), SUCCESS);
	assert_cuda(CU(cuGraphDestroy)(graph), SUCCESS);
}

/* a -> b, a -> c, both -> d, made in any order. */
static CUgraph diamond(CUdeviceptr at, uint32_t by, CUgraphNode ret_node[4])
{
	CUgraph graph = graph_made();
	CUgraphNode *n = ret_node;

	n[0] = kernel_added(graph, NULL, 0, "bump", at, by);
	n[1] = kernel_added(graph, &n[0], 1, "bump", at + 4, by);
	n[2] = kernel_added(graph, &n[0], 1, "bump", at + 8, by);
	n[3] = kernel_added(graph, &n[1], 2, "bump", at + 12, by);
	return graph;
}

static void a_graph_of_the_same_form_updates_an_instance(void **state)
{
	CUgraphExecUpdateResultInfo info;
	CUdeviceptr at = words_made(4);
	CUgraphNode n[4], m[4];
	CUgraph graph = diamond(at, 1, n), other = diamond(at, 20, m);
	CUgraphExec exec = exec_made(graph);

	(void)state;
	assert_cuda(CU(cuGraphExecUpdate_v2)(exec, other, &info), SUCCESS);
	assert_int_equal(info.result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
	assert_cuda(CU(cuGraphDestroy)(other), SUCCESS);
	launch_and_wait(exec, NULL);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(word_at(at + 4 * i), 20);
	/*
	 * It still knows its nodes by those of the graph that it was made from.
	 */
	assert_cuda(CU(cuGraphNodeSetEnabled)(exec, n[3], 0), SUCCESS);
	launch_and_wait(exec, NULL);
	assert_int_equal(word_at(at + 12), 20);
	assert_int_equal(word_at(at), 40);
	assert_cuda(CU(cuGraphExecDestroy)(exec), SUCCESS);
	assert_cuda(CU(cuGraphDestroy)(graph), SUCCESS);
}

static void what_differs_is_told_and_changes_nothing(void **state)
{
	CUgraphExecUpdateResult result;
	CUgraphExecUpdateResultInfo info;
	CUdeviceptr at = words_made(4);
	CUgraphNode n[4], m[4], bad;
	CUgraph graph = diamond(at, 1, n), other = diamond(at, 20, m);
	CUgraphExec exec = exec_made(graph);

	(void)state;
	assert_cuda(CU(cuGraphRemoveDependencies)(other, &m[0], &m[2], 1),
		    SUCCESS);
	assert_cuda(CU(cuGraphExecUpdate_v2)(exec, other, &info),
		    ERROR_GRAPH_EXEC_UPDATE_FAILURE);
	assert_int_equal(info.result,
			 CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
	assert_ptr_equal(info.errorNode, m[2]);
	assert_cuda(CU(cuGraphDestroyNode)(m[3]), SUCCESS);
	assert_cuda(CU(cuGraphExecUpdate)(exec, other, &bad, &result),
		    ERROR_GRAPH_EXEC_UPDATE_FAILURE);
	assert_int_equal(result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
	assert_null(bad);
	assert_cuda(CU(cuGraphDestroy)(other), SUCCESS);
	other = diamond(at, 20, m);
	assert_cuda(CU(cuGraphDestroyNode)(m[1]), SUCCESS);
	m[1] = empty_added(other, &m[0], 1);
	assert_cuda(CU(cuGraphAddDependencies)(other, &m[1], &m[3], 1),
		    SUCCESS);
	assert_cuda(CU(cuGraphExecUpdate_v2)(exec, other, &info),
		    ERROR_GRAPH_EXEC_UPDATE_FAILURE);
	/* Its edges are in another order, so the types do not match. */
	assert_int_equal(info.result,
			 CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED);
	launch_and_wait(exec, NULL);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(word_at(at + 4 * i), 1);
	assert_cuda(CU(cuGraphExecDestroy)(exec), SUCCESS);
	assert_cuda(CU(cuGraphDestroy)(graph), SUCCESS);
	assert_cuda(CU(cuGraphDestroy)(other), SUCCESS);
}

/* A graph that copies two rows; `padding` fills the gaps of the parameters. */
static CUgraph rows_copied(CUdeviceptr at, size_t width, int padding)
{
	CUgraph graph = graph_made();
	CUDA_MEMCPY3D copy;
	CUgraphNode node;

	memset(&copy, padding, sizeof copy);
	copy.srcXInBytes = copy.srcY = copy.srcZ = copy.srcLOD = 0;
	copy.dstXInBytes = copy.dstY = copy.dstZ = copy.dstLOD = 0;
	copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
	copy.srcDevice = at;
	copy.dstDevice = at + 64;
	copy.srcPitch = copy.dstPitch = 16;
	copy.srcHeight = copy.dstHeight = 2;
	copy.reserved0 = copy.reserved1 = NULL;
	copy.WidthInBytes = width;
	copy.Height = 2;
	copy.Depth = 1;
	assert_cuda(
	    CU(cuGraphAddMemcpyNode)(&node, graph, NULL, 0, &copy, test_ctx),
	    SUCCESS);
	return graph;
}

static void what_pads_parameters_is_no_change(void **state)
{
	CUgraphExecUpdateResultInfo info;
	CUdeviceptr at = words_made(32);
	CUgraph graph = rows_copied(at, 8, 0), same = rows_copied(at, 8, 0xff),
		other = rows_copied(at, 12, 0);
	CUgraphExec exec = exec_made(graph);

	(void)state;
	assert_cuda(CU(cuGraphExecUpdate_v2)(exec, same, &info), SUCCESS);
	assert_cuda(CU(cuGraphExecUpdate_v2)(exec, other, &info),
		    ERROR_GRAPH_EXEC_UPDATE_FAILURE);
	assert_int_equal(info.result,
			 CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED);
	assert_cuda(CU(cuGraphExecDestroy)(exec), SUCCESS);
	assert_cuda(CU(cuGraphDestroy)(graph), SUCCESS);
	assert_cuda(CU(cuGraphDestroy)(same), SUCCESS);
	assert_cuda(CU(cuGraphDestroy)(other), SUCCESS);
}

/* As programs use it: capture again, then update. */
static void graphs_in_graphs_are_updated_too(void **state)
{
	CUdeviceptr at = words_made(4);
	CUgraphNode n[4], m[4], part;
	CUgraph child = diamond(at, 1, n), other = diamond(at, 3, m),
		graph = graph_made();
	CUgraphExec exec;

	(void)state;
	assert_cuda(CU(cuGraphAddChildGraphNode)(&part, graph, NULL, 0, child),
		    SUCCESS);
	exec = exec_made(graph);
	assert_cuda(CU(cuGraphExecChildGraphNodeSetParams)(exec, part, other),
		    SUCCESS);
	launch_and_wait(exec, NULL);
	assert_int_equal(word_at(at + 12), 3);
	assert_cuda(CU(cuGraphDestroyNode)(m[3]), SUCCESS);
	assert_cuda(CU(cuGraphExecChildGraphNodeSetParams)(exec, part, other),
		    ERROR_GRAPH_EXEC_UPDATE_FAILURE);
	assert_cuda(CU(cuGraphExecDestroy)(exec), SUCCESS);
	assert_cuda(CU(cuGraphDestroy)(graph), SUCCESS);
	assert_cuda(CU(cuGraphDestroy)(child), SUCCESS);
	assert_cuda(CU(cuGraphDestroy)(other), SUCCESS);
}

/* 20,000 nodes in a row, deeper than any recursion may go. */
static void a_long_chain_is_launched_and_updated(void **state)
{
	enum { LONG = 20000 };
	CUgraphExecUpdateResultInfo info;
	CUdeviceptr at = words_made(1);
	CUgraph graph = graph_made();
	CUgraphNode node = kernel_added(graph, NULL, 0, "bump", at, 1);
	CUgraphExec exec;

	(void)state;
	for (int i = 0; i < LONG; i++)
		node = empty_added(graph, &node, 1);
	kernel_added(graph, &node, 1, "bump", at, 2);
	exec = exec_made(graph);
	assert_cuda(CU(cuGraphExecUpdate_v2)(exec, graph, &info), SUCCESS);
	launch_and_wait(exec, NULL);
	assert_int_equal(word_at(at), 3);
	assert_cuda(CU(cuGraphExecDestroy)(exec), SUCCESS);
	assert_cuda(CU(cuGraphDestroy)(graph), SUCCESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    IN_GRAPH(a_node_of_an_instance_takes_other_parameters),
	    IN_GRAPH(a_change_is_for_later_launches_only),
	    IN_GRAPH(nodes_are_switched_off_and_on),
	    IN_GRAPH(copies_and_sets_change_within_bounds),
	    IN_GRAPH(a_graph_of_the_same_form_updates_an_instance),
	    IN_GRAPH(what_differs_is_told_and_changes_nothing),
	    IN_GRAPH(what_pads_parameters_is_no_change),
	    IN_GRAPH(graphs_in_graphs_are_updated_too),
	    IN_GRAPH(a_long_chain_is_launched_and_updated),
	};

	return cmocka_run_group_tests(tests, cuda_setup_init, cuda_teardown);
}
