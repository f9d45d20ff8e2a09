/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_capture_test.c - checks capture of streams: what becomes a node, forks
 * and joins, what is reported.
 */
#include "fronts/cuda/graph_fixture.h"

#define RELAXED CU_STREAM_CAPTURE_MODE_RELAXED
#define GLOBAL  CU_STREAM_CAPTURE_MODE_GLOBAL

static void begin(CUstream s)
{
	assert_cuda(CU(cuStreamBeginCapture_v2)(s, RELAXED), SUCCESS);
}

static CUgraph ended(CUstream s)
{
	CUgraph graph = NULL;

	assert_cuda(CU(cuStreamEndCapture)(s, &graph), SUCCESS);
	assert_non_null(graph);
	return graph;
}

static void bump(CUstream s, CUdeviceptr at, uint32_t by)
{
	void *params[] = {&at, &by};

	assert_cuda(CU(cuLaunchKernel)(graph_kernel("bump"), 1, 1, 1, 1, 1, 1,
				       0, s, params, NULL),
		    SUCCESS);
}

static unsigned nodes_of_type(CUgraph graph, CUgraphNodeType type)
{
	CUgraphNode nodes[32];
	CUgraphNodeType found;
	size_t count = 32;
	unsigned n = 0;

	assert_cuda(CU(cuGraphGetNodes)(graph, nodes, &count), SUCCESS);
	for (size_t i = 0; i < count; i++) {
		assert_cuda(CU(cuGraphNodeGetType)(nodes[i], &found), SUCCESS);
		n += found == type;
	}
	return n;
}

static void what_is_captured_is_done_by_the_launch_only(void **state)
{
	CUstream s = stream_made(CU_STREAM_NON_BLOCKING);
	CUdeviceptr at = words_made(4);
	uint32_t host = 0, from = 40;
	struct mark mark;
	CUgraph graph;

	(void)state;
	begin(s);
	assert_cuda(CU(cuMemcpyHtoDAsync_v2)(at, &from, 4, s), SUCCESS);
	bump(s, at, 2);
	assert_cuda(CU(cuMemsetD32Async)(at + 4, 6, 3, s), SUCCESS);
	mark_put(&mark, s);
	assert_cuda(CU(cuStreamWriteValue32)(s, at + 8, 9, 0), SUCCESS);
	assert_cuda(CU(cuMemcpyDtoHAsync_v2)(&host, at, 4, s), SUCCESS);
	from = 50; /* read by the launch, not by the call */
	graph = ended(s);
	assert_cuda(CU(cuStreamSynchronize)(s), SUCCESS);
	assert_int_equal(word_at(at), 0);
	assert_false(mark_is_passed(&mark));
	assert_int_equal(node_count(graph), 6);
	assert_int_equal(nodes_of_type(graph, CU_GRAPH_NODE_TYPE_MEMCPY), 2);
	assert_int_equal(nodes_of_type(graph, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP),
			 1);
	run_once(graph);
	assert_int_equal(host, 52);
	assert_true(mark_is_passed(&mark));
	assert_int_equal(word_at(at + 4), 6);
	assert_int_equal(word_at(at + 8), 9);
}

/* s forks into t and joins it again. */
static void streams_fork_and_join_by_events(void **state)
{
	CUstream s = stream_made(CU_STREAM_NON_BLOCKING),
		 t = stream_made(CU_STREAM_DEFAULT);
	CUevent fork = event_made(0), join = event_made(0);
	CUdeviceptr at = words_made(3);
	CUstreamCaptureStatus status;
	size_t edges;
	CUgraph graph;

	(void)state;
	begin(s);
	bump(s, at, 1);
	assert_cuda(CU(cuEventRecord)(fork, s), SUCCESS);
	assert_cuda(CU(cuStreamWaitEvent)(t, fork, 0), SUCCESS);
	bump(t, at + 4, 2);
	bump(s, at + 8, 3);
	assert_cuda(CU(cuStreamIsCapturing)(t, &status), SUCCESS);
	assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
	assert_cuda(CU(cuEventRecord)(join, t), SUCCESS);
	assert_cuda(CU(cuStreamWaitEvent)(s, join, 0), SUCCESS);
	bump(s, at, 10);
	graph = ended(s);
	assert_cuda(CU(cuStreamIsCapturing)(t, &status), SUCCESS);
	assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_NONE);
	assert_cuda(CU(cuGraphGetEdges)(graph, NULL, NULL, &edges), SUCCESS);
	assert_int_equal(edges, 4);
	run_once(graph);
	assert_int_equal(word_at(at), 11);
	assert_int_equal(word_at(at + 4), 2);
	assert_int_equal(word_at(at + 8), 3);
}

