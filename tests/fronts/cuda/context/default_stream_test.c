/* SPDX-License-Identifier: Apache-2.0 */
/*
 * default_stream_test.c - checks which streams wait for which: all pairs of the
 * legacy default stream, per-thread default streams, blocking and non-blocking
 * ones, under all their names.
 */
#include "fronts/cuda/stream_fixture.h"

/*
 * Another thread that makes calls on request, with a default stream of its own
 */
static struct {
	pthread_t thread;
	sem_t go, done;
	CUresult (*call)(CUstream stream, CUhostFn fn, void *data);
	CUhostFn fn;
	void *data;
	CUresult result;
} other;

static void *do_as_told(void *unused)
{
	(void)unused;
	CU(cuCtxSetCurrent)(test_ctx);
	for (;;) {
		await(&other.go);
		if (!other.call)
			return NULL;
		other.result = other.call(NULL, other.fn, other.data);
		sem_post(&other.done);
	}
}

static void other_begin(void)
{
	sem_init(&other.go, 0, 0);
	sem_init(&other.done, 0, 0);
	pthread_create(&other.thread, NULL, do_as_told, NULL);
}

static void other_end(void)
{
	other.call = NULL;
	sem_post(&other.go);
	pthread_join(other.thread, NULL);
}

/* The streams, and which others each waits for: the row's work comes first. */
enum place { LEGACY, MINE, THEIRS, ONE, TWO, FREE, FREER, PLACES };
static const bool waits[PLACES][PLACES] = {
    [LEGACY] = {[LEGACY] = 1, [MINE] = 1, [THEIRS] = 1, [ONE] = 1, [TWO] = 1},
    [MINE] = {[LEGACY] = 1, [MINE] = 1},
    [THEIRS] = {[LEGACY] = 1, [THEIRS] = 1},
    [ONE] = {[LEGACY] = 1, [ONE] = 1},
    [TWO] = {[LEGACY] = 1, [TWO] = 1},
    [FREE] = {[FREE] = 1},
    [FREER] = {[FREER] = 1},
};

static CUstream made[PLACES];

/* How a program names them: by which entry point, with which handle. */
static const struct name {
	const char *text;
	enum place place;
	bool ptsz;
	uintptr_t handle; /* 0-2: this value; else made[place] */
} names[] = {
    {"NULL", LEGACY, false, 0},
    {"CU_STREAM_LEGACY", LEGACY, false, 1},
    {"CU_STREAM_LEGACY, ptsz", LEGACY, true, 1},
    {"CU_STREAM_PER_THREAD", MINE, false, 2},
    {"CU_STREAM_PER_THREAD, ptsz", MINE, true, 2},
    {"NULL, ptsz", MINE, true, 0},
    {"NULL, ptsz, another thread", THEIRS, true, 0},
    {"blocking", ONE, false, 3},
    {"blocking, ptsz", ONE, true, 3},
    {"another blocking", TWO, false, 3},
    {"non-blocking", FREE, false, 3},
    {"another non-blocking, ptsz", FREER, true, 3},
};
#define NAMES (sizeof(names) / sizeof(*names))

static void put(const struct name *name, CUhostFn fn, void *data)
{
	CUresult (*call)(CUstream, CUhostFn, void *) =
	    name->ptsz ? CU(cuLaunchHostFunc_ptsz) : CU(cuLaunchHostFunc);
	CUstream stream =
	    name->handle > 2 ? made[name->place] : (CUstream)name->handle;

	if (name->place != THEIRS) {
		assert_cuda(call(stream, fn, data), SUCCESS);
		return;
	}
	other.call = call;
	other.fn = fn;
	other.data = data;
	sem_post(&other.go);
	await(&other.done);
	assert_cuda(other.result, SUCCESS);
}

static void check_pair(const struct name *first, const struct name *second)
{
	bool has_to_wait = waits[first->place][second->place];
	struct gate gate;
	struct mark mark;

	gate_init(&gate);
	sem_init(&mark.passed, 0, 0);
	put(first, gate_stay, gate.room);
	gate_await(&gate);
	put(second, mark_pass, &mark);
	if (has_to_wait) {
		let_others_on();
		if (mark_is_passed(&mark))
			fail_msg("%s did not wait for %s", second->text,
				 first->text);
	} else {
		mark_await(&mark);
	}
	gate_open(&gate);
	mark_await(&mark);
	assert_cuda(CU(cuCtxSynchronize)(), SUCCESS);
}

static void each_waits_for_what_it_must_and_no_more(void **state)
{
	(void)state;
	other_begin();
	made[ONE] = stream_made(CU_STREAM_DEFAULT);
	made[TWO] = stream_made(CU_STREAM_DEFAULT);
	made[FREE] = stream_made(CU_STREAM_NON_BLOCKING);
	made[FREER] = stream_made(CU_STREAM_NON_BLOCKING);
	for (size_t i = 0; i < NAMES; i++)
		for (size_t j = 0; j < NAMES; j++)
			check_pair(&names[i], &names[j]);
	other_end();
}

static void blocking_streams_wait_through_the_legacy_one(void **state)
{
	CUstream a = stream_made(0), b = stream_made(0);
	struct gate gate;
	struct mark between, mark;

	(void)state;
	gate_enter(&gate, a);
	mark_put(&between, NULL);
	mark_put(&mark, b);
	let_others_on();
	assert_false(mark_is_passed(&between));
	assert_false(mark_is_passed(&mark));
	gate_open(&gate);
	mark_await(&mark);
	assert_true(mark_is_passed(&between));
}

