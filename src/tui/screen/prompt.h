/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prompt.h - a line editor in the last row of any screen. An open prompt
 * receives all keys. The text is UTF-8. Each kind of prompt has a history of
 * the texts entered.
 */
#ifndef GK_TUI_PROMPT_H
#define GK_TUI_PROMPT_H

#include "tui/screen/grid.h"
#include "tui/screen/key.h"

struct tui;

#define TUI_PROMPT_MAX  256 /* size of a text, including its NUL */
#define TUI_PROMPT_PAST 16  /* number of texts in a history */

enum tui_prompt_past {
	PROMPT_FORGETS,
	PROMPT_SEARCH,
	PROMPT_FILTER,
	PROMPT_RENICE,
	PROMPT_PASTS
};

/* The functions of a kind of prompt. Each may be NULL. */
struct tui_prompt_kind {
	enum tui_prompt_past past;
	/* Called when the prompt opens and after every change of the text. */
	void (*changed)(struct tui *t, const char *text);
	/*
	 * Called on Enter. To keep the prompt open, it shows the reason with
	 * tui_prompt_note() and returns false.
	 */
	bool (*entered)(struct tui *t, const char *text);
	/* Called on Esc or Ctrl-C, after the prompt has been closed. */
	void (*cancelled)(struct tui *t);
};

struct tui_prompt {
	const struct tui_prompt_kind *kind; /* NULL: closed */
	char label[96];
	char text[TUI_PROMPT_MAX];
	size_t len, cursor; /* bytes */
	char note[96];      /* what is wrong with the text */
	size_t past_at;     /* how far back in the history; 0: the new text */
	char
	    draft[TUI_PROMPT_MAX]; /* the new text while another one is shown */
	struct {
		char texts[TUI_PROMPT_PAST][TUI_PROMPT_MAX]; /* oldest first */
		size_t count;
	} past[PROMPT_PASTS];
};

/* Opens a prompt with an initial text. `label` must end with a blank. */
void tui_prompt_open(struct tui *t, const struct tui_prompt_kind *kind,
		     const char *label, const char *text);

/*
 * Shows a note on what is wrong with the text until the text changes; "" for
 * none.
 */
void tui_prompt_note(struct tui *t, const char *note);

/* Handles a key. The prompt must be open. */
void tui_prompt_key(struct tui *t, tui_key key);

/* Draws the open prompt on the last row. */
void tui_prompt_draw(const struct tui *t, struct grid *g);

#endif
