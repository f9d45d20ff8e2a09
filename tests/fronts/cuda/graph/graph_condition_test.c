/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_condition_test.c - checks conditional nodes: if, while and switch, by
 * values that kernels set.
 */
#include "fronts/cuda/graph_fixture.h"

static CUgraphConditionalHandle handle_made(CUgraph graph, unsigned value,
					    unsigned flags)
{
	CUgraphConditionalHandle handle = 0;

	assert_cuda(CU(cuGraphConditionalHandleCreate)(&handle, graph, test_ctx,
						       value, flags),
		    SUCCESS);
	return handle;
}

static CUgraphNode conditional_added(CUgraph graph, const CUgraphNode *deps,
				     size_t count,
				     CUgraphConditionalHandle handle,
				     CUgraphConditionalNodeType type,
				     unsigned size, CUgraph *ret_bodies)
{
	CUgraphNodeParams p = {
	    .type = CU_GRAPH_NODE_TYPE_CONDITIONAL,
	    .conditional = {
		.handle = handle, .type = type, .size = size, .ctx = test_ctx}};
	CUgraphNode node = NULL;

	assert_cuda(CU(cuGraphAddNode_v2)(&node, graph, deps, NULL, count, &p),
		    SUCCESS);
	memcpy(ret_bodies, p.conditional.phGraph_out, size * sizeof(CUgraph));
	return node;
}

static CUgraphNode choose_added(CUgraph graph, CUgraphConditionalHandle handle,
				uint32_t value)
{
	return kernel_added(graph, NULL, 0, "choose", handle, value);
}

/* The value, and what the two bodies and the node after them find. */
static void an_if_runs_one_body_or_the_other(void **state)
{
	(void)state;
	for (unsigned value = 0; value < 3; value++) {
		CUdeviceptr at = words_made(3);
		CUgraph graph = graph_made(), body[2];
		CUgraphConditionalHandle h = handle_made(graph, 0, 0);
		CUgraphNode set = choose_added(graph, h, value),
			    node = conditional_added(graph, &set, 1, h,
						     CU_GRAPH_COND_TYPE_IF, 2,
						     body);

		kernel_added(body[0], NULL, 0, "bump", at, 1);
		kernel_added(body[1], NULL, 0, "bump", at + 4, 1);
		kernel_added(graph, &node, 1, "bump", at + 8, 1);
		run_once(graph);
		assert_int_equal(word_at(at), value != 0);
		assert_int_equal(word_at(at + 4), value == 0);
		assert_int_equal(word_at(at + 8), 1);
	}
}

static void a_while_runs_as_long_as_its_body_wants(void **state)
{
	CUdeviceptr at = words_made(2);
	CUgraph graph = graph_made(), body;
	CUgraphConditionalHandle h =
	    handle_made(graph, 1, CU_GRAPH_COND_ASSIGN_DEFAULT);
	CUgraphExec exec;
	CUgraphNode bump;
	void *params[] = {&h, &at};
	CUDA_KERNEL_NODE_PARAMS count = kernel_params("countdown", params);
	CUgraphNode node = conditional_added(
	    graph, NULL, 0, h, CU_GRAPH_COND_TYPE_WHILE, 1, &body);

	(void)state;
	bump = kernel_added(body, NULL, 0, "bump", at + 4, 1);
	assert_cuda(CU(cuGraphAddKernelNode_v2)(&bump, body, &bump, 1, &count),
		    SUCCESS);
	kernel_added(graph, &node, 1, "bump", at + 4, 1000);
	exec = exec_made(graph);
	for (unsigned launch = 1; launch <= 2; launch++) {
		assert_cuda(CU(cuMemsetD32_v2)(at, 25, 1), SUCCESS);
		launch_and_wait(exec, NULL);
		assert_int_equal(word_at(at), 0);
		assert_int_equal(word_at(at + 4), launch * 1025);
	}
	assert_cuda(CU(cuGraphExecDestroy)(exec), SUCCESS);
	assert_cuda(CU(cuGraphDestroy)(graph), SUCCESS);
}

static void a_switch_runs_the_body_of_that_number(void **state)
{
	(void)state;
	for (unsigned value = 0; value < 5; value++) {
		CUdeviceptr at = words_made(4);
		CUgraph graph = graph_made(), body[3];
		CUgraphConditionalHandle h = handle_made(graph, 0, 0);
		CUgraphNode set = choose_added(graph, h, value);

		conditional_added(graph, &set, 1, h, CU_GRAPH_COND_TYPE_SWITCH,
				  3, body);
		for (unsigned i = 0; i < 3; i++)
			kernel_added(body[i], NULL, 0, "bump", at + 4 * i, 1);
		run_once(graph);
		for (unsigned i = 0; i < 3; i++)
			assert_int_equal(word_at(at + 4 * i), i == value);
	}
}

