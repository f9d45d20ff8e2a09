/* term.c - shows grids and reads keys by means of ncurses. */
#define NCURSES_WIDECHAR 1

#include "tui/term.h"

#include "base/clock.h"
#include "base/err.h"
#include "tui/color.h"
#include "tui/crash.h"
#include "tui/mouse_code.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
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

/* Codes for what curses has no key for. */
enum { PASTE_BEGIN = KEY_MAX + 0x400, PASTE_END, MOUSE_SGR };

/* A paste whose end was lost ends when nothing comes for so long. */
#define PASTE_NS (GK_NS_PER_S / 2)

/* Pairs of curses: 1 + colour, on the terminal's own background. */
#define PAIR(color) ((short)((color) + 1))

static struct {
	bool open;
	struct term_options options;
	struct grid shown; /* what the terminal shows */
	int colors;
	struct term_mouse mouse;
	bool asks_sgr; /* of the mouse; curses does of other terminals */
	bool tells_pastes, pasting;
	uint64_t pasted_ns; /* when the last of it came */
	SCREEN *screen;
} term;

/* ---- beginning and end ---- */

/* The text that curses would send at the end; it may be curses that crashes. */
static void prepare_for_crash(void)
{
	if (key_mouse)
		tui_crash_add("\033[?1000l\033[?1002l\033[?1006l");
	if (term.tells_pastes)
		tui_crash_add("\033[?2004l");
	tui_crash_add(exit_attribute_mode);
	tui_crash_add(cursor_normal);
	tui_crash_add(keypad_local);
	tui_crash_add(exit_ca_mode);
	tui_crash_add("\r");
}

/* Numbers of colours are red, green and blue, but for the first few. */
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

/*
 * The old form of the mouse, the one that descriptions of screen and tmux
 * tell, has no wheel with Ctrl or Shift: these can the new one as well, or
 * pass it over. So it is with moves while a button is down, which no
 * description asks for.
 */
static void tell_mouse(bool on)
{
	if (!term.asks_sgr)
		return;
	putp(on ? "\033[?1002h\033[?1006h" : "\033[?1006l\033[?1002l");
	fflush(stdout); /* which curses does not write to */
}

static void listen_to_mouse(void)
{
	term.asks_sgr = key_mouse && (!strcmp(key_mouse, "\033[M") ||
				      !strcmp(key_mouse, "\033[<"));
	if (term.asks_sgr)
		define_key("\033[<", MOUSE_SGR);
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
	tell_mouse(options->mouse);
	term_forget();
}

/* Asked once: the description is read for it, and let go. */
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

/* Terminals that can tell what is pasted from what is typed do. */
static void tell_pastes(bool on)
{
	if (!term.tells_pastes)
		return;
	putp(on ? "\033[?2004h" : "\033[?2004l");
	fflush(stdout); /* which curses does not write to */
}

/*
 * Few descriptions say that a terminal can; those that come from xterm can,
 * or pass it over.
 */
static void listen_to_pastes(void)
{
	term.tells_pastes =
	    exit_ca_mode && strstr(exit_ca_mode, "1049") && key_mouse;
	if (!term.tells_pastes)
		return;
	define_key("\033[200~", PASTE_BEGIN);
	define_key("\033[201~", PASTE_END);
	tell_pastes(true);
}

int term_colors(void)
{
	return term_usable() && kind.colors > 0 ? kind.colors : 0;
}

/*
 * Cells are drawn to newscr, which is what doupdate() shows: stdscr, a copy of
 * it as a rule, is there for the keys alone. It grows with a terminal of one
 * cell, and would be shown before a key is read if it were touched.
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
	/* LINES and COLUMNS may be of a shell elsewhere. */
	use_env(FALSE);
	use_tioctl(TRUE);
	/* newterm() and not initscr(), which ends the program on failure. */
	term.screen = newterm(NULL, stdout, stdin);
	if (!term.screen) {
		tui_crash_release();
		return GK_ERR_NOT_SUPPORTED;
	}
	/* It is remembered over endwin(), and hidden on our screen alone. */
	curs_set(0);
	/*
	 * Curses flushes at every move of the cursor until it has come back
	 * from endwin() once. It is to be back before the mouse is asked for:
	 * it would ask anew, for clicks alone.
	 */
	endwin();
	refresh();
	shrink_stdscr();
	set_escdelay(ESC_DELAY_MS);
	raw();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	init_colors();
	term.open = true;
	listen_to_pastes();
	listen_to_mouse();
	prepare_for_crash();
	term_options_set(options);
	return 0;
}

