/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scripted_detail.c - implements details, links and topology of the scripted
 * GPUs.
 */
#include "core/scripted_call.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Fields have the types that drivers give them. */
static const struct {
	unsigned id;
	nvmlValueType_t type;
	long long value;
} fields[] = {
    {NVML_FI_DEV_MEMORY_TEMP, NVML_VALUE_TYPE_UNSIGNED_INT, 77},
    {NVML_FI_DEV_GET_GPU_RECOVERY_ACTION, NVML_VALUE_TYPE_UNSIGNED_INT,
     NVML_GPU_RECOVERY_ACTION_GPU_RESET},
    {NVML_FI_DEV_RETIRED_PENDING, NVML_VALUE_TYPE_UNSIGNED_INT, 1},
    {NVML_FI_DEV_POWER_INSTANT, NVML_VALUE_TYPE_UNSIGNED_INT, 250123},
    {NVML_FI_DEV_POWER_AVERAGE, NVML_VALUE_TYPE_UNSIGNED_INT, 249321},
    {NVML_FI_DEV_TEMPERATURE_SHUTDOWN_TLIMIT, NVML_VALUE_TYPE_SIGNED_INT, -7},
    {NVML_FI_DEV_PERF_POLICY_POWER, NVML_VALUE_TYPE_UNSIGNED_LONG_LONG,
     5000000000},
    {NVML_FI_DEV_PCIE_REPLAY_COUNTER, NVML_VALUE_TYPE_UNSIGNED_INT, 9},
    {NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX, NVML_VALUE_TYPE_UNSIGNED_LONG_LONG,
     3},
    /* Values by which drivers say that they have none. */
    {NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX, NVML_VALUE_TYPE_UNSIGNED_LONG_LONG,
     INT64_MIN},
    {NVML_FI_DEV_NVLINK_GET_SPEED, NVML_VALUE_TYPE_UNSIGNED_INT, 25000},
    {NVML_FI_DEV_ECC_SBE_AGG_TOTAL, NVML_VALUE_TYPE_UNSIGNED_LONG_LONG,
     1LL << 40},
};

/* A field with a scope adds it to the value: links are 0, 1, ... */
void script_field(nvmlDevice_t dev, nvmlFieldValue_t *field)
{
	field->nvmlReturn = NVML_ERROR_NOT_SUPPORTED;
	if (field->fieldId == NVML_FI_DEV_NVLINK_LINK_COUNT &&
	    s.gpu[dev->gpu].links) {
		field->nvmlReturn = NVML_SUCCESS;
		field->valueType = NVML_VALUE_TYPE_UNSIGNED_INT;
		field->value.uiVal = s.gpu[dev->gpu].links;
		return;
	}
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
		if (fields[i].id != field->fieldId)
			continue;
		field->nvmlReturn = NVML_SUCCESS;
		field->valueType = fields[i].type;
		memset(&field->value, 0xee, sizeof field->value);
		if (fields[i].type == NVML_VALUE_TYPE_UNSIGNED_INT)
			field->value.uiVal = (unsigned)fields[i].value;
		else if (fields[i].type == NVML_VALUE_TYPE_SIGNED_INT)
			field->value.siVal = (int)fields[i].value;
		else
			field->value.ullVal =
			    (unsigned long long)fields[i].value +
			    field->scopeId % 100;
	}
}

#ifndef OLD_DRIVER
UINT_OF(nvmlDeviceGetApplicationsClock, nvmlClockType_t, 1100 + (unsigned)of)
UINT(nvmlDeviceGetNumGpuCores, 6912)
UINT(nvmlDeviceGetNumaNodeId, 4 + dev->gpu)

