/* SPDX-License-Identifier: Apache-2.0 */
/* items.c - lists the items of the settings screen and changes them. */
#include "tui/settings/items.h"

#include "base/assert.h"
#include "tui/settings/bindings.h"
#include "tui/settings/config.h"
#include "tui/settings/settings.h"
#include "tui/settings/shell_words.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define COMMAND_NAME "alerts.command"
#define COMMAND_HELP "program that an alert runs, and arguments"
#define ACTIONS      (ACTION_COUNT - 1) /* without ACTION_NONE */
#define NOT_SHOWN    "off"

/* ---- the lines of the screen ---- */

/* Returns the position of the first item of a kind. */
static size_t first_item(enum tui_item_kind kind)
{
	switch (kind) {
	case ITEM_SETTING:
		return 0;
	case ITEM_COMMAND:
		return tui_setting_count;
	case ITEM_COLUMN:
		return tui_setting_count + 1;
	case ITEM_KEYS:
		break;
	}
	return tui_setting_count + 1 + GK_COLUMN_COUNT;
}

size_t tui_item_count(void)
{
	return first_item(ITEM_KEYS) + ACTIONS;
}

static int place_of_item_column(const struct gk_columns *columns, int column)
{
	for (int i = 0; i < columns->count; i++)
		if (columns->id[i] == column)
			return i;
	return -1;
}

/*
 * Returns the column at a position: first the visible columns, then the others
 * in table order.
 */
static int column_at(const struct tui *t, int at)
{
	struct gk_columns shown = tui_columns(t);

	if (at < shown.count)
		return shown.id[at];
	at -= shown.count;
	for (int c = 0; c < GK_COLUMN_COUNT; c++)
		if (place_of_item_column(&shown, c) < 0 && !at--)
			return c;
	return 0;
}

struct tui_item tui_item_at(const struct tui *t, size_t position)
{
	int kind = ITEM_KEYS;
	int at;

	GK_ASSERT(position < tui_item_count());
	while (kind > 0 && position < first_item((enum tui_item_kind)kind))
		kind--;
	at = (int)(position - first_item((enum tui_item_kind)kind));
	if (kind == ITEM_COLUMN)
		at = column_at(t, at);
	else if (kind == ITEM_KEYS)
		at++;
	return (struct tui_item){(enum tui_item_kind)kind, at};
}

size_t tui_item_position(const struct tui *t, struct tui_item item)
{
	size_t position = first_item(item.kind);

	for (; position < tui_item_count(); position++)
		if (tui_item_at(t, position).id == item.id)
			break;
	return position;
}

/* ---- texts ---- */

char *tui_item_name(struct tui_item item, char *dst)
{
	char action[TUI_ACTION_NAME];

	switch (item.kind) {
	case ITEM_SETTING:
		gk_str_copy(dst, TUI_ITEM_NAME, tui_settings[item.id].name);
		break;
	case ITEM_COMMAND:
		gk_str_copy(dst, TUI_ITEM_NAME, COMMAND_NAME);
		break;
	case ITEM_COLUMN:
		snprintf(dst, TUI_ITEM_NAME, "columns.%s",
			 gk_column_infos[item.id].name);
		break;
	case ITEM_KEYS:
		snprintf(dst, TUI_ITEM_NAME, "keys.%s",
			 tui_action_name((enum tui_action)item.id, action));
		break;
	}
	return dst;
}

static void column_value(const struct tui *t, int column, char *dst)
{
	struct gk_columns shown = tui_columns(t);
	int at = place_of_item_column(&shown, column);

	if (at < 0)
		gk_str_copy(dst, TUI_ITEM_TEXT, NOT_SHOWN);
	else
		snprintf(dst, TUI_ITEM_TEXT, "%d", at + 1);
}

char *tui_item_value(const struct tui *t, struct tui_item item, char *dst)
{
	char value[TUI_SETTING_TEXT];
	const char *keys;

	switch (item.kind) {
	case ITEM_SETTING:
		gk_str_copy(dst, TUI_ITEM_TEXT,
			    tui_setting_text(&tui_settings[item.id],
					     &t->options, value));
		break;
	case ITEM_COMMAND:
		tui_shell_join(t->options.alerts.command, dst, TUI_ITEM_TEXT);
		break;
	case ITEM_COLUMN:
		column_value(t, item.id, dst);
		break;
	case ITEM_KEYS:
		keys = tui_bindings_of(&t->options, (enum tui_action)item.id);
		gk_str_copy(dst, TUI_ITEM_TEXT, keys);
		break;
	}
	return dst;
}

const char *tui_item_help(struct tui_item item)
{
	switch (item.kind) {
	case ITEM_SETTING:
		return tui_settings[item.id].help;
	case ITEM_COMMAND:
		return COMMAND_HELP;
	case ITEM_COLUMN:
		return gk_column_infos[item.id].help;
	case ITEM_KEYS:
		break;
	}
	return tui_keys[item.id].help;
}

bool tui_item_is_choice(struct tui_item item)
{
	enum tui_setting_kind kind;

	if (item.kind != ITEM_SETTING)
		return item.kind == ITEM_COLUMN;
	kind = tui_settings[item.id].kind;
	return kind == SETTING_YES || kind == SETTING_NO ||
	       kind == SETTING_CHOICE;
}

/* ---- effects of a change ---- */

static bool is_setting_between(struct tui_item item, size_t at, size_t len)
{
	return item.kind == ITEM_SETTING && tui_settings[item.id].at >= at &&
	       tui_settings[item.id].at < at + len;
}

