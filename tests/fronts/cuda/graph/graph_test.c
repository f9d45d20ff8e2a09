/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_test.c - checks graphs of explicit nodes: their edges, the order of
 * their work, launches.
 */
#include "fronts/cuda/graph_fixture.h"

#include <sys/mman.h>

#define NODES 48

/* A graph with random edges; each node records when it ran. */
struct lots {
	CUgraphNode node[NODES];
	unsigned from[NODES * 3], to[NODES * 3], edges;
	uint32_t *stamps; /* page-locked, so that both sides write to it */
};

static uint64_t draw(uint64_t *state)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return *state >> 33;
}

struct host_stamp {
	uint32_t *stamps;
	unsigned slot;
};

static void stamp_on_host(void *data)
{
	struct host_stamp *h = data;

	h->stamps[1 + h->slot] =
	    __atomic_fetch_add(&h->stamps[0], 1, __ATOMIC_SEQ_CST);
}

static void draw_graph(struct lots *l, CUgraph graph, struct host_stamp *host,
		       uint64_t seed)
{
	for (unsigned i = 0; i < NODES; i++) {
		CUgraphNode deps[3];
		unsigned count = 0, wanted = (unsigned)(draw(&seed) % 4);

		for (unsigned k = 0; k < wanted && i; k++) {
			unsigned from = (unsigned)(draw(&seed) % i);
			bool twice = false;

			for (unsigned e = 0; e < count; e++)
				twice |= deps[e] == l->node[from];
			if (twice)
				continue;
			deps[count++] = l->node[from];
			l->from[l->edges] = from;
			l->to[l->edges++] = i;
		}
		host[i] = (struct host_stamp){l->stamps, i};
		l->node[i] = draw(&seed) % 3
				 ? kernel_added(graph, deps, count, "stamp",
						(CUdeviceptr)l->stamps, i)
				 : host_added(graph, deps, count, stamp_on_host,
					      &host[i]);
	}
}

static void nodes_run_after_those_they_depend_on(void **state)
{
	struct host_stamp host[NODES];

	(void)state;
	for (uint64_t seed = 1; seed <= 12; seed++) {
		struct lots l = {.edges = 0};
		CUgraph graph = graph_made();
		void *page = NULL;

		assert_cuda(CU(cuMemHostAlloc)(&page, 4096, 0), SUCCESS);
		l.stamps = page;
		memset(page, 0, 4096);
		draw_graph(&l, graph, host, seed);
		run_once(graph);
		assert_int_equal(l.stamps[0], NODES);
		for (unsigned e = 0; e < l.edges; e++)
			assert_true(l.stamps[1 + l.from[e]] <
				    l.stamps[1 + l.to[e]]);
		assert_cuda(CU(cuMemFreeHost)(page), SUCCESS);
	}
}

/* One waits in a host function until the other has passed. */
static void branches_run_beside_each_other(void **state)
{
	CUgraph graph = graph_made();
	CUgraphExec exec;
	CUstream s = stream_made(CU_STREAM_NON_BLOCKING);
	CUgraphNode root = empty_added(graph, NULL, 0), both[2];
	struct gate gate;
	struct mark mark;

	(void)state;
	gate_init(&gate);
	sem_init(&mark.passed, 0, 0);
	both[0] = host_added(graph, &root, 1, gate_stay, gate.room);
	both[1] = host_added(graph, &root, 1, mark_pass, &mark);
	empty_added(graph, both, 2);
	exec = exec_made(graph);
	assert_cuda(CU(cuGraphLaunch)(exec, s), SUCCESS);
	gate_await(&gate);
	mark_await(&mark);
	assert_cuda(CU(cuStreamQuery)(s), ERROR_NOT_READY);
	gate_open(&gate);
	assert_cuda(CU(cuStreamSynchronize)(s), SUCCESS);
	assert_cuda(CU(cuGraphExecDestroy)(exec), SUCCESS);
	assert_cuda(CU(cuGraphDestroy)(graph), SUCCESS);
}

/* Earlier work in its stream is done when it begins, and it is done when later
 * work begins. */
