/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.c - draws the screen of one GPU in lanes: header, graphs, and all
 * facts by section.
 */
#include "tui/lanes/device.h"

#include "format/names.h"
#include "tui/views/device_part.h"
#include "format/width.h"
#include "tui/model/facts.h"
#include "tui/lanes/part.h"
#include "tui/lanes/point.h"
#include "tui/lanes/trace.h"
#include "tui/views/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMN_LEAST   38 /* minimum width of a column of facts */
#define COLUMNS_MAX    3
#define TITLE          19 /* width of a fact's title, with a blank */
#define LINES_MAX      256
#define GRAPHS_LEAST   7 /* rows */
#define OWNERS_COLUMNS 88
#define OWNERS         512 /* bytes */

/* A line in a column of facts. */
struct device_line {
	char title[32], text[256];
	bool heading, dim;
};

struct device_lines {
	struct device_line list[LINES_MAX];
	int count;
};

/* The common arguments of the functions that draw the screen. */
struct device_screen {
	struct tui *t;
	struct grid *g;
	size_t device;
	/* The values from when the GPU was last healthy. */
	const struct gk_device *values;
	int columns, width; /* number of columns of facts, and width of each */
};

/* ---- words ---- */

/*
 * Returns the full form of a title that facts.def shortens for narrow columns.
 */
static const char *whole_title(const char *title)
{
	static const char *const longer[][2] = {
	    {"Slowdown", "Slowdown temperature"},
	    {"Shutdown", "Shutdown temperature"},
	    {"Banks, no spares", "Banks without spare rows"},
	};

	for (size_t i = 0; i < sizeof longer / sizeof *longer; i++)
		if (!strcmp(title, longer[i][0]))
			return longer[i][1];
	return title;
}

static int find_fact(const char *title)
{
	int i = 0;

	while (i < tui_fact_count() && strcmp(tui_fact_title(i), title) != 0)
		i++;
	return i;
}

/* ---- lines ---- */

static struct device_line *add_line(struct device_lines *lines,
				    const char *title)
{
	struct device_line *line = &lines->list[lines->count];

	if (lines->count == LINES_MAX - 1)
		return line; /* full: later lines overwrite this one */
	lines->count++;
	*line = (struct device_line){0};
	snprintf(line->title, sizeof line->title, "%s", title);
	return line;
}

/* Adds a title and its text. A long text is wrapped into further lines. */
static void add_wrapped_text(struct device_lines *lines, const char *title,
			     const char *text, int width, bool dim)
{
	int begin = lanes_width(title) + 1;
	int room = width - 2 - (begin > TITLE ? begin : TITLE);

	do {
		struct device_line *line = add_line(lines, title);
		size_t n = gk_fit_words(text, strlen(text),
					room < 1 ? 1 : (size_t)room);

		snprintf(line->text, sizeof line->text, "%.*s", (int)n, text);
		line->dim = dim;
		text += n + strspn(text + n, " ");
		title = "";
		room = width - 2 - TITLE;
	} while (*text);
}

/*
 * Cuts the percentage off "12.5GiB / 80.0GiB (59.6%)" if the column is too
 * narrow.
 */
static void cut_percent(struct gk_buf *text, int room)
{
	char *bracket = text->len ? strrchr(text->data, '(') : NULL;

	if (!bracket || bracket == text->data || !strstr(bracket, "%)") ||
	    lanes_width(text->data) <= room)
		return;
	text->len = (size_t)(bracket - 1 - text->data);
	text->data[text->len] = '\0';
}

static void add_fact(const struct device_screen *s, struct device_lines *lines,
		     int fact)
{
	struct gk_buf text = {0};
	bool known;

	if (fact >= tui_fact_count() ||
	    tui_fact_is_unsupported(fact, s->t->snap, s->values))
		return;
	known = tui_fact_add(&text, fact, s->t->snap, s->values);
	cut_percent(&text, s->width - 2 - TITLE);
	add_wrapped_text(lines, whole_title(tui_fact_title(fact)),
			 text.data ? text.data : "", s->width, !known);
	gk_buf_free(&text);
}

/*
 * Adds the GPU's state and the owners of its memory, which are not in
 * facts.def.
 */
