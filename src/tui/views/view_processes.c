/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_processes.c - draws the table of processes on the main screen. Formats
 * only visible rows.
 */
#include "format/boxed/processes.h"
#include "format/names.h"
#include "tui/lanes/lanes.h"
#include "tui/views/main_screen.h"
#include "tui/views/view.h"

#include <stdio.h>
#include <string.h>

#define RED            1
#define YELLOW         3
#define MAGENTA        5
#define CYAN           6
#define FRAME          5  /* lines: hint, upper border, names, titles, rule */
#define LEAST          7  /* lines: the frame, one process, the lower border */
#define TIGHT          2  /* titles, rule */
#define FILTER_COLUMNS 40 /* maximum columns for the filter */

static bool has_rules(const struct tui *t, const struct main_plan *plan)
{
	return !plan->processes_compact &&
	       t->order.first.column == GK_COLUMN_GPU;
}

static unsigned device_at(const struct tui *t, long position)
{
	return t->snap->processes[t->list[position]].device;
}

int view_process_line(const struct tui *t, const struct main_plan *plan,
		      long position)
{
	int line = (int)position;

	if (has_rules(t, plan))
		for (long i = 1; i <= position; i++)
			line += device_at(t, i) != device_at(t, i - 1);
	return line;
}

int view_processes_height(const struct tui *t, const struct main_plan *plan)
{
	int rows = 1, least = plan->processes_tight ? TIGHT + 2 : LEAST;

	if (t->options.processes_hidden)
		return 0;
	if (t->list_count)
		rows = view_process_line(t, plan, (long)t->list_count - 1) + 1;
	rows += (plan->processes_tight ? TIGHT : FRAME) + 1;
	return rows > least ? rows : least;
}

long view_main_at(const struct tui *t, int row)
{
	struct main_plan plan = {.processes_compact = !t->main.ruled};
	int line = row + t->scroll - t->main.first_row;
	long i = line < (long)t->list_count ? line : (long)t->list_count - 1;

	if (t->options.look == LOOK_LANES)
		return lanes_at(t, row);
	if (t->main.first_row <= 0 || line < 0 ||
	    (t->scroll > 0 && row < MAIN_STICKY))
		return -1;
	while (i > 0 && view_process_line(t, &plan, i) > line)
		i--;
	return i >= 0 && view_process_line(t, &plan, i) == line ? i : -1;
}

/* ---- columns ---- */

static void measure_table(const struct tui *t, const struct main_plan *plan,
			  struct gk_process_table *table, struct gk_box *box)
{
	struct gk_columns columns = tui_columns(t);

	box->snap = t->snap;
	box->o = &t->options.boxed;
	box->width = plan->width;
	gk_process_table_measure(table, box, &columns);
	table->scroll = t->scroll_left;
}

/* Draws the text in a buffer, then empties the buffer. */
static void flush_text(struct grid *g, int line, struct gk_buf *text)
{
	view_lines(g, line, text);
	text->len = 0;
}

/* ---- what is above the rows ---- */

/* Whether the keys that send signals would have any effect. */
static bool can_signal(const struct tui *t)
{
	long at = tui_selected(t);
	const struct gk_process *p =
	    at < 0 ? NULL : &t->snap->processes[t->list[at]];

	return !t->options.readonly &&
	       (t->tag_count || (p && p->state != GK_PROCESS_GONE &&
				 (!t->uid || p->uid == t->uid)));
}

/* Writes the first key of an action. Ctrl-C becomes "^C". */
static const char *first_key(const struct tui *t, enum tui_action action,
			     char *dst, size_t cap)
{
	static const char ctrl[] = "Ctrl-";

	tui_keymap_names(t->keymap, action, dst, cap);
	dst[strcspn(dst, " ")] = '\0';
	if (strncmp(dst, ctrl, sizeof ctrl - 1))
		return dst;
	dst += sizeof ctrl - 2;
	*dst = '^';
	return dst;
}

