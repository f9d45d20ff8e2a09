/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scripted_nvml.c - implements the driver library of the tests; see
 * scripted_nvml.h.
 */
#include "core/scripted_call.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

struct script s = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .changed = PTHREAD_COND_INITIALIZER,
};
static struct nvmlDevice_st devices[SCRIPT_GPUS][1 + SCRIPT_MIG];

struct script *script(void)
{
	return &s;
}

nvmlReturn_t called(const char *name)
{
	for (int i = 0; i < SCRIPT_FUNCTIONS; i++) {
		if (!s.function[i].name)
			s.function[i].name = name;
		if (strcmp(s.function[i].name, name))
			continue;
		s.function[i].calls++;
		return s.function[i].answer;
	}
	return NVML_ERROR_UNKNOWN;
}

static void dawdle(struct script_gpu *gpu)
{
	struct timespec t = {0, (long)gpu->delay_ms * 1000000};

	gpu->caller = pthread_self();
	if (gpu->delay_ms) {
		pthread_mutex_unlock(&s.lock);
		nanosleep(&t, NULL);
		pthread_mutex_lock(&s.lock);
	}
	if (gpu->hang_at && !--gpu->hang_at)
		gpu->hang = true;
	gpu->inside++;
	pthread_cond_broadcast(&s.changed);
	while (gpu->hang)
		pthread_cond_wait(&s.changed, &s.lock);
	gpu->inside--;
	pthread_cond_broadcast(&s.changed);
}

nvmlReturn_t enter(const char *name, nvmlDevice_t dev)
{
	struct script_gpu *gpu = &s.gpu[dev->gpu];
	nvmlReturn_t r;

	pthread_mutex_lock(&s.lock);
	r = called(name);
	dawdle(gpu);
	if (gpu->all)
		r = gpu->all;
	else if (!r && dev->mig >= 0 && !(gpu->mig & 1U << dev->mig))
		r = NVML_ERROR_INVALID_ARGUMENT;
	return r;
}

nvmlDevice_t gpu_handle(unsigned gpu)
{
	return &devices[gpu][0];
}

/* A driver may have data of each thread, so that its code runs when one ends.
 */
static pthread_key_t data;

static void forget(void *thread)
{
	const struct timespec moment = {.tv_nsec = 5000000};

	(void)thread;
	nanosleep(&moment, NULL);
}

__attribute__((constructor)) static void make_key(void)
{
	pthread_key_create(&data, forget);
}

nvmlReturn_t nvmlInit_v2(void)
{
	nvmlReturn_t r;

	pthread_setspecific(data, &s);
	pthread_mutex_lock(&s.lock);
	while (s.init_hangs)
		pthread_cond_wait(&s.changed, &s.lock);
	r = s.init;
	s.inits += !r;
	LEAVE(r);
}

/* Set up once, since a worker that was left behind may be reading it. */
__attribute__((constructor)) static void name_devices(void)
{
	for (unsigned g = 0; g < SCRIPT_GPUS; g++)
		for (int m = -1; m < SCRIPT_MIG; m++)
			devices[g][m + 1] = (struct nvmlDevice_st){g, m};
}

nvmlReturn_t nvmlShutdown(void)
{
	pthread_mutex_lock(&s.lock);
	s.inits--;
	LEAVE(NVML_SUCCESS);
}

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int *count)
{
	nvmlReturn_t r;

	pthread_mutex_lock(&s.lock);
	r = called(__func__);
	if (!r)
		*count = s.gpu_count;
	LEAVE(r);
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index,
					   nvmlDevice_t *device)
{
	nvmlReturn_t r;

	pthread_mutex_lock(&s.lock);
	r = called(__func__);
	dawdle(&s.gpu[index]);
	if (!r)
		r = s.gpu[index].handle;
	if (!r)
		*device = &devices[index][0];
	LEAVE(r);
}

static nvmlReturn_t text(const char *name, const char *value, char *to,
			 unsigned len)
{
	nvmlReturn_t r;

	pthread_mutex_lock(&s.lock);
	r = called(name);
	if (!r)
		snprintf(to, len, "%s", value);
	LEAVE(r);
}

nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned int length)
{
	return text(__func__, s.driver, version, length);
}

nvmlReturn_t nvmlSystemGetNVMLVersion(char *version, unsigned int length)
{
	return text(__func__, "13.580", version, length);
}

#define TEXT(function, format, ...)                                            \
	nvmlReturn_t function(nvmlDevice_t dev, char *to, unsigned int length) \
	{                                                                      \
		ENTER(dev);                                                    \
		snprintf(to, length, format, __VA_ARGS__);                     \
		LEAVE(r);                                                      \
	}
