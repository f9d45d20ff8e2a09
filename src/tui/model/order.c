/* order.c - changes the order of the processes. */
#include "tui/order.h"
#include "base/array.h"

#include "tui/model.h"

#include <stdio.h>
#include <string.h>

/* "on", "oN" and so on; other columns have no letters. */
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

/* ---- comparing ---- */

bool tui_sort_descends(struct tui_sort sort)
{
	return gk_column_infos[sort.column].descending != sort.reversed;
}

static int by_sort(struct tui_sort sort, const struct gk_process *a,
		   const struct gk_process *b)
{
	return gk_column_order(sort.column, tui_sort_descends(sort), a, b);
}

static int naturally(bool reversed, const struct gk_process *a,
		     const struct gk_process *b)
{
	static const enum gk_column columns[] = {GK_COLUMN_GPU, GK_COLUMN_USER,
						 GK_COLUMN_PID};
	int order = 0;

	for (size_t i = 0; !order && i < COUNT(columns); i++)
		order = by_sort((struct tui_sort){columns[i], reversed}, a, b);
	return order;
}

int tui_order_compare(const struct tui_order *order, const struct gk_process *a,
		      const struct gk_process *b)
{
	bool natural = order->first.column == GK_COLUMN_GPU;
	bool a_gone = a->state == GK_PROCESS_GONE;
	bool b_gone = b->state == GK_PROCESS_GONE;
	int result = natural ? by_sort(order->first, a, b) : 0;

	if (!result && a_gone != b_gone)
		return a_gone ? 1 : -1;
	if (!result && !natural)
		result = by_sort(order->first, a, b);
	if (!result)
		result = by_sort(order->second, a, b);
	return result ? result
		      : naturally(natural && order->first.reversed, a, b);
}

/* ---- as words ---- */

const char *tui_sort_name(enum gk_column column)
{
	return column == GK_COLUMN_GPU ? "natural"
				       : gk_column_infos[column].name;
}

static bool parse_sort(const char *word, struct tui_sort *ret_sort)
{
	struct tui_sort sort = {.reversed = *word == '-'};

	word += sort.reversed;
	sort.column = strcmp(word, "natural") != 0
			  ? gk_column_find(word, strlen(word))
			  : GK_COLUMN_GPU;
	if (sort.column == GK_COLUMN_COUNT)
		return false;
	*ret_sort = sort;
	return true;
}

bool tui_order_parse(const char *const *words, size_t count,
		     struct tui_order *ret_order)
{
	struct tui_order order = {0};

	if (count < 1 || count > 2 || !parse_sort(words[0], &order.first) ||
	    (count == 2 && !parse_sort(words[1], &order.second)))
		return false;
	*ret_order = order;
	return true;
}

const char *tui_order_text(const struct tui_order *order, char *dst)
{
	const char *first = tui_sort_name(order->first.column);
	const char *minus = order->first.reversed ? "-" : "";
	bool alone =
	    order->second.column == GK_COLUMN_GPU && !order->second.reversed;

	if (alone)
		snprintf(dst, TUI_ORDER_TEXT, "%s%s", minus, first);
	else
		snprintf(dst, TUI_ORDER_TEXT, "[%s%s, %s%s]", minus, first,
			 order->second.reversed ? "-" : "",
			 tui_sort_name(order->second.column));
	return dst;
}

/* ---- changing ---- */

void tui_order_by(struct tui *t, enum gk_column column, bool reversed)
{
	if (column != t->order.first.column)
		t->order.second = t->order.first;
	t->order.first = (struct tui_sort){column, reversed};
	tui_list_update(t);
}

static void reverse(struct tui *t)
{
	tui_order_by(t, t->order.first.column, !t->order.first.reversed);
}

void tui_order_click(struct tui *t, enum gk_column column)
{
	if (column == t->order.first.column)
		reverse(t);
	else
		tui_order_by(t, column, false);
}

/* The column beside that of the order among those shown, round at the ends. */
static void step_order(struct tui *t, int by)
{
	struct gk_columns columns = tui_columns(t);
	int at = 0;

	while (at < columns.count && columns.id[at] != t->order.first.column)
		at++;
	if (at == columns.count) /* by one that is not shown */
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
		reverse(t);
	else if (action == ACTION_SORT_NEXT)
		step_order(t, 1);
	else if (action == ACTION_SORT_PREVIOUS)
		step_order(t, -1);
	else
		return false;
	return true;
}
