/* SPDX-License-Identifier: Apache-2.0 */
/* term.c - takes over the terminal and shows grids on it, using ncurses. */
#define NCURSES_WIDECHAR 1

#include "tui/screen/term.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/err.h"
#include "tui/screen/color.h"
#include "tui/screen/crash.h"
#include "tui/screen/term_part.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* The term.h of ncurses defines these names as macros. */
#include <term.h>
#undef columns
#undef lines

/*
 * Returns the number of the colour pair that has a colour on the terminal's
 * default background.
 */
#define PAIR(color) ((short)((color) + 1))

static struct {
	bool open;
	struct term_options options;
	struct grid shown; /* what the terminal shows now */
	int colors;
	SCREEN *screen;
} term;

/* ---- beginning and end ---- */

/*
 * Prepares the text that endwin() would send, since a crash handler may not
 * call endwin().
 */
static void prepare_for_crash(void)
{
	if (key_mouse)
		tui_crash_add("\033[?1000l\033[?1002l\033[?1006l");
	if (term_tells_pastes())
		tui_crash_add("\033[?2004l");
	tui_crash_add(exit_attribute_mode);
	tui_crash_add(cursor_normal);
	tui_crash_add(keypad_local);
	tui_crash_add(exit_ca_mode);
	tui_crash_add("\r");
}

/* Whether colour numbers from 8 on are 0xRRGGBB. */
static bool has_rgb(void)
{
	return COLORS == 1 << 24;
}

static int curses_color(int color)
{
	return has_rgb() && color >= 8 ? (int)tui_color_rgb((unsigned)color)
				       : color;
}

static void init_colors(void)
{
	int ground;

	term.colors = 0;
	if (!has_colors() || start_color() == ERR)
		return;
	ground = use_default_colors() == OK ? -1 : COLOR_BLACK;
	term.colors = COLORS >= 256 ? 256 : COLORS >= 16 ? 16 : 8;
	for (int i = 0; i < term.colors && PAIR(i) < COLOR_PAIRS; i++)
		init_extended_pair(PAIR(i), curses_color(i), ground);
}

void term_options_set(const struct term_options *options)
{
	mmask_t mask =
	    options->mouse ? ALL_MOUSE_EVENTS | REPORT_MOUSE_POSITION : 0;

	term.options = *options;
	if (!term.open)
		return;
	mousemask(mask, NULL);
	mouseinterval(0);
	term_tell_mouse(options->mouse);
	if (term.colors &&
	    (options->theme == TUI_AUTO || options->theme == TUI_COLOR_BLIND))
		term_ask_ground();
	term_forget();
}

/* Facts from the terminal's terminfo description, read once. */
static struct {
	bool known, described, usable;
	int colors;
} kind;

static void look_at_terminal(void)
{
	int err;

	kind.known = true;
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) ||
	    setupterm(NULL, STDOUT_FILENO, &err) != OK)
		return;
	kind.described = true;
	kind.usable = cursor_address != NULL;
	kind.colors = tigetnum("colors");
	del_curterm(cur_term);
}

bool term_usable(void)
{
	if (!kind.known)
		look_at_terminal();
	return kind.usable;
}

bool term_unheard_of(void)
{
	const char *name = getenv("TERM");

	return !term_usable() && !kind.described && name && *name &&
	       isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

int term_colors(void)
{
	return term_usable() && kind.colors > 0 ? kind.colors : 0;
}

/*
 * We draw to newscr, which doupdate() shows, and need stdscr only to read keys.
 * stdscr gets a single cell, because resize_term() would otherwise enlarge it
 * with the terminal. Nothing may be drawn to it, because reading a key would
 * then show it.
 */
static void shrink_stdscr(void)
{
	wresize(stdscr, 1, 1);
	untouchwin(stdscr);
}

int term_open(const struct term_options *options)
{
	if (!term_usable())
		return GK_ERR_NOT_SUPPORTED;
	tui_crash_catch();
	/*
	 * LINES and COLUMNS are ignored, since they may be those of another
	 * terminal.
	 */
	use_env(FALSE);
	use_tioctl(TRUE);
	/* Not initscr(), because that ends the program on failure. */
	term.screen = newterm(NULL, stdout, stdin);
	if (!term.screen) {
		tui_crash_release();
		return GK_ERR_NOT_SUPPORTED;
	}
	/*
	 * Hides the cursor for good: endwin() shows it again only after it has
	 * switched back to the shell's screen.
	 */
	curs_set(0);
	/*
	 * Before the first endwin(), curses flushes its output at every cursor
	 * movement. Therefore endwin() is called here, and refresh() resumes
	 * curses mode. Both come before the mouse is enabled, because refresh()
	 * would make curses enable the mouse itself, for clicks only.
	 */
	endwin();
	refresh();
	shrink_stdscr();
	raw();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	init_colors();
	term.open = true;
	term_listen();
	prepare_for_crash();
	term_options_set(options);
	return 0;
}

void term_close(void)
{
	if (!term.open)
		return;
	term_await_answer();
	term.open = false;
	mousemask(0, NULL);
	term_tell_mouse(false);
	term_tell_pastes(false);
	endwin();
	tui_crash_release();
	delscreen(term.screen);
	grid_free(&term.shown);
}

void term_suspend(void)
{
	GK_ASSERT(term.open);
	term_await_answer();
	term_tell_mouse(false);
	term_tell_pastes(false);
	endwin();
}

void term_resume(void)
{
	GK_ASSERT(term.open);
	doupdate();
	term_tell_mouse(term.options.mouse);
	term_tell_pastes(true);
	term_resized(); /* a stopped process gets no SIGWINCH */
}

void term_resized(void)
{
	struct winsize size;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row &&
	    size.ws_col)
		resize_term(size.ws_row, size.ws_col);
	shrink_stdscr();
	term_forget();
}

