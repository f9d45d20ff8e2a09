/*
 * crash.h - what a crash leaves of the terminal: as it was found. The handler
 * has a stack of its own, since none may be left of the other.
 */
#ifndef GK_TUI_CRASH_H
#define GK_TUI_CRASH_H

#include <stddef.h>

/*
 * Before the terminal at stdout is taken: from now on a crash gives it back
 * the modes that it has now, after the bytes of a text, which is cut at 255.
 * The stack is that of the calling thread; others crash on their own.
 */
void tui_crash_catch(void);
void tui_crash_text(const char *text, size_t len);

/* The terminal was given back: a crash is nobody's business any more. */
void tui_crash_release(void);

#endif
