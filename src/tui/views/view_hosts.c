/*
 * view_hosts.c - the screen of several machines: a row each, with a sign for
 * every GPU, which is higher and brighter the busier it is.
 */
#include "base/clock.h"
#include "base/round.h"
#include "format/sums.h"
#include "tui/lanes/part.h"
#include "tui/lanes/trace.h"
#include "tui/view.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define GIB       1073741824.0
#define HEAD_ROWS 2 /* the sums, and the titles */
#define NAME_MOST 24
#define NAME_FEW  12 /* of few columns */
#define BUSY      4
#define AGE       4
#define GPUS_FEW  8
#define OLD_NS    (3 * GK_NS_PER_S)

/* Where the columns are, and how wide; width 0: not there. */
struct span {
	int at, width;
};

struct hosts_layout {
	struct span name, gpus, busy, memory, value, watts, age, state;
};

/* ---- columns ---- */

static size_t host_gpus(const struct tui_host *host)
{
	return host->snap ? (size_t)gk_sums_of(&host->part).gpus : 0;
}

static struct span next_span(int *at, int width)
{
	struct span span = {*at, width};

	if (!width)
		return (struct span){0, 0};
	*at += width + 1;
	return span;
}

/* Those that tell most come first: few columns have only these. */
static struct hosts_layout lay_out_hosts(const struct tui *t, int columns)
{
	int name = 4, gpus = 4, at = 3, most = columns / 3;
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
	l.name = next_span(&at, name);
	l.gpus = next_span(&at, gpus > most ? most : gpus);
	l.busy = next_span(&at, BUSY);
	l.memory = next_span(&at, columns >= 90 ? columns / 8 : 0);
	l.value = next_span(&at, columns >= 60 ? 9 : 0);
	l.watts = next_span(&at, columns >= 70 ? 7 : 0);
	l.age = next_span(&at, AGE);
	l.state = next_span(&at, columns - at - 1 > 0 ? columns - at - 1 : 0);
	return l;
}

static void put_cell(struct grid *g, int row, struct span span, bool right,
		     struct grid_style style, const char *text)
{
	if (span.width)
		lanes_cell(g, row, span.at, span.width, right, style, text);
}

static void draw_hosts_titles(const struct tui *t, struct grid *g, int row,
			      const struct hosts_layout *l)
{
	struct grid_style dim = lanes_ink(t, INK_DIM);

	put_cell(g, row, l->name, false, dim, "HOST");
	put_cell(g, row, l->gpus, false, dim, "GPUS");
	put_cell(g, row, l->busy, true, dim, "BUSY");
	put_cell(g, row, l->memory, false, dim, "MEMORY");
	put_cell(g, row, l->value, true, dim, "GiB");
	put_cell(g, row, l->watts, true, dim, "POWER");
	put_cell(g, row, l->age, true, dim, "AGE");
	put_cell(g, row, l->state, false, dim, "STATE");
}

/* ---- GPUs ---- */

/* Whether a person should look at it: a sign of its own instead of a height. */
static bool is_noticed(const struct gk_state *s)
{
	return s->kind < GK_STATE_HELD || s->kind == GK_STATE_MIG ||
	       (s->kind == GK_STATE_HELD && !s->slight);
}

static void draw_gpu_sign(const struct tui *t, struct grid *g, int row, int at,
			  const struct tui_host *host,
			  const struct gk_device *d)
{
	static const wchar_t heights[] = L"▁▂▃▄▅▆▇█";
	struct gk_state s = tui_host_gpu_state(t, host, d);
	double busy = lanes_number(d->m[GK_M_GPU_UTIL]);
	int step = busy < 0 ? 0 : (int)(busy * 8 / 101);

	if (is_noticed(&s))
		lanes_put(g, row, at, lanes_bold(t, lanes_state_ink(&s)), "%s",
			  gk_state_glyph(s.kind));
	else if (lanes_is_ascii(t))
		lanes_put(g, row, at, lanes_ink(t, lanes_work_ink(busy)), "%d",
			  busy < 0 ? 0 : (int)(busy * 10 / 101));
	else
		lanes_fill(g, row, at, 1, heights[step],
			   s.kind == GK_STATE_IDLE
			       ? lanes_ink(t, INK_DIM)
			       : lanes_ink(t, lanes_work_ink(busy)));
}

/* Those for which there is no room are counted. */
static void draw_gpu_signs(const struct tui *t, struct grid *g, int row,
			   struct span span, const struct tui_host *host)
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
	put_cell(g, row, l->busy, true,
		 s.busy >= 5 ? lanes_bold(t, lanes_work_ink(s.busy))
			     : lanes_ink(t, INK_DIM),
		 text);
	if (l->memory.width)
		lanes_bar(t, g, row, l->memory.at, l->memory.width,
			  s.total > 0 ? s.used / s.total : -1,
			  lanes_ink(t, INK_OTHER));
	snprintf(text, sizeof text, "%.0f/%.0f", gk_half_up(s.used / GIB),
		 s.total / GIB);
	put_cell(g, row, l->value, true, strong, s.total > 0 ? text : "—");
	watts_of(&s, text, sizeof text);
	put_cell(g, row, l->watts, true, strong, s.watts > 0 ? text : "—");
}

static void draw_host_age(const struct tui *t, struct grid *g, int row,
			  struct span span, const struct tui_host *host,
			  uint64_t now)
{
	uint64_t age = now - host->part.mono_ns;
	bool old = age >= OLD_NS + 2 * t->options.interval_ns;
	char text[GK_AGE_MAX];

	put_cell(g, row, span, true, lanes_ink(t, old ? INK_WARN : INK_DIM),
		 gk_age_text(text, age));
}

/* What is worth a word: how many GPUs, and which is how. */
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
	put_cell(g, row, l->name, false, lanes_ink(t, INK_DIM),
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
	put_cell(g, row, l->name, false, lanes_ink(t, INK_STRONG),
		 host->state.name);
	draw_gpu_signs(t, g, row, l->gpus, host);
	draw_host_sums(t, g, row, l, host);
	draw_host_age(t, g, row, l->age, host, now);
	host_words(t, host, text, sizeof text);
	put_cell(g, row, l->state, false,
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

static void keep_hosts_scroll(struct tui *t, int rows)
{
	int most = (int)t->hosts.count - rows;

	view_follow(t, (int)view_hosts_selected(t), 0, rows);
	if (t->scroll > most)
		t->scroll = most;
	if (t->scroll < 0)
		t->scroll = 0;
}

static void draw_host(const struct tui *t, struct grid *g, int row, size_t at,
		      const struct hosts_layout *l, uint64_t now)
{
	const struct tui_host *host = &t->hosts.list[at];

	if (!host->snap || host->state.away_ns)
		draw_away_host(t, g, row, l, host, now);
	else
		draw_heard_host(t, g, row, l, host, now);
}

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
	keep_hosts_scroll(t, rows);
	draw_hosts_head(t, g);
	draw_hosts_titles(t, g, 1, &l);
	for (int i = 0; i < rows && t->scroll + i < (int)t->hosts.count; i++) {
		size_t at = t->hosts.order[t->scroll + i];

		draw_host(t, g, HEAD_ROWS + i, at, &l, now);
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
		tui_say(t, "Nothing was heard of %s yet.", host->state.name);
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
