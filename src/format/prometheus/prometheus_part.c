/* SPDX-License-Identifier: Apache-2.0 */
/* prometheus_part.c - functions used for all sets of metric names. */
#include "format/prometheus/prometheus_part.h"

#include "format/units.h"

#include <inttypes.h>
#include <stdio.h>

const char *gk_render_hostname(const struct gk_rendering *r)
{
	return r->options->hostname ? r->options->hostname
				    : r->snap->host.hostname;
}

void gk_render_labels(struct gk_rendering *r, gk_labels_fn *labels)
{
	for (size_t i = 0; i < r->snap->device_count; i++)
		labels(r, &r->snap->devices[i], &r->device_labels[i]);
}

bool gk_is_first_of_instance(const struct gk_snapshot *snap, size_t device)
{
	const struct gk_device *d = &snap->devices[device];

	for (size_t i = 0; d->mig_index >= 0 && i < device; i++)
		if (snap->devices[i].parent == d->parent &&
		    snap->devices[i].gpu_instance == d->gpu_instance)
			return false;
	return true;
}

char *gk_divided(char *dst, int64_t value, int64_t divisor)
{
	snprintf(dst, GK_UNITS_MAX, "%.6g", (double)value / (double)divisor);
	if (divisor == 1 || !(value % divisor))
		snprintf(dst, GK_UNITS_MAX, "%" PRId64, value / divisor);
	else if (value / divisor > 999)
		snprintf(dst, GK_UNITS_MAX, "%.3f",
			 (double)value / (double)divisor);
	return dst;
}