static void a_launch_keeps_its_place_in_the_stream(void **state)
{
	CUdeviceptr at = words_made(1);
	CUgraph graph = graph_made();
	CUstream s = stream_made(CU_STREAM_NON_BLOCKING);
	CUgraphExec exec;
	uint32_t seen[3] = {9, 9, 9};
	struct gate gate;

	(void)state;
	kernel_added(graph, NULL, 0, "bump", at, 5);
	exec = exec_made(graph);
	gate_enter(&gate, s);
	assert_cuda(CU(cuMemcpyDtoHAsync_v2)(&seen[0], at, 0, s), SUCCESS);
	assert_cuda(CU(cuMemsetD32Async)(at, 100, 1, s), SUCCESS);
	assert_cuda(CU(cuGraphLaunch)(exec, s), SUCCESS);
	assert_cuda(CU(cuGraphLaunch)(exec, s), SUCCESS);
	assert_int_equal(word_at(at), 0);
	gate_open(&gate);
	assert_cuda(CU(cuMemcpyDtoHAsync_v2)(&seen[1], at, 4, s), SUCCESS);
	assert_cuda(CU(cuStreamSynchronize)(s), SUCCESS);
	assert_int_equal(seen[1], 110);
	assert_cuda(CU(cuGraphExecDestroy)(exec), SUCCESS);
	assert_cuda(CU(cuGraphDestroy)(graph), SUCCESS);
}

static void no_branch_begins_before_its_stream_comes_there(void **state)
{
	CUstream s = stream_made(CU_STREAM_NON_BLOCKING);
	CUgraph graph = graph_made();
	CUgraphExec exec;
	struct mark marks[3];
	struct gate gate;

	(void)state;
	for (int i = 0; i < 3; i++) {
		sem_init(&marks[i].passed, 0, 0);
		host_added(graph, NULL, 0, mark_pass, &marks[i]);
	}
	exec = exec_made(graph);
	gate_enter(&gate, s);
	assert_cuda(CU(cuGraphLaunch)(exec, s), SUCCESS);
	let_others_on();
	for (int i = 0; i < 3; i++)
		assert_false(mark_is_passed(&marks[i]));
	gate_open(&gate);
	assert_cuda(CU(cuStreamSynchronize)(s), SUCCESS);
	for (int i = 0; i < 3; i++)
		assert_true(mark_is_passed(&marks[i]));
	assert_cuda(CU(cuGraphExecDestroy)(exec), SUCCESS);
	assert_cuda(CU(cuGraphDestroy)(graph), SUCCESS);
}

/* In two streams, the first of which is blocked. */
static void launches_of_one_instance_follow_each_other(void **state)
{
	CUstream one = stream_made(CU_STREAM_NON_BLOCKING),
		 two = stream_made(CU_STREAM_NON_BLOCKING);
	CUdeviceptr at = words_made(1);
	CUgraph graph = graph_made();
	CUgraphExec exec;
	struct gate gate;

	(void)state;
	kernel_added(graph, NULL, 0, "bump", at, 1);
	exec = exec_made(graph);
	gate_enter(&gate, one);
	assert_cuda(CU(cuGraphLaunch)(exec, one), SUCCESS);
	assert_cuda(CU(cuGraphLaunch)(exec, two), SUCCESS);
	let_others_on();
	assert_cuda(CU(cuStreamQuery)(two), ERROR_NOT_READY);
	gate_open(&gate);
	assert_cuda(CU(cuStreamSynchronize)(two), SUCCESS);
	assert_int_equal(word_at(at), 2);
	assert_cuda(CU(cuGraphExecDestroy)(exec), SUCCESS);
	assert_cuda(CU(cuGraphDestroy)(graph), SUCCESS);
}

