/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_hosts.c - the screen of several machines. It has a row for each, with a
 * sign for every GPU; the busier the GPU, the higher and brighter its sign.
 */
#include "base/clock.h"
#include "base/round.h"
#include "format/sums.h"
#include "tui/lanes/part.h"
#include "tui/lanes/trace.h"
#include "tui/views/view.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define GIB       1073741824.0
#define HEAD_ROWS 2 /* rows for the sums and the titles */
#define NAME_MOST 24
#define NAME_FEW  12 /* maximum width of names on narrow terminals */
#define BUSY      4
#define AGE       4
#define GPUS_FEW  8
#define OLD_NS    (3 * GK_NS_PER_S)

struct hosts_layout {
	struct lanes_span name, gpus, busy, memory, value, watts, age, state;
};

/* ---- columns ---- */

static size_t host_gpus(const struct tui_host *host)
{
	return host->snap ? (size_t)gk_sums_of(&host->part).gpus : 0;
}

/*
 * Computes the layout. On narrow terminals, leaves out less important columns.
 */
static struct hosts_layout lay_out_hosts(const struct tui *t, int columns)
{
	int name = 4, gpus = 4, at = 2, most = columns / 3;
	struct hosts_layout l;

	for (size_t i = 0; i < t->hosts.count; i++) {
		int width = lanes_width(t->hosts.list[i].state.name);
		int count = (int)host_gpus(&t->hosts.list[i]);

		name = width > name ? width : name;
		gpus = count > gpus ? count : gpus;
	}
	name = name > NAME_MOST ? NAME_MOST : name;
	if (columns < 60 && name > NAME_FEW)
		name = NAME_FEW;
	most = most < GPUS_FEW ? GPUS_FEW : most;
	l.name = lanes_take_span(&at, 1, name);
	l.gpus = lanes_take_span(&at, 1, gpus > most ? most : gpus);
	l.busy = lanes_take_span(&at, 1, BUSY);
	l.memory = lanes_take_span(&at, 1, columns >= 90 ? columns / 8 : 0);
	l.value = lanes_take_span(&at, 1, columns >= 60 ? 9 : 0);
	l.watts = lanes_take_span(&at, 1, columns >= 70 ? 7 : 0);
	l.age = lanes_take_span(&at, 1, AGE);
	l.state =
	    lanes_take_span(&at, 1, columns - at > 2 ? columns - at - 2 : 0);
	return l;
}

static void draw_hosts_titles(const struct tui *t, struct grid *g, int row,
			      const struct hosts_layout *l)
{
	struct grid_style dim = lanes_ink(t, INK_DIM);

	lanes_put_span(g, row, l->name, false, dim, "HOST");
	lanes_put_span(g, row, l->gpus, false, dim, "GPUS");
	lanes_put_span(g, row, l->busy, true, dim, "BUSY");
	lanes_put_span(g, row, l->memory, false, dim, "MEMORY");
	lanes_put_span(g, row, l->value, true, dim, "GiB");
	lanes_put_span(g, row, l->watts, true, dim, "POWER");
	lanes_put_span(g, row, l->age, true, dim, "AGE");
	lanes_put_span(g, row, l->state, false, dim, "STATE");
}

/* ---- GPUs ---- */

/* Whether the glyph of the state replaces the utilization. */
static bool is_noticed(const struct gk_state *s)
{
	return gk_state_is_trouble(s) || s->kind == GK_STATE_UNREAD ||
	       s->kind == GK_STATE_MIG;
}

static void draw_gpu_sign(const struct tui *t, struct grid *g, int row, int at,
			  const struct tui_host *host,
			  const struct gk_device *d)
{
	static const wchar_t heights[] = L"▁▂▃▄▅▆▇█";
	struct gk_state s = tui_host_gpu_state(t, host, d);
	double busy = lanes_number(d->m[GK_M_GPU_UTIL]);
	int share = busy < 0 ? 0 : busy > 100 ? 100 : (int)busy;

	if (is_noticed(&s))
		lanes_put(g, row, at, lanes_bold(t, lanes_state_ink(&s)), "%s",
			  gk_state_glyph(s.kind));
	else if (lanes_is_ascii(t))
		lanes_put(g, row, at, lanes_ink(t, lanes_work_ink(busy)), "%d",
			  share * 10 / 101);
	else
		lanes_fill(g, row, at, 1, heights[share * 8 / 101],
			   s.kind == GK_STATE_IDLE
			       ? lanes_ink(t, INK_DIM)
			       : lanes_ink(t, lanes_work_ink(busy)));
}

/* Draws a sign for each GPU, and "+N" for the GPUs that do not fit. */
static void draw_gpu_signs(const struct tui *t, struct grid *g, int row,
			   struct lanes_span span, const struct tui_host *host)
{
	int count = (int)host_gpus(host), at = span.at;
	int room = count > span.width ? span.width - 4 : span.width;

