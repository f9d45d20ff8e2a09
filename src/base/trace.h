/*
 * trace.h - where a program's own time goes: named spans, nested, per thread.
 *
 * Off by default; a span then costs one relaxed load. When on, every span
 * adds to a table (calls, self, cumulative, longest) and, if events are kept,
 * to a list for a Chrome trace. Names must be static strings: they are
 * compared by address first, then by content.
 */
#ifndef GK_BASE_TRACE_H
#define GK_BASE_TRACE_H

#include "base/clock.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gk_trace_row {
	const char *name;
	uint64_t calls;
	uint64_t self_ns;  /* without the spans inside */
	uint64_t total_ns; /* with them */
	uint64_t max_ns;   /* longest single span, with them */
};

struct gk_trace_event {
	const char *name;
	uint64_t start_ns, duration_ns; /* CLOCK_MONOTONIC */
	int thread;                     /* kernel thread id */
};

/* A span in progress; lives on the stack of the function it measures. */
struct gk_span {
	const char *name; /* NULL: tracing was off when it began */
	uint64_t start_ns, children_ns;
	int thread;
	struct gk_span *outer;         /* of the same thread */
	struct gk_span *newer, *older; /* among all that are open */
};

extern _Atomic int gk_trace_on;

/* Turns tracing on; with keep_events also the list of events. */
void gk_trace_start(bool keep_events);

/* Turns it off and empties the table; spans in progress still end in it. */
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
 * The table and the events so far, copied; free() both. A span that is still
 * open counts as a call with its time up to now: what hangs is in the table.
 * Returned counts are 0 when tracing is off or memory ran out.
 */
size_t gk_trace_rows(struct gk_trace_row **ret_rows);
size_t gk_trace_events(struct gk_trace_event **ret_events);

#endif
