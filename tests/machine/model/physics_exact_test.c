/* SPDX-License-Identifier: Apache-2.0 */
/*
 * physics_exact_test.c - pins the model's figures to the last digit, so that no
 * change goes unnoticed. physics_test.c checks that they are within a tenth of
 * what was measured. The rows are recorded: after an intended change of the
 * model, record them again and review each.
 */
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/state.h"
#include "machine/file/value.h"
#include "machine/model/physics.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

/* A board with fans, P-states and a memory clock that goes down. */
static struct gkf_profile card(void)
{
	struct gkf_profile p = gkf_profile_default;

	p.power_idle_mw = 20000;
	p.power_busy_mw = 320000;
	p.power_limit_mw = 300000;
	p.power_max_mw = 350000;
	p.mem_power_idle_mw = 5000;
	p.sm_clock_idle_mhz = 300;
	p.sm_clock_busy_mhz = 1800;
	p.sm_clock_max_mhz = 2100;
	p.mem_clock_idle_mhz = 500;
	p.mem_clock_busy_mhz = 9000;
	p.mem_clock_max_mhz = 10000;
	p.video_clock_idle_mhz = 500;
	p.video_clock_max_mhz = 1800;
	p.pstate_idle = 8;
	p.pstate_busy = 2;
	p.temp_idle_c = 35;
	p.temp_busy_c = 75;
	p.temp_tau_s = 30;
	p.temp_slowdown_c = 90;
	p.temp_shutdown_c = 95;
	p.temp_max_c = 88;
	p.temp_target_c = 83;
	p.mem_temp_idle_c = 40;
	p.mem_temp_busy_c = 85;
	p.fans = 2;
	p.fan_max_rpm = 3000;
	p.bus_width_bits = 384;
	p.nvlinks = 4;
	p.pcie_width = 8;
	return p;
}

enum { SETS = 3, FIGURES = 19 };

struct row {
	const char *what;
	unsigned bins;
	struct gkf_drive drive;
	struct {
		enum gkf_value value;
		int64_t to;
	} set[SETS];
	int64_t figure[FIGURES];
};

#define FIGURE(member) offsetof(struct gkf_state, member)
static const size_t figures[FIGURES] = {
    FIGURE(temp_mc),         FIGURE(mem_temp_mc),  FIGURE(power_mw),
    FIGURE(mem_power_mw),    FIGURE(gpu_util),     FIGURE(mem_util),
    FIGURE(sm_active),       FIGURE(sm_occupancy), FIGURE(tensor_active),
    FIGURE(dram_active),     FIGURE(sm_clock_mhz), FIGURE(mem_clock_mhz),
    FIGURE(video_clock_mhz), FIGURE(pstate),       FIGURE(throttle),
    FIGURE(fan_permille),    FIGURE(rest_bins),    FIGURE(pcie_tx_kbs),
    FIGURE(nvlink_rx_kbs)};

#define TRAIN(n) .attached = 1, .demand = (n), .kind = {[GKF_WAVE_TRAIN] = (n)}
#define INFER(n) .attached = 1, .demand = (n), .kind = {[GKF_WAVE_INFER] = (n)}
#define REAL(n)  .attached = 1, .demand = (n), .kind = {[GKF_WAVE_REAL] = (n)}

