/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns.c - chooses the columns of the process list, places them, and writes
 * their texts.
 */
#include "tui/lanes/columns.h"

#include "base/round.h"
#include "format/names.h"
#include "tui/model/model.h"

#include <stdio.h>
#include <string.h>

#define COMMAND_LEAST 12
#define BAR_WIDTH     6
#define BAR_FROM      100 /* minimum width of the terminal */
#define NARROW_BELOW  56
#define SMALL_BELOW   72
#define GIB           1073741824.0

/*
 * Columns with a layout of their own. If space is short, all other columns are
 * dropped first, then these in descending order of `go`. A column whose `go` is
 * 0 is never dropped.
 */
static const struct own {
	int id;
	const char *title, *order;
	int width, gap, narrow_width, narrow_gap;
	bool right;
	int go;
} owns[] = {
    {GK_COLUMN_GPU, "GPU", "GPU", 3, 0, 3, 0, true, 0},
    {GK_COLUMN_PID, "PID", "PID", 7, 2, 7, 2, true, 2},
    {GK_COLUMN_TYPE, "", "type", 1, 1, 1, 1, false, 8},
    {GK_COLUMN_USER, "USER", "user", 8, 2, 6, 2, false, 0},
    {GK_COLUMN_GPU_MEM, "GPU MEM", "GPU memory", 8, 1, 5, 1, true, 0},
    {LANES_BAR, "", "", BAR_WIDTH, 2, BAR_WIDTH, 2, false, 7},
    {GK_COLUMN_SM, "SM%", "SM", 3, 2, 4, 1, true, 1},
    {GK_COLUMN_GMBW, "BW%", "bandwidth", 3, 2, 3, 2, true, 5},
    {GK_COLUMN_CPU, "CPU%", "CPU", 5, 1, 5, 1, true, 4},
    {GK_COLUMN_RSS, "HOST", "host memory", 5, 2, 5, 2, true, 6},
    {GK_COLUMN_TIME, "TIME", "time", 7, 2, 7, 2, true, 3},
    {GK_COLUMN_COMMAND, "COMMAND", "command", 0, 2, 0, 2, false, 0},
};

#define OWNS (sizeof owns / sizeof *owns)
/*
 * Columns that are not in owns[] are dropped first: their `go` is this number
 * minus their worth, and so higher than every `go` in the table.
 */
#define GO_BEFORE 1000

/* The columns used unless the config file chooses others. */
static const int usual[] = {
    GK_COLUMN_GPU,     GK_COLUMN_PID, GK_COLUMN_TYPE, GK_COLUMN_USER,
    GK_COLUMN_GPU_MEM, LANES_BAR,     GK_COLUMN_SM,   GK_COLUMN_GMBW,
    GK_COLUMN_CPU,     GK_COLUMN_RSS, GK_COLUMN_TIME, GK_COLUMN_COMMAND,
};

static const struct own *own_of(int id)
{
	for (size_t i = 0; i < OWNS; i++)
		if (owns[i].id == id)
			return &owns[i];
	return NULL;
}

const char *lanes_order_name(enum gk_column column)
{
	const struct own *own = own_of((int)column);

	return own ? own->order : gk_column_infos[column].help;
}

/* ---- choosing columns ---- */

static bool types_differ(const struct gk_snapshot *snap)
{
	for (size_t i = 1; i < snap->process_count; i++)
		if (snap->processes[i].types != snap->processes[0].types)
			return true;
	return false;
}

static bool wants_column(const struct tui *t, int id)
{
	switch (id) {
	case LANES_BAR:
	case GK_COLUMN_RSS:
		return t->columns >= BAR_FROM;
	case GK_COLUMN_TYPE:
		return types_differ(t->snap) && t->columns >= SMALL_BELOW;
	case GK_COLUMN_PID:
	case GK_COLUMN_GMBW:
	case GK_COLUMN_CPU:
	case GK_COLUMN_TIME:
		return t->columns >= NARROW_BELOW;
	default:
		return true;
	}
}

static void add_column(struct lanes_table *table, int id)
{
	table->columns[table->count++].id = id;
}

static void choose_usual(const struct tui *t, struct lanes_table *table)
{
	for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
		if (wants_column(t, usual[i]))
			add_column(table, usual[i]);
}

/* Chooses the columns of the config file. The command is always added. */
static void choose_wanted(const struct tui *t, struct lanes_table *table)
{
	const struct gk_columns *wanted = &t->options.columns;

	for (int i = 0; i < wanted->count; i++) {
		add_column(table, wanted->id[i]);
		if (wanted->id[i] == GK_COLUMN_GPU_MEM &&
		    wants_column(t, LANES_BAR))
			add_column(table, LANES_BAR);
	}
	if (!gk_columns_have(wanted, GK_COLUMN_COMMAND))
		add_column(table, GK_COLUMN_COMMAND);
}

/* ---- placing ---- */

/*
 * Returns the width of pids: 7 columns; on narrow terminals only 6, unless a
 * pid is longer.
 */
static int pid_width(const struct tui *t)
{
	int width = 6;

	for (size_t i = 0; i < t->snap->process_count; i++)
		if (t->snap->processes[i].pid > 999999)
			width = 7;
	return t->columns < SMALL_BELOW ? width : 7;
}

