/* SPDX-License-Identifier: Apache-2.0 */
/* ranges.c - checks what holds for every snapshot, whatever its source. */
#include "fuzz.h"

#include "core/read/gate.h"

#include <stdlib.h>

static void check_values(const struct gk_value *values,
			 const struct gk_range *ranges, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (values[i].why == GK_PRESENT &&
		    !gk_in_range(values[i].v, &ranges[i]))
			abort();
}

static void check_number(int64_t number, enum gk_bound bound)
{
	if (number != gk_bounds[bound].otherwise &&
	    !gk_in_range(number, &gk_bounds[bound].range))
		abort();
}

void check_ranges(const struct gk_snapshot *snap)
{
	struct gk_host host = snap->host;

	gk_gate_host(&host);
	if (host.mem_total.why != snap->host.mem_total.why ||
	    host.cpu_centipercent.why != snap->host.cpu_centipercent.why)
		abort();
	for (size_t i = 0; i < snap->device_count; i++) {
		const struct gk_device *d = &snap->devices[i];

		check_values(d->m, gk_metric_ranges, GK_M_COUNT);
		check_number(d->minor, GK_BOUND_PART);
		check_number(d->index, GK_BOUND_INDEX);
		for (unsigned k = 0; d->detail && k < d->detail->link_count;
		     k++)
			check_values(d->detail->links[k].m,
				     gk_link_metric_ranges, GK_L_COUNT);
	}
	for (size_t i = 0; i < snap->process_count; i++) {
		check_values(snap->processes[i].m, gk_process_metric_ranges,
			     GK_PM_COUNT);
		check_number(snap->processes[i].pid, GK_BOUND_PID);
	}
}
