/* SPDX-License-Identifier: Apache-2.0 */
/* complete.c - completes the last word of a command line. */
#include "cli/aliases.h"
#include "cli/cmd.h"
#include "cli/manual/manual.h"
#include "cli/manual/options.h"
#include "cli/manual/pages.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct line {
	const char *const *words;
	int cursor; /* index of the word at the cursor */
	int at;     /* index of the first word after the verb and subcommand */
	const struct gk_manual_page *page;
	struct manual_options options;
	const char **args; /* the arguments before the cursor */
	size_t arg_count;
	bool only_args; /* a "--" came before the cursor: only arguments
			 * follow */
	bool is_help;   /* the line is `gpukit help ...` */
	/* The option whose argument is at the cursor, or NULL. */
	const struct manual_option *wants;
	struct gk_completion answer;
};

/* ---- finding the page ---- */

static void add_verb_word(void *data, const struct gk_manual_page *page,
			  const char *summary)
{
	if (*page->name && !page->section && !strchr(page->name, ' '))
		gk_complete_word(data, page->name, summary);
}

static void complete_verb(struct line *line)
{
	pages_each(add_verb_word, &line->answer);
	if (line->at > 1)
		return;
	gk_complete_word(&line->answer, "help", "lists the verbs");
	gk_complete_word(&line->answer, "version", "prints the version");
	if (*line->answer.word == '-') {
		gk_complete_word(&line->answer, "--help", "lists the verbs");
		gk_complete_word(&line->answer, "--version",
				 "prints the version");
	}
}

/* Finds the page of the verb and subcommand before the cursor. */
static bool find_page(struct line *line)
{
	const struct gk_cmd *alias = gk_alias_find(line->words[0]);
	const char *verb;
	char name[128];
	int n;

	line->at = 1;
	line->is_help =
	    !alias && line->cursor > 1 && !strcmp(line->words[1], "help");
	if (line->is_help)
		line->at = 2;
	if (!alias && line->cursor == line->at)
		return complete_verb(line), false;
	verb = alias ? alias->name : line->words[line->at++];
	line->page = pages_find(verb, strlen(verb));
	if (!line->page || !*verb || line->cursor == line->at)
		return line->page;
	n = snprintf(name, sizeof name, "%s %s", verb, line->words[line->at]);
	if (n > 0 && (size_t)n < sizeof name && pages_find(name, (size_t)n)) {
		line->page = pages_find(name, (size_t)n);
		line->at++;
	}
	return true;
}

/* ---- the words before the cursor ---- */

static const struct manual_option *find_option(const struct line *line,
					       const char *name, size_t len)
{
	for (size_t i = 0; i < line->options.count; i++) {
		const struct manual_option *option = &line->options.all[i];

		for (size_t k = 0; k < option->name_count; k++)
			if (strlen(option->names[k]) == len &&
			    !strncmp(option->names[k], name, len))
				return option;
	}
	return NULL;
}

/* Whether the next word must be the argument of the option. */
static bool takes_next(const struct manual_option *option)
{
	return option && *option->arg && !option->optional;
}

/*
 * Returns the option in a word whose argument is the next word: the option in
 * "--gpus" and "-g", and the last one in "-xg". NULL: there is none.
 */
static const struct manual_option *pending_option(const struct line *line,
						  const char *word)
{
	const struct manual_option *option =
	    find_option(line, word, strlen(word));

	if (option || word[1] == '-')
		return takes_next(option) ? option : NULL;
	for (const char *c = word + 1; *c; c++) {
		option = find_option(line, (char[]){'-', *c}, 2);
		if (option && *option->arg)
			return c[1] || option->optional ? NULL : option;
	}
	return NULL;
}

/* Reads a word. Returns whether another command's line begins with it. */
static bool read_word(struct line *line, int i)
{
	const char *word = line->words[i];
	bool is_arg = line->only_args || *word != '-' || !word[1];

	if (is_arg) {
		line->args[line->arg_count++] = word;
		return line->page->command == GK_COMMAND_IS_ARGUMENT;
	}
	if (!strcmp(word, "--")) {
		line->only_args = true;
		return false;
	}
	line->wants = pending_option(line, word);
	return false;
}

static void tell_command(struct line *line, int i)
{
	gk_buf_printf(&line->answer.out, ":command %d\n", i);
	line->answer.any = true;
}

/*
 * Reads the words before the cursor. Returns false if another command's line
 * has begun.
 */
static bool read_words(struct line *line)
{
	for (int i = line->at; i < line->cursor; i++) {
		if (line->wants) {
			line->wants = NULL;
			continue;
		}
		if (read_word(line, i))
			return tell_command(line, i), false;
		if (line->only_args && line->page->command != GK_NO_COMMAND)
			return tell_command(line, i + 1), false;
	}
	return true;
}

/* ---- the word at the cursor ---- */

