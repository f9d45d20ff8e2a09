/*
 * scenario.h - a machine to which things happen at given times: a table of
 * steps, applied by whoever looks at the machine or changes it when they are
 * due. A step takes effect exactly at its bin, however late it is applied.
 *
 * Killed between a step and the word that says that it is done, the step is
 * applied once more: then an Xid is told twice, memory errors count twice.
 */
#ifndef GKF_SCENARIO_H
#define GKF_SCENARIO_H

#include "machine/file/scenario_state.h"

#include <stdbool.h>
#include <stddef.h>

struct gkf_machine;
struct gkf_file;

/* A step copied out, checked; false: no such, or nothing to be believed. */
bool gkf_scenario_step(const struct gkf_machine *m, unsigned index,
		       struct gkf_step *ret_step);
unsigned gkf_scenario_count(const struct gkf_machine *m);

/* The text of a step; always ends. */
void gkf_scenario_text(const struct gkf_machine *m, const struct gkf_step *step,
		       char ret_text[GKF_STEP_TEXT_MAX]);

/* Applies one step to a machine now. 0 or a gk_err. */
int gkf_scenario_do(struct gkf_machine *m, const struct gkf_step *step,
		    const char *text);

#endif
