/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_links.c - draws the NVLinks of a GPU: a line of totals, then a cell
 * for each link, as many side by side as fit.
 */
#include "base/clock.h"
#include "base/round.h"
#include "core/read/gate.h"
#include "format/names.h"
#include "tui/screen/box.h"
#include "tui/views/device_part.h"
#include "tui/model/facts.h"
#include "tui/model/value.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define CELL_WIDTH 39 /* width of a link's cell */
#define CELL_WIDE  51 /* width of a cell that shows a PCI address */
#define RED        1

/* ---- rates ---- */

/* Readings that are further apart than this give no current rate. */
#define AGE_MAX_NS (5 * GK_NS_PER_S)

static void take_links(struct tui_links *links, const struct gk_device *d)
{
	links->read_ns = d->read_ns[GK_TIER_DETAIL];
	for (unsigned i = 0; i < d->detail->link_count; i++) {
		links->rx[i] = d->detail->links[i].m[GK_L_RX];
		links->tx[i] = d->detail->links[i].m[GK_L_TX];
	}
}

void view_device_links_frame(struct tui *t, const struct gk_device *d)
{
	struct tui_links *now = &t->device.links, *before = &t->device.before;

	if (!gk_identity_is(&t->device.links_gpu, d))
		*now = *before = (struct tui_links){0};
	t->device.links_gpu = gk_identity_of(d);
	if (!d->detail || now->read_ns == d->read_ns[GK_TIER_DETAIL])
		return;
	*before = *now;
	take_links(now, d);
}

/* Returns bytes per second between the last two readings. */
static struct gk_value rate_of_link(const struct tui *t, struct gk_value now,
				    struct gk_value before)
{
	uint64_t passed = t->device.links.read_ns - t->device.before.read_ns;

	if (now.why != GK_PRESENT)
		return now;
	if (!t->device.before.read_ns || before.why != GK_PRESENT ||
	    now.v < before.v || passed > AGE_MAX_NS)
		return (struct gk_value){.why = GK_ABSENT_ONE_SNAPSHOT};
	now.v = gk_to_int64((double)(now.v - before.v) * 1e9 / (double)passed);
	return gk_gate(now, gk_link_metric_range(GK_L_SPEED));
}

/* Writes a rate, or "-" if it is unknown. */
static char *rate_text(char *dst, struct gk_value value)
{
	if (value.why != GK_PRESENT)
		snprintf(dst, GK_UNITS_MAX, "-");
	else
		gk_human_size(dst, value.v);
	return dst;
}

/* ---- a link ---- */

static bool is_up(const struct gk_link *link)
{
	return link->m[GK_L_ACTIVE].why == GK_PRESENT && link->m[GK_L_ACTIVE].v;
}

/* Returns the name of an NVLink version, given NVML's number for it. */
static const char *link_version(const struct gk_link *link)
{
	static const char *const names[] = {"?",   "1.0", "2.0", "2.2",
					    "3.0", "3.1", "4.0", "5.0"};
	struct gk_value v = link->m[GK_L_VERSION];

	if (v.why != GK_PRESENT || v.v < 0 ||
	    (size_t)v.v >= sizeof names / sizeof *names)
		return "?";
	return names[v.v];
}

/*
 * Writes what is at the other end of a link, such as "GPU 3" or "switch". If
 * `wide` is set, adds the PCI address without its domain, as in "switch
 * C5:00.0".
 */
static void end_text(const struct tui *t, const struct gk_link *link, char *dst,
		     size_t cap, bool wide)
{
	const char *bus = strchr(link->remote_bus_id, ':');

	for (size_t i = 0; i < t->snap->device_count; i++) {
		const struct gk_device *d = &t->snap->devices[i];

		if (link->end == GK_LINK_END_GPU && d->mig_index < 0 &&
		    *d->bus_id && !strcmp(d->bus_id, link->remote_bus_id)) {
			snprintf(dst, cap, "GPU %u", d->index);
			return;
		}
	}
	if (link->end == GK_LINK_END_UNKNOWN)
		snprintf(dst, cap, "-");
	else if (wide && bus)
		snprintf(dst, cap, "%s %s", gk_link_end_name(link->end),
			 bus + 1);
	else
		snprintf(dst, cap, "%s", gk_link_end_name(link->end));
}

/* Returns the sum of all error counters, or -1 if there are none. */
static int64_t link_errors(const struct gk_link *link)
{
	static const enum gk_link_metric kinds[] = {
	    GK_L_REPLAY, GK_L_RECOVERY, GK_L_CRC_FLIT, GK_L_CRC_DATA,
	    GK_L_ECC_DATA};
	int64_t sum = -1;

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		struct gk_value v = link->m[kinds[i]];

		if (v.why == GK_PRESENT)
			sum = (sum < 0 ? 0 : sum) + v.v;
	}
	return sum;
}

