/* SPDX-License-Identifier: Apache-2.0 */
/* tape.c - turns the snapshots of a tape into rows of a chart. */
#include "cli/plot/tape.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/units.h"
#include "core/read/gate.h"
#include "format/names.h"
#include "record/tape.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* A row, and the storage of the texts that its fields point to. */
struct row {
	struct gk_plot_row row;
	char gpu[GK_NAME_MAX], pid[16];
};

static const struct {
	enum gk_metric metric;
	enum gk_plot_quantity quantity;
	double scale;
} metrics[] = {
    {GK_M_GPU_UTIL, GK_PLOT_BUSY, 1},
    {GK_M_MEM_USED, GK_PLOT_MEMORY, MIB},
    {GK_M_POWER, GK_PLOT_POWER, 1000},
    {GK_M_TEMP, GK_PLOT_TEMPERATURE, 1},
    {GK_M_MEM_TOTAL, GK_PLOT_MEMORY_TOTAL, MIB},
    {GK_M_POWER_ENFORCED, GK_PLOT_POWER_LIMIT, 1000},
    {GK_M_POWER_LIMIT, GK_PLOT_POWER_LIMIT, 1000},
    {GK_M_TEMP_SLOWDOWN, GK_PLOT_TEMPERATURE_LIMIT, 1},
    {GK_M_SM_CLOCK, GK_PLOT_CLOCK, 1},
    {GK_M_SM_CLOCK_MAX, GK_PLOT_CLOCK_MAX, 1},
    {GK_M_THROTTLE, GK_PLOT_REASONS, 1},
    {GK_M_ECC_UNCORRECTED, GK_PLOT_ECC, 1},
    {GK_M_XID_COUNT, GK_PLOT_XIDS, 1},
    {GK_M_XID_LAST, GK_PLOT_XID, 1},
    {GK_M_ENERGY, GK_PLOT_ENERGY, 1000},
};

static void set_quantity(struct gk_plot_row *row,
			 enum gk_plot_quantity quantity,
			 const struct gk_value *value, double scale)
{
	if (value->why == GK_PRESENT && !gk_plot_row_has(row, quantity))
		gk_plot_row_set(row, quantity, (double)value->v / scale);
}

static void note_nonsense(struct gk_plot_row *row,
			  const struct gk_metric_info *infos, size_t count,
			  const struct gk_value *values)
{
	for (size_t i = 0; i < count; i++)
		if (values[i].why == GK_ABSENT_NONSENSE)
			gk_plot_note_nonsense(
			    &row->nonsense, infos[i].name,
			    (double)values[i].v /
				(double)gk_unit_scale(infos[i].unit));
}

static bool is_of_devices(const char *name)
{
	for (size_t i = 0; i < GK_M_COUNT; i++)
		if (!strcmp(gk_metrics[i].name, name))
			return true;
	return false;
}

/*
 * Sets the columns that the user requested by name. If GPUs and processes have
 * a metric of the same name, the name refers to that of GPUs.
 */
static void set_asked(const struct gk_plot_chart *chart,
		      struct gk_plot_row *row,
		      const struct gk_metric_info *infos, size_t count,
		      const struct gk_value *values)
{
	for (unsigned i = 0; i < chart->asked.count; i++)
		for (size_t k = 0; k < count; k++)
			if (!strcmp(infos[k].name, chart->asked.names[i]) &&
			    (infos == gk_metrics ||
			     !is_of_devices(infos[k].name)))
				set_quantity(
				    row,
				    (enum gk_plot_quantity)(GK_PLOT_ASKED + i),
				    &values[k],
				    (double)gk_unit_scale(infos[k].unit));
}

/*
 * Converts to the time format of `gpukit record`: local time, counted as if it
 * were UTC.
 */
static int64_t local_ms(uint64_t wall_ns)
{
	time_t seconds = (time_t)(wall_ns / GK_NS_PER_S);
	struct tm tm;

	localtime_r(&seconds, &tm);
	return (int64_t)(wall_ns / GK_NS_PER_MS) + tm.tm_gmtoff * 1000LL;
}

static struct gk_plot_row *begin_plot_row(struct row *row, int64_t time_ms)
{
	gk_plot_row_clear(&row->row);
	row->row.time_ms = time_ms;
	return &row->row;
}

static void name_gpu(struct row *row, const struct gk_device *dev)
{
	gk_device_label(row->gpu, dev);
	row->row.gpu = (struct gk_csv_field){row->gpu, strlen(row->gpu)};
}

