/*
 * dialog.h - a question in a box over a dimmed screen, answered by one of its
 * buttons. While it is open all keys and the mouse are its own.
 */
#ifndef GK_TUI_DIALOG_H
#define GK_TUI_DIALOG_H

#include "base/str.h"
#include "tui/grid.h"
#include "tui/key.h"
#include "tui/term.h"

struct tui;

struct tui_button {
	const char *label; /* ASCII */
	int letter;        /* place in it of the letter that chooses it */
	int red;           /* from this place on it is red; 0: it is not */
};

/* A kind of question, with its buttons. */
struct tui_dialog_kind {
	const struct tui_button *buttons;
	int count;  /* of the buttons */
	int cancel; /* the one that Esc, q and n choose */
	/* The dialog is closed already. */
	void (*chosen)(struct tui *t, int button);
};

struct tui_dialog {
	const struct tui_dialog_kind *kind; /* NULL: closed */
	struct gk_buf text;                 /* lines */
	int current;                        /* button */
	/* Where the buttons were drawn last, for the mouse. */
	int row, rows, column, width, step;
};

/*
 * Opens a dialog with lines of text, the first of them centred; takes the
 * text over. button is the one that Enter chooses.
 */
void tui_dialog_open(struct tui *t, const struct tui_dialog_kind *kind,
		     struct gk_buf *text, int button);

/* Forgets an open dialog, without an answer; frees its text. */
void tui_dialog_close(struct tui *t);

/* A key, or what the mouse did, for an open dialog. */
void tui_dialog_key(struct tui *t, tui_key key);
void tui_dialog_mouse(struct tui *t, struct term_mouse mouse);

/* Draws an open dialog in the middle of what is there, which becomes dim. */
void tui_dialog_draw(struct tui *t, struct grid *g);

#endif
