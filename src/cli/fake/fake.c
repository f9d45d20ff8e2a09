/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake.c - the verb `gpukit fake`: creates a machine, puts load on it, runs a
 * command there, and removes everything again.
 */
#include "cli/fake/fake.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "cli/cmd.h"
#include "cli/fake/options.h"
#include "cli/fake/report/refusals.h"
#include "cli/fake/launch/replay.h"
#include "cli/fake/report/report.h"
#include "cli/fake/report/report_torch.h"
#include "fronts/common/generations.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/store/board_name.h"
#include "machine/store/clock.h"
#include "machine/store/machine.h"
#include "machine/trouble/machine.h"
#include "machine/store/scenario_table.h"
#include "machine/words/scenario_yaml.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_GPUS "a100-sxm4-80gb:8"
#define ATTEMPTS     100 /* number of machine names to try */
#define EXIT_REFUSED 3   /* exit status for refusals with --refusals=error */
#define VERSION_CAP  sizeof((struct gkf_file *)0)->nvml_version

/*
 * Returns an absolute path, as the command may change its directory. If `name`
 * is NULL, makes up a name, a different one at each attempt.
 */
static int machine_path(const struct fake_options *a, unsigned attempt,
			char *ret_path, size_t cap)
{
	const char *name = a->name;
	char fresh[48], path[PATH_MAX], cwd[PATH_MAX];
	int n;

	if (a->shared && (!name || !strchr(name, '/')))
		return fake_shared_path(name, attempt, ret_path, cap);
	if (!name) {
		snprintf(fresh, sizeof fresh, attempt ? "run-%d-%u" : "run-%d",
			 (int)getpid(), attempt);
		name = fresh;
	}
	if (gkf_machine_path(name, path, sizeof path))
		return fake_usage("--name: '%s' is not a machine name; allowed "
				  "is a name or a path",
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
	return a->shared ? fake_shared_check(ret_path) : 0;
}

static int tell_create(const char *path, int err)
{
	char text[FAKE_MESSAGE_MAX];

	if (err == GK_ERR_PERMISSION && fake_trap(path, text, sizeof text))
		return fake_failure("%s", text);
	switch (err) {
	case GK_ERR_EXISTS:
		return fake_failure("machine %s exists already; choose another "
				    "--name or end what uses it",
				    path);
	case GK_ERR_NO_SPACE:
		return fake_failure(
		    "%s: no space left for a machine (%zu KiB); free some or "
		    "choose another place with --name PATH",
		    path, sizeof(struct gkf_file) / 1024);
	default:
		return fake_failure("cannot create machine %s: %s; choose "
				    "another place with --name PATH",
				    path, gk_strerror(err));
	}
}

/*
 * Creates the machine. If a made-up name is in use, tries others: names contain
 * pids, and pid namespaces that share /dev/shm use the same pids.
 */
static int create_at(const struct fake_options *a,
		     const struct gkf_machine_spec *spec, char *ret_path,
		     size_t cap)
{
	int err = GK_ERR_EXISTS, code;

	for (unsigned i = 0; err == GK_ERR_EXISTS && i < ATTEMPTS; i++) {
		code = machine_path(a, i, ret_path, cap);
		if (code)
			return code;
		err = gkf_machine_create(ret_path, spec);
		if (a->name)
			break;
	}
	return err ? tell_create(ret_path, err) : 0;
}

/*
 * Sets the versions of the driver. A generation is named by the first number of
 * its driver versions. NVML's version is CUDA's major version followed by the
 * driver's version.
 */
static void set_driver(const struct fake_options *a,
		       struct gkf_machine_spec *spec, char *nvml, size_t cap)
{
	const struct gkf_generation *g = a->generation;
	const struct gkf_branch *branch = g ? gkf_branch_find(a->driver) : NULL;

	if (!g)
		return;
	spec->driver_version = a->driver;
	if (!strcmp(a->driver, g->name))
		spec->driver_version = g->driver;
	else if (branch && !strchr(a->driver, '.'))
		spec->driver_version = branch->driver;
	spec->cuda_version = branch ? branch->cuda : g->cuda;
	snprintf(nvml, cap, "%u.%s", spec->cuda_version / 1000,
		 spec->driver_version);
	spec->nvml_version = nvml;
}

/* With a scenario, the clock is stopped until all of its loads have started. */
static void set_time(const struct fake_options *a,
		     struct gkf_machine_spec *spec,
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

static int create_machine(const struct fake_options *a,
			  const struct fake_replay *replay, char *ret_path,
			  size_t cap)
{
	struct gkf_profile *profiles =
	    calloc(GKF_DEVICES_MAX, sizeof *profiles);
	struct gkf_machine_spec spec = {.profiles = profiles,
					.latency = a->latency,
					.layout = (enum gkf_layout)a->layout,
					.seed = (uint64_t)a->seed,
					.lively = !a->twins && !replay->tape,
					.owned = true,
					.shared = a->shared};
	char message[FAKE_MESSAGE_MAX], nvml[VERSION_CAP];
	struct gkf_board_name named[GKF_DEVICES_MAX];
	struct gkf_scenario_table table;
	int code = 0;

	if (!profiles)
		return fake_failure("out of memory");
	set_driver(a, &spec, nvml, sizeof nvml);
	set_time(a, &spec, &table);
	if (a->scenario_name) {
		spec.profiles = a->scenario.profiles;
		spec.device_count = a->scenario.device_count;
	} else if (replay->tape) {
		code =
		    fake_replay_profiles(replay, profiles, &spec.device_count);
		fake_replay_names(replay, named);
		spec.names = named;
	} else if (fake_parse_gpus("--gpus", a->gpus, profiles,
				   &spec.device_count, message)) {
		code = fake_usage("%s", message);
	}
	if (!code && spec.driver_version && !a->any_driver)
		code = fake_check_met(spec.driver_version, spec.profiles,
				      spec.device_count);
	/*
	 * Nothing has been created before this point, so a signal could just
	 * kill this process.
	 */
	fake_signals_hold();
	if (!code)
		code = create_at(a, &spec, ret_path, cap);
	if (!code && a->shared && !a->quiet)
		fake_shared_tell(ret_path);
	free(profiles);
	return code;
}

/* Loads the scenario. Uses its settings for options that were not given. */
static int load_scenario(struct fake_options *a)
{
	uint64_t seed = (uint64_t)a->seed;
	struct gkf_scenario_options wanted = {.gpus = a->gpus,
					      .seed =
						  a->seed_given ? &seed : NULL,
					      .warm_up_ns = a->warm_up_ns};
	int code;

	if (a->load_count || a->mig_count || a->layout)
		return fake_usage(
		    "--scenario defines loads, MIG devices and topology; leave "
		    "out --load, --mig and --topology");
	code = fake_scenario_load(a->scenario_name, &wanted, &a->scenario);
	if (code)
		return code;
	/* The scenario begins at a multiple of GKF_BIN_NS. */
	a->warm_up_ns = a->scenario.begin * GKF_BIN_NS;
	if (a->driver || !*a->scenario.driver)
		return 0;
	a->driver = a->scenario.driver;
	a->generation = gkf_generation_find(a->driver);
	return a->generation
		   ? 0
		   : fake_usage("scenario %s: driver: '%s'; allowed "
				"are %s, versions of or between these, and "
				"newer ones",
				a->scenario.name, a->driver, fake_drivers());
}

/* Starts the clock for a scenario, unless it is to stay stopped. */
static int start_time(const struct fake_options *a, const char *path)
{
	struct gkf_machine *m;
	int err = 0, code = fake_open(path, &m);

	if (code)
		return code;
	if (a->scenario_name && !a->frozen)
		err = gkf_clock_speed(
		    m, atomic_load(&gkf_machine_file(m)->run_speed));
	gkf_machine_close(m);
	return err ? fake_failure("cannot start the clock: %s",
				  gk_strerror(err))
		   : 0;
}

static uint64_t end_of_scenario(const struct fake_options *a)
{
	return a->until_end && a->scenario_name
		   ? (a->scenario.begin + a->scenario.duration) * GKF_BIN_NS
		   : UINT64_MAX;
}

static int start_children(struct fake_options *a, struct fake_replay *replay,
			  const char *path, struct fake_children *children)
{
	const struct gkf_scenario *scenario =
	    a->scenario_name ? &a->scenario : NULL;

	if (replay->tape)
		return fake_replay_start(replay, a, path, children);
	if (!a->load_count && !scenario && !a->frozen)
		return 0;
	return fake_children_start(path, a->loads, a->load_count, scenario,
				   a->warm_up_ns, children);
}

/*
 * Writes the report and prints the refusals, unless the report prints them on
 * stderr itself.
 */
static int tell_end(const struct fake_options *a, struct gkf_machine *m,
		    const char *torch, int code)
{
	const struct report_ask ask = {.path = a->report,
				       .command = a->command,
				       .torch = torch,
				       .status = code,
				       .quiet = a->quiet};
	unsigned refused;
	int failed;

	/*
	 * If the report's reader is gone, SIGPIPE must not end this process:
	 * the command's status would be lost and the machine would remain.
	 */
	signal(SIGPIPE, SIG_IGN);
	failed = a->report ? report_write(m, &ask) : 0;
	refused = refusals_tell(m, a->quiet || report_tells(&ask));
	if (refused && a->refusals_fail)
		return EXIT_REFUSED;
	return code ? code : failed;
}

/* Runs the command, and then prints which of its calls were refused. */
static int run_told(const struct fake_options *a, const char *path,
		    struct fake_children *children)
{
	char torch[PATH_MAX] = "";
	struct gkf_machine *m;
	int code = fake_open(path, &m);

	if (code)
		return code;
	if (!a->quiet)
		fake_hint(a->command[0]);
	code = fake_torch(!a->no_torch);
	if (!code && a->report && !a->no_torch)
		code = report_torch_begin(torch, sizeof torch);
	if (!code)
		code = fake_run(
		    m, path, a->generation ? a->generation->name : NULL,
		    a->command, end_of_scenario(a), a->quiet, children);
	code = tell_end(a, m, torch, code);
	report_torch_end(torch);
	gkf_machine_close(m);
	return code;
}

static int run_command_on(struct fake_options *a, struct fake_replay *replay,
			  const char *path)
{
	struct fake_children children = {0};
	int code = fake_mig_apply(path, a->migs);

	/*
	 * If the split comes from the recording, the user's command line is not
	 * wrong.
	 */
	if (code == GK_EXIT_USAGE && replay->tape)
		code = GK_EXIT_FAILURE;
	if (!code)
		code = start_children(a, replay, path, &children);
	if (!code)
		code = fake_signals_pending();
	if (!code)
		code = start_time(a, path);
	if (!code)
		code = run_told(a, path, &children);
	fake_children_end(&children);
	return code;
}

static int launch_command(struct fake_options *a)
{
	struct fake_replay replay = {0};
	char path[PATH_MAX];
	int code = 0;

	if (a->report)
		code = report_check(a->report);
	if (code)
		return code;
	fake_remove_orphans();
	if (a->replay)
		code = fake_replay_open(a, &replay);
	else if (a->scenario_name)
		code = load_scenario(a);
	else if (a->until_end)
		code = fake_usage(
		    "--until-end needs --scenario NAME or --replay FILE");
	if (!a->gpus)
		a->gpus = DEFAULT_GPUS;
	if (!code)
		code = create_machine(a, &replay, path, sizeof path);
	if (!code) {
		code = run_command_on(a, &replay, path);
		unlink(path);
	}
	gkf_scenario_free(&a->scenario);
	fake_replay_close(&replay);
	return code;
}

/* The subcommands, and the argv[0] with which each prints messages. */
static struct {
	const char *name;
	char title[24];
	int (*run)(int argc, char **argv);
} verbs[] = {
    {"ctl", "gpukit fake ctl", fake_ctl},
    {"load", "gpukit fake load", fake_load},
    {"join", "gpukit fake join", fake_join},
    {"scenario", "gpukit fake scenario", fake_scenario},
    {"doctor", "gpukit fake doctor", fake_doctor},
    {"models", "gpukit fake models", fake_models},
};

static int run_fake(int argc, char **argv)
{
	struct fake_options a;

	for (size_t i = 0; argc > 1 && i < COUNT(verbs); i++)
		if (!strcmp(argv[1], verbs[i].name)) {
			argv[1] = verbs[i].title;
			return verbs[i].run(argc - 1, argv + 1);
		}
	fake_options_read(argc, argv, &a);
	return launch_command(&a);
}

const struct gk_cmd gk_cmd_fake = {
    .name = "fake",
    .summary = "runs a program on a made-up machine of GPUs",
    .run = run_fake,
};
