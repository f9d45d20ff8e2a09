/* SPDX-License-Identifier: Apache-2.0 */
/* smi.c - `gpukit smi`: parses the options as nvidia-smi does. */
#include "cli/smi/set.h"
#include "base/array.h"
#include "base/clock.h"
#include "cli/cmd.h"
#include "cli/smi/direct.h"
#include "cli/smi/names.h"
#include "cli/smi/options.h"
#include "cli/smi/tell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	return smi_choose_direct(smi, smi_set);
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
			return smi_choose_mode(smi, SMI_HELP_QUERY);
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
		return smi_choose_mode(smi, SMI_QUERY);
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

		if (!option && table == smi_options) {
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
	const char *groups; /* default argument of the option -s */
	const struct smi_option *options;
} words[] = {
    {"pmon", SMI_PMON, SMI_HELP_PMON, "u", smi_mon_options},
    {"dmon", SMI_DMON, SMI_HELP_DMON, "puc", smi_mon_options},
    {"topo", SMI_TABLE, SMI_HELP_TOPOLOGY, NULL, smi_topo_options},
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
	/* topo requires an option that says what to show. */
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

/*
 * Whether an option was given that does not apply: one of a query with a
 * change, or -sc or -m without the setting that it belongs to.
 */
static bool mixes_changes(const struct smi *smi)
{
	return (smi->mode == SMI_DIRECT && (smi->file || smi->period_ns)) ||
	       (smi->scoped && !sets_by(smi, smi_set_power)) ||
	       (smi->moded && !sets_by(smi, smi_set_gpu_clocks));
}

/* Handles --dtd, which must be combined with -q -x or be alone. */
static int choose_dtd(struct smi *smi)
{
	if (!smi->dtd)
		return 0;
	if (smi->mode == SMI_TABLE && smi->units_log) {
		puts("The DTD of units is not supported.");
		return SMI_UNSUPPORTED;
	}
	if (smi->mode == SMI_TABLE && !smi->period_ns && !smi->ids)
		smi->mode = SMI_DTD;
	return smi->mode == SMI_DTD || smi->xml ? 0 : smi_refuse_arguments();
}

/* Rejects combinations of options that are not allowed. */
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
	const struct smi_verb *feature;
	int status;

	*ret_smi = (struct smi){.titles = true, .units = true};
	for (size_t i = 0; argc > 1 && i < COUNT(words); i++)
		if (!strcmp(argv[1], words[i].name))
			return parse_word(ret_smi, &words[i], argv + 2);
	for (const struct smi_verb *v = smi_verbs; argc > 1 && v->name; v++)
		if (!strcmp(argv[1], v->name))
			return parse_direct(ret_smi, v, argv + 2);
	feature = argc > 1 ? smi_take_feature(ret_smi, argv[1]) : NULL;
	if (feature)
		return parse_direct(ret_smi, feature, argv + 2);
	status = parse_smi_option(ret_smi, smi_options, argv + 1);
	if (!status)
		status = choose_dtd(ret_smi);
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
