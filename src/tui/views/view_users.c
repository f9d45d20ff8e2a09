/* SPDX-License-Identifier: Apache-2.0 */
/* view_users.c - the users screen: totals over each user's processes. */
#include "base/str.h"
#include "core/read/proctree.h"
#include "format/names.h"
#include "tui/screen/box.h"
#include "tui/model/value.h"
#include "tui/views/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_ROWS 1
#define FOOT_ROWS 1
#define GREEN     2
#define CYAN      6

static const struct tui_column columns[USER_ORDERS] = {
    [USER_BY_NAME] = {"USER", 16, GK_LEFT, 0},
    [USER_BY_PROCESSES] = {"PROCESSES", 10, GK_RIGHT, 2},
    [USER_BY_GPUS] = {"GPUS", 5, GK_RIGHT, 4},
    [USER_BY_MIGS] = {"MIG DEVICES", 12, GK_RIGHT, 4},
    [USER_BY_MEMORY] = {"GPU-MEM", 10, GK_RIGHT, 6},
    [USER_BY_SM] = {"%SM", 6, GK_RIGHT, 5},
    [USER_BY_CPU] = {"%CPU", 8, GK_RIGHT, 3},
    [USER_BY_HOST] = {"HOST-MEM", 10, GK_RIGHT, 1},
};

/* ---- sums ---- */

static const struct gk_process *snapshot_process(const struct tui *t,
						 unsigned at)
{
	return &t->snap->processes[at];
}

/* Orders by user, then by pid. */
static int by_owner(const void *left, const void *right, void *data)
{
	const struct gk_process *a =
	    snapshot_process(data, *(const unsigned *)left);
	const struct gk_process *b =
	    snapshot_process(data, *(const unsigned *)right);
	int order = strcmp(a->user, b->user);

	return order ? order : (a->pid > b->pid) - (a->pid < b->pid);
}

/* For a process on several GPUs, counts the values from /proc only once. */
static void add_user_process(struct tui_user *user, const struct gk_process *p,
			     bool again)
{
	user->processes += !again;
	for (int m = 0; m < GK_PM_COUNT; m++)
		if (!again || gk_process_metrics[m].tier < GK_TIER_HOST)
			gk_value_add(&user->sum[m], p->m[m]);
}

/* Counts a device, either as a GPU or as a MIG device. */
static void count_device(const struct tui *t, unsigned device,
			 struct tui_user *user)
{
	if (t->snap->devices[device].mig_index < 0)
		user->gpus++;
	else
		user->migs++;
}

static struct tui_user *new_user(struct tui_users *all, const char *name)
{
	struct tui_user *user = &all->users[all->count++];

	*user = (struct tui_user){0};
	gk_str_copy(user->name, sizeof user->name, name);
	for (int m = 0; m < GK_PM_COUNT; m++)
		user->sum[m].why = GK_ABSENT_NOT_SUPPORTED;
	return user;
}

/*
 * Sums up the processes of each user. `order` lists the processes by owner.
 * `seen` has, for each device, the number of the user for whom it was counted
 * last; users are numbered from 1.
 */
static void sum_up_users(struct tui *t, const unsigned *order, size_t *seen)
{
	const struct gk_process *last = NULL;
	struct tui_user *user = NULL;

	t->users.count = 0;
	for (size_t i = 0; i < t->list_count; i++) {
		const struct gk_process *p = snapshot_process(t, order[i]);

		if (!last || strcmp(last->user, p->user))
			user = new_user(&t->users, p->user);
		add_user_process(user, p,
				 last && !strcmp(last->user, p->user) &&
				     last->pid == p->pid);
		if (seen[p->device] != t->users.count)
			count_device(t, p->device, user);
		seen[p->device] = t->users.count;
		last = p;
	}
}

static int64_t order_figure(const struct tui_user *user,
			    enum tui_user_order order)
{
	static const enum gk_process_metric metrics[USER_ORDERS] = {
	    [USER_BY_MEMORY] = GK_PM_GPU_MEM,
	    [USER_BY_SM] = GK_PM_SM_UTIL,
	    [USER_BY_CPU] = GK_PM_CPU,
	    [USER_BY_HOST] = GK_PM_RSS,
	};

	if (order == USER_BY_PROCESSES)
		return user->processes;
	if (order == USER_BY_GPUS)
		return user->gpus;
	if (order == USER_BY_MIGS)
		return user->migs;
	return gk_value_or_none(user->sum[metrics[order]]);
}

static enum tui_user_order order_of(const struct tui_users *all)
{
	return all->chosen ? all->order : USER_BY_MEMORY;
}

/* By default names ascend and figures descend. */
static int by_order(const void *left, const void *right, void *data)
{
	const struct tui_users *all = data;
	const struct tui_user *a = left, *b = right;
	enum tui_user_order order = order_of(all);
	int64_t x, y;
	int result = 0;

	if (order != USER_BY_NAME) {
		x = order_figure(a, order);
		y = order_figure(b, order);
		result = (x < y) - (x > y);
	}
	if (!result)
		result = strcmp(a->name, b->name);
	return all->reversed ? -result : result;
}

