/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.h - formats rows of a recording, as CSV (RFC 4180) or as one JSON object
 * per line. An absent value is an empty field, or null. The result depends only
 * on the arguments and the time zone.
 */
#ifndef GK_RECORD_ROWS_H
#define GK_RECORD_ROWS_H

#include "base/str.h"

#include <gpukit/gpukit.h>

enum gk_record_kind {
	GK_RECORD_PROCESSES,
	GK_RECORD_SYSTEM,
	GK_RECORD_DEVICES,
};

struct gk_row_style {
	enum gk_record_kind kind;
	bool json;
	bool milliseconds; /* times have milliseconds */
	bool pid_column;   /* rows name their process (GK_RECORD_SYSTEM) */
};

/* Writes the line of titles; nothing for JSON. */
void gk_row_header(struct gk_buf *out, const struct gk_row_style *style);

/*
 * Writes local time to dst, which must have GK_ROW_TIME_MAX bytes, and returns
 * dst: 2026-11-21T10:42:38, followed by .123 if milliseconds is set.
 */
#define GK_ROW_TIME_MAX 40
char *gk_row_time(char *dst, uint64_t wall_ns, bool milliseconds);

/* command may contain any bytes; see gk_csv_text() and gk_json_string(). */
void gk_row_process(struct gk_buf *out, const struct gk_row_style *style,
		    const char *time, const struct gk_device *device,
		    const struct gk_process *process, const char *command);

void gk_row_device(struct gk_buf *out, const struct gk_row_style *style,
		   const char *time, const struct gk_device *device);

/* The memory and CPU time that processes use: on the host, and on all GPUs. */
struct gk_system_row {
	pid_t pid;
	struct gk_value used;     /* bytes on all GPUs together */
	struct gk_value sys_used; /* bytes used on the host, by all processes */
	const char *cpus;         /* "8/9/11"; "" if unknown */
	/* Mean CPU use since the process started; 10 is 1 % of a CPU. */
	struct gk_value cpu;
};

void gk_row_system(struct gk_buf *out, const struct gk_row_style *style,
		   const char *time, const struct gk_system_row *row);

#endif
