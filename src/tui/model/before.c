/* SPDX-License-Identifier: Apache-2.0 */
/* before.c - adds the driver's own samples to the history. */
#include "tui/model/before.h"

#include "core/past/past.h"

#include <stdlib.h>

void tui_before_ask(struct gk *gk, const struct gk_snapshot *snap)
{
	for (size_t i = 0; i < snap->device_count; i++)
		if (snap->devices[i].mig_index < 0)
			gk_watch_ask_past(gk, snap->devices[i].index);
}

void tui_before_take(struct gk *gk, const struct gk_snapshot *snap,
		     struct gk_history *history)
{
	for (size_t i = 0; i < snap->device_count; i++) {
		const struct gk_device *d = &snap->devices[i];
		struct gk_past *past =
		    d->mig_index < 0 ? gk_watch_take_past(gk, d->index) : NULL;

		if (past)
			gk_history_fill(history, d->uuid, past, snap->mono_ns,
					snap->wall_ns);
		free(past);
	}
}
