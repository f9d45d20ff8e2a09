/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_shared.h - the part of an event that several processes share
 * (CU_EVENT_INTERPROCESS): the number of the last record, and which records
 * have been reached.
 */
#ifndef GKF_CUDA_EVENT_SHARED_H
#define GKF_CUDA_EVENT_SHARED_H

#include "fronts/cuda/stream/stream_private.h"

struct shared_event;

/* Returns a new shared event; NULL if this process cannot share memory. */
struct shared_event *shared_event_new(unsigned device);

/* Opens an event of another process by its handle. */
CUresult shared_event_open(const CUipcEventHandle *handle,
			   struct shared_event **ret_event);

/* Take and drop a reference; both accept NULL. */
struct shared_event *shared_event_hold(struct shared_event *e);
void shared_event_drop(struct shared_event *e);

/* Returns CUDA_ERROR_INVALID_HANDLE if another process made the event. */
CUresult shared_event_handle(const struct shared_event *e,
			     CUipcEventHandle *ret_handle);

/*
 * shared_event_record() makes a record. It fails with CUDA_ERROR_NOT_SUPPORTED
 * if the event has too many unreached records of several processes.
 *
 * shared_event_reach() marks a record as reached; it may be called repeatedly
 * and ignores NULL. Call it only when shared_event_may_reach() returns true:
 * marking a record also marks earlier ones that use the same slot.
 */
CUresult shared_event_record(struct shared_event *e, uint64_t *ret_number);
bool shared_event_may_reach(struct shared_event *e, uint64_t number);
void shared_event_reach(struct shared_event *e, uint64_t number);

/*
 * Whether the last record is reached, or the process that made it has ended.
 * True if e is NULL.
 */
bool shared_event_done(struct shared_event *e);

/*
 * Waits for the last record; returns the context's error if an error occurs
 * meanwhile.
 */
CUresult shared_event_wait(CUcontext ctx, struct shared_event *e);

/*
 * Makes later work of the stream wait for the last record. The caller holds the
 * lock of the stream's context.
 */
CUresult shared_event_await(CUstream s, struct shared_event *e);

#endif
