/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVML links between chips: topology, P2P, NVLink, bridges, C2C, fabric.
 */
#ifndef GPUKIT_ABI_NVML_LINK_H
#define GPUKIT_ABI_NVML_LINK_H

#include "nvml_base.h"

typedef struct {
	unsigned int isC2cEnabled;
} nvmlC2cModeInfo_v1_t;
#define nvmlC2cModeInfo_v1 NVML_STRUCT_VERSION(C2cModeInfo, 1)

typedef enum nvmlBridgeChipType_enum {
	NVML_BRIDGE_CHIP_PLX = 0,
	NVML_BRIDGE_CHIP_BRO4 = 1,
} nvmlBridgeChipType_t;

#define NVML_NVLINK_MAX_LINKS 36

typedef enum nvmlNvLinkUtilizationCountUnits_enum {
	NVML_NVLINK_COUNTER_UNIT_CYCLES = 0,
	NVML_NVLINK_COUNTER_UNIT_PACKETS = 1,
	NVML_NVLINK_COUNTER_UNIT_BYTES = 2,
	NVML_NVLINK_COUNTER_UNIT_RESERVED = 3,
	NVML_NVLINK_COUNTER_UNIT_COUNT,
} nvmlNvLinkUtilizationCountUnits_t;

typedef enum nvmlNvLinkUtilizationCountPktTypes_enum {
	NVML_NVLINK_COUNTER_PKTFILTER_NOP = 0x1,
	NVML_NVLINK_COUNTER_PKTFILTER_READ = 0x2,
	NVML_NVLINK_COUNTER_PKTFILTER_WRITE = 0x4,
	NVML_NVLINK_COUNTER_PKTFILTER_RATOM = 0x8,
	NVML_NVLINK_COUNTER_PKTFILTER_NRATOM = 0x10,
	NVML_NVLINK_COUNTER_PKTFILTER_FLUSH = 0x20,
	NVML_NVLINK_COUNTER_PKTFILTER_RESPDATA = 0x40,
	NVML_NVLINK_COUNTER_PKTFILTER_RESPNODATA = 0x80,
	NVML_NVLINK_COUNTER_PKTFILTER_ALL = 0xFF,
} nvmlNvLinkUtilizationCountPktTypes_t;

typedef struct nvmlNvLinkUtilizationControl_st {
	nvmlNvLinkUtilizationCountUnits_t units;
	nvmlNvLinkUtilizationCountPktTypes_t pktfilter;
} nvmlNvLinkUtilizationControl_t;

typedef enum nvmlNvLinkCapability_enum {
	NVML_NVLINK_CAP_P2P_SUPPORTED = 0,
	NVML_NVLINK_CAP_SYSMEM_ACCESS = 1,
	NVML_NVLINK_CAP_P2P_ATOMICS = 2,
	NVML_NVLINK_CAP_SYSMEM_ATOMICS = 3,
	NVML_NVLINK_CAP_SLI_BRIDGE = 4,
	NVML_NVLINK_CAP_VALID = 5,
	NVML_NVLINK_CAP_COUNT,
} nvmlNvLinkCapability_t;

typedef enum nvmlNvLinkErrorCounter_enum {
	NVML_NVLINK_ERROR_DL_REPLAY = 0,
	NVML_NVLINK_ERROR_DL_RECOVERY = 1,
	NVML_NVLINK_ERROR_DL_CRC_FLIT = 2,
	NVML_NVLINK_ERROR_DL_CRC_DATA = 3,
	NVML_NVLINK_ERROR_DL_ECC_DATA = 4,
	NVML_NVLINK_ERROR_COUNT,
} nvmlNvLinkErrorCounter_t;

typedef enum nvmlIntNvLinkDeviceType_enum {
	NVML_NVLINK_DEVICE_TYPE_GPU = 0x00,
	NVML_NVLINK_DEVICE_TYPE_IBMNPU = 0x01,
	NVML_NVLINK_DEVICE_TYPE_SWITCH = 0x02,
	NVML_NVLINK_DEVICE_TYPE_UNKNOWN = 0xFF,
} nvmlIntNvLinkDeviceType_t;

/* The distance of two devices; larger is farther. */
typedef enum nvmlGpuLevel_enum {
	NVML_TOPOLOGY_INTERNAL = 0,
	NVML_TOPOLOGY_SINGLE = 10,
	NVML_TOPOLOGY_MULTIPLE = 20,
	NVML_TOPOLOGY_HOSTBRIDGE = 30,
	NVML_TOPOLOGY_NODE = 40,
	NVML_TOPOLOGY_SYSTEM = 50,
} nvmlGpuTopologyLevel_t;

