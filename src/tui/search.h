/*
 * search.h - finding lines of the list on top by a part of their text, while
 * the user types. Case does not matter to ASCII letters.
 */
#ifndef GK_TUI_SEARCH_H
#define GK_TUI_SEARCH_H

#include "base/str.h"
#include "tui/prompt.h"

#include <gpukit/gpukit.h>

struct tui;

struct tui_search {
	char text[TUI_PROMPT_MAX]; /* what was searched for last */
	long from;                 /* the line where the search began; -1 */
};

/* Do the keys: open a prompt; go to the next line that holds the same. */
void tui_ask_search(struct tui *t);
void tui_search_next(struct tui *t);

/* The words of a process that are searched: pid, user, command. */
void tui_search_process(const struct gk_process *p, struct gk_buf *out);

#endif
