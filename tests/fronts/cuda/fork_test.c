/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fork_test.c - checks what a child may do, and how a process ends, whatever
 * its threads were doing.
 */
#include "fronts/cuda/alone.h"
#include "machine/file/numbers.h"
#include "machine/store/process/processes.h"

#include <stdatomic.h>
#include <pthread.h>
#include <sys/mman.h>

static void init(void)
{
	assert_cuda(CU(cuInit)(0), SUCCESS);
}

/* Waits for a child; -1: it did not end well, or not at all. */
static int exit_code(pid_t child)
{
	int status = -1;

	if (waitpid(child, &status, 0) != child || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

/* How many results are not those of a driver after fork(). */
static int wrong_answers(void)
{
	int wrong = 0, n;
	CUcontext ctx;

	wrong += CU(cuInit)(0) != CUDA_ERROR_NOT_INITIALIZED;
	wrong += CU(cuDeviceGetCount)(&n) != CUDA_ERROR_NOT_INITIALIZED;
	wrong += CU(cuCtxGetCurrent)(&ctx) != CUDA_ERROR_NOT_INITIALIZED;
	wrong += CU(cuCtxSynchronize)() != CUDA_ERROR_NOT_INITIALIZED;
	wrong += CU(cuCtxCreate_v2)(&ctx, 0, 0) != CUDA_ERROR_NOT_INITIALIZED;
	wrong +=
	    CU(cuDevicePrimaryCtxRetain)(&ctx, 0) != CUDA_ERROR_NOT_INITIALIZED;
	wrong += CU(cuDriverGetVersion)(&n) != CUDA_SUCCESS;
	return wrong;
}

static void a_child_of_one_that_began_may_nothing(struct fixture *fx)
{
	struct gkf_process row;
	CUcontext ctx;
	unsigned count;
	pid_t child;

	init();
	assert_cuda(CU(cuCtxCreate_v2)(&ctx, 0, 0), SUCCESS);
	child = fork();
	if (!child)
		exit(wrong_answers());
	assert_int_equal(exit_code(child), 0);
	/* The child's exit does not affect the parent. */
	assert_cuda(CU(cuCtxSynchronize)(), SUCCESS);
	assert_int_equal(gkf_processes(fx->m, 0, GKF_COMPUTE, &row, 1, &count),
			 0);
	assert_int_equal(count, 1);
	assert_int_equal(row.pid, getpid());
	assert_cuda(CU(cuCtxDestroy_v2)(ctx), SUCCESS);
}

static void a_grandchild_may_nothing_either(struct fixture *fx)
{
	pid_t child;

	(void)fx;
	init();
	child = fork();
	if (!child) {
		child = fork();
		if (!child)
			_exit(wrong_answers());
		_exit(exit_code(child));
	}
	assert_int_equal(exit_code(child), 0);
}

/* Correct use: fork first, initialise later, in parent and child. */
static void a_child_of_one_that_did_not_begin_works(struct fixture *fx)
{
	struct gkf_process rows[9];
	pid_t child[8];
	CUcontext ctx;
	unsigned count;
	int go[2];

	assert_int_equal(pipe(go), 0);
	for (int i = 0; i < 8; i++) {
		child[i] = fork();
		if (child[i])
			continue;
		close(go[1]);
		if (CU(cuInit)(0) || CU(cuCtxCreate_v2)(&ctx, 0, 0))
			_exit(1);
		exit((int)read(go[0], &count, 1));
	}
	init();
	assert_cuda(CU(cuCtxCreate_v2)(&ctx, 0, 0), SUCCESS);
	for (count = 0; count < 9;) {
		/* They stay until they are told to end. */
		assert_int_equal(waitpid(-1, NULL, WNOHANG), 0);
		assert_int_equal(
		    gkf_processes(fx->m, 0, GKF_COMPUTE, rows, 9, &count), 0);
	}
	close(go[0]);
	close(go[1]);
	for (int i = 0; i < 8; i++)
		assert_int_equal(exit_code(child[i]), 0);
	/* At once, without a search for the dead. */
	assert_int_equal(gkf_processes(fx->m, 0, GKF_COMPUTE, rows, 9, &count),
			 0);
	assert_int_equal(count, 1);
}

static _Atomic bool stop;

static void *make_contexts(void *arg)
{
	uintptr_t wrong = 0;
	CUcontext ctx;

	while (!stop) {
		wrong += CU(cuCtxCreate_v2)(&ctx, 0, arg != NULL) != 0;
		wrong += CU(cuCtxSynchronize)() != 0;
		wrong += CU(cuCtxDestroy_v2)(ctx) != 0;
	}
	return (void *)wrong;
}

static void children_in_a_storm(struct fixture *fx)
{
	pthread_t thread[4];
	void *wrong;

	(void)fx;
	init();
	for (uintptr_t i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, make_contexts,
			       (void *)(i % 2));
	for (int i = 0; i < 200; i++) {
		pid_t child = fork();

		if (!child)
			_exit(wrong_answers());
		assert_int_equal(exit_code(child), 0);
	}
	stop = true;
	for (int i = 0; i < 4; i++) {
		pthread_join(thread[i], &wrong);
		assert_null(wrong);
	}
}

/*
 * Children of a process whose threads allocate: ASan's own allocator does not
 * survive that.
 */
#ifndef __SANITIZE_ADDRESS__
#define WHILE_OTHERS_BEGIN 1

/* It keeps finding no device, so that the lock of cuInit is never free. */
static void *begin_in_vain(void *arg)
{
	while (!stop)
		CU(cuInit)(0);
	return arg;
}

static void children_while_others_begin(struct fixture *fx)
{
	pthread_t thread[4];

	(void)fx;
	setenv("CUDA_VISIBLE_DEVICES", "-1", 1);
	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, begin_in_vain, NULL);
	for (int i = 0; i < 100; i++) {
		pid_t child = fork();

		if (!child) {
			CUcontext ctx;

			unsetenv("CUDA_VISIBLE_DEVICES");
			_exit(CU(cuInit)(0) || CU(cuCtxCreate_v2)(&ctx, 0, 0));
		}
		assert_int_equal(exit_code(child), 0);
	}
	stop = true;
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
}

/* A library that keeps its lock correct over fork(), as runtimes do. */
static pthread_mutex_t theirs = PTHREAD_MUTEX_INITIALIZER;

static void lock_theirs(void)
{
	pthread_mutex_lock(&theirs);
}

static void unlock_theirs(void)
{
	pthread_mutex_unlock(&theirs);
}

/* Registered before libcuda is loaded: fork() calls the first handlers last. */
__attribute__((constructor)) static void come_first(void)
{
	pthread_atfork(lock_theirs, unlock_theirs, unlock_theirs);
}

static void *begin_under_a_lock(void *arg)
{
	while (!stop) {
		lock_theirs();
		CU(cuInit)(0);
		unlock_theirs();
	}
	return arg;
}

static void fork_may_take_locks_that_cuinit_is_called_under(struct fixture *fx)
{
	pthread_t thread[2];

	(void)fx;
	setenv("CUDA_VISIBLE_DEVICES", "-1", 1);
	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, begin_under_a_lock, NULL);
	for (int i = 0; i < 300; i++) {
		pid_t child = fork();

		if (!child)
			_exit(CU(cuInit)(0) != CUDA_ERROR_NO_DEVICE);
		assert_int_equal(exit_code(child), 0);
	}
	stop = true;
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
}

