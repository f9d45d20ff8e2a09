/* SPDX-License-Identifier: Apache-2.0 */
/* bindings.c - binds the user's keys to actions. */
#include "tui/settings/bindings.h"

#include "base/assert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tui_keymap *tui_bindings_map(const struct tui_options *o)
{
	struct tui_keymap *map = tui_keymap_new(o->key_set == KEYS_VI);

	for (size_t i = 0; map && i < o->binding_count; i++)
		tui_keymap_set(map, o->bindings[i].action, o->bindings[i].keys);
	return map;
}

void tui_bindings_apply(struct tui *t)
{
	struct tui_keymap *map = tui_bindings_map(&t->options);

	if (!map)
		return;
	tui_keymap_free(t->keymap);
	t->keymap = map;
}

static struct tui_binding *find_binding(const struct tui_options *o,
					const char *name)
{
	for (size_t i = 0; i < o->binding_count; i++)
		if (!strcmp(o->bindings[i].action, name))
			return &o->bindings[i];
	return NULL;
}

const char *tui_bindings_usual(const struct tui_options *o,
			       enum tui_action action)
{
	const struct tui_key_info *info = &tui_keys[action];

	GK_ASSERT(action > ACTION_NONE && action < ACTION_COUNT);
	return o->key_set == KEYS_VI && info->vi ? info->vi : info->keys;
}

const char *tui_bindings_of(const struct tui_options *o, enum tui_action action)
{
	char name[TUI_ACTION_NAME];
	const struct tui_binding *b =
	    find_binding(o, tui_action_name(action, name));

	return b ? b->keys : tui_bindings_usual(o, action);
}

/* Removes a binding from the options. */
static void drop_binding(struct tui_options *o, struct tui_binding *b)
{
	free(b->action);
	free(b->keys);
	*b = o->bindings[--o->binding_count];
}

static bool add_binding(struct tui_options *o, const char *name,
			const char *keys)
{
	struct tui_binding *more =
	    realloc(o->bindings, (o->binding_count + 1) * sizeof *more);
	struct tui_binding row = {strdup(name), strdup(keys)};

	if (more)
		o->bindings = more;
	if (!more || !row.action || !row.keys) {
		free(row.action);
		free(row.keys);
		return false;
	}
	more[o->binding_count++] = row;
	return true;
}

static bool keep_row(struct tui_options *o, enum tui_action action,
		     const char *keys)
{
	char name[TUI_ACTION_NAME];
	struct tui_binding *b = find_binding(o, tui_action_name(action, name));

	if (b)
		drop_binding(o, b);
	return !strcmp(keys, tui_bindings_usual(o, action)) ||
	       add_binding(o, name, keys);
}

/*
 * Whether a key is left to quit from the main screen, and one to leave the
 * settings screen.
 */
static bool can_leave(const struct tui_keymap *map)
{
	return tui_keymap_reaches(map, ACTION_QUIT, ON_MAIN) &&
	       tui_keymap_reaches(map, ACTION_BACK, ON_SETTINGS);
}

static void tell_conflict(const struct tui_keymap *map, enum tui_action action,
			  char *error, size_t cap)
{
	char key[2 * TUI_KEY_NAME_MAX], name[TUI_ACTION_NAME];
	bool loses;
	enum tui_action other =
	    tui_keymap_conflict(map, action, key, sizeof key, &loses);

	if (other != ACTION_NONE)
		snprintf(error, cap,
			 loses ? "%s stays bound to %s" : "%s is taken from %s",
			 key, tui_action_name(other, name));
}

bool tui_bindings_set(struct tui *t, enum tui_action action, const char *keys,
		      bool keep, char *error, size_t cap)
{
	struct tui_keymap *map = tui_bindings_map(&t->options);
	char name[TUI_ACTION_NAME];
	bool good = false;

	*error = '\0';
	tui_action_name(action, name);
	if (!map || !tui_keymap_set(map, name, keys))
		snprintf(error, cap, "must be keys such as F3 Ctrl-F o+x");
	else if (!can_leave(map))
		snprintf(error, cap, "no key would be left to quit with");
	else
		good = true;
	if (good)
		tell_conflict(map, action, error, cap);
	tui_keymap_free(map);
	if (good && keep && keep_row(&t->options, action, keys))
		tui_bindings_apply(t);
	return good;
}
