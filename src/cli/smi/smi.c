/* SPDX-License-Identifier: Apache-2.0 */
/* smi.c - `gpukit smi`: parses the options as nvidia-smi does. */
#include "cli/smi/set.h"
#include "base/array.h"
#include "base/clock.h"
#include "cli/cmd.h"
#include "cli/smi/direct.h"
#include "cli/smi/names.h"
#include "cli/smi/tell.h"
#include "format/smi/log.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int take_ids(struct smi *smi, const char *arg)
{
	smi->ids = arg;
	return 0;
}

static int take_file(struct smi *smi, const char *arg)
{
	smi->file = arg;
	return 0;
}

/* Parses a period: a whole number of units, at least one. */
static int parse_period(struct smi *smi, const char *arg, uint64_t unit)
{
	uint64_t value;

	if (!smi_parse_number(arg, 86400000, &value) || !value)
		return smi_refuse_arguments();
	smi->period_ns = value * unit;
	return 0;
}

/* Parses seconds. The argument of -l is optional. */
static int take_loop(struct smi *smi, const char *arg)
{
	return parse_period(smi, arg ? arg : "5", GK_NS_PER_S);
}

static int take_loop_ms(struct smi *smi, const char *arg)
{
	return parse_period(smi, arg, GK_NS_PER_MS);
}

static int take_count(struct smi *smi, const char *arg)
{
	if (!smi_parse_number(arg, INT64_MAX, &smi->count) || !smi->count)
		return smi_refuse_arguments();
	return 0;
}

static int take_format(struct smi *smi, const char *arg)
{
	static const char *const words[] = {"csv", "noheader", "nounits"};
	bool *const flags[] = {&smi->csv, &smi->titles, &smi->units};

	for (size_t len; *arg; arg += len + (arg[len] == ',')) {
		size_t i = 0;

		arg += strspn(arg, " ");
		len = strcspn(arg, ",");
		while (i < COUNT(words) && (strlen(words[i]) != len ||
					    strncmp(words[i], arg, len) != 0))
			i++;
		if (i == COUNT(words)) {
			printf("\"%.*s\" is not a valid format option.\n\n",
			       (int)len, arg);
			return SMI_INVALID;
		}
		*flags[i] = i == 0;
	}
	return 0;
}

static int take_sections(struct smi *smi, const char *arg)
{
	for (size_t len; *arg; arg += len + (arg[len] == ',')) {
		const struct gk_smi_section *section = gk_smi_sections;

		len = strcspn(arg, ",");
		while (section->name &&
		       (strlen(section->name) != len ||
			strncasecmp(section->name, arg, len) != 0))
			section++;
		if (!section->name)
			return smi_refuse_arguments();
		smi->sections |= section->bit;
	}
	return 0;
}

static int take_groups(struct smi *smi, const char *arg)
{
	const char *known =
	    smi->mode == SMI_PMON ? GK_SMI_PMON_GROUPS : GK_SMI_DMON_GROUPS;

	if (!*arg || strspn(arg, known) != strlen(arg))
		return smi_refuse_arguments();
	smi->mon.groups = arg;
	return 0;
}

static int take_moment(struct smi *smi, const char *arg)
{
	for (; *arg; arg++) {
		if (*arg != 'D' && *arg != 'T')
			return smi_refuse_arguments();
		smi->mon.moment |=
		    *arg == 'D' ? GK_SMI_WITH_DATE : GK_SMI_WITH_TIME;
	}
	return 0;
}

/*
 * Takes a word off a list of words with commas between them; one that is too
 * long becomes empty. Returns whether another one follows.
 */
static bool next_word(const char **list, char ret_word[32])
{
	size_t len = strcspn(*list, ",");
	bool more = (*list)[len] == ',';

	snprintf(ret_word, 32, "%.*s", len < 32 ? (int)len : 0, *list);
	*list += len + more;
	return more;
}

