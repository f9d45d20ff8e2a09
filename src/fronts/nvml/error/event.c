/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event.c - owns the event sets for devices and for the system. Both kinds are
 * in one table; the handle of a set is its address. Each set has its own read
 * position in the machine's ring of events; a waiter sleeps until an event is
 * added to the ring.
 */
#include "base/clock.h"
#include "fronts/nvml/front.h"
#include "machine/file/board.h"
#include "machine/file/event_state.h"
#include "machine/file/fault_kinds.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/file/state.h"
#include "machine/model/ecc.h"
#include "machine/model/model.h"
#include "machine/store/board.h"
#include "machine/store/clock.h"
#include "machine/store/event.h"
#include "machine/trouble/fault.h"

#include <string.h>

#define SETS_MAX    128
#define TYPES_MAX   16
#define NO_INSTANCE 0xffffffffu
#define SYSTEM_EVENTS                                                          \
	(nvmlSystemEventTypeGpuDriverUnbind | nvmlSystemEventTypeGpuDriverBind)

/* Event types that the model creates when it is advanced to the current time.
 */
#define OF_MODEL ((uint64_t)(nvmlEventTypePState | nvmlEventTypeClock))

enum kind { FREE, OF_DEVICES, OF_SYSTEM, KINDS };

/*
 * `life` modulo KINDS is the kind. `life` grows whenever the set is created or
 * freed, so that a waiter notices that its set has been freed.
 */
struct event_set {
	_Atomic uint64_t life;
	_Atomic uint64_t seen; /* number of the last event taken */
	/* Registered types by device; a system set uses index 0. */
	_Atomic uint64_t types[GKF_DEVICES_MAX];
	/* For each type: number of the last event before it was registered. */
	_Atomic uint64_t since[GKF_DEVICES_MAX][TYPES_MAX];
};

_Static_assert(!((uint64_t)nvmlEventTypeAll >> TYPES_MAX), "each has a place");

static struct event_set sets[SETS_MAX];

/*
 * Sets from this index on have never been used, so their pages take no memory.
 */
static atomic_uint sets_high;

static enum kind kind_of(uint64_t life)
{
	return (enum kind)(life % KINDS);
}

/* Returns the next value of a set's `life` that stands for the given kind. */
static uint64_t next_life(uint64_t life, enum kind kind)
{
	return life - life % KINDS + KINDS + kind;
}

void front_drop_events(struct gkf_machine *machine)
{
	for (unsigned i = 0; i < atomic_load(&sets_high); i++) {
		uint64_t life = atomic_load(&sets[i].life);

		if (kind_of(life) != FREE)
			atomic_store(&sets[i].life, next_life(life, FREE));
	}
	gkf_event_wake(machine);
}

/* The set of a handle; NULL if there is no such set of this kind. */
static struct event_set *find_set(const void *handle, enum kind kind)
{
	size_t offset = (uintptr_t)handle - (uintptr_t)sets;
	size_t i = offset / sizeof(*sets);

	if (offset % sizeof(*sets) || i >= SETS_MAX ||
	    kind_of(atomic_load(&sets[i].life)) != kind)
		return NULL;
	return &sets[i];
}

static void raise_high(unsigned to)
{
	unsigned high = atomic_load(&sets_high);

	while (high < to &&
	       !atomic_compare_exchange_weak(&sets_high, &high, to))
		;
}

static struct event_set *new_set(const struct call *c, enum kind kind)
{
	for (unsigned i = 0; i < SETS_MAX; i++) {
		uint64_t life = atomic_load(&sets[i].life);

		raise_high(i + 1);
		if (kind_of(life) != FREE ||
		    !atomic_compare_exchange_strong(&sets[i].life, &life,
						    next_life(life, kind)))
			continue;
		for (unsigned d = 0; d < GKF_DEVICES_MAX; d++)
			atomic_store(&sets[i].types[d], 0);
		atomic_store(&sets[i].seen, gkf_event_last(c->machine));
		return &sets[i];
	}
	return NULL;
}