static void a_fork_that_does_not_come_back_is_told(void **state)
{
	CUstream s = stream_made(CU_STREAM_NON_BLOCKING),
		 t = stream_made(CU_STREAM_NON_BLOCKING);
	CUevent fork = event_made(0);
	CUdeviceptr at = words_made(1);
	CUgraph graph = (CUgraph)1;

	(void)state;
	begin(s);
	bump(s, at, 1);
	assert_cuda(CU(cuEventRecord)(fork, s), SUCCESS);
	assert_cuda(CU(cuStreamWaitEvent)(t, fork, 0), SUCCESS);
	bump(t, at, 1);
	assert_cuda(CU(cuStreamEndCapture)(t, &graph),
		    ERROR_STREAM_CAPTURE_UNMATCHED);
	assert_cuda(CU(cuStreamEndCapture)(s, &graph),
		    ERROR_STREAM_CAPTURE_INVALIDATED);
	assert_null(graph);
	begin(s);
	bump(s, at, 1);
	assert_cuda(CU(cuEventRecord)(fork, s), SUCCESS);
	assert_cuda(CU(cuStreamWaitEvent)(t, fork, 0), SUCCESS);
	bump(t, at, 1);
	graph = (CUgraph)1;
	assert_cuda(CU(cuStreamEndCapture)(s, &graph),
		    ERROR_STREAM_CAPTURE_UNJOINED);
	assert_null(graph);
	bump(t, at, 1); /* an ordinary stream again */
	assert_cuda(CU(cuStreamSynchronize)(t), SUCCESS);
	assert_int_equal(word_at(at), 1);
}

static void assert_invalid(CUstream s)
{
	CUstreamCaptureStatus status;
	CUgraph graph = (CUgraph)1;

	assert_cuda(CU(cuStreamIsCapturing)(s, &status), SUCCESS);
	assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
	assert_cuda(CU(cuStreamEndCapture)(s, &graph),
		    ERROR_STREAM_CAPTURE_INVALIDATED);
	assert_null(graph);
	assert_cuda(CU(cuStreamQuery)(s), SUCCESS);
}

static void captured_streams_and_events_are_not_waited_for(void **state)
{
	CUstream s = stream_made(CU_STREAM_NON_BLOCKING);
	CUevent e = event_made(0);

	(void)state;
	begin(s);
	assert_cuda(CU(cuStreamSynchronize)(s),
		    ERROR_STREAM_CAPTURE_UNSUPPORTED);
	assert_invalid(s);
	begin(s);
	assert_cuda(CU(cuStreamQuery)(s), ERROR_STREAM_CAPTURE_UNSUPPORTED);
	assert_cuda(CU(cuStreamQuery)(s), ERROR_STREAM_CAPTURE_INVALIDATED);
	assert_invalid(s);
	begin(s);
	assert_cuda(CU(cuCtxSynchronize)(), ERROR_STREAM_CAPTURE_UNSUPPORTED);
	assert_invalid(s);
	begin(s);
	assert_cuda(CU(cuEventRecord)(e, s), SUCCESS);
	assert_cuda(CU(cuEventQuery)(e), ERROR_CAPTURED_EVENT);
	assert_cuda(CU(cuEventSynchronize)(e), ERROR_CAPTURED_EVENT);
	assert_cuda(CU(cuGraphDestroy)(ended(s)), SUCCESS);
	assert_cuda(CU(cuEventRecord)(e, s), SUCCESS);
	assert_cuda(CU(cuEventSynchronize)(e), SUCCESS);
}

