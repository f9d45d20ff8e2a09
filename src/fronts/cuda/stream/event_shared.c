/* SPDX-License-Identifier: Apache-2.0 */
/* event_shared.c - shares events between processes; see event_shared.h. */
#include "fronts/cuda/stream/event_shared.h"
#include "base/assert.h"
#include "base/clock.h"
#include "fronts/cuda/memory/ipc.h"

#include <stdlib.h>
#include <unistd.h>

/*
 * How often a waiting stream checks whether the other process is still alive.
 */
#define LOOK_NS (50 * GK_NS_PER_MS)

struct shared_event {
	_Atomic unsigned holders;
	struct gkf_share_event *word;
	bool opened; /* another process created the event */
	unsigned device;
	uint32_t row;
};

static struct shared_event *new_shared(void)
{
	struct shared_event *e = calloc(1, sizeof(*e));

	if (e)
		atomic_init(&e->holders, 1);
	return e;
}

struct shared_event *shared_event_new(unsigned device)
{
	struct shared_event *e = new_shared();

	if (!e)
		return NULL;
	if (gkf_share_new(device, GKF_SHARE_EVENT, 0, 0, 0, &e->row)) {
		free(e);
		return NULL;
	}
	e->device = device;
	e->word = gkf_share_event_of(device, e->row);
	return e;
}

CUresult shared_event_open(const CUipcEventHandle *handle,
			   struct shared_event **ret_event)
{
	const struct gkf_shared *h = (const struct gkf_shared *)handle;
	struct gkf_share_about about;
	struct shared_event *e;
	int fd, error;

	error = gkf_share_open(cuda.machine, h, GKF_SHARE_EVENT, &fd, &about);
	if (error)
		return ipc_error(ROW_cuIpcOpenEventHandle, error);
	e = new_shared();
	if (e) {
		e->opened = true;
		e->word = gkf_share_event_at(fd, h);
	}
	close(fd);
	if (!e || !e->word) {
		free(e);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	*ret_event = e;
	return CUDA_SUCCESS;
}

struct shared_event *shared_event_hold(struct shared_event *e)
{
	if (e)
		atomic_fetch_add(&e->holders, 1);
	return e;
}

void shared_event_drop(struct shared_event *e)
{
	if (!e || atomic_fetch_sub(&e->holders, 1) != 1)
		return;
	if (e->opened)
		gkf_share_event_close(e->word);
	else
		gkf_share_end(e->device, e->row);
	free(e);
}

CUresult shared_event_handle(const struct shared_event *e,
			     CUipcEventHandle *ret_handle)
{
	if (e->opened)
		return CUDA_ERROR_INVALID_HANDLE;
	gkf_share_handle(e->device, e->row, (struct gkf_shared *)ret_handle);
	return CUDA_SUCCESS;
}

CUresult shared_event_record(struct shared_event *e, uint64_t *ret_number)
{
	if (!gkf_share_record(cuda.machine, e->word, ret_number))
		return CUDA_SUCCESS;
	front_log(GK_LOG_ERROR,
		  "an event has %d unfinished records of several processes, "
		  "the most that are possible",
		  GKF_SHARE_RECORDS);
	front_count_refusal(ROW_cuEventRecord);
	return CUDA_ERROR_NOT_SUPPORTED;
}

bool shared_event_may_reach(struct shared_event *e, uint64_t number)
{
	return !e || gkf_share_may_reach(e->word, number);
}

void shared_event_reach(struct shared_event *e, uint64_t number)
{
	if (e)
		gkf_share_reach(e->word, number);
}

static uint64_t last_record(struct shared_event *e)
{
	return atomic_load(&e->word->recorded);
}

bool shared_event_done(struct shared_event *e)
{
	uint64_t last = e ? last_record(e) : 0;

	return !e || gkf_share_reached(e->word, last) ||
	       gkf_share_abandoned(cuda.machine, e->word, last);
}

CUresult shared_event_wait(CUcontext ctx, struct shared_event *e)
{
	uint64_t last = e ? last_record(e) : 0;
	CUresult r = CUDA_SUCCESS;

	while (!r && e && !gkf_share_wait(cuda.machine, e->word, last))
		r = stream_error(ctx);
	return r;
}

/* ---- streams ---- */

struct await_task {
	struct gkf_task task;
	struct shared_event *event;
	uint64_t number, looked;
};

static int look_at_event(struct gkf_task *task)
{
	struct await_task *t = (struct await_task *)task;
	uint64_t now;

	if (gkf_share_reached(t->event->word, t->number))
		return 0;
	now = gk_mono_ns();
	if (now - t->looked < LOOK_NS)
		return GKF_TASK_AGAIN;
	t->looked = now;
	return gkf_share_abandoned(cuda.machine, t->event->word, t->number)
		   ? 0
		   : GKF_TASK_AGAIN;
}

static void drop_await(struct gkf_task *task)
{
	shared_event_drop(((struct await_task *)task)->event);
}

CUresult shared_event_await(CUstream s, struct shared_event *e)
{
	uint64_t last = e ? last_record(e) : 0;
	struct await_task *t;

	GK_ASSERT(gk_lock_held(&s->of->lock));
	if (!e || gkf_share_reached(e->word, last))
		return CUDA_SUCCESS;
	t = gkf_task_new(sizeof(*t));
	if (!t)
		return CUDA_ERROR_OUT_OF_MEMORY;
	t->task.run = look_at_event;
	t->task.drop = drop_await;
	t->event = shared_event_hold(e);
	t->number = last;
	t->looked = gk_mono_ns();
	gkf_queue_push(s->queue, &t->task);
	return CUDA_SUCCESS;
}
