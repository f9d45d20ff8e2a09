/*
 * bar.h - a bar of block characters with its title and numbers.
 */
#ifndef GK_FORMAT_BAR_H
#define GK_FORMAT_BAR_H

#include "base/str.h"

#include <gpukit/gpukit.h>

struct gk_bar {
	const char *title;      /* "MEM: " */
	struct gk_value tenths; /* 1000 = full */
	const char *text;       /* "15000MiB", "@ 1410MHz", or "" */
	bool text_first;        /* text beside the bar, percent at the right;
				   else the other way round */
	bool whole;             /* the percentage has no decimal */
	bool colorful;          /* blocks in a gradient of 256 colours */
};

/*
 * Adds the bar, exactly width columns; equal shares give equal bars whatever
 * the texts are. What does not fit is left out: first the decimal of the
 * percentage, then the text at the right, then the text beside the bar.
 */
void gk_format_bar(struct gk_buf *out, const struct gk_bar *bar, int width);

/* part / whole as tenths of a percent; absent as either of them is. */
struct gk_value gk_tenths(struct gk_value part, struct gk_value whole);

#endif
