/* SPDX-License-Identifier: Apache-2.0 */
/* csv.c - formats a snapshot as rows of CSV. */
#include "format/csv.h"

#include "format/names.h"
#include "format/units.h"
#include "format/width.h"

#include <string.h>

static const char device_columns[] =
    "time,index,mig_index,name,uuid,bus_id,serial,health,process_count";
static const char process_columns[] =
    "time,index,mig_index,uuid,pid,ppid,types,state,user,name,command,"
    "container";

static bool needs_quotes(const char *text, size_t len)
{
	return len && (strpbrk(text, ",\"\n") || text[0] == ' ' ||
		       text[len - 1] == ' ');
}

/*
 * Adds a text and doubles its quotes. Newlines become '?' unless `lines` is
 * true.
 */
static void add_inside(struct gk_buf *out, const char *text, bool lines)
{
	const char *stops = lines ? "\"\n" : "\"";

	while (*text) {
		size_t run = strcspn(text, stops);

		gk_add_clean(out, text, run);
		text += run;
		if (*text)
			gk_buf_puts(out, *text++ == '"' ? "\"\"" : "\n");
	}
}

void gk_csv_text(struct gk_buf *out, const char *text, bool lines)
{
	size_t len = strlen(text);
	bool quotes = needs_quotes(text, len);

	if (quotes)
		gk_buf_putc(out, '"');
	if (gk_str_is_formula(text, len))
		gk_buf_putc(out, '\'');
	add_inside(out, text, lines);
	if (quotes)
		gk_buf_putc(out, '"');
}

/* Adds a field and a comma; end_row() removes the last comma of the row. */
static void put_csv_text(struct gk_buf *out, const char *value)
{
	gk_csv_text(out, value, false);
	gk_buf_putc(out, ',');
}

static void put_csv_number(struct gk_buf *out, int64_t value, bool present)
{
	char digits[GK_UNITS_MAX];

	if (present)
		gk_buf_puts(out, gk_number(digits, value, GK_UNIT_NONE));
	gk_buf_putc(out, ',');
}

/* Metrics that are read only on request have no column, except those of
 * PCIe. */
static bool is_column(const struct gk_metric_info *info)
{
	return info->tier != GK_TIER_DETAIL && info->tier != GK_TIER_EVENT &&
	       info->tier != GK_TIER_HOST_ASKED;
}

static void put_csv_metrics(struct gk_buf *out,
			    const struct gk_metric_info *info,
			    const struct gk_value *values, size_t count)
{
	char digits[GK_UNITS_MAX];

	for (size_t i = 0; i < count; i++) {
		if (!is_column(&info[i]))
			continue;
		if (values[i].why == GK_PRESENT)
			gk_buf_puts(
			    out, gk_number(digits, values[i].v, info[i].unit));
		gk_buf_putc(out, ',');
	}
}

static void end_row(struct gk_buf *out)
{
	if (!out->failed && out->len)
		out->len--;
	gk_buf_puts(out, "\r\n");
}

static void add_titles(struct gk_buf *out, const char *columns,
		       const struct gk_metric_info *info, size_t count)
{
	gk_buf_puts(out, columns);
	gk_buf_putc(out, ',');
	for (size_t i = 0; i < count; i++) {
		if (!is_column(&info[i]))
			continue;
		gk_buf_puts(out, info[i].name);
		gk_buf_putc(out, ',');
	}
	end_row(out);
}

void gk_format_csv_devices(struct gk_buf *out, const struct gk_snapshot *snap,
			   unsigned flags)
{
	char time[GK_UNITS_MAX];

	gk_utc_time(time, snap->wall_ns);
	if (flags & GK_CSV_HEADER)
		add_titles(out, device_columns, gk_metrics, GK_M_COUNT);
	for (size_t i = 0; i < snap->device_count; i++) {
		const struct gk_device *d = &snap->devices[i];

		put_csv_text(out, time);
		put_csv_number(out, d->index, true);
		put_csv_number(out, d->mig_index, d->mig_index >= 0);
		put_csv_text(out, d->name);
		put_csv_text(out, d->uuid);
		put_csv_text(out, d->bus_id);
		put_csv_text(out, d->serial);
		put_csv_text(out, gk_health_name(d->health));
		put_csv_number(out, d->process_count,
			       !(flags & GK_CSV_NO_PROCESSES) &&
				   gk_processes_known(d));
		put_csv_metrics(out, gk_metrics, d->m, GK_M_COUNT);
		end_row(out);
	}
}

void gk_format_csv_processes(struct gk_buf *out, const struct gk_snapshot *snap,
			     unsigned flags)
{
	char time[GK_UNITS_MAX];

	gk_utc_time(time, snap->wall_ns);
	if (flags & GK_CSV_HEADER)
		add_titles(out, process_columns, gk_process_metrics,
			   GK_PM_COUNT);
	for (size_t i = 0; i < snap->process_count; i++) {
		const struct gk_process *p = &snap->processes[i];
		const struct gk_device *d = &snap->devices[p->device];

		put_csv_text(out, time);
		put_csv_number(out, d->index, true);
		put_csv_number(out, d->mig_index, d->mig_index >= 0);
		put_csv_text(out, d->uuid);
		put_csv_number(out, p->pid, true);
		put_csv_number(out, p->parent, p->parent > 0);
		put_csv_text(out, gk_process_type_letter(p->types));
		put_csv_text(out, gk_process_state_name(p->state));
		put_csv_text(out, p->user);
		put_csv_text(out, p->name);
		put_csv_text(out, p->command);
		put_csv_text(out, p->container);
		put_csv_metrics(out, gk_process_metrics, p->m, GK_PM_COUNT);
		end_row(out);
	}
}
