/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mig_kill_test.c - kills a process at every store of every change of a split
 * GPU: the state before or after the change must remain, and everything must
 * work.
 */
#include "base/clock.h"
#include "base/err.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/fixture.h"
#include "machine/model/mig/mig.h"
#include "machine/store/process/books.h"
#include "machine/store/clock.h"
#include "machine/store/event.h"
#include "machine/store/process/ledger.h"
#include "machine/store/writers_lock.h"

#include <signal.h>
#include <sys/ptrace.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

enum operation {
	ON,
	OFF,
	MAKE_GI,
	MAKE_CI,
	END_CI,
	END_GI,
	LAYOUT,
	RESET,
	ALL
};

static const char *const names[] = {
    "mode on",    "mode off",   "create GI", "create CI",
    "destroy CI", "destroy GI", "layout",    "reset",
};

/* The layout of the device before each operation; "": MIG is on, NULL: off. */
static const char *const layouts[] = {
    NULL, "", "1g.10gb", NULL, "2g.20gb", NULL, "", "3g.40gb+1g.10gb",
};

static struct fixture fx;
static struct gkf_mig before, last;

static void prepare(enum operation op)
{
	const char *part;
	unsigned gi;

	assert_int_equal(gkf_lock(fx.m), 0);
	gkf_mig_reset(fx.m, 0);
	gkf_unlock(fx.m);
	if (op == ON)
		assert_int_equal(gkf_mig_mode_set(fx.m, 0, false), 0);
	else
		assert_int_equal(gkf_mig_mode_set(fx.m, 0, true), 0);
	if (op == MAKE_CI || op == END_GI)
		assert_int_equal(gkf_mig_gi_create(fx.m, 0, 14, 0, &gi), 0);
	else if (layouts[op] && *layouts[op])
		assert_int_equal(gkf_mig_layout(fx.m, 0, layouts[op], &part),
				 0);
}

/* Runs in the child, traced between the two stops. */
static void perform(enum operation op)
{
	const char *part;
	unsigned made;

	switch (op) {
	case ON:
	case OFF:
		gkf_mig_mode_set(fx.m, 0, op == ON);
		break;
	case MAKE_GI:
		gkf_mig_gi_create(fx.m, 0, 9, GKF_MIG_ANYWHERE, &made);
		break;
	case MAKE_CI:
		gkf_mig_ci_create(fx.m, 0, 3, GKF_MIG_ANY_LIFE, 1,
				  GKF_MIG_ANYWHERE, &made);
		break;
	case END_CI:
		for (unsigned gi = 3; gi < 7; gi++)
			gkf_mig_ci_destroy(fx.m, 0, gi, 0, GKF_MIG_ANY_LIFE);
		break;
	case END_GI:
		gkf_mig_gi_destroy(fx.m, 0, 3, GKF_MIG_ANY_LIFE);
		break;
	case LAYOUT:
		gkf_mig_layout(fx.m, 0, "3g.40gb(2c+1c)+2g.20gb", &part);
		break;
	case RESET:
		gkf_lock(fx.m);
		gkf_mig_reset(fx.m, 0);
		gkf_unlock(fx.m);
		break;
	case ALL:
		break;
	}
}

static pid_t start(enum operation op)
{
	int status;
	pid_t pid;

	prepare(op);
	memcpy(&before, &fx.file->device[0].mig, sizeof before);
	pid = fork();
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		perform(op);
		raise(SIGSTOP);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
	return pid;
}

/*
 * Steps until the instances have changed `stores` times or the operation is
 * over. Returns the number of changes seen.
 */
static unsigned step(pid_t pid, unsigned stores)
{
	unsigned seen = 0;

	memcpy(&last, &fx.file->device[0].mig, sizeof last);
	while (seen < stores) {
		int status;

		assert_int_equal(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSTOPPED(status));
		if (WSTOPSIG(status) == SIGSTOP)
			break;
		/* NOLINTNEXTLINE: copied byte by byte */
		if (memcmp(&last, &fx.file->device[0].mig, sizeof last)) {
			memcpy(&last, &fx.file->device[0].mig, sizeof last);
			seen++;
		}
	}
	return seen;
}

static void end(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
}

/*
 * Checks that nothing overlaps, that every MIG device has one index, and that
 * all can be undone.
 */
static void check_whole(void)
{
	struct gkf_mig_gi gi;
	struct gkf_mig_ci ci;
	const char *part;
	unsigned taken = 0, indices = 0, slot;

	assert_int_equal(gkf_lock(fx.m), 0);
	gkf_unlock(fx.m);
	for (unsigned i = 0; i < GKF_MIG_GIS; i++) {
		unsigned span;

		if (gkf_mig_gi_read(fx.m, 0, i, &gi))
			continue;
		span = ((1u << gi.profile->memory_slices) - 1) << gi.start;
		assert_int_equal(span & taken, 0);
		taken |= span;
		for (unsigned k = 0; k < GKF_MIG_CIS; k++) {
			if (gkf_mig_ci_read(fx.m, 0, i, k, &ci))
				continue;
			assert_int_equal(indices >> ci.index & 1, 0);
			indices |= 1u << ci.index;
			assert_int_equal(
			    gkf_mig_ci_destroy(fx.m, 0, i, k, ci.life), 0);
		}
		assert_int_equal(gkf_mig_gi_destroy(fx.m, 0, i, gi.life), 0);
	}
	assert_int_equal(gkf_mig_mode_set(fx.m, 0, false), 0);
	assert_int_equal(
	    gkf_mig_layout(fx.m, 0, "4g.40gb+2g.20gb+1g.10gb", &part), 0);
	assert_int_equal(gkf_attach(fx.m, 0, GKF_COMPUTE, NULL, &slot), 0);
	assert_int_equal(gkf_books_charge(fx.m, slot, GIB), 0);
	assert_int_equal(gkf_detach(fx.m, slot), 0);
}

static void killed_at_every_store(void **state)
{
	(void)state;
	if (SANITIZED)
		skip();
	for (int op = 0; op < ALL; op++) {
		unsigned stores;
		pid_t pid = start(op);

		stores = step(pid, UINT32_MAX);
		end(pid);
		assert_true(stores >= 1);
		check_whole();
		for (unsigned k = 1; k <= stores; k++) {
			pid = start(op);
			assert_int_equal(step(pid, k), k);
			end(pid);
			check_whole();
		}
		print_message("%s: killed at each of %u stores\n", names[op],
			      stores);
	}
}

/*
 * The ledger test covers each store of the lock and of the event ring; here a
 * victim dies at any instruction.
 */
static void killed_at_many_instructions(void **state)
{
	(void)state;
	if (SANITIZED)
		skip();
	for (int op = 0; op < ALL; op++)
		for (unsigned n = 1; n < 4000; n = n * 5 / 4 + 1) {
			pid_t pid = start(op);
			int status = 0;

			for (unsigned i = 0; i < n; i++) {
				ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL);
				waitpid(pid, &status, 0);
				if (WSTOPSIG(status) == SIGSTOP)
					break;
			}
			end(pid);
			check_whole();
		}
}

static int open_one(void **state)
{
	(void)state;
	fixture_open(&fx, 1);
	assert_int_equal(gkf_clock_speed(fx.m, 0), 0);
	gkf_event_interest(fx.m, ~0ULL);
	return 0;
}

static int close_it(void **state)
{
	(void)state;
	fixture_close(&fx);
	return 0;
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, open_one, close_it)
	const struct CMUnitTest tests[] = {
	    T(killed_at_every_store),
	    T(killed_at_many_instructions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