/* What was launched is done, although nothing belongs to the graph any more. */
static void an_instance_outlives_its_graph_and_its_handle(void **state)
{
	CUdeviceptr at = words_made(1);
	CUgraph graph = graph_made();
	CUstream s = stream_made(CU_STREAM_NON_BLOCKING);
	CUgraphExec exec;
	struct gate gate;

	(void)state;
	kernel_added(graph, NULL, 0, "bump", at, 7);
	exec = exec_made(graph);
	assert_cuda(CU(cuGraphDestroy)(graph), SUCCESS);
	gate_enter(&gate, s);
	assert_cuda(CU(cuGraphLaunch)(exec, s), SUCCESS);
	assert_cuda(CU(cuGraphExecDestroy)(exec), SUCCESS);
	assert_cuda(CU(cuGraphLaunch)(exec, s), ERROR_INVALID_VALUE);
	gate_open(&gate);
	assert_cuda(CU(cuStreamSynchronize)(s), SUCCESS);
	assert_int_equal(word_at(at), 7);
}

static void copies_and_sets_are_nodes(void **state)
{
	CUdeviceptr a = words_made(64), b = words_made(64);
	CUDA_MEMSET_NODE_PARAMS set = {.dst = a,
				       .value = 0xabcd,
				       .elementSize = 2,
				       .width = 100,
				       .height = 1};
	CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
			      .srcDevice = a,
			      .dstMemoryType = CU_MEMORYTYPE_DEVICE,
			      .dstDevice = b,
			      .WidthInBytes = 200,
			      .Height = 1,
			      .Depth = 1};
	CUDA_MEMSET_NODE_PARAMS set_back;
	CUDA_MEMCPY3D copy_back;
	CUgraph graph = graph_made();
	CUgraphNode node[3];
	uint16_t host[100];

	(void)state;
	assert_cuda(
	    CU(cuGraphAddMemsetNode)(&node[0], graph, NULL, 0, &set, test_ctx),
	    SUCCESS);
	assert_cuda(CU(cuGraphAddMemcpyNode)(&node[1], graph, &node[0], 1,
					     &copy, test_ctx),
		    SUCCESS);
	copy.srcDevice = b;
	copy.dstMemoryType = CU_MEMORYTYPE_HOST;
	copy.dstHost = host;
	assert_cuda(CU(cuGraphAddMemcpyNode)(&node[2], graph, &node[1], 1,
					     &copy, test_ctx),
		    SUCCESS);
	assert_cuda(CU(cuGraphMemsetNodeGetParams)(node[0], &set_back),
		    SUCCESS);
	assert_memory_equal(&set_back, &set, sizeof set);
	assert_cuda(CU(cuGraphMemcpyNodeGetParams)(node[2], &copy_back),
		    SUCCESS);
	assert_memory_equal(&copy_back, &copy, sizeof copy);
	memset(host, 0, sizeof host);
	run_once(graph);
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(host[i], 0xabcd);
}

static void launches_from_the_device_are_refused(void **state)
{
	CUDA_GRAPH_INSTANTIATE_PARAMS p = {
	    .flags = CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH};
	CUgraph graph = graph_made();
	CUgraphExec exec;

	(void)state;
	kernel_added(graph, NULL, 0, "bump", words_made(1), 1);
	assert_cuda(CU(cuGraphInstantiateWithParams)(&exec, graph, &p),
		    ERROR_NOT_SUPPORTED);
	assert_cuda(CU(cuGraphInstantiateWithFlags)(&exec, graph, p.flags),
		    ERROR_NOT_SUPPORTED);
	p.flags |= CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
	assert_cuda(CU(cuGraphInstantiateWithParams)(&exec, graph, &p),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuGraphDestroy)(graph), SUCCESS);
}

static void graphs_are_nodes_of_graphs(void **state)
{
	CUdeviceptr at = words_made(8);
	CUgraph child = graph_made(), graph = graph_made(), inside;
	CUgraphNode first, part, inner, found;

	(void)state;
	inner = kernel_added(child, NULL, 0, "stamp", at, 1);
	kernel_added(child, NULL, 0, "stamp", at, 2);
	first = kernel_added(graph, NULL, 0, "stamp", at, 0);
	assert_cuda(
	    CU(cuGraphAddChildGraphNode)(&part, graph, &first, 1, child),
	    SUCCESS);
	kernel_added(graph, &part, 1, "stamp", at, 3);
	assert_cuda(CU(cuGraphDestroy)(child), SUCCESS);
	assert_cuda(CU(cuGraphChildGraphNodeGetGraph)(part, &inside), SUCCESS);
	assert_int_equal(node_count(inside), 2);
	assert_cuda(CU(cuGraphDestroy)(inside), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuGraphNodeFindInClone)(&found, inner, inside),
		    ERROR_INVALID_VALUE);
	run_once(graph);
	assert_int_equal(word_at(at), 4);
	assert_int_equal(word_at(at + 4), 0);
	assert_int_equal(word_at(at + 16), 3);
}

