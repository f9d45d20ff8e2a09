/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line.c - draws a GPU in a single row; in the form "pair", draws the same
 * values in a row below a header.
 */
#include "tui/lanes/part.h"

#include "base/round.h"
#include "format/names.h"
#include "tui/lanes/trace.h"
#include "tui/model/model.h"

#include <stdio.h>
#include <string.h>

#define GIB 1073741824.0
/* The driver's own memory is shown only if it is at least this many bytes. */
#define SEEN_LEAST (64 << 20)

/*
 * Widths of the columns on a terminal of at least `least` columns. 0 means that
 * a column is left out.
 */
struct line_class {
	int least;
	int index, model, state, busy, value, watts, power, temp, clock, bw,
	    owners;
	int spark;  /* width of the sparkline in tenths of the remaining
		     * width; the bar of memory gets the rest */
	bool limit; /* "354/400" */
};

static const struct line_class classes[] = {
    {140, 3, 16, 12, 4, 8, 7, 6, 4, 5, 4, 24, 6, true},
    {100, 3, 16, 12, 4, 8, 7, 6, 4, 5, 4, 0, 6, true},
    {72, 3, 8, 12, 4, 8, 4, 6, 4, 0, 0, 0, 4, false},
    {56, 2, 5, 12, 4, 6, 5, 0, 4, 0, 0, 0, 5, false},
    {0, 2, 0, 1, 4, 7, 5, 0, 4, 0, 0, 0, 0, false},
};

struct line_layout {
	struct lanes_span index, model, state, spark, busy, memory, value,
	    watts, power, temp, clock, bw, owners;
	bool limit, wide; /* wide: there is space for a bar of power */
	bool units;       /* numbers have units because there are no titles */
	int end;
};

/*
 * Returns the width of all columns but sparkline and memory, each with a blank
 * before it.
 */
static int fixed_columns(const struct line_class *c, int model)
{
	const int widths[] = {model,    c->state, c->busy, c->value,
			      c->watts, c->power, c->temp, c->clock,
			      c->bw,    c->owners};
	int sum = c->index;

	for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
		sum += widths[i] ? widths[i] + 1 : 0;
	return sum;
}

static int longest_model(const struct tui *t, int width)
{
	char model[GK_NAME_MAX];
	int longest = (int)strlen("MODEL");

	if (!width || lanes_one_model(t))
		return 0;
	for (size_t i = 0; i < lanes_gpus(t); i++) {
		int w = lanes_width(lanes_model(
		    t, &t->snap->devices[lanes_gpu(t, i)], width, model));

		longest = w > longest ? w : longest;
	}
	return longest < width ? longest : width;
}

static struct line_layout lay_out_line(const struct tui *t)
{
	const struct line_class *c = classes;
	struct line_layout l = {0};
	int at = 0, rest, spark, model;

	while (c->least > t->columns)
		c++;
	model = longest_model(t, c->model);
	rest = t->columns - 1 - fixed_columns(c, model) - 3;
	spark = rest * c->spark / 10;
	l.limit = c->limit;
	l.wide = c->power;
	l.index = lanes_take_span(&at, 0, c->index);
	l.model = lanes_take_span(&at, 1, model);
	l.state = lanes_take_span(&at, 1, c->state);
	l.spark = lanes_take_span(&at, 1, spark);
	l.busy = lanes_take_span(&at, 1, c->busy);
	l.memory = lanes_take_span(&at, spark ? 2 : 1, rest - spark);
	l.value = lanes_take_span(&at, 1, c->value);
	l.watts = lanes_take_span(&at, 1, c->watts);
	l.power = lanes_take_span(&at, 1, c->power);
	l.temp = lanes_take_span(&at, 1, c->temp);
	l.clock = lanes_take_span(&at, 1, c->clock);
	l.bw = lanes_take_span(&at, 1, c->bw);
	l.owners = lanes_take_span(&at, 1, c->owners);
	l.end = at;
	return l;
}

/* Returns how many seconds a sparkline of this width covers. */
static unsigned seconds_of(const struct tui *t, int width)
{
	return (unsigned)(tui_time_step(t) / 1000000000U) * (unsigned)width;
}

