/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reset.h - resets a GPU like `nvidia-smi --gpu-reset`: pending modes and
 * memory repairs take effect, volatile counts restart at 0, and settings that
 * last until the driver unloads are lost.
 */
#ifndef GKF_RESET_H
#define GKF_RESET_H

#include "base/export.h"

struct gkf_machine;

/*
 * Resets a device; GK_ERR_RANGE if there is no such device. The caller handles
 * processes on it and its faults.
 */
GKF_API int gkf_device_reset(struct gkf_machine *m, unsigned device);

#endif
