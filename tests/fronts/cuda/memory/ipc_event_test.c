/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ipc_event_test.c - checks events that another process shares: one waits for
 * what the other records, and nobody waits for the dead.
 */
#include "base/clock.h"
#include "base/mix.h"
#include "fronts/cuda/peer.h"
#include "machine/file/fault_kinds.h"
#include "machine/trouble/fault.h"

#include <pthread.h>

#define SHARED (CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING)

static _Atomic bool is_let_go;

static void stay(void *unused)
{
	(void)unused;
	while (!is_let_go)
		usleep(200);
}

static void let_go(void)
{
	is_let_go = true;
}

/*
 * e: makes an event; r: records it after work that stays; g: releases that
 * work; R: records it in another stream; q: whether it is reached; w: waits for
 * it; d: destroys it.
 */
static void serve(struct orders *o)
{
	CUipcEventHandle handle;
	CUstream stream, other;
	CUevent event = NULL;
	char what, answer;

	begin_cuda(0);
	assert_cuda(CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING),
		    SUCCESS);
	assert_cuda(CU(cuStreamCreate)(&other, CU_STREAM_NON_BLOCKING),
		    SUCCESS);
	while (read(o->in, &what, 1) == 1) {
		answer = what;
		switch (what) {
		case 'e':
			assert_cuda(CU(cuEventCreate)(&event, SHARED), SUCCESS);
			assert_cuda(CU(cuIpcGetEventHandle)(&handle, event),
				    SUCCESS);
			peer_write(o->out, &handle, sizeof handle);
			continue;
		case 'r':
			is_let_go = false;
			assert_cuda(CU(cuLaunchHostFunc)(stream, stay, NULL),
				    SUCCESS);
			assert_cuda(CU(cuEventRecord)(event, stream), SUCCESS);
			break;
		case 'g':
			let_go();
			break;
		case 'R':
			assert_cuda(CU(cuEventRecord)(event, other), SUCCESS);
			break;
		case 'q':
			answer = CU(cuEventQuery)(event) ? 'n' : 'y';
			break;
		case 'w':
			assert_cuda(CU(cuEventSynchronize)(event), SUCCESS);
			break;
		default:
			assert_cuda(CU(cuEventDestroy_v2)(event), SUCCESS);
		}
		peer_write(o->out, &answer, 1);
	}
}

static CUevent open_event(const struct peer *p)
{
	CUipcEventHandle handle;
	CUevent e;

	peer_tell(p, 'e', &handle, sizeof handle);
	assert_cuda(CU(cuIpcOpenEventHandle)(&e, handle), SUCCESS);
	return e;
}

static bool reached_there(const struct peer *p)
{
	char answer;

	peer_tell(p, 'q', &answer, 1);
	return answer == 'y';
}

static void what_one_records_the_other_waits_for(struct fixture *fx)
{
	struct peer p = peer_start(serve);
	CUevent e;

	(void)fx;
	begin_cuda(0);
	e = open_event(&p);
	assert_cuda(CU(cuEventQuery)(e), SUCCESS);
	assert_cuda(CU(cuEventSynchronize)(e), SUCCESS);
	for (int i = 0; i < 3; i++) {
		peer_do(&p, 'r');
		assert_cuda(CU(cuEventQuery)(e), ERROR_NOT_READY);
		peer_do(&p, 'g');
		assert_cuda(CU(cuEventSynchronize)(e), SUCCESS);
		assert_cuda(CU(cuEventQuery)(e), SUCCESS);
		peer_do(&p, 'w');
		assert_true(reached_there(&p));
	}
	assert_cuda(CU(cuEventDestroy_v2)(e), SUCCESS);
	peer_end(&p);
}