nvmlReturn_t nvmlDeviceGetMarginTemperature(nvmlDevice_t dev,
					    nvmlMarginTemperature_t *margin)
{
	ENTER_GPU(dev);
	if (margin->version != nvmlMarginTemperature_v1)
		LEAVE(NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
	margin->marginTemperature = -2;
	LEAVE(r);
}

nvmlReturn_t nvmlDeviceGetMemoryErrorCounter(nvmlDevice_t dev,
					     nvmlMemoryErrorType_t type,
					     nvmlEccCounterType_t counter,
					     nvmlMemoryLocation_t location,
					     unsigned long long *count)
{
	ENTER_GPU(dev);
	*count =
	    100 * (unsigned)type + 10 * (unsigned)counter + (unsigned)location;
	LEAVE(r);
}

nvmlReturn_t nvmlDeviceGetEncoderStats(nvmlDevice_t dev, unsigned int *sessions,
				       unsigned int *fps,
				       unsigned int *latency_us)
{
	ENTER_GPU(dev);
	*sessions = 2;
	*fps = 60;
	*latency_us = 1500;
	LEAVE(r);
}

nvmlReturn_t
nvmlDeviceGetRowRemapperHistogram(nvmlDevice_t dev,
				  nvmlRowRemapperHistogramValues_t *banks)
{
	ENTER_GPU(dev);
	*banks = (nvmlRowRemapperHistogramValues_t){636, 3, 2, 1, 0};
	LEAVE(r);
}

nvmlReturn_t nvmlDeviceGetBrand(nvmlDevice_t dev, nvmlBrandType_t *brand)
{
	ENTER_GPU(dev);
	*brand = NVML_BRAND_GEFORCE_RTX;
	LEAVE(r);
}

/* An unknown generation. */
nvmlReturn_t nvmlDeviceGetArchitecture(nvmlDevice_t dev,
				       nvmlDeviceArchitecture_t *arch)
{
	ENTER_GPU(dev);
	*arch = 4711;
	LEAVE(r);
}

nvmlReturn_t nvmlDeviceGetBoardPartNumber(nvmlDevice_t dev, char *to,
					  unsigned int length)
{
	ENTER_GPU(dev);
	snprintf(to, length, "900-%u", dev->gpu);
	LEAVE(r);
}

nvmlReturn_t nvmlDeviceGetInforomVersion(nvmlDevice_t dev,
					 nvmlInforomObject_t object, char *to,
					 unsigned int length)
{
	ENTER_GPU(dev);
	if (object == NVML_INFOROM_POWER)
		LEAVE(NVML_ERROR_NO_PERMISSION);
	snprintf(to, length, "%d.0", (int)object);
	LEAVE(r);
}

/* ---- links ---- */

#define ENTER_LINK(dev, link)                                                  \
	const struct script_gpu *gpu = &s.gpu[(dev)->gpu];                     \
	nvmlReturn_t r = enter(__func__, dev);                                 \
	if (!r && !gpu->links)                                                 \
		r = NVML_ERROR_NOT_SUPPORTED;                                  \
	else if (!r && (link) >= gpu->links)                                   \
		r = NVML_ERROR_INVALID_ARGUMENT;                               \
	if (r)                                                                 \
	LEAVE(r)

nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t dev, unsigned int link,
				      nvmlEnableState_t *active)
{
	ENTER_LINK(dev, link);
	*active = gpu->active >> link & 1 ? NVML_FEATURE_ENABLED
					  : NVML_FEATURE_DISABLED;
	LEAVE(r);
}

nvmlReturn_t nvmlDeviceGetNvLinkVersion(nvmlDevice_t dev, unsigned int link,
					unsigned int *version)
{
	ENTER_LINK(dev, link);
	*version = NVML_NVLINK_VERSION_3_0;
	LEAVE(r);
}

nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t dev,
						 unsigned int link,
						 nvmlPciInfo_t *pci)
{
	ENTER_LINK(dev, link);
	memset(pci, 0, sizeof *pci);
	snprintf(pci->busId, sizeof pci->busId, "00000000:%02x:00.0",
		 gpu->leads_to[link] + 1);
	LEAVE(r);
}

nvmlReturn_t
nvmlDeviceGetNvLinkRemoteDeviceType(nvmlDevice_t dev, unsigned int link,
				    nvmlIntNvLinkDeviceType_t *type)
{
	ENTER_LINK(dev, link);
	*type = gpu->leads_to[link] < SCRIPT_GPUS
		    ? NVML_NVLINK_DEVICE_TYPE_GPU
		    : NVML_NVLINK_DEVICE_TYPE_SWITCH;
	LEAVE(r);
}

nvmlReturn_t nvmlDeviceGetNvLinkErrorCounter(nvmlDevice_t dev,
					     unsigned int link,
					     nvmlNvLinkErrorCounter_t counter,
					     unsigned long long *value)
{
	ENTER_LINK(dev, link);
	if (counter == NVML_NVLINK_ERROR_DL_ECC_DATA)
		LEAVE(NVML_ERROR_NOT_SUPPORTED);
	*value = 10 * link + (unsigned)counter;
	LEAVE(r);
}

/* ---- topology ---- */

