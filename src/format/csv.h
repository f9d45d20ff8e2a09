/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv.h - a snapshot as comma-separated values (RFC 4180): lines end in CR LF,
 * fields that contain commas or quotes are quoted, absent values are empty.
 */
#ifndef GK_FORMAT_CSV_H
#define GK_FORMAT_CSV_H

#include "base/str.h"

#include <gpukit/gpukit.h>

enum gk_csv_flag {
	GK_CSV_HEADER = 1,       /* begin with a row of titles */
	GK_CSV_NO_PROCESSES = 2, /* processes were not read */
};

/* Adds one row per device. */
void gk_format_csv_devices(struct gk_buf *out, const struct gk_snapshot *snap,
			   unsigned flags);

/* Adds one row for each process on each device. */
void gk_format_csv_processes(struct gk_buf *out, const struct gk_snapshot *snap,
			     unsigned flags);

/*
 * Adds a text as a field, quoted if necessary. Invisible characters become '?',
 * except newlines if lines is true. A text that a spreadsheet would evaluate
 * gets a leading apostrophe (gk_str_is_formula()).
 */
void gk_csv_text(struct gk_buf *out, const char *text, bool lines);

#endif
