/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wave.c - computes the shapes of loads. It uses only integers, so the results
 * are the same on every machine.
 */
#include "machine/model/wave.h"
#include "base/mix.h"
#include "machine/file/numbers.h"
#include "machine/file/wave_state.h"

#define WARM_UP_BINS (3 * GKF_BINS_PER_S) /* the first batches load data */
#define DIP_DIVISOR  10 /* a tenth of each period is for validation */

const struct gkf_activity gkf_activities[GKF_WAVE_KINDS] = {
    [GKF_WAVE_TRAIN] = {.power = 1000,
			.sm = 950,
			.occupancy = 450,
			.tensor = 600,
			.pcie = 20,
			.nvlink = 150},
    [GKF_WAVE_INFER] =
	{.power = 650, .sm = 700, .occupancy = 300, .tensor = 250, .pcie = 20},
    [GKF_WAVE_STEADY] =
	{.power = 1000, .sm = 950, .occupancy = 450, .tensor = 600, .pcie = 20},
    /* Estimates of what kernels do in the SMs; copies are counted elsewhere. */
    [GKF_WAVE_REAL] = {.power = 800, .sm = 900, .occupancy = 450},
};

/* value +- spread, uniformly distributed over the bins of this wave. */
static int64_t add_jitter(const struct gkf_wave *wave, uint64_t bin,
			  int64_t value, int64_t spread)
{
	uint64_t r = gkf_mix(((uint64_t)wave->seed << 40) ^ bin);

	return spread
		   ? value - spread + (int64_t)(r % (uint64_t)(2 * spread + 1))
		   : value;
}

static uint64_t period_bins(const struct gkf_wave *wave)
{
	uint64_t bins = wave->period_ns / GKF_BIN_NS;

	return bins ? bins : 1;
}

/*
 * A load of a scenario begins its first period when it starts, so that the
 * scenario shows what it describes. Other loads begin at a random phase, so
 * that their GPUs do not all pause for validation at the same time.
 */
static uint64_t phase_at(const struct gkf_wave *wave, uint64_t age,
			 uint64_t period)
{
	uint64_t ahead = wave->load || !wave->seed ? 0 : gkf_mix(wave->seed);

	return (age + ahead % period) % period;
}

static int64_t busy_training(const struct gkf_wave *wave, uint64_t age,
			     uint64_t bin)
{
	uint64_t period = period_bins(wave);
	int64_t util = wave->util_permille;

	if (age < WARM_UP_BINS)
		util /= 4;
	else if (phase_at(wave, age, period) >= period - period / DIP_DIVISOR)
		util /= 5;
	return add_jitter(wave, bin, util, util / 25);
}

/*
 * A triangle wave between 60 % and 140 % of util, with jitter for requests that
 * arrive at random.
 */
static int64_t busy_inferring(const struct gkf_wave *wave, uint64_t age,
			      uint64_t bin)
{
	uint64_t period = period_bins(wave);
	uint64_t phase =
	    2000 * phase_at(wave, age, period) / period; /* 0..1999 */
	int64_t swell = phase < 1000 ? (int64_t)phase : 2000 - (int64_t)phase;
	int64_t util =
	    (int64_t)wave->util_permille * (600 + swell * 4 / 5) / 1000;

	return add_jitter(wave, bin, util, util * 2 / 5);
}

uint32_t gkf_wave_at(const struct gkf_wave *wave, uint64_t bin)
{
	int64_t busy = 0;

	if (!gkf_wave_present(wave, bin))
		return 0;
	if (wave->kind == GKF_WAVE_TRAIN)
		busy = busy_training(wave, bin - wave->start_bin, bin);
	else if (wave->kind == GKF_WAVE_INFER)
		busy = busy_inferring(wave, bin - wave->start_bin, bin);
	else if (wave->kind == GKF_WAVE_STEADY)
		busy = wave->util_permille;
	return busy < 0 ? 0 : busy > 1000 ? 1000 : (uint32_t)busy;
}
