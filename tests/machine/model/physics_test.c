/* SPDX-License-Identifier: Apache-2.0 */
/*
 * physics_test.c - compares the model with measurements of real boards: it
 * meets the figures of tests/data/captures/physics.csv within a tenth. Each
 * comparison is printed.
 */
#include "base/clock.h"
#include "base/mix.h"
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
#include "machine/store/clock.h"
#include "machine/store/process/ledger.h"
#include "machine/store/machine.h"
#include "machine/trouble/machine.h"
#include "machine/words/profile_yaml.h"

#define DATA     TEST_DATA "/captures"
#define PROFILES TEST_DATA "/../../profiles"

#define TOLERANCE 100 /* permille */
#define SETTLED   (1800 * GKF_BINS_PER_S)

#define FIGURES 10

/* A row: the board's load and its readings; -1: no reading. */
struct capture {
	char name[64], profile[64];
	int64_t after_s, gpu, mem, enc, load;
	int64_t figure[FIGURES];
};

static const struct {
	const char *name;
	size_t offset;
	int64_t scale;
	bool exact;
} figures[FIGURES] = {
#define FIGURE(name, member, scale, exact)                                     \
	{                                                                      \
		name, offsetof(struct gkf_state, member), scale, exact         \
	}
    FIGURE("power", power_mw, 1, false),
    FIGURE("memory power", mem_power_mw, 1, false),
    FIGURE("temperature", temp_mc, 1000, false),
    FIGURE("memory temperature", mem_temp_mc, 1000, false),
    FIGURE("SM clock", sm_clock_mhz, 1, false),
    FIGURE("memory clock", mem_clock_mhz, 1, false),
    FIGURE("video clock", video_clock_mhz, 1, false),
    FIGURE("P-state", pstate, 1, true),
    FIGURE("fan", fan_permille, 10, false),
    FIGURE("reasons", throttle, 1, true),
};

static struct gkf_profile profile_of(const struct capture *c)
{
	char path[512], message[GKF_PROFILE_MESSAGE_MAX] = "";
	struct gkf_profile p;

	snprintf(path, sizeof path, "%s%s",
		 strchr(c->profile, '.') ? DATA "/" : "", c->profile);
	if (gkf_profile_load(PROFILES, path, &p, message, sizeof message))
		fail_msg("%s", message);
	return p;
}

static struct gkf_drive drive_of(const struct capture *c)
{
	struct gkf_drive d = {
	    .attached = c->after_s > 0,
	    .demand = (uint32_t)c->gpu * 10,
	    .mem = (uint32_t)c->mem * 10,
	    .enc = (uint32_t)c->enc * 10,
	    .kind = {[GKF_WAVE_TRAIN] = (uint32_t)(c->gpu * c->load / 100)},
	};

	for (int v = 0; v < GKF_V_COUNT; v++)
		d.set[v] = GKF_UNSET;
	return d;
}

static void run(const struct gkf_profile *p, const struct gkf_drive *d,
		struct gkf_state *s, int64_t bins)
{
	for (int64_t i = 0; i < bins; i++)
		gkf_physics_step(p, d, s);
}

/* Prints each figure of the row; returns how many are too far off. */
static unsigned compare(const struct capture *c, const char *when,
			const struct gkf_state *s)
{
	unsigned wrong = 0;

	for (int i = 0; i < FIGURES; i++) {
		int64_t is, off, want = c->figure[i];

		memcpy(&is, (const char *)s + figures[i].offset, sizeof is);
		if (want < 0)
			continue;
		off = llabs(is - want * figures[i].scale) * 1000;
		wrong += figures[i].exact
			     ? off != 0
			     : off > want * figures[i].scale * TOLERANCE;
		print_message("%-26s %-8s %-18s %9lld %11.1f %+5.1f %%\n",
			      c->name, when, figures[i].name, (long long)want,
			      (double)is / (double)figures[i].scale,
			      want ? (double)is / (double)figures[i].scale /
					     (double)want * 100 -
					 100
				   : 0.0);
	}
	return wrong;
}

static unsigned check(const struct capture *c, const struct gkf_profile *p,
		      struct gkf_state *s)
{
	struct gkf_drive d = drive_of(c);
	unsigned wrong;

	if (!c->after_s) {
		run(p, &d, s, SETTLED);
		return compare(c, "rest", s);
	}
	run(p, &d, s, c->after_s * GKF_BINS_PER_S);
	wrong = compare(c, "load", s);
	/* Fans and a warm case take longer than some seconds to settle. */
	if (p->fans)
		return wrong;
	run(p, &d, s, SETTLED);
	return wrong + compare(c, "settled", s);
}

