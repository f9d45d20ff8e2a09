/* web.c - `gpukit web`: the options; the work is in run.c. */
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
/* Streams say that they are there at every frame. */
#define INTERVAL_MOST (10 * GK_NS_PER_S)

enum key {
	KEY_COMMANDS = 0x101,
	KEY_PEER,
	KEY_PEER_AUTH,
	KEY_PEER_CA,
	KEY_FOLLOW
};

static const struct argp_option options[] = {
    {.doc = "What is shown:", .group = 3},
    {"commands", KEY_COMMANDS, 0, 0, "Command lines too; they can hold secrets",
     3},
    {.doc = "Other machines, each with a `gpukit web` of its own:", .group = 4},
    {"peer", KEY_PEER, "URL", 0,
     "Shows that machine too: http://HOST:PORT. Can be repeated", 4},
    {"peer-auth", KEY_PEER_AUTH, "FILE", 0,
     "USER:PASSWORD that peers ask for, in a private file", 4},
    {"peer-ca", KEY_PEER_CA, "FILE", 0,
     "Certificates of peers are of this authority (PEM)", 4},
    {"follow", KEY_FOLLOW, "URL", 0,
     "Serves nothing: prints the snapshots of that machine as `gpukit stat "
     "--json-lines` would",
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
		argp_error(state,
			   "a peer is http://HOST:PORT or https://HOST:PORT, "
			   "not '%s'; a password goes into --peer-auth",
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
		argp_error(state, "--interval is 10 seconds at most, not %s",
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
		argp_error(state, "what is '%s'? There are only options", arg);
		return 0;
	case ARGP_KEY_END:
		if ((w->peer_auth || w->peer_ca) && !w->peers)
			argp_error(state, "--peer-auth and --peer-ca are of "
					  "peers, and there is no --peer");
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

static const struct argp argp = {
    .options = options,
    .parser = parse_web_option,
    .children = children,
    .doc = "Shows GPUs as a live page, at port " DEFAULT_PORT " of 127.0.0.1; "
	   "other machines on the same page with --peer."
	   "\vRuns until SIGINT or SIGTERM. Exit status: 0, 1 after a failure, "
	   "2 for a wrong option.",
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

	gk_arg_parse(&argp, 0, argc, argv, &web);
	status = web.follow ? gk_web_follow(&web) : gk_web_run(&web);
	gk_serve_options_free(&web.serve);
	free(web.peers);
	return status;
}

const struct gk_cmd gk_cmd_web = {
    .name = "web",
    .summary = "shows GPUs, of other machines too, as a live page",
    .run = run_web,
};
