/*
 * fake_ctl.c - `gpukit fake ctl`: looks at a running machine and changes it.
 */
#include "cli/fake_ctl.h"

#include "base/err.h"
#include "base/str.h"
#include "cli/cmd.h"

#include <argp.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct verb {
	const char *name;
	int min, max; /* arguments */
	bool no_machine;
	int (*run)(struct ctl *ctl, int argc, char **argv);
	const char *usage;
} verbs[] = {
    {"ls", 0, 0, true, ctl_ls, "ls"},
    {"show", 0, 1, false, ctl_show, "show [GPU]"},
    {"set", 1, INT_MAX, false, ctl_set, "set [GPU] KEY=VALUE..."},
    {"fail", 2, 2, false, ctl_fail, "fail GPU lost"},
    {"clear", 1, INT_MAX, false, ctl_clear, "clear GPU [KEY...]"},
    {"reset", 0, 0, false, ctl_reset, "reset"},
    {"coverage", 0, 0, false, ctl_coverage, "coverage"},
};

#define VERBS (sizeof verbs / sizeof *verbs)

static const char *const functions[] = {
#define NVML(symbol, params) #symbol,
#include "abi/nvml.def"
#undef NVML
};

const unsigned ctl_function_count = sizeof functions / sizeof *functions;

_Static_assert(sizeof functions / sizeof *functions <= GKF_FUNCTIONS_MAX,
	       "a counter for every function");

int ctl_function_row(const char *name)
{
	for (unsigned i = 0; i < ctl_function_count; i++)
		if (!strcmp(functions[i], name))
			return (int)i;
	return -1;
}

const char *ctl_function_name(unsigned row)
{
	return functions[row];
}

int ctl_gpus(struct ctl *ctl, const char *text, uint64_t *ret_mask)
{
	char message[FAKE_MESSAGE_MAX];

	if (fake_parse_list(text, gkf_device_count(ctl->machine), ret_mask,
			    message))
		return fake_usage("ctl: %s", message);
	return 0;
}

int ctl_value(const char *name)
{
	struct gk_buf names = {0};
	int value = gkf_value_by_name(name);

	if (value >= 0)
		return value;
	for (int i = 0; i < GKF_V_COUNT; i++)
		gk_buf_printf(&names, "%s%s", i ? ", " : "",
			      gkf_values[i].name);
	fake_usage("ctl: no value '%s'; there are %s", name,
		   names.data ? names.data : "?");
	gk_buf_free(&names);
	return -1;
}

/* ---- ls ---- */

static const char *state_of(const struct fake_machine *machine)
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

/* A file may bear any name; this is what can be shown of it. */
struct shown {
	char name[4 * sizeof(((struct fake_machine *)0)->name)];
};

static struct shown shown(const struct fake_machine *machine)
{
	struct shown s;

	gk_str_clean(s.name, sizeof s.name, machine->name,
		     strlen(machine->name));
	return s;
}

static int ls_json(const struct fake_machine *machines, unsigned count)
{
	json_t *list = json_array();
	int r;

	for (unsigned i = 0; i < count; i++)
		json_array_append_new(
		    list, json_pack("{s:s, s:i, s:i, s:i, s:s}", "name",
				    shown(&machines[i]).name, "gpus",
				    (int)machines[i].gpus, "processes",
				    (int)machines[i].processes, "launcher",
				    (int)machines[i].creator, "state",
				    state_of(&machines[i])));
	r = json_dumpf(list, stdout, JSON_INDENT(2));
	json_decref(list);
	putchar('\n');
	return r ? GK_EXIT_FAILURE : GK_EXIT_OK;
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
		printf("%-24s %5s %10s %9s  %s\n", "MACHINE", "GPUS",
		       "PROCESSES", "LAUNCHER", "STATE");
	for (unsigned i = 0; !ctl->json && i < count; i++)
		printf("%-24s %5u %10u %9d  %s\n", shown(&machines[i]).name,
		       machines[i].gpus, machines[i].processes,
		       (int)machines[i].creator, state_of(&machines[i]));
	free(machines);
	return code;
}

