/* SPDX-License-Identifier: Apache-2.0 */
/* past.c - reads the buffers of samples that the driver keeps. */
#include "core/past/past.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/units.h"
#include "core/context.h"
#include "core/read/gate.h"

#include <stdlib.h>

#define SAMPLES_MAX 256 /* maximum per metric; drivers keep 120 */

/* All samples are unsigned int; `scale` converts them to the metric's unit. */
static const struct {
	nvmlSamplingType_t type;
	enum gk_metric metric;
	int64_t scale;
} kinds[] = {
    {NVML_GPU_UTILIZATION_SAMPLES, GK_M_GPU_UTIL, 1},
    {NVML_MEMORY_UTILIZATION_SAMPLES, GK_M_MEM_UTIL, 1},
    {NVML_TOTAL_POWER_SAMPLES, GK_M_POWER, 1},
    {NVML_PROCESSOR_CLK_SAMPLES, GK_M_SM_CLOCK, 1000000},
    {NVML_MEMORY_CLK_SAMPLES, GK_M_MEM_CLOCK, 1000000},
    {NVML_ENC_UTILIZATION_SAMPLES, GK_M_ENC_UTIL, 1},
    {NVML_DEC_UTILIZATION_SAMPLES, GK_M_DEC_UTIL, 1},
};

static void add_samples(struct gk_past *past, size_t kind,
			const nvmlSample_t *from, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		int64_t value =
		    (int64_t)from[i].sampleValue.uiVal * kinds[kind].scale;

		if (gk_in_range(value, &gk_metric_ranges[kinds[kind].metric]))
			past->samples[past->count++] = (struct gk_sample){
			    .metric = kinds[kind].metric,
			    .wall_ns = from[i].timeStamp * 1000U,
			    .value = value};
	}
}

static void read_kind(const struct gk_nvml *nvml, nvmlDevice_t gpu, size_t kind,
		      struct gk_past *past)
{
	nvmlSample_t samples[SAMPLES_MAX];
	unsigned count = SAMPLES_MAX;
	nvmlValueType_t type;

	if (GK_NVML_CALL(nvml, nvmlDeviceGetSamples, gpu, kinds[kind].type, 0,
			 &type, &count, samples) ||
	    type != NVML_VALUE_TYPE_UNSIGNED_INT)
		return;
	add_samples(past, kind, samples,
		    count < SAMPLES_MAX ? count : SAMPLES_MAX);
}

struct gk_past *gk_past_read(const struct gk_nvml *nvml, nvmlDevice_t gpu)
{
	struct gk_past *past = malloc(
	    sizeof *past + COUNT(kinds) * SAMPLES_MAX * sizeof *past->samples);

	if (!past)
		return NULL;
	past->count = 0;
	for (size_t i = 0; i < COUNT(kinds); i++)
		read_kind(nvml, gpu, i, past);
	if (past->count)
		return past;
	free(past);
	return NULL;
}