void view_users_frame(struct tui *t)
{
	struct tui_users *all = &t->users;
	size_t count = t->list_count;
	unsigned *order = calloc(count + 1, sizeof *order);
	size_t *seen = calloc(t->snap->device_count + 1, sizeof *seen);
	struct tui_user *users =
	    realloc(all->users, (count + 1) * sizeof *users);

	if (users)
		all->users = users;
	if (order && seen && users) {
		if (count)
			memcpy(order, t->list, count * sizeof *order);
		qsort_r(order, count, sizeof *order, by_owner, t);
		sum_up_users(t, order, seen);
		qsort_r(users, all->count, sizeof *users, by_order, all);
	}
	free(order);
	free(seen);
}

bool view_users_open(struct tui *t)
{
	view_users_frame(t);
	return t->users.users != NULL;
}

void view_users_close(struct tui *t)
{
	free(t->users.users);
	t->users.users = NULL;
	t->users.count = 0;
}

/* ---- selection and order ---- */

size_t view_users_count(const struct tui *t)
{
	return t->users.count;
}

long view_users_selected(const struct tui *t)
{
	const struct tui_users *all = &t->users;

	for (size_t i = 0; all->is_selected && i < all->count; i++)
		if (!strcmp(all->users[i].name, all->selected))
			return (long)i;
	return -1;
}

void view_users_select(struct tui *t, long position)
{
	struct tui_users *all = &t->users;

	all->is_selected = position >= 0 && (size_t)position < all->count;
	if (all->is_selected)
		gk_str_copy(all->selected, sizeof all->selected,
			    all->users[position].name);
}

static bool has_migs(const struct tui *t)
{
	for (size_t i = 0; i < t->snap->device_count; i++)
		if (t->snap->devices[i].mig_index >= 0)
			return true;
	return false;
}

static void sort_by(const struct tui *t, struct tui_users *all, int by)
{
	all->order = order_of(all);
	do {
		all->order = (enum tui_user_order)(
		    ((int)all->order + by + USER_ORDERS) % USER_ORDERS);
	} while (all->order == USER_BY_MIGS && !has_migs(t));
	all->chosen = true;
	all->reversed = false;
}

/* Leaves the screen, and filters the processes by the selected user. */
static void show_only(struct tui *t)
{
	char text[sizeof "user:" + GK_NAME_MAX];
	long at = view_users_selected(t);

	if (at < 0 || !*t->users.users[at].name) {
		tui_say(t, at < 0 ? "no user is selected"
				  : "the user of these processes is unknown");
		return;
	}
	snprintf(text, sizeof text, "user:%s", t->users.users[at].name);
	tui_back(t);
	tui_select(t, -1);
	tui_filter_by(t, text);
}

bool view_users_act(struct tui *t, enum tui_action action)
{
	if (action == ACTION_USER_ONLY) {
		show_only(t);
		return true;
	}
	if (action == ACTION_SORT_NEXT)
		sort_by(t, &t->users, 1);
	else if (action == ACTION_SORT_PREVIOUS)
		sort_by(t, &t->users, -1);
	else if (action == ACTION_SORT_REVERSE)
		t->users.reversed = !t->users.reversed;
	else
		return false;
	view_users_frame(t);
	return true;
}

long view_users_at(const struct tui *t, int row)
{
	long at = row - HEAD_ROWS + t->scroll;

	return row >= HEAD_ROWS && row < t->rows - FOOT_ROWS && at >= 0 &&
		       (size_t)at < t->users.count
		   ? at
		   : -1;
}

static const char *user_name(const struct tui_user *user)
{
	return *user->name ? user->name : "N/A";
}

void view_users_text(const struct tui *t, size_t position, struct gk_buf *out)
{
	gk_buf_puts(out, user_name(&t->users.users[position]));
}

/* ---- drawing ---- */

static const char *user_cell_text(const struct tui_user *user,
				  enum tui_user_order column, char *dst)
{
	switch (column) {
	case USER_BY_NAME:
		return user_name(user);
	case USER_BY_PROCESSES:
	case USER_BY_GPUS:
	case USER_BY_MIGS:
		snprintf(dst, GK_UNITS_MAX, "%lld",
			 (long long)order_figure(user, column));
		return dst;
	case USER_BY_MEMORY:
		return tui_value(dst, user->sum[GK_PM_GPU_MEM], GK_UNIT_BYTES);
	case USER_BY_SM:
		return tui_value(dst, user->sum[GK_PM_SM_UTIL], GK_UNIT_NONE);
	case USER_BY_CPU:
		return tui_share(dst, user->sum[GK_PM_CPU]);
	case USER_BY_HOST:
		return tui_value(dst, user->sum[GK_PM_RSS], GK_UNIT_BYTES);
	case USER_ORDERS:
		break;
	}
	return "";
}

