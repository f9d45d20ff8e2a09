/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dialog.h - a question in a box over the dimmed screen. The user answers it
 * with one of its buttons. An open dialog receives all keys and mouse events.
 */
#ifndef GK_TUI_DIALOG_H
#define GK_TUI_DIALOG_H

#include "base/str.h"
#include "tui/screen/grid.h"
#include "tui/screen/key.h"
#include "tui/screen/term.h"

struct tui;

struct tui_button {
	const char *label; /* ASCII */
	int letter;        /* index in label of the button's key */
	int red;           /* index in label of the first red character; 0:
			    * none is red */
};

/* A kind of question, with its buttons. */
struct tui_dialog_kind {
	const struct tui_button *buttons;
	int count;  /* number of buttons */
	int cancel; /* index of the button for Esc, q and n */
	/* Called after the dialog has been closed. */
	void (*chosen)(struct tui *t, int button);
};

struct tui_dialog {
	const struct tui_dialog_kind *kind; /* NULL: closed */
	struct gk_buf text;                 /* the question, in lines */
	int current;                        /* the selected button */
	/*
	 * Where the buttons were last drawn, to find the one that was clicked.
	 */
	int row, rows, column, width, step;
};

/*
 * Opens a dialog. Takes ownership of its text, the first line of which is
 * centred. Enter chooses `button`.
 */
void tui_dialog_open(struct tui *t, const struct tui_dialog_kind *kind,
		     struct gk_buf *text, int button);

/* Closes an open dialog without an answer. */
void tui_dialog_close(struct tui *t);

/* Handle a key or a mouse event. The dialog must be open. */
void tui_dialog_key(struct tui *t, tui_key key);
void tui_dialog_mouse(struct tui *t, struct term_mouse mouse);

/* Dims the grid and draws the open dialog in the middle. */
void tui_dialog_draw(struct tui *t, struct grid *g);

#endif
