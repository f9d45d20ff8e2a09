/*
 * part.h - the parts of the main screen of lanes, each of which draws itself
 * into the rows that the plan gives it.
 */
#ifndef GK_TUI_LANES_PART_H
#define GK_TUI_LANES_PART_H

#include "tui/alert.h"
#include "tui/key.h"
#include "tui/lanes/plan.h"

void lanes_head(struct tui *t, struct grid *g, const struct lanes_plan *plan);
void lanes_host(struct tui *t, struct grid *g, const struct lanes_plan *plan);

/* A moment since 1970 as the local clock has it, "21:40:12"; "" if it has none.
 */
void lanes_clock(uint64_t wall_ns, bool seconds, char dst[16]);

/* How many lines the alerts that are on would take. */
int lanes_alert_count(const struct tui *t);
void lanes_alerts(struct tui *t, struct grid *g, const struct lanes_plan *plan);
/* One line of an alert from a column on, and what is told at its end. */
void lanes_alert_line(const struct tui *t, struct grid *g, int row, int at,
		      enum tui_alert_kind kind, const char *text,
		      const char *behind);

/* Titles above lanes in the form of lines, or wide ones. */
void lanes_line_titles(const struct tui *t, struct grid *g, int row);
void lanes_wide_titles(const struct tui *t, struct grid *g, int row);

/* One GPU from a row on. */
void lanes_line(struct tui *t, struct grid *g, int row,
		const struct lanes_plan *plan, size_t device);
/* Of what time the sparklines of pairs are, at the end of a row. */
void lanes_pair_span(const struct tui *t, struct grid *g, int row, int from);
void lanes_pair(struct tui *t, struct grid *g, int row,
		const struct lanes_plan *plan, size_t device);
void lanes_panel(struct tui *t, struct grid *g, int row,
		 const struct lanes_plan *plan, size_t device);
void lanes_solo(struct tui *t, struct grid *g, int row,
		const struct lanes_plan *plan, size_t device);

/*
 * The graphs of one GPU with titles and times; which page of the small ones.
 * values: of when it was well.
 */
void lanes_graphs(struct tui *t, struct grid *g, int row, int rows,
		  size_t device, const struct gk_device *values, int page);
int lanes_graph_pages(const struct gk_device *values, int columns);

/* The line that tells who a GPU is and how it is; facts at the right. */
void lanes_header(const struct tui *t, struct grid *g, int row, size_t device);

/* The times below the traces of panels, of one GPU alone. */
void lanes_panel_axis(const struct tui *t, struct grid *g, int row);
void lanes_solo_axis(const struct tui *t, struct grid *g, int row);

/* Owners as text: "ana 40.0 · bob 20.0". */
void lanes_owner_text(const struct tui *t, size_t device, int width, char *dst,
		      size_t cap);

/* Rule, titles and rows of the processes. */
void lanes_processes(struct tui *t, struct grid *g,
		     const struct lanes_plan *plan);

/* The shortest name of an action's keys; "" without one. */
#define LANES_KEY_NAME 64
void lanes_key_name(const struct tui *t, enum tui_action action,
		    char dst[LANES_KEY_NAME]);

/* "1–10 of 14 ▼"; "" where all are seen and all is blank. */
void lanes_place_text(int first, int rows, int all, char *dst, size_t cap);

/* Which part of a list is seen, in the last column of so many rows. */
void lanes_scroll_bar(const struct tui *t, struct grid *g, int row, int rows,
		      int all);

/* The footers of the screens of several machines, of a GPU, and of alerts. */
void lanes_hosts_footer(struct tui *t, struct grid *g, int row);
void lanes_device_footer(struct tui *t, struct grid *g, int row, int columns);
void lanes_alerts_footer(struct tui *t, struct grid *g, int row);
void lanes_footer(struct tui *t, struct grid *g, const struct lanes_plan *plan);

bool lanes_is_inside(const struct lanes_hit *hit, int row, int column);

/* Remembers a place that the mouse may click. */
void lanes_hit(struct tui *t, struct lanes_hit hit);

#endif
