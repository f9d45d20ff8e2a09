/*
 * demand_test.c - what many processes, and those in MIG instances, want of a
 * device.
 */
#include "base/clock.h"
#include "machine/file/mig_state.h"
#include "machine/file/numbers.h"
#include "machine/file/state.h"
#include "machine/file/wave_state.h"
#include "machine/fixture.h"
#include "machine/model/demand.h"
#include "machine/model/mig.h"
#include "machine/model/model.h"
#include "machine/model/physics.h"
#include "machine/store/clock.h"
#include "machine/store/ledger.h"

static struct fixture fx;
static struct gkf_demand wants;

static int open_two(void **state)
{
	(void)state;
	fixture_open(&fx, 2);
	return gkf_clock_speed(fx.m, 0);
}

static int close_it(void **state)
{
	(void)state;
	fixture_close(&fx);
	return 0;
}

/* Always busy, as much as a wave can be. */
static const struct gkf_wave full = {.kind = GKF_WAVE_INFER,
				     .util_permille = 100000,
				     .mem_permille = 500,
				     .period_ns = GK_NS_PER_S};

static void attach(unsigned device, uint32_t instance,
		   const struct gkf_wave *wave)
{
	unsigned slot;

	if (instance == GKF_NO_INSTANCE)
		assert_int_equal(
		    gkf_attach(fx.m, device, GKF_COMPUTE, wave, &slot), 0);
	else
		assert_int_equal(gkf_attach_instance(fx.m, device, instance,
						     GKF_COMPUTE, wave, &slot),
				 0);
}

static struct gkf_drive drive_now(unsigned device)
{
	struct gkf_drive d = {0};

	gkf_demand_collect(fx.m, device, &wants);
	gkf_demand_drive(&wants, gkf_machine_bin(fx.m), &d);
	return d;
}

static void processes_of_a_whole_gpu_add_up(void **state)
{
	struct gkf_drive d;

	(void)state;
	d = drive_now(0);
	assert_int_equal(d.attached, 0);
	attach(0, GKF_NO_INSTANCE, &full);
	attach(0, GKF_NO_INSTANCE, &full);
	attach(1, GKF_NO_INSTANCE, &full);
	d = drive_now(0);
	assert_int_equal(d.attached, 2);
	assert_int_equal(d.demand, 2000);
	assert_int_equal(d.kind[GKF_WAVE_INFER], 2000);
	assert_int_equal(d.mem, 1000);
}

/* More than are collected are counted all the same. */
static void a_great_crowd_adds_up_too(void **state)
{
	struct gkf_drive d;

	(void)state;
	for (int i = 0; i < GKF_DEMAND_MAX + 5; i++)
		attach(0, GKF_NO_INSTANCE, &full);
	d = drive_now(0);
	assert_false(wants.all);
	assert_int_equal(d.attached, GKF_DEMAND_MAX + 5);
	assert_int_equal(d.demand, (GKF_DEMAND_MAX + 5) * 1000);
	assert_int_equal(gkf_demand_quiet_until(&wants, 7), 7);
}

static uint32_t instance_at(unsigned index)
{
	struct gkf_mig_ci ci;

	assert_int_equal(gkf_mig_by_index(fx.m, 0, index, &ci), 0);
	return GKF_INSTANCE(ci.gi, ci.id);
}

/* An A100's 3g has 42 of 108 SMs: two such loads do not slow each other. */
static void instances_have_sms_of_their_own(void **state)
{
	const char *part;
	struct gkf_drive d;
	struct gkf_state one, two;

	(void)state;
	assert_int_equal(gkf_mig_layout(fx.m, 0, "3g.40gb+3g.40gb", &part), 0);
	attach(0, instance_at(0), &full);
	attach(0, instance_at(0), &full);
	d = drive_now(0);
	assert_int_equal(d.attached, 2);
	assert_int_equal(d.demand, 1000);
	assert_in_range(d.kind[GKF_WAVE_INFER], 386, 390);
	gkf_machine_age(fx.m, GKF_BIN_NS);
	gkf_state_now(fx.m, 0, &one);
	attach(0, instance_at(1), &full);
	d = drive_now(0);
	assert_int_equal(d.demand, 1000);
	assert_in_range(d.kind[GKF_WAVE_INFER], 772, 780);
	gkf_machine_age(fx.m, GKF_BIN_NS);
	gkf_state_now(fx.m, 0, &two);
	assert_true(two.power_mw > one.power_mw + 20000);
	assert_in_range(two.sm_active, one.sm_active * 2 - 2,
			one.sm_active * 2 + 2);
}

static void quiet_ends_when_a_load_begins(void **state)
{
	struct gkf_wave waiting = {.kind = GKF_WAVE_IDLE}, soon = full;

	(void)state;
	attach(0, GKF_NO_INSTANCE, &waiting);
	gkf_demand_collect(fx.m, 0, &wants);
	assert_true(gkf_demand_quiet_until(&wants, 5) == UINT64_MAX);
	soon.start_bin = 50;
	soon.stop_bin = 60;
	attach(0, GKF_NO_INSTANCE, &soon);
	gkf_demand_collect(fx.m, 0, &wants);
	assert_int_equal(gkf_demand_quiet_until(&wants, 5), 50);
	assert_int_equal(gkf_demand_quiet_until(&wants, 49), 50);
	assert_int_equal(gkf_demand_quiet_until(&wants, 55), 55);
	assert_true(gkf_demand_quiet_until(&wants, 60) == UINT64_MAX);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, open_two, close_it)
	const struct CMUnitTest tests[] = {
	    T(processes_of_a_whole_gpu_add_up),
	    T(a_great_crowd_adds_up_too),
	    T(instances_have_sms_of_their_own),
	    T(quiet_ends_when_a_load_begins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