static void add_now(const struct device_screen *s, struct device_lines *lines)
{
	struct lanes_state state = lanes_state(
	    s->t, &s->t->snap->devices[s->device], s->width - 2 - TITLE);
	char owners[OWNERS], text[OWNERS + 8];

	add_wrapped_text(lines, "State", state.words, s->width, false);
	if (gk_device_gone(&s->t->snap->devices[s->device]))
		return;
	lanes_owner_text(s->t, s->device, OWNERS_COLUMNS, owners,
			 sizeof owners);
	snprintf(text, sizeof text, "%s%s", owners, *owners ? " GiB" : "free");
	add_wrapped_text(lines, "Memory by owner", text, s->width, false);
}

/*
 * Adds a heading, and lines that facts.def has in another section or not at
 * all.
 */
static void add_heading(const struct device_screen *s,
			struct device_lines *lines, const char *title)
{
	/* Removes the previous heading if its section is empty. */
	if (lines->count && lines->list[lines->count - 1].heading)
		lines->count--;
	add_line(lines, title)->heading = true;
	if (!strcmp(title, "Now"))
		add_now(s, lines);
	if (!strcmp(title, "Clocks and throttling"))
		add_fact(s, lines, find_fact("Throttle reasons"));
	if (!strcmp(title, "Identity"))
		add_wrapped_text(lines, "UUID", s->values->uuid, s->width,
				 false);
	if (!strcmp(title, "Errors"))
		add_fact(s, lines, find_fact("Last Xid"));
}

/* Adds the sections from title `from` up to, but not including, title `to`. */
static void add_sections(const struct device_screen *s,
			 struct device_lines *lines, const char *from,
			 const char *to)
{
	int end = find_fact(to);

	for (int fact = find_fact(from); fact < end; fact++)
		if (tui_fact_is_section(fact))
			add_heading(s, lines, tui_fact_title(fact));
		else
			add_fact(s, lines, fact);
	if (lines->count && lines->list[lines->count - 1].heading)
		lines->count--;
}

/* ---- drawing ---- */

static void draw_device_line(const struct device_screen *s, int row, int column,
			     const struct device_line *line)
{
	const struct tui *t = s->t;
	int begin = lanes_width(line->title) + 1;

	begin = column + 1 + (begin > TITLE ? begin : TITLE);
	if (line->heading) {
		lanes_put(s->g, row, column + 1, lanes_bold(t, INK_TEXT), "%s",
			  line->title);
		return;
	}
	lanes_put(s->g, row, column + 1, lanes_ink(t, INK_DIM), "%s",
		  line->title);
	lanes_cell(s->g, row, begin, column + s->width - 1 - begin, false,
		   lanes_ink(t, line->dim ? INK_DIM : INK_TEXT), line->text);
}

/*
 * Distributes lines over columns of `rows` rows. A heading is never the last
 * line of a column. Returns the number of columns used.
 */
static int flow_lines(const struct device_screen *s, int row, int rows,
		      const struct device_lines *lines, bool draw)
{
	int at = 0, column = 0;

	for (int i = 0; i < lines->count; i++) {
		const struct device_line *line = &lines->list[i];

		if (at == rows || (at == rows - 1 && line->heading)) {
			at = 0;
			column++;
		}
		if (draw)
			draw_device_line(s, row + at, column * s->width, line);
		at++;
	}
	return column + 1;
}

static int draw_sections(const struct device_screen *s, int row,
			 const char *from, const char *to)
{
	struct device_lines *lines = calloc(1, sizeof *lines);
	int rows;

	if (!lines)
		return 0;
	add_sections(s, lines, from, to);
	rows = (lines->count + s->columns - 1) / s->columns;
	while (rows && flow_lines(s, row, rows, lines, false) > s->columns)
		rows++;
	flow_lines(s, row, rows, lines, true);
	free(lines);
	return rows;
}

static int draw_unsupported(const struct device_screen *s, int row)
{
	struct device_screen whole = *s;
	struct device_lines *lines = calloc(1, sizeof *lines);
	struct gk_buf text = {0};
	int rows;

	whole.width = s->width * s->columns;
	tui_facts_add_unsupported(&text, s->t->snap, s->values);
	if (lines && text.len)
		add_wrapped_text(lines, "Not supported", text.data, whole.width,
				 true);
	rows = lines ? lines->count : 0;
	for (int i = 0; i < rows; i++)
		draw_device_line(&whole, row + i, 0, &lines->list[i]);
	free(lines);
	gk_buf_free(&text);
	return rows;
}