#endif

/* ---- the end ---- */

static CUresult *last_words;

/* Called when buffers are flushed: nothing of a process runs later. */
static ssize_t at_the_very_end(void *cookie, const char *text, size_t size)
{
	CUdevice device;
	CUcontext ctx;
	int n;

	(void)cookie;
	(void)text;
	last_words[0] = CU(cuCtxGetDevice)(&device);
	last_words[1] = CU(cuInit)(0);
	last_words[2] = CU(cuDevicePrimaryCtxRetain)(&ctx, 0);
	last_words[3] = CU(cuDeviceGetCount)(&n);
	return (ssize_t)size;
}

static void ask_at_the_very_end(void)
{
	cookie_io_functions_t io = {.write = at_the_very_end};

	fputs("anything", fopencookie(NULL, "w", io));
}

static void check_last_words(void)
{
	for (int i = 0; i < 4; i++)
		assert_int_equal(last_words[i], CUDA_ERROR_DEINITIALIZED);
}

static void exit_handlers_still_work(void)
{
	CUdevice device;

	last_words[4] = CU(cuCtxGetDevice)(&device);
}

static void share_last_words(void)
{
	last_words = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(last_words != MAP_FAILED);
	last_words[4] = CUDA_ERROR_UNKNOWN;
}

static void after_exit_the_driver_is_deinitialised(struct fixture *fx)
{
	struct gkf_process row;
	unsigned count;
	pid_t child;

	share_last_words();
	child = fork();
	if (!child) {
		CUcontext ctx;

		atexit(exit_handlers_still_work);
		ask_at_the_very_end();
		exit(CU(cuInit)(0) || CU(cuCtxCreate_v2)(&ctx, 0, 0));
	}
	assert_int_equal(exit_code(child), 0);
	assert_int_equal(last_words[4], CUDA_SUCCESS);
	check_last_words();
	assert_int_equal(gkf_processes(fx->m, 0, GKF_COMPUTE, &row, 1, &count),
			 0);
	assert_int_equal(count, 0);
}

/* Threads keep running during the exit, and none of them crashes. */
static void threads_may_run_into_the_end(struct fixture *fx)
{
	(void)fx;
	share_last_words();
	for (int i = 0; i < 30; i++) {
		pid_t child = fork();
		pthread_t thread;

		if (child) {
			assert_int_equal(exit_code(child), 0);
			check_last_words();
			continue;
		}
		ask_at_the_very_end();
		if (CU(cuInit)(0))
			_exit(1);
		for (int k = 0; k < 4; k++)
			pthread_create(&thread, NULL, make_contexts, NULL);
		usleep(3000);
		exit(0);
	}
}

static const struct alone tests[] = {
    ALONE(a_child_of_one_that_began_may_nothing),
    ALONE(a_grandchild_may_nothing_either),
    ALONE(a_child_of_one_that_did_not_begin_works),
    ALONE(children_in_a_storm),
#ifdef WHILE_OTHERS_BEGIN
    ALONE(children_while_others_begin),
    ALONE(fork_may_take_locks_that_cuinit_is_called_under),
#endif
    ALONE(after_exit_the_driver_is_deinitialised),
    ALONE(threads_may_run_into_the_end),
};

ALONE_MAIN(tests)
