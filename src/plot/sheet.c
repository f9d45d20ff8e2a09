/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sheet.c - finds columns by name, and parses times and numbers. Does not use
 * strtod(), which would take most of the time for a recording of millions of
 * rows.
 */
#include "plot/sheet.h"
#include "base/array.h"
#include "base/units.h"
#include "core/read/gate.h"

#include "base/err.h"

#include <math.h>
#include <string.h>

/*
 * The column names that `gpukit record` and `gpukit stat --csv` write. If
 * several columns contain the same quantity, the first one with a value counts.
 */
static const struct {
	const char *name;
	enum gk_plot_quantity quantity;
	double factor;
} quantities[] = {
    {"gpu_mem_mib", GK_PLOT_MEMORY, 1},
    {"used_mib", GK_PLOT_MEMORY, 1},
    {"memory_used_bytes", GK_PLOT_MEMORY, 1.0 / (double)MIB},
    {"sys_used_mib", GK_PLOT_HOST_MEMORY, 1},
    {"cpu_pct", GK_PLOT_CPU, 1},
    {"sm_util_pct", GK_PLOT_BUSY, 1},
    {"gpu_utilization_percent", GK_PLOT_BUSY, 1},
    {"power_watts", GK_PLOT_POWER, 1},
    {"temperature_celsius", GK_PLOT_TEMPERATURE, 1},
    {"memory_total_bytes", GK_PLOT_MEMORY_TOTAL, 1.0 / (double)MIB},
    {"power_limit_enforced_watts", GK_PLOT_POWER_LIMIT, 1},
    {"power_limit_watts", GK_PLOT_POWER_LIMIT, 1},
    {"temperature_slowdown_celsius", GK_PLOT_TEMPERATURE_LIMIT, 1},
    {"sm_clock_hertz", GK_PLOT_CLOCK, 1},
    {"sm_clock_max_hertz", GK_PLOT_CLOCK_MAX, 1},
    {"clocks_event_reasons", GK_PLOT_REASONS, 1},
    {"ecc_errors_uncorrected_volatile_total", GK_PLOT_ECC, 1},
    {"xid_errors_total", GK_PLOT_XIDS, 1},
    {"xid_last", GK_PLOT_XID, 1},
    {"energy_joules", GK_PLOT_ENERGY, 1},
};

/*
 * Columns whose names differ from those of their metrics. The range of a column
 * is that of its metric; scale is how many units of the metric make one unit of
 * the column.
 */
static const struct {
	const char *name;
	const struct gk_range *range;
	double scale;
} others[] = {
    {"gpu_mem_mib", &gk_process_metric_ranges[GK_PM_GPU_MEM], (double)MIB},
    {"used_mib", &gk_process_metric_ranges[GK_PM_GPU_MEM], (double)MIB},
    {"sys_used_mib", &gk_bounds[GK_BOUND_HOST_BYTES].range, (double)MIB},
    {"cpu_pct", &gk_process_metric_ranges[GK_PM_CPU], 100},
    {"sm_util_pct", &gk_process_metric_ranges[GK_PM_SM_UTIL], 1},
    {"mem_util_pct", &gk_process_metric_ranges[GK_PM_MEM_UTIL], 1},
};

static void set_range(struct gk_plot_column *column,
		      const struct gk_range *range, double scale)
{
	column->least = (double)range->least / scale;
	column->most = (double)range->most / scale;
}

static bool set_metric_range(struct gk_plot_column *column,
			     const struct gk_metric_info *infos,
			     const struct gk_range *ranges, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(infos[i].name, column->name) != 0)
			continue;
		set_range(column, &ranges[i],
			  (double)gk_unit_scale(infos[i].unit));
		return true;
	}
	return false;
}

/*
 * Sets the range of a column. A column of an unknown metric may contain any
 * number that can be summed.
 */
static void find_range(struct gk_plot_column *column)
{
	column->least = -1e18;
	column->most = 1e18;
	if (set_metric_range(column, gk_metrics, gk_metric_ranges,
			     GK_M_COUNT) ||
	    set_metric_range(column, gk_process_metrics,
			     gk_process_metric_ranges, GK_PM_COUNT))
		return;
	for (size_t i = 0; i < COUNT(others); i++)
		if (!strcmp(others[i].name, column->name))
			set_range(column, others[i].range, others[i].scale);
}

static bool is_cell_text(const struct gk_csv_field *field, const char *text)
{
	return field->len == strlen(text) &&
	       !memcmp(field->text, text, field->len);
}