/* The metrics of dmon that are computed from samples, by NVML's numbers. */
static int take_gpm_metrics(struct smi *smi, const char *arg)
{
	struct gk_smi_gpm_column column;
	char word[32];
	uint64_t id;
	bool more;

	if (smi->mode != SMI_DMON)
		return smi_refuse_unknown("--gpm-metrics");
	smi->mon.gpm_count = 0;
	do {
		more = next_word(&arg, word);
		if (!smi_parse_number(word, UINT32_MAX, &id) ||
		    !gk_smi_gpm_column((unsigned)id, &column) ||
		    smi->mon.gpm_count == GK_SMI_GPM_MAX)
			return smi_refuse_arguments();
		smi->mon.gpm[smi->mon.gpm_count++] = (unsigned)id;
	} while (more);
	return 0;
}

/* d: of GPUs. The columns that MIG devices have (m, dm, md) are not public. */
static int take_gpm_level(struct smi *smi, const char *arg)
{
	if (smi->mode != SMI_DMON)
		return smi_refuse_unknown("--gpm-options");
	if (!strcmp(arg, "d"))
		return 0;
	if (strcmp(arg, "m") != 0 && strcmp(arg, "dm") != 0 &&
	    strcmp(arg, "md") != 0)
		return smi_refuse_arguments();
	puts("GPM metrics of MIG devices are not supported.");
	return SMI_UNSUPPORTED;
}

static int take_mon_format(struct smi *smi, const char *arg)
{
	static const char *const words[] = {"csv", "noheader", "nounit"};
	bool *const flags[] = {&smi->mon.csv, &smi->mon.no_titles,
			       &smi->mon.no_units};
	char word[32];
	bool more;

	if (smi->mode != SMI_DMON)
		return smi_refuse_unknown("--format");
	do {
		size_t i = 0;

		more = next_word(&arg, word);
		while (i < COUNT(words) && strcmp(words[i], word) != 0)
			i++;
		if (i == COUNT(words))
			return smi_refuse_arguments();
		*flags[i] = true;
	} while (more);
	return 0;
}

/*
 * Sets what to print. Refuses the option if an earlier option has set something
 * else to print.
 */
static int choose_smi_mode(struct smi *smi, enum smi_mode mode)
{
	if (smi->mode != SMI_TABLE && smi->mode != mode)
		return smi_refuse_arguments();
	smi->mode = mode;
	return 0;
}

#define CHOOSE(name, mode)                                                     \
	static int take_##name(struct smi *smi, const char *arg)               \
	{                                                                      \
		(void)arg;                                                     \
		return choose_smi_mode(smi, mode);                             \
	}
CHOOSE(help, SMI_HELP)
CHOOSE(version, SMI_VERSION)
CHOOSE(list, SMI_LIST)
CHOOSE(columns, SMI_COLUMNS)
CHOOSE(log, SMI_LOG)
CHOOSE(matrix, SMI_TOPOLOGY)

/* Chooses a verb that uses the driver directly. */
static int choose_direct(struct smi *smi, smi_direct *direct)
{
	if (smi->direct)
		return smi_refuse_arguments();
	smi->direct = direct;
	return choose_smi_mode(smi, SMI_DIRECT);
}

static int take_eow(struct smi *smi, const char *arg)
{
	(void)arg;
	smi->eow = true;
	return 0;
}

static int take_scope(struct smi *smi, const char *arg)
{
	bool module = !strcmp(arg, "1") || !strcasecmp(arg, "TOTAL_MODULE");

	if (!module && strcmp(arg, "0") != 0 && strcasecmp(arg, "GPU") != 0)
		return smi_refuse_arguments();
	smi->scoped = true;
	smi->setting.scope = module;
	return 0;
}

static int take_lock_mode(struct smi *smi, const char *arg)
{
	if (strcmp(arg, "0") != 0 && strcmp(arg, "1") != 0)
		return smi_refuse_arguments();
	smi->moded = true;
	smi->setting.mode = *arg == '1';
	return 0;
}

static int take_led(struct smi *smi, const char *arg)
{
	smi->value = arg;
	return choose_direct(smi, smi_led);
}

