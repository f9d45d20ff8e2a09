/*
 * timings.h - where a program's own time went: the spans of base/trace.h as a
 * profiler's table and as a Chrome trace.
 */
#ifndef GK_FORMAT_TIMINGS_H
#define GK_FORMAT_TIMINGS_H

#include "base/str.h"
#include "base/trace.h"

enum gk_timings_sort { GK_TIMINGS_SELF, GK_TIMINGS_CUMULATIVE };

/*
 * Adds the table, most expensive row first, and below them the spans that
 * only wait, whose names begin with "wait". Sorts rows in place.
 */
void gk_format_timings(struct gk_buf *out, struct gk_trace_row *rows,
		       size_t count, enum gk_timings_sort sort);

/* Adds a trace that chrome://tracing and Perfetto read; times in us. */
void gk_format_chrome_trace(struct gk_buf *out,
			    const struct gk_trace_event *events, size_t count,
			    int pid);

#endif
