/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls_test.c - descriptors are closed by one call where the kernel has it,
 * and one by one where it or a container's filter refuses it.
 */
#include "base/calls.h"

#include "base/array.h"
#include "can.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum { REFUSED = 77, FIRST = 10, LAST = 40 };

static bool forbid_close_range(void)
{
	struct sock_filter code[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		     offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {COUNT(code), code};

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static void open_some(void)
{
	for (int fd = FIRST; fd <= LAST; fd++)
		dup2(0, fd);
}

static int close_from_first(void)
{
	open_some();
	if (!gk_descriptors_close(FIRST, false))
		return 1;
	for (int fd = FIRST; fd <= LAST; fd++)
		if (is_open(fd))
			return 2;
	return is_open(0) && is_open(2) ? 0 : 3;
}

/* Sets *closed if none of its descriptors is open. */
static void *close_own_table(void *closed)
{
	if (!gk_descriptors_close(0, true))
		return NULL;
	for (int fd = 0; fd <= LAST; fd++)
		if (is_open(fd))
			return NULL;
	*(bool *)closed = true;
	return NULL;
}

static int close_in_thread(void)
{
	pthread_t thread;
	bool closed = false;

	open_some();
	if (pthread_create(&thread, NULL, close_own_table, &closed) ||
	    pthread_join(thread, NULL) || !closed)
		return 1;
	return is_open(0) && is_open(LAST) ? 0 : 2;
}

/* The exit status of a process that does it, with or without the call. */
static int status_of(int (*does)(void), bool refused)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid)
		_exit(refused && !forbid_close_range() ? REFUSED : does());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void check_both(int (*does)(void))
{
	int refused = status_of(does, true);

	assert_int_equal(status_of(does, false), 0);
	if (refused == REFUSED)
		CANNOT("filters-of-calls", "seccomp() refuses");
	assert_int_equal(refused, 0);
}

static void descriptors_are_closed_from_one_on(void **state)
{
	(void)state;
	check_both(close_from_first);
}

static void a_thread_closes_only_its_own_table(void **state)
{
	(void)state;
	check_both(close_in_thread);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(descriptors_are_closed_from_one_on),
	    cmocka_unit_test(a_thread_closes_only_its_own_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
