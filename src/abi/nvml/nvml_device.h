/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVML device facts: PCI identity, memory sizes, modes, names of constants.
 */
#ifndef GPUKIT_ABI_NVML_DEVICE_H
#define GPUKIT_ABI_NVML_DEVICE_H

#include "nvml_base.h"

typedef struct {
	unsigned int version;
	unsigned int domain;
	unsigned int bus;
	unsigned int device;
	unsigned int pciDeviceId; /* device << 16 | vendor */
	unsigned int pciSubSystemId;
	unsigned int baseClass;
	unsigned int subClass;
	char busId[NVML_DEVICE_PCI_BUS_ID_BUFFER_SIZE];
} nvmlPciInfoExt_v1_t;
typedef nvmlPciInfoExt_v1_t nvmlPciInfoExt_t;
#define nvmlPciInfoExt_v1 NVML_STRUCT_VERSION(PciInfoExt, 1)

/*
 * 68 bytes, as written by nvmlDeviceGetPciInfo_v3(): writing more would overrun
 * the caller's buffer. Examples: busIdLegacy 0000:01:00.0, busId
 * 00000000:01:00.0.
 */
typedef struct nvmlPciInfo_st {
	char busIdLegacy[NVML_DEVICE_PCI_BUS_ID_BUFFER_V2_SIZE];
	unsigned int domain;
	unsigned int bus;
	unsigned int device;
	unsigned int pciDeviceId; /* device << 16 | vendor */
	unsigned int pciSubSystemId;
	char busId[NVML_DEVICE_PCI_BUS_ID_BUFFER_SIZE];
} nvmlPciInfo_t;

/*
 * 52 bytes: the struct that programs older than _v3 pass to
 * nvmlDeviceGetPciInfo() and nvmlDeviceGetPciInfo_v2(). NVML 13 declares both
 * functions with nvmlPciInfo_t, and so do our rows, but writing a whole
 * nvmlPciInfo_t would overrun the buffers of such programs.
 */
typedef struct {
	char busId[NVML_DEVICE_PCI_BUS_ID_BUFFER_V2_SIZE];
	unsigned int domain;
	unsigned int bus;
	unsigned int device;
	unsigned int pciDeviceId; /* device << 16 | vendor */
	unsigned int pciSubSystemId;
	unsigned int reserved0;
	unsigned int reserved1;
	unsigned int reserved2;
	unsigned int reserved3;
} nvmlPciInfo_v2_t;

/* domain, bus, device; 12 characters, with a 16-bit domain. */
#define NVML_DEVICE_PCI_BUS_ID_LEGACY_FMT "%04X:%02X:%02X.0"

/* domain, bus, device; 16 characters, with a 32-bit domain. */
#define NVML_DEVICE_PCI_BUS_ID_FMT "%08X:%02X:%02X.0"

/* Percent of the last sampling period, which is 1/6 s to 1 s long. */
typedef struct nvmlUtilization_st {
	unsigned int gpu;
	unsigned int memory;
} nvmlUtilization_t;

/*
 * In bytes. `used` includes the driver's reserved memory: total = used + free.
 */
typedef struct nvmlMemory_st {
	unsigned long long total;
	unsigned long long free;
	unsigned long long used;
} nvmlMemory_t;

/*
 * In bytes; total = reserved + used + free. `version` has 4 bytes, followed by
 * 4 bytes of padding.
 */
typedef struct nvmlMemory_v2_st {
	unsigned int version;
	unsigned long long total;
	unsigned long long reserved;
	unsigned long long free;
	unsigned long long used;
} nvmlMemory_v2_t;
#define nvmlMemory_v2 NVML_STRUCT_VERSION(Memory, 2)

/* Bytes. */
typedef struct nvmlBAR1Memory_st {
	unsigned long long bar1Total;
	unsigned long long bar1Free;
	unsigned long long bar1Used;
} nvmlBAR1Memory_t;

/*
 * The parts of a GPU that a MIG device owns or shares with other MIG devices.
 * Callers of nvmlDeviceGetAttributes() allocate only the first 24 bytes,
 * callers of _v2 all.
 */
