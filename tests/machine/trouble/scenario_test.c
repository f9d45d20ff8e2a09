/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_test.c - checks the steps of a scenario in a machine file: when they
 * are applied, and that garbage does no harm.
 */
#include "base/array.h"
#include "base/err.h"
#include "machine/file/event_state.h"
#include "machine/file/fault_kinds.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/scenario_state.h"
#include "machine/file/state.h"
#include "machine/file/value.h"
#include "machine/file/wave_state.h"
#include "machine/fixture.h"
#include "machine/holder.h"
#include "machine/model/mig/mig.h"
#include "machine/model/model.h"
#include "machine/store/clock.h"
#include "machine/store/event.h"
#include "machine/store/gate.h"
#include "machine/store/process/ledger.h"
#include "machine/store/process/processes.h"
#include "machine/store/machine.h"
#include "machine/trouble/machine.h"
#include "machine/store/scenario_table.h"
#include "machine/trouble/fault.h"
#include "machine/trouble/scenario.h"

#define S GKF_BINS_PER_S

/* A frozen machine of two GPUs with steps. */
static void open_with_texts(struct fixture *fx, const struct gkf_step *steps,
			    unsigned count, const char *texts, unsigned size)
{
	struct gkf_profile profiles[2] = {gkf_profile_default,
					  gkf_profile_default};
	struct gkf_scenario_table table = {.name = "test",
					   .steps = steps,
					   .count = count,
					   .texts = texts,
					   .text_size = size,
					   .end_bin = 100 * S};
	struct gkf_machine_spec spec = {.device_count = 2,
					.profiles = profiles,
					.seed = 7,
					.frozen = true,
					.scenario = &table};

	fixture_open_spec(fx, &spec);
}

static void open_with(struct fixture *fx, const struct gkf_step *steps,
		      unsigned count)
{
	open_with_texts(fx, steps, count, "first\0second",
			sizeof "first\0second");
}

static struct gkf_step set(uint64_t bin, unsigned device, int64_t temperature)
{
	return (struct gkf_step){.bin = bin,
				 .kind = GKF_STEP_SET,
				 .device = device,
				 .number = GKF_V_TEMPERATURE,
				 .argument = temperature};
}

static void age(struct fixture *fx, unsigned bins)
{
	assert_int_equal(gkf_machine_age(fx->m, (uint64_t)bins * GKF_BIN_NS),
			 0);
}

static int64_t temperature(struct fixture *fx, unsigned device)
{
	int64_t value = -1;

	gkf_scenario_poll(fx->m);
	gkf_value_get(fx->m, device, GKF_V_TEMPERATURE, &value);
	return value;
}

static void steps_come_at_their_bin(void **state)
{
	const struct gkf_step steps[] = {set(6, 0, 77), set(6, 1, 78),
					 set(12, 0, 79)};
	struct fixture fx;

	(void)state;
	open_with(&fx, steps, 3);
	assert_int_equal(gkf_scenario_count(fx.m), 3);
	assert_int_equal(gkf_scenario_next_ns(fx.m), 6 * GKF_BIN_NS);
	age(&fx, 5);
	assert_int_not_equal(temperature(&fx, 0), 77);
	age(&fx, 1);
	assert_int_equal(temperature(&fx, 0), 77);
	assert_int_equal(temperature(&fx, 1), 78);
	assert_int_equal(gkf_scenario_next_ns(fx.m), 12 * GKF_BIN_NS);
	age(&fx, 100);
	assert_int_equal(temperature(&fx, 0), 79);
	assert_true(gkf_scenario_next_ns(fx.m) == UINT64_MAX);
	assert_int_equal(atomic_load(&fx.file->scenario.done), 3);
	assert_int_equal(atomic_load(&fx.file->scenario.failed), 0);
	fixture_close(&fx);
}

/* Steps applied late have the same result as steps applied in time. */
static void late_steps_are_exact(void **state)
{
	const struct gkf_step steps[] = {
	    {.bin = 10 * S,
	     .kind = GKF_STEP_SET,
	     .number = GKF_V_POWER,
	     .argument = 300000},
	    {.bin = 20 * S,
	     .kind = GKF_STEP_SET,
	     .number = GKF_V_POWER,
	     .argument = GKF_UNSET},
	};
	struct fixture one, other;
	struct gkf_state a, b;

	(void)state;
	open_with(&one, steps, 2);
	open_with(&other, steps, 2);
	age(&one, 60 * S);
	for (int i = 0; i < 60 * S; i++) {
		age(&other, 1);
		gkf_state_now(other.m, 0, &b);
	}
	gkf_state_now(one.m, 0, &a);
	assert_memory_equal(&a, &b, sizeof a);
	fixture_close(&one);
	fixture_close(&other);
}

