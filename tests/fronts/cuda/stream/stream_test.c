/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_test.c - checks streams: made, queried, destroyed; words that they
 * write and wait for; many of them; a process that ends during their work.
 */
#include "fronts/cuda/stream_fixture.h"

#include <stdatomic.h>

static void a_stream_is_what_was_asked_for(void **state)
{
	static const struct {
		int asked, got;
	} priorities[] = {{0, 0}, {-3, -3}, {-5, -5}, {-99, -5}, {7, 0}};
	CUstream s;
	CUcontext ctx;
	CUgreenCtx green;
	CUdevice device = 9;
	unsigned flags;
	unsigned long long id[2];
	int priority, least, greatest;
	CUstreamCaptureStatus capture;

	(void)state;
	assert_cuda(CU(cuCtxGetStreamPriorityRange)(&least, &greatest),
		    SUCCESS);
	assert_int_equal(least, 0);
	assert_int_equal(greatest, -5);
	for (size_t i = 0; i < sizeof(priorities) / sizeof(*priorities); i++) {
		assert_cuda(
		    CU(cuStreamCreateWithPriority)(&s, CU_STREAM_NON_BLOCKING,
						   priorities[i].asked),
		    SUCCESS);
		assert_cuda(CU(cuStreamGetPriority)(s, &priority), SUCCESS);
		assert_int_equal(priority, priorities[i].got);
		assert_cuda(CU(cuStreamGetFlags)(s, &flags), SUCCESS);
		assert_int_equal(flags, CU_STREAM_NON_BLOCKING);
		assert_cuda(CU(cuStreamDestroy_v2)(s), SUCCESS);
	}
	s = stream_made(0);
	assert_cuda(CU(cuStreamGetFlags)(s, &flags), SUCCESS);
	assert_int_equal(flags, CU_STREAM_DEFAULT);
	assert_cuda(CU(cuStreamGetCtx)(s, &ctx), SUCCESS);
	assert_ptr_equal(ctx, test_ctx);
	assert_cuda(CU(cuStreamGetCtx_v2)(s, &ctx, &green), SUCCESS);
	assert_ptr_equal(ctx, test_ctx);
	assert_null(green);
	assert_cuda(CU(cuStreamGetDevice)(s, &device), SUCCESS);
	assert_int_equal(device, 0);
	assert_cuda(CU(cuStreamGetId)(s, &id[0]), SUCCESS);
	assert_cuda(CU(cuStreamGetId)(NULL, &id[1]), SUCCESS);
	assert_int_not_equal(id[0], id[1]);
	assert_cuda(CU(cuStreamIsCapturing)(s, &capture), SUCCESS);
	assert_int_equal(capture, CU_STREAM_CAPTURE_STATUS_NONE);
}

static CUstreamCaptureMode exchanged(CUstreamCaptureMode mode)
{
	assert_cuda(CU(cuThreadExchangeStreamCaptureMode)(&mode), SUCCESS);
	return mode;
}

static void *fresh_mode(void *unused)
{
	assert_int_equal(exchanged(CU_STREAM_CAPTURE_MODE_RELAXED),
			 CU_STREAM_CAPTURE_MODE_GLOBAL);
	return unused;
}

