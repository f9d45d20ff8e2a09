/* SPDX-License-Identifier: Apache-2.0 */
/* reset.c - resets a GPU; see reset.h. */
#include "machine/trouble/reset.h"
#include "base/err.h"
#include "machine/file/device.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/value.h"
#include "machine/model/ecc.h"
#include "machine/model/mig/mig.h"
#include "machine/model/smoothing.h"
#include "machine/model/model.h"
#include "machine/store/view.h"
#include "machine/store/writers_lock.h"
#include "machine/trouble/fault.h"

/* Pending modes, and the current ones that they become. */
static const struct {
	enum gkf_value pending, current;
} modes[] = {
    {GKF_V_ECC_PENDING, GKF_V_ECC_MODE},
    {GKF_V_DRAM_ENCRYPTION_PENDING, GKF_V_DRAM_ENCRYPTION},
};

/* Settings that are lost when the driver unloads. */
static const enum gkf_value forgotten[] = {
    GKF_V_LOCK_SM_MIN,     GKF_V_LOCK_SM_MAX,
    GKF_V_LOCK_MEM_MIN,    GKF_V_LOCK_MEM_MAX,
    GKF_V_APP_SM,          GKF_V_APP_MEM,
    GKF_V_SM_OFFSET,       GKF_V_MEM_OFFSET,
    GKF_V_POWER_LIMIT,     GKF_V_FAN_TARGET,
    GKF_V_COMPUTE_MODE,    GKF_V_POWER_PROFILES,
    GKF_V_POWER_MIZER,     GKF_V_TARGET_TEMPERATURE,
    GKF_V_POWER_SMOOTHING, GKF_V_SMOOTHING_PROFILE,
};

/*
 * Sets the current mode before it clears the pending one, so that nothing is
 * lost if this process is killed in between.
 */
static void apply_modes(struct gkf_device *dev)
{
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
		int64_t to = atomic_load(&dev->set[modes[i].pending]);

		if (to == GKF_UNSET)
			continue;
		atomic_store(&dev->set[modes[i].current], to);
		atomic_store(&dev->set[modes[i].pending], GKF_UNSET);
	}
}

int gkf_device_reset(struct gkf_machine *m, unsigned device)
{
	struct gkf_device *dev;
	int r, advice;

	if (device >= m->device_count)
		return GK_ERR_RANGE;
	r = gkf_lock(m);
	if (r)
		return r;
	dev = &m->file->device[device];
	gkf_state_advance(m, device);
	advice = gkf_fault_recovery(m, device);
	gkf_ecc_reset(m, device);
	gkf_fault_tell_recovery(m, device, advice);
	gkf_smoothing_reset(m, device);
	gkf_mig_reset(m, device);
	apply_modes(dev);
	for (size_t i = 0; i < sizeof forgotten / sizeof *forgotten; i++)
		atomic_store(&dev->set[forgotten[i]], GKF_UNSET);
	gkf_unlock(m);
	return 0;
}
