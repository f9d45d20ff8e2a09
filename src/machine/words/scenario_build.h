/*
 * scenario_build.h - a scenario while it is compiled: steps and loads are
 * added by scenario_yaml.c, put in order and tried by scenario_build.c. The
 * loads are scenario_loads.c's.
 */
#ifndef GKF_SCENARIO_BUILD_H
#define GKF_SCENARIO_BUILD_H

#include "machine/file/scenario_state.h"
#include "machine/file/value.h"
#include "machine/words/scenario_yaml.h"
#include "yaml/yaml.h"

struct gkf_machine;
struct gkf_load_spec;

/* The value that the scenario gave last: a ramp that may go on. */
struct gkf_track {
	bool known;
	uint64_t start, bins; /* bins 0: no ramp */
	int64_t from, to;
};

/* Within a bin: first all else, then loads find their place. */
enum gkf_phase { GKF_PHASE_FIRST, GKF_PHASE_PLACE, GKF_PHASE_MEMORY };

/* Where in the file a step comes from, and its place among its bin's. */
struct gkf_origin {
	unsigned line, phase, number;
};

struct gkf_build {
	struct gk_yaml yaml;
	const struct gkf_scenario_options *options;
	bool seed_given; /* by them */
	struct gkf_scenario s;
	struct gkf_machine *m;      /* to try things on */
	struct gkf_origin *origins; /* of each step */
	unsigned step_cap, last_load;
	struct gkf_track (*tracks)[GKF_V_COUNT]; /* of each device */

	/* The step that is being read. */
	unsigned line;
	uint64_t at; /* bins since the scenario began */
	uint64_t bin;
	bool has_gpus;
	uint64_t gpus;
};

#define GKF_BUILD_FAIL(b, node, ...)                                           \
	gk_yaml_fail(&(b)->yaml, gk_yaml_line(node), __VA_ARGS__)

/* Makes b->m once the GPUs are known. All return 0 or a told gk_err. */
int gkf_build_machine(struct gkf_build *b, unsigned line);
void gkf_build_free(struct gkf_build *b);

/* Adds a step of the current bin; text NULL: none. */
int gkf_build_step(struct gkf_build *b, enum gkf_step_kind kind,
		   uint32_t device, uint32_t number, int64_t argument,
		   const char *text);

/* Adds a step of any bin; its bin and text are set here. */
int gkf_build_at(struct gkf_build *b, uint64_t bin, unsigned phase,
		 struct gkf_step step, const char *text);

/* Takes back what steps would do to a number of a GPU from now on. */
void gkf_build_drop(struct gkf_build *b, enum gkf_step_kind kind,
		    uint32_t device, uint32_t number);

/* The value that a ramp has come to. */
int64_t gkf_track_at(const struct gkf_track *t, uint64_t bin);

/* A value of a device from now on; GKF_UNSET gives it back to the model. */
int gkf_build_set(struct gkf_build *b, unsigned device, enum gkf_value value,
		  int64_t to);

/* Leads a value to another one within some bins. from NULL: as it is. */
int gkf_build_ramp(struct gkf_build *b, unsigned device, enum gkf_value value,
		   const int64_t *from, int64_t to, uint64_t bins);

/* Loads by their name, on the places of a spec. */
int gkf_build_load_start(struct gkf_build *b, const char *name,
			 const struct gkf_load_spec *spec);
int gkf_build_load_stop(struct gkf_build *b, const char *name);
int gkf_build_load_memory(struct gkf_build *b, const char *name, uint64_t bytes,
			  uint64_t bins);

/* Whether the processes of a GPU have room when this one starts. */
int gkf_build_fits(struct gkf_build *b, const struct gkf_scenario_load *load);

/* Tells that memory is out. */
int gkf_build_nomem(struct gkf_build *b);

/* Puts all in order, tries it, checks that loads fit. */
int gkf_build_finish(struct gkf_build *b);

#endif
