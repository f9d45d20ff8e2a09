/* SPDX-License-Identifier: Apache-2.0 */
/* hit.c - remembers what is drawn where, and handles clicks on it. */
#include "tui/lanes/lanes.h"
#include "tui/lanes/part.h"
#include "tui/model/model.h"
#include "tui/model/order.h"

void lanes_hit(struct tui *t, struct lanes_hit hit)
{
	struct lanes *l = &t->lanes;

	if (l->hit_count < LANES_HITS)
		l->hits[l->hit_count++] = hit;
}

long lanes_at(const struct tui *t, int row)
{
	long i = row - t->lanes.list_row + t->scroll;

	if (row < t->lanes.list_row ||
	    row >= t->lanes.list_row + t->lanes.list_rows ||
	    i >= (long)t->list_count)
		return -1;
	return i;
}

bool lanes_is_inside(const struct lanes_hit *hit, int row, int column)
{
	return row >= hit->row && row < hit->row + hit->rows &&
	       column >= hit->column && column < hit->column + hit->columns;
}

/* Opens the screen of a GPU. */
static void open_gpu(struct tui *t, int device)
{
	t->device.gpu = gk_identity_of(&t->snap->devices[device]);
	tui_select(t, -1);
	tui_open(t, SCREEN_DEVICE);
}

bool lanes_click(struct tui *t, int row, int column, enum tui_action *ret_key)
{
	const struct lanes *l = &t->lanes;

	*ret_key = ACTION_NONE;

	for (int i = 0; i < l->hit_count; i++) {
		const struct lanes_hit *hit = &l->hits[i];

		if (hit->kind == HIT_TRACE ||
		    !lanes_is_inside(hit, row, column))
			continue;
		if (hit->kind == HIT_COLUMN)
			tui_order_click(t, (enum gk_column)hit->id);
		else if (hit->kind == HIT_KEY)
			*ret_key = (enum tui_action)hit->id;
		else
			open_gpu(t, hit->id);
		return true;
	}
	return false;
}
