/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fail.c - `gpukit fake ctl fail`, `clear`, `reset` and `reset-gpu`: injects
 * faults into GPUs, functions and the machine, and repairs them.
 */
#include "base/err.h"
#include "base/str.h"
#include "cli/cmd.h"
#include "cli/fake/ctl/ctl.h"
#include "machine/file/board.h"
#include "machine/file/fault_kinds.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/value.h"
#include "machine/model/link.h"
#include "machine/model/model.h"
#include "machine/store/board.h"
#include "machine/store/coverage.h"
#include "machine/store/process/processes.h"
#include "machine/trouble/fault.h"
#include "machine/trouble/fault_text.h"
#include "machine/trouble/reset.h"
#include "machine/trouble/rule.h"
#include "machine/words/rule_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MILLION 1000000

bool ctl_names_gpus(const char *text)
{
	return !strcmp(text, "all") || (*text >= '0' && *text <= '9');
}

/* ---- faults ---- */

int ctl_faults(struct ctl *ctl, int argc, char **argv)
{
	(void)ctl, (void)argc, (void)argv;
	for (int i = 0; i < GKF_FAULT_COUNT; i++)
		printf("%-20s %s\n", gkf_faults[i].name, gkf_faults[i].help);
	puts("\nof the whole machine:");
	for (int i = 0; i < GKF_MACHINE_FAULT_COUNT; i++)
		printf("%-20s %s\n", gkf_machine_faults[i].name,
		       gkf_machine_faults[i].help);
	puts("\nXids, as in xid=48:");
	for (unsigned i = 0; i < gkf_xid_count; i++)
		printf("xid=%-16u %s%s%s\n", gkf_xids[i].number,
		       gkf_xids[i].name,
		       gkf_xids[i].becomes < 0 ? "" : "; the GPU is left with ",
		       gkf_xids[i].becomes < 0
			   ? ""
			   : gkf_faults[gkf_xids[i].becomes].name);
	return GK_EXIT_OK;
}

/* ---- fail ---- */

enum what { A_BREAKAGE, A_RULE, A_MACHINE_FAULT };

/* One fault to inject. */
struct failure {
	enum what what;
	struct gkf_breakage breakage;
	struct gkf_rule_spec rule;
	enum gkf_machine_fault machine_fault;
};

/*
 * Options such as after=3. They apply to all faults that one command line
 * injects into functions.
 */
struct bounds {
	uint64_t after, times, seed;
	unsigned per_million;
	bool given;
};

static int refuse_fault_name(const char *text)
{
	struct gk_buf names = {0};

	for (int i = 0; i < GKF_FAULT_COUNT; i++)
		gk_buf_printf(&names, "%s, ", gkf_faults[i].name);
	gk_buf_puts(&names, "xid=N");
	for (int i = 0; i < GKF_MACHINE_FAULT_COUNT; i++)
		gk_buf_printf(&names, ", %s", gkf_machine_faults[i].name);
	fake_tell(
	    "ctl: '%s' is not a fault; allowed are %s, or FUNCTION=ANSWER, as "
	    "in nvmlDeviceGetPowerUsage=NVML_ERROR_UNKNOWN",
	    text, names.data ? names.data : "?");
	gk_buf_free(&names);
	return GK_EXIT_USAGE;
}

static int parse_rule(const char *text, struct failure *ret)
{
	const char *equals = strchr(text, '=');
	char name[128];
	int row, answer;

	gk_str_copy(name, sizeof name, text);
	name[strcspn(name, "=")] = '\0';
	row = ctl_function_row(name);
	if (row < 0)
		return fake_usage("ctl: no function '%s'", name);
	if (!equals || !gkf_rule_answer(equals + 1, &answer))
		return fake_usage("ctl fail: %s: must be a code such as "
				  "NVML_ERROR_UNKNOWN, or hang",
				  text);
	ret->what = A_RULE;
	ret->rule =
	    (struct gkf_rule_spec){.function = (unsigned)row, .answer = answer};
	return 0;
}

