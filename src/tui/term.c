/* term.c - grids and keys by way of ncurses; see term.h. */
#define NCURSES_WIDECHAR 1

#include "tui/term.h"

#include "base/err.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* It takes words of everyday life for macros. */
#include <term.h>
#undef columns
#undef lines

#define ESC_DELAY_MS 25

/* Pairs of curses: 1 + colour, on the terminal's own background. */
#define PAIR(color) ((short)((color) + 1))

static struct {
	bool open;
	struct term_options options;
	struct grid shown; /* what the terminal shows */
	int colors;
	struct term_mouse mouse;
	SCREEN *screen;
} term;

/* Signals that would leave the terminal as it is. */
static const int deadly[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

/*
 * Of a crash: what curses would send is written by hand, since curses may be
 * what crashed.
 */
static void crashed(int number)
{
	static const char restore[] = "\033[?1000l\033[?1002l\033[?1006l\033[m"
				      "\033[?25h\033[?1l\033>\033[?1049l\r";
	ssize_t n = write(STDOUT_FILENO, restore, sizeof restore - 1);

	(void)n;
	reset_shell_mode(); /* a call of tcsetattr(), no more */
	signal(number, SIG_DFL);
	raise(number);
}

static void catch_crashes(bool on)
{
	struct sigaction action = {.sa_handler = on ? crashed : SIG_DFL,
				   .sa_flags =
				       (int)(SA_RESETHAND | SA_NODEFER)};

	for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++)
		sigaction(deadly[i], &action, NULL);
}

static void init_colors(void)
{
	term.colors = 0;
	if (!has_colors() || start_color() == ERR)
		return;
	use_default_colors();
	term.colors = COLORS < 256 ? COLORS : 256;
	for (int i = 0; i < term.colors && PAIR(i) < COLOR_PAIRS; i++)
		init_pair(PAIR(i), (short)i, -1);
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
	term_forget();
}

bool term_usable(void)
{
	int err;

	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) &&
	       setupterm(NULL, STDOUT_FILENO, &err) == OK && cursor_address;
}

int term_open(const struct term_options *options)
{
	if (!term_usable())
		return GK_ERR_NOT_SUPPORTED;
	/* newterm() and not initscr(), which ends the program on failure. */
	term.screen = newterm(NULL, stdout, stdin);
	if (!term.screen)
		return GK_ERR_NOT_SUPPORTED;
	set_escdelay(ESC_DELAY_MS);
	raw();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	curs_set(0);
	init_colors();
	term.open = true;
	catch_crashes(true);
	term_options_set(options);
	return 0;
}

void term_close(void)
{
	if (!term.open)
		return;
	term.open = false;
	catch_crashes(false);
	mousemask(0, NULL);
	endwin();
	delscreen(term.screen);
	grid_free(&term.shown);
}

void term_suspend(void)
{
	endwin();
}

void term_resume(void)
{
	refresh();
	term_forget();
}

void term_resized(void)
{
	struct winsize size;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row &&
	    size.ws_col)
		resize_term(size.ws_row, size.ws_col);
	term_forget();
}

