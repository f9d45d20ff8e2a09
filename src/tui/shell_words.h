/*
 * shell_words.h - a program and its arguments as one line, with quotes as a
 * shell has them and nothing else of a shell.
 */
#ifndef GK_TUI_SHELL_WORDS_H
#define GK_TUI_SHELL_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Splits at blanks; 'single' and "double" quotes and \ keep them. *ret_words
 * ends with NULL and is NULL where there are no words; tui_shell_free() it.
 * False: a quote is not closed, or there is no memory.
 */
bool tui_shell_split(const char *text, char ***ret_words);
void tui_shell_free(char **words);

/* The line that splits into these; words may be NULL. Cut where it is long. */
void tui_shell_join(char *const *words, char *dst, size_t cap);

#endif