static void faults_and_xids_have_the_time_of_their_step(void **state)
{
	const struct gkf_step steps[] = {
	    {.bin = 3 * S, .kind = GKF_STEP_XID, .number = 31},
	    {.bin = 4 * S,
	     .kind = GKF_STEP_FAULT,
	     .number = GKF_FAULT_LOST,
	     .device = 1},
	    {.bin = 9 * S,
	     .kind = GKF_STEP_MEND,
	     .device = 1,
	     .argument = (int64_t)GKF_FAULT_BIT(GKF_FAULT_LOST)},
	};
	struct gkf_event event;
	uint64_t number = 0;
	struct fixture fx;

	(void)state;
	open_with(&fx, steps, 3);
	age(&fx, 5 * S);
	gkf_scenario_poll(fx.m);
	assert_true(gkf_fault_active(fx.m, 1, GKF_FAULT_LOST));
	assert_int_equal(gkf_machine_ns(fx.m) -
			     fx.file->device[1].fault.since_ns[GKF_FAULT_LOST],
			 S * GKF_BIN_NS);
	assert_true(gkf_event_next(fx.m, &number, &event));
	assert_int_equal(event.data, 31);
	assert_int_equal(event.machine_ns, 3 * S * GKF_BIN_NS);
	age(&fx, 4 * S);
	gkf_scenario_poll(fx.m);
	assert_false(gkf_fault_active(fx.m, 1, GKF_FAULT_LOST));
	fixture_close(&fx);
}

static void mig_devices_and_notes(void **state)
{
	const struct gkf_step steps[] = {
	    {.bin = 1,
	     .kind = GKF_STEP_NOTE,
	     .device = GKF_STEP_NO_DEVICE,
	     .text = 6},
	    {.bin = 1, .kind = GKF_STEP_MIG_MODE, .argument = 1},
	    {.bin = 1, .kind = GKF_STEP_MIG_CREATE, .text = 0},
	    {.bin = 2, .kind = GKF_STEP_MIG_DESTROY, .number = UINT32_MAX},
	};
	char text[GKF_STEP_TEXT_MAX];
	struct gkf_step step;
	struct fixture fx;

	(void)state;
	open_with(&fx, steps, 4);
	assert_true(gkf_scenario_step(fx.m, 0, &step));
	gkf_scenario_text(fx.m, &step, text);
	assert_string_equal(text, "second");
	age(&fx, 2);
	gkf_scenario_poll(fx.m);
	/* "first" is no layout: refused, counted, and no more. */
	assert_int_equal(atomic_load(&fx.file->scenario.failed), 1);
	assert_int_equal(atomic_load(&fx.file->scenario.note), 1);
	assert_int_equal(gkf_mig_mode(fx.m, 0),
			 GKF_MIG_CURRENT | GKF_MIG_PENDING);
	fixture_close(&fx);
}

/* A load that exists from second 2 to 4, and is not seen before or after. */
static void loads_have_their_time(void **state)
{
	struct gkf_wave wave = {.kind = GKF_WAVE_TRAIN,
				.util_permille = 900,
				.period_ns = 1000000000,
				.load = 1,
				.start_bin = 2 * S,
				.stop_bin = 4 * S};
	const struct gkf_step steps[] = {{.bin = 3 * S,
					  .kind = GKF_STEP_MEMORY,
					  .number = 1,
					  .argument = 5 * (int64_t)GIB}};
	static const unsigned seen[] = {0, 1, 1, 0};
	static const unsigned gib[] = {0, 2, 5, 0};
	struct resident r;
	struct fixture fx;
	unsigned count;

	(void)state;
	open_with(&fx, steps, 1);
	r = fixture_resident(&fx, 0, GKF_COMPUTE, 2 * GIB, &wave);
	for (unsigned i = 0; i < 4; i++) {
		age(&fx, S);
		gkf_scenario_poll(fx.m);
		assert_int_equal(gkf_processes(fx.m, 0, ~0U, NULL, 0, &count),
				 0);
		assert_int_equal(count, seen[i]);
		assert_int_equal(gkf_held_bytes(fx.m, 0), gib[i] * GIB);
	}
	fixture_end(&r);
	fixture_close(&fx);
}

