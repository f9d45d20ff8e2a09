/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demand_test.c - checks what many processes, and those in MIG instances,
 * demand of a device.
 */
#include "base/clock.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/state.h"
#include "machine/file/wave_state.h"
#include "machine/fixture.h"
#include "machine/model/demand.h"
#include "machine/model/mig/mig.h"
#include "machine/model/model.h"
#include "machine/model/physics.h"
#include "machine/store/clock.h"
#include "machine/store/process/ledger.h"

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

/* Processes beyond those that are collected count too. */
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

/* Each figure by itself, first as each process says, then by instance. */
static const struct gkf_wave steady = {.kind = GKF_WAVE_STEADY,
				       .util_permille = 500,
				       .mem_permille = 400,
				       .encoder_permille = 100,
				       .decoder_permille = 200,
				       .jpeg_permille = 300,
				       .ofa_permille = 600};

static void assert_drive(const struct gkf_drive *d, unsigned times,
			 uint32_t demand, uint32_t kind, uint32_t mem)
{
	assert_int_equal(d->attached, times);
	assert_int_equal(d->demand, demand);
	assert_int_equal(d->kind[GKF_WAVE_STEADY], kind);
	assert_int_equal(d->mem, mem);
	assert_int_equal(d->enc, times * 50);
	assert_int_equal(d->dec, times * 100);
	assert_int_equal(d->jpg, times * 150);
	assert_int_equal(d->ofa, times * 300);
}

static void each_engine_is_added_up(void **state)
{
	struct gkf_drive d;

	(void)state;
	attach(0, GKF_NO_INSTANCE, &steady);
	attach(0, GKF_NO_INSTANCE, &steady);
	attach(0, GKF_NO_INSTANCE, &steady);
	d = drive_now(0);
	assert_drive(&d, 3, 1500, 1500, 600);
	for (int i = 3; i < GKF_DEMAND_MAX; i++)
		attach(0, GKF_NO_INSTANCE, &steady);
	d = drive_now(0);
	assert_true(wants.all);
	assert_drive(&d, 48, 24000, 24000, 9600);
	attach(0, GKF_NO_INSTANCE, &steady);
	d = drive_now(0);
	assert_false(wants.all);
	assert_drive(&d, 49, 24500, 24500, 9800);
}

/* 1g.10gb has 14 of 108 SMs (129 permille) and 3g.40gb 42 (388). */
static void engines_of_instances_are_added_up(void **state)
{
	const char *part;
	struct gkf_drive d;

	(void)state;
	assert_int_equal(gkf_mig_layout(fx.m, 0, "3g.40gb+1g.10gb", &part), 0);
	attach(0, instance_at(1), &steady);
	d = drive_now(0);
	/* 129 permille of its busy time, which is half. */
	assert_drive(&d, 1, 500, 500 * 129 / 1000, 200 * 129 / 1000);
	attach(0, instance_at(0), &steady);
	attach(0, instance_at(0), &steady);
	attach(0, instance_at(0), &steady);
	d = drive_now(0);
	/* Three halves make all of the time, each of them 258 permille. */
	assert_drive(&d, 4, 1000, 64 + 1500 * 258 / 1000,
		     25 + 600 * 258 / 1000);
}

/* An instance that was removed meanwhile counts as the whole device. */
static void an_instance_that_is_not_there_has_all_sms(void **state)
{
	struct gkf_drive d;

	(void)state;
	attach(0, GKF_NO_INSTANCE, &steady);
	fx.file->slot[0].instance = GKF_INSTANCE(3, 0);
	d = drive_now(0);
	assert_int_equal(wants.instances, 1);
	assert_int_equal(wants.instance[0].name, GKF_INSTANCE(3, 0));
	assert_int_equal(wants.instance[0].sm_permille, 1000);
	assert_drive(&d, 1, 500, 500, 200);
}

