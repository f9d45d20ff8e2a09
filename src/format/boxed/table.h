/*
 * table.h - what the parts of the table of GPUs share. Internal.
 */
#ifndef GK_FORMAT_BOXED_TABLE_H
#define GK_FORMAT_BOXED_TABLE_H

#include "format/boxed/part.h"
#include "format/units.h"

#define BAR_COLUMNS_MAX 2

struct gk_box_table {
	struct gk_box *box;
	int bars[BAR_COLUMNS_MAX]; /* columns between two borders */
	int bar_count;
	bool mig; /* a GPU can be split */
};

/* Texts of values; "N/A" where they are absent. */
struct gk_texts {
	char size[2][GK_UNITS_MAX], fan[GK_UNITS_MAX], temp[GK_UNITS_MAX];
	char pstate[GK_UNITS_MAX], power[2 * GK_UNITS_MAX];
	char memory[2 * GK_UNITS_MAX], util[GK_UNITS_MAX], ecc[GK_UNITS_MAX];
};

void gk_texts_fill(struct gk_texts *x, const struct gk_device *d);

/* "12.50MiB", "68W", or "N/A"; dst has room for GK_UNITS_MAX bytes. */
const char *gk_size_or_na(char *dst, struct gk_value value);
const char *gk_watts_or_na(char *dst, struct gk_value value);

/* The name of a GPU without its maker's, or what is wrong with it. */
void gk_box_name(struct gk_box *box, const struct gk_device *d, size_t columns);

/* "stale 3s", "lost 12s": what is wrong and for how long; "" if nothing. */
char *gk_box_trouble(char *dst, const struct gk_box *box,
		     const struct gk_device *d);

/* All lines of a device, bars included. */
void gk_box_device(const struct gk_box_table *t, const struct gk_device *d);

enum bar_kind { BAR_MEM, BAR_MBW, BAR_UTL, BAR_PWR, BAR_NONE };

/*
 * Adds the bars right of one line of a device, and the end of the line. The
 * left one is as wide as both where there is no right one.
 */
void gk_box_bars(const struct gk_box_table *t, const struct gk_device *d,
		 enum bar_kind left, enum bar_kind right);

/* One bar in its colour, exactly that wide. */
void gk_box_bar(struct gk_box *box, const struct gk_device *d,
		enum bar_kind kind, int width);

/* Adds the table below the title in fewer columns than GK_BOXED_WIDTH_MIN. */
void gk_box_narrow_devices(struct gk_box *box);

#endif
