/* SPDX-License-Identifier: Apache-2.0 */
/*
 * features.c - answers subcommands for features that gpukit does not support,
 * and the subcommand for confidential computing.
 */
#include "base/array.h"
#include "cli/smi/direct.h"
#include "cli/smi/gpus.h"

#include <stdio.h>
#include <string.h>

/*
 * The options that public texts name; nvidia-smi has more. All but -i have no
 * effect here, and may have an argument.
 */
static const struct {
	const char *verb, *name;
} feature_options[] = {
#define OPTION(verb, name) {verb, name},
#include "cli/smi/features.def"
#undef OPTION
};

/* The options of the subcommand that the user gave; the last one is empty. */
static struct smi_verb_option own_options[COUNT(feature_options) + 2];

static void take_options(const char *verb)
{
	struct smi_verb_option *next = own_options;

	*next++ = (struct smi_verb_option){"-i", "--id", SMI_TAKES,
					   offsetof(struct smi, ids), NULL};
	for (size_t i = 0; i < COUNT(feature_options); i++)
		if (!strcmp(feature_options[i].verb, verb))
			*next++ = (struct smi_verb_option){
			    NULL, feature_options[i].name, SMI_MAY, 0, NULL};
	*next = (struct smi_verb_option){0};
}

static const struct gk_option_line feature_lines[] = {
    {"-i, --id=LIST", "only these GPUs"},
    {0},
};

static smi_direct refuse_feature;

static const struct feature {
	struct smi_verb verb;
	const char *line;
	int status;
} features[] = {
#define FEATURE(name, line, status)                                            \
	{{name, own_options, feature_lines, refuse_feature}, line, status},
#include "cli/smi/features.def"
#undef FEATURE
};

static int refuse_on_gpus(const struct smi *smi, const struct smi_gpus *gpus,
			  const void *arg)
{
	(void)arg;
	if (!gpus->all)
		return smi_none_found();
	puts(smi->feature->line);
	return smi->feature->status;
}

static int refuse_feature(const struct smi *smi)
{
	return smi_with_driver(smi, refuse_on_gpus, NULL);
}

const struct smi_verb *smi_take_feature(struct smi *smi, const char *word)
{
	for (size_t i = 0; i < COUNT(features); i++) {
		if (strcmp(features[i].verb.name, word) != 0)
			continue;
		take_options(word);
		smi->feature = &features[i];
		return &features[i].verb;
	}
	return NULL;
}

/* ---- conf-compute ---- */

static int tell_cc(const struct smi_gpus *gpus, const char *label,
		   const char *text, nvmlReturn_t r)
{
	if (!r)
		printf("%s: %s\n", label, text);
	else
		printf("Unable to get %s: %s\n", label,
		       smi_error_text(gpus, r));
	return smi_status_of(r);
}

static int ask_feature(const struct smi *smi, const struct smi_gpus *gpus,
		       const void *arg)
{
	nvmlConfComputeSystemState_t state = {0};
	nvmlReturn_t r = SMI_NVML(gpus, nvmlSystemGetConfComputeState, &state);

	(void)smi;
	(void)arg;
	return tell_cc(gpus, "CC status", state.ccFeature ? "ON" : "OFF", r);
}

int smi_cc_feature(const struct smi *smi)
{
	return smi_with_driver(smi, ask_feature, NULL);
}

static const char ready_label[] = "Confidential Compute GPUs Ready state";

static int ask_ready(const struct smi *smi, const struct smi_gpus *gpus,
		     const void *arg)
{
	unsigned ready = 0;
	nvmlReturn_t r =
	    SMI_NVML(gpus, nvmlSystemGetConfComputeGpusReadyState, &ready);

	(void)smi;
	(void)arg;
	return tell_cc(gpus, ready_label, ready ? "ready" : "not-ready", r);
}

int smi_cc_ready(const struct smi *smi)
{
	return smi_with_driver(smi, ask_ready, NULL);
}

static int set_ready(const struct smi *smi, const struct smi_gpus *gpus,
		     const void *arg)
{
	bool ready = *smi->value == '1';
	nvmlReturn_t r =
	    SMI_NVML(gpus, nvmlSystemSetConfComputeGpusReadyState, ready);

	(void)arg;
	if (r)
		printf("Unable to set %s: %s\n", ready_label,
		       smi_error_text(gpus, r));
	else
		printf("Set %s to %s.\n", ready_label,
		       ready ? "ready" : "not-ready");
	return smi_status_of(r);
}

int smi_cc_set_ready(const struct smi *smi)
{
	if (strcmp(smi->value, "0") != 0 && strcmp(smi->value, "1") != 0)
		return smi_refuse_arguments();
	return smi_with_driver(smi, set_ready, NULL);
}
