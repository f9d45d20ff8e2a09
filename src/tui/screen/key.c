/* SPDX-License-Identifier: Apache-2.0 */
/* key.c - owns the table of keys, parses key names and maps keys to actions. */
#include "tui/screen/key.h"

#include "base/assert.h"
#include "base/str.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#define GROUP(name) GROUP_##name

const struct tui_key_info tui_keys[ACTION_COUNT] = {
#define KEY(action_, keys_, vi_, screens_, group_, help_)                      \
	[ACTION_##action_] = {.action = #action_,                              \
			      .keys = keys_,                                   \
			      .vi = vi_,                                       \
			      .help = help_,                                   \
			      .screens = screens_,                             \
			      .group = GROUP(group_)},
#include "tui/screen/keys.def"
#undef KEY
};

static const struct {
	const char *name;
	tui_key key;
} names[] = {
    {"Up", TUI_KEY_UP},
    {"Down", TUI_KEY_DOWN},
    {"Left", TUI_KEY_LEFT},
    {"Right", TUI_KEY_RIGHT},
    {"Home", TUI_KEY_HOME},
    {"End", TUI_KEY_END},
    {"PageUp", TUI_KEY_PAGE_UP},
    {"PageDown", TUI_KEY_PAGE_DOWN},
    {"Insert", TUI_KEY_INSERT},
    {"Delete", TUI_KEY_DELETE},
    {"Enter", TUI_KEY_ENTER},
    {"Backspace", TUI_KEY_BACKSPACE},
    {"Tab", TUI_KEY_TAB},
    {"Esc", TUI_KEY_ESCAPE},
    {"Space", ' '},
    {"F1", TUI_KEY_F1},
    {"F2", TUI_KEY_F1 + 1},
    {"F3", TUI_KEY_F1 + 2},
    {"F4", TUI_KEY_F1 + 3},
    {"F5", TUI_KEY_F1 + 4},
    {"F6", TUI_KEY_F1 + 5},
    {"F7", TUI_KEY_F1 + 6},
    {"F8", TUI_KEY_F1 + 7},
    {"F9", TUI_KEY_F1 + 8},
    {"F10", TUI_KEY_F1 + 9},
    {"F11", TUI_KEY_F1 + 10},
    {"F12", TUI_KEY_F1 + 11},
};
#define NAMES (sizeof names / sizeof *names)

static const struct {
	const char *name;
	tui_key bit;
} modifiers[] = {{"Ctrl-", TUI_CTRL}, {"Alt-", TUI_ALT}, {"Shift-", TUI_SHIFT}};
#define MODIFIERS (sizeof modifiers / sizeof *modifiers)

/* ---- names ---- */

static tui_key parse_base(const char *name, size_t len)
{
	mbstate_t state = {0};
	wchar_t c;

	for (size_t i = 0; i < NAMES; i++)
		if (strlen(names[i].name) == len &&
		    !strncmp(names[i].name, name, len))
			return names[i].key;
	if (len && mbrtowc(&c, name, len, &state) == len)
		return (tui_key)c;
	return TUI_KEY_NONE;
}

tui_key tui_key_parse(const char *name, size_t len)
{
	tui_key key, bits = 0;

	for (size_t i = 0; i < MODIFIERS; i++) {
		size_t n = strlen(modifiers[i].name);

		if (len > n && !strncmp(name, modifiers[i].name, n)) {
			bits |= modifiers[i].bit;
			name += n;
			len -= n;
		}
	}
	key = parse_base(name, len);
	if (key == TUI_KEY_NONE)
		return TUI_KEY_NONE;
	if (bits & TUI_CTRL && key < 0x80)
		key = (tui_key)tolower((int)key);
	return key | bits;
}

tui_key tui_key_of_character(wchar_t c)
{
	switch (c) {
	case L'\r':
	case L'\n':
		return TUI_KEY_ENTER;
	case L'\t':
		return TUI_KEY_TAB;
	case 27:
		return TUI_KEY_ESCAPE;
	case 127:
	case 8:
		return TUI_KEY_BACKSPACE;
	default:
		return c < 32 ? (tui_key)(c + 'a' - 1) | TUI_CTRL : (tui_key)c;
	}
}

