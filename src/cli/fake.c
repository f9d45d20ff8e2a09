/*
 * fake.c - the verb `gpukit fake`: makes a machine, puts load on it, runs a
 * command there, and takes it all away again.
 */
#include "cli/fake.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "cli/cmd.h"
#include "fake/nvml/generations.h"

#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOADS_MAX    256
#define DEFAULT_GPUS "a100-sxm4-80gb:8"
#define ATTEMPTS     100 /* at a name for the machine */
#define VERSION_CAP  sizeof((struct gkf_file *)0)->nvml_version

struct arguments {
	const char *gpus, *name;
	const char *driver; /* a version or a generation; NULL: the default */
	const struct gkf_generation *generation; /* of driver */
	char *loads[LOADS_MAX];
	char *migs[GKF_DEVICES_MAX + 1];
	unsigned mig_count;
	unsigned load_count;
	enum gkf_latency latency;
	int layout; /* enum gkf_layout */
	int64_t seed;
	bool seed_given;
	uint64_t warm_up_ns;
	const char *scenario_name;
	struct gkf_scenario scenario; /* when it has a name */
	uint64_t speed;               /* permille; 0: the scenario's, or 1000 */
	bool frozen, until_end;
	char **command;
};

static void __attribute__((format(printf, 1, 0)))
say(const char *format, va_list args)
{
	char text[FAKE_MESSAGE_MAX], clean[FAKE_MESSAGE_MAX];

	vsnprintf(text, sizeof text, format, args);
	gk_str_clean(clean, sizeof clean, text, strlen(text));
	fprintf(stderr, "gpukit fake: %s\n", clean);
}

int fake_failure(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
	return GK_EXIT_FAILURE;
}

int fake_usage(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
	return GK_EXIT_USAGE;
}

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
};

/* Long enough for a load to have heated its GPU. */
#define WARM_UP_NS     (45 * GK_NS_PER_S)
#define WARM_UP_MAX_NS (30 * 86400 * GK_NS_PER_S)

/* The names of all generations, as "470, 535, ..." */
#define GENERATION(id, name, ...) ", " name
static const char drivers[] =
#include "abi/nvml_generations.def"
    ;
#undef GENERATION
#define DRIVERS_AT 2 /* past the first comma */

static const struct argp_option options[] = {
    {"gpus", KEY_GPUS, "LIST", 0,
     "MODEL[:N],... with MODEL a profile or the path of one; or none "
     "(default: a100-sxm4-80gb:8)",
     0},
    {"load", KEY_LOAD, "SPEC", 0,
     "real processes that keep GPUs busy: KIND[:GPUS][,KEY=VALUE...], KIND "
     "train, infer or idle, GPUS such as 0-3, 0+2 or all, or 0:1 for MIG "
     "device 1 of GPU 0, KEY mem, util, period, n, membw, enc, dec, jpg, "
     "ofa; may be given several times",
     0},
    {"mig", KEY_MIG, "GPUS=LAYOUT", 0,
     "splits GPUs into MIG devices, such as 0=3g.40gb+2g.20gb+1g.10gb; a "
     "profile may be followed by @SLICE and by compute instances in "
     "brackets, 3g.40gb@4(2c+1c); LAYOUT on: only the mode; may be given "
     "several times",
     0},
    {"driver", KEY_DRIVER, "VERSION", 0,
     "generation of the driver, such as 535, or an exact version of one, "
     "such as 535.54.03 (default: 580)",
     0},
    {"latency", KEY_LATENCY, "none|real", 0,
     "how long a call takes: as long as it must, or as in the driver", 0},
    {"topology", KEY_TOPOLOGY, "auto|hgx|pcie|nvl|mesh", 0,
     "how NVLinks are wired: to switches, nowhere, in pairs, as a cube mesh "
     "(default: as boards of the model are)",
     0},
    {"name", KEY_NAME, "MACHINE", 0,
     "name of the machine, or the path of its file (default: a new name)", 0},
    {"scenario", KEY_SCENARIO, "NAME", 0,
     "what happens on the machine over time: a scenario that `gpukit fake "
     "scenario ls` lists, or the path of one",
     0},
    {"until-end", KEY_UNTIL_END, NULL, 0,
     "tell CMD to end (SIGTERM) when the scenario is over", 0},
    {"speed", KEY_SPEED, "N", 0,
     "how fast machine time passes, 0.001 to 1000 of real time", 0},
    {"frozen", KEY_FROZEN, NULL, 0,
     "machine time stands still until `gpukit fake ctl clock` moves it", 0},
    {"seed", KEY_SEED, "N", 0,
     "of UUIDs and serial numbers, and of all chance in a scenario", 0},
    {"warm-up", KEY_WARM_UP, "TIME", 0,
     "how long the loads seem to have run when CMD starts (default: 45s)", 0},
    {0}};