/* A nanosecond before its bin a step is not yet due. */
static void a_step_is_due_from_the_first_nanosecond_of_its_bin(void **state)
{
	const struct gkf_step steps[] = {set(6, 0, 77), set(7, 0, 78)};
	struct fixture fx;

	(void)state;
	open_with(&fx, steps, 2);
	assert_int_equal(gkf_machine_age(fx.m, 6 * GKF_BIN_NS - 1), 0);
	assert_int_not_equal(temperature(&fx, 0), 77);
	assert_int_equal(atomic_load(&fx.file->scenario.done), 0);
	assert_int_equal(gkf_machine_age(fx.m, 1), 0);
	assert_int_equal(temperature(&fx, 0), 77);
	assert_int_equal(atomic_load(&fx.file->scenario.done), 1);
	assert_int_equal(gkf_machine_age(fx.m, GKF_BIN_NS), 0);
	assert_int_equal(temperature(&fx, 0), 78);
	assert_int_equal(atomic_load(&fx.file->scenario.done), 2);
	/* Steps are not applied again. */
	gkf_value_set(fx.m, 0, GKF_V_TEMPERATURE, 5);
	age(&fx, 9);
	assert_int_equal(temperature(&fx, 0), 5);
	fixture_close(&fx);
}

static void what_is_no_step_is_left_out(void **state)
{
	const struct gkf_step steps[] = {set(1, 0, 71), set(1, 0, 72),
					 set(1, 0, 73), set(2, 0, 74),
					 set(2, 1, 75)};
	struct gkf_step *written, step;
	struct fixture fx;

	(void)state;
	open_with(&fx, steps, 5);
	written = gkf_file_steps(fx.file);
	written[0].kind = GKF_STEP_KINDS;
	written[1].device = 2;
	written[2].bin = UINT64_MAX / GKF_BIN_NS + 1;
	for (unsigned i = 0; i < 3; i++)
		assert_false(gkf_scenario_step(fx.m, i, &step));
	assert_true(gkf_scenario_step(fx.m, 3, &step));
	assert_int_equal(step.argument, 74);
	assert_int_equal(step.bin, 2);
	assert_int_equal(step.number, GKF_V_TEMPERATURE);
	assert_true(gkf_scenario_step(fx.m, 4, &step));
	assert_int_equal(step.device, 1);
	assert_false(gkf_scenario_step(fx.m, 5, &step));
	/* They count as applied, but have no effect. */
	age(&fx, 1);
	assert_int_not_equal(temperature(&fx, 0), 73);
	assert_int_equal(atomic_load(&fx.file->scenario.done), 3);
	assert_int_equal(gkf_scenario_next_ns(fx.m), 2 * GKF_BIN_NS);
	age(&fx, 1);
	assert_int_equal(temperature(&fx, 0), 74);
	assert_int_equal(temperature(&fx, 1), 75);
	assert_int_equal(atomic_load(&fx.file->scenario.failed), 0);
	fixture_close(&fx);
}

static void expect_text(struct fixture *fx, uint32_t at, const char *expected)
{
	const struct gkf_step step = {.text = at};
	char text[GKF_STEP_TEXT_MAX + 1];

	memset(text, 'x', sizeof text);
	gkf_scenario_text(fx->m, &step, text);
	assert_string_equal(text, expected);
	assert_int_equal(text[GKF_STEP_TEXT_MAX], 'x');
}

static void a_text_ends_with_the_texts(void **state)
{
	const struct gkf_step steps[] = {set(6, 0, 77)};
	char *texts, longest[GKF_STEP_TEXT_MAX];
	struct fixture fx;

	(void)state;
	open_with(&fx, steps, 1);
	expect_text(&fx, 0, "first");
	expect_text(&fx, 4, "t");
	expect_text(&fx, 6, "second");
	expect_text(&fx, 12, "");
	expect_text(&fx, 13, "");
	expect_text(&fx, UINT32_MAX, "");
	/* The NULs after two texts were overwritten, so the first goes on. */
	texts = (char *)(gkf_file_steps(fx.file) + 1);
	texts[5] = '-';
	texts[12] = '!';
	expect_text(&fx, 0, "first-second!");
	fixture_close(&fx);
	memset(longest, 'a', sizeof longest - 1);
	longest[sizeof longest - 1] = '\0';
	open_with_texts(&fx, steps, 1, longest, sizeof longest);
	expect_text(&fx, 0, longest);
	((char *)(gkf_file_steps(fx.file) + 1))[GKF_STEP_TEXT_MAX - 1] = 'a';
	expect_text(&fx, 0, longest);
	fixture_close(&fx);
}

