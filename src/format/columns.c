/* SPDX-License-Identifier: Apache-2.0 */
/* columns.c - owns the table of columns and formats their cells. */
#include "format/columns.h"

#include "base/assert.h"
#include "format/bar.h"
#include "format/names.h"
#include "format/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define GK_PM_NONE (-1)

/* Sort directions, for the order column of columns.def. */
enum { GK_ORDER_UP, GK_ORDER_DOWN };

const struct gk_column_info gk_column_infos[GK_COLUMN_COUNT] = {
#define COLUMN(id, name_, title_, part_, width_, align_, mark_, worth_,        \
	       metric, order_, help_)                                          \
	[GK_COLUMN_##id] = {.name = name_,                                     \
			    .title = title_,                                   \
			    .help = help_,                                     \
			    .part = GK_PART_##part_,                           \
			    .width = width_,                                   \
			    .align = align_,                                   \
			    .mark = mark_,                                     \
			    .worth = worth_,                                   \
			    .descending = GK_ORDER_##order_},
#include "format/columns.def"
#undef COLUMN
};

static const int metrics[GK_COLUMN_COUNT] = {
#define COLUMN(id, name, title, part, width, align, mark, worth, metric,       \
	       order, help)                                                    \
	[GK_COLUMN_##id] = GK_PM_##metric,
#include "format/columns.def"
#undef COLUMN
};

const struct gk_columns gk_columns_default = {
    .id = {GK_COLUMN_GPU, GK_COLUMN_PID, GK_COLUMN_TYPE, GK_COLUMN_USER,
	   GK_COLUMN_GPU_MEM, GK_COLUMN_SM, GK_COLUMN_GMBW, GK_COLUMN_CPU,
	   GK_COLUMN_MEM, GK_COLUMN_TIME, GK_COLUMN_COMMAND},
    .count = 11,
};

/* ---- choice of columns ---- */

bool gk_columns_have(const struct gk_columns *columns, enum gk_column column)
{
	return memchr(columns->id, (int)column, (size_t)columns->count);
}

enum gk_column gk_column_find(const char *name, size_t len)
{
	int i = 0;

	while (i < GK_COLUMN_COUNT &&
	       (strlen(gk_column_infos[i].name) != len ||
		strncmp(gk_column_infos[i].name, name, len)))
		i++;
	return (enum gk_column)i;
}

/* Adds those columns of `from` that belong to a part. The command comes
 * last. */
static void add_part(struct gk_columns *to, const struct gk_columns *from,
		     enum gk_column_part part)
{
	bool command = false;

	for (int i = 0; i < from->count; i++) {
		enum gk_column column = from->id[i];

		if (gk_column_infos[column].part != part)
			continue;
		if (column == GK_COLUMN_COMMAND)
			command = true;
		else
			to->id[to->count++] = (unsigned char)column;
	}
	if (command)
		to->id[to->count++] = GK_COLUMN_COMMAND;
}

bool gk_columns_parse(const char *text, struct gk_columns *ret_columns,
		      const char **ret_bad)
{
	static const char between[] = ", \t";
	struct gk_columns all = {0}, sorted = {0};

	for (text += strspn(text, between); *text;
	     text += strspn(text, between)) {
		size_t len = strcspn(text, between);
		enum gk_column column = gk_column_find(text, len);

		if (column == GK_COLUMN_COUNT ||
		    gk_columns_have(&all, column)) {
			*ret_bad = text;
			return false;
		}
		all.id[all.count++] = (unsigned char)column;
		text += len;
	}
	if (!all.count) {
		*ret_bad = text;
		return false;
	}
	add_part(&sorted, &all, GK_PART_DRIVER);
	add_part(&sorted, &all, GK_PART_HOST);
	*ret_columns = sorted;
	return true;
}

char *gk_columns_text(char *dst, const struct gk_columns *columns)
{
	size_t at = 0;

	*dst = '\0';
	for (int i = 0; i < columns->count && at < GK_COLUMNS_TEXT; i++)
		at += (size_t)snprintf(dst + at, GK_COLUMNS_TEXT - at, "%s%s",
				       i ? ", " : "",
				       gk_column_infos[columns->id[i]].name);
	return dst;
}

unsigned gk_column_with(enum gk_column column)
{
	GK_ASSERT(column < GK_COLUMN_COUNT);
	switch ((int)column) {
	case GK_COLUMN_THREADS:
	case GK_COLUMN_PRIORITY:
	case GK_COLUMN_NICE:
		return GK_WITH_THREADS;
	case GK_COLUMN_IO_READ:
	case GK_COLUMN_IO_WRITTEN:
	case GK_COLUMN_IO_READ_RATE:
	case GK_COLUMN_IO_WRITE_RATE:
		return GK_WITH_IO;
	case GK_COLUMN_CWD:
		return GK_WITH_CWD;
	case GK_COLUMN_RANK:
		return GK_WITH_RANK;
	default:
		return 0;
	}
}

/* ---- texts ---- */

#define TEXT(name)                                                             \
	static const char *name##_text(char *dst,                              \
				       const struct gk_snapshot *snap,         \
				       const struct gk_process *p)

