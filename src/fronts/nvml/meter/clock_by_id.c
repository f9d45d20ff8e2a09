/* SPDX-License-Identifier: Apache-2.0 */
/* clock_by_id.c - reads a clock, in MHz, by its type and id. */
#include "fronts/nvml/meter/clock.h"

nvmlReturn_t nvmlDeviceGetClock(nvmlDevice_t device, nvmlClockType_t clockType,
				nvmlClockId_t clockId, unsigned int *clockMHz)
{
	ENTER_DEVICE(nvmlDeviceGetClock, device,
		     clockMHz && (unsigned)clockType < NVML_CLOCK_COUNT &&
			 (unsigned)clockId < NVML_CLOCK_ID_COUNT);
	switch (clockId) {
	case NVML_CLOCK_ID_CURRENT:
		return clock_now(&c, clockType, clockMHz);
	case NVML_CLOCK_ID_APP_CLOCK_TARGET:
		return clock_app(&c, clockType, clockMHz);
	case NVML_CLOCK_ID_APP_CLOCK_DEFAULT:
		return clock_app_default(&c, clockType, clockMHz);
	case NVML_CLOCK_ID_CUSTOMER_BOOST_MAX:
		return clock_boost(&c, clockType, clockMHz);
	case NVML_CLOCK_ID_COUNT:
	default:
		return NVML_ERROR_INVALID_ARGUMENT;
	}
}
