/*
 * event.c - event sets of devices and of the system. Both live in one table,
 * whose addresses are the handles; a wait looks up now and then, so that it
 * ends when its set or NVML goes away.
 *
 * The one event of a device is Xid 79, "fallen off the bus", when it is lost.
 * The system has events for drivers that bind and unbind, which the driver of
 * a made-up machine never does.
 */
#include "fake/nvml/front.h"
#include "base/clock.h"

#include <string.h>

#define SETS_MAX        256
#define LOOK_NS         (20 * GK_NS_PER_MS)
#define XID_OFF_THE_BUS 79
#define NO_INSTANCE     0xffffffffu
#define SYSTEM_EVENTS                                                          \
	(nvmlSystemEventTypeGpuDriverUnbind | nvmlSystemEventTypeGpuDriverBind)

enum kind { FREE, OF_DEVICES, OF_SYSTEM };

/* Bits of devices; GKF_DEVICES_MAX of them fit one word. */
struct event_set {
	_Atomic unsigned kind;
	_Atomic uint64_t watched; /* for Xids */
	_Atomic uint64_t told;    /* lost, and said so */
};
_Static_assert(GKF_DEVICES_MAX <= 64, "a bit a device");

static struct event_set sets[SETS_MAX];

void front_drop_events(void)
{
	for (unsigned i = 0; i < SETS_MAX; i++)
		atomic_store(&sets[i].kind, FREE);
}

/* The set of a handle, if it is one of this kind. */
static struct event_set *find_set(const void *handle, enum kind kind)
{
	size_t offset = (uintptr_t)handle - (uintptr_t)sets;
	size_t i = offset / sizeof(*sets);

	if (offset % sizeof(*sets) || i >= SETS_MAX ||
	    atomic_load(&sets[i].kind) != kind)
		return NULL;
	return &sets[i];
}

static struct event_set *new_set(enum kind kind)
{
	for (unsigned i = 0; i < SETS_MAX; i++) {
		unsigned was = FREE;

		if (!atomic_compare_exchange_strong(&sets[i].kind, &was, kind))
			continue;
		atomic_store(&sets[i].watched, 0);
		atomic_store(&sets[i].told, 0);
		return &sets[i];
	}
	return NULL;
}

