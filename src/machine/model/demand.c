/* SPDX-License-Identifier: Apache-2.0 */
/* demand.c - sums up what the processes of a device demand; see demand.h. */
#include "machine/model/demand.h"
#include "base/min.h"
#include "machine/file/board.h"
#include "machine/file/numbers.h"
#include "machine/file/slot.h"
#include "machine/file/wave_state.h"
#include "machine/file/work_state.h"
#include "machine/model/mig/mig.h"
#include "machine/model/model.h"
#include "machine/model/physics.h"
#include "machine/model/wave.h"
#include "machine/store/process/busy.h"
#include "machine/store/process/slot.h"
#include "machine/store/view.h"

#include <string.h>

/* Busy time demanded in one instance, permille of the bin. */
struct wanted {
	uint32_t kind[GKF_WAVE_KINDS], sum, mem, nvlink, enc, dec, jpg, ofa;
};

static uint32_t sm_permille(struct gkf_machine *m, unsigned device,
			    uint32_t instance)
{
	int64_t all = m->boards[device].profile.sm_count;
	struct gkf_mig_ci ci;

	if (instance == GKF_NO_INSTANCE ||
	    gkf_mig_ci_read(m, device, GKF_INSTANCE_GI(instance),
			    GKF_INSTANCE_CI(instance), &ci))
		return 1000;
	return (uint32_t)gkf_clamp(ci.profile.sms * 1000 / all, 1, 1000);
}

/*
 * Returns the row of an instance, which is added if it is new. If the table is
 * full, all further instances share the last row.
 */
static unsigned find_instance_row(struct gkf_demand *c, uint32_t name)
{
	unsigned i = 0;

	while (i < c->instances && c->instance[i].name != name)
		i++;
	if (i == GKF_DEMAND_MIGS)
		return i - 1;
	if (i == c->instances) {
		c->instance[i].name = name;
		c->instance[i].sm_permille = sm_permille(c->m, c->device, name);
		c->instances++;
	}
	return i;
}

void gkf_demand_collect(struct gkf_machine *m, unsigned device,
			struct gkf_demand *c)
{
	unsigned high = gkf_slots_high(m);

	c->m = m;
	c->device = device;
	c->count = c->instances = 0;
	c->all = true;
	for (unsigned i = 0; i < high; i++) {
		struct gkf_slot slot;

		if (!gkf_slot_read_on(m, i, device, &slot, NULL))
			continue;
		if (c->count == GKF_DEMAND_MAX) {
			c->all = false;
			return;
		}
		c->member[c->count].wave = slot.wave;
		c->member[c->count].slot = i;
		c->member[c->count].instance =
		    find_instance_row(c, slot.instance);
		c->count++;
	}
}

/*
 * Returns a process's busy permille in a bin. Also adds to drive->moved the
 * bytes that the process copied in that bin.
 */
static uint32_t busy_at(struct gkf_machine *m, unsigned slot,
			const struct gkf_wave *wave, uint64_t bin,
			struct gkf_drive *drive)
{
	struct gkf_done done;

	if (wave->kind != GKF_WAVE_REAL)
		return gkf_wave_at(wave, bin);
	gkf_busy_read(m, slot, bin, &done);
	for (int d = 0; d < GKF_DIRECTIONS; d++)
		drive->moved[d] += done.moved[d];
	return done.busy_permille;
}

static void add_wave(struct wanted *w, struct gkf_machine *m, unsigned slot,
		     const struct gkf_wave *wave, uint64_t bin,
		     struct gkf_drive *drive)
{
	uint32_t busy, video;

	if (!gkf_wave_present(wave, bin))
		return;
	drive->attached++;
	busy = busy_at(m, slot, wave, bin, drive);
	video = gkf_wave_video(wave, busy);
	w->enc += video * wave->encoder_permille / 1000;
	w->dec += video * wave->decoder_permille / 1000;
	w->jpg += video * wave->jpeg_permille / 1000;
	w->ofa += video * wave->ofa_permille / 1000;
	if (!busy)
		return;
	w->sum += busy;
	w->kind[wave->kind] += busy; /* unknown kinds are never busy */
	w->mem += busy * wave->mem_permille / 1000;
	if (wave->gpus > 1)
		w->nvlink += busy * gkf_activities[wave->kind].nvlink / 1000;
}

/* Processes in no instance take turns on the device, see physics.c. */
static void add_whole(const struct wanted *w, struct gkf_drive *drive)
{
	drive->demand += w->sum;
	drive->mem += w->mem;
	drive->nvlink += w->nvlink;
	drive->enc += w->enc;
	drive->dec += w->dec;
	drive->jpg += w->jpg;
	drive->ofa += w->ofa;
	for (int k = 0; k < GKF_WAVE_KINDS; k++)
		drive->kind[k] += w->kind[k];
}

/*
 * An instance has its own SMs, so its work is a fixed part of the device's,
 * regardless of other instances. The device is busy while any instance is.
 */
