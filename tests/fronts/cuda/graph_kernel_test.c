/* Nodes that launch kernels: their parameters and attributes. */
#include "fronts/cuda/graph_fixture.h"

static void parameters_are_told_as_they_were_given(void **state)
{
	CUdeviceptr at = words_made(1);
	CUgraph graph = graph_made();
	CUgraphNode node = kernel_added(graph, NULL, 0, "bump", at, 12);
	CUDA_KERNEL_NODE_PARAMS p;
	CUgraphNodeType type;
	uint32_t by = 30;
	void *params[] = {&at, &by};

	(void)state;
	assert_cuda(CU(cuGraphNodeGetType)(node, &type), SUCCESS);
	assert_int_equal(type, CU_GRAPH_NODE_TYPE_KERNEL);
	assert_cuda(CU(cuGraphKernelNodeGetParams_v2)(node, &p), SUCCESS);
	assert_ptr_equal(p.func, graph_kernel("bump"));
	assert_int_equal(p.blockDimX, 1);
	assert_int_equal(*(uint32_t *)p.kernelParams[1], 12);
	assert_null(p.extra);
	p.kernelParams = params;
	assert_cuda(CU(cuGraphKernelNodeSetParams_v2)(node, &p), SUCCESS);
	p.blockDimX = 4096;
	assert_cuda(CU(cuGraphKernelNodeSetParams_v2)(node, &p),
		    ERROR_INVALID_VALUE);
	run_once(graph);
	assert_int_equal(word_at(at), 30);
}

static void attributes_of_kernels_are_kept_and_copied(void **state)
{
	CUdeviceptr at = words_made(1);
	CUgraph graph = graph_made();
	CUgraphNode a = kernel_added(graph, NULL, 0, "bump", at, 1),
		    b = kernel_added(graph, &a, 1, "bump", at, 1);
	CUlaunchAttributeValue v = {.priority = -3}, got;

	(void)state;
	assert_cuda(CU(cuGraphKernelNodeSetAttribute)(
			a, CU_LAUNCH_ATTRIBUTE_PRIORITY, &v),
		    SUCCESS);
	assert_cuda(CU(cuGraphKernelNodeGetAttribute)(
			b, CU_LAUNCH_ATTRIBUTE_PRIORITY, &got),
		    SUCCESS);
	assert_int_equal(got.priority, 0);
	assert_cuda(CU(cuGraphKernelNodeCopyAttributes)(b, a), SUCCESS);
	assert_cuda(CU(cuGraphKernelNodeGetAttribute)(
			b, CU_LAUNCH_ATTRIBUTE_PRIORITY, &got),
		    SUCCESS);
	assert_int_equal(got.priority, -3);
	assert_cuda(
	    CU(cuGraphKernelNodeSetAttribute)(a, (CUlaunchAttributeID)999, &v),
	    ERROR_INVALID_VALUE);
	v.programmaticEvent.event = NULL;
	assert_cuda(CU(cuGraphKernelNodeSetAttribute)(
			a, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, &v),
		    ERROR_NOT_SUPPORTED);
	run_once(graph);
	assert_int_equal(word_at(at), 2);
}

/* A cooperative kernel of more blocks than there is room for is too large. */
static void a_cooperative_node_is_launched_as_one(void **state)
{
	CUdeviceptr at = words_made(1);
	CUgraph graph = graph_made();
	CUgraphNode node = kernel_added(graph, NULL, 0, "bump", at, 1);
	CUlaunchAttributeValue v = {.cooperative = 1};
	CUDA_KERNEL_NODE_PARAMS p;
	CUgraphExec exec;

	(void)state;
	assert_cuda(CU(cuGraphKernelNodeGetParams_v2)(node, &p), SUCCESS);
	p.gridDimX = 1000000;
	assert_cuda(CU(cuGraphKernelNodeSetParams_v2)(node, &p), SUCCESS);
	assert_cuda(CU(cuGraphKernelNodeSetAttribute)(
			node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &v),
		    SUCCESS);
	exec = exec_made(graph);
	assert_cuda(CU(cuGraphLaunch)(exec, NULL),
		    ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
	assert_cuda(CU(cuGraphExecDestroy)(exec), SUCCESS);
	assert_cuda(CU(cuGraphDestroy)(graph), SUCCESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    IN_GRAPH(parameters_are_told_as_they_were_given),
	    IN_GRAPH(attributes_of_kernels_are_kept_and_copied),
	    IN_GRAPH(a_cooperative_node_is_launched_as_one),
	};

	return cmocka_run_group_tests(tests, cuda_setup_init, cuda_teardown);
}
