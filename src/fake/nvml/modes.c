/* modes.c - the switches of a device that root turns. */
#include "fake/nvml/permission.h"

static bool is_switch(nvmlEnableState_t state)
{
	return (unsigned)state <= NVML_FEATURE_ENABLED;
}

nvmlReturn_t nvmlDeviceSetPersistenceMode(nvmlDevice_t device,
					  nvmlEnableState_t mode)
{
	ENTER_DEVICE(nvmlDeviceSetPersistenceMode, device, is_switch(mode));
	return front_set(&c, GKF_V_PERSISTENCE, mode);
}