	for (size_t i = 0; i < host->part.device_count; i++) {
		const struct gk_device *d = &host->part.devices[i];

		if (d->mig_index >= 0)
			continue;
		if (at - span.at == room) {
			lanes_put(g, row, at, lanes_ink(t, INK_DIM), "+%d",
				  count - room);
			return;
		}
		draw_gpu_sign(t, g, row, at++, host, d);
	}
}

/* ---- rows ---- */

static void watts_of(const struct gk_sums *s, char *dst, size_t cap)
{
	double watts = gk_half_up(s->watts / 1e3);

	if (watts >= 1000)
		snprintf(dst, cap, "%.2f kW", watts / 1e3);
	else
		snprintf(dst, cap, "%.0f W", watts);
}

static void draw_host_sums(const struct tui *t, struct grid *g, int row,
			   const struct hosts_layout *l,
			   const struct tui_host *host)
{
	struct gk_sums s = gk_sums_of(&host->part);
	struct grid_style strong = lanes_ink(t, INK_STRONG);
	char text[32] = "—";

	if (s.busy >= 0)
		snprintf(text, sizeof text, "%.0f%%", gk_half_up(s.busy));
	lanes_put_span(g, row, l->busy, true,
		       lanes_busy_style(t, s.busy, INK_DIM), text);
	if (l->memory.width)
		lanes_bar(t, g, row, l->memory.at, l->memory.width,
			  s.total > 0 ? s.used / s.total : -1,
			  lanes_ink(t, INK_OTHER));
	snprintf(text, sizeof text, "%.0f/%.0f", gk_half_up(s.used / GIB),
		 s.total / GIB);
	lanes_put_span(g, row, l->value, true,
		       s.total > 0 ? lanes_memory_style(t, s.used / s.total)
				   : strong,
		       s.total > 0 ? text : "—");
	watts_of(&s, text, sizeof text);
	lanes_put_span(g, row, l->watts, true, strong,
		       s.watts > 0 ? text : "—");
}

static void draw_host_age(const struct tui *t, struct grid *g, int row,
			  struct lanes_span span, const struct tui_host *host,
			  uint64_t now)
{
	uint64_t age = now - host->part.mono_ns;
	bool old = age >= OLD_NS + 2 * t->options.interval_ns;
	char text[GK_AGE_MAX];

	lanes_put_span(g, row, span, true,
		       lanes_ink(t, old ? INK_WARN : INK_DIM),
		       gk_age_text(text, age));
}

/*
 * Writes the number of GPUs and, if it is noteworthy, the state of the worst
 * one.
 */
static void host_words(const struct tui *t, const struct tui_host *host,
		       char *dst, size_t cap)
{
	struct gk_state s;
	const struct gk_device *d = tui_host_worst(t, host, &s);
	size_t gpus = host_gpus(host);
	size_t len =
	    (size_t)snprintf(dst, cap, "%zu GPU%s", gpus, gpus == 1 ? "" : "s");

	if (d && is_noticed(&s))
		snprintf(dst + len, cap - len, ", GPU %u %s", d->index,
			 s.words);
}

static void draw_away_host(const struct tui *t, struct grid *g, int row,
			   const struct hosts_layout *l,
			   const struct tui_host *host, uint64_t now)
{
	char text[TUI_HOSTS_TEXT];
	bool away = host->state.away_ns;

	lanes_put(g, row, 1, lanes_bold(t, away ? INK_FAIL : INK_DIM), "%s",
		  away ? "✕" : "…");
	lanes_put_span(g, row, l->name, false, lanes_ink(t, INK_DIM),
		       host->state.name);
	lanes_cell(g, row, l->gpus.at, g->columns - 1 - l->gpus.at, false,
		   lanes_ink(t, away ? INK_FAIL : INK_DIM),
		   tui_host_why(host, now, text));
}

static void draw_heard_host(const struct tui *t, struct grid *g, int row,
			    const struct hosts_layout *l,
			    const struct tui_host *host, uint64_t now)
{
	struct gk_state s = {.kind = GK_STATE_IDLE};
	char text[128];
	enum ink ink;

	tui_host_worst(t, host, &s);
	ink = lanes_state_ink(&s);
	lanes_put(g, row, 1, lanes_bold(t, ink), "%s", gk_state_glyph(s.kind));
	lanes_put_span(g, row, l->name, false, lanes_ink(t, INK_STRONG),
		       host->state.name);
	draw_gpu_signs(t, g, row, l->gpus, host);
	draw_host_sums(t, g, row, l, host);
	draw_host_age(t, g, row, l->age, host, now);
	host_words(t, host, text, sizeof text);
	lanes_put_span(g, row, l->state, false,
		       lanes_ink(t, is_noticed(&s) ? ink : INK_DIM), text);
}

/* ---- the head ---- */