/* How to complete arguments that have these names, in any verb. */
static const struct {
	const char *name;
	void (*ask)(struct gk_completion *answer);
} kinds[] = {
    {"DIR", gk_complete_files},       {"FILE", gk_complete_files},
    {"FILE.json", gk_complete_files}, {"PATH", gk_complete_files},
    {"PICTURE", gk_complete_files},   {"PYTHON", gk_complete_files},
    {"FILE...", gk_complete_files},   {"USER...", gk_complete_users},
    {"NAME...", gk_complete_users},
};

static void complete_kind(struct gk_completion *answer, const char *arg)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (!strcmp(kinds[i].name, arg))
			kinds[i].ask(answer);
	if (strpbrk(arg, "ABCDEFGHIJKLMNOPQRSTUVWXYZ[="))
		return;
	if (strchr(arg, '|')) {
		gk_complete_words(answer, arg, '|');
	} else if (strchr(arg, ',')) {
		gk_complete_list(answer, ',');
		gk_complete_words(answer, arg, ',');
	}
}

static void complete_argument(struct line *line,
			      const struct manual_option *option)
{
	struct gk_cursor q = {
	    .option = option ? option->names[option->name_count - 1] : NULL,
	    .args = line->args,
	    .arg_count = line->arg_count,
	};

	if (line->page->complete)
		line->page->complete(&line->answer, &q);
	if (option && !line->answer.any)
		complete_kind(&line->answer, option->arg);
	else if (!option && !line->answer.any &&
		 strstr(pages_usage(line->page), "FILE"))
		gk_complete_files(&line->answer);
}

static void complete_option(struct line *line)
{
	bool letters = !line->answer.word[1];

	for (size_t i = 0; i < line->options.count; i++) {
		const struct manual_option *option = &line->options.all[i];

		for (size_t k = 0; k < option->name_count; k++)
			if (letters || option->names[k][1] == '-' ||
			    option->names[k][2])
				gk_complete_word(&line->answer,
						 option->names[k], option->doc);
	}
}

static void add_subcommand_word(void *data, const struct gk_manual_page *page,
				const char *summary)
{
	struct line *line = data;

	if (pages_below(page, line->page))
		gk_complete_word(&line->answer, pages_last_word(page), summary);
}

/*
 * Returns the option before the cursor if it has an optional argument that may
 * be the next word; otherwise NULL.
 */
static const struct manual_option *optional_option(const struct line *line)
{
	const char *word = line->words[line->cursor - 1];
	const struct manual_option *option =
	    line->cursor > line->at && *word == '-' && !line->only_args
		? find_option(line, word, strlen(word))
		: NULL;

	return option && option->optional &&
		       strcmp(option->arg, "FILE.json") != 0
		   ? option
		   : NULL;
}

/* Completes an argument, a subcommand or a command. */
static void complete_plain_word(struct line *line)
{
	const struct manual_option *option = optional_option(line);

	if (option)
		complete_argument(line, option);
	if (line->answer.any)
		return;
	if (line->cursor == line->at)
		pages_each(add_subcommand_word, line);
	if (line->is_help)
		return;
	complete_argument(line, NULL);
	if (line->page->command == GK_COMMAND_IS_ARGUMENT)
		tell_command(line, line->cursor);
	if (!line->answer.any)
		complete_option(line);
}

static void complete_word(struct line *line)
{
	const char *word = line->answer.word;
	const char *equals = *word == '-' ? strchr(word, '=') : NULL;

	if (line->wants) {
		complete_argument(line, line->wants);
	} else if (equals && !line->only_args) {
		const struct manual_option *option =
		    find_option(line, word, (size_t)(equals - word));

		line->answer.kept = (size_t)(equals - word) + 1;
		if (option && *option->arg)
			complete_argument(line, option);
	} else if (*word == '-' && !line->only_args) {
		complete_option(line);
	} else {
		complete_plain_word(line);
	}
}

static void complete_line(struct line *line)
{
	if (!find_page(line))
		return;
	manual_options(line->page, &line->options);
	if (read_words(line))
		complete_word(line);
}

static int write_answer(struct gk_buf *out)
{
	bool ok =
	    !out->failed &&
	    (!out->len || fwrite(out->data, 1, out->len, stdout) == out->len) &&
	    !fflush(stdout);

	gk_buf_free(out);
	return ok ? GK_EXIT_OK : GK_EXIT_FAILURE;
}

int gk_complete(int count, const char *const *words)
{
	struct line *line = calloc(1, sizeof *line);
	const char **args = calloc((size_t)count + 1, sizeof *args);
	int status = GK_EXIT_FAILURE;

	if (line && args && count > 1) {
		line->words = words;
		line->cursor = count - 1;
		line->args = args;
		line->answer.word = words[count - 1];
		complete_line(line);
		status = write_answer(&line->answer.out);
	}
	free(args);
	free(line);
	return status;
}