static bool parse(char *line, struct capture *ret)
{
	int64_t *number[] = {&ret->after_s, &ret->gpu, &ret->mem, &ret->enc,
			     &ret->load};
	char *rest = line, *word = strsep(&rest, ",");

	if (*line == '#' || !strcmp(word, "capture"))
		return false;
	snprintf(ret->name, sizeof ret->name, "%s", word);
	snprintf(ret->profile, sizeof ret->profile, "%s", strsep(&rest, ","));
	for (size_t i = 0; i < sizeof number / sizeof *number; i++)
		*number[i] = atoll(strsep(&rest, ","));
	for (int i = 0; i < FIGURES; i++) {
		word = strsep(&rest, ",");
		assert_non_null(word);
		ret->figure[i] = *word == '-' ? -1 : atoll(word);
	}
	return true;
}

static void captures_are_met_within_a_tenth(void **state)
{
	FILE *f = fopen(DATA "/physics.csv", "re");
	unsigned rows = 0, wrong = 0;
	struct gkf_profile p;
	struct gkf_state s = {0};
	struct capture c;
	char line[512];

	(void)state;
	assert_non_null(f);
	while (fgets(line, sizeof line, f)) {
		if (!parse(line, &c))
			continue;
		rows++;
		if (!c.after_s) {
			p = profile_of(&c);
			gkf_physics_rest(&p, &s);
		}
		wrong += check(&c, &p, &s);
	}
	fclose(f);
	assert_int_equal(rows, 12);
	assert_int_equal(wrong, 0);
}

/* The same for the values shown by a machine with a process on it. */
static void a_machine_shows_what_the_captures_say(void **state)
{
	static const struct {
		const char *profile;
		uint32_t mem_permille;
		int64_t power_mw, temp_c, mem_temp_c, sm_mhz;
	} rows[] = {
	    {"h200", 70, 627320, 52, 41, 1980},
	    {"h100-80gb-hbm3", 110, 629450, 59, 55, 1980},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct gkf_wave wave = {.kind = GKF_WAVE_TRAIN,
					.util_permille = 5000,
					.mem_permille = rows[i].mem_permille,
					.period_ns = 3600 * GK_NS_PER_S};
		struct {
			enum gkf_value value;
			int64_t want;
		} shown[] = {
		    {GKF_V_POWER_AVERAGE, rows[i].power_mw},
		    {GKF_V_POWER, rows[i].power_mw},
		    {GKF_V_TEMPERATURE, rows[i].temp_c},
		    {GKF_V_MEM_TEMPERATURE, rows[i].mem_temp_c},
		    {GKF_V_SM_CLOCK, rows[i].sm_mhz},
		};
		struct capture c = {.load = 1000};
		struct fixture fx;
		unsigned slot;

		snprintf(c.profile, sizeof c.profile, "%s", rows[i].profile);
		fixture_open(&fx, 1);
		gkf_file_board(fx.file, 0)->profile = profile_of(&c);
		gkf_machine_close(fx.m);
		assert_int_equal(gkf_machine_open(NULL, &fx.m), 0);
		fx.file = gkf_machine_file(fx.m);
		assert_int_equal(gkf_attach(fx.m, 0, GKF_COMPUTE, &wave, &slot),
				 0);
		gkf_machine_age(fx.m, 300 * GK_NS_PER_S);
		for (size_t v = 0; v < sizeof shown / sizeof *shown; v++) {
			int64_t is = -1;

			assert_true(
			    gkf_value_get(fx.m, 0, shown[v].value, &is));
			assert_in_range(is * 10, shown[v].want * 9,
					shown[v].want * 11);
		}
		fixture_close(&fx);
	}
}

static const char *const shipped[] = {
    "a100-pcie-40gb", "a100-sxm4-80gb", "b200",     "gtx-1080-ti",
    "h100-80gb-hbm3", "h200",           "l4",       "l40s",
    "rtx-2080-ti",    "rtx-3090",       "rtx-4090", "t4",
    "v100-sxm2-32gb",
};

/* After a long rest nothing changes, and the values are the profile's. */
static void check_rest(const struct gkf_profile *p)
{
	struct capture nothing = {.load = 1000};
	struct gkf_drive d = drive_of(&nothing);
	struct gkf_state before, s;

	gkf_physics_rest(p, &s);
	run(p, &d, &s, SETTLED);
	assert_int_equal(s.power_mw, p->power_idle_mw);
	assert_in_range(s.temp_mc, p->temp_idle_c * 1000 - 500,
			p->temp_idle_c * 1000 + 500);
	assert_int_equal(s.sm_clock_mhz, p->sm_clock_idle_mhz);
	assert_int_equal(s.pstate, p->pstate_idle);
	before = s;
	run(p, &d, &s, 1);
	assert_true(gkf_physics_is_steady(&before, &s));
}

