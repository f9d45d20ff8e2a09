/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conf.c - confidential computing: `gpukit fake ctl set conf-compute=on` makes
 * the machine a confidential virtual machine, if all its GPUs support it
 * (Hopper and newer). There are no attestation reports or certificates, because
 * NVIDIA would have to sign them.
 */
#include "fronts/nvml/board/conf.h"
#include "fronts/nvml/permission.h"
#include "fronts/nvml/value.h"
#include "machine/file/board.h"
#include "machine/file/profile.h"
#include "machine/file/system_state.h"
#include "machine/file/value.h"
#include "machine/store/board.h"
#include "machine/store/process/ledger.h"
#include "machine/store/settings.h"

static bool is_capable(const struct gkf_profile *p)
{
	return p->compute_major >= 9 && !gkf_is_consumer(p);
}

static bool all_capable(const struct call *c)
{
	for (unsigned i = 0; i < c->device_count; i++)
		if (!is_capable(&gkf_board(c->machine, i)->profile))
			return false;
	return c->device_count > 0;
}

enum gkf_conf_compute conf_mode(const struct call *c)
{
	uint64_t m = gkf_setting(c->machine, GKF_CONF_COMPUTE);

	if (!all_capable(c) || m > GKF_CONF_DEVTOOLS)
		return GKF_CONF_OFF;
	return (enum gkf_conf_compute)m;
}

/* A confidential machine reports a made-up processor with AMD SEV-SNP. */
nvmlReturn_t
nvmlSystemGetConfComputeCapabilities(nvmlConfComputeSystemCaps_t *caps)
{
	ENTER(nvmlSystemGetConfComputeCapabilities, caps != NULL);
	caps->cpuCaps = conf_mode(&c) ? NVML_CC_SYSTEM_CPU_CAPS_AMD_SEV_SNP
				      : NVML_CC_SYSTEM_CPU_CAPS_NONE;
	caps->gpusCaps = all_capable(&c) ? NVML_CC_SYSTEM_GPUS_CC_CAPABLE
					 : NVML_CC_SYSTEM_GPUS_CC_NOT_CAPABLE;
	return NVML_SUCCESS;
}

static nvmlConfComputeSystemState_t read_system_state(const struct call *c)
{
	bool on = conf_mode(c) != GKF_CONF_OFF;

	return (nvmlConfComputeSystemState_t){
	    .environment = on ? NVML_CC_SYSTEM_ENVIRONMENT_PROD
			      : NVML_CC_SYSTEM_ENVIRONMENT_UNAVAILABLE,
	    .ccFeature = on ? NVML_CC_SYSTEM_FEATURE_ENABLED
			    : NVML_CC_SYSTEM_FEATURE_DISABLED,
	    .devToolsMode = conf_mode(c) == GKF_CONF_DEVTOOLS
				? NVML_CC_SYSTEM_DEVTOOLS_MODE_ON
				: NVML_CC_SYSTEM_DEVTOOLS_MODE_OFF,
	};
}

nvmlReturn_t nvmlSystemGetConfComputeState(nvmlConfComputeSystemState_t *ret)
{
	ENTER(nvmlSystemGetConfComputeState, ret != NULL);
	*ret = read_system_state(&c);
	return NVML_SUCCESS;
}

/* Blackwell GPUs encrypt the NVLinks between them. */
static unsigned multi_gpu(const struct call *c)
{
	if (conf_mode(c) == GKF_CONF_OFF || c->device_count < 2)
		return NVML_CC_SYSTEM_MULTIGPU_NONE;
	return gkf_board(c->machine, 0)->profile.nvlink_version >= 5
		   ? NVML_CC_SYSTEM_MULTIGPU_NVLE
		   : NVML_CC_SYSTEM_MULTIGPU_PROTECTED_PCIE;
}

nvmlReturn_t
nvmlSystemGetConfComputeSettings(nvmlSystemConfComputeSettings_t *settings)
{
	nvmlConfComputeSystemState_t s;

	ENTER(nvmlSystemGetConfComputeSettings, settings != NULL);
	if (!TAKES(settings->version, nvmlSystemConfComputeSettings_v1))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	s = read_system_state(&c);
	settings->environment = s.environment;
	settings->ccFeature = s.ccFeature;
	settings->devToolsMode = s.devToolsMode;
	settings->multiGpuMode = multi_gpu(&c);
	return NVML_SUCCESS;
}

/* ---- whether GPUs accept work: set by an administrator ---- */

static bool is_ready(const struct call *c)
{
	return gkf_setting(c->machine, GKF_CONF_READY) == 1;
}

nvmlReturn_t
nvmlSystemGetConfComputeGpusReadyState(unsigned int *isAcceptingWork)
{
	ENTER(nvmlSystemGetConfComputeGpusReadyState, isAcceptingWork != NULL);
	if (conf_mode(&c) == GKF_CONF_OFF)
		return NVML_ERROR_NOT_SUPPORTED;
	*isAcceptingWork = is_ready(&c);
	return NVML_SUCCESS;
}