static void hosts_head_text(const struct tui *t, char *dst, size_t cap)
{
	struct gk_sums all = {0};
	size_t heard = 0, len;
	char watts[32];

	for (size_t i = 0; i < t->hosts.count; i++) {
		const struct tui_host *host = &t->hosts.list[i];
		struct gk_sums s;

		if (!host->snap || host->state.away_ns)
			continue;
		s = gk_sums_of(&host->part);
		heard++;
		all.gpus += s.gpus;
		all.lost += s.lost;
		all.error += s.error;
		all.used += s.used;
		all.total += s.total;
		all.watts += s.watts;
	}
	watts_of(&all, watts, sizeof watts);
	len = (size_t)snprintf(dst, cap, "%zu of %zu hosts · %d GPUs", heard,
			       t->hosts.count, all.gpus);
	if (all.lost)
		len += (size_t)snprintf(dst + len, cap - len, ", %d lost",
					all.lost);
	if (all.error)
		len += (size_t)snprintf(dst + len, cap - len, ", %d in error",
					all.error);
	snprintf(dst + len, cap - len, " · %.0f of %.0f GiB · %s",
		 gk_half_up(all.used / GIB), all.total / GIB, watts);
}

static void draw_hosts_head(const struct tui *t, struct grid *g)
{
	time_t now = (time_t)(gk_wall_ns() / GK_NS_PER_S);
	struct tm tm;
	char text[160], clock[16] = "";
	int at = 1, end;

	if (t->paused)
		at = lanes_put(g, 0, at,
			       (struct grid_style){GRID_COLOR_NONE,
						   GRID_BOLD | GRID_REVERSE},
			       " ◀ PAUSED ") +
		     1;
	if (localtime_r(&now, &tm))
		strftime(clock, sizeof clock, "%H:%M:%S", &tm);
	end = g->columns - 1 - (int)strlen(clock);
	hosts_head_text(t, text, sizeof text);
	if (g->columns >= 56)
		at =
		    lanes_put(g, 0, at, lanes_ink(t, INK_ACCENT), "gpukit") + 2;
	lanes_cell(g, 0, at, end - 1 - at, false, lanes_ink(t, INK_TEXT), text);
	lanes_put(g, 0, end, lanes_ink(t, INK_TEXT), "%s", clock);
}

/* ---- the screen ---- */

int view_hosts(struct tui *t, struct grid *g)
{
	struct hosts_layout l = lay_out_hosts(t, g->columns);
	int room = g->rows - HEAD_ROWS - 1;
	int alerts = view_hosts_alert_lines(t, room), rows = room - alerts;
	uint64_t now = gk_mono_ns();

	rows = rows < 1 ? 1 : rows;
	t->lanes.hit_count = 0;
	t->hosts.list_row = HEAD_ROWS;
	t->hosts.list_rows = rows;
	view_follow(t, (int)view_hosts_selected(t), 0, rows);
	view_limit_scroll(t, (int)t->hosts.count - rows);
	draw_hosts_head(t, g);
	draw_hosts_titles(t, g, 1, &l);
	for (int i = 0; i < rows && t->scroll + i < (int)t->hosts.count; i++) {
		size_t at = t->hosts.order[t->scroll + i];
		const struct tui_host *host = &t->hosts.list[at];

		if (!host->snap || host->state.away_ns)
			draw_away_host(t, g, HEAD_ROWS + i, &l, host, now);
		else
			draw_heard_host(t, g, HEAD_ROWS + i, &l, host, now);
		if (at == t->hosts.selected)
			lanes_mark_selected(t, g, HEAD_ROWS + i, 0, g->columns);
	}
	view_hosts_alerts(t, g, g->rows - 1 - alerts, alerts);
	lanes_hosts_footer(t, g, g->rows - 1);
	return (int)t->hosts.count - rows + t->rows;
}

static void open_host(struct tui *t)
{
	const struct tui_host *host = &t->hosts.list[t->hosts.selected];

	if (host->snap)
		tui_open(t, SCREEN_MAIN);
	else
		tui_say(t, "%s has not answered yet.", host->state.name);
}

bool view_hosts_act(struct tui *t, enum tui_action action)
{
	if (action == ACTION_HOST)
		open_host(t);
	return action == ACTION_HOST;
}

size_t view_hosts_count(const struct tui *t)
{
	return t->hosts.count;
}

long view_hosts_selected(const struct tui *t)
{
	return tui_hosts_place(t, t->hosts.selected);
}

void view_hosts_select(struct tui *t, long position)
{
	if (position >= 0 && position < (long)t->hosts.count)
		tui_hosts_show(t, t->hosts.order[position]);
}

long view_hosts_at(const struct tui *t, int row)
{
	long at = row - t->hosts.list_row + t->scroll;

	if (row < t->hosts.list_row ||
	    row >= t->hosts.list_row + t->hosts.list_rows ||
	    at >= (long)t->hosts.count)
		return -1;
	return at;
}

void view_hosts_text(const struct tui *t, size_t position, struct gk_buf *out)
{
	gk_buf_puts(out, t->hosts.list[t->hosts.order[position]].state.name);
}
