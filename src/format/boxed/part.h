/* SPDX-License-Identifier: Apache-2.0 */
/* part.h - declarations that the parts of the boxed report share. Internal. */
#ifndef GK_FORMAT_BOXED_PART_H
#define GK_FORMAT_BOXED_PART_H

#include "format/boxed/boxed.h"
#include "format/color.h"

struct gk_box {
	struct gk_buf *out;
	const struct gk_snapshot *snap;
	const struct gk_boxed_options *o;
	int width; /* width of the whole report, in columns */

	/* Options for the table of GPUs. Only the viewer sets them. */
	struct {
		bool on; /* show how long problems last; keep MIG rows
			  * together */
		/* leave out the lower border: the next box draws it */
		bool open;
		/* range of devices to show; count 0: all */
		size_t first, count;
	} live;
};

/* A level of utilisation; unknown values count as moderate. */
enum gk_intensity { GK_LIGHT, GK_MODERATE, GK_HEAVY };

/*
 * Return the level of a value in tenths of a percent, by the options'
 * thresholds.
 */
enum gk_intensity gk_gpu_intensity(const struct gk_boxed_options *o,
				   struct gk_value tenths);
enum gk_intensity gk_memory_intensity(const struct gk_boxed_options *o,
				      struct gk_value tenths);
enum gk_color gk_intensity_color(enum gk_intensity intensity);

/*
 * Returns the colour of a GPU. It depends on the level of its memory or of its
 * utilisation, whichever is higher.
 */
enum gk_color gk_device_color(const struct gk_boxed_options *o,
			      const struct gk_device *device);

/* Converts percent to tenths of a percent. */
struct gk_value gk_tenths_of_percent(struct gk_value percent);

/*
 * gk_box_repeat() adds a text `count` times. gk_box_line() adds a line as wide
 * as the report: `left`, then `text` (one column wide) as often as needed, then
 * `right`.
 */
void gk_box_repeat(struct gk_buf *out, const char *text, int count);
void gk_box_line(struct gk_box *box, const char *left, const char *text,
		 const char *right);

/* Whether a rule precedes a device; false for the first one shown. */
bool gk_box_rule_before(const struct gk_box *box, size_t position);

/* Returns 1 + the position of the last device shown. */
size_t gk_box_devices_end(const struct gk_box *box);

/* Add the parts of the report; each line ends with a newline. */
void gk_box_devices(struct gk_box *box);
void gk_box_host(struct gk_box *box);
void gk_box_processes(struct gk_box *box);

/*
 * Add lines of the table of processes. gk_box_who() adds a line with a note and
 * the current user's name; gk_box_no_processes() adds a text in place of rows.
 */
void gk_box_who(struct gk_box *box, const char *note);
void gk_box_no_processes(struct gk_box *box, const char *text);

/* Returns the columns that the widest process row needs. */
int gk_box_processes_width(const struct gk_snapshot *snap);

#endif
