/* SPDX-License-Identifier: Apache-2.0 */
/* mouse_code.c - parses mouse events in xterm's SGR encoding. */
#include "tui/screen/mouse_code.h"

#include <stdio.h>

/* Bits of the event's first number. */
enum { BUTTON = 3, SHIFT = 4, CTRL = 16, MOVED = 32, WHEEL = 64, MORE = 128 };

static enum term_mouse_what event_of_code(unsigned code)
{
	static const enum term_mouse_what wheels[] = {
	    MOUSE_WHEEL_UP, MOUSE_WHEEL_DOWN, MOUSE_NOTHING, MOUSE_NOTHING};
	static const enum term_mouse_what buttons[] = {
	    MOUSE_PRESS, MOUSE_NOTHING, MOUSE_PRESS, MOUSE_NOTHING};

	if (code & MORE)
		return MOUSE_NOTHING;
	if (code & MOVED)
		return buttons[code & BUTTON] == MOUSE_PRESS ? MOUSE_DRAG
							     : MOUSE_NOTHING;
	return (code & WHEEL ? wheels : buttons)[code & BUTTON];
}

bool tui_mouse_code(const char *text, struct term_mouse *ret_mouse)
{
	unsigned code, column, row;
	char end;
	int len = 0;

	if (sscanf(text, "%3u;%5u;%5u%c%n", &code, &column, &row, &end, &len) !=
		4 ||
	    text[len] || !column || !row || (end != 'M' && end != 'm'))
		return false;
	*ret_mouse = (struct term_mouse){
	    .what = end == 'M'                           ? event_of_code(code)
		    : event_of_code(code) == MOUSE_PRESS ? MOUSE_RELEASE
							 : MOUSE_NOTHING,
	    .row = (int)row - 1,
	    .column = (int)column - 1,
	    .ctrl = code & CTRL,
	    .shift = code & SHIFT,
	};
	return true;
}