/* Draws which keys (magenta) send which signals (red). */
static void draw_signals(const struct tui *t, struct grid *g, int line,
			 int used, int width)
{
	static const struct {
		enum tui_action action;
		const char *signal, *behind;
	} rows[] = {
	    {ACTION_INTERRUPT, "INT", "/"},
	    {ACTION_TERMINATE, "TERM", "/"},
	    {ACTION_KILL, "KILL", " to send signals)"},
	};
	char text[128] = "(Press ", names[64];
	int at[3], len[3], column;
	size_t end = strlen(text);

	for (int i = 0; i < 3; i++) {
		const char *key =
		    first_key(t, rows[i].action, names, sizeof names);

		at[i] = (int)end;
		len[i] = (int)strlen(key);
		end += (size_t)snprintf(text + end, sizeof text - end,
					"%.24s(%s)%s", key, rows[i].signal,
					rows[i].behind);
	}
	column = width - (int)strlen(text);
	if (column < used + 1)
		return;
	grid_line(g, line, column, text, strlen(text), GRID_PLAIN);
	for (int i = 0; i < 3; i++) {
		grid_mark(g, line, column + at[i], len[i],
			  GRID_BOLD | GRID_ITALIC, 0);
		grid_tint(g, line, column + at[i], len[i], MAGENTA);
		grid_mark(g, line, column + at[i] + len[i] + 1,
			  (int)strlen(rows[i].signal), GRID_BOLD, 0);
		grid_tint(g, line, column + at[i] + len[i] + 1,
			  (int)strlen(rows[i].signal), RED);
	}
}

static void draw_table_hint(const struct tui *t, struct grid *g, int line,
			    int width)
{
	static const char caution[] = "CAUTION: SUPERUSER LOGGED-IN.";
	int used = 0;

	if (!t->uid) {
		used = grid_line(g, line, 1, "!", 1,
				 (struct grid_style){RED, GRID_BLINK});
		used = grid_line(g, line, used, caution, sizeof caution - 1,
				 (struct grid_style){YELLOW, GRID_ITALIC});
	}
	if (can_signal(t))
		draw_signals(t, g, line, used, width);
}

/*
 * Writes the filter, and the numbers of processes that match it, that are
 * tagged, and that are not in /proc.
 */
static void note_of(const struct tui *t, char *dst, size_t cap, int room)
{
	size_t gone = 0, at = 0;

	*dst = '\0';
	for (size_t i = 0; i < t->snap->process_count; i++)
		gone += t->snap->processes[i].state == GK_PROCESS_GONE;
	if (t->list_count != t->snap->process_count)
		at += (size_t)snprintf(dst + at, cap - at, " %zu of %zu",
				       t->list_count, t->snap->process_count);
	if (*t->words.text)
		at += (size_t)snprintf(dst + at, cap - at, " [%.*s]",
				       (int)gk_fit(t->words.text,
						   strlen(t->words.text),
						   FILTER_COLUMNS),
				       t->words.text);
	if (t->tag_count)
		at += (size_t)snprintf(dst + at, cap - at, " %zu tagged",
				       t->tag_count);
	if (gone)
		snprintf(dst + at, cap - at,
			 " %zu not in /proc (a container? hidepid?)", gone);
	if ((int)strlen(dst) > room)
		dst[at] = '\0';
	if ((int)strlen(dst) > room)
		*dst = '\0';
}

static void draw_names(const struct tui *t, struct grid *g, int line,
		       struct gk_box *box)
{
	char note[256];
	int room = box->width - (int)sizeof "│ Processes: @ │";

	room -= (int)gk_columns(t->snap->host.hostname,
				strlen(t->snap->host.hostname));
	room -= t->user ? (int)gk_columns(t->user, strlen(t->user)) : 0;
	note_of(t, note, sizeof note, room);
	gk_box_who(box, note);
	flush_text(g, line, box->out);
}

