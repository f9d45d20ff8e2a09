/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_tree.c - draws the tree screen: the processes on GPUs with their
 * ancestors and children. A closed tree is shown as one line with its sums.
 */
#include "format/names.h"
#include "tui/model/value.h"
#include "tui/views/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define HEAD_ROWS   1
#define FOOT_ROWS   1
#define COMMAND_MIN 30
#define PID_MAX     10
#define USER_MAX    24
#define DEVICE_MAX  24 /* width of "GPU 0,1,2:0" */
#define DEPTH_MAX   64 /* deeper processes are drawn at this depth */
#define GREEN       2
#define YELLOW      3
#define CYAN        6

enum column {
	COLUMN_PID,
	COLUMN_USER,
	COLUMN_DEVICE,
	COLUMN_MEMORY,
	COLUMN_SM,
	COLUMN_THREADS,
	COLUMN_CPU,
	COLUMN_HOST,
	COLUMN_TIME,
	COLUMN_COUNT
};

/* The first three columns grow with their contents. */
static const struct tui_column usual[COLUMN_COUNT] = {
    [COLUMN_PID] = {"PID", 4, GK_RIGHT, 0},
    [COLUMN_USER] = {"USER", 5, GK_RIGHT, 6},
    [COLUMN_DEVICE] = {"DEVICE", 7, GK_RIGHT, 7},
    [COLUMN_MEMORY] = {"GPU-MEM", 8, GK_RIGHT, 2},
    [COLUMN_SM] = {"%SM", 4, GK_RIGHT, 1},
    [COLUMN_THREADS] = {"NLWP", 4, GK_RIGHT, 3},
    [COLUMN_CPU] = {"%CPU", 5, GK_RIGHT, 8},
    [COLUMN_HOST] = {"%MEM", 5, GK_RIGHT, 5},
    [COLUMN_TIME] = {"TIME", 8, GK_RIGHT, 4},
};

static void columns_of(const struct tui *t, struct tui_column *columns)
{
	memcpy(columns, usual, sizeof usual);
	for (int c = COLUMN_PID; c <= COLUMN_DEVICE; c++)
		if (t->tree.widths[c] > columns[c].width)
			columns[c].width = t->tree.widths[c];
}

/* Writes all devices of a process, "GPU 0,1:2", or "Host". */
static const char *device_text(const struct tui *t,
			       const struct gk_tree_node *node, char *dst)
{
	char label[GK_NAME_MAX];
	size_t len = 0;

	if (!node->on_gpu)
		return "Host";
	*dst = '\0';
	for (size_t i = 0; i < t->snap->process_count; i++) {
		const struct gk_process *p = &t->snap->processes[i];

		if (p->pid != node->process.pid || len >= GK_NAME_MAX)
			continue;
		gk_device_label(label, &t->snap->devices[p->device]);
		len += (size_t)snprintf(dst + len, GK_NAME_MAX - len, "%s%s",
					len ? "," : "GPU ", label);
	}
	return dst;
}

static const char *tree_cell_text(const struct tui *t,
				  const struct gk_tree_node *node,
				  enum column c, char *dst)
{
	const struct gk_process *p = &node->process;
	const struct gk_value *m =
	    tui_tree_is_closed(&t->tree, node) ? node->sum : p->m;

	switch (c) {
	case COLUMN_PID:
		snprintf(dst, GK_NAME_MAX, "%d", (int)p->pid);
		return dst;
	case COLUMN_USER:
		return *p->user ? p->user : "N/A";
	case COLUMN_DEVICE:
		return device_text(t, node, dst);
	case COLUMN_THREADS:
		snprintf(dst, GK_NAME_MAX, "%" PRIu64, node->threads);
		return node->threads ? dst : "N/A";
	case COLUMN_MEMORY:
		return node->on_gpu || m == node->sum
			   ? tui_value(dst, m[GK_PM_GPU_MEM], GK_UNIT_BYTES)
			   : "";
	case COLUMN_SM:
		return node->on_gpu || m == node->sum
			   ? tui_value(dst, m[GK_PM_SM_UTIL], GK_UNIT_NONE)
			   : "";
	case COLUMN_CPU:
		return tui_share(dst, m[GK_PM_CPU]);
	case COLUMN_HOST:
		return tui_share(
		    dst, tui_part(m[GK_PM_RSS], t->snap->host.mem_total));
	case COLUMN_TIME:
	case COLUMN_COUNT:
		break;
	}
	return tui_value(dst, p->m[GK_PM_RUN_TIME], GK_UNIT_NANOSECOND);
}

