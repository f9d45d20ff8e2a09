/*
 * view_settings.c - the settings screen: the table of settings, a line each;
 * what is changed holds at once and is written when the user says so.
 */
#include "base/err.h"
#include "tui/config.h"
#include "tui/settings.h"
#include "tui/view.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define HEAD        1 /* the title */
#define NAME_WIDTH  20
#define VALUE_WIDTH 12
#define CYAN        6
#define YELLOW      3

size_t view_settings_count(const struct tui *t)
{
	(void)t;
	return tui_setting_count;
}

long view_settings_selected(const struct tui *t)
{
	return t->setting;
}

void view_settings_select(struct tui *t, long position)
{
	t->setting = position < 0 ? 0 : position;
	view_follow(t, HEAD + (int)t->setting, HEAD, t->rows - HEAD);
}

/* ---- drawing ---- */

static void draw_title(const struct tui *t, struct grid *g)
{
	static const char text[] = "Settings   Enter: change   s: save   "
				   "* from the next start on";

	(void)t;
	grid_blank(g, 0, 0, 1, g->columns);
	grid_line(g, 0, 0, text, strlen(text),
		  (struct grid_style){CYAN, GRID_REVERSE});
	grid_tint(g, 0, 0, g->columns, CYAN);
	grid_mark(g, 0, 0, g->columns, GRID_REVERSE, 0);
}

static void draw_row(const struct tui *t, struct grid *g, size_t i)
{
	const struct tui_setting *s = &tui_settings[i];
	int row = HEAD + (int)i - t->scroll;
	char value[TUI_SETTING_TEXT], text[256];

	if (row < HEAD)
		return;
	snprintf(text, sizeof text, " %-*s %-*s %c %s", NAME_WIDTH, s->name,
		 VALUE_WIDTH, tui_setting_text(s, &t->options, value),
		 s->later ? '*' : ' ', s->help);
	grid_line(g, row, 0, text, strlen(text), GRID_PLAIN);
	grid_mark(g, row, NAME_WIDTH + 2, VALUE_WIDTH, GRID_BOLD, 0);
	if ((long)i != t->setting)
		return;
	grid_tint(g, row, 0, g->columns, CYAN);
	grid_mark(g, row, 0, g->columns, GRID_REVERSE, 0);
}

int view_settings(struct tui *t, struct grid *g)
{
	const char *path = t->options.path ? t->options.path : "none";
	int row = HEAD + (int)tui_setting_count + 1 - t->scroll;
	char text[300];

	for (size_t i = 0; i < tui_setting_count; i++)
		draw_row(t, g, i);
	snprintf(text, sizeof text, " File: %s", path);
	if (row >= HEAD)
		grid_line(g, row, 0, text, strlen(text),
			  (struct grid_style){YELLOW, 0});
	draw_title(t, g);
	return HEAD + (int)tui_setting_count + 2;
}

/* ---- keys ---- */

static void change(struct tui *t, int by)
{
	const struct tui_setting *s = &tui_settings[t->setting];

	/* What forbids changes is not undone from inside. */
	if (s->at == offsetof(struct tui_options, readonly) &&
	    t->options.readonly) {
		tui_say(t, "readonly lasts until the viewer is left");
		return;
	}
	tui_setting_step(s, &t->options, by);
	term_options_set(&t->options.term);
	tui_list_update(t);
}

static void save(struct tui *t)
{
	int err = tui_config_save(&t->options);

	if (err == GK_ERR_NOT_FOUND)
		tui_say(t, "nothing is saved: there is no home directory");
	else if (err)
		tui_say(t, "%s is not written: %s", t->options.path,
			gk_strerror(err));
	else
		tui_say(t, "saved in %s", t->options.path);
}

bool view_settings_act(struct tui *t, enum tui_action action)
{
	bool on =
	    action == ACTION_SETTING_CHANGE || action == ACTION_SCROLL_RIGHT;

	if (action == ACTION_SETTINGS_SAVE)
		save(t);
	else if (on || action == ACTION_SETTING_CHANGE_BACK ||
		 action == ACTION_SCROLL_LEFT)
		change(t, on ? 1 : -1);
	else
		return false;
	return true;
}