#define NVML_TOPOLOGY_CPU NVML_TOPOLOGY_NODE

/* The misspelt name is part of the interface. */
typedef enum nvmlGpuP2PStatus_enum {
	NVML_P2P_STATUS_OK = 0,
	NVML_P2P_STATUS_CHIPSET_NOT_SUPPORED,
	NVML_P2P_STATUS_CHIPSET_NOT_SUPPORTED =
	    NVML_P2P_STATUS_CHIPSET_NOT_SUPPORED,
	NVML_P2P_STATUS_GPU_NOT_SUPPORTED,
	NVML_P2P_STATUS_IOH_TOPOLOGY_NOT_SUPPORTED,
	NVML_P2P_STATUS_DISABLED_BY_REGKEY,
	NVML_P2P_STATUS_NOT_SUPPORTED,
	NVML_P2P_STATUS_UNKNOWN,
} nvmlGpuP2PStatus_t;

typedef enum nvmlGpuP2PCapsIndex_enum {
	NVML_P2P_CAPS_INDEX_READ = 0,
	NVML_P2P_CAPS_INDEX_WRITE = 1,
	NVML_P2P_CAPS_INDEX_NVLINK = 2,
	NVML_P2P_CAPS_INDEX_ATOMICS = 3,
	NVML_P2P_CAPS_INDEX_PCI = 4,
	NVML_P2P_CAPS_INDEX_PROP = NVML_P2P_CAPS_INDEX_PCI,
	NVML_P2P_CAPS_INDEX_UNKNOWN = 5,
} nvmlGpuP2PCapsIndex_t;

#define NVML_MAX_PHYSICAL_BRIDGE 128

typedef struct nvmlBridgeChipInfo_st {
	nvmlBridgeChipType_t type;
	unsigned int fwVersion;
} nvmlBridgeChipInfo_t;

typedef struct nvmlBridgeChipHierarchy_st {
	unsigned char bridgeCount;
	nvmlBridgeChipInfo_t bridgeChipInfo[NVML_MAX_PHYSICAL_BRIDGE];
} nvmlBridgeChipHierarchy_t;

typedef struct {
	unsigned int version;
	unsigned char ibGuid[16];
	unsigned char rackGuid[16];
	unsigned char chassisPhysicalSlotNumber;
	unsigned char computeSlotIndex;
	unsigned char nodeIndex;
	unsigned char peerType;
	unsigned char moduleId;
} nvmlPlatformInfo_v1_t;
#define nvmlPlatformInfo_v1 NVML_STRUCT_VERSION(PlatformInfo, 1)

typedef struct {
	unsigned int version;
	unsigned char ibGuid[16];
	unsigned char chassisSerialNumber[16];
	unsigned char slotNumber;
	unsigned char trayIndex;
	unsigned char hostId;
	unsigned char peerType;
	unsigned char moduleId;
} nvmlPlatformInfo_v2_t;
typedef nvmlPlatformInfo_v2_t nvmlPlatformInfo_t;
#define nvmlPlatformInfo_v2 NVML_STRUCT_VERSION(PlatformInfo, 2)

#define NVML_NVLINK_LOW_POWER_THRESHOLD_UNIT_100US 0x0
#define NVML_NVLINK_LOW_POWER_THRESHOLD_UNIT_50US  0x1
#define NVML_NVLINK_POWER_STATE_HIGH_SPEED         0x0
#define NVML_NVLINK_POWER_STATE_LOW                0x1
#define NVML_NVLINK_LOW_POWER_THRESHOLD_MIN        0x1
#define NVML_NVLINK_LOW_POWER_THRESHOLD_MAX        0x1FFF
#define NVML_NVLINK_LOW_POWER_THRESHOLD_RESET      0xFFFFFFFF
#define NVML_NVLINK_LOW_POWER_THRESHOLD_DEFAULT                                \
	NVML_NVLINK_LOW_POWER_THRESHOLD_RESET

typedef struct nvmlNvLinkPowerThres_st {
	unsigned int lowPwrThreshold;
} nvmlNvLinkPowerThres_t;

#define NVML_C2C_POWER_STATE_FULL_POWER 0
#define NVML_C2C_POWER_STATE_LOW_POWER  1

#define NVML_GPU_FABRIC_UUID_LEN            16
#define NVML_GPU_FABRIC_STATE_NOT_SUPPORTED 0
#define NVML_GPU_FABRIC_STATE_NOT_STARTED   1
#define NVML_GPU_FABRIC_STATE_IN_PROGRESS   2
#define NVML_GPU_FABRIC_STATE_COMPLETED     3
typedef unsigned char nvmlGpuFabricState_t;