static void draw_link_titles(struct grid *g, int line, int column, bool wide)
{
	char text[CELL_WIDE + 1];

	snprintf(text, sizeof text, " %2s %-4s %-*s %8s %8s %4s", "#", "ver",
		 wide ? 17 : 6, "end", "rx/s", "tx/s", "err");
	grid_line(g, line, column, text, strlen(text),
		  (struct grid_style){GRID_COLOR_NONE, GRID_DIM});
}

static void draw_link(const struct tui *t, struct grid *g, int line, int column,
		      const struct gk_link *link, unsigned at, bool wide)
{
	const struct tui_device *s = &t->device;
	char text[192], end[64], rx[GK_UNITS_MAX], tx[GK_UNITS_MAX];
	char count[GK_UNITS_MAX] = "-";
	int64_t wrong = link_errors(link);
	struct grid_style style = GRID_PLAIN;

	end_text(t, link, end, sizeof end, wide);
	if (wrong >= 0)
		snprintf(count, sizeof count, "%" PRId64, wrong);
	if (wrong > 0 || !is_up(link))
		style = (struct grid_style){RED, 0};
	rate_text(rx, rate_of_link(t, s->links.rx[at], s->before.rx[at]));
	rate_text(tx, rate_of_link(t, s->links.tx[at], s->before.tx[at]));
	snprintf(text, sizeof text, " %2u %-4s %-*.*s %8s %8s %4s", link->index,
		 is_up(link) ? link_version(link) : "down", wide ? 17 : 6,
		 wide ? 17 : 6, end, rx, tx, count);
	grid_line(g, line, column, text, strlen(text), style);
}

/* ---- all links ---- */

/* Draws "18/18 up, 25.00GiB/s; CRC 0, data 0, replay 0, recovery 0". */
static void draw_sums(const struct tui *t, struct grid *g, int line,
		      const struct gk_device *d)
{
	static const struct {
		enum gk_metric metric;
		const char *name;
	} sums[] = {{GK_M_NVLINK_CRC_FLIT, "CRC"},
		    {GK_M_NVLINK_CRC_DATA, "data"},
		    {GK_M_NVLINK_REPLAY, "replay"},
		    {GK_M_NVLINK_RECOVERY, "recovery"}};
	const struct gk_detail *detail = d->detail;
	struct gk_value speed = detail->links[0].m[GK_L_SPEED];
	struct gk_buf text = {0};
	char size[GK_UNITS_MAX];
	const char *between = "; ";
	unsigned up = 0;

	for (unsigned i = 0; i < detail->link_count; i++)
		up += is_up(&detail->links[i]);
	gk_buf_printf(&text, "%u/%u up", up, detail->link_count);
	if (speed.why == GK_PRESENT)
		gk_buf_printf(&text, ", %s/s", gk_human_size(size, speed.v));
	for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
		struct gk_value v = d->m[sums[i].metric];

		if (v.why != GK_PRESENT)
			continue;
		gk_buf_printf(&text, "%s%s %" PRId64, between, sums[i].name,
			      v.v);
		between = ", ";
	}
	box_text(g, line, view_device_title(g, line, "NVLink"), g->columns,
		 text.data, GRID_PLAIN);
	gk_buf_free(&text);
	(void)t;
}

/* Draws why there are no links. */
static int draw_no_links(struct grid *g, int line, const struct gk_device *d)
{
	struct gk_value received = d->m[GK_M_NVLINK_RX];
	char reason[GK_REASON_MAX];
	const char *text = "none";

	if (received.why)
		text = tui_reason(reason, received, GK_UNIT_BYTES);
	else if (!d->detail)
		text = tui_absence(GK_ABSENT_NOT_READ);

	box_text(g, line, view_device_title(g, line, "NVLink"), g->columns,
		 text, (struct grid_style){GRID_COLOR_NONE, GRID_DIM});
	return 1;
}

int view_device_links(const struct tui *t, struct grid *g, int line,
		      const struct gk_device *d)
{
	unsigned count = d->detail ? d->detail->link_count : 0;
	bool wide = g->columns >= 2 * CELL_WIDE;
	int width = wide ? CELL_WIDE : CELL_WIDTH, rows;
	int columns = g->columns < width ? 1 : g->columns / width;

	if (!count)
		return draw_no_links(g, line, d);
	draw_sums(t, g, line, d);
	if (columns > (int)count)
		columns = (int)count;
	width = g->columns / columns;
	rows = ((int)count + columns - 1) / columns;
	for (int c = 0; c < columns; c++)
		draw_link_titles(g, line + 1, c * width, wide);
	for (int i = 0; i < (int)count; i++)
		draw_link(t, g, line + 2 + i % rows, i / rows * width,
			  &d->detail->links[i], (unsigned)i, wide);
	return 2 + rows;
}
