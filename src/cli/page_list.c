/* SPDX-License-Identifier: Apache-2.0 */
/* page_list.c - owns the table of the pages of all verbs. */
#include "cli/page.h"

const struct gk_verb_pages gk_verb_pages[] = {
#define VERB(name) {&gk_cmd_##name, name##_pages},
#include "cli/verbs.def"
#undef VERB
    {NULL, NULL},
};
