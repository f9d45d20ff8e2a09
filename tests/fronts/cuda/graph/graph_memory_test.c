/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_memory_test.c - checks memory that graphs allocate and free, and
 * objects that they hold.
 */
#include "fronts/cuda/graph_fixture.h"

#include <limits.h>
#include <unistd.h>

static CUDA_MEM_ALLOC_NODE_PARAMS alloc_params(size_t bytes)
{
	return (CUDA_MEM_ALLOC_NODE_PARAMS){
	    .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
			  .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}},
	    .bytesize = bytes};
}

static CUgraphNode alloc_added(CUgraph graph, size_t bytes, CUdeviceptr *ret_at)
{
	CUDA_MEM_ALLOC_NODE_PARAMS p = alloc_params(bytes);
	CUgraphNode node = NULL;

	assert_cuda(CU(cuGraphAddMemAllocNode)(&node, graph, NULL, 0, &p),
		    SUCCESS);
	*ret_at = p.dptr;
	return node;
}

static uint64_t told(CUgraphMem_attribute attribute)
{
	uint64_t value = 0;

	assert_cuda(CU(cuDeviceGetGraphMemAttribute)(0, attribute, &value),
		    SUCCESS);
	return value;
}

#define USED      told(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT)
#define USED_HIGH told(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH)

static void memory_lives_between_its_nodes(void **state)
{
	CUdeviceptr out = words_made(1), at;
	CUgraph graph = graph_made();
	CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
			      .dstMemoryType = CU_MEMORYTYPE_DEVICE,
			      .dstDevice = out,
			      .WidthInBytes = 4,
			      .Height = 1,
			      .Depth = 1};
	CUDA_MEMSET_NODE_PARAMS set = {
	    .value = 17, .elementSize = 4, .width = 1, .height = 1};
	CUgraphNode alloc = alloc_added(graph, 1 << 20, &at), node, last;
	CUgraphExec exec, second;
	CUdeviceptr told_at;

	(void)state;
	set.dst = copy.srcDevice = at;
	assert_cuda(
	    CU(cuGraphAddMemsetNode)(&node, graph, &alloc, 1, &set, test_ctx),
	    SUCCESS);
	assert_cuda(
	    CU(cuGraphAddMemcpyNode)(&last, graph, &node, 1, &copy, test_ctx),
	    SUCCESS);
	assert_cuda(CU(cuGraphAddMemFreeNode)(&node, graph, &last, 1, at),
		    SUCCESS);
	assert_cuda(CU(cuGraphAddMemFreeNode)(&last, graph, &node, 1, at),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuGraphMemFreeNodeGetParams)(node, &told_at), SUCCESS);
	assert_int_equal(told_at, at);
	exec = exec_made(graph);
	assert_cuda(CU(cuGraphInstantiateWithFlags)(&second, graph, 0),
		    ERROR_INVALID_VALUE);
	launch_and_wait(exec, NULL);
	launch_and_wait(exec, NULL);
	assert_int_equal(word_at(out), 17);
	assert_int_equal(USED, 0);
	assert_true(USED_HIGH >= 1 << 20);
	assert_cuda(CU(cuGraphExecDestroy)(exec), SUCCESS);
	exec = exec_made(graph);
	assert_cuda(CU(cuGraphExecDestroy)(exec), SUCCESS);
	assert_cuda(CU(cuGraphDestroy)(graph), SUCCESS);
}

/* Freeing it allows the graph to be launched again. */
static void memory_that_a_graph_leaves_is_freed_outside(void **state)
{
	CUstream s = stream_made(CU_STREAM_NON_BLOCKING);
	CUgraph graph = graph_made();
	CUgraphExec exec;
	CUdeviceptr at;

	(void)state;
	alloc_added(graph, 4096, &at);
	exec = exec_made(graph);
	assert_cuda(CU(cuMemFreeAsync)(at, s), ERROR_INVALID_VALUE);
	launch_and_wait(exec, s);
	assert_int_equal(USED, 4096);
	assert_cuda(CU(cuGraphLaunch)(exec, s), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemsetD8Async)(at, 1, 4096, s), SUCCESS);
	assert_cuda(CU(cuMemFreeAsync)(at, s), SUCCESS);
	assert_cuda(CU(cuMemFreeAsync)(at, s), ERROR_INVALID_VALUE);
	launch_and_wait(exec, s);
	assert_cuda(CU(cuMemFree_v2)(at), SUCCESS);
	assert_int_equal(USED, 0);
	assert_cuda(CU(cuGraphExecDestroy)(exec), SUCCESS);
	assert_cuda(CU(cuGraphDestroy)(graph), SUCCESS);
}

