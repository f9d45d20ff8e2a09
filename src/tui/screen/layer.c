/* SPDX-License-Identifier: Apache-2.0 */
/* layer.c - passes keys and mouse events to the open dialog or prompt. */
#include "tui/screen/layer.h"

#include "tui/model/model.h"

bool tui_layer_key(struct tui *t, tui_key key)
{
	if (t->dialog.kind)
		tui_dialog_key(t, key);
	else if (t->prompt.kind)
		tui_prompt_key(t, key);
	else
		return false;
	return true;
}

bool tui_layer_mouse(struct tui *t, struct term_mouse mouse)
{
	if (t->dialog.kind)
		tui_dialog_mouse(t, mouse);
	return t->dialog.kind || t->prompt.kind;
}

void tui_layer_draw(struct tui *t, struct grid *g)
{
	if (t->prompt.kind)
		tui_prompt_draw(t, g);
	if (t->dialog.kind)
		tui_dialog_draw(t, g);
}
