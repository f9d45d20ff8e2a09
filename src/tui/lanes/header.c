/* SPDX-License-Identifier: Apache-2.0 */
/*
 * header.c - draws the line above a trace: the GPU, its state and facts about
 * it.
 */
#include "tui/lanes/part.h"

#include "format/units.h"
#include "tui/lanes/trace.h"
#include "tui/model/model.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define FACTS_MAX 12
#define FACT_MAX  64
#define MIB       1048576.0

struct facts {
	char text[FACTS_MAX][FACT_MAX];
	int count;
};

static void add_header_fact(struct facts *f, bool known, const char *format,
			    ...) __attribute__((format(printf, 3, 4)));

static void add_header_fact(struct facts *f, bool known, const char *format,
			    ...)
{
	va_list args;

	if (!known || f->count == FACTS_MAX)
		return;
	va_start(args, format);
	vsnprintf(f->text[f->count++], FACT_MAX, format, args);
	va_end(args);
}

static void add_clock(struct facts *f, const struct gk_device *d)
{
	double now = lanes_mhz(d->m[GK_M_SM_CLOCK]);
	double most = lanes_mhz(d->m[GK_M_SM_CLOCK_MAX]);
	bool busy = lanes_number(d->m[GK_M_GPU_UTIL]) >= 5;

	if (busy && most > now)
		add_header_fact(f, now >= 0, "%.0f of %.0f MHz", now, most);
	else
		add_header_fact(f, now >= 0, "%.0f MHz", now);
}

static void add_traffic(struct facts *f, const char *what, double in,
			double out)
{
	add_header_fact(f, in >= 0 && out >= 0, "%s ↓ %.0f ↑ %.0f MiB/s", what,
			in, out);
}

/* Adds the facts. If space is short, the last ones are dropped first. */
static void facts_of_gpu(const struct tui *t, const struct gk_device *d,
			 struct facts *f)
{
	double heat = lanes_number(d->m[GK_M_TEMP]);
	double mem = lanes_number(d->m[GK_M_TEMP_MEM]);
	double fan = lanes_number(d->m[GK_M_FAN]);
	double bw = lanes_number(d->m[GK_M_MEM_UTIL]);
	double watts = lanes_watts(d->m[GK_M_POWER]);
	double limit = lanes_watts(gk_power_limit(d));

	add_header_fact(f, heat >= 0, "%.0f °C", heat);
	if (lanes_number(d->m[GK_M_MIG_MODE]) > 0) {
		add_clock(f, d);
		add_header_fact(f, watts >= 0 && limit > 0, "%.0f of %.0f W",
				watts, limit);
		add_header_fact(f, lanes_number(d->m[GK_M_GPU_UTIL]) < 0,
				"no busy %% while MIG is on");
		return;
	}
	add_header_fact(f, mem >= 0, "memory %.0f °C", mem);
	add_clock(f, d);
	add_header_fact(f, fan >= 0, "fan %.0f%%", fan);
	add_header_fact(f, bw >= 0 && t->columns >= LANES_WIDE,
			"memory bandwidth %.0f%%", bw);
	add_traffic(f, "PCIe", lanes_number(d->m[GK_M_PCIE_RX]) / MIB,
		    lanes_number(d->m[GK_M_PCIE_TX]) / MIB);
	add_traffic(f, "NVLink", lanes_rate(t, d, GK_HD_NVLINK_RX),
		    lanes_rate(t, d, GK_HD_NVLINK_TX));
}

/* For a GPU that no longer answers, adds the time of its last answer. */
static void last_answer(const struct tui *t, const struct gk_device *d,
			struct facts *f)
{
	uint64_t age = gk_device_age(t->snap, d, GK_TIER_FAST);
	time_t then;
	struct tm tm;
	char text[16];

	if (age == UINT64_MAX)
		return;
	then = (time_t)((t->snap->wall_ns - age) / 1000000000U);
	if (localtime_r(&then, &tm) &&
	    strftime(text, sizeof text, "%H:%M:%S", &tm))
		add_header_fact(f, true, "last answer %s", text);
}

/* Draws as many facts as fit, right-aligned. */
static void draw_facts_right(const struct tui *t, struct grid *g, int row,
			     const struct facts *f, int room)
{
	char text[FACTS_MAX * FACT_MAX] = "";
	size_t len = 0;

	for (int i = 0; i < f->count; i++) {
		int width = lanes_width(text) + lanes_width(f->text[i]) + 3;

		if (width > room && i)
			break;
		len += (size_t)snprintf(text + len, sizeof text - len, "%s%s",
					i ? " · " : "", f->text[i]);
	}
	if (lanes_width(text) <= room)
		lanes_put(g, row, g->columns - 1 - lanes_width(text),
			  lanes_ink(t, INK_DIM), "%s", text);
}

/* Leaves at least 12 columns for the temperature to the right of the state. */
void lanes_header(const struct tui *t, struct grid *g, int row, size_t device)
{
	const struct gk_device *d = &t->snap->devices[device];
	char model[GK_NAME_MAX];
	struct facts facts = {0};
	struct lanes_state s;
	int at;

	at = lanes_put(g, row, 1, lanes_ink(t, INK_STRONG), "%2u %s", d->index,
		       lanes_model(t, d, g->columns / 3, model)) +
	     2;
	s = lanes_state(t, d, g->columns - at - 12);
	at = lanes_put(g, row, at,
		       s.ink == INK_DIM ? lanes_ink(t, s.ink)
					: lanes_bold(t, s.ink),
		       "%lc %s", (wint_t)s.glyph, s.words);
	if (gk_device_gone(d))
		last_answer(t, d, &facts);
	else
		facts_of_gpu(t, d, &facts);
	draw_facts_right(t, g, row, &facts, g->columns - 1 - at - 2);
}