/* Programs set the mode and restore it. */
static void threads_exchange_their_mode_of_capture(void **state)
{
	CUstreamCaptureMode none = (CUstreamCaptureMode)3;
	pthread_t thread;

	(void)state;
	assert_int_equal(exchanged(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
			 CU_STREAM_CAPTURE_MODE_GLOBAL);
	assert_int_equal(pthread_create(&thread, NULL, fresh_mode, NULL), 0);
	pthread_join(thread, NULL);
	assert_cuda(CU(cuThreadExchangeStreamCaptureMode)(&none),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuThreadExchangeStreamCaptureMode)(NULL),
		    ERROR_INVALID_VALUE);
	assert_int_equal(exchanged(CU_STREAM_CAPTURE_MODE_GLOBAL),
			 CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
}

static void what_is_no_stream_is_told(void **state)
{
	CUstream gone = stream_made(0), s = NULL;
	char garbage[64] = "";
	CUstream none[] = {(CUstream)3, (CUstream)(void *)garbage,
			   (CUstream)(void *)event_made(0), gone,
			   (CUstream)(void *)test_ctx};
	int n;

	(void)state;
	assert_cuda(CU(cuStreamCreate)(NULL, 0), ERROR_INVALID_VALUE);
	assert_cuda(CU(cuStreamCreate)(&s, 2), ERROR_INVALID_VALUE);
	assert_null(s);
	assert_cuda(CU(cuStreamDestroy_v2)(gone), SUCCESS);
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++) {
		assert_cuda(CU(cuStreamQuery)(none[i]), ERROR_INVALID_HANDLE);
		assert_cuda(CU(cuStreamSynchronize)(none[i]),
			    ERROR_INVALID_HANDLE);
		assert_cuda(CU(cuStreamGetPriority)(none[i], &n),
			    ERROR_INVALID_HANDLE);
		assert_cuda(CU(cuStreamDestroy_v2)(none[i]),
			    ERROR_INVALID_HANDLE);
	}
	assert_cuda(CU(cuStreamDestroy_v2)(NULL), ERROR_INVALID_HANDLE);
	assert_cuda(CU(cuStreamDestroy_v2)(CU_STREAM_LEGACY),
		    ERROR_INVALID_HANDLE);
	assert_cuda(CU(cuStreamGetPriority)(NULL, NULL), ERROR_INVALID_VALUE);
}

static void a_destroyed_stream_still_does_its_work(void **state)
{
	CUstream s = stream_made(CU_STREAM_NON_BLOCKING);
	struct gate gate;
	struct mark mark;

	(void)state;
	gate_enter(&gate, s);
	mark_put(&mark, s);
	assert_cuda(CU(cuStreamDestroy_v2)(s), SUCCESS);
	assert_cuda(CU(cuStreamQuery)(s), ERROR_INVALID_HANDLE);
	assert_false(mark_is_passed(&mark));
	gate_open(&gate);
	assert_cuda(CU(cuCtxSynchronize)(), SUCCESS);
	assert_true(mark_is_passed(&mark));
}

static void open_late(void *data)
{
	gk_sleep_until(gk_mono_ns() + 20 * GK_NS_PER_MS);
	gate_open(data);
}

static void a_context_that_is_destroyed_waits_for_its_work(void **state)
{
	CUcontext second;
	CUstream s, opener;
	struct gate gate;
	struct mark mark;

	(void)state;
	opener = stream_made(0);
	assert_cuda(CU(cuCtxCreate_v2)(&second, 0, 1), SUCCESS);
	s = stream_made(0);
	gate_enter(&gate, s);
	mark_put(&mark, s);
	assert_cuda(CU(cuLaunchHostFunc)(opener, open_late, &gate), SUCCESS);
	assert_cuda(CU(cuCtxDestroy_v2)(second), SUCCESS);
	assert_true(mark_is_passed(&mark));
	assert_cuda(CU(cuStreamQuery)(s), ERROR_INVALID_HANDLE);
}

static void any_context_may_ask_a_stream(void **state)
{
	CUstream s = stream_made(0);
	CUcontext second;

	(void)state;
	assert_cuda(CU(cuCtxCreate_v2)(&second, 0, 1), SUCCESS);
	assert_cuda(CU(cuStreamQuery)(s), SUCCESS);
	assert_cuda(CU(cuStreamSynchronize)(s), SUCCESS);
	assert_cuda(CU(cuCtxDestroy_v2)(second), SUCCESS);
}

/* ---- copies and order ---- */

