/* limit.c - `gpukit limit`: the options; the work is in the other files. */
#include "cli/limit/limit.h"
#include "base/clock.h"
#include "cli/arg.h"
#include "cli/cmd.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum key { KEY_GROUP = 0x101, KEY_BACKEND, KEY_JSON };

static void __attribute__((format(printf, 1, 0)))
say(const char *format, va_list args)
{
	char text[1024], clean[1024];

	vsnprintf(text, sizeof text, format, args);
	gk_str_clean(clean, sizeof clean, text, strlen(text));
	fprintf(stderr, "gpukit limit: %s\n", clean);
}

int limit_failure(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
	return GK_EXIT_FAILURE;
}

int limit_usage(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
	return GK_EXIT_USAGE;
}

int limit_tell(const char *name, int err)
{
	switch (err) {
	case GK_ERR_NOT_FOUND:
		return limit_failure("no group '%s'; `gpukit limit ls` lists "
				     "them",
				     name);
	case GK_ERR_PERMISSION:
		return limit_failure("group %s: it belongs to another user, or "
				     "others could change it; work as its "
				     "owner, or remove it as root",
				     name);
	case GK_ERR_IN_USE:
		return limit_failure("group %s has running processes; end them "
				     "first (`gpukit limit show %s`)",
				     name, name);
	case GK_ERR_INVALID:
		return limit_failure("'%s' is no name of a group: 1 to %d "
				     "letters, digits, '.', '_', '-'",
				     name, GKL_NAME - 1);
	default:
		return limit_failure("group %s: %s", name, gk_strerror(err));
	}
}

/* ---- gpukit limit [OPTION...] -- CMD ---- */

static const struct argp_option run_options[] = {
    {"group", KEY_GROUP, "NAME", 0,
     "Make or join this group, which stays until `gpukit limit rm NAME`; "
     "without a name the group ends with CMD",
     2},
    {"backend", KEY_BACKEND, "hooks|mps", 0,
     "Who keeps the limits: a preloaded library (hooks), or the driver "
     "through its MPS daemon",
     2},
    {NULL, 'h', 0, OPTION_HIDDEN, NULL, 0},
    {0},
};

static void set_backend(struct argp_state *state, struct limit_run *run,
			const char *arg)
{
	if (strcmp(arg, "hooks") && strcmp(arg, "mps"))
		argp_error(state, "--backend is hooks or mps, not '%s'", arg);
	run->mps = *arg == 'm';
}

