/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.c - parses the command line of `gpukit top`: nvitop's options and
 * ours.
 */
#include "base/clock.h"
#include "cli/arg.h"
#include "cli/top/top.h"
#include "record/replay.h"
#include "tui/settings/config.h"
#include "tui/settings/shell_words.h"

#include <argp.h>
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum key {
	KEY_INTERVAL = 0x101,
	KEY_READONLY,
	KEY_LIGHT,
	KEY_THEME,
	KEY_LOOK,
	KEY_COLORFUL,
	KEY_FORCE_COLOR,
	KEY_GPU_LIMITS,
	KEY_MEMORY_LIMITS,
	KEY_ONLY_VISIBLE,
	KEY_KEYS,
	KEY_REPLAY,
	KEY_SPEED,
	KEY_HOST,
	KEY_REMOTE_COMMAND,
	KEY_PEER_AUTH,
	KEY_PEER_CA,
	KEY_VERBOSE,
};

#define MAYBE             OPTION_ARG_OPTIONAL
#define INTERVAL_LEAST_NS (10 * GK_NS_PER_MS)

static const struct argp_option options[] = {
    {"once", '1', 0, 0, "Print one report", 1},
    {"monitor", 'm', "auto|full|compact", MAYBE,
     "Show the viewer: full or compact; auto: as the height allows", 1},
    {"interval", KEY_INTERVAL, "SEC", 0, "Read the GPUs every SEC seconds (1)",
     1},
    {"readonly", KEY_READONLY, 0, 0,
     "Do not signal processes or change anything", 1},
    {"replay", KEY_REPLAY, "FILE", 0,
     "Replay a recording of `gpukit record --snapshots`: p pauses, ( and ) go "
     "back and forward, F7 and F8 change the speed",
     1},
    {"speed", KEY_SPEED, "N", 0, "Speed of the replay, 0.001 to 1000 (1)", 1},
    {"host", KEY_HOST, "NAME,...", 0,
     "Show other machines, with `ssh NAME gpukit` or from the URL of their "
     "`gpukit web`: one row per machine, Enter shows one",
     1},
    {"remote-command", KEY_REMOTE_COMMAND, "WORDS", 0,
     "Command that starts gpukit on a host, {} is its name (ssh {} gpukit)", 1},
    {"peer-auth", KEY_PEER_AUTH, "FILE", 0,
     "Private file with the USER:PASSWORD for such URLs", 1},
    {"peer-ca", KEY_PEER_CA, "FILE", 0,
     "Authority for the certificates of such URLs (PEM)", 1},
    {"keys", KEY_KEYS, "standard|vi", 0, "Standard keys, or those of vi", 1},
    {.doc = "GPUs and processes to show:", .group = 2},
    {"only", 'o', "IDX...", 0, "Only the GPUs with these indices", 2},
    {"only-visible", KEY_ONLY_VISIBLE, 0, 0,
     "Only the GPUs in CUDA_VISIBLE_DEVICES; also -ov", 2},
    {"compute", 'c', 0, 0, "Only compute processes", 2},
    {"only-compute", 'C', 0, 0, "Only processes that only compute", 2},
    {"graphics", 'g', 0, 0, "Only graphics processes", 2},
    {"only-graphics", 'G', 0, 0, "Only processes that only use graphics", 2},
    {"user", 'u', "NAME...", MAYBE, "Only processes of these users (yours)", 2},
    {"pid", 'p', "PID...", 0, "Only processes with these ids", 2},
    {.doc = "Appearance:", .group = 3},
    {"look", KEY_LOOK, "lanes|nvitop", 0, "Our own screens, or nvitop's", 3},
    {"ascii", 'U', 0, 0, "ASCII only", 3},
    {"no-unicode", 'U', 0, OPTION_ALIAS, NULL, 3},
    {"colorful", KEY_COLORFUL, 0, 0, "Bars with a colour gradient", 3},
    {"force-color", KEY_FORCE_COLOR, 0, 0,
     "Colours even if stdout is not a terminal", 3},
    {"theme", KEY_THEME, "auto|dark|light|mono|color-blind", 0,
     "Colours; auto: chosen by the terminal's background (auto)", 3},
    {"light", KEY_LIGHT, 0, 0, "The same as --theme light", 3},
    {"gpu-util-thresh", KEY_GPU_LIMITS, "TH1 TH2", 0,
     "Utilisation in percent from which a GPU is yellow, red (10 75)", 3},
    {"mem-util-thresh", KEY_MEMORY_LIMITS, "TH1 TH2", 0,
     "The same for its memory (10 80)", 3},
    {.doc = "Help:", .group = -1},
    {"verbose", KEY_VERBOSE, 0, 0,
     "At the end, list the NVML functions that the driver lacks", -1},
    {NULL, 'h', 0, OPTION_HIDDEN, NULL, 0},
    {0},
};

