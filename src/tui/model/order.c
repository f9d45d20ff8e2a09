/* SPDX-License-Identifier: Apache-2.0 */
/* order.c - compares processes by an order, and parses and writes orders. */
#include "tui/model/order.h"

#include "base/array.h"
#include "base/assert.h"
#include "tui/model/model.h"

#include <stdio.h>
#include <string.h>

/* ---- comparing ---- */

bool tui_sort_descends(struct tui_sort sort)
{
	GK_ASSERT(sort.column < GK_COLUMN_COUNT);
	return gk_column_infos[sort.column].descending != sort.reversed;
}

static int compare_by_sort(struct tui_sort sort, const struct gk_process *a,
			   const struct gk_process *b)
{
	return gk_column_order(sort.column, tui_sort_descends(sort), a, b);
}

static int compare_naturally(bool reversed, const struct gk_process *a,
			     const struct gk_process *b)
{
	static const enum gk_column columns[] = {GK_COLUMN_GPU, GK_COLUMN_USER,
						 GK_COLUMN_PID};
	int order = 0;

	for (size_t i = 0; !order && i < COUNT(columns); i++)
		order = compare_by_sort((struct tui_sort){columns[i], reversed},
					a, b);
	return order;
}

int tui_order_compare(const struct tui_order *order, const struct gk_process *a,
		      const struct gk_process *b)
{
	bool natural = order->first.column == GK_COLUMN_GPU;
	bool a_gone = a->state == GK_PROCESS_GONE;
	bool b_gone = b->state == GK_PROCESS_GONE;
	int result = natural ? compare_by_sort(order->first, a, b) : 0;

	if (!result && a_gone != b_gone)
		return a_gone ? 1 : -1;
	if (!result && !natural)
		result = compare_by_sort(order->first, a, b);
	if (!result)
		result = compare_by_sort(order->second, a, b);
	return result
		   ? result
		   : compare_naturally(natural && order->first.reversed, a, b);
}

/* ---- parsing and writing orders ---- */

const char *tui_sort_name(enum gk_column column)
{
	GK_ASSERT(column < GK_COLUMN_COUNT);
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
