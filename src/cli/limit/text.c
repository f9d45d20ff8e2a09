/* SPDX-License-Identifier: Apache-2.0 */
/* text.c - prints groups as tables. */
#include "base/clock.h"
#include "cli/limit/limit.h"
#include "cli/limit/table.h"
#include "cli/output.h"
#include "format/units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

size_t limit_columns(void)
{
	int columns, rows;

	if (!isatty(STDOUT_FILENO) && !getenv("COLUMNS"))
		return SIZE_MAX;
	gk_terminal_size(&columns, &rows);
	return (size_t)columns;
}

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))

static void cell_size(struct limit_table *table, uint64_t bytes)
{
	char text[GK_UNITS_MAX];

	limit_cell(table, "%s", gk_human_size(text, (int64_t)bytes));
}

/* Writes a size, or "-" if there is no limit. */
static void cell_limit(struct limit_table *table, uint64_t bytes)
{
	if (bytes)
		cell_size(table, bytes);
	else
		limit_cell(table, "-");
}

static void cell_percent(struct limit_table *table, double percent)
{
	if (percent >= 0)
		limit_cell(table, "%.0f%%", percent);
	else
		limit_cell(table, "-");
}

static void cell_seconds(struct limit_table *table, uint64_t ns)
{
	limit_cell(table, "%.1fs", (double)ns / (double)GK_NS_PER_S);
}

static double compute_limit(const struct limit_view *view, unsigned i)
{
	return view->policy.compute[i] ? (double)view->policy.compute[i] : -1;
}

static const char *state_text(const struct limit_view *view)
{
	return view->policy.suspended ? "suspended"
				      : limit_rules[view->policy.rule % 4];
}

/* ---- a row for each device of each group ---- */

static const struct limit_column list_columns[] = {
    {"GROUP", false, 0},  {"PROCESSES", true, 2}, {"GPU", true, 0},
    {"USED", true, 0},    {"LIMIT", true, 1},     {"PEAK", true, 6},
    {"REFUSED", true, 4}, {"TIME", true, 3},      {"SHARE", true, 3},
    {"WAITED", true, 5},  {"STATE", false, 7},
};

static void list_usage(struct limit_table *table, const struct limit_view *view,
		       const struct limit_view_device *device)
{
	limit_cell(table, "%u", device->index);
	cell_size(table, device->total.used);
	cell_limit(table, view->policy.memory[device->index]);
	cell_size(table, device->total.peak);
	limit_cell(table, "%" PRIu64, device->total.refused);
	cell_percent(table, device->share);
	cell_percent(table, compute_limit(view, device->index));
	cell_seconds(table, device->total.throttled_ns);
}

/* Adds a row with the limits of a group that has not used a GPU yet. */
static void list_unused(struct limit_table *table,
			const struct limit_view *view)
{
	bool known = !view->err;

	limit_cell(table, known ? "all" : "-");
	limit_cell(table, "-");
	cell_limit(table, view->policy.memory[GKL_DEVICES - 1]);
	limit_cell(table, "-");
	limit_cell(table, "-");
	limit_cell(table, "-");
	cell_percent(table, compute_limit(view, GKL_DEVICES - 1));
	limit_cell(table, "-");
}

static void list_group(struct limit_table *table, const struct limit_view *view)
{
	unsigned rows = view->device_count ? view->device_count : 1;

	for (unsigned i = 0; i < rows; i++) {
		limit_cell(table, "%s", view->name);
		limit_cell(table, "%zu", view->process_count);
		if (view->device_count)
			list_usage(table, view, &view->devices[i]);
		else
			list_unused(table, view);
		limit_cell(table, "%s",
			   view->err ? gk_strerror(view->err)
				     : state_text(view));
	}
}

void limit_list_text(struct gk_buf *out, const struct limit_views *views,
		     size_t columns)
{
	struct limit_table table = {.columns = list_columns,
				    .count = COUNT(list_columns)};

	if (!views->count) {
		gk_buf_puts(out, "no groups\n");
		return;
	}
	for (size_t i = 0; i < views->count; i++)
		list_group(&table, &views->all[i]);
	limit_table_end(&table, out, columns);
}

/* ---- one group ---- */

static void put_memory(struct gk_buf *out, uint64_t bytes)
{
	char text[GK_UNITS_MAX];

	gk_buf_puts(out, bytes ? gk_human_size(text, (int64_t)bytes) : "all");
}

static void put_share(struct gk_buf *out, uint64_t percent)
{
	gk_buf_printf(out, "%" PRIu64 "%%", percent ? percent : 100);
}

/*
 * Writes "memory: 8GiB of each GPU, 4GiB of GPU 1". The last array element is
 * the limit of GPUs that have no limit of their own.
 */
static void put_limits(struct gk_buf *out, const char *what,
		       const uint64_t *values,
		       void (*put)(struct gk_buf *out, uint64_t value))
{
	uint64_t most = values[GKL_DEVICES - 1];

	gk_buf_printf(out, "%s: ", what);
	put(out, most);
	gk_buf_puts(out, " of each GPU");
	for (unsigned i = 0; i < GKL_DEVICES; i++) {
		if (values[i] == most)
			continue;
		gk_buf_puts(out, ", ");
		put(out, values[i]);
		gk_buf_printf(out, " of GPU %u", i);
	}
}