/* ---- arguments of more than one word ---- */

/*
 * Whether the next word is another argument of the current option, not an
 * option.
 */
static bool more_words(const struct argp_state *state)
{
	const char *word = gk_arg_following(state);

	return *word && *word != '-';
}

static void *grow_option_list(struct argp_state *state, void *list, size_t size)
{
	void *more = realloc(list, size);

	if (!more)
		gk_arg_no_memory(state);
	return more;
}

static void add_gpus(struct argp_state *state, struct top *top, const char *arg)
{
	if (!gk_pick_valid(arg))
		argp_error(state,
			   "--only must be indices such as 0 3, not '%s'", arg);
	if (top->gpus.len)
		gk_buf_putc(&top->gpus, ',');
	gk_buf_puts(&top->gpus, arg);
	top->viewer.pick.gpus = top->gpus.data;
}

static void add_user(struct argp_state *state, struct top *top,
		     const char *name)
{
	struct gk_pick *pick = &top->viewer.pick;
	char *copy = strdup(name);

	top->users = grow_option_list(
	    state, top->users, (pick->user_count + 1) * sizeof *top->users);
	if (!copy)
		gk_arg_no_memory(state);
	top->users[pick->user_count++] = copy;
	pick->users = (const char *const *)top->users;
}

static void add_self(struct argp_state *state, struct top *top)
{
	struct passwd *entry = getpwuid(geteuid());
	char number[16];

	snprintf(number, sizeof number, "%u", (unsigned)geteuid());
	add_user(state, top, entry ? entry->pw_name : number);
}

static void add_pid(struct argp_state *state, struct top *top, const char *arg)
{
	struct gk_pick *pick = &top->viewer.pick;
	pid_t pid = (pid_t)gk_arg_number(state, "--pid", arg, 1, INT32_MAX);

	top->pids = grow_option_list(state, top->pids,
				     (pick->pid_count + 1) * sizeof *top->pids);
	top->pids[pick->pid_count++] = pid;
	pick->pids = top->pids;
}

/* Calls add() with `first` and with each following word that is no option. */
static void
each_word(struct argp_state *state, struct top *top, const char *first,
	  void (*add)(struct argp_state *, struct top *, const char *))
{
	add(state, top, first);
	while (more_words(state))
		add(state, top, state->argv[state->next++]);
}

static void add_users(struct argp_state *state, struct top *top,
		      const char *arg)
{
	if (arg)
		each_word(state, top, arg, add_user);
	else if (more_words(state))
		each_word(state, top, state->argv[state->next++], add_user);
	else
		add_self(state, top);
}

