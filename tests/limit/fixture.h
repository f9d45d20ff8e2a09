/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fixture.h - makes a ledger in a directory of its own, and children that use
 * it.
 */
#ifndef TESTS_LIMIT_FIXTURE_H
#define TESTS_LIMIT_FIXTURE_H

#include "limit/ledger.h"

/* cmocka.h needs these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define MIB (1ULL << 20)
#define GIB (1ULL << 30)

struct fixture {
	char dir[64], path[96];
	struct gkl_ledger *ledger;
};

static inline void fixture_open(struct fixture *fx)
{
	strcpy(fx->dir, "/dev/shm/gpukit-test-XXXXXX");
	assert_non_null(mkdtemp(fx->dir));
	snprintf(fx->path, sizeof fx->path, "%s/ledger", fx->dir);
	assert_int_equal(gkl_ledger_open(fx->path, GKL_PRIVATE, &fx->ledger),
			 0);
}

static inline void fixture_close(struct fixture *fx)
{
	gkl_ledger_close(fx->ledger);
	unlink(fx->path);
	rmdir(fx->dir);
}

/* Starts a child that calls act() and exits. */
static inline pid_t start_child(void (*act)(void))
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		act();
		_exit(0);
	}
	return pid;
}

static inline void await_end(pid_t pid, int status_wanted)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, status_wanted);
}

/* How many processes the ledger lists. */
static inline void count_one(const struct gkl_process *process, void *arg)
{
	(void)process;
	++*(int *)arg;
}

static inline int count_processes(const struct gkl_ledger *ledger)
{
	int count = 0;

	gkl_ledger_each(ledger, count_one, &count);
	return count;
}

#endif