/* Measures the widths of the columns that grow. */
static void measure_columns(struct tui *t)
{
	static const int most[] = {PID_MAX, USER_MAX, DEVICE_MAX};
	struct tui_tree *tree = &t->tree;
	char text[GK_NAME_MAX];

	memset(tree->widths, 0, sizeof tree->widths);
	for (size_t i = 0; tree->tree && i < tree->tree->count; i++)
		for (int c = COLUMN_PID; c <= COLUMN_DEVICE; c++) {
			const char *cell = tree_cell_text(
			    t, &tree->tree->nodes[i], (enum column)c, text);
			int width = (int)gk_columns(cell, strlen(cell)) +
				    (c != COLUMN_PID);

			width = width > most[c] ? most[c] : width;
			if (width > tree->widths[c])
				tree->widths[c] = width;
		}
}

/* Adds the vertical lines of a process's ancestors, and its own branch. */
static void add_branches(struct gk_buf *out, const struct tui_tree *tree,
			 const struct gk_tree_node *node)
{
	bool last[DEPTH_MAX];
	const struct gk_tree_node *at = node;
	int depth = 0;

	for (; at->parent >= 0 && depth < DEPTH_MAX;
	     at = &tree->tree->nodes[at->parent])
		last[depth++] = at->last;
	while (--depth > 0)
		gk_buf_puts(out, last[depth] ? "   " : "│  ");
	if (depth == 0)
		gk_buf_puts(out, last[0] ? "└─" : "├─");
	if (tui_tree_is_closed(tree, node))
		gk_buf_puts(out, "[+]");
	if (node->parent >= 0 || tui_tree_is_closed(tree, node))
		gk_buf_putc(out, ' ');
}

static const char *command_of(const struct gk_process *p)
{
	static const char *const words[] = {
	    [GK_PROCESS_RUNNING] = NULL,
	    [GK_PROCESS_GONE] = "No Such Process",
	    [GK_PROCESS_ZOMBIE] = "Zombie Process",
	    [GK_PROCESS_NO_PERMISSION] = NULL,
	};

	if (words[p->state])
		return words[p->state];
	if (*p->command)
		return p->command;
	return *p->name ? p->name : "No Permissions";
}

/*
 * Draws the text first, so that the columns cover the part that is scrolled out
 * at the left.
 */
static void draw_tree_row(const struct tui *t, struct grid *g, int row,
			  const struct gk_tree_node *node,
			  const struct tui_column *columns, unsigned shown)
{
	int width = tui_columns_width(columns, COLUMN_COUNT, shown) + 1;
	const char *command = command_of(&node->process);
	struct gk_buf text = {0};
	char cell[GK_NAME_MAX];
	int column;

	gk_buf_puts(&text, "");
	add_branches(&text, &t->tree, node);
	column = grid_line(g, row, width - t->scroll_left, text.data, text.len,
			   (struct grid_style){GREEN, GRID_BOLD});
	grid_line(g, row, column, command, strlen(command), GRID_PLAIN);
	grid_blank(g, row, 0, 1, width);
	text.len = 0;
	for (int c = 0; c < COLUMN_COUNT; c++)
		if (shown >> c & 1)
			tui_column_add(
			    &text, &columns[c],
			    tree_cell_text(t, node, (enum column)c, cell));
	grid_line(g, row, 0, text.data, text.len, GRID_PLAIN);
	gk_buf_free(&text);
}

static void mark_tree_row(const struct tui *t, struct grid *g, int row,
			  const struct gk_process *p, bool selected)
{
	bool tagged = tui_is_tagged(t, p);

	if (selected || tagged)
		grid_tint(g, row, 0, g->columns, tagged ? YELLOW : GREEN);
	if (selected)
		grid_mark(g, row, 0, g->columns, GRID_REVERSE | GRID_BOLD,
			  GRID_DIM);
	else if (tagged)
		grid_mark(g, row, 0, g->columns, GRID_BOLD, 0);
	else if (t->uid && p->uid != t->uid)
		grid_mark(g, row, 0, g->columns, GRID_DIM, 0);
}

/*
 * Whether the keys that send signals would have any effect. They have none if
 * `readonly` is set. Tagged processes count, whoever owns them.
 */
static bool can_signal_any(const struct tui *t)
{
	const struct gk_process *p = view_tree_process(t);

	return !t->options.readonly &&
	       (t->tag_count || (p && (!t->uid || p->uid == t->uid)));
}

/* Draws the longest hint that fits next to the titles, if any does. */
static void draw_tree_hint(const struct tui *t, struct grid *g, int titles)
{
	static const char *const hints[] = {
	    "(Press ^C(INT)/T(TERM)/K(KILL) to send signals)",
	    "(^C INT, T TERM, K KILL)",
	    "(^C T K: signals)",
	};
	struct grid_style style = {CYAN, GRID_REVERSE | GRID_BOLD};

	for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
		int width = (int)strlen(hints[i]), column = g->columns - width;

		if (!can_signal_any(t) || column <= titles)
			continue;
		grid_line(g, 0, column, hints[i], (size_t)width, style);
		return;
	}
}

