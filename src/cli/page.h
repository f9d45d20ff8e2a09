/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.h - a page of the manual: the options of a verb or subcommand, which are
 * those of its --help, and what the manual says besides. Completion of a shell
 * uses the same pages (manual/).
 */
#ifndef GK_CLI_PAGE_H
#define GK_CLI_PAGE_H

#include "base/str.h"
#include "cli/cmd.h"

#include <argp.h>

/* An option of a verb that does not use argp: "-l,   --loop=SEC", text. */
struct gk_option_line {
	const char *names, *doc;
};

/*
 * What may stand at the cursor of a command line; completion fills it with the
 * functions below.
 */
struct gk_completion {
	struct gk_buf out;
	const char *word; /* at the cursor, up to it */
	size_t kept;      /* bytes of the word that stay: of a list, `--id=` */
	bool any;         /* something was added, even if it does not fit */
};

/* What is asked for: the argument of an option, or an argument of the page. */
struct gk_cursor {
	const char *option; /* "--gpus"; NULL: an argument */
	/* The arguments before the cursor that are no options. */
	const char *const *args;
	size_t arg_count;
};

/*
 * Adds a word, if it begins like the word at the cursor. The description may be
 * NULL.
 */
void gk_complete_word(struct gk_completion *answer, const char *word,
		      const char *description);

/* Adds each word of "a|b|c" or "a,b,c". */
void gk_complete_words(struct gk_completion *answer, const char *words,
		       char between);

/* Continues after the last separator of a list. */
void gk_complete_list(struct gk_completion *answer, char separator);

/* Asks the shell for names of files, directories or users. */
void gk_complete_files(struct gk_completion *answer);
void gk_complete_users(struct gk_completion *answer);

/* Where a command line of its own may begin. */
enum gk_page_command {
	GK_NO_COMMAND,
	GK_COMMAND_AFTER_DASHES, /* after -- */
	GK_COMMAND_IS_ARGUMENT,  /* the first argument, or after -- */
};

/*
 * Texts have paragraphs, separated by an empty line, and `code`. Tables have
 * rows "term\ttext\n"; those of examples are "command\ttext\n".
 */
struct gk_manual_page {
	const char *name;    /* after "gpukit": "fake ctl" */
	const char *summary; /* NULL for a verb: that of its row */
	const char *section; /* NULL: 1 */
	/* One of these two. */
	const struct argp *argp;
	const struct gk_option_line *lines;
	const char *synopsis; /* arguments, for pages without argp */
	const char *doc;      /* likewise */
	bool within;          /* a part of the page of the verb */
	enum gk_page_command command;
	const char *text; /* more of the description */
	const char *exit_status, *environment, *files, *examples;
	/* Rows of a table of facts that others own, and its heading. */
	const char *heading;
	void (*add_rows)(struct gk_buf *out);
	const char *see; /* "nvidia-smi(1), ..." */
	void (*complete)(struct gk_completion *answer,
			 const struct gk_cursor *q);
};

/*
 * The pages of a verb: its own, and those of its subcommands. Each verb defines
 * NAME_pages in the file manual.c of its folder, which ends with a NULL name.
 */
#define VERB(name) extern const struct gk_manual_page name##_pages[];
#include "cli/verbs.def"
#undef VERB

/* Those of all verbs, in the order of `gpukit help`; ends with a NULL verb. */
struct gk_verb_pages {
	const struct gk_cmd *verb;
	const struct gk_manual_page *pages;
};
extern const struct gk_verb_pages gk_verb_pages[];

#endif