const char *tui_key_name(char *dst, tui_key key)
{
	tui_key base = key & ~(tui_key)(TUI_CTRL | TUI_ALT | TUI_SHIFT);
	size_t at = 0;
	char text[MB_LEN_MAX + 1] = "?";
	mbstate_t state = {0};
	const char *name = NULL;
	size_t n;

	for (size_t i = 0; i < MODIFIERS; i++)
		if (key & modifiers[i].bit)
			at += (size_t)snprintf(dst + at, TUI_KEY_NAME_MAX - at,
					       "%s", modifiers[i].name);
	for (size_t i = 0; i < NAMES; i++)
		if (names[i].key == base)
			name = names[i].name;
	if (!name && base < TUI_KEY_FIRST) {
		if (key & TUI_CTRL && base < 0x80)
			base = (tui_key)toupper((int)base);
		n = wcrtomb(text, (wchar_t)base, &state);
		text[n == (size_t)-1 ? 0 : n] = '\0';
	}
	snprintf(dst + at, TUI_KEY_NAME_MAX - at, "%s", name ? name : text);
	return dst;
}

/* ---- the map ---- */

struct binding {
	tui_key first, second; /* second: TUI_KEY_NONE if it is a single key */
	enum tui_action action;
};

struct tui_keymap {
	struct binding *bindings;
	size_t count;
};

/*
 * Parses the next word of a text such as "F6 o+x". Returns false if it is no
 * key.
 */
static bool next_binding(const char **text, struct binding *ret_binding)
{
	const char *word = *text + strspn(*text, " ");
	size_t len = strcspn(word, " ");
	const char *plus = len > 2 ? memchr(word + 1, '+', len - 2) : NULL;

	*text = word + len;
	ret_binding->second = TUI_KEY_NONE;
	if (!plus) {
		ret_binding->first = tui_key_parse(word, len);
		return ret_binding->first != TUI_KEY_NONE;
	}
	ret_binding->first = tui_key_parse(word, (size_t)(plus - word));
	ret_binding->second =
	    tui_key_parse(plus + 1, len - (size_t)(plus - word) - 1);
	return ret_binding->first != TUI_KEY_NONE &&
	       ret_binding->second != TUI_KEY_NONE;
}

static bool is_blank_text(const char *text)
{
	return !text[strspn(text, " ")];
}

/*
 * Appends the keys of an action. If a word is no key, returns false and adds
 * none.
 */
static bool add_action_keys(struct tui_keymap *map, enum tui_action action,
			    const char *keys)
{
	size_t before = map->count;

	while (!is_blank_text(keys)) {
		struct binding *more =
		    realloc(map->bindings, (map->count + 1) * sizeof *more);

		if (!more)
			return false;
		map->bindings = more;
		more[map->count].action = action;
		if (!next_binding(&keys, &more[map->count])) {
			map->count = before;
			return false;
		}
		map->count++;
	}
	return true;
}

struct tui_keymap *tui_keymap_new(bool vi)
{
	struct tui_keymap *map = calloc(1, sizeof *map);

	for (int a = ACTION_NONE + 1; map && a < ACTION_COUNT; a++)
		if (!add_action_keys(map, (enum tui_action)a,
				     vi && tui_keys[a].vi ? tui_keys[a].vi
							  : tui_keys[a].keys)) {
			tui_keymap_free(map);
			return NULL;
		}
	return map;
}

void tui_keymap_free(struct tui_keymap *map)
{
	if (map)
		free(map->bindings);
	free(map);
}

/* Whether a name such as "select-next" stands for the action SELECT_NEXT. */
static bool same_action(const char *id, const char *name)
{
	while (*id && (*id == '_' ? '-' : tolower((unsigned char)*id)) == *name)
		id++, name++;
	return !*id && !*name;
}

static enum tui_action find_action(const char *name)
{
	for (int a = ACTION_NONE + 1; a < ACTION_COUNT; a++)
		if (same_action(tui_keys[a].action, name))
			return (enum tui_action)a;
	return ACTION_NONE;
}

char *tui_action_name(enum tui_action action, char *dst)
{
	const char *id;
	size_t n = 0;

	GK_ASSERT(action < ACTION_COUNT);
	id = tui_keys[action].action;
	for (; id[n] && n < TUI_ACTION_NAME - 1; n++)
		dst[n] =
		    id[n] == '_' ? '-' : (char)tolower((unsigned char)id[n]);
	dst[n] = '\0';
	return dst;
}

/*
 * Moves the last bindings to the front, where they take precedence over other
 * actions with the same keys.
 */
static void to_front(struct binding *bindings, size_t count, size_t last)
{
	for (; last; last--) {
		struct binding b = bindings[count - 1];

		memmove(bindings + 1, bindings, (count - 1) * sizeof *bindings);
		bindings[0] = b;
	}
}

