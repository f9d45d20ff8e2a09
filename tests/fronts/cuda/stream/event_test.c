/* SPDX-License-Identifier: Apache-2.0 */
/* event_test.c - checks events: when they are reached, their time, errors. */
#include "fronts/cuda/stream_fixture.h"

static float elapsed(CUevent from, CUevent to)
{
	float ms = -1;

	assert_cuda(CU(cuEventElapsedTime)(&ms, from, to), SUCCESS);
	return ms;
}

static void an_event_is_reached_when_what_was_before_is_done(void **state)
{
	CUstream s = stream_made(0);
	CUevent before = event_made(0), after = event_made(0);
	struct gate gate;

	(void)state;
	assert_cuda(CU(cuEventRecord)(before, s), SUCCESS);
	gate_enter(&gate, s);
	assert_cuda(CU(cuEventRecord)(after, s), SUCCESS);
	assert_cuda(CU(cuEventQuery)(before), SUCCESS);
	assert_cuda(CU(cuEventQuery)(after), ERROR_NOT_READY);
	gate_open(&gate);
	assert_cuda(CU(cuEventSynchronize)(after), SUCCESS);
	assert_cuda(CU(cuEventQuery)(after), SUCCESS);
}

static void in_an_idle_stream_it_is_reached_at_once(void **state)
{
	CUstream s = stream_made(0);
	CUevent event = event_made(0);

	(void)state;
	for (int i = 0; i < 1000; i++) {
		assert_cuda(CU(cuEventRecord)(event, s), SUCCESS);
		assert_cuda(CU(cuEventQuery)(event), SUCCESS);
	}
}

static void what_was_never_recorded_is_done(void **state)
{
	CUevent event = event_made(0), other = event_made(0);
	CUstream s = stream_made(0);
	float ms;

	(void)state;
	assert_cuda(CU(cuEventQuery)(event), SUCCESS);
	assert_cuda(CU(cuEventSynchronize)(event), SUCCESS);
	assert_cuda(CU(cuStreamWaitEvent)(s, event, 0), SUCCESS);
	assert_cuda(CU(cuStreamSynchronize)(s), SUCCESS);
	assert_cuda(CU(cuEventRecord)(other, s), SUCCESS);
	assert_cuda(CU(cuEventElapsedTime)(&ms, event, other),
		    ERROR_INVALID_HANDLE);
	assert_cuda(CU(cuEventElapsedTime)(&ms, other, event),
		    ERROR_INVALID_HANDLE);
}

/*
 * Holds for at least *ns and stores the time that the stream really took, not
 * what the host saw.
 */
static void hold_for(void *data)
{
	uint64_t *ns = data;
	uint64_t begin = gk_mono_ns();

	gk_sleep_until(begin + *ns);
	*ns = gk_mono_ns() - begin;
}

static void elapsed_time_is_the_real_one(void **state)
{
	CUstream s = stream_made(0);
	CUevent from = event_made(0), to = event_made(CU_EVENT_BLOCKING_SYNC);
	uint64_t begin = gk_mono_ns(), ns = 10 * GK_NS_PER_MS, all;
	float ms, ms_v2;

	(void)state;
	assert_cuda(CU(cuEventRecord)(from, s), SUCCESS);
	assert_cuda(CU(cuLaunchHostFunc)(s, hold_for, &ns), SUCCESS);
	assert_cuda(CU(cuEventRecord)(to, s), SUCCESS);
	assert_cuda(CU(cuEventSynchronize)(to), SUCCESS);
	all = gk_mono_ns() - begin;
	ms = elapsed(from, to);
	assert_true((double)ms >= (double)ns / 1e6);
	assert_true((double)ms <= (double)all / 1e6);
	assert_true(elapsed(to, from) == -ms);
	assert_cuda(CU(cuEventElapsedTime_v2)(&ms_v2, from, to), SUCCESS);
	assert_true(ms_v2 == ms);
	assert_true(elapsed(from, from) == 0.0F);
}

