/* SPDX-License-Identifier: Apache-2.0 */
/*
 * holder.h - a process that takes a lock of the machine and is stopped while it
 * holds it: others that want the lock get GK_ERR_TIMEOUT.
 */
#ifndef TESTS_MACHINE_HOLDER_H
#define TESTS_MACHINE_HOLDER_H

#include "machine/fixture.h"
#include "machine/store/process/books.h"
#include "machine/store/writers_lock.h"

/* The lock of the whole machine, not of a device's books. */
#define HOLD_MACHINE UINT32_MAX

static inline void holder_holds(struct gkf_machine *m, unsigned device)
{
	bool whole = device == HOLD_MACHINE;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (whole ? gkf_lock(m) : gkf_books_lock(m, device))
		_exit(1);
	raise(SIGSTOP);
	if (whole)
		gkf_unlock(m);
	else
		gkf_books_unlock(m, device);
	_exit(0);
}

/* Returns when the child has the lock and is stopped. */
static inline pid_t holder_start(struct gkf_machine *m, unsigned device)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		holder_holds(m, device);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	return pid;
}

/* Continues the child, which releases the lock and exits. */
static inline void holder_end(pid_t pid)
{
	int status;

	kill(pid, SIGCONT);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
}

#endif
