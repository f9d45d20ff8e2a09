/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.h - measures where a program spends its time, by named spans, which may
 * be nested, in each thread.
 *
 * Tracing is off by default; a span then costs one relaxed load. If it is on,
 * each span adds to a table (calls, self, cumulative, longest) and, if events
 * are kept, to a list for a Chrome trace. Names must be static strings, because
 * the table keeps pointers to them. Names are compared by address first, then
 * by content.
 */
#ifndef GK_BASE_TRACE_H
#define GK_BASE_TRACE_H

#include "base/clock.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The span in which the driver library is loaded. Spans of its calls have the
 * names of the functions. */
#define GK_SPAN_LOAD "load the driver library"

struct gk_trace_row {
	const char *name;
	uint64_t calls;
	uint64_t self_ns;  /* without inner spans */
	uint64_t total_ns; /* with inner spans */
	uint64_t max_ns;   /* longest single span, including inner spans */
};

struct gk_trace_event {
	const char *name;
	uint64_t start_ns, duration_ns; /* CLOCK_MONOTONIC */
	int thread;                     /* kernel thread id */
};

/* A span in progress; lives on the stack of the measured function. */
struct gk_span {
	const char *name; /* NULL: tracing was off when the span began */
	uint64_t start_ns, children_ns;
	int thread;
	/* the enclosing span of the same thread */
	struct gk_span *outer;
	/* neighbours in the list of all open spans */
	struct gk_span *newer, *older;
};

extern _Atomic int gk_trace_on;

/* Turns tracing on; if keep_events, also keeps the list of events. */
void gk_trace_start(bool keep_events);

/*
 * Turns tracing off and empties the table. Spans in progress are still added to
 * it when they end.
 */
void gk_trace_stop(void);

void gk_span_enter(struct gk_span *span, const char *name);
void gk_span_leave(struct gk_span *span);

static inline void gk_span_begin(struct gk_span *span, const char *name)
{
	span->name = NULL;
	if (atomic_load_explicit(&gk_trace_on, memory_order_relaxed))
		gk_span_enter(span, name);
}

static inline void gk_span_end(struct gk_span *span)
{
	if (span->name)
		gk_span_leave(span);
}

/*
 * Return copies of the table and of the events so far, which the caller frees.
 * An open span counts as a call with the time spent so far, so that a hanging
 * call is visible. The counts are 0 if tracing is off or memory is exhausted.
 */
size_t gk_trace_rows(struct gk_trace_row **ret_rows);
size_t gk_trace_events(struct gk_trace_event **ret_events);

#endif
