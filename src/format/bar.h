/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bar.h - a bar of block characters with its title and numbers.
 */
#ifndef GK_FORMAT_BAR_H
#define GK_FORMAT_BAR_H

#include "base/str.h"

#include <gpukit/gpukit.h>

struct gk_bar {
	const char *title;      /* "MEM: " */
	struct gk_value tenths; /* 1000: a full bar */
	const char *text;       /* "15000MiB", "@ 1410MHz", or "" */
	/*
	 * If set, the text is beside the bar and the percentage on the right;
	 * otherwise the other way round.
	 */
	bool text_first;
	bool whole;    /* show the percentage without decimals */
	bool colorful; /* use a gradient of 256 colours */
};

/*
 * Adds the bar, exactly `width` columns wide. Equal percentages give equal
 * bars, whatever the texts. If there is no space for all parts, they are left
 * out in this order: the percentage's decimal, the text on the right, the text
 * beside the bar.
 */
void gk_format_bar(struct gk_buf *out, const struct gk_bar *bar, int width);

/* Returns part / whole in tenths of a percent; absent if part or whole is
 * absent. */
struct gk_value gk_tenths(struct gk_value part, struct gk_value whole);

#endif
