/* SPDX-License-Identifier: Apache-2.0 */
/*
 * start.c - hooks of the calls with which programs begin. Without a driver, a
 * program thus learns that there is no device, instead of failing because a
 * symbol is missing.
 */
#include "limit/preload/entry/driver.h"

CUresult cuInit(unsigned int Flags)
{
	return REAL(cuInit)(Flags);
}

nvmlReturn_t nvmlInit(void)
{
	return REAL_NVML(nvmlInit)();
}

nvmlReturn_t nvmlInit_v2(void)
{
	return REAL_NVML(nvmlInit_v2)();
}

nvmlReturn_t nvmlInitWithFlags(unsigned int flags)
{
	return REAL_NVML(nvmlInitWithFlags)(flags);
}
