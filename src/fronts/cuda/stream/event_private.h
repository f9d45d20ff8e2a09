/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_private.h - shared by the files that implement events: events and their
 * records. A record is held both by its event and by the stream in which it was
 * made.
 */
#ifndef GKF_CUDA_EVENT_PRIVATE_H
#define GKF_CUDA_EVENT_PRIVATE_H

#include "fronts/cuda/graph/capture.h"
#include "fronts/cuda/stream/event_shared.h"
#include "fronts/cuda/stream/stream_private.h"

struct record {
	_Atomic unsigned holders;
	_Atomic uint64_t reached_ns; /* CLOCK_MONOTONIC; 0: not reached yet */
	/* the shared part of the event, or NULL */
	struct shared_event *shared;
	uint64_t number; /* the record's number in `shared` */
};

struct CUevent_st {
	CUcontext ctx;
	uint64_t ctx_id; /* the id of `ctx` */
	unsigned flags;
	pthread_mutex_t lock; /* guards the members below */
	/* the part shared with other processes, or NULL */
	struct shared_event *shared;
	struct record *record;    /* NULL: not recorded yet */
	struct gkf_ticket ticket; /* ticket of the record in its stream */
	/* if the event was recorded in a capture: its position there */
	struct capture_point point;
};

/*
 * Takes a reference, which the caller drops with record_drop(). Both accept
 * NULL.
 */
struct record *record_hold(struct record *record);
void record_drop(struct record *record);

/*
 * Returns a reference to the shared part, which then outlives the event. The
 * caller drops the reference.
 */
struct shared_event *event_hold_shared(CUevent e);

/*
 * Returns an error if the event's context has ended: then the event can only be
 * destroyed.
 */
CUresult event_usable(CUevent e);

#endif
