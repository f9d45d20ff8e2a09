/* SPDX-License-Identifier: Apache-2.0 */
/* graph_many_test.c - checks graphs of many threads, and of two devices. */
#include "fronts/cuda/graph_fixture.h"

enum { THREADS = 4, LAUNCHES = 40 };

/* Each launches the shared instance, and makes and runs its own. */
struct worker {
	CUgraphExec shared;
	CUdeviceptr at;
	uint32_t slot; /* the slot in the stamps of its own graphs */
	CUresult failed;
};

static CUresult run_own(struct worker *w, CUstream s)
{
	void *params[] = {&w->at, &w->slot};
	CUgraphExec exec = NULL;
	CUgraph graph = NULL;
	CUresult r =
	    CU(cuStreamBeginCapture_v2)(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);

	if (!r)
		r = CU(cuLaunchKernel)(graph_kernel("stamp"), 1, 1, 1, 1, 1, 1,
				       0, s, params, NULL);
	if (!r)
		r = CU(cuStreamEndCapture)(s, &graph);
	if (!r)
		r = CU(cuGraphInstantiateWithFlags)(&exec, graph, 0);
	if (!r)
		r = CU(cuGraphLaunch)(exec, s);
	if (!r)
		r = CU(cuGraphExecDestroy)(exec);
	return r ? r : CU(cuGraphDestroy)(graph);
}

static void *work(void *data)
{
	struct worker *w = data;
	CUstream s;
	CUresult r = CU(cuCtxSetCurrent)(test_ctx);

	if (!r)
		r = CU(cuStreamCreate)(&s, CU_STREAM_NON_BLOCKING);
	for (int i = 0; !r && i < LAUNCHES; i++) {
		r = CU(cuGraphLaunch)(w->shared, s);
		if (!r)
			r = run_own(w, s);
	}
	if (!r)
		r = CU(cuStreamSynchronize)(s);
	w->failed = r;
	return NULL;
}

static void many_threads_launch_and_capture_at_once(void **state)
{
	CUdeviceptr at = words_made(2 + THREADS);
	struct worker workers[THREADS];
	pthread_t threads[THREADS];
	CUgraph graph = graph_made();
	CUgraphExec exec;

	(void)state;
	kernel_added(graph, NULL, 0, "stamp", at, 0);
	exec = exec_made(graph);
	for (int i = 0; i < THREADS; i++) {
		workers[i] =
		    (struct worker){exec, at, (uint32_t)i + 1, CUDA_SUCCESS};
		assert_int_equal(
		    pthread_create(&threads[i], NULL, work, &workers[i]), 0);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(workers[i].failed, CUDA_SUCCESS);
	}
	all_done();
	assert_int_equal(word_at(at), 2 * THREADS * LAUNCHES);
	assert_cuda(CU(cuGraphExecDestroy)(exec), SUCCESS);
	assert_cuda(CU(cuGraphDestroy)(graph), SUCCESS);
}

static CUgraphNode set_added(CUgraph graph, const CUgraphNode *deps,
			     size_t count, CUcontext ctx, CUdeviceptr at,
			     unsigned value)
{
	CUDA_MEMSET_NODE_PARAMS p = {.dst = at,
				     .value = value,
				     .elementSize = 4,
				     .width = 1,
				     .height = 1};
	CUgraphNode node = NULL;

	assert_cuda(
	    CU(cuGraphAddMemsetNode)(&node, graph, deps, count, &p, ctx),
	    SUCCESS);
	return node;
}

/* From one to the other and back, each part in its own context. */
static void a_graph_works_on_two_devices(void **state)
{
	CUdeviceptr here = words_made(1), there;
	CUgraph graph = graph_made();
	CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_UNIFIED,
			      .srcDevice = here,
			      .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
			      .WidthInBytes = 4,
			      .Height = 1,
			      .Depth = 1};
	CUgraphNode node;
	CUgraphExec exec;
	CUcontext other, popped;

	(void)state;
	assert_cuda(CU(cuCtxCreate_v2)(&other, 0, 1), SUCCESS);
	there = words_made(1);
	assert_cuda(CU(cuCtxPopCurrent_v2)(&popped), SUCCESS);
	copy.dstDevice = there;
	node = set_added(graph, NULL, 0, test_ctx, here, 30);
	assert_cuda(
	    CU(cuGraphAddMemcpyNode)(&node, graph, &node, 1, &copy, other),
	    SUCCESS);
	node = set_added(graph, &node, 1, test_ctx, here, 31);
	exec = exec_made(graph);
	for (int i = 0; i < 3; i++)
		launch_and_wait(exec, NULL);
	assert_int_equal(word_at(here), 31);
	assert_int_equal(word_at(there), 30);
	assert_cuda(CU(cuCtxDestroy_v2)(other), SUCCESS);
	assert_cuda(CU(cuGraphLaunch)(exec, NULL), ERROR_CONTEXT_IS_DESTROYED);
	assert_cuda(CU(cuGraphExecDestroy)(exec), SUCCESS);
	assert_cuda(CU(cuGraphDestroy)(graph), SUCCESS);
}

/* More branches than lanes: all of them run after the first node. */
static void hundreds_of_branches_share_lanes(void **state)
{
	enum { MANY = 300 };
	CUdeviceptr at = words_made(MANY + 3);
	CUgraphNode branch[MANY], first, last;
	CUgraph graph = graph_made();

	(void)state;
	first = kernel_added(graph, NULL, 0, "stamp", at, 0);
	for (uint32_t i = 0; i < MANY; i++)
		branch[i] = kernel_added(graph, &first, 1, "stamp", at, i + 1);
	last = kernel_added(graph, branch, MANY, "stamp", at, MANY + 1);
	assert_non_null(last);
	run_once(graph);
	assert_int_equal(word_at(at), MANY + 2);
	assert_int_equal(word_at(at + 4), 0);
	assert_int_equal(word_at(at + 4 * (MANY + 2)), MANY + 1);
}

/* More than can wait at once. */
static void thousands_of_launches_are_all_done(void **state)
{
	enum { NODES = 10, LAUNCHED = 3000 };
	CUstream s = stream_made(CU_STREAM_NON_BLOCKING);
	CUdeviceptr at = words_made(NODES + 1);
	CUgraph graph = graph_made();
	CUgraphExec exec;

	(void)state;
	for (uint32_t i = 0; i < NODES; i++)
		kernel_added(graph, NULL, 0, "stamp", at, i);
	exec = exec_made(graph);
	for (int i = 0; i < LAUNCHED; i++)
		assert_cuda(CU(cuGraphLaunch)(exec, s), SUCCESS);
	assert_cuda(CU(cuStreamSynchronize)(s), SUCCESS);
	assert_int_equal(word_at(at), NODES * LAUNCHED);
	assert_cuda(CU(cuGraphExecDestroy)(exec), SUCCESS);
	assert_cuda(CU(cuGraphDestroy)(graph), SUCCESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    IN_GRAPH(many_threads_launch_and_capture_at_once),
	    IN_GRAPH(a_graph_works_on_two_devices),
	    IN_GRAPH(hundreds_of_branches_share_lanes),
	    IN_GRAPH(thousands_of_launches_are_all_done),
	};

	return cmocka_run_group_tests(tests, cuda_setup_init, cuda_teardown);
}
