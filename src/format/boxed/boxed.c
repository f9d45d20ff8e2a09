/*
 * boxed.c - chooses the width of the report in boxes and prints its parts in
 * order.
 */
#include "format/boxed/boxed.h"

#include "format/bar.h"
#include "format/boxed/part.h"
#include "format/units.h"

#define WIDTH_WANTED 140

static enum gk_intensity intensity(struct gk_value tenths,
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
	return intensity(tenths, o->gpu, GK_LIMITS_GPU);
}

enum gk_intensity gk_memory_intensity(const struct gk_boxed_options *o,
				      struct gk_value tenths)
{
	return intensity(tenths, o->memory, GK_LIMITS_MEMORY);
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

	if (d->health != GK_HEALTH_OK)
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

static int limit_width(int value, int limit)
{
	return value < limit ? value : limit;
}

/* Wide enough for the commands, but no wider than they need beyond 140. */
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
}
