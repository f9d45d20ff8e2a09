/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_build.h - a scenario being compiled. scenario_yaml.c and its helpers
 * read the file, scenario_loads.c keeps the loads, scenario_build.c sorts and
 * rehearses the steps. Times are in bins of 1/6 s of machine time (GKF_BIN_NS).
 */
#ifndef GKF_SCENARIO_BUILD_H
#define GKF_SCENARIO_BUILD_H

#include "machine/file/scenario_state.h"
#include "machine/file/value.h"
#include "machine/words/scenario_yaml.h"
#include "yaml/yaml.h"

struct gkf_machine;
struct gkf_load_spec;

/*
 * The last value that the scenario set, or its last ramp, which may still be in
 * progress.
 */
struct gkf_track {
	bool known;
	uint64_t start, bins; /* bins is 0 if there is no ramp */
	int64_t from, to;
};

/*
 * The order within a bin: loads are placed, and then sized, after all other
 * steps.
 */
enum gkf_phase { GKF_PHASE_FIRST, GKF_PHASE_PLACE, GKF_PHASE_MEMORY };

/* A step's line in the file, and its order within its bin. */
struct gkf_origin {
	unsigned line, phase, number;
};

struct gkf_build {
	struct gk_yaml yaml;
	const struct gkf_scenario_options *options;
	bool seed_given; /* whether `options` has a seed */
	struct gkf_scenario s;
	struct gkf_machine *m; /* for checking values and rehearsing steps */
	struct gkf_origin *origins; /* one per step */
	unsigned step_cap, last_load;
	struct gkf_track (*tracks)[GKF_V_COUNT]; /* one row per device */

	/* The step being read. */
	unsigned line;
	uint64_t at; /* bins since the scenario began */
	uint64_t bin;
	bool has_gpus;
	uint64_t gpus;
};

#define GKF_BUILD_FAIL(b, node, ...)                                           \
	gk_yaml_fail(&(b)->yaml, gk_yaml_line(node), __VA_ARGS__)

/*
 * Creates b->m once the GPUs are known. Like all functions here it returns 0,
 * or a gk_err after writing the message.
 */
int gkf_build_machine(struct gkf_build *b, unsigned line);
void gkf_build_free(struct gkf_build *b);

/* Adds a step in the current bin; text NULL: none. */
int gkf_build_step(struct gkf_build *b, enum gkf_step_kind kind,
		   uint32_t device, uint32_t number, int64_t argument,
		   const char *text);

/* Adds a step in any bin; sets the step's bin and text. */
int gkf_build_at(struct gkf_build *b, uint64_t bin, unsigned phase,
		 struct gkf_step step, const char *text);

/* Cancels the later steps of a GPU that have this kind and number. */
void gkf_build_drop(struct gkf_build *b, enum gkf_step_kind kind,
		    uint32_t device, uint32_t number);

/* The value that a ramp has reached in a bin. */
int64_t gkf_track_at(const struct gkf_track *t, uint64_t bin);

/* Sets a value of a device from now on; GKF_UNSET returns it to the model. */
int gkf_build_set(struct gkf_build *b, unsigned device, enum gkf_value value,
		  int64_t to);

/*
 * Ramps a value from *from (NULL: the current value) to another, over some
 * bins.
 */
int gkf_build_ramp(struct gkf_build *b, unsigned device, enum gkf_value value,
		   const int64_t *from, int64_t to, uint64_t bins);

/* Start, stop or resize the processes of a load, by its name. */
int gkf_build_load_start(struct gkf_build *b, const char *name,
			 const struct gkf_load_spec *spec);
int gkf_build_load_stop(struct gkf_build *b, const char *name);
int gkf_build_load_memory(struct gkf_build *b, const char *name, uint64_t bytes,
			  uint64_t bins);

/*
 * Checks that the memory of the GPU suffices for all its processes when this
 * load starts.
 */
int gkf_build_fits(struct gkf_build *b, const struct gkf_scenario_load *load);

/* Writes the message "out of memory". */
int gkf_build_nomem(struct gkf_build *b);

/* Sorts the steps, rehearses them, and checks that loads fit. */
int gkf_build_finish(struct gkf_build *b);

#endif