static int parse_failure(const char *text, struct failure *ret)
{
	char allowed[GKF_FAULT_TEXT_MAX];
	int fault = gkf_machine_fault_by_name(text);
	int err;

	if (fault >= 0) {
		ret->what = A_MACHINE_FAULT;
		ret->machine_fault = (enum gkf_machine_fault)fault;
		return 0;
	}
	if (!strncmp(text, "nvml", 4))
		return parse_rule(text, ret);
	ret->what = A_BREAKAGE;
	err = gkf_fault_parse(text, &ret->breakage, allowed);
	if (err == GK_ERR_NOT_FOUND)
		return refuse_fault_name(text);
	return err ? fake_usage("ctl fail: %s: must be %s", text, allowed) : 0;
}

static int parse_probability(const char *text, unsigned *ret_per_million)
{
	char *end;
	double p = strtod(text, &end);

	if (end != text && !strcmp(end, "%"))
		p /= 100;
	else if (end == text || *end)
		return GK_ERR_INVALID;
	if (!(p >= 0 && p <= 1))
		return GK_ERR_RANGE;
	*ret_per_million = (unsigned)(p * MILLION + 0.5);
	return 0;
}

/* Parses an option such as "after=3". Returns false if it is something else. */
static bool parse_bound(const char *text, struct bounds *b, int *ret_code)
{
	struct {
		const char *name;
		uint64_t *to;
	} const numbers[] = {
	    {"after=", &b->after}, {"times=", &b->times}, {"seed=", &b->seed}};
	int64_t number;

	*ret_code = 0;
	if (!strncmp(text, "probability=", 12)) {
		b->given = true;
		if (parse_probability(text + 12, &b->per_million))
			*ret_code = fake_usage("ctl fail: %s: must be 0 to 1, "
					       "or a percentage",
					       text);
		return true;
	}
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		size_t len = strlen(numbers[i].name);

		if (strncmp(text, numbers[i].name, len))
			continue;
		b->given = true;
		if (gk_parse_int(text + len, &number) || number < 0)
			*ret_code = fake_usage("ctl fail: %s: must be a "
					       "number from 0",
					       text);
		else
			*numbers[i].to = (uint64_t)number;
		return true;
	}
	return false;
}

static int break_gpus(struct ctl *ctl, uint64_t gpus,
		      const struct gkf_breakage *breakage)
{
	for (unsigned i = 0; i < gkf_device_count(ctl->machine); i++) {
		int err = 0;

		if (gpus >> i & 1)
			err = gkf_break(ctl->machine, i, breakage);
		if (err == GK_ERR_NOT_SUPPORTED)
			return fake_failure(
			    "ctl fail: GPU %u (%s) cannot have this fault: it "
			    "lacks the part, or the part is off",
			    i, gkf_board(ctl->machine, i)->profile.name);
		if (err == GK_ERR_NOT_FOUND)
			return fake_failure("ctl fail: GPU %u has no such MIG "
					    "instance",
					    i);
		if (err)
			return fake_failure("ctl fail: GPU %u: %s", i,
					    gk_strerror(err));
	}
	return 0;
}

static int let_fail(struct ctl *ctl, uint64_t gpus, struct failure *failure,
		    const struct bounds *b)
{
	int err = 0;

	switch (failure->what) {
	case A_BREAKAGE:
		return break_gpus(ctl, gpus, &failure->breakage);
	case A_MACHINE_FAULT:
		err = gkf_machine_fault_set(ctl->machine,
					    failure->machine_fault, true);
		break;
	case A_RULE:
		failure->rule.gpus = gpus;
		failure->rule.after = b->after;
		failure->rule.times = b->times;
		failure->rule.seed = b->seed;
		failure->rule.per_million = b->per_million;
		err = gkf_rule_add(ctl->machine, &failure->rule);
		break;
	}
	return err ? fake_failure("ctl fail: %s", gk_strerror(err)) : 0;
}

