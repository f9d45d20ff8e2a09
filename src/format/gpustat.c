/* SPDX-License-Identifier: Apache-2.0 */
/* gpustat.c - prints one line per GPU. */
#include "format/gpustat.h"
#include "base/round.h"
#include "base/units.h"

#include "format/color.h"
#include "format/condition.h"
#include "format/names.h"
#include "format/units.h"
#include "format/width.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct page {
	struct gk_buf *out;
	const struct gk_snapshot *snap;
	const struct gk_gpustat_options *o;
	int name_width;
	int label_width; /* width of "[3]" or "[3:1]" */
};

/*
 * The colours of a value: `bright` if it is at least bright_from, otherwise
 * `calm`; grey if it is unknown.
 */
struct heat {
	int64_t bright_from;
	enum gk_color calm, bright;
};

static const struct heat temperature_heat = {50, GK_RED, GK_BOLD_RED};
static const struct heat fan_heat = {30, GK_CYAN, GK_BOLD_CYAN};
static const struct heat util_heat = {30, GK_GREEN, GK_BOLD_GREEN};
static const struct heat codec_heat = {50, GK_GREEN, GK_BOLD_GREEN};
static const struct heat memory_heat = {0, GK_YELLOW, GK_BOLD_YELLOW};
static const struct heat total_heat = {INT64_MAX, GK_YELLOW, GK_YELLOW};
static const struct heat limit_heat = {INT64_MAX, GK_MAGENTA, GK_MAGENTA};

static enum gk_color heat_color(const struct heat *heat, struct gk_value value)
{
	if (value.why != GK_PRESENT)
		return GK_GRAY;
	return value.v < heat->bright_from ? heat->calm : heat->bright;
}

/* Adds value / divisor (right-aligned; "??" if absent) and a unit, in one
 * colour. */
static void add_padded_number(struct page *p, struct gk_value value,
			      int64_t divisor, int width, const char *unit,
			      enum gk_color color)
{
	gk_color_start(p->out, p->o->color, color);
	if (value.why == GK_PRESENT)
		gk_buf_printf(
		    p->out, "%*" PRId64, width,
		    gk_to_int64(gk_half_up((double)value.v / (double)divisor)));
	else
		gk_buf_printf(p->out, "%*s", width, "??");
	gk_buf_puts(p->out, unit);
	gk_color_end(p->out, p->o->color, color);
}

static void add_heated(struct page *p, struct gk_value value, const char *unit,
		       const struct heat *heat)
{
	add_padded_number(p, value, 1, 3, unit, heat_color(heat, value));
}

static void device_name(const struct page *p, const struct gk_device *d,
			char *dst)
{
	char trouble[GK_NAME_MAX];

	gk_device_trouble(trouble, p->snap, d);
	if (*trouble && (d->health != GK_HEALTH_STALE || !*d->name))
		snprintf(dst, GK_NAME_MAX + 8, "((%s))", trouble);
	else
		gk_str_copy(dst, GK_NAME_MAX, d->name);
}

static void add_gpustat_name(struct page *p, const struct gk_device *d)
{
	char label[GK_NAME_MAX], name[GK_NAME_MAX + 8];
	enum gk_color color = d->health == GK_HEALTH_OK ? GK_BLUE : GK_RED;

	gk_device_label(label, d);
	gk_color_start(p->out, p->o->color, GK_CYAN);
	gk_buf_printf(p->out, "[%s]", label);
	gk_color_end(p->out, p->o->color, GK_CYAN);
	gk_buf_pad(p->out, ' ',
		   (size_t)(p->label_width - (int)strlen(label) - 1));
	if (!p->name_width)
		return;
	device_name(p, d, name);
	gk_color_start(p->out, p->o->color, color);
	gk_cell_tail(p->out, name, (size_t)p->name_width, "…");
	gk_color_end(p->out, p->o->color, color);
	gk_buf_puts(p->out, " |");
}

static const struct {
	unsigned bit;
	const char *title;
	enum gk_metric metric;
} codecs[] = {
    {GK_CODEC_ENC, "E: ", GK_M_ENC_UTIL},
    {GK_CODEC_DEC, "D: ", GK_M_DEC_UTIL},
};

static void add_codec(struct page *p, const struct gk_device *d)
{
	const char *before = " (";

	for (int i = 0; i < 2; i++) {
		if (!(p->o->codec & codecs[i].bit))
			continue;
		gk_buf_puts(p->out, before);
		gk_paint(p->out, p->o->color, GK_BOLD, codecs[i].title);
		add_heated(p, d->m[codecs[i].metric], " %", &codec_heat);
		before = "  ";
	}
	if (p->o->codec)
		gk_buf_putc(p->out, ')');
}

