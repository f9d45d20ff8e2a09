/*
 * csv.h - a snapshot as comma-separated values (RFC 4180): lines end in CR LF,
 * fields with commas or quotes are quoted, an absent value is empty.
 */
#ifndef GK_FORMAT_CSV_H
#define GK_FORMAT_CSV_H

#include "base/str.h"

#include <gpukit/gpukit.h>

enum gk_csv_flag {
	GK_CSV_HEADER = 1,       /* a row of titles comes first */
	GK_CSV_NO_PROCESSES = 2, /* they were not read */
};

/* One row a device. */
void gk_format_csv_devices(struct gk_buf *out, const struct gk_snapshot *snap,
			   unsigned flags);

/* One row a process and device. */
void gk_format_csv_processes(struct gk_buf *out, const struct gk_snapshot *snap,
			     unsigned flags);

/*
 * A text as a field: quoted where it has to be; what cannot be seen becomes
 * '?', but lines stay lines where they are wanted; a text that a spreadsheet
 * would compute has an apostrophe before it (gk_str_is_formula()).
 */
void gk_csv_text(struct gk_buf *out, const char *text, bool lines);

#endif
