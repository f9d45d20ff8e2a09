/* cmd_list.c - the table of verbs. */
#include "cli/cmd.h"

#include <stddef.h>

const struct gk_cmd *const gk_cmds[] = {
    &gk_cmd_top,    &gk_cmd_stat,   &gk_cmd_smi, &gk_cmd_record,
    &gk_cmd_select, &gk_cmd_export, &gk_cmd_web, &gk_cmd_plot,
    &gk_cmd_limit,  &gk_cmd_fake,   NULL,
};