TEXT(nvmlDeviceGetName,
     dev->mig < 0 ? "Scripted GPU %u" : "Scripted GPU %u MIG", dev->gpu)
TEXT(nvmlDeviceGetUUID, dev->mig < 0 ? "GPU-%u" : "MIG-%u-%d", dev->gpu,
     dev->mig)
TEXT(nvmlDeviceGetSerial, "%s", "0")
TEXT(nvmlDeviceGetVbiosVersion, "%s", "90.00.01")

nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t dev, nvmlPciInfo_t *pci)
{
	ENTER(dev);
	memset(pci, 0, sizeof *pci);
	snprintf(pci->busId, sizeof pci->busId, "00000000:%02X:00.0",
		 dev->gpu + 1);
	LEAVE(r);
}

nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t dev, int *major,
						int *minor)
{
	ENTER(dev);
	*major = s.gpu[dev->gpu].lie ? (int)s.gpu[dev->gpu].lie : 8;
	*minor = 6;
	LEAVE(r);
}

nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t dev,
					   nvmlUtilization_t *util)
{
	ENTER_GPU(dev);
	util->gpu = s.gpu[dev->gpu].util;
	util->memory = s.gpu[dev->gpu].util / 2;
	LEAVE(r);
}

#define BUSY(function, value)                                                  \
	nvmlReturn_t function(nvmlDevice_t dev, unsigned int *busy,            \
			      unsigned int *period_us)                         \
	{                                                                      \
		ENTER_GPU(dev);                                                \
		*busy = value;                                                 \
		*period_us = 1000;                                             \
		LEAVE(r);                                                      \
	}
BUSY(nvmlDeviceGetEncoderUtilization, 11)
BUSY(nvmlDeviceGetDecoderUtilization, 12)
BUSY(nvmlDeviceGetJpgUtilization, 13)
BUSY(nvmlDeviceGetOfaUtilization, 14)

nvmlReturn_t nvmlDeviceGetRemappedRows(nvmlDevice_t dev,
				       unsigned int *corrected,
				       unsigned int *uncorrected,
				       unsigned int *pending,
				       unsigned int *failed)
{
	ENTER_GPU(dev);
	*corrected = 3;
	*uncorrected = 2;
	*pending = 1;
	*failed = 0;
	LEAVE(r);
}

nvmlReturn_t nvmlDeviceGetRepairStatus(nvmlDevice_t dev,
				       nvmlRepairStatus_t *repair)
{
	ENTER_GPU(dev);
	repair->bChannelRepairPending = 0;
	repair->bTpcRepairPending = 1;
	LEAVE(r);
}

nvmlReturn_t nvmlDeviceValidateInforom(nvmlDevice_t dev)
{
	ENTER_GPU(dev);
	LEAVE(r);
}

nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t dev, int count,
				      nvmlFieldValue_t *values)
{
	ENTER_GPU(dev);
	for (int i = 0; i < count; i++)
		script_field(dev, &values[i]);
	LEAVE(r);
}

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t dev, nvmlMemory_t *memory)
{
	ENTER(dev);
	memory->total = SCRIPT_TOTAL;
	memory->used = s.gpu[dev->gpu].used + SCRIPT_RESERVED;
	memory->free = SCRIPT_TOTAL - memory->used;
	LEAVE(r);
}

UINT(nvmlDeviceGetMinorNumber,
     s.gpu[dev->gpu].lie ? s.gpu[dev->gpu].lie : dev->gpu + 100)
UINT(nvmlDeviceGetPowerUsage, 123456)
UINT(nvmlDeviceGetPowerManagementLimit, 400000)
UINT(nvmlDeviceGetEnforcedPowerLimit, 390000)
UINT(nvmlDeviceGetPowerManagementDefaultLimit, 380000)
UINT(nvmlDeviceGetCurrPcieLinkGeneration, 3)
UINT(nvmlDeviceGetMaxPcieLinkGeneration, 4)
UINT(nvmlDeviceGetCurrPcieLinkWidth, 8)
UINT(nvmlDeviceGetMaxPcieLinkWidth, 16)
UINT_OF(nvmlDeviceGetTemperature, nvmlTemperatureSensors_t, 60 + (int)of)
UINT_OF(nvmlDeviceGetTemperatureThreshold, nvmlTemperatureThresholds_t,
	90 + (unsigned)of)
UINT_OF(nvmlDeviceGetClockInfo, nvmlClockType_t, 1000 + (unsigned)of)
UINT_OF(nvmlDeviceGetMaxClockInfo, nvmlClockType_t, 2000 + (unsigned)of)
UINT_OF(nvmlDeviceGetPcieThroughput, nvmlPcieUtilCounter_t, 500 + (unsigned)of)

