/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpm.c - samples GPUs and computes their GPM metrics. dmon can show every GPM
 * metric that NVML has, but the core reads only some of them.
 */
#include "cli/smi/gpm.h"
#include "cli/smi/gpus.h"

#include <math.h>
#include <stdlib.h>

/* Takes a sample of a GPU. Returns NULL if that fails. */
static nvmlGpmSample_t take_sample(const struct smi_gpus *driver,
				   unsigned index)
{
	nvmlGpmSample_t sample;
	nvmlDevice_t device;

	if (SMI_NVML(driver, nvmlDeviceGetHandleByIndex_v2, index, &device) ||
	    SMI_NVML(driver, nvmlGpmSampleAlloc, &sample))
		return NULL;
	if (!SMI_NVML(driver, nvmlGpmSampleGet, device, sample))
		return sample;
	SMI_NVML(driver, nvmlGpmSampleFree, sample);
	return NULL;
}

/* Computes the metrics from two samples of a GPU. */
static void compute(const struct smi_gpus *driver, nvmlGpmSample_t before,
		    nvmlGpmSample_t now, const struct gk_smi_mon *mon,
		    double *ret_values)
{
	nvmlGpmMetricsGet_t *get = calloc(1, sizeof *get);

	if (!get)
		return;
	get->version = NVML_GPM_METRICS_GET_VERSION;
	get->numMetrics = (unsigned)mon->gpm_count;
	get->sample1 = before;
	get->sample2 = now;
	for (size_t i = 0; i < mon->gpm_count; i++)
		get->metrics[i].metricId = mon->gpm[i];
	if (!SMI_NVML(driver, nvmlGpmMetricsGet, get))
		for (size_t i = 0; i < mon->gpm_count; i++)
			if (!get->metrics[i].nvmlReturn)
				ret_values[i] = get->metrics[i].value;
	free(get);
}

static void read_gpu(struct smi_gpm *gpm, const struct smi_gpus *driver,
		     const struct gk_device *d, const struct gk_smi_mon *mon,
		     double *ret_values)
{
	nvmlGpmSample_t *before = &gpm->before[d->index], now = NULL;

	/* A GPU that hangs would delay the others. */
	if (d->health == GK_HEALTH_OK)
		now = take_sample(driver, d->index);
	if (now && *before)
		compute(driver, *before, now, mon, ret_values);
	if (*before)
		SMI_NVML(driver, nvmlGpmSampleFree, *before);
	*before = now;
}

const double *smi_gpm_read(struct smi_gpm *gpm, struct gk_nvml *nvml,
			   const struct gk_snapshot *snap,
			   const struct gk_smi_mon *mon)
{
	size_t count = snap->device_count * mon->gpm_count;
	struct smi_gpus driver = {.nvml = nvml};
	double *values =
	    realloc(gpm->values, (count + 1) * sizeof *gpm->values);

	if (!values)
		return NULL;
	gpm->values = values;
	for (size_t i = 0; i < count; i++)
		values[i] = (double)NAN;
	for (size_t i = 0; mon->gpm_count && i < snap->device_count; i++) {
		const struct gk_device *d = &snap->devices[i];

		if (d->mig_index < 0 && d->index < SMI_GPM_GPUS)
			read_gpu(gpm, &driver, d, mon,
				 &values[i * mon->gpm_count]);
	}
	return values;
}

void smi_gpm_end(struct smi_gpm *gpm, struct gk_nvml *nvml)
{
	struct smi_gpus driver = {.nvml = nvml};

	for (size_t i = 0; i < SMI_GPM_GPUS; i++)
		if (gpm->before[i])
			SMI_NVML(&driver, nvmlGpmSampleFree, gpm->before[i]);
	free(gpm->values);
	*gpm = (struct smi_gpm){.values = NULL};
}
