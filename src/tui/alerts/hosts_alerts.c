/* SPDX-License-Identifier: Apache-2.0 */
/* hosts_alerts.c - draws the alerts of all hosts below the list of hosts. */
#include "base/assert.h"
#include "tui/lanes/part.h"
#include "tui/views/view.h"

#include <stdio.h>

#define LINES_MOST 3
#define HOSTS_LEFT 14 /* rows that the hosts keep if there are many alerts */

/*
 * An active alert. `number` is its position among all alerts, and decides the
 * order of equal alerts.
 */
struct hosts_alert {
	const struct tui_host *host;
	const struct tui_alert *alert;
	size_t number;
};

/* ---- choosing alerts ---- */

static bool comes_before(const struct hosts_alert *a,
			 const struct hosts_alert *b)
{
	int order = tui_alert_compare(a->alert, b->alert);

	return order ? order < 0 : a->number < b->number;
}

/*
 * Finds the alert to show after `last`, or the first if last->alert is NULL.
 * Returns the number of active alerts. Unreachable hosts have none.
 */
static size_t find_alert(const struct tui *t, const struct hosts_alert *last,
			 struct hosts_alert *ret_next)
{
	size_t count = 0;

	ret_next->alert = NULL;
	for (size_t i = 0; i < t->hosts.count; i++) {
		const struct tui_host *host = &t->hosts.list[i];

		for (size_t k = 0; k < host->alerts.count; k++) {
			struct hosts_alert a = {host, &host->alerts.rows[k],
						count};

			if (!a.alert->on || host->state.away_ns)
				continue;
			count++;
			if ((!last->alert || comes_before(last, &a)) &&
			    (!ret_next->alert || comes_before(&a, ret_next)))
				*ret_next = a;
		}
	}
	return count;
}

int view_hosts_alert_lines(const struct tui *t, int rows)
{
	const struct hosts_alert none = {0};
	struct hosts_alert first;
	size_t count = find_alert(t, &none, &first);
	int lines = count < LINES_MOST ? (int)count : LINES_MOST;
	int left =
	    t->hosts.count < HOSTS_LEFT ? (int)t->hosts.count : HOSTS_LEFT;

	while (lines > 1 && rows - lines < left)
		lines--;
	return rows - lines < 1 ? 0 : lines;
}

/* ---- drawing ---- */

static void draw_hosts_alert(const struct tui *t, struct grid *g, int row,
			     const struct hosts_alert *a, size_t more)
{
	char what[160], text[256], rest[48] = "";

	if (more)
		snprintf(rest, sizeof rest, " +%zu more", more);
	tui_alert_what(a->alert, what, sizeof what);
	snprintf(text, sizeof text, "%s %s GPU %u: %s",
		 gk_state_glyph(tui_alert_state(a->alert->kind)),
		 a->host->state.name, a->alert->gpu.index, what);
	lanes_alert_line(t, g, row, 1, a->alert->kind, text, rest);
}

void view_hosts_alerts(const struct tui *t, struct grid *g, int row, int lines)
{
	struct hosts_alert a = {0}, next;

	for (int i = 0; i < lines; i++) {
		size_t all = find_alert(t, &a, &next);

		GK_ASSERT(next.alert); /* at least `lines` alerts are active */
		draw_hosts_alert(t, g, row + i, &next,
				 i == lines - 1 ? all - (size_t)lines : 0);
		a = next;
	}
}
