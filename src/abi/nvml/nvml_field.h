/* SPDX-License-Identifier: Apache-2.0 */
/* NVML field ids, and the values and samples that are queried by id. */
#ifndef GPUKIT_ABI_NVML_FIELD_H
#define GPUKIT_ABI_NVML_FIELD_H

#include "nvml_base.h"

enum nvml_field_id {
#define NVML_FIELD(name, id) name = (id),
#include "nvml_fields.def"
#undef NVML_FIELD
};

typedef enum nvmlSamplingType_enum {
	NVML_TOTAL_POWER_SAMPLES = 0,
	NVML_GPU_UTILIZATION_SAMPLES = 1,
	NVML_MEMORY_UTILIZATION_SAMPLES = 2,
	NVML_ENC_UTILIZATION_SAMPLES = 3,
	NVML_DEC_UTILIZATION_SAMPLES = 4,
	NVML_PROCESSOR_CLK_SAMPLES = 5,
	NVML_MEMORY_CLK_SAMPLES = 6,
	NVML_MODULE_POWER_SAMPLES = 7,
	NVML_JPG_UTILIZATION_SAMPLES = 8,
	NVML_OFA_UTILIZATION_SAMPLES = 9,
	NVML_SAMPLINGTYPE_COUNT,
} nvmlSamplingType_t;

/* timeStamp is in microseconds since the epoch. */
typedef struct nvmlSample_st {
	unsigned long long timeStamp;
	nvmlValue_t sampleValue;
} nvmlSample_t;

#define NVML_MCLK_SWITCH_TYPE_NOT_SUPPORTED 0x0
#define NVML_MCLK_SWITCH_TYPE_DEFERRED      0x1
#define NVML_MCLK_SWITCH_TYPE_RUNTIME       0x2

/*
 * timestamp is in microseconds since the epoch; latencyUsec is the time that
 * reading took. nvmlReturn says for each entry whether its value is valid.
 */
typedef struct nvmlFieldValue_st {
	unsigned int fieldId;
	unsigned int scopeId;
	long long timestamp;
	long long latencyUsec;
	nvmlValueType_t valueType;
	nvmlReturn_t nvmlReturn;
	nvmlValue_t value;
} nvmlFieldValue_t;

#endif
