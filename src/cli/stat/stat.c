/* SPDX-License-Identifier: Apache-2.0 */
/* stat.c - `gpukit stat`: parses the options; run.c does the work. */
#include "cli/stat/stat.h"
#include "base/clock.h"
#include "cli/arg.h"
#include "cli/cmd.h"
#include "cli/machine_opt.h"
#include "core/choose/pick.h"

#include <argp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum key {
	KEY_ID = 0x101,
	KEY_JSON,
	KEY_JSON_LINES,
	KEY_CSV,
	KEY_WHY,
	KEY_COUNT,
	KEY_NO_HEADER,
	KEY_NO_PROCESSES,
	KEY_NAME_WIDTH,
	KEY_COLOR,
	KEY_NO_COLOR,
	KEY_WIDTH,
	KEY_DETAIL,
	KEY_CPU_WINDOW,
};

#define MAYBE OPTION_ARG_OPTIONAL

static const struct argp_option options[] = {
    {.doc = "What to show, one line per GPU:", .group = 1},
    {"id", KEY_ID, "I,J", 0, "Only the GPUs with these indices", 1},
    {"show-all", 'a', 0, 0, "Same as -c -u -p -F -e -P", 1},
    {"show-cmd", 'c', 0, 0, "Program of each process", 1},
    {"show-full-cmd", 'f', 0, 0,
     "Whole command, CPU and host memory of each process", 1},
    {"show-user", 'u', 0, 0, "User of each process", 1},
    {"show-pid", 'p', 0, 0, "Process id of each process", 1},
    {"show-fan-speed", 'F', 0, 0, "Fan speed", 1},
    {"show-fan", 'F', 0, OPTION_ALIAS, NULL, 1},
    {"show-codec", 'e', "enc,dec", MAYBE, "Encoder and decoder utilisation", 1},
    {"show-power", 'P', "draw,limit", MAYBE, "Power draw and limit", 1},
    {"no-header", KEY_NO_HEADER, 0, 0, "No header line", 1},
    {"no-processes", KEY_NO_PROCESSES, 0, 0, "No processes", 1},
    {"gpuname-width", KEY_NAME_WIDTH, "N", 0,
     "Width of the GPU's name; 0 hides it", 1},
    {.doc = "Other formats:", .group = 2},
    {"boxed", '1', 0, 0, "Tables of GPUs, host and processes, with bars", 2},
    {"once", '1', 0, OPTION_ALIAS, NULL, 2},
    {"width", KEY_WIDTH, "N", 0, "Width of --boxed (the terminal's)", 2},
    {"json", KEY_JSON, 0, 0, "One JSON object", 2},
    {"json-lines", KEY_JSON_LINES, 0, 0,
     "One JSON object per line, every interval (1 s)", 2},
    {"csv", KEY_CSV, "devices|processes", MAYBE,
     "Comma-separated values, one row per GPU or per process", 2},
    {"why", KEY_WHY, 0, 0, "With JSON: why a value is null", 2},
    {.doc = "Repetition:", .group = 3},
    {"interval", 'i', "SEC", MAYBE, "Repeat the report every SEC seconds (1)",
     3},
    {"watch", 'i', 0, OPTION_ALIAS, NULL, 3},
    {"count", KEY_COUNT, "N", 0, "End after N reports", 3},
    {.doc = "Colours:", .group = 4},
    {"color", KEY_COLOR, 0, 0, "Colours even if stdout is not a terminal", 4},
    {"force-color", KEY_COLOR, 0, OPTION_ALIAS, NULL, 4},
    {"no-color", KEY_NO_COLOR, 0, 0, "No colours", 4},
    {"ascii", 'U', 0, 0, "ASCII only", 4},
    {.doc = "Reading the machine:", .group = 5},
    {"detail", KEY_DETAIL, 0, 0,
     "With JSON: also NVLinks, the topology and other values that few need", 5},
    {"cpu-window", KEY_CPU_WINDOW, "SEC", 0,
     "Read twice, SEC seconds apart, for CPU % in a single report", 5},
    {NULL, 'h', 0, OPTION_HIDDEN, NULL, 0},
    {0},
};