static int parse_failures(int argc, char **argv, bool has_gpus,
			  struct failure *failures, int *count,
			  struct bounds *bounds)
{
	int code = 0;
	bool rules = false;

	for (int i = has_gpus; !code && i < argc; i++) {
		if (parse_bound(argv[i], bounds, &code))
			continue;
		code = parse_failure(argv[i], &failures[*count]);
		if (!code && !has_gpus && failures[*count].what == A_BREAKAGE)
			code = fake_usage("ctl fail: no GPU; use `ctl fail 0 "
					  "%s` or `ctl fail all %s`",
					  argv[i], argv[i]);
		rules |= failures[*count].what == A_RULE;
		(*count)++;
	}
	if (!code && !*count)
		code = fake_usage("usage: gpukit fake ctl fail [GPU] WHAT...");
	if (!code && bounds->given && !rules)
		code = fake_usage("ctl fail: after, times, probability and "
				  "seed are for FUNCTION=ANSWER");
	return code;
}

int ctl_fail(struct ctl *ctl, int argc, char **argv)
{
	struct failure *failures = calloc((size_t)argc, sizeof *failures);
	struct bounds bounds = {.per_million = MILLION};
	bool has_gpus = ctl_names_gpus(argv[0]);
	uint64_t gpus = ~0ULL;
	int code = 0, n = 0;

	if (!failures)
		return fake_failure("out of memory");
	/* With `all`, calls that concern no GPU fail too. */
	if (has_gpus && strcmp(argv[0], "all"))
		code = ctl_gpus(ctl, argv[0], &gpus);
	if (!code)
		code =
		    parse_failures(argc, argv, has_gpus, failures, &n, &bounds);
	for (int i = 0; !code && i < n; i++)
		code = let_fail(ctl, gpus, &failures[i], &bounds);
	free(failures);
	return code;
}

/* ---- clear, reset ---- */

static int mend_faults(struct ctl *ctl, uint64_t gpus, uint64_t faults)
{
	int err = 0;

	for (unsigned i = 0; !err && i < gkf_device_count(ctl->machine); i++)
		if (gpus >> i & 1)
			err = gkf_fault_end(ctl->machine, i, faults);
	return err ? fake_failure("ctl: %s", gk_strerror(err)) : 0;
}

