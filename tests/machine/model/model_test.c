/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_test.c - checks the values of a fake GPU: waves, physics, set values,
 * sharing.
 */
#include "base/err.h"
#include "machine/file/boards.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/state.h"
#include "machine/file/value.h"
#include "machine/file/wave_state.h"
#include "machine/fixture.h"
#include "machine/model/model.h"
#include "machine/model/physics.h"
#include "machine/model/wave.h"
#include "machine/store/clock.h"
#include "machine/store/process/ledger.h"
#include "machine/store/machine.h"
#include "machine/trouble/machine.h"

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

static const struct gkf_wave training = {
    .kind = GKF_WAVE_TRAIN,
    .util_permille = 900,
    .mem_permille = 500,
    .period_ns = 30000000000ULL,
    .start_bin = 100,
};

static uint32_t mean(const struct gkf_wave *wave, uint64_t from, uint64_t bins)
{
	uint64_t sum = 0;

	for (uint64_t b = from; b < from + bins; b++)
		sum += gkf_wave_at(wave, b);
	return (uint32_t)(sum / bins);
}

static void training_warms_up_works_and_dips(void **state)
{
	uint64_t period = 30 * GKF_BINS_PER_S;

	(void)state;
	assert_int_equal(gkf_wave_at(&training, 99), 0);
	assert_in_range(mean(&training, 100, 18), 200, 260);
	assert_in_range(mean(&training, 130, 100), 880, 920);
	assert_in_range(mean(&training, 100 + period - 18, 18), 170, 190);
}

static void inference_swings_around_its_mean(void **state)
{
	struct gkf_wave wave = training;
	uint64_t period = 30 * GKF_BINS_PER_S;
	uint32_t low, high;

	(void)state;
	wave.kind = GKF_WAVE_INFER;
	wave.util_permille = 500;
	assert_in_range(mean(&wave, 100, 10 * period), 470, 530);
	low = mean(&wave, 100 + 10 * period, period / 10);
	high = mean(&wave, 100 + 10 * period + period / 2, period / 10);
	assert_true(low + 200 < high);
}

static void waiting_processes_are_never_busy(void **state)
{
	struct gkf_wave wave = training;

	(void)state;
	wave.kind = GKF_WAVE_IDLE;
	assert_int_equal(mean(&wave, 100, 1000), 0);
}

static void run_bins(struct gkf_drive *drive, struct gkf_state *s, int bins)
{
	for (int i = 0; i < bins; i++)
		gkf_physics_step(&gkf_profile_default, drive, s);
}

static struct gkf_drive nothing_set(void)
{
	struct gkf_drive drive = {0};

	for (int v = 0; v < GKF_V_COUNT; v++)
		drive.set[v] = GKF_UNSET;
	return drive;
}

static void an_idle_gpu_rests(void **state)
{
	struct gkf_drive drive = nothing_set();
	struct gkf_state s = {.temp_mc = 60000};
	const struct gkf_profile *p = &gkf_profile_default;

	(void)state;
	run_bins(&drive, &s, 6000);
	assert_int_equal(s.gpu_util, 0);
	assert_int_equal(s.power_mw, p->power_idle_mw);
	assert_int_equal(s.sm_clock_mhz, p->sm_clock_idle_mhz);
	assert_int_equal(s.throttle, 1);
	assert_in_range(s.temp_mc, p->temp_idle_c * 1000 - 200,
			p->temp_idle_c * 1000 + 200);
}

/* The whole board is busy. */
static struct gkf_drive full_load(void)
{
	struct gkf_drive drive = nothing_set();

	drive.attached = 1;
	drive.demand = drive.mem = drive.kind[GKF_WAVE_TRAIN] = 1000;
	drive.nvlink = 150;
	drive.pcie_out = 500;
	return drive;
}

static void a_busy_gpu_draws_power_and_heats(void **state)
{
	struct gkf_drive drive = full_load();
	struct gkf_state s = {.temp_mc = 31000};
	const struct gkf_profile *p = &gkf_profile_default;

	(void)state;
	run_bins(&drive, &s, 6);
	assert_in_range(s.power_mw, p->power_busy_mw - 2000, p->power_busy_mw);
	assert_in_range(s.temp_mc, 31500, 35000); /* slow to heat */
	assert_int_equal(s.energy_uj, (uint64_t)s.power_mw * 1000);
	run_bins(&drive, &s, 3000);
	assert_in_range(s.temp_mc, p->temp_busy_c * 1000 - 300,
			p->temp_busy_c * 1000 + 300);
}

