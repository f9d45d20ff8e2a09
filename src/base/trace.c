/* SPDX-License-Identifier: Apache-2.0 */
/* trace.c - owns the table of spans, guarded by one lock. */
#include "base/trace.h"
#include "base/assert.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ROWS_MAX   512
#define EVENTS_MAX 1000000 /* 32 MB; later events count only in the table */

_Atomic int gk_trace_on;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool events_wanted;
static struct gk_trace_row rows[ROWS_MAX];
static size_t row_count;
static struct gk_trace_event *events;
static size_t event_count, event_cap;
static _Thread_local struct gk_span *innermost;
static _Thread_local int thread; /* kernel thread id; 0: not known yet */
static struct gk_span *newest;   /* newest open span of any thread */

void gk_trace_start(bool keep_events)
{
	pthread_mutex_lock(&lock);
	events_wanted = keep_events;
	pthread_mutex_unlock(&lock);
	atomic_store(&gk_trace_on, 1);
}

void gk_trace_stop(void)
{
	atomic_store(&gk_trace_on, 0);
	pthread_mutex_lock(&lock);
	row_count = 0;
	pthread_mutex_unlock(&lock);
}

void gk_span_enter(struct gk_span *span, const char *name)
{
	if (!thread)
		thread = (int)syscall(SYS_gettid);
	*span = (struct gk_span){
	    .name = name,
	    .thread = thread,
	    .outer = innermost,
	    .start_ns = gk_mono_ns(),
	};
	innermost = span;
	pthread_mutex_lock(&lock);
	span->older = newest;
	if (newest)
		newest->newer = span;
	newest = span;
	pthread_mutex_unlock(&lock);
}

/* Removes a span from the list of open spans. The caller holds `lock`. */
static void unlist_span(struct gk_span *span)
{
	GK_ASSERT(gk_lock_held(&lock));
	if (span->newer)
		span->newer->older = span->older;
	else
		newest = span->older;
	if (span->older)
		span->older->newer = span->newer;
}

static struct gk_trace_row *row_of_span(const char *name)
{
	for (size_t i = 0; i < row_count; i++)
		if (rows[i].name == name || !strcmp(rows[i].name, name))
			return &rows[i];
	if (row_count == ROWS_MAX)
		return NULL;
	rows[row_count] = (struct gk_trace_row){.name = name};
	return &rows[row_count++];
}

static struct gk_trace_event event_of(const struct gk_span *span,
				      uint64_t duration)
{
	return (struct gk_trace_event){
	    .name = span->name,
	    .start_ns = span->start_ns,
	    .duration_ns = duration,
	    .thread = span->thread,
	};
}

static void keep_event(const struct gk_span *span, uint64_t duration)
{
	if (event_count == event_cap) {
		size_t cap = event_cap ? event_cap * 2 : 1024;
		struct gk_trace_event *more;

		if (event_cap == EVENTS_MAX)
			return;
		if (cap > EVENTS_MAX)
			cap = EVENTS_MAX;
		more = realloc(events, cap * sizeof *events);
		if (!more)
			return;
		events = more;
		event_cap = cap;
	}
	events[event_count++] = event_of(span, duration);
}

static void count_span(struct gk_trace_row *row, const struct gk_span *span,
		       uint64_t duration)
{
	row->calls++;
	row->total_ns += duration;
	row->self_ns += duration - span->children_ns;
	if (duration > row->max_ns)
		row->max_ns = duration;
}

void gk_span_leave(struct gk_span *span)
{
	uint64_t duration = gk_mono_ns() - span->start_ns;
	struct gk_trace_row *row;

	innermost = span->outer;
	pthread_mutex_lock(&lock);
	unlist_span(span);
	if (span->outer)
		span->outer->children_ns += duration;
	row = row_of_span(span->name);
	if (row)
		count_span(row, span, duration);
	if (events_wanted)
		keep_event(span, duration);
	pthread_mutex_unlock(&lock);
}

/*
 * Returns a copy of `count` items, which the caller frees; NULL if there are
 * none.
 */
static void *copy_trace_items(const void *items, size_t count, size_t size)
{
	void *out = count ? malloc(count * size) : NULL;

	return out ? memcpy(out, items, count * size) : NULL;
}

/* Returns how long ago a span began. */
static uint64_t so_far(const struct gk_span *span, uint64_t now)
{
	return now > span->start_ns ? now - span->start_ns : 0;
}

size_t gk_trace_rows(struct gk_trace_row **ret_rows)
{
	uint64_t now;
	size_t n;

	pthread_mutex_lock(&lock);
	now = gk_mono_ns();
	for (struct gk_span *span = newest; span; span = span->older)
		row_of_span(span->name); /* creates the row */
	*ret_rows = copy_trace_items(rows, row_count, sizeof *rows);
	n = *ret_rows ? row_count : 0;
	for (struct gk_span *span = newest; n && span; span = span->older) {
		struct gk_trace_row *row = row_of_span(span->name);

		if (row)
			count_span(&(*ret_rows)[row - rows], span,
				   so_far(span, now));
		if (span->outer && (row = row_of_span(span->outer->name)))
			(*ret_rows)[row - rows].self_ns -= so_far(span, now);
	}
	pthread_mutex_unlock(&lock);
	return n;
}

size_t gk_trace_events(struct gk_trace_event **ret_events)
{
	size_t open = 0, n = 0;
	uint64_t now;

	pthread_mutex_lock(&lock);
	now = gk_mono_ns();
	for (struct gk_span *span = newest; span; span = span->older)
		open++;
	*ret_events = NULL;
	if (event_count + open)
		*ret_events =
		    malloc((event_count + open) * sizeof **ret_events);
	if (*ret_events) {
		n = event_count;
		if (n)
			memcpy(*ret_events, events, n * sizeof *events);
		for (struct gk_span *span = newest; span; span = span->older)
			(*ret_events)[n++] = event_of(span, so_far(span, now));
	}
	pthread_mutex_unlock(&lock);
	return n;
}
