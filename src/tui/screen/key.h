/*
 * key.h - keys: their names, what they do on which screen, and how the keys
 * that arrive become actions.
 */
#ifndef GK_TUI_KEY_H
#define GK_TUI_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

/* A character, or one of these, with modifiers added. */
enum tui_special {
	TUI_KEY_NONE,
	TUI_KEY_FIRST = 0x110000, /* behind all of Unicode */
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
	TUI_KEY_RESIZE, /* the terminal has another size */
	TUI_KEY_MOUSE,  /* term_mouse() tells what */
	TUI_KEY_F1,
	TUI_KEY_F12 = TUI_KEY_F1 + 11,
	TUI_KEY_LAST = TUI_KEY_F12,
};

enum tui_modifier {
	TUI_CTRL = 1 << 24, /* with a lower-case letter */
	TUI_ALT = 1 << 25,
	TUI_SHIFT = 1 << 26, /* of special keys */
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
#include "tui/keys.def"
#undef KEY
	ACTION_COUNT
};

struct tui_key_info {
	const char *action; /* "select-next", as the config file says it */
	const char *keys, *vi, *help;
	unsigned screens;
	enum tui_key_group group;
};

extern const struct tui_key_info tui_keys[ACTION_COUNT];

/* "Ctrl-A" to a key, TUI_KEY_NONE when it is none; and back. */
tui_key tui_key_parse(const char *name, size_t len);
#define TUI_KEY_NAME_MAX 24
const char *tui_key_name(char *dst, tui_key key);

/* The key of a character that a terminal sent: 3 is Ctrl-C. */
tui_key tui_key_of_character(wchar_t c);

/* The keys of every action: the table's, or what the config file says. */
struct tui_keymap;

/* NULL without memory. */
struct tui_keymap *tui_keymap_new(bool vi);
void tui_keymap_free(struct tui_keymap *map);

/*
 * Gives an action other keys ("F6 Ctrl-K o+x"; "" for none) in place of all
 * that it had; where they belong to others, they are taken away. False: action
 * or a key is not known, and nothing has changed.
 */
bool tui_keymap_set(struct tui_keymap *map, const char *action,
		    const char *keys);

/* The names of the keys of an action, as the help screen shows them. */
void tui_keymap_names(const struct tui_keymap *map, enum tui_action action,
		      char *dst, size_t cap);

/* "select-next", as the config file says it. */
#define TUI_ACTION_NAME 32
char *tui_action_name(enum tui_action action, char *dst);

/* Whether a key of an action does it on a screen (one bit). */
bool tui_keymap_reaches(const struct tui_keymap *map, enum tui_action action,
			unsigned screen);

/*
 * The first action that loses a key to this one (*ret_loses false), or that
 * this one loses a key to; ACTION_NONE: there is none. Names the key.
 */
enum tui_action tui_keymap_conflict(const struct tui_keymap *map,
				    enum tui_action action, char *key,
				    size_t cap, bool *ret_loses);

/*
 * The action of a key on a screen, after the keys before it: *pending is the
 * key that began a sequence, or TUI_KEY_NONE. A key that only begins one has no
 * action yet.
 */
enum tui_action tui_keymap_take(const struct tui_keymap *map, unsigned screen,
				tui_key key, tui_key *pending);

#endif
