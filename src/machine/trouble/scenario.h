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

#include "base/export.h"
#include "machine/file/scenario_state.h"

#include <stdbool.h>
#include <stddef.h>

struct gkf_machine;
struct gkf_file;

/* What the file of a new machine gets; the caller keeps it all. */
struct gkf_scenario_table {
	const char *name;
	const struct gkf_step *steps; /* count of them, in order of bin */
	unsigned count;
	const char *texts; /* each NUL-ended */
	unsigned text_size;
	uint64_t begin_bin, end_bin;
};

/* Machine time of the next step; UINT64_MAX: there is none. */
GKF_API uint64_t gkf_scenario_next_ns(const struct gkf_machine *m);

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

/*
 * The rest is for the machine's core.
 */

/* Steps up to a bin. The caller holds the lock. */
void gkf_scenario_apply(struct gkf_machine *m, uint64_t bin);

/* What the steps and texts of a file take behind struct gkf_file, bytes. */
size_t gkf_scenario_size(uint64_t steps, uint64_t texts);

/* Puts a table into a new file; NULL: no scenario. */
void gkf_scenario_init(struct gkf_file *file,
		       const struct gkf_scenario_table *table);

#endif
