/* SPDX-License-Identifier: Apache-2.0 */
/* select.c - `gpukit select`: parses the options; run.c does the work. */
#include "cli/select/select.h"
#include "base/clock.h"
#include "base/str.h"
#include "cli/arg.h"
#include "cli/cmd.h"
#include "cli/machine_opt.h"

#include <argp.h>
#include <ctype.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum key {
	KEY_FREE = 0x101,
	KEY_TOLERANCE,
	KEY_NEWLINE,
	KEY_JSON,
	KEY_WAIT,
	KEY_RESERVE,
	KEY_RESERVED,
	KEY_TOPOLOGY,
	KEY_ALLOW_EMPTY,
};

#define MAYBE OPTION_ARG_OPTIONAL

static const struct argp_option options[] = {
    {.doc = "Which devices:", .group = 1},
    {"inherit", 'i', "LIST", MAYBE,
     "Only devices in LIST, or in CUDA_VISIBLE_DEVICES", 1},
    {"account-as-free", KEY_FREE, "USER...", MAYBE,
     "Count memory held by these users (you) as free", 1},
    {"min-count", 'c', "N", 0, "Choose at least N devices, or fail (1)", 1},
    {"allow-empty", KEY_ALLOW_EMPTY, 0, 0,
     "Finding no device is not a failure; print an empty list", 1},
    {"max-count", 'C', "N", 0, "Choose at most N devices (all)", 1},
    {"count", 'n', "N", 0, "Choose exactly N devices, or fail", 1},
    {"min-free-memory", 'f', "SIZE", 0,
     "At least this much free memory, such as 4GiB or 5000M", 1},
    {"min-total-memory", 't', "SIZE", 0, "At least this much total memory", 1},
    {"max-gpu-utilization", 'G', "PERCENT", 0, "GPU at most this busy", 1},
    {"max-memory-utilization", 'M', "PERCENT", 0,
     "Memory interface at most this busy", 1},
    {"tolerance", KEY_TOLERANCE, "PERCENT", 0,
     "Also take devices that miss a constraint by at most PERCENT, after all "
     "others (0)",
     1},
    {"tol", KEY_TOLERANCE, 0, OPTION_ALIAS, NULL, 1},
    {"topology", KEY_TOPOLOGY, 0, 0,
     "Prefer GPUs connected by NVLink and on one NUMA node", 1},
    {"reserved", KEY_RESERVED, 0, 0, "Also devices that are reserved by others",
     1},
    {"no-sort", 'S', 0, 0, "Order by index, not the emptiest first", 1},
    {.doc = "Output:", .group = 2},
    {"format", 'O', "index|uuid", 0,
     "How to print a device (index); a MIG device is always printed as its "
     "UUID",
     2},
    {"separator", 's', "TEXT", 0, "Separator of devices (,)", 2},
    {"sep", 's', 0, OPTION_ALIAS, NULL, 2},
    {"newline", KEY_NEWLINE, 0, 0, "One device per line", 2},
    {"null", '0', 0, 0, "Print a NUL after each device, for xargs -0", 2},
    {"json", KEY_JSON, 0, 0, "One JSON object", 2},
    {.doc = "Sharing a machine:", .group = 3},
    {"wait", KEY_WAIT, "TIME", MAYBE,
     "Wait until enough devices are free, at most TIME", 3},
    {"reserve", KEY_RESERVE, 0, 0,
     "Run CMD on the devices, reserved until it ends", 3},
    {.doc = "Reading the machine:", .group = 5},
    {NULL, 'h', 0, OPTION_HIDDEN, NULL, 0},
    {0},
};

/* ---- arguments ---- */

static size_t parse_gpu_count(struct argp_state *state, const char *option,
			      const char *arg)
{
	return (size_t)gk_arg_number(state, option, arg, 0, INT32_MAX);
}

static int64_t parse_percent(struct argp_state *state, const char *option,
			     const char *arg)
{
	return gk_arg_number(state, option, arg, 0, INT32_MAX);
}