/* A wait is also work. */
static void a_wait_in_the_legacy_stream_holds_back_the_others(void **state)
{
	CUstream free = stream_made(CU_STREAM_NON_BLOCKING), a = stream_made(0);
	CUevent event = event_made(0);
	struct gate gate;
	struct mark mark;

	(void)state;
	gate_enter(&gate, free);
	assert_cuda(CU(cuEventRecord)(event, free), SUCCESS);
	assert_cuda(CU(cuStreamWaitEvent)(NULL, event, 0), SUCCESS);
	mark_put(&mark, a);
	let_others_on();
	assert_false(mark_is_passed(&mark));
	gate_open(&gate);
	mark_await(&mark);
}

static void an_event_in_the_legacy_stream_is_after_all(void **state)
{
	CUstream a = stream_made(0);
	CUevent event = event_made(0);
	struct gate gate;

	(void)state;
	gate_enter(&gate, a);
	assert_cuda(CU(cuEventRecord)(event, NULL), SUCCESS);
	assert_cuda(CU(cuEventQuery)(event), ERROR_NOT_READY);
	assert_cuda(CU(cuEventRecord_ptsz)(event, NULL), SUCCESS);
	gate_open(&gate);
	assert_cuda(CU(cuEventSynchronize)(event), SUCCESS);
}

static void the_legacy_stream_waits_for_what_was_destroyed(void **state)
{
	CUstream a = stream_made(0);
	struct gate gate;
	struct mark mark;

	(void)state;
	gate_enter(&gate, a);
	assert_cuda(CU(cuStreamDestroy_v2)(a), SUCCESS);
	mark_put(&mark, NULL);
	let_others_on();
	assert_false(mark_is_passed(&mark));
	gate_open(&gate);
	mark_await(&mark);
}

static void asking_the_legacy_stream_asks_the_blocking_ones(void **state)
{
	CUstream a = stream_made(0), free = stream_made(CU_STREAM_NON_BLOCKING);
	struct gate gate;

	(void)state;
	gate_enter(&gate, free);
	assert_cuda(CU(cuStreamQuery)(NULL), SUCCESS);
	assert_cuda(CU(cuStreamSynchronize)(NULL), SUCCESS);
	gate_open(&gate);
	assert_cuda(CU(cuStreamSynchronize)(free), SUCCESS);
	gate_enter(&gate, a);
	assert_cuda(CU(cuStreamQuery)(NULL), ERROR_NOT_READY);
	assert_cuda(CU(cuStreamQuery_ptsz)(NULL), SUCCESS);
	gate_open(&gate);
	assert_cuda(CU(cuStreamSynchronize)(NULL), SUCCESS);
	assert_cuda(CU(cuStreamQuery)(a), SUCCESS);
}

/* Its work is done even when the thread ends at once. */
static struct gate left_gate;
static struct mark left_mark;

static void *leave_work(void *unused)
{
	(void)unused;
	assert_cuda(CU(cuCtxSetCurrent)(test_ctx), SUCCESS);
	gate_enter(&left_gate, CU_STREAM_PER_THREAD);
	mark_put(&left_mark, CU_STREAM_PER_THREAD);
	return NULL;
}

static void a_thread_that_ends_leaves_its_work(void **state)
{
	pthread_t thread;

	(void)state;
	pthread_create(&thread, NULL, leave_work, NULL);
	pthread_join(thread, NULL);
	assert_false(mark_is_passed(&left_mark));
	gate_open(&left_gate);
	assert_cuda(CU(cuCtxSynchronize)(), SUCCESS);
	assert_true(mark_is_passed(&left_mark));
}

/* A thread has a stream in each context; contexts come and go. */
static void each_context_has_its_own_default_streams(void **state)
{
	CUcontext second;
	struct gate gate;

	(void)state;
	gate_enter(&gate, NULL);
	for (int i = 0; i < 3; i++) {
		unsigned long long id[2];

		assert_cuda(CU(cuCtxCreate_v2)(&second, 0, 1), SUCCESS);
		assert_cuda(CU(cuStreamQuery)(NULL), SUCCESS);
		assert_cuda(CU(cuStreamQuery_ptsz)(NULL), SUCCESS);
		assert_cuda(CU(cuStreamGetId)(NULL, &id[0]), SUCCESS);
		assert_cuda(CU(cuStreamGetId_ptsz)(NULL, &id[1]), SUCCESS);
		assert_int_not_equal(id[0], id[1]);
		assert_cuda(CU(cuCtxDestroy_v2)(second), SUCCESS);
	}
	gate_open(&gate);
	all_done();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    IN_CTX(each_waits_for_what_it_must_and_no_more),
	    IN_CTX(blocking_streams_wait_through_the_legacy_one),
	    IN_CTX(a_wait_in_the_legacy_stream_holds_back_the_others),
	    IN_CTX(an_event_in_the_legacy_stream_is_after_all),
	    IN_CTX(the_legacy_stream_waits_for_what_was_destroyed),
	    IN_CTX(asking_the_legacy_stream_asks_the_blocking_ones),
	    IN_CTX(a_thread_that_ends_leaves_its_work),
	    IN_CTX(each_context_has_its_own_default_streams),
	};

	return cmocka_run_group_tests(tests, cuda_setup_init, cuda_teardown);
}
