/* SPDX-License-Identifier: Apache-2.0 */
/*
 * head.c - draws the first two rows: the machine with the sums over its GPUs,
 * and the host.
 */
#include "tui/lanes/part.h"

#include "base/round.h"
#include "format/sums.h"
#include "format/units.h"
#include "tui/lanes/trace.h"
#include "tui/model/model.h"

#include <stdio.h>
#include <string.h>

#define TEXT    256
#define NARROW  56  /* the head is short on narrower terminals */
#define SLASHES 100 /* on narrower terminals a slash replaces "of" */
#define FORMS   72  /* minimum width for the word "host" */
#define SPARK   12
#define KWH     3.6e9 /* millijoules */
#define DAY_NS  86400000000000U
#define GIB     1073741824.0

/* ---- the head ---- */

/* Ways to shorten the head, in the order in which they are tried. */
enum {
	NO_UP = 1,
	NO_KWH,
	NO_CUDA,
	SHORT,
	NO_DRIVER,
	NO_SECONDS,
	SHORT_MODEL,
	NO_LIMIT,
	NO_USER,
	SHORT_SUMS,
	NO_CLOCK,
	NO_BRAND,
	NO_MODEL
};

/* Appends a part to the head, unless it does not fit. */
static void add_head_part(char *dst, const char *text)
{
	size_t len = strlen(dst);

	if (snprintf(dst + len, TEXT - len, "%s%s", len ? " · " : "", text) >=
	    (int)(TEXT - len))
		dst[len] = '\0';
}

static void model_part(const struct tui *t, const struct gk_sums *s, int level,
		       char *dst)
{
	char model[GK_NAME_MAX] = "", text[TEXT];
	bool one = lanes_one_model(t) && level < NO_MODEL;

	if (one)
		lanes_model(t, &t->snap->devices[lanes_gpu(t, 0)],
			    level < SHORT_MODEL ? 24 : 8, model);
	if (one && s->gpus == 1)
		snprintf(text, sizeof text, "%s", model);
	else if (one)
		snprintf(text, sizeof text, "%d × %s", s->gpus, model);
	else
		snprintf(text, sizeof text, "%d GPU%s", s->gpus,
			 s->gpus == 1 ? "" : "s");
	add_head_part(dst, text);
}

static void left_part(const struct tui *t, const struct gk_sums *s, int level,
		      char *dst)
{
	const struct gk_snapshot *snap = t->snap;
	char text[TEXT], version[GK_UNITS_MAX];

	*dst = '\0';
	if (!t->uid && !t->options.hosts && level < NO_USER)
		add_head_part(dst, "root");
	model_part(t, s, level, dst);
	if (level < NO_DRIVER && *snap->driver_version) {
		snprintf(text, sizeof text, "driver %s", snap->driver_version);
		add_head_part(dst, text);
	}
	if (level < NO_CUDA && snap->cuda_version) {
		snprintf(text, sizeof text, "CUDA %s",
			 gk_cuda_version(version, snap->cuda_version));
		add_head_part(dst, text);
	}
	if (level < NO_UP && snap->host.boot_ns >= DAY_NS) {
		snprintf(text, sizeof text, "up %u d",
			 (unsigned)(snap->host.boot_ns / DAY_NS));
		add_head_part(dst, text);
	}
}

static void watts_text(const struct gk_sums *s, bool slash, char *dst,
		       size_t cap)
{
	double watts = gk_half_up(s->watts / 1e3),
	       limit = gk_half_up(s->limit / 1e3);
	bool kilo = limit >= 1000 || watts >= 1000;
	const char *of = slash ? "/" : " of ";
	int digits = watts >= 1000 ? 1 : 2;

	if (!kilo && limit > 0)
		snprintf(dst, cap, "%.0f%s%.0f W", watts, of, limit);
	else if (!kilo)
		snprintf(dst, cap, "%.0f W", watts);
	else if (limit > 0)
		snprintf(dst, cap, "%.*f%s%.1f kW", digits, watts / 1e3, of,
			 limit / 1e3);
	else
		snprintf(dst, cap, "%.*f kW", digits, watts / 1e3);
}

/* Writes how many GPUs the sums cover, and the state of the others. */
static void well_text(const struct gk_sums *s, int level, char *dst, size_t cap)
{
	const struct {
		int count;
		const char *are;
	} parts[] = {{s->lost, "lost"},
		     {s->error, "in error"},
		     {s->hung, "hung"},
		     {s->stale, "stale"}};
	bool brief = level >= SHORT_SUMS;
	size_t len = (size_t)snprintf(dst, cap, "%d%s%d%s", s->well,
				      brief ? "/" : " of ", s->gpus,
				      brief ? "" : " GPUs");

	for (size_t i = 0; i < sizeof parts / sizeof *parts && len < cap; i++)
		if (parts[i].count)
			len += (size_t)snprintf(dst + len, cap - len, ", %d %s",
						parts[i].count, parts[i].are);
}

