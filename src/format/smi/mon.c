/* SPDX-License-Identifier: Apache-2.0 */
/* mon.c - prints the columns of pmon and dmon. */
#include "format/smi/mon.h"
#include "base/array.h"

#include "base/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define MEBI (1LL << 20)
#define MEGA 1000000

/* How a metric's number is converted for a cell. */
enum how {
	DIVIDED,    /* divided by scale, truncated */
	ROUNDED_UP, /* divided by scale, rounded up */
	/*
	 * growth of the counter since the previous line, in percent of the time
	 * since then
	 */
	SHARE,
	GREW, /* 1 if the counter has grown since the previous line, else 0 */
};

static const struct column {
	char group;
	const char *title, *unit;
	enum gk_metric metric;
	enum how how;
	int64_t scale;
	gk_smi_when when; /* 0: all drivers */
} device_columns[] = {
    {'p', "pwr", "W", GK_M_POWER, DIVIDED, 1000, 0},
    {'p', "gtemp", "C", GK_M_TEMP, DIVIDED, 1, 0},
    {'p', "mtemp", "C", GK_M_TEMP_MEM, DIVIDED, 1, 0},
    {'u', "sm", "%", GK_M_GPU_UTIL, DIVIDED, 1, 0},
    {'u', "mem", "%", GK_M_MEM_UTIL, DIVIDED, 1, 0},
    {'u', "enc", "%", GK_M_ENC_UTIL, DIVIDED, 1, 0},
    {'u', "dec", "%", GK_M_DEC_UTIL, DIVIDED, 1, 0},
    {'u', "jpg", "%", GK_M_JPG_UTIL, DIVIDED, 1, SINCE(535)},
    {'u', "ofa", "%", GK_M_OFA_UTIL, DIVIDED, 1, SINCE(535)},
    {'c', "mclk", "MHz", GK_M_MEM_CLOCK, DIVIDED, MEGA, 0},
    {'c', "pclk", "MHz", GK_M_SM_CLOCK, DIVIDED, MEGA, 0},
    {'v', "pviol", "%", GK_M_HELD_POWER, SHARE, 1, 0},
    {'v', "tviol", "bool", GK_M_HELD_THERMAL, GREW, 1, 0},
    {'m', "fb", "MB", GK_M_MEM_USED, ROUNDED_UP, MEBI, 0},
    {'m', "bar1", "MB", GK_M_BAR1_USED, ROUNDED_UP, MEBI, 0},
    {'m', "ccpm", "MB", GK_M_PROTECTED_USED, ROUNDED_UP, MEBI, SINCE(535)},
    {'e', "sbecc", "errs", GK_M_ECC_CORRECTED, DIVIDED, 1, 0},
    {'e', "dbecc", "errs", GK_M_ECC_UNCORRECTED, DIVIDED, 1, 0},
    {'e', "pci", "errs", GK_M_PCIE_REPLAY, DIVIDED, 1, 0},
    {'t', "rxpci", "MB/s", GK_M_PCIE_RX, DIVIDED, MEGA, 0},
    {'t', "txpci", "MB/s", GK_M_PCIE_TX, DIVIDED, MEGA, 0},
};

/* The columns of pmon. NOTHING: snapshots have no such metric. */
#define NOTHING GK_PM_COUNT
static const struct process_column {
	char group;
	const char *title, *unit;
	enum gk_process_metric metric;
	int64_t scale;
	gk_smi_when when;
} process_columns[] = {
    {'u', "sm", "%", GK_PM_SM_UTIL, 1, 0},
    {'u', "mem", "%", GK_PM_MEM_UTIL, 1, 0},
    {'u', "enc", "%", GK_PM_ENC_UTIL, 1, 0},
    {'u', "dec", "%", GK_PM_DEC_UTIL, 1, 0},
    {'u', "jpg", "%", NOTHING, 1, SINCE(535)},
    {'u', "ofa", "%", NOTHING, 1, SINCE(535)},
    {'m', "fb", "MB", GK_PM_GPU_MEM, MEBI, 0},
    {'m', "ccpm", "MB", NOTHING, MEBI, SINCE(535)},
};

