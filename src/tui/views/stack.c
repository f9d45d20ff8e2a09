/* SPDX-License-Identifier: Apache-2.0 */
/* stack.c - opens and leaves screens, which form a stack. */
#include "base/assert.h"
#include "tui/lanes/state.h"
#include "tui/views/view.h"

const struct view *view_of(const struct tui *t)
{
	return &t->views[t->screen];
}

const struct gk_process *tui_process(const struct tui *t)
{
	const struct view *view = view_of(t);

	return view->process ? view->process(t) : NULL;
}

bool tui_back(struct tui *t)
{
	struct tui_below *below;

	if (!t->below_count)
		return false;
	if (t->views[t->screen].close)
		t->views[t->screen].close(t);
	below = &t->below[--t->below_count];
	t->screen = below->screen;
	t->scroll = below->scroll;
	t->scroll_left = below->scroll_left;
	return true;
}

static bool is_below(const struct tui *t, enum tui_screen screen)
{
	for (int i = 0; i < t->below_count; i++)
		if (t->below[i].screen == screen)
			return true;
	return false;
}

static void put_on_top(struct tui *t, enum tui_screen screen)
{
	const struct view *view = &t->views[screen];

	if (!view->draw) {
		tui_say(t, "There is no %s screen yet.", view->title);
		return;
	}
	if (view->open && !view->open(t))
		return;
	t->below[t->below_count++] =
	    (struct tui_below){t->screen, t->scroll, t->scroll_left};
	t->screen = screen;
	t->scroll = t->scroll_left = 0;
}

void tui_open(struct tui *t, enum tui_screen screen)
{
	GK_ASSERT(screen < SCREEN_COUNT);
	if (screen == t->screen) {
		tui_back(t);
	} else if (is_below(t, screen)) {
		while (t->screen != screen)
			tui_back(t);
	} else {
		put_on_top(t, screen);
	}
}

void tui_frame(struct tui *t)
{
	lanes_frame(t);
	for (int i = 0; i < t->below_count; i++)
		if (t->views[t->below[i].screen].frame)
			t->views[t->below[i].screen].frame(t);
	if (t->views[t->screen].frame)
		t->views[t->screen].frame(t);
}
