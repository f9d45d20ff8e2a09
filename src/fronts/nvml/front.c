/* SPDX-License-Identifier: Apache-2.0 */
/*
 * front.c - owns the pointer to the machine in use and the handles of GPUs;
 * converts errors, copies strings to callers.
 */
#include "fronts/nvml/front.h"
#include "base/clock.h"
#include "base/err.h"
#include "machine/file/numbers.h"

#include <string.h>

struct nvmlDevice_st front_handles[GKF_DEVICES_MAX];
_Atomic(struct opened *) front_current;

static const struct {
	int error;
	nvmlReturn_t nvml;
} errors[] = {
    {0, NVML_SUCCESS},
    {GK_ERR_NOT_FOUND, NVML_ERROR_DRIVER_NOT_LOADED},
    {GK_ERR_INVALID, NVML_ERROR_DRIVER_NOT_LOADED},
    {GK_ERR_CORRUPT, NVML_ERROR_DRIVER_NOT_LOADED},
    {GK_ERR_PERMISSION, NVML_ERROR_NO_PERMISSION},
    {GK_ERR_VERSION, NVML_ERROR_LIB_RM_VERSION_MISMATCH},
    {GK_ERR_NOMEM, NVML_ERROR_MEMORY},
    {GK_ERR_NO_SPACE, NVML_ERROR_INSUFFICIENT_RESOURCES},
    {GK_ERR_TOO_MANY, NVML_ERROR_INSUFFICIENT_RESOURCES},
    {GK_ERR_IO, NVML_ERROR_OPERATING_SYSTEM},
    {GK_ERR_TIMEOUT, NVML_ERROR_TIMEOUT},
    {GK_ERR_NOT_SUPPORTED, NVML_ERROR_NOT_SUPPORTED},
    {GK_ERR_LOST, NVML_ERROR_GPU_IS_LOST},
    {GK_ERR_RANGE, NVML_ERROR_INVALID_ARGUMENT},
};

nvmlReturn_t front_error(int gk_err)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++)
		if (errors[i].error == gk_err)
			return errors[i].nvml;
	return NVML_ERROR_UNKNOWN;
}

uint64_t front_wall_us(void)
{
	return gk_wall_ns() / GK_NS_PER_US;
}

nvmlReturn_t front_copy(char *to, unsigned len, const char *from,
			size_t from_len)
{
	size_t n = strnlen(from, from_len);

	if (n >= len)
		return NVML_ERROR_INSUFFICIENT_SIZE;
	memcpy(to, from, n);
	to[n] = '\0';
	return NVML_SUCCESS;
}
