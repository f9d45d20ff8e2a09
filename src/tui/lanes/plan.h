/*
 * plan.h - lays out the main screen of lanes. The form depends on rows,
 * columns, GPUs with their MIG devices, and settings alone: neither on
 * processes nor on alerts, whose lines come out of the list of processes.
 */
#ifndef GK_TUI_LANES_PLAN_H
#define GK_TUI_LANES_PLAN_H

#include "tui/lanes/state.h"

#define LANES_WIDE 160 /* columns for power as a trace */

enum lanes_form { FORM_LINE, FORM_PAIR, FORM_PANEL, FORM_SOLO };

struct lanes_plan {
	enum lanes_form form;
	bool tight; /* few rows: neither host nor titles */
	bool host, lane_titles, axis, gap, migs, processes;
	int trace_rows;
	int alerts;          /* lines of them */
	size_t first, count; /* GPUs that are shown, by their number */
	int page, pages;
	/* Rows of the screen; those that are not there are -1. */
	int titles_row, lanes_row, lanes_rows, axis_row, alerts_row, rule_row;
	int list_titles_row, list_row, list_rows, footer_row;
};

/* alerts: how many lines they would take. */
struct lanes_plan lanes_plan(const struct tui *t, int alerts);

/* Position in the devices of the how many-th GPU; count of all GPUs. */
size_t lanes_gpu(const struct tui *t, size_t number);
size_t lanes_gpus(const struct tui *t);

/* How many MIG devices follow the GPU at a position. */
int lanes_migs(const struct tui *t, size_t device);

/* Rows of a lane, without the gap behind it. */
int lanes_height(const struct tui *t, const struct lanes_plan *plan,
		 size_t number);

#endif
