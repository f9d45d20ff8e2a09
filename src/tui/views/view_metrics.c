/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_metrics.c - the screen of one process: its row, and four graphs of its
 * values since the viewer started.
 */
#include "base/units.h"
#include "base/str.h"
#include "format/boxed/part.h"
#include "format/names.h"
#include "tui/screen/box.h"
#include "tui/screen/scaled_graph.h"
#include "tui/model/value.h"
#include "tui/views/view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define HEAD_ROWS   5  /* border, user and host, titles, values, rule */
#define RULED_MIN   20 /* minimum rows to show a rule below the titles */
#define COMMAND_MIN 10

enum { GREEN = 2, YELLOW = 3, MAGENTA = 5 };

enum column {
	COLUMN_GPU,
	COLUMN_PID,
	COLUMN_USER,
	COLUMN_MEMORY,
	COLUMN_SM,
	COLUMN_BANDWIDTH,
	COLUMN_ENC,
	COLUMN_DEC,
	COLUMN_CPU,
	COLUMN_HOST,
	COLUMN_TIME,
	COLUMN_COUNT
};

/* If space is short, the last columns are left out first. */
static const struct tui_column columns[COLUMN_COUNT] = {
    [COLUMN_GPU] = {"GPU", 4, GK_RIGHT, 10},
    [COLUMN_PID] = {"PID", 9, GK_RIGHT, 0},
    [COLUMN_USER] = {"USER", 7, GK_RIGHT, 9},
    [COLUMN_MEMORY] = {"GPU-MEM", 8, GK_RIGHT, 8},
    [COLUMN_SM] = {"%SM", 3, GK_RIGHT, 7},
    [COLUMN_BANDWIDTH] = {"%GMBW", 5, GK_RIGHT, 6},
    [COLUMN_ENC] = {"%ENC", 4, GK_RIGHT, 5},
    [COLUMN_DEC] = {"%DEC", 4, GK_RIGHT, 4},
    [COLUMN_CPU] = {"%CPU", 5, GK_RIGHT, 3},
    [COLUMN_HOST] = {"%MEM", 5, GK_RIGHT, 2},
    [COLUMN_TIME] = {"TIME", 8, GK_RIGHT, 1},
};

/* ---- the process on display ---- */

static bool is_process(const struct tui *t, const struct gk_process *p,
		       pid_t pid, uint64_t start_ticks, const char *uuid)
{
	return p->pid == pid && p->start_ticks == start_ticks &&
	       (!*uuid || !strcmp(t->snap->devices[p->device].uuid, uuid));
}

static const struct gk_process *find_followed(const struct tui *t, pid_t pid,
					      uint64_t start_ticks,
					      const char *uuid)
{
	for (size_t i = 0; i < t->snap->process_count; i++)
		if (is_process(t, &t->snap->processes[i], pid, start_ticks,
			       uuid))
			return &t->snap->processes[i];
	return NULL;
}

const struct gk_process *view_metrics_process(const struct tui *t)
{
	const struct tui_metrics *m = &t->metrics;

	return find_followed(t, m->pid, m->start_ticks, m->uuid);
}

static float to_mebibytes(struct gk_value value)
{
	return value.why == GK_PRESENT ? (float)value.v / (float)MIB : 0;
}

bool view_metrics_open(struct tui *t)
{
	const struct tui_identity *s = &t->selected;
	const struct gk_process *p =
	    find_followed(t, s->pid, s->start_ticks, s->uuid);
	struct tui_metrics *m = &t->metrics;
	const struct gk_device *d;

	if (!s->pid || !p) {
		tui_say(t,
			s->pid ? "Process %d is on no GPU."
			       : "Select a process first.",
			(int)s->pid);
		return false;
	}
	d = &t->snap->devices[p->device];
	*m = (struct tui_metrics){
	    .pid = p->pid,
	    .start_ticks = p->start_ticks,
	    .gpu_total = to_mebibytes(d->m[GK_M_MEM_TOTAL]),
	    .host_total = to_mebibytes(t->snap->host.mem_total),
	};
	gk_str_copy(m->uuid, sizeof m->uuid, d->uuid);
	gk_device_label(m->gpu, d);
	gk_str_copy(m->user, sizeof m->user, *p->user ? p->user : "N/A");
	gk_str_copy(m->command, sizeof m->command,
		    *p->command ? p->command : p->name);
	return true;
}

