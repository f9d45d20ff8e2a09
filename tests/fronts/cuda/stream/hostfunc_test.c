/* SPDX-License-Identifier: Apache-2.0 */
/* hostfunc_test.c - checks functions of the program that streams call. */
#include "fronts/cuda/stream_fixture.h"

#include <stdatomic.h>

static void count(void *data)
{
	int *n = data;

	++*n;
}

static void they_are_called_in_order(void **state)
{
	CUstream s = stream_made(0);
	int n = 0;

	(void)state;
	for (int i = 0; i < 10000; i++)
		assert_cuda(CU(cuLaunchHostFunc)(s, count, &n), SUCCESS);
	assert_cuda(CU(cuStreamSynchronize)(s), SUCCESS);
	assert_int_equal(n, 10000);
}

struct heard {
	CUstream stream;
	CUresult status;
	pthread_t thread;
	int times;
	struct mark mark;
};

static void hear(CUstream stream, CUresult status, void *data)
{
	struct heard *heard = data;

	heard->stream = stream;
	heard->status = status;
	heard->thread = pthread_self();
	heard->times++;
	mark_pass(&heard->mark);
}

static void a_callback_hears_its_stream_and_status(void **state)
{
	CUstream s = stream_made(0);
	struct heard heard = {.status = CUDA_ERROR_UNKNOWN};

	(void)state;
	sem_init(&heard.mark.passed, 0, 0);
	assert_cuda(CU(cuStreamAddCallback)(s, hear, &heard, 0), SUCCESS);
	assert_cuda(CU(cuStreamSynchronize)(s), SUCCESS);
	assert_ptr_equal(heard.stream, s);
	assert_cuda(heard.status, SUCCESS);
	assert_int_equal(heard.times, 1);
	assert_false(pthread_equal(heard.thread, pthread_self()));
	assert_cuda(CU(cuStreamAddCallback)(NULL, hear, &heard, 0), SUCCESS);
	assert_cuda(CU(cuCtxSynchronize)(), SUCCESS);
	assert_ptr_equal(heard.stream, NULL);
	assert_cuda(CU(cuStreamAddCallback)(s, hear, &heard, 1),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuStreamAddCallback)(s, NULL, &heard, 0),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuLaunchHostFunc)(s, NULL, NULL), ERROR_INVALID_VALUE);
	assert_int_equal(heard.times, 2);
}

static void call_cuda(void *data)
{
	CUresult *result = data;
	CUdeviceptr memory;
	CUevent event;
	int n;

	result[0] = CU(cuMemAlloc_v2)(&memory, 4096);
	result[1] = CU(cuEventCreate)(&event, 0);
	result[2] = CU(cuDeviceGetCount)(&n);
	result[3] = CU(cuCtxSynchronize)();
}

static void they_may_not_call_cuda(void **state)
{
	CUstream s = stream_made(0);
	CUresult result[4] = {0};
	int n = 0;

	(void)state;
	assert_cuda(CU(cuLaunchHostFunc)(s, call_cuda, result), SUCCESS);
	assert_cuda(CU(cuStreamSynchronize)(s), SUCCESS);
	for (int i = 0; i < 4; i++)
		assert_cuda(result[i], ERROR_NOT_PERMITTED);
	/* None of that has lasting effects. */
	assert_cuda(CU(cuLaunchHostFunc)(s, count, &n), SUCCESS);
	assert_cuda(CU(cuStreamSynchronize)(s), SUCCESS);
	assert_int_equal(n, 1);
}

/* Earlier work is done before it, later work waits. */
static void the_stream_waits_for_them(void **state)
{
	CUstream s = stream_made(0);
	struct gate gate;
	struct mark mark;

	(void)state;
	gate_enter(&gate, s);
	mark_put(&mark, s);
	assert_cuda(CU(cuStreamQuery)(s), ERROR_NOT_READY);
	let_others_on();
	assert_false(mark_is_passed(&mark));
	gate_open(&gate);
	assert_cuda(CU(cuStreamSynchronize)(s), SUCCESS);
	assert_true(mark_is_passed(&mark));
	assert_cuda(CU(cuStreamQuery)(s), SUCCESS);
}

