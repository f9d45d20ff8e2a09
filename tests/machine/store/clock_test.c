/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_test.c - checks machine time: exact where the clock is stopped or was
 * set in a time namespace that is ahead; else between two readings of the
 * host's clock.
 */
#include "base/clock.h"
#include "base/err.h"
#include "base/pair.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/fixture.h"
#include "machine/store/clock.h"
#include "machine/store/event.h"
#include "machine/store/locks.h"
#include "machine/store/machine.h"
#include "machine/trouble/machine.h"
#include "machine/store/state_bin.h"
#include "machine/store/view.h"
#include "machine/store/writers_lock.h"

#include <pthread.h>

#define SEC GK_NS_PER_S
#define DAY (86400 * SEC)

static struct fixture fx;

static int open_two(void **state)
{
	(void)state;
	fixture_open(&fx, 2);
	return 0;
}

static int close_it(void **state)
{
	(void)state;
	fixture_close(&fx);
	return 0;
}

static void set_clock(struct gkf_clock c)
{
	gk_pair_write(&fx.file->clock_seq, fx.file->clock, &c, sizeof c);
}

static void a_clock_that_lies_ahead_has_not_begun(void **state)
{
	(void)state;
	set_clock((struct gkf_clock){.real_ns = gk_boot_ns() + DAY,
				     .machine_ns = 7 * SEC,
				     .speed = 3000});
	assert_int_equal(gkf_machine_ns(fx.m), 7 * SEC);
	assert_int_equal(gkf_machine_bin(fx.m), 42);
	/*
	 * A third of the remaining machine time, and at most a nanosecond more.
	 */
	assert_int_equal(gkf_real_until(fx.m, 10 * SEC), SEC + 1);
	assert_int_equal(gkf_real_until(fx.m, 7 * SEC + 1), 1);
	assert_int_equal(gkf_real_until(fx.m, 7 * SEC), 0);
	assert_int_equal(gkf_real_until(fx.m, 7 * SEC - 1), 0);
}

static void what_is_too_far_away_never_comes(void **state)
{
	struct gkf_clock c = {.real_ns = gk_boot_ns() + DAY, .speed = 1};

	(void)state;
	set_clock(c);
	assert_int_equal(gkf_real_until(fx.m, 5), 5001);
	assert_true(gkf_real_until(fx.m, UINT64_MAX) == UINT64_MAX);
	assert_true(gkf_real_until(fx.m, UINT64_MAX / 1000) ==
		    UINT64_MAX / 1000 * 1000 + 1);
	c.speed = 0;
	set_clock(c);
	assert_true(gkf_real_until(fx.m, 1) == UINT64_MAX);
	assert_int_equal(gkf_real_until(fx.m, 0), 0);
}

/* Checks the machine time now, at a speed that was set ten seconds ago. */
static void assert_time_at(uint64_t speed, uint64_t per_s)
{
	uint64_t before = gk_boot_ns(), begin = before - 10 * SEC, now, after;

	set_clock((struct gkf_clock){
	    .real_ns = begin, .machine_ns = 5 * SEC, .speed = speed});
	now = gkf_machine_ns(fx.m);
	after = gk_boot_ns();
	assert_in_range(now, 5 * SEC + 10 * per_s,
			5 * SEC + 10 * per_s +
			    (after - before) * (per_s / GK_NS_PER_MS) / 1000);
}

static void time_passes_at_its_speed(void **state)
{
	(void)state;
	assert_time_at(1000, SEC);
	assert_time_at(2500, 2500 * GK_NS_PER_MS);
	assert_time_at(500, 500 * GK_NS_PER_MS);
	assert_time_at(0, 0);
	assert_time_at(GKF_SPEED_MAX, 1000 * SEC);
	assert_time_at(GKF_SPEED_MAX + 1, SEC); /* nonsense is no speed */
}

static void a_clock_that_stands_tells_its_moment(void **state)
{
	(void)state;
	set_clock((struct gkf_clock){.real_ns = 1,
				     .machine_ns = 30 * SEC,
				     .wall_ns = 1000 * SEC + 4500});
	assert_int_equal(gkf_wall_us(fx.m, 30 * SEC), 1000000004);
	assert_int_equal(gkf_wall_us(fx.m, 28 * SEC), 998000004);
	assert_int_equal(gkf_wall_us(fx.m, 31 * SEC), 1001000004);
}

/* Checks that ago_s machine seconds ago are real_ms real milliseconds ago. */
static void assert_wall_at(uint64_t speed, int64_t ago_s, int64_t real_ms)
{
	uint64_t before = gk_wall_ns() / 1000, now, told, after;

	set_clock((struct gkf_clock){.real_ns = gk_boot_ns() - 10 * SEC,
				     .machine_ns = DAY,
				     .speed = speed});
	now = gkf_machine_ns(fx.m);
	told = gkf_wall_us(fx.m, now - (uint64_t)(ago_s * (int64_t)SEC));
	after = gk_wall_ns() / 1000;
	assert_in_range((int64_t)told + real_ms * 1000, before - 1, after + 1);
}