static void a_capture_is_kept_apart_from_what_is_not_in_it(void **state)
{
	CUstream s = stream_made(CU_STREAM_NON_BLOCKING),
		 t = stream_made(CU_STREAM_NON_BLOCKING);
	CUevent e = event_made(0);

	(void)state;
	assert_cuda(CU(cuEventRecord)(e, t), SUCCESS);
	begin(s);
	assert_cuda(CU(cuStreamWaitEvent)(s, e, 0),
		    ERROR_STREAM_CAPTURE_ISOLATION);
	assert_invalid(s);
	begin(s);
	begin(t);
	assert_cuda(CU(cuEventRecord)(e, t), SUCCESS);
	assert_cuda(CU(cuStreamWaitEvent)(s, e, 0), ERROR_STREAM_CAPTURE_MERGE);
	assert_invalid(s);
	assert_invalid(t);
}

/* It would have to wait for a stream whose work is never done. */
static void
the_legacy_stream_rests_while_blocking_streams_are_captured(void **state)
{
	CUstream s = stream_made(CU_STREAM_DEFAULT);
	CUdeviceptr at = words_made(1);
	CUstreamCaptureStatus status = 9;
	uint32_t by = 1;
	void *params[] = {&at, &by};

	(void)state;
	assert_cuda(CU(cuStreamBeginCapture_v2)(NULL, RELAXED),
		    ERROR_STREAM_CAPTURE_UNSUPPORTED);
	begin(s);
	assert_cuda(CU(cuStreamIsCapturing)(NULL, &status),
		    ERROR_STREAM_CAPTURE_IMPLICIT);
	bump(s, at, 1);
	assert_cuda(CU(cuLaunchKernel)(graph_kernel("bump"), 1, 1, 1, 1, 1, 1,
				       0, NULL, params, NULL),
		    ERROR_STREAM_CAPTURE_IMPLICIT);
	assert_invalid(s);
	begin(s);
	assert_cuda(CU(cuMemcpyDtoH_v2)(&by, at, 4),
		    ERROR_STREAM_CAPTURE_IMPLICIT);
	assert_invalid(s);
	assert_int_equal(word_at(at), 0);
	s = stream_made(CU_STREAM_NON_BLOCKING);
	begin(s);
	bump(NULL, at, 1);
	assert_int_equal(word_at(at), 1);
	assert_cuda(CU(cuGraphDestroy)(ended(s)), SUCCESS);
}

static CUresult try_alloc(void)
{
	CUdeviceptr at;
	CUresult r = CU(cuMemAlloc_v2)(&at, 64);

	return r ? r : CU(cuMemFree_v2)(at);
}

static void *alloc_in_thread(void *mode)
{
	CU(cuCtxSetCurrent)(test_ctx);
	CU(cuThreadExchangeStreamCaptureMode)(mode);
	return (void *)(uintptr_t)try_alloc();
}

static CUresult in_other_thread(CUstreamCaptureMode mode)
{
	pthread_t thread;
	void *result;

	assert_int_equal(pthread_create(&thread, NULL, alloc_in_thread, &mode),
			 0);
	pthread_join(thread, &result);
	return (CUresult)(uintptr_t)result;
}

/*
 * The mode of the capture and of the calling thread, and the results for the
 * capturing thread and for another one.
 */
