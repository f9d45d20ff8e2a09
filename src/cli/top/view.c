/* SPDX-License-Identifier: Apache-2.0 */
/* view.c - `gpukit top`: runs the viewer, and leaves its last screen behind. */
#include "cli/cmd.h"
#include "cli/top/top.h"

#include <stdio.h>

/*
 * Checks that the GPUs of -o exist. A missing one is reported at once, instead
 * of showing an empty screen.
 */
static bool has_wanted_gpus(const struct top *top, struct gk *gk)
{
	struct gk_snapshot *snap;
	bool has;

	if (!top->viewer.pick.gpus || gk_snapshot_take(gk, &snap))
		return true; /* the viewer itself reports read errors */
	has = top_has_wanted(top, snap);
	gk_snapshot_free(snap);
	return has;
}

/*
 * Runs the viewer. When it ends, prints its last frame on the normal screen,
 * unless a signal ended it.
 */
int top_view(struct top *top, struct gk *gk)
{
	struct gk_snapshot *last = NULL;
	int ended_by = 0, status = GK_EXIT_OK, err;

	if (gk && !has_wanted_gpus(top, gk))
		return GK_EXIT_FAILURE;
	err = tui_run(gk, &top->viewer, &ended_by, &last);
	if (err) {
		fprintf(stderr, "gpukit top: the viewer cannot run: %s\n",
			gk_strerror(err));
		status = GK_EXIT_FAILURE;
	} else if (ended_by) {
		status = 128 + ended_by;
	} else if (last) {
		status = top_report(top, last);
		if (gk && top->verbose)
			top_tell_missing(gk, last);
	}
	gk_snapshot_free(last);
	return status;
}
