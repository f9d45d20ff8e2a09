/* SPDX-License-Identifier: Apache-2.0 */
/* command.h - finds and runs the command that a user gives to a verb. */
#ifndef GK_CLI_COMMAND_H
#define GK_CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

/* The exit statuses that shells use. */
enum { GK_EXIT_NOT_RUN = 126, GK_EXIT_NOT_THERE = 127, GK_EXIT_SIGNAL = 128 };

/* Finds the path that execvp() would run. Returns false if there is none. */
bool gk_command_find(const char *name, char *ret_path, size_t cap);

/*
 * Replaces this process by the command, like execvp(). If that fails, prints an
 * error for the verb and returns one of the statuses above.
 */
int gk_command_become(const char *verb, char *const *argv);

#endif
