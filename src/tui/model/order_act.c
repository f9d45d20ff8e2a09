/* SPDX-License-Identifier: Apache-2.0 */
/* order_act.c - changes the order of the processes. */
#include "base/array.h"
#include "base/assert.h"
#include "tui/model/model.h"
#include "tui/model/order.h"

/* Columns with sort keys of their own ("on", "oN" and so on). */
static const struct {
	enum tui_action action, reversed;
	enum gk_column column;
} letters[] = {
#define LETTER(name, column)                                                   \
	{                                                                      \
		ACTION_SORT_##name, ACTION_SORT_##name##_R, GK_COLUMN_##column \
	}
    LETTER(NATURAL, GPU),    LETTER(PID, PID),  LETTER(USER, USER),
    LETTER(MEMORY, GPU_MEM), LETTER(SM, SM),    LETTER(BANDWIDTH, GMBW),
    LETTER(CPU, CPU),        LETTER(HOST, MEM), LETTER(TIME, TIME),
#undef LETTER
};

void tui_order_by(struct tui *t, enum gk_column column, bool reversed)
{
	if (column != t->order.first.column)
		t->order.second = t->order.first;
	t->order.first = (struct tui_sort){column, reversed};
	tui_list_update(t);
}

static void reverse_order(struct tui *t)
{
	tui_order_by(t, t->order.first.column, !t->order.first.reversed);
}

void tui_order_click(struct tui *t, enum gk_column column)
{
	if (column == t->order.first.column)
		reverse_order(t);
	else
		tui_order_by(t, column, false);
}

/* Sorts by the next visible column to the left or right, wrapping around. */
static void step_order(struct tui *t, int by)
{
	struct gk_columns columns = tui_columns(t);
	int at = 0;

	GK_ASSERT(columns.count); /* tui_columns() never returns none */
	while (at < columns.count && columns.id[at] != t->order.first.column)
		at++;
	if (at == columns.count) /* the current sort column is not shown */
		at = by > 0 ? -1 : columns.count;
	at = (at + by + columns.count) % columns.count;
	tui_order_by(t, columns.id[at], false);
}

bool tui_order_act(struct tui *t, enum tui_action action)
{
	for (size_t i = 0; i < COUNT(letters); i++) {
		if (letters[i].action != action &&
		    letters[i].reversed != action)
			continue;
		tui_order_by(t, letters[i].column,
			     letters[i].reversed == action);
		return true;
	}
	if (action == ACTION_SORT_REVERSE)
		reverse_order(t);
	else if (action == ACTION_SORT_NEXT)
		step_order(t, 1);
	else if (action == ACTION_SORT_PREVIOUS)
		step_order(t, -1);
	else
		return false;
	return true;
}