static void a_power_limit_takes_clocks(void **state)
{
	struct gkf_drive drive = full_load();
	struct gkf_state s = {0};

	(void)state;
	drive.set[GKF_V_POWER_LIMIT] = 200000;
	run_bins(&drive, &s, 1);
	/* Within one step of the clock. */
	assert_in_range(s.power_mw, 195000, 200000);
	assert_int_equal(s.throttle, GKF_REASON_SW_POWER_CAP);
	assert_int_equal(s.sm_clock_mhz % 15, 0);
	assert_in_range(s.sm_clock_mhz, 300,
			gkf_profile_default.sm_clock_max_mhz - 300);
	/* No clock is low enough: the lowest is used. */
	drive.set[GKF_V_POWER_LIMIT] = 10000;
	run_bins(&drive, &s, 1);
	assert_int_equal(s.sm_clock_mhz, gkf_profile_default.sm_clock_idle_mhz);
	assert_true(s.power_mw > 10000);
}

static void heat_takes_clocks(void **state)
{
	const struct gkf_profile *p = &gkf_profile_default;
	struct gkf_drive drive = full_load();
	struct gkf_state s = {0};

	(void)state;
	drive.set[GKF_V_TEMPERATURE] = p->temp_slowdown_c;
	run_bins(&drive, &s, 1);
	assert_int_equal(s.throttle,
			 GKF_REASON_HW_SLOWDOWN | GKF_REASON_HW_THERMAL);
	assert_int_equal(s.sm_clock_mhz, p->sm_clock_max_mhz / 2);
	assert_true(s.power_mw < p->power_busy_mw);
	/* It ends at a slightly lower temperature than it begins. */
	drive.set[GKF_V_TEMPERATURE] = p->temp_slowdown_c - 4;
	run_bins(&drive, &s, 1);
	assert_true(s.throttle & GKF_REASON_HW_THERMAL);
	drive.set[GKF_V_TEMPERATURE] = p->temp_slowdown_c - 6;
	run_bins(&drive, &s, 1);
	assert_false(s.throttle & GKF_REASON_HW_THERMAL);
}

/* With a stopped fan, lower clocks save the board. */
static void a_dead_fan_does_not_melt_the_board(void **state)
{
	struct gkf_profile p = gkf_profile_default;
	struct gkf_drive drive = full_load();
	struct gkf_state s;
	int64_t hottest = 0;

	(void)state;
	p.fans = 2;
	p.fan_max_rpm = 3000;
	p.fan_min_percent = 35;
	p.power_idle_mw = 24000;
	p.temp_idle_c = 38;
	gkf_physics_rest(&p, &s);
	drive.set[GKF_V_FAN] = 0;
	for (int i = 0; i < 20000; i++) {
		gkf_physics_step(&p, &drive, &s);
		if (s.temp_mc > hottest)
			hottest = s.temp_mc;
	}
	assert_in_range(hottest, p.temp_max_c * 1000,
			(p.temp_shutdown_c + 5) * 1000);
	assert_true(s.power_mw < p.power_busy_mw / 2);
	assert_true(s.reason_ns[5] + s.reason_ns[6] > 0);
}

/* Software throttles just enough to hold the board at its limit. */
static void software_holds_the_core_cool(void **state)
{
	struct gkf_profile p = gkf_profile_default;
	struct gkf_drive drive = full_load();
	struct gkf_state s;

	(void)state;
	p.temp_busy_c = 110; /* a blocked heat sink */
	gkf_physics_rest(&p, &s);
	for (int i = 0; i < 6000; i++)
		gkf_physics_step(&p, &drive, &s);
	assert_int_equal(s.throttle, GKF_REASON_SW_THERMAL);
	assert_in_range(s.temp_mc, p.temp_max_c * 1000 - 2000,
			p.temp_slowdown_c * 1000);
	assert_in_range(s.reason_ns[5], 1, s.bin * GKF_BIN_NS);
	/* Time under two reasons counts once. */
	drive.set[GKF_V_THROTTLE] =
	    GKF_REASON_SW_THERMAL | GKF_REASON_HW_THERMAL;
	gkf_physics_rest(&p, &s);
	for (int i = 0; i < 60; i++)
		gkf_physics_step(&p, &drive, &s);
	assert_int_equal(s.thermal_ns, 60 * GKF_BIN_NS);
	assert_int_equal(s.limited_ns, 60 * GKF_BIN_NS);
}