static void launches_free_what_the_last_one_left_if_told_to(void **state)
{
	CUgraph graph = graph_made();
	CUgraphExec exec;
	CUdeviceptr at;

	(void)state;
	alloc_added(graph, 4096, &at);
	assert_cuda(
	    CU(cuGraphInstantiateWithFlags)(
		&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH),
	    SUCCESS);
	for (int i = 0; i < 3; i++)
		launch_and_wait(exec, NULL);
	assert_int_equal(USED, 4096);
	assert_cuda(CU(cuMemFree_v2)(at), SUCCESS);
	assert_cuda(CU(cuGraphExecDestroy)(exec), SUCCESS);
	assert_cuda(CU(cuGraphDestroy)(graph), SUCCESS);
}

static void another_graph_frees_it(void **state)
{
	CUgraph graph = graph_made(), freeing = graph_made();
	CUgraphExec exec, free_exec;
	CUgraphNode node;
	CUdeviceptr at;

	(void)state;
	alloc_added(graph, 4096, &at);
	assert_cuda(CU(cuGraphAddMemFreeNode)(&node, freeing, NULL, 0, at),
		    SUCCESS);
	assert_cuda(CU(cuGraphAddMemFreeNode)(&node, graph, NULL, 0, at),
		    ERROR_INVALID_VALUE);
	exec = exec_made(graph);
	free_exec = exec_made(freeing);
	assert_cuda(CU(cuGraphLaunch)(free_exec, NULL), ERROR_INVALID_VALUE);
	for (int i = 0; i < 2; i++) {
		launch_and_wait(exec, NULL);
		launch_and_wait(free_exec, NULL);
	}
	assert_int_equal(USED, 0);
	assert_cuda(CU(cuGraphExecDestroy)(exec), SUCCESS);
	assert_cuda(CU(cuGraphExecDestroy)(free_exec), SUCCESS);
	assert_cuda(CU(cuGraphDestroy)(graph), SUCCESS);
	assert_cuda(CU(cuGraphDestroy)(freeing), SUCCESS);
}

/* Used memory exists until the graph, its instance and its user are done */
static void memory_outlives_a_graph_that_left_it(void **state)
{
	CUgraph graph = graph_made();
	CUgraphExec exec;
	CUdeviceptr at;

	(void)state;
	alloc_added(graph, 4096, &at);
	exec = exec_made(graph);
	launch_and_wait(exec, NULL);
	assert_cuda(CU(cuGraphExecDestroy)(exec), SUCCESS);
	assert_cuda(CU(cuGraphDestroy)(graph), SUCCESS);
	assert_cuda(CU(cuMemsetD32_v2)(at, 3, 1024), SUCCESS);
	assert_int_equal(word_at(at + 4092), 3);
	assert_cuda(CU(cuMemFree_v2)(at), SUCCESS);
	assert_cuda(CU(cuMemFree_v2)(at), ERROR_INVALID_VALUE);
}

struct later {
	CUdeviceptr at;
	_Atomic bool freed;
};

static void *free_later(void *data)
{
	struct later *l = data;

	if (CU(cuCtxSetCurrent)(test_ctx) || CU(cuMemFree_v2)(l->at))
		return data;
	atomic_store(&l->freed, true);
	return NULL;
}

/* Current work may still use it, although nobody else has it any more. */
static void memory_of_no_graph_is_freed_after_its_work(void **state)
{
	CUstream s = stream_made(CU_STREAM_NON_BLOCKING);
	CUgraph graph = graph_made();
	struct later l = {0};
	pthread_t thread;
	struct gate gate;
	CUgraphExec exec;
	bool early;

	(void)state;
	alloc_added(graph, 4096, &l.at);
	exec = exec_made(graph);
	launch_and_wait(exec, NULL);
	assert_cuda(CU(cuGraphExecDestroy)(exec), SUCCESS);
	assert_cuda(CU(cuGraphDestroy)(graph), SUCCESS);
	gate_enter(&gate, s);
	assert_cuda(CU(cuMemsetD8Async)(l.at, 1, 4096, s), SUCCESS);
	assert_int_equal(pthread_create(&thread, NULL, free_later, &l), 0);
	usleep(50000);
	early = CU(cuMemGetAddressRange_v2)(NULL, NULL, l.at) != CUDA_SUCCESS;
	gate_open(&gate); /* first, because the thread waits for it */
	pthread_join(thread, NULL);
	assert_false(early);
	assert_true(atomic_load(&l.freed));
	assert_cuda(CU(cuStreamQuery)(s), SUCCESS);
}