/* An if in a while, in a graph that outlives its original. */
static void conditions_stand_in_each_other(void **state)
{
	CUdeviceptr at = words_made(2);
	CUgraph graph = graph_made(), outer, inner;
	CUgraphConditionalHandle w = handle_made(graph, 1,
						 CU_GRAPH_COND_ASSIGN_DEFAULT),
				 i = handle_made(graph, 1,
						 CU_GRAPH_COND_ASSIGN_DEFAULT);
	void *params[] = {&w, &at};
	CUDA_KERNEL_NODE_PARAMS count = kernel_params("countdown", params);
	CUgraphExec exec;
	CUgraphNode node;

	(void)state;
	conditional_added(graph, NULL, 0, w, CU_GRAPH_COND_TYPE_WHILE, 1,
			  &outer);
	assert_cuda(CU(cuGraphAddKernelNode_v2)(&node, outer, NULL, 0, &count),
		    SUCCESS);
	conditional_added(outer, &node, 1, i, CU_GRAPH_COND_TYPE_IF, 1, &inner);
	kernel_added(inner, NULL, 0, "bump", at + 4, 1);
	exec = exec_made(graph);
	assert_cuda(CU(cuGraphDestroy)(graph), SUCCESS);
	assert_cuda(CU(cuMemsetD32_v2)(at, 7, 1), SUCCESS);
	launch_and_wait(exec, NULL);
	assert_int_equal(word_at(at + 4), 7);
	assert_cuda(CU(cuGraphExecDestroy)(exec), SUCCESS);
}

static void a_body_is_captured(void **state)
{
	CUstream s = stream_made(CU_STREAM_NON_BLOCKING);
	CUdeviceptr at = words_made(1);
	CUgraph graph = graph_made(), body, got;
	CUgraphConditionalHandle h =
	    handle_made(graph, 1, CU_GRAPH_COND_ASSIGN_DEFAULT);

	(void)state;
	conditional_added(graph, NULL, 0, h, CU_GRAPH_COND_TYPE_IF, 1, &body);
	assert_cuda(CU(cuStreamBeginCaptureToGraph)(
			s, body, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_RELAXED),
		    SUCCESS);
	assert_cuda(CU(cuMemsetD32Async)(at, 5, 1, s), SUCCESS);
	assert_cuda(CU(cuStreamEndCapture)(s, &got), SUCCESS);
	run_once(graph);
	assert_int_equal(word_at(at), 5);
}

static CUgraph loop_made(CUdeviceptr at, uint32_t by)
{
	CUgraph graph = graph_made(), body;
	CUgraphConditionalHandle h =
	    handle_made(graph, 1, CU_GRAPH_COND_ASSIGN_DEFAULT);
	void *params[] = {&h, &at};
	CUDA_KERNEL_NODE_PARAMS count = kernel_params("countdown", params);
	CUgraphNode node;

	conditional_added(graph, NULL, 0, h, CU_GRAPH_COND_TYPE_WHILE, 1,
			  &body);
	node = kernel_added(body, NULL, 0, "bump", at + 4, by);
	assert_cuda(CU(cuGraphAddKernelNode_v2)(&node, body, &node, 1, &count),
		    SUCCESS);
	return graph;
}

/* The other graph has its own handle, which its kernels use. */
static void an_update_brings_its_conditions(void **state)
{
	CUgraphExecUpdateResultInfo info;
	CUdeviceptr at = words_made(2);
	CUgraph graph = loop_made(at, 1), other = loop_made(at, 10);
	CUgraphExec exec = exec_made(graph);

	(void)state;
	assert_cuda(CU(cuGraphDestroy)(graph), SUCCESS);
	assert_cuda(CU(cuMemsetD32_v2)(at, 3, 1), SUCCESS);
	assert_cuda(CU(cuGraphLaunch)(exec, NULL), SUCCESS);
	assert_cuda(CU(cuGraphExecUpdate_v2)(exec, other, &info), SUCCESS);
	assert_cuda(CU(cuGraphDestroy)(other), SUCCESS);
	assert_int_equal(word_at(at + 4), 3);
	assert_cuda(CU(cuMemsetD32_v2)(at, 4, 1), SUCCESS);
	launch_and_wait(exec, NULL);
	assert_int_equal(word_at(at + 4), 43);
	assert_cuda(CU(cuGraphExecDestroy)(exec), SUCCESS);
}

