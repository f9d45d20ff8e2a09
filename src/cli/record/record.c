/* SPDX-License-Identifier: Apache-2.0 */
/* record.c - `gpukit record`: parses the options; run.c does the work. */
#include "cli/record/record.h"
#include "base/clock.h"
#include "cli/arg.h"
#include "cli/cmd.h"
#include "cli/machine_opt.h"

#include <argp.h>
#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INTERVAL_NS     (30 * GK_NS_PER_S)
#define INTERVAL_JOB_NS GK_NS_PER_S
#define LEAST_NS        (10 * GK_NS_PER_MS)

enum key {
	KEY_PID = 0x101,
	KEY_MATCH,
	KEY_CHILDREN,
	KEY_SYSTEM,
	KEY_DEVICES,
	KEY_SNAPSHOTS,
	KEY_APPEND,
	KEY_FORMAT,
	KEY_CMD,
	KEY_MODE,
	KEY_ROTATE,
	KEY_UNTIL_EXIT,
	KEY_COUNT,
};

static const struct argp_option options[] = {
    {.doc = "What to record (default: a row for each process and GPU):",
     .group = 1},
    {"pid", KEY_PID, "N...", 0, "Only these processes", 1},
    {"match", KEY_MATCH, "REGEX", 0,
     "Only processes whose command line matches a Perl regular expression", 1},
    {"children", KEY_CHILDREN, 0, 0, "Also the children of these processes", 1},
    {"system", KEY_SYSTEM, "PID...", 0,
     "GPU memory, host memory and CPU use of these processes", 1},
    {"devices", KEY_DEVICES, 0, 0, "A row for each GPU, with all its metrics",
     1},
    {"snapshots", KEY_SNAPSHOTS, 0, 0,
     "Everything, compressed, for --replay of `gpukit top` and `gpukit fake`",
     1},
    {"cmd", KEY_CMD, "full|name|none", 0,
     "How much of command lines to write; they may hold secrets (full)", 1},
    {.doc = "When:", .group = 2},
    {"interval", 'i', "SEC", 0, "Seconds between samples, from 0.01 (30)", 2},
    {"count", KEY_COUNT, "N", 0, "End after N samples", 2},
    {"until-exit", KEY_UNTIL_EXIT, 0, 0,
     "End when the chosen processes have ended", 2},
    {.doc = "Output:", .group = 3},
    {"output", 'o', "FILE", 0, "File to write (./gpu_log.csv); - is stdout", 3},
    {"append", KEY_APPEND, 0, 0, "Append to the file instead of replacing it",
     3},
    {"format", KEY_FORMAT, "csv|jsonl", 0,
     "Comma-separated values, or one JSON object per line (csv)", 3},
    {"rotate", KEY_ROTATE, "SIZE|TIME", 0,
     "Start a new file at a size (100M, 1GiB) or age (10m, 24h); the old one "
     "becomes NAME.1.EXT, the next NAME.2.EXT",
     3},
    {"mode", KEY_MODE, "OCTAL", 0, "Permissions of the file (0600)", 3},
    {.doc = "Reading the machine:", .group = 5},
    {NULL, 'h', 0, OPTION_HIDDEN, NULL, 0},
    {0},
};

/* ---- lists of pids ---- */

static void add_pid(struct argp_state *state, struct record *record,
		    const char *option, const char *text)
{
	struct gk_chosen_options *chosen = &record->chosen;
	pid_t *more =
	    realloc(record->pids, (chosen->pid_count + 1) * sizeof *more);

	if (!more)
		gk_arg_no_memory(state);
	record->pids = more;
	chosen->pids = more;
	more[chosen->pid_count++] =
	    (pid_t)gk_arg_number(state, option, text, 1, INT32_MAX);
}

/* Adds the pids in a list such as "12,13". */
static void add_pids(struct argp_state *state, struct record *record,
		     const char *option, const char *list)
{
	char word[32];

	do {
		size_t len = strcspn(list, ",");

		snprintf(word, sizeof word, "%.*s", (int)len, list);
		add_pid(state, record, option, len < sizeof word ? word : list);
		list += len;
	} while (*list++);
}

