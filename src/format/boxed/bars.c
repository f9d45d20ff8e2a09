/* SPDX-License-Identifier: Apache-2.0 */
/* bars.c - draws the bars to the right of the table of GPUs. */
#include "base/array.h"
#include "base/assert.h"
#include "format/bar.h"
#include "format/boxed/table.h"

#include <inttypes.h>
#include <stdio.h>

/* Fills *ret_bar; `text` is the buffer for its text. */
static enum gk_intensity fill_bar(const struct gk_boxed_options *o,
				  const struct gk_device *d, enum bar_kind kind,
				  char *text, struct gk_bar *ret_bar)
{
	static const char *const titles[] = {
	    "MEM: ", "MBW: ", "UTL: ", "PWR: "};
	const struct gk_value *m = d->m;
	struct gk_value clock =
	    m[kind == BAR_MBW ? GK_M_MEM_CLOCK : GK_M_SM_CLOCK];
	struct gk_bar bar = {.title = titles[kind], .text = text};

	*text = '\0';
	if (kind == BAR_MEM) {
		bar.tenths = gk_tenths(m[GK_M_MEM_USED], m[GK_M_MEM_TOTAL]);
		gk_str_copy(text, GK_UNITS_MAX,
			    gk_size_or_na(text, m[GK_M_MEM_USED]));
	} else if (kind == BAR_PWR) {
		bar.tenths = gk_tenths(m[GK_M_POWER], m[GK_M_POWER_LIMIT]);
		gk_str_copy(text, GK_UNITS_MAX,
			    gk_watts_or_na(text, m[GK_M_POWER]));
	} else {
		bar.tenths = gk_tenths_of_percent(
		    m[kind == BAR_MBW ? GK_M_MEM_UTIL : GK_M_GPU_UTIL]);
		if (clock.why == GK_PRESENT)
			snprintf(text, GK_UNITS_MAX, "@ %" PRId64 "MHz",
				 clock.v / 1000000);
	}
	if (bar.tenths.why != GK_PRESENT)
		*text = '\0';
	bar.whole = kind == BAR_UTL || kind == BAR_MBW;
	bar.text_first = *text && (kind == BAR_MEM || kind == BAR_PWR);
	*ret_bar = bar;
	return kind == BAR_MEM || kind == BAR_MBW
		   ? gk_memory_intensity(o, bar.tenths)
		   : gk_gpu_intensity(o, bar.tenths);
}

void gk_box_bar(struct gk_box *box, const struct gk_device *d,
		enum bar_kind kind, int width)
{
	char text[GK_UNITS_MAX];
	struct gk_bar bar;
	enum gk_color color =
	    gk_intensity_color(fill_bar(box->o, d, kind, text, &bar));

	color = d->health == GK_HEALTH_OK ? color : GK_RED;
	bar.colorful = box->o->color && box->o->colorful;
	gk_color_start(box->out, box->o->color, color);
	gk_format_bar(box->out, &bar, width);
	gk_color_end(box->out, box->o->color, color);
}

void gk_box_bars(const struct gk_box_table *t, const struct gk_device *d,
		 enum bar_kind left, enum bar_kind right)
{
	enum bar_kind kinds[] = {left, right};
	struct gk_buf *out = t->box->out;

	GK_ASSERT(t->bar_count <= (int)COUNT(kinds));
	for (int i = 0; i < t->bar_count && kinds[i] != BAR_NONE; i++) {
		int width = t->bars[i];

		if (i + 1 < t->bar_count && kinds[i + 1] == BAR_NONE)
			width += 1 + t->bars[i + 1];
		gk_buf_putc(out, ' ');
		gk_box_bar(t->box, d, kinds[i], width - 2);
		gk_buf_puts(out, " │");
	}
	gk_buf_putc(out, '\n');
}