static void allocations_of_a_captured_stream_are_nodes(void **state)
{
	CUstream s = stream_made(CU_STREAM_NON_BLOCKING);
	CUdeviceptr at, outside, out = words_made(1);
	CUgraph graph;

	(void)state;
	assert_cuda(CU(cuMemAllocAsync)(&outside, 64, s), SUCCESS);
	assert_cuda(
	    CU(cuStreamBeginCapture_v2)(s, CU_STREAM_CAPTURE_MODE_RELAXED),
	    SUCCESS);
	assert_cuda(CU(cuMemAllocAsync)(&at, 64, s), SUCCESS);
	assert_cuda(CU(cuMemsetD32Async)(at, 31, 1, s), SUCCESS);
	assert_cuda(CU(cuMemcpyDtoDAsync_v2)(out, at, 4, s), SUCCESS);
	assert_cuda(CU(cuMemFreeAsync)(outside, s), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemFreeAsync)(at, s), SUCCESS);
	assert_cuda(CU(cuStreamEndCapture)(s, &graph), SUCCESS);
	assert_int_equal(node_count(graph), 4);
	run_once(graph);
	assert_int_equal(word_at(out), 31);
	assert_cuda(CU(cuMemFreeAsync)(outside, s), SUCCESS);
}

static void a_graph_with_memory_stays_as_it_is(void **state)
{
	CUgraph graph = graph_made(), other = graph_made(), clone;
	CUgraphNodeParams move = {
	    .type = CU_GRAPH_NODE_TYPE_GRAPH,
	    .graph = {graph, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE}};
	CUgraphNode a, b, part;
	CUdeviceptr at;

	(void)state;
	a = alloc_added(graph, 4096, &at);
	b = empty_added(graph, &a, 1);
	assert_cuda(CU(cuGraphDestroyNode)(b), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuGraphRemoveDependencies)(graph, &a, &b, 1),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuGraphClone)(&clone, graph), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuGraphAddChildGraphNode)(&part, other, NULL, 0, graph),
		    ERROR_NOT_SUPPORTED);
	assert_cuda(CU(cuGraphAddNode_v2)(&part, other, NULL, NULL, 0, &move),
		    SUCCESS);
	assert_cuda(CU(cuGraphDestroy)(graph), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuGraphAddMemFreeNode)(&a, other, &part, 1, at),
		    SUCCESS);
	run_once(other);
	assert_int_equal(USED, 0);
}

/* As if its nodes were nodes of the graph that it moved into. */
static void memory_moves_with_its_graph(void **state)
{
	CUgraph part = graph_made(), graph = graph_made(), clone;
	CUgraphNodeParams move = {
	    .type = CU_GRAPH_NODE_TYPE_GRAPH,
	    .graph = {part, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE}};
	CUgraphNode node;
	CUgraphExec exec, second;
	CUdeviceptr at;

	(void)state;
	alloc_added(part, 4096, &at);
	assert_cuda(CU(cuGraphAddNode_v2)(&node, graph, NULL, NULL, 0, &move),
		    SUCCESS);
	assert_cuda(CU(cuGraphClone)(&clone, graph), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuGraphDestroyNode)(node), ERROR_INVALID_VALUE);
	move.graph = (CUDA_CHILD_GRAPH_NODE_PARAMS){
	    graph_made(), CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE};
	assert_cuda(CU(cuGraphNodeSetParams)(node, &move), ERROR_NOT_SUPPORTED);
	exec = exec_made(graph);
	assert_cuda(CU(cuGraphInstantiateWithFlags)(&second, graph, 0),
		    ERROR_INVALID_VALUE);
	launch_and_wait(exec, NULL);
	assert_cuda(CU(cuMemsetD32_v2)(at, 7, 1), SUCCESS);
	assert_cuda(CU(cuGraphLaunch)(exec, NULL), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuMemFree_v2)(at), SUCCESS);
	launch_and_wait(exec, NULL);
	assert_cuda(CU(cuMemFree_v2)(at), SUCCESS);
	assert_int_equal(USED, 0);
	assert_cuda(CU(cuGraphExecDestroy)(exec), SUCCESS);
	assert_cuda(CU(cuGraphDestroy)(graph), SUCCESS);
	assert_cuda(CU(cuGraphDestroy)(move.graph.graph), SUCCESS);
}

