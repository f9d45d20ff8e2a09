/* SPDX-License-Identifier: Apache-2.0 */
/* manual.h - words for completion that other files of the verb know. */
#ifndef GK_CLI_FAKE_MANUAL_H
#define GK_CLI_FAKE_MANUAL_H

#include "cli/page.h"

/* Subcommands of `gpukit fake ctl`, and what may follow each. */
void fake_ctl_words(struct gk_completion *answer, const struct gk_cursor *q);

/* The names of all scenarios. */
void fake_scenario_names(struct gk_completion *answer);

#endif
