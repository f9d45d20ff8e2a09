/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_kernel_test.c - checks nodes that launch kernels: their parameters and
 * attributes.
 */
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

/* A cooperative kernel with more blocks than fit is refused. */
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

static void attributes_stay_when_parameters_change(void **state)
{
	CUdeviceptr at = words_made(1);
	CUgraph graph = graph_made();
	CUgraphNode node = kernel_added(graph, NULL, 0, "bump", at, 1);
	CUlaunchAttributeValue v = {.cooperative = 1}, got = {.cooperative = 0};
	CUDA_KERNEL_NODE_PARAMS p;
	uint32_t by = 10;
	void *params[] = {&at, &by};
	CUgraphExec exec;

	(void)state;
	assert_cuda(CU(cuGraphKernelNodeSetAttribute)(
			node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &v),
		    SUCCESS);
	exec = exec_made(graph);
	p = kernel_params("bump", params);
	assert_cuda(CU(cuGraphKernelNodeSetParams_v2)(node, &p), SUCCESS);
	assert_cuda(CU(cuGraphKernelNodeGetAttribute)(
			node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &got),
		    SUCCESS);
	assert_int_equal(got.cooperative, 1);
	assert_cuda(CU(cuGraphExecKernelNodeSetParams_v2)(exec, node, &p),
		    SUCCESS);
	launch_and_wait(exec, NULL);
	assert_int_equal(word_at(at), 10);
	p.gridDimX = 1000000;
	assert_cuda(CU(cuGraphExecKernelNodeSetParams_v2)(exec, node, &p),
		    SUCCESS);
	assert_cuda(CU(cuGraphLaunch)(exec, NULL),
		    ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
	assert_cuda(CU(cuGraphExecDestroy)(exec), SUCCESS);
	assert_cuda(CU(cuGraphDestroy)(graph), SUCCESS);
}

static void attributes_of_a_captured_launch_are_the_nodes(void **state)
{
	CUlaunchAttribute attributes[] = {
	    {.id = CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN,
	     .value.memSyncDomain = CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE},
	    {.id = CU_LAUNCH_ATTRIBUTE_IGNORE}};
	CUlaunchConfig config = {1, 1, 1, 1, 1, 1, 0, NULL, attributes, 2};
	CUdeviceptr at = words_made(1);
	CUlaunchAttributeValue got;
	uint32_t by = 4;
	void *params[] = {&at, &by};
	CUgraphNode node;
	size_t count = 1;
	CUgraph graph;

	(void)state;
	assert_cuda(CU(cuStreamCreateWithPriority)(&config.hStream,
						   CU_STREAM_NON_BLOCKING, -2),
		    SUCCESS);
	assert_cuda(CU(cuStreamBeginCapture_v2)(config.hStream,
						CU_STREAM_CAPTURE_MODE_GLOBAL),
		    SUCCESS);
	assert_cuda(
	    CU(cuLaunchKernelEx)(&config, graph_kernel("bump"), params, NULL),
	    SUCCESS);
	assert_cuda(CU(cuStreamEndCapture)(config.hStream, &graph), SUCCESS);
	assert_cuda(CU(cuGraphGetNodes)(graph, &node, &count), SUCCESS);
	assert_cuda(CU(cuGraphKernelNodeGetAttribute)(
			node, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, &got),
		    SUCCESS);
	assert_int_equal(got.memSyncDomain, CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE);
	assert_cuda(CU(cuGraphKernelNodeGetAttribute)(
			node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &got),
		    SUCCESS);
	assert_int_equal(got.priority, -2);
	run_once(graph);
	assert_int_equal(word_at(at), 4);
}

/* Parameters in one buffer, for a kernel of a library. */
static void a_kernel_of_a_library_is_a_node(void **state)
{
	struct {
		CUdeviceptr at;
		uint32_t by;
	} all = {words_made(1), 21};
	size_t size = sizeof all;
	void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &all,
			 CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
			 CU_LAUNCH_PARAM_END};
	CUDA_KERNEL_NODE_PARAMS p = {.gridDimX = 1,
				     .gridDimY = 1,
				     .gridDimZ = 1,
				     .blockDimX = 1,
				     .blockDimY = 1,
				     .blockDimZ = 1,
				     .extra = extra},
				told;
	CUgraph graph = graph_made();
	CUlibrary library;
	CUgraphNode node;

	(void)state;
	assert_cuda(CU(cuLibraryLoadData)(&library, graph_ptx, NULL, NULL, 0,
					  NULL, NULL, 0),
		    SUCCESS);
	assert_cuda(CU(cuLibraryGetKernel)(&p.kern, library, "bump"), SUCCESS);
	assert_cuda(CU(cuGraphAddKernelNode_v2)(&node, graph, NULL, 0, &p),
		    SUCCESS);
	assert_cuda(CU(cuGraphKernelNodeGetParams_v2)(node, &told), SUCCESS);
	assert_ptr_equal(told.kern, p.kern);
	assert_null(told.func);
	assert_null(told.kernelParams);
	assert_memory_equal(told.extra[1], &all, 12);
	all.by = 0; /* it was copied */
	run_once(graph);
	assert_int_equal(word_at(all.at), 21);
	assert_cuda(CU(cuLibraryUnload)(library), SUCCESS);
}