/* Moved into another graph together with its condition. */
static void a_part_has_conditions_of_its_own(void **state)
{
	CUdeviceptr at = words_made(2);
	CUgraph graph = graph_made(), loop = loop_made(at, 2);
	CUgraphNodeParams move = {
	    .type = CU_GRAPH_NODE_TYPE_GRAPH,
	    .graph = {loop, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE}};
	CUgraphNode node;
	CUgraphExec exec;

	(void)state;
	assert_cuda(CU(cuGraphAddNode_v2)(&node, graph, NULL, NULL, 0, &move),
		    SUCCESS);
	exec = exec_made(graph);
	for (int i = 0; i < 2; i++) {
		assert_cuda(CU(cuMemsetD32_v2)(at, 5, 1), SUCCESS);
		launch_and_wait(exec, NULL);
	}
	assert_int_equal(word_at(at + 4), 20);
	assert_cuda(CU(cuGraphExecDestroy)(exec), SUCCESS);
	assert_cuda(CU(cuGraphDestroy)(graph), SUCCESS);
}

/* The body is destroyed with its node while a stream is captured into it. */
static void a_body_that_goes_ends_its_capture(void **state)
{
	CUstream s = stream_made(CU_STREAM_NON_BLOCKING);
	CUdeviceptr at = words_made(1);
	CUgraph graph = graph_made(), body, got = (CUgraph)1;
	CUgraphConditionalHandle h = handle_made(graph, 1, 0);
	CUgraphNode node = conditional_added(graph, NULL, 0, h,
					     CU_GRAPH_COND_TYPE_IF, 1, &body);

	(void)state;
	assert_cuda(CU(cuStreamBeginCaptureToGraph)(
			s, body, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_RELAXED),
		    SUCCESS);
	assert_cuda(CU(cuGraphDestroyNode)(node), SUCCESS);
	assert_cuda(CU(cuMemsetD32Async)(at, 5, 1, s),
		    ERROR_STREAM_CAPTURE_INVALIDATED);
	assert_cuda(CU(cuStreamEndCapture)(s, &got),
		    ERROR_STREAM_CAPTURE_INVALIDATED);
	assert_null(got);
	assert_cuda(CU(cuGraphDestroy)(graph), SUCCESS);
}

static void what_cannot_be_is_told(void **state)
{
	CUgraph graph = graph_made(), other = graph_made(), body, clone;
	CUgraphConditionalHandle h = handle_made(graph, 0, 0),
				 idle = handle_made(graph, 0, 0);
	CUDA_GRAPH_INSTANTIATE_PARAMS params = {0};
	CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL,
			       .conditional = {.handle = h,
					       .type = CU_GRAPH_COND_TYPE_WHILE,
					       .size = 2,
					       .ctx = test_ctx}};
	CUDA_HOST_NODE_PARAMS host = {mark_pass, NULL};
	CUgraphNode node;
	CUgraphExec exec;

	(void)state;
	assert_cuda(CU(cuGraphAddNode_v2)(&node, graph, NULL, NULL, 0, &p),
		    ERROR_INVALID_VALUE);
	p.conditional.size = 1;
	assert_cuda(CU(cuGraphAddNode_v2)(&node, other, NULL, NULL, 0, &p),
		    ERROR_INVALID_VALUE);
	conditional_added(graph, NULL, 0, h, CU_GRAPH_COND_TYPE_IF, 1, &body);
	assert_cuda(CU(cuGraphAddNode_v2)(&node, graph, NULL, NULL, 0, &p),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuGraphAddHostNode)(&node, body, NULL, 0, &host),
		    ERROR_NOT_SUPPORTED);
	assert_cuda(CU(cuGraphClone)(&clone, graph), ERROR_NOT_SUPPORTED);
	assert_cuda(CU(cuGraphInstantiateWithParams)(&exec, graph, &params),
		    ERROR_INVALID_VALUE);
	assert_int_equal(params.result_out,
			 CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED);
	conditional_added(graph, NULL, 0, idle, CU_GRAPH_COND_TYPE_IF, 1,
			  &body);
	run_once(graph);
	assert_cuda(CU(cuGraphDestroy)(other), SUCCESS);
}

