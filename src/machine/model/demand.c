/* demand.c - what the processes of a device want; see demand.h. */
#include "machine/model/demand.h"
#include "machine/file/board.h"
#include "machine/file/numbers.h"
#include "machine/file/slot.h"
#include "machine/file/wave_state.h"
#include "machine/file/work_state.h"
#include "machine/model/mig.h"
#include "machine/model/physics.h"
#include "machine/model/wave.h"
#include "machine/store/busy.h"
#include "machine/store/slot.h"
#include "machine/store/view.h"

#include <string.h>

/* Busy time wanted in one instance; permille of the bin. */
struct wanted {
	uint32_t kind[GKF_WAVE_KINDS], sum, mem, enc, dec, jpg, ofa;
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

/* The row of an instance in what the device wants; too many: the last one's. */
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

/* Busy permille of a process in a bin; adds what it copied. */
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
	uint32_t busy;

	if (!gkf_wave_present(wave, bin))
		return;
	drive->attached++;
	busy = busy_at(m, slot, wave, bin, drive);
	if (!busy)
		return;
	w->sum += busy;
	w->kind[wave->kind] += busy; /* busy, so it is one that there is */
	w->mem += busy * wave->mem_permille / 1000;
	w->enc += busy * wave->encoder_permille / 1000;
	w->dec += busy * wave->decoder_permille / 1000;
	w->jpg += busy * wave->jpeg_permille / 1000;
	w->ofa += busy * wave->ofa_permille / 1000;
}

/* Whoever is in no instance shares the device by turns, see physics.c. */
static void add_whole(const struct wanted *w, struct gkf_drive *drive)
{
	drive->demand += w->sum;
	drive->mem += w->mem;
	drive->enc += w->enc;
	drive->dec += w->dec;
	drive->jpg += w->jpg;
	drive->ofa += w->ofa;
	for (int k = 0; k < GKF_WAVE_KINDS; k++)
		drive->kind[k] += w->kind[k];
}

/*
 * The SMs of an instance are its own: what is done there is a part of the
 * whole, whatever the others do. The device is busy while one of them is.
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

/* Too many to be collected: they are counted as one. */
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
	drive->mem = drive->enc = drive->dec = drive->jpg = drive->ofa = 0;
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

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Real work: nobody can have worked in the past and not said so by now. */
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
			until = earlier(
			    until, gkf_busy_next(c->m, c->member[i].slot, bin));
		if (w->start_bin > bin && w->start_bin < until)
			until = w->start_bin;
		if (w->stop_bin > bin && w->stop_bin < until)
			until = w->stop_bin;
	}
	return until;
}
