/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shell_words.h - converts a program and its arguments to and from a line, with
 * the quotes and backslashes of a shell but none of its expansions.
 */
#ifndef GK_TUI_SHELL_WORDS_H
#define GK_TUI_SHELL_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Splits a line at blanks, except those in 'single' or "double" quotes or after
 * a \. *ret_words is NULL-terminated, or NULL if there are no words; free it
 * with tui_shell_free(). Returns false if a quote is not closed or memory runs
 * out.
 */
bool tui_shell_split(const char *text, char ***ret_words);
void tui_shell_free(char **words);

/*
 * Writes a line that tui_shell_split() would split into these words, cut at
 * `cap`. words may be NULL.
 */
void tui_shell_join(char *const *words, char *dst, size_t cap);

#endif