/* ---- fail, clear, reset ---- */

static int break_or_mend(struct ctl *ctl, uint64_t gpus, enum gkf_fault fault)
{
	int err = 0;

	for (unsigned i = 0; !err && i < gkf_device_count(ctl->machine); i++)
		if (gpus >> i & 1)
			err = gkf_fault_set(ctl->machine, i, fault);
	return err ? fake_failure("ctl: %s", gk_strerror(err)) : 0;
}

int ctl_fail(struct ctl *ctl, int argc, char **argv)
{
	uint64_t gpus;
	int code = ctl_gpus(ctl, argv[0], &gpus);

	(void)argc;
	if (code)
		return code;
	if (strcmp(argv[1], "lost"))
		return fake_usage("ctl fail: '%s' is no failure; allowed is "
				  "lost",
				  argv[1]);
	return break_or_mend(ctl, gpus, GKF_FAULT_LOST);
}

static int unset(struct ctl *ctl, uint64_t gpus, int value)
{
	for (unsigned i = 0; i < gkf_device_count(ctl->machine); i++) {
		int err = 0;

		/* Not through the model where nothing is set: a GPU may lack
		 * the value. */
		if (gpus >> i & 1 &&
		    atomic_load(&ctl->file->device[i].set[value]) != GKF_UNSET)
			err = gkf_value_set(ctl->machine, i,
					    (enum gkf_value)value, GKF_UNSET);
		if (err)
			return fake_failure("ctl: %s: %s",
					    gkf_values[value].name,
					    gk_strerror(err));
	}
	return 0;
}

static int unset_all(struct ctl *ctl, uint64_t gpus)
{
	int code = break_or_mend(ctl, gpus, GKF_FAULT_NONE);

	for (int v = 0; !code && v < GKF_V_COUNT; v++)
		code = unset(ctl, gpus, v);
	return code;
}

int ctl_clear(struct ctl *ctl, int argc, char **argv)
{
	uint64_t gpus;
	int code = ctl_gpus(ctl, argv[0], &gpus);

	if (code)
		return code;
	if (argc == 1)
		return unset_all(ctl, gpus);
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "lost") && ctl_value(argv[i]) < 0)
			return GK_EXIT_USAGE;
	for (int i = 1; !code && i < argc; i++)
		code = strcmp(argv[i], "lost")
			   ? unset(ctl, gpus, gkf_value_by_name(argv[i]))
			   : break_or_mend(ctl, gpus, GKF_FAULT_NONE);
	return code;
}

int ctl_reset(struct ctl *ctl, int argc, char **argv)
{
	(void)argc, (void)argv;
	for (unsigned i = 0; i < GKF_FUNCTIONS_MAX; i++) {
		atomic_store(&ctl->file->extra_ns[i], 0);
		atomic_store(&ctl->file->calls[i], 0);
		atomic_store(&ctl->file->refused[i], 0);
	}
	return unset_all(ctl, ~0ULL);
}

/* ---- coverage ---- */

struct count {
	const char *name;
	uint64_t calls, refused;
};

/* Refused first, then by calls, then by name. */
static int by_weight(const void *left, const void *right)
{
	const struct count *a = left, *b = right;

	if (a->refused != b->refused)
		return a->refused < b->refused ? 1 : -1;
	if (a->calls != b->calls)
		return a->calls < b->calls ? 1 : -1;
	return strcmp(a->name, b->name);
}

static int coverage_json(const struct count *counts, unsigned n)
{
	json_t *list = json_array();
	int r;

	for (unsigned i = 0; i < n; i++)
		json_array_append_new(
		    list,
		    json_pack("{s:s, s:I, s:I}", "function", counts[i].name,
			      "calls", (json_int_t)counts[i].calls, "refused",
			      (json_int_t)counts[i].refused));
	r = json_dumpf(list, stdout, JSON_INDENT(2));
	json_decref(list);
	putchar('\n');
	return r ? GK_EXIT_FAILURE : GK_EXIT_OK;
}

