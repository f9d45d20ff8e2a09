/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_settings.c - the settings screen: a line for each item. Changes take
 * effect at once; a key saves them to the config file.
 */
#include "base/err.h"
#include "tui/settings/config.h"
#include "tui/settings/items.h"
#include "tui/settings/settings.h"
#include "tui/views/view.h"

#include <stdio.h>
#include <string.h>

#define HEAD        1 /* the title */
#define NAME_WIDTH  22
#define NAME_WIDE   30 /* name width on terminals of at least WIDE columns */
#define WIDE        110
#define VALUE_WIDTH 14
#define CYAN        6
#define YELLOW      3

/* Stores the current order of the processes as the value of its setting. */
bool view_settings_open(struct tui *t)
{
	t->options.order = t->order;
	return true;
}

size_t view_settings_count(const struct tui *t)
{
	(void)t;
	return tui_item_count();
}

long view_settings_selected(const struct tui *t)
{
	return t->setting;
}

/*
 * Selects an item and makes it visible. The path of the file is shown below the
 * last item; when that is selected, makes the path visible too.
 */
void view_settings_select(struct tui *t, long position)
{
	int line, last = (int)tui_item_count() - 1;

	t->setting = position < 0 ? 0 : position;
	line = HEAD + (int)t->setting + (t->setting == last ? 2 : 0);
	view_follow(t, line, HEAD, t->rows - HEAD);
}

long view_settings_at(const struct tui *t, int row)
{
	long at = row - HEAD + t->scroll;

	return row >= HEAD && at < (long)tui_item_count() ? at : -1;
}

void view_settings_text(const struct tui *t, size_t position,
			struct gk_buf *out)
{
	struct tui_item item = tui_item_at(t, position);
	char name[TUI_ITEM_NAME], value[TUI_ITEM_TEXT];

	gk_buf_printf(out, "%s %s %s", tui_item_name(item, name),
		      tui_item_value(t, item, value), tui_item_help(item));
}

static struct tui_item selected_item(const struct tui *t)
{
	return tui_item_at(t, (size_t)t->setting);
}

/* ---- drawing ---- */

static void draw_settings_title(struct grid *g)
{
	static const char text[] =
	    " Settings   Enter: change   Del: default   < >: move a column   "
	    "s: save";

	grid_blank(g, 0, 0, 1, g->columns);
	grid_line(g, 0, 0, text, strlen(text),
		  (struct grid_style){CYAN, GRID_REVERSE});
	grid_tint(g, 0, 0, g->columns, CYAN);
	grid_mark(g, 0, 0, g->columns, GRID_REVERSE, 0);
}

static void draw_setting_row(const struct tui *t, struct grid *g, size_t i)
{
	struct tui_item item = tui_item_at(t, i);
	int row = HEAD + (int)i - t->scroll;
	int width = g->columns < WIDE ? NAME_WIDTH : NAME_WIDE;
	char name[TUI_ITEM_NAME], value[TUI_ITEM_TEXT];
	char text[TUI_ITEM_NAME + TUI_ITEM_TEXT + 128];

	if (row < HEAD || row >= g->rows)
		return;
	snprintf(text, sizeof text, " %-*s %-*s %s", width,
		 tui_item_name(item, name), VALUE_WIDTH,
		 tui_item_value(t, item, value), tui_item_help(item));
	grid_line(g, row, 0, text, strlen(text), GRID_PLAIN);
	grid_mark(g, row, width + 2, VALUE_WIDTH, GRID_BOLD, 0);
	if ((long)i != t->setting)
		return;
	grid_tint(g, row, 0, g->columns, CYAN);
	grid_mark(g, row, 0, g->columns, GRID_REVERSE, 0);
}

int view_settings(struct tui *t, struct grid *g)
{
	const char *path = t->options.path ? t->options.path : "none";
	int count = (int)tui_item_count(), row = HEAD + count + 1 - t->scroll;
	char text[300];

	for (int i = 0; i < count; i++)
		draw_setting_row(t, g, (size_t)i);
	snprintf(text, sizeof text, " File: %s", path);
	if (row >= HEAD)
		grid_line(g, row, 0, text, strlen(text),
			  (struct grid_style){YELLOW, 0});
	draw_settings_title(g);
	return HEAD + count + 2;
}

/* ---- typing a value ---- */

/* Called while the user types. Shows an error, or which action loses a key. */
static void try_value(struct tui *t, const char *text)
{
	char note[sizeof t->prompt.note];

	tui_item_try(t, selected_item(t), text, note, sizeof note);
	tui_prompt_note(t, note);
}

static bool take_value(struct tui *t, const char *text)
{
	char note[sizeof t->prompt.note];
	bool good = tui_item_set(t, selected_item(t), text, note, sizeof note);

	if (!good)
		tui_prompt_note(t, note);
	else if (*note)
		tui_say(t, "%s", note);
	return good;
}

static const struct tui_prompt_kind kind = {
    .past = PROMPT_FORGETS,
    .changed = try_value,
    .entered = take_value,
};

static void edit_item(struct tui *t)
{
	char name[TUI_ITEM_NAME], label[TUI_ITEM_NAME + 2];
	char value[TUI_ITEM_TEXT];

	snprintf(label, sizeof label,
		 "%s: ", tui_item_name(selected_item(t), name));
	tui_prompt_open(t, &kind, label,
			tui_item_value(t, selected_item(t), value));
}

/* ---- keys ---- */

/* Changes the selected item, and keeps it selected even if it moves. */
static void change_item(struct tui *t,
			void (*how)(struct tui *, struct tui_item, int), int by)
{
	struct tui_item item = selected_item(t);

	how(t, item, by);
	view_settings_select(t, (long)tui_item_position(t, item));
}

static void step_setting(struct tui *t, int by, bool by_enter)
{
	struct tui_item item = selected_item(t);
	bool steps = item.kind == ITEM_SETTING || item.kind == ITEM_COLUMN;

	if (steps && (!by_enter || tui_item_is_choice(item)))
		change_item(t, tui_item_step, by);
	else
		edit_item(t);
}

static void save_settings(struct tui *t)
{
	bool kept;
	char why[TUI_CONFIG_WHY];
	int err = tui_config_save(&t->options, &kept, why);

	if (err == GK_ERR_NOT_FOUND)
		tui_say(t, "not saved: there is no home directory");
	else if (err)
		tui_say(t, "%s is not written: %s", t->options.path,
			*why ? why : gk_strerror(err));
	else
		tui_say(t, "saved in %s%s", t->options.path,
			kept ? "; the old file, with its comments, in .bak"
			     : "");
}

bool view_settings_act(struct tui *t, enum tui_action action)
{
	switch ((int)action) {
	case ACTION_SETTINGS_SAVE:
		save_settings(t);
		return true;
	case ACTION_SETTING_EDIT:
		step_setting(t, 1, true);
		return true;
	case ACTION_SETTING_CHANGE:
	case ACTION_SCROLL_RIGHT:
		step_setting(t, 1, false);
		return true;
	case ACTION_SETTING_CHANGE_BACK:
	case ACTION_SCROLL_LEFT:
		step_setting(t, -1, false);
		return true;
	case ACTION_SETTING_RESET:
		tui_item_reset(t, selected_item(t));
		return true;
	case ACTION_COLUMN_LEFT:
		change_item(t, tui_item_move, -1);
		return true;
	case ACTION_COLUMN_RIGHT:
		change_item(t, tui_item_move, 1);
		return true;
	default:
		return false;
	}
}
