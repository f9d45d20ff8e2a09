/* SPDX-License-Identifier: Apache-2.0 */
/*
 * panel.c - draws a GPU as a panel: a header, traces, and instruments, which
 * show current values.
 */
#include "tui/lanes/part.h"

#include "base/round.h"
#include "format/names.h"
#include "tui/lanes/trace.h"
#include "tui/model/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define GIB          1073741824.0
#define NARROW_BELOW 100
#define NARROW       38 /* instruments' width on narrower terminals */
#define USUAL        46 /* instruments' width on wider terminals */
#define NUMBER       10
#define REMEMBERED                                                             \
	150 /* columns of a trace in which to search for the last value */

/* Positions and widths of the parts of a panel. */
struct panel {
	int trace, trace_width;
	int number, number_width;
	int power, power_width, watts,
	    watts_width; /* 0 if power has no trace */
	int bar, bar_width;
	int value, value_width;
};

/* Computes the layout with busy, power and memory side by side. */
static struct panel wide_panel(int columns)
{
	int more = columns - 200;
	struct panel p = {.trace = 1,
			  .trace_width = 58 + more * 2 / 5,
			  .number_width = 8,
			  .power_width = 56 + more * 2 / 5,
			  .watts_width = 7,
			  .value_width = 15};

	p.number = p.trace + p.trace_width;
	p.power = p.number + p.number_width + 2;
	p.watts = p.power + p.power_width;
	p.bar = p.watts + p.watts_width + 4;
	p.value = columns - 1 - p.value_width;
	p.bar_width = p.value - 2 - p.bar;
	return p;
}

static struct panel panel_of(int columns)
{
	int instruments = columns < NARROW_BELOW ? NARROW : USUAL;
	struct panel p = {.trace = 1, .number_width = NUMBER};

	if (columns >= LANES_WIDE)
		return wide_panel(columns);
	p.trace_width = columns - instruments - 3;
	p.number = columns - instruments - 1;
	p.bar = p.number + NUMBER + 1;
	p.bar_width = instruments - 23;
	p.value = p.bar + p.bar_width + 1;
	p.value_width = columns - 1 - p.value;
	return p;
}

void lanes_panel_axis(const struct tui *t, struct grid *g, int row)
{
	struct panel p = panel_of(g->columns);

	lanes_axis(t, g, row, p.trace, p.trace_width);
	if (p.power_width)
		lanes_axis(t, g, row, p.power, p.power_width);
}

void lanes_wide_titles(const struct tui *t, struct grid *g, int row)
{
	struct panel p = wide_panel(g->columns);
	struct grid_style dim = lanes_ink(t, INK_DIM);

	lanes_put(g, row, p.trace, dim, "BUSY");
	lanes_put(g, row, p.power, dim, "POWER");
	lanes_put(g, row, p.bar, dim, "MEMORY BY %s",
		  lanes_by_user(t) ? "OWNER" : "PROCESS");
}

/* ---- instruments ---- */

/* A number between two texts. */
struct reading {
	const char *before;
	double number; /* negative: unknown */
	int decimals;
	const char *behind;
};

static void reading_text(struct reading r, char *dst, size_t cap)
{
	if (r.number >= 0)
		snprintf(dst, cap, "%s%.*f%s", r.before, r.decimals, r.number,
			 r.behind);
	else
		snprintf(dst, cap, "—");
}

static void put_number(struct grid *g, int row, int at, int width,
		       struct grid_style style, struct reading r)
{
	char text[48];

	reading_text(r, text, sizeof text);
	lanes_cell(g, row, at, width, true, style, text);
}

static void put_of(const struct tui *t, struct grid *g, int row, int at,
		   struct reading r)
{
	char text[48];

	reading_text(r, text, sizeof text);
	if (r.number >= 0)
		lanes_put(g, row, at, lanes_ink(t, INK_DIM), "%s", text);
}

/* Returns the style of the number for memory in use. */
static struct grid_style used_style(const struct tui *t,
				    const struct gk_device *d)
{
	double total = lanes_gib(d->m[GK_M_MEM_TOTAL]);

	return lanes_memory_style(
	    t, total > 0 ? lanes_gib(d->m[GK_M_MEM_USED]) / total : 0);
}