int ctl_coverage(struct ctl *ctl, int argc, char **argv)
{
	struct count counts[GKF_FUNCTIONS_MAX];
	unsigned n = 0;

	(void)argc, (void)argv;
	for (unsigned i = 0; i < ctl_function_count; i++) {
		struct count c = {functions[i],
				  atomic_load(&ctl->file->calls[i]),
				  atomic_load(&ctl->file->refused[i])};

		if (c.calls || c.refused)
			counts[n++] = c;
	}
	qsort(counts, n, sizeof *counts, by_weight);
	if (ctl->json)
		return coverage_json(counts, n);
	if (!n)
		puts("no calls");
	else
		printf("%12s %12s  %s\n", "CALLS", "REFUSED", "FUNCTION");
	for (unsigned i = 0; i < n; i++)
		printf("%12llu %12llu  %s\n",
		       (unsigned long long)counts[i].calls,
		       (unsigned long long)counts[i].refused, counts[i].name);
	return GK_EXIT_OK;
}

/* ---- the command line ---- */

struct arguments {
	const char *name;
	bool json;
	char **args;
	int count;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case 'n':
		a->name = arg;
		return 0;
	case 'j':
		a->json = true;
		return 0;
	case ARGP_KEY_ARG:
		if (!a->args)
			a->args = state->argv + state->next - 1;
		/* Options may follow: permuted arguments are at the end. */
		a->count++;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no verb; allowed are ls, show, set, fail, "
				  "clear, reset, coverage");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int run_verb(const struct verb *verb, const struct arguments *a)
{
	struct ctl ctl = {.json = a->json};
	char path[PATH_MAX];
	int code;

	if (a->count - 1 < verb->min || a->count - 1 > verb->max)
		return fake_usage("usage: gpukit fake ctl %s", verb->usage);
	if (verb->no_machine)
		return verb->run(&ctl, a->count - 1, a->args + 1);
	code = fake_choose(a->name, path, sizeof path);
	if (!code)
		code = fake_open(path, &ctl.machine);
	if (code)
		return code;
	ctl.path = path;
	ctl.file = gkf_machine_file(ctl.machine);
	code = verb->run(&ctl, a->count - 1, a->args + 1);
	gkf_machine_close(ctl.machine);
	if (!code && fflush(stdout))
		code = fake_failure("cannot write the output");
	return code;
}

int fake_ctl(int argc, char **argv)
{
	static const struct argp_option options[] = {
	    {"name", 'n', "MACHINE", 0,
	     "the machine; default: GPUKIT_MACHINE, or the only one", 0},
	    {"json", 'j', NULL, 0, "for ls, show and coverage", 0},
	    {0}};
	static const struct argp argp = {
	    options,
	    parse,
	    "ls\nshow [GPU]\nset [GPU] KEY=VALUE...\nfail GPU lost\n"
	    "clear GPU [KEY...]\nreset\ncoverage",
	    "Looks at a running made-up machine and changes it; every "
	    "process of the machine sees that at once.\v"
	    "GPU is an index, a range 0-3, a list 0,2 or all. KEY is a "
	    "value that `show` lists (temperature=95, power=250W, "
	    "extra-memory=4GiB), or, for the whole machine, "
	    "latency=none|real, or latency.FUNCTION=50ms, which adds to "
	    "the time of one NVML function. `clear` gives values back to "
	    "the model and mends the GPU; `reset` does so for all GPUs, "
	    "and takes back added latencies and counts.",
	    NULL,
	    NULL,
	    NULL};
	struct arguments a = {0};

	argp_parse(&argp, argc, argv, 0, NULL, &a);
	for (size_t i = 0; i < VERBS; i++)
		if (!strcmp(verbs[i].name, a.args[0]))
			return run_verb(&verbs[i], &a);
	return fake_usage("ctl: '%s' is no verb; allowed are ls, show, set, "
			  "fail, clear, reset, coverage",
			  a.args[0]);
}