static void right_part(const struct tui *t, const struct gk_sums *s, int level,
		       char *dst)
{
	bool slash = level >= SHORT;
	struct gk_sums without = *s;
	char text[TEXT], time[16];

	*dst = '\0';
	if (s->well < s->gpus) {
		well_text(s, level, text, sizeof text);
		add_head_part(dst, text);
	}
	if (s->total > 0) {
		snprintf(text, sizeof text, "%.*f%s%.0f GiB",
			 s->total < 100 * GIB ? 1 : 0,
			 gk_half_up(s->used / GIB), slash ? "/" : " of ",
			 gk_half_up(s->total / GIB));
		add_head_part(dst, text);
	}
	if (s->watts > 0) {
		without.limit = level < NO_LIMIT ? s->limit : 0;
		watts_text(&without, slash, text, sizeof text);
		add_head_part(dst, text);
	}
	if (level < NO_KWH && s->joules > 0) {
		snprintf(text, sizeof text, "%.1f kWh since driver start",
			 gk_half_up(s->joules / KWH));
		add_head_part(dst, text);
	}
	lanes_clock(t->snap->wall_ns, level < NO_SECONDS, time);
	if (level < NO_CLOCK)
		add_head_part(dst, time);
}

/*
 * Writes which past moment is shown, or how else the time shown differs from
 * the default. Writes "" if it does not differ.
 */
static void past_text(const struct tui *t, char *dst, size_t cap)
{
	char note[64] = "", clock[16] = "";

	tui_time_text(t, note);
	if (tui_time_is_past(t))
		lanes_clock(tui_time_wall(t), true, clock);
	*dst = '\0';
	if (*note)
		snprintf(dst, cap, " ◀ %s%s%s%s ", clock, *clock ? " · " : "",
			 note, *clock && !t->time.kept ? ", graphs only" : "");
}

static void draw_head(struct tui *t, struct grid *g, const struct gk_sums *sums)
{
	char left[TEXT], right[TEXT], past[96];
	bool brand;
	int level = g->columns < SLASHES ? SHORT : 0, at = 1, free;

	past_text(t, past, sizeof past);
	do {
		brand = level < NO_BRAND;
		free = g->columns - 2 - lanes_width(past) - 2 -
		       lanes_width(t->snap->host.hostname) -
		       (brand ? (int)strlen("gpukit  ") : 0);
		left_part(t, sums, level, left);
		right_part(t, sums, level, right);
	} while (lanes_width(left) + lanes_width(right) + 5 > free &&
		 level++ < NO_MODEL);
	if (*past)
		at = lanes_put(g, 0, at,
			       (struct grid_style){GRID_COLOR_NONE,
						   GRID_BOLD | GRID_REVERSE},
			       "%s", past) +
		     1;
	if (brand)
		at =
		    lanes_put(g, 0, at, lanes_ink(t, INK_ACCENT), "gpukit") + 2;
	at = lanes_put(g, 0, at, lanes_ink(t, INK_STRONG), "%s",
		       t->snap->host.hostname);
	lanes_put(g, 0, at, lanes_ink(t, INK_DIM), " · %s", left);
	free = g->columns - 1 - lanes_width(right);
	if (free > at)
		lanes_put(g, 0, free - 1, lanes_ink(t, INK_TEXT), " %s", right);
}

/*
 * Counts the GPUs in trouble: if `failed` is true, those that have failed;
 * otherwise those that are in trouble but have not failed. Reduced clocks do
 * not count, because they are common.
 */
static int count_trouble(const struct tui *t, bool failed)
{
	int count = 0;

	for (size_t i = 0; i < lanes_gpus(t); i++) {
		struct lanes_state s =
		    lanes_state(t, &t->snap->devices[lanes_gpu(t, i)], 1);

		count += s.trouble && s.kind != GK_STATE_HELD &&
			 gk_state_fails(s.kind) == failed;
	}
	return count;
}

/*
 * Writes the number of GPUs. If all are of one model, adds the model if it
 * fits.
 */
static void short_count(const struct tui *t, const struct gk_sums *s, char *dst,
			size_t cap)
{
	char model[GK_NAME_MAX];

	if (t->columns >= NARROW && s->gpus && lanes_one_model(t))
		snprintf(dst, cap, "%d × %s", s->gpus,
			 lanes_model(t, &t->snap->devices[lanes_gpu(t, 0)], 8,
				     model));
	else
		snprintf(dst, cap, "%d GPU%s", s->gpus,
			 s->gpus == 1 ? "" : "s");
}

/*
 * Draws the head for few columns or rows: how many GPUs there are, and how many
 * are in trouble.
 */
