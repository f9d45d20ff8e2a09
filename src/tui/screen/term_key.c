/* SPDX-License-Identifier: Apache-2.0 */
/*
 * term_key.c - reads the terminal's input: keys, mouse events, pasted text, and
 * the answer about the background.
 */
#define NCURSES_WIDECHAR 1

#include "tui/screen/term_part.h"

#include "base/clock.h"
#include "tui/screen/ground.h"
#include "tui/screen/mouse_code.h"
#include "tui/screen/term.h"

#include <curses.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The term.h of ncurses defines these names as macros. */
#include <term.h>
#undef columns
#undef lines

#define ESC_DELAY_MS 25

/* Key codes that we define with define_key(). */
enum { PASTE_BEGIN = KEY_MAX + 0x400, PASTE_END, MOUSE_SGR, ANSWER };

/*
 * The terminal's answer about its background is expected for at most 5 s. In
 * that time, characters of an answer may arrive up to 250 ms apart, so a lone
 * Esc is also recognised only after 250 ms.
 */
#define ANSWER_DELAY_MS 250
#define ANSWER_DELAY_NS (5 * GK_NS_PER_S)

/*
 * Times after the query. Drawing is delayed until the answer arrives, for at
 * most DRAW_NS. Leaving the viewer is delayed for at most LEAVE_NS, so that the
 * shell does not read the answer.
 */
#define DRAW_NS  (50 * GK_NS_PER_MS)
#define LEAVE_NS (250 * GK_NS_PER_MS)

/*
 * If the end of a paste does not arrive, the paste ends after a pause of this
 * length.
 */
#define PASTE_NS (GK_NS_PER_S / 2)

static struct {
	struct term_mouse mouse;
	bool asks_sgr; /* we, not curses, enable SGR mouse events */
	bool tells_pastes,
	    pasting; /* bracketed paste is supported; a paste is under way */
	uint64_t pasted_ns; /* time of the last pasted character */
	struct tui_answer answer;
	enum tui_ground ground;
	uint64_t asked_ns; /* time of the query; 0: no answer is expected */
} typed;

/* ---- the mouse and pastes ---- */

/*
 * The old mouse encoding, which the terminfo descriptions of screen and tmux
 * announce, does not report Ctrl or Shift with the wheel. So we enable the SGR
 * encoding (1006), and reports of movement while a button is down (1002), which
 * no description enables. Terminals that lack them ignore the sequences.
 */
void term_tell_mouse(bool on)
{
	if (!typed.asks_sgr)
		return;
	putp(on ? "\033[?1002h\033[?1006h" : "\033[?1006l\033[?1002l");
	fflush(stdout); /* the buffer of curses is a separate one */
}

static void listen_to_mouse(void)
{
	typed.asks_sgr = key_mouse && (!strcmp(key_mouse, "\033[M") ||
				       !strcmp(key_mouse, "\033[<"));
	if (typed.asks_sgr)
		define_key("\033[<", MOUSE_SGR);
}

/* Enables bracketed paste, in which the terminal marks pasted text. */
void term_tell_pastes(bool on)
{
	if (!typed.tells_pastes)
		return;
	putp(on ? "\033[?2004h" : "\033[?2004l");
	fflush(stdout); /* the buffer of curses is a separate one */
}

/*
 * Few terminfo descriptions mention bracketed paste. Terminals that resemble
 * xterm support it or ignore the sequence.
 */
static void listen_to_pastes(void)
{
	typed.tells_pastes =
	    exit_ca_mode && strstr(exit_ca_mode, "1049") && key_mouse;
	if (!typed.tells_pastes)
		return;
	define_key("\033[200~", PASTE_BEGIN);
	define_key("\033[201~", PASTE_END);
	term_tell_pastes(true);
}

bool term_tells_pastes(void)
{
	return typed.tells_pastes;
}

void term_listen(void)
{
	set_escdelay(ESC_DELAY_MS);
	listen_to_pastes();
	listen_to_mouse();
}

/* ---- the background ---- */

bool term_light(void)
{
	return typed.ground == GROUND_LIGHT;
}

