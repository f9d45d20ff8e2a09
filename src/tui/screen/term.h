/* SPDX-License-Identifier: Apache-2.0 */
/*
 * term.h - the terminal: shows the changed cells of a grid, and reads keys and
 * the mouse. Only term.c and term_key.c use curses. There is only one terminal,
 * and one thread uses it.
 */
#ifndef GK_TUI_TERM_H
#define GK_TUI_TERM_H

#include "tui/screen/grid.h"
#include "tui/screen/key.h"

/* TUI_AUTO and TUI_COLOR_BLIND adapt to the terminal's background. */
enum tui_theme {
	TUI_AUTO,
	TUI_DARK,
	TUI_LIGHT,
	TUI_MONO,
	TUI_COLOR_BLIND,
	TUI_THEMES
};

struct term_options {
	enum tui_theme theme;
	bool light; /* the terminal's background is known to be light */
	bool ascii; /* draw only ASCII characters */
	bool mouse;
};

/* Whether to draw for a light background. */
static inline bool term_on_light(const struct term_options *o)
{
	return o->theme == TUI_LIGHT ||
	       ((o->theme == TUI_AUTO || o->theme == TUI_COLOR_BLIND) &&
		o->light);
}

/* Whether stdin and stdout are terminals whose cursor can be positioned. */
bool term_usable(void);

/*
 * Whether stdin and stdout are terminals, but this machine has no terminfo
 * description of TERM.
 */
bool term_unheard_of(void);

/*
 * Returns the number of colours; 0 if there are none or the terminal is not
 * usable.
 */
int term_colors(void);

/*
 * Takes over the terminal at stdin and stdout. Returns 0, or
 * GK_ERR_NOT_SUPPORTED if it is not usable. Both term_close() and a crash
 * restore the terminal.
 */
int term_open(const struct term_options *options);
void term_close(void);

/*
 * Restore the terminal before the process is stopped (Ctrl-Z), and take it over
 * again afterwards.
 */
void term_suspend(void);
void term_resume(void);

/* Adopts the new size of the terminal. Call this after SIGWINCH. */
void term_resized(void);

void term_size(int *ret_rows, int *ret_columns);

/*
 * Shows a grid, which has the size of the terminal. Returns false if the
 * terminal has been closed.
 */
bool term_show(const struct grid *g);

/* Makes the next term_show() draw every cell, changed or not. */
void term_forget(void);

/*
 * term_light() returns whether the background is light: as the terminal has
 * answered or, until then, according to COLORFGBG. term_answer_due() returns
 * the time until which drawing should wait, because the answer will probably
 * have arrived by then (CLOCK_MONOTONIC; 0: no answer is expected).
 */
bool term_light(void);
uint64_t term_answer_due(void);

void term_options_set(const struct term_options *options);
void term_beep(void);

/* Returns the next key, or TUI_KEY_NONE. Does not wait. */
tui_key term_key(void);

/*
 * Whether the key that term_key() returned last was pasted rather than typed.
 */
bool term_pasted(void);

/*
 * The kind of a mouse event. Read the event after term_key() has returned
 * TUI_KEY_MOUSE.
 */
enum term_mouse_what {
	MOUSE_NOTHING,
	MOUSE_PRESS,
	MOUSE_DOUBLE,
	MOUSE_DRAG,    /* moved while a button is held down */
	MOUSE_RELEASE, /* a button was released */
	MOUSE_WHEEL_UP,
	MOUSE_WHEEL_DOWN,
};

struct term_mouse {
	enum term_mouse_what what;
	int row, column;
	bool ctrl, shift;
};

struct term_mouse term_mouse(void);

#endif