static void copies_in_a_stream_keep_their_order(void **state)
{
	enum { WORDS = 1 << 16 };
	static uint32_t in[WORDS], out[WORDS];
	CUstream s = stream_made(0);
	CUdeviceptr a, b;

	(void)state;
	assert_cuda(CU(cuMemAlloc_v2)(&a, sizeof(in)), SUCCESS);
	assert_cuda(CU(cuMemAlloc_v2)(&b, sizeof(in)), SUCCESS);
	for (uint32_t i = 0; i < WORDS; i++)
		in[i] = i * 2654435761u;
	for (int round = 0; round < 20; round++) {
		memset(out, 0, sizeof(out));
		assert_cuda(CU(cuMemsetD8Async)(b, 0xee, sizeof(in), s),
			    SUCCESS);
		assert_cuda(CU(cuMemcpyHtoDAsync_v2)(a, in, sizeof(in), s),
			    SUCCESS);
		assert_cuda(CU(cuMemcpyDtoDAsync_v2)(b, a, sizeof(in), s),
			    SUCCESS);
		assert_cuda(CU(cuMemsetD8Async)(a, 0, sizeof(in), s), SUCCESS);
		assert_cuda(CU(cuMemcpyDtoHAsync_v2)(out, b, sizeof(in), s),
			    SUCCESS);
		assert_cuda(CU(cuStreamSynchronize)(s), SUCCESS);
		assert_memory_equal(in, out, sizeof(in));
	}
}

/* ---- words ---- */

static uint32_t *words_made(CUdeviceptr *ret_device)
{
	void *host;

	assert_cuda(CU(cuMemHostAlloc)(&host, 4096, CU_MEMHOSTALLOC_DEVICEMAP),
		    SUCCESS);
	assert_cuda(CU(cuMemHostGetDevicePointer_v2)(ret_device, host, 0),
		    SUCCESS);
	memset(host, 0, 4096);
	return host;
}

static void a_stream_waits_for_a_word_of_the_host(void **state)
{
	static const struct {
		unsigned flags;
		uint32_t value, before, after;
	} rows[] = {
	    {CU_STREAM_WAIT_VALUE_GEQ, 5, 4, 6},
	    {CU_STREAM_WAIT_VALUE_GEQ, 1, 0xffffffff, 2},
	    {CU_STREAM_WAIT_VALUE_EQ, 5, 6, 5},
	    {CU_STREAM_WAIT_VALUE_AND, 6, 9, 2},
	    {CU_STREAM_WAIT_VALUE_NOR, 0xfffffff0, 0xf, 0xe},
	    {CU_STREAM_WAIT_VALUE_EQ | CU_STREAM_WAIT_VALUE_FLUSH, 3, 0, 3},
	};
	CUstream s = stream_made(0);
	CUdeviceptr at;
	uint32_t *word = words_made(&at);
	uint64_t *wide = (uint64_t *)(void *)(word + 2);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct mark mark;

		__atomic_store_n(word, rows[i].before, __ATOMIC_RELEASE);
		assert_cuda(CU(cuStreamWaitValue32_v2)(s, at, rows[i].value,
						       rows[i].flags),
			    SUCCESS);
		mark_put(&mark, s);
		let_others_on();
		assert_false(mark_is_passed(&mark));
		__atomic_store_n(word, rows[i].after, __ATOMIC_RELEASE);
		mark_await(&mark);
	}
	assert_cuda(CU(cuStreamWaitValue64_v2)(s, at + 8, 1ULL << 40, 0),
		    SUCCESS);
	assert_cuda(CU(cuStreamQuery)(s), ERROR_NOT_READY);
	__atomic_store_n(wide, 1ULL << 41, __ATOMIC_RELEASE);
	assert_cuda(CU(cuStreamSynchronize)(s), SUCCESS);
}

