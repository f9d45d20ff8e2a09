/* SPDX-License-Identifier: Apache-2.0 */
/* timings.c - prints trace spans as a table and as a Chrome trace. */
#include "format/timings.h"

#include "format/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * Whether a row counts time spent waiting. Such rows come after all others,
 * because waiting is not work.
 */
static bool is_wait(const struct gk_trace_row *row)
{
	return !strncmp(row->name, "wait", 4);
}

static int compare_timings(uint64_t a, uint64_t b, const struct gk_trace_row *x,
			   const struct gk_trace_row *y)
{
	if (is_wait(x) != is_wait(y))
		return is_wait(x) - is_wait(y);
	if (a != b)
		return a < b ? 1 : -1;
	return strcmp(x->name, y->name);
}

static int by_self(const void *a, const void *b)
{
	const struct gk_trace_row *x = a, *y = b;

	return compare_timings(x->self_ns, y->self_ns, x, y);
}

static int by_total(const void *a, const void *b)
{
	const struct gk_trace_row *x = a, *y = b;

	return compare_timings(x->total_ns, y->total_ns, x, y);
}

static double to_ms(uint64_t ns)
{
	return (double)ns / 1e6;
}

void gk_format_timings(struct gk_buf *out, struct gk_trace_row *rows,
		       size_t count, enum gk_timings_sort sort)
{
	if (count)
		qsort(rows, count, sizeof *rows,
		      sort == GK_TIMINGS_SELF ? by_self : by_total);
	gk_buf_printf(out, "%8s %12s %14s %12s %12s  %s\n", "calls", "self ms",
		      "cumulative ms", "per call ms", "max ms", "name");
	for (size_t i = 0; i < count; i++)
		gk_buf_printf(out,
			      "%8" PRIu64 " %12.3f %14.3f %12.4f %12.3f  %s\n",
			      rows[i].calls, to_ms(rows[i].self_ns),
			      to_ms(rows[i].total_ns),
			      to_ms(rows[i].total_ns) / (double)rows[i].calls,
			      to_ms(rows[i].max_ns), rows[i].name);
}

void gk_timings_sum(struct gk_timings_sum *sum, const struct gk_trace_row *rows,
		    size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct gk_trace_row *row = &rows[i];

		if (!strcmp(row->name, GK_SPAN_LOAD))
			sum->load_ns += row->total_ns;
		if (!strcmp(row->name, "nvmlInit_v2"))
			sum->init_ns += row->total_ns;
		if (strncmp(row->name, "nvml", 4) != 0)
			continue;
		sum->nvml_ns += row->total_ns;
		sum->nvml_calls += row->calls;
	}
}

void gk_format_timings_sum(struct gk_buf *out, const struct gk_timings_sum *sum)
{
	gk_buf_printf(out,
		      "start-up %.3f ms of CPU time, then %.3f ms; NVML: "
		      "loaded in %.3f ms, initialised in %.3f ms, %" PRIu64
		      " calls in %.3f ms\n",
		      to_ms(sum->startup_ns), to_ms(sum->total_ns),
		      to_ms(sum->load_ns), to_ms(sum->init_ns), sum->nvml_calls,
		      to_ms(sum->nvml_ns));
}

static void add_sum_object(struct gk_buf *out, const struct gk_timings_sum *sum)
{
	gk_buf_printf(out,
		      "{\"startup_cpu_ms\":%.6f,\"total_ms\":%.6f,"
		      "\"load_ms\":%.6f,\"init_ms\":%.6f,\"nvml_ms\":%.6f,"
		      "\"nvml_calls\":%" PRIu64 "}",
		      to_ms(sum->startup_ns), to_ms(sum->total_ns),
		      to_ms(sum->load_ns), to_ms(sum->init_ns),
		      to_ms(sum->nvml_ns), sum->nvml_calls);
}

void gk_format_chrome_trace(struct gk_buf *out,
			    const struct gk_trace_event *events, size_t count,
			    int pid, const struct gk_timings_sum *sum)
{
	gk_buf_puts(out, "{\"displayTimeUnit\":\"ms\",\"otherData\":");
	add_sum_object(out, sum);
	gk_buf_puts(out, ",\"traceEvents\":[");
	for (size_t i = 0; i < count; i++) {
		const struct gk_trace_event *e = &events[i];

		gk_buf_puts(out, i ? ",\n{\"name\":" : "\n{\"name\":");
		gk_json_string(out, e->name, strlen(e->name));
		gk_buf_printf(
		    out,
		    ",\"cat\":\"gpukit\",\"ph\":\"X\","
		    "\"ts\":%" PRIu64 ".%03u,\"dur\":%" PRIu64
		    ".%03u,\"pid\":%d,\"tid\":%d}",
		    e->start_ns / 1000, (unsigned)(e->start_ns % 1000),
		    e->duration_ns / 1000, (unsigned)(e->duration_ns % 1000),
		    pid, e->thread);
	}
	gk_buf_puts(out, "\n]}\n");
}