typedef struct nvmlDeviceAttributes_st {
	unsigned int multiprocessorCount;
	unsigned int sharedCopyEngineCount;
	unsigned int sharedDecoderCount;
	unsigned int sharedEncoderCount;
	unsigned int sharedJpegCount;
	unsigned int sharedOfaCount;
	unsigned int gpuInstanceSliceCount;
	unsigned int computeInstanceSliceCount;
	unsigned long long memorySizeMB; /* MiB */
} nvmlDeviceAttributes_t;

typedef enum {
	NVML_DEVICE_ADDRESSING_MODE_NONE = 0,
	NVML_DEVICE_ADDRESSING_MODE_HMM = 1,
	NVML_DEVICE_ADDRESSING_MODE_ATS = 2,
} nvmlDeviceAddressingModeType_t;

typedef struct {
	unsigned int version;
	unsigned int value;
} nvmlDeviceAddressingMode_v1_t;
typedef nvmlDeviceAddressingMode_v1_t nvmlDeviceAddressingMode_t;
#define nvmlDeviceAddressingMode_v1 NVML_STRUCT_VERSION(DeviceAddressingMode, 1)

typedef enum nvmlPcieUtilCounter_enum {
	NVML_PCIE_UTIL_TX_BYTES = 0,
	NVML_PCIE_UTIL_RX_BYTES = 1,
	NVML_PCIE_UTIL_COUNT,
} nvmlPcieUtilCounter_t;

#define NVML_DEVICE_UUID_ASCII_LEN  41
#define NVML_DEVICE_UUID_BINARY_LEN 16

/* Says which member of nvmlUUIDValue_t is valid. */
typedef enum {
	NVML_UUID_TYPE_NONE = 0,
	NVML_UUID_TYPE_ASCII = 1,
	NVML_UUID_TYPE_BINARY = 2,
} nvmlUUIDType_t;

typedef union {
	char str[NVML_DEVICE_UUID_ASCII_LEN];
	unsigned char bytes[NVML_DEVICE_UUID_BINARY_LEN];
} nvmlUUIDValue_t;

typedef struct {
	unsigned int version;
	unsigned int type;
	nvmlUUIDValue_t value;
} nvmlUUID_v1_t;
typedef nvmlUUID_v1_t nvmlUUID_t;
#define nvmlUUID_v1 NVML_STRUCT_VERSION(UUID, 1)

typedef struct {
	unsigned int version;
	unsigned long long value;
} nvmlPdi_v1_t;
typedef nvmlPdi_v1_t nvmlPdi_t;
#define nvmlPdi_v1 NVML_STRUCT_VERSION(Pdi, 1)

typedef struct {
	unsigned int timeRun;
} nvmlBBXTimeData_v1_t;

typedef struct {
	unsigned int version;
	nvmlEnableState_t encryptionState;
} nvmlDramEncryptionInfo_v1_t;
typedef nvmlDramEncryptionInfo_v1_t nvmlDramEncryptionInfo_t;
#define nvmlDramEncryptionInfo_v1 NVML_STRUCT_VERSION(DramEncryptionInfo, 1)

typedef enum nvmlBrandType_enum {
	NVML_BRAND_UNKNOWN = 0,
	NVML_BRAND_QUADRO = 1,
	NVML_BRAND_TESLA = 2,
	NVML_BRAND_NVS = 3,
	NVML_BRAND_GRID = 4,
	NVML_BRAND_GEFORCE = 5,
	NVML_BRAND_TITAN = 6,
	NVML_BRAND_NVIDIA_VAPPS = 7,
	NVML_BRAND_NVIDIA_VPC = 8,
	NVML_BRAND_NVIDIA_VCS = 9,
	NVML_BRAND_NVIDIA_VWS = 10,
	NVML_BRAND_NVIDIA_CLOUD_GAMING = 11,
	NVML_BRAND_NVIDIA_VGAMING = NVML_BRAND_NVIDIA_CLOUD_GAMING,
	NVML_BRAND_QUADRO_RTX = 12,
	NVML_BRAND_NVIDIA_RTX = 13,
	NVML_BRAND_NVIDIA = 14,
	NVML_BRAND_GEFORCE_RTX = 15,
	NVML_BRAND_TITAN_RTX = 16,
	NVML_BRAND_COUNT = 18,
} nvmlBrandType_t;

