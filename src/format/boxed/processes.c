/* SPDX-License-Identifier: Apache-2.0 */
/* processes.c - prints the table of processes, row by row. */
#include "format/boxed/processes.h"

#include "format/names.h"

#include <string.h>

#define BORDERS         3    /* "│", and " │" */
#define COMMAND_GAP     2    /* blanks before the command; elsewhere 1 */
#define COMMAND_LEAST   8    /* minimum columns of a command */
#define HOST_LEAST      12   /* minimum columns for the HOST part */
#define COMMAND_SCANNED 4096 /* a command can be scrolled up to this byte */

static enum gk_color state_color(const struct gk_process *p)
{
	static const enum gk_color colors[] = {
	    [GK_PROCESS_GONE] = GK_RED,
	    [GK_PROCESS_ZOMBIE] = GK_YELLOW,
	    [GK_PROCESS_NO_PERMISSION] = GK_YELLOW,
	};

	return colors[p->state];
}

static const struct gk_column_info *info_of(const struct gk_columns *columns,
					    int position)
{
	return &gk_column_infos[columns->id[position]];
}

static int gap_of(const struct gk_columns *columns, int position)
{
	return columns->id[position] == GK_COLUMN_COMMAND ? COMMAND_GAP : 1;
}

/* ---- measures ---- */

/*
 * Returns the width of the TIME column, which fits a blank and the longest
 * time.
 */
static int time_width(const struct gk_snapshot *snap)
{
	int width = gk_column_infos[GK_COLUMN_TIME].width, longest;
	const struct gk_process *oldest = NULL;
	char text[GK_NAME_MAX];

	for (size_t i = 0; i < snap->process_count; i++) {
		const struct gk_process *p = &snap->processes[i];
		int64_t time = gk_value_or_none(p->m[GK_PM_RUN_TIME]);

		if (!oldest ||
		    time > gk_value_or_none(oldest->m[GK_PM_RUN_TIME]))
			oldest = p;
	}
	if (!oldest)
		return width;
	longest =
	    (int)strlen(gk_column_text(GK_COLUMN_TIME, text, snap, oldest)) + 1;
	return longest > width ? longest : width;
}

static void forget_column(struct gk_columns *columns, int position)
{
	columns->count--;
	memmove(columns->id + position, columns->id + position + 1,
		(size_t)(columns->count - position));
}

static int least_worth(const struct gk_columns *columns)
{
	int least = 0;

	for (int i = 1; i < columns->count; i++)
		if (info_of(columns, i)->worth < info_of(columns, least)->worth)
			least = i;
	return least;
}

/*
 * Adds up the widths of both parts, and the columns that the whole table needs.
 */
static void sum_widths(struct gk_process_table *t, int time, int *ret_all)
{
	int host = 0;

	t->driver_width = 0;
	for (int i = 0; i < t->columns.count; i++) {
		const struct gk_column_info *info = info_of(&t->columns, i);
		int width = info->width;

		if (t->columns.id[i] == GK_COLUMN_TIME)
			width = time;
		if (t->columns.id[i] == GK_COLUMN_COMMAND)
			width = COMMAND_LEAST;
		t->widths[i] = width;
		*(info->part == GK_PART_DRIVER ? &t->driver_width : &host) +=
		    gap_of(&t->columns, i) + width;
	}
	*ret_all = t->driver_width + host;
}

void gk_process_table_measure(struct gk_process_table *t, struct gk_box *box,
			      const struct gk_columns *columns)
{
	int inner = box->width - BORDERS, time = time_width(box->snap), all;
	bool narrow = box->width < GK_BOXED_WIDTH_MIN;

	t->box = box;
	t->columns = *columns;
	for (;;) {
		sum_widths(t, time, &all);
		if (t->columns.count < 2 ||
		    (narrow ? all : t->driver_width + HOST_LEAST) <= inner)
			break;
		forget_column(&t->columns, least_worth(&t->columns));
	}
	t->room = inner - t->driver_width;
}

int gk_process_table_wanted(const struct gk_process_table *t,
			    const struct gk_process *p)
{
	char text[GK_NAME_MAX];
	int wanted = 0;

	for (int i = 0; i < t->columns.count; i++) {
		enum gk_column column = t->columns.id[i];
		int width = t->widths[i];

		if (gk_column_infos[column].part != GK_PART_HOST)
			continue;
		if (column == GK_COLUMN_COMMAND) {
			const char *command =
			    gk_column_text(column, text, t->box->snap, p);

			width = (int)gk_columns(
			    command, strnlen(command, COMMAND_SCANNED));
		}
		wanted += gap_of(&t->columns, i) + width;
	}
	return wanted;
}

