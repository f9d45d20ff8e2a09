/* SPDX-License-Identifier: Apache-2.0 */
/* page.c - collects the words that may stand at the cursor. */
#include "cli/page.h"

#include <string.h>

/*
 * Whether a word has no characters that a shell or the protocol of completion
 * would misread. Other words are not offered.
 */
static bool is_plain(const char *word)
{
	for (; *word; word++)
		if ((unsigned char)*word <= ' ' || *word == 0x7f)
			return false;
	return true;
}

void gk_complete_word(struct gk_completion *answer, const char *word,
		      const char *description)
{
	const char *begun = answer->word + answer->kept;

	answer->any = true;
	if (strncmp(word, begun, strlen(begun)) != 0 || !is_plain(word))
		return;
	gk_buf_add(&answer->out, answer->word, answer->kept);
	gk_buf_printf(&answer->out, "%s\t%s\n", word,
		      description ? description : "");
}

void gk_complete_words(struct gk_completion *answer, const char *words,
		       char between)
{
	char word[64];

	for (size_t len; *words; words += len + (words[len] == between)) {
		len = strcspn(words, (char[]){between, '\0'});
		if (len < sizeof word) {
			memcpy(word, words, len);
			word[len] = '\0';
			gk_complete_word(answer, word, NULL);
		}
	}
}

void gk_complete_list(struct gk_completion *answer, char separator)
{
	const char *last = strrchr(answer->word + answer->kept, separator);

	if (last)
		answer->kept = (size_t)(last - answer->word) + 1;
}

static void ask_shell(struct gk_completion *answer, const char *what)
{
	answer->any = true;
	gk_buf_puts(&answer->out, what);
}

void gk_complete_files(struct gk_completion *answer)
{
	ask_shell(answer, ":files\n");
}

void gk_complete_users(struct gk_completion *answer)
{
	ask_shell(answer, ":users\n");
}
