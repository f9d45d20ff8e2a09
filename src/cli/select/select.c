/* select.c - `gpukit select`: the options; the work is in run.c. */
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
     "Only those that LIST shows to CUDA, or CUDA_VISIBLE_DEVICES", 1},
    {"account-as-free", KEY_FREE, "USER...", MAYBE,
     "Memory held by these users (you) counts as free", 1},
    {"min-count", 'c', "N", 0, "Fail with fewer devices (1)", 1},
    {"allow-empty", KEY_ALLOW_EMPTY, 0, 0,
     "Not to find any device is no failure; prints an empty list", 1},
    {"max-count", 'C', "N", 0, "No more devices (all)", 1},
    {"count", 'n', "N", 0, "Exactly N: both of these", 1},
    {"min-free-memory", 'f', "SIZE", 0, "Free memory, such as 4GiB or 5000M",
     1},
    {"min-total-memory", 't', "SIZE", 0, "Memory in all", 1},
    {"max-gpu-utilization", 'G', "PERCENT", 0, "Not busier", 1},
    {"max-memory-utilization", 'M', "PERCENT", 0, "No busier memory interface",
     1},
    {"tolerance", KEY_TOLERANCE, "PERCENT", 0,
     "Take devices that miss a constraint by no more, after all others (0)", 1},
    {"tol", KEY_TOLERANCE, 0, OPTION_ALIAS, NULL, 1},
    {"topology", KEY_TOPOLOGY, 0, 0,
     "Prefer GPUs joined by NVLink and of one NUMA node", 1},
    {"reserved", KEY_RESERVED, 0, 0, "Also devices that others reserved", 1},
    {"no-sort", 'S', 0, 0, "In the order of indices, not the emptiest first",
     1},
    {.doc = "Output:", .group = 2},
    {"format", 'O', "index|uuid", 0,
     "Form of a device (index); a MIG device is always its UUID", 2},
    {"separator", 's', "TEXT", 0, "What stands between devices (,)", 2},
    {"sep", 's', 0, OPTION_ALIAS, NULL, 2},
    {"newline", KEY_NEWLINE, 0, 0, "A line each", 2},
    {"null", '0', 0, 0, "A NUL after each, for xargs -0", 2},
    {"json", KEY_JSON, 0, 0, "One JSON object", 2},
    {.doc = "Sharing a machine:", .group = 3},
    {"wait", KEY_WAIT, "TIME", MAYBE,
     "Wait until there are enough, at most TIME", 3},
    {"reserve", KEY_RESERVE, 0, 0,
     "Run CMD on the devices, which nobody else gets until it ends", 3},
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

/* Whether a word follows that can be an argument which may be left out. */
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

static const char *myself(void)
{
	const char *name = getenv("USER");
	struct passwd *entry;

	if (name && *name)
		return name;
	entry = getpwuid(getuid());
	return entry ? entry->pw_name : "";
}

/* All words up to the next option, or none: then it is the caller. */
static void free_users(struct argp_state *state, struct gk_select_run *run,
		       const char *arg)
{
	struct gk_select *wanted = &run->wanted;

	run->free_users =
	    calloc((size_t)state->argc + 1, sizeof *run->free_users);
	wanted->free_user_count = 0;
	if (!run->free_users)
		argp_failure(state, GK_EXIT_FAILURE, 0, "out of memory");
	if (arg)
		run->free_users[wanted->free_user_count++] = arg;
	while (!arg && word_follows(state))
		run->free_users[wanted->free_user_count++] =
		    state->argv[state->next++];
	if (!wanted->free_user_count)
		run->free_users[wanted->free_user_count++] = myself();
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

static void separator(struct argp_state *state, struct gk_select_run *run,
		      const char *text, bool null)
{
	if (run->separator && (run->null_ended || null))
		argp_error(state, "--null goes with no other separator");
	run->separator = text;
	run->separator_len = null ? 1 : strlen(text);
	run->null_ended = null;
}

/* ---- options ---- */

struct counts {
	struct gk_select_run run;
	bool exact; /* -n, which wins over -c and -C wherever it stands */
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
		argp_error(state,
			   "--min-count %zu is more than --max-count %zu",
			   wanted->least, wanted->most);
	if (run->reserve && !run->command)
		argp_error(state, "--reserve wants a command after --");
	if (run->command && !run->reserve)
		argp_error(state, "what is '%s'? A command needs --reserve",
			   run->command[0]);
	if (run->reserve && run->also_reserved)
		argp_error(state, "--reserve takes no devices that others "
				  "reserved: it goes without --reserved");
	if (run->json && (run->reserve || run->separator))
		argp_error(state, "--json goes without --reserve and without "
				  "separators");
	if (run->allow_empty && (run->reserve || run->wait))
		argp_error(state, "--allow-empty goes without --reserve and "
				  "without --wait");
	if (!run->least_given && !run->allow_empty && wanted->most) {
		wanted->least = 1;
		run->least_given = run->reserve || run->wait;
	}
	if (!run->separator)
		separator(state, run, ",", false);
}

static enum gk_select_ids ids(struct argp_state *state, const char *arg)
{
	if (strcmp(arg, "index") && strcmp(arg, "uuid"))
		argp_error(state, "--format is index or uuid, not '%s'", arg);
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
		run->ids = ids(state, arg);
		return 0;
	case 's':
		separator(state, run, arg, false);
		return 0;
	case KEY_NEWLINE:
		separator(state, run, "\n", false);
		return 0;
	case '0':
		separator(state, run, "", true);
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

static const struct argp argp = {
    .options = options,
    .parser = parse_select_option,
    .args_doc = "\n--reserve [--] CMD [ARG...]",
    .doc = "Chooses GPUs for CUDA_VISIBLE_DEVICES: those that meet the "
	   "constraints, the emptiest first.\v" GK_ARG_SIZES "\n\n"
	   "Exit status: 0, 1 without a driver, 2 when it refuses and for a "
	   "wrong option, 3 for a wrong CUDA_VISIBLE_DEVICES, 4 when there are "
	   "not enough devices; with --reserve that of CMD, 127 when there is "
	   "no such command.",
    .children = children,
};

static int run_select(int argc, char **argv)
{
	struct counts counts = {
	    .run = {.wanted = GK_SELECT_ANY, .machine = GK_OPTIONS_DEFAULT},
	};
	int status;

	gk_arg_parse(&argp, ARGP_IN_ORDER, argc, argv, &counts);
	status = gk_select_run(&counts.run);
	free(counts.run.free_users);
	return status;
}

const struct gk_cmd gk_cmd_select = {
    .name = "select",
    .summary = "chooses GPUs for CUDA_VISIBLE_DEVICES",
    .run = run_select,
};
