/* SPDX-License-Identifier: Apache-2.0 */
/* smoothing.c - reads and sets the presets of power smoothing. */
#include "machine/model/smoothing.h"
#include "base/assert.h"
#include "machine/file/board.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/smoothing_state.h"
#include "machine/file/value.h"
#include "machine/store/view.h"
#include "machine/store/writers_lock.h"

/* NVML's numbers of the parameters that the model uses. */
enum { SMOOTHING_FLOOR = 0, SMOOTHING_HYSTERESIS = 3 };

/*
 * The greatest value of each parameter and the presets, in thousandths; the
 * presets are estimated.
 */
static const struct {
	int64_t max;
	int64_t factory[GKF_SMOOTHING_PROFILES];
} params[GKF_SMOOTHING_PARAMS] = {
    /* the floor, percent of the power limit */
    {100000, {0, 25000, 50000, 70000, 90000}},
    /* mW/s of the ramp up, and of the ramp down */
    {4000000000, {1000000000, 800000000, 600000000, 400000000, 200000000}},
    {4000000000, {1000000000, 800000000, 600000000, 400000000, 200000000}},
    /* ms until the ramp down */
    {3600000000, {500000, 1000000, 2000000, 5000000, 10000000}},
    /* mW of the secondary floor */
    {2000000000, {0, 100000000, 100000000, 150000000, 150000000}},
    /* multipliers of windows */
    {255000, {1000, 1000, 2000, 4000, 8000}},
    {255000, {1000, 1000, 2000, 4000, 8000}},
    /* mW of the offset at which the primary floor begins */
    {2000000000, {0, 0, 0, 0, 0}},
};

static bool is_valid_param(unsigned profile, unsigned param)
{
	return profile < GKF_SMOOTHING_PROFILES && param < GKF_SMOOTHING_PARAMS;
}

int64_t gkf_smoothing_max(unsigned profile, unsigned param)
{
	return is_valid_param(profile, param) ? params[param].max : -1;
}

static uint64_t load_param(const struct gkf_machine *m, unsigned device,
			   unsigned profile, unsigned param)
{
	return atomic_load_explicit(
	    &m->file->device[device].smoothing.param[profile][param],
	    memory_order_relaxed);
}

int64_t gkf_smoothing_get(const struct gkf_machine *m, unsigned device,
			  unsigned profile, unsigned param)
{
	uint64_t w;

	if (!is_valid_param(profile, param))
		return 0;
	w = load_param(m, device, profile, param);
	return w && w - 1 <= (uint64_t)params[param].max
		   ? (int64_t)(w - 1)
		   : params[param].factory[profile];
}

/*
 * The longest time that the floor stays after work, in bins. It must be below
 * the ten seconds at which rest_bins stops counting. Ramps are shorter than a
 * bin and not modelled.
 */
#define FLOOR_BINS_MAX (9 * GKF_BINS_PER_S)

/* Only B200 and its kin have power smoothing; other boards with Blackwell's
 * name do not. */
static bool is_on(const struct gkf_machine *m, unsigned device,
		  const int64_t *set)
{
	return m->boards[device].profile.compute_major == 10 &&
	       set[GKF_V_POWER_SMOOTHING] == 1;
}

void gkf_smoothing_floor(const struct gkf_machine *m, unsigned device,
			 const int64_t set[GKF_VALUES_MAX],
			 int64_t *ret_permille, int64_t *ret_bins)
{
	int64_t preset = set[GKF_V_SMOOTHING_PROFILE], us;

	*ret_permille = *ret_bins = 0;
	if (!is_on(m, device, set))
		return;
	if (preset == GKF_UNSET)
		preset = 0;
	*ret_permille =
	    gkf_smoothing_get(m, device, (unsigned)preset, SMOOTHING_FLOOR) /
	    100;
	us = gkf_smoothing_get(m, device, (unsigned)preset,
			       SMOOTHING_HYSTERESIS);
	*ret_bins = us * GKF_BINS_PER_S / 1000000;
	if (*ret_bins > FLOOR_BINS_MAX)
		*ret_bins = FLOOR_BINS_MAX;
}

void gkf_smoothing_reset(struct gkf_machine *m, unsigned device)
{
	struct gkf_smoothing *s = &m->file->device[device].smoothing;

	GK_ASSERT(gkf_lock_held(m));
	for (unsigned i = 0; i < GKF_SMOOTHING_PROFILES; i++)
		for (unsigned p = 0; p < GKF_SMOOTHING_PARAMS; p++)
			atomic_store(&s->param[i][p], 0);
}
