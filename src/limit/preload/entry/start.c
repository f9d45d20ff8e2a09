/*
 * start.c - the calls with which programs begin. They are hooked so that a
 * program without a driver that calls them learns that there is no device,
 * instead of ending for want of the symbol.
 */
#include "limit/preload/driver.h"

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
