/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main_plan.c - lays out the main screen in nvitop's look. Panels shrink until
 * they fit, GPUs first. If the GPUs still do not fit, they are shown in pages.
 */
#include "format/boxed/part.h"
#include "tui/views/main_screen.h"
#include "tui/model/model.h"

#define WIDTH_LEAST     40
#define PROCESSES_LEAST 9  /* minimum lines for processes */
#define TIGHT_BELOW     16 /* with fewer rows: no frames, no host */
#define SUMMARY_HEIGHT  1
#define DENSE_LEAST     6 /* minimum lines for the summary and one GPU */

struct step {
	enum devices_style devices;
	bool host_compact, processes_compact;
};

/*
 * The layouts to try. GPUs shrink first, then the host, and then the rules
 * between processes are left out.
 */
static const struct step steps[] = {
    {DEVICES_FULL, false, false},
    {DEVICES_COMPACT, false, false},
    {DEVICES_COMPACT, true, false},
    {DEVICES_COMPACT, true, true},
};

#define LAST_STEP (sizeof steps / sizeof *steps - 1)

static void take_step(struct main_plan *plan, const struct step *step)
{
	plan->devices = step->devices;
	plan->host_compact = step->host_compact;
	plan->processes_compact = step->processes_compact;
}

static int total_height(const struct tui *t, const struct main_plan *plan)
{
	return SUMMARY_HEIGHT + view_devices_height(t, plan) +
	       view_host_height(t, plan) + view_processes_height(t, plan);
}

static void choose_step(const struct tui *t, struct main_plan *plan)
{
	size_t i = 0;

	if (t->options.mode == MODE_COMPACT)
		i = LAST_STEP;
	take_step(plan, &steps[i]);
	while (t->options.mode == MODE_AUTO && i < LAST_STEP &&
	       total_height(t, plan) > t->rows)
		take_step(plan, &steps[++i]);
}

/* ---- pages ---- */

/*
 * Returns the end of the page that begins at `first`. A page has at least one
 * device.
 */
static size_t page_end(const struct tui *t, struct main_plan *plan,
		       size_t first, int lines)
{
	size_t end = first + 1;

	plan->first = first;
	for (; end < t->snap->device_count; end++) {
		plan->count = end + 1 - first;
		if (view_devices_height(t, plan) > lines)
			break;
	}
	return end;
}

static bool has_selected(const struct tui *t, size_t first, size_t end)
{
	long at = tui_selected(t);
	unsigned device;

	if (at < 0)
		return false;
	device = t->snap->processes[t->list[at]].device;
	return device >= first && device < end;
}

/*
 * Divides the devices into pages of at most `lines` lines. Chooses the page
 * with the selected process if `follow` is set, otherwise the page
 * t->main.page.
 */
static void choose_page(const struct tui *t, struct main_plan *plan, int lines,
			bool follow)
{
	size_t count = t->snap->device_count, end, first = 0, last = 0;
	int page = 0, wanted = t->main.page;

	for (size_t at = 0; at < count; at = end, page++) {
		end = page_end(t, plan, at, lines);
		if (follow && has_selected(t, at, end))
			wanted = page;
		if (page <= wanted) {
			first = at;
			last = end;
			plan->page = page;
		}
	}
	plan->pages = page;
	plan->first = first;
	plan->count = last - first;
}

/* Returns how many lines the GPUs may use, without the summary. */
static int lines_for_devices(const struct tui *t, const struct main_plan *plan)
{
	int processes = view_processes_height(t, plan);
	int lines = t->rows - SUMMARY_HEIGHT;

	if (t->options.mode == MODE_AUTO)
		lines -=
		    view_host_height(t, plan) +
		    (processes < PROCESSES_LEAST ? processes : PROCESSES_LEAST);
	return lines > DENSE_LEAST - 1 ? lines : DENSE_LEAST - 1;
}

static void fit_devices(const struct tui *t, struct main_plan *plan,
			bool follow)
{
	int lines = lines_for_devices(t, plan);

	if (view_devices_height(t, plan) <= lines)
		return;
	if (t->options.mode == MODE_AUTO || t->rows < TIGHT_BELOW)
		plan->devices = DEVICES_DENSE;
	if (view_devices_height(t, plan) > lines)
		choose_page(t, plan, lines, follow);
}

struct main_plan view_main_plan(const struct tui *t, bool follow)
{
	struct main_plan plan = {
	    .pages = 1,
	    .count = t->snap->device_count,
	    .width = t->columns > WIDTH_LEAST ? t->columns : WIDTH_LEAST,
	    .host_hidden = t->options.host_hidden,
	};

	choose_step(t, &plan);
	if (t->rows < TIGHT_BELOW && t->options.mode == MODE_AUTO) {
		plan.processes_tight = true;
		plan.host_hidden = true;
	}
	if (!t->options.devices_hidden && t->snap->device_count)
		fit_devices(t, &plan, follow);
	return plan;
}
