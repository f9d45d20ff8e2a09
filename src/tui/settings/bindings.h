/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bindings.h - the keys that the user binds to actions instead of those in
 * keys.def: in the options, and in the keymap in use.
 */
#ifndef GK_TUI_BINDINGS_H
#define GK_TUI_BINDINGS_H

#include "tui/model/model.h"

/*
 * Returns a new keymap for the options, which the caller frees. NULL: out of
 * memory.
 */
struct tui_keymap *tui_bindings_map(const struct tui_options *o);

/*
 * Builds t->keymap again from t->options. Keeps the old one if out of memory.
 */
void tui_bindings_apply(struct tui *t);

/*
 * Return an action's keys in the form in which they are typed: those in use,
 * and those of keys.def.
 */
const char *tui_bindings_of(const struct tui_options *o,
			    enum tui_action action);
const char *tui_bindings_usual(const struct tui_options *o,
			       enum tui_action action);

/*
 * Binds keys to an action. If `keep` is false, only checks them. Returns false
 * if the text names no keys, or if no key would be left to quit with; `error`
 * then says why. On success, `error` may name an action that loses a key.
 */
bool tui_bindings_set(struct tui *t, enum tui_action action, const char *keys,
		      bool keep, char *error, size_t cap);

#endif
