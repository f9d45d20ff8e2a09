/* SPDX-License-Identifier: Apache-2.0 */
/* press.c - handles keys and the mouse. */
#include "tui/model/model.h"
#include "tui/screen/layer.h"
#include "tui/screen/mouse.h"
#include "tui/screen/term.h"

void tui_key_pressed(struct tui *t, tui_key key)
{
	enum tui_action action;

	if (key == TUI_KEY_MOUSE) {
		tui_mouse(t, term_mouse());
		return;
	}
	if (tui_layer_key(t, key))
		return;
	action = tui_keymap_take(t->keymap, 1U << t->screen, key, &t->pending);
	if (action == ACTION_NONE && key == ('c' | TUI_CTRL))
		tui_say(t, "q goes back, and quits on the main screen");
	tui_do(t, action);
}
