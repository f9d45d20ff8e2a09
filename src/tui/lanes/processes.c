/* SPDX-License-Identifier: Apache-2.0 */
/* processes.c - draws the list of processes: its rule, titles and rows. */
#include "tui/lanes/part.h"

#include "format/names.h"
#include "format/width.h"
#include "tui/lanes/columns.h"
#include "tui/lanes/trace.h"
#include "tui/model/model.h"
#include "tui/views/view.h"

#include <stdio.h>
#include <string.h>

#define NOTE         256
#define FILTER_WORDS 40 /* maximum columns for the filter */
#define BY_FROM      48 /* minimum columns of the screen to show the order */

/* ---- the rule above the list ---- */

static size_t count_gone(const struct tui *t)
{
	size_t gone = 0;

	for (size_t i = 0; i < t->snap->process_count; i++)
		gone += t->snap->processes[i].state == GK_PROCESS_GONE;
	return gone;
}

/*
 * Writes the filter, and the numbers of processes that match it, that are
 * tagged, and that are not in /proc.
 */
static void note_text(const struct tui *t, char *dst, size_t cap)
{
	size_t len = 0, gone = count_gone(t);

	*dst = '\0';
	if (*t->words.text)
		len += (size_t)snprintf(dst + len, cap - len, " · filter %.*s",
					(int)gk_fit(t->words.text,
						    strlen(t->words.text),
						    FILTER_WORDS),
					t->words.text);
	if (t->list_count != t->snap->process_count)
		len += (size_t)snprintf(dst + len, cap - len, " (%zu of %zu)",
					t->list_count, t->snap->process_count);
	if (t->tag_count)
		len += (size_t)snprintf(dst + len, cap - len, " · %zu tagged",
					t->tag_count);
	if (gone)
		snprintf(dst + len, cap - len,
			 " · %zu not in /proc (a container? hidepid?)", gone);
}

/*
 * Draws the title of the list. If a past moment is on display, but no frame of
 * it was kept, the list shows the present, and the title says so.
 */
static int draw_list_title(const struct tui *t, struct grid *g, int row)
{
	char clock[16];

	if (!tui_time_is_past(t) || t->time.kept)
		return lanes_put(g, row, 1, lanes_ink(t, INK_STRONG),
				 " processes ");
	lanes_clock(tui_time_wall(t), true, clock);
	return lanes_put(g, row, 1, lanes_ink(t, INK_WARN),
			 " processes now; none are kept for %s ", clock);
}

static void draw_list_rule(const struct tui *t, struct grid *g,
			   const struct lanes_plan *plan)
{
	char seen[64], note[NOTE];
	int row = plan->rule_row, end, at;
	struct grid_style dim = lanes_ink(t, INK_DIM);

	lanes_fill(g, row, 0, g->columns, L'─', lanes_ink(t, INK_FAINT));
	lanes_range_text(t->scroll, plan->list_rows, (int)t->list_count, seen,
			 sizeof seen);
	end = g->columns - 1 - lanes_width(seen);
	lanes_put(g, row, end, dim, "%s", seen);
	at = draw_list_title(t, g, row);
	if (g->columns >= BY_FROM)
		at = lanes_put(g, row, at, dim, "by %s %s ",
			       lanes_order_name(t->order.first.column),
			       tui_sort_descends(t->order.first) ? "▼" : "▲");
	note_text(t, note, sizeof note);
	if (*note && at < end - 4)
		lanes_put(
		    g, row, at - 1, dim, "%.*s ",
		    (int)gk_fit(note, strlen(note), (size_t)(end - 3 - at)),
		    note);
}

/* ---- titles ---- */

