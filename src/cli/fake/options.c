/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - parses the options of `gpukit fake`. */
#include "cli/fake/options.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "cli/arg.h"
#include "machine/file/numbers.h"
#include "machine/model/topology.h"
#include "machine/words/spec.h"

#include <argp.h>
#include <string.h>

enum {
	KEY_GPUS = 'g',
	KEY_LOAD = 'l',
	KEY_NAME = 'n',
	KEY_DRIVER = 'd',
	KEY_LATENCY = 0x100,
	KEY_MIG,
	KEY_TOPOLOGY,
	KEY_SEED,
	KEY_WARM_UP,
	KEY_SCENARIO = 's',
	KEY_SPEED = 0x200,
	KEY_FROZEN,
	KEY_UNTIL_END,
	KEY_SHARED,
	KEY_REPLAY,
	KEY_REFUSALS,
	KEY_REPORT,
	KEY_NO_TORCH,
	KEY_TWINS,
	KEY_ANY_DRIVER,
	KEY_QUIET = 'q',
};

/* Long enough for a load to heat its GPU up. */
#define WARM_UP_NS     (45 * GK_NS_PER_S)
#define WARM_UP_MAX_NS (30 * 86400 * GK_NS_PER_S)

static void add_driver(const char *name, void *data)
{
	struct gk_buf *names = data;

	gk_buf_printf(names, "%s%s", names->len ? ", " : "", name);
}

const char *fake_drivers(void)
{
	static char drivers[256];
	struct gk_buf names = {0};

	gkf_driver_names(add_driver, &names);
	gk_str_copy(drivers, sizeof drivers, names.data ? names.data : "");
	gk_buf_free(&names);
	return drivers;
}

#define GENERATION(id, name, ...) " " name
#define BRANCH(name, ...)         " " name

/* The most used options come first: argp sorts by the last number. */
static const struct argp_option options[] = {
    {"gpus", KEY_GPUS, "LIST", 0,
     "MODEL[:N],..., where MODEL is a profile or the path of one; or none "
     "(a100-sxm4-80gb:8)",
     2},
    {"load", KEY_LOAD, "SPEC", 0,
     "Real processes that keep GPUs busy: KIND[:GPUS][,KEY=VALUE...]. KIND: "
     "train, infer or idle; GPUS: 0-3, 0+2, all, or 0:1 for MIG device 1 of "
     "GPU 0; KEY: mem, util, period, n, membw, enc, dec, jpg, ofa. May be "
     "repeated",
     3},
    {"mig", KEY_MIG, "GPUS=LAYOUT", 0,
     "Split GPUs into MIG devices, such as 0=3g.40gb+2g.20gb+1g.10gb; @SLICE "
     "and compute instances in parentheses may follow a profile: "
     "3g.40gb@4(2c+1c). LAYOUT on: only turn the mode on. May be repeated",
     4},
    {"driver", KEY_DRIVER, "VERSION", 0,
     "Driver: a generation, one of"
#include "abi/nvml/nvml_generations.def"
     "; a branch between or after them, one of"
#include "abi/nvml/nvml_branches.def"
     "; or an exact version, such as 535.54.03 (580)",
     5},
    {"any-driver", KEY_ANY_DRIVER, NULL, 0,
     "Run boards on drivers that never knew them", 5},
    {"topology", KEY_TOPOLOGY, "auto|hgx|pcie|nvl|mesh", 0,
     "How NVLinks are wired: to switches, not at all, in pairs, as a cube mesh "
     "(as usual for the model)",
     6},
    {"name", KEY_NAME, "MACHINE", 0,
     "Name of the machine, or the path of its file (a new name)", 7},
    {"shared", KEY_SHARED, "read|write", OPTION_ARG_OPTIONAL,
     "Let programs of other users see the machine; write: also use and change "
     "it (read)",
     7},
    {"latency", KEY_LATENCY, "none|real", 0,
     "How long NVML calls take: no longer than needed, or as long as in the "
     "driver",
     8},
    {"seed", KEY_SEED, "N", 0,
     "Seed of UUIDs, serial numbers, the differences between boards, and the "
     "randomness of scenarios",
     9},
    {"twins", KEY_TWINS, NULL, 0,
     "Make boards of one model exactly alike, as their profile says, with "
     "figures that stand still at rest",
     10},
    {"scenario", KEY_SCENARIO, "NAME", 0,
     "What happens on the machine over time: a scenario from `gpukit fake "
     "scenario ls`, or the path of one",
     11},
    {"replay", KEY_REPLAY, "FILE", 0,
     "Replay a recording of `gpukit record --snapshots`: its GPUs, values and "
     "processes, from its first snapshot on",
     12},
    {"until-end", KEY_UNTIL_END, NULL, 0,
     "Terminate CMD (SIGTERM) when the scenario or recording is over", 13},
    {"speed", KEY_SPEED, "N", 0,
     "Speed of machine time, 0.001 to 1000 times real time", 14},
    {"frozen", KEY_FROZEN, NULL, 0,
     "Stop machine time until `gpukit fake ctl clock` moves it", 15},
    {"warm-up", KEY_WARM_UP, "TIME", 0,
     "How long the loads appear to have run when CMD starts (45s)", 16},
    {"report", KEY_REPORT, "FILE", 0,
     "At the end, report what was done on the machine: as JSON to FILE.json, "
     "or to stdout for -, with a table to stderr; to any other FILE as a table",
     18},
    {"refusals", KEY_REFUSALS, "tell|error", 0,
     "At the end, list refused calls on stderr; error: also exit with status 3 "
     "(tell)",
     19},
    {"no-torch", KEY_NO_TORCH, NULL, 0,
     "Leave PyTorch alone: its operators do not run on the GPUs", 20},
    {"quiet", KEY_QUIET, NULL, 0,
     "Print neither warnings at the start nor refused calls at the end", 21},
    {0}};

