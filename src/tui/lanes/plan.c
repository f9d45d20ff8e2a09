/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.c - chooses the form of lanes and computes where the parts of the main
 * screen are.
 */
#include "tui/lanes/plan.h"

#include "base/assert.h"
#include "tui/model/model.h"

#define FORMS_FROM    72 /* minimum columns for forms other than FORM_LINE */
#define TIGHT_BELOW   12 /* rows */
#define ALERTS_ROWS   20 /* minimum rows and columns for more than one alert */
#define ALERTS_COLS   56
#define TRACE_LEAST   3
#define TRACE_MOST    6
#define SOLO_LEAST    10
#define PROCESS_LEAST 3

size_t lanes_gpus(const struct tui *t)
{
	size_t count = 0;

	for (size_t i = 0; i < t->snap->device_count; i++)
		count += t->snap->devices[i].mig_index < 0;
	return count;
}

size_t lanes_gpu(const struct tui *t, size_t number)
{
	for (size_t i = 0; i < t->snap->device_count; i++)
		if (t->snap->devices[i].mig_index < 0 && !number--)
			return i;
	return 0;
}

int lanes_migs(const struct tui *t, size_t device)
{
	size_t end = device + 1;

	GK_ASSERT(device < t->snap->device_count);
	while (end < t->snap->device_count &&
	       t->snap->devices[end].mig_index >= 0)
		end++;
	return (int)(end - device - 1);
}

int lanes_height(const struct tui *t, const struct lanes_plan *plan,
		 size_t number)
{
	int migs = lanes_migs(t, lanes_gpu(t, number));

	switch (plan->form) {
	case FORM_LINE:
		return 1 + (plan->migs ? migs : 0);
	case FORM_PAIR:
		return 2 + (plan->migs ? migs : 0);
	case FORM_PANEL:
	case FORM_SOLO:
		break;
	}
	return 1 + (migs > plan->trace_rows ? migs : plan->trace_rows);
}

static int height_of_all(const struct tui *t, const struct lanes_plan *plan)
{
	size_t gpus = lanes_gpus(t);
	int height = plan->gap && gpus ? (int)gpus - 1 : 0;

	for (size_t i = 0; i < gpus; i++)
		height += lanes_height(t, plan, i);
	return height;
}

/* ---- the form ---- */

struct
try {
	enum lanes_form form;
	bool gap, migs;
};

/*
 * The forms to try. The first that fits is used. The last one always fits, as
 * it shows the GPUs in pages.
 */
static const struct try tries[] = {
    {FORM_PANEL, true, true}, {FORM_PANEL, false, true},
    {FORM_PAIR, true, true},  {FORM_PAIR, false, true},
    {FORM_LINE, false, true}, {FORM_LINE, false, false},
};

#define TRIES (sizeof tries / sizeof *tries)

static bool is_allowed(const struct tui *t, enum lanes_form form)
{
	if (form == FORM_LINE)
		return true;
	return t->columns >= FORMS_FROM && t->options.mode != MODE_COMPACT;
}

static bool is_solo(const struct tui *t, int room)
{
	return lanes_gpus(t) == 1 && t->snap->device_count == 1 &&
	       is_allowed(t, FORM_SOLO) && room >= SOLO_LEAST;
}

static void choose_form(const struct tui *t, struct lanes_plan *plan, int room)
{
	size_t i = 0;

	plan->trace_rows = TRACE_LEAST;
	if (is_solo(t, room)) {
		plan->form = FORM_SOLO;
		return;
	}
	for (; i < TRIES; i++) {
		plan->form = tries[i].form;
		plan->gap = tries[i].gap;
		plan->migs = tries[i].migs;
		if (!is_allowed(t, plan->form))
			continue;
		if (height_of_all(t, plan) <= room || i == TRIES - 1 ||
		    (t->options.mode == MODE_FULL && i == 1))
			break;
	}
}

/* Makes traces taller, with half of the remaining rows. */
static void grow_traces(const struct tui *t, struct lanes_plan *plan, int room)
{
	int gpus = (int)lanes_gpus(t), more;

	if (plan->form != FORM_PANEL || !gpus)
		return;
	more = (room - height_of_all(t, plan)) / 2 / gpus;
	if (more > 0)
		plan->trace_rows += more;
	if (plan->trace_rows > TRACE_MOST)
		plan->trace_rows = TRACE_MOST;
}

/*
 * Returns the number of rows for a single GPU: the first 16 of `room`, plus two
 * thirds of the rest.
 */