static void modes_say_whom_a_capture_prohibits(void **state)
{
	static const struct {
		CUstreamCaptureMode capture, thread;
		CUresult own, other;
	} rows[] = {
	    {0, 0, 900, 900}, {0, 1, 900, 0}, {0, 2, 0, 0},
	    {1, 0, 900, 0},   {1, 1, 900, 0}, {1, 2, 0, 0},
	    {2, 0, 0, 0},     {2, 1, 0, 0},   {2, 2, 0, 0},
	};
	CUstream s = stream_made(CU_STREAM_NON_BLOCKING);

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		CUstreamCaptureMode mode = rows[i].thread;
		CUgraph graph;

		assert_cuda(CU(cuThreadExchangeStreamCaptureMode)(&mode),
			    SUCCESS);
		assert_cuda(CU(cuStreamBeginCapture_v2)(s, rows[i].capture),
			    SUCCESS);
		assert_int_equal(try_alloc(), rows[i].own);
		assert_int_equal(CU(cuStreamEndCapture)(s, &graph),
				 rows[i].own ? 901 : 0);
		assert_cuda(CU(cuStreamBeginCapture_v2)(s, rows[i].capture),
			    SUCCESS);
		assert_int_equal(in_other_thread(rows[i].thread),
				 rows[i].other);
		assert_int_equal(CU(cuStreamEndCapture)(s, &graph),
				 rows[i].other ? 901 : 0);
		assert_cuda(CU(cuThreadExchangeStreamCaptureMode)(&mode),
			    SUCCESS);
	}
}

static void *end_in_thread(void *stream)
{
	CUgraph graph;

	CU(cuCtxSetCurrent)(test_ctx);
	return (void *)(uintptr_t)CU(cuStreamEndCapture)(stream, &graph);
}

static void another_thread_ends_relaxed_captures_only(void **state)
{
	CUstream s = stream_made(CU_STREAM_NON_BLOCKING);
	CUgraph graph;
	pthread_t thread;
	void *result;

	(void)state;
	assert_cuda(CU(cuStreamBeginCapture_v2)(s, GLOBAL), SUCCESS);
	pthread_create(&thread, NULL, end_in_thread, s);
	pthread_join(thread, &result);
	assert_int_equal((uintptr_t)result,
			 CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
	assert_cuda(CU(cuStreamEndCapture)(s, &graph), SUCCESS);
	begin(s);
	assert_cuda(CU(cuStreamBeginCapture_v2)(s, RELAXED),
		    ERROR_ILLEGAL_STATE);
	pthread_create(&thread, NULL, end_in_thread, s);
	pthread_join(thread, &result);
	assert_int_equal((uintptr_t)result, 0);
	assert_cuda(CU(cuStreamEndCapture)(s, &graph), ERROR_ILLEGAL_STATE);
}

static void a_capture_tells_of_itself(void **state)
{
	CUstream s = stream_made(CU_STREAM_NON_BLOCKING);
	CUdeviceptr at = words_made(2);
	CUstreamCaptureStatus status;
	const CUgraphEdgeData *data;
	const CUgraphNode *deps;
	CUgraph graph, got;
	cuuint64_t id[2] = {0};
	CUgraphNode own;
	size_t count = 9;

	(void)state;
	begin(s);
	assert_cuda(CU(cuStreamGetCaptureInfo_v3)(s, &status, &id[0], &got,
						  &deps, &data, &count),
		    SUCCESS);
	assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
	assert_int_equal(count, 0);
	/*
	 * A node that the program adds itself comes between two captured ones.
	 */
	bump(s, at, 1);
	assert_cuda(CU(cuStreamGetCaptureInfo_v2)(s, &status, &id[1], &got,
						  &deps, &count),
		    SUCCESS);
	assert_int_equal(id[0], id[1]);
	assert_int_equal(count, 1);
	own = kernel_added(got, deps, count, "bump", at + 4, 5);
	assert_cuda(CU(cuStreamUpdateCaptureDependencies)(
			s, &own, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES),
		    SUCCESS);
	bump(s, at, 1);
	assert_cuda(CU(cuGraphDestroy)(got), ERROR_INVALID_VALUE);
	graph = ended(s);
	assert_ptr_equal(graph, got);
	count = 9;
	assert_cuda(CU(cuGraphNodeGetDependentNodes)(own, NULL, &count),
		    SUCCESS);
	assert_int_equal(count, 1);
	run_once(graph);
	assert_int_equal(word_at(at), 2);
	assert_int_equal(word_at(at + 4), 5);
	begin(s);
	assert_cuda(CU(cuStreamGetCaptureInfo)(s, &status, &id[1]), SUCCESS);
	assert_int_not_equal(id[0], id[1]);
	assert_cuda(CU(cuGraphDestroy)(ended(s)), SUCCESS);
	assert_cuda(CU(cuStreamUpdateCaptureDependencies)(s, &own, 0, 0),
		    ERROR_ILLEGAL_STATE);
}

static void a_capture_adds_to_a_graph_that_there_is(void **state)
{
	CUstream s = stream_made(CU_STREAM_NON_BLOCKING);
	CUdeviceptr at = words_made(4);
	CUgraph graph = graph_made(), got;
	CUgraphNode first = kernel_added(graph, NULL, 0, "stamp", at, 0);
	CUgraphExec exec;
	uint32_t slot = 1;
	void *params[] = {&at, &slot};

	(void)state;
	assert_cuda(
	    CU(cuStreamBeginCaptureToGraph)(s, graph, &first, NULL, 1, RELAXED),
	    SUCCESS);
	assert_cuda(CU(cuGraphInstantiateWithFlags)(&exec, graph, 0),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuLaunchKernel)(graph_kernel("stamp"), 1, 1, 1, 1, 1, 1,
				       0, s, params, NULL),
		    SUCCESS);
	assert_cuda(CU(cuStreamEndCapture)(s, &got), SUCCESS);
	assert_ptr_equal(got, graph);
	run_once(graph);
	assert_int_equal(word_at(at), 2);
	assert_int_equal(word_at(at + 8), 1);
}

