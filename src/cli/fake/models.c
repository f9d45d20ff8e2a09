/* SPDX-License-Identifier: Apache-2.0 */
/* models.c - `gpukit fake models`: lists the GPUs that a machine can have. */
#include "base/str.h"
#include "cli/arg.h"
#include "cli/cmd.h"
#include "cli/fake/fake.h"
#include "cli/where.h"
#include "machine/file/profile.h"
#include "machine/words/profile_facts.h"
#include "machine/words/profile_yaml.h"

#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB 1048576LL

static error_t parse_models_option(int key, char *arg, struct argp_state *state)
{
	bool *json = state->input;

	switch (key) {
	case 'j':
		*json = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument '%s'", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option models_options[] = {
    {"json", 'j', NULL, 0, "As JSON, with the sources of the values", 0}, {0}};

const struct argp fake_models_argp = {
    .options = models_options,
    .parser = parse_models_option,
    .doc = "Lists the models of GPUs for --gpus: memory, compute capability, "
	   "power limit, year of release, and how many of the values in the "
	   "profile have a source that somebody can look up. The others are "
	   "remembered or estimated, as the profile says.\v"
	   "Environment: GPUKIT_PROFILES replaces gpukit's directory of "
	   "profiles.",
};

/* Returns a number, or null if the number is unknown. */
static json_t *known(int64_t value)
{
	return value > 0 ? json_integer(value) : json_null();
}

/* Returns the source of each fact: {"memory_mib": "capture", ...}. */
static json_t *json_sources(const struct gkf_facts *facts)
{
	json_t *sources = json_object();

	for (size_t i = 0; i < gkf_field_count; i++)
		if (facts->given[i] && facts->origin[i] != GKF_SOURCE_NONE)
			json_object_set_new(
			    sources, gkf_fields[i].key,
			    json_string(gkf_source_name(
				(enum gkf_source)facts->origin[i])));
	return sources;
}

static void add_json(json_t *models, const struct gkf_profile *p,
		     const struct gkf_facts *facts)
{
	char capability[48];

	snprintf(capability, sizeof capability, "%lld.%lld",
		 (long long)p->compute_major, (long long)p->compute_minor);
	json_array_append_new(
	    models,
	    json_pack("{s:s, s:s, s:o, s:s, s:o, s:o, s:i, s:i, s:o}", "model",
		      p->id, "name", p->name, "memory_total_bytes",
		      known(p->memory_mib * MIB), "compute_capability",
		      capability, "power_limit_default_watts",
		      p->power_limit_mw > 0
			  ? json_real((double)p->power_limit_mw / 1000)
			  : json_null(),
		      "year", known(facts->year), "facts",
		      (int)gkf_facts_given(facts), "facts_sourced",
		      (int)gkf_facts_sourced(facts), "sources",
		      json_sources(facts)));
}

static void print_model(const struct gkf_profile *p,
			const struct gkf_facts *facts)
{
	char power[24] = "-", year[24] = "-";

	if (p->power_limit_mw > 0)
		snprintf(power, sizeof power, "%lld W",
			 (long long)p->power_limit_mw / 1000);
	if (facts->year)
		snprintf(year, sizeof year, "%lld", (long long)facts->year);
	printf("%-30s %7lld MiB  %2lld.%lld %7s  %4s  %2u of %2u\n", p->id,
	       (long long)p->memory_mib, (long long)p->compute_major,
	       (long long)p->compute_minor, power, year,
	       gkf_facts_sourced(facts), gkf_facts_given(facts));
}

/* Adds each model to `models` or, if that is NULL, prints it. */
static int each_model(const char *dir, char *ids, json_t *models)
{
	char *id;

	while ((id = strsep(&ids, ", "))) {
		struct gkf_profile p;
		struct gkf_facts facts;
		char message[GKF_PROFILE_MESSAGE_MAX];

		if (!*id)
			continue;
		if (gkf_profile_facts(dir, id, &p, &facts, message,
				      sizeof message))
			return fake_failure("%s", message);
		if (models)
			add_json(models, &p, &facts);
		else
			print_model(&p, &facts);
	}
	return GK_EXIT_OK;
}

static int print_models(const char *dir, char *ids, bool json)
{
	json_t *models = json ? json_array() : NULL;
	int code;

	if (!json)
		printf("%-30s %11s  %4s %7s  %4s  %s\n", "MODEL", "MEMORY",
		       "CC", "POWER", "YEAR", "SOURCED");
	code = each_model(dir, ids, models);
	if (json && !code) {
		json_dumpf(models, stdout, JSON_INDENT(2));
		putchar('\n');
	}
	json_decref(models);
	if (!code && fflush(stdout))
		code = fake_failure("cannot write the output");
	return code;
}

int fake_models(int argc, char **argv)
{
	char dir[PATH_MAX];
	struct gk_buf ids = {0};
	bool json = false;
	int code;

	gk_arg_parse(&fake_models_argp, 0, argc, argv, &json);
	if (gk_where_profiles(dir, sizeof dir))
		return fake_failure("cannot find the profiles; set "
				    "GPUKIT_PROFILES to their directory");
	gkf_profile_list(dir, &ids);
	code = ids.data ? print_models(dir, ids.data, json)
			: fake_failure("no profiles in %s", dir);
	gk_buf_free(&ids);
	return code;
}
