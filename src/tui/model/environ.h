/* SPDX-License-Identifier: Apache-2.0 */
/*
 * environ.h - reads the environment of a process, sorted by name, and hides
 * values that look secret.
 */
#ifndef GK_TUI_ENVIRON_H
#define GK_TUI_ENVIRON_H

#include "base/str.h"
#include "tui/model/signal.h"

struct tui_variable {
	const char *key; /* key and value are printable UTF-8 */
	const char *value;
	bool secret;
};

struct tui_environ {
	struct tui_tag who;
	struct gk_buf
	    title; /* such as "4242 (ana@GPU 0: Compute): python3 train.py" */
	struct tui_variable *list; /* sorted by key */
	size_t count;
	struct gk_buf text; /* storage of the strings in list */
	int error;          /* why the environment could not be read; 0: no
			     * error */
	size_t selected;
	bool unmasked;
};

/*
 * Reads the initial environment of the process e->who, which replaces the one
 * read before. Initialise *e with zeros before the first call. proc is a
 * descriptor of /proc. Returns 0 or a gk_err, and also stores it in e->error:
 * GK_ERR_NOT_FOUND if the pid now belongs to another process.
 */
int tui_environ_read(struct tui_environ *e, int proc);
void tui_environ_free(struct tui_environ *e);

/* Returns the value to show. A secret is hidden unless e->unmasked. */
const char *tui_environ_value(const struct tui_environ *e, size_t at);

#endif