static void draw_column_title(struct tui *t, struct grid *g, int row,
			      const struct lanes_column *c)
{
	const struct tui_order *o = &t->order;
	bool first = c->id == (int)o->first.column;
	bool second = !first && c->id == (int)o->second.column &&
		      (o->second.column != GK_COLUMN_GPU || o->second.reversed);
	struct tui_sort sort = second ? o->second : o->first;
	int width = lanes_width(c->title);
	int at = c->right ? c->at + c->width - width : c->at;

	if (c->id == GK_COLUMN_GPU_MEM && c->width > width)
		at = c->at; /* align with the number, not with its unit */
	lanes_put(g, row, at, lanes_ink(t, first ? INK_STRONG : INK_DIM), "%s",
		  c->title);
	if (first || second)
		lanes_put(g, row, at + width,
			  lanes_ink(t, first ? INK_STRONG : INK_DIM), "%s",
			  tui_sort_descends(sort) ? (first ? "▼" : "▽")
						  : (first ? "▲" : "△"));
	if (c->id != LANES_BAR)
		lanes_hit(t, (struct lanes_hit){.kind = HIT_COLUMN,
						.row = row,
						.column = at,
						.rows = 1,
						.columns = width,
						.id = c->id});
}

/* ---- rows ---- */

/* Returns a cell's style. Processes of other users are dim. */
static struct grid_style style_of_cell(const struct tui *t, int id,
				       const struct gk_process *p,
				       const char *text)
{
	bool foreign = lanes_is_foreign(t, p);
	enum ink owner = lanes_owner_ink(lanes_owner(t, p));

	/*
	 * The user or the pid is in the owner's ink, depending on which of them
	 * distinguishes the owners.
	 */
	if (id == (lanes_by_user(t) ? GK_COLUMN_USER : GK_COLUMN_PID))
		return foreign ? lanes_ink(t, owner) : lanes_bold(t, owner);
	if (foreign)
		return lanes_ink(t, INK_DIM);
	switch (id) {
	case GK_COLUMN_SM:
		return lanes_ink(t, !strcmp(text, "0") || !strcmp(text, "0%") ||
					    !strcmp(text, "—")
					? INK_DIM
					: INK_TEXT);
	case GK_COLUMN_GPU:
	case GK_COLUMN_PID:
	case GK_COLUMN_USER:
	case GK_COLUMN_GPU_MEM:
	case GK_COLUMN_COMMAND:
		return lanes_ink(t, INK_TEXT);
	default:
		return lanes_ink(t, INK_DIM);
	}
}

/* Draws the command, scrolled sideways. Marks where it is cut. */
static void draw_command(struct tui *t, struct grid *g, int row,
			 const struct lanes_column *c,
			 const struct gk_process *p, const char *text)
{
	struct grid_style style = style_of_cell(t, GK_COLUMN_COMMAND, p, text);
	size_t len = strlen(text);
	size_t skip = gk_fit(text, len, (size_t)t->scroll_left);

	lanes_cell(g, row, c->at, c->width, false, style, text + skip);
	if (t->scroll_left > 0 && skip)
		lanes_put(g, row, c->at, lanes_ink(t, INK_DIM), "‹");
}

static void draw_share_bar(const struct tui *t, struct grid *g, int row,
			   const struct lanes_column *c,
			   const struct gk_process *p)
{
	const struct gk_device *d = &t->snap->devices[p->device];
	double used = lanes_gib(p->m[GK_PM_GPU_MEM]);
	double total = lanes_gib(d->m[GK_M_MEM_TOTAL]);

	lanes_plain_bar(t, g, row, c->at, c->width,
			used > 0 && total > 0 ? used / total : -1,
			lanes_ink(t, lanes_owner_ink(lanes_owner(t, p))));
}

/*
 * Returns the process. If its GPU is gone, leaves out the values that come from
 * the driver.
 */
static struct gk_process without_values(const struct tui *t,
					const struct gk_process *p)
{
	struct gk_process bare = *p;

	if (!gk_device_gone(&t->snap->devices[p->device]))
		return bare;
	for (int i = 0; i < GK_PM_COUNT; i++)
		if (gk_process_metrics[i].tier == GK_TIER_MEDIUM)
			bare.m[i].why = GK_ABSENT_LOST;
	return bare;
}

