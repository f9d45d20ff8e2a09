/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mig_busy.c - sums up how busy each GPU instance was, for the performance
 * metrics (GPM) of an instance.
 */
#include "base/assert.h"
#include "machine/file/board.h"
#include "machine/file/numbers.h"
#include "machine/file/slot.h"
#include "machine/file/wave_state.h"
#include "machine/model/demand.h"
#include "machine/model/mig/mig.h"
#include "machine/model/physics.h"
#include "machine/model/wave.h"
#include "machine/store/process/busy.h"
#include "machine/store/process/slot.h"
#include "machine/store/view.h"
#include "machine/store/writers_lock.h"

/*
 * Adds the work of a slot's process in a bin, permille of its instance's
 * engines.
 */
static void add_slot(struct gkf_mig_sums *s, struct gkf_machine *m,
		     unsigned device, unsigned slot,
		     const struct gkf_wave *wave, uint64_t bin)
{
	uint64_t busy = 0, video;
	struct gkf_done done;

	if (!gkf_wave_present(wave, bin) || wave->kind >= GKF_WAVE_KINDS)
		return;
	if (wave->kind == GKF_WAVE_REAL) {
		gkf_busy_read(m, slot, bin, &done);
		busy = done.busy_permille;
		s->dram +=
		    gkf_moved_permille(&m->boards[device].profile, done.moved);
	} else {
		busy = gkf_wave_at(wave, bin);
	}
	video = gkf_wave_video(wave, busy);
	s->enc += video * wave->encoder_permille / 1000;
	s->dec += video * wave->decoder_permille / 1000;
	s->jpg += video * wave->jpeg_permille / 1000;
	s->ofa += video * wave->ofa_permille / 1000;
	if (!busy)
		return;
	s->gpu += busy;
	s->sm += busy * gkf_activities[wave->kind].sm / 1000;
	s->occupancy += busy * gkf_activities[wave->kind].occupancy / 1000;
	s->tensor += busy * gkf_activities[wave->kind].tensor / 1000;
	s->dram += busy * wave->mem_permille / 1000;
}

/* Adds to sums that other processes may be reading. */
static void add_sum_words(struct gkf_mig_sums *to,
			  const struct gkf_mig_sums *from, uint64_t scale)
{
	uint64_t *t = (uint64_t *)to;
	const uint64_t *f = (const uint64_t *)from;

	for (size_t i = 0; i < sizeof *to / sizeof *t; i++) {
		/*
		 * Processes take turns, so no engine is busy for more than 1000
		 * permille.
		 */
		uint64_t more = f[i] * 1000 / scale;

		if (more)
			__atomic_store_n(
			    &t[i],
			    __atomic_load_n(&t[i], __ATOMIC_RELAXED) +
				(more < 1000 ? more : 1000),
			    __ATOMIC_RELAXED);
	}
}

/* Adds up the work of collected processes in a bin, by GPU instance. */
static void sum_wants(const struct gkf_demand *wants, uint64_t bin,
		      struct gkf_mig_sums sums[GKF_MIG_GIS])
{
	for (unsigned i = 0; i < wants->count; i++) {
		unsigned at = wants->member[i].instance;
		unsigned gi = GKF_INSTANCE_GI(wants->instance[at].name);

		if (gi < GKF_MIG_GIS)
			add_slot(&sums[gi], wants->m, wants->device,
				 wants->member[i].slot, &wants->member[i].wave,
				 bin);
	}
}

/*
 * Like sum_wants(), but reads all slots. Used for devices with too many
 * processes to collect.
 */
static void sum_slots(struct gkf_machine *m, unsigned device, uint64_t bin,
		      struct gkf_mig_sums sums[GKF_MIG_GIS])
{
	unsigned high = gkf_slots_high(m);
	struct gkf_slot slot;

	for (unsigned i = 0; i < high; i++)
		if (gkf_slot_read_on(m, i, device, &slot, NULL) &&
		    GKF_INSTANCE_GI(slot.instance) < GKF_MIG_GIS)
			add_slot(&sums[GKF_INSTANCE_GI(slot.instance)], m,
				 device, i, &slot.wave, bin);
}

static void add_bin_sums(const struct gkf_demand *wants, uint64_t bin)
{
	struct gkf_mig_sums sums[GKF_MIG_GIS] = {0};
	struct gkf_mig *mig = &wants->m->file->device[wants->device].mig;

	if (wants->all)
		sum_wants(wants, bin, sums);
	else
		sum_slots(wants->m, wants->device, bin, sums);
	for (unsigned gi = 0; gi < GKF_MIG_GIS; gi++)
		if (sums[gi].gpu || sums[gi].dram)
			add_sum_words(&mig->sums[gi], &sums[gi],
				      sums[gi].gpu > 1000 ? sums[gi].gpu
							  : 1000);
}

void gkf_mig_bins(struct gkf_machine *m, unsigned device, uint64_t first,
		  uint64_t end)
{
	struct gkf_demand wants;

	GK_ASSERT(gkf_lock_held(m));
	if (!(gkf_mig_mode(m, device) & GKF_MIG_CURRENT))
		return;
	gkf_demand_collect(m, device, &wants);
	while (first < end) {
		uint64_t until = gkf_demand_quiet_until(&wants, first);

		if (until > first) {
			first = until;
			continue;
		}
		add_bin_sums(&wants, first++);
	}
}

void gkf_mig_sums(struct gkf_machine *m, unsigned device, unsigned gi,
		  struct gkf_mig_sums *ret_sums)
{
	const uint64_t *f = (const uint64_t *)&m->file->device[device]
				.mig.sums[gi % GKF_MIG_GIS];
	uint64_t *t = (uint64_t *)ret_sums;

	for (size_t i = 0; i < sizeof *ret_sums / sizeof *t; i++)
		t[i] = __atomic_load_n(&f[i], __ATOMIC_RELAXED);
}