/* ---- its row ---- */

static const char *metric_cell_text(const struct tui *t,
				    const struct gk_process *p, enum column c,
				    char *dst)
{
	static const enum gk_process_metric shares[COLUMN_COUNT] = {
	    [COLUMN_SM] = GK_PM_SM_UTIL,
	    [COLUMN_BANDWIDTH] = GK_PM_MEM_UTIL,
	    [COLUMN_ENC] = GK_PM_ENC_UTIL,
	    [COLUMN_DEC] = GK_PM_DEC_UTIL,
	};
	const struct tui_metrics *m = &t->metrics;

	if (c == COLUMN_GPU)
		return m->gpu;
	if (c == COLUMN_USER)
		return m->user;
	if (c == COLUMN_PID) {
		snprintf(dst, GK_UNITS_MAX, "%d %s", (int)m->pid,
			 p ? gk_process_type_letter(p->types) : "-");
		return dst;
	}
	if (!p)
		return "-";
	if (c == COLUMN_MEMORY)
		return tui_value(dst, p->m[GK_PM_GPU_MEM], GK_UNIT_BYTES);
	if (c == COLUMN_CPU)
		return tui_share(dst, p->m[GK_PM_CPU]);
	if (c == COLUMN_HOST)
		return tui_share(
		    dst, tui_part(p->m[GK_PM_RSS], t->snap->host.mem_total));
	if (c == COLUMN_TIME)
		return tui_value(dst, p->m[GK_PM_RUN_TIME], GK_UNIT_NANOSECOND);
	return tui_value(dst, p->m[shares[c]], GK_UNIT_NONE);
}

/*
 * Uses the colours of the main screen: users magenta, root yellow, the host
 * green.
 */
static void draw_who(const struct tui *t, struct grid *g, const char *who)
{
	int column = g->columns - 2 - (int)gk_columns(who, strlen(who));
	int user = t->user ? (int)gk_columns(t->user, strlen(t->user)) : 0;

	box_text_right(g, 1, g->columns - 2, who,
		       (struct grid_style){GREEN, GRID_BOLD});
	grid_tint(g, 1, column, user, t->uid ? MAGENTA : YELLOW);
	grid_tint(g, 1, column + user, user ? 1 : 0, GRID_COLOR_NONE);
}

static void draw_metrics_command(const struct tui *t, struct grid *g, int row,
				 int column, int room)
{
	struct gk_buf text = {0};

	if (room <= 0)
		return;
	gk_cell(&text, t->metrics.command, (size_t)room, GK_LEFT, "..");
	grid_line(g, row, column, text.data, text.len, GRID_PLAIN);
	gk_buf_free(&text);
}

static bool titles_ruled(const struct grid *g)
{
	return g->rows >= RULED_MIN;
}

static int head_rows(const struct grid *g)
{
	return HEAD_ROWS + titles_ruled(g);
}

/* Adds a value. The GPU's cell has the colour of the GPU's load. */
static void add_metric_value(const struct tui *t, const struct gk_process *p,
			     enum column c, struct gk_buf *out)
{
	bool on = p && c == COLUMN_GPU;
	enum gk_color color = on ? gk_device_color(&t->options.boxed,
						   &t->snap->devices[p->device])
				 : GK_PLAIN;
	char text[GK_UNITS_MAX];

	gk_color_start(out, on, color);
	tui_column_add(out, &columns[c], metric_cell_text(t, p, c, text));
	gk_color_end(out, on, color);
}

