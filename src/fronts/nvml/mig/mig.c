/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mig.c - reads and sets the MIG mode of a GPU; finds its MIG devices and
 * reports their attributes.
 */
#include "base/err.h"
#include "fronts/nvml/mig/mig_handle.h"
#include "fronts/nvml/permission.h"
#include "machine/file/board.h"
#include "machine/file/numbers.h"
#include "machine/model/mig/mig.h"
#include "machine/model/mig/mig_rules.h"

#include <string.h>

static const struct gkf_mig_board *can_split(const struct call *c)
{
	return gkf_mig_board(&c->board->profile);
}

nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t device,
				  unsigned int *currentMode,
				  unsigned int *pendingMode)
{
	unsigned mode;

	ENTER_DEVICE(nvmlDeviceGetMigMode, device, currentMode && pendingMode);
	if (!can_split(&c))
		return NVML_ERROR_NOT_SUPPORTED;
	mode = gkf_mig_mode(c.machine, c.index);
	*currentMode = mode & GKF_MIG_CURRENT ? NVML_DEVICE_MIG_ENABLE
					      : NVML_DEVICE_MIG_DISABLE;
	*pendingMode = mode & GKF_MIG_PENDING ? NVML_DEVICE_MIG_ENABLE
					      : NVML_DEVICE_MIG_DISABLE;
	return NVML_SUCCESS;
}

static bool has_instances(const struct call *c)
{
	struct gkf_mig_gi gi;

	for (unsigned i = 0; i < GKF_MIG_GIS; i++)
		if (!gkf_mig_gi_read(c->machine, c->index, i, &gi))
			return true;
	return false;
}

/*
 * If processes prevent the change now, it becomes pending and the call
 * succeeds. If there are GPU instances, the call fails, as nvidia-smi's "Unable
 * to disable MIG Mode for GPU ...: In use by another client" shows.
 */
nvmlReturn_t nvmlDeviceSetMigMode(nvmlDevice_t device, unsigned int mode,
				  nvmlReturn_t *activationStatus)
{
	int r;

	ENTER_DEVICE(nvmlDeviceSetMigMode, device,
		     activationStatus && mode <= NVML_DEVICE_MIG_ENABLE);
	if (!can_split(&c))
		return NVML_ERROR_NOT_SUPPORTED;
	if (!front_may_change(&c))
		return NVML_ERROR_NO_PERMISSION;
	if (mode == NVML_DEVICE_MIG_DISABLE && has_instances(&c))
		return NVML_ERROR_IN_USE;
	r = gkf_mig_mode_set(c.machine, c.index,
			     mode == NVML_DEVICE_MIG_ENABLE);
	if (r && r != GK_ERR_IN_USE)
		return mig_error(r);
	*activationStatus = mig_error(r);
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t device,
					    unsigned int *count)
{
	ENTER_DEVICE(nvmlDeviceGetMaxMigDeviceCount, device, count != NULL);
	*count = can_split(&c) && is_split(&c) ? GKF_MIG_MAX : 0;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t device,
						 unsigned int index,
						 nvmlDevice_t *migDevice)
{
	struct gkf_mig_ci ci;

	ENTER_DEVICE(nvmlDeviceGetMigDeviceHandleByIndex, device,
		     migDevice != NULL);
	if (!can_split(&c))
		return NVML_ERROR_NOT_SUPPORTED;
	if (index >= GKF_MIG_MAX)
		return NVML_ERROR_INVALID_ARGUMENT;
	if (gkf_mig_by_index(c.machine, c.index, index, &ci))
		return NVML_ERROR_NOT_FOUND;
	return mig_give_device(&c, &ci, migDevice);
}

nvmlReturn_t nvmlDeviceIsMigDeviceHandle(nvmlDevice_t device,
					 unsigned int *isMigDevice)
{
	ENTER_DEVICE(nvmlDeviceIsMigDeviceHandle, device, isMigDevice != NULL);
	*isMigDevice = c.instance != GKF_NO_INSTANCE;
	return NVML_SUCCESS;
}

/* The following functions accept only handles of MIG devices. */
nvmlReturn_t
nvmlDeviceGetDeviceHandleFromMigDeviceHandle(nvmlDevice_t migDevice,
					     nvmlDevice_t *device)
{
	ENTER_DEVICE(nvmlDeviceGetDeviceHandleFromMigDeviceHandle, migDevice,
		     device != NULL);
	if (c.instance == GKF_NO_INSTANCE)
		return NVML_ERROR_INVALID_ARGUMENT;
	*device = &front_handles[c.index];
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetGpuInstanceId(nvmlDevice_t device, unsigned int *id)
{
	ENTER_DEVICE(nvmlDeviceGetGpuInstanceId, device, id != NULL);
	if (c.instance == GKF_NO_INSTANCE)
		return NVML_ERROR_NOT_SUPPORTED;
	*id = GKF_INSTANCE_GI(c.instance);
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetComputeInstanceId(nvmlDevice_t device,
					    unsigned int *id)
{
	ENTER_DEVICE(nvmlDeviceGetComputeInstanceId, device, id != NULL);
	if (c.instance == GKF_NO_INSTANCE)
		return NVML_ERROR_NOT_SUPPORTED;
	*id = GKF_INSTANCE_CI(c.instance);
	return NVML_SUCCESS;
}

/* Writes the first `size` bytes of the struct. */
static nvmlReturn_t write_attributes(const struct call *c, size_t size,
				     nvmlDeviceAttributes_t *ret_attributes)
{
	nvmlDeviceAttributes_t a;
	struct gkf_mig_gi gi;
	struct gkf_mig_ci ci;
	nvmlReturn_t r;

	if (c->instance == GKF_NO_INSTANCE)
		return NVML_ERROR_NOT_SUPPORTED;
	r = mig_of_call(c, &ci);
	if (!r)
		r = mig_error(
		    gkf_mig_gi_read(c->machine, c->index, ci.gi, &gi));
	if (r)
		return r;
	a = (nvmlDeviceAttributes_t){
	    .multiprocessorCount = ci.profile.sms,
	    .sharedCopyEngineCount = gi.profile->copy,
	    .sharedDecoderCount = gi.profile->decoders,
	    .sharedEncoderCount = gi.profile->encoders,
	    .sharedJpegCount = gi.profile->jpegs,
	    .sharedOfaCount = gi.profile->ofas,
	    .gpuInstanceSliceCount = gi.profile->slices,
	    .computeInstanceSliceCount = ci.profile.slices,
	    .memorySizeMB = gi.profile->memory_mib,
	};
	r = mig_confirm(c);
	if (!r)
		memcpy(ret_attributes, &a, size);
	return r;
}

/* The size of the first version's struct. */
#define ATTRIBUTES_V1 offsetof(nvmlDeviceAttributes_t, gpuInstanceSliceCount)

nvmlReturn_t nvmlDeviceGetAttributes(nvmlDevice_t device,
				     nvmlDeviceAttributes_t *out)
{
	ENTER_DEVICE(nvmlDeviceGetAttributes, device, out != NULL);
	return write_attributes(&c, ATTRIBUTES_V1, out);
}

nvmlReturn_t nvmlDeviceGetAttributes_v2(nvmlDevice_t device,
					nvmlDeviceAttributes_t *out)
{
	ENTER_DEVICE(nvmlDeviceGetAttributes_v2, device, out != NULL);
	return write_attributes(&c, sizeof *out, out);
}
