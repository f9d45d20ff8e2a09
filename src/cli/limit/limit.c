/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limit.c - parses the options of `gpukit limit`; the work is in other files.
 */
#include "cli/limit/limit.h"
#include "base/clock.h"
#include "cli/arg.h"
#include "cli/cmd.h"
#include "cli/limit/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum key {
	KEY_GROUP = 0x101,
	KEY_BACKEND,
	KEY_STRICT,
	KEY_JSON,
	KEY_FOLLOW,
	KEY_GPU,
	KEY_SECONDS
};

/* ---- gpukit limit [OPTION...] -- CMD ---- */

static const struct argp_option run_options[] = {
    {"group", KEY_GROUP, "NAME", 0,
     "Create or join this group, which stays until `gpukit limit rm NAME`; "
     "without a name the group ends with CMD",
     2},
    {"backend", KEY_BACKEND, "hooks|mps", 0,
     "What enforces the limits: a preloaded library (hooks), or the driver "
     "through its MPS daemon",
     2},
    {"strict", KEY_STRICT, 0, 0,
     "Do not run a CMD that the library cannot be loaded into, such as a "
     "statically linked one; otherwise it runs without limits, after a warning",
     2},
    {NULL, 'h', 0, OPTION_HIDDEN, NULL, 0},
    {0},
};

static void set_backend(struct argp_state *state, struct limit_run *run,
			const char *arg)
{
	if (strcmp(arg, "hooks") && strcmp(arg, "mps"))
		argp_error(state, "--backend must be hooks or mps, not '%s'",
			   arg);
	run->mps = *arg == 'm';
}

static void set_group(struct argp_state *state, struct limit_run *run,
		      const char *arg)
{
	if (!gkl_name_is_good(arg))
		argp_error(state,
			   "--group: a name must be 1 to %d letters, digits, "
			   "'.', '_', '-', and must not begin with '.'",
			   GKL_NAME - 1);
	run->group = arg;
}