static const struct row module_rows[] = {
    {"at rest",
     1,
     {.attached = 0},
     {{0}},
     {31000, 35000, 62000, 37200, 0, 0, 0, 0, 0, 0, 210, 1593, 585, 0, 1, 0, 60,
      350, 0}},
    {"training begins",
     1,
     {TRAIN(1000), .mem = 500, .links = 12},
     {{0}},
     {31221, 35252, 375620, 73280, 100, 50, 950, 450, 600, 500, 1410, 1593,
      1290, 0, 0, 0, 0, 320350, 45000000}},
    {"training a while",
     60,
     {TRAIN(1000), .mem = 500, .links = 12},
     {{0}},
     {41978, 46879, 375620, 73280, 100, 50, 950, 450, 600, 500, 1410, 1593,
      1290, 0, 0, 0, 0, 320350, 45000000}},
    {"training settled",
     1800,
     {TRAIN(1000), .mem = 500},
     {{0}},
     {64317, 66155, 375620, 73280, 100, 50, 950, 450, 600, 500, 1410, 1593,
      1290, 0, 0, 0, 0, 320350, 0}},
    {"inference",
     600,
     {INFER(450), .mem = 120, .enc = 250, .dec = 30},
     {{0}},
     {43530, 46541, 182330, 50680, 45, 12, 315, 135, 112, 120, 1410, 1593, 1290,
      0, 0, 0, 0, 144350, 0}},
    {"as recorded",
     60,
     {.attached = 1,
      .demand = 700,
      .kind = {[GKF_WAVE_STEADY] = 700},
      .jpg = 200,
      .ofa = 1300},
     {{0}},
     {39380, 40530, 301492, 53272, 70, 0, 665, 315, 420, 0, 1410, 1593, 1290, 0,
      0, 0, 0, 224350, 0}},
    {"kernels that copy",
     60,
     {REAL(800), .moved = {100000000, 50000000, 9000000000}},
     {{0}},
     {38390, 41573, 273284, 56880, 80, 5, 720, 360, 0, 50, 1410, 1593, 1290, 0,
      0, 0, 0, 300350, 0}},
    {"copies alone",
     1,
     {.attached = 1, .moved = {0, 700, 0}},
     {{0}},
     {31013, 35000, 80420, 37200, 0, 0, 0, 0, 0, 0, 1410, 1593, 1290, 0, 1, 0,
      0, 355, 0}},
    {"too much wanted",
     30,
     {.attached = 3,
      .demand = 2500,
      .mem = 2000,
      .kind = {[GKF_WAVE_TRAIN] = 1500, [GKF_WAVE_INFER] = 1000}},
     {{0}},
     {36612, 43085, 353644, 81152, 100, 80, 850, 390, 460, 800, 1410, 1593,
      1290, 0, 0, 0, 0, 320350, 0}},
    {"a forced utilisation",
     30,
     {.attached = 0},
     {{GKF_V_GPU_UTIL, 50}},
     {34063, 37164, 221460, 48680, 50, 0, 475, 225, 300, 0, 1410, 1593, 1290, 0,
      0, 0, 0, 160350, 0}},
    {"a forced half of what is wanted",
     30,
     {TRAIN(800), .mem = 400},
     {{GKF_V_GPU_UTIL, 40}, {GKF_V_MEM_UTIL, 77}},
     {33907, 40367, 213457, 66588, 40, 77, 380, 180, 240, 770, 1410, 1593, 1290,
      0, 0, 0, 0, 128350, 0}},
    {"a power limit",
     60,
     {TRAIN(1000), .mem = 600},
     {{GKF_V_POWER_LIMIT, 200000}},
     {35703, 47234, 196745, 75904, 100, 60, 950, 450, 600, 600, 750, 1593, 690,
      0, 4, 0, 0, 320350, 0}},
    {"a limit that is never reached",
     60,
     {TRAIN(1000), .mem = 600},
     {{GKF_V_POWER_LIMIT, 100000}},
     {32915, 47031, 117287, 75904, 100, 60, 950, 450, 600, 600, 210, 1593, 585,
      0, 4, 0, 0, 320350, 0}},
    {"max-q",
     60,
     {TRAIN(1000), .mem = 600},
     {{GKF_V_POWER_PROFILES, 2}},
     {39953, 47539, 317744, 75904, 100, 60, 950, 450, 600, 600, 1230, 1593,
      1125, 0, 4, 0, 0, 320350, 0}},
    {"locked clocks",
     30,
     {TRAIN(500)},
     {{GKF_V_LOCK_SM_MIN, 600}, {GKF_V_LOCK_SM_MAX, 1005}},
     {32785, 37115, 155347, 48680, 50, 0, 475, 225, 300, 0, 1005, 1593, 915, 0,
      2, 0, 0, 160350, 0}},
    {"a lock at rest",
     30,
     {.attached = 0},
     {{GKF_V_LOCK_SM_MIN, 900}, {GKF_V_LOCK_MEM_MIN, 1600}},
     {31138, 35000, 69891, 37200, 0, 0, 0, 0, 0, 0, 900, 1600, 825, 0, 1, 0, 60,
      350, 0}},
    {"application clocks",
     30,
     {TRAIN(500)},
     {{GKF_V_APP_SM, 1200}, {GKF_V_APP_MEM, 1000}},
     {33265, 36368, 180175, 44406, 50, 0, 475, 225, 300, 0, 1200, 1000, 1095, 0,
      2, 0, 0, 160350, 0}},
    {"soft heat",
     1,
     {TRAIN(1000)},
     {{GKF_V_TEMPERATURE, 86}},
     {86000, 35311, 206651, 60160, 100, 0, 950, 450, 600, 0, 870, 1593, 795, 0,
      32, 0, 0, 320350, 0}},
    {"almost soft heat",
     1,
     {TRAIN(1000)},
     {{GKF_V_TEMPERATURE, 84}},
     {84000, 35305, 362500, 60160, 100, 0, 950, 450, 600, 0, 1410, 1593, 1290,
      0, 0, 0, 0, 320350, 0}},
    {"hard heat",
     1,
     {TRAIN(1000)},
     {{GKF_V_TEMPERATURE, 89}},
     {89000, 35319, 172916, 60160, 100, 0, 950, 450, 600, 0, 705, 1593, 645, 0,
      72, 0, 0, 320350, 0}},
    {"too hot",
     1,
     {TRAIN(1000)},
     {{GKF_V_TEMPERATURE, 92}},
     {92000, 35327, 101543, 60160, 100, 0, 950, 450, 600, 0, 210, 1593, 585, 0,
      72, 0, 0, 320350, 0}},
    {"slowed down",
     1,
     {TRAIN(1000)},
     {{GKF_V_SLOWDOWN, 1}},
     {31078, 35160, 172916, 60160, 100, 0, 950, 450, 600, 0, 705, 1593, 645, 0,
      8, 0, 0, 320350, 0}},
    {"braked",
     1,
     {TRAIN(1000)},
     {{GKF_V_POWER_BRAKE, 1}},
     {31078, 35160, 172916, 60160, 100, 0, 950, 450, 600, 0, 705, 1593, 645, 0,
      136, 0, 0, 320350, 0}},
    {"hot memory",
     1,
     {TRAIN(1000)},
     {{GKF_V_MEM_TEMPERATURE, 90},
      {GKF_V_POWER, 123456},
      {GKF_V_SM_CLOCK, 700}},
     {31043, 90000, 123456, 60160, 100, 0, 950, 450, 600, 0, 700, 1593, 645, 0,
      0, 0, 0, 320350, 0}},
    {"a power floor",
     10,
     {TRAIN(100), .floor_permille = 500, .floor_bins = 5},
     {{0}},
     {31941, 35161, 200000, 39496, 10, 0, 95, 45, 60, 0, 1410, 1593, 1290, 0, 0,
      0, 0, 32350, 0}},
    {"a floor that is over",
     10,
     {.attached = 1, .floor_permille = 500, .floor_bins = 9},
     {{0}},
     {31121, 35000, 80420, 37200, 0, 0, 0, 0, 0, 0, 1410, 1593, 1290, 0, 1, 0,
      60, 350, 0}},
    {"a floor yet",
     9,
     {.attached = 1, .floor_permille = 500, .floor_bins = 69},
     {{0}},
     {31850, 35008, 200000, 37200, 0, 0, 0, 0, 0, 0, 1410, 1593, 1290, 0, 1, 0,
      60, 350, 0}},
    {"a narrow bus",
     1,
     {TRAIN(1000), .moved = {9000000000, 9000000000, 0}},
     {{GKF_V_PCIE_GEN, 1}, {GKF_V_PCIE_WIDTH, 4}},
     {31213, 35169, 363812, 61472, 100, 5, 950, 450, 600, 50, 1410, 1593, 1290,
      0, 0, 0, 0, 1000000, 0}},
    {"forced traffic",
     1,
     {TRAIN(1000), .links = 3},
     {{GKF_V_PCIE_TX, 11}, {GKF_V_NVLINK_RX, 13}},
     {31212, 35160, 362500, 60160, 100, 0, 950, 450, 600, 0, 1410, 1593, 1290,
      0, 0, 0, 0, 11, 13}},
};

