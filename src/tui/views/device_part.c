/* SPDX-License-Identifier: Apache-2.0 */
/* device_part.c - functions shared by the parts of the screen of a GPU. */
#include "tui/views/device_part.h"
#include "format/identity.h"
#include "format/names.h"
#include "format/units.h"
#include "format/width.h"
#include "tui/views/view.h"

#include <stdio.h>

#define CYAN 6

bool view_device_is_silent(const struct gk_device *d)
{
	return d->health == GK_HEALTH_LOST || d->health == GK_HEALTH_ERROR;
}

const struct gk_device *view_device_values(const struct tui *t,
					   const struct gk_device *d)
{
	const struct gk_device *last = &t->device.last;
	struct gk_identity who = gk_identity_of(last);

	return view_device_is_silent(d) && last->read_ns[GK_TIER_FAST] &&
		       gk_identity_is(&who, d)
		   ? last
		   : d;
}

int view_device_title(struct grid *g, int line, const char *title)
{
	struct gk_buf text = {0};

	gk_cell(&text, title, DEVICE_TITLE_WIDTH - 1, GK_LEFT, "");
	grid_line(g, line, 1, text.data, text.len,
		  (struct grid_style){CYAN, 0});
	gk_buf_free(&text);
	return DEVICE_TITLE_WIDTH + 1;
}

void view_device_trouble(const struct tui *t, const struct gk_device *d,
			 char *dst, size_t cap)
{
	const struct gk_device *values = view_device_values(t, d);
	uint64_t age = gk_device_age(t->snap, values, GK_TIER_FAST);
	char trouble[GK_NAME_MAX], time[GK_UNITS_MAX];

	*dst = '\0';
	gk_device_trouble(trouble, t->snap, d);
	if (!*trouble)
		return;
	if (age == UINT64_MAX || (view_device_is_silent(d) && values == d))
		snprintf(dst, cap, " %s: nothing is known about it", trouble);
	else if (d->health == GK_HEALTH_STALE)
		snprintf(dst, cap, " %s: values are out of date", trouble);
	else
		snprintf(dst, cap, " %s: values are %s old", trouble,
			 gk_human_time(time, (int64_t)age, 4));
}
