/* SPDX-License-Identifier: Apache-2.0 */
/*
 * boxed.c - chooses the width of the boxed report and prints its parts in
 * order.
 */
#include "format/condition.h"
#include "format/boxed/boxed.h"

#include "format/boxed/part.h"
#include "format/units.h"

#define WIDTH_WANTED 140

static int limit_width(int value, int limit)
{
	return value < limit ? value : limit;
}

/*
 * Returns the report's width: as wide as the processes' commands need, but at
 * least 140 columns or, if the terminal has fewer, the terminal's width.
 */
static int width_of(const struct gk_snapshot *snap, int terminal)
{
	int rows = limit_width(terminal, gk_box_processes_width(snap));
	int wanted = limit_width(terminal, WIDTH_WANTED);
	int width = rows > wanted ? rows : wanted;

	return width > GK_BOXED_WIDTH_MIN ? width : GK_BOXED_WIDTH_MIN;
}

void gk_format_boxed(struct gk_buf *out, const struct gk_snapshot *snap,
		     const struct gk_boxed_options *options)
{
	struct gk_box box = {.out = out, .snap = snap, .o = options};
	char time[GK_UNITS_MAX];

	box.width = width_of(snap, options->width);
	gk_buf_printf(out, "%s\n", gk_local_time(time, snap->wall_ns));
	gk_box_devices(&box);
	gk_box_host(&box);
	if (!options->processes)
		return;
	gk_buf_putc(out, '\n');
	gk_box_processes(&box);
}

void gk_boxed_metrics(struct gk_metric_set *set)
{
	static const enum gk_metric shown[] = {
	    GK_M_GPU_UTIL,     GK_M_MEM_UTIL,
	    GK_M_MEM_USED,     GK_M_MEM_TOTAL,
	    GK_M_MEM_CLOCK,    GK_M_SM_CLOCK,
	    GK_M_POWER,        GK_M_POWER_LIMIT,
	    GK_M_TEMP,         GK_M_FAN,
	    GK_M_PSTATE,       GK_M_ECC_UNCORRECTED,
	    GK_M_PERSISTENCE,  GK_M_MIG_MODE,
	    GK_M_COMPUTE_MODE, GK_M_DISPLAY_ACTIVE,
	    GK_M_BAR1_USED,    GK_M_BAR1_TOTAL,
	};

	gk_metric_set_add_all(set, shown, sizeof shown / sizeof *shown);
	gk_condition_metrics(set);
}
