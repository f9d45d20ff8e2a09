/*
 * order.h - the order of the processes: by a column, and among those that tie
 * in it by a second one.
 */
#ifndef GK_TUI_ORDER_H
#define GK_TUI_ORDER_H

#include "format/columns.h"
#include "tui/key.h"

struct tui;

/* GK_COLUMN_GPU is the natural order: GPU, user, pid. */
struct tui_sort {
	enum gk_column column;
	bool reversed; /* against what is usual for the column */
};

/* Zeroed: natural. */
struct tui_order {
	struct tui_sort first, second;
};

/* Whether big comes before small. */
bool tui_sort_descends(struct tui_sort sort);

/*
 * Orders two processes of a snapshot, no two of which are equal. What is
 * absent comes behind, whatever the direction; so do processes that are gone,
 * in the natural order those of each GPU.
 */
int tui_order_compare(const struct tui_order *order, const struct gk_process *a,
		      const struct gk_process *b);

/* Names of one or two columns, '-' before one that is reversed; false: they
 * are none. */
bool tui_order_parse(const char *const *words, size_t count,
		     struct tui_order *ret_order);

/* The same as the config file says it: "user", "[user, -gpu-memory]". */
#define TUI_ORDER_TEXT 64
const char *tui_order_text(const struct tui_order *order, char *dst);

/* "natural", or the name of the column. */
const char *tui_sort_name(enum gk_column column);

/* Another order; the one that was stays among those that tie in it. */
void tui_order_by(struct tui *t, enum gk_column column, bool reversed);

/* A click on the title of a column: by it, or the other way round. */
void tui_order_click(struct tui *t, enum gk_column column);

/* Does one of the actions ACTION_SORT_...; false: it is none of them. */
bool tui_order_act(struct tui *t, enum tui_action action);

#endif
