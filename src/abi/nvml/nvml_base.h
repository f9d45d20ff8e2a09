/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Basics of NVML that all other NVML headers need: version scheme, handles,
 * return codes, buffer sizes. No device data.
 */
#ifndef GPUKIT_ABI_NVML_BASE_H
#define GPUKIT_ABI_NVML_BASE_H

#define NVML_API_VERSION     13
#define NVML_API_VERSION_STR "13"

/*
 * The value that callers store in .version: the struct's size, with the version
 * in bits 24-31.
 */
#define NVML_STRUCT_VERSION(data, ver)                                         \
	((unsigned int)(sizeof(nvml##data##_v##ver##_t) | ((ver##u) << 24)))

/* -1; in an unsigned member, all bits set. */
#define NVML_VALUE_NOT_AVAILABLE (-1)

#define nvmlFlagDefault 0x00
#define nvmlFlagForce   0x01

#define NVML_INIT_FLAG_NO_GPUS    (1 << 0)
#define NVML_INIT_FLAG_NO_ATTACH  (1 << 1)
#define NVML_INIT_FLAG_FORCE_INIT (1 << 2)

/* Handles are opaque: only the library knows what they point to. */
typedef struct nvmlDevice_st *nvmlDevice_t;
typedef struct nvmlGpuInstance_st *nvmlGpuInstance_t;
typedef struct nvmlUnit_st *nvmlUnit_t;
typedef struct nvmlEventSet_st *nvmlEventSet_t;
typedef struct nvmlSystemEventSet_st *nvmlSystemEventSet_t;
typedef struct nvmlComputeInstance_st *nvmlComputeInstance_t;
typedef struct nvmlGpmSample_st *nvmlGpmSample_t;
typedef unsigned int nvmlVgpuTypeId_t;
typedef unsigned int nvmlVgpuInstance_t;

typedef enum nvmlReturn_enum {
#define NVML_RETURN(name, value, text) name = (value),
#include "nvml_return.def"
#undef NVML_RETURN
} nvmlReturn_t;

#define NVML_DEVICE_PCI_BUS_ID_BUFFER_SIZE      32
#define NVML_DEVICE_PCI_BUS_ID_BUFFER_V2_SIZE   16
#define NVML_PERF_MODES_BUFFER_SIZE             2048
#define NVML_DEVICE_HOSTNAME_BUFFER_SIZE        64
#define NVML_GSP_FIRMWARE_VERSION_BUF_SIZE      0x40
#define NVML_GRID_LICENSE_BUFFER_SIZE           128
#define NVML_VGPU_NAME_BUFFER_SIZE              64
#define NVML_DEVICE_INFOROM_VERSION_BUFFER_SIZE 16
#define NVML_DEVICE_UUID_BUFFER_SIZE            80
#define NVML_DEVICE_UUID_V2_BUFFER_SIZE         96
#define NVML_DEVICE_PART_NUMBER_BUFFER_SIZE     80
#define NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE  80
#define NVML_SYSTEM_NVML_VERSION_BUFFER_SIZE    80
#define NVML_DEVICE_NAME_BUFFER_SIZE            64
#define NVML_DEVICE_NAME_V2_BUFFER_SIZE         96
#define NVML_DEVICE_SERIAL_BUFFER_SIZE          30
#define NVML_DEVICE_VBIOS_VERSION_BUFFER_SIZE   32

typedef enum nvmlValueType_enum {
	NVML_VALUE_TYPE_DOUBLE = 0,
	NVML_VALUE_TYPE_UNSIGNED_INT = 1,
	NVML_VALUE_TYPE_UNSIGNED_LONG = 2,
	NVML_VALUE_TYPE_UNSIGNED_LONG_LONG = 3,
	NVML_VALUE_TYPE_SIGNED_LONG_LONG = 4,
	NVML_VALUE_TYPE_SIGNED_INT = 5,
	NVML_VALUE_TYPE_UNSIGNED_SHORT = 6,
	NVML_VALUE_TYPE_COUNT,
} nvmlValueType_t;

/* The accompanying nvmlValueType_t says which member is valid. */
typedef union nvmlValue_st {
	double dVal;
	int siVal;
	unsigned int uiVal;
	unsigned long ulVal;
	unsigned long long ullVal;
	signed long long sllVal;
	unsigned short usVal;
} nvmlValue_t;

typedef enum nvmlEnableState_enum {
	NVML_FEATURE_DISABLED = 0,
	NVML_FEATURE_ENABLED = 1,
} nvmlEnableState_t;

#define NVML_255_MASK_BITS_PER_ELEM 32
#define NVML_255_MASK_NUM_ELEMS     8

/* Bit number i is bit i % 32 of mask[i / 32]. */
typedef struct {
	unsigned int mask[NVML_255_MASK_NUM_ELEMS];
} nvmlMask255_t;

#endif
