/*
 * command.h - the command that a verb runs for its caller.
 */
#ifndef GK_CLI_COMMAND_H
#define GK_CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

/* Statuses as shells have them. */
enum { GK_EXIT_NOT_RUN = 126, GK_EXIT_NOT_THERE = 127, GK_EXIT_SIGNAL = 128 };

/* Where execvp() finds a command; false: nowhere. */
bool gk_command_find(const char *name, char *ret_path, size_t cap);

/*
 * Becomes the command, which is found as execvp() does it. Returns only when
 * that fails: the status that says so, told on stderr in the verb's name.
 */
int gk_command_become(const char *verb, char *const *argv);

#endif