bool gk_process_table_find(const struct gk_process_table *t,
			   enum gk_column column, int *ret_at, int *ret_width)
{
	int at = 1;

	for (int i = 0; i < t->columns.count; i++) {
		const struct gk_column_info *info = info_of(&t->columns, i);
		int title = (int)strlen(info->title), left;

		at += gap_of(&t->columns, i);
		left = at +
		       (info->align == GK_RIGHT ? t->widths[i] - title : 0) -
		       (info->part == GK_PART_HOST ? t->scroll : 0);
		at += t->widths[i];
		if (t->columns.id[i] != column)
			continue;
		if (info->part == GK_PART_HOST && left <= t->driver_width)
			return false;
		*ret_at = left;
		*ret_width = title;
		return left + title < t->box->width - 1;
	}
	return false;
}

/* ---- rows ---- */

/* Adds exactly `room` columns of a text, starting at column `skip`. */
static void add_window(struct gk_buf *out, const char *text, int skip, int room,
		       const char *mark)
{
	size_t len = strlen(text);
	size_t from = gk_fit(text, len, skip > 0 ? (size_t)skip : 0);

	gk_cell(out, text + from, room > 0 ? (size_t)room : 0, GK_LEFT, mark);
}

static int limit_columns(int a, int b)
{
	return a < b ? a : b;
}

/*
 * Adds the cells of the HOST part, starting at column t->scroll. `cells`
 * contains all cells before the command; they have the colour `row`, the
 * command has the colour `word`.
 */
static void add_host_cells(const struct gk_process_table *t, const char *cells,
			   const char *command, enum gk_color row,
			   enum gk_color word)
{
	struct gk_buf *out = t->box->out;
	bool color = t->box->o->color;
	int width = (int)gk_columns(cells, strlen(cells));
	int left = limit_columns(width - t->scroll, t->room);

	left = left > 0 ? left : 0;
	add_window(out, cells, t->scroll, left, "");
	gk_color_end(out, color, row);
	gk_color_start(out, color, word);
	add_window(out, command, t->scroll - width, t->room - left, "..");
	gk_color_end(out, color, word);
	gk_buf_puts(out, " │\n");
}

static void add_gap(const struct gk_process_table *t, struct gk_buf *out, int i)
{
	gk_buf_pad(out, ' ', (size_t)gap_of(&t->columns, i));
}

void gk_process_table_titles(const struct gk_process_table *t)
{
	struct gk_buf *out = t->box->out, host = {0};
	const char *command = "";

	gk_buf_puts(out, "│");
	for (int i = 0; i < t->columns.count; i++) {
		const struct gk_column_info *info = info_of(&t->columns, i);
		struct gk_buf *to = info->part == GK_PART_HOST ? &host : out;

		add_gap(t, to, i);
		if (t->columns.id[i] == GK_COLUMN_COMMAND)
			command = info->title;
		else
			gk_cell(to, info->title, (size_t)t->widths[i],
				info->align, "");
	}
	add_host_cells(t, host.data ? host.data : "", command, GK_PLAIN,
		       GK_PLAIN);
	out->failed |= host.failed;
	gk_buf_free(&host);
}

static void add_cell(const struct gk_process_table *t, struct gk_buf *to, int i,
		     const struct gk_process *p)
{
	const struct gk_column_info *info = info_of(&t->columns, i);
	char text[GK_NAME_MAX];

	gk_cell(to, gk_column_text(t->columns.id[i], text, t->box->snap, p),
		(size_t)t->widths[i], info->align, info->mark);
}

/*
 * Adds the GPU's cell in the GPU's colour, then continues in the colour of the
 * row.
 */
static void add_gpu_cell(const struct gk_process_table *t, int i,
			 const struct gk_process *p, enum gk_color row)
{
	struct gk_buf *out = t->box->out;
	bool color = t->box->o->color;
	enum gk_color busy =
	    gk_device_color(t->box->o, &t->box->snap->devices[p->device]);

	if (i)
		gk_color_end(out, color, row);
	add_gap(t, out, i);
	gk_color_start(out, color, busy);
	add_cell(t, out, i, p);
	gk_color_end(out, color, busy);
	gk_color_start(out, color, row);
}

