/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_yaml.h - compiles scenarios from YAML files into the table of steps
 * of a machine file. For the command only. docs/SCENARIOS.md describes the
 * format.
 */
#ifndef GKF_SCENARIO_YAML_H
#define GKF_SCENARIO_YAML_H

#include "base/str.h"
#include "machine/file/numbers.h"
#include "machine/store/scenario_table.h"

struct gkf_profile;
struct gkf_scenario_load;
struct gkf_step;

#define GKF_SCENARIO_LOADS_MAX 1024 /* maximum number of processes */
#define GKF_SCENARIO_TEXT_MAX  512

/*
 * The stop bin of a load that never stops. Its time in nanoseconds still fits
 * 64 bits.
 */
#define GKF_SCENARIO_FOREVER (1ULL << 36)

/* The load runs on the whole GPU, not on a MIG device. */
#define GKF_LOAD_NO_MIG UINT32_MAX

struct gkf_scenario {
	char name[GKF_SCENARIO_NAME_MAX];
	char description[GKF_SCENARIO_TEXT_MAX];
	char driver[32]; /* "" for the default */
	enum gkf_layout layout;
	uint64_t seed;
	uint64_t speed;    /* permille */
	uint64_t duration; /* bins */
	uint64_t begin;    /* the bin of the scenario's time 0 */
	struct gkf_profile *profiles;
	unsigned device_count;
	struct gkf_step *steps;
	unsigned *lines; /* line of each step in the file */
	unsigned step_count;
	struct gk_buf texts;
	struct gkf_scenario_load *loads;
	unsigned load_count;
};

/* Options of the command line; 0 and NULL: not given. */
struct gkf_scenario_options {
	const char *profiles; /* directory of profiles */
	const char *gpus;     /* replaces the file's GPUs */
	const uint64_t *seed; /* replaces the file's seed */
	uint64_t warm_up_ns;  /* machine time before the scenario begins */
};

/*
 * Compiles a file and rehearses its steps on a machine of this process. Returns
 * 0, or a gk_err and one line in ret_message that names the file, line and key,
 * and says what is allowed. Free the result with gkf_scenario_free().
 */
int gkf_scenario_compile(const char *path,
			 const struct gkf_scenario_options *options,
			 struct gkf_scenario *ret, char *ret_message,
			 size_t cap);
void gkf_scenario_free(struct gkf_scenario *scenario);

/*
 * The table for gkf_machine_create(); valid as long as the scenario.
 */
struct gkf_scenario_table
gkf_scenario_table(const struct gkf_scenario *scenario);

/* The name of the function in a row of nvml.def, or NULL. */
const char *gkf_rule_function(unsigned row);

/*
 * Finds the file of a scenario, given by a path (with a '/' or ending in .yaml)
 * or by its name in one of the directories (a NULL-terminated list). Returns 0,
 * or a gk_err and a message.
 */
int gkf_scenario_find(const char *const *dirs, const char *name, char *ret_path,
		      size_t path_cap, char *ret_message, size_t cap);

/* Adds the paths of all scenarios in the directories, each with a NUL. */
void gkf_scenario_list(const char *const *dirs, struct gk_buf *paths);

#endif