void lanes_line_titles(const struct tui *t, struct grid *g, int row)
{
	struct line_layout l = lay_out_line(t);
	struct grid_style dim = lanes_ink(t, INK_DIM);
	char busy[32];

	snprintf(busy, sizeof busy, "BUSY last %us",
		 seconds_of(t, l.spark.width));
	if (lanes_width(busy) > l.spark.width + l.busy.width + 1)
		snprintf(busy, sizeof busy, "BUSY");
	lanes_put_span(g, row, l.index, true, dim, "#");
	lanes_put_span(g, row, l.model, false, dim, "MODEL");
	lanes_put_span(g, row, l.state, false, dim, "STATE");
	if (l.spark.width)
		lanes_put(g, row, l.spark.at, dim, "%s", busy);
	lanes_put_span(g, row, l.memory, false, dim,
		       l.memory.width < 17 ? "MEMORY"
		       : lanes_by_user(t)  ? "MEMORY by owner"
					   : "MEMORY by process");
	lanes_put_span(g, row, l.value, true, dim, "GiB");
	lanes_put_span(g, row, l.watts, true, dim, l.limit ? "POWER W" : "W");
	lanes_put_span(g, row, l.temp, true, dim, "TEMP");
	lanes_put_span(g, row, l.clock, true, dim, "MHz");
	lanes_put_span(g, row, l.bw, true, dim, "BW");
	lanes_put_span(g, row, l.owners, false, dim,
		       lanes_by_user(t) ? "GiB by owner" : "GiB by process");
}

/* ---- values ---- */

/* Draws the memory, as "60.0/80" or "60/80G". */
static void draw_value(const struct tui *t, struct grid *g, int row,
		       const struct line_layout *l, const struct gk_device *d)
{
	double used = lanes_gib(d->m[GK_M_MEM_USED]);
	double total = lanes_gib(d->m[GK_M_MEM_TOTAL]);
	char text[48], whole[24];
	int at;

	if (used < 0 || total < 0) {
		lanes_put_span(g, row, l->value, true, lanes_ink(t, INK_DIM),
			       "—");
		return;
	}
	snprintf(whole, sizeof whole, "/%.0f%s", total,
		 l->spark.width || t->columns >= 56 ? "" : "G");
	snprintf(text, sizeof text, "%.*f",
		 l->value.width >= 8 && used < 100 ? 1 : 0, used);
	at = l->value.at + l->value.width - lanes_width(whole);
	lanes_put(g, row, at - lanes_width(text),
		  lanes_memory_style(t, used / total), "%s", text);
	lanes_put(g, row, at, lanes_ink(t, INK_DIM), "%s", whole);
}

static void draw_busy(const struct tui *t, struct grid *g, int row,
		      const struct line_layout *l, const struct gk_device *d)
{
	double busy = lanes_number(d->m[GK_M_GPU_UTIL]);
	char text[16] = "—";

	if (busy >= 0)
		snprintf(text, sizeof text, "%.0f%%", busy);
	lanes_put_span(g, row, l->busy, true,
		       lanes_busy_style(t, busy, INK_DIM), text);
}

static void draw_power(const struct tui *t, struct grid *g, int row,
		       const struct line_layout *l, const struct gk_device *d)
{
	double watts = lanes_watts(d->m[GK_M_POWER]);
	double limit = lanes_watts(gk_power_limit(d));
	char text[32] = "—";

	if (watts >= 0 && l->limit && limit > 0)
		snprintf(text, sizeof text, "%.0f/%.0f%s", watts, limit,
			 l->units ? " W" : "");
	else if (watts >= 0)
		snprintf(text, sizeof text, "%.0f%s", watts,
			 l->units  ? " W"
			 : l->wide ? ""
				   : "W");
	lanes_put_span(g, row, l->watts, true, lanes_ink(t, INK_STRONG), text);
	if (l->power.width && watts >= 0 && limit > 0)
		lanes_bar(t, g, row, l->power.at, l->power.width, watts / limit,
			  lanes_ink(t, INK_POWER));
}

static void draw_rest(const struct tui *t, struct grid *g, int row,
		      const struct line_layout *l, const struct gk_device *d,
		      enum gk_state_kind kind)
{
	double heat = lanes_number(d->m[GK_M_TEMP]);
	double clock = lanes_mhz(d->m[GK_M_SM_CLOCK]);
	double bw = lanes_number(d->m[GK_M_MEM_UTIL]);
	char text[24] = "—";

