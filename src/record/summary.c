/* SPDX-License-Identifier: Apache-2.0 */
/* summary.c - adds up the samples of a command's run. */
#include "record/summary.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/err.h"
#include "format/names.h"
#include "format/units.h"

#include <stdlib.h>

int gk_summary_begin(struct gk_summary *s, const struct gk_snapshot *snap)
{
	struct gk_summary_device *more;

	if (snap->device_count > s->count) {
		more = realloc(s->devices, snap->device_count * sizeof *more);
		if (!more)
			return GK_ERR_NOMEM;
		for (size_t i = s->count; i < snap->device_count; i++)
			more[i] = (struct gk_summary_device){0};
		s->devices = more;
		s->count = snap->device_count;
	}
	for (size_t i = 0; i < s->count; i++) {
		struct gk_summary_device *d = &s->devices[i];

		d->mem = d->sm = 0;
		d->mem_known = d->sm_known = d->now = false;
	}
	return 0;
}

void gk_summary_process(struct gk_summary *s, const struct gk_process *p)
{
	struct gk_summary_device *d = &s->devices[p->device];

	GK_ASSERT(p->device < s->count);
	d->used = d->now = true;
	if (!p->m[GK_PM_GPU_MEM].why) {
		d->mem += p->m[GK_PM_GPU_MEM].v;
		d->mem_known = true;
	}
	if (!p->m[GK_PM_SM_UTIL].why) {
		d->sm += p->m[GK_PM_SM_UTIL].v;
		d->sm_known = true;
	}
}

/*
 * Adds the energy used since the previous sample, once the command has been
 * seen on the device. Uses the energy counter or, if there is none, power times
 * time.
 */
static void add_energy(struct gk_summary_device *d, const struct gk_device *dev,
		       uint64_t mono_ns)
{
	struct gk_value energy = dev->m[GK_M_ENERGY];
	struct gk_value power = dev->m[GK_M_POWER];
	uint64_t span = mono_ns - d->before_ns;

	if (!energy.why && !d->energy_before.why &&
	    energy.v >= d->energy_before.v) {
		d->millijoules += energy.v - d->energy_before.v;
		d->energy_known = true;
	} else if (energy.why && !power.why) {
		d->millijoules +=
		    power.v * (int64_t)(span / GK_NS_PER_US) / 1000000;
		d->energy_known = d->energy_from_power = true;
	}
}

static void add_summary_device(struct gk_summary_device *d,
			       const struct gk_device *dev, uint64_t mono_ns)
{
	struct gk_value util = dev->m[GK_M_GPU_UTIL];

	if (d->before_ns && d->used)
		add_energy(d, dev, mono_ns);
	d->energy_before = dev->m[GK_M_ENERGY];
	d->before_ns = mono_ns;
	if (!d->now)
		return;
	gk_device_label(d->label, dev);
	if (d->mem > d->peak)
		d->peak = d->mem;
	if (!util.why) {
		d->util_sum += (uint64_t)util.v;
		d->util_count++;
	}
	if (d->sm_known) {
		d->sm_sum += (uint64_t)d->sm;
		d->sm_count++;
	}
}

void gk_summary_end(struct gk_summary *s, const struct gk_snapshot *snap)
{
	int64_t all = 0;

	for (size_t i = 0; i < snap->device_count; i++) {
		add_summary_device(&s->devices[i], &snap->devices[i],
				   snap->mono_ns);
		all += s->devices[i].mem;
	}
	if (all > s->peak)
		s->peak = all;
	s->samples++;
}

/* ---- as text ---- */

static double mean_of_samples(uint64_t sum, uint64_t count)
{
	return (double)sum / (double)count;
}

static void put_peak(const struct gk_summary *s, struct gk_buf *out)
{
	char size[GK_UNITS_MAX];
	const char *between = " (";

	gk_buf_printf(out, "  peak GPU memory   %s",
		      gk_human_size(size, s->peak));
	for (size_t i = 0; i < s->count; i++) {
		if (!s->devices[i].used)
			continue;
		gk_buf_printf(out, "%sGPU %s: %s", between, s->devices[i].label,
			      gk_human_size(size, s->devices[i].peak));
		between = ", ";
	}
	gk_buf_puts(out, ")\n");
}

static void put_utilisation(const struct gk_summary *s, struct gk_buf *out)
{
	const char *between = "";

	gk_buf_puts(out, "  mean utilisation  ");
	for (size_t i = 0; i < s->count; i++) {
		const struct gk_summary_device *d = &s->devices[i];

		if (!d->used || (!d->util_count && !d->sm_count))
			continue;
		gk_buf_printf(out, "%sGPU %s:", between, d->label);
		if (d->util_count)
			gk_buf_printf(
			    out, " %.1f %%",
			    mean_of_samples(d->util_sum, d->util_count));
		if (d->sm_count)
			gk_buf_printf(out, " (%.1f %% by the command)",
				      mean_of_samples(d->sm_sum, d->sm_count));
		between = ", ";
	}
	gk_buf_puts(out, *between ? "\n" : "unknown\n");
}

static void put_energy(const struct gk_summary *s, struct gk_buf *out)
{
	int64_t all = 0;
	bool known = false, power = false;

	for (size_t i = 0; i < s->count; i++) {
		all += s->devices[i].used ? s->devices[i].millijoules : 0;
		known |= s->devices[i].used && s->devices[i].energy_known;
		power |= s->devices[i].used && s->devices[i].energy_from_power;
	}
	if (!known) {
		gk_buf_puts(out, "  energy            unknown\n");
		return;
	}
	gk_buf_printf(out,
		      "  energy            %.1f J (%.4f kWh) of the whole "
		      "GPUs%s\n",
		      (double)all / 1e3, (double)all / 3.6e9,
		      power ? ", from their power" : "");
}

void gk_summary_text(const struct gk_summary *s, struct gk_buf *out)
{
	bool used = false;

	for (size_t i = 0; i < s->count; i++)
		used |= s->devices[i].used;
	if (!used) {
		gk_buf_printf(out, "  on no GPU in any of %llu samples\n",
			      (unsigned long long)s->samples);
		return;
	}
	put_peak(s, out);
	put_utilisation(s, out);
	put_energy(s, out);
}

void gk_summary_free(struct gk_summary *s)
{
	free(s->devices);
	*s = (struct gk_summary){0};
}