static void a_stream_waits_for_the_other_process(struct fixture *fx)
{
	struct peer p = peer_start(serve);
	CUdeviceptr at;
	CUstream s;
	CUevent e;

	(void)fx;
	begin_cuda(0);
	assert_cuda(CU(cuStreamCreate)(&s, CU_STREAM_NON_BLOCKING), SUCCESS);
	assert_cuda(CU(cuMemAlloc_v2)(&at, 4096), SUCCESS);
	e = open_event(&p);
	peer_do(&p, 'r');
	assert_cuda(CU(cuStreamWaitEvent)(s, e, 0), SUCCESS);
	assert_cuda(CU(cuMemsetD8Async)(at, 1, 4096, s), SUCCESS);
	/* Later records of the event do not matter to the stream. */
	assert_cuda(CU(cuEventDestroy_v2)(e), SUCCESS);
	usleep(5000);
	assert_cuda(CU(cuStreamQuery)(s), ERROR_NOT_READY);
	peer_do(&p, 'g');
	assert_cuda(CU(cuStreamSynchronize)(s), SUCCESS);
	peer_end(&p);
}

/* It does not wait for later records that are reached sooner. */
static void a_stream_waits_for_the_record_that_it_saw(struct fixture *fx)
{
	struct peer p = peer_start(serve);
	CUstream s;
	CUevent e;

	(void)fx;
	begin_cuda(0);
	assert_cuda(CU(cuStreamCreate)(&s, CU_STREAM_NON_BLOCKING), SUCCESS);
	e = open_event(&p);
	peer_do(&p, 'r');
	assert_cuda(CU(cuStreamWaitEvent)(s, e, 0), SUCCESS);
	for (int i = 0; i < 7; i++)
		peer_do(&p, 'R');
	assert_cuda(CU(cuEventSynchronize)(e), SUCCESS);
	usleep(5000);
	assert_cuda(CU(cuStreamQuery)(s), ERROR_NOT_READY);
	peer_do(&p, 'g');
	assert_cuda(CU(cuStreamSynchronize)(s), SUCCESS);
	peer_end(&p);
}

/*
 * Nor is a record reached when another one reuses its place: such records are
 * held back until it is.
 */
static void a_record_keeps_its_meaning_however_many_come(struct fixture *fx)
{
	struct peer p = peer_start(serve);
	CUstream s;
	CUevent e;

	(void)fx;
	begin_cuda(0);
	assert_cuda(CU(cuStreamCreate)(&s, CU_STREAM_NON_BLOCKING), SUCCESS);
	e = open_event(&p);
	peer_do(&p, 'r');
	assert_cuda(CU(cuStreamWaitEvent)(s, e, 0), SUCCESS);
	for (int i = 0; i < 20; i++)
		peer_do(&p, 'R');
	usleep(5000);
	assert_cuda(CU(cuStreamQuery)(s), ERROR_NOT_READY);
	assert_cuda(CU(cuEventQuery)(e), ERROR_NOT_READY);
	peer_do(&p, 'g');
	assert_cuda(CU(cuEventSynchronize)(e), SUCCESS);
	assert_cuda(CU(cuStreamSynchronize)(s), SUCCESS);
	peer_end(&p);
}

/* The dead process has one record at each place. */
static void two_processes_have_room_for_eight_records(struct fixture *fx)
{
	struct peer p = peer_start(serve);
	CUstream s;
	CUevent e;

	(void)fx;
	begin_cuda(0);
	assert_cuda(CU(cuStreamCreate)(&s, CU_STREAM_NON_BLOCKING), SUCCESS);
	e = open_event(&p);
	peer_do(&p, 'r');
	for (int i = 1; i < 8; i++)
		assert_cuda(CU(cuEventRecord)(e, s), SUCCESS);
	assert_cuda(CU(cuEventRecord)(e, s), ERROR_NOT_SUPPORTED);
	assert_cuda(CU(cuEventSynchronize)(e), SUCCESS);
	peer_do(&p, 'g');
	peer_do(&p, 'w'); /* for its own record */
	assert_cuda(CU(cuEventRecord)(e, s), SUCCESS);
	assert_cuda(CU(cuEventSynchronize)(e), SUCCESS);
	/* Dead processes occupy no place. */
	peer_do(&p, 'r');
	for (int i = 1; i < 8; i++)
		assert_cuda(CU(cuEventRecord)(e, s), SUCCESS);
	assert_cuda(CU(cuEventRecord)(e, s), ERROR_NOT_SUPPORTED);
	peer_kill(&p);
	for (int i = 0; i < 20; i++)
		assert_cuda(CU(cuEventRecord)(e, s), SUCCESS);
	assert_cuda(CU(cuEventSynchronize)(e), SUCCESS);
}

