/*
 * view_device.c - the screen of one GPU: all that is known of it, its MIG
 * devices, and graphs of what it did.
 */
#include "base/str.h"
#include "format/names.h"
#include "tui/box.h"
#include "tui/device_part.h"
#include "tui/facts.h"
#include "tui/lanes/device.h"
#include "tui/value.h"
#include "tui/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FACT_WIDTH  40 /* columns that a fact wants */
#define TITLE_WIDTH 19
#define HINT        "Left Right: GPU  g: graphs"
#define RED         1
#define CYAN        6

/* ---- which GPU ---- */

static bool is_gpu(const struct gk_device *d)
{
	return d->mig_index < 0;
}

/* NULL: there is none at all. */
static const struct gk_device *shown_device(const struct tui *t)
{
	const struct gk_device *d = gk_identity_find(&t->device.gpu, t->snap);

	if (d)
		return d;
	for (size_t i = 0; i < t->snap->device_count; i++)
		if (is_gpu(&t->snap->devices[i]))
			return &t->snap->devices[i];
	return NULL;
}

static void show_device(struct tui *t, const struct gk_device *d)
{
	t->device.gpu = gk_identity_of(d);
}

/* ---- what it said ---- */

static bool is_silent(const struct gk_device *d)
{
	return d->health == GK_HEALTH_LOST || d->health == GK_HEALTH_ERROR;
}

/* A GPU that is lost is shown with its last values, if they were seen here. */
static const struct gk_device *values_of(const struct tui *t,
					 const struct gk_device *d)
{
	const struct gk_device *last = &t->device.last;
	struct gk_identity who = gk_identity_of(last);

	return is_silent(d) && last->read_ns[GK_TIER_FAST] &&
		       gk_identity_is(&who, d)
		   ? last
		   : d;
}

static void remember_device(struct tui_device *s, const struct gk_device *d)
{
	s->last = *d;
	if (!d->detail)
		return;
	s->last_detail = *d->detail;
	s->last.detail = &s->last_detail;
}

/* Xids are told of a GPU that is lost, too. */
static void remember_xids(struct gk_device *last, const struct gk_device *d)
{
	static const enum gk_metric ids[] = {GK_M_XID_COUNT, GK_M_XID_LAST,
					     GK_M_XID_TIME};

	for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
		last->m[ids[i]] = d->m[ids[i]];
}

void view_device_frame(struct tui *t)
{
	const struct gk_device *d = shown_device(t);

	if (!d)
		return;
	device_links_frame(t, d);
	if (!is_silent(d))
		remember_device(&t->device, d);
	else if (values_of(t, d) != d)
		remember_xids(&t->device.last, d);
}

/* ---- moving ---- */

/* The process as the driver lists it: a tree's is of all its GPUs together. */
static const struct gk_process *listed_process(const struct tui *t,
					       const struct gk_process *p)
{
	const struct gk_process *list = t->snap->processes;

	if (p >= list && p < list + t->snap->process_count)
		return p;
	for (size_t i = 0; i < t->snap->process_count; i++)
		if (list[i].pid == p->pid &&
		    list[i].start_ticks == p->start_ticks)
			return &list[i];
	return NULL;
}

/* Opens at the GPU of the selected process, the first of several. */
bool view_device_open(struct tui *t)
{
	const struct gk_process *chosen = tui_process(t);
	const struct gk_process *p = chosen ? listed_process(t, chosen) : NULL;
	const struct gk_device *d = p ? &t->snap->devices[p->device] : NULL;

	if (chosen && !p) {
		tui_say(t, "Process %d is on no GPU.", (int)chosen->pid);
		return false;
	}
	if (d && d->parent >= 0)
		d = &t->snap->devices[d->parent];
	if (d)
		show_device(t, d);
	if (!shown_device(t))
		tui_say(t, GK_NO_DEVICES ".");
	else
		view_device_frame(t);
	return shown_device(t) != NULL;
}

/* The next one in the list, round about; by is 1 or -1. */
static void step_device(struct tui *t, int by)
{
	int count = (int)t->snap->device_count;
	const struct gk_device *now = shown_device(t);
	int at;

	if (!now)
		return;
	at = (int)(now - t->snap->devices);
	do
		at = (at + by + count) % count;
	while (!is_gpu(&t->snap->devices[at]));
	show_device(t, &t->snap->devices[at]);
	view_device_frame(t);
}

int view_device_index(const struct tui *t)
{
	const struct gk_device *d = t->snap ? shown_device(t) : NULL;

	return d && t->screen == SCREEN_DEVICE ? (int)d->index : -1;
}