nvmlReturn_t nvmlDeviceGetPerformanceState(nvmlDevice_t dev, nvmlPstates_t *to)
{
	ENTER_GPU(dev);
	*to = NVML_PSTATE_2;
	LEAVE(r);
}

nvmlReturn_t nvmlDeviceGetPowerManagementLimitConstraints(nvmlDevice_t dev,
							  unsigned int *low,
							  unsigned int *high)
{
	ENTER_GPU(dev);
	*low = 100000;
	*high = 450000;
	LEAVE(r);
}

#define STATE(function)                                                        \
	nvmlReturn_t function(nvmlDevice_t dev, nvmlEnableState_t *to)         \
	{                                                                      \
		ENTER_GPU(dev);                                                \
		*to = NVML_FEATURE_ENABLED;                                    \
		LEAVE(r);                                                      \
	}
STATE(nvmlDeviceGetPersistenceMode)
STATE(nvmlDeviceGetDisplayActive)
STATE(nvmlDeviceGetDisplayMode)

nvmlReturn_t nvmlDeviceGetComputeMode(nvmlDevice_t dev, nvmlComputeMode_t *mode)
{
	ENTER_GPU(dev);
	*mode = NVML_COMPUTEMODE_PROHIBITED;
	LEAVE(r);
}

nvmlReturn_t nvmlDeviceGetEccMode(nvmlDevice_t dev, nvmlEnableState_t *current,
				  nvmlEnableState_t *pending)
{
	ENTER_GPU(dev);
	*current = *pending = NVML_FEATURE_ENABLED;
	LEAVE(r);
}

nvmlReturn_t nvmlDeviceGetTotalEccErrors(nvmlDevice_t dev,
					 nvmlMemoryErrorType_t type,
					 nvmlEccCounterType_t counter,
					 unsigned long long *count)
{
	ENTER_GPU(dev);
	*count = type == NVML_MEMORY_ERROR_TYPE_CORRECTED ? 31 : 32;
	*count += counter == NVML_VOLATILE_ECC ? 0 : 1000;
	LEAVE(r);
}

nvmlReturn_t nvmlDeviceGetBAR1MemoryInfo(nvmlDevice_t dev,
					 nvmlBAR1Memory_t *bar1)
{
	ENTER_GPU(dev);
	*bar1 = (nvmlBAR1Memory_t){100, 60, 40};
	LEAVE(r);
}

static unsigned long long epoch_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (unsigned long long)t.tv_sec * 1000000 +
	       (unsigned long long)t.tv_nsec / 1000;
}

/* Time stamps of the script count backwards from now: 10 is 10 us ago. */
nvmlReturn_t
nvmlDeviceGetProcessUtilization(nvmlDevice_t dev,
				nvmlProcessUtilizationSample_t *samples,
				unsigned int *count, unsigned long long since)
{
	struct script_gpu *gpu = &s.gpu[dev->gpu];
	unsigned long long now = epoch_us();

	ENTER(dev);
	gpu->asked_since = since;
	if (!gpu->sample_count)
		r = NVML_ERROR_NOT_FOUND;
	else if (*count < gpu->sample_count)
		r = NVML_ERROR_INSUFFICIENT_SIZE;
	*count = gpu->sample_count;
	for (unsigned i = 0; !r && i < gpu->sample_count; i++) {
		samples[i] = gpu->sample[i];
		samples[i].timeStamp = now - gpu->sample[i].timeStamp;
	}
	LEAVE(r);
}

static void write_record(char *at, size_t stride,
			 const struct script_process *process)
{
	nvmlProcessDetail_v1_t record = {
	    .pid = process->pid,
	    .usedGpuMemory = process->bytes,
	    .gpuInstanceId = process->gpu_instance,
	    .computeInstanceId = process->compute_instance,
	};

	memcpy(at, &record, stride);
}

/* A MIG device lists the processes of its instance; its GPU lists all. */
static nvmlReturn_t list(const char *name, nvmlDevice_t dev,
			 enum script_list which, size_t stride,
			 unsigned int *count, void *to)
{
	struct script_gpu *gpu = &s.gpu[dev->gpu];
	nvmlReturn_t r = enter(name, dev);
	unsigned room = *count, written = 0;

	if (r)
		LEAVE(r);
	if (gpu->growing && gpu->process_count[which] < SCRIPT_PROCESSES) {
		unsigned n = gpu->process_count[which];

		gpu->growing--;
		while (gpu->process_count[which] <= room)
			gpu->process[which][gpu->process_count[which]++] =
			    (struct script_process){100000 + n++, GIB,
						    SCRIPT_WITHOUT_GI,
						    SCRIPT_WITHOUT_GI};
	}
	for (unsigned i = 0; i < gpu->process_count[which]; i++) {
		const struct script_process *p = &gpu->process[which][i];

		if (dev->mig >= 0 && p->gpu_instance != (unsigned)dev->mig + 1)
			continue;
		if (written < room)
			write_record((char *)to + stride * written, stride, p);
		written++;
	}
	*count = written;
	LEAVE(written > room ? NVML_ERROR_INSUFFICIENT_SIZE : NVML_SUCCESS);
}

