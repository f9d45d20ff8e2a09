/* sheet.c - columns by their names, times and numbers by hand: strtod() would
 * take most of the time that a recording of millions of rows may take. */
#include "plot/sheet.h"
#include "base/array.h"
#include "base/units.h"

#include "base/err.h"

#include <math.h>
#include <string.h>

/* Names as `gpukit record` and `gpukit stat --csv` write them. */
static const struct {
	const char *name;
	enum gk_plot_quantity quantity;
	double factor;
} quantities[] = {
    {"gpu_mem_mib", GK_PLOT_MEMORY, 1},
    {"used_mib", GK_PLOT_MEMORY, 1},
    {"memory_used_bytes", GK_PLOT_MEMORY, 1.0 / (double)MIB},
    {"sys_used_mib", GK_PLOT_SYSTEM_MEMORY, 1},
    {"cpu_pct", GK_PLOT_CPU, 1},
    {"sm_util_pct", GK_PLOT_UTILIZATION, 1},
    {"gpu_utilization_percent", GK_PLOT_UTILIZATION, 1},
    {"power_watts", GK_PLOT_POWER, 1},
    {"temperature_celsius", GK_PLOT_TEMPERATURE, 1},
};

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

bool gk_plot_header(const struct gk_csv_row *row,
		    struct gk_plot_sheet *ret_sheet)
{
	struct gk_plot_sheet sheet = {
	    .columns = row->count,
	    .time = find_title(row, "timestamp"),
	    .gpu = find_title(row, "gpu_index"),
	    .pid = find_title(row, "pid"),
	    .command = find_title(row, "cmd"),
	    .health = find_title(row, "health"),
	};
	bool any = false;

	for (int q = 0; q < GK_PLOT_QUANTITIES; q++)
		sheet.quantity[q] = -1;
	for (size_t i = 0; i < COUNT(quantities); i++) {
		int column = find_title(row, quantities[i].name);

		if (column < 0)
			continue;
		sheet.quantity[quantities[i].quantity] = column;
		sheet.factor[quantities[i].quantity] = quantities[i].factor;
		any = true;
	}
	if (sheet.time < 0 || !any)
		return false;
	*ret_sheet = sheet;
	return true;
}

/* Takes exactly that many digits; -1: they are none. */
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

/* Days since 1970 of a Gregorian date; years are counted from March on. */
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

/* Thousandths behind a point; what follows the number is left alone. */
static int thousandths(const char *p, size_t len)
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

/* "2026-11-21T09:30:00", also with a blank, a fraction, a zone behind. */
static bool read_time(const struct gk_csv_field *field, int64_t *ret_ms)
{
	enum { LEN = sizeof "2026-11-21T09:30:00" - 1 };
	const char *p = field->text;
	int year, month, day, hour, minute, second;

	if (field->len < LEN || p[4] != '-' || p[7] != '-' ||
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
	    thousandths(p + LEN, field->len - LEN);
	return true;
}

/* A decimal number; empty is NaN. */
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

/* Values of a GPU that does not answer are old ones. */
static bool is_old(const struct gk_plot_sheet *sheet,
		   const struct gk_csv_row *row)
{
	return sheet->health >= 0 &&
	       is_cell_text(&row->fields[sheet->health], "stale");
}

int gk_plot_read(const struct gk_plot_sheet *sheet,
		 const struct gk_csv_row *row, struct gk_plot_row *ret)
{
	if (row->count != sheet->columns ||
	    !read_time(&row->fields[sheet->time], &ret->time_ms))
		return GK_ERR_CORRUPT;
	ret->gpu = field_at(row, sheet->gpu);
	ret->pid = field_at(row, sheet->pid);
	ret->command = field_at(row, sheet->command);
	for (int q = 0; q < GK_PLOT_QUANTITIES; q++) {
		struct gk_csv_field field = field_at(row, sheet->quantity[q]);

		if (!read_cell_number(&field, &ret->value[q]))
			return GK_ERR_CORRUPT;
		ret->value[q] *= sheet->quantity[q] < 0 ? 1 : sheet->factor[q];
		if (is_old(sheet, row))
			ret->value[q] = (double)NAN;
	}
	return 0;
}
