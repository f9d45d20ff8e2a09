/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aliases.h - the names of links that start a verb: of the tool that the verb
 * replaces. A made-up machine's PATH contains such a nvidia-smi; `./run install
 * --aliases` makes all of them.
 */
#ifndef GK_CLI_ALIASES_H
#define GK_CLI_ALIASES_H

#include "cli/cmd.h"

/* The verb for which a command is named, or NULL. */
const struct gk_cmd *gk_alias_find(const char *path);

#endif
