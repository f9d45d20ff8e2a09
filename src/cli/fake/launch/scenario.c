/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario.c - finds and compiles scenarios for the launcher; `gpukit fake
 * scenario` checks, lists and shows them.
 */
#include "base/err.h"
#include "base/str.h"
#include "cli/arg.h"
#include "cli/cmd.h"
#include "cli/fake/fake.h"
#include "cli/fake/manual.h"
#include "cli/where.h"
#include "machine/file/ecc_state.h"
#include "machine/file/fault_kinds.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/scenario_state.h"
#include "machine/model/ecc.h"
#include "machine/model/model.h"
#include "machine/trouble/fault.h"
#include "machine/words/scenario_load.h"
#include "machine/words/scenario_yaml.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIRS 3

/*
 * Returns the directories that are searched for scenarios: the user's, then
 * gpukit's. NULL-terminated.
 */
struct scenario_dirs {
	char text[2][PATH_MAX];
	const char *list[DIRS];
};

static void find_scenario_dirs(struct scenario_dirs *p)
{
	const char *own = getenv("GPUKIT_SCENARIOS");
	const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
	unsigned n = 0;

	if (own && *own) {
		p->list[0] = own;
		p->list[1] = NULL;
		return;
	}
	if (data && *data)
		snprintf(p->text[0], PATH_MAX, "%s/gpukit/scenarios", data);
	else
		snprintf(p->text[0], PATH_MAX,
			 "%s/.local/share/gpukit/scenarios", home ? home : "");
	if ((data && *data) || home)
		p->list[n++] = p->text[0];
	if (!gk_where_data("scenarios", p->text[1], PATH_MAX))
		p->list[n++] = p->text[1];
	p->list[n] = NULL;
}

int fake_scenario_load(const char *name,
		       const struct gkf_scenario_options *options,
		       struct gkf_scenario *ret_scenario)
{
	struct gkf_scenario_options wanted = *options;
	char path[PATH_MAX], profiles[PATH_MAX], message[FAKE_MESSAGE_MAX];
	struct scenario_dirs dirs;
	int err;

	find_scenario_dirs(&dirs);
	if (gk_where_profiles(profiles, sizeof profiles))
		return fake_failure("cannot find the profiles; set "
				    "GPUKIT_PROFILES to their directory");
	wanted.profiles = profiles;
	err = gkf_scenario_find(dirs.list, name, path, sizeof path, message,
				sizeof message);
	if (!err)
		err = gkf_scenario_compile(path, &wanted, ret_scenario, message,
					   sizeof message);
	return err ? fake_usage("%s", message) : 0;
}

/* ---- show ---- */

/*
 * A row of the listing. It combines the steps of one kind that one line of the
 * scenario file makes.
 */
struct row {
	uint64_t first, last; /* bins */
	unsigned line, times;
	uint32_t kind, number;
	uint64_t gpus;
	int64_t from, to;
	const char *text;
};

static void add_step(struct row *rows, unsigned *count,
		     const struct gkf_scenario *s, unsigned i)
{
	const struct gkf_step *step = &s->steps[i];
	struct row *row = NULL;

	for (unsigned k = *count; k-- && !row;)
		if (rows[k].line == s->lines[i] && rows[k].kind == step->kind &&
		    rows[k].number == step->number)
			row = &rows[k];
	if (!row) {
		row = &rows[(*count)++];
		*row = (struct row){
		    .first = step->bin,
		    .line = s->lines[i],
		    .kind = step->kind,
		    .number = step->number,
		    .from = step->argument,
		    .text = s->texts.data ? s->texts.data + step->text : ""};
	}
	row->times += row->last != step->bin || !row->times;
	row->last = step->bin;
	row->to = step->argument;
	if (step->device < 64)
		row->gpus |= 1ULL << step->device;
}

static void print_time(const struct gkf_scenario *s, uint64_t bin)
{
	double at = ((double)bin - (double)s->begin) / GKF_BINS_PER_S;

	printf("%9.1f ", at < 0 ? 0 : at);
}

/* Prints indices such as "0-3,7". */
static void print_gpus(uint64_t gpus)
{
	char text[256] = "";
	size_t n = 0;

	for (unsigned i = 0; i < 64 && n < sizeof text - 8; i++) {
		unsigned end = i;

		if (!(gpus >> i & 1))
			continue;
		while (end < 63 && gpus >> (end + 1) & 1)
			end++;
		n += (size_t)snprintf(text + n, sizeof text - n, "%s%u",
				      n ? "," : "", i);
		if (end > i)
			n += (size_t)snprintf(text + n, sizeof text - n, "-%u",
					      end);
		i = end;
	}
	printf("%-6s ", text);
}

static void print_set(const struct gkf_scenario *s, const struct row *row)
{
	const struct gkf_value_info *info = &gkf_values[row->number];

	if (row->to == GKF_UNSET) {
		printf("clear %s", info->name);
		return;
	}
	printf("%s ", info->name);
	if (row->times > 1)
		printf("%lld to ", (long long)row->from);
	printf("%lld%s%s", (long long)row->to, *info->unit ? " " : "",
	       info->unit);
	if (row->times > 1) {
		printf(" until ");
		print_time(s, row->last);
	}
}

