/* rows.c - fields with their titles; see rows.h. */
#include "record/rows.h"

#include "base/clock.h"
#include "format/csv.h"
#include "format/json.h"
#include "format/names.h"
#include "format/units.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* A row under way: a field is its value, and in JSON its key. */
struct row {
	struct gk_buf *out;
	bool json;
	bool titles; /* of the header: keys instead of values */
	bool more;   /* not the first field */
};

/* ---- fields ---- */

/* Begins a field; false when its title was all that was asked for. */
static bool field(struct row *row, const char *title)
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

/* A number in digits; NULL: absent. */
static void number(struct row *row, const char *title, const char *digits)
{
	if (field(row, title))
		gk_buf_puts(row->out, digits      ? digits
				      : row->json ? "null"
						  : "");
}

static void text(struct row *row, const char *title, const char *value)
{
	if (!row->titles && !*value) {
		number(row, title, NULL);
		return;
	}
	if (!field(row, title))
		return;
	if (row->json)
		gk_json_string(row->out, value, strlen(value));
	else
		gk_csv_text(row->out, value, true);
}

static void scaled(struct row *row, const char *title, struct gk_value value,
		   enum gk_unit unit, int64_t divisor)
{
	char digits[GK_UNITS_MAX];

	number(row, title,
	       value.why == GK_PRESENT
		   ? gk_number(digits, value.v / divisor, unit)
		   : NULL);
}

static void mib(struct row *row, const char *title, struct gk_value bytes)
{
	scaled(row, title, bytes, GK_UNIT_BYTES, 1 << 20);
}

static void begin(struct row *row, const char *time)
{
	if (row->json)
		gk_buf_putc(row->out, '{');
	text(row, "timestamp", time);
}

static void end(const struct row *row)
{
	gk_buf_puts(row->out, row->json ? "}\n" : "\n");
}

/* A number for a GPU, a text such as 0:1 for a MIG device. */
static void gpu_index(struct row *row, const struct gk_device *device)
{
	char label[GK_NAME_MAX];

	gk_device_label(label, device);
	if (device->mig_index < 0)
		number(row, "gpu_index", label);
	else
		text(row, "gpu_index", label);
}

static void pid_field(struct row *row, pid_t pid)
{
	char digits[GK_UNITS_MAX];

	number(row, "pid", gk_number(digits, pid, GK_UNIT_NONE));
}

/* ---- rows ---- */

static void process(struct row *row, const char *time,
		    const struct gk_device *d, const struct gk_process *p,
		    const char *command)
{
	begin(row, time);
	gpu_index(row, d);
	pid_field(row, p->pid);
	text(row, "cmd", command);
	mib(row, "gpu_mem_mib", p->m[GK_PM_GPU_MEM]);
	scaled(row, "sm_util_pct", p->m[GK_PM_SM_UTIL], GK_UNIT_PERCENT, 1);
	scaled(row, "mem_util_pct", p->m[GK_PM_MEM_UTIL], GK_UNIT_PERCENT, 1);
	end(row);
}

static void device(struct row *row, const char *time, const struct gk_device *d)
{
	begin(row, time);
	gpu_index(row, d);
	text(row, "name", d->name);
	text(row, "uuid", d->uuid);
	text(row, "health", gk_health_name(d->health));
	for (int i = 0; i < GK_M_COUNT; i++)
		scaled(row, gk_metrics[i].name, d->m[i], gk_metrics[i].unit, 1);
	end(row);
}

static void system_row(struct row *row, const char *time, bool pid_column,
		       const struct gk_system_row *s)
{
	char digits[GK_UNITS_MAX];

	snprintf(digits, sizeof digits, "%lld.%lld", (long long)(s->cpu.v / 10),
		 (long long)(s->cpu.v % 10));
	begin(row, time);
	mib(row, "used_mib", s->used);
	mib(row, "sys_used_mib", s->sys_used);
	text(row, "cpu_cores", s->cpus);
	number(row, "cpu_pct", s->cpu.why == GK_PRESENT ? digits : NULL);
	if (pid_column)
		pid_field(row, s->pid);
	end(row);
}

void gk_row_process(struct gk_buf *out, const struct gk_row_style *style,
		    const char *time, const struct gk_device *d,
		    const struct gk_process *p, const char *command)
{
	struct row row = {.out = out, .json = style->json};

	process(&row, time, d, p, command);
}

void gk_row_device(struct gk_buf *out, const struct gk_row_style *style,
		   const char *time, const struct gk_device *d)
{
	struct row row = {.out = out, .json = style->json};

	device(&row, time, d);
}

void gk_row_system(struct gk_buf *out, const struct gk_row_style *style,
		   const char *time, const struct gk_system_row *s)
{
	struct row row = {.out = out, .json = style->json};

	system_row(&row, time, style->pid_column, s);
}

/* The row of nothing at all, with its titles alone. */
void gk_row_header(struct gk_buf *out, const struct gk_row_style *style)
{
	static const struct gk_device no_device = {.mig_index = -1};
	static const struct gk_process no_process;
	struct row row = {.out = out, .titles = true};

	if (style->json)
		return;
	if (style->kind == GK_RECORD_PROCESSES)
		process(&row, "", &no_device, &no_process, "");
	else if (style->kind == GK_RECORD_DEVICES)
		device(&row, "", &no_device);
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