static void a_captured_launch_of_a_graph_is_a_node(void **state)
{
	CUstream s = stream_made(CU_STREAM_NON_BLOCKING);
	CUdeviceptr at = words_made(1);
	CUgraph graph = graph_made(), outer;
	CUgraphExec exec;

	(void)state;
	kernel_added(graph, NULL, 0, "bump", at, 4);
	exec = exec_made(graph);
	begin(s);
	assert_cuda(CU(cuGraphLaunch)(exec, s), SUCCESS);
	assert_cuda(CU(cuGraphLaunch)(exec, s), SUCCESS);
	outer = ended(s);
	assert_int_equal(nodes_of_type(outer, CU_GRAPH_NODE_TYPE_GRAPH), 2);
	assert_cuda(CU(cuGraphExecDestroy)(exec), SUCCESS);
	assert_cuda(CU(cuGraphDestroy)(graph), SUCCESS);
	run_once(outer);
	assert_int_equal(word_at(at), 8);
}

/* Each launch records and waits again. */
static void external_events_are_nodes(void **state)
{
	CUstream s = stream_made(CU_STREAM_NON_BLOCKING);
	CUevent e = event_made(0);
	CUgraph graph;

	(void)state;
	assert_cuda(CU(cuEventRecordWithFlags)(e, s, CU_EVENT_RECORD_EXTERNAL),
		    ERROR_INVALID_VALUE);
	begin(s);
	assert_cuda(CU(cuStreamWaitEvent)(s, e, CU_EVENT_WAIT_EXTERNAL),
		    SUCCESS);
	assert_cuda(CU(cuEventRecordWithFlags)(e, s, CU_EVENT_RECORD_EXTERNAL),
		    SUCCESS);
	graph = ended(s);
	assert_int_equal(nodes_of_type(graph, CU_GRAPH_NODE_TYPE_WAIT_EVENT),
			 1);
	assert_int_equal(nodes_of_type(graph, CU_GRAPH_NODE_TYPE_EVENT_RECORD),
			 1);
	run_once(graph);
	assert_cuda(CU(cuEventSynchronize)(e), SUCCESS);
}

static void never_called(CUstream s, CUresult status, void *data)
{
	(void)s;
	(void)status;
	(void)data;
}

