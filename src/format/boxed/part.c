/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part.c - owns the colours and lines that the parts of the boxed report share.
 */
#include "format/boxed/part.h"

#include "base/assert.h"
#include "format/bar.h"
#include "format/condition.h"

static enum gk_intensity intensity_of(struct gk_value tenths,
				      struct gk_limits limits,
				      struct gk_limits otherwise)
{
	if (!limits.heavy)
		limits = otherwise;
	if (tenths.why != GK_PRESENT)
		return GK_MODERATE;
	if (tenths.v < limits.moderate)
		return GK_LIGHT;
	return tenths.v < limits.heavy ? GK_MODERATE : GK_HEAVY;
}

enum gk_intensity gk_gpu_intensity(const struct gk_boxed_options *o,
				   struct gk_value tenths)
{
	return intensity_of(tenths, o->gpu, GK_LIMITS_GPU);
}

enum gk_intensity gk_memory_intensity(const struct gk_boxed_options *o,
				      struct gk_value tenths)
{
	return intensity_of(tenths, o->memory, GK_LIMITS_MEMORY);
}

enum gk_color gk_intensity_color(enum gk_intensity intensity)
{
	static const enum gk_color colors[] = {
	    [GK_LIGHT] = GK_GREEN,
	    [GK_MODERATE] = GK_YELLOW,
	    [GK_HEAVY] = GK_RED,
	};

	return colors[intensity];
}

struct gk_value gk_tenths_of_percent(struct gk_value percent)
{
	if (percent.v > INT64_MAX / 10 || percent.v < 0)
		percent.v = percent.v < 0 ? 0 : INT64_MAX / 10;
	percent.v *= 10;
	return percent;
}

enum gk_color gk_device_color(const struct gk_boxed_options *o,
			      const struct gk_device *d)
{
	enum gk_intensity memory = gk_memory_intensity(
	    o, gk_tenths(d->m[GK_M_MEM_USED], d->m[GK_M_MEM_TOTAL]));
	enum gk_intensity gpu =
	    gk_gpu_intensity(o, gk_tenths_of_percent(d->m[GK_M_GPU_UTIL]));

	const struct gk_condition *condition = gk_condition_of(d);

	if (d->health != GK_HEALTH_OK || (condition && condition->fails))
		return GK_RED;
	if (d->mig_index >= 0)
		return gk_intensity_color(memory);
	return gk_intensity_color(memory > gpu ? memory : gpu);
}

void gk_box_repeat(struct gk_buf *out, const char *text, int count)
{
	for (int i = 0; i < count; i++)
		gk_buf_puts(out, text);
}

void gk_box_line(struct gk_box *box, const char *left, const char *text,
		 const char *right)
{
	gk_buf_puts(box->out, left);
	gk_box_repeat(box->out, text, box->width - 2);
	gk_buf_puts(box->out, right);
	gk_buf_putc(box->out, '\n');
}

/* There is no rule between MIG devices of the same GPU. */
bool gk_box_rule_before(const struct gk_box *box, size_t i)
{
	const struct gk_device *d = &box->snap->devices[i];

	GK_ASSERT(i < box->snap->device_count);
	if (i == box->live.first || box->o->dense)
		return false;
	return d->mig_index < 0 || d[-1].mig_index < 0;
}

size_t gk_box_devices_end(const struct gk_box *box)
{
	size_t count = box->snap->device_count;

	if (!box->live.count || box->live.first + box->live.count > count)
		return count;
	return box->live.first + box->live.count;
}
