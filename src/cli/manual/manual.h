/* SPDX-License-Identifier: Apache-2.0 */
/* manual.h - manual pages and completion, made of the pages of all verbs. */
#ifndef GK_CLI_MANUAL_H
#define GK_CLI_MANUAL_H

#include "cli/page.h"

/*
 * Writes all manual pages into a directory: gpukit.1, gpukit-top.1 and so on.
 * Returns an exit code, after a message on failure.
 */
int gk_manual_write(const char *directory);

/*
 * Prints what may stand at the end of a command line: words are its words, the
 * last of them the one at the cursor. Returns an exit code.
 *
 * A line of output is a word, a tab and a description; or ":files", ":users":
 * the shell knows these; or ":command N": what follows word N is a command line
 * of its own.
 */
int gk_complete(int count, const char *const *words);

/* The pages that belong to no verb: of gpukit itself. Ends with a NULL name. */
extern const struct gk_manual_page gk_general_pages[];

#endif
