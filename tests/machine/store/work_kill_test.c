/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work_kill_test.c - kills a process at every store of real work: busy time,
 * copies, turns. (Memory: ledger_kill_test.c.) Each time nobody stays busy,
 * nobody keeps the device, and everything works.
 */
#include "base/clock.h"
#include "base/err.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/value.h"
#include "machine/file/work_state.h"
#include "machine/fixture.h"
#include "machine/model/model.h"
#include "machine/store/process/books.h"
#include "machine/store/process/busy.h"
#include "machine/store/clock.h"
#include "machine/store/process/ledger.h"
#include "machine/store/process/turn.h"
#include "machine/stores.h"

enum operation { BEGIN, END, MOVED, TAKE, SHARE, GIVE, PASS, OPERATIONS };

static const struct {
	const char *name;
	unsigned stores; /* at least */
	bool holds;      /* begins with the turn */
	bool runs;       /* with a kernel that runs across a bin */
	bool wanted;     /* while the test waits for the turn */
} operations[] = {
    [BEGIN] = {"begin", 1, true, false, false},
    [END] = {"end", 5, true, true, false},
    [MOVED] = {"moved", 1, false, false, false},
    [TAKE] = {"take", 2, false, false, false},
    [SHARE] = {"share", 1, true, false, false},
    [GIVE] = {"give", 1, true, false, false},
    [PASS] = {"pass", 5, true, false, true},
};

static struct fixture fx;
static unsigned slot; /* of the test itself */

static int open_one(void **state)
{
	(void)state;
	fixture_open(&fx, 1);
	gkf_machine_age(fx.m, GK_NS_PER_S);
	assert_int_equal(gkf_clock_speed(fx.m, 0), 0);
	return gkf_books_attach(fx.m, 0, GKF_NO_INSTANCE, &slot);
}

static int close_it(void **state)
{
	(void)state;
	fixture_close(&fx);
	return 0;
}

/* Runs in the child, traced between the two stops. */
static void perform(enum operation op, unsigned own)
{
	switch (op) {
	case BEGIN:
		gkf_busy_begin(fx.m, own);
		break;
	case END:
		gkf_busy_end(fx.m, own);
		break;
	case MOVED:
		gkf_busy_moved(fx.m, own, GKF_IN, GIB);
		break;
	case TAKE:
	case SHARE:
		gkf_turn_take(fx.m, own, NULL);
		break;
	case GIVE:
	case PASS:
		gkf_turn_give(fx.m, own);
		break;
	case OPERATIONS:
		break;
	}
}

static void child(enum operation op)
{
	unsigned own;

	if (gkf_books_attach(fx.m, 0, GKF_NO_INSTANCE, &own) ||
	    (operations[op].holds && gkf_turn_take(fx.m, own, NULL)))
		_exit(1);
	if (operations[op].runs) {
		gkf_busy_begin(fx.m, own);
		gkf_machine_age(fx.m, GKF_BIN_NS * 3 / 2);
	}
	TRACED(perform(op, own));
}

static pid_t start(enum operation op)
{
	struct gkf_turn *t = &fx.file->device[0].turn[0];
	pid_t pid = fork();

	if (!pid)
		child(op);
	await_start(pid);
	atomic_store(&fx.file->busy[slot].wants_ns,
		     operations[op].wanted ? gk_mono_ns() : 0);
	atomic_store(&t->asked, operations[op].wanted);
	return pid;
}

/* Whether the parts of the file in use have changed since the last call. */
static bool changed(void)
{
	static struct {
		struct gkf_turn turn;
		struct gkf_busy busy[4];
	} then, now;

	memcpy(&now.turn, &fx.file->device[0].turn[0], sizeof now.turn);
	memcpy(now.busy, fx.file->busy, sizeof now.busy);
	/* NOLINTNEXTLINE: copied byte by byte */
	if (!memcmp(&then, &now, sizeof now))
		return false;
	then = now;
	return true;
}

static int64_t utilization(void)
{
	int64_t percent = -1;

	assert_true(gkf_value_get(fx.m, 0, GKF_V_GPU_UTIL, &percent));
	return percent;
}

static void check_whole(void)
{
	uint64_t begin = gk_mono_ns();
	struct gkf_done done;
	unsigned again;

	for (uint64_t b = gkf_machine_bin(fx.m) - 3; b < gkf_machine_bin(fx.m);
	     b++) {
		gkf_busy_read(fx.m, slot + 1, b, &done);
		assert_in_range(done.busy_permille, 0, 1000);
		assert_int_equal(done.moved[GKF_IN] % GIB, 0);
	}
	assert_int_equal(gkf_machine_age(fx.m, GKF_BIN_NS * 2), 0);
	assert_int_equal(utilization(), 0);
	assert_int_equal(gkf_turn_take(fx.m, slot, NULL), 0);
	assert_in_range(gk_mono_ns() - begin, 0, 10 * GK_NS_PER_S);
	gkf_turn_give(fx.m, slot);
	assert_int_equal(atomic_load(&fx.file->device[0].turn[0].holder), 0);
	assert_int_equal(gkf_reap(fx.m, true), 1);
	/* The next process can work. */
	assert_int_equal(gkf_books_attach(fx.m, 0, GKF_NO_INSTANCE, &again), 0);
	assert_int_equal(again, slot + 1);
	gkf_busy_begin(fx.m, again);
	assert_int_equal(gkf_machine_age(fx.m, GKF_BIN_NS * 2), 0);
	gkf_busy_end(fx.m, again);
	assert_int_equal(utilization(), 100);
	assert_int_equal(gkf_detach(fx.m, again), 0);
	assert_int_equal(gkf_machine_age(fx.m, GKF_BIN_NS * 2), 0);
}

static void killed_at_every_store(void **state)
{
	struct site sites[STORES_MAX];

	(void)state;
	if (!CAN_RECORD)
		skip();
	for (int op = 0; op < OPERATIONS; op++) {
		pid_t pid = start(op);
		unsigned stores = record(pid, sites, changed);

		end(pid);
		check_whole();
		assert_true(stores >= operations[op].stores);
		for (unsigned k = 0; k < stores; k++) {
			pid = start(op);
			run_to(pid, &sites[k]);
			end(pid);
			check_whole();
		}
		print_message("%s: killed at each of %u stores\n",
			      operations[op].name, stores);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(killed_at_every_store, open_one,
					    close_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