/* Two GPUs for each switch, four for each node. */
nvmlReturn_t nvmlDeviceGetTopologyCommonAncestor(nvmlDevice_t a, nvmlDevice_t b,
						 nvmlGpuTopologyLevel_t *level)
{
	ENTER_GPU(a);
	*level = a->gpu / 2 == b->gpu / 2   ? NVML_TOPOLOGY_SINGLE
		 : a->gpu / 4 == b->gpu / 4 ? NVML_TOPOLOGY_NODE
					    : NVML_TOPOLOGY_SYSTEM;
	LEAVE(r);
}

nvmlReturn_t nvmlDeviceGetCpuAffinity(nvmlDevice_t dev, unsigned int words,
				      unsigned long *set)
{
	ENTER_GPU(dev);
	memset(set, 0, words * sizeof *set);
	set[0] = 0xff00000000000001UL;
	set[1] = 0x10f;
	LEAVE(r);
}

nvmlReturn_t nvmlDeviceGetMemoryAffinity(nvmlDevice_t dev, unsigned int words,
					 unsigned long *set,
					 nvmlAffinityScope_t scope)
{
	ENTER_GPU(dev);
	memset(set, 0, words * sizeof *set);
	if (scope != NVML_AFFINITY_SCOPE_NODE)
		LEAVE(NVML_ERROR_INVALID_ARGUMENT);
	set[0] = 1UL << dev->gpu;
	LEAVE(r);
}

/* ---- events ---- */

/* As opaque to the caller as the driver's. */
static char the_sets[64];

nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t dev, unsigned int *index)
{
	ENTER_GPU(dev);
	*index = dev->gpu;
	LEAVE(r);
}

nvmlReturn_t nvmlDeviceGetSupportedEventTypes(nvmlDevice_t dev,
					      unsigned long long *types)
{
	ENTER_GPU(dev);
	*types = nvmlEventTypeXidCriticalError | nvmlEventTypeClock;
	LEAVE(r);
}

nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t *set)
{
	nvmlReturn_t r;

	pthread_mutex_lock(&s.lock);
	r = called(__func__);
	if (r)
		LEAVE(r);
	s.events.sets++;
	memset(s.events.registered, 0, sizeof s.events.registered);
	s.events.last = (s.events.last + 1) % sizeof the_sets;
	*set = (nvmlEventSet_t)(void *)&the_sets[s.events.last];
	LEAVE(r);
}

nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t set)
{
	pthread_mutex_lock(&s.lock);
	called(__func__);
	s.events.sets--;
	if ((void *)set == &the_sets[s.events.last])
		memset(s.events.registered, 0, sizeof s.events.registered);
	LEAVE(NVML_SUCCESS);
}

nvmlReturn_t nvmlDeviceRegisterEvents(nvmlDevice_t dev,
				      unsigned long long types,
				      nvmlEventSet_t set)
{
	ENTER_GPU(dev);
	if ((void *)set != &the_sets[s.events.last] ||
	    types != nvmlEventTypeXidCriticalError)
		LEAVE(NVML_ERROR_INVALID_ARGUMENT);
	s.events.registered[dev->gpu] = true;
	s.events.registrations++;
	pthread_cond_broadcast(&s.changed);
	LEAVE(r);
}

static bool take_xid(nvmlEventData_t *data)
{
	struct script_events *e = &s.events;

	for (unsigned i = 0; i < e->xids; i++) {
		if (!e->registered[e->xid[i].gpu])
			continue;
		*data = (nvmlEventData_t){
		    .device = gpu_handle(e->xid[i].gpu),
		    .eventType = nvmlEventTypeXidCriticalError,
		    .eventData = e->xid[i].xid,
		};
		e->xid[i] = e->xid[--e->xids];
		pthread_cond_broadcast(&s.changed);
		return true;
	}
	return false;
}

nvmlReturn_t nvmlEventSetWait_v2(nvmlEventSet_t set, nvmlEventData_t *data,
				 unsigned int timeout_ms)
{
	struct timespec until;
	nvmlReturn_t r;

	(void)set;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += timeout_ms / 1000;
	until.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&s.lock);
	r = called(__func__);
	s.events.waits++;
	s.events.waiting++;
	pthread_cond_broadcast(&s.changed);
	while (!r) {
		while (s.events.hang)
			pthread_cond_wait(&s.changed, &s.lock);
		r = s.events.wait;
		if (r || take_xid(data))
			break;
		if (pthread_cond_timedwait(&s.changed, &s.lock, &until) &&
		    !s.events.hang)
			r = NVML_ERROR_TIMEOUT;
	}
	s.events.waiting--;
	LEAVE(r);
}
#endif
