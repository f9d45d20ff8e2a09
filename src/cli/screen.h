/*
 * screen.h - a terminal as one page that every frame is drawn over, given
 * back whatever ends or stops the command.
 */
#ifndef GK_CLI_SCREEN_H
#define GK_CLI_SCREEN_H

#include "base/str.h"

/* Whether stdout is a terminal that can do it. */
bool gk_screen_possible(void);

/*
 * Takes the screen. Until gk_screen_off() a stop (Ctrl-Z) gives the terminal
 * back for its time, and the signals that end a command give it back first.
 * SIGINT and SIGTERM are the caller's business. Once a process at a time.
 */
void gk_screen_on(void);

/* Gives the screen back; allowed when it was not taken. Call it before a
 * message: what is written while it is taken is not seen afterwards. */
void gk_screen_off(void);

/* Adds a text as a frame: from the top, no more lines than the screen has. */
void gk_screen_frame(struct gk_buf *out, const struct gk_buf *text);

#endif
