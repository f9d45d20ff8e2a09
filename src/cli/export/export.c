/* SPDX-License-Identifier: Apache-2.0 */
/* export.c - `gpukit export`: parses the options; run.c does the work. */
#include "cli/export/export.h"
#include "base/clock.h"
#include "cli/arg.h"
#include "cli/cmd.h"
#include "cli/machine_opt.h"

#include <argp.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_ADDRESS "127.0.0.1"
#define DEFAULT_PORT    "9834"
#define DEFAULT_MOST    100

enum key {
	KEY_NAMES = 0x101,
	KEY_ALL,
	KEY_PROCESSES,
	KEY_MOST,
	KEY_COMMANDS,
	KEY_HOSTNAME,
};

static const struct argp_option options[] = {
    {.doc = "What to show:", .group = 3},
    {"names", KEY_NAMES, "gpukit|dcgm|nvitop|nvidia_smi|otel", 0,
     "Names and labels of metrics (gpukit)", 3},
    {"all", KEY_ALL, 0, 0, "All metrics", 3},
    {"processes", KEY_PROCESSES, 0, 0, "Metrics of each process", 3},
    {"max-processes", KEY_MOST, "N", 0,
     "At most N processes, largest memory first (100)", 3},
    {"commands", KEY_COMMANDS, 0, 0,
     "Also command lines, which may hold secrets", 3},
    {"hostname", KEY_HOSTNAME, "NAME", 0,
     "Host name in labels of dcgm and nvitop (this host's)", 3},
    {.doc = "Reading the machine:", .group = 5},
    {"interval", 'i', "SEC", 0, "Time between two readings (1)", 5},
    {NULL, 'h', 0, OPTION_HIDDEN, NULL, 0},
    {0},
};

static enum gk_metric_names names_of(struct argp_state *state, const char *arg)
{
	static const char *const names[GK_NAMES_COUNT] = {
	    [GK_NAMES_GPUKIT] = "gpukit", [GK_NAMES_DCGM] = "dcgm",
	    [GK_NAMES_NVITOP] = "nvitop", [GK_NAMES_NVIDIA_SMI] = "nvidia_smi",
	    [GK_NAMES_OTEL] = "otel",
	};

	for (int i = 0; i < GK_NAMES_COUNT; i++)
		if (!strcmp(names[i], arg))
			return (enum gk_metric_names)i;
	argp_error(state,
		   "--names must be gpukit, dcgm, nvitop, nvidia_smi or otel, "
		   "not '%s'",
		   arg);
	return GK_NAMES_GPUKIT;
}

static void check_export_options(struct argp_state *state,
				 const struct gk_export *e)
{
	if (e->show.commands && !e->show.processes)
		argp_error(state, "--commands needs --processes");
	if (e->show.all && e->show.names != GK_NAMES_GPUKIT)
		argp_error(state, "--all needs --names gpukit");
}

static error_t parse_export_option(int key, char *arg, struct argp_state *state)
{
	struct gk_export *e = state->input;

	switch (key) {
	case KEY_NAMES:
		e->show.names = names_of(state, arg);
		return 0;
	case KEY_ALL:
		e->show.all = true;
		return 0;
	case KEY_PROCESSES:
		e->show.processes = true;
		return 0;
	case KEY_MOST:
		e->show.most_processes = (size_t)gk_arg_number(
		    state, "--max-processes", arg, 1, 1000000);
		return 0;
	case KEY_COMMANDS:
		e->show.commands = true;
		return 0;
	case KEY_HOSTNAME:
		e->show.hostname = arg;
		return 0;
	case 'i':
		e->interval_ns = gk_arg_duration(state, "--interval", arg,
						 10 * GK_NS_PER_MS);
		return 0;
	case 'h':
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		return 0;
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &e->serve;
		state->child_inputs[1] = &e->machine;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument '%s'", arg);
		return 0;
	case ARGP_KEY_END:
		check_export_options(state, e);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {
    {&gk_serve_argp, 0, NULL, 0},
    {&gk_machine_pcie_argp, 0, NULL, 0},
    {0},
};

const struct argp gk_export_argp = {
    .options = options,
    .parser = parse_export_option,
    .children = children,
    .doc = "Serves GPU metrics to Prometheus, on port " DEFAULT_PORT
	   " of 127.0.0.1: /metrics, "
	   "/api/v1/snapshot, /healthz."
	   "\vRuns until SIGINT or SIGTERM.\n\nExit status: 0; 1 after a "
	   "failure; 2 for a wrong option.",
};

static int run_export(int argc, char **argv)
{
	struct gk_export export = {
	    .serve = {.verb = "export",
		      .address = DEFAULT_ADDRESS,
		      .port = DEFAULT_PORT},
	    .interval_ns = GK_NS_PER_S,
	    .show = {.most_processes = DEFAULT_MOST},
	    .machine = GK_OPTIONS_DEFAULT,
	};
	int status;

	gk_arg_parse(&gk_export_argp, 0, argc, argv, &export);
	status = gk_export_run(&export);
	gk_serve_options_free(&export.serve);
	return status;
}

const struct gk_cmd gk_cmd_export = {
    .name = "export",
    .summary = "serves GPU metrics to Prometheus over HTTP",
    .run = run_export,
};