/* What a body does not accept is not accepted within a child graph either. */
static void a_body_takes_no_graph_of_what_it_does_not_take(void **state)
{
	CUgraph graph = graph_made(), part = graph_made(),
		around = graph_made(), body;
	CUgraphConditionalHandle h = handle_made(graph, 0, 0);
	CUDA_MEM_ALLOC_NODE_PARAMS alloc = {
	    .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
			  .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}},
	    .bytesize = 4096};
	CUgraphNodeParams move = {
	    .type = CU_GRAPH_NODE_TYPE_GRAPH,
	    .graph = {around, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE}};
	CUgraphNode node;

	(void)state;
	conditional_added(graph, NULL, 0, h, CU_GRAPH_COND_TYPE_IF, 1, &body);
	host_added(part, NULL, 0, mark_pass, NULL);
	assert_cuda(CU(cuGraphAddChildGraphNode)(&node, around, NULL, 0, part),
		    SUCCESS);
	assert_cuda(CU(cuGraphAddChildGraphNode)(&node, body, NULL, 0, around),
		    ERROR_NOT_SUPPORTED);
	assert_cuda(CU(cuGraphAddMemAllocNode)(&node, around, NULL, 0, &alloc),
		    SUCCESS);
	assert_cuda(CU(cuGraphAddNode_v2)(&node, body, NULL, NULL, 0, &move),
		    ERROR_NOT_SUPPORTED);
	run_once(graph);
	assert_cuda(CU(cuGraphDestroy)(part), SUCCESS);
	assert_cuda(CU(cuGraphDestroy)(around), SUCCESS);
}

/* It would be destroyed with the body, while the node still uses it. */
static void a_handle_of_a_body_is_of_no_use_outside(void **state)
{
	CUgraph graph = graph_made(), body, inner;
	CUgraphConditionalHandle h = handle_made(graph, 0, 0), of_body;
	CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL,
			       .conditional = {.type = CU_GRAPH_COND_TYPE_IF,
					       .size = 1,
					       .ctx = test_ctx}};
	CUgraphNode node;

	(void)state;
	conditional_added(graph, NULL, 0, h, CU_GRAPH_COND_TYPE_IF, 1, &body);
	of_body = handle_made(body, 0, 0);
	p.conditional.handle = of_body;
	assert_cuda(CU(cuGraphAddNode_v2)(&node, graph, NULL, NULL, 0, &p),
		    ERROR_INVALID_VALUE);
	conditional_added(body, NULL, 0, of_body, CU_GRAPH_COND_TYPE_IF, 1,
			  &inner);
	run_once(graph);
}

static void a_circle_in_a_body_is_found(void **state)
{
	CUDA_GRAPH_INSTANTIATE_PARAMS p = {0};
	CUgraph graph = graph_made(), body;
	CUgraphConditionalHandle h = handle_made(graph, 0, 0);
	CUgraphNode a, b;
	CUgraphExec exec;

	(void)state;
	conditional_added(graph, NULL, 0, h, CU_GRAPH_COND_TYPE_IF, 1, &body);
	a = empty_added(body, NULL, 0);
	b = empty_added(body, &a, 1);
	assert_cuda(CU(cuGraphAddDependencies)(body, &b, &a, 1), SUCCESS);
	assert_cuda(CU(cuGraphInstantiateWithParams)(&exec, graph, &p),
		    ERROR_INVALID_VALUE);
	assert_int_equal(p.result_out,
			 CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE);
	assert_true(p.hErrNode_out == a || p.hErrNode_out == b);
	assert_cuda(CU(cuGraphDestroy)(graph), SUCCESS);
}

/* An invalid handle would be a write to a wrong address. */
static void a_wrong_handle_is_a_fault(void **state)
{
	CUgraph graph = graph_made();
	CUgraphExec exec;

	(void)state;
	choose_added(graph, 4096, 1);
	exec = exec_made(graph);
	assert_cuda(CU(cuGraphLaunch)(exec, NULL), SUCCESS);
	assert_cuda(CU(cuCtxSynchronize)(), ERROR_ILLEGAL_ADDRESS);
	assert_cuda(CU(cuGraphExecDestroy)(exec), SUCCESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    IN_GRAPH(an_if_runs_one_body_or_the_other),
	    IN_GRAPH(a_while_runs_as_long_as_its_body_wants),
	    IN_GRAPH(a_switch_runs_the_body_of_that_number),
	    IN_GRAPH(conditions_stand_in_each_other),
	    IN_GRAPH(a_body_is_captured),
	    IN_GRAPH(an_update_brings_its_conditions),
	    IN_GRAPH(a_part_has_conditions_of_its_own),
	    IN_GRAPH(a_body_that_goes_ends_its_capture),
	    IN_GRAPH(what_cannot_be_is_told),
	    IN_GRAPH(a_body_takes_no_graph_of_what_it_does_not_take),
	    IN_GRAPH(a_handle_of_a_body_is_of_no_use_outside),
	    IN_GRAPH(a_circle_in_a_body_is_found),
	    IN_GRAPH(a_wrong_handle_is_a_fault),
	};

	return cmocka_run_group_tests(tests, cuda_setup_init, cuda_teardown);
}
