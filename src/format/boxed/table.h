/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h - declarations that the parts of the table of GPUs share. Internal.
 */
#ifndef GK_FORMAT_BOXED_TABLE_H
#define GK_FORMAT_BOXED_TABLE_H

#include "format/boxed/part.h"
#include "format/units.h"

#define BAR_COLUMNS_MAX 2

struct gk_box_table {
	struct gk_box *box;
	int bars[BAR_COLUMNS_MAX]; /* columns between the borders of each bar */
	int bar_count;
	bool mig; /* whether any GPU has MIG enabled */
};

/* A device's values as texts; absent values are "N/A". */
struct gk_texts {
	char size[2][GK_UNITS_MAX], fan[GK_UNITS_MAX], temp[GK_UNITS_MAX];
	char pstate[GK_UNITS_MAX], power[2 * GK_UNITS_MAX];
	char memory[2 * GK_UNITS_MAX], util[GK_UNITS_MAX], ecc[GK_UNITS_MAX];
};

void gk_texts_fill(struct gk_texts *x, const struct gk_device *d);

/*
 * Format a size ("12.50MiB") and a power ("68W"); an absent value becomes
 * "N/A". dst must have GK_UNITS_MAX bytes.
 */
const char *gk_size_or_na(char *dst, struct gk_value value);
const char *gk_watts_or_na(char *dst, struct gk_value value);

/* Adds a GPU's name without the maker, or the GPU's trouble. */
void gk_box_name(struct gk_box *box, const struct gk_device *d, size_t columns);

/*
 * Writes the trouble of a GPU and how long it has lasted, such as "stale 3s" or
 * "lost 12s"; "" if there is none.
 */
char *gk_box_trouble(char *dst, const struct gk_box *box,
		     const struct gk_device *d);

/* Adds all lines of a device, with its bars. */
void gk_box_device(const struct gk_box_table *t, const struct gk_device *d);

enum bar_kind { BAR_MEM, BAR_MBW, BAR_UTL, BAR_PWR, BAR_NONE };

/*
 * Adds the bars beside one line of a device, and ends the line. If `right` is
 * BAR_NONE, the left bar fills the space of both bars.
 */
void gk_box_bars(const struct gk_box_table *t, const struct gk_device *d,
		 enum bar_kind left, enum bar_kind right);

/* Adds one bar, coloured, exactly `width` columns wide. */
void gk_box_bar(struct gk_box *box, const struct gk_device *d,
		enum bar_kind kind, int width);

/*
 * Adds the table without the title. Used for widths below GK_BOXED_WIDTH_MIN.
 */
void gk_box_narrow_devices(struct gk_box *box);

#endif