/*
 * The width of columns, the text at the end of a line, and the columns of the
 * titles of a process's id and type. Captures of dmon show that drivers of
 * branch 530 already had the width of newer ones.
 */
static const struct mon_form {
	gk_smi_when when;
	int width;
	const char *end;
	int pid, type;
} mon_forms[] = {
    {UNTIL(529), 6, "", 11, 6},
    {UNTIL(534), 7, "", 12, 7},
    {SINCE(535), 7, " ", 12, 7},
};

static const struct mon_form *form_of(const struct gk_snapshot *snap)
{
	const struct mon_form *form = mon_forms;

	while (!gk_smi_fits(form->when, gk_smi_level(snap)))
		form++;
	return form;
}

static bool is_shown(const struct gk_smi_mon *mon,
		     const struct gk_snapshot *snap, char group,
		     gk_smi_when when)
{
	return strchr(mon->groups, group) &&
	       gk_smi_fits(when, gk_smi_level(snap));
}

/* Adds the date and time of a line, or the titles of these columns. */
static void add_moment(struct gk_buf *out, const struct gk_smi_mon *mon,
		       const char *date, const char *time)
{
	int width = mon->csv ? 0 : 12;
	const char *end = mon->csv ? ", " : "";

	if (mon->moment & GK_SMI_WITH_DATE)
		gk_buf_printf(out, "%-*s%s", width, date, end);
	if (mon->moment & GK_SMI_WITH_TIME)
		gk_buf_printf(out, "%-*s%s", width, time, end);
}

static void add_snapshot_time(struct gk_buf *out, const struct gk_smi_mon *mon,
			      const struct gk_snapshot *snap)
{
	time_t s = (time_t)(snap->wall_ns / GK_NS_PER_S);
	char date[16], time[16];
	struct tm tm;

	localtime_r(&s, &tm);
	strftime(date, sizeof date, "%Y%m%d", &tm);
	strftime(time, sizeof time, "%H:%M:%S", &tm);
	add_moment(out, mon, date, time);
}

/* ---- dmon ---- */

static bool is_device_shown(const struct gk_smi_mon *mon,
			    const struct gk_snapshot *snap, size_t column)
{
	return is_shown(mon, snap, device_columns[column].group,
			device_columns[column].when);
}

/* The width of a GPM metric's column. */
enum { GPM_WIDTH = 11 };

/* Adds a cell after the first one of its line. */
static void add_cell(struct gk_buf *out, const struct gk_smi_mon *mon,
		     int width, const char *text)
{
	if (mon->csv)
		gk_buf_printf(out, ", %s", text);
	else
		gk_buf_printf(out, "%*s", width, text);
}

/*
 * Adds a line of titles or units; the caller gives the first cell, date and
 * time.
 */
static void dmon_title(struct gk_buf *out, const struct gk_snapshot *snap,
		       const struct gk_smi_mon *mon, const char *gpu,
		       const char *date, const char *time, bool units)
{
	struct gk_smi_gpm_column gpm;

	gk_buf_putc(out, '#');
	add_moment(out, mon, date, time);
	gk_buf_printf(out, "%*s", mon->csv ? 0 : 4, gpu);
	for (size_t i = 0; i < COUNT(device_columns); i++)
		if (is_device_shown(mon, snap, i))
			add_cell(out, mon, form_of(snap)->width,
				 units ? device_columns[i].unit
				       : device_columns[i].title);
	for (size_t i = 0; i < mon->gpm_count; i++)
		if (gk_smi_gpm_column(mon->gpm[i], &gpm))
			add_cell(out, mon, GPM_WIDTH,
				 units ? gpm.unit : gpm.title);
	gk_buf_printf(out, "%s\n", mon->csv ? "" : form_of(snap)->end);
}

void gk_smi_dmon_titles(struct gk_buf *out, const struct gk_snapshot *snap,
			const struct gk_smi_mon *mon)
{
	if (!mon->no_titles)
		dmon_title(out, snap, mon, "gpu", "Date", "Time", false);
	if (!mon->no_units)
		dmon_title(out, snap, mon, "Idx", "YYYYMMDD", "HH:MM:SS", true);
}

/*
 * Returns the growth of a counter, or 0 if it was reset or there is no earlier
 * snapshot.
 */