/* Whether the next word can be an option's argument. */
static bool word_follows(const struct argp_state *state)
{
	return state->next < state->argc &&
	       (*gk_arg_following(state) != '-' ||
		isdigit((unsigned char)gk_arg_following(state)[1]));
}

static void inherit_environment(struct argp_state *state,
				struct gk_select_run *run, const char *arg)
{
	if (!arg && word_follows(state))
		arg = state->argv[state->next++];
	run->inherited = arg;
	run->inherit = arg ? GK_INHERIT_GIVEN : GK_INHERIT_ENV;
}

static const char *find_own_name(void)
{
	const char *name = getenv("USER");
	struct passwd *entry;

	if (name && *name)
		return name;
	entry = getpwuid(getuid());
	return entry ? entry->pw_name : "";
}

/*
 * Adds the words up to the next option as user names; if there are none, the
 * caller's name.
 */
static void free_users(struct argp_state *state, struct gk_select_run *run,
		       const char *arg)
{
	struct gk_select *wanted = &run->wanted;

	run->free_users =
	    calloc((size_t)state->argc + 1, sizeof *run->free_users);
	wanted->free_user_count = 0;
	if (!run->free_users)
		gk_arg_no_memory(state);
	if (arg)
		run->free_users[wanted->free_user_count++] = arg;
	while (!arg && word_follows(state))
		run->free_users[wanted->free_user_count++] =
		    state->argv[state->next++];
	if (!wanted->free_user_count)
		run->free_users[wanted->free_user_count++] = find_own_name();
	wanted->free_users = run->free_users;
}

static void set_wait(struct argp_state *state, struct gk_select_run *run,
		     const char *arg)
{
	uint64_t ns;

	run->wait = true;
	if (!arg && !gk_parse_duration(gk_arg_following(state), &ns))
		arg = state->argv[state->next++];
	if (arg)
		run->wait_ns =
		    gk_arg_duration(state, "--wait", arg, GK_NS_PER_MS);
}

static void set_separator(struct argp_state *state, struct gk_select_run *run,
			  const char *text, bool null)
{
	if (run->separator && (run->null_ended || null))
		argp_error(state, "--null excludes other separators");
	run->separator = text;
	run->separator_len = null ? 1 : strlen(text);
	run->null_ended = null;
}

/* ---- options ---- */

struct counts {
	struct gk_select_run run;
	bool exact; /* -n was given; it overrides -c and -C in any order */
	size_t count;
};

static void check_counts(struct argp_state *state, struct counts *counts)
{
	struct gk_select_run *run = &counts->run;
	struct gk_select *wanted = &run->wanted;

	if (counts->exact) {
		wanted->least = wanted->most = counts->count;
		run->least_given = true;
	}
	if (wanted->least > wanted->most)
		argp_error(state, "--min-count %zu exceeds --max-count %zu",
			   wanted->least, wanted->most);
	if (run->reserve && !run->command)
		argp_error(state, "--reserve needs a command after --");
	if (run->command && !run->reserve)
		argp_error(
		    state,
		    "unexpected argument '%s'; a command needs --reserve",
		    run->command[0]);
	if (run->reserve && run->also_reserved)
		argp_error(state, "--reserve excludes --reserved: it cannot "
				  "take devices that are reserved by others");
	if (run->json && (run->reserve || run->separator))
		argp_error(state, "--json excludes --reserve and separators");
	if (run->allow_empty && (run->reserve || run->wait))
		argp_error(state,
			   "--allow-empty excludes --reserve and --wait");
	if (!run->least_given && !run->allow_empty && wanted->most) {
		wanted->least = 1;
		run->least_given = run->reserve || run->wait;
	}
	if (!run->separator)
		set_separator(state, run, ",", false);
}

static enum gk_select_ids parse_ids(struct argp_state *state, const char *arg)
{
	if (strcmp(arg, "index") && strcmp(arg, "uuid"))
		argp_error(state, "--format must be index or uuid, not '%s'",
			   arg);
	return *arg == 'u' ? GK_SELECT_UUID : GK_SELECT_INDEX;
}

