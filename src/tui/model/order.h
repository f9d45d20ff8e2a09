/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order.h - the order of the process list: by one column and, for equal values,
 * by a second one.
 */
#ifndef GK_TUI_ORDER_H
#define GK_TUI_ORDER_H

#include "format/columns.h"
#include "tui/screen/key.h"

struct tui;

/*
 * A column to sort by. GK_COLUMN_GPU stands for the natural order: GPU, user,
 * pid.
 */
struct tui_sort {
	enum gk_column column;
	bool reversed; /* opposite to the column's default direction */
};

/* If all members are zero, it is the natural order. */
struct tui_order {
	struct tui_sort first, second;
};

/* Whether large values come first. */
bool tui_sort_descends(struct tui_sort sort);

/*
 * Compares two processes of a snapshot. Never returns 0 for different
 * processes. Absent values come last in either direction. Processes that are
 * gone also come last: in the natural order among the processes of their GPU,
 * otherwise in the whole list.
 */
int tui_order_compare(const struct tui_order *order, const struct gk_process *a,
		      const struct gk_process *b);

/*
 * Parses the names of one or two columns; a '-' before a name reverses the
 * column. Returns false if they are not valid.
 */
bool tui_order_parse(const char *const *words, size_t count,
		     struct tui_order *ret_order);

/*
 * Writes an order in the syntax of the config file: "user" or "[user,
 * -gpu-memory]".
 */
#define TUI_ORDER_TEXT 64
const char *tui_order_text(const struct tui_order *order, char *dst);

/* Returns "natural" or the name of the column. */
const char *tui_sort_name(enum gk_column column);

/*
 * Sorts by a column. The column by which the list was sorted before becomes the
 * second one.
 */
void tui_order_by(struct tui *t, enum gk_column column, bool reversed);

/*
 * Handles a click on a column title: sorts by the column or, if the list is
 * sorted by it already, reverses the order.
 */
void tui_order_click(struct tui *t, enum gk_column column);

/* Performs an ACTION_SORT_... action. Returns false for other actions. */
bool tui_order_act(struct tui *t, enum tui_action action);

#endif