void limit_limits_text(struct gk_buf *out, const struct gkl_policy *policy,
		       const char *between)
{
	put_limits(out, "memory", policy->memory, put_memory);
	gk_buf_puts(out, between);
	put_limits(out, "time", policy->compute, put_share);
}

static void put_policy(struct gk_buf *out, const struct limit_view *view)
{
	const struct gkl_policy *policy = &view->policy;

	gk_buf_printf(out, "group: %s\npath: %s\n", view->name, view->path);
	limit_limits_text(out, policy, "\n");
	gk_buf_printf(out, "\npolicy: %s, priority %" PRIu64 "%s\n",
		      limit_rules[policy->rule % 4], policy->priority,
		      policy->suspended ? ", suspended" : "");
	gk_buf_printf(out, "contexts: %s\n",
		      policy->contexts_free
			  ? "free: they do not count as memory of the group"
			  : "count as memory");
	if (policy->oversubscribe)
		gk_buf_puts(out, "oversubscribe: what does not fit on the GPU "
				 "is managed memory, within the limit\n");
	if (policy->oom_killer)
		gk_buf_puts(
		    out,
		    "oom killer: a process that is refused memory is killed\n");
}

static const struct limit_column device_columns[] = {
    {"GPU", true, 0},    {"USED", true, 0},     {"LIMIT", true, 1},
    {"PEAK", true, 4},   {"REFUSED", true, 3},  {"TIME", true, 2},
    {"WAITED", true, 5}, {"LAUNCHES", true, 6}, {"UUID", false, 7},
};

static void put_devices(struct gk_buf *out, const struct limit_view *view,
			size_t columns)
{
	struct limit_table table = {.columns = device_columns,
				    .count = COUNT(device_columns)};

	for (unsigned i = 0; i < view->device_count; i++) {
		const struct limit_view_device *device = &view->devices[i];

		limit_cell(&table, "%u", device->index);
		cell_size(&table, device->total.used);
		cell_limit(&table, view->policy.memory[device->index]);
		cell_size(&table, device->total.peak);
		limit_cell(&table, "%" PRIu64, device->total.refused);
		cell_percent(&table, device->share);
		cell_seconds(&table, device->total.throttled_ns);
		limit_cell(&table, "%" PRIu64, device->total.launches);
		limit_cell(&table, "%s",
			   *device->device.uuid ? device->device.uuid : "-");
	}
	gk_buf_putc(out, '\n');
	limit_table_end(&table, out, columns);
}

static void put_kinds(struct gk_buf *out,
		      const struct limit_view_device *device)
{
	const char *before = "";

	for (unsigned kind = 0; kind < GKL_KINDS; kind++) {
		char text[GK_UNITS_MAX];

		if (!device->kinds[kind])
			continue;
		if (!*before)
			gk_buf_printf(out, "GPU %u: ", device->index);
		gk_buf_printf(
		    out, "%s%s %s", before, limit_kinds[kind],
		    gk_human_size(text, (int64_t)device->kinds[kind]));
		before = ", ";
	}
	if (*before)
		gk_buf_putc(out, '\n');
}

static const struct limit_column process_columns[] = {
    {"PID", true, 0},      {"GPU", true, 0},      {"USED", true, 0},
    {"PEAK", true, 3},     {"REFUSED", true, 2},  {"WAITED", true, 4},
    {"LAUNCHES", true, 5}, {"COMMAND", false, 1},
};

static bool uses_device(const struct gkl_process *process, unsigned i)
{
	return process->held[i] || process->peak[i] || process->refused[i] ||
	       process->launches[i];
}

static void put_process(struct limit_table *table,
			const struct gkl_process *process)
{
	char command[64] = "(ended, other processes hold its memory)";

	if (!process->ended)
		limit_process_command(process, command, sizeof command);
	for (unsigned i = 0; i < GKL_DEVICES; i++) {
		if (!uses_device(process, i))
			continue;
		limit_cell(table, "%d", (int)process->pid);
		limit_cell(table, "%u", i);
		cell_size(table, process->held[i]);
		cell_size(table, process->peak[i]);
		limit_cell(table, "%" PRIu64, process->refused[i]);
		cell_seconds(table, process->throttled_ns[i]);
		limit_cell(table, "%" PRIu64, process->launches[i]);
		limit_cell(table, "%s", *command ? command : "?");
	}
}

static void put_processes(struct gk_buf *out, const struct limit_view *view,
			  size_t columns)
{
	struct limit_table table = {.columns = process_columns,
				    .count = COUNT(process_columns)};

	for (size_t i = 0; i < view->process_count; i++)
		put_process(&table, &view->processes[i]);
	gk_buf_putc(out, '\n');
	limit_table_end(&table, out, columns);
}

void limit_view_text(struct gk_buf *out, const struct limit_view *view,
		     size_t columns)
{
	put_policy(out, view);
	if (!view->device_count) {
		gk_buf_puts(out, "\nno process has used a GPU yet\n");
		return;
	}
	put_devices(out, view, columns);
	for (unsigned i = 0; i < view->device_count; i++)
		put_kinds(out, &view->devices[i]);
	if (view->process_count)
		put_processes(out, view, columns);
}