	if (heat >= 0)
		snprintf(text, sizeof text, "%.0f°", heat);
	lanes_put_span(g, row, l->temp, true,
		       kind == GK_STATE_HOT ? lanes_bold(t, INK_WARN)
					    : lanes_ink(t, INK_STRONG),
		       text);
	snprintf(text, sizeof text, clock >= 0 ? "%.0f" : "—", clock);
	lanes_put_span(g, row, l->clock, true, lanes_ink(t, INK_DIM), text);
	snprintf(text, sizeof text, bw >= 0 ? "%s%.0f%%" : "%s—",
		 l->units ? "mem bw " : "", bw);
	lanes_put_span(g, row, l->bw, true, lanes_ink(t, INK_DIM), text);
}

void lanes_owner_text(const struct tui *t, size_t device, int width, char *dst,
		      size_t cap)
{
	struct gk_share shares[GK_SHARES];
	int count = lanes_shares(t, device, shares);

	*dst = '\0';
	for (int i = 0; i < count; i++) {
		char one[GK_NAME_MAX + 24];
		size_t len = strlen(dst);

		if (!shares[i].processes &&
		    (count > 1 || shares[i].bytes < SEEN_LEAST))
			continue;
		snprintf(one, sizeof one, "%s%s %.1f", len ? " · " : "",
			 shares[i].name,
			 gk_half_up((double)shares[i].bytes / GIB));
		if (lanes_width(dst) + lanes_width(one) > width)
			break;
		snprintf(dst + len, cap - len, "%s", one);
	}
}

/* Draws the values: all columns but index, model and state. */
static void draw_values(struct tui *t, struct grid *g, int row,
			const struct line_layout *l, size_t device,
			enum gk_state_kind kind)
{
	const struct gk_device *d = &t->snap->devices[device];
	char owners[128];

	if (l->spark.width)
		lanes_spark(t, g, row, l->spark.at, l->spark.width, device);
	draw_busy(t, g, row, l, d);
	lanes_memory(t, g, row, l->memory.at, l->memory.width, device);
	draw_value(t, g, row, l, d);
	draw_power(t, g, row, l, d);
	draw_rest(t, g, row, l, d, kind);
	if (!l->owners.width)
		return;
	lanes_owner_text(t, device, l->owners.width, owners, sizeof owners);
	lanes_put_span(g, row, l->owners, false, lanes_ink(t, INK_DIM), owners);
}

static void draw_broken(const struct tui *t, struct grid *g, int row, int at,
			int end, const struct gk_device *d, bool named)
{
	char text[256], trouble[GK_WHY_MAX], model[GK_NAME_MAX];

	gk_state_why(trouble, t->snap, d);
	snprintf(text, sizeof text, "%s%s%s",
		 named ? lanes_model(t, d, 8, model) : "", named ? " " : "",
		 trouble);
	lanes_cell(g, row, at, end - at, false, lanes_ink(t, INK_FAIL), text);
}

/*
 * Draws index, model and state. If space is short, draws only the state's
 * glyph.
 */
static void draw_identity(const struct tui *t, struct grid *g, int row,
			  const struct line_layout *l,
			  const struct gk_device *d, struct lanes_state *s)
{
	char text[96], model[GK_NAME_MAX];
	enum ink ink = s->ink;

	snprintf(text, sizeof text, "%u", d->index);
	lanes_put_span(g, row, l->index, true, lanes_ink(t, INK_STRONG), text);
	if (l->model.width)
		lanes_put_span(g, row, l->model, false, lanes_ink(t, INK_TEXT),
			       lanes_model(t, d, l->model.width, model));
	snprintf(text, sizeof text, "%lc", (wint_t)s->glyph);
	if (l->state.width > 1)
		snprintf(text, sizeof text, "%lc %s", (wint_t)s->glyph,
			 s->words);
	lanes_put_span(g, row, l->state, false,
		       ink == INK_DIM ? lanes_ink(t, ink) : lanes_bold(t, ink),
		       text);
}