void term_size(int *ret_rows, int *ret_columns)
{
	GK_ASSERT(term.open);
	getmaxyx(newscr, *ret_rows, *ret_columns);
}

void term_forget(void)
{
	grid_free(&term.shown);
}

void term_beep(void)
{
	if (term.open)
		beep();
}

/* ---- showing ---- */

static const struct {
	unsigned grid;
	attr_t curses;
} attributes[] = {
    {GRID_BOLD, WA_BOLD},     {GRID_DIM, WA_DIM},
    {GRID_ITALIC, WA_ITALIC}, {GRID_UNDERLINE, WA_UNDERLINE},
    {GRID_BLINK, WA_BLINK},   {GRID_REVERSE, WA_REVERSE},
};

static int shown_color(unsigned color)
{
	if (color == GRID_COLOR_NONE || !term.colors ||
	    term.options.theme == TUI_MONO)
		return -1;
	if (term_on_light(&term.options))
		color = tui_color_on_light(color, term.colors);
	return tui_color_among(color, term.colors);
}

/*
 * Returns the number of the colour pair that has a colour (-1: default) on a
 * background (given as colour + 1).
 */
static int pair_on_ground(int color, unsigned ground)
{
	int on = shown_color(ground - 1);
	int pair = on < 0 ? -1
			  : alloc_pair(color < 0 ? -1 : curses_color(color),
				       curses_color(on));

	return pair > 0 ? pair : color < 0 ? 0 : PAIR(color);
}

static void set_style(const struct grid_cell *cell)
{
	struct grid_style style = cell->style;
	int color = shown_color(style.color);
	int pair = color < 0 ? 0 : PAIR(color);
	attr_t attribute = WA_NORMAL;

	for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
		if (style.attribute & attributes[i].grid)
			attribute |= attributes[i].curses;
	if (cell->ground)
		pair = pair_on_ground(color, cell->ground);
	wattr_set(newscr, attribute, (short)pair, &pair);
}

/* Draws all cells of a row, or only those that differ from the cells shown. */
static void show_row(const struct grid *g, int row, bool all)
{
	const struct grid_cell *cells = grid_at(g, row, 0);
	const struct grid_cell *shown = grid_at(&term.shown, row, 0);

	for (int c = 0; c < g->columns; c++) {
		wchar_t text[2] = {cells[c].c, L'\0'};

		if (!cells[c].c ||
		    (!all && grid_same_cell(&cells[c], &shown[c])))
			continue;
		set_style(&cells[c]);
		mvwaddnwstr(newscr, row, c, text, 1);
	}
}

bool term_show(const struct grid *g)
{
	bool all =
	    term.shown.rows != g->rows || term.shown.columns != g->columns;

	GK_ASSERT(term.open);
	if (all) {
		werase(newscr);
		if (!grid_resize(&term.shown, g->rows, g->columns))
			return true;
	}
	for (int row = 0; row < g->rows; row++)
		show_row(g, row, all);
	memcpy(term.shown.cells, g->cells,
	       (size_t)g->rows * (size_t)g->columns * sizeof *g->cells);
	if (all)
		clearok(newscr, TRUE);
	return doupdate() != ERR && !ferror(stdout);
}