static nvmlReturn_t free_set(const void *handle, enum kind kind)
{
	struct event_set *set = find_set(handle, kind);
	unsigned was = kind;

	if (!set || !atomic_compare_exchange_strong(&set->kind, &was, FREE))
		return NVML_ERROR_INVALID_ARGUMENT;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetSupportedEventTypes(nvmlDevice_t device,
					      unsigned long long *eventTypes)
{
	ENTER_DEVICE(nvmlDeviceGetSupportedEventTypes, device,
		     eventTypes != NULL);
	*eventTypes = nvmlEventTypeXidCriticalError;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t *set)
{
	struct event_set *s;

	ENTER(nvmlEventSetCreate, set != NULL);
	s = new_set(OF_DEVICES);
	if (!s)
		return NVML_ERROR_INSUFFICIENT_RESOURCES;
	*set = (nvmlEventSet_t)(void *)s;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t set)
{
	ENTER(nvmlEventSetFree, set != NULL);
	return free_set(set, OF_DEVICES);
}

nvmlReturn_t nvmlDeviceRegisterEvents(nvmlDevice_t device,
				      unsigned long long eventTypes,
				      nvmlEventSet_t set)
{
	struct event_set *s = find_set(set, OF_DEVICES);

	ENTER_DEVICE(nvmlDeviceRegisterEvents, device,
		     s && !(eventTypes & ~front_generation->events));
	if (eventTypes & ~(unsigned long long)nvmlEventTypeXidCriticalError)
		return NVML_ERROR_NOT_SUPPORTED;
	if (eventTypes)
		atomic_fetch_or(&s->watched, 1ULL << c.index);
	return NVML_SUCCESS;
}

/* Takes the Xid of a watched device that was lost since it was last told. */
static bool take_xid(const struct call *c, struct event_set *s,
		     nvmlEventData_t *ret_data)
{
	uint64_t bit, watched = atomic_load(&s->watched);

	for (unsigned i = 0; i < c->device_count; i++) {
		bit = 1ULL << i;
		if (!(watched & bit))
			continue;
		if (!is_lost(&c->file->device[i])) {
			atomic_fetch_and(&s->told, ~bit);
			continue;
		}
		if (atomic_fetch_or(&s->told, bit) & bit)
			continue;
		*ret_data = (nvmlEventData_t){
		    .device = &front_handles[i],
		    .eventType = nvmlEventTypeXidCriticalError,
		    .eventData = XID_OFF_THE_BUS,
		    .gpuInstanceId = NO_INSTANCE,
		    .computeInstanceId = NO_INSTANCE,
		};
		return true;
	}
	return false;
}

/* Waits for an event (data NULL: there are none) or for the end of the set. */
static nvmlReturn_t wait_set(const struct call *c, struct event_set *s,
			     enum kind kind, nvmlEventData_t *data,
			     unsigned timeout_ms)
{
	uint64_t now = gk_mono_ns(), end = now + timeout_ms * GK_NS_PER_MS;

	for (;; now = gk_mono_ns()) {
		if (!atomic_load(&front_current))
			return NVML_ERROR_UNINITIALIZED;
		if (atomic_load(&s->kind) != kind)
			return NVML_ERROR_INVALID_ARGUMENT;
		if (data && take_xid(c, s, data))
			return NVML_SUCCESS;
		if (now >= end)
			return NVML_ERROR_TIMEOUT;
		gk_sleep_until(end - now < LOOK_NS ? end : now + LOOK_NS);
	}
}

/* What callers of nvmlEventSetWait hold; the ids behind came with _v2. */
#define EVENT_DATA_V1 offsetof(nvmlEventData_t, gpuInstanceId)

/* Writes size bytes of the record. */
static nvmlReturn_t wait_devices(enum nvml_row row, nvmlEventSet_t set,
				 nvmlEventData_t *data, size_t size,
				 unsigned timeout_ms)
{
	struct call c;
	struct event_set *s = find_set(set, OF_DEVICES);
	nvmlEventData_t got;
	nvmlReturn_t r = enter(&c, row, s && data);

	if (!r)
		r = wait_set(&c, s, OF_DEVICES, &got, timeout_ms);
	if (!r)
		memcpy(data, &got, size);
	return r;
}

nvmlReturn_t nvmlEventSetWait(nvmlEventSet_t set, nvmlEventData_t *data,
			      unsigned int timeoutms)
{
	return wait_devices(ROW_nvmlEventSetWait, set, data, EVENT_DATA_V1,
			    timeoutms);
}

nvmlReturn_t nvmlEventSetWait_v2(nvmlEventSet_t set, nvmlEventData_t *data,
				 unsigned int timeoutms)
{
	return wait_devices(ROW_nvmlEventSetWait_v2, set, data, sizeof *data,
			    timeoutms);
}

nvmlReturn_t
nvmlSystemEventSetCreate(nvmlSystemEventSetCreateRequest_t *request)
{
	struct event_set *s;

	ENTER(nvmlSystemEventSetCreate, request != NULL);
	if (!TAKES(request->version, nvmlSystemEventSetCreateRequest_v1))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	s = new_set(OF_SYSTEM);
	if (!s)
		return NVML_ERROR_INSUFFICIENT_RESOURCES;
	request->set = (nvmlSystemEventSet_t)(void *)s;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlSystemEventSetFree(nvmlSystemEventSetFreeRequest_t *request)
{
	ENTER(nvmlSystemEventSetFree, request != NULL);
	if (!TAKES(request->version, nvmlSystemEventSetFreeRequest_v1))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	return free_set(request->set, OF_SYSTEM);
}

nvmlReturn_t nvmlSystemRegisterEvents(nvmlSystemRegisterEventRequest_t *request)
{
	ENTER(nvmlSystemRegisterEvents, request != NULL);
	if (!TAKES(request->version, nvmlSystemRegisterEventRequest_v1))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	if (!find_set(request->set, OF_SYSTEM) || !request->eventTypes ||
	    (request->eventTypes & ~(unsigned long long)SYSTEM_EVENTS))
		return NVML_ERROR_INVALID_ARGUMENT;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlSystemEventSetWait(nvmlSystemEventSetWaitRequest_t *request)
{
	struct event_set *s;
	nvmlReturn_t r;

	ENTER(nvmlSystemEventSetWait, request != NULL);
	if (!TAKES(request->version, nvmlSystemEventSetWaitRequest_v1))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	s = find_set(request->set, OF_SYSTEM);
	if (!s || !request->data || !request->dataSize)
		return NVML_ERROR_INVALID_ARGUMENT;
	r = wait_set(&c, s, OF_SYSTEM, NULL, request->timeoutms);
	if (r == NVML_ERROR_TIMEOUT)
		request->numEvent = 0;
	return r;
}
