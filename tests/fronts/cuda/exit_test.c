/* SPDX-License-Identifier: Apache-2.0 */
/* exit_test.c - checks processes that end during the work of their streams. */
#include "base/pidstat.h"
#include "fronts/cuda/stream_fixture.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/store/process/ledger.h"
#include "machine/store/process/processes.h"

#include <fcntl.h>
#include <sched.h>

static const char endless[] = ".version 7.0\n"
			      ".target sm_50\n"
			      ".address_size 64\n"
			      ".visible .entry endless()\n"
			      "{\n"
			      "again:\n"
			      "	bra again;\n"
			      "}\n";

static struct fixture fx;

static int open_one(void **state)
{
	(void)state;
	fixture_open(&fx, 1);
	cuda_load(CUDA_FRONT);
	return 0;
}

static int close_it(void **state)
{
	(void)state;
	fixture_close(&fx);
	return 0;
}

/* In a child: makes a context and a stream with an endless kernel. */
static CUstream begin_endless(void)
{
	CUstream stream = NULL;
	CUfunction function;
	CUmodule module;

	if (CU(cuInit)(0) || ctx_setup(NULL) ||
	    CU(cuModuleLoadData)(&module, endless) ||
	    CU(cuModuleGetFunction)(&function, module, "endless") ||
	    CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING) ||
	    CU(cuLaunchKernel)(function, 4, 1, 1, 32, 1, 1, 0, stream, NULL,
			       NULL))
		_exit(100);
	return stream;
}

/* Whether some process keeps the device busy, seen from outside. */
static bool is_device_busy(void)
{
	for (unsigned i = 0; i < 64; i++)
		if (atomic_load(&fx.file->busy[i].since_ns))
			return true;
	return false;
}

static void await_busy(void)
{
	while (!is_device_busy())
		sched_yield();
}

/* The same for a child, which must not have ended. */
static void await_busy_child(pid_t pid)
{
	while (!is_device_busy()) {
		assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
		sched_yield();
	}
}

static pid_t start(void (*act)(void))
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		act();
		_exit(101);
	}
	return pid;
}

static unsigned count_processes(void)
{
	struct gkf_process process;
	unsigned count = 0;

	gkf_processes(fx.m, 0, GKF_COMPUTE, &process, 1, &count);
	return count;
}

/*
 * Checks that it ends soon with this status, and that the device has nothing
 * left of it.
 */
static void ends_with(pid_t pid, int status)
{
	uint64_t begin = gk_mono_ns();
	int got;

	assert_int_equal(waitpid(pid, &got, 0), pid);
	assert_int_equal(got, status);
	assert_in_range(gk_mono_ns() - begin, 0, 20 * GK_NS_PER_S);
	while (count_processes())
		gk_sleep_until(gk_mono_ns() + GK_NS_PER_MS);
	assert_int_equal(gkf_held_bytes(fx.m, 0), 0);
}

static void exit_now(void)
{
	begin_endless();
	await_busy();
	exit(7);
}

static void a_process_exits_amid_an_endless_kernel(void **state)
{
	(void)state;
	ends_with(start(exit_now), 7 << 8);
}

static _Atomic pid_t waiter;

static void *synchronize(void *stream)
{
	CUresult (*call)(CUstream) = CU(cuStreamSynchronize);

	atomic_store(&waiter, gettid());
	call(stream);
	_exit(102);
}

/* Waits until the thread sleeps in its call: a later call would be refused. */
static void await_waiter(void)
{
	int task = open("/proc/self/task", O_RDONLY | O_DIRECTORY);
	struct gk_pidstat st = {.state = '?'};

	while (st.state != 'S') {
		pid_t tid = atomic_load(&waiter);

		sched_yield();
		if (tid && gk_pidstat_read(task, tid, &st))
			_exit(104);
	}
	close(task);
}

static void exit_while_waited_for(void)
{
	CUstream stream = begin_endless();
	pthread_t thread;

	await_busy();
	pthread_create(&thread, NULL, synchronize, stream);
	await_waiter();
	exit(8);
}

static void a_process_exits_while_a_thread_waits(void **state)
{
	(void)state;
	ends_with(start(exit_while_waited_for), 8 << 8);
}

static void call_exit(void *unused)
{
	(void)unused;
	exit(9);
}

static void exit_within(void)
{
	begin_endless();
	CU(cuLaunchHostFunc)(NULL, call_exit, NULL);
	for (;;)
		pause();
}

static void a_host_function_exits(void **state)
{
	(void)state;
	ends_with(start(exit_within), 9 << 8);
}

static void ask_at_exit(void)
{
	if (CU(cuStreamSynchronize)(NULL) || CU(cuCtxSynchronize)())
		_exit(103);
}

static void exit_with_handler(void)
{
	struct mark mark;

	if (CU(cuInit)(0) || ctx_setup(NULL))
		_exit(100);
	atexit(ask_at_exit);
	mark_put(&mark, NULL);
	exit(10);
}

/* Handlers of the program run before the library is torn down. */
static void handlers_may_still_wait(void **state)
{
	(void)state;
	ends_with(start(exit_with_handler), 10 << 8);
}

static void run_on(void)
{
	begin_endless();
	for (;;)
		pause();
}

static void a_killed_process_leaves_the_device_idle(void **state)
{
	pid_t pid = start(run_on);

	(void)state;
	await_busy_child(pid);
	kill(pid, SIGKILL);
	ends_with(pid, SIGKILL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_process_exits_amid_an_endless_kernel),
	    cmocka_unit_test(a_process_exits_while_a_thread_waits),
	    cmocka_unit_test(a_host_function_exits),
	    cmocka_unit_test(handlers_may_still_wait),
	    cmocka_unit_test(a_killed_process_leaves_the_device_idle),
	};

	return cmocka_run_group_tests(tests, open_one, close_it);
}