static int find_title(const struct gk_csv_row *row, const char *name)
{
	for (size_t i = 0; i < row->count; i++)
		if (is_cell_text(&row->fields[i], name))
			return (int)i;
	return -1;
}

bool gk_plot_known_column(const char *name, enum gk_plot_quantity *ret_quantity,
			  double *ret_factor)
{
	for (size_t i = 0; i < COUNT(quantities); i++) {
		if (strcmp(quantities[i].name, name) != 0)
			continue;
		*ret_quantity = quantities[i].quantity;
		*ret_factor = quantities[i].factor;
		return true;
	}
	return false;
}

static void add_column(struct gk_plot_sheet *sheet,
		       const struct gk_csv_row *row, const char *name,
		       enum gk_plot_quantity quantity, double factor)
{
	int at = find_title(row, name);
	struct gk_plot_column *column = &sheet->values[sheet->value_count];

	if (at < 0)
		return;
	*column = (struct gk_plot_column){.column = (size_t)at,
					  .quantity = quantity,
					  .factor = factor,
					  .name = name};
	find_range(column);
	sheet->value_count++;
}

_Static_assert(COUNT(quantities) + GK_PLOT_ASKED_MAX <= GK_PLOT_COLUMNS_MAX,
	       "a sheet has room for all columns");

bool gk_plot_header(const struct gk_csv_row *row,
		    const struct gk_plot_asked *asked,
		    struct gk_plot_sheet *ret_sheet)
{
	struct gk_plot_sheet sheet = {
	    .columns = row->count,
	    .time = find_title(row, "timestamp"),
	    .gpu = find_title(row, "gpu_index"),
	    .pid = find_title(row, "pid"),
	    .command = find_title(row, "cmd"),
	    .health = find_title(row, "health"),
	    .xids = find_title(row, "xids"),
	    .model = find_title(row, "name"),
	};

	for (size_t i = 0; i < COUNT(quantities); i++)
		add_column(&sheet, row, quantities[i].name,
			   quantities[i].quantity, quantities[i].factor);
	for (unsigned i = 0; i < asked->count; i++)
		add_column(&sheet, row, asked->names[i],
			   (enum gk_plot_quantity)(GK_PLOT_ASKED + i), 1);
	if (sheet.time < 0 || !sheet.value_count)
		return false;
	*ret_sheet = sheet;
	return true;
}

/* Parses a number of exactly this many digits. Returns -1 if there is anything
 * else. */
static int take_digits(const char *p, int count)
{
	int value = 0;

	for (int i = 0; i < count; i++) {
		if (p[i] < '0' || p[i] > '9')
			return -1;
		value = value * 10 + p[i] - '0';
	}
	return value;
}

/*
 * Returns the days from 1970 to a Gregorian date. Here a year begins in March,
 * so that the leap day comes last.
 */
static int64_t days_since_1970(int year, int month, int day)
{
	int64_t y = month > 2 ? year : year - 1;
	int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5;

	return y * 365 + y / 4 - y / 100 + y / 400 + day_of_year + day - 719469;
}

static int last_day(int year, int month)
{
	bool leap = year % 4 == 0 && (year % 100 || year % 400 == 0);

	return month == 2 ? 28 + leap : 30 + (month + month / 8) % 2;
}

/* Parses thousandths after a decimal point. Ignores further digits. */
static int parse_thousandths(const char *p, size_t len)
{
	int value = 0, unit = 100;

	if (len < 2 || *p != '.')
		return 0;
	for (size_t i = 1; i < len && p[i] >= '0' && p[i] <= '9'; i++) {
		value += (p[i] - '0') * unit;
		unit /= 10;
	}
	return value;
}

bool gk_plot_read_time(const struct gk_csv_field *field, int64_t *ret_ms)
{
	enum { LEN = sizeof "2026-11-21T09:30:00" - 1 };
	const char *p = field->text;
	int year, month, day, hour, minute, second;

	if (field->len < LEN || (p[4] != '-' && p[4] != '/') || p[7] != p[4] ||
	    (p[10] != 'T' && p[10] != ' ') || p[13] != ':' || p[16] != ':')
		return false;
	year = take_digits(p, 4);
	month = take_digits(p + 5, 2);
	day = take_digits(p + 8, 2);
	hour = take_digits(p + 11, 2);
	minute = take_digits(p + 14, 2);
	second = take_digits(p + 17, 2);
	if (year < 0 || month < 1 || month > 12 || day < 1 ||
	    day > last_day(year, month) || hour < 0 || hour > 23 ||
	    minute < 0 || minute > 59 || second < 0 || second > 60)
		return false;
	*ret_ms =
	    (((days_since_1970(year, month, day) * 24 + hour) * 60 + minute) *
		 60 +
	     second) *
		1000 +
	    parse_thousandths(p + LEN, field->len - LEN);
	return true;
}

