/* SPDX-License-Identifier: Apache-2.0 */
/* gpm.c - takes samples and asks NVML for the metrics between two of them. */
#include "core/read/gpm.h"
#include "base/array.h"
#include "base/units.h"

#include "core/read/gate.h"

#include <stdlib.h>

enum { CENTI = 100 };

static const struct {
	enum gk_metric metric;
	unsigned id;
	int64_t scale;
} rows[] = {
#define GPM(metric, id, scale) {GK_M_##metric, NVML_GPM_METRIC_##id, scale},
#include "core/read/gpm.def"
#undef GPM
};

bool gk_is_gpm(enum gk_metric metric)
{
	for (size_t i = 0; i < COUNT(rows); i++)
		if (rows[i].metric == metric)
			return true;
	return false;
}

static bool is_wanted(const struct gk_metric_set *only)
{
	for (size_t i = 0; only && i < COUNT(rows); i++)
		if (gk_metric_set_has(only, rows[i].metric))
			return true;
	return !only;
}

static void set_all(const struct gk_metric_set *only, enum gk_absence why,
		    struct gk_value values[GK_M_COUNT])
{
	for (size_t i = 0; i < COUNT(rows); i++)
		if (!only || gk_metric_set_has(only, rows[i].metric))
			values[rows[i].metric] = (struct gk_value){.why = why};
}

/* A sample belongs to the library that made it. */
static void free_sample(nvmlGpmSample_t *sample, const struct gk_nvml *nvml)
{
	if (*sample)
		(void)GK_NVML_CALL(nvml, nvmlGpmSampleFree, *sample);
	*sample = NULL;
}

void gk_gpm_free(struct gk_gpm *gpm, const struct gk_nvml *nvml)
{
	free_sample(&gpm->last, nvml);
	free_sample(&gpm->spare, nvml);
	gpm->filled = false;
}

static nvmlReturn_t alloc_sample(nvmlGpmSample_t *sample,
				 const struct gk_nvml *nvml)
{
	return *sample ? NVML_SUCCESS
		       : GK_NVML_CALL(nvml, nvmlGpmSampleAlloc, sample);
}

/* Whether a board has GPM. Boards before Hopper have none, but NVML says so
 * only if asked. */
static nvmlReturn_t is_supported(const struct gk_nvml *nvml, nvmlDevice_t gpu)
{
	nvmlGpmSupport_t support = {.version = NVML_GPM_SUPPORT_VERSION};
	nvmlReturn_t r =
	    GK_NVML_CALL(nvml, nvmlGpmQueryDeviceSupport, gpu, &support);

	return !r && !support.isSupportedDevice ? NVML_ERROR_NOT_SUPPORTED : r;
}

/* Takes a sample into gpm->spare. */
static nvmlReturn_t take_sample(struct gk_gpm *gpm, const struct gk_nvml *nvml,
				nvmlDevice_t gpu, int instance)
{
	nvmlReturn_t r = NVML_SUCCESS;

	if (!gpm->filled)
		r = is_supported(nvml, gpu);
	if (!r)
		r = alloc_sample(&gpm->last, nvml);
	if (!r)
		r = alloc_sample(&gpm->spare, nvml);
	if (r)
		return r;
	return instance < 0
		   ? GK_NVML_CALL(nvml, nvmlGpmSampleGet, gpu, gpm->spare)
		   : GK_NVML_CALL(nvml, nvmlGpmMigSampleGet, gpu,
				  (unsigned)instance, gpm->spare);
}

static struct gk_value value_of(const nvmlGpmMetric_t *metric, nvmlReturn_t all,
				int64_t scale)
{
	enum gk_absence why = gk_nvml_absence(all ? all : metric->nvmlReturn);
	double scaled = metric->value * (double)scale;

	if (why)
		return (struct gk_value){.why = why};
	if (!(scaled >= 0 && scaled < 0x1p62))
		return (struct gk_value){.v = GK_TOLD_NO_NUMBER};
	return (struct gk_value){.v = (int64_t)(scaled + .5)}; /* >= 0 */
}

/* Asks for all metrics between gpm->last and gpm->spare. */
static nvmlReturn_t read_means(const struct gk_gpm *gpm,
			       const struct gk_nvml *nvml,
			       const struct gk_metric_set *only,
			       struct gk_value values[GK_M_COUNT])
{
	nvmlGpmMetricsGet_t *get = calloc(1, sizeof *get);
	nvmlReturn_t r;

	if (!get) {
		set_all(only, GK_ABSENT_ERROR, values);
		return NVML_SUCCESS;
	}
	get->version = NVML_GPM_METRICS_GET_VERSION;
	get->numMetrics = (unsigned)COUNT(rows);
	get->sample1 = gpm->last;
	get->sample2 = gpm->spare;
	for (size_t i = 0; i < COUNT(rows); i++)
		get->metrics[i].metricId = rows[i].id;
	r = GK_NVML_CALL(nvml, nvmlGpmMetricsGet, get);
	for (size_t i = 0; !gk_nvml_is_lost(r) && i < COUNT(rows); i++)
		if (!only || gk_metric_set_has(only, rows[i].metric))
			values[rows[i].metric] = gk_gate(
			    value_of(&get->metrics[i], r, rows[i].scale),
			    &gk_metric_ranges[rows[i].metric]);
	free(get);
	return gk_nvml_is_lost(r) ? r : NVML_SUCCESS;
}

nvmlReturn_t gk_gpm_read(struct gk_gpm *gpm, const struct gk_nvml *nvml,
			 nvmlDevice_t gpu, const struct gk_device *device,
			 const struct gk_metric_set *only,
			 struct gk_value values[GK_M_COUNT])
{
	bool is_mig = device->mig_index >= 0;
	nvmlGpmSample_t taken;
	nvmlReturn_t r;

	if (!is_wanted(only))
		return NVML_SUCCESS;
	if (is_mig && device->gpu_instance < 0) {
		set_all(only, GK_ABSENT_ERROR, values);
		return NVML_SUCCESS;
	}
	r = take_sample(gpm, nvml, gpu, is_mig ? device->gpu_instance : -1);
	if (r) {
		gk_gpm_free(gpm, nvml);
		if (!gk_nvml_is_lost(r))
			set_all(only, gk_nvml_absence(r), values);
		return gk_nvml_is_lost(r) ? r : NVML_SUCCESS;
	}
	if (gpm->filled)
		r = read_means(gpm, nvml, only, values);
	else
		set_all(only, GK_ABSENT_ONE_SNAPSHOT, values);
	taken = gpm->spare;
	gpm->spare = gpm->last;
	gpm->last = taken;
	gpm->filled = true;
	return r;
}

/* NVML can be asked only about whole GPUs. */
nvmlReturn_t gk_gpm_why(const struct gk_nvml *nvml, nvmlDevice_t handle,
			bool is_mig, enum gk_absence *ret_why)
{
	nvmlReturn_t r = NVML_ERROR_FUNCTION_NOT_FOUND;

	if (nvml->nvmlGpmQueryDeviceSupport)
		r = is_mig ? NVML_SUCCESS : is_supported(nvml, handle);
	*ret_why = r ? gk_nvml_absence(r) : GK_ABSENT_ONE_SNAPSHOT;
	return r;
}
