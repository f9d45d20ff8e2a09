/* event_state.h - the ring of what happened on a machine; store/event.h. */
#ifndef GKF_EVENT_STATE_H
#define GKF_EVENT_STATE_H

#include <stdatomic.h>
#include <stdint.h>

#define GKF_EVENTS_MAX 1024

/* With it, a type is one of the system's: nvmlSystemEventType*. */
#define GKF_EVENT_SYSTEM (1ULL << 63)

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

#endif