static void draw_instruments(const struct tui *t, struct grid *g, int row,
			     const struct panel *p, size_t device)
{
	const struct gk_device *d = &t->snap->devices[device];
	double busy = lanes_number(d->m[GK_M_GPU_UTIL]);
	double watts = lanes_watts(d->m[GK_M_POWER]);
	double limit = lanes_watts(gk_power_limit(d));
	struct grid_style strong = lanes_ink(t, INK_STRONG);

	put_number(g, row, p->number, NUMBER,
		   lanes_busy_style(t, busy, INK_STRONG),
		   (struct reading){"", busy, 0, "% busy"});
	lanes_bar(t, g, row, p->bar, p->bar_width, busy / 100,
		  lanes_ink(t, INK_WORK + 1));
	put_of(t, g, row, p->value,
	       (struct reading){"mem bw ", lanes_number(d->m[GK_M_MEM_UTIL]), 0,
				"%"});
	put_number(
	    g, row + 1, p->number, NUMBER, used_style(t, d),
	    (struct reading){"", lanes_gib(d->m[GK_M_MEM_USED]), 1, " GiB"});
	lanes_memory(t, g, row + 1, p->bar, p->bar_width, device);
	put_of(t, g, row + 1, p->value,
	       (struct reading){"of ", lanes_gib(d->m[GK_M_MEM_TOTAL]), 0, ""});
	put_number(g, row + 2, p->number, NUMBER, strong,
		   (struct reading){"", watts, 0, " W  "});
	lanes_bar(t, g, row + 2, p->bar, p->bar_width,
		  limit > 0 ? watts / limit : -1, lanes_ink(t, INK_POWER));
	put_of(t, g, row + 2, p->value, (struct reading){"of ", limit, 0, ""});
}

/* Returns how many columns an owner's name and size take, at most `room`. */
static int owners_width(const struct tui *t, int room)
{
	int width = lanes_by_user(t) ? 26 : 34;

	return room < width ? room : width;
}

/*
 * Lists the owners that the memory bar shows, in rows below the instruments.
 * The last row sums up those that do not fit.
 */
static void draw_owners(const struct tui *t, struct grid *g, int row, int rows,
			int at, int width, size_t device)
{
	struct gk_share shares[GK_SHARES];
	int count = lanes_shares(t, device, shares);
	bool letters = lanes_is_mono(t) || lanes_is_ascii(t);
	int64_t rest = 0;

	while (count && !shares[count - 1].processes && count > rows)
		count--;
	for (int i = rows - 1; i >= 0 && i < count; i++)
		rest += shares[i].bytes;
	for (int i = 0; i < rows && i < count; i++) {
		bool last = i == rows - 1 && count > rows;
		const struct gk_share *s = &shares[i];
		enum ink ink = lanes_owner_ink(last ? GK_OWNERS : s->owner);
		char size[24], name[GK_NAME_MAX + 16];

		snprintf(name, sizeof name, "%s", last ? "others" : s->name);
		if (!last && s->pid)
			snprintf(name, sizeof name, "%s %d", s->name,
				 (int)s->pid);
		snprintf(size, sizeof size, "%.1f GiB",
			 gk_half_up((double)(last ? rest : s->bytes) / GIB));
		lanes_put(g, row + i, at, lanes_ink(t, ink), "%lc",
			  letters ? (wint_t)lanes_owner_letter(last ? GK_OWNERS
								    : s->owner)
				  : (wint_t)L'▌');
		lanes_cell(g, row + i, at + 2, width - 13, false,
			   lanes_bold(t, ink), name);
		lanes_cell(g, row + i, at + width - 10, 10, true,
			   lanes_ink(t, INK_TEXT), size);
	}
}

static void draw_wide_values(const struct tui *t, struct grid *g, int row,
			     const struct lanes_plan *plan,
			     const struct panel *p, size_t device)
{
	const struct gk_device *d = &t->snap->devices[device];
	double busy = lanes_number(d->m[GK_M_GPU_UTIL]), max;
	struct grid_style strong = lanes_ink(t, INK_STRONG);
	struct grid_style dim = lanes_ink(t, INK_DIM);
	char text[48];

	put_number(g, row, p->number, p->number_width,
		   lanes_busy_style(t, busy, INK_STRONG),
		   (struct reading){"", busy, 0, " %"});
	put_number(g, row + 1, p->number, p->number_width, dim,
		   (struct reading){
		       "mean ",
		       lanes_mean(t, d, GK_HD_GPU_UTIL, p->trace_width, &max),
		       0, ""});
	put_number(
	    g, row, p->watts, p->watts_width, strong,
	    (struct reading){"", lanes_watts(d->m[GK_M_POWER]), 0, " W"});
	put_number(
	    g, row + 1, p->watts, p->watts_width, dim,
	    (struct reading){"of ", lanes_watts(gk_power_limit(d)), 0, ""});
	lanes_memory(t, g, row, p->bar, p->bar_width, device);
	snprintf(text, sizeof text, "%.1f of %.0f GiB",
		 lanes_gib(d->m[GK_M_MEM_USED]),
		 lanes_gib(d->m[GK_M_MEM_TOTAL]));
	lanes_cell(g, row, p->value, p->value_width, true, used_style(t, d),
		   lanes_gib(d->m[GK_M_MEM_TOTAL]) < 0 ? "—" : text);
	draw_owners(t, g, row + 1, plan->trace_rows - 1, p->bar,
		    owners_width(t, p->bar_width), device);
}

/* ---- traces ---- */

static void draw_trace(struct tui *t, struct grid *g, int row, int at,
		       int width, int rows, size_t device,
		       enum gk_history_device series, double top,
		       enum lanes_trace_kind kind)
{
	bool gone = gk_device_gone(&t->snap->devices[device]);

