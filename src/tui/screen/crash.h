/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crash.h - restores the terminal if the program crashes. The handler runs on a
 * stack of its own, because the crash may be a stack overflow.
 */
#ifndef GK_TUI_CRASH_H
#define GK_TUI_CRASH_H

/*
 * Call before changing the terminal at stdout. From now on, a crash writes the
 * text collected by tui_crash_add(), at most 255 bytes, and restores the
 * terminal modes that are saved here. The handler has a stack of its own only
 * in the calling thread.
 */
void tui_crash_catch(void);

/*
 * Adds a terminfo capability to that text, without its delays such as "$<5>".
 * NULL adds nothing.
 */
void tui_crash_add(const char *text);

/* Removes the handlers. Call this when the terminal is restored. */
void tui_crash_release(void);

#endif