/* What cannot be done is not taken for something else. */
static int take_debug(struct smi *smi, const char *arg)
{
	(void)smi;
	(void)arg;
	puts("Debug information is not supported.");
	return SMI_UNSUPPORTED;
}

static int take_all_processes(struct smi *smi, const char *arg)
{
	(void)smi;
	(void)arg;
	puts("Processes without a context are not supported.");
	return SMI_UNSUPPORTED;
}

/* Drivers since 590 also know the kind of reset "bus". */
static int take_reset(struct smi *smi, const char *arg)
{
	if (arg && strcmp(arg, "bus") != 0)
		return smi_refuse_arguments();
	return choose_direct(smi, smi_reset);
}

static int take_excluded(struct smi *smi, const char *arg)
{
	(void)arg;
	return choose_direct(smi, smi_excluded);
}

static int take_unit(struct smi *smi, const char *arg)
{
	(void)arg;
	smi->units_log = true;
	return 0;
}

static int take_p2p(struct smi *smi, const char *arg)
{
	smi->value = arg;
	return choose_direct(smi, smi_p2p);
}

static int take_pci_matrix(struct smi *smi, const char *arg)
{
	smi->pci_only = true;
	return take_matrix(smi, arg);
}

static int take_xml(struct smi *smi, const char *arg)
{
	(void)arg;
	smi->xml = true;
	return 0;
}

struct smi_option {
	const char *brief, *full; /* names with their dashes, or NULL */
	enum { BARE, WITH_ARG, MAYBE_ARG } arg;
	int (*take)(struct smi *smi, const char *arg);
};

static const struct smi_option options[] = {
    {"-h", "--help", BARE, take_help},
    {NULL, "--version", BARE, take_version},
    {"-L", "--list-gpus", BARE, take_list},
    {"-col", "--columns", BARE, take_columns},
    {"-q", "--query", BARE, take_log},
    {"-u", "--unit", BARE, take_unit},
    {"-x", "--xml-format", BARE, take_xml},
    {"-d", "--display", WITH_ARG, take_sections},
    {"-i", "--id", WITH_ARG, take_ids},
    {"-f", "--filename", WITH_ARG, take_file},
    {"-l", "--loop", MAYBE_ARG, take_loop},
    {"-lms", "--loop-ms", WITH_ARG, take_loop_ms},
    {NULL, "--format", WITH_ARG, take_format},
    {"-eow", "--error-on-warning", BARE, take_eow},
    {"-sc", "--scope", WITH_ARG, take_scope},
    {"-m", "--mode", WITH_ARG, take_lock_mode},
    {"-r", "--gpu-reset", MAYBE_ARG, take_reset},
    {"-t", "--toggle-led", WITH_ARG, take_led},
    {NULL, "--debug", WITH_ARG, take_debug},
    {NULL, "--show-all-processes", BARE, take_all_processes},
    {"-B", "--list-excluded-gpus", BARE, take_excluded},
    {0},
};

static const struct smi_option mon_options[] = {
    {"-h", "--help", BARE, take_help},
    {"-i", "--id", WITH_ARG, take_ids},
    {"-d", "--delay", WITH_ARG, take_loop},
    {"-c", "--count", WITH_ARG, take_count},
    {"-s", "--select", WITH_ARG, take_groups},
    {"-o", "--options", WITH_ARG, take_moment},
    {"-f", "--filename", WITH_ARG, take_file},
    {NULL, "--gpm-metrics", WITH_ARG, take_gpm_metrics},
    {NULL, "--gpm-options", WITH_ARG, take_gpm_level},
    {NULL, "--format", WITH_ARG, take_mon_format},
    {0},
};

static const struct smi_option topo_options[] = {
    {"-h", "--help", BARE, take_help},
    {"-m", "--matrix", BARE, take_matrix},
    {"-mp", "--matrix_pci", BARE, take_pci_matrix},
    {"-p2p", "--p2pstatus", WITH_ARG, take_p2p},
    {"-i", "--id", WITH_ARG, take_ids},
    {0},
};