static bool is_blank_cell(const struct grid *g, int line, int column)
{
	return grid_at(g, line, column)->c == L' ';
}

/*
 * Makes space for an arrow after a title that directly precedes another title:
 * moves the title left if there are blanks, or else removes its '%'.
 */
static void make_arrow_room(struct grid *g, int line, int *at, int *width)
{
	int next = *at + *width + 1;
	struct grid_cell *title;

	if (line < 0 || line >= g->rows || next >= g->columns ||
	    grid_at(g, line, next)->c >= 0x80 || is_blank_cell(g, line, next))
		return;
	title = grid_at(g, line, *at);
	if (is_blank_cell(g, line, *at - 1) &&
	    is_blank_cell(g, line, *at - 2)) {
		memmove(title - 1, title, (size_t)*width * sizeof *title);
		--*at;
	} else if (title->c == L'%') {
		--*width;
		memmove(title, title + 1, (size_t)*width * sizeof *title);
	}
}

/* Draws an arrow after the title of a column that the list is sorted by. */
static void mark_title(struct grid *g, int line,
		       const struct gk_process_table *table,
		       struct tui_sort sort, const char *arrows[2],
		       unsigned attribute)
{
	const char *arrow = arrows[tui_sort_descends(sort)];
	struct grid_style style = {GRID_COLOR_NONE, attribute};
	int at, width;

	if (!gk_process_table_find(table, sort.column, &at, &width))
		return;
	make_arrow_room(g, line, &at, &width);
	grid_mark(g, line, at, width, attribute | GRID_UNDERLINE, 0);
	grid_line(g, line, at + width, arrow, strlen(arrow), style);
}

/*
 * Draws the titles. The title of the first sort column is bold and underlined
 * and has an arrow; the title of the second has a thin arrow.
 */
static void draw_process_titles(const struct tui *t, struct grid *g, int line,
				const struct gk_process_table *table)
{
	static const char *first[] = {"▲", "▼"}, *second[] = {"△", "▽"};
	const struct tui_order *order = &t->order;

	gk_process_table_titles(table);
	flush_text(g, line, table->box->out);
	if (order->second.column != order->first.column &&
	    (order->second.column != GK_COLUMN_GPU || order->second.reversed))
		mark_title(g, line, table, order->second, second, 0);
	mark_title(g, line, table, order->first, first, GRID_BOLD);
}

void view_process_titles(struct tui *t, struct grid *g, int line,
			 const struct main_plan *plan)
{
	struct gk_process_table table = {0};
	struct gk_buf text = {0};
	struct gk_box box = {.out = &text};

	measure_table(t, plan, &table, &box);
	draw_process_titles(t, g, line, &table);
	gk_buf_free(&text);
}

/* Draws everything above the rows. Returns the line of the first row. */
static int draw_table_frame(const struct tui *t, struct grid *g, int line,
			    const struct main_plan *plan,
			    const struct gk_process_table *table)
{
	struct gk_box *box = table->box;

	if (!plan->processes_tight) {
		draw_table_hint(t, g, line++, box->width);
		gk_box_line(box, "╒", "═", "╕");
		flush_text(g, line++, box->out);
		draw_names(t, g, line++, box);
	}
	draw_process_titles(t, g, line++, table);
	gk_box_line(box, "╞", "═", "╡");
	flush_text(g, line++, box->out);
	return line;
}

/* ---- rows ---- */

static const struct gk_process *process_at(const struct tui *t, long i)
{
	return &t->snap->processes[t->list[i]];
}

/*
 * Marks a row if its process is selected or tagged, or is the selected process
 * on another GPU.
 */
