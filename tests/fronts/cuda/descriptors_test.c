/* SPDX-License-Identifier: Apache-2.0 */
/*
 * descriptors_test.c - checks that programs that close all descriptors and
 * reuse their numbers, as daemons do, can continue with CUDA.
 */
#include "fronts/cuda/alone.h"
#include "machine/file/numbers.h"
#include "machine/store/process/ledger.h"
#include "machine/store/process/processes.h"

#include <fcntl.h>
#include <sys/stat.h>

#define HELD  (4 * GIB)
#define FIRST 3
#define LAST  63

static const char adds_one[] = ".version 7.0\n"
			       ".target sm_50\n"
			       ".address_size 64\n"
			       ".visible .entry one(.param .u64 at)\n"
			       "{\n"
			       "	.reg .b64 %a;\n"
			       "	.reg .b32 %v;\n"
			       "	ld.param.u64 %a, [at];\n"
			       "	ld.global.u32 %v, [%a];\n"
			       "	add.u32 %v, %v, 1;\n"
			       "	st.global.u32 [%a], %v;\n"
			       "}\n";

/* The program's file, under every possible number. */
static struct {
	char path[96];
	struct stat st;
} theirs;

static bool take_all_numbers(void)
{
	closefrom(FIRST);
	for (int fd = FIRST; fd <= LAST; fd++)
		if (open(theirs.path, O_RDWR | O_CREAT, 0600) != fd)
			return false;
	return !stat(theirs.path, &theirs.st);
}

/* Whether each number is still the program's file, unread and unwritten. */
static bool are_untouched(void)
{
	struct stat st;

	for (int fd = FIRST; fd <= LAST; fd++)
		if (fstat(fd, &st) || st.st_ino != theirs.st.st_ino ||
		    st.st_size || lseek(fd, 0, SEEK_CUR))
			return false;
	return true;
}

static bool allocates(CUdeviceptr *ret)
{
	uint32_t word = 41;

	return !CU(cuMemAlloc_v2)(ret, HELD) &&
	       !CU(cuMemcpyHtoD_v2)(*ret, &word, sizeof word);
}

static bool launches(CUdeviceptr at)
{
	void *args[] = {&at};
	CUfunction one;
	CUmodule module;
	uint32_t word = 0;

	return !CU(cuModuleLoadData)(&module, adds_one) &&
	       !CU(cuModuleGetFunction)(&one, module, "one") &&
	       !CU(cuLaunchKernel)(one, 1, 1, 1, 1, 1, 1, 0, NULL, args,
				   NULL) &&
	       !CU(cuMemcpyDtoH_v2)(&word, at, sizeof word) && word == 42;
}

static bool forks(void)
{
	int status = -1, n;
	pid_t child = fork();

	if (!child)
		_exit(CU(cuDeviceGetCount)(&n) != CUDA_ERROR_NOT_INITIALIZED);
	return waitpid(child, &status, 0) == child && !status;
}

/* All of such a program; its exit code says what failed. */
static int daemon_of(CUcontext *ctx)
{
	CUdeviceptr at;

	if (CU(cuInit)(0))
		return 1;
	if (!take_all_numbers())
		return 2;
	if (CU(cuCtxCreate_v2)(ctx, 0, 0))
		return 3;
	if (!allocates(&at))
		return 4;
	if (!launches(at))
		return 5;
	if (!forks())
		return 6;
	return are_untouched() ? 0 : 7;
}

/* Runs the daemon, which then exits by leave() with its result. */
static void run_daemon(struct fixture *fx, void leave(int code))
{
	char log[96], setting[128];
	pid_t child;

	snprintf(theirs.path, sizeof theirs.path, "%s/theirs", fx->dir);
	snprintf(log, sizeof log, "%s/log", fx->dir);
	snprintf(setting, sizeof setting, "debug:%s", log);
	child = fork();
	if (!child) {
		CUcontext ctx;

		setenv("GPUKIT_LOG", setting, 1);
		leave(daemon_of(&ctx));
	}
	fixture_await(child, 0);
	unlink(theirs.path);
	unlink(log);
}

static unsigned count_processes(struct fixture *fx)
{
	struct gkf_process row;
	unsigned count = 0;

	gkf_processes(fx->m, 0, GKF_COMPUTE, &row, 1, &count);
	return count;
}

static void its_exit_gives_back_all(struct fixture *fx)
{
	run_daemon(fx, exit);
	assert_int_equal(gkf_held_bytes(fx->m, 0), 0);
	assert_int_equal(count_processes(fx), 0);
}

/* None of it runs any more: the others see that it has ended. */
static void its_sudden_end_gives_back_all(struct fixture *fx)
{
	run_daemon(fx, _exit);
	assert_true(gkf_held_bytes(fx->m, 0) >= HELD);
	assert_int_equal(gkf_reap(fx->m, true), 1);
	assert_int_equal(gkf_held_bytes(fx->m, 0), 0);
}

static const struct alone tests[] = {
    ALONE(its_exit_gives_back_all),
    ALONE(its_sudden_end_gives_back_all),
};

ALONE_MAIN(tests)