/* Also consumes the following words if they are numbers. */
static void read_pid_options(struct argp_state *state, struct record *record,
			     const char *option, const char *arg)
{
	add_pids(state, record, option, arg);
	while (isdigit((unsigned char)*gk_arg_following(state)))
		add_pids(state, record, option, state->argv[state->next++]);
}

/* ---- single arguments ---- */

static mode_t parse_mode(struct argp_state *state, const char *arg)
{
	char *end;
	unsigned long mode = strtoul(arg, &end, 8);

	if (!isdigit((unsigned char)*arg) || *end || mode > 0777)
		argp_error(state,
			   "--mode must be permissions such as 0640, not '%s'",
			   arg);
	return (mode_t)mode;
}

/* Parses a limit: 10m is a time, 10M is a size, and a plain number is bytes. */
static void rotate_of(struct argp_state *state,
		      struct gk_record_file_options *file, const char *arg)
{
	const char *unit = arg + strspn(arg, "0123456789.");
	uint64_t value = 0;
	bool time =
	    islower((unsigned char)*unit) && !gk_parse_duration(arg, &value);
	int err = time ? 0 : gk_parse_size(arg, &value);

	if (err || !value)
		argp_error(state,
			   "--rotate must be a size such as 100M or a time "
			   "such as 24h, not '%s'",
			   arg);
	file->rotate_bytes = time ? 0 : value;
	file->rotate_ns = time ? value : 0;
}

static const struct gk_choice formats[] = {{"csv", 0}, {"jsonl", 1}, {0}};
static const struct gk_choice commands[] = {{"full", RECORD_COMMAND_FULL},
					    {"name", RECORD_COMMAND_NAME},
					    {"none", RECORD_NONE},
					    {0}};

/* ---- one function per option ---- */

#define TAKE(name)                                                             \
	static void take_##name(struct argp_state *state,                      \
				struct record *record, const char *arg)

TAKE(pids)
{
	record->asked |= RECORD_PIDS;
	read_pid_options(state, record, "--pid", arg);
}

TAKE(match)
{
	(void)state;
	record->asked |= RECORD_PIDS;
	record->chosen.regex = arg;
}

TAKE(system)
{
	record->style.kind = GK_RECORD_SYSTEM;
	record->asked |= RECORD_SYSTEM;
	read_pid_options(state, record, "--system", arg);
}

TAKE(devices)
{
	(void)state, (void)arg;
	record->style.kind = GK_RECORD_DEVICES;
	record->asked |= RECORD_DEVICES;
}

TAKE(snapshots)
{
	(void)state, (void)arg;
	record->snapshots = true;
	record->asked |= RECORD_SNAPSHOTS;
}

TAKE(command)
{
	record->command =
	    (enum record_command)gk_arg_choose(state, "--cmd", commands, arg);
}

TAKE(interval)
{
	record->interval_ns =
	    gk_arg_duration(state, "--interval", arg, LEAST_NS);
}

TAKE(count)
{
	record->count = gk_arg_number(state, "--count", arg, 1, INT64_MAX);
}

TAKE(output)
{
	if (!*arg)
		argp_error(state, "--output must be a file, not ''");
	record->file.path = gk_arg_path(state, "--output", arg);
}

TAKE(format)
{
	record->style.json = gk_arg_choose(state, "--format", formats, arg);
}

TAKE(rotate)
{
	rotate_of(state, &record->file, arg);
}

TAKE(mode)
{
	record->file.mode = parse_mode(state, arg);
	record->file.mode_told = true;
}

/* The options. Each sets a flag or calls a function. */
static const struct {
	int key;
	size_t flag; /* offset of a bool in struct record, if take is NULL */
	void (*take)(struct argp_state *, struct record *, const char *);
} rows[] = {
    {KEY_CHILDREN, offsetof(struct record, chosen.children), NULL},
    {KEY_UNTIL_EXIT, offsetof(struct record, until_exit), NULL},
    {KEY_APPEND, offsetof(struct record, file.append), NULL},
    {KEY_PID, 0, take_pids},
    {KEY_MATCH, 0, take_match},
    {KEY_SYSTEM, 0, take_system},
    {KEY_DEVICES, 0, take_devices},
    {KEY_SNAPSHOTS, 0, take_snapshots},
    {KEY_CMD, 0, take_command},
    {'i', 0, take_interval},
    {KEY_COUNT, 0, take_count},
    {'o', 0, take_output},
    {KEY_FORMAT, 0, take_format},
    {KEY_ROTATE, 0, take_rotate},
    {KEY_MODE, 0, take_mode},
};

