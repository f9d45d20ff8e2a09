/*
 * app.h - the viewer as a whole: one loop that waits for keys, signals and
 * frames, and nothing else.
 */
#ifndef GK_TUI_APP_H
#define GK_TUI_APP_H

#include "tui/model.h"

/*
 * Runs until the user leaves, or SIGTERM or SIGHUP comes. gk must be open and
 * not watched yet; it stays the caller's. 0 or a gk_err; *ret_signal is the
 * signal that ended it, or 0; options are as the user left them; *ret_last is
 * the whole snapshot that was shown last, for the caller to free, or NULL.
 * GK_ERR_NOT_SUPPORTED: not term_usable(). With options->replay its frames are
 * shown, and gk is NULL.
 */
int tui_run(struct gk *gk, struct tui_options *options, int *ret_signal,
	    struct gk_snapshot **ret_last);

#endif