static void draw_user(struct grid *g, int row, const struct tui_user *user,
		      unsigned shown, struct grid_style style)
{
	struct gk_buf text = {0};
	char cell[GK_UNITS_MAX];

	gk_buf_putc(&text, ' ');
	for (int c = 0; c < USER_ORDERS; c++)
		if (shown >> c & 1)
			tui_column_add(
			    &text, &columns[c],
			    user_cell_text(user, (enum tui_user_order)c, cell));
	gk_buf_pad(&text, ' ', (size_t)g->columns);
	grid_line(g, row, 0, text.data, text.len, style);
	gk_buf_free(&text);
}

/* Draws the titles. The title of the sort column has an arrow. */
static void draw_users_head(const struct tui *t, struct grid *g, unsigned shown)
{
	enum tui_user_order order = order_of(&t->users);
	bool rising = (order == USER_BY_NAME) != t->users.reversed;
	struct gk_buf text = {0};
	char title[32];

	gk_buf_putc(&text, ' ');
	for (int c = 0; c < USER_ORDERS; c++) {
		if (!(shown >> c & 1))
			continue;
		snprintf(title, sizeof title, "%s%s", columns[c].title,
			 c != (int)order ? ""
			 : rising        ? "▲"
					 : "▼");
		tui_column_add(&text, &columns[c], title);
	}
	gk_buf_pad(&text, ' ', (size_t)g->columns);
	grid_line(g, 0, 0, text.data, text.len,
		  (struct grid_style){CYAN, GRID_REVERSE});
	gk_buf_free(&text);
}

/* Counts the devices of the listed processes. */
static void count_in_use(const struct tui *t, struct tui_user *total)
{
	for (unsigned d = 0; d < t->snap->device_count; d++)
		for (size_t i = 0; i < t->list_count; i++)
			if (snapshot_process(t, t->list[i])->device == d) {
				count_device(t, d, total);
				break;
			}
}

static void draw_users_foot(const struct tui *t, struct grid *g, unsigned shown)
{
	struct tui_user total = {0};

	for (int m = 0; m < GK_PM_COUNT; m++)
		total.sum[m].why = GK_ABSENT_NOT_SUPPORTED;
	for (size_t i = 0; i < t->users.count; i++) {
		total.processes += t->users.users[i].processes;
		for (int m = 0; m < GK_PM_COUNT; m++)
			gk_value_add(&total.sum[m], t->users.users[i].sum[m]);
	}
	count_in_use(t, &total);
	snprintf(total.name, sizeof total.name, "%zu user%s", t->users.count,
		 t->users.count == 1 ? "" : "s");
	draw_user(g, g->rows - 1, &total, shown,
		  (struct grid_style){CYAN, GRID_BOLD});
}

static struct grid_style
style_of_user(const struct tui *t, const struct tui_user *user, bool selected)
{
	struct grid_style style = GRID_PLAIN;

	if (selected)
		style = (struct grid_style){GREEN, GRID_REVERSE};
	else if (t->user && !strcmp(user->name, t->user))
		style.attribute = GRID_BOLD;
	return style;
}

/* Shows the column of MIG devices only if there are any. */
static unsigned shown_columns(const struct tui *t, int width)
{
	struct tui_column fit[USER_ORDERS];
	unsigned migs = 1U << USER_BY_MIGS;

	if (has_migs(t))
		return tui_columns_fit(columns, USER_ORDERS, width, 1);
	memcpy(fit, columns, sizeof fit);
	/* A width of -1 also makes up for the blank after the column. */
	fit[USER_BY_MIGS].width = -1;
	return tui_columns_fit(fit, USER_ORDERS, width, 1) & ~migs;
}

int view_users(struct tui *t, struct grid *g)
{
	unsigned shown = shown_columns(t, g->columns);
	int rows = g->rows - HEAD_ROWS - FOOT_ROWS;
	long selected;

	view_users_frame(t); /* the filter may have changed since */
	selected = view_users_selected(t);
	view_follow(t, selected < 0 ? -1 : (int)selected + HEAD_ROWS, HEAD_ROWS,
		    rows);
	for (int i = 0; i < rows; i++) {
		long at = i + t->scroll;

		if (at >= 0 && (size_t)at < t->users.count)
			draw_user(g, HEAD_ROWS + i, &t->users.users[at], shown,
				  style_of_user(t, &t->users.users[at],
						at == selected));
	}
	if (!t->users.count)
		box_text(g, HEAD_ROWS, 1, g->columns - 1,
			 gk_no_processes_text(t->snap), GRID_PLAIN);
	draw_users_head(t, g, shown);
	draw_users_foot(t, g, shown);
	t->first_process_line = -1;
	return (int)t->users.count + HEAD_ROWS + FOOT_ROWS;
}