/* Parses a decimal number; an empty field is NaN. */
static bool read_cell_number(const struct gk_csv_field *field, double *ret)
{
	const char *p = field->text, *end = p + field->len;
	bool negative = p < end && *p == '-';
	double value = 0, unit = 1;
	const char *first;

	*ret = (double)NAN;
	if (p == end)
		return true;
	first = p += negative;
	for (; p < end && *p >= '0' && *p <= '9'; p++)
		value = value * 10 + (*p - '0');
	if (p > first && p < end && *p == '.')
		for (p++; p < end && *p >= '0' && *p <= '9'; p++)
			value += (*p - '0') * (unit /= 10);
	if (p == first || p < end)
		return false;
	*ret = negative ? -value : value;
	return true;
}

static struct gk_csv_field field_at(const struct gk_csv_row *row, int column)
{
	return column < 0 ? (struct gk_csv_field){"", 0} : row->fields[column];
}

static bool is_health(const struct gk_plot_sheet *sheet,
		      const struct gk_csv_row *row, const char *health)
{
	return sheet->health >= 0 &&
	       is_cell_text(&row->fields[sheet->health], health);
}

/*
 * Parses numbers separated by blanks. If there are too many, keeps the last
 * ones.
 */
static void read_xids(struct gk_csv_field field, struct gk_plot_row *row)
{
	const char *p = field.text, *end = p + field.len;

	while (p < end) {
		int number = 0;

		for (; p < end && *p >= '0' && *p <= '9'; p++)
			if (number < 100000)
				number = number * 10 + (*p - '0');
		if (row->xid_count == GK_PLOT_XIDS_MAX)
			memmove(row->xids, row->xids + 1,
				--row->xid_count * sizeof *row->xids);
		row->xids[row->xid_count++] = number;
		p++;
	}
}

void gk_plot_row_clear(struct gk_plot_row *row)
{
	static const struct gk_csv_field nothing = {"", 0};

	row->gpu = row->pid = row->command = row->model = nothing;
	row->lost = row->silent = row->alone = false;
	row->xid_count = 0;
	row->given = 0;
	row->nonsense = (struct gk_plot_nonsense){0};
}

void gk_plot_note_nonsense(struct gk_plot_nonsense *to, const char *name,
			   double value)
{
	if (!to->count++) {
		to->name = name;
		to->value = value;
	}
}

static int read_values(const struct gk_plot_sheet *sheet,
		       const struct gk_csv_row *row, struct gk_plot_row *ret)
{
	/* A GPU that does not answer has old values: leave them out. */
	bool stale = is_health(sheet, row, "stale");

	for (size_t i = 0; i < sheet->value_count; i++) {
		const struct gk_plot_column *column = &sheet->values[i];
		double value;

		if (!read_cell_number(&row->fields[column->column], &value))
			return GK_ERR_CORRUPT;
		if (stale || isnan(value))
			continue;
		if (value < column->least || value > column->most)
			gk_plot_note_nonsense(&ret->nonsense, column->name,
					      value);
		else if (!gk_plot_row_has(ret, column->quantity))
			gk_plot_row_set(ret, column->quantity,
					value * column->factor);
	}
	ret->nonsense.line = row->line;
	return 0;
}

int gk_plot_read(const struct gk_plot_sheet *sheet,
		 const struct gk_csv_row *row, struct gk_plot_row *ret)
{
	gk_plot_row_clear(ret);
	if (row->count != sheet->columns ||
	    !gk_plot_read_time(&row->fields[sheet->time], &ret->time_ms))
		return GK_ERR_CORRUPT;
	ret->gpu = field_at(row, sheet->gpu);
	ret->pid = field_at(row, sheet->pid);
	ret->command = field_at(row, sheet->command);
	ret->model = field_at(row, sheet->model);
	ret->lost = is_health(sheet, row, "lost");
	ret->silent = sheet->health >= 0 && !is_health(sheet, row, "ok") &&
		      !is_health(sheet, row, "");
	read_xids(field_at(row, sheet->xids), ret);
	return read_values(sheet, row, ret);
}
