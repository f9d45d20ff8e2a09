/* SPDX-License-Identifier: Apache-2.0 */
/* web.c - `gpukit web`: parses the options; run.c does the work. */
#include "cli/web/web.h"

#include "base/clock.h"
#include "cli/arg.h"
#include "cli/cmd.h"
#include "cli/machine_opt.h"

#include <argp.h>
#include <argz.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_ADDRESS "127.0.0.1"
#define DEFAULT_PORT    "9835"
/* The maximum interval: frames also keep idle streams alive. */
#define INTERVAL_MOST (10 * GK_NS_PER_S)

enum key {
	KEY_COMMANDS = 0x101,
	KEY_PEER,
	KEY_PEER_AUTH,
	KEY_PEER_CA,
	KEY_FOLLOW
};

static const struct argp_option options[] = {
    {.doc = "What to show:", .group = 3},
    {"commands", KEY_COMMANDS, 0, 0,
     "Also command lines, which may hold secrets", 3},
    {.doc = "Other machines, each with a `gpukit web` of its own:", .group = 4},
    {"peer", KEY_PEER, "URL", 0,
     "Also show the machine at this URL, http://HOST:PORT; may be repeated", 4},
    {"peer-auth", KEY_PEER_AUTH, "FILE", 0,
     "Private file with the USER:PASSWORD for peers", 4},
    {"peer-ca", KEY_PEER_CA, "FILE", 0,
     "Authority for the certificates of peers (PEM)", 4},
    {"follow", KEY_FOLLOW, "URL", 0,
     "Do not serve; print the snapshots of that machine like `gpukit stat "
     "--json-lines`",
     4},
    {.doc = "Reading the machine:", .group = 5},
    {"interval", 'i', "SEC", 0, "Time between two readings (1)", 5},
    {NULL, 'h', 0, OPTION_HIDDEN, NULL, 0},
    {0},
};

static bool is_url(const char *text)
{
	const char *rest = NULL;

	if (!strncmp(text, "http://", 7))
		rest = text + 7;
	else if (!strncmp(text, "https://", 8))
		rest = text + 8;
	return rest && *rest && *rest != '/' && !strpbrk(rest, "?#@ \t\n");
}

static error_t add_peer(struct argp_state *state, struct gk_web *w,
			const char *url, bool follow)
{
	if (!is_url(url))
		argp_error(
		    state,
		    "a peer must be http://HOST:PORT or https://HOST:PORT, not "
		    "'%s'; put a password into --peer-auth",
		    url);
	if (follow)
		w->follow = url;
	return argz_add(&w->peers, &w->peers_len, url);
}

static void set_interval(struct argp_state *state, struct gk_web *w,
			 const char *arg)
{
	w->interval_ns =
	    gk_arg_duration(state, "--interval", arg, 100 * GK_NS_PER_MS);
	if (w->interval_ns > INTERVAL_MOST)
		argp_error(state,
			   "--interval must be at most 10 seconds, not %s",
			   arg);
}

static error_t parse_web_option(int key, char *arg, struct argp_state *state)
{
	struct gk_web *w = state->input;

	switch (key) {
	case KEY_COMMANDS:
		w->commands = true;
		return 0;
	case KEY_PEER:
		return add_peer(state, w, arg, false);
	case KEY_FOLLOW:
		return add_peer(state, w, arg, true);
	case KEY_PEER_AUTH:
		w->peer_auth = arg;
		return 0;
	case KEY_PEER_CA:
		w->peer_ca = arg;
		return 0;
	case 'i':
		set_interval(state, w, arg);
		return 0;
	case 'h':
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		return 0;
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &w->serve;
		state->child_inputs[1] = &w->machine;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument '%s'", arg);
		return 0;
	case ARGP_KEY_END:
		if ((w->peer_auth || w->peer_ca) && !w->peers)
			argp_error(state,
				   "--peer-auth and --peer-ca need --peer");
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

const struct argp gk_web_argp = {
    .options = options,
    .parser = parse_web_option,
    .children = children,
    .doc = "Shows GPUs as a live web page, on port " DEFAULT_PORT
	   " of 127.0.0.1; --peer adds other machines to the page.\vRuns until "
	   "SIGINT or SIGTERM.\n\nExit status: 0; 1 after a failure; 2 for a "
	   "wrong option.",
};

static int run_web(int argc, char **argv)
{
	struct gk_web web = {
	    .serve = {.verb = "web",
		      .address = DEFAULT_ADDRESS,
		      .port = DEFAULT_PORT},
	    .interval_ns = GK_NS_PER_S,
	    .machine = GK_OPTIONS_DEFAULT,
	};
	int status;

	gk_arg_parse(&gk_web_argp, 0, argc, argv, &web);
	status = web.follow ? gk_web_follow(&web) : gk_web_run(&web);
	gk_serve_options_free(&web.serve);
	free(web.peers);
	return status;
}

const struct gk_cmd gk_cmd_web = {
    .name = "web",
    .summary = "shows GPUs of this and other machines as a live page",
    .run = run_web,
};
