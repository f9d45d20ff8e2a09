/* SPDX-License-Identifier: Apache-2.0 */
/* gpustat.h - the default text, one line per GPU, in gpustat's format. */
#ifndef GK_FORMAT_GPUSTAT_H
#define GK_FORMAT_GPUSTAT_H

#include "base/str.h"

#include <gpukit/gpukit.h>

enum gk_codec { GK_CODEC_ENC = 1, GK_CODEC_DEC = 2 };
enum gk_power { GK_POWER_DRAW = 1, GK_POWER_LIMIT = 2 };

struct gk_gpustat_options {
	bool color;
	bool header;
	bool processes;
	bool show_cmd, show_full_cmd, show_user, show_pid, show_fan;
	unsigned codec; /* bits of gk_codec */
	unsigned power; /* bits of gk_power; 0: do not show power */
	/* in columns; -1: as wide as needed; 0: do not show names */
	int name_width;
};

/* Adds the text of one frame in UTF-8; each line ends with a newline. */
void gk_format_gpustat(struct gk_buf *out, const struct gk_snapshot *snap,
		       const struct gk_gpustat_options *options);

/* Adds to a set the device metrics that the text shows. */
void gk_gpustat_metrics(const struct gk_gpustat_options *options,
			struct gk_metric_set *set);

#endif
