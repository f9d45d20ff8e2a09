/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search.h - incremental search in the list of the top screen, for a part of a
 * line's text. The case of ASCII letters is ignored.
 */
#ifndef GK_TUI_SEARCH_H
#define GK_TUI_SEARCH_H

#include "base/str.h"
#include "tui/screen/prompt.h"

#include <gpukit/gpukit.h>

struct tui;

struct tui_search {
	char text[TUI_PROMPT_MAX]; /* text of the last search */
	long from; /* line where the search began; -1: no search */
};

/*
 * tui_ask_search() opens the prompt; tui_search_next() goes to the next line
 * that contains the text.
 */
void tui_ask_search(struct tui *t);
void tui_search_next(struct tui *t);

/*
 * Adds the text of a process that a search looks through: pid, user, command.
 */
void tui_search_process(const struct gk_process *p, struct gk_buf *out);

#endif