	lanes_trace_device(
	    t, g, device, series,
	    (struct lanes_trace){.row = row,
				 .column = at,
				 .rows = rows,
				 .columns = width,
				 .top = top,
				 .kind = gone ? TRACE_GONE : kind});
}

/* ---- a GPU that is gone ---- */

/* Returns the last known value of a series, or -1. */
static double last_known(const struct tui *t, const struct gk_device *d,
			 enum gk_history_device series)
{
	float values[2 * REMEMBERED];
	struct gk_history_span span = tui_time_span(t, REMEMBERED);

	gk_history_of_device(t->history, d->uuid, series, span, values);
	for (unsigned i = span.count; i-- > 0;)
		if (!isnan(values[i]))
			return (double)values[i];
	return -1;
}

static void add_was(char *dst, size_t cap, struct reading r)
{
	size_t len = strlen(dst);

	if (r.number < 0)
		return;
	len +=
	    (size_t)snprintf(dst + len, cap - len, "%s", len ? " · " : "was ");
	reading_text(r, dst + len, cap - len);
}

static void draw_gone(const struct tui *t, struct grid *g, int row, int at,
		      size_t device)
{
	static const struct {
		const char *before;
		enum gk_history_device series;
		const char *behind;
	} were[] = {{"", GK_HD_GPU_UTIL, "% busy"},
		    {"", GK_HD_MEM, "% of its memory"},
		    {"", GK_HD_POWER, " W"},
		    {"", GK_HD_TEMP, " °C"}};
	const struct gk_device *d = &t->snap->devices[device];
	int width = g->columns - 1 - at;
	char text[GK_WHY_MAX];

	gk_state_why(text, t->snap, d);
	lanes_cell(g, row, at, width, false, lanes_ink(t, INK_FAIL), text);
	*text = '\0';
	for (size_t i = 0; i < sizeof were / sizeof *were; i++)
		add_was(text, sizeof text,
			(struct reading){were[i].before,
					 last_known(t, d, were[i].series), 0,
					 were[i].behind});
	lanes_cell(g, row + 1, at, width, false, lanes_ink(t, INK_DIM), text);
	if (!d->process_count)
		return;
	snprintf(text, sizeof text, "%u process%s still hold%s it",
		 d->process_count, d->process_count == 1 ? "" : "es",
		 d->process_count == 1 ? "s" : "");
	lanes_cell(g, row + 2, at, width, false, lanes_ink(t, INK_DIM), text);
}

/* ---- MIG devices ---- */

static void draw_instance(const struct tui *t, struct grid *g, int row,
			  size_t device)
{
	const struct gk_device *d = &t->snap->devices[device];
	const char *profile = strrchr(d->name, ' ');
	char label[GK_NAME_MAX], owners[96], value[48];
	int at = 16, end = g->columns - 1, room = g->columns >= 100 ? 26 : 14;
	int value_width = 19, bar = end - value_width - room - 2 - at;

	lanes_put(g, row, 2, lanes_ink(t, INK_TEXT), "%s %.9s",
		  gk_device_label(label, d), profile ? profile + 1 : d->name);
	lanes_memory(t, g, row, at, bar, device);
	lanes_owner_text(t, device, room, owners, sizeof owners);
	lanes_cell(g, row, at + bar + 1, room, false,
		   lanes_ink(t, *owners ? INK_TEXT : INK_DIM),
		   *owners ? owners : "free");
	snprintf(value, sizeof value, "%.1f of %4.1f GiB",
		 lanes_gib(d->m[GK_M_MEM_USED]),
		 lanes_gib(d->m[GK_M_MEM_TOTAL]));
	lanes_cell(g, row, end - value_width, value_width, true,
		   lanes_ink(t, INK_TEXT), value);
}

void lanes_panel(struct tui *t, struct grid *g, int row,
		 const struct lanes_plan *plan, size_t device)
{
	const struct gk_device *d = &t->snap->devices[device];
	struct panel p = panel_of(g->columns);
	int migs = lanes_migs(t, device), rows = plan->trace_rows;
	double limit = lanes_watts(gk_power_limit(d));

	lanes_header(t, g, row++, device);
	if (migs && !gk_device_gone(d)) {
		for (int i = 0; i < migs; i++)
			draw_instance(t, g, row + i, device + 1 + (size_t)i);
		return;
	}
	draw_trace(t, g, row, p.trace, p.trace_width, rows, device,
		   GK_HD_GPU_UTIL, 100, TRACE_WORK);
	if (gk_device_gone(d)) {
		draw_gone(t, g, row, p.number, device);
		return;
	}
	if (p.power_width) {
		draw_trace(t, g, row, p.power, p.power_width, rows, device,
			   GK_HD_POWER, limit, TRACE_POWER);
		draw_wide_values(t, g, row, plan, &p, device);
		return;
	}
	draw_instruments(t, g, row, &p, device);
	if (rows > 3)
		draw_owners(t, g, row + 3, rows - 3, p.bar,
			    owners_width(t, p.bar_width + 1 + p.value_width),
			    device);
}
