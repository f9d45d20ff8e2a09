/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All types and constants of NVML 13, by topic. Contains only facts about the
 * interface: names, numbers and layouts. The names are NVML's own, so that its
 * documentation applies.
 */
#ifndef GPUKIT_ABI_NVML_TYPES_H
#define GPUKIT_ABI_NVML_TYPES_H

#include "nvml_base.h"
#include "nvml_device.h"
#include "nvml_clock.h"
#include "nvml_thermal.h"
#include "nvml_power.h"
#include "nvml_ecc.h"
#include "nvml_process.h"
#include "nvml_field.h"
#include "nvml_event.h"
#include "nvml_link.h"
#include "nvml_unit.h"
#include "nvml_system.h"
#include "nvml_mig.h"
#include "nvml_gpm.h"
#include "nvml_vgpu.h"
#include "nvml_cc.h"
#include "nvml_layout.h"

#endif