static const struct row card_rows[] = {
    {"at rest",
     30,
     {.attached = 0},
     {{0}},
     {35000, 40000, 20000, 5000, 0, 0, 0, 0, 0, 0, 300, 500, 500, 8, 1, 0, 60,
      350, 0}},
    {"training begins",
     1,
     {TRAIN(1000), .mem = 500, .links = 2},
     {{0}},
     {35256, 40392, 297449, 50792, 100, 50, 950, 450, 600, 500, 1785, 9000,
      1530, 2, 4, 0, 0, 160350, 7500000}},
    {"training a while",
     60,
     {TRAIN(1000), .mem = 500},
     {{0}},
     {49547, 58249, 297449, 50792, 100, 50, 950, 450, 600, 500, 1785, 9000,
      1530, 2, 4, 0, 0, 160350, 0}},
    {"training settled",
     3600,
     {TRAIN(1000), .mem = 500},
     {{0}},
     {74852, 85489, 297449, 50792, 100, 50, 950, 450, 600, 500, 1785, 9000,
      1530, 2, 4, 720, 0, 160350, 0}},
    {"an idle context",
     59,
     {.attached = 1},
     {{0}},
     {35000, 40000, 20000, 5000, 0, 0, 0, 0, 0, 0, 300, 500, 500, 8, 1, 0, 60,
      350, 0}},
    {"an idle context for long",
     61,
     {.attached = 1},
     {{0}},
     {35000, 40000, 20000, 5000, 0, 0, 0, 0, 0, 0, 300, 500, 500, 8, 1, 0, 60,
      350, 0}},
    {"higher clocks",
     30,
     {TRAIN(700)},
     {{GKF_V_SM_OFFSET, 150}, {GKF_V_MEM_OFFSET, 500}},
     {40794, 47015, 235214, 36011, 70, 0, 665, 315, 420, 0, 1950, 9500, 1665, 2,
      0, 0, 0, 112350, 0}},
    {"lower clocks",
     30,
     {TRAIN(700)},
     {{GKF_V_SM_OFFSET, -150}, {GKF_V_MEM_OFFSET, -500}},
     {39933, 46247, 203247, 32651, 70, 0, 665, 315, 420, 0, 1650, 8500, 1410, 2,
      0, 0, 0, 112350, 0}},
    {"the highest clocks at rest",
     30,
     {.attached = 0},
     {{GKF_V_POWER_MIZER, 1}},
     {35870, 43554, 52778, 21092, 0, 0, 0, 0, 0, 0, 1800, 9000, 1545, 2, 1, 0,
      60, 350, 0}},
    {"a driven fan",
     50,
     {.attached = 0},
     {{GKF_V_FAN_TARGET, 80}},
     {34436, 39990, 20000, 5000, 0, 0, 0, 0, 0, 0, 300, 500, 500, 8, 1, 500, 60,
      350, 0}},
    {"a fan that stands",
     50,
     {TRAIN(1000)},
     {{GKF_V_FAN, 0}},
     {46934, 52249, 290678, 39992, 100, 0, 950, 450, 600, 0, 1800, 9000, 1545,
      2, 0, 0, 0, 160350, 0}},
    {"a fan driven down",
     900,
     {TRAIN(1000)},
     {{GKF_V_FAN_TARGET, 35}},
     {82335, 78959, 225266, 39992, 100, 0, 950, 450, 600, 0, 1500, 9000, 1290,
      2, 32, 350, 0, 160350, 0}},
    {"a low target",
     900,
     {TRAIN(1000)},
     {{GKF_V_TARGET_TEMPERATURE, 65}},
     {64870, 74593, 202514, 39992, 100, 0, 950, 450, 600, 0, 1380, 9000, 1185,
      2, 32, 560, 0, 160350, 0}},
    {"hot",
     3,
     {TRAIN(1000)},
     {{GKF_V_TEMPERATURE, 88}},
     {88000, 41317, 90413, 39992, 100, 0, 950, 450, 600, 0, 540, 9000, 500, 2,
      32, 30, 0, 160350, 0}},
    {"less memory clock",
     30,
     {TRAIN(1000), .mem = 900},
     {{GKF_V_LOCK_MEM_MAX, 5000}},
     {42154, 46810, 285500, 34814, 100, 90, 950, 450, 600, 900, 1800, 5000,
      1545, 2, 0, 0, 0, 160350, 0}},
    {"a forced memory clock",
     30,
     {TRAIN(1000), .mem = 900},
     {{GKF_V_MEM_CLOCK, 4000}},
     {41988, 45450, 279350, 28664, 100, 90, 950, 450, 600, 900, 1800, 4000,
      1545, 2, 0, 0, 0, 160350, 0}},
    {"video alone",
     30,
     {.attached = 1, .enc = 500, .dec = 800},
     {{0}},
     {36501, 43575, 76178, 21092, 0, 0, 0, 0, 0, 0, 1800, 9000, 1545, 2, 0, 0,
      0, 350, 0}},
    {"a low limit",
     30,
     {TRAIN(1000)},
     {{GKF_V_POWER_LIMIT, 120000}},
     {37640, 47768, 118379, 39992, 100, 0, 950, 450, 600, 0, 810, 9000, 690, 2,
      4, 0, 0, 160350, 0}},
};