/* In nanoseconds, and never negative. */
static void neighbours_are_told_apart(void **state)
{
	CUstream s = stream_made(0);
	CUevent event[2] = {event_made(0), event_made(0)};
	bool is_fine = false;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		float ms;

		assert_cuda(CU(cuEventRecord)(event[0], s), SUCCESS);
		assert_cuda(CU(cuEventRecord)(event[1], s), SUCCESS);
		ms = elapsed(event[0], event[1]);
		assert_true(ms >= 0.0F);
		is_fine |= (long)((double)ms * 1e6 + 0.5) % 1000 != 0;
	}
	assert_true(is_fine);
}

static void the_last_record_counts(void **state)
{
	CUstream s = stream_made(0);
	CUevent event = event_made(0);
	struct gate gate[2];

	(void)state;
	gate_enter(&gate[0], s);
	assert_cuda(CU(cuEventRecord)(event, s), SUCCESS);
	gate_put(&gate[1], s);
	assert_cuda(CU(cuEventRecord)(event, s), SUCCESS);
	gate_open(&gate[0]);
	gate_await(&gate[1]);
	assert_cuda(CU(cuEventQuery)(event), ERROR_NOT_READY);
	gate_open(&gate[1]);
	assert_cuda(CU(cuEventSynchronize)(event), SUCCESS);
}

/* A waiter for the first record does not wait for the second. */
static void a_wait_means_the_record_of_that_moment(void **state)
{
	CUstream s = stream_made(0), waiter = stream_made(0);
	CUevent event = event_made(0);
	struct gate gate[2];
	struct mark mark;

	(void)state;
	gate_enter(&gate[0], s);
	assert_cuda(CU(cuEventRecord)(event, s), SUCCESS);
	assert_cuda(CU(cuStreamWaitEvent)(waiter, event, 0), SUCCESS);
	mark_put(&mark, waiter);
	gate_put(&gate[1], s);
	assert_cuda(CU(cuEventRecord)(event, s), SUCCESS);
	let_others_on();
	assert_false(mark_is_passed(&mark));
	gate_open(&gate[0]);
	mark_await(&mark);
	assert_cuda(CU(cuEventQuery)(event), ERROR_NOT_READY);
	gate_open(&gate[1]);
	all_done();
}

static void a_stream_of_another_device_waits(void **state)
{
	CUstream s = stream_made(0), far;
	CUevent event = event_made(0);
	CUcontext second, popped;
	struct gate gate;
	struct mark mark;
	float ms;
	CUevent far_event;

	(void)state;
	gate_enter(&gate, s);
	assert_cuda(CU(cuEventRecord)(event, s), SUCCESS);
	assert_cuda(CU(cuCtxCreate_v2)(&second, 0, 1), SUCCESS);
	far = stream_made(0);
	far_event = event_made(0);
	assert_cuda(CU(cuEventRecord)(event, far), ERROR_INVALID_HANDLE);
	assert_cuda(CU(cuEventRecord)(far_event, far), SUCCESS);
	assert_cuda(CU(cuStreamWaitEvent)(far, event, 0), SUCCESS);
	mark_put(&mark, far);
	assert_cuda(CU(cuEventQuery)(event), ERROR_NOT_READY);
	let_others_on();
	assert_false(mark_is_passed(&mark));
	gate_open(&gate);
	mark_await(&mark);
	assert_cuda(CU(cuEventElapsedTime)(&ms, event, far_event),
		    ERROR_INVALID_HANDLE);
	assert_cuda(CU(cuCtxPopCurrent_v2)(&popped), SUCCESS);
	assert_cuda(CU(cuCtxDestroy_v2)(second), SUCCESS);
}

static void time_that_is_not_to_be_had(void **state)
{
	CUstream s = stream_made(0);
	CUevent timed = event_made(0), late = event_made(0);
	CUevent untimed = event_made(CU_EVENT_DISABLE_TIMING);
	struct gate gate;
	float ms = 7;

	(void)state;
	assert_cuda(CU(cuEventRecord)(timed, s), SUCCESS);
	assert_cuda(CU(cuEventRecord)(untimed, s), SUCCESS);
	assert_cuda(CU(cuEventElapsedTime)(&ms, timed, untimed),
		    ERROR_INVALID_HANDLE);
	assert_cuda(CU(cuEventElapsedTime)(NULL, timed, timed),
		    ERROR_INVALID_VALUE);
	gate_enter(&gate, s);
	assert_cuda(CU(cuEventRecord)(late, s), SUCCESS);
	assert_cuda(CU(cuEventElapsedTime)(&ms, timed, late), ERROR_NOT_READY);
	assert_cuda(CU(cuEventElapsedTime)(&ms, late, timed), ERROR_NOT_READY);
	assert_true(ms == 7);
	gate_open(&gate);
	all_done();
}