static void set_group(struct argp_state *state, struct limit_run *run,
		      const char *arg)
{
	if (!gkl_name_is_good(arg))
		argp_error(state,
			   "--group: a name is 1 to %d letters, digits, '.', "
			   "'_', '-', and begins with no '.'",
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
		argp_error(state, "which command? gpukit limit [OPTION...] -- "
				  "CMD; or one of ls, show, top, set, suspend, "
				  "resume, rm");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child wish_child[] = {
    {&limit_wish_argp, 0, "What the group is allowed:", 1},
    {0},
};

static const struct argp run_argp = {
    .options = run_options,
    .parser = parse_run,
    .args_doc = "-- CMD [ARG...]\nls [--json]\nshow [NAME] [--json]\n"
		"top [NAME]\nset NAME [OPTION...]\nsuspend NAME\n"
		"resume NAME\nrm NAME",
    .doc =
	"Runs CMD, and all that it starts, inside a share of the GPUs: a "
	"GPU of that size is what they see. ls, show and top look at groups; "
	"set changes what one is allowed while it runs; suspend and resume "
	"hold back its work; rm removes one without processes.\v"
	"GPUs are numbered as nvidia-smi numbers them. " GK_ARG_SIZES "\n\n"
	"Exit status: that of CMD; 127 when there is no such command, 126 "
	"when it cannot be run, 2 for wrong usage, else 1.",
    .children = wish_child,
};

static int run_command(int argc, char **argv)
{
	struct limit_run run = {.wish = limit_wish_none()};

	gk_arg_parse(&run_argp, ARGP_IN_ORDER, argc, argv, &run);
	return limit_run(&run);
}

/* ---- gpukit limit VERB ---- */

/* Which options of its own a verb has. */
enum more { PLAIN, WISH, INTERVAL };

static const struct verb {
	const char *name;
	bool needs_name;
	enum more more;
	int (*run)(const struct limit_ask *ask);
	const char *args, *doc;
} verbs[] = {
    {"ls", false, PLAIN, limit_ls, "", "Lists groups and what they use."},
    {"show", false, PLAIN, limit_show, "[NAME]",
     "Tells all of a group: what it may, what it uses, its processes. Without "
     "a name it is the group that this shell is in."},
    {"top", false, INTERVAL, limit_top, "[NAME]",
     "Shows groups anew each second until q or Ctrl-C; once, where stdout is "
     "no terminal."},
    {"set", true, WISH, limit_set, "NAME",
     "Changes what a group is allowed, at once; what is not named stays."},
    {"suspend", true, PLAIN, limit_suspend, "NAME",
     "Holds back launches and allocations of a group."},
    {"resume", true, PLAIN, limit_resume, "NAME", "Lets a group go on."},
    {"rm", true, PLAIN, limit_rm, "NAME",
     "Removes a group that has no processes."},
};

#define VERBS (sizeof verbs / sizeof *verbs)

static const struct argp_option verb_options[] = {
    {"json", KEY_JSON, 0, 0, "As JSON (docs/LIMIT.md)", 3},
    {NULL, 'h', 0, OPTION_HIDDEN, NULL, 0},
    {0},
};
static const struct argp_option interval_options[] = {
    {"interval", 'i', "TIME", 0, "Time between two readings (1)", 3},
    {0},
};

struct verb_input {
	const struct verb *verb;
	struct limit_ask ask;
};

static void take_name(struct argp_state *state, struct verb_input *input,
		      const char *arg)
{
	if (!*input->verb->args)
		argp_error(state, "what is '%s'? It takes no name", arg);
	if (input->ask.name)
		argp_error(state, "'%s' and '%s': one name, please",
			   input->ask.name, arg);
	input->ask.name = arg;
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
		if (input->verb->more != PLAIN)
			state->child_inputs[0] =
			    input->verb->more == WISH
				? (void *)&input->ask.wish
				: (void *)&input->ask.interval_ns;
		return 0;
	case ARGP_KEY_ARG:
		take_name(state, input, arg);
		return 0;
	case ARGP_KEY_END:
		if (input->verb->needs_name && !input->ask.name)
			argp_error(state, "which group? `gpukit limit ls` "
					  "lists them");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_interval(int key, char *arg, struct argp_state *state)
{
	if (key != 'i')
		return ARGP_ERR_UNKNOWN;
	*(uint64_t *)state->input =
	    gk_arg_duration(state, "--interval", arg, 100 * GK_NS_PER_MS);
	return 0;
}

static const struct argp interval_argp = {.options = interval_options,
					  .parser = parse_interval};

static const struct argp_child interval_child[] = {
    {&interval_argp, 0, NULL, 0},
    {0},
};

static const struct argp_child *const children[] = {
    [PLAIN] = NULL, [WISH] = wish_child, [INTERVAL] = interval_child};

static int run_verb(const struct verb *verb, int argc, char **argv)
{
	struct verb_input input = {
	    .verb = verb,
	    .ask = {.wish = limit_wish_none(), .interval_ns = GK_NS_PER_S},
	};
	const struct argp argp = {.options = verb_options,
				  .parser = parse_verb,
				  .args_doc = verb->args,
				  .doc = verb->doc,
				  .children = children[verb->more]};
	char name[32];

	snprintf(name, sizeof name, "gpukit limit %s", verb->name);
	argv[0] = name;
	gk_arg_parse(&argp, 0, argc, argv, &input);
	return verb->run(&input.ask);
}

static int run(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < VERBS; i++)
		if (!strcmp(argv[1], verbs[i].name))
			return run_verb(&verbs[i], argc - 1, argv + 1);
	return run_command(argc, argv);
}

const struct gk_cmd gk_cmd_limit = {
    .name = "limit",
    .summary = "shares a GPU: programs within memory and compute limits",
    .run = run,
};
