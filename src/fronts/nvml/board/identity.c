/* SPDX-License-Identifier: Apache-2.0 */
/*
 * identity.c - returns the name, index and UUID of a GPU or MIG device.
 */
#include "fronts/nvml/mig/mig_handle.h"
#include "machine/file/board.h"
#include "machine/file/numbers.h"
#include "machine/model/mig/mig.h"
#include "machine/store/listed.h"

#include <stdio.h>

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char *name,
			       unsigned int length)
{
	char whole[MIG_NAME_MAX];
	struct gkf_mig_ci ci;
	nvmlReturn_t r;

	ENTER_DEVICE(nvmlDeviceGetName, device, name != NULL);
	if (c.instance != GKF_NO_INSTANCE) {
		r = mig_of_call(&c, &ci);
		if (r)
			return r;
		mig_name(&c, &ci, whole);
	} else {
		snprintf(whole, sizeof(whole), "%s%s", c.board->profile.mark,
			 c.board->profile.name);
	}
	return front_copy(name, length, whole, sizeof(whole));
}

nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned int *index)
{
	struct gkf_mig_ci ci;
	nvmlReturn_t r;

	ENTER_DEVICE(nvmlDeviceGetIndex, device, index != NULL);
	if (c.instance == GKF_NO_INSTANCE) {
		*index = gkf_listed_before(c.machine, c.index);
		return NVML_SUCCESS;
	}
	r = mig_of_call(&c, &ci);
	if (!r)
		*index = ci.index;
	return r;
}

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char *uuid,
			       unsigned int length)
{
	char its[GKF_MIG_UUID_MAX];
	struct gkf_mig_ci ci;
	nvmlReturn_t r;

	ENTER_DEVICE(nvmlDeviceGetUUID, device, uuid != NULL);
	if (c.instance == GKF_NO_INSTANCE)
		return front_copy(uuid, length, c.board->uuid,
				  sizeof(c.board->uuid));
	r = mig_of_call(&c, &ci);
	if (r)
		return r;
	gkf_mig_uuid(c.machine, c.index, &ci, its);
	return front_copy(uuid, length, its, sizeof(its));
}