typedef struct {
	unsigned char clusterUuid[NVML_GPU_FABRIC_UUID_LEN];
	nvmlReturn_t status;
	unsigned int cliqueId;
	nvmlGpuFabricState_t state;
} nvmlGpuFabricInfo_t;

#define NVML_GPU_FABRIC_HEALTH_MASK_DEGRADED_BW_NOT_SUPPORTED                 0
#define NVML_GPU_FABRIC_HEALTH_MASK_DEGRADED_BW_TRUE                          1
#define NVML_GPU_FABRIC_HEALTH_MASK_DEGRADED_BW_FALSE                         2
#define NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_DEGRADED_BW                         0
#define NVML_GPU_FABRIC_HEALTH_MASK_WIDTH_DEGRADED_BW                         0x3
#define NVML_GPU_FABRIC_HEALTH_MASK_ROUTE_RECOVERY_NOT_SUPPORTED              0
#define NVML_GPU_FABRIC_HEALTH_MASK_ROUTE_RECOVERY_TRUE                       1
#define NVML_GPU_FABRIC_HEALTH_MASK_ROUTE_RECOVERY_FALSE                      2
#define NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_ROUTE_RECOVERY                      2
#define NVML_GPU_FABRIC_HEALTH_MASK_WIDTH_ROUTE_RECOVERY                      0x3
#define NVML_GPU_FABRIC_HEALTH_MASK_ROUTE_UNHEALTHY_NOT_SUPPORTED             0
#define NVML_GPU_FABRIC_HEALTH_MASK_ROUTE_UNHEALTHY_TRUE                      1
#define NVML_GPU_FABRIC_HEALTH_MASK_ROUTE_UNHEALTHY_FALSE                     2
#define NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_ROUTE_UNHEALTHY                     4
#define NVML_GPU_FABRIC_HEALTH_MASK_WIDTH_ROUTE_UNHEALTHY                     0x3
#define NVML_GPU_FABRIC_HEALTH_MASK_ACCESS_TIMEOUT_RECOVERY_NOT_SUPPORTED     0
#define NVML_GPU_FABRIC_HEALTH_MASK_ACCESS_TIMEOUT_RECOVERY_TRUE              1
#define NVML_GPU_FABRIC_HEALTH_MASK_ACCESS_TIMEOUT_RECOVERY_FALSE             2
#define NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_ACCESS_TIMEOUT_RECOVERY             6
#define NVML_GPU_FABRIC_HEALTH_MASK_WIDTH_ACCESS_TIMEOUT_RECOVERY             0x3
#define NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_NOT_SUPPORTED     0
#define NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_NONE              1
#define NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_INCORRECT_SYSGUID 2
#define NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_INCORRECT_CHASSIS_SN \
	3
#define NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_NO_PARTITION 4
#define NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_INSUFFICIENT_NVLINKS \
	5
#define NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_INCOMPATIBLE_GPU_FW \
	6
#define NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_INVALID_LOCATION  7
#define NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_GPU_STATE_INVALID 8
#define NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_INCORRECT_CONFIGURATION             8
#define NVML_GPU_FABRIC_HEALTH_MASK_WIDTH_INCORRECT_CONFIGURATION             0xf
#define NVML_GPU_FABRIC_HEALTH_MASK_PARTITION_ASSIGNED_NOT_SUPPORTED          0
#define NVML_GPU_FABRIC_HEALTH_MASK_PARTITION_ASSIGNED_TRUE                   1
#define NVML_GPU_FABRIC_HEALTH_MASK_PARTITION_ASSIGNED_FALSE                  2
#define NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_PARTITION_ASSIGNED                  12
#define NVML_GPU_FABRIC_HEALTH_MASK_WIDTH_PARTITION_ASSIGNED                  0x3
#define NVML_GPU_FABRIC_HEALTH_SUMMARY_NOT_SUPPORTED                          0
#define NVML_GPU_FABRIC_HEALTH_SUMMARY_HEALTHY                                1
#define NVML_GPU_FABRIC_HEALTH_SUMMARY_UNHEALTHY                              2
#define NVML_GPU_FABRIC_HEALTH_SUMMARY_LIMITED_CAPACITY                       3

typedef struct {
	unsigned int version;
	unsigned char clusterUuid[NVML_GPU_FABRIC_UUID_LEN];
	nvmlReturn_t status;
	unsigned int cliqueId;
	nvmlGpuFabricState_t state;
	unsigned int healthMask;
} nvmlGpuFabricInfo_v2_t;
#define nvmlGpuFabricInfo_v2 NVML_STRUCT_VERSION(GpuFabricInfo, 2)