uint64_t term_answer_due(void)
{
	return typed.asked_ns ? typed.asked_ns + DRAW_NS : 0;
}

static void end_asking(void)
{
	typed.asked_ns = 0;
	set_escdelay(ESC_DELAY_MS);
}

/* Queries only terminals whose answer can be distinguished from keys. */
void term_ask_ground(void)
{
	if (typed.ground)
		return;
	typed.ground = tui_ground_of_variable(getenv("COLORFGBG"));
	if (!typed.ground)
		typed.ground = GROUND_DARK;
	if (!typed.tells_pastes || getenv("TMUX") || getenv("STY") ||
	    !tui_ground_is_told_by(getenv("TERM")))
		return;
	define_key(TUI_GROUND_BEGIN, ANSWER);
	set_escdelay(ANSWER_DELAY_MS);
	typed.asked_ns = gk_mono_ns();
	putp(TUI_GROUND_ASK);
	fflush(stdout); /* the buffer of curses is a separate one */
}

static bool takes_answer(wint_t c)
{
	enum tui_ground told = GROUND_UNKNOWN;
	bool taken =
	    tui_answer_take(&typed.answer, (wchar_t)c, gk_mono_ns(), &told);

	if (taken && !typed.answer.open)
		end_asking();
	if (told)
		typed.ground = told;
	return taken;
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

/* Keys that have only a terminfo name: "kLFT3" is Alt-Left. */
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
	typed.mouse = m;
}

/*
 * Reads the rest of an SGR mouse event. It follows without delay, unless it was
 * lost.
 */
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
	typed.mouse = (struct term_mouse){0};
	if (good)
		tui_mouse_code(text, &typed.mouse);
	return TUI_KEY_MOUSE;
}

struct term_mouse term_mouse(void)
{
	return typed.mouse;
}

/* Whether a key code marks the beginning or end of a paste. */
static bool see_paste(wint_t c)
{
	if (c != PASTE_BEGIN && c != PASTE_END)
		return false;
	typed.pasting = c == PASTE_BEGIN;
	return true;
}

static void time_paste(void)
{
	uint64_t now = gk_mono_ns();

	if (typed.pasting && now - typed.pasted_ns > PASTE_NS)
		typed.pasting = false;
	typed.pasted_ns = now;
}

/* Handles input that is not a key: the marks of a paste, and answers. */
static bool is_no_key(int r, wint_t c)
{
	if (r == OK)
		return takes_answer(c);
	if (r != KEY_CODE_YES)
		return false;
	if (c == ANSWER) {
		tui_answer_begin(&typed.answer, gk_mono_ns());
		return true;
	}
	if (!see_paste(c))
		return false;
	typed.pasted_ns = gk_mono_ns();
	return true;
}

static tui_key read_key(void)
{
	wint_t c;
	tui_key key;
	int r;

	if (typed.asked_ns && gk_mono_ns() - typed.asked_ns > ANSWER_DELAY_NS)
		end_asking();
	do
		r = get_wch(&c);
	while (is_no_key(r, c));
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

/* If we did not wait for the answer, the shell would read it. */
void term_await_answer(void)
{
	uint64_t end = typed.asked_ns + LEAVE_NS, now;

	while (typed.asked_ns && (now = gk_mono_ns()) < end) {
		timeout((int)((end - now) / GK_NS_PER_MS) + 1);
		if (read_key() == TUI_KEY_NONE)
			break;
	}
	nodelay(stdscr, TRUE);
}

bool term_pasted(void)
{
	return typed.pasting;
}

tui_key term_key(void)
{
	tui_key key = read_key(), next;

	if (key != TUI_KEY_ESCAPE)
		return key;
	/* Alt-x arrives as Esc, immediately followed by x. */
	next = read_key();
	if (next == TUI_KEY_ESCAPE) { /* Esc was pressed twice */
		ungetch(27);
		return TUI_KEY_ESCAPE;
	}
	return next == TUI_KEY_NONE ? TUI_KEY_ESCAPE : next | TUI_ALT;
}
