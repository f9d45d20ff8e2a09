/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aliases.h - names of other tools. A link with such a name to gpukit runs the
 * verb that replaces the tool. A made-up machine's PATH contains a link
 * nvidia-smi; `./run install --aliases` makes all links.
 */
#ifndef GK_CLI_ALIASES_H
#define GK_CLI_ALIASES_H

#include "cli/cmd.h"

/* Returns the verb that a command of this name runs, or NULL. */
const struct gk_cmd *gk_alias_find(const char *path);

#endif