static void measure_column(const struct tui *t, const struct lanes_table *table,
			   struct lanes_column *c, int *at)
{
	const struct own *own = own_of(c->id);
	int gap, width;

	if (own) {
		gap = table->narrow ? own->narrow_gap : own->gap;
		width = table->narrow ? own->narrow_width : own->width;
		c->title = own->title;
		c->right = own->right;
	} else {
		gap = 2;
		width = gk_column_infos[c->id].width;
		c->title = gk_column_infos[c->id].title;
		c->right = gk_column_infos[c->id].align == GK_RIGHT;
	}
	if (c->id == GK_COLUMN_PID)
		width = pid_width(t);
	if (c->id == GK_COLUMN_SM && t->columns < SMALL_BELOW)
		gap = 1;
	c->at = *at + gap;
	c->width = width;
	*at += gap + width;
}

static int how_soon(int id)
{
	const struct own *own = own_of(id);

	return own ? own->go : GO_BEFORE - gk_column_infos[id].worth;
}

/* Drops the next column. Returns false if no more may be dropped. */
static bool drop_one(struct lanes_table *table)
{
	int first = -1;

	for (int i = 0; i < table->count; i++)
		if (how_soon(table->columns[i].id) > 0 &&
		    (first < 0 || how_soon(table->columns[i].id) >
				      how_soon(table->columns[first].id)))
			first = i;
	if (first < 0)
		return false;
	memmove(&table->columns[first], &table->columns[first + 1],
		(size_t)(--table->count - first) * sizeof *table->columns);
	return true;
}

/*
 * Places all columns. Returns where the last one ends. Screen column 0 is for
 * the swatch, the coloured mark of a process's owner.
 */
static int measure_all(const struct tui *t, struct lanes_table *table)
{
	int at = 1;

	for (int i = 0; i < table->count; i++)
		measure_column(t, table, &table->columns[i], &at);
	return at;
}

struct lanes_table lanes_table(const struct tui *t)
{
	struct lanes_table table = {.narrow = t->columns < NARROW_BELOW};
	int end = t->columns - 2; /* leaves a blank and the scroll bar */
	struct lanes_column *command;

	if (t->options.columns.count)
		choose_wanted(t, &table);
	else
		choose_usual(t, &table);
	while (measure_all(t, &table) + COMMAND_LEAST > end && drop_one(&table))
		;
	command = &table.columns[table.count - 1];
	command->width = end - command->at;
	return table;
}

/* ---- texts ---- */

static const char *size_of(const struct lanes_table *table, char *dst,
			   struct gk_value bytes, bool with_unit)
{
	if (bytes.why != GK_PRESENT)
		return "—";
	snprintf(dst, GK_NAME_MAX, "%.1f%s", gk_half_up((double)bytes.v / GIB),
		 with_unit && !table->narrow ? " GiB" : "G");
	return dst;
}

static const char *percent_of(const struct lanes_table *table, char *dst,
			      struct gk_value percent)
{
	if (percent.why != GK_PRESENT)
		return "—";
	snprintf(dst, GK_NAME_MAX, "%lld%s", (long long)percent.v,
		 table->narrow ? "%" : "");
	return dst;
}

static const char *run_time_of(char *dst, struct gk_value ns)
{
	int64_t s = ns.v / 1000000000;

	if (ns.why != GK_PRESENT)
		return "—";
	if (s >= 86400)
		snprintf(dst, GK_NAME_MAX, "%lldd %lldh",
			 (long long)(s / 86400), (long long)(s / 3600 % 24));
	else
		snprintf(dst, GK_NAME_MAX, "%lld:%02lld:%02lld",
			 (long long)(s / 3600), (long long)(s / 60 % 60),
			 (long long)(s % 60));
	return dst;
}

const char *lanes_column_text(const struct tui *t,
			      const struct lanes_table *table, int id,
			      char dst[GK_NAME_MAX], const struct gk_process *p)
{
	struct gk_value cpu = p->m[GK_PM_CPU];
	const char *text;

	switch (id) {
	case GK_COLUMN_GPU_MEM:
		return size_of(table, dst, p->m[GK_PM_GPU_MEM], true);
	case GK_COLUMN_SM:
		return percent_of(table, dst, p->m[GK_PM_SM_UTIL]);
	case GK_COLUMN_GMBW:
		return percent_of(table, dst, p->m[GK_PM_MEM_UTIL]);
	case GK_COLUMN_RSS:
		return size_of(table, dst, p->m[GK_PM_RSS], false);
	case GK_COLUMN_TIME:
		return run_time_of(dst, p->m[GK_PM_RUN_TIME]);
	case GK_COLUMN_USER:
		return *p->user ? p->user : "—";
	case GK_COLUMN_CPU:
		if (cpu.why != GK_PRESENT)
			return "—";
		snprintf(dst, GK_NAME_MAX, "%.0f%%",
			 gk_half_up((double)cpu.v / 100));
		return dst;
	default:
		text = gk_column_text((enum gk_column)id, dst, t->snap, p);
		return strcmp(text, "N/A") != 0 ? text : "—";
	}
}
