/*
 * prompt.h - a line of text that the user types on the last row, over any
 * screen. While it is open all keys are its own. The text is UTF-8, edited by
 * characters; each kind of prompt remembers what was entered before.
 */
#ifndef GK_TUI_PROMPT_H
#define GK_TUI_PROMPT_H

#include "tui/grid.h"
#include "tui/key.h"

struct tui;

#define TUI_PROMPT_MAX  256 /* bytes of a text, with its NUL */
#define TUI_PROMPT_PAST 16  /* texts that are remembered */

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
	/* After every change, and once when it opens. */
	void (*changed)(struct tui *t, const char *text);
	/* Enter; false keeps it open, tui_prompt_note() having said why. */
	bool (*entered)(struct tui *t, const char *text);
	/* Esc or Ctrl-C; it is closed already. */
	void (*cancelled)(struct tui *t);
};

struct tui_prompt {
	const struct tui_prompt_kind *kind; /* NULL: closed */
	char label[96];
	char text[TUI_PROMPT_MAX];
	size_t len, cursor; /* bytes */
	char note[96];      /* what is wrong with the text */
	size_t past_at;     /* texts back in what is remembered; 0: the new */
	char draft[TUI_PROMPT_MAX]; /* the new one, while an old one is seen */
	struct {
		char texts[TUI_PROMPT_PAST][TUI_PROMPT_MAX]; /* oldest first */
		size_t count;
	} past[PROMPT_PASTS];
};

/* Opens a prompt with a text to begin with; the label ends with a blank. */
void tui_prompt_open(struct tui *t, const struct tui_prompt_kind *kind,
		     const char *label, const char *text);

/* Says what is wrong with the text; "": nothing. */
void tui_prompt_note(struct tui *t, const char *note);

/* A key for an open prompt. */
void tui_prompt_key(struct tui *t, tui_key key);

/* Draws an open prompt on the last row. */
void tui_prompt_draw(const struct tui *t, struct grid *g);

#endif
