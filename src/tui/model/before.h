/* SPDX-License-Identifier: Apache-2.0 */
/*
 * before.h - fills the history with samples from before the viewer started,
 * as far back as the driver has kept them.
 */
#ifndef GK_TUI_BEFORE_H
#define GK_TUI_BEFORE_H

#include "core/past/history.h"

/*
 * Requests the old samples of all GPUs of a snapshot. Does not wait for them.
 */
void tui_before_ask(struct gk *gk, const struct gk_snapshot *snap);

/*
 * Adds the samples that have arrived to the history, which must already contain
 * the snapshot.
 */
void tui_before_take(struct gk *gk, const struct gk_snapshot *snap,
		     struct gk_history *history);

#endif
