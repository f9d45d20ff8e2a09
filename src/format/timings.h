/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timings.h - formats where a program spent its time. The spans of base/trace.h
 * become a profiler's table or a Chrome trace.
 */
#ifndef GK_FORMAT_TIMINGS_H
#define GK_FORMAT_TIMINGS_H

#include "base/str.h"
#include "base/trace.h"

enum gk_timings_sort { GK_TIMINGS_SELF, GK_TIMINGS_CUMULATIVE };

/* Sums over the whole run, with the driver's part given separately. */
struct gk_timings_sum {
	uint64_t startup_ns; /* CPU time until tracing began */
	uint64_t total_ns;   /* time since then */
	/* The rest is set by gk_timings_sum(). Calls of several threads may
	 * take longer together than total_ns. */
	uint64_t load_ns; /* loading the driver library */
	uint64_t init_ns; /* nvmlInit_v2() */
	uint64_t nvml_ns; /* all calls, including nvmlInit_v2() */
	uint64_t nvml_calls;
};

void gk_timings_sum(struct gk_timings_sum *sum, const struct gk_trace_row *rows,
		    size_t count);

/* Adds one line. */
void gk_format_timings_sum(struct gk_buf *out,
			   const struct gk_timings_sum *sum);

/*
 * Adds the table, with the most expensive row first. Spans that only wait,
 * whose names begin with "wait", come last. Sorts the rows in place.
 */
void gk_format_timings(struct gk_buf *out, struct gk_trace_row *rows,
		       size_t count, enum gk_timings_sort sort);

/* Adds a trace for chrome://tracing and Perfetto, with times in us. */
void gk_format_chrome_trace(struct gk_buf *out,
			    const struct gk_trace_event *events, size_t count,
			    int pid, const struct gk_timings_sum *sum);

#endif