static void flags_and_handles_are_checked(void **state)
{
	CUevent event = NULL, gone = event_made(0);
	CUstream s = stream_made(0);
	float ms;
	char garbage[64] = "";
	CUevent none[] = {NULL, (CUevent)1, (CUevent)(void *)garbage,
			  (CUevent)(void *)s, gone};

	(void)state;
	assert_cuda(CU(cuEventCreate)(NULL, 0), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuEventCreate)(&event, 8), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuEventCreate)(&event, CU_EVENT_INTERPROCESS),
		    ERROR_INVALID_VALUE);
	assert_null(event);
	assert_cuda(CU(cuEventDestroy_v2)(gone), SUCCESS);
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++) {
		assert_cuda(CU(cuEventQuery)(none[i]), ERROR_INVALID_HANDLE);
		assert_cuda(CU(cuEventSynchronize)(none[i]),
			    ERROR_INVALID_HANDLE);
		assert_cuda(CU(cuEventRecord)(none[i], s),
			    ERROR_INVALID_HANDLE);
		assert_cuda(CU(cuStreamWaitEvent)(s, none[i], 0),
			    ERROR_INVALID_HANDLE);
		assert_cuda(CU(cuEventElapsedTime)(&ms, none[i], none[i]),
			    ERROR_INVALID_HANDLE);
		assert_cuda(CU(cuEventDestroy_v2)(none[i]),
			    ERROR_INVALID_HANDLE);
	}
	event = event_made(CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING);
	assert_cuda(CU(cuEventRecordWithFlags)(event, s, 1),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuEventRecordWithFlags)(event, s, 0), SUCCESS);
	assert_cuda(CU(cuStreamWaitEvent)(s, event, 1), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuEventRecord)(event, (CUstream)(void *)event),
		    ERROR_INVALID_HANDLE);
}

/* It is destroyed before its record is reached. */
static void an_event_may_go_before_it_is_reached(void **state)
{
	CUstream s = stream_made(0), waiter = stream_made(0);
	CUevent event = event_made(0);
	struct gate gate;
	struct mark mark;

	(void)state;
	gate_enter(&gate, s);
	assert_cuda(CU(cuEventRecord)(event, s), SUCCESS);
	assert_cuda(CU(cuStreamWaitEvent)(waiter, event, 0), SUCCESS);
	assert_cuda(CU(cuEventDestroy_v2)(event), SUCCESS);
	mark_put(&mark, waiter);
	let_others_on();
	assert_false(mark_is_passed(&mark));
	gate_open(&gate);
	mark_await(&mark);
}

static void an_event_goes_with_its_context(void **state)
{
	CUcontext second;
	CUevent event;

	(void)state;
	assert_cuda(CU(cuCtxCreate_v2)(&second, 0, 1), SUCCESS);
	event = event_made(0);
	assert_cuda(CU(cuEventRecord)(event, NULL), SUCCESS);
	assert_cuda(CU(cuCtxDestroy_v2)(second), SUCCESS);
	assert_cuda(CU(cuEventQuery)(event), ERROR_CONTEXT_IS_DESTROYED);
	assert_cuda(CU(cuEventDestroy_v2)(event), SUCCESS);
}

/*
 * A thread that waits for an event with this flag only sleeps. One that polls
 * would use most of 200 ms.
 */
static void a_blocking_event_costs_no_cpu(void **state)
{
	CUstream s = stream_made(0);
	CUevent event = event_made(CU_EVENT_BLOCKING_SYNC);
	uint64_t before, ns = 200 * GK_NS_PER_MS;

	(void)state;
	assert_cuda(CU(cuLaunchHostFunc)(s, hold_for, &ns), SUCCESS);
	assert_cuda(CU(cuEventRecord)(event, s), SUCCESS);
	before = gk_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	assert_cuda(CU(cuEventSynchronize)(event), SUCCESS);
	assert_in_range(gk_clock_ns(CLOCK_THREAD_CPUTIME_ID) - before, 0,
			20 * GK_NS_PER_MS);
}