bool tui_keymap_set(struct tui_keymap *map, const char *action,
		    const char *keys)
{
	enum tui_action id = find_action(action);
	size_t before = map->count, kept = 0;

	if (id == ACTION_NONE || !add_action_keys(map, id, keys))
		return false;
	for (size_t i = 0; i < map->count; i++)
		if (i >= before || map->bindings[i].action != id)
			map->bindings[kept++] = map->bindings[i];
	to_front(map->bindings, kept, map->count - before);
	map->count = kept;
	return true;
}

void tui_keymap_names(const struct tui_keymap *map, enum tui_action action,
		      char *dst, size_t cap)
{
	char name[TUI_KEY_NAME_MAX];
	size_t at = 0;

	*dst = '\0';
	for (size_t i = 0; i < map->count; i++) {
		const struct binding *b = &map->bindings[i];

		if (b->action != action || at >= cap)
			continue;
		at +=
		    (size_t)snprintf(dst + at, cap - at, "%s%s", at ? " " : "",
				     tui_key_name(name, b->first));
		if (b->second != TUI_KEY_NONE && at < cap)
			at += (size_t)snprintf(dst + at, cap - at, "%s",
					       tui_key_name(name, b->second));
	}
}

enum tui_action tui_keymap_take(const struct tui_keymap *map, unsigned screen,
				tui_key key, tui_key *pending)
{
	tui_key before = *pending;

	GK_ASSERT(screen && !(screen & (screen - 1)));
	*pending = TUI_KEY_NONE;
	for (size_t i = 0; i < map->count; i++) {
		const struct binding *b = &map->bindings[i];

		if (!(tui_keys[b->action].screens & screen))
			continue;
		if (before != TUI_KEY_NONE
			? b->first == before && b->second == key
			: b->first == key && b->second == TUI_KEY_NONE)
			return b->action;
		if (before == TUI_KEY_NONE && b->first == key)
			*pending = key;
	}
	/* No sequence continues with this key, so it is handled on its own. */
	return before != TUI_KEY_NONE
		   ? tui_keymap_take(map, screen, key, pending)
		   : ACTION_NONE;
}

/* ---- conflicts ---- */

/* Returns the action that a binding's keys trigger on a screen. */
static enum tui_action action_of_binding(const struct tui_keymap *map,
					 const struct binding *b,
					 unsigned screen)
{
	tui_key pending = TUI_KEY_NONE;
	enum tui_action action =
	    tui_keymap_take(map, screen, b->first, &pending);

	if (action != ACTION_NONE || b->second == TUI_KEY_NONE)
		return action;
	return tui_keymap_take(map, screen, b->second, &pending);
}

bool tui_keymap_reaches(const struct tui_keymap *map, enum tui_action action,
			unsigned screen)
{
	GK_ASSERT(screen && !(screen & (screen - 1)));
	for (size_t i = 0; i < map->count; i++)
		if (map->bindings[i].action == action &&
		    action_of_binding(map, &map->bindings[i], screen) == action)
			return true;
	return false;
}

/*
 * Returns the action that conflicts with `action` over the keys of b on one
 * screen, or ACTION_NONE. It does not matter which of the two actions the keys
 * trigger.
 */
static enum tui_action find_rival(const struct tui_keymap *map,
				  const struct binding *b,
				  enum tui_action action, unsigned screen)
{
	enum tui_action does;

	if (!(tui_keys[b->action].screens & tui_keys[action].screens & screen))
		return ACTION_NONE;
	does = action_of_binding(map, b, screen);
	if (b->action == action)
		return does == action ? ACTION_NONE : does;
	return does == action ? b->action : ACTION_NONE;
}

enum tui_action tui_keymap_conflict(const struct tui_keymap *map,
				    enum tui_action action, char *key,
				    size_t cap, bool *ret_loses)
{
	char parts[2][TUI_KEY_NAME_MAX] = {"", ""};

	for (size_t i = 0; i < map->count; i++) {
		const struct binding *b = &map->bindings[i];

		for (unsigned screen = 1; screen & ON_ALL; screen <<= 1) {
			enum tui_action other =
			    find_rival(map, b, action, screen);

			if (other == ACTION_NONE)
				continue;
			if (b->second != TUI_KEY_NONE)
				tui_key_name(parts[1], b->second);
			snprintf(key, cap, "%s%s",
				 tui_key_name(parts[0], b->first), parts[1]);
			*ret_loses = b->action == action;
			return other;
		}
	}
	return ACTION_NONE;
}