/* Parses two thresholds. such_as is a typical value, for the error message. */
static struct gk_limits parse_limits(struct argp_state *state,
				     const char *option, const char *such_as,
				     const char *arg)
{
	struct gk_limits result = {0};
	char text[64];

	snprintf(text, sizeof text, "%s", arg);
	if (!strpbrk(arg, ", ") && more_words(state))
		snprintf(text, sizeof text, "%s,%s", arg,
			 state->argv[state->next++]);
	if (!top_limits(text, &result))
		argp_error(state,
			   "%s must be two percentages from 1 to 99 such as "
			   "%s, not '%s'",
			   option, such_as, text);
	return result;
}

/* ---- options ---- */

static const struct gk_choice modes[] = {
    {"auto", MODE_AUTO},
    {"full", MODE_FULL},
    {"compact", MODE_COMPACT},
    {0},
};

static const struct gk_choice looks[] = {
    {"lanes", LOOK_LANES}, {"nvitop", LOOK_NVITOP}, {0}};

static const struct gk_choice themes[] = {{"auto", TUI_AUTO},
					  {"dark", TUI_DARK},
					  {"light", TUI_LIGHT},
					  {"mono", TUI_MONO},
					  {"color-blind", TUI_COLOR_BLIND},
					  {NULL, 0}};

static const struct gk_choice key_sets[] = {
    {"standard", KEYS_STANDARD},
    {"vi", KEYS_VI},
    {0},
};

static void take_monitor(struct argp_state *state, struct top *top,
			 const char *arg)
{
	if (top->when == TOP_ONCE)
		argp_error(state, "-1 and -m exclude each other");
	top->when = TOP_MONITOR;
	/* Without an argument, the environment decides the mode. */
	if (!arg && more_words(state))
		arg = state->argv[state->next++];
	if (arg)
		top->viewer.mode =
		    gk_arg_choose(state, "--monitor", modes, arg);
}

static void take_once(struct argp_state *state, struct top *top)
{
	if (top->when == TOP_MONITOR)
		argp_error(state, "-1 and -m exclude each other");
	top->when = TOP_ONCE;
}

static double parse_speed(struct argp_state *state, const char *arg)
{
	char *end;
	double value = strtod(arg, &end);

	if (end == arg || *end || !(value >= GK_REPLAY_SPEED_MIN) ||
	    value > GK_REPLAY_SPEED_MAX)
		argp_error(
		    state,
		    "--speed must be a number from 0.001 to 1000, not '%s'",
		    arg);
	return value;
}

/* ---- other machines ---- */

static void add_hosts(struct argp_state *state, struct top *top,
		      const char *arg)
{
	int err = top_add_hosts(top, arg);

	if (err == ENOMEM)
		gk_arg_no_memory(state);
	if (err)
		argp_error(state,
			   "--host must be names such as node1,ana@node2, or "
			   "http://HOST:PORT, not '%s'",
			   arg);
}

static bool names_host(char *const *words)
{
	for (; words && *words; words++)
		if (strstr(*words, "{}"))
			return true;
	return false;
}

static void remote_command(struct argp_state *state, struct top *top,
			   const char *arg)
{
	tui_shell_free(top->remote_command);
	top->remote_command = NULL;
	if (!tui_shell_split(arg, &top->remote_command))
		argp_error(state, "--remote-command: a quote is not closed");
	if (!names_host(top->remote_command))
		argp_error(state, "--remote-command needs {} in place of the "
				  "host's name, as in 'ssh {} gpukit'");
}

static void check_hosts(struct argp_state *state, const struct top *top)
{
	if (top->host_count && top->replay)
		argp_error(state, "--host and --replay exclude each other");
	if (!top->host_count &&
	    (top->remote_command || top->peer_auth || top->peer_ca))
		argp_error(
		    state,
		    "--remote-command, --peer-auth and --peer-ca need --host");
}