static nvmlReturn_t free_set(const struct call *c, const void *handle,
			     enum kind kind)
{
	struct event_set *set = find_set(handle, kind);
	uint64_t life = set ? atomic_load(&set->life) : 0;

	if (!set || kind_of(life) != kind ||
	    !atomic_compare_exchange_strong(&set->life, &life,
					    next_life(life, FREE)))
		return NVML_ERROR_INVALID_ARGUMENT;
	gkf_event_wake(c->machine);
	return NVML_SUCCESS;
}

/* ---- types of events ---- */

#define ECC_EVENTS                                                             \
	(nvmlEventTypeSingleBitEccError | nvmlEventTypeDoubleBitEccError |     \
	 nvmlEventTypeSingleBitEccErrorStorm |                                 \
	 nvmlEventTypeDramRetirementEvent |                                    \
	 nvmlEventTypeDramRetirementFailure)
#define POISON_EVENTS                                                          \
	(nvmlEventTypeNonFatalPoisonError | nvmlEventTypeFatalPoisonError)

/* The event types that both the board and the driver support. */
static uint64_t supported_types(const struct call *c)
{
	const struct gkf_profile *p = &c->board->profile;
	uint64_t types = nvmlEventTypeXidCriticalError | OF_MODEL |
			 nvmlEventTypePowerSourceChange |
			 nvmlEventTypeGpuUnavailableError |
			 nvmlEventTypeGpuRecoveryAction;

	if (gkf_ecc_on(c->machine, c->index))
		types |= ECC_EVENTS;
	/* Error containment came with Ampere. */
	if (gkf_ecc_on(c->machine, c->index) && p->compute_major >= 8)
		types |= POISON_EVENTS;
	if (p->mig >= 0)
		types |= nvmlEventMigConfigChange;
	return types & front_generation->events;
}

nvmlReturn_t nvmlDeviceGetSupportedEventTypes(nvmlDevice_t device,
					      unsigned long long *eventTypes)
{
	ENTER_DEVICE(nvmlDeviceGetSupportedEventTypes, device,
		     eventTypes != NULL);
	*eventTypes = supported_types(&c);
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t *set)
{
	struct event_set *s;

	ENTER(nvmlEventSetCreate, set != NULL);
	s = new_set(&c, OF_DEVICES);
	if (!s)
		return NVML_ERROR_INSUFFICIENT_RESOURCES;
	*set = (nvmlEventSet_t)(void *)s;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t set)
{
	ENTER(nvmlEventSetFree, set != NULL);
	return free_set(&c, set, OF_DEVICES);
}

static void advance_device(const struct call *c, unsigned device)
{
	struct gkf_state state;

	gkf_state_now(c->machine, device, &state);
}

/* Registers types. New types count events from now on; types that are already
 * registered are not affected. */
static void register_types(const struct call *c, struct event_set *s,
			   unsigned place, uint64_t types)
{
	uint64_t now = gkf_event_last(c->machine), fresh;

	GK_ASSERT(place < GKF_DEVICES_MAX && !(types >> TYPES_MAX));
	fresh = types & ~atomic_load(&s->types[place]);
	for (uint64_t left = fresh; left; left &= left - 1)
		atomic_store(&s->since[place][__builtin_ctzll(left)], now);
	atomic_fetch_or(&s->types[place], fresh);
}

nvmlReturn_t nvmlDeviceRegisterEvents(nvmlDevice_t device,
				      unsigned long long eventTypes,
				      nvmlEventSet_t set)
{
	struct event_set *s = find_set(set, OF_DEVICES);

	ENTER_DEVICE(nvmlDeviceRegisterEvents, device,
		     s && !(eventTypes & ~front_generation->events));
	if (eventTypes & ~supported_types(&c))
		return NVML_ERROR_NOT_SUPPORTED;
	gkf_event_interest(c.machine, eventTypes);
	advance_device(&c, c.index); /* earlier changes do not count */
	register_types(&c, s, c.index, eventTypes);
	return NVML_SUCCESS;
}