static const struct gk_choice codecs[] = {
    {"enc,dec", GK_CODEC_ENC | GK_CODEC_DEC},
    {"dec,enc", GK_CODEC_ENC | GK_CODEC_DEC},
    {"enc", GK_CODEC_ENC},
    {"dec", GK_CODEC_DEC},
    {"", 0},
    {0},
};

/* gpustat too shows the draw if only "limit" is given. */
static const struct gk_choice powers[] = {
    {"draw,limit", GK_POWER_DRAW | GK_POWER_LIMIT},
    {"limit,draw", GK_POWER_DRAW | GK_POWER_LIMIT},
    {"limit", GK_POWER_DRAW | GK_POWER_LIMIT},
    {"draw", GK_POWER_DRAW},
    {"", 0},
    {0},
};

static uint64_t parse_interval(struct argp_state *state, const char *arg)
{
	uint64_t ns;

	if (!arg && !gk_parse_duration(gk_arg_following(state), &ns))
		arg = state->argv[state->next++];
	return arg ? gk_arg_duration(state, "--interval", arg, GK_NS_PER_MS)
		   : GK_NS_PER_S;
}

static void show_all(struct gk_gpustat_options *text)
{
	text->show_cmd = text->show_user = text->show_pid = true;
	text->show_fan = true;
	text->codec = codecs[0].bits;
	text->power = powers[0].bits;
}

static enum gk_stat_format csv_of(struct argp_state *state, const char *arg)
{
	if (!arg || !strcmp(arg, "devices"))
		return GK_STAT_CSV_DEVICES;
	if (strcmp(arg, "processes"))
		argp_error(state,
			   "--csv must be devices or processes, not '%s'", arg);
	return GK_STAT_CSV_PROCESSES;
}

/* Options that only switch something on or off. */
#define AT(member) offsetof(struct gk_stat, member)
static const struct {
	int key;
	size_t at;
	bool value;
} switches[] = {
    {'c', AT(text.show_cmd), true},
    {'f', AT(text.show_full_cmd), true},
    {'u', AT(text.show_user), true},
    {'p', AT(text.show_pid), true},
    {'F', AT(text.show_fan), true},
    {KEY_NO_HEADER, AT(text.header), false},
    {KEY_NO_PROCESSES, AT(text.processes), false},
    {KEY_WHY, AT(why), true},
    {'U', AT(ascii), true},
};
#undef AT

