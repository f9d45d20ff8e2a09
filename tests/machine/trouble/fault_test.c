/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault_test.c - checks faults without NVML: which ones a board can have, what
 * mends them, and that no killed writer breaks the machine.
 */
#include "abi/nvml/nvml_abi.h"
#include "base/clock.h"
#include "base/err.h"
#include "machine/file/device.h"
#include "machine/file/ecc_state.h"
#include "machine/file/event_state.h"
#include "machine/file/fault_kinds.h"
#include "machine/file/fault_state.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/value.h"
#include "machine/fixture.h"
#include "machine/model/ecc.h"
#include "machine/model/model.h"
#include "machine/store/clock.h"
#include "machine/store/coverage.h"
#include "machine/store/event.h"
#include "machine/trouble/fault.h"
#include "machine/trouble/fault_text.h"
#include "machine/trouble/reset.h"
#include "machine/trouble/rule.h"

#include <pthread.h>

static struct fixture fx;

static int setup(void **state)
{
	(void)state;
	fixture_open(&fx, 2);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fixture_close(&fx);
	return 0;
}

/* The text that show prints is valid input. */
static void what_is_printed_can_be_typed(void **state)
{
	char text[GKF_FAULT_TEXT_MAX], allowed[GKF_FAULT_TEXT_MAX];
	struct gkf_breakage b;

	(void)state;
	for (int i = 0; i < GKF_FAULT_COUNT; i++) {
		enum gkf_fault f = (enum gkf_fault)i;

		if (gkf_fault_begin(fx.m, 0, f, gkf_faults[i].usual))
			continue; /* not on this board */
		gkf_fault_print(fx.m, 0, f, text, sizeof text);
		assert_int_equal(gkf_fault_parse(text, &b, allowed), 0);
		assert_int_equal(b.fault, f);
		assert_int_equal(b.argument, gkf_faults[i].usual);
		gkf_fault_end(fx.m, 0, GKF_FAULT_BIT(i));
	}
}

static void a_board_has_only_its_own_faults(void **state)
{
	(void)state;
	assert_int_equal(gkf_fault_begin(fx.m, 0, GKF_FAULT_FAN, 0),
			 GK_ERR_NOT_SUPPORTED);
	assert_int_equal(gkf_fault_begin(fx.m, 0, GKF_FAULT_NVLINK, 12),
			 GK_ERR_NOT_SUPPORTED);
	assert_int_equal(gkf_fault_begin(fx.m, 0, GKF_FAULT_PCIE, 0x510),
			 GK_ERR_NOT_SUPPORTED);
	assert_int_equal(gkf_fault_begin(fx.m, 0, GKF_FAULT_PCIE, 0x111),
			 GK_ERR_RANGE);
	assert_int_equal(gkf_fault_begin(fx.m, 2, GKF_FAULT_LOST, 0),
			 GK_ERR_RANGE);
	gkf_value_set(fx.m, 0, GKF_V_ECC_MODE, 0);
	assert_int_equal(gkf_fault_begin(fx.m, 0, GKF_FAULT_ECC, 1),
			 GK_ERR_NOT_SUPPORTED);
	for (int i = 0; i < GKF_FAULT_COUNT; i++)
		assert_false(gkf_fault_active(fx.m, 0, (enum gkf_fault)i));
}

static void the_gravest_advice_is_given(void **state)
{
	(void)state;
	assert_int_equal(gkf_fault_recovery(fx.m, 0),
			 NVML_GPU_RECOVERY_ACTION_NONE);
	gkf_fault_begin(fx.m, 0, GKF_FAULT_THERMAL, 0);
	assert_int_equal(gkf_fault_recovery(fx.m, 0),
			 NVML_GPU_RECOVERY_ACTION_NONE);
	gkf_fault_begin(fx.m, 0, GKF_FAULT_ECC, 1);
	assert_int_equal(gkf_fault_recovery(fx.m, 0),
			 NVML_GPU_RECOVERY_ACTION_GPU_RESET);
	gkf_fault_begin(fx.m, 0, GKF_FAULT_REMAP_FAILURE, 0);
	assert_int_equal(gkf_fault_recovery(fx.m, 0),
			 NVML_GPU_RECOVERY_ACTION_DRAIN_AND_RESET);
	gkf_fault_begin(fx.m, 0, GKF_FAULT_FALLEN, 0);
	assert_int_equal(gkf_fault_recovery(fx.m, 0),
			 NVML_GPU_RECOVERY_ACTION_NODE_REBOOT);
	assert_int_equal(gkf_fault_recovery(fx.m, 1),
			 NVML_GPU_RECOVERY_ACTION_NONE);
}