static void clocks_are_held_where_they_are_asked(void **state)
{
	struct gkf_drive drive = full_load();
	struct gkf_state s = {0};
	int64_t free_mw;

	(void)state;
	run_bins(&drive, &s, 1);
	free_mw = s.power_mw;
	drive.set[GKF_V_LOCK_SM_MAX] = 900;
	run_bins(&drive, &s, 1);
	assert_int_equal(s.sm_clock_mhz, 900);
	assert_int_equal(s.throttle, GKF_REASON_APPLICATIONS);
	assert_true(s.power_mw < free_mw * 3 / 4);
	drive.set[GKF_V_LOCK_SM_MAX] = GKF_UNSET;
	drive.set[GKF_V_APP_SM] = 1200;
	drive.set[GKF_V_APP_MEM] = 1215;
	run_bins(&drive, &s, 1);
	assert_int_equal(s.sm_clock_mhz, 1200);
	assert_int_equal(s.mem_clock_mhz, 1215);
	drive = nothing_set();
	drive.set[GKF_V_LOCK_SM_MIN] = 1005;
	run_bins(&drive, &s, 11 * GKF_BINS_PER_S); /* until it rests */
	assert_int_equal(s.sm_clock_mhz, 1005);
	assert_int_equal(s.throttle, GKF_REASON_IDLE);
}

/* At the same power, a shifted curve gives a higher clock. */
static void an_offset_shifts_the_clocks(void **state)
{
	struct gkf_drive drive = full_load();
	struct gkf_state s = {0};
	int64_t before;

	(void)state;
	drive.set[GKF_V_POWER_LIMIT] = 250000;
	run_bins(&drive, &s, 1);
	before = s.sm_clock_mhz;
	drive.set[GKF_V_SM_OFFSET] = 150;
	run_bins(&drive, &s, 1);
	assert_true(s.sm_clock_mhz > before);
	drive.set[GKF_V_MEM_OFFSET] = -100;
	run_bins(&drive, &s, 1);
	assert_int_equal(s.mem_clock_mhz,
			 gkf_profile_default.mem_clock_max_mhz - 100);
}

static void hardware_slows_down_when_asked(void **state)
{
	static const struct {
		enum gkf_value value;
		int64_t reasons;
	} rows[] = {
	    {GKF_V_SLOWDOWN, 0x8},
	    {GKF_V_POWER_BRAKE, 0x88},
	    {GKF_V_THERMAL_SLOWDOWN, 0x48},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct gkf_drive drive = full_load();
		struct gkf_state s = {0};

		drive.set[rows[i].value] = 1;
		run_bins(&drive, &s, 1);
		assert_int_equal(s.throttle, rows[i].reasons);
		assert_int_equal(s.sm_clock_mhz, 705);
		drive.set[rows[i].value] = 0;
		run_bins(&drive, &s, 1);
		assert_int_equal(s.throttle, 0);
		assert_int_equal(s.sm_clock_mhz, 1410);
	}
}

/* The same utilization by another kind of work draws less power. */
static void inference_draws_less_than_training(void **state)
{
	struct gkf_drive drive = full_load();
	struct gkf_state train = {0}, infer = {0};

	(void)state;
	run_bins(&drive, &train, 1);
	drive.kind[GKF_WAVE_TRAIN] = 0;
	drive.kind[GKF_WAVE_INFER] = 1000;
	run_bins(&drive, &infer, 1);
	assert_int_equal(train.gpu_util, infer.gpu_util);
	assert_true(infer.power_mw < train.power_mw);
	assert_true(infer.tensor_active < train.tensor_active);
	assert_true(infer.sm_active < train.sm_active);
}

static void links_carry_what_is_counted(void **state)
{
	struct gkf_drive drive = full_load();
	struct gkf_state s = {0};

	(void)state;
	run_bins(&drive, &s, 6);
	assert_int_equal(s.nvlink_tx_bytes, 0);
	/* A fiftieth of 32 GB/s, and a little. */
	assert_in_range(s.pcie_rx_bytes, 640000000, 641000000);
	drive.links = 12;
	run_bins(&drive, &s, 6);
	assert_in_range(s.nvlink_tx_bytes, 40000000000, 50000000000);
	drive.set[GKF_V_PCIE_RX] = 6000;
	s.pcie_rx_bytes = 0;
	run_bins(&drive, &s, 6);
	assert_int_equal(s.pcie_rx_bytes, 6000000);
}

