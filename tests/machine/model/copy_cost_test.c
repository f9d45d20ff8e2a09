/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy_cost_test.c - checks that a machine file which another user made
 * expensive costs its readers little.
 */
#include "can.h"
#include "base/clock.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/state.h"
#include "machine/file/value.h"
#include "machine/file/wave_state.h"
#include "machine/fixture.h"
#include "machine/model/model.h"
#include "machine/store/board.h"
#include "machine/store/clock.h"
#include "machine/store/machine.h"
#include "machine/trouble/machine.h"
#include "machine/store/gate.h"
#include "machine/store/scenario_table.h"

#include <sys/stat.h>

#define STRANGER 12345
#define LIMIT_NS (60 * GK_NS_PER_S)
#define DAY_BINS (86400ULL * GKF_BINS_PER_S)

static struct fixture fx;

/* A machine as its owner opens it, with steps of a scenario on each day. */
static void open_machine(unsigned gpus, unsigned steps)
{
	static struct gkf_profile profiles[GKF_DEVICES_MAX];
	struct gkf_step *step = calloc(steps + 1, sizeof *step);
	struct gkf_scenario_table table = {
	    .steps = step, .count = steps, .name = "x"};
	struct gkf_machine_spec spec = {
	    .device_count = gpus, .profiles = profiles, .scenario = &table};

	assert_non_null(step);
	for (unsigned i = 0; i < gpus; i++)
		profiles[i] = gkf_profile_default;
	for (unsigned i = 0; i < steps; i++)
		step[i] = (struct gkf_step){.bin = (i + 1) * DAY_BINS,
					    .kind = GKF_STEP_SET,
					    .device = i % gpus,
					    .number = GKF_V_TEMPERATURE,
					    .argument = i % 90};
	fixture_open_spec(&fx, &spec);
	free(step);
}

static int close_machine(void **state)
{
	(void)state;
	fixture_close(&fx);
	return 0;
}

/* Moves the clock to the end of days in which nobody read the machine. */
static void let_days_pass(uint64_t days)
{
	struct gkf_clock clock = {.real_ns = gk_boot_ns(),
				  .machine_ns = days * DAY_BINS * GKF_BIN_NS,
				  .wall_ns = gk_wall_ns(),
				  .speed = 0};

	fx.file->clock[0] = fx.file->clock[1] = clock;
}

static void load_all_slots(unsigned gpus, enum gkf_wave_kind kind)
{
	atomic_store(&fx.file->slots_high, GKF_SLOTS_MAX);
	for (unsigned i = 0; i < GKF_SLOTS_MAX; i++) {
		struct gkf_slot *slot = &fx.file->slot[i];

		slot->device = i % gpus;
		slot->types = GKF_COMPUTE;
		slot->pid = 1;
		slot->instance = GKF_NO_INSTANCE;
		slot->wave = (struct gkf_wave){.kind = kind,
					       .util_permille = 500,
					       .mem_permille = 500,
					       .period_ns = GK_NS_PER_S};
		atomic_store(&fx.file->busy[i].since_ns, 1);
		atomic_store(&slot->life, 1);
	}
	for (unsigned i = 0; i < gpus; i++) {
		atomic_store(&fx.file->device[i].set[GKF_V_ACCOUNTING], 1);
		atomic_store(&fx.file->device[i].mig.mode, GKF_MIG_CURRENT);
	}
}

static struct gkf_machine *open_copy(void)
{
	struct gkf_machine *m = NULL;

	if (chown(fx.path, STRANGER, STRANGER))
		CANNOT("other-users", strerror(errno));
	assert_int_equal(gkf_machine_open(fx.path, &m), 0);
	assert_true(gkf_machine_is_copy(m));
	return m;
}

/* Checks that a stranger's read of all GPUs is cheap. */
static void assert_cheap(void)
{
	uint64_t began = gk_mono_ns();
	struct gkf_machine *m = open_copy();
	struct gkf_state s;

	gkf_scenario_poll(m);
	for (unsigned i = 0; i < gkf_device_count(m); i++) {
		gkf_state_now(m, i, &s);
		assert_int_equal(s.bin, gkf_machine_bin(m));
	}
	gkf_machine_close(m);
	/* Without a bound it takes minutes to days. */
	assert_true(gk_mono_ns() - began < LIMIT_NS);
}

static void many_loads_on_many_gpus(void **state)
{
	(void)state;
	open_machine(GKF_DEVICES_MAX, 0);
	load_all_slots(GKF_DEVICES_MAX, GKF_WAVE_INFER);
	let_days_pass(10);
	assert_cheap();
}

static void many_loads_on_one_gpu(void **state)
{
	(void)state;
	open_machine(1, 0);
	load_all_slots(1, GKF_WAVE_INFER);
	let_days_pass(10);
	assert_cheap();
}

static void real_work_on_some_gpus(void **state)
{
	(void)state;
	open_machine(8, 0);
	load_all_slots(8, GKF_WAVE_REAL);
	let_days_pass(10);
	assert_cheap();
}

static void many_steps_with_many_loads(void **state)
{
	(void)state;
	open_machine(2, 100000);
	load_all_slots(2, GKF_WAVE_INFER);
	let_days_pass(200000);
	assert_cheap();
}

static void too_many_steps_are_not_applied(void **state)
{
	struct gkf_machine *m;
	int64_t degrees = 0;

	(void)state;
	open_machine(1, 100000);
	let_days_pass(200000);
	m = open_copy();
	gkf_scenario_poll(m);
	assert_int_equal(gkf_scenario_next_ns(m), UINT64_MAX);
	assert_true(gkf_value_get(m, 0, GKF_V_TEMPERATURE, &degrees));
	assert_int_not_equal(degrees, 99999 % 90);
	gkf_machine_close(m);
}

static void a_few_steps_are(void **state)
{
	struct gkf_machine *m;
	int64_t degrees = 0;

	(void)state;
	open_machine(1, 100);
	let_days_pass(63);
	m = open_copy();
	gkf_scenario_poll(m);
	assert_int_equal(gkf_scenario_next_ns(m), 64 * DAY_BINS * GKF_BIN_NS);
	assert_true(gkf_value_get(m, 0, GKF_V_TEMPERATURE, &degrees));
	assert_int_equal(degrees, 62);
	gkf_machine_close(m);
}

/* Bins that are not computed one by one count like the others: half of each. */
static void steady_work_is_counted_to_the_end(void **state)
{
	struct gkf_machine *m;
	struct gkf_state s;

	(void)state;
	open_machine(1, 0);
	load_all_slots(1, GKF_WAVE_NONE);
	fx.file->slot[5].wave.kind = GKF_WAVE_STEADY;
	let_days_pass(10);
	m = open_copy();
	gkf_state_now(m, 0, &s);
	assert_int_equal(s.bin, 10 * DAY_BINS);
	assert_int_equal(s.gpu_util, 50);
	assert_int_equal(s.gpu_sum, 10 * DAY_BINS * 500);
	gkf_machine_close(m);
}

int main(void)
{
#define T(name) cmocka_unit_test_teardown(name, close_machine)
	const struct CMUnitTest tests[] = {
	    T(many_loads_on_many_gpus),
	    T(many_loads_on_one_gpu),
	    T(real_work_on_some_gpus),
	    T(many_steps_with_many_loads),
	    T(too_many_steps_are_not_applied),
	    T(a_few_steps_are),
	    T(steady_work_is_counted_to_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