/* A drive with nothing set but the values of a row. */
static struct gkf_drive drive_of(const struct row *r)
{
	struct gkf_drive d = r->drive;

	/* Loads are on several GPUs. */
	d.nvlink = d.kind[GKF_WAVE_TRAIN] * 150 / 1000;
	d.pcie_out = 500;
	for (int v = 0; v < GKF_V_COUNT; v++)
		d.set[v] = GKF_UNSET;
	for (int i = 0; i < SETS; i++)
		if (r->set[i].value || r->set[i].to)
			d.set[r->set[i].value] = r->set[i].to;
	return d;
}

static int64_t figure_of(const struct gkf_state *s, int i)
{
	int64_t is;

	memcpy(&is, (const char *)s + figures[i], sizeof is);
	return is;
}

static unsigned compare(const struct row *r, const struct gkf_state *s)
{
	unsigned wrong = 0;

	for (int i = 0; i < FIGURES; i++)
		wrong += figure_of(s, i) != r->figure[i];
	if (!wrong)
		return 0;
	print_message("%s:\n", r->what);
	for (int i = 0; i < FIGURES; i++)
		print_message("%s%lld", i ? ", " : "",
			      (long long)figure_of(s, i));
	print_message("\n");
	return 1;
}

static void assert_rows(const struct gkf_profile *p, const struct row *rows,
			size_t count)
{
	unsigned wrong = 0;

	for (size_t i = 0; i < count; i++) {
		struct gkf_drive d = drive_of(&rows[i]);
		struct gkf_state s;

		gkf_physics_rest(p, &s);
		for (unsigned n = 0; n < rows[i].bins; n++)
			gkf_physics_step(p, &d, &s);
		wrong += compare(&rows[i], &s);
	}
	assert_int_equal(wrong, 0);
}