/* A board with fans: they lag, and cool it. */
static void fans_follow_the_heat(void **state)
{
	struct gkf_profile p = gkf_profile_default;
	struct gkf_drive drive = full_load();
	struct gkf_state s;
	int64_t automatic, before;

	(void)state;
	p.fans = 2;
	p.fan_max_rpm = 3000;
	p.power_idle_mw = 24000;
	p.temp_idle_c = 38;
	gkf_physics_rest(&p, &s);
	assert_int_equal(s.fan_permille, 0);
	for (int i = 0; i < 6000; i++) {
		before = s.fan_permille;
		gkf_physics_step(&p, &drive, &s);
		assert_in_range(s.fan_permille, before, before + 10);
	}
	assert_in_range(s.temp_mc, p.temp_busy_c * 1000 - 2000,
			p.temp_busy_c * 1000 + 2000);
	assert_in_range(s.fan_permille, 450, 900);
	automatic = s.temp_mc;
	drive.set[GKF_V_FAN_TARGET] = 100;
	for (int i = 0; i < 6000; i++)
		gkf_physics_step(&p, &drive, &s);
	assert_int_equal(s.fan_permille, 1000);
	assert_true(s.temp_mc < automatic - 2000);
	drive.set[GKF_V_FAN_TARGET] = 20;
	for (int i = 0; i < 6000; i++)
		gkf_physics_step(&p, &drive, &s);
	assert_true(s.temp_mc > automatic + 2000);
}

static void processes_share_a_device(void **state)
{
	struct gkf_share a = gkf_share_at(&training, 150, 2000);
	struct gkf_share b = gkf_share_at(&training, 150, 900);

	(void)state;
	assert_in_range(b.sm, 86, 94);
	assert_in_range(a.sm, b.sm / 2 - 1, b.sm / 2 + 1);
	assert_in_range(a.mem, a.sm / 2 - 1, a.sm / 2 + 1);
}

static int64_t get(enum gkf_value value)
{
	int64_t v = -1;

	assert_true(gkf_value_get(fx.m, 0, value, &v));
	return v;
}

static void a_set_value_is_seen_and_given_back(void **state)
{
	int64_t before = get(GKF_V_TEMPERATURE);

	(void)state;
	assert_int_equal(gkf_value_set(fx.m, 0, GKF_V_TEMPERATURE, 95), 0);
	assert_int_equal(get(GKF_V_TEMPERATURE), 95);
	assert_int_equal(gkf_value_set(fx.m, 0, GKF_V_TEMPERATURE, GKF_UNSET),
			 0);
	assert_in_range(get(GKF_V_TEMPERATURE), before, 95);
	assert_int_equal(gkf_value_set(fx.m, 0, GKF_V_TEMPERATURE, 151),
			 GK_ERR_RANGE);
	assert_int_equal(gkf_value_set(fx.m, 0, GKF_V_POWER_LIMIT, 99999),
			 GK_ERR_RANGE);
	assert_int_equal(gkf_value_set(fx.m, 0, GKF_V_FAN, 50),
			 GK_ERR_NOT_SUPPORTED);
}

static void a_passive_board_has_no_fan(void **state)
{
	int64_t v = 1234;

	(void)state;
	assert_false(gkf_value_get(fx.m, 0, GKF_V_FAN, &v));
	assert_int_equal(v, 1234);
	gkf_file_board(fx.file, 0)->profile.fans = 2;
	gkf_file_board(fx.file, 0)->profile.fan_min_percent = 30;
	gkf_machine_close(fx.m);
	assert_int_equal(gkf_machine_open(NULL, &fx.m), 0);
	fx.file = gkf_machine_file(fx.m);
	gkf_machine_age(fx.m, 40 * GKF_BIN_NS);
	assert_in_range(get(GKF_V_FAN), 30, 100);
}

