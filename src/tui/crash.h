/*
 * crash.h - what a crash leaves of the terminal: as it was found. The handler
 * has a stack of its own, since none may be left of the other.
 */
#ifndef GK_TUI_CRASH_H
#define GK_TUI_CRASH_H

/*
 * Before the terminal at stdout is taken: from now on a crash gives it back
 * the modes that it has now, after what is added here, 255 bytes at most. The
 * stack is that of the calling thread; others crash on their own.
 */
void tui_crash_catch(void);

/*
 * Adds a capability (NULL: none), without the delays ("$<5>") that terminals
 * once needed.
 */
void tui_crash_add(const char *text);

/* The terminal was given back: a crash is nobody's business any more. */
void tui_crash_release(void);

#endif