static void streams_hand_on_a_word(void **state)
{
	CUstream a = stream_made(0), b = stream_made(0);
	CUdeviceptr word;
	uint32_t now = 0;

	(void)state;
	assert_cuda(CU(cuMemAlloc_v2)(&word, 4096), SUCCESS);
	assert_cuda(CU(cuMemsetD8_v2)(word, 0, 4096), SUCCESS);
	for (uint32_t i = 0; i < 200; i++) {
		assert_cuda(CU(cuStreamWaitValue32_v2)(a, word, 2 * i,
						       CU_STREAM_WAIT_VALUE_EQ),
			    SUCCESS);
		assert_cuda(CU(cuStreamWriteValue32_v2)(a, word, 2 * i + 1, 0),
			    SUCCESS);
		assert_cuda(CU(cuStreamWaitValue32_v2)(b, word, 2 * i + 1,
						       CU_STREAM_WAIT_VALUE_EQ),
			    SUCCESS);
		assert_cuda(CU(cuStreamWriteValue32_v2)(b, word, 2 * i + 2, 0),
			    SUCCESS);
	}
	assert_cuda(CU(cuStreamSynchronize)(a), SUCCESS);
	assert_cuda(CU(cuStreamSynchronize)(b), SUCCESS);
	assert_cuda(CU(cuMemcpyDtoH_v2)(&now, word, 4), SUCCESS);
	assert_int_equal(now, 400);
}

/*
 * Writes a word that streams wait for: with a copy, except under the thread
 * sanitizer, which would report that the word is polled meanwhile.
 */
static void write_one(CUdeviceptr word)
{
#ifdef __SANITIZE_THREAD__
	assert_cuda(CU(cuStreamWriteValue32_v2)(NULL, word, 1, 0), SUCCESS);
#else
	uint32_t one = 1;

	assert_cuda(CU(cuMemcpyHtoD_v2)(word, &one, 4), SUCCESS);
#endif
}

static void a_copy_wakes_who_waits_for_a_word(void **state)
{
	enum { STREAMS = 100 };
	CUstream s[STREAMS];
	CUdeviceptr word;

	(void)state;
	assert_cuda(CU(cuMemAlloc_v2)(&word, 4096), SUCCESS);
	/* It may return before it is done, and these streams wait for none. */
	assert_cuda(CU(cuMemsetD8_v2)(word, 0, 4096), SUCCESS);
	assert_cuda(CU(cuCtxSynchronize)(), SUCCESS);
	for (int i = 0; i < STREAMS; i++) {
		s[i] = stream_made(CU_STREAM_NON_BLOCKING);
		assert_cuda(CU(cuStreamWaitValue32_v2)(s[i], word, 1, 0),
			    SUCCESS);
	}
	for (int i = 0; i < STREAMS; i++)
		assert_cuda(CU(cuStreamQuery)(s[i]), ERROR_NOT_READY);
	write_one(word);
	assert_cuda(CU(cuCtxSynchronize)(), SUCCESS);
}

static void batches_are_done_in_order(void **state)
{
	CUstream s = stream_made(0);
	CUdeviceptr at;
	uint32_t *word = words_made(&at);
	CUstreamBatchMemOpParams op[5];

	(void)state;
	memset(op, 0, sizeof(op));
	op[0].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
	op[0].writeValue.address = at;
	op[0].writeValue.value = 7;
	op[1].memoryBarrier.operation = CU_STREAM_MEM_OP_BARRIER;
	op[2].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
	op[2].waitValue.address = at + 4;
	op[2].waitValue.value = 1;
	op[3].flushRemoteWrites.operation =
	    CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES;
	op[4].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
	op[4].writeValue.address = at + 8;
	op[4].writeValue.value64 = 1ULL << 33;
	assert_cuda(CU(cuStreamBatchMemOp_v2)(s, 5, op, 0), SUCCESS);
	while (__atomic_load_n(&word[0], __ATOMIC_ACQUIRE) != 7)
		sched_yield();
	assert_int_equal(__atomic_load_n(&word[3], __ATOMIC_ACQUIRE), 0);
	__atomic_store_n(&word[1], 1, __ATOMIC_RELEASE);
	assert_cuda(CU(cuStreamSynchronize)(s), SUCCESS);
	assert_int_equal(word[3], 2);
	op[4].operation = 77;
	__atomic_store_n(&word[0], 0, __ATOMIC_RELEASE);
	assert_cuda(CU(cuStreamBatchMemOp_v2)(s, 5, op, 0),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuStreamBatchMemOp_v2)(s, 257, op, 0),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuStreamBatchMemOp_v2)(s, 1, op, 1),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuStreamSynchronize)(s), SUCCESS);
	assert_int_equal(word[0], 0);
	assert_cuda(CU(cuStreamWriteValue32_v2)(s, at + 2, 0, 0),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuStreamWriteValue64_v2)(s, at + 4, 0, 0),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuStreamWriteValue32_v2)(s, 4096, 0, 0),
		    ERROR_INVALID_VALUE);
	assert_cuda(CU(cuStreamWaitValue32_v2)(s, at, 0, 4),
		    ERROR_INVALID_VALUE);
}

