/* SPDX-License-Identifier: Apache-2.0 */
/* ctl.c - `gpukit fake ctl`: shows a running machine and changes it. */
#include "cli/fake/ctl/ctl.h"
#include "base/err.h"
#include "base/str.h"
#include "cli/arg.h"
#include "cli/cmd.h"
#include "cli/fake/manual.h"
#include "machine/file/fault_kinds.h"
#include "machine/file/numbers.h"
#include "machine/file/value.h"
#include "machine/model/model.h"
#include "machine/store/board.h"
#include "machine/store/gate.h"
#include "machine/store/machine.h"
#include "machine/trouble/fault.h"
#include "machine/words/spec.h"

#include <argp.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How a verb uses the machine. Verbs that only read it work on a copy. */
enum need { NO_MACHINE, LOOKS, CHANGES };

static const struct verb {
	const char *name;
	int min, max; /* arguments */
	enum need need;
	int (*run)(struct ctl *ctl, int argc, char **argv);
	const char *usage;
} verbs[] = {
    {"ls", 0, 0, NO_MACHINE, ctl_ls, "ls"},
    {"show", 0, 1, LOOKS, ctl_show, "show [GPU]"},
    {"topology", 0, 0, LOOKS, ctl_topology, "topology"},
    {"clock", 0, 2, CHANGES, ctl_clock,
     "clock [show | pause | run | step TIME | speed N]"},
    {"set", 1, INT_MAX, CHANGES, ctl_set, "set [GPU] KEY=VALUE..."},
    {"faults", 0, 0, NO_MACHINE, ctl_faults, "faults"},
    {"fail", 1, INT_MAX, CHANGES, ctl_fail, "fail [GPU] WHAT..."},
    {"clear", 1, INT_MAX, CHANGES, ctl_clear, "clear [GPU] [WHAT...]"},
    {"reset", 0, 0, CHANGES, ctl_reset, "reset"},
    {"reset-gpu", 1, 1, CHANGES, ctl_reset_gpu, "reset-gpu GPU"},
    {"mig", 1, 5, CHANGES, ctl_mig,
     "mig GPU [ls | on | off | create LAYOUT [at SLICE] | destroy GI[/CI]]"},
    {"ecc", 1, 4, CHANGES, ctl_ecc, "ecc GPU [KIND LOCATION [COUNT]]"},
    {"coverage", 0, 0, LOOKS, ctl_coverage, "coverage [--by-caller]"},
};

#define VERBS (sizeof verbs / sizeof *verbs)
#define VERB_NAMES                                                             \
	"ls, show, topology, clock, set, faults, fail, clear, reset, "         \
	"reset-gpu, mig, "                                                     \
	"ecc, "                                                                \
	"coverage"

/* ---- ls ---- */

static const char *machine_state_text(const struct fake_machine *machine)
{
	if (machine->err)
		return gk_strerror(machine->err);
	if (!machine->creator)
		return "no launcher";
	if (machine->creator_foreign)
		return "launcher in another pid namespace";
	if (machine->creator_alive)
		return "running";
	return machine->processes ? "launcher dead" : "orphan";
}

/*
 * A machine's name, made printable: the name of its file may contain any
 * characters.
 */
struct shown {
	char name[4 * sizeof(((struct fake_machine *)0)->name)];
};

static struct shown write_state(const struct fake_machine *machine)
{
	struct shown s;

	gk_str_clean(s.name, sizeof s.name, machine->name,
		     strlen(machine->name));
	return s;
}

static struct shown owner_of(const struct fake_machine *machine)
{
	struct shown s;

	fake_user(machine->owner, s.name, sizeof s.name);
	return s;
}