static int add_load(struct fake_options *a, char *spec)
{
	if (a->load_count == FAKE_LOADS_MAX)
		return GK_ERR_TOO_MANY;
	a->loads[a->load_count++] = spec;
	return 0;
}

static error_t parse_fake_option(int key, char *arg, struct argp_state *state)
{
	struct fake_options *a = state->input;

	switch (key) {
	case KEY_GPUS:
		a->gpus = arg;
		return 0;
	case KEY_NAME:
		a->name = arg;
		return 0;
	case KEY_LOAD:
		if (add_load(a, arg))
			argp_error(state, "at most %d --load options",
				   FAKE_LOADS_MAX);
		return 0;
	case KEY_MIG:
		if (a->mig_count == GKF_DEVICES_MAX)
			argp_error(state, "at most %d --mig options",
				   GKF_DEVICES_MAX);
		a->migs[a->mig_count++] = arg;
		return 0;
	case KEY_DRIVER:
		a->driver = arg;
		a->generation = gkf_generation_find(arg);
		if (!a->generation)
			argp_error(state,
				   "--driver: '%s'; allowed are %s, "
				   "versions of or between these, such as "
				   "535.54.03, and newer ones",
				   arg, fake_drivers());
		return 0;
	case KEY_ANY_DRIVER:
		a->any_driver = true;
		return 0;
	case KEY_LATENCY:
		if (strcmp(arg, "none") && strcmp(arg, "real"))
			argp_error(state,
				   "--latency: '%s'; allowed are none, "
				   "real",
				   arg);
		a->latency = *arg == 'r' ? GKF_LATENCY_REAL : GKF_LATENCY_NONE;
		return 0;
	case KEY_TOPOLOGY:
		a->layout = gkf_layout_find(arg);
		if (a->layout < 0)
			argp_error(state,
				   "--topology: '%s'; allowed are auto, hgx, "
				   "pcie, nvl, mesh",
				   arg);
		return 0;
	case KEY_SEED:
		if (gk_parse_int(arg, &a->seed))
			argp_error(state, "--seed: '%s' is not an integer",
				   arg);
		a->seed_given = true;
		return 0;
	case KEY_SCENARIO:
		a->scenario_name = arg;
		return 0;
	case KEY_REPLAY:
		a->replay = gk_arg_path(state, "--replay", arg);
		return 0;
	case KEY_SPEED:
		if (gkf_speed_parse(arg, &a->speed))
			argp_error(state,
				   "--speed: '%s'; allowed is a number from "
				   "0.001 to 1000",
				   arg);
		return 0;
	case KEY_REPORT:
		a->report = gk_arg_path(state, "--report", arg);
		return 0;
	case KEY_REFUSALS:
		if (strcmp(arg, "tell") && strcmp(arg, "error"))
			argp_error(state,
				   "--refusals: '%s'; allowed are tell, error",
				   arg);
		a->refusals_fail = *arg == 'e';
		return 0;
	case KEY_NO_TORCH:
		a->no_torch = true;
		return 0;
	case KEY_TWINS:
		a->twins = true;
		return 0;
	case KEY_QUIET:
		a->quiet = true;
		return 0;
	case KEY_SHARED:
		if (arg && strcmp(arg, "read") && strcmp(arg, "write"))
			argp_error(state,
				   "--shared: '%s'; allowed are read, write",
				   arg);
		a->shared =
		    arg && *arg == 'w' ? GKF_OTHERS_WRITE : GKF_OTHERS_READ;
		return 0;
	case KEY_FROZEN:
		a->frozen = true;
		return 0;
	case KEY_UNTIL_END:
		a->until_end = true;
		return 0;
	case KEY_WARM_UP:
		if (gk_parse_duration(arg, &a->warm_up_ns) ||
		    a->warm_up_ns > WARM_UP_MAX_NS)
			argp_error(state,
				   "--warm-up: '%s'; allowed is a time up to "
				   "30d, such as 0 or 90s",
				   arg);
		return 0;
	case ARGP_KEY_ARGS:
		a->command = state->argv + state->next;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(
		    state,
		    "no command; give one, as in `gpukit fake -- nvitop`");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp fake_argp = {
    options,
    parse_fake_option,
    "[--] CMD [ARG...]\njoin [MACHINE] [-- CMD [ARG...]]\nctl ...\n"
    "load SPEC...\nscenario ...\ndoctor FILE...\nmodels",
    "Runs CMD on a made-up machine of NVIDIA GPUs; the exit status is CMD's. "
    "Lists at the end the calls of CMD that were refused.\v`gpukit fake join` "
    "connects a second terminal to the machine; `gpukit fake ctl` shows and "
    "changes it; `gpukit fake load` puts load on it; `gpukit fake scenario ls` "
    "lists scenarios; `gpukit fake doctor FILE` says whether a CUDA program "
    "will run; `gpukit fake models` lists the models of GPUs.\n\n" GK_ARG_SIZES
    "\n\nEnvironment: GPUKIT_PROFILES replaces gpukit's directory of profiles, "
    "GPUKIT_SCENARIOS that of scenarios.",
    NULL,
    NULL,
    NULL};

void fake_options_read(int argc, char **argv, struct fake_options *ret_options)
{
	*ret_options = (struct fake_options){.warm_up_ns = WARM_UP_NS};
	gk_arg_parse(&fake_argp, ARGP_IN_ORDER, argc, argv, ret_options);
}
