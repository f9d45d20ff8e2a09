/*
 * bindings.h - the keys that the user gives to actions, over those of the
 * table: in the options, and in the map that is in use.
 */
#ifndef GK_TUI_BINDINGS_H
#define GK_TUI_BINDINGS_H

#include "tui/model.h"

/* A new map as options ask for it, the caller's; NULL without memory. */
struct tui_keymap *tui_bindings_map(const struct tui_options *o);

/* Takes the map of t->options into use; without memory the old one stays. */
void tui_bindings_apply(struct tui *t);

/* The keys of an action, as they may be typed; those of the table. */
const char *tui_bindings_of(const struct tui_options *o,
			    enum tui_action action);
const char *tui_bindings_usual(const struct tui_options *o,
			       enum tui_action action);

/*
 * Gives an action keys; without keep it only tries. False, with why in error:
 * they are no keys, or the viewer could not be left any more. With true, error
 * may tell whom they are taken from.
 */
bool tui_bindings_set(struct tui *t, enum tui_action action, const char *keys,
		      bool keep, char *error, size_t cap);

#endif
