/*
 * device_migs.c - the MIG devices of a GPU: what part of its memory each GPU
 * instance has, as a bar, and a line for each device.
 */
#include "format/width.h"
#include "tui/box.h"
#include "tui/device_part.h"
#include "tui/value.h"

#include <stdio.h>
#include <string.h>

static const uint16_t colors[] = {6, 5, 2, 3, 4};

static bool is_of(const struct tui *t, const struct gk_device *d,
		  const struct gk_device *gpu)
{
	return d->mig_index >= 0 && &t->snap->devices[d->parent] == gpu;
}

/* "3g.40gb". */
static const char *profile_of(const struct gk_device *d)
{
	const char *blank = strrchr(d->name, ' ');

	return blank ? blank + 1 : d->name;
}

/* ---- the bar ---- */

/* Compute instances share the memory of their GPU instance. */
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
	int room = to - from - 2;

	if (to <= from)
		return;
	for (int c = from; c < to; c++)
		grid_line(g, line, c, " ", 1, style);
	grid_line(g, line, from, "▏", strlen("▏"), style);
	if (room > 0)
		box_text(g, line, from + 1, room, text, style);
}

/* Blocks as wide as the memory of the GPU instances, then what is free. */
static void draw_bar(const struct tui *t, struct grid *g, int line,
		     const struct gk_device *gpu)
{
	int begin = device_title(g, line, "MIG layout"), n = 0;
	int width = g->columns - begin - 1, at = begin;
	double total = (double)gpu->m[GK_M_MEM_TOTAL].v, sum = 0;

	for (size_t i = 0; i < t->snap->device_count; i++) {
		const struct gk_device *d = &t->snap->devices[i];
		struct gk_value own = d->m[GK_M_MEM_TOTAL];
		int end;

		if (!is_of(t, d, gpu) || !is_first_of_instance(t, d) ||
		    own.why != GK_PRESENT)
			continue;
		sum += (double)own.v;
		end = begin + (int)(sum / total * width + 0.5);
		end = end > begin + width ? begin + width : end;
		draw_block(
		    g, line, at, end, profile_of(d),
		    (struct grid_style){
			colors[(size_t)n++ % (sizeof colors / sizeof *colors)],
			GRID_REVERSE});
		at = end;
	}
	/* Roundings of the driver are not free memory. */
	if (begin + width - at > width / 16)
		draw_block(g, line, at, begin + width, "free",
			   (struct grid_style){GRID_COLOR_NONE, GRID_DIM});
}

/* ---- the lines ---- */

static void draw_mig(struct grid *g, int line, const struct gk_device *d)
{
	char text[256], used[GK_UNITS_MAX], total[GK_UNITS_MAX];

	snprintf(text, sizeof text, "%-8s GI/CI %d/%d  %s / %s  %u process%s",
		 profile_of(d), d->gpu_instance, d->compute_instance,
		 tui_value(used, d->m[GK_M_MEM_USED], GK_UNIT_BYTES),
		 tui_value(total, d->m[GK_M_MEM_TOTAL], GK_UNIT_BYTES),
		 d->process_count, d->process_count == 1 ? "" : "es");
	{
		char title[32];

		snprintf(title, sizeof title, "MIG %d", d->mig_index);
		box_text(g, line, device_title(g, line, title), g->columns,
			 text, GRID_PLAIN);
	}
}

int device_migs(const struct tui *t, struct grid *g, int line,
		const struct gk_device *gpu)
{
	int rows = 0;

	for (size_t i = 0; i < t->snap->device_count; i++)
		if (is_of(t, &t->snap->devices[i], gpu))
			draw_mig(g, line + 1 + rows++, &t->snap->devices[i]);
	if (!rows)
		return 0;
	if (gpu->m[GK_M_MEM_TOTAL].why == GK_PRESENT &&
	    gpu->m[GK_M_MEM_TOTAL].v > 0)
		draw_bar(t, g, line, gpu);
	return 1 + rows;
}
