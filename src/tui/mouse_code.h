/*
 * mouse_code.h - what the mouse did, as terminals write it in their SGR form,
 * the one that tells every button with Ctrl and Shift.
 */
#ifndef GK_TUI_MOUSE_CODE_H
#define GK_TUI_MOUSE_CODE_H

#include "tui/term.h"

/* Longest text, without what it begins with. */
#define TUI_MOUSE_CODE_MAX 24

/*
 * Reads what follows "\033[<": "64;10;5M" is the wheel turned up over column 9
 * of row 4. False: it is no such text.
 */
bool tui_mouse_code(const char *text, struct term_mouse *ret_mouse);

#endif
