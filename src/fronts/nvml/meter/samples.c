/* SPDX-License-Identifier: Apache-2.0 */
/*
 * samples.c - returns samples of the last bins, one per bin, oldest first.
 */
#include "fronts/nvml/bins.h"
#include "fronts/nvml/value.h"
#include "machine/file/state.h"
#include "machine/file/value.h"
#include "machine/model/model.h"

#include <stddef.h>

/*
 * The member of struct gkf_past that has the samples of a kind, and the value
 * that a board must have to support this kind.
 */
struct kind {
	uint8_t offset, size; /* size 0: no simulated board supports the kind */
	enum gkf_value value;
};
#define OF(member, id)                                                         \
	{                                                                      \
		offsetof(struct gkf_past, member),                             \
		    sizeof(((struct gkf_past *)NULL)->member), GKF_V_##id      \
	}
static const struct kind kinds[NVML_SAMPLINGTYPE_COUNT] = {
    [NVML_TOTAL_POWER_SAMPLES] = OF(power_mw, POWER),
    [NVML_GPU_UTILIZATION_SAMPLES] = OF(gpu_util, GPU_UTIL),
    [NVML_MEMORY_UTILIZATION_SAMPLES] = OF(mem_util, MEM_UTIL),
    [NVML_ENC_UTILIZATION_SAMPLES] = OF(enc_util, ENC_UTIL),
    [NVML_DEC_UTILIZATION_SAMPLES] = OF(dec_util, DEC_UTIL),
    [NVML_PROCESSOR_CLK_SAMPLES] = OF(sm_clock_mhz, SM_CLOCK),
    [NVML_MEMORY_CLK_SAMPLES] = OF(mem_clock_mhz, MEM_CLOCK),
    [NVML_JPG_UTILIZATION_SAMPLES] = OF(jpg_util, JPG_UTIL),
    [NVML_OFA_UTILIZATION_SAMPLES] = OF(ofa_util, OFA_UTIL),
};
#undef OF

static unsigned past_figure(const struct gkf_past *past,
			    const struct kind *kind)
{
	const char *at = (const char *)past + kind->offset;

	return kind->size == 1   ? *(const uint8_t *)at
	       : kind->size == 2 ? *(const uint16_t *)at
				 : *(const uint32_t *)at;
}

/* Writes at most `cap` samples, only those newer than last_seen_us. */
static unsigned give_samples_since(const struct call *c,
				   const struct kind *kind,
				   uint64_t last_seen_us, nvmlSample_t *out,
				   unsigned cap)
{
	uint64_t since = last_seen_us ? last_seen_us + bin_waver_us(c) : 0;
	struct gkf_state s;
	unsigned n = 0;
	uint64_t bin;

	gkf_state_now(c->machine, c->index, &s);
	bin = s.bin > GKF_PAST_BINS ? s.bin - GKF_PAST_BINS : 0;
	for (; bin < s.bin && n < cap; bin++) {
		struct gkf_past past;
		uint64_t stamp = bin_stamp_us(c, bin);

		if (stamp <= since ||
		    !gkf_past_read(c->machine, c->index, bin, &past))
			continue;
		out[n++] = (nvmlSample_t){
		    .timeStamp = stamp,
		    .sampleValue.uiVal = past_figure(&past, kind),
		};
	}
	return n;
}

nvmlReturn_t nvmlDeviceGetSamples(nvmlDevice_t device, nvmlSamplingType_t type,
				  unsigned long long lastSeenTimeStamp,
				  nvmlValueType_t *sampleValType,
				  unsigned int *sampleCount,
				  nvmlSample_t *samples)
{
	unsigned n = GKF_PAST_BINS;
	int64_t now;

	ENTER_DEVICE(nvmlDeviceGetSamples, device,
		     sampleValType && sampleCount &&
			 (!samples || *sampleCount) &&
			 (unsigned)type < NVML_SAMPLINGTYPE_COUNT);
	/* In MIG mode, utilisation is absent. The kinds whose samples have 1
	 * byte are those of utilisation. */
	if (is_split(&c) && kinds[type].size == 1)
		return NVML_ERROR_NOT_SUPPORTED;
	if (!kinds[type].size ||
	    !read_device_value(&c, kinds[type].value, &now))
		return NVML_ERROR_NOT_SUPPORTED;
	if (samples)
		n = give_samples_since(&c, &kinds[type], lastSeenTimeStamp,
				       samples, *sampleCount);
	if (!n)
		return NVML_ERROR_NOT_FOUND;
	*sampleValType = NVML_VALUE_TYPE_UNSIGNED_INT;
	*sampleCount = n;
	return NVML_SUCCESS;
}
