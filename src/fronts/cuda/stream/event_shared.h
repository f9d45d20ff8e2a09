/*
 * event_shared.h - the part of an event that several processes see
 * (CU_EVENT_INTERPROCESS): which record is the last, and which was reached.
 */
#ifndef GKF_CUDA_EVENT_SHARED_H
#define GKF_CUDA_EVENT_SHARED_H

#include "fronts/cuda/stream_private.h"

struct shared_event;

/* One of this process; NULL: it can share none. */
struct shared_event *shared_event_new(unsigned device);

/* That of another one, by its handle. */
CUresult shared_event_open(const CUipcEventHandle *handle,
			   struct shared_event **ret_event);

/* NULL is fine. */
struct shared_event *shared_event_hold(struct shared_event *e);
void shared_event_drop(struct shared_event *e);

/* CUDA_ERROR_INVALID_HANDLE of one that another process made. */
CUresult shared_event_handle(const struct shared_event *e,
			     CUipcEventHandle *ret_handle);

/*
 * A new record; `number` of it is reached, once or more (by NULL nothing is),
 * when it may be: earlier ones can be in the way. CUDA_ERROR_NOT_SUPPORTED:
 * too many records of two processes are under way.
 */
CUresult shared_event_record(struct shared_event *e, uint64_t *ret_number);
bool shared_event_may_reach(struct shared_event *e, uint64_t number);
void shared_event_reach(struct shared_event *e, uint64_t number);

/*
 * The last record of all, whoever made it: is it reached? What a process did
 * not come to that has ended counts as reached. NULL: yes.
 */
bool shared_event_done(struct shared_event *e);

/* Until it is, or the context has an error: that. */
CUresult shared_event_wait(CUcontext ctx, struct shared_event *e);

/* What the stream is given from now on waits for it. The lock is held. */
CUresult shared_event_await(CUstream s, struct shared_event *e);

#endif