static error_t take_record_option(int key, const char *arg,
				  struct argp_state *state)
{
	struct record *record = state->input;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (rows[i].key != key)
			continue;
		if (rows[i].take)
			rows[i].take(state, record, arg);
		else
			*(bool *)((char *)record + rows[i].flag) = true;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* ---- the whole command line ---- */

static void check_record_options(struct argp_state *state,
				 struct record *record)
{
	const struct gk_chosen_options *chosen = &record->chosen;
	bool some = chosen->pid_count || chosen->regex;

	if (record->asked & (record->asked - 1))
		argp_error(state, "choose one of --pid and --match, --system, "
				  "--devices and --snapshots");
	if (chosen->children && !some && !record->job)
		argp_error(state,
			   "--children needs --pid, --match or --system");
	if (record->until_exit && !some && !record->job)
		argp_error(state, "--until-exit needs --pid, --match, "
				  "--system or a command");
	if (record->job && some)
		argp_error(state, "with a command, --pid, --match and --system "
				  "are not allowed");
	if (record->snapshots && record->style.json)
		argp_error(state, "--snapshots excludes --format");
}

static void complete_record_options(struct argp_state *state,
				    struct record *record)
{
	check_record_options(state, record);
	if (!record->interval_ns)
		record->interval_ns =
		    record->job ? INTERVAL_JOB_NS : INTERVAL_NS;
	record->style.milliseconds = record->interval_ns < GK_NS_PER_S;
	record->style.pid_column = record->chosen.pid_count > 1;
	if (!record->file.path)
		record->file.path = record->snapshots    ? "gpu_log.tape"
				    : record->style.json ? "gpu_log.jsonl"
							 : "gpu_log.csv";
}

static void take_job(struct argp_state *state, struct record *record,
		     const char *arg)
{
	if (!state->quoted || state->next - 1 < state->quoted)
		argp_error(state,
			   "unexpected argument '%s'; put a command after --",
			   arg);
	record->job = state->argv + state->next - 1;
	state->next = state->argc;
}

static error_t parse_record_option(int key, char *arg, struct argp_state *state)
{
	struct record *record = state->input;

	switch (key) {
	case 'h':
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		return 0;
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &record->machine;
		state->child_inputs[1] = &record->timings;
		return 0;
	case ARGP_KEY_ARG:
		take_job(state, record, arg);
		return 0;
	case ARGP_KEY_END:
		complete_record_options(state, record);
		return 0;
	default:
		return take_record_option(key, arg, state);
	}
}

static const struct argp_child children[] = {
    {&gk_machine_pcie_argp, 0, NULL, 0},
    {&gk_timings_argp, 0, NULL, 90},
    {0},
};

const struct argp record_argp = {
    .options = options,
    .parser = parse_record_option,
    .args_doc = "[-- COMMAND [ARG...]]",
    .doc =
	"Logs the GPU use of processes to a file, every interval, until SIGINT "
	"or SIGTERM. With a command: runs it, records it and its children "
	"every second, and prints a summary at its end.\v" GK_ARG_SIZES
	"\n\nExit status: 0; 1 after a failure; 2 for a wrong option; with a "
	"command, its own status.",
    .children = children,
};

void record_parse(struct record *record, int argc, char **argv)
{
	gk_arg_parse(&record_argp, 0, argc, argv, record);
}

void record_free(struct record *record)
{
	free(record->pids);
}

static int run_record(int argc, char **argv)
{
	struct record record = {
	    .machine = GK_OPTIONS_DEFAULT,
	    .file.mode = 0600,
	};
	int status;

	record_parse(&record, argc, argv);
	status = record_run(&record);
	record_free(&record);
	return status;
}

const struct gk_cmd gk_cmd_record = {
    .name = "record",
    .summary = "logs the GPU use of processes to a file",
    .run = run_record,
};