bool view_device_act(struct tui *t, enum tui_action action)
{
	if (action == ACTION_SCROLL_LEFT)
		step_device(t, -1);
	else if (action == ACTION_SCROLL_RIGHT)
		step_device(t, 1);
	else if (action == ACTION_GRAPH && t->options.look == LOOK_LANES)
		lanes_device_graphs_next(t, values_of(t, shown_device(t)));
	else if (action == ACTION_GRAPH)
		device_graphs_next(t, shown_device(t));
	else
		return false;
	return true;
}

/* ---- text ---- */

static int text_columns(const struct grid *g)
{
	return g->columns < 2 * FACT_WIDTH ? 1 : g->columns / FACT_WIDTH;
}

static void draw_device_head(const struct tui *t, struct grid *g, int line,
			     const struct gk_device *d)
{
	struct grid_style style = {CYAN, GRID_REVERSE};
	char text[2 * GK_NAME_MAX + 16];
	int end, hint = g->columns - (int)strlen(HINT) - 1;

	snprintf(text, sizeof text, " GPU %u  %s  %s", d->index, d->name,
		 d->uuid);
	for (int c = 0; c < g->columns; c++)
		grid_line(g, line, c, " ", 1, style);
	end = box_text(g, line, 0, g->columns, text, style);
	if (hint > end)
		grid_line(g, line, hint, HINT, strlen(HINT), style);
	(void)t;
}

int device_title(struct grid *g, int line, const char *title)
{
	struct gk_buf text = {0};

	gk_cell(&text, title, TITLE_WIDTH - 1, GK_LEFT, "");
	grid_line(g, line, 1, text.data, text.len,
		  (struct grid_style){CYAN, 0});
	gk_buf_free(&text);
	return TITLE_WIDTH + 1;
}

/* A text that is too long loses its brackets, and only then its end. */
static void cut_brackets(struct gk_buf *text, int width)
{
	char *bracket = text->len ? strstr(text->data, " (") : NULL;

	if (bracket && (int)gk_columns(text->data, text->len) > width) {
		*bracket = '\0';
		text->len = (size_t)(bracket - text->data);
	}
}

static void draw_fact(const struct tui *t, struct grid *g, int line, int column,
		      int width, const struct gk_device *d, int fact)
{
	struct grid_style style = GRID_PLAIN;
	struct gk_buf text = {0}, cell = {0};
	int room = width - TITLE_WIDTH - 2;

	room = room > 0 ? room : 0;
	if (tui_fact_is_section(fact)) {
		box_text(g, line, column + 1, width - 2, tui_fact_title(fact),
			 (struct grid_style){GRID_COLOR_NONE, GRID_BOLD});
		return;
	}
	gk_cell(&text, tui_fact_title(fact), TITLE_WIDTH - 1, GK_LEFT, "");
	grid_line(g, line, column + 1, text.data, text.len,
		  (struct grid_style){CYAN, 0});
	text.len = 0;
	if (!tui_fact_add(&text, fact, t->snap, d))
		style = (struct grid_style){GRID_COLOR_NONE, GRID_DIM};
	cut_brackets(&text, room);
	gk_cell(&cell, text.data, (size_t)room, GK_LEFT, "+");
	box_text(g, line, column + TITLE_WIDTH + 1, room, cell.data, style);
	gk_buf_free(&text);
	gk_buf_free(&cell);
}

/* ---- where facts stand ---- */

/* What this board does not have is told in one line. */
static bool is_unsupported(const struct tui *t, const struct gk_device *d,
			   int fact)
{
	struct gk_buf text = {0};
	bool absent = !tui_fact_is_section(fact) &&
		      !tui_fact_add(&text, fact, t->snap, d) && text.len &&
		      !strcmp(text.data, tui_absence(GK_ABSENT_NOT_SUPPORTED));

	gk_buf_free(&text);
	return absent;
}

/* A section of which nothing is left has no heading. */
static int choose_facts(const struct tui *t, const struct gk_device *d,
			int first, int chosen[])
{
	int count = 0;

	for (int fact = first; fact < tui_fact_count(); fact++) {
		if (is_unsupported(t, d, fact))
			continue;
		if (tui_fact_is_section(fact) && count &&
		    tui_fact_is_section(chosen[count - 1]))
			count--;
		chosen[count++] = fact;
	}
	return count;
}

/*
 * Column by column, so that neighbours stay together; a heading is not the last
 * of one. Answers how many columns are taken; without a grid nothing is drawn.
 */
static int flow_facts(const struct tui *t, struct grid *g, int line, int rows,
		      const struct gk_device *d, const int chosen[], int count)
{
	int width = g->columns / text_columns(g), row = 0, column = 0;

	for (int i = 0; i < count; i++) {
		bool last = row == rows - 1;

		if (row == rows || (last && tui_fact_is_section(chosen[i]))) {
			row = 0;
			column++;
		}
		if (line >= 0)
			draw_fact(t, g, line + row, column * width, width, d,
				  chosen[i]);
		row++;
	}
	return column + 1;
}

