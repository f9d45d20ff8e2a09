/* trace.c - the table of spans, behind one lock; see trace.h. */
#include "base/trace.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ROWS_MAX   512
#define EVENTS_MAX 1000000 /* 32 MB; later events only count in the table */

_Atomic int gk_trace_on;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool events_wanted;
static struct gk_trace_row rows[ROWS_MAX];
static size_t row_count;
static struct gk_trace_event *events;
static size_t event_count, event_cap;
static _Thread_local struct gk_span *innermost;

void gk_trace_start(bool keep_events)
{
	pthread_mutex_lock(&lock);
	events_wanted = keep_events;
	pthread_mutex_unlock(&lock);
	atomic_store(&gk_trace_on, 1);
}

void gk_span_enter(struct gk_span *span, const char *name)
{
	span->name = name;
	span->children_ns = 0;
	span->outer = innermost;
	innermost = span;
	span->start_ns = gk_mono_ns();
}

static struct gk_trace_row *row_of(const char *name)
{
	for (size_t i = 0; i < row_count; i++)
		if (rows[i].name == name || !strcmp(rows[i].name, name))
			return &rows[i];
	if (row_count == ROWS_MAX)
		return NULL;
	rows[row_count].name = name;
	return &rows[row_count++];
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
	events[event_count++] = (struct gk_trace_event){
	    .name = span->name,
	    .start_ns = span->start_ns,
	    .duration_ns = duration,
	    .thread = (int)syscall(SYS_gettid),
	};
}

void gk_span_leave(struct gk_span *span)
{
	uint64_t duration = gk_mono_ns() - span->start_ns;
	struct gk_trace_row *row;

	innermost = span->outer;
	if (span->outer)
		span->outer->children_ns += duration;
	pthread_mutex_lock(&lock);
	row = row_of(span->name);
	if (row) {
		row->calls++;
		row->total_ns += duration;
		row->self_ns += duration - span->children_ns;
		if (duration > row->max_ns)
			row->max_ns = duration;
	}
	if (events_wanted)
		keep_event(span, duration);
	pthread_mutex_unlock(&lock);
}

/* A copy of count items for the caller to free; NULL when there are none. */
static void *copy(const void *items, size_t count, size_t size)
{
	void *out = count ? malloc(count * size) : NULL;

	return out ? memcpy(out, items, count * size) : NULL;
}

size_t gk_trace_rows(struct gk_trace_row **ret_rows)
{
	size_t count;

	pthread_mutex_lock(&lock);
	*ret_rows = copy(rows, row_count, sizeof *rows);
	count = *ret_rows ? row_count : 0;
	pthread_mutex_unlock(&lock);
	return count;
}

size_t gk_trace_events(struct gk_trace_event **ret_events)
{
	size_t count;

	pthread_mutex_lock(&lock);
	*ret_events = copy(events, event_count, sizeof *events);
	count = *ret_events ? event_count : 0;
	pthread_mutex_unlock(&lock);
	return count;
}
