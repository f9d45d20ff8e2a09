/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shell_words.c - splits a line into words by a shell's quoting rules, and
 * joins words into a line.
 */
#include "tui/settings/shell_words.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>

void tui_shell_free(char **words)
{
	for (char **w = words; w && *w; w++)
		free(*w);
	free(words);
}

/*
 * Reads a word, and moves *rest to the text after it. Returns false if a quote
 * is not closed.
 */
static bool read_shell_word(const char **rest, struct gk_buf *out)
{
	const char *text = *rest;
	char quote = '\0';

	for (; *text && (quote || *text != ' '); text++) {
		if (*text == quote)
			quote = '\0';
		else if (!quote && (*text == '\'' || *text == '"'))
			quote = *text;
		else if (*text == '\\' && quote != '\'' && text[1])
			gk_buf_putc(out, *++text);
		else
			gk_buf_putc(out, *text);
	}
	*rest = text;
	return !quote;
}

static bool add_word(char ***words, size_t *count, const char *word)
{
	char **more = realloc(*words, (*count + 2) * sizeof *more);

	if (!more)
		return false;
	*words = more;
	more[*count] = strdup(word);
	more[*count + 1] = NULL;
	return more[(*count)++] != NULL;
}

bool tui_shell_split(const char *text, char ***ret_words)
{
	char **words = NULL;
	size_t count = 0;
	bool good = true;

	for (text += strspn(text, " "); good && *text;
	     text += strspn(text, " ")) {
		struct gk_buf word = {0};

		good = read_shell_word(&text, &word) && !word.failed &&
		       add_word(&words, &count, word.data ? word.data : "");
		gk_buf_free(&word);
	}
	if (good)
		*ret_words = words;
	else
		tui_shell_free(words);
	return good;
}

static void quote_shell_word(struct gk_buf *out, const char *word)
{
	if (*word && !strpbrk(word, " '\"\\")) {
		gk_buf_puts(out, word);
		return;
	}
	gk_buf_putc(out, '"');
	for (; *word; word++) {
		if (*word == '"' || *word == '\\')
			gk_buf_putc(out, '\\');
		gk_buf_putc(out, *word);
	}
	gk_buf_putc(out, '"');
}

void tui_shell_join(char *const *words, char *dst, size_t cap)
{
	struct gk_buf out = {0};

	for (size_t i = 0; words && words[i]; i++) {
		gk_buf_puts(&out, i ? " " : "");
		quote_shell_word(&out, words[i]);
	}
	gk_str_copy(dst, cap, out.data ? out.data : "");
	gk_buf_free(&out);
}