static int draw_unsupported(const struct tui *t, struct grid *g, int line,
			    const struct gk_device *d)
{
	struct grid_style dim = {GRID_COLOR_NONE, GRID_DIM};
	struct gk_buf text = {0};
	bool any;

	for (int fact = 0; fact < tui_fact_count(); fact++)
		if (is_unsupported(t, d, fact))
			gk_buf_printf(&text, "%s%s", text.len ? ", " : "",
				      tui_fact_title(fact) +
					  strspn(tui_fact_title(fact), " "));
	any = text.len;
	if (any) {
		device_title(g, line, "Not supported");
		box_text(g, line, TITLE_WIDTH + 1, g->columns - 1, text.data,
			 dim);
	}
	gk_buf_free(&text);
	return any;
}

/* Long facts come first. */
static int draw_facts(const struct tui *t, struct grid *g, int line,
		      const struct gk_device *d)
{
	int columns = text_columns(g), n = 0, first = line, count, rows;
	int *chosen = calloc((size_t)tui_fact_count() + 1, sizeof *chosen);

	if (!chosen)
		return 0;
	for (; n < tui_fact_count() && tui_fact_is_long(n); n++)
		draw_fact(t, g, line++, 0, g->columns, d, n);
	count = choose_facts(t, d, n, chosen);
	rows = (count + columns - 1) / columns;
	while (flow_facts(t, g, -1, rows, d, chosen, count) > columns)
		rows++;
	flow_facts(t, g, line, rows, d, chosen, count);
	free(chosen);
	line += rows;
	return line + draw_unsupported(t, g, line, d) - first;
}

void view_device_trouble(const struct tui *t, const struct gk_device *d,
			 char *dst, size_t cap)
{
	const struct gk_device *values = values_of(t, d);
	uint64_t age = gk_device_age(t->snap, values, GK_TIER_FAST);
	char trouble[GK_NAME_MAX], time[GK_UNITS_MAX];

	*dst = '\0';
	gk_device_trouble(trouble, t->snap, d);
	if (!*trouble)
		return;
	if (age == UINT64_MAX || (is_silent(d) && values == d))
		snprintf(dst, cap, " %s: nothing is known of it", trouble);
	else if (d->health == GK_HEALTH_STALE)
		snprintf(dst, cap, " %s: values are from before", trouble);
	else
		snprintf(dst, cap, " %s: values are %s old", trouble,
			 gk_human_time(time, (int64_t)age, 4));
}

/* Nothing when it is well. */
static int draw_trouble(const struct tui *t, struct grid *g, int line,
			const struct gk_device *d)
{
	struct grid_style style = {RED, GRID_BOLD | GRID_REVERSE};
	char text[2 * GK_NAME_MAX + 64];

	view_device_trouble(t, d, text, sizeof text);
	if (!*text)
		return 0;
	for (int c = 0; c < g->columns; c++)
		grid_line(g, line, c, " ", 1, style);
	box_text(g, line, 0, g->columns, text, style);
	return 1;
}

/* Graphs apart, which have what the rest leaves. */
static int draw_body(const struct tui *t, struct grid *g, int line,
		     const struct gk_device *d)
{
	const struct gk_device *values = values_of(t, d);
	int begin = line;

	line += draw_facts(t, g, line, values);
	line += device_peers(t, g, line, d);
	line += device_links(t, g, line, values);

	line += device_migs(t, g, line, d);
	return line - begin;
}

/* Graphs have what the rest leaves; what is drawn below the grid is cut. */
static int graph_rows(const struct tui *t, struct grid *g,
		      const struct gk_device *d)
{
	int rest = g->rows - 1 - draw_trouble(t, g, g->rows, d) -
		   draw_body(t, g, g->rows, d);
	int least = device_graphs_least(g->rows);

	return rest > least ? rest : least;
}

int view_device(struct tui *t, struct grid *g)
{
	const struct gk_device *d = shown_device(t);
	int line = 1 - t->scroll;

	t->first_process_line = -1;
	if (!d) {
		grid_line(g, 0, 1, GK_NO_DEVICES, strlen(GK_NO_DEVICES),
			  GRID_PLAIN);
		return 1;
	}
	if (t->options.look == LOOK_LANES)
		return lanes_device(t, g, d, values_of(t, d));
	line += draw_trouble(t, g, line, d);
	line += device_graphs(t, g, line, graph_rows(t, g, d), d);
	line += draw_body(t, g, line, d);
	draw_device_head(t, g, 0, d);
	return line + t->scroll;
}