static const struct smi_option *find_smi_option(const struct smi_option *table,
						const char *word,
						const char **ret_arg)
{
	for (; table->take; table++)
		if (smi_is_option(word, table->brief, ret_arg) ||
		    smi_is_option(word, table->full, ret_arg))
			return table;
	return NULL;
}

/* Handles the options that change a GPU. */
static int take_setter(struct smi *smi, const struct smi_setter *setter,
		       const char *word, const char *arg)
{
	if (setter->kind != SMI_NOTHING && !arg)
		return smi_refuse_missing(word);
	if (!smi_parse_setting(setter, arg, &smi->setting))
		return smi_refuse_arguments();
	smi->setter = setter;
	return choose_direct(smi, smi_set);
}

static const struct smi_setter *find_setter(const char *word,
					    const char **ret_arg)
{
	for (const struct smi_setter *s = smi_setters; s->set; s++)
		if (smi_is_option(word, s->brief, ret_arg) ||
		    smi_is_option(word, s->full, ret_arg))
			return s;
	return NULL;
}

/* Handles options such as --query-gpu=... and --help-query-gpu. */
static int take_query(struct smi *smi, const char *word, char **next,
		      bool *ret_took)
{
	char name[64];

	for (const struct gk_smi_query *q = gk_smi_queries; q->option; q++) {
		const char *list;

		snprintf(name, sizeof name, "--help-%s", q->option);
		if (!strcmp(word, name)) {
			smi->chosen.query = q;
			return choose_smi_mode(smi, SMI_HELP_QUERY);
		}
		if (!smi_is_option(word, name + strlen("--help"), &list) &&
		    !(!strncmp(word, "--", 2) &&
		      smi_is_option(word + 2, q->option, &list)))
			continue;
		*ret_took = !list;
		if (!list)
			list = *next;
		if (!list)
			return smi_refuse_missing(word);
		if (smi->list)
			return smi_refuse_arguments();
		smi->list = list;
		smi->chosen.query = q;
		return choose_smi_mode(smi, SMI_QUERY);
	}
	return smi_refuse_unknown(word);
}

/* Whether the next word is another option or there is none. */
static bool ends_here(const char *next)
{
	return !next || *next == '-';
}

/* Handles an option that is not in a table of options. */
static int take_other(struct smi *smi, char **word, bool *ret_took)
{
	const char *arg = NULL;
	const struct smi_setter *setter = find_setter(*word, &arg);

	if (!setter)
		return take_query(smi, *word, word + 1, ret_took);
	*ret_took = setter->kind != SMI_NOTHING && !arg && word[1];
	return take_setter(smi, setter, *word, *ret_took ? word[1] : arg);
}

static int parse_smi_option(struct smi *smi, const struct smi_option *table,
			    char **word)
{
	int status = 0;

	for (; !status && *word; word++) {
		const char *arg = NULL;
		const struct smi_option *option =
		    find_smi_option(table, *word, &arg);
		bool took = false;

		if (!option && table == options) {
			status = take_other(smi, word, &took);
			word += took;
			continue;
		}
		if (!option || (arg && option->arg == BARE))
			return smi_refuse_unknown(*word);
		if (option->arg != BARE && !arg &&
		    !(option->arg == MAYBE_ARG && ends_here(word[1]))) {
			arg = *++word;
			if (!arg)
				return smi_refuse_missing(word[-1]);
		}
		status = option->take(smi, arg);
	}
	return status;
}

/* The subcommands. Each has options of its own. */
static const struct word {
	const char *name;
	enum smi_mode mode, help;
	const char *groups; /* default of the option -s */
	const struct smi_option *options;
} words[] = {
    {"pmon", SMI_PMON, SMI_HELP_PMON, "u", mon_options},
    {"dmon", SMI_DMON, SMI_HELP_DMON, "puc", mon_options},
    {"topo", SMI_TABLE, SMI_HELP_TOPOLOGY, NULL, topo_options},
};

static bool asks_help(char **rest)
{
	for (; *rest; rest++)
		if (!strcmp(*rest, "-h") || !strcmp(*rest, "--help"))
			return true;
	return false;
}