static void high_marks_start_again(void **state)
{
	uint64_t zero = 0, one = 1;

	(void)state;
	assert_cuda(CU(cuDeviceSetGraphMemAttribute)(
			0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &one),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuDeviceSetGraphMemAttribute)(
			0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &zero),
		    SUCCESS);
	assert_int_equal(USED_HIGH, USED);
	assert_cuda(CU(cuDeviceGraphMemTrim)(0), SUCCESS);
	assert_cuda(CU(cuDeviceGraphMemTrim)(9), ERROR_INVALID_DEVICE);
}

/* ---- objects ---- */

static CUuserObject object_made(struct mark *mark, unsigned holders)
{
	CUuserObject object = NULL;

	sem_init(&mark->passed, 0, 0);
	assert_cuda(CU(cuUserObjectCreate)(&object, mark, mark_pass, holders,
					   CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
		    SUCCESS);
	return object;
}

static void objects_go_with_their_last_reference(void **state)
{
	struct mark mark;
	CUuserObject object = object_made(&mark, 2);

	(void)state;
	assert_cuda(CU(cuUserObjectRetain)(object, 1), SUCCESS);
	assert_cuda(CU(cuUserObjectRelease)(object, 2), SUCCESS);
	assert_cuda(CU(cuUserObjectRelease)(object, 0), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuUserObjectRelease)(object, 2), ERROR_INVALID_VALUE);
	let_others_on();
	assert_false(mark_is_passed(&mark));
	assert_cuda(CU(cuUserObjectRelease)(object, 1), SUCCESS);
	mark_await(&mark);
	assert_cuda(CU(cuUserObjectRetain)(object, 1), ERROR_INVALID_VALUE);
}

/* A count that overflows is not held: the object outlives the graph. */
static void references_beyond_all_numbers_are_told(void **state)
{
	struct mark mark;
	CUuserObject object = object_made(&mark, INT_MAX);
	CUgraph graph = graph_made(), clone;

	(void)state;
	assert_cuda(CU(cuGraphRetainUserObject)(graph, object, INT_MAX, 0),
		    SUCCESS);
	assert_cuda(CU(cuGraphRetainUserObject)(graph, object, INT_MAX, 0),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuGraphClone)(&clone, graph), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuGraphDestroy)(graph), SUCCESS);
	let_others_on();
	assert_false(mark_is_passed(&mark));
	assert_cuda(CU(cuUserObjectRelease)(object, INT_MAX), SUCCESS);
	mark_await(&mark);
}

/* A reference that a graph has is no longer the program's. */
static void a_reference_is_given_to_one_graph(void **state)
{
	struct mark mark;
	CUuserObject object = object_made(&mark, 1);
	CUgraph graph = graph_made(), other = graph_made();

	(void)state;
	assert_cuda(CU(cuGraphRetainUserObject)(graph, object, 1,
						CU_GRAPH_USER_OBJECT_MOVE),
		    SUCCESS);
	assert_cuda(CU(cuGraphRetainUserObject)(other, object, 1,
						CU_GRAPH_USER_OBJECT_MOVE),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuUserObjectRelease)(object, 1), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuGraphDestroy)(other), SUCCESS);
	let_others_on();
	assert_false(mark_is_passed(&mark));
	assert_cuda(CU(cuGraphDestroy)(graph), SUCCESS);
	mark_await(&mark);
}

static size_t bytes_free(void)
{
	size_t room = 0, total;

	assert_cuda(CU(cuMemGetInfo_v2)(&room, &total), SUCCESS);
	return room;
}