/* ---- waiting ---- */

static bool is_for(const struct event_set *s, enum kind kind,
		   const struct gkf_event *e)
{
	bool of_system = e->type & GKF_EVENT_SYSTEM;
	uint64_t type = e->type & ~GKF_EVENT_SYSTEM;
	unsigned place = of_system ? 0 : e->device;

	return of_system == (kind == OF_SYSTEM) && type &&
	       !(type >> TYPES_MAX) && place < GKF_DEVICES_MAX &&
	       atomic_load(&s->types[place]) & type &&
	       e->number > atomic_load(&s->since[place][__builtin_ctzll(type)]);
}

/* Takes the set's next event. If several threads wait, only one of them gets
 * it. */
static bool take_event(const struct call *c, struct event_set *s,
		       enum kind kind, struct gkf_event *ret_event)
{
	uint64_t from = atomic_load(&s->seen), at;
	bool found;

	do {
		at = from;
		do {
			found = gkf_event_next(c->machine, &at, ret_event);
		} while (found && !is_for(s, kind, ret_event));
		if (at == from)
			return false;
	} while (!atomic_compare_exchange_weak(&s->seen, &from, at));
	return found;
}

/*
 * Advances the model of the set's devices to the current time. False if no
 * event type of the model is registered.
 */
static bool advance_set(const struct call *c, const struct event_set *s,
			enum kind kind)
{
	bool told = false;

	for (unsigned i = 0; kind == OF_DEVICES && i < c->device_count; i++) {
		if (!(atomic_load(&s->types[i]) & OF_MODEL))
			continue;
		advance_device(c, i);
		told = true;
	}
	return told;
}

/* The result if no event came: a timeout, or an error if one of the GPUs is
 * lost. */
static nvmlReturn_t answer_no_event(const struct call *c,
				    const struct event_set *s, enum kind kind)
{
	for (unsigned i = 0; kind == OF_DEVICES && i < c->device_count; i++)
		if (atomic_load(&s->types[i]) &&
		    (gkf_fault_active(c->machine, i, GKF_FAULT_FALLEN) ||
		     gkf_fault_active(c->machine, i, GKF_FAULT_LOST)))
			return NVML_ERROR_GPU_IS_LOST;
	return NVML_ERROR_TIMEOUT;
}

/* Sleeps for ns or, if `model` is true, at most until the next bin, in which
 * the model may create an event. */
static void sleep_for_event(const struct call *c, uint32_t word, bool model,
			    uint64_t ns)
{
	uint64_t bin;

	if (model) {
		bin = gkf_real_until(
		    c->machine, (gkf_machine_bin(c->machine) + 1) * GKF_BIN_NS);
		if (bin < ns)
			ns = bin;
	}
	front_sleep(c->machine, word, ns);
}

/* Waits for an event, for the set to be freed, or until the timeout. */
static nvmlReturn_t wait_set(const struct call *c, struct event_set *s,
			     enum kind kind, unsigned timeout_ms,
			     struct gkf_event *ret_event)
{
	uint64_t life = atomic_load(&s->life);
	uint64_t now = gk_mono_ns(), end = now + timeout_ms * GK_NS_PER_MS;

	for (;; now = gk_mono_ns()) {
		uint32_t word = front_look(c->machine);
		bool model;

		if (!atomic_load(&front_current))
			return NVML_ERROR_UNINITIALIZED;
		if (kind_of(life) != kind || atomic_load(&s->life) != life)
			return NVML_ERROR_INVALID_ARGUMENT;
		model = advance_set(c, s, kind);
		if (take_event(c, s, kind, ret_event))
			return NVML_SUCCESS;
		if (now >= end)
			return answer_no_event(c, s, kind);
		sleep_for_event(c, word, model, end - now);
	}
}