static void draw_mig(struct tui *t, struct grid *g, int row,
		     const struct line_layout *l, size_t device)
{
	const struct gk_device *d = &t->snap->devices[device];
	const char *profile = strrchr(d->name, ' ');
	char text[GK_NAME_MAX + 32], label[GK_NAME_MAX];
	int at = l->index.at + l->index.width - 1;

	snprintf(text, sizeof text, "%s %s", gk_device_label(label, d),
		 profile ? profile + 1 : d->name);
	lanes_put(g, row, at, lanes_ink(t, INK_DIM), "%s", text);
	lanes_put_span(g, row, l->busy, true, lanes_ink(t, INK_DIM), "—");
	lanes_memory(t, g, row, l->memory.at, l->memory.width, device);
	draw_value(t, g, row, l, d);
	if (!l->owners.width)
		return;
	lanes_owner_text(t, device, l->owners.width, text, sizeof text);
	lanes_put_span(g, row, l->owners, false, lanes_ink(t, INK_DIM), text);
}

static void draw_migs(struct tui *t, struct grid *g, int row,
		      const struct line_layout *l, size_t device)
{
	int migs = lanes_migs(t, device);

	for (int i = 0; i < migs; i++)
		draw_mig(t, g, row + i, l, device + 1 + (size_t)i);
}

static void dim_values(struct grid *g, int row, int at, int end)
{
	grid_mark(g, row, at, end - at, GRID_DIM, GRID_BOLD);
}

void lanes_line(struct tui *t, struct grid *g, int row,
		const struct lanes_plan *plan, size_t device)
{
	const struct gk_device *d = &t->snap->devices[device];
	struct line_layout l = lay_out_line(t);
	struct lanes_state s = lanes_state(t, d, l.state.width);
	int at = l.state.at + l.state.width + 1;

	draw_identity(t, g, row, &l, d, &s);
	if (gk_device_gone(d))
		draw_broken(t, g, row, at, l.end, d, l.state.width == 1);
	else if (s.kind == GK_STATE_UNREAD)
		lanes_put(g, row, at, lanes_ink(t, INK_DIM), GK_READING);
	else
		draw_values(t, g, row, &l, device, s.kind);
	if (s.kind == GK_STATE_STALE || s.kind == GK_STATE_HUNG)
		dim_values(g, row, at, l.end);
	if (plan->migs)
		draw_migs(t, g, row + 1, &l, device);
}

/*
 * Computes the layout of a row below a header. It has no titles, and leaves out
 * the index, model, state, temperature and clock, which the header shows.
 */
static struct line_layout lay_out_pair(const struct tui *t)
{
	struct line_layout l = lay_out_line(t);
	int more = l.spark.at - l.index.width - 1, at = l.watts.at - 1;

	l.spark.at -= more;
	l.spark.width += more;
	l.units = true;
	l.temp.width = l.clock.width = 0;
	l.watts = lanes_take_span(&at, 1, l.limit ? 9 : 6);
	l.power = lanes_take_span(&at, 1, 9);
	if (l.bw.width)
		l.bw = lanes_take_span(&at, 1, 10);
	return l;
}

void lanes_pair_span(const struct tui *t, struct grid *g, int row, int from)
{
	char text[40];
	int width = snprintf(text, sizeof text, "graphs: last %us",
			     seconds_of(t, lay_out_pair(t).spark.width));

	if (from + 2 + width < g->columns)
		lanes_put(g, row, g->columns - 1 - width, lanes_ink(t, INK_DIM),
			  "%s", text);
}

void lanes_pair(struct tui *t, struct grid *g, int row,
		const struct lanes_plan *plan, size_t device)
{
	const struct gk_device *d = &t->snap->devices[device];
	struct line_layout l = lay_out_pair(t);
	struct lanes_state s = lanes_state(t, d, l.state.width);

	lanes_header(t, g, row, device);
	if (gk_device_gone(d))
		draw_broken(t, g, row + 1, l.spark.at, l.end, d, false);
	else if (s.kind != GK_STATE_UNREAD)
		draw_values(t, g, row + 1, &l, device, s.kind);
	if (s.kind == GK_STATE_STALE || s.kind == GK_STATE_HUNG)
		dim_values(g, row + 1, l.spark.at, l.end);
	if (plan->migs)
		draw_migs(t, g, row + 2, &l, device);
}
