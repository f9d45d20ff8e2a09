/*
 * event.h - what happened on a machine, for those who wait for it: a ring of
 * the last events and a word to sleep on. Events are pushed under the writers'
 * lock; readers take none.
 */
#ifndef GKF_EVENT_H
#define GKF_EVENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define GKF_EVENTS_MAX 1024

/* With it, a type is one of the system's: nvmlSystemEventType*. */
#define GKF_EVENT_SYSTEM (1ULL << 63)

struct gkf_machine;

struct gkf_event {
	uint64_t number;     /* 1 for the first; 0 while it is written */
	uint64_t machine_ns; /* when */
	uint64_t type;       /* nvmlEventType*: one bit; GKF_EVENT_SYSTEM */
	uint64_t data;       /* of an Xid: its number */
	uint32_t device;
	uint32_t instance; /* as of struct gkf_slot */
};

struct gkf_events {
	_Atomic uint64_t count; /* events so far */
	_Atomic uint32_t wake;  /* changes with each; a futex */
	_Atomic uint32_t sleepers;
	/* Types that somebody ever waited for: the rest is not pushed. */
	_Atomic uint64_t interest;
	struct gkf_event ring[GKF_EVENTS_MAX]; /* number n at n % size */
};

/*
 * Says that something happened on a device. The caller holds the writers'
 * lock. Xids are always kept; other types only once somebody is interested.
 */
void gkf_event_push(struct gkf_machine *m, uint32_t device, uint64_t type,
		    uint64_t data, uint32_t instance);

/* Declares that events of these types are waited for, for good. */
__attribute__((visibility("default"))) void
gkf_event_interest(struct gkf_machine *m, uint64_t types);

/* The number of the last event: where one who begins to listen begins. */
__attribute__((visibility("default"))) uint64_t
gkf_event_last(const struct gkf_machine *m);

/*
 * The event after *number, which becomes its number; false: none yet. Events
 * that were overwritten unread are left out.
 */
__attribute__((visibility("default"))) bool
gkf_event_next(const struct gkf_machine *m, uint64_t *number,
	       struct gkf_event *ret_event);

/*
 * To sleep: take the word, look whether there is anything to do, then sleep on
 * that word. Returns when anything happened since the word was taken, or
 * timeout_ns have passed; maybe earlier.
 */
__attribute__((visibility("default"))) uint32_t
gkf_event_word(const struct gkf_machine *m);
__attribute__((visibility("default"))) void
gkf_event_sleep(struct gkf_machine *m, uint32_t word, uint64_t timeout_ns);

/* Ends the sleep of everybody: they look what is new. */
__attribute__((visibility("default"))) void
gkf_event_wake(struct gkf_machine *m);

#endif