static void a_part_is_set_and_added_to(void **state)
{
	CUdeviceptr at = words_made(1);
	CUgraph child = graph_made(), graph = graph_made(), inside;
	CUgraphNodeParams set = {
	    .type = CU_GRAPH_NODE_TYPE_GRAPH,
	    .graph = {child, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE}};
	CUgraphNode part;

	(void)state;
	kernel_added(child, NULL, 0, "bump", at, 1);
	assert_cuda(CU(cuGraphAddChildGraphNode)(&part, graph, NULL, 0, child),
		    SUCCESS);
	kernel_added(child, NULL, 0, "bump", at, 10);
	assert_cuda(CU(cuGraphNodeSetParams)(part, &set), SUCCESS);
	assert_cuda(CU(cuGraphChildGraphNodeGetGraph)(part, &inside), SUCCESS);
	kernel_added(inside, NULL, 0, "bump", at, 100);
	assert_int_equal(node_count(inside), 3);
	assert_int_equal(node_count(child), 2);
	/* The graph itself, as a part of its own part. */
	set.graph.graph = graph;
	assert_cuda(CU(cuGraphAddNode_v2)(&part, inside, NULL, NULL, 0, &set),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuGraphDestroy)(inside), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuGraphDestroy)(graph), SUCCESS);
	assert_cuda(CU(cuGraphDestroy)(child), SUCCESS);
}

static void a_clone_has_nodes_of_its_own(void **state)
{
	CUdeviceptr at = words_made(1);
	CUgraph graph = graph_made(), clone;
	CUgraphNode node = kernel_added(graph, NULL, 0, "bump", at, 3), copy;
	CUDA_KERNEL_NODE_PARAMS p;
	uint32_t by = 10;
	void *params[] = {&at, &by};

	(void)state;
	assert_cuda(CU(cuGraphClone)(&clone, graph), SUCCESS);
	assert_cuda(CU(cuGraphNodeFindInClone)(&copy, node, clone), SUCCESS);
	assert_ptr_not_equal(copy, node);
	assert_cuda(CU(cuGraphKernelNodeGetParams_v2)(copy, &p), SUCCESS);
	p.kernelParams = params;
	assert_cuda(CU(cuGraphKernelNodeSetParams_v2)(copy, &p), SUCCESS);
	run_once(graph);
	assert_int_equal(word_at(at), 3);
	run_once(clone);
	assert_int_equal(word_at(at), 13);
}

/* Each launch records it again, and a stream can wait for it. */
static void events_are_recorded_and_waited_for_by_nodes(void **state)
{
	CUstream s = stream_made(CU_STREAM_NON_BLOCKING),
		 other = stream_made(CU_STREAM_NON_BLOCKING);
	CUevent done = event_made(0), go = event_made(0), got;
	CUdeviceptr at = words_made(1);
	CUgraph graph = graph_made();
	CUgraphNode wait, kernel, record;
	CUgraphExec exec;
	struct gate gate;

	(void)state;
	assert_cuda(CU(cuGraphAddEventWaitNode)(&wait, graph, NULL, 0, go),
		    SUCCESS);
	kernel = kernel_added(graph, &wait, 1, "bump", at, 1);
	assert_cuda(
	    CU(cuGraphAddEventRecordNode)(&record, graph, &kernel, 1, done),
	    SUCCESS);
	assert_cuda(CU(cuGraphEventRecordNodeGetEvent)(record, &got), SUCCESS);
	assert_ptr_equal(got, done);
	exec = exec_made(graph);
	gate_enter(&gate, other);
	assert_cuda(CU(cuEventRecord)(go, other), SUCCESS);
	assert_cuda(CU(cuGraphLaunch)(exec, s), SUCCESS);
	let_others_on();
	assert_cuda(CU(cuEventQuery)(done), ERROR_NOT_READY);
	gate_open(&gate);
	assert_cuda(CU(cuEventSynchronize)(done), SUCCESS);
	assert_int_equal(word_at(at), 1);
	assert_cuda(CU(cuGraphExecDestroy)(exec), SUCCESS);
	assert_cuda(CU(cuGraphDestroy)(graph), SUCCESS);
}