static error_t parse_top_option(int key, char *arg, struct argp_state *state)
{
	struct top *top = state->input;
	struct tui_options *o = &top->viewer;

	switch (key) {
	case '1':
		take_once(state, top);
		return 0;
	case 'm':
		take_monitor(state, top, arg);
		return 0;
	case KEY_INTERVAL:
		o->interval_ns = gk_arg_duration(state, "--interval", arg,
						 INTERVAL_LEAST_NS);
		return 0;
	case KEY_VERBOSE:
		top->verbose = true;
		return 0;
	case KEY_READONLY:
		o->readonly = true;
		return 0;
	case KEY_REPLAY:
		top->replay = gk_arg_path(state, "--replay", arg);
		return 0;
	case KEY_SPEED:
		top->speed = parse_speed(state, arg);
		return 0;
	case KEY_HOST:
		add_hosts(state, top, arg);
		return 0;
	case KEY_REMOTE_COMMAND:
		remote_command(state, top, arg);
		return 0;
	case KEY_PEER_AUTH:
		top->peer_auth = arg;
		return 0;
	case KEY_PEER_CA:
		top->peer_ca = arg;
		return 0;
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &top->timings;
		return 0;
	case ARGP_KEY_END:
		check_hosts(state, top);
		return 0;
	case KEY_KEYS:
		o->key_set = gk_arg_choose(state, "--keys", key_sets, arg);
		return 0;
	case 'o':
		if (strcmp(arg, "v"))
			each_word(state, top, arg, add_gpus);
		else /* skips the "o" of "-ov" */
			o->pick.only_visible = true;
		return 0;
	case KEY_ONLY_VISIBLE:
		o->pick.only_visible = true;
		return 0;
	case 'c':
		o->pick.compute = true;
		return 0;
	case 'C':
		o->pick.only_compute = true;
		return 0;
	case 'g':
		o->pick.graphics = true;
		return 0;
	case 'G':
		o->pick.only_graphics = true;
		return 0;
	case 'u':
		add_users(state, top, arg);
		return 0;
	case 'p':
		each_word(state, top, arg, add_pid);
		return 0;
	case 'U':
		o->term.ascii = true;
		return 0;
	case KEY_COLORFUL:
		o->boxed.colorful = true;
		return 0;
	case KEY_FORCE_COLOR:
		top->color = GK_COLOR_ALWAYS;
		return 0;
	case KEY_LOOK:
		o->look = gk_arg_choose(state, "--look", looks, arg);
		return 0;
	case KEY_LIGHT:
		o->term.theme = TUI_LIGHT;
		return 0;
	case KEY_THEME:
		o->term.theme = gk_arg_choose(state, "--theme", themes, arg);
		return 0;
	case KEY_GPU_LIMITS:
		o->boxed.gpu =
		    parse_limits(state, "--gpu-util-thresh", "10 75", arg);
		return 0;
	case KEY_MEMORY_LIMITS:
		o->boxed.memory =
		    parse_limits(state, "--mem-util-thresh", "10 80", arg);
		return 0;
	case 'h':
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument '%s'", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {
    {&gk_timings_argp, 0, NULL, 90},
    {0},
};

const struct argp top_argp = {
    .options = options,
    .parser = parse_top_option,
    .children = children,
    .doc = "Shows GPUs and their processes, live. Press `h` for the keys. "
	   "Prints a last report at the end.\vIf stdin or stdout is not a "
	   "terminal, prints one report. Settings are in "
	   "$XDG_CONFIG_HOME/gpukit/top.yaml.\n\n"
	   "Exit status: 0; 1 after a failure; 2 for a wrong option.",
};

void top_parse(struct top *top, int argc, char **argv)
{
	gk_arg_parse(&top_argp, 0, argc, argv, top);
}

void top_free(struct top *top)
{
	for (size_t i = 0; i < top->viewer.pick.user_count; i++)
		free(top->users[i]);
	free(top->users);
	for (size_t i = 0; i < top->host_count; i++)
		free(top->hosts[i]);
	free(top->hosts);
	tui_shell_free(top->remote_command);
	free(top->pids);
	gk_buf_free(&top->gpus);
	tui_options_free(&top->viewer);
}