/* Draws titles and values. Returns whether the command fits too. */
static bool draw_metrics_table(const struct tui *t, struct grid *g,
			       const struct gk_process *p)
{
	int inner = g->columns - 4, row = head_rows(g) - 2, room, end;
	unsigned shown = tui_columns_fit(columns, COLUMN_COUNT, inner, 0);
	struct gk_buf titles = {0}, values = {0};

	for (int c = 0; c < COLUMN_COUNT; c++) {
		if (!(shown >> c & 1))
			continue;
		tui_column_add(&titles, &columns[c], columns[c].title);
		add_metric_value(t, p, (enum column)c, &values);
	}
	room = inner - (int)titles.len - 1;
	if (room >= COMMAND_MIN)
		gk_buf_puts(&titles, " COMMAND");
	grid_line(g, 2, 2, titles.data, titles.len, GRID_PLAIN);
	end = grid_line(g, row, 2, values.data, values.len, GRID_PLAIN);
	if (room >= COMMAND_MIN)
		draw_metrics_command(t, g, row, end + 1, room);
	gk_buf_free(&titles);
	gk_buf_free(&values);
	return room >= COMMAND_MIN;
}

/*
 * If there is no space for the command's column, the command is in the first
 * line.
 */
static void draw_metrics_head(const struct tui *t, struct grid *g)
{
	const struct gk_process *p = view_metrics_process(t);
	int inner = g->columns - 4, room, end;
	char who[2 * GK_NAME_MAX + 2];

	snprintf(who, sizeof who, "%s%s%s", t->user ? t->user : "",
		 t->user ? "@" : "", t->snap->host.hostname);
	end = box_text(g, 1, 2, inner, p ? "Process:" : "Process, ended:",
		       p ? GRID_PLAIN : (struct grid_style){1, GRID_BOLD});
	room = inner + 2 - end - 2 - (int)gk_columns(who, strlen(who));
	if (!draw_metrics_table(t, g, p))
		draw_metrics_command(t, g, 1, end + 1, room);
	draw_who(t, g, who);
}

/* ---- the graphs of the process ---- */

/* The four graphs of a process. */
static const struct part {
	const char *title;
	enum gk_history_process series;
	bool right, lower;
	uint16_t color;
	float least; /* minimum percentage at the top of the scale */
} parts[] = {
    {"CPU", GK_HP_CPU, false, false, 6, 10},
    {"GPU-MEM", GK_HP_GPU_MEM, true, false, 5, 10},
    {"HOST-MEM", GK_HP_RSS, false, true, 4, 10},
    {"GPU-SM", GK_HP_SM, true, true, 3, 10},
};

/*
 * Returns how many MiB are 100 %; 0 if that is unknown or the series is in
 * percent.
 */
static float whole_of(const struct tui *t, const struct part *part)
{
	if (part->series == GK_HP_GPU_MEM)
		return t->metrics.gpu_total;
	return part->series == GK_HP_RSS ? t->metrics.host_total : 0;
}

static bool in_mebibytes(const struct part *part)
{
	return part->series == GK_HP_GPU_MEM || part->series == GK_HP_RSS;
}

/* Writes "101.0%" or "1500MiB (1.8%)". */
static void format_part(char *dst, size_t cap, const struct part *part,
			float value, float whole)
{
	char size[GK_UNITS_MAX];

	if (isnan(value))
		snprintf(dst, cap, "N/A");
	else if (!in_mebibytes(part))
		snprintf(dst, cap, "%.1f%%", (double)value);
	else if (!(whole > 0))
		snprintf(dst, cap, "%s",
			 gk_human_size(size, (int64_t)(value * (float)MIB)));
	else
		snprintf(dst, cap, "%s (%.1f%%)",
			 gk_human_size(size, (int64_t)(value * (float)MIB)),
			 (double)(100 * value / whole));
}

static void write_texts(struct scaled_graph *graph, const struct part *part,
			const float *values, unsigned count, float whole)
{
	char text[64], size[GK_UNITS_MAX];
	const char *total = "";
	char of[GK_UNITS_MAX + 4];

	format_part(text, sizeof text, part, scaled_graph_last(values, count),
		    whole);
	snprintf(graph->inner, sizeof graph->inner, "    %s: %s ", part->title,
		 text);
	if (in_mebibytes(part) && whole > 0) {
		snprintf(of, sizeof of, " / %s",
			 gk_human_size(size, (int64_t)(whole * (float)MIB)));
		total = of;
	}
	format_part(text, sizeof text, part, scaled_graph_max(values, count),
		    whole);
	snprintf(graph->outer, sizeof graph->outer, "MAX %s: %s%s ",
		 part->title, text, total);
}