static void words_are_written_and_waited_for_by_nodes(void **state)
{
	CUdeviceptr at = words_made(2);
	CUstreamBatchMemOpParams ops[] = {
	    {.waitValue = {.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32,
			   .address = at,
			   .value = 1,
			   .flags = CU_STREAM_WAIT_VALUE_EQ}},
	    {.writeValue = {.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32,
			    .address = at + 4,
			    .value = 77}}};
	CUDA_BATCH_MEM_OP_NODE_PARAMS p = {test_ctx, 2, ops, 0};
	CUgraph graph = graph_made();
	CUstream s = stream_made(CU_STREAM_NON_BLOCKING);
	CUgraphNode node;
	CUgraphExec exec;

	(void)state;
	assert_cuda(CU(cuGraphAddBatchMemOpNode)(&node, graph, NULL, 0, &p),
		    SUCCESS);
	exec = exec_made(graph);
	assert_cuda(CU(cuGraphLaunch)(exec, s), SUCCESS);
	let_others_on();
	assert_cuda(CU(cuStreamQuery)(s), ERROR_NOT_READY);
	assert_cuda(CU(cuMemsetD32_v2)(at, 1, 1), SUCCESS);
	assert_cuda(CU(cuStreamSynchronize)(s), SUCCESS);
	assert_int_equal(word_at(at + 4), 77);
	assert_cuda(CU(cuGraphExecDestroy)(exec), SUCCESS);
	assert_cuda(CU(cuGraphDestroy)(graph), SUCCESS);
}

static void wrong_handles_are_told(void **state)
{
	CUgraph graph = graph_made(), other = graph_made();
	CUgraphNode node = empty_added(graph, NULL, 0), twice[] = {node, node},
		    made;
	CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_EMPTY};
	size_t count;

	(void)state;
	assert_cuda(CU(cuGraphDestroy)((CUgraph)node), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuGraphAddEmptyNode)(&made, other, &node, 1),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuGraphAddEmptyNode)(&made, graph, twice, 2),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuGraphGetNodes)(NULL, NULL, &count),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuGraphAddNode_v2)(&made, graph, NULL, NULL, 0, &p),
		    SUCCESS);
	p.reserved2 = 1;
	assert_cuda(CU(cuGraphAddNode_v2)(&made, graph, NULL, NULL, 0, &p),
		    ERROR_INVALID_VALUE);
	p = (CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT};
	assert_cuda(CU(cuGraphAddNode_v2)(&made, graph, NULL, NULL, 0, &p),
		    ERROR_NOT_SUPPORTED);
	assert_cuda(CU(cuGraphDestroy)(other), SUCCESS);
	assert_cuda(CU(cuGraphDestroy)(other), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuGraphDestroy)(graph), SUCCESS);
	assert_cuda(CU(cuGraphDestroyNode)(node), ERROR_INVALID_VALUE);
}

/* A GPU error stops the rest of the graph, in all its branches. */
static void a_fault_ends_the_whole_launch(void **state)
{
	CUgraph graph = graph_made();
	CUgraphNode bad[2];
	CUgraphExec exec;
	struct mark mark;

	(void)state;
	sem_init(&mark.passed, 0, 0);
	bad[0] = kernel_added(graph, NULL, 0, "bump", 16, 1);
	bad[1] = empty_added(graph, NULL, 0);
	host_added(graph, bad, 2, mark_pass, &mark);
	exec = exec_made(graph);
	assert_cuda(CU(cuGraphLaunch)(exec, NULL), SUCCESS);
	assert_cuda(CU(cuCtxSynchronize)(), ERROR_ILLEGAL_ADDRESS);
	assert_cuda(CU(cuGraphLaunch)(exec, NULL), ERROR_ILLEGAL_ADDRESS);
	assert_false(mark_is_passed(&mark));
	assert_cuda(CU(cuGraphExecDestroy)(exec), SUCCESS);
}