/* Draws everything but the graphs. Returns the number of rows. */
static int draw_body(const struct device_screen *s, int row)
{
	const struct tui *t = s->t;
	const struct gk_device *d = &t->snap->devices[s->device];
	struct grid *g = s->g;
	int begin = row, migs = lanes_migs(t, s->device);

	row += draw_sections(s, row, "Now", "Media");
	row += view_device_peers(t, g, row, d);
	row += view_device_links(t, g, row, s->values);
	if (migs) {
		row += draw_sections(s, row, "Media", "Settings");
		lanes_put(g, row++, 1, lanes_bold(t, INK_TEXT), "MIG");
		row += view_device_migs(t, g, row, d);
	}
	row += draw_sections(s, row, migs ? "Settings" : "Media", "");
	return row + draw_unsupported(s, row) - begin;
}

/*
 * Draws what is wrong with the GPU, and the age of its values. Returns the
 * number of rows.
 */
static int draw_trouble(const struct device_screen *s, int row)
{
	const struct gk_device *d = &s->t->snap->devices[s->device];
	struct grid_style style = lanes_bold(s->t, INK_FAIL);
	char text[GK_WHY_MAX + 32];

	view_device_trouble(s->t, d, text, sizeof text);
	if (!*text)
		return 0;
	style.attribute |= GRID_REVERSE;
	lanes_fill(s->g, row, 0, s->g->columns, L' ', style);
	lanes_cell(s->g, row, 0, s->g->columns, false, style, text);
	return 1;
}

static int draw_all(const struct device_screen *s, int row, int rows)
{
	int begin = row, least = rows / 3, graphs;
	struct device_screen blind = *s;
	struct grid nowhere = {.columns = s->g->columns};
	int pages = lanes_graph_pages(s->values, s->g->columns);

	blind.g = &nowhere;
	graphs = rows - draw_trouble(&blind, 0) - draw_body(&blind, 0);
	least = least < GRAPHS_LEAST ? GRAPHS_LEAST : least;
	graphs = graphs > least ? graphs : least;
	row += draw_trouble(s, row);
	lanes_graphs(s->t, s->g, row, graphs, s->device, s->values,
		     (int)s->t->device.graphs % pages);
	row += graphs;
	return row + draw_body(s, row) - begin;
}

/* ---- the screen of a GPU ---- */

/*
 * Draws the keys. Also draws, at the right, the scroll position or, if a past
 * moment is shown, a note that says so.
 */
static void draw_foot(struct tui *t, struct grid *g, int lines)
{
	char place[64] = "";
	int rows = g->rows - 2, end = g->columns - 1;

	tui_time_text(t, place);
	end -= *place ? lanes_width(place) + 2 : 0;
	if (!*place && lines > rows) {
		lanes_range_text(t->scroll, rows, lines, place, sizeof place);
		end -= lanes_width(place);
		lanes_put(g, g->rows - 1, end, lanes_ink(t, INK_DIM), "%s",
			  place);
	}
	lanes_device_footer(t, g, g->rows - 1, end);
	lanes_scroll_bar(t, g, 1, rows, lines);
}

int lanes_device(struct tui *t, struct grid *g, const struct gk_device *d,
		 const struct gk_device *values)
{
	struct device_screen s = {.t = t,
				  .g = g,
				  .device = (size_t)(d - t->snap->devices),
				  .values = values};
	int rows = g->rows - 2, lines;
	struct grid middle = *g;

	middle.rows = g->rows - 1;
	s.g = &middle;
	s.columns = g->columns / COLUMN_LEAST;
	s.columns = s.columns < 1             ? 1
		    : s.columns > COLUMNS_MAX ? COLUMNS_MAX
					      : s.columns;
	s.width = g->columns / s.columns;
	t->lanes.hit_count = 0;
	lanes_point_check(t);
	lines = draw_all(&s, 1 - t->scroll, rows < 1 ? 1 : rows);
	grid_blank(g, 0, 0, 1, g->columns);
	lanes_header(t, g, 0, s.device);
	draw_foot(t, g, lines);
	lanes_point_draw(t, g);
	return lines + 2;
}

void lanes_device_graphs_next(struct tui *t, const struct gk_device *values)
{
	int pages = lanes_graph_pages(values, t->columns);

	t->device.graphs = (t->device.graphs + 1) % (unsigned)pages;
}
