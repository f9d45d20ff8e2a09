/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collect_board.c - reads facts about the board, the fabric and MIG instances.
 */
#include "core/read/collect_board.h"
#include "base/array.h"

#define READER(name)                                                           \
	nvmlReturn_t gk_read_##name(const struct gk_nvml *nvml,                \
				    nvmlDevice_t dev,                          \
				    int64_t out[GK_ROW_VALUES])

/* Declares a struct, sets its version and calls a function that fills it. */
#define STRUCT(type, name, function)                                           \
	type name = {.version = type##_version};                               \
	nvmlReturn_t r = GK_NVML_CALL(nvml, function, dev, &name)

#define nvmlPciInfoExt_t_version         nvmlPciInfoExt_v1
#define nvmlPdi_t_version                nvmlPdi_v1
#define nvmlDeviceCapabilities_t_version nvmlDeviceCapabilities_v1
#define nvmlEccSramErrorStatus_t_version nvmlEccSramErrorStatus_v1

READER(pci_class)
{
	STRUCT(nvmlPciInfoExt_t, pci, nvmlDeviceGetPciInfoExt);

	out[0] = (int64_t)pci.baseClass << 8 | pci.subClass;
	return r;
}

READER(pdi)
{
	STRUCT(nvmlPdi_t, pdi, nvmlDeviceGetPdi);

	out[0] = (int64_t)pdi.value;
	return r;
}

/* The return code tells whether the inforom is valid. */
READER(inforom_valid)
{
	nvmlReturn_t r = GK_NVML_CALL(nvml, nvmlDeviceValidateInforom, dev);

	out[0] = !r;
	return r == NVML_ERROR_CORRUPTED_INFOROM ? NVML_SUCCESS : r;
}

READER(capabilities)
{
	STRUCT(nvmlDeviceCapabilities_t, caps, nvmlDeviceGetCapabilities);

	out[0] = caps.capMask;
	return r;
}

READER(c2c)
{
	nvmlC2cModeInfo_v1_t mode = {0};
	nvmlReturn_t r =
	    GK_NVML_CALL(nvml, nvmlDeviceGetC2cModeInfoV, dev, &mode);

	out[0] = mode.isC2cEnabled;
	return r;
}

READER(encryption)
{
	nvmlDramEncryptionInfo_t now = {.version = nvmlDramEncryptionInfo_v1};
	nvmlDramEncryptionInfo_t then = {.version = nvmlDramEncryptionInfo_v1};
	nvmlReturn_t r = GK_NVML_CALL(nvml, nvmlDeviceGetDramEncryptionMode,
				      dev, &now, &then);

	out[0] = (int64_t)now.encryptionState;
	out[1] = (int64_t)then.encryptionState;
	return r;
}

READER(protected)
{
	nvmlMemory_t memory = {0};
	nvmlReturn_t r = GK_NVML_CALL(
	    nvml, nvmlDeviceGetConfComputeProtectedMemoryUsage, dev, &memory);

	out[0] = GK_ROW_NUMBER(memory.total, 1);
	out[1] = GK_ROW_NUMBER(memory.used, 1);
	return r;
}

/* Drivers before 550 tell only whether the GPU has joined. */
static nvmlReturn_t read_old_fabric(const struct gk_nvml *nvml,
				    nvmlDevice_t dev,
				    int64_t out[GK_ROW_VALUES])
{
	nvmlGpuFabricInfo_t fabric = {0};
	nvmlReturn_t r =
	    GK_NVML_CALL(nvml, nvmlDeviceGetGpuFabricInfo, dev, &fabric);

	out[0] = fabric.state;
	out[1] = (int64_t)fabric.status;
	out[2] = out[3] = out[4] = GK_ROW_MISSING;
	return r;
}

/* Version 2 of the struct lacks the health summary. */
READER(fabric)
{
	nvmlGpuFabricInfoV_t fabric = {.version = nvmlGpuFabricInfo_v3};
	nvmlReturn_t r =
	    GK_NVML_CALL(nvml, nvmlDeviceGetGpuFabricInfoV, dev, &fabric);

	if (r == NVML_ERROR_FUNCTION_NOT_FOUND)
		return read_old_fabric(nvml, dev, out);
	out[4] = fabric.healthSummary;
	if (r == NVML_ERROR_ARGUMENT_VERSION_MISMATCH) {
		fabric.version = nvmlGpuFabricInfo_v2;
		r = GK_NVML_CALL(nvml, nvmlDeviceGetGpuFabricInfoV, dev,
				 &fabric);
		out[4] = GK_ROW_MISSING;
	}
	out[0] = fabric.state;
	out[1] = (int64_t)fabric.status;
	out[2] = fabric.cliqueId;
	out[3] = fabric.healthMask;
	return r;
}

/* Version 1 of the struct has the same layout with other names. */
READER(platform)
{
	nvmlPlatformInfo_v2_t info = {.version = nvmlPlatformInfo_v2};
	nvmlReturn_t r =
	    GK_NVML_CALL(nvml, nvmlDeviceGetPlatformInfo, dev, &info);

	out[0] = info.slotNumber;
	out[1] = info.trayIndex;
	out[2] = info.hostId;
	out[3] = info.peerType;
	return r;
}

READER(unrepairable)
{
	nvmlUnrepairableMemoryStatus_v1_t status = {0};
	nvmlReturn_t r = GK_NVML_CALL(
	    nvml, nvmlDeviceGetUnrepairableMemoryFlag_v1, dev, &status);

	out[0] = status.bUnrepairableMemory;
	return r;
}

READER(sram)
{
	STRUCT(nvmlEccSramErrorStatus_t, s, nvmlDeviceGetSramEccErrorStatus);
	const unsigned long long counts[] = {
	    s.aggregateUncParity,      s.aggregateUncSecDed,
	    s.volatileUncParity,       s.volatileUncSecDed,
	    s.aggregateUncBucketL2,    s.aggregateUncBucketSm,
	    s.aggregateUncBucketPcie,  s.aggregateUncBucketMcu,
	    s.aggregateUncBucketOther, s.bThresholdExceeded,
	};

	for (size_t i = 0; i < COUNT(counts); i++)
		out[i] = GK_ROW_NUMBER(counts[i], 1);
	return r;
}

static bool is_mig(const struct gk_nvml *nvml, nvmlDevice_t dev)
{
	unsigned answer = 0;

	return !GK_NVML_CALL(nvml, nvmlDeviceIsMigDeviceHandle, dev, &answer) &&
	       answer;
}

READER(mig_parts)
{
	nvmlDeviceAttributes_t parts = {0};
	nvmlReturn_t r;

	if (!is_mig(nvml, dev))
		return NVML_ERROR_NOT_SUPPORTED;
	r = GK_NVML_CALL(nvml, nvmlDeviceGetAttributes_v2, dev, &parts);
	out[0] = parts.multiprocessorCount;
	out[1] = parts.sharedCopyEngineCount;
	out[2] = parts.sharedDecoderCount;
	out[3] = parts.sharedEncoderCount;
	out[4] = parts.sharedJpegCount;
	out[5] = parts.sharedOfaCount;
	return r;
}

READER(instances)
{
	nvmlComputeInstance_t compute = NULL;
	nvmlComputeInstanceInfo_t c = {0};
	nvmlGpuInstance_t instance = NULL;
	nvmlGpuInstanceInfo_t g = {0};
	nvmlDevice_t gpu = NULL;
	unsigned gi = 0, ci = 0;
	nvmlReturn_t r;

	if (!is_mig(nvml, dev))
		return NVML_ERROR_NOT_SUPPORTED;
	r = GK_NVML_CALL(nvml, nvmlDeviceGetDeviceHandleFromMigDeviceHandle,
			 dev, &gpu);
	r = r ? r : GK_NVML_CALL(nvml, nvmlDeviceGetGpuInstanceId, dev, &gi);
	r = r ? r
	      : GK_NVML_CALL(nvml, nvmlDeviceGetComputeInstanceId, dev, &ci);
	r = r ? r
	      : GK_NVML_CALL(nvml, nvmlDeviceGetGpuInstanceById, gpu, gi,
			     &instance);
	r = r ? r : GK_NVML_CALL(nvml, nvmlGpuInstanceGetInfo, instance, &g);
	r = r ? r
	      : GK_NVML_CALL(nvml, nvmlGpuInstanceGetComputeInstanceById,
			     instance, ci, &compute);
	r = r ? r
	      : GK_NVML_CALL(nvml, nvmlComputeInstanceGetInfo_v2, compute, &c);
	out[0] = g.profileId;
	out[1] = g.placement.start;
	out[2] = g.placement.size;
	out[3] = c.profileId;
	out[4] = c.placement.start;
	out[5] = c.placement.size;
	return r;
}