static void a_module_does_what_it_always_did(void **state)
{
	(void)state;
	assert_rows(&gkf_profile_default, module_rows, COUNT(module_rows));
}

static void a_card_does_what_it_always_did(void **state)
{
	struct gkf_profile p = card();

	(void)state;
	assert_rows(&p, card_rows, COUNT(card_rows));
}

/* By hand: what one bin of a figure adds to its sum. */
static void sums_grow_by_the_figures_of_the_bin(void **state)
{
	struct gkf_drive d = {TRAIN(500), .mem = 300, .enc = 110, .dec = 220,
			      .jpg = 330, .ofa = 440, .links = 2};
	struct gkf_state s, last;

	(void)state;
	for (int v = 0; v < GKF_V_COUNT; v++)
		d.set[v] = GKF_UNSET;
	d.set[GKF_V_POWER] = 100001;
	d.set[GKF_V_PCIE_TX] = 600;
	d.set[GKF_V_PCIE_RX] = 1200;
	d.set[GKF_V_NVLINK_TX] = 1800;
	d.set[GKF_V_NVLINK_RX] = 2400;
	gkf_physics_rest(&gkf_profile_default, &s);
	for (unsigned bin = 1; bin <= 7; bin++) {
		gkf_physics_step(&gkf_profile_default, &d, &s);
		assert_int_equal(s.bin, bin);
		assert_int_equal(s.energy_mwbins, bin * 100001);
		assert_int_equal(s.energy_uj, bin * 100001000 / 6);
		assert_int_equal(s.pcie_tx_bytes, bin * 100000);
		assert_int_equal(s.pcie_rx_bytes, bin * 200000);
		assert_int_equal(s.nvlink_tx_bytes, bin * 300000);
		assert_int_equal(s.nvlink_rx_bytes, bin * 400000);
		assert_int_equal(s.gpu_sum, bin * 500);
		assert_int_equal(s.sm_active_sum, bin * 475);
		assert_int_equal(s.sm_occupancy_sum, bin * 225);
		assert_int_equal(s.tensor_sum, bin * 300);
		assert_int_equal(s.dram_sum, bin * 300);
		assert_int_equal(s.enc_sum, bin * 110);
		assert_int_equal(s.dec_sum, bin * 220);
		assert_int_equal(s.jpg_sum, bin * 330);
		assert_int_equal(s.ofa_sum, bin * 440);
		if (bin == 6)
			last = s;
	}
	/* One bin repeated a hundred times equals a hundred bins. */
	assert_false(gkf_physics_is_steady(&last, &s));
	gkf_physics_repeat(&last, &s, 100);
	assert_int_equal(s.bin, 107);
	assert_int_equal(s.energy_mwbins, 107 * 100001);
	assert_int_equal(s.energy_uj, 107ULL * 100001000 / 6);
	assert_int_equal(s.ofa_sum, 107 * 440);
	assert_int_equal(s.pcie_rx_bytes, 107 * 200000);
	last = s;
	last.bin++;
	last.energy_uj++;
	assert_true(gkf_physics_is_steady(&last, &s));
	last.nvlink_rx_kbs++;
	assert_false(gkf_physics_is_steady(&last, &s));
}

