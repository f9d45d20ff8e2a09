/* SPDX-License-Identifier: Apache-2.0 */
/*
 * screen.h - a viewer without a terminal: the fixture's machine, keys typed by
 * name, and the screen as text to compare with golden files.
 */
#ifndef TESTS_TUI_SCREEN_H
#define TESTS_TUI_SCREEN_H

#include "format/fixture.h"
#include "tui/model/model.h"

struct screen {
	struct fixture f;
	struct tui t;
	struct grid g;
};

/* Opens the main screen of fixture_everything() for user "ana". */
void screen_begin(struct screen *s, int rows, int columns);
void screen_end(struct screen *s);

/* Changes the size of the terminal. */
void screen_resize(struct screen *s, int rows, int columns);

/* Presses keys by their names in keys.def: "o+s" is "o s"; T Enter Ctrl-F. */
void screen_press(struct screen *s, const char *keys);

/* Types each character of a text. */
void screen_type(struct screen *s, const char *text);

/* Draws what the terminal would show. */
void screen_draw(struct screen *s);

/* The row of a drawn screen as UTF-8, without trailing blanks. */
void screen_row(const struct screen *s, int row, struct gk_buf *out);

/*
 * The first row that contains a text, or -1; *ret_column: where (may be NULL).
 */
int screen_find(const struct screen *s, const char *text, int *ret_column);

/* Compares what was drawn with a golden file; draws nothing. */
void assert_grid(const struct screen *s, const char *name);

/* Draws, and compares all rows with tests/data/golden/<name>.txt. */
void assert_screen(struct screen *s, const char *name);

#endif