static const char *not_available = "N/A";

static const char *format_int(char *dst, int64_t value)
{
	snprintf(dst, GK_NAME_MAX, "%" PRId64, value);
	return dst;
}

static const char *format_percent_cell(char *dst, struct gk_value value)
{
	return value.why == GK_PRESENT
		   ? gk_number(dst, value.v, GK_UNIT_PERCENT)
		   : not_available;
}

static const char *format_size(char *dst, struct gk_value value)
{
	return value.why == GK_PRESENT ? gk_human_size(dst, value.v)
				       : not_available;
}

/* Formats a share with one decimal in 5 columns: "12.5", "1200", "9999+". */
static const char *format_share_cell(char *dst, struct gk_value tenths)
{
	if (tenths.why != GK_PRESENT)
		return not_available;
	if (tenths.v >= 99995)
		return "9999+";
	if (tenths.v >= 10000)
		return format_int(dst, (tenths.v + 5) / 10);
	snprintf(dst, GK_NAME_MAX, "%.1f", (double)tenths.v / 10.0);
	return dst;
}

TEXT(gpu)
{
	return gk_device_label(dst, &snap->devices[p->device]);
}

TEXT(pid)
{
	(void)snap;
	return format_int(dst, p->pid);
}

TEXT(type)
{
	(void)dst, (void)snap;
	return gk_process_type_letter(p->types);
}

TEXT(user)
{
	(void)dst, (void)snap;
	return *p->user ? p->user : not_available;
}

TEXT(gpu_mem)
{
	(void)snap;
	return format_size(dst, p->m[GK_PM_GPU_MEM]);
}

TEXT(sm)
{
	(void)snap;
	return format_percent_cell(dst, p->m[GK_PM_SM_UTIL]);
}

TEXT(gmbw)
{
	(void)snap;
	return format_percent_cell(dst, p->m[GK_PM_MEM_UTIL]);
}

TEXT(enc)
{
	(void)snap;
	return format_percent_cell(dst, p->m[GK_PM_ENC_UTIL]);
}

TEXT(dec)
{
	(void)snap;
	return format_percent_cell(dst, p->m[GK_PM_DEC_UTIL]);
}

TEXT(cpu)
{
	struct gk_value tenths = p->m[GK_PM_CPU];

	(void)snap;
	tenths.v /= 10;
	return format_share_cell(dst, tenths);
}

TEXT(mem)
{
	return format_share_cell(
	    dst, gk_tenths(p->m[GK_PM_RSS], snap->host.mem_total));
}

TEXT(rss)
{
	(void)snap;
	return format_size(dst, p->m[GK_PM_RSS]);
}

TEXT(time)
{
	struct gk_value time = p->m[GK_PM_RUN_TIME];

	(void)snap;
	return time.why == GK_PRESENT ? gk_human_time(dst, time.v, 4)
				      : not_available;
}

TEXT(ppid)
{
	(void)snap;
	return p->parent ? format_int(dst, p->parent) : not_available;
}

/* Formats a number without a unit. */
static const char *format_plain(char *dst, struct gk_value value)
{
	return value.why == GK_PRESENT ? format_int(dst, value.v)
				       : not_available;
}

TEXT(state)
{
	(void)snap;
	snprintf(dst, GK_NAME_MAX, "%c", p->stat ? p->stat : '?');
	return dst;
}

TEXT(threads)
{
	(void)snap;
	return format_plain(dst, p->m[GK_PM_THREADS]);
}

TEXT(priority)
{
	(void)snap;
	return format_plain(dst, p->m[GK_PM_PRIORITY]);
}

TEXT(nice)
{
	(void)snap;
	return format_plain(dst, p->m[GK_PM_NICE]);
}

TEXT(io_read)
{
	(void)snap;
	return format_size(dst, p->m[GK_PM_IO_READ]);
}

TEXT(io_written)
{
	(void)snap;
	return format_size(dst, p->m[GK_PM_IO_WRITTEN]);
}

TEXT(io_read_rate)
{
	(void)snap;
	return format_size(dst, p->m[GK_PM_IO_READ_RATE]);
}

TEXT(io_write_rate)
{
	(void)snap;
	return format_size(dst, p->m[GK_PM_IO_WRITE_RATE]);
}

/* A process without a rank shows "-": most have none, and that is no error. */
TEXT(rank)
{
	(void)snap;
	return p->m[GK_PM_RANK].why == GK_ABSENT_NONE
		   ? "-"
		   : format_plain(dst, p->m[GK_PM_RANK]);
}

TEXT(pod)
{
	(void)dst, (void)snap;
	return *p->pod ? p->pod : "-";
}

TEXT(cwd)
{
	(void)dst, (void)snap;
	return p->cwd_why == GK_PRESENT ? p->cwd : not_available;
}

TEXT(name)
{
	(void)dst, (void)snap;
	return *p->name ? p->name : not_available;
}

TEXT(container)
{
	(void)dst, (void)snap;
	return *p->container ? p->container : "-";
}

