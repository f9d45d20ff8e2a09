/*
 * mig_busy.c - how busy each GPU instance was, summed over the bins: what the
 * performance monitor tells of an instance.
 */
#include "fake/mig.h"

#include "fake/private.h"

/* What the processes of an instance did in a bin; permille of its engines. */
static void add_slot(struct gkf_mig_sums *s, const struct gkf_wave *wave,
		     uint64_t bin)
{
	uint64_t busy =
	    gkf_wave_present(wave, bin) ? gkf_wave_at(wave, bin) : 0;

	if (!busy || wave->kind >= GKF_WAVE_KINDS)
		return;
	s->gpu += busy;
	s->sm += busy * gkf_activities[wave->kind].sm / 1000;
	s->occupancy += busy * gkf_activities[wave->kind].occupancy / 1000;
	s->tensor += busy * gkf_activities[wave->kind].tensor / 1000;
	s->dram += busy * wave->mem_permille / 1000;
	s->enc += busy * wave->encoder_permille / 1000;
	s->dec += busy * wave->decoder_permille / 1000;
	s->jpg += busy * wave->jpeg_permille / 1000;
	s->ofa += busy * wave->ofa_permille / 1000;
}

/* Words of a sum, which others may be reading. */
static void add_words(struct gkf_mig_sums *to, const struct gkf_mig_sums *from,
		      uint64_t scale)
{
	uint64_t *t = (uint64_t *)to;
	const uint64_t *f = (const uint64_t *)from;

	for (size_t i = 0; i < sizeof *to / sizeof *t; i++) {
		/* Processes take turns: each engine is busy at most always. */
		uint64_t more = f[i] * 1000 / scale;

		if (more)
			__atomic_store_n(
			    &t[i],
			    __atomic_load_n(&t[i], __ATOMIC_RELAXED) +
				(more < 1000 ? more : 1000),
			    __ATOMIC_RELAXED);
	}
}

static void add_bin(struct gkf_machine *m, unsigned device, uint64_t bin)
{
	struct gkf_mig_sums sums[GKF_MIG_GIS] = {0};
	unsigned high = gkf_slots_high(m);
	struct gkf_slot slot;

	for (unsigned i = 0; i < high; i++)
		if (gkf_slot_read_on(m, i, device, &slot) &&
		    GKF_INSTANCE_GI(slot.instance) < GKF_MIG_GIS)
			add_slot(&sums[GKF_INSTANCE_GI(slot.instance)],
				 &slot.wave, bin);
	for (unsigned gi = 0; gi < GKF_MIG_GIS; gi++)
		if (sums[gi].gpu)
			add_words(&m->file->device[device].mig.sums[gi],
				  &sums[gi],
				  sums[gi].gpu > 1000 ? sums[gi].gpu : 1000);
}

void gkf_mig_bins(struct gkf_machine *m, unsigned device, uint64_t first,
		  uint64_t end)
{
	if (!(gkf_mig_mode(&m->file->device[device]) & GKF_MIG_CURRENT))
		return;
	for (uint64_t bin = first; bin < end; bin++)
		add_bin(m, device, bin);
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