/* Current drivers do not offer EXCLUSIVE_THREAD. */
typedef enum nvmlComputeMode_enum {
	NVML_COMPUTEMODE_DEFAULT = 0,
	NVML_COMPUTEMODE_EXCLUSIVE_THREAD = 1,
	NVML_COMPUTEMODE_PROHIBITED = 2,
	NVML_COMPUTEMODE_EXCLUSIVE_PROCESS = 3,
	NVML_COMPUTEMODE_COUNT,
} nvmlComputeMode_t;

/* Windows only; on Linux NVML_ERROR_NOT_SUPPORTED. */
typedef enum nvmlDriverModel_enum {
	NVML_DRIVER_WDDM = 0,
	NVML_DRIVER_WDM = 1,
	NVML_DRIVER_MCDM = 2,
} nvmlDriverModel_t;

typedef enum nvmlGom_enum {
	NVML_GOM_ALL_ON = 0,
	NVML_GOM_COMPUTE = 1,
	NVML_GOM_LOW_DP = 2,
} nvmlGpuOperationMode_t;

typedef enum nvmlInforomObject_enum {
	NVML_INFOROM_OEM = 0,
	NVML_INFOROM_ECC = 1,
	NVML_INFOROM_POWER = 2,
	NVML_INFOROM_DEN = 3,
	NVML_INFOROM_COUNT,
} nvmlInforomObject_t;

typedef enum nvmlRestrictedAPI_enum {
	NVML_RESTRICTED_API_SET_APPLICATION_CLOCKS = 0,
	NVML_RESTRICTED_API_SET_AUTO_BOOSTED_CLOCKS = 1,
	NVML_RESTRICTED_API_COUNT,
} nvmlRestrictedAPI_t;

#define NVML_DEVICE_ARCH_KEPLER    2
#define NVML_DEVICE_ARCH_MAXWELL   3
#define NVML_DEVICE_ARCH_PASCAL    4
#define NVML_DEVICE_ARCH_VOLTA     5
#define NVML_DEVICE_ARCH_TURING    6
#define NVML_DEVICE_ARCH_AMPERE    7
#define NVML_DEVICE_ARCH_ADA       8
#define NVML_DEVICE_ARCH_HOPPER    9
#define NVML_DEVICE_ARCH_BLACKWELL 10
#define NVML_DEVICE_ARCH_RUBIN     13
#define NVML_DEVICE_ARCH_UNKNOWN   0xffffffff
typedef unsigned int nvmlDeviceArchitecture_t;

#define NVML_BUS_TYPE_UNKNOWN 0
#define NVML_BUS_TYPE_PCI     1
#define NVML_BUS_TYPE_PCIE    2
#define NVML_BUS_TYPE_FPCI    3
#define NVML_BUS_TYPE_AGP     4
typedef unsigned int nvmlBusType_t;

#define NVML_PCIE_LINK_MAX_SPEED_INVALID   0x00000000
#define NVML_PCIE_LINK_MAX_SPEED_2500MBPS  0x00000001
#define NVML_PCIE_LINK_MAX_SPEED_5000MBPS  0x00000002
#define NVML_PCIE_LINK_MAX_SPEED_8000MBPS  0x00000003
#define NVML_PCIE_LINK_MAX_SPEED_16000MBPS 0x00000004
#define NVML_PCIE_LINK_MAX_SPEED_32000MBPS 0x00000005
#define NVML_PCIE_LINK_MAX_SPEED_64000MBPS 0x00000006
#define NVML_PCIE_ATOMICS_CAP_FETCHADD32   0x01
#define NVML_PCIE_ATOMICS_CAP_FETCHADD64   0x02
#define NVML_PCIE_ATOMICS_CAP_SWAP32       0x04
#define NVML_PCIE_ATOMICS_CAP_SWAP64       0x08
#define NVML_PCIE_ATOMICS_CAP_CAS32        0x10
#define NVML_PCIE_ATOMICS_CAP_CAS64        0x20
#define NVML_PCIE_ATOMICS_CAP_CAS128       0x40
#define NVML_PCIE_ATOMICS_OPS_MAX          7

#define NVML_DEV_CAP_EGM (1 << 0)

typedef struct {
	unsigned int version;
	unsigned int capMask;
} nvmlDeviceCapabilities_v1_t;
typedef nvmlDeviceCapabilities_v1_t nvmlDeviceCapabilities_t;
#define nvmlDeviceCapabilities_v1 NVML_STRUCT_VERSION(DeviceCapabilities, 1)

#endif