static int ls_json(const struct fake_machine *machines, unsigned count)
{
	json_t *list = json_array();
	int r;

	for (unsigned i = 0; i < count; i++)
		json_array_append_new(
		    list, json_pack("{s:s, s:s, s:i, s:i, s:i, s:s}", "name",
				    write_state(&machines[i]).name, "owner",
				    owner_of(&machines[i]).name, "gpus",
				    (int)machines[i].gpus, "processes",
				    (int)machines[i].processes, "launcher",
				    (int)machines[i].creator, "state",
				    machine_state_text(&machines[i])));
	r = json_dumpf(list, stdout, JSON_INDENT(2));
	json_decref(list);
	putchar('\n');
	return r ? GK_EXIT_FAILURE : GK_EXIT_OK;
}

static void ls_table(const struct fake_machine *machines, unsigned count)
{
	int width = 24;

	for (unsigned i = 0; i < count; i++) {
		int length = (int)strlen(write_state(&machines[i]).name);

		width = length > width ? length : width;
	}
	printf("%-*s %5s %10s %9s  %-12s %s\n", width, "MACHINE", "GPUS",
	       "PROCESSES", "LAUNCHER", "OWNER", "STATE");
	for (unsigned i = 0; i < count; i++)
		printf("%-*s %5u %10u %9d  %-12s %s\n", width,
		       write_state(&machines[i]).name, machines[i].gpus,
		       machines[i].processes, (int)machines[i].creator,
		       owner_of(&machines[i]).name,
		       machine_state_text(&machines[i]));
}

int ctl_ls(struct ctl *ctl, int argc, char **argv)
{
	struct fake_machine *machines;
	unsigned count = fake_machines(&machines);
	int code = GK_EXIT_OK;

	(void)argc, (void)argv;
	if (ctl->json)
		code = ls_json(machines, count);
	else if (!count)
		puts("no machines");
	else
		ls_table(machines, count);
	free(machines);
	return code;
}

/* ---- completion ---- */

/* Adds the literal words of a usage. */
static void add_usage_words(struct gk_completion *answer, const char *usage)
{
	char words[128], *next = words, *word;

	gk_str_copy(words, sizeof words, usage + strcspn(usage, " "));
	while ((word = strsep(&next, " []|/")))
		if (*word >= 'a' && *word <= 'z')
			gk_complete_word(answer, word, NULL);
}

static void add_values(struct gk_completion *answer, const char *after)
{
	char word[64];

	for (int i = 0; i < GKF_V_COUNT; i++) {
		snprintf(word, sizeof word, "%s%s", gkf_values[i].name, after);
		gk_complete_word(answer, word, NULL);
	}
}

static void add_faults(struct gk_completion *answer)
{
	for (int i = 0; i < GKF_FAULT_COUNT; i++)
		gk_complete_word(answer, gkf_faults[i].name,
				 gkf_faults[i].help);
	for (int i = 0; i < GKF_MACHINE_FAULT_COUNT; i++)
		gk_complete_word(answer, gkf_machine_faults[i].name,
				 gkf_machine_faults[i].help);
}

void fake_ctl_words(struct gk_completion *answer, const struct gk_cursor *q)
{
	const char *verb = q->arg_count ? q->args[0] : "";

	for (size_t i = 0; i < VERBS; i++)
		if (!q->arg_count)
			gk_complete_word(answer, verbs[i].name, verbs[i].usage);
		else if (!strcmp(verb, verbs[i].name))
			add_usage_words(answer, verbs[i].usage);
	if (!strcmp(verb, "set"))
		add_values(answer, "=");
	if (!strcmp(verb, "clear"))
		add_values(answer, "");
	if (!strcmp(verb, "fail") || !strcmp(verb, "clear"))
		add_faults(answer);
}

/* ---- the command line ---- */

struct arguments {
	const char *name;
	bool json, by_caller;
	char **args;
	int count;
};

