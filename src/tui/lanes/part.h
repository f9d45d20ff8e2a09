/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part.h - the parts of the screens of lanes. Those of the main screen draw
 * into the rows that plan.h assigns to them.
 */
#ifndef GK_TUI_LANES_PART_H
#define GK_TUI_LANES_PART_H

#include "tui/alerts/alert.h"
#include "tui/screen/key.h"
#include "tui/lanes/plan.h"

void lanes_head(struct tui *t, struct grid *g, const struct lanes_plan *plan);
void lanes_host(struct tui *t, struct grid *g, const struct lanes_plan *plan);

/* Writes a wall clock time since 1970 as local time, "21:40:12" or "21:40". */
void lanes_clock(uint64_t wall_ns, bool seconds, char dst[16]);

/* Returns how many lines are needed to show all active alerts. */
int lanes_alert_count(const struct tui *t);
void lanes_alerts(struct tui *t, struct grid *g, const struct lanes_plan *plan);
/*
 * Draws one line of an alert from column `at` on, and the text `behind` at the
 * end of the row.
 */
void lanes_alert_line(const struct tui *t, struct grid *g, int row, int at,
		      enum tui_alert_kind kind, const char *text,
		      const char *behind);

/* Draw the titles above lanes of FORM_LINE, and above wide panels. */
void lanes_line_titles(const struct tui *t, struct grid *g, int row);
void lanes_wide_titles(const struct tui *t, struct grid *g, int row);

/* Draw one GPU in each form, starting at a row. */
void lanes_line(struct tui *t, struct grid *g, int row,
		const struct lanes_plan *plan, size_t device);
/*
 * If there is space after column `from`, writes at the end of the row how much
 * time the sparklines of pairs cover.
 */
void lanes_pair_span(const struct tui *t, struct grid *g, int row, int from);
void lanes_pair(struct tui *t, struct grid *g, int row,
		const struct lanes_plan *plan, size_t device);
void lanes_panel(struct tui *t, struct grid *g, int row,
		 const struct lanes_plan *plan, size_t device);
void lanes_solo(struct tui *t, struct grid *g, int row,
		const struct lanes_plan *plan, size_t device);

/*
 * Draws the graphs of one GPU with titles and time axes. `page` is the page of
 * small graphs; `values` are from when the GPU was last healthy.
 */
void lanes_graphs(struct tui *t, struct grid *g, int row, int rows,
		  size_t device, const struct gk_device *values, int page);
int lanes_graph_pages(const struct gk_device *values, int columns);

/* Draws index, model and state of a GPU, and facts at the right. */
void lanes_header(const struct tui *t, struct grid *g, int row, size_t device);

/* Draw the time axes below panels, and below the graphs of FORM_SOLO. */
void lanes_panel_axis(const struct tui *t, struct grid *g, int row);
void lanes_solo_axis(const struct tui *t, struct grid *g, int row);

/* Writes the owners of a GPU's memory in GiB: "ana 40.0 · bob 20.0". */
void lanes_owner_text(const struct tui *t, size_t device, int width, char *dst,
		      size_t cap);

/* Draws the rule, the titles and the rows of the process list. */
void lanes_processes(struct tui *t, struct grid *g,
		     const struct lanes_plan *plan);

/* Writes the shortest name of an action's keys; "" if it has none. */
#define LANES_KEY_NAME 64
void lanes_key_name(const struct tui *t, enum tui_action action,
		    char dst[LANES_KEY_NAME]);

/*
 * Writes which rows of a list are visible, as in "1–10 of 14 ▼"; "" for an
 * empty list.
 */
void lanes_range_text(int first, int rows, int all, char *dst, size_t cap);

/*
 * Draws the scroll bar of a list with `all` lines in the last column, unless
 * all of them are visible.
 */
void lanes_scroll_bar(const struct tui *t, struct grid *g, int row, int rows,
		      int all);

/*
 * Draw the footers of the screens of several machines, of one GPU, and of
 * alerts.
 */
void lanes_hosts_footer(struct tui *t, struct grid *g, int row);
void lanes_device_footer(struct tui *t, struct grid *g, int row, int columns);
void lanes_alerts_footer(struct tui *t, struct grid *g, int row);
void lanes_footer(struct tui *t, struct grid *g, const struct lanes_plan *plan);

bool lanes_is_inside(const struct lanes_hit *hit, int row, int column);

/* Registers an area of the screen that can be clicked. */
void lanes_hit(struct tui *t, struct lanes_hit hit);

#endif
