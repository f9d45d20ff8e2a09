/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.h - the table of a manual page: the options of a verb or subcommand, as
 * in its --help, and further texts. Shell completion uses the same tables
 * (manual/).
 */
#ifndef GK_CLI_PAGE_H
#define GK_CLI_PAGE_H

#include "base/str.h"
#include "cli/cmd.h"

#include <argp.h>

/*
 * An option of a verb that does not use argp. names is such as "-l,
 * --loop=SEC".
 */
struct gk_option_line {
	const char *names, *doc;
};

/*
 * The possible words at the cursor of a command line. A page's complete() adds
 * them with the functions below.
 */
struct gk_completion {
	struct gk_buf out;
	const char *word; /* the part of the word before the cursor */
	/* Length of the part to keep: `--id=`, or earlier words of a list. */
	size_t kept;
	bool any; /* words were added, whether or not they match */
};

/*
 * The thing to complete: an argument of an option, or an argument of the page.
 */
struct gk_cursor {
	/* Such as "--gpus". NULL: an argument of the page. */
	const char *option;
	/* The arguments before the cursor, without options. */
	const char *const *args;
	size_t arg_count;
};

/*
 * Adds a word if it matches the part of the word before the cursor. The
 * description may be NULL.
 */
void gk_complete_word(struct gk_completion *answer, const char *word,
		      const char *description);

/*
 * Adds the words of a text such as "a|b|c" or "a,b,c", which `between`
 * separates.
 */
void gk_complete_words(struct gk_completion *answer, const char *words,
		       char between);

/* If the word at the cursor is a list, completes its last element. */
void gk_complete_list(struct gk_completion *answer, char separator);

/* Makes the shell add names of files, directories or users. */
void gk_complete_files(struct gk_completion *answer);
void gk_complete_users(struct gk_completion *answer);

/* Where another command's line may begin in a command line. */
enum gk_page_command {
	GK_NO_COMMAND,
	GK_COMMAND_AFTER_DASHES, /* after "--" */
	GK_COMMAND_IS_ARGUMENT,  /* another command's line begins at the
				  * first argument, or after "--" */
};

/*
 * A manual page. Texts consist of paragraphs, separated by empty lines, and
 * mark `code`. Tables have rows "term\ttext\n", those of examples
 * "command\ttext\n".
 */
struct gk_manual_page {
	const char *name;    /* without "gpukit ": "fake ctl" */
	const char *summary; /* NULL: the verb's summary */
	const char *section; /* section of the manual; NULL: 1 */
	/* The options, in one of two forms. */
	const struct argp *argp;
	const struct gk_option_line *lines;
	const char *synopsis; /* the arguments, if argp is NULL */
	const char *doc;      /* the description, if argp is NULL */
	bool within;          /* shown as a part of the verb's page */
	enum gk_page_command command;
	const char *text; /* continues the description */
	const char *exit_status, *environment, *files, *examples;
	/*
	 * An additional table, which the owner of its facts writes, and its
	 * heading.
	 */
	const char *heading;
	void (*add_rows)(struct gk_buf *out);
	const char *see; /* references, such as "nvidia-smi(1), ..." */
	void (*complete)(struct gk_completion *answer,
			 const struct gk_cursor *q);
};

/*
 * The pages of a verb and its subcommands. Each verb defines NAME_pages in
 * manual.c in its folder. The array ends with a NULL name.
 */
#define VERB(name) extern const struct gk_manual_page name##_pages[];
#include "cli/verbs.def"
#undef VERB

/*
 * The pages of all verbs, in the order of `gpukit help`; ends with a NULL verb.
 */
struct gk_verb_pages {
	const struct gk_cmd *verb;
	const struct gk_manual_page *pages;
};
extern const struct gk_verb_pages gk_verb_pages[];

#endif