/* ---- attributes ---- */

static void attributes_are_kept_and_copied(void **state)
{
	CUstream s = stream_made(0), to = stream_made(0);
	CUstreamAttrValue value;
	int priority;

	(void)state;
	assert_cuda(CU(cuStreamGetAttribute)(
			s, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value),
		    SUCCESS);
	assert_int_equal(value.syncPolicy, CU_SYNC_POLICY_AUTO);
	value.syncPolicy = CU_SYNC_POLICY_BLOCKING_SYNC;
	assert_cuda(CU(cuStreamSetAttribute)(
			s, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value),
		    SUCCESS);
	assert_cuda(CU(cuStreamCopyAttributes)(to, s), SUCCESS);
	memset(&value, 0, sizeof(value));
	assert_cuda(CU(cuStreamGetAttribute)(
			to, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value),
		    SUCCESS);
	assert_int_equal(value.syncPolicy, CU_SYNC_POLICY_BLOCKING_SYNC);
	value.syncPolicy = 9;
	assert_cuda(CU(cuStreamSetAttribute)(
			s, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value),
		    ERROR_INVALID_VALUE);
	value.priority = -2;
	assert_cuda(
	    CU(cuStreamSetAttribute)(s, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value),
	    SUCCESS);
	assert_cuda(CU(cuStreamGetPriority)(s, &priority), SUCCESS);
	assert_int_equal(priority, -2);
	assert_cuda(CU(cuStreamSetAttribute)(s, CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
					     &value),
		    ERROR_INVALID_VALUE);
	assert_cuda(
	    CU(cuStreamGetAttribute)(s, CU_LAUNCH_ATTRIBUTE_PRIORITY, NULL),
	    ERROR_INVALID_VALUE);
}

/* ---- many ---- */

static void count_up(void *data)
{
	atomic_fetch_add((_Atomic int *)data, 1);
}

static void there_can_be_thousands(void **state)
{
	enum { STREAMS = 5000 };
	static CUstream s[STREAMS];
	_Atomic int n = 0;

	(void)state;
	for (int i = 0; i < STREAMS; i++)
		s[i] = stream_made(i % 2);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < STREAMS; i++)
			assert_cuda(CU(cuLaunchHostFunc)(s[i], count_up, &n),
				    SUCCESS);
		assert_cuda(CU(cuLaunchHostFunc)(NULL, count_up, &n), SUCCESS);
	}
	assert_cuda(CU(cuCtxSynchronize)(), SUCCESS);
	assert_int_equal(n, 3 * STREAMS + 3);
	for (int i = 0; i < STREAMS; i++)
		assert_cuda(CU(cuStreamDestroy_v2)(s[i]), SUCCESS);
}

/*
 * A program that pushes without end finally waits, instead of filling memory.
 */
static CUstream flooded;
static _Atomic int flood_pushed;

static void *flood(void *data)
{
	assert_cuda(CU(cuCtxSetCurrent)(test_ctx), SUCCESS);
	for (int i = 0; i < 20000; i++) {
		assert_cuda(CU(cuLaunchHostFunc)(flooded, count_up, data),
			    SUCCESS);
		atomic_fetch_add(&flood_pushed, 1);
	}
	return NULL;
}