static void notes_are_told_by_their_number(void **state)
{
	const struct gkf_step steps[] = {
	    set(1, 0, 77),
	    {.bin = 2, .kind = GKF_STEP_NOTE, .device = GKF_STEP_NO_DEVICE},
	    {.bin = 3, .kind = GKF_STEP_NOTE, .text = 6},
	};
	static const uint64_t notes[] = {0, 0, 2, 3};
	struct fixture fx;

	(void)state;
	open_with(&fx, steps, 3);
	for (unsigned i = 0; i < COUNT(notes); i++) {
		gkf_scenario_poll(fx.m);
		assert_int_equal(atomic_load(&fx.file->scenario.note),
				 notes[i]);
		age(&fx, 1);
	}
	fixture_close(&fx);
}

/* A reader that cannot take the lock leaves the steps to the next one. */
static void steps_wait_for_who_has_the_lock(void **state)
{
	const struct gkf_step steps[] = {set(1, 0, 77)};
	struct fixture fx;
	pid_t holder;

	(void)state;
	open_with(&fx, steps, 1);
	/* A step seems due: the holder of the lock finds that it is not. */
	atomic_store(&fx.file->scenario.next_ns, 0);
	holder = holder_start(fx.m, HOLD_MACHINE);
	gkf_scenario_poll(fx.m);
	assert_int_equal(gkf_scenario_next_ns(fx.m), 0);
	holder_end(holder);
	gkf_scenario_poll(fx.m);
	assert_int_equal(gkf_scenario_next_ns(fx.m), GKF_BIN_NS);
	age(&fx, 1);
	assert_int_equal(temperature(&fx, 0), 77);
	fixture_close(&fx);
}

/* Overwritten steps and heads do no harm. */
static void garbage_hurts_nobody(void **state)
{
	struct gkf_step steps[64];
	struct fixture fx;
	uint64_t x = 88172645463325252ULL;

	(void)state;
	for (unsigned i = 0; i < 64; i++)
		steps[i] = set(i, i % 2, 50 + i);
	open_with(&fx, steps, 64);
	for (unsigned round = 0; round < 2000; round++) {
		uint64_t *words = (uint64_t *)(void *)(fx.file + 1);
		uint64_t size = 64 * sizeof *steps / sizeof *words;

		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		words[x % size] = round % 3 ? x % 300 : x;
		if (round % 7 == 0)
			atomic_store(&fx.file->scenario.done, x % 70);
		if (round % 5 == 0)
			atomic_store(&fx.file->scenario.next_ns, x % 9);
		if (round % 11 == 0)
			fx.file->scenario.steps = (uint32_t)x;
		gkf_scenario_poll(fx.m);
		temperature(&fx, 0);
		if (round % 100 == 0)
			age(&fx, 1);
	}
	fixture_close(&fx);
}

static void a_file_with_too_many_steps_is_none(void **state)
{
	const struct gkf_step steps[] = {set(6, 0, 77)};
	struct gkf_machine *m;
	struct fixture fx;

	(void)state;
	open_with(&fx, steps, 1);
	fx.file->scenario.steps = 100000;
	assert_int_equal(gkf_machine_open(fx.path, &m), GK_ERR_CORRUPT);
	fx.file->scenario.steps = UINT32_MAX;
	assert_int_equal(gkf_machine_open(fx.path, &m), GK_ERR_CORRUPT);
	fixture_close(&fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(steps_come_at_their_bin),
	    cmocka_unit_test(late_steps_are_exact),
	    cmocka_unit_test(faults_and_xids_have_the_time_of_their_step),
	    cmocka_unit_test(mig_devices_and_notes),
	    cmocka_unit_test(loads_have_their_time),
	    cmocka_unit_test(
		a_step_is_due_from_the_first_nanosecond_of_its_bin),
	    cmocka_unit_test(what_is_no_step_is_left_out),
	    cmocka_unit_test(a_text_ends_with_the_texts),
	    cmocka_unit_test(notes_are_told_by_their_number),
	    cmocka_unit_test(steps_wait_for_who_has_the_lock),
	    cmocka_unit_test(garbage_hurts_nobody),
	    cmocka_unit_test(a_file_with_too_many_steps_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