static void time_is_spent_under_each_reason(void **state)
{
	struct gkf_drive d = {.attached = 0};
	struct gkf_state s;

	(void)state;
	for (int v = 0; v < GKF_V_COUNT; v++)
		d.set[v] = GKF_UNSET;
	gkf_physics_rest(&gkf_profile_default, &s);
	/* Each bit alone, for one bin more than its number. */
	for (unsigned bit = 0; bit < GKF_REASONS; bit++) {
		d.set[GKF_V_THROTTLE] = 1 << bit;
		for (unsigned n = 0; n <= bit; n++)
			gkf_physics_step(&gkf_profile_default, &d, &s);
	}
	for (unsigned bit = 0; bit < GKF_REASONS; bit++)
		assert_int_equal(s.reason_ns[bit], (bit + 1) * GKF_BIN_NS);
	/* Bits 5 and 6 are software and hardware thermal slowdown. */
	assert_int_equal(s.thermal_ns, (6 + 7) * GKF_BIN_NS);
	/* Idle, power cap, sync boost, both thermal slowdowns, power brake. */
	assert_int_equal(s.limited_ns, (1 + 3 + 5 + 6 + 7 + 8) * GKF_BIN_NS);
	d.set[GKF_V_THROTTLE] = 0x60;
	gkf_physics_step(&gkf_profile_default, &d, &s);
	assert_int_equal(s.thermal_ns, 14 * GKF_BIN_NS);
	assert_int_equal(s.limited_ns, 31 * GKF_BIN_NS);
}

/* A card with an idle context rests ten seconds after its last work. */
static void a_card_rests_ten_seconds_after_its_work(void **state)
{
	struct gkf_profile p = card();
	struct gkf_drive d = drive_of(&(struct row){.drive = {TRAIN(1000)}});
	struct gkf_state s;

	(void)state;
	gkf_physics_rest(&p, &s);
	gkf_physics_step(&p, &d, &s);
	assert_int_equal(s.rest_bins, 0);
	d.demand = d.kind[GKF_WAVE_TRAIN] = 0;
	for (int bin = 1; bin < 60; bin++) {
		gkf_physics_step(&p, &d, &s);
		assert_int_equal(s.rest_bins, bin);
		assert_int_equal(s.pstate, 2);
		assert_int_equal(s.sm_clock_mhz, 1800);
		assert_int_equal(s.throttle, GKF_REASON_IDLE);
	}
	for (int bin = 60; bin < 63; bin++) {
		gkf_physics_step(&p, &d, &s);
		assert_int_equal(s.rest_bins, 60);
		assert_int_equal(s.pstate, 8);
		assert_int_equal(s.sm_clock_mhz, 300);
	}
	/* Work of a single engine is no rest. */
	for (int i = 0; i < 4; i++) {
		uint32_t *engine =
		    (uint32_t *[]){&d.enc, &d.dec, &d.jpg, &d.ofa}[i];

		*engine = 100;
		gkf_physics_step(&p, &d, &s);
		assert_int_equal(s.pstate, 2);
		assert_int_equal(s.rest_bins, 0);
		assert_int_equal(s.throttle, 0);
		*engine = 0;
	}
	/* A copy in any direction is work. */
	for (int i = 0; i < GKF_DIRECTIONS; i++) {
		d.moved[i] = 1;
		gkf_physics_step(&p, &d, &s);
		assert_int_equal(s.pstate, 2);
		assert_int_equal(s.rest_bins, 0);
		d.moved[i] = 0;
		for (int bin = 0; bin < 60; bin++)
			gkf_physics_step(&p, &d, &s);
		assert_int_equal(s.pstate, 8);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_module_does_what_it_always_did),
	    cmocka_unit_test(a_card_does_what_it_always_did),
	    cmocka_unit_test(a_card_rests_ten_seconds_after_its_work),
	    cmocka_unit_test(sums_grow_by_the_figures_of_the_bin),
	    cmocka_unit_test(time_is_spent_under_each_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