static void print_mend(const struct row *row)
{
	if (row->to == -1) {
		printf("clear all");
		return;
	}
	for (int i = 0; i < GKF_FAULT_COUNT; i++)
		if ((uint64_t)row->to >> i & 1)
			printf("clear %s", gkf_faults[i].name);
}

static void print_fault_row(const struct row *row)
{
	const struct gkf_fault_info *info = &gkf_faults[row->number];

	printf("fail %s", info->name);
	if (info->argument == GKF_ARGUMENT_PCIE)
		printf("=%lldx%lld", (long long)row->to >> 8,
		       (long long)row->to & 0xff);
	else if (info->argument != GKF_ARGUMENT_NOTHING)
		printf("=%lld", (long long)row->to);
}

static void print_what(const struct gkf_scenario *s, const struct row *row)
{
	switch ((enum gkf_step_kind)row->kind) {
	case GKF_STEP_NOTE:
		printf("-- %s", row->text);
		break;
	case GKF_STEP_SET:
		print_set(s, row);
		break;
	case GKF_STEP_FAULT:
		print_fault_row(row);
		break;
	case GKF_STEP_MEND:
		print_mend(row);
		break;
	case GKF_STEP_XID:
		printf("xid %u", row->number);
		break;
	case GKF_STEP_ECC:
		printf("%lld %s errors of %s", (long long)row->to,
		       row->number >> 16 == GKF_ECC_CORRECTED ? "corrected"
							      : "uncorrected",
		       gkf_ecc_location_name(row->number & 0xffff));
		break;
	case GKF_STEP_RESET:
		printf("reset");
		break;
	case GKF_STEP_MACHINE_FAULT:
		printf("%s %s", row->to ? "fail" : "clear",
		       gkf_machine_faults[row->number].name);
		break;
	case GKF_STEP_RULE:
		printf("%s fails", gkf_rule_function(row->number));
		break;
	case GKF_STEP_RULE_DROP:
		printf("clear %s", row->number == UINT32_MAX
				       ? "rules"
				       : gkf_rule_function(row->number));
		break;
	case GKF_STEP_MIG_MODE:
		printf("mig %s", row->to ? "on" : "off");
		break;
	case GKF_STEP_MIG_CREATE:
		printf("mig create %s", row->text);
		break;
	case GKF_STEP_MIG_DESTROY:
		if (row->number == UINT32_MAX)
			printf("mig destroy all");
		else
			printf("mig destroy %u", row->number);
		break;
	case GKF_STEP_MEMORY:
		printf("load %u holds %.1f GiB", row->number,
		       (double)row->to / (1024.0 * 1024 * 1024));
		break;
	case GKF_STEP_PLACE:
	case GKF_STEP_KINDS:
		break;
	}
	if (row->times > 1 && row->kind != GKF_STEP_SET &&
	    row->kind != GKF_STEP_MEMORY)
		printf(", %u times until %.1f", row->times,
		       ((double)row->last - (double)s->begin) / GKF_BINS_PER_S);
}

static void print_loads(const struct gkf_scenario *s)
{
	for (unsigned i = 0; i < s->load_count; i++) {
		const struct gkf_scenario_load *l = &s->loads[i];

		print_time(s, l->wave.start_bin);
		printf("%-6u load %s", l->device, l->name);
		if (l->mig != GKF_LOAD_NO_MIG)
			printf(" in MIG device %u", l->mig);
		if (l->wave.stop_bin < GKF_SCENARIO_FOREVER)
			printf(" until %.1f",
			       ((double)l->wave.stop_bin - (double)s->begin) /
				   GKF_BINS_PER_S);
		putchar('\n');
	}
}

static int show_scenario(const char *name)
{
	struct gkf_scenario_options options = {.warm_up_ns = 1000000000};
	struct gkf_scenario s;
	struct row *rows;
	unsigned count = 0;
	int code = fake_scenario_load(name, &options, &s);

	if (code)
		return code;
	rows = calloc(s.step_count + 1, sizeof *rows);
	if (!rows) {
		gkf_scenario_free(&s);
		return fake_failure("out of memory");
	}
	for (unsigned i = 0; i < s.step_count; i++)
		add_step(rows, &count, &s, i);
	printf("%s: %s\n%u GPUs, %.0f s of machine time, %u load processes, "
	       "%u steps\n\n  SECONDS GPU\n",
	       s.name, s.description, s.device_count,
	       (double)s.duration / GKF_BINS_PER_S, s.load_count, s.step_count);
	print_loads(&s);
	for (unsigned i = 0; i < count; i++) {
		if (rows[i].kind == GKF_STEP_PLACE)
			continue;
		print_time(&s, rows[i].first);
		print_gpus(rows[i].gpus);
		print_what(&s, &rows[i]);
		putchar('\n');
	}
	free(rows);
	gkf_scenario_free(&s);
	return GK_EXIT_OK;
}