void term_close(void)
{
	if (!term.open)
		return;
	term.open = false;
	mousemask(0, NULL);
	tell_mouse(false);
	tell_pastes(false);
	endwin();
	tui_crash_release();
	delscreen(term.screen);
	grid_free(&term.shown);
}

void term_suspend(void)
{
	tell_mouse(false);
	tell_pastes(false);
	endwin();
}

void term_resume(void)
{
	doupdate();
	tell_mouse(term.options.mouse);
	tell_pastes(true);
	term_resized(); /* who was stopped was not told */
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
	if (term.options.theme == TUI_LIGHT && color == 7)
		color = 0; /* white would not be seen */
	return tui_color_among(color, term.colors);
}

/* The pair of a colour and a background that is not the terminal's own. */
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

/* Draws the cells of a row that differ from what is shown. */
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
		else if (event.bstate & (BUTTON1_RELEASED | BUTTON3_RELEASED))
			m.what = MOUSE_RELEASE;
	}
	term.mouse = m;
}

/* The rest of its text comes at once, or is lost. */
static tui_key read_mouse_code(void)
{
	char text[TUI_MOUSE_CODE_MAX] = "";
	bool good = true, ended = false;
	wint_t c;

	timeout(ESC_DELAY_MS);
	for (size_t i = 0; good && !ended && i + 1 < sizeof text; i++) {
		good = get_wch(&c) == OK && c < 0x80;
		if (good)
			text[i] = (char)c;
		ended = c == 'M' || c == 'm';
	}
	nodelay(stdscr, TRUE);
	term.mouse = (struct term_mouse){0};
	if (good)
		tui_mouse_code(text, &term.mouse);
	return TUI_KEY_MOUSE;
}

struct term_mouse term_mouse(void)
{
	return term.mouse;
}

/* Whether a key code was the begin or the end of a paste. */
static bool see_paste(wint_t c)
{
	if (c != PASTE_BEGIN && c != PASTE_END)
		return false;
	term.pasting = c == PASTE_BEGIN;
	return true;
}

static void time_paste(void)
{
	uint64_t now = gk_mono_ns();

	if (term.pasting && now - term.pasted_ns > PASTE_NS)
		term.pasting = false;
	term.pasted_ns = now;
}

static tui_key read_key(void)
{
	wint_t c;
	tui_key key;
	int r = get_wch(&c);

	while (r == KEY_CODE_YES && see_paste(c)) {
		term.pasted_ns = gk_mono_ns();
		r = get_wch(&c);
	}
	if (r == ERR)
		return TUI_KEY_NONE;
	time_paste();
	if (r != KEY_CODE_YES)
		return tui_key_of_character((wchar_t)c);
	if (c == MOUSE_SGR)
		return read_mouse_code();
	key = from_special(c);
	if (key == TUI_KEY_MOUSE)
		read_mouse();
	return key != TUI_KEY_NONE ? key : from_name(c);
}

bool term_pasted(void)
{
	return term.pasting;
}

tui_key term_key(void)
{
	tui_key key = read_key(), next;

	if (key != TUI_KEY_ESCAPE)
		return key;
	/* Alt-x arrives as Esc, then x, at once. */
	next = read_key();
	if (next == TUI_KEY_ESCAPE) { /* typed twice */
		ungetch(27);
		return TUI_KEY_ESCAPE;
	}
	return next == TUI_KEY_NONE ? TUI_KEY_ESCAPE : next | TUI_ALT;
}
