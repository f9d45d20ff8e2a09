/* columns.c - the table of columns; see columns.h. */
#include "format/columns.h"

#include "format/bar.h"
#include "format/names.h"
#include "format/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define GK_PM_NONE (-1)

const struct gk_column_info gk_column_infos[GK_COLUMN_COUNT] = {
#define COLUMN(id, name_, title_, part_, width_, align_, mark_, worth_,        \
	       metric, help_)                                                  \
	[GK_COLUMN_##id] = {.name = name_,                                     \
			    .title = title_,                                   \
			    .help = help_,                                     \
			    .part = GK_PART_##part_,                           \
			    .width = width_,                                   \
			    .align = align_,                                   \
			    .mark = mark_,                                     \
			    .worth = worth_},
#include "format/columns.def"
#undef COLUMN
};

static const int metrics[GK_COLUMN_COUNT] = {
#define COLUMN(id, name, title, part, width, align, mark, worth, metric, help) \
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

/* ---- which columns ---- */

bool gk_columns_have(const struct gk_columns *columns, enum gk_column column)
{
	return memchr(columns->id, (int)column, (size_t)columns->count);
}

static enum gk_column find(const char *name, size_t len)
{
	int i = 0;

	while (i < GK_COLUMN_COUNT &&
	       (strlen(gk_column_infos[i].name) != len ||
		strncmp(gk_column_infos[i].name, name, len)))
		i++;
	return (enum gk_column)i;
}

/* Adds those of a part, the command behind all others. */
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
		enum gk_column column = find(text, len);

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

/* ---- texts ---- */

#define TEXT(name)                                                             \
	static const char *name##_text(char *dst,                              \
				       const struct gk_snapshot *snap,         \
				       const struct gk_process *p)

static const char *not_available = "N/A";

static const char *number(char *dst, int64_t value)
{
	snprintf(dst, GK_NAME_MAX, "%" PRId64, value);
	return dst;
}

static const char *percent(char *dst, struct gk_value value)
{
	return value.why == GK_PRESENT
		   ? gk_number(dst, value.v, GK_UNIT_PERCENT)
		   : not_available;
}

static const char *size(char *dst, struct gk_value value)
{
	return value.why == GK_PRESENT ? gk_human_size(dst, value.v)
				       : not_available;
}

/* A share with one decimal in 5 columns: "12.5", "1200", "9999+". */
static const char *share(char *dst, struct gk_value tenths)
{
	if (tenths.why != GK_PRESENT)
		return not_available;
	if (tenths.v >= 99995)
		return "9999+";
	if (tenths.v >= 10000)
		return number(dst, (tenths.v + 5) / 10);
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
	return number(dst, p->pid);
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
	return size(dst, p->m[GK_PM_GPU_MEM]);
}

TEXT(sm)
{
	(void)snap;
	return percent(dst, p->m[GK_PM_SM_UTIL]);
}

TEXT(gmbw)
{
	(void)snap;
	return percent(dst, p->m[GK_PM_MEM_UTIL]);
}

TEXT(enc)
{
	(void)snap;
	return percent(dst, p->m[GK_PM_ENC_UTIL]);
}

TEXT(dec)
{
	(void)snap;
	return percent(dst, p->m[GK_PM_DEC_UTIL]);
}

TEXT(cpu)
{
	struct gk_value tenths = p->m[GK_PM_CPU];

	(void)snap;
	tenths.v /= 10;
	return share(dst, tenths);
}

TEXT(mem)
{
	return share(dst, gk_tenths(p->m[GK_PM_RSS], snap->host.mem_total));
}

TEXT(rss)
{
	(void)snap;
	return size(dst, p->m[GK_PM_RSS]);
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
	return p->parent ? number(dst, p->parent) : not_available;
}

TEXT(container)
{
	(void)dst, (void)snap;
	return *p->container ? p->container : "-";
}

/* What stands in place of the command of a process that is not running. */
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
	    [GK_COLUMN_COMMAND] = command_text,
	};

	return texts[column](dst, snap, process);
}

/* ---- order ---- */

static int compare_numbers(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

#define COMPARE(name)                                                          \
	static int compare_##name(const struct gk_process *a,                  \
				  const struct gk_process *b)

COMPARE(gpu)
{
	return compare_numbers(a->device, b->device);
}

COMPARE(pid)
{
	return compare_numbers(a->pid, b->pid);
}

COMPARE(type)
{
	return strcmp(gk_process_type_letter(a->types),
		      gk_process_type_letter(b->types));
}

COMPARE(user)
{
	return strcmp(a->user, b->user);
}

COMPARE(ppid)
{
	return compare_numbers(a->parent, b->parent);
}

COMPARE(container)
{
	return strcmp(a->container, b->container);
}

COMPARE(command)
{
	return strcmp(*a->command ? a->command : a->name,
		      *b->command ? b->command : b->name);
}

int gk_column_compare(enum gk_column column, const struct gk_process *a,
		      const struct gk_process *b)
{
	static int (*const compare_columns[GK_COLUMN_COUNT])(
	    const struct gk_process *, const struct gk_process *) = {
	    [GK_COLUMN_GPU] = compare_gpu,
	    [GK_COLUMN_PID] = compare_pid,
	    [GK_COLUMN_TYPE] = compare_type,
	    [GK_COLUMN_USER] = compare_user,
	    [GK_COLUMN_PPID] = compare_ppid,
	    [GK_COLUMN_CONTAINER] = compare_container,
	    [GK_COLUMN_COMMAND] = compare_command,
	};
	int metric = metrics[column];

	if (compare_columns[column])
		return compare_columns[column](a, b);
	return compare_numbers(gk_value_or_none(a->m[metric]),
			       gk_value_or_none(b->m[metric]));
}