static nvmlEventData_t as_data(const struct gkf_event *e)
{
	bool whole = e->instance == GKF_NO_INSTANCE;

	return (nvmlEventData_t){
	    .device = &front_handles[e->device],
	    .eventType = e->type,
	    .eventData = e->data,
	    .gpuInstanceId = whole ? NO_INSTANCE : GKF_INSTANCE_GI(e->instance),
	    .computeInstanceId =
		whole ? NO_INSTANCE : GKF_INSTANCE_CI(e->instance),
	};
}

/* The size of the struct for nvmlEventSetWait, which has no instance ids. */
#define EVENT_DATA_V1 offsetof(nvmlEventData_t, gpuInstanceId)

/* Waits for an event and writes the first `size` bytes of its struct. */
static nvmlReturn_t wait_devices(enum nvml_row row, nvmlEventSet_t set,
				 nvmlEventData_t *data, size_t size,
				 unsigned timeout_ms)
{
	struct call c;
	struct event_set *s = find_set(set, OF_DEVICES);
	struct gkf_event event;
	nvmlEventData_t got;
	nvmlReturn_t r = enter_call(&c, row, s && data);

	if (!r)
		r = wait_set(&c, s, OF_DEVICES, timeout_ms, &event);
	if (r)
		return r;
	got = as_data(&event);
	memcpy(data, &got, size);
	return NVML_SUCCESS;
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

/* ---- event sets of the system ---- */

nvmlReturn_t
nvmlSystemEventSetCreate(nvmlSystemEventSetCreateRequest_t *request)
{
	struct event_set *s;

	ENTER(nvmlSystemEventSetCreate, request != NULL);
	if (!TAKES(request->version, nvmlSystemEventSetCreateRequest_v1))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	s = new_set(&c, OF_SYSTEM);
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
	return free_set(&c, request->set, OF_SYSTEM);
}

nvmlReturn_t nvmlSystemRegisterEvents(nvmlSystemRegisterEventRequest_t *request)
{
	struct event_set *s;

	ENTER(nvmlSystemRegisterEvents, request != NULL);
	if (!TAKES(request->version, nvmlSystemRegisterEventRequest_v1))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	s = find_set(request->set, OF_SYSTEM);
	if (!s || !request->eventTypes ||
	    (request->eventTypes & ~(unsigned long long)SYSTEM_EVENTS))
		return NVML_ERROR_INVALID_ARGUMENT;
	gkf_event_interest(c.machine, GKF_EVENT_SYSTEM);
	register_types(&c, s, 0, request->eventTypes);
	return NVML_SUCCESS;
}

/* The id of a GPU in system events: its PCI address. */
static unsigned gpu_id(const struct call *c, unsigned device)
{
	const struct gkf_board *b = gkf_board(c->machine, device);

	return b->pci_domain << 16 | b->pci_bus << 8 | b->pci_device << 3;
}

nvmlReturn_t nvmlSystemEventSetWait(nvmlSystemEventSetWaitRequest_t *request)
{
	struct gkf_event event;
	struct event_set *s;
	nvmlReturn_t r;
	unsigned n = 0;

	ENTER(nvmlSystemEventSetWait, request != NULL);
	if (!TAKES(request->version, nvmlSystemEventSetWaitRequest_v1))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	s = find_set(request->set, OF_SYSTEM);
	if (!s || !request->data || !request->dataSize)
		return NVML_ERROR_INVALID_ARGUMENT;
	r = wait_set(&c, s, OF_SYSTEM, request->timeoutms, &event);
	while (!r && n < request->dataSize) {
		request->data[n++] = (nvmlSystemEventData_v1_t){
		    .eventType = event.type & ~GKF_EVENT_SYSTEM,
		    .gpuId = gpu_id(&c, event.device),
		};
		if (n == request->dataSize ||
		    !take_event(&c, s, OF_SYSTEM, &event))
			break;
	}
	if (!r || r == NVML_ERROR_TIMEOUT)
		request->numEvent = n;
	return r;
}
