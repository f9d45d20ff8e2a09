/* SPDX-License-Identifier: Apache-2.0 */
/* view_environ.c - the screen that shows the environment of a process. */
#include "base/pidstat.h"
#include "format/width.h"
#include "tui/views/view.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define HEAD_ROWS 2

enum { GREEN = 2, BLUE = 4, MAGENTA = 5, CYAN = 6 };

/* ---- opening ---- */

/*
 * Adds all GPUs of a process and its types, "GPU 0,1: Compute"; "Host" if it
 * uses no GPU.
 */
static void add_place(const struct tui *t, const struct tui_tag *who,
		      struct gk_buf *out)
{
	unsigned types = 0;
	bool computes, draws;

	for (size_t i = 0; t->snap && i < t->snap->process_count; i++) {
		const struct gk_process *p = &t->snap->processes[i];

		if (p->pid != who->pid || p->start_ticks != who->start_ticks)
			continue;
		gk_buf_printf(out, "%s%u", types ? "," : "GPU ",
			      t->snap->devices[p->device].index);
		types |= p->types;
	}
	computes = types & (GK_PROCESS_COMPUTE | GK_PROCESS_MPS);
	draws = types & GK_PROCESS_GRAPHICS;
	if (!types)
		gk_buf_puts(out, "Host");
	else
		gk_buf_printf(out, ": %s%s%s", computes ? "Compute" : "",
			      computes && draws ? "+" : "",
			      draws ? "Graphics" : "");
}

static void open_process(struct tui *t, const struct gk_process *p)
{
	struct tui_environ *e = &t->environ;

	e->who = (struct tui_tag){p->pid, p->start_ticks};
	gk_buf_printf(&e->title, "%d (%s@", (int)p->pid, p->user);
	add_place(t, &e->who, &e->title);
	gk_buf_printf(&e->title, "): %s", p->command);
}

/* If no process is selected, shows the viewer's own environment. */
static void open_own(struct tui *t, int proc)
{
	struct tui_environ *e = &t->environ;
	struct gk_pidstat st = {0};

	gk_pidstat_read(proc, getpid(), &st);
	e->who = (struct tui_tag){getpid(), st.start};
	gk_buf_printf(&e->title, "%d (%s@Host): gpukit", (int)getpid(),
		      t->user ? t->user : "");
}

static void read_environ(struct tui *t)
{
	int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	tui_environ_read(&t->environ, proc);
	close(proc);
}

bool view_environ_open(struct tui *t)
{
	const struct gk_process *p = tui_process(t);
	int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	tui_environ_free(&t->environ);
	if (p)
		open_process(t, p);
	else
		open_own(t, proc);
	close(proc);
	read_environ(t);
	return true;
}

void view_environ_close(struct tui *t)
{
	tui_environ_free(&t->environ);
}

/* ---- keys ---- */

static void toggle_mask(struct tui *t)
{
	t->environ.unmasked = !t->environ.unmasked;
}

static const struct {
	enum tui_action action;
	void (*act)(struct tui *t);
} actions[] = {{ACTION_UNMASK, toggle_mask}, {ACTION_REFRESH, read_environ}};

bool view_environ_act(struct tui *t, enum tui_action action)
{
	for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
		if (actions[i].action == action) {
			actions[i].act(t);
			return true;
		}
	return false;
}

size_t view_environ_count(const struct tui *t)
{
	return t->environ.count;
}

long view_environ_selected(const struct tui *t)
{
	return t->environ.count ? (long)t->environ.selected : -1;
}

void view_environ_select(struct tui *t, long position)
{
	if (position >= 0 && (size_t)position < t->environ.count)
		t->environ.selected = (size_t)position;
}

/* ---- drawing ---- */

