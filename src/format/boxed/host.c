/* SPDX-License-Identifier: Apache-2.0 */
/* host.c - prints the two lines of the host: CPU, memory, swap, load. */
#include "base/round.h"
#include "format/bar.h"
#include "format/boxed/part.h"
#include "format/units.h"
#include "format/width.h"

#include <stdio.h>
#include <string.h>

#define BAR_LEAST   14 /* "MEM: ", a bar and a percentage */
#define RIGHT_WIDTH 37 /* "  ( Load Average: 99.99 99.99 99.99 )" */

static struct gk_value used_of(struct gk_value total, struct gk_value left)
{
	if (total.why != GK_PRESENT)
		return total;
	if (left.why == GK_PRESENT)
		left.v = total.v > left.v ? total.v - left.v : 0;
	return left;
}

/* Makes swap usage 0 % instead of absent on a host without swap space. */
static struct gk_value swap_tenths(const struct gk_host *h)
{
	struct gk_value used = used_of(h->swap_total, h->swap_free);

	if (used.why == GK_PRESENT && !h->swap_total.v)
		return used;
	return gk_tenths(used, h->swap_total);
}

/*
 * Adds a bar between brackets. In the viewer the bar is shortened, so that the
 * text to its right is never left out.
 */
static void add_bracketed(struct gk_box *box, const struct gk_bar *bar,
			  enum gk_color color, int width)
{
	struct gk_bar alone = *bar;
	int inner = width - 4, text = (int)strlen(bar->text);

	alone.colorful = box->o->color && box->o->colorful;
	gk_color_start(box->out, box->o->color, color);
	gk_buf_puts(box->out, "[ ");
	if (box->live.on && text && inner - text > BAR_LEAST) {
		alone.text = "";
		gk_format_bar(box->out, &alone, inner - text - 1);
		gk_buf_printf(box->out, " %s", bar->text);
	} else {
		gk_format_bar(box->out, &alone, inner);
	}
	gk_buf_puts(box->out, " ]");
	gk_color_end(box->out, box->o->color, color);
}

static void add_load_average(struct gk_box *box)
{
	const struct gk_value *load = box->snap->host.load_centi;

	gk_buf_puts(box->out, "  ");
	gk_color_start(box->out, box->o->color, GK_BOLD);
	gk_buf_puts(box->out, "( Load Average:");
	for (int i = 0; i < 3; i++) {
		if (load[i].why != GK_PRESENT)
			gk_buf_puts(box->out, "   N/A");
		else if (load[i].v >= 999950)
			gk_buf_puts(box->out, " 9999+");
		else if (load[i].v >= 10000)
			gk_buf_printf(box->out, " %5.0f",
				      (double)load[i].v / 100.0);
		else
			gk_buf_printf(box->out, " %5.2f",
				      (double)load[i].v / 100.0);
	}
	gk_buf_puts(box->out, " )");
	gk_color_end(box->out, box->o->color, GK_BOLD);
	gk_buf_putc(box->out, '\n');
}

/* Adds bars of half the usual width, and the load as numbers without a bar. */
static void add_narrow(struct gk_box *box, struct gk_bar *cpu,
		       struct gk_bar *memory, const struct gk_bar *swapped)
{
	const struct gk_value *load = box->snap->host.load_centi;
	int left = box->width / 2, right = box->width - left;
	char text[GK_UNITS_MAX * 3] = "LOAD N/A";

	if (load[0].why == GK_PRESENT && load[2].why == GK_PRESENT)
		snprintf(text, sizeof text, "LOAD %.1f %.1f %.1f",
			 (double)load[0].v / 100.0, (double)load[1].v / 100.0,
			 (double)load[2].v / 100.0);
	cpu->text = memory->text = "";
	add_bracketed(box, cpu, GK_BOLD_CYAN, left);
	add_bracketed(box, memory, GK_BOLD_MAGENTA, right);
	gk_buf_putc(box->out, '\n');
	add_bracketed(box, swapped, GK_BOLD_BLUE, left);
	gk_buf_puts(box->out, "( ");
	gk_cell(box->out, text, (size_t)(right - 4), GK_LEFT, "..");
	gk_buf_puts(box->out, " )\n");
}

void gk_box_host(struct gk_box *box)
{
	const struct gk_host *h = &box->snap->host;
	struct gk_value used = used_of(h->mem_total, h->mem_available);
	char uptime[GK_UNITS_MAX + 16], used_text[64] = "USED: N/A";
	char text[GK_UNITS_MAX];
	struct gk_bar cpu = {
	    .title = "CPU: ", .tenths = h->cpu_centipercent, .text = uptime};
	struct gk_bar memory = {.title = "MEM: ",
				.tenths = gk_tenths(used, h->mem_total),
				.text = used_text};
	struct gk_bar swapped = {
	    .title = "SWP: ", .tenths = swap_tenths(h), .text = ""};

	cpu.tenths.v /= 10;
	snprintf(uptime, sizeof uptime, "UPTIME: %s",
		 gk_human_time(text, (int64_t)h->boot_ns, 1));
	if (used.why == GK_PRESENT)
		snprintf(used_text, sizeof used_text, "USED: %.2fGiB",
			 gk_half_up((double)used.v / (1 << 30)));
	if (box->width < GK_BOXED_WIDTH_MIN) {
		add_narrow(box, &cpu, &memory, &swapped);
		return;
	}
	add_bracketed(box, &cpu, GK_BOLD_CYAN, box->width - RIGHT_WIDTH);
	add_load_average(box);
	add_bracketed(box, &memory, GK_BOLD_MAGENTA, box->width - RIGHT_WIDTH);
	gk_buf_puts(box->out, "  ");
	add_bracketed(box, &swapped, GK_BOLD_BLUE, RIGHT_WIDTH - 2);
	gk_buf_putc(box->out, '\n');
}
