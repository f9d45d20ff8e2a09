/*
 * filter.h - which processes are shown, in words that the user types. All
 * words must hold; '!' before one means that it must not:
 *
 *	text           a part of the command or of the pid
 *	"two words"    the same, with blanks
 *	name:REGEX     the command, an extended regular expression
 *	user:ANA,BOB   whose
 *	gpu:0-3,5      where, MIG devices with their GPU
 *	type:C         C computes, G draws, X does both
 *	rank:0-3,5     its rank in a job
 *	container:ID   the beginning of its id; also pod:, and cwd: a part of it
 *	state:RD       one of the letters
 *	mem>4GiB       also <; mem, host, read, written (bytes), io-read,
 *	               io-write (a second), sm, enc, dec, cpu (percent), time,
 *	               threads, nice
 */
#ifndef GK_TUI_FILTER_H
#define GK_TUI_FILTER_H

#include "tui/prompt.h"

#include <gpukit/gpukit.h>

#include <regex.h>

struct tui;

#define TUI_FILTER_WORDS 16

struct tui_filter_word {
	bool not ;
	unsigned with; /* of gk_with */
	/* A row of the table of words. */
	bool (*holds)(const struct tui_filter_word *word,
		      const struct gk_snapshot *snap,
		      const struct gk_process *p);
	char text[TUI_PROMPT_MAX];
	regex_t *regex; /* owned */
	unsigned types; /* all of them */
	enum gk_process_metric metric;
	bool below;
	int64_t limit;
};

/* Zero it to start: everything passes. */
struct tui_words {
	char text[TUI_PROMPT_MAX]; /* as it was typed; "": everything */
	struct tui_filter_word words[TUI_FILTER_WORDS];
	size_t count;
};

/*
 * Reads what was typed; *words is replaced, or untouched when an error was
 * written to error: what is wrong, with the word.
 */
bool tui_words_parse(struct tui_words *words, const char *text, char *error,
		     size_t cap);
void tui_words_free(struct tui_words *words);

/* Bits of gk_with: they must be read of processes for the words. */
unsigned tui_words_with(const struct tui_words *words);

/* Whether all words hold for a process of a snapshot. */
bool tui_words_hold(const struct tui_words *words,
		    const struct gk_snapshot *snap, const struct gk_process *p);

/* Filters by words that can be parsed, as if they were typed. */
void tui_filter_by(struct tui *t, const char *text);

/* Does the key: opens a prompt that filters while the user types. */
void tui_ask_filter(struct tui *t);

#endif
