/*
 * items.h - the lines of the settings screen: the table of settings, then the
 * command of alerts, the columns of processes, and the keys of each action.
 * What is changed holds at once.
 */
#ifndef GK_TUI_ITEMS_H
#define GK_TUI_ITEMS_H

#include <stdbool.h>
#include <stddef.h>

struct tui;

enum tui_item_kind { ITEM_SETTING, ITEM_COMMAND, ITEM_COLUMN, ITEM_KEYS };

struct tui_item {
	enum tui_item_kind kind;
	int id; /* a row of the table, a gk_column, a tui_action */
};

size_t tui_item_count(void);

/* Columns that are shown come before the others, in their order. */
struct tui_item tui_item_at(const struct tui *t, size_t position);
size_t tui_item_position(const struct tui *t, struct tui_item item);

/*
 * The name of an item, "columns.user", its value as it may be typed, and what
 * it is for. dst has room for the sizes below; they return it.
 */
#define TUI_ITEM_NAME 48
#define TUI_ITEM_TEXT 256
char *tui_item_name(struct tui_item item, char *dst);
char *tui_item_value(const struct tui *t, struct tui_item item, char *dst);
const char *tui_item_help(struct tui_item item);

/* Whether it has a few values to step through, and none to type. */
bool tui_item_is_choice(struct tui_item item);

/*
 * Sets an item from a text; false: it takes no such text, and error says which
 * it takes. With true, error may hold a warning. Trying changes nothing.
 */
bool tui_item_try(struct tui *t, struct tui_item item, const char *text,
		  char *error, size_t cap);
bool tui_item_set(struct tui *t, struct tui_item item, const char *text,
		  char *error, size_t cap);

/* The next value (1) or the one before (-1); a column comes or goes. */
void tui_item_step(struct tui *t, struct tui_item item, int by);

/* A column goes a place to the right (1) or to the left (-1). */
void tui_item_move(struct tui *t, struct tui_item item, int by);

/* Sets an item to its value where nobody says otherwise. */
void tui_item_reset(struct tui *t, struct tui_item item);

#endif