static void draw_tree_head(const struct tui *t, struct grid *g,
			   const struct tui_column *columns, unsigned shown)
{
	struct grid_style style = {CYAN, GRID_REVERSE | GRID_BOLD};
	struct gk_buf text = {0};
	int titles;

	for (int c = 0; c < COLUMN_COUNT; c++)
		if (shown >> c & 1)
			tui_column_add(&text, &columns[c], columns[c].title);
	titles = (int)text.len;
	gk_buf_puts(&text, " COMMAND");
	gk_buf_pad(&text, ' ', (size_t)g->columns);
	grid_line(g, 0, 0, text.data, text.len, style);
	draw_tree_hint(t, g, titles);
	gk_buf_free(&text);
}

/* Draws the sums over the selected process's tree, or over all processes. */
static void draw_tree_foot(const struct tui *t, struct grid *g)
{
	const struct gk_tree *tree = t->tree.tree;
	long at = view_tree_selected(t);
	struct gk_value sum[GK_PM_COUNT];
	char who[32] = "All", memory[GK_UNITS_MAX], host[GK_UNITS_MAX];
	char cpu[GK_UNITS_MAX], sm[GK_UNITS_MAX], text[256];
	size_t size = tree ? tree->count : 0;

	for (int m = 0; m < GK_PM_COUNT; m++)
		sum[m].why = GK_ABSENT_NOT_SUPPORTED;
	if (at >= 0) {
		const struct gk_tree_node *node = tui_tree_node(&t->tree, at);

		memcpy(sum, node->sum, sizeof sum);
		size = node->size;
		snprintf(who, sizeof who, "Tree of %d", node->process.pid);
	}
	for (size_t i = 0; tree && at < 0 && i < tree->count; i++)
		for (int m = 0; m < GK_PM_COUNT; m++)
			gk_value_add(&sum[m], tree->nodes[i].process.m[m]);
	snprintf(text, sizeof text,
		 "%s: %zu process%s  GPU-MEM %s  SM %s  CPU %s  Host memory %s",
		 who, size, size == 1 ? "" : "es",
		 tui_value(memory, sum[GK_PM_GPU_MEM], GK_UNIT_BYTES),
		 tui_value(sm, sum[GK_PM_SM_UTIL], GK_UNIT_PERCENT),
		 tui_value(cpu, sum[GK_PM_CPU], GK_UNIT_CENTIPERCENT),
		 tui_value(host, sum[GK_PM_RSS], GK_UNIT_BYTES));
	grid_line(g, g->rows - 1, 0, text, strlen(text),
		  (struct grid_style){CYAN, GRID_BOLD});
}

/* Returns the width of the longest branch with its command. */
static int longest_tree_line(const struct tui_tree *tree)
{
	int most = 0;

	for (size_t i = 0; i < tree->row_count; i++) {
		const struct gk_tree_node *node = tui_tree_node(tree, (long)i);
		const char *command = command_of(&node->process);
		int width = (int)gk_columns(command, strlen(command)) + 6 +
			    3 * (int)node->depth;

		most = width > most ? width : most;
	}
	return most;
}

int view_tree(struct tui *t, struct grid *g)
{
	struct tui_column columns[COLUMN_COUNT];
	int rows = g->rows - HEAD_ROWS - FOOT_ROWS, room;
	long selected = view_tree_selected(t);
	unsigned shown;

	measure_columns(t);
	columns_of(t, columns);
	shown = tui_columns_fit(columns, COLUMN_COUNT, g->columns, COMMAND_MIN);
	room = g->columns - 1 - tui_columns_width(columns, COLUMN_COUNT, shown);
	view_follow(t, selected < 0 ? -1 : (int)selected + HEAD_ROWS, HEAD_ROWS,
		    rows);
	view_limit_sideways(
	    t, t->scroll_left > 0 ? longest_tree_line(&t->tree) - room : 0);
	for (int i = 0; i < rows; i++) {
		long at = i + t->scroll;

		if (at < 0 || (size_t)at >= t->tree.row_count)
			break;
		draw_tree_row(t, g, HEAD_ROWS + i, tui_tree_node(&t->tree, at),
			      columns, shown);
		mark_tree_row(t, g, HEAD_ROWS + i,
			      &tui_tree_node(&t->tree, at)->process,
			      at == selected);
	}
	if (!t->tree.row_count)
		grid_line(g, HEAD_ROWS, 1, GK_NO_PROCESSES,
			  strlen(GK_NO_PROCESSES), GRID_PLAIN);
	draw_tree_head(t, g, columns, shown);
	draw_tree_foot(t, g);
	t->first_process_line = HEAD_ROWS - t->scroll;
	return (int)t->tree.row_count + HEAD_ROWS + FOOT_ROWS;
}

long view_tree_at(const struct tui *t, int row)
{
	long at = row - HEAD_ROWS + t->scroll;

	return row >= HEAD_ROWS && row < t->rows - FOOT_ROWS &&
		       at < (long)t->tree.row_count
		   ? at
		   : -1;
}
