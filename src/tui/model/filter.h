/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter.h - the filter of processes that the user types as words. All words
 * must match; '!' before a word negates it:
 *
 *	text           a part of the command or of the pid
 *	"two words"    the same, with blanks
 *	name:REGEX     an extended regular expression, matched with the command
 *	user:ANA,BOB   one of these users
 *	gpu:0-3,5      one of these GPUs or a MIG device on it
 *	type:C         C: compute, G: graphics, X: both
 *	rank:0-3,5     the rank in a job
 *	container:ID   the id starts with ID; likewise pod:
 *	cwd:PART       the working directory contains PART
 *	state:RD       the state is one of these letters
 *	mem>4GiB       also <; mem, host, read, written (bytes), io-read,
 *	               io-write (bytes per second), sm, enc, dec, cpu (percent),
 *	               time, threads, nice
 */
#ifndef GK_TUI_FILTER_H
#define GK_TUI_FILTER_H

#include "tui/screen/prompt.h"

#include <gpukit/gpukit.h>

#include <regex.h>

struct tui;

#define TUI_FILTER_WORDS 16

struct tui_filter_word {
	bool not ;
	unsigned with; /* bits of gk_with that the word needs */
	/* Whether a process matches the word. Ignores a '!' before the word. */
	bool (*holds)(const struct tui_filter_word *word,
		      const struct gk_snapshot *snap,
		      const struct gk_process *p);
	char text[TUI_PROMPT_MAX];
	regex_t *regex; /* owned */
	unsigned types; /* the process must have all of these types */
	enum gk_process_metric metric;
	bool below;
	int64_t limit;
};

/* A parsed filter. All zero, it matches every process. */
struct tui_words {
	/* The text as typed; "" matches every process. */
	char text[TUI_PROMPT_MAX];
	struct tui_filter_word words[TUI_FILTER_WORDS];
	size_t count;
};

/*
 * Parses text and replaces *words. On failure returns false and leaves *words
 * unchanged; `error` then names the wrong word and what is allowed.
 */
bool tui_words_parse(struct tui_words *words, const char *text, char *error,
		     size_t cap);
void tui_words_free(struct tui_words *words);

/* Returns the bits of gk_with that the words need. */
unsigned tui_words_with(const struct tui_words *words);

/* Whether a process of a snapshot matches all words. */
bool tui_words_hold(const struct tui_words *words,
		    const struct gk_snapshot *snap, const struct gk_process *p);

/* Sets the filter to a valid text. */
void tui_filter_by(struct tui *t, const char *text);

/* Opens a prompt that applies the filter while the user types. */
void tui_ask_filter(struct tui *t);

#endif
