/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mouse_code.h - parses mouse events in xterm's SGR encoding, which reports
 * Ctrl and Shift with every button.
 */
#ifndef GK_TUI_MOUSE_CODE_H
#define GK_TUI_MOUSE_CODE_H

#include "tui/screen/term.h"

/* Size of the longest text after "\033[<", including its NUL. */
#define TUI_MOUSE_CODE_MAX 24

/*
 * Parses the text after "\033[<". For example, "64;10;5M" means that the wheel
 * was turned up at column 9 of row 4. Returns false if it is not valid.
 */
bool tui_mouse_code(const char *text, struct term_mouse *ret_mouse);

#endif