typedef struct {
	unsigned int version;
	unsigned char clusterUuid[NVML_GPU_FABRIC_UUID_LEN];
	nvmlReturn_t status;
	unsigned int cliqueId;
	nvmlGpuFabricState_t state;
	unsigned int healthMask;
	unsigned char healthSummary;
} nvmlGpuFabricInfo_v3_t;
typedef nvmlGpuFabricInfo_v3_t nvmlGpuFabricInfoV_t;
#define nvmlGpuFabricInfo_v3 NVML_STRUCT_VERSION(GpuFabricInfo, 3)

#define NVML_NVLINK_BER_MANTISSA_SHIFT 8
#define NVML_NVLINK_BER_MANTISSA_WIDTH 0xf
#define NVML_NVLINK_BER_EXP_SHIFT      0
#define NVML_NVLINK_BER_EXP_WIDTH      0xff
#define NVML_NVLINK_STATE_INACTIVE     0x0
#define NVML_NVLINK_STATE_ACTIVE       0x1
#define NVML_NVLINK_STATE_SLEEP        0x2

typedef enum nvmlNvlinkVersion_enum {
	NVML_NVLINK_VERSION_INVALID = 0,
	NVML_NVLINK_VERSION_1_0 = 1,
	NVML_NVLINK_VERSION_2_0 = 2,
	NVML_NVLINK_VERSION_2_2 = 3,
	NVML_NVLINK_VERSION_3_0 = 4,
	NVML_NVLINK_VERSION_3_1 = 5,
	NVML_NVLINK_VERSION_4_0 = 6,
	NVML_NVLINK_VERSION_5_0 = 7,
	NVML_NVLINK_VERSION_6_0 = 8,
} nvmlNvlinkVersion_t;

#define NVML_NVLINK_TOTAL_SUPPORTED_BW_MODES 23

typedef struct {
	unsigned int version;
	unsigned char bwModes[NVML_NVLINK_TOTAL_SUPPORTED_BW_MODES];
	unsigned char totalBwModes;
} nvmlNvlinkSupportedBwModes_v1_t;
typedef nvmlNvlinkSupportedBwModes_v1_t nvmlNvlinkSupportedBwModes_t;
#define nvmlNvlinkSupportedBwModes_v1                                          \
	NVML_STRUCT_VERSION(NvlinkSupportedBwModes, 1)

typedef struct {
	unsigned int version;
	unsigned int bIsBest;
	unsigned char bwMode;
} nvmlNvlinkGetBwMode_v1_t;
typedef nvmlNvlinkGetBwMode_v1_t nvmlNvlinkGetBwMode_t;
#define nvmlNvlinkGetBwMode_v1 NVML_STRUCT_VERSION(NvlinkGetBwMode, 1)

typedef struct {
	unsigned int version;
	unsigned int bSetBest;
	unsigned char bwMode;
} nvmlNvlinkSetBwMode_v1_t;
typedef nvmlNvlinkSetBwMode_v1_t nvmlNvlinkSetBwMode_t;
#define nvmlNvlinkSetBwMode_v1 NVML_STRUCT_VERSION(NvlinkSetBwMode, 1)

typedef struct {
	unsigned int version;
	unsigned int isNvleEnabled;
} nvmlNvLinkInfo_v1_t;
#define nvmlNvLinkInfo_v1 NVML_STRUCT_VERSION(NvLinkInfo, 1)

#define NVML_NVLINK_FIRMWARE_UCODE_TYPE_MSE        0x1
#define NVML_NVLINK_FIRMWARE_UCODE_TYPE_NETIR      0x2
#define NVML_NVLINK_FIRMWARE_UCODE_TYPE_NETIR_UPHY 0x3
#define NVML_NVLINK_FIRMWARE_UCODE_TYPE_NETIR_CLN  0x4
#define NVML_NVLINK_FIRMWARE_UCODE_TYPE_NETIR_DLN  0x5
#define NVML_NVLINK_FIRMWARE_VERSION_LENGTH        100

typedef struct {
	unsigned char ucodeType;
	unsigned int major;
	unsigned int minor;
	unsigned int subMinor;
} nvmlNvlinkFirmwareVersion_t;

typedef struct {
	nvmlNvlinkFirmwareVersion_t
	    firmwareVersion[NVML_NVLINK_FIRMWARE_VERSION_LENGTH];
	unsigned int numValidEntries;
} nvmlNvlinkFirmwareInfo_t;

typedef struct {
	unsigned int version;
	unsigned int isNvleEnabled;
	nvmlNvlinkFirmwareInfo_t firmwareInfo;
} nvmlNvLinkInfo_v2_t;
typedef nvmlNvLinkInfo_v2_t nvmlNvLinkInfo_t;
#define nvmlNvLinkInfo_v2 NVML_STRUCT_VERSION(NvLinkInfo, 2)

#endif
