/* SPDX-License-Identifier: Apache-2.0 */
/* manual.h - makes manual pages and completion from the pages of all verbs. */
#ifndef GK_CLI_MANUAL_H
#define GK_CLI_MANUAL_H

#include "cli/page.h"

/*
 * Writes all manual pages into a directory: gpukit.1, gpukit-top.1 and so on.
 * Returns an exit code, after a message on failure.
 */
int gk_manual_write(const char *directory);

/*
 * Prints the words that may stand at the cursor. `words` is the command line up
 * to the cursor; its last word is the one to complete. Returns an exit code.
 *
 * Each line of output is a word, a tab and a description; or ":files" or
 * ":users", which ask the shell to complete these; or ":command N", which means
 * that another command's line begins with word N.
 */
int gk_complete(int count, const char *const *words);

/*
 * The pages of gpukit itself, which belong to no verb. Ends with a NULL name.
 */
extern const struct gk_manual_page gk_general_pages[];

#endif