static void to_percent(const struct part *part, float *values, unsigned count,
		       float whole)
{
	for (unsigned i = 0; in_mebibytes(part) && i < count; i++)
		values[i] = whole > 0 ? 100 * values[i] / whole : NAN;
}

static float highest_top(const struct tui *t, const struct part *part)
{
	float all = 100 * (float)t->snap->host.cpus;

	return part->series != GK_HP_CPU ? 100 : all > 1000 ? all : 1000;
}

static void draw_part(const struct tui *t, struct grid *g,
		      const struct part *part, struct scaled_graph graph)
{
	const struct tui_metrics *m = &t->metrics;
	struct gk_history_span span = tui_time_span(t, graph.columns);
	float values[SCALED_GRAPH_VALUES], whole = whole_of(t, part), least;

	gk_history_of_process(t->history, m->pid, m->start_ticks, m->uuid,
			      part->series, span, values);
	write_texts(&graph, part, values, span.count, whole);
	to_percent(part, values, span.count, whole);
	least = isnan(scaled_graph_max(values, span.count)) ? 100 : part->least;
	graph.top =
	    scaled_graph_top(values, span.count, least, highest_top(t, part));
	graph.unit = "%";
	graph.color = part->color;
	graph.hanging = part->lower;
	scaled_graph_draw(g, &graph, values);
}

/* Where the lines of the box are. */
struct frame {
	int top;    /* first row of the graphs */
	int middle; /* column between the left and right graphs */
	int axis;   /* row between the upper and lower graphs */
	int end;    /* last row */
};

static struct scaled_graph place_metric_graph(const struct grid *g,
					      const struct frame *f,
					      const struct part *part)
{
	struct scaled_graph graph = {0};

	graph.row = part->lower ? f->axis + 1 : f->top;
	graph.rows = part->lower ? f->end - f->axis - 1 : f->axis - f->top;
	graph.column = part->right ? f->middle + 1 : 1;
	graph.columns = scaled_graph_columns(
	    part->right ? g->columns - f->middle - 2 : f->middle - 1);
	return graph;
}

static void draw_metrics_frame(struct grid *g, const struct frame *f)
{
	static const struct grid_style plain = GRID_PLAIN;
	int w = g->columns;

	box_rule(g, 0, 0, w, "╒", "═", "╕");
	box_rule(g, f->top - 1, 0, w, "╞", "═", "╡");
	box_rule(g, f->end, 0, w, "╘", "═", "╛");
	box_side(g, 1, f->top - 2, 0, "│");
	box_side(g, 1, f->top - 2, w - 1, "│");
	if (titles_ruled(g))
		box_rule(g, f->top - 3, 0, w, "├", "─", "┤");
	box_side(g, f->top, f->end - f->top, 0, "│");
	box_side(g, f->top, f->end - f->top, w - 1, "│");
	box_side(g, f->top, f->end - f->top, f->middle, "│");
	box_text(g, f->top - 1, f->middle, 1, "╤", plain);
	box_text(g, f->end, f->middle, 1, "╧", plain);
	box_text(g, f->axis, 0, 1, "├", plain);
	box_text(g, f->axis, f->middle, 1, "┼", plain);
	box_text(g, f->axis, w - 1, 1, "┤", plain);
}

static void draw_metrics_axes(const struct tui *t, struct grid *g,
			      const struct frame *f)
{
	struct grid_style dim = {GRID_COLOR_NONE, GRID_DIM};
	uint64_t step = tui_time_step(t);

	graph_axis(g, f->axis, 1, f->middle - 1, step, dim);
	graph_axis(g, f->axis, f->middle + 1, g->columns - f->middle - 2, step,
		   dim);
}

int view_metrics(struct tui *t, struct grid *g)
{
	int top = head_rows(g);
	struct frame f = {.top = top,
			  .middle = (g->columns - 1) / 2,
			  .axis = (top + g->rows - 1) / 2,
			  .end = g->rows - 1};

	t->first_process_line = -1;
	draw_metrics_frame(g, &f);
	draw_metrics_head(t, g);
	draw_metrics_axes(t, g, &f);
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		draw_part(t, g, &parts[i],
			  place_metric_graph(g, &f, &parts[i]));
	return g->rows;
}
