/*
 * event_private.h - what the files of events share: an event, and a record of
 * it, which the event and its stream hold.
 */
#ifndef GKF_CUDA_EVENT_PRIVATE_H
#define GKF_CUDA_EVENT_PRIVATE_H

#include "fronts/cuda/capture.h"
#include "fronts/cuda/event_shared.h"
#include "fronts/cuda/stream_private.h"

struct record {
	_Atomic unsigned holders;
	_Atomic uint64_t reached_ns; /* CLOCK_MONOTONIC; 0: not yet */
	struct shared_event *shared; /* or NULL */
	uint64_t number;             /* there */
};

struct CUevent_st {
	CUcontext ctx;
	uint64_t ctx_id; /* the life of ctx that it belongs to */
	unsigned flags;
	pthread_mutex_t lock;        /* of the rest */
	struct shared_event *shared; /* with other processes; or NULL */
	struct record *record;       /* NULL: not recorded yet */
	struct gkf_ticket ticket;    /* where the record is in its stream */
	struct capture_point point;  /* instead: where in a capture */
};

/* NULL is fine; the caller drops it. */
struct record *record_hold(struct record *record);
void record_drop(struct record *record);

/* The caller drops it; it may be destroyed meanwhile. */
struct shared_event *event_hold_shared(CUevent e);

/* An event goes with its context; what is left of it can be destroyed. */
CUresult event_usable(CUevent e);

#endif
