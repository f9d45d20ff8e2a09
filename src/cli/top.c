/* top.c - `gpukit top`: the options of the viewer. */
#include "base/clock.h"
#include "base/err.h"
#include "cli/arg.h"
#include "cli/cmd.h"
#include "cli/open.h"
#include "cli/output.h"
#include "tui/app.h"

#include <argp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

enum key {
	KEY_INTERVAL = 0x101,
	KEY_READONLY,
	KEY_LIGHT,
	KEY_COLORFUL,
};

#define INTERVAL_LEAST_NS (10 * GK_NS_PER_MS)

static const struct argp_option options[] = {
    {"interval", KEY_INTERVAL, "SEC", 0, "Read the GPUs every SEC seconds (1)",
     0},
    {"ascii", 'U', 0, 0, "ASCII only", 0},
    {"no-unicode", 'U', 0, OPTION_ALIAS, NULL, 0},
    {"readonly", KEY_READONLY, 0, 0, "No signals, nothing is changed", 0},
    {"light", KEY_LIGHT, 0, 0, "For terminals with a light background", 0},
    {"colorful", KEY_COLORFUL, 0, 0, "Bars in a gradient of colours", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct tui_options *o = state->input;

	switch (key) {
	case KEY_INTERVAL:
		o->interval_ns = gk_arg_duration(state, "--interval", arg,
						 INTERVAL_LEAST_NS);
		return 0;
	case 'U':
		o->term.ascii = true;
		return 0;
	case KEY_READONLY:
		o->readonly = true;
		return 0;
	case KEY_LIGHT:
		o->term.theme = TUI_LIGHT;
		return 0;
	case KEY_COLORFUL:
		o->boxed.colorful = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "what is '%s'? There are only options", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .doc = "Shows GPUs and their processes, live.",
};

static int failed(int err)
{
	fprintf(stderr, "gpukit top: %s\n",
		err == GK_ERR_NOT_SUPPORTED
		    ? "stdin and stdout must be a terminal that can place its "
		      "cursor; for anything else there is `gpukit stat`"
		    : gk_strerror(err));
	return GK_EXIT_FAILURE;
}

static int run(int argc, char **argv)
{
	struct tui_options o = {
	    .boxed = {.color = true, .processes = true},
	    .term = {.mouse = true, .ascii = gk_use_ascii()},
	    .interval_ns = GK_NS_PER_S,
	};
	struct gk_options machine = GK_OPTIONS_DEFAULT;
	int ended_by = 0, status;
	struct gk *gk;

	if (argp_parse(&argp, argc, argv, 0, NULL, &o))
		return GK_EXIT_USAGE;
	status = gk_cli_open("top", &machine, &gk);
	if (status)
		return status;
	status = tui_run(gk, &o, &ended_by);
	status = status ? failed(status) : GK_EXIT_OK;
	status = gk_cli_close(gk, ended_by ? 128 + ended_by : status);
	return status;
}

const struct gk_cmd gk_cmd_top = {
    .name = "top",
    .summary = "shows GPUs and their processes, live",
    .run = run,
};
