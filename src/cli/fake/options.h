/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the options of `gpukit fake`. */
#ifndef GK_CLI_FAKE_OPTIONS_H
#define GK_CLI_FAKE_OPTIONS_H

#include "cli/fake/fake.h"
#include "fronts/common/generations.h"
#include "machine/file/numbers.h"
#include "machine/words/scenario_yaml.h"

#define FAKE_LOADS_MAX 256

struct fake_options {
	const char *gpus, *name;
	const char *driver; /* a version or a generation; NULL: the default */
	/* the generation of `driver` */
	const struct gkf_generation *generation;
	char *loads[FAKE_LOADS_MAX];
	char *migs[GKF_DEVICES_MAX + 1];
	unsigned mig_count;
	unsigned load_count;
	enum gkf_latency latency;
	int layout; /* enum gkf_layout */
	int64_t seed;
	bool seed_given;
	uint64_t warm_up_ns;
	const char *replay; /* file name of a recording; NULL: none */
	const char *report; /* NULL: none */
	const char *scenario_name;
	struct gkf_scenario scenario; /* valid if scenario_name is set */
	/*
	 * The clock's speed in permille; 0: the scenario's own speed, or 1000
	 * without a scenario.
	 */
	uint64_t speed;
	bool frozen, until_end;
	enum gkf_others_may shared;
	bool twins;      /* boards of one model are identical */
	bool any_driver; /* allow boards that the driver never supported */
	bool no_torch;   /* do not run PyTorch's operators on the machine */
	/* quiet: print nothing; refusals_fail: exit with 3 after refusals */
	bool quiet, refusals_fail;
	char **command;
};

/* Parses the options. If one is wrong, prints a message and exits. */
void fake_options_read(int argc, char **argv, struct fake_options *ret_options);

/* Returns the names of all driver generations: "470, 535, ...". */
const char *fake_drivers(void);

#endif
