/*
 * ecc.c - ECC and the errors it met. A made-up board is new when its machine
 * is made, and the driver is loaded once in the life of a machine: so the
 * errors of its life are those since the driver was loaded.
 */
#include "fake/nvml/ecc.h"

nvmlReturn_t ecc_errors(const struct call *c, nvmlMemoryErrorType_t type,
			uint64_t *ret_count)
{
	int64_t on, v;

	if (!value(c, GKF_V_ECC_MODE, &on) || !on)
		return NVML_ERROR_NOT_SUPPORTED;
	if (!value(c,
		   type == NVML_MEMORY_ERROR_TYPE_CORRECTED
		       ? GKF_V_ECC_CORRECTED
		       : GKF_V_ECC_UNCORRECTED,
		   &v))
		return NVML_ERROR_NOT_SUPPORTED;
	*ret_count = (uint64_t)v;
	return NVML_SUCCESS;
}

static bool are_types(nvmlMemoryErrorType_t error, nvmlEccCounterType_t counter)
{
	return (unsigned)error < NVML_MEMORY_ERROR_TYPE_COUNT &&
	       (unsigned)counter < NVML_ECC_COUNTER_TYPE_COUNT;
}

nvmlReturn_t nvmlDeviceGetTotalEccErrors(nvmlDevice_t device,
					 nvmlMemoryErrorType_t errorType,
					 nvmlEccCounterType_t counterType,
					 unsigned long long *eccCounts)
{
	uint64_t n;
	nvmlReturn_t r;

	ENTER_DEVICE(nvmlDeviceGetTotalEccErrors, device,
		     eccCounts && are_types(errorType, counterType));
	r = ecc_errors(&c, errorType, &n);
	if (!r)
		*eccCounts = n;
	return r;
}

/* Errors of a made-up board are those of its DRAM; caches tell nothing. */
nvmlReturn_t nvmlDeviceGetMemoryErrorCounter(nvmlDevice_t device,
					     nvmlMemoryErrorType_t errorType,
					     nvmlEccCounterType_t counterType,
					     nvmlMemoryLocation_t locationType,
					     unsigned long long *count)
{
	uint64_t n;
	nvmlReturn_t r = NVML_ERROR_NOT_SUPPORTED;

	ENTER_DEVICE(nvmlDeviceGetMemoryErrorCounter, device,
		     count && are_types(errorType, counterType) &&
			 (unsigned)locationType < NVML_MEMORY_LOCATION_COUNT);
	if (locationType == NVML_MEMORY_LOCATION_DRAM)
		r = ecc_errors(&c, errorType, &n);
	if (!r)
		*count = n;
	return r;
}

/* A change takes effect at once, so nothing else is ever pending. */
nvmlReturn_t nvmlDeviceGetEccMode(nvmlDevice_t device,
				  nvmlEnableState_t *current,
				  nvmlEnableState_t *pending)
{
	int64_t v;

	ENTER_DEVICE(nvmlDeviceGetEccMode, device, current && pending);
	if (!value(&c, GKF_V_ECC_MODE, &v))
		return NVML_ERROR_NOT_SUPPORTED;
	*current = *pending = (nvmlEnableState_t)v;
	return NVML_SUCCESS;
}
