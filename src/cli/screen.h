/* SPDX-License-Identifier: Apache-2.0 */
/*
 * screen.h - draws each frame over the whole terminal, and restores the
 * terminal when the command ends or is stopped, in whatever way.
 */
#ifndef GK_CLI_SCREEN_H
#define GK_CLI_SCREEN_H

#include "base/str.h"

/* Whether stdout is a terminal that can show frames. */
bool gk_screen_possible(void);

/*
 * Takes over the terminal. Until gk_screen_off(), Ctrl-Z restores the terminal
 * while the command is stopped, and signals that end the command restore it
 * first. The caller handles SIGINT and SIGTERM. A process can do this only once
 * at a time.
 */
void gk_screen_on(void);

/*
 * Restores the terminal, if it was taken over. Call this before printing a
 * message: text printed earlier would disappear with the frames.
 */
void gk_screen_off(void);

/* Adds a text as a frame, drawn from the top and cut to the screen's height. */
void gk_screen_frame(struct gk_buf *out, const struct gk_buf *text);

#endif
