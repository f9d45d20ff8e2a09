/* SPDX-License-Identifier: Apache-2.0 */
/* graph_edge_test.c - checks edges between the nodes of graphs. */
#include "fronts/cuda/graph_fixture.h"

static void edges_come_and_go(void **state)
{
	CUgraph graph = graph_made();
	CUgraphNode n[3], from[4], to[4], got[4];
	size_t count = 0;

	(void)state;
	for (int i = 0; i < 3; i++)
		n[i] = empty_added(graph, NULL, 0);
	from[0] = n[0];
	to[0] = n[1];
	from[1] = n[1];
	to[1] = n[2];
	assert_cuda(CU(cuGraphAddDependencies)(graph, from, to, 2), SUCCESS);
	assert_cuda(CU(cuGraphAddDependencies)(graph, from, to, 1),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuGraphAddDependencies)(graph, from, from, 1),
		    ERROR_INVALID_VALUE);
	count = 4;
	assert_cuda(CU(cuGraphGetEdges)(graph, from, to, &count), SUCCESS);
	assert_int_equal(count, 2);
	assert_ptr_equal(from[0], n[0]);
	assert_ptr_equal(to[0], n[1]);
	assert_null(from[2]);
	count = 4;
	assert_cuda(CU(cuGraphNodeGetDependencies)(n[2], got, &count), SUCCESS);
	assert_int_equal(count, 1);
	assert_ptr_equal(got[0], n[1]);
	assert_cuda(CU(cuGraphNodeGetDependentNodes)(n[2], NULL, &count),
		    SUCCESS);
	assert_int_equal(count, 0);
	count = 4;
	assert_cuda(CU(cuGraphGetRootNodes)(graph, got, &count), SUCCESS);
	assert_int_equal(count, 1);
	assert_cuda(CU(cuGraphDestroyNode)(n[1]), SUCCESS);
	assert_cuda(CU(cuGraphGetEdges)(graph, NULL, NULL, &count), SUCCESS);
	assert_int_equal(count, 0);
	assert_int_equal(node_count(graph), 2);
	assert_cuda(CU(cuGraphDestroy)(graph), SUCCESS);
}

/* Half of them would be worse than none. */
static void edges_are_added_all_or_none(void **state)
{
	CUgraph graph = graph_made();
	CUgraphNode a = empty_added(graph, NULL, 0),
		    b = empty_added(graph, NULL, 0), from[] = {a, a},
		    to[] = {b, b};
	size_t count;

	(void)state;
	assert_cuda(CU(cuGraphAddDependencies)(graph, from, to, 2),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuGraphGetEdges)(graph, NULL, NULL, &count), SUCCESS);
	assert_int_equal(count, 0);
	assert_cuda(CU(cuGraphAddDependencies)(graph, from, to, 1), SUCCESS);
	assert_cuda(CU(cuGraphRemoveDependencies)(graph, from, to, 2),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuGraphGetEdges)(graph, NULL, NULL, &count), SUCCESS);
	assert_int_equal(count, 1);
	assert_cuda(CU(cuGraphDestroy)(graph), SUCCESS);
}

static void edges_have_data_which_is_not_lost(void **state)
{
	CUgraphEdgeData early = {.from_port =
				     CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
				 .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC},
			wrong = {.to_port = 1}, got;
	CUdeviceptr at = words_made(3);
	CUgraph graph = graph_made();
	CUgraphNode k[3], node = NULL, other = NULL;
	size_t count = 1;

	(void)state;
	k[0] = kernel_added(graph, NULL, 0, "stamp", at, 0);
	k[1] = kernel_added(graph, NULL, 0, "stamp", at, 1);
	k[2] = empty_added(graph, NULL, 0);
	assert_cuda(
	    CU(cuGraphAddDependencies_v2)(graph, &k[0], &k[1], &wrong, 1),
	    ERROR_INVALID_VALUE);
	assert_cuda(
	    CU(cuGraphAddDependencies_v2)(graph, &k[0], &k[2], &early, 1),
	    ERROR_INVALID_VALUE);
	assert_cuda(
	    CU(cuGraphAddDependencies_v2)(graph, &k[0], &k[1], &early, 1),
	    SUCCESS);
	assert_cuda(CU(cuGraphNodeGetDependencies)(k[1], &node, &count),
		    ERROR_LOSSY_QUERY);
	assert_cuda(CU(cuGraphGetEdges)(graph, &node, &other, &count),
		    ERROR_LOSSY_QUERY);
	assert_null(node);
	assert_null(other);
	assert_cuda(
	    CU(cuGraphNodeGetDependencies_v2)(k[1], &node, &got, &count),
	    SUCCESS);
	assert_memory_equal(&got, &early, sizeof got);
	assert_cuda(CU(cuGraphRemoveDependencies)(graph, &k[0], &k[1], 1),
		    ERROR_INVALID_VALUE);
	run_once(graph);
	assert_true(word_at(at + 4) < word_at(at + 8));
}

static void a_circle_is_found(void **state)
{
	CUDA_GRAPH_INSTANTIATE_PARAMS p = {0};
	CUgraph graph = graph_made();
	CUgraphNode a = empty_added(graph, NULL, 0),
		    b = empty_added(graph, &a, 1),
		    c = empty_added(graph, &b, 1);
	CUgraphExec exec = (CUgraphExec)1;

	(void)state;
	assert_cuda(CU(cuGraphAddDependencies)(graph, &c, &b, 1), SUCCESS);
	assert_cuda(CU(cuGraphInstantiateWithParams)(&exec, graph, &p),
		    ERROR_INVALID_VALUE);
	assert_int_equal(p.result_out,
			 CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE);
	assert_true(p.hErrNode_out == b || p.hErrNode_out == c);
	assert_ptr_equal(exec, 1);
	assert_cuda(CU(cuGraphRemoveDependencies)(graph, &c, &b, 1), SUCCESS);
	run_once(graph);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    IN_GRAPH(edges_come_and_go),
	    IN_GRAPH(edges_are_added_all_or_none),
	    IN_GRAPH(edges_have_data_which_is_not_lost),
	    IN_GRAPH(a_circle_is_found),
	};

	return cmocka_run_group_tests(tests, cuda_setup_init, cuda_teardown);
}