/* ---- check, ls ---- */

static bool splits_gpus(const struct gkf_scenario *s)
{
	for (unsigned i = 0; i < s->step_count; i++)
		if (s->steps[i].kind == GKF_STEP_MIG_MODE)
			return true;
	return false;
}

static int check_scenario(const char *name)
{
	struct gkf_scenario_options options = {0};
	struct gkf_scenario s;
	int code = fake_scenario_load(name, &options, &s);

	if (code)
		return code;
	printf("%s: ok: %u GPUs, %.0f s, %u steps, %u load processes\n", name,
	       s.device_count, (double)s.duration / GKF_BINS_PER_S,
	       s.step_count, s.load_count);
	gkf_scenario_free(&s);
	return GK_EXIT_OK;
}

/*
 * Prints "NAME, 4 x H100 80GB HBM3, 10 min": the GPUs that the scenario creates
 * by default, and how long it lasts.
 */
static void print_needs(const struct gkf_scenario *s)
{
	const char *model = s->device_count ? s->profiles[0].name : "";
	char gpus[GKF_NAME_MAX + 16];

	for (unsigned i = 1; i < s->device_count; i++)
		if (strcmp(s->profiles[i].name, model))
			model = "GPUs of several models";
	if (!strncmp(model, "NVIDIA ", 7))
		model += 7;
	snprintf(gpus, sizeof gpus, "%u x %s%s", s->device_count, model,
		 splits_gpus(s) ? ", MIG" : "");
	printf("%-16s %-26s %4.0f min", s->name, gpus,
	       (double)s->duration / GKF_BINS_PER_S / 60);
	if (*s->driver)
		printf(", driver %s", s->driver);
}

static int list_scenarios(void)
{
	struct scenario_dirs dirs;
	struct gk_buf paths = {0};
	int code = GK_EXIT_OK;

	find_scenario_dirs(&dirs);
	gkf_scenario_list(dirs.list, &paths);
	for (size_t at = 0; at < paths.len; at += strlen(paths.data + at) + 1) {
		struct gkf_scenario_options options = {0};
		struct gkf_scenario s;

		if (fake_scenario_load(paths.data + at, &options, &s)) {
			code = GK_EXIT_FAILURE;
			continue;
		}
		print_needs(&s);
		printf("  %s\n", s.description);
		gkf_scenario_free(&s);
	}
	gk_buf_free(&paths);
	return code;
}

/* Adds the last part of each path, without ".yaml". */
void fake_scenario_names(struct gk_completion *answer)
{
	struct scenario_dirs dirs;
	struct gk_buf paths = {0};

	find_scenario_dirs(&dirs);
	gkf_scenario_list(dirs.list, &paths);
	for (size_t at = 0; at < paths.len; at += strlen(paths.data + at) + 1) {
		const char *slash = strrchr(paths.data + at, '/');
		char name[NAME_MAX + 1];
		char *end;

		gk_str_copy(name, sizeof name,
			    slash ? slash + 1 : paths.data + at);
		end = strstr(name, ".yaml");
		if (end)
			*end = '\0';
		gk_complete_word(answer, name, "a scenario");
	}
	gk_buf_free(&paths);
}

/* The words after the options. */
struct scenario_words {
	char **all;
	int count;
};

static error_t parse_scenario_option(int key, char *arg,
				     struct argp_state *state)
{
	struct scenario_words *words = state->input;

	(void)arg;
	if (key != ARGP_KEY_ARGS)
		return ARGP_ERR_UNKNOWN;
	words->all = state->argv + state->next;
	words->count = state->argc - state->next;
	return 0;
}

const struct argp fake_scenario_argp = {
    .parser = parse_scenario_option,
    .args_doc = "ls\nshow NAME\ncheck FILE...",
    .doc =
	"Lists the scenarios of `gpukit fake --scenario`, shows what happens "
	"in one and when, or checks files of your own.\vExit status: 0; 1 if "
	"a scenario has an error; 2 for wrong usage.\n\n"
	"Environment: GPUKIT_SCENARIOS replaces gpukit's directory of "
	"scenarios.",
};

int fake_scenario(int argc, char **argv)
{
	struct scenario_words words = {0};
	const char *verb;
	int code = GK_EXIT_OK;

	gk_arg_parse(&fake_scenario_argp, ARGP_IN_ORDER, argc, argv, &words);
	verb = words.count ? words.all[0] : "";
	if (words.count == 1 && !strcmp(verb, "ls"))
		code = list_scenarios();
	else if (words.count == 2 && !strcmp(verb, "show"))
		code = show_scenario(words.all[1]);
	else if (words.count >= 2 && !strcmp(verb, "check"))
		for (int i = 1; !code && i < words.count; i++)
			code = check_scenario(words.all[i]);
	else
		return fake_usage("usage: gpukit fake scenario ls | show NAME "
				  "| check FILE...");
	if (!code && fflush(stdout))
		code = fake_failure("cannot write the output");
	return code;
}