static error_t parse_run(int key, char *arg, struct argp_state *state)
{
	struct limit_run *run = state->input;

	switch (key) {
	case KEY_GROUP:
		set_group(state, run, arg);
		return 0;
	case KEY_BACKEND:
		set_backend(state, run, arg);
		return 0;
	case KEY_STRICT:
		run->strict = true;
		return 0;
	case 'h':
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		return 0;
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &run->wish;
		return 0;
	case ARGP_KEY_ARG:
		run->command = state->argv + state->next - 1;
		state->next = state->argc;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no command; use gpukit limit [OPTION...] -- "
				  "CMD, or one of ls, show, top, set, suspend, "
				  "resume, rm, audit, verify, doctor");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child wish_child[] = {
    {&limit_wish_argp, 0, "Limits of the group:", 1},
    {0},
};

const struct argp limit_argp = {
    .options = run_options,
    .parser = parse_run,
    .args_doc =
	"-- CMD [ARG...]\nls [--json]\nshow [NAME] [--json]\n"
	"top [NAME]\nset NAME [OPTION...]\nsuspend NAME\n"
	"resume NAME\nrm NAME\naudit NAME [--follow]\nverify [OPTION...]\n"
	"doctor PID [--json]",
    .doc =
	"Runs CMD and its children within a share of the GPUs: they see GPUs "
	"of that size. ls, show and top show groups; set changes the limits of "
	"a running group; suspend and resume stop and continue its work; rm "
	"removes a group without processes; audit compares its ledger with the "
	"driver; verify tests that limits are enforced; doctor says whether a "
	"process is limited, and if not, why.\vGPUs are numbered as "
	"nvidia-smi numbers them. " GK_ARG_SIZES
	"\n\nExit status: that of CMD; 127 if it is not found; 126 if it "
	"cannot be run; 2 for wrong usage; 1 for other errors.",
    .children = wish_child,
};

static int run_command(int argc, char **argv)
{
	struct limit_run run = {.wish = limit_wish_none()};

	gk_arg_parse(&limit_argp, ARGP_IN_ORDER, argc, argv, &run);
	return limit_run(&run);
}

/* ---- gpukit limit VERB ---- */

/* The additional options of a verb. */
enum more { PLAIN, WISH, INTERVAL, AUDIT, VERIFY };

#define NO_GROUP "no group; `gpukit limit ls` lists them"

static const struct verb {
	const char *name;
	const char *lacks; /* what to print if the verb's argument is
			    * missing; or NULL */
	enum more more;
	int (*run)(struct limit_ask *ask);
} verbs[LIMIT_VERBS] = {
    [LIMIT_LS] = {"ls", NULL, PLAIN, limit_ls},
    [LIMIT_SHOW] = {"show", NULL, PLAIN, limit_show},
    [LIMIT_TOP] = {"top", NULL, INTERVAL, limit_top},
    [LIMIT_SET] = {"set", NO_GROUP, WISH, limit_set},
    [LIMIT_SUSPEND] = {"suspend", NO_GROUP, PLAIN, limit_suspend},
    [LIMIT_RESUME] = {"resume", NO_GROUP, PLAIN, limit_resume},
    [LIMIT_RM] = {"rm", NO_GROUP, PLAIN, limit_rm},
    [LIMIT_AUDIT] = {"audit", NO_GROUP, AUDIT, limit_audit},
    [LIMIT_VERIFY] = {"verify", NULL, VERIFY, limit_verify},
    [LIMIT_DOCTOR] = {"doctor", "no process; give its pid", PLAIN,
		      limit_doctor},
};

static const struct argp_option verb_options[] = {
    {"json", KEY_JSON, 0, 0, "As JSON (docs/LIMIT.md)", 3},
    {NULL, 'h', 0, OPTION_HIDDEN, NULL, 0},
    {0},
};
static const struct argp_option interval_options[] = {
    {"interval", 'i', "TIME", 0, "Time between two readings (1)", 3},
    {0},
};

static const struct argp_option audit_options[] = {
    {"follow", KEY_FOLLOW, 0, 0, "Repeat until Ctrl-C; print changes only", 3},
    {"interval", 'i', "TIME", 0, "Time between two readings (1)", 3},
    {0},
};
static const struct argp_option verify_options[] = {
    {"gpu", KEY_GPU, "INDEX", 0, "GPU to use (0)", 3},
    {"seconds", KEY_SECONDS, "N", 0, "Seconds of load (3)", 3},
    {0},
};

struct verb_input {
	const struct verb *verb;
	bool takes_name;
	struct limit_ask ask;
};

static void take_name(struct argp_state *state, struct verb_input *input,
		      const char *arg)
{
	if (!input->takes_name)
		argp_error(state,
			   "unexpected argument '%s'; this takes no name", arg);
	if (input->ask.name)
		argp_error(state, "unexpected argument '%s' after '%s'", arg,
			   input->ask.name);
	input->ask.name = arg;
}

/* Gives each parser in `children` its input. */
static void give_inputs(struct argp_state *state, struct verb_input *input)
{
	enum more more = input->verb->more;

	if (more == WISH || more == VERIFY)
		state->child_inputs[0] = &input->ask.wish;
	if (more == INTERVAL || more == AUDIT)
		state->child_inputs[0] = &input->ask;
	if (more == VERIFY)
		state->child_inputs[1] = &input->ask;
}

static error_t parse_verb(int key, char *arg, struct argp_state *state)
{
	struct verb_input *input = state->input;

	switch (key) {
	case KEY_JSON:
		input->ask.json = true;
		return 0;
	case 'h':
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		return 0;
	case ARGP_KEY_INIT:
		give_inputs(state, input);
		return 0;
	case ARGP_KEY_ARG:
		take_name(state, input, arg);
		return 0;
	case ARGP_KEY_END:
		if (input->verb->lacks && !input->ask.name)
			argp_error(state, "%s", input->verb->lacks);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_more(int key, char *arg, struct argp_state *state)
{
	struct limit_ask *ask = state->input;

	switch (key) {
	case 'i':
		ask->interval_ns = gk_arg_duration(state, "--interval", arg,
						   100 * GK_NS_PER_MS);
		return 0;
	case KEY_FOLLOW:
		ask->follow = true;
		return 0;
	case KEY_GPU:
		ask->gpu = (unsigned)gk_arg_number(state, "--gpu", arg, 0,
						   GKL_DEVICES - 1);
		return 0;
	case KEY_SECONDS:
		ask->seconds =
		    (uint64_t)gk_arg_number(state, "--seconds", arg, 1, 3600);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp interval_argp = {.options = interval_options,
					  .parser = parse_more};
static const struct argp audit_argp = {.options = audit_options,
				       .parser = parse_more};
static const struct argp verify_argp = {.options = verify_options,
					.parser = parse_more};

static const struct argp_child interval_child[] = {
    {&interval_argp, 0, NULL, 0},
    {0},
};
static const struct argp_child audit_child[] = {
    {&audit_argp, 0, NULL, 0},
    {0},
};
static const struct argp_child verify_child[] = {
    {&limit_wish_argp, 0, "Limits of the load:", 1},
    {&verify_argp, 0, NULL, 0},
    {0},
};

/* `text` says what the verb does. */
#define VERB_ARGP(arguments, text, more)                                       \
	{                                                                      \
		.options = verb_options, .parser = parse_verb,                 \
		.args_doc = arguments, .doc = text, .children = more           \
	}

const struct argp limit_argps[LIMIT_VERBS] = {
    [LIMIT_LS] = VERB_ARGP("", "Lists groups and their use of GPUs.", NULL),
    [LIMIT_SHOW] =
	VERB_ARGP("[NAME]",
		  "Shows everything about a group: its limits, its use and its "
		  "processes; without a name, the group of this shell.",
		  NULL),
    [LIMIT_TOP] = VERB_ARGP(
	"[NAME]",
	"Shows groups, updated every second until q or Ctrl-C; only once if "
	"stdout is not a terminal.",
	interval_child),
    [LIMIT_SET] = VERB_ARGP(
	"NAME",
	"Changes limits of a group at once; limits that are not named stay.",
	wish_child),
    [LIMIT_SUSPEND] = VERB_ARGP(
	"NAME", "Holds back launches and allocations of a group.", NULL),
    [LIMIT_RESUME] = VERB_ARGP("NAME", "Continues a suspended group.", NULL),
    [LIMIT_RM] =
	VERB_ARGP("NAME", "Removes a group that has no processes.", NULL),
    [LIMIT_AUDIT] = VERB_ARGP(
	"NAME",
	"Compares a group's ledger with the driver's figures for its "
	"processes, and lists each process and what the ledger misses of it. "
	"Exit status 1 if they differ.",
	audit_child),
    [LIMIT_VERIFY] = VERB_ARGP(
	"",
	"Runs a known load within limits (2GiB and 30 % of one GPU, if none "
	"are given), and prints what was granted and what the driver reports. "
	"Exit status 1 if they differ.",
	verify_child),
    [LIMIT_DOCTOR] = VERB_ARGP(
	"PID",
	"Says whether a running process is limited, by which group and "
	"library, and what it holds; if it is not, says why and what to do. "
	"Exit status 1 if it is not limited as it should be.",
	NULL),
};

static int run_verb(enum limit_verb which, int argc, char **argv)
{
	const struct verb *verb = &verbs[which];
	struct verb_input input = {
	    .verb = verb,
	    .takes_name = *limit_argps[which].args_doc,
	    .ask = {.wish = limit_wish_none(),
		    .interval_ns = GK_NS_PER_S,
		    .seconds = 3},
	};
	char name[32];

	snprintf(name, sizeof name, "gpukit limit %s", verb->name);
	argv[0] = name;
	gk_arg_parse(&limit_argps[which], 0, argc, argv, &input);
	return verb->run(&input.ask);
}

static int run_limit(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], LIMIT_VERIFY_LOAD))
		return limit_verify_load(argv[2], strtoull(argv[3], NULL, 10));
	for (int i = 0; argc > 1 && i < LIMIT_VERBS; i++)
		if (!strcmp(argv[1], verbs[i].name))
			return run_verb((enum limit_verb)i, argc - 1, argv + 1);
	return run_command(argc, argv);
}

const struct gk_cmd gk_cmd_limit = {
    .name = "limit",
    .summary = "shares GPUs: runs programs within memory and compute limits",
    .run = run_limit,
};
