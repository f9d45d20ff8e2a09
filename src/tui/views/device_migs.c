/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_migs.c - draws the MIG devices of a GPU: a bar that shows which memory
 * slices belong to which GPU instance, and a line for each device.
 */
#include "base/round.h"
#include "format/width.h"
#include "tui/screen/box.h"
#include "tui/views/device_part.h"
#include "tui/model/facts.h"
#include "tui/model/value.h"

#include <stdio.h>
#include <string.h>

static const uint16_t colors[] = {6, 5, 2, 3, 4};

static bool is_of(const struct tui *t, const struct gk_device *d,
		  const struct gk_device *gpu)
{
	return d->mig_index >= 0 && &t->snap->devices[d->parent] == gpu;
}

/* Returns the profile of a MIG device, such as "3g.40gb". */
static const char *mig_profile(const struct gk_device *d)
{
	const char *blank = strrchr(d->name, ' ');

	return blank ? blank + 1 : d->name;
}

/* Returns the profile of its GPU instance: "3g.40gb" for "2c.3g.40gb". */
static const char *instance_name(const struct gk_device *d)
{
	const char *profile = mig_profile(d), *compute = strstr(profile, "c.");

	return compute ? compute + 2 : profile;
}

/* ---- the bar ---- */

/*
 * Whether d is the first MIG device of its GPU instance. The compute instances
 * of a GPU instance share its memory.
 */
static bool is_first_of_instance(const struct tui *t, const struct gk_device *d)
{
	for (const struct gk_device *i = t->snap->devices; i < d; i++)
		if (i->mig_index >= 0 && i->parent == d->parent &&
		    i->gpu_instance == d->gpu_instance)
			return false;
	return true;
}

static void draw_block(struct grid *g, int line, int from, int to,
		       const char *text, struct grid_style style)
{
	int room = to - from - 1;

	if (to <= from)
		return;
	for (int c = from; c < to; c++)
		grid_line(g, line, c, " ", 1, style);
	grid_line(g, line, from, "▏", strlen("▏"), style);
	if (room > 0)
		box_text(g, line, from + 1, room, text, style);
}

/* A limit that is higher than the columns of any screen. */
#define SLICES_MAX 1000

/*
 * Returns the number of memory slices of a GPU. The driver does not report it,
 * so it is estimated from the memory and the slices of the largest instance.
 */
static int slices_of(const struct tui *t, const struct gk_device *gpu)
{
	double whole = (double)gpu->m[GK_M_MEM_TOTAL].v, own = 0, size = 0;

	for (size_t i = 0; i < t->snap->device_count; i++) {
		const struct gk_device *d = &t->snap->devices[i];
		struct gk_value total = d->m[GK_M_MEM_TOTAL];

		if (!is_of(t, d, gpu) || total.why != GK_PRESENT ||
		    d->m[GK_M_GI_SIZE].why != GK_PRESENT ||
		    (double)total.v <= own)
			continue;
		own = (double)total.v;
		size = (double)d->m[GK_M_GI_SIZE].v;
	}
	return own > 0 && gpu->m[GK_M_MEM_TOTAL].why == GK_PRESENT
		   ? gk_steps(whole * size / own / SLICES_MAX, SLICES_MAX)
		   : 0;
}

/*
 * Draws the memory slices of the GPU, and the instances to which they belong.
 */
static void draw_bar(const struct tui *t, struct grid *g, int line,
		     const struct gk_device *gpu)
{
	int slices = slices_of(t, gpu), n = 0;
	int begin = view_device_title(g, line, "Memory slices");
	int width = slices ? (g->columns - begin - 1) / slices : 0;

	if (width < 1) {
		box_text(g, line, begin, g->columns,
			 tui_absence(GK_ABSENT_NOT_READ),
			 (struct grid_style){GRID_COLOR_NONE, GRID_DIM});
		return;
	}
	for (int i = 0; i < slices; i++)
		draw_block(g, line, begin + i * width, begin + (i + 1) * width,
			   "free",
			   (struct grid_style){GRID_COLOR_NONE, GRID_DIM});
	for (size_t i = 0; i < t->snap->device_count; i++) {
		const struct gk_device *d = &t->snap->devices[i];
		struct gk_value start = d->m[GK_M_GI_START];
		struct gk_value size = d->m[GK_M_GI_SIZE];
		size_t color = (size_t)n % (sizeof colors / sizeof *colors);

		if (!is_of(t, d, gpu) || !is_first_of_instance(t, d) ||
		    start.why != GK_PRESENT || size.why != GK_PRESENT)
			continue;
		draw_block(g, line, begin + (int)start.v * width,
			   begin + (int)(start.v + size.v) * width,
			   instance_name(d),
			   (struct grid_style){colors[color], GRID_REVERSE});
		n++;
	}
}

/* ---- a line for each MIG device ---- */

/* Writes a range such as "0-3", or "-" if it is unknown. */
static char *slices_text(char dst[24], struct gk_value start,
			 struct gk_value size)
{
	if (start.why != GK_PRESENT || size.why != GK_PRESENT)
		strcpy(dst, "-");
	else if (size.v == 1)
		snprintf(dst, 24, "%d", (int)start.v);
	else
		snprintf(dst, 24, "%d-%d", (int)start.v,
			 (int)(start.v + size.v - 1));
	return dst;
}

#define LINE "%-9s %6s %9s / %-9s %6s %7s %5s"

static void draw_mig_titles(struct grid *g, int line)
{
	char text[96];

	snprintf(text, sizeof text, LINE, "profile", "GI/CI", "memory", "total",
		 "slices", "compute", "procs");
	box_text(g, line, view_device_title(g, line, ""), g->columns, text,
		 (struct grid_style){GRID_COLOR_NONE, GRID_DIM});
}

static void draw_mig_line(struct grid *g, int line, const struct gk_device *d)
{
	char text[256], used[GK_UNITS_MAX], total[GK_UNITS_MAX], title[32];
	char memory[24], compute[24], instance[32], count[16];

	snprintf(instance, sizeof instance, "%d/%d", d->gpu_instance,
		 d->compute_instance);
	snprintf(count, sizeof count, "%u", d->process_count);
	snprintf(text, sizeof text, LINE, mig_profile(d), instance,
		 tui_value(used, d->m[GK_M_MEM_USED], GK_UNIT_BYTES),
		 tui_value(total, d->m[GK_M_MEM_TOTAL], GK_UNIT_BYTES),
		 slices_text(memory, d->m[GK_M_GI_START], d->m[GK_M_GI_SIZE]),
		 slices_text(compute, d->m[GK_M_CI_START], d->m[GK_M_CI_SIZE]),
		 d->processes_why == GK_PRESENT ? count : "-");
	snprintf(title, sizeof title, "MIG %d", d->mig_index);
	box_text(g, line, view_device_title(g, line, title), g->columns, text,
		 GRID_PLAIN);
}

int view_device_migs(const struct tui *t, struct grid *g, int line,
		     const struct gk_device *gpu)
{
	int rows = 0;

	for (size_t i = 0; i < t->snap->device_count; i++)
		if (is_of(t, &t->snap->devices[i], gpu))
			draw_mig_line(g, line + 2 + rows++,
				      &t->snap->devices[i]);
	if (!rows)
		return 0;
	draw_bar(t, g, line, gpu);
	draw_mig_titles(g, line + 1);
	return 2 + rows;
}
