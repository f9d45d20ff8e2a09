/*
 * before.h - what was before the viewer began, as far as the driver remembers
 * it: the history does not begin with nothing.
 */
#ifndef GK_TUI_BEFORE_H
#define GK_TUI_BEFORE_H

#include "core/history.h"

/* Has all GPUs of a snapshot tell it, without waiting. */
void tui_before_ask(struct gk *gk, const struct gk_snapshot *snap);

/* What they have told by now goes into the history, which has the snapshot. */
void tui_before_take(struct gk *gk, const struct gk_snapshot *snap,
		     struct gk_history *history);

#endif