/* Shows the command of a running process, or else the process's state. */
TEXT(command)
{
	static const char *const states[] = {
	    [GK_PROCESS_GONE] = "No Such Process",
	    [GK_PROCESS_ZOMBIE] = "Zombie Process",
	    [GK_PROCESS_NO_PERMISSION] = "No Permissions",
	};

	(void)dst, (void)snap;
	if (p->state != GK_PROCESS_RUNNING)
		return states[p->state];
	return *p->command ? p->command : p->name;
}

const char *gk_column_text(enum gk_column column, char *dst,
			   const struct gk_snapshot *snap,
			   const struct gk_process *process)
{
	static const char *(*const texts[GK_COLUMN_COUNT])(
	    char *, const struct gk_snapshot *, const struct gk_process *) = {
	    [GK_COLUMN_GPU] = gpu_text,
	    [GK_COLUMN_PID] = pid_text,
	    [GK_COLUMN_TYPE] = type_text,
	    [GK_COLUMN_USER] = user_text,
	    [GK_COLUMN_GPU_MEM] = gpu_mem_text,
	    [GK_COLUMN_SM] = sm_text,
	    [GK_COLUMN_GMBW] = gmbw_text,
	    [GK_COLUMN_ENC] = enc_text,
	    [GK_COLUMN_DEC] = dec_text,
	    [GK_COLUMN_CPU] = cpu_text,
	    [GK_COLUMN_MEM] = mem_text,
	    [GK_COLUMN_RSS] = rss_text,
	    [GK_COLUMN_TIME] = time_text,
	    [GK_COLUMN_PPID] = ppid_text,
	    [GK_COLUMN_CONTAINER] = container_text,
	    [GK_COLUMN_POD] = pod_text,
	    [GK_COLUMN_CWD] = cwd_text,
	    [GK_COLUMN_NAME] = name_text,
	    [GK_COLUMN_STATE] = state_text,
	    [GK_COLUMN_RANK] = rank_text,
	    [GK_COLUMN_THREADS] = threads_text,
	    [GK_COLUMN_PRIORITY] = priority_text,
	    [GK_COLUMN_NICE] = nice_text,
	    [GK_COLUMN_IO_READ] = io_read_text,
	    [GK_COLUMN_IO_WRITTEN] = io_written_text,
	    [GK_COLUMN_IO_READ_RATE] = io_read_rate_text,
	    [GK_COLUMN_IO_WRITE_RATE] = io_write_rate_text,
	    [GK_COLUMN_COMMAND] = command_text,
	};

	GK_ASSERT(column < GK_COLUMN_COUNT);
	return texts[column](dst, snap, process);
}

/* ---- sorting ---- */

static int compare_numbers(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

/* Returns the word by which to sort in a column of words; "": unknown. */
static const char *column_word(enum gk_column column,
			       const struct gk_process *p)
{
	switch ((int)column) {
	case GK_COLUMN_TYPE:
		return gk_process_type_letter(p->types);
	case GK_COLUMN_USER:
		return p->user;
	case GK_COLUMN_CONTAINER:
		return p->container;
	case GK_COLUMN_POD:
		return p->pod;
	case GK_COLUMN_CWD:
		return p->cwd;
	case GK_COLUMN_NAME:
		return p->name;
	default:
		return *p->command ? p->command : p->name;
	}
}

/*
 * Returns the number by which to sort in a column of numbers. Returns false if
 * it is unknown.
 */
static bool column_number(enum gk_column column, const struct gk_process *p,
			  int64_t *ret_number)
{
	switch ((int)column) {
	case GK_COLUMN_GPU:
		*ret_number = p->device;
		return true;
	case GK_COLUMN_PID:
		*ret_number = p->pid;
		return true;
	case GK_COLUMN_PPID:
		*ret_number = p->parent;
		return p->parent > 0;
	case GK_COLUMN_STATE:
		*ret_number = (unsigned char)p->stat;
		return p->stat != 0;
	default:
		*ret_number = p->m[metrics[column]].v;
		return p->m[metrics[column]].why == GK_PRESENT;
	}
}

static bool is_word(enum gk_column column)
{
	return metrics[column] == GK_PM_NONE && column != GK_COLUMN_GPU &&
	       column != GK_COLUMN_PID && column != GK_COLUMN_PPID &&
	       column != GK_COLUMN_STATE;
}

int gk_column_order(enum gk_column column, bool descending,
		    const struct gk_process *a, const struct gk_process *b)
{
	int64_t x = 0, y = 0;
	bool a_known, b_known;
	int order;

	GK_ASSERT(column < GK_COLUMN_COUNT);
	if (is_word(column)) {
		const char *v = column_word(column, a),
			   *w = column_word(column, b);

		a_known = *v;
		b_known = *w;
		order = strcmp(v, w);
	} else {
		a_known = column_number(column, a, &x);
		b_known = column_number(column, b, &y);
		order = compare_numbers(x, y);
	}
	if (a_known != b_known)
		return a_known ? -1 : 1;
	if (!a_known)
		return 0;
	return descending ? -order : order;
}