void gk_process_table_row(const struct gk_process_table *t,
			  const struct gk_process *p)
{
	const struct gk_boxed_options *o = t->box->o;
	bool foreign = o->uid && p->uid != o->uid;
	enum gk_color row = foreign ? GK_DIM : GK_PLAIN;
	enum gk_color word =
	    p->state == GK_PROCESS_RUNNING ? row : state_color(p);
	struct gk_buf *out = t->box->out, host = {0};
	const char *command = "";
	char text[GK_NAME_MAX];

	gk_buf_puts(out, "│");
	if (t->columns.id[0] != GK_COLUMN_GPU)
		gk_color_start(out, o->color, row);
	for (int i = 0; i < t->columns.count; i++) {
		enum gk_column column = t->columns.id[i];
		bool scrolls = gk_column_infos[column].part == GK_PART_HOST;

		if (column == GK_COLUMN_GPU) {
			add_gpu_cell(t, i, p, row);
			continue;
		}
		add_gap(t, scrolls ? &host : out, i);
		if (column == GK_COLUMN_COMMAND)
			command = gk_column_text(column, text, t->box->snap, p);
		else
			add_cell(t, scrolls ? &host : out, i, p);
	}
	add_host_cells(t, host.data ? host.data : "", command, row, word);
	out->failed |= host.failed;
	gk_buf_free(&host);
}

/* ---- the report ---- */

int gk_box_processes_width(const struct gk_snapshot *snap)
{
	struct gk_box box = {.snap = snap, .width = GK_BOXED_WIDTH_MIN};
	struct gk_process_table t = {0};
	int widest = 0;

	gk_process_table_measure(&t, &box, &gk_columns_default);
	for (size_t i = 0; i < snap->process_count; i++) {
		int wanted = gk_process_table_wanted(&t, &snap->processes[i]);

		widest = wanted > widest ? wanted : widest;
	}
	return widest + t.driver_width + BORDERS;
}

/*
 * Adds a text in a colour, cut to `room` columns; returns the columns it used.
 */
static int add_cut_text(struct gk_box *box, enum gk_color color,
			const char *text, int room)
{
	int width = limit_columns((int)gk_columns(text, strlen(text)), room);

	gk_color_start(box->out, box->o->color, color);
	gk_cell(box->out, text, width > 0 ? (size_t)width : 0, GK_LEFT, "..");
	gk_color_end(box->out, box->o->color, color);
	return width;
}

/* If the line is too long, the host's name is cut first, then the user's
 * name. */
void gk_box_who(struct gk_box *box, const char *note)
{
	const struct gk_boxed_options *o = box->o;
	const char *user = o->user ? o->user : "";
	const char *host = box->snap->host.hostname;
	int room = box->width - 4 - (int)strlen("Processes:") -
		   (int)gk_columns(note, strlen(note)) - (*user ? 1 : 0);
	int blanks = room - (int)gk_columns(user, strlen(user)) -
		     (int)gk_columns(host, strlen(host));

	gk_buf_printf(box->out, "│ Processes:%s", note);
	gk_buf_pad(box->out, ' ', blanks > 0 ? (size_t)blanks : 0);
	room -= blanks > 0 ? blanks : 0;
	room -= add_cut_text(box, o->uid ? GK_BOLD_MAGENTA : GK_BOLD_YELLOW,
			     user, room);
	gk_paint(box->out, o->color && *user, GK_BOLD, *user ? "@" : "");
	add_cut_text(box, GK_BOLD_GREEN, host, room);
	gk_buf_puts(box->out, " │\n");
}

void gk_box_no_processes(struct gk_box *box, const char *text)
{
	gk_buf_puts(box->out, "│  ");
	gk_cell(box->out, text, (size_t)box->width - 4, GK_LEFT, "");
	gk_buf_puts(box->out, "│\n");
}

void gk_box_processes(struct gk_box *box)
{
	const struct gk_snapshot *snap = box->snap;
	struct gk_process_table t = {0};

	gk_process_table_measure(&t, box, &gk_columns_default);
	gk_box_line(box, "╒", "═", "╕");
	gk_box_who(box, "");
	gk_process_table_titles(&t);
	gk_box_line(box, "╞", "═", "╡");
	for (size_t i = 0; i < snap->process_count; i++) {
		if (i &&
		    snap->processes[i].device != snap->processes[i - 1].device)
			gk_box_line(box, "├", "─", "┤");
		gk_process_table_row(&t, &snap->processes[i]);
	}
	if (!snap->process_count)
		gk_box_no_processes(box, gk_no_processes_text(snap));
	gk_box_line(box, "╘", "═", "╛");
}