static int parse_word(struct smi *smi, const struct word *word, char **rest)
{
	int status;

	if (asks_help(rest))
		return smi->mode = word->help, 0;
	smi->mode = word->mode;
	smi->mon.groups = word->groups;
	smi->period_ns = word->groups ? GK_NS_PER_S : 0;
	status = parse_smi_option(smi, word->options, rest);
	/* topo needs an option that says what to show. */
	return status || smi->mode != SMI_TABLE ? status
						: smi_refuse_arguments();
}

static int parse_direct(struct smi *smi, const struct smi_verb *verb,
			char **rest)
{
	if (!asks_help(rest))
		return smi_parse_verb(smi, verb, rest);
	smi->verb = verb;
	smi->mode = SMI_HELP_VERB;
	return 0;
}

static bool sets_by(const struct smi *smi, smi_set_function *function)
{
	return smi->setter && smi->setter->set == function;
}

/* Whether a change has options that belong to a query, or the reverse. */
static bool mixes_changes(const struct smi *smi)
{
	return (smi->mode == SMI_DIRECT && (smi->file || smi->period_ns)) ||
	       (smi->scoped && !sets_by(smi, smi_set_power)) ||
	       (smi->moded && !sets_by(smi, smi_set_gpu_clocks));
}

/* Rejects options that exclude each other. */
static int check_smi_options(const struct smi *smi)
{
	bool log = smi->mode == SMI_LOG;

	if (mixes_changes(smi))
		return smi_refuse_arguments();
	if ((smi->xml || smi->sections || smi->units_log) && !log)
		return smi_refuse_arguments();
	if (smi->xml + (smi->sections != 0) + smi->units_log > 1)
		return smi_refuse_arguments();
	if (smi->mode == SMI_QUERY && !smi->csv) {
		puts("\"--format=\" switch is missing. Please run 'nvidia-smi "
		     "-h' for help.\n");
		return SMI_INVALID;
	}
	if (smi->mode != SMI_QUERY && (smi->csv || !smi->titles || !smi->units))
		return smi_refuse_arguments();
	return 0;
}

static int choose_fields(struct smi *smi)
{
	char unknown[128];

	if (smi->mode != SMI_QUERY)
		return 0;
	switch (gk_smi_choose(smi->chosen.query, smi->list, &smi->chosen,
			      unknown)) {
	case 0:
		return 0;
	case GK_ERR_NOT_FOUND:
		printf("Field \"%s\" is not a valid field to query.\n\n",
		       unknown);
		return SMI_INVALID;
	default:
		return smi_refuse_arguments();
	}
}

int smi_parse(int argc, char **argv, struct smi *ret_smi)
{
	int status;

	*ret_smi = (struct smi){.titles = true, .units = true};
	for (size_t i = 0; argc > 1 && i < COUNT(words); i++)
		if (!strcmp(argv[1], words[i].name))
			return parse_word(ret_smi, &words[i], argv + 2);
	for (const struct smi_verb *v = smi_verbs; argc > 1 && v->name; v++)
		if (!strcmp(argv[1], v->name))
			return parse_direct(ret_smi, v, argv + 2);
	if (argc > 1 && smi_take_feature(ret_smi, argv[1]))
		return 0;
	status = parse_smi_option(ret_smi, options, argv + 1);
	if (!status)
		status = check_smi_options(ret_smi);
	return status ? status : choose_fields(ret_smi);
}

static int run_smi(int argc, char **argv)
{
	struct smi *smi = calloc(1, sizeof *smi);
	int status = SMI_FAILED;

	if (smi)
		status = smi_parse(argc, argv, smi);
	if (smi && !status)
		status = smi_run(smi);
	free(smi);
	if (fflush(stdout))
		return SMI_FAILED;
	return status;
}

const struct gk_cmd gk_cmd_smi = {
    .name = "smi",
    .summary = "shows GPUs as nvidia-smi does, with its options",
    .run = run_smi,
};