static int64_t counter_growth(const struct gk_device *d,
			      const struct gk_device *before,
			      enum gk_metric metric)
{
	if (!before || before->m[metric].why ||
	    d->m[metric].v < before->m[metric].v)
		return 0;
	return d->m[metric].v - before->m[metric].v;
}

static int64_t shown_value(const struct column *column,
			   const struct gk_device *d,
			   const struct gk_device *before, uint64_t period_ns)
{
	int64_t v = d->m[column->metric].v;

	switch (column->how) {
	case ROUNDED_UP:
		return (v + column->scale - 1) / column->scale;
	case SHARE:
		v = counter_growth(d, before, column->metric) * 100;
		return period_ns ? v / (int64_t)period_ns : 0;
	case GREW:
		return counter_growth(d, before, column->metric) > 0;
	case DIVIDED:
	default:
		return v / column->scale;
	}
}

static const struct gk_device *same_device(const struct gk_snapshot *before,
					   const struct gk_device *d)
{
	for (size_t i = 0; before && i < before->device_count; i++)
		if (before->devices[i].mig_index < 0 &&
		    before->devices[i].index == d->index)
			return &before->devices[i];
	return NULL;
}

static void device_cell(struct gk_buf *out, const struct gk_smi_mon *mon,
			int width, const struct column *column,
			const struct gk_device *d,
			const struct gk_device *before, uint64_t period)
{
	char text[32] = "-";

	if (!d->m[column->metric].why)
		snprintf(text, sizeof text, "%" PRId64,
			 shown_value(column, d, before, period));
	add_cell(out, mon, width, text);
}

/* Numbers are truncated, like those of the other columns. */
static void gpm_cell(struct gk_buf *out, const struct gk_smi_mon *mon,
		     double value)
{
	char text[32] = "-";

	if (value > -1e18 && value < 1e18) /* false for NAN */
		snprintf(text, sizeof text, "%" PRId64, (int64_t)value);
	add_cell(out, mon, GPM_WIDTH, text);
}

void gk_smi_dmon(struct gk_buf *out, const struct gk_snapshot *snap,
		 const struct gk_snapshot *before, const double *gpm,
		 const struct gk_smi_mon *mon)
{
	uint64_t period = before ? snap->mono_ns - before->mono_ns : 0;
	const struct mon_form *form = form_of(snap);

	for (size_t i = 0; i < snap->device_count; i++) {
		const struct gk_device *d = &snap->devices[i];

		if (d->mig_index >= 0)
			continue;
		if (!mon->csv)
			gk_buf_putc(out, ' ');
		add_snapshot_time(out, mon, snap);
		gk_buf_printf(out, "%*u", mon->csv ? 0 : 4, d->index);
		for (size_t c = 0; c < COUNT(device_columns); c++)
			if (is_device_shown(mon, snap, c))
				device_cell(out, mon, form->width,
					    &device_columns[c], d,
					    same_device(before, d), period);
		for (size_t k = 0; k < mon->gpm_count; k++)
			gpm_cell(out, mon, gpm[i * mon->gpm_count + k]);
		gk_buf_printf(out, "%s\n", mon->csv ? "" : form->end);
	}
}

void gk_smi_dmon_wanted(const struct gk_smi_mon *mon, struct gk_metric_set *set)
{
	for (size_t i = 0; i < COUNT(device_columns); i++)
		if (strchr(mon->groups, device_columns[i].group))
			gk_metric_set_add(set, device_columns[i].metric);
}

/* ---- pmon ---- */

static bool is_process_shown(const struct gk_smi_mon *mon,
			     const struct gk_snapshot *snap, size_t column)
{
	return is_shown(mon, snap, process_columns[column].group,
			process_columns[column].when);
}