static void a_stream_holds_some_thousands(void **state)
{
	_Atomic int n = 0;
	struct gate gate;
	pthread_t thread;
	int before;

	(void)state;
	flooded = stream_made(CU_STREAM_NON_BLOCKING);
	gate_enter(&gate, flooded);
	pthread_create(&thread, NULL, flood, &n);
	do {
		before = atomic_load(&flood_pushed);
		let_others_on();
		gk_sleep_until(gk_mono_ns() + 20 * GK_NS_PER_MS);
	} while (before < 1000 || before != atomic_load(&flood_pushed));
	gate_open(&gate); /* first, because the thread waits for it */
	pthread_join(thread, NULL);
	assert_in_range(before, 1000, 10000);
	assert_cuda(CU(cuStreamSynchronize)(flooded), SUCCESS);
	assert_int_equal(n, 20000);
}

static _Atomic int total;

static void *use_streams(void *data)
{
	unsigned seed = *(unsigned *)data;

	assert_cuda(CU(cuCtxSetCurrent)(test_ctx), SUCCESS);
	for (int i = 0; i < 300; i++) {
		CUstream s = stream_made((unsigned)rand_r(&seed) % 2);
		CUstream in[] = {s, NULL, CU_STREAM_PER_THREAD};

		for (int k = 0; k < 6; k++) {
			CUstream to = in[rand_r(&seed) % 3];

			assert_cuda(CU(cuLaunchHostFunc)(to, count_up, &total),
				    SUCCESS);
			if (rand_r(&seed) % 8 == 0)
				assert_cuda(CU(cuStreamSynchronize)(to),
					    SUCCESS);
		}
		assert_cuda(CU(cuStreamDestroy_v2)(s), SUCCESS);
	}
	return NULL;
}

static void many_threads_use_streams(void **state)
{
	unsigned seed[4] = {1, 2, 3, 4};
	pthread_t thread[4];

	(void)state;
	atomic_store(&total, 0);
	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, use_streams, &seed[i]);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	assert_cuda(CU(cuCtxSynchronize)(), SUCCESS);
	assert_int_equal(total, 4 * 300 * 6);
}

/* The child of a process with streams has none, and ends without them. */
static void a_forked_child_ends_at_once(void **state)
{
	CUstream s = stream_made(0);
	struct gate gate;
	struct mark mark;
	int status;
	pid_t pid;

	(void)state;
	gate_enter(&gate, s);
	mark_put(&mark, CU_STREAM_PER_THREAD);
	pid = fork();
	if (!pid)
		exit(CU(cuStreamQuery)(s) == CUDA_ERROR_NOT_INITIALIZED ? 7
									: 8);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
	gate_open(&gate);
	assert_cuda(CU(cuStreamSynchronize)(s), SUCCESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    IN_CTX(a_stream_is_what_was_asked_for),
	    IN_CTX(threads_exchange_their_mode_of_capture),
	    IN_CTX(what_is_no_stream_is_told),
	    IN_CTX(a_destroyed_stream_still_does_its_work),
	    IN_CTX(a_context_that_is_destroyed_waits_for_its_work),
	    IN_CTX(any_context_may_ask_a_stream),
	    IN_CTX(copies_in_a_stream_keep_their_order),
	    IN_CTX(a_stream_waits_for_a_word_of_the_host),
	    IN_CTX(streams_hand_on_a_word),
	    IN_CTX(a_copy_wakes_who_waits_for_a_word),
	    IN_CTX(batches_are_done_in_order),
	    IN_CTX(attributes_are_kept_and_copied),
	    IN_CTX(there_can_be_thousands),
	    IN_CTX(a_stream_holds_some_thousands),
	    IN_CTX(many_threads_use_streams),
	    IN_CTX(a_forked_child_ends_at_once),
	};

	return cmocka_run_group_tests(tests, cuda_setup_init, cuda_teardown);
}