/* Sets the most recent Xids, as many as fit into a row. */
static void set_xids(struct gk_plot_row *row, const struct gk_xids *xids)
{
	size_t count = xids ? xids->count : 0;
	size_t from = count > GK_PLOT_XIDS_MAX ? count - GK_PLOT_XIDS_MAX : 0;

	for (size_t i = from; i < count; i++)
		row->xids[row->xid_count++] = (int)xids->last[i].number;
}

static int plot_tape_device(struct gk_plot_chart *chart, int64_t time_ms,
			    const struct gk_device *dev)
{
	struct row row;
	struct gk_plot_row *to = begin_plot_row(&row, time_ms);

	name_gpu(&row, dev);
	to->model = (struct gk_csv_field){dev->name, strlen(dev->name)};
	to->lost = dev->health == GK_HEALTH_LOST;
	to->silent = dev->health != GK_HEALTH_OK;
	/*
	 * If a GPU does not answer, its values are out of date and are left
	 * out.
	 */
	if (dev->health == GK_HEALTH_STALE)
		return gk_plot_chart_add(chart, to);
	for (size_t i = 0; i < COUNT(metrics); i++)
		set_quantity(to, metrics[i].quantity,
			     &dev->m[metrics[i].metric], metrics[i].scale);
	set_asked(chart, to, gk_metrics, GK_M_COUNT, dev->m);
	note_nonsense(to, gk_metrics, GK_M_COUNT, dev->m);
	set_xids(to, dev->xids);
	return gk_plot_chart_add(chart, to);
}

static int plot_tape_process(struct gk_plot_chart *chart, int64_t time_ms,
			     const struct gk_snapshot *snap,
			     const struct gk_process *p)
{
	const char *command = *p->command ? p->command : p->name;
	struct row row;
	struct gk_plot_row *to = begin_plot_row(&row, time_ms);

	to->alone = true;
	name_gpu(&row, &snap->devices[p->device]);
	to->pid.len =
	    (size_t)snprintf(row.pid, sizeof row.pid, "%d", (int)p->pid);
	to->pid.text = row.pid;
	to->command = (struct gk_csv_field){command, strlen(command)};
	set_quantity(to, GK_PLOT_MEMORY, &p->m[GK_PM_GPU_MEM], MIB);
	set_quantity(to, GK_PLOT_BUSY, &p->m[GK_PM_SM_UTIL], 1);
	set_quantity(to, GK_PLOT_CPU, &p->m[GK_PM_CPU], 100);
	set_asked(chart, to, gk_process_metrics, GK_PM_COUNT, p->m);
	note_nonsense(to, gk_process_metrics, GK_PM_COUNT, p->m);
	return gk_plot_chart_add(chart, to);
}

static int plot_tape_host(struct gk_plot_chart *chart, int64_t time_ms,
			  const struct gk_host *host)
{
	struct row row;
	struct gk_plot_row *to = begin_plot_row(&row, time_ms);

	to->alone = true;
	if (host->mem_total.why == GK_PRESENT &&
	    host->mem_available.why == GK_PRESENT)
		gk_plot_row_set(
		    to, GK_PLOT_HOST_MEMORY,
		    (double)(host->mem_total.v - host->mem_available.v) / MIB);
	return gk_plot_chart_add(chart, to);
}

static int add_snapshot(struct gk_plot_chart *chart,
			const struct gk_snapshot *snap)
{
	int64_t ms = local_ms(snap->wall_ns);
	int r = plot_tape_host(chart, ms, &snap->host);

	if (!chart->file->host[0])
		gk_str_copy(chart->file->host, sizeof chart->file->host,
			    snap->host.hostname);
	for (size_t i = 0; i < snap->device_count && !r; i++)
		r = plot_tape_device(chart, ms, &snap->devices[i]);
	for (size_t i = 0; i < snap->process_count && !r; i++)
		r = plot_tape_process(chart, ms, snap, &snap->processes[i]);
	return r;
}

int gk_plot_tape(const char *path, struct gk_plot_chart *chart,
		 struct gk_plot_losses *ret_losses)
{
	struct gk_plot_losses losses = {0};
	struct gk_snapshot *snap;
	struct gk_tape *tape;
	int r = gk_tape_open(path, &tape);

	if (r)
		return r;
	chart->file->processes = true;
	for (size_t i = 0; i < gk_tape_count(tape) && !r; i++) {
		if (gk_tape_read(tape, i, &snap)) {
			losses.snapshots++;
			continue;
		}
		r = add_snapshot(chart, snap);
		gk_snapshot_free(snap);
	}
	losses.bytes = gk_tape_damaged(tape);
	gk_tape_close(tape);
	*ret_losses = losses;
	return r ? r : gk_plot_chart_end(chart);
}
