/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.h - lays out the main screen of lanes. The form depends only on rows,
 * columns, settings, and GPUs with their MIG devices. It depends neither on
 * processes nor on alerts, whose rows are taken from the list of processes.
 */
#ifndef GK_TUI_LANES_PLAN_H
#define GK_TUI_LANES_PLAN_H

#include "tui/lanes/state.h"

#define LANES_WIDE 160 /* minimum columns for a trace of power */

enum lanes_form { FORM_LINE, FORM_PAIR, FORM_PANEL, FORM_SOLO };

struct lanes_plan {
	enum lanes_form form;
	bool tight; /* few rows: leave out host and titles */
	bool host, lane_titles, axis, gap, migs, processes;
	int trace_rows;
	int alerts;          /* number of rows for alerts */
	size_t first, count; /* the GPUs shown, numbered as for lanes_gpu() */
	int page, pages;
	/* Row of the screen where each part begins; -1 if it is left out. */
	int titles_row, lanes_row, lanes_rows, axis_row, alerts_row, rule_row;
	int list_titles_row, list_row, list_rows, footer_row;
};

/*
 * Computes the layout. `alerts` is the number of lines needed to show all
 * alerts.
 */
struct lanes_plan lanes_plan(const struct tui *t, int alerts);

/*
 * lanes_gpu() returns the position in snap->devices of a GPU; `number` counts
 * GPUs from 0, without MIG devices. lanes_gpus() returns the number of GPUs.
 */
size_t lanes_gpu(const struct tui *t, size_t number);
size_t lanes_gpus(const struct tui *t);

/*
 * Returns the number of MIG devices of the GPU at a position in snap->devices.
 */
int lanes_migs(const struct tui *t, size_t device);

/* Returns the rows of a GPU's lane, without the gap below it. */
int lanes_height(const struct tui *t, const struct lanes_plan *plan,
		 size_t number);

#endif