/* Handles options that only set a flag, from the table. */
static error_t set_switch(int key, struct gk_stat *stat)
{
	for (size_t i = 0; i < sizeof switches / sizeof *switches; i++) {
		if (switches[i].key != key)
			continue;
		*(bool *)((char *)stat + switches[i].at) = switches[i].value;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/*
 * Sets the format. Rejects a second one, because one of the two must be a
 * mistake.
 */
static void choose_format(struct argp_state *state, struct gk_stat *stat,
			  enum gk_stat_format format)
{
	static const char *const options_of[] = {
	    [GK_STAT_BOXED] = "--boxed",
	    [GK_STAT_JSON] = "--json",
	    [GK_STAT_JSON_LINES] = "--json-lines",
	    [GK_STAT_CSV_DEVICES] = "--csv",
	    [GK_STAT_CSV_PROCESSES] = "--csv=processes",
	};

	if (stat->format != GK_STAT_TEXT && stat->format != format)
		argp_error(state, "choose one of the formats %s and %s",
			   options_of[stat->format], options_of[format]);
	stat->format = format;
}

static void check_stat_options(struct argp_state *state, struct gk_stat *stat)
{
	if (stat->format == GK_STAT_JSON && (stat->interval_ns || stat->count))
		argp_error(state, "--json prints one report; use --json-lines "
				  "with --interval or --count");
	if (!stat->interval_ns &&
	    (stat->count || stat->format == GK_STAT_JSON_LINES))
		stat->interval_ns = GK_NS_PER_S;
	if (stat->format == GK_STAT_JSON || stat->format == GK_STAT_JSON_LINES)
		return;
	if (stat->why)
		argp_error(state, "--why needs --json or --json-lines");
	if (stat->machine.with & GK_WITH_DETAIL)
		argp_error(state, "--detail needs --json or --json-lines");
}

static error_t parse_stat_option(int key, char *arg, struct argp_state *state)
{
	struct gk_stat *stat = state->input;

	switch (key) {
	case 'i':
		stat->interval_ns = parse_interval(state, arg);
		return 0;
	case KEY_COUNT:
		stat->count =
		    gk_arg_number(state, "--count", arg, 1, INT64_MAX);
		return 0;
	case '1':
		choose_format(state, stat, GK_STAT_BOXED);
		return 0;
	case KEY_JSON:
		choose_format(state, stat, GK_STAT_JSON);
		return 0;
	case KEY_JSON_LINES:
		choose_format(state, stat, GK_STAT_JSON_LINES);
		return 0;
	case KEY_CSV:
		choose_format(state, stat, csv_of(state, arg));
		return 0;
	case KEY_WIDTH:
		stat->width =
		    (int)gk_arg_number(state, "--width", arg, 79, 1000);
		return 0;
	case KEY_COLOR:
		stat->color = GK_COLOR_ALWAYS;
		return 0;
	case KEY_NO_COLOR:
		stat->color = GK_COLOR_NEVER;
		return 0;
	case KEY_DETAIL:
		stat->machine.with |= GK_WITH_DETAIL | GK_WITH_TOPOLOGY;
		return 0;
	case KEY_CPU_WINDOW:
		stat->cpu_window_ns =
		    gk_arg_duration(state, "--cpu-window", arg, GK_NS_PER_MS);
		return 0;
	case 'a':
		show_all(&stat->text);
		return 0;
	case 'e':
		stat->text.codec =
		    gk_arg_choose(state, "--show-codec", codecs, arg);
		return 0;
	case 'P':
		stat->text.power =
		    gk_arg_choose(state, "--show-power", powers, arg);
		return 0;
	case KEY_NAME_WIDTH:
		stat->text.name_width =
		    (int)gk_arg_number(state, "--gpuname-width", arg, 0, 1000);
		return 0;
	case KEY_ID:
		if (!gk_pick_valid(arg))
			argp_error(state,
				   "--id must be indices such as 0,3, not '%s'",
				   arg);
		stat->ids = arg;
		return 0;
	case 'h':
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		return 0;
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &stat->machine;
		state->child_inputs[1] = &stat->timings;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument '%s'", arg);
		return 0;
	case ARGP_KEY_END:
		check_stat_options(state, stat);
		return 0;
	default:
		return set_switch(key, stat);
	}
}

static const struct argp_child children[] = {
    {&gk_machine_pcie_argp, 0, NULL, 0},
    {&gk_timings_argp, 0, NULL, 90},
    {0},
};

const struct argp gk_stat_argp = {
    .options = options,
    .parser = parse_stat_option,
    .doc = "Shows GPUs and their processes, once or every interval."
	   "\vExit status: 0; 1 after a failure; 2 for a wrong option.",
    .children = children,
};

static int run_stat(int argc, char **argv)
{
	struct gk_stat stat = {
	    .text = {.header = true, .processes = true, .name_width = -1},
	    .machine = GK_OPTIONS_DEFAULT,
	};

	gk_arg_parse(&gk_stat_argp, 0, argc, argv, &stat);
	return gk_stat_run(&stat);
}

const struct gk_cmd gk_cmd_stat = {
    .name = "stat",
    .summary = "shows GPUs and their processes: text, JSON, CSV",
    .run = run_stat,
};
