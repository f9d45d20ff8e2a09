/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_list.c - the table of verbs. */
#include "cli/cmd.h"

#include <stddef.h>

const struct gk_cmd *const gk_cmds[] = {
#define VERB(name) &gk_cmd_##name,
#include "cli/verbs.def"
#undef VERB
    NULL,
};