/* Its module is unloaded: a GPU would run code that is gone. */
static void a_node_whose_kernel_is_gone_is_not_launched(void **state)
{
	CUdeviceptr at = words_made(1);
	CUgraph graph = graph_made();
	CUgraphExec exec;

	(void)state;
	kernel_added(graph, NULL, 0, "bump", at, 1);
	exec = exec_made(graph);
	assert_cuda(CU(cuModuleUnload)(graph_module), SUCCESS);
	assert_cuda(CU(cuGraphLaunch)(exec, NULL), ERROR_INVALID_HANDLE);
	assert_cuda(CU(cuCtxSynchronize)(), SUCCESS);
	assert_cuda(CU(cuGraphExecDestroy)(exec), SUCCESS);
	assert_cuda(CU(cuGraphDestroy)(graph), SUCCESS);
}

/* Another kernel gets the handle of the one that is gone. */
static void a_node_does_not_run_the_next_kernel_of_a_handle(void **state)
{
	CUdeviceptr at = words_made(1);
	CUgraph graph = graph_made();
	CUfunction gone = graph_kernel("bump"), f = NULL;
	CUgraphExec exec, second;

	(void)state;
	kernel_added(graph, NULL, 0, "bump", at, 1);
	exec = exec_made(graph);
	for (unsigned i = 0; i < 10000 && f != gone; i++) {
		assert_cuda(CU(cuModuleUnload)(graph_module), SUCCESS);
		assert_cuda(CU(cuModuleLoadData)(&graph_module, graph_ptx),
			    SUCCESS);
		f = graph_kernel("bump");
	}
	assert_ptr_equal(f, gone);
	assert_cuda(CU(cuGraphInstantiateWithFlags)(&second, graph, 0),
		    ERROR_INVALID_HANDLE);
	assert_cuda(CU(cuGraphLaunch)(exec, NULL), ERROR_INVALID_HANDLE);
	assert_cuda(CU(cuCtxSynchronize)(), SUCCESS);
	assert_int_equal(word_at(at), 0);
	assert_cuda(CU(cuGraphExecDestroy)(exec), SUCCESS);
	assert_cuda(CU(cuGraphDestroy)(graph), SUCCESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    IN_GRAPH(parameters_are_told_as_they_were_given),
	    IN_GRAPH(attributes_of_kernels_are_kept_and_copied),
	    IN_GRAPH(a_cooperative_node_is_launched_as_one),
	    IN_GRAPH(attributes_stay_when_parameters_change),
	    IN_GRAPH(attributes_of_a_captured_launch_are_the_nodes),
	    IN_GRAPH(a_kernel_of_a_library_is_a_node),
	    IN_GRAPH(a_node_whose_kernel_is_gone_is_not_launched),
	    IN_GRAPH(a_node_does_not_run_the_next_kernel_of_a_handle),
	};

	return cmocka_run_group_tests(tests, cuda_setup_init, cuda_teardown);
}
