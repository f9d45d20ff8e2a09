/* SPDX-License-Identifier: Apache-2.0 */
/*
 * app.h - runs the viewer in one thread, which waits for keys, signals and
 * frames.
 */
#ifndef GK_TUI_APP_H
#define GK_TUI_APP_H

#include "tui/model/model.h"

/*
 * Runs until the user quits, or SIGTERM or SIGHUP arrives. gk must be open and
 * not watched yet; the caller keeps it. gk is NULL if options->replay or
 * options->hosts provide the frames. Returns 0 or a gk_err:
 * GK_ERR_NOT_SUPPORTED if term_usable() is false. Sets *ret_signal to the
 * signal that ended the viewer, or 0. Updates *options with the user's changes.
 * Sets *ret_last to the last snapshot, for the caller to free, or to NULL.
 */
int tui_run(struct gk *gk, struct tui_options *options, int *ret_signal,
	    struct gk_snapshot **ret_last);

#endif