static void draw_row(struct tui *t, struct grid *g, int row,
		     const struct lanes_table *table, long position)
{
	const struct gk_process *p = &t->snap->processes[t->list[position]];
	struct gk_process values = without_values(t, p);
	int owner = lanes_owner(t, p);
	bool letters = lanes_is_mono(t) || lanes_is_ascii(t);

	lanes_put(g, row, 0, lanes_ink(t, lanes_owner_ink(owner)), "%lc",
		  letters ? (wint_t)lanes_owner_letter(owner) : (wint_t)L'▌');
	for (int i = 0; i < table->count; i++) {
		const struct lanes_column *c = &table->columns[i];
		char dst[GK_NAME_MAX];
		const char *text;

		if (c->id == LANES_BAR) {
			draw_share_bar(t, g, row, c, &values);
			continue;
		}
		text = lanes_column_text(t, table, c->id, dst, &values);
		if (c->id == GK_COLUMN_COMMAND)
			draw_command(t, g, row, c, p, text);
		else
			lanes_cell(g, row, c->at, c->width, c->right,
				   style_of_cell(t, c->id, p, text), text);
	}
}

/*
 * Marks a row if its process is selected or tagged, or is the selected process
 * on another GPU.
 */
static void mark_row(const struct tui *t, struct grid *g, int row,
		     long position, long selected)
{
	const struct gk_process *p = &t->snap->processes[t->list[position]];

	if (tui_is_tagged(t, p)) {
		grid_mark(g, row, 1, g->columns - 2, GRID_BOLD, GRID_DIM);
		lanes_put(g, row, 4, lanes_ink(t, INK_ACCENT), "+");
	}
	if (position == selected)
		lanes_mark_selected(t, g, row, 1, g->columns - 2);
	else if (selected >= 0 &&
		 p->pid == t->snap->processes[t->list[selected]].pid)
		lanes_put(g, row, 4, lanes_ink(t, INK_ACCENT), "=");
}

/* Limits sideways scrolling to the end of the longest visible command. */
static void limit_sideways(struct tui *t, const struct lanes_table *table,
			   long first, long end)
{
	int width = table->columns[table->count - 1].width, most = 0;

	for (long i = first; i < end; i++) {
		char dst[GK_NAME_MAX];
		int w = lanes_width(lanes_column_text(
			    t, table, GK_COLUMN_COMMAND, dst,
			    &t->snap->processes[t->list[i]])) -
			width;

		most = w > most ? w : most;
	}
	view_limit_sideways(t, most);
}

static const char *none_text(const struct tui *t)
{
	return t->snap->process_count ? "No process matches the filter"
				      : gk_no_processes_text(t->snap);
}

void lanes_processes(struct tui *t, struct grid *g,
		     const struct lanes_plan *plan)
{
	struct lanes_table table = lanes_table(t);
	long first = t->scroll, end = first + plan->list_rows;
	long selected = tui_selected(t);

	if (end > (long)t->list_count)
		end = (long)t->list_count;
	limit_sideways(t, &table, first, end);
	draw_list_rule(t, g, plan);
	for (int i = 0; plan->list_titles_row >= 0 && i < table.count; i++)
		draw_column_title(t, g, plan->list_titles_row,
				  &table.columns[i]);
	for (long i = first; i < end; i++) {
		int row = plan->list_row + (int)(i - first);

		draw_row(t, g, row, &table, i);
		mark_row(t, g, row, i, selected);
	}
	if (!t->list_count && plan->list_rows > 0)
		lanes_put(g, plan->list_row, 1, lanes_ink(t, INK_DIM), "%s",
			  none_text(t));
	lanes_scroll_bar(t, g, plan->list_row, plan->list_rows,
			 (int)t->list_count);
}