static enum gk_color power_color(const struct gk_device *d)
{
	int64_t draw = gk_value_or_none(d->m[GK_M_POWER]);
	int64_t limit = gk_value_or_none(d->m[GK_M_POWER_ENFORCED]);

	if (draw < 0)
		return GK_GRAY;
	return (double)draw < 0.4 * (double)limit ? GK_MAGENTA
						  : GK_BOLD_MAGENTA;
}

static void add_power(struct page *p, const struct gk_device *d)
{
	struct gk_value limit = d->m[GK_M_POWER_ENFORCED];
	bool with_limit = p->o->power & GK_POWER_LIMIT;

	if (!p->o->power)
		return;
	gk_buf_puts(p->out, ",  ");
	add_padded_number(p, d->m[GK_M_POWER], 1000, 3, with_limit ? "" : " W",
			  power_color(d));
	if (!with_limit)
		return;
	gk_buf_puts(p->out, " / ");
	add_padded_number(p, limit, 1000, 3, " W",
			  heat_color(&limit_heat, limit));
}

static void add_memory(struct page *p, const struct gk_device *d)
{
	struct gk_value used = d->m[GK_M_MEM_USED];
	struct gk_value total = d->m[GK_M_MEM_TOTAL];

	gk_buf_puts(p->out, " | ");
	add_padded_number(p, used, MIB, 5, "", heat_color(&memory_heat, used));
	gk_buf_puts(p->out, " / ");
	add_padded_number(p, total, MIB, 5, "", heat_color(&total_heat, total));
	gk_buf_puts(p->out, gk_is_unified(d) ? " MB unified" : " MB");
}

/* Adds the parts of user:program/pid(256M) that the options select. */
static void add_gpustat_process(struct page *p, const struct gk_process *proc)
{
	const struct gk_gpustat_options *o = p->o;
	struct gk_value mem = proc->m[GK_PM_GPU_MEM];
	bool user = !o->show_cmd || o->show_user;
	const char *program;
	size_t len;

	gk_buf_putc(p->out, ' ');
	if (user)
		gk_paint(p->out, o->color, GK_GRAY,
			 *proc->user ? proc->user : "--");
	if (o->show_cmd) {
		len = gk_process_program(proc, &program);
		gk_buf_puts(p->out, user ? ":" : "");
		gk_color_start(p->out, o->color, GK_CYAN);
		gk_add_clean(p->out, len ? program : "--", len ? len : 2);
		gk_color_end(p->out, o->color, GK_CYAN);
	}
	if (o->show_pid)
		gk_buf_printf(p->out, "/%d", (int)proc->pid);
	gk_buf_putc(p->out, '(');
	if (mem.why == GK_PRESENT)
		add_padded_number(p, mem, MIB, 0, "M", GK_YELLOW);
	else
		gk_paint(p->out, o->color, GK_YELLOW, "?M");
	gk_buf_putc(p->out, ')');
}

/*
 * Adds a line below the GPU's line: a process's pid, CPU, host memory and
 * command.
 */
static void add_command(struct page *p, const struct gk_process *proc,
			bool last)
{
	struct gk_value rss = proc->m[GK_PM_RSS];
	struct gk_value cpu = proc->m[GK_PM_CPU];
	char size[GK_UNITS_MAX] = "--", percent[GK_UNITS_MAX] = "--";

	if (cpu.why == GK_PRESENT)
		snprintf(percent, sizeof percent, "%.0f",
			 gk_half_up((double)cpu.v / 100.0));
	if (rss.why == GK_PRESENT)
		gk_short_size(size, rss.v);
	gk_buf_printf(p->out, " %s %6d (", last ? "└─" : "├─", (int)proc->pid);
	gk_color_start(p->out, p->o->color, GK_GREEN);
	gk_buf_printf(p->out, "%4s%%", percent);
	gk_color_end(p->out, p->o->color, GK_GREEN);
	gk_buf_puts(p->out, ", ");
	gk_color_start(p->out, p->o->color, GK_YELLOW);
	gk_buf_printf(p->out, "%6s", size);
	gk_color_end(p->out, p->o->color, GK_YELLOW);
	gk_buf_puts(p->out, "): ");
	gk_color_start(p->out, p->o->color, GK_CYAN);
	gk_add_clean(p->out, *proc->command ? proc->command : "?",
		     *proc->command ? strlen(proc->command) : 1);
	gk_color_end(p->out, p->o->color, GK_CYAN);
	gk_buf_putc(p->out, '\n');
}

static void add_gpustat_processes(struct page *p, const struct gk_device *d)
{
	const struct gk_snapshot *snap = p->snap;
	unsigned position = (unsigned)(d - snap->devices);
	unsigned left = 0;

	gk_buf_puts(p->out, " |");
	for (size_t i = 0; i < snap->process_count; i++) {
		if (snap->processes[i].device != position)
			continue;
		add_gpustat_process(p, &snap->processes[i]);
		left++;
	}
	gk_buf_putc(p->out, '\n');
	for (size_t i = 0; p->o->show_full_cmd && i < snap->process_count; i++)
		if (snap->processes[i].device == position)
			add_command(p, &snap->processes[i], !--left);
}