void gk_smi_pmon_titles(struct gk_buf *out, const struct gk_snapshot *snap,
			const struct gk_smi_mon *mon)
{
	const struct mon_form *form = form_of(snap);
	/* the blanks before the last column */
	int gap = form->width - 3;

	gk_buf_putc(out, '#');
	add_moment(out, mon, "Date", "Time");
	gk_buf_printf(out, " gpu%*s%*s", form->pid, "pid", form->type, "type");
	for (size_t i = 0; i < COUNT(process_columns); i++)
		if (is_process_shown(mon, snap, i))
			gk_buf_printf(out, "%*s", form->width,
				      process_columns[i].title);
	gk_buf_printf(out, "%*scommand%s\n#", gap, "", form->end);
	add_moment(out, mon, "YYYYMMDD", "HH:MM:SS");
	gk_buf_printf(out, " Idx%*s%*s", form->pid, "#", form->type, "C/G");
	for (size_t i = 0; i < COUNT(process_columns); i++)
		if (is_process_shown(mon, snap, i))
			gk_buf_printf(out, "%*s", form->width,
				      process_columns[i].unit);
	gk_buf_printf(out, "%*sname%s\n", gap, "", form->end);
}

/*
 * Shows a utilisation of 0 as absent. The protected memory of a process is not
 * known, but it is 0 if the GPU has no protected memory at all.
 */
static void process_cell(struct gk_buf *out, int width,
			 const struct process_column *column,
			 const struct gk_process *p, const struct gk_device *d)
{
	struct gk_value protected = d->m[GK_M_PROTECTED_TOTAL];
	struct gk_value value = {.why = GK_ABSENT_NOT_SUPPORTED};

	if (column->metric != NOTHING)
		value = p->m[column->metric];
	else if (column->group == 'm' && !protected.why && !protected.v)
		value.why = GK_PRESENT;
	if (value.why || (!value.v && column->group == 'u'))
		gk_buf_printf(out, "%*s", width, "-");
	else
		gk_buf_printf(out, "%*" PRId64, width,
			      (value.v + column->scale - 1) / column->scale);
}

/* Adds the last part of the program's path, cut to 15 bytes. */
static void add_mon_command(struct gk_buf *out, int gap,
			    const struct gk_process *p)
{
	struct gk_buf name = {0};
	const char *base, *slash;

	gk_smi_process_name(&name, p);
	base = name.data ? name.data : "";
	slash = strrchr(base, '/');
	gk_buf_printf(out, "%*s%-15.15s\n", gap, "", slash ? slash + 1 : base);
	out->failed |= name.failed;
	gk_buf_free(&name);
}

static void add_mon_line(struct gk_buf *out, const struct gk_snapshot *snap,
			 const struct gk_device *d, const struct gk_process *p,
			 const struct gk_smi_mon *mon)
{
	const struct mon_form *form = form_of(snap);
	int gap = form->width - 3;

	gk_buf_putc(out, ' ');
	add_snapshot_time(out, mon, snap);
	if (p)
		gk_buf_printf(out, "%4u%11d%6s", d->index, (int)p->pid,
			      gk_smi_process_type(p));
	else
		gk_buf_printf(out, "%4u%11s%6s", d->index, "-", "-");
	for (size_t i = 0; i < COUNT(process_columns); i++) {
		if (!is_process_shown(mon, snap, i))
			continue;
		if (p)
			process_cell(out, form->width, &process_columns[i], p,
				     d);
		else
			gk_buf_printf(out, "%*s", form->width, "-");
	}
	if (p)
		add_mon_command(out, gap, p);
	else
		gk_buf_printf(out, "%*s%-15s\n", gap, "", "-");
}

void gk_smi_pmon(struct gk_buf *out, const struct gk_snapshot *snap,
		 const struct gk_smi_mon *mon)
{
	for (size_t i = 0; i < snap->device_count; i++) {
		const struct gk_device *d = &snap->devices[i];
		bool any = false;

		if (d->mig_index >= 0)
			continue;
		for (size_t k = 0; k < snap->process_count; k++) {
			const struct gk_process *p = &snap->processes[k];

			if (snap->devices[p->device].index != d->index)
				continue;
			add_mon_line(out, snap, d, p, mon);
			any = true;
		}
		if (!any)
			add_mon_line(out, snap, d, NULL, mon);
	}
}

void gk_smi_pmon_wanted(const struct gk_smi_mon *mon, struct gk_metric_set *set)
{
	if (strchr(mon->groups, 'm'))
		gk_metric_set_add(set, GK_M_PROTECTED_TOTAL);
}
