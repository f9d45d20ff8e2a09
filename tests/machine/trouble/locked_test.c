/* SPDX-License-Identifier: Apache-2.0 */
/*
 * locked_test.c - checks that nothing breaks or mends while another process
 * holds the machine's lock.
 */
#include "base/array.h"
#include "base/err.h"
#include "machine/file/device.h"
#include "machine/file/fault_kinds.h"
#include "machine/file/fault_state.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/fixture.h"
#include "machine/holder.h"
#include "machine/trouble/fault.h"
#include "machine/trouble/reset.h"
#include "machine/trouble/rule.h"

static struct fixture fx;

static const struct gkf_rule_spec rule = {
    .gpus = 1, .function = 3, .answer = 5, .per_million = 1000000};

static int begin_ecc(void)
{
	return gkf_fault_begin(fx.m, 0, GKF_FAULT_ECC, 1);
}

static int begin_pending(void)
{
	return gkf_fault_begin(fx.m, 0, GKF_FAULT_REMAP_PENDING, 0);
}

static int begin_failure(void)
{
	return gkf_fault_begin(fx.m, 0, GKF_FAULT_REMAP_FAILURE, 0);
}

static int begin_link(void)
{
	return gkf_fault_begin(fx.m, 0, GKF_FAULT_NVLINK, 0);
}

static int begin_lost(void)
{
	return gkf_xid(fx.m, 0, 79);
}

static int tell_xid(void)
{
	return gkf_xid(fx.m, 0, 31);
}

static int end_thermal(void)
{
	return gkf_fault_end(fx.m, 0, GKF_FAULT_BIT(GKF_FAULT_THERMAL));
}

static int reset(void)
{
	return gkf_device_reset(fx.m, 0);
}

static int add_rule(void)
{
	return gkf_rule_add(fx.m, &rule);
}

static int drop_rules(void)
{
	return gkf_rules_drop(fx.m, -1, ~0ULL);
}

static int (*const changes[])(void) = {
    begin_ecc, begin_pending, begin_failure, begin_link, begin_lost,
    tell_xid,  end_thermal,   reset,         add_rule,   drop_rules};

/* Everything written about a device, its memory and its links. */
struct written {
	struct gkf_device device;
	struct gkf_rules rules;
	uint64_t events;
};

static struct written *take_written(void)
{
	struct written *w = malloc(sizeof *w);

	assert_non_null(w);
	memset(w, 0, sizeof *w);
	memcpy(&w->device, &fx.file->device[0], sizeof w->device);
	memcpy(&w->rules, &fx.file->rules, sizeof w->rules);
	w->events = atomic_load(&fx.file->events.count);
	return w;
}

/* All changes run at once, since each waits for a while. */
static void who_does_not_get_the_lock_changes_nothing(void **state)
{
	struct written *before, *after;
	pid_t pids[COUNT(changes)], holder;

	(void)state;
	fixture_open(&fx, 1);
	assert_int_equal(gkf_fault_begin(fx.m, 0, GKF_FAULT_THERMAL, 0), 0);
	assert_int_equal(gkf_rule_add(fx.m, &rule), 0);
	before = take_written();
	holder = holder_start(fx.m, HOLD_MACHINE);
	for (size_t i = 0; i < COUNT(changes); i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (!pids[i])
			_exit(changes[i]() == GK_ERR_TIMEOUT ? 0 : 1);
	}
	for (size_t i = 0; i < COUNT(changes); i++)
		fixture_await(pids[i], 0);
	after = take_written();
	assert_memory_equal(before, after, sizeof *before);
	holder_end(holder);
	free(after);
	free(before);
	fixture_close(&fx);
}

/* The same calls work when they get the lock. */
static void who_gets_it_changes_something(void **state)
{
	(void)state;
	fixture_open(&fx, 1);
	assert_int_equal(gkf_fault_begin(fx.m, 0, GKF_FAULT_THERMAL, 0), 0);
	for (size_t i = 0; i < COUNT(changes); i++) {
		struct written *before = take_written(), *after;

		assert_int_equal(changes[i](), 0);
		after = take_written();
		assert_memory_not_equal(before, after, sizeof *before);
		free(before);
		free(after);
	}
	fixture_close(&fx);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(who_does_not_get_the_lock_changes_nothing),
	    cmocka_unit_test(who_gets_it_changes_something),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
