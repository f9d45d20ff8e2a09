/*
 * catch.h - the signals that the viewer reads instead of being interrupted.
 */
#ifndef GK_TUI_CATCH_H
#define GK_TUI_CATCH_H

#include <signal.h>

/*
 * Blocks those that end, stop, continue or resize it, also for threads that
 * are started later, and ignores SIGPIPE. A signalfd of them, or -1;
 * *ret_before is what was blocked before.
 */
int tui_catch_signals(sigset_t *ret_before);

#endif