static void both_may_record_it(struct fixture *fx)
{
	struct peer p = peer_start(serve);
	CUstream s;
	CUevent e;

	(void)fx;
	begin_cuda(0);
	assert_cuda(CU(cuStreamCreate)(&s, CU_STREAM_NON_BLOCKING), SUCCESS);
	e = open_event(&p);
	assert_cuda(CU(cuLaunchHostFunc)(s, stay, NULL), SUCCESS);
	assert_cuda(CU(cuEventRecord)(e, s), SUCCESS);
	assert_false(reached_there(&p));
	let_go();
	peer_do(&p, 'w');
	assert_true(reached_there(&p));
	/* The last record counts, whoever made it. */
	peer_do(&p, 'r');
	assert_cuda(CU(cuEventRecord)(e, s), SUCCESS);
	assert_cuda(CU(cuStreamSynchronize)(s), SUCCESS);
	assert_cuda(CU(cuEventQuery)(e), SUCCESS);
	peer_do(&p, 'g');
	peer_end(&p);
}

static void nobody_waits_for_the_dead(struct fixture *fx)
{
	struct peer p = peer_start(serve);
	CUstream s, own;
	CUevent e;

	(void)fx;
	begin_cuda(0);
	assert_cuda(CU(cuStreamCreate)(&s, CU_STREAM_NON_BLOCKING), SUCCESS);
	e = open_event(&p);
	peer_do(&p, 'r');
	assert_cuda(CU(cuStreamWaitEvent)(s, e, 0), SUCCESS);
	assert_cuda(CU(cuEventQuery)(e), ERROR_NOT_READY);
	peer_kill(&p);
	/* Nor when a living process makes the next record. */
	assert_cuda(CU(cuStreamCreate)(&own, CU_STREAM_NON_BLOCKING), SUCCESS);
	assert_cuda(CU(cuEventRecord)(e, own), SUCCESS);
	assert_cuda(CU(cuEventSynchronize)(e), SUCCESS);
	assert_cuda(CU(cuEventQuery)(e), SUCCESS);
	assert_cuda(CU(cuStreamSynchronize)(s), SUCCESS);
	assert_cuda(CU(cuEventDestroy_v2)(e), SUCCESS);
}

static void one_that_is_destroyed_there_is_reached_here(struct fixture *fx)
{
	struct peer p = peer_start(serve);
	CUevent e;

	(void)fx;
	begin_cuda(0);
	e = open_event(&p);
	peer_do(&p, 'r');
	peer_do(&p, 'd');
	assert_cuda(CU(cuEventQuery)(e), ERROR_NOT_READY);
	peer_do(&p, 'g');
	assert_cuda(CU(cuEventSynchronize)(e), SUCCESS);
	peer_end(&p);
}

/* The other GPU fails: its stream never reaches what is recorded there. */
static void nobody_waits_for_a_failed_context(struct fixture *fx)
{
	struct peer p = peer_start(serve);
	CUstream s;
	CUevent e;

	begin_cuda(1);
	assert_cuda(CU(cuStreamCreate)(&s, CU_STREAM_NON_BLOCKING), SUCCESS);
	e = open_event(&p);
	peer_do(&p, 'r');
	assert_cuda(CU(cuStreamWaitEvent)(s, e, 0), SUCCESS);
	assert_int_equal(gkf_fault_begin(fx->m, 0, GKF_FAULT_STICKY,
					 CUDA_ERROR_LAUNCH_FAILED),
			 0);
	assert_cuda(CU(cuEventQuery)(e), ERROR_NOT_READY);
	peer_do(&p, 'g');
	assert_cuda(CU(cuEventSynchronize)(e), SUCCESS);
	assert_cuda(CU(cuStreamSynchronize)(s), SUCCESS);
	peer_end(&p);
}

static void *lose_gpu(void *data)
{
	struct fixture *fx = data;

	usleep(20000);
	assert_int_equal(gkf_fault_begin(fx->m, 1, GKF_FAULT_LOST, 0), 0);
	return NULL;
}

