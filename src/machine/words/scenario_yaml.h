/*
 * scenario_yaml.h - scenarios from YAML files, compiled into the table of
 * steps of a machine file. For the command only. docs/SCENARIOS.md tells the
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

#define GKF_SCENARIO_LOADS_MAX 1024 /* processes */
#define GKF_SCENARIO_TEXT_MAX  512

/* A load that never stops; its end is still a time in nanoseconds. */
#define GKF_SCENARIO_FOREVER (1ULL << 36)

/* No MIG device: the whole GPU. */
#define GKF_LOAD_NO_MIG UINT32_MAX

struct gkf_scenario {
	char name[GKF_SCENARIO_NAME_MAX];
	char description[GKF_SCENARIO_TEXT_MAX];
	char driver[32]; /* "" for the default */
	enum gkf_layout layout;
	uint64_t seed;
	uint64_t speed;    /* permille */
	uint64_t duration; /* bins */
	uint64_t begin;    /* bin in which it begins: its time 0 */
	struct gkf_profile *profiles;
	unsigned device_count;
	struct gkf_step *steps;
	unsigned *lines; /* of the file, of each step */
	unsigned step_count;
	struct gk_buf texts;
	struct gkf_scenario_load *loads;
	unsigned load_count;
};

/* Options of the command line; 0 and NULL: nothing. */
struct gkf_scenario_options {
	const char *profiles; /* directory of profiles */
	const char *gpus;     /* instead of those of the file */
	const uint64_t *seed; /* the same */
	uint64_t warm_up_ns;  /* machine time before it begins */
};

/*
 * Compiles a file and rehearses its steps on a machine of this process: 0, or
 * a gk_err and one line in ret_message that names file, line and key, and
 * what is allowed. gkf_scenario_free() the result.
 */
int gkf_scenario_compile(const char *path,
			 const struct gkf_scenario_options *options,
			 struct gkf_scenario *ret, char *ret_message,
			 size_t cap);
void gkf_scenario_free(struct gkf_scenario *scenario);

/*
 * The scenario as gkf_machine_create() takes it; valid as long as the scenario
 * is.
 */
struct gkf_scenario_table
gkf_scenario_table(const struct gkf_scenario *scenario);

/* The function of a rule's number, or NULL. */
const char *gkf_rule_function(unsigned row);

/*
 * The file of a scenario: a path (it holds a '/' or ends in .yaml), or a name
 * in one of the directories, NULL-terminated. 0 or a gk_err and a message.
 */
int gkf_scenario_find(const char *const *dirs, const char *name, char *ret_path,
		      size_t path_cap, char *ret_message, size_t cap);

/* Adds the paths of all scenarios in the directories, each with a NUL. */
void gkf_scenario_list(const char *const *dirs, struct gk_buf *paths);

#endif
