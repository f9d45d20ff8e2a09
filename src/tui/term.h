/*
 * term.h - the terminal: the only file that knows curses. It shows grids,
 * changed cells only, and turns what is typed into keys. One at a time, from
 * one thread.
 */
#ifndef GK_TUI_TERM_H
#define GK_TUI_TERM_H

#include "tui/grid.h"
#include "tui/key.h"

enum tui_theme { TUI_DARK, TUI_LIGHT, TUI_MONO, TUI_COLOR_BLIND, TUI_THEMES };

struct term_options {
	enum tui_theme theme;
	bool ascii; /* draw with ASCII alone */
	bool mouse;
};

/* Whether stdin and stdout are a terminal that can place its cursor. */
bool term_usable(void);

/* They are one, and no description of TERM is on this machine. */
bool term_unheard_of(void);

/* How many colours it has; 0 where it has none or is not usable. */
int term_colors(void);

/*
 * Takes the terminal at stdin and stdout: 0, or GK_ERR_NOT_SUPPORTED when it is
 * not usable. It is given back by term_close(), and by the signals that end a
 * program, crashes included.
 */
int term_open(const struct term_options *options);
void term_close(void);

/* Gives the terminal back for a stop (Ctrl-Z), and takes it again. */
void term_suspend(void);
void term_resume(void);

/* The terminal has another size: SIGWINCH came. */
void term_resized(void);

void term_size(int *ret_rows, int *ret_columns);

/*
 * Shows a grid of the size of the terminal. False when the terminal is gone.
 */
bool term_show(const struct grid *g);

/* The screen is not as it was shown last: draw all of it next time. */
void term_forget(void);

void term_options_set(const struct term_options *options);
void term_beep(void);

/* The next key that was typed, or TUI_KEY_NONE; never waits. */
tui_key term_key(void);

/* Whether that key was not typed but came out of a clipboard. */
bool term_pasted(void);

/* The mouse did this when term_key() said TUI_KEY_MOUSE. */
enum term_mouse_what {
	MOUSE_NOTHING,
	MOUSE_PRESS,
	MOUSE_DOUBLE,
	MOUSE_DRAG,    /* moved while a button is down */
	MOUSE_RELEASE, /* a button is up again */
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
