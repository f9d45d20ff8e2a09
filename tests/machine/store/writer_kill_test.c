/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writer_kill_test.c - kills a process at the stores of everything that changes
 * a machine except its ledger and its MIG devices: the state before or after
 * the change must remain, and everything must work.
 */
#include "base/clock.h"
#include "machine/file/clock_state.h"
#include "machine/file/ecc_state.h"
#include "machine/file/event_state.h"
#include "machine/file/fault_kinds.h"
#include "machine/file/file.h"
#include "machine/file/link_state.h"
#include "machine/file/numbers.h"
#include "machine/file/state.h"
#include "machine/fixture.h"
#include "machine/model/ecc.h"
#include "machine/model/link.h"
#include "machine/model/model.h"
#include "machine/model/smoothing.h"
#include "machine/store/clock.h"
#include "machine/store/event.h"
#include "machine/store/hostname.h"
#include "machine/store/writers_lock.h"
#include "machine/stores.h"
#include "machine/trouble/fault.h"
#include "machine/trouble/rule.h"

enum operation {
	AGE,
	SPEED,
	BREAK,
	MEND,
	XID,
	ERROR,
	LINK,
	LINKS,
	RULE,
	RULES,
	TEXT,
	SMOOTHING,
	OPERATIONS
};

static const char *const names[] = {
    "age",        "speed",        "fault begins", "fault ends",
    "Xid",        "ECC error",    "link down",    "links cleared",
    "rule added", "rule dropped", "text",         "smoothing",
};

#define OLD_TEXT "the name that it had"
#define NEW_TEXT "another"

static const struct gkf_rule_spec rule = {.gpus = ~0ULL,
					  .function = 7,
					  .answer = 999,
					  .per_million = 1000000,
					  .times = 3};

static struct fixture fx;
static struct gkf_file *fresh;  /* as it was made */
static struct gkf_file *origin; /* as the machine was before each operation */
static struct gkf_file *last;   /* when it was last looked at */

static int open_one(void **state)
{
	struct gkf_state state_now;

	(void)state;
	fixture_open(&fx, 2);
	gkf_machine_age(fx.m, 5 * GK_NS_PER_S);
	assert_int_equal(gkf_clock_speed(fx.m, 0), 0);
	gkf_event_interest(fx.m, ~0ULL);
	/*
	 * No operation has bins to catch up with; ledger_kill_test.c covers
	 * that.
	 */
	gkf_state_now(fx.m, 0, &state_now);
	gkf_state_now(fx.m, 1, &state_now);
	fresh = malloc(sizeof *fresh);
	origin = malloc(sizeof *origin);
	last = malloc(sizeof *last);
	if (!fresh || !origin || !last)
		return -1;
	*fresh = *fx.file;
	return 0;
}

static int close_it(void **state)
{
	(void)state;
	free(fresh);
	free(origin);
	free(last);
	fixture_close(&fx);
	return 0;
}

static void perform(enum operation op)
{
	switch (op) {
	case AGE:
		gkf_machine_age(fx.m, 10 * GK_NS_PER_S);
		break;
	case SPEED:
		gkf_clock_speed(fx.m, 1000000);
		break;
	case BREAK:
		gkf_fault_begin(fx.m, 0, GKF_FAULT_ECC, 2);
		break;
	case MEND:
		gkf_fault_end(fx.m, 0, ~0ULL);
		break;
	case XID:
		gkf_xid(fx.m, 0, 45);
		break;
	case ERROR:
		gkf_ecc_error(fx.m, 0, GKF_ECC_SECDED, GKF_ECC_DRAM, 1);
		break;
	case LINK:
		gkf_link_set_state(fx.m, 0, 3, GKF_LINK_DOWN);
		break;
	case LINKS:
		gkf_links_clear(fx.m, 0);
		break;
	case RULE:
		gkf_rule_add(fx.m, &rule);
		break;
	case RULES:
		gkf_rules_drop(fx.m, -1, ~0ULL);
		break;
	case TEXT:
		gkf_hostname_set(fx.m, 0, NEW_TEXT);
		break;
	case SMOOTHING:
		gkf_smoothing_set(fx.m, 0, 1, 0, 30000);
		break;
	case OPERATIONS:
		break;
	}
}

/* Makes what the operation ends, clears or overwrites. */
static void prepare(enum operation op)
{
	*fx.file = *fresh;
	if (op == MEND)
		gkf_fault_begin(fx.m, 0, GKF_FAULT_ECC, 2);
	if (op == LINKS)
		gkf_link_set_state(fx.m, 0, 3, GKF_LINK_DOWN);
	if (op == RULES)
		gkf_rule_add(fx.m, &rule);
	gkf_hostname_set(fx.m, 0, OLD_TEXT);
	*origin = *fx.file;
}

