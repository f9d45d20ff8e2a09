/* SPDX-License-Identifier: Apache-2.0 */
/*
 * features.c - answers the subcommands for what gpukit cannot do, and those
 * about confidential computing.
 */
#include "base/array.h"
#include "cli/smi/direct.h"
#include "cli/smi/gpus.h"

#include <stdio.h>

static const struct feature {
	const char *name, *line;
	int status;
} features[] = {
#define FEATURE(name, line, status) {name, line, status},
#include "cli/smi/features.def"
#undef FEATURE
};

static int refuse_on_gpus(const struct smi *smi, const struct smi_gpus *gpus,
			  const void *arg)
{
	(void)gpus;
	(void)arg;
	puts(smi->feature->line);
	return smi->feature->status;
}

static int refuse_feature(const struct smi *smi)
{
	return smi_with_gpus(smi, refuse_on_gpus, NULL);
}

bool smi_take_feature(struct smi *smi, const char *word)
{
	for (size_t i = 0; i < COUNT(features); i++) {
		if (strcmp(features[i].name, word) != 0)
			continue;
		smi->feature = &features[i];
		smi->direct = refuse_feature;
		smi->mode = SMI_DIRECT;
		return true;
	}
	return false;
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
	return smi_with_gpus(smi, ask_feature, NULL);
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
	return smi_with_gpus(smi, ask_ready, NULL);
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
	return smi_with_gpus(smi, set_ready, NULL);
}