static void draw_short_head(struct tui *t, struct grid *g,
			    const struct gk_sums *s)
{
	int broken = count_trouble(t, true), held = count_trouble(t, false);
	char past[96], time[16], count[TEXT];
	int at;

	past_text(t, past, sizeof past);
	short_count(t, s, count, sizeof count);
	at = *past ? lanes_put(g, 0, 0,
			       (struct grid_style){GRID_COLOR_NONE,
						   GRID_BOLD | GRID_REVERSE},
			       "%s", past)
		   : lanes_put(g, 0, 1, lanes_ink(t, INK_STRONG), "%s", count);
	lanes_put(g, 0, at + 1, lanes_ink(t, INK_TEXT), "%.0f/%.0fG %.1fkW",
		  gk_half_up(s->used / GIB), gk_half_up(s->total / GIB),
		  gk_half_up(s->watts / 1e6));
	lanes_clock(t->snap->wall_ns, false, time);
	at = g->columns - 1 - (int)strlen(time);
	lanes_put(g, 0, at - 1, lanes_ink(t, INK_TEXT), " %s", time);
	if (held)
		lanes_put(g, 0, at -= 4, lanes_bold(t, INK_WARN), " ▲%d", held);
	if (broken)
		lanes_put(g, 0, at - 4, lanes_bold(t, INK_FAIL), " ✕%d",
			  broken);
}

void lanes_head(struct tui *t, struct grid *g, const struct lanes_plan *plan)
{
	struct gk_sums sums = gk_sums_of(t->snap);

	if (g->columns < NARROW || plan->tight)
		draw_short_head(t, g, &sums);
	else
		draw_head(t, g, &sums);
}

/* ---- the host ---- */

static void size_text(char *dst, size_t cap, double bytes)
{
	if (bytes >= GIB)
		snprintf(dst, cap, "%.0f GiB", gk_half_up(bytes / GIB));
	else
		snprintf(dst, cap, "%.0f MiB", gk_half_up(bytes / 1048576));
}

static void host_memory_text(const struct gk_host *h, bool slash, char *dst,
			     size_t cap)
{
	double total = lanes_gib(h->mem_total);
	double free = lanes_gib(h->mem_available);

	if (total < 0 || free < 0)
		snprintf(dst, cap, "mem unknown");
	else
		snprintf(dst, cap, "mem %.0f%s%.0f GiB", total - free,
			 slash ? "/" : " of ", total);
}

static void swap_text(const struct gk_host *h, bool slash, char *dst,
		      size_t cap)
{
	double used = lanes_number(h->swap_total) - lanes_number(h->swap_free);
	char size[32];

	(void)slash;
	size_text(size, sizeof size, used);
	snprintf(dst, cap, "swap %s", used > 0 ? size : "0");
}

static void cpu_text(const struct gk_host *h, bool slash, char *dst, size_t cap)
{
	(void)slash;
	if (h->cpu_centipercent.why == GK_PRESENT)
		snprintf(dst, cap, "%.0f%% of %u",
			 (double)h->cpu_centipercent.v / 100, h->cpus);
	else
		snprintf(dst, cap, "— of %u", h->cpus);
}

static void load_text(const struct gk_host *h, bool slash, char *dst,
		      size_t cap)
{
	double load[3];

	for (int i = 0; i < 3; i++)
		load[i] = (double)h->load_centi[i].v / 100;
	if (h->load_centi[0].why != GK_PRESENT)
		snprintf(dst, cap, "load unknown");
	else if (slash)
		snprintf(dst, cap, "load %.1f", load[0]);
	else
		snprintf(dst, cap, "load %.1f %.1f %.1f", load[0], load[1],
			 load[2]);
}

/* Draws as many facts about the host as fit. */
void lanes_host(struct tui *t, struct grid *g, const struct lanes_plan *plan)
{
	static void (*const parts[])(const struct gk_host *h, bool slash,
				     char *dst, size_t cap) = {
	    cpu_text, load_text, host_memory_text, swap_text};
	bool slash = g->columns < SLASHES;
	int at = 1, spark = g->columns >= LANES_WIDE ? 2 * SPARK : SPARK;
	struct grid_style dim = lanes_ink(t, INK_DIM);

	if (g->columns >= FORMS)
		at = lanes_put(g, 1, at, dim, "host  ");
	at = lanes_put(g, 1, at, dim, "cpu ");
	if (!slash) {
		lanes_spark_host(t, g, 1, at, spark);
		at += spark + 1;
	}
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		char text[64], joined[80];

		parts[i](&t->snap->host, slash, text, sizeof text);
		snprintf(joined, sizeof joined, "%s%s", i ? " · " : "", text);
		if (at + lanes_width(joined) >= g->columns)
			break;
		at = lanes_put(g, 1, at, dim, "%s", joined);
	}
	if (plan->form == FORM_PAIR)
		lanes_pair_span(t, g, 1, at);
}