/* From an overwritten file: the last row stands for all that are left. */
static void too_many_instances_are_one(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 12; i++)
		attach(0, GKF_NO_INSTANCE, &steady);
	for (unsigned i = 0; i < 12; i++)
		fx.file->slot[i].instance = i;
	gkf_demand_collect(fx.m, 0, &wants);
	assert_int_equal(wants.instances, GKF_DEMAND_MIGS);
	assert_int_equal(wants.count, 12);
	for (unsigned i = 0; i < 12; i++)
		assert_int_equal(wants.member[i].instance, i < 8 ? i : 7);
	assert_int_equal(wants.instance[7].name, 7);
}

static void real_work_is_what_was_done(void **state)
{
	const struct gkf_wave real = {.kind = GKF_WAVE_REAL};
	uint64_t bin = gkf_machine_bin(fx.m);
	struct gkf_busy_bin *b = &fx.file->busy[0].bin[(bin + 2) % 16];
	struct gkf_drive d = {0};

	(void)state;
	attach(0, GKF_NO_INSTANCE, &real);
	gkf_demand_collect(fx.m, 0, &wants);
	assert_true(gkf_demand_quiet_until(&wants, bin) == UINT64_MAX);
	atomic_store(&b->busy, (bin + 2) << 28 | GKF_BIN_NS / 4);
	for (int i = 0; i < GKF_DIRECTIONS; i++)
		atomic_store(&b->moved[i],
			     (bin + 2) << 36 | (uint64_t)(i + 1) * 1000);
	assert_int_equal(gkf_demand_quiet_until(&wants, bin), bin + 2);
	gkf_demand_drive(&wants, bin + 1, &d);
	assert_int_equal(d.attached, 1);
	assert_int_equal(d.demand, 0);
	assert_int_equal(d.moved[GKF_IN], 0);
	gkf_demand_drive(&wants, bin + 2, &d);
	assert_int_equal(d.demand, 250);
	assert_int_equal(d.kind[GKF_WAVE_REAL], 250);
	assert_int_equal(d.moved[GKF_IN], 1000);
	assert_int_equal(d.moved[GKF_OUT], 2000);
	assert_int_equal(d.moved[GKF_DEVICE], 3000);
	/* Nothing of the previous bin is left. */
	gkf_demand_drive(&wants, bin + 3, &d);
	assert_int_equal(d.demand, 0);
	assert_int_equal(d.moved[GKF_DEVICE], 0);
}

static void quiet_is_as_each_kind_of_work(void **state)
{
	struct gkf_wave w = {.kind = GKF_WAVE_STEADY};

	(void)state;
	attach(0, GKF_NO_INSTANCE, &w);
	gkf_demand_collect(fx.m, 0, &wants);
	assert_true(gkf_demand_quiet_until(&wants, 9) == UINT64_MAX);
	wants.member[0].wave.util_permille = 1;
	assert_int_equal(gkf_demand_quiet_until(&wants, 9), 9);
	wants.member[0].wave = (struct gkf_wave){.kind = GKF_WAVE_TRAIN};
	assert_int_equal(gkf_demand_quiet_until(&wants, 9), 9);
	wants.member[0].wave.kind = GKF_WAVE_NONE;
	wants.member[0].wave.stop_bin = 30;
	assert_int_equal(gkf_demand_quiet_until(&wants, 9), 30);
	wants.member[0].wave.start_bin = 20;
	assert_int_equal(gkf_demand_quiet_until(&wants, 9), 20);
	assert_int_equal(gkf_demand_quiet_until(&wants, 20), 30);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, open_two, close_it)
	const struct CMUnitTest tests[] = {
	    T(processes_of_a_whole_gpu_add_up),
	    T(a_great_crowd_adds_up_too),
	    T(instances_have_sms_of_their_own),
	    T(quiet_ends_when_a_load_begins),
	    T(each_engine_is_added_up),
	    T(engines_of_instances_are_added_up),
	    T(an_instance_that_is_not_there_has_all_sms),
	    T(too_many_instances_are_one),
	    T(real_work_is_what_was_done),
	    T(quiet_is_as_each_kind_of_work),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
