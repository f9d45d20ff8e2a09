/* SPDX-License-Identifier: Apache-2.0 */
/*
 * items.h - the items of the settings screen: the table of settings, then the
 * command of alerts, the columns of processes, and the keys of each action.
 * Changes take effect at once.
 */
#ifndef GK_TUI_ITEMS_H
#define GK_TUI_ITEMS_H

#include <stdbool.h>
#include <stddef.h>

struct tui;

enum tui_item_kind { ITEM_SETTING, ITEM_COMMAND, ITEM_COLUMN, ITEM_KEYS };

struct tui_item {
	enum tui_item_kind kind;
	/*
	 * The meaning depends on kind: a row of tui_settings, 0 for
	 * ITEM_COMMAND, a gk_column, or a tui_action.
	 */
	int id;
};

size_t tui_item_count(void);

/*
 * Return the item at a position, and the position of an item. Visible columns
 * come before hidden ones, in the order in which they are shown.
 */
struct tui_item tui_item_at(const struct tui *t, size_t position);
size_t tui_item_position(const struct tui *t, struct tui_item item);

/*
 * Return an item's name, such as "columns.user", its value in the form in which
 * it is typed, and a line of help. dst has the size below and is returned.
 */
#define TUI_ITEM_NAME 48
#define TUI_ITEM_TEXT 256
char *tui_item_name(struct tui_item item, char *dst);
char *tui_item_value(const struct tui *t, struct tui_item item, char *dst);
const char *tui_item_help(struct tui_item item);

/* Whether the user steps through the item's values rather than typing them. */
bool tui_item_is_choice(struct tui_item item);

/*
 * Set an item from a text. If the text is not valid, return false, and `error`
 * says which texts are valid. On success, `error` may contain a warning.
 * tui_item_try() only checks the text.
 */
bool tui_item_try(struct tui *t, struct tui_item item, const char *text,
		  char *error, size_t cap);
bool tui_item_set(struct tui *t, struct tui_item item, const char *text,
		  char *error, size_t cap);

/*
 * Sets an item to the next (1) or previous (-1) value. Shows or hides a column.
 */
void tui_item_step(struct tui *t, struct tui_item item, int by);

/* Moves a visible column by one position to the right (1) or left (-1). */
void tui_item_move(struct tui *t, struct tui_item item, int by);

/* Sets an item to its default. */
void tui_item_reset(struct tui *t, struct tui_item item);

#endif