static void draw_environ_head(const struct tui *t, struct grid *g)
{
	static const char prefix[] = "Environment of process ";
	const struct gk_buf *title = &t->environ.title;
	struct grid_style bold = {CYAN, GRID_BOLD}, green = {GREEN, 0};
	int column;

	grid_blank(g, 0, 0, HEAD_ROWS, g->columns);
	column = grid_line(g, 0, 0, prefix, sizeof prefix - 1, bold);
	if (title->len) {
		const char *command = strstr(title->data, "): ");
		size_t len =
		    command ? (size_t)(command - title->data) + 2 : title->len;

		column = grid_line(g, 0, column, title->data, len, bold);
		grid_line(g, 0, column, title->data + len, title->len - len,
			  GRID_PLAIN);
	}
	for (int c = 0; c < g->columns; c++)
		grid_line(g, 1, c, "#", 1, green);
}

static void draw_variable(const struct tui *t, struct grid *g, int row,
			  size_t at)
{
	const struct tui_variable *v = &t->environ.list[at];
	const char *value = tui_environ_value(&t->environ, at);
	struct grid_style key = {BLUE, GRID_BOLD}, sign = {MAGENTA, 0};
	struct grid_style plain = GRID_PLAIN;
	int column = -t->scroll_left;

	if (value != v->value) /* a mask hides the value */
		plain.attribute = GRID_DIM;
	column = grid_line(g, row, column, v->key, strlen(v->key), key);
	column = grid_line(g, row, column, "=", 1, sign);
	grid_line(g, row, column, value, strlen(value), plain);
	if (at != t->environ.selected)
		return;
	grid_tint(g, row, 0, g->columns, CYAN);
	grid_mark(g, row, 0, g->columns, GRID_REVERSE, GRID_DIM);
}

static void draw_nothing(const struct tui *t, struct grid *g)
{
	struct grid_style reverse = {GRID_COLOR_NONE, GRID_REVERSE};
	struct gk_buf text = {0};

	if (t->environ.error)
		gk_buf_printf(&text, "Could not read the environment: %s",
			      gk_strerror(t->environ.error));
	else
		gk_buf_puts(&text, "The environment is empty.");
	grid_line(g, HEAD_ROWS, 0, text.data, text.len, reverse);
	gk_buf_free(&text);
}

static int longest_variable(const struct tui_environ *e)
{
	size_t most = 0;

	for (size_t i = 0; i < e->count; i++) {
		const char *value = tui_environ_value(e, i);
		size_t width =
		    gk_columns(e->list[i].key, strlen(e->list[i].key)) + 1 +
		    gk_columns(value, strlen(value));

		most = width > most ? width : most;
	}
	return (int)most;
}

int view_environ(struct tui *t, struct grid *g)
{
	const struct tui_environ *e = &t->environ;
	int rows = g->rows - HEAD_ROWS, most_left = 0;

	view_follow(t, e->count ? (int)e->selected + HEAD_ROWS : -1, HEAD_ROWS,
		    rows);
	if (t->scroll_left > 0)
		most_left = longest_variable(e) - g->columns;
	view_limit_sideways(t, most_left);
	for (int i = 0; i < rows; i++)
		if (t->scroll >= 0 && (size_t)(t->scroll + i) < e->count)
			draw_variable(t, g, HEAD_ROWS + i,
				      (size_t)(t->scroll + i));
	if (!e->count)
		draw_nothing(t, g);
	draw_environ_head(t, g);
	return (int)e->count + HEAD_ROWS;
}

long view_environ_at(const struct tui *t, int row)
{
	long at = row - HEAD_ROWS + t->scroll;

	return row >= HEAD_ROWS && at < (long)t->environ.count ? at : -1;
}

void view_environ_text(const struct tui *t, size_t at, struct gk_buf *out)
{
	gk_buf_printf(out, "%s=%s", t->environ.list[at].key,
		      tui_environ_value(&t->environ, at));
}

const struct gk_process *view_environ_process(const struct tui *t)
{
	const struct tui_tag *who = &t->environ.who;

	for (size_t i = 0; t->snap && i < t->snap->process_count; i++) {
		const struct gk_process *p = &t->snap->processes[i];

		if (p->pid == who->pid && p->start_ticks == who->start_ticks)
			return p;
	}
	return NULL;
}