static void wall_time_is_told_at_the_speed_of_now(void **state)
{
	(void)state;
	assert_wall_at(1000, 0, 0);
	assert_wall_at(1000, 3, 3000);
	assert_wall_at(1000, -3, -3000);
	assert_wall_at(4000, 6, 1500);
	assert_wall_at(500, 6, 12000);
}

static void a_change_of_speed_begins_a_stretch_of_time(void **state)
{
	uint32_t word = gkf_event_word(fx.m);
	uint64_t real = gk_boot_ns(), wall = gk_wall_ns();
	struct gkf_clock c;

	(void)state;
	set_clock((struct gkf_clock){
	    .real_ns = real + DAY, .machine_ns = 9 * SEC, .speed = 1000});
	assert_int_equal(gkf_clock_speed(fx.m, 2000), 0);
	c = gkf_clock_get(fx.m);
	assert_int_equal(c.machine_ns, 9 * SEC);
	assert_int_equal(c.speed, 2000);
	assert_in_range(c.real_ns, real, gk_boot_ns());
	assert_in_range(c.wall_ns, wall, gk_wall_ns());
	/* Sleepers wake to see the new time. */
	assert_int_equal(gkf_event_word(fx.m), word + 1);
	assert_int_equal(gkf_clock_speed(fx.m, GKF_SPEED_MAX), 0);
	assert_int_equal(gkf_clock_speed(fx.m, GKF_SPEED_MAX + 1),
			 GK_ERR_RANGE);
	c = gkf_clock_get(fx.m);
	assert_int_equal(c.speed, GKF_SPEED_MAX);
	assert_int_equal(gkf_event_word(fx.m), word + 2);
}

static void a_clock_that_is_stopped_knows_how_fast_it_went(void **state)
{
	struct gkf_clock c;

	(void)state;
	assert_int_equal(atomic_load(&fx.file->run_speed), 1000);
	assert_int_equal(gkf_clock_speed(fx.m, 3000), 0);
	assert_int_equal(atomic_load(&fx.file->run_speed), 1000);
	assert_int_equal(gkf_clock_speed(fx.m, 0), 0);
	assert_int_equal(atomic_load(&fx.file->run_speed), 3000);
	assert_int_equal(gkf_clock_speed(fx.m, 0), 0);
	assert_int_equal(gkf_machine_age(fx.m, SEC), 0);
	assert_int_equal(atomic_load(&fx.file->run_speed), 3000);
	c = gkf_clock_get(fx.m);
	assert_int_equal(c.speed, 0);
	/* Aging the machine does not stop a running clock. */
	assert_int_equal(gkf_clock_speed(fx.m, 500), 0);
	assert_int_equal(gkf_machine_age(fx.m, SEC), 0);
	c = gkf_clock_get(fx.m);
	assert_int_equal(c.speed, 500);
	assert_int_equal(atomic_load(&fx.file->run_speed), 3000);
}

static void each_step_of_a_stopped_clock_is_wall_time_too(void **state)
{
	struct gkf_clock before = {
	    .real_ns = 5 * SEC, .machine_ns = 20 * SEC, .wall_ns = 100 * SEC};
	struct gkf_clock c;

	(void)state;
	set_clock(before);
	assert_int_equal(gkf_machine_age(fx.m, 3 * SEC), 0);
	c = gkf_clock_get(fx.m);
	assert_int_equal(c.real_ns, 8 * SEC);
	assert_int_equal(c.machine_ns, 23 * SEC);
	assert_int_equal(c.wall_ns, 103 * SEC);
	assert_int_equal(gkf_machine_ns(fx.m), 23 * SEC);
	assert_int_equal(gkf_wall_us(fx.m, 20 * SEC), 100000000);
	/* When it continues, it does so from now. */
	assert_int_equal(gkf_clock_speed(fx.m, 1000), 0);
	c = gkf_clock_get(fx.m);
	assert_int_equal(c.machine_ns, 23 * SEC);
	assert_true(c.wall_ns > 103 * SEC && c.real_ns > 8 * SEC);
}

static void a_clock_stays_where_nobody_may_write(void **state)
{
	struct gkf_clock before, after;
	uint32_t word = gkf_event_word(fx.m);

	(void)state;
	assert_int_equal(gkf_clock_speed(fx.m, 0), 0);
	before = gkf_clock_get(fx.m);
	/* Nobody can take the lock any more. */
	atomic_store(gkf_locks_word(fx.m->locks, GKF_LOCK_WRITERS), 0x35353535);
	assert_int_equal(gkf_machine_age(fx.m, SEC), GK_ERR_CORRUPT);
	assert_int_equal(gkf_clock_speed(fx.m, 5), GK_ERR_CORRUPT);
	assert_int_equal(gkf_machine_settle(fx.m), GK_ERR_CORRUPT);
	after = gkf_clock_get(fx.m);
	assert_memory_equal(&before, &after, sizeof before);
	assert_int_equal(gkf_event_word(fx.m), word + 1);
}