/*
 * Returns the trouble of a GPU whose name and values are still shown, or "".
 */
static const char *still_wrong(const struct page *p, const struct gk_device *d,
			       char dst[GK_NAME_MAX])
{
	const struct gk_condition *c = gk_condition_of(d);

	if (d->health == GK_HEALTH_STALE && *d->name)
		return gk_device_trouble(dst, p->snap, d);
	return c ? gk_condition_text(dst, c, d) : "";
}

static void add_gpustat_device(struct page *p, const struct gk_device *d)
{
	char text[GK_NAME_MAX];
	const char *wrong = still_wrong(p, d, text);

	add_gpustat_name(p, d);
	add_heated(p, d->m[GK_M_TEMP], "°C", &temperature_heat);
	gk_buf_puts(p->out, ", ");
	if (p->o->show_fan) {
		add_heated(p, d->m[GK_M_FAN], " %", &fan_heat);
		gk_buf_puts(p->out, ", ");
	}
	add_heated(p, d->m[GK_M_GPU_UTIL], " %", &util_heat);
	add_codec(p, d);
	add_power(p, d);
	add_memory(p, d);
	if (*wrong)
		gk_buf_printf(p->out, " | ((%s))", wrong);
	if (p->o->processes)
		add_gpustat_processes(p, d);
	else
		gk_buf_putc(p->out, '\n');
}

static void measure_page(struct page *p)
{
	char text[GK_NAME_MAX + 8];

	p->label_width = 3;
	p->name_width = p->o->name_width > 0 ? p->o->name_width : 0;
	for (size_t i = 0; i < p->snap->device_count; i++) {
		const struct gk_device *d = &p->snap->devices[i];
		int width = (int)strlen(gk_device_label(text, d)) + 2;

		p->label_width =
		    width > p->label_width ? width : p->label_width;
		device_name(p, d, text);
		width = (int)gk_columns(text, strlen(text));
		if (p->o->name_width < 0 && width > p->name_width)
			p->name_width = width;
	}
}

static void add_header(struct page *p)
{
	const char *host = p->snap->host.hostname;
	const char *driver =
	    *p->snap->driver_version ? p->snap->driver_version : "??";
	char text[GK_UNITS_MAX];
	bool color = p->o->color;
	int blanks = p->name_width + p->label_width - (int)strlen(host);

	gk_color_start(p->out, color, GK_BOLD_WHITE);
	gk_add_clean(p->out, host, strlen(host));
	gk_buf_pad(p->out, ' ', blanks > 0 ? (size_t)blanks : 0);
	gk_color_end(p->out, color, GK_BOLD_WHITE);
	gk_buf_printf(p->out, "  %s  ", gk_local_time(text, p->snap->wall_ns));
	gk_color_start(p->out, color, GK_GRAY);
	gk_add_clean(p->out, driver, strlen(driver));
	gk_color_end(p->out, color, GK_GRAY);
	gk_buf_printf(p->out, "  CUDA %s\n",
		      gk_cuda_version(text, p->snap->cuda_version));
}

void gk_format_gpustat(struct gk_buf *out, const struct gk_snapshot *snap,
		       const struct gk_gpustat_options *options)
{
	struct page p = {.out = out, .snap = snap, .o = options};

	measure_page(&p);
	if (options->header)
		add_header(&p);
	for (size_t i = 0; i < snap->device_count; i++)
		add_gpustat_device(&p, &snap->devices[i]);
	if (!snap->device_count)
		gk_buf_puts(out, GK_NO_DEVICES "\n");
	else if (options->processes && !snap->process_count)
		gk_buf_printf(out, "%s\n", gk_no_processes_text(snap));
}

void gk_gpustat_metrics(const struct gk_gpustat_options *options,
			struct gk_metric_set *set)
{
	static const enum gk_metric always[] = {GK_M_TEMP, GK_M_GPU_UTIL,
						GK_M_MEM_USED, GK_M_MEM_TOTAL};

	gk_metric_set_add_all(set, always, sizeof always / sizeof *always);
	gk_condition_metrics(set); /* includes the fan's metric */
	for (int i = 0; i < 2; i++)
		if (options->codec & codecs[i].bit)
			gk_metric_set_add(set, codecs[i].metric);
	if (options->power)
		gk_metric_set_add(set, GK_M_POWER);
	if (options->power & GK_POWER_LIMIT)
		gk_metric_set_add(set, GK_M_POWER_ENFORCED);
}