/* By a graph: a stream frees what it leaves, a node the rest. */
static void memory_used_once(CUstream s)
{
	CUgraph graph = graph_made();
	CUdeviceptr left, freed;
	CUgraphNode alloc, node;
	struct gate gate;
	CUgraphExec exec;

	alloc_added(graph, 4 << 20, &left);
	alloc = alloc_added(graph, 4 << 20, &freed);
	assert_cuda(CU(cuGraphAddMemFreeNode)(&node, graph, &alloc, 1, freed),
		    SUCCESS);
	exec = exec_made(graph);
	launch_and_wait(exec, s);
	assert_cuda(CU(cuGraphExecDestroy)(exec), SUCCESS);
	assert_cuda(CU(cuGraphDestroy)(graph), SUCCESS);
	gate_enter(&gate, s);
	assert_cuda(CU(cuMemFreeAsync)(left, s), SUCCESS);
	gate_open(&gate);
	assert_cuda(CU(cuStreamSynchronize)(s), SUCCESS);
}

/* Also while the function of an object does not return. */
static void a_trim_gives_back_all_that_is_done(void **state)
{
	CUstream s = stream_made(CU_STREAM_NON_BLOCKING);
	CUuserObject object = NULL;
	struct gate gate;
	size_t before;

	(void)state;
	assert_cuda(CU(cuDeviceGraphMemTrim)(0), SUCCESS);
	before = bytes_free();
	gate_init(&gate);
	assert_cuda(CU(cuUserObjectCreate)(&object, gate.room, gate_stay, 1,
					   CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
		    SUCCESS);
	assert_cuda(CU(cuUserObjectRelease)(object, 1), SUCCESS);
	gate_await(&gate);
	memory_used_once(s);
	assert_cuda(CU(cuDeviceGraphMemTrim)(0), SUCCESS);
	assert_int_equal(bytes_free(), before);
	gate_open(&gate);
}

/* The graph, a clone, an instance, and the launch in progress. */
static void all_that_comes_of_a_graph_holds_its_objects(void **state)
{
	CUstream s = stream_made(CU_STREAM_NON_BLOCKING);
	CUgraph graph = graph_made(), clone;
	struct gate gate;
	struct mark mark;
	CUuserObject object = object_made(&mark, 1);
	CUgraphExec exec;

	(void)state;
	assert_cuda(CU(cuGraphRetainUserObject)(graph, object, 1,
						CU_GRAPH_USER_OBJECT_MOVE),
		    SUCCESS);
	assert_cuda(CU(cuGraphClone)(&clone, graph), SUCCESS);
	exec = exec_made(clone);
	gate_enter(&gate, s);
	assert_cuda(CU(cuGraphLaunch)(exec, s), SUCCESS);
	assert_cuda(CU(cuGraphReleaseUserObject)(graph, object, 2),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuGraphReleaseUserObject)(graph, object, 1), SUCCESS);
	assert_cuda(CU(cuGraphDestroy)(graph), SUCCESS);
	assert_cuda(CU(cuGraphDestroy)(clone), SUCCESS);
	assert_cuda(CU(cuGraphExecDestroy)(exec), SUCCESS);
	let_others_on();
	assert_false(mark_is_passed(&mark));
	gate_open(&gate);
	mark_await(&mark);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    IN_GRAPH(memory_lives_between_its_nodes),
	    IN_GRAPH(memory_that_a_graph_leaves_is_freed_outside),
	    IN_GRAPH(launches_free_what_the_last_one_left_if_told_to),
	    IN_GRAPH(another_graph_frees_it),
	    IN_GRAPH(memory_outlives_a_graph_that_left_it),
	    IN_GRAPH(memory_of_no_graph_is_freed_after_its_work),
	    IN_GRAPH(allocations_of_a_captured_stream_are_nodes),
	    IN_GRAPH(a_graph_with_memory_stays_as_it_is),
	    IN_GRAPH(memory_moves_with_its_graph),
	    IN_GRAPH(high_marks_start_again),
	    IN_GRAPH(objects_go_with_their_last_reference),
	    IN_GRAPH(a_trim_gives_back_all_that_is_done),
	    IN_GRAPH(references_beyond_all_numbers_are_told),
	    IN_GRAPH(a_reference_is_given_to_one_graph),
	    IN_GRAPH(all_that_comes_of_a_graph_holds_its_objects),
	};

	return cmocka_run_group_tests(tests, cuda_setup_init, cuda_teardown);
}