/* Our own GPU fails, and the other process never reaches its record. */
static void nobody_waits_on_a_gpu_that_failed(struct fixture *fx)
{
	struct peer p = peer_start(serve);
	pthread_t thread;
	CUcontext ctx;
	CUevent e;

	ctx = begin_cuda(1);
	e = open_event(&p);
	peer_do(&p, 'r');
	assert_int_equal(pthread_create(&thread, NULL, lose_gpu, fx), 0);
	alarm(20);
	assert_cuda(CU(cuEventSynchronize)(e), ERROR_DEVICE_UNAVAILABLE);
	assert_cuda(CU(cuCtxWaitEvent)(ctx, e), ERROR_DEVICE_UNAVAILABLE);
	alarm(0);
	pthread_join(thread, NULL);
	peer_do(&p, 'g');
	peer_end(&p);
}

static void what_cannot_be_opened(struct fixture *fx)
{
	struct peer p = peer_start(serve);
	CUipcEventHandle handle;
	CUipcMemHandle memory;
	uint64_t seed = 3;
	CUdeviceptr at;
	CUevent e, own;
	float ms;

	(void)fx;
	begin_cuda(0);
	peer_tell(&p, 'e', &handle, sizeof handle);
	for (unsigned bit = 0; bit < 8 * sizeof handle; bit++) {
		CUipcEventHandle h = handle;

		h.reserved[bit / 8] ^= (char)(1 << bit % 8);
		assert_cuda(CU(cuIpcOpenEventHandle)(&e, h),
			    ERROR_INVALID_HANDLE);
	}
	for (int i = 0; i < 5000; i++) {
		CUipcEventHandle h;

		for (unsigned k = 0; k < sizeof h; k++)
			h.reserved[k] = (char)gkf_mix(seed++);
		assert_cuda(CU(cuIpcOpenEventHandle)(&e, h),
			    ERROR_INVALID_HANDLE);
	}
	memcpy(&memory, &handle, sizeof memory);
	assert_cuda(CU(cuIpcOpenMemHandle_v2)(&at, memory, 1),
		    ERROR_INVALID_HANDLE);
	assert_cuda(CU(cuIpcOpenEventHandle)(&e, handle), SUCCESS);
	assert_cuda(CU(cuIpcGetEventHandle)(&handle, e), ERROR_INVALID_HANDLE);
	assert_cuda(CU(cuEventElapsedTime)(&ms, e, e), ERROR_INVALID_HANDLE);
	peer_do(&p, 'd');
	peer_tell(&p, 'e', &handle, sizeof handle);
	peer_do(&p, 'd');
	assert_cuda(CU(cuIpcOpenEventHandle)(&e, handle), ERROR_INVALID_HANDLE);
	assert_cuda(CU(cuEventCreate)(&own, CU_EVENT_DISABLE_TIMING), SUCCESS);
	assert_cuda(CU(cuIpcGetEventHandle)(&handle, own),
		    ERROR_INVALID_HANDLE);
	assert_cuda(CU(cuEventCreate)(&own, SHARED), SUCCESS);
	assert_cuda(CU(cuIpcGetEventHandle)(&handle, own), SUCCESS);
	assert_cuda(CU(cuIpcOpenEventHandle)(&e, handle),
		    ERROR_INVALID_CONTEXT);
	peer_end(&p);
}

int main(int argc, char **argv)
{
	static const struct alone tests[] = {
	    ALONE(what_one_records_the_other_waits_for),
	    ALONE(a_stream_waits_for_the_other_process),
	    ALONE(a_stream_waits_for_the_record_that_it_saw),
	    ALONE(a_record_keeps_its_meaning_however_many_come),
	    ALONE(two_processes_have_room_for_eight_records),
	    ALONE(both_may_record_it),
	    ALONE(nobody_waits_for_the_dead),
	    ALONE(one_that_is_destroyed_there_is_reached_here),
	    ALONE(nobody_waits_for_a_failed_context),
	    ALONE(nobody_waits_on_a_gpu_that_failed),
	    ALONE(what_cannot_be_opened),
	};

	return alone_main(argc, argv, tests, sizeof(tests) / sizeof(*tests));
}
