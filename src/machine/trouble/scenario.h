/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario.h - a table of steps that happen to a machine at given times. When
 * they are due, the next process that reads or changes the machine applies
 * them. A step takes effect exactly at its bin, however late it is applied.
 *
 * If a process is killed between applying a step and counting it as done, the
 * step is applied again: an Xid is then sent twice, memory errors count twice.
 */
#ifndef GKF_SCENARIO_H
#define GKF_SCENARIO_H

#include "machine/file/scenario_state.h"

#include <stdbool.h>
#include <stddef.h>

struct gkf_machine;
struct gkf_file;

/*
 * Applies the steps that are due at a bin. The caller holds the writers'
 * lock.
 */
void gkf_scenario_apply(struct gkf_machine *m, uint64_t bin);

/* Copies and checks a step; false: there is none, or it is invalid. */
bool gkf_scenario_step(const struct gkf_machine *m, unsigned index,
		       struct gkf_step *ret_step);
unsigned gkf_scenario_count(const struct gkf_machine *m);

/* Copies the text of a step, always with a NUL. */
void gkf_scenario_text(const struct gkf_machine *m, const struct gkf_step *step,
		       char ret_text[GKF_STEP_TEXT_MAX]);

/*
 * Applies a step to a machine now; returns 0 or a gk_err. The caller holds the
 * writers' lock.
 */
int gkf_scenario_do(struct gkf_machine *m, const struct gkf_step *step,
		    const char *text);

#endif