/* Under full load the limits hold and the values settle. */
static void check_full(const struct gkf_profile *p)
{
	struct capture full = {
	    .after_s = 1, .gpu = 100, .mem = 100, .load = 1000};
	struct gkf_drive d = drive_of(&full);
	struct gkf_state s;

	gkf_physics_rest(p, &s);
	run(p, &d, &s, SETTLED);
	print_message("%-16s full load: %4lld of %4lld MHz, %5.1f of %5.1f W, "
		      "%lld C, fan %lld %%, reasons 0x%llx\n",
		      p->id, (long long)s.sm_clock_mhz,
		      (long long)p->sm_clock_max_mhz, (double)s.power_mw / 1e3,
		      (double)p->power_limit_mw / 1e3,
		      (long long)s.temp_mc / 1000,
		      (long long)s.fan_permille / 10, (long long)s.throttle);
	assert_in_range(s.power_mw, p->power_limit_mw * 9 / 10,
			p->power_limit_mw);
	assert_in_range(s.temp_mc, p->temp_busy_c * 1000 - 4000,
			p->temp_busy_c * 1000 + 1000);
	assert_int_equal(s.throttle & ~GKF_REASON_SW_POWER_CAP, 0);
	assert_in_range(s.sm_clock_mhz, p->sm_clock_max_mhz / 2,
			p->sm_clock_busy_mhz);
	assert_int_equal(s.pstate, p->pstate_busy);
}

static void every_profile_rests_and_settles(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof shipped / sizeof *shipped; i++) {
		struct capture c = {.load = 1000};
		struct gkf_profile p;

		snprintf(c.profile, sizeof c.profile, "%s", shipped[i]);
		p = profile_of(&c);
		check_rest(&p);
		check_full(&p);
	}
}

/* A number from a range, its ends more often than the rest. */
static int64_t any(uint64_t *seed, int64_t low, int64_t high)
{
	uint64_t r = *seed = gkf_mix(*seed);

	if (r % 4 == 0)
		return low;
	if (r % 4 == 1)
		return high;
	return low + (int64_t)((r >> 2) % ((uint64_t)(high - low) + 1));
}

/*
 * With anything that a machine file may hold, nothing overflows or becomes
 * negative.
 */
static void any_board_is_reckoned_with(void **state)
{
	struct gkf_profile p = gkf_profile_default;
	uint64_t seed = 1;

	(void)state;
	for (int i = 0; i < 30000; i++) {
		struct gkf_drive d = {.attached = 1};
		struct gkf_state s;

#define FIELD(member, key, min, max, help) p.member = any(&seed, min, max);
		GKF_PROFILE_INTEGERS(FIELD)
#undef FIELD
		d.demand = (uint32_t)any(&seed, 0, 8192000);
		d.mem = (uint32_t)any(&seed, 0, UINT32_MAX);
		d.enc = d.dec = (uint32_t)any(&seed, 0, UINT32_MAX);
		d.kind[GKF_WAVE_TRAIN] = d.demand;
		d.links = (unsigned)p.nvlinks;
		for (int v = 0; v < GKF_V_COUNT; v++)
			d.set[v] = any(&seed, 0, 3)
				       ? GKF_UNSET
				       : any(&seed, gkf_values[v].min,
					     gkf_values[v].max);
		gkf_physics_rest(&p, &s);
		for (int step = 0; step < 4; step++) {
			gkf_physics_step(&p, &d, &s);
			s.temp_mc = gkf_clamp(s.temp_mc, 0, 200000);
			s.mem_temp_mc = gkf_clamp(s.mem_temp_mc, 0, 200000);
			s.fan_temp_mc = gkf_clamp(s.fan_temp_mc, 0, 200000);
		}
		assert_true(s.power_mw >= 0 && s.sm_clock_mhz >= 0 &&
			    s.mem_clock_mhz >= 0 && s.gpu_util <= 100 &&
			    s.mem_util <= 100 && s.enc_util <= 100);
		assert_in_range(s.fan_permille, 0, 1000);
		assert_int_equal(s.bin, 4);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(captures_are_met_within_a_tenth),
	    cmocka_unit_test(a_machine_shows_what_the_captures_say),
	    cmocka_unit_test(any_board_is_reckoned_with),
	    cmocka_unit_test(every_profile_rests_and_settles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
