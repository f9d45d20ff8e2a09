/*
 * rows.h - rows of a recording, as CSV (RFC 4180) or as one JSON object a
 * line. An absent value is empty, or null. Pure but for the time zone.
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
	bool milliseconds; /* in the time */
	bool pid_column;   /* GK_RECORD_SYSTEM of several processes */
};

/* The line of titles; nothing for JSON. */
void gk_row_header(struct gk_buf *out, const struct gk_row_style *style);

/*
 * Writes local time to dst, which has room for GK_ROW_TIME_MAX bytes:
 * 2026-11-21T10:42:38, with .123 for milliseconds. Returns dst.
 */
#define GK_ROW_TIME_MAX 40
char *gk_row_time(char *dst, uint64_t wall_ns, bool milliseconds);

/* command: any bytes; see gk_csv_text() and gk_json_string(). */
void gk_row_process(struct gk_buf *out, const struct gk_row_style *style,
		    const char *time, const struct gk_device *device,
		    const struct gk_process *process, const char *command);

void gk_row_device(struct gk_buf *out, const struct gk_row_style *style,
		   const char *time, const struct gk_device *device);

/* The memory and time that processes take of the host and of all GPUs. */
struct gk_system_row {
	pid_t pid;
	struct gk_value used;     /* bytes on all GPUs */
	struct gk_value sys_used; /* bytes of the host, by all processes */
	const char *cpus;         /* "8/9/11"; "" if unknown */
	struct gk_value cpu;      /* since its start; 10 = 1 % of a CPU */
};

void gk_row_system(struct gk_buf *out, const struct gk_row_style *style,
		   const char *time, const struct gk_system_row *row);

#endif
