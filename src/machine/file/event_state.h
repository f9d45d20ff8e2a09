/* SPDX-License-Identifier: Apache-2.0 */
/* event_state.h - the ring of a machine's events; see store/event.h. */
#ifndef GKF_EVENT_STATE_H
#define GKF_EVENT_STATE_H

#include <stdatomic.h>
#include <stdint.h>

#define GKF_EVENTS_MAX 1024

/* Marks a type as a system event: nvmlSystemEventType*. */
#define GKF_EVENT_SYSTEM (1ULL << 63)

struct gkf_event {
	uint64_t number;     /* counted from 1; 0 while being written */
	uint64_t machine_ns; /* machine time of the event */
	/* One bit of nvmlEventType*, or GKF_EVENT_SYSTEM | type. */
	uint64_t type;
	uint64_t data; /* for an Xid: its number */
	uint32_t device;
	uint32_t instance; /* as in struct gkf_slot */
};

struct gkf_events {
	_Atomic uint64_t count; /* events so far */
	/* A futex whose value changes with each event. */
	_Atomic uint32_t wake;
	_Atomic uint32_t sleepers;
	/*
	 * Types of events that any program has waited for. Events of other
	 * types are not recorded, except Xids.
	 */
	_Atomic uint64_t interest;
	/* Event n has the index n % size. */
	struct gkf_event ring[GKF_EVENTS_MAX];
};

#endif