#define LIST(function, which, type, stride)                                    \
	nvmlReturn_t function(nvmlDevice_t dev, unsigned int *count, type *to) \
	{                                                                      \
		return list(__func__, dev, which, stride, count, to);          \
	}
LIST(nvmlDeviceGetComputeRunningProcesses, SCRIPT_COMPUTE, nvmlProcessInfo_v1_t,
     sizeof(nvmlProcessInfo_v1_t))
LIST(nvmlDeviceGetGraphicsRunningProcesses, SCRIPT_GRAPHICS,
     nvmlProcessInfo_v1_t, sizeof(nvmlProcessInfo_v1_t))

#define MASK(function, value)                                                  \
	nvmlReturn_t function(nvmlDevice_t dev, unsigned long long *to)        \
	{                                                                      \
		ENTER_GPU(dev);                                                \
		*to = value;                                                   \
		LEAVE(r);                                                      \
	}
#ifndef OLD_DRIVER
LIST(nvmlDeviceGetComputeRunningProcesses_v3, SCRIPT_COMPUTE, nvmlProcessInfo_t,
     s.stride)
LIST(nvmlDeviceGetGraphicsRunningProcesses_v3, SCRIPT_GRAPHICS,
     nvmlProcessInfo_t, s.stride)
LIST(nvmlDeviceGetMPSComputeRunningProcesses_v3, SCRIPT_MPS, nvmlProcessInfo_t,
     s.stride)

UINT(nvmlDeviceGetFanSpeed, 33)

nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int *version)
{
	*version = 13000;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t dev,
					nvmlMemory_v2_t *memory)
{
	ENTER(dev);
	if (memory->version != nvmlMemory_v2)
		LEAVE(NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
	memory->total = SCRIPT_TOTAL;
	memory->reserved = SCRIPT_RESERVED;
	memory->used = s.gpu[dev->gpu].used;
	memory->free = SCRIPT_TOTAL - SCRIPT_RESERVED - memory->used;
	LEAVE(r);
}

nvmlReturn_t nvmlDeviceGetTemperatureV(nvmlDevice_t dev, nvmlTemperature_t *t)
{
	ENTER_GPU(dev);
	if (t->version != nvmlTemperature_v1)
		LEAVE(NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
	t->temperature = 70;
	LEAVE(r);
}

MASK(nvmlDeviceGetCurrentClocksEventReasons, 0x24)
MASK(nvmlDeviceGetTotalEnergyConsumption, 5000000000ULL)

nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t dev, unsigned int *current,
				  unsigned int *pending)
{
	ENTER_GPU(dev);
	*current = *pending = s.gpu[dev->gpu].mig_enabled;
	LEAVE(r);
}

nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t dev,
					    unsigned int *count)
{
	ENTER_GPU(dev);
	*count = s.gpu[dev->gpu].lie ? s.gpu[dev->gpu].lie : SCRIPT_MIG;
	LEAVE(r);
}

nvmlReturn_t nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t dev,
						 unsigned int index,
						 nvmlDevice_t *mig)
{
	ENTER_GPU(dev);
	if (index >= SCRIPT_MIG || !(s.gpu[dev->gpu].mig & 1U << index))
		LEAVE(NVML_ERROR_NOT_FOUND);
	*mig = &devices[dev->gpu][1 + index];
	LEAVE(r);
}

#define INSTANCE(function, value)                                              \
	nvmlReturn_t function(nvmlDevice_t dev, unsigned int *to)              \
	{                                                                      \
		ENTER(dev);                                                    \
		*to = (unsigned)(value);                                       \
		LEAVE(r);                                                      \
	}
INSTANCE(nvmlDeviceGetGpuInstanceId, dev->mig + 1)
INSTANCE(nvmlDeviceGetComputeInstanceId, 0)
#else
MASK(nvmlDeviceGetCurrentClocksThrottleReasons, 0x4)

nvmlReturn_t nvmlSystemGetCudaDriverVersion(int *version)
{
	*version = 11000;
	return NVML_SUCCESS;
}
#endif