/* A callback, and a stream that is destroyed. */
static void what_cannot_be_captured_invalidates(void **state)
{
	CUstream s = stream_made(CU_STREAM_NON_BLOCKING),
		 t = stream_made(CU_STREAM_NON_BLOCKING);
	CUevent e = event_made(0);

	(void)state;
	begin(s);
	assert_cuda(CU(cuStreamAddCallback)(s, never_called, NULL, 0),
		    ERROR_STREAM_CAPTURE_UNSUPPORTED);
	assert_invalid(s);
	begin(s);
	assert_cuda(CU(cuEventRecord)(e, s), SUCCESS);
	assert_cuda(CU(cuStreamWaitEvent)(t, e, 0), SUCCESS);
	assert_cuda(CU(cuStreamDestroy_v2)(t), SUCCESS);
	assert_invalid(s);
	begin(s);
	assert_cuda(CU(cuStreamDestroy_v2)(s), SUCCESS);
	assert_cuda(CU(cuCtxSynchronize)(), SUCCESS);
}

/* Rows and cells come out unchanged. */
static void copies_of_boxes_and_arrays_are_captured(void **state)
{
	CUDA_ARRAY_DESCRIPTOR shape = {8, 4, CU_AD_FORMAT_UNSIGNED_INT8, 1};
	CUstream s = stream_made(CU_STREAM_NON_BLOCKING);
	unsigned char in[4][16], out[4][16] = {{0}};
	CUDA_MEMCPY2D to = {.srcMemoryType = CU_MEMORYTYPE_HOST,
			    .srcHost = in,
			    .srcPitch = 16,
			    .dstMemoryType = CU_MEMORYTYPE_ARRAY,
			    .dstXInBytes = 1,
			    .dstY = 1,
			    .WidthInBytes = 5,
			    .Height = 3},
		      from = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
			      .dstMemoryType = CU_MEMORYTYPE_HOST,
			      .dstHost = out,
			      .dstPitch = 16,
			      .WidthInBytes = 8,
			      .Height = 4};
	CUgraph graph;
	CUarray array;

	(void)state;
	for (unsigned i = 0; i < sizeof in; i++)
		((unsigned char *)in)[i] = (unsigned char)(i + 1);
	assert_cuda(CU(cuArrayCreate_v2)(&array, &shape), SUCCESS);
	to.dstArray = from.srcArray = array;
	begin(s);
	assert_cuda(CU(cuMemcpy2DAsync_v2)(&to, s), SUCCESS);
	assert_cuda(CU(cuMemcpy2DAsync_v2)(&from, s), SUCCESS);
	graph = ended(s);
	run_once(graph);
	for (unsigned y = 0; y < 3; y++)
		for (unsigned x = 0; x < 5; x++)
			assert_int_equal(out[y + 1][x + 1], in[y][x]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    IN_GRAPH(what_is_captured_is_done_by_the_launch_only),
	    IN_GRAPH(streams_fork_and_join_by_events),
	    IN_GRAPH(a_fork_that_does_not_come_back_is_told),
	    IN_GRAPH(captured_streams_and_events_are_not_waited_for),
	    IN_GRAPH(a_capture_is_kept_apart_from_what_is_not_in_it),
	    IN_GRAPH(
		the_legacy_stream_rests_while_blocking_streams_are_captured),
	    IN_GRAPH(modes_say_whom_a_capture_prohibits),
	    IN_GRAPH(another_thread_ends_relaxed_captures_only),
	    IN_GRAPH(a_capture_tells_of_itself),
	    IN_GRAPH(a_capture_adds_to_a_graph_that_there_is),
	    IN_GRAPH(a_captured_launch_of_a_graph_is_a_node),
	    IN_GRAPH(external_events_are_nodes),
	    IN_GRAPH(what_cannot_be_captured_invalidates),
	    IN_GRAPH(copies_of_boxes_and_arrays_are_captured),
	};

	return cmocka_run_group_tests(tests, cuda_setup_init, cuda_teardown);
}
