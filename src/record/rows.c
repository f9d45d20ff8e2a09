/* SPDX-License-Identifier: Apache-2.0 */
/* rows.c - formats a row's fields, and their titles. */
#include "record/rows.h"

#include "base/assert.h"
#include "base/clock.h"
#include "format/csv.h"
#include "format/json.h"
#include "format/names.h"
#include "format/units.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* A row being written. In JSON each value is preceded by its key. */
struct row {
	struct gk_buf *out;
	bool json;
	bool titles; /* write a header: titles instead of values */
	bool more;   /* the row already has a field */
};

/* ---- fields ---- */

/*
 * Begins a field. Returns false if the row is a header, which needs no value.
 */
static bool begin_field(struct row *row, const char *title)
{
	if (row->more)
		gk_buf_putc(row->out, ',');
	row->more = true;
	if (row->titles) {
		gk_buf_puts(row->out, title);
		return false;
	}
	if (row->json)
		gk_buf_printf(row->out, "\"%s\":", title);
	return true;
}

/* Adds a number given as digits. If `digits` is NULL, the number is absent. */
static void put_column_digits(struct row *row, const char *title,
			      const char *digits)
{
	if (begin_field(row, title))
		gk_buf_puts(row->out, digits      ? digits
				      : row->json ? "null"
						  : "");
}

static void put_column_text(struct row *row, const char *title,
			    const char *value)
{
	if (!row->titles && !*value) {
		put_column_digits(row, title, NULL);
		return;
	}
	if (!begin_field(row, title))
		return;
	if (row->json)
		gk_json_string(row->out, value, strlen(value));
	else
		gk_csv_text(row->out, value, true);
}

static void put_column_scaled(struct row *row, const char *title,
			      struct gk_value value, enum gk_unit unit,
			      int64_t divisor)
{
	char digits[GK_UNITS_MAX];

	put_column_digits(row, title,
			  value.why == GK_PRESENT
			      ? gk_number(digits, value.v / divisor, unit)
			      : NULL);
}

static void put_column_mib(struct row *row, const char *title,
			   struct gk_value bytes)
{
	put_column_scaled(row, title, bytes, GK_UNIT_BYTES, 1 << 20);
}

static void begin_csv_row(struct row *row, const char *time)
{
	if (row->json)
		gk_buf_putc(row->out, '{');
	put_column_text(row, "timestamp", time);
}

static void end_csv_row(const struct row *row)
{
	gk_buf_puts(row->out, row->json ? "}\n" : "\n");
}

/* Adds a GPU's index as a number, or a MIG device's as a text such as 0:1. */
static void gpu_index(struct row *row, const struct gk_device *device)
{
	char label[GK_NAME_MAX];

	gk_device_label(label, device);
	if (device->mig_index < 0)
		put_column_digits(row, "gpu_index", label);
	else
		put_column_text(row, "gpu_index", label);
}

static void pid_field(struct row *row, pid_t pid)
{
	char digits[GK_UNITS_MAX];

	put_column_digits(row, "pid", gk_number(digits, pid, GK_UNIT_NONE));
}

/* ---- rows ---- */

static void put_process_columns(struct row *row, const char *time,
				const struct gk_device *d,
				const struct gk_process *p, const char *command)
{
	begin_csv_row(row, time);
	gpu_index(row, d);
	pid_field(row, p->pid);
	put_column_text(row, "cmd", command);
	put_column_mib(row, "gpu_mem_mib", p->m[GK_PM_GPU_MEM]);
	put_column_scaled(row, "sm_util_pct", p->m[GK_PM_SM_UTIL],
			  GK_UNIT_PERCENT, 1);
	put_column_scaled(row, "mem_util_pct", p->m[GK_PM_MEM_UTIL],
			  GK_UNIT_PERCENT, 1);
	end_csv_row(row);
}