static int unset_value(struct ctl *ctl, uint64_t gpus, int value)
{
	for (unsigned i = 0; i < gkf_device_count(ctl->machine); i++) {
		int err = 0;

		/*
		 * Skips values that are not set: the model refuses to clear a
		 * value that the GPU lacks.
		 */
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

static int drop_rules(struct ctl *ctl, int function, uint64_t gpus)
{
	int err = gkf_rules_drop(ctl->machine, function, gpus);

	return err ? fake_failure("ctl: %s", gk_strerror(err)) : 0;
}

static int clear_gpus(struct ctl *ctl, uint64_t gpus)
{
	int code = mend_faults(ctl, gpus, ~0ULL);

	for (int v = 0; !code && v < GKF_V_COUNT; v++)
		code = unset_value(ctl, gpus, v);
	for (unsigned i = 0; !code && i < gkf_device_count(ctl->machine); i++)
		if (gpus >> i & 1 && gkf_links_clear(ctl->machine, i))
			code = fake_failure("ctl: GPU %u: its NVLinks cannot "
					    "be cleared",
					    i);
	return code ? code : drop_rules(ctl, -1, gpus);
}

static int clear_machine(struct ctl *ctl)
{
	for (int i = 0; i < GKF_MACHINE_FAULT_COUNT; i++)
		gkf_machine_fault_set(ctl->machine, (enum gkf_machine_fault)i,
				      false);
	return clear_gpus(ctl, ~0ULL);
}

/*
 * Returns whether a word names something that can be cleared; if not, prints a
 * message.
 */
static bool is_clearable(const char *name, bool has_gpus)
{
	if (gkf_machine_fault_by_name(name) >= 0 || ctl_function_row(name) >= 0)
		return true;
	if (!has_gpus) {
		fake_tell("ctl clear: no GPU; use `ctl clear 0 %s` or `ctl "
			  "clear all %s`",
			  name, name);
		return false;
	}
	return gkf_fault_by_name(name) >= 0 || ctl_value(name) >= 0;
}

/*
 * Clears everything that has that name. If a fault and a value share the name,
 * clears both.
 */
static int clear_one(struct ctl *ctl, uint64_t gpus, const char *name)
{
	int machine_fault = gkf_machine_fault_by_name(name);
	int function = ctl_function_row(name);
	int fault = gkf_fault_by_name(name), value = gkf_value_by_name(name);
	int code = 0;

	if (machine_fault >= 0)
		gkf_machine_fault_set(
		    ctl->machine, (enum gkf_machine_fault)machine_fault, false);
	if (function >= 0)
		code = drop_rules(ctl, function, gpus);
	if (!code && fault >= 0)
		code = mend_faults(ctl, gpus, GKF_FAULT_BIT(fault));
	if (!code && value >= 0)
		code = unset_value(ctl, gpus, value);
	return code;
}

int ctl_clear(struct ctl *ctl, int argc, char **argv)
{
	bool has_gpus = ctl_names_gpus(argv[0]);
	uint64_t gpus = ~0ULL;
	int code = 0;

	if (has_gpus && strcmp(argv[0], "all"))
		code = ctl_gpus(ctl, argv[0], &gpus);
	if (!code && has_gpus && argc == 1)
		return gpus == ~0ULL ? clear_machine(ctl)
				     : clear_gpus(ctl, gpus);
	for (int i = has_gpus; !code && i < argc; i++)
		if (!is_clearable(argv[i], has_gpus))
			return GK_EXIT_USAGE;
	for (int i = has_gpus; !code && i < argc; i++)
		code = clear_one(ctl, gpus, argv[i]);
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
	for (unsigned i = 0; i < GKF_CUDA_FUNCTIONS_MAX; i++) {
		atomic_store(&ctl->file->cuda_calls[i], 0);
		atomic_store(&ctl->file->cuda_refused[i], 0);
	}
	gkf_refusals_forget(ctl->machine);
	return clear_machine(ctl);
}

/* ---- reset-gpu ---- */

static int check_idle(struct ctl *ctl, unsigned gpu)
{
	unsigned processes = 0;

	gkf_processes(ctl->machine, gpu, ~0U, NULL, 0, &processes);
	if (processes)
		return fake_failure("ctl reset-gpu: GPU %u is in use by %u "
				    "process%s; end them first",
				    gpu, processes, processes == 1 ? "" : "es");
	if (gkf_fault_active(ctl->machine, gpu, GKF_FAULT_FALLEN))
		return fake_failure("ctl reset-gpu: GPU %u has fallen off the "
				    "bus; only `ctl clear %u fallen`, which "
				    "simulates a reboot, brings it back",
				    gpu, gpu);
	return 0;
}

int ctl_reset_gpu(struct ctl *ctl, int argc, char **argv)
{
	uint64_t gpus;
	int code = ctl_gpus(ctl, argv[0], &gpus);

	(void)argc;
	for (unsigned i = 0; !code && i < gkf_device_count(ctl->machine); i++)
		if (gpus >> i & 1)
			code = check_idle(ctl, i);
	for (unsigned i = 0; !code && i < gkf_device_count(ctl->machine); i++) {
		int err = 0;

		if (gpus >> i & 1)
			err = gkf_device_reset(ctl->machine, i);
		if (!err && gpus >> i & 1)
			err = gkf_fault_reset(ctl->machine, i);
		if (err)
			code = fake_failure("ctl reset-gpu: GPU %u: %s", i,
					    gk_strerror(err));
	}
	return code;
}
