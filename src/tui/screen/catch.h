/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catch.h - lets the viewer read signals from a signalfd.
 */
#ifndef GK_TUI_CATCH_H
#define GK_TUI_CATCH_H

#include <signal.h>

/*
 * Blocks the signals that end, stop, continue or resize the viewer, also in
 * threads started later, and ignores SIGPIPE. Returns a signalfd for the
 * blocked signals, or -1 with errno. *ret_before is the previous signal mask.
 */
int tui_catch_signals(sigset_t *ret_before);

#endif