static void *look_at_the_clock(void *ret_ns)
{
	*(uint64_t *)ret_ns = gkf_machine_ns(fx.m);
	return NULL;
}

static void who_applies_a_step_is_alone_in_its_time(void **state)
{
	pthread_t other;
	uint64_t seen = 0;

	(void)state;
	set_clock((struct gkf_clock){.machine_ns = 50 * SEC});
	assert_int_equal(gkf_lock(fx.m), 0);
	gkf_apply_at(fx.m, 12 * SEC);
	assert_true(gkf_applying(fx.m));
	assert_int_equal(gkf_machine_ns(fx.m), 12 * SEC);
	assert_int_equal(pthread_create(&other, NULL, look_at_the_clock, &seen),
			 0);
	pthread_join(other, NULL);
	assert_int_equal(seen, 50 * SEC);
	/* The thread holds the lock and may take it again. */
	assert_int_equal(gkf_lock(fx.m), 0);
	assert_true(gkf_trylock(fx.m, 0));
	gkf_unlock(fx.m);
	assert_true(gkf_locks_is_mine(fx.m->locks, GKF_LOCK_WRITERS));
	gkf_apply_end(fx.m);
	assert_false(gkf_applying(fx.m));
	assert_int_equal(gkf_machine_ns(fx.m), 50 * SEC);
	assert_false(
	    gkf_trylock(fx.m, 60 * SEC)); /* it holds it: fails at once */
	gkf_unlock(fx.m);
	assert_false(gkf_locks_is_mine(fx.m->locks, GKF_LOCK_WRITERS));
	assert_true(gkf_trylock(fx.m, 0));
	gkf_unlock(fx.m);
}

static void settling_computes_all_devices_up_to_now(void **state)
{
	(void)state;
	assert_int_equal(gkf_clock_speed(fx.m, 0), 0);
	assert_int_equal(gkf_machine_age(fx.m, 100 * SEC), 0);
	assert_int_equal(gkf_machine_settle(fx.m), 0);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(gkf_state_bin(fx.m, i), gkf_machine_bin(fx.m));
	assert_true(gkf_scenario_next_ns(fx.m) == UINT64_MAX);
}

/* The clock that a machine made from a spec starts with. */
static struct gkf_clock clock_of(struct gkf_machine_spec spec,
				 uint64_t *ret_run_speed)
{
	struct gkf_machine *m;
	struct gkf_clock c;

	spec.device_count = 1;
	spec.profiles = &gkf_profile_default;
	assert_int_equal(gkf_machine_scratch(&spec, &m), 0);
	c = gkf_clock_get(m);
	*ret_run_speed = atomic_load(&gkf_machine_file(m)->run_speed);
	gkf_machine_close(m);
	return c;
}

static void a_machine_begins_at_the_speed_it_was_made_for(void **state)
{
	static const struct {
		struct gkf_machine_spec spec;
		uint64_t speed, run_speed;
	} cases[] = {
	    {{.speed = 0}, 1000, 1000},           {{.speed = 1}, 1, 1},
	    {{.speed = 60000}, 60000, 60000},     {{.frozen = true}, 0, 1000},
	    {{.frozen = true, .speed = 5}, 0, 5},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint64_t real = gk_boot_ns(), wall = gk_wall_ns(), run_speed;
		struct gkf_clock c = clock_of(cases[i].spec, &run_speed);

		assert_int_equal(c.speed, cases[i].speed);
		assert_int_equal(run_speed, cases[i].run_speed);
		assert_int_equal(c.machine_ns, 0);
		assert_in_range(c.real_ns, real, gk_boot_ns());
		assert_in_range(c.wall_ns, wall, gk_wall_ns());
	}
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, open_two, close_it)
	const struct CMUnitTest tests[] = {
	    T(a_clock_that_lies_ahead_has_not_begun),
	    T(what_is_too_far_away_never_comes),
	    T(time_passes_at_its_speed),
	    T(a_clock_that_stands_tells_its_moment),
	    T(wall_time_is_told_at_the_speed_of_now),
	    T(a_change_of_speed_begins_a_stretch_of_time),
	    T(a_clock_that_is_stopped_knows_how_fast_it_went),
	    T(each_step_of_a_stopped_clock_is_wall_time_too),
	    T(a_clock_stays_where_nobody_may_write),
	    T(who_applies_a_step_is_alone_in_its_time),
	    T(settling_computes_all_devices_up_to_now),
	    T(a_machine_begins_at_the_speed_it_was_made_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