static void memory_that_waits_wants_a_reset(void **state)
{
	(void)state;
	gkf_ecc_error(fx.m, 0, GKF_ECC_CORRECTED, GKF_ECC_DRAM, 2);
	assert_int_equal(gkf_fault_recovery(fx.m, 0),
			 NVML_GPU_RECOVERY_ACTION_NONE);
	gkf_ecc_error(fx.m, 0, GKF_ECC_SECDED, GKF_ECC_DRAM, 1);
	assert_int_equal(gkf_fault_recovery(fx.m, 0),
			 NVML_GPU_RECOVERY_ACTION_GPU_RESET);
	assert_int_equal(gkf_device_reset(fx.m, 0), 0);
	assert_int_equal(gkf_fault_recovery(fx.m, 0),
			 NVML_GPU_RECOVERY_ACTION_NONE);
}

static void a_reset_mends_what_it_can(void **state)
{
	(void)state;
	for (int i = 0; i < GKF_FAULT_COUNT; i++)
		gkf_fault_begin(fx.m, 0, (enum gkf_fault)i,
				gkf_faults[i].usual);
	assert_int_equal(gkf_fault_reset(fx.m, 0), 0);
	for (int i = 0; i < GKF_FAULT_COUNT; i++)
		if (i != GKF_FAULT_FAN)
			assert_int_equal(
			    gkf_fault_active(fx.m, 0, (enum gkf_fault)i),
			    !gkf_faults[i].mended_by_reset);
}

/* A fault overrides a set value, which comes back after it. */
static void a_fault_hides_what_was_set(void **state)
{
	int64_t width;

	(void)state;
	gkf_value_set(fx.m, 0, GKF_V_PCIE_WIDTH, 8);
	gkf_fault_begin(fx.m, 0, GKF_FAULT_PCIE, 0x102);
	gkf_value_get(fx.m, 0, GKF_V_PCIE_WIDTH, &width);
	assert_int_equal(width, 2);
	gkf_fault_end(fx.m, 0, ~0ULL);
	gkf_value_get(fx.m, 0, GKF_V_PCIE_WIDTH, &width);
	assert_int_equal(width, 8);
}

static int64_t replays(void)
{
	int64_t count = -1;

	gkf_value_get(fx.m, 0, GKF_V_PCIE_REPLAY, &count);
	return count;
}

static void a_bad_link_replays(void **state)
{
	int64_t before;

	(void)state;
	assert_int_equal(gkf_clock_speed(fx.m, 0), 0);
	gkf_fault_begin(fx.m, 0, GKF_FAULT_PCIE, 0x101);
	assert_int_equal(replays(), 0);
	gkf_machine_age(fx.m, GK_NS_PER_S);
	assert_in_range(replays(), 5, 6);
	gkf_fault_end(fx.m, 0, ~0ULL);
	before = replays();
	gkf_machine_age(fx.m, GK_NS_PER_S);
	assert_int_equal(replays(), before);
	gkf_fault_begin(fx.m, 0, GKF_FAULT_PCIE, 0x101);
	gkf_machine_age(fx.m, GK_NS_PER_S);
	assert_in_range(replays(), before + 5, before + 6);
	gkf_value_set(fx.m, 0, GKF_V_PCIE_REPLAY, GKF_UNSET);
	assert_int_equal(replays(), 0);
}

/* How often the state of the first GPU was updated. */
static uint64_t updates(void)
{
	return fx.file->device[0].state_seq;
}

/* Reading another value does not update it. */
static void only_what_a_fault_counts_is_brought_up_to_date(void **state)
{
	uint64_t before;
	int64_t any;

	(void)state;
	assert_int_equal(gkf_clock_speed(fx.m, 0), 0);
	assert_int_equal(gkf_fault_begin(fx.m, 0, GKF_FAULT_PCIE, 0x101), 0);
	before = updates();
	gkf_machine_age(fx.m, GK_NS_PER_S);
	assert_true(gkf_value_get(fx.m, 0, GKF_V_ECC_MODE, &any));
	assert_int_equal(updates(), before);
	assert_true(replays() >= 5);
	assert_true(updates() > before);
}

/* ---- refusals ---- */

#define THREADS 4
#define TIMES   20000

static void *refuse(void *arg)
{
	const char *name = arg;

	for (unsigned i = 0; i < TIMES; i++)
		gkf_refusal_count(fx.m, i % 7, name);
	return NULL;
}

