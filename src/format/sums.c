/* SPDX-License-Identifier: Apache-2.0 */
/* sums.c - adds up the values of a machine's GPUs. */
#include "format/sums.h"

#include "format/names.h"
#include "format/state.h"

static bool add_known(double *sum, struct gk_value value)
{
	if (value.why == GK_PRESENT)
		*sum += (double)value.v;
	return value.why == GK_PRESENT;
}

/*
 * Counts a GPU that does not answer. Needs no memory of earlier snapshots,
 * because these affect only the states of GPUs that answer.
 */
static void count_silent(struct gk_sums *s, const struct gk_snapshot *snap,
			 const struct gk_device *d)
{
	static const struct gk_seen nothing;
	enum gk_state_kind kind =
	    gk_state_of(&nothing, snap, d, (struct gk_state_options){0}).kind;

	s->lost += kind == GK_STATE_LOST;
	s->error += kind == GK_STATE_ERROR;
	s->hung += kind == GK_STATE_HUNG;
	s->stale += kind == GK_STATE_STALE;
}

struct gk_sums gk_sums_of(const struct gk_snapshot *snap)
{
	struct gk_sums s = {0};
	bool host_counted = false;
	int tell_busy = 0;

	for (size_t i = 0; i < snap->device_count; i++) {
		const struct gk_device *d = &snap->devices[i];

		if (d->mig_index >= 0)
			continue;
		s.gpus++;
		count_silent(&s, snap, d);
		if (d->health != GK_HEALTH_OK)
			continue;
		s.well++;
		/*
		 * Count the host's memory once: all GPUs that use it share it.
		 */
		if (!gk_is_unified(d) || !host_counted) {
			add_known(&s.used, d->m[GK_M_MEM_USED]);
			add_known(&s.total, d->m[GK_M_MEM_TOTAL]);
		}
		host_counted = host_counted || gk_is_unified(d);
		add_known(&s.watts, d->m[GK_M_POWER]);
		add_known(&s.limit, gk_power_limit(d));
		add_known(&s.joules, d->m[GK_M_ENERGY]);
		tell_busy += add_known(&s.busy, d->m[GK_M_GPU_UTIL]);
	}
	s.busy = tell_busy ? s.busy / tell_busy : -1;
	return s;
}
