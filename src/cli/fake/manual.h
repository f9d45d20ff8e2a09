/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manual.h - the completion functions of `gpukit fake`, each defined in the
 * file that owns the words.
 */
#ifndef GK_CLI_FAKE_MANUAL_H
#define GK_CLI_FAKE_MANUAL_H

#include "cli/page.h"

/* Adds the subcommands of `gpukit fake ctl`, or possible arguments of one. */
void fake_ctl_words(struct gk_completion *answer, const struct gk_cursor *q);

/* Adds the names of all scenarios. */
void fake_scenario_names(struct gk_completion *answer);

#endif
