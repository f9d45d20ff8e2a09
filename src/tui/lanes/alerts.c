/* SPDX-License-Identifier: Apache-2.0 */
/* alerts.c - draws the active alerts, above the list of processes. */
#include "tui/lanes/part.h"

#include "format/width.h"
#include "tui/model/model.h"

#include <stdio.h>
#include <string.h>

#define TEXT   384
#define NARROW 56 /* on narrower terminals an alert names the GPU's model */
#define INDENT 3  /* columns by which an alert's second line is indented */

/* ---- choosing alerts ---- */

static bool alert_precedes(const struct tui_alert *a, const struct tui_alert *b)
{
	int order = tui_alert_compare(a, b);

	return order ? order < 0 : a < b;
}

/* Returns the alert to show after `last`, or the first if last is NULL. */
static const struct tui_alert *next_alert(const struct tui *t,
					  const struct tui_alert *last)
{
	const struct tui_alert *best = NULL;

	for (size_t i = 0; t->alerts && i < t->alerts->count; i++) {
		const struct tui_alert *a = &t->alerts->rows[i];

		if (a->on && (!last || alert_precedes(last, a)) &&
		    (!best || alert_precedes(a, best)))
			best = a;
	}
	return best;
}

/* ---- texts ---- */

/*
 * Whether the text of an alert of this kind also says why the GPU is in its
 * state.
 */
static bool tells_why(enum tui_alert_kind kind)
{
	return kind == ALERT_LOST || kind == ALERT_ERROR || kind == ALERT_FAULT;
}

static void alert_line(const struct tui *t, const struct tui_alert *a,
		       char *dst, size_t cap)
{
	const struct gk_device *d =
	    t->snap ? gk_identity_find(&a->gpu, t->snap) : NULL;
	char what[GK_WHY_MAX + 80], why[GK_WHY_MAX], model[GK_NAME_MAX] = "";

	tui_alert_what(a, what, sizeof what);
	if (d && tells_why(a->kind) && *gk_state_why(why, t->snap, d)) {
		size_t len = strlen(what);

		snprintf(what + len, sizeof what - len, " · %s", why);
	}
	if (d && t->columns < NARROW)
		lanes_model(t, d, 8, model);
	snprintf(dst, cap, "%s %sGPU %u%s%s: %s",
		 gk_state_glyph(tui_alert_state(a->kind)),
		 tui_time_is_past(t) ? "now: " : "", a->gpu.index,
		 *model ? " " : "", model, what);
}

int lanes_alert_count(const struct tui *t)
{
	const struct tui_alert *a = NULL;
	int lines = 0;

	while ((a = next_alert(t, a))) {
		char text[TEXT];

		alert_line(t, a, text, sizeof text);
		lines += lanes_width(text) > t->columns - 2 ? 2 : 1;
	}
	return lines;
}

/*
 * Returns how many bytes of the text fit into the columns. Cuts the text at a
 * blank if it has one.
 */
static size_t fit_first_line(const char *text, int columns)
{
	size_t fit = gk_fit(text, strlen(text), (size_t)columns), at = fit;

	while (at && text[at] != ' ')
		at--;
	return at ? at : fit;
}

/* ---- drawing ---- */

/* Writes how many alerts are not shown, and the key of the alerts screen. */
static void more_text(const struct tui *t, int more, char *dst, size_t cap)
{
	char key[LANES_KEY_NAME];

	lanes_key_name(t, ACTION_ALERTS, key);
	if (!more)
		*dst = '\0';
	else if (t->columns < NARROW || !*key)
		snprintf(dst, cap, " +%d more", more);
	else
		snprintf(dst, cap, " +%d more · %s shows all", more, key);
}

void lanes_alert_line(const struct tui *t, struct grid *g, int row, int at,
		      enum tui_alert_kind kind, const char *text,
		      const char *behind)
{
	bool fails = tui_alert_fails(kind);
	struct grid_style style = lanes_bold(t, fails ? INK_FAIL : INK_WARN);
	int end = g->columns - 1 - lanes_width(behind);

	if (fails) {
		style.attribute |= GRID_REVERSE;
		lanes_fill(g, row, 0, g->columns, L' ', style);
	}
	lanes_cell(g, row, at, end - at, false, style, text);
	lanes_put(g, row, end, style, "%s", behind);
}

/* Like lanes_alert_line(), but a click on the line opens the alerts screen. */
static void draw_alert_line(struct tui *t, struct grid *g, int row, int at,
			    enum tui_alert_kind kind, const char *text,
			    const char *behind)
{
	lanes_alert_line(t, g, row, at, kind, text, behind);
	lanes_hit(t, (struct lanes_hit){.kind = HIT_KEY,
					.row = row,
					.rows = 1,
					.columns = g->columns,
					.id = ACTION_ALERTS});
}

/*
 * Draws an alert, in two lines if it is long and there is space before row
 * `end`. `behind` is the number of alerts that follow. Returns the number of
 * lines.
 */
static int draw_alert(struct tui *t, struct grid *g, int row, int end,
		      const struct tui_alert *a, int behind)
{
	char text[TEXT], more[96];
	int lines, room = g->columns - 2;
	size_t cut;

	alert_line(t, a, text, sizeof text);
	lines = lanes_width(text) > room && row + 1 < end ? 2 : 1;
	more_text(t, row + lines == end ? behind : 0, more, sizeof more);
	if (lines == 1) {
		draw_alert_line(t, g, row, 1, a->kind, text, more);
		return 1;
	}
	cut = fit_first_line(text, room);
	draw_alert_line(t, g, row + 1, INDENT, a->kind,
			text + cut + strspn(text + cut, " "), more);
	text[cut] = '\0';
	draw_alert_line(t, g, row, 1, a->kind, text, "");
	return 2;
}

void lanes_alerts(struct tui *t, struct grid *g, const struct lanes_plan *plan)
{
	const struct tui_alert *a = NULL;
	int row = plan->alerts_row, end = row + plan->alerts;
	int left = t->alerts ? (int)t->alerts->on : 0;

	while (row < end && (a = next_alert(t, a)))
		row += draw_alert(t, g, row, end, a, --left);
}