static int solo_rows(int room)
{
	return room <= 16 ? room : 16 + (room - 16) * 2 / 3;
}

/* ---- pages ---- */

static size_t lanes_page_end(const struct tui *t, const struct lanes_plan *plan,
			     size_t first, int room)
{
	size_t end = first;
	int used = 0;

	while (end < lanes_gpus(t)) {
		used += lanes_height(t, plan, end) + (end > first && plan->gap);
		if (used > room && end > first)
			break;
		end++;
	}
	return end;
}

static void take_page(const struct tui *t, struct lanes_plan *plan, int room)
{
	size_t gpus = lanes_gpus(t);
	int page = 0;

	plan->count = gpus;
	for (size_t first = 0, end; first < gpus; first = end, page++) {
		end = lanes_page_end(t, plan, first, room);
		if (page > t->main.page)
			continue;
		plan->first = first;
		plan->count = end - first;
		plan->page = page;
	}
	plan->pages = page;
}

static int rows_of_page(const struct tui *t, const struct lanes_plan *plan)
{
	int rows = plan->gap && plan->count ? (int)plan->count - 1 : 0;

	for (size_t i = 0; i < plan->count; i++)
		rows += lanes_height(t, plan, plan->first + i);
	return rows;
}

/* ---- rows ---- */

static int fixed_rows(const struct tui *t, const struct lanes_plan *plan)
{
	int rows = plan->tight ? 3 : t->columns >= LANES_WIDE ? 7 : 6;

	if (!plan->host && !plan->tight)
		rows--;
	if (!plan->processes)
		rows -= plan->tight ? 1 : 2;
	return rows;
}

static void choose_lanes(const struct tui *t, struct lanes_plan *plan, int room)
{
	if (t->options.devices_hidden || !lanes_gpus(t)) {
		plan->lanes_rows = lanes_gpus(t) ? 0 : 1;
		plan->pages = 1;
		return;
	}
	choose_form(t, plan, room);
	grow_traces(t, plan, room);
	take_page(t, plan, room);
	plan->lanes_rows =
	    plan->form == FORM_SOLO ? solo_rows(room) : rows_of_page(t, plan);
	plan->axis = plan->form >= FORM_PANEL && !plan->tight;
	plan->lane_titles =
	    !plan->tight &&
	    (plan->form == FORM_LINE ||
	     (plan->form == FORM_PANEL && t->columns >= LANES_WIDE));
}

static int alert_lines(const struct tui *t, const struct lanes_plan *plan,
		       int alerts)
{
	int most = t->columns >= ALERTS_COLS && t->rows >= ALERTS_ROWS ? 3 : 1;

	if (plan->tight)
		return 0;
	return alerts < most ? alerts : most;
}

/*
 * Reserves rows of the screen for a part. Returns the first of them, or -1 if
 * the part is left out.
 */
static int next_row(bool is_there, int rows, int *row)
{
	int at = *row;

	*row += is_there ? rows : 0;
	return is_there ? at : -1;
}

static void place_rows(const struct tui *t, struct lanes_plan *plan)
{
	int row = plan->host ? 2 : 1, end = t->rows - 1;
	bool list = plan->processes;

	plan->titles_row = next_row(plan->lane_titles, 1, &row);
	plan->lanes_row = next_row(true, plan->lanes_rows, &row);
	plan->axis_row = next_row(plan->axis, 1, &row);
	plan->alerts_row = next_row(plan->alerts > 0, plan->alerts, &row);
	plan->rule_row = next_row(list, 1, &row);
	plan->list_titles_row = next_row(list && !plan->tight, 1, &row);
	plan->list_row = next_row(list, 0, &row);
	plan->list_rows = list && end > row ? end - row : 0;
	plan->footer_row = end;
}

struct lanes_plan lanes_plan(const struct tui *t, int alerts)
{
	struct lanes_plan plan = {.tight = t->rows < TIGHT_BELOW,
				  .processes = !t->options.processes_hidden};
	int list = t->rows / 5 > PROCESS_LEAST ? t->rows / 5 : PROCESS_LEAST;
	int room;

	plan.host = !plan.tight && !t->options.host_hidden;
	room = t->rows - fixed_rows(t, &plan) - (plan.processes ? list : 0);
	choose_lanes(t, &plan, room > 1 ? room : 1);
	plan.alerts = alert_lines(t, &plan, alerts);
	place_rows(t, &plan);
	return plan;
}
