/*
 * part.h - what the parts of the boxed report share. Internal.
 */
#ifndef GK_FORMAT_BOXED_PART_H
#define GK_FORMAT_BOXED_PART_H

#include "format/boxed/boxed.h"
#include "format/color.h"

struct gk_box {
	struct gk_buf *out;
	const struct gk_snapshot *snap;
	const struct gk_boxed_options *o;
	int width; /* columns of the whole report */

	/* The viewer alone wants this of the table of GPUs. */
	struct {
		bool on;   /* ages of all that is wrong, MIG rows together */
		bool open; /* its lower border begins the box below */
		size_t first, count; /* devices shown; 0: all of them */
	} live;
};

/* How busy something is. An unknown value counts as moderate. */
enum gk_intensity { GK_LIGHT, GK_MODERATE, GK_HEAVY };

/* The intensity of tenths of a percent, by the limits of the options. */
enum gk_intensity gk_gpu_intensity(const struct gk_boxed_options *o,
				   struct gk_value tenths);
enum gk_intensity gk_memory_intensity(const struct gk_boxed_options *o,
				      struct gk_value tenths);
enum gk_color gk_intensity_color(enum gk_intensity intensity);

/* The colour of a GPU: by its memory or its utilisation, whichever is more. */
enum gk_color gk_device_color(const struct gk_boxed_options *o,
			      const struct gk_device *device);

/* Percent in tenths of a percent: 1 as 10. */
struct gk_value gk_tenths_of_percent(struct gk_value percent);

/*
 * Add a text so many times; and a line as wide as the report, of a text of one
 * column between left and right.
 */
void gk_box_repeat(struct gk_buf *out, const char *text, int count);
void gk_box_line(struct gk_box *box, const char *left, const char *text,
		 const char *right);

/* Whether a rule stands before a device that is not the first shown. */
bool gk_box_rule_before(const struct gk_box *box, size_t position);

/* The position behind the last device shown. */
size_t gk_box_devices_end(const struct gk_box *box);

/* Add the parts of the report, lines with their newlines. */
void gk_box_devices(struct gk_box *box);
void gk_box_host(struct gk_box *box);
void gk_box_processes(struct gk_box *box);

/*
 * Add lines of the table of processes: the user who looks, after a note; and
 * the text that stands where there is no process.
 */
void gk_box_who(struct gk_box *box, const char *note);
void gk_box_no_processes(struct gk_box *box, const char *text);

/* Columns that the widest process row wants. */
int gk_box_processes_width(const struct gk_snapshot *snap);

#endif