static void add_instance_share(const struct wanted *w, uint64_t permille,
			       struct gkf_drive *drive)
{
	uint32_t busy = w->sum < 1000 ? w->sum : 1000;
	uint64_t part = w->sum ? permille * busy / w->sum : 0;

	if (drive->demand < busy)
		drive->demand = busy;
	drive->mem += (uint32_t)(w->mem * part / 1000);
	drive->enc += w->enc;
	drive->dec += w->dec;
	drive->jpg += w->jpg;
	drive->ofa += w->ofa;
	for (int k = 0; k < GKF_WAVE_KINDS; k++)
		drive->kind[k] += (uint32_t)(w->kind[k] * part / 1000);
}

/*
 * Adds up the demand of all slots as if they were in one instance. Used for
 * devices with too many processes to collect.
 */
static void scan_slots(struct gkf_demand *c, uint64_t bin,
		       struct gkf_drive *drive)
{
	unsigned high = gkf_slots_high(c->m);
	struct wanted w = {0};

	for (unsigned i = 0; i < high; i++) {
		struct gkf_slot slot;

		if (gkf_slot_read_on(c->m, i, c->device, &slot, NULL))
			add_wave(&w, c->m, i, &slot.wave, bin, drive);
	}
	add_whole(&w, drive);
}

void gkf_demand_drive(struct gkf_demand *c, uint64_t bin,
		      struct gkf_drive *drive)
{
	struct wanted w[GKF_DEMAND_MIGS];

	drive->attached = drive->demand = 0;
	drive->mem = drive->nvlink = 0;
	drive->enc = drive->dec = drive->jpg = drive->ofa = 0;
	memset(drive->kind, 0, sizeof drive->kind);
	memset(drive->moved, 0, sizeof drive->moved);
	if (!c->all) {
		scan_slots(c, bin, drive);
		return;
	}
	memset(w, 0, c->instances * sizeof *w);
	for (unsigned i = 0; i < c->count; i++)
		add_wave(&w[c->member[i].instance], c->m, c->member[i].slot,
			 &c->member[i].wave, bin, drive);
	for (unsigned i = 0; i < c->instances; i++)
		if (c->instance[i].name == GKF_NO_INSTANCE)
			add_whole(&w[i], drive);
		else
			add_instance_share(&w[i], c->instance[i].sm_permille,
					   drive);
}

/* For processes that do real work, the recorded work of past bins is used. */
uint64_t gkf_demand_quiet_until(const struct gkf_demand *c, uint64_t bin)
{
	uint64_t until = c->all ? UINT64_MAX : bin;

	for (unsigned i = 0; i < c->count; i++) {
		const struct gkf_wave *w = &c->member[i].wave;
		bool works = w->kind == GKF_WAVE_TRAIN ||
			     w->kind == GKF_WAVE_INFER ||
			     (w->kind == GKF_WAVE_STEADY && w->util_permille);

		if (works && gkf_wave_present(w, bin))
			return bin;
		if (w->kind == GKF_WAVE_REAL)
			until = gk_min(
			    until, gkf_busy_next(c->m, c->member[i].slot, bin));
		if (w->start_bin > bin && w->start_bin < until)
			until = w->start_bin;
		if (w->stop_bin > bin && w->stop_bin < until)
			until = w->stop_bin;
	}
	return until;
}

uint32_t gkf_demand_at(struct gkf_machine *m, unsigned device, uint64_t bin)
{
	struct gkf_drive drive;
	struct gkf_demand wants;

	gkf_demand_collect(m, device, &wants);
	gkf_demand_drive(&wants, bin, &drive);
	return drive.demand;
}

struct gkf_share gkf_share_at(const struct gkf_wave *wave, uint64_t bin,
			      uint32_t demand_permille)
{
	uint32_t busy = gkf_wave_at(wave, bin);
	uint32_t shared =
	    demand_permille > 1000 ? busy * 1000 / demand_permille : busy;
	uint32_t video =
	    gkf_wave_present(wave, bin) ? gkf_wave_video(wave, shared) : 0;

	return (struct gkf_share){
	    .sm = shared / 10,
	    .mem = shared * wave->mem_permille / 10000,
	    .enc = video * wave->encoder_permille / 10000,
	    .dec = video * wave->decoder_permille / 10000,
	    .jpg = video * wave->jpeg_permille / 10000,
	    .ofa = video * wave->ofa_permille / 10000,
	};
}

struct gkf_share gkf_share_of(struct gkf_machine *m, unsigned device,
			      unsigned slot, const struct gkf_wave *wave,
			      uint64_t bin, uint32_t demand_permille)
{
	struct gkf_done done;
	uint32_t busy, mem;

	if (wave->kind != GKF_WAVE_REAL)
		return gkf_share_at(wave, bin, demand_permille);
	gkf_busy_read(m, slot, bin, &done);
	busy = done.busy_permille;
	if (demand_permille > 1000)
		busy = busy * 1000 / demand_permille;
	mem = gkf_moved_permille(&m->boards[device].profile, done.moved);
	return (struct gkf_share){.sm = busy / 10, .mem = mem / 10};
}