static error_t parse_ctl_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case 'n':
		a->name = arg;
		return 0;
	case 'j':
		a->json = true;
		return 0;
	case 'c':
		a->by_caller = true;
		return 0;
	case ARGP_KEY_ARG:
		if (!a->args)
			a->args = state->argv + state->next - 1;
		/*
		 * The command line may have options after this argument: getopt
		 * moves arguments behind options.
		 */
		a->count++;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no subcommand; allowed are " VERB_NAMES);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int run_verb(const struct verb *verb, const struct arguments *a)
{
	struct ctl ctl = {.json = a->json, .by_caller = a->by_caller};
	char path[PATH_MAX];
	int code;

	if (a->count - 1 < verb->min || a->count - 1 > verb->max)
		return fake_usage("usage: gpukit fake ctl %s", verb->usage);
	if (verb->need == NO_MACHINE)
		return verb->run(&ctl, a->count - 1, a->args + 1);
	code = fake_choose(a->name, path, sizeof path);
	if (!code)
		code = fake_open(path, &ctl.machine);
	if (code)
		return code;
	gkf_scenario_poll(ctl.machine);
	ctl.path = path;
	ctl.file = gkf_machine_file(ctl.machine);
	code = gkf_machine_is_copy(ctl.machine) && verb->need == CHANGES
		   ? fake_refuse_change(path)
		   : verb->run(&ctl, a->count - 1, a->args + 1);
	if (!gkf_machine_is_whole(ctl.machine))
		code = fake_failure("machine %s: its file was truncated while "
				    "in use; remove it",
				    path);
	gkf_machine_close(ctl.machine);
	if (!code && fflush(stdout))
		code = fake_failure("cannot write the output");
	return code;
}

static const struct argp_option options[] = {
    {"name", 'n', "MACHINE", 0, "The machine (GPUKIT_MACHINE, or the only one)",
     0},
    {"json", 'j', NULL, 0, "For ls, show, clock and coverage", 0},
    {"by-caller", 'c', NULL, 0, "For coverage: list refusals by program", 0},
    {0}};

const struct argp fake_ctl_argp = {
    options,
    parse_ctl_option,
    "ls\nshow [GPU]\ntopology\nclock [pause|run|step TIME|speed N]\n"
    "set [GPU] KEY=VALUE...\nfaults\n"
    "fail [GPU] WHAT...\nclear [GPU] [WHAT...]\nreset\n"
    "reset-gpu GPU\nmig GPU [ls|on|off|create LAYOUT [at SLICE]|"
    "destroy GI[/CI]]\necc GPU [KIND LOCATION [COUNT]]\n"
    "coverage [--by-caller]",
    "Shows and changes a running made-up machine; all processes of the "
    "machine see changes at once.\vGPU is an index, a range 0-3, a "
    "list 0,2 or all. KEY is a value that `show` lists "
    "(temperature=95, power=250W, extra-memory=4GiB), nvlink.LINK.WHAT "
    "(nvlink.3.state=down, nvlink.all.crc-data=7), or, for the whole "
    "machine, latency=none|real, latency.FUNCTION=50ms, which delays "
    "one NVML function, conf-compute=off|on|devtools, or "
    "permission=root|all|none: who may change GPUs through NVML. "
    "`fail` injects a fault that `faults` lists (fail 2 lost, fail 0 "
    "pcie=1x4, fail 0 oom=3, fail driver-mismatch), or makes a "
    "function fail: fail [GPU] "
    "nvmlDeviceGetPowerUsage=NVML_ERROR_UNKNOWN [after=N] [times=N] "
    "[probability=P] [seed=N]; =hang never returns. `clear` returns "
    "values to the model and repairs faults; `reset` does so for all "
    "GPUs, and removes added latencies and counts. `reset-gpu` does "
    "what nvidia-smi --gpu-reset does. `ecc` causes memory errors (ecc "
    "0 parity l2 3) and shows them. `clock` shows machine time and the "
    "progress of a scenario, stops time and moves it "
    "on.\n\n" GK_ARG_SIZES,
    NULL,
    NULL,
    NULL};

int fake_ctl(int argc, char **argv)
{
	struct arguments a = {0};

	gk_arg_parse(&fake_ctl_argp, 0, argc, argv, &a);
	for (size_t i = 0; i < VERBS; i++)
		if (!strcmp(verbs[i].name, a.args[0]))
			return run_verb(&verbs[i], &a);
	return fake_usage(
	    "ctl: '%s' is not a subcommand; allowed are " VERB_NAMES,
	    a.args[0]);
}
