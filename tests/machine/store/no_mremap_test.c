/* SPDX-License-Identifier: Apache-2.0 */
/*
 * no_mremap_test.c - opens a machine where mremap() makes no second mapping of
 * shared memory, as under valgrind and qemu-user: its locks are those that
 * others use.
 */
#include "can.h"
#include "base/err.h"
#include "machine/file/numbers.h"
#include "machine/fixture.h"
#include "machine/store/process/ledger.h"
#include "machine/store/locks.h"
#include "machine/store/machine.h"
#include "machine/trouble/machine.h"
#include "machine/store/view.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/syscall.h>

/* From now on mremap() fails in this process. */
static bool forbid_mremap(void)
{
	struct sock_filter code[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		     offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mremap, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof code / sizeof *code, code};

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* The exit status of a process that opens the machine this way. */
static int use_machine(const char *path, unsigned busy)
{
	struct gkf_machine *m;
	unsigned slot;

	if (!forbid_mremap())
		return 77;
	if (gkf_machine_open(path, &m))
		return 1;
	if (gkf_locks_take(m->locks, GKF_LOCK_BOOKS + busy, 0) != EBUSY)
		return 2;
	for (unsigned i = 0; i < 3; i++)
		if (i != busy &&
		    gkf_locks_take(m->locks, GKF_LOCK_BOOKS + i, 0))
			return 3;
	for (unsigned i = 0; i < 3; i++)
		if (i != busy)
			gkf_locks_release(m->locks, GKF_LOCK_BOOKS + i);
	if (gkf_attach(m, 0, GKF_COMPUTE, NULL, &slot))
		return 4;
	gkf_machine_close(m);
	return 0;
}

static void its_locks_are_those_of_the_others(void **state)
{
	struct fixture fx;
	int status;
	pid_t pid;

	(void)state;
	fixture_open(&fx, 3);
	assert_int_equal(gkf_locks_take(fx.m->locks, GKF_LOCK_BOOKS + 1, 0), 0);
	pid = fork();
	if (!pid)
		_exit(use_machine(fx.path, 1));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	gkf_locks_release(fx.m->locks, GKF_LOCK_BOOKS + 1);
	fixture_close(&fx);
	if (status == 77 << 8)
		CANNOT("filters-of-calls", "seccomp() refuses");
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(its_locks_are_those_of_the_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