static void a_context_is_recorded_and_waits_as_a_whole(void **state)
{
	CUstream a = stream_made(0), free = stream_made(CU_STREAM_NON_BLOCKING);
	CUstream later;
	CUevent all = event_made(0), event = event_made(0);
	CUstream gone = stream_made(CU_STREAM_NON_BLOCKING);
	struct gate gate[3];
	struct mark mark[2];

	(void)state;
	gate_enter(&gate[0], a);
	gate_enter(&gate[1], free);
	gate_enter(&gate[2], gone);
	assert_cuda(CU(cuStreamDestroy_v2)(gone), SUCCESS);
	assert_cuda(CU(cuCtxRecordEvent)(test_ctx, all), SUCCESS);
	assert_cuda(CU(cuEventRecord)(event, free), SUCCESS);
	assert_cuda(CU(cuCtxWaitEvent)(test_ctx, event), SUCCESS);
	later = stream_made(CU_STREAM_NON_BLOCKING);
	mark_put(&mark[0], later);
	gate_open(&gate[0]);
	mark_put(&mark[1], a);
	gk_sleep_until(gk_mono_ns() + 20 * GK_NS_PER_MS);
	assert_cuda(CU(cuEventQuery)(all), ERROR_NOT_READY);
	assert_false(mark_is_passed(&mark[0]));
	assert_false(mark_is_passed(&mark[1]));
	gate_open(&gate[1]);
	mark_await(&mark[0]);
	mark_await(&mark[1]);
	assert_cuda(CU(cuEventQuery)(all), ERROR_NOT_READY);
	gate_open(&gate[2]);
	assert_cuda(CU(cuEventSynchronize)(all), SUCCESS);
}

/* Records and waits from many threads on the same events. */
static CUevent shared[4];

static void *use_events(void *data)
{
	unsigned seed = *(unsigned *)data;
	CUstream s;

	assert_cuda(CU(cuCtxSetCurrent)(test_ctx), SUCCESS);
	s = stream_made(seed % 2 ? CU_STREAM_NON_BLOCKING : 0);
	for (int i = 0; i < 2000; i++) {
		CUevent event = shared[(unsigned)rand_r(&seed) % 4];

		switch (rand_r(&seed) % 4) {
		case 0:
			assert_cuda(CU(cuEventRecord)(event, s), SUCCESS);
			break;
		case 1:
			assert_cuda(CU(cuStreamWaitEvent)(s, event, 0),
				    SUCCESS);
			break;
		case 2:
			assert_cuda(CU(cuEventSynchronize)(event), SUCCESS);
			break;
		default:
			CU(cuEventQuery)(event);
		}
	}
	assert_cuda(CU(cuStreamSynchronize)(s), SUCCESS);
	return NULL;
}

static void many_threads_share_events(void **state)
{
	unsigned seed[4] = {1, 2, 3, 4};
	pthread_t thread[4];

	(void)state;
	for (int i = 0; i < 4; i++)
		shared[i] = event_made(0);
	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, use_events, &seed[i]);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    IN_CTX(an_event_is_reached_when_what_was_before_is_done),
	    IN_CTX(in_an_idle_stream_it_is_reached_at_once),
	    IN_CTX(what_was_never_recorded_is_done),
	    IN_CTX(elapsed_time_is_the_real_one),
	    IN_CTX(neighbours_are_told_apart),
	    IN_CTX(the_last_record_counts),
	    IN_CTX(a_wait_means_the_record_of_that_moment),
	    IN_CTX(a_stream_of_another_device_waits),
	    IN_CTX(time_that_is_not_to_be_had),
	    IN_CTX(flags_and_handles_are_checked),
	    IN_CTX(an_event_may_go_before_it_is_reached),
	    IN_CTX(an_event_goes_with_its_context),
	    IN_CTX(a_blocking_event_costs_no_cpu),
	    IN_CTX(a_context_is_recorded_and_waits_as_a_whole),
	    IN_CTX(many_threads_share_events),
	};

	return cmocka_run_group_tests(tests, cuda_setup_init, cuda_teardown);
}
