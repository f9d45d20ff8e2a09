/* SPDX-License-Identifier: Apache-2.0 */
/* event.c - owns the ring of events; see event.h. */
#include "machine/store/event.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/futex.h"
#include "machine/file/event_state.h"
#include "machine/file/file.h"
#include "machine/store/clock.h"
#include "machine/store/gate.h"
#include "machine/store/view.h"
#include "machine/store/writers_lock.h"

#include <limits.h>

/* nvmlEventTypeXidCriticalError. */
#define TYPE_XID 8ULL

/* One hour; longer sleeps gain nothing. */
#define SLEEP_MAX_NS (3600 * GK_NS_PER_S)

static struct gkf_events *events_of(const struct gkf_machine *m)
{
	return &m->file->events;
}

void gkf_event_wake(struct gkf_machine *m)
{
	struct gkf_events *e = events_of(m);

	atomic_fetch_add(&e->wake, 1);
	if (atomic_load(&e->sleepers))
		gk_futex_wake(GK_FUTEX_SHARED, &e->wake, INT_MAX);
}

/*
 * Stores an event. The number is erased first and written last, so that a
 * reader never takes a half-written event for a whole one; the count publishes
 * it.
 */
void gkf_event_push(struct gkf_machine *m, uint32_t device, uint64_t type,
		    uint64_t data, uint32_t instance)
{
	struct gkf_events *e = events_of(m);
	uint64_t number = atomic_load(&e->count) + 1;
	struct gkf_event *to = &e->ring[number % GKF_EVENTS_MAX];
	uint64_t kind = type & GKF_EVENT_SYSTEM ? GKF_EVENT_SYSTEM : type;

	GK_ASSERT(gkf_lock_held(m));
	if (!(kind & (TYPE_XID | atomic_load(&e->interest))))
		return;
	__atomic_store_n(&to->number, 0, __ATOMIC_RELAXED);
	atomic_thread_fence(memory_order_release);
	__atomic_store_n(&to->machine_ns, gkf_machine_ns(m), __ATOMIC_RELAXED);
	__atomic_store_n(&to->type, type, __ATOMIC_RELAXED);
	__atomic_store_n(&to->data, data, __ATOMIC_RELAXED);
	__atomic_store_n(&to->device, device, __ATOMIC_RELAXED);
	__atomic_store_n(&to->instance, instance, __ATOMIC_RELAXED);
	__atomic_store_n(&to->number, number, __ATOMIC_RELEASE);
	atomic_store(&e->count, number);
	gkf_event_wake(m);
}

void gkf_event_interest(struct gkf_machine *m, uint64_t types)
{
	atomic_fetch_or(&events_of(m)->interest, types);
}

uint64_t gkf_event_last(const struct gkf_machine *m)
{
	return atomic_load(&events_of(m)->count);
}

static bool read_event(const struct gkf_event *from, uint64_t number,
		       struct gkf_event *ret_event)
{
	uint64_t found = __atomic_load_n(&from->number, __ATOMIC_ACQUIRE);

	ret_event->number = number;
	ret_event->machine_ns =
	    __atomic_load_n(&from->machine_ns, __ATOMIC_RELAXED);
	ret_event->type = __atomic_load_n(&from->type, __ATOMIC_RELAXED);
	ret_event->data = __atomic_load_n(&from->data, __ATOMIC_RELAXED);
	ret_event->device = __atomic_load_n(&from->device, __ATOMIC_RELAXED);
	ret_event->instance =
	    __atomic_load_n(&from->instance, __ATOMIC_RELAXED);
	atomic_thread_fence(memory_order_acquire);
	return found == number &&
	       __atomic_load_n(&from->number, __ATOMIC_RELAXED) == number &&
	       ret_event->type;
}

bool gkf_event_next(const struct gkf_machine *m, uint64_t *number,
		    struct gkf_event *ret_event)
{
	const struct gkf_events *e = events_of(m);
	uint64_t last = atomic_load(&e->count);

	if (last > *number && last - *number > GKF_EVENTS_MAX)
		*number = last - GKF_EVENTS_MAX;
	while (*number < last) {
		const struct gkf_event *at =
		    &e->ring[++*number % GKF_EVENTS_MAX];

		if (read_event(at, *number, ret_event) &&
		    ret_event->device < m->device_count)
			return true;
	}
	return false;
}

uint32_t gkf_event_word(const struct gkf_machine *m)
{
	return atomic_load(&events_of(m)->wake);
}

void gkf_event_sleep(struct gkf_machine *m, uint32_t word, uint64_t timeout_ns)
{
	struct gkf_events *e = events_of(m);
	uint64_t next = gkf_scenario_next_ns(m), longest = SLEEP_MAX_NS;

	/* Wake up to apply the next step of the scenario. */
	if (next != UINT64_MAX)
		longest = gkf_real_until(m, next);
	if (longest > SLEEP_MAX_NS)
		longest = SLEEP_MAX_NS;

	/*
	 * If this process is killed while asleep, the count stays too high, and
	 * later events cost a needless system call.
	 */
	atomic_fetch_add(&e->sleepers, 1);
	gk_futex_wait(GK_FUTEX_SHARED, &e->wake, word,
		      timeout_ns < longest ? timeout_ns : longest);
	atomic_fetch_sub(&e->sleepers, 1);
	gkf_scenario_poll(m);
}