/* Many that block do not hold up other streams. */
static void those_that_block_leave_room_for_others(void **state)
{
	enum { BLOCKED = 40 };
	struct gate gate[BLOCKED];
	CUstream s;
	struct mark mark;

	(void)state;
	for (int i = 0; i < BLOCKED; i++)
		gate_enter(&gate[i], stream_made(CU_STREAM_NON_BLOCKING));
	s = stream_made(CU_STREAM_NON_BLOCKING);
	mark_put(&mark, s);
	mark_await(&mark);
	for (int i = 0; i < BLOCKED; i++)
		gate_open(&gate[i]);
	assert_cuda(CU(cuCtxSynchronize)(), SUCCESS);
}

/* A stream that fails: its callbacks are called, its host functions are not. */
static void after_an_error_callbacks_hear_of_it(void **state)
{
	struct heard heard = {0};
	struct gate gate;
	CUstream s, other;
	CUdeviceptr word, kept;
	CUcontext ctx;
	int n = 0;

	(void)state;
	sem_init(&heard.mark.passed, 0, 0);
	assert_cuda(CU(cuCtxCreate_v2)(&ctx, 0, 1), SUCCESS);
	s = stream_made(0);
	other = stream_made(CU_STREAM_NON_BLOCKING);
	assert_cuda(CU(cuMemAlloc_v2)(&kept, 4096), SUCCESS);
	assert_cuda(CU(cuMemAllocAsync)(&word, 4096, other), SUCCESS);
	assert_cuda(CU(cuStreamSynchronize)(other), SUCCESS);
	gate_enter(&gate, s);
	assert_cuda(CU(cuStreamWriteValue32_v2)(s, word, 1, 0), SUCCESS);
	assert_cuda(CU(cuLaunchHostFunc)(s, count, &n), SUCCESS);
	assert_cuda(CU(cuStreamAddCallback)(s, hear, &heard, 0), SUCCESS);
	/*
	 * Its memory is freed while it is in use, in the order of another
	 * stream
	 */
	assert_cuda(CU(cuMemFreeAsync)(word, other), SUCCESS);
	assert_cuda(CU(cuStreamSynchronize)(other), SUCCESS);
	assert_cuda(CU(cuStreamWaitValue32_v2)(other, kept, 9, 1), SUCCESS);
	assert_cuda(CU(cuStreamQuery)(other), ERROR_NOT_READY);
	gate_open(&gate);
	/*
	 * It returns as soon as there is an error, of which callbacks learn
	 * later.
	 */
	assert_cuda(CU(cuStreamSynchronize)(s), ERROR_ILLEGAL_ADDRESS);
	mark_await(&heard.mark);
	assert_int_equal(n, 0);
	assert_int_equal(heard.times, 1);
	assert_cuda(heard.status, ERROR_ILLEGAL_ADDRESS);
	assert_cuda(CU(cuStreamSynchronize)(other), ERROR_ILLEGAL_ADDRESS);
	assert_cuda(CU(cuCtxSynchronize)(), ERROR_ILLEGAL_ADDRESS);
	assert_cuda(CU(cuLaunchHostFunc)(s, count, &n), ERROR_ILLEGAL_ADDRESS);
	assert_cuda(CU(cuCtxDestroy_v2)(ctx), SUCCESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    IN_CTX(they_are_called_in_order),
	    IN_CTX(a_callback_hears_its_stream_and_status),
	    IN_CTX(they_may_not_call_cuda),
	    IN_CTX(the_stream_waits_for_them),
	    IN_CTX(those_that_block_leave_room_for_others),
	    IN_CTX(after_an_error_callbacks_hear_of_it),
	};

	return cmocka_run_group_tests(tests, cuda_setup_init, cuda_teardown);
}