void term_size(int *ret_rows, int *ret_columns)
{
	getmaxyx(stdscr, *ret_rows, *ret_columns);
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

/* A colour of 256 on a terminal that has fewer: the nearest of the first. */
static int color_of(unsigned color)
{
	if (color == GRID_COLOR_NONE || !term.colors ||
	    term.options.theme == TUI_MONO)
		return -1;
	if (term.options.theme == TUI_LIGHT && color == 7)
		color = 0; /* white would not be seen */
	if ((int)color < term.colors)
		return (int)color;
	return color < 16 ? (int)color - 8 : (int)(color % 7) + 1;
}

static void set_style(struct grid_style style)
{
	int color = color_of(style.color);
	attr_t attribute = WA_NORMAL;

	for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
		if (style.attribute & attributes[i].grid)
			attribute |= attributes[i].curses;
	attr_set(attribute, color < 0 ? 0 : PAIR(color), NULL);
}

/* Draws the cells of a row that differ from what is shown. */
static void show_row(const struct grid *g, int row, bool all)
{
	for (int c = 0; c < g->columns; c++) {
		const struct grid_cell *cell = grid_at(g, row, c);
		wchar_t text[2] = {cell->c, L'\0'};

		if (!cell->c ||
		    (!all &&
		     grid_same_cell(cell, grid_at(&term.shown, row, c))))
			continue;
		set_style(cell->style);
		mvaddnwstr(row, c, text, 1);
	}
}

bool term_show(const struct grid *g)
{
	bool all =
	    term.shown.rows != g->rows || term.shown.columns != g->columns;

	if (all) {
		erase();
		if (!grid_resize(&term.shown, g->rows, g->columns))
			return true;
	}
	for (int row = 0; row < g->rows; row++)
		show_row(g, row, all);
	memcpy(term.shown.cells, g->cells,
	       (size_t)g->rows * (size_t)g->columns * sizeof *g->cells);
	if (all)
		clearok(stdscr, TRUE);
	return refresh() != ERR && !ferror(stdout);
}

/* ---- keys ---- */

static const struct {
	int curses;
	tui_key key;
} special[] = {
    {KEY_UP, TUI_KEY_UP},
    {KEY_DOWN, TUI_KEY_DOWN},
    {KEY_LEFT, TUI_KEY_LEFT},
    {KEY_RIGHT, TUI_KEY_RIGHT},
    {KEY_SLEFT, TUI_KEY_LEFT | TUI_SHIFT},
    {KEY_SRIGHT, TUI_KEY_RIGHT | TUI_SHIFT},
    {KEY_HOME, TUI_KEY_HOME},
    {KEY_END, TUI_KEY_END},
    {KEY_PPAGE, TUI_KEY_PAGE_UP},
    {KEY_NPAGE, TUI_KEY_PAGE_DOWN},
    {KEY_IC, TUI_KEY_INSERT},
    {KEY_DC, TUI_KEY_DELETE},
    {KEY_BACKSPACE, TUI_KEY_BACKSPACE},
    {KEY_BTAB, TUI_KEY_TAB | TUI_SHIFT},
    {KEY_ENTER, TUI_KEY_ENTER},
    {KEY_RESIZE, TUI_KEY_RESIZE},
    {KEY_MOUSE, TUI_KEY_MOUSE},
};

static tui_key from_special(wint_t c)
{
	for (size_t i = 0; i < sizeof special / sizeof *special; i++)
		if ((wint_t)special[i].curses == c)
			return special[i].key;
	if (c >= (wint_t)KEY_F(1) && c <= (wint_t)KEY_F(12))
		return TUI_KEY_F1 + (tui_key)(c - (wint_t)KEY_F(1));
	return TUI_KEY_NONE;
}

static tui_key from_character(wint_t c)
{
	switch (c) {
	case '\r':
	case '\n':
		return TUI_KEY_ENTER;
	case '\t':
		return TUI_KEY_TAB;
	case 27:
		return TUI_KEY_ESCAPE;
	case 127:
	case 8:
		return TUI_KEY_BACKSPACE;
	default:
		return c < 32 ? (tui_key)(c + 'a' - 1) | TUI_CTRL : (tui_key)c;
	}
}

/* A key that curses names by its terminfo entry: "kLFT3" is Alt-Left. */
static tui_key from_name(wint_t c)
{
	static const struct {
		const char *name;
		tui_key key;
	} extended[] = {
	    {"kLFT3", TUI_KEY_LEFT | TUI_ALT},
	    {"kRIT3", TUI_KEY_RIGHT | TUI_ALT},
	    {"kUP3", TUI_KEY_UP | TUI_ALT},
	    {"kDN3", TUI_KEY_DOWN | TUI_ALT},
	};
	const char *name = keyname((int)c);

	for (size_t i = 0; name && i < sizeof extended / sizeof *extended; i++)
		if (!strcmp(name, extended[i].name))
			return extended[i].key;
	return TUI_KEY_NONE;
}

static void read_mouse(void)
{
	MEVENT event;
	struct term_mouse m = {0};

	if (getmouse(&event) == OK) {
		m.row = event.y;
		m.column = event.x;
		m.ctrl = event.bstate & BUTTON_CTRL;
		m.shift = event.bstate & BUTTON_SHIFT;
		if (event.bstate & BUTTON4_PRESSED)
			m.what = MOUSE_WHEEL_UP;
		else if (event.bstate & BUTTON5_PRESSED)
			m.what = MOUSE_WHEEL_DOWN;
		else if (event.bstate &
			 (BUTTON1_DOUBLE_CLICKED | BUTTON3_DOUBLE_CLICKED))
			m.what = MOUSE_DOUBLE;
		else if (event.bstate & (BUTTON1_PRESSED | BUTTON3_PRESSED |
					 BUTTON1_CLICKED | BUTTON3_CLICKED))
			m.what = MOUSE_PRESS;
	}
	term.mouse = m;
}

struct term_mouse term_mouse(void)
{
	return term.mouse;
}

static tui_key read_key(void)
{
	wint_t c;
	tui_key key;
	int r = get_wch(&c);

	if (r == ERR)
		return TUI_KEY_NONE;
	if (r != KEY_CODE_YES)
		return from_character(c);
	key = from_special(c);
	if (key == TUI_KEY_MOUSE)
		read_mouse();
	return key != TUI_KEY_NONE ? key : from_name(c);
}

tui_key term_key(void)
{
	tui_key key = read_key(), next;

	if (key != TUI_KEY_ESCAPE)
		return key;
	/* Alt-x arrives as Esc, then x, at once. */
	next = read_key();
	return next == TUI_KEY_NONE ? TUI_KEY_ESCAPE : next | TUI_ALT;
}