static void extra_memory_takes_room(void **state)
{
	struct gkf_memory a, b;

	(void)state;
	gkf_memory(fx.m, 0, &a);
	assert_int_equal(gkf_value_set(fx.m, 0, GKF_V_EXTRA_MEMORY, GIB), 0);
	gkf_memory(fx.m, 0, &b);
	assert_int_equal(b.used - a.used, GIB);
	assert_int_equal(a.free - b.free, GIB);
	assert_int_equal(gkf_value_set(fx.m, 0, GKF_V_EXTRA_MEMORY, 1000 * GIB),
			 0);
	gkf_memory(fx.m, 0, &b);
	assert_int_equal(b.free, 0);
	assert_int_equal(b.used + b.reserved, b.total);
}

/* The state depends on time alone, not on when it was read. */
static void looking_often_changes_nothing(void **state)
{
	struct gkf_wave wave = training;
	struct gkf_state often, once;
	unsigned slot[2];

	(void)state;
	wave.start_bin = 0;
	for (unsigned d = 0; d < 2; d++) {
		assert_int_equal(
		    gkf_attach(fx.m, d, GKF_COMPUTE, &wave, &slot[d]), 0);
		fx.file->slot[slot[d]].wave.start_bin = 0;
		fx.file->device[d].state[0] = (struct gkf_state){0};
		fx.file->device[d].state_seq = 0;
	}
	for (int i = 0; i < 100; i++) {
		gkf_machine_age(fx.m, GKF_BIN_NS);
		gkf_state_now(fx.m, 0, &often);
	}
	gkf_state_now(fx.m, 1, &once);
	while (often.bin < once.bin)
		gkf_state_now(fx.m, 0, &often);
	while (once.bin < often.bin)
		gkf_state_now(fx.m, 1, &once);
	assert_true(often.bin >= 100);
	assert_memory_equal(&often, &once, sizeof once);
}

/* The clock after 20 seconds of a GPU on which a process waits. */
static int64_t clock_after(int64_t rest_bins)
{
	const struct gkf_wave idle = {.kind = GKF_WAVE_STEADY};
	struct gkf_state s;
	unsigned slot;

	assert_int_equal(gkf_attach(fx.m, 0, GKF_COMPUTE, &idle, &slot), 0);
	for (unsigned i = 0; i < 2; i++)
		fx.file->device[0].state[i].rest_bins = rest_bins;
	gkf_state_now(fx.m, 0, &s);
	assert_in_range(s.rest_bins, 0, 1000000);
	gkf_machine_age(fx.m, 20 * GKF_BINS_PER_S * GKF_BIN_NS);
	gkf_state_now(fx.m, 0, &s);
	assert_int_equal(gkf_detach(fx.m, slot), 0);
	return s.sm_clock_mhz;
}

/* An overwritten rest time keeps no GPU awake. */
static void an_overwritten_rest_ends(void **state)
{
	struct gkf_profile p = gkf_profile_default;

	(void)state;
	p.pstate_idle = 8;
	fixture_open_of(&fx, &p, 1);
	assert_int_equal(clock_after(INT64_MIN), p.sm_clock_idle_mhz);
	assert_int_equal(clock_after(-1000000), p.sm_clock_idle_mhz);
	assert_int_equal(clock_after(INT64_MAX), p.sm_clock_idle_mhz);
	fixture_close(&fx);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, open_two, close_it)
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(training_warms_up_works_and_dips),
	    cmocka_unit_test(inference_swings_around_its_mean),
	    cmocka_unit_test(waiting_processes_are_never_busy),
	    cmocka_unit_test(an_idle_gpu_rests),
	    cmocka_unit_test(an_overwritten_rest_ends),
	    cmocka_unit_test(a_busy_gpu_draws_power_and_heats),
	    cmocka_unit_test(a_power_limit_takes_clocks),
	    cmocka_unit_test(heat_takes_clocks),
	    cmocka_unit_test(a_dead_fan_does_not_melt_the_board),
	    cmocka_unit_test(software_holds_the_core_cool),
	    cmocka_unit_test(clocks_are_held_where_they_are_asked),
	    cmocka_unit_test(an_offset_shifts_the_clocks),
	    cmocka_unit_test(hardware_slows_down_when_asked),
	    cmocka_unit_test(inference_draws_less_than_training),
	    cmocka_unit_test(links_carry_what_is_counted),
	    cmocka_unit_test(fans_follow_the_heat),
	    cmocka_unit_test(processes_share_a_device),
	    T(a_set_value_is_seen_and_given_back),
	    T(a_passive_board_has_no_fan),
	    T(extra_memory_takes_room),
	    T(looking_often_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