/* All that these operations write: no slot, and the first two GPUs. */
#define LOOKED_AT (offsetof(struct gkf_file, device) + 2 * sizeof *last->device)

static bool changed(void)
{
	bool locks = fixture_locks_changed(&fx);

	if (!memcmp(last, fx.file, LOOKED_AT))
		return locks;
	memcpy(last, fx.file, LOOKED_AT);
	return true;
}

static pid_t start(enum operation op)
{
	pid_t pid;

	*fx.file = *origin;
	*last = *origin;
	pid = fork();
	if (!pid)
		TRACED(perform(op));
	await_start(pid);
	return pid;
}

/* The clock is stopped as it was, or ten seconds later, or it runs. */
static void check_clock(void)
{
	struct gkf_clock c = gkf_clock_get(fx.m);
	uint64_t then = origin->clock[origin->clock_seq % 2].machine_ns;

	if (c.speed)
		assert_int_equal(c.speed, 1000000);
	else if (c.machine_ns != then)
		assert_int_equal(c.machine_ns, then + 10 * GK_NS_PER_S);
}

/* A rule is either complete, and found, or absent. */
static void check_rules(void)
{
	struct gkf_rule_spec found;
	uint64_t calls, failed;

	if (!gkf_rule_read(fx.m, 0, &found, &calls, &failed))
		return;
	assert_memory_equal(&found, &rule, sizeof rule);
	assert_true(atomic_load(&fx.file->rules.count) > 0);
}

/* An event that can be read is complete; numbers grow. */
static void check_events(void)
{
	struct gkf_event event;
	uint64_t number = 0, before = 0;

	while (gkf_event_next(fx.m, &number, &event)) {
		assert_true(number > before);
		assert_int_equal(event.device, 0);
		assert_true(event.type && event.machine_ns);
		before = number;
	}
}

/* A broken thing can be mended, and leaves nothing behind. */
static void check_faults(void)
{
	assert_true(gkf_ecc_sum(fx.m, 0, GKF_ECC_AGGREGATE, ~0U, ~0U) >=
		    gkf_ecc_sum(fx.m, 0, GKF_ECC_VOLATILE, ~0U, ~0U));
	assert_int_equal(gkf_fault_begin(fx.m, 0, GKF_FAULT_ECC, 1), 0);
	assert_int_equal(gkf_fault_end(fx.m, 0, ~0ULL), 0);
	assert_int_equal(gkf_fault_recovery(fx.m, 0), 0);
	assert_int_equal(gkf_ecc_sum(fx.m, 0, GKF_ECC_VOLATILE, ~0U, ~0U), 0);
}

static void check_links(void)
{
	uint64_t sum = 0;
	struct gkf_state s;

	gkf_state_now(fx.m, 0, &s);
	for (unsigned i = 0; i < gkf_links(fx.m, 0); i++)
		sum += gkf_link_bytes(fx.m, 0, i, GKF_SENT);
	assert_int_equal(sum, s.nvlink_tx_bytes);
	assert_int_equal(gkf_links_clear(fx.m, 0), 0);
	assert_int_equal(gkf_link_state(fx.m, 0, 3), GKF_LINK_UP);
}

static void check_whole(void)
{
	char text[GKF_TEXT_MAX];
	int64_t floor;

	assert_int_equal(gkf_lock(fx.m), 0);
	gkf_unlock(fx.m);
	check_clock();
	check_rules();
	check_events();
	check_links();
	gkf_hostname(fx.m, 0, text);
	assert_true(!strcmp(text, OLD_TEXT) || !strcmp(text, NEW_TEXT));
	floor = gkf_smoothing_get(fx.m, 0, 1, 0);
	assert_true(floor == 25000 || floor == 30000);
	check_faults();
}

/*
 * Copies of books and states are long: one in sixteen of their words is tried.
 */
static bool is_tried(unsigned k, unsigned stores)
{
	return k < 16 || k + 16 >= stores || k % 16 == 0;
}

static void killed_at_stores(void **state)
{
	struct site sites[STORES_MAX];

	(void)state;
	if (!CAN_RECORD)
		skip();
	for (int op = 0; op < OPERATIONS; op++) {
		unsigned stores;
		pid_t pid;

		prepare(op);
		pid = start(op);
		stores = record(pid, sites, changed);
		end(pid);
		/* Taking and releasing the lock alone makes two stores. */
		assert_true(stores >= 3);
		check_whole();
		for (unsigned k = 0; k < stores; k++) {
			if (!is_tried(k, stores))
				continue;
			pid = start(op);
			run_to(pid, &sites[k]);
			end(pid);
			check_whole();
		}
		print_message("%s: %u stores\n", names[op], stores);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(killed_at_stores, open_one,
					    close_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
