/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - owns the tables of options, and stores the options' values. */
#include "cli/smi/options.h"
#include "base/array.h"
#include "base/clock.h"
#include "cli/smi/direct.h"
#include "cli/smi/names.h"
#include "cli/smi/tell.h"
#include "format/smi/log.h"

#include <stdio.h>
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

/* Parses a period: a positive whole number of units. */
static int parse_period(struct smi *smi, const char *arg, uint64_t unit)
{
	uint64_t value;

	if (!smi_parse_number(arg, 86400000, &value) || !value)
		return smi_refuse_arguments();
	smi->period_ns = value * unit;
	return 0;
}

/* Parses a period in seconds. The argument of -l is optional. */
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
	if (!*arg)
		return smi_refuse_arguments();
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
 * Takes the next word from a list of words separated by commas. A word that is
 * too long becomes empty. Returns whether another word follows.
 */
static bool next_word(const char **list, char ret_word[32])
{
	size_t len = strcspn(*list, ",");
	bool more = (*list)[len] == ',';

	snprintf(ret_word, 32, "%.*s", len < 32 ? (int)len : 0, *list);
	*list += len + more;
	return more;
}

/* Parses the GPM metrics of dmon: a list of NVML's numbers. */
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

/*
 * Parses the kind of device for GPM metrics. Only d (GPUs) is supported: what
 * the columns for MIG devices (m, dm, md) look like is not public.
 */
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

int smi_choose_mode(struct smi *smi, enum smi_mode mode)
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
		return smi_choose_mode(smi, mode);                             \
	}
CHOOSE(help, SMI_HELP)
CHOOSE(version, SMI_VERSION)
CHOOSE(list, SMI_LIST)
CHOOSE(columns, SMI_COLUMNS)
CHOOSE(log, SMI_LOG)
CHOOSE(matrix, SMI_TOPOLOGY)

int smi_choose_direct(struct smi *smi, smi_direct *direct)
{
	if (smi->direct)
		return smi_refuse_arguments();
	smi->direct = direct;
	return smi_choose_mode(smi, SMI_DIRECT);
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
	return smi_choose_direct(smi, smi_led);
}

/* Rejects the option, instead of ignoring it. */
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

/* Drivers since 590 accept the kind of reset "bus". */
static int take_reset(struct smi *smi, const char *arg)
{
	if (arg && strcmp(arg, "bus") != 0)
		return smi_refuse_arguments();
	return smi_choose_direct(smi, smi_reset);
}

static int take_excluded(struct smi *smi, const char *arg)
{
	(void)arg;
	return smi_choose_direct(smi, smi_excluded);
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
	return smi_choose_direct(smi, smi_p2p);
}

static int take_near_cpu(struct smi *smi, const char *arg)
{
	smi->value = arg;
	return smi_choose_direct(smi, smi_near_cpu);
}

static int take_near_gpus(struct smi *smi, const char *arg)
{
	smi->value = arg;
	return smi_choose_direct(smi, smi_near_gpus);
}

static int take_path(struct smi *smi, const char *arg)
{
	(void)arg;
	return smi_choose_direct(smi, smi_near_path);
}

/* The options -C, -M and -gnid can be combined with each other only. */
static int take_near(struct smi *smi, unsigned what)
{
	if (smi->direct && !smi->near)
		return smi_refuse_arguments();
	smi->near |= what;
	smi->direct = smi_near_numa;
	return smi_choose_mode(smi, SMI_DIRECT);
}

static int take_cpu_nodes(struct smi *smi, const char *arg)
{
	(void)arg;
	return take_near(smi, SMI_NEAR_CPU);
}

static int take_memory_nodes(struct smi *smi, const char *arg)
{
	(void)arg;
	return take_near(smi, SMI_NEAR_MEMORY);
}

static int take_gpu_node(struct smi *smi, const char *arg)
{
	(void)arg;
	return take_near(smi, SMI_NEAR_GPU);
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

static int take_dtd(struct smi *smi, const char *arg)
{
	(void)arg;
	smi->dtd = true;
	return 0;
}

const struct smi_option smi_options[] = {
    {"-h", "--help", BARE, take_help},
    {NULL, "--version", BARE, take_version},
    {"-L", "--list-gpus", BARE, take_list},
    {"-col", "--columns", BARE, take_columns},
    {"-q", "--query", BARE, take_log},
    {"-u", "--unit", BARE, take_unit},
    {"-x", "--xml-format", BARE, take_xml},
    {NULL, "--dtd", BARE, take_dtd},
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

const struct smi_option smi_mon_options[] = {
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

const struct smi_option smi_topo_options[] = {
    {"-h", "--help", BARE, take_help},
    {"-m", "--matrix", BARE, take_matrix},
    {"-mp", "--matrix_pci", BARE, take_pci_matrix},
    {"-p2p", "--p2pstatus", WITH_ARG, take_p2p},
    {"-c", "--cpu", WITH_ARG, take_near_cpu},
    {"-n", "--nearest_gpus", WITH_ARG, take_near_gpus},
    {"-p", "--gpu_path", BARE, take_path},
    {"-C", "--get-numa-id-of-nearby-cpu", BARE, take_cpu_nodes},
    {"-M", "--get-numa-id-of-nearby-mem", BARE, take_memory_nodes},
    {"-gnid", "--gpu-numa-id", BARE, take_gpu_node},
    {"-i", "--id", WITH_ARG, take_ids},
    {0},
};
