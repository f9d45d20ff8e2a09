/* SPDX-License-Identifier: Apache-2.0 */
/* utilization.c - reports how busy the engines of a device are. */
#include "fronts/nvml/front.h"
#include "fronts/nvml/value.h"
#include "machine/file/board.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/value.h"

/* All numbers are those of the last complete bin. */
#define PERIOD_US ((unsigned)(GKF_BIN_NS / 1000))

nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device,
					   nvmlUtilization_t *utilization)
{
	int64_t gpu, memory;

	ENTER_DEVICE(nvmlDeviceGetUtilizationRates, device,
		     utilization != NULL);
	if (!read_device_value(&c, GKF_V_GPU_UTIL, &gpu) ||
	    !read_device_value(&c, GKF_V_MEM_UTIL, &memory))
		return NVML_ERROR_NOT_SUPPORTED;
	utilization->gpu = (unsigned)gpu;
	utilization->memory = (unsigned)memory;
	return NVML_SUCCESS;
}

/*
 * Boards since Turing (7.5) report engines that they lack as idle, as captures
 * of a 2080 and a 4080 show; on older boards such engines are not supported.
 */
static bool read_engine(const struct call *c, enum gkf_value id,
			int64_t *ret_busy)
{
	const struct gkf_profile *p = &c->board->profile;

	if (read_device_value(c, id, ret_busy))
		return true;
	*ret_busy = 0;
	return p->compute_major * 10 + p->compute_minor >= 75;
}

#define ENGINE(symbol, id)                                                     \
	nvmlReturn_t symbol(nvmlDevice_t device, unsigned int *utilization,    \
			    unsigned int *samplingPeriodUs)                    \
	{                                                                      \
		int64_t v;                                                     \
		ENTER_DEVICE(symbol, device, utilization &&samplingPeriodUs);  \
		if (!read_engine(&c, GKF_V_##id, &v))                          \
			return NVML_ERROR_NOT_SUPPORTED;                       \
		*utilization = (unsigned)v;                                    \
		*samplingPeriodUs = PERIOD_US;                                 \
		return NVML_SUCCESS;                                           \
	}
ENGINE(nvmlDeviceGetEncoderUtilization, ENC_UTIL)
ENGINE(nvmlDeviceGetDecoderUtilization, DEC_UTIL)
ENGINE(nvmlDeviceGetJpgUtilization, JPG_UTIL)
ENGINE(nvmlDeviceGetOfaUtilization, OFA_UTIL)
#undef ENGINE