/* Adds the last Xids, in order, separated by blanks. */
static void put_column_xids(struct row *row, const struct gk_xids *xids)
{
	char text[GK_XIDS_MAX * 12] = "";
	size_t len = 0;

	for (size_t i = 0; xids && i < xids->count; i++)
		len += (size_t)snprintf(text + len, sizeof text - len, "%s%u",
					i ? " " : "", xids->last[i].number);
	put_column_text(row, "xids", text);
}

static void put_device_columns(struct row *row, const char *time,
			       const struct gk_device *d)
{
	begin_csv_row(row, time);
	gpu_index(row, d);
	put_column_text(row, "name", d->name);
	put_column_text(row, "uuid", d->uuid);
	put_column_text(row, "health", gk_health_name(d->health));
	for (int i = 0; i < GK_M_COUNT; i++)
		put_column_scaled(row, gk_metrics[i].name, d->m[i],
				  gk_metrics[i].unit, 1);
	put_column_xids(row, d->xids);
	end_csv_row(row);
}

static void system_row(struct row *row, const char *time, bool pid_column,
		       const struct gk_system_row *s)
{
	char digits[GK_UNITS_MAX];

	snprintf(digits, sizeof digits, "%lld.%lld", (long long)(s->cpu.v / 10),
		 (long long)(s->cpu.v % 10));
	begin_csv_row(row, time);
	put_column_mib(row, "used_mib", s->used);
	put_column_mib(row, "sys_used_mib", s->sys_used);
	put_column_text(row, "cpu_cores", s->cpus);
	put_column_digits(row, "cpu_pct",
			  s->cpu.why == GK_PRESENT ? digits : NULL);
	if (pid_column)
		pid_field(row, s->pid);
	end_csv_row(row);
}

void gk_row_process(struct gk_buf *out, const struct gk_row_style *style,
		    const char *time, const struct gk_device *d,
		    const struct gk_process *p, const char *command)
{
	struct row row = {.out = out, .json = style->json};

	GK_ASSERT(style->kind == GK_RECORD_PROCESSES);
	put_process_columns(&row, time, d, p, command);
}

void gk_row_device(struct gk_buf *out, const struct gk_row_style *style,
		   const char *time, const struct gk_device *d)
{
	struct row row = {.out = out, .json = style->json};

	GK_ASSERT(style->kind == GK_RECORD_DEVICES);
	put_device_columns(&row, time, d);
}

void gk_row_system(struct gk_buf *out, const struct gk_row_style *style,
		   const char *time, const struct gk_system_row *s)
{
	struct row row = {.out = out, .json = style->json};

	GK_ASSERT(style->kind == GK_RECORD_SYSTEM);
	system_row(&row, time, style->pid_column, s);
}

/* Writes the titles by formatting an empty row. */
void gk_row_header(struct gk_buf *out, const struct gk_row_style *style)
{
	static const struct gk_device no_device = {.mig_index = -1};
	static const struct gk_process no_process;
	struct row row = {.out = out, .titles = true};

	if (style->json)
		return;
	if (style->kind == GK_RECORD_PROCESSES)
		put_process_columns(&row, "", &no_device, &no_process, "");
	else if (style->kind == GK_RECORD_DEVICES)
		put_device_columns(&row, "", &no_device);
	else
		system_row(&row, "", style->pid_column,
			   &(struct gk_system_row){.cpus = ""});
}

char *gk_row_time(char *dst, uint64_t wall_ns, bool milliseconds)
{
	time_t seconds = (time_t)(wall_ns / GK_NS_PER_S);
	struct tm tm = {0};
	size_t len;

	localtime_r(&seconds, &tm);
	len = strftime(dst, GK_ROW_TIME_MAX, "%Y-%m-%dT%H:%M:%S", &tm);
	if (milliseconds)
		snprintf(dst + len, GK_ROW_TIME_MAX - len, ".%03u",
			 (unsigned)(wall_ns % GK_NS_PER_S / GK_NS_PER_MS));
	return dst;
}
