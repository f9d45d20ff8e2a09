/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key.h - the names of keys, the actions that keys trigger on each screen, and
 * sequences of two keys.
 */
#ifndef GK_TUI_KEY_H
#define GK_TUI_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

/* A key is a character or one of these special keys, plus modifiers. */
enum tui_special {
	TUI_KEY_NONE,
	TUI_KEY_FIRST = 0x110000, /* beyond Unicode */
	TUI_KEY_UP = TUI_KEY_FIRST,
	TUI_KEY_DOWN,
	TUI_KEY_LEFT,
	TUI_KEY_RIGHT,
	TUI_KEY_HOME,
	TUI_KEY_END,
	TUI_KEY_PAGE_UP,
	TUI_KEY_PAGE_DOWN,
	TUI_KEY_INSERT,
	TUI_KEY_DELETE,
	TUI_KEY_BACKSPACE,
	TUI_KEY_ENTER,
	TUI_KEY_TAB,
	TUI_KEY_ESCAPE,
	TUI_KEY_RESIZE, /* the size of the terminal has changed */
	TUI_KEY_MOUSE,  /* see term_mouse() */
	TUI_KEY_F1,
	TUI_KEY_F12 = TUI_KEY_F1 + 11,
	TUI_KEY_LAST = TUI_KEY_F12,
};

enum tui_modifier {
	TUI_CTRL = 1 << 24, /* letters with Ctrl are lower-case */
	TUI_ALT = 1 << 25,
	TUI_SHIFT = 1 << 26, /* only together with special keys */
};

typedef uint32_t tui_key;

enum tui_screens {
	ON_MAIN = 1,
	ON_TREE = 2,
	ON_METRICS = 4,
	ON_ENVIRON = 8,
	ON_HELP = 16,
	ON_DEVICE = 32,
	ON_USERS = 64,
	ON_SETTINGS = 128,
	ON_HOSTS = 256,
	ON_ALERTS = 512,
	ON_PROCESSES = ON_MAIN | ON_TREE,
	ON_LISTS = ON_PROCESSES | ON_ENVIRON | ON_USERS | ON_SETTINGS |
		   ON_HOSTS | ON_ALERTS,
	ON_LINES = ON_LISTS | ON_HELP | ON_DEVICE,
	ON_GRAPHS = ON_MAIN | ON_METRICS | ON_DEVICE,
	ON_ALL = 0x3ff,
	ON_OTHERS = ON_ALL & ~(ON_MAIN | ON_HOSTS),
};

enum tui_key_group {
	GROUP_GENERAL,
	GROUP_DISPLAY,
	GROUP_MOVE,
	GROUP_PROCESS,
	GROUP_SCREEN,
	GROUP_FIND,
	GROUP_SORT,
	GROUP_TIME,
	GROUP_HIDDEN,
	GROUP_COUNT
};

enum tui_action {
	ACTION_NONE,
#define KEY(action, keys, vi, screens, group, help) ACTION_##action,
#include "tui/screen/keys.def"
#undef KEY
	ACTION_COUNT
};

struct tui_key_info {
	const char *action; /* "SELECT_NEXT" */
	const char *keys, *vi, *help;
	unsigned screens;
	enum tui_key_group group;
};

extern const struct tui_key_info tui_keys[ACTION_COUNT];

/*
 * Convert a name such as "Ctrl-A" to a key (TUI_KEY_NONE if it is not valid),
 * and a key to its name.
 */
tui_key tui_key_parse(const char *name, size_t len);
#define TUI_KEY_NAME_MAX 24
const char *tui_key_name(char *dst, tui_key key);

/* Returns the key for a character that a terminal sent. 3 is Ctrl-C. */
tui_key tui_key_of_character(wchar_t c);

/* Maps keys to actions. */
struct tui_keymap;

/* Returns a map with the keys of keys.def, or NULL if out of memory. */
struct tui_keymap *tui_keymap_new(bool vi);
void tui_keymap_free(struct tui_keymap *map);

/*
 * Replaces the keys of an action by others, such as "F6 Ctrl-K o+x"; "" for
 * none. They take precedence over other actions with the same keys. If the
 * action or a key is unknown, returns false and changes nothing.
 */
bool tui_keymap_set(struct tui_keymap *map, const char *action,
		    const char *keys);

/* Writes the names of an action's keys as the help screen shows them. */
void tui_keymap_names(const struct tui_keymap *map, enum tui_action action,
		      char *dst, size_t cap);

/*
 * Writes the name of an action in the syntax of the config file: "select-next".
 */
#define TUI_ACTION_NAME 32
char *tui_action_name(enum tui_action action, char *dst);

/*
 * Whether any key triggers an action on a screen. `screen` has a single bit
 * set.
 */
bool tui_keymap_reaches(const struct tui_keymap *map, enum tui_action action,
			unsigned screen);

/*
 * Returns the first action that conflicts with `action` over a key, or
 * ACTION_NONE. Writes the key's name to `key`. Sets *ret_loses if the returned
 * action gets the key.
 */
enum tui_action tui_keymap_conflict(const struct tui_keymap *map,
				    enum tui_action action, char *key,
				    size_t cap, bool *ret_loses);

/*
 * Returns the action that a key triggers on a screen. `screen` is the screen's
 * bit. *pending is the first key of an unfinished sequence, or TUI_KEY_NONE. If
 * the key begins a sequence, stores it in *pending and returns ACTION_NONE.
 */
enum tui_action tui_keymap_take(const struct tui_keymap *map, unsigned screen,
				tui_key key, tui_key *pending);

#endif