static CUresult in_second_context(void (*use)(CUcontext other))
{
	CUcontext other, popped;

	assert_cuda(CU(cuCtxCreate_v2)(&other, 0, 1), SUCCESS);
	use(other);
	assert_cuda(CU(cuCtxPopCurrent_v2)(&popped), SUCCESS);
	return CU(cuCtxDestroy_v2)(other);
}

/* The stream belongs to the second context, the kernel to the first. */
static void launch_from_there(CUcontext other)
{
	CUstream s = stream_made(CU_STREAM_NON_BLOCKING);
	CUcontext popped;
	CUgraph graph;
	CUgraphExec exec;
	CUdeviceptr at;

	assert_cuda(CU(cuCtxPopCurrent_v2)(&popped), SUCCESS);
	at = words_made(1);
	graph = graph_made();
	kernel_added(graph, NULL, 0, "bump", at, 8);
	exec = exec_made(graph);
	launch_and_wait(exec, s);
	assert_int_equal(word_at(at), 8);
	assert_cuda(CU(cuGraphExecDestroy)(exec), SUCCESS);
	assert_cuda(CU(cuGraphDestroy)(graph), SUCCESS);
	assert_cuda(CU(cuCtxPushCurrent_v2)(other), SUCCESS);
}

static void a_stream_of_another_context_launches_it(void **state)
{
	(void)state;
	assert_cuda(in_second_context(launch_from_there), SUCCESS);
}

static void a_graph_is_drawn(void **state)
{
	CUdeviceptr at = words_made(1);
	CUgraph graph = graph_made();
	CUgraphNode a = kernel_added(graph, NULL, 0, "bump", at, 1);
	char path[64], text[4096] = "";
	int file = memfd_create("graph", 0);

	(void)state;

	empty_added(graph, &a, 1);
	snprintf(path, sizeof path, "/proc/self/fd/%d", file);
	assert_cuda(CU(cuGraphDebugDotPrint)(graph, path,
					     CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE),
		    SUCCESS);
	assert_true(pread(file, text, sizeof text - 1, 0) > 0);
	close(file);
	assert_memory_equal(text, "digraph", 7);
	assert_non_null(strstr(text, "bump"));
	assert_non_null(strstr(text, "->"));
	assert_cuda(CU(cuGraphDebugDotPrint)(graph, "/nowhere/at/all", 0),
		    ERROR_OPERATING_SYSTEM);
	assert_cuda(CU(cuGraphDestroy)(graph), SUCCESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    IN_GRAPH(nodes_run_after_those_they_depend_on),
	    IN_GRAPH(branches_run_beside_each_other),
	    IN_GRAPH(a_launch_keeps_its_place_in_the_stream),
	    IN_GRAPH(no_branch_begins_before_its_stream_comes_there),
	    IN_GRAPH(launches_of_one_instance_follow_each_other),
	    IN_GRAPH(an_instance_outlives_its_graph_and_its_handle),
	    IN_GRAPH(copies_and_sets_are_nodes),
	    IN_GRAPH(launches_from_the_device_are_refused),
	    IN_GRAPH(graphs_are_nodes_of_graphs),
	    IN_GRAPH(a_part_is_set_and_added_to),
	    IN_GRAPH(a_clone_has_nodes_of_its_own),
	    IN_GRAPH(events_are_recorded_and_waited_for_by_nodes),
	    IN_GRAPH(words_are_written_and_waited_for_by_nodes),
	    IN_GRAPH(wrong_handles_are_told),
	    IN_GRAPH(a_stream_of_another_context_launches_it),
	    IN_GRAPH(a_graph_is_drawn),
	    IN_GRAPH(a_fault_ends_the_whole_launch),
	};

	return cmocka_run_group_tests(tests, cuda_setup_init, cuda_teardown);
}
