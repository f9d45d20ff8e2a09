/* tape.c - turns the snapshots of a tape into rows of a chart. */
#include "cli/plot/tape.h"
#include "base/clock.h"
#include "base/units.h"
#include "record/tape.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* The texts of a row, which fields point into. */
struct row {
	struct gk_plot_row row;
	char gpu[16], pid[16];
};

static void set_quantity(struct gk_plot_row *row,
			 enum gk_plot_quantity quantity,
			 const struct gk_value *value, double scale)
{
	if (value->why == GK_PRESENT)
		row->value[quantity] = (double)value->v / scale;
}

/* As `gpukit record` writes times: local, and counted as if it were UTC. */
static int64_t local_ms(uint64_t wall_ns)
{
	time_t seconds = (time_t)(wall_ns / GK_NS_PER_S);
	struct tm tm;

	localtime_r(&seconds, &tm);
	return (int64_t)(wall_ns / GK_NS_PER_MS) + tm.tm_gmtoff * 1000LL;
}

static struct gk_plot_row *begin_plot_row(struct row *row,
					  const struct gk_snapshot *snap)
{
	row->row = (struct gk_plot_row){.time_ms = local_ms(snap->wall_ns)};
	row->gpu[0] = row->pid[0] = '\0';
	row->row.gpu.text = row->row.command.text = row->gpu;
	row->row.pid.text = row->pid;
	for (int q = 0; q < GK_PLOT_QUANTITIES; q++)
		row->row.value[q] = (double)NAN;
	return &row->row;
}

static void name_gpu(struct row *row, unsigned index)
{
	row->row.gpu.len =
	    (size_t)snprintf(row->gpu, sizeof row->gpu, "%u", index);
}

/* Values of processes are left to their own rows. */
static int plot_tape_device(struct gk_plot_chart *chart,
			    const struct gk_snapshot *snap,
			    const struct gk_device *dev)
{
	struct row row;
	struct gk_plot_row *to = begin_plot_row(&row, snap);

	/* The values of a GPU that does not answer are old ones. */
	if (dev->health == GK_HEALTH_STALE)
		return 0;
	name_gpu(&row, dev->index);
	if (chart->group[GK_PLOT_MEMORY] != GK_PLOT_PER_PID)
		set_quantity(to, GK_PLOT_MEMORY, &dev->m[GK_M_MEM_USED], MIB);
	if (chart->group[GK_PLOT_UTILIZATION] != GK_PLOT_PER_PID)
		set_quantity(to, GK_PLOT_UTILIZATION, &dev->m[GK_M_GPU_UTIL],
			     1);
	set_quantity(to, GK_PLOT_POWER, &dev->m[GK_M_POWER], 1000);
	set_quantity(to, GK_PLOT_TEMPERATURE, &dev->m[GK_M_TEMP], 1);
	return gk_plot_chart_add(chart, to);
}

static int plot_tape_process(struct gk_plot_chart *chart,
			     const struct gk_snapshot *snap,
			     const struct gk_process *p)
{
	struct row row;
	struct gk_plot_row *to = begin_plot_row(&row, snap);

	name_gpu(&row, snap->devices[p->device].index);
	to->pid.len =
	    (size_t)snprintf(row.pid, sizeof row.pid, "%d", (int)p->pid);
	to->command = (struct gk_csv_field){p->command, strlen(p->command)};
	if (chart->group[GK_PLOT_MEMORY] == GK_PLOT_PER_PID)
		set_quantity(to, GK_PLOT_MEMORY, &p->m[GK_PM_GPU_MEM], MIB);
	if (chart->group[GK_PLOT_UTILIZATION] == GK_PLOT_PER_PID)
		set_quantity(to, GK_PLOT_UTILIZATION, &p->m[GK_PM_SM_UTIL], 1);
	set_quantity(to, GK_PLOT_CPU, &p->m[GK_PM_CPU], 100);
	return gk_plot_chart_add(chart, to);
}

static int plot_tape_host(struct gk_plot_chart *chart,
			  const struct gk_snapshot *snap)
{
	const struct gk_host *host = &snap->host;
	struct row row;
	struct gk_plot_row *to = begin_plot_row(&row, snap);

	if (host->mem_total.why == GK_PRESENT &&
	    host->mem_available.why == GK_PRESENT)
		to->value[GK_PLOT_SYSTEM_MEMORY] =
		    (double)(host->mem_total.v - host->mem_available.v) / MIB;
	return gk_plot_chart_add(chart, to);
}

static int add_snapshot(struct gk_plot_chart *chart,
			const struct gk_snapshot *snap)
{
	int r = plot_tape_host(chart, snap);

	for (size_t i = 0; i < snap->device_count && !r; i++)
		if (snap->devices[i].mig_index < 0)
			r = plot_tape_device(chart, snap, &snap->devices[i]);
	for (size_t i = 0; i < snap->process_count && !r; i++)
		r = plot_tape_process(chart, snap, &snap->processes[i]);
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