static error_t parse_select_option(int key, char *arg, struct argp_state *state)
{
	struct counts *counts = state->input;
	struct gk_select_run *run = &counts->run;
	struct gk_select *wanted = &run->wanted;

	switch (key) {
	case 'i':
		inherit_environment(state, run, arg);
		return 0;
	case KEY_FREE:
		free_users(state, run, arg);
		return 0;
	case 'c':
		wanted->least = parse_gpu_count(state, "--min-count", arg);
		run->least_given = true;
		return 0;
	case 'C':
		wanted->most = parse_gpu_count(state, "--max-count", arg);
		return 0;
	case 'n':
		counts->count = parse_gpu_count(state, "--count", arg);
		counts->exact = true;
		return 0;
	case 'f':
		wanted->min_free = gk_arg_size(state, "--min-free-memory", arg);
		return 0;
	case 't':
		wanted->min_total =
		    gk_arg_size(state, "--min-total-memory", arg);
		return 0;
	case 'G':
		wanted->max_gpu_util =
		    parse_percent(state, "--max-gpu-utilization", arg);
		return 0;
	case 'M':
		wanted->max_mem_util =
		    parse_percent(state, "--max-memory-utilization", arg);
		return 0;
	case KEY_TOLERANCE:
		wanted->tolerance = parse_percent(state, "--tolerance", arg);
		return 0;
	case KEY_TOPOLOGY:
		wanted->topology = true;
		return 0;
	case KEY_ALLOW_EMPTY:
		run->allow_empty = true;
		return 0;
	case KEY_RESERVED:
		run->also_reserved = true;
		return 0;
	case 'S':
		wanted->unsorted = true;
		return 0;
	case 'O':
		run->ids = parse_ids(state, arg);
		return 0;
	case 's':
		set_separator(state, run, arg, false);
		return 0;
	case KEY_NEWLINE:
		set_separator(state, run, "\n", false);
		return 0;
	case '0':
		set_separator(state, run, "", true);
		return 0;
	case KEY_JSON:
		run->json = true;
		return 0;
	case KEY_WAIT:
		set_wait(state, run, arg);
		return 0;
	case KEY_RESERVE:
		run->reserve = true;
		return 0;
	case 'h':
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		return 0;
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &run->machine;
		state->child_inputs[1] = &run->timings;
		return 0;
	case ARGP_KEY_ARG:
		run->command = state->argv + state->next - 1;
		state->next = state->argc;
		return 0;
	case ARGP_KEY_END:
		check_counts(state, counts);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {
    {&gk_machine_argp, 0, NULL, 0},
    {&gk_timings_argp, 0, NULL, 90},
    {0},
};

const struct argp gk_select_argp = {
    .options = options,
    .parser = parse_select_option,
    .args_doc = "\n--reserve [--] CMD [ARG...]",
    .doc = "Chooses GPUs for CUDA_VISIBLE_DEVICES: those that meet all "
	   "constraints, the emptiest first.\v" GK_ARG_SIZES
	   "\n\nExit status: 0; 1 without a driver; 2 if the driver refuses, "
	   "or for a wrong option; 3 for a wrong CUDA_VISIBLE_DEVICES; 4 if "
	   "there are not enough devices; with --reserve that of CMD, or 127 "
	   "if it is not found.",
    .children = children,
};

static int run_select(int argc, char **argv)
{
	struct counts counts = {
	    .run = {.wanted = GK_SELECT_ANY, .machine = GK_OPTIONS_DEFAULT},
	};
	int status;

	gk_arg_parse(&gk_select_argp, ARGP_IN_ORDER, argc, argv, &counts);
	status = gk_select_run(&counts.run);
	free(counts.run.free_users);
	return status;
}

const struct gk_cmd gk_cmd_select = {
    .name = "select",
    .summary = "chooses GPUs for CUDA_VISIBLE_DEVICES",
    .run = run_select,
};
