/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem_pool_leave.c - owns the list of leaving pieces: those passed to
 * cuMemFreeAsync() in a stream that has not yet reached the free. The list is
 * in the order of the frees; one lock guards it.
 */
#include "base/assert.h"
#include "fronts/cuda/memory/mem_pool.h"
#include "fronts/cuda/stream/stream.h"

#include <pthread.h>
#include <stdlib.h>

struct leaving {
	/* `at` is NULL if the piece is not in the list */
	struct leaving *next, **at;
	struct gkf_extent e;
	uint64_t stream; /* the stream's number */
	/* its queue is NULL until the ticket is known */
	struct gkf_ticket ticket;
	/* number of references that pool_leave() and the stream hold */
	unsigned holders;
	bool ends; /* the stream has reached the call that frees the piece */
};

static struct {
	pthread_mutex_t lock;
	struct leaving *first, **last;
	/* number of pieces that have finished leaving so far, by device */
	uint64_t left[GKF_DEVICES_MAX];
} list = {.lock = PTHREAD_MUTEX_INITIALIZER, .last = &list.first};

static void append_leaving(struct leaving *l)
{
	pthread_mutex_lock(&list.lock);
	l->at = list.last;
	*list.last = l;
	list.last = &l->next;
	pthread_mutex_unlock(&list.lock);
}

/* The caller holds list.lock. */
static void take_out_leaving(struct leaving *l)
{
	GK_ASSERT(gk_lock_held(&list.lock));
	if (!l->at)
		return;
	*l->at = l->next;
	if (l->next)
		l->next->at = l->at;
	else
		list.last = l->at;
	l->at = NULL;
}

static void let_leaving_go(struct leaving *l)
{
	bool last;

	pthread_mutex_lock(&list.lock);
	last = !--l->holders;
	pthread_mutex_unlock(&list.lock);
	if (last)
		free(l);
}

/*
 * Called when the stream reaches the free. The piece stays in the list until
 * its memory is free, so that callers that need memory can wait for it.
 */
static void end_leaving(void *data)
{
	struct leaving *l = data;
	bool ours;

	pthread_mutex_lock(&list.lock);
	ours = l->at;
	l->ends = true;
	pthread_mutex_unlock(&list.lock);
	if (ours)
		memory_free(&l->e);
	pthread_mutex_lock(&list.lock);
	take_out_leaving(l);
	list.left[l->e.device]++;
	pthread_mutex_unlock(&list.lock);
	let_leaving_go(l);
}

/*
 * Marks a piece as leaving, or removes the mark. Fails if the piece is marked
 * already, because then the program has freed it twice.
 */
static CUresult mark_leaving(const struct gkf_extent *e, bool leaving)
{
	struct memory_tag *tag = tag_open(e, true);
	CUresult r = CUDA_SUCCESS;

	if (!tag)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (tag->leaving == leaving)
		r = CUDA_ERROR_INVALID_VALUE;
	tag->leaving = leaving;
	tag_close();
	return r;
}

/* Undoes the free because memory is short: the piece stays allocated. */
static void undo_leaving(struct leaving *l)
{
	pthread_mutex_lock(&list.lock);
	take_out_leaving(l);
	pthread_mutex_unlock(&list.lock);
	mark_leaving(&l->e, false);
	free(l);
}

CUresult pool_leave(CUcontext ctx, const struct gkf_extent *e, CUstream stream,
		    bool per_thread)
{
	struct leaving *l = calloc(1, sizeof(*l));
	struct gkf_ticket ticket;
	CUresult r = l ? mark_leaving(e, true) : CUDA_ERROR_OUT_OF_MEMORY;

	if (r) {
		free(l);
		return r;
	}
	l->e = *e;
	l->stream = stream_number(ctx, stream, per_thread);
	l->holders = 2;
	append_leaving(l);
	r = stream_after(ctx, stream, per_thread, end_leaving, l, &ticket);
	if (r) {
		undo_leaving(l);
		return r;
	}
	pthread_mutex_lock(&list.lock);
	l->ticket = ticket;
	pthread_mutex_unlock(&list.lock);
	let_leaving_go(l);
	return CUDA_SUCCESS;
}

bool pool_take_back(const struct gkf_mem_pool *at, uint64_t stream, size_t size,
		    CUdeviceptr *ret_address)
{
	uint64_t room = gkf_space_room(size);
	struct gkf_extent e;
	struct leaving *l;

	pthread_mutex_lock(&list.lock);
	for (l = list.first; l; l = l->next)
		if (l->stream == stream && l->e.pool == at && !l->ends &&
		    gkf_space_room(l->e.size) == room &&
		    !gkf_space_renew(l->e.base, size))
			break;
	if (l) {
		take_out_leaving(l);
		e = l->e;
	}
	pthread_mutex_unlock(&list.lock);
	if (!l)
		return false;
	tag_drop(&e);
	*ret_address = e.base;
	return true;
}

uint64_t pool_left(unsigned device)
{
	uint64_t left;

	pthread_mutex_lock(&list.lock);
	left = list.left[device];
	pthread_mutex_unlock(&list.lock);
	return left;
}

bool pool_await(unsigned device, uint64_t stream, uint64_t left)
{
	struct gkf_ticket ticket = {0};
	bool changed;

	pthread_mutex_lock(&list.lock);
	changed = list.left[device] != left;
	for (struct leaving *l = changed ? NULL : list.first;
	     l && !ticket.queue; l = l->next)
		if (l->e.device == device && (!stream || l->stream == stream))
			ticket = l->ticket;
	pthread_mutex_unlock(&list.lock);
	if (ticket.queue)
		gkf_ticket_wait(ticket);
	return changed || ticket.queue;
}