nvmlReturn_t
nvmlSystemSetConfComputeGpusReadyState(unsigned int isAcceptingWork)
{
	nvmlReturn_t r;

	ENTER(nvmlSystemSetConfComputeGpusReadyState,
	      isAcceptingWork <= NVML_CC_ACCEPTING_CLIENT_REQUESTS_TRUE);
	if (conf_mode(&c) == GKF_CONF_OFF)
		return NVML_ERROR_NOT_SUPPORTED;
	r = front_permit(&c);
	if (!r)
		gkf_setting_put(c.machine, GKF_CONF_READY, isAcceptingWork);
	return r;
}

/* ---- key rotation ---- */

#define ADVANTAGE_DEFAULT 60

nvmlReturn_t nvmlSystemGetConfComputeKeyRotationThresholdInfo(
    nvmlConfComputeGetKeyRotationThresholdInfo_t *info)
{
	uint64_t set;

	ENTER(nvmlSystemGetConfComputeKeyRotationThresholdInfo, info != NULL);
	if (!TAKES(info->version,
		   nvmlConfComputeGetKeyRotationThresholdInfo_v1))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	if (conf_mode(&c) == GKF_CONF_OFF)
		return NVML_ERROR_NOT_SUPPORTED;
	set = gkf_setting(c.machine, GKF_CONF_ADVANTAGE);
	info->attackerAdvantage = set ? set : ADVANTAGE_DEFAULT;
	return NVML_SUCCESS;
}

static bool is_advantage(unsigned long long a)
{
	return a >= NVML_CC_KEY_ROTATION_THRESHOLD_ATTACKER_ADVANTAGE_MIN &&
	       a <= NVML_CC_KEY_ROTATION_THRESHOLD_ATTACKER_ADVANTAGE_MAX;
}

/* Returns INVALID_STATE while the GPUs accept work. */
nvmlReturn_t nvmlSystemSetConfComputeKeyRotationThresholdInfo(
    nvmlConfComputeSetKeyRotationThresholdInfo_t *info)
{
	nvmlReturn_t r;

	ENTER(nvmlSystemSetConfComputeKeyRotationThresholdInfo, info != NULL);
	if (!TAKES(info->version,
		   nvmlConfComputeSetKeyRotationThresholdInfo_v1))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	if (conf_mode(&c) == GKF_CONF_OFF)
		return NVML_ERROR_NOT_SUPPORTED;
	if (!is_advantage(info->maxAttackerAdvantage))
		return NVML_ERROR_INVALID_ARGUMENT;
	r = front_permit(&c);
	if (!r && is_ready(&c))
		r = NVML_ERROR_INVALID_STATE;
	if (!r)
		gkf_setting_put(c.machine, GKF_CONF_ADVANTAGE,
				info->maxAttackerAdvantage);
	return r;
}

/* ---- the memory of a device, in KiB ---- */

static uint64_t memory_kib(const struct call *c)
{
	return (uint64_t)c->board->profile.memory_mib * 1024;
}

/* The size of the unprotected memory: all of the memory unless the machine is
 * confidential. */
static uint64_t open_kib(const struct call *c)
{
	int64_t open = 0;

	if (conf_mode(c) == GKF_CONF_OFF)
		return memory_kib(c);
	read_device_value(c, GKF_V_UNPROTECTED, &open);
	return (uint64_t)open < memory_kib(c) ? (uint64_t)open : memory_kib(c);
}

nvmlReturn_t
nvmlDeviceGetConfComputeMemSizeInfo(nvmlDevice_t device,
				    nvmlConfComputeMemSizeInfo_t *memInfo)
{
	ENTER_DEVICE(nvmlDeviceGetConfComputeMemSizeInfo, device,
		     memInfo != NULL);
	memInfo->unprotectedMemSizeKib = open_kib(&c);
	memInfo->protectedMemSizeKib =
	    memory_kib(&c) - memInfo->unprotectedMemSizeKib;
	return NVML_SUCCESS;
}

nvmlReturn_t
nvmlDeviceSetConfComputeUnprotectedMemSize(nvmlDevice_t device,
					   unsigned long long sizeKiB)
{
	ENTER_DEVICE(nvmlDeviceSetConfComputeUnprotectedMemSize, device,
		     sizeKiB < 1ULL << 40);
	if (conf_mode(&c) == GKF_CONF_OFF)
		return NVML_ERROR_NOT_SUPPORTED;
	if (sizeKiB > memory_kib(&c))
		return NVML_ERROR_INVALID_ARGUMENT;
	return front_set(&c, GKF_V_UNPROTECTED, (int64_t)sizeKiB);
}

/* If confidential computing is off, all sizes are 0, as published listings
 * show. */
nvmlReturn_t nvmlDeviceGetConfComputeProtectedMemoryUsage(nvmlDevice_t device,
							  nvmlMemory_t *memory)
{
	struct gkf_memory m;
	uint64_t total;

	ENTER_DEVICE(nvmlDeviceGetConfComputeProtectedMemoryUsage, device,
		     memory != NULL);
	total = (memory_kib(&c) - open_kib(&c)) * 1024;
	gkf_memory(c.machine, c.index, &m);
	memory->total = total;
	memory->used = m.used < total ? m.used : total;
	memory->free = total - memory->used;
	return NVML_SUCCESS;
}
