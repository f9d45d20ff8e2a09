/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_summary.c - draws the first line of the main screen: the time, the sums
 * over all GPUs, and the keys for help and quit.
 */
#include "format/bar.h"

#include "base/round.h"
#include "format/boxed/part.h"
#include "format/units.h"
#include "format/width.h"
#include "tui/views/main_screen.h"
#include "tui/views/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TEXT_MAX 256
#define CLOCK_AT                                                               \
	11 /* position of "01:42:38" in a time formatted like ctime() */
#define CLOCK_WIDTH 8
#define MAGENTA     5
#define TIME_ROOM   25

/* ---- sums of all GPUs that are healthy ---- */

struct sums {
	unsigned gpus, busy_known, trouble;
	int64_t used, total, busy, power;
};

static void add_present(int64_t *sum, struct gk_value value)
{
	if (value.why == GK_PRESENT)
		*sum += value.v;
}

static struct sums sums_of(const struct gk_snapshot *snap)
{
	struct sums s = {0};

	for (size_t i = 0; i < snap->device_count; i++) {
		const struct gk_device *d = &snap->devices[i];

		if (d->mig_index >= 0)
			continue;
		s.gpus++;
		if (d->health != GK_HEALTH_OK) {
			s.trouble++;
			continue;
		}
		add_present(&s.used, d->m[GK_M_MEM_USED]);
		add_present(&s.total, d->m[GK_M_MEM_TOTAL]);
		add_present(&s.power, d->m[GK_M_POWER]);
		add_present(&s.busy, d->m[GK_M_GPU_UTIL]);
		s.busy_known += d->m[GK_M_GPU_UTIL].why == GK_PRESENT;
	}
	return s;
}

/*
 * Writes the longest of several texts that fits into `room` columns; "" if none
 * fits.
 */
static void sums_text(char *dst, const struct sums *s, int room)
{
	char used[GK_UNITS_MAX], total[GK_UNITS_MAX], watts[GK_UNITS_MAX];
	char mem[16] = "N/A", utl[16] = "N/A", trouble[32] = "";

	if (s->total)
		snprintf(
		    mem, sizeof mem, "%.1f%%",
		    gk_half_up(100.0 * (double)s->used / (double)s->total));
	if (s->busy_known)
		snprintf(utl, sizeof utl, "%.1f%%",
			 gk_half_up((double)s->busy / s->busy_known));
	if (s->trouble)
		snprintf(trouble, sizeof trouble, " (%u in trouble)",
			 s->trouble);
	gk_human_size(used, s->used);
	gk_human_size(total, s->total);
	gk_human_watts(watts, s->power);
	snprintf(dst, TEXT_MAX, "%u GPUs%s: MEM %s / %s %s  UTL %s  PWR %s",
		 s->gpus, trouble, used, total, mem, utl, watts);
	if ((int)strlen(dst) > room)
		snprintf(dst, TEXT_MAX, "%u GPUs: MEM %s UTL %s", s->gpus, mem,
			 utl);
	if ((int)strlen(dst) > room)
		snprintf(dst, TEXT_MAX, "MEM %s UTL %s", mem, utl);
	if ((int)strlen(dst) > room)
		*dst = '\0';
}

/* ---- the keys for help ---- */

struct hint {
	char text[TEXT_MAX];
	int key_at[2], key_len[2];
};

static void hint_of(const struct tui *t, struct hint *h, bool whole)
{
	char names[2][64];
	static const enum tui_action actions[] = {ACTION_HELP, ACTION_QUIT};
	static const char *const parts[2][3] = {
	    {"", ":help ", ":quit"},
	    {"(Press ", " for help or ", " to quit)"},
	};
	int at = snprintf(h->text, TEXT_MAX, "%s", parts[whole][0]);

	for (int i = 0; i < 2; i++) {
		tui_keymap_names(t->keymap, actions[i], names[i],
				 sizeof names[i]);
		names[i][strcspn(names[i], " ")] = '\0';
		h->key_at[i] = at;
		h->key_len[i] = (int)strlen(names[i]);
		at += snprintf(h->text + at, (size_t)(TEXT_MAX - at), "%s%s",
			       names[i], parts[whole][i + 1]);
	}
}

static void draw_summary_hint(struct grid *g, int line, int column,
			      const struct hint *h)
{
	grid_line(g, line, column, h->text, strlen(h->text), GRID_PLAIN);
	for (int i = 0; i < 2; i++) {
		int at = column + h->key_at[i];

		grid_mark(g, line, at, h->key_len[i], GRID_BOLD | GRID_ITALIC,
			  0);
		grid_tint(g, line, at, h->key_len[i], MAGENTA);
	}
}

/* ---- the summary line ---- */

/*
 * Draws the time, with the date if there is space. Returns the column after it.
 */
static int draw_time(const struct tui *t, struct grid *g, int line)
{
	char text[GK_UNITS_MAX];

	gk_local_time(text, t->snap->wall_ns);
	if (g->columns >= GK_BOXED_WIDTH_MIN)
		return grid_line(g, line, 0, text, strlen(text), GRID_PLAIN);
	return grid_line(g, line, 0, text + CLOCK_AT, CLOCK_WIDTH, GRID_PLAIN);
}

void view_summary(struct tui *t, struct grid *g, int line)
{
	struct sums sums = sums_of(t->snap);
	int used = draw_time(t, g, line), width = g->columns, end = width;
	bool whole = width >= GK_BOXED_WIDTH_MIN;
	char text[TEXT_MAX] = "";
	struct hint hint;

	hint_of(t, &hint, whole);
	if (whole)
		end = GK_BOXED_WIDTH_MIN;
	end -= (int)strlen(hint.text);
	if (sums.gpus > 1)
		sums_text(text, &sums,
			  width > GK_BOXED_WIDTH_MIN + TIME_ROOM
			      ? width - GK_BOXED_WIDTH_MIN - 1
			      : end - used - 2);
	if (!*text && sums.gpus > 1) {
		sums_text(text, &sums, width - used - 1);
		end = used; /* no space for the hint */
	}
	if (end > used)
		draw_summary_hint(g, line, end, &hint);
	if (width > GK_BOXED_WIDTH_MIN + TIME_ROOM && end > used)
		used = width - (int)strlen(text) - 1;
	grid_line(g, line, used + 1, text, strlen(text),
		  (struct grid_style){GRID_COLOR_NONE, GRID_BOLD});
}