static void apply_item(struct tui *t, struct tui_item item)
{
	const struct tui_options *o = &t->options;

	if (is_setting_between(item, offsetof(struct tui_options, order),
			       sizeof o->order))
		t->order = o->order;
	if (is_setting_between(item, offsetof(struct tui_options, key_set),
			       sizeof o->key_set))
		tui_bindings_apply(t);
	term_options_set(&o->term);
	tui_list_update(t);
}

/* While `readonly` is set, the viewer cannot be used to clear it. */
static bool is_locked(const struct tui *t, struct tui_item item)
{
	return t->options.readonly &&
	       is_setting_between(item, offsetof(struct tui_options, readonly),
				  1);
}

/* ---- setting an item from a text ---- */

/* Accepts lists in the syntax of the config file, such as "[10, 75]". */
static bool set_setting(const struct tui_setting *s, struct tui_options *o,
			const char *text, char *error, size_t cap)
{
	const char *words[8];
	char copy[TUI_ITEM_TEXT], *rest = NULL;
	size_t count = 0;

	gk_str_copy(copy, sizeof copy, text);
	for (char *word = strtok_r(copy, " ,[]", &rest); word && count < 8;
	     word = strtok_r(NULL, " ,[]", &rest))
		words[count++] = word;
	if (tui_setting_set(s, o, words, count))
		return true;
	tui_setting_wants(s, error, cap);
	return false;
}

static bool set_command(struct tui *t, const char *text, bool keep, char *error,
			size_t cap)
{
	char **words;

	if (!tui_shell_split(text, &words)) {
		snprintf(error, cap, "a quote is not closed");
		return false;
	}
	if (!keep) {
		tui_shell_free(words);
		return true;
	}
	tui_shell_free(t->options.alerts.command);
	t->options.alerts.command = words;
	return true;
}

static bool set_item(struct tui *t, struct tui_item item, const char *text,
		     bool keep, char *error, size_t cap)
{
	struct tui_options tried = t->options;

	*error = '\0';
	switch (item.kind) {
	case ITEM_SETTING:
		return set_setting(&tui_settings[item.id],
				   keep ? &t->options : &tried, text, error,
				   cap);
	case ITEM_COMMAND:
		return set_command(t, text, keep, error, cap);
	case ITEM_KEYS:
		return tui_bindings_set(t, (enum tui_action)item.id, text, keep,
					error, cap);
	case ITEM_COLUMN:
		break;
	}
	return false;
}

bool tui_item_try(struct tui *t, struct tui_item item, const char *text,
		  char *error, size_t cap)
{
	return set_item(t, item, text, false, error, cap);
}

bool tui_item_set(struct tui *t, struct tui_item item, const char *text,
		  char *error, size_t cap)
{
	if (!set_item(t, item, text, true, error, cap))
		return false;
	apply_item(t, item);
	return true;
}

/* ---- steps ---- */

/*
 * Converts to text and back, because parsing puts the columns into an order
 * that can be shown.
 */
static void set_columns(struct tui *t, const struct gk_columns *columns)
{
	char text[GK_COLUMNS_TEXT];
	const char *bad;

	gk_columns_parse(gk_columns_text(text, columns), &t->options.columns,
			 &bad);
}

static void toggle_column(struct tui *t, int column)
{
	struct gk_columns shown = tui_columns(t);
	int at = place_of_item_column(&shown, column);

	if (at < 0) {
		shown.id[shown.count++] = (unsigned char)column;
	} else if (shown.count > 1) {
		memmove(shown.id + at, shown.id + at + 1,
			(size_t)(--shown.count - at) * sizeof *shown.id);
	} else {
		tui_say(t, "At least one column must stay.");
		return;
	}
	set_columns(t, &shown);
}

void tui_item_step(struct tui *t, struct tui_item item, int by)
{
	if (is_locked(t, item)) {
		tui_say(t, "readonly cannot be turned off in the viewer.");
		return;
	}
	if (item.kind == ITEM_SETTING)
		tui_setting_step(&tui_settings[item.id], &t->options, by);
	else if (item.kind == ITEM_COLUMN)
		toggle_column(t, item.id);
	apply_item(t, item);
}

void tui_item_move(struct tui *t, struct tui_item item, int by)
{
	struct gk_columns shown = tui_columns(t);
	int at = place_of_item_column(&shown, item.id);

	if (item.kind != ITEM_COLUMN || at < 0 || at + by < 0 ||
	    at + by >= shown.count)
		return;
	shown.id[at] = shown.id[at + by];
	shown.id[at + by] = (unsigned char)item.id;
	set_columns(t, &shown);
	apply_item(t, item);
}

void tui_item_reset(struct tui *t, struct tui_item item)
{
	char value[TUI_SETTING_TEXT], error[96];
	const char *usual = "";

	if (is_locked(t, item))
		return;
	if (item.kind == ITEM_COLUMN) {
		t->options.columns.count = 0;
		apply_item(t, item);
		return;
	}
	if (item.kind == ITEM_SETTING)
		usual = tui_setting_text(&tui_settings[item.id],
					 &TUI_OPTIONS_DEFAULT, value);
	else if (item.kind == ITEM_KEYS)
		usual =
		    tui_bindings_usual(&t->options, (enum tui_action)item.id);
	if (!tui_item_set(t, item, usual, error, sizeof error) || *error)
		tui_say(t, "%s", error);
}