static void mark_process_row(const struct tui *t, struct grid *g, int line,
			     int width, long i, long selected)
{
	const struct gk_process *p = process_at(t, i);
	bool tagged = tui_is_tagged(t, p);

	if (i == selected) {
		grid_tint(g, line, 1, width - 2, tagged ? YELLOW : CYAN);
		grid_mark(g, line, 1, width - 2, GRID_BOLD | GRID_REVERSE,
			  GRID_DIM);
		return;
	}
	if (tagged) {
		grid_tint(g, line, 1, width - 2, YELLOW);
		grid_mark(g, line, 1, width - 2, GRID_BOLD, GRID_DIM);
	}
	if (selected >= 0 && p->pid == process_at(t, selected)->pid)
		grid_line(g, line, 1, "=", 1,
			  (struct grid_style){GRID_COLOR_NONE,
					      GRID_BOLD | GRID_BLINK});
}

static void draw_rule(struct grid *g, int line, struct gk_box *box)
{
	gk_box_line(box, "├", "─", "┤");
	flush_text(g, line, box->out);
}

/* Limits sideways scrolling to the end of the longest visible row. */
static void limit_scroll(struct tui *t, struct gk_process_table *table,
			 long first, long end)
{
	int wanted = 0, most;

	for (long i = first; i < end; i++) {
		int w = gk_process_table_wanted(table, process_at(t, i));

		wanted = w > wanted ? w : wanted;
	}
	most = wanted > table->room ? wanted - table->room : 0;
	view_limit_sideways(t, most);
	table->scroll = t->scroll_left;
}

/* Finds the positions of the visible rows, [*ret_first, *ret_end). */
static void find_seen_rows(const struct tui *t, const struct grid *g, int line,
			   const struct main_plan *plan, long *ret_first,
			   long *ret_end)
{
	long count = (long)t->list_count, i = 0;
	bool rules = has_rules(t, plan);

	for (; i < count && line < 0; i++, line++)
		if (rules && i && device_at(t, i) != device_at(t, i - 1))
			line++;
	*ret_first = i > 0 ? i - 1 : 0;
	for (; i < count && line < g->rows; i++, line++)
		if (rules && i && device_at(t, i) != device_at(t, i - 1))
			line++;
	*ret_end = i;
}

static void draw_rows(const struct tui *t, struct grid *g, int line,
		      const struct main_plan *plan,
		      const struct gk_process_table *table, long first,
		      long end)
{
	long selected = tui_selected(t);

	for (long i = first; i < end; i++) {
		int at = line + view_process_line(t, plan, i);

		if (i && has_rules(t, plan) &&
		    device_at(t, i) != device_at(t, i - 1))
			draw_rule(g, at - 1, table->box);
		gk_process_table_row(table, process_at(t, i));
		flush_text(g, at, table->box->out);
		mark_process_row(t, g, at, plan->width, i, selected);
	}
}

static void draw_no_processes(const struct tui *t, struct grid *g, int line,
			      struct gk_box *box)
{
	gk_box_no_processes(box, t->snap->process_count
				     ? "No process matches the filter"
				     : gk_no_processes_text(t->snap));
	flush_text(g, line, box->out);
}

int view_processes(struct tui *t, struct grid *g, int line,
		   const struct main_plan *plan)
{
	struct gk_process_table table = {0};
	struct gk_buf text = {0};
	struct gk_box box = {.out = &text};
	int height = view_processes_height(t, plan);
	int first_line = line + (plan->processes_tight ? TIGHT : FRAME);
	long first, end;

	if (t->options.processes_hidden)
		return 0;
	measure_table(t, plan, &table, &box);
	find_seen_rows(t, g, first_line, plan, &first, &end);
	limit_scroll(t, &table, first, end);
	draw_table_frame(t, g, line, plan, &table);
	if (t->list_count)
		draw_rows(t, g, first_line, plan, &table, first, end);
	else
		draw_no_processes(t, g, first_line, &box);
	gk_box_line(&box, "╘", "═", "╛");
	flush_text(g, line + height - 1, &text);
	gk_buf_free(&text);
	return height;
}