static int add_load(struct arguments *a, char *spec)
{
	if (a->load_count == LOADS_MAX)
		return GK_ERR_TOO_MANY;
	a->loads[a->load_count++] = spec;
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case KEY_GPUS:
		a->gpus = arg;
		return 0;
	case KEY_NAME:
		a->name = arg;
		return 0;
	case KEY_LOAD:
		if (add_load(a, arg))
			argp_error(state, "at most %d --load", LOADS_MAX);
		return 0;
	case KEY_MIG:
		if (a->mig_count == GKF_DEVICES_MAX)
			argp_error(state, "at most %d --mig", GKF_DEVICES_MAX);
		a->migs[a->mig_count++] = arg;
		return 0;
	case KEY_DRIVER:
		a->driver = arg;
		a->generation = gkf_generation_find(arg);
		if (!a->generation)
			argp_error(state,
				   "--driver: '%s'; allowed are %s and "
				   "versions of these, such as 535.54.03",
				   arg, drivers + DRIVERS_AT);
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
			argp_error(state, "--seed: '%s' is no integer", arg);
		a->seed_given = true;
		return 0;
	case KEY_SCENARIO:
		a->scenario_name = arg;
		return 0;
	case KEY_SPEED:
		if (gkf_speed_parse(arg, &a->speed))
			argp_error(state,
				   "--speed: '%s'; allowed is a number from "
				   "0.001 to 1000",
				   arg);
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
		argp_error(state, "no command; say which, as in `gpukit fake "
				  "-- nvitop`");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/*
 * The command may change its directory: relative paths become absolute.
 * Without a name one is made up, another one at each attempt.
 */
static int machine_path(const char *name, unsigned attempt, char *ret_path,
			size_t cap)
{
	char fresh[48], path[PATH_MAX], cwd[PATH_MAX];
	int n;

	if (!name) {
		snprintf(fresh, sizeof fresh, attempt ? "run-%d-%u" : "run-%d",
			 (int)getpid(), attempt);
		name = fresh;
	}
	if (gkf_machine_path(name, path, sizeof path))
		return fake_usage("--name: '%s' is no name of a machine; "
				  "allowed is a name or a path",
				  name);
	if (*path == '/')
		n = snprintf(ret_path, cap, "%s", path);
	else
		n = getcwd(cwd, sizeof cwd)
			? snprintf(ret_path, cap, "%s/%s", cwd, path)
			: -1;
	if (n < 0 || (size_t)n >= cap)
		return fake_failure("--name: %s: %s", name,
				    n < 0 ? strerror(errno) : "too long");
	return 0;
}

static int tell_create(const char *path, int err)
{
	switch (err) {
	case GK_ERR_EXISTS:
		return fake_failure("machine %s is there already; choose "
				    "another --name or end what uses it",
				    path);
	case GK_ERR_NO_SPACE:
		return fake_failure(
		    "%s: no space left for a machine (%zu KiB); "
		    "make room there or choose another place "
		    "with --name PATH",
		    path, sizeof(struct gkf_file) / 1024);
	default:
		return fake_failure("machine %s cannot be made: %s; choose "
				    "another place with --name PATH",
				    path, gk_strerror(err));
	}
}

/*
 * A made-up name may be taken: pid namespaces that share /dev/shm have the
 * same pids.
 */
static int create_at(const struct arguments *a,
		     const struct gkf_machine_spec *spec, char *ret_path,
		     size_t cap)
{
	int err = GK_ERR_EXISTS, code;

	for (unsigned i = 0; err == GK_ERR_EXISTS && i < ATTEMPTS; i++) {
		code = machine_path(a->name, i, ret_path, cap);
		if (code)
			return code;
		err = gkf_machine_create(ret_path, spec);
		if (a->name)
			break;
	}
	return err ? tell_create(ret_path, err) : 0;
}

/* A generation is a version in short; NVML's own begins with CUDA's. */
static void set_driver(const struct arguments *a, struct gkf_machine_spec *spec,
		       char *nvml, size_t cap)
{
	const struct gkf_generation *g = a->generation;

	if (!g)
		return;
	spec->driver_version =
	    strcmp(a->driver, g->name) ? a->driver : g->driver;
	snprintf(nvml, cap, "%u.%s", g->cuda / 1000, spec->driver_version);
	spec->nvml_version = nvml;
	spec->cuda_version = g->cuda;
}

/* With a scenario the clock waits until all its loads are there. */
static void set_time(const struct arguments *a, struct gkf_machine_spec *spec,
		     struct gkf_scenario_table *table)
{
	spec->speed = a->speed;
	spec->frozen = a->frozen;
	if (!a->scenario_name)
		return;
	*table = gkf_scenario_table(&a->scenario);
	spec->scenario = table;
	spec->frozen = true;
	spec->layout = a->scenario.layout;
	spec->seed = a->scenario.seed;
	if (!spec->speed)
		spec->speed = a->scenario.speed;
}

static int create(const struct arguments *a, char *ret_path, size_t cap)
{
	struct gkf_profile *profiles =
	    calloc(GKF_DEVICES_MAX, sizeof *profiles);
	struct gkf_machine_spec spec = {.profiles = profiles,
					.latency = a->latency,
					.layout = (enum gkf_layout)a->layout,
					.seed = (uint64_t)a->seed,
					.owned = true};
	char message[FAKE_MESSAGE_MAX], nvml[VERSION_CAP];
	struct gkf_scenario_table table;
	int code = 0;

	if (!profiles)
		return fake_failure("out of memory");
	set_driver(a, &spec, nvml, sizeof nvml);
	set_time(a, &spec, &table);
	if (a->scenario_name) {
		spec.profiles = a->scenario.profiles;
		spec.device_count = a->scenario.device_count;
	} else if (fake_parse_gpus("--gpus", a->gpus, profiles,
				   &spec.device_count, message)) {
		code = fake_usage("%s", message);
	}
	if (!code)
		code = create_at(a, &spec, ret_path, cap);
	free(profiles);
	return code;
}

/* The scenario, and what it says where the command line says nothing. */
static int load_scenario(struct arguments *a)
{
	uint64_t seed = (uint64_t)a->seed;
	struct gkf_scenario_options wanted = {.gpus = a->gpus,
					      .seed =
						  a->seed_given ? &seed : NULL,
					      .warm_up_ns = a->warm_up_ns};
	int code;

	if (a->load_count || a->mig_count || a->layout)
		return fake_usage("--scenario: it says itself which loads, "
				  "MIG devices and topology there are; leave "
				  "out --load, --mig and --topology");
	code = fake_scenario_load(a->scenario_name, &wanted, &a->scenario);
	if (code)
		return code;
	/* Its time begins with a bin. */
	a->warm_up_ns = a->scenario.begin * GKF_BIN_NS;
	if (a->driver || !*a->scenario.driver)
		return 0;
	a->driver = a->scenario.driver;
	a->generation = gkf_generation_find(a->driver);
	return a->generation ? 0
			     : fake_usage("scenario %s: driver: '%s'; allowed "
					  "are %s and versions of these",
					  a->scenario.name, a->driver,
					  drivers + DRIVERS_AT);
}

/* Ages the machine, and lets time pass if it is to. */
static int start_time(const struct arguments *a, const char *path)
{
	struct gkf_machine *m;
	int err = 0, code = fake_open(path, &m);

	if (code)
		return code;
	if (a->scenario_name && !a->frozen)
		err = gkf_clock_speed(
		    m, atomic_load(&gkf_machine_file(m)->run_speed));
	gkf_machine_close(m);
	return err ? fake_failure("the clock cannot be started: %s",
				  gk_strerror(err))
		   : 0;
}

static uint64_t end_of(const struct arguments *a)
{
	return a->until_end
		   ? (a->scenario.begin + a->scenario.duration) * GKF_BIN_NS
		   : UINT64_MAX;
}

static int run_on(struct arguments *a, const char *path)
{
	struct fake_children children = {0};
	const struct gkf_scenario *scenario =
	    a->scenario_name ? &a->scenario : NULL;
	int code = fake_mig_apply(path, a->migs);

	if (!code && (a->load_count || scenario || a->frozen))
		code = fake_children_start(path, a->loads, a->load_count,
					   scenario, a->warm_up_ns, &children);
	if (!code)
		code = fake_signals_pending();
	if (!code)
		code = start_time(a, path);
	if (!code)
		code =
		    fake_run(path, a->generation ? a->generation->name : NULL,
			     a->command, end_of(a));
	fake_children_end(&children);
	return code;
}

static int launch(struct arguments *a)
{
	char path[PATH_MAX];
	int code = 0;

	fake_remove_orphans();
	fake_signals_hold();
	if (a->scenario_name)
		code = load_scenario(a);
	else if (a->until_end)
		code = fake_usage("--until-end: of which scenario? Say "
				  "--scenario NAME as well");
	if (!a->gpus)
		a->gpus = DEFAULT_GPUS;
	if (!code)
		code = create(a, path, sizeof path);
	if (!code) {
		code = run_on(a, path);
		unlink(path);
	}
	gkf_scenario_free(&a->scenario);
	return code;
}

static int run(int argc, char **argv)
{
	static const struct argp argp = {
	    options,
	    parse,
	    "[--] CMD [ARG...]\nctl ...\nload SPEC...\nscenario ...",
	    "Runs CMD on a made-up machine of NVIDIA GPUs; the exit status "
	    "is CMD's.\v"
	    "`gpukit fake ctl --help` tells how to look at a running "
	    "machine and to change it, `gpukit fake load --help` how to "
	    "put load on it, `gpukit fake scenario ls` which scenarios "
	    "there are.\n\nEnvironment: GPUKIT_PROFILES is a directory of "
	    "profiles in place of gpukit's own, GPUKIT_SCENARIOS one of "
	    "scenarios.",
	    NULL,
	    NULL,
	    NULL};
	static char ctl[] = "gpukit fake ctl", load[] = "gpukit fake load";
	static char scenario[] = "gpukit fake scenario";
	struct arguments a = {.warm_up_ns = WARM_UP_NS};

	if (argc > 1 && !strcmp(argv[1], "ctl")) {
		argv[1] = ctl;
		return fake_ctl(argc - 1, argv + 1);
	}
	if (argc > 1 && !strcmp(argv[1], "load")) {
		argv[1] = load;
		return fake_load(argc - 1, argv + 1);
	}
	if (argc > 1 && !strcmp(argv[1], "scenario")) {
		argv[1] = scenario;
		return fake_scenario(argc - 1, argv + 1);
	}
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &a);
	return launch(&a);
}

const struct gk_cmd gk_cmd_fake = {
    .name = "fake",
    .summary = "run a program on a made-up machine of GPUs",
    .run = run,
};