static uint64_t refused_to(const char *name)
{
	struct gkf_refused r;
	uint64_t sum = 0;

	for (unsigned i = 0; i < GKF_REFUSALS_MAX; i++)
		if (gkf_refusal_read(fx.m, i, &r) && !strcmp(r.caller, name))
			sum += r.count;
	return sum;
}

static void no_refusal_is_lost(void **state)
{
	static char names[THREADS][GKF_CALLER_MAX] = {"one", "other", "one",
						      "a-very-long-nam"};
	pthread_t threads[THREADS];

	(void)state;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, refuse, names[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(refused_to("one"), 2 * TIMES);
	assert_int_equal(refused_to("other"), TIMES);
	assert_int_equal(refused_to("a-very-long-nam"), TIMES);
}

static void a_full_table_says_so(void **state)
{
	char name[GKF_CALLER_MAX];

	(void)state;
	for (unsigned i = 0; i < GKF_REFUSALS_MAX + 10; i++) {
		snprintf(name, sizeof name, "p%u", i);
		gkf_refusal_count(fx.m, 1, name);
	}
	assert_int_equal(atomic_load(&fx.file->refusals.lost), 10);
	gkf_refusals_forget(fx.m);
	assert_int_equal(refused_to("p1"), 0);
	gkf_refusal_count(fx.m, 1, "p1");
	assert_int_equal(refused_to("p1"), 1);
}

/* ---- SIGKILL ---- */

/* Breaks, mends and sets rules until it is killed. */
static void work(unsigned seed)
{
	struct gkf_rule_spec rule = {
	    .gpus = 1, .answer = 1, .per_million = 1000000};

	for (unsigned i = seed;; i++) {
		rule.function = i % 40;
		gkf_fault_begin(fx.m, i % 2,
				(enum gkf_fault)(i % GKF_FAULT_COUNT), 1);
		gkf_xid(fx.m, i % 2, 31);
		gkf_rule_add(fx.m, &rule);
		gkf_refusal_count(fx.m, i % 100, "killed");
		gkf_fault_end(fx.m, i % 2, ~0ULL);
		gkf_rules_drop(fx.m, (int)(i * 7 % 40), 1);
	}
}

static void expect_usable(void)
{
	uint64_t number = gkf_event_last(fx.m), calls, failed, rules = 0;
	struct gkf_rule_spec spec;
	struct gkf_event event;

	for (unsigned d = 0; d < 2; d++) {
		assert_int_equal(gkf_fault_end(fx.m, d, ~0ULL), 0);
		assert_int_equal(gkf_fault_begin(fx.m, d, GKF_FAULT_LOST, 0),
				 0);
		assert_true(gkf_event_next(fx.m, &number, &event));
		assert_int_equal(event.type, nvmlEventTypeXidCriticalError);
		assert_int_equal(event.data, 79);
		assert_int_equal(gkf_fault_end(fx.m, d, ~0ULL), 0);
	}
	assert_int_equal(gkf_rules_drop(fx.m, -1, ~0ULL), 0);
	for (unsigned i = 0; i < GKF_RULES_MAX; i++)
		rules += gkf_rule_read(fx.m, i, &spec, &calls, &failed);
	assert_int_equal(rules, 0);
	assert_int_equal(atomic_load(&fx.file->rules.count), 0);
}

static void a_killed_writer_leaves_it_usable(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 60; round++) {
		pid_t pid[2];
		int status;

		for (unsigned i = 0; i < 2; i++) {
			pid[i] = fork();
			assert_true(pid[i] >= 0);
			if (!pid[i])
				work(round * 2 + i);
		}
		usleep(500 + round * 97 % 2000);
		for (unsigned i = 0; i < 2; i++) {
			kill(pid[i], SIGKILL);
			assert_int_equal(waitpid(pid[i], &status, 0), pid[i]);
		}
		expect_usable();
	}
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(what_is_printed_can_be_typed),
	    T(a_board_has_only_its_own_faults),
	    T(the_gravest_advice_is_given),
	    T(memory_that_waits_wants_a_reset),
	    T(a_reset_mends_what_it_can),
	    T(a_fault_hides_what_was_set),
	    T(a_bad_link_replays),
	    T(only_what_a_fault_counts_is_brought_up_to_date),
	    T(no_refusal_is_lost),
	    T(a_full_table_says_so),
	    T(a_killed_writer_leaves_it_usable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
